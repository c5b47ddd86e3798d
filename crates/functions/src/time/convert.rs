//! DATE_FORMAT, TO_TIMESTAMP, TO_TIMESTAMP_LTZ, TO_DATE, UNIX_TIMESTAMP, FROM_UNIXTIME and CONVERT_TZ.

use super::pattern::{Dialect, Pattern, Reading};
use super::zone::{Zone, ZoneReading, standard_to_instant_ms};
use crate::call::{Call, Compiled, Signature};
use crate::cast::parse;
use crate::cast::print::local;
use crate::codes;
use crate::scalar::strings::all_strings;
use arrow::array::*;
use arrow::datatypes::*;
use base::text::{days_from_civil, units_per_second, zone_offset_ms};
use base::{Error, LogicalType, Result, SqlType};
use std::ops::RangeInclusive;

const DEFAULT_PATTERN: &str = "yyyy-MM-dd HH:mm:ss";
const DAY_MS: i64 = 86_400_000;
const JAVA_TIME: Dialect = Dialect::DateTimeFormatter;

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
            let Ok((days, nanos)) = parse::timestamp(text, true) else { return Ok(false) };
            // A text is read as TIMESTAMP(0).
            let reading = (days, nanos - nanos % 1_000_000_000);
            let pattern = compiled.get(pattern, |pattern| compile(call, pattern, Dialect::SimpleDateFormat))?;
            pattern.write(reading, Some(&ZoneReading::new(chrono_tz::UTC, 0)), out);
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
        write_local(call, compiled.get(pattern, |pattern| compile(call, pattern, JAVA_TIME))?, pattern, reading, out)
    })
}

/// Writes a reading that has no zone.
fn write_local(call: &Call, pattern: &Pattern, text: &str, reading: Reading, out: &mut String) -> Result<bool> {
    if pattern.has_zone() {
        return Err(call.bad_value(&text, &"DATE_FORMAT has no time zone to write; use FROM_UNIXTIME"));
    }
    pattern.write(reading, None, out);
    Ok(true)
}

pub(crate) fn to_timestamp_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    all_strings(signature)?;
    Ok(LogicalType::Timestamp(3).nullable())
}

/// The reading of `yyyy-MM-dd[ HH:mm:ss[.fraction]]` without spaces around it; 24:00:00 is the midnight after.
fn read_default(text: &str) -> Option<Reading> {
    if text.trim().len() != text.len() {
        return None;
    }
    match text.split_once(' ') {
        Some((date, time)) if time.starts_with("24:") && time.bytes().skip(3).all(|byte| b"0:.".contains(&byte)) => {
            let (days, nanos) = parse::timestamp(&format!("{date} 00:{}", &time[3..]), true).ok()?;
            Some((days + 1, nanos))
        }
        _ => parse::timestamp(text, false).ok(),
    }
}

/// What Flink tries when a pattern does not fit: Java's `Timestamp.valueOf` and `Date.valueOf`, which let a day or an hour
/// that is too large roll over.
fn read_loosely(text: &str) -> Option<Reading> {
    let text = text.trim();
    let (date, time) = text.split_once(' ').map_or((text, None), |(date, time)| (date, Some(time)));
    let mut parts = date.split('-');
    let mut next = |lengths: RangeInclusive<usize>| {
        let part = parts.next().filter(|part| lengths.contains(&part.len()))?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<i64>().ok()).flatten()
    };
    let (year, month, day) = (next(4..=4)?, next(1..=2)?, next(1..=2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_from_civil(year, month as u32, 1) + day - 1;
    let Some(time) = time else { return Some((days, 0)) };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut parts = clock.split(':').map(|part| part.parse::<u32>().ok().filter(|_| part.len() <= 2).map(i64::from));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let digits_fit = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if parts.next().is_some() || !digits_fit || time.ends_with('.') {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse::<i64>().ok()?;
    let seconds = (hour * 60 + minute) * 60 + second;
    Some((days + seconds.div_euclid(86_400), seconds.rem_euclid(86_400) * 1_000_000_000 + nanos))
}

/// The reading of a text: by a pattern if there is one, else by the default form. A pattern that is none fits nothing.
fn read_text(compiled: &mut Compiled<Option<Pattern>>, text: &str, pattern: Option<&str>) -> Result<Option<Reading>> {
    let Some(pattern) = pattern else { return Ok(read_default(text)) };
    let pattern = compiled.get(pattern, |pattern| Ok(Pattern::compile(pattern, JAVA_TIME).ok()))?;
    Ok(pattern.as_ref().and_then(|pattern| pattern.parse(text).or_else(|| read_loosely(text))))
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
        Ok(read_text(&mut compiled, text, pattern)?.map(reading_to_ms))
    })
}

/// The precision of the result, if a constant says it: the numeric precision, or the `S` of the pattern.
fn instant_precision(signature: &Signature) -> Result<u8> {
    let Some(argument) = signature.arguments.get(1) else { return Ok(3) };
    if let Some(pattern) = signature.constant_text(1) {
        let digits = pattern.chars().filter(|c| *c == 'S').count();
        return Ok(digits.clamp(3, 9) as u8);
    }
    let Some(constant) = argument.constant.as_ref().and_then(|array| array.as_primitive_opt::<Int32Type>()) else {
        return Ok(3);
    };
    if constant.is_null(0) {
        return Ok(3);
    }
    match constant.value(0) {
        precision @ 0..=9 => Ok(precision.max(3) as u8),
        _ => Err(signature.error_because("the precision is between 0 and 9")),
    }
}

pub(crate) fn to_timestamp_ltz_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=3)?;
    if signature.logical(0).is_string() {
        all_strings(signature)?;
    } else {
        signature.arity(1..=2)?;
        signature.numeric(0)?;
        if signature.arguments.len() == 2 {
            signature.integer(1)?;
        }
    }
    Ok(LogicalType::TimestampLtz(instant_precision(signature)?).nullable())
}

/// Refuses a pattern or a zone that is written as a literal and can never be right. As a value it gives NULL.
pub fn check_literal(index: usize, text: &str) -> Result<()> {
    let why = match index {
        1 => match Pattern::compile(text, JAVA_TIME) {
            Ok(_) => return Ok(()),
            Err(why) => why,
        },
        2 if Zone::of_region(text).is_none() => "unknown time zone".to_string(),
        _ => return Ok(()),
    };
    Err(Error::new(&codes::BAD_VALUE, &[("function", &"TO_TIMESTAMP_LTZ"), ("value", &text), ("why", &why)]))
}

/// The seconds of the years 0 to 9999: other numbers are no timestamps.
const EPOCH_SECONDS: RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// A column of instants from units of the result's own type.
fn instants(call: &Call, value: impl FnMut(usize) -> Result<Option<i64>>) -> Result<ArrayRef> {
    match call.result.arrow() {
        DataType::Timestamp(TimeUnit::Microsecond, _) => call.map_values::<TimestampMicrosecondType>(value),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => call.map_values::<TimestampNanosecondType>(value),
        _ => call.map_values::<TimestampMillisecondType>(value),
    }
}

/// Decimal digits of a second that the result's unit has.
fn stored_digits(call: &Call) -> u32 {
    match call.result.logical {
        LogicalType::TimestampLtz(precision) if precision > 6 => 9,
        LogicalType::TimestampLtz(precision) if precision > 3 => 6,
        _ => 3,
    }
}

/// `TO_TIMESTAMP_LTZ(number[, precision])` or `TO_TIMESTAMP_LTZ(text[, pattern[, zone]])`; a text is read in UTC.
pub(crate) fn to_timestamp_ltz(call: &Call) -> Result<ArrayRef> {
    if call.types[0].logical.is_string() {
        return text_to_instant(call);
    }
    let precisions = if call.len() == 2 { Some(call.longs(1)?) } else { None };
    let stored = stored_digits(call);
    let per_second = 10i64.pow(stored);
    let in_range = |units: &i64| EPOCH_SECONDS.contains(&units.div_euclid(per_second));
    // What a number is multiplied with and divided by.
    let scale = |row: usize| -> Result<Option<(i64, i64)>> {
        match precisions.as_ref().map_or(Some(3), |precisions| precisions.get(row)) {
            None => Ok(None),
            Some(precision @ 0..=9) => {
                let precision = precision as u32;
                let (up, down) = (stored.saturating_sub(precision), precision.saturating_sub(stored));
                Ok(Some((10i64.pow(up), 10i64.pow(down))))
            }
            Some(other) => Err(call.bad_value(&other, &"the precision is between 0 and 9")),
        }
    };
    if matches!(call.types[0].logical, LogicalType::Float | LogicalType::Double) {
        let values = call.doubles(0)?;
        return instants(call, |row| {
            let (Some(value), Some((up, down))) = (values.get(row), scale(row)?) else { return Ok(None) };
            Ok(Some((value * up as f64 / down as f64) as i64).filter(in_range))
        });
    }
    let values = call.longs(0)?;
    instants(call, |row| {
        let (Some(value), Some((up, down))) = (values.get(row), scale(row)?) else { return Ok(None) };
        Ok(value.checked_mul(up).map(|value| value.div_euclid(down)).filter(in_range))
    })
}

/// Without a pattern, a text that does not fit is an error.
fn text_to_instant(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let patterns = if call.len() >= 2 { Some(call.texts(1)?) } else { None };
    let zones = if call.len() == 3 { Some(call.texts(2)?) } else { None };
    let (mut compiled, mut zone_compiled) = (Compiled::new(), Compiled::new());
    let per_second = 10i64.pow(stored_digits(call));
    instants(call, |row| {
        let pattern = patterns.as_ref().map(|patterns| patterns.get(row));
        let zone = zones.as_ref().map_or(Some("UTC"), |zones| zones.get(row));
        let (Some(text), Some(zone)) = (texts.get(row), zone) else { return Ok(None) };
        if pattern == Some(None) {
            return Ok(None);
        }
        // As a literal, an unknown zone is refused by [`check_literal`].
        let Some(zone) = *zone_compiled.get(zone, |name| Ok(Zone::of_region(name)))? else { return Ok(None) };
        let reading = read_text(&mut compiled, text, pattern.flatten())?;
        let Some(reading) = reading else {
            return match pattern {
                None => Err(call.bad_value(&text, &"it is not a timestamp yyyy-MM-dd HH:mm:ss[.fraction]")),
                Some(_) => Ok(None),
            };
        };
        let below_ms = reading.1 % 1_000_000 / (1_000_000_000 / per_second).max(1);
        let ms = zone.local_to_instant_ms(reading_to_ms(reading));
        Ok(ms.checked_mul(per_second / 1_000).and_then(|units| units.checked_add(below_ms)))
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
        let Some((reading, offset)) = pattern.parse_zoned(text) else { return Ok(Some(i64::MIN)) };
        let local = reading_to_ms(reading);
        let instant = offset.map_or_else(|| standard_to_instant_ms(zone, local), |offset| local - offset);
        // Java divides towards zero.
        Ok(Some(instant / 1_000))
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
        let reading = pattern.has_zone().then(|| ZoneReading::new(zone, ms));
        pattern.write(reading_of_units(ms + zone_offset_ms(zone, ms), 1_000), reading.as_ref(), out);
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
        let from = *from_compiled.get(from, |name| Ok(Zone::of(name)))?;
        let to = *to_compiled.get(to, |name| Ok(Zone::of(name)))?;
        let Some(reading) = pattern.parse(text) else { return Ok(false) };
        let instant = from.local_to_instant_ms(reading_to_ms(reading));
        pattern.write(reading_of_units(instant + to.offset_ms(instant), 1_000), None, out);
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
