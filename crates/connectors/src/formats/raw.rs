//! The `raw` format: a record is the value of the only column.
//!
//! Text is UTF-8; bytes that are no characters become U+FFFD as in Java. Numbers are fixed-width binary. NULL is a null
//! record: a message without a value. In a file, where no record is null, it is an empty line, which is read as an empty
//! value and is an error for numbers.

use super::cells::{Cells, Values};
use super::codes::{BAD_TYPE, BAD_VALUE, NULL_VALUE, ONE_COLUMN};
use super::column::{Column, Data, Refusal};
use super::value::TimestampStandard;
use super::{Progress, snippet, unbuilt};
use base::format::{DecodeError, DecodeSpec, Decoded, Decoder, Encoder, FormatDescription, FormatFactory, Records};
use base::{ChangelogBatch, ChangelogMode, Error, LogicalType, OptionKind, OptionSpec, Options, Result, RowType};

/// `raw.charset`.
const CHARSET: OptionSpec = OptionSpec {
    key: "raw.charset",
    kind: OptionKind::Text,
    default: Some("UTF-8"),
    required: false,
    en: "the encoding of text; only UTF-8",
    zh: "文本编码；仅支持 UTF-8",
};
/// `raw.endianness`.
const ENDIANNESS: OptionSpec = OptionSpec {
    key: "raw.endianness",
    kind: OptionKind::OneOf(&["big-endian", "little-endian"]),
    default: Some("big-endian"),
    required: false,
    en: "the order of the bytes of numbers",
    zh: "数值的字节序",
};

/// The format.
#[derive(Debug)]
pub struct Raw;

fn little_endian(options: &Options) -> Result<bool> {
    let charset = options.text(&CHARSET).unwrap_or_default();
    if !charset.eq_ignore_ascii_case("UTF-8") && !charset.eq_ignore_ascii_case("UTF8") {
        return Err(Error::unsupported(format!("'{}' = '{charset}'", CHARSET.key)));
    }
    Ok(options.word(&ENDIANNESS)? == Some("little-endian"))
}

fn check(columns: &RowType) -> Result<()> {
    use LogicalType::*;
    let [field] = columns.fields() else {
        return Err(Error::new(&ONE_COLUMN, &[("format", &"raw"), ("count", &columns.len())]));
    };
    match field.sql_type.logical {
        Char(_) | VarChar(_) | Binary(_) | VarBinary(_) | Boolean | TinyInt | SmallInt | Int | BigInt | Float
        | Double => Ok(()),
        _ => {
            let why = "it holds text, bytes, BOOLEAN, whole numbers, FLOAT and DOUBLE";
            let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
                [("format", &"raw"), ("column", &field.name), ("type", &field.sql_type), ("why", &why)];
            Err(Error::new(&BAD_TYPE, &arguments))
        }
    }
}

impl FormatFactory for Raw {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[CHARSET, ENDIANNESS];
        OPTIONS
    }

    fn describe(&self, options: &Options) -> Result<FormatDescription> {
        little_endian(options)?;
        Ok(FormatDescription { decodes: ChangelogMode::APPEND, encodes: ChangelogMode::APPEND, metadata: Vec::new() })
    }

    fn decoder(&self, options: &Options, spec: &DecodeSpec) -> Result<Box<dyn Decoder>> {
        let little_endian = little_endian(options)?;
        check(&spec.table)?;
        let column = |field: &base::Field| Column::new(&field.sql_type, TimestampStandard::Either);
        let column = spec.columns.fields().first().map(column);
        Ok(Box::new(RawDecoder { schema: spec.columns.clone(), column, little_endian }))
    }

    fn encoder(&self, options: &Options, columns: &RowType, _time_zone: chrono_tz::Tz) -> Result<Box<dyn Encoder>> {
        let little_endian = little_endian(options)?;
        check(columns)?;
        Ok(Box::new(RawEncoder { little_endian }))
    }
}

/// Decodes values.
#[derive(Debug)]
struct RawDecoder {
    schema: RowType,
    /// `None` if no column is wanted: then rows are only counted.
    column: Option<Column>,
    little_endian: bool,
}

impl Decoder for RawDecoder {
    fn decode(&mut self, records: &Records) -> Result<Decoded, DecodeError> {
        let mut progress = Progress::default();
        let mut failure = None;
        for (index, record) in records.iter().enumerate() {
            let done = match &mut self.column {
                None => Ok(()),
                Some(column) if records.is_null(index) => column.append_null(),
                Some(column) => append(column, record, self.little_endian),
            };
            if let Err(refusal) = done {
                failure = Some((index, refusal));
                break;
            }
            progress.row(index);
        }
        let columns = self.column.iter_mut().map(Column::finish).collect::<Result<_>>();
        let decoded = columns.and_then(|columns| progress.finish(&self.schema, columns));
        match (decoded, failure) {
            (Ok(decoded), None) => Ok(decoded),
            (Ok(before), Some((record, refusal))) => {
                let error = explain(&self.schema, records.get(record), refusal);
                Err(DecodeError { record, error, before: Box::new(before) })
            }
            (Err(error), _) => Err(unbuilt(0, error, &self.schema)),
        }
    }
}

fn explain(schema: &RowType, record: &[u8], refusal: Refusal) -> Error {
    let (name, sql_type) =
        schema.fields().first().map_or(("?", String::new()), |field| (field.name.as_str(), field.sql_type.to_string()));
    let value = format!("of {} bytes", record.len());
    Error::new(
        if refusal == Refusal::Null { &NULL_VALUE } else { &BAD_VALUE },
        &[("format", &"raw"), ("column", &name), ("type", &sql_type), ("value", &value), ("record", &snippet(record))],
    )
}

fn bytes<const N: usize>(record: &[u8], little_endian: bool) -> Result<[u8; N], Refusal> {
    let mut bytes: [u8; N] = record.try_into().map_err(|_| Refusal::Value)?;
    if little_endian {
        bytes.reverse();
    }
    Ok(bytes)
}

fn append(column: &mut Column, record: &[u8], little_endian: bool) -> Result<(), Refusal> {
    match column.data() {
        Data::Text(values) => values.push(String::from_utf8_lossy(record).as_bytes())?,
        Data::Binary(values) => values.push(record)?,
        Data::Boolean(values) => {
            let [byte] = bytes(record, little_endian)?;
            values.append(byte != 0);
        }
        Data::Int8(values) => values.push(i8::from_be_bytes(bytes(record, little_endian)?)),
        Data::Int16(values) => values.push(i16::from_be_bytes(bytes(record, little_endian)?)),
        Data::Int32(values) => values.push(i32::from_be_bytes(bytes(record, little_endian)?)),
        Data::Int64(values) => values.push(i64::from_be_bytes(bytes(record, little_endian)?)),
        Data::Float32(values) => values.push(f32::from_be_bytes(bytes(record, little_endian)?)),
        Data::Float64(values) => values.push(f64::from_be_bytes(bytes(record, little_endian)?)),
        _ => return Err(Refusal::Value),
    }
    column.appended();
    Ok(())
}

/// Encodes values.
#[derive(Debug)]
struct RawEncoder {
    little_endian: bool,
}

impl Encoder for RawEncoder {
    fn encode(&mut self, batch: &ChangelogBatch, out: &mut Records) -> Result<()> {
        let [column] = batch.records().columns() else { return Err(Error::internal("raw takes one column")) };
        let cells = Cells::new(column.as_ref())?;
        for row in 0..batch.num_rows() {
            if cells.is_null(row) {
                out.push_null();
                continue;
            }
            match &cells.values {
                Values::Text(values) => out.push(values.value(row).as_bytes()),
                Values::Binary(values) => out.push(values.value(row)),
                Values::Boolean(values) => out.push(&[u8::from(values.value(row))]),
                Values::Int8(values) => self.push(out, values[row].to_be_bytes()),
                Values::Int16(values) => self.push(out, values[row].to_be_bytes()),
                Values::Int32(values) => self.push(out, values[row].to_be_bytes()),
                Values::Int64(values) => self.push(out, values[row].to_be_bytes()),
                Values::Float32(values) => self.push(out, values[row].to_be_bytes()),
                Values::Float64(values) => self.push(out, values[row].to_be_bytes()),
                _ => return Err(Error::internal("raw was given a column type it refuses")),
            }
        }
        Ok(())
    }
}

impl RawEncoder {
    fn push<const N: usize>(&self, out: &mut Records, mut bytes: [u8; N]) {
        if self.little_endian {
            bytes.reverse();
        }
        out.push(&bytes);
    }
}

#[cfg(test)]
#[path = "raw_tests.rs"]
mod tests;
