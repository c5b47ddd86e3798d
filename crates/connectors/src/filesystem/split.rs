//! One file of a reader: how far it is read, and how that goes into a checkpoint.

use super::lines::{LineReader, Place};
use super::listing::FileEntry;
use crate::codes;
use arrow::array::ArrayRef;
use base::connector::{SplitId, SplitState};
use base::{Error, Result};

/// The version of the encoding of positions.
const VERSION: u8 = 1;

/// Where a split stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// The next line.
    pub place: Place,
    /// Whether the file was read to its end; a growing one can go on from here.
    pub finished: bool,
}

impl Position {
    /// Nothing is read.
    pub const START: Position = Position { place: Place::START, finished: false };

    /// Version, flags, byte, line.
    pub fn encode(self) -> Vec<u8> {
        let mut out = vec![VERSION, u8::from(self.finished)];
        out.extend_from_slice(&self.place.byte.to_le_bytes());
        out.extend_from_slice(&self.place.line.to_le_bytes());
        out
    }

    /// Reads what [`Position::encode`] wrote.
    pub fn decode(state: &SplitState) -> Result<Position> {
        let number = |at: usize| Some(u64::from_le_bytes(state.position.get(at..at + 8)?.try_into().ok()?));
        match (state.position.as_slice(), number(2), number(10)) {
            ([VERSION, finished @ (0 | 1), ..], Some(byte), Some(line)) if state.position.len() == 18 => {
                Ok(Position { place: Place { byte, line }, finished: *finished == 1 })
            }
            _ => Err(Error::new(&codes::BAD_POSITION, &[("split", &state.split)])),
        }
    }
}

/// A file of a reader.
#[derive(Debug)]
pub(super) struct Split {
    /// The path as text.
    pub id: SplitId,
    /// Path, size and time as last listed.
    pub file: FileEntry,
    /// Where the next line is.
    pub position: Position,
    /// Bytes looked at, with those of a line that has no end yet.
    pub seen: u64,
    /// Whether the job was told about it, and not told that it has ended.
    pub started: bool,
    /// Values of the partition columns, one row each.
    pub partitions: Vec<ArrayRef>,
    /// The open file.
    pub reader: Option<LineReader>,
    /// When it was last read, for closing the one that was not read longest.
    pub used: u64,
}

impl Split {
    /// Whether a read can give something.
    pub fn readable(&self, growing: bool) -> bool {
        if growing { self.file.size > self.seen } else { !self.position.finished }
    }

    /// Bytes that wait to be read.
    pub fn lag(&self) -> u64 {
        self.file.size.saturating_sub(self.position.place.byte)
    }
}
