//! Runs a stream plan: tasks, exchange, watermarks, barriers, operators and the life of a job.
//!
//! Invariants: knows no SQL, no DataFusion and no connector; operators know no clock and no channel.

pub mod metrics;
pub mod operator;
