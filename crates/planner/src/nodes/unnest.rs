//! UNNEST.

use arrow::datatypes::FieldRef;
use datafusion_common::{DFSchema, DFSchemaRef, Result, TableReference};
use datafusion_expr::logical_plan::{Extension, LogicalPlan};
use datafusion_expr::{Expr, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Every row once per element of a collection.
///
/// Output: the columns of the input, then those of the elements, then the ordinal if wanted. While a statement is bound, an
/// UNNEST stands beside its input in FROM: it is over one row without columns, and its collection names columns of the outer
/// query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnnestNode {
    /// Where the rows come from.
    pub input: Arc<LogicalPlan>,
    /// The collection, over the columns of the input.
    pub collection: Expr,
    /// The columns of the elements, the ordinal included.
    pub elements: Vec<(Option<TableReference>, FieldRef)>,
    /// Whether the last of them is the ordinal.
    pub with_ordinality: bool,
    /// LEFT JOIN: a row without elements is given once.
    pub outer: bool,
    /// What must be true of a pair in a LEFT JOIN, over the columns of the output.
    pub condition: Option<Expr>,
    schema: DFSchemaRef,
}

impl UnnestNode {
    /// UNNEST over an input.
    ///
    /// # Errors
    /// Columns of the same name.
    pub fn try_new(
        input: Arc<LogicalPlan>,
        collection: Expr,
        elements: Vec<(Option<TableReference>, FieldRef)>,
        with_ordinality: bool,
    ) -> Result<UnnestNode> {
        let mut fields: Vec<(Option<TableReference>, FieldRef)> =
            input.schema().iter().map(|(qualifier, field)| (qualifier.cloned(), field.clone())).collect();
        fields.extend(elements.iter().cloned());
        let schema = Arc::new(DFSchema::new_with_metadata(fields, input.schema().as_arrow().metadata().clone())?);
        Ok(UnnestNode { input, collection, elements, with_ordinality, outer: false, condition: None, schema })
    }

    /// The same as a LEFT JOIN.
    pub fn outer(self, condition: Option<Expr>) -> UnnestNode {
        UnnestNode { outer: true, condition, ..self }
    }

    /// This node as a logical plan.
    pub fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }
}

/// The UNNEST behind an extension node of a logical plan.
pub fn as_unnest(node: &dyn UserDefinedLogicalNode) -> Option<&UnnestNode> {
    node.as_any().downcast_ref()
}

impl Hash for UnnestNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.input, &self.collection, &self.elements, self.with_ordinality, self.outer, &self.condition).hash(state);
    }
}

impl PartialOrd for UnnestNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (&self.input, &self.collection, self.outer).partial_cmp(&(&other.input, &other.collection, other.outer))
    }
}

impl UserDefinedLogicalNodeCore for UnnestNode {
    fn name(&self) -> &str {
        "Unnest"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    /// The condition is not among them: it is over the output, while rules look at these over the input.
    fn expressions(&self) -> Vec<Expr> {
        vec![self.collection.clone()]
    }

    /// A filter on columns of the input looks at all elements of a row alike: it may pass.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.elements.iter().map(|(_, field)| field.name().clone()).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unnest: {}{}", self.collection, if self.outer { ", outer" } else { "" })
    }

    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let collection = expressions.into_iter().next().map_or_else(|| self.collection.clone(), Expr::unalias);
        let input = inputs.into_iter().next().map_or_else(|| self.input.clone(), Arc::new);
        let node = UnnestNode::try_new(input, collection, self.elements.clone(), self.with_ordinality)?;
        Ok(UnnestNode { outer: self.outer, condition: self.condition.clone(), ..node })
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let schema = self.input.schema();
        let width = schema.fields().len();
        let mut needed: Vec<usize> = output_columns.iter().copied().filter(|index| *index < width).collect();
        let read = self.collection.column_refs().into_iter().chain(self.condition.iter().flat_map(Expr::column_refs));
        needed.extend(read.filter_map(|column| schema.maybe_index_of_column(column)));
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
