//! GROUP BY a HOP or CUMULATE window, with panes: a row is accumulated once, however many windows it is in.

mod distinct;
mod grid;
mod layer;
mod sliding;
mod slots;

use super::super::aggregates::Aggregates;
use super::super::late::LateRows;
use super::super::output::record_batch;
use super::super::window::{WindowAssigner, WindowFrontier};
use super::super::window_time::WindowTime;
use super::window_columns;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{FieldRef, SchemaRef};
use base::connector::Instance;
use base::function::Merging;
use base::key::groups_of_instance;
use base::plan::{Output, WindowAggregate, WindowProperty};
use base::{ChangelogBatch, Result, RowKind};
use grid::Grid;
use layer::PaneRows;
use sliding::{PANES, Sliding, WINDOWS};
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots};
use std::collections::BTreeMap;
use std::ops::Range;

/// The names in snapshots.
const WATERMARK: &str = "watermark_ms";
const POSITION: &str = "position_ms";

/// Aggregates by window and key, where windows share rows and are given once.
///
/// * input: any kinds
/// * output: `+I` only: a window [s, e) fires when the watermark (for PROCTIME() the clock) reaches e - 1 ms, in the order of
///   window ends, then of the keys as they came into the window; a group whose rows were all retracted gives nothing
/// * state: per key and pane with rows the accumulators and, if the input can retract, the number of rows; the same once per key
///   for the window that was given last. CUMULATE keeps a pane until its first window only. With DISTINCT over input that only
///   adds rows, per key and value the panes in which it is
/// * dropped: a pane with the last window that has it
/// * late rows: a row whose windows have all fired is dropped and counted. A row of which some windows are open goes into those
/// * NULL in the time column fails the job, or the row is dropped and counted
#[derive(Debug)]
pub struct PaneAggregateOperator {
    assigner: WindowAssigner,
    grid: Grid,
    columns_are_instants: bool,
    time: WindowTime,
    keys: Vec<usize>,
    properties: Vec<WindowProperty>,
    schema: SchemaRef,
    own_groups: Range<u16>,

    table: KeyTable,
    sliding: Sliding,

    /// Windows fire until this time.
    firing_until_ms: Option<i64>,
    /// The window that is being given, and how many keys have been.
    giving: Option<(i64, usize)>,

    slots: Slots,
    /// Rows that are not late, and their panes.
    rows: Vec<u32>,
    panes: Vec<i64>,
    late: LateRows,
}

/// What becomes of the rows of a pane.
#[derive(Debug, Clone, Copy)]
struct PaneLook {
    start: i64,
    end: i64,
    is_over: bool,
}

impl PaneAggregateOperator {
    /// The operator of one instance; `None` if panes do not help: windows share no rows, give more than one result, or need the
    /// order in which rows came.
    ///
    /// # Errors
    /// Keys of a type that cannot be a key.
    pub fn new(
        node: &WindowAggregate,
        input: &Output,
        output: &Output,
        instance: Instance,
        drops_null: bool,
    ) -> Result<Option<Self>> {
        let grid = Grid::new(&node.window).filter(|_| !node.is_attached && !node.emit.makes_updates());
        let Some(grid) = grid else { return Ok(None) };
        let mergings: Vec<Merging> = Aggregates::new(&node.calls, &input.row)?.mergings().collect();
        let retracts = !input.changelog.is_append_only();
        let sliding = Sliding::new(grid, &node.calls, &mergings, &input.row, retracts)?;
        let Some(sliding) = sliding else { return Ok(None) };
        let fields: Vec<FieldRef> = node.keys.iter().map(|&key| input.row.arrow().fields()[key].clone()).collect();
        Ok(Some(PaneAggregateOperator {
            assigner: WindowAssigner::new(&node.window)?,
            grid,
            columns_are_instants: node.window.time_zone.is_some(),
            time: WindowTime::new(&node.window, input.row.arrow(), drops_null),
            keys: node.keys.clone(),
            properties: node.properties.clone(),
            schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: PANES, namespace: None, fields, ttl_ms: None })?,
            sliding,
            firing_until_ms: None,
            giving: None,
            slots: Slots::default(),
            rows: Vec::new(),
            panes: Vec::new(),
            late: LateRows::default(),
        }))
    }

    /// Finds the panes of rows, and leaves those out of which all windows have fired.
    fn assign(&mut self, times: &[i64]) {
        self.rows.clear();
        self.panes.clear();
        let mut frontier = WindowFrontier::new(self.time.now_ms());
        let mut look = PaneLook { start: 0, end: 0, is_over: false };
        for (row, &time) in times.iter().enumerate() {
            let local = self.assigner.local(time);
            if local < look.start || local >= look.end {
                look = self.look(self.grid.pane(local), &mut frontier);
            }
            if look.is_over {
                let now_ms = self.time.now_ms().unwrap_or(i64::MIN);
                self.late.add_row(row as u32, || self.assigner.late_text(self.time.name(), time, now_ms));
            } else {
                self.rows.push(row as u32);
                self.panes.push(look.end);
            }
        }
    }

    fn look(&mut self, pane: i64, frontier: &mut WindowFrontier) -> PaneLook {
        let start = self.grid.start(pane);
        let mut fired = self.grid.first_window(pane);
        if !frontier.is_over(&self.assigner, fired) {
            return PaneLook { start, end: pane, is_over: false };
        }
        let last = self.grid.last_window(pane);
        if frontier.is_over(&self.assigner, last) {
            return PaneLook { start, end: pane, is_over: true };
        }
        // Some windows of the pane have fired, so all of them up to there: they may have had no rows.
        loop {
            let next = fired.saturating_add(self.grid.every_ms);
            if next >= last || !frontier.is_over(&self.assigner, next) {
                break;
            }
            fired = next;
        }
        self.sliding.skip_to(fired);
        PaneLook { start, end: pane, is_over: false }
    }

    fn apply(&mut self, batch: &ChangelogBatch) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let is_whole = self.rows.len() == batch.num_rows();
        let rows = (!is_whole).then(|| UInt32Array::from(self.rows.clone()));
        let mut keys: Vec<ArrayRef> = self.keys.iter().map(|&key| batch.records().column(key).clone()).collect();
        let mut picked: Option<Vec<RowKind>> = None;
        if let Some(rows) = &rows {
            for key in &mut keys {
                *key = take(key.as_ref(), rows, None)?;
            }
            picked = batch.kinds().map(|kinds| rows.values().iter().map(|&row| kinds[row as usize]).collect());
        }
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: self.rows.len() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        self.sliding.resize_keys(self.table.slots_len());
        self.sliding.add(&PaneRows {
            batch: batch.records(),
            rows: rows.as_ref(),
            kinds: if is_whole { batch.kinds() } else { picked.as_deref() },
            keys: &self.slots.rows,
            panes: &self.panes,
        })
    }

    /// The next results of the window that is being given; `None` if that was all of them.
    fn give(&mut self, rows_max: usize) -> Result<Option<ChangelogBatch>> {
        while let Some((end, given)) = self.giving {
            let active = self.sliding.active();
            let until = active.len().min(given + rows_max);
            if given == until {
                self.giving = None;
                let gone = self.sliding.finish(end)?;
                self.table.remove(&gone)?;
                return Ok(None);
            }
            let keys: Vec<u32> =
                active[given..until].iter().copied().filter(|&key| self.sliding.has_rows(key)).collect();
            self.giving = Some((end, until));
            if !keys.is_empty() {
                return self.results(end, &keys).map(Some);
            }
        }
        Ok(None)
    }

    fn results(&mut self, end: i64, keys: &[u32]) -> Result<ChangelogBatch> {
        let mut columns = self.table.keys(keys)?;
        columns.extend(self.sliding.values(keys)?);
        let repeated: UInt32Array = vec![0; keys.len()].into();
        for column in window_columns(&self.assigner, self.columns_are_instants, &self.properties, &[end]) {
            columns.push(take(column.as_ref(), &repeated, None)?);
        }
        Ok(ChangelogBatch::inserts(record_batch(&self.schema, columns, keys.len())?))
    }

    fn fire_until(&mut self, until_ms: Option<i64>) {
        self.firing_until_ms = self.firing_until_ms.max(until_ms);
    }
}

impl Operator for PaneAggregateOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        // Instances agree on the watermark when a barrier is aligned; if they ever do not, the smallest loses no row.
        let times = restored.iter().map(|snapshot| snapshot.values.get(WATERMARK).copied());
        self.time.restore(times.min().flatten());
        let fields = self.sliding.window_fields();
        for snapshot in restored {
            let Some(&position) = snapshot.values.get(POSITION) else { continue };
            let Some(table) = snapshot.table(WINDOWS) else { continue };
            let windows = self.table.restore(table, self.own_groups.clone(), &fields)?;
            self.sliding.resize_keys(self.table.slots_len());
            self.sliding.restore_windows(position, &windows.slots, &windows.values)?;
        }
        let fields = self.sliding.pane_fields();
        for table in restored.iter().filter_map(|snapshot| snapshot.table(PANES)) {
            let panes = self.table.restore(table, self.own_groups.clone(), &fields)?;
            self.sliding.resize_keys(self.table.slots_len());
            self.sliding.restore_panes(&panes.slots, &panes.values)?;
        }
        self.sliding.restore_order();
        for (at, (name, fields)) in self.sliding.distinct_tables().into_iter().enumerate() {
            for table in restored.iter().filter_map(|snapshot| snapshot.table(&name)) {
                let values = self.table.restore(table, self.own_groups.clone(), &fields)?;
                self.sliding.resize_keys(self.table.slots_len());
                self.sliding.restore_distinct(at, &values.slots, &values.values)?;
            }
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        let (batch, times) = self.time.rows(batch, context)?;
        self.assign(&times);
        self.late.batch(&batch)?;
        self.apply(&batch)
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        let until_ms = self.time.on_watermark(watermark_ms);
        self.fire_until(until_ms);
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let until_ms = self.time.on_processing_time(context);
        self.fire_until(until_ms);
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        loop {
            if let Some(batch) = self.give(context.rows_max.max(1))? {
                return Ok(Some(batch));
            }
            let Some(until_ms) = self.firing_until_ms else { return Ok(None) };
            match self.sliding.next_window().filter(|&end| self.assigner.fires_at(end) <= until_ms) {
                None => self.firing_until_ms = None,
                Some(end) => {
                    self.sliding.slide(end)?;
                    self.giving = Some((end, 0));
                }
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
        let tables = self.sliding.snapshot(&self.table, scope)?;
        let times = [(WATERMARK, self.time.now_ms()), (POSITION, self.sliding.position())];
        let values: BTreeMap<String, i64> =
            times.into_iter().filter_map(|(name, time)| Some((name.to_string(), time?))).collect();
        Ok(OperatorSnapshot { tables, values })
    }

    fn wakes(&self) -> Wakes {
        self.time.wakes(self.sliding.next_window().map(|end| self.assigner.fires_at(end)))
    }

    fn statistics(&self) -> OperatorStatistics {
        self.late.report(OperatorStatistics {
            dropped_rows: self.time.dropped(),
            state_entries: self.sliding.len() as u64,
            state_bytes: (self.table.heap_bytes() + self.sliding.heap_bytes()) as u64,
            ..Default::default()
        })
    }
}
