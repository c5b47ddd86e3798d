//! Text of values as Java and Flink write it, and the calendar arithmetic behind it.
//!
//! Formats, CAST and the printing of results share these functions, so that a value looks the same everywhere. All of
//! them append to a `String` that the caller reuses.

use arrow::datatypes::TimeUnit;
use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::Tz;

/// Milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// Appends a DOUBLE as Java's `Double.toString` does: `1.0`, `1.0E7`, `1.0E-4`, `NaN`, `-Infinity`.
///
/// The digits are the fewest that read back as the same number. Java before 19 sometimes writes one digit more.
pub fn push_double(out: &mut String, v: f64) {
    if v.is_finite() {
        push_java_number(out, ryu::Buffer::new().format_finite(v), (1e-3..1e7).contains(&v.abs()) || v == 0.0);
    } else {
        out.push_str(not_finite(v.is_nan(), v > 0.0));
    }
}

/// Appends a FLOAT as Java's `Float.toString` does.
pub fn push_float(out: &mut String, v: f32) {
    if v.is_finite() {
        push_java_number(out, ryu::Buffer::new().format_finite(v), (1e-3..1e7).contains(&v.abs()) || v == 0.0);
    } else {
        out.push_str(not_finite(v.is_nan(), v > 0.0));
    }
}

fn not_finite(nan: bool, positive: bool) -> &'static str {
    match (nan, positive) {
        (true, _) => "NaN",
        (false, true) => "Infinity",
        (false, false) => "-Infinity",
    }
}

/// The longest digit string of ryu: 17 significant digits, or 16 digits and zeros before the exponent form sets in.
const DIGITS_MAX: usize = 40;

/// Rewrites ryu's `12.5`, `1e-5` or `1.25e20` in Java's form. `plain`: without an exponent.
fn push_java_number(out: &mut String, text: &str, plain: bool) {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    out.push_str(sign);
    let (mantissa, exponent) = match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().unwrap_or(0)),
        None if plain => return out.push_str(text),
        None => (text, 0),
    };
    // The value is 0.d1d2d3... * 10^point.
    let mut digits = [0u8; DIGITS_MAX];
    let mut count = 0;
    let mut point = exponent;
    let mut after_point = false;
    for &byte in mantissa.as_bytes() {
        if byte == b'.' {
            after_point = true;
        } else if count == 0 && byte == b'0' {
            point -= i32::from(after_point);
        } else {
            point += i32::from(!after_point);
            if count < DIGITS_MAX {
                digits[count] = byte;
                count += 1;
            }
        }
    }
    while count > 1 && digits[count - 1] == b'0' {
        count -= 1;
    }
    let digit = |index: usize| if index < count { digits[index] as char } else { '0' };
    if plain {
        if point <= 0 {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', -point as usize));
            out.extend((0..count.max(1)).map(digit));
        } else {
            let whole = point as usize;
            out.extend((0..whole).map(digit));
            out.push('.');
            out.extend((whole..count.max(whole + 1)).map(digit));
        }
    } else {
        out.push(digit(0));
        out.push('.');
        out.extend((1..count.max(2)).map(digit));
        out.push('E');
        push_integer(out, i64::from(point - 1));
    }
}

/// Appends a whole number.
pub fn push_integer(out: &mut String, v: i64) {
    out.push_str(itoa::Buffer::new().format(v));
}

/// Appends a DECIMAL with all the digits of its scale: `12.50`.
pub fn push_decimal(out: &mut String, unscaled: i128, scale: u8) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(unscaled.unsigned_abs());
    if unscaled < 0 {
        out.push('-');
    }
    push_digits(out, digits, usize::from(scale));
}

/// Appends digits with a point before the last `scale` of them.
fn push_digits(out: &mut String, digits: &str, scale: usize) {
    if scale == 0 {
        out.push_str(digits);
    } else if digits.len() > scale {
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    } else {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', scale - digits.len()));
        out.push_str(digits);
    }
}

/// Appends a DECIMAL as Java's `BigDecimal.stripTrailingZeros().toString()` does: `12.5`, `1E+2`, `1E-7`, `0`.
pub fn push_decimal_java(out: &mut String, unscaled: i128, scale: u8) {
    if unscaled == 0 {
        return out.push('0');
    }
    let mut buffer = itoa::Buffer::new();
    let all = buffer.format(unscaled.unsigned_abs());
    let digits = all.trim_end_matches('0');
    let scale = i32::from(scale) - (all.len() - digits.len()) as i32;
    let exponent = digits.len() as i32 - 1 - scale;
    if unscaled < 0 {
        out.push('-');
    }
    if scale >= 0 && exponent >= -6 {
        return push_digits(out, digits, scale as usize);
    }
    out.push_str(&digits[..1]);
    if digits.len() > 1 {
        out.push('.');
        out.push_str(&digits[1..]);
    }
    out.push('E');
    if exponent > 0 {
        out.push('+');
    }
    push_integer(out, i64::from(exponent));
}

/// Appends `value` with leading zeros, `width` digits at least.
fn push_padded(out: &mut String, value: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value);
    out.extend(std::iter::repeat_n('0', width.saturating_sub(digits.len())));
    out.push_str(digits);
}

fn push_two(out: &mut String, value: u32) {
    out.push((b'0' + (value / 10 % 10) as u8) as char);
    out.push((b'0' + (value % 10) as u8) as char);
}

/// Appends a DATE: `2024-01-02`.
pub fn push_date(out: &mut String, days: i32) {
    push_civil(out, i64::from(days));
}

fn push_civil(out: &mut String, days: i64) {
    let (year, month, day) = civil_from_days(days);
    if year < 0 {
        out.push('-');
    }
    if (1000..10_000).contains(&year) {
        push_two(out, (year / 100) as u32);
        push_two(out, (year % 100) as u32);
    } else {
        push_padded(out, year.unsigned_abs(), 4);
    }
    out.push('-');
    push_two(out, month);
    out.push('-');
    push_two(out, day);
}

fn push_clock(out: &mut String, second_of_day: u32) {
    push_two(out, second_of_day / 3600);
    out.push(':');
    push_two(out, second_of_day / 60 % 60);
    out.push(':');
    push_two(out, second_of_day % 60);
}

/// Appends a TIME with `precision` digits of its fraction: `03:04:05`, `03:04:05.123`.
pub fn push_time(out: &mut String, ms_of_day: i32, precision: u8) {
    let ms = i64::from(ms_of_day).rem_euclid(DAY_MS) as u32;
    push_clock(out, ms / 1000);
    push_fraction(out, ms % 1000 * 1_000_000, Fraction::Fixed(precision));
}

/// How much of a fraction of a second is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fraction {
    /// Exactly so many digits; further ones are cut off.
    Fixed(u8),
    /// All digits but trailing zeros; nothing if the fraction is zero.
    Trimmed,
}

fn push_fraction(out: &mut String, nanos: u32, fraction: Fraction) {
    let mut digits = [b'0'; 9];
    let mut rest = nanos;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let count = match fraction {
        Fraction::Fixed(count) => usize::from(count.min(9)),
        Fraction::Trimmed => digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1),
    };
    if count > 0 {
        out.push('.');
        out.extend(digits[..count].iter().map(|digit| *digit as char));
    }
}

/// Units of `unit` in a second.
pub fn units_per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Appends a timestamp as the wall clock of UTC reads: date, `separator`, time.
///
/// For a TIMESTAMP that is its value; for a TIMESTAMP_LTZ add [`zone_offset_ms`] first.
pub fn push_timestamp(out: &mut String, value: i64, unit: TimeUnit, separator: char, fraction: Fraction) {
    let per_second = units_per_second(unit);
    let (seconds, rest) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    push_civil(out, days);
    out.push(separator);
    push_clock(out, second_of_day as u32);
    push_fraction(out, (rest * (1_000_000_000 / per_second)) as u32, fraction);
}

/// Days from 1970-01-01 to a day of the Gregorian calendar, also before its invention.
pub fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    // Years begin in March here, so that the leap day is the last one.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a day counted from 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

/// The number of days of a month.
pub fn days_of_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// A date and time without a zone; beyond the calendar of `chrono` the nearest end of it.
fn wall_clock(ms: i64) -> NaiveDateTime {
    let outside = if ms < 0 { DateTime::<chrono::Utc>::MIN_UTC } else { DateTime::<chrono::Utc>::MAX_UTC };
    DateTime::from_timestamp_millis(ms).unwrap_or(outside).naive_utc()
}

/// What has to be added to an instant to get the reading of a wall clock in `zone`.
pub fn zone_offset_ms(zone: Tz, epoch_ms: i64) -> i64 {
    if zone == Tz::UTC {
        return 0;
    }
    offset_ms(&zone.offset_from_utc_datetime(&wall_clock(epoch_ms)))
}

fn offset_ms(offset: &impl Offset) -> i64 {
    i64::from(offset.fix().local_minus_utc()) * 1000
}

/// The instant at which a wall clock in `zone` reads `local_ms`, by Java's rules.
///
/// A reading that a change of the clock skips is moved on by the length of the gap; of one that comes twice, the first is
/// meant. Both follow from the offset before the change.
pub fn local_to_instant_ms(zone: Tz, local_ms: i64) -> i64 {
    if zone == Tz::UTC {
        return local_ms;
    }
    let offset = match zone.offset_from_local_datetime(&wall_clock(local_ms)) {
        MappedLocalTime::Single(offset) => offset_ms(&offset),
        MappedLocalTime::Ambiguous(first, second) => offset_ms(&first).max(offset_ms(&second)),
        MappedLocalTime::None => zone_offset_ms(zone, local_ms.saturating_sub(DAY_MS)),
    };
    local_ms.saturating_sub(offset)
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
