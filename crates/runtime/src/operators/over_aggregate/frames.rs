//! The frames of rows that come in the order of their times: what is in the accumulators of each partition, and the
//! rows that will leave them.

use super::calls::{Calls, Ranks};
use super::steps::Steps;
use arrow::array::{ArrayRef, AsArray, Int64Array, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use base::Result;
use base::plan::OverFrame;
use state::{KeyTable, Restored, RowNumbers, RowStore, Scope, TableSnapshot, TakenKeys};
use std::collections::VecDeque;
use std::sync::Arc;

/// The name of the rows that are still in frames, in snapshots.
pub(super) const HISTORY: &str = "history";
/// In [`Entry::row`]: a row of the batch that is being worked on, not yet stored.
const IN_BATCH: u32 = 1 << 31;

/// A row that a frame still needs.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Where its arguments are.
    row: u32,
    time_ms: i64,
}

/// What a partition has been numbered up to.
#[derive(Debug, Clone, Copy, Default)]
struct Numbers {
    row_number: i64,
    rank: i64,
    dense_rank: i64,
    /// The time of the last row.
    time_ms: i64,
}

/// Rows in the order of their times; those of equal times stand together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ordered<'a> {
    /// All columns of the input.
    pub columns: &'a [ArrayRef],
    /// The partition of every row.
    pub slots: &'a [u32],
    /// The time of every row.
    pub times: &'a [i64],
    /// Whether rows of equal times are equals: not if they are times of arrival.
    pub with_peers: bool,
}

/// The frames of all partitions, by the slots of the operator's key table.
#[derive(Debug)]
pub(super) struct Frames {
    calls: Calls,
    frame: OverFrame,
    /// By slot, oldest first; empty if no row is looked at twice.
    history: Vec<VecDeque<Entry>>,
    /// The arguments of rows in the history.
    stored: RowStore,
    stored_len: u32,
    free: Vec<u32>,
    /// By stored row.
    row_numbers: RowNumbers,
    /// By slot; empty without numbering calls.
    numbers: Vec<Numbers>,

    steps: Steps,
    /// By slot: the last group of peers and the place of its result.
    last_group: Vec<(u32, u32)>,
}

impl Frames {
    /// Frames for these calls.
    pub fn new(calls: Calls, frame: OverFrame) -> Result<Frames> {
        Ok(Frames {
            stored: RowStore::new(calls.fields.clone())?,
            calls,
            frame,
            history: Vec::new(),
            stored_len: 0,
            free: Vec::new(),
            row_numbers: RowNumbers::default(),
            numbers: Vec::new(),
            steps: Steps::default(),
            last_group: Vec::new(),
        })
    }

    fn is_bounded(&self) -> bool {
        !matches!(self.frame, OverFrame::Rows(None) | OverFrame::Range(None))
    }

    fn has_history(&self) -> bool {
        self.is_bounded() || self.calls.lag_max() > 0
    }

    /// Makes slots below `slots` usable.
    pub fn resize(&mut self, slots: usize) {
        self.calls.aggregates.resize(slots);
        if self.has_history() {
            self.history.resize(slots, VecDeque::new());
        }
        if self.calls.any_ranking() {
            self.numbers.resize(slots, Numbers::default());
        }
        self.last_group.resize(slots, (u32::MAX, 0));
    }

    /// Puts slots back to the beginning.
    pub fn reset(&mut self, slots: &[u32]) {
        self.calls.aggregates.reset(slots);
        for &slot in slots {
            self.forget_rows(slot);
            if let Some(numbers) = self.numbers.get_mut(slot as usize) {
                *numbers = Numbers::default();
            }
        }
    }

    /// Drops the rows of a partition.
    fn forget_rows(&mut self, slot: u32) {
        let Some(history) = self.history.get_mut(slot as usize) else { return };
        for entry in std::mem::take(history) {
            self.row_numbers.removed(entry.row);
            self.stored.clear(entry.row);
            self.free.push(entry.row);
        }
    }

    /// The results of these rows, one column per call.
    pub fn process(&mut self, rows: Ordered<'_>) -> Result<Vec<ArrayRef>> {
        let count = rows.slots.len();
        self.steps.start(self.last_group.len());
        let mut old = Vec::new();
        let mut left = Vec::new();
        let mut shifted: Vec<Vec<Option<u32>>> = vec![Vec::with_capacity(count); self.calls.shifts.len()];
        let mut places = Vec::with_capacity(count);
        let mut start = 0;
        let mut group = 0;
        while start < count {
            let end = self.group_end(rows, start);
            for row in start..end {
                self.enter(rows, row, count, &mut old, &mut left);
                self.look_back(rows, row, count, &mut old, &mut left, &mut shifted);
            }
            for &slot in &rows.slots[start..end] {
                let last = &mut self.last_group[slot as usize];
                if last.0 != group {
                    *last = (group, self.steps.result(slot));
                }
                places.push(last.1);
            }
            start = end;
            group += 1;
        }
        rows.slots.iter().for_each(|&slot| self.last_group[slot as usize].0 = u32::MAX);
        let ranks = self.rank(rows);
        let own = self.calls.argument_columns(rows.columns);
        let arguments = self.with_old(&own, &old)?;
        let aggregates = self.aggregate(&arguments, places)?;
        let shifts = self
            .calls
            .shifts
            .iter()
            .zip(shifted)
            .map(|(shift, from)| shift.values(&UInt32Array::from(from), &arguments, rows.columns))
            .collect::<Result<Vec<_>>>()?;
        let columns = self.calls.columns(&aggregates, &ranks, &shifts);
        self.store(&own, rows.slots)?;
        for row in left {
            self.row_numbers.removed(row);
            self.stored.clear(row);
            self.free.push(row);
        }
        Ok(columns)
    }

    /// Where the rows end that share their results with row `start`, if they are of one partition.
    fn group_end(&self, rows: Ordered<'_>, start: usize) -> usize {
        match self.frame {
            OverFrame::Range(_) if rows.with_peers => {
                let time = rows.times[start];
                start + rows.times[start..].iter().take_while(|other| **other == time).count()
            }
            _ => start + 1,
        }
    }

    /// The row that comes in, after the rows that leave for it.
    fn enter(&mut self, rows: Ordered<'_>, row: usize, count: usize, old: &mut Vec<u32>, left: &mut Vec<u32>) {
        if !self.calls.any_aggregate() {
            return;
        }
        let slot = rows.slots[row];
        if self.is_bounded() {
            let history = &mut self.history[slot as usize];
            let time_ms = rows.times[row];
            while let Some(&oldest) = history.front() {
                let leaves = match self.frame {
                    OverFrame::Rows(Some(preceding)) => history.len() as u64 > preceding,
                    OverFrame::Range(Some(preceding)) => oldest.time_ms < time_ms.saturating_sub(preceding),
                    _ => false,
                };
                if !leaves {
                    break;
                }
                history.pop_front();
                let argument = argument_row(oldest.row, count, old);
                if oldest.row & IN_BATCH == 0 {
                    left.push(oldest.row);
                }
                self.steps.retract(slot, argument);
            }
            history.push_back(Entry { row: row as u32 | IN_BATCH, time_ms });
        }
        self.steps.add(slot, row);
    }

    /// The rows that LAG means.
    fn look_back(
        &mut self,
        rows: Ordered<'_>,
        row: usize,
        count: usize,
        old: &mut Vec<u32>,
        left: &mut Vec<u32>,
        shifted: &mut [Vec<Option<u32>>],
    ) {
        let kept = self.calls.lag_max();
        if shifted.is_empty() {
            return;
        }
        let mut none = VecDeque::new();
        let history = match kept {
            0 => &mut none,
            _ => &mut self.history[rows.slots[row] as usize],
        };
        for (shift, from) in self.calls.shifts.iter().zip(shifted) {
            from.push(match shift.offset {
                0 => Some(row as u32),
                offset => {
                    let place = history.len().checked_sub(offset);
                    place.map(|place| argument_row(history[place].row, count, old) as u32)
                }
            });
        }
        if kept > 0 {
            if history.len() == kept
                && let Some(oldest) = history.pop_front()
                && oldest.row & IN_BATCH == 0
            {
                left.push(oldest.row);
            }
            history.push_back(Entry { row: row as u32 | IN_BATCH, time_ms: rows.times[row] });
        }
    }

    fn rank(&mut self, rows: Ordered<'_>) -> Ranks {
        let mut ranks = Ranks::default();
        if self.numbers.is_empty() {
            return ranks;
        }
        for (&slot, &time_ms) in rows.slots.iter().zip(rows.times) {
            let numbers = &mut self.numbers[slot as usize];
            let is_peer = rows.with_peers && numbers.row_number > 0 && numbers.time_ms == time_ms;
            numbers.row_number += 1;
            if !is_peer {
                numbers.rank = numbers.row_number;
                numbers.dense_rank += 1;
                numbers.time_ms = time_ms;
            }
            ranks.row_numbers.push(numbers.row_number);
            ranks.ranks.push(numbers.rank);
            ranks.dense_ranks.push(numbers.dense_rank);
        }
        ranks
    }

    /// The arguments of the batch, then those of stored rows.
    fn with_old(&self, own: &[ArrayRef], old: &[u32]) -> Result<Vec<ArrayRef>> {
        if old.is_empty() {
            return Ok(own.to_vec());
        }
        let old = self.stored.columns(old)?;
        own.iter().zip(&old).map(|(own, old)| Ok(concat(&[own.as_ref(), old.as_ref()])?)).collect()
    }

    fn aggregate(&mut self, arguments: &[ArrayRef], places: Vec<u32>) -> Result<Vec<ArrayRef>> {
        if !self.calls.any_aggregate() {
            return Ok(Vec::new());
        }
        let results = self.steps.run(&mut self.calls.aggregates, &self.calls.schema, arguments)?;
        if self.steps.results_len() == places.len() && places.iter().enumerate().all(|(at, place)| *place == at as u32)
        {
            return Ok(results);
        }
        let places = UInt32Array::from(places);
        results.iter().map(|column| Ok(take(column.as_ref(), &places, None)?)).collect()
    }

    /// Stores the rows of the batch that frames still need.
    fn store(&mut self, own: &[ArrayRef], slots: &[u32]) -> Result<()> {
        if self.history.is_empty() || slots.is_empty() {
            return Ok(());
        }
        let encoded = self.stored.encode(own)?;
        for &slot in slots {
            let history = &mut self.history[slot as usize];
            let new = history.iter().rev().take_while(|entry| entry.row & IN_BATCH != 0).count();
            for entry in history.range_mut(history.len() - new..) {
                let row = (entry.row & !IN_BATCH) as usize;
                entry.row = match self.free.pop() {
                    Some(free) => free,
                    None => {
                        self.stored_len += 1;
                        self.stored_len - 1
                    }
                };
                self.stored.set(entry.row, &encoded, row);
                self.row_numbers.added(entry.row);
            }
        }
        Ok(())
    }

    /// Drops the rows and the aggregates of a partition whose rows all are too old for any frame to come.
    pub fn clear_frame(&mut self, slot: u32) {
        self.calls.aggregates.reset(&[slot]);
        self.forget_rows(slot);
    }

    /// The columns of [`Frames::state`].
    pub fn state_fields(&self) -> Vec<FieldRef> {
        let mut fields = self.calls.aggregates.state_fields();
        if self.calls.any_ranking() {
            fields.extend(number_fields());
        }
        fields
    }

    /// The state of these slots, without rows.
    pub fn state(&self, slots: &[u32]) -> Result<Vec<(FieldRef, ArrayRef)>> {
        let mut columns = self.calls.aggregates.state(slots)?;
        if self.calls.any_ranking() {
            let column = |value: fn(&Numbers) -> i64| -> ArrayRef {
                Arc::new(slots.iter().map(|&slot| Some(value(&self.numbers[slot as usize]))).collect::<Int64Array>())
            };
            let values = [
                column(|numbers| numbers.row_number),
                column(|numbers| numbers.rank),
                column(|numbers| numbers.dense_rank),
                column(|numbers| numbers.time_ms),
            ];
            columns.extend(number_fields().into_iter().zip(values));
        }
        Ok(columns)
    }

    /// Replaces the state of these slots.
    pub fn restore(&mut self, slots: &[u32], columns: &[ArrayRef]) -> Result<()> {
        let aggregates = self.calls.aggregates.state_fields().len();
        self.calls.aggregates.restore(slots, &columns[..aggregates])?;
        if let [row_numbers, ranks, dense_ranks, times] = &columns[aggregates..] {
            let long = |column: &ArrayRef, row: usize| column.as_primitive::<Int64Type>().value(row);
            for (row, &slot) in slots.iter().enumerate() {
                self.numbers[slot as usize] = Numbers {
                    row_number: long(row_numbers, row),
                    rank: long(ranks, row),
                    dense_rank: long(dense_ranks, row),
                    time_ms: long(times, row),
                };
            }
        }
        Ok(())
    }

    /// The rows in frames, partition by partition: all of them, or those that changed since the last snapshot.
    pub fn snapshot_rows(&mut self, table: &KeyTable, scope: Scope, taken: &TakenKeys) -> Result<TableSnapshot> {
        let (history, rows_len) = (&self.history, self.rows_len());
        let of_slot = |slot: u32| history.get(slot as usize).into_iter().flatten();
        let all = || table.live_slots();
        let (owners, rows, gone) =
            self.row_numbers.take_by_key(scope, rows_len, taken, all, |slot| of_slot(slot).map(|entry| entry.row));
        // The rows of a partition stand in the order of its history, though some may be missing.
        let mut times = Vec::with_capacity(rows.len());
        let mut entries = of_slot(u32::MAX);
        for (at, (&slot, &row)) in owners.iter().zip(&rows).enumerate() {
            if at == 0 || owners[at - 1] != slot {
                entries = of_slot(slot);
            }
            times.extend(entries.find(|entry| entry.row == row).map(|entry| entry.time_ms));
        }
        let mut values: Vec<(FieldRef, ArrayRef)> = vec![(time_field(), Arc::new(Int64Array::from(times)))];
        values.extend(self.calls.fields.iter().cloned().zip(self.stored.columns(&rows)?));
        let numbers = self.row_numbers.numbers(&rows);
        table.snapshot_numbered(HISTORY, gone, &owners, &numbers, true, values)
    }

    /// The columns of [`Frames::snapshot_rows`].
    pub fn row_fields(&self) -> Vec<FieldRef> {
        std::iter::once(time_field()).chain(self.calls.fields.iter().cloned()).collect()
    }

    /// Takes over rows of a snapshot.
    pub fn restore_rows(&mut self, restored: &Restored) -> Result<()> {
        let Some((times, columns)) = restored.values.split_first() else { return Ok(()) };
        let encoded = self.stored.encode(columns)?;
        let times = times.as_primitive::<Int64Type>();
        for (row, &slot) in restored.slots.iter().enumerate() {
            self.stored.set(self.stored_len, &encoded, row);
            self.row_numbers.added(self.stored_len);
            let entry = Entry { row: self.stored_len, time_ms: times.value(row) };
            self.stored_len += 1;
            if let Some(history) = self.history.get_mut(slot as usize) {
                history.push_back(entry);
            }
        }
        Ok(())
    }

    /// The number of rows in frames.
    pub fn rows_len(&self) -> usize {
        self.stored_len as usize - self.free.len()
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        let entries: usize = self.history.iter().map(|history| history.capacity() * size_of::<Entry>()).sum();
        self.calls.aggregates.heap_bytes()
            + entries
            + self.history.capacity() * size_of::<VecDeque<Entry>>()
            + self.stored.heap_bytes()
            + self.row_numbers.heap_bytes()
            + self.free.capacity() * size_of::<u32>()
            + self.numbers.capacity() * size_of::<Numbers>()
            + self.last_group.capacity() * size_of::<(u32, u32)>()
    }
}

/// Where the arguments of a row are: rows of the batch first, then stored ones.
fn argument_row(row: u32, count: usize, old: &mut Vec<u32>) -> usize {
    if row & IN_BATCH != 0 {
        return (row & !IN_BATCH) as usize;
    }
    old.push(row);
    count + old.len() - 1
}

fn time_field() -> FieldRef {
    Arc::new(Field::new("time_ms", DataType::Int64, false))
}

fn number_fields() -> Vec<FieldRef> {
    let field = |name: &str| Arc::new(Field::new(name, DataType::Int64, false));
    ["row_number", "rank", "dense_rank", "rank_time_ms"].into_iter().map(field).collect()
}
