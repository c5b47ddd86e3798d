//! Names of the operators that are not built yet, as Flink's users know them.

use datafusion_common::JoinType;
use datafusion_expr::logical_plan::{Distinct, Join};
use datafusion_expr::{Expr, LogicalPlan};

/// What a plan node would need.
pub fn feature(plan: &LogicalPlan) -> String {
    match plan {
        LogicalPlan::Join(join) => self::join(join).into(),
        LogicalPlan::Unnest(_) => "UNNEST".into(),
        LogicalPlan::Distinct(Distinct::On(_)) => "DISTINCT ON".into(),
        LogicalPlan::RecursiveQuery(_) => "WITH RECURSIVE".into(),
        LogicalPlan::Subquery(_) => "correlated subqueries".into(),
        other => other.display().to_string(),
    }
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
