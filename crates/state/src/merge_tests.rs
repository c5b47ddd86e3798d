//! Snapshots that follow one another as one.

use super::*;
use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, UInt16Array};
use arrow::datatypes::Int64Type;
use std::collections::BTreeMap;
use std::sync::Arc;

fn table(kind: SnapshotKind, rows: &[(u64, i64)]) -> TableSnapshot {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("key_group", Arc::new(UInt16Array::from(vec![0; rows.len()]))),
        ("value.v", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1)))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("columns fit");
    TableSnapshot { name: "t".into(), kind, rows: batch, ids: Some(rows.iter().map(|row| row.0).collect()) }
}

fn snapshot(table: TableSnapshot, value: i64) -> OperatorSnapshot {
    OperatorSnapshot { tables: vec![table], values: BTreeMap::from([("w".to_string(), value)]) }
}

fn full(rows: &[(u64, i64)]) -> OperatorSnapshot {
    snapshot(table(SnapshotKind::Full, rows), 0)
}

fn changes(gone: &[u32], rows: &[(u64, i64)]) -> OperatorSnapshot {
    snapshot(table(SnapshotKind::Rows { gone: gone.to_vec() }, rows), 1)
}

fn keys(gone: &[u32], rows: &[(u64, i64)]) -> OperatorSnapshot {
    snapshot(table(SnapshotKind::Keys { gone: gone.to_vec() }, rows), 2)
}

fn read(snapshot: &OperatorSnapshot) -> Vec<(u64, i64)> {
    let table = &snapshot.tables[0];
    let values = table.rows.column(1).as_primitive::<Int64Type>().values();
    table.ids.as_ref().expect("ids").iter().copied().zip(values.iter().copied()).collect()
}

/// Merges all at once, and in every way in two steps.
fn check(sections: &[OperatorSnapshot], expected: &[(u64, i64)]) {
    let merged = merge_snapshots(sections.to_vec(), true).expect("merged");
    assert_eq!(read(&merged), expected);
    assert!(matches!(merged.tables[0].kind, SnapshotKind::Full));
    assert_eq!(merged.values, sections.last().expect("one").values);
    for start in 0..sections.len() {
        for end in start + 1..=sections.len() {
            let part = merge_snapshots(sections[start..end].to_vec(), start == 0).expect("merged");
            let mut again = sections[..start].to_vec();
            again.push(part);
            again.extend_from_slice(&sections[end..]);
            let merged = merge_snapshots(again, true).expect("merged");
            assert_eq!(read(&merged), expected, "{start}..{end} first");
        }
    }
}

#[test]
fn the_newest_version_of_a_row_stays_in_its_place() {
    check(
        &[
            full(&[(0, 10), (1, 11), (2, 12)]),
            changes(&[1], &[(0, 20), (3, 23)]),
            changes(&[3], &[(4, 34)]),
            changes(&[], &[(0, 40)]),
        ],
        &[(0, 40), (2, 12), (4, 34)],
    );
}

#[test]
fn rows_stand_in_the_order_of_their_keys() {
    let id = |key: u64, row: u64| key << 32 | row;
    check(
        &[
            full(&[(id(0, 0), 1), (id(1, 1), 2)]),
            changes(&[1], &[(id(0, 2), 3), (id(1, 3), 4)]),
            changes(&[], &[(id(0, 0), 5)]),
        ],
        &[(id(0, 0), 5), (id(0, 2), 3), (id(1, 3), 4)],
    );
}

#[test]
fn all_rows_of_a_key_are_replaced() {
    let id = |key: u64, row: u64| key << 32 | row;
    check(
        &[
            full(&[(id(0, 0), 1), (id(1, 1), 2), (id(1, 2), 3)]),
            keys(&[1, 2], &[(id(1, 0), 4), (id(2, 1), 5)]),
            keys(&[0], &[]),
            keys(&[2], &[(id(2, 0), 6), (id(2, 1), 7)]),
        ],
        &[(id(1, 0), 4), (id(2, 0), 6), (id(2, 1), 7)],
    );
}

#[test]
fn a_whole_table_replaces_what_was_before() {
    check(&[full(&[(0, 1), (1, 2)]), changes(&[0], &[(2, 3)]), full(&[(0, 9)])], &[(0, 9)]);
    check(&[full(&[(0, 1)]), full(&[(3, 2), (0, 9)]), changes(&[], &[(4, 1)])], &[(0, 9), (3, 2), (4, 1)]);
}

#[test]
fn changes_of_nothing_are_all_there_is() {
    check(&[changes(&[7], &[(9, 1)])], &[(9, 1)]);
    check(&[changes(&[], &[(0, 1)]), changes(&[0], &[(1, 2)])], &[(1, 2)]);
}
