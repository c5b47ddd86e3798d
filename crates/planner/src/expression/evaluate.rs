//! Evaluating trees over a batch.
//!
//! Constants stay one row until the end. AND, OR and CASE evaluate a part only for the rows that need it, unless the
//! part is harmless: a division behind a guard must not fail for the rows that the guard keeps away.

use super::{Test, Tree};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array, make_array, new_empty_array, new_null_array,
};
use arrow::compute;
use arrow::datatypes::DataType;
use base::function::FunctionContext;
use base::{Error, Result};
use std::sync::Arc;

/// The columns that an expression sees. Columns that it does not read may have any length.
struct Input {
    columns: Vec<ArrayRef>,
    rows: usize,
}

/// A value per row, or one for all.
enum Value {
    Rows(ArrayRef),
    Constant(ArrayRef),
}

impl Value {
    fn array(&self) -> &ArrayRef {
        match self {
            Value::Rows(array) | Value::Constant(array) => array,
        }
    }

    fn spread(self, rows: usize) -> Result<ArrayRef> {
        match self {
            Value::Rows(array) => Ok(array),
            Value::Constant(array) if rows == 1 => Ok(array),
            Value::Constant(array) if array.is_null(0) => Ok(new_null_array(array.data_type(), rows)),
            Value::Constant(array) => Ok(compute::take(&array, &UInt32Array::from(vec![0; rows]), None)?),
        }
    }
}

/// One value per row of `batch`, of exactly the Arrow type of the tree's type.
pub(super) fn evaluate(tree: &Tree, batch: &RecordBatch, context: &FunctionContext) -> Result<ArrayRef> {
    if let Tree::Column { index, .. } = tree {
        return batch.columns().get(*index).cloned().ok_or_else(|| missing(*index));
    }
    if batch.num_rows() == 0 {
        // A constant that fails must not fail for no row.
        return Ok(new_empty_array(&tree.sql_type().arrow()));
    }
    let input = Input { columns: batch.columns().to_vec(), rows: batch.num_rows() };
    let array = value(tree, &input, context)?.spread(input.rows)?;
    conform(array, &tree.sql_type().arrow())
}

/// The value of a constant tree as one row.
pub(super) fn constant(tree: &Tree, context: &FunctionContext) -> Result<ArrayRef> {
    if !tree.columns().is_empty() || !tree.hidden().is_empty() {
        return Err(Error::internal("a constant reads no column"));
    }
    let array = value(tree, &Input { columns: Vec::new(), rows: 1 }, context)?.spread(1)?;
    conform(array, &tree.sql_type().arrow())
}

fn missing(index: usize) -> Error {
    Error::internal(format!("the batch has no column {index}"))
}

/// The array in exactly this type: nested types may differ in the names and metadata of inner fields only.
pub(super) fn conform(array: ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if array.data_type() == data_type {
        return Ok(array);
    }
    if *array.data_type() == DataType::Null {
        return Ok(new_null_array(data_type, array.len()));
    }
    relabel(&array, data_type).ok_or_else(|| {
        Error::internal(format!("an expression gave {} where {data_type} is expected", array.data_type()))
    })
}

fn relabel(array: &ArrayRef, data_type: &DataType) -> Option<ArrayRef> {
    if array.data_type() == data_type {
        return Some(array.clone());
    }
    let inner = match (array.data_type(), data_type) {
        (DataType::List(_), DataType::List(to)) | (DataType::Map(..), DataType::Map(to, _)) => vec![to],
        (DataType::Struct(from), DataType::Struct(to)) if from.len() == to.len() => to.iter().collect(),
        _ => return None,
    };
    let data = array.to_data();
    let children = data
        .child_data()
        .iter()
        .zip(inner)
        .map(|(child, to)| Some(relabel(&make_array(child.clone()), to.data_type())?.to_data()))
        .collect::<Option<Vec<_>>>()?;
    let data = data.into_builder().data_type(data_type.clone()).child_data(children).build().ok()?;
    Some(make_array(data))
}

fn value(tree: &Tree, input: &Input, context: &FunctionContext) -> Result<Value> {
    match tree {
        Tree::Column { index, .. } => {
            Ok(Value::Rows(input.columns.get(*index).cloned().ok_or_else(|| missing(*index))?))
        }
        Tree::Hidden { position, column, .. } => {
            let index = position.ok_or_else(|| Error::internal(format!("{column:?} has no position")))?;
            Ok(Value::Rows(input.columns.get(index).cloned().ok_or_else(|| missing(index))?))
        }
        Tree::Literal { value, .. } => Ok(Value::Constant(value.clone())),
        Tree::Call { function, arguments, sql_type } => {
            let values = arguments.iter().map(|tree| value(tree, input, context)).collect::<Result<Vec<_>>>()?;
            let types: Vec<_> = arguments.iter().map(Tree::sql_type).collect();
            let constant = function.is_deterministic()
                && !values.is_empty()
                && values.iter().all(|value| matches!(value, Value::Constant(_)));
            let rows = if constant { 1 } else { input.rows };
            let arrays: Vec<ArrayRef> = values.iter().map(|value| value.array().clone()).collect();
            let result = function.evaluate(&arrays, &types, sql_type, rows, context)?;
            match result.len() {
                _ if constant && result.len() == 1 => Ok(Value::Constant(result)),
                length if length == rows => Ok(Value::Rows(result)),
                1 => Ok(Value::Constant(result)),
                length => Err(Error::internal(format!("{} gave {length} values for {rows} rows", function.name()))),
            }
        }
        Tree::Cast { input: inner, sql_type, try_cast } => {
            let from = inner.sql_type();
            let inner = value(inner, input, context)?;
            let cast = match from.logical {
                base::LogicalType::Null => new_null_array(&sql_type.arrow(), inner.array().len()),
                _ => functions::cast(inner.array(), &from, sql_type, *try_cast, context)?,
            };
            Ok(match inner {
                Value::Rows(_) => Value::Rows(cast),
                Value::Constant(_) => Value::Constant(cast),
            })
        }
        Tree::And(parts) => connective(parts, false, input, context),
        Tree::Or(parts) => connective(parts, true, input, context),
        Tree::Not(inner) => {
            let inner = value(inner, input, context)?;
            let negated: ArrayRef = Arc::new(compute::not(boolean(inner.array())?)?);
            Ok(match inner {
                Value::Rows(_) => Value::Rows(negated),
                Value::Constant(_) => Value::Constant(negated),
            })
        }
        Tree::Is { input: inner, test } => {
            let inner = value(inner, input, context)?;
            let answer: ArrayRef = Arc::new(is(inner.array(), *test)?);
            Ok(match inner {
                Value::Rows(_) => Value::Rows(answer),
                Value::Constant(_) => Value::Constant(answer),
            })
        }
        Tree::Case { branches, otherwise, sql_type } => {
            case(branches, otherwise.as_deref(), &sql_type.arrow(), input, context)
        }
    }
}

fn boolean(array: &ArrayRef) -> Result<&BooleanArray> {
    array.as_boolean_opt().ok_or_else(|| Error::internal(format!("{} used as a condition", array.data_type())))
}

fn is(array: &ArrayRef, test: Test) -> Result<BooleanArray> {
    let equals = |wanted: bool| -> Result<BooleanArray> {
        let array = boolean(array)?;
        let values = if wanted { array.values().clone() } else { !array.values() };
        Ok(BooleanArray::new(array.nulls().map_or(values.clone(), |valid| &values & valid.inner()), None))
    };
    Ok(match test {
        Test::Null => compute::is_null(array)?,
        Test::NotNull => compute::is_not_null(array)?,
        Test::True => equals(true)?,
        Test::NotTrue => compute::not(&equals(true)?)?,
        Test::False => equals(false)?,
        Test::NotFalse => compute::not(&equals(false)?)?,
    })
}

/// AND (`decisive` = false) or OR (`decisive` = true): a decisive value settles a row.
fn connective(parts: &[Tree], decisive: bool, input: &Input, context: &FunctionContext) -> Result<Value> {
    let Some((first, rest)) = parts.split_first() else {
        return Ok(Value::Constant(Arc::new(BooleanArray::from(vec![!decisive]))));
    };
    let mut result = boolean(&value(first, input, context)?.spread(input.rows)?)?.clone();
    for part in rest {
        let next = if part.is_harmless() {
            value(part, input, context)?.spread(input.rows)?
        } else {
            let settled = is(&(Arc::new(result.clone()) as ArrayRef), if decisive { Test::True } else { Test::False })?;
            let open = compute::not(&settled)?;
            match open.true_count() {
                0 => return Ok(Value::Rows(Arc::new(result))),
                count if count == input.rows => value(part, input, context)?.spread(input.rows)?,
                count => {
                    let rows = restrict(part, input, &open, count)?;
                    let values = value(part, &rows, context)?.spread(count)?;
                    scatter(&values, &open)?
                }
            }
        };
        let next = boolean(&next)?;
        result = if decisive { compute::or_kleene(&result, next)? } else { compute::and_kleene(&result, next)? };
    }
    Ok(Value::Rows(Arc::new(result)))
}

/// The selected rows of the columns that `tree` reads.
fn restrict(tree: &Tree, input: &Input, selected: &BooleanArray, count: usize) -> Result<Input> {
    let mut columns = input.columns.clone();
    let mut reads = tree.columns();
    tree.visit(&mut |tree| {
        if let Tree::Hidden { position: Some(position), .. } = tree {
            reads.insert(*position);
        }
    });
    for index in reads {
        let column = columns.get_mut(index).ok_or_else(|| missing(index))?;
        *column = compute::filter(column, selected)?;
    }
    Ok(Input { columns, rows: count })
}

/// Puts values of selected rows back to their places; the others are NULL.
fn scatter(values: &ArrayRef, selected: &BooleanArray) -> Result<ArrayRef> {
    let mut next = 0u32;
    let places: UInt32Array = (0..selected.len())
        .map(|row| {
            selected.value(row).then(|| {
                next += 1;
                next - 1
            })
        })
        .collect();
    Ok(compute::take(values, &places, None)?)
}

fn case(
    branches: &[(Tree, Tree)],
    otherwise: Option<&Tree>,
    data_type: &DataType,
    input: &Input,
    context: &FunctionContext,
) -> Result<Value> {
    let mut open = BooleanArray::from(vec![true; input.rows]);
    // Which result each row takes, and where in it.
    let mut results: Vec<ArrayRef> = vec![new_null_array(data_type, 1)];
    let mut choices: Vec<(usize, usize)> = vec![(0, 0); input.rows];
    let mut take = |result: &Tree, rows: &BooleanArray, choices: &mut Vec<(usize, usize)>| -> Result<()> {
        let count = rows.true_count();
        if count == 0 {
            return Ok(());
        }
        let values = value(result, &restrict(result, input, rows, count)?, context)?;
        let constant = matches!(values, Value::Constant(_));
        results.push(conform(values.array().clone(), data_type)?);
        let branch = results.len() - 1;
        for (place, row) in rows.values().set_indices().enumerate() {
            choices[row] = (branch, if constant { 0 } else { place });
        }
        Ok(())
    };
    for (condition, result) in branches {
        let count = open.true_count();
        if count == 0 {
            break;
        }
        let holds = if condition.is_harmless() || count == input.rows {
            value(condition, input, context)?.spread(input.rows)?
        } else {
            let values = value(condition, &restrict(condition, input, &open, count)?, context)?.spread(count)?;
            scatter(&values, &open)?
        };
        let holds = is(&holds, Test::True)?;
        let rows = compute::and(&open, &holds)?;
        take(result, &rows, &mut choices)?;
        open = compute::and(&open, &compute::not(&holds)?)?;
    }
    if let Some(otherwise) = otherwise {
        take(otherwise, &open, &mut choices)?;
    }
    let arrays: Vec<&dyn Array> = results.iter().map(|array| array.as_ref()).collect();
    Ok(Value::Rows(compute::interleave(&arrays, &choices)?))
}
