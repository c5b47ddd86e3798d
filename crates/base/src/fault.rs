//! Fault points: named places in checkpoints and commits where a test can kill the process or let a step fail.
//!
//! The environment variable `HIGHWATER_FAULT` says what happens where: `segment.sync@3=kill` kills the process at the
//! third pass of that point, `manifest.rename=full` lets every rename meet a full disk; several are separated by commas.
//! Actions: `kill` (the process is gone at once, nothing is flushed), `fail` (an input/output error), `full` (no space
//! left), `denied` (permission denied). Without the variable a point costs one look at a constant.
//!
//! Invariants: every point is in [`POINTS`], so that "each point" can be enumerated; points are never on the path of rows.

use crate::Result;
use crate::error::Error;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that arms points.
pub const VARIABLE: &str = "HIGHWATER_FAULT";

/// A place where a step can be made to fail. It stands directly before what its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point(&'static str);

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: Point = Point($text);)*
        /// All points, in the order in which a checkpoint passes them.
        pub const POINTS: &[Point] = &[$($name),*];
    };
}

points! {
    /// The barrier of a checkpoint is to be sent.
    CHECKPOINT_BEGIN = "checkpoint.begin";
    /// Rows of an epoch are to be written to a hidden part file.
    PART_WRITE = "filesystem.part.write";
    /// A part file is to be synced.
    PART_SYNC = "filesystem.part.sync";
    /// All tasks have answered; nothing is written.
    CHECKPOINT_WRITE = "checkpoint.write";
    /// The file of a segment is to be made.
    SEGMENT_CREATE = "segment.create";
    /// State is to be written to a segment.
    SEGMENT_WRITE = "segment.write";
    /// A segment is to be synced.
    SEGMENT_SYNC = "segment.sync";
    /// The manifest is to be written under its temporary name.
    MANIFEST_WRITE = "manifest.write";
    /// The manifest is to be synced.
    MANIFEST_SYNC = "manifest.sync";
    /// The manifest is to be renamed into place.
    MANIFEST_RENAME = "manifest.rename";
    /// The rename is to be synced.
    MANIFEST_FOLDER_SYNC = "manifest.folder-sync";
    /// Old checkpoints are to be removed.
    CHECKPOINT_REMOVE = "checkpoint.remove";
    /// Sections are to be read to make one of them.
    MERGE_READ = "merge.read";
    /// The file of a merged section is to be made.
    MERGE_CREATE = "merge.create";
    /// A merged section is to be written.
    MERGE_WRITE = "merge.write";
    /// Merged sections are to be synced.
    MERGE_SYNC = "merge.sync";
    /// Merged sections are to take the place of what they are made of.
    MERGE_ADOPT = "merge.adopt";
    /// The checkpoint is durable, sinks are to commit.
    CHECKPOINT_COMMIT = "checkpoint.commit";
    /// A transaction of a Kafka sink is to be begun.
    KAFKA_BEGIN = "kafka.begin";
    /// A row is to be given to the transaction.
    KAFKA_PRODUCE = "kafka.produce";
    /// The progress record is to be given to the transaction.
    KAFKA_PROGRESS = "kafka.progress";
    /// The transaction is to be committed.
    KAFKA_COMMIT = "kafka.commit";
    /// The transaction is committed.
    KAFKA_COMMITTED = "kafka.committed";
    /// A part file is to be renamed to its visible name.
    PART_RENAME = "filesystem.part.rename";
    /// The renames of part files are to be synced.
    PART_FOLDER_SYNC = "filesystem.part.folder-sync";
    /// All sinks have committed.
    CHECKPOINT_DONE = "checkpoint.done";
    /// The last checkpoint is to be read.
    RESTORE_READ = "restore.read";
    /// What the last checkpoint left to be committed is to be committed again.
    RESTORE_COMMIT = "restore.commit";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Kill,
    Fail(io::ErrorKind),
}

/// What is to happen at a point.
#[derive(Debug)]
struct Armed {
    point: Point,
    /// At which pass, from 1; `None`: at each.
    pass: Option<u64>,
    action: Action,
    passes: AtomicU64,
}

static ARMED: OnceLock<Vec<Armed>> = OnceLock::new();

impl Point {
    /// Its name: what [`VARIABLE`] calls it.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Passes the point.
    ///
    /// # Errors
    /// The failure that a test asked for.
    pub fn pass(self) -> io::Result<()> {
        let armed = ARMED.get_or_init(|| std::env::var(VARIABLE).map(|text| parse(&text)).unwrap_or_default());
        armed.iter().filter(|armed| armed.point == self).try_for_each(Armed::meet)
    }

    /// Passes the point, with an error for the user.
    ///
    /// # Errors
    /// The failure that a test asked for.
    pub fn check(self) -> Result<()> {
        self.pass().map_err(|cause| Error::io("write", self.0, &cause))
    }
}

impl Armed {
    fn meet(&self) -> io::Result<()> {
        let pass = self.passes.fetch_add(1, Ordering::Relaxed) + 1;
        match self.action {
            _ if self.pass.is_some_and(|wanted| wanted != pass) => Ok(()),
            Action::Kill => std::process::abort(),
            Action::Fail(kind) => Err(io::Error::from(kind)),
        }
    }
}

/// Reads `point[@pass]=action, ...`. What is not understood arms nothing, with a line on standard error: a test whose
/// fault never happens has to fail by itself.
fn parse(text: &str) -> Vec<Armed> {
    let mut armed = Vec::new();
    for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
        match parse_one(one) {
            Some(one) => armed.push(one),
            None => eprintln!("{VARIABLE}: {one:?} is no fault"),
        }
    }
    armed
}

fn parse_one(text: &str) -> Option<Armed> {
    let (place, action) = text.split_once('=')?;
    let (name, pass) = match place.split_once('@') {
        Some((name, pass)) => (name, Some(pass.parse().ok()?)),
        None => (place, None),
    };
    let action = match action {
        "kill" => Action::Kill,
        "fail" => Action::Fail(io::ErrorKind::Interrupted),
        "full" => Action::Fail(io::ErrorKind::StorageFull),
        "denied" => Action::Fail(io::ErrorKind::PermissionDenied),
        _ => return None,
    };
    let point = POINTS.iter().copied().find(|point| point.0 == name)?;
    Some(Armed { point, pass, action, passes: AtomicU64::new(0) })
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
