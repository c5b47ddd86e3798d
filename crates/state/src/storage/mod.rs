//! Where the files of checkpoints are: in a folder of the local disk, or below a prefix of an object store.
//!
//! Files appear as a whole and never change. What a checkpoint needs of a place is small, so that both kinds keep the same
//! promises: a finished file outlives a crash, and whoever looks sees all that was finished before.

mod local;
mod objects;

use crate::lock::FileLock;
use base::checkpoint_dir::CheckpointDir;
use base::{Error, Result};
use local::LocalStorage;
use objects::ObjectStorage;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The files directly in a place, with their lengths.
pub type Files = BTreeMap<String, u64>;

/// A place for files. All calls block.
pub(crate) trait Storage: fmt::Debug + Send + Sync {
    /// What people call a file in it; without a name, the place itself.
    fn address(&self, name: &str) -> String;

    /// Whether it is on another machine: then it cannot be locked, and every look at it costs a request.
    fn is_remote(&self) -> bool;

    /// A place within this one.
    fn below(&self, name: &str) -> Arc<dyn Storage>;

    /// The places within this one that hold something.
    fn folders(&self) -> Result<Vec<String>>;

    /// The files in it; none if it is not there.
    fn files(&self) -> Result<Files>;

    /// Makes it ready for writing, and takes it if it can be taken: nobody else has it then.
    fn take(&self) -> Result<Option<FileLock>>;

    /// Gives a place back in which nothing is left: it goes.
    fn give_back(&self, lock: FileLock);

    /// Begins a file that is nobody else's.
    fn create(&self, name: &str) -> io::Result<Box<dyn NewFile>>;

    /// Makes a file at once, after all that was finished before.
    fn publish(&self, name: &str, bytes: &[u8]) -> Result<()>;

    /// Gives the bytes in `range` piece by piece; fewer, if the file ends before.
    fn read(&self, name: &str, range: Range<u64>, take: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Removes files.
    fn remove(&self, names: &[String]) -> Result<()>;

    /// What was removed stays away, whatever happens.
    fn settle(&self) -> Result<()>;
}

/// A file that is being written. Dropped before its end, it is no file.
pub(crate) trait NewFile: Write + fmt::Debug + Send {
    /// Makes it durable.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A place for checkpoints; clones are the same place.
#[derive(Debug, Clone)]
pub struct CheckpointPlace(pub(crate) Arc<dyn Storage>);

impl CheckpointPlace {
    /// The place that a script names. Nothing is asked of it yet.
    ///
    /// # Errors
    /// What is said about a store cannot be used.
    pub fn new(dir: &CheckpointDir) -> Result<CheckpointPlace> {
        Ok(match dir {
            CheckpointDir::Local(path) => CheckpointPlace::from(path.as_path()),
            CheckpointDir::Bucket(bucket) => CheckpointPlace(Arc::new(ObjectStorage::connect(bucket)?)),
        })
    }

    /// The last part of its address.
    pub fn name(&self) -> String {
        let address = self.to_string();
        address.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default().to_string()
    }

    /// A place within this one.
    pub fn join(&self, name: &str) -> CheckpointPlace {
        CheckpointPlace(self.0.below(name))
    }

    /// The places within this one that hold something, with their names.
    ///
    /// # Errors
    /// A place that cannot be looked at.
    pub fn folders(&self) -> Result<Vec<(String, CheckpointPlace)>> {
        Ok(self.0.folders()?.into_iter().map(|name| (name.clone(), self.join(&name))).collect())
    }
}

impl From<&Path> for CheckpointPlace {
    fn from(path: &Path) -> CheckpointPlace {
        CheckpointPlace(Arc::new(LocalStorage::new(path)))
    }
}

impl fmt::Display for CheckpointPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.address(""))
    }
}

/// An error of a file, as [`NewFile`] gives it: what a store has said is in it.
pub(crate) fn failed(action: &str, address: String, cause: io::Error) -> Error {
    cause.downcast::<Error>().unwrap_or_else(|cause| Error::io(action, address, &cause))
}
