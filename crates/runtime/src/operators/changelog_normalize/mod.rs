//! Makes a full changelog of keyed changes.

use super::EXPIRE_SCAN_MAX;
use super::output::{Changes, OutputQueue, record_batch};
use super::touched::Touched;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, AsArray, UInt32Array, new_empty_array};
use arrow::compute::take;
use arrow::datatypes::FieldRef;
use base::connector::Instance;
use base::function::is_selected;
use base::key::groups_of_instance;
use base::plan::{ChangelogNormalize, Output};
use base::{ChangelogBatch, Expression, Result, RowKind};
use state::{EncodedRows, KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, RowStore, Scope, Slots};
use std::ops::Range;
use std::sync::Arc;

/// The table's name in snapshots.
const TABLE: &str = "rows";

/// Keeps the last row per key.
///
/// * input: keyed changes. `+I` and `+U` set the row of a key, `-D` and `-U` remove it, whatever they say about the
///   other columns
/// * a row that does not meet the condition, if there is one, removes the row of its key as a `-D` does
/// * output: `+I` for a new key, `-U`/`+U` for other content (`-U` only if a reader wants it), `-D` with the last
///   content. Repeats and deletes of unknown keys give nothing; with a TTL, repeats are given on. A batch gives at
///   most one change per key, in the order in which it touches them first
/// * state: the last row per key
/// * dropped: when the key is deleted, or has not been written for the TTL
/// * late rows: count like all others
#[derive(Debug)]
pub struct ChangelogNormalizeOperator {
    keys: Vec<usize>,
    /// The columns that are not key columns.
    rest: Vec<usize>,
    condition: Option<Arc<dyn Expression>>,
    with_before: bool,
    with_unchanged: bool,
    output_row: base::types::RowType,
    own_groups: Range<u16>,

    table: KeyTable,
    /// Per slot the columns of `rest`.
    rows: RowStore,

    slots: Slots,
    touched: Touched,
    /// By position: the last row of the batch that says something about the key, `None` if it removes it.
    last_rows: Vec<Option<u32>>,
    output: OutputQueue,
}

impl ChangelogNormalizeOperator {
    /// The operator of one instance.
    pub fn new(node: &ChangelogNormalize, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let field = |column: &usize| input.row.arrow().fields()[*column].clone();
        let rest: Vec<usize> = (0..input.row.len()).filter(|column| !node.keys.contains(column)).collect();
        let rest_fields: Vec<FieldRef> = rest.iter().map(field).collect();
        let ttl_ms = node.state_ttl.map(|ttl| ttl.as_millis() as i64);
        let fields = node.keys.iter().map(field).collect();
        Ok(ChangelogNormalizeOperator {
            keys: node.keys.clone(),
            rest,
            condition: node.condition.clone(),
            with_before: output.changelog.contains(RowKind::UpdateBefore),
            with_unchanged: ttl_ms.is_some(),
            output_row: output.row.clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: TABLE, namespace: None, fields, ttl_ms })?,
            rows: RowStore::new(rest_fields)?,
            slots: Slots::default(),
            touched: Touched::default(),
            last_rows: Vec::new(),
            output: OutputQueue::default(),
        })
    }

    fn fold(&mut self, batch: &ChangelogBatch) -> Result<()> {
        let wanted = self.condition.as_ref().map(|condition| condition.evaluate(batch.records())).transpose()?;
        let wanted = wanted.as_ref().map(|mask| mask.as_boolean());
        self.touched.start(self.table.slots_len());
        self.last_rows.clear();
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            let (position, first) = self.touched.touch(slot, row);
            if first {
                self.last_rows.push(None);
            }
            let stays = batch.kind(row).is_addition() && is_selected(wanted, row);
            self.last_rows[position] = stays.then_some(row as u32);
        }
        Ok(())
    }

    /// The changes of the touched keys, and the slots whose old rows they show, in order.
    fn changes(&self, encoded: &EncodedRows, now_ms: i64) -> (Changes, Vec<u32>) {
        let mut changes = Changes::default();
        let mut shown = Vec::new();
        for (position, (&slot, &after)) in self.touched.slots.iter().zip(&self.last_rows).enumerate() {
            let is_known = self.rows.contains(slot) && !self.table.is_expired(slot, now_ms);
            match (is_known, after) {
                (false, None) => {}
                (false, Some(row)) => changes.insert(position, row as usize),
                (true, None) => {
                    changes.delete(position, shown.len());
                    shown.push(slot);
                }
                (true, Some(row)) if !self.with_unchanged && self.rows.equals(slot, encoded, row as usize) => {}
                (true, Some(row)) => {
                    if self.with_before {
                        changes.update_before(position, shown.len());
                        shown.push(slot);
                    }
                    changes.update_after(position, row as usize);
                }
            }
        }
        (changes, shown)
    }

    fn emit(&mut self, batch: &ChangelogBatch, changes: Changes, shown: &[u32]) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let first_rows = |position: &u32| self.touched.first_rows[*position as usize];
        let rows: UInt32Array = changes.positions().iter().map(first_rows).collect::<Vec<_>>().into();
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.output_row.len()];
        for &key in &self.keys {
            columns[key] = Some(take(batch.records().column(key).as_ref(), &rows, None)?);
        }
        let before = self.rows.columns(shown)?;
        for (&column, before) in self.rest.iter().zip(&before) {
            columns[column] = Some(changes.column(before, batch.records().column(column))?);
        }
        let empty = |column: usize| new_empty_array(self.output_row.arrow().field(column).data_type());
        let columns = columns.into_iter().enumerate().map(|(index, column)| column.unwrap_or_else(|| empty(index)));
        let records = record_batch(self.output_row.arrow(), columns.collect(), changes.len())?;
        self.output.push(ChangelogBatch::new(records, changes.into_kinds()));
        Ok(())
    }

    fn write(&mut self, encoded: &EncodedRows, now_ms: i64) -> Result<()> {
        let mut gone = Vec::new();
        for (&slot, &after) in self.touched.slots.iter().zip(&self.last_rows) {
            match after {
                Some(row) => self.rows.set(slot, encoded, row as usize),
                None => {
                    self.rows.clear(slot);
                    gone.push(slot);
                }
            }
        }
        self.table.written(&self.touched.slots, now_ms);
        self.table.remove(&gone)
    }
}

impl Operator for ChangelogNormalizeOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let fields = self.rows.fields().to_vec();
        for table in restored.iter().filter_map(|snapshot| snapshot.table(TABLE)) {
            let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
            let encoded = self.rows.encode(&restored.values)?;
            for (row, &slot) in restored.slots.iter().enumerate() {
                self.rows.set(slot, &encoded, row);
            }
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let now_ms = context.processing_time_ms;
        let columns = |indexes: &[usize]| -> Vec<ArrayRef> {
            indexes.iter().map(|&index| batch.records().column(index).clone()).collect()
        };
        let keys = columns(&self.keys);
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        let encoded = self.rows.encode(&columns(&self.rest))?;
        self.fold(&batch)?;
        let (changes, shown) = self.changes(&encoded, now_ms);
        self.emit(&batch, changes, &shown)?;
        self.write(&encoded, now_ms)
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let expired = self.table.expire(context.processing_time_ms, EXPIRE_SCAN_MAX);
        expired.iter().for_each(|&slot| self.rows.clear(slot));
        self.table.remove(&expired)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let taken = self.table.take(scope, KeyTable::live_slots);
        let columns = self.rows.fields().iter().cloned().zip(self.rows.columns(&taken.slots)?).collect();
        let table = self.table.snapshot(&taken, columns)?;
        Ok(OperatorSnapshot { tables: vec![table], ..Default::default() })
    }

    fn minds_time(&self) -> bool {
        false
    }

    fn wakes(&self) -> Wakes {
        Wakes::NEVER
    }

    fn statistics(&self) -> OperatorStatistics {
        OperatorStatistics {
            state_entries: self.table.len() as u64,
            state_bytes: (self.table.heap_bytes() + self.rows.heap_bytes() + self.touched.heap_bytes()) as u64,
            ..Default::default()
        }
    }
}
