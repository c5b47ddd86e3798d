//! Joins of rows whose times are near each other.
//!
//! [`pairing`] joins a batch with what is kept of the other side; here is what is kept, and when it goes.

mod pairing;

use super::kept_rows::{KeptRows, PairCondition, key_fields, set};
use super::late::LateRows;
use super::output::{OutputQueue, record_batch};
use super::window::row_times;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, SchemaRef};
use base::connector::Instance;
use base::event::WATERMARK_MAX;
use base::key::groups_of_instance;
use base::plan::{IntervalJoin, JoinKind, Output};
use base::{ChangelogBatch, Result};
use pairing::Work;
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots, Timers};
use std::ops::Range;
use std::sync::Arc;

/// The names of the sides in snapshots.
const TABLES: [&str; 2] = ["left", "right"];
/// The name of the watermark in snapshots.
const WATERMARK: &str = "watermark_ms";
/// In [`Side::due`]: no timer.
const NEVER: i64 = i64::MAX;

/// Joins two streams of inserts within bounds of time.
///
/// * input: inserts; output: inserts
/// * a row is joined when it comes, with the kept rows of the other side whose times are within the bounds, in the order of
///   their times
/// * state: the rows of both sides by key; the watermark
/// * dropped: a row when the watermark has passed all that it could be joined with. If it has had no partner and its side is
///   padded, it is given then. By processing time the same, with the time at which rows came
/// * late rows: joined with what is still kept. One that no row to come can match is not kept: if it had no partner it is
///   padded at once, or dropped and counted
/// * the watermark is held back: a kept row can still be given
#[derive(Debug)]
pub struct IntervalJoinOperator {
    condition: Option<PairCondition>,
    output_schema: SchemaRef,
    own_groups: Range<u16>,
    rowtimes: Option<[usize; 2]>,
    /// By side: how far behind a row's time its latest partner can be.
    sizes: [i64; 2],

    /// The keys of both sides.
    table: KeyTable,
    sides: [Side; 2],
    /// The last watermark, also that of the run before; or the processing time.
    clock_ms: Option<i64>,
    /// Rows are to be dropped that are over at this time.
    expiring_ms: Option<i64>,
    /// Slots of a side that are looked at for it.
    expiring: Option<(usize, i64, Vec<u32>)>,

    /// The batch that is being joined.
    work: Option<Work>,
    slots: Slots,
    late: LateRows,
    output: OutputQueue,
}

#[derive(Debug)]
struct Side {
    kept: KeptRows,
    /// By row: whether it has had a partner.
    matched: Vec<bool>,
    /// By slot: the time of its timer.
    due: Vec<i64>,
    timers: Timers,
    /// Whether rows without a partner are given.
    pads: bool,
    time_name: String,
}

impl Side {
    /// Wakes a slot when its first row is over.
    fn schedule(&mut self, slot: u32, size: i64) {
        let Some(first) = self.kept.rows.at(slot, 0) else { return };
        let due = over_at(self.kept.times[first as usize], size);
        if due < self.due[slot as usize] {
            self.due[slot as usize] = due;
            self.timers.add(due, slot);
        }
    }
}

/// When a row has no partner to come.
fn over_at(time: i64, size: i64) -> i64 {
    time.saturating_add(size).saturating_add(1)
}

impl IntervalJoinOperator {
    /// The operator of one instance.
    pub fn new(node: &IntervalJoin, inputs: [&Output; 2], output: &Output, instance: Instance) -> Result<Self> {
        let [left, right] = inputs;
        let side = |index: usize| -> Result<Side> {
            let keys = node.keys.iter().map(|key| if index == 0 { key.left } else { key.right }).collect();
            let strict = node.keys.iter().map(|key| !key.null_safe).collect();
            let rowtime = node.rowtimes.map(|times| times[index]);
            let own = if index == 0 { JoinKind::Left } else { JoinKind::Right };
            Ok(Side {
                kept: KeptRows::new(TABLES[index], inputs[index], keys, strict, rowtime)?,
                matched: Vec::new(),
                due: Vec::new(),
                timers: Timers::default(),
                pads: node.kind == own || node.kind == JoinKind::Full,
                time_name: rowtime.map_or_else(String::new, |column| inputs[index].row.fields()[column].name.clone()),
            })
        };
        let fields = key_fields(&node.keys, left);
        Ok(IntervalJoinOperator {
            condition: PairCondition::new(&node.condition, left, right),
            output_schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            rowtimes: node.rowtimes,
            sizes: [node.lower_ms.saturating_neg(), node.upper_ms],
            table: KeyTable::new(KeyTableSpec { name: "keys", namespace: None, fields, ttl_ms: None })?,
            sides: [side(0)?, side(1)?],
            clock_ms: None,
            expiring_ms: None,
            expiring: None,
            work: None,
            slots: Slots::default(),
            late: LateRows::default(),
            output: OutputQueue::default(),
        })
    }

    fn resize(&mut self) {
        let slots = self.table.slots_len();
        for side in &mut self.sides {
            side.kept.rows.resize(slots);
            side.due.resize(slots, NEVER);
        }
    }

    /// Forgets the keys among these that have no row on either side.
    fn release(&mut self, mut slots: Vec<u32>) -> Result<()> {
        slots.retain(|&slot| self.sides.iter().all(|side| side.kept.rows.len(slot) == 0));
        slots.sort_unstable();
        slots.dedup();
        for side in &mut self.sides {
            slots.iter().for_each(|&slot| side.due[slot as usize] = NEVER);
        }
        self.table.remove(&slots)
    }

    /// The next timer that is due, the right side's first.
    fn next_timer(&mut self) -> Option<(usize, i64, Vec<u32>)> {
        let until = self.expiring_ms?;
        let due = [1, 0].into_iter().filter_map(|side| Some((self.sides[side].timers.first_time()?, side)));
        let (_, side) = due.filter(|(time, _)| *time <= until).min_by_key(|(time, _)| *time)?;
        let (time, mut slots) = self.sides[side].timers.pop_first()?;
        slots.reverse();
        Some((side, time, slots))
    }

    /// Drops rows that are over, about `rows_max` of them. Gives whether there may be more.
    fn expire(&mut self, rows_max: usize) -> Result<bool> {
        let Some(until) = self.expiring_ms else { return Ok(false) };
        let Some((side, time, mut slots)) = self.expiring.take().or_else(|| self.next_timer()) else {
            self.expiring_ms = None;
            return Ok(false);
        };
        let size = self.sizes[side];
        let own = &mut self.sides[side];
        let (mut looked_at, mut padded, mut padded_slots) = (Vec::new(), Vec::new(), Vec::new());
        while padded.len() < rows_max
            && looked_at.len() < rows_max
            && let Some(slot) = slots.pop()
        {
            // A row that came later and is over earlier has a timer of its own.
            if own.due[slot as usize] != time {
                continue;
            }
            looked_at.push(slot);
            let times = &own.kept.times;
            let over = own.kept.rows.take_front(slot, usize::MAX, |row| over_at(times[row as usize], size) <= until);
            if own.pads {
                let alone = over.into_iter().filter(|&row| !own.matched[row as usize]);
                padded.extend(alone);
                padded_slots.resize(padded.len(), slot);
            }
            own.due[slot as usize] = NEVER;
            own.schedule(slot, size);
        }
        if !slots.is_empty() {
            self.expiring = Some((side, time, slots));
        }
        self.give_padded(side, &padded, &padded_slots)?;
        self.sides[side].kept.rows.release();
        self.release(looked_at)?;
        Ok(true)
    }

    fn give_padded(&mut self, side: usize, rows: &[u32], slots: &[u32]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let own = self.sides[side].kept.columns(rows, &self.table.keys(slots)?)?;
        let other = self.sides[1 - side].kept.nulls(rows.len());
        let (first, second) = if side == 0 { (own, other) } else { (other, own) };
        let columns = first.into_iter().chain(second).collect();
        self.output.push(ChangelogBatch::inserts(record_batch(&self.output_schema, columns, rows.len())?));
        Ok(())
    }
}

fn own_fields() -> [FieldRef; 2] {
    let field = |name: &str, data_type| Arc::new(Field::new(name, data_type, false));
    [field("time_ms", DataType::Int64), field("matched", DataType::Boolean)]
}

impl Operator for IntervalJoinOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        for snapshot in restored {
            for side in &mut self.sides {
                let Some(table) = snapshot.table(side.kept.name()) else { continue };
                let (restored, rows) =
                    side.kept.restore(&mut self.table, table, self.own_groups.clone(), &own_fields(), |restored| {
                        Ok(restored.values[0].as_primitive::<Int64Type>().values().to_vec())
                    })?;
                let matched = restored.values[1].as_boolean();
                rows.iter().enumerate().for_each(|(at, &row)| set(&mut side.matched, row, matched.value(at)));
            }
        }
        self.resize();
        for (side, size) in self.sides.iter_mut().zip(self.sizes) {
            self.table.live_slots().into_iter().for_each(|slot| side.schedule(slot, size));
        }
        // The smallest loses no row.
        let watermarks = restored.iter().map(|snapshot| snapshot.values.get(WATERMARK).copied());
        self.clock_ms = watermarks.min().flatten();
        Ok(())
    }

    fn on_batch(&mut self, input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let times = match self.rowtimes {
            Some(columns) => {
                self.clock_ms = self.clock_ms.max(context.watermark_ms);
                row_times(batch.records(), columns[input])?
            }
            None => {
                self.clock_ms = Some(context.processing_time_ms);
                Int64Array::from_value(context.processing_time_ms, batch.num_rows())
            }
        };
        let kept = &self.sides[input].kept;
        let keys = kept.key_columns(&batch);
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        let encoded = kept.encode(&batch)?;
        let unmatchable = kept.unmatchable(&keys);
        self.resize();
        let slots = std::mem::take(&mut self.slots.rows);
        self.work = Some(Work::new(input, batch, slots, times, encoded, unmatchable));
        Ok(())
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        if self.rowtimes.is_some() {
            self.clock_ms = self.clock_ms.max(Some(watermark_ms));
            self.expiring_ms = self.clock_ms;
        }
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        if self.rowtimes.is_none() {
            self.expiring_ms = Some(context.processing_time_ms);
        }
        Ok(())
    }

    /// A row that is kept at a watermark can be given later: its time is not before the watermark minus the longer wait.
    fn output_watermark(&self, watermark_ms: i64) -> i64 {
        match self.rowtimes {
            Some(_) if watermark_ms != WATERMARK_MAX => {
                let wait = self.sizes[0].max(self.sizes[1]).max(0);
                watermark_ms.saturating_sub(wait).saturating_sub(1)
            }
            _ => watermark_ms,
        }
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let rows_max = context.rows_max.max(1);
        loop {
            if let Some(batch) = self.output.next(rows_max) {
                return Ok(Some(batch));
            }
            if let Some(mut work) = self.work.take() {
                self.step(&mut work, rows_max)?;
                match work.is_done() {
                    false => self.work = Some(work),
                    true => self.release(work.into_slots())?,
                }
            } else if !self.expire(rows_max)? {
                return Ok(None);
            }
        }
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let mut tables = Vec::new();
        for side in &mut self.sides {
            let matched = &side.matched;
            tables.push(side.kept.snapshot(&self.table, scope, |rows, times| {
                let times: Int64Array = rows.iter().map(|&row| Some(times[row as usize])).collect();
                let matched: BooleanArray = rows.iter().map(|&row| Some(matched[row as usize])).collect();
                let columns: [ArrayRef; 2] = [Arc::new(times), Arc::new(matched)];
                own_fields().into_iter().zip(columns).collect()
            })?);
        }
        let clock = self.clock_ms.filter(|_| self.rowtimes.is_some());
        let values = clock.map(|clock_ms| (WATERMARK.to_string(), clock_ms)).into_iter().collect();
        Ok(OperatorSnapshot { tables, values })
    }

    fn wakes(&self) -> Wakes {
        let first = self.sides.iter().filter_map(|side| side.timers.first_time()).min();
        if self.rowtimes.is_some() { Wakes::at_watermark(first) } else { Wakes::at_processing_time(first) }
    }

    fn statistics(&self) -> OperatorStatistics {
        let bytes = |side: &Side| {
            side.kept.heap_bytes() + side.timers.heap_bytes() + side.matched.capacity() + side.due.capacity() * 8
        };
        let rows: usize = self.sides.iter().map(|side| side.kept.rows.rows()).sum();
        let heap: usize = self.sides.iter().map(bytes).sum();
        self.late.report(OperatorStatistics {
            state_entries: rows as u64,
            state_bytes: (self.table.heap_bytes() + heap) as u64,
            ..Default::default()
        })
    }
}
