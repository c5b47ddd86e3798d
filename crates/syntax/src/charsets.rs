//! Strings that say how they are written: `_UTF16'text'` and `U&'!0041' UESCAPE '!'`. Both become plain forms before the
//! tokenizer sees them, on the places where they stood.

use crate::error::SyntaxErrorKind;
use crate::scan::{Piece, PieceKind};
use std::collections::BTreeMap;

/// A problem, and the piece that it is in.
type Problem = (usize, SyntaxErrorKind);

/// The pieces that get another text, by their number.
pub(crate) fn plain_forms(text: &str, pieces: &[Piece]) -> Result<BTreeMap<usize, String>, Problem> {
    let mut forms = BTreeMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        let follows_code = index > 0 && pieces[index - 1].kind == PieceKind::Code;
        if piece.kind != PieceKind::String || !follows_code {
            continue;
        }
        let code = &text[pieces[index - 1].range.clone()];
        if let Some(name) = introducer(code) {
            let is_plain = |c: char| is_in(name, c);
            let literal = literal(text, pieces, index);
            match is_known(name) {
                false => return Err((index, invalid(format!("unknown character set '{name}'")))),
                true if !literal.chars().all(is_plain) => {
                    return Err((index, invalid(format!("the character set {name} does not have all of {literal}"))));
                }
                true => {}
            }
            let before = forms.remove(&(index - 1)).unwrap_or_else(|| code.to_string());
            let start = before.len() - name.len() - 1;
            forms.insert(index - 1, format!("{}{}", &before[..start], blank(&before[start..])));
        } else if code.ends_with("U&") || code.ends_with("u&") {
            unicode(text, pieces, index, &mut forms)?;
        }
    }
    Ok(forms)
}

/// `U&'..' UESCAPE 'c'` with a backslash in the place of the escape.
fn unicode(text: &str, pieces: &[Piece], first: usize, forms: &mut BTreeMap<usize, String>) -> Result<(), Problem> {
    let last = last_of(pieces, first);
    let (Some(between), Some(escape)) = (pieces.get(last + 1), pieces.get(last + 2)) else { return Ok(()) };
    let word = &text[between.range.clone()];
    let is_clause = between.kind == PieceKind::Code && escape.kind == PieceKind::String;
    if !is_clause || !word.trim().eq_ignore_ascii_case("UESCAPE") {
        return Ok(());
    }
    let quoted = &text[escape.range.clone()];
    let mut chars = quoted.trim_matches('\'').chars();
    let (Some(mark), None) = (chars.next(), chars.next()) else {
        return Err((last + 2, invalid("UESCAPE takes one character".into())));
    };
    if mark.is_ascii_hexdigit() || mark.is_whitespace() || matches!(mark, '+' | '"') {
        return Err((last + 2, invalid(format!("'{mark}' cannot be the character of UESCAPE"))));
    }
    if mark == '\\' {
        forms.extend([(last + 1, blank(word)), (last + 2, blank(quoted))]);
        return Ok(());
    }
    for piece in first..=last {
        let (mut plain, mut rest) = (String::new(), text[pieces[piece].range.clone()].chars().peekable());
        while let Some(c) = rest.next() {
            match c {
                // Doubled, it is itself.
                c if c == mark && rest.next_if_eq(&mark).is_some() => plain.push(c),
                c if c == mark => plain.push('\\'),
                '\\' => plain.push_str("\\\\"),
                c => plain.push(c),
            }
        }
        forms.insert(piece, plain);
    }
    forms.insert(last + 1, blank(word));
    forms.insert(last + 2, blank(quoted));
    Ok(())
}

/// White space in the place of a text.
fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect()
}

/// The last piece of a string: a doubled quote inside it begins another one.
fn last_of(pieces: &[Piece], first: usize) -> usize {
    first + pieces[first..].iter().take_while(|piece| piece.kind == PieceKind::String).count() - 1
}

fn literal<'t>(text: &'t str, pieces: &[Piece], first: usize) -> &'t str {
    &text[pieces[first].range.start..pieces[last_of(pieces, first)].range.end]
}

fn invalid(reason: String) -> SyntaxErrorKind {
    SyntaxErrorKind::InvalidLiteral { reason }
}

/// The name behind the underscore with which a piece of code ends, as in `SELECT _UTF-16LE`.
fn introducer(code: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let start = code.char_indices().rev().take_while(|(_, c)| is_part(*c)).last()?.0;
    // An operator or a name before it is not part of it.
    let word = &code[start..];
    let name = word.strip_prefix('_')?;
    let is_free = code[..start].chars().next_back().is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '$' | '`')));
    (is_free && name.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(name)
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_uppercase()).collect()
}

/// Whether a character set may stand before a string. The text is Unicode already.
fn is_known(name: &str) -> bool {
    const KNOWN: &[&str] = &[
        "UTF8",
        "UTF16",
        "UTF16LE",
        "UTF16BE",
        "UTF32",
        "LATIN1",
        "ASCII",
        "USASCII",
        "ISO88591",
        "ISO885915",
        "GBK",
        "GB2312",
        "GB18030",
        "BIG5",
        "SHIFTJIS",
        "SJIS",
        "EUCJP",
        "EUCKR",
        "WINDOWS1250",
        "WINDOWS1251",
        "WINDOWS1252",
        "CP1252",
        "KOI8R",
    ];
    KNOWN.contains(&folded(name).as_str())
}

/// Whether a character set has a character, as far as that follows from its number.
fn is_in(name: &str, c: char) -> bool {
    match folded(name).as_str() {
        "ASCII" | "USASCII" => c.is_ascii(),
        "LATIN1" | "ISO88591" => u32::from(c) <= 0xff,
        _ => true,
    }
}

#[cfg(test)]
#[path = "charsets_tests.rs"]
mod tests;
