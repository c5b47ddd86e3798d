//! From a logical plan to DataFusion's operators.
//!
//! Every operator has one partition: rows keep a set order, and no operator has to meet another one's partitioning.
//! Columns are matched by position; names matter only in the expressions of the logical plan, and are resolved there.

mod aggregate;
mod collections;
mod join;
mod over;
mod window_table;

use crate::expression::{Moment, Typed, plain_field, record_batch};
use crate::table::{InOrderExec, RowsExec, Table, TableExec};
use arrow::array::ArrayRef;
use arrow::compute::SortOptions;
use arrow::datatypes::{Field as ArrowField, Schema, SchemaRef};
use base::function::FunctionContext;
use base::{Error, Result, SqlType};
use datafusion_common::{DFSchema, DataFusionError, ScalarValue};
use datafusion_expr::logical_plan::{Distinct, EmptyRelation, Limit, Sort, TableScan, Union, Values};
use datafusion_expr::{Expr, LogicalPlan, SortExpr};
use datafusion_physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion_physical_plan::ExecutionPlan;
use datafusion_physical_plan::filter::FilterExec;
use datafusion_physical_plan::limit::GlobalLimitExec;
use datafusion_physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion_physical_plan::sorts::sort::SortExec;
use datafusion_physical_plan::union::UnionExec;
use planner::batch::{BatchExpression, Scope, can_be_key, cast_column, common_type, from_datafusion, scan_identity};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

/// Rows of a physical plan, and the types of its columns.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The plan.
    pub plan: Arc<dyn ExecutionPlan>,
    /// One type per column.
    pub types: Vec<SqlType>,
}

impl Rows {
    fn schema(&self) -> SchemaRef {
        self.plan.schema()
    }
}

/// What lowering needs besides the logical plan.
#[derive(Debug)]
pub struct Lowering<'a> {
    /// The tables, by identity.
    pub tables: &'a BTreeMap<String, Arc<Table>>,
    /// What functions may know.
    pub functions: &'a FunctionContext,
    /// The current time.
    pub moment: Arc<Moment>,
}

impl Lowering<'_> {
    /// The physical plan of a logical one.
    ///
    /// # Errors
    /// What batch mode does not have.
    pub fn lower(&self, plan: &LogicalPlan) -> Result<Rows> {
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::SubqueryAlias(alias) => self.lower(&alias.input),
            LogicalPlan::Projection(projection) => {
                let input = self.lower(&projection.input)?;
                let columns = self.compile_all(&input, projection.input.schema(), &projection.expr)?;
                project(&input, named(columns, &projection.schema))
            }
            LogicalPlan::Filter(filter) => {
                let input = self.lower(&filter.input)?;
                let condition = self.compile(&input, filter.input.schema(), &filter.predicate)?;
                let plan = FilterExec::try_new(condition.expr, input.plan).map_err(from_datafusion)?;
                Ok(Rows { plan: Arc::new(plan), types: input.types })
            }
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let input = self.lower(input)?;
                aggregate::distinct(input)
            }
            LogicalPlan::Distinct(Distinct::On(_)) => Err(Error::unsupported("DISTINCT ON")),
            LogicalPlan::Sort(sort) => self.sort(sort, None),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Values(values) => self.values(values),
            LogicalPlan::EmptyRelation(empty) => empty_relation(empty),
            LogicalPlan::Window(window) => self.over(window),
            LogicalPlan::Extension(extension) => self.extension(extension.node.as_ref()),
            other => Err(Error::unsupported(format!("{} in batch mode", title(other)))),
        }
    }

    /// An expression over rows whose columns `schema` names.
    fn compile(&self, input: &Rows, schema: &DFSchema, expr: &Expr) -> Result<Typed> {
        Ok(self.typed(self.scope(schema, &input.types).compile(expr)?, input))
    }

    fn compile_all(&self, input: &Rows, schema: &DFSchema, exprs: &[Expr]) -> Result<Vec<Typed>> {
        exprs.iter().map(|expr| self.compile(input, schema, expr)).collect()
    }

    fn scope<'s>(&'s self, schema: &'s DFSchema, types: &'s [SqlType]) -> Scope<'s> {
        Scope { schema, types, functions: self.functions }
    }

    fn typed(&self, compiled: BatchExpression, input: &Rows) -> Typed {
        Typed::new(compiled, &input.schema(), &self.moment)
    }

    fn scan(&self, scan: &TableScan) -> Result<Rows> {
        let table = scan_identity(scan)
            .and_then(|identity| self.tables.get(&identity))
            .ok_or_else(|| Error::internal(format!("{} is no table of the query", scan.table_name)))?;
        if !scan.filters.is_empty() || scan.fetch.is_some() {
            return Err(Error::internal("a filter or a limit was pushed into a scan"));
        }
        let row = table.definition.row.fields();
        let wanted: Vec<usize> = match &scan.projection {
            Some(projection) => projection.clone(),
            None => (0..scan.source.schema().fields().len()).collect(),
        };
        let places = wanted
            .iter()
            .map(|column| table.definition.columns.iter().position(|known| known == column))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| Error::internal("a scanned column was not collected"))?;
        let types = places.iter().map(|&place| row[place].sql_type.clone()).collect();
        Ok(Rows { plan: Arc::new(TableExec::new(table.clone(), places)), types })
    }

    /// Sort keys over rows.
    fn sort_keys(&self, input: &Rows, schema: &DFSchema, keys: &[SortExpr]) -> Result<Vec<PhysicalSortExpr>> {
        keys.iter()
            .map(|key| {
                let options = SortOptions { descending: !key.asc, nulls_first: key.nulls_first };
                let typed = self.compile(input, schema, &key.expr)?;
                check_key(&key.expr, &typed.sql_type)?;
                Ok(PhysicalSortExpr { expr: typed.expr, options })
            })
            .collect()
    }

    fn sort(&self, sort: &Sort, fetch: Option<usize>) -> Result<Rows> {
        let input = self.lower(&sort.input)?;
        let keys = self.sort_keys(&input, sort.input.schema(), &sort.expr)?;
        Ok(sorted(input, keys, sort.fetch.or(fetch)))
    }

    fn limit(&self, limit: &Limit) -> Result<Rows> {
        let count = |expr: &Option<Box<Expr>>| expr.as_deref().map(constant_count).transpose();
        let (skip, fetch) = (count(&limit.skip)?.unwrap_or(0), count(&limit.fetch)?);
        let input = match limit.input.as_ref() {
            // Only the first rows are kept while sorting.
            LogicalPlan::Sort(sort) => self.sort(sort, fetch.map(|fetch| fetch.saturating_add(skip)))?,
            other => self.lower(other)?,
        };
        Ok(Rows { plan: Arc::new(GlobalLimitExec::new(input.plan, skip, fetch)), types: input.types })
    }

    fn union(&self, union: &Union) -> Result<Rows> {
        let inputs = union.inputs.iter().map(|input| self.lower(input)).collect::<Result<Vec<_>>>()?;
        let width = union.schema.fields().len();
        if inputs.iter().any(|input| input.types.len() != width) {
            return Err(Error::internal("a union of rows of different widths"));
        }
        let types = (0..width)
            .map(|column| {
                let types: Vec<SqlType> = inputs.iter().map(|input| input.types[column].clone()).collect();
                common_type(&types)
            })
            .collect::<Result<Vec<_>>>()?;
        let aligned = inputs
            .iter()
            .map(|input| Ok(self.align(input, &types, &union.schema)?.plan))
            .collect::<Result<Vec<_>>>()?;
        let all = UnionExec::try_new(aligned).map_err(from_datafusion)?;
        Ok(Rows { plan: Arc::new(InOrderExec::new(all)), types })
    }

    /// Rows with columns of exactly these types, named as in `schema`.
    pub fn align(&self, input: &Rows, types: &[SqlType], schema: &DFSchema) -> Result<Rows> {
        let names: Vec<String> = input.schema().fields().iter().map(|field| field.name().clone()).collect();
        let columns = input
            .types
            .iter()
            .zip(types)
            .enumerate()
            .map(|(index, (from, to))| {
                let typed = self.typed(cast_column((index, from), to, &names, self.functions), input);
                Typed { sql_type: to.clone(), ..typed }
            })
            .collect();
        project(input, named(columns, schema))
    }

    /// VALUES: a projection over one row for each.
    fn values(&self, values: &Values) -> Result<Rows> {
        let (one, empty) = (single_row()?, DFSchema::empty());
        let rows = values.values.iter().map(|row| self.compile_all(&one, &empty, row)).collect::<Result<Vec<_>>>()?;
        let width = values.schema.fields().len();
        let types = (0..width)
            .map(|column| common_type(&rows.iter().map(|row| row[column].sql_type.clone()).collect::<Vec<_>>()))
            .collect::<Result<Vec<_>>>()?;
        let mut plans = Vec::with_capacity(rows.len());
        for row in rows {
            let row = project(&one, named(row, &values.schema))?;
            plans.push(self.align(&row, &types, &values.schema)?.plan);
        }
        let all = UnionExec::try_new(plans).map_err(from_datafusion)?;
        Ok(Rows { plan: Arc::new(InOrderExec::new(all)), types })
    }

    fn extension(&self, node: &dyn datafusion_expr::UserDefinedLogicalNode) -> Result<Rows> {
        if let Some(window) = planner::nodes::as_window_table(node) {
            return self.window_table(window);
        }
        if let Some(expand) = planner::nodes::expand::as_expand(node) {
            return self.expand(expand);
        }
        if let Some(unnest) = planner::nodes::unnest::as_unnest(node) {
            return self.unnest(unnest);
        }
        match planner::nodes::replicate::as_replicate(node) {
            Some(replicate) => self.replicate(replicate),
            None => Err(Error::unsupported(format!("{} in batch mode", node.name()))),
        }
    }
}

/// Refuses what rows cannot be told apart or ordered by.
fn check_key(name: impl Display, sql_type: &SqlType) -> Result<()> {
    match can_be_key(sql_type) {
        true => Ok(()),
        false => Err(Error::unsupported(format!("{name} of type {} as a key", sql_type.logical))),
    }
}

/// A schema of nullable fields without metadata.
fn plain_schema<'f>(fields: impl Iterator<Item = &'f ArrowField>, types: &[SqlType]) -> SchemaRef {
    let fields: Vec<_> = fields.zip(types).map(|(field, one)| plain_field(field.name(), one.arrow())).collect();
    Arc::new(Schema::new(fields))
}

/// All columns of rows as they are.
fn all_columns(input: &Rows) -> Vec<(Typed, String)> {
    let schema = input.schema();
    (input.types.iter().enumerate())
        .map(|(index, one)| (Typed::column(index, &schema, one), schema.field(index).name().clone()))
        .collect()
}

/// Columns with the names of a schema.
fn named(columns: Vec<Typed>, schema: &DFSchema) -> Vec<(Typed, String)> {
    columns.into_iter().zip(schema.fields()).map(|(column, field)| (column, field.name().clone())).collect()
}

/// Rows behind a projection.
pub fn project(input: &Rows, columns: Vec<(Typed, String)>) -> Result<Rows> {
    let types = columns.iter().map(|(column, _)| column.sql_type.clone()).collect();
    let columns = columns.into_iter().map(|(column, alias)| ProjectionExpr { expr: column.expr, alias });
    let plan = ProjectionExec::try_new(columns.collect::<Vec<_>>(), input.plan.clone()).map_err(from_datafusion)?;
    Ok(Rows { plan: Arc::new(plan), types })
}

/// Sorted rows. Without keys they stay as they are.
fn sorted(input: Rows, keys: Vec<PhysicalSortExpr>, fetch: Option<usize>) -> Rows {
    let Some(ordering) = LexOrdering::new(keys) else { return input };
    let plan = SortExec::new(ordering, input.plan).with_fetch(fetch);
    Rows { plan: Arc::new(plan), types: input.types }
}

/// One row without columns.
fn single_row() -> Result<Rows> {
    let schema: SchemaRef = Arc::new(Schema::empty());
    Ok(Rows { plan: Arc::new(RowsExec::new(record_batch(&schema, Vec::new(), 1)?)), types: Vec::new() })
}

fn empty_relation(empty: &EmptyRelation) -> Result<Rows> {
    if empty.produce_one_row {
        return single_row();
    }
    let fields = empty.schema.fields();
    let types = fields.iter().map(|field| SqlType::from_arrow(field)).collect::<Result<Vec<_>>>()?;
    let schema = plain_schema(fields.iter().map(|field| field.as_ref()), &types);
    let columns: Vec<ArrayRef> = types.iter().map(|one| arrow::array::new_empty_array(&one.arrow())).collect();
    Ok(Rows { plan: Arc::new(RowsExec::new(record_batch(&schema, columns, 0)?)), types })
}

/// The number that LIMIT or OFFSET names.
fn constant_count(expr: &Expr) -> Result<usize> {
    let value = match expr {
        Expr::Literal(ScalarValue::Int64(Some(value)), _) => Some(*value),
        Expr::Literal(ScalarValue::Int32(Some(value)), _) => Some(i64::from(*value)),
        _ => None,
    };
    value
        .and_then(|value| usize::try_from(value).ok())
        .ok_or_else(|| Error::unsupported(format!("LIMIT or OFFSET {expr} (a whole number is taken)")))
}

/// A plan's own line.
fn title(plan: &LogicalPlan) -> String {
    plan.display().to_string().split([':', ' ']).next().unwrap_or_default().to_string()
}

/// Our error out of DataFusion's, while a query runs.
pub fn to_error(error: DataFusionError) -> Error {
    let reason = error.strip_backtrace();
    match find_ours(&error) {
        Some(error) => error,
        None => Error::new(&crate::codes::BATCH_FAILED, &[("reason", &reason)]),
    }
}

/// One of our errors, wherever DataFusion or Arrow has put it.
fn find_ours(error: &DataFusionError) -> Option<Error> {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(ours) = error.downcast_ref::<Error>() {
            return Some(ours.clone());
        }
        source = match error.downcast_ref::<DataFusionError>() {
            Some(DataFusionError::External(inner)) => Some(inner.as_ref()),
            Some(DataFusionError::Shared(inner)) => Some(inner.as_ref()),
            Some(DataFusionError::ArrowError(inner, _)) => Some(inner.as_ref()),
            Some(DataFusionError::Context(_, inner)) | Some(DataFusionError::Diagnostic(_, inner)) => {
                Some(inner.as_ref())
            }
            _ => match error.downcast_ref::<arrow::error::ArrowError>() {
                Some(arrow::error::ArrowError::ExternalError(inner)) => Some(inner.as_ref()),
                _ => error.source(),
            },
        };
    }
    None
}
