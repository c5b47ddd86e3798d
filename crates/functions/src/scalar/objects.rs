//! OBJECT_OF and OBJECT_UPDATE: values of STRUCTURED types.

use crate::call::{Call, Signature};
use arrow::array::*;
use arrow::datatypes::DataType;
use base::{Error, LogicalType, Result, SqlType};
use std::sync::Arc;

/// The names at the places `first`, `first + 2`, ...: constant texts.
fn names(signature: &Signature, first: usize) -> Result<Vec<String>> {
    (first..signature.arguments.len())
        .step_by(2)
        .map(|index| {
            signature.constant_text(index).ok_or_else(|| signature.error_because("a field name is a string literal"))
        })
        .collect()
}

fn check_repeated(signature: &Signature, names: &[String]) -> Result<()> {
    match names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
        None => Ok(()),
        Some((_, name)) => Err(signature.error_because(&format!("the field '{name}' is given twice"))),
    }
}

/// `OBJECT_OF('class', 'name', value, ...)`.
pub(crate) fn of_result(signature: &Signature) -> Result<SqlType> {
    if signature.arguments.len().is_multiple_of(2) {
        return Err(signature.error());
    }
    let class = signature.constant_text(0).ok_or_else(|| signature.error_because("the class is a string literal"))?;
    let names = names(signature, 1)?;
    check_repeated(signature, &names)?;
    let types = (2..signature.arguments.len()).step_by(2).map(|index| signature.sql_type(index).clone());
    Ok(LogicalType::Structured(class, names.into_iter().zip(types).collect()).nullable())
}

fn rows(call: &Call, columns: Vec<ArrayRef>, nulls: Option<arrow::buffer::NullBuffer>) -> Result<ArrayRef> {
    let DataType::Struct(fields) = call.result.arrow() else { return Err(Error::internal("an object is no struct")) };
    Ok(Arc::new(crate::call::struct_column(fields, columns, nulls, call.rows)?))
}

pub(crate) fn of(call: &Call) -> Result<ArrayRef> {
    let columns = (2..call.len()).step_by(2).map(|index| call.full(index)).collect::<Result<Vec<_>>>()?;
    rows(call, columns, None)
}

/// `OBJECT_UPDATE(object, 'name', value, ...)`: the fields take the types of their new values.
pub(crate) fn update_result(signature: &Signature) -> Result<SqlType> {
    let count = signature.arguments.len();
    if count < 3 || count.is_multiple_of(2) {
        return Err(signature.error());
    }
    let LogicalType::Structured(class, fields) = signature.logical(0) else { return Err(signature.error()) };
    let names = names(signature, 1)?;
    check_repeated(signature, &names)?;
    let mut fields = fields.clone();
    for (pair, name) in names.iter().enumerate() {
        let Some((_, field)) = fields.iter_mut().find(|(known, _)| known == name) else {
            let known: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
            let why = format!("the object has no field '{name}'; it has {}", known.join(", "));
            return Err(signature.error_because(&why));
        };
        *field = signature.sql_type(pair * 2 + 2).clone();
    }
    Ok(LogicalType::Structured(class.clone(), fields).nullable())
}

pub(crate) fn update(call: &Call) -> Result<ArrayRef> {
    let object = call.full(0)?;
    let LogicalType::Structured(_, fields) = &call.types[0].logical else {
        return Err(Error::internal("not an object"));
    };
    let object = object.as_struct();
    let mut columns = object.columns().to_vec();
    for index in (1..call.len()).step_by(2) {
        let name = call.constant_text(index).unwrap_or_default();
        let place = fields.iter().position(|(known, _)| known == name);
        let place = place.ok_or_else(|| Error::internal("the object has no such field"))?;
        columns[place] = call.full(index + 1)?;
    }
    rows(call, columns, object.nulls().cloned())
}
