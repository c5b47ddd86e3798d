//! Lines of a file, read in blocks: where a file becomes records.

use super::listing::read_error;
use crate::codes;
use base::format::Records;
use base::{Error, Location, Result};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes asked of the file system at once.
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes of records in one batch, roughly.
const BATCH_BYTES: usize = 4 << 20;
/// The longest line.
const LINE_BYTES_MAX: usize = 64 << 20;

/// A place in a file: the byte at which the next line begins, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// From 0.
    pub byte: u64,
    /// From 1.
    pub line: u64,
}

impl Place {
    /// The begin of a file.
    pub const START: Place = Place { byte: 0, line: 1 };

    /// This place in `path`, for messages.
    pub fn location(self, path: &Path) -> Location {
        Location::Record {
            resource: path.display().to_string(),
            position: format!("line {} (byte {})", self.line, self.byte),
        }
    }
}

/// Lines that were read: the records, and where each begins.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The lines without line ends; empty lines are left out.
    pub records: Records,
    /// One place per record.
    pub places: Vec<Place>,
}

impl Lines {
    fn clear(&mut self) {
        self.records.clear();
        self.places.clear();
    }
}

/// What to do with a last line that has no line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLine {
    /// It is a line.
    Read,
    /// The rest of it is still being written.
    Wait,
}

/// An open file.
#[derive(Debug)]
pub(super) struct LineReader {
    file: File,
    path: PathBuf,
    /// `buffer[start..end]` is read and not yet taken.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl LineReader {
    /// Opens a file at a place.
    pub fn open(path: &Path, place: Place) -> Result<LineReader> {
        let error = |cause| read_error(path, &cause);
        let mut file = File::open(path).map_err(error)?;
        let size = file.metadata().map_err(error)?.len();
        if size < place.byte {
            return Err(shrank(path, place.byte, size));
        }
        file.seek(SeekFrom::Start(place.byte)).map_err(error)?;
        Ok(LineReader { file, path: path.to_path_buf(), buffer: Vec::new(), start: 0, end: 0 })
    }

    /// Bytes that were read of a line without an end.
    pub fn partial_bytes(&self) -> u64 {
        (self.end - self.start) as u64
    }

    /// Fills `out` with at most `rows_max` lines from `place` on, and moves `place`; `true` at the end of the file.
    pub fn read(&mut self, place: &mut Place, rows_max: usize, last: LastLine, out: &mut Lines) -> Result<bool> {
        out.clear();
        let mut searched = 0;
        while out.places.len() < rows_max.max(1) && out.records.bytes().len() < BATCH_BYTES {
            let unread = &self.buffer[self.start..self.end];
            match memchr::memchr(b'\n', &unread[searched..]) {
                Some(at) => {
                    let length = searched + at;
                    push(out, *place, &unread[..length]);
                    self.start += length + 1;
                    *place = Place { byte: place.byte + length as u64 + 1, line: place.line + 1 };
                    searched = 0;
                }
                None => {
                    searched = unread.len();
                    if searched > LINE_BYTES_MAX {
                        return Err(Error::new(&codes::LINE_TOO_LONG, &[("limit", &LINE_BYTES_MAX)])
                            .at(place.location(&self.path)));
                    }
                    if self.fill()? == 0 {
                        if last == LastLine::Read && searched > 0 {
                            push(out, *place, &self.buffer[self.start..self.end]);
                            self.start = self.end;
                            place.byte += searched as u64;
                            place.line += 1;
                        }
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Reads a block behind what is there; gives the number of bytes.
    fn fill(&mut self) -> Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < self.end + BLOCK_BYTES {
            self.buffer.resize(self.end + BLOCK_BYTES, 0);
        }
        loop {
            match self.file.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(cause) => return Err(read_error(&self.path, &cause)),
            }
        }
    }
}

/// An error for a file that has lost bytes which were read.
pub(super) fn shrank(path: &Path, position: u64, size: u64) -> Error {
    Error::new(&codes::FILE_SHRANK, &[("path", &path.display()), ("position", &position), ("size", &size)])
}

fn push(out: &mut Lines, place: Place, line: &[u8]) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A byte order mark can only be at the begin of a file.
    let line = if place.byte == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    if !line.is_empty() {
        out.records.push(line);
        out.places.push(place);
    }
}
