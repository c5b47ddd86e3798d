//! COLLECT: the values of a slot with their counts, ordered by value so that equal runs give equal text.

use super::extreme::{change, count_fields, map_bytes, merge_counts, save_counts};
use super::kind::{Kind, with_kind};
use super::rows::{Rows, argument, nulls};
use arrow::array::*;
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, FieldRef};
use base::changelog::RowKind;
use base::function::Accumulator;
use base::{Error, LogicalType, Result, SqlType};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
struct Collect<K: Kind> {
    kind: K,
    argument: SqlType,
    result: SqlType,
    counts: Vec<BTreeMap<K::Value, i64>>,
}

pub(super) fn accumulator(argument: &SqlType) -> Result<Box<dyn Accumulator>> {
    let result = LogicalType::Multiset(Box::new(argument.clone())).not_null();
    let argument = argument.with_nullable(false);
    Ok(with_kind!(&argument, kind => Box::new(Collect {
        kind, argument: argument.clone(), result: result.clone(), counts: Vec::new()
    })))
}

impl<K: Kind> Accumulator for Collect<K> {
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
        let DataType::Map(entries_field, _) = self.result.arrow() else {
            return Err(Error::internal("a multiset is not a map"));
        };
        let DataType::Struct(fields) = entries_field.data_type().clone() else {
            return Err(Error::internal("map entries are not rows"));
        };
        let (mut keys, mut counts, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for slot in slots {
            let before = keys.len();
            for (value, count) in self.counts[*slot as usize].iter().filter(|(_, count)| **count > 0) {
                keys.push(Some(value));
                counts.push(*count as i32);
            }
            lengths.push(keys.len() - before);
        }
        let columns = vec![self.kind.build(keys.into_iter())?, Arc::new(Int32Array::from(counts)) as ArrayRef];
        let entries = StructArray::try_new(fields, columns, None)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        Ok(Arc::new(MapArray::try_new(entries_field, offsets, entries, None, false)?))
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
