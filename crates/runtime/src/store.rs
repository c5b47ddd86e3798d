//! Durable checkpoints of a job: written as one manifest and its segments, read back whole or not at all.

use crate::checkpoint::JobCheckpoint;
use crate::codes::{OLDER_CHECKPOINT, STATE_OF_ANOTHER_SCRIPT};
use crate::manifest::{Manifest, NodeEntry, SectionEntry, SourceEntry, sink_snapshot};
use base::clock::{Clock, SystemClock};
use base::key::{HASH_VERSION, KEY_GROUPS};
use base::{Error, Result, fault};
use state::{CheckpointFolder, SegmentWriter, encode_snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A smaller section is written again rather than referred to.
const REUSE_BYTES_MIN: u64 = 4096;

/// Whose checkpoints these are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobLabel {
    /// The job's name.
    pub job: String,
    /// What the job belongs to: the path of its script, or empty if its name alone says that.
    pub script: String,
    /// A digest of the script's text.
    pub script_digest: String,
}

/// The checkpoints of one job in a folder. All calls block.
#[derive(Debug)]
pub struct CheckpointStore {
    folder: CheckpointFolder,
    label: JobLabel,
    retained: usize,
    /// The last one written or read: unchanged state need not be written again.
    last: Mutex<Option<Manifest>>,
}

/// A checkpoint that was read.
#[derive(Debug, Clone)]
pub struct StoredCheckpoint {
    /// All of it.
    pub checkpoint: JobCheckpoint,
    /// When it was written: milliseconds since 1970-01-01T00:00:00Z.
    pub written_ms: i64,
}

impl CheckpointStore {
    /// Takes a folder of checkpoints, of which the `retained` newest ones are kept.
    ///
    /// # Errors
    /// A folder that cannot be used, or that another process has.
    pub fn open(path: &Path, label: JobLabel, retained: usize) -> Result<CheckpointStore> {
        let folder = CheckpointFolder::open(path)?;
        Ok(CheckpointStore { folder, label, retained: retained.max(1), last: Mutex::new(None) })
    }

    fn last(&self) -> MutexGuard<'_, Option<Manifest>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest checkpoint.
    ///
    /// # Errors
    /// One that cannot be read: it is never passed over for an older one, because rows after that may be committed.
    pub fn newest(&self) -> Result<Option<StoredCheckpoint>> {
        let epochs = self.folder.epochs()?;
        let Some(&newest) = epochs.first() else { return Ok(None) };
        self.read(newest).map(Some).map_err(|error| {
            let whole = epochs[1..].iter().find(|epoch| self.read(**epoch).is_ok());
            error.and(whole.map(|epoch| Error::new(&OLDER_CHECKPOINT, &[("epoch", epoch)])))
        })
    }

    /// Checkpoint `epoch`. Newer ones are given up.
    ///
    /// # Errors
    /// One that is not there or cannot be read.
    pub fn go_back_to(&self, epoch: u64) -> Result<StoredCheckpoint> {
        let stored = self.read(epoch)?;
        for newer in self.folder.epochs()?.into_iter().filter(|other| *other > epoch) {
            self.folder.remove(newer)?;
        }
        Ok(stored)
    }

    fn read(&self, epoch: u64) -> Result<StoredCheckpoint> {
        fault::RESTORE_READ.check()?;
        let manifest = self.manifest(epoch)?;
        if manifest.script != self.label.script || manifest.job != self.label.job {
            let owner = if manifest.script.is_empty() { &manifest.job } else { &manifest.script };
            let path = self.folder.path().display();
            return Err(Error::new(&STATE_OF_ANOTHER_SCRIPT, &[("path", &path), ("owner", owner)]));
        }
        let checkpoint = manifest.checkpoint(|section| self.folder.section(section))?;
        let written_ms = manifest.written_ms;
        *self.last() = Some(manifest);
        Ok(StoredCheckpoint { checkpoint, written_ms })
    }

    fn manifest(&self, epoch: u64) -> Result<Manifest> {
        Manifest::parse(&self.folder.manifest(epoch)?, &self.folder.manifest_path(epoch).display())
    }

    /// Makes a checkpoint durable; gives the bytes written.
    ///
    /// # Errors
    /// What the file system refuses; the checkpoint does not exist then.
    pub fn save(&self, checkpoint: &JobCheckpoint) -> Result<u64> {
        fault::CHECKPOINT_WRITE.check()?;
        let mut writing = Writing { segment: self.folder.segment(checkpoint.epoch.0), known: self.reusable() };
        let manifest = Manifest {
            engine: env!("CARGO_PKG_VERSION").into(),
            job: self.label.job.clone(),
            script: self.label.script.clone(),
            script_digest: self.label.script_digest.clone(),
            written_ms: SystemClock.now_ms(),
            epoch: checkpoint.epoch.0,
            finished: checkpoint.is_finished,
            key_groups: KEY_GROUPS,
            hash_version: HASH_VERSION,
            nodes: writing.nodes(checkpoint)?,
        };
        let bytes = writing.segment.finish()?;
        let body = serde_json::to_string_pretty(&manifest).map_err(Error::internal)?;
        let bytes = bytes + self.folder.publish(checkpoint.epoch.0, &body)?;
        // What cannot be removed now is removed next time.
        if let Err(error) = self.remove_old(&manifest) {
            tracing::warn!("old checkpoints stay: {error}");
        }
        *self.last() = Some(manifest);
        Ok(bytes)
    }

    /// The sections of the last checkpoint by size and checksum. Of a segment that is mostly of no use any more,
    /// nothing is taken over: it would never go.
    fn reusable(&self) -> BTreeMap<(u64, String), SectionEntry> {
        let last = self.last();
        let Some(manifest) = last.as_ref() else { return BTreeMap::new() };
        let mut used: BTreeMap<&str, u64> = BTreeMap::new();
        manifest.sections().for_each(|section| *used.entry(&section.file).or_default() += section.bytes);
        let is_useful = |file: &str| {
            self.folder.segment_bytes(file).is_some_and(|bytes| used.get(file).copied().unwrap_or(0) * 2 >= bytes)
        };
        let useful: BTreeSet<&str> = used.keys().copied().filter(|file| is_useful(file)).collect();
        let taken = manifest
            .sections()
            .filter(|section| section.bytes >= REUSE_BYTES_MIN && useful.contains(section.file.as_str()));
        taken.map(|section| ((section.bytes, section.xxh3.clone()), section.clone())).collect()
    }

    fn remove_old(&self, newest: &Manifest) -> Result<()> {
        fault::CHECKPOINT_REMOVE.check()?;
        let mut keep = newest.files();
        for (index, epoch) in self.folder.epochs()?.into_iter().enumerate() {
            if index >= self.retained {
                self.folder.remove(epoch)?;
            } else if epoch != newest.epoch {
                keep.extend(self.manifest(epoch)?.files());
            }
        }
        self.folder.sweep(&keep)
    }

    /// Whether the last checkpoint says that the job had come to its end.
    pub fn is_finished(&self) -> bool {
        self.last().as_ref().is_some_and(|manifest| manifest.finished)
    }

    /// Whether there is a checkpoint.
    pub fn has_checkpoints(&self) -> bool {
        CheckpointFolder::has_checkpoints(self.folder.path())
    }

    /// Removes all checkpoints.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn clear(&self) -> Result<()> {
        *self.last() = None;
        self.folder.clear()
    }
}

/// A checkpoint on its way to the disk.
struct Writing {
    segment: SegmentWriter,
    known: BTreeMap<(u64, String), SectionEntry>,
}

impl Writing {
    fn nodes(&mut self, checkpoint: &JobCheckpoint) -> Result<BTreeMap<String, NodeEntry>> {
        let mut nodes = BTreeMap::new();
        for (key, digest) in &checkpoint.digests {
            let mut entry = NodeEntry {
                name: checkpoint.names.get(key).cloned().unwrap_or_default(),
                digest: digest.clone(),
                watermarks_ms: checkpoint.watermarks.get(key).cloned().unwrap_or_default(),
                counts: checkpoint.counts.get(key).copied().unwrap_or_default(),
                operator: Vec::new(),
                source: checkpoint.sources.get(key).map(SourceEntry::of),
                sink: None,
            };
            // A job that has ended needs no state any more.
            if let Some(instances) = checkpoint.operators.get(key).filter(|_| !checkpoint.is_finished) {
                for snapshot in instances {
                    let is_empty = snapshot.tables.is_empty() && snapshot.values.is_empty();
                    entry.operator.push(if is_empty { None } else { Some(self.put(encode_snapshot(snapshot)?)?) });
                }
            }
            if let Some(sink) = checkpoint.sinks.get(key) {
                entry.sink = Some(self.put(encode_snapshot(&sink_snapshot(sink)?)?)?);
            }
            nodes.insert(key.clone(), entry);
        }
        Ok(nodes)
    }

    fn put(&mut self, bytes: Vec<u8>) -> Result<SectionEntry> {
        let entry = SectionEntry::of(self.segment.section(&bytes));
        if let Some(known) = self.known.get(&(entry.bytes, entry.xxh3.clone())) {
            return Ok(known.clone());
        }
        self.segment.write(&bytes)?;
        Ok(entry)
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
