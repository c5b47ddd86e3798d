//! Time units: epoch milliseconds from stored timestamps and back.

use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::*;

pub use chrono_tz::Tz;

/// Epoch milliseconds of a timestamp column of any unit, rounded down, NULLs kept.
///
/// # Errors
/// A column that is not a timestamp is a bug of the caller.
pub fn epoch_ms(column: &ArrayRef) -> Result<Int64Array> {
    match column.data_type() {
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            let array = column.as_primitive::<TimestampMillisecondType>();
            Ok(Int64Array::new(array.values().clone(), array.nulls().cloned()))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            Ok(column.as_primitive::<TimestampMicrosecondType>().unary(|v| v.div_euclid(1_000)))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            Ok(column.as_primitive::<TimestampNanosecondType>().unary(|v| v.div_euclid(1_000_000)))
        }
        DataType::Timestamp(TimeUnit::Second, _) => {
            Ok(column.as_primitive::<TimestampSecondType>().unary(|v| v.saturating_mul(1_000)))
        }
        other => Err(Error::internal(format!("expected a timestamp column, found {other}"))),
    }
}
