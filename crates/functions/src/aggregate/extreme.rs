//! MIN and MAX over input that can retract: an ordered multiset of values per slot.

use super::kind::{Kind, build_lists, list_field, list_of, list_range, with_kind};
use super::rows::{Rows, argument, column, nulls};
use arrow::array::*;
use arrow::datatypes::{FieldRef, Int64Type};
use base::changelog::RowKind;
use base::function::Accumulator;
use base::{LogicalType, Result, SqlType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which end of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Min,
    Max,
}

#[derive(Debug)]
struct Extreme<K: Kind> {
    kind: K,
    which: Which,
    argument: SqlType,
    /// How often each value is there. A count below zero is a retraction that came before its row.
    counts: Vec<BTreeMap<K::Value, i64>>,
}

pub(super) fn accumulator(argument: &SqlType, which: Which) -> Result<Box<dyn Accumulator>> {
    let argument = argument.with_nullable(false);
    Ok(with_kind!(&argument, kind => Box::new(Extreme { kind, which, argument: argument.clone(), counts: Vec::new() })))
}

/// Changes the count of a value; a count of 0 is not kept.
pub(super) fn change<V: Ord>(counts: &mut BTreeMap<V, i64>, value: V, by: i64) {
    match counts.entry(value) {
        std::collections::btree_map::Entry::Vacant(entry) => {
            entry.insert(by);
        }
        std::collections::btree_map::Entry::Occupied(mut entry) => {
            *entry.get_mut() += by;
            if *entry.get() == 0 {
                entry.remove();
            }
        }
    }
}

/// Two list columns: the values and their counts.
pub(super) fn save_counts<K: Kind>(
    kind: &K,
    element: &SqlType,
    maps: &[BTreeMap<K::Value, i64>],
    slots: &[u32],
) -> Result<Vec<ArrayRef>> {
    let maps = || slots.iter().map(|slot| &maps[*slot as usize]);
    let values = build_lists(kind, element, maps().map(|map| map.keys().map(Some)))?;
    let lengths: Vec<usize> = maps().map(BTreeMap::len).collect();
    let counts = Int64Array::from_iter_values(maps().flat_map(|map| map.values().copied()));
    Ok(vec![values, list_of(Arc::new(counts), &LogicalType::BigInt.not_null(), &lengths)?])
}

pub(super) fn merge_counts<K: Kind>(
    kind: &K,
    maps: &mut [BTreeMap<K::Value, i64>],
    slots: &[u32],
    state: &[ArrayRef],
) -> Result<()> {
    let (values, counts) = (column(state, 0)?.as_list::<i32>(), column(state, 1)?.as_list::<i32>());
    let flat = kind.column(values.values())?;
    let flat_counts = counts.values().as_primitive::<Int64Type>();
    for (row, slot) in slots.iter().enumerate() {
        for (at, count_at) in list_range(values, row).zip(list_range(counts, row)) {
            change(&mut maps[*slot as usize], K::get(&flat, at), flat_counts.value(count_at));
        }
    }
    Ok(())
}

pub(super) fn count_fields(element: &SqlType) -> Vec<FieldRef> {
    vec![list_field("values", element), list_field("counts", &LogicalType::BigInt.not_null())]
}

/// Bytes of a multiset, roughly: a B-tree is about two thirds full.
pub(super) fn map_bytes<K: Kind>(map: &BTreeMap<K::Value, i64>) -> usize {
    let entry = size_of::<K::Value>() + size_of::<i64>();
    map.len() * entry * 3 / 2 + map.keys().map(K::heap_bytes).sum::<usize>()
}

impl<K: Kind> Accumulator for Extreme<K> {
    fn resize(&mut self, slots: usize) {
        if slots > self.counts.len() {
            self.counts.resize_with(slots, BTreeMap::new);
        }
    }

    fn update(
        &mut self,
        slots: &[u32],
        kinds: Option<&[RowKind]>,
        arguments: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        let array = argument(arguments, 0, slots.len())?;
        let column = self.kind.column(&array)?;
        let counts = &mut self.counts;
        Rows { slots, kinds, selected }
            .each(nulls(&array), |row, slot, sign| change(&mut counts[slot], K::get(&column, row), sign));
        Ok(())
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        self.kind.build(slots.iter().map(|slot| {
            let mut present = self.counts[*slot as usize].iter().filter(|(_, count)| **count > 0);
            let found = match self.which {
                Which::Min => present.next(),
                Which::Max => present.next_back(),
            };
            found.map(|(value, _)| value)
        }))
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.counts[*slot as usize] = BTreeMap::new();
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        count_fields(&self.argument)
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        save_counts(&self.kind, &self.argument, &self.counts, slots)
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.reset(slots);
        self.merge(slots, state)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        merge_counts(&self.kind, &mut self.counts, slots, state)
    }

    fn heap_bytes(&self) -> usize {
        let inner: usize = self.counts.iter().map(map_bytes::<K>).sum();
        inner + self.counts.capacity() * size_of::<BTreeMap<K::Value, i64>>()
    }
}
