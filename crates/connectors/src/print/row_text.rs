//! The text of a row as Flink's print connector writes it: Java's `toString` of the row's objects.

use arrow::array::*;
use arrow::datatypes::*;
use base::text;
use base::{ChangelogBatch, Error, LogicalType, Result, RowType, SqlType};
use std::fmt::Write;

/// The columns of a batch, ready to be written cell by cell.
pub(super) struct RowText<'a> {
    batch: &'a ChangelogBatch,
    cells: Vec<Cells<'a>>,
}

impl<'a> RowText<'a> {
    /// Looks at every column once.
    pub fn new(batch: &'a ChangelogBatch, columns: &RowType) -> Result<RowText<'a>> {
        let arrays = batch.records().columns().iter();
        let cells = arrays
            .zip(columns.fields())
            .map(|(array, field)| Cells::new(array, &field.sql_type))
            .collect::<Result<_>>()?;
        Ok(RowText { batch, cells })
    }

    /// One line per row.
    pub fn push_lines(&self, prefix: &str, out: &mut String) {
        for row in 0..self.batch.num_rows() {
            out.push_str(prefix);
            out.push_str(self.batch.kind(row).short());
            push_list(out, '[', ']', self.cells.iter(), |out, cells| cells.push(row, out));
            out.push('\n');
        }
    }
}

fn push_list<T>(
    out: &mut String,
    open: char,
    close: char,
    items: impl Iterator<Item = T>,
    push: impl Fn(&mut String, T),
) {
    out.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        push(out, item);
    }
    out.push(close);
}

/// A column with its typed values.
struct Cells<'a> {
    nulls: Option<&'a arrow::buffer::NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    Null,
    Boolean(&'a BooleanArray),
    TinyInt(&'a Int8Array),
    SmallInt(&'a Int16Array),
    Int(&'a Int32Array),
    BigInt(&'a Int64Array),
    Float(&'a Float32Array),
    Double(&'a Float64Array),
    Decimal(&'a Decimal128Array, u8),
    Text(&'a StringArray),
    Variant(&'a LargeStringArray),
    Bytes(&'a BinaryArray),
    Date(&'a Date32Array),
    Time(&'a Time32MillisecondArray),
    /// Nanoseconds by multiplication; `true` for an instant.
    Timestamp(&'a [i64], i64, bool),
    Months(&'a IntervalYearMonthArray),
    Milliseconds(&'a DurationMillisecondArray),
    List(&'a ListArray, Box<Cells<'a>>),
    Map(&'a MapArray, Box<Cells<'a>>, Box<Cells<'a>>),
    Row(Vec<Cells<'a>>),
}

impl<'a> Cells<'a> {
    fn new(array: &'a dyn Array, sql_type: &SqlType) -> Result<Cells<'a>> {
        use LogicalType as L;
        let values = match &sql_type.logical {
            L::Null => Values::Null,
            L::Boolean => Values::Boolean(array.as_boolean()),
            L::TinyInt => Values::TinyInt(array.as_primitive::<Int8Type>()),
            L::SmallInt => Values::SmallInt(array.as_primitive::<Int16Type>()),
            L::Int => Values::Int(array.as_primitive::<Int32Type>()),
            L::BigInt => Values::BigInt(array.as_primitive::<Int64Type>()),
            L::Float => Values::Float(array.as_primitive::<Float32Type>()),
            L::Double => Values::Double(array.as_primitive::<Float64Type>()),
            L::Decimal { scale, .. } => Values::Decimal(array.as_primitive::<Decimal128Type>(), *scale),
            L::Char(_) | L::VarChar(_) => Values::Text(array.as_string::<i32>()),
            L::Binary(_) | L::VarBinary(_) => Values::Bytes(array.as_binary::<i32>()),
            L::Date => Values::Date(array.as_primitive::<Date32Type>()),
            L::Time(_) => Values::Time(array.as_primitive::<Time32MillisecondType>()),
            L::Timestamp(_) => timestamp(array, false)?,
            L::TimestampLtz(_) => timestamp(array, true)?,
            L::IntervalYearMonth => Values::Months(array.as_primitive::<IntervalYearMonthType>()),
            L::IntervalDayTime => Values::Milliseconds(array.as_primitive::<DurationMillisecondType>()),
            L::Array(element) => {
                let list = array.as_list::<i32>();
                Values::List(list, Box::new(Cells::new(list.values(), element)?))
            }
            L::Map(key, value) => map(array.as_map(), key, value)?,
            L::Multiset(element) => map(array.as_map(), element, &L::Int.not_null())?,
            L::Variant => Values::Variant(array.as_string::<i64>()),
            L::Bitmap => return Err(Error::unsupported("printing BITMAP; write BITMAP_TO_STRING(x)")),
            L::Row(fields) | L::Structured(_, fields) => Values::Row(
                array
                    .as_struct()
                    .columns()
                    .iter()
                    .zip(fields)
                    .map(|(column, (_, sql_type))| Cells::new(column, sql_type))
                    .collect::<Result<_>>()?,
            ),
        };
        Ok(Cells { nulls: array.nulls(), values })
    }

    fn push(&self, row: usize, out: &mut String) {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            out.push_str("null");
            return;
        }
        match &self.values {
            Values::Null => out.push_str("null"),
            Values::Boolean(array) => out.push_str(if array.value(row) { "true" } else { "false" }),
            Values::TinyInt(array) => text::push_integer(out, array.value(row).into()),
            Values::SmallInt(array) => text::push_integer(out, array.value(row).into()),
            Values::Int(array) => text::push_integer(out, array.value(row).into()),
            Values::BigInt(array) => text::push_integer(out, array.value(row)),
            Values::Float(array) => text::push_float(out, array.value(row)),
            Values::Double(array) => text::push_double(out, array.value(row)),
            Values::Decimal(array, scale) => push_big_decimal(out, array.value(row), *scale),
            Values::Text(array) => out.push_str(array.value(row)),
            Values::Variant(array) => out.push_str(array.value(row)),
            Values::Bytes(array) => push_list(out, '[', ']', array.value(row).iter(), |out, byte| {
                // Java's bytes are signed.
                text::push_integer(out, i64::from(*byte as i8));
            }),
            Values::Date(array) => text::push_date(out, array.value(row)),
            Values::Time(array) => push_local_time(out, i64::from(array.value(row)) * 1_000_000, false),
            Values::Timestamp(values, to_nanos, instant) => push_timestamp(out, values[row], *to_nanos, *instant),
            Values::Months(array) => push_period(out, array.value(row)),
            Values::Milliseconds(array) => push_duration(out, array.value(row)),
            Values::List(array, elements) => {
                push_list(out, '[', ']', range(array.value_offsets(), row), |out, index| elements.push(index, out));
            }
            Values::Map(array, keys, values) => {
                push_list(out, '{', '}', range(array.value_offsets(), row), |out, index| {
                    keys.push(index, out);
                    out.push('=');
                    values.push(index, out);
                });
            }
            Values::Row(fields) => {
                out.push_str("+I");
                push_list(out, '[', ']', fields.iter(), |out, cells| cells.push(row, out));
            }
        }
    }
}

fn range(offsets: &[i32], row: usize) -> std::ops::Range<usize> {
    offsets[row] as usize..offsets[row + 1] as usize
}

fn map<'a>(array: &'a MapArray, key: &SqlType, value: &SqlType) -> Result<Values<'a>> {
    let (keys, values) = (Cells::new(array.keys(), key)?, Cells::new(array.values(), value)?);
    Ok(Values::Map(array, Box::new(keys), Box::new(values)))
}

fn timestamp(array: &dyn Array, instant: bool) -> Result<Values<'_>> {
    Ok(match array.data_type() {
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            Values::Timestamp(array.as_primitive::<TimestampMillisecondType>().values(), 1_000_000, instant)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            Values::Timestamp(array.as_primitive::<TimestampMicrosecondType>().values(), 1_000, instant)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            Values::Timestamp(array.as_primitive::<TimestampNanosecondType>().values(), 1, instant)
        }
        other => return Err(Error::internal(format!("a timestamp column of Arrow type {other}"))),
    })
}

/// `BigDecimal.toString`: plain, but with an exponent when more than six zeros would follow the point.
fn push_big_decimal(out: &mut String, unscaled: i128, scale: u8) {
    let digits = unscaled.unsigned_abs().checked_ilog10().unwrap_or(0) as i32 + 1;
    let exponent = digits - 1 - i32::from(scale);
    if exponent >= -6 {
        return text::push_decimal(out, unscaled, scale);
    }
    let all = unscaled.unsigned_abs().to_string();
    let (first, rest) = all.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if unscaled < 0 { "-" } else { "" };
    let _ = write!(out, "{sign}{first}{point}{rest}E{exponent}");
}

/// `LocalDateTime.toString` and, for an instant, `Instant.toString`.
fn push_timestamp(out: &mut String, value: i64, to_nanos: i64, instant: bool) {
    let per_day = 86_400 * (1_000_000_000 / to_nanos);
    text::push_date(out, value.div_euclid(per_day) as i32);
    out.push('T');
    push_local_time(out, value.rem_euclid(per_day) * to_nanos, instant);
    if instant {
        out.push('Z');
    }
}

/// `LocalTime.toString`: seconds only if there are any, the fraction in groups of three digits.
fn push_local_time(out: &mut String, nanos_of_day: i64, always_seconds: bool) {
    let (seconds, nanos) = (nanos_of_day / 1_000_000_000, nanos_of_day % 1_000_000_000);
    let _ = write!(out, "{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if always_seconds || seconds % 60 != 0 || nanos != 0 {
        let _ = write!(out, ":{:02}", seconds % 60);
    }
    let _ = match nanos {
        0 => Ok(()),
        nanos if nanos % 1_000_000 == 0 => write!(out, ".{:03}", nanos / 1_000_000),
        nanos if nanos % 1_000 == 0 => write!(out, ".{:06}", nanos / 1_000),
        nanos => write!(out, ".{nanos:09}"),
    };
}

/// `Period.toString` of years and months.
fn push_period(out: &mut String, months: i32) {
    let (years, rest) = (months / 12, months % 12);
    let _ = match (years, rest) {
        (0, 0) => write!(out, "P0D"),
        (years, 0) => write!(out, "P{years}Y"),
        (0, rest) => write!(out, "P{rest}M"),
        (years, rest) => write!(out, "P{years}Y{rest}M"),
    };
}

/// `Duration.toString`.
fn push_duration(out: &mut String, ms: i64) {
    if ms == 0 {
        return out.push_str("PT0S");
    }
    out.push_str("PT");
    let (hours, minutes, rest) = (ms / 3_600_000, ms / 60_000 % 60, ms % 60_000);
    if hours != 0 {
        let _ = write!(out, "{hours}H");
    }
    if minutes != 0 {
        let _ = write!(out, "{minutes}M");
    }
    if rest != 0 {
        let sign = if rest < 0 { "-" } else { "" };
        let (seconds, fraction) = (rest.abs() / 1000, rest.abs() % 1000);
        let _ = match fraction {
            0 => write!(out, "{sign}{seconds}S"),
            fraction => {
                let digits = format!("{fraction:03}");
                write!(out, "{sign}{seconds}.{}S", digits.trim_end_matches('0'))
            }
        };
    }
}
