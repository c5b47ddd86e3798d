//! What a job counts while it runs: read by the live view, `highwater status`, the job summary and the metrics endpoint.

use crate::codes::{ALIGNED_WAIT, NO_ROWS, SILENT_SPLIT, TIME_STANDS};
use base::text::{Fraction, push_timestamp};
use base::{Error, ErrorCode};
use std::time::Duration;

/// What kind of node a line of the summary is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeRole {
    /// Reads a table.
    Source,
    /// In between.
    Operator,
    /// Writes a table.
    Sink,
}

/// The counts of one node, summed over its instances.
#[derive(Debug, Clone)]
pub struct NodeMetrics {
    /// Stable operator id.
    pub operator_id: String,
    /// For people: `source order_topic`, `window aggregate`, `sink order_minute_sink`.
    pub name: String,
    /// Source, operator or sink.
    pub role: NodeRole,
    /// Rows received (for a source: records read).
    pub rows_in: u64,
    /// Rows given on (for a sink: rows written).
    pub rows_out: u64,
    /// Bytes read, for a source.
    pub bytes_in: u64,
    /// Late rows dropped.
    pub late_rows: u64,
    /// An example of a late row.
    pub late_sample: Option<String>,
    /// Records that the format rejected, and rows that an enforcer dropped.
    pub rejected_rows: u64,
    /// The first few reasons.
    pub rejected_samples: Vec<Error>,
    /// The smallest watermark over the instances; `None` before the first.
    pub watermark_ms: Option<i64>,
    /// What its results have been waiting for, for some time.
    pub waiting: Vec<Waiting>,
    /// Records (or bytes) of a source that wait to be read, if known.
    pub lag: Option<u64>,
    /// Entries of state.
    pub state_entries: u64,
    /// Heap bytes of state.
    pub state_bytes: u64,
    /// Bytes of state that was put away in files.
    pub evicted_bytes: u64,
    /// How often a part of the state was put away since the tasks started.
    pub evictions: u64,
    /// How often one was read back.
    pub loads: u64,
}

/// Why event time stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitReason {
    /// Splits give no rows, and other input of the operator is further in event time.
    SilentSplit,
    /// Nothing gives rows that would move event time, and no input is further.
    NoRows,
    /// Rows come, and their watermarks do not advance.
    TimeStands,
    /// The reader waits for another table of its alignment group.
    Alignment,
}

impl WaitReason {
    /// The word for JSON.
    pub fn name(self) -> &'static str {
        match self {
            WaitReason::SilentSplit => "silent split",
            WaitReason::NoRows => "no rows",
            WaitReason::TimeStands => "time stands",
            WaitReason::Alignment => "alignment",
        }
    }

    fn code(self) -> &'static ErrorCode {
        match self {
            WaitReason::SilentSplit => &SILENT_SPLIT,
            WaitReason::NoRows => &NO_ROWS,
            WaitReason::TimeStands => &TIME_STANDS,
            WaitReason::Alignment => &ALIGNED_WAIT,
        }
    }
}

/// What the results of an operator wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The source table.
    pub table: String,
    /// Its splits that hold event time back.
    pub splits: Vec<String>,
    /// Why they do.
    pub reason: WaitReason,
    /// Where their watermark stands; `None` before the first.
    pub watermark_ms: Option<i64>,
    /// How far other input is, if it is further.
    pub ahead_ms: Option<i64>,
    /// The table that it waits for itself, in its alignment group.
    pub waits_for: Option<String>,
    /// Since when, by the job's clock.
    pub since_ms: i64,
}

impl Waiting {
    /// Whether both are about the same splits for the same reason.
    pub(crate) fn is_same_cause(&self, other: &Waiting) -> bool {
        (&self.table, &self.splits, self.reason, &self.waits_for)
            == (&other.table, &other.splits, other.reason, &other.waits_for)
    }

    /// Since when, as text.
    pub fn since(&self) -> String {
        format!("{} UTC", time_text(self.since_ms))
    }

    /// Where the watermark stands, as text; `-` before the first.
    pub fn watermark(&self) -> String {
        self.watermark_ms.map_or("-".into(), time_text)
    }

    /// The splits in one line.
    pub fn splits_text(&self) -> String {
        const SHOWN: usize = 8;
        let mut text = self.splits.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        if self.splits.len() > SHOWN {
            text.push_str(&format!(", ... ({})", self.splits.len()));
        }
        text
    }

    /// The warning that `operators` wait.
    pub fn warning(&self, operators: &str, now_ms: i64) -> Error {
        let seconds = now_ms.saturating_sub(self.since_ms) / 1000;
        let ahead = self.ahead_ms.map_or("-".into(), time_text);
        let other = self.waits_for.as_deref().unwrap_or("-");
        let arguments: [(&'static str, &dyn std::fmt::Display); 8] = [
            ("other", &other),
            ("operator", &operators),
            ("table", &self.table),
            ("split", &self.splits_text()),
            ("seconds", &seconds),
            ("since", &self.since()),
            ("watermark", &self.watermark()),
            ("ahead", &ahead),
        ];
        Error::new(self.reason.code(), &arguments)
    }
}

fn time_text(time_ms: i64) -> String {
    let mut text = String::new();
    push_timestamp(&mut text, time_ms, arrow::datatypes::TimeUnit::Millisecond, ' ', Fraction::Fixed(3));
    text
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// Starting or running.
    Running,
    /// Failed, and about to go on from the last checkpoint.
    Restarting,
    /// A stop was asked for.
    Stopping,
    /// Ended well.
    Finished,
    /// Stopped on request.
    Stopped,
    /// Ended with an error.
    Failed,
}

impl JobState {
    /// The word for status output and JSON.
    pub fn name(self) -> &'static str {
        match self {
            JobState::Running => "running",
            JobState::Restarting => "restarting",
            JobState::Stopping => "stopping",
            JobState::Finished => "finished",
            JobState::Stopped => "stopped",
            JobState::Failed => "failed",
        }
    }
}

/// What a checkpoint took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointTook {
    /// From its beginning until sinks had committed.
    pub duration: Duration,
    /// The longest time for which a task held back one of its inputs until the barrier was there on the others.
    pub alignment: Duration,
    /// Whether operators gave all of their state, not only what changed.
    pub is_full: bool,
    /// Bytes written; `None` if checkpoints are not kept on disk.
    pub bytes: Option<u64>,
    /// Bytes of all files of the checkpoints that are kept.
    pub state_bytes: Option<u64>,
}

/// The counts of a job at one moment.
#[derive(Debug, Clone)]
pub struct JobMetrics {
    /// State.
    pub state: JobState,
    /// Milliseconds since the job started.
    pub uptime_ms: u64,
    /// Checkpoints completed.
    pub checkpoints: u64,
    /// What the last checkpoint took.
    pub last_checkpoint: Option<CheckpointTook>,
    /// Checkpoints given up.
    pub failed_checkpoints: u64,
    /// The checkpoint that the job went on from when it was started.
    pub resumed_from: Option<u64>,
    /// How often the job went on after a failure.
    pub restarts: u64,
    /// One entry per node, in plan order.
    pub nodes: Vec<NodeMetrics>,
}
