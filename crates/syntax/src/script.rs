//! A script and its statements, split at `;` without parsing them.

use crate::scan::{PieceKind, Pieces};

/// The words before which a statement set must have begun: `COMPILE AND EXECUTE PLAN IF NOT EXISTS FOR STATEMENT SET
/// BEGIN`.
const SET_WORDS_MAX: usize = 12;

/// A script: its name and its text.
#[derive(Debug, Clone)]
pub struct Script {
    name: String,
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
}

/// One statement of a script, not parsed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawStatement {
    /// The text, without comments before it and without the closing `;`.
    pub text: String,
    /// Line of its first character, from 1.
    pub line: u64,
    /// Column of its first character, from 1, in characters.
    pub column: u64,
}

impl Script {
    /// A script from the text of a file; a byte order mark is dropped.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut text: String = text.into();
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Script { name: name.into(), text, lines }
    }

    /// The name as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text without byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line with this number, from 1, without its line break.
    pub fn line(&self, number: u64) -> Option<&str> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.text[*self.lines.get(index)?..].lines().next()
    }

    /// The statements in order. Empty ones are left out; nothing is parsed.
    pub fn statements(&self) -> Statements<'_> {
        Statements { text: &self.text, position: 0, line: 1, column: 1 }
    }
}

/// The statements of a [`Script`].
#[derive(Debug, Clone)]
pub struct Statements<'a> {
    text: &'a str,
    position: usize,
    line: u64,
    column: u64,
}

impl Statements<'_> {
    fn advance(&mut self, to: usize) {
        for c in self.text[self.position..to].chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.position = to;
    }

    /// Moves to the first character of the next statement.
    fn skip_blank(&mut self) {
        for piece in Pieces::new(self.text, self.position) {
            match piece.kind {
                PieceKind::LineComment => {}
                PieceKind::BlockComment if piece.closed => {}
                PieceKind::Code => {
                    let code = &self.text[piece.range.clone()];
                    let blank = |c: char| c.is_whitespace() || is_semicolon(c) || c == '\u{feff}';
                    if let Some(index) = code.find(|c| !blank(c)) {
                        return self.advance(piece.range.start + index);
                    }
                }
                _ => return self.advance(piece.range.start),
            }
        }
        self.advance(self.text.len());
    }

    /// The byte where the statement at the current position ends.
    fn end(&self) -> usize {
        let mut tracker = SetTracker::default();
        for piece in Pieces::new(self.text, self.position) {
            if piece.kind != PieceKind::Code {
                continue;
            }
            let code = &self.text[piece.range.clone()];
            let mut word_start = None;
            for (index, c) in code.char_indices() {
                if c.is_alphanumeric() || c == '_' || c == '$' {
                    word_start.get_or_insert(index);
                    continue;
                }
                if let Some(start) = word_start.take() {
                    tracker.word(&code[start..index]);
                }
                if is_semicolon(c) && tracker.ends_statement() {
                    return piece.range.start + index;
                }
            }
            if let Some(start) = word_start {
                tracker.word(&code[start..]);
            }
        }
        self.text.len()
    }
}

impl Iterator for Statements<'_> {
    type Item = RawStatement;

    fn next(&mut self) -> Option<RawStatement> {
        self.skip_blank();
        if self.position >= self.text.len() {
            return None;
        }
        let (start, line, column) = (self.position, self.line, self.column);
        let end = self.end();
        self.advance(end);
        Some(RawStatement { text: self.text[start..end].trim_end().to_string(), line, column })
    }
}

fn is_semicolon(c: char) -> bool {
    matches!(c, ';' | '；')
}

/// Knows whether a `;` is inside a statement set. Its `END` is told from that of a `CASE` by counting.
#[derive(Debug, Default)]
struct SetTracker {
    words: usize,
    recent: [String; 3],
    inside: bool,
    open_cases: usize,
}

impl SetTracker {
    fn word(&mut self, word: &str) {
        let word = word.to_ascii_uppercase();
        if self.inside {
            match word.as_str() {
                "CASE" => self.open_cases += 1,
                "END" if self.open_cases == 0 => self.inside = false,
                "END" => self.open_cases -= 1,
                _ => {}
            }
            return;
        }
        if self.words >= SET_WORDS_MAX {
            return;
        }
        self.words += 1;
        self.recent.rotate_left(1);
        self.recent[2] = word;
        let recent = [self.recent[0].as_str(), self.recent[1].as_str(), self.recent[2].as_str()];
        self.inside = matches!(recent, ["STATEMENT", "SET", "BEGIN"] | ["BEGIN", "STATEMENT", "SET"]);
    }

    fn ends_statement(&mut self) -> bool {
        self.open_cases = 0;
        !self.inside
    }
}
