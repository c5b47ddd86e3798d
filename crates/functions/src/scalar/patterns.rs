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

/// The names of character classes in SQL, upper case, and their Java forms.
const CLASSES: [(&str, &str); 7] = [
    ("[:ALPHA:]", "\\p{Alpha}"),
    ("[:UPPER:]", "\\p{Upper}"),
    ("[:LOWER:]", "\\p{Lower}"),
    ("[:DIGIT:]", "\\d"),
    ("[:SPACE:]", " "),
    ("[:WHITESPACE:]", "\\s"),
    ("[:ALNUM:]", "\\p{Alnum}"),
];

/// SQL's regular expressions: `%` and `_` as in LIKE, `[:ALPHA:]` in brackets, everything else as in Java.
fn similar_regex(function: &str, pattern: &str, escape: Option<char>) -> Result<Regex> {
    let mut java = String::from("^(?:");
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(c) = rest.chars().next() {
        if in_class
            && let Some((name, class)) = CLASSES
                .iter()
                .find(|(name, _)| rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)))
        {
            java.push_str(class);
            rest = &rest[name.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if Some(c) == escape {
            let next = rest.chars().next().filter(|next| "[]()|^-+*_%?{}".contains(*next) || Some(*next) == escape);
            let next = next.ok_or_else(|| bad_pattern(function, pattern, &"what follows the escape is no wildcard"))?;
            rest = &rest[next.len_utf8()..];
            java.push('\\');
            java.push(next);
            continue;
        }
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            '%' if !in_class => {
                java.push_str("(?s:.*)");
                continue;
            }
            '_' if !in_class => {
                java.push('.');
                continue;
            }
            _ => {}
        }
        java.push(c);
    }
    java.push_str(")\\z");
    let regex = super::java_regex::compile(function, &java)?;
    regex.ok_or_else(|| bad_pattern(function, pattern, &"it is no pattern"))
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
