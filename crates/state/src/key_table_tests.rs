//! Tests of key tables: slots, removal, TTL, and restoring at another parallelism.

use super::*;
use arrow::array::Array;
use arrow::array::{Int32Array, StringArray};
use base::key::groups_of_instance;

fn spec(fields: &[(&str, DataType)]) -> KeyTableSpec {
    let fields = fields.iter().map(|(name, t)| Arc::new(Field::new(*name, t.clone(), true)) as FieldRef).collect();
    KeyTableSpec { name: "groups", namespace: None, fields, ttl_ms: None }
}

fn texts(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn insert(table: &mut KeyTable, columns: &[ArrayRef], namespaces: Option<&[i64]>) -> Slots {
    let mut out = Slots::default();
    let batch = KeyBatch { columns, namespaces, rows: columns.first().map_or(3, |column| column.len()) };
    table.lookup_or_insert(batch, &mut out).expect("insert");
    out
}

#[test]
fn every_form_of_key_finds_its_slot_again() {
    let integers: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None, Some(7), Some(-1), Some(0)]));
    let longs: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None, Some(7), Some(-1), Some(0)]));
    let names = texts(&[Some("a"), None, Some("a"), Some(""), Some("b")]);
    for columns in [vec![integers.clone()], vec![longs.clone()], vec![names.clone()], vec![longs, names, integers]] {
        let fields: Vec<_> = columns.iter().map(|column| ("k", column.data_type().clone())).collect();
        let mut table = KeyTable::new(spec(&fields)).expect("table");
        assert_eq!(insert(&mut table, &columns, None).rows, [0, 1, 0, 2, 3]);
        let again = insert(&mut table, &columns, None);
        assert_eq!((again.rows, again.new), (vec![0, 1, 0, 2, 3], vec![]));
        let back = table.keys(&[0, 1, 0, 2, 3]).expect("keys");
        assert!(back.iter().zip(&columns).all(|(a, b)| a.to_data() == b.to_data()));
        table.remove(&[1]).expect("remove");
        assert_eq!((table.len(), table.live_slots()), (3, vec![0, 2, 3]));
        let batch = KeyBatch { columns: &columns, namespaces: None, rows: 5 };
        assert_eq!(table.lookup(batch).expect("lookup"), [Some(0), None, Some(0), Some(2), Some(3)]);
        assert_eq!(insert(&mut table, &columns, None).new, [1], "a free slot is used again");
    }
}

#[test]
fn no_key_column_is_one_key_per_namespace() {
    let mut table = KeyTable::new(spec(&[])).expect("table");
    assert_eq!(insert(&mut table, &[], None).rows, [0, 0, 0]);
    let mut windows = KeyTable::new(KeyTableSpec { namespace: Some("end"), ..spec(&[]) }).expect("table");
    assert_eq!(insert(&mut windows, &[], Some(&[10, 20, 10])).rows, [0, 1, 0]);
    assert_eq!(windows.namespace(1), 20);
}

#[test]
fn expired_slots_are_found_piece_by_piece() {
    let mut table = KeyTable::new(KeyTableSpec { ttl_ms: Some(100), ..spec(&[("k", DataType::Utf8)]) }).expect("table");
    let keys = [texts(&[Some("a"), Some("b"), Some("c")])];
    let slots = insert(&mut table, &keys, None).rows;
    table.written(&slots, 1000);
    table.written(&[1], 1050);
    assert!(table.is_expired(0, 1100) && !table.is_expired(1, 1100));
    assert_eq!(table.expire(1100, 2), [0]);
    assert_eq!(table.expire(1100, 2), [2, 0]);
}

fn values(table: &mut KeyTable, scope: Scope, by_slot: &[i64]) -> TableSnapshot {
    let taken = table.take(scope, KeyTable::live_slots);
    let column: Int64Array = taken.slots.iter().map(|&slot| Some(by_slot[slot as usize])).collect();
    table.snapshot(&taken, vec![(value_field(), Arc::new(column) as ArrayRef)]).expect("snapshot")
}

fn value_field() -> FieldRef {
    Arc::new(Field::new("v", DataType::Int64, false))
}

#[test]
fn a_table_is_restored_at_another_parallelism() {
    let mut table =
        KeyTable::new(KeyTableSpec { namespace: Some("end"), ..spec(&[("k", DataType::Int64)]) }).expect("table");
    let keys: [ArrayRef; 1] = [Arc::new(Int64Array::from((0..1000).collect::<Vec<i64>>()))];
    insert(&mut table, &keys, Some(&(0..1000).collect::<Vec<_>>()));
    let snapshot = values(&mut table, Scope::Full, &(0..1000).map(|v| v * 10).collect::<Vec<_>>());
    let mut seen = 0;
    for instance in 0..3 {
        let mut part = KeyTable::new(table.spec.clone()).expect("table");
        let restored = part.restore(&snapshot, groups_of_instance(instance, 3), &[value_field()]).expect("restore");
        let read = part.keys(&restored.slots).expect("keys");
        for row in 0..restored.slots.len() {
            let key = read[0].as_any().downcast_ref::<Int64Array>().expect("key").value(row);
            let value = restored.values[0].as_any().downcast_ref::<Int64Array>().expect("value").value(row);
            assert_eq!((value, part.namespace(restored.slots[row])), (key * 10, key));
        }
        seen += restored.slots.len();
    }
    assert_eq!(seen, 1000);
}

#[test]
fn incremental_snapshots_hold_what_changed() {
    let mut table = KeyTable::new(spec(&[("k", DataType::Utf8)])).expect("table");
    insert(&mut table, &[texts(&[Some("a"), Some("b"), Some("c")])], None);
    let full = values(&mut table, Scope::Changes, &[1, 2, 3]);
    assert!(matches!(full.kind, SnapshotKind::Full), "the first snapshot cannot be a difference");
    table.remove(&[0, 1]).expect("remove");
    insert(&mut table, &[texts(&[Some("b"), Some("d"), Some("e")])], None);
    let mut by_slot = vec![0; table.slots_len()];
    for (slot, value) in [(1, 20), (0, 4), (3, 5), (2, 3)] {
        by_slot[slot] = value;
    }
    let changes = values(&mut table, Scope::Changes, &by_slot);
    assert_eq!(changes.rows.num_rows(), 3, "the unchanged c is left out");

    let snapshot =
        |table: &TableSnapshot| crate::OperatorSnapshot { tables: vec![table.clone()], ..Default::default() };
    let merged = crate::merge_snapshots(vec![snapshot(&full), snapshot(&changes)], true).expect("merged");
    let mut copy = KeyTable::new(table.spec.clone()).expect("table");
    let restored = copy.restore(&merged.tables[0], 0..128, &[value_field()]).expect("restored");
    let keys = copy.keys(&restored.slots).expect("keys");
    assert_eq!(keys[0].to_data(), texts(&[Some("c"), Some("b"), Some("d"), Some("e")]).to_data(), "by arrival");
    assert_eq!(restored.values[0].to_data(), Int64Array::from(vec![3, 20, 4, 5]).to_data());
    assert!(copy.restore(&changes, 0..128, &[value_field()]).is_err(), "changes alone say nothing");
}

#[test]
fn other_columns_are_refused() {
    let mut table = KeyTable::new(spec(&[("k", DataType::Utf8)])).expect("table");
    insert(&mut table, &[texts(&[Some("a")])], None);
    let snapshot = values(&mut table, Scope::Full, &[1]);
    let mut other = KeyTable::new(spec(&[("k", DataType::Int64)])).expect("table");
    assert_eq!(other.restore(&snapshot, 0..128, &[value_field()]).expect_err("type").code(), "HW-X100");
    let mut same = KeyTable::new(spec(&[("k", DataType::Utf8)])).expect("table");
    assert_eq!(same.restore(&snapshot, 0..128, &[]).expect_err("values").code(), "HW-X100");
}
