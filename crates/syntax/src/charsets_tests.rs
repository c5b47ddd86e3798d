//! Literals with a character set.

use crate::statement::Statement;

fn plain(sql: &str) -> String {
    match crate::parse_statement(sql) {
        Ok(Statement::Query(query)) => query.to_string(),
        other => panic!("{sql}: {other:?}"),
    }
}

fn problem(sql: &str) -> String {
    crate::parse_statement(sql).unwrap_err().to_string()
}

#[test]
fn unicode_escapes_have_a_character_of_their_own() {
    for (written, meant) in [
        (r"U&'\0041\4e2d'", "A中"),
        ("U&'!0041' UESCAPE '!'", "A"),
        ("u&'#4e2d##' uescape '#'", "中#"),
        (r"U&'\n!0041' UESCAPE '!'", r"\nA"),
        (r"U&'\0041' UESCAPE '\'", "A"),
        ("U&'it''s !0041'\n UESCAPE '!'", "it's A"),
    ] {
        let shown = plain(&format!("SELECT {written}"));
        // `sqlparser` writes such strings with escapes.
        let meant = meant.replace('中', r"\4E2D").replace(r"\nA", r"\\nA");
        assert!(shown.contains(&meant) || shown.contains(&meant.replace('\'', "''")), "{written}: {shown}");
        assert!(!shown.contains("0041"), "{written}: {shown}");
    }
    for (written, why) in [
        ("U&'!0041' UESCAPE '!!'", "UESCAPE takes one character"),
        ("U&'!0041' UESCAPE 'a'", "cannot be the character of UESCAPE"),
        ("U&'!004' UESCAPE '!'", "invalid literal"),
    ] {
        assert!(
            problem(&format!("SELECT {written}")).contains(why),
            "{written}: {}",
            problem(&format!("SELECT {written}"))
        );
    }
}

#[test]
fn a_string_may_name_its_character_set() {
    for written in ["_UTF16'中'", "_gbk'中'", "_UTF-16LE'中'", "x || _GB18030'中'", "f(_UTF8'中')"] {
        let sql = format!("SELECT {written}");
        let shown = plain(&sql);
        assert!(shown.contains("'中'") && !shown.contains("UTF") && !shown.contains("GB18030"), "{sql}: {shown}");
    }
    assert_eq!(plain("SELECT _ISO-8859-1'é'"), "SELECT 'é'");
    assert!(problem("SELECT _ISO-8859-1'中'").contains("does not have"));
    assert!(problem("SELECT _KLINGON'a'").contains("unknown character set 'KLINGON'"));
    // Names that only look alike.
    assert!(plain("SELECT a_utf8 FROM t WHERE _x = 'a'").contains("_x = 'a'"));
}

#[test]
fn rows_of_values_need_no_parentheses() {
    for (written, meant) in [
        ("VALUES 1, 2", "VALUES (1), (2)"),
        ("VALUES 1", "VALUES (1)"),
        ("VALUES f(1, 2), (3)", "VALUES (f(1, 2)), (3)"),
        ("VALUES (1, 2), (3, 4)", "VALUES (1, 2), (3, 4)"),
        ("SELECT * FROM (VALUES 1, CASE WHEN a THEN 2 END) AS t (a)", "(VALUES (1), (CASE WHEN a THEN 2 END))"),
        ("VALUES 1, 2 UNION ALL VALUES 3", "VALUES (1), (2) UNION ALL VALUES (3)"),
        ("VALUES 1, 2 ORDER BY 1 LIMIT 1", "VALUES (1), (2) ORDER BY 1 LIMIT 1"),
        ("VALUES ((SELECT MAX(x) FROM (VALUES 1, 2) AS t (x))), (3)", "(VALUES (1), (2))"),
    ] {
        let shown = plain(written);
        assert!(shown.contains(meant), "{written}: {shown}");
    }
}
