//! Tests of message rendering.

use super::*;

#[test]
fn a_message_shows_code_place_why_and_fix() {
    let error = Error::unsupported("MATCH_RECOGNIZE").at(Location::Sql {
        script: "job.sql".into(),
        line: 12,
        column: 3,
        source_line: Some("a 中 b".into()),
    });
    assert_eq!(
        error.render(Language::English, Label::Error),
        "error[HW-I002]: this version does not support MATCH_RECOGNIZE yet\n  --> job.sql:12:3\n    |\n 12 | a 中 b\n    |   ^\n  fix: write it another way, or leave it out; docs/sql.md tells what this version has"
    );
    assert!(error.render(Language::Chinese, Label::Warning).starts_with("警告[HW-I002]: 当前版本尚不支持"));
}

#[test]
fn the_innermost_location_stays() {
    let record = Location::Record { resource: "a.jsonl".into(), position: "line 2".into() };
    let error = Error::internal("x").at(record.clone()).at(Location::Option { table: "t".into(), key: "k".into() });
    assert_eq!(error.location(), Some(&record));
}

#[test]
fn several_problems_are_shown_together() {
    let error = Error::all(vec![Error::internal("one"), Error::internal("two")]).expect("two problems");
    let text = error.to_string();
    assert!(text.contains("one") && text.contains("two"), "{text}");
}
