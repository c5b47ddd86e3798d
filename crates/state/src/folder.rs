//! Checkpoints of one job in a folder of the local disk.
//!
//! `segment-<epoch>...` holds sections: immutable, fsynced before anything points to it. `checkpoint-<epoch>.json` is the
//! manifest that makes a checkpoint; it appears by one rename. Its first line has the length and the checksum of the
//! rest. Everything else in the folder is a left-over of a crash and is removed.
//!
//! Invariants: a manifest that can be read names only whole sections, each with its own checksum; the folder belongs
//! to one process at a time.

use crate::codes::{CHECKPOINT_DAMAGED, CHECKPOINT_VERSION, CHECKPOINTS_IN_USE};
use crate::lock::FileLock;
use base::{Error, Result, fault};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The first word of a manifest, with the version of the layout.
const MANIFEST_VERSION: &str = "highwater-checkpoint-2";
/// What a manifest is called while it is written.
const UNFINISHED: &str = ".tmp";
const MANIFEST_PREFIX: &str = "checkpoint-";
const MANIFEST_SUFFIX: &str = ".json";
const SEGMENT_PREFIX: &str = "segment-";
const LOCK: &str = "lock";
/// So much is read and written at once.
const PIECE: usize = 1 << 18;
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

/// The checkpoints of one job. Dropping it gives the folder free.
#[derive(Debug)]
pub struct CheckpointFolder {
    path: PathBuf,
    lock: Option<FileLock>,
}

/// Reads the sections of a folder.
#[derive(Debug, Clone)]
pub struct SectionReader {
    path: PathBuf,
}

/// A segment that is being written.
#[derive(Debug)]
pub struct SegmentWriter {
    path: PathBuf,
    name: String,
    /// Made with the first section: a checkpoint without state needs no segment.
    file: Option<BufWriter<File>>,
    offset: u64,
    /// What stands before making, writing and syncing it.
    points: [fault::Point; 3],
}

/// A section on its way to a file.
struct SectionBytes<'a> {
    file: &'a mut BufWriter<File>,
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
    /// Takes the folder, made if necessary.
    ///
    /// # Errors
    /// A folder that cannot be written, or that another process has.
    pub fn open(path: &Path) -> Result<CheckpointFolder> {
        std::fs::create_dir_all(path).map_err(|cause| Error::io("create", path.display(), &cause))?;
        let Some(lock) = FileLock::acquire(&path.join(LOCK))? else {
            return Err(Error::new(&CHECKPOINTS_IN_USE, &[("path", &path.display())]));
        };
        // Folders that were just made must be found again after a power failure.
        path.ancestors().skip(1).take(3).for_each(|parent| drop(sync_folder(parent)));
        Ok(CheckpointFolder { path: path.to_path_buf(), lock: Some(lock) })
    }

    /// A folder that is only looked at: it may belong to another process, and is not made.
    pub fn peek(path: &Path) -> CheckpointFolder {
        CheckpointFolder { path: path.to_path_buf(), lock: None }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a checkpoint below a folder that nobody needs to have taken.
    pub fn has_checkpoints(path: &Path) -> bool {
        epochs_in(path).is_ok_and(|epochs| !epochs.is_empty())
    }

    /// The numbers of all checkpoints, the newest first.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn epochs(&self) -> Result<Vec<u64>> {
        epochs_in(&self.path)
    }

    /// The name of a manifest, for messages.
    pub fn manifest_path(&self, epoch: u64) -> PathBuf {
        self.path.join(format!("{MANIFEST_PREFIX}{epoch:010}{MANIFEST_SUFFIX}"))
    }

    /// A new segment for checkpoint `epoch`; several are written at once.
    pub fn segment(&self, epoch: u64, writer: usize) -> SegmentWriter {
        let suffix = if writer == 0 { String::new() } else { format!("-{writer}") };
        let name = format!("{SEGMENT_PREFIX}{epoch:010}{suffix}");
        let points = [fault::SEGMENT_CREATE, fault::SEGMENT_WRITE, fault::SEGMENT_SYNC];
        SegmentWriter { path: self.path.join(&name), name, file: None, offset: 0, points }
    }

    /// A new segment for what is made of the sections of checkpoint `epoch`.
    pub fn merged_segment(&self, epoch: u64) -> SegmentWriter {
        let name = format!("{SEGMENT_PREFIX}{epoch:010}-merged");
        let points = [fault::MERGE_CREATE, fault::MERGE_WRITE, fault::MERGE_SYNC];
        SegmentWriter { path: self.path.join(&name), name, file: None, offset: 0, points }
    }

    /// Who reads its sections, with or without the folder taken.
    pub fn reader(&self) -> SectionReader {
        SectionReader { path: self.path.clone() }
    }

    /// Makes a checkpoint of `body`, whose sections are all finished. Gives the bytes of the manifest.
    ///
    /// # Errors
    /// What the file system refuses; the checkpoint does not exist then.
    pub fn publish(&self, epoch: u64, body: &str) -> Result<u64> {
        let path = self.manifest_path(epoch);
        let unfinished = self.path.join(format!("{MANIFEST_PREFIX}{epoch:010}{UNFINISHED}"));
        let text = format!("{MANIFEST_VERSION} {} {:032x}\n{body}", body.len(), xxh3_128(body.as_bytes()));
        let write = || -> std::io::Result<()> {
            // The names of the segments come first.
            File::open(&self.path)?.sync_all()?;
            fault::MANIFEST_WRITE.pass()?;
            let mut file = File::create(&unfinished)?;
            file.write_all(text.as_bytes())?;
            fault::MANIFEST_SYNC.pass()?;
            file.sync_all()?;
            fault::MANIFEST_RENAME.pass()?;
            std::fs::rename(&unfinished, &path)?;
            fault::MANIFEST_FOLDER_SYNC.pass()?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|cause| Error::io("write", path.display(), &cause))?;
        Ok(text.len() as u64)
    }

    /// The body of a manifest.
    ///
    /// # Errors
    /// One that is damaged, of another version, or cannot be read.
    pub fn manifest(&self, epoch: u64) -> Result<String> {
        let path = self.manifest_path(epoch);
        let bytes = std::fs::read(&path).map_err(|cause| Error::io("read", path.display(), &cause))?;
        let Ok(text) = String::from_utf8(bytes) else { return Err(damaged(&path, "it is no text")) };
        let Some((head, body)) = text.split_once('\n') else { return Err(damaged(&path, "it ends in its first line")) };
        let words: Vec<&str> = head.split(' ').collect();
        let &[version, length, checksum] = words.as_slice() else { return Err(damaged(&path, "its first line")) };
        if version != MANIFEST_VERSION {
            return Err(Error::new(&CHECKPOINT_VERSION, &[("what", &path.display())]));
        }
        if length.parse() != Ok(body.len()) {
            return Err(damaged(&path, &format!("it has {} bytes of {length}", body.len())));
        }
        if checksum != format!("{:032x}", xxh3_128(body.as_bytes())) {
            return Err(damaged(&path, "its checksum is wrong"));
        }
        Ok(body.to_string())
    }

    /// The size of a segment; `None` if it is not there.
    pub fn segment_bytes(&self, name: &str) -> Option<u64> {
        std::fs::metadata(self.path.join(name)).ok().map(|metadata| metadata.len())
    }

    /// The checkpoint with which a segment was written.
    pub fn segment_epoch(name: &str) -> Option<u64> {
        let rest = name.strip_prefix(SEGMENT_PREFIX)?;
        rest.split('-').next()?.parse().ok()
    }

    /// The bytes of all its files.
    pub fn bytes(&self) -> u64 {
        let names = names(&self.path).unwrap_or_default();
        names.iter().filter_map(|name| self.segment_bytes(name)).sum()
    }

    /// Removes a checkpoint. Its segments stay until [`CheckpointFolder::sweep`].
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn remove(&self, epoch: u64) -> Result<()> {
        let path = self.manifest_path(epoch);
        std::fs::remove_file(&path).map_err(|cause| Error::io("remove", path.display(), &cause))
    }

    /// Removes every file that is neither a manifest nor a segment in `keep`.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn sweep(&self, keep: &BTreeSet<String>) -> Result<()> {
        for name in names(&self.path)? {
            let is_ours = name.starts_with(SEGMENT_PREFIX) || name.starts_with(MANIFEST_PREFIX);
            let is_left_over = is_ours && epoch_of(&name).is_none() && !keep.contains(&name);
            if is_left_over {
                let path = self.path.join(&name);
                std::fs::remove_file(&path).map_err(|cause| Error::io("remove", path.display(), &cause))?;
            }
        }
        Ok(())
    }

    /// Removes all checkpoints, the newest last: whatever is left after a crash is still one.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn clear(&self) -> Result<()> {
        for epoch in self.epochs()?.into_iter().rev() {
            self.remove(epoch)?;
        }
        self.sweep(&BTreeSet::new())?;
        sync_folder(&self.path).map_err(|cause| Error::io("write", self.path.display(), &cause))
    }
}

impl Drop for CheckpointFolder {
    /// An empty folder goes.
    fn drop(&mut self) {
        // One that was only looked at is somebody else's.
        let Some(lock) = self.lock.take() else { return };
        if self.epochs().is_ok_and(|epochs| epochs.is_empty()) {
            let _ = self.sweep(&BTreeSet::new());
            lock.remove();
            let _ = std::fs::remove_dir(&self.path);
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

    /// Whether a section is whole.
    ///
    /// # Errors
    /// A segment that is gone or damaged.
    pub fn check(&self, section: &Section) -> Result<()> {
        self.pieces(section, |_| {})
    }

    fn pieces(&self, section: &Section, mut take: impl FnMut(&[u8])) -> Result<()> {
        let path = self.path.join(&section.file);
        let mut hash = Box::new(Xxh3::new());
        let mut read = || -> io::Result<u64> {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(section.offset))?;
            let mut buffer = vec![0; PIECE];
            let mut left = section.bytes;
            while left > 0 {
                let wanted = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
                match file.read(&mut buffer[..wanted]) {
                    Ok(0) => break,
                    Ok(count) => {
                        hash.update(&buffer[..count]);
                        take(&buffer[..count]);
                        left -= count as u64;
                    }
                    Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                    Err(cause) => return Err(cause),
                }
            }
            Ok(left)
        };
        let missing = read().map_err(|cause| Error::io("read", path.display(), &cause))?;
        if missing > 0 {
            return Err(damaged(&path, &format!("it ends {missing} bytes too early")));
        }
        if hash.digest128() != section.checksum {
            return Err(damaged(&path, &format!("the checksum of the bytes from {} is wrong", section.offset)));
        }
        Ok(())
    }
}

impl SegmentWriter {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a section piece by piece.
    ///
    /// # Errors
    /// What the file system refuses, or `write` fails with.
    pub fn write_with(&mut self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Section> {
        let [_, point, _] = self.points;
        let offset = self.offset;
        let error = |cause: io::Error| Error::io("write", self.path.display(), &cause);
        let file = open(&mut self.file, &self.path, self.points).map_err(error)?;
        point.pass().map_err(error)?;
        let mut out = SectionBytes { file, hash: Box::new(Xxh3::new()), bytes: 0 };
        write(&mut out)?;
        let (bytes, checksum) = (out.bytes, out.hash.digest128());
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
    /// What the file system refuses.
    pub fn write(&mut self, bytes: &[u8]) -> Result<Section> {
        let path = self.path.clone();
        self.write_with(|out| out.write_all(bytes).map_err(|cause| Error::io("write", path.display(), &cause)))
    }

    /// Makes everything durable; gives the bytes written.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn finish(self) -> Result<u64> {
        match self.file {
            Some(file) => {
                let [.., point] = self.points;
                let written = file.into_inner().map_err(io::IntoInnerError::into_error);
                let synced = written.and_then(|file| point.pass().and_then(|()| file.sync_all()));
                synced.map_err(|cause| Error::io("write", self.path.display(), &cause))?;
            }
            None => return Ok(0),
        }
        Ok(self.offset)
    }
}

/// The file of a segment; made with its first section.
fn open<'a>(
    file: &'a mut Option<BufWriter<File>>,
    path: &Path,
    [point, ..]: [fault::Point; 3],
) -> io::Result<&'a mut BufWriter<File>> {
    match file {
        Some(file) => Ok(file),
        none => {
            point.pass()?;
            let made = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
            Ok(none.insert(BufWriter::with_capacity(PIECE, made)))
        }
    }
}

/// A digest of a text, by which two texts are known to be the same.
pub fn text_digest(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

fn damaged(path: &Path, cause: &str) -> Error {
    Error::new(&CHECKPOINT_DAMAGED, &[("path", &path.display()), ("cause", &cause)])
}

fn epoch_of(name: &str) -> Option<u64> {
    name.strip_prefix(MANIFEST_PREFIX)?.strip_suffix(MANIFEST_SUFFIX)?.parse().ok()
}

fn epochs_in(path: &Path) -> Result<Vec<u64>> {
    let mut epochs: Vec<u64> = names(path)?.iter().filter_map(|name| epoch_of(name)).collect();
    epochs.sort_unstable_by(|a, b| b.cmp(a));
    Ok(epochs)
}

fn names(path: &Path) -> Result<Vec<String>> {
    let error = |cause: std::io::Error| Error::io("read", path.display(), &cause);
    let entries = std::fs::read_dir(path).map_err(error)?;
    entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(error)).collect()
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
