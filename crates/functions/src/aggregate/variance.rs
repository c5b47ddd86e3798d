//! STDDEV_POP, STDDEV_SAMP, VAR_POP and VAR_SAMP by Welford's method, in double precision for every argument type.
//!
//! States can be merged as long as each of them only retracts rows that it has seen itself.

use super::numbers::{bigint_field, doubles, save_longs};
use super::rows::{Rows, argument, column, nulls};
use crate::decimal;
use arrow::array::*;
use arrow::datatypes::*;
use base::changelog::RowKind;
use base::function::{Accumulator, Merging};
use base::{Error, LogicalType, Result, SqlType};
use std::sync::Arc;

/// Which of the four measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measure {
    root: bool,
    sample: bool,
}

impl Measure {
    pub const STDDEV_POP: Measure = Measure { root: true, sample: false };
    pub const STDDEV_SAMP: Measure = Measure { root: true, sample: true };
    pub const VAR_POP: Measure = Measure { root: false, sample: false };
    pub const VAR_SAMP: Measure = Measure { root: false, sample: true };
}

/// Number, mean and squared distances from the mean, per slot.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: i64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        if self.count == 0 {
            // The row of a retraction that came first.
            *self = Moments::default();
            return;
        }
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
    }

    fn subtract(&mut self, value: f64) {
        if self.count == 1 {
            *self = Moments::default();
            return;
        }
        let before = self.mean;
        self.count -= 1;
        self.mean = before - (value - before) / self.count as f64;
        self.squares -= (value - before) * (value - self.mean);
    }

    fn combine(&mut self, other: Moments) {
        let count = self.count + other.count;
        if other.count == 0 || count == 0 {
            if count == 0 {
                *self = Moments::default();
            }
            return;
        }
        let distance = other.mean - self.mean;
        let share = other.count as f64 / count as f64;
        self.mean += distance * share;
        self.squares += other.squares + distance * distance * self.count as f64 * share;
        self.count = count;
    }

    fn measure(self, measure: Measure) -> Option<f64> {
        let divisor = if measure.sample { self.count - 1 } else { self.count };
        if self.count <= 0 || divisor <= 0 {
            return None;
        }
        // Retractions can leave a residue below zero.
        let variance = (self.squares / divisor as f64).max(0.0);
        Some(if measure.root { variance.sqrt() } else { variance })
    }
}

#[derive(Debug)]
struct Variance {
    moments: Vec<Moments>,
    measure: Measure,
    argument: SqlType,
    result: SqlType,
}

pub(super) fn accumulator(argument: &SqlType, measure: Measure, result: SqlType) -> Result<Box<dyn Accumulator>> {
    Ok(Box::new(Variance { moments: Vec::new(), measure, argument: argument.clone(), result }))
}

/// Results of integers saturate, as Java's conversions do.
fn convert(values: Float64Array, result: &LogicalType) -> Result<ArrayRef> {
    Ok(match result {
        LogicalType::TinyInt => Arc::new(values.unary::<_, Int8Type>(|value| value as i32 as i8)),
        LogicalType::SmallInt => Arc::new(values.unary::<_, Int16Type>(|value| value as i32 as i16)),
        LogicalType::Int => Arc::new(values.unary::<_, Int32Type>(|value| value as i32)),
        LogicalType::BigInt => Arc::new(values.unary::<_, Int64Type>(|value| value as i64)),
        LogicalType::Float => Arc::new(values.unary::<_, Float32Type>(|value| value as f32)),
        LogicalType::Double => Arc::new(values),
        LogicalType::Decimal { precision, scale } => {
            let array: Decimal128Array = values.unary_opt(|value| decimal::from_double(value, *precision, *scale));
            Arc::new(array.with_data_type(result.arrow()))
        }
        other => return Err(Error::internal(format!("a variance as {other}"))),
    })
}

impl Variance {
    fn read(state: &[ArrayRef], row: usize) -> Result<Moments> {
        let count = column(state, 0)?.as_primitive::<Int64Type>().value(row);
        let mean = column(state, 1)?.as_primitive::<Float64Type>().value(row);
        let squares = column(state, 2)?.as_primitive::<Float64Type>().value(row);
        Ok(Moments { count, mean, squares })
    }
}

impl Accumulator for Variance {
    fn resize(&mut self, slots: usize) {
        if slots > self.moments.len() {
            self.moments.resize(slots, Moments::default());
        }
    }

    fn update(
        &mut self,
        slots: &[u32],
        kinds: Option<&[RowKind]>,
        arguments: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        let array = doubles(&argument(arguments, 0, slots.len())?, &self.argument.logical)?;
        let (values, moments) = (array.values(), &mut self.moments);
        Rows { slots, kinds, selected }.each(nulls(&array), |row, slot, sign| {
            if sign > 0 {
                moments[slot].add(values[row]);
            } else {
                moments[slot].subtract(values[row]);
            }
        });
        Ok(())
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let values = slots.iter().map(|slot| self.moments[*slot as usize].measure(self.measure)).collect();
        convert(values, &self.result.logical)
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.moments[*slot as usize] = Moments::default();
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        let double = |name| LogicalType::Double.not_null().arrow_field(name);
        vec![bigint_field("count"), double("mean"), double("squares")]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let rows = || slots.iter().map(|slot| self.moments[*slot as usize]);
        let counts: Vec<i64> = rows().map(|moments| moments.count).collect();
        let all: Vec<u32> = (0..slots.len() as u32).collect();
        Ok(vec![
            save_longs(&counts, &all),
            Arc::new(Float64Array::from_iter_values(rows().map(|moments| moments.mean))),
            Arc::new(Float64Array::from_iter_values(rows().map(|moments| moments.squares))),
        ])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        for (row, slot) in slots.iter().enumerate() {
            self.moments[*slot as usize] = Self::read(state, row)?;
        }
        Ok(())
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        for (row, slot) in slots.iter().enumerate() {
            self.moments[*slot as usize].combine(Self::read(state, row)?);
        }
        Ok(())
    }

    fn merging(&self) -> Merging {
        Merging::AnyOrder
    }

    fn heap_bytes(&self) -> usize {
        self.moments.capacity() * size_of::<Moments>()
    }
}
