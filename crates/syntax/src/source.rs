//! The cleaned text of one statement and its tokens, with positions in the script.
//!
//! Cleaning replaces one character by one character, so that columns stay true: full-width punctuation and spaces
//! become ASCII, `\r` becomes a space, `//` becomes `--`. What is certainly wrong is reported here, before any grammar:
//! curly quotes, double quotes, unterminated strings, `...`.

use crate::charsets;
use crate::dialect::FlinkDialect;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::scan::{Piece, PieceKind, Pieces};
use crate::script::RawStatement;
use sqlparser::tokenizer::{Location, Span, TokenWithSpan, Tokenizer};

/// The cleaned text of a statement.
#[derive(Debug)]
pub(crate) struct Source {
    text: String,
    /// Byte where each line starts.
    lines: Vec<usize>,
    /// Position of the first character in the script.
    start: Location,
}

impl Source {
    /// Cleans the text of a statement; fails at the first thing that is certainly wrong.
    pub fn new(raw: &RawStatement) -> Result<Source, SyntaxError> {
        let start = Location::new(raw.line, raw.column);
        let mut source = Source { text: String::with_capacity(raw.text.len()), lines: Vec::new(), start };
        let pieces: Vec<Piece> = Pieces::new(&raw.text, 0).collect();
        let forms = charsets::plain_forms(&raw.text, &pieces)
            .map_err(|(piece, kind)| SyntaxError::new(kind, raw.location_of(pieces[piece].range.start)))?;
        for (index, piece) in pieces.iter().enumerate() {
            let text = forms.get(&index).map_or(&raw.text[piece.range.clone()], String::as_str);
            if !piece.closed {
                let kind = match piece.kind {
                    PieceKind::String => SyntaxErrorKind::UnterminatedString,
                    PieceKind::Identifier => SyntaxErrorKind::UnterminatedIdentifier,
                    _ => SyntaxErrorKind::UnterminatedComment,
                };
                return Err(SyntaxError::new(kind, raw.location_of(piece.range.start)));
            }
            if piece.kind == PieceKind::Code
                && let Some((offset, kind)) = code_problem(text)
            {
                return Err(SyntaxError::new(kind, raw.location_of(piece.range.start + offset)));
            }
            source.push(piece, text);
        }
        source.lines.push(0);
        source.lines.extend(source.text.match_indices('\n').map(|(index, _)| index + 1));
        Ok(source)
    }

    fn push(&mut self, piece: &Piece, text: &str) {
        match piece.kind {
            PieceKind::Code => self.text.extend(text.chars().map(|c| ascii(c).unwrap_or(c))),
            PieceKind::LineComment => {
                self.text.push_str("--");
                self.text.push_str(&text[2..].replace('\r', " "));
            }
            _ => self.text.push_str(text),
        }
    }

    /// The tokens of the statement, their spans relative to the script.
    pub fn tokens(&self, dialect: &FlinkDialect) -> Result<Vec<TokenWithSpan>, SyntaxError> {
        let mut tokens = Vec::new();
        let result = Tokenizer::new(dialect, &self.text).tokenize_with_location_into_buf_with_mapper(
            &mut tokens,
            |mut token| {
                token.span = Span::new(self.in_script(token.span.start), self.in_script(token.span.end));
                token
            },
        );
        result.map_err(|error| {
            let kind = SyntaxErrorKind::InvalidLiteral { reason: error.message };
            SyntaxError::new(kind, self.in_script(error.location))
        })?;
        Ok(tokens)
    }

    fn in_script(&self, at: Location) -> Location {
        match at.line {
            0 => at,
            1 => Location::new(self.start.line, at.column + self.start.column - 1),
            line => Location::new(self.start.line + line - 1, at.column),
        }
    }

    /// The position of the first character.
    pub fn start(&self) -> Location {
        self.start
    }

    /// The position after the last character.
    pub fn end(&self) -> Location {
        let last = self.lines.last().copied().unwrap_or(0);
        let column = self.text[last..].chars().count() as u64 + 1;
        self.in_script(Location::new(self.lines.len() as u64, column))
    }

    /// The text between two positions of the script; empty if they are not positions of this statement.
    pub fn slice(&self, start: Location, end: Location) -> &str {
        let (Some(start), Some(end)) = (self.offset(start), self.offset(end)) else { return "" };
        self.text.get(start..end).unwrap_or("").trim()
    }

    fn offset(&self, at: Location) -> Option<usize> {
        let line = usize::try_from(at.line.checked_sub(self.start.line)?).ok()?;
        let first_column = if line == 0 { self.start.column } else { 1 };
        let column = usize::try_from(at.column.checked_sub(first_column)?).ok()?;
        let line_start = *self.lines.get(line)?;
        let rest = &self.text[line_start..];
        Some(line_start + rest.char_indices().nth(column).map_or(rest.len(), |(index, _)| index))
    }
}

impl RawStatement {
    /// The position in the script of a byte of the text.
    fn location_of(&self, offset: usize) -> Location {
        let before = &self.text[..offset];
        match before.rfind('\n') {
            None => Location::new(self.line, self.column + before.chars().count() as u64),
            Some(index) => Location::new(
                self.line + before.matches('\n').count() as u64,
                before[index + 1..].chars().count() as u64 + 1,
            ),
        }
    }
}

/// The ASCII form of characters that an input method or a web page puts in for it.
fn ascii(c: char) -> Option<char> {
    Some(match c {
        '，' => ',',
        '；' => ';',
        '（' => '(',
        '）' => ')',
        '＝' => '=',
        '＜' => '<',
        '＞' => '>',
        '＊' => '*',
        '\u{3000}' | '\u{a0}' | '\u{2003}' | '\u{2009}' | '\u{200b}' | '\u{feff}' | '\r' => ' ',
        _ => return None,
    })
}

/// The first thing in a piece of code that no grammar can accept, with its byte offset.
fn code_problem(code: &str) -> Option<(usize, SyntaxErrorKind)> {
    for (index, c) in code.char_indices() {
        let replacement = match c {
            '‘' | '’' | '“' | '”' | '＇' | '＂' | '´' => Some("'"),
            '、' => Some(","),
            '。' | '．' => Some("."),
            '：' => Some(":"),
            '–' | '—' | '－' | '−' => Some("-"),
            '＋' => Some("+"),
            '／' => Some("/"),
            '…' => return Some((index, SyntaxErrorKind::Placeholder)),
            '.' if code[index..].starts_with("...") => return Some((index, SyntaxErrorKind::Placeholder)),
            '"' => {
                let text = code[index + 1..].split(['"', '\n']).next().unwrap_or("").to_string();
                return Some((index, SyntaxErrorKind::DoubleQuoted { text }));
            }
            '\0' => None,
            _ => continue,
        };
        return Some((index, SyntaxErrorKind::InvalidCharacter { found: c, replacement }));
    }
    None
}
