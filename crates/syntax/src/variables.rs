//! `${NAME}` in a script, replaced before anything is parsed.

use crate::scan::{PieceKind, Pieces};
use std::fmt;

/// A variable without a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingVariable {
    /// Its name.
    pub name: String,
    /// Line of the `$`, from 1.
    pub line: u64,
    /// Column of the `$`, from 1, in characters.
    pub column: u64,
}

impl fmt::Display for MissingVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: variable {} has no value", self.line, self.column, self.name)
    }
}

impl std::error::Error for MissingVariable {}

/// Replaces every `${NAME}` by the text that `lookup` gives, in strings too.
///
/// `${NAME:-text}` is `text` where NAME has no value. In comments a variable without a value stays as it is. A name starts with a letter or `_`; letters, digits, `_`, `.`
/// and `-` may follow; anything else after `${` is no variable and stays.
pub fn substitute(text: &str, mut lookup: impl FnMut(&str) -> Option<String>) -> Result<String, MissingVariable> {
    let mut out = String::with_capacity(text.len());
    for piece in Pieces::new(text, 0) {
        let comment = matches!(piece.kind, PieceKind::LineComment | PieceKind::BlockComment);
        let mut copied = piece.range.start;
        while let Some(index) = text[copied..piece.range.end].find("${") {
            let start = copied + index;
            let (variable, end) = match variable(&text[start..piece.range.end]) {
                Some((variable, length)) => (variable, start + length),
                None => {
                    out.push_str(&text[copied..start + 2]);
                    copied = start + 2;
                    continue;
                }
            };
            out.push_str(&text[copied..start]);
            match (lookup(variable.name), variable.default) {
                (Some(value), _) => out.push_str(&value),
                (None, _) if comment => out.push_str(&text[start..end]),
                (None, Some(default)) => out.push_str(default),
                (None, None) => {
                    let (line, column) = position(text, start);
                    return Err(MissingVariable { name: variable.name.to_string(), line, column });
                }
            }
            copied = end;
        }
        out.push_str(&text[copied..piece.range.end]);
    }
    Ok(out)
}

/// A variable in a script.
struct Variable<'t> {
    name: &'t str,
    default: Option<&'t str>,
}

/// The `${NAME}` or `${NAME:-default}` that `text` starts with, and its length in bytes.
fn variable(text: &str) -> Option<(Variable<'_>, usize)> {
    let inside = text.strip_prefix("${")?;
    let inside = &inside[..inside.find('}')?];
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let first = name.chars().next()?;
    let valid = (first.is_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    valid.then_some((Variable { name, default }, inside.len() + "${}".len()))
}

fn position(text: &str, offset: usize) -> (u64, u64) {
    let before = text[..offset].strip_prefix('\u{feff}').unwrap_or(&text[..offset]);
    let line_start = before.rfind('\n').map_or(0, |index| index + 1);
    let line = before.matches('\n').count() as u64 + 1;
    (line, before[line_start..].chars().count() as u64 + 1)
}
