//! Snapshots: the state of an operator instance as self-described rows.

use crate::cache::CacheFile;
use crate::shape::Migration;
use crate::stored::StoredPart;
use arrow::array::{ArrayRef, RecordBatch, UInt16Array};
use base::{Error, Result};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The state of one operator instance at a barrier.
#[derive(Debug, Clone, Default)]
pub struct OperatorSnapshot {
    /// Keyed tables.
    pub tables: Vec<TableSnapshot>,
    /// Small values of the instance as a whole: its watermark, counters.
    pub values: BTreeMap<String, i64>,
}

/// The state of one part of an operator instance. Most instances are one part, number 0.
#[derive(Debug, Clone)]
pub struct PartSnapshot {
    /// The part's number within its instance. It is the same at every checkpoint between two starts of a job.
    pub part: u32,
    /// What is known of it.
    pub state: PartState,
}

/// What a part of an operator instance has to say at a barrier.
#[derive(Debug, Clone)]
pub enum PartState {
    /// Rows: all of them, or what changed since the last checkpoint ([`SnapshotKind`] tells for each table).
    Rows(Arc<OperatorSnapshot>),
    /// All of it, as [`crate::encode_snapshot`] writes it: a part that was put away need not be read to be kept.
    Encoded(Arc<Vec<u8>>),
    /// The same in a file, read when it is needed.
    Cached(Arc<CacheFile>),
    /// As in the last durable checkpoint. Not an answer to [`Scope::Full`].
    Unchanged,
    /// All of it, in the files of a checkpoint: what a restored job is given.
    Stored(Arc<StoredPart>),
}

impl PartSnapshot {
    /// The only part of an instance.
    pub fn whole(snapshot: OperatorSnapshot) -> PartSnapshot {
        PartSnapshot { part: 0, state: PartState::Rows(Arc::new(snapshot)) }
    }

    /// The rows of a part that was restored.
    ///
    /// # Errors
    /// Bytes of another version; a part that is known by its difference only.
    pub fn load(&self) -> Result<OperatorSnapshot> {
        match &self.state {
            PartState::Rows(snapshot) => Ok(snapshot.as_ref().clone()),
            PartState::Encoded(bytes) => crate::decode_snapshot(bytes),
            PartState::Cached(file) => crate::decode_snapshot(&file.read()?),
            PartState::Stored(part) => part.load(),
            PartState::Unchanged => Err(Error::internal("a part that is not known is not restored")),
        }
    }

    /// The same part as the rows that a changed operator needs. What is in files is migrated when it is read.
    ///
    /// # Errors
    /// As [`PartSnapshot::load`]; rows of a shape that does not fit.
    pub fn migrated(&self, migration: &Arc<Migration>) -> Result<PartSnapshot> {
        let state = match &self.state {
            PartState::Stored(stored) => {
                let migration = Some(migration.clone());
                PartState::Stored(Arc::new(StoredPart { migration, ..stored.as_ref().clone() }))
            }
            _ => PartState::Rows(Arc::new(migration.apply(self.load()?)?)),
        };
        Ok(PartSnapshot { part: self.part, state })
    }

    /// What an instance with these key groups needs of a part: of one without such rows, the small values.
    pub fn for_groups(&self, groups: &Range<u16>) -> PartSnapshot {
        match &self.state {
            PartState::Stored(stored) if !stored.may_have(groups) => {
                let values = stored.values.clone();
                PartSnapshot {
                    part: self.part,
                    ..PartSnapshot::whole(OperatorSnapshot { values, ..Default::default() })
                }
            }
            _ => self.clone(),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        match &self.state {
            PartState::Rows(snapshot) => snapshot.is_empty(),
            PartState::Stored(part) => part.sections.is_empty() && part.values.is_empty(),
            PartState::Encoded(_) | PartState::Cached(_) | PartState::Unchanged => false,
        }
    }
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
    /// Which row each one is, across snapshots: the number of its key above the number of the row itself, 32 bits each. Where
    /// several snapshots become one, rows are in this order. `None` in a table that is always written as a whole, and in one
    /// that was restored.
    pub ids: Option<Vec<u64>>,
}

impl TableSnapshot {
    /// The key group of every row; `None` if the rows do not say it.
    pub fn key_groups(&self) -> Option<&UInt16Array> {
        self.rows.columns().first()?.as_any().downcast_ref()
    }
}

/// What the rows of a [`TableSnapshot`] are.
#[derive(Debug, Clone)]
pub enum SnapshotKind {
    /// The whole table.
    Full,
    /// Changes since the last snapshot: the rows take the place of those with the same number, which is the lower half of
    /// an id; rows with the numbers in `gone` are no more.
    Rows {
        /// Numbers of rows.
        gone: Vec<u32>,
    },
    /// Changes since the last snapshot, key by key: of the keys with the numbers in `gone`, which are the upper halves of
    /// ids, the rows are all there is.
    Keys {
        /// Numbers of keys.
        gone: Vec<u32>,
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
    /// The slot of every restored row.
    pub slots: Vec<u32>,
    /// The value columns of those rows.
    pub values: Vec<ArrayRef>,
}

impl OperatorSnapshot {
    /// Whether it holds nothing at all.
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(|table| table.rows.num_rows() == 0) && self.values.is_empty()
    }

    /// A table by name.
    pub fn table(&self, name: &str) -> Option<&TableSnapshot> {
        self.tables.iter().find(|table| table.name == name)
    }
}
