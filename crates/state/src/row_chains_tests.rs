//! Tests of rows in chains by slot.

use super::*;
use crate::key_table::{KeyBatch, KeyTableSpec, Slots};
use arrow::array::{Int64Array, StringArray};
use std::collections::BTreeMap;

fn fields() -> Vec<FieldRef> {
    vec![Arc::new(Field::new("id", DataType::Int64, true)), Arc::new(Field::new("text", DataType::Utf8, true))]
}

fn chains(identity: RowIdentity, ttl_ms: Option<i64>) -> RowChains {
    let spec = RowChainsSpec { name: "rows", fields: fields(), identity, counts_matches: true, ttl_ms };
    let mut chains = RowChains::new(spec).expect("chains");
    chains.resize(8);
    chains
}

fn columns(rows: &[(i64, &str)]) -> Vec<ArrayRef> {
    let ids: Int64Array = rows.iter().map(|row| Some(row.0)).collect();
    let texts: StringArray = rows.iter().map(|row| Some(row.1)).collect();
    vec![Arc::new(ids), Arc::new(texts)]
}

fn add(chains: &mut RowChains, slot: u32, row: (i64, &str)) -> Added {
    let rows = chains.encode(&columns(&[row])).expect("encode");
    chains.add(slot, &rows, 0, 0).expect("add")
}

fn retract(chains: &mut RowChains, slot: u32, row: (i64, &str)) -> bool {
    let rows = chains.encode(&columns(&[row])).expect("encode");
    chains.retract(slot, &rows, 0, 0).expect("retract")
}

/// The rows of a slot in order, as `id text xcopies`.
fn show(chains: &RowChains, slot: u32) -> Vec<String> {
    let entries = chains.entries(slot);
    let columns = chains.columns(&entries).expect("columns");
    let line = |(row, &entry): (usize, &u32)| {
        let (ids, texts) = (columns[0].as_primitive::<Int64Type>(), columns[1].as_string::<i32>());
        format!("{} {} x{}", ids.value(row), texts.value(row), chains.copies(entry))
    };
    entries.iter().enumerate().map(line).collect()
}

#[test]
fn equal_rows_are_counted_and_keep_their_place() {
    let mut chains = chains(RowIdentity::Content, None);
    for row in [(1, "a"), (2, "b"), (1, "a"), (3, "c")] {
        assert!(!add(&mut chains, 5, row).replaced);
    }
    add(&mut chains, 6, (1, "a"));
    assert_eq!(show(&chains, 5), ["1 a x2", "2 b x1", "3 c x1"]);
    assert_eq!((chains.total(5), chains.total(6), chains.len()), (4, 1, 4));
    assert!(retract(&mut chains, 5, (2, "b")) && !retract(&mut chains, 5, (2, "b")));
    assert!(retract(&mut chains, 5, (1, "a")));
    assert_eq!(show(&chains, 5), ["1 a x1", "3 c x1"]);
    assert!(retract(&mut chains, 5, (1, "a")) && retract(&mut chains, 5, (3, "c")));
    assert_eq!((chains.first(5), chains.total(5)), (None, 0));
    assert_eq!(show(&chains, 6), ["1 a x1"]);
}

#[test]
fn rows_are_replaced_by_their_identity() {
    let mut one = chains(RowIdentity::Slot, None);
    assert!(!add(&mut one, 1, (1, "a")).replaced);
    assert!(add(&mut one, 1, (2, "a longer text than the one before")).replaced);
    assert_eq!(show(&one, 1), ["2 a longer text than the one before x1"]);
    assert!(retract(&mut one, 1, (9, "anything")) && one.is_empty());
    let mut keyed = chains(RowIdentity::Leading(1), None);
    for row in [(1, "a"), (2, "b"), (1, "c")] {
        add(&mut keyed, 1, row);
    }
    assert_eq!(show(&keyed, 1), ["1 c x1", "2 b x1"]);
    assert!(retract(&mut keyed, 1, (1, "old content")));
    assert_eq!(show(&keyed, 1), ["2 b x1"]);
}

#[test]
fn what_is_only_added_is_not_compared() {
    let mut chains = chains(RowIdentity::Arrival, None);
    for row in [(1, "a"), (1, "a"), (2, "b")] {
        add(&mut chains, 0, row);
    }
    assert_eq!(show(&chains, 0), ["1 a x1", "1 a x1", "2 b x1"]);
}

/// Adds and retracts at random, and compares with a model; a hot slot becomes indexed.
#[test]
fn long_chains_are_what_short_ones_are() {
    for identity in [RowIdentity::Content, RowIdentity::Leading(1)] {
        let mut chains = chains(identity, None);
        let mut model: BTreeMap<(u32, i64), u32> = BTreeMap::new();
        let mut seed = 7u64;
        let mut below = |limit: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % limit
        };
        for step in 0..20_000 {
            let (slot, id) = (below(2) as u32, below(200) as i64);
            let count = model.entry((slot, id)).or_default();
            let growing = (step / 4_000) % 2 == 0;
            if below(4) < if growing { 3 } else { 1 } {
                add(&mut chains, slot, (id, "some text"));
                *count = if identity == RowIdentity::Content { *count + 1 } else { 1 };
            } else {
                assert_eq!(retract(&mut chains, slot, (id, "some text")), *count > 0);
                *count = count.saturating_sub(1);
            }
        }
        for slot in 0..2 {
            let mut actual = show(&chains, slot);
            let rows = model.iter().filter(|((of, _), count)| *of == slot && **count > 0);
            let mut expected: Vec<_> = rows.map(|((_, id), count)| format!("{id} some text x{count}")).collect();
            actual.sort();
            expected.sort();
            assert_eq!(actual, expected);
            let total: u32 = model.iter().filter(|((of, _), _)| *of == slot).map(|(_, count)| count).sum();
            assert_eq!(chains.total(slot), total);
        }
    }
}

#[test]
fn removed_bytes_are_used_again() {
    let mut chains = chains(RowIdentity::Content, None);
    let text = "x".repeat(1000);
    for id in 0..2_000 {
        add(&mut chains, 0, (id, &text));
        if id >= 10 {
            assert!(retract(&mut chains, 0, (id - 10, &text)));
        }
    }
    assert_eq!(chains.len(), 10);
    assert!(chains.heap_bytes() < 400_000, "{} bytes", chains.heap_bytes());
}

#[test]
fn expired_rows_are_not_there() {
    let mut chains = chains(RowIdentity::Content, Some(100));
    let rows = chains.encode(&columns(&[(1, "a"), (2, "b")])).expect("encode");
    let a = chains.add(3, &rows, 0, 1000).expect("add").entry;
    let b = chains.add(3, &rows, 1, 1050).expect("add").entry;
    chains.set_matches(a, 7, 1000);
    assert!(!chains.is_expired(a, 1099) && chains.is_expired(a, 1100) && !chains.is_expired(b, 1100));
    // The row starts anew.
    let again = chains.add(3, &rows, 0, 1200).expect("add");
    assert_eq!((again, chains.copies(a), chains.matches(a)), (Added { entry: a, replaced: false }, 1, 0));
    assert_eq!(chains.expire(1200, 1000).expect("expire"), [3]);
    assert_eq!(show(&chains, 3), ["1 a x1"]);
    assert_eq!(chains.expire(1300, 1000).expect("expire"), [3]);
    assert!(chains.is_empty() && !chains.retract(3, &rows, 0, 1300).expect("retract"));
}

#[test]
fn snapshots_keep_order_copies_and_matches() {
    let key = Arc::new(Field::new("key", DataType::Int64, true));
    let spec = KeyTableSpec { name: "keys", namespace: None, fields: vec![key], ttl_ms: None };
    let mut table = KeyTable::new(spec.clone()).expect("table");
    let keys: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![Some(10), None]))];
    let mut slots = Slots::default();
    table.lookup_or_insert(KeyBatch { columns: &keys, namespaces: None, rows: 2 }, &mut slots).expect("slots");
    let mut chains = chains(RowIdentity::Content, None);
    for id in (0..40).rev() {
        add(&mut chains, slots.rows[0], (id, "a"));
    }
    let twice = add(&mut chains, slots.rows[0], (3, "a")).entry;
    chains.set_matches(twice, 5, 0);
    add(&mut chains, slots.rows[1], (1, "null"));
    let taken = table.take_beside_rows(Scope::Full, KeyTable::live_slots);
    let snapshot = chains.snapshot(&table, Scope::Full, &taken).expect("snapshot");
    let (mut table, mut restored) = (KeyTable::new(spec).expect("table"), self::chains(RowIdentity::Content, None));
    restored.restore(&mut table, &snapshot, 0..128).expect("restore");
    table.lookup_or_insert(KeyBatch { columns: &keys, namespaces: None, rows: 2 }, &mut slots).expect("slots");
    assert_eq!(slots.new, [0u32; 0]);
    assert_eq!(show(&restored, slots.rows[0]), show(&chains, 0));
    assert_eq!(show(&restored, slots.rows[1]), ["1 null x1"]);
    let twice = add(&mut restored, slots.rows[0], (3, "a")).entry;
    assert_eq!((restored.copies(twice), restored.matches(twice)), (3, 5));
}

#[test]
fn rows_that_are_equal_without_a_column_are_copies() {
    let key = Arc::new(Field::new("key", DataType::Int64, true));
    let spec = KeyTableSpec { name: "keys", namespace: None, fields: vec![key], ttl_ms: None };
    let mut table = KeyTable::new(spec.clone()).expect("table");
    let keys: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![10, 20]))];
    let mut slots = Slots::default();
    table.lookup_or_insert(KeyBatch { columns: &keys, namespaces: None, rows: 2 }, &mut slots).expect("slots");
    let mut saved = chains(RowIdentity::Content, None);
    for row in [(1, "a"), (2, "b"), (1, "a"), (3, "a"), (4, "c")] {
        add(&mut saved, slots.rows[0], row);
    }
    add(&mut saved, slots.rows[1], (1, "a"));
    let taken = table.take_beside_rows(Scope::Full, KeyTable::live_slots);
    let mut snapshot = saved.snapshot(&table, Scope::Full, &taken).expect("snapshot");
    let left: Vec<usize> = (0..snapshot.rows.num_columns())
        .filter(|&column| snapshot.rows.schema().field(column).name() != "value.id")
        .collect();
    snapshot.rows = snapshot.rows.project(&left).expect("columns");
    let text = RowChainsSpec { fields: fields()[1..].to_vec(), ..saved.spec.clone() };
    let (mut table, mut restored) = (KeyTable::new(spec).expect("table"), RowChains::new(text).expect("chains"));
    restored.restore(&mut table, &snapshot, 0..128).expect("restore");
    table.lookup_or_insert(KeyBatch { columns: &keys, namespaces: None, rows: 2 }, &mut slots).expect("slots");
    let shown = |slot: u32| -> Vec<(String, u32)> {
        let entries = restored.entries(slot);
        let texts = restored.columns(&entries).expect("columns")[0].as_string::<i32>().clone();
        entries.iter().enumerate().map(|(row, &entry)| (texts.value(row).into(), restored.copies(entry))).collect()
    };
    assert_eq!(shown(slots.rows[0]), [("a".into(), 3), ("b".into(), 1), ("c".into(), 1)]);
    assert_eq!((restored.total(slots.rows[0]), shown(slots.rows[1])), (5, vec![("a".into(), 1)]));
}

#[test]
fn a_row_takes_little_more_than_its_bytes() {
    const ROWS: usize = 50_000;
    let spec = RowChainsSpec {
        name: "rows",
        fields: fields(),
        identity: RowIdentity::Content,
        counts_matches: false,
        ttl_ms: None,
    };
    let mut chains = RowChains::new(spec).expect("chains");
    chains.resize(ROWS);
    let rows: Vec<(i64, &str)> = (0..ROWS as i64).map(|id| (id, "a text of some length")).collect();
    let encoded = chains.encode(&columns(&rows)).expect("encode");
    for row in 0..ROWS {
        chains.add(row as u32, &encoded, row, 0).expect("add");
    }
    let arrow_row = 8 + 4 + 21;
    let per_row = chains.heap_bytes() / ROWS;
    assert!(per_row < arrow_row * 3 / 2 + 40, "{per_row} bytes per row");
}
