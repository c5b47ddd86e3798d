//! PERCENTILE: exact percentiles, interpolated between neighbours, of values that each count once or `frequency` times.

use super::kind::{Ordered, list_field, list_of, list_range};
use super::numbers::doubles;
use super::rows::{Rows, argument, column};
use crate::codes;
use arrow::array::*;
use arrow::datatypes::{FieldRef, Float64Type, Int64Type};
use base::changelog::RowKind;
use base::function::{Accumulator, FunctionContext, Merging};
use base::{Error, LogicalType, Result, SqlType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A double in its total order.
type Key = <f64 as Ordered>::Key;

#[derive(Debug)]
struct Percentile {
    types: Vec<SqlType>,
    /// The wanted percentiles, constants of the call; empty until the first row.
    percentages: Vec<f64>,
    /// How often each value is there. A count below zero is a retraction that came before its row.
    counts: Vec<BTreeMap<Key, i64>>,
}

pub(super) fn accumulator(arguments: &[SqlType]) -> Box<dyn Accumulator> {
    Box::new(Percentile { types: arguments.to_vec(), percentages: Vec::new(), counts: Vec::new() })
}

fn bad(value: impl std::fmt::Display, why: &str) -> Error {
    Error::new(&codes::BAD_VALUE, &[("function", &"PERCENTILE"), ("value", &value), ("why", &why)])
}

/// Whether the percentage is an array, and so the result.
fn is_array(types: &[SqlType]) -> bool {
    matches!(types.get(1).map(|sql_type| &sql_type.logical), Some(LogicalType::Array(_)))
}

/// The constant percentages of a call.
fn percentages(array: &ArrayRef, sql_type: &SqlType) -> Result<Vec<f64>> {
    if array.is_empty() || array.is_null(0) {
        return Err(bad("NULL", "the percentage is a constant between 0 and 1"));
    }
    let (values, logical) = match &sql_type.logical {
        LogicalType::Array(element) => (array.as_list::<i32>().value(0), &element.logical),
        other => (array.slice(0, 1), other),
    };
    let values = doubles(&values, logical)?;
    let fits = |value: Option<f64>| value.filter(|value| (0.0..=1.0).contains(value));
    values
        .iter()
        .map(|value| {
            let text = value.map_or("NULL".to_string(), |value| value.to_string());
            fits(value).ok_or_else(|| bad(text, "a percentage is between 0 and 1"))
        })
        .collect()
}

/// The value at a share of the ordered values, between two of them if it falls there.
fn at_share(counts: &BTreeMap<Key, i64>, share: f64) -> Option<f64> {
    let total: i64 = counts.values().filter(|count| **count > 0).sum();
    if total <= 0 {
        return None;
    }
    let position = (total - 1) as f64 * share;
    let (lower, upper) = (position.floor() as i64, position.ceil() as i64);
    let (mut seen, mut below) = (0, None);
    for (key, count) in counts.iter().filter(|(_, count)| **count > 0) {
        seen += count;
        if below.is_none() && seen > lower {
            below = Some(f64::native(*key));
        }
        if seen > upper {
            let (below, above) = (below?, f64::native(*key));
            return Some(if lower == upper || below == above {
                above
            } else {
                (upper as f64 - position) * below + (position - lower as f64) * above
            });
        }
    }
    None
}

impl Percentile {
    fn change(&mut self, slot: usize, value: f64, by: i64) {
        let counts = &mut self.counts[slot];
        let count = counts.entry(value.key()).or_insert(0);
        *count += by;
        if *count == 0 {
            counts.remove(&value.key());
        }
    }

    /// Adds states, or takes them away with a sign of -1.
    fn load(&mut self, slots: &[u32], state: &[ArrayRef], sign: i64) -> Result<()> {
        let lists = [column(state, 0)?, column(state, 1)?, column(state, 2)?].map(|array| array.as_list::<i32>());
        let [values, counts, shares] = lists;
        if !slots.is_empty() {
            let known = shares.values().as_primitive::<Float64Type>();
            self.percentages = list_range(shares, 0).map(|at| known.value(at)).collect();
        }
        let (flat, times) =
            (values.values().as_primitive::<Float64Type>(), counts.values().as_primitive::<Int64Type>());
        for (row, slot) in slots.iter().enumerate() {
            for (value, count) in list_range(values, row).zip(list_range(counts, row)) {
                self.change(*slot as usize, flat.value(value), sign * times.value(count));
            }
        }
        Ok(())
    }
}

impl Accumulator for Percentile {
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
        let rows = slots.len();
        if rows == 0 {
            return Ok(());
        }
        self.percentages = percentages(&argument(arguments, 1, rows)?, &self.types[1])?;
        let values = doubles(&argument(arguments, 0, rows)?, &self.types[0].logical)?;
        let frequencies = match self.types.get(2) {
            None => None,
            Some(sql_type) => {
                let context = FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false };
                let longs = LogicalType::BigInt.nullable();
                let array = crate::cast(&argument(arguments, 2, rows)?, sql_type, &longs, false, &context)?;
                Some(array.as_primitive::<Int64Type>().clone())
            }
        };
        let mut failed = Ok(());
        Rows { slots, kinds, selected }.each(super::rows::nulls(&values), |row, slot, sign| {
            let frequency = match &frequencies {
                None => 1,
                Some(frequencies) if frequencies.is_null(row) => 0,
                Some(frequencies) => frequencies.value(row),
            };
            if frequency < 0 {
                failed = Err(bad(frequency, "a frequency is not negative"));
            } else if frequency > 0 {
                self.change(slot, values.value(row), sign * frequency);
            }
        });
        failed
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        if !is_array(&self.types) {
            let share = self.percentages.first().copied().unwrap_or(0.0);
            let values = slots.iter().map(|slot| at_share(&self.counts[*slot as usize], share));
            return Ok(Arc::new(Float64Array::from_iter(values)));
        }
        let present = |slot: &u32| self.counts[*slot as usize].values().any(|count| *count > 0);
        let values = slots
            .iter()
            .flat_map(|slot| self.percentages.iter().map(|share| at_share(&self.counts[*slot as usize], *share)));
        let flat = Arc::new(Float64Array::from_iter(values));
        let lists = list_of(flat, &LogicalType::Double.nullable(), &vec![self.percentages.len(); slots.len()])?;
        let empty = BooleanArray::from_iter(slots.iter().map(|slot| Some(!present(slot))));
        Ok(arrow::compute::nullif(&lists, &empty)?)
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.counts[*slot as usize] = BTreeMap::new();
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![
            list_field("values", &LogicalType::Double.not_null()),
            list_field("counts", &LogicalType::BigInt.not_null()),
            list_field("percentages", &LogicalType::Double.not_null()),
        ]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let maps = || slots.iter().map(|slot| &self.counts[*slot as usize]);
        let lengths: Vec<usize> = maps().map(BTreeMap::len).collect();
        let values = Float64Array::from_iter_values(maps().flat_map(|map| map.keys().map(|key| f64::native(*key))));
        let counts = Int64Array::from_iter_values(maps().flat_map(|map| map.values().copied()));
        let shares = slots.iter().flat_map(|_| self.percentages.iter().copied());
        Ok(vec![
            list_of(Arc::new(values), &LogicalType::Double.not_null(), &lengths)?,
            list_of(Arc::new(counts), &LogicalType::BigInt.not_null(), &lengths)?,
            list_of(
                Arc::new(Float64Array::from_iter_values(shares)),
                &LogicalType::Double.not_null(),
                &vec![self.percentages.len(); slots.len()],
            )?,
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
        let entry = (size_of::<Key>() + size_of::<i64>()) * 3 / 2;
        let inner: usize = self.counts.iter().map(|map| map.len() * entry).sum();
        inner + self.counts.capacity() * size_of::<BTreeMap<Key, i64>>()
    }
}
