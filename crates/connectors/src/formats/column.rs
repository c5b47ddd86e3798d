//! Columns that grow while records are decoded.
//!
//! Unlike Arrow's builders they can be cut back, which is how a failed record, a bad field and a repeated key are undone.

use super::value::{self, DateCache, TimestampFailure, TimestampShape, TimestampStandard};
use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::*;
use base::{Error, LogicalType, Result, SqlType};
use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::mem;
use std::sync::Arc;

/// Base64 as Java's decoders read it: padding may be missing and stray last bits are ignored.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Why a column did not take a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The value is not of the column's type.
    Value,
    /// It is a timestamp in the other standard.
    OtherStandard,
    /// It is NULL and the column is NOT NULL.
    Null,
    /// It no longer fits into the batch.
    TooLong,
}

impl From<TimestampFailure> for Refusal {
    fn from(failure: TimestampFailure) -> Refusal {
        match failure {
            TimestampFailure::Bad => Refusal::Value,
            TimestampFailure::OtherStandard => Refusal::OtherStandard,
        }
    }
}

/// The rules of a format for values written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRules {
    /// Strings in JSON.
    Json,
    /// Fields of CSV: dates and times may be looser.
    Csv,
}

/// Strings of bytes behind each other.
#[derive(Debug)]
pub struct Bytes {
    /// Where each one begins, and the end of the last.
    offsets: Vec<i32>,
    data: Vec<u8>,
}

impl Bytes {
    fn new() -> Bytes {
        Bytes { offsets: vec![0], data: Vec::new() }
    }

    /// Appends a copy of `bytes`.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let end = i32::try_from(self.data.len() + bytes.len()).map_err(|_| Refusal::TooLong)?;
        self.data.extend_from_slice(bytes);
        self.offsets.push(end);
        Ok(())
    }

    /// Appends what `write` appends to the bytes; nothing if it fails.
    pub fn push_with<E: From<Refusal>>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let start = self.data.len();
        let end =
            write(&mut self.data).and_then(|()| i32::try_from(self.data.len()).map_err(|_| E::from(Refusal::TooLong)));
        match end {
            Ok(end) => {
                self.offsets.push(end);
                Ok(())
            }
            Err(error) => {
                self.data.truncate(start);
                Err(error)
            }
        }
    }

    /// One of the strings.
    pub fn get(&self, index: usize) -> &[u8] {
        &self.data[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    fn push_empty(&mut self) {
        self.offsets.push(self.data.len() as i32);
    }

    fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len + 1);
        self.data.truncate(self.offsets[len] as usize);
    }

    fn take(&mut self) -> (OffsetBuffer<i32>, Vec<u8>) {
        let mut offsets = Vec::with_capacity(self.offsets.len());
        offsets.push(0);
        let data = Vec::with_capacity(self.data.len() + self.data.len() / 8);
        let offsets = mem::replace(&mut self.offsets, offsets);
        (OffsetBuffer::new(ScalarBuffer::from(offsets)), mem::replace(&mut self.data, data))
    }
}

/// The values of a column by type.
#[derive(Debug)]
pub enum Data {
    /// Only NULL.
    Null,
    /// BOOLEAN.
    Boolean(BooleanBufferBuilder),
    /// TINYINT.
    Int8(Vec<i8>),
    /// SMALLINT.
    Int16(Vec<i16>),
    /// INT.
    Int32(Vec<i32>),
    /// BIGINT.
    Int64(Vec<i64>),
    /// FLOAT.
    Float32(Vec<f32>),
    /// DOUBLE.
    Float64(Vec<f64>),
    /// DECIMAL.
    Decimal {
        /// Unscaled values.
        values: Vec<i128>,
        /// Digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// CHAR and VARCHAR: always valid UTF-8.
    Text(Bytes),
    /// BINARY and VARBINARY.
    Binary(Bytes),
    /// DATE.
    Date(Vec<i32>),
    /// TIME.
    Time {
        /// Milliseconds of the day.
        values: Vec<i32>,
        /// Digits of the fraction.
        precision: u8,
    },
    /// TIMESTAMP and TIMESTAMP_LTZ.
    Timestamp {
        /// Values in the unit of the shape.
        values: Vec<i64>,
        /// What is read.
        shape: TimestampShape,
        /// The date of the value before.
        cache: DateCache,
    },
    /// INTERVAL YEAR TO MONTH.
    Months(Vec<i32>),
    /// INTERVAL DAY TO SECOND.
    Milliseconds(Vec<i64>),
    /// ARRAY.
    Array {
        /// Where each array begins in the elements, and the end of the last.
        offsets: Vec<i32>,
        /// The elements of all arrays.
        element: Box<Column>,
    },
    /// MAP and MULTISET.
    Map {
        /// Where each map begins in the entries, and the end of the last.
        offsets: Vec<i32>,
        /// The keys of all maps.
        key: Box<Column>,
        /// The values of all maps.
        value: Box<Column>,
    },
    /// ROW.
    Row(Vec<Column>),
}

/// A growing column.
#[derive(Debug)]
pub struct Column {
    sql_type: SqlType,
    arrow: DataType,
    nulls: NullBufferBuilder,
    data: Data,
}

impl Column {
    /// An empty column. `standard` is how timestamps are written.
    pub fn new(sql_type: &SqlType, standard: TimestampStandard) -> Column {
        let child = |sql_type: &SqlType| Box::new(Column::new(sql_type, standard));
        let timestamp = |precision: u8, instant: bool| Data::Timestamp {
            values: Vec::new(),
            shape: TimestampShape { standard, unit: LogicalType::timestamp_unit(precision), precision, instant },
            cache: DateCache::default(),
        };
        let data = match &sql_type.logical {
            LogicalType::Null => Data::Null,
            LogicalType::Boolean => Data::Boolean(BooleanBufferBuilder::new(0)),
            LogicalType::TinyInt => Data::Int8(Vec::new()),
            LogicalType::SmallInt => Data::Int16(Vec::new()),
            LogicalType::Int => Data::Int32(Vec::new()),
            LogicalType::BigInt => Data::Int64(Vec::new()),
            LogicalType::Float => Data::Float32(Vec::new()),
            LogicalType::Double => Data::Float64(Vec::new()),
            LogicalType::Decimal { precision, scale } => {
                Data::Decimal { values: Vec::new(), precision: *precision, scale: *scale }
            }
            LogicalType::Char(_) | LogicalType::VarChar(_) => Data::Text(Bytes::new()),
            LogicalType::Binary(_) | LogicalType::VarBinary(_) => Data::Binary(Bytes::new()),
            LogicalType::Date => Data::Date(Vec::new()),
            LogicalType::Time(precision) => Data::Time { values: Vec::new(), precision: *precision },
            LogicalType::Timestamp(precision) => timestamp(*precision, false),
            LogicalType::TimestampLtz(precision) => timestamp(*precision, true),
            LogicalType::IntervalYearMonth => Data::Months(Vec::new()),
            LogicalType::IntervalDayTime => Data::Milliseconds(Vec::new()),
            LogicalType::Array(element) => Data::Array { offsets: vec![0], element: child(element) },
            LogicalType::Map(key, value) => {
                Data::Map { offsets: vec![0], key: child(&key.with_nullable(false)), value: child(value) }
            }
            LogicalType::Multiset(element) => Data::Map {
                offsets: vec![0],
                key: child(&element.with_nullable(false)),
                value: child(&LogicalType::Int.not_null()),
            },
            LogicalType::Row(fields) | LogicalType::Structured(_, fields) => {
                Data::Row(fields.iter().map(|(_, t)| Column::new(t, standard)).collect())
            }
            // Formats refuse these types; a column of them holds NULL only.
            LogicalType::Variant | LogicalType::Bitmap => Data::Null,
        };
        Column { arrow: sql_type.arrow(), sql_type: sql_type.clone(), nulls: NullBufferBuilder::new(0), data }
    }

    /// The type of the values.
    pub fn sql_type(&self) -> &SqlType {
        &self.sql_type
    }

    /// The number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.nulls.len()
    }

    /// The values, to append one of them. [`Column::appended`] must follow.
    #[inline]
    pub fn data(&mut self) -> &mut Data {
        &mut self.data
    }

    /// A value that is not NULL was appended to the data.
    #[inline]
    pub fn appended(&mut self) {
        self.nulls.append_non_null();
    }

    /// Appends NULL.
    ///
    /// # Errors
    /// The column is NOT NULL.
    pub fn append_null(&mut self) -> Result<(), Refusal> {
        if !self.sql_type.nullable {
            return Err(Refusal::Null);
        }
        self.append_hidden();
        Ok(())
    }

    /// Appends NULL even to a NOT NULL column, inside a ROW that is NULL itself.
    fn append_hidden(&mut self) {
        match &mut self.data {
            Data::Null => {}
            Data::Boolean(values) => values.append(false),
            Data::Int8(values) => values.push(0),
            Data::Int16(values) => values.push(0),
            Data::Int32(values) | Data::Date(values) | Data::Months(values) | Data::Time { values, .. } => {
                values.push(0)
            }
            Data::Int64(values) | Data::Milliseconds(values) | Data::Timestamp { values, .. } => values.push(0),
            Data::Float32(values) => values.push(0.0),
            Data::Float64(values) => values.push(0.0),
            Data::Decimal { values, .. } => values.push(0),
            Data::Text(bytes) | Data::Binary(bytes) => bytes.push_empty(),
            Data::Array { offsets, element } => offsets.push(element.len() as i32),
            Data::Map { offsets, key, .. } => offsets.push(key.len() as i32),
            Data::Row(fields) => fields.iter_mut().for_each(Column::append_hidden),
        }
        self.nulls.append_null();
    }

    /// Forgets all values from `len` on, also those of a nested value that is only half there.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.data {
            Data::Null => {}
            Data::Boolean(values) => values.truncate(len),
            Data::Int8(values) => values.truncate(len),
            Data::Int16(values) => values.truncate(len),
            Data::Int32(values) | Data::Date(values) | Data::Months(values) | Data::Time { values, .. } => {
                values.truncate(len)
            }
            Data::Int64(values) | Data::Milliseconds(values) | Data::Timestamp { values, .. } => values.truncate(len),
            Data::Float32(values) => values.truncate(len),
            Data::Float64(values) => values.truncate(len),
            Data::Decimal { values, .. } => values.truncate(len),
            Data::Text(bytes) | Data::Binary(bytes) => bytes.truncate(len),
            Data::Array { offsets, element } => {
                offsets.truncate(len + 1);
                element.truncate(offsets[len] as usize);
            }
            Data::Map { offsets, key, value } => {
                offsets.truncate(len + 1);
                key.truncate(offsets[len] as usize);
                value.truncate(offsets[len] as usize);
            }
            Data::Row(fields) => fields.iter_mut().for_each(|field| field.truncate(len)),
        }
        self.nulls.truncate(len);
    }

    /// Appends the value that `text` stands for.
    ///
    /// # Errors
    /// The text does not fit the type; the column is as before.
    pub fn append_text(&mut self, text: &[u8], rules: TextRules) -> Result<(), Refusal> {
        let temporal = if rules == TextRules::Csv { value::trim(text) } else { text };
        let csv = rules == TextRules::Csv;
        let whole = || value::integer(value::trim(text)).ok_or(Refusal::Value);
        match &mut self.data {
            Data::Boolean(values) => values.append(value::trim(text).eq_ignore_ascii_case(b"true")),
            Data::Int8(values) => values.push(whole()?.try_into().map_err(|_| Refusal::Value)?),
            Data::Int16(values) => values.push(whole()?.try_into().map_err(|_| Refusal::Value)?),
            Data::Int32(values) | Data::Months(values) => {
                values.push(whole()?.try_into().map_err(|_| Refusal::Value)?);
            }
            Data::Int64(values) | Data::Milliseconds(values) => values.push(whole()?),
            Data::Float32(values) => values.push(value::float(value::trim(text)).ok_or(Refusal::Value)?),
            Data::Float64(values) => values.push(value::float(value::trim(text)).ok_or(Refusal::Value)?),
            Data::Decimal { .. } => return self.append_decimal(value::trim(text)),
            Data::Text(bytes) => bytes.push(text)?,
            Data::Binary(bytes) => bytes.push_with(|out| decode_base64(text, out))?,
            Data::Date(values) => {
                let date = if csv { value::loose_date(temporal) } else { value::date(temporal) };
                values.push(date.ok_or(Refusal::Value)?);
            }
            Data::Time { values, precision } => {
                values.push(value::time(temporal, *precision, csv).ok_or(Refusal::Value)?);
            }
            Data::Timestamp { values, shape, cache } => values.push(value::timestamp(temporal, shape, cache)?),
            Data::Null | Data::Array { .. } | Data::Map { .. } | Data::Row(_) => return Err(Refusal::Value),
        }
        self.appended();
        Ok(())
    }

    /// Appends the value that a JSON number stands for.
    pub fn append_number(&mut self, number: &[u8]) -> Result<(), Refusal> {
        let whole = || value::whole_part(number).ok_or(Refusal::Value);
        match &mut self.data {
            // Flink cuts 3.9 for INT and BIGINT, and refuses it for the small types.
            Data::Int32(values) | Data::Months(values) => {
                values.push(whole()?.try_into().map_err(|_| Refusal::Value)?);
            }
            Data::Int64(values) | Data::Milliseconds(values) => values.push(whole()?),
            Data::Int8(_)
            | Data::Int16(_)
            | Data::Float32(_)
            | Data::Float64(_)
            | Data::Decimal { .. }
            | Data::Boolean(_)
            | Data::Text(_) => return self.append_text(number, TextRules::Json),
            _ => return Err(Refusal::Value),
        }
        self.appended();
        Ok(())
    }

    /// Appends `true` or `false`.
    pub fn append_boolean(&mut self, truth: bool) -> Result<(), Refusal> {
        match &mut self.data {
            Data::Boolean(values) => values.append(truth),
            Data::Text(bytes) => bytes.push(if truth { b"true" } else { b"false" })?,
            _ => return Err(Refusal::Value),
        }
        self.appended();
        Ok(())
    }

    /// A DECIMAL that does not fit is NULL.
    fn append_decimal(&mut self, text: &[u8]) -> Result<(), Refusal> {
        let Data::Decimal { values, precision, scale } = &mut self.data else { return Err(Refusal::Value) };
        match value::decimal(text, *precision, *scale).ok_or(Refusal::Value)? {
            Some(unscaled) => values.push(unscaled),
            None => return self.append_null(),
        }
        self.appended();
        Ok(())
    }

    /// The values so far as an Arrow array; the column is empty afterwards and keeps its capacity.
    ///
    /// # Errors
    /// Only a broken invariant.
    pub fn finish(&mut self) -> Result<ArrayRef> {
        let len = self.len();
        let nulls = self.nulls.finish();
        Ok(match &mut self.data {
            Data::Null => Arc::new(NullArray::new(len)),
            Data::Boolean(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Data::Int8(values) => primitive::<Int8Type>(values, nulls),
            Data::Int16(values) => primitive::<Int16Type>(values, nulls),
            Data::Int32(values) => primitive::<Int32Type>(values, nulls),
            Data::Int64(values) => primitive::<Int64Type>(values, nulls),
            Data::Float32(values) => primitive::<Float32Type>(values, nulls),
            Data::Float64(values) => primitive::<Float64Type>(values, nulls),
            Data::Decimal { values, precision, scale } => {
                let array = Decimal128Array::new(take(values), nulls);
                Arc::new(array.with_precision_and_scale(*precision, *scale as i8)?)
            }
            Data::Text(bytes) => {
                let (offsets, data) = bytes.take();
                Arc::new(StringArray::try_new(offsets, data.into(), nulls)?)
            }
            Data::Binary(bytes) => {
                let (offsets, data) = bytes.take();
                Arc::new(BinaryArray::try_new(offsets, data.into(), nulls)?)
            }
            Data::Date(values) => primitive::<Date32Type>(values, nulls),
            Data::Time { values, .. } => primitive::<Time32MillisecondType>(values, nulls),
            Data::Timestamp { values, shape, .. } => {
                let values = take(values);
                let zone = shape.instant.then(|| base::types::INSTANT_ZONE.into());
                timestamps(values, nulls, shape.unit, zone)
            }
            Data::Months(values) => primitive::<IntervalYearMonthType>(values, nulls),
            Data::Milliseconds(values) => primitive::<DurationMillisecondType>(values, nulls),
            Data::Array { offsets, element } => {
                let DataType::List(field) = &self.arrow else { return Err(mismatch(&self.sql_type)) };
                Arc::new(ListArray::try_new(field.clone(), take_offsets(offsets), element.finish()?, nulls)?)
            }
            Data::Map { offsets, key, value } => {
                let DataType::Map(entries, ordered) = &self.arrow else { return Err(mismatch(&self.sql_type)) };
                let DataType::Struct(fields) = entries.data_type() else { return Err(mismatch(&self.sql_type)) };
                let content = StructArray::try_new(fields.clone(), vec![key.finish()?, value.finish()?], None)?;
                Arc::new(MapArray::try_new(entries.clone(), take_offsets(offsets), content, nulls, *ordered)?)
            }
            Data::Row(columns) => {
                let DataType::Struct(fields) = &self.arrow else { return Err(mismatch(&self.sql_type)) };
                let columns = columns.iter_mut().map(Column::finish).collect::<Result<_>>()?;
                Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, len)?)
            }
        })
    }
}

fn mismatch(sql_type: &SqlType) -> Error {
    Error::internal(format!("the column data does not fit {sql_type}"))
}

fn take<T: ArrowNativeType>(values: &mut Vec<T>) -> ScalarBuffer<T> {
    let capacity = values.len();
    ScalarBuffer::from(mem::replace(values, Vec::with_capacity(capacity)))
}

fn take_offsets(offsets: &mut Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(mem::replace(offsets, vec![0])))
}

fn primitive<T: ArrowPrimitiveType>(values: &mut Vec<T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(take(values), nulls))
}

fn timestamps(
    values: ScalarBuffer<i64>,
    nulls: Option<NullBuffer>,
    unit: TimeUnit,
    zone: Option<Arc<str>>,
) -> ArrayRef {
    fn of<T: ArrowTimestampType>(v: ScalarBuffer<i64>, n: Option<NullBuffer>, zone: Option<Arc<str>>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(v, n).with_timezone_opt(zone))
    }
    match unit {
        TimeUnit::Second => of::<TimestampSecondType>(values, nulls, zone),
        TimeUnit::Millisecond => of::<TimestampMillisecondType>(values, nulls, zone),
        TimeUnit::Microsecond => of::<TimestampMicrosecondType>(values, nulls, zone),
        TimeUnit::Nanosecond => of::<TimestampNanosecondType>(values, nulls, zone),
    }
}

/// Appends decoded base64; line breaks and blanks inside are skipped.
fn decode_base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let decoded = if text.iter().any(|byte| *byte <= b' ') {
        let dense: Vec<u8> = text.iter().copied().filter(|byte| *byte > b' ').collect();
        BASE64.decode_vec(dense, out)
    } else {
        BASE64.decode_vec(text, out)
    };
    decoded.map_err(|_| Refusal::Value)
}
