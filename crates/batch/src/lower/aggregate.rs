//! GROUP BY and SELECT DISTINCT.

use super::{Lowering, Rows, check_key, named};
use crate::aggregate::FlinkAggregate;
use crate::expression::Typed;
use base::{Error, Result, SqlType};
use datafusion_common::{DFSchema, ScalarValue};
use datafusion_expr::Expr;
use datafusion_expr::expr::AggregateFunction;
use datafusion_expr::logical_plan::Aggregate;
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion_physical_expr::expressions::Literal;
use datafusion_physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use planner::batch::from_datafusion;
use planner::bridge::flink_aggregate;
use std::sync::Arc;

/// A call with its FILTER.
type Call = (Arc<AggregateFunctionExpr>, Option<Arc<dyn PhysicalExpr>>, SqlType);

impl Lowering<'_> {
    /// GROUP BY.
    pub(super) fn aggregate(&self, aggregate: &Aggregate) -> Result<Rows> {
        let input = self.lower(&aggregate.input)?;
        let schema = aggregate.input.schema();
        let calls =
            aggregate.aggr_expr.iter().map(|expr| self.call(&input, schema, expr)).collect::<Result<Vec<Call>>>()?;
        let keys = self.compile_all(&input, schema, &aggregate.group_expr)?;
        aggregate.group_expr.iter().zip(&keys).try_for_each(|(expr, key)| check_key(expr, &key.sql_type))?;
        let keys = named(keys, &aggregate.schema);
        let types: Vec<SqlType> = keys.iter().map(|(key, _)| key.sql_type.clone()).collect();
        let keys = keys.into_iter().map(|(key, name)| (key.expr, name)).collect();
        group(input, PhysicalGroupBy::new_single(keys), types, calls)
    }

    fn call(&self, input: &Rows, schema: &DFSchema, expr: &Expr) -> Result<Call> {
        let mut expr = expr;
        while let Expr::Alias(alias) = expr {
            expr = &alias.expr;
        }
        let Expr::AggregateFunction(AggregateFunction { func, params }) = expr else {
            return Err(Error::unsupported(format!("{expr} as an aggregate in batch mode")));
        };
        let function = flink_aggregate(func)
            .ok_or_else(|| Error::internal(format!("{} is not one of our aggregates", func.name())))?;
        if !params.order_by.is_empty() || params.null_treatment.is_some() {
            return Err(Error::unsupported(format!("ORDER BY or IGNORE NULLS inside {}", function.name())));
        }
        let arguments = self.compile_all(input, schema, &params.args)?;
        let types = arguments.iter().map(|argument| argument.sql_type.clone()).collect();
        let call = FlinkAggregate::new(function.clone(), types, params.distinct)?;
        let result = call.result().clone();
        let filter = match &params.filter {
            None => None,
            Some(filter) => Some(self.compile(input, schema, filter)?.expr),
        };
        let name = call_text(function.name(), params.distinct, &arguments, filter.as_ref());
        let physical = AggregateExprBuilder::new(call.udaf(), argument_expressions(arguments))
            .schema(input.schema())
            .human_display(name.clone())
            .alias(name)
            .build()
            .map_err(from_datafusion)?;
        Ok((Arc::new(physical), filter, result))
    }
}

/// A call for people.
fn call_text(name: &str, distinct: bool, arguments: &[Typed], filter: Option<&Arc<dyn PhysicalExpr>>) -> String {
    let distinct = if distinct { "DISTINCT " } else { "" };
    let arguments: Vec<String> = arguments.iter().map(|argument| argument.expr.to_string()).collect();
    let arguments = if arguments.is_empty() { "*".to_string() } else { arguments.join(", ") };
    let filter = filter.map_or(String::new(), |filter| format!(" FILTER (WHERE {filter})"));
    format!("{name}({distinct}{arguments}){filter}")
}

/// DataFusion wants at least one argument; COUNT(*) has none.
pub(super) fn argument_expressions(arguments: Vec<Typed>) -> Vec<Arc<dyn PhysicalExpr>> {
    match arguments.is_empty() {
        true => vec![Arc::new(Literal::new(ScalarValue::Boolean(Some(true))))],
        false => arguments.into_iter().map(|argument| argument.expr).collect(),
    }
}

fn group(input: Rows, keys: PhysicalGroupBy, mut types: Vec<SqlType>, calls: Vec<Call>) -> Result<Rows> {
    let schema = input.schema();
    let mut functions = Vec::with_capacity(calls.len());
    let mut filters = Vec::with_capacity(calls.len());
    for (function, filter, sql_type) in calls {
        functions.push(function);
        filters.push(filter);
        types.push(sql_type);
    }
    let plan = AggregateExec::try_new(AggregateMode::Single, keys, functions, filters, input.plan, schema)
        .map_err(from_datafusion)?;
    Ok(Rows { plan: Arc::new(plan), types })
}

/// The different rows.
pub(super) fn distinct(input: Rows) -> Result<Rows> {
    let schema = input.schema();
    schema.fields().iter().zip(&input.types).try_for_each(|(field, one)| check_key(field.name(), one))?;
    let keys = (input.types.iter().enumerate())
        .map(|(index, one)| (Typed::column(index, &schema, one).expr, schema.field(index).name().clone()))
        .collect();
    let types = input.types.clone();
    group(input, PhysicalGroupBy::new_single(keys), types, Vec::new())
}
