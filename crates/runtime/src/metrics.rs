//! What a job counts while it runs: read by the live view, `highwater status`, the job summary and the metrics endpoint.

use base::Error;

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
    /// Records (or bytes) of a source that wait to be read, if known.
    pub lag: Option<u64>,
    /// Entries of state.
    pub state_entries: u64,
    /// Heap bytes of state.
    pub state_bytes: u64,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// Starting or running.
    Running,
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
            JobState::Stopping => "stopping",
            JobState::Finished => "finished",
            JobState::Stopped => "stopped",
            JobState::Failed => "failed",
        }
    }
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
    /// Duration of the last checkpoint.
    pub last_checkpoint_ms: Option<u64>,
    /// One entry per node, in plan order.
    pub nodes: Vec<NodeMetrics>,
}
