//! The manifest of a checkpoint: what the folder's JSON says, and how it becomes a [`JobCheckpoint`].

use crate::checkpoint::{JobCheckpoint, NodeCounts, SinkCheckpoint, SourceCheckpoint};
use arrow::array::{Array, ArrayRef, AsArray, LargeBinaryArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use base::connector::{Committable, SplitId, SplitState};
use base::key::{HASH_VERSION, KEY_GROUPS};
use base::{Epoch, Error, Result};
use serde::{Deserialize, Serialize};
use state::codes::CHECKPOINT_VERSION;
use state::{OperatorSnapshot, Section, SnapshotKind, TableSnapshot};
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
    /// The state of each instance of an operator; `None` where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operator: Vec<Option<SectionEntry>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceEntry>,
    /// Writer states and committables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink: Option<SectionEntry>,
}

/// The positions of a source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SourceEntry {
    /// Split and position, the latter in hexadecimal.
    pub positions: Vec<(String, String)>,
    pub watermarks_ms: BTreeMap<String, i64>,
}

/// A [`Section`] as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SectionEntry {
    pub file: String,
    pub offset: u64,
    pub bytes: u64,
    pub xxh3: String,
}

impl SectionEntry {
    pub(crate) fn of(section: Section) -> SectionEntry {
        let Section { file, offset, bytes, checksum } = section;
        SectionEntry { file, offset, bytes, xxh3: format!("{checksum:032x}") }
    }

    pub(crate) fn section(&self) -> Result<Section> {
        let checksum = u128::from_str_radix(&self.xxh3, 16).map_err(Error::internal)?;
        Ok(Section { file: self.file.clone(), offset: self.offset, bytes: self.bytes, checksum })
    }
}

impl Manifest {
    /// Every section that it names.
    pub(crate) fn sections(&self) -> impl Iterator<Item = &SectionEntry> {
        self.nodes.values().flat_map(|node| node.operator.iter().flatten().chain(&node.sink))
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

    /// The whole checkpoint; `read` gives the bytes of a section.
    pub(crate) fn checkpoint(&self, read: impl Fn(&Section) -> Result<Vec<u8>>) -> Result<JobCheckpoint> {
        let snapshot = |entry: &SectionEntry| state::decode_snapshot(&read(&entry.section()?)?);
        let mut checkpoint = JobCheckpoint::new(Epoch(self.epoch));
        checkpoint.is_finished = self.finished;
        for (key, node) in &self.nodes {
            let own = || key.clone();
            checkpoint.names.insert(own(), node.name.clone());
            checkpoint.digests.insert(own(), node.digest.clone());
            checkpoint.watermarks.insert(own(), node.watermarks_ms.clone());
            checkpoint.counts.insert(own(), node.counts);
            if !node.operator.is_empty() {
                let instances =
                    node.operator.iter().map(|entry| entry.as_ref().map_or(Ok(Default::default()), snapshot));
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

impl SourceEntry {
    pub(crate) fn of(source: &SourceCheckpoint) -> SourceEntry {
        let position = |state: &SplitState| (state.split.to_string(), hex(&state.position));
        SourceEntry {
            positions: source.splits.iter().map(position).collect(),
            watermarks_ms: source.watermarks.iter().map(|(split, ms)| (split.to_string(), *ms)).collect(),
        }
    }

    fn read(&self) -> Result<SourceCheckpoint> {
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
        Ok(TableSnapshot { name: name.into(), kind: SnapshotKind::Full, rows })
    };
    let writers = table(WRITERS, sink.writers.iter().map(Vec::as_slice).collect())?;
    let committables = table(COMMITTABLES, sink.committables.iter().map(|one| one.0.as_slice()).collect())?;
    Ok(OperatorSnapshot { tables: vec![writers, committables], values: BTreeMap::new() })
}

fn sink_checkpoint(snapshot: &OperatorSnapshot) -> Result<SinkCheckpoint> {
    let rows = |name: &str| -> Result<Vec<Vec<u8>>> {
        let table = snapshot.table(name).ok_or_else(|| Error::internal(format!("a sink's state without {name}")))?;
        let column = table.rows.columns().first().and_then(|column| column.as_binary_opt::<i64>());
        let column = column.ok_or_else(|| Error::internal(format!("{name} of a sink are no bytes")))?;
        Ok((0..column.len()).map(|row| column.value(row).to_vec()).collect())
    };
    let committables = rows(COMMITTABLES)?.into_iter().map(Committable).collect();
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
