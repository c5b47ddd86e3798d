//! Reads values from text as CAST does: surrounding spaces are ignored, the rest is strict.
//!
//! The error is the reason, for the message.

use base::text::{days_from_civil, days_of_month};

const DAY_NS: i64 = 86_400_000_000_000;

/// An integer, with a fraction that is cut off, between `min` and `max`.
pub(crate) fn integer(text: &str, min: i64, max: i64) -> Result<i64, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the text is empty");
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return Err("it has a character that is not a digit");
    }
    let negative = text.starts_with('-');
    let mut value = 0i128;
    for digit in whole.bytes() {
        value = value * 10 + i128::from(digit - b'0');
        if value > 1 << 64 {
            return Err("the number is out of range");
        }
    }
    let value = if negative { -value } else { value };
    i64::try_from(value).ok().filter(|value| (min..=max).contains(value)).ok_or("the number is out of range")
}

/// A floating-point number in Java's syntax.
pub(crate) fn double(text: &str) -> Result<f64, &'static str> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let value = match unsigned {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        _ => {
            let unsigned = unsigned.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(unsigned);
            if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
                return Err(if text.is_empty() { "the text is empty" } else { "it is not a number" });
            }
            fast_float2::parse(unsigned).map_err(|_| "it is not a number")?
        }
    };
    Ok(if text.starts_with('-') { -value } else { value })
}

/// `true`, `t`, `yes`, `y`, `1` and their opposites, in any letter case, and without spaces around.
pub(crate) fn boolean(text: &str) -> Result<bool, &'static str> {
    let is = |words: [&str; 5]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is(["t", "true", "y", "yes", "1"]) {
        Ok(true)
    } else if is(["f", "false", "n", "no", "0"]) {
        Ok(false)
    } else {
        Err("it is none of true, t, yes, y, 1, false, f, no, n, 0")
    }
}

fn number(text: &str, digits_max: usize) -> Option<i64> {
    (!text.is_empty() && text.len() <= digits_max && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

/// A day: `2024-01-02`, `2024-1-2`, `2024-01` or `2024`; a time of day behind it is ignored.
pub(crate) fn date(text: &str) -> Result<i32, &'static str> {
    const WHY: &str = "it is not a date yyyy-MM-dd";
    let text = text.trim();
    let text = text.split_once(' ').map_or(text, |(date, _)| date);
    let mut parts = text.split('-');
    let mut next = |missing: i64| match parts.next() {
        None => Some(missing),
        Some(part) => number(part.trim(), 9),
    };
    let (year, month, day) = (next(-1), next(1), next(1));
    let (Some(year), Some(month), Some(day), None) = (year, month, day, parts.next()) else { return Err(WHY) };
    if !(0..=9999).contains(&year) || !(1..=12).contains(&month) {
        return Err(WHY);
    }
    if day < 1 || day > i64::from(days_of_month(year, month as u32)) {
        return Err("the month has no such day");
    }
    Ok(days_from_civil(year, month as u32, day as u32) as i32)
}

/// A time of day: `03:04:05.678`, `03:04` or `03`, in milliseconds.
pub(crate) fn time(text: &str) -> Result<i32, &'static str> {
    const WHY: &str = "it is not a time HH:mm:ss";
    let text = text.trim();
    let mut parts = text.splitn(3, ':');
    let hour = parts.next().and_then(|part| number(part.trim(), 2)).ok_or(WHY)?;
    let minute = parts.next().map_or(Some(0), |part| number(part.trim(), 2)).ok_or(WHY)?;
    let (second, nanos) = parts.next().map_or(Some((0, 0)), second_and_nanos).ok_or(WHY)?;
    if hour > 23 || minute > 59 || second > 59 {
        return Err(WHY);
    }
    Ok(((hour * 60 + minute) * 60 + second) as i32 * 1_000 + (nanos / 1_000_000) as i32)
}

fn second_and_nanos(text: &str) -> Option<(i64, i64)> {
    let (second, fraction) = match text.trim().split_once('.') {
        None => (text.trim(), ""),
        Some((second, fraction)) => (second, fraction),
    };
    if fraction.len() > 9 {
        return None;
    }
    let nanos = if fraction.is_empty() { 0 } else { number(fraction, 9)? * 10i64.pow(9 - fraction.len() as u32) };
    Some((number(second, 2)?, nanos))
}

/// A wall-clock reading: days since 1970-01-01 and nanoseconds of the day.
pub(crate) type Reading = (i64, i64);

/// `yyyy-MM-dd HH:mm:ss[.fraction]`, with one or two digits from the month on. Without `time_required`, a date alone is
/// its midnight. Days after the end of a month become its last day.
pub(crate) fn timestamp(text: &str, time_required: bool) -> Result<Reading, &'static str> {
    const WHY: &str = "it is not a timestamp yyyy-MM-dd HH:mm:ss[.fraction]";
    let text = text.trim();
    let (date, time) = match text.split_once(' ') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let mut next = |digits_max| parts.next().and_then(|part| number(part, digits_max));
    let (year, month, day) = (next(4).ok_or(WHY)?, next(2).ok_or(WHY)?, next(2).ok_or(WHY)?);
    if parts.next().is_some() || date.find('-') != Some(4) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return Err(WHY);
    }
    let day = day.min(i64::from(days_of_month(year, month as u32)));
    let days = days_from_civil(year, month as u32, day as u32);
    let Some(time) = time else {
        return if time_required { Err(WHY) } else { Ok((days, 0)) };
    };
    let mut parts = time.split(':');
    let hour = parts.next().and_then(|part| number(part, 2)).ok_or(WHY)?;
    let minute = parts.next().and_then(|part| number(part, 2)).ok_or(WHY)?;
    let (second, nanos) = parts.next().and_then(second_and_nanos).ok_or(WHY)?;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return Err(WHY);
    }
    Ok((days, ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + nanos))
}

/// A reading in `per_second` units since 1970-01-01, cut to `precision` digits; `None` if it is out of range.
pub(crate) fn reading_to_units((days, nanos): Reading, precision: u8, per_second: i64) -> Option<i64> {
    debug_assert!((0..DAY_NS).contains(&nanos));
    let step = 10i64.pow(9 - u32::from(precision.min(9)));
    let nanos = nanos - nanos % step;
    let units_of_day = nanos / (1_000_000_000 / per_second);
    days.checked_mul(86_400)?.checked_mul(per_second)?.checked_add(units_of_day)
}
