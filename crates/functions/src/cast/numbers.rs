//! Casts to numbers: integers wrap, doubles saturate, decimals round half up and give NULL when they overflow.

use super::{Cast, parse};
use crate::decimal;
use arrow::array::*;
use arrow::datatypes::*;
use base::LogicalType::{self, BigInt, Boolean, Decimal, Double, Float, Int, SmallInt, TinyInt};
use base::{Error, Result, SqlType};
use std::sync::Arc;

pub(super) fn to_number(cast: &Cast, array: &ArrayRef) -> Result<ArrayRef> {
    if cast.from.logical.is_string() {
        return from_text(cast, array);
    }
    match &cast.to.logical {
        TinyInt => to_integer::<Int8Type>(cast, array, |value| value as i8, |value| value as i32 as i8),
        SmallInt => to_integer::<Int16Type>(cast, array, |value| value as i16, |value| value as i32 as i16),
        Int => to_integer::<Int32Type>(cast, array, |value| value as i32, |value| value as i32),
        BigInt => to_integer::<Int64Type>(cast, array, |value| value, |value| value as i64),
        Float => to_float(cast, array),
        Double => to_double(cast, array),
        Decimal { precision, scale } => to_decimal(cast, array, *precision, *scale),
        other => Err(Error::internal(format!("{other} is not a number"))),
    }
}

fn no_source(cast: &Cast) -> Error {
    Error::internal(format!("no cast from {} to {}", cast.from, cast.to))
}

/// `from_long` wraps and `from_double` saturates, both as Java's conversions.
fn to_integer<T: ArrowPrimitiveType>(
    cast: &Cast,
    array: &ArrayRef,
    from_long: fn(i64) -> T::Native,
    from_double: fn(f64) -> T::Native,
) -> Result<ArrayRef> {
    macro_rules! from {
        ($type:ty) => {
            array.as_primitive::<$type>().unary::<_, T>(|value| from_long(i64::from(value)))
        };
    }
    let out: PrimitiveArray<T> = match &cast.from.logical {
        TinyInt => from!(Int8Type),
        SmallInt => from!(Int16Type),
        Int => from!(Int32Type),
        BigInt => from!(Int64Type),
        Float => array.as_primitive::<Float32Type>().unary(|value| from_double(f64::from(value))),
        Double => array.as_primitive::<Float64Type>().unary(from_double),
        Decimal { scale, .. } => {
            let unit = decimal::pow10(*scale);
            array.as_primitive::<Decimal128Type>().unary(|value| from_long((value / unit) as i64))
        }
        Boolean => booleans(array, from_long(1), from_long(0)),
        _ => return Err(no_source(cast)),
    };
    Ok(Arc::new(out))
}

fn booleans<T: ArrowPrimitiveType>(array: &ArrayRef, one: T::Native, zero: T::Native) -> PrimitiveArray<T> {
    array.as_boolean().iter().map(|value| value.map(|value| if value { one } else { zero })).collect()
}

fn to_float(cast: &Cast, array: &ArrayRef) -> Result<ArrayRef> {
    let out: Float32Array = match &cast.from.logical {
        TinyInt => array.as_primitive::<Int8Type>().unary(f32::from),
        SmallInt => array.as_primitive::<Int16Type>().unary(f32::from),
        Int => array.as_primitive::<Int32Type>().unary(|value| value as f32),
        BigInt => array.as_primitive::<Int64Type>().unary(|value| value as f32),
        Double => array.as_primitive::<Float64Type>().unary(|value| value as f32),
        Decimal { scale, .. } => {
            array.as_primitive::<Decimal128Type>().unary(|value| decimal::to_double(value, *scale) as f32)
        }
        Boolean => booleans(array, 1.0, 0.0),
        _ => return Err(no_source(cast)),
    };
    Ok(Arc::new(out))
}

fn to_double(cast: &Cast, array: &ArrayRef) -> Result<ArrayRef> {
    let out: Float64Array = match &cast.from.logical {
        TinyInt => array.as_primitive::<Int8Type>().unary(f64::from),
        SmallInt => array.as_primitive::<Int16Type>().unary(f64::from),
        Int => array.as_primitive::<Int32Type>().unary(f64::from),
        BigInt => array.as_primitive::<Int64Type>().unary(|value| value as f64),
        Float => array.as_primitive::<Float32Type>().unary(f64::from),
        Decimal { scale, .. } => {
            array.as_primitive::<Decimal128Type>().unary(|value| decimal::to_double(value, *scale))
        }
        Boolean => booleans(array, 1.0, 0.0),
        _ => return Err(no_source(cast)),
    };
    Ok(Arc::new(out))
}

fn to_decimal(cast: &Cast, array: &ArrayRef, precision: u8, scale: u8) -> Result<ArrayRef> {
    macro_rules! from {
        ($type:ty) => {
            array
                .as_primitive::<$type>()
                .unary_opt::<_, Decimal128Type>(|value| decimal::rescale(i128::from(value), 0, scale, precision))
        };
    }
    let out: Decimal128Array = match &cast.from.logical {
        TinyInt => from!(Int8Type),
        SmallInt => from!(Int16Type),
        Int => from!(Int32Type),
        BigInt => from!(Int64Type),
        Float => array
            .as_primitive::<Float32Type>()
            .unary_opt(|value| decimal::from_double(f64::from(value), precision, scale)),
        Double => array.as_primitive::<Float64Type>().unary_opt(|value| decimal::from_double(value, precision, scale)),
        Decimal { scale: from, .. } => {
            array.as_primitive::<Decimal128Type>().unary_opt(|value| decimal::rescale(value, *from, scale, precision))
        }
        Boolean => {
            let one = decimal::rescale(1, 0, scale, precision);
            array.as_boolean().iter().map(|value| value.and_then(|value| if value { one } else { Some(0) })).collect()
        }
        _ => return Err(no_source(cast)),
    };
    Ok(Arc::new(out.with_data_type(cast.to.arrow())))
}

fn from_text(cast: &Cast, array: &ArrayRef) -> Result<ArrayRef> {
    macro_rules! parsed {
        ($type:ty, $native:ty, $parse:expr) => {{
            let mut out = PrimitiveBuilder::<$type>::with_capacity(array.len()).with_data_type(cast.to.arrow());
            cast.parse_texts(array, $parse, |value| out.append_option(value.map(|value| value as $native)))?;
            Ok(Arc::new(out.finish()))
        }};
    }
    match &cast.to.logical {
        TinyInt => parsed!(Int8Type, i8, |text| parse::integer(text, i8::MIN.into(), i8::MAX.into())),
        SmallInt => parsed!(Int16Type, i16, |text| parse::integer(text, i16::MIN.into(), i16::MAX.into())),
        Int => parsed!(Int32Type, i32, |text| parse::integer(text, i32::MIN.into(), i32::MAX.into())),
        BigInt => parsed!(Int64Type, i64, |text| parse::integer(text, i64::MIN, i64::MAX)),
        Float => parsed!(Float32Type, f32, |text: &str| {
            let trimmed = text.trim().trim_end_matches(['d', 'D', 'f', 'F']);
            // Reading a float through a double would round twice.
            match trimmed.parse::<f32>() {
                Ok(value) if parse::double(text).is_ok_and(f64::is_finite) => Ok(value),
                _ => parse::double(text).map(|value| value as f32),
            }
        }),
        Double => parsed!(Float64Type, f64, parse::double),
        Decimal { precision, scale } => parsed!(Decimal128Type, i128, |text| {
            decimal::parse(text, *precision, *scale).map_err(|bad| match bad {
                decimal::Bad::Empty => "the text is empty",
                decimal::Bad::Character => "it is not a number",
                decimal::Bad::Overflow => "the number has too many digits",
            })
        }),
        _ => Err(no_source(cast)),
    }
}

/// BOOLEAN of a number.
pub(super) fn is_not_zero(from: &SqlType, array: &ArrayRef) -> Result<ArrayRef> {
    fn test<T: ArrowPrimitiveType>(array: &ArrayRef) -> ArrayRef {
        let array = array.as_primitive::<T>();
        Arc::new(BooleanArray::from_unary(array, |value| value != T::Native::default()))
    }
    Ok(match &from.logical {
        TinyInt => test::<Int8Type>(array),
        SmallInt => test::<Int16Type>(array),
        Int => test::<Int32Type>(array),
        BigInt => test::<Int64Type>(array),
        Float => test::<Float32Type>(array),
        Double => test::<Float64Type>(array),
        Decimal { .. } => test::<Decimal128Type>(array),
        other => return Err(Error::internal(format!("no cast from {} to BOOLEAN", LogicalType::clone(other)))),
    })
}
