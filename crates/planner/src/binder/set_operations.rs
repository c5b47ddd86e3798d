//! INTERSECT and EXCEPT.
//!
//! DataFusion makes joins of them that take NULL for equal to NULL. Without ALL they stay that: a semi or anti join of the
//! distinct left rows. With ALL, rows of both sides are counted instead, and each is given as often as the counts say, as in
//! Flink.

use super::coerce::{cast_columns, common_sql_type, typed_literal, typed_null};
use super::provider::scalar;
use crate::bridge::{aggregate_udf, external};
use crate::nodes::replicate::ReplicateNode;
use base::function::FunctionContext;
use base::{Error, LogicalType, SqlType};
use datafusion_common::{Column, JoinConstraint, JoinType, NullEquality, Result, ScalarValue};
use datafusion_expr::Expr;
use datafusion_expr::expr::{AggregateFunction, Case};
use datafusion_expr::logical_plan::{Aggregate, Distinct, Filter, Join, LogicalPlan, Projection, Union};
use std::sync::Arc;

/// The rows on the left, or the sum of the signs.
const LEFT_COUNT: &str = "$left";
/// The rows on the right.
const RIGHT_COUNT: &str = "$right";
/// The copies that are given.
const COPIES: &str = "$copies";

/// Whether a join is what DataFusion makes of INTERSECT or EXCEPT.
pub fn is_set_operation(join: &Join) -> bool {
    matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull
        && join.left.schema().fields().len() == join.right.schema().fields().len()
}

/// Finishes INTERSECT and EXCEPT: common types, and copies with ALL.
///
/// # Errors
/// Columns without a common type.
pub fn finish(join: Join, functions: &FunctionContext) -> Result<LogicalPlan> {
    let word = if join.join_type == JoinType::LeftSemi { "INTERSECT" } else { "EXCEPT" };
    // Without ALL the left side is made distinct before it is joined.
    let (left, is_distinct) = match join.left.as_ref() {
        LogicalPlan::Distinct(Distinct::All(input)) => (input.clone(), true),
        _ => (join.left.clone(), false),
    };
    let mut targets = Vec::with_capacity(left.schema().fields().len());
    for (index, (left, right)) in left.schema().fields().iter().zip(join.right.schema().fields()).enumerate() {
        let types = [left, right].map(|field| SqlType::from_arrow(field).map_err(external));
        let [left, right] = types;
        let place = format!("column {} of {word}", index + 1);
        targets.push(common_sql_type(&[left?, right?], &place).map_err(external)?);
    }
    let left = cast_columns(left, &targets, functions)?;
    let right = cast_columns(join.right.clone(), &targets, functions)?;
    if !is_distinct {
        return all(join.join_type, left, right, functions);
    }
    let columns = |plan: &LogicalPlan| -> Vec<Expr> {
        plan.schema().iter().map(|(qualifier, field)| Expr::Column(Column::from((qualifier, field)))).collect()
    };
    let on = columns(&left).into_iter().zip(columns(&right)).collect();
    let distinct = Arc::new(LogicalPlan::Distinct(Distinct::All(left)));
    let (kind, nulls) = (join.join_type, NullEquality::NullEqualsNull);
    Ok(LogicalPlan::Join(Join::try_new(distinct, right, on, None, kind, JoinConstraint::On, nulls, false)?))
}

/// One side with a value per counted column.
fn marked(side: &Arc<LogicalPlan>, marks: Vec<(Expr, &str)>) -> Result<Arc<LogicalPlan>> {
    let columns = side.schema().iter().enumerate();
    let mut projection: Vec<Expr> = columns
        .map(|(index, (qualifier, field))| Expr::Column(Column::from((qualifier, field))).alias(format!("$c{index}")))
        .collect();
    projection.extend(marks.into_iter().map(|(mark, name)| mark.alias(name)));
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(projection, side.clone())?)))
}

fn call(name: &str, arguments: Vec<Expr>, functions: &FunctionContext) -> Result<Expr> {
    let function = scalar(name, functions).ok_or_else(|| external(Error::internal(format!("there is no {name}"))))?;
    Ok(function.call(arguments))
}

fn aggregate(name: &str, argument: &str) -> Result<Expr> {
    let function = functions::aggregate(name);
    let function = function.ok_or_else(|| external(Error::internal(format!("there is no {name}"))))?;
    let argument = Expr::Column(Column::new_unqualified(argument));
    // A group has rows, so SUM of what is NOT NULL is so too.
    let udf = aggregate_udf(functions::grouped(function));
    Ok(Expr::AggregateFunction(AggregateFunction::new_udf(udf, vec![argument], false, None, Vec::new(), None)))
}

fn bigint(value: i64) -> Expr {
    typed_literal(ScalarValue::Int64(Some(value)), &LogicalType::BigInt)
}

/// INTERSECT ALL gives a row as often as the side with fewer has it, EXCEPT ALL as often as the left side has it more often.
fn all(
    kind: JoinType,
    left: Arc<LogicalPlan>,
    right: Arc<LogicalPlan>,
    functions: &FunctionContext,
) -> Result<LogicalPlan> {
    let intersect = kind == JoinType::LeftSemi;
    let there = || typed_literal(ScalarValue::Boolean(Some(true)), &LogicalType::Boolean);
    let absent = || typed_null(&LogicalType::Boolean);
    let (left_marks, right_marks, calls) = if intersect {
        let calls = vec![aggregate("COUNT", LEFT_COUNT)?, aggregate("COUNT", RIGHT_COUNT)?];
        let left_marks = vec![(there(), LEFT_COUNT), (absent()?, RIGHT_COUNT)];
        (left_marks, vec![(absent()?, LEFT_COUNT), (there(), RIGHT_COUNT)], calls)
    } else {
        let calls = vec![aggregate("SUM", LEFT_COUNT)?];
        (vec![(bigint(1), LEFT_COUNT)], vec![(bigint(-1), LEFT_COUNT)], calls)
    };
    let width = left.schema().fields().len();
    let union = Union::try_new(vec![marked(&left, left_marks)?, marked(&right, right_marks)?])?;
    let columns: Vec<Expr> =
        (0..width).map(|index| Expr::Column(Column::new_unqualified(format!("$c{index}")))).collect();
    let counted = Aggregate::try_new(Arc::new(LogicalPlan::Union(union)), columns.clone(), calls)?;
    let counted = LogicalPlan::Aggregate(counted);
    let counts: Vec<Expr> = counted
        .schema()
        .iter()
        .skip(width)
        .map(|(qualifier, field)| Expr::Column(Column::from((qualifier, field))))
        .collect();
    let (condition, copies) = match counts.as_slice() {
        [left, right] => {
            let both = call(">=", vec![left.clone(), bigint(1)], functions)?.and(call(
                ">=",
                vec![right.clone(), bigint(1)],
                functions,
            )?);
            let fewer = call(">", vec![left.clone(), right.clone()], functions)?;
            let branch = vec![(Box::new(fewer), Box::new(right.clone()))];
            (both, Expr::Case(Case::new(None, branch, Some(Box::new(left.clone())))))
        }
        [sum] => (call(">", vec![sum.clone(), bigint(0)], functions)?, sum.clone()),
        _ => return Err(external(Error::internal("a set operation without counts"))),
    };
    let kept = LogicalPlan::Filter(Filter::try_new(condition, Arc::new(counted))?);
    let mut projection = columns.clone();
    projection.push(copies.alias(COPIES));
    let kept = LogicalPlan::Projection(Projection::try_new(projection, Arc::new(kept))?);
    let given = ReplicateNode::try_new(kept, Column::new_unqualified(COPIES))?.into_plan();
    let named = columns
        .into_iter()
        .zip(left.schema().iter())
        .map(|(column, (qualifier, field))| column.alias_qualified(qualifier.cloned(), field.name()))
        .collect();
    Ok(LogicalPlan::Projection(Projection::try_new(named, Arc::new(given))?))
}
