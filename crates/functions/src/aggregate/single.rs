//! MIN, MAX, FIRST_VALUE and LAST_VALUE over input that never retracts: one value per slot.

use super::kind::{Kind, with_kind};
use super::rows::{Rows, argument, column, nulls};
use arrow::array::*;
use arrow::datatypes::FieldRef;
use base::changelog::RowKind;
use base::function::{Accumulator, Merging};
use base::{Result, SqlType};
use std::cmp::Ordering;

/// Which value stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Least,
    Greatest,
    First,
    Last,
}

#[derive(Debug)]
struct Single<K: Kind> {
    kind: K,
    keep: Keep,
    argument: SqlType,
    values: Vec<Option<K::Value>>,
}

pub(super) fn accumulator(argument: &SqlType, keep: Keep) -> Result<Box<dyn Accumulator>> {
    let argument = argument.with_nullable(true);
    Ok(with_kind!(&argument, kind => Box::new(Single { kind, keep, argument: argument.clone(), values: Vec::new() })))
}

impl<K: Kind> Single<K> {
    fn apply(&mut self, rows: Rows<'_>, array: &ArrayRef) -> Result<()> {
        let column = self.kind.column(array)?;
        let (values, keep) = (&mut self.values, self.keep);
        rows.each(nulls(array), |row, slot, sign| {
            let kept = &mut values[slot];
            let replace = match (&kept, keep) {
                (None, _) | (_, Keep::Last) => true,
                (_, Keep::First) => false,
                (Some(value), Keep::Least) => K::compare(value, &column, row) == Ordering::Greater,
                (Some(value), Keep::Greatest) => K::compare(value, &column, row) == Ordering::Less,
            };
            if replace && sign > 0 {
                *kept = Some(K::get(&column, row));
            }
        });
        Ok(())
    }
}

impl<K: Kind> Accumulator for Single<K> {
    fn resize(&mut self, slots: usize) {
        if slots > self.values.len() {
            self.values.resize(slots, None);
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
        self.apply(Rows { slots, kinds, selected }, &array)
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        self.kind.build(slots.iter().map(|slot| self.values[*slot as usize].as_ref()))
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.values[*slot as usize] = None;
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![self.argument.arrow_field("value")]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.values(slots)?])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.reset(slots);
        self.merge(slots, state)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.apply(Rows { slots, kinds: None, selected: None }, column(state, 0)?)
    }

    fn merge_slots(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        for (into, from) in into.iter().zip(from) {
            let (into, from) = (*into as usize, *from as usize);
            let replace = match (&self.values[into], &self.values[from], self.keep) {
                (_, None, _) | (Some(_), _, Keep::First) => false,
                (None, ..) | (_, _, Keep::Last) => true,
                (Some(kept), Some(value), Keep::Least) => value < kept,
                (Some(kept), Some(value), Keep::Greatest) => value > kept,
            };
            if replace {
                self.values[into] = self.values[from].clone();
            }
        }
        Ok(())
    }

    fn merging(&self) -> Merging {
        match self.keep {
            Keep::Least | Keep::Greatest => Merging::AnyOrder,
            Keep::First | Keep::Last => Merging::InOrder,
        }
    }

    fn heap_bytes(&self) -> usize {
        let inner: usize = self.values.iter().flatten().map(K::heap_bytes).sum();
        inner + self.values.capacity() * size_of::<Option<K::Value>>()
    }
}
