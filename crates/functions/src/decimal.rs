//! Decimal values: powers of ten, half-up rounding, and exact steps through 256 bits where 128 do not suffice.

use arrow::datatypes::i256;

/// The most digits of a DECIMAL.
pub(crate) const PRECISION_MAX: u8 = 38;

/// 10 to the `n`, for n up to 38.
pub(crate) fn pow10(n: u8) -> i128 {
    10i128.pow(u32::from(n.min(PRECISION_MAX)))
}

/// 10 to the `n`, for n up to 76.
pub(crate) fn pow10_wide(n: u32) -> i256 {
    i256::from_i128(10).wrapping_pow(n.min(76))
}

/// Whether a value has at most `precision` digits.
pub(crate) fn fits(value: i128, precision: u8) -> bool {
    value.unsigned_abs() < pow10(precision).unsigned_abs()
}

/// `a / b`, rounded half away from zero; `b` is not zero.
pub(crate) fn div_half_up(a: i128, b: i128) -> i128 {
    let (quotient, rest) = (a / b, a % b);
    if rest.unsigned_abs() >= b.unsigned_abs() - rest.unsigned_abs() {
        quotient + if (a < 0) == (b < 0) { 1 } else { -1 }
    } else {
        quotient
    }
}

/// `a / b` in 256 bits, rounded half away from zero; `b` is not zero.
pub(crate) fn div_half_up_wide(a: i256, b: i256) -> i256 {
    let (quotient, rest) = (a.wrapping_div(b), a.wrapping_rem(b));
    let (rest, divisor) = (rest.wrapping_abs(), b.wrapping_abs());
    if rest >= divisor.wrapping_sub(rest) {
        let one = if a.is_negative() == b.is_negative() { i256::ONE } else { i256::MINUS_ONE };
        quotient.wrapping_add(one)
    } else {
        quotient
    }
}

/// A 256-bit value as a decimal of `precision` digits, `None` if it has more.
pub(crate) fn narrow(value: i256, precision: u8) -> Option<i128> {
    value.to_i128().filter(|value| fits(*value, precision))
}

/// Changes the scale, rounding half up; `None` if the result has more than `precision` digits.
pub(crate) fn rescale(value: i128, from: u8, to: u8, precision: u8) -> Option<i128> {
    let value = if to >= from {
        value.checked_mul(pow10(to - from))?
    } else if from - to > PRECISION_MAX {
        0
    } else {
        div_half_up(value, pow10(from - to))
    };
    fits(value, precision).then_some(value)
}

/// Changes the scale in 256 bits, rounding half up.
pub(crate) fn rescale_wide(value: i256, from: u32, to: u32) -> i256 {
    if to >= from { value.wrapping_mul(pow10_wide(to - from)) } else { div_half_up_wide(value, pow10_wide(from - to)) }
}

/// The nearest double of a decimal.
pub(crate) fn to_double(value: i128, scale: u8) -> f64 {
    // Within 2^53 and 10^22 one division is exact rounding; beyond, the text is parsed.
    if value.unsigned_abs() < 1 << 53 && scale <= 22 {
        return value as f64 / 10f64.powi(i32::from(scale));
    }
    let mut text = String::with_capacity(48);
    base::text::push_decimal(&mut text, value, scale);
    text.parse().unwrap_or(f64::NAN)
}

/// A double as a decimal through its shortest text, half up; `None` if it does not fit or is not finite.
pub(crate) fn from_double(value: f64, precision: u8, scale: u8) -> Option<i128> {
    if !value.is_finite() {
        return None;
    }
    let mut buffer = ryu::Buffer::new();
    parse(buffer.format_finite(value), precision, scale).ok()
}

/// Why a text is not a decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bad {
    Empty,
    Character,
    Overflow,
}

/// Reads `[+-]digits[.digits][e[+-]digits]`, rounding half up to `scale`.
pub(crate) fn parse(text: &str, precision: u8, scale: u8) -> Result<i128, Bad> {
    let bytes = text.trim().as_bytes();
    if bytes.is_empty() {
        return Err(Bad::Empty);
    }
    let (negative, bytes) = match bytes[0] {
        b'-' => (true, &bytes[1..]),
        b'+' => (false, &bytes[1..]),
        _ => (false, bytes),
    };
    let (mantissa, exponent) = match bytes.iter().position(|b| matches!(b, b'e' | b'E')) {
        None => (bytes, 0),
        Some(at) => {
            let text = std::str::from_utf8(&bytes[at + 1..]).map_err(|_| Bad::Character)?;
            (&bytes[..at], text.parse::<i32>().map_err(|_| Bad::Character)?.clamp(-10_000, 10_000))
        }
    };
    let point = mantissa.iter().position(|b| *b == b'.').unwrap_or(mantissa.len());
    if !mantissa.iter().enumerate().all(|(at, b)| b.is_ascii_digit() || at == point)
        || mantissa.len() < 1 + usize::from(point < mantissa.len())
    {
        return Err(Bad::Character);
    }
    // Digits before this position count; the next one rounds.
    let cut = point as i64 + i64::from(exponent) + i64::from(scale);
    let (mut value, mut seen) = (0i128, 0i64);
    let mut round_up = false;
    for digit in mantissa.iter().filter(|b| **b != b'.').map(|b| i128::from(b - b'0')) {
        if seen < cut {
            value = value.checked_mul(10).and_then(|value| value.checked_add(digit)).ok_or(Bad::Overflow)?;
        } else if seen == cut {
            round_up = digit >= 5;
        }
        seen += 1;
    }
    while seen < cut && value != 0 {
        value = value.checked_mul(10).ok_or(Bad::Overflow)?;
        seen += 1;
    }
    value += i128::from(round_up);
    if fits(value, precision) { Ok(if negative { -value } else { value }) } else { Err(Bad::Overflow) }
}
