//! Functions that ask for the time or a random number: their values come to the runtime as hidden columns.
//!
//! The binder writes CURRENT_TIMESTAMP, PROCTIME() and the like as calls of a hidden function, with a cast where the type is
//! another one. [`crate::expression`] turns the calls into columns.

use crate::codes;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StringArray};
use arrow::datatypes::{Float64Type, Int32Type, Int64Type, TimestampMillisecondType};
use base::expression::HiddenColumn;
use base::function::{Argument, FunctionContext, ScalarFunction};
use base::{Error, LogicalType, Result, SqlType};
use std::sync::Arc;

/// The hidden function of the processing time, TIMESTAMP_LTZ(3).
pub const PROCESSING_TIME: &str = "$processing_time";
/// The hidden function of the watermark before the row, TIMESTAMP_LTZ(3).
pub const WATERMARK: &str = "$watermark";
/// CURRENT_WATERMARK, called with the rowtime column and [`WATERMARK`].
pub const CURRENT_WATERMARK: &str = "CURRENT_WATERMARK";
/// The hidden function of random numbers.
pub const RANDOM: &str = "$random";

/// RAND(), called with [`RANDOM`].
pub const RAND: &str = "$RAND";
/// RAND_INTEGER(bound), called with the bound and [`RANDOM`].
pub const RAND_INTEGER: &str = "$RAND_INTEGER";
/// UUID(), called with two [`RANDOM`].
pub const UUID: &str = "$UUID";
/// UNIX_TIMESTAMP(), called with [`PROCESSING_TIME`].
pub const UNIX_TIME: &str = "$UNIX_TIMESTAMP";

/// A function whose value is a hidden column.
#[derive(Debug)]
struct HiddenFunction {
    name: &'static str,
    column: HiddenColumn,
}

/// The hidden function of this name.
pub fn hidden_function(name: &str) -> Option<Arc<dyn ScalarFunction>> {
    let (name, column) = match name {
        PROCESSING_TIME => (PROCESSING_TIME, HiddenColumn::ProcessingTime),
        WATERMARK => (WATERMARK, HiddenColumn::Watermark),
        RANDOM => (RANDOM, HiddenColumn::Random),
        CURRENT_WATERMARK => return Some(Arc::new(CurrentWatermark)),
        _ => return Derived::of(name).map(|function| Arc::new(function) as Arc<dyn ScalarFunction>),
    };
    Some(Arc::new(HiddenFunction { name, column }))
}

/// For a function of Flink that reads the clock: the type that the processing time is cast to, if it is another one.
pub fn clock_function(name: &str) -> Option<Option<&'static str>> {
    match name {
        "PROCTIME" | "NOW" | "CURRENT_TIMESTAMP" | "CURRENT_ROW_TIMESTAMP" => Some(None),
        "LOCALTIMESTAMP" => Some(Some("TIMESTAMP(3)")),
        "CURRENT_DATE" => Some(Some("DATE")),
        "CURRENT_TIME" | "LOCALTIME" => Some(Some("TIME(0)")),
        _ => None,
    }
}

impl ScalarFunction for HiddenFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn return_type(&self, _arguments: &[Argument]) -> Result<SqlType> {
        Ok(self.column.sql_type())
    }

    fn evaluate(
        &self,
        _arguments: &[ArrayRef],
        _types: &[SqlType],
        _result: &SqlType,
        _rows: usize,
        _context: &FunctionContext,
    ) -> Result<ArrayRef> {
        Err(Error::internal(format!("{} is a column", self.name)))
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}

/// The watermark in the type of the rowtime column: its milliseconds are a wall-clock reading there if the column is TIMESTAMP.
#[derive(Debug)]
struct CurrentWatermark;

impl ScalarFunction for CurrentWatermark {
    fn name(&self) -> &str {
        CURRENT_WATERMARK
    }

    fn return_type(&self, arguments: &[Argument]) -> Result<SqlType> {
        match arguments.first().map(|argument| &argument.sql_type.logical) {
            Some(LogicalType::Timestamp(_)) => Ok(LogicalType::Timestamp(3).nullable()),
            Some(LogicalType::TimestampLtz(_)) => Ok(LogicalType::TimestampLtz(3).nullable()),
            _ => Err(Error::new(
                &codes::NOT_TIME_ATTRIBUTE,
                &[("function", &CURRENT_WATERMARK), ("column", &"its argument"), ("type", &"no timestamp")],
            )),
        }
    }

    fn evaluate(
        &self,
        arguments: &[ArrayRef],
        _types: &[SqlType],
        result: &SqlType,
        _rows: usize,
        _context: &FunctionContext,
    ) -> Result<ArrayRef> {
        let watermark = arguments.last().ok_or_else(|| Error::internal("the watermark is missing"))?;
        let milliseconds = watermark
            .as_primitive_opt::<TimestampMillisecondType>()
            .ok_or_else(|| Error::internal(format!("the watermark is {}", watermark.data_type())))?;
        let zone = match result.logical {
            LogicalType::TimestampLtz(_) => Some(base::types::INSTANT_ZONE),
            _ => None,
        };
        Ok(Arc::new(milliseconds.clone().with_timezone_opt(zone)))
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}

/// A function of hidden columns.
#[derive(Debug, Clone, Copy)]
enum Derived {
    Rand,
    RandInteger,
    Uuid,
    UnixTime,
}

impl Derived {
    fn of(name: &str) -> Option<Derived> {
        Some(match name {
            RAND => Derived::Rand,
            RAND_INTEGER => Derived::RandInteger,
            UUID => Derived::Uuid,
            UNIX_TIME => Derived::UnixTime,
            _ => return None,
        })
    }
}

impl ScalarFunction for Derived {
    fn name(&self) -> &str {
        match self {
            Derived::Rand => RAND,
            Derived::RandInteger => RAND_INTEGER,
            Derived::Uuid => UUID,
            Derived::UnixTime => UNIX_TIME,
        }
    }

    fn return_type(&self, arguments: &[Argument]) -> Result<SqlType> {
        Ok(match self {
            Derived::Rand => LogicalType::Double.not_null(),
            Derived::Uuid => LogicalType::Char(36).not_null(),
            Derived::UnixTime => LogicalType::BigInt.not_null(),
            Derived::RandInteger => match arguments.first().map(|bound| &bound.sql_type) {
                Some(bound) if bound.logical == LogicalType::Int => {
                    LogicalType::Int.nullable().with_nullable(bound.nullable)
                }
                other => {
                    let given = other.map_or_else(String::new, |bound| bound.logical.to_string());
                    return Err(Error::unsupported(format!("RAND_INTEGER({given}): the bound is an INT")));
                }
            },
        })
    }

    fn evaluate(
        &self,
        arguments: &[ArrayRef],
        _types: &[SqlType],
        _result: &SqlType,
        rows: usize,
        _context: &FunctionContext,
    ) -> Result<ArrayRef> {
        let wrong = || Error::internal(format!("{} got other arguments than it is called with", self.name()));
        let random = |index: usize| -> Result<&Int64Array> {
            arguments.get(index).and_then(|array| array.as_primitive_opt::<Int64Type>()).ok_or_else(wrong)
        };
        Ok(match self {
            Derived::Rand => Arc::new(random(0)?.unary::<_, Float64Type>(fraction)),
            Derived::RandInteger => {
                let bounds =
                    arguments.first().and_then(|array| array.as_primitive_opt::<Int32Type>()).ok_or_else(wrong)?;
                let random = random(1)?;
                let constant = bounds.len() == 1;
                let bounded = (0..rows).map(|row| {
                    let place = if constant { 0 } else { row };
                    let bound = bounds.is_valid(place).then(|| bounds.value(place))?;
                    Some((bound > 0).then(|| (fraction(random.value(row)) * f64::from(bound)) as i32).ok_or(bound))
                });
                let bad = |bound| Error::new(&codes::RANDOM_BOUND, &[("bound", &bound)]);
                let values = bounded.map(|value| value.transpose().map_err(bad)).collect::<Result<Int32Array>>()?;
                Arc::new(values)
            }
            Derived::Uuid => {
                let (high, low) = (random(0)?, random(1)?);
                Arc::new((0..rows).map(|row| Some(uuid(high.value(row), low.value(row)))).collect::<StringArray>())
            }
            Derived::UnixTime => {
                let now = arguments.first().and_then(|array| array.as_primitive_opt::<TimestampMillisecondType>());
                Arc::new(now.ok_or_else(wrong)?.unary::<_, Int64Type>(|milliseconds| milliseconds.div_euclid(1000)))
            }
        })
    }
}

/// Random bits as a number from 0 up to 1, without 1.
fn fraction(random: i64) -> f64 {
    (random as u64 >> 11) as f64 / (1_u64 << 53) as f64
}

/// A UUID of version 4.
fn uuid(high: i64, low: i64) -> String {
    let high = high as u64 & !0xf000 | 0x4000;
    let low = low as u64 & !(0b11 << 62) | 0b10 << 62;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
#[path = "time_functions_tests.rs"]
mod tests;
