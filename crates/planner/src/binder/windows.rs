//! Relations with a meaning of their own: window table functions and VALUES, and a screen before subqueries.

use super::coerce::{cast_to, common_sql_type, sql_type_of};
use super::markers::check_time_column;
use super::match_recognize;
use super::rewrite::{GROUP_WINDOWS, ROW_MARKER, VALUES_MARKER, call_arguments, function_name, table_function};
use super::select::plain_table;
use super::unnest;
use crate::bridge::{external, typed_field};
use crate::codes;
use crate::literal::{Literal, as_literal};
use crate::nodes::WindowTableNode;
use base::Error;
use base::function::FunctionContext;
use base::plan::WindowKind;
use datafusion_common::{Column, DFSchema, ExprSchema, Result, ScalarValue};
use datafusion_expr::logical_plan::{EmptyRelation, Projection, Values};
use datafusion_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion_expr::{Expr, LogicalPlan};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use syntax::ast::{self, Function, TableFactor};
use syntax::dialect::{PARTITION_BY, TABLE, marker_arguments};

/// The relation planner.
#[derive(Debug)]
pub struct FlinkRelations {
    functions: FunctionContext,
    /// Set while a relation is handed back to DataFusion's own planning.
    passing: AtomicBool,
}

impl FlinkRelations {
    /// A planner for one statement.
    pub fn new(functions: FunctionContext) -> FlinkRelations {
        FlinkRelations { functions, passing: AtomicBool::new(false) }
    }

    /// DataFusion's own plan of a relation.
    fn default_plan(&self, relation: TableFactor, context: &mut dyn RelationPlannerContext) -> Result<LogicalPlan> {
        self.passing.store(true, Ordering::Relaxed);
        let plan = context.plan(relation);
        self.passing.store(false, Ordering::Relaxed);
        plan
    }
}

impl RelationPlanner for FlinkRelations {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        if self.passing.swap(false, Ordering::Relaxed) {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        let planned = |plan, alias| Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))));
        match relation {
            TableFactor::TableFunction { expr: ast::Expr::Function(function), alias } => {
                let name = function_name(&function).unwrap_or_default();
                let plan = match name.as_str() {
                    VALUES_MARKER => self.values(&function, context)?,
                    _ => self.window(&name, &function, context)?,
                };
                with_columns(plan, alias).and_then(|(plan, alias)| planned(plan, alias))
            }
            TableFactor::UNNEST { array_exprs: collections, alias, with_ordinality, .. } => {
                let written = unnest::Written { collections, with_ordinality, alias };
                let (plan, alias) = unnest::plan(written, context)?;
                with_columns(plan, alias).and_then(|(plan, alias)| planned(plan, alias))
            }
            TableFactor::Table { name, args: Some(arguments), alias, .. } => {
                let window = name.to_string().trim_matches('`').to_uppercase();
                let function = table_function(name, arguments.args);
                let plan = self.window(&window, &function, context)?;
                with_columns(plan, alias).and_then(|(plan, alias)| planned(plan, alias))
            }
            TableFactor::MatchRecognize {
                table,
                partition_by,
                order_by,
                measures,
                after_match_skip,
                pattern,
                symbols,
                alias,
                rows_per_match: _,
            } => {
                let input = context.plan(*table)?;
                let written =
                    match_recognize::Written { partition_by, order_by, measures, after_match_skip, pattern, symbols };
                let plan = match_recognize::plan(input, written, &self.functions, context)?;
                with_columns(plan, alias).and_then(|(plan, alias)| planned(plan, alias))
            }
            TableFactor::Derived { lateral, subquery, alias, sample } => {
                let relation = TableFactor::Derived { lateral, subquery, alias: None, sample };
                let plan = screen(self.default_plan(relation, context)?)?;
                with_columns(plan, alias).and_then(|(plan, alias)| planned(plan, alias))
            }
            TableFactor::Table { name, alias, version, .. } if version.is_none() => {
                let relation = plain_table(name);
                let plan = screen(self.default_plan(relation, context)?)?;
                with_columns(plan, alias).and_then(|(plan, alias)| planned(plan, alias))
            }
            other => Ok(RelationPlanning::Original(Box::new(other))),
        }
    }
}

/// Hides what DataFusion knows about dependent columns: it would add them to GROUP BY.
pub fn screen(plan: LogicalPlan) -> Result<LogicalPlan> {
    if plan.schema().functional_dependencies().is_empty() {
        return Ok(plan);
    }
    let columns: Vec<Expr> =
        plan.schema().iter().map(|(qualifier, field)| Expr::Column(Column::from((qualifier, field)))).collect();
    let fields = plan.schema().iter().map(|(qualifier, field)| (qualifier.cloned(), field.clone())).collect();
    let schema = DFSchema::new_with_metadata(fields, plan.schema().as_arrow().metadata().clone())?;
    Ok(LogicalPlan::Projection(Projection::try_new_with_schema(columns, Arc::new(plan), Arc::new(schema))?))
}

/// Applies the column names of an alias here: DataFusion would read them as expressions.
fn with_columns(plan: LogicalPlan, alias: Option<ast::TableAlias>) -> Result<(LogicalPlan, Option<ast::TableAlias>)> {
    let names: Vec<String> = alias.iter().flat_map(|alias| &alias.columns).map(|c| c.name.value.clone()).collect();
    let alias = super::select::without_columns(alias);
    if names.is_empty() {
        return Ok((plan, alias));
    }
    if names.len() != plan.schema().fields().len() {
        let reason =
            format!("the alias names {} columns, but the table has {}", names.len(), plan.schema().fields().len());
        return Err(external(Error::new(&codes::BIND, &[("reason", &reason)])));
    }
    Ok((rename(plan, &names)?, alias))
}

/// The same columns under other names.
pub fn rename(plan: LogicalPlan, names: &[String]) -> Result<LogicalPlan> {
    let columns = plan
        .schema()
        .iter()
        .zip(names)
        .map(|((qualifier, field), name)| {
            let column = Expr::Column(Column::from((qualifier, field)));
            if field.name() == name && qualifier.is_none() { column } else { column.alias(name) }
        })
        .collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?))
}

impl FlinkRelations {
    /// VALUES: the cells of a column get their common type.
    fn values(&self, function: &Function, context: &mut dyn RelationPlannerContext) -> Result<LogicalPlan> {
        let empty = DFSchema::empty();
        let mut rows = Vec::new();
        for (_, row) in call_arguments(function) {
            let ast::Expr::Function(row) = &row else { continue };
            if function_name(row).as_deref() != Some(ROW_MARKER) {
                continue;
            }
            let cells = call_arguments(row)
                .into_iter()
                .map(|(_, cell)| context.sql_to_expr(cell, &empty).map(plain_literal))
                .collect::<Result<Vec<_>>>()?;
            rows.push(cells);
        }
        let width = rows.first().map_or(0, Vec::len);
        if width == 0 {
            return Ok(LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema: Arc::new(empty) }));
        }
        let mut fields = Vec::with_capacity(width);
        for column in 0..width {
            let types = rows.iter().map(|row| sql_type_of(&row[column], &empty)).collect::<Result<Vec<_>>>()?;
            let common = common_sql_type(&types, "VALUES").map_err(external)?;
            for (row, from) in rows.iter_mut().zip(&types) {
                let cell = std::mem::replace(&mut row[column], Expr::Literal(ScalarValue::Null, None));
                row[column] = cast_to(cell, from, &common, &self.functions)?;
            }
            fields.push((None, typed_field(&format!("EXPR${column}"), &common)));
        }
        let schema = Arc::new(DFSchema::new_with_metadata(fields, Default::default())?);
        Ok(LogicalPlan::Values(Values { schema, values: rows }))
    }

    /// A window table function.
    fn window(&self, name: &str, function: &Function, context: &mut dyn RelationPlannerContext) -> Result<LogicalPlan> {
        if !GROUP_WINDOWS.contains(&name) && name != "CUMULATE" {
            return Err(external(Error::new(&codes::TABLE_FUNCTION, &[("name", &name)])));
        }
        let mut arguments = WindowArguments::new(name, function)?;
        let (input, partition) = match arguments.take("DATA") {
            Some(table) => self.table_argument(name, &table, context)?,
            None => return Err(wrong(name, "the table is missing")),
        };
        let time = arguments.take("TIMECOL").ok_or_else(|| wrong(name, "DESCRIPTOR(column) is missing"))?;
        let time =
            descriptor(name, &time).ok_or_else(|| wrong(name, "the time column is written as DESCRIPTOR(column)"))?;
        let time = match context.sql_to_expr(time, input.schema())? {
            Expr::Column(column) => column,
            other => return Err(wrong(name, &format!("{other} is no column"))),
        };
        check_time_column(name, &time.name, input.schema().field_from_column(&time)?).map_err(external)?;
        let mut interval = |key: &str| arguments.take(key).map(|expr| milliseconds(name, expr, context)).transpose();
        let kind = match name {
            "TUMBLE" => WindowKind::Tumble { size_ms: positive(name, "size", interval("SIZE")?)? },
            "HOP" => WindowKind::Hop {
                slide_ms: positive(name, "slide", interval("SLIDE")?)?,
                size_ms: positive(name, "size", interval("SIZE")?)?,
            },
            "CUMULATE" => WindowKind::Cumulate {
                step_ms: positive(name, "step", interval("STEP")?)?,
                size_ms: positive(name, "size", interval("SIZE")?)?,
            },
            _ => WindowKind::Session { gap_ms: positive(name, "gap", interval("GAP")?)? },
        };
        let offset_ms = interval("OFFSET")?.unwrap_or(0);
        check_multiple(name, &kind).map_err(external)?;
        let partition = partition
            .into_iter()
            .map(|expr| match context.sql_to_expr(expr, input.schema())? {
                Expr::Column(column) => Ok(column),
                other => Err(wrong(name, &format!("PARTITION BY takes columns, not {other}"))),
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(WindowTableNode::try_new(input, kind, offset_ms, time, partition, false)?.into_plan())
    }

    /// `TABLE t [PARTITION BY ..]` or a subquery.
    fn table_argument(
        &self,
        window: &str,
        table: &ast::Expr,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<(LogicalPlan, Vec<ast::Expr>)> {
        let derived = |query: &ast::Query| TableFactor::Derived {
            lateral: false,
            subquery: Box::new(query.clone()),
            alias: None,
            sample: None,
        };
        if let ast::Expr::Subquery(query) = table {
            return Ok((context.plan(derived(query))?, Vec::new()));
        }
        let Some(parts) = marker_arguments(table, TABLE) else {
            return Err(wrong(window, "its first argument is a table: TABLE t"));
        };
        let mut partition = Vec::new();
        let mut relation = None;
        for part in parts {
            match part {
                ast::Expr::CompoundIdentifier(name) => relation = Some(plain_table(name.clone().into())),
                ast::Expr::Identifier(name) => relation = Some(plain_table(vec![name.clone()].into())),
                ast::Expr::Subquery(query) => relation = Some(derived(query)),
                other => match marker_arguments(other, PARTITION_BY) {
                    Some(keys) => partition.extend(keys.into_iter().cloned()),
                    None => return Err(external(Error::unsupported(format!("{other} in {window}")))),
                },
            }
        }
        let relation = relation.ok_or_else(|| wrong(window, "its first argument is a table: TABLE t"))?;
        Ok((context.plan(relation)?, partition))
    }
}

/// A literal in the place of its marker.
fn plain_literal(expr: Expr) -> Expr {
    match &expr {
        Expr::ScalarFunction(call) => as_literal(&call.func).map_or(expr.clone(), |literal| literal.to_expr()),
        _ => expr,
    }
}

fn example(window: &str) -> &'static str {
    match window {
        "TUMBLE" => "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
        "HOP" => "HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE): slide, then size",
        "CUMULATE" => "CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY): step, then size",
        _ => "SESSION(TABLE orders PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
    }
}

fn wrong(window: &str, problem: &str) -> datafusion_common::DataFusionError {
    external(Error::new(
        &codes::WINDOW_ARGUMENT,
        &[("function", &window), ("problem", &problem), ("example", &example(window))],
    ))
}

/// The arguments of a window function by name; unnamed ones by position.
struct WindowArguments(Vec<(String, ast::Expr)>);

impl WindowArguments {
    fn new(window: &str, function: &Function) -> Result<WindowArguments> {
        let order: &[&str] = match window {
            "TUMBLE" => &["DATA", "TIMECOL", "SIZE", "OFFSET"],
            "HOP" => &["DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"],
            "CUMULATE" => &["DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"],
            _ => &["DATA", "TIMECOL", "GAP"],
        };
        let arguments = call_arguments(function)
            .into_iter()
            .enumerate()
            .map(|(index, (name, expr))| {
                let name = match name {
                    Some(name) => name,
                    None => order.get(index).ok_or_else(|| wrong(window, "there are too many arguments"))?.to_string(),
                };
                if order.contains(&name.as_str()) {
                    Ok((name, expr))
                } else {
                    Err(wrong(window, &format!("it has no {name}")))
                }
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(WindowArguments(arguments))
    }

    fn take(&mut self, name: &str) -> Option<ast::Expr> {
        let index = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(index).1)
    }
}

fn descriptor(_window: &str, expr: &ast::Expr) -> Option<ast::Expr> {
    let ast::Expr::Function(function) = expr else { return None };
    if function_name(function).as_deref() != Some("DESCRIPTOR") {
        return None;
    }
    match call_arguments(function).as_slice() {
        [(None, column)] => Some(column.clone()),
        _ => None,
    }
}

fn milliseconds(window: &str, expr: ast::Expr, context: &mut dyn RelationPlannerContext) -> Result<i64> {
    let expr = context.sql_to_expr(expr, &DFSchema::empty())?;
    interval_ms(&expr).ok_or_else(|| wrong(window, &format!("{} is no interval of days to seconds", plain_sql(&expr))))
}

/// The length of a day-time interval literal.
pub fn interval_ms(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(ScalarValue::DurationMillisecond(Some(value)), _) => Some(*value),
        Expr::ScalarFunction(call) => match as_literal(&call.func)?.value {
            ScalarValue::DurationMillisecond(Some(value)) => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// An argument of a window as people write it.
pub fn plain_sql(expr: &Expr) -> String {
    match expr {
        Expr::Column(column) => column.name.clone(),
        Expr::Literal(ScalarValue::DurationMillisecond(Some(value)), _) => Literal::day_time(*value).sql,
        Expr::ScalarFunction(call) => match as_literal(&call.func) {
            Some(literal) => literal.sql.clone(),
            None => expr.to_string(),
        },
        other => other.to_string(),
    }
}

fn positive(window: &str, what: &str, value: Option<i64>) -> Result<i64> {
    match value {
        Some(value) if value > 0 => Ok(value),
        Some(_) => Err(wrong(window, &format!("the {what} must be positive"))),
        None => Err(wrong(window, &format!("the {what} is missing"))),
    }
}

/// Flink takes only sizes that are multiples of the slide or step.
pub fn check_multiple(window: &str, kind: &WindowKind) -> base::Result<()> {
    let (what, step_ms, size_ms) = match kind {
        WindowKind::Hop { slide_ms, size_ms } => ("slide", *slide_ms, *size_ms),
        WindowKind::Cumulate { step_ms, size_ms } => ("step", *step_ms, *size_ms),
        _ => return Ok(()),
    };
    if size_ms % step_ms == 0 {
        return Ok(());
    }
    Err(Error::new(
        &codes::WINDOW_MULTIPLE,
        &[("function", &window), ("step", &what), ("size_ms", &size_ms), ("step_ms", &step_ms)],
    ))
}
