//! The decoder: change records to rows with kinds.
//!
//! The keys of an envelope come in any order, and the operation, which says what the rest means, usually comes last. So rows
//! are read where they stand, on the guess that they will be needed in this order; only if the guess turns out wrong they
//! are taken back and read again from the places that were noted. The result never depends on the guess.

use super::CdcOptions;
use super::envelope::*;
use crate::formats::codes::{NO_OLD_ROW, NO_PART, SCHEMA_INCLUDE, UNKNOWN_OPERATION};
use crate::formats::json::decode::{explain, value_at};
use crate::formats::json::object::{Partial, Rows, Scratch, Settings, Single};
use crate::formats::json::reader::{Fail, Reader, Syntax};
use crate::formats::value::TimestampStandard;
use crate::formats::{Progress, Utf8Check, snippet, unbuilt};
use arrow::array::{ArrayRef, AsArray, TimestampMillisecondArray};
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use base::format::{DecodeError, DecodeSpec, Decoded, Decoder, Records};
use base::types::INSTANT_ZONE;
use base::{ChangelogBatch, Error, Field, LogicalType, Result, RowKind, RowType};
use std::sync::Arc;

/// What is wrong with a record.
#[derive(Debug, Clone, Copy)]
enum Problem {
    /// It is not JSON, or a value does not fit.
    Bad(Fail),
    /// `before` is null.
    NoOldRow,
    /// A part is missing or null.
    NoPart(Part),
    /// The dialect does not know the operation.
    UnknownOperation,
    /// It has the form of the other value of `debezium-json.schema-include`.
    OtherForm,
}

impl From<Fail> for Problem {
    fn from(fail: Fail) -> Problem {
        Problem::Bad(fail)
    }
}

/// Decodes change records.
#[derive(Debug)]
pub struct CdcDecoder {
    dialect: &'static Dialect,
    options: CdcOptions,
    schema: RowType,
    rows: Rows,
    /// Reads the old values of an update.
    old: Partial,
    kinds: Vec<RowKind>,
    metadata: Vec<MetadataColumn>,
    /// Whether a metadata column is inside `source`.
    wants_source: bool,
    scratch: Scratch,
    places: Places,
    /// The parts whose rows were read while looking for the places, and where they were.
    guessed: Vec<(Part, usize)>,
}

/// A metadata column being filled.
#[derive(Debug)]
struct MetadataColumn {
    field: Field,
    part: Part,
    form: Form,
    /// The values as written: times are numbers, or without a zone.
    values: Single,
}

impl MetadataColumn {
    fn read(&mut self, place: Option<Reader<'_>>, scratch: &mut Scratch) -> Result<(), Fail> {
        let done = match place {
            Some(mut reader) => self.values.read(&mut reader, scratch),
            None => self.values.append_null().map_err(Fail::from),
        };
        done.inspect_err(|_| scratch.inside(&self.field.name, &self.field.sql_type))
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        let values = self.values.finish()?;
        let ms_per_unit = match self.form {
            Form::Seconds => 1000,
            Form::Milliseconds => 1,
            Form::DateTime => {
                let times = values.as_primitive::<TimestampMicrosecondType>().clone();
                return Ok(Arc::new(times.with_timezone(INSTANT_ZONE)));
            }
            Form::Text | Form::Texts | Form::TextByName | Form::NumberByName => return Ok(values),
        };
        let numbers = values.as_primitive::<Int64Type>();
        let times: TimestampMillisecondArray = numbers.unary_opt(|number| number.checked_mul(ms_per_unit));
        Ok(Arc::new(times.with_timezone(INSTANT_ZONE)))
    }
}

impl CdcDecoder {
    /// A decoder of the wanted columns.
    ///
    /// # Errors
    /// A metadata key that the dialect does not have is a bug of the caller.
    pub fn new(dialect: &'static Dialect, options: CdcOptions, spec: &DecodeSpec) -> Result<CdcDecoder> {
        let physical = spec.columns.len().saturating_sub(spec.metadata.len());
        let columns = spec.columns.project(&(0..physical).collect::<Vec<_>>());
        let standard = options.json.standard;
        let mut metadata = Vec::with_capacity(spec.metadata.len());
        for (field, key) in spec.columns.fields()[physical..].iter().zip(&spec.metadata) {
            let found = dialect.metadata.iter().find(|metadata| metadata.key == key);
            let Some(found) = found else { return Err(Error::internal(format!("no metadata '{key}'"))) };
            let written = match found.form {
                Form::Seconds | Form::Milliseconds => LogicalType::BigInt.nullable(),
                Form::DateTime => LogicalType::Timestamp(6).nullable(),
                Form::Text | Form::Texts | Form::TextByName | Form::NumberByName => field.sql_type.clone(),
            };
            // GoldenGate writes one of its times with a `T` and the other without, whatever the form in the rows.
            let values = Single::new(&written.with_nullable(field.sql_type.nullable), TimestampStandard::Either);
            metadata.push(MetadataColumn { field: field.clone(), part: found.part, form: found.form, values });
        }
        let is_in_source = |column: &MetadataColumn| SOURCE.iter().any(|(_, part)| *part == column.part);
        let settings = Settings { ignore_errors: options.json.ignore_errors, fail_on_missing: false, standard };
        Ok(CdcDecoder {
            dialect,
            options,
            schema: spec.columns.clone(),
            rows: Rows::new(&columns, standard),
            old: Partial::new(&columns),
            kinds: Vec::new(),
            wants_source: metadata.iter().any(is_in_source),
            metadata,
            scratch: Scratch::new(settings),
            places: Places::new(),
            guessed: Vec::new(),
        })
    }

    /// Reads one record, which adds any number of rows behind the first `base`.
    fn record(&mut self, record: &[u8], is_text: bool, base: usize) -> Result<(), Problem> {
        let mut reader = Reader::new(record);
        if !is_text {
            return Err(reader.syntax(Syntax::NotUtf8).into());
        }
        reader.skip_space();
        if reader.at_end() {
            return Ok(());
        }
        self.places = Places::new();
        self.guessed.clear();
        let members = if self.options.schema_include { CONNECT } else { self.dialect.members };
        self.scan(&mut reader, members)?;
        reader.skip_space();
        if !reader.at_end() {
            return Err(reader.syntax(Syntax::Trailing).into());
        }
        if !self.is_included(&reader) {
            return Ok(());
        }
        use RowKind::{Delete, Insert, UpdateAfter, UpdateBefore};
        match (self.operation(&reader)?, self.dialect.content) {
            (Operation::None, _) => self.rows.truncate(base),
            (Operation::Insert, _) => self.take(&reader, base, &[(Part::New, Insert)])?,
            (Operation::Delete, Content::BeforeAndAfter) => self.take(&reader, base, &[(Part::Old, Delete)])?,
            (Operation::Delete, _) => self.take(&reader, base, &[(Part::New, Delete)])?,
            (Operation::Update, Content::BeforeAndAfter) => {
                self.take(&reader, base, &[(Part::Old, UpdateBefore), (Part::New, UpdateAfter)])?;
            }
            (Operation::Update, _) => self.update(&reader, base)?,
        }
        let place = |part| self.places.get(part).map(|place| reader.at(place));
        for column in &mut self.metadata {
            for _ in base..self.rows.len() {
                column.read(place(column.part), &mut self.scratch)?;
            }
        }
        Ok(())
    }

    /// Goes over an object, noting the places of its members.
    fn scan(&mut self, reader: &mut Reader<'_>, members: Members) -> Result<(), Fail> {
        let mut first = true;
        while let Some(key) = reader.next_key(first)? {
            first = false;
            match part(key, members) {
                Some(part) => self.member(reader, part)?,
                None => reader.skip_value()?,
            }
        }
        Ok(())
    }

    fn member(&mut self, reader: &mut Reader<'_>, part: Part) -> Result<(), Fail> {
        let next = reader.peek();
        self.places.set(part, (next != b'n').then_some(reader.position));
        match part {
            Part::New | Part::Old if next != b'n' && self.is_worth_guessing(reader, part) => self.guess(reader, part),
            Part::Source if self.wants_source => {
                self.places.clear(SOURCE);
                if next == b'{' { self.scan(reader, SOURCE) } else { reader.skip_value() }
            }
            Part::Payload => {
                self.places.clear(self.dialect.members);
                if next == b'{' { self.scan(reader, self.dialect.members) } else { reader.skip_value() }
            }
            _ => reader.skip_value(),
        }
    }

    /// Whether the rows of a part will probably be needed as they are.
    fn is_worth_guessing(&self, reader: &Reader<'_>, part: Part) -> bool {
        if self.dialect.content == Content::BeforeAndAfter {
            return true;
        }
        // Rows of other tables may not fit the columns.
        let any_table = self.options.database.is_none() && self.options.table.is_none();
        let known = self.places.get(Part::Operation).map(|place| operation(self.dialect, &mut reader.at(place)));
        part == Part::New
            && any_table
            && known.is_none_or(|known| matches!(known, Some(Operation::Insert | Operation::Delete)))
    }

    fn guess(&mut self, reader: &mut Reader<'_>, part: Part) -> Result<(), Fail> {
        let (start, rows) = (reader.position, self.rows.len());
        if read_rows(&mut self.rows, self.dialect.content, reader, &mut self.scratch).is_ok() {
            self.guessed.push((part, start));
            return Ok(());
        }
        // If the rows are needed they will fail once more.
        self.rows.truncate(rows);
        self.scratch.reset();
        reader.position = start;
        reader.skip_value()
    }

    /// Whether the options ask for records of this table.
    fn is_included(&self, reader: &Reader<'_>) -> bool {
        let fits = |pattern: &Option<regex::Regex>, part: Part| match (pattern, self.places.get(part)) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(pattern), Some(place)) => text_is(&mut reader.at(place), |text| pattern.is_match(text)),
        };
        fits(&self.options.database, Part::Database) && fits(&self.options.table, Part::Table)
    }

    fn operation(&self, reader: &Reader<'_>) -> Result<Operation, Problem> {
        if let Some(place) = self.places.get(Part::Operation) {
            return operation(self.dialect, &mut reader.at(place)).ok_or(Problem::UnknownOperation);
        }
        let without_payload = self.options.schema_include && self.places.get(Part::Payload).is_none();
        Err(if self.places.get(Part::Misplaced).is_some() {
            Problem::OtherForm
        } else if without_payload {
            Problem::NoPart(Part::Payload)
        } else {
            Problem::NoPart(Part::Operation)
        })
    }

    /// Where a part is that the operation needs.
    fn place(&self, part: Part) -> Result<usize, Problem> {
        self.places.get(part).ok_or(match (self.dialect.content, part) {
            (Content::BeforeAndAfter, Part::Old) => Problem::NoOldRow,
            _ => Problem::NoPart(part),
        })
    }

    /// Makes the rows of these parts, with these kinds, the rows of the record. If there are several, each has one row.
    fn take(&mut self, reader: &Reader<'_>, base: usize, parts: &[(Part, RowKind)]) -> Result<(), Problem> {
        let mut guessed = self.guessed.len() == parts.len();
        for (index, (part, _)) in parts.iter().enumerate() {
            let place = self.place(*part)?;
            guessed = guessed && self.guessed[index] == (*part, place);
        }
        if !guessed {
            self.rows.truncate(base);
            for (part, _) in parts {
                let mut reader = reader.at(self.place(*part)?);
                read_rows(&mut self.rows, self.dialect.content, &mut reader, &mut self.scratch)?;
            }
        }
        let [.., (_, last)] = parts else { return Ok(()) };
        self.kinds.extend(parts[..parts.len() - 1].iter().map(|(_, kind)| *kind));
        self.kinds.resize(self.rows.len(), *last);
        Ok(())
    }

    /// An update whose old rows are the new ones with other values for what changed.
    fn update(&mut self, reader: &Reader<'_>, base: usize) -> Result<(), Problem> {
        let (new_place, old_place) = (self.place(Part::New)?, self.place(Part::Old)?);
        let is_first_read = self.guessed == [(Part::New, new_place)] && self.rows.len() > base;
        self.rows.truncate(base + usize::from(is_first_read));
        let (mut new, mut old) = (reader.at(new_place), reader.at(old_place));
        let in_arrays = self.dialect.content == Content::Arrays;
        let mut first = true;
        loop {
            if in_arrays {
                let more = new.next_element(first)?;
                if more != old.next_element(first)? {
                    return Err(old.syntax(Syntax::Expected("as many elements as in 'data'")).into());
                }
                if !more {
                    break;
                }
            }
            let row = new.position;
            if !(first && is_first_read) {
                self.rows.read(&mut new, &mut self.scratch)?;
            }
            self.rows.read_over(&mut self.old, &mut old, &mut self.scratch)?;
            new.position = row;
            self.rows.read(&mut new, &mut self.scratch)?;
            self.kinds.extend([RowKind::UpdateBefore, RowKind::UpdateAfter]);
            first = false;
            if !in_arrays {
                break;
            }
        }
        Ok(())
    }

    /// Forgets the rows from `len` on.
    fn truncate(&mut self, len: usize) {
        self.rows.truncate(len);
        self.kinds.truncate(len);
        self.metadata.iter_mut().for_each(|column| column.values.truncate(len));
        self.scratch.reset();
    }

    fn finish(&mut self, progress: Progress) -> Result<Decoded> {
        let mut columns = self.rows.finish()?;
        for column in &mut self.metadata {
            columns.push(column.finish()?);
        }
        let kinds = std::mem::take(&mut self.kinds);
        progress.finish_with(&self.schema, columns, |rows| ChangelogBatch::new(rows, kinds))
    }

    /// The error for people.
    fn explain(&self, problem: Problem, record: &[u8]) -> Error {
        let shown = snippet(record);
        let format = self.dialect.name;
        let operation_field = self.dialect.key(Part::Operation);
        let operation = self.places.get(Part::Operation).map_or_else(String::new, |at| snippet(value_at(record, at)));
        match problem {
            Problem::Bad(fail) => explain(format, fail, record, &self.scratch),
            Problem::NoOldRow => {
                let [sender, command] = self.dialect.old_rows.unwrap_or_default();
                Error::new(
                    &NO_OLD_ROW,
                    &[
                        ("format", &format),
                        ("field", &self.dialect.key(Part::Old)),
                        ("operation_field", &operation_field),
                        ("operation", &operation.trim_matches('"')),
                        ("sender", &sender),
                        ("command", &command),
                        ("record", &shown),
                    ],
                )
            }
            Problem::NoPart(part) => {
                Error::new(&NO_PART, &[("format", &format), ("field", &self.dialect.key(part)), ("record", &shown)])
            }
            Problem::UnknownOperation => {
                let known: Vec<String> = self.dialect.operations.iter().map(|(name, _)| format!("'{name}'")).collect();
                Error::new(
                    &UNKNOWN_OPERATION,
                    &[
                        ("format", &format),
                        ("field", &operation_field),
                        ("operation", &operation),
                        ("known", &known.join(", ")),
                        ("record", &shown),
                    ],
                )
            }
            Problem::OtherForm => {
                let include = self.options.schema_include;
                Error::new(&SCHEMA_INCLUDE, &[("value", &include), ("other", &!include), ("record", &shown)])
            }
        }
    }
}

/// Reads a row, or all rows of an array.
fn read_rows(rows: &mut Rows, content: Content, reader: &mut Reader<'_>, scratch: &mut Scratch) -> Result<(), Fail> {
    if content != Content::Arrays {
        return rows.read(reader, scratch);
    }
    let mut first = true;
    while reader.next_element(first)? {
        rows.read(reader, scratch)?;
        first = false;
    }
    Ok(())
}

impl Decoder for CdcDecoder {
    fn decode(&mut self, records: &Records) -> Result<Decoded, DecodeError> {
        let utf8 = Utf8Check::new(records);
        let mut progress = Progress::default();
        for (index, record) in records.iter().enumerate() {
            let base = progress.rows;
            match self.record(record, utf8.is_text(record), base) {
                Ok(()) => progress.rows(index, self.rows.len() - base),
                Err(problem) => {
                    let error = self.explain(problem, record);
                    self.truncate(base);
                    if self.options.json.ignore_errors {
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
