//! Functions that ask for the time or a random number: their values come to the runtime as hidden columns.
//!
//! The binder writes CURRENT_TIMESTAMP, PROCTIME() and the like as calls of a hidden function, with a cast where the type is
//! another one. [`crate::expression`] turns the calls into columns.

use crate::codes;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::TimestampMillisecondType;
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
        _ => return None,
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
