//! REGEXP and its relatives. What is no pattern gives NULL, or FALSE.

use super::java_regex;
use super::strings::all_strings;
use crate::call::{Call, Compiled, Signature};
use arrow::array::*;
use arrow::datatypes::Int32Type;
use base::{LogicalType, Result, SqlType};
use regex::{Match, Regex};
use std::sync::Arc;

/// The pattern; `None` if it is no pattern.
fn compile(call: &Call, pattern: &str) -> Result<Option<Regex>> {
    java_regex::compile(call.name, pattern)
}

pub(crate) fn extract_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=3)?;
    signature.string(0)?;
    signature.string(1)?;
    if signature.arguments.len() == 3 {
        signature.integer(2)?;
    }
    Ok(SqlType::string())
}

/// The text of a group of the first match; NULL without a match or without such a group.
pub(crate) fn extract(call: &Call) -> Result<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let groups = if call.len() == 3 { Some(call.longs(2)?) } else { None };
    let mut compiled = Compiled::new();
    call.write_texts(|row, out| {
        let group = groups.as_ref().map_or(Some(0), |groups| groups.get(row));
        let (Some(text), Some(pattern), Some(group)) = (texts.get(row), patterns.get(row), group) else {
            return Ok(false);
        };
        let Ok(group) = usize::try_from(group) else { return Ok(false) };
        let Some(regex) = compiled.get(pattern, |pattern| compile(call, pattern))? else { return Ok(false) };
        let found = regex.captures(text).and_then(|captures| captures.get(group));
        out.push_str(found.map_or("", |found| found.as_str()));
        Ok(found.is_some())
    })
}

/// All matches as Java finds them: an empty one can follow another match at once, which Rust leaves out.
fn matches<'r, 't>(regex: &'r Regex, text: &'t str) -> impl Iterator<Item = Match<'t>> + use<'r, 't> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let found = regex.find_at(text, next?)?;
        let step = text[found.end()..].chars().next().map(char::len_utf8);
        next = if found.is_empty() { step.map(|step| found.end() + step) } else { Some(found.end()) };
        Some(found)
    })
}

pub(crate) fn replace_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(3..=3)?;
    all_strings(signature)
}

/// Replaces every match by the replacement as it stands: `$1` is not a group.
pub(crate) fn replace(call: &Call) -> Result<ArrayRef> {
    let (texts, patterns, news) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    let mut compiled = Compiled::new();
    call.write_texts(|row, out| {
        let (Some(text), Some(pattern), Some(new)) = (texts.get(row), patterns.get(row), news.get(row)) else {
            return Ok(false);
        };
        let Some(regex) = compiled.get(pattern, |pattern| compile(call, pattern))? else { return Ok(false) };
        let mut copied = 0;
        for found in matches(regex, text) {
            out.push_str(&text[copied..found.start()]);
            out.push_str(new);
            copied = found.end();
        }
        out.push_str(&text[copied..]);
        Ok(true)
    })
}

pub(crate) fn is_match_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    all_strings(signature)?;
    signature.strict(LogicalType::Boolean)
}

/// Whether the pattern occurs anywhere; FALSE for an empty pattern.
pub(crate) fn is_match(call: &Call) -> Result<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let mut compiled = Compiled::new();
    call.map_booleans(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.get(row)) else { return Ok(None) };
        let regex = compiled.get(pattern, |pattern| compile(call, pattern))?;
        Ok(Some(!pattern.is_empty() && regex.as_ref().is_some_and(|regex| regex.is_match(text))))
    })
}

pub(crate) fn number_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    all_strings(signature)?;
    Ok(LogicalType::Int.nullable())
}

pub(crate) fn count(call: &Call) -> Result<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let mut compiled = Compiled::new();
    call.map_values::<Int32Type>(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.get(row)) else { return Ok(None) };
        let Some(regex) = compiled.get(pattern, |pattern| compile(call, pattern))? else { return Ok(None) };
        Ok(Some(matches(regex, text).count() as i32))
    })
}

/// The place of the first match in characters from 1, 0 without one.
pub(crate) fn place(call: &Call) -> Result<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let mut compiled = Compiled::new();
    call.map_values::<Int32Type>(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.get(row)) else { return Ok(None) };
        let Some(regex) = compiled.get(pattern, |pattern| compile(call, pattern))? else { return Ok(None) };
        Ok(Some(regex.find(text).map_or(0, |found| text[..found.start()].chars().count() as i32 + 1)))
    })
}

pub(crate) fn substring_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    all_strings(signature)?;
    Ok(SqlType::string())
}

pub(crate) fn extract_all_result(signature: &Signature) -> Result<SqlType> {
    extract_result(signature)?;
    Ok(LogicalType::Array(Box::new(SqlType::string())).nullable())
}

/// The given group (1 if none is given) of every match.
pub(crate) fn extract_all(call: &Call) -> Result<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let groups = if call.len() == 3 { Some(call.longs(2)?) } else { None };
    let mut compiled = Compiled::new();
    let field = SqlType::string().arrow_field("item");
    let mut out = ListBuilder::new(StringBuilder::new()).with_field(field);
    for row in 0..call.rows {
        let group = groups.as_ref().map_or(Some(1), |groups| groups.get(row));
        let group = group.and_then(|group| usize::try_from(group).ok());
        let (Some(text), Some(pattern), Some(group)) = (texts.get(row), patterns.get(row), group) else {
            out.append_null();
            continue;
        };
        let Some(regex) = compiled.get(pattern, |pattern| compile(call, pattern))? else {
            out.append_null();
            continue;
        };
        if group >= regex.captures_len() {
            out.append_null();
            continue;
        }
        for found in matches(regex, text) {
            let captures = regex.captures_at(text, found.start());
            let found = captures.and_then(|captures| captures.get(group));
            out.values().append_option(found.map(|found| found.as_str()));
        }
        out.append(true);
    }
    Ok(Arc::new(out.finish()))
}
