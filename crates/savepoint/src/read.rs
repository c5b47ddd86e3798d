//! Reads a savepoint back.

use crate::codes::{DAMAGED, VERSION};
use crate::manifest::{JobEntry, LAYOUT, Manifest, NodeEntry, PartEntry};
use crate::{MANIFEST, SCRIPT, SavedJob, Savepoint};
use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use base::key::{HASH_VERSION, KEY_GROUPS};
use base::{Epoch, Error, Result};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use runtime::JobCheckpoint;
use state::{OperatorSnapshot, PartSnapshot, SnapshotKind, StateShape, TableSnapshot};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Reads a savepoint.
///
/// # Errors
/// A folder that is no savepoint, is not whole, or has another layout.
pub fn read(folder: &Path) -> Result<Savepoint> {
    let reader = Reader { folder, checksums: BTreeMap::new() };
    let text = reader.bytes(MANIFEST)?;
    let version: LayoutOnly = serde_json::from_slice(&text).map_err(|cause| reader.damaged(cause))?;
    if version.layout != LAYOUT {
        let engine = version.engine;
        return Err(Error::new(
            &VERSION,
            &[("path", &folder.display()), ("found", &version.layout), ("known", &LAYOUT), ("engine", &engine)],
        ));
    }
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|cause| reader.damaged(cause))?;
    if (manifest.key_groups, manifest.hash_version) != (KEY_GROUPS, HASH_VERSION) {
        return Err(reader.damaged("its rows are spread by another hash"));
    }
    let reader = Reader { folder, checksums: manifest.files };
    let script_text = String::from_utf8(reader.checked(SCRIPT)?).map_err(|cause| reader.damaged(cause))?;
    let jobs = manifest.jobs.into_iter().map(|job| reader.job(job)).collect::<Result<_>>()?;
    Ok(Savepoint { script: manifest.script, script_text, written_ms: manifest.written_ms, jobs })
}

/// What every layout has.
#[derive(serde::Deserialize)]
struct LayoutOnly {
    layout: u32,
    engine: String,
}

struct Reader<'a> {
    folder: &'a Path,
    checksums: BTreeMap<String, String>,
}

impl Reader<'_> {
    fn damaged(&self, cause: impl std::fmt::Display) -> Error {
        Error::new(&DAMAGED, &[("path", &self.folder.display()), ("cause", &cause)])
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>> {
        std::fs::read(self.folder.join(name)).map_err(|cause| self.damaged(format!("{name}: {cause}")))
    }

    fn checked(&self, name: &str) -> Result<Vec<u8>> {
        let bytes = self.bytes(name)?;
        if self.checksums.get(name) != Some(&state::digest(&bytes)) {
            return Err(self.damaged(format!("the checksum of {name} is wrong")));
        }
        Ok(bytes)
    }

    fn job(&self, job: JobEntry) -> Result<SavedJob> {
        let mut checkpoint = JobCheckpoint::new(Epoch(job.checkpoint));
        checkpoint.is_finished = job.finished;
        for (key, node) in job.nodes {
            if let Some(source) = &node.source {
                let source = source.read().map_err(|cause| self.damaged(cause))?;
                checkpoint.sources.insert(key.clone(), source);
            }
            if !node.instances.is_empty() {
                let instances = self.operator(&node)?;
                let shape = shape(&instances)?;
                if !shape.is_empty() {
                    checkpoint.shapes.insert(key.clone(), shape);
                }
                checkpoint.operators.insert(key.clone(), instances);
            }
            checkpoint.names.insert(key.clone(), node.name);
            checkpoint.digests.insert(key.clone(), node.digest);
            checkpoint.watermarks.insert(key.clone(), node.watermarks_ms);
            checkpoint.counts.insert(key, node.counts);
        }
        Ok(SavedJob { key: job.job, plan: job.plan.join("\n"), checkpoint })
    }

    fn operator(&self, node: &NodeEntry) -> Result<Vec<Vec<PartSnapshot>>> {
        let mut tables = BTreeMap::new();
        for (name, table) in &node.tables {
            let rows = self.rows(&table.file)?;
            tables.insert(name.as_str(), Rows { rows, taken: 0 });
        }
        let mut part = |entry: &PartEntry| -> Result<PartSnapshot> {
            let mut snapshot = OperatorSnapshot { tables: Vec::new(), values: entry.values.clone() };
            for (name, count) in &entry.rows {
                let taken = tables.get_mut(name.as_str()).and_then(|table| table.take(*count as usize));
                let rows = taken.ok_or_else(|| self.damaged(format!("rows of table {name} are missing")))?;
                snapshot.tables.push(TableSnapshot { name: name.clone(), kind: SnapshotKind::Full, rows, ids: None });
            }
            Ok(PartSnapshot { part: entry.part, ..PartSnapshot::whole(snapshot) })
        };
        node.instances.iter().map(|parts| parts.iter().map(&mut part).collect()).collect()
    }

    fn rows(&self, file: &str) -> Result<RecordBatch> {
        let bytes = self.checked(file)?;
        let read = || -> std::result::Result<RecordBatch, Box<dyn std::error::Error>> {
            let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes))?;
            let schema = builder.schema().clone();
            let batches = builder.build()?.collect::<std::result::Result<Vec<_>, _>>()?;
            // The reader's own metadata is not that of the rows.
            let schema = Arc::new(arrow::datatypes::Schema::new(schema.fields().clone()));
            let columns = batches.iter().map(|batch| RecordBatch::try_new(schema.clone(), batch.columns().to_vec()));
            Ok(concat_batches(&schema, &columns.collect::<std::result::Result<Vec<_>, _>>()?)?)
        };
        read().map_err(|cause| self.damaged(format!("{file}: {cause}")))
    }
}

/// The columns of an operator's tables: rows say themselves what they hold.
fn shape(instances: &[Vec<PartSnapshot>]) -> Result<StateShape> {
    let mut shape = StateShape::default();
    for part in instances.iter().flatten() {
        shape.tables.extend(StateShape::of(&part.load()?).tables);
    }
    Ok(shape)
}

/// The rows of a table, handed out from the front.
struct Rows {
    rows: RecordBatch,
    taken: usize,
}

impl Rows {
    fn take(&mut self, count: usize) -> Option<RecordBatch> {
        let end = self.taken.checked_add(count).filter(|end| *end <= self.rows.num_rows())?;
        let rows = self.rows.slice(self.taken, count);
        self.taken = end;
        Some(rows)
    }
}
