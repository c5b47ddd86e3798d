//! Common types: the branches of CASE, the items of IN, the inputs of UNION, the cells of VALUES.

use crate::bridge::{external, scalar_udf, type_field};
use crate::cast::{CAST_PREFIX, CastFunction};
use crate::codes;
use base::function::FunctionContext;
use base::types::TYPE_KEY;
use base::{Error, LogicalType, SqlType};
use datafusion_common::metadata::FieldMetadata;
use datafusion_common::tree_node::{Transformed, TreeNode};
use datafusion_common::{Column, DFSchema, Result, ScalarValue};
use datafusion_expr::expr::{Case, InList, ScalarFunction};
use datafusion_expr::logical_plan::{LogicalPlan, Projection, Union};
use datafusion_expr::{Expr, ExprSchemable};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The SQL type of an expression; NULL for a bare NULL.
pub fn sql_type_of(expr: &Expr, schema: &DFSchema) -> Result<SqlType> {
    let field = type_field(expr, schema)?;
    if field.data_type().is_null() {
        return Ok(LogicalType::Null.nullable());
    }
    SqlType::from_arrow(&field).map_err(external)
}

/// The common type of values.
///
/// # Errors
/// There is none; `place` says where, for people.
pub fn common_sql_type(types: &[SqlType], place: &str) -> base::Result<SqlType> {
    functions::common_type(types).ok_or_else(|| no_common_type(types, place))
}

fn no_common_type(types: &[SqlType], place: &str) -> Error {
    let mut names: Vec<String> = Vec::new();
    for sql_type in types {
        let name = sql_type.logical.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let example = names.first().cloned().unwrap_or_default();
    Error::new(&codes::NO_COMMON_TYPE, &[("where", &place), ("types", &names.join(", ")), ("example", &example)])
}

/// A literal of an SQL type.
pub fn typed_literal(value: ScalarValue, logical: &LogicalType) -> Expr {
    let metadata: BTreeMap<String, String> = [(TYPE_KEY.into(), logical.to_string())].into();
    Expr::Literal(value, Some(FieldMetadata::from(metadata)))
}

/// NULL of a type.
pub fn typed_null(logical: &LogicalType) -> Result<Expr> {
    Ok(typed_literal(ScalarValue::try_from(&logical.arrow())?, logical))
}

/// `expr` as a value of type `to`: itself, a literal where it is constant, else a cast.
pub fn cast_to(expr: Expr, from: &SqlType, to: &SqlType, functions: &FunctionContext) -> Result<Expr> {
    if from.logical == to.logical {
        return Ok(expr);
    }
    if from.logical == LogicalType::Null {
        return typed_null(&to.logical);
    }
    if let Expr::Literal(value, _) = &expr {
        let array = value.to_array_of_size(1)?;
        if let Ok(cast) = functions::cast(&array, from, to, false, functions) {
            return Ok(typed_literal(ScalarValue::try_from_array(&cast, 0)?, &to.logical));
        }
    }
    Ok(scalar_udf(CastFunction::create(to, false), functions).call(vec![expr]))
}

/// Gives CASE and IN one type each, and checks that NOT, IS TRUE and FILTER are asked of conditions.
pub fn coerce_expression(expr: Expr, schema: &DFSchema, functions: &FunctionContext) -> Result<Transformed<Expr>> {
    let condition = |operand: Box<Expr>, clause: &'static str| as_condition(*operand, clause, schema).map(Box::new);
    let truth = |operand: Box<Expr>| condition(operand, "IS TRUE");
    expr.transform_up(|expr| match expr {
        Expr::ScalarFunction(call) if call.name() == "TYPEOF" => type_text(&call, schema, functions),
        Expr::ScalarFunction(call) if LITERALS_MATTER.contains(&call.name()) => {
            typed_by_literals(call, schema, functions)
        }
        Expr::ScalarFunction(call) => Ok(exact_through_float(call)),
        Expr::Case(case) => coerce_case(case, schema, functions),
        Expr::InList(list) => coerce_in(list, schema, functions),
        Expr::Not(operand) => Ok(Transformed::yes(Expr::Not(condition(operand, "NOT")?))),
        Expr::IsTrue(operand) => Ok(Transformed::yes(Expr::IsTrue(truth(operand)?))),
        Expr::IsNotTrue(operand) => Ok(Transformed::yes(Expr::IsNotTrue(truth(operand)?))),
        Expr::IsFalse(operand) => Ok(Transformed::yes(Expr::IsFalse(truth(operand)?))),
        Expr::IsNotFalse(operand) => Ok(Transformed::yes(Expr::IsNotFalse(truth(operand)?))),
        Expr::IsUnknown(operand) => Ok(Transformed::yes(Expr::IsUnknown(truth(operand)?))),
        Expr::IsNotUnknown(operand) => Ok(Transformed::yes(Expr::IsNotUnknown(truth(operand)?))),
        Expr::AggregateFunction(mut call) if call.params.filter.is_some() => {
            call.params.filter = call.params.filter.take().map(|filter| condition(filter, "FILTER")).transpose()?;
            Ok(Transformed::yes(Expr::AggregateFunction(call)))
        }
        Expr::WindowFunction(mut call) if call.params.filter.is_some() => {
            call.params.filter = call.params.filter.take().map(|filter| condition(filter, "FILTER")).transpose()?;
            Ok(Transformed::yes(Expr::WindowFunction(call)))
        }
        other => Ok(Transformed::no(other)),
    })
}

/// Functions whose type follows from a literal after the first argument.
const LITERALS_MATTER: &[&str] = &["ROUND", "TRUNCATE", "TO_TIMESTAMP_LTZ"];

/// Settles the type of such a call: a number that is cast is a literal too, and any other constant is none, although the
/// optimizer makes one of it later. What a literal can never mean is refused.
fn typed_by_literals(
    mut call: ScalarFunction,
    schema: &DFSchema,
    functions: &FunctionContext,
) -> Result<Transformed<Expr>> {
    let is_instant = call.name() == "TO_TIMESTAMP_LTZ";
    let mut is_settled = true;
    for (index, argument) in call.args.iter_mut().enumerate().skip(1) {
        if let Some(literal) = cast_literal(argument, schema, functions)? {
            *argument = literal;
        }
        match argument {
            Expr::Literal(ScalarValue::Utf8(Some(text)), _) if is_instant => {
                functions::check_instant_literal(index, text).map_err(external)?;
            }
            Expr::Literal(..) => {}
            other => is_settled &= !other.column_refs().is_empty(),
        }
    }
    let call = Expr::ScalarFunction(call);
    if is_settled {
        return Ok(Transformed::yes(call));
    }
    let sql_type = sql_type_of(&call, schema)?;
    Ok(Transformed::yes(scalar_udf(CastFunction::create(&sql_type, false), functions).call(vec![call])))
}

/// `CAST(2 AS INT)` of a number as a literal.
fn cast_literal(expr: &Expr, schema: &DFSchema, functions: &FunctionContext) -> Result<Option<Expr>> {
    let Expr::ScalarFunction(call) = expr else { return Ok(None) };
    let target = call.func.name().strip_prefix(CAST_PREFIX).and_then(|name| name.parse::<SqlType>().ok());
    let (Some(target), [literal @ Expr::Literal(value, _)]) = (target, call.args.as_slice()) else { return Ok(None) };
    if !target.logical.is_integer() || !value.data_type().is_numeric() || value.is_null() {
        return Ok(None);
    }
    let from = sql_type_of(literal, schema)?;
    let literal = cast_to(literal.clone(), &from, &target, functions)?;
    Ok(matches!(literal, Expr::Literal(..)).then_some(literal))
}

/// `CAST(CAST(0.1 AS FLOAT) AS DOUBLE)` is 0.1: the digits of a literal survive a cast to FLOAT until they are a value.
/// Of a column, the digits that FLOAT lost are gone.
fn exact_through_float(mut call: ScalarFunction) -> Transformed<Expr> {
    let target = |name: &str| name.strip_prefix(CAST_PREFIX).and_then(|name| name.parse::<SqlType>().ok());
    let is_wider = target(call.func.name())
        .is_some_and(|target| matches!(target.logical, LogicalType::Double | LogicalType::Decimal { .. }));
    if is_wider
        && let [Expr::ScalarFunction(inner)] = call.args.as_slice()
        && target(inner.func.name()).is_some_and(|target| target.logical == LogicalType::Float)
        && let [Expr::Literal(value, _)] = inner.args.as_slice()
        && (value.data_type().is_numeric() && !value.is_null())
    {
        call.args = inner.args.clone();
        return Transformed::yes(Expr::ScalarFunction(call));
    }
    Transformed::no(Expr::ScalarFunction(call))
}

/// The text of TYPEOF, before anything is computed: a constant has another type than the expression that gives it.
fn type_text(call: &ScalarFunction, schema: &DFSchema, functions: &FunctionContext) -> Result<Transformed<Expr>> {
    let [argument, ..] = call.args.as_slice() else { return Ok(Transformed::no(Expr::ScalarFunction(call.clone()))) };
    let sql_type = sql_type_of(argument, schema)?;
    let text = if sql_type.logical == LogicalType::Null { "NULL".into() } else { sql_type.to_string() };
    let typed = CastFunction::create(&SqlType::string(), true);
    let literal = Expr::Literal(ScalarValue::Utf8(Some(text)), None);
    Ok(Transformed::yes(scalar_udf(typed, functions).call(vec![literal])))
}

/// A condition: BOOLEAN, which a bare NULL becomes.
///
/// # Errors
/// `operand` is of another type; `clause` says where, for people.
pub fn as_condition(operand: Expr, clause: &'static str, schema: &DFSchema) -> Result<Expr> {
    match sql_type_of(&operand, schema)?.logical {
        LogicalType::Boolean => Ok(operand),
        LogicalType::Null => typed_null(&LogicalType::Boolean),
        other => Err(external(Error::new(&codes::NOT_BOOLEAN, &[("clause", &clause), ("type", &other)]))),
    }
}

fn coerce_case(mut case: Case, schema: &DFSchema, functions: &FunctionContext) -> Result<Transformed<Expr>> {
    if case.expr.is_none() {
        for (when, _) in &mut case.when_then_expr {
            let taken = std::mem::replace(when.as_mut(), Expr::Literal(ScalarValue::Null, None));
            **when = as_condition(taken, "WHEN", schema)?;
        }
    }
    let branches = case.when_then_expr.iter().map(|(_, then)| then.as_ref()).chain(case.else_expr.as_deref());
    let types = branches.map(|branch| sql_type_of(branch, schema)).collect::<Result<Vec<_>>>()?;
    let common = common_sql_type(&types, "CASE").map_err(external)?;
    if common.logical == LogicalType::Null {
        return Err(external(Error::new(&codes::BARE_NULL, &[("type", &"STRING")])));
    }
    let mut changed = false;
    let branches = case.when_then_expr.iter_mut().map(|(_, then)| then.as_mut()).chain(case.else_expr.as_deref_mut());
    for (branch, from) in branches.zip(&types) {
        if from.logical != common.logical {
            let taken = std::mem::replace(branch, Expr::Literal(ScalarValue::Null, None));
            *branch = cast_to(taken, from, &common, functions)?;
            changed = true;
        }
    }
    // The type of CASE is told by Arrow's type alone, and DataFusion takes branches for NOT NULL where their condition
    // excludes NULL, which Flink does not. Both is put right by a cast that changes no value.
    let plain = LogicalType::from_arrow_type(&common.arrow()).map_err(external)?;
    let is_nullable = case.else_expr.is_none() || types.iter().any(|sql_type| sql_type.nullable);
    let case = Expr::Case(case);
    let loses_null = is_nullable && !case.to_field(schema)?.1.is_nullable();
    if plain != common.logical || loses_null {
        let typed = scalar_udf(CastFunction::create(&common, loses_null), functions).call(vec![case]);
        return Ok(Transformed::yes(typed));
    }
    Ok(Transformed::new_transformed(case, changed))
}

fn coerce_in(list: InList, schema: &DFSchema, functions: &FunctionContext) -> Result<Transformed<Expr>> {
    let operand = sql_type_of(&list.expr, schema)?;
    let types = list.list.iter().map(|item| sql_type_of(item, schema)).collect::<Result<Vec<_>>>()?;
    let mut target = operand.clone();
    for item in &types {
        target = functions::comparison_type(&target, item)
            .ok_or_else(|| external(no_common_type(&[operand.clone(), item.clone()], "IN")))?;
    }
    let InList { expr, list, negated } = list;
    let expr = cast_to(*expr, &operand, &target, functions)?;
    let list = list
        .into_iter()
        .zip(&types)
        .map(|(item, from)| cast_to(item, from, &target, functions))
        .collect::<Result<_>>()?;
    Ok(Transformed::yes(Expr::InList(InList { expr: Box::new(expr), list, negated })))
}

/// Gives the inputs of a UNION the same column types and names.
pub fn coerce_union(union: Union, functions: &FunctionContext) -> Result<LogicalPlan> {
    let width = union.schema.fields().len();
    let mut targets = Vec::with_capacity(width);
    for column in 0..width {
        let types = union
            .inputs
            .iter()
            .map(|input| SqlType::from_arrow(input.schema().field(column)).map_err(external))
            .collect::<Result<Vec<_>>>()?;
        targets.push(common_sql_type(&types, &format!("column {} of UNION", column + 1)).map_err(external)?);
    }
    let inputs =
        union.inputs.into_iter().map(|input| cast_columns(input, &targets, functions)).collect::<Result<Vec<_>>>()?;
    Ok(LogicalPlan::Union(Union::try_new(inputs)?))
}

/// A plan whose columns have these types.
pub fn cast_columns(
    input: Arc<LogicalPlan>,
    targets: &[SqlType],
    functions: &FunctionContext,
) -> Result<Arc<LogicalPlan>> {
    let schema = input.schema().clone();
    let mut changed = false;
    let mut columns = Vec::with_capacity(targets.len());
    for ((qualifier, field), target) in schema.iter().zip(targets) {
        let from = SqlType::from_arrow(field).map_err(external)?;
        let column = Expr::Column(Column::from((qualifier, field)));
        columns.push(if from.logical == target.logical {
            column
        } else {
            changed = true;
            cast_to(column, &from, target, functions)?.alias(field.name())
        });
    }
    if !changed {
        return Ok(input);
    }
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(columns, input)?)))
}
