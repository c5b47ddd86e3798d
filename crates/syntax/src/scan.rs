//! Cuts a text into code, strings, quoted identifiers and comments: the one place that knows where quotes and comments
//! begin and end. Splitting, substitution of variables and the clean-up before tokenizing all build on it.

use std::ops::Range;

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// Code outside quotes and comments.
    Code,
    /// `'...'` or the part of `E'...'` from its quote on. A doubled quote ends one piece and starts the next, which joins
    /// them again.
    String,
    /// `` `...` ``
    Identifier,
    /// `-- ...` or `// ...`, without its line break.
    LineComment,
    /// `/* ... */`
    BlockComment,
    /// `/*+ ... */`
    Hint,
}

/// A piece: its kind, its bytes, and whether its end was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub kind: PieceKind,
    pub range: Range<usize>,
    pub closed: bool,
}

/// The pieces of a text, in order and without gaps.
pub(crate) struct Pieces<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Pieces<'a> {
    /// Pieces of `text` from byte `position` on.
    pub fn new(text: &'a str, position: usize) -> Self {
        Pieces { text, position }
    }

    /// The kind of piece that starts at byte `at`, `None` for code.
    fn opening(&self, at: usize) -> Option<PieceKind> {
        let rest = &self.text.as_bytes()[at..];
        match rest[0] {
            b'\'' => Some(PieceKind::String),
            b'`' => Some(PieceKind::Identifier),
            b'-' if rest.starts_with(b"--") => Some(PieceKind::LineComment),
            // `hdfs://host` in an unquoted value of SET is no comment.
            b'/' if rest.starts_with(b"//") && !self.text[..at].ends_with(':') => Some(PieceKind::LineComment),
            b'/' if rest.starts_with(b"/*+") => Some(PieceKind::Hint),
            b'/' if rest.starts_with(b"/*") => Some(PieceKind::BlockComment),
            _ => None,
        }
    }

    /// Whether the string whose quote is at byte `at` is an `E'..'`, in which `\'` does not end it.
    fn has_escapes(&self, at: usize) -> bool {
        let mut before = self.text[..at].chars().rev();
        matches!(before.next(), Some('e' | 'E'))
            && before.next().is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '`' | '\'')))
    }

    fn end_of_escaped(&self, from: usize) -> (usize, bool) {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while let Some(byte) = bytes.get(at) {
            at += match byte {
                b'\\' => 2,
                b'\'' if bytes.get(at + 1) == Some(&b'\'') => 2,
                b'\'' => return (at + 1, true),
                _ => 1,
            };
        }
        (self.text.len(), false)
    }

    /// The byte after the piece, and whether its end was found.
    fn end(&self, kind: PieceKind, start: usize) -> (usize, bool) {
        let find = |from: usize, end: &str| {
            let rest = self.text.get(from..).unwrap_or("");
            match rest.find(end) {
                Some(index) => (from + index + end.len(), true),
                None => (self.text.len(), false),
            }
        };
        match kind {
            PieceKind::String if self.has_escapes(start) => self.end_of_escaped(start + 1),
            PieceKind::String => find(start + 1, "'"),
            PieceKind::Identifier => find(start + 1, "`"),
            PieceKind::LineComment => match self.text[start..].find('\n') {
                Some(index) => (start + index, true),
                None => (self.text.len(), true),
            },
            PieceKind::BlockComment => find(start + 2, "*/"),
            PieceKind::Hint => find(start + 3, "*/"),
            PieceKind::Code => {
                let mut end = start + 1;
                while end < self.text.len() && self.opening(end).is_none() {
                    end += 1;
                }
                (end, true)
            }
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let start = self.position;
        if start >= self.text.len() {
            return None;
        }
        let kind = self.opening(start).unwrap_or(PieceKind::Code);
        let (end, closed) = self.end(kind, start);
        self.position = end;
        Some(Piece { kind, range: start..end, closed })
    }
}
