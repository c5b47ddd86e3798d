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
    let deleted = Schema::new(vec![Field::new("key_group", DataType::UInt16, false)]);
    let snapshot = OperatorSnapshot {
        tables: vec![
            TableSnapshot { name: "groups".into(), kind: SnapshotKind::Full, rows: rows(1000).slice(17, 600) },
            TableSnapshot {
                name: "changes".into(),
                kind: SnapshotKind::Incremental { deleted: RecordBatch::new_empty(Arc::new(deleted)) },
                rows: rows(0),
            },
        ],
        values: BTreeMap::from([("watermark".to_string(), i64::MIN), ("数".to_string(), 7)]),
    };
    let bytes = encode_snapshot(&snapshot).expect("bytes");
    let read = decode_snapshot(&bytes).expect("a snapshot");
    assert_eq!(read.values, snapshot.values);
    assert_eq!(read.tables.len(), 2);
    for (read, written) in read.tables.iter().zip(&snapshot.tables) {
        assert_eq!((&read.name, &read.rows), (&written.name, &written.rows));
        assert_eq!(read.rows.schema(), written.rows.schema(), "types and their metadata");
    }
    let SnapshotKind::Incremental { deleted } = &read.tables[1].kind else { panic!("changes") };
    assert_eq!((deleted.num_rows(), deleted.num_columns()), (0, 1));
    assert_eq!(encode_snapshot(&read).expect("bytes"), bytes, "the same state is the same bytes");
}

#[test]
fn bytes_that_end_early_or_are_of_another_version_are_errors() {
    let table = TableSnapshot { name: "t".into(), kind: SnapshotKind::Full, rows: rows(3) };
    let snapshot = OperatorSnapshot { tables: vec![table], values: BTreeMap::from([("n".to_string(), 1)]) };
    let bytes = encode_snapshot(&snapshot).expect("bytes");
    for length in 0..bytes.len() {
        assert!(decode_snapshot(&bytes[..length]).is_err(), "{length} bytes");
    }
    let mut other = bytes;
    other[3] = b'9';
    assert_eq!(decode_snapshot(&other).expect_err("another version").code(), "HW-X102");
}
