//! The arguments that aggregate functions take, and the types of their results over all rows of an input, where there may
//! be no row: [`super::grouped`] tells them for groups.

use super::bitmap::{Operation, Output};
use super::{Aggregate, Computation};
use crate::codes;
use base::LogicalType::{self, Array, Decimal, Double, Map, Multiset, Row, VarChar};
use base::{Error, Result, SqlType};

fn error(aggregate: &Aggregate, arguments: &[SqlType]) -> Error {
    let types: Vec<String> = arguments.iter().map(|t| t.logical.to_string()).collect();
    let types = format!("({})", types.join(", "));
    let name = aggregate.name;
    let forms = match aggregate.computation {
        Computation::Count => format!("{name}(*), {name}(x)"),
        Computation::Sum | Computation::Sum0 | Computation::Avg | Computation::Variance(_) => format!("{name}(number)"),
        Computation::ListAgg => "LISTAGG(STRING[, STRING])".to_string(),
        Computation::Percentile => "PERCENTILE(number, number or ARRAY of numbers[, integer])".to_string(),
        Computation::JsonArrayAgg => "JSON_ARRAYAGG(x [NULL | ABSENT ON NULL])".to_string(),
        Computation::JsonObjectAgg => "JSON_OBJECTAGG([KEY] STRING VALUE x [NULL | ABSENT ON NULL])".to_string(),
        Computation::Bitmap(Operation::Build, _) => format!("{name}(INT)"),
        Computation::Bitmap(..) => format!("{name}(BITMAP)"),
        _ => format!("{name}(x)"),
    };
    let why = "";
    Error::new(&codes::WRONG_ARGUMENTS, &[("function", &name), ("types", &types), ("why", &why), ("forms", &forms)])
}

/// Sums keep their type, but a DECIMAL gets all digits, and an average or variance at least 6 after the point.
fn numeric(argument: &LogicalType, scale_min: u8) -> LogicalType {
    match argument {
        Decimal { scale, .. } => Decimal { precision: 38, scale: (*scale).max(scale_min) },
        other => other.clone(),
    }
}

fn is_comparable(logical: &LogicalType) -> bool {
    !matches!(logical, Array(_) | Map(..) | Multiset(_) | Row(_))
}

/// JSON functions take their clauses as a last string.
fn is_clause(others: &[SqlType]) -> bool {
    match others {
        [] => true,
        [clause] => clause.logical.is_string(),
        _ => false,
    }
}

fn is_percentile(first: &SqlType, others: &[SqlType]) -> bool {
    let share = |sql_type: &SqlType| match &sql_type.logical {
        Array(element) => element.logical.is_numeric(),
        other => other.is_numeric(),
    };
    first.logical.is_numeric()
        && match others {
            [percentage] => share(percentage),
            [percentage, frequency] => share(percentage) && frequency.logical.is_integer(),
            _ => false,
        }
}

/// The type of JSON text that is aggregated: its length is never enforced.
const JSON_TEXT: LogicalType = VarChar(2000);

/// The result type of a call.
///
/// # Errors
/// Arguments that the function does not take.
pub(super) fn result(aggregate: &Aggregate, arguments: &[SqlType]) -> Result<SqlType> {
    if aggregate.computation == Computation::Count {
        return Ok(LogicalType::BigInt.not_null());
    }
    let error = || error(aggregate, arguments);
    let Some((first, others)) = arguments.split_first() else { return Err(error()) };
    let number = first.logical.is_numeric();
    let comparable = is_comparable(&first.logical);
    Ok(match (aggregate.computation, others) {
        (Computation::Sum, []) if number => numeric(&first.logical, 0).nullable(),
        (Computation::Sum0, []) if number => numeric(&first.logical, 0).not_null(),
        (Computation::Avg | Computation::Variance(_), []) if number => numeric(&first.logical, 6).nullable(),
        (Computation::Min | Computation::Max, []) if comparable => first.with_nullable(true),
        (Computation::FirstValue | Computation::LastValue | Computation::SingleValue, []) => first.with_nullable(true),
        // The one that is never NULL where its argument is not, says Flink.
        (Computation::ListAgg, []) if first.logical.is_string() => first.clone(),
        (Computation::ListAgg, [separator]) if first.logical.is_string() && separator.logical.is_string() => {
            first.clone()
        }
        (Computation::ArrayAgg, []) => Array(Box::new(first.clone())).not_null().with_nullable(first.nullable),
        (Computation::Collect, []) => Multiset(Box::new(first.clone())).not_null(),
        (Computation::Percentile, others) if is_percentile(first, others) => match others[0].logical {
            Array(_) => Array(Box::new(Double.nullable())).nullable(),
            _ => Double.nullable(),
        },
        (Computation::JsonArrayAgg, others) if is_clause(others) => JSON_TEXT.not_null(),
        (Computation::JsonObjectAgg, [_, clauses @ ..]) if first.logical.is_string() && is_clause(clauses) => {
            JSON_TEXT.not_null()
        }
        (Computation::Bitmap(operation, output), []) => {
            let wanted = if operation == Operation::Build { LogicalType::Int } else { LogicalType::Bitmap };
            match output {
                _ if first.logical != wanted => return Err(error()),
                Output::Bitmap => LogicalType::Bitmap.nullable(),
                Output::Cardinality => LogicalType::BigInt.nullable(),
            }
        }
        _ => return Err(error()),
    })
}
