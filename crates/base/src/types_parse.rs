//! Reads a type from its text form: `DECIMAL(10, 2) NOT NULL`, ``ROW<`a` INT, b ARRAY<STRING>>``.
//!
//! It accepts every spelling of Flink's grammar, so that the SQL front end needs no second mapping.

use super::{LENGTH_MAX, LogicalType, SqlType};
use crate::error::{Domain, Error, ErrorCode, Result, Text};
use std::str::FromStr;

/// A type that cannot be read.
pub const BAD_TYPE: ErrorCode = ErrorCode {
    code: "HW-T001",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "invalid type {type}",
        why: "{why}",
        fix: "types: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), CHAR(n), VARCHAR(n), STRING, BINARY(n), VARBINARY(n), BYTES, DATE, TIME(p), TIMESTAMP(p), TIMESTAMP_LTZ(p), INTERVAL, ARRAY<t>, MAP<k, v>, MULTISET<t>, ROW<name t, ...>, VARIANT, BITMAP",
    },
    zh: Text {
        what: "无效的类型 {type}",
        why: "{why}",
        fix: "可用类型：BOOLEAN、TINYINT、SMALLINT、INT、BIGINT、FLOAT、DOUBLE、DECIMAL(p, s)、CHAR(n)、VARCHAR(n)、STRING、BINARY(n)、VARBINARY(n)、BYTES、DATE、TIME(p)、TIMESTAMP(p)、TIMESTAMP_LTZ(p)、INTERVAL、ARRAY<t>、MAP<k, v>、MULTISET<t>、ROW<name t, ...>、VARIANT、BITMAP",
    },
};

impl FromStr for SqlType {
    type Err = Error;

    fn from_str(text: &str) -> Result<SqlType> {
        let fail = |why: String| Error::new(&BAD_TYPE, &[("type", &text), ("why", &why)]);
        let mut reader = Reader { rest: text };
        let sql_type = reader.sql_type().map_err(fail)?;
        reader.skip_space();
        if reader.rest.is_empty() { Ok(sql_type) } else { Err(fail(format!("unexpected '{}'", reader.rest))) }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

type Read<T> = std::result::Result<T, String>;

impl Reader<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, symbol: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, symbol: char) -> Read<()> {
        if self.eat(symbol) { Ok(()) } else { Err(format!("expected '{symbol}' before '{}'", self.rest)) }
    }

    /// Takes the words if they come next, whatever their letter case.
    fn eat_words(&mut self, words: &[&str]) -> bool {
        let saved = self.rest;
        for word in words {
            if !self.word().is_some_and(|found| found.eq_ignore_ascii_case(word)) {
                self.rest = saved;
                return false;
            }
        }
        true
    }

    fn word(&mut self) -> Option<String> {
        self.skip_space();
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(self.rest.len());
        if end == 0 {
            return None;
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(word.to_string())
    }

    fn identifier(&mut self) -> Read<String> {
        self.skip_space();
        if !self.rest.starts_with('`') {
            return self.word().ok_or_else(|| format!("expected a field name before '{}'", self.rest));
        }
        let mut name = String::new();
        let mut chars = self.rest.char_indices().skip(1).peekable();
        while let Some((index, c)) = chars.next() {
            if c != '`' {
                name.push(c);
            } else if chars.peek().is_some_and(|(_, next)| *next == '`') {
                chars.next();
                name.push('`');
            } else {
                self.rest = &self.rest[index + 1..];
                return Ok(name);
            }
        }
        Err("unterminated `".into())
    }

    fn numbers(&mut self) -> Read<Vec<u32>> {
        let mut numbers = Vec::new();
        if !self.eat('(') {
            return Ok(numbers);
        }
        loop {
            let word = self.word().ok_or_else(|| format!("expected a number before '{}'", self.rest))?;
            numbers.push(word.parse().map_err(|_| format!("'{word}' is not a length or precision"))?);
            if self.eat(')') {
                return Ok(numbers);
            }
            self.expect(',')?;
        }
    }

    fn sql_type(&mut self) -> Read<SqlType> {
        let mut current = SqlType { logical: self.logical()?, nullable: true };
        current.nullable = self.nullability();
        loop {
            current = if self.eat_words(&["ARRAY"]) {
                LogicalType::Array(Box::new(current)).nullable()
            } else if self.eat_words(&["MULTISET"]) {
                LogicalType::Multiset(Box::new(current)).nullable()
            } else {
                return Ok(current);
            };
            current.nullable = self.nullability();
        }
    }

    fn nullability(&mut self) -> bool {
        if self.eat_words(&["NOT", "NULL"]) {
            return false;
        }
        self.eat_words(&["NULL"]);
        true
    }

    fn logical(&mut self) -> Read<LogicalType> {
        use LogicalType::*;
        let name = self.word().ok_or_else(|| format!("expected a type before '{}'", self.rest))?.to_ascii_uppercase();
        Ok(match name.as_str() {
            "NULL" => Null,
            "BOOLEAN" => Boolean,
            "TINYINT" => TinyInt,
            "SMALLINT" => SmallInt,
            "INT" | "INTEGER" => Int,
            "BIGINT" => BigInt,
            "FLOAT" => Float,
            "DOUBLE" => {
                self.eat_words(&["PRECISION"]);
                Double
            }
            "DECIMAL" | "DEC" | "NUMERIC" => self.decimal()?,
            "STRING" => LogicalType::STRING,
            "BYTES" => LogicalType::BYTES,
            "CHAR" => Char(self.length(1)?),
            "CHARACTER" => {
                let varying = self.eat_words(&["VARYING"]);
                let length = self.length(if varying { LENGTH_MAX } else { 1 })?;
                if varying { VarChar(length) } else { Char(length) }
            }
            "VARCHAR" => VarChar(self.length(LENGTH_MAX)?),
            "BINARY" => Binary(self.length(1)?),
            "VARBINARY" => VarBinary(self.length(LENGTH_MAX)?),
            "DATE" => Date,
            "TIME" => {
                let precision = self.precision("TIME", 0)?;
                self.eat_words(&["WITHOUT", "TIME", "ZONE"]);
                // No more digits are kept.
                Time(precision.min(3))
            }
            "TIMESTAMP" => {
                let precision = self.precision("TIMESTAMP", 6)?;
                if self.eat_words(&["WITH", "LOCAL", "TIME", "ZONE"]) {
                    TimestampLtz(precision)
                } else if self.eat_words(&["WITH", "TIME", "ZONE"]) {
                    return Err("TIMESTAMP WITH TIME ZONE is not a type of Flink; use TIMESTAMP_LTZ(p)".into());
                } else {
                    self.eat_words(&["WITHOUT", "TIME", "ZONE"]);
                    Timestamp(precision)
                }
            }
            "TIMESTAMP_LTZ" => TimestampLtz(self.precision("TIMESTAMP_LTZ", 6)?),
            "INTERVAL" => self.interval()?,
            "ARRAY" | "MULTISET" => {
                self.expect('<')?;
                let element = Box::new(self.sql_type()?);
                self.expect('>')?;
                if name == "ARRAY" { Array(element) } else { Multiset(element) }
            }
            "MAP" => {
                self.expect('<')?;
                let key = Box::new(self.sql_type()?);
                self.expect(',')?;
                let value = Box::new(self.sql_type()?);
                self.expect('>')?;
                Map(key, value)
            }
            "ROW" => self.row()?,
            "STRUCTURED" => self.structured()?,
            "VARIANT" => Variant,
            "BITMAP" => Bitmap,
            other => return Err(format!("unknown type name {other}")),
        })
    }

    fn decimal(&mut self) -> Read<LogicalType> {
        let numbers = self.numbers()?;
        let precision = numbers.first().copied().unwrap_or(10);
        let scale = numbers.get(1).copied().unwrap_or(0);
        if !(1..=38).contains(&precision) || scale > precision || numbers.len() > 2 {
            return Err("DECIMAL takes a precision from 1 to 38 and a scale from 0 to the precision".into());
        }
        Ok(LogicalType::Decimal { precision: precision as u8, scale: scale as u8 })
    }

    fn length(&mut self, default: u32) -> Read<u32> {
        let length = self.numbers()?.first().copied().unwrap_or(default);
        // 0 is the length of an empty literal.
        if length <= LENGTH_MAX { Ok(length) } else { Err(format!("a length is at most {LENGTH_MAX}")) }
    }

    fn precision(&mut self, name: &str, default: u32) -> Read<u8> {
        let precision = self.numbers()?.first().copied().unwrap_or(default);
        if precision <= 9 { Ok(precision as u8) } else { Err(format!("{name} takes a precision from 0 to 9")) }
    }

    fn interval(&mut self) -> Read<LogicalType> {
        let mut year_month = false;
        let mut any = false;
        while let Some(unit) =
            ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"].into_iter().find(|unit| self.eat_words(&[unit]))
        {
            any = true;
            year_month |= unit == "YEAR" || unit == "MONTH";
            self.numbers()?;
            if !self.eat_words(&["TO"]) {
                break;
            }
        }
        if !any {
            return Err("INTERVAL needs units, for example INTERVAL DAY TO SECOND".into());
        }
        Ok(if year_month { LogicalType::IntervalYearMonth } else { LogicalType::IntervalDayTime })
    }

    fn row(&mut self) -> Read<LogicalType> {
        let close = if self.eat('(') { ')' } else { '>' };
        if close == '>' {
            self.expect('<')?;
        }
        Ok(LogicalType::Row(self.fields(close)?))
    }

    /// `STRUCTURED<'class', name t, ...>`.
    fn structured(&mut self) -> Read<LogicalType> {
        self.expect('<')?;
        self.expect('\'')?;
        let mut class = String::new();
        loop {
            let end = self.rest.find('\'').ok_or("unterminated class name")?;
            class.push_str(&self.rest[..end]);
            self.rest = &self.rest[end + 1..];
            match self.rest.strip_prefix('\'') {
                Some(rest) => {
                    class.push('\'');
                    self.rest = rest;
                }
                None => break,
            }
        }
        if !self.eat(',') {
            self.expect('>')?;
            return Ok(LogicalType::Structured(class, Vec::new()));
        }
        Ok(LogicalType::Structured(class, self.fields('>')?))
    }

    /// Fields up to and with `close`.
    fn fields(&mut self, close: char) -> Read<Vec<(String, SqlType)>> {
        let mut fields = Vec::new();
        if self.eat(close) {
            return Ok(fields);
        }
        loop {
            let name = self.identifier()?;
            let sql_type = self.sql_type()?;
            self.skip_space();
            if self.rest.starts_with('\'') {
                let end = self.rest[1..].find('\'').ok_or("unterminated comment")?;
                self.rest = &self.rest[end + 2..];
            }
            fields.push((name, sql_type));
            if self.eat(close) {
                return Ok(fields);
            }
            self.expect(',')?;
        }
    }
}
