//! Type names of DDL and CAST: their tree, their grammar, and their canonical text.

use crate::cursor::{self, at, eat, is};
use crate::dialect::FLINK_TYPE;
use sqlparser::ast::{DataType, Ident, ObjectName};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token};
use std::fmt;

/// How deeply types may be nested.
const NESTING_MAX: usize = crate::limits::DEPTH_MAX;

/// Starts the message of an unknown type inside `sqlparser`'s errors.
pub(crate) const UNKNOWN_TYPE: &str = "unknown type: ";

/// A type as written, with its place.
///
/// Its text form is Flink's canonical one: aliases are replaced (`INTEGER` is `INT`), field names are in backticks,
/// `NOT NULL` is kept and `NULL`, the default, is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeName {
    /// Which type.
    pub kind: TypeKind,
    /// Whether NULL is a value of it.
    pub nullable: bool,
    /// Where it stands.
    pub span: Span,
}

/// The shapes of type names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeKind {
    /// A name with lengths or precisions, as `DECIMAL(10, 2)`.
    Simple {
        /// Name in upper case.
        name: &'static str,
        /// What stands in parentheses.
        arguments: Vec<u32>,
    },
    /// `INTERVAL DAY TO SECOND`: the words after `INTERVAL`.
    Interval(String),
    /// `ARRAY<t>`
    Array(Box<TypeName>),
    /// `MULTISET<t>`
    Multiset(Box<TypeName>),
    /// `MAP<k, v>`
    Map(Box<TypeName>, Box<TypeName>),
    /// `ROW<name t, ...>`
    Row(Vec<RowField>),
    /// `RAW('class', 'serializer')`
    Raw(String, String),
}

/// A field of a ROW type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowField {
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_name: TypeName,
    /// Its description, if given.
    pub comment: Option<String>,
}

impl TypeName {
    /// The form in which a type travels through `sqlparser`'s trees: `Custom("$FLINK", [text])`.
    pub fn to_ast(&self) -> DataType {
        DataType::Custom(ObjectName::from(vec![Ident::new(FLINK_TYPE)]), vec![self.to_string()])
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TypeKind::Simple { name, arguments } => {
                f.write_str(name)?;
                for (index, argument) in arguments.iter().enumerate() {
                    write!(f, "{}{argument}", if index == 0 { "(" } else { ", " })?;
                }
                if !arguments.is_empty() {
                    f.write_str(")")?;
                }
            }
            TypeKind::Interval(units) => write!(f, "INTERVAL {units}")?,
            TypeKind::Array(element) => write!(f, "ARRAY<{element}>")?,
            TypeKind::Multiset(element) => write!(f, "MULTISET<{element}>")?,
            TypeKind::Map(key, value) => write!(f, "MAP<{key}, {value}>")?,
            TypeKind::Row(fields) => {
                f.write_str("ROW<")?;
                for (index, field) in fields.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}`{}` {}", field.name.replace('`', "``"), field.type_name)?;
                }
                f.write_str(">")?;
            }
            TypeKind::Raw(class, serializer) => {
                write!(f, "RAW('{}', '{}')", class.replace('\'', "''"), serializer.replace('\'', "''"))?;
            }
        }
        if self.nullable { Ok(()) } else { f.write_str(" NOT NULL") }
    }
}

/// Reads a type.
pub(crate) fn parse_type(parser: &mut Parser<'_>) -> Result<TypeName, ParserError> {
    let mut reader = TypeReader { parser, open_angles: 0, depth: 0 };
    let type_name = reader.type_name()?;
    if reader.open_angles > 0 {
        return parser.expected("fewer >", parser.get_current_token().clone());
    }
    Ok(type_name)
}

/// The type that people usually mean by a name that Flink does not have.
pub(crate) fn suggestion(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_uppercase().as_str() {
        "TEXT" | "VARCHAR2" | "NVARCHAR" | "LONGTEXT" | "UUID" | "JSON" | "JSONB" | "ENUM" | "CLOB" => "STRING",
        "DATETIME" | "DATETIME2" | "SMALLDATETIME" => "TIMESTAMP(3)",
        "TIMESTAMPTZ" | "TIMESTAMP WITH TIME ZONE" => "TIMESTAMP_LTZ(3)",
        "LONG" | "INT8" | "INT64" | "BIGSERIAL" => "BIGINT",
        "INT4" | "INT32" | "MEDIUMINT" | "SERIAL" => "INT",
        "INT2" | "INT16" | "SHORT" => "SMALLINT",
        "BYTE" => "TINYINT",
        "BOOL" => "BOOLEAN",
        "NUMBER" | "MONEY" => "DECIMAL(p, s)",
        "REAL" | "FLOAT4" | "FLOAT32" => "FLOAT",
        "FLOAT8" | "FLOAT64" => "DOUBLE",
        "BLOB" | "BYTEA" => "BYTES",
        "STRUCT" => "ROW<name type, ...>",
        "LIST" => "ARRAY<type>",
        _ => return None,
    })
}

struct TypeReader<'p, 'a> {
    parser: &'p mut Parser<'a>,
    /// `>>` is one token and closes two types: how many `>` of it are left.
    open_angles: usize,
    depth: usize,
}

type Read<T> = Result<T, ParserError>;

impl TypeReader<'_, '_> {
    fn type_name(&mut self) -> Read<TypeName> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(ParserError::RecursionLimitExceeded);
        }
        let start = self.parser.peek_token_ref().span;
        let kind = self.kind()?;
        let mut current = self.finish(kind, start);
        while self.open_angles == 0 && (is(self.parser, 0, "ARRAY") || is(self.parser, 0, "MULTISET")) {
            let array = is(self.parser, 0, "ARRAY");
            self.parser.advance_token();
            self.depth += 1;
            if self.depth > NESTING_MAX {
                return Err(ParserError::RecursionLimitExceeded);
            }
            let element = Box::new(current);
            let kind = if array { TypeKind::Array(element) } else { TypeKind::Multiset(element) };
            current = self.finish(kind, start);
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(current)
    }

    fn finish(&mut self, kind: TypeKind, start: Span) -> TypeName {
        let mut nullable = true;
        if self.open_angles == 0 {
            if eat(self.parser, &["NOT", "NULL"]) {
                nullable = false;
            } else {
                eat(self.parser, &["NULL"]);
            }
        }
        TypeName { kind, nullable, span: start.union(&self.parser.get_current_token().span) }
    }

    fn kind(&mut self) -> Read<TypeKind> {
        let token = self.parser.next_token();
        let Token::Word(word) = &token.token else { return self.parser.expected("a type", token) };
        let name = word.value.to_ascii_uppercase();
        if word.quote_style.is_some() {
            return unknown(&word.value, token.span);
        }
        let simple = |name, arguments| Ok(TypeKind::Simple { name, arguments });
        match name.as_str() {
            "ARRAY" => Ok(TypeKind::Array(self.element()?)),
            "MULTISET" => Ok(TypeKind::Multiset(self.element()?)),
            "MAP" => {
                self.open()?;
                let key = Box::new(self.type_name()?);
                self.parser.expect_token(&Token::Comma)?;
                let value = Box::new(self.type_name()?);
                self.close()?;
                Ok(TypeKind::Map(key, value))
            }
            "ROW" => self.row(),
            "RAW" => {
                self.parser.expect_token(&Token::LParen)?;
                let class = cursor::string(self.parser)?;
                self.parser.expect_token(&Token::Comma)?;
                let serializer = cursor::string(self.parser)?;
                self.parser.expect_token(&Token::RParen)?;
                Ok(TypeKind::Raw(class, serializer))
            }
            "INTERVAL" => self.interval(),
            "TIMESTAMP" => {
                let arguments = self.arguments(1)?;
                if eat(self.parser, &["WITH", "LOCAL", "TIME", "ZONE"]) {
                    return simple("TIMESTAMP_LTZ", arguments);
                }
                if is(self.parser, 0, "WITH") && is(self.parser, 1, "TIME") {
                    return unknown("TIMESTAMP WITH TIME ZONE", token.span);
                }
                eat(self.parser, &["WITHOUT", "TIME", "ZONE"]);
                simple("TIMESTAMP", arguments)
            }
            "TIME" => {
                let arguments = self.arguments(1)?;
                eat(self.parser, &["WITHOUT", "TIME", "ZONE"]);
                simple("TIME", arguments)
            }
            "DOUBLE" => {
                eat(self.parser, &["PRECISION"]);
                simple("DOUBLE", Vec::new())
            }
            "CHARACTER" | "CHAR" => {
                let varying = eat(self.parser, &["VARYING"]);
                let arguments = self.arguments(1)?;
                simple(if varying { "VARCHAR" } else { "CHAR" }, arguments)
            }
            "BINARY" => {
                let varying = eat(self.parser, &["VARYING"]);
                let arguments = self.arguments(1)?;
                simple(if varying { "VARBINARY" } else { "BINARY" }, arguments)
            }
            _ => match plain_type(&name) {
                Some((name, arguments_max)) => {
                    let arguments = self.arguments(arguments_max)?;
                    simple(name, arguments)
                }
                None => unknown(&word.value, token.span),
            },
        }
    }

    fn element(&mut self) -> Read<Box<TypeName>> {
        self.open()?;
        let element = self.type_name()?;
        self.close()?;
        Ok(Box::new(element))
    }

    fn open(&mut self) -> Read<()> {
        self.parser.expect_token(&Token::Lt).map(|_| ())
    }

    fn close(&mut self) -> Read<()> {
        if self.open_angles > 0 {
            self.open_angles -= 1;
            return Ok(());
        }
        match self.parser.peek_token_ref().token {
            Token::Gt => self.parser.advance_token(),
            Token::ShiftRight => {
                self.parser.advance_token();
                self.open_angles = 1;
            }
            _ => return self.parser.expected(">", self.parser.peek_token()),
        }
        Ok(())
    }

    /// `ROW<a INT, b STRING 'comment'>`, `ROW(a INT)`, and `ROW<>` whose brackets are one token.
    fn row(&mut self) -> Read<TypeKind> {
        if self.parser.consume_token(&Token::Neq) {
            return Ok(TypeKind::Row(Vec::new()));
        }
        let parentheses = self.parser.consume_token(&Token::LParen);
        if !parentheses {
            self.open()?;
        }
        let mut fields = Vec::new();
        loop {
            let name = cursor::any_identifier(self.parser)?.value;
            let type_name = self.type_name()?;
            let mut comment = None;
            if self.open_angles == 0 {
                eat(self.parser, &["COMMENT"]);
                if matches!(self.parser.peek_token_ref().token, Token::SingleQuotedString(_)) {
                    comment = Some(cursor::string(self.parser)?);
                }
            }
            fields.push(RowField { name, type_name, comment });
            if self.open_angles == 0 && self.parser.consume_token(&Token::Comma) {
                continue;
            }
            match parentheses {
                true => self.parser.expect_token(&Token::RParen).map(|_| ())?,
                false => self.close()?,
            }
            return Ok(TypeKind::Row(fields));
        }
    }

    fn interval(&mut self) -> Read<TypeKind> {
        const UNITS: [&str; 6] = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"];
        let mut text = String::new();
        loop {
            let Some(unit) = UNITS.iter().find(|unit| eat(self.parser, &[unit])) else {
                return self.parser.expected("YEAR, MONTH, DAY, HOUR, MINUTE or SECOND", self.parser.peek_token());
            };
            text.push_str(unit);
            if let Some(precision) = self.arguments(1)?.first() {
                text.push_str(&format!("({precision})"));
            }
            if text.contains(" TO ") || !eat(self.parser, &["TO"]) {
                return Ok(TypeKind::Interval(text));
            }
            text.push_str(" TO ");
        }
    }

    /// Lengths and precisions in parentheses, at most `count_max` of them.
    fn arguments(&mut self, count_max: usize) -> Read<Vec<u32>> {
        let mut arguments = Vec::new();
        if count_max == 0 || self.open_angles > 0 || !self.parser.consume_token(&Token::LParen) {
            return Ok(arguments);
        }
        loop {
            let token = self.parser.next_token();
            match &token.token {
                Token::Number(digits, false) if digits.parse::<u32>().is_ok() => {
                    arguments.extend(digits.parse::<u32>());
                }
                _ => return self.parser.expected("a length or precision", token),
            }
            if arguments.len() == count_max || self.parser.peek_token_ref().token != Token::Comma {
                self.parser.expect_token(&Token::RParen)?;
                return Ok(arguments);
            }
            self.parser.advance_token();
        }
    }
}

/// Canonical name and number of arguments of the types without a grammar of their own.
fn plain_type(name: &str) -> Option<(&'static str, usize)> {
    Some(match name {
        "BOOLEAN" => ("BOOLEAN", 0),
        "TINYINT" => ("TINYINT", 0),
        "SMALLINT" => ("SMALLINT", 0),
        "INT" | "INTEGER" => ("INT", 0),
        "BIGINT" => ("BIGINT", 0),
        "FLOAT" => ("FLOAT", 0),
        "DECIMAL" | "DEC" | "NUMERIC" => ("DECIMAL", 2),
        "VARCHAR" => ("VARCHAR", 1),
        "STRING" => ("STRING", 0),
        "VARBINARY" => ("VARBINARY", 1),
        "BYTES" => ("BYTES", 0),
        "DATE" => ("DATE", 0),
        "TIMESTAMP_LTZ" => ("TIMESTAMP_LTZ", 1),
        "NULL" => ("NULL", 0),
        "VARIANT" => ("VARIANT", 0),
        "BITMAP" => ("BITMAP", 0),
        _ => return None,
    })
}

fn unknown<T>(name: &str, span: Span) -> Read<T> {
    Err(at(format!("{UNKNOWN_TYPE}{name}"), span.start))
}
