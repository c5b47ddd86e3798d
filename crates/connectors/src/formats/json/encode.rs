//! The encoder: rows to objects, fields in the order of the columns, without blanks. Formats of changes put a frame around
//! the object that says what became of the row.

use super::options::{JsonOptions, NullKey};
use super::reader::escape;
use crate::formats::cells::{Cells, DecimalStyle, Spelling, Style, Values};
use crate::formats::codes::NULL_KEY;
use crate::formats::value::TimestampStandard;
use arrow::array::Array;
use base::format::{Encoder, Records};
use base::{ChangelogBatch, Error, LogicalType, Result, RowType, SqlType};

/// What is written before and behind an object.
pub type Frame = [&'static str; 2];

/// Encodes objects, each inside the frame of its row kind.
#[derive(Debug)]
pub struct JsonEncoder {
    format: &'static str,
    columns: Vec<Named>,
    form: Form,
    addition: Frame,
    removal: Frame,
    line: String,
}

/// A field: its key with quotes and colon, and what is inside.
#[derive(Debug)]
struct Named {
    name: String,
    key: String,
    shape: Shape,
}

/// What the names inside a value are.
#[derive(Debug)]
enum Shape {
    Scalar,
    Element(Box<Shape>),
    Row(Vec<Named>),
}

/// The forms that options choose.
#[derive(Debug)]
struct Form {
    style: Style,
    null_key: NullKey,
    skip_nulls: bool,
}

impl Named {
    fn new(name: &str, sql_type: &SqlType) -> Named {
        let mut key = String::from("\"");
        push_escaped(&mut key, name);
        key.push_str("\":");
        Named { name: name.to_string(), key, shape: Shape::new(sql_type) }
    }
}

impl Shape {
    fn new(sql_type: &SqlType) -> Shape {
        match &sql_type.logical {
            LogicalType::Array(element) | LogicalType::Map(_, element) => Shape::Element(Box::new(Shape::new(element))),
            LogicalType::Multiset(_) => Shape::Element(Box::new(Shape::Scalar)),
            LogicalType::Row(fields) | LogicalType::Structured(_, fields) => {
                Shape::Row(fields.iter().map(|(name, t)| Named::new(name, t)).collect())
            }
            _ => Shape::Scalar,
        }
    }
}

impl JsonEncoder {
    /// An encoder of rows of `columns`.
    pub fn new(options: JsonOptions, columns: &RowType) -> JsonEncoder {
        JsonEncoder::framed("json", options, columns, [""; 2], [""; 2])
    }

    /// An encoder of another format, with the frames of rows that are added and of rows that are taken away.
    pub fn framed(
        format: &'static str,
        options: JsonOptions,
        columns: &RowType,
        addition: Frame,
        removal: Frame,
    ) -> JsonEncoder {
        let style = Style {
            separator: if options.standard == TimestampStandard::Iso { 'T' } else { ' ' },
            decimals: if options.plain_decimals { DecimalStyle::PlainFull } else { DecimalStyle::Scientific },
        };
        JsonEncoder {
            format,
            addition,
            removal,
            columns: columns.fields().iter().map(|field| Named::new(&field.name, &field.sql_type)).collect(),
            form: Form { style, null_key: options.null_key, skip_nulls: options.skip_nulls },
            line: String::new(),
        }
    }
}

impl Encoder for JsonEncoder {
    fn encode(&mut self, batch: &ChangelogBatch, out: &mut Records) -> Result<()> {
        let columns = batch.records().columns();
        let cells = columns.iter().map(|column| Cells::new(column.as_ref())).collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let [before, behind] = if batch.kind(row).is_addition() { self.addition } else { self.removal };
            self.line.clear();
            self.line.push_str(before);
            push_object(&mut self.line, &cells, &self.columns, row, &self.form)
                .map_err(|error| error.with("format", self.format))?;
            self.line.push_str(behind);
            out.push(self.line.as_bytes());
        }
        Ok(())
    }
}

fn push_object(out: &mut String, cells: &[Cells<'_>], fields: &[Named], row: usize, form: &Form) -> Result<()> {
    out.push('{');
    let mut comma = false;
    for (cells, field) in cells.iter().zip(fields) {
        if form.skip_nulls && cells.is_null(row) {
            continue;
        }
        if comma {
            out.push(',');
        }
        comma = true;
        out.push_str(&field.key);
        push_value(out, cells, &field.shape, row, form).map_err(|error| error.with("column", &field.name))?;
    }
    out.push('}');
    Ok(())
}

fn push_value(out: &mut String, cells: &Cells<'_>, shape: &Shape, row: usize, form: &Form) -> Result<()> {
    if cells.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    match (&cells.values, shape) {
        (Values::Text(values), _) => {
            out.push('"');
            push_escaped(out, values.value(row));
            out.push('"');
        }
        (Values::Array(list, elements), Shape::Element(shape)) => {
            let (start, end) = range(list.value_offsets(), row);
            out.push('[');
            for index in start..end {
                if index > start {
                    out.push(',');
                }
                push_value(out, elements, shape, index, form)?;
            }
            out.push(']');
        }
        (Values::Map(map, keys, values), Shape::Element(shape)) => {
            let (start, end) = range(map.value_offsets(), row);
            push_map(out, keys, values, shape, start..end, form)?;
        }
        (Values::Row(fields), Shape::Row(named)) => push_object(out, fields, named, row, form)?,
        _ => {
            let quoted = cells.spelling() != Some(Spelling::Bare) || cells.is_named_number(row);
            if quoted {
                out.push('"');
            }
            cells.push(out, row, form.style);
            if quoted {
                out.push('"');
            }
        }
    }
    Ok(())
}

/// The part of the values that belongs to one row.
fn range(offsets: &[i32], row: usize) -> (usize, usize) {
    (offsets[row] as usize, offsets[row + 1] as usize)
}

fn push_map(
    out: &mut String,
    keys: &Cells<'_>,
    values: &Cells<'_>,
    shape: &Shape,
    entries: std::ops::Range<usize>,
    form: &Form,
) -> Result<()> {
    let Values::Text(texts) = &keys.values else { return Err(Error::internal("JSON map with keys that are no text")) };
    out.push('{');
    let mut comma = false;
    for index in entries {
        let key = match (texts.is_null(index), &form.null_key) {
            (false, _) => texts.value(index),
            (true, NullKey::Literal(literal)) => literal,
            (true, NullKey::Drop) => continue,
            (true, NullKey::Fail) => return Err(Error::new(&NULL_KEY, &[])),
        };
        if comma {
            out.push(',');
        }
        comma = true;
        out.push('"');
        push_escaped(out, key);
        out.push_str("\":");
        push_value(out, values, shape, index, form)?;
    }
    out.push('}');
    Ok(())
}

/// Appends text with the escapes that JSON needs.
fn push_escaped(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push_str(text);
    } else {
        let mut escaped = Vec::with_capacity(text.len() + 16);
        escape(text.as_bytes(), &mut escaped);
        // Escaping replaces whole characters by ASCII, so nothing is lost here.
        out.push_str(&String::from_utf8_lossy(&escaped));
    }
}
