//! Small steps over `sqlparser`'s tokens, shared by the expression hooks, the types and the statement grammar.

use sqlparser::ast::Ident;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token};

/// Whether the `n`th next token is this word, unquoted, in any letter case.
pub(crate) fn is(parser: &Parser<'_>, n: usize, word: &str) -> bool {
    match &parser.peek_nth_token_ref(n).token {
        Token::Word(found) => found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word),
        _ => false,
    }
}

/// Takes the words if all of them come next.
pub(crate) fn eat(parser: &mut Parser<'_>, words: &[&str]) -> bool {
    if !words.iter().enumerate().all(|(n, word)| is(parser, n, word)) {
        return false;
    }
    for _ in words {
        parser.advance_token();
    }
    true
}

/// Takes the words or says that they are missing.
pub(crate) fn expect(parser: &mut Parser<'_>, words: &[&str]) -> Result<(), ParserError> {
    if eat(parser, words) { Ok(()) } else { parser.expected(&words.join(" "), parser.peek_token()) }
}

/// The next token as an upper-case word, `None` if it is no unquoted word.
pub(crate) fn word(parser: &Parser<'_>, n: usize) -> Option<String> {
    match &parser.peek_nth_token_ref(n).token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_ascii_uppercase()),
        _ => None,
    }
}

/// A string literal in single quotes.
pub(crate) fn string(parser: &mut Parser<'_>) -> Result<String, ParserError> {
    let token = parser.next_token();
    match token.token {
        Token::SingleQuotedString(text) | Token::UnicodeStringLiteral(text) => Ok(text),
        _ => parser.expected("a string in single quotes", token),
    }
}

/// A name, even a reserved word.
pub(crate) fn any_identifier(parser: &mut Parser<'_>) -> Result<Ident, ParserError> {
    let token = parser.next_token();
    match token.token {
        Token::Word(word) => Ok(word.into_ident(token.span)),
        _ => parser.expected("a name", token),
    }
}

/// An error at a position, in the form of `sqlparser`'s own.
pub(crate) fn at(message: String, location: Location) -> ParserError {
    ParserError::ParserError(format!("{message}{location}"))
}
