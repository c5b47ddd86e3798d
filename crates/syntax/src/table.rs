//! The body of CREATE TABLE: columns, constraints, watermark, partitioning and options.

use crate::cursor::{self, word};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::parser::{Result, StatementReader};
use crate::statement::{
    Column, ColumnKind, ColumnPosition, Distribution, Like, LikeOption, LikeStrategy, PartitionField, PrimaryKey,
    TableDefinition, TableOption, Watermark,
};
use crate::types::{TypeName, parse_type};
use sqlparser::ast::Ident;
use sqlparser::tokenizer::{Location, Span, Token};

impl StatementReader<'_> {
    /// `( columns, constraints, watermark )`; a comma before `)` is tolerated, and so is an empty list.
    pub fn table_elements(&mut self, definition: &mut TableDefinition) -> Result<()> {
        self.expect_token(&Token::LParen)?;
        while !self.eat_token(&Token::RParen) {
            self.table_element(definition)?;
            if !self.eat_token(&Token::Comma) && *self.peek() != Token::RParen {
                return self.expected(", or )");
            }
        }
        Ok(())
    }

    /// One column, primary key or watermark.
    pub fn table_element(&mut self, definition: &mut TableDefinition) -> Result<()> {
        let start = self.next_start();
        if self.is(0, "WATERMARK") && self.is(1, "FOR") {
            let watermark = self.watermark()?;
            return match definition.watermark.replace(watermark) {
                None => Ok(()),
                Some(_) => duplicate("WATERMARK", start),
            };
        }
        let name = if self.is(0, "CONSTRAINT") { self.constraint_name()? } else { None };
        if self.is(0, "PRIMARY") && self.is(1, "KEY") {
            self.eat(&["PRIMARY", "KEY"]);
            let columns = self.identifiers()?;
            let not_enforced = self.enforcement()?;
            let span = self.span_from(start);
            return set_primary_key(definition, PrimaryKey { name, columns, not_enforced, span });
        }
        if name.is_some() {
            return self.expected("PRIMARY KEY");
        }
        for constraint in ["UNIQUE", "FOREIGN", "CHECK"] {
            if self.is(0, constraint) && matches!(self.peek_nth(1), Token::LParen | Token::Word(_)) {
                return self.unsupported(
                    &format!("the {constraint} constraint"),
                    "remove it; only PRIMARY KEY .. NOT ENFORCED is read",
                );
            }
        }
        self.column(definition)
    }

    fn constraint_name(&mut self) -> Result<Option<Ident>> {
        self.expect(&["CONSTRAINT"])?;
        self.identifier().map(Some)
    }

    fn watermark(&mut self) -> Result<Watermark> {
        let start = self.next_start();
        self.expect(&["WATERMARK", "FOR"])?;
        let column = self.identifier_path()?;
        self.expect(&["AS"])?;
        let expression = self.text_expr()?;
        Ok(Watermark { column, expression, span: self.span_from(start) })
    }

    fn column(&mut self, definition: &mut TableDefinition) -> Result<()> {
        let start = self.next_start();
        let name = self.identifier()?;
        let kind = self.column_kind()?;
        let mut column = Column { name, kind, comment: None, position: None, span: Span::empty() };
        loop {
            let here = self.next_start();
            let constraint = if self.is(0, "CONSTRAINT") { self.constraint_name()? } else { None };
            if self.eat(&["PRIMARY", "KEY"]) {
                let not_enforced = self.enforcement()?;
                let columns = vec![column.name.clone()];
                let key = PrimaryKey { name: constraint, columns, not_enforced, span: self.span_from(here) };
                set_primary_key(definition, key)?;
            } else if constraint.is_some() {
                return self.expected("PRIMARY KEY");
            } else if let Some(comment) = self.comment()? {
                column.comment = Some(comment);
            } else if self.is(0, "UNIQUE") {
                return self.unsupported("the UNIQUE constraint", "remove it; only PRIMARY KEY NOT ENFORCED is read");
            } else if self.is(0, "DEFAULT") || self.is(0, "AUTO_INCREMENT") {
                let feature = word(&self.parser, 0).unwrap_or_default();
                return self.unsupported(
                    &format!("{feature} of a column"),
                    "remove it, or set the value in the query that inserts",
                );
            } else if self.eat(&["FIRST"]) {
                column.position = Some(ColumnPosition::First);
            } else if self.eat(&["AFTER"]) {
                column.position = Some(ColumnPosition::After(self.identifier()?));
            } else {
                break;
            }
        }
        column.span = self.span_from(start);
        definition.columns.push(column);
        Ok(())
    }

    fn column_kind(&mut self) -> Result<ColumnKind> {
        if matches!(self.peek(), Token::Comma | Token::RParen) {
            return Ok(ColumnKind::Named);
        }
        if self.eat(&["AS"]) {
            return self.text_expr().map(|computed| ColumnKind::Computed(Box::new(computed)));
        }
        let type_name = self.type_name()?;
        if !self.eat(&["METADATA"]) {
            return Ok(ColumnKind::Physical(type_name));
        }
        let key = if self.eat(&["FROM"]) { Some(self.string()?) } else { None };
        let is_virtual = self.eat(&["VIRTUAL"]);
        Ok(ColumnKind::Metadata { type_name, key, is_virtual })
    }

    pub fn type_name(&mut self) -> Result<TypeName> {
        let result = parse_type(&mut self.parser);
        self.lift(result)
    }

    /// `[NOT] ENFORCED`: whether NOT ENFORCED was written.
    fn enforcement(&mut self) -> Result<bool> {
        if self.is(0, "ENFORCED") {
            return self.unsupported("an ENFORCED primary key", "write NOT ENFORCED");
        }
        Ok(self.eat(&["NOT", "ENFORCED"]))
    }

    /// The clauses between the columns and LIKE or AS, in any order.
    pub fn table_clauses(&mut self, definition: &mut TableDefinition) -> Result<()> {
        loop {
            let start = self.next_start();
            if self.is(0, "COMMENT") {
                definition.comment = self.comment()?;
            } else if self.eat(&["PARTITIONED", "BY"]) {
                definition.partitioned_by = self.list(Self::partition_field)?;
            } else if self.eat(&["DISTRIBUTED"]) {
                definition.distribution = Some(self.distribution()?);
            } else if self.eat(&["USING"]) {
                definition.using = Some(self.identifier()?);
            } else if self.eat(&["WITH"]) || self.eat(&["TBLPROPERTIES"]) {
                if !definition.options.is_empty() {
                    return duplicate("WITH", start);
                }
                definition.options = self.options()?;
            } else {
                return Ok(());
            }
        }
    }

    /// A column, or a transform of one: `days(ts)`, `bucket(16, id)`.
    pub fn partition_field(&mut self) -> Result<PartitionField> {
        if *self.peek_nth(1) != Token::LParen {
            return self.identifier().map(PartitionField::Column);
        }
        let start = self.next_start();
        let result = cursor::any_identifier(&mut self.parser);
        let name = self.lift(result)?.value.to_lowercase();
        self.expect_token(&Token::LParen)?;
        let mut argument = None;
        if matches!(self.peek(), Token::Number(..)) {
            argument = Some(self.number()?);
            self.expect_token(&Token::Comma)?;
        }
        let column = self.identifier()?;
        if argument.is_none() && self.eat_token(&Token::Comma) {
            argument = Some(self.number()?);
        }
        self.expect_token(&Token::RParen)?;
        Ok(PartitionField::Transform { name, argument, column, span: self.span_from(start) })
    }

    pub fn distribution(&mut self) -> Result<Distribution> {
        let mut distribution = Distribution { kind: None, columns: Vec::new(), buckets: None };
        if self.eat(&["BY"]) {
            distribution.kind = ["HASH", "RANGE"].into_iter().find(|kind| self.eat(&[kind])).map(String::from);
            distribution.columns = self.identifiers()?;
        }
        if self.eat(&["INTO"]) {
            distribution.buckets = Some(self.number()?);
            self.expect(&["BUCKETS"])?;
        }
        Ok(distribution)
    }

    /// `LIKE table [( INCLUDING ALL, .. )]`, after the word LIKE. Its options need no comma between them.
    pub fn like(&mut self) -> Result<Like> {
        const FEATURES: [&str; 8] =
            ["ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"];
        let table = self.object_name()?;
        let mut options = Vec::new();
        if self.eat_token(&Token::LParen) {
            while !self.eat_token(&Token::RParen) {
                let strategy = match () {
                    () if self.eat(&["INCLUDING"]) => LikeStrategy::Including,
                    () if self.eat(&["EXCLUDING"]) => LikeStrategy::Excluding,
                    () if self.eat(&["OVERWRITING"]) => LikeStrategy::Overwriting,
                    () => return self.expected("INCLUDING, EXCLUDING or OVERWRITING"),
                };
                let Some(feature) = FEATURES.into_iter().find(|feature| self.eat(&[feature])) else {
                    return self.expected(&FEATURES.join(", "));
                };
                options.push(LikeOption { strategy, feature: feature.to_string() });
                self.eat_token(&Token::Comma);
            }
        }
        Ok(Like { table, options })
    }

    /// `('key' = 'value', ..)`; a comma before `)` is tolerated, and so is an empty list.
    pub fn options(&mut self) -> Result<Vec<TableOption>> {
        if *self.peek() != Token::LParen {
            return self.expected("(");
        }
        let open = self.next_start();
        self.parser.advance_token();
        let mut options: Vec<TableOption> = Vec::new();
        while !self.eat_token(&Token::RParen) {
            let (key, key_span) = self.quoted(open)?;
            self.expect_token(&Token::Eq)?;
            let (value, value_span) = self.quoted(open)?;
            if options.iter().any(|option| option.key == key) {
                return duplicate(&format!("option '{key}'"), key_span.start);
            }
            options.push(TableOption { key, value, key_span, value_span });
            if !self.eat_token(&Token::Comma) && *self.peek() != Token::RParen {
                return self.expected(", or )");
            }
        }
        Ok(options)
    }

    /// A quoted key or value; without quotes the error shows the whole list as it should be.
    fn quoted(&mut self, open: Location) -> Result<(String, Span)> {
        let span = self.parser.peek_token_ref().span;
        match self.peek() {
            Token::SingleQuotedString(_) | Token::UnicodeStringLiteral(_) => Ok((self.string()?, span)),
            Token::Word(_) | Token::Number(..) => {
                let corrected = quote_options(self.source.slice(open, self.source.end()));
                self.error(SyntaxErrorKind::UnquotedOption { corrected })
            }
            _ => self.expected("a string in single quotes"),
        }
    }
}

fn set_primary_key(definition: &mut TableDefinition, key: PrimaryKey) -> Result<()> {
    let start = key.span.start;
    match definition.primary_key.replace(key) {
        None => Ok(()),
        Some(_) => duplicate("PRIMARY KEY", start),
    }
}

fn duplicate<T>(what: &str, at: Location) -> Result<T> {
    Err(SyntaxError::new(SyntaxErrorKind::Duplicate { what: what.to_string() }, at))
}

/// The options in `text`, which starts with `(`, with single quotes where they belong.
fn quote_options(text: &str) -> String {
    let mut options = Vec::new();
    let mut current = String::new();
    let mut in_string = false;
    let mut depth = 0_u32;
    for c in text.chars() {
        match c {
            '\'' => in_string = !in_string,
            '(' if !in_string => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            ')' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !in_string && (depth == 0 || c == ',' && depth == 1) {
            options.push(std::mem::take(&mut current));
            if depth == 0 {
                break;
            }
        } else {
            current.push(c);
        }
    }
    options.push(current);
    let options = options.iter().filter_map(|option| quote_option(option.trim()));
    options.collect::<Vec<_>>().join(", ")
}

fn quote_option(option: &str) -> Option<String> {
    if option.is_empty() {
        return None;
    }
    let end = match option.strip_prefix('\'') {
        Some(rest) => rest.find('\'').map_or(option.len(), |index| index + 2),
        None => option.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(option.len()),
    };
    let (key, value) = option.split_at(end);
    let value = value.trim_start().strip_prefix('=').unwrap_or(value).trim();
    let quote = |text: &str| match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        Some(_) => text.to_string(),
        None => format!("'{}'", text.trim_matches('`').replace('\'', "''")),
    };
    let value = if value.is_empty() { "'...'".to_string() } else { quote(value) };
    Some(format!("{} = {value}", quote(key.trim())))
}
