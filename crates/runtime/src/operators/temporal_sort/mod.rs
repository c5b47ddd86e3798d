//! ORDER BY a time attribute: rows wait until nothing can come before them.

use super::kept_rows::snapshot_sorted;
use super::late::LateRows;
use super::output::{OutputQueue, record_batch};
use super::window::row_times;
use crate::operator::{Operator, OperatorContext, OperatorStatistics};
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::{SortColumn, SortOptions, lexsort_to_indices};
use arrow::datatypes::FieldRef;
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Output, TemporalSort};
use base::types::RowType;
use base::{ChangelogBatch, Result};
use state::{
    KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots, SortedIdentity, SortedRows, SortedRowsSpec,
};
use std::ops::Range;

/// The name of the table in snapshots.
const ROWS: &str = "rows";
/// The name of the last given time in snapshots.
const LAST: &str = "last_time_ms";
/// All rows are of one slot.
const SLOT: u32 = 0;

/// Gives rows in the order of time.
///
/// * input, output: inserts
/// * state: by a rowtime, the rows that wait for the watermark; by processing time, nothing: rows are given as they come, and
///   sorted within a batch
/// * dropped: rows when they have been given
/// * late rows: a row at or before the last time that has been given is dropped and counted. One that is behind the watermark
///   but later than that is given with the next watermark
#[derive(Debug)]
pub struct TemporalSortOperator {
    order: Vec<(usize, SortOptions)>,
    /// Input columns in the order of the store.
    stored: Vec<usize>,
    rowtime: Option<usize>,
    time_name: String,
    output_row: RowType,
    own_groups: Range<u16>,

    table: KeyTable,
    rows: SortedRows,
    /// By row of the store.
    times: Vec<i64>,
    last_ms: Option<i64>,
    /// Rows up to this time are to be given.
    due_ms: Option<i64>,
    late: LateRows,
    output: OutputQueue,
}

impl TemporalSortOperator {
    /// The operator of one instance; one of them gets all rows.
    pub fn new(node: &TemporalSort, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let field = |column: usize| -> FieldRef { input.row.arrow().fields()[column].clone() };
        let order: Vec<(usize, SortOptions)> = node
            .order
            .iter()
            .map(|key| (key.column, SortOptions { descending: key.descending, nulls_first: key.nulls_first }))
            .collect();
        let is_rest = |column: &usize| !order.iter().any(|(ordered, _)| ordered == column);
        let rest: Vec<usize> = (0..input.row.len()).filter(is_rest).collect();
        let rows = SortedRows::new(SortedRowsSpec {
            order: order.iter().map(|(column, options)| (field(*column), *options)).collect(),
            rest: rest.iter().map(|&column| field(column)).collect(),
            identity: SortedIdentity::None,
        })?;
        Ok(TemporalSortOperator {
            stored: order.iter().map(|(column, _)| *column).chain(rest).collect(),
            order,
            rowtime: node.rowtime,
            time_name: node.rowtime.map_or_else(String::new, |column| input.row.fields()[column].name.clone()),
            output_row: output.row.clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: ROWS, namespace: None, fields: Vec::new(), ttl_ms: None })?,
            rows,
            times: Vec::new(),
            last_ms: None,
            due_ms: None,
            late: LateRows::default(),
            output: OutputQueue::default(),
        })
    }

    /// The one slot, made when there are rows.
    fn slot(&mut self, rows: usize) -> Result<()> {
        self.table.lookup_or_insert(KeyBatch { columns: &[], namespaces: None, rows }, &mut Slots::default())?;
        self.rows.resize(self.table.slots_len());
        Ok(())
    }

    fn insert(&mut self, columns: &[ArrayRef], times: &[i64], wanted: impl Fn(i64) -> bool) -> Result<()> {
        let batch = self.rows.encode(columns)?;
        for (row, &time) in times.iter().enumerate().filter(|(_, time)| wanted(**time)) {
            let added = self.rows.insert(SLOT, &batch, row) as usize;
            if added >= self.times.len() {
                self.times.resize(added + 1, 0);
            }
            self.times[added] = time;
        }
        Ok(())
    }

    /// Rows of one moment of processing time: those of a batch.
    fn sort(&self, batch: &ChangelogBatch) -> Result<ChangelogBatch> {
        let columns: Vec<SortColumn> = self
            .order
            .iter()
            .map(|(column, options)| SortColumn {
                values: batch.records().column(*column).clone(),
                options: Some(*options),
            })
            .collect();
        if columns.is_empty() {
            return Ok(batch.clone());
        }
        let rows: UInt32Array = lexsort_to_indices(&columns, None)?;
        batch.take(&rows)
    }
}

impl Operator for TemporalSortOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let Some(rowtime) = self.rowtime else { return Ok(()) };
        let place = self.stored.iter().position(|&column| column == rowtime).unwrap_or(0);
        for table in restored.iter().filter_map(|snapshot| snapshot.table(ROWS)) {
            let fields = self.rows.fields();
            let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
            self.rows.resize(self.table.slots_len());
            if restored.slots.is_empty() {
                continue;
            }
            let times = base::time::epoch_ms(&restored.values[place])?;
            self.insert(&restored.values, times.values(), |_| true)?;
        }
        self.last_ms = restored.iter().filter_map(|snapshot| snapshot.values.get(LAST).copied()).max();
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, _context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let Some(rowtime) = self.rowtime else {
            let sorted = self.sort(&batch)?;
            self.output.push(sorted);
            return Ok(());
        };
        self.slot(batch.num_rows())?;
        let times = row_times(batch.records(), rowtime)?;
        let last_ms = self.last_ms;
        if let Some(last_ms) = last_ms {
            let late = times.values().iter().filter(|time| **time <= last_ms);
            late.for_each(|&time| self.late.add(&self.time_name, time, last_ms));
        }
        let columns: Vec<ArrayRef> = self.stored.iter().map(|&index| batch.records().column(index).clone()).collect();
        self.insert(&columns, times.values(), |time| last_ms.is_none_or(|last_ms| time > last_ms))
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        self.due_ms = self.due_ms.max(Some(watermark_ms));
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        if let Some(batch) = self.output.next(context.rows_max) {
            return Ok(Some(batch));
        }
        let Some(due_ms) = self.due_ms.filter(|_| !self.table.is_empty()) else { return Ok(None) };
        let times = &self.times;
        let rows = self.rows.take_front(SLOT, context.rows_max.max(1), |row| times[row as usize] <= due_ms);
        let Some(last) = rows.last() else {
            self.due_ms = None;
            return Ok(None);
        };
        self.last_ms = self.last_ms.max(Some(self.times[*last as usize]));
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.output_row.len()];
        for (&column, values) in self.stored.iter().zip(self.rows.columns(&rows)?) {
            columns[column] = Some(values);
        }
        let records = record_batch(self.output_row.arrow(), columns.into_iter().flatten().collect(), rows.len())?;
        self.rows.release();
        Ok(Some(ChangelogBatch::inserts(records)))
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let table = snapshot_sorted(&mut self.rows, &self.table, ROWS, scope, false, |_| Vec::new())?;
        let values = self.last_ms.map(|last_ms| (LAST.to_string(), last_ms)).into_iter().collect();
        Ok(OperatorSnapshot { tables: vec![table], values })
    }

    fn statistics(&self) -> OperatorStatistics {
        self.late.report(OperatorStatistics {
            state_entries: self.rows.rows() as u64,
            state_bytes: (self.rows.heap_bytes() + self.times.capacity() * 8) as u64,
            ..Default::default()
        })
    }
}
