//! Aggregate functions in a GROUP BY without FILTER: a group has rows, so the result is NULL only if the argument can be.

use base::function::{Accumulator, AggregateFunction, AggregateOptions};
use base::{Result, SqlType};
use std::sync::Arc;

/// Functions whose result over no row is NULL, and over rows that are NOT NULL is not. STDDEV_SAMP and VAR_SAMP are none
/// of them: one row has no sample variance.
const NEVER_EMPTY: [&str; 9] =
    ["SUM", "AVG", "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "STDDEV_POP", "VAR_POP", "SINGLE_VALUE"];

#[derive(Debug)]
struct Grouped(Arc<dyn AggregateFunction>);

/// The function as it is typed where each group has a row: by GROUP BY, without FILTER.
pub fn grouped(function: Arc<dyn AggregateFunction>) -> Arc<dyn AggregateFunction> {
    if NEVER_EMPTY.contains(&function.name()) { Arc::new(Grouped(function)) } else { function }
}

impl AggregateFunction for Grouped {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn return_type(&self, arguments: &[SqlType]) -> Result<SqlType> {
        let nullable = arguments.iter().any(|argument| argument.nullable);
        Ok(self.0.return_type(arguments)?.with_nullable(nullable))
    }

    fn accumulator(&self, arguments: &[SqlType], options: &AggregateOptions) -> Result<Box<dyn Accumulator>> {
        self.0.accumulator(arguments, options)
    }
}
