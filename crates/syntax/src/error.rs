//! Why a statement cannot be read, where, and what to write instead.
//!
//! A kind carries everything that a message needs; the planner turns it into a coded, translated error. The English
//! text here serves tests and callers without that catalogue.

use sqlparser::tokenizer::Location;
use std::fmt;

/// A statement that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// Line in the script, from 1.
    pub line: u64,
    /// Column in that line, from 1, in characters.
    pub column: u64,
}

/// The kinds of mistakes that have an explanation of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// Something else was expected here.
    Unexpected {
        /// What may stand here.
        expected: String,
        /// What stands here; `end of statement` at the end.
        found: String,
    },
    /// A string literal has no closing quote; the position is that of the opening quote.
    UnterminatedString,
    /// An identifier in backticks has no closing backtick.
    UnterminatedIdentifier,
    /// A comment has no `*/`.
    UnterminatedComment,
    /// A character that SQL does not know, often put in by a word processor.
    InvalidCharacter {
        /// The character.
        found: char,
        /// What to type instead, when that is clear.
        replacement: Option<&'static str>,
    },
    /// Text in double quotes, which Flink SQL does not have.
    DoubleQuoted {
        /// The text between the quotes.
        text: String,
    },
    /// A string where a name stands, as in `SELECT 1 AS 'x'`.
    StringAsName {
        /// The text between the quotes.
        text: String,
    },
    /// A literal that is not well formed, as `U&'\zz'`.
    InvalidLiteral {
        /// What the tokenizer says.
        reason: String,
    },
    /// A reserved word is used as a name.
    ReservedWord {
        /// The word as written.
        word: String,
    },
    /// The options of a table lack their quotes; the position is that of the first such option.
    UnquotedOption {
        /// The options as they should be written: `'connector' = 'kafka', 'topic' = 'orders'`.
        corrected: String,
    },
    /// `...` was left in.
    Placeholder,
    /// A type that does not exist.
    UnknownType {
        /// Its name.
        name: String,
        /// The type of Flink that people usually mean by it.
        suggestion: Option<&'static str>,
    },
    /// The first word starts no statement.
    UnknownStatement {
        /// That word.
        word: String,
    },
    /// A word that misses a keyword by one letter; the position is that of the word.
    Misspelled {
        /// The word as written.
        word: String,
        /// The keyword.
        keyword: &'static str,
    },
    /// A CASE has no END; the position is that of CASE.
    UnclosedCase {
        /// What stands where END is expected.
        found: String,
    },
    /// A statement or clause that is known and not supported.
    Unsupported {
        /// Its name.
        feature: String,
        /// What to do instead; may be empty.
        instead: &'static str,
    },
    /// Something is given twice: a primary key, a watermark, an option.
    Duplicate {
        /// What.
        what: String,
    },
    /// A hint stands where none is read.
    MisplacedHint {
        /// The hint.
        hint: String,
    },
    /// A hint cannot be read.
    InvalidHint {
        /// The hint.
        hint: String,
    },
    /// A statement set has no `END`.
    MissingEnd,
    /// Something other than `INSERT` is in a statement set.
    NotAnInsert {
        /// The first word of that statement.
        found: String,
    },
    /// The statement is nested too deeply, or is too long to be read in reasonable time.
    TooComplex {
        /// Which limit.
        limit: String,
    },
}

impl SyntaxError {
    /// An error at a position of the script.
    pub fn new(kind: SyntaxErrorKind, at: Location) -> Self {
        SyntaxError { kind, line: at.line, column: at.column }
    }

    /// The position as `sqlparser` writes it.
    pub fn location(&self) -> Location {
        Location::new(self.line, self.column)
    }
}

impl SyntaxErrorKind {
    /// A stable name of the kind, for catalogues.
    pub fn name(&self) -> &'static str {
        use SyntaxErrorKind::*;
        match self {
            Unexpected { .. } => "unexpected",
            UnterminatedString => "unterminated-string",
            UnterminatedIdentifier => "unterminated-identifier",
            UnterminatedComment => "unterminated-comment",
            InvalidCharacter { .. } => "invalid-character",
            DoubleQuoted { .. } => "double-quoted",
            StringAsName { .. } => "string-as-name",
            InvalidLiteral { .. } => "invalid-literal",
            ReservedWord { .. } => "reserved-word",
            UnquotedOption { .. } => "unquoted-option",
            Placeholder => "placeholder",
            UnknownType { .. } => "unknown-type",
            UnknownStatement { .. } => "unknown-statement",
            Misspelled { .. } => "misspelled",
            UnclosedCase { .. } => "unclosed-case",
            Unsupported { .. } => "unsupported",
            Duplicate { .. } => "duplicate",
            MisplacedHint { .. } => "misplaced-hint",
            InvalidHint { .. } => "invalid-hint",
            MissingEnd => "missing-end",
            NotAnInsert { .. } => "not-an-insert",
            TooComplex { .. } => "too-complex",
        }
    }

    /// What is wrong, in English.
    pub fn what(&self) -> String {
        use SyntaxErrorKind::*;
        match self {
            Unexpected { expected, found } => format!("expected {expected}, found {found}"),
            UnterminatedString => "the string that starts here has no closing quote".into(),
            UnterminatedIdentifier => "the identifier that starts here has no closing backtick".into(),
            UnterminatedComment => "the comment that starts here has no closing */".into(),
            InvalidCharacter { found, .. } => format!("unexpected character {found} (U+{:04X})", *found as u32),
            DoubleQuoted { text } => format!("double quotes around {text}"),
            StringAsName { text } => format!("'{text}' is a string, but a name is expected here"),
            InvalidLiteral { reason } => format!("invalid literal: {reason}"),
            ReservedWord { word } => format!("{word} is a reserved word"),
            UnquotedOption { .. } => "option keys and values need single quotes".into(),
            Placeholder => "... is a placeholder".into(),
            UnknownType { name, .. } => format!("unknown type {name}"),
            UnknownStatement { word } => format!("no statement starts with {word}"),
            Misspelled { word, keyword } => format!("{word} is no keyword: {keyword} is"),
            UnclosedCase { found } => format!("the CASE that starts here has no END before {found}"),
            Unsupported { feature, .. } => format!("{feature} is not supported"),
            Duplicate { what } => format!("{what} is given twice"),
            MisplacedHint { hint } => format!("no hint is read at this place: {hint}"),
            InvalidHint { hint } => format!("the hint cannot be read: {hint}"),
            MissingEnd => "the statement set has no END".into(),
            NotAnInsert { found } => format!("a statement set holds INSERT statements only, found {found}"),
            TooComplex { limit } => format!("the statement is too complex: {limit}"),
        }
    }

    /// How to fix it, in English; may be empty.
    pub fn fix(&self) -> String {
        use SyntaxErrorKind::*;
        match self {
            InvalidCharacter { replacement: Some(replacement), .. } => format!("type {replacement} instead"),
            DoubleQuoted { text } => format!("write '{text}' for a string, `{text}` for a name"),
            ReservedWord { word } => format!("write `{word}`"),
            StringAsName { text } => format!("write `{text}`; if two strings belong together, write || between them"),
            UnquotedOption { corrected } => format!("WITH ({corrected})"),
            Placeholder => "write what it stands for, or remove it".into(),
            UnknownType { suggestion: Some(suggestion), .. } => format!("use {suggestion}"),
            Misspelled { keyword, .. } => format!("write {keyword}"),
            UnclosedCase { .. } => "close it: CASE WHEN ... THEN ... END".into(),
            Unsupported { instead, .. } => (*instead).into(),
            MisplacedHint { .. } => "put it after SELECT or after a table name".into(),
            InvalidHint { .. } => "write /*+ NAME('key' = 'value') */".into(),
            MissingEnd => "close it with END;".into(),
            _ => String::new(),
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.kind.what())?;
        match self.kind.fix() {
            fix if fix.is_empty() => Ok(()),
            fix => write!(f, " ({fix})"),
        }
    }
}

impl std::error::Error for SyntaxError {}
