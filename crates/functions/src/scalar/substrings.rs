//! Parts of strings and their places, counted in characters from 1.

use super::strings::varying;
use crate::call::{Call, Signature};
use arrow::array::*;
use arrow::datatypes::Int32Type;
use base::types::LENGTH_MAX;
use base::{LogicalType, Result, SqlType};

pub(crate) fn substring_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=3)?;
    signature.string(0)?;
    for index in 1..signature.arguments.len() {
        signature.integer(index)?;
    }
    Ok(varying(signature.logical(0)).nullable())
}

/// `length` characters from the 0-based `start`, which can be before the text.
fn slice(text: &str, start: i64, length: i64) -> &str {
    let end = start.saturating_add(length).max(0) as usize;
    let start = start.max(0) as usize;
    if text.is_ascii() {
        let end = end.min(text.len());
        return if start < end { &text[start..end] } else { "" };
    }
    let mut places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    if start >= end {
        return "";
    }
    let Some(from) = places.nth(start) else { return "" };
    let to = places.nth(end - start - 1).unwrap_or(text.len());
    &text[from..to]
}

fn character_count(text: &str) -> i64 {
    if text.is_ascii() { text.len() as i64 } else { text.chars().count() as i64 }
}

/// Position 0 means 1; a negative position counts from the end.
pub(crate) fn substring(call: &Call) -> Result<ArrayRef> {
    let (texts, positions) = (call.texts(0)?, call.longs(1)?);
    let lengths = if call.len() == 3 { Some(call.longs(2)?) } else { None };
    call.write_texts(|row, out| {
        let length = lengths.as_ref().map_or(Some(i64::from(i32::MAX)), |lengths| lengths.get(row));
        let (Some(text), Some(position), Some(length)) = (texts.get(row), positions.get(row), length) else {
            return Ok(false);
        };
        if length < 0 {
            return Ok(false);
        }
        let start = match position {
            0 => 0,
            1.. => position - 1,
            _ => character_count(text) + position,
        };
        // A position before the text gives nothing, however long.
        if start >= 0 {
            out.push_str(slice(text, start, length));
        }
        Ok(true)
    })
}

pub(crate) fn side_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    substring_result(signature)
}

/// LEFT and RIGHT.
pub(crate) fn side(call: &Call) -> Result<ArrayRef> {
    let (texts, lengths, left) = (call.texts(0)?, call.longs(1)?, call.name == "LEFT");
    call.write_texts(|row, out| {
        let (Some(text), Some(length)) = (texts.get(row), lengths.get(row)) else { return Ok(false) };
        if length > 0 {
            let start = if left { 0 } else { (character_count(text) - length).max(0) };
            out.push_str(slice(text, start, length));
        }
        Ok(true)
    })
}

pub(crate) fn overlay_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(3..=4)?;
    signature.string(0)?;
    signature.string(1)?;
    signature.integer(2)?;
    if signature.arguments.len() == 4 {
        signature.integer(3)?;
    }
    let length = |index: usize| match signature.logical(index) {
        LogicalType::Char(length) | LogicalType::VarChar(length) => *length,
        _ => LENGTH_MAX,
    };
    signature.strict(LogicalType::VarChar(length(0).saturating_add(length(1)).min(LENGTH_MAX)))
}

/// `OVERLAY(x, replacement, start[, length])`.
pub(crate) fn overlay(call: &Call) -> Result<ArrayRef> {
    let (texts, news, starts) = (call.texts(0)?, call.texts(1)?, call.longs(2)?);
    let lengths = if call.len() == 4 { Some(call.longs(3)?) } else { None };
    call.write_texts(|row, out| {
        let (Some(text), Some(new), Some(start)) = (texts.get(row), news.get(row), starts.get(row)) else {
            return Ok(false);
        };
        let length = match &lengths {
            None => character_count(new),
            Some(lengths) => match lengths.get(row) {
                None => return Ok(false),
                Some(length) => length,
            },
        };
        let count = character_count(text);
        if start <= 0 || start > count {
            out.push_str(text);
            return Ok(true);
        }
        // A length that is not positive takes everything.
        let after = if length <= 0 { count } else { start - 1 + length };
        out.push_str(slice(text, 0, start - 1));
        out.push_str(new);
        out.push_str(slice(text, after, count));
        Ok(true)
    })
}

pub(crate) fn position_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=4)?;
    signature.string(0)?;
    signature.string(1)?;
    for index in 2..signature.arguments.len() {
        signature.integer(index)?;
    }
    signature.strict(LogicalType::Int)
}

/// The place of the first occurrence not before the 0-based character `from`, counted from 1; 0 if there is none. An empty
/// text is always found at 1.
fn place(text: &str, part: &str, from: i64) -> i32 {
    if part.is_empty() {
        return 1;
    }
    let mut starts = text.char_indices().map(|(at, _)| at);
    let start = if from <= 0 { Some(0) } else { starts.nth(from as usize) };
    let found = start.and_then(|start| text[start..].find(part).map(|at| start + at));
    found.map_or(0, |at| text[..at].chars().count() as i32 + 1)
}

/// The place of the `nth` occurrence from the 1-based position `from`; a negative position counts from the end and looks
/// backwards.
fn nth_place(text: &str, part: &str, from: i64, nth: i64) -> i32 {
    if part.is_empty() {
        return 1;
    }
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let count = starts.len() as i64;
    let first = if from < 0 { count + from } else { from - 1 };
    if from == 0 || !(0..count).contains(&first) {
        return 0;
    }
    let first = first as usize;
    let matches = |place: &usize| text[starts[*place]..].starts_with(part);
    let nth = (nth - 1) as usize;
    let found = match from > 0 {
        true => (first..starts.len()).filter(matches).nth(nth),
        false => (0..=first).rev().filter(matches).nth(nth),
    };
    found.map_or(0, |place| place as i32 + 1)
}

/// `POSITION(part, x)`, `LOCATE(part, x[, from])` and `INSTR(x, part[, from[, nth]])`.
pub(crate) fn position(call: &Call) -> Result<ArrayRef> {
    let instr = call.name == "INSTR";
    let (text_index, part_index) = if instr { (0, 1) } else { (1, 0) };
    let (texts, parts) = (call.texts(text_index)?, call.texts(part_index)?);
    let froms = if call.len() > 2 { Some(call.longs(2)?) } else { None };
    let nths = if call.len() > 3 { Some(call.longs(3)?) } else { None };
    call.map_values::<Int32Type>(|row| {
        let from = froms.as_ref().map_or(Some(1), |values| values.get(row));
        let nth = nths.as_ref().map_or(Some(1), |values| values.get(row));
        let (Some(text), Some(part), Some(from), Some(nth)) = (texts.get(row), parts.get(row), from, nth) else {
            return Ok(None);
        };
        if nth < 1 {
            return Err(call.bad_value(&nth, &"the number of the occurrence must be positive"));
        }
        Ok(Some(if instr && froms.is_some() { nth_place(text, part, from, nth) } else { place(text, part, from - 1) }))
    })
}

pub(crate) fn split_index_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(3..=3)?;
    signature.string(0)?;
    signature.check(1, |logical| logical.is_string() || logical.is_integer())?;
    signature.integer(2)?;
    Ok(SqlType::string())
}

pub(crate) fn split_index(call: &Call) -> Result<ArrayRef> {
    let (texts, indexes) = (call.texts(0)?, call.longs(2)?);
    let codes = if call.types[1].logical.is_integer() { Some(call.longs(1)?) } else { None };
    let separators = if codes.is_none() { Some(call.texts(1)?) } else { None };
    call.write_texts(|row, out| {
        let (Some(text), Some(index)) = (texts.get(row), indexes.get(row)) else { return Ok(false) };
        let mut buffer = [0u8; 4];
        let separator = match (&codes, &separators) {
            (Some(codes), _) => {
                let code = codes.get(row).and_then(|code| char::from_u32(u32::try_from(code).ok()?));
                code.map(|code| &*code.encode_utf8(&mut buffer))
            }
            (None, Some(separators)) => separators.get(row),
            (None, None) => None,
        };
        let Some(separator) = separator else { return Ok(false) };
        if text.is_empty() || index < 0 {
            return Ok(false);
        }
        // Java's split by an empty separator splits at white space.
        let part = if separator.is_empty() {
            text.split_whitespace().nth(index as usize)
        } else {
            text.split(separator).nth(index as usize)
        };
        out.push_str(part.unwrap_or_default());
        Ok(part.is_some())
    })
}
