//! Casts of ARRAY, MAP, MULTISET and ROW: element by element, rows by position.

use super::{Cast, cast};
use arrow::array::*;
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::*;
use base::LogicalType::{self, Map, Multiset, Row};
use base::{Error, Result, SqlType};
use std::sync::Arc;

pub(super) fn to_nested(context: &Cast, array: &ArrayRef) -> Result<ArrayRef> {
    match (&context.from.logical, &context.to.logical) {
        (LogicalType::Array(from), LogicalType::Array(to)) => {
            let list = array.as_list::<i32>();
            let (values, offsets) = window(list.values(), list.offsets());
            let values = inner(context, &values, from, to)?;
            if !to.nullable {
                crate::call::check_not_null(&values, None, || to.to_string())?;
            }
            Ok(Arc::new(ListArray::try_new(to.arrow_field("item"), offsets, values, list.nulls().cloned())?))
        }
        (Map(from_key, from_value), Map(to_key, to_value)) => {
            to_map(context, array, [from_key, from_value], [to_key, to_value])
        }
        (Multiset(from), Multiset(to)) => {
            let count = LogicalType::Int.not_null();
            to_map(context, array, [from, &count], [to, &count])
        }
        (Row(from), Row(to)) => {
            let row = array.as_struct();
            let columns = row
                .columns()
                .iter()
                .zip(from.iter().zip(to))
                .map(|(column, ((_, from), (_, to)))| inner(context, column, from, to))
                .collect::<Result<Vec<_>>>()?;
            let DataType::Struct(fields) = context.to.arrow() else {
                return Err(Error::internal("a row is not a struct"));
            };
            Ok(Arc::new(crate::call::struct_column(fields, columns, row.nulls().cloned(), row.len())?))
        }
        _ => Err(Error::internal(format!("no cast from {} to {}", context.from, context.to))),
    }
}

fn inner(context: &Cast, values: &ArrayRef, from: &SqlType, to: &SqlType) -> Result<ArrayRef> {
    cast(values, from, to, context.try_cast, context.context)
}

fn to_map(context: &Cast, array: &ArrayRef, from: [&SqlType; 2], to: [&SqlType; 2]) -> Result<ArrayRef> {
    let map = array.as_map();
    let (keys, offsets) = window(map.keys(), map.offsets());
    let (values, _) = window(map.values(), map.offsets());
    let columns = vec![inner(context, &keys, from[0], to[0])?, inner(context, &values, from[1], to[1])?];
    let DataType::Map(entries, sorted) = context.to.arrow() else {
        return Err(Error::internal("a map is not a map"));
    };
    let DataType::Struct(fields) = entries.data_type().clone() else {
        return Err(Error::internal("map entries are not rows"));
    };
    let length = columns[0].len();
    let rows = crate::call::struct_column(fields, columns, None, length)?;
    Ok(Arc::new(MapArray::try_new(entries, offsets, rows, map.nulls().cloned(), sorted)?))
}

/// The values that a list column refers to, and offsets from 0: values outside a slice must not be converted.
fn window(values: &ArrayRef, offsets: &OffsetBuffer<i32>) -> (ArrayRef, OffsetBuffer<i32>) {
    let (first, last) = (offsets[0] as usize, offsets[offsets.len() - 1] as usize);
    (values.slice(first, last - first), OffsetBuffer::from_lengths(offsets.lengths()))
}
