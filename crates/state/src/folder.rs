//! Checkpoints of one job in a place of their own: a folder of the local disk, or a prefix of an object store.
//!
//! `segment-<epoch>...` holds sections: immutable, durable before anything points to it. `checkpoint-<epoch>.json` is the
//! manifest that makes a checkpoint; it appears at once. Its first line has the length and the checksum of the rest.
//! Everything else in the place is a left-over of a crash and is removed.
//!
//! A local folder is locked. In an object store, a run makes a claim, `claim-<number>-<run>`, above all that there are,
//! before it reads what it goes on from, and it looks for claims whenever it has put a manifest in place: one above its
//! own means that a later run may have read the checkpoints before, and what has just been put there does not count. All
//! that needs is a list that shows what has been written. Manifests have their claim in their names, so that what an
//! outrun run leaves is never newer than what its successor writes.
//!
//! Invariants: a manifest that can be read names only whole sections, each with its own checksum; a local folder belongs
//! to one process at a time, and what two runs write to an object store has different names.

use crate::codes::{ANOTHER_RUN, CHECKPOINT_DAMAGED, CHECKPOINT_VERSION};
use crate::lock::FileLock;
use crate::storage::{CheckpointPlace, Files, NewFile, Storage, failed};
use base::{Error, Result, fault};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The first word of a manifest, with the version of the layout.
const MANIFEST_VERSION: &str = "highwater-checkpoint-2";
const MANIFEST_PREFIX: &str = "checkpoint-";
const MANIFEST_SUFFIX: &str = ".json";
const SEGMENT_PREFIX: &str = "segment-";
const CLAIM_PREFIX: &str = "claim-";
/// No more is set aside for what a manifest says, before it is read.
const BYTES_MAX: usize = 1 << 30;

/// Where some bytes are, and how to know that they are whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The name of the segment.
    pub file: String,
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
    /// Their checksum: XXH3-128.
    pub checksum: u128,
}

/// A checkpoint of a job; the greatest one is the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckpointId {
    /// The claim of the run that wrote it; 0 where there are none.
    claim: u64,
    /// That run.
    run: u64,
    /// Its number.
    pub epoch: u64,
}

/// The checkpoints of one job. Dropping it gives the place free.
#[derive(Debug)]
pub struct CheckpointFolder {
    storage: Arc<dyn Storage>,
    /// A number that no other run has.
    run: u64,
    /// The number of its claim; 0 without one.
    claim: AtomicU64,
    lock: Option<FileLock>,
}

/// Reads the sections of a folder.
#[derive(Debug, Clone)]
pub struct SectionReader {
    storage: Arc<dyn Storage>,
}

/// A segment that is being written.
#[derive(Debug)]
pub struct SegmentWriter {
    storage: Arc<dyn Storage>,
    name: String,
    /// Made with the first section: a checkpoint without state needs no segment.
    file: Option<Box<dyn NewFile>>,
    offset: u64,
    /// What stands before making, writing and syncing it.
    points: [fault::Point; 3],
}

/// A section on its way to a file.
struct SectionBytes<'a> {
    file: &'a mut dyn NewFile,
    hash: Box<Xxh3>,
    bytes: u64,
}

impl Write for SectionBytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CheckpointFolder {
    /// Takes a place, made if necessary.
    ///
    /// # Errors
    /// A folder that cannot be written, or that another process has.
    pub fn open(place: &CheckpointPlace) -> Result<CheckpointFolder> {
        let lock = place.0.take()?;
        let mut folder = CheckpointFolder::peek(place);
        folder.lock = lock;
        Ok(folder)
    }

    /// A place that is only looked at: it may belong to another process, and is not made.
    pub fn peek(place: &CheckpointPlace) -> CheckpointFolder {
        // The keys of a hash map are random.
        let run = RandomState::new().build_hasher().finish();
        CheckpointFolder { storage: place.0.clone(), run, claim: AtomicU64::new(0), lock: None }
    }

    /// From here on no other run writes here whose checkpoints count, except one that makes a claim later. To be called
    /// before the checkpoint is read that the job goes on from.
    ///
    /// # Errors
    /// What the place refuses.
    pub fn claim(&self) -> Result<()> {
        if !self.storage.is_remote() {
            return Ok(());
        }
        let mut files = self.files()?;
        let number = claims(&files).map(|(number, _)| number).max().unwrap_or(0) + 1;
        let own = self.claim_name(number);
        self.storage.publish(&own, own.as_bytes())?;
        self.claim.store(number, Ordering::Relaxed);
        // Without its claim a run is outrun as well.
        self.remove_files(claims(&files).map(|(_, name)| name.to_string()).collect(), &mut files)
    }

    fn claim_name(&self, number: u64) -> String {
        format!("{CLAIM_PREFIX}{number:010}-{:016x}", self.run)
    }

    /// The job has come to its end: nobody has anything to claim.
    ///
    /// # Errors
    /// What the place refuses.
    pub fn release(&self) -> Result<()> {
        if !self.storage.is_remote() {
            return Ok(());
        }
        let mut files = self.files()?;
        self.claim.store(0, Ordering::Relaxed);
        self.remove_files(claims(&files).map(|(_, name)| name.to_string()).collect(), &mut files)
    }

    /// Refuses to go on when another run has made a claim after this one, as these files say.
    fn check_claim(&self, files: &Files) -> Result<()> {
        let number = self.claim.load(Ordering::Relaxed);
        let own = self.claim_name(number);
        let is_held = || files.contains_key(&own) && claims(files).all(|(_, name)| *name <= own);
        match number == 0 || is_held() {
            true => Ok(()),
            false => Err(Error::new(&ANOTHER_RUN, &[("address", &self.address())])),
        }
    }

    /// What people call it.
    pub fn address(&self) -> String {
        self.storage.address("")
    }

    /// All its files.
    ///
    /// # Errors
    /// A place that cannot be looked at.
    pub fn files(&self) -> Result<Files> {
        self.storage.files()
    }

    /// All checkpoints, the newest first.
    ///
    /// # Errors
    /// A place that cannot be looked at, or that another run has taken over.
    pub fn checkpoints(&self) -> Result<Vec<CheckpointId>> {
        let files = self.files()?;
        self.check_claim(&files)?;
        Ok(checkpoints_in(&files))
    }

    /// The newest checkpoint of a number.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, epoch: u64) -> Result<CheckpointId> {
        let found = self.checkpoints()?.into_iter().find(|id| id.epoch == epoch);
        found.ok_or_else(|| {
            let address = self.storage.address(&CheckpointId { claim: 0, run: 0, epoch }.manifest());
            Error::io("read", address, &io::ErrorKind::NotFound.into())
        })
    }

    /// The name of a manifest, for messages.
    pub fn manifest_address(&self, id: CheckpointId) -> String {
        self.storage.address(&id.manifest())
    }

    /// A new segment for checkpoint `epoch`; several are written at once.
    pub fn segment(&self, epoch: u64, writer: usize) -> SegmentWriter {
        let points = [fault::SEGMENT_CREATE, fault::SEGMENT_WRITE, fault::SEGMENT_SYNC];
        self.writer(epoch, if writer == 0 { String::new() } else { format!("-{writer}") }, points)
    }

    /// A new segment for what is made of the sections of checkpoint `epoch`.
    pub fn merged_segment(&self, epoch: u64) -> SegmentWriter {
        self.writer(epoch, "-merged".into(), [fault::MERGE_CREATE, fault::MERGE_WRITE, fault::MERGE_SYNC])
    }

    fn writer(&self, epoch: u64, suffix: String, points: [fault::Point; 3]) -> SegmentWriter {
        let run = if self.storage.is_remote() { format!("-{:016x}", self.run) } else { String::new() };
        let name = format!("{SEGMENT_PREFIX}{epoch:010}{run}{suffix}");
        SegmentWriter { storage: self.storage.clone(), name, file: None, offset: 0, points }
    }

    /// Who reads its sections, with or without the folder taken.
    pub fn reader(&self) -> SectionReader {
        SectionReader { storage: self.storage.clone() }
    }

    /// Makes a checkpoint of `body`, whose sections are all finished. Gives the bytes of the manifest, and the files that
    /// are there then.
    ///
    /// # Errors
    /// What the place refuses: the checkpoint does not exist then, or its answer got lost. Another run that has the
    /// place: the checkpoint does not count then, unless that run goes on from it.
    pub fn publish(&self, epoch: u64, body: &str) -> Result<(u64, Files)> {
        if self.storage.is_remote() && self.claim.load(Ordering::Relaxed) == 0 {
            self.claim()?;
        }
        let id = CheckpointId { claim: self.claim.load(Ordering::Relaxed), run: self.run, epoch };
        let text = format!("{MANIFEST_VERSION} {} {}\n{body}", body.len(), digest(body.as_bytes()));
        self.storage.publish(&id.manifest(), text.as_bytes())?;
        let files = self.files()?;
        self.check_claim(&files)?;
        Ok((text.len() as u64, files))
    }

    /// The body of a manifest.
    ///
    /// # Errors
    /// One that is damaged, of another version, or cannot be read.
    pub fn manifest(&self, id: CheckpointId) -> Result<String> {
        let address = self.manifest_address(id);
        let mut bytes = Vec::new();
        self.storage.read(&id.manifest(), 0..u64::MAX, &mut |piece| bytes.extend_from_slice(piece))?;
        let damaged = |cause: &str| damaged(&address, cause);
        let Ok(text) = String::from_utf8(bytes) else { return Err(damaged("it is no text")) };
        let Some((head, body)) = text.split_once('\n') else { return Err(damaged("it ends in its first line")) };
        let words: Vec<&str> = head.split(' ').collect();
        let &[version, length, checksum] = words.as_slice() else { return Err(damaged("its first line")) };
        if version != MANIFEST_VERSION {
            return Err(Error::new(&CHECKPOINT_VERSION, &[("what", &address)]));
        }
        if length.parse() != Ok(body.len()) {
            return Err(damaged(&format!("it has {} bytes of {length}", body.len())));
        }
        if checksum != digest(body.as_bytes()) {
            return Err(damaged("its checksum is wrong"));
        }
        Ok(body.to_string())
    }

    /// The checkpoint with which a segment was written.
    pub fn segment_epoch(name: &str) -> Option<u64> {
        let rest = name.strip_prefix(SEGMENT_PREFIX)?;
        rest.split('-').next()?.parse().ok()
    }

    /// Removes checkpoints, from `files` as well. Their segments stay until [`CheckpointFolder::sweep`].
    ///
    /// # Errors
    /// What the place refuses.
    pub fn remove(&self, checkpoints: &[CheckpointId], files: &mut Files) -> Result<()> {
        self.remove_files(checkpoints.iter().map(|id| id.manifest()).collect(), files)
    }

    /// Removes every one of `files` that is neither a manifest nor a segment in `keep`, from the list as well.
    ///
    /// # Errors
    /// What the place refuses.
    pub fn sweep(&self, files: &mut Files, keep: &BTreeSet<String>) -> Result<()> {
        let is_left_over = |name: &String| is_ours(name) && CheckpointId::of(name).is_none() && !keep.contains(name);
        let left_over = files.keys().filter(|name| is_left_over(name)).cloned().collect();
        self.remove_files(left_over, files)
    }

    fn remove_files(&self, names: Vec<String>, files: &mut Files) -> Result<()> {
        if !names.is_empty() {
            self.storage.remove(&names)?;
            names.iter().for_each(|name| {
                files.remove(name);
            });
        }
        Ok(())
    }

    /// Removes all checkpoints, the newest last: whatever is left after a crash is still one.
    ///
    /// # Errors
    /// What the place refuses.
    pub fn clear(&self) -> Result<()> {
        let mut files = self.files()?;
        for id in checkpoints_in(&files).into_iter().rev() {
            self.remove(&[id], &mut files)?;
        }
        self.sweep(&mut files, &BTreeSet::new())?;
        self.storage.settle()
    }
}

impl Drop for CheckpointFolder {
    /// An empty folder goes.
    fn drop(&mut self) {
        // One that was only looked at is somebody else's.
        let Some(lock) = self.lock.take() else { return };
        let Ok(mut files) = self.files() else { return };
        if checkpoints_in(&files).is_empty() {
            let _ = self.sweep(&mut files, &BTreeSet::new());
            self.storage.give_back(lock);
        }
    }
}

impl SectionReader {
    /// The bytes of a section.
    ///
    /// # Errors
    /// A segment that is gone or damaged.
    pub fn read(&self, section: &Section) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(section.bytes).unwrap_or_default().min(BYTES_MAX));
        self.pieces(section, |piece| bytes.extend_from_slice(piece))?;
        Ok(bytes)
    }

    /// Whether a section is whole, in a place with these files.
    ///
    /// # Errors
    /// A segment that is gone or damaged.
    pub fn check(&self, section: &Section, files: &Files) -> Result<()> {
        if !self.storage.is_remote() {
            return self.pieces(section, |_| {});
        }
        // An object is whole by itself: it is not fetched twice. Its checksum is compared when it is read.
        let address = self.storage.address(&section.file);
        match files.get(&section.file) {
            None => Err(Error::io("read", address, &io::ErrorKind::NotFound.into())),
            Some(bytes) => match (section.offset + section.bytes).saturating_sub(*bytes) {
                0 => Ok(()),
                missing => Err(damaged(&address, &format!("it ends {missing} bytes too early"))),
            },
        }
    }

    fn pieces(&self, section: &Section, mut take: impl FnMut(&[u8])) -> Result<()> {
        let mut hash = Box::new(Xxh3::new());
        let mut left = section.bytes;
        let range = section.offset..section.offset + section.bytes;
        self.storage.read(&section.file, range, &mut |piece| {
            hash.update(piece);
            left -= piece.len() as u64;
            take(piece);
        })?;
        let damaged = |cause: String| Err(damaged(&self.storage.address(&section.file), &cause));
        if left > 0 {
            return damaged(format!("it ends {left} bytes too early"));
        }
        if hash.digest128() != section.checksum {
            return damaged(format!("the checksum of the bytes from {} is wrong", section.offset));
        }
        Ok(())
    }
}

impl SegmentWriter {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn failed(&self, cause: io::Error) -> Error {
        failed("write", self.storage.address(&self.name), cause)
    }

    /// Adds a section piece by piece.
    ///
    /// # Errors
    /// What the place refuses, or `write` fails with.
    pub fn write_with(&mut self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Section> {
        let [create, point, _] = self.points;
        if self.file.is_none() {
            let made = create.pass().and_then(|()| self.storage.create(&self.name));
            self.file = Some(made.map_err(|cause| self.failed(cause))?);
        }
        point.pass().map_err(|cause| self.failed(cause))?;
        let Some(file) = &mut self.file else { return Err(Error::internal("a segment without a file")) };
        let mut out = SectionBytes { file: file.as_mut(), hash: Box::new(Xxh3::new()), bytes: 0 };
        write(&mut out)?;
        let (bytes, checksum) = (out.bytes, out.hash.digest128());
        let offset = self.offset;
        self.offset += bytes;
        Ok(Section { file: self.name.clone(), offset, bytes, checksum })
    }

    /// The section that `bytes` would be, before they are written.
    pub fn section(&self, bytes: &[u8]) -> Section {
        let (file, offset) = (self.name.clone(), self.offset);
        Section { file, offset, bytes: bytes.len() as u64, checksum: xxh3_128(bytes) }
    }

    /// Adds a section.
    ///
    /// # Errors
    /// What the place refuses.
    pub fn write(&mut self, bytes: &[u8]) -> Result<Section> {
        let address = self.storage.address(&self.name);
        self.write_with(|out| out.write_all(bytes).map_err(|cause| failed("write", address, cause)))
    }

    /// Makes everything durable; gives the bytes written.
    ///
    /// # Errors
    /// What the place refuses.
    pub fn finish(mut self) -> Result<u64> {
        let Some(file) = self.file.take() else { return Ok(0) };
        let [.., point] = self.points;
        point.pass().and_then(|()| file.finish()).map_err(|cause| self.failed(cause))?;
        Ok(self.offset)
    }
}

/// A digest (XXH3-128) by which two pieces of bytes are known to be the same.
pub fn digest(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

/// The checkpoints among some files, the newest first.
pub fn checkpoints_in(files: &Files) -> Vec<CheckpointId> {
    let mut found: Vec<CheckpointId> = files.keys().filter_map(|name| CheckpointId::of(name)).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

/// The claims among some files: number and name. The greatest name is the last claim.
fn claims(files: &Files) -> impl Iterator<Item = (u64, &String)> {
    files.keys().filter_map(|name| {
        let (number, run) = name.strip_prefix(CLAIM_PREFIX)?.split_once('-')?;
        // Some stores show what is still on its way, under another name.
        u64::from_str_radix(run, 16).ok()?;
        Some((number.parse().ok()?, name))
    })
}

impl CheckpointId {
    fn of(name: &str) -> Option<CheckpointId> {
        let numbers = name.strip_prefix(MANIFEST_PREFIX)?.strip_suffix(MANIFEST_SUFFIX)?;
        let numbers: Vec<&str> = numbers.split('-').collect();
        let (epoch, claim, run) = match numbers.as_slice() {
            [epoch] => (epoch, 0, 0),
            [epoch, claim, run] => (epoch, claim.parse().ok()?, u64::from_str_radix(run, 16).ok()?),
            _ => return None,
        };
        Some(CheckpointId { claim, run, epoch: epoch.parse().ok()? })
    }

    fn manifest(self) -> String {
        let CheckpointId { claim, run, epoch } = self;
        let writer = if claim == 0 { String::new() } else { format!("-{claim}-{run:016x}") };
        format!("{MANIFEST_PREFIX}{epoch:010}{writer}{MANIFEST_SUFFIX}")
    }
}

fn damaged(address: &str, cause: &str) -> Error {
    Error::new(&CHECKPOINT_DAMAGED, &[("path", &address), ("cause", &cause)])
}

/// Whether a file is one of checkpoints, or what is left of one.
fn is_ours(name: &str) -> bool {
    name.starts_with(SEGMENT_PREFIX) || name.starts_with(MANIFEST_PREFIX)
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
