//! CREATE, ALTER and DROP.

use crate::cursor::word;
use crate::error::SyntaxErrorKind;
use crate::keywords::misspelled;
use crate::parser::{Result, StatementReader};
use crate::statement::{
    AlterOperation, AlterSpace, AlterTable, AlterView, CreateFunction, CreateObject, CreateTable, CreateView, Drop,
    FunctionBody, ObjectKind, SpaceOperation, Statement, TableDefinition, ViewOperation,
};
use sqlparser::tokenizer::Token;

/// The words between CREATE and the kind of object.
#[derive(Debug, Clone, Copy)]
struct Modifiers {
    or_replace: bool,
    must_exist: bool,
    temporary: bool,
    system: bool,
}

impl StatementReader<'_> {
    pub fn create(&mut self) -> Result<Statement> {
        let start = self.next_start();
        self.expect(&["CREATE"])?;
        let modifiers = Modifiers {
            or_replace: self.eat(&["OR", "REPLACE"]),
            must_exist: false,
            temporary: self.eat(&["TEMPORARY"]),
            system: self.eat(&["SYSTEM"]),
        };
        let kind = word(&self.parser, 0);
        if modifiers.system && kind.as_deref() != Some("FUNCTION") {
            return self.expected("FUNCTION");
        }
        let is_space = matches!(kind.as_deref(), Some("CATALOG" | "DATABASE" | "SCHEMA"));
        if is_space && (modifiers.or_replace || modifiers.temporary) {
            return self.expected("TABLE, VIEW or FUNCTION");
        }
        match kind.as_deref() {
            Some("TABLE") => self.create_table(modifiers),
            Some("VIEW") => self.create_view(modifiers),
            Some("CATALOG") => self.create_object().map(Statement::CreateCatalog),
            Some("DATABASE" | "SCHEMA") => self.create_object().map(Statement::CreateDatabase),
            Some("FUNCTION") => self.create_function(modifiers),
            Some(word) => {
                if let Some(keyword) = misspelled(word, &["TABLE", "VIEW", "CATALOG", "DATABASE", "FUNCTION"]) {
                    let word = self.peek().to_string();
                    return self.error(SyntaxErrorKind::Misspelled { word, keyword });
                }
                let materialized = self.is(0, "MATERIALIZED") || self.is(0, "OR");
                let kind = (0..if materialized { 2 } else { 1 })
                    .map(|_| self.parser.next_token().token.to_string().to_uppercase())
                    .collect::<Vec<_>>()
                    .join(" ");
                let text = self.rest();
                let known = ["MATERIALIZED TABLE", "OR ALTER", "MODEL", "CONNECTION"].contains(&kind.as_str());
                match known {
                    true => Ok(Statement::Other { keyword: format!("CREATE {kind}"), text }),
                    false => {
                        let kind = SyntaxErrorKind::UnknownStatement { word: format!("CREATE {kind}") };
                        Err(crate::SyntaxError::new(kind, start))
                    }
                }
            }
            None => self.expected("TABLE, VIEW, CATALOG, DATABASE or FUNCTION"),
        }
    }

    /// `REPLACE TABLE name ..`
    pub fn replace(&mut self) -> Result<Statement> {
        self.expect(&["REPLACE"])?;
        self.create_table(Modifiers { or_replace: true, must_exist: true, temporary: false, system: false })
    }

    fn create_table(&mut self, modifiers: Modifiers) -> Result<Statement> {
        self.expect(&["TABLE"])?;
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let mut definition = TableDefinition::default();
        if *self.peek() == Token::LParen {
            self.table_elements(&mut definition)?;
        }
        self.table_clauses(&mut definition)?;
        let like = if self.eat(&["LIKE"]) { Some(self.like()?) } else { None };
        let query = if self.eat(&["AS"]) { Some(self.text_query()?) } else { None };
        if !self.at_end() && query.is_none() {
            return self.expected("COMMENT, PARTITIONED BY, DISTRIBUTED, WITH, LIKE, AS or end of statement");
        }
        let Modifiers { or_replace, must_exist, temporary, .. } = modifiers;
        let table = CreateTable { name, or_replace, must_exist, temporary, if_not_exists, definition, like, query };
        Ok(Statement::CreateTable(Box::new(table)))
    }

    fn create_view(&mut self, modifiers: Modifiers) -> Result<Statement> {
        self.expect(&["VIEW"])?;
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let columns = match self.peek() {
            Token::LParen => self.list(|reader| Ok((reader.identifier()?, reader.comment()?)))?,
            _ => Vec::new(),
        };
        let comment = self.comment()?;
        self.expect(&["AS"])?;
        let query = self.text_query()?;
        let Modifiers { or_replace, temporary, .. } = modifiers;
        let view = CreateView { name, or_replace, temporary, if_not_exists, columns, comment, query };
        Ok(Statement::CreateView(Box::new(view)))
    }

    fn create_object(&mut self) -> Result<CreateObject> {
        self.parser.advance_token();
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let comment = self.comment()?;
        let options = if self.eat(&["WITH"]) { self.options()? } else { Vec::new() };
        Ok(CreateObject { name, if_not_exists, comment, options })
    }

    fn create_function(&mut self, modifiers: Modifiers) -> Result<Statement> {
        self.expect(&["FUNCTION"])?;
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let body = if *self.peek() == Token::LParen { self.function_expression()? } else { self.function_class()? };
        let Modifiers { or_replace, temporary, system, .. } = modifiers;
        Ok(Statement::CreateFunction(CreateFunction { name, temporary, system, or_replace, if_not_exists, body }))
    }

    /// `AS 'class' [LANGUAGE JAVA] [USING JAR '..']`
    fn function_class(&mut self) -> Result<FunctionBody> {
        self.expect(&["AS"])?;
        let class = self.string()?;
        let language = if self.is(0, "LANGUAGE") { Some(self.language()?) } else { None };
        Ok(FunctionBody::Class { class, language, rest: self.rest() })
    }

    /// `(a INT, b STRING) [RETURNS STRING] [LANGUAGE SQL] RETURN expression`
    fn function_expression(&mut self) -> Result<FunctionBody> {
        let mut parameters = Vec::new();
        self.expect_token(&Token::LParen)?;
        while !self.eat_token(&Token::RParen) {
            parameters.push((self.identifier()?, self.type_name()?));
            if !self.eat_token(&Token::Comma) && *self.peek() != Token::RParen {
                return self.expected(", or )");
            }
        }
        let returns = if self.eat(&["RETURNS"]) { Some(self.type_name()?) } else { None };
        if self.is(0, "LANGUAGE") {
            let language = self.language()?;
            if language != "SQL" {
                return self.unsupported(
                    &format!("a function with parameters in {language}"),
                    "write LANGUAGE SQL RETURN expression",
                );
            }
        }
        self.expect(&["RETURN"])?;
        let expression = Box::new(self.text_expr()?);
        Ok(FunctionBody::Expression { parameters, returns, expression })
    }

    fn language(&mut self) -> Result<String> {
        self.expect(&["LANGUAGE"])?;
        match word(&self.parser, 0) {
            Some(language) => {
                self.parser.advance_token();
                Ok(language)
            }
            None => self.expected("SQL, JAVA, SCALA or PYTHON"),
        }
    }

    pub fn alter(&mut self) -> Result<Statement> {
        if !self.is(1, "TABLE") {
            return match word(&self.parser, 1).as_deref() {
                Some("MATERIALIZED") => Ok(self.other(3)),
                Some("VIEW") => self.alter_view(),
                Some("CATALOG") => self.alter_space(ObjectKind::Catalog),
                Some("DATABASE") => self.alter_space(ObjectKind::Database),
                Some("FUNCTION" | "MODEL" | "CONNECTION") => Ok(self.other(2)),
                // ALTER TEMPORARY FUNCTION, ALTER TEMPORARY SYSTEM FUNCTION
                Some("TEMPORARY") => Ok(self.other(2)),
                _ => {
                    self.parser.advance_token();
                    self.expected("TABLE, VIEW, CATALOG, DATABASE or FUNCTION")
                }
            };
        }
        self.expect(&["ALTER", "TABLE"])?;
        let if_exists = self.eat(&["IF", "EXISTS"]);
        let name = self.object_name()?;
        let operation = self.alter_operation()?;
        Ok(Statement::AlterTable(Box::new(AlterTable { name, if_exists, operation })))
    }

    fn alter_view(&mut self) -> Result<Statement> {
        self.expect(&["ALTER", "VIEW"])?;
        let if_exists = self.eat(&["IF", "EXISTS"]);
        let name = self.object_name()?;
        let operation = if self.eat(&["RENAME", "TO"]) {
            ViewOperation::Rename(self.object_name()?)
        } else if self.eat(&["AS"]) {
            ViewOperation::Query(self.text_query()?)
        } else {
            return self.expected("RENAME TO or AS");
        };
        Ok(Statement::AlterView(Box::new(AlterView { name, if_exists, operation })))
    }

    fn alter_space(&mut self, kind: ObjectKind) -> Result<Statement> {
        self.parser.advance_token();
        self.parser.advance_token();
        let name = self.object_name()?;
        let operation = if self.eat(&["SET"]) {
            SpaceOperation::Set(self.options()?)
        } else if self.eat(&["RESET"]) {
            SpaceOperation::Reset(self.list(Self::string)?)
        } else if let Some(comment) = self.comment()? {
            SpaceOperation::Comment(comment)
        } else {
            return self.expected("SET, RESET or COMMENT");
        };
        Ok(Statement::AlterSpace(AlterSpace { kind, name, operation }))
    }

    fn alter_operation(&mut self) -> Result<AlterOperation> {
        if self.eat(&["RENAME", "TO"]) {
            return self.object_name().map(AlterOperation::RenameTable);
        }
        if self.eat(&["RENAME"]) {
            self.eat(&["COLUMN"]);
            let from = self.identifier_path()?;
            self.expect(&["TO"])?;
            return Ok(AlterOperation::RenameColumn { from, to: self.identifier()? });
        }
        if self.eat(&["SET", "PARTITION", "SPEC"]) {
            return self.list(Self::partition_field).map(AlterOperation::SetPartitionSpec);
        }
        if self.is(0, "SET") && *self.peek_nth(1) == Token::LParen {
            self.parser.advance_token();
            return self.options().map(AlterOperation::SetOptions);
        }
        if self.eat(&["RESET"]) {
            return self.list(Self::string).map(AlterOperation::ResetOptions);
        }
        let add = self.is(0, "ADD");
        if add && !self.is(1, "PARTITION") || self.is(0, "MODIFY") {
            self.parser.advance_token();
            let mut definition = TableDefinition::default();
            if *self.peek() == Token::LParen {
                self.table_elements(&mut definition)?;
            } else if self.eat(&["DISTRIBUTION"]) {
                definition.distribution = Some(self.distribution()?);
            } else if self.is(0, "COLUMNS") && *self.peek_nth(1) == Token::LParen {
                self.parser.advance_token();
                self.table_elements(&mut definition)?;
            } else {
                self.eat(&["COLUMN"]);
                self.table_element(&mut definition)?;
            }
            return Ok(if add { AlterOperation::Add(definition) } else { AlterOperation::Modify(definition) });
        }
        if self.is(0, "DROP") && !self.is(1, "PARTITION") {
            self.parser.advance_token();
            return self.alter_drop();
        }
        if self.at_end() {
            return self.expected("ADD, MODIFY, DROP, RENAME, SET or RESET");
        }
        Ok(AlterOperation::Other(self.rest()))
    }

    fn alter_drop(&mut self) -> Result<AlterOperation> {
        if !self.eat(&["COLUMN"]) && self.is(0, "COLUMNS") && *self.peek_nth(1) == Token::LParen {
            self.parser.advance_token();
        }
        if *self.peek() == Token::LParen {
            return self.identifiers().map(AlterOperation::DropColumns);
        }
        match () {
            () if self.eat(&["PRIMARY", "KEY"]) => Ok(AlterOperation::DropPrimaryKey),
            () if self.eat(&["CONSTRAINT"]) => self.identifier().map(AlterOperation::DropConstraint),
            () if self.eat(&["WATERMARK"]) => Ok(AlterOperation::DropWatermark),
            () if self.eat(&["DISTRIBUTION"]) => Ok(AlterOperation::DropDistribution),
            () => self.identifier().map(|column| AlterOperation::DropColumns(vec![column])),
        }
    }

    pub fn drop_object(&mut self) -> Result<Statement> {
        self.expect(&["DROP"])?;
        let temporary = self.eat(&["TEMPORARY"]);
        let system = self.eat(&["SYSTEM"]);
        let kind = match () {
            () if self.eat(&["MATERIALIZED", "TABLE"]) => ObjectKind::MaterializedTable,
            () => match self.object_kind() {
                Some(kind) => kind,
                None => return self.expected("TABLE, VIEW, CATALOG, DATABASE or FUNCTION"),
            },
        };
        let if_exists = self.eat(&["IF", "EXISTS"]);
        let name = if kind == ObjectKind::Function { self.procedure_name()? } else { self.object_name()? };
        let cascade = self.eat(&["CASCADE"]);
        if !cascade {
            self.eat(&["RESTRICT"]);
        }
        Ok(Statement::Drop(Drop { kind, temporary, system, if_exists, name, cascade }))
    }

    /// Takes the word for a kind of object.
    pub fn object_kind(&mut self) -> Option<ObjectKind> {
        let kind = match word(&self.parser, 0)?.as_str() {
            "TABLE" => ObjectKind::Table,
            "VIEW" => ObjectKind::View,
            "CATALOG" => ObjectKind::Catalog,
            "DATABASE" | "SCHEMA" => ObjectKind::Database,
            "FUNCTION" => ObjectKind::Function,
            "MODEL" => ObjectKind::Model,
            "CONNECTION" => ObjectKind::Connection,
            _ => return None,
        };
        self.parser.advance_token();
        Some(kind)
    }
}
