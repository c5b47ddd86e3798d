//! Extension nodes of the logical plan: what DataFusion has no node for.
//!
//! Both ends live in this crate: the binder makes them, the lowering reads them back with [`as_window_table`]. A node says
//! which columns its input must keep and which predicates may pass below it, so that the optimizer treats it rightly.

pub mod expand;
pub mod match_recognize;
pub mod replicate;
pub mod temporal;
pub mod unnest;

use crate::bridge::{typed_field, with_time};
use crate::catalog::CatalogTable;
use base::plan::WindowKind;
use base::types::TimeAttribute;
use base::{Field, LogicalType};
use datafusion_common::{Column, DFSchema, DFSchemaRef, ExprSchema, Result, TableReference};
use datafusion_expr::logical_plan::{Extension, LogicalPlan};
use datafusion_expr::{Expr, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The names of the columns that a window table function appends.
pub const WINDOW_COLUMNS: [&str; 3] = ["window_start", "window_end", "window_time"];

/// A table for rows that are too late for a window.
#[derive(Debug, Clone)]
pub struct LateTable(pub Arc<CatalogTable>);

impl LateTable {
    /// The places of its columns among those of a row, by name; checked when the query was bound.
    pub fn columns(&self, row: &DFSchema) -> Vec<usize> {
        let place = |name: &str| row.fields().iter().position(|field| field.name() == name);
        self.0.definition.persisted().filter_map(|column| place(&column.name)).collect()
    }
}

impl PartialEq for LateTable {
    fn eq(&self, other: &Self) -> bool {
        self.0.identity() == other.0.identity()
    }
}

impl Eq for LateTable {}

/// TUMBLE, HOP, CUMULATE or SESSION over a time column.
///
/// Output: the columns of the input, then `window_start`, `window_end`, `window_time` without a qualifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowTableNode {
    /// Where the rows come from.
    pub input: Arc<LogicalPlan>,
    /// The cut of time.
    pub kind: WindowKind,
    /// Shift of the window starts, in milliseconds; may be negative.
    pub offset_ms: i64,
    /// The time attribute, a column of the input.
    pub time: Column,
    /// PARTITION BY of a SESSION window, columns of the input.
    pub partition: Vec<Column>,
    /// Whether it was written as `GROUP BY TUMBLE(...)`: such a window takes part in an aggregate over any changelog, and
    /// the aggregate is a window aggregate even where it does not name both ends of the window.
    pub legacy: bool,
    /// Where rows go that are too late for it.
    pub late: Option<LateTable>,
    schema: DFSchemaRef,
}

impl WindowTableNode {
    /// A window over `time`; the caller has checked that it is a time attribute.
    ///
    /// # Errors
    /// `time` is no column of the input.
    pub fn try_new(
        input: LogicalPlan,
        kind: WindowKind,
        offset_ms: i64,
        time: Column,
        partition: Vec<Column>,
        legacy: bool,
    ) -> Result<WindowTableNode> {
        let time_field = Field::from_arrow(input.schema().field_from_column(&time)?)
            .map_err(|error| datafusion_common::DataFusionError::External(Box::new(error)))?;
        let time_type = match time_field.sql_type.logical {
            LogicalType::TimestampLtz(_) => LogicalType::TimestampLtz(3),
            _ => LogicalType::Timestamp(3),
        };
        let bound = LogicalType::Timestamp(3).not_null();
        let nullable = legacy && time_field.time != Some(TimeAttribute::Proctime);
        let window_time = typed_field(WINDOW_COLUMNS[2], &time_type.nullable().with_nullable(nullable));
        let attribute = match time_field.time {
            Some(TimeAttribute::Proctime) => "proctime",
            _ => "rowtime",
        };
        let mut fields: Vec<(Option<TableReference>, Arc<arrow::datatypes::Field>)> =
            input.schema().iter().map(|(qualifier, field)| (qualifier.cloned(), field.clone())).collect();
        fields.push((None, typed_field(WINDOW_COLUMNS[0], &bound)));
        fields.push((None, typed_field(WINDOW_COLUMNS[1], &bound)));
        fields.push((None, with_time(&window_time, attribute)));
        let schema = DFSchema::new_with_metadata(fields, input.schema().as_arrow().metadata().clone())?;
        Ok(WindowTableNode {
            input: Arc::new(input),
            kind,
            offset_ms,
            time,
            partition,
            legacy,
            late: None,
            schema: Arc::new(schema),
        })
    }

    /// The same with a table for late rows.
    pub fn with_late(self, late: LateTable) -> WindowTableNode {
        WindowTableNode { late: Some(late), ..self }
    }

    /// This node as a logical plan.
    pub fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }
}

/// The column that a rule gave back, with or without another name.
fn plain_column(expr: Expr) -> Option<Column> {
    match expr.unalias() {
        Expr::Column(column) => Some(column),
        _ => None,
    }
}

/// The window table node behind an extension node of a logical plan.
pub fn as_window_table(node: &dyn UserDefinedLogicalNode) -> Option<&WindowTableNode> {
    node.as_any().downcast_ref()
}

impl Hash for WindowTableNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.input.hash(state);
        format!("{:?}", self.kind).hash(state);
        (self.offset_ms, &self.time, &self.partition, self.legacy, self.late.is_some()).hash(state);
    }
}

impl PartialOrd for WindowTableNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.offset_ms, &self.time, &self.partition).partial_cmp(&(other.offset_ms, &other.time, &other.partition))
    }
}

impl UserDefinedLogicalNodeCore for WindowTableNode {
    fn name(&self) -> &str {
        "WindowTable"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        std::iter::once(&self.time).chain(&self.partition).cloned().map(Expr::Column).collect()
    }

    /// A filter on a column of the input may pass below a window, except below SESSION: there it changes the sessions.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        match self.kind {
            WindowKind::Session { .. } => self.schema.fields().iter().map(|field| field.name().clone()).collect(),
            _ => WINDOW_COLUMNS.map(String::from).into(),
        }
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WindowTable: {:?}, time=[{}]", self.kind, self.time)?;
        if self.offset_ms != 0 {
            write!(f, ", offset_ms=[{}]", self.offset_ms)?;
        }
        Ok(())
    }

    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        let mut columns = expressions.into_iter().filter_map(|expression| match expression {
            Expr::Column(column) => Some(column),
            Expr::Alias(alias) => match *alias.expr {
                Expr::Column(column) => Some(column),
                _ => None,
            },
            _ => None,
        });
        let time = columns.next().unwrap_or_else(|| self.time.clone());
        let partition: Vec<Column> = columns.collect();
        let input = inputs.pop().unwrap_or_else(|| self.input.as_ref().clone());
        let node = WindowTableNode::try_new(input, self.kind.clone(), self.offset_ms, time, partition, self.legacy)?;
        Ok(WindowTableNode { late: self.late.clone(), ..node })
    }

    /// The input keeps what the readers need, what the window needs, and what its late rows need.
    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let width = self.input.schema().fields().len();
        let mut needed: Vec<usize> = output_columns.iter().copied().filter(|index| *index < width).collect();
        for column in std::iter::once(&self.time).chain(&self.partition) {
            needed.extend(self.input.schema().index_of_column(column).ok());
        }
        needed.extend(self.late.iter().flat_map(|late| late.columns(self.input.schema())));
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
