//! The operator interface: a plain synchronous struct that is given events and asked for output.
//!
//! An operator knows no clock, no channel and no other operator. The task that drives it calls one `on_*` method, then
//! [`Operator::next_output`] until it gives `None`, then goes on: a watermark that fires a million windows leaves the
//! operator in bounded batches.

use base::{ChangelogBatch, Result};
use state::OperatorSnapshot;

/// What an operator may know when it is called.
#[derive(Debug, Clone, Copy)]
pub struct OperatorContext {
    /// The operator's watermark (the minimum over its active inputs) before this call, in milliseconds; `None` before the first.
    pub watermark_ms: Option<i64>,
    /// Processing time in milliseconds since 1970-01-01T00:00:00Z.
    pub processing_time_ms: i64,
    /// The most rows that a batch of output should have.
    pub rows_max: usize,
}

/// Counts that only an operator can make. The task adds rows in and out.
#[derive(Debug, Clone, Default)]
pub struct OperatorStatistics {
    /// Rows dropped because they were late.
    pub late_rows: u64,
    /// The first late row as text, for the warning: `order_time 10:00:12 is behind watermark 10:01:07`.
    pub late_sample: Option<String>,
    /// Rows left out for another reason, for example by the NOT NULL enforcer.
    pub dropped_rows: u64,
    /// Entries in state: groups, windows, keys.
    pub state_entries: u64,
    /// Heap bytes of state, roughly.
    pub state_bytes: u64,
}

/// One instance of an operator.
pub trait Operator: Send {
    /// Takes over state. Called once before anything else, on a first start with no snapshot. `restored` holds the snapshots
    /// of ALL instances of the last run; the operator keeps the entries of its own key groups.
    fn open(&mut self, _restored: &[OperatorSnapshot]) -> Result<()> {
        Ok(())
    }

    /// Rows from input `input`.
    fn on_batch(&mut self, input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()>;

    /// Event time has reached `watermark_ms`; [`OperatorContext::watermark_ms`] still has the old value. The task forwards the
    /// watermark after the output has been taken.
    fn on_watermark(&mut self, _watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        Ok(())
    }

    /// The watermark to forward for one that has come: an earlier one if rows that the operator keeps can still be given. It must
    /// not fall while the watermark rises.
    fn output_watermark(&self, watermark_ms: i64) -> i64 {
        watermark_ms
    }

    /// Processing time has advanced; called at least once a second when the operator asks for it.
    fn on_processing_time(&mut self, _context: &OperatorContext) -> Result<()> {
        Ok(())
    }

    /// No input will give anything any more (after the final watermark).
    fn on_end(&mut self, _context: &OperatorContext) -> Result<()> {
        Ok(())
    }

    /// The next rows of output, at most about [`OperatorContext::rows_max`]; `None` when there is no more for now.
    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>>;

    /// The state at a barrier. Called when all output has been taken.
    fn snapshot(&mut self) -> Result<OperatorSnapshot> {
        Ok(OperatorSnapshot::default())
    }

    /// The counts so far.
    fn statistics(&self) -> OperatorStatistics {
        OperatorStatistics::default()
    }
}
