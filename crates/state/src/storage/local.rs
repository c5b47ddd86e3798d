//! A folder of the local disk. A file is durable when it is synced, and its name when the folder is.

use super::{Files, NewFile, Storage};
use crate::codes::CHECKPOINTS_IN_USE;
use crate::lock::FileLock;
use base::{Error, Result, fault};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const LOCK: &str = "lock";
/// What a published file is called while it is written.
const UNFINISHED: &str = "tmp";
/// So much is read and written at once.
const PIECE: usize = 1 << 18;

#[derive(Debug)]
pub(super) struct LocalStorage(PathBuf);

impl LocalStorage {
    pub(super) fn new(path: &Path) -> LocalStorage {
        LocalStorage(path.to_path_buf())
    }

    fn entries(&self) -> Result<Vec<(String, std::fs::Metadata)>> {
        let error = |cause: io::Error| Error::io("read", self.0.display(), &cause);
        let entries = match std::fs::read_dir(&self.0) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(error)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(error)?;
            match std::fs::metadata(entry.path()) {
                Ok(metadata) => found.push((entry.file_name().to_string_lossy().into_owned(), metadata)),
                // Removed meanwhile.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => return Err(error(cause)),
            }
        }
        Ok(found)
    }
}

impl Storage for LocalStorage {
    fn address(&self, name: &str) -> String {
        if name.is_empty() { self.0.display().to_string() } else { self.0.join(name).display().to_string() }
    }

    fn is_remote(&self) -> bool {
        false
    }

    fn below(&self, name: &str) -> Arc<dyn Storage> {
        Arc::new(LocalStorage(self.0.join(name)))
    }

    fn folders(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> =
            self.entries()?.into_iter().filter(|(_, metadata)| metadata.is_dir()).map(|(name, _)| name).collect();
        names.sort();
        Ok(names)
    }

    fn files(&self) -> Result<Files> {
        let files = self.entries()?.into_iter().filter(|(_, metadata)| metadata.is_file());
        Ok(files.map(|(name, metadata)| (name, metadata.len())).collect())
    }

    fn take(&self) -> Result<Option<FileLock>> {
        std::fs::create_dir_all(&self.0).map_err(|cause| Error::io("create", self.0.display(), &cause))?;
        let Some(lock) = FileLock::acquire(&self.0.join(LOCK))? else {
            return Err(Error::new(&CHECKPOINTS_IN_USE, &[("path", &self.0.display())]));
        };
        // Folders that were just made must be found again after a power failure.
        self.0.ancestors().skip(1).take(3).for_each(|parent| drop(sync_folder(parent)));
        Ok(Some(lock))
    }

    fn give_back(&self, lock: FileLock) {
        lock.remove();
        // Unless there is something of others.
        let _ = std::fs::remove_dir(&self.0);
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn NewFile>> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(self.0.join(name))?;
        Ok(Box::new(LocalFile(BufWriter::with_capacity(PIECE, file))))
    }

    fn publish(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.0.join(name);
        let unfinished = path.with_extension(UNFINISHED);
        let write = || -> io::Result<()> {
            // The names of what was finished before come first.
            sync_folder(&self.0)?;
            fault::MANIFEST_WRITE.pass()?;
            let mut file = File::create(&unfinished)?;
            file.write_all(bytes)?;
            fault::MANIFEST_SYNC.pass()?;
            file.sync_all()?;
            fault::MANIFEST_RENAME.pass()?;
            std::fs::rename(&unfinished, &path)?;
            fault::MANIFEST_FOLDER_SYNC.pass()?;
            sync_folder(&self.0)
        };
        write().map_err(|cause| Error::io("write", path.display(), &cause))
    }

    fn read(&self, name: &str, range: Range<u64>, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let path = self.0.join(name);
        let mut read = || -> io::Result<()> {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(range.start))?;
            let mut file = file.take(range.end.saturating_sub(range.start));
            let mut buffer = vec![0; PIECE];
            loop {
                match file.read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(count) => take(&buffer[..count]),
                    Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                    Err(cause) => return Err(cause),
                }
            }
        };
        read().map_err(|cause| Error::io("read", path.display(), &cause))
    }

    fn remove(&self, names: &[String]) -> Result<()> {
        names.iter().try_for_each(|name| {
            let path = self.0.join(name);
            std::fs::remove_file(&path).map_err(|cause| Error::io("remove", path.display(), &cause))
        })
    }

    fn settle(&self) -> Result<()> {
        sync_folder(&self.0).map_err(|cause| Error::io("write", self.0.display(), &cause))
    }
}

/// A file on its way to the disk.
#[derive(Debug)]
struct LocalFile(BufWriter<File>);

impl Write for LocalFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl NewFile for LocalFile {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
