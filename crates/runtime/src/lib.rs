//! Runs a stream plan: tasks, exchange, watermarks, barriers, operators and the life of a job.
//!
//! [`start`] takes a plan and gives a [`JobHandle`]. The plan is cut into fragments; every fragment has parallel
//! instances, and each instance is one task that calls the operators of its chain directly. Channels between tasks
//! are bounded.
//!
//! Invariants: knows no SQL, no DataFusion and no connector; operators know no clock and no channel, and are
//! synchronous: only sources, sinks and channels are awaited.

mod alignment;
mod assembly;
mod chain;
mod channel_task;
mod checkpoint;
pub mod codes;
mod coordinator;
mod counters;
mod exchange;
mod fragment;
mod input_wait;
mod job;
mod lookup;
mod manifest;
mod merging;
pub mod metrics;
pub mod operator;
pub mod operators;
mod parted;
mod quiescence;
mod restart;
mod restore;
mod shared;
mod sink;
mod source_group;
mod source_task;
mod store;
mod task;
mod upkeep;
mod values;
mod waiting;
mod watermark;
mod writing;

pub use checkpoint::{JobCheckpoint, NodeCounts, SinkCheckpoint, SourceCheckpoint};
pub use job::{JobHandle, OperatorFactory, RuntimeOptions, StopMode, commit_again, start, start_with};
pub use manifest::SourceEntry;
pub use parted::MemoryOptions;
pub use restore::RestoreReport;
pub use store::{CheckpointStore, Hold, JobLabel, Saved, StoredCheckpoint};
