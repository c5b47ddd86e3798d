//! Window table functions: TUMBLE, HOP and CUMULATE append the window of a row.

use super::output::record_batch;
use super::session_table::SessionTableOperator;
use super::window::{Assigned, WindowAssigner};
use super::window_time::WindowTime;
use crate::operator::{Operator, OperatorContext, OperatorStatistics};
use arrow::array::{ArrayRef, TimestampMillisecondArray, UInt32Array};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::SchemaRef;
use base::connector::Instance;
use base::plan::{Output, WindowKind, WindowTable};
use base::types::INSTANT_ZONE;
use base::{ChangelogBatch, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// The operator of one instance.
///
/// # Errors
/// Keys of a type that cannot be a key.
pub fn create(
    node: &WindowTable,
    input: &Output,
    output: &Output,
    instance: Instance,
    drops_null: bool,
) -> Result<Box<dyn Operator>> {
    Ok(match node.window.kind {
        WindowKind::Session { .. } => Box::new(SessionTableOperator::new(node, input, output, instance, drops_null)?),
        _ => Box::new(WindowTableOperator::new(node, input, output, drops_null)?),
    })
}

/// Appends window_start, window_end and window_time.
///
/// * input: any kinds
/// * output: the same kinds; a row in several windows is given once per window
/// * state: none
/// * late rows: pass; only an aggregate drops them
/// * NULL in the time column fails the job, or the row is dropped and counted
#[derive(Debug)]
pub struct WindowTableOperator {
    assigner: WindowAssigner,
    time: WindowTime,
    is_instant: bool,
    schema: SchemaRef,
    /// Input that waits to be expanded, with its times.
    pending: VecDeque<(ChangelogBatch, ScalarBuffer<i64>)>,
    assigned: Assigned,
}

impl WindowTableOperator {
    /// The operator.
    pub fn new(node: &WindowTable, input: &Output, output: &Output, drops_null: bool) -> Result<Self> {
        Ok(WindowTableOperator {
            assigner: WindowAssigner::new(&node.window)?,
            time: WindowTime::new(&node.window, input.row.arrow(), drops_null),
            is_instant: node.window.time_zone.is_some(),
            schema: output.row.arrow().clone(),
            pending: VecDeque::new(),
            assigned: Assigned::default(),
        })
    }

    fn expand(&mut self, batch: &ChangelogBatch, times: &[i64]) -> Result<ChangelogBatch> {
        self.assigner.assign(times, &mut self.assigned);
        let batch = match self.assigner.is_tumble() {
            true => batch.clone(),
            false => batch.take(&UInt32Array::from(self.assigned.rows.clone()))?,
        };
        let ends = &self.assigned.ends;
        let mut columns = batch.records().columns().to_vec();
        columns.extend(WindowColumns { assigner: &self.assigner, is_instant: self.is_instant }.all(ends));
        Ok(batch.with_records(record_batch(&self.schema, columns, ends.len())?))
    }
}

impl Operator for WindowTableOperator {
    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        let (batch, times) = self.time.rows(batch, context)?;
        if !batch.is_empty() {
            self.pending.push_back((batch, times));
        }
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let rows_max = (context.rows_max / self.assigner.windows_per_row()).max(1);
        while let Some((batch, times)) = self.pending.pop_front() {
            let rows = batch.num_rows();
            let output = if rows <= rows_max {
                self.expand(&batch, &times)?
            } else {
                self.pending
                    .push_front((batch.slice(rows_max, rows - rows_max), times.slice(rows_max, rows - rows_max)));
                self.expand(&batch.slice(0, rows_max), &times.slice(0, rows_max))?
            };
            if !output.is_empty() {
                return Ok(Some(output));
            }
        }
        Ok(None)
    }

    fn statistics(&self) -> OperatorStatistics {
        OperatorStatistics { dropped_rows: self.time.dropped(), ..Default::default() }
    }
}

/// Window starts or ends as a column.
pub(super) fn timestamps(times: &[i64]) -> ArrayRef {
    Arc::new(TimestampMillisecondArray::from(times.to_vec()))
}

/// Makes window columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowColumns<'a> {
    pub(super) assigner: &'a WindowAssigner,
    /// Whether the time column is TIMESTAMP_LTZ.
    pub(super) is_instant: bool,
}

impl WindowColumns<'_> {
    fn all(self, ends: &[i64]) -> [ArrayRef; 3] {
        [self.start(ends), self.end(ends), self.time(ends)]
    }

    /// window_start.
    pub(super) fn start(self, ends: &[i64]) -> ArrayRef {
        Arc::new(TimestampMillisecondArray::from_iter_values(ends.iter().map(|&end| self.assigner.start(end))))
    }

    /// window_end.
    pub(super) fn end(self, ends: &[i64]) -> ArrayRef {
        timestamps(ends)
    }

    /// window_time.
    pub(super) fn time(self, ends: &[i64]) -> ArrayRef {
        let array = TimestampMillisecondArray::from_iter_values(ends.iter().map(|&end| self.assigner.time(end)));
        match self.is_instant {
            true => Arc::new(array.with_timezone(INSTANT_ZONE)),
            false => Arc::new(array),
        }
    }
}
