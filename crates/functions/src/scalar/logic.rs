//! AND, OR, NOT, the IS tests, and functions that choose among their arguments.

use super::compare::{Comparison, compare, is_ordered};
use crate::call::{Call, Signature};
use crate::types::{common_type, widest_type};
use arrow::array::*;
use arrow::compute::kernels::zip::zip;
use arrow::compute::{and_kleene, is_not_null, is_null, not, nullif, or_kleene};
use base::{LogicalType, Result, SqlType};
use std::sync::Arc;

pub(crate) fn boolean_result(signature: &Signature) -> Result<SqlType> {
    // Written as calls, the operators could have any number of arguments.
    signature.arity(if signature.function.name == "NOT" { 1..=1 } else { 2..=2 })?;
    for index in 0..signature.arguments.len() {
        signature.boolean(index)?;
    }
    signature.strict(LogicalType::Boolean)
}

fn booleans(call: &Call, index: usize) -> Result<BooleanArray> {
    let array = call.cast(index, &LogicalType::Boolean)?;
    Ok(crate::call::expand(&array, call.rows)?.as_boolean().clone())
}

pub(crate) fn and(call: &Call) -> Result<ArrayRef> {
    Ok(Arc::new(and_kleene(&booleans(call, 0)?, &booleans(call, 1)?)?))
}

pub(crate) fn or(call: &Call) -> Result<ArrayRef> {
    Ok(Arc::new(or_kleene(&booleans(call, 0)?, &booleans(call, 1)?)?))
}

pub(crate) fn negation(call: &Call) -> Result<ArrayRef> {
    Ok(Arc::new(not(&booleans(call, 0)?)?))
}

pub(crate) fn null_test_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    Ok(LogicalType::Boolean.not_null())
}

pub(crate) fn null_test(call: &Call) -> Result<ArrayRef> {
    let array = call.full(0)?;
    Ok(Arc::new(if call.name == "IS NULL" { is_null(&array)? } else { is_not_null(&array)? }))
}

pub(crate) fn truth_test_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.boolean(0)?;
    Ok(LogicalType::Boolean.not_null())
}

pub(crate) fn truth_test(call: &Call) -> Result<ArrayRef> {
    let array = booleans(call, 0)?;
    let (negated, wanted) = match call.name {
        "IS TRUE" => (false, Some(true)),
        "IS FALSE" => (false, Some(false)),
        "IS UNKNOWN" => (false, None),
        "IS NOT TRUE" => (true, Some(true)),
        "IS NOT FALSE" => (true, Some(false)),
        _ => (true, None),
    };
    Ok(Arc::new(BooleanArray::from_iter(array.iter().map(|value| Some((value == wanted) != negated)))))
}

/// A value of no type cannot be the result.
fn check_typed(signature: &Signature, common: &SqlType) -> Result<()> {
    if common.logical == LogicalType::Null {
        return Err(signature.error_because("NULL alone has no type; write CAST(NULL AS type)"));
    }
    Ok(())
}

pub(crate) fn coalesce_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=usize::MAX)?;
    let common = widest_type(&signature.types()).ok_or_else(|| signature.error())?;
    check_typed(signature, &common)?;
    let all_nullable = signature.arguments.iter().all(|argument| argument.sql_type.nullable);
    Ok(common.with_nullable(all_nullable))
}

pub(crate) fn coalesce(call: &Call) -> Result<ArrayRef> {
    let mut out = argument(call, 0)?;
    for index in 1..call.len() {
        if out.null_count() == 0 && *out.data_type() != arrow::datatypes::DataType::Null {
            break;
        }
        out = zip(&is_not_null(&out)?, &out, &argument(call, index)?)?;
    }
    Ok(out)
}

/// An argument as the type of the result, one value per row.
fn argument(call: &Call, index: usize) -> Result<ArrayRef> {
    crate::call::expand(&call.cast(index, &call.result.logical)?, call.rows)
}

pub(crate) fn if_null_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    // A value that is never NULL decides alone, unless the other one needs a wider type.
    let (value, other) = (signature.sql_type(0), signature.sql_type(1));
    if !value.nullable && (value.logical.is_string() && other.logical.is_string() || other.logical == LogicalType::Null)
    {
        return Ok(value.clone());
    }
    coalesce_result(signature)
}

pub(crate) fn if_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(3..=3)?;
    signature.boolean(0)?;
    let common = match (&signature.sql_type(1).logical, &signature.sql_type(2).logical) {
        // The first value's digits are those of the result.
        (first @ LogicalType::Timestamp(_), LogicalType::Timestamp(_))
        | (first @ LogicalType::TimestampLtz(_), LogicalType::TimestampLtz(_)) => first.clone().nullable(),
        _ => common_type(&signature.types()[1..]).ok_or_else(|| signature.error())?,
    };
    Ok(common.with_nullable(signature.any_nullable()))
}

pub(crate) fn if_then_else(call: &Call) -> Result<ArrayRef> {
    Ok(zip(&booleans(call, 0)?, &argument(call, 1)?, &argument(call, 2)?)?)
}

pub(crate) fn null_if_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    crate::types::comparison_type(signature.sql_type(0), signature.sql_type(1)).ok_or_else(|| signature.error())?;
    check_typed(signature, signature.sql_type(0))?;
    Ok(signature.sql_type(0).with_nullable(true))
}

pub(crate) fn null_if(call: &Call) -> Result<ArrayRef> {
    let sides = [(&call.arguments[0], &call.types[0]), (&call.arguments[1], &call.types[1])];
    let equal = compare(Comparison::Equal, sides, call.rows, call.context)?;
    Ok(nullif(&call.full(0)?, &equal)?)
}

pub(crate) fn extreme_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=usize::MAX)?;
    let common = widest_type(&signature.types()).ok_or_else(|| signature.error())?;
    check_typed(signature, &common)?;
    if is_ordered(&common.logical) { Ok(common) } else { Err(signature.error_because("the values have no order")) }
}

/// GREATEST and LEAST: NULL if an argument is NULL.
pub(crate) fn extreme(call: &Call) -> Result<ArrayRef> {
    let better = if call.name == "GREATEST" { Comparison::Greater } else { Comparison::Less };
    let mut out = argument(call, 0)?;
    for index in 1..call.len() {
        let next = argument(call, index)?;
        let wins = compare(better, [(&next, call.result), (&out, call.result)], call.rows, call.context)?;
        out = nullif(&zip(&wins, &next, &out)?, &is_null(&next)?)?;
    }
    Ok(out)
}
