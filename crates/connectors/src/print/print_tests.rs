//! The text of printed rows: the lines that Flink wrote for case g15, and Java's rules for the other types.

use super::row_text::RowText;
use super::*;
use arrow::array::*;
use arrow::datatypes::*;
use base::{Field, LogicalType, RowKind, SqlType};

fn lines(columns: Vec<(&str, ArrayRef)>, kinds: Option<Vec<RowKind>>) -> Vec<String> {
    let fields: Vec<Field> =
        columns.iter().map(|(sql_type, _)| Field::new("c", sql_type.parse::<SqlType>().unwrap())).collect();
    let row = RowType::new(fields);
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let records = RecordBatch::try_new(row.arrow().clone(), arrays).unwrap();
    let batch = match kinds {
        None => ChangelogBatch::inserts(records),
        Some(kinds) => ChangelogBatch::new(records, kinds),
    };
    let mut out = String::new();
    RowText::new(&batch, &row).unwrap().push_lines("pid> ", &mut out);
    out.lines().map(str::to_string).collect()
}

#[test]
fn prints_what_flink_prints() {
    let row_type: SqlType = "ROW<`a` INT, `b` STRING>".parse().unwrap();
    let DataType::Struct(fields) = row_type.arrow() else { panic!("a row is a struct") };
    let row = StructArray::new(
        fields,
        vec![Arc::new(Int32Array::from(vec![1])), Arc::new(StringArray::from(vec!["x"]))],
        None,
    );
    let map_type: SqlType = "MAP<STRING, INT>".parse().unwrap();
    let DataType::Map(entries, _) = map_type.arrow() else { panic!("a map") };
    let DataType::Struct(entry_fields) = entries.data_type().clone() else { panic!("entries") };
    let entry_columns: Vec<ArrayRef> =
        vec![Arc::new(StringArray::from(vec!["k"])), Arc::new(Int32Array::from(vec![1]))];
    let offsets = arrow::buffer::OffsetBuffer::new(vec![0, 1].into());
    let map = MapArray::new(entries, offsets, StructArray::new(entry_fields, entry_columns, None), None, false);
    let list_type: SqlType = "ARRAY<STRING>".parse().unwrap();
    let DataType::List(item) = list_type.arrow() else { panic!("a list") };
    let offsets = arrow::buffer::OffsetBuffer::new(vec![0, 2].into());
    let list = ListArray::new(item, offsets, Arc::new(StringArray::from(vec![Some("p"), None])), None);
    let decimal = Decimal128Array::from(vec![150]).with_precision_and_scale(10, 2).unwrap();
    let printed = lines(
        vec![
            ("STRING", Arc::new(StringArray::from(vec!["a"]))),
            ("INT", Arc::new(Int32Array::from(vec![1]))),
            ("BIGINT", Arc::new(Int64Array::from(vec![2]))),
            ("TIMESTAMP(3)", Arc::new(TimestampMillisecondArray::from(vec![1_704_164_645_120]))),
            ("DECIMAL(10, 2)", Arc::new(decimal)),
            ("ROW<`a` INT, `b` STRING>", Arc::new(row)),
            ("MAP<STRING, INT>", Arc::new(map)),
            ("ARRAY<STRING>", Arc::new(list)),
            ("BYTES", Arc::new(BinaryArray::from(vec![b"ab".as_slice()]))),
            ("DOUBLE", Arc::new(Float64Array::from(vec![1e7]))),
            ("BOOLEAN", Arc::new(BooleanArray::from(vec![true]))),
        ],
        None,
    );
    assert_eq!(
        printed,
        ["pid> +I[a, 1, 2, 2024-01-02T03:04:05.120, 1.50, +I[1, x], {k=1}, [p, null], [97, 98], 1.0E7, true]"]
    );
}

#[test]
fn follows_java_for_times_and_kinds() {
    let minute = 1_704_164_640_000_i64;
    let printed = lines(
        vec![
            ("TIMESTAMP(6)", Arc::new(TimestampMicrosecondArray::from(vec![Some(minute * 1000 + 1), None]))),
            ("TIMESTAMP(3)", Arc::new(TimestampMillisecondArray::from(vec![minute, -1]))),
            ("TIMESTAMP_LTZ(3)", Arc::new(TimestampMillisecondArray::from(vec![minute, 0]).with_timezone("UTC"))),
            ("TIME(0)", Arc::new(Time32MillisecondArray::from(vec![11_045_000, 0]))),
            ("DATE", Arc::new(Date32Array::from(vec![0, -1]))),
            ("INTERVAL DAY TO SECOND", Arc::new(DurationMillisecondArray::from(vec![3_661_500, 0]))),
        ],
        Some(vec![RowKind::UpdateBefore, RowKind::Delete]),
    );
    assert_eq!(
        printed,
        [
            "pid> -U[2024-01-02T03:04:00.000001, 2024-01-02T03:04, 2024-01-02T03:04:00Z, 03:04:05, 1970-01-01, \
             PT1H1M1.5S]",
            "pid> -D[null, 1969-12-31T23:59:59.999, 1970-01-01T00:00:00Z, 00:00, 1969-12-31, PT0S]",
        ]
    );
    let decimal = Decimal128Array::from(vec![-12, 0]).with_precision_and_scale(38, 18).unwrap();
    let sql_type = LogicalType::Decimal { precision: 38, scale: 18 }.nullable().to_string();
    assert_eq!(lines(vec![(&sql_type, Arc::new(decimal))], None), ["pid> +I[-1.2E-17]", "pid> +I[0E-18]"]);
}

#[test]
fn names_the_writer_when_there_are_several() {
    let instance = |parallelism| Instance { index: 1, parallelism };
    assert_eq!(prefix("", Instance { index: 0, parallelism: 1 }), "");
    assert_eq!(prefix("pid", Instance { index: 0, parallelism: 1 }), "pid> ");
    assert_eq!(prefix("", instance(2)), "2> ");
    assert_eq!(prefix("pid", instance(2)), "pid:2> ");
}
