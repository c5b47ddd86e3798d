//! Sections: the state of one part of an operator instance as bytes, and back.
//!
//! A section opens and ends with four bytes for its version. Values and names are length-prefixed, little-endian; the rows of a
//! table are an Arrow IPC stream, so that they carry their columns and types. Whether bytes are whole is known by
//! their checksum, which whoever points to a section keeps ([`crate::Section`]).

use crate::codes::CHECKPOINT_VERSION;
use crate::snapshot::{OperatorSnapshot, SnapshotKind, TableSnapshot};
use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use base::{Error, Result};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The first bytes of a section, with its version at the end.
const MAGIC: &[u8; 4] = b"HWS2";
/// So many rows are encoded at once: large tables are not in memory a second time.
const ROWS_MAX: usize = 1 << 16;

/// How the ids of rows are written: not at all, as the first of consecutive ones, or one by one.
const IDS_NONE: u8 = 0;
const IDS_CONSECUTIVE: u8 = 1;
const IDS_SHORT: u8 = 2;
const IDS_LONG: u8 = 3;

/// A snapshot as bytes.
///
/// # Errors
/// Rows that Arrow cannot write are a bug.
pub fn encode_snapshot(snapshot: &OperatorSnapshot) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write_snapshot(snapshot, &mut out)?;
    Ok(out)
}

/// Writes a snapshot piece by piece.
///
/// # Errors
/// What `out` refuses.
pub fn write_snapshot(snapshot: &OperatorSnapshot, out: &mut impl Write) -> Result<()> {
    let put = |out: &mut dyn Write, bytes: &[u8]| out.write_all(bytes).map_err(written);
    put(out, MAGIC)?;
    put_length(out, snapshot.values.len()).map_err(written)?;
    for (name, value) in &snapshot.values {
        put_bytes(out, name.as_bytes()).map_err(written)?;
        put(out, &value.to_le_bytes())?;
    }
    put_length(out, snapshot.tables.len()).map_err(written)?;
    for table in &snapshot.tables {
        put_bytes(out, table.name.as_bytes()).map_err(written)?;
        match &table.kind {
            SnapshotKind::Full => put(out, &[0])?,
            SnapshotKind::Rows { gone } => {
                put(out, &[1])?;
                put_numbers(out, gone).map_err(written)?;
            }
            SnapshotKind::Keys { gone } => {
                put(out, &[2])?;
                put_numbers(out, gone).map_err(written)?;
            }
        }
        put_ids(out, table.ids.as_deref()).map_err(written)?;
        put_rows(out, &table.rows)?;
    }
    put(out, MAGIC)
}

/// An error of whoever takes the bytes.
fn written(cause: io::Error) -> Error {
    match cause.downcast::<Error>() {
        Ok(error) => error,
        Err(cause) => Error::io("write", "a section of state", &cause),
    }
}

/// Reads what [`encode_snapshot`] wrote.
///
/// # Errors
/// Bytes of another version, or that end too early.
pub fn decode_snapshot(bytes: &[u8]) -> Result<OperatorSnapshot> {
    let mut input = Input(bytes);
    if input.take(MAGIC.len())? != MAGIC {
        return Err(Error::new(&CHECKPOINT_VERSION, &[("what", &"a section of state")]));
    }
    let mut snapshot = OperatorSnapshot { tables: Vec::new(), values: BTreeMap::new() };
    for _ in 0..input.length()? {
        let name = input.text()?;
        snapshot.values.insert(name, i64::from_le_bytes(input.array()?));
    }
    for _ in 0..input.length()? {
        let name = input.text()?;
        let kind = match input.take(1)? {
            [0] => SnapshotKind::Full,
            [1] => SnapshotKind::Rows { gone: input.numbers()? },
            [2] => SnapshotKind::Keys { gone: input.numbers()? },
            _ => return Err(Error::new(&CHECKPOINT_VERSION, &[("what", &name)])),
        };
        let ids = input.ids()?;
        let rows = input.rows()?;
        let ids = ids.map(|ids| ids.of(rows.num_rows())).transpose()?;
        snapshot.tables.push(TableSnapshot { name, kind, rows, ids });
    }
    // Rows end where they say so, or where nothing follows.
    if input.take(MAGIC.len())? != MAGIC || !input.0.is_empty() {
        return Err(Error::internal("a section of state does not end where it should"));
    }
    Ok(snapshot)
}

fn put_length(out: &mut (impl Write + ?Sized), length: usize) -> io::Result<()> {
    out.write_all(&(length as u64).to_le_bytes())
}

fn put_bytes(out: &mut (impl Write + ?Sized), bytes: &[u8]) -> io::Result<()> {
    put_length(out, bytes.len())?;
    out.write_all(bytes)
}

fn put_numbers(out: &mut (impl Write + ?Sized), numbers: &[u32]) -> io::Result<()> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    put_bytes(out, &bytes)
}

fn put_ids(out: &mut (impl Write + ?Sized), ids: Option<&[u64]>) -> io::Result<()> {
    let Some(ids) = ids else { return out.write_all(&[IDS_NONE]) };
    let first = ids.first().copied().unwrap_or_default();
    if ids.iter().zip(first..).all(|(id, expected)| *id == expected) {
        out.write_all(&[IDS_CONSECUTIVE])?;
        return out.write_all(&first.to_le_bytes());
    }
    if ids.iter().all(|id| *id <= u64::from(u32::MAX)) {
        out.write_all(&[IDS_SHORT])?;
        let bytes: Vec<u8> = ids.iter().flat_map(|id| (*id as u32).to_le_bytes()).collect();
        return put_bytes(out, &bytes);
    }
    out.write_all(&[IDS_LONG])?;
    let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    put_bytes(out, &bytes)
}

/// The rows end where their stream says so.
fn put_rows(out: &mut impl Write, rows: &RecordBatch) -> Result<()> {
    let mut writer = StreamWriter::try_new(out, rows.schema_ref()).map_err(ipc)?;
    for offset in (0..rows.num_rows()).step_by(ROWS_MAX) {
        writer.write(&rows.slice(offset, ROWS_MAX.min(rows.num_rows() - offset))).map_err(ipc)?;
    }
    writer.finish().map_err(ipc)
}

fn ipc(error: arrow::error::ArrowError) -> Error {
    match error {
        arrow::error::ArrowError::IoError(_, cause) => written(cause),
        error => error.into(),
    }
}

/// The ids of rows whose number is not known yet.
enum Ids {
    Consecutive(u64),
    Listed(Vec<u64>),
}

impl Ids {
    fn of(self, rows: usize) -> Result<Vec<u64>> {
        match self {
            Ids::Consecutive(first) => Ok((first..).take(rows).collect()),
            Ids::Listed(ids) if ids.len() == rows => Ok(ids),
            Ids::Listed(ids) => Err(Error::internal(format!("{} ids of {rows} rows", ids.len()))),
        }
    }
}

/// Bytes that are still to be read. Their checksum was right: whatever is missing was never written.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or_else(|| Error::internal("a section of state ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array(&mut self) -> Result<[u8; 8]> {
        self.take(8)?.try_into().map_err(Error::internal)
    }

    fn length(&mut self) -> Result<usize> {
        usize::try_from(u64::from_le_bytes(self.array()?)).map_err(Error::internal)
    }

    fn text(&mut self) -> Result<String> {
        let length = self.length()?;
        String::from_utf8(self.take(length)?.to_vec()).map_err(Error::internal)
    }

    fn numbers(&mut self) -> Result<Vec<u32>> {
        let length = self.length()?;
        let (numbers, _) = self.take(length)?.as_chunks::<4>();
        Ok(numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    fn ids(&mut self) -> Result<Option<Ids>> {
        Ok(match self.take(1)? {
            [IDS_NONE] => None,
            [IDS_CONSECUTIVE] => Some(Ids::Consecutive(u64::from_le_bytes(self.array()?))),
            [IDS_SHORT] => Some(Ids::Listed(self.numbers()?.into_iter().map(u64::from).collect())),
            [IDS_LONG] => {
                let length = self.length()?;
                let (ids, _) = self.take(length)?.as_chunks::<8>();
                Some(Ids::Listed(ids.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()))
            }
            _ => return Err(Error::new(&CHECKPOINT_VERSION, &[("what", &"the ids of rows")])),
        })
    }

    fn rows(&mut self) -> Result<RecordBatch> {
        let reader = StreamReader::try_new(&mut self.0, None)?;
        let schema = reader.schema();
        let mut reader = reader;
        let batches = reader.by_ref().collect::<std::result::Result<Vec<_>, _>>()?;
        match <[RecordBatch; 1]>::try_from(batches) {
            Ok([batch]) => Ok(batch),
            Err(batches) => Ok(concat_batches(&schema, &batches)?),
        }
    }
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
