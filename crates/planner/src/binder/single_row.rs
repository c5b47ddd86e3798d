//! Aggregates over all rows, of which one column stays even if nobody reads it.

use datafusion_common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchemaRef, Result};
use datafusion_expr::logical_plan::{Extension, Limit, LogicalPlan};
use datafusion_expr::{Expr, UserDefinedLogicalNodeCore, lit};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Keeps aggregates without GROUP BY from becoming constants where nobody reads them, until [`release`]. Those over outer
/// columns stay as they are: the rules that take them apart must see them.
pub fn keep(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !plan.exists(|node| Ok(is_single_row(node) || holds_subquery(node)?))? {
        return Ok(plan);
    }
    let kept = plan.transform_up_with_subqueries(|plan| match &plan {
        aggregate if is_single_row(aggregate) && !reads_outer(aggregate)? => {
            // A condition without columns would pass below the aggregate, which has a row over nothing in a batch: no
            // condition passes LIMIT.
            let fetch = Some(Box::new(lit(1_i64)));
            let limit = LogicalPlan::Limit(Limit { skip: None, fetch, input: Arc::new(plan) });
            let node = Arc::new(SingleRowNode { input: Arc::new(limit) });
            Ok(Transformed::yes(LogicalPlan::Extension(Extension { node })))
        }
        _ => Ok(Transformed::no(plan)),
    })?;
    Ok(kept.data)
}

/// The plan without what [`keep`] has put in.
pub fn release(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !plan
        .exists(|node| Ok(matches!(node, LogicalPlan::Extension(one) if one.node.as_any().is::<SingleRowNode>())))?
    {
        return Ok(plan);
    }
    let released = plan.transform_up(|plan| {
        let LogicalPlan::Extension(extension) = &plan else { return Ok(Transformed::no(plan)) };
        match extension.node.as_any().downcast_ref::<SingleRowNode>() {
            Some(row) => Ok(Transformed::yes(without_limit(row.input.as_ref().clone())?)),
            None => Ok(Transformed::no(plan)),
        }
    })?;
    Ok(released.data)
}

/// The aggregate, behind what rules have put above it.
fn without_limit(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Limit(limit) => Ok(Arc::unwrap_or_clone(limit.input)),
        other => other.map_children(|child| Ok(Transformed::yes(without_limit(child)?))).data(),
    }
}

fn is_single_row(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty())
}

/// Whether an expression of a node holds a subquery.
pub(super) fn holds_subquery(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_subqueries(|_| {
        found = true;
        Ok(TreeNodeRecursion::Stop)
    })?;
    Ok(found)
}

fn reads_outer(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| {
        let mut found = false;
        node.apply_expressions(|expr| {
            found |= expr.contains_outer();
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        Ok(found)
    })
}

/// An aggregate without GROUP BY. In a stream it has no row before its input has one, so it must not become a constant row
/// when none of its columns is read.
///
/// Output: the columns of the input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SingleRowNode {
    /// The aggregate.
    input: Arc<LogicalPlan>,
}

impl PartialOrd for SingleRowNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for SingleRowNode {
    fn name(&self) -> &str {
        "SingleRow"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        HashSet::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SingleRow")
    }

    fn with_exprs_and_inputs(&self, _expressions: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        Ok(SingleRowNode { input: inputs.pop().map_or_else(|| self.input.clone(), Arc::new) })
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![if output_columns.is_empty() { vec![0] } else { output_columns.to_vec() }])
    }
}
