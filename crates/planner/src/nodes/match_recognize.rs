//! MATCH_RECOGNIZE.

use crate::bridge::{typed_field, with_time};
use base::{SqlType, TimeAttribute};
use datafusion_common::{Column, DFSchema, DFSchemaRef, Result, TableReference};
use datafusion_expr::logical_plan::{Extension, LogicalPlan};
use datafusion_expr::{Expr, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The qualifier of columns without a variable: those of any row of the match.
pub const ANY_VARIABLE: &str = "*";

/// Where matching goes on; variables by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skip {
    /// Behind the last row.
    PastLastRow,
    /// Behind the first row.
    ToNextRow,
    /// At the first row of a variable.
    ToFirst(usize),
    /// At the last row of a variable.
    ToLast(usize),
}

/// A variable of the pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The least rows.
    pub min: u32,
    /// The most rows.
    pub max: Option<u32>,
    /// Whether what follows leaves its rows alone.
    pub is_greedy: bool,
    /// Its condition, over [`MatchNode::rows`].
    pub condition: Option<Expr>,
}

/// What is given of a match.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd)]
pub struct Measure {
    /// Its name.
    pub name: String,
    /// Over [`MatchNode::rows`].
    pub expr: Expr,
    /// Its type.
    pub sql_type: MeasureType,
}

/// The type of a measure.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MeasureType {
    /// Its SQL type.
    pub sql_type: SqlType,
    /// Whether it is a time attribute.
    pub time: Option<TimeAttribute>,
}

impl PartialOrd for MeasureType {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.sql_type.to_string().partial_cmp(&other.sql_type.to_string())
    }
}

/// A column to order by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd)]
pub struct Order {
    /// Column of the input.
    pub column: Column,
    /// DESC.
    pub descending: bool,
    /// NULL before all values.
    pub nulls_first: bool,
}

/// What MATCH_RECOGNIZE says.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd)]
pub struct Clauses {
    /// PARTITION BY.
    pub partition: Vec<Column>,
    /// ORDER BY: a time attribute, then others.
    pub order: Vec<Order>,
    /// MEASURES.
    pub measures: Vec<Measure>,
    /// AFTER MATCH SKIP.
    pub skip: Skip,
    /// PATTERN.
    pub variables: Vec<Variable>,
    /// PATTERN as it is written.
    pub pattern: String,
    /// WITHIN.
    pub within_ms: Option<i64>,
}

/// Rows in the order of time that follow a pattern. Output: the partition columns, then the measures.
///
/// Expressions are over the rows of a match: [`MatchNode::rows`] has the columns of the input once for [`ANY_VARIABLE`] and once
/// for every variable. They are hidden from rules, which would look for their columns in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchNode {
    /// Where the rows come from.
    pub input: Arc<LogicalPlan>,
    /// The clauses.
    pub clauses: Clauses,
    /// The columns of expressions.
    pub rows: DFSchemaRef,
    /// The columns of the input that `rows` repeats.
    pub columns: Vec<Column>,
    schema: DFSchemaRef,
}

impl MatchNode {
    /// MATCH_RECOGNIZE over an input.
    ///
    /// # Errors
    /// Columns of the same name.
    pub fn try_new(
        input: Arc<LogicalPlan>,
        clauses: Clauses,
        rows: DFSchemaRef,
        columns: Vec<Column>,
    ) -> Result<MatchNode> {
        let mut fields: Vec<(Option<TableReference>, arrow::datatypes::FieldRef)> = Vec::new();
        for column in &clauses.partition {
            let index = input.schema().index_of_column(column)?;
            fields.push((None, input.schema().field(index).clone()));
        }
        for measure in &clauses.measures {
            let field = typed_field(&measure.name, &measure.sql_type.sql_type);
            fields.push((
                None,
                match measure.sql_type.time {
                    None => field,
                    Some(TimeAttribute::Rowtime) => with_time(&field, "rowtime"),
                    Some(TimeAttribute::Proctime) => with_time(&field, "proctime"),
                },
            ));
        }
        let schema = Arc::new(DFSchema::new_with_metadata(fields, input.schema().as_arrow().metadata().clone())?);
        Ok(MatchNode { input, clauses, rows, columns, schema })
    }

    /// This node as a logical plan.
    pub fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }

    /// All expressions over rows of a match.
    fn over_rows(&self) -> impl Iterator<Item = &Expr> {
        let measures = self.clauses.measures.iter().map(|measure| &measure.expr);
        measures.chain(self.clauses.variables.iter().filter_map(|variable| variable.condition.as_ref()))
    }
}

/// The MATCH_RECOGNIZE behind an extension node of a logical plan.
pub fn as_match(node: &dyn UserDefinedLogicalNode) -> Option<&MatchNode> {
    node.as_any().downcast_ref()
}

impl Hash for MatchNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.input, &self.clauses).hash(state);
    }
}

impl PartialOrd for MatchNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (&self.input, &self.clauses).partial_cmp(&(&other.input, &other.clauses))
    }
}

impl UserDefinedLogicalNodeCore for MatchNode {
    fn name(&self) -> &str {
        "MatchRecognize"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        let order = self.clauses.order.iter().map(|order| &order.column);
        self.clauses.partition.iter().chain(order).cloned().map(Expr::Column).collect()
    }

    /// Rows that a filter would take away are part of matches.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MatchRecognize: pattern=[{}]", self.clauses.pattern)
    }

    fn with_exprs_and_inputs(&self, _expressions: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let input = inputs.into_iter().next().map_or_else(|| self.input.clone(), Arc::new);
        MatchNode::try_new(input, self.clauses.clone(), self.rows.clone(), self.columns.clone())
    }

    /// All measures are computed; the input keeps what they, the conditions and the order read.
    fn necessary_children_exprs(&self, _output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let schema = self.input.schema();
        let own = self.clauses.partition.iter().chain(self.clauses.order.iter().map(|order| &order.column));
        let mut needed: Vec<usize> = own.filter_map(|column| schema.maybe_index_of_column(column)).collect();
        for column in self.over_rows().flat_map(Expr::column_refs) {
            let read = self.columns.iter().find(|known| known.name == column.name);
            needed.extend(read.and_then(|column| schema.maybe_index_of_column(column)));
        }
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
