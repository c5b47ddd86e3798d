//! OVER windows in the order of time: rows wait for the watermark, or are taken as they come.

use super::calls::Calls;
use super::frames::{Frames, HISTORY, Ordered};
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use crate::operators::EXPIRE_SCAN_MAX;
use crate::operators::output::{OutputQueue, record_batch};
use crate::operators::window::{readable_time, row_times};
use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, SchemaRef};
use base::config::JobConfig;
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Output, OverAggregate, OverFrame, OverTime};
use base::text::zone_offset_ms;
use base::{ChangelogBatch, Error, LogicalType, Result};
use state::{
    KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, RowNumbers, RowStore, Scope, Slots, TableSnapshot, TakenKeys,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

/// The table of partitions in snapshots.
const TABLE: &str = "partitions";
/// The rows that wait for the watermark, in snapshots.
const WAITING: &str = "waiting";
/// When frames are cleared, in snapshots.
const CLEARING: &str = "clearing";
/// The watermark's name in snapshots.
const WATERMARK: &str = "watermark_ms";

/// How far a partition has come.
#[derive(Debug, Clone, Copy)]
struct Progress {
    /// Rows up to here are late.
    done_ms: i64,
    /// When the watermark reaches this, no frame to come has any of the rows.
    clear_ms: i64,
    /// Rows that wait.
    waiting: u32,
}

const NOT_BEGUN: Progress = Progress { done_ms: i64::MIN, clear_ms: i64::MIN, waiting: 0 };

/// A row that waits: its time, the number of its arrival, where it is stored.
type Waiting = Reverse<(i64, u64, u32)>;

/// OVER windows over a time attribute.
///
/// * input: inserts
/// * output: inserts, the input's columns and one per call. By rowtime: when the watermark reaches the time of a row,
///   in the order of times, then of arrival. By processing time: at once
/// * state: per partition the accumulators and the numbers of its rows; the arguments of the rows of a bounded frame,
///   and of those that LAG looks back to; the rows that wait; the watermark
/// * dropped: rows that leave their frame; with a state TTL, partitions not written for so long
/// * late rows: are dropped and counted. With an unbounded frame those at or behind the watermark, with a bounded frame
///   those at or before the last row that their partition has given, until a partition of a RANGE is cleared
/// * NULL in the time column fails the job
#[derive(Debug)]
pub struct OverByTime {
    partition: Vec<usize>,
    frame: OverFrame,
    /// The rowtime column; `None` for processing time.
    rowtime: Option<usize>,
    /// The column of processing time.
    proctime: Option<usize>,
    /// The job's configuration if times are shown in its zone.
    zone: Option<JobConfig>,
    time_name: String,
    schema: SchemaRef,
    own_groups: Range<u16>,

    table: KeyTable,
    frames: Frames,
    progress: Vec<Progress>,
    /// The rows that wait, by the numbers of `waiting`.
    rows: RowStore,
    owners: Vec<u32>,
    free: Vec<u32>,
    /// By row that waits.
    numbers: RowNumbers,
    waiting: BinaryHeap<Waiting>,
    arrivals: u64,
    /// When to clear which partitions; put off where [`Progress::clear_ms`] is another.
    clearing: BinaryHeap<Reverse<(i64, u32)>>,
    /// The last watermark, also that of the run before.
    watermark_ms: Option<i64>,
    /// Rows up to here are to be given out.
    firing_until: Option<i64>,
    output: OutputQueue,

    slots: Slots,
    late_rows: u64,
    late_sample: Option<String>,
}

impl OverByTime {
    /// The operator of one instance.
    ///
    /// # Errors
    /// Functions that need rows which have not come yet.
    pub fn new(
        node: &OverAggregate,
        input: &Output,
        output: &Output,
        instance: Instance,
        config: &JobConfig,
    ) -> Result<Self> {
        let fields: Vec<FieldRef> = node.partition.iter().map(|&key| input.row.arrow().fields()[key].clone()).collect();
        let ttl_ms = node.state_ttl.map(|ttl| ttl.as_millis() as i64);
        let (rowtime, proctime) = match node.time {
            OverTime::Rowtime(column) => (Some(column), None),
            _ => (None, node.order.first().map(|key| key.column)),
        };
        let time_field = rowtime.and_then(|column| input.row.fields().get(column));
        let is_instant = time_field.is_some_and(|field| matches!(field.sql_type.logical, LogicalType::TimestampLtz(_)));
        Ok(OverByTime {
            partition: node.partition.clone(),
            frame: node.frame,
            rowtime,
            proctime,
            zone: is_instant.then(|| config.clone()),
            time_name: time_field.map(|field| field.name.clone()).unwrap_or_default(),
            schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: TABLE, namespace: None, fields, ttl_ms })?,
            frames: Frames::new(Calls::new(&node.calls, &input.row)?, node.frame)?,
            progress: Vec::new(),
            rows: RowStore::new(input.row.arrow().fields().iter().cloned().collect())?,
            owners: Vec::new(),
            free: Vec::new(),
            numbers: RowNumbers::default(),
            waiting: BinaryHeap::new(),
            arrivals: 0,
            clearing: BinaryHeap::new(),
            watermark_ms: None,
            firing_until: None,
            output: OutputQueue::default(),
            slots: Slots::default(),
            late_rows: 0,
            late_sample: None,
        })
    }

    fn is_bounded(&self) -> bool {
        !matches!(self.frame, OverFrame::Rows(None) | OverFrame::Range(None))
    }

    fn resize(&mut self) {
        let slots = self.table.slots_len();
        self.frames.resize(slots);
        self.progress.resize(slots, NOT_BEGUN);
    }

    /// Partitions whose TTL is over begin anew; rows that wait stay.
    fn expire_touched(&mut self, now_ms: i64) {
        let is_expired = |slot: &u32| self.table.is_expired(*slot, now_ms);
        let mut expired: Vec<u32> = self.slots.rows.iter().copied().filter(is_expired).collect();
        expired.sort_unstable();
        expired.dedup();
        self.forget(&expired);
    }

    /// `slots` are ascending.
    fn forget(&mut self, slots: &[u32]) {
        if slots.is_empty() {
            return;
        }
        self.frames.reset(slots);
        self.clearing.retain(|Reverse((_, slot))| slots.binary_search(slot).is_err());
        for &slot in slots {
            let progress = &mut self.progress[slot as usize];
            *progress = Progress { waiting: progress.waiting, ..NOT_BEGUN };
        }
    }

    /// Puts rows that are not late in line.
    fn wait(&mut self, batch: &ChangelogBatch, times: &[i64]) -> Result<()> {
        let bounded = self.is_bounded();
        let encoded = self.rows.encode(batch.records().columns())?;
        for (row, &time_ms) in times.iter().enumerate() {
            let slot = self.slots.rows[row];
            let progress = &mut self.progress[slot as usize];
            let done_ms = if bounded { Some(progress.done_ms) } else { self.watermark_ms };
            if done_ms.is_some_and(|done_ms| time_ms <= done_ms) {
                self.late(time_ms);
                continue;
            }
            if let OverFrame::Range(Some(preceding)) = self.frame
                && progress.plan_clearing(time_ms, preceding)
            {
                self.clearing.push(Reverse((progress.clear_ms, slot)));
            }
            progress.waiting += 1;
            let place = match self.free.pop() {
                Some(place) => place,
                None => {
                    self.owners.push(0);
                    self.owners.len() as u32 - 1
                }
            };
            self.rows.set(place, &encoded, row);
            self.numbers.added(place);
            self.owners[place as usize] = slot;
            self.waiting.push(Reverse((time_ms, self.arrivals, place)));
            self.arrivals += 1;
        }
        Ok(())
    }

    fn late(&mut self, time_ms: i64) {
        self.late_rows += 1;
        if self.late_sample.is_none() {
            let offset_ms = |time_ms| self.zone.as_ref().map_or(0, |job| zone_offset_ms(job.time_zone, time_ms));
            let readable = |time_ms| readable_time(time_ms, offset_ms(time_ms));
            let behind = self.watermark_ms.map_or_else(String::new, readable);
            self.late_sample = Some(format!("{} {} is behind watermark {behind}", self.time_name, readable(time_ms)));
        }
    }

    /// Rows that come in the order of arrival.
    fn process_now(&mut self, batch: &ChangelogBatch) -> Result<()> {
        let mut times = vec![0; batch.num_rows()];
        if let (OverFrame::Range(Some(_)), Some(column)) = (self.frame, self.proctime) {
            let clock = row_times(batch.records(), column)?;
            for ((time_ms, clock_ms), &slot) in times.iter_mut().zip(clock.values()).zip(&self.slots.rows) {
                // Rows of several sources may have read the clock in another order than that of their arrival.
                let done_ms = &mut self.progress[slot as usize].done_ms;
                *done_ms = (*done_ms).max(*clock_ms);
                *time_ms = *done_ms;
            }
        }
        let slots = std::mem::take(&mut self.slots.rows);
        let rows = Ordered { columns: batch.records().columns(), slots: &slots, times: &times, with_peers: false };
        let results = self.frames.process(rows)?;
        self.slots.rows = slots;
        let columns = batch.records().columns().iter().cloned().chain(results).collect();
        self.output.push(ChangelogBatch::inserts(record_batch(&self.schema, columns, batch.num_rows())?));
        Ok(())
    }

    /// Gives out the next rows up to `until_ms`: at least `rows_max` if there are as many, and all of the last time.
    fn fire(&mut self, until_ms: i64, rows_max: usize, now_ms: i64) -> Result<bool> {
        let (mut times, mut places) = (Vec::new(), Vec::new());
        while let Some(&Reverse((time_ms, _, place))) = self.waiting.peek() {
            if time_ms > until_ms || (times.len() >= rows_max && times.last() != Some(&time_ms)) {
                break;
            }
            self.waiting.pop();
            times.push(time_ms);
            places.push(place);
        }
        if places.is_empty() {
            return Ok(false);
        }
        let slots: Vec<u32> = places.iter().map(|&place| self.owners[place as usize]).collect();
        let columns = match self.rows.fields().is_empty() {
            true => Vec::new(),
            false => self.rows.columns(&places)?,
        };
        let results =
            self.frames.process(Ordered { columns: &columns, slots: &slots, times: &times, with_peers: true })?;
        for ((&slot, &time_ms), &place) in slots.iter().zip(&times).zip(&places) {
            let progress = &mut self.progress[slot as usize];
            progress.done_ms = progress.done_ms.max(time_ms);
            progress.waiting -= 1;
            self.rows.clear(place);
            self.numbers.removed(place);
            self.free.push(place);
        }
        self.table.written(&slots, now_ms);
        let columns = columns.into_iter().chain(results).collect();
        self.output.push(ChangelogBatch::inserts(record_batch(&self.schema, columns, places.len())?));
        Ok(true)
    }

    /// The rows that wait, in the order of their arrival.
    fn snapshot_waiting(&mut self, scope: Scope) -> Result<TableSnapshot> {
        let (places, gone) = self.numbers.take(scope, self.waiting.len(), || {
            let mut waiting: Vec<(u64, u32)> = self.waiting.iter().map(|Reverse(row)| (row.1, row.2)).collect();
            waiting.sort_unstable();
            waiting.into_iter().map(|(_, place)| place).collect()
        });
        let owners: Vec<u32> = places.iter().map(|&place| self.owners[place as usize]).collect();
        let columns = self.rows.fields().iter().cloned().zip(self.rows.columns(&places)?).collect();
        self.table.snapshot_numbered(WAITING, gone, &owners, &self.numbers.numbers(&places), false, columns)
    }

    /// When the partitions of a snapshot are cleared.
    fn snapshot_clearing(&self, taken: &TakenKeys) -> Result<TableSnapshot> {
        let mut clearing: Vec<(u32, i64)> =
            self.clearing.iter().map(|Reverse(planned)| (planned.1, planned.0)).collect();
        clearing.sort_unstable();
        let mut is_taken = vec![false; self.table.slots_len()];
        taken.slots.iter().for_each(|&slot| is_taken[slot as usize] = true);
        clearing.retain(|planned| is_taken[planned.0 as usize]);
        let owners: Vec<u32> = clearing.iter().map(|planned| planned.0).collect();
        let times: Int64Array = clearing.iter().map(|planned| Some(planned.1)).collect();
        let columns: Vec<(FieldRef, ArrayRef)> = vec![(long_field("clear_ms"), Arc::new(times))];
        self.table.snapshot_by_key(CLEARING, taken, &owners, columns)
    }

    /// Clears the frames of partitions whose rows no frame to come has.
    fn clear_passed(&mut self, watermark_ms: i64) {
        while let Some(&Reverse((clear_ms, slot))) = self.clearing.peek() {
            if clear_ms > watermark_ms {
                return;
            }
            self.clearing.pop();
            self.table.changed(&[slot]);
            let progress = &mut self.progress[slot as usize];
            if progress.clear_ms == clear_ms {
                // Flink forgets the partition: a row behind the watermark finds it new.
                (progress.clear_ms, progress.done_ms) = (i64::MIN, i64::MIN);
                self.frames.clear_frame(slot);
            } else {
                // Flink's timer makes what is before it late, although clearing has been planned anew since.
                progress.done_ms = progress.done_ms.max(clear_ms);
            }
        }
    }
}

impl Progress {
    /// When the rows up to `time_ms` can be cleared. Half a frame is given more, so that it is not planned anew for
    /// each row.
    fn plan_clearing(&mut self, time_ms: i64, preceding: i64) -> bool {
        let is_due = self.clear_ms == i64::MIN || self.clear_ms < time_ms.saturating_add(preceding).saturating_add(1);
        if is_due {
            self.clear_ms = time_ms.saturating_add(preceding.saturating_add(preceding / 2)).saturating_add(1);
        }
        is_due
    }
}

impl Operator for OverByTime {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let mut fields = vec![long_field("done_ms"), long_field("clear_ms")];
        fields.extend(self.frames.state_fields());
        for snapshot in restored {
            let Some(table) = snapshot.table(TABLE) else { continue };
            let partitions = self.table.restore(table, self.own_groups.clone(), &fields)?;
            self.resize();
            let long = |column: usize, row: usize| partitions.values[column].as_primitive::<Int64Type>().value(row);
            for (row, &slot) in partitions.slots.iter().enumerate() {
                self.progress[slot as usize] = Progress { done_ms: long(0, row), clear_ms: long(1, row), waiting: 0 };
            }
            self.frames.restore(&partitions.slots, &partitions.values[2..])?;
            if let Some(history) = snapshot.table(HISTORY) {
                let rows = self.table.restore(history, self.own_groups.clone(), &self.frames.row_fields())?;
                self.frames.restore_rows(&rows)?;
            }
            if let Some(clearing) = snapshot.table(CLEARING) {
                let rows = self.table.restore(clearing, self.own_groups.clone(), &[long_field("clear_ms")])?;
                let times = rows.values[0].as_primitive::<Int64Type>().values();
                self.clearing.extend(times.iter().zip(&rows.slots).map(|(clear_ms, slot)| Reverse((*clear_ms, *slot))));
            }
            if let (Some(waiting), Some(rowtime)) = (snapshot.table(WAITING), self.rowtime) {
                let rows = self.table.restore(waiting, self.own_groups.clone(), self.rows.fields())?;
                let times = base::time::epoch_ms(&rows.values[rowtime])?;
                let encoded = self.rows.encode(&rows.values)?;
                for (row, &slot) in rows.slots.iter().enumerate() {
                    let place = self.owners.len() as u32;
                    self.owners.push(slot);
                    self.rows.set(place, &encoded, row);
                    self.waiting.push(Reverse((times.value(row), self.arrivals, place)));
                    self.arrivals += 1;
                    self.progress[slot as usize].waiting += 1;
                }
            }
        }
        // Instances agree on the watermark when a barrier is aligned; if they ever do not, the smallest loses no row.
        let watermarks = restored.iter().map(|snapshot| snapshot.values.get(WATERMARK).copied());
        self.watermark_ms = watermarks.min().flatten();
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        if batch.kinds().is_some() {
            return Err(Error::internal("an OVER window over time reads inserts"));
        }
        self.watermark_ms = self.watermark_ms.max(context.watermark_ms);
        let now_ms = context.processing_time_ms;
        let keys: Vec<ArrayRef> = self.partition.iter().map(|&key| batch.records().column(key).clone()).collect();
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        self.resize();
        self.expire_touched(now_ms);
        match self.rowtime {
            Some(rowtime) => {
                let times = row_times(batch.records(), rowtime)?;
                self.wait(&batch, times.values())?;
            }
            None => self.process_now(&batch)?,
        }
        self.table.written(&self.slots.rows, now_ms);
        Ok(())
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        self.watermark_ms = self.watermark_ms.max(Some(watermark_ms));
        if self.rowtime.is_some() {
            self.firing_until = self.firing_until.max(Some(watermark_ms));
        }
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let mut expired = self.table.expire(context.processing_time_ms, EXPIRE_SCAN_MAX);
        expired.sort_unstable();
        self.forget(&expired);
        let gone: Vec<u32> = expired.into_iter().filter(|&slot| self.progress[slot as usize].waiting == 0).collect();
        self.table.remove(&gone)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        loop {
            if let Some(batch) = self.output.next(context.rows_max) {
                return Ok(Some(batch));
            }
            let Some(until_ms) = self.firing_until else { return Ok(None) };
            if !self.fire(until_ms, context.rows_max, context.processing_time_ms)? {
                self.clear_passed(until_ms);
                self.firing_until = None;
            }
        }
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let taken = self.table.take_beside_rows(scope, KeyTable::live_slots);
        let column = |value: fn(&Progress) -> i64| -> ArrayRef {
            let values = taken.slots.iter().map(|&slot| Some(value(&self.progress[slot as usize])));
            Arc::new(values.collect::<Int64Array>())
        };
        let mut columns = vec![
            (long_field("done_ms"), column(|progress| progress.done_ms)),
            (long_field("clear_ms"), column(|progress| progress.clear_ms)),
        ];
        columns.extend(self.frames.state(&taken.slots)?);
        let partitions = self.table.snapshot(&taken, columns)?;
        let mut tables = vec![partitions, self.frames.snapshot_rows(&self.table, scope, &taken)?];
        if self.rowtime.is_some() {
            tables.push(self.snapshot_waiting(scope)?);
            tables.push(self.snapshot_clearing(&taken)?);
        }
        let values = self.watermark_ms.map(|watermark_ms| (WATERMARK.to_string(), watermark_ms));
        Ok(OperatorSnapshot { tables, values: values.into_iter().collect() })
    }

    fn wakes(&self) -> Wakes {
        let waiting = self.waiting.peek().map(|Reverse((time_ms, ..))| *time_ms);
        let clearing = self.clearing.peek().map(|Reverse((clear_ms, _))| *clear_ms);
        Wakes::at_watermark(waiting.into_iter().chain(clearing).min())
    }

    fn statistics(&self) -> OperatorStatistics {
        let own = self.progress.capacity() * size_of::<Progress>()
            + self.waiting.capacity() * size_of::<Waiting>()
            + self.clearing.capacity() * size_of::<Reverse<(i64, u32)>>()
            + (self.owners.capacity() + self.free.capacity()) * size_of::<u32>();
        let bytes = self.table.heap_bytes() + self.frames.heap_bytes() + self.rows.heap_bytes() + own;
        OperatorStatistics {
            late_rows: self.late_rows,
            late_sample: self.late_sample.clone(),
            state_entries: (self.table.len() + self.waiting.len() + self.frames.rows_len()) as u64,
            state_bytes: bytes as u64,
            ..Default::default()
        }
    }
}

fn long_field(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Int64, false))
}
