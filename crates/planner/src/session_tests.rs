//! Tests of statements in a session.

use crate::session::{JobKind, Outcome, Session};
use crate::test_support::{execute, session};
use base::Location;

#[path = "session_tests_alter.rs"]
mod alter;
#[path = "session_tests_create.rs"]
mod create;
#[path = "session_tests_functions.rs"]
mod functions;
#[path = "session_tests_hints.rs"]
mod hints;
#[path = "session_tests_show.rs"]
mod show;
#[path = "session_tests_texts.rs"]
mod texts;

fn tables() -> Session {
    let mut session = session();
    execute(
        &mut session,
        "CREATE TABLE src (user_id STRING, client_ip STRING, pagecode STRING, n INT) WITH ('connector' = 'test');
         CREATE TABLE dst (user_id INT, client_ip STRING, page_code STRING) WITH ('connector' = 'test');
         CREATE TABLE wide (n BIGINT, s STRING, d DECIMAL(20, 6)) WITH ('connector' = 'test');
         CREATE TABLE reader (a INT) WITH ('connector' = 'test', 'role' = 'source');",
    )
    .unwrap();
    session
}

/// Executes statements that must work, and gives the cells of what the last one showed.
fn shown(session: &mut Session, sql: &str) -> Vec<Vec<String>> {
    match execute(session, sql) {
        Ok(executed) => cells(executed.outcome),
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// The error of a statement that must not work.
fn refused(session: &mut Session, sql: &str) -> base::Error {
    match execute(session, sql) {
        Ok(executed) => panic!("{sql}: {:?}", executed.outcome),
        Err(error) => error,
    }
}

/// Executes statements that must work.
fn run(session: &mut Session, sql: &str) -> crate::session::Executed {
    execute(session, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn cells(outcome: Outcome) -> Vec<Vec<String>> {
    match outcome {
        Outcome::Table { rows, .. } => {
            rows.into_iter().map(|row| row.into_iter().map(|cell| cell.unwrap_or_default()).collect()).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_insert_with_wrong_types_prints_the_corrected_list() {
    let error = execute(&mut tables(), "INSERT INTO dst SELECT user_id, client_ip, pagecode FROM src").unwrap_err();
    assert_eq!(error.code(), "HW-P035");
    let text = error.to_string();
    for part in [
        "user_id",
        "STRING",
        "INT",
        "pagecode",
        "page_code",
        "SELECT CAST(user_id AS INT), client_ip, pagecode AS page_code",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn an_insert_with_too_few_columns_names_them() {
    let error = execute(&mut tables(), "INSERT INTO dst SELECT user_id, client_ip FROM src").unwrap_err();
    assert_eq!(error.code(), "HW-P034");
    let text = error.to_string();
    assert!(text.contains("INSERT INTO dst (user_id, client_ip)"), "{text}");
    assert!(text.contains("2 columns") && text.contains("takes 3"), "{text}");
}

#[test]
fn inserts_that_cannot_be() {
    for (sql, code) in [
        ("INSERT INTO dst (user_id, nope) SELECT n, client_ip FROM src", "HW-P036"),
        ("INSERT INTO reader SELECT n FROM src", "HW-P026"),
        ("INSERT INTO nothing SELECT n FROM src", "HW-P301"),
        ("INSERT OVERWRITE dst SELECT n, client_ip, client_ip FROM src", "HW-P140"),
        ("INSERT INTO dst VALUES (1, 'a', NULL)", "HW-P033"),
        ("EXECUTE STATEMENT SET BEGIN END", "HW-P051"),
    ] {
        let error = execute(&mut tables(), sql).unwrap_err();
        assert_eq!(error.code(), code, "{sql}: {error}");
    }
}

#[test]
fn conflicts_are_those_of_other_keys() {
    let mut session = tables();
    run(
        &mut session,
        "CREATE TABLE keyed (user_id STRING, c BIGINT, PRIMARY KEY (user_id) NOT ENFORCED) WITH ('connector' = 'test')",
    );
    let grouped = "INSERT INTO keyed SELECT user_id, COUNT(*) FROM src GROUP BY user_id ON CONFLICT DO";
    for action in ["DEDUPLICATE", "ERROR", "NOTHING"] {
        assert!(run(&mut session, &format!("{grouped} {action}")).warnings.is_empty(), "{action}");
    }
    let plain = "INSERT INTO keyed SELECT user_id, CAST(n AS BIGINT) FROM src ON CONFLICT DO";
    let warnings = run(&mut session, &format!("{plain} DEDUPLICATE")).warnings;
    assert_eq!(warnings.iter().map(base::Error::code).collect::<Vec<_>>(), ["HW-P052"]);
    for action in ["ERROR", "NOTHING"] {
        assert_eq!(refused(&mut session, &format!("{plain} {action}")).code(), "HW-I002", "{action}");
    }
}

#[test]
fn errors_stand_at_their_place() {
    let error = execute(&mut tables(), "SELECT n,\n       nn\nFROM src").unwrap_err();
    match error.location() {
        Some(Location::Sql { script, line, column, source_line }) => {
            assert_eq!((script.as_str(), *line, *column), ("test.sql", 2, 8));
            assert_eq!(source_line.as_deref(), Some("       nn"));
        }
        other => panic!("{other:?}"),
    }
    let error = execute(&mut tables(), "SELECT 'open").unwrap_err();
    assert_eq!(error.code(), "HW-S002");
}

#[test]
fn options_are_checked() {
    let mut session = session();
    execute(&mut session, "SET 'table.exec.state.ttl' = '1 h'").unwrap();
    assert_eq!(cells(execute(&mut session, "SET").unwrap().outcome), [["table.exec.state.ttl", "1 h"]]);
    let executed = execute(&mut session, "SET 'table.exec.mini-batch.enabled' = 'true'").unwrap();
    assert_eq!(executed.warnings[0].code(), "HW-P040");
    for (sql, code) in [
        ("SET 'table.exec.state.tl' = '1 h'", "HW-P038"),
        ("SET 'table.exec.state.ttl' = 'soon'", "HW-C003"),
        ("SET 'execution.runtime-mode' = 'nightly'", "HW-C003"),
        ("SET 'table.local-time-zone' = 'Nowhere/City'", "HW-C003"),
    ] {
        assert_eq!(execute(&mut session, sql).unwrap_err().code(), code, "{sql}");
    }
    execute(&mut session, "RESET").unwrap();
    assert!(cells(execute(&mut session, "SET").unwrap().outcome).is_empty());
}

#[test]
fn tables_are_described_and_shown() {
    let mut session = tables();
    execute(
        &mut session,
        "CREATE TABLE t (id INT, price DECIMAL(10, 2), total AS price * id, off BIGINT METADATA FROM 'offset' VIRTUAL, \
         ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) \
         WITH ('connector' = 'test'); CREATE TEMPORARY VIEW v AS SELECT id FROM t;",
    )
    .unwrap();
    let rows = cells(execute(&mut session, "DESCRIBE t").unwrap().outcome);
    assert_eq!(rows[0], ["id", "INT", "FALSE", "PRI(id)", "", ""]);
    assert_eq!(rows[2], ["total", "DECIMAL(21, 2)", "TRUE", "", "AS `price` * `id`", ""]);
    assert_eq!(rows[3], ["off", "BIGINT", "TRUE", "", "METADATA FROM 'offset' VIRTUAL", ""]);
    assert_eq!(rows[4], ["ts", "TIMESTAMP(3) *ROWTIME*", "TRUE", "", "", "`ts` - INTERVAL '5' SECOND"]);
    assert_eq!(cells(execute(&mut session, "SHOW VIEWS").unwrap().outcome), [["v"]]);
    let made = cells(execute(&mut session, "SHOW CREATE TABLE t").unwrap().outcome).remove(0).remove(0);
    execute(&mut session, "DROP VIEW v; DROP TABLE t").unwrap();
    execute(&mut session, &made).unwrap();
    assert_eq!(cells(execute(&mut session, "SHOW CREATE TABLE t").unwrap().outcome)[0][0], made);
    assert_eq!(
        execute(&mut session, "CREATE TABLE t (a INT) WITH ('connector' = 'test')").unwrap_err().code(),
        "HW-P010"
    );
    execute(&mut session, "CREATE TABLE IF NOT EXISTS t (a INT) WITH ('connector' = 'test')").unwrap();
    assert_eq!(execute(&mut session, "DROP VIEW t").unwrap_err().code(), "HW-P008");
}

#[test]
fn jobs_are_planned() {
    let mut session = tables();
    for (sql, kind) in [
        ("INSERT INTO wide SELECT n, user_id, n FROM src", JobKind::Insert),
        ("INSERT INTO wide (n) SELECT n FROM src WHERE n > 1", JobKind::Insert),
        ("INSERT INTO wide VALUES (1, 'a', 1.5), (2, 'b', 2)", JobKind::Insert),
        ("SELECT user_id, COUNT(*) FROM src GROUP BY user_id", JobKind::Query),
        ("SELECT DISTINCT user_id FROM src", JobKind::Query),
        (
            "EXECUTE STATEMENT SET BEGIN INSERT INTO wide (n) SELECT n FROM src; INSERT INTO wide (s) SELECT user_id FROM src; END",
            JobKind::Insert,
        ),
    ] {
        match execute(&mut session, sql).unwrap_or_else(|error| panic!("{sql}: {error}")).outcome {
            Outcome::Job(job) => assert_eq!(job.kind, kind, "{sql}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
    assert!(matches!(execute(&mut session, "EXPLAIN SELECT n FROM src").unwrap().outcome, Outcome::Text(_)));
}

#[test]
fn every_message_is_complete_in_both_languages() {
    let mut seen = std::collections::BTreeSet::new();
    for code in crate::error_codes() {
        assert!(seen.insert(code.code), "{} is used twice", code.code);
        let placeholders = |text: &base::Text| {
            let all = format!("{} {} {}", text.what, text.why, text.fix);
            let mut found: Vec<String> = all
                .split('{')
                .skip(1)
                .filter_map(|part| part.split_once('}'))
                .map(|(name, _)| name.to_string())
                .collect();
            found.sort();
            found.dedup();
            found
        };
        assert_eq!(placeholders(&code.en), placeholders(&code.zh), "{}", code.code);
    }
}
