//! Durable checkpoints of a job: written as one manifest and its segments, read back whole or not at all.
//!
//! A part of an operator is a list of sections: all there was at some checkpoint, then what changed, checkpoint by checkpoint.
//! [`crate::merging`] keeps the lists short.

use crate::checkpoint::JobCheckpoint;
use crate::codes::{OLDER_CHECKPOINT, STATE_OF_ANOTHER_SCRIPT};
use crate::manifest::{Manifest, SectionEntry};
use crate::merging::{self, MergeRules, Merging};
use crate::writing::{Known, Writing};
use base::clock::{Clock, SystemClock};
use base::key::{HASH_VERSION, KEY_GROUPS};
use base::{Error, Result, fault};
use state::{CheckpointFolder, SectionReader};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many sections are read at once.
const READERS_MAX: usize = 4;

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
    merge_rules: MergeRules,
    merging: Mutex<Option<Merging>>,
    /// While somebody holds the checkpoints, none is removed.
    holds: AtomicUsize,
}

/// Holds the checkpoints of a job while it lives: none is removed, and a job that comes to its end keeps its state.
#[derive(Debug)]
pub struct Hold(Arc<CheckpointStore>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.holds.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What writing a checkpoint took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saved {
    /// Bytes written.
    pub bytes: u64,
    /// Bytes of all files that are kept.
    pub state_bytes: u64,
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
        Ok(CheckpointStore {
            folder,
            label,
            retained: retained.max(1),
            last: Mutex::new(None),
            merge_rules: MergeRules::default(),
            merging: Mutex::new(None),
            holds: AtomicUsize::new(0),
        })
    }

    /// Holds the checkpoints.
    pub fn hold(self: &Arc<Self>) -> Hold {
        self.holds.fetch_add(1, Ordering::SeqCst);
        Hold(self.clone())
    }

    fn is_held(&self) -> bool {
        self.holds.load(Ordering::SeqCst) > 0
    }

    /// Merges sections as soon as there are more changes of a part than this, whatever their size.
    pub fn merging_after(mut self, sections: usize) -> CheckpointStore {
        self.merge_rules = MergeRules { sections_max: sections, age_max: 8 * sections as u64, bytes_min: 0 };
        self
    }

    fn merging(&self) -> MutexGuard<'_, Option<Merging>> {
        self.merging.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (manifest, stored) = self.look_up(epoch)?;
        *self.last() = Some(manifest);
        Ok(stored)
    }

    /// Checkpoint `epoch`, while the job goes on. The caller holds the checkpoints.
    ///
    /// # Errors
    /// One that is not there or cannot be read.
    pub fn stored(&self, epoch: u64) -> Result<StoredCheckpoint> {
        self.look_up(epoch).map(|(_, stored)| stored)
    }

    /// The newest checkpoint, while the job goes on or after its end. The caller holds the checkpoints.
    ///
    /// # Errors
    /// One that cannot be read.
    pub fn last_stored(&self) -> Result<Option<StoredCheckpoint>> {
        self.folder.epochs()?.first().map(|epoch| self.stored(*epoch)).transpose()
    }

    /// The newest checkpoint in a folder that may belong to a running job; `None` if there is none.
    ///
    /// # Errors
    /// One that cannot be read, or that was replaced by a newer one again and again.
    pub fn peek(path: &Path) -> Result<Option<StoredCheckpoint>> {
        const ATTEMPTS: usize = 5;
        let folder = CheckpointFolder::peek(path);
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let Some(&epoch) = folder.epochs()?.first() else { return Ok(None) };
            let read = || {
                let manifest = Manifest::parse(&folder.manifest(epoch)?, &folder.manifest_path(epoch).display())?;
                let mut checkpoint = manifest.checkpoint(&folder.reader())?;
                // Its files may be gone as soon as a newer one is there.
                checkpoint.load_all()?;
                Ok(StoredCheckpoint { checkpoint, written_ms: manifest.written_ms })
            };
            match read() {
                Ok(stored) => return Ok(Some(stored)),
                Err(error) => last = Some(error),
            }
        }
        last.map_or(Ok(None), Err)
    }

    fn look_up(&self, epoch: u64) -> Result<(Manifest, StoredCheckpoint)> {
        let manifest = self.manifest(epoch)?;
        if manifest.script != self.label.script || manifest.job != self.label.job {
            let owner = if manifest.script.is_empty() { &manifest.job } else { &manifest.script };
            let path = self.folder.path().display();
            return Err(Error::new(&STATE_OF_ANOTHER_SCRIPT, &[("path", &path), ("owner", owner)]));
        }
        check_all(&self.folder.reader(), &manifest.sections().collect::<Vec<_>>())?;
        let checkpoint = manifest.checkpoint(&self.folder.reader())?;
        let written_ms = manifest.written_ms;
        Ok((manifest, StoredCheckpoint { checkpoint, written_ms }))
    }

    fn manifest(&self, epoch: u64) -> Result<Manifest> {
        Manifest::parse(&self.folder.manifest(epoch)?, &self.folder.manifest_path(epoch).display())
    }

    /// Makes a checkpoint durable.
    ///
    /// # Errors
    /// What the file system refuses; the checkpoint does not exist then.
    pub fn save(&self, checkpoint: &JobCheckpoint) -> Result<Saved> {
        fault::CHECKPOINT_WRITE.check()?;
        let mut last = self.last().clone();
        let done = self.merging().take_if(|merging| merging.is_done());
        if let (Some(done), Some(last)) = (done, &mut last) {
            merging::adopt(done.finish(), last)?;
        }
        let known = Known::new(last.as_ref(), &self.folder);
        // A job that has ended needs no state any more.
        let keeps_state = !checkpoint.is_finished || self.is_held();
        let (nodes, written) = Writing::new(&self.folder, checkpoint, keeps_state, last.as_ref(), known).nodes()?;
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
            nodes,
        };
        let body = serde_json::to_string(&manifest).map_err(Error::internal)?;
        let bytes = written + self.folder.publish(checkpoint.epoch.0, &body)?;
        // What cannot be removed now is removed next time.
        if let Err(error) = self.remove_old(&manifest) {
            tracing::warn!("old checkpoints stay: {error}");
        }
        let mut merging = self.merging();
        if merging.is_none() && !manifest.finished {
            *merging = merging::start(self.merge_rules, &self.folder, &manifest);
        }
        drop(merging);
        *self.last() = Some(manifest);
        Ok(Saved { bytes, state_bytes: self.folder.bytes() })
    }

    fn remove_old(&self, newest: &Manifest) -> Result<()> {
        fault::CHECKPOINT_REMOVE.check()?;
        if self.is_held() {
            return Ok(());
        }
        let mut keep = newest.files();
        keep.extend(self.merging().as_ref().map(|merging| merging.file.clone()));
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
        if let Some(merging) = self.merging().take() {
            merging.cancel();
        }
        self.folder.clear()
    }
}

impl Drop for CheckpointStore {
    /// Whoever takes the folder next finds nobody writing there.
    fn drop(&mut self) {
        if let Some(merging) = self.merging().take() {
            merging.cancel();
        }
    }
}

/// Reads all sections, several at once, and looks whether they are whole.
fn check_all(reader: &SectionReader, sections: &[&SectionEntry]) -> Result<()> {
    let next = AtomicUsize::new(0);
    let check = || -> Result<()> {
        while let Some(entry) = sections.get(next.fetch_add(1, Ordering::Relaxed)) {
            reader.check(&entry.section()?)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..READERS_MAX.min(sections.len())).map(|_| scope.spawn(check)).collect();
        let own = check();
        let others = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Error::internal("a reader panicked"))));
        others.fold(own, Result::and)
    })
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
