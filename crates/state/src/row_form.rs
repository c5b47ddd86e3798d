//! Columns in a form that Arrow's row format takes: it has no MAP, so a map travels as a list of its entries.

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use base::{Error, Result};
use std::sync::Arc;

/// The type in which values of `data_type` are row-encoded.
pub(crate) fn row_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Map(entries, _) | DataType::List(entries) => DataType::List(row_field(entries)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(row_field).collect()),
        other => other.clone(),
    }
}

/// Whether values of this type contain a map.
pub(crate) fn has_map(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) => true,
        DataType::List(field) => has_map(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_map(field.data_type())),
        _ => false,
    }
}

fn row_field(field: &FieldRef) -> FieldRef {
    if has_map(field.data_type()) {
        Arc::new(Field::new(field.name(), row_type(field.data_type()), field.is_nullable()))
    } else {
        field.clone()
    }
}

/// A column as it is row-encoded.
pub(crate) fn to_row_form(column: &ArrayRef) -> Result<ArrayRef> {
    if !has_map(column.data_type()) {
        return Ok(column.clone());
    }
    match (column.data_type(), row_type(column.data_type())) {
        (DataType::Map(..), DataType::List(field)) => {
            let map = column.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = struct_to_row_form(&entries, field.data_type())?;
            Ok(Arc::new(ListArray::try_new(field, map.offsets().clone(), entries, map.nulls().cloned())?))
        }
        (DataType::List(_), DataType::List(field)) => {
            let list = column.as_list::<i32>();
            let values = to_row_form(list.values())?;
            Ok(Arc::new(ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?))
        }
        (DataType::Struct(_), target) => struct_to_row_form(column, &target),
        (other, _) => Err(Error::internal(format!("no row form for {other}"))),
    }
}

fn struct_to_row_form(column: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    let array = column.as_struct();
    let children = array.columns().iter().map(to_row_form).collect::<Result<_>>()?;
    Ok(Arc::new(StructArray::try_new(struct_fields(target)?, children, array.nulls().cloned())?))
}

fn struct_fields(data_type: &DataType) -> Result<Fields> {
    match data_type {
        DataType::Struct(fields) => Ok(fields.clone()),
        other => Err(Error::internal(format!("expected a struct, found {other}"))),
    }
}

/// A decoded column back in its own type.
pub(crate) fn from_row_form(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if !has_map(data_type) {
        return Ok(column.clone());
    }
    match data_type {
        DataType::Map(field, ordered) => {
            let list = column.as_list::<i32>();
            let entries = from_row_form_struct(list.values(), field.data_type())?;
            let map = MapArray::try_new(
                field.clone(),
                list.offsets().clone(),
                entries.as_struct().clone(),
                list.nulls().cloned(),
                *ordered,
            )?;
            Ok(Arc::new(map))
        }
        DataType::List(field) => {
            let list = column.as_list::<i32>();
            let values = from_row_form(list.values(), field.data_type())?;
            Ok(Arc::new(ListArray::try_new(field.clone(), list.offsets().clone(), values, list.nulls().cloned())?))
        }
        DataType::Struct(_) => from_row_form_struct(column, data_type),
        other => Err(Error::internal(format!("no row form for {other}"))),
    }
}

fn from_row_form_struct(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let array = column.as_struct();
    let fields = struct_fields(data_type)?;
    let children = array
        .columns()
        .iter()
        .zip(fields.iter())
        .map(|(child, field)| from_row_form(child, field.data_type()))
        .collect::<Result<_>>()?;
    Ok(Arc::new(StructArray::try_new(fields, children, array.nulls().cloned())?))
}
