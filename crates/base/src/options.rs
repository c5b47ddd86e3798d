//! Options of tables, formats and sessions: declared once, parsed once.
//!
//! Every option is an [`OptionSpec`]; the documentation pages, the validation and the "did you mean" come from it.

use crate::error::{Domain, Error, ErrorCode, Result, Text};
use crate::nearest::nearest;
use std::collections::BTreeMap;
use std::time::Duration;

/// What kind of value an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A time span: `5 s`, `500 ms`, `1 min`; a bare number is milliseconds.
    Duration,
    /// An amount of memory: `64 mb`; a bare number is bytes.
    Memory,
    /// One of these words, whatever their letter case.
    OneOf(&'static [&'static str]),
}

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionSpec {
    /// The key. `#` stands for one name without dots (`fields.#.kind`), a final `*` for any rest (`properties.*`).
    pub key: &'static str,
    /// What it takes.
    pub kind: OptionKind,
    /// The default as text; `None` if there is none.
    pub default: Option<&'static str>,
    /// Whether the table cannot do without.
    pub required: bool,
    /// What it does, in English.
    pub en: &'static str,
    /// What it does, in Chinese.
    pub zh: &'static str,
}

impl OptionSpec {
    /// Whether this option is the one with `key`.
    pub fn matches(&self, key: &str) -> bool {
        if let Some(prefix) = self.key.strip_suffix('*') {
            return key.len() > prefix.len() && key.starts_with(prefix);
        }
        match self.key.split_once('#') {
            None => self.key == key,
            Some((prefix, suffix)) => {
                key.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix)).is_some_and(|name| !name.is_empty())
            }
        }
    }
}

/// How the keys of options end whose values are shown to nobody.
pub const SECRET_KEYS: &[&str] = &["password", "sasl.jaas.config", "secret-key"];

/// What stands for a secret.
pub const MASK: &str = "***";

/// The value of an option as it may be shown.
pub fn shown<'a>(key: &str, value: &'a str) -> &'a str {
    let key = key.to_ascii_lowercase();
    if SECRET_KEYS.iter().any(|secret| key.ends_with(secret)) { MASK } else { value }
}

/// An unknown key.
pub const UNKNOWN_OPTION: ErrorCode = ErrorCode {
    code: "HW-C001",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "unknown option '{key}' of {owner}",
        why: "{owner} knows these options: {known}",
        fix: "did you mean {nearest}?",
    },
    zh: Text {
        what: "{owner} 没有选项 '{key}'", why: "{owner} 支持的选项：{known}", fix: "是否想写 {nearest}？"
    },
};

/// An unknown key that resembles no known one.
pub const STRANGE_OPTION: ErrorCode = ErrorCode {
    code: "HW-C004",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "unknown option '{key}' of {owner}",
        why: "{owner} knows these options: {known}",
        fix: "remove it, or use one of them",
    },
    zh: Text {
        what: "{owner} 没有选项 '{key}'",
        why: "{owner} 支持的选项：{known}",
        fix: "请删除它，或改用上述选项之一",
    },
};

/// A missing key.
pub const MISSING_OPTION: ErrorCode = ErrorCode {
    code: "HW-C002",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' of {owner} is missing",
        why: "{purpose}",
        fix: "add '{key}' = '...' to the WITH clause",
    },
    zh: Text {
        what: "{owner} 缺少选项 '{key}'", why: "{purpose}", fix: "请在 WITH 子句中加上 '{key}' = '...'"
    },
};

/// A value that the option does not take.
pub const BAD_OPTION: ErrorCode = ErrorCode {
    code: "HW-C003",
    domain: Domain::User,
    retry: false,
    en: Text { what: "option '{key}' does not take '{value}'", why: "it takes {expected}", fix: "" },
    zh: Text { what: "选项 '{key}' 不接受 '{value}'", why: "它接受：{expected}", fix: "" },
};

/// A value that resembles one that the option takes.
pub const MISSPELT_OPTION: ErrorCode = ErrorCode {
    code: "HW-C005",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' does not take '{value}'",
        why: "it takes {expected}",
        fix: "did you mean '{key}' = '{nearest}'?",
    },
    zh: Text {
        what: "选项 '{key}' 不接受 '{value}'",
        why: "它接受：{expected}",
        fix: "是否想写 '{key}' = '{nearest}'？",
    },
};

/// Keys and values as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, String>);

impl FromIterator<(String, String)> for Options {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Options {
        Options(pairs.into_iter().collect())
    }
}

impl Options {
    /// The value as written.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Sets a value, returning the old one.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) -> Option<String> {
        self.0.insert(key.into(), value.into())
    }

    /// Removes a value.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        self.0.remove(key)
    }

    /// Keys and values, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The value, or an error that says what the option is for. `owner` is for people: `connector 'filesystem'`.
    pub fn require(&self, spec: &OptionSpec, owner: &str) -> Result<&str> {
        self.get(spec.key)
            .ok_or_else(|| Error::new(&MISSING_OPTION, &[("key", &spec.key), ("owner", &owner), ("purpose", &spec.en)]))
    }

    /// The value as a boolean, else the default.
    pub fn boolean(&self, spec: &OptionSpec) -> Result<bool> {
        self.parsed(spec, |text| match text.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        })
        .map(|value| value.unwrap_or(false))
    }

    /// The value as a whole number, else the default; `None` without either.
    pub fn integer(&self, spec: &OptionSpec) -> Result<Option<i64>> {
        self.parsed(spec, |text| text.trim().parse().ok())
    }

    /// The value as a number, else the default; `None` without either.
    pub fn number(&self, spec: &OptionSpec) -> Result<Option<f64>> {
        self.parsed(spec, |text| text.trim().parse().ok().filter(|number: &f64| number.is_finite()))
    }

    /// The value as a time span, else the default; `None` without either.
    pub fn duration(&self, spec: &OptionSpec) -> Result<Option<Duration>> {
        self.parsed(spec, parse_duration)
    }

    /// The value as a number of bytes, else the default; `None` without either.
    pub fn memory(&self, spec: &OptionSpec) -> Result<Option<u64>> {
        self.parsed(spec, parse_memory)
    }

    /// The value, else the default, as text.
    pub fn text<'a>(&'a self, spec: &OptionSpec) -> Option<&'a str> {
        self.get(spec.key).or(spec.default)
    }

    /// The word of an [`OptionKind::OneOf`] in its declared spelling, else the default.
    pub fn word(&self, spec: &OptionSpec) -> Result<Option<&'static str>> {
        let OptionKind::OneOf(words) = spec.kind else {
            return Err(Error::internal(format!("{} is no choice", spec.key)));
        };
        self.parsed(spec, |text| words.iter().find(|word| word.eq_ignore_ascii_case(text)).copied())
    }

    fn parsed<T>(&self, spec: &OptionSpec, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        match self.text(spec) {
            None => Ok(None),
            Some(text) => parse(text).map(Some).ok_or_else(|| bad(spec, spec.key, text)),
        }
    }

    /// Checks every key and value against the declared options.
    ///
    /// # Errors
    /// All problems at once. `owner` is for people: `connector 'filesystem'`.
    pub fn validate(&self, specs: &[&OptionSpec], owner: &str) -> Result<()> {
        let mut errors = Vec::new();
        for (key, value) in self.iter() {
            match specs.iter().find(|spec| spec.matches(key)) {
                Some(spec) if !accepts(spec.kind, value) => errors.push(bad(spec, key, value)),
                Some(_) => {}
                None => errors.push(unknown(key, specs, owner)),
            }
        }
        for spec in specs.iter().filter(|spec| spec.required && self.get(spec.key).is_none()) {
            errors.push(Error::new(&MISSING_OPTION, &[("key", &spec.key), ("owner", &owner), ("purpose", &spec.en)]));
        }
        Error::all(errors).map_or(Ok(()), Err)
    }
}

fn accepts(kind: OptionKind, value: &str) -> bool {
    match kind {
        OptionKind::Text => true,
        OptionKind::Boolean => value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false"),
        OptionKind::Integer => value.trim().parse::<i64>().is_ok(),
        OptionKind::Number => value.trim().parse::<f64>().is_ok_and(f64::is_finite),
        OptionKind::Duration => parse_duration(value).is_some(),
        OptionKind::Memory => parse_memory(value).is_some(),
        OptionKind::OneOf(words) => words.iter().any(|word| word.eq_ignore_ascii_case(value)),
    }
}

/// An error for an unknown key, with the nearest known ones.
pub fn unknown(key: &str, specs: &[&OptionSpec], owner: &str) -> Error {
    let names: Vec<&str> = specs.iter().map(|spec| spec.key).collect();
    let quoted = |names: &[&str]| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let near = nearest(key, names.iter().copied());
    let code = if near.is_empty() { &STRANGE_OPTION } else { &UNKNOWN_OPTION };
    Error::new(code, &[("key", &key), ("owner", &owner), ("known", &quoted(&names)), ("nearest", &quoted(&near))])
}

/// An error for a value that `spec` does not take.
pub fn bad(spec: &OptionSpec, key: &str, value: &str) -> Error {
    let expected = match spec.kind {
        OptionKind::Text => "text".to_string(),
        OptionKind::Boolean => "'true' or 'false'".to_string(),
        OptionKind::Integer => "a whole number, for example '10'".to_string(),
        OptionKind::Number => "a number, for example '0.5'".to_string(),
        OptionKind::Duration => "a time span, for example '5 s', '500 ms' or '1 min'".to_string(),
        OptionKind::Memory => "an amount of memory, for example '64 mb'".to_string(),
        OptionKind::OneOf(words) => words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", "),
    };
    let near = match spec.kind {
        OptionKind::OneOf(words) => nearest(value, words.iter().copied()),
        _ => Vec::new(),
    };
    let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
        [("key", &key), ("value", &value), ("expected", &expected)];
    match near.first() {
        None => Error::new(&BAD_OPTION, &arguments),
        Some(near) => Error::new(&MISSPELT_OPTION, &arguments).with("nearest", near),
    }
}

/// Number and lower-case unit of `5 min`; the unit is empty for a bare number.
fn number_and_unit(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim().to_ascii_lowercase()))
}

/// Reads a time span in Flink's forms; a bare number is milliseconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let seconds = match unit.as_str() {
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => 1e-3,
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => 1e-9,
        "µs" | "us" | "micro" | "micros" | "microsecond" | "microseconds" => 1e-6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * seconds).ok()
}

/// Reads an amount of memory in Flink's forms; a bare number is bytes.
pub fn parse_memory(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let power = match unit.as_str() {
        "" | "b" | "bytes" => 0,
        "k" | "kb" | "kibibytes" => 1,
        "m" | "mb" | "mebibytes" => 2,
        "g" | "gb" | "gibibytes" => 3,
        "t" | "tb" | "tebibytes" => 4,
        _ => return None,
    };
    Some((number * 1024f64.powi(power)) as u64)
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
