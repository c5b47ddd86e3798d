//! Grouping sets.

use crate::bridge::typed_field;
use arrow::datatypes::FieldRef;
use base::LogicalType;
use datafusion_common::{Column, DFSchema, DFSchemaRef, Result, TableReference};
use datafusion_expr::logical_plan::{Extension, LogicalPlan};
use datafusion_expr::{Expr, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// The column that says which set a row is for.
pub const SET_COLUMN: &str = "$e";

/// A grouping set: which of the grouping columns it keeps, by position, and its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd)]
pub struct GroupingSet {
    /// Positions in [`ExpandNode::columns`].
    pub kept: Vec<usize>,
    /// A bit per column, set where it is left out; the first column has the highest bit.
    pub id: i64,
}

/// Every row once per grouping set, with NULL in the grouping columns that the set leaves out.
///
/// Output: the columns of the input, then [`SET_COLUMN`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExpandNode {
    /// Where the rows come from.
    pub input: Arc<LogicalPlan>,
    /// The grouping columns, columns of the input that nothing else reads.
    pub columns: Vec<Column>,
    /// The sets.
    pub sets: Vec<GroupingSet>,
    schema: DFSchemaRef,
}

impl ExpandNode {
    /// Grouping sets over an input.
    ///
    /// # Errors
    /// A column that the input does not have.
    pub fn try_new(input: LogicalPlan, columns: Vec<Column>, sets: Vec<GroupingSet>) -> Result<ExpandNode> {
        let mut fields: Vec<(Option<TableReference>, FieldRef)> =
            input.schema().iter().map(|(qualifier, field)| (qualifier.cloned(), field.clone())).collect();
        for (position, column) in columns.iter().enumerate() {
            let field = &mut fields[input.schema().index_of_column(column)?].1;
            let is_nullable = field.is_nullable() || sets.iter().any(|set| !set.kept.contains(&position));
            *field = Arc::new(field.as_ref().clone().with_nullable(is_nullable));
        }
        fields.push((None, typed_field(SET_COLUMN, &LogicalType::BigInt.not_null())));
        let schema = Arc::new(DFSchema::new_with_metadata(fields, input.schema().as_arrow().metadata().clone())?);
        Ok(ExpandNode { input: Arc::new(input), columns, sets, schema })
    }

    /// This node as a logical plan.
    pub fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }
}

/// The grouping sets behind an extension node of a logical plan.
pub fn as_expand(node: &dyn UserDefinedLogicalNode) -> Option<&ExpandNode> {
    node.as_any().downcast_ref()
}

impl PartialOrd for ExpandNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (&self.input, &self.columns, &self.sets).partial_cmp(&(&other.input, &other.columns, &other.sets))
    }
}

impl UserDefinedLogicalNodeCore for ExpandNode {
    fn name(&self) -> &str {
        "Expand"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        self.columns.iter().cloned().map(Expr::Column).collect()
    }

    /// NULL is put in the place of a grouping column's value: only a filter on other columns may pass.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.columns.iter().map(|column| column.name.clone()).chain([SET_COLUMN.to_string()]).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<i64> = self.sets.iter().map(|set| set.id).collect();
        let columns: Vec<String> = self.columns.iter().map(ToString::to_string).collect();
        write!(f, "Expand: columns=[{}], sets={ids:?}", columns.join(", "))
    }

    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let columns: Vec<Column> = expressions.into_iter().filter_map(super::plain_column).collect();
        let columns = if columns.len() == self.columns.len() { columns } else { self.columns.clone() };
        let input = inputs.into_iter().next().unwrap_or_else(|| self.input.as_ref().clone());
        ExpandNode::try_new(input, columns, self.sets.clone())
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let width = self.input.schema().fields().len();
        let mut needed: Vec<usize> = output_columns.iter().copied().filter(|index| *index < width).collect();
        needed.extend(self.columns.iter().filter_map(|column| self.input.schema().index_of_column(column).ok()));
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
