//! Expressions as operators see them: columns in, one column out.

use crate::error::Result;
use crate::types::SqlType;
use arrow::array::{ArrayRef, RecordBatch};
use std::fmt::Debug;

/// An expression over the columns of one input.
///
/// An expression never asks for the time, a watermark or a random number: these reach it as [`HiddenColumn`]s behind the
/// visible ones, so that a run can be repeated.
pub trait Expression: Debug + Send + Sync {
    /// One value per row of `batch`, of exactly the Arrow type of [`Expression::sql_type`].
    ///
    /// # Errors
    /// What Flink fails a job for (division by zero, a cast that cannot be done), as an error of domain data.
    fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef>;

    /// The type of the values.
    fn sql_type(&self) -> &SqlType;

    /// The expression as SQL, for EXPLAIN and messages.
    fn sql(&self) -> String;

    /// Equal for expressions that compute the same from the same columns, across restarts and releases.
    fn digest(&self) -> String {
        self.sql()
    }

    /// The input columns it reads, ascending.
    fn columns(&self) -> Vec<usize>;

    /// The input column it passes through unchanged, if it is no more than that.
    fn as_column(&self) -> Option<usize> {
        None
    }

    /// Whether the same columns always give the same value.
    fn is_deterministic(&self) -> bool {
        true
    }
}

/// A column that the runtime appends behind the visible columns of a batch before expressions are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HiddenColumn {
    /// The processing time of the batch, TIMESTAMP_LTZ(3) NOT NULL: CURRENT_TIMESTAMP, NOW(), PROCTIME().
    ProcessingTime,
    /// The watermark before the row, TIMESTAMP_LTZ(3); NULL before the first one: CURRENT_WATERMARK.
    Watermark,
    /// A random BIGINT NOT NULL per row, from the job's seeded generator: RAND(), UUID().
    Random,
}

impl HiddenColumn {
    /// The type of its values.
    pub fn sql_type(self) -> SqlType {
        use crate::types::LogicalType;
        match self {
            HiddenColumn::ProcessingTime => LogicalType::TimestampLtz(3).not_null(),
            HiddenColumn::Watermark => LogicalType::TimestampLtz(3).nullable(),
            HiddenColumn::Random => LogicalType::BigInt.not_null(),
        }
    }
}
