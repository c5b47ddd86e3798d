//! Turns an error of `sqlparser`, which is a text, back into a kind and a position, and finds a better explanation
//! where the token at that position allows one.

use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::keywords::{looks_like_name, misspelled};
use crate::limits::too_deep;
use crate::source::Source;
use crate::types::{UNKNOWN_TYPE, suggestion};
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

/// An error of `sqlparser` as ours. `stopped` is where the parser stands, for messages without a position.
pub(crate) fn from_parser(error: ParserError, source: &Source, stopped: Location) -> SyntaxError {
    let message = match error {
        ParserError::RecursionLimitExceeded => return too_deep(source.start()),
        ParserError::ParserError(message) | ParserError::TokenizerError(message) => message,
    };
    let (message, location) = split_location(&message);
    let location = location.unwrap_or(stopped);
    let kind = if let Some(name) = message.strip_prefix(UNKNOWN_TYPE) {
        SyntaxErrorKind::UnknownType { name: name.to_string(), suggestion: suggestion(name) }
    } else if let Some(rest) = strip_expected(message) {
        let (expected, found) = rest.rsplit_once(", found: ").unwrap_or((rest, ""));
        unexpected(expected, found)
    } else {
        SyntaxErrorKind::InvalidLiteral { reason: message.to_string() }
    };
    SyntaxError::new(kind, location)
}

/// The rest of a message that says what was expected.
fn strip_expected(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("Expected").or_else(|| message.strip_prefix("expected"))?;
    Some(rest.trim_start_matches([':', ' ']))
}

/// `found` in place of `expected`, in the words of a person.
pub(crate) fn unexpected(expected: &str, found: &str) -> SyntaxErrorKind {
    let found = if found == "EOF" { END } else { found };
    SyntaxErrorKind::Unexpected { expected: expected.trim().to_string(), found: found.to_string() }
}

/// What is found where nothing is left.
const END: &str = "end of statement";

/// What the parser expects where a name would do.
const NAME_PLACES: [&str; 4] = ["an expression", "identifier", "a name", END];

/// Says "reserved word" where that is why the statement could not be read, and names the token that was found.
pub(crate) fn refine(error: SyntaxError, tokens: &[TokenWithSpan]) -> SyntaxError {
    let mut location = error.location();
    let SyntaxErrorKind::Unexpected { expected, found } = error.kind else { return error };
    let mut index = tokens.iter().position(|token| token.span.start == location);
    // Some messages of `sqlparser` name a token and give the position of the next one.
    if let Some(previous) = index.unwrap_or(tokens.len()).checked_sub(1)
        && index.is_none_or(|index| tokens[index].token.to_string() != found)
        && tokens[previous].token.to_string() == found
    {
        index = Some(previous);
        location = tokens[previous].span.start;
    }
    let found = match index {
        Some(index) if found.is_empty() => tokens[index].token.to_string(),
        None if found.is_empty() => END.to_string(),
        _ => found,
    };
    if let Some(better) = clause_word(&expected, index, tokens).or_else(|| open_case(&expected, &found, index, tokens))
    {
        return better;
    }
    let word = index.and_then(|index| unquoted(&tokens[index])).unwrap_or_default();
    if expected == "DEFINE" && word.eq_ignore_ascii_case("SUBSET") {
        let instead = "name the variables of the set one by one: SUM(A.x) + SUM(B.x)";
        let kind = SyntaxErrorKind::Unsupported { feature: "SUBSET of MATCH_RECOGNIZE".to_string(), instead };
        return SyntaxError::new(kind, location);
    }
    // `ORDER a` lacks its BY; that is no name.
    let clause = ["ORDER", "GROUP", "PARTITION"].iter().any(|start| word.eq_ignore_ascii_case(start));
    let kind = if looks_like_name(word) && NAME_PLACES.contains(&expected.as_str()) && !(clause && expected == END) {
        SyntaxErrorKind::ReservedWord { word: word.to_string() }
    } else {
        SyntaxErrorKind::Unexpected { expected, found }
    };
    SyntaxError::new(kind, location)
}

/// What the parser expects after the definition of a table begins with this.
const TABLE_CLAUSES: &str = "COMMENT, PARTITIONED";

/// A keyword with a typing error, which was read as an alias, or stands where a clause may begin.
fn clause_word(expected: &str, index: Option<usize>, tokens: &[TokenWithSpan]) -> Option<SyntaxError> {
    let keywords: &[&'static str] = match expected {
        END => &["FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "UNION", "INNER", "LEFT", "WINDOW"],
        _ if expected.starts_with(TABLE_CLAUSES) => &["WITH", "COMMENT", "PARTITIONED", "DISTRIBUTED", "LIKE"],
        _ => return None,
    };
    [index, index.and_then(|index| index.checked_sub(1))].into_iter().flatten().find_map(|index| {
        let word = unquoted(&tokens[index])?;
        let kind = SyntaxErrorKind::Misspelled { word: word.to_string(), keyword: misspelled(word, keywords)? };
        Some(SyntaxError::new(kind, tokens[index].span.start))
    })
}

/// The CASE that is open where END is expected.
fn open_case(expected: &str, found: &str, index: Option<usize>, tokens: &[TokenWithSpan]) -> Option<SyntaxError> {
    if expected != "END" {
        return None;
    }
    let mut open = Vec::new();
    for token in &tokens[..index.unwrap_or(tokens.len())] {
        match unquoted(token) {
            Some(word) if word.eq_ignore_ascii_case("CASE") => open.push(token.span.start),
            Some(word) if word.eq_ignore_ascii_case("END") => drop(open.pop()),
            _ => {}
        }
    }
    let kind = SyntaxErrorKind::UnclosedCase { found: found.to_string() };
    open.pop().map(|case| SyntaxError::new(kind, case))
}

fn unquoted(token: &TokenWithSpan) -> Option<&str> {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(&word.value),
        _ => None,
    }
}

/// Cuts ` at Line: 3, Column: 7` off a message.
fn split_location(message: &str) -> (&str, Option<Location>) {
    let Some((text, place)) = message.rsplit_once(" at Line: ") else { return (message, None) };
    let numbers = place
        .split_once(", Column: ")
        .and_then(|(line, column)| Some(Location::new(line.trim().parse().ok()?, column.trim().parse().ok()?)));
    match numbers {
        Some(location) => (text, Some(location)),
        None => (message, None),
    }
}
