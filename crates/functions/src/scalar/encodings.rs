//! Text and bytes in other forms: base64, hexadecimal, binary, character sets.

use super::charsets::Charset;
use crate::call::{Call, Compiled, Signature};
use crate::types::is_binary;
use arrow::array::*;
use base::{LogicalType, Result, SqlType};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::fmt::Write;
use std::sync::Arc;

/// Base64 as Java's decoder reads it: padding may be missing.
const JAVA: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(crate) fn to_base64_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.check(0, |logical| logical.is_string() || is_binary(logical))?;
    signature.strict(LogicalType::STRING)
}

/// The bytes of a text or binary argument in one row.
pub(crate) fn bytes(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    let row = if array.len() == 1 { 0 } else { row };
    if array.is_null(row) {
        return None;
    }
    match array.as_string_opt::<i32>() {
        Some(texts) => Some(texts.value(row).as_bytes()),
        None => array.as_binary_opt::<i32>().map(|bytes| bytes.value(row)),
    }
}

pub(crate) fn to_base64(call: &Call) -> Result<ArrayRef> {
    let array = &call.arguments[0];
    call.write_texts(|row, out| {
        let Some(bytes) = bytes(array, row) else { return Ok(false) };
        STANDARD.encode_string(bytes, out);
        Ok(true)
    })
}

pub(crate) fn from_base64(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.write_texts(|row, out| {
        let Some(text) = texts.get(row) else { return Ok(false) };
        let bytes = JAVA.decode(text).map_err(|error| call.bad_value(&text, &error))?;
        out.push_str(&String::from_utf8_lossy(&bytes));
        Ok(true)
    })
}

pub(crate) fn hex_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.check(0, |logical| logical.is_string() || logical.is_integer() || is_binary(logical))?;
    signature.strict(LogicalType::STRING)
}

pub(crate) fn hex(call: &Call) -> Result<ArrayRef> {
    if call.types[0].logical.is_integer() {
        let values = call.longs(0)?;
        return call.write_texts(|row, out| {
            let Some(value) = values.get(row) else { return Ok(false) };
            // Writing to a String cannot fail.
            let _ = write!(out, "{value:X}");
            Ok(true)
        });
    }
    let array = &call.arguments[0];
    call.write_texts(|row, out| {
        let Some(bytes) = bytes(array, row) else { return Ok(false) };
        for byte in bytes {
            let _ = write!(out, "{byte:02X}");
        }
        Ok(true)
    })
}

pub(crate) fn unhex_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.string(0)?;
    Ok(LogicalType::BYTES.nullable())
}

fn read_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect::<Option<_>>()?;
    // Of an odd number of digits, Flink writes a zero byte for the first.
    let (first, rest) = digits.split_at(digits.len() % 2);
    Some(first.iter().map(|_| 0).chain(rest.chunks(2).map(|pair| pair[0] << 4 | pair[1])).collect())
}

pub(crate) fn unhex(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut out = BinaryBuilder::new();
    for row in 0..call.rows {
        out.append_option(texts.get(row).and_then(read_hex));
    }
    Ok(Arc::new(out.finish()))
}

pub(crate) fn bin_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.integer(0)?;
    signature.strict(LogicalType::STRING)
}

pub(crate) fn bin(call: &Call) -> Result<ArrayRef> {
    let values = call.longs(0)?;
    call.write_texts(|row, out| {
        let Some(value) = values.get(row) else { return Ok(false) };
        let _ = write!(out, "{value:b}");
        Ok(true)
    })
}

/// The character set of a row, compiled while the name stays the same.
fn charset<'a>(call: &Call, compiled: &'a mut Compiled<Charset>, name: &str) -> Result<&'a Charset> {
    compiled.get(name, |name| Charset::of(name).ok_or_else(|| call.bad_value(&name, &"unknown character set")))
}

pub(crate) fn decode_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    signature.check(0, is_binary)?;
    signature.string(1)?;
    signature.strict(LogicalType::STRING)
}

pub(crate) fn decode(call: &Call) -> Result<ArrayRef> {
    let (array, names, mut compiled) = (&call.arguments[0], call.texts(1)?, Compiled::new());
    call.write_texts(|row, out| {
        let (Some(bytes), Some(name)) = (bytes(array, row), names.get(row)) else { return Ok(false) };
        charset(call, &mut compiled, name)?.decode(bytes, out);
        Ok(true)
    })
}

pub(crate) fn encode_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    signature.string(0)?;
    signature.string(1)?;
    signature.strict(LogicalType::BYTES)
}

pub(crate) fn encode(call: &Call) -> Result<ArrayRef> {
    let (texts, names, mut compiled) = (call.texts(0)?, call.texts(1)?, Compiled::new());
    let (mut out, mut bytes) = (BinaryBuilder::new(), Vec::new());
    for row in 0..call.rows {
        let (Some(text), Some(name)) = (texts.get(row), names.get(row)) else {
            out.append_null();
            continue;
        };
        bytes.clear();
        charset(call, &mut compiled, name)?.encode(text, &mut bytes);
        out.append_value(&bytes);
    }
    Ok(Arc::new(out.finish()))
}
