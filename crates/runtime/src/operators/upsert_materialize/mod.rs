//! The last row per sink key of a changelog whose rows are told apart by something else.

use super::EXPIRE_SCAN_MAX;
use super::output::{Changes, OutputQueue, record_batch};
use super::touched::Touched;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, UInt32Array, new_empty_array};
use arrow::compute::take;
use arrow::datatypes::FieldRef;
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Output, UpsertMaterialize};
use base::{ChangelogBatch, Result};
use state::{
    ChainRows, KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, RowChains, RowChainsSpec, RowIdentity, Scope, Slots,
};
use std::ops::Range;

/// The name of the rows in snapshots.
const TABLE: &str = "rows";

/// Keeps all rows of a sink key in the order of their arrival, and shows the last one.
///
/// * input: any kinds
/// * output: `+I` for the first row of a key, `+U` whenever another row becomes the last one (the row before, if the last
///   one is taken back), `-D` when none is left. A batch gives at most one change per key
/// * state: every row that has not been taken back
/// * dropped: when it is taken back, or has not been written for the TTL
/// * late rows: count like all others. Retractions of unknown rows are dropped
#[derive(Debug)]
pub struct UpsertMaterializeOperator {
    keys: Vec<usize>,
    /// The other columns, those that tell rows apart first.
    rest: Vec<usize>,
    output_row: base::types::RowType,
    own_groups: Range<u16>,

    table: KeyTable,
    /// Per slot rows of `rest`.
    rows: RowChains,

    slots: Slots,
    touched: Touched,
    output: OutputQueue,
}

impl UpsertMaterializeOperator {
    /// The operator of one instance.
    pub fn new(node: &UpsertMaterialize, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let field = |column: &usize| input.row.arrow().fields()[*column].clone();
        let telling: Vec<usize> = node.row_keys.iter().copied().filter(|column| !node.keys.contains(column)).collect();
        let others = (0..input.row.len()).filter(|column| !node.keys.contains(column) && !telling.contains(column));
        let rest: Vec<usize> = telling.iter().copied().chain(others).collect();
        let rest_fields: Vec<FieldRef> = rest.iter().map(field).collect();
        let spec = RowChainsSpec {
            name: TABLE,
            fields: rest_fields,
            identity: match telling.len() {
                0 => RowIdentity::Content,
                count => RowIdentity::Leading(count),
            },
            counts_matches: false,
            ttl_ms: node.state_ttl.map(|ttl| ttl.as_millis() as i64),
        };
        let fields = node.keys.iter().map(field).collect();
        Ok(UpsertMaterializeOperator {
            keys: node.keys.clone(),
            rest,
            output_row: output.row.clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: "keys", namespace: None, fields, ttl_ms: None })?,
            rows: RowChains::new(spec)?,
            slots: Slots::default(),
            touched: Touched::default(),
            output: OutputQueue::default(),
        })
    }

    /// The row that the sink shows for a slot. Of the rows of a slot the last one expires last.
    fn shown(&self, slot: u32, now_ms: i64) -> Option<u32> {
        self.rows.last(slot).filter(|&entry| !self.rows.is_expired(entry, now_ms))
    }

    /// The rows that the touched slots show, as columns, and their places in them.
    fn shown_rows(&self, now_ms: i64) -> Result<(Vec<Option<usize>>, Vec<ArrayRef>)> {
        let mut entries = Vec::with_capacity(self.touched.slots.len());
        let mut places = Vec::with_capacity(self.touched.slots.len());
        for &slot in &self.touched.slots {
            let shown = self.shown(slot, now_ms);
            places.push(shown.map(|_| entries.len()));
            entries.extend(shown);
        }
        Ok((places, self.rows.columns(&entries)?))
    }

    /// Applies a batch; gives for every touched slot whether its shown row has been written or replaced.
    fn apply(&mut self, batch: &ChangelogBatch, encoded: &ChainRows, now_ms: i64) -> Result<Vec<bool>> {
        let mut written = vec![false; self.touched.slots.len()];
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            let position = self.touched.position(slot);
            if batch.kind(row).is_addition() {
                // Another copy or new content makes a row the last one; its older copies are the first to go.
                let entry = self.rows.add(slot, encoded, row, now_ms)?.entry;
                self.rows.make_last(slot, entry);
                written[position] = true;
            } else {
                let last = self.shown(slot, now_ms);
                if self.rows.retract(slot, encoded, row, now_ms)? {
                    written[position] |= last != self.shown(slot, now_ms);
                }
            }
        }
        Ok(written)
    }

    fn emit(
        &mut self,
        batch: &ChangelogBatch,
        before: &[ArrayRef],
        after: &[ArrayRef],
        changes: Changes,
    ) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let first_rows = |position: &u32| self.touched.first_rows[*position as usize];
        let rows: UInt32Array = changes.positions().iter().map(first_rows).collect::<Vec<_>>().into();
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.output_row.len()];
        for &key in &self.keys {
            columns[key] = Some(take(batch.records().column(key).as_ref(), &rows, None)?);
        }
        for ((&column, before), after) in self.rest.iter().zip(before).zip(after) {
            columns[column] = Some(changes.column(before, after)?);
        }
        let empty = |column: usize| new_empty_array(self.output_row.arrow().field(column).data_type());
        let columns = columns.into_iter().enumerate().map(|(index, column)| column.unwrap_or_else(|| empty(index)));
        let records = record_batch(self.output_row.arrow(), columns.collect(), changes.len())?;
        self.output.push(ChangelogBatch::new(records, changes.into_kinds()));
        Ok(())
    }

    /// Takes keys without rows out.
    fn forget(&mut self, slots: &[u32]) -> Result<()> {
        let gone: Vec<u32> = slots.iter().copied().filter(|&slot| self.rows.first(slot).is_none()).collect();
        self.table.remove(&gone)
    }
}

impl Operator for UpsertMaterializeOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        for table in restored.iter().filter_map(|snapshot| snapshot.table(TABLE)) {
            self.rows.restore(&mut self.table, table, self.own_groups.clone())?;
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
        self.rows.resize(self.table.slots_len());
        self.touched.start(self.table.slots_len());
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            self.touched.touch(slot, row);
        }
        let encoded = self.rows.encode(&columns(&self.rest))?;
        let (old, before) = self.shown_rows(now_ms)?;
        let written = self.apply(&batch, &encoded, now_ms)?;
        let (new, after) = self.shown_rows(now_ms)?;
        let mut changes = Changes::default();
        for position in 0..written.len() {
            match (old[position], new[position]) {
                (None, Some(row)) => changes.insert(position, row),
                (Some(row), None) => changes.delete(position, row),
                (Some(_), Some(row)) if written[position] => changes.update_after(position, row),
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        self.emit(&batch, &before, &after, changes)?;
        let touched = std::mem::take(&mut self.touched.slots);
        self.table.changed(&touched);
        self.forget(&touched)?;
        self.touched.slots = touched;
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let changed = self.rows.expire(context.processing_time_ms, EXPIRE_SCAN_MAX)?;
        self.forget(&changed)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let taken = self.table.take_beside_rows(scope, KeyTable::live_slots);
        Ok(OperatorSnapshot { tables: vec![self.rows.snapshot(&self.table, scope, &taken)?], ..Default::default() })
    }

    fn minds_time(&self) -> bool {
        false
    }

    fn wakes(&self) -> Wakes {
        Wakes::NEVER
    }

    fn statistics(&self) -> OperatorStatistics {
        OperatorStatistics {
            state_entries: self.rows.len() as u64,
            state_bytes: (self.table.heap_bytes() + self.rows.heap_bytes() + self.touched.heap_bytes()) as u64,
            ..Default::default()
        }
    }
}
