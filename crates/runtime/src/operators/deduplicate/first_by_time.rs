//! The first row per key by a rowtime: known only when the watermark has passed it.

use super::super::EXPIRE_SCAN_MAX;
use super::super::late::LateRows;
use super::super::output::record_batch;
use super::super::window::row_times;
use super::{TABLE, columns_of, key_table, other_columns, time_field};
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::Int64Type;
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Deduplicate, Output};
use base::types::RowType;
use base::{ChangelogBatch, Result};
use state::{KeyBatch, KeyTable, OperatorSnapshot, RowStore, Scope, Slots, Timers};
use std::ops::Range;
use std::sync::Arc;

/// The name of the table of rows that wait, in snapshots.
const WAITING: &str = "waiting";
/// The name of the watermark in snapshots.
const WATERMARK: &str = "watermark_ms";

/// What has become of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// No row yet.
    Unknown,
    /// Its first row, of this time, waits for the watermark.
    Waiting(i64),
    /// Its first row has been given.
    Given,
}

/// Keeps the row with the smallest time per key; of equal times the one that came first.
///
/// * input, output: inserts. A key is given once, when the watermark reaches the time of its row
/// * state: the keys, and the rows that wait for the watermark
/// * dropped: rows when they have been given, keys when they have not been written for the TTL
/// * late rows: a row behind the watermark is dropped, and counted if its key has not been given. One at the watermark is
///   given with the next one
#[derive(Debug)]
pub struct FirstByTime {
    keys: Vec<usize>,
    rest: Vec<usize>,
    rowtime: usize,
    time_name: String,
    output_row: RowType,
    own_groups: Range<u16>,

    table: KeyTable,
    /// Per waiting slot the columns of `rest`.
    rows: RowStore,
    /// By slot.
    fates: Vec<Fate>,
    timers: Timers,
    watermark_ms: Option<i64>,
    /// Rows up to this time are to be given.
    until_ms: Option<i64>,
    /// Slots that are due and not given yet, the next one last.
    due: Vec<u32>,

    slots: Slots,
    late: LateRows,
}

impl FirstByTime {
    /// The operator of one instance.
    pub fn new(
        node: &Deduplicate,
        rowtime: usize,
        input: &Output,
        output: &Output,
        instance: Instance,
    ) -> Result<Self> {
        let rest = other_columns(node, input);
        let fields = rest.iter().map(|&column| input.row.arrow().fields()[column].clone()).collect();
        Ok(FirstByTime {
            keys: node.keys.clone(),
            rest,
            rowtime,
            time_name: input.row.fields()[rowtime].name.clone(),
            output_row: output.row.clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: key_table(node, input)?,
            rows: RowStore::new(fields)?,
            fates: Vec::new(),
            timers: Timers::default(),
            watermark_ms: None,
            until_ms: None,
            due: Vec::new(),
            slots: Slots::default(),
            late: LateRows::default(),
        })
    }

    fn resize(&mut self) {
        self.fates.resize(self.table.slots_len(), Fate::Unknown);
    }

    fn forget(&mut self, slot: u32) {
        self.rows.clear(slot);
        self.fates[slot as usize] = Fate::Unknown;
    }

    /// The next slots whose time has come.
    fn next_due(&mut self, rows_max: usize) -> Vec<u32> {
        let mut next = Vec::new();
        while next.len() < rows_max {
            if let Some(slot) = self.due.pop() {
                next.push(slot);
                continue;
            }
            let time = self.timers.first_time();
            if time.is_none() || time > self.until_ms {
                break;
            }
            let Some((time, slots)) = self.timers.pop_first() else { break };
            // A row that was replaced by an earlier one, or whose key has expired, leaves its timer behind.
            let waiting = slots.into_iter().filter(|&slot| self.fates[slot as usize] == Fate::Waiting(time));
            self.due = waiting.collect();
            self.due.reverse();
        }
        next
    }
}

impl Operator for FirstByTime {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        for snapshot in restored {
            if let Some(table) = snapshot.table(TABLE) {
                let restored = self.table.restore(table, self.own_groups.clone(), &[time_field()])?;
                self.resize();
                let times = restored.values[0].as_primitive::<Int64Type>();
                for (&slot, time) in restored.slots.iter().zip(times) {
                    self.fates[slot as usize] = time.map_or(Fate::Given, Fate::Waiting);
                    if let Some(time) = time {
                        self.timers.add(time, slot);
                    }
                }
            }
            if let Some(table) = snapshot.table(WAITING) {
                let fields = self.rows.fields().to_vec();
                let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
                let encoded = self.rows.encode(&restored.values)?;
                restored.slots.iter().enumerate().for_each(|(row, &slot)| self.rows.set(slot, &encoded, row));
            }
        }
        // The smallest loses no row.
        let watermarks = restored.iter().map(|snapshot| snapshot.values.get(WATERMARK).copied());
        self.watermark_ms = watermarks.min().flatten();
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        let now_ms = context.processing_time_ms;
        self.watermark_ms = self.watermark_ms.max(context.watermark_ms);
        let keys = columns_of(&batch, &self.keys);
        let times = row_times(batch.records(), self.rowtime)?;
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        self.resize();
        let encoded = self.rows.encode(&columns_of(&batch, &self.rest))?;
        let slots = std::mem::take(&mut self.slots);
        let mut written = Vec::new();
        for (row, (&slot, &time)) in slots.rows.iter().zip(times.values()).enumerate() {
            if self.fates[slot as usize] != Fate::Unknown && self.table.is_expired(slot, now_ms) {
                self.forget(slot);
            }
            let fate = self.fates[slot as usize];
            match (fate, self.watermark_ms) {
                (Fate::Given, _) => {}
                (_, Some(watermark_ms)) if time < watermark_ms => self.late.add(&self.time_name, time, watermark_ms),
                (Fate::Waiting(first), _) if time >= first => {}
                _ => {
                    self.fates[slot as usize] = Fate::Waiting(time);
                    self.rows.set(slot, &encoded, row);
                    self.timers.add(time, slot);
                    written.push(slot);
                }
            }
        }
        self.table.written(&written, now_ms);
        let unknown = |slot: &u32| self.fates[*slot as usize] == Fate::Unknown;
        let unknown: Vec<u32> = slots.new.iter().copied().filter(unknown).collect();
        self.slots = slots;
        self.table.remove(&unknown)
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        self.watermark_ms = self.watermark_ms.max(Some(watermark_ms));
        self.until_ms = self.watermark_ms;
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let expired = self.table.expire(context.processing_time_ms, EXPIRE_SCAN_MAX);
        expired.iter().for_each(|&slot| self.forget(slot));
        self.table.remove(&expired)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let slots = self.next_due(context.rows_max.max(1));
        if slots.is_empty() {
            self.until_ms = None;
            return Ok(None);
        }
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.output_row.len()];
        for (&column, values) in self.keys.iter().zip(self.table.keys(&slots)?) {
            columns[column] = Some(values);
        }
        for (&column, values) in self.rest.iter().zip(self.rows.columns(&slots)?) {
            columns[column] = Some(values);
        }
        let records = record_batch(self.output_row.arrow(), columns.into_iter().flatten().collect(), slots.len())?;
        for &slot in &slots {
            self.rows.clear(slot);
            self.fates[slot as usize] = Fate::Given;
        }
        self.table.written(&slots, context.processing_time_ms);
        Ok(Some(ChangelogBatch::inserts(records)))
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let taken = self.table.take(scope, KeyTable::live_slots);
        let waiting: Vec<u32> = taken.slots.iter().copied().filter(|&slot| self.rows.contains(slot)).collect();
        let values = self.rows.fields().iter().cloned().zip(self.rows.columns(&waiting)?).collect();
        let waiting = self.table.snapshot_by_key(WAITING, &taken, &waiting, values)?;
        let time = |slot: &u32| match self.fates[*slot as usize] {
            Fate::Waiting(time) => Some(time),
            Fate::Given | Fate::Unknown => None,
        };
        let times: Int64Array = taken.slots.iter().map(time).collect();
        let table = self.table.snapshot(&taken, vec![(time_field(), Arc::new(times) as ArrayRef)])?;
        let values = self.watermark_ms.map(|watermark_ms| (WATERMARK.to_string(), watermark_ms)).into_iter().collect();
        Ok(OperatorSnapshot { tables: vec![table, waiting], values })
    }

    fn wakes(&self) -> Wakes {
        Wakes::at_watermark(self.timers.first_time())
    }

    fn statistics(&self) -> OperatorStatistics {
        let own = self.fates.capacity() * size_of::<Fate>() + self.timers.heap_bytes();
        self.late.report(OperatorStatistics {
            state_entries: self.table.len() as u64,
            state_bytes: (self.table.heap_bytes() + self.rows.heap_bytes() + own) as u64,
            ..Default::default()
        })
    }
}
