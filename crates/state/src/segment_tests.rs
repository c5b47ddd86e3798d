//! Snapshots as bytes.

use super::*;
use arrow::array::{ArrayRef, ListArray, StringArray, UInt16Array};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use std::sync::Arc;

fn rows(count: usize) -> RecordBatch {
    let metadata = [("highwater.type".to_string(), "STRING".to_string())].into();
    let schema = Schema::new(vec![
        Field::new("key_group", DataType::UInt16, false),
        Field::new("key.name", DataType::Utf8, true).with_metadata(metadata),
        Field::new("value.list", DataType::new_list(DataType::Int64, true), true),
    ]);
    let lists = (0..count).map(|n| (n % 3 != 0).then(|| (0..n as i64 % 5).map(Some).collect::<Vec<_>>()));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt16Array::from_iter_values((0..count).map(|n| n as u16 % 128))),
        Arc::new(StringArray::from_iter((0..count).map(|n| (n % 4 != 0).then(|| format!("name {n}"))))),
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).expect("columns fit")
}

#[test]
fn a_snapshot_reads_back() {
    let table = |name: &str, kind, rows: RecordBatch, ids| TableSnapshot { name: name.into(), kind, rows, ids };
    let snapshot = OperatorSnapshot {
        tables: vec![
            table("groups", SnapshotKind::Full, rows(1000).slice(17, 600), None),
            table("none", SnapshotKind::Rows { gone: vec![] }, rows(0), Some(vec![])),
            table("consecutive", SnapshotKind::Full, rows(3), Some(vec![7, 8, 9])),
            table("short", SnapshotKind::Rows { gone: vec![1, u32::MAX - 1] }, rows(3), Some(vec![7, 8, 10])),
            table("long", SnapshotKind::Keys { gone: vec![3] }, rows(2), Some(vec![5, 1 << 40])),
            table("large", SnapshotKind::Full, rows(ROWS_MAX + 3), Some((0..ROWS_MAX as u64 + 3).rev().collect())),
        ],
        values: BTreeMap::from([("watermark".to_string(), i64::MIN), ("数".to_string(), 7)]),
    };
    let bytes = encode_snapshot(&snapshot).expect("bytes");
    let read = decode_snapshot(&bytes).expect("a snapshot");
    assert_eq!(read.values, snapshot.values);
    assert_eq!(read.tables.len(), snapshot.tables.len());
    for (read, written) in read.tables.iter().zip(&snapshot.tables) {
        assert_eq!((&read.name, &read.rows, &read.ids), (&written.name, &written.rows, &written.ids));
        assert_eq!(format!("{:?}", read.kind), format!("{:?}", written.kind));
        assert_eq!(read.rows.schema(), written.rows.schema(), "types and their metadata");
    }
    assert_eq!(encode_snapshot(&read).expect("bytes"), bytes, "the same state is the same bytes");
}

#[test]
fn bytes_that_end_early_or_are_of_another_version_are_errors() {
    let table = TableSnapshot { name: "t".into(), kind: SnapshotKind::Full, rows: rows(3), ids: Some(vec![3, 1, 2]) };
    let snapshot = OperatorSnapshot { tables: vec![table], values: BTreeMap::from([("n".to_string(), 1)]) };
    let bytes = encode_snapshot(&snapshot).expect("bytes");
    for length in 0..bytes.len() {
        assert!(decode_snapshot(&bytes[..length]).is_err(), "{length} bytes");
    }
    let mut other = bytes;
    other[3] = b'9';
    assert_eq!(decode_snapshot(&other).expect_err("another version").code(), "HW-X102");
}
