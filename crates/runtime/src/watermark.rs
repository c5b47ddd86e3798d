//! Watermarks of a source: per split, and where a batch must be cut so that lateness does not depend on batching.
//!
//! Pure bookkeeping without a clock: the task says how long it has waited.
//!
//! A watermark goes out after the row that moved it. A batch of rows that no running watermark has passed is not cut:
//! no operator could tell the difference. A row that the running watermark has passed may be late, so the batch is
//! cut before it and the watermark sent first, as if every row had come alone.

use crate::waiting::{ReaderProgress, SplitProgress};
use arrow::array::{Array, Int64Array};
use base::connector::SplitId;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// No watermark yet, below every watermark.
const NONE: i64 = i64::MIN;

/// The watermark with which a restored source instance goes on: the one that this instance has sent, but never above
/// that of a split that it reads now. Splits may have moved here from an instance that was further behind, and one
/// that had ended has promised more than its new splits can keep.
pub(crate) fn resume_ms(
    sent_ms: Option<i64>,
    known: &BTreeMap<SplitId, i64>,
    splits: impl IntoIterator<Item = SplitId>,
) -> Option<i64> {
    let known_ms = splits.into_iter().filter_map(|split| known.get(&split).copied());
    known_ms.min().min(sent_ms)
}

/// When a batch is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutRule {
    /// Before a row at or before the running watermark.
    Late,
    /// Before a row at most 1 ms after it as well: a session window that the watermark closes touches such a row.
    LateOrAdjacent,
    /// After every row that moves the watermark: the batch size is 1, or the job reads CURRENT_WATERMARK.
    EveryAdvance,
}

/// Rows of a batch, and the watermark that follows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The rows; may be empty if a watermark is due before the first one.
    pub rows: Range<usize>,
    /// The watermark that goes out after them.
    pub watermark_ms: Option<i64>,
}

/// What follows from silence, a finished split and the like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// The watermark has advanced.
    pub watermark_ms: Option<i64>,
    /// No split holds the watermark back any more.
    pub idle: bool,
}

#[derive(Debug)]
struct Split {
    watermark_ms: i64,
    /// How long the task has waited since the last row.
    silent: Duration,
    idle: bool,
    /// Batches of rows so far.
    batches: u64,
}

/// The watermarks of one source instance.
#[derive(Debug)]
pub(crate) struct SplitWatermarks {
    /// The splits being read.
    splits: BTreeMap<SplitId, Split>,
    /// The watermark of every split that ever had one: for the reader, and for checkpoints.
    known: BTreeMap<SplitId, i64>,
    /// The watermark that has been sent.
    sent_ms: i64,
    idle: bool,
    idle_timeout: Option<Duration>,
    rule: CutRule,
    /// The splits may be further than what was sent: they came here in a restart.
    is_settled: bool,
}

impl SplitWatermarks {
    /// No split yet; `restored` are the watermarks of the splits at the checkpoint that the job starts from.
    pub(crate) fn new(
        rule: CutRule,
        idle_timeout: Option<Duration>,
        restored: BTreeMap<SplitId, i64>,
        sent_ms: Option<i64>,
    ) -> Self {
        SplitWatermarks {
            splits: BTreeMap::new(),
            is_settled: restored.is_empty(),
            known: restored,
            sent_ms: sent_ms.unwrap_or(NONE),
            idle: false,
            idle_timeout,
            rule,
        }
    }

    /// The watermark of every split that has one.
    pub(crate) fn known(&self) -> &BTreeMap<SplitId, i64> {
        &self.known
    }

    /// The watermark that was sent last.
    pub(crate) fn sent_ms(&self) -> Option<i64> {
        (self.sent_ms != NONE).then_some(self.sent_ms)
    }

    /// The watermark that was sent last, unless no split holds it back any more.
    pub(crate) fn active_ms(&self) -> Option<i64> {
        self.sent_ms().filter(|_| !self.idle)
    }

    /// How far the splits are.
    pub(crate) fn progress(&self) -> ReaderProgress {
        let progress = |(id, split): (&SplitId, &Split)| SplitProgress {
            split: id.clone(),
            watermark_ms: (split.watermark_ms != NONE).then_some(split.watermark_ms),
            batches: split.batches,
            is_idle: split.idle,
        };
        ReaderProgress { splits: self.splits.iter().map(progress).collect(), holds_nothing: self.idle, waits_for: None }
    }

    /// A split is being read: it holds the watermark back from now on. Returns whether the source was idle.
    pub(crate) fn started(&mut self, split: &SplitId) -> bool {
        let known = &self.known;
        let entry = self.splits.entry(split.clone()).or_insert_with(|| Split {
            watermark_ms: known.get(split).copied().unwrap_or(NONE),
            silent: Duration::ZERO,
            idle: false,
            batches: 0,
        });
        entry.silent = Duration::ZERO;
        entry.idle = false;
        std::mem::take(&mut self.idle)
    }

    /// Whether [`SplitWatermarks::settle`] is due when the reader has nothing at hand.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// The reader has begun all its splits: what they had reached before a restart holds.
    pub(crate) fn settle(&mut self) -> Change {
        self.is_settled = true;
        match self.splits.values().filter(|split| !split.idle).map(|split| split.watermark_ms).min() {
            Some(watermark_ms) => Change { watermark_ms: self.raise(watermark_ms), idle: false },
            None => Change::default(),
        }
    }

    /// A split has ended: it holds nothing back.
    pub(crate) fn finished(&mut self, split: &SplitId) -> Change {
        let had = self.splits.remove(split);
        if self.splits.is_empty() {
            // The last one: what it has reached stands.
            let watermark_ms = had.map_or(NONE, |split| split.watermark_ms);
            return Change { watermark_ms: self.raise(watermark_ms), idle: false };
        }
        self.after_silence()
    }

    /// The reader has no split.
    pub(crate) fn no_split(&mut self) -> Change {
        self.splits.clear();
        Change { watermark_ms: None, idle: !std::mem::replace(&mut self.idle, true) }
    }

    /// The task has waited for input, in vain or not.
    pub(crate) fn waited(&mut self, time: Duration) -> Change {
        let Some(timeout) = self.idle_timeout else { return Change::default() };
        let mut fell_silent = false;
        for split in self.splits.values_mut().filter(|split| !split.idle) {
            split.silent += time;
            if split.silent >= timeout {
                split.idle = true;
                fell_silent = true;
            }
        }
        if fell_silent { self.after_silence() } else { Change::default() }
    }

    /// How long until the next split counts as idle if nothing comes.
    pub(crate) fn until_idle(&self) -> Option<Duration> {
        let timeout = self.idle_timeout?;
        let active = self.splits.values().filter(|split| !split.idle);
        active.map(|split| timeout.saturating_sub(split.silent)).min()
    }

    fn after_silence(&mut self) -> Change {
        let active = self.splits.values().filter(|split| !split.idle).map(|split| split.watermark_ms);
        match active.min() {
            Some(watermark_ms) => Change { watermark_ms: self.raise(watermark_ms), idle: false },
            None => {
                // Nobody holds time back: the furthest counts, so that the order of falling silent does not matter.
                let furthest = self.splits.values().map(|split| split.watermark_ms).max().unwrap_or(NONE);
                let idle = !std::mem::replace(&mut self.idle, true);
                Change { watermark_ms: self.raise(furthest), idle }
            }
        }
    }

    fn raise(&mut self, watermark_ms: i64) -> Option<i64> {
        if watermark_ms <= self.sent_ms {
            return None;
        }
        self.sent_ms = watermark_ms;
        Some(watermark_ms)
    }

    /// Rows of `split`: advances its watermark and says where to cut. `rowtimes_ms` has no NULL; a NULL watermark moves
    /// nothing. Returns whether the source was idle.
    pub(crate) fn rows(
        &mut self,
        split: &SplitId,
        rowtimes_ms: &Int64Array,
        watermarks_ms: &Int64Array,
        pieces: &mut Vec<Piece>,
    ) -> bool {
        pieces.clear();
        let was_idle = self.started(split);
        let others = self.splits.iter().filter(|(id, other)| *id != split && !other.idle);
        let others_ms = others.map(|(_, other)| other.watermark_ms).min().unwrap_or(i64::MAX);
        let mut own_ms = self.splits.get(split).map_or(NONE, |split| split.watermark_ms);
        let margin = i64::from(self.rule == CutRule::LateOrAdjacent);
        let nulls = watermarks_ms.nulls();
        let mut sent_ms = self.sent_ms;
        // The watermark that a source of single rows would have sent by now.
        let mut running_ms = if self.is_settled { sent_ms } else { sent_ms.max(own_ms.min(others_ms)) };
        self.is_settled = true;
        let mut start = 0;
        for (row, (&rowtime_ms, &watermark_ms)) in rowtimes_ms.values().iter().zip(watermarks_ms.values()).enumerate() {
            if running_ms > sent_ms
                && (self.rule == CutRule::EveryAdvance || rowtime_ms <= running_ms.saturating_add(margin))
            {
                pieces.push(Piece { rows: start..row, watermark_ms: Some(running_ms) });
                start = row;
                sent_ms = running_ms;
            }
            if watermark_ms > own_ms && nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                own_ms = watermark_ms;
                running_ms = running_ms.max(own_ms.min(others_ms));
            }
        }
        let rows = rowtimes_ms.len();
        let watermark_ms = (running_ms > sent_ms).then_some(running_ms);
        if start < rows || watermark_ms.is_some() {
            pieces.push(Piece { rows: start..rows, watermark_ms });
        }
        self.sent_ms = running_ms;
        self.set_own(split, own_ms);
        was_idle
    }

    /// After a batch of rows.
    fn set_own(&mut self, split: &SplitId, watermark_ms: i64) {
        if let Some(state) = self.splits.get_mut(split) {
            state.batches += 1;
            state.watermark_ms = watermark_ms;
        }
        if watermark_ms == NONE {
            return;
        }
        match self.known.get_mut(split) {
            Some(known) => *known = watermark_ms,
            None => {
                self.known.insert(split.clone(), watermark_ms);
            }
        }
    }
}

#[cfg(test)]
#[path = "watermark_tests.rs"]
mod tests;
