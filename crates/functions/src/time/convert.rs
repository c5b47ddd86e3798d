//! DATE_FORMAT, TO_TIMESTAMP, TO_TIMESTAMP_LTZ, TO_DATE, UNIX_TIMESTAMP, FROM_UNIXTIME and CONVERT_TZ.

use super::pattern::{Dialect, Pattern, Reading};
use crate::call::{Call, Compiled, Signature};
use crate::cast::parse;
use crate::cast::print::local;
use crate::codes;
use crate::scalar::strings::all_strings;
use arrow::array::*;
use arrow::datatypes::*;
use base::text::{local_to_instant_ms, units_per_second, zone_offset_ms};
use base::{Error, LogicalType, Result, SqlType};
use chrono_tz::Tz;

const DEFAULT_PATTERN: &str = "yyyy-MM-dd HH:mm:ss";
const DAY_MS: i64 = 86_400_000;

fn compile(call: &Call, text: &str, dialect: Dialect) -> Result<Pattern> {
    Pattern::compile(text, dialect)
        .map_err(|why| Error::new(&codes::BAD_PATTERN, &[("function", &call.name), ("pattern", &text), ("why", &why)]))
}

fn reading_of_units(value: i64, per_second: i64) -> Reading {
    let per_day = per_second * 86_400;
    (value.div_euclid(per_day), value.rem_euclid(per_day) * (1_000_000_000 / per_second))
}

fn reading_to_ms((days, nanos): Reading) -> i64 {
    days.saturating_mul(DAY_MS).saturating_add(nanos / 1_000_000)
}

pub(crate) fn date_format_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    signature.check(0, |logical| logical.is_timestamp() || logical.is_string())?;
    signature.string(1)?;
    Ok(SqlType::string())
}

/// Values of a timestamp column of any unit as 64-bit numbers, with its units per second.
fn timestamp_units(array: &ArrayRef) -> Result<(Int64Array, TimeUnit)> {
    macro_rules! longs {
        ($type:ty, $unit:expr) => {{
            let array = array.as_primitive::<$type>();
            Ok((Int64Array::new(array.values().clone(), array.nulls().cloned()), $unit))
        }};
    }
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Millisecond, _) => longs!(TimestampMillisecondType, TimeUnit::Millisecond),
        DataType::Timestamp(TimeUnit::Microsecond, _) => longs!(TimestampMicrosecondType, TimeUnit::Microsecond),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => longs!(TimestampNanosecondType, TimeUnit::Nanosecond),
        DataType::Null => Ok((Int64Array::new_null(array.len()), TimeUnit::Millisecond)),
        other => Err(Error::internal(format!("{other} is not a timestamp"))),
    }
}

/// `DATE_FORMAT(timestamp or text, pattern)`; a text must have a time of day.
pub(crate) fn date_format(call: &Call) -> Result<ArrayRef> {
    let patterns = call.texts(1)?;
    let mut compiled = Compiled::new();
    if call.types[0].logical.is_string() {
        let texts = call.texts(0)?;
        return call.write_texts(|row, out| {
            let (Some(text), Some(pattern)) = (texts.get(row), patterns.get(row)) else { return Ok(false) };
            let Ok(reading) = parse::timestamp(text, true) else { return Ok(false) };
            compiled.get(pattern, |pattern| compile(call, pattern, Dialect::DateTimeFormatter))?.write(reading, out);
            Ok(true)
        });
    }
    let (values, unit) = timestamp_units(&call.full(0)?)?;
    let zone = matches!(call.types[0].logical, LogicalType::TimestampLtz(_)).then_some(call.context.time_zone);
    let per_second = units_per_second(unit);
    call.write_texts(|row, out| {
        let Some(pattern) = patterns.get(row) else { return Ok(false) };
        if values.is_null(row) {
            return Ok(false);
        }
        let reading = reading_of_units(local(values.value(row), unit, zone), per_second);
        compiled.get(pattern, |pattern| compile(call, pattern, Dialect::DateTimeFormatter))?.write(reading, out);
        Ok(true)
    })
}

pub(crate) fn to_timestamp_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    all_strings(signature)?;
    Ok(LogicalType::Timestamp(3).nullable())
}

/// The reading of a text: by a pattern if there is one, else CAST's forms.
fn read_text(
    call: &Call,
    compiled: &mut Compiled<Pattern>,
    text: &str,
    pattern: Option<&str>,
) -> Result<Option<Reading>> {
    match pattern {
        None => Ok(parse::timestamp(text, false).ok()),
        Some(pattern) => {
            Ok(compiled.get(pattern, |pattern| compile(call, pattern, Dialect::DateTimeFormatter))?.parse(text))
        }
    }
}

pub(crate) fn to_timestamp(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let patterns = if call.len() == 2 { Some(call.texts(1)?) } else { None };
    let mut compiled = Compiled::new();
    call.map_values::<TimestampMillisecondType>(|row| {
        let Some(text) = texts.get(row) else { return Ok(None) };
        let pattern = match &patterns {
            None => None,
            Some(patterns) => match patterns.get(row) {
                None => return Ok(None),
                pattern => pattern,
            },
        };
        Ok(read_text(call, &mut compiled, text, pattern)?.map(reading_to_ms))
    })
}

pub(crate) fn to_timestamp_ltz_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=3)?;
    let text = signature.logical(0).is_string();
    if text {
        all_strings(signature)?;
    } else {
        signature.arity(1..=2)?;
        signature.numeric(0)?;
        if signature.arguments.len() == 2 {
            signature.integer(1)?;
        }
    }
    Ok(LogicalType::TimestampLtz(3).nullable())
}

/// `TO_TIMESTAMP_LTZ(number[, 0 or 3])` or `TO_TIMESTAMP_LTZ(text[, pattern[, zone]])`; a text is read in UTC.
pub(crate) fn to_timestamp_ltz(call: &Call) -> Result<ArrayRef> {
    if call.types[0].logical.is_string() {
        return text_to_instant(call);
    }
    let precisions = if call.len() == 2 { Some(call.longs(1)?) } else { None };
    let scale = |row: usize| -> Result<Option<i64>> {
        match precisions.as_ref().map_or(Some(3), |precisions| precisions.get(row)) {
            None => Ok(None),
            Some(0) => Ok(Some(1_000)),
            Some(3) => Ok(Some(1)),
            Some(other) => Err(call.bad_value(&other, &"the precision must be 0 (seconds) or 3 (milliseconds)")),
        }
    };
    if call.types[0].logical.is_integer() {
        let values = call.longs(0)?;
        return call.map_values::<TimestampMillisecondType>(|row| {
            let (Some(value), Some(scale)) = (values.get(row), scale(row)?) else { return Ok(None) };
            Ok(value.checked_mul(scale))
        });
    }
    let values = call.doubles(0)?;
    call.map_values::<TimestampMillisecondType>(|row| {
        let (Some(value), Some(scale)) = (values.get(row), scale(row)?) else { return Ok(None) };
        Ok(Some((value * scale as f64) as i64))
    })
}

fn zone_named(call: &Call, name: &str) -> Result<Tz> {
    name.parse().map_err(|_| call.bad_value(&name, &"unknown time zone"))
}

fn text_to_instant(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let patterns = if call.len() >= 2 { Some(call.texts(1)?) } else { None };
    let zones = if call.len() == 3 { Some(call.texts(2)?) } else { None };
    let (mut compiled, mut zone_compiled) = (Compiled::new(), Compiled::new());
    call.map_values::<TimestampMillisecondType>(|row| {
        let pattern = patterns.as_ref().map(|patterns| patterns.get(row));
        let zone = zones.as_ref().map_or(Some("UTC"), |zones| zones.get(row));
        let (Some(text), Some(zone)) = (texts.get(row), zone) else { return Ok(None) };
        if pattern == Some(None) {
            return Ok(None);
        }
        let zone = *zone_compiled.get(zone, |name| zone_named(call, name))?;
        let reading = read_text(call, &mut compiled, text, pattern.flatten())?;
        Ok(reading.map(|reading| local_to_instant_ms(zone, reading_to_ms(reading))))
    })
}

pub(crate) fn to_date_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    all_strings(signature)?;
    Ok(LogicalType::Date.nullable())
}

pub(crate) fn to_date(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let patterns = if call.len() == 2 { Some(call.texts(1)?) } else { None };
    let mut compiled = Compiled::new();
    call.map_values::<Date32Type>(|row| {
        let Some(text) = texts.get(row) else { return Ok(None) };
        let Some(patterns) = &patterns else { return Ok(parse::date(text).ok()) };
        let Some(pattern) = patterns.get(row) else { return Ok(None) };
        let pattern = compiled.get(pattern, |pattern| compile(call, pattern, Dialect::SimpleDateFormat))?;
        Ok(pattern.parse(text).map(|(days, _)| days as i32))
    })
}

pub(crate) fn unix_timestamp_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    all_strings(signature)?;
    signature.strict(LogicalType::BigInt)
}

/// Seconds since 1970 of a text in the session's zone; the smallest BIGINT if it does not fit the pattern.
pub(crate) fn unix_timestamp(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let patterns = if call.len() == 2 { Some(call.texts(1)?) } else { None };
    let (mut compiled, zone) = (Compiled::new(), call.context.time_zone);
    call.map_values::<Int64Type>(|row| {
        let pattern = patterns.as_ref().map_or(Some(DEFAULT_PATTERN), |patterns| patterns.get(row));
        let (Some(text), Some(pattern)) = (texts.get(row), pattern) else { return Ok(None) };
        let pattern = compiled.get(pattern, |pattern| compile(call, pattern, Dialect::SimpleDateFormat))?;
        let Some(reading) = pattern.parse(text) else { return Ok(Some(i64::MIN)) };
        // Java divides towards zero.
        Ok(Some(local_to_instant_ms(zone, reading_to_ms(reading)) / 1_000))
    })
}

pub(crate) fn from_unixtime_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    signature.integer(0)?;
    if signature.arguments.len() == 2 {
        signature.string(1)?;
    }
    Ok(SqlType::string())
}

pub(crate) fn from_unixtime(call: &Call) -> Result<ArrayRef> {
    let values = call.longs(0)?;
    let patterns = if call.len() == 2 { Some(call.texts(1)?) } else { None };
    let (mut compiled, zone) = (Compiled::new(), call.context.time_zone);
    call.write_texts(|row, out| {
        let pattern = patterns.as_ref().map_or(Some(DEFAULT_PATTERN), |patterns| patterns.get(row));
        let (Some(value), Some(pattern)) = (values.get(row), pattern) else { return Ok(false) };
        let pattern = compiled.get(pattern, |pattern| compile(call, pattern, Dialect::SimpleDateFormat))?;
        let ms = value.checked_mul(1_000).filter(|ms| ms.unsigned_abs() < 1 << 53);
        let ms = ms.ok_or_else(|| call.bad_value(&value, &"the time is out of range"))?;
        pattern.write(reading_of_units(ms + zone_offset_ms(zone, ms), 1_000), out);
        Ok(true)
    })
}

pub(crate) fn convert_tz_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(3..=3)?;
    all_strings(signature)?;
    Ok(SqlType::string())
}

/// A reading of one zone's clock as another's.
pub(crate) fn convert_tz(call: &Call) -> Result<ArrayRef> {
    let (texts, froms, tos) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    let pattern = compile(call, DEFAULT_PATTERN, Dialect::SimpleDateFormat)?;
    let (mut from_compiled, mut to_compiled) = (Compiled::new(), Compiled::new());
    call.write_texts(|row, out| {
        let (Some(text), Some(from), Some(to)) = (texts.get(row), froms.get(row), tos.get(row)) else {
            return Ok(false);
        };
        let from = *from_compiled.get(from, |name| zone_named(call, name))?;
        let to = *to_compiled.get(to, |name| zone_named(call, name))?;
        let Some(reading) = pattern.parse(text) else { return Ok(false) };
        let instant = local_to_instant_ms(from, reading_to_ms(reading));
        pattern.write(reading_of_units(instant + zone_offset_ms(to, instant), 1_000), out);
        Ok(true)
    })
}

pub(crate) fn date_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.check(0, |logical| logical.is_string() || logical.is_timestamp() || *logical == LogicalType::Date)?;
    signature.strict(LogicalType::Date)
}

/// `DATE(x)`: `CAST(x AS DATE)`.
pub(crate) fn date(call: &Call) -> Result<ArrayRef> {
    crate::call::expand(&call.cast(0, &LogicalType::Date)?, call.rows)
}
