//! Functions that only MATCH_RECOGNIZE gives a meaning: they have a type, and are replaced by what is read of a match.

use arrow::array::ArrayRef;
use base::function::{Argument, FunctionContext, ScalarFunction};
use base::{Error, LogicalType, Result, SqlType};
use std::sync::Arc;

/// FIRST(x, n).
pub const FIRST: &str = "$MATCH_FIRST";
/// LAST(x, n).
pub const LAST: &str = "$MATCH_LAST";
/// MATCH_ROWTIME(), called with the time column.
pub const ROWTIME: &str = "$MATCH_ROWTIME";
/// MATCH_ROWTIME(column).
pub const ROWTIME_OF: &str = "$MATCH_ROWTIME_OF";

/// A function of rows of a match.
#[derive(Debug)]
struct PatternFunction(&'static str);

/// The function of this name.
pub fn pattern_function(name: &str) -> Option<Arc<dyn ScalarFunction>> {
    let name = [FIRST, LAST, ROWTIME, ROWTIME_OF].into_iter().find(|known| *known == name)?;
    Some(Arc::new(PatternFunction(name)))
}

impl ScalarFunction for PatternFunction {
    fn name(&self) -> &str {
        self.0
    }

    /// The type of the first argument; nullable behind an offset, as there may be no such row.
    fn return_type(&self, arguments: &[Argument]) -> Result<SqlType> {
        if self.0 == ROWTIME {
            return Ok(LogicalType::Timestamp(3).not_null());
        }
        let value = arguments.first().ok_or_else(|| Error::internal(format!("{} without arguments", self.0)))?;
        Ok(value.sql_type.with_nullable(value.sql_type.nullable || arguments.len() > 1))
    }

    fn evaluate(
        &self,
        _arguments: &[ArrayRef],
        _types: &[SqlType],
        _result: &SqlType,
        _rows: usize,
        _context: &FunctionContext,
    ) -> Result<ArrayRef> {
        Err(Error::internal(format!("{} was not replaced", self.0)))
    }
}
