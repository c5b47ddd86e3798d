//! Sections: the state of one operator instance as bytes, and back.
//!
//! A section opens with four bytes for its version. Values and names are length-prefixed, little-endian; the rows of a
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

/// The first bytes of a section, with its version at the end.
const MAGIC: &[u8; 4] = b"HWS1";

/// A snapshot as bytes.
///
/// # Errors
/// Rows that Arrow cannot write are a bug.
pub fn encode_snapshot(snapshot: &OperatorSnapshot) -> Result<Vec<u8>> {
    let mut out = MAGIC.to_vec();
    put_length(&mut out, snapshot.values.len());
    for (name, value) in &snapshot.values {
        put_bytes(&mut out, name.as_bytes());
        out.extend_from_slice(&value.to_le_bytes());
    }
    put_length(&mut out, snapshot.tables.len());
    for table in &snapshot.tables {
        put_bytes(&mut out, table.name.as_bytes());
        put_rows(&mut out, &table.rows)?;
        match &table.kind {
            SnapshotKind::Full => out.push(0),
            SnapshotKind::Incremental { deleted } => {
                out.push(1);
                put_rows(&mut out, deleted)?;
            }
        }
    }
    Ok(out)
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
        let rows = input.rows()?;
        let kind = match input.take(1)? {
            [0] => SnapshotKind::Full,
            [1] => SnapshotKind::Incremental { deleted: input.rows()? },
            _ => return Err(Error::new(&CHECKPOINT_VERSION, &[("what", &name)])),
        };
        snapshot.tables.push(TableSnapshot { name, kind, rows });
    }
    Ok(snapshot)
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&(length as u64).to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_rows(out: &mut Vec<u8>, rows: &RecordBatch) -> Result<()> {
    let start = out.len();
    put_length(out, 0);
    let mut writer = StreamWriter::try_new(&mut *out, rows.schema_ref())?;
    writer.write(rows)?;
    writer.finish()?;
    drop(writer);
    let length = (out.len() - start - 8) as u64;
    out[start..start + 8].copy_from_slice(&length.to_le_bytes());
    Ok(())
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

    fn rows(&mut self) -> Result<RecordBatch> {
        let length = self.length()?;
        let reader = StreamReader::try_new(self.take(length)?, None)?;
        let schema = reader.schema();
        let batches = reader.collect::<std::result::Result<Vec<_>, _>>()?;
        match <[RecordBatch; 1]>::try_from(batches) {
            Ok([batch]) => Ok(batch),
            Err(batches) => Ok(concat_batches(&schema, &batches)?),
        }
    }
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
