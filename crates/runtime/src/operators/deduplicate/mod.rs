//! One row per key: the first or the last one by time.

pub mod first_by_time;

use super::EXPIRE_SCAN_MAX;
use super::output::{Changes, OutputQueue, record_batch};
use super::touched::Touched;
use super::window::row_times;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, AsArray, Int64Array, UInt32Array, new_empty_array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Deduplicate, Keep, Output};
use base::types::RowType;
use base::{ChangelogBatch, Result, RowKind};
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, RowStore, Scope, Slots};
use std::ops::Range;
use std::sync::Arc;

/// The table's name in snapshots.
const TABLE: &str = "keys";

/// The operator of a node.
///
/// # Errors
/// A key type that cannot be a key.
pub fn create(node: &Deduplicate, input: &Output, output: &Output, instance: Instance) -> Result<Box<dyn Operator>> {
    Ok(match (node.keep, node.rowtime) {
        (Keep::First, None) => Box::new(FirstByArrival::new(node, input, instance)?),
        (Keep::First, Some(time)) => Box::new(first_by_time::FirstByTime::new(node, time, input, output, instance)?),
        (Keep::Last, _) => Box::new(LastRow::new(node, input, output, instance)?),
    })
}

fn key_table(node: &Deduplicate, input: &Output) -> Result<KeyTable> {
    let fields = node.keys.iter().map(|&key| input.row.arrow().fields()[key].clone()).collect();
    let ttl_ms = node.state_ttl.map(|ttl| ttl.as_millis() as i64);
    KeyTable::new(KeyTableSpec { name: TABLE, namespace: None, fields, ttl_ms })
}

/// The columns of the input that are not keys.
fn other_columns(node: &Deduplicate, input: &Output) -> Vec<usize> {
    (0..input.row.len()).filter(|column| !node.keys.contains(column)).collect()
}

fn columns_of(batch: &ChangelogBatch, indexes: &[usize]) -> Vec<ArrayRef> {
    indexes.iter().map(|&index| batch.records().column(index).clone()).collect()
}

fn time_field() -> FieldRef {
    Arc::new(Field::new("time_ms", DataType::Int64, true))
}

/// Keeps the first row per key in the order of arrival.
///
/// * input, output: inserts
/// * state: the keys
/// * dropped: when the key came longer ago than the TTL
/// * late rows: count like all others
#[derive(Debug)]
struct FirstByArrival {
    keys: Vec<usize>,
    own_groups: Range<u16>,
    table: KeyTable,
    slots: Slots,
    touched: Touched,
    output: OutputQueue,
}

impl FirstByArrival {
    fn new(node: &Deduplicate, input: &Output, instance: Instance) -> Result<Self> {
        Ok(FirstByArrival {
            keys: node.keys.clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: key_table(node, input)?,
            slots: Slots::default(),
            touched: Touched::default(),
            output: OutputQueue::default(),
        })
    }
}

impl Operator for FirstByArrival {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        for table in restored.iter().filter_map(|snapshot| snapshot.table(TABLE)) {
            self.table.restore(table, self.own_groups.clone(), &[])?;
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        let now_ms = context.processing_time_ms;
        let known = self.table.slots_len();
        let keys = columns_of(&batch, &self.keys);
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        let mut is_new = vec![false; self.table.slots_len().max(known)];
        self.slots.new.iter().for_each(|&slot| is_new[slot as usize] = true);
        self.touched.start(self.table.slots_len());
        let (mut first_rows, mut written) = (Vec::new(), Vec::new());
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            let (_, first) = self.touched.touch(slot, row);
            if first && (is_new[slot as usize] || self.table.is_expired(slot, now_ms)) {
                first_rows.push(row as u32);
                written.push(slot);
            }
        }
        self.table.written(&written, now_ms);
        self.output.push(batch.take(&UInt32Array::from(first_rows))?);
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let expired = self.table.expire(context.processing_time_ms, EXPIRE_SCAN_MAX);
        self.table.remove(&expired)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let taken = self.table.take(scope, KeyTable::live_slots);
        let table = self.table.snapshot(&taken, Vec::new())?;
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
            state_bytes: (self.table.heap_bytes() + self.touched.heap_bytes()) as u64,
            ..Default::default()
        }
    }
}

/// Keeps the last row per key, by a rowtime or in the order of arrival.
///
/// * input: inserts
/// * output: `+I` for a new key, `-U`/`+U` for a later row (`-U` only if a reader wants it), even if it is the same. A batch
///   gives one change per key at most
/// * state: the last row per key, and its time
/// * dropped: when the key has not been written for the TTL
/// * late rows: count like all others; a row that is older than the kept one gives nothing
#[derive(Debug)]
struct LastRow {
    keys: Vec<usize>,
    rest: Vec<usize>,
    rowtime: Option<usize>,
    with_before: bool,
    output_row: RowType,
    own_groups: Range<u16>,

    table: KeyTable,
    /// Per slot the columns of `rest`.
    rows: RowStore,
    /// By slot; empty if rows have no time.
    times: Vec<i64>,

    slots: Slots,
    touched: Touched,
    /// By position: the row that replaces the kept one.
    winners: Vec<Option<u32>>,
    output: OutputQueue,
}

impl LastRow {
    fn new(node: &Deduplicate, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let rest = other_columns(node, input);
        let fields = rest.iter().map(|&column| input.row.arrow().fields()[column].clone()).collect();
        Ok(LastRow {
            keys: node.keys.clone(),
            rest,
            rowtime: node.rowtime,
            with_before: output.changelog.contains(RowKind::UpdateBefore),
            output_row: output.row.clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: key_table(node, input)?,
            rows: RowStore::new(fields)?,
            times: Vec::new(),
            slots: Slots::default(),
            touched: Touched::default(),
            winners: Vec::new(),
            output: OutputQueue::default(),
        })
    }

    fn resize(&mut self) {
        if self.rowtime.is_some() {
            self.times.resize(self.table.slots_len(), i64::MIN);
        }
    }

    /// Finds the winner of every key.
    fn compete(&mut self, times: Option<&Int64Array>, now_ms: i64) {
        self.touched.start(self.table.slots_len());
        self.winners.clear();
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            let (position, first) = self.touched.touch(slot, row);
            if first {
                self.winners.push(None);
                if self.rowtime.is_some() && (!self.rows.contains(slot) || self.table.is_expired(slot, now_ms)) {
                    self.times[slot as usize] = i64::MIN;
                }
            }
            if let Some(times) = times {
                if times.value(row) < self.times[slot as usize] {
                    continue;
                }
                self.times[slot as usize] = times.value(row);
            }
            self.winners[position] = Some(row as u32);
        }
    }

    fn emit(&mut self, batch: &ChangelogBatch, now_ms: i64) -> Result<()> {
        let mut changes = Changes::default();
        let mut shown = Vec::new();
        for (position, (&slot, &winner)) in self.touched.slots.iter().zip(&self.winners).enumerate() {
            let Some(winner) = winner else { continue };
            if !self.rows.contains(slot) || self.table.is_expired(slot, now_ms) {
                changes.insert(position, winner as usize);
                continue;
            }
            if self.with_before {
                changes.update_before(position, shown.len());
                shown.push(slot);
            }
            changes.update_after(position, winner as usize);
        }
        if changes.is_empty() {
            return Ok(());
        }
        let first_rows = |position: &u32| self.touched.first_rows[*position as usize];
        let rows: UInt32Array = changes.positions().iter().map(first_rows).collect::<Vec<_>>().into();
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.output_row.len()];
        for &key in &self.keys {
            columns[key] = Some(take(batch.records().column(key).as_ref(), &rows, None)?);
        }
        let before = match shown.is_empty() {
            true => {
                self.rest.iter().map(|&column| new_empty_array(batch.records().column(column).data_type())).collect()
            }
            false => self.rows.columns(&shown)?,
        };
        for (&column, before) in self.rest.iter().zip(&before) {
            columns[column] = Some(changes.column(before, batch.records().column(column))?);
        }
        let records = record_batch(self.output_row.arrow(), columns.into_iter().flatten().collect(), changes.len())?;
        self.output.push(ChangelogBatch::new(records, changes.into_kinds()));
        Ok(())
    }

    fn write(&mut self, batch: &ChangelogBatch, now_ms: i64) -> Result<()> {
        let encoded = self.rows.encode(&columns_of(batch, &self.rest))?;
        let mut written = Vec::new();
        for (&slot, &winner) in self.touched.slots.iter().zip(&self.winners) {
            if let Some(winner) = winner {
                self.rows.set(slot, &encoded, winner as usize);
                written.push(slot);
            }
        }
        self.table.written(&written, now_ms);
        Ok(())
    }
}

impl Operator for LastRow {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let mut fields = self.rows.fields().to_vec();
        if self.rowtime.is_some() {
            fields.push(time_field());
        }
        for table in restored.iter().filter_map(|snapshot| snapshot.table(TABLE)) {
            let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
            self.resize();
            let (rows, times) = restored.values.split_at(self.rest.len());
            let encoded = self.rows.encode(rows)?;
            for (row, &slot) in restored.slots.iter().enumerate() {
                self.rows.set(slot, &encoded, row);
                if let Some(times) = times.first() {
                    self.times[slot as usize] = times.as_primitive::<Int64Type>().value(row);
                }
            }
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        let now_ms = context.processing_time_ms;
        let keys = columns_of(&batch, &self.keys);
        let times = self.rowtime.map(|column| row_times(batch.records(), column)).transpose()?;
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        self.resize();
        self.compete(times.as_ref(), now_ms);
        self.emit(&batch, now_ms)?;
        self.write(&batch, now_ms)
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
        let rows = self.rows.fields().iter().cloned().zip(self.rows.columns(&taken.slots)?);
        let mut columns: Vec<(FieldRef, ArrayRef)> = rows.collect();
        if self.rowtime.is_some() {
            let times: Int64Array = taken.slots.iter().map(|&slot| Some(self.times[slot as usize])).collect();
            columns.push((time_field(), Arc::new(times)));
        }
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
        let own = self.times.capacity() * size_of::<i64>() + self.touched.heap_bytes();
        OperatorStatistics {
            state_entries: self.table.len() as u64,
            state_bytes: (self.table.heap_bytes() + self.rows.heap_bytes() + own) as u64,
            ..Default::default()
        }
    }
}
