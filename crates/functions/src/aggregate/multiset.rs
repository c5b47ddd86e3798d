//! MIN and MAX over input that can retract, and COLLECT: an ordered multiset of values per slot.

use super::kind::{Kind, build_lists, list_field, list_of, list_range, with_kind};
use super::rows::{Rows, argument, column, nulls};
use arrow::array::*;
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use base::changelog::RowKind;
use base::function::{Accumulator, Merging};
use base::{Error, LogicalType, Result, SqlType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is read off the multiset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Min,
    Max,
    Collect,
}

#[derive(Debug)]
struct Multiset<K: Kind> {
    kind: K,
    output: Output,
    /// The MULTISET type of [`Output::Collect`].
    result: SqlType,
    argument: SqlType,
    /// How often each value is there. A count below zero is a retraction that came before its row.
    counts: Vec<BTreeMap<K::Value, i64>>,
    /// Bytes of all values and counts.
    bytes: usize,
}

pub(super) fn accumulator(argument: &SqlType, output: Output) -> Result<Box<dyn Accumulator>> {
    let result = LogicalType::Multiset(Box::new(argument.clone())).not_null();
    let argument = argument.with_nullable(false);
    Ok(with_kind!(&argument, kind => Box::new(Multiset {
        kind, output, result: result.clone(), argument: argument.clone(), counts: Vec::new(), bytes: 0
    })))
}

/// Changes the count of a value; a count of 0 is not kept. `bytes` are those of all multisets.
fn change<K: Kind>(counts: &mut BTreeMap<K::Value, i64>, bytes: &mut usize, value: K::Value, by: i64) {
    match counts.entry(value) {
        std::collections::btree_map::Entry::Vacant(entry) => {
            *bytes += entry_bytes::<K>(entry.key());
            entry.insert(by);
        }
        std::collections::btree_map::Entry::Occupied(mut entry) => {
            *entry.get_mut() += by;
            if *entry.get() == 0 {
                *bytes -= entry_bytes::<K>(entry.key());
                entry.remove();
            }
        }
    }
}

/// Bytes of a value and its count, roughly: a B-tree is about two thirds full.
fn entry_bytes<K: Kind>(value: &K::Value) -> usize {
    (size_of::<K::Value>() + size_of::<i64>()) * 3 / 2 + K::heap_bytes(value)
}

/// Two list columns: the values and their counts.
fn save_counts<K: Kind>(
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

fn merge_counts<K: Kind>(
    kind: &K,
    maps: &mut [BTreeMap<K::Value, i64>],
    bytes: &mut usize,
    slots: &[u32],
    state: &[ArrayRef],
    sign: i64,
) -> Result<()> {
    let (values, counts) = (column(state, 0)?.as_list::<i32>(), column(state, 1)?.as_list::<i32>());
    let flat = kind.column(values.values())?;
    let flat_counts = counts.values().as_primitive::<Int64Type>();
    for (row, slot) in slots.iter().enumerate() {
        for (at, count_at) in list_range(values, row).zip(list_range(counts, row)) {
            change::<K>(&mut maps[*slot as usize], bytes, K::get(&flat, at), sign * flat_counts.value(count_at));
        }
    }
    Ok(())
}

fn count_fields(element: &SqlType) -> Vec<FieldRef> {
    vec![list_field("values", element), list_field("counts", &LogicalType::BigInt.not_null())]
}

/// MULTISET values: the values with their counts, ordered by value so that equal runs give equal text.
fn collect<K: Kind>(kind: &K, result: &SqlType, maps: &[BTreeMap<K::Value, i64>], slots: &[u32]) -> Result<ArrayRef> {
    let DataType::Map(entries_field, _) = result.arrow() else {
        return Err(Error::internal("a multiset is not a map"));
    };
    let DataType::Struct(fields) = entries_field.data_type().clone() else {
        return Err(Error::internal("map entries are not rows"));
    };
    let (mut keys, mut counts, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for slot in slots {
        let before = keys.len();
        for (value, count) in maps[*slot as usize].iter().filter(|(_, count)| **count > 0) {
            keys.push(Some(value));
            counts.push(*count as i32);
        }
        lengths.push(keys.len() - before);
    }
    let columns = vec![kind.build(keys.into_iter())?, Arc::new(Int32Array::from(counts)) as ArrayRef];
    let entries = StructArray::try_new(fields, columns, None)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(MapArray::try_new(entries_field, offsets, entries, None, false)?))
}

impl<K: Kind> Accumulator for Multiset<K> {
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
        let (counts, bytes) = (&mut self.counts, &mut self.bytes);
        Rows { slots, kinds, selected }
            .each(nulls(&array), |row, slot, sign| change::<K>(&mut counts[slot], bytes, K::get(&column, row), sign));
        Ok(())
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let present = |slot: &u32| self.counts[*slot as usize].iter().filter(|(_, count)| **count > 0);
        match self.output {
            Output::Min => self.kind.build(slots.iter().map(|slot| present(slot).next().map(|(value, _)| value))),
            Output::Max => self.kind.build(slots.iter().map(|slot| present(slot).next_back().map(|(value, _)| value))),
            Output::Collect => collect(&self.kind, &self.result, &self.counts, slots),
        }
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            let gone = std::mem::take(&mut self.counts[*slot as usize]);
            self.bytes -= gone.keys().map(entry_bytes::<K>).sum::<usize>();
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
        merge_counts(&self.kind, &mut self.counts, &mut self.bytes, slots, state, 1)
    }

    fn merging(&self) -> Merging {
        Merging::Exact
    }

    fn unmerge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        merge_counts(&self.kind, &mut self.counts, &mut self.bytes, slots, state, -1)
    }

    fn heap_bytes(&self) -> usize {
        self.bytes + self.counts.capacity() * size_of::<BTreeMap<K::Value, i64>>()
    }
}
