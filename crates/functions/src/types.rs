//! The types that two types share: for CASE, COALESCE, UNION and VALUES, and for comparisons.

use crate::decimal::PRECISION_MAX;
use base::LogicalType::{
    self, BigInt, Binary, Char, Date, Decimal, Double, Float, Int, Map, Multiset, Null, Row, SmallInt, Time, Timestamp,
    TimestampLtz, TinyInt, VarBinary, VarChar,
};
use base::SqlType;

/// Which of two types holds where neither holds all values of the other.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    /// FLOAT before DOUBLE stays FLOAT, and of two sorts of timestamps the last one holds.
    ByPlace,
    /// DOUBLE and TIMESTAMP_LTZ.
    Widest,
}

/// The type of CASE, ARRAY, MAP, UNION and VALUES of these types. `None` if there is none.
pub fn common_type(types: &[SqlType]) -> Option<SqlType> {
    merge_all(types, Holds::ByPlace)
}

/// The type of COALESCE, GREATEST and LEAST of these types: the widest one, wherever it stands. `None` if there is none.
pub(crate) fn widest_type(types: &[SqlType]) -> Option<SqlType> {
    merge_all(types, Holds::Widest)
}

fn merge_all(types: &[SqlType], holds: Holds) -> Option<SqlType> {
    let (first, rest) = types.split_first()?;
    let mut logical = first.logical.clone();
    let mut nullable = first.nullable || first.logical == Null;
    for next in rest {
        logical = merge(&logical, &next.logical, holds)?;
        nullable |= next.nullable || next.logical == Null;
    }
    Some(SqlType { logical, nullable })
}

/// The type in which two values are compared. `None` if Flink rejects the comparison.
pub fn comparison_type(left: &SqlType, right: &SqlType) -> Option<SqlType> {
    let nullable = left.nullable || right.nullable;
    let logical = match (&left.logical, &right.logical) {
        (l, r) if l.is_string() && r.is_string() => LogicalType::STRING,
        (l, r) if is_binary(l) && is_binary(r) => LogicalType::BYTES,
        (l, r) if l.is_string() && is_temporal(r) => r.clone(),
        (l, r) if r.is_string() && is_temporal(l) => l.clone(),
        (l, r) => merge(l, r, Holds::Widest)?,
    };
    Some(SqlType { logical, nullable })
}

pub(crate) fn is_binary(logical: &LogicalType) -> bool {
    matches!(logical, Binary(_) | VarBinary(_))
}

fn is_temporal(logical: &LogicalType) -> bool {
    matches!(logical, Date | Time(_) | Timestamp(_) | TimestampLtz(_))
}

/// Digits before and after the point of an exact number.
pub(crate) fn exact_digits(logical: &LogicalType) -> Option<(u8, u8)> {
    Some(match logical {
        TinyInt => (3, 0),
        SmallInt => (5, 0),
        Int => (10, 0),
        BigInt => (19, 0),
        Decimal { precision, scale } => (*precision, *scale),
        _ => return None,
    })
}

pub(crate) fn integer_rank(logical: &LogicalType) -> u8 {
    match logical {
        TinyInt => 1,
        SmallInt => 2,
        Int => 3,
        BigInt => 4,
        _ => 0,
    }
}

fn merge(left: &LogicalType, right: &LogicalType, holds: Holds) -> Option<LogicalType> {
    if left == right {
        return Some(left.clone());
    }
    Some(match (left, right) {
        (Null, other) | (other, Null) => other.clone(),
        (l, r) if l.is_numeric() && r.is_numeric() => merge_numbers(l, r, holds)?,
        (Char(a) | VarChar(a), Char(b) | VarChar(b)) => VarChar(*a.max(b)),
        (Binary(a) | VarBinary(a), Binary(b) | VarBinary(b)) => VarBinary(*a.max(b)),
        (Time(a), Time(b)) => Time(*a.max(b)),
        (Timestamp(a), Timestamp(b)) => Timestamp(*a.max(b)),
        (TimestampLtz(a), Timestamp(b)) if holds == Holds::ByPlace => Timestamp(*a.max(b)),
        (TimestampLtz(a) | Timestamp(a), TimestampLtz(b) | Timestamp(b)) => TimestampLtz(*a.max(b)),
        (Date, other @ (Timestamp(_) | TimestampLtz(_))) | (other @ (Timestamp(_) | TimestampLtz(_)), Date) => {
            other.clone()
        }
        (LogicalType::Array(a), LogicalType::Array(b)) => LogicalType::Array(Box::new(merge_elements(a, b, holds)?)),
        (Multiset(a), Multiset(b)) => Multiset(Box::new(merge_elements(a, b, holds)?)),
        (Map(k1, v1), Map(k2, v2)) => {
            Map(Box::new(merge_elements(k1, k2, holds)?), Box::new(merge_elements(v1, v2, holds)?))
        }
        (Row(a), Row(b)) if a.len() == b.len() => Row(a
            .iter()
            .zip(b)
            .map(|((name, a), (_, b))| Some((name.clone(), merge_elements(a, b, holds)?)))
            .collect::<Option<_>>()?),
        _ => return None,
    })
}

fn merge_elements(left: &SqlType, right: &SqlType, holds: Holds) -> Option<SqlType> {
    merge_all(&[left.clone(), right.clone()], holds)
}

fn merge_numbers(left: &LogicalType, right: &LogicalType, holds: Holds) -> Option<LogicalType> {
    let decimal = |logical: &LogicalType| matches!(logical, Decimal { .. });
    Some(match (left, right) {
        (Float, Double) if holds == Holds::ByPlace => Float,
        (Double, _) | (_, Double) => Double,
        (Float, other) | (other, Float) => {
            if decimal(other) {
                Double
            } else {
                Float
            }
        }
        (l, r) if decimal(l) || decimal(r) => {
            let ((p1, s1), (p2, s2)) = (exact_digits(l)?, exact_digits(r)?);
            // Digits before the point are kept before those after it.
            let whole = (p1 - s1).max(p2 - s2);
            let scale = s1.max(s2).min(PRECISION_MAX - whole);
            Decimal { precision: whole + scale, scale }
        }
        (l, r) => if integer_rank(l) >= integer_rank(r) { l } else { r }.clone(),
    })
}

#[cfg(test)]
#[path = "types_tests.rs"]
mod tests;
