//! JSON values. Numbers keep their text, because `1.50` and twenty digits must come out as they went in.

use std::fmt::Write;

/// How deep arrays and objects may be nested.
const DEPTH_MAX: usize = 500;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    /// In the order of the text; of equal names the last one stays.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads the first value of a text, as Java's reader does: what follows is not looked at. The error is the reason.
    pub fn parse(text: &str) -> Result<Json, String> {
        Parser { bytes: text.as_bytes(), text, at: 0, unique: false }.root()
    }

    /// Reads the first value of a text; a name that an object has twice is an error.
    pub fn parse_unique(text: &str) -> Result<Json, String> {
        Parser { bytes: text.as_bytes(), text, at: 0, unique: true }.root()
    }

    pub fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// A scalar as SQL text; containers as JSON.
    pub fn text(&self) -> String {
        match self {
            Json::Text(text) => text.clone(),
            other => other.to_json(),
        }
    }

    /// Compact JSON.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) => push_number(out, text),
            Json::Text(text) => push_quoted(out, text),
            Json::Array(values) => {
                out.push('[');
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    value.write(out);
                }
                out.push(']');
            }
            Json::Object(fields) => {
                out.push('{');
                for (index, (name, value)) in sorted(fields).into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    push_quoted(out, name);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// The fields of an object by name: the order in which objects are written.
pub(super) fn sorted(fields: &[(String, Json)]) -> Vec<&(String, Json)> {
    let mut sorted: Vec<&(String, Json)> = fields.iter().collect();
    sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
    sorted
}

/// Appends a JSON string.
pub(crate) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            // Writing to a String cannot fail.
            c if c < ' ' => drop(write!(out, "\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a number as Java's BigDecimal writes it: `1.50` stays, `1e3` becomes `1E+3`.
pub(super) fn push_number(out: &mut String, text: &str) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.trim_start_matches('+').parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let joined = format!("{whole}{fraction}");
    let digits = joined.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let scale = fraction.len() as i64 - exponent;
    let adjusted = digits.len() as i64 - 1 - scale;
    // A zero has no sign.
    if digits != "0" {
        out.push_str(sign);
    }
    if scale == 0 {
        out.push_str(digits);
    } else if scale > 0 && adjusted >= -6 {
        let scale = scale as usize;
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        let _ = write!(out, "{whole}.{fraction}");
    } else {
        out.push_str(&digits[..1]);
        if digits.len() > 1 {
            let _ = write!(out, ".{}", &digits[1..]);
        }
        if adjusted != 0 {
            let _ = write!(out, "E{adjusted:+}");
        }
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    /// Whether a repeated name is an error.
    unique: bool,
}

impl Parser<'_> {
    fn root(mut self) -> Result<Json, String> {
        let value = self.value(0)?;
        let next = self.text[self.at..].chars().next();
        // A number or a word ends at a space only.
        let ends = match &value {
            Json::Number(_) => next.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r')),
            Json::Null | Json::Boolean(_) => next.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == '$')),
            _ => true,
        };
        if ends { Ok(value) } else { Err(self.unexpected()) }
    }

    fn skip_space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected(&self) -> String {
        match self.bytes.get(self.at) {
            None => "the JSON text ends too early".to_string(),
            Some(_) => format!("unexpected text at byte {} of the JSON text", self.at + 1),
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.unexpected())
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEPTH_MAX {
            return Err("the JSON text is nested too deeply".to_string());
        }
        self.skip_space();
        match self.bytes.get(self.at) {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Boolean(true)),
            Some(b'f') => self.word("false", Json::Boolean(false)),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.unexpected()),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut values = Vec::new();
        self.skip_space();
        if self.eat(b']') {
            return Ok(Json::Array(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            self.skip_space();
            if self.eat(b']') {
                return Ok(Json::Array(values));
            }
            if !self.eat(b',') {
                return Err(self.unexpected());
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut fields: Vec<(String, Json)> = Vec::new();
        self.skip_space();
        if self.eat(b'}') {
            return Ok(Json::Object(fields));
        }
        loop {
            self.skip_space();
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(self.unexpected());
            }
            let name = self.string()?;
            self.skip_space();
            if !self.eat(b':') {
                return Err(self.unexpected());
            }
            let value = self.value(depth + 1)?;
            match fields.iter_mut().find(|(known, _)| *known == name) {
                Some(_) if self.unique => return Err(format!("the name '{name}' occurs twice in an object")),
                Some(field) => field.1 = value,
                None => fields.push((name, value)),
            }
            self.skip_space();
            if self.eat(b'}') {
                return Ok(Json::Object(fields));
            }
            if !self.eat(b',') {
                return Err(self.unexpected());
            }
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        let digits = |parser: &mut Self| {
            let before = parser.at;
            while parser.bytes.get(parser.at).is_some_and(u8::is_ascii_digit) {
                parser.at += 1;
            }
            parser.at - before
        };
        self.eat(b'-');
        let leading_zero = self.bytes.get(self.at) == Some(&b'0');
        let whole = digits(self);
        if whole == 0 || leading_zero && whole > 1 {
            return Err(self.unexpected());
        }
        if self.eat(b'.') && digits(self) == 0 {
            return Err(self.unexpected());
        }
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            if digits(self) == 0 {
                return Err(self.unexpected());
            }
        }
        Ok(Json::Number(self.text[start..self.at].to_string()))
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while self.bytes.get(self.at).is_some_and(|byte| !matches!(byte, b'"' | b'\\') && *byte >= b' ') {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            if self.eat(b'"') {
                return Ok(out);
            }
            if !self.eat(b'\\') {
                return Err(self.unexpected());
            }
            let escape = self.bytes.get(self.at).copied().unwrap_or(0);
            self.at += 1;
            match escape {
                b'"' | b'\\' | b'/' => out.push(char::from(escape)),
                b'n' => out.push('\n'),
                b't' => out.push('\t'),
                b'r' => out.push('\r'),
                b'b' => out.push('\u{8}'),
                b'f' => out.push('\u{c}'),
                b'u' => out.push(self.unicode()?),
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            }
        }
    }

    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hex4()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or('\u{fffd}'));
        }
        if !self.bytes[self.at..].starts_with(b"\\u") {
            return Ok('\u{fffd}');
        }
        self.at += 2;
        let second = self.hex4()?;
        let code = 0x10000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff);
        Ok(char::from_u32(code).unwrap_or('\u{fffd}'))
    }

    fn hex4(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4).ok_or_else(|| self.unexpected())?;
        let valid = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| valid).ok_or_else(|| self.unexpected())?;
        self.at += 4;
        Ok(value)
    }
}
