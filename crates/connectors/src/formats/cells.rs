//! Arrow columns seen by encoders: typed once per batch, then written value by value into one buffer.

use arrow::array::*;
use arrow::buffer::NullBuffer;
use arrow::datatypes::*;
use base::text::{self, Fraction};
use base::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

/// The values of a column.
#[derive(Debug)]
pub enum Values<'a> {
    /// Only NULL.
    Null,
    /// BOOLEAN.
    Boolean(&'a BooleanArray),
    /// TINYINT.
    Int8(&'a [i8]),
    /// SMALLINT.
    Int16(&'a [i16]),
    /// INT, and INTERVAL YEAR TO MONTH in months.
    Int32(&'a [i32]),
    /// BIGINT, and INTERVAL DAY TO SECOND in milliseconds.
    Int64(&'a [i64]),
    /// FLOAT.
    Float32(&'a [f32]),
    /// DOUBLE.
    Float64(&'a [f64]),
    /// DECIMAL: unscaled values and the scale.
    Decimal(&'a [i128], u8),
    /// CHAR and VARCHAR.
    Text(&'a StringArray),
    /// BINARY and VARBINARY.
    Binary(&'a BinaryArray),
    /// DATE.
    Date(&'a [i32]),
    /// TIME in milliseconds of the day.
    Time(&'a [i32]),
    /// TIMESTAMP, and TIMESTAMP_LTZ if the last part is true.
    Timestamp(&'a [i64], TimeUnit, bool),
    /// ARRAY.
    Array(&'a ListArray, Box<Cells<'a>>),
    /// MAP and MULTISET.
    Map(&'a MapArray, Box<Cells<'a>>, Box<Cells<'a>>),
    /// ROW.
    Row(Vec<Cells<'a>>),
}

/// A column of a batch that is being written.
#[derive(Debug)]
pub struct Cells<'a> {
    nulls: Option<&'a NullBuffer>,
    all_null: bool,
    /// The values; those of NULL cells mean nothing.
    pub values: Values<'a>,
}

/// How a value without parts is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// As a number or boolean.
    Bare,
    /// As text of plain characters that needs no escapes.
    Plain,
    /// As any text.
    Text,
}

/// The forms that options choose.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// What stands between date and time.
    pub separator: char,
    /// How decimals are written.
    pub decimals: DecimalStyle,
}

/// How decimals are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalStyle {
    /// `1E+2`, `12.5`.
    Scientific,
    /// `100`, `12.5`.
    PlainStripped,
    /// `100.00`, `12.50`.
    PlainFull,
}

fn values_of<T: ArrowPrimitiveType>(array: &dyn Array) -> &[T::Native] {
    array.as_primitive::<T>().values()
}

impl<'a> Cells<'a> {
    /// The values of `array`.
    ///
    /// # Errors
    /// An Arrow type that no SQL type uses is an internal error.
    pub fn new(array: &'a dyn Array) -> Result<Cells<'a>> {
        let values = match array.data_type() {
            DataType::Null => Values::Null,
            DataType::Boolean => Values::Boolean(array.as_boolean()),
            DataType::Int8 => Values::Int8(values_of::<Int8Type>(array)),
            DataType::Int16 => Values::Int16(values_of::<Int16Type>(array)),
            DataType::Int32 => Values::Int32(values_of::<Int32Type>(array)),
            DataType::Int64 => Values::Int64(values_of::<Int64Type>(array)),
            DataType::Float32 => Values::Float32(values_of::<Float32Type>(array)),
            DataType::Float64 => Values::Float64(values_of::<Float64Type>(array)),
            DataType::Decimal128(_, scale) => {
                Values::Decimal(values_of::<Decimal128Type>(array), (*scale).max(0) as u8)
            }
            DataType::Utf8 => Values::Text(array.as_string()),
            DataType::Binary => Values::Binary(array.as_binary()),
            DataType::Date32 => Values::Date(values_of::<Date32Type>(array)),
            DataType::Time32(TimeUnit::Millisecond) => Values::Time(values_of::<Time32MillisecondType>(array)),
            DataType::Interval(IntervalUnit::YearMonth) => Values::Int32(values_of::<IntervalYearMonthType>(array)),
            DataType::Duration(TimeUnit::Millisecond) => Values::Int64(values_of::<DurationMillisecondType>(array)),
            DataType::Timestamp(unit, zone) => {
                let values = match unit {
                    TimeUnit::Second => values_of::<TimestampSecondType>(array),
                    TimeUnit::Millisecond => values_of::<TimestampMillisecondType>(array),
                    TimeUnit::Microsecond => values_of::<TimestampMicrosecondType>(array),
                    TimeUnit::Nanosecond => values_of::<TimestampNanosecondType>(array),
                };
                Values::Timestamp(values, *unit, zone.is_some())
            }
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                Values::Array(list, Box::new(Cells::new(list.values().as_ref())?))
            }
            DataType::Map(..) => {
                let map = array.as_map();
                let (keys, values) = (Cells::new(map.keys().as_ref())?, Cells::new(map.values().as_ref())?);
                Values::Map(map, Box::new(keys), Box::new(values))
            }
            DataType::Struct(_) => {
                let columns = array.as_struct().columns();
                Values::Row(columns.iter().map(|column| Cells::new(column.as_ref())).collect::<Result<_>>()?)
            }
            other => return Err(Error::internal(format!("a format was given a column of Arrow type {other}"))),
        };
        Ok(Cells { nulls: array.nulls(), all_null: matches!(values, Values::Null), values })
    }

    /// Whether a cell is NULL.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.all_null || self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// How the values are written; `None` for values with parts.
    pub fn spelling(&self) -> Option<Spelling> {
        Some(match &self.values {
            Values::Null
            | Values::Boolean(_)
            | Values::Int8(_)
            | Values::Int16(_)
            | Values::Int32(_)
            | Values::Int64(_)
            | Values::Float32(_)
            | Values::Float64(_)
            | Values::Decimal(..) => Spelling::Bare,
            Values::Text(_) => Spelling::Text,
            Values::Binary(_) | Values::Date(_) | Values::Time(_) | Values::Timestamp(..) => Spelling::Plain,
            Values::Array(..) | Values::Map(..) | Values::Row(_) => return None,
        })
    }

    /// Whether a cell is a number that only has a name: NaN and the infinities.
    pub fn is_named_number(&self, row: usize) -> bool {
        match &self.values {
            Values::Float32(values) => !values[row].is_finite(),
            Values::Float64(values) => !values[row].is_finite(),
            _ => false,
        }
    }

    /// Appends the text of a cell without quotes or escapes. Values with parts append nothing.
    pub fn push(&self, out: &mut String, row: usize, style: Style) {
        match &self.values {
            Values::Boolean(values) => out.push_str(if values.value(row) { "true" } else { "false" }),
            Values::Int8(values) => text::push_integer(out, values[row].into()),
            Values::Int16(values) => text::push_integer(out, values[row].into()),
            Values::Int32(values) => text::push_integer(out, values[row].into()),
            Values::Int64(values) => text::push_integer(out, values[row]),
            Values::Float32(values) => text::push_float(out, values[row]),
            Values::Float64(values) => text::push_double(out, values[row]),
            Values::Decimal(values, scale) => push_decimal(out, values[row], *scale, style.decimals),
            Values::Text(values) => out.push_str(values.value(row)),
            Values::Binary(values) => BASE64.encode_string(values.value(row), out),
            Values::Date(values) => text::push_date(out, values[row]),
            Values::Time(values) => push_time(out, values[row]),
            Values::Timestamp(values, unit, instant) => {
                text::push_timestamp(out, values[row], *unit, style.separator, Fraction::Trimmed);
                if *instant {
                    out.push('Z');
                }
            }
            Values::Null | Values::Array(..) | Values::Map(..) | Values::Row(_) => {}
        }
    }
}

fn push_decimal(out: &mut String, unscaled: i128, scale: u8, style: DecimalStyle) {
    match style {
        DecimalStyle::Scientific => text::push_decimal_java(out, unscaled, scale),
        DecimalStyle::PlainFull => text::push_decimal(out, unscaled, scale),
        DecimalStyle::PlainStripped => {
            text::push_decimal(out, unscaled, scale);
            if scale > 0 {
                out.truncate(out.trim_end_matches('0').len());
                out.truncate(out.trim_end_matches('.').len());
            }
        }
    }
}

/// A TIME with its fraction as far as there is one.
fn push_time(out: &mut String, ms_of_day: i32) {
    if ms_of_day % 1000 == 0 {
        text::push_time(out, ms_of_day, 0);
    } else {
        text::push_time(out, ms_of_day, 3);
        out.truncate(out.trim_end_matches('0').len());
    }
}
