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
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots, TableSnapshot};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

/// The name in snapshots.
const TABLE: &str = "sessions";
/// The time's name in snapshots.
const NOW: &str = "watermark_ms";
/// The names of the times of a session in snapshots.
const START: &str = "start";
const END: &str = "end";

/// What sessions hold, by their slots.
pub(super) trait Contents {
    /// Makes slots `0..slots` usable.
    fn resize(&mut self, slots: usize);

    /// Rows of a batch come into sessions.
    fn add(&mut self, batch: &ChangelogBatch, placed: Placed<'_>) -> Result<()>;

    /// Session `into` takes in what `from` holds, which is empty then.
    fn merge(&mut self, into: u32, from: u32) -> Result<()>;
}

/// Rows of a batch that are in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    /// Their places in the batch.
    pub rows: &'a [u32],
    /// The slots of their sessions.
    pub sessions: &'a [u32],
    /// The slots of their keys: [`SessionWindows::snapshot_rows`] wants them.
    pub keys: &'a [u32],
    /// Where their own spans start.
    pub starts: &'a [i64],
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
    row_sessions: Vec<u32>,
    row_keys: Vec<u32>,
    row_starts: Vec<i64>,
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
            row_sessions: Vec::new(),
            row_keys: Vec::new(),
            row_starts: Vec::new(),
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
        for (row, (&key, &time)) in key_slots.rows.iter().zip(times.iter()).enumerate() {
            let start = self.assigner.local(time);
            let end = start.saturating_add(self.gap_ms);
            let place = self.list.place(key, start, end);
            if matches!(place, Place::Behind(_)) && frontier.is_over(&self.assigner, end) {
                let now_ms = self.time.now_ms().unwrap_or(i64::MIN);
                self.late.add_row(row as u32, || self.assigner.late_text(self.time.name(), time, now_ms));
                continue;
            }
            let session = self.put(key, place, start, end);
            if !self.merged.is_empty() {
                // The rows so far come first: what a session holds may depend on their order.
                self.flush(&batch, contents)?;
                self.merge(session, contents)?;
            }
            self.rows.push(row as u32);
            self.row_sessions.push(session);
            self.row_keys.push(key);
            self.row_starts.push(start);
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

    /// Puts a row into a session of its key. The sessions that it joins are in `merged` then.
    fn put(&mut self, key: u32, place: Place, start: i64, end: i64) -> u32 {
        match place {
            Place::Behind(behind) => {
                let session = self.list.begin(key, behind, start, end);
                self.timers.push(Reverse((end, session)));
                session
            }
            Place::In(session) => {
                self.list.extend(session, start, end, &mut self.merged);
                session
            }
        }
    }

    fn flush(&mut self, batch: &ChangelogBatch, contents: &mut impl Contents) -> Result<()> {
        contents.resize(self.list.slots_len());
        if !self.rows.is_empty() {
            let (rows, sessions) = (&self.rows, &self.row_sessions);
            contents.add(batch, Placed { rows, sessions, keys: &self.row_keys, starts: &self.row_starts })?;
        }
        self.rows.clear();
        self.row_sessions.clear();
        self.row_keys.clear();
        self.row_starts.clear();
        Ok(())
    }

    fn merge(&mut self, into: u32, contents: &mut impl Contents) -> Result<()> {
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

    /// The sessions as a table, all or those that changed since the last snapshot, one row each, with the columns that
    /// `contents` gives of them.
    pub fn snapshot(
        &mut self,
        scope: Scope,
        contents: impl FnOnce(&[u32]) -> Result<Vec<(FieldRef, ArrayRef)>>,
    ) -> Result<OperatorSnapshot> {
        let (sessions, numbers, gone) = self.list.take(scope);
        let (starts, ends) = self.spans(&sessions);
        let mut columns = vec![long(START, starts), long(END, ends)];
        columns.extend(contents(&sessions)?);
        let keys = self.key_slots(&sessions);
        self.whole(self.table.snapshot_numbered(TABLE, gone, &keys, &numbers, false, columns)?)
    }

    /// Rows of sessions as a table, as their owner has numbered them: their keys, where their own spans start, what is kept of
    /// them. That is enough: sessions are what their rows span.
    pub fn snapshot_rows(
        &self,
        gone: Option<Vec<u32>>,
        keys: &[u32],
        numbers: &[u32],
        starts: Vec<i64>,
        kept: Vec<(FieldRef, ArrayRef)>,
    ) -> Result<OperatorSnapshot> {
        let columns = std::iter::once(long(START, starts)).chain(kept).collect();
        self.whole(self.table.snapshot_numbered(TABLE, gone, keys, numbers, false, columns)?)
    }

    fn whole(&self, table: TableSnapshot) -> Result<OperatorSnapshot> {
        let values = self.time.now_ms().map(|now_ms| (NOW.to_string(), now_ms));
        Ok(OperatorSnapshot { tables: vec![table], values: values.into_iter().collect() })
    }

    /// The tables of sessions in the snapshots of the last run; time goes on from there.
    pub fn restored<'a>(&mut self, snapshots: &'a [OperatorSnapshot]) -> Vec<&'a TableSnapshot> {
        // Instances agree on the watermark when a barrier is aligned; if they ever do not, the smallest loses no row.
        self.time.restore(snapshots.iter().map(|snapshot| snapshot.values.get(NOW).copied()).min().flatten());
        snapshots.iter().filter_map(|snapshot| snapshot.table(TABLE)).collect()
    }

    /// Takes over the own sessions of a table that [`SessionWindows::snapshot`] gave: their slots, and the columns of their
    /// contents.
    pub fn restore(&mut self, table: &TableSnapshot, contents: &[FieldRef]) -> Result<(Vec<u32>, Vec<ArrayRef>)> {
        let (keys, values) = self.restore_keys(table, &[START, END], contents)?;
        let (starts, ends) = (values[0].as_primitive::<Int64Type>(), values[1].as_primitive::<Int64Type>());
        let mut sessions = Vec::with_capacity(keys.len());
        for (row, &key) in keys.iter().enumerate() {
            let (start, end) = (starts.value(row), ends.value(row));
            let place = self.list.place(key, start, end);
            if matches!(place, Place::In(_)) {
                return Err(Error::internal("a snapshot with sessions that touch"));
            }
            sessions.push(self.put(key, place, start, end));
        }
        Ok((sessions, values[2..].to_vec()))
    }

    /// The own rows of a table that [`SessionWindows::snapshot_rows`] gave: their keys, then as columns where their own spans
    /// start and what is kept of them. [`SessionWindows::join`] is to be called for each.
    pub fn restore_rows(&mut self, table: &TableSnapshot, kept: &[FieldRef]) -> Result<(Vec<u32>, Vec<ArrayRef>)> {
        self.restore_keys(table, &[START], kept)
    }

    /// Puts a row back whose own span starts there; gives its session.
    pub fn join(&mut self, key: u32, start: i64, contents: &mut impl Contents) -> Result<u32> {
        let end = start.saturating_add(self.gap_ms);
        let session = self.put(key, self.list.place(key, start, end), start, end);
        contents.resize(self.list.slots_len());
        self.merge(session, contents)?;
        Ok(session)
    }

    fn restore_keys(
        &mut self,
        table: &TableSnapshot,
        own: &[&str],
        contents: &[FieldRef],
    ) -> Result<(Vec<u32>, Vec<ArrayRef>)> {
        let fields: Vec<FieldRef> = own.iter().map(|name| long_field(name)).chain(contents.iter().cloned()).collect();
        let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
        self.list.resize_keys(self.table.slots_len());
        Ok((restored.slots, restored.values))
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

fn long_field(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Int64, false))
}

fn long(name: &str, values: Vec<i64>) -> (FieldRef, ArrayRef) {
    (long_field(name), Arc::new(Int64Array::from(values)))
}
