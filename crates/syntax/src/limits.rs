//! Bounds that keep a hostile or broken statement from exhausting the stack or the time of the parser.
//!
//! `sqlparser` counts its own recursion, but not in types and row patterns, and a long chain of operators becomes a
//! deep tree that every later walk descends. Both are seen on the tokens before parsing starts.

use crate::error::{SyntaxError, SyntaxErrorKind};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

/// How deeply parentheses, brackets, types and `CASE` may be nested, and how deeply the parser may recurse.
pub const DEPTH_MAX: usize = 100;

/// How many operators may follow each other, as in `a OR b OR c`: each makes the tree one level deeper.
pub const CHAIN_MAX: usize = 500;

/// How many operators of a chain cost as much stack as one level of the parser's recursion.
const LINKS_PER_LEVEL: usize = 8;

/// How many `FROM ((` may be open at once: `sqlparser` reads each of them twice, and what is in it four times, and so
/// on.
const DOUBLE_PARENTHESES_MAX: usize = 10;

/// Refuses statements that would become too deep a tree.
pub(crate) fn check(tokens: &[TokenWithSpan]) -> Result<(), SyntaxError> {
    let mut depth = 0_usize;
    let mut doubles = DoubleParentheses::default();
    let mut angles = 0_usize;
    // One for each open parenthesis.
    let mut chains = vec![Chain::default()];
    let mut previous: Option<&Token> = None;
    for TokenWithSpan { token, span } in tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                depth += 1;
                chains.push(Chain::default());
                doubles.open(token, previous, depth);
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                doubles.close(depth);
                depth = depth.saturating_sub(1);
                if chains.len() > 1 {
                    chains.pop();
                }
            }
            Token::Lt if previous.is_some_and(is_type_constructor) => angles += 1,
            Token::Gt => angles = angles.saturating_sub(1),
            Token::ShiftRight => angles = angles.saturating_sub(2),
            _ => {}
        }
        if let Some(chain) = chains.last_mut() {
            chain.add(token);
        }
        if depth > DEPTH_MAX || angles > DEPTH_MAX {
            return Err(too_deep(span.start));
        }
        if chains.last().is_some_and(|chain| chain.depth() > CHAIN_MAX) {
            let limit = format!("more than {CHAIN_MAX} operators in a row");
            return Err(SyntaxError::new(SyntaxErrorKind::TooComplex { limit }, span.start));
        }
        if doubles.open.len() > DOUBLE_PARENTHESES_MAX {
            let limit = format!("more than {DOUBLE_PARENTHESES_MAX} double parentheses after FROM inside each other");
            return Err(SyntaxError::new(SyntaxErrorKind::TooComplex { limit }, span.start));
        }
        if !matches!(token, Token::Whitespace(_)) {
            previous = Some(token);
        }
    }
    Ok(())
}

/// How deep the parser may have to recurse, roughly and rather too much.
pub(crate) fn nesting(tokens: &[TokenWithSpan]) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0_usize;
    // Prefix operators nest without parentheses.
    let mut prefixes = 0_usize;
    // A chain of operators is read in a loop, but walked by recursion.
    let mut chain = Chain::default();
    let mut periods = 0_usize;
    for TokenWithSpan { token, .. } in tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            Token::Lt if depth > 0 => prefixes += 1,
            Token::Minus | Token::Plus => prefixes += 1,
            Token::Word(word) => {
                let starts = ["ARRAY", "CASE", "EXPLAIN", "INTERVAL", "INTO", "MULTISET", "NOT"];
                prefixes += usize::from(starts.iter().any(|name| word.value.eq_ignore_ascii_case(name)));
            }
            Token::Comma => prefixes = 0,
            _ => {}
        }
        chain.add(token);
        match token {
            Token::Period => periods += 1,
            Token::Word(_) => {}
            _ => periods = 0,
        }
        deepest = deepest.max(depth + prefixes + periods).max(chain.depth() / LINKS_PER_LEVEL);
    }
    deepest
}

/// The open `((` that start a table in FROM, as the depths of their first parentheses.
#[derive(Debug, Default)]
struct DoubleParentheses {
    open: Vec<usize>,
    /// Depth of a `(` that directly follows FROM, JOIN or another such `(`.
    candidate: Option<usize>,
}

impl DoubleParentheses {
    fn open(&mut self, token: &Token, previous: Option<&Token>, depth: usize) {
        let after_from = matches!(previous, Some(Token::Word(word))
            if ["FROM", "JOIN"].iter().any(|name| word.value.eq_ignore_ascii_case(name)));
        if *token == Token::LParen && previous == Some(&Token::LParen) && self.candidate == Some(depth - 1) {
            self.open.push(depth - 1);
            self.candidate = Some(depth);
        } else {
            self.candidate = (*token == Token::LParen && after_from).then_some(depth);
        }
    }

    fn close(&mut self, depth: usize) {
        self.open.retain(|open| *open < depth);
    }
}

/// The error for nesting beyond [`DEPTH_MAX`].
pub(crate) fn too_deep(at: Location) -> SyntaxError {
    let limit = format!("nested more than {DEPTH_MAX} levels deep");
    SyntaxError::new(SyntaxErrorKind::TooComplex { limit }, at)
}

/// How deep a tree the operators at one level of parentheses make: weak operators hold chains of stronger ones.
#[derive(Debug, Clone, Copy, Default)]
struct Chain {
    sets: usize,
    ors: usize,
    ands: usize,
    others: usize,
}

impl Chain {
    fn depth(self) -> usize {
        self.sets + self.ors + self.ands + self.others
    }

    fn add(&mut self, token: &Token) {
        let Chain { sets, ors, ands, .. } = *self;
        let word = match token {
            Token::Word(word) if word.quote_style.is_none() => word.value.to_ascii_uppercase(),
            _ => String::new(),
        };
        *self = match word.as_str() {
            "UNION" | "EXCEPT" | "INTERSECT" | "MINUS" => Chain { sets: sets + 1, ..Chain::default() },
            "OR" => Chain { sets, ors: ors + 1, ..Chain::default() },
            "AND" => Chain { sets, ors, ands: ands + 1, others: 0 },
            "SELECT" | "WHERE" | "JOIN" | "HAVING" => Chain { sets, ..Chain::default() },
            _ if matches!(token, Token::Comma) => Chain { sets, ..Chain::default() },
            _ if matches!(token, Token::SemiColon) => Chain::default(),
            _ if is_link(token) => Chain { others: self.others + 1, ..*self },
            _ => *self,
        };
    }
}

fn is_type_constructor(token: &Token) -> bool {
    const NAMES: [&str; 5] = ["ARRAY", "MAP", "MULTISET", "ROW", "STRUCT"];
    matches!(token, Token::Word(word) if NAMES.iter().any(|name| word.value.eq_ignore_ascii_case(name)))
}

/// Whether the token joins two operands, and so makes the tree one level deeper.
fn is_link(token: &Token) -> bool {
    const WORDS: [&str; 21] = [
        "AT", "BETWEEN", "COLLATE", "DIV", "GLOB", "ILIKE", "IN", "IS", "ISNULL", "LIKE", "MATCH", "MEMBER", "NOT",
        "NOTNULL", "OVERLAPS", "PIVOT", "REGEXP", "RLIKE", "SIMILAR", "UNPIVOT", "XOR",
    ];
    match token {
        Token::Word(word) => {
            word.quote_style.is_none() && WORDS.iter().any(|name| word.value.eq_ignore_ascii_case(name))
        }
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::Whitespace(_)
        | Token::Period
        | Token::RArrow
        | Token::Assignment
        | Token::EOF => false,
        Token::LBracket => true,
        other => !matches!(
            other,
            Token::LParen
                | Token::RParen
                | Token::RBracket
                | Token::LBrace
                | Token::RBrace
                | Token::Comma
                | Token::SemiColon
                | Token::UnicodeStringLiteral(_)
                | Token::EscapedStringLiteral(_)
                | Token::NationalStringLiteral(_)
                | Token::HexStringLiteral(_)
        ),
    }
}
