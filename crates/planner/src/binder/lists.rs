//! Lists of a value that may be NULL. DataFusion's rules take `x IN (1) AND x IN (2)` for FALSE and `x NOT IN (1) OR x NOT
//! IN (2)` for TRUE, although both are NULL where x is: such lists are kept from meeting.

use super::coerce::sql_type_of;
use crate::bridge::scalar_udf;
use crate::cast::CastFunction;
use base::function::FunctionContext;
use datafusion_common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchema, Result};
use datafusion_expr::expr::{BinaryExpr, InList};
use datafusion_expr::{Expr, LogicalPlan, Operator};

/// Keeps lists of the same value apart wherever a rule would make one list without elements of them.
pub fn keep_apart(plan: LogicalPlan) -> Result<LogicalPlan> {
    let apart = plan.transform_up_with_subqueries(|plan| {
        let mut meets = false;
        plan.apply_expressions(|expr| {
            meets |= meeting(expr, &[])?.is_some();
            Ok(if meets { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        if !meets {
            return Ok(Transformed::no(plan));
        }
        let schema = plan.inputs().iter().try_fold(DFSchema::empty(), |all, input| all.join(input.schema()))?;
        plan.map_expressions(|expr| apart(expr, &schema))
    })?;
    Ok(apart.data)
}

/// A value of which an expression has lists that a rule would merge to one that may have no elements.
fn meeting(expr: &Expr, known: &[Expr]) -> Result<Option<Expr>> {
    let mut met = None;
    expr.apply(|part| {
        if let Expr::BinaryExpr(BinaryExpr { left, op, right }) = part {
            // AND keeps what both lists have, or what one has and the other excludes; OR what both exclude.
            let fits = |left: bool, right: bool| match op {
                Operator::And => !(left && right),
                Operator::Or => left && right,
                _ => false,
            };
            if matches!(op, Operator::And | Operator::Or) {
                let (left, right) = (lists(left), lists(right));
                let meets = |value: &Expr, negated: bool| {
                    right.iter().any(|(other, other_negated)| other == value && fits(negated, *other_negated))
                };
                let mut both = left.into_iter().filter(|(value, negated)| meets(value, *negated));
                met = both.find(|(value, _)| !known.contains(value)).map(|(value, _)| value);
            }
        }
        Ok(if met.is_some() { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(met)
}

/// The values that a condition looks for in lists, or in what becomes one, and whether it excludes these.
fn lists(expr: &Expr) -> Vec<(Expr, bool)> {
    let mut found = Vec::new();
    collect(expr, false, &mut found);
    found
}

fn collect(expr: &Expr, is_inside: bool, found: &mut Vec<(Expr, bool)>) {
    match expr {
        Expr::InList(list) => found.push((list.expr.as_ref().clone(), list.negated)),
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Eq | Operator::NotEq), right }) if is_inside => {
            if let (value, Expr::Literal(..)) | (Expr::Literal(..), value) = (left.as_ref(), right.as_ref()) {
                found.push((value.clone(), *op == Operator::NotEq));
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let is_inside = is_inside || *op == Operator::Or;
            collect(left, is_inside, found);
            collect(right, is_inside, found);
        }
        Expr::Not(inner) => {
            // Rules move NOT inwards: either form may come of a list.
            let mut inside = Vec::new();
            collect(inner, true, &mut inside);
            found.extend(inside.into_iter().flat_map(|(value, negated)| [(value.clone(), !negated), (value, negated)]));
        }
        _ => {}
    }
}

/// The same expression with a different form of the value in each list.
fn apart(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let mut expr = Transformed::no(expr);
    let mut known = Vec::new();
    while let Some(value) = meeting(&expr.data, &known)? {
        known.push(value.clone());
        let sql_type = sql_type_of(&value, schema)?;
        if !sql_type.nullable {
            continue;
        }
        // A cast to its own type is the value.
        let functions = FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false };
        let cast = scalar_udf(CastFunction::create(&sql_type, false), &functions);
        let mut form = value.clone();
        let mut next = || {
            form = cast.call(vec![form.clone()]);
            Box::new(form.clone())
        };
        let data = expr.data.transform_down(|part| {
            Ok(match part {
                Expr::InList(list) if *list.expr == value => {
                    let list = InList { expr: next(), ..list };
                    Transformed::new(Expr::InList(list), true, TreeNodeRecursion::Jump)
                }
                Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Eq | Operator::NotEq), right })
                    if *left == value && matches!(*right, Expr::Literal(..)) =>
                {
                    let compared = Expr::BinaryExpr(BinaryExpr { left: next(), op, right });
                    Transformed::new(compared, true, TreeNodeRecursion::Jump)
                }
                Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Eq | Operator::NotEq), right })
                    if *right == value && matches!(*left, Expr::Literal(..)) =>
                {
                    let compared = Expr::BinaryExpr(BinaryExpr { left, op, right: next() });
                    Transformed::new(compared, true, TreeNodeRecursion::Jump)
                }
                other => Transformed::no(other),
            })
        })?;
        expr = Transformed::yes(data.data);
    }
    Ok(expr)
}
