//! A small reader of SQL expressions for the tests: just enough to run a file of expressions without the planner.

use super::Value;
use base::{LogicalType, SqlType};

pub(super) struct Parser<'a> {
    pub text: &'a str,
    pub at: usize,
    pub run: &'a super::Run,
}

type Parsed<T> = Result<T, String>;

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    pub fn peek(&mut self, symbol: &str) -> bool {
        self.space();
        let rest = self.rest();
        let Some(head) = rest.get(..symbol.len()) else { return false };
        let is_word = symbol.ends_with(|c: char| c.is_alphanumeric());
        let ends = !is_word || !rest[symbol.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        head.eq_ignore_ascii_case(symbol) && ends
    }

    pub fn eat(&mut self, symbol: &str) -> bool {
        let found = self.peek(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { Err(format!("expected {symbol} at {}", self.rest())) }
    }

    fn word(&mut self) -> Parsed<String> {
        self.space();
        let end = self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest().len());
        if end == 0 {
            return Err(format!("expected a word at {}", self.rest()));
        }
        let word = self.rest()[..end].to_string();
        self.at += end;
        Ok(word)
    }

    fn quoted(&mut self) -> Parsed<String> {
        self.expect("'")?;
        let mut out = String::new();
        let mut chars = self.rest().char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c != '\'' {
                out.push(c);
            } else if chars.next_if(|(_, next)| *next == '\'').is_some() {
                out.push('\'');
            } else {
                self.at += at + 1;
                return Ok(out);
            }
        }
        Err("a quote is not closed".into())
    }

    pub fn expression(&mut self) -> Parsed<Value> {
        let mut left = self.conjunction()?;
        while self.eat("OR") {
            let right = self.conjunction()?;
            left = self.run.call("OR", vec![left, right])?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Value> {
        let mut left = self.negation()?;
        while self.eat("AND") {
            let right = self.negation()?;
            left = self.run.call("AND", vec![left, right])?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed<Value> {
        if self.eat("NOT") {
            let value = self.negation()?;
            return self.run.call("NOT", vec![value]);
        }
        self.predicate()
    }

    fn predicate(&mut self) -> Parsed<Value> {
        let left = self.sum()?;
        if self.eat("IS") {
            let tests = [
                "NOT JSON OBJECT",
                "NOT JSON",
                "JSON OBJECT",
                "JSON ARRAY",
                "JSON SCALAR",
                "JSON",
                "NOT NULL",
                "NULL",
                "NOT FALSE",
                "NOT TRUE",
                "FALSE",
                "TRUE",
                "UNKNOWN",
            ];
            for test in tests {
                if self.eat(test) {
                    return self.run.call(&format!("IS {test}"), vec![left]);
                }
            }
            self.expect("DISTINCT FROM")?;
            let right = self.sum()?;
            return self.run.call("IS DISTINCT FROM", vec![left, right]);
        }
        let not = self.eat("NOT");
        for name in ["LIKE", "SIMILAR TO"] {
            if self.eat(name) {
                let mut arguments = vec![left, self.sum()?];
                if self.eat("ESCAPE") {
                    arguments.push(self.sum()?);
                }
                return self.run.call(&if not { format!("NOT {name}") } else { name.into() }, arguments);
            }
        }
        if self.eat("BETWEEN") {
            if self.eat("SYMMETRIC") {
                return Err("skip: BETWEEN SYMMETRIC".into());
            }
            let low = self.sum()?;
            self.expect("AND")?;
            let high = self.sum()?;
            let above = self.run.call(">=", vec![left.clone(), low])?;
            let below = self.run.call("<=", vec![left, high])?;
            return self.run.call("AND", vec![above, below]);
        }
        if not || self.peek("IN") {
            return Err("skip: IN".into());
        }
        for symbol in ["<=", ">=", "<>", "=", "<", ">"] {
            if self.eat(symbol) {
                let right = self.sum()?;
                return self.run.call(symbol, vec![left, right]);
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Parsed<Value> {
        let mut left = self.product()?;
        loop {
            let Some(symbol) = ["||", "+", "-"].into_iter().find(|symbol| self.eat(symbol)) else { return Ok(left) };
            let right = self.product()?;
            left = self.run.call(symbol, vec![left, right])?;
        }
    }

    fn product(&mut self) -> Parsed<Value> {
        let mut left = self.unary()?;
        loop {
            let Some(symbol) = ["*", "/", "%"].into_iter().find(|symbol| self.eat(symbol)) else { return Ok(left) };
            let right = self.unary()?;
            left = self.run.call(symbol, vec![left, right])?;
        }
    }

    fn unary(&mut self) -> Parsed<Value> {
        if self.eat("-") {
            let value = self.unary()?;
            return self.run.call("NEG", vec![value]);
        }
        let mut value = self.primary()?;
        loop {
            if self.eat("[") {
                let index = self.expression()?;
                self.expect("]")?;
                value = self.run.call("ITEM", vec![value, index])?;
            } else if self.eat(".") {
                let name = self.word()?;
                value = self.run.call("FIELD", vec![value, self.run.text(&name)])?;
            } else {
                return Ok(value);
            }
        }
    }

    fn list(&mut self, close: &str) -> Parsed<Vec<Value>> {
        let mut out = Vec::new();
        while !self.eat(close) {
            if !out.is_empty() && !self.eat(",") {
                return Err(format!("expected {close} at {}", self.rest()));
            }
            out.push(self.expression()?);
        }
        Ok(out)
    }

    fn primary(&mut self) -> Parsed<Value> {
        self.space();
        let first = self.rest().chars().next().ok_or("the expression ends")?;
        if first == '(' {
            self.at += 1;
            let value = self.expression()?;
            self.expect(")")?;
            // `(a - b) DAY TO SECOND`
            let _ = self.eat("DAY TO SECOND");
            return Ok(value);
        }
        if first == '\'' {
            let text = self.quoted()?;
            return Ok(self.run.text(&text));
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if self.rest().starts_with("x'") {
            self.at += 1;
            let digits = self.quoted()?;
            return Ok(self.run.bytes(&digits));
        }
        let word = self.word()?.to_ascii_uppercase();
        match word.as_str() {
            "NULL" => return Ok(self.run.null()),
            "TRUE" | "FALSE" => return Ok(self.run.boolean(word == "TRUE")),
            "DATE" if self.peek("'") => {
                let text = self.quoted()?;
                return self.run.literal(&text, LogicalType::Date);
            }
            "TIMESTAMP" if self.peek("'") => {
                let text = self.quoted()?;
                let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len() as u8);
                return self.run.literal(&text, LogicalType::Timestamp(digits));
            }
            "INTERVAL" => return self.interval(),
            "ARRAY" | "MAP" if self.eat("[") => {
                let arguments = self.list("]")?;
                return self.run.call(&word, arguments);
            }
            "CASE" => return Err("skip: CASE".into()),
            _ => {}
        }
        self.expect("(")?;
        match word.as_str() {
            "CAST" | "TRY_CAST" => self.cast(word == "TRY_CAST"),
            _ => self.call(&word),
        }
    }

    fn cast(&mut self, try_cast: bool) -> Parsed<Value> {
        let value = self.expression()?;
        self.expect("AS")?;
        let mut depth = 0;
        let end = self.rest().find(|c: char| {
            depth += i32::from(c == '(' || c == '<') - i32::from(c == ')' || c == '>');
            depth < 0
        });
        let text = &self.rest()[..end.ok_or("CAST is not closed")?];
        self.at += text.len();
        self.expect(")")?;
        let to: SqlType = text.trim().parse().map_err(|error| format!("{error}"))?;
        self.run.cast(value, to, try_cast)
    }

    fn call(&mut self, name: &str) -> Parsed<Value> {
        let mut arguments = Vec::new();
        match name {
            "EXTRACT" | "TIMESTAMPDIFF" | "TIMESTAMPADD" => {
                let unit = self.word()?;
                arguments.push(self.run.text(&unit));
                if !self.eat("FROM") {
                    self.expect(",")?;
                }
            }
            "TRIM" => {
                let side = ["BOTH", "LEADING", "TRAILING"].into_iter().find(|side| self.eat(side)).unwrap_or("BOTH");
                arguments.push(self.run.text(side));
            }
            _ => {}
        }
        let mut clause = String::new();
        while !self.eat(")") {
            if self.eat(",") || self.eat("FROM") || self.eat("FOR") || self.eat("VALUE") {
                continue;
            }
            if name == "JSON_OBJECT" && self.eat("KEY") {
                continue;
            }
            if self.eat("TO") {
                let unit = self.word()?;
                arguments.push(self.run.text(&unit));
                continue;
            }
            if name.starts_with("JSON") && !arguments.is_empty() && self.at_clause() {
                let end = self.clause_end();
                clause = self.rest()[..end].to_string();
                self.at += end;
                continue;
            }
            // `a IN b` of POSITION is no predicate.
            let value = if name == "POSITION" { self.sum()? } else { self.expression()? };
            arguments.push(value);
            if name == "POSITION" {
                self.eat("IN");
            }
        }
        if !clause.is_empty() {
            arguments.push(self.run.text(clause.trim()));
        }
        self.run.call(name, arguments)
    }

    fn at_clause(&mut self) -> bool {
        let words =
            ["RETURNING", "NULL ON", "NULL NULL", "ERROR", "DEFAULT", "EMPTY", "WITH", "ABSENT", "TRUE ON", "UNKNOWN"];
        words.into_iter().any(|word| self.peek(word))
    }

    fn clause_end(&self) -> usize {
        let mut depth = 0;
        let close = |c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth < 0
        };
        self.rest().find(close).unwrap_or(self.rest().len())
    }

    fn number(&mut self) -> Parsed<Value> {
        let rest = self.rest();
        let mut end = 0;
        for (at, c) in rest.char_indices() {
            let exponent = matches!(c, 'e' | 'E');
            let sign = matches!(c, '+' | '-') && rest[..at].ends_with(['e', 'E']);
            if !(c.is_ascii_digit() || c == '.' || exponent || sign) {
                break;
            }
            end = at + 1;
        }
        self.at += end;
        self.run.number(&rest[..end])
    }

    fn interval(&mut self) -> Parsed<Value> {
        let text = self.quoted()?;
        let unit = self.word()?.to_ascii_uppercase();
        let to = if self.eat("TO") { self.word()?.to_ascii_uppercase() } else { String::new() };
        let number = |text: &str| text.parse::<i64>().map_err(|error| error.to_string());
        let ms = match (unit.as_str(), to.as_str()) {
            ("YEAR", "MONTH") => {
                let (years, months) = text.split_once('-').ok_or("not an interval")?;
                return Ok(self.run.months(number(years)? * 12 + number(months)?));
            }
            ("MONTH", "") => return Ok(self.run.months(number(&text)?)),
            ("YEAR", "") => return Ok(self.run.months(number(&text)? * 12)),
            ("DAY", "SECOND") => {
                let (days, time) = text.split_once(' ').ok_or("not an interval")?;
                number(days)? * 86_400_000 + i64::from(crate::cast::parse::time(time)?)
            }
            ("DAY", "") => number(&text)? * 86_400_000,
            ("HOUR", "") => number(&text)? * 3_600_000,
            ("MINUTE", "") => number(&text)? * 60_000,
            ("SECOND", "") => number(&text)? * 1_000,
            _ => return Err("skip: interval".into()),
        };
        Ok(self.run.milliseconds(ms))
    }
}
