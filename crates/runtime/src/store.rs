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
use state::{CheckpointFolder, CheckpointId, CheckpointPlace, Files, SectionReader, checkpoints_in};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many sections are read at once.
const READERS_MAX: usize = 4;
/// How often a checkpoint is looked for that a newer one has taken the place of.
const ATTEMPTS: usize = 5;

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

/// The checkpoints of one job, on the local disk or in an object store. All calls block.
#[derive(Debug)]
pub struct CheckpointStore {
    folder: CheckpointFolder,
    label: JobLabel,
    retained: usize,
    /// The last one written or read: unchanged state need not be written again.
    last: Mutex<Option<Manifest>>,
    /// The last one read.
    read_last: Mutex<Option<CheckpointId>>,
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
    /// Takes a place of checkpoints, of which the `retained` newest ones are kept.
    ///
    /// # Errors
    /// A place that cannot be used, or that another process has.
    pub fn open(place: &CheckpointPlace, label: JobLabel, retained: usize) -> Result<CheckpointStore> {
        let folder = CheckpointFolder::open(place)?;
        Ok(CheckpointStore {
            folder,
            label,
            retained: retained.max(1),
            last: Mutex::new(None),
            read_last: Mutex::new(None),
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
        self.merge_rules =
            MergeRules { sections_max: sections, age_max: 8 * sections as u64, bytes_min: 0, dead_max: 16 };
        self
    }

    fn merging(&self) -> MutexGuard<'_, Option<Merging>> {
        self.merging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the merge that is under way.
    #[cfg(test)]
    pub(crate) fn wait_for_merging(&self) {
        while self.merging().as_ref().is_some_and(|merging| !merging.is_done()) {
            std::thread::yield_now();
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<Manifest>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on, no checkpoint counts that a run of an earlier start writes. A local folder is taken already.
    /// Says whether there is another newest checkpoint than the one that was read: it has to be read then.
    ///
    /// # Errors
    /// What the place refuses.
    pub fn claim(&self) -> Result<bool> {
        self.folder.claim()?;
        Ok(self.folder.checkpoints()?.first().copied() != *self.read_last())
    }

    fn read_last(&self) -> MutexGuard<'_, Option<CheckpointId>> {
        self.read_last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest checkpoint.
    ///
    /// # Errors
    /// One that cannot be read: it is never passed over for an older one, because rows after that may be committed.
    pub fn newest(&self) -> Result<Option<StoredCheckpoint>> {
        let mut all = self.folder.checkpoints()?;
        let mut attempts = 1..ATTEMPTS;
        loop {
            let Some(&newest) = all.first() else { return Ok(None) };
            let error = match self.read(newest) {
                Ok(stored) => return Ok(Some(stored)),
                Err(error) => error,
            };
            let now = self.folder.checkpoints()?;
            if now.first() == Some(&newest) || attempts.next().is_none() {
                let whole = all[1..].iter().find(|id| self.read(**id).is_ok());
                return Err(error.and(whole.map(|id| Error::new(&OLDER_CHECKPOINT, &[("epoch", &id.epoch)]))));
            }
            // A run that has not ended yet has put a newer one in its place, or none.
            all = now;
        }
    }

    /// Checkpoint `epoch`. Newer ones are given up.
    ///
    /// # Errors
    /// One that is not there or cannot be read.
    pub fn go_back_to(&self, epoch: u64) -> Result<StoredCheckpoint> {
        let wanted = self.folder.find(epoch)?;
        let stored = self.read(wanted)?;
        let mut files = self.folder.files()?;
        let newer: Vec<CheckpointId> = checkpoints_in(&files).into_iter().filter(|other| *other > wanted).collect();
        self.folder.remove(&newer, &mut files)?;
        Ok(stored)
    }

    fn read(&self, id: CheckpointId) -> Result<StoredCheckpoint> {
        fault::RESTORE_READ.check()?;
        let (manifest, stored) = self.look_up(id)?;
        *self.last() = Some(manifest);
        *self.read_last() = Some(id);
        Ok(stored)
    }

    /// Checkpoint `epoch`, while the job goes on. The caller holds the checkpoints.
    ///
    /// # Errors
    /// One that is not there or cannot be read.
    pub fn stored(&self, epoch: u64) -> Result<StoredCheckpoint> {
        self.look_up(self.folder.find(epoch)?).map(|(_, stored)| stored)
    }

    /// The newest checkpoint, while the job goes on or after its end. The caller holds the checkpoints.
    ///
    /// # Errors
    /// One that cannot be read.
    pub fn last_stored(&self) -> Result<Option<StoredCheckpoint>> {
        let newest = self.folder.checkpoints()?.first().copied();
        newest.map(|id| self.look_up(id).map(|(_, stored)| stored)).transpose()
    }

    /// Whether there is a checkpoint in a place that nobody needs to have taken.
    ///
    /// # Errors
    /// A place that cannot be looked at.
    pub fn is_in(place: &CheckpointPlace) -> Result<bool> {
        Ok(!CheckpointFolder::peek(place).checkpoints()?.is_empty())
    }

    /// The newest checkpoint in a place that may belong to a running job; `None` if there is none.
    ///
    /// # Errors
    /// One that cannot be read, or that was replaced by a newer one again and again.
    pub fn peek(place: &CheckpointPlace) -> Result<Option<StoredCheckpoint>> {
        let folder = CheckpointFolder::peek(place);
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let Some(&id) = folder.checkpoints()?.first() else { return Ok(None) };
            let read = || {
                let manifest = Manifest::parse(&folder.manifest(id)?, &folder.manifest_address(id))?;
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

    fn look_up(&self, id: CheckpointId) -> Result<(Manifest, StoredCheckpoint)> {
        let manifest = self.manifest(id)?;
        if manifest.script != self.label.script || manifest.job != self.label.job {
            let owner = if manifest.script.is_empty() { &manifest.job } else { &manifest.script };
            let path = self.folder.address();
            return Err(Error::new(&STATE_OF_ANOTHER_SCRIPT, &[("path", &path), ("owner", owner)]));
        }
        check_all(&self.folder, &manifest.sections().collect::<Vec<_>>())?;
        let checkpoint = manifest.checkpoint(&self.folder.reader())?;
        let written_ms = manifest.written_ms;
        Ok((manifest, StoredCheckpoint { checkpoint, written_ms }))
    }

    fn manifest(&self, id: CheckpointId) -> Result<Manifest> {
        Manifest::parse(&self.folder.manifest(id)?, &self.folder.manifest_address(id))
    }

    /// Makes a checkpoint durable.
    ///
    /// # Errors
    /// What the place refuses, or another run that writes there; the checkpoint does not count then.
    pub fn save(&self, checkpoint: &JobCheckpoint) -> Result<Saved> {
        fault::CHECKPOINT_WRITE.check()?;
        let mut last = self.last().clone();
        let done = self.merging().take_if(|merging| merging.is_done());
        if let (Some(done), Some(last)) = (done, &mut last) {
            merging::adopt(done.finish(), last)?;
        }
        let known = Known::new(last.as_ref(), &self.folder.files()?);
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
        let (bytes, mut files) = self.folder.publish(manifest.epoch, &body)?;
        // What cannot be removed now is removed next time.
        if let Err(error) = self.remove_old(&manifest, &mut files) {
            tracing::warn!("old checkpoints stay: {error}");
        }
        let mut merging = self.merging();
        if merging.is_none() && !manifest.finished {
            *merging = merging::start(self.merge_rules, &self.folder, &manifest, &files);
        }
        drop(merging);
        *self.last() = Some(manifest);
        Ok(Saved { bytes: written + bytes, state_bytes: files.values().sum() })
    }

    fn remove_old(&self, newest: &Manifest, files: &mut Files) -> Result<()> {
        fault::CHECKPOINT_REMOVE.check()?;
        if self.is_held() {
            return Ok(());
        }
        let mut keep = newest.files();
        keep.extend(self.merging().as_ref().map(|merging| merging.file.clone()));
        let mut kept = checkpoints_in(files);
        let old = kept.split_off(self.retained.min(kept.len()));
        // The first one is the newest.
        for id in kept.into_iter().skip(1) {
            keep.extend(self.manifest(id)?.files());
        }
        self.folder.remove(&old, files)?;
        self.folder.sweep(files, &keep)
    }

    /// Whether the last checkpoint says that the job had come to its end.
    pub fn is_finished(&self) -> bool {
        self.last().as_ref().is_some_and(|manifest| manifest.finished)
    }

    /// Whether there is a checkpoint that was read or written.
    pub fn has_checkpoints(&self) -> bool {
        self.last().is_some()
    }

    /// Removes all checkpoints.
    ///
    /// # Errors
    /// What the place refuses.
    pub fn clear(&self) -> Result<()> {
        *self.last() = None;
        if let Some(merging) = self.merging().take() {
            merging.cancel();
        }
        self.folder.clear()?;
        self.folder.release()
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

/// Looks whether all sections are whole, several at once.
fn check_all(folder: &CheckpointFolder, sections: &[&SectionEntry]) -> Result<()> {
    let (reader, files): (SectionReader, Files) = (folder.reader(), folder.files()?);
    let next = AtomicUsize::new(0);
    let check = || -> Result<()> {
        while let Some(entry) = sections.get(next.fetch_add(1, Ordering::Relaxed)) {
            reader.check(&entry.section()?, &files)?;
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
