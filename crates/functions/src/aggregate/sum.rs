//! SUM, SUM0 and AVG.

use super::numbers::{DecimalNumber, FloatAverage, Floating, Integer, Number, bigint_field, load_longs, save_longs};
use super::rows::{Rows, argument, column, nulls};
use arrow::array::*;
use arrow::datatypes::*;
use base::changelog::RowKind;
use base::function::{Accumulator, Merging};
use base::{Error, LogicalType, Result, SqlType};
use std::sync::Arc;

/// What is made of the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// NULL without values.
    Sum,
    /// 0 without values.
    Sum0,
    /// Sum over count.
    Avg,
}

/// Sum and number of values per slot. The number decides about NULL: a sum of 0 can be one of no values.
#[derive(Debug)]
struct Sum<N: Number> {
    sums: Vec<N::Sum>,
    counts: Vec<i64>,
    output: Output,
    result: SqlType,
    /// Digits that an average has more than its argument.
    digits: u8,
}

pub(super) fn accumulator(argument: &SqlType, output: Output, result: SqlType) -> Result<Box<dyn Accumulator>> {
    fn make<N: Number>(argument: &SqlType, output: Output, result: SqlType) -> Result<Box<dyn Accumulator>> {
        let digits = match (&argument.logical, &result.logical) {
            (LogicalType::Decimal { scale: from, .. }, LogicalType::Decimal { scale: to, .. }) => to - from,
            _ => 0,
        };
        Ok(Box::new(Sum::<N> { sums: Vec::new(), counts: Vec::new(), output, result, digits }))
    }
    match argument.logical {
        LogicalType::TinyInt => make::<Integer<Int8Type>>(argument, output, result),
        LogicalType::SmallInt => make::<Integer<Int16Type>>(argument, output, result),
        LogicalType::Int => make::<Integer<Int32Type>>(argument, output, result),
        LogicalType::BigInt => make::<Integer<Int64Type>>(argument, output, result),
        LogicalType::Float if output == Output::Avg => make::<FloatAverage>(argument, output, result),
        LogicalType::Float => make::<Floating<Float32Type>>(argument, output, result),
        LogicalType::Double => make::<Floating<Float64Type>>(argument, output, result),
        LogicalType::Decimal { .. } => make::<DecimalNumber>(argument, output, result),
        ref other => Err(Error::internal(format!("a sum of {other}"))),
    }
}

fn inexact() -> Error {
    Error::internal("a floating-point sum cannot be taken away again")
}

impl<N: Number> Accumulator for Sum<N> {
    fn resize(&mut self, slots: usize) {
        if slots > self.counts.len() {
            self.sums.resize(slots, N::Sum::default());
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
        let array = argument(arguments, 0, slots.len())?;
        let array = array.as_primitive::<N::In>();
        let values = array.values();
        let (sums, counts) = (&mut self.sums, &mut self.counts);
        if kinds.is_none() && selected.is_none() && array.null_count() == 0 {
            for (slot, value) in slots.iter().zip(values.iter()) {
                N::add(&mut sums[*slot as usize], *value);
                counts[*slot as usize] += 1;
            }
            return Ok(());
        }
        Rows { slots, kinds, selected }.each(nulls(array), |row, slot, sign| {
            if sign > 0 {
                N::add(&mut sums[slot], values[row]);
            } else {
                N::subtract(&mut sums[slot], values[row]);
            }
            counts[slot] += sign;
        });
        Ok(())
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let values: PrimitiveArray<N::Out> = slots
            .iter()
            .map(|slot| {
                let (sum, count) = (self.sums[*slot as usize], self.counts[*slot as usize]);
                match self.output {
                    Output::Sum0 => N::total(sum),
                    _ if count == 0 => None,
                    Output::Sum => N::total(sum),
                    Output::Avg => N::average(sum, count, self.digits),
                }
            })
            .collect();
        Ok(Arc::new(values.with_data_type(self.result.arrow())))
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.sums[*slot as usize] = N::Sum::default();
            self.counts[*slot as usize] = 0;
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![N::field("sum"), bigint_field("count")]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let sums = N::save(slots.iter().map(|slot| self.sums[*slot as usize]));
        Ok(vec![sums, save_longs(&self.counts, slots)])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let sums = column(state, 0)?;
        for (row, slot) in slots.iter().enumerate() {
            self.sums[*slot as usize] = N::load(sums, row);
        }
        load_longs(slots, column(state, 1)?, |slot, count| self.counts[slot] = count)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let sums = column(state, 0)?;
        for (row, slot) in slots.iter().enumerate() {
            N::combine(&mut self.sums[*slot as usize], N::load(sums, row));
        }
        load_longs(slots, column(state, 1)?, |slot, count| self.counts[slot] += count)
    }

    fn merge_slots(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        for (into, from) in into.iter().zip(from) {
            let (into, from) = (*into as usize, *from as usize);
            let sum = self.sums[from];
            N::combine(&mut self.sums[into], sum);
            self.counts[into] += self.counts[from];
        }
        Ok(())
    }

    fn unmerge_slots(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        if N::MERGING != Merging::Exact {
            return Err(inexact());
        }
        for (into, from) in into.iter().zip(from) {
            let (into, from) = (*into as usize, *from as usize);
            let sum = self.sums[from];
            N::take_away(&mut self.sums[into], sum);
            self.counts[into] -= self.counts[from];
        }
        Ok(())
    }

    fn merging(&self) -> Merging {
        N::MERGING
    }

    fn unmerge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        if N::MERGING != Merging::Exact {
            return Err(inexact());
        }
        let sums = column(state, 0)?;
        for (row, slot) in slots.iter().enumerate() {
            N::take_away(&mut self.sums[*slot as usize], N::load(sums, row));
        }
        load_longs(slots, column(state, 1)?, |slot, count| self.counts[slot] -= count)
    }

    fn heap_bytes(&self) -> usize {
        self.sums.capacity() * size_of::<N::Sum>() + self.counts.capacity() * size_of::<i64>()
    }
}
