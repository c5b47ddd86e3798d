//! Writes a savepoint.

use crate::codes::TAKEN;
use crate::manifest::{JobEntry, LAYOUT, Manifest, NodeEntry, PartEntry, TableEntry};
use crate::{MANIFEST, SCRIPT, SavedJob, Savepoint};
use arrow::array::RecordBatch;
use base::key::{HASH_VERSION, KEY_GROUPS};
use base::{Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use runtime::SourceEntry;
use state::PartSnapshot;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a savepoint to a folder that does not exist yet; folders above it are made.
///
/// # Errors
/// A folder that is there already; what the file system refuses. Nothing of that name exists then.
pub fn write(folder: &Path, savepoint: &Savepoint) -> Result<()> {
    let taken = || Error::new(&TAKEN, &[("path", &folder.display())]);
    if folder.exists() {
        return Err(taken());
    }
    let name = folder.file_name().ok_or_else(taken)?.to_string_lossy().into_owned();
    let unfinished = folder.with_file_name(format!(".{name}.{}.unfinished", std::process::id()));
    let written = write_to(&unfinished, savepoint).and_then(|()| {
        let rename = || -> std::io::Result<()> {
            std::fs::rename(&unfinished, folder)?;
            File::open(folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))?
                .sync_all()
        };
        rename().map_err(|cause| Error::io("create", folder.display(), &cause))
    });
    if written.is_err() {
        // What stays is hidden, and nothing that could be taken for a savepoint.
        let _ = std::fs::remove_dir_all(&unfinished);
    }
    written
}

fn write_to(folder: &Path, savepoint: &Savepoint) -> Result<()> {
    let mut files = Files { folder, written: BTreeMap::new() };
    files.folder("")?;
    files.write(SCRIPT, savepoint.script_text.as_bytes())?;
    let jobs = savepoint.jobs.iter().map(|job| files.job(job)).collect::<Result<_>>()?;
    let manifest = Manifest {
        layout: LAYOUT,
        engine: env!("CARGO_PKG_VERSION").into(),
        written_ms: savepoint.written_ms,
        script: savepoint.script.clone(),
        key_groups: KEY_GROUPS,
        hash_version: HASH_VERSION,
        jobs,
        files: std::mem::take(&mut files.written),
    };
    let text = serde_json::to_string_pretty(&manifest).map_err(Error::internal)?;
    files.write(MANIFEST, text.as_bytes())?;
    let sync = |path: PathBuf| {
        let synced = File::open(&path).and_then(|folder| folder.sync_all());
        synced.map_err(|cause| Error::io("write", path.display(), &cause))
    };
    savepoint.jobs.iter().try_for_each(|job| sync(folder.join(&job.key)))?;
    sync(folder.to_path_buf())
}

/// The files of a savepoint that is being written.
struct Files<'a> {
    folder: &'a Path,
    /// Their checksums.
    written: BTreeMap<String, String>,
}

impl Files<'_> {
    fn folder(&self, name: &str) -> Result<()> {
        let path = self.folder.join(name);
        std::fs::create_dir_all(&path).map_err(|cause| Error::io("create", path.display(), &cause))
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.folder.join(name);
        let write = || -> std::io::Result<()> {
            let mut file = File::create_new(&path)?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        write().map_err(|cause| Error::io("write", path.display(), &cause))?;
        self.written.insert(name.into(), state::digest(bytes));
        Ok(())
    }

    fn job(&mut self, job: &SavedJob) -> Result<JobEntry> {
        self.folder(&job.key)?;
        let checkpoint = &job.checkpoint;
        let mut nodes = BTreeMap::new();
        for (key, digest) in &checkpoint.digests {
            let mut entry = NodeEntry {
                name: checkpoint.names.get(key).cloned().unwrap_or_default(),
                digest: digest.clone(),
                watermarks_ms: checkpoint.watermarks.get(key).cloned().unwrap_or_default(),
                counts: checkpoint.counts.get(key).copied().unwrap_or_default(),
                source: checkpoint.sources.get(key).map(SourceEntry::of),
                ..NodeEntry::default()
            };
            if let Some(instances) = checkpoint.operators.get(key) {
                self.operator(&mut entry, &job.key, key, instances)?;
            }
            nodes.insert(key.clone(), entry);
        }
        Ok(JobEntry {
            job: job.key.clone(),
            checkpoint: checkpoint.epoch.0,
            finished: checkpoint.is_finished,
            plan: job.plan.lines().map(str::to_string).collect(),
            nodes,
        })
    }

    /// One file per table, with the rows of all instances.
    fn operator(&mut self, entry: &mut NodeEntry, job: &str, key: &str, instances: &[Vec<PartSnapshot>]) -> Result<()> {
        let mut tables: BTreeMap<String, Vec<RecordBatch>> = BTreeMap::new();
        for parts in instances {
            let mut written = Vec::new();
            for part in parts {
                let snapshot = part.load()?;
                let mut rows = Vec::new();
                for table in snapshot.tables {
                    rows.push((table.name.clone(), table.rows.num_rows() as u64));
                    tables.entry(table.name).or_default().push(table.rows);
                }
                written.push(PartEntry { part: part.part, values: snapshot.values, rows });
            }
            entry.instances.push(written);
        }
        for (name, batches) in tables {
            let file = format!("{job}/{}.{}.parquet", plain(key), plain(&name));
            self.write(&file, &parquet(&batches)?)?;
            let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
            entry.tables.insert(name, TableEntry { file, rows });
        }
        Ok(())
    }
}

/// Rows as a Parquet file.
fn parquet(batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let schema = batches.first().map(RecordBatch::schema).ok_or_else(|| Error::internal("a table without rows"))?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema.clone(), Some(properties)).map_err(Error::internal)?;
    for batch in batches {
        // What was put away before a column got another name still has the old one.
        let batch = RecordBatch::try_new(schema.clone(), batch.columns().to_vec())?;
        writer.write(&batch).map_err(Error::internal)?;
    }
    writer.close().map_err(Error::internal)?;
    Ok(bytes)
}

/// A text as a part of a file name.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' }).collect()
}
