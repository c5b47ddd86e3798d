//! Windows that are put together from panes, for all keys at once.
//!
//! Time goes from window to window: panes come in at the front, and leave behind the window. All windows up to
//! [`Sliding::position`] have been given; what is kept by key is that of the window there, without what no later window has.

use super::super::super::aggregates::Aggregates;
use super::distinct::{DistinctCalls, Places, coming, leaving};
use super::grid::Grid;
use super::layer::{PaneRows, Rests};
use super::slots::{NONE, PaneSlots};
use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use base::function::Merging;
use base::plan::AggregateCall;
use base::types::RowType;
use base::{Error, Result};
use state::{KeyTable, RowNumbers, Scope, TableSnapshot};
use std::sync::Arc;

/// The names in snapshots.
pub(super) const PANES: &str = "panes";
pub(super) const WINDOWS: &str = "windows";

/// Panes of keys, and the window that they make.
#[derive(Debug)]
pub(super) struct Sliding {
    grid: Grid,
    panes: PaneSlots,
    /// By slot: the number of rows. Only if the input can retract.
    counts: Option<Vec<i64>>,
    /// Calls of which a window is kept: a pane that comes in is merged, and one that leaves is taken away again.
    exact: Aggregates,
    /// Calls of which the beginning of the block is kept.
    folded: Aggregates,
    rests: Rests,
    /// Calls with DISTINCT over input that only adds rows.
    distinct: Vec<DistinctCalls>,
    /// By call: its place among the exact ones, then the folded ones, then those with DISTINCT.
    places: Vec<usize>,
    position: Option<i64>,

    /// By key: panes that have a slot.
    held: Vec<u32>,
    /// By key: panes in the window.
    inside: Vec<u32>,
    /// By key: the slot of its window.
    windows: Vec<u32>,
    /// Keys with panes in the window, in the order in which they came into it.
    active: Vec<u32>,
    /// Slots in which results are put together.
    results: Vec<u32>,
    slots: Vec<u32>,
    new: Vec<u32>,
    /// Panes by their slots: which have changed since the last snapshot.
    pane_numbers: RowNumbers,
    /// Windows by their keys.
    window_numbers: RowNumbers,
}

impl Sliding {
    /// No pane. `None` if the results of a call depend on the order of rows: panes do not know that.
    pub fn new(
        grid: Grid,
        calls: &[AggregateCall],
        mergings: &[Merging],
        input: &RowType,
        retracts: bool,
    ) -> Result<Option<Sliding>> {
        if mergings.contains(&Merging::InOrder) {
            return Ok(None);
        }
        let numbers = |wanted: Merging| -> Vec<usize> {
            mergings.iter().enumerate().filter(|(_, merging)| **merging == wanted).map(|(number, _)| number).collect()
        };
        let (mut exact, folded) = (numbers(Merging::Exact), numbers(Merging::AnyOrder));
        let distinct = if retracts { Vec::new() } else { DistinctCalls::of(calls, input, &mut exact)? };
        let mut places = vec![0; calls.len()];
        let all = exact.iter().chain(&folded).chain(distinct.iter().flat_map(DistinctCalls::calls));
        all.enumerate().for_each(|(place, &number)| places[number] = place);
        Ok(Some(Sliding {
            grid,
            panes: PaneSlots::default(),
            counts: retracts.then(Vec::new),
            exact: Aggregates::some(calls, &exact, input)?,
            folded: Aggregates::some(calls, &folded, input)?,
            rests: Rests::default(),
            distinct,
            places,
            position: None,
            held: Vec::new(),
            inside: Vec::new(),
            windows: Vec::new(),
            active: Vec::new(),
            results: Vec::new(),
            slots: Vec::new(),
            new: Vec::new(),
            pane_numbers: RowNumbers::default(),
            window_numbers: RowNumbers::default(),
        }))
    }

    /// The end of the last window that has been given.
    pub fn position(&self) -> Option<i64> {
        self.position
    }

    /// Windows up to `end` have been given: there was nothing in them.
    pub fn skip_to(&mut self, end: i64) {
        if self.active.is_empty() {
            self.position = self.position.max(Some(end));
        }
    }

    /// Makes keys `0..keys` usable.
    pub fn resize_keys(&mut self, keys: usize) {
        self.panes.resize_keys(keys);
        self.held.resize(keys, 0);
        self.inside.resize(keys, 0);
        self.windows.resize(keys, NONE);
        self.resize();
    }

    fn resize(&mut self) {
        let slots = self.panes.slots_len();
        if let Some(counts) = &mut self.counts {
            counts.resize(slots, 0);
        }
        self.exact.resize(slots);
        if !self.folded.is_empty() {
            self.folded.resize(slots);
            self.rests.resize(slots, self.held.len());
        }
        self.distinct.iter_mut().for_each(|calls| calls.resize(slots, self.held.len()));
    }

    /// Adds rows to their panes.
    pub fn add(&mut self, rows: &PaneRows<'_>) -> Result<()> {
        let is_late = |pane: &i64| self.position.is_some_and(|position| *pane <= position);
        if rows.panes.iter().any(is_late) {
            return self.add_late(rows);
        }
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        slots.extend(rows.keys.iter().zip(rows.panes).map(|(&key, &pane)| self.slot(key, pane)));
        self.panes.settle();
        self.new.clear();
        self.resize();
        if let Some(counts) = &mut self.counts {
            slots.iter().enumerate().for_each(|(place, &slot)| counts[slot as usize] += rows.sign(place));
        }
        rows.apply(&mut self.exact, &slots)?;
        rows.apply(&mut self.folded, &slots)?;
        self.add_distinct(rows, &slots)?;
        slots.iter().for_each(|&slot| self.pane_numbers.changed(slot));
        self.slots = slots;
        Ok(())
    }

    /// Adds rows to the values of calls with DISTINCT. A pane that is not kept has no slot.
    fn add_distinct(&mut self, rows: &PaneRows<'_>, slots: &[u32]) -> Result<()> {
        if self.distinct.is_empty() {
            return Ok(());
        }
        let numbers: Vec<i64> = rows.panes.iter().map(|&pane| self.grid.number(pane)).collect();
        let places = Places {
            grid: self.grid,
            position: self.position,
            panes: &self.panes,
            windows: &self.windows,
            keys: rows.keys,
            numbers: &numbers,
            slots,
        };
        self.distinct.iter_mut().try_for_each(|calls| calls.add(rows, &places))
    }

    fn slot(&mut self, key: u32, pane: i64) -> u32 {
        let (slot, is_new) = self.panes.find_or_insert(key, pane);
        if is_new {
            self.held[key as usize] += 1;
            self.new.push(slot);
            self.pane_numbers.added(slot);
        }
        slot
    }

    /// Adds rows of which some are late for windows that have been given, but not for later ones.
    fn add_late(&mut self, rows: &PaneRows<'_>) -> Result<()> {
        let position = self.position.unwrap_or(i64::MIN);
        let places = |wanted: &dyn Fn(i64) -> bool| -> Vec<u32> {
            (0..rows.keys.len() as u32).filter(|&place| wanted(rows.panes[place as usize])).collect()
        };
        // Panes of CUMULATE that came in are not kept.
        let kept = places(&|pane| pane > position || !self.grid.is_cumulate);
        let late = places(&|pane| pane <= position);
        let slots: Vec<u32> =
            kept.iter().map(|&place| self.slot(rows.keys[place as usize], rows.panes[place as usize])).collect();
        self.panes.settle();
        let mut new = std::mem::take(&mut self.new);
        new.retain(|&slot| self.panes.end(slot) <= position);
        new.iter().for_each(|&slot| self.activate(self.panes.key(slot)));
        if self.grid.is_cumulate {
            late.iter().for_each(|&place| self.activate(rows.keys[place as usize]));
        }
        self.resize();
        let windows_of = |places: &[u32]| -> Vec<u32> {
            places.iter().map(|&place| self.windows[rows.keys[place as usize] as usize]).collect()
        };
        let late_windows = windows_of(&late);
        if let Some(counts) = &mut self.counts {
            let all = kept.iter().zip(&slots).chain(late.iter().zip(&late_windows));
            all.for_each(|(&place, &slot)| counts[slot as usize] += rows.sign(place as usize));
        }
        rows.apply_some(&mut self.exact, &kept, &slots)?;
        rows.apply_some(&mut self.exact, &late, &late_windows)?;
        if !self.distinct.is_empty() {
            let mut all = vec![NONE; rows.keys.len()];
            kept.iter().zip(&slots).for_each(|(&place, &slot)| all[place as usize] = slot);
            self.add_distinct(rows, &all)?;
        }
        slots.iter().for_each(|&slot| self.pane_numbers.changed(slot));
        late.iter().for_each(|&place| self.window_numbers.changed(rows.keys[place as usize]));
        if !self.folded.is_empty() {
            let block_start = self.grid.block(position).saturating_sub(self.grid.size_ms);
            for &slot in new.iter().filter(|slot| self.panes.end(**slot) <= block_start) {
                if let Some(later) = self.rests.insert(slot, &self.panes) {
                    self.folded.merge_slots(&[slot], &[later])?;
                }
            }
            let is_rest = |place: u32| !self.grid.is_cumulate && rows.panes[place as usize] <= block_start;
            let (mut into, mut places) = (Vec::new(), Vec::new());
            for (&place, &slot) in kept.iter().zip(&slots).filter(|(place, _)| !is_rest(**place)) {
                places.push(place);
                into.push(slot);
            }
            for (&place, &window) in late.iter().zip(&late_windows) {
                if is_rest(place) {
                    let (key, pane) = (rows.keys[place as usize], rows.panes[place as usize]);
                    into.extend(self.rests.with_pane(key, pane, &self.panes));
                    into[places.len()..].iter().for_each(|&slot| self.pane_numbers.changed(slot));
                } else {
                    into.push(window);
                }
                places.resize(into.len(), place);
            }
            rows.apply_some(&mut self.folded, &places, &into)?;
        }
        new.clear();
        self.new = new;
        Ok(())
    }

    /// A pane of the key has come into the window. Its slot may be a new one.
    fn activate(&mut self, key: u32) {
        let inside = &mut self.inside[key as usize];
        if *inside == 0 {
            self.active.push(key);
            self.windows[key as usize] = self.panes.reserve();
            self.window_numbers.added(key);
        }
        *inside += 1;
    }

    /// The slots of the windows of these keys.
    fn windows(&self, keys: &[u32]) -> Vec<u32> {
        keys.iter().map(|&key| self.windows[key as usize]).collect()
    }

    /// The end of the next window that has anything in it.
    pub fn next_window(&self) -> Option<i64> {
        let next = match (self.position, self.active.is_empty()) {
            (Some(position), false) => position.saturating_add(self.grid.every_ms),
            _ => self.grid.first_window(self.panes.first_end()?),
        };
        // Times at the end of the range have no next window.
        Some(next).filter(|next| self.position.is_none_or(|position| *next > position))
    }

    /// Goes on to the window that ends at `end`, the next one.
    pub fn slide(&mut self, end: i64) -> Result<()> {
        let mut from = self.position;
        let last = match self.active.is_empty() {
            true => self.panes.first_end(),
            false => self.position,
        };
        let block = self.grid.block(last.unwrap_or(end));
        if block < end && !self.grid.is_cumulate && !self.folded.is_empty() {
            self.enter(from, block)?;
            from = from.max(Some(block));
            self.end_block(block)?;
        }
        self.enter(from, end)?;
        self.position = Some(end);
        Ok(())
    }

    /// A block is over: its panes become rests, from the latest to the earliest.
    fn end_block(&mut self, block: i64) -> Result<()> {
        for (_, slots) in self.panes.range(None, block).rev() {
            let (mut into, mut from) = (Vec::with_capacity(slots.len()), Vec::with_capacity(slots.len()));
            for &slot in slots {
                if let Some(later) = self.rests.put_first(slot, &self.panes) {
                    into.push(slot);
                    from.push(later);
                }
            }
            self.folded.merge_slots(&into, &from)?;
            into.iter().for_each(|&slot| self.pane_numbers.changed(slot));
        }
        let windows = self.windows(&self.active);
        self.folded.reset(&windows);
        self.active.iter().for_each(|&key| self.window_numbers.changed(key));
        Ok(())
    }

    /// Panes behind `from`, up to `until`, come into the window.
    fn enter(&mut self, from: Option<i64>, until: i64) -> Result<()> {
        let entering: Vec<i64> = self.panes.range(from, until).map(|(end, _)| end).collect();
        for end in entering {
            let slots = self.panes.at(end).to_vec();
            let keys: Vec<u32> = slots.iter().map(|&slot| self.panes.key(slot)).collect();
            keys.iter().for_each(|&key| self.activate(key));
            self.resize();
            let windows = self.windows(&keys);
            self.exact.merge_slots(&windows, &slots)?;
            self.folded.merge_slots(&windows, &slots)?;
            if !self.distinct.is_empty() {
                let (into, from) = (coming(&windows), coming(&slots));
                self.distinct.iter_mut().try_for_each(|calls| calls.enter(&into, &from))?;
            }
            keys.iter().for_each(|&key| self.window_numbers.changed(key));
            if let Some(counts) = &mut self.counts {
                for (&slot, &window) in slots.iter().zip(&windows) {
                    counts[window as usize] += counts[slot as usize];
                }
            }
            if self.grid.is_cumulate {
                self.release(end, &slots, &keys);
            }
        }
        Ok(())
    }

    /// Keys with panes in the window.
    pub fn active(&self) -> &[u32] {
        &self.active
    }

    /// Whether a key has rows in the window: retractions may have left none.
    pub fn has_rows(&self, key: u32) -> bool {
        self.counts.as_ref().is_none_or(|counts| counts[self.windows[key as usize] as usize] > 0)
    }

    /// The results of the window for these keys, one column per call.
    pub fn values(&mut self, keys: &[u32]) -> Result<Vec<ArrayRef>> {
        let windows = self.windows(keys);
        let mut values = self.exact.values(&windows)?;
        if !self.folded.is_empty() {
            values.extend(self.folded_values(keys, &windows)?);
        }
        if !self.distinct.is_empty() {
            let windows = coming(&windows);
            for calls in &self.distinct {
                values.extend(calls.values(&windows)?);
            }
        }
        Ok(self.places.iter().map(|&place| values[place].clone()).collect())
    }

    /// A rest and the beginning of the next block.
    fn folded_values(&mut self, keys: &[u32], windows: &[u32]) -> Result<Vec<ArrayRef>> {
        while self.results.len() < keys.len() {
            self.results.push(self.panes.reserve());
        }
        self.resize();
        let results = &self.results[..keys.len()];
        let (mut into, mut from) = (Vec::new(), Vec::new());
        for (&key, &result) in keys.iter().zip(results) {
            if let Some(rest) = self.rests.first(key) {
                into.push(result);
                from.push(rest);
            }
        }
        if into.is_empty() {
            return self.folded.values(windows);
        }
        self.folded.merge_slots(&into, &from)?;
        self.folded.merge_slots(results, windows)?;
        let values = self.folded.values(results);
        self.folded.reset(results);
        values
    }

    /// The window has been given: what no later one has leaves. Gives the keys of which nothing is left.
    pub fn finish(&mut self, end: i64) -> Result<Vec<u32>> {
        let mut is_empty = Vec::new();
        if self.grid.is_cumulate {
            if self.grid.block(end) == end {
                is_empty = std::mem::take(&mut self.active);
                is_empty.iter().for_each(|&key| self.inside[key as usize] = 0);
            }
        } else {
            let until = end.saturating_add(self.grid.every_ms).saturating_sub(self.grid.size_ms);
            let leaving: Vec<i64> = self.panes.range(None, until).map(|(end, _)| end).collect();
            for end in leaving {
                self.leave(end, &mut is_empty)?;
            }
            if !is_empty.is_empty() {
                let inside = &self.inside;
                self.active.retain(|&key| inside[key as usize] > 0);
            }
        }
        self.close_windows(&is_empty);
        is_empty.retain(|&key| self.held[key as usize] == 0);
        for calls in &mut self.distinct {
            calls.forget(&is_empty);
            calls.tidy(self.grid, end, self.held.len());
        }
        Ok(is_empty)
    }

    /// A pane leaves the window. Adds the keys that have none any more to `is_empty`.
    fn leave(&mut self, end: i64, is_empty: &mut Vec<u32>) -> Result<()> {
        let slots = self.panes.at(end).to_vec();
        let keys: Vec<u32> = slots.iter().map(|&slot| self.panes.key(slot)).collect();
        let (mut windows, mut from) = (Vec::with_capacity(keys.len()), Vec::with_capacity(keys.len()));
        for (&slot, &key) in slots.iter().zip(&keys) {
            if !self.folded.is_empty() {
                self.rests.leave(slot, key);
            }
            let inside = &mut self.inside[key as usize];
            *inside -= 1;
            if *inside == 0 {
                is_empty.push(key);
            } else {
                windows.push(self.windows[key as usize]);
                from.push(slot);
                self.window_numbers.changed(key);
            }
        }
        self.exact.unmerge_slots(&windows, &from)?;
        if !self.distinct.is_empty() {
            let (into, from) = (coming(&windows), leaving(&from));
            self.distinct.iter_mut().try_for_each(|calls| calls.leave(&into, &from))?;
        }
        if let Some(counts) = &mut self.counts {
            windows.iter().zip(&from).for_each(|(&window, &slot)| counts[window as usize] -= counts[slot as usize]);
        }
        self.release(end, &slots, &keys);
        Ok(())
    }

    /// These keys have nothing in the window.
    fn close_windows(&mut self, keys: &[u32]) {
        let windows = self.windows(keys);
        self.reset(&windows);
        windows.into_iter().for_each(|window| self.panes.give_back(window));
        for &key in keys {
            self.windows[key as usize] = NONE;
            self.window_numbers.removed(key);
        }
    }

    /// Gives the slots of a pane free.
    fn release(&mut self, end: i64, slots: &[u32], keys: &[u32]) {
        self.reset(slots);
        keys.iter().for_each(|&key| self.held[key as usize] -= 1);
        slots.iter().for_each(|&slot| self.pane_numbers.removed(slot));
        self.panes.release(end);
    }

    fn reset(&mut self, slots: &[u32]) {
        self.exact.reset(slots);
        self.folded.reset(slots);
        if !self.distinct.is_empty() {
            let all = [coming(slots), leaving(slots)].concat();
            self.distinct.iter_mut().for_each(|calls| calls.reset(&all));
        }
        if let Some(counts) = &mut self.counts {
            slots.iter().for_each(|&slot| counts[slot as usize] = 0);
        }
    }

    /// The number of panes of keys, and of keys in the window.
    pub fn len(&self) -> usize {
        self.panes.len() + self.active.len()
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        let longs = self.counts.as_ref().map_or(0, Vec::capacity);
        let keys = self.held.capacity() + self.inside.capacity() + self.windows.capacity() + self.active.capacity();
        let slots = self.slots.capacity() + self.results.capacity() + self.new.capacity();
        self.panes.heap_bytes()
            + self.exact.heap_bytes()
            + self.folded.heap_bytes()
            + self.rests.heap_bytes()
            + self.distinct.iter().map(DistinctCalls::heap_bytes).sum::<usize>()
            + self.pane_numbers.heap_bytes()
            + self.window_numbers.heap_bytes()
            + longs * size_of::<i64>()
            + (keys + slots) * size_of::<u32>()
    }
}

/// State in checkpoints: panes, windows in the order of their keys, and the values of calls with DISTINCT.
impl Sliding {
    /// The columns of panes.
    pub fn pane_fields(&self) -> Vec<FieldRef> {
        std::iter::once(long_field("pane_end")).chain(self.window_fields()).collect()
    }

    /// The columns of windows.
    pub fn window_fields(&self) -> Vec<FieldRef> {
        let counts = self.counts.as_ref().map(|_| long_field("rows"));
        counts.into_iter().chain(self.exact.state_fields()).chain(self.folded.state_fields()).collect()
    }

    /// All tables, with the keys of `table`.
    pub fn snapshot(&mut self, table: &KeyTable, scope: Scope) -> Result<Vec<TableSnapshot>> {
        let (keys, gone) = self.window_numbers.take(scope, self.active.len(), || self.active.clone());
        let columns = self.states(&self.windows(&keys))?;
        let columns = self.window_fields().into_iter().zip(columns).collect();
        let numbers = self.window_numbers.numbers(&keys);
        let windows = table.snapshot_numbered(WINDOWS, gone, &keys, &numbers, false, columns)?;

        // Those of the same pane stay in their order: in this keys come into windows.
        let (slots, gone) = self.pane_numbers.take(scope, self.panes.len(), || self.panes.slots().collect());
        let keys: Vec<u32> = slots.iter().map(|&slot| self.panes.key(slot)).collect();
        let mut columns = vec![longs(slots.iter().map(|&slot| self.panes.end(slot)))];
        columns.extend(self.states(&slots)?);
        let columns = self.pane_fields().into_iter().zip(columns).collect();
        let numbers = self.pane_numbers.numbers(&slots);
        let panes = table.snapshot_numbered(PANES, gone, &keys, &numbers, false, columns)?;

        let mut tables = vec![windows, panes];
        for calls in &mut self.distinct {
            tables.push(calls.snapshot(table, scope, self.grid, self.position)?);
        }
        Ok(tables)
    }

    fn states(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let counts = self.counts.as_ref().map(|counts| longs(slots.iter().map(|&slot| counts[slot as usize])));
        let mut columns: Vec<ArrayRef> = counts.into_iter().collect();
        columns.extend(self.exact.states(slots)?);
        columns.extend(self.folded.states(slots)?);
        Ok(columns)
    }

    fn restore(&mut self, slots: &[u32], columns: &[ArrayRef]) -> Result<()> {
        self.resize();
        let mut columns = columns;
        if let Some(counts) = &mut self.counts {
            let saved = columns[0].as_primitive::<Int64Type>().values();
            slots.iter().zip(saved).for_each(|(&slot, count)| counts[slot as usize] = *count);
            columns = &columns[1..];
        }
        let (exact, folded) = columns.split_at(self.exact.state_fields().len());
        self.exact.restore(slots, exact)?;
        self.folded.restore(slots, folded)
    }

    /// Takes over what was kept of the window of these keys. Panes follow.
    pub fn restore_windows(&mut self, position: i64, keys: &[u32], columns: &[ArrayRef]) -> Result<()> {
        self.position = self.position.max(Some(position));
        for &key in keys {
            self.activate(key);
            // Panes count when they follow; those of CUMULATE do not.
            self.inside[key as usize] = u32::from(self.grid.is_cumulate);
        }
        self.restore(&self.windows(keys), columns)
    }

    /// Takes over panes of these keys.
    pub fn restore_panes(&mut self, keys: &[u32], columns: &[ArrayRef]) -> Result<()> {
        let ends = columns[0].as_primitive::<Int64Type>().values();
        let slots: Vec<u32> = keys.iter().zip(ends).map(|(&key, &end)| self.slot(key, end)).collect();
        self.panes.settle();
        if self.new.len() != slots.len() {
            return Err(Error::internal("a snapshot with a pane twice"));
        }
        self.new.clear();
        self.restore(&slots, &columns[1..])
    }

    /// The tables of calls with DISTINCT, with their columns.
    pub fn distinct_tables(&self) -> Vec<(String, Vec<FieldRef>)> {
        self.distinct.iter().map(|calls| (calls.table().to_string(), calls.fields())).collect()
    }

    /// Takes over values of these keys, of the calls at this place. Panes and windows are there.
    pub fn restore_distinct(&mut self, at: usize, keys: &[u32], columns: &[ArrayRef]) -> Result<()> {
        let places = Places {
            grid: self.grid,
            position: self.position,
            panes: &self.panes,
            windows: &self.windows,
            keys,
            numbers: &[],
            slots: &[],
        };
        self.distinct[at].restore(keys, columns, places)
    }

    /// All windows and panes have been taken over.
    pub fn restore_order(&mut self) {
        let Some(position) = self.position else { return };
        let block_start = self.grid.block(position).saturating_sub(self.grid.size_ms);
        for (end, slots) in self.panes.range(None, position).rev() {
            for &slot in slots {
                self.inside[self.panes.key(slot) as usize] += 1;
                if !self.folded.is_empty() && end <= block_start {
                    self.rests.put_first(slot, &self.panes);
                }
            }
        }
    }
}

fn long_field(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Int64, false))
}

fn longs(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}
