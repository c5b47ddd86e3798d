//! JSON that keeps what scenarios compare: numbers as they are written, fields in their order.
//!
//! The canonical form makes equal what the comparison calls equal: numbers are exact decimals (12.5 = 12.50 = 1.25E1),
//! timestamps may have a space or a T and zeros behind their fraction, the order of fields is free.

use regex::Regex;
use std::sync::LazyLock;

/// Deeper nesting is refused.
const DEPTH_MAX: usize = 128;
/// Zeros that the canonical form writes out; a number further from 1 keeps an exponent.
const PLAIN_ZEROS_MAX: i64 = 40;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object with its fields in order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads one value.
    ///
    /// # Errors
    /// Text that is not JSON, with the place.
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        parser.skip_space();
        if parser.at == text.len() { Ok(value) } else { Err(parser.problem("something behind the value")) }
    }

    /// A field of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// An integer.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Json::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Compact JSON, numbers and order as they were read.
    pub fn compact(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, false);
        out
    }

    /// The form in which equal values are equal texts.
    pub fn canonical(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, true);
        out
    }

    /// The value without the fields of these names, at any depth.
    pub fn without(&self, names: &[String]) -> Json {
        match self {
            Json::Object(fields) => {
                let kept = fields.iter().filter(|(name, _)| !names.contains(name));
                Json::Object(kept.map(|(name, value)| (name.clone(), value.without(names))).collect())
            }
            Json::Array(values) => Json::Array(values.iter().map(|value| value.without(names)).collect()),
            other => other.clone(),
        }
    }

    fn write(&self, out: &mut String, canonical: bool) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) if canonical => out.push_str(&canonical_number(text)),
            Json::Number(text) => out.push_str(text),
            Json::Text(text) => match canonical.then(|| canonical_timestamp(text)).flatten() {
                Some(timestamp) => out.push_str(&timestamp),
                None => write_text(text, out),
            },
            Json::Array(values) => {
                out.push('[');
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    value.write(out, canonical);
                }
                out.push(']');
            }
            Json::Object(fields) => {
                let mut fields: Vec<&(String, Json)> = fields.iter().collect();
                if canonical {
                    fields.sort_by(|a, b| a.0.cmp(&b.0));
                }
                out.push('{');
                for (index, (name, value)) in fields.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(name, out);
                    out.push(':');
                    value.write(out, canonical);
                }
                out.push('}');
            }
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// A timestamp without quotes, so that no other string looks like it.
fn canonical_timestamp(text: &str) -> Option<String> {
    #[expect(clippy::expect_used, reason = "a constant pattern")]
    static TIMESTAMP: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d+)?$").expect("a pattern that compiles")
    });
    let parts = TIMESTAMP.captures(text)?;
    let part = |index: usize| parts.get(index).map(|part| part.as_str());
    let fraction = part(4).unwrap_or_default().trim_end_matches('0').trim_end_matches('.');
    Some(format!("@{} {}{}{fraction}", part(1)?, part(2)?, part(3).unwrap_or(":00")))
}

/// Plain digits without needless zeros; `0` has no sign.
fn canonical_number(text: &str) -> String {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    // An exponent beyond i64 is no number that anything could have written.
    let exponent: i64 = exponent.parse().unwrap_or(i64::MAX / 2);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return "0".into();
    }
    // The number is `significant` times ten to the power of `scale`.
    let scale = exponent - fraction.len() as i64 + (digits.len() - significant.len()) as i64;
    let length = significant.len() as i64;
    if scale.abs() > PLAIN_ZEROS_MAX {
        return format!("{sign}{significant}E{scale}");
    }
    if scale >= 0 {
        return format!("{sign}{significant}{}", "0".repeat(scale as usize));
    }
    if length + scale <= 0 {
        return format!("{sign}0.{}{significant}", "0".repeat((-scale - length) as usize));
    }
    let (whole, fraction) = significant.split_at((length + scale) as usize);
    format!("{sign}{whole}.{fraction}")
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn problem(&self, what: &str) -> String {
        format!("no JSON: {what} at byte {} of {}", self.at, self.text)
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEPTH_MAX {
            return Err(self.problem("too deep"));
        }
        self.skip_space();
        match self.peek() {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => Ok(Json::Text(self.string()?)),
            b'-' | b'0'..=b'9' => self.number(),
            _ if self.take("true") => Ok(Json::Bool(true)),
            _ if self.take("false") => Ok(Json::Bool(false)),
            _ if self.take("null") => Ok(Json::Null),
            _ => Err(self.problem("no value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut fields = Vec::new();
        self.skip_space();
        if self.take("}") {
            return Ok(Json::Object(fields));
        }
        loop {
            self.skip_space();
            let name = self.string()?;
            self.skip_space();
            if !self.take(":") {
                return Err(self.problem("no colon"));
            }
            fields.push((name, self.value(depth + 1)?));
            self.skip_space();
            if self.take("}") {
                return Ok(Json::Object(fields));
            }
            if !self.take(",") {
                return Err(self.problem("no comma"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut values = Vec::new();
        self.skip_space();
        if self.take("]") {
            return Ok(Json::Array(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            self.skip_space();
            if self.take("]") {
                return Ok(Json::Array(values));
            }
            if !self.take(",") {
                return Err(self.problem("no comma"));
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        if !self.take("\"") {
            return Err(self.problem("no string"));
        }
        loop {
            match self.peek() {
                b'"' => break,
                // Escaped: whatever follows is not the end.
                b'\\' => self.at += 2,
                0 if self.at >= self.text.len() => return Err(self.problem("an open string")),
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_str(&self.text[start..self.at]).map_err(|cause| self.problem(&cause.to_string()))
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while matches!(self.peek(), b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        match serde_json::from_str::<serde_json::Number>(text) {
            Ok(_) => Ok(Json::Number(text.into())),
            Err(_) => Err(self.problem("no number")),
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
