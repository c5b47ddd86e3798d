//! Locks between programs: a file that only one process holds.

use base::{Error, Result};
use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A held lock; given back when dropped, and by the system when the process dies.
#[derive(Debug)]
pub struct FileLock {
    path: PathBuf,
    file: File,
}

impl FileLock {
    /// Takes the lock; `None` if another holder has it.
    ///
    /// # Errors
    /// A file that cannot be made or locked.
    pub fn acquire(path: &Path) -> Result<Option<FileLock>> {
        loop {
            let file = File::options()
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
                .map_err(|cause| Error::io("create", path.display(), &cause))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(cause)) => return Err(Error::io("lock", path.display(), &cause)),
            }
            // The last holder may have removed the file between the opening and the lock: that lock means nothing.
            let held = file.metadata().map_err(|cause| Error::io("lock", path.display(), &cause))?;
            match std::fs::metadata(path) {
                Ok(there) if (there.dev(), there.ino()) == (held.dev(), held.ino()) => {
                    return Ok(Some(FileLock { path: path.to_path_buf(), file }));
                }
                _ => continue,
            }
        }
    }

    /// Gives the lock back and removes its file.
    pub fn remove(self) {
        // While it is still held: whoever comes next makes a new file.
        let _ = std::fs::remove_file(&self.path);
        drop(self.file);
    }
}
