//! Rows as often as a column says: what INTERSECT ALL and EXCEPT ALL end with.

use datafusion_common::{Column, DFSchema, DFSchemaRef, Result};
use datafusion_expr::logical_plan::{Extension, LogicalPlan};
use datafusion_expr::{Expr, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// Every row as often as a BIGINT column says. Output: the columns of the input without that one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReplicateNode {
    /// Where the rows come from.
    pub input: Arc<LogicalPlan>,
    /// The number of copies.
    pub count: Column,
    schema: DFSchemaRef,
}

impl ReplicateNode {
    /// Rows of `input` as often as `count` says.
    ///
    /// # Errors
    /// `count` is no column of the input.
    pub fn try_new(input: LogicalPlan, count: Column) -> Result<ReplicateNode> {
        let place = input.schema().index_of_column(&count)?;
        let fields = input.schema().iter().enumerate().filter(|(index, _)| *index != place);
        let fields = fields.map(|(_, (qualifier, field))| (qualifier.cloned(), field.clone())).collect();
        let schema = Arc::new(DFSchema::new_with_metadata(fields, input.schema().as_arrow().metadata().clone())?);
        Ok(ReplicateNode { input: Arc::new(input), count, schema })
    }

    /// This node as a logical plan.
    pub fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }
}

/// The node behind an extension node of a logical plan.
pub fn as_replicate(node: &dyn UserDefinedLogicalNode) -> Option<&ReplicateNode> {
    node.as_any().downcast_ref()
}

impl PartialOrd for ReplicateNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (&self.input, &self.count).partial_cmp(&(&other.input, &other.count))
    }
}

impl UserDefinedLogicalNodeCore for ReplicateNode {
    fn name(&self) -> &str {
        "Replicate"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![Expr::Column(self.count.clone())]
    }

    /// Copies are alike: a filter may pass.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        HashSet::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replicate: {}", self.count)
    }

    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let count = expressions.into_iter().find_map(super::plain_column).unwrap_or_else(|| self.count.clone());
        let input = inputs.into_iter().next().unwrap_or_else(|| self.input.as_ref().clone());
        ReplicateNode::try_new(input, count)
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let count = self.input.schema().index_of_column(&self.count).ok()?;
        let mut needed: Vec<usize> =
            output_columns.iter().map(|&index| if index < count { index } else { index + 1 }).collect();
        needed.push(count);
        if needed.len() == 1 && self.input.schema().fields().len() > 1 {
            // Rows must have a column to be counted by.
            needed.push(usize::from(count == 0));
        }
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
