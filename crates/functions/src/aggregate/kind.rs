//! The value types that accumulators can keep: how a value leaves an Arrow column, is compared, hashed, and goes back.

use arrow::array::*;
use arrow::datatypes::*;
use arrow::row::{RowConverter, Rows, SortField};
use base::{Error, LogicalType, Result, SqlType};
use foldhash::fast::FixedState;
use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// Values of one SQL type, kept outside Arrow.
pub(super) trait Kind: Send + Debug + 'static {
    /// A kept value.
    type Value: Clone + Ord + Hash + Send + Debug;
    /// A column ready for access by row.
    type Column: Send;

    fn column(&self, array: &ArrayRef) -> Result<Self::Column>;
    fn get(column: &Self::Column, row: usize) -> Self::Value;
    fn compare(value: &Self::Value, column: &Self::Column, row: usize) -> Ordering;
    fn hash_row(column: &Self::Column, row: usize) -> u64;
    fn hash(value: &Self::Value) -> u64;
    fn build<'a>(&'a self, values: impl Iterator<Item = Option<&'a Self::Value>>) -> Result<ArrayRef>;
    fn heap_bytes(value: &Self::Value) -> usize;
}

/// The seed is fixed: a job that runs again keeps its sets in the same order.
pub(super) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    FixedState::with_seed(0x5165_7977_6174_6572).hash_one(value)
}

/// A native value with a total order.
pub(super) trait Ordered: Copy + Send + Debug + 'static {
    type Key: Copy + Ord + Hash + Send + Debug;
    fn key(self) -> Self::Key;
    fn native(key: Self::Key) -> Self;
}

macro_rules! ordered {
    ($($type:ty),*) => {$(
        impl Ordered for $type {
            type Key = $type;
            fn key(self) -> $type {
                self
            }
            fn native(key: $type) -> $type {
                key
            }
        }
    )*};
}

ordered!(i8, i16, i32, i64, i128);

macro_rules! ordered_float {
    ($float:ty, $bits:ty) => {
        impl Ordered for $float {
            type Key = $bits;
            fn key(self) -> $bits {
                // Negative numbers are in reverse order of their bits. -0.0 is a value of its own, as in GROUP BY.
                let bits = self.to_bits() as $bits;
                bits ^ (((bits >> (<$bits>::BITS - 1)) as $bits) & <$bits>::MAX)
            }
            fn native(key: $bits) -> $float {
                let bits = key ^ (((key >> (<$bits>::BITS - 1)) as $bits) & <$bits>::MAX);
                <$float>::from_bits(bits as _)
            }
        }
    };
}

ordered_float!(f32, i32);
ordered_float!(f64, i64);

/// Numbers, dates, times and intervals.
pub(super) struct Primitive<T> {
    data_type: DataType,
    marker: std::marker::PhantomData<fn() -> T>,
}

impl<T> Debug for Primitive<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Primitive({})", self.data_type)
    }
}

impl<T> Primitive<T> {
    pub fn new(sql_type: &SqlType) -> Self {
        Primitive { data_type: sql_type.arrow(), marker: std::marker::PhantomData }
    }
}

impl<T: ArrowPrimitiveType> Kind for Primitive<T>
where
    T::Native: Ordered,
{
    type Value = <T::Native as Ordered>::Key;
    type Column = PrimitiveArray<T>;

    fn column(&self, array: &ArrayRef) -> Result<Self::Column> {
        Ok(array.as_primitive::<T>().clone())
    }
    fn get(column: &Self::Column, row: usize) -> Self::Value {
        column.value(row).key()
    }
    fn compare(value: &Self::Value, column: &Self::Column, row: usize) -> Ordering {
        value.cmp(&column.value(row).key())
    }
    fn hash_row(column: &Self::Column, row: usize) -> u64 {
        hash_of(&column.value(row).key())
    }
    fn hash(value: &Self::Value) -> u64 {
        hash_of(value)
    }
    fn build<'a>(&'a self, values: impl Iterator<Item = Option<&'a Self::Value>>) -> Result<ArrayRef> {
        let array: PrimitiveArray<T> = values.map(|value| value.map(|value| T::Native::native(*value))).collect();
        Ok(Arc::new(array.with_data_type(self.data_type.clone())))
    }
    fn heap_bytes(_: &Self::Value) -> usize {
        0
    }
}

/// BOOLEAN.
#[derive(Debug)]
pub(super) struct Booleans;

impl Kind for Booleans {
    type Value = bool;
    type Column = BooleanArray;

    fn column(&self, array: &ArrayRef) -> Result<BooleanArray> {
        Ok(array.as_boolean().clone())
    }
    fn get(column: &BooleanArray, row: usize) -> bool {
        column.value(row)
    }
    fn compare(value: &bool, column: &BooleanArray, row: usize) -> Ordering {
        value.cmp(&column.value(row))
    }
    fn hash_row(column: &BooleanArray, row: usize) -> u64 {
        hash_of(&column.value(row))
    }
    fn hash(value: &bool) -> u64 {
        hash_of(value)
    }
    fn build<'a>(&'a self, values: impl Iterator<Item = Option<&'a bool>>) -> Result<ArrayRef> {
        Ok(Arc::new(BooleanArray::from_iter(values.map(|value| value.copied()))))
    }
    fn heap_bytes(_: &bool) -> usize {
        0
    }
}

/// CHAR, VARCHAR and STRING, in the order of their UTF-8 bytes.
#[derive(Debug)]
pub(super) struct Strings;

impl Kind for Strings {
    type Value = Box<str>;
    type Column = StringArray;

    fn column(&self, array: &ArrayRef) -> Result<StringArray> {
        Ok(array.as_string::<i32>().clone())
    }
    fn get(column: &StringArray, row: usize) -> Box<str> {
        column.value(row).into()
    }
    fn compare(value: &Box<str>, column: &StringArray, row: usize) -> Ordering {
        value.as_ref().cmp(column.value(row))
    }
    fn hash_row(column: &StringArray, row: usize) -> u64 {
        hash_of(column.value(row))
    }
    fn hash(value: &Box<str>) -> u64 {
        hash_of(value.as_ref())
    }
    fn build<'a>(&'a self, values: impl Iterator<Item = Option<&'a Box<str>>>) -> Result<ArrayRef> {
        Ok(Arc::new(StringArray::from_iter(values.map(|value| value.map(|value| value.as_ref())))))
    }
    fn heap_bytes(value: &Box<str>) -> usize {
        value.len()
    }
}

/// Any other type, in Arrow's row format, which keeps the order.
#[derive(Debug)]
pub(super) struct Encoded {
    converter: RowConverter,
    data_type: DataType,
}

impl Encoded {
    pub fn new(sql_type: &SqlType) -> Result<Self> {
        let data_type = sql_type.arrow();
        let field = SortField::new(data_type.clone());
        if !RowConverter::supports_fields(std::slice::from_ref(&field)) {
            return Err(Error::unsupported(format!("aggregates that keep values of {}", sql_type.logical)));
        }
        Ok(Encoded { converter: RowConverter::new(vec![field])?, data_type })
    }
}

impl Kind for Encoded {
    type Value = Box<[u8]>;
    type Column = Rows;

    fn column(&self, array: &ArrayRef) -> Result<Rows> {
        // Nested arrays may differ from the expected type in the metadata of their fields.
        let array = if *array.data_type() == self.data_type {
            array.clone()
        } else {
            arrow::compute::cast(array, &self.data_type)?
        };
        Ok(self.converter.convert_columns(&[array])?)
    }
    fn get(column: &Rows, row: usize) -> Box<[u8]> {
        column.row(row).data().into()
    }
    fn compare(value: &Box<[u8]>, column: &Rows, row: usize) -> Ordering {
        value.as_ref().cmp(column.row(row).data())
    }
    fn hash_row(column: &Rows, row: usize) -> u64 {
        hash_of(column.row(row).data())
    }
    fn hash(value: &Box<[u8]>) -> u64 {
        hash_of(value.as_ref())
    }
    fn build<'a>(&'a self, values: impl Iterator<Item = Option<&'a Box<[u8]>>>) -> Result<ArrayRef> {
        let parser = self.converter.parser();
        let null = self.converter.convert_columns(&[new_null_array(&self.data_type, 1)])?;
        let null: Box<[u8]> = null.row(0).data().into();
        let bytes: Vec<&[u8]> = values.map(|value| value.map_or(null.as_ref(), |value| value.as_ref())).collect();
        let mut arrays = self.converter.convert_rows(bytes.iter().map(|bytes| parser.parse(bytes)))?;
        arrays.pop().ok_or_else(|| Error::internal("the row format gave no column"))
    }
    fn heap_bytes(value: &Box<[u8]>) -> usize {
        value.len()
    }
}

/// Evaluates `$make` with `$kind` being the kind of `$sql_type`.
macro_rules! with_kind {
    ($sql_type:expr, $kind:ident => $make:expr) => {{
        use arrow::datatypes::*;
        use base::LogicalType as L;
        use $crate::aggregate::kind::{Booleans, Encoded, Primitive, Strings};
        let sql_type: &base::SqlType = $sql_type;
        macro_rules! primitive {
            ($type:ty) => {{
                let $kind = Primitive::<$type>::new(sql_type);
                $make
            }};
        }
        match &sql_type.logical {
            L::TinyInt => primitive!(Int8Type),
            L::SmallInt => primitive!(Int16Type),
            L::Int => primitive!(Int32Type),
            L::BigInt => primitive!(Int64Type),
            L::Float => primitive!(Float32Type),
            L::Double => primitive!(Float64Type),
            L::Decimal { .. } => primitive!(Decimal128Type),
            L::Date => primitive!(Date32Type),
            L::Time(_) => primitive!(Time32MillisecondType),
            L::Timestamp(p) | L::TimestampLtz(p) => match base::LogicalType::timestamp_unit(*p) {
                TimeUnit::Microsecond => primitive!(TimestampMicrosecondType),
                TimeUnit::Nanosecond => primitive!(TimestampNanosecondType),
                _ => primitive!(TimestampMillisecondType),
            },
            L::IntervalYearMonth => primitive!(IntervalYearMonthType),
            L::IntervalDayTime => primitive!(DurationMillisecondType),
            L::Boolean => {
                let $kind = Booleans;
                $make
            }
            L::Char(_) | L::VarChar(_) => {
                let $kind = Strings;
                $make
            }
            _ => {
                let $kind = Encoded::new(sql_type)?;
                $make
            }
        }
    }};
}

pub(super) use with_kind;

/// A column of lists, one per item of `lists`, of values that are NOT NULL unless `element` is nullable.
pub(super) fn build_lists<'a, K: Kind>(
    kind: &'a K,
    element: &SqlType,
    lists: impl Iterator<Item = impl Iterator<Item = Option<&'a K::Value>>>,
) -> Result<ArrayRef> {
    let mut flat = Vec::new();
    let mut lengths = Vec::new();
    for list in lists {
        let before = flat.len();
        flat.extend(list);
        lengths.push(flat.len() - before);
    }
    let values = kind.build(flat.into_iter())?;
    list_of(values, element, &lengths)
}

/// A list column from its flat values.
pub(super) fn list_of(values: ArrayRef, element: &SqlType, lengths: &[usize]) -> Result<ArrayRef> {
    let offsets = arrow::buffer::OffsetBuffer::from_lengths(lengths.iter().copied());
    Ok(Arc::new(ListArray::try_new(element.arrow_field("item"), offsets, values, None)?))
}

/// The state field of a list of values.
pub(super) fn list_field(name: &str, element: &SqlType) -> FieldRef {
    LogicalType::Array(Box::new(element.clone())).not_null().arrow_field(name)
}

/// The flat values of a list column and the range of one row.
pub(super) fn list_range(list: &ListArray, row: usize) -> std::ops::Range<usize> {
    let offsets = list.value_offsets();
    offsets[row] as usize..offsets[row + 1] as usize
}
