//! Literals of the syntax tree to typed literals: numbers, strings, intervals, dates and times.

use super::rewrite::type_text;
use crate::codes;
use crate::literal::Literal;
use base::{Error, LogicalType, Result};
use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use datafusion_common::ScalarValue;
use syntax::ast::{DataType, DateTimeField, Expr, Interval, TypedString, UnaryOperator, Value};

fn bad(literal: impl std::fmt::Display, why: &str, example: &str) -> Error {
    Error::new(&codes::BAD_LITERAL, &[("literal", &literal), ("why", &why), ("example", &example)])
}

/// A plain value; `None` for NULL, which has no type of its own.
pub fn value(value: &Value) -> Result<Option<Literal>> {
    Ok(Some(match value {
        Value::Number(text, _) => number(text, false)?,
        Value::SingleQuotedString(text)
        | Value::NationalStringLiteral(text)
        | Value::UnicodeStringLiteral(text)
        | Value::EscapedStringLiteral(text) => Literal::string(text),
        Value::HexStringLiteral(text) => binary(text)?,
        Value::Boolean(value) => Literal::boolean(*value),
        Value::Null => return Ok(None),
        other => return Err(bad(other, "Flink SQL has no such literal", "'text', 12, 1.5, TRUE")),
    }))
}

/// A number as Flink types it: INT, BIGINT or DECIMAL without an exponent, DOUBLE with one.
pub fn number(text: &str, negative: bool) -> Result<Literal> {
    let signed = if negative { format!("-{text}") } else { text.to_string() };
    if text.contains(['e', 'E']) {
        let value: f64 = signed.parse().map_err(|_| bad(&signed, "it is no number", "1e3"))?;
        if value.is_infinite() {
            return Err(bad(&signed, "it is too large for DOUBLE", "CAST('Infinity' AS DOUBLE)"));
        }
        return Ok(Literal::new(format!("{signed} DOUBLE"), ScalarValue::Float64(Some(value)), LogicalType::Double));
    }
    let text = text.strip_suffix('.').unwrap_or(text);
    let Some((whole, fraction)) = text.split_once('.') else { return integer(&signed) };
    let digits = format!("{whole}{fraction}");
    decimal(&digits, digits.len(), fraction.len(), &signed, negative)
}

fn integer(signed: &str) -> Result<Literal> {
    let signed = signed.strip_suffix('.').unwrap_or(signed);
    if let Ok(value) = signed.parse::<i32>() {
        return Ok(Literal::int(value));
    }
    if let Ok(value) = signed.parse::<i64>() {
        return Ok(Literal::new(value.to_string(), ScalarValue::Int64(Some(value)), LogicalType::BigInt));
    }
    Err(bad(signed, "it is too large for BIGINT", "CAST('99999999999999999999' AS DECIMAL(20, 0))"))
}

fn decimal(digits: &str, precision: usize, scale: usize, sql: &str, negative: bool) -> Result<Literal> {
    if precision > 38 {
        return Err(bad(sql, "a DECIMAL has at most 38 digits", "1.5e40, which is a DOUBLE"));
    }
    let value: i128 = digits.parse().map_err(|_| bad(sql, "it is no number", "1.5"))?;
    let value = if negative { -value } else { value };
    let (precision, scale) = (precision.max(1) as u8, scale as u8);
    Ok(Literal::new(
        format!("{sql} DECIMAL({precision}, {scale})"),
        ScalarValue::Decimal128(Some(value), precision, scale as i8),
        LogicalType::Decimal { precision, scale },
    ))
}

fn binary(text: &str) -> Result<Literal> {
    let bytes: Option<Vec<u8>> = (text.len().is_multiple_of(2) && text.is_ascii())
        .then(|| (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect())
        .flatten();
    let bytes = bytes.ok_or_else(|| bad(format!("X'{text}'"), "it takes pairs of hexadecimal digits", "X'0AFF'"))?;
    let length = bytes.len() as u32;
    Ok(Literal::new(
        format!("X'{}'", text.to_uppercase()),
        ScalarValue::Binary(Some(bytes)),
        LogicalType::Binary(length),
    ))
}

/// `DATE '..'`, `TIME '..'`, `TIMESTAMP '..'`.
pub fn typed(typed: &TypedString) -> Result<Literal> {
    let text = match &typed.value.value {
        Value::SingleQuotedString(text) => text.trim(),
        other => return Err(bad(other, "a string is expected", "TIMESTAMP '2024-01-02 03:04:05'")),
    };
    let epoch = NaiveDate::default();
    let fraction = text.rsplit_once('.').map_or(0, |(_, digits)| digits.len());
    match &typed.data_type {
        DataType::Date => {
            let why = "a date is written as yyyy-MM-dd";
            let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| bad(typed, why, "DATE '2024-01-02'"))?;
            let days = date.signed_duration_since(epoch).num_days() as i32;
            Ok(Literal::new(format!("DATE '{date}'"), ScalarValue::Date32(Some(days)), LogicalType::Date))
        }
        DataType::Time(..) => {
            let time = NaiveTime::parse_from_str(text, "%H:%M:%S%.f")
                .map_err(|_| bad(typed, "a time is written as HH:mm:ss", "TIME '03:04:05'"))?;
            let milliseconds = time.signed_duration_since(NaiveTime::MIN).num_milliseconds() as i32;
            let precision = fraction.min(9) as u8;
            Ok(Literal::new(
                format!("TIME '{text}'"),
                ScalarValue::Time32Millisecond(Some(milliseconds)),
                LogicalType::Time(precision),
            ))
        }
        DataType::Timestamp(..) => timestamp(text, fraction).ok_or_else(|| {
            bad(
                typed,
                "a timestamp is written as yyyy-MM-dd[ HH:mm:ss[.fraction]]",
                "TIMESTAMP '2024-01-02 03:04:05.123'",
            )
        }),
        _ => Err(bad(typed, "Flink SQL has no such literal", "DATE '2024-01-02', CAST('..' AS type)")),
    }
}

fn timestamp(text: &str, fraction: usize) -> Option<Literal> {
    let time = match NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        Ok(date) => date.and_time(NaiveTime::MIN),
        Err(_) => NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok()?,
    };
    let utc = time.and_utc();
    let precision = fraction.min(9) as u8;
    let value = match precision {
        0..=3 => ScalarValue::TimestampMillisecond(Some(utc.timestamp_millis()), None),
        4..=6 => ScalarValue::TimestampMicrosecond(Some(utc.timestamp_micros()), None),
        _ => ScalarValue::TimestampNanosecond(Some(utc.timestamp_nanos_opt()?), None),
    };
    Some(Literal::new(format!("TIMESTAMP '{text}'"), value, LogicalType::Timestamp(precision)))
}

/// An interval: milliseconds or months. `INTERVAL '1' MINUTE` and `INTERVAL 1 MINUTE` are the same.
pub fn interval(interval: &Interval) -> Result<Literal> {
    let example = "INTERVAL '5' SECOND, INTERVAL '1 02:03:04' DAY TO SECOND, INTERVAL '1-6' YEAR TO MONTH";
    let fail = |why: &str| bad(interval, why, example);
    let (text, negative) = interval_text(&interval.value).ok_or_else(|| fail("its value is a number in quotes"))?;
    let (negative, text) = match text.trim().strip_prefix('-') {
        Some(rest) => (!negative, rest.trim()),
        None => (negative, text.trim().trim_start_matches('+').trim()),
    };
    let first = interval.leading_field.as_ref().ok_or_else(|| fail("its unit is missing"))?;
    let first = unit(first).ok_or_else(|| fail("its unit is unknown"))?;
    let last = match &interval.last_field {
        None => first,
        Some(field) => unit(field).ok_or_else(|| fail("its unit is unknown"))?,
    };
    let sign = if negative { -1 } else { 1 };
    let amount = parse_parts(text, first, last).ok_or_else(|| fail("its value does not fit its units"))?;
    if first <= Unit::Month {
        let months = i32::try_from(amount * sign).map_err(|_| fail("it is too long"))?;
        return Ok(Literal::year_month(months));
    }
    Ok(Literal::day_time(amount * sign))
}

/// `CAST(5 AS INTERVAL DAY)`: of a literal, the number counts the unit that is written; of a column it counts months or
/// milliseconds, as the other way round.
pub fn interval_cast(operand: &Expr, data_type: &DataType) -> Result<Option<Literal>> {
    let number = match operand {
        Expr::Nested(inner) => return interval_cast(inner, data_type),
        Expr::Value(value) => &value.value,
        _ => return Ok(None),
    };
    let text = type_text(data_type).trim().to_uppercase();
    let (Value::Number(digits, _), Some(units)) = (number, text.strip_prefix("INTERVAL ")) else { return Ok(None) };
    let last = units.rsplit(' ').next().and_then(|unit| unit.split('(').next()).unwrap_or_default();
    let Some(field) = date_time_field(last) else { return Ok(None) };
    interval(&Interval {
        value: Box::new(Expr::Value(Value::SingleQuotedString(digits.clone()).into())),
        leading_field: Some(field),
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    })
    .map(Some)
}

fn date_time_field(name: &str) -> Option<DateTimeField> {
    Some(match name.to_uppercase().as_str() {
        "YEAR" => DateTimeField::Year,
        "MONTH" => DateTimeField::Month,
        "DAY" => DateTimeField::Day,
        "HOUR" => DateTimeField::Hour,
        "MINUTE" => DateTimeField::Minute,
        "SECOND" => DateTimeField::Second,
        _ => return None,
    })
}

/// The text of an interval's value and whether a minus stands before it.
fn interval_text(value: &Expr) -> Option<(String, bool)> {
    match value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::Number(text, _) => Some((text.clone(), false)),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            interval_text(expr).map(|(text, negative)| (text, !negative))
        }
        Expr::Nested(inner) | Expr::UnaryOp { op: UnaryOperator::Plus, expr: inner } => interval_text(inner),
        _ => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
}

fn unit(field: &DateTimeField) -> Option<Unit> {
    let name = field.to_string().to_uppercase();
    Some(match name.strip_suffix('S').unwrap_or(&name) {
        "YEAR" => Unit::Year,
        "QUARTER" => Unit::Quarter,
        "MONTH" => Unit::Month,
        "WEEK" => Unit::Week,
        "DAY" => Unit::Day,
        "HOUR" => Unit::Hour,
        "MINUTE" => Unit::Minute,
        "SECOND" => Unit::Second,
        "MILLISECOND" => Unit::Millisecond,
        _ => return None,
    })
}

/// The value in months or milliseconds.
fn parse_parts(text: &str, first: Unit, last: Unit) -> Option<i64> {
    if first <= Unit::Month {
        return match text.split_once('-') {
            Some((years, months)) if first == Unit::Year && last == Unit::Month => years
                .parse::<i64>()
                .ok()?
                .checked_mul(12)?
                .checked_add(months.parse().ok().filter(|months| *months < 12)?),
            _ => {
                let factor = match first {
                    Unit::Year => 12,
                    Unit::Quarter => 3,
                    _ => 1,
                };
                text.parse::<i64>().ok()?.checked_mul(factor)
            }
        };
    }
    const DAY_UNITS: [(Unit, i64); 4] =
        [(Unit::Day, 86_400_000), (Unit::Hour, 3_600_000), (Unit::Minute, 60_000), (Unit::Second, 1_000)];
    // Only seconds have a fraction.
    if last != Unit::Second && text.contains('.') {
        return None;
    }
    if first == last {
        let factor = match first {
            Unit::Week => 7 * 86_400_000,
            Unit::Millisecond => 1,
            _ => DAY_UNITS.iter().find(|(unit, _)| *unit == first)?.1,
        };
        return scaled(text, factor);
    }
    let start = DAY_UNITS.iter().position(|(unit, _)| *unit == first)?;
    let end = DAY_UNITS.iter().position(|(unit, _)| *unit == last)?;
    let parts: Vec<&str> = text.split([' ', ':']).filter(|part| !part.is_empty()).collect();
    if start > end || parts.len() != end - start + 1 {
        return None;
    }
    parts.iter().zip(&DAY_UNITS[start..]).enumerate().try_fold(0i64, |total, (place, (part, (unit, factor)))| {
        // The first unit takes any number, those below it only what their clock shows.
        let fits = match unit {
            _ if place == 0 => i64::MAX,
            Unit::Hour => 24 * factor,
            _ => 60 * factor,
        };
        total.checked_add(scaled(part, *factor).filter(|amount| *amount < fits)?)
    })
}

/// `text` times `factor`, with at most three decimals.
fn scaled(text: &str, factor: i64) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()? };
    let mut total = whole.checked_mul(factor)?;
    if !fraction.is_empty() {
        let digits = &fraction[..fraction.len().min(9)];
        let value: i64 = digits.parse().ok()?;
        total = total.checked_add(value.checked_mul(factor)? / 10i64.checked_pow(digits.len() as u32)?)?;
    }
    Some(total)
}

#[cfg(test)]
#[path = "literals_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "literals_types_tests.rs"]
mod types_tests;
