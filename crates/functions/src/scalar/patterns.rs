//! LIKE and SIMILAR TO.

use crate::call::{Call, Compiled, Signature};
use crate::codes;
use arrow::array::ArrayRef;
use base::{Error, LogicalType, Result, SqlType};
use regex::Regex;

pub(crate) fn like_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=3)?;
    for index in 0..signature.arguments.len() {
        signature.string(index)?;
    }
    signature.strict(LogicalType::Boolean)
}

/// A LIKE pattern; the common forms need no regular expression.
enum Like {
    Any,
    Equals(String),
    Prefix(String),
    Suffix(String),
    Contains(String),
    Pattern(Regex),
}

/// A piece of a LIKE pattern.
#[derive(PartialEq)]
enum Piece {
    Text(String),
    One,
    Many,
}

fn pieces(pattern: &str, escape: Option<char>) -> Option<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let c = if Some(c) == escape {
            // Only the wildcards and the escape character itself can be escaped.
            chars.next().filter(|next| matches!(next, '%' | '_') || Some(*next) == escape)?
        } else if c == '%' {
            if pieces.last() != Some(&Piece::Many) {
                pieces.push(Piece::Many);
            }
            continue;
        } else if c == '_' {
            pieces.push(Piece::One);
            continue;
        } else {
            c
        };
        match pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => pieces.push(Piece::Text(c.to_string())),
        }
    }
    Some(pieces)
}

impl Like {
    fn compile(function: &str, pattern: &str, escape: Option<char>) -> Result<Like> {
        let pieces = pieces(pattern, escape)
            .ok_or_else(|| bad_pattern(function, pattern, &"the escape character must stand before %, _ or itself"))?;
        Ok(match pieces.as_slice() {
            [] => Like::Equals(String::new()),
            [Piece::Many] => Like::Any,
            [Piece::Text(text)] => Like::Equals(text.clone()),
            [Piece::Text(text), Piece::Many] => Like::Prefix(text.clone()),
            [Piece::Many, Piece::Text(text)] => Like::Suffix(text.clone()),
            [Piece::Many, Piece::Text(text), Piece::Many] => Like::Contains(text.clone()),
            pieces => {
                let mut regex = String::from("(?s)^");
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => regex.push_str(&regex::escape(text)),
                        Piece::One => regex.push('.'),
                        Piece::Many => regex.push_str(".*"),
                    }
                }
                regex.push('$');
                Like::Pattern(Regex::new(&regex).map_err(|error| bad_pattern(function, pattern, &error))?)
            }
        })
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Like::Any => true,
            Like::Equals(whole) => text == whole,
            Like::Prefix(part) => text.starts_with(part),
            Like::Suffix(part) => text.ends_with(part),
            Like::Contains(part) => text.contains(part),
            Like::Pattern(regex) => regex.is_match(text),
        }
    }
}

pub(crate) fn bad_pattern(function: &str, pattern: &str, why: &dyn std::fmt::Display) -> Error {
    Error::new(&codes::BAD_PATTERN, &[("function", &function), ("pattern", &pattern), ("why", why)])
}

fn escape_of(call: &Call) -> Result<Option<char>> {
    if call.len() < 3 {
        return Ok(None);
    }
    let text = call.constant_text(2).unwrap_or_default();
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(escape), None) => Ok(Some(escape)),
        _ => Err(call.bad_value(&text, &"the escape must be one character")),
    }
}

pub(crate) fn like(call: &Call) -> Result<ArrayRef> {
    let (texts, patterns, escape) = (call.texts(0)?, call.texts(1)?, escape_of(call)?);
    let negated = call.name == "NOT LIKE";
    let mut compiled = Compiled::new();
    call.map_booleans(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.get(row)) else { return Ok(None) };
        let like = compiled.get(pattern, |pattern| Like::compile(call.name, pattern, escape))?;
        Ok(Some(like.matches(text) != negated))
    })
}

/// SQL's regular expressions: `%` and `_` as in LIKE, `| * + ? {} () []` as usual, everything else literal.
fn similar_regex(function: &str, pattern: &str, escape: Option<char>) -> Result<Regex> {
    let mut regex = String::from("(?s)^(?:");
    let mut chars = pattern.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            let next = chars.next().ok_or_else(|| bad_pattern(function, pattern, &"nothing follows the escape"))?;
            regex.push_str(&regex::escape(next.encode_utf8(&mut [0; 4])));
            continue;
        }
        match c {
            '[' => {
                in_class = true;
                regex.push(c);
            }
            ']' => {
                in_class = false;
                regex.push(c);
            }
            _ if in_class => {
                if c == '\\' || c == '&' || c == '~' {
                    regex.push('\\');
                }
                regex.push(c);
            }
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            '|' | '*' | '+' | '?' | '(' | ')' | '{' | '}' => regex.push(c),
            _ => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push_str(")$");
    Regex::new(&regex).map_err(|error| bad_pattern(function, pattern, &error))
}

pub(crate) fn similar_to(call: &Call) -> Result<ArrayRef> {
    let (texts, patterns, escape) = (call.texts(0)?, call.texts(1)?, escape_of(call)?);
    let negated = call.name == "NOT SIMILAR TO";
    let mut compiled = Compiled::new();
    call.map_booleans(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.get(row)) else { return Ok(None) };
        let regex = compiled.get(pattern, |pattern| similar_regex(call.name, pattern, escape))?;
        Ok(Some(regex.is_match(text) != negated))
    })
}
