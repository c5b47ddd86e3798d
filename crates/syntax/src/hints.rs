//! Hints: `/*+ OPTIONS('k' = 'v'), LOOKUP(...) */` after SELECT or a table name.
//!
//! To `sqlparser` they are comments. They are taken out of the tokens and put back into the tree, keyed by the token
//! before them. A hint that finds no home is an error: users set options with them, and losing one silently changes a
//! job.

use crate::dialect::{self, FlinkDialect, function_call, string_literal};
use crate::error::{SyntaxError, SyntaxErrorKind};
use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectName, Select, TableFactor, Value};
use sqlparser::ast::{VisitMut, VisitorMut};
use sqlparser::tokenizer::{Location, Token, Tokenizer};
use std::ops::ControlFlow;

/// One hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Its name in upper case: `OPTIONS`, `LOOKUP`, `STATE_TTL`, `BROADCAST` ...
    pub name: String,
    /// Its `'key' = 'value'` pairs.
    pub options: Vec<(String, String)>,
    /// Its other arguments, as the table names of `BROADCAST(a, b)`.
    pub arguments: Vec<String>,
}

impl Hint {
    /// Reads the text between `/*+` and `*/`; `None` if it is not a list of hints.
    pub fn parse_list(text: &str) -> Option<Vec<Hint>> {
        let tokens = Tokenizer::new(&FlinkDialect::default(), text).tokenize().ok()?;
        let mut tokens = tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).peekable();
        let mut hints = Vec::new();
        while tokens.peek().is_some() {
            let Some(Token::Word(name)) = tokens.next() else { return None };
            let mut hint = Hint { name: name.value.to_uppercase(), options: Vec::new(), arguments: Vec::new() };
            if tokens.next_if_eq(&Token::LParen).is_some() && tokens.next_if_eq(&Token::RParen).is_none() {
                loop {
                    let argument = hint_argument(&mut tokens)?;
                    if tokens.next_if_eq(&Token::Eq).is_some() {
                        hint.options.push((argument, hint_argument(&mut tokens)?));
                    } else {
                        hint.arguments.push(argument);
                    }
                    match tokens.next()? {
                        Token::RParen => break,
                        Token::Comma if tokens.next_if_eq(&Token::RParen).is_some() => break,
                        Token::Comma => {}
                        _ => return None,
                    }
                }
            }
            hints.push(hint);
            tokens.next_if_eq(&Token::Comma);
        }
        Some(hints)
    }
}

/// A literal or a possibly qualified name.
fn hint_argument(tokens: &mut std::iter::Peekable<impl Iterator<Item = Token>>) -> Option<String> {
    let mut text = match tokens.next()? {
        Token::SingleQuotedString(text) | Token::Number(text, _) => return Some(text),
        Token::Word(word) => word.value,
        _ => return None,
    };
    while tokens.next_if_eq(&Token::Period).is_some() {
        let Some(Token::Word(word)) = tokens.next() else { return None };
        text.push('.');
        text.push_str(&word.value);
    }
    Some(text)
}

/// The hints after `SELECT`.
pub fn select_hints(select: &Select) -> Vec<Hint> {
    select.optimizer_hint.as_ref().and_then(|hint| Hint::parse_list(&hint.text)).unwrap_or_default()
}

/// The hints after a table name in FROM; those of a `TABLE t` argument are found with [`dialect::HINT`].
pub fn table_hints(factor: &TableFactor) -> Vec<Hint> {
    let TableFactor::Table { with_hints, .. } = factor else { return Vec::new() };
    let texts = with_hints.iter().filter_map(|hint| match hint {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    });
    texts.filter_map(|text| Hint::parse_list(text)).flatten().collect()
}

/// A hint that waits for its place in the tree.
#[derive(Debug)]
pub(crate) struct LooseHint {
    /// Start of the token before it.
    pub after: Location,
    /// Start of the hint.
    pub at: Location,
    /// The text between `/*+` and `*/`.
    pub text: String,
}

/// The hints of a statement that have found no place yet.
#[derive(Debug, Default)]
pub(crate) struct LooseHints(Vec<LooseHint>);

impl LooseHints {
    pub fn new(hints: Vec<LooseHint>) -> Self {
        LooseHints(hints)
    }

    /// Takes the hints after the token that starts at `location`.
    pub fn take(&mut self, location: Location) -> Vec<String> {
        let (taken, kept) = std::mem::take(&mut self.0).into_iter().partition(|hint| hint.after == location);
        self.0 = kept;
        let taken: Vec<LooseHint> = taken;
        taken.into_iter().map(|hint| hint.text).collect()
    }

    /// Puts hints into the table references of a tree.
    pub fn attach(&mut self, tree: &mut impl VisitMut) {
        if !self.0.is_empty() {
            let _ = tree.visit(&mut Attach(self));
        }
    }

    /// The error for the first hint without a place.
    pub fn finish(self) -> Result<(), SyntaxError> {
        match self.0.into_iter().next() {
            None => Ok(()),
            Some(hint) => {
                let kind = SyntaxErrorKind::MisplacedHint { hint: format!("/*+ {} */", hint.text.trim()) };
                Err(SyntaxError::new(kind, hint.at))
            }
        }
    }
}

struct Attach<'h>(&'h mut LooseHints);

impl VisitorMut for Attach<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, with_hints, .. } = factor
            && let Some(location) = last_part(name)
        {
            with_hints.extend(self.0.take(location).into_iter().map(string_literal));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        let table =
            dialect::marker_arguments(expression, dialect::TABLE).and_then(|arguments| match arguments.first() {
                Some(Expr::CompoundIdentifier(parts)) => parts.last().map(|part| part.span.start),
                _ => None,
            });
        if let Some(location) = table
            && let Expr::Function(function) = expression
            && let FunctionArguments::List(list) = &mut function.args
        {
            let hints = self.0.take(location).into_iter();
            let marker = |text| function_call(dialect::HINT, vec![string_literal(text)]);
            list.args.extend(hints.map(|text| FunctionArg::Unnamed(FunctionArgExpr::Expr(marker(text)))));
        }
        ControlFlow::Continue(())
    }
}

/// Where the last part of a name starts.
pub(crate) fn last_part(name: &ObjectName) -> Option<Location> {
    name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.span.start)
}
