//! Pairs the rows of a batch with the other side, a bounded number of pairs at a time.
//!
//! A batch comes from one input, so the other side stands still while it is joined: pairs of all rows are collected
//! first, the condition is evaluated once over them, then the rows are applied in order.

use super::JoinOperator;
use super::emit::{Evaluated, Results};
use super::side::Side;
use base::plan::JoinKind;
use base::{ChangelogBatch, Result, RowKind};
use state::ChainRows;

/// No entry.
const NONE: u32 = u32::MAX;

/// A batch that is being joined.
#[derive(Debug)]
pub(super) struct Work {
    input: usize,
    batch: ChangelogBatch,
    slots: Vec<u32>,
    rows: ChainRows,
    /// Rows that equal nothing.
    unmatchable: Option<Vec<bool>>,
    now_ms: i64,
    /// The row that is next or being joined.
    row: usize,
    current: Option<Current>,
}

/// A row whose partners have not all been seen.
#[derive(Debug, Clone, Copy)]
struct Current {
    /// Where it has been added; [`NONE`] if it has not.
    entry: u32,
    /// Whether it took the place of a row with the same partners.
    replaced: bool,
    /// Whether it takes back a row that never was.
    is_void: bool,
    /// The next partner, and how many of its copies have been seen.
    next: Option<u32>,
    copy: u32,
    /// Partners that satisfy the condition so far.
    matched: u32,
}

/// Candidates: a row of the batch and a kept row of the other side, once per copy of it.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub rows: Vec<u32>,
    pub entries: Vec<u32>,
    /// Whether the pair is the one of the last copy.
    last_copy: Vec<bool>,
}

/// The pairs of one row in a step.
#[derive(Debug)]
struct Segment {
    row: usize,
    current: Current,
    from: usize,
    to: usize,
    is_complete: bool,
}

impl Work {
    pub fn new(
        input: usize,
        batch: ChangelogBatch,
        slots: Vec<u32>,
        rows: ChainRows,
        unmatchable: Option<Vec<bool>>,
        now_ms: i64,
    ) -> Work {
        Work { input, batch, slots, rows, unmatchable, now_ms, row: 0, current: None }
    }

    pub fn is_done(&self) -> bool {
        self.row == self.batch.num_rows()
    }

    /// The slots that the rows have touched.
    pub fn into_slots(self) -> Vec<u32> {
        self.slots
    }

    /// Applies the next row to its own side.
    fn start(&self, own: &mut Side, other: &Side, counts_all: bool) -> Result<Current> {
        let none = Current { entry: NONE, replaced: false, is_void: false, next: None, copy: 0, matched: 0 };
        if self.unmatchable.as_ref().is_some_and(|rows| rows[self.row]) {
            return Ok(none);
        }
        let slot = self.slots[self.row];
        let mut current = match counts_all {
            true => Current { matched: other.chains.total(slot), ..none },
            false => Current { next: other.chains.first(slot), ..none },
        };
        if self.batch.kind(self.row).is_addition() {
            let added = own.chains.add(slot, &self.rows, self.row, self.now_ms)?;
            (current.entry, current.replaced) = (added.entry, added.replaced);
        } else if !own.chains.retract(slot, &self.rows, self.row, self.now_ms)? && !own.expires {
            return Ok(Current { is_void: true, ..none });
        }
        Ok(current)
    }

    /// Collects at most `limit` pairs of the next rows.
    fn collect(
        &mut self,
        own: &mut Side,
        other: &Side,
        counts_all: bool,
        limit: usize,
    ) -> Result<(Pairs, Vec<Segment>)> {
        let mut pairs = Pairs::default();
        let mut segments = Vec::new();
        while !self.is_done() && pairs.entries.len() < limit {
            let mut current = match self.current.take() {
                Some(current) => current,
                None => self.start(own, other, counts_all)?,
            };
            let from = pairs.entries.len();
            while let Some(entry) = current.next
                && pairs.entries.len() < limit
            {
                let mut is_last = true;
                if !other.chains.is_expired(entry, self.now_ms) {
                    is_last = current.copy + 1 >= other.chains.copies(entry);
                    pairs.rows.push(self.row as u32);
                    pairs.entries.push(entry);
                    pairs.last_copy.push(is_last);
                }
                current.copy += 1;
                if is_last {
                    current.copy = 0;
                    current.next = other.chains.after(self.slots[self.row], entry);
                }
            }
            let is_complete = current.next.is_none();
            segments.push(Segment { row: self.row, current, from, to: pairs.entries.len(), is_complete });
            match is_complete {
                true => self.row += 1,
                false => self.current = Some(current),
            }
        }
        Ok((pairs, segments))
    }
}

impl JoinOperator {
    /// Joins the next rows of a batch, at most `limit` pairs.
    pub(super) fn step(&mut self, work: &mut Work, limit: usize) -> Result<()> {
        let input = work.input;
        let is_once = matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
        // The number of partners is all that a left row of a semi join needs.
        let counts_all = is_once && input == 0 && self.condition.is_none() && !self.sides[1].expires;
        let [left, right] = &mut self.sides;
        let (own, other) = if input == 0 { (left, right) } else { (right, left) };
        let (pairs, mut segments) = work.collect(own, other, counts_all, limit)?;
        let evaluated = self.evaluate(input, &work.batch, &pairs)?;
        let mut results = Results::default();
        let [left, right] = &mut self.sides;
        let (own, other) = if input == 0 { (left, right) } else { (right, left) };
        for segment in &mut segments {
            let kind = work.batch.kind(segment.row);
            if segment.current.is_void {
                continue;
            }
            let mut applied = Applied { own, other, pairs: &pairs, evaluated: &evaluated, now_ms: work.now_ms };
            match (is_once, input) {
                (false, _) => applied.join(segment, kind, &mut results),
                (true, 0) => applied.given_row(segment, kind, self.kind == JoinKind::Semi, &mut results),
                (true, _) => applied.deciding_row(segment, kind, self.kind == JoinKind::Semi, &mut results),
            }
            match segment.is_complete {
                true if own.counts_matches && segment.current.entry != NONE => {
                    own.chains.set_matches(segment.current.entry, segment.current.matched, work.now_ms);
                }
                true => {}
                false => work.current = Some(segment.current),
            }
        }
        self.emit(input, &work.batch, &pairs, evaluated, results)
    }
}

/// Rows being applied to the other side.
struct Applied<'a> {
    own: &'a Side,
    other: &'a mut Side,
    pairs: &'a Pairs,
    evaluated: &'a Evaluated,
    now_ms: i64,
}

impl Applied<'_> {
    /// A partner gains or loses a match. Gives the number of matches that it had.
    fn count(&mut self, pair: usize, segment: &Segment, is_addition: bool) -> u32 {
        let entry = self.pairs.entries[pair];
        let before = self.other.chains.matches(entry);
        if self.pairs.last_copy[pair] && !segment.current.replaced {
            let after = if is_addition { before.saturating_add(1) } else { before.saturating_sub(1) };
            self.other.chains.set_matches(entry, after, self.now_ms);
        }
        before
    }

    /// A row of an inner or outer join.
    fn join(&mut self, segment: &mut Segment, kind: RowKind, results: &mut Results) {
        let is_addition = kind.is_addition();
        let plain = if is_addition { RowKind::Insert } else { RowKind::Delete };
        let joined = match self.own.is_outer || (self.other.is_outer && is_addition) {
            true => plain,
            false => kind,
        };
        for pair in segment.from..segment.to {
            if !self.evaluated.is_hit(pair) {
                continue;
            }
            segment.current.matched += 1;
            let before = self.other.is_outer.then(|| self.count(pair, segment, is_addition));
            if is_addition && before == Some(0) {
                results.other_alone(RowKind::Delete, pair);
            }
            results.joined(joined, segment.row, pair);
            if !is_addition && before == Some(1) {
                results.other_alone(RowKind::Insert, pair);
            }
        }
        if segment.is_complete && self.own.is_outer && segment.current.matched == 0 {
            results.input_alone(plain, segment.row);
        }
    }

    /// A left row of a semi or anti join.
    fn given_row(&mut self, segment: &mut Segment, kind: RowKind, is_semi: bool, results: &mut Results) {
        let hits = (segment.from..segment.to).filter(|&pair| self.evaluated.is_hit(pair)).count();
        segment.current.matched += hits as u32;
        if segment.is_complete && (segment.current.matched > 0) == is_semi {
            results.input_alone(kind, segment.row);
        }
    }

    /// A right row of a semi or anti join.
    fn deciding_row(&mut self, segment: &mut Segment, kind: RowKind, is_semi: bool, results: &mut Results) {
        let is_addition = kind.is_addition();
        for pair in segment.from..segment.to {
            if !self.evaluated.is_hit(pair) {
                continue;
            }
            let before = self.count(pair, segment, is_addition);
            if before != u32::from(!is_addition) {
                continue;
            }
            let opposite = if is_addition { RowKind::Delete } else { RowKind::Insert };
            results.other_alone(if is_semi { kind } else { opposite }, pair);
        }
    }
}
