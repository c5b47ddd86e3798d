//! Names of the operators that are not built yet, as Flink's users know them.

use datafusion_expr::LogicalPlan;
use datafusion_expr::logical_plan::Distinct;

/// What a plan node would need.
pub fn feature(plan: &LogicalPlan) -> String {
    match plan {
        LogicalPlan::Unnest(_) => "UNNEST".into(),
        LogicalPlan::Distinct(Distinct::On(_)) => "DISTINCT ON".into(),
        LogicalPlan::RecursiveQuery(_) => "WITH RECURSIVE".into(),
        LogicalPlan::Subquery(_) => "correlated subqueries".into(),
        other => other.display().to_string(),
    }
}
