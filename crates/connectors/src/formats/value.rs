//! Single values from text, by the rules of Java's parsers that Flink uses.
//!
//! All functions take bytes and allocate nothing.

use arrow::datatypes::TimeUnit;
use base::text::{DAY_MS, days_from_civil, days_of_month, units_per_second};

/// Without the blanks and control characters around it, as Java's `trim`.
pub fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| *byte > b' ').unwrap_or(text.len());
    let end = text.iter().rposition(|byte| *byte > b' ').map_or(start, |last| last + 1);
    &text[start..end]
}

/// A whole number: an optional sign and digits. `None` if it is no number or does not fit.
pub fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0i64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Counting down, so that the smallest number fits too.
        value = value.checked_mul(10)?.checked_sub(i64::from(digit))?;
    }
    if negative { Some(value) } else { value.checked_neg() }
}

/// The whole part of a JSON number such as `3.9` or `1e3`, cut towards zero. `None` if it does not fit.
pub fn whole_part(number: &[u8]) -> Option<i64> {
    let parts = NumberParts::of(number)?;
    i64::try_from(parts.scaled(0, Rounding::Down)?).ok()
}

/// A FLOAT or DOUBLE, also `NaN`, `Infinity` and Java's suffixes `f` and `d`.
pub fn float<T: fast_float2::FastFloat>(text: &[u8]) -> Option<T> {
    let number = match text {
        [rest @ .., b'f' | b'F' | b'd' | b'D']
            if rest.last().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') =>
        {
            rest
        }
        _ => text,
    };
    let unsigned = number.strip_prefix(b"-").or_else(|| number.strip_prefix(b"+")).unwrap_or(number);
    match unsigned {
        b"NaN" => fast_float2::parse("nan").ok(),
        b"Infinity" => fast_float2::parse(if text[0] == b'-' { "-inf" } else { "inf" }).ok(),
        // The library knows more spellings of these than Java.
        [b'0'..=b'9' | b'.', ..] => fast_float2::parse(number).ok(),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rounding {
    Down,
    HalfUp,
}

/// A decimal number taken apart: its value is the digits of `whole` and `fraction` together, times
/// `10 ^ (exponent - fraction.len())`.
struct NumberParts<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

/// Exponents are cut to this; beyond it every number is zero or overflows.
const EXPONENT_MAX: i64 = 1_000_000_000;

impl<'a> NumberParts<'a> {
    /// Takes apart `-12.5e+3`; also Java's `.5`, `5.` and `+5`.
    fn of(text: &'a [u8]) -> Option<NumberParts<'a>> {
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let (whole, rest) = split_digits(rest);
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => split_digits(rest),
            _ => (&rest[..0], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', digits @ ..] => {
                let unsigned = digits.strip_prefix(b"-").or_else(|| digits.strip_prefix(b"+")).unwrap_or(digits);
                if unsigned.is_empty() || !unsigned.iter().all(u8::is_ascii_digit) {
                    return None;
                }
                let far = if digits[0] == b'-' { -EXPONENT_MAX } else { EXPONENT_MAX };
                integer(digits).map_or(far, |value| value.clamp(-EXPONENT_MAX, EXPONENT_MAX))
            }
            _ => return None,
        };
        Some(NumberParts { negative, whole, fraction, exponent })
    }

    fn digit(&self, index: usize) -> u8 {
        let byte = if index < self.whole.len() { self.whole[index] } else { self.fraction[index - self.whole.len()] };
        byte - b'0'
    }

    /// The number times `10 ^ scale`, rounded to a whole number. `None` beyond 38 digits.
    fn scaled(&self, scale: u8, rounding: Rounding) -> Option<i128> {
        let count = self.whole.len() + self.fraction.len();
        let shift = self.exponent - self.fraction.len() as i64 + i64::from(scale);
        let kept = (count as i64 + shift.min(0)).max(0) as usize;
        let mut value = 0u128;
        for index in 0..kept {
            value = value * 10 + u128::from(self.digit(index));
            if value >= POWERS[38] {
                return None;
            }
        }
        if shift > 0 && value > 0 {
            value =
                usize::try_from(shift).ok().and_then(|shift| POWERS.get(shift)).and_then(|p| value.checked_mul(*p))?;
        }
        // The first digit cut off decides; if digits are missing before it, it is a zero.
        let first_cut_exists = shift < 0 && count as i64 + shift >= 0 && kept < count;
        if rounding == Rounding::HalfUp && first_cut_exists && self.digit(kept) >= 5 {
            value += 1;
        }
        let value = if value < POWERS[38] { value as i128 } else { return None };
        Some(if self.negative { -value } else { value })
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// `10 ^ 0` to `10 ^ 38`.
const POWERS: [u128; 39] = {
    let mut powers = [1u128; 39];
    let mut index = 1;
    while index < 39 {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

/// A DECIMAL read exactly, rounded half up. Outer `None`: not a number. Inner `None`: it does not fit, which is NULL.
pub fn decimal(text: &[u8], precision: u8, scale: u8) -> Option<Option<i128>> {
    let parts = NumberParts::of(text)?;
    let limit = POWERS[usize::from(precision.min(38))];
    Some(parts.scaled(scale, Rounding::HalfUp).filter(|value| value.unsigned_abs() < limit))
}

/// Which way of writing a date with a time is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampStandard {
    /// `2024-11-20 15:01:00.123`.
    Sql,
    /// `2024-11-20T15:01:00.123`.
    Iso,
    /// Both of them.
    Either,
}

/// Why a text is no timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampFailure {
    /// It is none.
    Bad,
    /// It is one in the other standard than the one asked for.
    OtherStandard,
}

fn two(text: &[u8], at: usize) -> Option<u32> {
    let (tens, ones) = (text.get(at)?.wrapping_sub(b'0'), text.get(at + 1)?.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| u32::from(tens) * 10 + u32::from(ones))
}

/// What happens to the 30th of February.
#[derive(Clone, Copy, PartialEq)]
enum ShortMonth {
    /// It is the last day of February, as for Java's formats built in the "smart" style.
    Clamp,
    Refuse,
}

/// Days of `yyyy-MM-dd`, which is exactly the text.
fn civil_date(text: &[u8], short: ShortMonth) -> Option<i32> {
    if text.len() != 10 || text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    date_of(two(text, 0)? * 100 + two(text, 2)?, two(text, 5)?, two(text, 8)?, short)
}

fn date_of(year: u32, month: u32, day: u32, short: ShortMonth) -> Option<i32> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let last = days_of_month(i64::from(year), month);
    if day > last && short == ShortMonth::Refuse {
        return None;
    }
    Some(days_from_civil(i64::from(year), month, day.min(last)) as i32)
}

/// A DATE: `yyyy-MM-dd`.
pub fn date(text: &[u8]) -> Option<i32> {
    civil_date(text, ShortMonth::Refuse)
}

/// A DATE whose month and day may have one digit, as Flink's CSV reads it.
pub fn loose_date(text: &[u8]) -> Option<i32> {
    let mut parts = text.split(|byte| *byte == b'-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = year.len() == 4 && (1..=2).contains(&month.len()) && (1..=2).contains(&day.len());
    if !fits || parts.next().is_some() {
        return None;
    }
    let number = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit).then(|| integer(digits)).flatten();
    date_of(number(year)? as u32, number(month)? as u32, number(day)? as u32, ShortMonth::Refuse)
}

/// A time of day.
struct Clock {
    second: i64,
    nanos: u32,
}

/// Reads `HH:mm:ss[.fraction]`, which is exactly the text; with `seconds_optional` also `HH:mm`.
fn clock(text: &[u8], seconds_optional: bool, day_may_end: bool) -> Option<Clock> {
    if text.get(2) != Some(&b':') {
        return None;
    }
    let (hour, minute) = (two(text, 0)?, two(text, 3)?);
    let second = match text.get(5) {
        None if seconds_optional => 0,
        Some(b':') => two(text, 6)?,
        _ => return None,
    };
    let nanos = match text.get(8..) {
        None | Some([]) => 0,
        Some([b'.', digits @ ..]) => fraction(digits)?,
        Some(_) => return None,
    };
    let ends_day = day_may_end && hour == 24 && minute == 0 && second == 0 && nanos == 0;
    if (hour > 23 && !ends_day) || minute > 59 || second > 59 {
        return None;
    }
    Some(Clock { second: i64::from(hour * 3600 + minute * 60 + second), nanos })
}

/// Nanoseconds of up to nine digits after the point.
fn fraction(digits: &[u8]) -> Option<u32> {
    if digits.len() > 9 {
        return None;
    }
    let mut nanos = 0u32;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        nanos = nanos * 10 + u32::from(digit);
    }
    Some(nanos * 10u32.pow(9 - digits.len() as u32))
}

/// A TIME as milliseconds of the day, cut to `precision` digits: `03:04:05.123`.
pub fn time(text: &[u8], precision: u8, seconds_optional: bool) -> Option<i32> {
    let clock = clock(text, seconds_optional, false)?;
    let ms = clock.second * 1000 + i64::from(clock.nanos / 1_000_000);
    let step = 10i64.pow(3 - u32::from(precision.min(3)));
    Some((ms / step * step) as i32)
}

/// What is to be read as a timestamp.
#[derive(Debug, Clone, Copy)]
pub struct TimestampShape {
    /// Which standards are taken.
    pub standard: TimestampStandard,
    /// The unit of the value.
    pub unit: TimeUnit,
    /// Digits of the fraction that are kept.
    pub precision: u8,
    /// Whether the text ends with `Z`: a TIMESTAMP_LTZ.
    pub instant: bool,
}

/// The date read last: neighbours mostly have the same one.
#[derive(Debug, Clone, Default)]
pub struct DateCache {
    text: [u8; 10],
    days: i64,
}

/// A TIMESTAMP or TIMESTAMP_LTZ in its unit.
pub fn timestamp(text: &[u8], shape: &TimestampShape, cache: &mut DateCache) -> Result<i64, TimestampFailure> {
    use TimestampFailure::{Bad, OtherStandard};
    let local = if shape.instant { text.strip_suffix(b"Z").ok_or(Bad)? } else { text };
    if local.len() < 16 {
        return Err(Bad);
    }
    let iso = match local[10] {
        b' ' => false,
        b'T' => true,
        _ => return Err(Bad),
    };
    // Java's constants for the ISO form are strict about days, those built for the SQL form and for `Z` are not.
    let smart = !iso || shape.instant;
    let (date, rest) = (&local[..10], &local[11..]);
    let days = if cache.text == date {
        cache.days
    } else {
        let short = if smart { ShortMonth::Clamp } else { ShortMonth::Refuse };
        let days = i64::from(civil_date(date, short).ok_or(Bad)?);
        // A clamped date is not kept, because it is only right in one of the two forms.
        if civil_date(date, ShortMonth::Refuse).is_some() {
            cache.text.copy_from_slice(date);
            cache.days = days;
        }
        days
    };
    let clock = clock(rest, iso, smart).ok_or(Bad)?;
    match (shape.standard, iso) {
        (TimestampStandard::Sql, true) | (TimestampStandard::Iso, false) => return Err(OtherStandard),
        _ => {}
    }
    let per_second = units_per_second(shape.unit);
    let step = 10u32.pow(9 - u32::from(shape.precision.min(9)));
    let nanos = clock.nanos / step * step;
    let seconds = days * (DAY_MS / 1000) + clock.second;
    seconds
        .checked_mul(per_second)
        .and_then(|value| value.checked_add(i64::from(nanos) / (1_000_000_000 / per_second)))
        .ok_or(Bad)
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
