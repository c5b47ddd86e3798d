//! The step after `SqlToRel`: literals in the place of their markers, common types, group windows as window tables.

use super::coerce::{as_condition, cast_to, coerce_expression, coerce_union, common_sql_type, sql_type_of};
use super::grouping;
use super::markers::{WindowPart, as_window_marker};
use super::set_operations;
use super::temporal;
use super::unnest;
use super::windows::{interval_ms, plain_sql};
use crate::bridge::{aggregate_udf, external, flink_aggregate, scalar_udf};
use crate::codes;
use crate::literal::as_literal;
use crate::nodes::{WINDOW_COLUMNS, WindowTableNode};
use base::Error;
use base::function::FunctionContext;
use base::plan::WindowKind;
use datafusion_common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion_common::{Column, DFSchema, JoinConstraint, JoinType, Result};
use datafusion_expr::expr_rewriter::NamePreserver;
use datafusion_expr::logical_plan::{Aggregate, Join, LogicalPlan, Projection};
use datafusion_expr::utils::merge_schema;
use datafusion_expr::{Expr, WindowFunctionDefinition};
use std::sync::Arc;

/// Finishes a plan of `SqlToRel`.
pub fn analyze(plan: LogicalPlan, functions: &FunctionContext) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(|plan| node(plan, functions).map(Transformed::yes))?.data;
    check_markers(&plan)?;
    Ok(plan)
}

/// Replaces the markers of literals.
pub fn replace_literals(expr: Expr) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| {
        if let Expr::ScalarFunction(call) = &expr
            && let Some(literal) = as_literal(&call.func)
        {
            return Ok(Transformed::yes(literal.to_expr()));
        }
        Ok(Transformed::no(expr))
    })
}

fn node(plan: LogicalPlan, functions: &FunctionContext) -> Result<LogicalPlan> {
    let plan = match plan {
        LogicalPlan::Union(union) => return coerce_union(union, functions),
        LogicalPlan::Join(join) if set_operations::is_set_operation(&join) => {
            return set_operations::finish(join, functions);
        }
        other => other,
    };
    let schema = match &plan {
        LogicalPlan::TableScan(scan) => scan.projected_schema.clone(),
        other => match other.inputs().as_slice() {
            [input] => input.schema().clone(),
            inputs => Arc::new(merge_schema(inputs)),
        },
    };
    let condition = match &plan {
        LogicalPlan::Filter(filter) if matches!(filter.input.as_ref(), LogicalPlan::Aggregate(_)) => Some("HAVING"),
        LogicalPlan::Filter(_) => Some("WHERE"),
        _ => None,
    };
    let in_groups = has_groups(&plan);
    let is_window = matches!(plan, LogicalPlan::Window(_));
    let preserver = NamePreserver::new(&plan);
    let plan = plan
        .map_expressions(|expr| {
            // Most expressions of most plans.
            if condition.is_none() && is_column(&expr) {
                return Ok(Transformed::no(expr));
            }
            let name = preserver.save(&expr);
            let expr = replace_literals(expr)?.data;
            let coerced = coerce_expression(expr, &schema, functions)?;
            let typed = match condition {
                Some(clause) => as_condition(coerced.data, clause, &schema)?,
                None => coerced.data,
            };
            check_types(&typed, &schema)?;
            let typed = if in_groups || is_window { type_in_groups(typed)? } else { typed };
            Ok(Transformed::yes(name.restore(typed)))
        })?
        .data
        .recompute_schema()?;
    match plan {
        LogicalPlan::Aggregate(aggregate) => match grouping::expand(aggregate, functions)? {
            LogicalPlan::Aggregate(aggregate) => group_window(aggregate),
            other => Ok(other),
        },
        LogicalPlan::Join(join) if join.join_constraint == JoinConstraint::Using => merge_columns(join, functions),
        LogicalPlan::Join(join) => match temporal::bind(join)? {
            Ok(plan) => Ok(plan),
            Err(join) => unnest::correlate(join),
        },
        other => Ok(other),
    }
}

/// A column of USING or NATURAL is the value of the side that has one, in the common type of both. It has the name of the
/// left one.
fn merge_columns(join: Join, functions: &FunctionContext) -> Result<LogicalPlan> {
    let has_left = matches!(join.join_type, JoinType::Inner | JoinType::Left);
    let mut columns: Vec<Expr> = join.schema.columns().into_iter().map(Expr::Column).collect();
    let mut merges = false;
    for (left, right) in &join.on {
        let (Expr::Column(left), Expr::Column(_)) = (left, right) else { continue };
        let types = [sql_type_of(&Expr::Column(left.clone()), &join.schema)?, sql_type_of(right, &join.schema)?];
        if has_left && types[0].logical == types[1].logical {
            continue;
        }
        let common = common_sql_type(&types, &format!("column {} of USING", left.name)).map_err(external)?;
        let sides = [Expr::Column(left.clone()), right.clone()];
        let sides = sides.into_iter().zip(&types).map(|(side, from)| cast_to(side, from, &common, functions));
        let coalesce = functions::scalar("COALESCE").ok_or_else(|| external(Error::internal("no COALESCE")))?;
        let value = scalar_udf(coalesce, functions).call(sides.collect::<Result<Vec<_>>>()?);
        let place = join.schema.index_of_column(left)?;
        columns[place] = value.alias_qualified(left.relation.clone(), left.name.clone());
        merges = true;
    }
    let join = LogicalPlan::Join(join);
    match merges {
        true => Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(join))?)),
        false => Ok(join),
    }
}

/// A column of the input as it is, perhaps under another name.
fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Alias(alias) => matches!(alias.expr.as_ref(), Expr::Column(_)),
        _ => false,
    }
}

/// Whether each row of an aggregate stands for at least one row of its input: GROUP BY with keys.
fn has_groups(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => {
            // With grouping sets, the set is a key: even the one without columns has no row before there is one of the input.
            !aggregate.group_expr.is_empty()
        }
        _ => false,
    }
}

/// Aggregates without FILTER of arguments that are NOT NULL are NOT NULL in a group, and in a window without a lower bound: of
/// another one Flink does not know that it has the current row.
fn type_in_groups(expr: Expr) -> Result<Expr> {
    let typed = expr.transform_up(|expr| match expr {
        Expr::AggregateFunction(mut call) if call.params.filter.is_none() => {
            let Some(function) = flink_aggregate(&call.func) else {
                return Ok(Transformed::no(Expr::AggregateFunction(call)));
            };
            call.func = aggregate_udf(functions::grouped(function.clone()));
            Ok(Transformed::yes(Expr::AggregateFunction(call)))
        }
        Expr::WindowFunction(mut call) => {
            if let WindowFunctionDefinition::AggregateUDF(function) = &call.fun
                && call.params.window_frame.start_bound.is_unbounded()
                && let Some(function) = flink_aggregate(function)
            {
                call.fun = WindowFunctionDefinition::AggregateUDF(aggregate_udf(functions::grouped(function.clone())));
            }
            Ok(Transformed::yes(Expr::WindowFunction(call)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(typed.data)
}

/// What DataFusion does not ask for: that every part has a type, and constants.
fn check_types(expr: &Expr, schema: &DFSchema) -> Result<()> {
    sql_type_of(expr, schema)?;
    expr.apply(|part| {
        let (name, distinct, arguments) = match part {
            Expr::AggregateFunction(call) => (call.func.name(), call.params.distinct, &call.params.args),
            Expr::WindowFunction(call) => (call.fun.name(), call.params.distinct, &call.params.args),
            _ => return Ok(TreeNodeRecursion::Continue),
        };
        if distinct && name == "COUNT" && arguments.len() != 1 {
            return Err(external(Error::unsupported("COUNT(DISTINCT ...) of other than one column")));
        }
        check_constants(name, arguments, schema)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// The separator of LISTAGG and the percentages of PERCENTILE are the same for all rows.
fn check_constants(name: &str, arguments: &[Expr], schema: &DFSchema) -> Result<()> {
    let (Some(argument), "LISTAGG" | "PERCENTILE") = (arguments.get(1), name) else { return Ok(()) };
    if argument.column_refs().is_empty() && !argument.is_volatile() {
        return Ok(());
    }
    let types = arguments.iter().map(|argument| Ok(sql_type_of(argument, schema)?.logical.to_string()));
    let types = format!("({})", types.collect::<Result<Vec<_>>>()?.join(", "));
    let why = "the second argument must be a constant";
    let forms = if name == "LISTAGG" { "LISTAGG(STRING, ';')" } else { "PERCENTILE(number, 0.5)" };
    Err(external(Error::new(
        &functions::codes::WRONG_ARGUMENTS,
        &[("function", &name), ("types", &types), ("why", &why), ("forms", &forms)],
    )))
}

/// `GROUP BY TUMBLE(ts, size)` as an aggregate over a window table; the output columns keep their names.
fn group_window(aggregate: Aggregate) -> Result<LogicalPlan> {
    let mut window: Option<(&'static str, Vec<Expr>)> = None;
    for key in &aggregate.group_expr {
        let Expr::ScalarFunction(call) = key else { continue };
        let Some(marker) = as_window_marker(&call.func) else { continue };
        match &window {
            None => window = Some((marker.window, call.args.clone())),
            Some((name, arguments)) if *name == marker.window && *arguments == call.args => {}
            Some(_) => return Err(external(Error::unsupported("GROUP BY with several windows"))),
        }
    }
    let Some((name, arguments)) = window else { return Ok(LogicalPlan::Aggregate(aggregate)) };
    let (time, kind) = window_of(name, &arguments)?;
    let schema = aggregate.schema.clone();
    let keys: Vec<Expr> = aggregate
        .group_expr
        .iter()
        .map(|key| match key {
            Expr::ScalarFunction(call) => match as_window_marker(&call.func) {
                Some(marker) => Expr::Column(Column::new_unqualified(match marker.part {
                    WindowPart::Start => WINDOW_COLUMNS[0],
                    WindowPart::End => WINDOW_COLUMNS[1],
                    WindowPart::Rowtime | WindowPart::Proctime | WindowPart::Time => WINDOW_COLUMNS[2],
                })),
                None => key.clone(),
            },
            _ => key.clone(),
        })
        .collect();
    let partition = match kind {
        WindowKind::Session { .. } => keys
            .iter()
            .filter_map(|key| match key {
                Expr::Column(column)
                    if column.relation.is_some() || !WINDOW_COLUMNS.contains(&column.name.as_str()) =>
                {
                    Some(column.clone())
                }
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let input = Arc::unwrap_or_clone(aggregate.input);
    let node = WindowTableNode::try_new(input, kind, 0, time, partition, true)?.into_plan();
    let windowed = Aggregate::try_new(Arc::new(node), keys, aggregate.aggr_expr)?;
    let names = windowed
        .schema
        .iter()
        .zip(schema.iter())
        .map(|((qualifier, field), (wanted_qualifier, wanted))| {
            let column = Expr::Column(Column::from((qualifier, field)));
            if qualifier == wanted_qualifier && field.name() == wanted.name() {
                column
            } else {
                column.alias_qualified(wanted_qualifier.cloned(), wanted.name())
            }
        })
        .collect();
    Ok(LogicalPlan::Projection(Projection::try_new(names, Arc::new(LogicalPlan::Aggregate(windowed)))?))
}

fn window_of(name: &str, arguments: &[Expr]) -> Result<(Column, WindowKind)> {
    let wrong = |problem: &str| {
        let example = match name {
            "TUMBLE" => "TUMBLE(ts, INTERVAL '1' MINUTE)",
            "HOP" => "HOP(ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE): slide, then size",
            _ => "SESSION(ts, INTERVAL '10' MINUTE)",
        };
        external(Error::new(
            &codes::WINDOW_ARGUMENT,
            &[("function", &name), ("problem", &problem), ("example", &example)],
        ))
    };
    let Some((Expr::Column(time), sizes)) = arguments.split_first() else {
        return Err(wrong("the first argument is the time column"));
    };
    let sizes: Vec<i64> = sizes
        .iter()
        .map(|size| interval_ms(size).filter(|ms| *ms > 0))
        .collect::<Option<_>>()
        .ok_or_else(|| wrong("the other arguments are positive intervals of days to seconds"))?;
    let kind = match (name, sizes.as_slice()) {
        ("TUMBLE", [size_ms]) => WindowKind::Tumble { size_ms: *size_ms },
        // Any size: only window functions must be cut into whole slides.
        ("HOP", [slide_ms, size_ms]) => WindowKind::Hop { slide_ms: *slide_ms, size_ms: *size_ms },
        ("SESSION", [gap_ms]) => WindowKind::Session { gap_ms: *gap_ms },
        _ => return Err(wrong("the number of arguments does not fit")),
    };
    Ok((time.clone(), kind))
}

/// A marker that is left has no window in GROUP BY.
fn check_markers(plan: &LogicalPlan) -> Result<()> {
    let mut found = None;
    plan.apply(|plan| {
        plan.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::ScalarFunction(call) = expr
                    && let Some(marker) = as_window_marker(&call.func)
                {
                    let arguments = call.args.iter().map(plain_sql).collect::<Vec<_>>().join(", ");
                    found = Some((call.func.name().to_string(), marker.window, arguments));
                    return Ok(TreeNodeRecursion::Stop);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    match found {
        None => Ok(()),
        Some((function, window, arguments)) => Err(external(Error::new(
            &codes::WINDOW_AUXILIARY,
            &[("function", &function), ("window", &window), ("arguments", &arguments)],
        ))),
    }
}
