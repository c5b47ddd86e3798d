//! Rows made of keys, values and tombstones, without a broker.

use super::*;
use crate::kafka::table::KafkaTable;
use crate::testing::{context, scan, table};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use base::format::FormatRegistry;
use base::{OptionSpec, TableDefinition};

/// A message: key, value.
type Sent = (Option<&'static str>, Option<&'static str>);

fn kafka_table(definition: &TableDefinition, key: &[usize], is_upsert: bool) -> KafkaTable {
    let mut formats = FormatRegistry::default();
    crate::formats::register(&mut formats);
    let mut context = context();
    context.formats = Arc::new(formats);
    let slots = [
        crate::declared::FormatSlot { key: "value.format", prefix: "value." },
        crate::declared::FormatSlot { key: "key.format", prefix: "key." },
    ];
    let options: Vec<OptionSpec> = crate::kafka::options::OPTIONS.to_vec();
    let mut found = crate::declared::check(definition, &options, &slots, "a test", &context).unwrap().into_iter();
    let value = found.next().flatten().unwrap();
    let format = found.next().flatten().unwrap();
    let key = crate::kafka::table::Key { format, columns: key.to_vec(), prefix: String::new() };
    KafkaTable::new(definition, value, Some(key), is_upsert, &context).unwrap()
}

fn users(more: &[(&str, &str)]) -> TableDefinition {
    let mut options = vec![
        ("topic", "users"),
        ("properties.bootstrap.servers", "b:1"),
        ("key.format", "json"),
        ("value.format", "json"),
    ];
    options.extend(more);
    table("id INT NOT NULL | name STRING | age INT NOT NULL", &options)
}

/// Decodes messages; rows as text with their kinds, then what was rejected and what failed.
fn decode(table: &KafkaTable, definition: &TableDefinition, sent: &[Sent]) -> (Vec<String>, Vec<u32>, Option<usize>) {
    let layout = Layout::new(table, &scan(definition, &[])).unwrap();
    let mut decoders = layout.decoders(table).unwrap();
    let mut pending = Pending::default();
    for (offset, (key, value)) in sent.iter().enumerate() {
        for (records, part) in [(&mut pending.keys, key), (&mut pending.values, value)] {
            match part {
                Some(text) => records.push(text.as_bytes()),
                None => records.push_null(),
            }
        }
        pending.offsets.push(offset as i64);
    }
    let place = Place { table: "users", topic: "users", partition: 0 };
    let rows = layout.decode(&mut decoders, &mut pending, place).unwrap();
    assert!(pending.is_empty());
    let options = FormatOptions::default().with_null("null");
    let records = rows.batch.records();
    let columns: Vec<_> =
        records.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
    let row = |row: usize| {
        let cells: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
        format!("{} {}", rows.batch.kind(row), cells.join(" "))
    };
    let texts = (0..records.num_rows()).map(row).collect();
    (texts, rows.rejected.iter().map(|(message, _)| *message).collect(), rows.failed.map(|(message, _)| message))
}

#[test]
fn a_tombstone_deletes_the_row_of_its_key() {
    for include in ["ALL", "EXCEPT_KEY"] {
        let definition = users(&[("value.fields-include", include)]);
        let table = kafka_table(&definition, &[0], true);
        let (rows, rejected, failed) = decode(
            &table,
            &definition,
            &[
                (Some(r#"{"id":1}"#), Some(r#"{"id":1,"name":"a","age":7}"#)),
                (Some(r#"{"id":2}"#), None),
                (Some(r#"{"id":1}"#), Some(r#"{"id":1,"name":null,"age":8}"#)),
                (None, None),
                (Some(r#"{"id":1}"#), None),
            ],
        );
        // The other columns of a deleted row are NULL, or anything that fits where they must not be NULL.
        assert_eq!(rows, ["+I 1 a 7", "-D 2 null 0", "+I 1 null 8", "-D 1 null 0"], "{include}");
        assert_eq!((rejected, failed), (vec![3], None), "{include}");
    }
}

#[test]
fn without_tombstones_all_rows_are_inserts() {
    let definition = users(&[]);
    let table = kafka_table(&definition, &[0], true);
    let messages: [Sent; 2] = [
        (Some("not read"), Some(r#"{"id":1,"name":"a","age":7}"#)),
        (Some("not read"), Some(r#"{"id":2,"name":"b","age":8}"#)),
    ];
    let (rows, rejected, failed) = decode(&table, &definition, &messages);
    assert_eq!((rows, rejected, failed), (vec!["+I 1 a 7".to_string(), "+I 2 b 8".to_string()], vec![], None));
}

#[test]
fn the_first_bad_part_of_a_message_ends_the_rows() {
    let definition = users(&[("value.fields-include", "EXCEPT_KEY")]);
    let table = kafka_table(&definition, &[0], false);
    let good: Sent = (Some(r#"{"id":1}"#), Some(r#"{"name":"a","age":7}"#));
    let (rows, _, failed) = decode(&table, &definition, &[good, (Some("{"), good.1), (good.0, Some("{"))]);
    assert_eq!((rows, failed), (vec!["+I 1 a 7".to_string()], Some(1)));
    let (rows, _, failed) = decode(&table, &definition, &[good, (good.0, Some("{")), (Some("{"), good.1)]);
    assert_eq!((rows, failed), (vec!["+I 1 a 7".to_string()], Some(1)));
}

#[test]
fn a_key_that_is_ignored_takes_its_row_along() {
    let definition = users(&[("value.fields-include", "EXCEPT_KEY"), ("key.json.ignore-parse-errors", "true")]);
    let table = kafka_table(&definition, &[0], false);
    let good: Sent = (Some(r#"{"id":1}"#), Some(r#"{"name":"a","age":7}"#));
    let (rows, rejected, failed) = decode(&table, &definition, &[(Some("{"), good.1), good]);
    assert_eq!((rows, rejected, failed), (vec!["+I 1 a 7".to_string()], vec![0], None));
}

#[test]
fn a_missing_key_of_a_column_that_must_not_be_null_is_an_error() {
    let definition = users(&[("value.fields-include", "EXCEPT_KEY")]);
    let table = kafka_table(&definition, &[0], false);
    let layout = Layout::new(&table, &scan(&definition, &[])).unwrap();
    let mut decoders = layout.decoders(&table).unwrap();
    let mut pending = Pending { offsets: vec![0], ..Pending::default() };
    pending.keys.push_null();
    pending.values.push(br#"{"name":"a","age":7}"#);
    let place = Place { table: "users", topic: "users", partition: 0 };
    let error = layout.decode(&mut decoders, &mut pending, place).unwrap_err().to_string();
    assert!(error.contains("has no key") && error.contains("column id is NOT NULL"), "{error}");
}
