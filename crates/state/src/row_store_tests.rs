//! Tests of rows by slot.

use super::*;
use arrow::array::{Array, Int64Array, MapBuilder, StringArray, StringBuilder};
use arrow::datatypes::Field;
use std::sync::Arc;

#[test]
fn rows_come_back_with_nulls_and_maps() {
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for text in ["x", "y"] {
        map.keys().append_value(text);
        map.values().append_null();
        map.append(true).expect("map");
    }
    map.append(false).expect("map");
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(StringArray::from(vec![Some("张三"), Some(""), None])),
        Arc::new(map.finish()),
    ];
    let fields = columns.iter().map(|c| Arc::new(Field::new("c", c.data_type().clone(), true)) as FieldRef).collect();
    let mut store = RowStore::new(fields).expect("store");
    let encoded = store.encode(&columns).expect("encode");
    for (slot, row) in [(4u32, 0usize), (2, 1), (9, 2)] {
        store.set(slot, &encoded, row);
    }
    assert!(store.equals(4, &encoded, 0) && !store.equals(4, &encoded, 1) && !store.contains(5));
    let back = store.columns(&[4, 2, 9]).expect("columns");
    for (a, b) in back.iter().zip(&columns) {
        assert_eq!(a.to_data(), b.to_data());
    }
    store.clear(4);
    assert!(!store.contains(4));
    assert!(store.columns(&[4]).is_err());
}

#[test]
fn a_row_without_columns_still_exists() {
    let mut store = RowStore::new(Vec::new()).expect("store");
    let encoded = store.encode(&[]).expect("encode");
    assert!(!store.contains(0));
    store.set(0, &encoded, 0);
    assert!(store.equals(0, &encoded, 7));
    assert_eq!(store.fields().len(), 0);
}
