//! Session windows of keys: which session a row belongs to, and when sessions are over.
//!
//! What a session holds is its owner's: accumulators, rows. It is kept by the slot of the session, and told of merges through
//! [`Contents`].

mod list;

use super::late::LateRows;
use super::window::{WindowAssigner, WindowFrontier};
use super::window_time::WindowTime;
use crate::operator::{OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use base::key::groups_of_instance;
use base::plan::{Output, Window, WindowKind};
use base::{ChangelogBatch, Error, Result};
use list::{Place, SessionList};
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Slots, TableSnapshot};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

/// The name in snapshots.
const TABLE: &str = "sessions";
/// The time's name in snapshots.
const NOW: &str = "watermark_ms";

/// What sessions hold, by their slots.
pub(super) trait Contents {
    /// Makes slots `0..slots` usable.
    fn resize(&mut self, slots: usize);

    /// Rows of a batch come into sessions.
    fn add(&mut self, batch: &ChangelogBatch, rows: &[u32], slots: &[u32]) -> Result<()>;

    /// Session `into` takes in what `from` holds, which is empty then.
    fn merge(&mut self, into: u32, from: u32) -> Result<()>;
}

/// The open sessions of an operator instance.
///
/// A row spans the time from its own to the end of the gap, and joins all sessions that it touches into one. It is late only
/// if it touches none and its own span is over. The end of a session is its timer; one that has grown by then gets another.
#[derive(Debug)]
pub(super) struct SessionWindows {
    assigner: WindowAssigner,
    gap_ms: i64,
    time: WindowTime,
    keys: Vec<usize>,
    own_groups: Range<u16>,

    table: KeyTable,
    list: SessionList,
    timers: BinaryHeap<Reverse<(i64, u32)>>,

    /// Sessions that are over are given out until this time.
    firing_until_ms: Option<i64>,
    /// Sessions of one end that are over, in the order in which they began, and how many of them have been given out.
    due: Vec<u32>,
    given: usize,

    slots: Slots,
    rows: Vec<u32>,
    row_slots: Vec<u32>,
    merged: Vec<u32>,
    late: LateRows,
}

impl SessionWindows {
    /// No session.
    ///
    /// # Errors
    /// Keys of a type that cannot be a key.
    pub fn new(
        window: &Window,
        keys: &[usize],
        input: &Output,
        instance: base::connector::Instance,
        drops_null: bool,
    ) -> Result<SessionWindows> {
        let WindowKind::Session { gap_ms } = window.kind else {
            return Err(Error::internal(format!("sessions of {:?}", window.kind)));
        };
        let schema = input.row.arrow();
        let fields: Vec<FieldRef> = keys.iter().map(|&key| schema.fields()[key].clone()).collect();
        Ok(SessionWindows {
            assigner: WindowAssigner::new(window)?,
            gap_ms,
            time: WindowTime::new(window, schema, drops_null),
            keys: keys.to_vec(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: TABLE, namespace: None, fields, ttl_ms: None })?,
            list: SessionList::default(),
            timers: BinaryHeap::new(),
            firing_until_ms: None,
            due: Vec::new(),
            given: 0,
            slots: Slots::default(),
            rows: Vec::new(),
            row_slots: Vec::new(),
            merged: Vec::new(),
            late: LateRows::default(),
        })
    }

    /// The clock of the windows.
    pub fn assigner(&self) -> &WindowAssigner {
        &self.assigner
    }

    /// Puts rows into sessions. Rows that are late are left out.
    pub fn add(
        &mut self,
        batch: ChangelogBatch,
        context: &OperatorContext,
        contents: &mut impl Contents,
    ) -> Result<()> {
        let (batch, times) = self.time.rows(batch, context)?;
        if batch.is_empty() {
            return Ok(());
        }
        let keys: Vec<ArrayRef> = self.keys.iter().map(|&key| batch.records().column(key).clone()).collect();
        self.table
            .lookup_or_insert(KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() }, &mut self.slots)?;
        self.list.resize_keys(self.table.slots_len());
        let key_slots = std::mem::take(&mut self.slots);
        let mut frontier = WindowFrontier::new(self.time.now_ms());
        self.rows.clear();
        self.row_slots.clear();
        for (row, (&key, &time)) in key_slots.rows.iter().zip(times.iter()).enumerate() {
            let start = self.assigner.local(time);
            let end = start.saturating_add(self.gap_ms);
            let slot = match self.list.place(key, start, end) {
                Place::Behind(_) if frontier.is_over(&self.assigner, end) => {
                    let now_ms = self.time.now_ms().unwrap_or(i64::MIN);
                    self.late.add_row(row as u32, || self.assigner.late_text(self.time.name(), time, now_ms));
                    continue;
                }
                Place::Behind(behind) => {
                    let slot = self.list.begin(key, behind, start, end);
                    self.timers.push(Reverse((end, slot)));
                    slot
                }
                Place::In(slot) => {
                    self.list.extend(slot, start, end, &mut self.merged);
                    if !self.merged.is_empty() {
                        self.merge(&batch, slot, contents)?;
                    }
                    slot
                }
            };
            self.rows.push(row as u32);
            self.row_slots.push(slot);
        }
        self.flush(&batch, contents)?;
        self.late.batch(&batch)?;
        // A key of late rows only.
        let unused = key_slots.new.iter().copied().filter(|&key| self.list.is_empty(key)).collect::<Vec<_>>();
        self.table.remove(&unused)?;
        self.table.written(&key_slots.rows, 0);
        self.slots = key_slots;
        Ok(())
    }

    fn flush(&mut self, batch: &ChangelogBatch, contents: &mut impl Contents) -> Result<()> {
        contents.resize(self.list.slots_len());
        if !self.rows.is_empty() {
            contents.add(batch, &self.rows, &self.row_slots)?;
        }
        self.rows.clear();
        self.row_slots.clear();
        Ok(())
    }

    /// The rows so far come first: what a session holds may depend on their order.
    fn merge(&mut self, batch: &ChangelogBatch, into: u32, contents: &mut impl Contents) -> Result<()> {
        self.flush(batch, contents)?;
        for from in self.merged.drain(..) {
            contents.merge(into, from)?;
        }
        Ok(())
    }

    /// Late rows are kept from now on.
    pub fn keep_late(&mut self) {
        self.late.keep();
    }

    /// The late rows since the last call.
    pub fn take_late(&mut self) -> Vec<ChangelogBatch> {
        self.late.take()
    }

    /// The watermark has advanced.
    pub fn on_watermark(&mut self, watermark_ms: i64) {
        self.firing_until_ms = self.firing_until_ms.max(self.time.on_watermark(watermark_ms));
    }

    /// The clock has advanced.
    pub fn on_processing_time(&mut self, context: &OperatorContext) {
        self.firing_until_ms = self.firing_until_ms.max(self.time.on_processing_time(context));
    }

    /// When the next session may be over.
    pub fn wakes(&self) -> Wakes {
        let first = self.timers.peek().map(|Reverse((end, _))| self.assigner.fires_at(*end));
        self.time.wakes(first)
    }

    /// The next sessions that are over, at most `rows_max`, in the order of their ends, then of their beginnings. They are to be
    /// given to [`SessionWindows::remove`].
    pub fn next_over(&mut self, rows_max: usize) -> Vec<u32> {
        let mut out = Vec::new();
        let Some(until_ms) = self.firing_until_ms else { return out };
        while out.len() < rows_max {
            if self.given == self.due.len() && !self.collect(until_ms) {
                self.firing_until_ms = None;
                break;
            }
            let count = (rows_max - out.len()).min(self.due.len() - self.given);
            out.extend_from_slice(&self.due[self.given..self.given + count]);
            self.given += count;
        }
        out
    }

    /// Collects the sessions of the next end that has come.
    fn collect(&mut self, until_ms: i64) -> bool {
        self.due.clear();
        self.given = 0;
        let mut end_ms = None;
        while let Some(&Reverse((timer_ms, slot))) = self.timers.peek() {
            if end_ms.is_none_or(|end_ms| end_ms != timer_ms) {
                if !self.due.is_empty() || self.assigner.fires_at(timer_ms) > until_ms {
                    break;
                }
                end_ms = Some(timer_ms);
            }
            self.timers.pop();
            match self.list.key(slot) {
                None => self.list.remove(slot),
                Some(_) if self.list.end(slot) > timer_ms => self.timers.push(Reverse((self.list.end(slot), slot))),
                Some(_) => self.due.push(slot),
            }
        }
        self.due.sort_unstable_by_key(|&slot| self.list.birth(slot));
        !self.due.is_empty()
    }

    /// The key columns of sessions.
    pub fn key_columns(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        self.table.keys(&self.key_slots(slots))
    }

    fn key_slots(&self, slots: &[u32]) -> Vec<u32> {
        slots.iter().filter_map(|&slot| self.list.key(slot)).collect()
    }

    /// The starts and the ends of sessions.
    pub fn spans(&self, slots: &[u32]) -> (Vec<i64>, Vec<i64>) {
        slots.iter().map(|&slot| (self.list.start(slot), self.list.end(slot))).unzip()
    }

    /// Forgets sessions that were given out; their contents must be gone.
    pub fn remove(&mut self, slots: &[u32]) -> Result<()> {
        let mut keys = self.key_slots(slots);
        slots.iter().for_each(|&slot| self.list.remove(slot));
        keys.sort_unstable();
        keys.dedup();
        keys.retain(|&key| self.list.is_empty(key));
        self.table.remove(&keys)
    }

    /// The sessions as a table with these columns of contents. The contents are asked for by slots; they give one or more rows
    /// per slot, and the slot of each.
    pub fn snapshot(
        &self,
        contents: impl FnOnce(Vec<u32>) -> Result<(Vec<u32>, Vec<(FieldRef, ArrayRef)>)>,
    ) -> Result<OperatorSnapshot> {
        let (slots, held) = contents(self.list.slots())?;
        let (starts, ends) = self.spans(&slots);
        let [start, end] = span_fields();
        let mut columns: Vec<(FieldRef, ArrayRef)> =
            vec![(start, Arc::new(Int64Array::from(starts))), (end, Arc::new(Int64Array::from(ends)))];
        columns.extend(held);
        let table = self.table.snapshot_rows(TABLE, &self.key_slots(&slots), columns)?;
        let values = self.time.now_ms().map(|now_ms| (NOW.to_string(), now_ms));
        Ok(OperatorSnapshot { tables: vec![table], values: values.into_iter().collect() })
    }

    /// The tables of sessions in the snapshots of the last run; time goes on from there.
    pub fn restored<'a>(&mut self, snapshots: &'a [OperatorSnapshot]) -> Vec<&'a TableSnapshot> {
        // Instances agree on the watermark when a barrier is aligned; if they ever do not, the smallest loses no row.
        self.time.restore(snapshots.iter().map(|snapshot| snapshot.values.get(NOW).copied()).min().flatten());
        snapshots.iter().filter_map(|snapshot| snapshot.table(TABLE)).collect()
    }

    /// Takes over the own sessions of a table: their slots, and the columns of their contents.
    pub fn restore(&mut self, table: &TableSnapshot, contents: &[FieldRef]) -> Result<(Vec<u32>, Vec<ArrayRef>)> {
        let fields: Vec<FieldRef> = span_fields().into_iter().chain(contents.iter().cloned()).collect();
        let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
        self.list.resize_keys(self.table.slots_len());
        let (starts, ends) =
            (restored.values[0].as_primitive::<Int64Type>(), restored.values[1].as_primitive::<Int64Type>());
        let mut slots = Vec::with_capacity(restored.slots.len());
        for (row, &key) in restored.slots.iter().enumerate() {
            let (start, end) = (starts.value(row), ends.value(row));
            slots.push(match self.list.place(key, start, end) {
                // Another row of its contents.
                Place::In(slot) if self.list.start(slot) == start => slot,
                Place::In(_) => return Err(Error::internal("a snapshot with sessions that touch")),
                Place::Behind(behind) => {
                    let slot = self.list.begin(key, behind, start, end);
                    self.timers.push(Reverse((end, slot)));
                    slot
                }
            });
        }
        Ok((slots, restored.values[2..].to_vec()))
    }

    /// The slots that contents must have room for.
    pub fn slots_len(&self) -> usize {
        self.list.slots_len()
    }

    /// The counts of the sessions, with the bytes of their contents.
    pub fn statistics(&self, contents_bytes: usize) -> OperatorStatistics {
        let timers = self.timers.capacity() * size_of::<(i64, u32)>();
        let bytes = self.table.heap_bytes() + self.list.heap_bytes() + timers + contents_bytes;
        self.late.report(OperatorStatistics {
            dropped_rows: self.time.dropped(),
            state_entries: self.list.len() as u64,
            state_bytes: bytes as u64,
            ..Default::default()
        })
    }
}

fn span_fields() -> [FieldRef; 2] {
    ["start", "end"].map(|name| Arc::new(Field::new(name, DataType::Int64, false)))
}
