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
