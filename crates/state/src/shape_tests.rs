//! Rows that are taken over by columns.

use super::*;
use crate::snapshot::SnapshotKind;
use arrow::array::{ArrayRef, AsArray, Int32Array, Int64Array, StringArray, UInt16Array};
use arrow::datatypes::{DataType, Int64Type};
use base::types::SqlType;

/// A column: its name, what it holds, its call and its values.
fn field(name: &str, id: &str, call: &str, sql_type: &str, data_type: DataType) -> FieldRef {
    let all = [(COLUMN_ID_KEY, id), (COLUMN_CALL_KEY, call), (TYPE_KEY, sql_type)];
    let metadata = all.into_iter().filter(|(_, text)| !text.is_empty());
    let metadata = metadata.map(|(key, text)| (key.to_string(), text.to_string())).collect();
    Arc::new(Field::new(name, data_type, true).with_metadata(metadata))
}

fn snapshot(columns: Vec<(FieldRef, ArrayRef)>) -> OperatorSnapshot {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("rows");
    let table = TableSnapshot { name: "t".into(), kind: SnapshotKind::Full, rows, ids: None };
    OperatorSnapshot { tables: vec![table], values: [("watermark".to_string(), 5)].into() }
}

fn ints(values: &[i32]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

fn longs(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn group() -> (FieldRef, ArrayRef) {
    (Arc::new(Field::new("key_group", DataType::UInt16, false)), Arc::new(UInt16Array::from(vec![1, 2])))
}

fn key() -> (FieldRef, ArrayRef) {
    (field("key.k", "k", "", "STRING", DataType::Utf8), Arc::new(StringArray::from(vec!["a", "b"])))
}

fn sum(number: usize, column: &str) -> (FieldRef, ArrayRef) {
    let call = format!("SUM({column})");
    let name = format!("value.{number}.SUM.sum");
    (field(&name, &format!("{call} sum"), &call, "", DataType::Int64), longs(&[number as i64, 7]))
}

fn shape(columns: Vec<(FieldRef, ArrayRef)>) -> StateShape {
    StateShape::of(&snapshot(columns))
}

#[test]
fn columns_are_found_by_what_they_hold() {
    let saved = snapshot(vec![group(), key(), sum(0, "a"), sum(1, "b"), sum(2, "c")]);
    let wanted = snapshot(vec![group(), key(), sum(0, "c"), sum(1, "a")]);
    let fit = StateShape::of(&saved).fit(&StateShape::of(&wanted));
    assert_eq!(fit, Fit::Migrated(vec!["without SUM(b)".into()]));
    let rows = Migration::new(&wanted).apply(saved).expect("rows that fit");
    assert_eq!(rows.values["watermark"], 5);
    let rows = &rows.tables[0].rows;
    let names: Vec<String> = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["key_group", "key.k", "value.0.SUM.sum", "value.1.SUM.sum"]);
    let column = |index: usize| rows.column(index).as_primitive::<Int64Type>().values().to_vec();
    assert_eq!((column(2), column(3)), (vec![2, 7], vec![0, 7]));
}

#[test]
fn other_names_and_a_ttl_are_no_other_shape() {
    let mut renamed = key();
    renamed.0 = field("key.other", "k", "", "STRING", DataType::Utf8);
    let stamps = (field("last_write_ms", "", "", "", DataType::Int64), longs(&[1, 2]));
    let plain = shape(vec![group(), key(), sum(0, "a")]);
    let stamped = shape(vec![group(), renamed, stamps, sum(0, "a")]);
    assert_eq!((plain.fit(&stamped), stamped.fit(&plain)), (Fit::Same, Fit::Same));
}

#[test]
fn what_is_not_there_is_named() {
    let saved = shape(vec![group(), key(), sum(0, "a")]);
    let lacking = |wanted: Vec<(FieldRef, ArrayRef)>| match saved.fit(&shape(wanted)) {
        Fit::Lacking(lacks) => lacks.join("; "),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        lacking(vec![group(), key(), sum(0, "b"), sum(1, "c")]),
        "no saved state of SUM(b); no saved state of SUM(c)"
    );
    let number = (field("key.k", "k", "", "INT", DataType::Int32), ints(&[1, 2]));
    assert_eq!(lacking(vec![group(), number, sum(0, "a")]), "key k: INT, saved as STRING");
    assert_eq!(lacking(vec![group(), key(), key(), sum(0, "a")]), "its keys are others");
    let other = StateShape { tables: [("u".to_string(), Vec::new())].into() };
    assert_eq!(saved.fit(&other), Fit::Lacking(vec!["it is kept in another form".into()]));
}

#[test]
fn columns_get_wider_and_calls_do_not() {
    let column = |sql_type: &str, data_type: DataType, values: ArrayRef| {
        vec![group(), key(), (field("value.n", "n", "", sql_type, data_type), values)]
    };
    let saved = snapshot(column("INT", DataType::Int32, ints(&[3, 4])));
    let wanted = snapshot(column("BIGINT NOT NULL", DataType::Int64, longs(&[0, 0])));
    let fit = |from: &OperatorSnapshot, to: &OperatorSnapshot| StateShape::of(from).fit(&StateShape::of(to));
    assert_eq!(fit(&saved, &wanted), Fit::Migrated(vec!["n: INT to BIGINT".into()]));
    let rows = Migration::new(&wanted).apply(saved.clone()).expect("rows that fit");
    assert_eq!(rows.tables[0].rows.column(2).as_primitive::<Int64Type>().values(), &[3, 4]);
    assert_eq!(fit(&wanted, &saved), Fit::Lacking(vec!["n: INT, saved as BIGINT".into()]));
    let call = |sql_type: &str, data_type: DataType, values: ArrayRef| {
        snapshot(vec![group(), key(), (field("value.0.MAX.max", "MAX(n)", "MAX(n)", sql_type, data_type), values)])
    };
    let (small, large) = (call("INT", DataType::Int32, ints(&[3, 4])), call("BIGINT", DataType::Int64, longs(&[0, 0])));
    assert_eq!(fit(&small, &large), Fit::Lacking(vec!["MAX(n): BIGINT, saved as INT".into()]));
}

#[test]
fn rows_that_are_counted_anyway_are_a_count() {
    let rows = || (field("value.rows", "", "", "", DataType::Int64), longs(&[8, 9]));
    let count = (field("value.0.COUNT.count", "COUNT() count", "COUNT(*)", "", DataType::Int64), longs(&[0, 0]));
    let (saved, wanted) = (snapshot(vec![group(), key(), rows()]), snapshot(vec![group(), key(), rows(), count]));
    assert_eq!(StateShape::of(&saved).fit(&StateShape::of(&wanted)), Fit::Migrated(Vec::new()));
    let migrated = Migration::new(&wanted).apply(saved).expect("rows that fit");
    assert_eq!(migrated.tables[0].rows.column(3).as_primitive::<Int64Type>().values(), &[8, 9]);
}

#[test]
fn types_widen_where_no_value_changes() {
    let widens = |from: &str, to: &str| {
        let logical = |text: &str| text.parse::<SqlType>().expect("a type").logical;
        logical(from).widens_to(&logical(to))
    };
    for (from, to) in [("INT", "BIGINT"), ("VARCHAR(3)", "STRING"), ("DECIMAL(5, 2)", "DECIMAL(9, 2)")] {
        assert!(widens(from, to) && !widens(to, from), "{from} to {to}");
    }
    for (from, to) in
        [("FLOAT", "DOUBLE"), ("INT", "DOUBLE"), ("DECIMAL(5, 2)", "DECIMAL(9, 3)"), ("CHAR(2)", "STRING")]
    {
        assert!(!widens(from, to), "{from} to {to}");
    }
}

#[test]
fn numbered_tables_are_found_by_their_columns() {
    let table = |name: &str, id: &str, value: i64| {
        let value = (field("value.v", id, id, "", DataType::Int64), longs(&[value, value]));
        TableSnapshot { name: name.into(), ..snapshot(vec![group(), key(), value]).tables.remove(0) }
    };
    let of = |tables| OperatorSnapshot { tables, values: BTreeMap::new() };
    let saved = of(vec![table("v.0", "A", 1), table("v.1", "B", 2)]);
    let wanted = of(vec![table("v.0", "B", 0)]);
    assert_eq!(StateShape::of(&saved).fit(&StateShape::of(&wanted)), Fit::Migrated(vec!["without A".into()]));
    let migrated = Migration::new(&wanted).apply(saved.clone()).expect("rows that fit");
    assert_eq!((migrated.tables.len(), migrated.tables[0].name.as_str()), (1, "v.0"));
    assert_eq!(migrated.tables[0].rows.column(2).as_primitive::<Int64Type>().values(), &[2, 2]);
    let other = of(vec![table("v.0", "C", 0)]);
    assert_eq!(StateShape::of(&saved).fit(&StateShape::of(&other)), Fit::Lacking(vec!["no saved state of C".into()]));
}
