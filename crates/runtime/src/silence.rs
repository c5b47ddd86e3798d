//! Finds the splits that keep a source from advancing its watermark, and names each of them once.
//!
//! Without an idle timeout a silent split holds windows back for ever, and nothing seems to be wrong. The readers of a
//! source say now and then how far their splits are; when the watermark of the whole source has stood still for a while
//! although rows were read, the splits that it waits for are to blame.

use crate::codes::SILENT_SPLIT;
use base::Error;
use base::connector::SplitId;
use base::text::{Fraction, push_timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long the watermark may stand still before the user hears of it.
const STANDSTILL: Duration = Duration::from_secs(30);
/// How often a reader says how far it is.
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// How far a split is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SplitProgress {
    pub split: SplitId,
    /// `None` before its first watermark.
    pub watermark_ms: Option<i64>,
    /// Batches of rows so far.
    pub batches: u64,
}

/// Watches the readers of one source.
#[derive(Debug)]
pub(crate) struct SilenceWatch {
    table: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// What every reader said last; nothing is judged before all have spoken.
    readers: Vec<Option<Vec<SplitProgress>>>,
    /// The watermark of the whole source when it was looked at last.
    watermark_ms: Option<i64>,
    /// When it advanced last, by the job's clock.
    since_ms: Option<i64>,
    /// The batches of every split at that time.
    batches: BTreeMap<SplitId, u64>,
    named: BTreeSet<SplitId>,
}

impl SilenceWatch {
    pub(crate) fn new(table: &str, readers: usize) -> SilenceWatch {
        let state = State {
            readers: vec![None; readers],
            watermark_ms: None,
            since_ms: None,
            batches: BTreeMap::new(),
            named: BTreeSet::new(),
        };
        SilenceWatch { table: table.into(), state: Mutex::new(state) }
    }

    /// A reader says how far its splits are. Returns warnings about splits that were not named before.
    pub(crate) fn report(&self, reader: usize, splits: Vec<SplitProgress>, now_ms: i64) -> Vec<Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.readers[reader] = Some(splits);
        let silent = state.silent(now_ms);
        silent.into_iter().map(|(split, watermark_ms)| self.warning(&split, watermark_ms)).collect()
    }

    fn warning(&self, split: &SplitId, watermark_ms: Option<i64>) -> Error {
        let seconds = STANDSTILL.as_secs();
        let stands_at = watermark_ms.map_or("-".to_string(), |watermark_ms| {
            let mut text = String::new();
            let unit = arrow::datatypes::TimeUnit::Millisecond;
            push_timestamp(&mut text, watermark_ms, unit, ' ', Fraction::Fixed(3));
            text
        });
        Error::new(
            &SILENT_SPLIT,
            &[("table", &self.table), ("split", split), ("seconds", &seconds), ("watermark", &stands_at)],
        )
    }
}

impl State {
    /// The splits that hold the source back and were not named before, with its watermark.
    fn silent(&mut self, now_ms: i64) -> Vec<(SplitId, Option<i64>)> {
        if self.readers.iter().any(Option::is_none) {
            return Vec::new();
        }
        let splits = || self.readers.iter().flatten().flatten();
        let watermark_ms = splits().map(|split| split.watermark_ms).min().flatten();
        let since_ms = *self.since_ms.get_or_insert(now_ms);
        if watermark_ms > self.watermark_ms {
            self.batches = splits().map(|split| (split.split.clone(), split.batches)).collect();
            self.since_ms = Some(now_ms);
        }
        let stood_still = watermark_ms <= self.watermark_ms;
        self.watermark_ms = watermark_ms;
        if !stood_still || now_ms.saturating_sub(since_ms) < STANDSTILL.as_millis() as i64 {
            return Vec::new();
        }
        let was_read = |split: &&SplitProgress| split.batches > self.batches.get(&split.split).copied().unwrap_or(0);
        if !splits().any(|split| was_read(&split)) {
            // The whole source is silent: no window waits for one split alone.
            return Vec::new();
        }
        let holding = splits().filter(|split| split.watermark_ms == watermark_ms && !was_read(split));
        let holding: Vec<SplitId> = holding.map(|split| split.split.clone()).collect();
        holding
            .into_iter()
            .filter(|split| self.named.insert(split.clone()))
            .map(|split| (split, watermark_ms))
            .collect()
    }
}

#[cfg(test)]
#[path = "silence_tests.rs"]
mod tests;
