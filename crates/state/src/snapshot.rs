//! Snapshots: the state of an operator instance as self-described rows.

use arrow::array::{ArrayRef, RecordBatch};
use std::collections::BTreeMap;

/// The state of one operator instance at a barrier.
#[derive(Debug, Clone, Default)]
pub struct OperatorSnapshot {
    /// Keyed tables.
    pub tables: Vec<TableSnapshot>,
    /// Small values of the instance as a whole: its watermark, counters.
    pub values: BTreeMap<String, i64>,
}

/// A keyed table.
///
/// Columns: `key_group` (UInt16), `namespace.<name>` (Int64, if there is one), `key.<name>` ..., `last_write_ms`
/// (Int64, if there is a TTL), `value.<name>` .... Every field carries its SQL type in its metadata as far as it has
/// one.
#[derive(Debug, Clone)]
pub struct TableSnapshot {
    /// The table's name within its operator.
    pub name: String,
    /// Whether the rows are all there is.
    pub kind: SnapshotKind,
    /// The rows: all of them, or those written since the last snapshot.
    pub rows: RecordBatch,
}

/// What the rows of a [`TableSnapshot`] are.
#[derive(Debug, Clone)]
pub enum SnapshotKind {
    /// The whole table.
    Full,
    /// Changes since the last snapshot: `deleted` keys go first, then the rows are put in.
    Incremental {
        /// Removed keys: the columns `key_group`, `namespace` and `key`. A key can be here and among the rows.
        deleted: RecordBatch,
    },
}

/// How much a snapshot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The whole table.
    Full,
    /// What changed since the last snapshot; the whole table if that is not known.
    Changes,
}

/// What restoring a table gives its owner.
#[derive(Debug, Default)]
pub struct Restored {
    /// Slots that the snapshot deleted: to be reset, before the values are put in.
    pub removed: Vec<u32>,
    /// The slot of every restored row.
    pub slots: Vec<u32>,
    /// The value columns of those rows.
    pub values: Vec<ArrayRef>,
}

impl OperatorSnapshot {
    /// A table by name.
    pub fn table(&self, name: &str) -> Option<&TableSnapshot> {
        self.tables.iter().find(|table| table.name == name)
    }
}
