//! The operator interface: a plain synchronous struct that is given events and asked for output.
//!
//! An operator knows no clock, no channel and no other operator. The task that drives it calls one `on_*` method, then
//! [`Operator::next_output`] until it gives `None`, then goes on: a watermark that fires a million windows leaves the
//! operator in bounded batches.

use base::{ChangelogBatch, Result};
use state::{OperatorSnapshot, PartSnapshot, Scope};

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
    /// Bytes of state that was put away in files.
    pub evicted_bytes: u64,
    /// How often a part of the state was put away.
    pub evictions: u64,
    /// How often one was read back.
    pub loads: u64,
}

/// Up to when an operator has nothing to do if no row comes: it may be put away until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wakes {
    /// The first watermark that it must be told.
    pub watermark_ms: i64,
    /// The first time of the clock that it must be told. State whose TTL is over may wait.
    pub processing_time_ms: i64,
}

impl Wakes {
    /// It must be told everything.
    pub const ALWAYS: Wakes = Wakes { watermark_ms: i64::MIN, processing_time_ms: i64::MIN };
    /// Rows alone matter to it.
    pub const NEVER: Wakes = Wakes { watermark_ms: i64::MAX, processing_time_ms: i64::MAX };

    /// Whatever is earlier.
    pub fn and(self, other: Wakes) -> Wakes {
        Wakes {
            watermark_ms: self.watermark_ms.min(other.watermark_ms),
            processing_time_ms: self.processing_time_ms.min(other.processing_time_ms),
        }
    }

    /// It has something to do at this watermark; `None`: at none.
    pub fn at_watermark(watermark_ms: Option<i64>) -> Wakes {
        Wakes { watermark_ms: or_never(watermark_ms), ..Wakes::NEVER }
    }

    /// It has something to do at this time of the clock; `None`: at none.
    pub fn at_processing_time(time_ms: Option<i64>) -> Wakes {
        Wakes { processing_time_ms: or_never(time_ms), ..Wakes::NEVER }
    }

    /// Whether it must be told this watermark.
    pub fn is_due(self, watermark_ms: i64) -> bool {
        self.watermark_ms != i64::MAX && self.watermark_ms <= watermark_ms
    }
}

/// What is due at the very end of time comes with the final watermark, which is that.
fn or_never(time_ms: Option<i64>) -> i64 {
    time_ms.map_or(i64::MAX, |time_ms| time_ms.min(i64::MAX - 1))
}

/// One instance of an operator.
pub trait Operator: Send {
    /// Takes over state. Called once before anything else, on a first start with no snapshot. `restored` holds the snapshots
    /// of ALL instances of the last run; the operator keeps the entries of its own key groups.
    fn open(&mut self, _restored: &[OperatorSnapshot]) -> Result<()> {
        Ok(())
    }

    /// Takes over state part by part; called instead of [`Operator::open`]. By default everything is given to that at once.
    fn open_parts(&mut self, restored: &[PartSnapshot]) -> Result<()> {
        self.open(&restored.iter().map(PartSnapshot::load).collect::<Result<Vec<_>>>()?)
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

    /// A barrier, a silence or the end follows: what waits inside only to be done together with more is to be done now. Gives
    /// whether there is output.
    fn settle(&mut self, _context: &OperatorContext) -> Result<bool> {
        Ok(false)
    }

    /// Whether what it does depends on the watermark.
    fn minds_time(&self) -> bool {
        true
    }

    /// When it has something to do by itself; asked for when all output has been taken.
    fn wakes(&self) -> Wakes {
        Wakes::ALWAYS
    }

    /// Input `input` has given all that its tables held when the job started. Not called in jobs where nothing waits for it.
    fn on_caught_up(&mut self, _input: usize, _context: &OperatorContext) -> Result<()> {
        Ok(())
    }

    /// No input will give anything any more (after the final watermark). Parts of an operator that were put away are not told.
    fn on_end(&mut self, _context: &OperatorContext) -> Result<()> {
        Ok(())
    }

    /// The next rows of output, at most about [`OperatorContext::rows_max`]; `None` when there is no more for now.
    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>>;

    /// Late rows have a reader: [`Operator::take_late`] is to give those that are counted from now on. Gives whether the operator
    /// can do that.
    fn keep_late(&mut self) -> bool {
        false
    }

    /// The late rows since the last call, as they came; asked for when there is no more output for now.
    fn take_late(&mut self) -> Vec<ChangelogBatch> {
        Vec::new()
    }

    /// The state at a barrier. Called when all output has been taken. With [`Scope::Changes`] what changed since the last
    /// snapshot will do, table by table: [`state::TableSnapshot::kind`] says which it is.
    fn snapshot(&mut self, _scope: Scope) -> Result<OperatorSnapshot> {
        Ok(OperatorSnapshot::default())
    }

    /// The state at a barrier in parts with numbers of their own, each with its own history. An answer to
    /// [`Scope::Changes`] differs from the last answer, which has become part of a checkpoint; a part that is missing is
    /// gone. By default the instance is one part.
    fn snapshot_parts(&mut self, scope: Scope) -> Result<Vec<PartSnapshot>> {
        Ok(vec![PartSnapshot::whole(self.snapshot(scope)?)])
    }

    /// The counts so far.
    fn statistics(&self) -> OperatorStatistics {
        OperatorStatistics::default()
    }
}
