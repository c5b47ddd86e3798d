//! What flows between operators.

use crate::changelog::ChangelogBatch;
use std::fmt;

/// The number of a checkpoint, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub u64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A watermark after which nothing is awaited any more: sent at the end of bounded input, it fires every window.
pub const WATERMARK_MAX: i64 = i64::MAX;

/// One element of a channel between two operator instances.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Rows.
    Data(ChangelogBatch),
    /// Event time has reached this point: milliseconds since 1970-01-01T00:00:00 (of the wall clock for TIMESTAMP, UTC for
    /// TIMESTAMP_LTZ). A row at or before it is late. [`WATERMARK_MAX`] at the end.
    Watermark(i64),
    /// Everything before belongs to checkpoint `Epoch`, everything after does not.
    Barrier(Epoch),
    /// The sender has nothing to say for now: its watermark does not count until its next event.
    Idle,
    /// The sender has given all that its tables held when the job started. Sent once, in jobs with a join that waits for it.
    CaughtUp,
    /// The sender has finished. No event follows.
    End,
}
