//! CAST and TRY_CAST: which casts exist and how whole columns are converted.
//!
//! Text goes through [`parse`] and [`print`]; numbers, times and nested values have a file each.

mod nested;
mod numbers;
pub(crate) mod parse;
pub(crate) mod print;
mod times;

use crate::codes;
use crate::types::is_binary;
use arrow::array::*;
use base::LogicalType::{
    self, Binary, Boolean, Char, Date, Decimal, Double, Float, IntervalDayTime, IntervalYearMonth, Map, Multiset, Null,
    Row, Time, Timestamp, TimestampLtz, VarBinary, VarChar,
};
use base::function::FunctionContext;
use base::{Error, Result, SqlType};
use std::sync::Arc;

/// How far a cast is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CastSupport {
    /// Not at all.
    No,
    /// Only when the script says CAST.
    Explicit,
    /// Also where a value of another type is expected, such as a sink column.
    Implicit,
}

/// Whether values of `from` can become values of `to`.
pub fn can_cast(from: &SqlType, to: &SqlType) -> CastSupport {
    support(&from.logical, &to.logical)
}

fn support(from: &LogicalType, to: &LogicalType) -> CastSupport {
    use CastSupport::{Explicit, Implicit, No};
    let (integers, numbers) = (from.is_integer() && to.is_integer(), from.is_numeric() && to.is_numeric());
    match (from, to) {
        (Null, _) => Implicit,
        (from, to) if from == to => Implicit,
        (LogicalType::Array(from), LogicalType::Array(to)) | (Multiset(from), Multiset(to)) => can_cast(from, to),
        (Map(k1, v1), Map(k2, v2)) => can_cast(k1, k2).min(can_cast(v1, v2)),
        (Row(a), Row(b)) if a.len() == b.len() => {
            a.iter().zip(b).map(|((_, a), (_, b))| can_cast(a, b)).min().unwrap_or(Implicit)
        }
        (_, Null) => No,
        // A variant has no cast: JSON_STRING and JSON_VALUE read it.
        (LogicalType::Variant, _) | (_, LogicalType::Variant | LogicalType::Bitmap) => No,
        (from, VarChar(_)) if from.is_string() => Implicit,
        (Char(_), Char(_)) | (Binary(_), Binary(_)) => Implicit,
        (from, VarBinary(_)) if is_binary(from) => Implicit,
        // Everything has a text.
        (_, to) if to.is_string() => Explicit,
        (
            LogicalType::Array(_) | Map(..) | Multiset(_) | Row(_) | LogicalType::Structured(..) | LogicalType::Bitmap,
            _,
        )
        | (_, LogicalType::Array(_) | Map(..) | Multiset(_) | Row(_) | LogicalType::Structured(..)) => No,
        (from, to) if is_binary(to) => {
            if from.is_string() || is_binary(from) {
                Explicit
            } else {
                No
            }
        }
        (from, _) if is_binary(from) => No,
        (from, IntervalYearMonth | IntervalDayTime) if from.is_string() => No,
        (from, _) if from.is_string() => Explicit,
        (from, to) if integers => {
            if crate::types::integer_rank(from) <= crate::types::integer_rank(to) {
                Implicit
            } else {
                Explicit
            }
        }
        (_, Decimal { .. } | Double) if numbers => Implicit,
        (from, Float) if numbers && *from != Double => Implicit,
        _ if numbers => Explicit,
        (Boolean, to) if to.is_numeric() => Explicit,
        (from, Boolean) if from.is_numeric() => Explicit,
        (Timestamp(_) | TimestampLtz(_), Timestamp(_) | TimestampLtz(_) | Date | Time(_)) => Implicit,
        (Time(_), Time(_)) => Implicit,
        (Date | Time(_), Timestamp(_) | TimestampLtz(_)) => Explicit,
        (from, IntervalYearMonth | IntervalDayTime) if from.is_integer() => Explicit,
        _ => No,
    }
}

/// The error for a cast that does not exist.
fn no_cast(from: &SqlType, to: &SqlType) -> Error {
    let (why, fix) = match (&from.logical, &to.logical) {
        (Timestamp(_) | TimestampLtz(_) | Date, to) if to.is_numeric() => (
            "a point in time is not a number in SQL",
            "write UNIX_TIMESTAMP(CAST(x AS STRING)) for seconds, or EXTRACT(EPOCH FROM x)",
        ),
        (IntervalYearMonth | IntervalDayTime, to) if to.is_numeric() => {
            ("an interval is not a number in SQL", "write EXTRACT(unit FROM x), or TIMESTAMPDIFF(unit, a, b)")
        }
        (from, Timestamp(_) | TimestampLtz(_)) if from.is_numeric() => {
            ("a number is not a point in time in SQL", "write TO_TIMESTAMP_LTZ(x, 3) for epoch milliseconds")
        }
        (LogicalType::Variant, _) => (
            "a VARIANT is read through its JSON text",
            "write JSON_STRING(x) for the text, or CAST(JSON_VALUE(JSON_STRING(x), '$') AS type) for a value",
        ),
        _ => ("there is no conversion between these types", "go through another type, for example STRING"),
    };
    Error::new(&codes::NO_CAST, &[("from", &from.logical), ("to", &to.logical), ("why", &why), ("fix", &fix)])
}

/// What a cast of one column needs to know.
struct Cast<'a> {
    from: &'a SqlType,
    to: &'a SqlType,
    try_cast: bool,
    context: &'a FunctionContext,
}

/// Converts a column. TRY_CAST gives NULL where CAST fails the job, and so does CAST as it was before Flink 1.15.
///
/// # Errors
/// A cast that does not exist is a user error, a value that cannot be converted a data error.
pub fn cast(
    array: &ArrayRef,
    from: &SqlType,
    to: &SqlType,
    try_cast: bool,
    context: &FunctionContext,
) -> Result<ArrayRef> {
    if from.logical == to.logical && *array.data_type() == to.arrow() {
        return Ok(array.clone());
    }
    if support(&from.logical, &to.logical) == CastSupport::No {
        return Err(no_cast(from, to));
    }
    if from.logical == Null {
        return Ok(new_null_array(&to.arrow(), array.len()));
    }
    let try_cast = try_cast || context.legacy_cast;
    if try_cast && is_nested(&to.logical) {
        return nested_or_null(array, from, to, context);
    }
    Cast { from, to, try_cast, context }.run(array)
}

fn is_nested(logical: &LogicalType) -> bool {
    matches!(logical, LogicalType::Array(_) | Map(..) | Multiset(_) | Row(_))
}

/// TRY_CAST of nested values: one element that fails makes the whole value NULL.
fn nested_or_null(array: &ArrayRef, from: &SqlType, to: &SqlType, context: &FunctionContext) -> Result<ArrayRef> {
    let strict = FunctionContext { legacy_cast: false, ..context.clone() };
    let convert = |array: &ArrayRef| Cast { from, to, try_cast: false, context: &strict }.run(array);
    if let Ok(converted) = convert(array) {
        return Ok(converted);
    }
    let null = new_null_array(&to.arrow(), 1);
    let rows: Vec<ArrayRef> =
        (0..array.len()).map(|row| convert(&array.slice(row, 1)).unwrap_or_else(|_| null.clone())).collect();
    let rows: Vec<&dyn Array> = rows.iter().map(AsRef::as_ref).collect();
    Ok(arrow::compute::concat(&rows)?)
}

impl Cast<'_> {
    fn run(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match &self.to.logical {
            Char(_) | VarChar(_) => self.to_string(array),
            Binary(_) | VarBinary(_) => self.to_binary(array),
            Boolean => self.to_boolean(array),
            to if to.is_numeric() => numbers::to_number(self, array),
            LogicalType::Array(_) | Map(..) | Multiset(_) | Row(_) => nested::to_nested(self, array),
            _ => times::to_time(self, array),
        }
    }

    /// Converts text row by row; `None` of the builder is a NULL.
    fn parse_texts<T>(
        &self,
        array: &ArrayRef,
        mut parse: impl FnMut(&str) -> std::result::Result<T, &'static str>,
        mut append: impl FnMut(Option<T>),
    ) -> Result<()> {
        let texts = array.as_string::<i32>();
        for row in 0..texts.len() {
            if texts.is_null(row) {
                append(None);
                continue;
            }
            match parse(texts.value(row)) {
                Ok(value) => append(Some(value)),
                Err(_) if self.try_cast => append(None),
                Err(why) => {
                    let (value, to) = (texts.value(row), &self.to.logical);
                    return Err(Error::new(&codes::BAD_CAST, &[("value", &value), ("to", to), ("why", &why)]));
                }
            }
        }
        Ok(())
    }

    fn to_string(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let text: ArrayRef = match &self.from.logical {
            from if from.is_string() => array.clone(),
            from if is_binary(from) => {
                let bytes = array.as_binary::<i32>();
                let lossy = bytes.iter().map(|bytes| bytes.map(String::from_utf8_lossy));
                Arc::new(StringArray::from_iter(lossy))
            }
            Boolean if self.context.legacy_cast => {
                let words =
                    array.as_boolean().iter().map(|value| value.map(|value| if value { "true" } else { "false" }));
                Arc::new(StringArray::from_iter(words))
            }
            _ => Arc::new(print::to_text(array, self.from, self.context.time_zone)?),
        };
        Ok(match (&self.from.logical, &self.to.logical) {
            _ if self.context.legacy_cast => text,
            (Char(a) | VarChar(a), VarChar(b)) if a <= b => text,
            (_, VarChar(limit)) => fit(&text, *limit, false),
            (_, Char(limit)) => fit(&text, *limit, true),
            _ => text,
        })
    }

    fn to_binary(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let bytes: Vec<Option<&[u8]>> = match array.as_string_opt::<i32>() {
            Some(texts) => texts.iter().map(|text| text.map(str::as_bytes)).collect(),
            None => array.as_binary::<i32>().iter().collect(),
        };
        let (limit, pad) = match self.to.logical {
            Binary(_) | VarBinary(_) if self.context.legacy_cast => (usize::MAX, false),
            Binary(limit) => (limit as usize, true),
            VarBinary(limit) => (limit as usize, false),
            _ => return Err(Error::internal("not a binary type")),
        };
        let mut out = BinaryBuilder::with_capacity(bytes.len(), 0);
        for value in bytes {
            match value {
                None => out.append_null(),
                Some(value) if pad && value.len() < limit => {
                    let mut padded = value.to_vec();
                    padded.resize(limit, 0);
                    out.append_value(padded);
                }
                Some(value) => out.append_value(&value[..value.len().min(limit)]),
            }
        }
        Ok(Arc::new(out.finish()))
    }

    fn to_boolean(&self, array: &ArrayRef) -> Result<ArrayRef> {
        if self.from.logical.is_string() {
            let mut out = BooleanBuilder::with_capacity(array.len());
            self.parse_texts(array, parse::boolean, |value| out.append_option(value))?;
            return Ok(Arc::new(out.finish()));
        }
        numbers::is_not_zero(self.from, array)
    }
}

/// Cuts texts to `limit` characters, and pads them with spaces if `pad`.
fn fit(array: &ArrayRef, limit: u32, pad: bool) -> ArrayRef {
    let texts = array.as_string::<i32>();
    let limit = limit as usize;
    let mut out = StringBuilder::with_capacity(texts.len(), texts.values().len());
    for text in texts {
        let Some(text) = text else {
            out.append_null();
            continue;
        };
        if text.len() <= limit && (!pad || text.len() == limit && text.is_ascii()) {
            out.append_value(text);
            continue;
        }
        match text.char_indices().nth(limit) {
            Some((end, _)) => out.append_value(&text[..end]),
            None if pad => {
                let missing = limit - text.chars().count();
                out.append_value(format!("{text}{}", " ".repeat(missing)));
            }
            None => out.append_value(text),
        }
    }
    Arc::new(out.finish())
}

#[cfg(test)]
#[path = "cast_tests.rs"]
mod tests;
