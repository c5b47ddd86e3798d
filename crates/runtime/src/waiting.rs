//! Says what results wait for: which operator, for which split of which table, since when.
//!
//! Event time stands still for everybody when one split says nothing, and nothing seems to be wrong. The readers of a
//! job say now and then how far their splits are. When the watermark of an operator that waits for it has stood still
//! for a while although the operator keeps rows, the splits that hold it back are to blame. Each of them is named once;
//! as long as it lasts, the counts of the operator show it.

use crate::counters::Counters;
use crate::metrics::{WaitReason, Waiting};
use base::Error;
use base::connector::SplitId;
use base::event::WATERMARK_MAX;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a reader says how far it is.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// A reader that has missed so many reports is at work, for example held up by a slow sink: it is not silent.
const MISSED_REPORTS_MAX: u32 = 3;

/// How far a split is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SplitProgress {
    pub split: SplitId,
    /// `None` before its first watermark.
    pub watermark_ms: Option<i64>,
    /// Batches of rows so far.
    pub batches: u64,
    /// It has been silent for so long that it holds nothing back.
    pub is_idle: bool,
}

/// How far a reader is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReaderProgress {
    /// The splits that it reads.
    pub splits: Vec<SplitProgress>,
    /// It has no split that counts, or has ended.
    pub holds_nothing: bool,
    /// It reads nothing until this table has caught up: they are in one alignment group.
    pub waits_for: Option<Arc<str>>,
}

/// An operator whose results wait for the watermark.
#[derive(Debug)]
pub(crate) struct Follower {
    pub name: String,
    /// One per instance.
    pub counters: Vec<Arc<Counters>>,
    /// The sources before it, by their place in the watch.
    pub sources: Vec<usize>,
}

/// A source that is watched.
#[derive(Debug)]
pub(crate) struct WatchedSource {
    pub table: String,
    pub readers: usize,
}

/// Watches the sources of a job and the operators that wait for them.
#[derive(Debug)]
pub(crate) struct WaitingWatch {
    period: Duration,
    tables: Vec<String>,
    followers: Vec<Follower>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// What every reader of every source said last, and when.
    readers: Vec<Vec<Option<(ReaderProgress, i64)>>>,
    /// One per follower.
    standing: Vec<Standing>,
    named: BTreeSet<(usize, usize, WaitReason, SplitId)>,
}

/// Since when the watermark of an operator stands still.
#[derive(Debug, Default)]
struct Standing {
    watermark_ms: Option<i64>,
    since_ms: Option<i64>,
    /// Where every split was when its reader reported first after that.
    marks: BTreeMap<(usize, SplitId), Mark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    watermark_ms: Option<i64>,
    batches: u64,
}

impl Mark {
    fn of(split: &SplitProgress) -> Mark {
        Mark { watermark_ms: split.watermark_ms, batches: split.batches }
    }
}

/// The splits of one source that hold an operator back for one reason.
struct Cause {
    source: usize,
    reason: WaitReason,
    splits: Vec<SplitId>,
    watermark_ms: Option<i64>,
    /// How far other input is, if it is further.
    ahead_ms: Option<i64>,
    /// The table that it waits for itself.
    waits_for: Option<Arc<str>>,
}

impl WaitingWatch {
    pub(crate) fn new(period: Duration, sources: Vec<WatchedSource>, followers: Vec<Follower>) -> WaitingWatch {
        let state = State {
            readers: sources.iter().map(|source| vec![None; source.readers]).collect(),
            standing: followers.iter().map(|_| Standing::default()).collect(),
            named: BTreeSet::new(),
        };
        let tables = sources.into_iter().map(|source| source.table).collect();
        WaitingWatch { period, tables, followers, state: Mutex::new(state) }
    }

    /// How often a reader should report.
    pub(crate) fn interval(&self) -> Duration {
        REPORT_INTERVAL.min(self.period)
    }

    /// A reader says how far it is. Returns warnings about what was not said before.
    pub(crate) fn report(&self, source: usize, reader: usize, progress: ReaderProgress, now_ms: i64) -> Vec<Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let splits = progress.splits.clone();
        state.readers[source][reader] = Some((progress, now_ms));
        let mut told: Vec<(Waiting, Vec<&str>)> = Vec::new();
        for (index, follower) in self.followers.iter().enumerate() {
            state.standing[index].look(follower, now_ms);
            let causes = self.judge(follower, &state.standing[index], &state.readers, now_ms);
            if follower.sources.contains(&source) {
                let marks = &mut state.standing[index].marks;
                for split in &splits {
                    marks.entry((source, split.split.clone())).or_insert(Mark::of(split));
                }
            }
            let since_ms = state.standing[index].since_ms.unwrap_or(now_ms);
            let mut all = Vec::new();
            for cause in causes {
                let waiting = Waiting {
                    table: self.tables[cause.source].clone(),
                    splits: cause.splits.iter().map(ToString::to_string).collect(),
                    reason: cause.reason,
                    watermark_ms: cause.watermark_ms,
                    ahead_ms: cause.ahead_ms,
                    waits_for: cause.waits_for.as_deref().map(str::to_string),
                    since_ms,
                };
                let before = state.named.len();
                state.named.extend(cause.splits.into_iter().map(|split| (index, cause.source, cause.reason, split)));
                if state.named.len() > before {
                    let same = |other: &&mut (Waiting, Vec<&str>)| other.0.is_same_cause(&waiting);
                    match told.iter_mut().find(same) {
                        Some((_, names)) => names.push(&follower.name),
                        None => told.push((waiting.clone(), vec![&follower.name])),
                    }
                }
                all.push(waiting);
            }
            if let Some(counters) = follower.counters.first() {
                counters.set_waiting(all);
            }
        }
        told.iter().map(|(waiting, names)| waiting.warning(&names.join(", "), now_ms)).collect()
    }

    /// Why an operator waits; nothing if it does not, or if that cannot be told yet.
    fn judge(
        &self,
        follower: &Follower,
        standing: &Standing,
        readers: &[Vec<Option<(ReaderProgress, i64)>>],
        now_ms: i64,
    ) -> Vec<Cause> {
        let since_ms = standing.since_ms.unwrap_or(now_ms);
        let is_over = standing.watermark_ms == Some(WATERMARK_MAX);
        if is_over || now_ms.saturating_sub(since_ms) < self.period.as_millis() as i64 || !follower.keeps_rows() {
            return Vec::new();
        }
        let oldest_ms = now_ms.saturating_sub((self.interval() * MISSED_REPORTS_MAX).as_millis() as i64);
        let is_heard = |told: &Option<(ReaderProgress, i64)>| {
            told.as_ref().is_some_and(|(progress, told_ms)| progress.holds_nothing || *told_ms >= oldest_ms)
        };
        if !follower.sources.iter().all(|&source| readers[source].iter().all(is_heard)) {
            return Vec::new();
        }
        let progress = |source: usize| readers[source].iter().flatten().map(|(progress, _)| progress);
        let splits = |source: usize| progress(source).flat_map(|reader| &reader.splits);
        let ahead_ms =
            follower.sources.iter().flat_map(|&source| splits(source)).map(|one| one.watermark_ms).max().flatten();
        let mut holding: Vec<Cause> = Vec::new();
        let mut goes_on = Vec::new();
        for &source in &follower.sources {
            let holders = || progress(source).filter(|reader| !reader.holds_nothing);
            let active = || holders().flat_map(|reader| &reader.splits).filter(|split| !split.is_idle);
            let starts = holders().any(|reader| reader.splits.is_empty());
            let lowest = active().map(|split| split.watermark_ms).chain(starts.then_some(None)).min();
            let Some(watermark_ms) = lowest else { continue };
            // What is furthest behind holds nothing back if nothing is further.
            let (silent, ahead_ms) = match ahead_ms > watermark_ms {
                true => (WaitReason::SilentSplit, ahead_ms),
                false => (WaitReason::NoRows, None),
            };
            if starts {
                let splits = vec![SplitId::from("-")];
                holding.push(Cause { source, reason: silent, splits, watermark_ms, ahead_ms, waits_for: None });
                continue;
            }
            let (mut quiet, mut stuck) = (Vec::new(), Vec::new());
            let mut aligned: BTreeMap<&Arc<str>, Vec<SplitId>> = BTreeMap::new();
            let active = holders().flat_map(|reader| reader.splits.iter().map(move |split| (reader, split)));
            let lowest = active.filter(|(_, split)| !split.is_idle && split.watermark_ms == watermark_ms);
            for (reader, split) in lowest {
                match standing.marks.get(&(source, split.split.clone())) {
                    Some(mark) if mark.watermark_ms != split.watermark_ms => goes_on.push(watermark_ms),
                    Some(mark) if mark.batches == split.batches => match &reader.waits_for {
                        Some(table) => aligned.entry(table).or_default().push(split.split.clone()),
                        None => quiet.push(split.split.clone()),
                    },
                    Some(_) => stuck.push(split.split.clone()),
                    None => goes_on.push(watermark_ms),
                }
            }
            for (reason, splits) in [(silent, quiet), (WaitReason::TimeStands, stuck)] {
                if !splits.is_empty() {
                    holding.push(Cause { source, reason, splits, watermark_ms, ahead_ms, waits_for: None });
                }
            }
            for (table, splits) in aligned {
                let (reason, waits_for) = (WaitReason::Alignment, Some(table.clone()));
                holding.push(Cause { source, reason, splits, watermark_ms, ahead_ms, waits_for });
            }
        }
        let lowest = holding.iter().map(|cause| cause.watermark_ms).chain(goes_on.iter().copied()).min();
        if lowest.is_some_and(|lowest| goes_on.contains(&lowest)) {
            // It has advanced since: the operator has only not heard of it yet.
            return Vec::new();
        }
        if holding.is_empty() {
            // Everything is idle: the operator has what there was, and only later rows move it.
            let watermark_ms = standing.watermark_ms;
            let causes = follower.sources.iter().map(|&source| Cause {
                source,
                reason: WaitReason::NoRows,
                splits: splits(source).map(|one| one.split.clone()).collect(),
                watermark_ms,
                ahead_ms: None,
                waits_for: None,
            });
            return causes.filter(|cause| !cause.splits.is_empty()).collect();
        }
        holding.retain(|cause| Some(cause.watermark_ms) == lowest);
        holding
    }
}

impl Follower {
    fn keeps_rows(&self) -> bool {
        self.counters.iter().any(|counters| counters.state_entries() > 0)
    }
}

impl Standing {
    /// Begins anew if the watermark has advanced.
    fn look(&mut self, follower: &Follower, now_ms: i64) {
        let watermark_ms = follower.counters.iter().map(|counters| counters.watermark_ms()).min().flatten();
        if self.since_ms.is_none() || watermark_ms != self.watermark_ms {
            *self = Standing { watermark_ms, since_ms: Some(now_ms), marks: BTreeMap::new() };
        }
    }
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
