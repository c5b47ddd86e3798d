//! Statements of Flink scripts as people write them: every one is read, in its own shape and in others.

use syntax::{RawStatement, Script, parse};

/// Each corpus and how many statements it holds: a splitter that loses one would go unnoticed otherwise.
const CORPORA: [(&str, &str, usize); 3] = [
    ("flink.sql", include_str!("corpus/flink.sql"), 427),
    ("documents.sql", include_str!("corpus/documents.sql"), 251),
    ("tutorials.sql", include_str!("corpus/tutorials.sql"), 285),
];

fn check(name: &str, text: &str, count: usize) {
    let script = Script::new(name, text);
    let statements: Vec<RawStatement> = script.statements().collect();
    assert_eq!(statements.len(), count, "{name}");
    for statement in &statements {
        if let Err(error) = parse(statement) {
            panic!("{name}: {error}\n{}", statement.text);
        }
    }
}

#[test]
fn every_statement_is_read() {
    for (name, text, count) in CORPORA {
        check(name, text, count);
    }
}

#[test]
fn line_ends_marks_and_missing_semicolons_do_not_matter() {
    for (name, text, count) in CORPORA {
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        check(name, &windows, count);
        check(name, text.trim_end().trim_end_matches(';'), count);
        check(name, &format!(";;\n{}\n;  ;", text.replace(";\n", "\n;\n;\t")), count);
    }
}

#[test]
fn comments_between_lines_do_not_matter() {
    for (name, text, count) in CORPORA {
        let lines: Vec<String> = text.lines().map(|line| format!("{line} -- it's; a \"comment\" `")).collect();
        check(name, &lines.join("\n"), count);
        let lines: Vec<String> = text.lines().map(|line| format!("/* ';' \n`*/{line}")).collect();
        check(name, &lines.join("\n"), count);
    }
}

#[test]
fn full_width_punctuation_does_not_matter_outside_strings() {
    for (name, text, count) in CORPORA {
        let mut inside = None;
        let wide: String = text
            .chars()
            .map(|c| {
                match inside {
                    Some(quote) if quote == c => inside = None,
                    None if c == '\'' || c == '`' => inside = Some(c),
                    _ => {}
                }
                match c {
                    _ if inside.is_some() => c,
                    ',' => '，',
                    '(' => '（',
                    ')' => '）',
                    ';' => '；',
                    other => other,
                }
            })
            .collect();
        // A hint is read as a whole, in ASCII.
        check(name, &wide.replace("/*+ OPTIONS（", "/*+ OPTIONS("), count);
    }
}
