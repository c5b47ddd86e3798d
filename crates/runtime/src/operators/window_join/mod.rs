//! Joins of the rows of equal windows.

mod pairing;

use super::kept_rows::{KeptRows, PairCondition, key_fields, set};
use super::late::LateRows;
use super::output::{OutputQueue, record_batch};
use super::window::fires_at;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{JoinKind, Output, WindowJoin};
use base::{ChangelogBatch, Result};
use pairing::{Matched, Pairing, Pairs, Step};
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots, Timers};
use std::ops::Range;

/// The names of the sides in snapshots.
const TABLES: [&str; 2] = ["left", "right"];
/// The name of the watermark in snapshots.
const WATERMARK: &str = "watermark_ms";

/// Joins the rows of equal windows.
///
/// * input: inserts; output: inserts, in the order of window ends, then of the keys' first rows, then of the rows of the left
///   side (for a right join: of the right side)
/// * state: the rows of both sides by window and key; the watermark
/// * dropped: when the window has fired
/// * late rows: a row whose window has fired is dropped and counted
#[derive(Debug)]
pub struct WindowJoinOperator {
    kind: JoinKind,
    condition: Option<PairCondition>,
    output_schema: SchemaRef,
    own_groups: Range<u16>,
    ends: [usize; 2],
    end_names: [String; 2],
    time_zone: Option<base::time::Tz>,

    /// The keys of both sides, by window.
    table: KeyTable,
    sides: [KeptRows; 2],
    /// By slot: whether its key has a NULL that equals nothing.
    unmatchable: Vec<bool>,
    timers: Timers,
    /// The last watermark, also that of the run before.
    watermark_ms: Option<i64>,

    /// Windows that end by then are given out.
    firing_ms: Option<i64>,
    /// The slots of the window that is being given out, the next one last.
    firing: Vec<u32>,
    pairing: Option<Pairing>,
    matched: Matched,
    slots: Slots,
    late: LateRows,
    output: OutputQueue,
}

impl WindowJoinOperator {
    /// The operator of one instance.
    pub fn new(node: &WindowJoin, inputs: [&Output; 2], output: &Output, instance: Instance) -> Result<Self> {
        let [left, right] = inputs;
        let strict: Vec<bool> = node.keys.iter().map(|key| !key.null_safe).collect();
        let (left_keys, right_keys) = node.keys.iter().map(|key| (key.left, key.right)).unzip();
        let fields = key_fields(&node.keys, left);
        let name = |side: usize| inputs[side].row.fields()[node.ends[side]].name.clone();
        Ok(WindowJoinOperator {
            kind: node.kind,
            condition: PairCondition::new(&node.condition, left, right),
            output_schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            ends: node.ends,
            end_names: [name(0), name(1)],
            time_zone: node.time_zone,
            table: KeyTable::new(KeyTableSpec { name: "keys", namespace: Some("window_end"), fields, ttl_ms: None })?,
            sides: [
                KeptRows::new(TABLES[0], left, left_keys, strict.clone(), None)?,
                KeptRows::new(TABLES[1], right, right_keys, strict, None)?,
            ],
            unmatchable: Vec::new(),
            timers: Timers::default(),
            watermark_ms: None,
            firing_ms: None,
            firing: Vec::new(),
            pairing: None,
            matched: Matched::default(),
            slots: Slots::default(),
            late: LateRows::default(),
            output: OutputQueue::default(),
        })
    }

    fn resize(&mut self) {
        let slots = self.table.slots_len();
        self.sides.iter_mut().for_each(|side| side.rows.resize(slots));
        self.unmatchable.resize(slots, false);
    }

    /// Whether rows of a side without a partner are given.
    fn pads(&self, side: usize) -> bool {
        match self.kind {
            JoinKind::Left | JoinKind::Anti => side == 0,
            JoinKind::Right => side == 1,
            JoinKind::Full => true,
            JoinKind::Inner | JoinKind::Semi => false,
        }
    }

    /// The rows of a batch whose windows have not fired, and their window ends.
    fn on_time(&mut self, input: usize, batch: &ChangelogBatch) -> Result<(Vec<u32>, Vec<i64>)> {
        let ends = base::time::epoch_ms(batch.records().column(self.ends[input]))?;
        let mut known: Option<(i64, i64)> = None;
        let (mut rows, mut kept) = (Vec::with_capacity(ends.len()), Vec::with_capacity(ends.len()));
        for (row, &end) in ends.values().iter().enumerate() {
            let fires = match known {
                Some((known_end, fires)) if known_end == end => fires,
                _ => fires_at(self.time_zone, end),
            };
            known = Some((end, fires));
            match self.watermark_ms {
                Some(watermark_ms) if fires <= watermark_ms => {
                    self.late.add(&self.end_names[input], end, watermark_ms);
                }
                _ => {
                    rows.push(row as u32);
                    kept.push(end);
                }
            }
        }
        Ok((rows, kept))
    }

    /// The next slot that fires.
    fn next_slot(&mut self) -> Option<u32> {
        let until = self.firing_ms?;
        if self.firing.is_empty() {
            let end = self.timers.first_time()?;
            if fires_at(self.time_zone, end) > until {
                return None;
            }
            (_, self.firing) = self.timers.pop_first()?;
            self.firing.reverse();
        }
        self.firing.pop()
    }

    /// Collects about `limit` pairs of the windows that fire.
    fn collect(&mut self, limit: usize) -> (Pairs, Vec<Step>) {
        let (mut pairs, mut steps) = (Pairs::default(), Vec::new());
        let is_once = matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
        let first_only = is_once && self.condition.is_none();
        let is_full = self.kind == JoinKind::Full;
        while pairs.len() < limit && steps.len() < limit {
            let mut pairing = match self.pairing.take() {
                Some(pairing) => pairing,
                None => match self.next_slot() {
                    Some(slot) => {
                        let is_unmatchable = self.unmatchable[slot as usize];
                        Pairing::new(slot, &self.sides, self.kind, is_unmatchable, first_only)
                    }
                    None => break,
                },
            };
            if !pairing.advance(limit, is_full, &mut pairs, &mut steps) {
                self.pairing = Some(pairing);
            }
        }
        (pairs, steps)
    }

    /// Gives the next results. Gives whether there may be more.
    fn fire(&mut self, limit: usize) -> Result<bool> {
        let (pairs, steps) = self.collect(limit);
        if steps.is_empty() {
            self.firing_ms = None;
            return Ok(false);
        }
        let results = self.join(&pairs, &steps)?;
        self.emit(&results)?;
        let done: Vec<u32> = steps.iter().filter_map(Step::finished).collect();
        for side in &mut self.sides {
            done.iter().for_each(|&slot| side.rows.clear(slot));
            side.rows.release();
        }
        self.table.remove(&done)?;
        Ok(true)
    }

    fn emit(&mut self, results: &pairing::Results) -> Result<()> {
        if results.is_empty() {
            return Ok(());
        }
        let only_left = matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
        let keys = self.table.keys(&results.slots)?;
        let mut columns: Vec<ArrayRef> = results.columns(0, &self.sides[0], &keys)?;
        if !only_left {
            columns.extend(results.columns(1, &self.sides[1], &keys)?);
        }
        self.output.push(ChangelogBatch::inserts(record_batch(&self.output_schema, columns, results.slots.len())?));
        Ok(())
    }
}

impl Operator for WindowJoinOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        for snapshot in restored {
            for side in &mut self.sides {
                let Some(table) = snapshot.table(side.name()) else { continue };
                let zeros = |restored: &state::Restored| Ok(vec![0; restored.slots.len()]);
                side.restore(&mut self.table, table, self.own_groups.clone(), &[], zeros)?;
            }
        }
        self.resize();
        let live = self.table.live_slots();
        if let Some(unmatchable) = self.sides[0].unmatchable(&self.table.keys(&live)?) {
            live.iter().zip(unmatchable).for_each(|(&slot, is)| self.unmatchable[slot as usize] = is);
        }
        let mut slots: Vec<(i64, u32)> =
            self.table.live_slots().into_iter().map(|slot| (self.table.namespace(slot), slot)).collect();
        slots.sort_unstable();
        slots.into_iter().for_each(|(end, slot)| self.timers.add(end, slot));
        // The smallest loses no row.
        let watermarks = restored.iter().map(|snapshot| snapshot.values.get(WATERMARK).copied());
        self.watermark_ms = watermarks.min().flatten();
        Ok(())
    }

    fn on_batch(&mut self, input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        self.watermark_ms = self.watermark_ms.max(context.watermark_ms);
        let (rows, ends) = self.on_time(input, &batch)?;
        if rows.is_empty() {
            return Ok(());
        }
        let batch = if rows.len() == batch.num_rows() { batch } else { batch.take(&rows.into())? };
        let keys = self.sides[input].key_columns(&batch);
        let pads = self.pads(input);
        let unmatchable = self.sides[input].unmatchable(&keys);
        let key_batch = KeyBatch { columns: &keys, namespaces: Some(&ends), rows: ends.len() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        for &slot in &self.slots.new {
            self.timers.add(self.table.namespace(slot), slot);
        }
        self.resize();
        let encoded = self.sides[input].encode(&batch)?;
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            let is_unmatchable = unmatchable.as_ref().is_some_and(|rows| rows[row]);
            set(&mut self.unmatchable, slot, is_unmatchable);
            if pads || !is_unmatchable {
                self.sides[input].insert(slot, &encoded, row, 0);
            }
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        self.watermark_ms = self.watermark_ms.max(Some(watermark_ms));
        self.firing_ms = self.watermark_ms;
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let rows_max = context.rows_max.max(1);
        loop {
            if let Some(batch) = self.output.next(rows_max) {
                return Ok(Some(batch));
            }
            if !self.fire(rows_max)? {
                return Ok(None);
            }
        }
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let sides = self.sides.iter_mut();
        let tables = sides.map(|side| side.snapshot(&self.table, scope, |_, _| Vec::new())).collect::<Result<_>>()?;
        let values = self.watermark_ms.map(|watermark_ms| (WATERMARK.to_string(), watermark_ms)).into_iter().collect();
        Ok(OperatorSnapshot { tables, values })
    }

    fn wakes(&self) -> Wakes {
        Wakes::at_watermark(self.timers.first_time().map(|end| fires_at(self.time_zone, end)))
    }

    fn statistics(&self) -> OperatorStatistics {
        let bytes: usize = self.sides.iter().map(KeptRows::heap_bytes).sum();
        self.late.report(OperatorStatistics {
            state_entries: self.sides.iter().map(|side| side.rows.rows() as u64).sum(),
            state_bytes: (self.table.heap_bytes() + self.timers.heap_bytes() + bytes) as u64,
            ..Default::default()
        })
    }
}
