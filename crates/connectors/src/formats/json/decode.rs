//! The decoder: records to rows, errors explained.

use super::object::{Rows, Scratch, Settings};
use super::options::JsonOptions;
use super::reader::{DEPTH_MAX, Fail, FailKind, Reader, Syntax};
use crate::formats::codes::{BAD_RECORD, BAD_VALUE, MISSING_FIELD, NULL_VALUE, OTHER_TIMESTAMP_STANDARD};
use crate::formats::column::Refusal;
use crate::formats::value::TimestampStandard;
use crate::formats::{Progress, Utf8Check, snippet, unbuilt};
use base::format::{DecodeError, Decoded, Decoder, Records};
use base::{Error, Result, RowType};

/// Decodes objects.
#[derive(Debug)]
pub struct JsonDecoder {
    schema: RowType,
    rows: Rows,
    scratch: Scratch,
}

impl JsonDecoder {
    /// A decoder into `columns`.
    pub fn new(options: &JsonOptions, columns: &RowType) -> JsonDecoder {
        let settings = Settings {
            ignore_errors: options.ignore_errors,
            fail_on_missing: options.fail_on_missing,
            standard: options.standard,
        };
        JsonDecoder {
            schema: columns.clone(),
            rows: Rows::new(columns, options.standard),
            scratch: Scratch::new(settings),
        }
    }

    fn finish(&mut self, progress: Progress) -> Result<Decoded> {
        let columns = self.rows.finish()?;
        progress.finish(&self.schema, columns)
    }

    /// Reads one record; false if it is blank.
    fn record(&mut self, record: &[u8], is_text: bool) -> Result<bool, Fail> {
        let mut reader = Reader::new(record);
        if !is_text {
            return Err(reader.syntax(Syntax::NotUtf8));
        }
        reader.skip_space();
        if reader.at_end() {
            return Ok(false);
        }
        self.rows.read(&mut reader, &mut self.scratch)?;
        reader.skip_space();
        if !reader.at_end() {
            self.rows.truncate(self.rows.len() - 1);
            return Err(reader.syntax(Syntax::Trailing));
        }
        Ok(true)
    }
}

impl Decoder for JsonDecoder {
    fn decode(&mut self, records: &Records) -> Result<Decoded, DecodeError> {
        let utf8 = Utf8Check::new(records);
        let mut progress = Progress::default();
        for (index, record) in records.iter().enumerate() {
            match self.record(record, utf8.is_text(record)) {
                Ok(true) => progress.row(index),
                Ok(false) => progress.no_row(),
                Err(fail) => {
                    let error = explain("json", fail, record, &self.scratch);
                    self.scratch.reset();
                    if self.scratch.settings.ignore_errors {
                        progress.reject(index, error);
                        continue;
                    }
                    return Err(match self.finish(progress) {
                        Ok(before) => DecodeError { record: index, error, before: Box::new(before) },
                        Err(internal) => unbuilt(index, internal, &self.schema),
                    });
                }
            }
        }
        self.finish(progress).map_err(|internal| unbuilt(0, internal, &self.schema))
    }
}

/// The error for people.
pub fn explain(format: &'static str, fail: Fail, record: &[u8], scratch: &Scratch) -> Error {
    let shown = snippet(record);
    let column = match scratch.path.len() {
        0 => "?".to_string(),
        _ => scratch.path.iter().rev().map(String::as_str).collect::<Vec<_>>().join("."),
    };
    let sql_type = scratch.refused_by.as_ref().map_or_else(|| "?".to_string(), ToString::to_string);
    let value = snippet(value_at(record, fail.at));
    match fail.kind {
        FailKind::Syntax(syntax) => {
            let why = match syntax {
                Syntax::Expected(what) => format!("expected {what}"),
                Syntax::OpenString => "a string has no end".to_string(),
                Syntax::BadEscape => "a bad escape in a string".to_string(),
                Syntax::BadNumber => "a malformed number".to_string(),
                Syntax::TooDeep => format!("values nested deeper than {DEPTH_MAX}"),
                Syntax::Trailing => "more text behind the object".to_string(),
                Syntax::NotUtf8 => "bytes that are not UTF-8".to_string(),
            };
            let position = match syntax {
                Syntax::NotUtf8 => std::str::from_utf8(record).map_or_else(|error| error.valid_up_to(), |_| 0),
                _ => fail.at,
            };
            Error::new(&BAD_RECORD, &[("format", &format), ("why", &why), ("position", &position), ("record", &shown)])
        }
        FailKind::Missing => Error::new(&MISSING_FIELD, &[("column", &column), ("record", &shown)]),
        FailKind::Refused(Refusal::Null) => Error::new(
            &NULL_VALUE,
            &[("format", &format), ("column", &column), ("type", &sql_type), ("record", &shown)],
        ),
        FailKind::Refused(Refusal::OtherStandard) => {
            let (standard, other, expected) = match scratch.settings.standard {
                TimestampStandard::Iso => ("ISO-8601", "SQL", "2024-11-20T15:01:00.123"),
                _ => ("SQL", "ISO-8601", "2024-11-20 15:01:00.123"),
            };
            Error::new(
                &OTHER_TIMESTAMP_STANDARD,
                &[
                    ("format", &format),
                    ("column", &column),
                    ("type", &sql_type),
                    ("value", &value),
                    ("standard", &standard),
                    ("other", &other),
                    ("expected", &expected),
                    ("record", &shown),
                ],
            )
        }
        FailKind::Refused(Refusal::Value | Refusal::TooLong) => Error::new(
            &BAD_VALUE,
            &[("format", &format), ("column", &column), ("type", &sql_type), ("value", &value), ("record", &shown)],
        ),
    }
}

/// The value that begins at `at`.
pub fn value_at(record: &[u8], at: usize) -> &[u8] {
    let mut reader = Reader::new(record);
    reader.position = at.min(record.len());
    reader.skip_space();
    let start = reader.position;
    match reader.skip_value() {
        Ok(()) => reader.since(start),
        Err(_) => &record[start..],
    }
}
