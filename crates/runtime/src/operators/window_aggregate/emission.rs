//! Windows that fire before and after their end: which of them give a result now, and what has changed in it.

use super::super::output::{Changes, record_batch};
use super::super::touched::Touched;
use crate::operator::Wakes;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::{DataType, Field, FieldRef, SchemaRef};
use base::plan::{Output, WindowEmit};
use base::{ChangelogBatch, Result, RowKind};
use state::{RowStore, Timers};
use std::sync::Arc;
use std::time::Duration;

/// No look at a slot is due.
const NOT_DUE: i64 = i64::MAX;
/// A look is due as soon as the clock is known.
const DUE_AT_ONCE: i64 = i64::MIN;

/// What windows have given, and when they are looked at again.
#[derive(Debug)]
pub(super) struct Emission {
    early: Option<i64>,
    late: i64,
    /// How long after their end windows take rows.
    pub lateness_ms: i64,
    with_before: bool,
    schema: SchemaRef,

    /// By slot: the results that readers have.
    given: RowStore,
    /// Windows that have fired and still take late rows, by their end.
    pub closing: Timers,
    /// By slot: when the clock makes it give its result; [`NOT_DUE`] mostly.
    due: Vec<i64>,
    /// The same by time; an entry whose slot says otherwise is void.
    clock: Timers,
    touched: Touched,
    /// Slots that give their result now.
    ready: Vec<u32>,
}

impl Emission {
    /// Nothing given yet. `keys` and `calls` are the numbers of those columns of the output.
    pub fn new(emit: &WindowEmit, output: &Output, keys: usize, calls: usize) -> Result<Emission> {
        let milliseconds = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let schema = output.row.arrow();
        Ok(Emission {
            early: emit.early.map(milliseconds),
            late: emit.late.map_or(0, milliseconds),
            lateness_ms: milliseconds(emit.lateness),
            with_before: output.changelog.contains(RowKind::UpdateBefore),
            given: RowStore::new(schema.fields()[keys..keys + calls].to_vec())?,
            schema: schema.clone(),
            closing: Timers::default(),
            due: Vec::new(),
            clock: Timers::default(),
            touched: Touched::default(),
            ready: Vec::new(),
        })
    }

    /// Makes slots `0..slots` usable.
    pub fn resize(&mut self, slots: usize) {
        self.due.resize(slots, NOT_DUE);
    }

    /// Rows have come to these slots at this time of the clock; `is_over` tells whether the window of a slot has fired.
    pub fn rows(&mut self, slots: &[u32], clock_ms: i64, mut is_over: impl FnMut(u32) -> bool) {
        self.touched.start(self.due.len());
        for (row, &slot) in slots.iter().enumerate() {
            if !self.touched.touch(slot, row).1 {
                continue;
            }
            let delay_ms = match (is_over(slot), self.early) {
                (true, _) => self.late,
                (false, Some(early)) => early,
                (false, None) => continue,
            };
            if delay_ms == 0 {
                self.ready.push(slot);
            } else if self.due[slot as usize] == NOT_DUE {
                let due = clock_ms.saturating_add(delay_ms);
                self.due[slot as usize] = due;
                self.clock.add(due, slot);
            }
        }
    }

    /// The clock has advanced.
    pub fn on_clock(&mut self, clock_ms: i64) {
        while self.clock.first_time().is_some_and(|time| time <= clock_ms) {
            let Some((time, slots)) = self.clock.pop_first() else { return };
            for slot in slots {
                let due = &mut self.due[slot as usize];
                if *due == time {
                    *due = NOT_DUE;
                    self.ready.push(slot);
                }
            }
        }
    }

    /// When the clock makes a slot give its result.
    pub fn wakes(&self) -> Wakes {
        Wakes::at_processing_time(self.clock.first_time())
    }

    /// Takes at most `count` of the slots that give their result now.
    pub fn take_ready(&mut self, count: usize) -> Vec<u32> {
        match self.ready.len() <= count {
            true => std::mem::take(&mut self.ready),
            false => self.ready.drain(..count).collect(),
        }
    }

    /// What has changed since these slots gave their results last. `values` are their columns now.
    pub fn changes(
        &mut self,
        slots: &[u32],
        has_rows: impl Fn(u32) -> bool,
        values: &[ArrayRef],
        others: impl FnOnce(&[u32]) -> Result<(Vec<ArrayRef>, Vec<ArrayRef>)>,
    ) -> Result<ChangelogBatch> {
        let encoded = self.given.encode(values)?;
        let mut changes = Changes::default();
        let mut shown = Vec::new();
        for (position, &slot) in slots.iter().enumerate() {
            match (self.given.contains(slot), has_rows(slot)) {
                (false, false) => {}
                (false, true) => changes.insert(position, position),
                (true, false) => {
                    changes.delete(position, shown.len());
                    shown.push(slot);
                }
                (true, true) if self.given.equals(slot, &encoded, position) => {}
                (true, true) => {
                    if self.with_before {
                        changes.update_before(position, shown.len());
                        shown.push(slot);
                    }
                    changes.update_after(position, position);
                }
            }
        }
        let changed: Vec<u32> = changes.positions().iter().map(|&position| slots[position as usize]).collect();
        let (mut columns, windows) = others(&changed)?;
        let before = self.given.columns(&shown)?;
        for (before, after) in before.iter().zip(values) {
            columns.push(changes.column(before, after)?);
        }
        columns.extend(windows);
        let records = record_batch(&self.schema, columns, changes.len())?;
        for (position, &slot) in slots.iter().enumerate() {
            match has_rows(slot) {
                true => self.given.set(slot, &encoded, position),
                false => self.given.clear(slot),
            }
        }
        Ok(ChangelogBatch::new(records, changes.into_kinds()))
    }

    /// These slots are free.
    pub fn reset(&mut self, slots: &[u32]) {
        for &slot in slots {
            self.given.clear(slot);
            self.due[slot as usize] = NOT_DUE;
        }
    }

    /// The columns of [`Emission::state`].
    pub fn state_fields(&self) -> Vec<FieldRef> {
        let given = self.given.fields().iter().enumerate();
        let given = given.map(|(index, field)| {
            let name = format!("given.{index}.{}", field.name());
            Arc::new(field.as_ref().clone().with_name(name).with_nullable(true))
        });
        std::iter::once(Arc::new(Field::new("given", DataType::Boolean, false))).chain(given).collect()
    }

    /// What readers have of these slots.
    pub fn state(&self, slots: &[u32]) -> Result<Vec<(FieldRef, ArrayRef)>> {
        let has: BooleanArray = slots.iter().map(|&slot| Some(self.given.contains(slot))).collect();
        let held: Vec<u32> = slots.iter().copied().filter(|&slot| self.given.contains(slot)).collect();
        let mut next = 0;
        let places: arrow::array::UInt32Array = has
            .values()
            .iter()
            .map(|has| {
                next += u32::from(has);
                has.then(|| next - 1)
            })
            .collect();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(has)];
        for column in self.given.columns(&held)? {
            columns.push(arrow::compute::take(column.as_ref(), &places, None)?);
        }
        Ok(self.state_fields().into_iter().zip(columns).collect())
    }

    /// Takes over what readers have. What was due by the clock is looked at as soon as there is one.
    pub fn restore(&mut self, slots: &[u32], columns: &[ArrayRef]) -> Result<()> {
        let has = columns[0].as_boolean();
        let encoded = self.given.encode(&columns[1..])?;
        for (row, &slot) in slots.iter().enumerate() {
            if has.is_valid(row) && has.value(row) {
                self.given.set(slot, &encoded, row);
            }
            if self.late > 0 || self.early.is_some_and(|early| early > 0) {
                self.due[slot as usize] = DUE_AT_ONCE;
                self.clock.add(DUE_AT_ONCE, slot);
            }
        }
        Ok(())
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        self.given.heap_bytes()
            + self.closing.heap_bytes()
            + self.clock.heap_bytes()
            + self.touched.heap_bytes()
            + self.due.capacity() * size_of::<i64>()
    }
}
