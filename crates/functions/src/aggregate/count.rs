//! COUNT(*) and COUNT(x).

use super::numbers::{bigint_field, load_longs, save_longs};
use super::rows::{Rows, argument, column};
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::FieldRef;
use base::Result;
use base::changelog::RowKind;
use base::function::{Accumulator, Merging};

/// Rows per slot, or rows in which every argument has a value.
#[derive(Debug, Default)]
pub(super) struct Count {
    counts: Vec<i64>,
}

impl Accumulator for Count {
    fn resize(&mut self, slots: usize) {
        if slots > self.counts.len() {
            self.counts.resize(slots, 0);
        }
    }

    fn update(
        &mut self,
        slots: &[u32],
        kinds: Option<&[RowKind]>,
        arguments: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        let mut valid: Option<NullBuffer> = None;
        for index in 0..arguments.len() {
            let array = argument(arguments, index, slots.len())?;
            valid = NullBuffer::union(valid.as_ref(), array.logical_nulls().as_ref());
        }
        let rows = Rows { slots, kinds, selected };
        let counts = &mut self.counts;
        rows.each(valid.as_ref(), |_, slot, sign| counts[slot] += sign);
        Ok(())
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        Ok(save_longs(&self.counts, slots))
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.counts[*slot as usize] = 0;
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![bigint_field("count")]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(vec![save_longs(&self.counts, slots)])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        load_longs(slots, column(state, 0)?, |slot, count| self.counts[slot] = count)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        load_longs(slots, column(state, 0)?, |slot, count| self.counts[slot] += count)
    }

    fn merge_slots(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        for (into, from) in into.iter().zip(from) {
            self.counts[*into as usize] += self.counts[*from as usize];
        }
        Ok(())
    }

    fn unmerge_slots(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        for (into, from) in into.iter().zip(from) {
            self.counts[*into as usize] -= self.counts[*from as usize];
        }
        Ok(())
    }

    fn merging(&self) -> Merging {
        Merging::Exact
    }

    fn unmerge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        load_longs(slots, column(state, 0)?, |slot, count| self.counts[slot] -= count)
    }

    fn heap_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }
}
