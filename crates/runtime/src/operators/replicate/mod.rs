//! Rows as often as a column says.

use super::output::record_batch;
use crate::operator::{Operator, OperatorContext};
use arrow::array::{Array, AsArray, UInt32Array};
use arrow::datatypes::{Int64Type, SchemaRef};
use base::plan::{Output, Replicate};
use base::{ChangelogBatch, Result};
use std::collections::VecDeque;

/// Gives every row as often as a column says, without that column. NULL and numbers below 1 give none.
///
/// * input: any kinds
/// * output: the same kinds; all copies of a row, then the next row
/// * state: none
/// * late rows: pass
#[derive(Debug)]
pub struct ReplicateOperator {
    count: usize,
    schema: SchemaRef,
    pending: VecDeque<ChangelogBatch>,
    /// Copies that the first row of [`Self::pending`] has already been given.
    given: u64,
}

impl ReplicateOperator {
    /// The operator.
    pub fn new(node: &Replicate, output: &Output) -> ReplicateOperator {
        let schema = output.row.arrow().clone();
        ReplicateOperator { count: node.count, schema, pending: VecDeque::new(), given: 0 }
    }

    /// Up to `rows_max` rows of the first batch.
    fn copies(&mut self, batch: ChangelogBatch, rows_max: usize) -> Result<ChangelogBatch> {
        let counts = batch.records().column(self.count).as_primitive::<Int64Type>();
        let mut places: Vec<u32> = Vec::new();
        let mut row = 0;
        while row < batch.num_rows() && places.len() < rows_max {
            let copies = if counts.is_valid(row) { counts.value(row).max(0) as u64 } else { 0 };
            let left = copies.saturating_sub(self.given);
            let now = left.min((rows_max - places.len()) as u64);
            places.extend(std::iter::repeat_n(row as u32, now as usize));
            if now < left {
                self.given += now;
                break;
            }
            self.given = 0;
            row += 1;
        }
        let taken = batch.take(&UInt32Array::from(places))?;
        if row < batch.num_rows() {
            self.pending.push_front(batch.slice(row, batch.num_rows() - row));
        }
        let mut columns = taken.records().columns().to_vec();
        columns.remove(self.count);
        Ok(taken.with_records(record_batch(&self.schema, columns, taken.num_rows())?))
    }
}

impl Operator for ReplicateOperator {
    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, _context: &OperatorContext) -> Result<()> {
        if !batch.is_empty() {
            self.pending.push_back(batch);
        }
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        while let Some(batch) = self.pending.pop_front() {
            let output = self.copies(batch, context.rows_max.max(1))?;
            if !output.is_empty() {
                return Ok(Some(output));
            }
        }
        Ok(None)
    }
}
