//! Sources that wait for each other: `scan.watermark.alignment.*`.
//!
//! Every reader of a group says where its watermark is, once per batch; a reader too far ahead of the slowest one reads
//! nothing until the others have caught up. A reader without a watermark (before its first row, idle or ended) does not
//! count: nobody can tell what to wait for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The readers of one group.
#[derive(Debug, Default)]
pub(crate) struct SourceGroup {
    /// One per reader: its watermark, if it counts.
    marks: Mutex<Vec<Option<i64>>>,
    /// By reader: the table that it reads.
    tables: Mutex<Vec<Arc<str>>>,
    /// The slowest watermark has changed.
    changed: Notify,
}

impl SourceGroup {
    /// A new reader, which does not count yet.
    pub(crate) fn join(self: &Arc<Self>, table: &str, max_drift: Duration) -> Member {
        self.tables().push(table.into());
        let mut marks = self.marks();
        marks.push(None);
        let max_drift_ms = i64::try_from(max_drift.as_millis()).unwrap_or(i64::MAX);
        Member { group: self.clone(), index: marks.len() - 1, max_drift_ms, told: None }
    }

    fn tables(&self) -> MutexGuard<'_, Vec<Arc<str>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn marks(&self) -> MutexGuard<'_, Vec<Option<i64>>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn slowest(marks: &[Option<i64>]) -> Option<i64> {
    marks.iter().flatten().min().copied()
}

/// One reader of a group.
#[derive(Debug)]
pub(crate) struct Member {
    group: Arc<SourceGroup>,
    index: usize,
    max_drift_ms: i64,
    /// What the group knows of this reader.
    told: Option<i64>,
}

impl Member {
    /// Where the watermark of this reader is; `None` if it does not count.
    pub(crate) fn tell(&mut self, mark: Option<i64>) {
        if mark == self.told {
            return;
        }
        self.told = mark;
        let mut marks = self.group.marks();
        let before = slowest(&marks);
        marks[self.index] = mark;
        let is_changed = slowest(&marks) != before;
        drop(marks);
        if is_changed {
            self.group.changed.notify_waiters();
        }
    }

    /// Whether this reader is so far ahead that it must not read.
    pub(crate) fn is_ahead(&self) -> bool {
        let Some(own) = self.told else { return false };
        slowest(&self.group.marks()).is_some_and(|slowest| own > slowest.saturating_add(self.max_drift_ms))
    }

    /// The table of the slowest reader, if this one is so far ahead of it that it must not read.
    pub(crate) fn waits_for(&self) -> Option<Arc<str>> {
        let own = self.told?;
        let marks = self.group.marks().clone();
        let slowest = slowest(&marks).filter(|slowest| own > slowest.saturating_add(self.max_drift_ms))?;
        let place = marks.iter().position(|mark| *mark == Some(slowest))?;
        self.group.tables().get(place).cloned()
    }

    /// Waits until this reader may read again.
    pub(crate) async fn caught_up(&self) {
        loop {
            let mut changed = std::pin::pin!(self.group.changed.notified());
            // Registered before the look, so that no change can slip by in between.
            changed.as_mut().enable();
            if !self.is_ahead() {
                return;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
#[path = "source_group_tests.rs"]
mod tests;
