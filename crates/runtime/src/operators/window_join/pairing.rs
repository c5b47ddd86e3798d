//! The pairs of a window and key, a bounded number at a time.

use super::super::kept_rows::{Hits, KeptRows, NO_ROW, pick, pick_all};
use super::WindowJoinOperator;
use arrow::array::ArrayRef;
use base::Result;
use base::plan::JoinKind;

/// The rows of a slot that is being given out: every row of the outer side with every row of the inner one.
#[derive(Debug)]
pub(super) struct Pairing {
    slot: u32,
    outer_side: usize,
    outer: Vec<u32>,
    inner: Vec<u32>,
    /// How many of the inner rows are paired.
    paired: usize,
    /// The next pair, counted through.
    next: usize,
}

/// Candidates, by side.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    rows: [Vec<u32>; 2],
    slots: Vec<u32>,
}

impl Pairs {
    pub fn len(&self) -> usize {
        self.slots.len()
    }
}

/// What follows in the order of results.
#[derive(Debug)]
pub(super) enum Step {
    /// The next pair; the position of its inner row.
    Pair { inner: usize },
    /// All partners of a row of the outer side have been seen.
    EndOuter { slot: u32, row: u32 },
    /// All pairs of a slot have been seen; its inner rows.
    EndSlot { slot: u32, inner: Vec<u32> },
}

impl Step {
    /// The slot that is finished with it.
    pub fn finished(&self) -> Option<u32> {
        match self {
            Step::EndSlot { slot, .. } => Some(*slot),
            _ => None,
        }
    }
}

/// Who has had a partner in the slot that is being given out.
#[derive(Debug, Default)]
pub(super) struct Matched {
    outer: bool,
    inner: Vec<bool>,
}

/// Rows of output, by side.
#[derive(Debug, Default)]
pub(super) struct Results {
    rows: [Vec<u32>; 2],
    pub slots: Vec<u32>,
}

impl Results {
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    fn push(&mut self, slot: u32, side: usize, row: u32, other: u32) {
        self.slots.push(slot);
        self.rows[side].push(row);
        self.rows[1 - side].push(other);
    }

    /// The columns of a side; `keys` are those of the slots.
    pub fn columns(&self, side: usize, kept: &KeptRows, keys: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let rows = &self.rows[side];
        if rows.iter().all(|row| *row == NO_ROW) {
            return Ok(kept.nulls(rows.len()));
        }
        let shown: Vec<u32> = (0..rows.len() as u32).filter(|&at| rows[at as usize] != NO_ROW).collect();
        let present: Vec<u32> = shown.iter().map(|&at| rows[at as usize]).collect();
        let columns = kept.columns(&present, &pick_all(keys, &shown)?)?;
        if present.len() == rows.len() {
            return Ok(columns);
        }
        let mut places = vec![NO_ROW; rows.len()];
        shown.iter().enumerate().for_each(|(place, &at)| places[at as usize] = place as u32);
        columns.iter().map(|column| pick(column, &places)).collect()
    }
}

impl Pairing {
    /// `is_unmatchable`: the rows have a NULL in a key that equals nothing. `first_only`: one partner says it all.
    pub fn new(slot: u32, sides: &[KeptRows; 2], kind: JoinKind, is_unmatchable: bool, first_only: bool) -> Pairing {
        let outer_side = usize::from(kind == JoinKind::Right);
        let rows = |side: usize| sides[side].rows.from(slot, 0).collect::<Vec<u32>>();
        let inner = rows(1 - outer_side);
        let paired = match (is_unmatchable, first_only) {
            (true, _) => 0,
            (false, true) => inner.len().min(1),
            (false, false) => inner.len(),
        };
        Pairing { slot, outer_side, outer: rows(outer_side), inner, paired, next: 0 }
    }

    /// Collects more pairs. Gives whether that was all.
    pub fn advance(&mut self, limit: usize, is_full: bool, pairs: &mut Pairs, steps: &mut Vec<Step>) -> bool {
        let per_row = self.paired.max(1);
        while self.next < self.outer.len() * per_row {
            if pairs.len() >= limit || steps.len() >= limit.saturating_mul(2) {
                return false;
            }
            let (outer, inner) = (self.next / per_row, self.next % per_row);
            let row = self.outer[outer];
            if self.paired > 0 {
                pairs.slots.push(self.slot);
                pairs.rows[self.outer_side].push(row);
                pairs.rows[1 - self.outer_side].push(self.inner[inner]);
                steps.push(Step::Pair { inner });
            }
            if inner + 1 == per_row {
                steps.push(Step::EndOuter { slot: self.slot, row });
            }
            self.next += 1;
        }
        let inner = if is_full { std::mem::take(&mut self.inner) } else { Vec::new() };
        steps.push(Step::EndSlot { slot: self.slot, inner });
        true
    }
}

impl WindowJoinOperator {
    /// The results of some steps.
    pub(super) fn join(&mut self, pairs: &Pairs, steps: &[Step]) -> Result<Results> {
        let mut hits = Hits::default();
        if let (Some(condition), true) = (&self.condition, pairs.len() > 0) {
            let keys = self.table.keys(&pairs.slots)?;
            let [left, right] = &self.sides;
            let (left, right) = (left.columns(&pairs.rows[0], &keys)?, right.columns(&pairs.rows[1], &keys)?);
            hits = condition.evaluate(left, right, pairs.len())?;
        }
        let outer_side = usize::from(self.kind == JoinKind::Right);
        let gives_pairs = !matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
        let is_full = self.kind == JoinKind::Full;
        let gives_unmatched = self.pads(outer_side);
        let mut results = Results::default();
        let mut pair = 0;
        for step in steps {
            match step {
                Step::Pair { inner } => {
                    if hits.contains(pair) {
                        self.matched.outer = true;
                        if is_full {
                            super::super::kept_rows::set(&mut self.matched.inner, *inner as u32, true);
                        }
                        if gives_pairs {
                            results.push(pairs.slots[pair], 0, pairs.rows[0][pair], pairs.rows[1][pair]);
                        }
                    }
                    pair += 1;
                }
                Step::EndOuter { slot, row } => {
                    let matched = std::mem::take(&mut self.matched.outer);
                    if (!matched && gives_unmatched) || (matched && self.kind == JoinKind::Semi) {
                        results.push(*slot, outer_side, *row, NO_ROW);
                    }
                }
                Step::EndSlot { slot, inner } => {
                    let matched = std::mem::take(&mut self.matched.inner);
                    for (at, &row) in inner.iter().enumerate() {
                        if !matched.get(at).copied().unwrap_or_default() {
                            results.push(*slot, 1 - outer_side, row, NO_ROW);
                        }
                    }
                }
            }
        }
        Ok(results)
    }
}
