//! Keyed state of operators: tables of keys, values by slot, timers, and their snapshots.
//!
//! A [`KeyTable`] gives every key a dense slot number; values live in columns indexed by slot (accumulators, a
//! [`RowStore`], [`RowChains`] for several rows per key, plain vectors). [`Timers`] wake slots at a point in event
//! time. An [`OperatorSnapshot`] holds self-described rows that say to which key group they belong, so that a job can
//! be restored at another parallelism.
//!
//! Tables are in memory; snapshots become files through [`encode_snapshot`] and [`CheckpointFolder`], on the local disk or in
//! an object store. What does not fit into memory waits in a [`CacheFolder`]. Tables know which keys changed since the last snapshot.
//!
//! Invariants: knows no operator and no clock; a table knows no file. The order of a hash map never reaches a result.

mod cache;
pub mod codes;
mod folder;
mod key_store;
mod key_table;
mod lock;
mod merge;
mod numbers;
mod row_chains;
mod row_form;
mod row_store;
mod segment;
mod sequence;
mod shape;
mod slot_bytes;
mod snapshot;
mod sorted_rows;
mod storage;
mod stored;
mod timers;

pub use cache::{CacheFile, CacheFolder};
pub use folder::{CheckpointFolder, CheckpointId, Section, SectionReader, SegmentWriter, checkpoints_in, digest};
pub use key_table::{KeyBatch, KeyTable, KeyTableSpec, Slots, TakenKeys};
pub use lock::FileLock;
pub use merge::merge_snapshots;
pub use numbers::{RowNumbers, Wanted};
pub use row_chains::{Added, ChainRows, RowChains, RowChainsSpec, RowIdentity};
pub use row_store::{EncodedRows, RowStore};
pub use segment::{decode_snapshot, encode_snapshot, write_snapshot};
pub use shape::{Fit, Migration, StateColumn, StateShape};
pub use snapshot::{OperatorSnapshot, PartSnapshot, PartState, Restored, Scope, SnapshotKind, TableSnapshot};
pub use sorted_rows::{SortedBatch, SortedIdentity, SortedRows, SortedRowsSpec, TakenRows};
pub use storage::{CheckpointPlace, Files};
pub use stored::{StoredPart, key_groups, merge_sections};
pub use timers::Timers;
