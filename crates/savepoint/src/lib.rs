//! Savepoints: a checkpoint of all jobs of a script, in an open format that other tools can read.
//!
//! ```text
//! <savepoint>/savepoint.json                              what there is: jobs, plans, positions, watermarks, counts, files
//! <savepoint>/script.sql                                  the script
//! <savepoint>/<job>/<operator id>.<table>.parquet         the rows of one table of one operator
//! ```
//!
//! A row's columns are `key_group`, `namespace.*`, `key.*`, `last_write_ms` and `value.*`, as in checkpoints. What sinks had
//! still to commit when the savepoint was taken has been committed before it is written: a savepoint holds no state of sinks.
//!
//! Invariants: the folder appears by one rename, with every file synced; a savepoint is never changed.

pub mod codes;
mod manifest;
mod read;
mod write;

pub use read::read;
pub use write::write;

use runtime::JobCheckpoint;

/// The name of the file that makes a folder a savepoint.
pub const MANIFEST: &str = "savepoint.json";
/// The script, beside it.
const SCRIPT: &str = "script.sql";

/// A checkpoint of all jobs of a script.
#[derive(Debug, Clone)]
pub struct Savepoint {
    /// Where the script was.
    pub script: String,
    /// Its text.
    pub script_text: String,
    /// When it was taken: milliseconds since 1970-01-01T00:00:00Z.
    pub written_ms: i64,
    /// The jobs in the order of the script.
    pub jobs: Vec<SavedJob>,
}

/// One job of a savepoint.
#[derive(Debug, Clone)]
pub struct SavedJob {
    /// By what the job is known within its script: the tables that it writes.
    pub key: String,
    /// The plan, as EXPLAIN prints it.
    pub plan: String,
    /// The state; without that of sinks.
    pub checkpoint: JobCheckpoint,
}
