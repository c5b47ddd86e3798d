//! A cache on the local disk for state that does not fit into memory: each file holds one part of an operator's state.
//!
//! Nothing in it outlives the tasks of a job: whatever matters is in a checkpoint. So files are not synced, left-overs of a
//! crash are removed at the next start, and a file goes when nobody needs it any more.
//!
//! Invariants: a file never changes; what is read is what was written, or an error.

use crate::codes::CACHE_DAMAGED;
use base::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// The files of one job. The folder is made with the first file and goes with the last user.
#[derive(Debug)]
pub struct CacheFolder {
    path: PathBuf,
    next: AtomicU64,
}

/// A file of the cache; it is removed when this is dropped.
#[derive(Debug)]
pub struct CacheFile {
    folder: Arc<CacheFolder>,
    number: u64,
    bytes: u64,
    checksum: u64,
}

impl CacheFolder {
    /// Takes a folder that belongs to the caller alone. What is in it is removed.
    ///
    /// # Errors
    /// Left-overs that cannot be removed.
    pub fn open(path: &Path) -> Result<Arc<CacheFolder>> {
        match std::fs::remove_dir_all(path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", path.display(), &cause));
            }
            _ => {}
        }
        Ok(Arc::new(CacheFolder { path: path.to_path_buf(), next: AtomicU64::new(0) }))
    }

    /// Writes a file.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn put(self: &Arc<Self>, bytes: &[u8]) -> Result<CacheFile> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let file = CacheFile { folder: self.clone(), number, bytes: bytes.len() as u64, checksum: xxh3_64(bytes) };
        let path = file.path();
        let written = std::fs::write(&path, bytes).or_else(|cause| match cause.kind() {
            std::io::ErrorKind::NotFound => {
                std::fs::create_dir_all(&self.path).and_then(|()| std::fs::write(&path, bytes))
            }
            _ => Err(cause),
        });
        written.map_err(|cause| Error::io("write", path.display(), &cause))?;
        Ok(file)
    }
}

impl Drop for CacheFolder {
    fn drop(&mut self) {
        // What cannot be removed now is removed at the next start.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

impl CacheFile {
    fn path(&self) -> PathBuf {
        self.folder.path.join(format!("part-{:08}", self.number))
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What was written.
    ///
    /// # Errors
    /// What the file system refuses; bytes that are others.
    pub fn read(&self) -> Result<Vec<u8>> {
        let path = self.path();
        let bytes = std::fs::read(&path).map_err(|cause| Error::io("read", path.display(), &cause))?;
        if bytes.len() as u64 != self.bytes || xxh3_64(&bytes) != self.checksum {
            return Err(Error::new(&CACHE_DAMAGED, &[("path", &path.display())]));
        }
        Ok(bytes)
    }
}

impl Drop for CacheFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.path());
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
