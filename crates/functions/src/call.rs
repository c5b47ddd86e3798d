//! What scalar functions share: the call at planning ([`Signature`]), the call at run time ([`Call`]), and loops over
//! columns in which a constant is an array of one row.

use crate::codes;
use arrow::array::*;
use arrow::buffer::NullBuffer;
use arrow::compute::take;
use arrow::datatypes::*;
use base::function::{Argument, FunctionContext, ScalarFunction};
use base::{Error, LogicalType, Result, SqlType};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// One scalar function: a line of the registry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalar {
    pub name: &'static str,
    /// The accepted calls, for messages: `SUBSTRING(STRING, INT[, INT])`.
    pub forms: &'static str,
    pub return_type: fn(&Signature) -> Result<SqlType>,
    pub evaluate: fn(&Call) -> Result<ArrayRef>,
}

impl ScalarFunction for Scalar {
    fn name(&self) -> &str {
        self.name
    }

    fn return_type(&self, arguments: &[Argument]) -> Result<SqlType> {
        (self.return_type)(&Signature { function: self, arguments })
    }

    fn evaluate(
        &self,
        arguments: &[ArrayRef],
        types: &[SqlType],
        result: &SqlType,
        rows: usize,
        context: &FunctionContext,
    ) -> Result<ArrayRef> {
        (self.evaluate)(&Call { name: self.name, arguments, types, result, rows, context })
    }
}

/// A call while the statement is planned.
pub(crate) struct Signature<'a> {
    pub function: &'a Scalar,
    pub arguments: &'a [Argument],
}

impl Signature<'_> {
    /// The error for arguments that the function does not take.
    pub fn error(&self) -> Error {
        self.error_because("")
    }

    pub fn error_because(&self, why: &str) -> Error {
        let types: Vec<String> = self.arguments.iter().map(|argument| argument.sql_type.logical.to_string()).collect();
        let types = format!("({})", types.join(", "));
        Error::new(
            &codes::WRONG_ARGUMENTS,
            &[("function", &self.function.name), ("types", &types), ("why", &why), ("forms", &self.function.forms)],
        )
    }

    pub fn arity(&self, count: RangeInclusive<usize>) -> Result<()> {
        if count.contains(&self.arguments.len()) { Ok(()) } else { Err(self.error()) }
    }

    pub fn logical(&self, index: usize) -> &LogicalType {
        &self.arguments[index].sql_type.logical
    }

    pub fn sql_type(&self, index: usize) -> &SqlType {
        &self.arguments[index].sql_type
    }

    pub fn types(&self) -> Vec<SqlType> {
        self.arguments.iter().map(|argument| argument.sql_type.clone()).collect()
    }

    /// Checks one argument; a bare NULL fits everywhere.
    pub fn check(&self, index: usize, fits: fn(&LogicalType) -> bool) -> Result<()> {
        let logical = self.logical(index);
        if *logical == LogicalType::Null || fits(logical) { Ok(()) } else { Err(self.error()) }
    }

    pub fn string(&self, index: usize) -> Result<()> {
        self.check(index, LogicalType::is_string)
    }

    pub fn integer(&self, index: usize) -> Result<()> {
        self.check(index, LogicalType::is_integer)
    }

    pub fn numeric(&self, index: usize) -> Result<()> {
        self.check(index, LogicalType::is_numeric)
    }

    pub fn boolean(&self, index: usize) -> Result<()> {
        self.check(index, |logical| *logical == LogicalType::Boolean)
    }

    /// Whether any argument can be NULL: functions that are strict then give NULL.
    pub fn any_nullable(&self) -> bool {
        self.arguments.iter().any(|argument| argument.sql_type.nullable)
    }

    /// `logical`, nullable if an argument is.
    pub fn strict(&self, logical: LogicalType) -> Result<SqlType> {
        Ok(SqlType { logical, nullable: self.any_nullable() })
    }

    /// The constant text of an argument.
    pub fn constant_text(&self, index: usize) -> Option<String> {
        let array = self.arguments.get(index)?.constant.as_ref()?;
        let text = array.as_string_opt::<i32>()?;
        (text.len() == 1 && text.is_valid(0)).then(|| text.value(0).to_string())
    }
}

/// A call at run time.
pub(crate) struct Call<'a> {
    pub name: &'static str,
    pub arguments: &'a [ArrayRef],
    pub types: &'a [SqlType],
    pub result: &'a SqlType,
    pub rows: usize,
    pub context: &'a FunctionContext,
}

impl Call<'_> {
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// An argument with exactly one value per row.
    pub fn full(&self, index: usize) -> Result<ArrayRef> {
        expand(&self.arguments[index], self.rows)
    }

    /// An argument converted to another type, still one row if it is a constant.
    pub fn cast(&self, index: usize, to: &LogicalType) -> Result<ArrayRef> {
        let from = &self.types[index];
        if from.logical == *to {
            return Ok(self.arguments[index].clone());
        }
        let to = SqlType { logical: to.clone(), nullable: true };
        crate::cast::cast(&self.arguments[index], from, &to, false, self.context)
    }

    pub fn texts(&self, index: usize) -> Result<Texts> {
        let array = self.cast_string(index)?;
        Ok(Texts { constant: array.len() == 1 && self.rows != 1, array: array.as_string::<i32>().clone() })
    }

    fn cast_string(&self, index: usize) -> Result<ArrayRef> {
        if matches!(self.arguments[index].data_type(), DataType::Utf8) {
            Ok(self.arguments[index].clone())
        } else {
            self.cast(index, &LogicalType::STRING)
        }
    }

    pub fn longs(&self, index: usize) -> Result<Values<Int64Type>> {
        self.values::<Int64Type>(index, &LogicalType::BigInt)
    }

    pub fn doubles(&self, index: usize) -> Result<Values<Float64Type>> {
        self.values::<Float64Type>(index, &LogicalType::Double)
    }

    pub fn values<T: ArrowPrimitiveType>(&self, index: usize, to: &LogicalType) -> Result<Values<T>> {
        let array = self.cast(index, to)?;
        Ok(Values { constant: array.len() == 1 && self.rows != 1, array: array.as_primitive::<T>().clone() })
    }

    /// The text of a constant argument; `None` if there is no such argument or it is NULL.
    pub fn constant_text(&self, index: usize) -> Option<&str> {
        let text = self.arguments.get(index)?.as_string_opt::<i32>()?;
        (!text.is_empty() && text.is_valid(0)).then(|| text.value(0))
    }

    /// A result of one NULL per row.
    pub fn nulls(&self) -> ArrayRef {
        new_null_array(&self.result.arrow(), self.rows)
    }

    /// A STRING column, one call per row; `write` returns whether the row has a value.
    pub fn write_texts(&self, mut write: impl FnMut(usize, &mut String) -> Result<bool>) -> Result<ArrayRef> {
        let mut out = StringBuilder::with_capacity(self.rows, self.rows * 16);
        let mut text = String::new();
        for row in 0..self.rows {
            text.clear();
            if write(row, &mut text)? {
                out.append_value(&text);
            } else {
                out.append_null();
            }
        }
        Ok(Arc::new(out.finish()))
    }

    pub fn map_booleans(&self, mut value: impl FnMut(usize) -> Result<Option<bool>>) -> Result<ArrayRef> {
        let mut out = BooleanBuilder::with_capacity(self.rows);
        for row in 0..self.rows {
            out.append_option(value(row)?);
        }
        Ok(Arc::new(out.finish()))
    }

    /// A column of a primitive type; it carries the Arrow type of the result.
    pub fn map_values<T: ArrowPrimitiveType>(
        &self,
        mut value: impl FnMut(usize) -> Result<Option<T::Native>>,
    ) -> Result<ArrayRef> {
        let mut out = PrimitiveBuilder::<T>::with_capacity(self.rows).with_data_type(self.result.arrow());
        for row in 0..self.rows {
            out.append_option(value(row)?);
        }
        Ok(Arc::new(out.finish()))
    }

    /// The error for a value that the function refuses.
    pub fn bad_value(&self, value: &dyn std::fmt::Display, why: &dyn std::fmt::Display) -> Error {
        Error::new(&codes::BAD_VALUE, &[("function", &self.name), ("value", value), ("why", why)])
    }
}

/// A string argument.
pub(crate) struct Texts {
    array: StringArray,
    constant: bool,
}

impl Texts {
    /// The texts of a column, or of a constant for `rows` rows.
    pub fn of(array: StringArray, rows: usize) -> Self {
        Texts { constant: array.len() == 1 && rows != 1, array }
    }

    pub fn get(&self, row: usize) -> Option<&str> {
        let row = if self.constant { 0 } else { row };
        self.array.is_valid(row).then(|| self.array.value(row))
    }
}

/// A primitive argument.
pub(crate) struct Values<T: ArrowPrimitiveType> {
    array: PrimitiveArray<T>,
    constant: bool,
}

impl<T: ArrowPrimitiveType> Values<T> {
    /// The values of a column, or of a constant for `rows` rows.
    pub fn of(array: PrimitiveArray<T>, rows: usize) -> Self {
        Values { constant: array.len() == 1 && rows != 1, array }
    }

    pub fn get(&self, row: usize) -> Option<T::Native> {
        let row = if self.constant { 0 } else { row };
        self.array.is_valid(row).then(|| self.array.value(row))
    }
}

/// A struct column of `rows` rows.
///
/// # Errors
/// A NULL in a field that is NOT NULL: the type of a function is a promise that its value can break.
pub(crate) fn struct_column(
    fields: Fields,
    columns: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    rows: usize,
) -> Result<StructArray> {
    for (field, column) in fields.iter().zip(&columns).filter(|(field, _)| !field.is_nullable()) {
        let sql_type = || SqlType::from_arrow(field).map_or_else(|_| field.name().clone(), |found| found.to_string());
        check_not_null(column, nulls.as_ref(), sql_type)?;
    }
    Ok(StructArray::try_new_with_length(fields, columns, nulls, rows)?)
}

/// Refuses a NULL in `array` where `outer` has a value.
pub(crate) fn check_not_null(
    array: &ArrayRef,
    outer: Option<&NullBuffer>,
    sql_type: impl Fn() -> String,
) -> Result<()> {
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(()) };
    let is_hidden = outer.is_some_and(|outer| outer.contains(nulls));
    if is_hidden { Ok(()) } else { Err(Error::new(&codes::NULL_INSIDE, &[("type", &sql_type())])) }
}

/// A constant repeated for every row; other arrays stay as they are.
pub(crate) fn expand(array: &ArrayRef, rows: usize) -> Result<ArrayRef> {
    if array.len() == rows {
        return Ok(array.clone());
    }
    if array.len() != 1 {
        return Err(Error::internal(format!("an argument has {} rows instead of {rows}", array.len())));
    }
    Ok(take(array, &UInt32Array::from_value(0, rows), None)?)
}

/// One result per row from two columns, NULL where one of them is; only rows with values are computed.
pub(crate) fn binary<A, B, O>(
    left: &PrimitiveArray<A>,
    right: &PrimitiveArray<B>,
    rows: usize,
    data_type: &DataType,
    op: impl Fn(A::Native, B::Native) -> O::Native,
) -> Result<ArrayRef>
where
    A: ArrowPrimitiveType,
    B: ArrowPrimitiveType,
    O: ArrowPrimitiveType,
{
    let (l, r) = (left.values(), right.values());
    let values: Vec<O::Native> = match (left.len() == rows, right.len() == rows) {
        (true, true) => l.iter().zip(r.iter()).map(|(l, r)| op(*l, *r)).collect(),
        (true, false) => {
            let r = one(right)?;
            l.iter().map(|l| op(*l, r)).collect()
        }
        (false, true) => {
            let l = one(left)?;
            r.iter().map(|r| op(l, *r)).collect()
        }
        (false, false) => vec![op(one(left)?, one(right)?); rows],
    };
    let nulls = union_nulls(&[left, right], rows);
    Ok(Arc::new(PrimitiveArray::<O>::new(values.into(), nulls).with_data_type(data_type.clone())))
}

/// As [`binary`], for operations that can fail or give NULL.
pub(crate) fn try_binary<A, B, O>(
    left: &PrimitiveArray<A>,
    right: &PrimitiveArray<B>,
    rows: usize,
    data_type: &DataType,
    op: impl Fn(A::Native, B::Native) -> Result<Option<O::Native>>,
) -> Result<ArrayRef>
where
    A: ArrowPrimitiveType,
    B: ArrowPrimitiveType,
    O: ArrowPrimitiveType,
{
    let (left_step, right_step) = (usize::from(left.len() == rows), usize::from(right.len() == rows));
    let mut out = PrimitiveBuilder::<O>::with_capacity(rows).with_data_type(data_type.clone());
    for row in 0..rows {
        let (l, r) = (row * left_step, row * right_step);
        let valid = left.is_valid(l) && right.is_valid(r);
        out.append_option(if valid { op(left.value(l), right.value(r))? } else { None });
    }
    Ok(Arc::new(out.finish()))
}

fn one<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> Result<T::Native> {
    array.values().first().copied().ok_or_else(|| Error::internal("a constant argument has no row"))
}

/// NULL where one of the columns is NULL.
pub(crate) fn union_nulls(arrays: &[&dyn Array], rows: usize) -> Option<NullBuffer> {
    let mut nulls: Option<NullBuffer> = None;
    for array in arrays {
        if array.null_count() == 0 {
            continue;
        }
        if array.len() == rows {
            nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
        } else {
            return Some(NullBuffer::new_null(rows));
        }
    }
    nulls
}

/// A value compiled from a text argument, kept while the text stays the same.
pub(crate) struct Compiled<T> {
    last: Option<(String, T)>,
}

impl<T> Compiled<T> {
    pub fn new() -> Self {
        Compiled { last: None }
    }

    pub fn get(&mut self, text: &str, compile: impl FnOnce(&str) -> Result<T>) -> Result<&T> {
        if self.last.as_ref().is_none_or(|(known, _)| known != text) {
            self.last = Some((text.to_string(), compile(text)?));
        }
        self.last.as_ref().map(|(_, value)| value).ok_or_else(|| Error::internal("a compiled value is missing"))
    }
}
