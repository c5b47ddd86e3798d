//! `+ - * / %` and unary minus on numbers. Integers wrap, decimals are exact and NULL on overflow, and dividing
//! integers or decimals by zero fails.

use super::intervals;
use crate::call::{Call, Signature, binary, try_binary};
use crate::codes;
use crate::decimal::{self, PRECISION_MAX, pow10, pow10_wide};
use crate::types::{exact_digits, integer_rank};
use arrow::array::*;
use arrow::datatypes::*;
use base::{Error, LogicalType, Result, SqlType};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

use Operator::*;

macro_rules! operator {
    ($type_name:ident, $evaluate_name:ident, $operator:expr) => {
        pub(crate) fn $type_name(signature: &Signature) -> Result<SqlType> {
            return_type($operator, signature)
        }
        pub(crate) fn $evaluate_name(call: &Call) -> Result<ArrayRef> {
            evaluate($operator, call)
        }
    };
}

operator!(add_type, add, Add);
operator!(subtract_type, subtract, Subtract);
operator!(multiply_type, multiply, Multiply);
operator!(divide_type, divide, Divide);
operator!(modulo_type, modulo, Modulo);

fn return_type(operator: Operator, signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    let (left, right) = (signature.logical(0), signature.logical(1));
    let approximate = |logical: &LogicalType| matches!(logical, LogicalType::Float | LogicalType::Double);
    if operator == Operator::Modulo && (approximate(left) || approximate(right)) {
        return Err(signature.error_because("the remainder is defined for exact numbers only"));
    }
    let logical = match (left, right) {
        (LogicalType::Null, LogicalType::Null) => None,
        (LogicalType::Null, other) | (other, LogicalType::Null) if other.is_numeric() => {
            number_type(operator, other, other)
        }
        (l, r) if l.is_numeric() && r.is_numeric() => number_type(operator, l, r),
        (l, r) => intervals::result_type(operator, l, r),
    };
    match logical {
        Some(logical) => signature.strict(logical),
        None => Err(signature.error()),
    }
}

/// Cuts a precision over 38 to 38, at the cost of digits after the point beyond 6.
fn adjusted(precision: i32, scale: i32) -> LogicalType {
    let max = i32::from(PRECISION_MAX);
    let (precision, scale) = if precision <= max {
        (precision, scale)
    } else {
        let whole_digits = precision - scale;
        (max, (max - whole_digits).max(scale.min(6)))
    };
    LogicalType::Decimal { precision: precision.max(1) as u8, scale: scale as u8 }
}

fn number_type(operator: Operator, left: &LogicalType, right: &LogicalType) -> Option<LogicalType> {
    use LogicalType::{Decimal, Double, Float};
    let is_decimal = |logical: &LogicalType| matches!(logical, Decimal { .. });
    if matches!(left, Float | Double) || matches!(right, Float | Double) {
        if (left, right) == (&Float, &Double) {
            // Neither is wider for Flink: the first one holds.
            return Some(Float);
        }
        let wide = [left, right].iter().any(|logical| **logical == Double || is_decimal(logical));
        return Some(if wide { Double } else { Float });
    }
    if integer_rank(left) > 0 && integer_rank(right) > 0 {
        // The remainder has the divisor's type.
        let left_wins = operator != Modulo && integer_rank(left) >= integer_rank(right);
        return Some(if left_wins { left } else { right }.clone());
    }
    let ((p1, s1), (p2, s2)) = (exact_digits(left)?, exact_digits(right)?);
    let (p1, s1, p2, s2) = (i32::from(p1), i32::from(s1), i32::from(p2), i32::from(s2));
    let scale = s1.max(s2);
    Some(match operator {
        Add | Subtract => adjusted((p1 - s1).max(p2 - s2) + scale + 1, scale),
        Multiply => adjusted(p1 + p2 + 1, s1 + s2),
        Divide => {
            let scale = (s1 + p2 + 1).max(6);
            adjusted(p1 - s1 + s2 + scale, scale)
        }
        // The divisor's type, as for integers.
        Modulo if scale == 0 => right.clone(),
        Modulo => adjusted((p1 - s1).min(p2 - s2) + scale, scale),
    })
}

fn evaluate(operator: Operator, call: &Call) -> Result<ArrayRef> {
    let (left, right) = (&call.types[0].logical, &call.types[1].logical);
    if *left == LogicalType::Null || *right == LogicalType::Null {
        return Ok(call.nulls());
    }
    if !left.is_numeric() || !right.is_numeric() {
        return intervals::evaluate(operator, call);
    }
    match &call.result.logical {
        LogicalType::Float => native::<Float32Type>(operator, call, &call.result.logical),
        LogicalType::Double => native::<Float64Type>(operator, call, &call.result.logical),
        result @ LogicalType::Decimal { .. } => decimals(operator, call, result),
        result if integer_rank(left) == 0 => {
            // The remainder of a DECIMAL without digits after the point.
            let digits = LogicalType::Decimal { precision: PRECISION_MAX, scale: 0 };
            let out = decimals(operator, call, &digits)?;
            crate::cast::cast(&out, &digits.nullable(), &result.clone().nullable(), false, call.context)
        }
        result => {
            let wide = if integer_rank(left) >= integer_rank(right) { left } else { right };
            let out = match wide {
                LogicalType::TinyInt => native::<Int8Type>(operator, call, wide),
                LogicalType::SmallInt => native::<Int16Type>(operator, call, wide),
                LogicalType::Int => native::<Int32Type>(operator, call, wide),
                _ => native::<Int64Type>(operator, call, wide),
            }?;
            if wide == result {
                return Ok(out);
            }
            // Only a remainder is narrower than its dividend, and it fits the divisor's type.
            let (from, to) = (wide.clone().nullable(), result.clone().nullable());
            crate::cast::cast(&out, &from, &to, false, call.context)
        }
    }
}

pub(crate) fn division_by_zero() -> Error {
    Error::new(&codes::DIVISION_BY_ZERO, &[])
}

fn native<T: ArrowPrimitiveType>(operator: Operator, call: &Call, logical: &LogicalType) -> Result<ArrayRef> {
    let (left, right) = (call.cast(0, logical)?, call.cast(1, logical)?);
    let (left, right) = (left.as_primitive::<T>(), right.as_primitive::<T>());
    let (rows, data_type) = (call.rows, logical.arrow());
    macro_rules! wrapping {
        ($op:ident) => {
            binary::<T, T, T>(left, right, rows, &data_type, |l, r| l.$op(r))
        };
    }
    match operator {
        Add => wrapping!(add_wrapping),
        Subtract => wrapping!(sub_wrapping),
        Multiply => wrapping!(mul_wrapping),
        Divide if T::DATA_TYPE.is_floating() => wrapping!(div_wrapping),
        Modulo if T::DATA_TYPE.is_floating() => wrapping!(mod_wrapping),
        Divide | Modulo => {
            let divide = operator == Divide;
            // Rows without a value can hold a zero, so only a constant divisor is checked once.
            if right.len() == 1 && rows != 1 && right.is_valid(0) && !right.value(0).is_zero() {
                return if divide { wrapping!(div_wrapping) } else { wrapping!(mod_wrapping) };
            }
            try_binary::<T, T, T>(left, right, rows, &data_type, |l, r| {
                if r.is_zero() {
                    return Err(division_by_zero());
                }
                Ok(Some(if divide { l.div_wrapping(r) } else { l.mod_wrapping(r) }))
            })
        }
    }
}

/// One side of a decimal operation.
struct Side {
    values: Decimal128Array,
    precision: u8,
    scale: u8,
}

fn side(call: &Call, index: usize) -> Result<Side> {
    let (precision, scale) = exact_digits(&call.types[index].logical)
        .ok_or_else(|| Error::internal(format!("{} is not an exact number", call.types[index])))?;
    let array = call.cast(index, &LogicalType::Decimal { precision, scale })?;
    Ok(Side { values: array.as_primitive::<Decimal128Type>().clone(), precision, scale })
}

fn decimals(operator: Operator, call: &Call, result: &LogicalType) -> Result<ArrayRef> {
    let (left, right) = (side(call, 0)?, side(call, 1)?);
    let rows = call.rows;
    let data_type = result.arrow();
    let (precision, scale) = exact_digits(result).unwrap_or((PRECISION_MAX, 0));
    let common = left.scale.max(right.scale);
    let (up_left, up_right) = (pow10(common - left.scale), pow10(common - right.scale));
    type D = Decimal128Type;
    // Without a cut precision the type has room for every result, in 128 bits too.
    let exact = precision < PRECISION_MAX;
    match operator {
        Add | Subtract if exact => {
            // What is below a NULL can be any number.
            let up_right = if operator == Add { up_right } else { -up_right };
            binary::<D, D, D>(&left.values, &right.values, rows, &data_type, |l, r| {
                l.wrapping_mul(up_left).wrapping_add(r.wrapping_mul(up_right))
            })
        }
        Multiply if exact => binary::<D, D, D>(&left.values, &right.values, rows, &data_type, |l, r| l.wrapping_mul(r)),
        Add | Subtract | Multiply => try_binary::<D, D, D>(&left.values, &right.values, rows, &data_type, |l, r| {
            let (l, r) = (i256::from_i128(l), i256::from_i128(r));
            let (value, from) = if operator == Multiply {
                (l.wrapping_mul(r), left.scale + right.scale)
            } else {
                let l = l.wrapping_mul(i256::from_i128(up_left));
                let r = r.wrapping_mul(i256::from_i128(up_right));
                (if operator == Add { l.wrapping_add(r) } else { l.wrapping_sub(r) }, common)
            };
            Ok(decimal::narrow(decimal::rescale_wide(value, u32::from(from), u32::from(scale)), precision))
        }),
        Divide => divide_decimals(&left, &right, rows, &data_type, precision, scale),
        Modulo => try_binary::<D, D, D>(&left.values, &right.values, rows, &data_type, |l, r| {
            if r == 0 {
                return Err(division_by_zero());
            }
            let l = i256::from_i128(l).wrapping_mul(i256::from_i128(up_left));
            let r = i256::from_i128(r).wrapping_mul(i256::from_i128(up_right));
            let rest = decimal::rescale_wide(l.wrapping_rem(r), u32::from(common), u32::from(scale));
            Ok(decimal::narrow(rest, precision))
        }),
    }
}

fn divide_decimals(
    left: &Side,
    right: &Side,
    rows: usize,
    data_type: &DataType,
    precision: u8,
    scale: u8,
) -> Result<ArrayRef> {
    type D = Decimal128Type;
    // l / 10^s1 over r / 10^s2 with `scale` digits is l * 10^(scale + s2 - s1) / r.
    let shift = i32::from(scale) + i32::from(right.scale) - i32::from(left.scale);
    if (0..=38 - i32::from(left.precision)).contains(&shift) {
        let factor = pow10(shift as u8);
        return try_binary::<D, D, D>(&left.values, &right.values, rows, data_type, |l, r| {
            if r == 0 {
                return Err(division_by_zero());
            }
            let value = decimal::div_half_up(l.wrapping_mul(factor), r);
            Ok(decimal::fits(value, precision).then_some(value))
        });
    }
    let factor = pow10_wide(shift.unsigned_abs());
    try_binary::<D, D, D>(&left.values, &right.values, rows, data_type, |l, r| {
        if r == 0 {
            return Err(division_by_zero());
        }
        let (l, r) = (i256::from_i128(l), i256::from_i128(r));
        let value = if shift >= 0 {
            decimal::div_half_up_wide(l.wrapping_mul(factor), r)
        } else {
            decimal::div_half_up_wide(l, r.wrapping_mul(factor))
        };
        Ok(decimal::narrow(value, precision))
    })
}

pub(crate) fn negate_type(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.check(0, |logical| {
        logical.is_numeric() || matches!(logical, LogicalType::IntervalDayTime | LogicalType::IntervalYearMonth)
    })?;
    Ok(signature.sql_type(0).clone())
}

pub(crate) fn negate(call: &Call) -> Result<ArrayRef> {
    if matches!(call.result.logical, LogicalType::IntervalDayTime | LogicalType::IntervalYearMonth) {
        return intervals::negate(call);
    }
    let array = call.full(0)?;
    macro_rules! negated {
        ($($pattern:pat => $type:ty),*) => {
            match array.data_type() {
                $($pattern => {
                    let out: PrimitiveArray<$type> =
                        array.as_primitive::<$type>().unary(|value| value.neg_wrapping());
                    Ok(std::sync::Arc::new(out.with_data_type(array.data_type().clone())))
                })*
                DataType::Null => Ok(array),
                other => Err(Error::internal(format!("unary minus of {other}"))),
            }
        };
    }
    negated!(
        DataType::Int8 => Int8Type,
        DataType::Int16 => Int16Type,
        DataType::Int32 => Int32Type,
        DataType::Int64 => Int64Type,
        DataType::Float32 => Float32Type,
        DataType::Float64 => Float64Type,
        DataType::Decimal128(..) => Decimal128Type
    )
}
