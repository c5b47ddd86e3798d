//! Text of every type, as Flink's SQL client shows it and as CAST to STRING gives it.

use arrow::array::*;
use arrow::buffer::NullBuffer;
use arrow::datatypes::*;
use base::text::{self, Fraction};
use base::{Error, LogicalType, Result, SqlType};
use chrono_tz::Tz;
use std::fmt::Write;

/// The text of every value: `TRUE`, `1.0E7`, `2024-01-02 03:04:05.000`, `x'6162'`, `(a, NULL)`, `[1, 2]`, `{k=v}`.
///
/// # Errors
/// An Arrow type that does not fit the SQL type is a bug of the caller.
pub fn to_text(array: &ArrayRef, sql_type: &SqlType, zone: Tz) -> Result<StringArray> {
    let printer = Printer::new(array.as_ref(), sql_type, zone)?;
    let mut out = StringBuilder::with_capacity(array.len(), array.len() * 8);
    let mut text = String::new();
    for row in 0..array.len() {
        if printer.is_null(row) {
            out.append_null();
        } else {
            text.clear();
            printer.write(&mut text, row);
            out.append_value(&text);
        }
    }
    Ok(out.finish())
}

/// Writes values of one column; made once per column, nested columns included.
pub(crate) struct Printer<'a> {
    nulls: Option<&'a NullBuffer>,
    values: Column<'a>,
}

enum Column<'a> {
    Null,
    Boolean(&'a BooleanArray),
    TinyInt(&'a [i8]),
    SmallInt(&'a [i16]),
    Int(&'a [i32]),
    BigInt(&'a [i64]),
    Float(&'a [f32]),
    Double(&'a [f64]),
    Decimal(&'a [i128], u8),
    Text(&'a StringArray),
    Variant(&'a LargeStringArray),
    Bitmap(&'a LargeBinaryArray),
    Bytes(&'a BinaryArray),
    Date(&'a [i32]),
    Time(&'a [i32], u8),
    Timestamp { values: &'a [i64], unit: TimeUnit, precision: u8, zone: Option<Tz> },
    Months(&'a [i32]),
    Milliseconds(&'a [i64]),
    List(&'a ListArray, Box<Printer<'a>>),
    Map(&'a MapArray, Box<Printer<'a>>, Box<Printer<'a>>),
    Row(Vec<Printer<'a>>),
    Structured(Vec<(String, Printer<'a>)>),
}

impl<'a> Printer<'a> {
    pub fn new(array: &'a dyn Array, sql_type: &SqlType, zone: Tz) -> Result<Printer<'a>> {
        use LogicalType as L;
        macro_rules! values {
            ($type:ty) => {
                array.as_primitive_opt::<$type>().ok_or_else(|| mismatch(array, sql_type))?.values()
            };
        }
        let values = match &sql_type.logical {
            L::Null => Column::Null,
            L::Boolean => Column::Boolean(array.as_boolean_opt().ok_or_else(|| mismatch(array, sql_type))?),
            L::TinyInt => Column::TinyInt(values!(Int8Type)),
            L::SmallInt => Column::SmallInt(values!(Int16Type)),
            L::Int => Column::Int(values!(Int32Type)),
            L::BigInt => Column::BigInt(values!(Int64Type)),
            L::Float => Column::Float(values!(Float32Type)),
            L::Double => Column::Double(values!(Float64Type)),
            L::Decimal { scale, .. } => Column::Decimal(values!(Decimal128Type), *scale),
            L::Char(_) | L::VarChar(_) => {
                Column::Text(array.as_string_opt::<i32>().ok_or_else(|| mismatch(array, sql_type))?)
            }
            L::Binary(_) | L::VarBinary(_) => {
                Column::Bytes(array.as_binary_opt::<i32>().ok_or_else(|| mismatch(array, sql_type))?)
            }
            L::Date => Column::Date(values!(Date32Type)),
            L::Time(precision) => Column::Time(values!(Time32MillisecondType), *precision),
            L::Timestamp(precision) | L::TimestampLtz(precision) => {
                let zone = matches!(sql_type.logical, L::TimestampLtz(_)).then_some(zone);
                let (values, unit): (&[i64], _) = match array.data_type() {
                    DataType::Timestamp(TimeUnit::Microsecond, _) => {
                        (values!(TimestampMicrosecondType), TimeUnit::Microsecond)
                    }
                    DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                        (values!(TimestampNanosecondType), TimeUnit::Nanosecond)
                    }
                    _ => (values!(TimestampMillisecondType), TimeUnit::Millisecond),
                };
                Column::Timestamp { values, unit, precision: *precision, zone }
            }
            L::IntervalYearMonth => Column::Months(values!(IntervalYearMonthType)),
            L::IntervalDayTime => Column::Milliseconds(values!(DurationMillisecondType)),
            L::Array(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(|| mismatch(array, sql_type))?;
                Column::List(list, Box::new(Printer::new(list.values().as_ref(), element, zone)?))
            }
            L::Map(key, value) => Self::map(array, key, value, zone)?,
            L::Multiset(element) => Self::map(array, element, &LogicalType::Int.not_null(), zone)?,
            L::Variant => Column::Variant(array.as_string_opt::<i64>().ok_or_else(|| mismatch(array, sql_type))?),
            L::Bitmap => Column::Bitmap(array.as_binary_opt::<i64>().ok_or_else(|| mismatch(array, sql_type))?),
            L::Row(fields) | L::Structured(_, fields) => {
                let row = array.as_struct_opt().ok_or_else(|| mismatch(array, sql_type))?;
                let printers = row
                    .columns()
                    .iter()
                    .zip(fields)
                    .map(|(column, (_, field))| Printer::new(column.as_ref(), field, zone))
                    .collect::<Result<Vec<_>>>()?;
                match &sql_type.logical {
                    L::Row(_) => Column::Row(printers),
                    _ => Column::Structured(fields.iter().map(|(name, _)| name.clone()).zip(printers).collect()),
                }
            }
        };
        Ok(Printer { nulls: array.nulls(), values })
    }

    fn map(array: &'a dyn Array, key: &SqlType, value: &SqlType, zone: Tz) -> Result<Column<'a>> {
        let map = array.as_map_opt().ok_or_else(|| Error::internal("a map column is not a map"))?;
        let key = Printer::new(map.keys().as_ref(), key, zone)?;
        let value = Printer::new(map.values().as_ref(), value, zone)?;
        Ok(Column::Map(map, Box::new(key), Box::new(value)))
    }

    pub fn is_null(&self, row: usize) -> bool {
        matches!(self.values, Column::Null) || self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// Appends the text of a value, `NULL` for NULL.
    pub fn write(&self, out: &mut String, row: usize) {
        if self.is_null(row) {
            out.push_str("NULL");
            return;
        }
        match &self.values {
            Column::Null => {}
            Column::Boolean(values) => out.push_str(if values.value(row) { "TRUE" } else { "FALSE" }),
            Column::TinyInt(values) => text::push_integer(out, i64::from(values[row])),
            Column::SmallInt(values) => text::push_integer(out, i64::from(values[row])),
            Column::Int(values) => text::push_integer(out, i64::from(values[row])),
            Column::BigInt(values) => text::push_integer(out, values[row]),
            Column::Float(values) => text::push_float(out, values[row]),
            Column::Double(values) => text::push_double(out, values[row]),
            Column::Decimal(values, scale) => text::push_decimal(out, values[row], *scale),
            Column::Text(values) => out.push_str(values.value(row)),
            Column::Variant(values) => out.push_str(values.value(row)),
            Column::Bitmap(values) => crate::scalar::bitmaps::push_text(out, values.value(row)),
            Column::Bytes(values) => push_bytes(out, values.value(row)),
            Column::Date(values) => text::push_date(out, values[row]),
            Column::Time(values, precision) => push_time(out, values[row], *precision),
            Column::Timestamp { values, unit, precision, zone } => {
                let value = local(values[row], *unit, *zone);
                text::push_timestamp(out, value, *unit, ' ', Fraction::Fixed(*precision));
            }
            Column::Months(values) => push_months(out, values[row]),
            Column::Milliseconds(values) => push_milliseconds(out, values[row]),
            Column::List(list, element) => {
                let offsets = list.value_offsets();
                out.push('[');
                for (index, at) in (offsets[row] as usize..offsets[row + 1] as usize).enumerate() {
                    separate(out, index);
                    element.write(out, at);
                }
                out.push(']');
            }
            Column::Map(map, key, value) => {
                let offsets = map.value_offsets();
                out.push('{');
                for (index, at) in (offsets[row] as usize..offsets[row + 1] as usize).enumerate() {
                    separate(out, index);
                    key.write(out, at);
                    out.push('=');
                    value.write(out, at);
                }
                out.push('}');
            }
            Column::Structured(fields) => {
                out.push('(');
                for (index, (name, field)) in fields.iter().enumerate() {
                    separate(out, index);
                    out.push_str(name);
                    out.push('=');
                    field.write(out, row);
                }
                out.push(')');
            }
            Column::Row(fields) => {
                out.push('(');
                for (index, field) in fields.iter().enumerate() {
                    separate(out, index);
                    field.write(out, row);
                }
                out.push(')');
            }
        }
    }
}

fn mismatch(array: &dyn Array, sql_type: &SqlType) -> Error {
    Error::internal(format!("a column of type {sql_type} is stored as {}", array.data_type()))
}

/// The wall-clock reading of an instant, in its unit; a TIMESTAMP is one already.
pub(crate) fn local(value: i64, unit: TimeUnit, zone: Option<Tz>) -> i64 {
    let Some(zone) = zone else { return value };
    let per_ms = text::units_per_second(unit) / 1_000;
    value.wrapping_add(text::zone_offset_ms(zone, value.div_euclid(per_ms)).wrapping_mul(per_ms))
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push_str(", ");
    }
}

fn push_bytes(out: &mut String, bytes: &[u8]) {
    out.push_str("x'");
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out.push('\'');
}

fn push_months(out: &mut String, months: i32) {
    let sign = if months < 0 { '-' } else { '+' };
    let months = months.unsigned_abs();
    let _ = write!(out, "{sign}{}-{:02}", months / 12, months % 12);
}

fn push_milliseconds(out: &mut String, value: i64) {
    let sign = if value < 0 { '-' } else { '+' };
    let ms = value.unsigned_abs();
    let (days, of_day) = (ms / 86_400_000, ms % 86_400_000);
    let (seconds, ms) = (of_day / 1_000, of_day % 1_000);
    let _ = write!(out, "{sign}{days} {:02}:{:02}:{:02}.{ms:03}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
}

/// A TIME as CAST writes it: no zeros at the end of its fraction but for the first digit.
fn push_time(out: &mut String, ms_of_day: i32, precision: u8) {
    text::push_time(out, ms_of_day, precision);
    if precision > 1 {
        let end = out.trim_end_matches('0').len();
        out.truncate(if out[..end].ends_with('.') { end + 1 } else { end });
    }
}
