//! Joins the rows of a batch with the other side, a bounded number of pairs at a time.
//!
//! A batch comes from one input, so the other side stands still while it is joined: pairs of several rows are collected first,
//! the condition is evaluated once over them, then the rows are settled in order.

use super::super::kept_rows::{Hits, NO_ROW, pick, pick_all, set};
use super::super::output::record_batch;
use super::{IntervalJoinOperator, over_at};
use arrow::array::Int64Array;
use base::{ChangelogBatch, Result};
use state::SortedBatch;

/// A batch that is being joined.
#[derive(Debug)]
pub(super) struct Work {
    input: usize,
    batch: ChangelogBatch,
    slots: Vec<u32>,
    times: Int64Array,
    encoded: SortedBatch,
    /// Rows that equal nothing.
    unmatchable: Option<Vec<bool>>,
    /// The row that is next or being joined.
    row: usize,
    current: Option<Current>,
}

/// A row whose partners have not all been seen.
#[derive(Debug, Clone, Copy)]
struct Current {
    /// The position of the next partner in its slot.
    next: usize,
    matched: bool,
}

/// The pairs of one row in a step.
#[derive(Debug)]
struct Segment {
    row: usize,
    matched: bool,
    from: usize,
    to: usize,
    is_complete: bool,
}

/// Candidates: a row of the batch and a kept row of the other side.
#[derive(Debug, Default)]
struct Pairs {
    rows: Vec<u32>,
    kept: Vec<u32>,
}

impl Work {
    pub fn new(
        input: usize,
        batch: ChangelogBatch,
        slots: Vec<u32>,
        times: Int64Array,
        encoded: SortedBatch,
        unmatchable: Option<Vec<bool>>,
    ) -> Work {
        Work { input, batch, slots, times, encoded, unmatchable, row: 0, current: None }
    }

    pub fn is_done(&self) -> bool {
        self.row == self.batch.num_rows()
    }

    /// The slots that the rows have touched.
    pub fn into_slots(self) -> Vec<u32> {
        self.slots
    }

    fn is_unmatchable(&self, row: usize) -> bool {
        self.unmatchable.as_ref().is_some_and(|rows| rows[row])
    }
}

impl IntervalJoinOperator {
    /// Whether no two times can be within the bounds.
    fn is_empty_interval(&self) -> bool {
        self.sizes[0].saturating_add(self.sizes[1]) < 0
    }

    /// Collects at most `limit` pairs of the next rows.
    fn collect(&self, work: &mut Work, limit: usize) -> (Pairs, Vec<Segment>) {
        let mut pairs = Pairs::default();
        let mut segments = Vec::new();
        let (own_size, other_size) = (self.sizes[work.input], self.sizes[1 - work.input]);
        let other = &self.sides[1 - work.input].kept;
        let is_empty = self.is_empty_interval();
        while !work.is_done() && pairs.rows.len() < limit && segments.len() < limit {
            let (row, slot, time) = (work.row, work.slots[work.row], work.times.value(work.row));
            let first = time.saturating_sub(other_size);
            let last = time.saturating_add(own_size);
            let from = pairs.rows.len();
            let mut current = work.current.take().unwrap_or_else(|| Current {
                next: other.rows.count_before(slot, |kept| other.times[kept as usize] < first),
                matched: false,
            });
            let mut is_complete = true;
            if !is_empty && !work.is_unmatchable(row) {
                for kept in other.rows.from(slot, current.next) {
                    if other.times[kept as usize] > last {
                        break;
                    }
                    if pairs.rows.len() == limit {
                        is_complete = false;
                        break;
                    }
                    pairs.rows.push(row as u32);
                    pairs.kept.push(kept);
                    current.next += 1;
                }
            }
            segments.push(Segment { row, matched: current.matched, from, to: pairs.rows.len(), is_complete });
            match is_complete {
                true => work.row += 1,
                false => work.current = Some(current),
            }
        }
        (pairs, segments)
    }

    /// Joins the next rows of a batch, at most `limit` pairs.
    pub(super) fn step(&mut self, work: &mut Work, limit: usize) -> Result<()> {
        let input = work.input;
        let (pairs, segments) = self.collect(work, limit);
        let columns = work.batch.records().columns();
        let mut kept = Vec::new();
        let mut hits = Hits::default();
        if !pairs.rows.is_empty() {
            let own = &self.sides[input].kept;
            let keys = pick_all(&own.key_columns(&work.batch), &pairs.rows)?;
            kept = self.sides[1 - input].kept.columns(&pairs.kept, &keys)?;
            if let Some(condition) = &self.condition {
                let inputs = pick_all(columns, &pairs.rows)?;
                let (left, right) = if input == 0 { (inputs, kept.clone()) } else { (kept.clone(), inputs) };
                hits = condition.evaluate(left, right, pairs.rows.len())?;
            }
        }
        let (mut shown_rows, mut shown_pairs) = (Vec::new(), Vec::new());
        for mut segment in segments {
            for pair in (segment.from..segment.to).filter(|&pair| hits.contains(pair)) {
                segment.matched = true;
                let other = &mut self.sides[1 - input];
                let row = pairs.kept[pair];
                if !std::mem::replace(&mut other.matched[row as usize], true) {
                    other.kept.rows.changed(row);
                }
                shown_rows.push(segment.row as u32);
                shown_pairs.push(pair as u32);
            }
            if !segment.is_complete {
                if let Some(current) = &mut work.current {
                    current.matched = segment.matched;
                }
            } else if self.settle(work, segment.row, segment.matched) {
                shown_rows.push(segment.row as u32);
                shown_pairs.push(NO_ROW);
            }
        }
        if shown_rows.is_empty() {
            return Ok(());
        }
        if kept.is_empty() {
            kept = self.sides[1 - input].kept.nulls(1);
            shown_pairs.fill(0);
        }
        let own = pick_all(columns, &shown_rows)?;
        let other = kept.iter().map(|column| pick(column, &shown_pairs)).collect::<Result<Vec<_>>>()?;
        let (first, second) = if input == 0 { (own, other) } else { (other, own) };
        let columns = first.into_iter().chain(second).collect();
        self.output.push(ChangelogBatch::inserts(record_batch(&self.output_schema, columns, shown_rows.len())?));
        Ok(())
    }

    /// Keeps a row that rows to come can match. Gives whether it is to be padded at once.
    fn settle(&mut self, work: &Work, row: usize, matched: bool) -> bool {
        let (slot, time) = (work.slots[row], work.times.value(row));
        let size = self.sizes[work.input];
        let is_empty = self.is_empty_interval();
        let side = &mut self.sides[work.input];
        let clock_ms = self.clock_ms.unwrap_or(i64::MIN);
        // The watermark says that nothing at or before it is to come.
        let is_over = is_empty || over_at(time, size) <= clock_ms.saturating_add(1);
        let is_hopeless = is_over || work.is_unmatchable(row) && !side.pads;
        if !is_hopeless {
            let kept = side.kept.insert(slot, &work.encoded, row, time);
            set(&mut side.matched, kept, matched);
            side.schedule(slot, size);
            return false;
        }
        if is_over && !is_empty && !matched && !side.pads && self.rowtimes.is_some() {
            self.late.add(&side.time_name, time, clock_ms);
        }
        !matched && side.pads
    }
}
