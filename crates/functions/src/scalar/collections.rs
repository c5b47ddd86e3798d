//! ARRAY, MAP and ROW: constructors, access, and functions over whole collections.
//!
//! List functions pick values: each row of the result is a list of places in the flat values of the arguments, which
//! one `take` then copies. Equality of elements is equality of their row-format bytes, in which NULL is a value.

use super::map_order::comparable;
use crate::call::{Call, Signature, check_not_null, expand, struct_column};
use crate::cast::{CastSupport, can_cast};
use crate::types::common_type;
use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{SortOptions, concat as concat_arrays, interleave, take};
use arrow::datatypes::*;
use arrow::row::{RowConverter, Rows, SortField};
use base::LogicalType::{self, Boolean, Int, Map, Multiset, Null, Row};
use base::{Error, Result, SqlType};
use std::sync::Arc;

pub(crate) fn array_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=usize::MAX)?;
    let element = common_type(&signature.types()).ok_or_else(|| signature.error())?;
    if element.logical == Null {
        return Err(signature.error_because("NULL alone has no type; write CAST(NULL AS type)"));
    }
    Ok(LogicalType::Array(Box::new(element)).not_null())
}

/// Columns side by side as one flat column, row after row.
fn interleaved(call: &Call, indexes: impl Iterator<Item = usize>, to: &SqlType) -> Result<ArrayRef> {
    let columns =
        indexes.map(|index| expand(&call.cast(index, &to.logical)?, call.rows)).collect::<Result<Vec<_>>>()?;
    if columns.is_empty() || call.rows == 0 {
        return Ok(new_empty_array(&to.arrow()));
    }
    let columns: Vec<&dyn arrow::array::Array> = columns.iter().map(|column| column.as_ref()).collect();
    let places: Vec<(usize, usize)> =
        (0..call.rows).flat_map(|row| (0..columns.len()).map(move |column| (column, row))).collect();
    Ok(interleave(&columns, &places)?)
}

pub(crate) fn array(call: &Call) -> Result<ArrayRef> {
    let LogicalType::Array(element) = &call.result.logical else { return Err(Error::internal("ARRAY makes an array")) };
    let values = interleaved(call, 0..call.len(), element)?;
    list(element, values, &vec![call.len(); call.rows], None)
}

fn list(element: &SqlType, values: ArrayRef, lengths: &[usize], nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    // Nested values can differ from the element type in the metadata of their fields.
    let expected = element.arrow();
    let values = if *values.data_type() == expected { values } else { arrow::compute::cast(&values, &expected)? };
    if !element.nullable {
        check_not_null(&values, None, || element.to_string())?;
    }
    Ok(Arc::new(ListArray::try_new(element.arrow_field("item"), offsets, values, nulls)?))
}

pub(crate) fn map_result(signature: &Signature) -> Result<SqlType> {
    let types = signature.types();
    if types.is_empty() || !types.len().is_multiple_of(2) {
        return Err(signature.error());
    }
    let side = |first: usize| {
        let types: Vec<SqlType> = types.iter().skip(first).step_by(2).cloned().collect();
        common_type(&types).ok_or_else(|| signature.error())
    };
    let (key, mut value) = (side(0)?, side(1)?);
    let untyped = types.iter().filter(|sql_type| sql_type.logical == Null).count();
    if untyped > 0 && untyped != types.len() / 2 || key.logical == Null {
        return Err(signature.error_because("NULL alone has no type; write CAST(NULL AS type)"));
    }
    // Where no value has a type, Flink takes that of the keys.
    if value.logical == Null {
        value = key.with_nullable(true);
    }
    Ok(Map(Box::new(key), Box::new(value)).not_null())
}

pub(crate) fn map(call: &Call) -> Result<ArrayRef> {
    let Map(key, value) = &call.result.logical else { return Err(Error::internal("MAP makes a map")) };
    let keys = interleaved(call, (0..call.len()).step_by(2), key)?;
    let values = interleaved(call, (1..call.len()).step_by(2), value)?;
    let width = call.len() / 2;
    if width < 2 || call.rows == 0 {
        return map_column(call.result, keys, values, &vec![width; call.rows], None);
    }
    // Of equal keys the last value stays, in the place of the first.
    let equality = Equality::of(std::slice::from_ref(&keys))?;
    let (mut key_places, mut value_places): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut lengths = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        let before = key_places.len();
        for at in row * width..(row + 1) * width {
            match key_places[before..].iter().position(|known| equality.equal(*known as usize, at)) {
                Some(known) => value_places[before + known] = at as u32,
                None => {
                    key_places.push(at as u32);
                    value_places.push(at as u32);
                }
            }
        }
        lengths.push(key_places.len() - before);
    }
    let keys = take(&keys, &UInt32Array::from(key_places), None)?;
    let values = take(&values, &UInt32Array::from(value_places), None)?;
    map_column(call.result, keys, values, &lengths, None)
}

/// A map column from flat keys and values.
pub(crate) fn map_column(
    sql_type: &SqlType,
    keys: ArrayRef,
    values: ArrayRef,
    lengths: &[usize],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let DataType::Map(entries, sorted) = sql_type.arrow() else { return Err(Error::internal("a map is not a map")) };
    let DataType::Struct(fields) = entries.data_type().clone() else {
        return Err(Error::internal("map entries are not rows"));
    };
    if keys.null_count() > 0 {
        return Err(Error::unsupported("NULL as a key of a MAP"));
    }
    let length = keys.len();
    let rows = struct_column(fields, vec![keys, values], None, length)?;
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    Ok(Arc::new(MapArray::try_new(entries, offsets, rows, nulls, sorted)?))
}

pub(crate) fn row_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=usize::MAX)?;
    let fields = signature.types().into_iter().enumerate().map(|(index, t)| (format!("EXPR${index}"), t)).collect();
    Ok(Row(fields).not_null())
}

pub(crate) fn row(call: &Call) -> Result<ArrayRef> {
    let DataType::Struct(fields) = call.result.arrow() else { return Err(Error::internal("a row is not a struct")) };
    let columns = (0..call.len()).map(|index| call.full(index)).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(struct_column(fields, columns, None, call.rows)?))
}

pub(crate) fn item_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    match signature.logical(0) {
        LogicalType::Array(element) => {
            signature.integer(1)?;
            Ok(element.with_nullable(true))
        }
        Map(key, value) => {
            let comparable = crate::types::comparison_type(key, signature.sql_type(1)).is_some();
            if comparable { Ok(value.with_nullable(true)) } else { Err(signature.error()) }
        }
        LogicalType::Variant => {
            signature.check(1, |logical| logical.is_integer() || logical.is_string())?;
            Ok(LogicalType::Variant.nullable())
        }
        _ => Err(signature.error()),
    }
}

/// `ITEM(array, index)` and `ITEM(map, key)`: NULL if there is no such element.
pub(crate) fn item(call: &Call) -> Result<ArrayRef> {
    if let Map(key, _) = &call.types[0].logical {
        return map_item(call, key);
    }
    if call.types[0].logical == LogicalType::Variant {
        return crate::json::variant::item(call);
    }
    let lists = Lists::new(call, 0)?;
    let indexes = call.longs(1)?;
    let mut places = UInt32Builder::with_capacity(call.rows);
    for row in 0..call.rows {
        let (Some(range), Some(index)) = (lists.range(row), indexes.get(row)) else {
            places.append_null();
            continue;
        };
        if index < 1 {
            return Err(call.bad_value(&index, &"array elements are counted from 1"));
        }
        let at = range.start.saturating_add(index as usize - 1);
        places.append_option((at < range.end).then_some(at as u32));
    }
    Ok(take(&lists.values, &places.finish(), None)?)
}

fn map_item(call: &Call, key: &SqlType) -> Result<ArrayRef> {
    let array = call.full(0)?;
    let map = array.as_map();
    let wanted = expand(&call.cast(1, &key.logical)?, call.rows)?;
    let keys = Equality::of(&[map.keys().clone(), wanted.clone()])?;
    let (offsets, first_wanted) = (map.value_offsets(), map.keys().len());
    let mut places = UInt32Builder::with_capacity(call.rows);
    for row in 0..call.rows {
        let mut range = offsets[row] as usize..offsets[row + 1] as usize;
        let found = if map.is_null(row) || wanted.is_null(row) {
            None
        } else {
            range.find(|at| keys.equal(*at, first_wanted + row))
        };
        places.append_option(found.map(|at| at as u32));
    }
    Ok(take(map.values(), &places.finish(), None)?)
}

pub(crate) fn cardinality_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.check(0, |logical| matches!(logical, LogicalType::Array(_) | Map(..) | Multiset(_)))?;
    signature.strict(Int)
}

pub(crate) fn cardinality(call: &Call) -> Result<ArrayRef> {
    let array = call.full(0)?;
    let (offsets, counts) = match array.data_type() {
        DataType::List(_) => (array.as_list::<i32>().value_offsets(), None),
        DataType::Map(..) => {
            let map = array.as_map();
            let counts = matches!(call.types[0].logical, Multiset(_)).then(|| map.values().as_primitive::<Int32Type>());
            (map.value_offsets(), counts)
        }
        _ => return Ok(call.nulls()),
    };
    call.map_values::<Int32Type>(|row| {
        let range = offsets[row] as usize..offsets[row + 1] as usize;
        Ok(array.is_valid(row).then(|| match counts {
            None => range.len() as i32,
            // A multiset counts its copies.
            Some(counts) => range.map(|at| counts.value(at)).sum(),
        }))
    })
}

pub(crate) fn element_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    match signature.logical(0) {
        LogicalType::Array(element) => Ok(element.with_nullable(element.nullable || signature.any_nullable())),
        _ => Err(signature.error()),
    }
}

/// The only element; NULL of an empty array.
pub(crate) fn element(call: &Call) -> Result<ArrayRef> {
    let lists = Lists::new(call, 0)?;
    let mut places = UInt32Builder::with_capacity(call.rows);
    for row in 0..call.rows {
        let range = lists.range(row).unwrap_or(0..0);
        if range.len() > 1 {
            return Err(call.bad_value(&range.len(), &"the array has more than one element"));
        }
        places.append_option((!range.is_empty()).then_some(range.start as u32));
    }
    Ok(take(&lists.values, &places.finish(), None)?)
}

/// A list argument.
struct Lists {
    values: ArrayRef,
    array: ListArray,
    constant: bool,
}

impl Lists {
    fn new(call: &Call, index: usize) -> Result<Lists> {
        Self::from(call, call.arguments[index].clone())
    }

    /// The argument with elements of the type of the result's elements.
    fn of_type(call: &Call, index: usize, logical: &LogicalType) -> Result<Lists> {
        Self::from(call, call.cast(index, logical)?)
    }

    fn from(call: &Call, array: ArrayRef) -> Result<Lists> {
        let constant = array.len() == 1 && call.rows != 1;
        let list = array.as_list_opt::<i32>().ok_or_else(|| Error::internal("an array argument is not a list"))?;
        Ok(Lists { values: list.values().clone(), array: list.clone(), constant })
    }

    /// The places of a row's elements in `values`, `None` for NULL.
    fn range(&self, row: usize) -> Option<std::ops::Range<usize>> {
        let row = if self.constant { 0 } else { row };
        let offsets = self.array.value_offsets();
        self.array.is_valid(row).then(|| offsets[row] as usize..offsets[row + 1] as usize)
    }
}

/// Equality and order of values, NULL included.
struct Equality(Rows);

impl Equality {
    fn of(arrays: &[ArrayRef]) -> Result<Equality> {
        Self::sorted(arrays, SortOptions::default())
    }

    /// All values of several arrays of one type, one after the other.
    fn sorted(arrays: &[ArrayRef], options: SortOptions) -> Result<Equality> {
        let values = comparable(&joined(arrays)?)?;
        let field = SortField::new_with_options(values.data_type().clone(), options);
        Ok(Equality(RowConverter::new(vec![field])?.convert_columns(&[values])?))
    }

    fn equal(&self, a: usize, b: usize) -> bool {
        self.0.row(a) == self.0.row(b)
    }
}

/// Several arrays of one SQL type as one.
fn joined(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let data_type = arrays[0].data_type();
    let same = arrays
        .iter()
        .map(|array| match array.data_type() == data_type {
            true => Ok(array.clone()),
            false => Ok(arrow::compute::cast(array, data_type)?),
        })
        .collect::<Result<Vec<_>>>()?;
    let arrays: Vec<&dyn arrow::array::Array> = same.iter().map(|array| array.as_ref()).collect();
    Ok(concat_arrays(&arrays)?)
}

fn element_of(signature: &Signature, index: usize) -> Result<SqlType> {
    match signature.logical(index) {
        LogicalType::Array(element) => Ok(element.as_ref().clone()),
        _ => Err(signature.error()),
    }
}

/// The type of the only or first argument, an array.
pub(crate) fn same_array(signature: &Signature) -> Result<SqlType> {
    element_of(signature, 0)?;
    Ok(signature.sql_type(0).clone())
}

pub(crate) fn one_array(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    same_array(signature)
}

/// ARRAY_SLICE(array, start[, end]) and ARRAY_SORT(array[, ascending[, nulls first]]).
pub(crate) fn array_with_options(signature: &Signature) -> Result<SqlType> {
    let slice = signature.function.name == "ARRAY_SLICE";
    signature.arity(if slice { 2..=3 } else { 1..=3 })?;
    for index in 1..signature.arguments.len() {
        if slice {
            signature.integer(index)?;
        } else {
            signature.boolean(index)?;
        }
    }
    if !slice && !is_ordered(&element_of(signature, 0)?.logical) {
        return Err(signature.error_because("the elements have no order"));
    }
    Ok(same_array(signature)?.with_nullable(signature.any_nullable()))
}

/// Whether ARRAY_SORT, ARRAY_MAX and ARRAY_MIN can order values.
fn is_ordered(logical: &LogicalType) -> bool {
    !matches!(
        logical,
        Boolean | LogicalType::Array(_) | Map(..) | Multiset(_) | LogicalType::Variant | LogicalType::Bitmap
    ) && logical.fields().is_none()
}

/// The type of an array's elements when a value is looked for or added: the value becomes one of them if that needs no
/// CAST. Strings that would be cut are compared in full.
fn element_with(element: &SqlType, value: &SqlType) -> Option<SqlType> {
    let nullable = element.nullable || value.nullable;
    if can_cast(value, element) == CastSupport::Implicit {
        return Some(element.with_nullable(nullable));
    }
    let both_strings = element.logical.is_string() && value.logical.is_string();
    if both_strings { common_type(&[element.clone(), value.clone()]) } else { None }
}

fn with_element(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    let element = element_of(signature, 0)?;
    element_with(&element, signature.sql_type(1)).ok_or_else(|| signature.error())
}

/// ARRAY_CONTAINS, ARRAY_POSITION: an array and a value to look for.
pub(crate) fn contains_result(signature: &Signature) -> Result<SqlType> {
    with_element(signature)?;
    Ok(SqlType { logical: Boolean, nullable: signature.sql_type(0).nullable })
}

pub(crate) fn position_result(signature: &Signature) -> Result<SqlType> {
    with_element(signature)?;
    signature.strict(Int)
}

/// ARRAY_REMOVE keeps the type, ARRAY_APPEND and ARRAY_PREPEND widen it.
pub(crate) fn remove_result(signature: &Signature) -> Result<SqlType> {
    with_element(signature)?;
    same_array(signature)
}

pub(crate) fn append_result(signature: &Signature) -> Result<SqlType> {
    let element = with_element(signature)?;
    signature.strict(LogicalType::Array(Box::new(element)))
}

/// ARRAY_UNION and the like: arrays with a common element type.
pub(crate) fn arrays_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    concat_result(signature)
}

pub(crate) fn concat_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=usize::MAX)?;
    for index in 0..signature.arguments.len() {
        element_of(signature, index)?;
    }
    let common = common_type(&signature.types()).ok_or_else(|| signature.error())?;
    Ok(common)
}

/// Picks values for every row; `pick` appends places and says whether the row has a value.
fn pick(
    call: &Call,
    values: &ArrayRef,
    mut pick: impl FnMut(usize, &mut Vec<u32>) -> Result<bool>,
) -> Result<ArrayRef> {
    let LogicalType::Array(element) = &call.result.logical else {
        return Err(Error::internal("the result is not an array"));
    };
    let (mut places, mut lengths, mut valid) = (Vec::new(), Vec::with_capacity(call.rows), Vec::new());
    for row in 0..call.rows {
        let before = places.len();
        let has_value = pick(row, &mut places)?;
        if !has_value {
            places.truncate(before);
        }
        lengths.push(places.len() - before);
        valid.push(has_value);
    }
    let values = take(values, &UInt32Array::from(places), None)?;
    let nulls = valid.contains(&false).then(|| NullBuffer::from(valid));
    list(element, values, &lengths, nulls)
}

/// DISTINCT, REVERSE, SLICE and SORT.
pub(crate) fn rearrange(call: &Call) -> Result<ArrayRef> {
    let lists = Lists::new(call, 0)?;
    match call.name {
        "ARRAY_REVERSE" => pick(call, &lists.values, |row, places| {
            let Some(range) = lists.range(row) else { return Ok(false) };
            places.extend(range.rev().map(|at| at as u32));
            Ok(true)
        }),
        "ARRAY_SLICE" => slice(call, &lists),
        "ARRAY_SORT" => sort(call, &lists),
        _ => {
            let equality = Equality::of(std::slice::from_ref(&lists.values))?;
            pick(call, &lists.values, |row, places| {
                let Some(range) = lists.range(row) else { return Ok(false) };
                let before = places.len();
                for at in range {
                    if !places[before..].iter().any(|known| equality.equal(*known as usize, at)) {
                        places.push(at as u32);
                    }
                }
                Ok(true)
            })
        }
    }
}

/// Bounds are inclusive and count from 1; negative ones from the end.
fn slice(call: &Call, lists: &Lists) -> Result<ArrayRef> {
    let starts = call.longs(1)?;
    let ends = if call.len() == 3 { Some(call.longs(2)?) } else { None };
    pick(call, &lists.values, |row, places| {
        let end = ends.as_ref().map_or(Some(-1), |ends| ends.get(row));
        let (Some(range), Some(start), Some(end)) = (lists.range(row), starts.get(row), end) else {
            return Ok(false);
        };
        let length = range.len() as i64;
        let place = |bound: i64| if bound < 0 { length + bound + 1 } else { bound };
        let (start, end) = (place(start).max(1), place(end).min(length));
        places.extend((start..=end).map(|at| range.start as u32 + at as u32 - 1));
        Ok(true)
    })
}

fn sort(call: &Call, lists: &Lists) -> Result<ArrayRef> {
    let flag = |row: usize, index: usize, default: bool| -> Option<bool> {
        let Some(array) = call.arguments.get(index) else { return Some(default) };
        let array = array.as_boolean_opt()?;
        let row = if array.len() == 1 { 0 } else { row };
        array.is_valid(row).then(|| array.value(row))
    };
    // One order of all elements for each pair of flags that occurs.
    let mut orders: Vec<(SortOptions, Equality)> = Vec::new();
    pick(call, &lists.values, |row, places| {
        let Some(range) = lists.range(row) else { return Ok(false) };
        let Some(ascending) = flag(row, 1, true) else { return Ok(false) };
        let Some(nulls_first) = flag(row, 2, ascending) else { return Ok(false) };
        let options = SortOptions { descending: !ascending, nulls_first };
        let known = orders.iter().position(|(known, _)| *known == options);
        let place = match known {
            Some(place) => place,
            None => {
                orders.push((options, Equality::sorted(std::slice::from_ref(&lists.values), options)?));
                orders.len() - 1
            }
        };
        let order = &orders[place].1;
        let before = places.len();
        places.extend(range.map(|at| at as u32));
        places[before..].sort_by(|a, b| order.0.row(*a as usize).cmp(&order.0.row(*b as usize)));
        Ok(true)
    })
}

/// An array and one value per row, converted to the same type, in one flat column: values from `first` on.
struct Search {
    lists: Lists,
    all: ArrayRef,
    equality: Equality,
    first: usize,
    value_is_null: Option<NullBuffer>,
}

fn search(call: &Call) -> Result<Search> {
    let LogicalType::Array(from) = &call.types[0].logical else { return Err(Error::internal("not an array")) };
    let common = element_with(from, &call.types[1]).ok_or_else(|| Error::internal("no common type"))?;
    let lists = Lists::of_type(call, 0, &LogicalType::Array(Box::new(common.clone())))?;
    let value = expand(&call.cast(1, &common.logical)?, call.rows)?;
    let arrays = [lists.values.clone(), value.clone()];
    let (first, value_is_null) = (lists.values.len(), value.nulls().cloned());
    Ok(Search { all: joined(&arrays)?, equality: Equality::of(&arrays)?, lists, first, value_is_null })
}

impl Search {
    fn is_null(&self, row: usize) -> bool {
        self.value_is_null.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

pub(crate) fn contains(call: &Call) -> Result<ArrayRef> {
    let search = search(call)?;
    call.map_booleans(|row| {
        let Some(mut range) = search.lists.range(row) else { return Ok(None) };
        Ok(Some(range.any(|at| search.equality.equal(at, search.first + row))))
    })
}

/// The place of a value from 1, 0 if it is not there.
pub(crate) fn position(call: &Call) -> Result<ArrayRef> {
    let search = search(call)?;
    call.map_values::<Int32Type>(|row| {
        let Some(mut range) = search.lists.range(row) else { return Ok(None) };
        if search.is_null(row) {
            return Ok(None);
        }
        Ok(Some(range.position(|at| search.equality.equal(at, search.first + row)).map_or(0, |at| at as i32 + 1)))
    })
}

/// ARRAY_REMOVE, ARRAY_APPEND and ARRAY_PREPEND.
pub(crate) fn with_value(call: &Call) -> Result<ArrayRef> {
    let search = search(call)?;
    let picked = |row: usize, places: &mut Vec<u32>| {
        let Some(range) = search.lists.range(row) else { return Ok(false) };
        let value = search.first + row;
        match call.name {
            "ARRAY_REMOVE" => places.extend(range.filter(|at| !search.equality.equal(*at, value)).map(|at| at as u32)),
            "ARRAY_APPEND" => places.extend(range.chain([value]).map(|at| at as u32)),
            _ => places.extend(std::iter::once(value).chain(range).map(|at| at as u32)),
        }
        Ok(true)
    };
    let out = pick(call, &search.all, picked)?;
    Ok(out)
}

/// ARRAY_CONCAT and `||` of arrays.
pub(crate) fn concat(call: &Call) -> Result<ArrayRef> {
    let lists =
        (0..call.len()).map(|index| Lists::of_type(call, index, &call.result.logical)).collect::<Result<Vec<_>>>()?;
    let values: Vec<ArrayRef> = lists.iter().map(|list| list.values.clone()).collect();
    pick(call, &joined(&values)?, |row, places| {
        let mut first = 0;
        for list in &lists {
            let Some(range) = list.range(row) else { return Ok(false) };
            places.extend(range.map(|at| (first + at) as u32));
            first += list.values.len();
        }
        Ok(true)
    })
}

/// ARRAY_UNION, ARRAY_EXCEPT and ARRAY_INTERSECT.
pub(crate) fn set_operation(call: &Call) -> Result<ArrayRef> {
    let left = Lists::of_type(call, 0, &call.result.logical)?;
    let right = Lists::of_type(call, 1, &call.result.logical)?;
    let arrays = [left.values.clone(), right.values.clone()];
    let equality = Equality::of(&arrays)?;
    let first = left.values.len();
    pick(call, &joined(&arrays)?, |row, places| {
        let (Some(l), Some(r)) = (left.range(row), right.range(row)) else { return Ok(false) };
        let r = first + r.start..first + r.end;
        let before = places.len();
        for at in l {
            let known = places[before..].iter().any(|known| equality.equal(*known as usize, at));
            let keep = match call.name {
                "ARRAY_UNION" => !known,
                "ARRAY_INTERSECT" => !known && r.clone().any(|other| equality.equal(other, at)),
                _ => !known && !r.clone().any(|other| equality.equal(other, at)),
            };
            if keep {
                places.push(at as u32);
            }
        }
        if call.name == "ARRAY_UNION" {
            for at in r {
                if !places[before..].iter().any(|known| equality.equal(*known as usize, at)) {
                    places.push(at as u32);
                }
            }
        }
        Ok(true)
    })
}

pub(crate) fn extreme_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    let element = element_of(signature, 0)?;
    if !is_ordered(&element.logical) {
        return Err(signature.error_because("the elements have no order"));
    }
    Ok(element.with_nullable(true))
}

/// ARRAY_MAX and ARRAY_MIN, without NULLs.
pub(crate) fn extreme(call: &Call) -> Result<ArrayRef> {
    let lists = Lists::new(call, 0)?;
    let order = Equality::of(std::slice::from_ref(&lists.values))?;
    let compare = |a: &usize, b: &usize| order.0.row(*a).cmp(&order.0.row(*b));
    let mut places = UInt32Builder::with_capacity(call.rows);
    for row in 0..call.rows {
        let present = lists.range(row).unwrap_or(0..0).filter(|at| lists.values.is_valid(*at));
        let found = if call.name == "ARRAY_MAX" { present.max_by(compare) } else { present.min_by(compare) };
        places.append_option(found.map(|at| at as u32));
    }
    Ok(take(&lists.values, &places.finish(), None)?)
}

pub(crate) fn join_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=3)?;
    if !element_of(signature, 0)?.logical.is_string() {
        return Err(signature.error());
    }
    for index in 1..signature.arguments.len() {
        signature.string(index)?;
    }
    signature.strict(LogicalType::STRING)
}

/// Joins the elements; NULLs are left out, or written as the third argument.
pub(crate) fn join(call: &Call) -> Result<ArrayRef> {
    let lists = Lists::new(call, 0)?;
    let texts = lists.values.as_string::<i32>();
    let separators = call.texts(1)?;
    let replacements = if call.len() == 3 { Some(call.texts(2)?) } else { None };
    call.write_texts(|row, out| {
        let (Some(range), Some(separator)) = (lists.range(row), separators.get(row)) else { return Ok(false) };
        let replacement = match &replacements {
            None => None,
            Some(replacements) => match replacements.get(row) {
                None => return Ok(false),
                replacement => replacement,
            },
        };
        let parts = range.filter_map(|at| if texts.is_valid(at) { Some(texts.value(at)) } else { replacement });
        for (index, part) in parts.enumerate() {
            if index > 0 {
                out.push_str(separator);
            }
            out.push_str(part);
        }
        Ok(true)
    })
}

/// MAP_KEYS, MAP_VALUES and MAP_ENTRIES.
pub(crate) fn map_part_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    let Map(key, value) = signature.logical(0) else { return Err(signature.error()) };
    let element = match signature.function.name {
        "MAP_KEYS" => key.as_ref().clone(),
        "MAP_VALUES" => value.as_ref().clone(),
        _ => Row(vec![("key".into(), key.as_ref().clone()), ("value".into(), value.as_ref().clone())]).nullable(),
    };
    signature.strict(LogicalType::Array(Box::new(element)))
}

pub(crate) fn map_part(call: &Call) -> Result<ArrayRef> {
    let array = call.full(0)?;
    let map = array.as_map();
    let LogicalType::Array(element) = &call.result.logical else {
        return Err(Error::internal("the result is not an array"));
    };
    let values: ArrayRef = match call.name {
        "MAP_KEYS" => map.keys().clone(),
        "MAP_VALUES" => map.values().clone(),
        _ => {
            let DataType::Struct(fields) = element.arrow() else { return Err(Error::internal("not a row")) };
            Arc::new(StructArray::try_new(fields, vec![map.keys().clone(), map.values().clone()], None)?)
        }
    };
    let offsets = map.offsets().clone();
    Ok(Arc::new(ListArray::try_new(element.arrow_field("item"), offsets, values, map.nulls().cloned())?))
}

pub(crate) fn map_from_arrays_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    signature.strict(Map(Box::new(element_of(signature, 0)?), Box::new(element_of(signature, 1)?)))
}

pub(crate) fn map_from_arrays(call: &Call) -> Result<ArrayRef> {
    let (keys, values) = (Lists::new(call, 0)?, Lists::new(call, 1)?);
    let (mut key_places, mut value_places) = (Vec::new(), Vec::new());
    let (mut lengths, mut valid) = (Vec::new(), Vec::new());
    for row in 0..call.rows {
        let (Some(k), Some(v)) = (keys.range(row), values.range(row)) else {
            lengths.push(0);
            valid.push(false);
            continue;
        };
        if k.len() != v.len() {
            return Err(call.bad_value(&v.len(), &"keys and values must have the same number of elements"));
        }
        lengths.push(k.len());
        valid.push(true);
        key_places.extend(k.map(|at| at as u32));
        value_places.extend(v.map(|at| at as u32));
    }
    let keys = take(&keys.values, &UInt32Array::from(key_places), None)?;
    let values = take(&values.values, &UInt32Array::from(value_places), None)?;
    map_column(call.result, keys, values, &lengths, Some(valid.into()))
}

pub(crate) fn map_union_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=usize::MAX)?;
    for index in 0..signature.arguments.len() {
        signature.check(index, |logical| matches!(logical, Map(..)))?;
    }
    common_type(&signature.types()).ok_or_else(|| signature.error())
}

/// All entries; of equal keys the last one stays.
pub(crate) fn map_union(call: &Call) -> Result<ArrayRef> {
    let arrays = (0..call.len())
        .map(|index| expand(&call.cast(index, &call.result.logical)?, call.rows))
        .collect::<Result<Vec<_>>>()?;
    let maps: Vec<&MapArray> = arrays.iter().map(|array| array.as_map()).collect();
    let keys = joined(&maps.iter().map(|map| map.keys().clone()).collect::<Vec<_>>())?;
    let values = joined(&maps.iter().map(|map| map.values().clone()).collect::<Vec<_>>())?;
    let equality = Equality::of(std::slice::from_ref(&keys))?;
    let (mut key_places, mut value_places): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    let (mut lengths, mut valid) = (Vec::new(), Vec::new());
    for row in 0..call.rows {
        let before = key_places.len();
        let all_valid = maps.iter().all(|map| map.is_valid(row));
        let mut first = 0;
        for map in maps.iter().filter(|_| all_valid) {
            let offsets = map.value_offsets();
            for at in first + offsets[row] as usize..first + offsets[row + 1] as usize {
                let known = key_places[before..].iter().position(|known| equality.equal(*known as usize, at));
                match known {
                    Some(index) => value_places[before + index] = at as u32,
                    None => {
                        key_places.push(at as u32);
                        value_places.push(at as u32);
                    }
                }
            }
            first += map.keys().len();
        }
        lengths.push(key_places.len() - before);
        valid.push(all_valid);
    }
    let keys = take(&keys, &UInt32Array::from(key_places), None)?;
    let values = take(&values, &UInt32Array::from(value_places), None)?;
    map_column(call.result, keys, values, &lengths, Some(valid.into()))
}

pub(crate) fn field_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    let (Some(fields), Some(name)) = (signature.logical(0).fields(), signature.constant_text(1)) else {
        return Err(signature.error());
    };
    let found = fields.iter().find(|(known, _)| *known == name).map(|(_, field)| field);
    let field = found.ok_or_else(|| signature.error_because("the row has no such field"))?;
    Ok(field.with_nullable(field.nullable || signature.sql_type(0).nullable))
}

/// `FIELD(row, 'name')`: a field of a row, NULL of a NULL row.
pub(crate) fn field(call: &Call) -> Result<ArrayRef> {
    let array = call.full(0)?;
    let name = call.constant_text(1).unwrap_or_default();
    let fields = call.types[0].logical.fields().ok_or_else(|| Error::internal("not a row"))?;
    let index = fields.iter().position(|(known, _)| known == name);
    let row = array.as_struct();
    let column = index.map(|index| row.column(index)).ok_or_else(|| Error::internal("the row has no such field"))?;
    match row.nulls() {
        Some(nulls) if nulls.null_count() > 0 => {
            let is_null = BooleanArray::new(!nulls.inner(), None);
            Ok(arrow::compute::nullif(column, &is_null)?)
        }
        _ => Ok(column.clone()),
    }
}

pub(crate) fn type_of_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=2)?;
    Ok(SqlType::string())
}

pub(crate) fn type_of(call: &Call) -> Result<ArrayRef> {
    let text = match &call.types[0].logical {
        Null => "NULL".to_string(),
        _ => call.types[0].to_string(),
    };
    Ok(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, call.rows))))
}
