//! Messages without secrets: a script's line may be shown, the password in it may not.

use base::error::Label;
use base::options::{MASK, SECRET_KEYS};
use base::{Error, Language};

/// A message for people. In lines of a script, the values of password options are masked.
pub fn render(error: &Error, language: Language, label: Label) -> String {
    mask(&error.render(language, label))
}

/// The text of a script, the values of password options masked.
pub fn script(text: &str) -> String {
    mask_line(text).0
}

fn mask(text: &str) -> String {
    let mut lines = Vec::new();
    // The place of a mask and the columns that it saved, for the caret in the line below.
    let mut saved: Vec<(usize, usize)> = Vec::new();
    for line in text.split('\n') {
        if line.trim_end().ends_with('^') && !saved.is_empty() {
            lines.push(move_caret(line, &saved));
            saved.clear();
            continue;
        }
        let (line, columns) = mask_line(line);
        lines.push(line);
        saved = columns;
    }
    lines.join("\n")
}

/// Moves the caret left by what the masks before it have saved.
fn move_caret(line: &str, saved: &[(usize, usize)]) -> String {
    let caret = line.chars().count().saturating_sub(1);
    let before: usize =
        saved.iter().filter(|(start, _)| *start < caret).map(|(start, columns)| (*columns).min(caret - start)).sum();
    line.chars().take(caret - before).chain(['^']).collect()
}

fn mask_line(line: &str) -> (String, Vec<(usize, usize)>) {
    let mut out = String::new();
    let mut saved = Vec::new();
    let mut rest = line;
    let mut passed = 0;
    while let Some((begin, length)) = next_secret(rest) {
        out.push_str(&rest[..begin]);
        out.push_str(MASK);
        let columns = rest[begin..begin + length].chars().count();
        saved.push((passed + rest[..begin].chars().count(), columns.saturating_sub(MASK.len())));
        passed += rest[..begin].chars().count() + columns;
        rest = &rest[begin + length..];
    }
    out.push_str(rest);
    (out, saved)
}

/// Byte and length of the first value of a password option, without its quotes. A value without an end goes to the end.
fn next_secret(text: &str) -> Option<(usize, usize)> {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    loop {
        let found = SECRET_KEYS.iter().filter_map(|key| Some((lower[from..].find(&format!("{key}'"))?, key.len())));
        let (at, length) = found.min()?;
        from += at + length + 1;
        let value = text[from..].trim_start();
        let Some(value) = value.strip_prefix('=').map(str::trim_start).and_then(|value| value.strip_prefix('\''))
        else {
            continue;
        };
        let begin = text.len() - value.len();
        return Some((begin, quoted_length(value)));
    }
}

/// The length of a quoted text up to its closing quote; two quotes are one of the text.
fn quoted_length(text: &str) -> usize {
    let mut quotes = text.match_indices('\'').map(|(at, _)| at).peekable();
    while let Some(at) = quotes.next() {
        if quotes.next_if_eq(&(at + 1)).is_none() {
            return at;
        }
    }
    text.len()
}
