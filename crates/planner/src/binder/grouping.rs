//! GROUPING SETS, CUBE and ROLLUP, and the functions that tell the sets apart.
//!
//! [`normalize`] writes every form in the syntax tree as one list of sets. While a statement is bound, GROUPING and its likes
//! are marker aggregates; [`expand`] then makes a plain aggregate over [`ExpandNode`] of it all.

use super::coerce::typed_literal;
use super::provider::scalar;
use crate::bridge::{external, typed_field};
use crate::codes;
use crate::nodes::expand::{ExpandNode, GroupingSet, SET_COLUMN};
use arrow::datatypes::{DataType, FieldRef};
use base::function::FunctionContext;
use base::{Error, LogicalType};
use datafusion_common::{Column, Result, ScalarValue, TableReference, exec_err};
use datafusion_expr::expr::{Case, GroupingSet as Sets};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::logical_plan::{Aggregate, LogicalPlan, Projection};
use datafusion_expr::{AggregateUDF, AggregateUDFImpl, Expr, Signature, Volatility};
use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use syntax::ast;

/// Functions about grouping sets.
const MARKERS: [&str; 3] = ["GROUPING", "GROUPING_ID", "GROUP_ID"];
/// The qualifier of the grouping columns between [`ExpandNode`] and its aggregate.
const QUALIFIER: &str = "$group";
/// The most sets of one GROUP BY: a row is given once per set.
const SETS_MAX: usize = 4096;
/// The most columns that sets group by: each has a bit in a BIGINT.
const COLUMNS_MAX: usize = 62;

/// Whether a function is about grouping sets.
pub fn is_grouping_function(name: &str) -> bool {
    MARKERS.contains(&name)
}

/// The marker of this name.
pub fn grouping_marker(name: &str) -> Option<Arc<AggregateUDF>> {
    let name = MARKERS.into_iter().find(|marker| *marker == name)?;
    let signature = Signature::user_defined(Volatility::Immutable);
    Some(Arc::new(AggregateUDF::new_from_impl(GroupingMarker { name, signature })))
}

#[derive(Debug)]
struct GroupingMarker {
    name: &'static str,
    signature: Signature,
}

impl PartialEq for GroupingMarker {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for GroupingMarker {}

impl Hash for GroupingMarker {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl AggregateUDFImpl for GroupingMarker {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn return_field(&self, _fields: &[FieldRef]) -> Result<FieldRef> {
        Ok(typed_field(self.name, &LogicalType::BigInt.not_null()))
    }

    fn accumulator(&self, _arguments: AccumulatorArgs<'_>) -> Result<Box<dyn datafusion_expr::Accumulator>> {
        exec_err!("{} is replaced while a statement is bound", self.name)
    }

    fn state_fields(&self, _arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        exec_err!("{} is replaced while a statement is bound", self.name)
    }
}

/// Writes all forms of grouping sets in GROUP BY as one list of sets: each way to take one set from every item.
///
/// # Errors
/// A set that comes twice, which Flink does not plan either; too many sets or columns.
pub fn normalize(keys: &mut Vec<ast::Expr>) -> base::Result<()> {
    let is_set = |key: &ast::Expr| {
        matches!(key, ast::Expr::GroupingSets(_) | ast::Expr::Cube(_) | ast::Expr::Rollup(_))
            || matches!(key, ast::Expr::Tuple(parts) if parts.is_empty())
    };
    if !keys.iter().any(is_set) {
        return Ok(());
    }
    let mut sets: Vec<Vec<ast::Expr>> = vec![Vec::new()];
    for key in keys.drain(..) {
        let parts = sets_of(key)?;
        if sets.len() * parts.len() > SETS_MAX {
            return Err(Error::unsupported(format!("GROUP BY with more than {SETS_MAX} grouping sets")));
        }
        sets = sets.iter().flat_map(|set| parts.iter().map(move |part| [set.as_slice(), part].concat())).collect();
    }
    let mut seen: Vec<Vec<String>> = Vec::new();
    for set in &mut sets {
        let mut texts: Vec<String> = Vec::new();
        set.retain(|expr| {
            let text = expr.to_string();
            let is_new = !texts.contains(&text);
            if is_new {
                texts.push(text);
            }
            is_new
        });
        texts.sort();
        if seen.contains(&texts) {
            return Err(Error::unsupported("the same grouping set twice in GROUP BY"));
        }
        seen.push(texts);
    }
    *keys = match <[_; 1]>::try_from(sets) {
        Ok([only]) => only,
        Err(sets) => vec![ast::Expr::GroupingSets(sets)],
    };
    Ok(())
}

/// The sets of one item of GROUP BY.
fn sets_of(key: ast::Expr) -> base::Result<Vec<Vec<ast::Expr>>> {
    let joined = |parts: &[Vec<ast::Expr>]| parts.concat();
    Ok(match key {
        ast::Expr::Tuple(parts) => vec![parts],
        ast::Expr::Nested(inner) => sets_of(*inner)?,
        ast::Expr::Rollup(parts) => (0..=parts.len()).rev().map(|length| joined(&parts[..length])).collect(),
        ast::Expr::Cube(parts) => {
            if parts.len() > SETS_MAX.ilog2() as usize {
                return Err(Error::unsupported(format!("GROUP BY with more than {SETS_MAX} grouping sets")));
            }
            let last = parts.len().saturating_sub(1);
            let chosen = |left_out: usize| {
                let of = parts.iter().enumerate().filter(|(index, _)| left_out & (1 << (last - index)) == 0);
                of.flat_map(|(_, part)| part.iter().cloned()).collect()
            };
            (0..1_usize << parts.len()).map(chosen).collect()
        }
        ast::Expr::GroupingSets(sets) => {
            let mut all = Vec::new();
            for set in sets {
                match set.as_slice() {
                    [ast::Expr::Rollup(_) | ast::Expr::Cube(_) | ast::Expr::GroupingSets(_)] => {
                        for nested in set {
                            all.extend(sets_of(nested)?);
                        }
                    }
                    _ => all.push(set),
                }
            }
            all
        }
        plain => vec![vec![plain]],
    })
}

/// Makes an aggregate with grouping sets, or with functions about them, a plain one. Its columns keep their names.
pub fn expand(aggregate: Aggregate, functions: &FunctionContext) -> Result<LogicalPlan> {
    match aggregate.group_expr.as_slice() {
        [Expr::GroupingSet(Sets::GroupingSets(lists))] => expand_sets(&aggregate, lists, functions),
        _ if aggregate.aggr_expr.iter().any(|expr| marker(expr).is_some()) => without_sets(&aggregate),
        _ => Ok(LogicalPlan::Aggregate(aggregate)),
    }
}

/// The marker call behind an aggregate expression.
fn marker(expr: &Expr) -> Option<(&'static str, &[Expr])> {
    let mut expr = expr;
    while let Expr::Alias(alias) = expr {
        expr = &alias.expr;
    }
    match expr {
        Expr::AggregateFunction(call) => {
            let marker: &GroupingMarker = call.func.inner().as_any().downcast_ref()?;
            Some((marker.name, &call.params.args))
        }
        _ => None,
    }
}

/// The number that a marker call gives for a set: a bit per argument, set where the set leaves it out.
fn value_of(name: &str, arguments: &[Expr], groups: &[&Expr], kept: impl Fn(usize) -> bool) -> Result<i64> {
    let wrong = |problem: String| {
        external(Error::new(&codes::GROUPING_ARGUMENT, &[("function", &name), ("problem", &problem)]))
    };
    if name == "GROUP_ID" {
        // Which of several equal sets it is; a set does not come twice.
        return if arguments.is_empty() { Ok(0) } else { Err(wrong("it takes no argument".into())) };
    }
    if arguments.is_empty() || arguments.len() > COLUMNS_MAX {
        return Err(wrong(format!("it takes 1 to {COLUMNS_MAX} grouping columns")));
    }
    arguments.iter().try_fold(0, |bits, argument| {
        let place = groups.iter().position(|group| *group == argument);
        let place = place.ok_or_else(|| wrong(format!("GROUP BY has no {}", super::windows::plain_sql(argument))))?;
        Ok(bits * 2 + i64::from(!kept(place)))
    })
}

fn bigint(value: i64) -> Expr {
    typed_literal(ScalarValue::Int64(Some(value)), &LogicalType::BigInt)
}

/// Without sets every key is kept.
fn without_sets(aggregate: &Aggregate) -> Result<LogicalPlan> {
    let groups: Vec<&Expr> = aggregate.group_expr.iter().collect();
    let mut values = Vec::with_capacity(aggregate.aggr_expr.len());
    for expr in &aggregate.aggr_expr {
        values.push(match marker(expr) {
            Some((name, arguments)) => Some(bigint(value_of(name, arguments, &groups, |_| true)?)),
            None => None,
        });
    }
    let calls = plain_calls(&aggregate.aggr_expr);
    if groups.is_empty() && calls.is_empty() {
        let problem = "the query has no GROUP BY".to_string();
        let function = marker(&aggregate.aggr_expr[0]).map_or("GROUPING", |(name, _)| name);
        let error = Error::new(&codes::GROUPING_ARGUMENT, &[("function", &function), ("problem", &problem)]);
        return Err(external(error));
    }
    let (group_expr, number) = (aggregate.group_expr.clone(), calls.len());
    let plain = LogicalPlan::Aggregate(Aggregate::try_new(aggregate.input.clone(), group_expr, calls)?);
    let keys: Vec<Expr> = plain
        .schema()
        .iter()
        .take(plain.schema().fields().len() - number)
        .map(|(qualifier, field)| column(qualifier, field))
        .collect();
    renamed(aggregate, keys, values, plain)
}

fn plain_calls(calls: &[Expr]) -> Vec<Expr> {
    calls.iter().filter(|expr| marker(expr).is_none()).cloned().collect()
}

fn column(qualifier: Option<&TableReference>, field: &FieldRef) -> Expr {
    Expr::Column(Column::from((qualifier, field)))
}

fn expand_sets(aggregate: &Aggregate, lists: &[Vec<Expr>], functions: &FunctionContext) -> Result<LogicalPlan> {
    let mut groups: Vec<&Expr> = Vec::new();
    for expr in lists.iter().flatten() {
        if !groups.contains(&expr) {
            groups.push(expr);
        }
    }
    if groups.len() > COLUMNS_MAX {
        return Err(external(Error::unsupported(format!("grouping sets over more than {COLUMNS_MAX} columns"))));
    }
    if groups.iter().any(|group| is_window(group)) {
        return Err(external(Error::unsupported(
            "GROUPING SETS, CUBE and ROLLUP with TUMBLE, HOP or SESSION in GROUP BY",
        )));
    }
    let mut sets: Vec<GroupingSet> = lists.iter().map(|list| grouping_set(list, &groups)).collect();
    sets.sort_by_key(|set| set.id);
    let (input, columns) = with_group_columns(aggregate, &groups)?;
    let expanded = ExpandNode::try_new(input, columns.clone(), sets.clone())?.into_plan();
    let set_column = Expr::Column(Column::new_unqualified(SET_COLUMN));
    let keys: Vec<Expr> = columns.iter().cloned().map(Expr::Column).collect();
    let mut values = Vec::with_capacity(aggregate.aggr_expr.len());
    for expr in &aggregate.aggr_expr {
        values.push(match marker(expr) {
            None => None,
            Some((name, arguments)) => {
                let value = |set: &GroupingSet| {
                    Ok((set.id, value_of(name, arguments, &groups, |place| set.kept.contains(&place))?))
                };
                Some(by_set(&sets.iter().map(value).collect::<Result<Vec<_>>>()?, &set_column, functions)?)
            }
        });
    }
    let all_keys = keys.iter().cloned().chain([set_column]).collect();
    let calls = plain_calls(&aggregate.aggr_expr);
    let grouped = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(expanded), all_keys, calls)?);
    renamed(aggregate, keys, values, grouped)
}

fn is_window(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if super::markers::as_window_marker(&call.func).is_some())
}

fn grouping_set(list: &[Expr], groups: &[&Expr]) -> GroupingSet {
    let kept: Vec<usize> = (0..groups.len()).filter(|&place| list.contains(groups[place])).collect();
    let id = (0..groups.len()).fold(0, |bits, place| bits * 2 + i64::from(!kept.contains(&place)));
    GroupingSet { kept, id }
}

/// The input with a column per grouping expression: aggregates go on reading the column itself, which no set takes away.
fn with_group_columns(aggregate: &Aggregate, groups: &[&Expr]) -> Result<(LogicalPlan, Vec<Column>)> {
    let schema = aggregate.input.schema();
    let mut projection: Vec<Expr> = schema.iter().map(|(qualifier, field)| column(qualifier, field)).collect();
    let mut columns: Vec<Column> = Vec::with_capacity(groups.len());
    for (place, group) in groups.iter().enumerate() {
        let mut name = match group {
            Expr::Column(column) => column.name.clone(),
            other => other.schema_name().to_string(),
        };
        let is_taken =
            |(qualifier, field): (Option<&TableReference>, &FieldRef)| qualifier.is_none() && *field.name() == name;
        if columns.iter().any(|known| known.name == name) || schema.iter().any(is_taken) {
            name = format!("{name}${place}");
        }
        projection.push((*group).clone().alias_qualified(Some(QUALIFIER), &name));
        columns.push(Column::new(Some(QUALIFIER), name));
    }
    let input = LogicalPlan::Projection(Projection::try_new(projection, aggregate.input.clone())?);
    Ok((input, columns))
}

/// A value for each set: those that are the same for all sets need no look at the set.
fn by_set(values: &[(i64, i64)], set_column: &Expr, functions: &FunctionContext) -> Result<Expr> {
    let Some(((_, last), others)) = values.split_last() else { return Ok(bigint(0)) };
    if others.iter().all(|(_, value)| value == last) {
        return Ok(bigint(*last));
    }
    let equal = scalar("=", functions).ok_or_else(|| external(Error::internal("there is no =")))?;
    let mut branches = Vec::new();
    for (id, value) in others.iter().filter(|(_, value)| value != last) {
        let when = equal.call(vec![set_column.clone(), bigint(*id)]);
        branches.push((Box::new(when), Box::new(bigint(*value))));
    }
    Ok(Expr::Case(Case::new(None, branches, Some(Box::new(bigint(*last))))))
}

/// The columns of the aggregate as it was written: keys, then calls, with the values of markers among them.
fn renamed(
    aggregate: &Aggregate,
    keys: Vec<Expr>,
    values: Vec<Option<Expr>>,
    plan: LogicalPlan,
) -> Result<LogicalPlan> {
    let wanted: Vec<(Option<&TableReference>, &FieldRef)> = aggregate.schema.iter().collect();
    let (wanted_keys, wanted_calls) = wanted.split_at(wanted.len().saturating_sub(values.len()));
    let named = |expr: Expr, (qualifier, field): (Option<&TableReference>, &FieldRef)| match &expr {
        Expr::Column(column) if column.relation.as_ref() == qualifier && column.name == *field.name() => expr,
        _ => expr.alias_qualified(qualifier.cloned(), field.name()),
    };
    let mut projection: Vec<Expr> =
        keys.into_iter().zip(wanted_keys).map(|(key, wanted)| named(key, *wanted)).collect();
    let calls = values.iter().filter(|value| value.is_none()).count();
    let first = plan.schema().fields().len() - calls;
    let schema = plan.schema().clone();
    let mut results = schema.iter().skip(first);
    for (value, wanted) in values.into_iter().zip(wanted_calls) {
        let expr = match (value, &mut results) {
            (Some(value), _) => value,
            (None, results) => match results.next() {
                Some((qualifier, field)) => column(qualifier, field),
                None => return Err(external(Error::internal("an aggregate call without a column"))),
            },
        };
        projection.push(named(expr, *wanted));
    }
    Ok(LogicalPlan::Projection(Projection::try_new(projection, Arc::new(plan))?))
}
