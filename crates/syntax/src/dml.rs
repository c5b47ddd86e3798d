//! INSERT, statement sets and CALL.

use crate::cursor::{self, word};
use crate::error::SyntaxErrorKind;
use crate::hints::{Hint, last_part};
use crate::parser::{Result, StatementReader};
use crate::statement::{Call, Insert, OnConflict, Statement};
use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArgOperator, Ident, ObjectName};
use sqlparser::tokenizer::Token;

impl StatementReader<'_> {
    /// `EXECUTE STATEMENT SET ..`, `EXECUTE INSERT ..`, `BEGIN STATEMENT SET; .. END`.
    pub fn execute(&mut self) -> Result<Statement> {
        if self.eat(&["EXECUTE", "STATEMENT", "SET", "BEGIN"]) || self.eat(&["STATEMENT", "SET", "BEGIN"]) {
            return self.set_body();
        }
        if self.eat(&["BEGIN", "STATEMENT", "SET"]) {
            self.expect_token(&Token::SemiColon)?;
            return self.set_body();
        }
        if self.is(0, "EXECUTE") && matches!(word(&self.parser, 1).as_deref(), Some("INSERT" | "SELECT" | "WITH")) {
            self.eat(&["EXECUTE"]);
            return self.statement();
        }
        if self.is(0, "EXECUTE") && self.is(1, "PLAN") {
            return Ok(self.other(2));
        }
        self.parser.advance_token();
        self.expected("STATEMENT SET BEGIN")
    }

    /// The INSERT statements up to `END`.
    fn set_body(&mut self) -> Result<Statement> {
        let mut inserts = Vec::new();
        loop {
            while self.eat_token(&Token::SemiColon) {}
            if self.eat(&["END"]) {
                return Ok(Statement::StatementSet(inserts));
            }
            if *self.peek() == Token::EOF {
                return self.error(SyntaxErrorKind::MissingEnd);
            }
            self.eat(&["EXECUTE"]);
            if !self.is(0, "INSERT") {
                let found = self.peek().to_string();
                return self.error(SyntaxErrorKind::NotAnInsert { found });
            }
            inserts.push(self.insert()?);
            if !matches!(self.peek(), Token::SemiColon | Token::EOF) && !self.is(0, "END") {
                return self.expected("; or END");
            }
        }
    }

    /// `INSERT INTO|OVERWRITE [TABLE] t [PARTITION (..)] [(columns)] query [ON CONFLICT DO ..]`
    pub fn insert(&mut self) -> Result<Insert> {
        let start = self.next_start();
        self.expect(&["INSERT"])?;
        let overwrite = self.eat(&["OVERWRITE"]);
        if !overwrite && !self.eat(&["INTO"]) {
            return self.expected("INTO or OVERWRITE");
        }
        if overwrite {
            self.eat(&["INTO"]);
        }
        self.eat(&["TABLE"]);
        let table = self.object_name()?;
        let texts = last_part(&table).map(|location| self.hints.take(location)).unwrap_or_default();
        let hints = texts.iter().filter_map(|text| Hint::parse_list(text)).flatten().collect();
        let partition = if self.eat(&["PARTITION"]) { self.list(Self::partition_value)? } else { Vec::new() };
        let columns = if self.is_column_list() { self.identifiers()? } else { Vec::new() };
        if self.at_end() {
            return self.expected("SELECT, VALUES or another query");
        }
        let query = self.query()?;
        let on_conflict = self.on_conflict()?;
        let (text, span) = (self.text_from(start), self.span_from(start));
        Ok(Insert { table, hints, columns, overwrite, partition, query, on_conflict, text, span })
    }

    fn partition_value(&mut self) -> Result<(Ident, Option<Expr>)> {
        let column = self.identifier()?;
        let value = if self.eat_token(&Token::Eq) { Some(self.text_expr()?.expr) } else { None };
        Ok((column, value))
    }

    /// Whether the parenthesis that comes next opens a column list, and not a query.
    fn is_column_list(&self) -> bool {
        let inner = word(&self.parser, 1);
        *self.peek() == Token::LParen
            && *self.peek_nth(1) != Token::LParen
            && !matches!(inner.as_deref(), Some("SELECT" | "WITH" | "VALUES" | "TABLE"))
    }

    fn on_conflict(&mut self) -> Result<Option<OnConflict>> {
        if !self.eat(&["ON", "CONFLICT"]) {
            return Ok(None);
        }
        self.expect(&["DO"])?;
        match () {
            () if self.eat(&["DEDUPLICATE"]) => Ok(Some(OnConflict::Deduplicate)),
            () if self.eat(&["ERROR"]) => Ok(Some(OnConflict::Error)),
            () if self.eat(&["NOTHING"]) => Ok(Some(OnConflict::Nothing)),
            () => self.expected("DEDUPLICATE, ERROR or NOTHING"),
        }
    }

    /// `CALL procedure(a, name => b)`
    pub fn call(&mut self) -> Result<Statement> {
        self.expect(&["CALL"])?;
        let name = self.procedure_name()?;
        self.expect_token(&Token::LParen)?;
        let mut arguments = Vec::new();
        while !self.eat_token(&Token::RParen) {
            arguments.push(self.call_argument()?);
            if !self.eat_token(&Token::Comma) && *self.peek() != Token::RParen {
                return self.expected(", or )");
            }
        }
        Ok(Statement::Call(Call { name, arguments }))
    }

    /// `ice.system.rewrite_data_files`, `upper`: the name of a procedure or function may hold reserved words.
    pub fn procedure_name(&mut self) -> Result<ObjectName> {
        let mut parts = Vec::new();
        loop {
            let result = cursor::any_identifier(&mut self.parser);
            parts.push(self.lift(result)?);
            if !self.eat_token(&Token::Period) {
                return Ok(ObjectName::from(parts));
            }
        }
    }

    /// The name of an argument may be a reserved word: `table => 't'`.
    fn call_argument(&mut self) -> Result<FunctionArg> {
        let name = if *self.peek_nth(1) == Token::RArrow {
            let result = cursor::any_identifier(&mut self.parser);
            let name = self.lift(result)?;
            self.parser.advance_token();
            Some(name)
        } else {
            None
        };
        let arg = FunctionArgExpr::Expr(self.text_expr()?.expr);
        Ok(match name {
            Some(name) => FunctionArg::Named { name, arg, operator: FunctionArgOperator::RightArrow },
            None => FunctionArg::Unnamed(arg),
        })
    }
}
