//! `savepoint.json`: everything of a savepoint but the rows.

use runtime::{NodeCounts, SourceEntry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The layout that this program writes and reads.
pub(crate) const LAYOUT: u32 = 1;

/// The file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub layout: u32,
    /// The version of the program.
    pub engine: String,
    pub written_ms: i64,
    /// Where the script was; its text is in `script.sql`.
    pub script: String,
    /// Rows are spread by a hash: another one, and they would be looked for elsewhere.
    pub key_groups: usize,
    pub hash_version: u32,
    pub jobs: Vec<JobEntry>,
    /// Every other file of the savepoint with its XXH3-128.
    pub files: BTreeMap<String, String>,
}

/// One job of the script.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct JobEntry {
    /// By what the job is known: the tables that it writes.
    pub job: String,
    /// The number of the checkpoint.
    pub checkpoint: u64,
    /// The input had ended.
    pub finished: bool,
    /// The plan, as EXPLAIN prints it.
    pub plan: Vec<String>,
    pub nodes: BTreeMap<String, NodeEntry>,
}

/// A node of a plan.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct NodeEntry {
    pub name: String,
    pub digest: String,
    /// One per instance.
    pub watermarks_ms: Vec<Option<i64>>,
    pub counts: NodeCounts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceEntry>,
    /// The tables of an operator by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, TableEntry>,
    /// What each instance keeps besides tables, part by part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<Vec<PartEntry>>,
}

/// One table of an operator, of all its instances.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TableEntry {
    /// The Parquet file: the rows of all parts of all instances, one after the other.
    pub file: String,
    pub rows: u64,
}

/// One part of an instance.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PartEntry {
    pub part: u32,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, i64>,
    /// How many rows of each table are its own.
    pub rows: Vec<(String, u64)>,
}
