//! GROUP BY a window: one final result per window and group, or results that are corrected.

mod emission;
mod panes;

use super::aggregates::{Aggregates, SlotRows};
use super::late::LateRows;
use super::output::record_batch;
use super::session_aggregate::SessionAggregateOperator;
use super::window::{Assigned, WindowAssigner, WindowFrontier};
use super::window_table::WindowColumns;
use super::window_time::WindowTime;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, AsArray, Int64Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, SchemaRef};
use base::connector::Instance;
use base::event::WATERMARK_MAX;
use base::key::groups_of_instance;
use base::plan::{Output, WindowAggregate, WindowKind, WindowProperty};
use base::{ChangelogBatch, Result};
use emission::Emission;
use panes::PaneAggregateOperator;
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots, Timers};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The table's name in snapshots.
const TABLE: &str = "windows";
/// The watermark's name in snapshots.
const WATERMARK: &str = "watermark_ms";
/// The most (row, window) pairs that are worked on at once.
const ASSIGNED_MAX: usize = 65_536;

/// The operator of one instance.
///
/// # Errors
/// Keys of a type that cannot be a key.
pub fn create(
    node: &WindowAggregate,
    input: &Output,
    output: &Output,
    instance: Instance,
    drops_null: bool,
) -> Result<Box<dyn Operator>> {
    if let WindowKind::Session { .. } = node.window.kind {
        return Ok(Box::new(SessionAggregateOperator::new(node, input, output, instance, drops_null)?));
    }
    if let Some(operator) = PaneAggregateOperator::new(node, input, output, instance, drops_null)? {
        return Ok(Box::new(operator));
    }
    Ok(Box::new(WindowAggregateOperator::new(node, input, output, instance, drops_null)?))
}

/// The window columns of windows with these ends.
fn window_columns(
    assigner: &WindowAssigner,
    is_instant: bool,
    properties: &[WindowProperty],
    ends: &[i64],
) -> Vec<ArrayRef> {
    let windows = WindowColumns { assigner, is_instant };
    let column = |property: &WindowProperty| match property {
        WindowProperty::Start => windows.start(ends),
        WindowProperty::End => windows.end(ends),
        WindowProperty::Time => windows.time(ends),
    };
    properties.iter().map(column).collect()
}

/// Aggregates by window and key.
///
/// * input: any kinds
/// * output: a window [s, e) fires when the watermark (for PROCTIME() the clock) reaches e - 1 ms, in the order of window
///   ends, then of the groups' first rows; a group whose rows were all retracted gives nothing. These are `+I` only, unless
///   windows fire early or take late rows: then a result that is there already is corrected by `-U`/`+U` or taken back by
///   `-D`, and one that is the same gives nothing. A batch gives at most one change per group and window
/// * state: per window and group the accumulators and, if the input can retract, the number of rows; if results are
///   corrected, the last one; the watermark
/// * dropped: when the window has fired, or when no late row is taken any more. What the clock has not given out by then
///   is given first
/// * late rows: a row whose window takes no rows any more is dropped and counted. A row in several windows (HOP, CUMULATE)
///   still goes into those that do, and is counted only if none does
/// * NULL in the time column fails the job, or the row is dropped and counted
#[derive(Debug)]
pub struct WindowAggregateOperator {
    assigner: WindowAssigner,
    is_attached: bool,
    columns_are_instants: bool,
    time: WindowTime,
    keys: Vec<usize>,
    properties: Vec<WindowProperty>,
    schema: SchemaRef,
    own_groups: Range<u16>,

    table: KeyTable,
    aggregates: Aggregates,
    /// Rows per slot; only if the input can retract.
    counts: Option<Vec<i64>>,
    timers: Timers,
    /// Only if windows give more than one result.
    emission: Option<Emission>,

    /// Windows that fire now.
    firing: Option<Firing>,
    slots: Slots,
    assigned: Assigned,
    late: LateRows,
}

/// What is left to be given out for a watermark.
#[derive(Debug)]
struct Firing {
    until_ms: i64,
    /// Slots of the window that is being given out, and how many of them have been.
    slots: Vec<u32>,
    given: usize,
    /// Whether all windows have fired, and those that close are left.
    is_closing: bool,
}

impl WindowAggregateOperator {
    /// The operator of one instance.
    ///
    /// # Errors
    /// Keys of a type that cannot be a key.
    pub fn new(
        node: &WindowAggregate,
        input: &Output,
        output: &Output,
        instance: Instance,
        drops_null: bool,
    ) -> Result<Self> {
        let (keys, calls) = (node.keys.len(), node.calls.len());
        let emission = node.emit.makes_updates().then(|| Emission::new(&node.emit, output, keys, calls)).transpose()?;
        let fields: Vec<FieldRef> = node.keys.iter().map(|&key| input.row.arrow().fields()[key].clone()).collect();
        let spec = KeyTableSpec { name: TABLE, namespace: Some("window_end"), fields, ttl_ms: None };
        Ok(WindowAggregateOperator {
            assigner: WindowAssigner::new(&node.window)?,
            is_attached: node.is_attached,
            columns_are_instants: node.window.time_zone.is_some(),
            time: WindowTime::new(&node.window, input.row.arrow(), drops_null),
            keys: node.keys.clone(),
            properties: node.properties.clone(),
            schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(spec)?,
            aggregates: Aggregates::new(&node.calls, &input.row)?,
            counts: (!input.changelog.is_append_only()).then(Vec::new),
            timers: Timers::default(),
            emission,
            firing: None,
            slots: Slots::default(),
            assigned: Assigned::default(),
            late: LateRows::default(),
        })
    }

    fn resize(&mut self) {
        let slots = self.table.slots_len();
        self.aggregates.resize(slots);
        if let Some(counts) = &mut self.counts {
            counts.resize(slots, 0);
        }
        if let Some(emission) = &mut self.emission {
            emission.resize(slots);
        }
    }

    /// The time that a window must have fired by to take no row any more.
    fn closed_until(&self) -> Option<i64> {
        let lateness_ms = self.emission.as_ref().map_or(0, |emission| emission.lateness_ms);
        // At the end of the input there is no later.
        self.time
            .now_ms()
            .map(|now_ms| if now_ms == WATERMARK_MAX { now_ms } else { now_ms.saturating_sub(lateness_ms) })
    }

    /// Takes the windows that take no rows any more out of the assignment.
    fn drop_late(&mut self, times: &[i64]) {
        let mut frontier = WindowFrontier::new(self.closed_until());
        let assigned = &mut self.assigned;
        let (mut kept, mut index) = (0, 0);
        while index < assigned.ends.len() {
            let (row, kept_before) = (assigned.rows[index], kept);
            while index < assigned.ends.len() && assigned.rows[index] == row {
                let end = assigned.ends[index];
                if !frontier.is_over(&self.assigner, end) {
                    (assigned.rows[kept], assigned.ends[kept]) = (row, end);
                    kept += 1;
                }
                index += 1;
            }
            if kept == kept_before {
                let now_ms = self.time.now_ms().unwrap_or(i64::MIN);
                self.late.add_row(row, || self.assigner.late_text(self.time.name(), times[row as usize], now_ms));
            }
        }
        assigned.rows.truncate(kept);
        assigned.ends.truncate(kept);
    }

    /// Adds rows to their windows.
    fn apply(&mut self, batch: &ChangelogBatch, times: &[i64], context: &OperatorContext) -> Result<()> {
        match self.is_attached {
            true => self.assigned.set_ends(times),
            false => self.assigner.assign(times, &mut self.assigned),
        }
        if self.time.now_ms().is_some() {
            self.drop_late(times);
            self.late.batch(batch)?;
        }
        if self.assigned.ends.is_empty() {
            return Ok(());
        }
        let is_one_each = self.is_attached || self.assigner.is_tumble();
        let is_identity = is_one_each && self.assigned.rows.len() == batch.num_rows();
        let rows = (!is_identity).then(|| UInt32Array::from(self.assigned.rows.clone()));
        let mut keys: Vec<ArrayRef> = self.keys.iter().map(|&key| batch.records().column(key).clone()).collect();
        let mut kinds = batch.kinds().map(Cow::Borrowed);
        if let Some(rows) = &rows {
            for key in &mut keys {
                *key = take(key.as_ref(), rows, None)?;
            }
            kinds = kinds.map(|kinds| rows.values().iter().map(|&row| kinds[row as usize]).collect());
        }
        let ends = &self.assigned.ends;
        let key_batch = KeyBatch { columns: &keys, namespaces: Some(ends), rows: ends.len() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        self.resize();
        self.set_timers();
        if let Some(counts) = &mut self.counts {
            match &kinds {
                None => self.slots.rows.iter().for_each(|&slot| counts[slot as usize] += 1),
                Some(kinds) => {
                    self.slots
                        .rows
                        .iter()
                        .zip(kinds.iter())
                        .for_each(|(&slot, kind)| counts[slot as usize] += kind.sign());
                }
            }
        }
        let rows = SlotRows { slots: &self.slots.rows, kinds: kinds.as_deref(), rows: rows.as_ref() };
        self.aggregates.update(batch.records(), rows)?;
        // No TTL: the time of the write does not matter.
        self.table.written(&self.slots.rows, 0);
        if let Some(emission) = &mut self.emission {
            let (table, assigner) = (&self.table, &self.assigner);
            let mut frontier = WindowFrontier::new(self.time.now_ms());
            let is_over = |slot| frontier.is_over(assigner, table.namespace(slot));
            emission.rows(&self.slots.rows, context.processing_time_ms, is_over);
        }
        Ok(())
    }

    /// New groups wait for their window to fire, or to close if it has fired.
    fn set_timers(&mut self) {
        let mut frontier = WindowFrontier::new(self.time.now_ms());
        for &slot in &self.slots.new {
            let end = self.table.namespace(slot);
            match &mut self.emission {
                Some(emission) if frontier.is_over(&self.assigner, end) => emission.closing.add(end, slot),
                _ => self.timers.add(end, slot),
            }
        }
    }

    /// The next slots to fire, at most `rows_max`; of windows that have fired before, those that close.
    fn next_slots(&mut self, rows_max: usize, closing: bool) -> Vec<u32> {
        let mut out = Vec::new();
        let Some(firing) = &mut self.firing else { return out };
        let (timers, lateness_ms) = match &mut self.emission {
            Some(emission) if closing => (&mut emission.closing, emission.lateness_ms),
            _ if closing || firing.is_closing => return out,
            _ => (&mut self.timers, 0),
        };
        firing.is_closing = closing;
        while out.len() < rows_max {
            if firing.given == firing.slots.len() {
                let is_due = |end| self.assigner.fires_at(end).saturating_add(lateness_ms) <= firing.until_ms;
                if !timers.first_time().is_some_and(is_due) {
                    break;
                }
                firing.slots = timers.pop_first().map(|(_, slots)| slots).unwrap_or_default();
                firing.given = 0;
            }
            let count = (rows_max - out.len()).min(firing.slots.len() - firing.given);
            out.extend_from_slice(&firing.slots[firing.given..firing.given + count]);
            firing.given += count;
        }
        out
    }

    fn window_columns(&self, ends: &[i64]) -> Vec<ArrayRef> {
        window_columns(&self.assigner, self.columns_are_instants, &self.properties, ends)
    }

    fn ends(&self, slots: &[u32]) -> Vec<i64> {
        slots.iter().map(|&slot| self.table.namespace(slot)).collect()
    }

    /// The final results of these slots; their state is dropped.
    fn fire(&mut self, slots: &[u32]) -> Result<ChangelogBatch> {
        let counts = self.counts.as_ref();
        let has_rows = |slot: &u32| counts.is_none_or(|counts| counts[*slot as usize] > 0);
        let results: Vec<u32> = slots.iter().copied().filter(has_rows).collect();
        let mut columns = self.table.keys(&results)?;
        columns.extend(self.aggregates.values(&results)?);
        columns.extend(self.window_columns(&self.ends(&results)));
        let records = record_batch(&self.schema, columns, results.len())?;
        self.drop_state(slots)?;
        Ok(ChangelogBatch::inserts(records))
    }

    fn drop_state(&mut self, slots: &[u32]) -> Result<()> {
        self.aggregates.reset(slots);
        if let Some(counts) = &mut self.counts {
            slots.iter().for_each(|&slot| counts[slot as usize] = 0);
        }
        if let Some(emission) = &mut self.emission {
            emission.reset(slots);
        }
        self.table.remove(slots)
    }

    /// What has changed in the results of these slots.
    fn changes(&mut self, slots: &[u32]) -> Result<ChangelogBatch> {
        let Some(mut emission) = self.emission.take() else { return Ok(ChangelogBatch::empty(&self.schema)) };
        let counts = self.counts.as_ref();
        let has_rows = |slot: u32| counts.is_none_or(|counts| counts[slot as usize] > 0);
        let values = self.aggregates.values(slots)?;
        let others = |changed: &[u32]| Ok((self.table.keys(changed)?, self.window_columns(&self.ends(changed))));
        let changes = emission.changes(slots, has_rows, &values, others);
        self.emission = Some(emission);
        self.table.changed(slots);
        changes
    }

    /// The next changes of results, if windows give more than one; `None` if there are none for now.
    fn next_changes(&mut self, rows_max: usize) -> Result<Option<ChangelogBatch>> {
        // An update has two rows.
        let slots_max = rows_max.div_ceil(2);
        let ready = self.emission.as_mut().map(|emission| emission.take_ready(slots_max)).unwrap_or_default();
        if !ready.is_empty() {
            return self.changes(&ready).map(Some);
        }
        let fired = self.next_slots(slots_max, false);
        if !fired.is_empty() {
            let changes = self.changes(&fired)?;
            if let Some(emission) = &mut self.emission {
                fired.iter().for_each(|&slot| emission.closing.add(self.table.namespace(slot), slot));
            }
            return Ok(Some(changes));
        }
        let closing = self.next_slots(slots_max, true);
        if closing.is_empty() {
            return Ok(None);
        }
        let changes = self.changes(&closing)?;
        self.drop_state(&closing)?;
        Ok(Some(changes))
    }

    fn fire_until(&mut self, until_ms: Option<i64>) {
        let Some(until_ms) = until_ms else { return };
        match &mut self.firing {
            Some(firing) => firing.until_ms = firing.until_ms.max(until_ms),
            None => self.firing = Some(Firing { until_ms, slots: Vec::new(), given: 0, is_closing: false }),
        }
    }
}

impl Operator for WindowAggregateOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        // Instances agree on the watermark when a barrier is aligned; if they ever do not, the smallest loses no row.
        let times = restored.iter().map(|snapshot| snapshot.values.get(WATERMARK).copied());
        self.time.restore(times.min().flatten());
        let mut fields = self.aggregates.state_fields();
        if self.counts.is_some() {
            fields.insert(0, count_field());
        }
        let own = fields.len();
        if let Some(emission) = &self.emission {
            fields.extend(emission.state_fields());
        }
        for table in restored.iter().filter_map(|snapshot| snapshot.table(TABLE)) {
            let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
            self.resize();
            let mut values = &restored.values[..own];
            if let Some(counts) = &mut self.counts {
                let saved = values[0].as_primitive::<Int64Type>();
                restored.slots.iter().zip(saved.values()).for_each(|(&slot, n)| counts[slot as usize] = *n);
                values = &values[1..];
            }
            self.aggregates.restore(&restored.slots, values)?;
            if let Some(emission) = &mut self.emission {
                emission.restore(&restored.slots, &restored.values[own..])?;
            }
            self.slots.new.clone_from(&restored.slots);
            self.set_timers();
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        let (batch, times) = self.time.rows(batch, context)?;
        let rows_max = (ASSIGNED_MAX / self.assigner.windows_per_row()).max(1);
        if batch.num_rows() <= rows_max {
            return self.apply(&batch, &times, context);
        }
        for start in (0..batch.num_rows()).step_by(rows_max) {
            let rows = rows_max.min(batch.num_rows() - start);
            self.apply(&batch.slice(start, rows), &times[start..start + rows], context)?;
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        let until_ms = self.time.on_watermark(watermark_ms);
        self.fire_until(until_ms);
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let until_ms = self.time.on_processing_time(context);
        self.fire_until(until_ms);
        if let Some(emission) = &mut self.emission {
            emission.on_clock(context.processing_time_ms);
        }
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let rows_max = context.rows_max.max(1);
        loop {
            let batch = if self.emission.is_some() {
                self.next_changes(rows_max)?
            } else {
                let slots = self.next_slots(rows_max, false);
                if slots.is_empty() { None } else { Some(self.fire(&slots)?) }
            };
            match batch {
                None => {
                    self.firing = None;
                    return Ok(None);
                }
                Some(batch) if batch.is_empty() => {}
                Some(batch) => return Ok(Some(batch)),
            }
        }
    }

    fn keep_late(&mut self) -> bool {
        self.late.keep();
        true
    }

    fn take_late(&mut self) -> Vec<ChangelogBatch> {
        self.late.take()
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        // In firing order, so that the order of results survives a restart.
        let taken = self.table.take(scope, |_| {
            let closing = self.emission.iter().flat_map(|emission| emission.closing.slots());
            self.timers.slots().chain(closing).collect()
        });
        let mut columns = Vec::new();
        if let Some(counts) = &self.counts {
            let counts: Int64Array = taken.slots.iter().map(|&slot| Some(counts[slot as usize])).collect();
            columns.push((count_field(), Arc::new(counts) as ArrayRef));
        }
        columns.extend(self.aggregates.state(&taken.slots)?);
        if let Some(emission) = &self.emission {
            columns.extend(emission.state(&taken.slots)?);
        }
        let table = self.table.snapshot(&taken, columns)?;
        let values = self.time.now_ms().map(|now_ms| (WATERMARK.to_string(), now_ms));
        Ok(OperatorSnapshot { tables: vec![table], values: values.into_iter().collect() })
    }

    fn wakes(&self) -> Wakes {
        let fires = self.timers.first_time().map(|end| self.assigner.fires_at(end));
        let wakes = self.time.wakes(fires);
        let Some(emission) = &self.emission else { return wakes };
        let closes = |end| self.assigner.fires_at(end).saturating_add(emission.lateness_ms);
        wakes.and(self.time.wakes(emission.closing.first_time().map(closes))).and(emission.wakes())
    }

    fn statistics(&self) -> OperatorStatistics {
        let counts = self.counts.as_ref().map_or(0, |counts| counts.capacity() * size_of::<i64>());
        let emission = self.emission.as_ref().map_or(0, Emission::heap_bytes);
        let bytes =
            self.table.heap_bytes() + self.aggregates.heap_bytes() + self.timers.heap_bytes() + counts + emission;
        self.late.report(OperatorStatistics {
            dropped_rows: self.time.dropped(),
            state_entries: self.table.len() as u64,
            state_bytes: bytes as u64,
            ..Default::default()
        })
    }
}

fn count_field() -> FieldRef {
    Arc::new(Field::new("rows", DataType::Int64, false))
}
