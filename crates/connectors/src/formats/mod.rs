//! Formats: JSON, CSV, raw and change records to columns and back.
//!
//! `column` holds the growing columns that all decoders fill and `value` reads single values from text; a format adds the
//! structure around them. Values and texts follow Flink's formats, whose rules are noted where they surprise.
//!
//! Invariants: a decoder fills only the wanted columns, does not allocate per row, and never panics on input; a record that
//! fails leaves no trace in the columns.

pub mod codes;

mod cdc;
mod cells;
mod column;
mod csv;
mod json;
mod raw;
mod value;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use base::format::{DecodeError, Decoded, FormatRegistry, Records};
use base::{ChangelogBatch, Error, Result, RowType};
use std::sync::Arc;

/// Adds every format of this build.
pub fn register(registry: &mut FormatRegistry) {
    registry.register(Arc::new(json::Json));
    registry.register(Arc::new(csv::Csv));
    registry.register(Arc::new(raw::Raw));
    registry.register(Arc::new(cdc::DEBEZIUM));
    registry.register(Arc::new(cdc::CANAL));
    registry.register(Arc::new(cdc::MAXWELL));
    registry.register(Arc::new(cdc::OGG));
}

/// Characters of a record that an error shows.
const SNIPPET_MAX: usize = 160;

/// The beginning of a record or value, for people.
fn snippet(bytes: &[u8]) -> String {
    // Four bytes are the most a character takes.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SNIPPET_MAX)]);
    match text.char_indices().nth(SNIPPET_MAX) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// Which records of a batch are valid UTF-8: all of them as a rule, found out in one pass.
#[derive(Clone, Copy)]
struct Utf8Check {
    all: bool,
}

impl Utf8Check {
    fn new(records: &Records) -> Utf8Check {
        Utf8Check { all: simdutf8::basic::from_utf8(records.bytes()).is_ok() }
    }

    /// The record as text; `None` if it is not UTF-8.
    fn is_text(self, record: &[u8]) -> bool {
        // In a valid whole a record can only be broken by beginning or ending inside a character.
        let first_is_whole = record.first().is_none_or(|byte| byte & 0xC0 != 0x80);
        let last_is_whole = record.last().is_none_or(|byte| byte.is_ascii());
        (self.all && first_is_whole && last_is_whole) || simdutf8::basic::from_utf8(record).is_ok()
    }
}

/// The rows decoded so far and where they came from.
#[derive(Debug, Default)]
struct Progress {
    rows: usize,
    /// The record of each row, once a record gave no row.
    records: Option<Vec<u32>>,
    rejected: Vec<(u32, Error)>,
}

impl Progress {
    /// Record `index` became the next row.
    fn row(&mut self, index: usize) {
        self.rows += 1;
        if let Some(records) = &mut self.records {
            records.push(index as u32);
        }
    }

    /// Record `index` became the next `count` rows.
    fn rows(&mut self, index: usize, count: usize) {
        if count == 1 {
            self.row(index);
        } else {
            self.map().extend(std::iter::repeat_n(index as u32, count));
            self.rows += count;
        }
    }

    /// A record gave no row.
    fn no_row(&mut self) {
        self.map();
    }

    /// The record of each row, from now on.
    fn map(&mut self) -> &mut Vec<u32> {
        let rows = self.rows as u32;
        self.records.get_or_insert_with(|| (0..rows).collect())
    }

    /// A record was left out because of an error that the options tell to ignore.
    fn reject(&mut self, index: usize, error: Error) {
        self.no_row();
        self.rejected.push((index as u32, error));
    }

    /// Rows that are all inserts.
    fn finish(self, schema: &RowType, columns: Vec<ArrayRef>) -> Result<Decoded> {
        self.finish_with(schema, columns, ChangelogBatch::inserts)
    }

    fn finish_with(
        self,
        schema: &RowType,
        columns: Vec<ArrayRef>,
        kinds: impl FnOnce(RecordBatch) -> ChangelogBatch,
    ) -> Result<Decoded> {
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(schema.arrow().clone(), columns, &options)?;
        Ok(Decoded { batch: kinds(batch), records: self.records, rejected: self.rejected })
    }
}

/// The columns could not be built: a bug.
fn unbuilt(record: usize, error: Error, schema: &RowType) -> DecodeError {
    let batch = ChangelogBatch::empty(schema.arrow());
    DecodeError { record, error, before: Box::new(Decoded { batch, records: None, rejected: Vec::new() }) }
}

#[cfg(test)]
#[path = "support_tests.rs"]
mod support;
