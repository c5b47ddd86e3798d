//! Generated columns: draws become Arrow arrays, a column at a time.

use super::draw::{Draw, stream};
use super::fields::{Chosen, FieldGenerator, Integers, Length, Reals, Values};
use arrow::array::*;
use arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::*;
use base::types::INSTANT_ZONE;
use base::{Error, LogicalType, Result};
use std::fmt::Write;
use std::sync::Arc;

/// Which rows to generate, and what they need to know.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The number of each row, from 0.
    pub rows: Vec<u64>,
    /// Which content of the row: 0 as inserted, 1 after its first update.
    pub versions: Vec<u32>,
    /// Event time after the start, in nanoseconds.
    pub event_ns: Vec<u64>,
}

impl Rows {
    /// Adds a row.
    pub fn push(&mut self, row: u64, version: u32, event_ns: u64) {
        self.rows.push(row);
        self.versions.push(version);
        self.event_ns.push(event_ns);
    }
}

/// What all fields of a run share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub seed: u64,
    /// Event time of the first row on the wall clock of the session's time zone, in milliseconds.
    pub start_wall_ms: i64,
    /// The same as an instant.
    pub start_instant_ms: i64,
}

/// A value before it has the column's type.
enum Number {
    Integer(i64),
    Real(f64),
    Unscaled(i128),
}

/// Generates a column.
pub(super) fn column(field: &FieldGenerator, rows: &Rows, run: &Run) -> Result<ArrayRef> {
    let count = rows.rows.len();
    let values = stream(run.seed, &field.path);
    let nulls = stream(run.seed, &format!("{}\0null", field.path));
    let draws = || rows.rows.iter().zip(&rows.versions).map(move |(row, version)| Draw::new(values, *row, *version));
    let valid = (field.null_rate > 0.0).then(|| {
        let pairs = rows.rows.iter().zip(&rows.versions);
        let valid = pairs.map(|(row, version)| Draw::new(nulls, *row, *version).unit() >= field.null_rate);
        NullBuffer::from(valid.collect::<Vec<bool>>())
    });
    let logical = &field.sql_type.logical;
    Ok(match logical {
        LogicalType::Boolean => {
            let values: BooleanBuffer =
                draws().map(|mut draw| boolean(field, &mut draw)).collect::<Result<Vec<bool>>>()?.into();
            Arc::new(BooleanArray::new(values, valid))
        }
        LogicalType::Char(_) | LogicalType::VarChar(_) => text(field, draws().zip(&rows.rows), valid),
        LogicalType::Binary(_) | LogicalType::VarBinary(_) => bytes(field, draws(), valid),
        LogicalType::Timestamp(precision) => {
            let values = times(field, rows, draws(), run.start_wall_ms, *precision);
            timestamps(values, valid, *precision, None)
        }
        LogicalType::TimestampLtz(precision) => {
            let values = times(field, rows, draws(), run.start_instant_ms, *precision);
            timestamps(values, valid, *precision, Some(INSTANT_ZONE.into()))
        }
        LogicalType::Date => {
            let ms = times(field, rows, draws(), run.start_wall_ms, 3);
            let days = ms.into_iter().map(|ms| ms.div_euclid(86_400_000) as i32);
            Arc::new(Date32Array::new(days.collect::<Vec<_>>().into(), valid))
        }
        LogicalType::Time(_) => {
            let ms = times(field, rows, draws(), run.start_wall_ms, 3);
            let of_day = ms.into_iter().map(|ms| ms.rem_euclid(86_400_000) as i32);
            Arc::new(Time32MillisecondArray::new(of_day.collect::<Vec<_>>().into(), valid))
        }
        LogicalType::BigInt if matches!(field.values, Values::EventTime) => {
            let ms = times(field, rows, draws(), run.start_instant_ms, 3);
            Arc::new(Int64Array::new(ms.into(), valid))
        }
        LogicalType::Array(_) | LogicalType::Map(..) | LogicalType::Row(_) => nested(field, rows, run, draws(), valid)?,
        _ => numbers(field, draws().zip(&rows.rows), count, valid)?,
    })
}

fn boolean(field: &FieldGenerator, draw: &mut Draw) -> Result<bool> {
    Ok(match &field.values {
        Values::Choice(chosen, weights) => *pick(chosen, weights, draw) == Chosen::Boolean(true),
        Values::Expression(expression) => {
            let mut text = String::new();
            expression.push(draw, &mut text);
            text.trim().eq_ignore_ascii_case("true")
        }
        _ => draw.bits() & 1 == 1,
    })
}

fn pick<'a>(chosen: &'a [Chosen], weights: &[f64], draw: &mut Draw) -> &'a Chosen {
    let at = draw.unit();
    &chosen[weights.partition_point(|cumulative| *cumulative <= at).min(chosen.len() - 1)]
}

fn integer(integers: &Integers, draw: &mut Draw, row: u64) -> i64 {
    match integers {
        Integers::Sequence { start } => start.wrapping_add(row as i64),
        Integers::Uniform { min, max } => draw.integer(*min, *max),
        Integers::Zipf { min, zipf } => min.wrapping_add(zipf.rank(draw) as i64 - 1),
        Integers::HotKeys { min, max, hot, share } => {
            if draw.unit() < *share {
                min.wrapping_add(draw.below(*hot) as i64)
            } else {
                draw.integer(*min, *max)
            }
        }
    }
}

fn number(field: &FieldGenerator, draw: &mut Draw, row: u64) -> Result<Number> {
    Ok(match &field.values {
        Values::Integer(integers) => Number::Integer(integer(integers, draw, row)),
        Values::Real(reals, min, max) => {
            let value = match reals {
                Reals::Uniform => draw.real(*min, *max),
                Reals::Normal { mu, sigma } => mu + sigma * draw.normal(),
                Reals::LogNormal { mu, sigma } => (mu + sigma * draw.normal()).exp(),
                Reals::Exponential { rate } => draw.exponential() / rate,
            };
            Number::Real(value.clamp(*min, *max))
        }
        Values::Unscaled(min, max) => Number::Unscaled(draw.wide_integer(*min, *max)),
        Values::Choice(chosen, weights) => match pick(chosen, weights, draw) {
            Chosen::Integer(value) => Number::Integer(*value),
            Chosen::Real(value) => Number::Real(*value),
            Chosen::Unscaled(value) => Number::Unscaled(*value),
            other => return Err(Error::internal(format!("{other:?} is no number"))),
        },
        Values::Expression(expression) => {
            let mut text = String::new();
            expression.push(draw, &mut text);
            let text = text.trim();
            match text.parse::<i64>() {
                Ok(value) => Number::Integer(value),
                Err(_) => match text.parse::<f64>() {
                    Ok(value) => Number::Real(value),
                    Err(_) => {
                        let key = format!("fields.{}.expression", field.path);
                        let expected = format!("an expression whose text is a {}", field.sql_type.logical);
                        return Err(crate::declared::bad_value(&key, text, &expected));
                    }
                },
            }
        }
        other => return Err(Error::internal(format!("{other:?} gives no numbers"))),
    })
}

fn numbers<'a>(
    field: &FieldGenerator,
    draws: impl Iterator<Item = (Draw, &'a u64)>,
    count: usize,
    valid: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let mut numbers = Vec::with_capacity(count);
    for (mut draw, row) in draws {
        numbers.push(number(field, &mut draw, *row)?);
    }
    let whole = |min: i64, max: i64| {
        numbers.iter().map(move |number| match number {
            Number::Integer(value) => (*value).clamp(min, max),
            // A cast from a float saturates.
            Number::Real(value) => (value.round() as i64).clamp(min, max),
            Number::Unscaled(value) => (*value).clamp(min.into(), max.into()) as i64,
        })
    };
    let factor = field.scale.map(|scale| 10f64.powi(scale.into()));
    let real = || {
        numbers.iter().map(move |number| {
            let value = match number {
                Number::Integer(value) => *value as f64,
                Number::Real(value) => *value,
                Number::Unscaled(value) => *value as f64,
            };
            match factor {
                Some(factor) if (value * factor).is_finite() => (value * factor).round() / factor,
                _ => value,
            }
        })
    };
    Ok(match &field.sql_type.logical {
        LogicalType::TinyInt => {
            let values: Vec<i8> = whole(i8::MIN.into(), i8::MAX.into()).map(|value| value as i8).collect();
            Arc::new(Int8Array::new(values.into(), valid))
        }
        LogicalType::SmallInt => {
            let values: Vec<i16> = whole(i16::MIN.into(), i16::MAX.into()).map(|value| value as i16).collect();
            Arc::new(Int16Array::new(values.into(), valid))
        }
        LogicalType::Int => {
            let values: Vec<i32> = whole(i32::MIN.into(), i32::MAX.into()).map(|value| value as i32).collect();
            Arc::new(Int32Array::new(values.into(), valid))
        }
        LogicalType::BigInt => Arc::new(Int64Array::new(whole(i64::MIN, i64::MAX).collect::<Vec<_>>().into(), valid)),
        LogicalType::Float => {
            Arc::new(Float32Array::new(real().map(|value| value as f32).collect::<Vec<_>>().into(), valid))
        }
        LogicalType::Double => Arc::new(Float64Array::new(real().collect::<Vec<_>>().into(), valid)),
        LogicalType::Decimal { precision, scale } => {
            let values: Vec<i128> =
                numbers.iter().map(|number| to_unscaled(number, *precision, *scale, field.scale)).collect();
            let array = Decimal128Array::new(values.into(), valid);
            Arc::new(array.with_precision_and_scale(*precision, *scale as i8)?)
        }
        other => return Err(Error::internal(format!("no generator for {other}"))),
    })
}

fn to_unscaled(number: &Number, precision: u8, scale: u8, digits: Option<u8>) -> i128 {
    let limit = 10i128.pow(precision.into()) - 1;
    let exact = match number {
        Number::Integer(value) => i128::from(*value).saturating_mul(10i128.pow(scale.into())),
        Number::Real(value) => (value * 10f64.powi(scale.into())).round() as i128,
        Number::Unscaled(value) => *value,
    };
    let unit = 10i128.pow(scale.saturating_sub(digits.unwrap_or(scale)).into());
    let half = unit / 2 * exact.signum();
    (exact.saturating_add(half) / unit).saturating_mul(unit).clamp(-limit, limit)
}

fn text<'a>(
    field: &FieldGenerator,
    draws: impl Iterator<Item = (Draw, &'a u64)>,
    valid: Option<NullBuffer>,
) -> ArrayRef {
    let mut builder = StringBuilder::new();
    let mut value = String::new();
    for (index, (mut draw, row)) in draws.enumerate() {
        if valid.as_ref().is_some_and(|valid| valid.is_null(index)) {
            builder.append_null();
            continue;
        }
        value.clear();
        match &field.values {
            Values::Integer(integers) => push_formatted(field, integer(integers, &mut draw, *row), &mut value),
            Values::Expression(expression) => expression.push(&mut draw, &mut value),
            Values::Choice(chosen, weights) => {
                if let Chosen::Text(text) = pick(chosen, weights, &mut draw) {
                    value.push_str(text);
                }
            }
            Values::Hex(length) => push_hex(*length, &mut draw, &mut value),
            _ => {}
        }
        fit(&field.sql_type.logical, &mut value);
        builder.append_value(&value);
    }
    Arc::new(builder.finish())
}

/// Cuts or pads a text to what CHAR(n) and VARCHAR(n) hold.
fn fit(logical: &LogicalType, value: &mut String) {
    let (LogicalType::Char(length) | LogicalType::VarChar(length)) = logical else { return };
    if value.len() > *length as usize
        && let Some((end, _)) = value.char_indices().nth(*length as usize)
    {
        value.truncate(end);
    }
    if let LogicalType::Char(length) = logical {
        let missing = (*length as usize).saturating_sub(value.chars().count());
        value.extend(std::iter::repeat_n(' ', missing));
    }
}

fn push_formatted(field: &FieldGenerator, number: i64, out: &mut String) {
    let Some(pattern) = &field.pattern else { return base::text::push_integer(out, number) };
    out.push_str(&pattern.before);
    let width = pattern.width;
    let _ = match (pattern.hexadecimal, pattern.zeros) {
        (false, false) => write!(out, "{number:width$}"),
        (false, true) => write!(out, "{number:0width$}"),
        (true, false) => write!(out, "{number:width$x}"),
        (true, true) => write!(out, "{number:0width$x}"),
    };
    out.push_str(&pattern.after);
}

fn drawn_length(length: Length, draw: &mut Draw) -> usize {
    if length.random && length.max > 0 { 1 + draw.below(length.max as u64) as usize } else { length.max }
}

fn push_hex(length: Length, draw: &mut Draw, out: &mut String) {
    let mut missing = drawn_length(length, draw);
    while missing > 0 {
        let bits = draw.bits();
        let count = missing.min(16);
        for digit in 0..count {
            out.push(char::from(b"0123456789abcdef"[(bits >> (digit * 4) & 15) as usize]));
        }
        missing -= count;
    }
}

fn bytes(field: &FieldGenerator, draws: impl Iterator<Item = Draw>, valid: Option<NullBuffer>) -> ArrayRef {
    let mut builder = BinaryBuilder::new();
    let mut value = Vec::new();
    for (index, mut draw) in draws.enumerate() {
        if valid.as_ref().is_some_and(|valid| valid.is_null(index)) {
            builder.append_null();
            continue;
        }
        value.clear();
        if let Values::Bytes(length) = &field.values {
            let length = drawn_length(*length, &mut draw);
            while value.len() < length {
                let missing = (length - value.len()).min(8);
                value.extend_from_slice(&draw.bits().to_le_bytes()[..missing]);
            }
        }
        builder.append_value(&value);
    }
    Arc::new(builder.finish())
}

/// Timestamps in the unit of a precision.
fn times(
    field: &FieldGenerator,
    rows: &Rows,
    draws: impl Iterator<Item = Draw>,
    start_ms: i64,
    precision: u8,
) -> Vec<i64> {
    let (per_ms, per_unit) = match LogicalType::timestamp_unit(precision) {
        TimeUnit::Microsecond => (1_000, 1_000),
        TimeUnit::Nanosecond => (1_000_000, 1),
        _ => (1, 1_000_000),
    };
    // Digits beyond the precision are cut.
    let unit_digits = match precision {
        0..=3 => 3,
        4..=6 => 6,
        _ => 9,
    };
    let cut = 10i64.pow(u32::from(unit_digits - precision.min(9)));
    let start = start_ms.saturating_mul(per_ms);
    rows.event_ns
        .iter()
        .zip(draws)
        .map(|(event_ns, mut draw)| {
            let back = match field.values {
                Values::Past(max) if max > 0 => draw.below(max),
                _ => 0,
            };
            let after = i128::from(*event_ns) - i128::from(back);
            let value = start.saturating_add(after.div_euclid(per_unit) as i64);
            value - value.rem_euclid(cut)
        })
        .collect()
}

fn timestamps(values: Vec<i64>, valid: Option<NullBuffer>, precision: u8, zone: Option<Arc<str>>) -> ArrayRef {
    match LogicalType::timestamp_unit(precision) {
        TimeUnit::Microsecond => Arc::new(TimestampMicrosecondArray::new(values.into(), valid).with_timezone_opt(zone)),
        TimeUnit::Nanosecond => Arc::new(TimestampNanosecondArray::new(values.into(), valid).with_timezone_opt(zone)),
        _ => Arc::new(TimestampMillisecondArray::new(values.into(), valid).with_timezone_opt(zone)),
    }
}

/// ARRAY, MAP and ROW columns from the columns of their parts.
fn nested(
    field: &FieldGenerator,
    rows: &Rows,
    run: &Run,
    draws: impl Iterator<Item = Draw>,
    valid: Option<NullBuffer>,
) -> Result<ArrayRef> {
    match (&field.values, field.sql_type.arrow()) {
        (Values::Row(parts), DataType::Struct(fields)) => {
            let columns = parts.iter().map(|part| column(part, rows, run)).collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(StructArray::try_new_with_length(fields, columns, valid, rows.rows.len())?))
        }
        (Values::Array(element, length), DataType::List(item)) => {
            let (inner, offsets) = elements(rows, draws, *length);
            Ok(Arc::new(ListArray::try_new(item, offsets, column(element, &inner, run)?, valid)?))
        }
        (Values::Map(key, value, length), DataType::Map(entries, _)) => {
            let (inner, offsets) = elements(rows, draws, *length);
            let DataType::Struct(fields) = entries.data_type().clone() else {
                return Err(Error::internal("map entries are a struct"));
            };
            let columns = vec![column(key, &inner, run)?, column(value, &inner, run)?];
            let structs = StructArray::try_new(fields, columns, None)?;
            Ok(Arc::new(MapArray::try_new(entries, offsets, structs, valid, false)?))
        }
        (values, _) => Err(Error::internal(format!("{values:?} do not make a {}", field.sql_type))),
    }
}

/// The rows of the elements of collections: element `e` of row `r` has a number of its own.
fn elements(rows: &Rows, draws: impl Iterator<Item = Draw>, length: Length) -> (Rows, OffsetBuffer<i32>) {
    let mut inner = Rows::default();
    let mut lengths = Vec::with_capacity(rows.rows.len());
    for (index, mut draw) in draws.enumerate() {
        let count = drawn_length(length, &mut draw);
        lengths.push(count);
        for element in 0..count as u64 {
            let number = rows.rows[index].wrapping_mul(length.max as u64).wrapping_add(element);
            inner.push(number, rows.versions[index], rows.event_ns[index]);
        }
    }
    (inner, OffsetBuffer::from_lengths(lengths))
}
