//! Records of scenarios as bytes.

use super::*;

#[test]
fn a_record_keeps_its_bytes() {
    let envelope = r#"{"step": 1, "partition": 2, "ts": 7, "key": {"id": 1}, "value": {"a": 10.50, "ü": [1, null]}}"#;
    let sent = record(&Json::parse(envelope).expect("JSON")).expect("record");
    let expected = Record::new(r#"{"a":10.50,"ü":[1,null]}"#).key(r#"{"id":1}"#).partition(2).timestamp(7);
    assert_eq!(sent, expected);
}

#[test]
fn a_null_value_is_a_tombstone_and_text_is_sent_as_it_is() {
    let deleted = record(&Json::parse(r#"{"key": 1, "value": null}"#).expect("JSON")).expect("record");
    assert_eq!(deleted, Record::tombstone("1").partition(0));
    let raw = record(&Json::parse(r#"{"value_text": "{not json"}"#).expect("JSON")).expect("record");
    assert_eq!(raw, Record::new("{not json").partition(0));
}

#[test]
fn at_the_end_a_topic_is_what_its_last_check_says() {
    let steps = steps::parse(
        "- check: {topic: a, records: expected/nothing_yet.jsonl}
- settle: 1s
- check: {topic: b, compacted: expected/b.jsonl}
- check: {topic: a, exact_log: expected/a.log.jsonl}
- check: {topic: a, records: expected/a.jsonl}
",
    )
    .expect("steps");
    let files: Vec<String> = last_checks(&steps).into_iter().map(Step::title).collect();
    let expected =
        ["check b with expected/b.jsonl", "check a with expected/a.log.jsonl", "check a with expected/a.jsonl"];
    assert_eq!(files, expected);
}
