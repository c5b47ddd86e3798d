//! Tests of ordered rows.

use super::*;
use arrow::array::{Array, AsArray, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Int64Type};
use std::sync::Arc;

fn store(identity: SortedIdentity) -> SortedRows {
    let field = |name: &str, data_type: DataType| -> FieldRef { Arc::new(Field::new(name, data_type, true)) };
    let descending = SortOptions { descending: true, nulls_first: false };
    let order = vec![(field("v", DataType::Int64), descending)];
    let rest = vec![field("id", DataType::Int64), field("k", DataType::Utf8)];
    let mut store = SortedRows::new(SortedRowsSpec { order, rest, identity }).expect("store");
    store.resize(2);
    store
}

fn batch(store: &SortedRows, rows: &[(Option<i64>, i64)]) -> SortedBatch {
    let v: ArrayRef = Arc::new(rows.iter().map(|(v, _)| *v).collect::<Int64Array>());
    let id: ArrayRef = Arc::new(rows.iter().map(|(_, id)| Some(*id)).collect::<Int64Array>());
    let k: ArrayRef = Arc::new(StringArray::from(vec!["k"; rows.len()]));
    store.encode(&[v, id, k]).expect("encode")
}

fn ids(store: &SortedRows, slot: u32) -> Vec<i64> {
    let rows: Vec<u32> = store.from(slot, 0).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    store.columns(&rows).expect("columns")[1].as_primitive::<Int64Type>().values().to_vec()
}

#[test]
fn ties_keep_their_order_and_null_is_last_in_desc() {
    let mut store = store(SortedIdentity::Content);
    let rows = batch(&store, &[(Some(1), 1), (None, 2), (Some(5), 3), (Some(1), 4), (Some(1), 1), (Some(-9), 5)]);
    for row in 0..6 {
        store.insert(1, &rows, row);
    }
    assert_eq!(ids(&store, 1), [3, 1, 4, 1, 5, 2]);
    assert_eq!(ids(&store, 0), Vec::<i64>::new());
    // Of two equal rows the first goes.
    let gone = store.find(1, &rows, 4).expect("found");
    assert_eq!(store.index(1, gone, 10), Some(1));
    assert_eq!(store.index(1, gone, 1), None);
    store.remove(1, gone);
    assert_eq!(ids(&store, 1), [3, 4, 1, 5, 2]);
    assert_eq!(store.columns(&[gone]).expect("still readable")[1].len(), 1);
    store.release();
    assert!(store.columns(&[gone]).is_err());
    assert!(store.find(0, &rows, 4).is_none());
    let (slots, order) = store.by_arrival(&[0, 1]);
    assert_eq!(slots, [1; 5]);
    assert_eq!(store.columns(&order).expect("columns")[1].as_primitive::<Int64Type>().values()[..], [2, 3, 4, 1, 5]);
    store.clear(1);
    assert_eq!((store.len(1), store.rows()), (0, 0));
}

#[test]
fn a_replaced_row_keeps_its_place() {
    let mut store = store(SortedIdentity::Leading(1));
    let rows = batch(&store, &[(Some(1), 1), (Some(1), 2), (Some(1), 3), (Some(1), 2)]);
    for row in 0..3 {
        store.insert(0, &rows, row);
    }
    let kept = store.find(0, &rows, 3).expect("found");
    let new = store.replace(0, kept, &rows, 3);
    assert!(store.same_content(kept, new));
    assert_eq!(ids(&store, 0), [1, 2, 3]);
    assert_eq!(store.find(0, &rows, 3), Some(new));
    assert_eq!(store.rows(), 3);
}

#[test]
fn rows_without_an_order_stand_as_they_came() {
    let rest: Vec<FieldRef> = vec![Arc::new(Field::new("id", DataType::Int64, true))];
    let mut store =
        SortedRows::new(SortedRowsSpec { order: vec![], rest, identity: SortedIdentity::None }).expect("store");
    store.resize(1);
    let rows = store.encode(&[Arc::new(Int64Array::from(vec![3, 1, 2]))]).expect("encode");
    let all: Vec<u32> = (0..3).map(|row| store.insert(0, &rows, row)).collect();
    assert_eq!(store.take_front(0, 2, |_| true), all[..2]);
    assert_eq!(store.remove_last(0), Some(all[2]));
    assert_eq!((store.rows(), store.remove_last(0)), (0, None));
}
