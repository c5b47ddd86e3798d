//! Runs `oracle.tsv`: expressions with the type and the value that Flink 2.3 gives them.
//!
//! Each expression runs twice over three rows, once with constants as constants and once as columns.

#[path = "oracle_parse.rs"]
mod parse;

use crate::call::expand;
use crate::{CastSupport, can_cast, cast, scalar, to_text};
use arrow::array::*;
use base::function::{Argument, FunctionContext};
use base::{LogicalType, SqlType};
use std::sync::Arc;

/// Lines that differ on purpose, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    ("CAST(1 AS DOUBLE) / 0", "Flink folds this constant with decimals; a column gives Infinity"),
    ("CAST(-1 AS DOUBLE) / 0", "the same"),
    ("CAST(0 AS DOUBLE) / 0", "the same"),
    ("CAST(CAST(0.1 AS FLOAT) AS DOUBLE)", "the planner keeps the digits of a literal; a column is widened"),
    ("COALESCE(CAST(12345.678 AS DECIMAL(5,2)), 0)", "the NULL of an overflow is seen"),
    ("TIMESTAMPDIFF(MILLISECOND, TIMESTAMP '2024-01-01 00:00:00'", "Flink loses the fraction of the second"),
    ("LEAST(1, NULL, 3)", "works here"),
    ("ARRAY[1,2,3][5]", "NULL instead of the default value of a type that is NOT NULL"),
    ("ARRAY['a','b'][5]", "the same"),
    ("MAP['a','x']['z']", "the same"),
    ("JSON_VALUE('{\"itemId\": \"42\"}'", "a number in quotes is read"),
    ("JSON_VALUE('{\"itemId\": \"x\"}'", "ON ERROR applies instead of a failing job"),
    ("JSON_OBJECT('o' VALUE JSON_OBJECT", "the planner says which arguments are JSON"),
    ("JSON_ARRAY(1, 'a', NULL", "works here"),
    ("ROW(1,'a',NULL)", "the planner rejects a bare NULL"),
    ("NULL OR TRUE", "the same"),
    ("'a' || NULL || 'b'", "the same"),
    ("MAP['a',1,'b',NULL]", "the same"),
    ("9223372036854775808", "the parser rejects the literal"),
    ("TYPEOF(", "literal types are the planner's"),
    ("TIMESTAMP '2024-01-02 00:00:00' - TIMESTAMP '2024-01-01 00:00:00'", "accepted without a unit"),
    ("TO_TIMESTAMP_LTZ('2024-01-02', 'yyyy-MM-dd', 'bad')", "the planner checks literals"),
    ("(DATE '2024-01-01', INTERVAL '1' DAY) OVERLAPS", "the planner's"),
];

#[derive(Clone)]
struct Value {
    sql_type: SqlType,
    array: ArrayRef,
    constant: bool,
}

struct Run {
    context: FunctionContext,
    columns: bool,
}

const ROWS: usize = 3;

impl Run {
    fn value(&self, array: ArrayRef, sql_type: SqlType) -> Value {
        Value { sql_type, array, constant: true }
    }

    fn text(&self, text: &str) -> Value {
        let length = text.chars().count() as u32;
        self.value(Arc::new(StringArray::from(vec![text])), LogicalType::Char(length).not_null())
    }

    fn bytes(&self, digits: &str) -> Value {
        let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(digit).collect();
        self.value(Arc::new(BinaryArray::from_vec(vec![&bytes])), LogicalType::Binary(bytes.len() as u32).not_null())
    }

    fn null(&self) -> Value {
        self.value(Arc::new(NullArray::new(1)), LogicalType::Null.nullable())
    }

    fn boolean(&self, value: bool) -> Value {
        self.value(Arc::new(BooleanArray::from(vec![value])), LogicalType::Boolean.not_null())
    }

    fn months(&self, months: i64) -> Value {
        let array = IntervalYearMonthArray::from(vec![months as i32]);
        self.value(Arc::new(array), LogicalType::IntervalYearMonth.not_null())
    }

    fn milliseconds(&self, ms: i64) -> Value {
        self.value(Arc::new(DurationMillisecondArray::from(vec![ms])), LogicalType::IntervalDayTime.not_null())
    }

    fn number(&self, text: &str) -> Result<Value, String> {
        let logical = if text.contains(['e', 'E']) {
            LogicalType::Double
        } else if let Some((whole, fraction)) = text.split_once('.') {
            let whole = whole.trim_start_matches('0').len().max(1);
            LogicalType::Decimal { precision: (whole + fraction.len()) as u8, scale: fraction.len() as u8 }
        } else if text.parse::<i32>().is_ok() {
            LogicalType::Int
        } else {
            LogicalType::BigInt
        };
        self.literal(text, logical)
    }

    fn literal(&self, text: &str, logical: LogicalType) -> Result<Value, String> {
        let text: ArrayRef = Arc::new(StringArray::from(vec![text]));
        let to = logical.not_null();
        let array = cast(&text, &SqlType::string(), &to, false, &self.context).map_err(|error| error.to_string())?;
        Ok(self.value(array, to))
    }

    /// The array as a function gets it.
    fn argument(&self, value: &Value) -> ArrayRef {
        if self.columns { expand(&value.array, ROWS).unwrap() } else { value.array.clone() }
    }

    fn call(&self, name: &str, values: Vec<Value>) -> Result<Value, String> {
        let function = scalar(name).ok_or_else(|| format!("no function {name}"))?;
        let arguments: Vec<Argument> = values
            .iter()
            .map(|value| Argument {
                sql_type: value.sql_type.clone(),
                constant: value.constant.then(|| value.array.clone()),
            })
            .collect();
        let result = function.return_type(&arguments).map_err(|error| error.to_string())?;
        let arrays: Vec<ArrayRef> = values.iter().map(|value| self.argument(value)).collect();
        let types: Vec<SqlType> = values.iter().map(|value| value.sql_type.clone()).collect();
        let array =
            function.evaluate(&arrays, &types, &result, ROWS, &self.context).map_err(|error| error.to_string())?;
        assert_eq!(array.len(), ROWS, "{name} gives one value per row");
        assert_eq!(*array.data_type(), result.arrow(), "{name} gives its type");
        Ok(Value { sql_type: result, array, constant: false })
    }

    fn cast(&self, value: Value, to: SqlType, try_cast: bool) -> Result<Value, String> {
        if can_cast(&value.sql_type, &to) == CastSupport::No {
            return Err("no such cast".into());
        }
        let nullable = value.sql_type.nullable || try_cast || value.sql_type.logical == LogicalType::Null;
        let to = to.with_nullable(nullable);
        let array = self.argument(&value);
        let array = cast(&array, &value.sql_type, &to, try_cast, &self.context).map_err(|error| error.to_string())?;
        assert_eq!(*array.data_type(), to.arrow(), "a cast gives its type");
        Ok(Value { sql_type: to, array, constant: value.constant })
    }
}

fn unquoted(expected: &str) -> Option<String> {
    serde_json::from_str::<Option<String>>(expected).unwrap()
}

#[test]
fn expressions_give_flinks_types_and_values() {
    let mut failures = Vec::new();
    let mut checked = 0;
    for columns in [false, true] {
        let mut zone = chrono_tz::UTC;
        let mut legacy = false;
        for line in include_str!("oracle.tsv").lines() {
            if let Some(setting) = line.strip_prefix("@SET ") {
                if let Some(name) = setting.strip_prefix("table.local-time-zone=") {
                    zone = name.trim().parse().unwrap();
                }
                legacy = setting.starts_with("table.exec.legacy-cast-behaviour=enabled");
                continue;
            }
            let mut parts = line.split('\t');
            let (Some(text), Some(sql_type)) = (parts.next(), parts.next()) else { continue };
            let expected = parts.next().unwrap_or_default();
            if DIFFERENT.iter().any(|(start, _)| text.starts_with(start)) {
                continue;
            }
            let run = Run { context: FunctionContext { time_zone: zone, legacy_cast: legacy }, columns };
            let mut parser = parse::Parser { text, at: 0, run: &run };
            let mut got = parser.expression();
            if got.is_ok() && !parser.text[parser.at..].trim().is_empty() {
                got = Err(format!("skip: cannot read {}", &parser.text[parser.at..]));
            }
            if matches!(&got, Err(why) if why.starts_with("skip")) {
                continue;
            }
            checked += 1;
            let wants_null = expected.starts_with("!RUNTIME EnforcerException");
            let wants_error = sql_type.starts_with('!') || expected.starts_with('!') && !wants_null;
            let problem = match got {
                Err(why) if wants_error => {
                    assert!(!why.contains("internal error"), "{text}: {why}");
                    None
                }
                Err(why) => Some(why),
                Ok(value) if wants_error => Some(format!("no error but {}", value.sql_type)),
                Ok(value) => {
                    let texts = to_text(&value.array, &value.sql_type, zone).unwrap();
                    let wanted = if wants_null { None } else { unquoted(expected) };
                    let type_text = value.sql_type.to_string();
                    let type_text = type_text
                        .replace("INTERVAL DAY TO SECOND", "INTERVAL SECOND(3)")
                        .replace("INTERVAL YEAR TO MONTH", "INTERVAL MONTH");
                    let row = (0..texts.len())
                        .map(|row| texts.is_valid(row).then(|| texts.value(row).to_string()))
                        .find(|got| *got != wanted);
                    match row {
                        Some(got) => Some(format!("value {got:?} instead of {wanted:?}")),
                        None if type_text != sql_type => Some(format!("type {type_text} instead of {sql_type}")),
                        None => None,
                    }
                }
            };
            failures.extend(problem.map(|problem| format!("{text}\n    {problem}")));
        }
    }
    assert!(failures.is_empty(), "{} of {checked} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(checked > 700, "only {checked} expressions were read");
}
