//! Names of a sink's part files, and what a committable says about one.
//!
//! A run of a sink has a number that no file in the folder uses: `part-<run>-<instance>-<n>` is readable,
//! `.part-<run>-<instance>-<n>.inprogress` is hidden until it is committed, `.part-<run>.run` reserves the number.

use crate::codes;
use base::connector::Committable;
use base::{Error, Result, fault};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The version of the encoding of committables and writer states.
const VERSION: u8 = 1;
const PREFIX: &str = "part-";
const IN_PROGRESS: &str = ".inprogress";

/// One part file of a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PartFile {
    /// The run of the sink.
    pub run: u64,
    /// The writer.
    pub instance: u64,
    /// The writer's how manieth file.
    pub number: u64,
}

impl PartFile {
    /// The name that readers see.
    pub fn name(self) -> String {
        format!("{PREFIX}{}-{}-{}", self.run, self.instance, self.number)
    }

    /// The name before the commit.
    pub fn hidden_name(self) -> String {
        format!(".{}{IN_PROGRESS}", self.name())
    }

    fn parse_hidden(name: &str) -> Option<PartFile> {
        let mut numbers = name.strip_prefix('.')?.strip_prefix(PREFIX)?.strip_suffix(IN_PROGRESS)?.split('-');
        let mut number = || numbers.next()?.parse().ok();
        let part = PartFile { run: number()?, instance: number()?, number: number()? };
        (part.hidden_name() == name).then_some(part)
    }
}

/// The run of any file that a sink made, from its name.
fn run_of(name: &str) -> Option<u64> {
    let rest = name.strip_prefix('.').unwrap_or(name).strip_prefix(PREFIX)?;
    rest.split(['-', '.']).next()?.parse().ok()
}

/// An error for a file of the sink.
pub(super) fn write_error(path: &Path, cause: &std::io::Error) -> Error {
    Error::io("write", path.display(), cause)
}

/// The file that reserves a run's number.
pub(super) fn reservation(folder: &Path, run: u64) -> PathBuf {
    folder.join(format!(".{PREFIX}{run}.run"))
}

/// Reserves a number that no file in the folder uses; two sinks never get the same one.
pub(super) fn reserve_run(folder: &Path) -> Result<u64> {
    let names = names(folder)?;
    let mut run = names.iter().filter_map(|name| run_of(name)).max().map_or(1, |run| run + 1);
    loop {
        let path = reservation(folder, run);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => return Ok(run),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => run += 1,
            Err(cause) => return Err(write_error(&path, &cause)),
        }
    }
}

/// Removes the hidden files of a run that are not in `keep`: what a crash left after the checkpoint.
pub(super) fn remove_leftovers(folder: &Path, run: u64, keep: &BTreeSet<PartFile>) -> Result<()> {
    for name in names(folder)? {
        let Some(part) = PartFile::parse_hidden(&name) else { continue };
        if part.run == run && !keep.contains(&part) {
            let path = folder.join(&name);
            std::fs::remove_file(&path).map_err(|cause| write_error(&path, &cause))?;
        }
    }
    Ok(())
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let error = |cause: std::io::Error| Error::io("read", folder.display(), &cause);
    std::fs::read_dir(folder)
        .map_err(error)?
        .map(|child| child.map(|child| child.file_name().to_string_lossy().into_owned()).map_err(error))
        .collect()
}

/// A part file that waits for its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pending {
    pub part: PartFile,
    /// Bytes that were fsynced.
    pub size: u64,
}

impl Pending {
    /// Version, run, instance, number, size.
    pub fn encode(self) -> Committable {
        let mut out = vec![VERSION];
        for number in [self.part.run, self.part.instance, self.part.number, self.size] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.into()
    }

    /// Reads what [`Pending::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Pending> {
        match numbers(bytes)?.as_slice() {
            &[run, instance, number, size] => Ok(Pending { part: PartFile { run, instance, number }, size }),
            _ => Err(unreadable()),
        }
    }

    /// Gives the file its readable name. Harmless if that has been done.
    pub fn commit(self, folder: &Path) -> Result<()> {
        let (hidden, readable) = (folder.join(self.part.hidden_name()), folder.join(self.part.name()));
        let size = |path: &Path| match std::fs::metadata(path) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(write_error(path, &cause)),
        };
        match (size(&hidden)?, size(&readable)?) {
            (Some(found), _) if found == self.size => {
                let renamed = fault::PART_RENAME.pass().and_then(|()| std::fs::rename(&hidden, &readable));
                renamed.map_err(|cause| write_error(&readable, &cause))
            }
            // Committed before. Readers may since have moved or removed nothing: the size is not theirs to change.
            (None, Some(found)) if found == self.size => Ok(()),
            (hidden_size, readable_size) => {
                let found = match hidden_size.or(readable_size) {
                    Some(size) => format!("it has {size}"),
                    None => "neither it nor the committed file is there".to_string(),
                };
                Err(Error::new(
                    &codes::COMMIT_LOST,
                    &[
                        ("path", &readable.display()),
                        ("temporary", &hidden.display()),
                        ("size", &self.size),
                        ("found", &found),
                    ],
                ))
            }
        }
    }
}

/// What a writer must know after a restart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WriterState {
    pub run: u64,
    /// The number of the next file.
    pub next: u64,
    /// Files of this checkpoint whose commit follows.
    pub pending: Vec<PartFile>,
}

impl WriterState {
    /// Version, run, next number, then instance and number of every pending file.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        let pending = self.pending.iter().flat_map(|part| [part.instance, part.number]);
        for number in [self.run, self.next].into_iter().chain(pending) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out
    }

    /// Reads what [`WriterState::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<WriterState> {
        match numbers(bytes)?.as_slice() {
            [run, next, pending @ ..] if pending.len() % 2 == 0 => {
                let part = |pair: &[u64]| PartFile { run: *run, instance: pair[0], number: pair[1] };
                Ok(WriterState { run: *run, next: *next, pending: pending.chunks_exact(2).map(part).collect() })
            }
            _ => Err(unreadable()),
        }
    }
}

fn numbers(bytes: &[u8]) -> Result<Vec<u64>> {
    match bytes {
        [VERSION, rest @ ..] if rest.len() % 8 == 0 => Ok(rest
            .chunks_exact(8)
            .map(|chunk| chunk.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
            .collect()),
        _ => Err(unreadable()),
    }
}

fn unreadable() -> Error {
    Error::new(&codes::BAD_POSITION, &[("split", &"a filesystem sink")])
}

/// Makes renames in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|cause| write_error(folder, &cause))
}
