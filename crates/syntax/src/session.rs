//! Statements about the session: USE, SHOW, DESCRIBE, EXPLAIN, SET, RESET, modules, statistics.

use crate::cursor::word;
use crate::parser::{Result, StatementReader};
use crate::statement::{Describe, Explain, ExplainDetail, ObjectKind, Show, ShowFilter, Statement, Use};
use sqlparser::tokenizer::{Span, Token};

/// What SHOW shows. Of two that begin alike, the longer comes first.
const SUBJECTS: [&[&str]; 24] = [
    &["CURRENT", "CATALOG"],
    &["CURRENT", "DATABASE"],
    &["CREATE", "MATERIALIZED", "TABLE"],
    &["CREATE", "TABLE"],
    &["CREATE", "VIEW"],
    &["CREATE", "CATALOG"],
    &["CREATE", "MODEL"],
    &["CREATE", "CONNECTION"],
    &["FULL", "MODULES"],
    &["USER", "FUNCTIONS"],
    &["MATERIALIZED", "TABLES"],
    &["CATALOGS"],
    &["DATABASES"],
    &["TABLES"],
    &["VIEWS"],
    &["COLUMNS"],
    &["PARTITIONS"],
    &["FUNCTIONS"],
    &["PROCEDURES"],
    &["MODULES"],
    &["MODELS"],
    &["CONNECTIONS"],
    &["JARS"],
    &["JOBS"],
];

impl StatementReader<'_> {
    pub fn use_object(&mut self) -> Result<Statement> {
        self.expect(&["USE"])?;
        let target = if self.eat(&["CATALOG"]) {
            Use::Catalog(self.identifier()?)
        } else if self.eat(&["MODULES"]) {
            let mut modules = vec![self.identifier()?];
            while self.eat_token(&Token::Comma) {
                modules.push(self.identifier()?);
            }
            Use::Modules(modules)
        } else {
            Use::Database(self.object_name()?)
        };
        Ok(Statement::Use(target))
    }

    pub fn show(&mut self) -> Result<Statement> {
        self.expect(&["SHOW"])?;
        let Some(subject) = SUBJECTS.iter().find(|words| self.eat(words)) else {
            return self
                .expected("TABLES, VIEWS, CATALOGS, DATABASES, FUNCTIONS, COLUMNS, CREATE TABLE or another list");
        };
        let direct = subject[0] == "CREATE" || subject[0] == "PARTITIONS";
        let name = if direct || self.eat(&["FROM"]) || self.eat(&["IN"]) { Some(self.object_name()?) } else { None };
        let start_negated = self.eat(&["NOT"]);
        let ignore_case = self.is(0, "ILIKE");
        let filter = if ignore_case || self.is(0, "LIKE") {
            self.parser.advance_token();
            Some(ShowFilter { negated: start_negated, ignore_case, pattern: self.string()? })
        } else if start_negated {
            return self.expected("LIKE or ILIKE");
        } else {
            None
        };
        if subject[0] == "PARTITIONS" && self.is(0, "PARTITION") {
            return self.unsupported("SHOW PARTITIONS .. PARTITION", "list all partitions, or query the table");
        }
        Ok(Statement::Show(Show { subject: subject.join(" "), name, filter }))
    }

    pub fn describe(&mut self) -> Result<Statement> {
        self.parser.advance_token();
        if self.is(0, "JOB") && !matches!(self.peek_nth(1), Token::EOF | Token::SemiColon) {
            return Ok(Statement::Other { keyword: "DESCRIBE JOB".into(), text: self.rest() });
        }
        // `DESCRIBE catalog` describes a table of that name.
        let alone = matches!(self.peek_nth(1), Token::EOF | Token::SemiColon | Token::Period);
        let kind = if alone { None } else { self.object_kind() };
        let extended = self.eat(&["EXTENDED"]);
        let name = if kind == Some(ObjectKind::Function) { self.procedure_name()? } else { self.object_name()? };
        Ok(Statement::Describe(Describe { kind: kind.unwrap_or(ObjectKind::Table), extended, name }))
    }

    pub fn explain(&mut self) -> Result<Statement> {
        self.expect(&["EXPLAIN"])?;
        let mut details = Vec::new();
        if !self.eat(&["PLAN", "FOR"]) {
            loop {
                details.push(match () {
                    () if self.eat(&["ESTIMATED_COST"]) => ExplainDetail::EstimatedCost,
                    () if self.eat(&["CHANGELOG_MODE"]) => ExplainDetail::ChangelogMode,
                    () if self.eat(&["JSON_EXECUTION_PLAN"]) => ExplainDetail::JsonExecutionPlan,
                    () if self.eat(&["PLAN_ADVICE"]) => ExplainDetail::PlanAdvice,
                    () => break,
                });
                self.eat_token(&Token::Comma);
            }
        }
        const EXPLAINABLE: [&str; 11] = [
            "SELECT",
            "WITH",
            "VALUES",
            "TABLE",
            "INSERT",
            "EXECUTE",
            "STATEMENT",
            "BEGIN",
            "CREATE",
            "UPDATE",
            "DELETE",
        ];
        let next = word(&self.parser, 0);
        let explainable = next.as_deref().is_some_and(|next| EXPLAINABLE.contains(&next) || next == "MERGE");
        if !explainable && *self.peek() != Token::LParen {
            return self.expected("a query, INSERT or STATEMENT SET");
        }
        let statement = Box::new(self.statement()?);
        Ok(Statement::Explain(Explain { details, statement }))
    }

    /// `SET 'key' = 'value'`; both may stand without quotes.
    pub fn set(&mut self) -> Result<Statement> {
        self.expect(&["SET"])?;
        if self.at_end() {
            return Ok(Statement::SetAll);
        }
        let (key, key_span) = self.option_key()?;
        self.expect_token(&Token::Eq)?;
        let start = self.next_start();
        let value = match self.peek() {
            Token::SingleQuotedString(_) => self.string()?,
            _ if self.at_end() => return self.expected("a value"),
            _ => self.rest(),
        };
        Ok(Statement::Set { key, value, key_span, value_span: self.span_from(start) })
    }

    pub fn reset(&mut self) -> Result<Statement> {
        self.expect(&["RESET"])?;
        if self.at_end() {
            return Ok(Statement::Reset(None));
        }
        let (key, _) = self.option_key()?;
        Ok(Statement::Reset(Some(key)))
    }

    /// `'table.local-time-zone'`, or the same without quotes up to `=`.
    fn option_key(&mut self) -> Result<(String, Span)> {
        let start = self.next_start();
        if matches!(self.peek(), Token::SingleQuotedString(_)) {
            let key = self.string()?;
            return Ok((key, self.span_from(start)));
        }
        while !matches!(self.peek(), Token::Eq | Token::EOF | Token::SemiColon) {
            self.parser.advance_token();
        }
        let span = self.span_from(start);
        let key = self.text_from(start);
        if key.is_empty() || key.contains(char::is_whitespace) {
            return self.expected("= and a value");
        }
        Ok((key, span))
    }

    pub fn module(&mut self) -> Result<Statement> {
        if self.eat(&["UNLOAD", "MODULE"]) {
            return self.identifier().map(Statement::UnloadModule);
        }
        if self.eat(&["LOAD", "MODULE"]) {
            let name = self.identifier()?;
            let options = if self.eat(&["WITH"]) { self.options()? } else { Vec::new() };
            return Ok(Statement::LoadModule { name, options });
        }
        self.parser.advance_token();
        self.expected("MODULE")
    }

    pub fn analyze(&mut self) -> Result<Statement> {
        self.expect(&["ANALYZE", "TABLE"])?;
        let table = self.object_name()?;
        Ok(Statement::Analyze { table, rest: self.rest() })
    }
}
