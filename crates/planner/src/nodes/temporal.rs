//! Joins with the rows of another time: FOR SYSTEM_TIME AS OF.

use base::types::TIME_KEY;
use datafusion_common::{DFSchemaRef, JoinType, Result};
use datafusion_expr::logical_plan::builder::build_join_schema;
use datafusion_expr::logical_plan::{Extension, LogicalPlan};
use datafusion_expr::{Expr, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// Every left row with the right rows of its time. Output: the columns of both.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TemporalJoinNode {
    /// The rows that ask.
    pub left: Arc<LogicalPlan>,
    /// The table that is asked.
    pub right: Arc<LogicalPlan>,
    /// LEFT JOIN.
    pub is_outer: bool,
    /// The time, over the left columns.
    pub time: Expr,
    /// ON, over the columns of both.
    pub condition: Expr,
    schema: DFSchemaRef,
}

impl TemporalJoinNode {
    /// A join of `left` with `right` as of `time`.
    ///
    /// # Errors
    /// Columns of the same name.
    pub fn try_new(
        left: Arc<LogicalPlan>,
        right: Arc<LogicalPlan>,
        is_outer: bool,
        time: Expr,
        condition: Expr,
    ) -> Result<TemporalJoinNode> {
        let kind = if is_outer { JoinType::Left } else { JoinType::Inner };
        let schema = Arc::new(build_join_schema(left.schema(), right.schema(), &kind)?);
        Ok(TemporalJoinNode { left, right, is_outer, time, condition, schema })
    }

    /// This node as a logical plan.
    pub fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }
}

/// The node behind an extension node of a logical plan.
pub fn as_temporal_join(node: &dyn UserDefinedLogicalNode) -> Option<&TemporalJoinNode> {
    node.as_any().downcast_ref()
}

impl PartialOrd for TemporalJoinNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (&self.left, &self.right, self.is_outer).partial_cmp(&(&other.left, &other.right, other.is_outer))
    }
}

impl UserDefinedLogicalNodeCore for TemporalJoinNode {
    fn name(&self) -> &str {
        "TemporalJoin"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.left, &self.right]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![self.time.clone(), self.condition.clone()]
    }

    /// A filter below the right side would change which version is valid, and DataFusion cannot tell the sides of a node apart.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_outer { "left" } else { "inner" };
        write!(f, "TemporalJoin: {kind}, time=[{}], condition=[{}]", self.time, self.condition)
    }

    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let mut expressions = expressions.into_iter();
        let time = expressions.next().unwrap_or_else(|| self.time.clone());
        let condition = expressions.next().unwrap_or_else(|| self.condition.clone());
        let mut inputs = inputs.into_iter().map(Arc::new);
        let left = inputs.next().unwrap_or_else(|| self.left.clone());
        let right = inputs.next().unwrap_or_else(|| self.right.clone());
        TemporalJoinNode::try_new(left, right, self.is_outer, time, condition)
    }

    /// The inputs keep what the readers need, what the condition and the time read, and the right rowtime.
    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let (left, right) = (self.left.schema(), self.right.schema());
        let width = left.fields().len();
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        for &column in output_columns {
            if column < width { lefts.push(column) } else { rights.push(column - width) }
        }
        for column in self.condition.column_refs().into_iter().chain(self.time.column_refs()) {
            // A name that is found on both sides is kept on both.
            lefts.extend(left.maybe_index_of_column(column));
            rights.extend(right.maybe_index_of_column(column));
        }
        let is_rowtime =
            |field: &arrow::datatypes::Field| field.metadata().get(TIME_KEY).is_some_and(|time| time == "rowtime");
        rights.extend(right.fields().iter().enumerate().filter(|(_, field)| is_rowtime(field)).map(|(place, _)| place));
        for columns in [&mut lefts, &mut rights] {
            columns.sort_unstable();
            columns.dedup();
        }
        Some(vec![lefts, rights])
    }
}
