//! String functions over whole characters (code points): case, trimming, padding, joining, replacing.

use crate::call::{Call, Signature};
use crate::types::is_binary;
use arrow::array::*;
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int32Type, Int64Type};
use base::types::LENGTH_MAX;
use base::{Error, LogicalType, Result, SqlType};
use std::sync::Arc;

/// STRING, nullable if an argument is; every argument is a string.
pub(crate) fn all_strings(signature: &Signature) -> Result<SqlType> {
    for index in 0..signature.arguments.len() {
        signature.string(index)?;
    }
    signature.strict(LogicalType::STRING)
}

/// The type of the only argument, a string.
pub(crate) fn same_string(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.string(0)?;
    Ok(signature.sql_type(0).clone())
}

/// STRING of one string.
pub(crate) fn one_string(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    all_strings(signature)
}

/// STRING of one string, NULL allowed whatever the argument says.
pub(crate) fn nullable_string(signature: &Signature) -> Result<SqlType> {
    one_string(signature)?;
    Ok(SqlType::string())
}

/// STRING of three strings.
pub(crate) fn three_strings(signature: &Signature) -> Result<SqlType> {
    signature.arity(3..=3)?;
    all_strings(signature)
}

/// VARCHAR of the length of a string type.
pub(crate) fn varying(logical: &LogicalType) -> LogicalType {
    match logical {
        LogicalType::Char(length) | LogicalType::VarChar(length) => LogicalType::VarChar(*length),
        _ => LogicalType::STRING,
    }
}

/// A function of one string to a string.
fn map(call: &Call, write: impl Fn(&str, &mut String)) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.write_texts(|row, out| {
        let Some(text) = texts.get(row) else { return Ok(false) };
        write(text, out);
        Ok(true)
    })
}

pub(crate) fn lower(call: &Call) -> Result<ArrayRef> {
    map(call, |text, out| match text.is_ascii() {
        true => out.extend(text.bytes().map(|byte| byte.to_ascii_lowercase() as char)),
        false => out.push_str(&text.to_lowercase()),
    })
}

pub(crate) fn upper(call: &Call) -> Result<ArrayRef> {
    map(call, |text, out| match text.is_ascii() {
        true => out.extend(text.bytes().map(|byte| byte.to_ascii_uppercase() as char)),
        false => out.push_str(&text.to_uppercase()),
    })
}

pub(crate) fn reverse(call: &Call) -> Result<ArrayRef> {
    map(call, |text, out| out.extend(text.chars().rev()))
}

/// The first letter of each word in upper case, the others in lower case. Only ASCII has letters: others stand between
/// words.
pub(crate) fn init_cap(call: &Call) -> Result<ArrayRef> {
    map(call, |text, out| {
        let mut inside = false;
        for c in text.chars() {
            out.push(if inside { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() });
            inside = c.is_ascii_alphanumeric();
        }
    })
}

pub(crate) fn concat_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=usize::MAX)?;
    all_strings(signature)
}

pub(crate) fn concat_operator_result(signature: &Signature) -> Result<SqlType> {
    use LogicalType::{Char, VarChar};
    signature.arity(2..=2)?;
    let logical = match (signature.logical(0), signature.logical(1)) {
        (Char(a), Char(b)) => Char(a.saturating_add(*b)),
        (Char(a) | VarChar(a), Char(b) | VarChar(b)) => VarChar(a.saturating_add(*b).min(LENGTH_MAX)),
        (LogicalType::Null, other) | (other, LogicalType::Null) if other.is_string() => other.clone(),
        (LogicalType::Array(_), LogicalType::Array(_)) => return super::collections::concat_result(signature),
        _ => return Err(signature.error()),
    };
    signature.strict(logical)
}

/// `CONCAT` and `||`: NULL if an argument is NULL.
pub(crate) fn concat(call: &Call) -> Result<ArrayRef> {
    if matches!(call.result.logical, LogicalType::Array(_)) {
        return super::collections::concat(call);
    }
    let texts = (0..call.len()).map(|index| call.texts(index)).collect::<Result<Vec<_>>>()?;
    call.write_texts(|row, out| {
        for texts in &texts {
            let Some(text) = texts.get(row) else { return Ok(false) };
            out.push_str(text);
        }
        Ok(true)
    })
}

/// Joins what is not NULL; NULL if the separator is.
pub(crate) fn concat_ws(call: &Call) -> Result<ArrayRef> {
    let texts = (0..call.len()).map(|index| call.texts(index)).collect::<Result<Vec<_>>>()?;
    let Some((separators, texts)) = texts.split_first() else { return Ok(call.nulls()) };
    call.write_texts(|row, out| {
        let Some(separator) = separators.get(row) else { return Ok(false) };
        for (index, text) in texts.iter().filter_map(|texts| texts.get(row)).enumerate() {
            if index > 0 {
                out.push_str(separator);
            }
            out.push_str(text);
        }
        Ok(true)
    })
}

/// `TRIM('BOTH', characters, x)`.
pub(crate) fn trim_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=3)?;
    all_strings(signature)?;
    signature.strict(varying(signature.logical(signature.arguments.len() - 1)))
}

fn trim_sides(text: &str, characters: &str, start: bool, end: bool, out: &mut String) {
    let mut text = text;
    if start {
        text = text.trim_start_matches(|c| characters.contains(c));
    }
    if end {
        text = text.trim_end_matches(|c| characters.contains(c));
    }
    out.push_str(text);
}

pub(crate) fn trim(call: &Call) -> Result<ArrayRef> {
    let side = if call.len() == 3 { call.constant_text(0).unwrap_or("BOTH") } else { "BOTH" };
    let (start, end) = (!side.eq_ignore_ascii_case("TRAILING"), !side.eq_ignore_ascii_case("LEADING"));
    let texts = call.texts(call.len() - 1)?;
    let characters = if call.len() > 1 { Some(call.texts(call.len() - 2)?) } else { None };
    call.write_texts(|row, out| {
        let characters = characters.as_ref().map_or(Some(" "), |characters| characters.get(row));
        let (Some(text), Some(characters)) = (texts.get(row), characters) else { return Ok(false) };
        trim_sides(text, characters, start, end, out);
        Ok(true)
    })
}

/// `LTRIM(x[, characters])` and its relatives: VARCHAR of the length of `x`.
pub(crate) fn side_trim_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    all_strings(signature)?;
    signature.strict(varying(signature.logical(0)))
}

pub(crate) fn both_trim_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    all_strings(signature)
}

pub(crate) fn side_trim(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let characters = if call.len() > 1 { Some(call.texts(1)?) } else { None };
    let (start, end) = (call.name != "RTRIM", call.name != "LTRIM");
    call.write_texts(|row, out| {
        let characters = characters.as_ref().map_or(Some(" "), |characters| characters.get(row));
        let (Some(text), Some(characters)) = (texts.get(row), characters) else { return Ok(false) };
        trim_sides(text, characters, start, end, out);
        Ok(true)
    })
}

pub(crate) fn replace(call: &Call) -> Result<ArrayRef> {
    let (texts, olds, news) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    call.write_texts(|row, out| {
        let (Some(text), Some(old), Some(new)) = (texts.get(row), olds.get(row), news.get(row)) else {
            return Ok(false);
        };
        // An empty text is found before and after every character, as in Java.
        let mut end = 0;
        for (at, found) in text.match_indices(old) {
            out.push_str(&text[end..at]);
            out.push_str(new);
            end = at + found.len();
        }
        out.push_str(&text[end..]);
        Ok(true)
    })
}

/// Characters of the second text become the characters at the same place in the third, or vanish.
pub(crate) fn translate(call: &Call) -> Result<ArrayRef> {
    let (texts, froms, tos) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    call.write_texts(|row, out| {
        let Some(text) = texts.get(row) else { return Ok(false) };
        let (from, to) = (froms.get(row).unwrap_or_default(), tos.get(row).unwrap_or_default());
        for c in text.chars() {
            match from.chars().position(|known| known == c) {
                None => out.push(c),
                Some(at) => out.extend(to.chars().nth(at)),
            }
        }
        Ok(true)
    })
}

/// NULL only for a NULL text: the other two are empty then.
pub(crate) fn translate_result(signature: &Signature) -> Result<SqlType> {
    three_strings(signature)?;
    Ok(LogicalType::STRING.nullable().with_nullable(signature.sql_type(0).nullable))
}

/// `SPLIT(text, separator)`.
pub(crate) fn split_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    all_strings(signature)?;
    signature.strict(LogicalType::Array(Box::new(SqlType::string())))
}

/// The parts of a text, empty ones included; an empty separator splits into characters. An empty text has none.
pub(crate) fn split(call: &Call) -> Result<ArrayRef> {
    let (texts, separators) = (call.texts(0)?, call.texts(1)?);
    let mut out = ListBuilder::new(StringBuilder::new()).with_field(SqlType::string().arrow_field("item"));
    for row in 0..call.rows {
        let (Some(text), Some(separator)) = (texts.get(row), separators.get(row)) else {
            out.append_null();
            continue;
        };
        if separator.is_empty() {
            let mut buffer = [0; 4];
            text.chars().for_each(|c| out.values().append_value(c.encode_utf8(&mut buffer)));
        } else if !text.is_empty() {
            text.split(separator).for_each(|part| out.values().append_value(part));
        }
        out.append(true);
    }
    Ok(Arc::new(out.finish()))
}

pub(crate) fn repeat_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    signature.string(0)?;
    signature.integer(1)?;
    signature.strict(LogicalType::STRING)
}

/// The most bytes that a function that grows text may make of one value.
const TEXT_BYTES_MAX: usize = 64 << 20;

pub(crate) fn repeat(call: &Call) -> Result<ArrayRef> {
    let (texts, counts) = (call.texts(0)?, call.longs(1)?);
    call.write_texts(|row, out| {
        let (Some(text), Some(count)) = (texts.get(row), counts.get(row)) else { return Ok(false) };
        let count = count.max(0) as usize;
        if text.len().saturating_mul(count) > TEXT_BYTES_MAX {
            return Err(call.bad_value(&count, &"the result would be longer than 64 MB"));
        }
        for _ in 0..count {
            out.push_str(text);
        }
        Ok(true)
    })
}

pub(crate) fn pad_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(3..=3)?;
    signature.string(0)?;
    signature.integer(1)?;
    signature.string(2)?;
    signature.strict(LogicalType::STRING)
}

/// LPAD and RPAD: NULL for an empty padding or a negative length.
pub(crate) fn pad(call: &Call) -> Result<ArrayRef> {
    let left = call.name == "LPAD";
    let (texts, lengths, pads) = (call.texts(0)?, call.longs(1)?, call.texts(2)?);
    call.write_texts(|row, out| {
        let (Some(text), Some(length), Some(pad)) = (texts.get(row), lengths.get(row), pads.get(row)) else {
            return Ok(false);
        };
        if length < 0 || pad.is_empty() {
            return Ok(false);
        }
        let length = length as usize;
        if length > TEXT_BYTES_MAX {
            return Err(call.bad_value(&length, &"the result would be longer than 64 MB"));
        }
        let have = text.chars().count();
        if have >= length {
            out.extend(text.chars().take(length));
            return Ok(true);
        }
        let padding = pad.chars().cycle().take(length - have);
        if left {
            out.extend(padding);
            out.push_str(text);
        } else {
            out.push_str(text);
            out.extend(padding);
        }
        Ok(true)
    })
}

/// A number from one string.
pub(crate) fn int_of_string(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.string(0)?;
    signature.strict(LogicalType::Int)
}

pub(crate) fn char_length(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.map_values::<Int32Type>(|row| Ok(texts.get(row).map(|text| text.chars().count() as i32)))
}

pub(crate) fn ascii(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.map_values::<Int32Type>(|row| {
        // Java reads the first byte, which is signed.
        Ok(texts.get(row).map(|text| text.as_bytes().first().map_or(0, |byte| i32::from(*byte as i8))))
    })
}

pub(crate) fn chr_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.integer(0)?;
    Ok(SqlType::string())
}

pub(crate) fn chr(call: &Call) -> Result<ArrayRef> {
    let codes = call.longs(0)?;
    call.write_texts(|row, out| {
        let Some(code) = codes.get(row) else { return Ok(false) };
        if code >= 0 {
            out.push(char::from((code & 0xff) as u8));
        }
        Ok(true)
    })
}

/// Two texts, or two binary values.
pub(crate) fn starts_or_ends_with_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    if is_binary(signature.logical(0)) || is_binary(signature.logical(1)) {
        signature.check(0, is_binary)?;
        signature.check(1, is_binary)?;
    } else {
        all_strings(signature)?;
    }
    signature.strict(LogicalType::Boolean)
}

pub(crate) fn starts_or_ends_with(call: &Call) -> Result<ArrayRef> {
    let starts = call.name == "STARTSWITH";
    if is_binary(&call.types[0].logical) || is_binary(&call.types[1].logical) {
        let (wholes, parts) = (call.cast(0, &LogicalType::BYTES)?, call.cast(1, &LogicalType::BYTES)?);
        let (wholes, parts) = (crate::call::expand(&wholes, call.rows)?, crate::call::expand(&parts, call.rows)?);
        let (wholes, parts) = (wholes.as_binary::<i32>(), parts.as_binary::<i32>());
        return call.map_booleans(|row| {
            if wholes.is_null(row) || parts.is_null(row) {
                return Ok(None);
            }
            let (whole, part) = (wholes.value(row), parts.value(row));
            Ok(Some(if starts { whole.starts_with(part) } else { whole.ends_with(part) }))
        });
    }
    let (texts, parts) = (call.texts(0)?, call.texts(1)?);
    call.map_booleans(|row| {
        let (Some(text), Some(part)) = (texts.get(row), parts.get(row)) else { return Ok(None) };
        Ok(Some(if starts { text.starts_with(part) } else { text.ends_with(part) }))
    })
}

pub(crate) fn boolean_of_string(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    Ok(LogicalType::Boolean.not_null())
}

/// IS_DIGIT, IS_ALPHA and IS_DECIMAL: FALSE for NULL and for an empty text.
pub(crate) fn is_kind(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let all = |text: &str, kind: fn(char) -> bool| !text.is_empty() && text.chars().all(kind);
    call.map_booleans(|row| {
        let text = texts.get(row).unwrap_or_default();
        Ok(Some(match call.name {
            "IS_DIGIT" => all(text, char::is_numeric),
            "IS_ALPHA" => all(text, char::is_alphabetic),
            _ => crate::decimal::parse(text, 38, 0).is_ok() || crate::cast::parse::double(text).is_ok(),
        }))
    })
}

pub(crate) fn elt_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=usize::MAX)?;
    signature.integer(0)?;
    let common = crate::types::common_type(&signature.types()[1..]).ok_or_else(|| signature.error())?;
    if !common.logical.is_string() && !is_binary(&common.logical) {
        return Err(signature.error());
    }
    Ok(common.with_nullable(true))
}

pub(crate) fn elt(call: &Call) -> Result<ArrayRef> {
    let indexes = call.longs(0)?;
    let mut columns = vec![new_null_array(&call.result.arrow(), 1)];
    for index in 1..call.len() {
        columns.push(crate::call::expand(&call.cast(index, &call.result.logical)?, call.rows)?);
    }
    // Column 0 is the NULL of an index that is out of range.
    let place = |row: usize| {
        let index =
            indexes.get(row).and_then(|index| usize::try_from(index).ok()).filter(|index| *index < columns.len());
        index.filter(|index| *index > 0).map_or((0, 0), |index| (index, row))
    };
    let places: Vec<(usize, usize)> = (0..call.rows).map(place).collect();
    let columns: Vec<&dyn Array> = columns.iter().map(AsRef::as_ref).collect();
    Ok(arrow::compute::interleave(&columns, &places)?)
}

/// A text or an INT.
pub(crate) fn hash_code_result(signature: &Signature) -> Result<SqlType> {
    use LogicalType::{BigInt, Boolean, Date, Double, Float, Int, SmallInt, TinyInt};
    signature.arity(1..=1)?;
    signature.check(0, |logical| {
        logical.is_string() || matches!(logical, Boolean | TinyInt | SmallInt | Int | BigInt | Float | Double | Date)
    })?;
    signature.strict(LogicalType::Int)
}

/// Java's `hashCode`: a number of at most 32 bits is its own.
pub(crate) fn hash_code(call: &Call) -> Result<ArrayRef> {
    if !call.types[0].logical.is_string() {
        return hash_of_numbers(&call.full(0)?);
    }
    let texts = call.texts(0)?;
    call.map_values::<Int32Type>(|row| {
        let hash = |text: &str| {
            text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
        };
        Ok(texts.get(row).map(hash))
    })
}

fn hash_of_numbers(values: &ArrayRef) -> Result<ArrayRef> {
    let folded = |bits: u64| (bits ^ (bits >> 32)) as i32;
    let hashes: Int32Array = if let Some(values) = values.as_boolean_opt() {
        values.iter().map(|value| value.map(|value| if value { 1231 } else { 1237 })).collect()
    } else if let Some(values) = values.as_primitive_opt::<Int64Type>() {
        values.unary(|value| folded(value as u64))
    } else if let Some(values) = values.as_primitive_opt::<Float64Type>() {
        values.unary(|value| folded(if value.is_nan() { 0x7ff8 << 48 } else { value.to_bits() }))
    } else if let Some(values) = values.as_primitive_opt::<Float32Type>() {
        values.unary(|value| if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() as i32 })
    } else {
        return arrow::compute::cast(values, &DataType::Int32).map_err(Error::internal);
    };
    Ok(Arc::new(hashes))
}
