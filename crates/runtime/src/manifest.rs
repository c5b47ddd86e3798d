//! The manifest of a checkpoint: what the folder's JSON says, and how it becomes a [`JobCheckpoint`].

use crate::checkpoint::{JobCheckpoint, NodeCounts, SinkCheckpoint, SourceCheckpoint};
use arrow::array::{Array, ArrayRef, AsArray, LargeBinaryArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use base::connector::{Committable, SplitId, SplitState};
use base::key::{HASH_VERSION, KEY_GROUPS};
use base::{Epoch, Error, Result};
use serde::{Deserialize, Serialize};
use state::codes::CHECKPOINT_VERSION;
use state::{
    OperatorSnapshot, PartSnapshot, PartState, Section, SectionReader, SnapshotKind, StateShape, StoredPart,
    TableSnapshot,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A checkpoint without its state: where that is, and everything small.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The version of the program.
    pub engine: String,
    pub job: String,
    /// What the job belongs to: the path of its script.
    pub script: String,
    pub script_digest: String,
    pub written_ms: i64,
    pub epoch: u64,
    /// The input had ended: there is nothing to go on with.
    pub finished: bool,
    pub key_groups: usize,
    pub hash_version: u32,
    pub nodes: BTreeMap<String, NodeEntry>,
}

/// A node of the job.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct NodeEntry {
    pub name: String,
    pub digest: String,
    /// One per instance.
    pub watermarks_ms: Vec<Option<i64>>,
    pub counts: NodeCounts,
    /// The columns of an operator's tables.
    #[serde(default, skip_serializing_if = "StateShape::is_empty")]
    pub state: StateShape,
    /// The state of each instance of an operator, in parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operator: Vec<Vec<PartEntry>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceEntry>,
    /// Writer states and committables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink: Option<SectionEntry>,
}

/// A part of an operator instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartEntry {
    pub part: u32,
    /// The first and the last key group of its rows, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_groups: Option<(u16, u16)>,
    /// Its small values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, i64>,
    /// All of it at some checkpoint, then what changed since, the oldest first.
    pub sections: Vec<SectionEntry>,
}

/// Which part: the node's key, the instance, the part's number.
pub(crate) type PartKey = (String, usize, u32);

/// The positions of a source as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SourceEntry {
    /// Split and position, the latter in hexadecimal.
    pub positions: Vec<(String, String)>,
    /// The watermarks of the splits that have one.
    pub watermarks_ms: BTreeMap<String, i64>,
}

/// A [`Section`] as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SectionEntry {
    pub file: String,
    pub offset: u64,
    pub bytes: u64,
    pub xxh3: String,
    /// What it has of each table; nothing where it was taken over as bytes, or belongs to no operator.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, TableEntry>,
}

/// What a section has of a table: how many rows, how many earlier ones it says are gone, and whether no earlier one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableEntry(pub u64, pub u64, pub bool);

impl TableEntry {
    fn of(table: &TableSnapshot) -> TableEntry {
        let (gone, is_whole) = match &table.kind {
            SnapshotKind::Full => (0, true),
            SnapshotKind::Rows { gone } | SnapshotKind::Keys { gone } => (gone.len(), false),
        };
        TableEntry(table.rows.num_rows() as u64, gone as u64, is_whole)
    }
}

impl SectionEntry {
    pub(crate) fn of(section: Section) -> SectionEntry {
        let Section { file, offset, bytes, checksum } = section;
        SectionEntry { file, offset, bytes, xxh3: format!("{checksum:032x}"), tables: BTreeMap::new() }
    }

    /// With what it holds.
    pub(crate) fn with(self, snapshot: &OperatorSnapshot) -> SectionEntry {
        let tables = snapshot.tables.iter().map(|table| (table.name.clone(), TableEntry::of(table)));
        SectionEntry { tables: tables.collect(), ..self }
    }

    pub(crate) fn section(&self) -> Result<Section> {
        let checksum = u128::from_str_radix(&self.xxh3, 16).map_err(Error::internal)?;
        Ok(Section { file: self.file.clone(), offset: self.offset, bytes: self.bytes, checksum })
    }
}

impl Manifest {
    /// Every section that it names.
    pub(crate) fn sections(&self) -> impl Iterator<Item = &SectionEntry> {
        self.nodes.values().flat_map(|node| {
            let parts = node.operator.iter().flatten();
            parts.flat_map(|part| &part.sections).chain(&node.sink)
        })
    }

    /// The parts of all operators.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (PartKey, &PartEntry)> {
        self.nodes.iter().flat_map(|(key, node)| {
            let instances = node.operator.iter().enumerate();
            instances.flat_map(move |(instance, parts)| {
                parts.iter().map(move |part| ((key.clone(), instance, part.part), part))
            })
        })
    }

    /// A part.
    pub(crate) fn part(&self, (key, instance, number): &PartKey) -> Option<&PartEntry> {
        self.nodes.get(key)?.operator.get(*instance)?.iter().find(|part| part.part == *number)
    }

    /// A part.
    pub(crate) fn part_mut(&mut self, (key, instance, number): &PartKey) -> Option<&mut PartEntry> {
        self.nodes.get_mut(key)?.operator.get_mut(*instance)?.iter_mut().find(|part| part.part == *number)
    }

    /// The segments that it needs.
    pub(crate) fn files(&self) -> BTreeSet<String> {
        self.sections().map(|section| section.file.clone()).collect()
    }

    /// Reads a manifest's body.
    pub(crate) fn parse(body: &str, path: &dyn std::fmt::Display) -> Result<Manifest> {
        let other_version = || Error::new(&CHECKPOINT_VERSION, &[("what", &path)]);
        let manifest: Manifest = serde_json::from_str(body).map_err(|_| other_version())?;
        if (manifest.key_groups, manifest.hash_version) != (KEY_GROUPS, HASH_VERSION) {
            return Err(other_version());
        }
        Ok(manifest)
    }

    /// The whole checkpoint. The state of operators stays where it is until it is asked for.
    pub(crate) fn checkpoint(&self, reader: &SectionReader) -> Result<JobCheckpoint> {
        let snapshot = |entry: &SectionEntry| state::decode_snapshot(&reader.read(&entry.section()?)?);
        let mut checkpoint = JobCheckpoint::new(Epoch(self.epoch));
        checkpoint.is_finished = self.finished;
        for (key, node) in &self.nodes {
            let own = || key.clone();
            checkpoint.names.insert(own(), node.name.clone());
            checkpoint.digests.insert(own(), node.digest.clone());
            if !node.state.is_empty() {
                checkpoint.shapes.insert(own(), node.state.clone());
            }
            checkpoint.watermarks.insert(own(), node.watermarks_ms.clone());
            checkpoint.counts.insert(own(), node.counts);
            if !node.operator.is_empty() {
                let part = |entry: &PartEntry| entry.restored(reader);
                let instances = node.operator.iter().map(|parts| parts.iter().map(part).collect::<Result<_>>());
                checkpoint.operators.insert(own(), instances.collect::<Result<_>>()?);
            }
            if let Some(source) = &node.source {
                checkpoint.sources.insert(own(), source.read()?);
            }
            if let Some(entry) = &node.sink {
                checkpoint.sinks.insert(own(), sink_checkpoint(&snapshot(entry)?)?);
            }
        }
        Ok(checkpoint)
    }
}

impl PartEntry {
    /// The rows in its sections, and those among them that are known to be no more.
    pub(crate) fn rows(&self) -> (u64, u64) {
        let mut tables: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (name, TableEntry(rows, gone, is_whole)) in self.sections.iter().flat_map(|section| &section.tables) {
            let (all, dead) = tables.entry(name).or_default();
            *dead = if *is_whole { *all } else { (*dead + gone).min(*all) };
            *all += rows;
        }
        tables.values().fold((0, 0), |(all, dead), table| (all + table.0, dead + table.1))
    }

    fn restored(&self, reader: &SectionReader) -> Result<PartSnapshot> {
        let stored = StoredPart {
            reader: reader.clone(),
            sections: self.sections.iter().map(SectionEntry::section).collect::<Result<_>>()?,
            key_groups: self.key_groups,
            values: self.values.clone(),
            migration: None,
        };
        Ok(PartSnapshot { part: self.part, state: PartState::Stored(Arc::new(stored)) })
    }
}

impl SourceEntry {
    /// The entry of a source.
    pub fn of(source: &SourceCheckpoint) -> SourceEntry {
        let position = |state: &SplitState| (state.split.to_string(), hex(&state.position));
        SourceEntry {
            positions: source.splits.iter().map(position).collect(),
            watermarks_ms: source.watermarks.iter().map(|(split, ms)| (split.to_string(), *ms)).collect(),
        }
    }

    /// The source of an entry.
    ///
    /// # Errors
    /// Positions that are not hexadecimal.
    pub fn read(&self) -> Result<SourceCheckpoint> {
        let state = |(split, position): &(String, String)| {
            Ok(SplitState { split: split.as_str().into(), position: unhex(position)? })
        };
        Ok(SourceCheckpoint {
            splits: self.positions.iter().map(state).collect::<Result<_>>()?,
            watermarks: self.watermarks_ms.iter().map(|(split, ms)| (SplitId::from(split.as_str()), *ms)).collect(),
        })
    }
}

const WRITERS: &str = "writers";
const COMMITTABLES: &str = "committables";

/// The state of a sink in the form of an operator's: two tables of bytes.
pub(crate) fn sink_snapshot(sink: &SinkCheckpoint) -> Result<OperatorSnapshot> {
    let table = |name: &str, rows: Vec<&[u8]>| -> Result<TableSnapshot> {
        let schema = Schema::new(vec![Field::new("bytes", DataType::LargeBinary, false)]);
        let column: ArrayRef = Arc::new(LargeBinaryArray::from_iter_values(rows));
        let rows = RecordBatch::try_new(Arc::new(schema), vec![column])?;
        Ok(TableSnapshot { name: name.into(), kind: SnapshotKind::Full, rows, ids: None })
    };
    let writers = table(WRITERS, sink.writers.iter().map(Vec::as_slice).collect())?;
    let committables = table(COMMITTABLES, sink.committables.iter().map(|one| &*one.0).collect())?;
    Ok(OperatorSnapshot { tables: vec![writers, committables], values: BTreeMap::new() })
}

fn sink_checkpoint(snapshot: &OperatorSnapshot) -> Result<SinkCheckpoint> {
    let rows = |name: &str| -> Result<Vec<Vec<u8>>> {
        let table = snapshot.table(name).ok_or_else(|| Error::internal(format!("a sink's state without {name}")))?;
        let column = table.rows.columns().first().and_then(|column| column.as_binary_opt::<i64>());
        let column = column.ok_or_else(|| Error::internal(format!("{name} of a sink are no bytes")))?;
        Ok((0..column.len()).map(|row| column.value(row).to_vec()).collect())
    };
    let committables = rows(COMMITTABLES)?.into_iter().map(Committable::from).collect();
    Ok(SinkCheckpoint { writers: rows(WRITERS)?, committables })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).map_err(Error::internal)?;
        u8::from_str_radix(pair, 16).map_err(Error::internal)
    };
    digits.map(byte).collect()
}
