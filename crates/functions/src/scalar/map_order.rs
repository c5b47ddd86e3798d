//! Maps in a form that can be compared: equal maps hold their entries in any order, so each becomes a list of its entries
//! sorted by key. Maps inside other values are treated alike.

use arrow::array::*;
use arrow::compute::take;
use arrow::datatypes::*;
use arrow::row::{RowConverter, SortField};
use base::{Error, Result};
use std::sync::Arc;

/// Whether a type holds a map.
fn has_map(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) => true,
        DataType::List(field) => has_map(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_map(field.data_type())),
        _ => false,
    }
}

/// The values with lists in the place of maps.
pub(crate) fn comparable(array: &ArrayRef) -> Result<ArrayRef> {
    if !has_map(array.data_type()) {
        return Ok(array.clone());
    }
    match array.data_type() {
        DataType::Map(..) => sorted_entries(array.as_map()),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let values = comparable(list.values())?;
            let field = Arc::new(Field::new("item", values.data_type().clone(), true));
            Ok(Arc::new(ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?))
        }
        DataType::Struct(_) => {
            let row = array.as_struct();
            let columns = row.columns().iter().map(comparable).collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(struct_of(columns, row.len(), row.nulls().cloned())?))
        }
        other => Err(Error::internal(format!("{other} holds no map"))),
    }
}

fn struct_of(columns: Vec<ArrayRef>, rows: usize, nulls: Option<arrow::buffer::NullBuffer>) -> Result<StructArray> {
    let field = |(index, column): (usize, &ArrayRef)| Field::new(index.to_string(), column.data_type().clone(), true);
    let fields: Fields = columns.iter().enumerate().map(field).collect();
    Ok(StructArray::try_new_with_length(fields, columns, nulls, rows)?)
}

fn sorted_entries(map: &MapArray) -> Result<ArrayRef> {
    let (keys, values) = (comparable(map.keys())?, comparable(map.values())?);
    let order = RowConverter::new(vec![SortField::new(keys.data_type().clone())])?
        .convert_columns(std::slice::from_ref(&keys))?;
    let offsets = map.value_offsets();
    let mut places: Vec<u32> = (0..keys.len() as u32).collect();
    for ends in offsets.windows(2) {
        places[ends[0] as usize..ends[1] as usize].sort_by_key(|at| order.row(*at as usize));
    }
    let places = UInt32Array::from(places);
    let columns = vec![take(&keys, &places, None)?, take(&values, &places, None)?];
    let entries: ArrayRef = Arc::new(struct_of(columns, places.len(), None)?);
    let field = Arc::new(Field::new("item", entries.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(field, map.offsets().clone(), entries, map.nulls().cloned())?))
}
