//! Names of the operators that are not built yet, as Flink's users know them.

use datafusion_common::JoinType;
use datafusion_expr::logical_plan::{Distinct, Join};
use datafusion_expr::{Expr, LogicalPlan};

/// What a plan node would need.
pub fn feature(plan: &LogicalPlan) -> String {
    match plan {
        LogicalPlan::Join(join) => self::join(join).into(),
        LogicalPlan::Window(window) if ranks(&window.window_expr) => "ROW_NUMBER (Top-N, deduplication)".into(),
        LogicalPlan::Window(_) => "OVER aggregation".into(),
        LogicalPlan::Sort(sort) if sort.fetch.is_some() => "ORDER BY ... LIMIT (Top-N)".into(),
        LogicalPlan::Sort(_) => "ORDER BY".into(),
        LogicalPlan::Limit(limit) if matches!(limit.input.as_ref(), LogicalPlan::Sort(_)) => {
            "ORDER BY ... LIMIT (Top-N)".into()
        }
        LogicalPlan::Limit(_) => "LIMIT".into(),
        LogicalPlan::Unnest(_) => "UNNEST".into(),
        LogicalPlan::Distinct(Distinct::On(_)) => "DISTINCT ON".into(),
        LogicalPlan::RecursiveQuery(_) => "WITH RECURSIVE".into(),
        LogicalPlan::Subquery(_) => "correlated subqueries".into(),
        other => other.display().to_string(),
    }
}

/// A filter over ROW_NUMBER is a Top-N.
pub fn in_filter(input: &LogicalPlan) -> Option<&'static str> {
    match input {
        LogicalPlan::Window(window) if ranks(&window.window_expr) => Some("Top-N and deduplication (ROW_NUMBER)"),
        LogicalPlan::Projection(projection) => in_filter(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => in_filter(&alias.input),
        _ => None,
    }
}

/// ROW_NUMBER without a filter.
pub fn in_projection(input: &LogicalPlan) -> Option<&'static str> {
    match input {
        LogicalPlan::Window(window) if ranks(&window.window_expr) => Some("OVER aggregation (ROW_NUMBER)"),
        _ => None,
    }
}

fn ranks(exprs: &[Expr]) -> bool {
    const RANKS: [&str; 3] = ["ROW_NUMBER", "RANK", "DENSE_RANK"];
    exprs.iter().any(|expr| {
        let mut expr = expr;
        while let Expr::Alias(alias) = expr {
            expr = &alias.expr;
        }
        match expr {
            Expr::WindowFunction(call) => RANKS.contains(&call.fun.name().to_uppercase().as_str()),
            _ => false,
        }
    })
}

fn join(join: &Join) -> &'static str {
    match join.join_type {
        JoinType::LeftSemi | JoinType::RightSemi => return "semi join (IN, EXISTS)",
        JoinType::LeftAnti | JoinType::RightAnti => return "anti join (NOT IN, NOT EXISTS)",
        JoinType::LeftMark | JoinType::RightMark => return "IN or EXISTS inside a larger condition",
        _ => {}
    }
    let is_time = |schema: &datafusion_common::DFSchema, column: &datafusion_common::Column| {
        schema
            .index_of_column(column)
            .is_ok_and(|index| schema.field(index).metadata().contains_key(base::types::TIME_KEY))
    };
    let bounds = join.filter.as_ref().is_some_and(|filter| {
        let columns = filter.column_refs();
        columns.iter().any(|column| is_time(join.left.schema(), column))
            && columns.iter().any(|column| is_time(join.right.schema(), column))
    });
    let window = join.on.iter().any(|(left, right)| {
        [left, right].iter().all(|side| matches!(side, Expr::Column(column) if column.name.starts_with("window_")))
    });
    if window {
        "window join"
    } else if bounds {
        "interval join"
    } else {
        "regular join"
    }
}
