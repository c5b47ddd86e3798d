//! PARSE_URL, URL_ENCODE, URL_DECODE and STR_TO_MAP.

use super::collections::map_column;
use super::java_regex;
use super::patterns::bad_pattern;
use super::strings::all_strings;
use crate::call::{Call, Compiled, Signature};
use arrow::array::*;
use base::{LogicalType, Result, SqlType};
use regex::Regex;
use std::fmt::Write;
use std::sync::Arc;

pub(crate) fn nullable_string(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    all_strings(signature)?;
    Ok(SqlType::string())
}

/// `application/x-www-form-urlencoded`, as Java's URLEncoder.
pub(crate) fn encode(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.write_texts(|row, out| {
        let Some(text) = texts.get(row) else { return Ok(false) };
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
                b' ' => out.push('+'),
                // Writing to a String cannot fail.
                _ => drop(write!(out, "%{byte:02X}")),
            }
        }
        Ok(true)
    })
}

fn decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = bytes.get(at + 1..at + 3)?;
                let digit = |byte: u8| char::from(byte).to_digit(16);
                out.push((digit(digits[0])? << 4 | digit(digits[1])?) as u8);
                at += 2;
            }
            byte => out.push(byte),
        }
        at += 1;
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// NULL for text that is not encoded rightly.
pub(crate) fn decode(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.write_texts(|row, out| {
        let value = texts.get(row).and_then(decoded);
        out.push_str(value.as_deref().unwrap_or_default());
        Ok(value.is_some())
    })
}

pub(crate) fn parse_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=3)?;
    all_strings(signature)?;
    Ok(SqlType::string())
}

/// `scheme://user@host:port/path?query#ref`.
fn url_part<'a>(url: &'a str, part: &str, key: Option<&str>) -> Option<&'a str> {
    let (scheme, rest) = url.split_once(':')?;
    let (rest, reference) = match rest.split_once('#') {
        Some((rest, reference)) => (rest, Some(reference)),
        None => (rest, None),
    };
    let (authority, file) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())),
        None => ("", rest),
    };
    let (path, query) = match file.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (file, None),
    };
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    if key.is_some() && part != "QUERY" {
        return None;
    }
    match part {
        "PROTOCOL" => Some(scheme),
        "HOST" => Some(host.rsplit_once(':').map_or(host, |(host, _)| host)),
        "PATH" => Some(path),
        "QUERY" => match key {
            None => query,
            Some(key) => {
                query?.split('&').find_map(|pair| pair.split_once('=').filter(|(k, _)| *k == key)).map(|(_, v)| v)
            }
        },
        "REF" => reference,
        "FILE" => Some(file),
        "AUTHORITY" => Some(authority),
        "USERINFO" => user,
        _ => None,
    }
}

pub(crate) fn parse(call: &Call) -> Result<ArrayRef> {
    let (urls, parts) = (call.texts(0)?, call.texts(1)?);
    let keys = if call.len() == 3 { Some(call.texts(2)?) } else { None };
    call.write_texts(|row, out| {
        let (Some(url), Some(part)) = (urls.get(row), parts.get(row)) else { return Ok(false) };
        let key = match &keys {
            None => None,
            Some(keys) => match keys.get(row) {
                None => return Ok(false),
                key => key,
            },
        };
        let found = url_part(url, part, key);
        out.push_str(found.unwrap_or_default());
        Ok(found.is_some())
    })
}

pub(crate) fn str_to_map_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=3)?;
    all_strings(signature)?;
    Ok(LogicalType::Map(Box::new(SqlType::string()), Box::new(SqlType::string())).nullable())
}

/// A separator of STR_TO_MAP: a pattern to Java, mostly a plain text.
enum Separator {
    Plain(String),
    Pattern(Regex),
}

impl Separator {
    fn new(call: &Call, text: &str) -> Result<Separator> {
        if !text.is_empty() && regex::escape(text) == text {
            return Ok(Separator::Plain(text.to_string()));
        }
        let regex = java_regex::compile(call.name, text)?;
        Ok(Separator::Pattern(regex.ok_or_else(|| bad_pattern(call.name, text, &"it is no pattern"))?))
    }

    /// The first two parts.
    fn split_once<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        match self {
            Separator::Plain(separator) => text.split_once(separator.as_str()),
            Separator::Pattern(regex) => {
                let found = regex.find_iter(text).find(|found| found.end() > 0)?;
                Some((&text[..found.start()], &text[found.end()..]))
            }
        }
    }

    /// All parts as Java's `split` gives them: an empty match at the start and empty parts at the end do not count.
    fn split<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut parts: Vec<&str> = match self {
            Separator::Plain(separator) => text.split(separator.as_str()).collect(),
            Separator::Pattern(regex) => {
                let mut parts = Vec::new();
                let mut start = 0;
                for found in regex.find_iter(text).filter(|found| found.end() > 0) {
                    parts.push(&text[start..found.start()]);
                    start = found.end();
                }
                parts.push(&text[start..]);
                parts
            }
        };
        while parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
        parts
    }
}

/// `a=1,b=2` as a map; of equal keys the last one stays.
pub(crate) fn str_to_map(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let separators = |index: usize| (call.len() > index).then(|| call.texts(index)).transpose();
    let (pair_separators, key_separators) = (separators(1)?, separators(2)?);
    let (mut pair_separator, mut key_separator) = (Compiled::new(), Compiled::new());
    let (mut keys, mut values) = (StringBuilder::new(), StringBuilder::new());
    let (mut lengths, mut valid) = (Vec::with_capacity(call.rows), Vec::with_capacity(call.rows));
    for row in 0..call.rows {
        let mut entries: Vec<(&str, Option<&str>)> = Vec::new();
        let between_pairs = pair_separators.as_ref().map_or(Some(","), |texts| texts.get(row));
        let behind_key = key_separators.as_ref().map_or(Some("="), |texts| texts.get(row));
        let (Some(text), Some(between_pairs), Some(behind_key)) = (texts.get(row), between_pairs, behind_key) else {
            lengths.push(0);
            valid.push(false);
            continue;
        };
        let pair_separator = pair_separator.get(between_pairs, |text| Separator::new(call, text))?;
        let key_separator = key_separator.get(behind_key, |text| Separator::new(call, text))?;
        for pair in pair_separator.split(text) {
            let (key, value) = match key_separator.split_once(pair) {
                Some((key, value)) => (key, Some(value)),
                None => (pair, None),
            };
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some(entry) => entry.1 = value,
                None => entries.push((key, value)),
            }
        }
        for (key, value) in &entries {
            keys.append_value(key);
            values.append_option(*value);
        }
        lengths.push(entries.len());
        valid.push(true);
    }
    map_column(call.result, Arc::new(keys.finish()), Arc::new(values.finish()), &lengths, Some(valid.into()))
}
