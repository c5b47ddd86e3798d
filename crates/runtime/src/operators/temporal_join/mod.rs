//! Joins of rows with the versions of a table that were valid at their time, or that are valid now.

use super::EXPIRE_SCAN_MAX;
use super::kept_rows::{Hits, KeptRows, NO_ROW, PairCondition, key_fields, pick, set};
use super::output::{OutputQueue, record_batch};
use super::window::row_times;
use crate::alignment::WATERMARK_NONE;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, UInt8Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, SchemaRef, UInt8Type};
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Output, TemporalJoin};
use base::{ChangelogBatch, Result, RowKind};
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots, Timers};
use std::ops::Range;
use std::sync::Arc;

/// The names in snapshots.
const KEYS: &str = "keys";
const WAITING: &str = "waiting";
const VERSIONS: &str = "versions";
/// In [`TemporalJoinOperator::due`]: no timer.
const NEVER: i64 = i64::MAX;
/// The time of all rows where it is now that counts.
const NOW_MS: i64 = 0;
/// In the values of a snapshot: the right input had caught up.
const CAUGHT_UP: &str = "caught_up";
/// The kinds of rows that wait, as they are saved.
const KINDS: [RowKind; 4] = [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete];

/// Joins rows with the versions of a table.
///
/// * input: any kinds. A `-U` of the right side says nothing, a `-D` ends the version before it, a row with the time of a known
///   version takes its place. A `-D` without a time, which is what a bare key gives, takes the last version back
/// * output: left rows with the kind that they came with, when the watermark reaches their time; those of one key in the order
///   of their arrival
/// * state: by key, the left rows that wait, and the versions; of the versions that the watermark has passed the last one
/// * dropped: left rows when they have been given; versions when the watermark reaches the next one; a key that was not written
///   for the TTL
/// * late rows: a left row behind the watermark is given with the next one, and joined with the versions that are left then; a
///   late version counts like all others
///
/// Without rowtimes all rows have the same time, the one of now: a right row replaces the one before, and a left row is given
/// when it comes. Before the right input has caught up with what its tables held at the start, left rows wait, and event time
/// with them.
#[derive(Debug)]
pub struct TemporalJoinOperator {
    is_outer: bool,
    condition: Option<PairCondition>,
    output_schema: SchemaRef,
    own_groups: Range<u16>,
    /// `None`: the rows of now.
    rowtimes: Option<[usize; 2]>,
    /// Left rows need not wait for the right input's tables.
    has_tables: bool,
    expires: bool,

    /// The keys of both sides.
    table: KeyTable,
    left: KeptRows,
    /// By left row: its kind, and its place in the order of arrivals.
    kinds: Vec<u8>,
    arrivals: Vec<u64>,
    next_arrival: u64,
    right: KeptRows,
    /// By right row: whether nothing is valid from its time on.
    ends: Vec<bool>,
    /// By slot: the time of its timer.
    due: Vec<i64>,
    timers: Timers,

    /// Rows up to this time are to be given.
    until_ms: Option<i64>,
    /// Slots of the timer that is being served, the next one last, and the rows of the one that is being given.
    serving: Vec<u32>,
    serving_time: i64,
    giving: Option<Giving>,
    slots: Slots,
    output: OutputQueue,
}

/// Left rows of a slot that are due.
#[derive(Debug)]
struct Giving {
    slot: u32,
    rows: Vec<u32>,
    given: usize,
}

impl TemporalJoinOperator {
    /// The operator of one instance.
    pub fn new(node: &TemporalJoin, inputs: [&Output; 2], output: &Output, instance: Instance) -> Result<Self> {
        let [left, right] = inputs;
        let strict: Vec<bool> = node.keys.iter().map(|key| !key.null_safe).collect();
        let (left_keys, right_keys) = node.keys.iter().map(|key| (key.left, key.right)).unzip();
        let ttl_ms = node.state_ttl.map(|ttl| ttl.as_millis() as i64);
        let fields = key_fields(&node.keys, left);
        Ok(TemporalJoinOperator {
            is_outer: node.is_outer,
            condition: PairCondition::new(&node.condition, left, right),
            output_schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            rowtimes: node.rowtimes,
            has_tables: node.rowtimes.is_some(),
            expires: ttl_ms.is_some(),
            table: KeyTable::new(KeyTableSpec { name: KEYS, namespace: None, fields, ttl_ms })?,
            left: KeptRows::new(WAITING, left, left_keys, strict.clone(), node.rowtimes.map(|[left, _]| left))?,
            kinds: Vec::new(),
            arrivals: Vec::new(),
            next_arrival: 0,
            right: KeptRows::new(VERSIONS, right, right_keys, strict, node.rowtimes.map(|[_, right]| right))?,
            ends: Vec::new(),
            due: Vec::new(),
            timers: Timers::default(),
            until_ms: None,
            serving: Vec::new(),
            serving_time: 0,
            giving: None,
            slots: Slots::default(),
            output: OutputQueue::default(),
        })
    }

    fn resize(&mut self) {
        let slots = self.table.slots_len();
        self.left.rows.resize(slots);
        self.right.rows.resize(slots);
        self.due.resize(slots, NEVER);
    }

    fn add_left(&mut self, slot: u32, row: u32, kind: u8) {
        set(&mut self.kinds, row, kind);
        set(&mut self.arrivals, row, self.next_arrival);
        self.next_arrival += 1;
        self.schedule(slot);
    }

    /// Wakes a slot when its first left row is due, or its first version is over.
    fn schedule(&mut self, slot: u32) {
        let first = self.left.rows.at(slot, 0).map(|row| self.left.times[row as usize]);
        let second = self.right.rows.at(slot, 1).map(|row| self.right.times[row as usize]);
        let Some(due) = first.into_iter().chain(second).min() else { return };
        if due < self.due[slot as usize] {
            self.due[slot as usize] = due;
            self.timers.add(due, slot);
        }
    }

    /// The next slot with something due.
    fn next_slot(&mut self) -> Option<u32> {
        let until = self.until_ms?;
        loop {
            while let Some(slot) = self.serving.pop() {
                if self.due[slot as usize] == self.serving_time {
                    return Some(slot);
                }
            }
            self.timers.first_time().filter(|time| *time <= until)?;
            (self.serving_time, self.serving) = self.timers.pop_first()?;
            self.serving.reverse();
        }
    }

    /// The left rows of a slot that are due, in the order of their arrival.
    fn take_due(&mut self, slot: u32, until: i64) -> Giving {
        let times = &self.left.times;
        let mut rows = self.left.rows.take_front(slot, usize::MAX, |row| times[row as usize] <= until);
        rows.sort_unstable_by_key(|&row| self.arrivals[row as usize]);
        Giving { slot, rows, given: 0 }
    }

    /// Collects about `limit` due left rows, and their versions. Slots that are done come last.
    fn collect(&mut self, until: i64, limit: usize) -> (Vec<u32>, Vec<u32>, Vec<u32>, Vec<u32>) {
        let (mut rows, mut slots, mut versions, mut done) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        while rows.len() < limit && done.len() < limit {
            let mut giving = match self.giving.take() {
                Some(giving) => giving,
                None => match self.next_slot() {
                    Some(slot) => self.take_due(slot, until),
                    None => break,
                },
            };
            let to = giving.rows.len().min(giving.given + limit - rows.len());
            for &row in &giving.rows[giving.given..to] {
                let time = self.left.times[row as usize];
                let known = self.right.rows.count_before(giving.slot, |row| self.right.times[row as usize] <= time);
                let version = known.checked_sub(1).and_then(|last| self.right.rows.at(giving.slot, last));
                versions.push(version.filter(|&version| !self.ends[version as usize]).unwrap_or(NO_ROW));
                rows.push(row);
                slots.push(giving.slot);
            }
            giving.given = to;
            match to == giving.rows.len() {
                true => done.push(giving.slot),
                false => self.giving = Some(giving),
            }
        }
        (rows, slots, versions, done)
    }

    /// Gives the next rows that are due. Gives whether there may be more.
    fn give(&mut self, limit: usize) -> Result<bool> {
        let Some(until) = self.until_ms else { return Ok(false) };
        let (rows, slots, versions, done) = self.collect(until, limit);
        if rows.is_empty() && done.is_empty() {
            self.until_ms = None;
            return Ok(false);
        }
        self.emit(&rows, &slots, versions)?;
        for &slot in &done {
            let times = &self.right.times;
            let passed = self.right.rows.count_before(slot, |row| times[row as usize] <= until);
            self.right.rows.take_front(slot, passed.saturating_sub(1), |_| true);
            self.due[slot as usize] = NEVER;
            self.schedule(slot);
        }
        if self.giving.is_none() {
            self.left.rows.release();
        }
        self.right.rows.release();
        self.release(done)?;
        Ok(true)
    }

    fn release(&mut self, mut slots: Vec<u32>) -> Result<()> {
        slots.retain(|&slot| self.left.rows.len(slot) == 0 && self.right.rows.len(slot) == 0);
        slots.sort_unstable();
        slots.dedup();
        slots.iter().for_each(|&slot| self.due[slot as usize] = NEVER);
        self.table.remove(&slots)
    }

    fn emit(&mut self, rows: &[u32], slots: &[u32], mut versions: Vec<u32>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let keys = self.table.keys(slots)?;
        let left = self.left.columns(rows, &keys)?;
        // By row of the output: the place of its version among those that are decoded.
        let found: Vec<u32> = (0..rows.len() as u32).filter(|&row| versions[row as usize] != NO_ROW).collect();
        let kept: Vec<u32> = found.iter().map(|&row| versions[row as usize]).collect();
        let found_keys = keys.iter().map(|key| pick(key, &found)).collect::<Result<Vec<_>>>()?;
        let right = self.right.columns(&kept, &found_keys)?;
        let mut hits = Hits::default();
        if let (Some(condition), false) = (&self.condition, found.is_empty()) {
            let left = left.iter().map(|column| pick(column, &found)).collect::<Result<Vec<_>>>()?;
            hits = condition.evaluate(left, right.clone(), found.len())?;
        }
        for (place, &row) in found.iter().enumerate() {
            versions[row as usize] = if hits.contains(place) { place as u32 } else { NO_ROW };
        }
        let is_shown = |row: &u32| self.is_outer || versions[*row as usize] != NO_ROW;
        let shown: Vec<u32> = (0..rows.len() as u32).filter(is_shown).collect();
        if shown.is_empty() {
            return Ok(());
        }
        let versions: Vec<u32> = shown.iter().map(|&row| versions[row as usize]).collect();
        let right = if found.is_empty() { self.right.nulls(1) } else { right };
        let indexes: Vec<u32> = if found.is_empty() { vec![0; shown.len()] } else { versions };
        let mut columns = left.iter().map(|column| pick(column, &shown)).collect::<Result<Vec<_>>>()?;
        for column in &right {
            columns.push(pick(column, &indexes)?);
        }
        let kinds: Vec<RowKind> =
            shown.iter().map(|&row| KINDS[usize::from(self.kinds[rows[row as usize] as usize])]).collect();
        let records = record_batch(&self.output_schema, columns, shown.len())?;
        self.output.push(ChangelogBatch::new(records, kinds));
        Ok(())
    }

    fn on_left(&mut self, batch: &ChangelogBatch, slots: &[u32], keys: &[ArrayRef]) -> Result<()> {
        let times = match self.rowtimes {
            Some([left, _]) => row_times(batch.records(), left)?,
            None => Int64Array::from(vec![NOW_MS; batch.num_rows()]),
        };
        let encoded = self.left.encode(batch)?;
        let unmatchable = self.left.unmatchable(keys).filter(|_| !self.is_outer);
        for (row, &slot) in slots.iter().enumerate() {
            if unmatchable.as_ref().is_some_and(|rows| rows[row]) {
                continue;
            }
            let kept = self.left.insert(slot, &encoded, row, times.value(row));
            let kind = KINDS.iter().position(|kind| *kind == batch.kind(row)).unwrap_or_default();
            self.add_left(slot, kept, kind as u8);
        }
        if self.rowtimes.is_none() && self.has_tables {
            self.until_ms = Some(NOW_MS);
        }
        Ok(())
    }

    fn on_right(&mut self, batch: &ChangelogBatch, slots: &[u32], keys: &[ArrayRef]) -> Result<()> {
        let Some([_, rowtime]) = self.rowtimes else { return self.on_right_now(batch, slots, keys) };
        let times = base::time::epoch_ms(batch.records().column(rowtime))?;
        let encoded = self.right.encode(batch)?;
        let unmatchable = self.right.unmatchable(keys);
        for (row, &slot) in slots.iter().enumerate() {
            let kind = batch.kind(row);
            if kind == RowKind::UpdateBefore || unmatchable.as_ref().is_some_and(|rows| rows[row]) {
                continue;
            }
            if times.is_null(row) {
                if kind.is_addition() {
                    // The error says which column.
                    row_times(batch.slice(row, 1).records(), rowtime)?;
                }
                if let Some(last) = self.right.rows.last(slot) {
                    self.ends[last as usize] = true;
                    self.right.rows.changed(last);
                }
                continue;
            }
            let time = times.value(row);
            let before = self.right.rows.count_before(slot, |kept| self.right.times[kept as usize] < time);
            let same = self.right.rows.at(slot, before).filter(|&kept| self.right.times[kept as usize] == time);
            let kept = match same {
                // Times that differ below the millisecond are one version.
                Some(kept) => {
                    self.right.rows.remove(slot, kept);
                    self.right.insert(slot, &encoded, row, time)
                }
                None => self.right.insert(slot, &encoded, row, time),
            };
            set(&mut self.ends, kept, !kind.is_addition());
            self.schedule(slot);
        }
        self.right.rows.release();
        Ok(())
    }
}

impl TemporalJoinOperator {
    /// The row of now takes the place of the one before.
    fn on_right_now(&mut self, batch: &ChangelogBatch, slots: &[u32], keys: &[ArrayRef]) -> Result<()> {
        let encoded = self.right.encode(batch)?;
        let unmatchable = self.right.unmatchable(keys);
        for (row, &slot) in slots.iter().enumerate() {
            let kind = batch.kind(row);
            if kind == RowKind::UpdateBefore || unmatchable.as_ref().is_some_and(|rows| rows[row]) {
                continue;
            }
            if let Some(before) = self.right.rows.at(slot, 0) {
                self.right.rows.remove(slot, before);
            }
            if kind.is_addition() {
                let kept = self.right.insert(slot, &encoded, row, NOW_MS);
                set(&mut self.ends, kept, false);
            }
        }
        self.right.rows.release();
        Ok(())
    }
}

fn waiting_fields() -> [FieldRef; 2] {
    let field = |name: &str, data_type| Arc::new(Field::new(name, data_type, false));
    [field("time_ms", DataType::Int64), field("kind", DataType::UInt8)]
}

fn version_fields() -> [FieldRef; 2] {
    let field = |name: &str, data_type| Arc::new(Field::new(name, data_type, false));
    [field("time_ms", DataType::Int64), field("is_end", DataType::Boolean)]
}

impl Operator for TemporalJoinOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let times = |restored: &state::Restored| Ok(restored.values[0].as_primitive::<Int64Type>().values().to_vec());
        for snapshot in restored {
            if let Some(table) = snapshot.table(VERSIONS) {
                let groups = self.own_groups.clone();
                let (restored, rows) = self.right.restore(&mut self.table, table, groups, &version_fields(), times)?;
                let ends = restored.values[1].as_boolean();
                rows.iter().enumerate().for_each(|(at, &row)| set(&mut self.ends, row, ends.value(at)));
                self.resize();
            }
            if let Some(table) = snapshot.table(WAITING) {
                let groups = self.own_groups.clone();
                let (restored, rows) = self.left.restore(&mut self.table, table, groups, &waiting_fields(), times)?;
                self.resize();
                let kinds = restored.values[1].as_primitive::<UInt8Type>().values();
                for ((&row, &slot), &kind) in rows.iter().zip(&restored.slots).zip(kinds) {
                    self.add_left(slot, row, kind.min(KINDS.len() as u8 - 1));
                }
            }
            if let Some(keys) = snapshot.table(KEYS).filter(|_| self.expires) {
                self.table.restore(keys, self.own_groups.clone(), &[])?;
                self.resize();
            }
        }
        let had_tables = |snapshot: &OperatorSnapshot| snapshot.values.contains_key(CAUGHT_UP);
        self.has_tables |= !restored.is_empty() && restored.iter().all(had_tables);
        self.resize();
        self.table.live_slots().into_iter().for_each(|slot| self.schedule(slot));
        Ok(())
    }

    fn on_batch(&mut self, input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let keys = if input == 0 { self.left.key_columns(&batch) } else { self.right.key_columns(&batch) };
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        self.resize();
        let slots = std::mem::take(&mut self.slots.rows);
        match input {
            0 => self.on_left(&batch, &slots, &keys)?,
            _ => self.on_right(&batch, &slots, &keys)?,
        }
        if self.expires {
            self.table.written(&slots, context.processing_time_ms);
        }
        self.release(slots)
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        if self.rowtimes.is_some() {
            self.until_ms = self.until_ms.max(Some(watermark_ms));
        }
        Ok(())
    }

    fn output_watermark(&self, watermark_ms: i64) -> i64 {
        if self.has_tables { watermark_ms } else { WATERMARK_NONE }
    }

    fn on_caught_up(&mut self, input: usize, _context: &OperatorContext) -> Result<()> {
        if input == 1 && self.rowtimes.is_none() {
            self.has_tables = true;
            self.until_ms = Some(NOW_MS);
        }
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let expired = self.table.expire(context.processing_time_ms, EXPIRE_SCAN_MAX);
        for &slot in &expired {
            self.left.rows.clear(slot);
            self.right.rows.clear(slot);
        }
        self.left.rows.release();
        self.right.rows.release();
        self.release(expired)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let rows_max = context.rows_max.max(1);
        loop {
            if let Some(batch) = self.output.next(rows_max) {
                return Ok(Some(batch));
            }
            if !self.give(rows_max)? {
                return Ok(None);
            }
        }
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let times = |times: &[i64], rows: &[u32]| -> ArrayRef {
            Arc::new(rows.iter().map(|&row| Some(times[row as usize])).collect::<Int64Array>())
        };
        let versions = self.right.snapshot(&self.table, scope, |rows, of_row| {
            let ends: BooleanArray = rows.iter().map(|&row| Some(self.ends[row as usize])).collect();
            version_fields().into_iter().zip([times(of_row, rows), Arc::new(ends)]).collect()
        })?;
        let waiting = self.left.snapshot(&self.table, scope, |rows, of_row| {
            let kinds: UInt8Array = rows.iter().map(|&row| Some(self.kinds[row as usize])).collect();
            waiting_fields().into_iter().zip([times(of_row, rows), Arc::new(kinds)]).collect()
        })?;
        let mut tables = vec![versions, waiting];
        if self.expires {
            // When they were written last.
            let keys = self.table.take_beside_rows(scope, KeyTable::live_slots);
            tables.push(self.table.snapshot(&keys, Vec::new())?);
        }
        let caught_up = (self.rowtimes.is_none() && self.has_tables).then(|| (CAUGHT_UP.to_string(), 1));
        Ok(OperatorSnapshot { tables, values: caught_up.into_iter().collect() })
    }

    fn wakes(&self) -> Wakes {
        Wakes::at_watermark(self.timers.first_time())
    }

    fn statistics(&self) -> OperatorStatistics {
        let by_row =
            self.kinds.capacity() + self.ends.capacity() + (self.arrivals.capacity() + self.due.capacity()) * 8;
        let bytes =
            self.table.heap_bytes() + self.left.heap_bytes() + self.right.heap_bytes() + self.timers.heap_bytes();
        OperatorStatistics {
            state_entries: (self.left.rows.rows() + self.right.rows.rows()) as u64,
            state_bytes: (bytes + by_row) as u64,
            ..Default::default()
        }
    }
}
