//! State columns of numbers, and the number types that SUM and AVG add up.

use crate::decimal::{div_half_up_wide, narrow, pow10_wide, to_double};
use arrow::array::*;
use arrow::datatypes::*;
use base::function::Merging;
use base::{Error, LogicalType, Result};
use std::fmt::Debug;
use std::sync::Arc;

pub(super) fn bigint_field(name: &str) -> FieldRef {
    LogicalType::BigInt.not_null().arrow_field(name)
}

pub(super) fn save_longs(values: &[i64], slots: &[u32]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(slots.iter().map(|slot| values[*slot as usize])))
}

pub(super) fn load_longs(slots: &[u32], column: &ArrayRef, mut set: impl FnMut(usize, i64)) -> Result<()> {
    let values = column.as_primitive::<Int64Type>().values();
    for (slot, value) in slots.iter().zip(values) {
        set(*slot as usize, *value);
    }
    Ok(())
}

/// Numbers of any type in double precision.
pub(super) fn doubles(array: &ArrayRef, logical: &LogicalType) -> Result<Float64Array> {
    Ok(match logical {
        LogicalType::TinyInt => array.as_primitive::<Int8Type>().unary(f64::from),
        LogicalType::SmallInt => array.as_primitive::<Int16Type>().unary(f64::from),
        LogicalType::Int => array.as_primitive::<Int32Type>().unary(f64::from),
        LogicalType::BigInt => array.as_primitive::<Int64Type>().unary(|value| value as f64),
        LogicalType::Float => array.as_primitive::<Float32Type>().unary(f64::from),
        LogicalType::Double => array.as_primitive::<Float64Type>().clone(),
        LogicalType::Decimal { scale, .. } => {
            array.as_primitive::<Decimal128Type>().unary(|value| to_double(value, *scale))
        }
        other => return Err(Error::internal(format!("a double of {other}"))),
    })
}

/// How values of one Arrow type are added up.
pub(super) trait Number: Send + Debug + 'static {
    /// The type of the argument.
    type In: ArrowPrimitiveType;
    /// The type of the result.
    type Out: ArrowPrimitiveType;
    /// The sum.
    type Sum: Copy + Default + Send + Debug;

    /// Whether sums of parts make the same sum.
    const MERGING: Merging;

    fn add(sum: &mut Self::Sum, value: <Self::In as ArrowPrimitiveType>::Native);
    fn subtract(sum: &mut Self::Sum, value: <Self::In as ArrowPrimitiveType>::Native);
    fn combine(sum: &mut Self::Sum, other: Self::Sum);
    /// The reverse of [`Number::combine`], if that is exact.
    fn take_away(sum: &mut Self::Sum, other: Self::Sum);
    fn total(sum: Self::Sum) -> Option<<Self::Out as ArrowPrimitiveType>::Native>;
    /// The sum over `count`, with `digits` more digits after the point if the type has a scale.
    fn average(sum: Self::Sum, count: i64, digits: u8) -> Option<<Self::Out as ArrowPrimitiveType>::Native>;
    fn field(name: &str) -> FieldRef;
    fn save(sums: impl Iterator<Item = Self::Sum>) -> ArrayRef;
    fn load(column: &ArrayRef, row: usize) -> Self::Sum;
}

/// Integers are added in 64 bits, which wraps like any shorter sum.
#[derive(Debug)]
pub(super) struct Integer<T>(std::marker::PhantomData<T>);

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Number for Integer<$type> {
            type In = $type;
            type Out = $type;
            type Sum = i64;
            const MERGING: Merging = Merging::Exact;

            fn add(sum: &mut i64, value: <$type as ArrowPrimitiveType>::Native) {
                *sum = sum.wrapping_add(i64::from(value));
            }
            fn subtract(sum: &mut i64, value: <$type as ArrowPrimitiveType>::Native) {
                *sum = sum.wrapping_sub(i64::from(value));
            }
            fn combine(sum: &mut i64, other: i64) {
                *sum = sum.wrapping_add(other);
            }
            fn take_away(sum: &mut i64, other: i64) {
                *sum = sum.wrapping_sub(other);
            }
            fn total(sum: i64) -> Option<<$type as ArrowPrimitiveType>::Native> {
                Some(sum as _)
            }
            fn average(sum: i64, count: i64, _: u8) -> Option<<$type as ArrowPrimitiveType>::Native> {
                Some(sum.wrapping_div(count) as _)
            }
            fn field(name: &str) -> FieldRef {
                bigint_field(name)
            }
            fn save(sums: impl Iterator<Item = i64>) -> ArrayRef {
                Arc::new(Int64Array::from_iter_values(sums))
            }
            fn load(column: &ArrayRef, row: usize) -> i64 {
                column.as_primitive::<Int64Type>().value(row)
            }
        }
    )*};
}

integer!(Int8Type, Int16Type, Int32Type, Int64Type);

/// SUM of FLOAT and DOUBLE in their own precision.
#[derive(Debug)]
pub(super) struct Floating<T>(std::marker::PhantomData<T>);
/// AVG of FLOAT, which is added up in double precision.
#[derive(Debug)]
pub(super) struct FloatAverage;

macro_rules! floating {
    ($name:ty, $in:ty, $sum:ty, $state:ty, $logical:expr) => {
        impl Number for $name {
            type In = $in;
            type Out = $in;
            type Sum = $sum;
            const MERGING: Merging = Merging::AnyOrder;

            fn add(sum: &mut $sum, value: <$in as ArrowPrimitiveType>::Native) {
                *sum += <$sum>::from(value);
            }
            fn subtract(sum: &mut $sum, value: <$in as ArrowPrimitiveType>::Native) {
                *sum -= <$sum>::from(value);
            }
            fn combine(sum: &mut $sum, other: $sum) {
                *sum += other;
            }
            fn take_away(sum: &mut $sum, other: $sum) {
                *sum -= other;
            }
            fn total(sum: $sum) -> Option<<$in as ArrowPrimitiveType>::Native> {
                Some(sum as _)
            }
            fn average(sum: $sum, count: i64, _: u8) -> Option<<$in as ArrowPrimitiveType>::Native> {
                Some((sum / count as $sum) as _)
            }
            fn field(name: &str) -> FieldRef {
                $logical.not_null().arrow_field(name)
            }
            fn save(sums: impl Iterator<Item = $sum>) -> ArrayRef {
                Arc::new(PrimitiveArray::<$state>::from_iter_values(sums))
            }
            fn load(column: &ArrayRef, row: usize) -> $sum {
                column.as_primitive::<$state>().value(row)
            }
        }
    };
}

floating!(Floating<Float32Type>, Float32Type, f32, Float32Type, LogicalType::Float);
floating!(Floating<Float64Type>, Float64Type, f64, Float64Type, LogicalType::Double);
floating!(FloatAverage, Float32Type, f64, Float64Type, LogicalType::Double);

/// A sum of decimals that is exact beyond 128 bits, so that a sum that overflowed comes back when rows are retracted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WideSum {
    low: i128,
    /// How often `low` wrapped, upwards positive.
    carry: i64,
}

/// The bytes of a [`WideSum`] in a state.
const WIDE_BYTES: usize = size_of::<i128>() + size_of::<i64>();

impl WideSum {
    fn to_bytes(self) -> [u8; WIDE_BYTES] {
        let mut bytes = [0; WIDE_BYTES];
        bytes[..size_of::<i128>()].copy_from_slice(&self.low.to_le_bytes());
        bytes[size_of::<i128>()..].copy_from_slice(&self.carry.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> WideSum {
        let (low, carry) = bytes.split_at(size_of::<i128>().min(bytes.len()));
        WideSum {
            low: low.try_into().map_or(0, i128::from_le_bytes),
            carry: carry.try_into().map_or(0, i64::from_le_bytes),
        }
    }

    fn wide(self) -> i256 {
        i256::from_i128(self.low).wrapping_add(i256::from_parts(0, i128::from(self.carry)))
    }

    fn subtract(&mut self, other: WideSum) {
        let (low, overflow) = self.low.overflowing_sub(other.low);
        self.low = low;
        if overflow {
            self.carry += if other.low < 0 { 1 } else { -1 };
        }
        self.carry -= other.carry;
    }

    fn add(&mut self, value: i128) {
        let (low, overflow) = self.low.overflowing_add(value);
        self.low = low;
        if overflow {
            self.carry += if value < 0 { -1 } else { 1 };
        }
    }
}

/// DECIMAL.
#[derive(Debug)]
pub(super) struct DecimalNumber;

impl Number for DecimalNumber {
    type In = Decimal128Type;
    type Out = Decimal128Type;
    type Sum = WideSum;
    const MERGING: Merging = Merging::Exact;

    fn add(sum: &mut WideSum, value: i128) {
        sum.add(value);
    }
    fn subtract(sum: &mut WideSum, value: i128) {
        sum.add(-value);
    }
    fn combine(sum: &mut WideSum, other: WideSum) {
        sum.add(other.low);
        sum.carry += other.carry;
    }
    fn take_away(sum: &mut WideSum, other: WideSum) {
        sum.subtract(other);
    }
    fn total(sum: WideSum) -> Option<i128> {
        narrow(sum.wide(), 38)
    }
    fn average(sum: WideSum, count: i64, digits: u8) -> Option<i128> {
        // Flink divides the sum as a DECIMAL(38, s), which an overflowed sum is not.
        let total = Self::total(sum)?;
        let scaled = i256::from_i128(total).wrapping_mul(pow10_wide(u32::from(digits)));
        narrow(div_half_up_wide(scaled, i256::from_i128(i128::from(count))), 38)
    }
    fn field(name: &str) -> FieldRef {
        Arc::new(Field::new(name, DataType::Binary, false))
    }
    fn save(sums: impl Iterator<Item = WideSum>) -> ArrayRef {
        let bytes: Vec<[u8; WIDE_BYTES]> = sums.map(WideSum::to_bytes).collect();
        Arc::new(BinaryArray::from_iter_values(bytes))
    }
    fn load(column: &ArrayRef, row: usize) -> WideSum {
        WideSum::from_bytes(column.as_binary::<i32>().value(row))
    }
}
