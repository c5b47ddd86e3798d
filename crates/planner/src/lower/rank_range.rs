//! Which numbers of ROW_NUMBER a filter lets through.

use crate::expression::{self, Tree};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type};
use base::LogicalType;
use base::function::FunctionContext;
use base::plan::RankEnd;

/// What a filter says about numbers, and what else it says.
#[derive(Debug, Default)]
pub struct Range {
    /// The first number, if it says so.
    pub start: Option<u64>,
    /// The last one, if it says so.
    pub end: Option<RankEnd>,
    /// Conditions that remain.
    pub rest: Vec<Tree>,
}

/// The bound that one condition is.
enum Bound {
    /// The number is this or more.
    From(i64),
    /// The number is this or less.
    To(i64),
    /// The number is this.
    Only(i64),
    /// The number is the value of this column or less.
    ToColumn(usize),
    /// The number is less than the value of this column.
    BelowColumn(usize),
}

/// Takes the bounds of the number in column `number` out of conditions that must all hold.
pub fn take(conditions: Vec<Tree>, number: usize, context: &FunctionContext) -> Range {
    let mut range = Range::default();
    let (mut start, mut end) = (None, None);
    let mut column_end = None;
    let mut below_column = Vec::new();
    for condition in conditions {
        match bound(&condition, number, context) {
            Some(Bound::From(from)) => start = start.max(Some(from)),
            Some(Bound::To(to)) => end = Some(end.map_or(to, |end: i64| end.min(to))),
            Some(Bound::Only(only)) => {
                start = start.max(Some(only));
                end = Some(end.map_or(only, |end: i64| end.min(only)));
            }
            Some(Bound::ToColumn(column)) if column_end.is_none() => column_end = Some((column, condition)),
            Some(Bound::BelowColumn(column)) if column_end.is_none() => {
                column_end = Some((column, condition.clone()));
                below_column.push(condition);
            }
            _ => range.rest.push(condition),
        }
    }
    range.start = start.map(|start| u64::try_from(start).unwrap_or(0).max(1));
    range.end = match (end, column_end) {
        // The columns of rows are looked at one by one, too, if there is a constant end.
        (Some(end), column_end) => {
            range.rest.extend(column_end.map(|(_, condition)| condition));
            Some(RankEnd::Constant(u64::try_from(end).unwrap_or(0)))
        }
        (None, Some((column, _))) => {
            range.rest.extend(below_column);
            Some(RankEnd::Column(column))
        }
        (None, None) => None,
    };
    range
}

fn bound(condition: &Tree, number: usize, context: &FunctionContext) -> Option<Bound> {
    let Tree::Call { function, arguments, .. } = condition else { return None };
    let [left, right] = arguments.as_slice() else { return None };
    let (operator, other) = match (is_number(left, number), is_number(right, number)) {
        (true, false) => (function.name(), right),
        (false, true) => (flipped(function.name())?, left),
        _ => return None,
    };
    if let Some(column) = widened(other) {
        return match operator {
            "<=" => Some(Bound::ToColumn(column)),
            "<" => Some(Bound::BelowColumn(column)),
            _ => None,
        };
    }
    let Constant { floor, is_whole } = constant(other, context)?;
    Some(match operator {
        "<=" => Bound::To(floor),
        "<" if is_whole => Bound::To(floor.saturating_sub(1)),
        "<" => Bound::To(floor),
        ">=" if is_whole => Bound::From(floor),
        ">=" | ">" => Bound::From(floor.saturating_add(1)),
        "=" if is_whole => Bound::Only(floor),
        _ => return None,
    })
}

fn flipped(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "<=" => ">=",
        "<" => ">",
        ">=" => "<=",
        ">" => "<",
        "=" => "=",
        _ => return None,
    })
}

fn is_integer(logical: &LogicalType) -> bool {
    matches!(logical, LogicalType::TinyInt | LogicalType::SmallInt | LogicalType::Int | LogicalType::BigInt)
}

/// A column of whole numbers, as it is or as a wider one.
fn widened(tree: &Tree) -> Option<usize> {
    let input = match tree {
        Tree::Cast { input, try_cast: false, .. } => input,
        Tree::Call { function, arguments, .. } if function.name().starts_with("CAST") => arguments.first()?,
        other => other,
    };
    let (outer, inner) = (tree.sql_type().logical, input.sql_type().logical);
    let widens = is_integer(&inner) && (outer == LogicalType::BigInt || outer == inner);
    input.as_column().filter(|_| widens)
}

fn is_number(tree: &Tree, number: usize) -> bool {
    widened(tree) == Some(number)
}

/// A constant that numbers are compared with: the whole number that is not above it, and whether that is all of it.
struct Constant {
    floor: i64,
    is_whole: bool,
}

fn constant(tree: &Tree, context: &FunctionContext) -> Option<Constant> {
    if !tree.is_constant() {
        return None;
    }
    let value = expression::constant(tree, context).ok()?;
    if value.is_empty() || value.is_null(0) {
        return None;
    }
    match tree.sql_type().logical {
        LogicalType::Decimal { scale, .. } => {
            let unit = 10i128.checked_pow(u32::from(scale))?;
            let digits = value.as_primitive_opt::<Decimal128Type>()?.value(0);
            Some(Constant { floor: digits.div_euclid(unit).try_into().ok()?, is_whole: digits.rem_euclid(unit) == 0 })
        }
        LogicalType::Float | LogicalType::Double => {
            let value = arrow::compute::cast(&value, &DataType::Float64).ok()?;
            let value = value.as_primitive::<Float64Type>().value(0);
            // What is beyond bounds nothing; so does NaN.
            let fits = value.abs() < 1e15;
            fits.then(|| Constant { floor: value.floor() as i64, is_whole: value.fract() == 0.0 })
        }
        logical if is_integer(&logical) => {
            let value = arrow::compute::cast(&value, &DataType::Int64).ok()?;
            Some(Constant { floor: value.as_primitive::<Int64Type>().value(0), is_whole: true })
        }
        _ => None,
    }
}
