//! Grouping sets: every row once per set.

use super::output::record_batch;
use crate::operator::{Operator, OperatorContext};
use arrow::array::{ArrayRef, Int64Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use base::plan::{Expand, Output};
use base::{ChangelogBatch, Result, RowKind};
use std::collections::VecDeque;
use std::sync::Arc;

/// Gives every row once per grouping set, with NULL in the columns that the set leaves out.
///
/// * input: any kinds
/// * output: the same kinds; all sets of a row, then the next row
/// * state: none
/// * late rows: pass
#[derive(Debug)]
pub struct ExpandOperator {
    /// By column of the input: for every set, whether it keeps the column; `None` if all do.
    kept: Vec<Option<Vec<bool>>>,
    /// The number of every set.
    ids: Vec<i64>,
    schema: SchemaRef,
    pending: VecDeque<ChangelogBatch>,
}

impl ExpandOperator {
    /// The operator.
    pub fn new(node: &Expand, input: &Output, output: &Output) -> ExpandOperator {
        let kept = |column: usize| {
            let keeps: Vec<bool> =
                node.sets.iter().map(|(kept, _)| !node.columns.contains(&column) || kept.contains(&column)).collect();
            (!keeps.iter().all(|keep| *keep)).then_some(keeps)
        };
        ExpandOperator {
            kept: (0..input.row.len()).map(kept).collect(),
            ids: node.sets.iter().map(|(_, id)| *id).collect(),
            schema: output.row.arrow().clone(),
            pending: VecDeque::new(),
        }
    }

    fn expand(&self, batch: &ChangelogBatch) -> Result<ChangelogBatch> {
        let (rows, sets) = (batch.num_rows(), self.ids.len());
        let all: UInt32Array = (0..rows as u32).flat_map(|row| std::iter::repeat_n(row, sets)).collect();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.kept.len() + 1);
        for (column, kept) in batch.records().columns().iter().zip(&self.kept) {
            columns.push(match kept {
                None => take(column.as_ref(), &all, None)?,
                Some(keeps) => {
                    let places = |row: u32| keeps.iter().map(move |keep| keep.then_some(row));
                    let places: UInt32Array = (0..rows as u32).flat_map(places).collect();
                    take(column.as_ref(), &places, None)?
                }
            });
        }
        let ids = (0..rows).flat_map(|_| self.ids.iter().copied());
        columns.push(Arc::new(Int64Array::from_iter_values(ids)));
        let records = record_batch(&self.schema, columns, rows * sets)?;
        Ok(match batch.kinds() {
            None => ChangelogBatch::inserts(records),
            Some(kinds) => {
                let kinds: Vec<RowKind> = kinds.iter().flat_map(|kind| std::iter::repeat_n(*kind, sets)).collect();
                ChangelogBatch::new(records, kinds)
            }
        })
    }
}

impl Operator for ExpandOperator {
    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, _context: &OperatorContext) -> Result<()> {
        if !batch.is_empty() {
            self.pending.push_back(batch);
        }
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let Some(batch) = self.pending.pop_front() else { return Ok(None) };
        let rows_max = (context.rows_max / self.ids.len().max(1)).max(1);
        if batch.num_rows() <= rows_max {
            return self.expand(&batch).map(Some);
        }
        self.pending.push_front(batch.slice(rows_max, batch.num_rows() - rows_max));
        self.expand(&batch.slice(0, rows_max)).map(Some)
    }
}
