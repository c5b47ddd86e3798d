//! Aggregates over all rows, of which one column stays even if nobody reads it.

use datafusion_common::{DFSchemaRef, Result};
use datafusion_expr::logical_plan::{Extension, LogicalPlan};
use datafusion_expr::{Expr, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// An aggregate without GROUP BY. In a stream it has no row before its input has one, so it must not become a constant row
/// when none of its columns is read.
///
/// Output: the columns of the input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SingleRowNode {
    /// The aggregate.
    pub input: Arc<LogicalPlan>,
}

impl SingleRowNode {
    /// This node as a logical plan.
    pub fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }
}

/// The aggregate behind an extension node of a logical plan.
pub fn as_single_row(node: &dyn UserDefinedLogicalNode) -> Option<&SingleRowNode> {
    node.as_any().downcast_ref()
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
