//! GROUP BY a window: one final result per window and group.

use super::aggregates::{Aggregates, SlotRows};
use super::output::record_batch;
use super::window::{Assigned, WindowAssigner, row_times};
use super::window_table::WindowColumns;
use crate::operator::{Operator, OperatorContext, OperatorStatistics};
use arrow::array::{ArrayRef, AsArray, Int64Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, SchemaRef};
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Output, WindowAggregate, WindowProperty};
use base::{ChangelogBatch, Result};
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

/// Aggregates by window and key.
///
/// * input: any kinds
/// * output: `+I` only. A window [s, e) fires when the watermark reaches e - 1 ms, in the order of window ends, then
///   of the groups' first rows; a group whose rows were all retracted gives nothing
/// * state: per window and group the accumulators and, if the input can retract, the number of rows; the watermark
/// * dropped: when the window has fired
/// * late rows: a row whose window has fired is dropped and counted. A row in several windows (HOP, CUMULATE) still
///   goes into those that have not fired; it is counted as late once if any of its windows has
/// * NULL in the time column fails the job
#[derive(Debug)]
pub struct WindowAggregateOperator {
    assigner: WindowAssigner,
    columns_are_instants: bool,
    time_column: usize,
    time_name: String,
    keys: Vec<usize>,
    properties: Vec<WindowProperty>,
    schema: SchemaRef,
    own_groups: Range<u16>,

    table: KeyTable,
    aggregates: Aggregates,
    /// Rows per slot; only if the input can retract.
    counts: Option<Vec<i64>>,
    timers: Timers,
    /// The last watermark, also that of the run before.
    watermark_ms: Option<i64>,

    /// Windows that fire now.
    firing: Option<Firing>,
    slots: Slots,
    assigned: Assigned,
    late_rows: u64,
    late_sample: Option<String>,
}

/// What is left to be given out for a watermark.
#[derive(Debug)]
struct Firing {
    until_ms: i64,
    /// Slots of the window that is being given out, and how many of them have been.
    slots: Vec<u32>,
    given: usize,
}

impl WindowAggregateOperator {
    /// The operator of one instance.
    ///
    /// # Errors
    /// Session windows.
    pub fn new(node: &WindowAggregate, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let fields: Vec<FieldRef> = node.keys.iter().map(|&key| input.row.arrow().fields()[key].clone()).collect();
        let spec = KeyTableSpec { name: TABLE, namespace: Some("window_end"), fields, ttl_ms: None };
        Ok(WindowAggregateOperator {
            assigner: WindowAssigner::new(&node.window)?,
            columns_are_instants: node.window.time_zone.is_some(),
            time_column: node.window.time_column,
            time_name: input.row.fields()[node.window.time_column].name.clone(),
            keys: node.keys.clone(),
            properties: node.properties.clone(),
            schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(spec)?,
            aggregates: Aggregates::new(&node.calls, &input.row)?,
            counts: (!input.changelog.is_append_only()).then(Vec::new),
            timers: Timers::default(),
            watermark_ms: None,
            firing: None,
            slots: Slots::default(),
            assigned: Assigned::default(),
            late_rows: 0,
            late_sample: None,
        })
    }

    fn resize(&mut self) {
        let slots = self.table.slots_len();
        self.aggregates.resize(slots);
        if let Some(counts) = &mut self.counts {
            counts.resize(slots, 0);
        }
    }

    /// Takes the windows that have fired out of the assignment.
    fn drop_late(&mut self, times: &[i64], watermark_ms: i64) {
        let assigned = &mut self.assigned;
        // Later windows fire later: two bounds save asking for every row when its window fires.
        let (mut late_max, mut open_min) = (i64::MIN, i64::MAX);
        let mut kept = 0;
        let mut last_late = None;
        for index in 0..assigned.ends.len() {
            let (row, end) = (assigned.rows[index], assigned.ends[index]);
            if end > late_max && end < open_min {
                match self.assigner.fires_at(end) <= watermark_ms {
                    true => late_max = end,
                    false => open_min = end,
                }
            }
            let is_late = end <= late_max;
            if !is_late {
                (assigned.rows[kept], assigned.ends[kept]) = (row, end);
                kept += 1;
            } else if last_late != Some(row) {
                last_late = Some(row);
                self.late_rows += 1;
                self.late_sample.get_or_insert_with(|| {
                    let time = self.assigner.readable(times[row as usize]);
                    format!("{} {time} is behind watermark {}", self.time_name, self.assigner.readable(watermark_ms))
                });
            }
        }
        assigned.rows.truncate(kept);
        assigned.ends.truncate(kept);
    }

    /// Adds rows to their windows.
    fn apply(&mut self, batch: &ChangelogBatch, times: &[i64]) -> Result<()> {
        self.assigner.assign(times, &mut self.assigned);
        if let Some(watermark_ms) = self.watermark_ms {
            self.drop_late(times, watermark_ms);
        }
        if self.assigned.ends.is_empty() {
            return Ok(());
        }
        let is_identity = self.assigner.is_tumble() && self.assigned.rows.len() == batch.num_rows();
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
        for &slot in &self.slots.new {
            self.timers.add(self.table.namespace(slot), slot);
        }
        self.resize();
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
        Ok(())
    }

    /// The next slots to fire, at most `rows_max`.
    fn next_slots(&mut self, rows_max: usize) -> Vec<u32> {
        let mut out = Vec::new();
        let Some(firing) = &mut self.firing else { return out };
        while out.len() < rows_max {
            if firing.given == firing.slots.len() {
                match self.timers.first_time() {
                    Some(end) if self.assigner.fires_at(end) <= firing.until_ms => {
                        firing.slots = self.timers.pop_first().map(|(_, slots)| slots).unwrap_or_default();
                        firing.given = 0;
                    }
                    _ => break,
                }
            }
            let count = (rows_max - out.len()).min(firing.slots.len() - firing.given);
            out.extend_from_slice(&firing.slots[firing.given..firing.given + count]);
            firing.given += count;
        }
        out
    }

    /// The results of these slots; their state is dropped.
    fn fire(&mut self, slots: &[u32]) -> Result<ChangelogBatch> {
        let counts = self.counts.as_ref();
        let has_rows = |slot: &u32| counts.is_none_or(|counts| counts[*slot as usize] > 0);
        let results: Vec<u32> = slots.iter().copied().filter(has_rows).collect();
        let mut columns = self.table.keys(&results)?;
        columns.extend(self.aggregates.values(&results)?);
        let ends: Vec<i64> = results.iter().map(|&slot| self.table.namespace(slot)).collect();
        let windows = WindowColumns { assigner: &self.assigner, is_instant: self.columns_are_instants };
        columns.extend(self.properties.iter().map(|property| match property {
            WindowProperty::Start => windows.start(&ends),
            WindowProperty::End => windows.end(&ends),
            WindowProperty::Time => windows.time(&ends),
        }));
        let records = record_batch(&self.schema, columns, results.len())?;
        self.aggregates.reset(slots);
        if let Some(counts) = &mut self.counts {
            slots.iter().for_each(|&slot| counts[slot as usize] = 0);
        }
        self.table.remove(slots)?;
        Ok(ChangelogBatch::inserts(records))
    }
}

impl Operator for WindowAggregateOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let mut fields = self.aggregates.state_fields();
        if self.counts.is_some() {
            fields.insert(0, count_field());
        }
        for table in restored.iter().filter_map(|snapshot| snapshot.table(TABLE)) {
            let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
            self.resize();
            let mut values = &restored.values[..];
            if let Some(counts) = &mut self.counts {
                let saved = values[0].as_primitive::<Int64Type>();
                restored.slots.iter().zip(saved.values()).for_each(|(&slot, n)| counts[slot as usize] = *n);
                values = &values[1..];
            }
            self.aggregates.restore(&restored.slots, values)?;
            restored.slots.iter().for_each(|&slot| self.timers.add(self.table.namespace(slot), slot));
        }
        // Instances agree on the watermark when a barrier is aligned; if they ever do not, the smallest loses no row.
        let watermarks = restored.iter().map(|snapshot| snapshot.values.get(WATERMARK).copied());
        self.watermark_ms = watermarks.min().flatten();
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        self.watermark_ms = self.watermark_ms.max(context.watermark_ms);
        let times = row_times(batch.records(), self.time_column)?;
        let rows_max = (ASSIGNED_MAX / self.assigner.windows_per_row()).max(1);
        if batch.num_rows() <= rows_max {
            return self.apply(&batch, times.values());
        }
        for start in (0..batch.num_rows()).step_by(rows_max) {
            let rows = rows_max.min(batch.num_rows() - start);
            self.apply(&batch.slice(start, rows), &times.values()[start..start + rows])?;
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        self.watermark_ms = self.watermark_ms.max(Some(watermark_ms));
        match &mut self.firing {
            Some(firing) => firing.until_ms = firing.until_ms.max(watermark_ms),
            None => self.firing = Some(Firing { until_ms: watermark_ms, slots: Vec::new(), given: 0 }),
        }
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        loop {
            let slots = self.next_slots(context.rows_max.max(1));
            if slots.is_empty() {
                self.firing = None;
                return Ok(None);
            }
            let batch = self.fire(&slots)?;
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot> {
        let (aggregates, counts) = (&self.aggregates, &self.counts);
        // In firing order, so that the order of results survives a restart.
        let slots = self.timers.slots().collect();
        let table = self.table.snapshot(Scope::Full, slots, |slots| {
            let mut columns = Vec::new();
            if let Some(counts) = counts {
                let counts: Int64Array = slots.iter().map(|&slot| Some(counts[slot as usize])).collect();
                columns.push((count_field(), Arc::new(counts) as ArrayRef));
            }
            columns.extend(aggregates.state(slots)?);
            Ok(columns)
        })?;
        let values = self.watermark_ms.map(|watermark_ms| (WATERMARK.to_string(), watermark_ms));
        Ok(OperatorSnapshot { tables: vec![table], values: values.into_iter().collect() })
    }

    fn statistics(&self) -> OperatorStatistics {
        let counts = self.counts.as_ref().map_or(0, |counts| counts.capacity() * size_of::<i64>());
        let bytes = self.table.heap_bytes() + self.aggregates.heap_bytes() + self.timers.heap_bytes() + counts;
        OperatorStatistics {
            late_rows: self.late_rows,
            late_sample: self.late_sample.clone(),
            state_entries: self.table.len() as u64,
            state_bytes: bytes as u64,
            ..Default::default()
        }
    }
}

fn count_field() -> FieldRef {
    Arc::new(Field::new("rows", DataType::Int64, false))
}
