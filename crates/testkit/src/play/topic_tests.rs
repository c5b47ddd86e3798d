//! Topics that are as expected, and every way not to be.

use super::*;

fn put(key: &str, value: &str) -> Record {
    Record::new(value).key(key).partition(0)
}

fn gone(key: &str) -> Record {
    Record::tombstone(key).partition(0)
}

fn differences(records: &[Record], what: What, expected: &str) -> Vec<String> {
    check(records, what, expected, &["at".to_string()])
}

#[test]
fn a_compacted_topic_is_the_last_value_of_each_key() {
    let expected = "{\"key\":{\"id\":1},\"value\":{\"id\":1,\"sum\":12.50,\"t\":\"2024-01-01 00:00:00\"}}\n";
    let good = r#"{"sum":1.25E1,"at":"x","id":1,"t":"2024-01-01T00:00:00.000"}"#;
    let records = [put(r#"{"id":1}"#, r#"{"sum":3}"#), put(r#"{"id": 1}"#, "{}"), put(r#"{"id":2}"#, "{}")];
    let mut records = records.to_vec();
    records.extend([gone(r#"{"id":2}"#), put(r#"{"id":1}"#, good), gone(r#"{"id": 1}"#)]);
    assert_eq!(differences(&records, What::Compacted, expected), Vec::<String>::new());
    records.push(gone(r#"{"id":1}"#));
    let missing = differences(&records, What::Compacted, expected);
    assert!(missing.len() == 1 && missing[0].starts_with("missing x1"), "{missing:?}");
    records.push(put(r#"{"id":1}"#, r#"{"id":1,"sum":12.5,"t":"2024-01-01 00:00:00","at":null}"#));
    let no_value = differences(&records, What::Compacted, expected);
    assert!(no_value.len() == 1 && no_value[0].starts_with("no at in"), "{no_value:?}");
    records.push(put(r#"{"id":3}"#, r#"{"at":1}"#));
    assert!(differences(&records, What::Compacted, expected).iter().any(|line| line.starts_with("extra   x1")));
}

#[test]
fn a_key_belongs_to_one_partition() {
    let records = [put("1", "1"), put("1", "2").partition(1)];
    let problems = differences(&records, What::Compacted, "");
    assert!(problems[0].contains("in partition 0 and in partition 1"), "{problems:?}");
    let problems = differences(&[Record::new("1")], What::Compacted, "");
    assert!(problems[0].contains("without a key"), "{problems:?}");
}

#[test]
fn an_exact_log_compares_bytes_in_order() {
    let expected = "{\"key_text\":\"1\",\"value_text\":\"12.5\",\"key_hex\":\"31\",\"value_hex\":\"31322e35\"}
{\"key_text\":\"1\",\"value_text\":null,\"key_hex\":\"31\",\"value_hex\":null}";
    assert!(differences(&[put("1", "12.5"), gone("1")], What::ExactLog, expected).is_empty());
    assert_eq!(differences(&[put("1", "12.50"), gone("1")], What::ExactLog, expected).len(), 1);
    assert_eq!(differences(&[gone("1"), put("1", "12.5")], What::ExactLog, expected).len(), 2);
    assert_eq!(differences(&[put("1", "12.5")], What::ExactLog, expected).len(), 1);
    assert_eq!(differences(&[put("1", "12.5"), gone("1"), gone("1")], What::ExactLog, expected).len(), 1);
}

#[test]
fn values_in_between_are_limited() {
    let expected = r#"{"key":{"u":"A"},"values":[1,300]}"#;
    let key = r#"{"u":"A"}"#;
    let good = [put(key, r#"{"total":1}"#), put(key, r#"{"total":300.0}"#), gone(key)];
    assert!(differences(&good, What::AllowedValues, expected).is_empty());
    assert_eq!(differences(&[put(key, r#"{"total":699}"#)], What::AllowedValues, expected).len(), 1);
    assert_eq!(differences(&[put(r#"{"u":"B"}"#, r#"{"total":1}"#)], What::AllowedValues, expected).len(), 1);
}

#[test]
fn deleted_keys_were_written_and_are_gone() {
    let key = r#"{"id":1}"#;
    assert!(differences(&[put(key, "1"), gone(key)], What::Tombstones, key).is_empty());
    assert_eq!(differences(&[gone(key)], What::Tombstones, key).len(), 1);
    assert_eq!(differences(&[put(key, "1"), gone(key), put(key, "1")], What::Tombstones, key).len(), 1);
}

#[test]
fn records_compare_as_a_multiset_of_values() {
    let expected = "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n";
    let records = [Record::new(r#"{"b":2.0,"a":1}"#), Record::new(r#"{"a":1,"b":2}"#)];
    assert!(differences(&records, What::Records, expected).is_empty());
    assert_eq!(differences(&records[..1], What::Records, expected).len(), 1);
}
