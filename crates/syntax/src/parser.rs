//! Reads one statement: cleans and tokenizes it, finds out which statement it is, and hands it to its grammar.

use crate::cursor::{self, eat, is, word};
use crate::dialect::FlinkDialect;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::hints::LooseHints;
use crate::keywords::is_reserved;
use crate::limits::{self, DEPTH_MAX};
use crate::names;
use crate::refine::{from_parser, refine, unexpected};
use crate::rewrite::{rewrite, take_hints, wrap_rows};
use crate::script::RawStatement;
use crate::source::Source;
use crate::statement::{Modify, ModifyKind, Statement, TextExpr, TextQuery};
use sqlparser::ast::{Ident, ObjectName, Query};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};
use std::ops::Range;

pub(crate) type Result<T, E = SyntaxError> = std::result::Result<T, E>;

/// Nesting up to which a statement is parsed on the caller's stack.
const SHALLOW_MAX: usize = 16;

/// Stack for statements that are nested deeper.
const DEEP_STACK_BYTES: usize = 64 << 20;

/// Reads one statement of a script.
///
/// It never panics, and it takes time linear in the text up to a bounded factor. Deeply nested statements are read on a
/// thread of their own with a large stack; who walks the tree afterwards meets at most [`DEPTH_MAX`] levels and chains
/// of [`crate::CHAIN_MAX`] operators.
pub fn parse(raw: &RawStatement) -> Result<Statement> {
    let source = Source::new(raw)?;
    let tokens = source.tokens(&FlinkDialect::default())?;
    limits::check(&tokens)?;
    if limits::nesting(&tokens) <= SHALLOW_MAX {
        return parse_tokens(&source, tokens);
    }
    let start = source.start();
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("sql parser".into()).stack_size(DEEP_STACK_BYTES);
        let thread = builder.spawn_scoped(scope, || parse_tokens(&source, tokens));
        match thread.map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            _ => Err(limits::too_deep(start)),
        }
    })
}

fn parse_tokens(source: &Source, tokens: Vec<TokenWithSpan>) -> Result<Statement> {
    refuse_hex_numbers(source, &tokens)?;
    refuse_exclusions(&tokens)?;
    let (tokens, hints) = take_hints(tokens)?;
    let tokens = wrap_rows(rewrite(tokens));
    let dialect = FlinkDialect::new(tokens.len());
    let mut reader = StatementReader { parser: parser(&dialect, tokens.clone()), source, hints };
    let statement = reader.whole();
    if dialect.is_exhausted() {
        let limit = "too many alternatives to try; split the query with views".to_string();
        return Err(SyntaxError::new(SyntaxErrorKind::TooComplex { limit }, source.start()));
    }
    let statement = statement.map_err(|error| explain(error, source, &tokens))?;
    reader.hints.finish()?;
    names::check(&statement).map_err(|error| names::locate(error, &tokens))?;
    Ok(statement)
}

/// `0x1F` would be read as the bytes `X'1F'`; Flink knows no such number.
fn refuse_hex_numbers(source: &Source, tokens: &[TokenWithSpan]) -> Result<()> {
    let is_number = |token: &&TokenWithSpan| {
        matches!(token.token, Token::HexStringLiteral(_))
            && source.slice(token.span.start, token.span.end).starts_with(['0'])
    };
    let Some(token) = tokens.iter().find(is_number) else { return Ok(()) };
    let feature = format!("the hexadecimal number {}", source.slice(token.span.start, token.span.end));
    let instead = "write the number in decimal, or X'...' for bytes";
    Err(SyntaxError::new(SyntaxErrorKind::Unsupported { feature, instead }, token.span.start))
}

/// `A {- B -}` in a pattern would be read as a quantifier of A.
fn refuse_exclusions(tokens: &[TokenWithSpan]) -> Result<()> {
    let visible: Vec<&TokenWithSpan> =
        tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    let opens = |pair: &&[&TokenWithSpan]| pair[0].token == Token::LBrace && pair[1].token == Token::Minus;
    let Some(pair) = visible.windows(2).find(opens) else { return Ok(()) };
    let feature = "{- ... -} in a pattern".to_string();
    let instead = "leave the variable in the pattern, and out of MEASURES";
    Err(SyntaxError::new(SyntaxErrorKind::Unsupported { feature, instead }, pair[0].span.start))
}

fn parser(dialect: &FlinkDialect, tokens: Vec<TokenWithSpan>) -> Parser<'_> {
    Parser::new(dialect).with_recursion_limit(DEPTH_MAX).with_tokens_with_locations(tokens)
}

/// How many subqueries are looked at to find the place of a mistake.
const SUBQUERIES_MAX: usize = 200;

/// Finds the place of a mistake. `sqlparser` tries a parenthesis in FROM as a subquery, forgets why that failed, and
/// complains about something else; so the subqueries are read again one by one, inner ones first.
fn explain(error: SyntaxError, source: &Source, tokens: &[TokenWithSpan]) -> SyntaxError {
    if matches!(error.kind, SyntaxErrorKind::TooComplex { .. }) {
        return error;
    }
    for range in subqueries(tokens).into_iter().take(SUBQUERIES_MAX) {
        let dialect = FlinkDialect::new(range.len());
        let closed = range.end < tokens.len();
        let mut parser = parser(&dialect, tokens[range.clone()].to_vec());
        let result = parser.parse_query().and_then(|_| match parser.peek_token_ref().token {
            Token::EOF if closed => Ok(()),
            _ => parser.expected(")", parser.peek_token()),
        });
        if let Err(inner) = result
            && !dialect.is_exhausted()
        {
            let mut inner = from_parser(inner, source, next_start(&parser, source));
            // Where the tokens of the subquery end, the parser sees the end of the statement.
            let at_end = inner.location() == source.end();
            if let (SyntaxErrorKind::Unexpected { found, .. }, Some(next)) = (&mut inner.kind, tokens.get(range.end))
                && at_end
            {
                *found = next.token.to_string();
                (inner.line, inner.column) = (next.span.start.line, next.span.start.column);
            }
            return refine(inner, tokens);
        }
    }
    refine(error, tokens)
}

/// Where the next token starts, the end of the statement if there is none.
fn next_start(parser: &Parser<'_>, source: &Source) -> Location {
    let token = parser.peek_token_ref();
    if token.token == Token::EOF { source.end() } else { token.span.start }
}

/// The tokens of each query in parentheses; those inside come before those around them.
fn subqueries(tokens: &[TokenWithSpan]) -> Vec<Range<usize>> {
    let is_query = |index: usize| match tokens.get(index).map(|token| &token.token) {
        Some(Token::Word(word)) => {
            ["SELECT", "WITH", "VALUES"].iter().any(|start| word.value.eq_ignore_ascii_case(start))
        }
        _ => false,
    };
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => open.push(index + 1),
            Token::RParen => found.extend(open.pop().filter(|start| is_query(*start)).map(|start| start..index)),
            _ => {}
        }
    }
    found.extend(open.into_iter().rev().filter(|start| is_query(*start)).map(|start| start..tokens.len()));
    found
}

/// Reads a text that holds one statement; a closing `;` is allowed.
pub fn parse_statement(text: &str) -> Result<Statement> {
    let script = crate::Script::new("", text);
    let mut statements = script.statements();
    let Some(first) = statements.next() else {
        let kind = unexpected("a statement", "EOF");
        return Err(SyntaxError::new(kind, Location::new(1, 1)));
    };
    let statement = parse(&first)?;
    match statements.next() {
        None => Ok(statement),
        Some(second) => {
            let found = second.text.split_whitespace().next().unwrap_or_default();
            Err(SyntaxError::new(unexpected("one statement", found), Location::new(second.line, second.column)))
        }
    }
}

/// The state while one statement is read.
pub(crate) struct StatementReader<'a> {
    pub parser: Parser<'a>,
    pub source: &'a Source,
    pub hints: LooseHints,
}

impl StatementReader<'_> {
    /// The statement and nothing after it.
    fn whole(&mut self) -> Result<Statement> {
        let statement = self.statement()?;
        while self.parser.consume_token(&Token::SemiColon) {}
        match self.at_end() {
            true => Ok(statement),
            false => self.expected("end of statement"),
        }
    }

    /// One statement, whichever it is.
    pub fn statement(&mut self) -> Result<Statement> {
        let Some(first) = word(&self.parser, 0) else {
            return match self.parser.peek_token_ref().token {
                Token::LParen => self.query().map(Statement::Query),
                _ => self.expected("a statement"),
            };
        };
        match first.as_str() {
            "SELECT" | "WITH" | "VALUES" => self.query().map(Statement::Query),
            "TABLE" => self.query().map(Statement::Query),
            "INSERT" => self.insert().map(|insert| Statement::Insert(Box::new(insert))),
            "EXECUTE" | "STATEMENT" | "BEGIN" => self.execute(),
            "CREATE" => self.create(),
            "REPLACE" if is(&self.parser, 1, "TABLE") => self.replace(),
            "ALTER" => self.alter(),
            "DROP" => self.drop_object(),
            "USE" => self.use_object(),
            "SHOW" => self.show(),
            "DESCRIBE" | "DESC" => self.describe(),
            "EXPLAIN" => self.explain(),
            "SET" => self.set(),
            "RESET" => self.reset(),
            "CALL" => self.call(),
            "UPDATE" => self.modify(ModifyKind::Update),
            "DELETE" => self.modify(ModifyKind::Delete),
            "MERGE" => self.modify(ModifyKind::Merge),
            "LOAD" | "UNLOAD" => self.module(),
            "ANALYZE" if is(&self.parser, 1, "TABLE") => self.analyze(),
            "TRUNCATE" if is(&self.parser, 1, "TABLE") => {
                self.eat(&["TRUNCATE", "TABLE"]);
                self.object_name().map(Statement::Truncate)
            }
            "COMPILE" | "ADD" | "REMOVE" | "STOP" | "QUIT" | "EXIT" | "CLEAR" | "HELP" | "ANALYZE" | "TRUNCATE"
            | "SOURCE" | "REFRESH" | "GRANT" | "REVOKE" | "COMMIT" | "ROLLBACK" | "START" | "VACUUM" | "OPTIMIZE"
            | "CACHE" => Ok(self.other(1)),
            _ => {
                let token = self.parser.peek_token_ref();
                let kind = SyntaxErrorKind::UnknownStatement { word: token.token.to_string() };
                Err(SyntaxError::new(kind, token.span.start))
            }
        }
    }

    /// A statement known by its first `words` words only.
    pub fn other(&mut self, words: usize) -> Statement {
        let mut keyword = Vec::new();
        for _ in 0..words {
            keyword.push(self.parser.next_token().token.to_string().to_uppercase());
        }
        let text = self.rest();
        Statement::Other { keyword: keyword.join(" "), text }
    }

    fn modify(&mut self, kind: ModifyKind) -> Result<Statement> {
        let start = self.next_start();
        let statement = self.parser.parse_statement();
        let mut statement = self.lift(statement)?;
        self.hints.attach(&mut statement);
        let text = self.text_from(start);
        Ok(Statement::Modify(Box::new(Modify { kind, statement, text })))
    }

    // Steps over tokens.

    /// Turns an error of `sqlparser` into ours.
    pub fn lift<T>(&self, result: Result<T, ParserError>) -> Result<T> {
        result.map_err(|error| from_parser(error, self.source, self.next_start()))
    }

    pub fn is(&self, n: usize, word: &str) -> bool {
        is(&self.parser, n, word)
    }

    pub fn eat(&mut self, words: &[&str]) -> bool {
        eat(&mut self.parser, words)
    }

    pub fn expect(&mut self, words: &[&str]) -> Result<()> {
        let result = cursor::expect(&mut self.parser, words);
        self.lift(result)
    }

    pub fn peek(&self) -> &Token {
        &self.parser.peek_token_ref().token
    }

    pub fn peek_nth(&self, n: usize) -> &Token {
        &self.parser.peek_nth_token_ref(n).token
    }

    pub fn eat_token(&mut self, token: &Token) -> bool {
        self.parser.consume_token(token)
    }

    pub fn expect_token(&mut self, token: &Token) -> Result<()> {
        if self.parser.consume_token(token) { Ok(()) } else { self.expected(&token.to_string()) }
    }

    /// The error that something else stands here.
    pub fn expected<T>(&self, what: &str) -> Result<T> {
        let result = self.parser.expected(what, self.parser.peek_token());
        self.lift(result)
    }

    /// An error at the next token.
    pub fn error<T>(&self, kind: SyntaxErrorKind) -> Result<T> {
        Err(SyntaxError::new(kind, self.next_start()))
    }

    /// Refuses a clause by name, at the next token.
    pub fn unsupported<T>(&self, feature: &str, instead: &'static str) -> Result<T> {
        let kind = SyntaxErrorKind::Unsupported { feature: feature.to_string(), instead };
        Err(SyntaxError::new(kind, self.next_start()))
    }

    pub fn at_end(&self) -> bool {
        matches!(self.peek(), Token::EOF | Token::SemiColon)
    }

    /// Where the next token starts.
    pub fn next_start(&self) -> Location {
        next_start(&self.parser, self.source)
    }

    /// Where the last taken token ends.
    pub fn last_end(&self) -> Location {
        self.parser.get_current_token().span.end
    }

    pub fn span_from(&self, start: Location) -> Span {
        Span::new(start, self.last_end())
    }

    /// The text from `start` to the last taken token.
    pub fn text_from(&self, start: Location) -> String {
        self.source.slice(start, self.last_end()).to_string()
    }

    /// Takes everything up to the end of the statement.
    pub fn rest(&mut self) -> String {
        let start = self.next_start();
        while !self.at_end() {
            self.parser.advance_token();
        }
        let end = if *self.peek() == Token::EOF { self.source.end() } else { self.next_start() };
        self.source.slice(start, end).to_string()
    }

    // Small parts of the grammar.

    pub fn string(&mut self) -> Result<String> {
        let result = cursor::string(&mut self.parser);
        self.lift(result)
    }

    pub fn number(&mut self) -> Result<u64> {
        let number = match self.peek() {
            Token::Number(digits, false) => digits.parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => {
                self.parser.advance_token();
                Ok(number)
            }
            None => self.expected("a whole number"),
        }
    }

    /// A name; a reserved word needs backticks.
    pub fn identifier(&mut self) -> Result<Ident> {
        match self.peek() {
            Token::Word(word) if word.quote_style.is_none() && is_reserved(&word.value) => {
                let word = word.value.clone();
                self.error(SyntaxErrorKind::ReservedWord { word })
            }
            Token::Word(_) => {
                let result = cursor::any_identifier(&mut self.parser);
                self.lift(result)
            }
            _ => self.expected("a name"),
        }
    }

    /// A name of parts, separated by `.`.
    pub fn identifier_path(&mut self) -> Result<Vec<Ident>> {
        let mut parts = vec![self.identifier()?];
        while self.eat_token(&Token::Period) {
            parts.push(self.identifier()?);
        }
        Ok(parts)
    }

    /// The name of an object: `[[catalog.]database.]name`.
    pub fn object_name(&mut self) -> Result<ObjectName> {
        self.identifier_path().map(ObjectName::from)
    }

    /// `(a, b)`; a comma before `)` is tolerated.
    pub fn identifiers(&mut self) -> Result<Vec<Ident>> {
        self.list(Self::identifier)
    }

    /// `(item, item)`; a comma before `)` is tolerated.
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let mut items = vec![item(self)?];
        loop {
            if self.eat_token(&Token::RParen) {
                return Ok(items);
            }
            if !self.eat_token(&Token::Comma) {
                return self.expected(", or )");
            }
            if *self.peek() != Token::RParen {
                items.push(item(self)?);
            }
        }
    }

    pub fn if_not_exists(&mut self) -> bool {
        self.eat(&["IF", "NOT", "EXISTS"])
    }

    pub fn comment(&mut self) -> Result<Option<String>> {
        if self.eat(&["COMMENT"]) { self.string().map(Some) } else { Ok(None) }
    }

    /// A query, its hints in place.
    pub fn query(&mut self) -> Result<Box<Query>> {
        let result = self.parser.parse_query();
        let mut query = self.lift(result)?;
        self.hints.attach(query.as_mut());
        Ok(query)
    }

    /// A query and its text.
    pub fn text_query(&mut self) -> Result<TextQuery> {
        let start = self.next_start();
        let query = self.query()?;
        Ok(TextQuery { query, text: self.text_from(start), span: self.span_from(start) })
    }

    /// An expression and its text.
    pub fn text_expr(&mut self) -> Result<TextExpr> {
        let start = self.next_start();
        let result = self.parser.parse_expr();
        let mut expr = self.lift(result)?;
        self.hints.attach(&mut expr);
        Ok(TextExpr { expr, text: self.text_from(start), span: self.span_from(start) })
    }
}
