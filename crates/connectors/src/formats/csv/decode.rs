//! The decoder: lines to rows, fields by position.

use super::options::CsvOptions;
use crate::formats::codes::{BAD_RECORD, BAD_VALUE, FIELD_COUNT, NULL_VALUE};
use crate::formats::column::{Column, Data, Refusal, TextRules};
use crate::formats::value::TimestampStandard;
use crate::formats::{Progress, Utf8Check, snippet, unbuilt};
use base::format::{DecodeError, DecodeSpec, Decoded, Decoder, Records};
use base::{Error, Result, RowType};

/// What is wrong with a record.
#[derive(Debug, Clone, Copy)]
enum Fail {
    NotUtf8,
    /// A quoted field without an end, from this byte on.
    OpenQuote(usize),
    /// Something between a quote and the next delimiter, at this byte.
    BehindQuote(usize),
    /// So many fields and not as many columns.
    FieldCount(usize),
    /// A wanted column did not take the text that is still in the scratch.
    Refused(usize, Refusal),
}

/// Decodes lines.
#[derive(Debug)]
pub struct CsvDecoder {
    options: CsvOptions,
    schema: RowType,
    columns: Vec<Column>,
    /// For each field of a line the wanted column it fills.
    targets: Vec<Option<usize>>,
    /// The field being read, without quotes.
    field: Vec<u8>,
}

impl CsvDecoder {
    /// A decoder of the wanted columns.
    ///
    /// # Errors
    /// A wanted column that the table does not have is a bug of the caller.
    pub fn new(options: CsvOptions, spec: &DecodeSpec) -> Result<CsvDecoder> {
        let mut targets = vec![None; spec.table.len()];
        for (index, field) in spec.columns.fields().iter().enumerate() {
            let position = spec.table.index_of(&field.name);
            let position = position.ok_or_else(|| Error::internal(format!("no column '{}'", field.name)))?;
            targets[position] = Some(index);
        }
        let column = |field: &base::Field| Column::new(&field.sql_type, TimestampStandard::Either);
        Ok(CsvDecoder {
            options,
            schema: spec.columns.clone(),
            columns: spec.columns.fields().iter().map(column).collect(),
            targets,
            field: Vec::new(),
        })
    }

    fn finish(&mut self, progress: Progress) -> Result<Decoded> {
        let columns = self.columns.iter_mut().map(Column::finish).collect::<Result<_>>()?;
        progress.finish(&self.schema, columns)
    }

    /// Reads one record; false if it is blank or a comment.
    fn record(&mut self, record: &[u8], is_text: bool, row: usize) -> Result<bool, Fail> {
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        if record.is_empty() || (self.options.comments && record[0] == b'#') {
            return Ok(false);
        }
        if !is_text {
            return Err(Fail::NotUtf8);
        }
        let mut position = 0;
        let mut count = 0;
        loop {
            let target = self.targets.get(count).copied().flatten();
            let end = read_field(&self.options, record, position, &mut self.field)?;
            count += 1;
            if let Some(target) = target {
                self.append(target)?;
            }
            if end >= record.len() {
                break;
            }
            position = end + 1;
        }
        let too_few = count < self.targets.len();
        if count > self.targets.len() || (too_few && !self.options.ignore_errors) {
            return Err(Fail::FieldCount(count));
        }
        if too_few {
            for (index, column) in self.columns.iter_mut().enumerate() {
                if column.len() == row {
                    column.append_null().map_err(|refusal| Fail::Refused(index, refusal))?;
                }
            }
        }
        Ok(true)
    }

    /// Appends the field to a wanted column.
    fn append(&mut self, target: usize) -> Result<(), Fail> {
        let column = &mut self.columns[target];
        let len = column.len();
        let done = append_value(&self.options, column, &self.field);
        let done = match done {
            Err(Refusal::Value) if self.options.ignore_errors => {
                column.truncate(len);
                column.append_null()
            }
            done => done,
        };
        done.map_err(|refusal| Fail::Refused(target, refusal))
    }

    fn explain(&self, fail: Fail, record: &[u8]) -> Error {
        let shown = snippet(record);
        let bad_record = |why: &str, position: usize| {
            Error::new(&BAD_RECORD, &[("format", &"csv"), ("why", &why), ("position", &position), ("record", &shown)])
        };
        match fail {
            Fail::NotUtf8 => {
                let position = std::str::from_utf8(record).map_or_else(|error| error.valid_up_to(), |_| 0);
                bad_record("bytes that are not UTF-8", position)
            }
            Fail::OpenQuote(position) => bad_record("a quoted field has no end", position),
            Fail::BehindQuote(position) => bad_record("expected a delimiter behind the quoted field", position),
            Fail::FieldCount(found) => {
                Error::new(&FIELD_COUNT, &[("found", &found), ("expected", &self.targets.len()), ("record", &shown)])
            }
            Fail::Refused(target, refusal) => {
                let field = &self.schema.fields()[target];
                let value = format!("'{}'", snippet(&self.field));
                let code = if refusal == Refusal::Null { &NULL_VALUE } else { &BAD_VALUE };
                Error::new(
                    code,
                    &[
                        ("format", &"csv"),
                        ("column", &field.name),
                        ("type", &field.sql_type),
                        ("value", &value),
                        ("record", &shown),
                    ],
                )
            }
        }
    }
}

impl Decoder for CsvDecoder {
    fn decode(&mut self, records: &Records) -> Result<Decoded, DecodeError> {
        let utf8 = Utf8Check::new(records);
        let mut progress = Progress::default();
        for (index, record) in records.iter().enumerate() {
            match self.record(record, utf8.is_text(record), progress.rows) {
                Ok(true) => progress.row(index),
                Ok(false) => progress.no_row(),
                Err(fail) => {
                    let error = self.explain(fail, record);
                    self.columns.iter_mut().for_each(|column| column.truncate(progress.rows));
                    if self.options.ignore_errors {
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

/// Reads the field at `start` into `out`, without quotes and escapes, and returns where it ends: at a delimiter or the end.
fn read_field(options: &CsvOptions, record: &[u8], start: usize, out: &mut Vec<u8>) -> Result<usize, Fail> {
    out.clear();
    match options.quote {
        Some(quote) if record.get(start) == Some(&quote) => read_quoted(options, quote, record, start, out),
        _ => Ok(read_plain(options, record, start, out)),
    }
}

fn read_plain(options: &CsvOptions, record: &[u8], start: usize, out: &mut Vec<u8>) -> usize {
    let mut from = start;
    loop {
        let rest = &record[from..];
        let found = match options.escape {
            None => memchr::memchr(options.delimiter, rest),
            Some(escape) => memchr::memchr2(options.delimiter, escape, rest),
        };
        let end = found.map_or(record.len(), |found| from + found);
        out.extend_from_slice(&record[from..end]);
        match record.get(end) {
            Some(byte) if *byte != options.delimiter => from = escaped(record, end, out),
            _ => return end,
        }
    }
}

fn read_quoted(options: &CsvOptions, quote: u8, record: &[u8], start: usize, out: &mut Vec<u8>) -> Result<usize, Fail> {
    let escape = options.escape.unwrap_or(quote);
    let mut from = start + 1;
    loop {
        let found = memchr::memchr2(quote, escape, &record[from..]).ok_or(Fail::OpenQuote(start))?;
        let at = from + found;
        out.extend_from_slice(&record[from..at]);
        if record[at] != quote {
            from = escaped(record, at, out);
        } else if record.get(at + 1) == Some(&quote) {
            out.push(quote);
            from = at + 2;
        } else {
            let blanks = record[at + 1..].iter().position(|byte| *byte != b' ' || *byte == options.delimiter);
            let end = blanks.map_or(record.len(), |blanks| at + 1 + blanks);
            return match record.get(end) {
                Some(byte) if *byte != options.delimiter => Err(Fail::BehindQuote(end)),
                _ => Ok(end),
            };
        }
    }
}

/// Appends the character behind the escape at `at` and returns where to go on. An escape at the end stands for itself.
fn escaped(record: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    match record.get(at + 1) {
        // The rest of a longer character follows as ordinary bytes.
        Some(byte) => {
            out.push(match byte {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                other => *other,
            });
            at + 2
        }
        None => {
            out.push(record[at]);
            at + 1
        }
    }
}

fn append_value(options: &CsvOptions, column: &mut Column, text: &[u8]) -> Result<(), Refusal> {
    if is_null(options, text) {
        return column.append_null();
    }
    match column.data() {
        Data::Array { offsets, element } => {
            if !text.is_empty() {
                elements(options, text).try_for_each(|part| append_element(options, element, part))?;
            }
            offsets.push(i32::try_from(element.len()).map_err(|_| Refusal::TooLong)?);
        }
        Data::Row(fields) => {
            let count = fields.len();
            let mut parts = elements(options, text);
            for field in fields.iter_mut() {
                match parts.next() {
                    Some(part) => append_element(options, field, part)?,
                    None if options.ignore_errors => field.append_null()?,
                    None => return Err(Refusal::Value),
                }
            }
            if count > 0 && parts.next().is_some() {
                return Err(Refusal::Value);
            }
        }
        _ => return column.append_text(text, TextRules::Csv),
    }
    column.appended();
    Ok(())
}

fn append_element(options: &CsvOptions, column: &mut Column, text: &[u8]) -> Result<(), Refusal> {
    if is_null(options, text) {
        return column.append_null();
    }
    match column.append_text(text, TextRules::Csv) {
        Err(Refusal::Value) if options.ignore_errors => column.append_null(),
        done => done,
    }
}

fn is_null(options: &CsvOptions, text: &[u8]) -> bool {
    options.null_literal.as_ref().is_some_and(|literal| literal.as_bytes() == text)
}

/// The elements of an ARRAY or ROW.
fn elements<'a>(options: &'a CsvOptions, text: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let delimiter = options.element_delimiter.as_bytes();
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        match memchr::memmem::find(text, delimiter) {
            Some(at) => {
                rest = Some(&text[at + delimiter.len()..]);
                Some(&text[..at])
            }
            None => {
                rest = None;
                Some(text)
            }
        }
    })
}
