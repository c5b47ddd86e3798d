//! How the values of each column are made: field options checked against column types, compiled once.

use super::draw::Zipf;
use super::expression::Expression;
use super::options::FieldOptions;
use crate::codes;
use crate::declared::bad_value;
use base::types::LENGTH_MAX;
use base::{Error, LogicalType, Options, Result, SqlType, TableDefinition};
use std::time::Duration;

/// Elements of a collection without a `length`.
const COLLECTION_LENGTH: usize = 3;
/// Characters or bytes without a `length`.
const TEXT_LENGTH: usize = 100;
/// The longest text or collection.
const LENGTH_LIMIT: i64 = 1 << 20;

/// A column, ready to be generated.
#[derive(Debug, Clone)]
pub(super) struct FieldGenerator {
    /// The path, which gives its stream of draws: `amount`, `address.city`.
    pub path: String,
    pub sql_type: SqlType,
    /// The share of NULLs.
    pub null_rate: f64,
    pub values: Values,
    /// Digits after the point that numbers are rounded to.
    pub scale: Option<u8>,
    /// What text is made from a number with.
    pub pattern: Option<Pattern>,
}

/// What values are made from.
#[derive(Debug, Clone)]
pub(super) enum Values {
    /// Whole numbers.
    Integer(Integers),
    /// Numbers, cut to min and max.
    Real(Reals, f64, f64),
    /// DECIMAL values between two bounds, as unscaled numbers.
    Unscaled(i128, i128),
    /// `true` or `false`.
    Boolean,
    /// Hexadecimal characters: so many, or up to so many.
    Hex(Length),
    /// Random bytes.
    Bytes(Length),
    /// One of these, by their cumulative weights.
    Choice(Vec<Chosen>, Vec<f64>),
    /// Faker text.
    Expression(Expression),
    /// The row's event time.
    EventTime,
    /// Up to so many nanoseconds before it.
    Past(u64),
    /// ARRAY.
    Array(Box<FieldGenerator>, Length),
    /// MAP: keys and values.
    Map(Box<FieldGenerator>, Box<FieldGenerator>, Length),
    /// ROW.
    Row(Vec<FieldGenerator>),
}

/// Where whole numbers come from.
#[derive(Debug, Clone)]
pub(super) enum Integers {
    /// start, start + 1, ...
    Sequence { start: i64 },
    /// All the same.
    Uniform { min: i64, max: i64 },
    /// min has rank 1.
    Zipf { min: i64, zipf: Zipf },
    /// A share of the rows on the first keys.
    HotKeys { min: i64, max: i64, hot: u64, share: f64 },
}

/// Where numbers come from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reals {
    Uniform,
    Normal { mu: f64, sigma: f64 },
    LogNormal { mu: f64, sigma: f64 },
    Exponential { rate: f64 },
}

/// A value of a choice, in the form of its column's type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Chosen {
    Text(String),
    Integer(i64),
    Real(f64),
    Unscaled(i128),
    Boolean(bool),
}

/// A fixed length, or the bound of a random one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length {
    pub max: usize,
    pub random: bool,
}

/// A printf pattern with one place for a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pub before: String,
    pub width: usize,
    pub zeros: bool,
    pub hexadecimal: bool,
    pub after: String,
}

/// The paths that field options can name: columns, and the parts of ROW, ARRAY, MAP and MULTISET columns.
pub(super) fn paths(table: &TableDefinition) -> Vec<String> {
    let mut found = Vec::new();
    for column in table.physical() {
        add_paths(&column.name, &column.sql_type, &mut found);
    }
    found
}

fn add_paths(path: &str, sql_type: &SqlType, found: &mut Vec<String>) {
    found.push(path.to_string());
    for (name, part) in parts(&sql_type.logical) {
        add_paths(&format!("{path}.{name}"), part, found);
    }
}

fn parts(logical: &LogicalType) -> Vec<(&str, &SqlType)> {
    match logical {
        LogicalType::Array(element) | LogicalType::Multiset(element) => vec![("element", element)],
        LogicalType::Map(key, value) => vec![("key", key), ("value", value)],
        LogicalType::Row(fields) => fields.iter().map(|(name, part)| (name.as_str(), part)).collect(),
        _ => Vec::new(),
    }
}

/// All physical columns, and after how many rows a sequence ends.
///
/// # Errors
/// Every option that does not fit its column, at once.
pub(super) fn compile(table: &TableDefinition, options: &FieldOptions) -> Result<(Vec<FieldGenerator>, Option<u64>)> {
    let mut compiler = Compiler { options, errors: Vec::new(), rows: None };
    let fields = table.physical().map(|column| compiler.field(&column.name, &column.sql_type, true)).collect();
    let rows = compiler.rows;
    Error::all(compiler.errors).map_or(Ok((fields, rows)), Err)
}

struct Compiler<'a> {
    options: &'a FieldOptions,
    errors: Vec<Error>,
    /// The shortest sequence.
    rows: Option<u64>,
}

/// The options of one field, read with defaults.
struct One<'a> {
    path: &'a str,
    options: Options,
    sql_type: &'a SqlType,
}

impl One<'_> {
    fn key(&self, option: &str) -> String {
        format!("fields.{}.{option}", self.path)
    }

    fn number(&self, option: &str) -> Option<f64> {
        self.options.get(option).and_then(|text| text.trim().parse().ok())
    }

    fn word(&self, option: &str) -> Option<String> {
        self.options.get(option).map(str::to_ascii_lowercase)
    }

    /// The whole number, also if it is written as `1e6`.
    fn integer(&self, option: &str) -> Result<Option<i64>> {
        let Some(text) = self.options.get(option) else { return Ok(None) };
        let real = || text.trim().parse::<f64>().ok().filter(|real| real.fract() == 0.0 && real.abs() < 9e15);
        let number = text.trim().parse().ok().or_else(|| real().map(|real| real as i64));
        number.map(Some).ok_or_else(|| bad_value(&self.key(option), text, "a whole number that fits BIGINT"))
    }

    fn share(&self, option: &str, default: f64) -> Result<f64> {
        match self.number(option) {
            Some(share) if !(0.0..=1.0).contains(&share) => {
                Err(bad_value(&self.key(option), &share.to_string(), "a number from 0 to 1"))
            }
            share => Ok(share.unwrap_or(default)),
        }
    }

    fn length(&self, default: usize) -> Result<Length> {
        let random = self.options.get("var-len").is_some_and(|word| word.eq_ignore_ascii_case("true"));
        match self.integer("length")? {
            Some(length) if !(0..=LENGTH_LIMIT).contains(&length) => {
                let expected = format!("a whole number from 0 to {LENGTH_LIMIT}");
                Err(bad_value(&self.key("length"), &length.to_string(), &expected))
            }
            length => Ok(Length { max: length.map_or(default, |length| length as usize), random }),
        }
    }

    fn misfit(&self, option: &str, value: &str, fits: &str) -> Error {
        Error::new(
            &codes::DOES_NOT_FIT,
            &[
                ("key", &self.key(option)),
                ("value", &value),
                ("column", &self.path),
                ("type", &self.sql_type),
                ("fits", &fits),
            ],
        )
    }
}

const NUMBERS: &str = "TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE and DECIMAL";
const KEYS: &str = "TINYINT, SMALLINT, INT, BIGINT, DECIMAL and, with 'format', CHAR, VARCHAR and STRING";
const CHOICES: &str = "TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL, BOOLEAN, CHAR, VARCHAR and STRING";

impl Compiler<'_> {
    fn field(&mut self, path: &str, sql_type: &SqlType, top: bool) -> FieldGenerator {
        let options = self.options.get(path).cloned().unwrap_or_default();
        let one = One { path, options, sql_type };
        let mut field = FieldGenerator {
            path: path.to_string(),
            sql_type: sql_type.clone(),
            null_rate: 0.0,
            values: Values::Boolean,
            scale: None,
            pattern: None,
        };
        if let Err(error) = self.fill(&one, &mut field, top) {
            self.errors.push(error);
        }
        field
    }

    fn fill(&mut self, one: &One<'_>, field: &mut FieldGenerator, top: bool) -> Result<()> {
        let logical = &one.sql_type.logical;
        field.null_rate = one.share("null-rate", 0.0)?;
        if field.null_rate > 0.0 && !one.sql_type.nullable {
            return Err(one.misfit("null-rate", &field.null_rate.to_string(), "columns without NOT NULL"));
        }
        if let Some(text) = one.options.get("format") {
            if !logical.is_string() {
                return Err(one.misfit("format", text, "CHAR, VARCHAR and STRING"));
            }
            field.pattern = Some(Pattern::parse(text).ok_or_else(|| {
                bad_value(&one.key("format"), text, "text with one %d, %s, %x or padded %08d; %% is a percent sign")
            })?);
        }
        field.scale = self.scale(one)?;
        let kind = one.word("kind");
        let implied = if one.options.get("expression").is_some() { "expression" } else { "random" };
        field.values = match kind.as_deref().unwrap_or(implied) {
            "sequence" => self.sequence(one, top)?,
            "event-time" => match logical {
                LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_) | LogicalType::BigInt if top => {
                    Values::EventTime
                }
                _ => return Err(one.misfit("kind", "event-time", "TIMESTAMP, TIMESTAMP_LTZ and BIGINT columns")),
            },
            "reference" => return Err(Error::unsupported("'kind' = 'reference' of connector 'datagen'")),
            "expression" => expression(one)?,
            _ => self.random(one, field.pattern.is_some())?,
        };
        Ok(())
    }

    fn scale(&self, one: &One<'_>) -> Result<Option<u8>> {
        let limit = match &one.sql_type.logical {
            LogicalType::Decimal { scale, .. } => i64::from(*scale),
            LogicalType::Float | LogicalType::Double => 15,
            _ => {
                return match one.options.get("scale") {
                    None => Ok(None),
                    Some(text) => Err(one.misfit("scale", text, "DECIMAL, FLOAT and DOUBLE")),
                };
            }
        };
        match one.integer("scale")? {
            Some(scale) if !(0..=limit).contains(&scale) => {
                Err(bad_value(&one.key("scale"), &scale.to_string(), &format!("a whole number from 0 to {limit}")))
            }
            scale => Ok(scale.map(|scale| scale as u8)),
        }
    }

    fn sequence(&mut self, one: &One<'_>, top: bool) -> Result<Values> {
        let logical = &one.sql_type.logical;
        if !top || !(logical.is_numeric() || logical.is_string()) {
            return Err(one.misfit("kind", "sequence", &format!("{NUMBERS}, CHAR, VARCHAR and STRING columns")));
        }
        let start = one.integer("start")?.unwrap_or(1);
        if let Some(end) = one.integer("end")? {
            if end < start {
                return Err(bad_value(&one.key("end"), &end.to_string(), &format!("a whole number from {start}")));
            }
            let rows = end.abs_diff(start).saturating_add(1);
            self.rows = Some(self.rows.map_or(rows, |known| known.min(rows)));
        }
        Ok(Values::Integer(Integers::Sequence { start }))
    }

    fn random(&mut self, one: &One<'_>, has_pattern: bool) -> Result<Values> {
        let logical = &one.sql_type.logical;
        let numeric = logical.is_numeric();
        // Text is made from numbers if something says which.
        let keyed = numeric && !matches!(logical, LogicalType::Float | LogicalType::Double)
            || logical.is_string() && has_pattern;
        let word = one.word("distribution");
        match word.as_deref() {
            None | Some("uniform") => self.uniform(one, has_pattern),
            Some(name @ ("normal" | "lognormal" | "exponential")) => {
                if !numeric {
                    return Err(one.misfit("distribution", name, NUMBERS));
                }
                let (min, max) = (one.number("min").unwrap_or(f64::MIN), one.number("max").unwrap_or(f64::MAX));
                ordered(one, min <= max)?;
                Ok(Values::Real(reals(one, name)?, min, max))
            }
            Some(name @ ("zipf" | "hot-keys")) => {
                if !keyed {
                    return Err(one.misfit("distribution", name, KEYS));
                }
                keys(one, name)
            }
            _ => choice(one),
        }
    }

    fn uniform(&mut self, one: &One<'_>, has_pattern: bool) -> Result<Values> {
        use LogicalType as L;
        let nested = |part: &str| format!("{}.{part}", one.path);
        Ok(match &one.sql_type.logical {
            L::TinyInt | L::SmallInt | L::Int | L::BigInt => integers(one)?,
            L::Float | L::Double => {
                let limit = if one.sql_type.logical == L::Float { f64::from(f32::MAX) } else { f64::MAX };
                let (min, max) = (one.number("min").unwrap_or(-limit), one.number("max").unwrap_or(limit));
                ordered(one, min <= max)?;
                Values::Real(Reals::Uniform, min, max)
            }
            L::Decimal { precision, scale } => {
                let limit = 10i128.pow((*precision).into()) - 1;
                let bound = |option: &str, default: i128| match one.options.get(option) {
                    None => Ok(default),
                    Some(text) => unscaled(text, *scale).filter(|bound| bound.abs() <= limit).ok_or_else(|| {
                        bad_value(&one.key(option), text, &format!("a number that fits {}", one.sql_type.logical))
                    }),
                };
                let (min, max) = (bound("min", -limit)?, bound("max", limit)?);
                ordered(one, min <= max)?;
                Values::Unscaled(min, max)
            }
            L::Boolean => Values::Boolean,
            L::Char(_) | L::VarChar(_) if has_pattern => integers(one)?,
            L::Char(n) => Values::Hex(Length { max: *n as usize, random: false }),
            L::VarChar(n) => Values::Hex(bounded(one.length(TEXT_LENGTH.min(*n as usize))?, *n)),
            L::Binary(n) => Values::Bytes(Length { max: *n as usize, random: false }),
            L::VarBinary(n) => Values::Bytes(bounded(one.length(TEXT_LENGTH.min(*n as usize))?, *n)),
            L::Timestamp(_) | L::TimestampLtz(_) | L::Date | L::Time(_) => {
                let past = one.options.get("max-past").and_then(base::options::parse_duration);
                Values::Past(u64::try_from(past.unwrap_or(Duration::ZERO).as_nanos()).unwrap_or(u64::MAX / 4))
            }
            L::Array(element) => {
                Values::Array(Box::new(self.field(&nested("element"), element, false)), one.length(COLLECTION_LENGTH)?)
            }
            L::Map(key, value) => {
                let key = self.field(&nested("key"), &key.with_nullable(false), false);
                let value = self.field(&nested("value"), value, false);
                Values::Map(Box::new(key), Box::new(value), one.length(COLLECTION_LENGTH)?)
            }
            L::Row(fields) => {
                Values::Row(fields.iter().map(|(name, part)| self.field(&nested(name), part, false)).collect())
            }
            other => return Err(Error::unsupported(format!("generating values of type {other}"))),
        })
    }
}

fn bounded(length: Length, limit: u32) -> Length {
    Length { max: if limit == LENGTH_MAX { length.max } else { length.max.min(limit as usize) }, ..length }
}

fn ordered(one: &One<'_>, ordered: bool) -> Result<()> {
    if ordered {
        return Ok(());
    }
    let (min, max) = (one.options.get("min").unwrap_or_default(), one.options.get("max").unwrap_or_default());
    Err(bad_value(&one.key("max"), max, &format!("a number that is not below 'min' ({min})")))
}

fn integers(one: &One<'_>) -> Result<Values> {
    let (least, most) = match &one.sql_type.logical {
        LogicalType::TinyInt => (i8::MIN.into(), i8::MAX.into()),
        LogicalType::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        LogicalType::Int => (i32::MIN.into(), i32::MAX.into()),
        LogicalType::BigInt => (i64::MIN, i64::MAX),
        // Text and decimals from whole numbers.
        _ => (0, i64::MAX),
    };
    let bound = |option: &str, default: i64| match one.integer(option)? {
        Some(bound) if one.sql_type.logical.is_integer() && !(least..=most).contains(&bound) => {
            let expected = format!("a whole number that fits {}", one.sql_type.logical);
            Err(bad_value(&one.key(option), &bound.to_string(), &expected))
        }
        bound => Ok(bound.unwrap_or(default)),
    };
    let (min, max) = (bound("min", least)?, bound("max", most)?);
    ordered(one, min <= max)?;
    Ok(Values::Integer(Integers::Uniform { min, max }))
}

fn reals(one: &One<'_>, name: &str) -> Result<Reals> {
    let (mu, sigma) = (one.number("mu").unwrap_or(0.0), one.number("sigma").unwrap_or(1.0));
    if sigma < 0.0 {
        return Err(bad_value(&one.key("sigma"), &sigma.to_string(), "a number from 0"));
    }
    let rate = one.number("rate").unwrap_or(1.0);
    if rate <= 0.0 {
        return Err(bad_value(&one.key("rate"), &rate.to_string(), "a number above 0"));
    }
    Ok(match name {
        "normal" => Reals::Normal { mu, sigma },
        "lognormal" => Reals::LogNormal { mu, sigma },
        _ => Reals::Exponential { rate },
    })
}

fn keys(one: &One<'_>, name: &str) -> Result<Values> {
    for option in ["min", "max"] {
        if one.options.get(option).is_none() {
            let purpose = "the keys go from 'min' to 'max'";
            let key = format!("{}' = '{name}", one.key("distribution"));
            return Err(Error::new(
                &codes::NEEDS_OPTION,
                &[("key", &key), ("other", &one.key(option)), ("purpose", &purpose)],
            ));
        }
    }
    let Values::Integer(Integers::Uniform { min, max }) = integers(one)? else {
        return Err(Error::internal("keys are whole numbers"));
    };
    let count = max.abs_diff(min).saturating_add(1);
    if name == "zipf" {
        let exponent = one.number("exponent").unwrap_or(1.0);
        if exponent <= 0.0 {
            return Err(bad_value(&one.key("exponent"), &exponent.to_string(), "a number above 0"));
        }
        return Ok(Values::Integer(Integers::Zipf { min, zipf: Zipf::new(count, exponent) }));
    }
    let hot = one.integer("hot.count")?.unwrap_or(10);
    if hot < 1 || hot as u64 > count {
        let expected = format!("a whole number from 1 to {count}, the number of keys");
        return Err(bad_value(&one.key("hot.count"), &hot.to_string(), &expected));
    }
    Ok(Values::Integer(Integers::HotKeys { min, max, hot: hot as u64, share: one.share("hot.share", 0.2)? }))
}

fn choice(one: &One<'_>) -> Result<Values> {
    let logical = &one.sql_type.logical;
    if !(logical.is_numeric() || logical.is_string() || *logical == LogicalType::Boolean) {
        return Err(one.misfit("distribution", "choice", CHOICES));
    }
    let Some(list) = one.options.get("values") else {
        let key = format!("{}' = 'choice", one.key("distribution"));
        let purpose = "they are what is chosen from";
        return Err(Error::new(
            &codes::NEEDS_OPTION,
            &[("key", &key), ("other", &one.key("values")), ("purpose", &purpose)],
        ));
    };
    let chosen = list
        .split(',')
        .map(|text| {
            let text = text.trim();
            let expected = || bad_value(&one.key("values"), text, &format!("values of type {logical}"));
            chosen(text, logical).ok_or_else(expected)
        })
        .collect::<Result<Vec<_>>>()?;
    let weights: Vec<f64> = match one.options.get("weights") {
        None => vec![1.0; chosen.len()],
        Some(text) => {
            let parsed: Option<Vec<f64>> = text
                .split(',')
                .map(|weight| weight.trim().parse::<f64>().ok().filter(|weight| weight.is_finite() && *weight >= 0.0))
                .collect();
            parsed.filter(|w| w.len() == chosen.len() && w.iter().sum::<f64>() > 0.0).ok_or_else(|| {
                let expected = format!("{} numbers from 0 with commas between them, one for each value", chosen.len());
                bad_value(&one.key("weights"), text, &expected)
            })?
        }
    };
    let total: f64 = weights.iter().sum();
    let cumulative = weights.iter().scan(0.0, |sum, weight| {
        *sum += weight / total;
        Some(*sum)
    });
    let cumulative = cumulative.collect();
    Ok(Values::Choice(chosen, cumulative))
}

fn chosen(text: &str, logical: &LogicalType) -> Option<Chosen> {
    use LogicalType as L;
    match logical {
        L::TinyInt => text.parse::<i8>().ok().map(|v| Chosen::Integer(v.into())),
        L::SmallInt => text.parse::<i16>().ok().map(|v| Chosen::Integer(v.into())),
        L::Int => text.parse::<i32>().ok().map(|v| Chosen::Integer(v.into())),
        L::BigInt => text.parse::<i64>().ok().map(Chosen::Integer),
        L::Float | L::Double => text.parse().ok().map(Chosen::Real),
        L::Decimal { precision, scale } => {
            unscaled(text, *scale).filter(|v| v.abs() < 10i128.pow((*precision).into())).map(Chosen::Unscaled)
        }
        L::Boolean => text.to_ascii_lowercase().parse().ok().map(Chosen::Boolean),
        _ => Some(Chosen::Text(text.to_string())),
    }
}

fn expression(one: &One<'_>) -> Result<Values> {
    let logical = &one.sql_type.logical;
    if !(logical.is_numeric() || logical.is_string() || *logical == LogicalType::Boolean) {
        return Err(one.misfit("kind", "expression", CHOICES));
    }
    let Some(text) = one.options.get("expression") else {
        let key = format!("{}' = 'expression", one.key("kind"));
        return Err(Error::new(
            &codes::NEEDS_OPTION,
            &[("key", &key), ("other", &one.key("expression")), ("purpose", &"it says what the text is")],
        ));
    };
    Expression::compile(&one.key("expression"), text).map(Values::Expression)
}

/// The unscaled number of `12.5` at a scale; `None` if it has more digits than that, or none.
pub(super) fn unscaled(text: &str, scale: u8) -> Option<i128> {
    let text = text.trim();
    if text.contains(['e', 'E']) {
        let real: f64 = text.parse().ok()?;
        return Some((real * 10f64.powi(scale.into())).round() as i128);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > scale.into() || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let all = format!("{whole}{fraction:0<width$}", width = usize::from(scale));
    if !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    all.parse::<i128>().ok().map(|number| sign * number)
}

impl Pattern {
    fn parse(text: &str) -> Option<Pattern> {
        let mut pieces = vec![String::new()];
        let mut place = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                pieces.last_mut()?.push(c);
                continue;
            }
            let mut spec = String::new();
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                spec.push(digit);
            }
            match chars.next()? {
                '%' if spec.is_empty() => pieces.last_mut()?.push('%'),
                conversion @ ('d' | 's' | 'x') if place.is_none() => {
                    let width = if spec.is_empty() { 0 } else { spec.parse().ok().filter(|width| *width <= 1000)? };
                    place = Some((width, spec.starts_with('0'), conversion == 'x'));
                    pieces.push(String::new());
                }
                _ => return None,
            }
        }
        let (width, zeros, hexadecimal) = place?;
        let after = pieces.pop()?;
        Some(Pattern { before: pieces.pop()?, width, zeros, hexadecimal, after })
    }
}
