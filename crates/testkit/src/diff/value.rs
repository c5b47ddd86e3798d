//! Values and types of generated cases, and their forms: SQL literal, JSON of the log, text of a result.

/// A column type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// BIGINT.
    BigInt,
    /// INT.
    Int,
    /// DECIMAL with precision and scale.
    Decimal(u8, u8),
    /// STRING.
    Text,
    /// BOOLEAN.
    Boolean,
    /// TIMESTAMP(3).
    Timestamp,
}

impl Type {
    /// The type of decimal columns.
    pub const MONEY: Type = Type::Decimal(10, 2);

    /// As SQL.
    pub fn sql(self) -> String {
        match self {
            Type::BigInt => "BIGINT".into(),
            Type::Int => "INT".into(),
            Type::Decimal(precision, scale) => format!("DECIMAL({precision}, {scale})"),
            Type::Text => "STRING".into(),
            Type::Boolean => "BOOLEAN".into(),
            Type::Timestamp => "TIMESTAMP(3)".into(),
        }
    }

    /// Whether it is BIGINT or INT.
    pub fn is_integer(self) -> bool {
        matches!(self, Type::BigInt | Type::Int)
    }

    /// Whether values of both types can be compared without a cast.
    pub fn compares_with(self, other: Type) -> bool {
        self == other || (self.is_integer() && other.is_integer())
    }

    /// Whether a number is one of this type.
    pub fn holds(self, number: i128) -> bool {
        match self {
            Type::BigInt => i64::try_from(number).is_ok(),
            Type::Int => i32::try_from(number).is_ok(),
            Type::Decimal(precision, _) => number.unsigned_abs() < 10u128.pow(u32::from(precision)),
            Type::Text | Type::Boolean | Type::Timestamp => true,
        }
    }
}

/// A value. NULL is the lowest, as in Flink's default order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// NULL.
    Null,
    /// A truth value.
    Boolean(bool),
    /// An integer, a decimal without its point, or a time in milliseconds since 2024-01-01, less than a month later.
    Number(i128),
    /// A text.
    Text(String),
}

/// A row.
pub type Row = Vec<Value>;

impl Value {
    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        *self == Value::Null
    }

    /// As a result shows it; `None` is NULL.
    pub fn text(&self, of: Type) -> Option<String> {
        Some(match (self, of) {
            (Value::Null, _) => return None,
            (Value::Boolean(value), _) => if *value { "TRUE" } else { "FALSE" }.into(),
            (Value::Text(value), _) => value.clone(),
            (Value::Number(value), Type::Decimal(_, scale)) => decimal_text(*value, usize::from(scale)),
            (Value::Number(value), Type::Timestamp) => timestamp_text(*value),
            (Value::Number(value), _) => value.to_string(),
        })
    }

    /// As an SQL literal of exactly this type.
    pub fn sql(&self, of: Type) -> String {
        match (self.text(of), of) {
            (None, _) => format!("CAST(NULL AS {})", of.sql()),
            (Some(text), Type::Int | Type::Boolean) => text,
            (Some(text), Type::Text) => format!("CAST('{}' AS STRING)", text.replace('\'', "''")),
            (Some(text), Type::Timestamp) => format!("TIMESTAMP '{text}'"),
            (Some(text), Type::BigInt) => format!("CAST({text} AS BIGINT)"),
            (Some(text), Type::Decimal(..)) => format!("CAST('{text}' AS {})", of.sql()),
        }
    }

    /// As JSON in a record of the log.
    pub fn json(&self, of: Type) -> String {
        match (self, self.text(of)) {
            (Value::Boolean(value), _) => value.to_string(),
            (_, None) => "null".into(),
            (Value::Text(_), Some(text)) => serde_json::Value::String(text).to_string(),
            (_, Some(text)) if of == Type::Timestamp => format!("\"{text}\""),
            (_, Some(text)) => text,
        }
    }
}

fn decimal_text(value: i128, scale: usize) -> String {
    if scale == 0 {
        return value.to_string();
    }
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{}{whole}.{fraction}", if value < 0 { "-" } else { "" })
}

fn timestamp_text(ms: i128) -> String {
    let (seconds, ms) = (ms / 1000, ms % 1000);
    let (minutes, second) = (seconds / 60, seconds % 60);
    let (hours, minute) = (minutes / 60, minutes % 60);
    let (days, hour) = (hours / 24, hours % 24);
    format!("2024-01-{:02} {hour:02}:{minute:02}:{second:02}.{ms:03}", days + 1)
}
