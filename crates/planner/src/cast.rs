//! CAST and TRY_CAST as functions of one argument: the target type is part of the function's name.

use crate::codes;
use crate::statement_codes;
use crate::user_functions::{ARGUMENT_PREFIX, SEPARATOR};
use arrow::array::ArrayRef;
use base::function::{Argument, FunctionContext, ScalarFunction};
use base::{Error, Result, SqlType};
use functions::CastSupport;
use std::sync::Arc;

/// How the name of a cast starts; the type follows.
pub const CAST_PREFIX: &str = "CAST AS ";
/// How the name of a cast that gives NULL instead of failing starts.
pub const TRY_CAST_PREFIX: &str = "TRY_CAST AS ";

/// A cast to one type.
#[derive(Debug)]
pub struct CastFunction {
    name: String,
    target: SqlType,
    try_cast: bool,
    /// The function and parameter that this is an argument of: only what Flink converts by itself fits.
    parameter: Option<(String, String)>,
}

impl CastFunction {
    /// A cast to `target`; its nullability is that of the operand, except that TRY_CAST can always give NULL.
    pub fn create(target: &SqlType, try_cast: bool) -> Arc<dyn ScalarFunction> {
        let target = target.with_nullable(true);
        let prefix = if try_cast { TRY_CAST_PREFIX } else { CAST_PREFIX };
        Arc::new(CastFunction { name: format!("{prefix}{target}"), target, try_cast, parameter: None })
    }

    /// The cast of an argument to the type of its parameter.
    fn argument(text: &str) -> Option<Result<Arc<dyn ScalarFunction>>> {
        let mut parts = text.splitn(3, SEPARATOR);
        let (function, parameter, target) = (parts.next()?, parts.next()?, parts.next()?);
        Some(target.parse::<SqlType>().map(|target| {
            let target = target.with_nullable(true);
            let parameter = Some((function.to_string(), parameter.to_string()));
            let cast = CastFunction { name: format!("{CAST_PREFIX}{target}"), target, try_cast: false, parameter };
            Arc::new(cast) as Arc<dyn ScalarFunction>
        }))
    }

    /// The function whose name this is.
    pub fn from_name(name: &str) -> Option<Result<Arc<dyn ScalarFunction>>> {
        if let Some(text) = name.strip_prefix(ARGUMENT_PREFIX) {
            return CastFunction::argument(text);
        }
        let (text, try_cast) = match name.strip_prefix(CAST_PREFIX) {
            Some(text) => (text, false),
            None => (name.strip_prefix(TRY_CAST_PREFIX)?, true),
        };
        Some(text.parse::<SqlType>().map(|target| CastFunction::create(&target, try_cast)))
    }
}

impl ScalarFunction for CastFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn return_type(&self, arguments: &[Argument]) -> Result<SqlType> {
        let [argument] = arguments else { return Err(Error::internal("a cast takes one argument")) };
        let from = &argument.sql_type;
        let is_null = from.logical == base::LogicalType::Null;
        if !is_null && matches!(functions::can_cast(from, &self.target), CastSupport::No) {
            return Err(Error::new(&codes::BAD_CAST, &[("from", &from.logical), ("to", &self.target.logical)]));
        }
        if let Some((function, parameter)) = &self.parameter
            && !is_null
            && from.logical != self.target.logical
            && !matches!(functions::can_cast(from, &self.target), CastSupport::Implicit)
        {
            let arguments: [(&'static str, &dyn std::fmt::Display); 4] = [
                ("function", function),
                ("parameter", parameter),
                ("from", &from.logical),
                ("to", &self.target.logical),
            ];
            return Err(Error::new(&statement_codes::FUNCTION_ARGUMENT, &arguments));
        }
        Ok(self.target.with_nullable(from.nullable || self.try_cast))
    }

    fn evaluate(
        &self,
        arguments: &[ArrayRef],
        types: &[SqlType],
        result: &SqlType,
        _rows: usize,
        context: &FunctionContext,
    ) -> Result<ArrayRef> {
        let ([argument], [from]) = (arguments, types) else {
            return Err(Error::internal("a cast takes one argument"));
        };
        if from.logical == base::LogicalType::Null {
            return Ok(arrow::array::new_null_array(&result.arrow(), argument.len()));
        }
        functions::cast(argument, from, result, self.try_cast, context)
    }
}
