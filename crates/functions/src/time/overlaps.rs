//! `(start, end or length) OVERLAPS (start, end or length)`.

use crate::call::{Call, Signature, expand};
use crate::scalar::arithmetic;
use crate::scalar::compare::{Comparison, compare};
use arrow::array::ArrayRef;
use arrow::compute::{and_kleene, kernels::zip::zip};
use base::LogicalType::{self, Date, IntervalDayTime, IntervalYearMonth, Time, Timestamp, TimestampLtz};
use base::{Result, SqlType};
use std::sync::Arc;

fn is_point(logical: &LogicalType) -> bool {
    matches!(logical, Date | Time(_) | Timestamp(_) | TimestampLtz(_))
}

fn is_length(logical: &LogicalType) -> bool {
    matches!(logical, IntervalDayTime | IntervalYearMonth)
}

pub(crate) fn result(signature: &Signature) -> Result<SqlType> {
    signature.arity(4..=4)?;
    for (index, starts) in [(0, true), (1, false), (2, true), (3, false)] {
        let logical = signature.logical(index);
        if !is_point(logical) && (starts || !is_length(logical)) {
            return Err(signature.error());
        }
    }
    let comparable = crate::types::comparison_type(signature.sql_type(0), signature.sql_type(2)).is_some();
    if comparable { signature.strict(LogicalType::Boolean) } else { Err(signature.error()) }
}

/// The first and the last point of a period; they come in any order.
fn period(call: &Call, start: usize) -> Result<([ArrayRef; 2], SqlType)> {
    let sql_type = call.types[start].with_nullable(true);
    let first = call.full(start)?;
    let last = if is_length(&call.types[start + 1].logical) {
        let types = [sql_type.clone(), call.types[start + 1].clone()];
        let arguments = [first.clone(), call.full(start + 1)?];
        let sum = Call { name: "+", arguments: &arguments, types: &types, result: &sql_type, ..*call };
        arithmetic::add(&sum)?
    } else {
        expand(&call.cast(start + 1, &sql_type.logical)?, call.rows)?
    };
    let swapped = compare(Comparison::Greater, [(&first, &sql_type), (&last, &sql_type)], call.rows, call.context)?;
    Ok(([zip(&swapped, &last, &first)?, zip(&swapped, &first, &last)?], sql_type))
}

/// Periods that only touch overlap.
pub(crate) fn evaluate(call: &Call) -> Result<ArrayRef> {
    let ([first_start, first_end], first) = period(call, 0)?;
    let ([second_start, second_end], second) = period(call, 2)?;
    let before = |a: &ArrayRef, a_type: &SqlType, b: &ArrayRef, b_type: &SqlType| {
        compare(Comparison::LessOrEqual, [(a, a_type), (b, b_type)], call.rows, call.context)
    };
    let starts = before(&first_start, &first, &second_end, &second)?;
    let ends = before(&second_start, &second, &first_end, &first)?;
    Ok(Arc::new(and_kleene(&starts, &ends)?))
}
