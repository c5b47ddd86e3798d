//! Tests of values by pane, against sets of panes in plain sight.

use super::*;
use arrow::datatypes::Int64Type;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers that depend on the seed only.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

type Known = BTreeMap<(u32, i64), BTreeSet<i64>>;

fn values(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn check(seed: u64, forward: u64, behind: u64) {
    let random = &mut Random(seed);
    let mut store = store(&LogicalType::BigInt.nullable()).unwrap();
    store.resize(3);
    let (mut known, mut slots) = (Known::new(), BTreeMap::new());
    let (mut now, mut over) = (random.below(1000) as i64 - 500, i64::MIN);
    let mut saved: BTreeMap<u32, (u32, i64, i64)> = BTreeMap::new();
    for step in 0..200 {
        let rows = 1 + random.below(4) as usize;
        let keys: Vec<u32> = (0..rows).map(|_| random.below(3) as u32).collect();
        let array: Vec<i64> = (0..rows).map(|_| random.below(5) as i64).collect();
        let panes: Vec<i64> = (0..rows).map(|_| (now - random.below(behind) as i64).max(over + 1)).collect();
        let own: Vec<u32> = (0..rows).map(|row| (step * 10 + row) as u32).collect();
        let mut expected = Vec::new();
        for row in 0..rows {
            let (key, pane) = ((keys[row], array[row]), panes[row]);
            let set = known.entry(key).or_default();
            if set.insert(pane) {
                let (before, after) = (set.range(..pane).next_back().copied(), set.range(pane + 1..).next().copied());
                let before = before.filter(|before| *before > over);
                let known = before.filter(|_| after.is_none()).map(|before| slots[&(key, before)]);
                slots.insert((key, pane), own[row]);
                expected.push(Occurrence {
                    row: row as u32,
                    before_slot: known.unwrap_or(Occurrence::NO_SLOT),
                    before: before.unwrap_or(i64::MIN),
                    after: after.unwrap_or(i64::MAX),
                });
            }
        }
        let mut new = Vec::new();
        let rows = PaneRows { values: &values(&array), selected: None, keys: &keys, panes: &panes, slots: &own };
        store.insert(&rows, over, &mut new).unwrap();
        // Who is known by a slot that is over is of no interest.
        let alone = new.iter_mut().filter(|one| one.before == i64::MIN);
        alone.for_each(|one| one.before_slot = Occurrence::NO_SLOT);
        assert_eq!(new, expected, "seed {seed}, step {step}");
        now += random.below(forward) as i64;
        if random.below(3) == 0 {
            over = over.max(now - behind as i64);
            known.values_mut().for_each(|panes| panes.retain(|pane| *pane > over));
            known.retain(|_, panes| !panes.is_empty());
            store.forget(0..random.below(4) as usize, over);
        }
        if random.below(4) == 0 {
            let part = store.save(random.below(5) > 0, over).unwrap();
            match &part.gone {
                None => saved.clear(),
                Some(gone) => gone.iter().for_each(|number| {
                    saved.remove(number).expect("only what was there is gone");
                }),
            }
            let values = part.columns[0].as_primitive::<Int64Type>().values().iter();
            let panes = part.columns[1].as_primitive::<Int64Type>().values().iter();
            for ((&key, &number), (&value, &pane)) in part.keys.iter().zip(&part.numbers).zip(values.zip(panes)) {
                assert!(saved.insert(number, (key, value, pane)).is_none(), "a number twice");
            }
            let mut found = Known::new();
            for &(key, value, pane) in saved.values() {
                assert!(found.entry((key, value)).or_default().insert(pane), "a pane twice");
            }
            assert_eq!(found, known, "seed {seed}, step {step}");
        }
    }
    store.forget(0..3, i64::MAX);
    let empty = store.save(false, i64::MAX).unwrap();
    assert!(empty.keys.is_empty() && empty.gone.is_none());
}

#[test]
fn occurrences_are_those_of_sets_of_panes() {
    for seed in 0..60 {
        check(seed, 2, 5);
        check(seed, 40, 100);
        check(seed, 3, 300);
    }
}

#[test]
fn nulls_and_rows_that_are_not_selected_are_no_values() {
    let mut store = store(&LogicalType::BigInt.nullable()).unwrap();
    store.resize(1);
    let array: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(2), Some(2)]));
    let selected = BooleanArray::from(vec![Some(true), Some(true), None, Some(true)]);
    let (keys, panes, slots) = ([0; 4], [7; 4], [0; 4]);
    let rows = PaneRows { values: &array, selected: Some(&selected), keys: &keys, panes: &panes, slots: &slots };
    let mut new = Vec::new();
    store.insert(&rows, i64::MIN, &mut new).unwrap();
    assert_eq!(new.iter().map(|one| one.row).collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn values_that_are_over_give_their_memory_back() {
    let mut store = store(&LogicalType::STRING.nullable()).unwrap();
    store.resize(1);
    let empty = store.heap_bytes();
    let texts = (0..1000).map(|n| format!("value {n}")).collect::<Vec<_>>();
    let array: ArrayRef = Arc::new(StringArray::from_iter_values(&texts));
    let (keys, slots) = (vec![0; 1000], vec![0; 1000]);
    for pane in [1, 70, 200] {
        let panes = vec![pane; 1000];
        let rows = PaneRows { values: &array, selected: None, keys: &keys, panes: &panes, slots: &slots };
        store.insert(&rows, 0, &mut Vec::new()).unwrap();
    }
    assert_eq!(store.save(false, 0).unwrap().keys.len(), 3000, "each value in three panes");
    assert!(store.heap_bytes() > empty + 1000 * 100, "{}", store.heap_bytes());
    let one = PaneRows { values: &array.slice(0, 1), selected: None, keys: &[0], panes: &[300], slots: &[0] };
    store.insert(&one, 0, &mut Vec::new()).unwrap();
    store.forget(0..1, 250);
    assert!(store.heap_bytes() < empty + 60_000, "{}", store.heap_bytes());
    store.forget(0..1, 300);
    assert!(store.heap_bytes() < empty + 60_000, "{}", store.heap_bytes());
    let gone = store.save(true, 300).unwrap().gone;
    assert_eq!(gone, None, "most is gone: the snapshot holds all of nothing");
}
