//! PARSE_JSON, TRY_PARSE_JSON and access to parts of a VARIANT.
//!
//! A VARIANT is held as canonical JSON text: no spaces, keys in order, numbers without needless digits. Parts are found by
//! walking over that text, without a tree.

use super::value::{Json, push_quoted, sorted};
use crate::call::{Call, Signature, expand};
use arrow::array::*;
use base::{LogicalType, Result, SqlType};
use std::sync::Arc;

pub(crate) fn parse_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    signature.string(0)?;
    if signature.arguments.len() == 2 {
        signature.boolean(1)?;
    }
    if signature.function.name == "TRY_PARSE_JSON" {
        return Ok(LogicalType::Variant.nullable());
    }
    signature.strict(LogicalType::Variant)
}

/// `PARSE_JSON(text[, duplicates allowed])`; TRY_PARSE_JSON gives NULL for a text that is not JSON.
pub(crate) fn parse(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let allowed = match call.len() {
        2 => Some(expand(&call.cast(1, &LogicalType::Boolean)?, call.rows)?),
        _ => None,
    };
    let allowed = allowed.as_ref().map(|array| array.as_boolean());
    let lenient = call.name == "TRY_PARSE_JSON";
    let mut out = LargeStringBuilder::new();
    let mut canonical = String::new();
    for row in 0..call.rows {
        let Some(text) = texts.get(row) else {
            out.append_null();
            continue;
        };
        let duplicates = allowed.is_some_and(|allowed| allowed.is_valid(row) && allowed.value(row));
        canonical.clear();
        let parsed = if duplicates { Json::parse(text) } else { Json::parse_unique(text) };
        match parsed {
            Ok(json) => {
                push_canonical(&mut canonical, &json);
                out.append_value(&canonical);
            }
            Err(_) if lenient => out.append_null(),
            Err(why) => return Err(call.bad_value(&text, &why)),
        }
    }
    Ok(Arc::new(out.finish()))
}

fn push_canonical(out: &mut String, json: &Json) {
    match json {
        Json::Null => out.push_str("null"),
        Json::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(text) => push_number(out, text),
        Json::Text(text) => push_quoted(out, text),
        Json::Array(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_canonical(out, value);
            }
            out.push(']');
        }
        Json::Object(fields) => {
            out.push('{');
            for (index, (name, value)) in sorted(fields).into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_quoted(out, name);
                out.push(':');
                push_canonical(out, value);
            }
            out.push('}');
        }
    }
}

/// The most digits of a DECIMAL: longer numbers are DOUBLE.
const DECIMAL_DIGITS_MAX: usize = 38;

/// Whole numbers and decimals without trailing zeros; what has an exponent or too many digits is a DOUBLE.
fn push_number(out: &mut String, text: &str) {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if text.contains(['e', 'E']) || digits > DECIMAL_DIGITS_MAX {
        // Beyond the range of DOUBLE this is Infinity, as Java reads it.
        base::text::push_double(out, text.parse().unwrap_or(f64::INFINITY));
        return;
    }
    let (sign, plain) = text.strip_prefix('-').map_or(("", text), |plain| ("-", plain));
    let plain = match plain.split_once('.') {
        Some(_) => plain.trim_end_matches('0').trim_end_matches('.'),
        None => plain,
    };
    if plain != "0" {
        out.push_str(sign);
    }
    out.push_str(plain);
}

/// The end of the value that starts at `start`.
fn end_of_value(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at) - 1,
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth == 0 => return at,
            b']' | b'}' => depth -= 1,
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The place after the string that starts at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// An element of an array, from 1.
fn element(text: &str, index: i64) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 1;
    for place in 1..=index {
        if at >= bytes.len() - 1 {
            return None;
        }
        let end = end_of_value(bytes, at);
        if place == index {
            return Some(&text[at..end]);
        }
        at = end + 1;
    }
    None
}

/// A field of an object by its quoted name.
fn field<'a>(text: &'a str, quoted: &str) -> Option<&'a str> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() - 1 {
        let colon = end_of_string(bytes, at);
        let end = end_of_value(bytes, colon + 1);
        if &text[at..colon] == quoted {
            return Some(&text[colon + 1..end]);
        }
        at = end + 1;
    }
    None
}

/// `v[1]` and `v['name']`: NULL if there is no such part, an error if the value is no array or object.
pub(crate) fn item(call: &Call) -> Result<ArrayRef> {
    let array = call.full(0)?;
    let variants = array.as_string::<i64>();
    let mut out = LargeStringBuilder::new();
    if call.types[1].logical.is_string() {
        let names = call.texts(1)?;
        let mut quoted = String::new();
        for row in 0..call.rows {
            let Some(name) = names.get(row).filter(|_| variants.is_valid(row)) else {
                out.append_null();
                continue;
            };
            let text = variants.value(row);
            if !text.starts_with('{') {
                return Err(call.bad_value(&text, &"a VARIANT that is no object has no fields"));
            }
            quoted.clear();
            push_quoted(&mut quoted, name);
            out.append_option(field(text, &quoted));
        }
        return Ok(Arc::new(out.finish()));
    }
    let indexes = call.longs(1)?;
    for row in 0..call.rows {
        let Some(index) = indexes.get(row).filter(|_| variants.is_valid(row)) else {
            out.append_null();
            continue;
        };
        let text = variants.value(row);
        if !text.starts_with('[') {
            return Err(call.bad_value(&text, &"a VARIANT that is no array has no elements"));
        }
        out.append_option(element(text, index));
    }
    Ok(Arc::new(out.finish()))
}
