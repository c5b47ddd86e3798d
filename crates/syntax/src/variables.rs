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
/// In comments a variable without a value stays as it is. A name starts with a letter or `_`; letters, digits, `_`, `.`
/// and `-` may follow; anything else after `${` is no variable and stays.
pub fn substitute(text: &str, mut lookup: impl FnMut(&str) -> Option<String>) -> Result<String, MissingVariable> {
    let mut out = String::with_capacity(text.len());
    for piece in Pieces::new(text, 0) {
        let comment = matches!(piece.kind, PieceKind::LineComment | PieceKind::BlockComment);
        let mut copied = piece.range.start;
        while let Some(index) = text[copied..piece.range.end].find("${") {
            let start = copied + index;
            let (name, end) = match variable(&text[start..piece.range.end]) {
                Some(name) => (name, start + name.len() + "${}".len()),
                None => {
                    out.push_str(&text[copied..start + 2]);
                    copied = start + 2;
                    continue;
                }
            };
            out.push_str(&text[copied..start]);
            match lookup(name) {
                Some(value) => out.push_str(&value),
                None if comment => out.push_str(&text[start..end]),
                None => {
                    let (line, column) = position(text, start);
                    return Err(MissingVariable { name: name.to_string(), line, column });
                }
            }
            copied = end;
        }
        out.push_str(&text[copied..piece.range.end]);
    }
    Ok(out)
}

/// The name in the `${NAME}` that `text` starts with.
fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?;
    let name = &name[..name.find('}')?];
    let first = name.chars().next()?;
    let valid = (first.is_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    valid.then_some(name)
}

fn position(text: &str, offset: usize) -> (u64, u64) {
    let before = text[..offset].strip_prefix('\u{feff}').unwrap_or(&text[..offset]);
    let line_start = before.rfind('\n').map_or(0, |index| index + 1);
    let line = before.matches('\n').count() as u64 + 1;
    (line, before[line_start..].chars().count() as u64 + 1)
}
