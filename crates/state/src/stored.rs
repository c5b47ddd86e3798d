//! Parts of operator instances as they lie in the files of a checkpoint.

use crate::folder::{Section, SectionReader};
use crate::merge::merge_snapshots;
use crate::segment::decode_snapshot;
use crate::shape::Migration;
use crate::snapshot::OperatorSnapshot;
use base::Result;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A part in files.
#[derive(Debug, Clone)]
pub struct StoredPart {
    /// Reads the sections.
    pub reader: SectionReader,
    /// All of it at some checkpoint, then what changed since, the oldest first. None: there are no rows.
    pub sections: Vec<Section>,
    /// The key groups that its rows belong to, the first and the last one; `None` if that is not known.
    pub key_groups: Option<(u16, u16)>,
    /// Its small values.
    pub values: BTreeMap<String, i64>,
    /// What its rows are made into, if the operator needs others.
    pub migration: Option<Arc<Migration>>,
}

impl StoredPart {
    /// The part as one snapshot of all there is.
    ///
    /// # Errors
    /// Files that are gone or damaged.
    pub fn load(&self) -> Result<OperatorSnapshot> {
        if self.sections.is_empty() {
            return Ok(OperatorSnapshot { tables: Vec::new(), values: self.values.clone() });
        }
        let rows = merge_sections(&self.reader, &self.sections, true)?;
        match &self.migration {
            None => Ok(rows),
            Some(migration) => migration.apply(rows),
        }
    }

    /// Whether rows of these key groups may be in it.
    pub fn may_have(&self, groups: &Range<u16>) -> bool {
        self.key_groups.is_none_or(|(first, last)| first < groups.end && groups.start <= last)
    }
}

/// Reads sections that follow one another as one: see [`merge_snapshots`].
///
/// # Errors
/// Files that are gone or damaged.
pub fn merge_sections(reader: &SectionReader, sections: &[Section], from_beginning: bool) -> Result<OperatorSnapshot> {
    let snapshots = sections.iter().map(|section| decode_snapshot(&reader.read(section)?));
    merge_snapshots(snapshots.collect::<Result<_>>()?, from_beginning)
}

/// The first and the last key group of a snapshot's rows; `None` if it has rows of which that is not known, or values only.
pub fn key_groups(snapshot: &OperatorSnapshot) -> Option<(u16, u16)> {
    let mut range: Option<(u16, u16)> = None;
    for table in &snapshot.tables {
        let groups = table.key_groups()?;
        if groups.is_empty() {
            continue;
        }
        let (first, last) = (groups.values().iter().min().copied()?, groups.values().iter().max().copied()?);
        let (low, high) = range.unwrap_or((first, last));
        range = Some((low.min(first), high.max(last)));
    }
    range
}
