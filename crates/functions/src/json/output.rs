//! Values of any SQL type as JSON text, the keys of objects in order.

use super::value::{push_number, push_quoted};
use arrow::array::*;
use arrow::datatypes::*;
use base::text::{self, Fraction};
use base::{Error, LogicalType, Result, SqlType};
use base64::Engine;
use chrono_tz::Tz;

/// Whether values of a type can be written as JSON. Dates, times of day and intervals have no form there.
pub(crate) fn has_json(sql_type: &SqlType) -> bool {
    use LogicalType as L;
    match &sql_type.logical {
        L::Date | L::Time(_) | L::IntervalDayTime | L::IntervalYearMonth | L::Bitmap => false,
        L::Array(element) => has_json(element),
        L::Map(key, value) => key.logical.is_string() && has_json(value),
        L::Multiset(element) => element.logical.is_string(),
        L::Row(fields) | L::Structured(_, fields) => fields.iter().all(|(_, field)| has_json(field)),
        _ => true,
    }
}

/// Writes the values of one column; made once per column, nested columns included.
pub(crate) struct JsonWriter<'a> {
    array: &'a dyn Array,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Null,
    Scalar(&'a LogicalType),
    List(&'a ListArray, Box<JsonWriter<'a>>),
    Map(&'a MapArray, &'a StringArray, Box<JsonWriter<'a>>),
    /// Fields by name, each name quoted and with its colon.
    Object(Vec<(String, JsonWriter<'a>)>),
}

impl<'a> JsonWriter<'a> {
    pub fn new(array: &'a dyn Array, sql_type: &'a SqlType) -> Result<JsonWriter<'a>> {
        use LogicalType as L;
        let kind = match &sql_type.logical {
            L::Null => Kind::Null,
            L::Array(element) => {
                let list = array.as_list::<i32>();
                Kind::List(list, Box::new(JsonWriter::new(list.values().as_ref(), element)?))
            }
            L::Map(key, value) if key.logical.is_string() => {
                let map = array.as_map();
                let values = JsonWriter::new(map.values().as_ref(), value)?;
                Kind::Map(map, map.keys().as_string::<i32>(), Box::new(values))
            }
            L::Multiset(element) if element.logical.is_string() => {
                let map = array.as_map();
                let counts = JsonWriter { array: map.values().as_ref(), kind: Kind::Scalar(&L::Int) };
                Kind::Map(map, map.keys().as_string::<i32>(), Box::new(counts))
            }
            L::Row(fields) | L::Structured(_, fields) => {
                let columns = array.as_struct().columns();
                let mut named: Vec<(&String, JsonWriter)> = fields
                    .iter()
                    .zip(columns)
                    .map(|((name, field), column)| Ok((name, JsonWriter::new(column.as_ref(), field)?)))
                    .collect::<Result<_>>()?;
                named.sort_by_key(|(name, _)| *name);
                let quoted = named.into_iter().map(|(name, writer)| {
                    let mut quoted = String::new();
                    push_quoted(&mut quoted, name);
                    quoted.push(':');
                    (quoted, writer)
                });
                Kind::Object(quoted.collect())
            }
            logical if has_json(sql_type) => Kind::Scalar(logical),
            other => return Err(Error::unsupported(format!("JSON of values of type {other}"))),
        };
        Ok(JsonWriter { array, kind })
    }

    /// Appends the value of one row.
    pub fn push(&self, out: &mut String, row: usize) -> Result<()> {
        if self.array.is_null(row) || matches!(self.kind, Kind::Null) {
            out.push_str("null");
            return Ok(());
        }
        match &self.kind {
            Kind::Null => {}
            Kind::Scalar(logical) => push_scalar(out, self.array, logical, row)?,
            Kind::List(list, values) => {
                let offsets = list.value_offsets();
                out.push('[');
                for (index, at) in (offsets[row] as usize..offsets[row + 1] as usize).enumerate() {
                    separate(out, index);
                    values.push(out, at)?;
                }
                out.push(']');
            }
            Kind::Map(map, keys, values) => {
                let offsets = map.value_offsets();
                let mut places: Vec<usize> = (offsets[row] as usize..offsets[row + 1] as usize).collect();
                places.sort_by(|a, b| keys.value(*a).cmp(keys.value(*b)));
                out.push('{');
                for (index, at) in places.into_iter().enumerate() {
                    separate(out, index);
                    push_quoted(out, keys.value(at));
                    out.push(':');
                    values.push(out, at)?;
                }
                out.push('}');
            }
            Kind::Object(fields) => {
                out.push('{');
                for (index, (name, values)) in fields.iter().enumerate() {
                    separate(out, index);
                    out.push_str(name);
                    values.push(out, row)?;
                }
                out.push('}');
            }
        }
        Ok(())
    }
}

/// Appends the value of one row of a column that is not looked at again.
pub(crate) fn push_json(out: &mut String, array: &dyn Array, sql_type: &SqlType, row: usize, _zone: Tz) -> Result<()> {
    JsonWriter::new(array, sql_type)?.push(out, row)
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push(',');
    }
}

fn push_scalar(out: &mut String, array: &dyn Array, logical: &LogicalType, row: usize) -> Result<()> {
    use LogicalType as L;
    match logical {
        L::Boolean => out.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
        L::TinyInt => text::push_integer(out, array.as_primitive::<Int8Type>().value(row).into()),
        L::SmallInt => text::push_integer(out, array.as_primitive::<Int16Type>().value(row).into()),
        L::Int => text::push_integer(out, array.as_primitive::<Int32Type>().value(row).into()),
        L::BigInt => text::push_integer(out, array.as_primitive::<Int64Type>().value(row)),
        // A FLOAT is a double to JSON.
        L::Float => push_double(out, array.as_primitive::<Float32Type>().value(row).into()),
        L::Double => push_double(out, array.as_primitive::<Float64Type>().value(row)),
        L::Decimal { scale, .. } => {
            let mut digits = String::new();
            text::push_decimal(&mut digits, array.as_primitive::<Decimal128Type>().value(row), *scale);
            push_number(out, &digits);
        }
        L::Char(_) | L::VarChar(_) => push_quoted(out, array.as_string::<i32>().value(row)),
        L::Variant => out.push_str(array.as_string::<i64>().value(row)),
        L::Binary(_) | L::VarBinary(_) => {
            out.push('"');
            base64::engine::general_purpose::STANDARD.encode_string(array.as_binary::<i32>().value(row), out);
            out.push('"');
        }
        _ => push_timestamp(out, array, logical, row)?,
    }
    Ok(())
}

/// A double as Java's `BigDecimal` writes the text of it; what is no number is a string.
fn push_double(out: &mut String, value: f64) {
    let mut digits = String::new();
    text::push_double(&mut digits, value);
    if value.is_finite() {
        push_number(out, &digits);
    } else {
        push_quoted(out, &digits);
    }
}

fn push_timestamp(out: &mut String, array: &dyn Array, logical: &LogicalType, row: usize) -> Result<()> {
    let (value, unit) = match array.data_type() {
        DataType::Timestamp(unit @ TimeUnit::Millisecond, _) => {
            (array.as_primitive::<TimestampMillisecondType>().value(row), *unit)
        }
        DataType::Timestamp(unit @ TimeUnit::Microsecond, _) => {
            (array.as_primitive::<TimestampMicrosecondType>().value(row), *unit)
        }
        DataType::Timestamp(unit @ TimeUnit::Nanosecond, _) => {
            (array.as_primitive::<TimestampNanosecondType>().value(row), *unit)
        }
        other => return Err(Error::internal(format!("{other} is not a timestamp"))),
    };
    out.push('"');
    text::push_timestamp(out, value, unit, 'T', Fraction::Trimmed);
    if matches!(logical, LogicalType::TimestampLtz(_)) {
        out.push('Z');
    }
    out.push('"');
    Ok(())
}
