//! BITMAP_BUILD_AGG, BITMAP_AND_AGG, BITMAP_OR_AGG and BITMAP_XOR_AGG, and their forms that give the number of members.
//!
//! Over insert-only input a slot is one bitmap. Over input that can retract, it counts for each member the rows that have
//! it: a member of all rows is in AND, of one row in OR, of an odd number of rows in XOR.

use super::kind::{list_field, list_of, list_range};
use super::numbers::bigint_field;
use super::rows::{Rows, argument, column, nulls};
use crate::scalar::bitmaps;
use arrow::array::*;
use arrow::datatypes::{FieldRef, Int32Type, Int64Type};
use base::changelog::RowKind;
use base::function::{Accumulator, Merging};
use base::{Error, LogicalType, Result};
use roaring::RoaringBitmap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How rows are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Of INT values.
    Build,
    And,
    Or,
    Xor,
}

/// Whether the number of members is asked for, or the bitmap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Bitmap,
    Cardinality,
}

pub(super) fn accumulator(operation: Operation, output: Output, retract: bool) -> Box<dyn Accumulator> {
    if retract {
        Box::new(Counted { operation, output, slots: Vec::new() })
    } else {
        Box::new(Plain { operation, output, sets: Vec::new() })
    }
}

/// The argument: values of INT, or bitmaps.
enum Input {
    Members(Int32Array),
    Sets(LargeBinaryArray),
}

impl Input {
    fn new(operation: Operation, array: &ArrayRef) -> Input {
        match operation {
            Operation::Build => Input::Members(array.as_primitive::<Int32Type>().clone()),
            _ => Input::Sets(array.as_binary::<i64>().clone()),
        }
    }

    /// INT is signed and a bitmap is not: they share the bits.
    fn set(&self, row: usize) -> Result<RoaringBitmap> {
        match self {
            Input::Members(values) => Ok(RoaringBitmap::from_iter([values.value(row) as u32])),
            Input::Sets(sets) => read(sets.value(row)),
        }
    }
}

fn read(bytes: &[u8]) -> Result<RoaringBitmap> {
    bitmaps::read(bytes).map_err(|why| Error::internal(format!("a bitmap cannot be read: {why}")))
}

fn results(output: Output, sets: impl Iterator<Item = Option<RoaringBitmap>>) -> Result<ArrayRef> {
    if output == Output::Cardinality {
        return Ok(Arc::new(Int64Array::from_iter(sets.map(|set| set.map(|set| set.len() as i64)))));
    }
    let (mut out, mut bytes) = (LargeBinaryBuilder::new(), Vec::new());
    for set in sets {
        match set {
            None => out.append_null(),
            Some(mut set) => {
                bitmaps::write(&mut set, &mut bytes)?;
                out.append_value(&bytes);
            }
        }
    }
    Ok(Arc::new(out.finish()))
}

/// One bitmap per slot; `None` without a row.
#[derive(Debug)]
struct Plain {
    operation: Operation,
    output: Output,
    sets: Vec<Option<RoaringBitmap>>,
}

impl Plain {
    fn combine(&mut self, slot: usize, other: RoaringBitmap) {
        match (&mut self.sets[slot], self.operation) {
            (empty @ None, _) => *empty = Some(other),
            (Some(set), Operation::And) => *set &= other,
            (Some(set), Operation::Xor) => *set ^= other,
            (Some(set), _) => *set |= other,
        }
    }
}

impl Accumulator for Plain {
    fn resize(&mut self, slots: usize) {
        if slots > self.sets.len() {
            self.sets.resize(slots, None);
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
        let input = Input::new(self.operation, &array);
        let mut failed = Ok(());
        Rows { slots, kinds, selected }.each(nulls(&array), |row, slot, _| match &input {
            Input::Members(values) => {
                self.sets[slot].get_or_insert_default().insert(values.value(row) as u32);
            }
            Input::Sets(_) => match input.set(row) {
                Ok(set) => self.combine(slot, set),
                Err(error) => failed = Err(error),
            },
        });
        failed
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        results(self.output, slots.iter().map(|slot| self.sets[*slot as usize].clone()))
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.sets[*slot as usize] = None;
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![LogicalType::Bitmap.nullable().arrow_field("bitmap")]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(vec![results(Output::Bitmap, slots.iter().map(|slot| self.sets[*slot as usize].clone()))?])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.reset(slots);
        self.merge(slots, state)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let sets = column(state, 0)?.as_binary::<i64>();
        for (row, slot) in slots.iter().enumerate() {
            if sets.is_valid(row) {
                self.combine(*slot as usize, read(sets.value(row))?);
            }
        }
        Ok(())
    }

    fn merging(&self) -> Merging {
        Merging::AnyOrder
    }

    fn heap_bytes(&self) -> usize {
        let inner: usize = self.sets.iter().flatten().map(RoaringBitmap::serialized_size).sum();
        inner + self.sets.capacity() * size_of::<Option<RoaringBitmap>>()
    }
}

/// The rows of a slot, and of each member how many of them have it.
#[derive(Debug, Default)]
struct Counts {
    rows: i64,
    members: BTreeMap<u32, i64>,
}

impl Counts {
    fn change(&mut self, member: u32, by: i64) {
        let count = self.members.entry(member).or_insert(0);
        *count += by;
        if *count == 0 {
            self.members.remove(&member);
        }
    }

    fn set(&self, operation: Operation) -> Option<RoaringBitmap> {
        let is_in = |count: i64| match operation {
            Operation::And => count == self.rows,
            Operation::Xor => count & 1 == 1,
            Operation::Build | Operation::Or => count > 0,
        };
        let members = self.members.iter().filter(|(_, count)| is_in(**count)).map(|(member, _)| *member);
        (self.rows > 0).then(|| RoaringBitmap::from_iter(members))
    }
}

#[derive(Debug)]
struct Counted {
    operation: Operation,
    output: Output,
    slots: Vec<Counts>,
}

impl Counted {
    /// Adds states, or takes them away with a sign of -1.
    fn load(&mut self, slots: &[u32], state: &[ArrayRef], sign: i64) -> Result<()> {
        let rows = column(state, 0)?.as_primitive::<Int64Type>();
        let (members, counts) = (column(state, 1)?.as_list::<i32>(), column(state, 2)?.as_list::<i32>());
        let flat = members.values().as_primitive::<Int64Type>();
        let flat_counts = counts.values().as_primitive::<Int64Type>();
        for (row, slot) in slots.iter().enumerate() {
            let known = &mut self.slots[*slot as usize];
            known.rows += sign * rows.value(row);
            for (member, count) in list_range(members, row).zip(list_range(counts, row)) {
                known.change(flat.value(member) as u32, sign * flat_counts.value(count));
            }
        }
        Ok(())
    }
}

impl Accumulator for Counted {
    fn resize(&mut self, slots: usize) {
        if slots > self.slots.len() {
            self.slots.resize_with(slots, Counts::default);
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
        let input = Input::new(self.operation, &array);
        let mut failed = Ok(());
        Rows { slots, kinds, selected }.each(nulls(&array), |row, slot, sign| match input.set(row) {
            Ok(set) => {
                let counts = &mut self.slots[slot];
                counts.rows += sign;
                set.iter().for_each(|member| counts.change(member, sign));
            }
            Err(error) => failed = Err(error),
        });
        failed
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        results(self.output, slots.iter().map(|slot| self.slots[*slot as usize].set(self.operation)))
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.slots[*slot as usize] = Counts::default();
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        let longs = LogicalType::BigInt.not_null();
        vec![bigint_field("rows"), list_field("members", &longs), list_field("counts", &longs)]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let longs = LogicalType::BigInt.not_null();
        let counts = || slots.iter().map(|slot| &self.slots[*slot as usize]);
        let lengths: Vec<usize> = counts().map(|counts| counts.members.len()).collect();
        let members = counts().flat_map(|counts| counts.members.keys().map(|member| i64::from(*member)));
        let numbers = counts().flat_map(|counts| counts.members.values().copied());
        Ok(vec![
            Arc::new(Int64Array::from_iter_values(counts().map(|counts| counts.rows))),
            list_of(Arc::new(Int64Array::from_iter_values(members)), &longs, &lengths)?,
            list_of(Arc::new(Int64Array::from_iter_values(numbers)), &longs, &lengths)?,
        ])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.reset(slots);
        self.merge(slots, state)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.load(slots, state, 1)
    }

    fn merging(&self) -> Merging {
        Merging::Exact
    }

    fn unmerge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.load(slots, state, -1)
    }

    fn heap_bytes(&self) -> usize {
        let entry = (size_of::<u32>() + size_of::<i64>()) * 3 / 2;
        let inner: usize = self.slots.iter().map(|counts| counts.members.len() * entry).sum();
        inner + self.slots.capacity() * size_of::<Counts>()
    }
}
