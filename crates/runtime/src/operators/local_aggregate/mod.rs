//! The first phase of GROUP BY: a batch becomes one row of accumulator states per group.

use super::aggregates::{Aggregates, SlotRows};
use super::output::{OutputQueue, record_batch};
use super::touched::Touched;
use crate::operator::{Operator, OperatorContext};
use arrow::array::{ArrayRef, Int64Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{FieldRef, SchemaRef};
use base::plan::{LocalAggregate, Output};
use base::{ChangelogBatch, Result};
use state::{KeyBatch, KeyTable, KeyTableSpec, Slots};
use std::sync::Arc;

/// Folding pays when a batch has at most this part of its rows left.
const FOLDED_MAX: f64 = 0.5;
/// Smaller batches say nothing about whether folding pays.
const SAMPLE_ROWS: usize = 64;
/// After a batch for which folding did not pay, so many pass with a row of states per row; then it is tried again.
const UNFOLDED_BATCHES: u32 = 15;

/// Folds every batch by key. The second phase ([`super::group_aggregate`]) merges what it gives.
///
/// * input: any kinds
/// * output: `+I` rows: the keys, the number of rows behind (negative if more were taken back than came), the states of
///   the aggregates. Keys come in the order in which the batch touches them
/// * state: none: nothing waits for the next batch
/// * late rows: count like all others. A retraction without its row takes away from what the same batch adds to its key
#[derive(Debug)]
pub struct LocalAggregateOperator {
    keys: Vec<usize>,
    schema: SchemaRef,
    table: KeyTable,
    slots: Slots,
    touched: Touched,
    counts: Vec<i64>,
    aggregates: Aggregates,
    /// Batches that still pass unfolded.
    unfolded: u32,
    output: OutputQueue,
}

impl LocalAggregateOperator {
    /// The operator.
    pub fn new(node: &LocalAggregate, input: &Output, output: &Output) -> Result<Self> {
        let fields: Vec<FieldRef> = node.keys.iter().map(|&key| input.row.arrow().fields()[key].clone()).collect();
        Ok(LocalAggregateOperator {
            keys: node.keys.clone(),
            schema: output.row.arrow().clone(),
            table: KeyTable::new(KeyTableSpec { name: "batch", namespace: None, fields, ttl_ms: None })?,
            slots: Slots::default(),
            touched: Touched::default(),
            counts: Vec::new(),
            aggregates: Aggregates::new(&node.calls, &input.row)?,
            unfolded: 0,
            output: OutputQueue::default(),
        })
    }

    /// Gives every row of the batch a slot: by its key, or each its own.
    fn assign(&mut self, keys: &[ArrayRef], rows: usize) -> Result<bool> {
        if self.unfolded > 0 {
            self.unfolded -= 1;
            self.slots.rows.clear();
            self.slots.rows.extend(0..rows as u32);
            self.touched.start(rows);
        } else {
            let key_batch = KeyBatch { columns: keys, namespaces: None, rows };
            self.table.lookup_or_insert(key_batch, &mut self.slots)?;
            self.touched.start(self.table.slots_len());
        }
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            self.touched.touch(slot, row);
        }
        let folds = !self.table.is_empty();
        if folds && rows >= SAMPLE_ROWS && self.touched.slots.len() as f64 > FOLDED_MAX * rows as f64 {
            self.unfolded = UNFOLDED_BATCHES;
        }
        Ok(folds)
    }

    fn fold(&mut self, batch: &ChangelogBatch, keys: &[ArrayRef]) -> Result<ChangelogBatch> {
        let slots_len = self.touched.slots.iter().max().map_or(0, |slot| *slot as usize + 1);
        self.aggregates.resize(slots_len.max(self.table.slots_len()));
        let rows = SlotRows { slots: &self.slots.rows, kinds: batch.kinds(), rows: None };
        self.aggregates.update(batch.records(), rows)?;
        self.counts.clear();
        self.counts.resize(self.touched.slots.len(), 0);
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            self.counts[self.touched.position(slot)] += batch.kind(row).sign();
        }
        // Without calls nothing happens to a group behind its first row.
        let order = match self.schema.fields().len() > keys.len() + 1 {
            true => self.touched.by_last_row(&self.slots.rows),
            false => (0..self.touched.slots.len() as u32).collect(),
        };
        let pick = |values: &[u32]| order.iter().map(|&position| values[position as usize]).collect::<Vec<u32>>();
        let first_rows = UInt32Array::from(pick(&self.touched.first_rows));
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for key in keys {
            columns.push(take(key.as_ref(), &first_rows, None)?);
        }
        let counts: Int64Array = order.iter().map(|&position| Some(self.counts[position as usize])).collect();
        columns.push(Arc::new(counts));
        let slots = pick(&self.touched.slots);
        columns.extend(self.aggregates.state(&slots)?.into_iter().map(|(_, column)| column));
        let records = record_batch(&self.schema, columns, slots.len())?;
        Ok(ChangelogBatch::inserts(records))
    }
}

impl Operator for LocalAggregateOperator {
    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, _context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let keys: Vec<ArrayRef> = self.keys.iter().map(|&key| batch.records().column(key).clone()).collect();
        let folded = self.assign(&keys, batch.num_rows())?;
        let output = self.fold(&batch, &keys)?;
        self.output.push(output);
        self.aggregates.reset(&self.touched.slots);
        if folded {
            self.table.remove(&self.touched.slots)?;
        }
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }
}
