//! PRINTF: `java.util.Formatter` of the root locale. A format that Java refuses gives NULL.

use crate::call::{Call, Compiled, Signature, Values};
use crate::types::is_binary;
use arrow::array::*;
use arrow::datatypes::*;
use base::text::{self, Fraction};
use base::{LogicalType, Result, SqlType};

/// Widths and precisions beyond this are refused: a row cannot ask for a gigabyte of spaces.
const WIDTH_MAX: usize = 1 << 20;

pub(crate) fn result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=usize::MAX)?;
    signature.string(0)?;
    for index in 1..signature.arguments.len() {
        let logical = signature.logical(index);
        let no_text = is_binary(logical)
            || logical.fields().is_some()
            || matches!(logical, LogicalType::Array(_) | LogicalType::Map(..) | LogicalType::Multiset(_));
        if no_text {
            return Err(signature.error_because("a nested or binary value has no text here; CAST it AS STRING"));
        }
    }
    Ok(SqlType::string())
}

/// A piece of a format.
#[derive(Debug)]
enum Piece {
    Text(String),
    Spec(Spec),
}

/// Which argument a piece shows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Which {
    Next,
    Same,
    At(usize),
}

#[derive(Debug)]
struct Spec {
    which: Which,
    minus: bool,
    zero: bool,
    plus: bool,
    space: bool,
    comma: bool,
    parenthesis: bool,
    alternate: bool,
    width: Option<usize>,
    precision: Option<usize>,
    conversion: char,
    upper: bool,
}

/// The pieces of a format, `None` if Java refuses it.
fn parse(format: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        if at > 0 {
            pieces.push(Piece::Text(rest[..at].to_string()));
        }
        let (spec, after) = spec(&rest[at + 1..])?;
        pieces.push(Piece::Spec(spec));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_string()));
    }
    Some(pieces)
}

fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let value: usize = text[..end].parse().ok().filter(|value| *value <= WIDTH_MAX)?;
    Some((value, &text[end..]))
}

fn spec(text: &str) -> Option<(Spec, &str)> {
    let mut spec = Spec {
        which: Which::Next,
        minus: false,
        zero: false,
        plus: false,
        space: false,
        comma: false,
        parenthesis: false,
        alternate: false,
        width: None,
        precision: None,
        conversion: ' ',
        upper: false,
    };
    let mut rest = text;
    if let Some((index, after)) = number(rest)
        && let Some(after) = after.strip_prefix('$')
    {
        spec.which = Which::At(index.checked_sub(1)?);
        rest = after;
    }
    loop {
        let flag = match rest.as_bytes().first()? {
            b'-' => &mut spec.minus,
            b'0' => &mut spec.zero,
            b'+' => &mut spec.plus,
            b' ' => &mut spec.space,
            b',' => &mut spec.comma,
            b'(' => &mut spec.parenthesis,
            b'#' => &mut spec.alternate,
            b'<' => {
                spec.which = Which::Same;
                rest = &rest[1..];
                continue;
            }
            _ => break,
        };
        if std::mem::replace(flag, true) {
            return None;
        }
        rest = &rest[1..];
    }
    if let Some((width, after)) = number(rest) {
        (spec.width, rest) = (Some(width), after);
    }
    if let Some(after) = rest.strip_prefix('.') {
        let (precision, after) = number(after)?;
        (spec.precision, rest) = (Some(precision), after);
    }
    let conversion = rest.chars().next()?;
    spec.upper = conversion.is_ascii_uppercase();
    spec.conversion = conversion.to_ascii_lowercase();
    spec.is_valid().then(|| (spec, &rest[conversion.len_utf8()..]))
}

impl Spec {
    fn is_valid(&self) -> bool {
        let signs = self.plus || self.space || self.parenthesis;
        let numeric_flags = signs || self.zero || self.comma;
        let flags_fit = match self.conversion {
            'd' => self.precision.is_none() && !self.alternate && !self.upper,
            // Signs belong to BigInteger only.
            'x' => self.precision.is_none() && !signs && !self.comma,
            'o' => self.precision.is_none() && !signs && !self.comma && !self.upper,
            'f' => !self.upper,
            'e' => !self.comma,
            'g' => !self.alternate,
            's' | 'b' | 'h' => !numeric_flags && !self.alternate,
            'a' => !self.parenthesis && !self.comma && !self.alternate,
            'c' => !numeric_flags && !self.alternate && self.precision.is_none(),
            '%' => !numeric_flags && !self.alternate && self.precision.is_none(),
            'n' => !numeric_flags && !self.minus && self.width.is_none() && self.precision.is_none() && !self.upper,
            _ => false,
        };
        flags_fit
            && !((self.minus || self.zero) && self.width.is_none())
            && !(self.minus && self.zero)
            && !(self.plus && self.space)
    }

    /// Appends `body` in the width of the piece.
    fn pad(&self, out: &mut String, body: &str) {
        let missing = self.width.unwrap_or(0).saturating_sub(body.chars().count());
        if !self.minus {
            out.extend(std::iter::repeat_n(' ', missing));
        }
        if self.upper {
            out.push_str(&body.to_uppercase());
        } else {
            out.push_str(body);
        }
        if self.minus {
            out.extend(std::iter::repeat_n(' ', missing));
        }
    }

    /// Appends a hexadecimal number with its sign; zeros stand after its `0x`.
    fn push_number_text(&self, out: &mut String, text: &str) {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let sign = match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) if text != "NaN" => "+",
            (false, _, true) if text != "NaN" => " ",
            _ => "",
        };
        let mut body = format!("{sign}{text}");
        if self.zero && text.starts_with("0x") {
            let missing = self.width.unwrap_or(0).saturating_sub(body.len());
            body.insert_str(sign.len() + 2, &"0".repeat(missing));
        }
        self.pad(out, &body);
    }

    /// Appends the digits of a number with its sign, grouping and zeros.
    fn push_number(&self, out: &mut String, negative: bool, digits: &str) {
        let mut body = String::new();
        body.push_str(match (negative, self.parenthesis, self.plus, self.space) {
            (true, true, ..) => "(",
            (true, false, ..) => "-",
            (false, _, true, _) => "+",
            (false, _, _, true) => " ",
            _ => "",
        });
        let sign = body.len();
        let whole = digits.find('.').unwrap_or(digits.len());
        for (index, digit) in digits.chars().enumerate() {
            if self.comma && index > 0 && index < whole && (whole - index).is_multiple_of(3) {
                body.push(',');
            }
            body.push(digit);
        }
        let closed = negative && self.parenthesis;
        if self.zero {
            let missing = self.width.unwrap_or(0).saturating_sub(body.len() + usize::from(closed));
            body.insert_str(sign, &"0".repeat(missing));
        }
        if closed {
            body.push(')');
        }
        self.pad(out, &body);
    }
}

/// An argument column.
enum Column<'a> {
    Null,
    Text(crate::call::Texts),
    Boolean(BooleanArray),
    /// An integer of so many bits; DATE, TIME and intervals are integers to Java.
    Integer(Values<Int64Type>, u32),
    Double(Values<Float64Type>),
    Float(Values<Float32Type>),
    Printed(StringArray),
    Timestamp(&'a ArrayRef),
}

impl Column<'_> {
    fn new<'a>(call: &'a Call, index: usize) -> Result<Column<'a>> {
        use LogicalType as L;
        let array = &call.arguments[index];
        let logical = &call.types[index].logical;
        let as_longs = |data_type: DataType| -> Result<Column<'a>> {
            let plain = arrow::compute::cast(&arrow::compute::cast(array, &data_type)?, &DataType::Int64)?;
            Ok(Column::Integer(Values::of(plain.as_primitive::<Int64Type>().clone(), call.rows), 32))
        };
        Ok(match logical {
            L::Null => Column::Null,
            logical if logical.is_string() => Column::Text(call.texts(index)?),
            L::Boolean => Column::Boolean(array.as_boolean().clone()),
            L::TinyInt => Column::Integer(call.longs(index)?, 8),
            L::SmallInt => Column::Integer(call.longs(index)?, 16),
            L::Int => Column::Integer(call.longs(index)?, 32),
            L::BigInt => Column::Integer(call.longs(index)?, 64),
            L::Double => Column::Double(call.doubles(index)?),
            L::Float => Column::Float(call.values::<Float32Type>(index, &L::Float)?),
            L::Date | L::Time(_) => as_longs(DataType::Int32)?,
            L::IntervalYearMonth => Column::Integer(Values::of(super::intervals::stored(array)?, call.rows), 32),
            L::IntervalDayTime => Column::Integer(Values::of(super::intervals::stored(array)?, call.rows), 64),
            L::Timestamp(_) | L::TimestampLtz(_) => Column::Timestamp(array),
            _ => Column::Printed(crate::cast::print::to_text(array, &call.types[index], call.context.time_zone)?),
        })
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Column::Null => true,
            Column::Text(texts) => texts.get(row).is_none(),
            Column::Boolean(array) => array.is_null(place(array, row)),
            Column::Integer(values, _) => values.get(row).is_none(),
            Column::Double(values) => values.get(row).is_none(),
            Column::Float(values) => values.get(row).is_none(),
            Column::Printed(array) => array.is_null(place(array, row)),
            Column::Timestamp(array) => array.is_null(place(array.as_ref(), row)),
        }
    }

    /// Java's `hashCode`; `None` for types without one here.
    fn hash(&self, row: usize) -> Option<i32> {
        let fold = |bits: u64| (bits ^ (bits >> 32)) as i32;
        Some(match self {
            Column::Text(texts) => text_hash(texts.get(row)?),
            Column::Boolean(array) => {
                if array.value(place(array, row)) {
                    1231
                } else {
                    1237
                }
            }
            Column::Integer(values, 64) => fold(values.get(row)? as u64),
            Column::Integer(values, _) => values.get(row)? as i32,
            Column::Double(values) => fold(values.get(row)?.to_bits()),
            Column::Float(values) => values.get(row)?.to_bits() as i32,
            Column::Printed(array) => decimal_hash(array.value(place(array, row)))?,
            Column::Timestamp(array) => timestamp_hash(array, place(array.as_ref(), row)),
            Column::Null => return None,
        })
    }

    /// The text that Java's `toString` gives.
    fn push_text(&self, out: &mut String, row: usize) {
        match self {
            Column::Null => out.push_str("null"),
            Column::Text(texts) => out.push_str(texts.get(row).unwrap_or("null")),
            Column::Boolean(array) => {
                out.push_str(if array.value(place(array, row)) { "true" } else { "false" });
            }
            Column::Integer(values, _) => text::push_integer(out, values.get(row).unwrap_or_default()),
            Column::Double(values) => text::push_double(out, values.get(row).unwrap_or_default()),
            Column::Float(values) => text::push_float(out, values.get(row).unwrap_or_default()),
            Column::Printed(array) => out.push_str(array.value(place(array, row))),
            Column::Timestamp(array) => push_timestamp(out, array, place(array.as_ref(), row)),
        }
    }
}

fn place(array: &dyn Array, row: usize) -> usize {
    if array.len() == 1 { 0 } else { row }
}

/// The hash of Flink's texts: 32 bits of Murmur3 over the bytes, with 42 as its seed.
fn text_hash(text: &str) -> i32 {
    let add = |hash: u32, word: u32| {
        let mixed = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        (hash ^ mixed).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    };
    let (words, rest) = text.as_bytes().as_chunks::<4>();
    let hash = words.iter().fold(42, |hash, word| add(hash, u32::from_le_bytes(*word)));
    // Each byte that is left counts as a word, with its sign.
    let hash = rest.iter().fold(hash, |hash, byte| add(hash, i32::from(*byte as i8) as u32));
    let hash = hash ^ text.len() as u32;
    let hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)) as i32
}

/// The hash of Java's BigDecimal; `None` for a text that is no decimal.
fn decimal_hash(text: &str) -> Option<i32> {
    let scale = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let unscaled: i128 = text.replace('.', "").parse().ok()?;
    let magnitude = unscaled.unsigned_abs();
    let words = (0..4).rev().map(|word| (magnitude >> (32 * word)) as u32);
    let hash = words.fold(0u32, |hash, word| hash.wrapping_mul(31).wrapping_add(word)) as i32;
    Some(hash.wrapping_mul(unscaled.signum() as i32).wrapping_mul(31).wrapping_add(scale as i32))
}

fn timestamp_hash(array: &ArrayRef, row: usize) -> i32 {
    let (ms, nanos) = match array.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let value = array.as_primitive::<TimestampMicrosecondType>().value(row);
            (value.div_euclid(1_000), value.rem_euclid(1_000) * 1_000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            let value = array.as_primitive::<TimestampNanosecondType>().value(row);
            (value.div_euclid(1_000_000), value.rem_euclid(1_000_000))
        }
        _ => (array.as_primitive::<TimestampMillisecondType>().value(row), 0),
    };
    ((ms ^ (ms >> 32)) as i32).wrapping_mul(31).wrapping_add(nanos as i32)
}

/// `LocalDateTime.toString`: the fraction in groups of three digits.
fn push_timestamp(out: &mut String, array: &ArrayRef, row: usize) {
    let (value, unit) = match array.data_type() {
        DataType::Timestamp(unit @ TimeUnit::Microsecond, _) => {
            (array.as_primitive::<TimestampMicrosecondType>().value(row), *unit)
        }
        DataType::Timestamp(unit @ TimeUnit::Nanosecond, _) => {
            (array.as_primitive::<TimestampNanosecondType>().value(row), *unit)
        }
        _ => (array.as_primitive::<TimestampMillisecondType>().value(row), TimeUnit::Millisecond),
    };
    let start = out.len();
    text::push_timestamp(out, value, unit, 'T', Fraction::Trimmed);
    if let Some(point) = out[start..].find('.') {
        let digits = out.len() - start - point - 1;
        out.extend(std::iter::repeat_n('0', digits.next_multiple_of(3) - digits));
    } else if out.ends_with(":00") {
        out.truncate(out.len() - 3);
    }
}

/// `PRINTF(format, value, ...)`.
pub(crate) fn evaluate(call: &Call) -> Result<ArrayRef> {
    let formats = call.texts(0)?;
    let values = (1..call.len()).map(|index| Column::new(call, index)).collect::<Result<Vec<_>>>()?;
    let mut compiled = Compiled::new();
    call.write_texts(|row, out| {
        let Some(format) = formats.get(row) else { return Ok(false) };
        let pieces = compiled.get(format, |format| Ok(parse(format)))?;
        Ok(pieces.as_ref().is_some_and(|pieces| format_row(pieces, &values, row, out).is_some()))
    })
}

/// Appends a row; `None` if an argument is missing or does not fit its piece.
fn format_row(pieces: &[Piece], values: &[Column], row: usize, out: &mut String) -> Option<()> {
    let (mut next, mut last) = (0, None);
    for piece in pieces {
        let spec = match piece {
            Piece::Text(text) => {
                out.push_str(text);
                continue;
            }
            Piece::Spec(spec) => spec,
        };
        match spec.conversion {
            'n' => {
                out.push('\n');
                continue;
            }
            '%' => {
                spec.pad(out, "%");
                continue;
            }
            _ => {}
        }
        let index = match spec.which {
            Which::At(index) => index,
            Which::Same => last?,
            Which::Next => {
                next += 1;
                next - 1
            }
        };
        last = Some(index);
        push_value(spec, values.get(index)?, row, out)?;
    }
    Some(())
}

fn push_value(spec: &Spec, value: &Column, row: usize, out: &mut String) -> Option<()> {
    let mut body = String::new();
    if value.is_null(row) {
        let text = if spec.conversion == 'b' { "false" } else { "null" };
        spec.pad(out, &text[..spec.precision.unwrap_or(text.len()).min(text.len())]);
        return Some(());
    }
    match (spec.conversion, value) {
        ('s', _) => value.push_text(&mut body, row),
        ('h', value) => body = format!("{:x}", value.hash(row)?),
        ('a', Column::Double(values)) => {
            spec.push_number_text(out, &hexadecimal(values.get(row)?, spec.precision));
            return Some(());
        }
        ('a', Column::Float(values)) => {
            spec.push_number_text(out, &hexadecimal(f64::from(values.get(row)?), spec.precision));
            return Some(());
        }
        ('b', Column::Boolean(_)) => value.push_text(&mut body, row),
        ('b', _) => body.push_str("true"),
        ('c', Column::Integer(values, bits)) if *bits < 64 => {
            body.push(char::from_u32(u32::try_from(values.get(row)?).ok()?)?);
        }
        ('d', Column::Integer(values, _)) => {
            let number = values.get(row)?;
            text::push_integer(&mut body, number);
            spec.push_number(out, number < 0, body.trim_start_matches('-'));
            return Some(());
        }
        ('x' | 'o', Column::Integer(values, bits)) => {
            let number = values.get(row)? as u64 & (u64::MAX >> (64 - bits));
            let hex = spec.conversion == 'x';
            let digits = if hex { format!("{number:x}") } else { format!("{number:o}") };
            let prefix = match (spec.alternate, hex) {
                (true, true) => "0x",
                (true, false) => "0",
                _ => "",
            };
            let missing =
                if spec.zero { spec.width.unwrap_or(0).saturating_sub(prefix.len() + digits.len()) } else { 0 };
            body = format!("{prefix}{}{digits}", "0".repeat(missing));
        }
        ('f' | 'e' | 'g', Column::Double(values)) => {
            let mut text = String::new();
            text::push_double(&mut text, values.get(row)?);
            return push_real(spec, &text, out);
        }
        ('f' | 'e' | 'g', Column::Float(values)) => {
            let mut text = String::new();
            text::push_float(&mut text, values.get(row)?);
            return push_real(spec, &text, out);
        }
        _ => return None,
    }
    if let (Some(precision), 's' | 'b' | 'h') = (spec.precision, spec.conversion) {
        let end = body.char_indices().nth(precision).map_or(body.len(), |(at, _)| at);
        body.truncate(end);
    }
    spec.pad(out, &body);
    Some(())
}

/// `0x1.8p0`: Java's `Double.toHexString`, with so many digits after the point if that is asked for.
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    const MANTISSA_BITS: u32 = 52;
    let sign = if value.is_sign_negative() && !value.is_nan() { "-" } else { "" };
    if !value.is_finite() {
        return if value.is_nan() { "NaN".into() } else { format!("{sign}Infinity") };
    }
    let bits = value.abs().to_bits();
    let (exponent, mut mantissa) = ((bits >> MANTISSA_BITS) as i64, bits & ((1 << MANTISSA_BITS) - 1));
    let mut whole = u64::from(exponent > 0);
    let mut power = if bits == 0 { 0 } else { exponent.max(1) - 1023 };
    let digits = precision.map(|digits| digits.max(1)).filter(|digits| *digits < 13);
    if let Some(digits) = digits {
        if whole == 0 && mantissa != 0 {
            let shift = mantissa.leading_zeros() - (63 - MANTISSA_BITS);
            (whole, mantissa) = (1, (mantissa << shift) & ((1 << MANTISSA_BITS) - 1));
            power -= i64::from(shift);
        }
        // Half to even.
        let drop = MANTISSA_BITS - 4 * digits as u32;
        let (kept, rest, half) = (mantissa >> drop, mantissa & ((1 << drop) - 1), 1u64 << (drop - 1));
        let kept = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
        mantissa = kept << drop;
        if mantissa >> MANTISSA_BITS == 1 {
            (mantissa, power) = (0, power + 1);
        }
    }
    let all = format!("{mantissa:013x}");
    let shown = match digits {
        Some(digits) => &all[..digits],
        None => match all.trim_end_matches('0') {
            "" => "0",
            shown => shown,
        },
    };
    format!("{sign}0x{whole}.{shown}p{power}")
}

/// A positive number as digits and the place of the point: 0.d1d2... * 10^point.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// Reads Java's `12.5` or `1.25E7`.
    fn read(text: &str) -> Decimal {
        let (mantissa, exponent) = text.split_once('E').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
        let mut point = whole.len() as i64 + exponent.parse::<i64>().unwrap_or(0);
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        point -= zeros as i64;
        if digits.is_empty() {
            point = 1;
        }
        Decimal { digits, point }
    }

    /// Keeps so many digits, rounding half up.
    fn round(&mut self, keep: i64) {
        if keep < 0 {
            self.digits.clear();
            return;
        }
        let keep = keep as usize;
        if keep >= self.digits.len() {
            return;
        }
        let up = self.digits[keep] >= 5;
        self.digits.truncate(keep);
        if !up {
            return;
        }
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.point += 1;
    }

    fn digit(&self, place: i64) -> char {
        usize::try_from(place).ok().and_then(|place| self.digits.get(place)).map_or('0', |digit| (b'0' + digit) as char)
    }

    /// With so many digits after the point.
    fn plain(mut self, fraction: usize) -> String {
        self.round(self.point + fraction as i64);
        let whole = self.point.max(1);
        let shift = self.point - whole;
        let mut out: String = (0..whole).map(|place| self.digit(place + shift)).collect();
        if fraction > 0 {
            out.push('.');
            out.extend((0..fraction as i64).map(|place| self.digit(self.point + place)));
        }
        out
    }

    /// `d.ddde+XX`.
    fn scientific(mut self, fraction: usize) -> String {
        self.round(fraction as i64 + 1);
        let exponent = if self.digits.iter().all(|digit| *digit == 0) { 0 } else { self.point - 1 };
        let mut out = String::from(self.digit(0));
        if fraction > 0 {
            out.push('.');
            out.extend((1..=fraction as i64).map(|place| self.digit(place)));
        }
        out.push_str(&format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()));
        out
    }
}

fn push_real(spec: &Spec, text: &str, out: &mut String) -> Option<()> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        let sign = match (negative, spec.parenthesis, spec.plus) {
            (true, true, _) => "(",
            (true, false, _) => "-",
            (false, _, true) if text != "NaN" => "+",
            _ => "",
        };
        let close = if sign == "(" { ")" } else { "" };
        spec.pad(out, &format!("{sign}{text}{close}"));
        return Some(());
    }
    let decimal = Decimal::read(text);
    let precision = spec.precision.unwrap_or(6);
    let digits = match spec.conversion {
        'f' => decimal.plain(precision),
        'e' => decimal.scientific(precision),
        _ => {
            let precision = precision.max(1);
            let mut rounded = Decimal { digits: decimal.digits.clone(), point: decimal.point };
            rounded.round(precision as i64);
            // From 10^-4 to 10^precision plainly.
            match rounded.point {
                point if point > -4 && point <= precision as i64 => decimal.plain((precision as i64 - point) as usize),
                _ => decimal.scientific(precision - 1),
            }
        }
    };
    spec.push_number(out, negative, &digits);
    Some(())
}
