//! Mathematical functions.

use crate::call::{Call, Signature};
use crate::decimal;
use crate::types::exact_digits;
use arrow::array::*;
use arrow::datatypes::*;
use base::{Error, LogicalType, Result, SqlType};
use std::sync::Arc;

/// DOUBLE of numbers.
pub(crate) fn double_of_one(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.numeric(0)?;
    signature.strict(LogicalType::Double)
}

pub(crate) fn double_of_two(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    signature.numeric(0)?;
    signature.numeric(1)?;
    signature.strict(LogicalType::Double)
}

pub(crate) fn log_result(signature: &Signature) -> Result<SqlType> {
    if signature.arguments.len() == 1 { double_of_one(signature) } else { double_of_two(signature) }
}

pub(crate) fn constant_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(0..=0)?;
    Ok(LogicalType::Double.not_null())
}

pub(crate) fn constant(call: &Call) -> Result<ArrayRef> {
    let value = if call.name == "PI" { std::f64::consts::PI } else { std::f64::consts::E };
    Ok(Arc::new(Float64Array::from_value(value, call.rows)))
}

pub(crate) fn of_one(call: &Call) -> Result<ArrayRef> {
    let op: fn(f64) -> f64 = match call.name {
        "SQRT" => f64::sqrt,
        "EXP" => f64::exp,
        "LN" => f64::ln,
        "LOG10" => f64::log10,
        // As LOG(2, x): a quotient of logarithms.
        "LOG2" => |x| x.ln() / std::f64::consts::LN_2,
        "SIN" => f64::sin,
        "COS" => f64::cos,
        "TAN" => f64::tan,
        "COT" => |x| 1.0 / x.tan(),
        "ASIN" => f64::asin,
        "ACOS" => f64::acos,
        "ATAN" => f64::atan,
        "SINH" => f64::sinh,
        "COSH" => super::cosh::cosh,
        "TANH" => f64::tanh,
        "DEGREES" => f64::to_degrees,
        "RADIANS" => f64::to_radians,
        other => return Err(Error::internal(format!("{other} is not a function of one number"))),
    };
    let array = crate::call::expand(&call.cast(0, &LogicalType::Double)?, call.rows)?;
    Ok(Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>(op)))
}

pub(crate) fn of_two(call: &Call) -> Result<ArrayRef> {
    let op: fn(f64, f64) -> f64 = match call.name {
        "POWER" => f64::powf,
        "ATAN2" => f64::atan2,
        other => return Err(Error::internal(format!("{other} is not a function of two numbers"))),
    };
    let (left, right) = (call.cast(0, &LogicalType::Double)?, call.cast(1, &LogicalType::Double)?);
    crate::call::binary::<Float64Type, Float64Type, Float64Type>(
        left.as_primitive(),
        right.as_primitive(),
        call.rows,
        &DataType::Float64,
        op,
    )
}

/// `LOG(x)` is natural, `LOG(base, x)` has a base.
pub(crate) fn log(call: &Call) -> Result<ArrayRef> {
    let first = call.doubles(0)?;
    let second = if call.len() == 2 { Some(call.doubles(1)?) } else { None };
    call.map_values::<Float64Type>(|row| {
        let Some(first) = first.get(row) else { return Ok(None) };
        Ok(match &second {
            None => Some(first.ln()),
            Some(second) => second.get(row).map(|value| value.ln() / first.ln()),
        })
    })
}

pub(crate) fn same_number(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.numeric(0)?;
    Ok(signature.sql_type(0).clone())
}

/// Applies one of several operations to a number of any type, which keeps its type.
macro_rules! per_type {
    ($array:expr, $integer:expr, $float:expr, $double:expr, $decimal:expr) => {{
        let array: &ArrayRef = $array;
        macro_rules! integer {
            ($type:ty, $native:ty) => {
                Arc::new(array.as_primitive::<$type>().unary::<_, $type>(|value| $integer(i64::from(value)) as $native))
            };
        }
        let out: ArrayRef = match array.data_type() {
            DataType::Int8 => integer!(Int8Type, i8),
            DataType::Int16 => integer!(Int16Type, i16),
            DataType::Int32 => integer!(Int32Type, i32),
            DataType::Int64 => integer!(Int64Type, i64),
            DataType::Float32 => Arc::new(array.as_primitive::<Float32Type>().unary::<_, Float32Type>($float)),
            DataType::Float64 => Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>($double)),
            DataType::Decimal128(..) => {
                let out: Decimal128Array = array.as_primitive::<Decimal128Type>().unary($decimal);
                Arc::new(out.with_data_type(array.data_type().clone()))
            }
            DataType::Null => array.clone(),
            other => return Err(Error::internal(format!("{other} is not a number"))),
        };
        Ok(out)
    }};
}

pub(crate) fn abs(call: &Call) -> Result<ArrayRef> {
    per_type!(&call.full(0)?, |v: i64| v.wrapping_abs(), f32::abs, f64::abs, |v: i128| v.wrapping_abs())
}

pub(crate) fn sign(call: &Call) -> Result<ArrayRef> {
    let scale = scale_of(&call.types[0].logical);
    let one = decimal::pow10(scale);
    // Java's signum of zero is zero.
    let float = |v: f32| if v == 0.0 || v.is_nan() { v } else { v.signum() };
    let double = |v: f64| if v == 0.0 || v.is_nan() { v } else { v.signum() };
    per_type!(&call.full(0)?, |v: i64| v.signum(), float, double, |v: i128| v.signum() * one)
}

fn scale_of(logical: &LogicalType) -> u8 {
    exact_digits(logical).map_or(0, |(_, scale)| scale)
}

/// FLOOR and CEIL of a number keep its type, without a decimal's scale; with a unit they round times.
pub(crate) fn floor_result(signature: &Signature) -> Result<SqlType> {
    if signature.arguments.len() == 2 {
        return crate::time::rounding::result(signature);
    }
    let same = same_number(signature)?;
    Ok(match same.logical {
        LogicalType::Decimal { precision, .. } => {
            SqlType { logical: LogicalType::Decimal { precision, scale: 0 }, nullable: same.nullable }
        }
        _ => same,
    })
}

pub(crate) fn floor(call: &Call) -> Result<ArrayRef> {
    if call.len() == 2 {
        return crate::time::rounding::evaluate(call);
    }
    let up = call.name != "FLOOR";
    let array = call.full(0)?;
    if let LogicalType::Decimal { scale, .. } = call.types[0].logical {
        let unit = decimal::pow10(scale);
        let out: Decimal128Array = array.as_primitive::<Decimal128Type>().unary(|value| {
            let floor = value.div_euclid(unit);
            if up && floor * unit != value { floor + 1 } else { floor }
        });
        return Ok(Arc::new(out.with_data_type(call.result.arrow())));
    }
    let float = |v: f32| if up { v.ceil() } else { v.floor() };
    let double = |v: f64| if up { v.ceil() } else { v.floor() };
    per_type!(&array, |v: i64| v, float, double, |v: i128| v)
}

/// ROUND and TRUNCATE: a decimal has as many digits after the point as asked for.
pub(crate) fn round_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    signature.numeric(0)?;
    if signature.arguments.len() == 2 {
        signature.integer(1)?;
    }
    let LogicalType::Decimal { precision, scale } = *signature.logical(0) else {
        return signature.strict(signature.logical(0).clone());
    };
    let digits = match signature.arguments.get(1) {
        None => 0,
        Some(argument) => match &argument.constant {
            // The digits of each row are only known later.
            None => i64::from(scale),
            Some(array) => constant_integer(array).unwrap_or(0),
        },
    };
    let whole = precision - scale;
    let logical = match digits {
        digits if digits >= i64::from(scale) => LogicalType::Decimal { precision, scale },
        digits if digits < 0 => LogicalType::Decimal { precision: (whole + 1).min(38), scale: 0 },
        digits => LogicalType::Decimal { precision: (whole + 1 + digits as u8).min(38), scale: digits as u8 },
    };
    signature.strict(logical)
}

fn constant_integer(array: &ArrayRef) -> Option<i64> {
    if array.is_empty() || array.is_null(0) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Int8 => i64::from(array.as_primitive::<Int8Type>().value(0)),
        DataType::Int16 => i64::from(array.as_primitive::<Int16Type>().value(0)),
        DataType::Int32 => i64::from(array.as_primitive::<Int32Type>().value(0)),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(0),
        _ => return None,
    })
}

/// A decimal rounded to `digits` after (or before) the point, at its own scale.
fn round_decimal(value: i128, scale: u8, digits: i64, truncate: bool) -> i128 {
    let cut = i64::from(scale) - digits;
    if cut <= 0 {
        return value;
    }
    if cut > 38 {
        return 0;
    }
    let unit = decimal::pow10(cut as u8);
    let rounded = if truncate { value / unit } else { decimal::div_half_up(value, unit) };
    rounded.wrapping_mul(unit)
}

/// A double is rounded as the decimal that its text shows, so 1.005 becomes 1.01.
fn round_double(value: f64, digits: i64, truncate: bool) -> f64 {
    if !value.is_finite() || digits > 30 {
        return value;
    }
    let scale = digits.max(0) as u8 + 8;
    match decimal::from_double(value, 38, scale.min(38)) {
        // The text can have more digits than the scale; they must not be rounded twice.
        Some(_) if shortest_digits(value) > i64::from(scale) => round_long(value, digits, truncate),
        Some(unscaled) => decimal::to_double(round_decimal(unscaled, scale, digits, truncate), scale),
        None => value,
    }
}

/// Digits after the point of the shortest text.
fn shortest_digits(value: f64) -> i64 {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(value);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let digits = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
    digits - exponent.parse::<i64>().unwrap_or(0)
}

fn round_long(value: f64, digits: i64, truncate: bool) -> f64 {
    // The parser rounds half up in one step; truncating takes the step back.
    let scale = digits.clamp(0, 30) as u8;
    let Some(rounded) = decimal::from_double(value, 38, scale) else { return value };
    let exact = decimal::to_double(rounded, scale);
    if truncate && exact.abs() > value.abs() {
        return decimal::to_double(rounded - rounded.signum(), scale);
    }
    if digits < 0 { decimal::to_double(round_decimal(rounded, scale, digits, truncate), scale) } else { exact }
}

pub(crate) fn round(call: &Call) -> Result<ArrayRef> {
    let truncate = call.name == "TRUNCATE";
    let digits = if call.len() == 2 { Some(call.longs(1)?) } else { None };
    let digits = |row: usize| digits.as_ref().map_or(Some(0), |digits| digits.get(row));
    let array = call.full(0)?;
    macro_rules! integer {
        ($type:ty, $native:ty) => {{
            let values = array.as_primitive::<$type>();
            call.map_values::<$type>(|row| {
                let (true, Some(digits)) = (values.is_valid(row), digits(row)) else { return Ok(None) };
                Ok(Some(round_decimal(i128::from(values.value(row)), 0, digits, truncate) as $native))
            })
        }};
    }
    match array.data_type() {
        DataType::Null => Ok(call.nulls()),
        DataType::Int8 => integer!(Int8Type, i8),
        DataType::Int16 => integer!(Int16Type, i16),
        DataType::Int32 => integer!(Int32Type, i32),
        DataType::Int64 => integer!(Int64Type, i64),
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>();
            call.map_values::<Float32Type>(|row| {
                let (true, Some(digits)) = (values.is_valid(row), digits(row)) else { return Ok(None) };
                Ok(Some(round_double(f64::from(values.value(row)), digits, truncate) as f32))
            })
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            call.map_values::<Float64Type>(|row| {
                let (true, Some(digits)) = (values.is_valid(row), digits(row)) else { return Ok(None) };
                Ok(Some(round_double(values.value(row), digits, truncate)))
            })
        }
        DataType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>();
            let from = scale_of(&call.types[0].logical);
            let (precision, to) = exact_digits(&call.result.logical).unwrap_or((38, from));
            call.map_values::<Decimal128Type>(|row| {
                let (true, Some(digits)) = (values.is_valid(row), digits(row)) else { return Ok(None) };
                Ok(decimal::rescale(round_decimal(values.value(row), from, digits, truncate), from, to, precision))
            })
        }
        other => Err(Error::internal(format!("{other} is not a number"))),
    }
}
