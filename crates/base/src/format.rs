//! Formats: records (lines of a file, messages of a topic) to columns and back.

use crate::changelog::{ChangelogBatch, ChangelogMode};
use crate::error::{Error, Result};
use crate::options::{OptionSpec, Options};
use crate::types::{RowType, SqlType};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// Records in one buffer: record `i` is `data[ends[i - 1]..ends[i]]`, without line ends. A record can be null: a message
/// without a value, which is not the same as an empty one.
#[derive(Debug, Clone, Default)]
pub struct Records {
    data: Vec<u8>,
    ends: Vec<u32>,
    /// The null records, ascending.
    nulls: Vec<u32>,
}

impl Records {
    /// No records, with room for some.
    pub fn with_capacity(records: usize, bytes: usize) -> Records {
        Records { data: Vec::with_capacity(bytes), ends: Vec::with_capacity(records), nulls: Vec::new() }
    }

    /// Appends a record. A buffer holds at most `u32::MAX` bytes: callers cut batches long before.
    pub fn push(&mut self, record: &[u8]) {
        self.data.extend_from_slice(record);
        self.ends.push(self.data.len() as u32);
    }

    /// Appends a record that is null.
    pub fn push_null(&mut self) {
        self.nulls.push(self.ends.len() as u32);
        self.push(b"");
    }

    /// Whether a record is null. Its bytes are empty.
    pub fn is_null(&self, index: usize) -> bool {
        // Almost no topic has any.
        !self.nulls.is_empty() && self.nulls.binary_search(&(index as u32)).is_ok()
    }

    /// Whether any record is null.
    pub fn has_nulls(&self) -> bool {
        !self.nulls.is_empty()
    }

    /// Removes all records, keeping the memory.
    pub fn clear(&mut self) {
        self.data.clear();
        self.ends.clear();
        self.nulls.clear();
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// The bytes of one record.
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.data[start..self.ends[index] as usize]
    }

    /// The records in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// What a decoder made of some records.
#[derive(Debug)]
pub struct Decoded {
    /// The rows.
    pub batch: ChangelogBatch,
    /// For each row the record it came from; `None` if row `i` came from record `i`.
    pub records: Option<Vec<u32>>,
    /// Records left out because the format's options say so: their index and the reason.
    pub rejected: Vec<(u32, Error)>,
}

/// Turns records into rows of a fixed row type. One per reader.
pub trait Decoder: Send + Debug {
    /// Decodes all records. The batch has the row type that the decoder was made for.
    ///
    /// # Errors
    /// A record that fails the job. [`DecodeError::record`] names it; rows before it are in [`DecodeError::before`], so that
    /// nothing already read is lost.
    fn decode(&mut self, records: &Records) -> std::result::Result<Decoded, DecodeError>;
}

/// A record that could not be decoded.
#[derive(Debug)]
pub struct DecodeError {
    /// Index of the record.
    pub record: usize,
    /// What is wrong; the caller adds file and line, or topic and offset.
    pub error: Error,
    /// The rows of the records before it.
    pub before: Box<Decoded>,
}

/// Turns rows into records. One per writer.
pub trait Encoder: Send + Debug {
    /// Appends one record per row (formats that write several or none say so), in order.
    fn encode(&mut self, batch: &ChangelogBatch, out: &mut Records) -> Result<()>;
}

/// What a format does with row kinds, and its metadata.
#[derive(Debug, Clone)]
pub struct FormatDescription {
    /// Kinds that decoding gives.
    pub decodes: ChangelogMode,
    /// Kinds that encoding takes.
    pub encodes: ChangelogMode,
    /// Metadata columns that decoding can give: key and type.
    pub metadata: Vec<(&'static str, SqlType)>,
}

/// What is decoded: the wanted columns only.
#[derive(Debug, Clone)]
pub struct DecodeSpec {
    /// The wanted physical columns and, behind them, the wanted format metadata columns: the row type of every batch.
    pub columns: RowType,
    /// The metadata keys of the last columns.
    pub metadata: Vec<String>,
    /// All physical columns of the table: a format without names (CSV) needs their order.
    pub table: RowType,
    /// `table.local-time-zone`.
    pub time_zone: chrono_tz::Tz,
}

/// A format. Its options are looked up with the prefix of its name: `json.ignore-parse-errors`.
pub trait FormatFactory: Send + Sync + Debug {
    /// The name that `'format' = '...'` uses.
    fn name(&self) -> &'static str;

    /// The options, with the format's prefix.
    fn options(&self) -> &'static [OptionSpec];

    /// Kinds and metadata under these options.
    fn describe(&self, options: &Options) -> Result<FormatDescription>;

    /// A decoder.
    ///
    /// # Errors
    /// Options or column types that the format cannot read.
    fn decoder(&self, options: &Options, spec: &DecodeSpec) -> Result<Box<dyn Decoder>>;

    /// An encoder for rows of `columns`.
    ///
    /// # Errors
    /// Options or column types that the format cannot write.
    fn encoder(&self, options: &Options, columns: &RowType, time_zone: chrono_tz::Tz) -> Result<Box<dyn Encoder>>;

    /// What a file begins with, for example the header line of CSV.
    fn file_header(&self, _options: &Options, _columns: &RowType) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

/// The formats of this build, by name.
#[derive(Debug, Clone, Default)]
pub struct FormatRegistry(BTreeMap<&'static str, Arc<dyn FormatFactory>>);

impl FormatRegistry {
    /// Adds a format.
    pub fn register(&mut self, format: Arc<dyn FormatFactory>) {
        self.0.insert(format.name(), format);
    }

    /// A format by name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn FormatFactory>> {
        self.0.get(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.keys().copied().collect()
    }
}
