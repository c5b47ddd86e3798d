//! GROUP BY a session window: one final result per session.

use super::aggregates::{Aggregates, SlotRows};
use super::output::record_batch;
use super::sessions::{Contents, Placed, SessionWindows};
use super::window_table::{WindowColumns, timestamps};
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, AsArray, Int64Array, UInt32Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, SchemaRef};
use base::connector::Instance;
use base::plan::{Output, WindowAggregate, WindowProperty};
use base::{ChangelogBatch, Result, RowKind};
use state::{OperatorSnapshot, Scope};
use std::sync::Arc;

/// Aggregates by session and key.
///
/// * input: any kinds. A retraction is a row of its session like an addition: it never makes a session shorter
/// * output: `+I` only, when the watermark (or the clock) reaches the last millisecond of a session, in the order of ends, then
///   of the sessions' first rows; a session whose rows were all retracted gives nothing
/// * state: per session its span, the accumulators and, if the input can retract, the number of rows; the watermark
/// * dropped: when the session has fired
/// * late rows: a row that touches no open session and whose own span is over is dropped and counted
/// * NULL in the time column fails the job, or the row is dropped and counted
#[derive(Debug)]
pub struct SessionAggregateOperator {
    windows: SessionWindows,
    groups: Groups,
    properties: Vec<WindowProperty>,
    columns_are_instants: bool,
    schema: SchemaRef,
}

/// The accumulators of sessions.
#[derive(Debug)]
struct Groups {
    aggregates: Aggregates,
    /// Rows per slot; only if the input can retract.
    counts: Option<Vec<i64>>,
}

impl Groups {
    fn state_fields(&self) -> Vec<FieldRef> {
        let counts = self.counts.as_ref().map(|_| count_field());
        counts.into_iter().chain(self.aggregates.state_fields()).collect()
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<(FieldRef, ArrayRef)>> {
        let mut columns = Vec::new();
        if let Some(counts) = &self.counts {
            let counts: Int64Array = slots.iter().map(|&slot| Some(counts[slot as usize])).collect();
            columns.push((count_field(), Arc::new(counts) as ArrayRef));
        }
        columns.extend(self.aggregates.state(slots)?);
        Ok(columns)
    }

    fn restore(&mut self, slots: &[u32], mut columns: &[ArrayRef]) -> Result<()> {
        if let Some(counts) = &mut self.counts {
            let saved = columns[0].as_primitive::<Int64Type>();
            slots.iter().zip(saved.values()).for_each(|(&slot, count)| counts[slot as usize] = *count);
            columns = &columns[1..];
        }
        self.aggregates.restore(slots, columns)
    }

    fn reset(&mut self, slots: &[u32]) {
        self.aggregates.reset(slots);
        if let Some(counts) = &mut self.counts {
            slots.iter().for_each(|&slot| counts[slot as usize] = 0);
        }
    }

    fn has_rows(&self, slot: u32) -> bool {
        self.counts.as_ref().is_none_or(|counts| counts[slot as usize] > 0)
    }

    fn heap_bytes(&self) -> usize {
        let counts = self.counts.as_ref().map_or(0, |counts| counts.capacity() * size_of::<i64>());
        self.aggregates.heap_bytes() + counts
    }
}

impl Contents for Groups {
    fn resize(&mut self, slots: usize) {
        self.aggregates.resize(slots);
        if let Some(counts) = &mut self.counts {
            counts.resize(slots, 0);
        }
    }

    fn add(&mut self, batch: &ChangelogBatch, placed: Placed<'_>) -> Result<()> {
        let Placed { rows, sessions: slots, .. } = placed;
        let is_whole = rows.len() == batch.num_rows();
        let kinds: Option<Vec<RowKind>> =
            batch.kinds().map(|kinds| rows.iter().map(|&row| kinds[row as usize]).collect());
        if let Some(counts) = &mut self.counts {
            for (row, &slot) in slots.iter().enumerate() {
                counts[slot as usize] += kinds.as_ref().map_or(1, |kinds| kinds[row].sign());
            }
        }
        let rows = (!is_whole).then(|| UInt32Array::from(rows.to_vec()));
        self.aggregates.update(batch.records(), SlotRows { slots, kinds: kinds.as_deref(), rows: rows.as_ref() })
    }

    fn merge(&mut self, into: u32, from: u32) -> Result<()> {
        let state: Vec<ArrayRef> = self.aggregates.state(&[from])?.into_iter().map(|(_, column)| column).collect();
        self.aggregates.merge(&[into], &state)?;
        if let Some(counts) = &mut self.counts {
            counts[into as usize] += counts[from as usize];
        }
        self.reset(&[from]);
        Ok(())
    }
}

impl SessionAggregateOperator {
    /// The operator of one instance.
    pub fn new(
        node: &WindowAggregate,
        input: &Output,
        output: &Output,
        instance: Instance,
        drops_null: bool,
    ) -> Result<Self> {
        Ok(SessionAggregateOperator {
            windows: SessionWindows::new(&node.window, &node.keys, input, instance, drops_null)?,
            groups: Groups {
                aggregates: Aggregates::new(&node.calls, &input.row)?,
                counts: (!input.changelog.is_append_only()).then(Vec::new),
            },
            properties: node.properties.clone(),
            columns_are_instants: node.window.time_zone.is_some(),
            schema: output.row.arrow().clone(),
        })
    }

    /// The results of these sessions; their state is dropped.
    fn fire(&mut self, slots: &[u32]) -> Result<ChangelogBatch> {
        let results: Vec<u32> = slots.iter().copied().filter(|&slot| self.groups.has_rows(slot)).collect();
        let mut columns = self.windows.key_columns(&results)?;
        columns.extend(self.groups.aggregates.values(&results)?);
        let (starts, ends) = self.windows.spans(&results);
        let windows = WindowColumns { assigner: self.windows.assigner(), is_instant: self.columns_are_instants };
        columns.extend(self.properties.iter().map(|property| match property {
            WindowProperty::Start => timestamps(&starts),
            WindowProperty::End => timestamps(&ends),
            WindowProperty::Time => windows.time(&ends),
        }));
        let records = record_batch(&self.schema, columns, results.len())?;
        self.groups.reset(slots);
        self.windows.remove(slots)?;
        Ok(ChangelogBatch::inserts(records))
    }
}

impl Operator for SessionAggregateOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let fields = self.groups.state_fields();
        for table in self.windows.restored(restored) {
            let (slots, columns) = self.windows.restore(table, &fields)?;
            self.groups.resize(self.windows.slots_len());
            self.groups.restore(&slots, &columns)?;
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        self.windows.add(batch, context, &mut self.groups)
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        self.windows.on_watermark(watermark_ms);
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        self.windows.on_processing_time(context);
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        loop {
            let slots = self.windows.next_over(context.rows_max.max(1));
            if slots.is_empty() {
                return Ok(None);
            }
            let batch = self.fire(&slots)?;
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
    }

    fn keep_late(&mut self) -> bool {
        self.windows.keep_late();
        true
    }

    fn take_late(&mut self) -> Vec<ChangelogBatch> {
        self.windows.take_late()
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let groups = &self.groups;
        self.windows.snapshot(scope, |slots| groups.state(slots))
    }

    fn wakes(&self) -> Wakes {
        self.windows.wakes()
    }

    fn statistics(&self) -> OperatorStatistics {
        self.windows.statistics(self.groups.heap_bytes())
    }
}

fn count_field() -> FieldRef {
    Arc::new(Field::new("rows", DataType::Int64, false))
}
