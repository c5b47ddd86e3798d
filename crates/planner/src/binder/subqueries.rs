//! Subqueries as joins: what DataFusion's rules leave or would answer without SQL's NULL.
//!
//! `[NOT] IN` and `[NOT] EXISTS` that are conditions of their own stay for DataFusion, which makes semi and anti joins of them.
//! Everywhere else a subquery becomes a column of an outer join with what is known of its rows: its value, how many there
//! are, whether one is equal. A subquery without rows is a row that is padded, so that an empty table counts before its
//! first row has come.

use super::coerce::{sql_type_of, typed_literal, typed_null};
use super::correlation::{Lifter, Wanted, is_correlated, joined};
use crate::bridge::{aggregate_udf, external};
use base::{Error, LogicalType};
use datafusion_common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion_common::{Column, DFSchema, DataFusionError, ExprSchema, JoinType, Result, ScalarValue};
use datafusion_expr::expr::{BinaryExpr, Case, Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion_expr::expr_rewriter::{NamePreserver, replace_col};
use datafusion_expr::logical_plan::{Distinct, Filter, Join, Projection, Subquery};
use datafusion_expr::utils::{conjunction, disjunction, split_conjunction, split_conjunction_owned};
use datafusion_expr::{Cast, Expr, LogicalPlan, LogicalPlanBuilder, Operator, lit};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Comparisons by our names.
const COMPARISONS: [(&str, Operator); 6] = [
    ("=", Operator::Eq),
    ("<>", Operator::NotEq),
    ("<", Operator::Lt),
    ("<=", Operator::LtEq),
    (">", Operator::Gt),
    (">=", Operator::GtEq),
];

/// Gives filters and join conditions DataFusion's own comparisons, by which its rules know equalities and what refuses
/// NULL.
pub fn plain_comparisons(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plain = plan.transform_up_with_subqueries(|plan| {
        if !matches!(plan, LogicalPlan::Filter(_) | LogicalPlan::Join(_)) {
            return Ok(Transformed::no(plan));
        }
        let schema = plan.inputs().iter().try_fold(DFSchema::empty(), |all, input| all.join(input.schema()))?;
        plan.map_expressions(|expr| expr.transform_up(|part| plain_comparison(part, &schema)))
    })?;
    Ok(plain.data)
}

fn reads_columns(expr: &Expr) -> bool {
    expr.any_column_refs() || expr.contains_outer() || has_subquery(expr)
}

fn plain_comparison(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(call) = &expr else { return Ok(Transformed::no(expr)) };
    let (Some((_, operator)), [left, right]) =
        (COMPARISONS.iter().find(|(name, _)| *name == call.name()), call.args.as_slice())
    else {
        return Ok(Transformed::no(expr));
    };
    if !reads_columns(left) && !reads_columns(right) {
        return Ok(Transformed::no(expr));
    }
    let types = [sql_type_of(left, schema)?, sql_type_of(right, schema)?];
    let Some(common) = functions::comparison_type(&types[0], &types[1]).map(|common| common.logical) else {
        return Ok(Transformed::no(expr));
    };
    let operand = |operand: &Expr, logical: &LogicalType| -> Result<Option<Expr>> {
        if logical.arrow() == common.arrow() {
            return Ok(Some(operand.clone()));
        }
        let is_plain = LogicalType::from_arrow_type(&common.arrow()).is_ok_and(|plain| plain == common);
        if !(is_plain && logical.is_numeric() && common.is_numeric()) {
            return Ok(None);
        }
        Ok(Some(match operand {
            Expr::Literal(value, _) => match value.cast_to(&common.arrow()) {
                Ok(value) => typed_literal(value, &common),
                Err(_) => return Ok(None),
            },
            other => Expr::Cast(Cast::new(Box::new(other.clone()), common.arrow())),
        }))
    };
    match (operand(left, &types[0].logical)?, operand(right, &types[1].logical)?) {
        (Some(left), Some(right)) => {
            let plain = BinaryExpr::new(Box::new(left), *operator, Box::new(right));
            Ok(Transformed::yes(Expr::BinaryExpr(plain)))
        }
        _ => Ok(Transformed::no(expr)),
    }
}

/// Makes joins of subqueries.
pub fn unnest(plan: LogicalPlan, lifter: &mut Lifter) -> Result<LogicalPlan> {
    let mut unnester = Unnester { made: 0, lifter };
    let plan = plan.transform_up_with_subqueries(|plan| {
        let plan = plan
            .map_expressions(|expr| {
                let renamed = expr.transform_down(without_own_names)?.data;
                renamed.transform_down(|part| closed(part, unnester.lifter))
            })?
            .data;
        Ok(match plan {
            LogicalPlan::Filter(filter) if has_subquery(&filter.predicate) => {
                Transformed::yes(unnester.filter(filter)?)
            }
            LogicalPlan::Projection(projection) if projection.expr.iter().any(has_subquery) => {
                Transformed::yes(unnester.projection(projection)?)
            }
            LogicalPlan::Join(join) if join.filter.as_ref().is_some_and(has_subquery) => {
                Transformed::yes(unnester.join(join)?)
            }
            other => Transformed::no(other),
        })
    })?;
    Ok(plan.data)
}

/// The name of the column that a subquery selects.
const VALUE: &str = "$value";

/// What a subquery selects gets a name that none of the columns has that are pulled out of it; of EXISTS nothing matters but
/// the rows.
fn without_own_names(expr: Expr) -> Result<Transformed<Expr>> {
    let change = |mut subquery: Subquery, change: fn(LogicalPlan) -> Result<LogicalPlan>| -> Result<Subquery> {
        subquery.subquery = Arc::new(change(Arc::unwrap_or_clone(subquery.subquery))?);
        Ok(subquery)
    };
    Ok(match expr {
        Expr::Exists(mut exists) => {
            exists.subquery = change(exists.subquery, rows_only)?;
            Transformed::yes(Expr::Exists(exists))
        }
        Expr::InSubquery(mut is_in) => {
            is_in.subquery = change(is_in.subquery, named)?;
            Transformed::yes(Expr::InSubquery(is_in))
        }
        Expr::SetComparison(mut comparison) => {
            comparison.subquery = change(comparison.subquery, named)?;
            Transformed::yes(Expr::SetComparison(comparison))
        }
        Expr::ScalarSubquery(subquery) => Transformed::yes(Expr::ScalarSubquery(change(subquery, named)?)),
        other => Transformed::no(other),
    })
}

/// A correlated subquery with all of its correlation in one filter at its top. One that is a single row is that row's value,
/// also over nothing.
fn closed(expr: Expr, lifter: &mut Lifter) -> Result<Transformed<Expr>> {
    let mut close = |mut subquery: Subquery, wanted: Wanted| -> Result<Subquery> {
        subquery.subquery = Arc::new(lifter.close(Arc::unwrap_or_clone(subquery.subquery), wanted)?);
        Ok(subquery)
    };
    let is_value = |subquery: &Subquery| {
        Ok::<_, DataFusionError>(is_value(&subquery.subquery) && is_correlated(&subquery.subquery)?)
    };
    Ok(match expr {
        Expr::Exists(exists) if is_value(&exists.subquery)? => Transformed::yes(truth(!exists.negated)),
        Expr::InSubquery(is_in) if is_value(&is_in.subquery)? => {
            let found = (*is_in.expr).eq(Expr::ScalarSubquery(is_in.subquery));
            Transformed::yes(if is_in.negated { Expr::Not(Box::new(found)) } else { found })
        }
        Expr::SetComparison(comparison) if is_value(&comparison.subquery)? => {
            let value = Box::new(Expr::ScalarSubquery(comparison.subquery));
            Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(comparison.expr, comparison.op, value)))
        }
        Expr::Exists(mut exists) => {
            exists.subquery = close(exists.subquery, Wanted::Any)?;
            Transformed::yes(Expr::Exists(exists))
        }
        Expr::InSubquery(mut is_in) => {
            is_in.subquery = close(is_in.subquery, Wanted::Values)?;
            Transformed::yes(Expr::InSubquery(is_in))
        }
        Expr::SetComparison(mut comparison) => {
            comparison.subquery = close(comparison.subquery, Wanted::Values)?;
            Transformed::yes(Expr::SetComparison(comparison))
        }
        other => Transformed::no(other),
    })
}

/// Whether a plan is an aggregate without GROUP BY, with nothing but names and expressions above it.
fn is_value(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(projection) => is_value(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_value(&alias.input),
        _ => false,
    }
}

fn rows_only(plan: LogicalPlan) -> Result<LogicalPlan> {
    Ok(match plan {
        // What SELECT without FROM reads has no column.
        LogicalPlan::Projection(projection)
            if !projection.expr.iter().any(has_subquery) && !projection.input.schema().fields().is_empty() =>
        {
            Arc::unwrap_or_clone(projection.input)
        }
        LogicalPlan::Distinct(Distinct::All(input)) => rows_only(Arc::unwrap_or_clone(input))?,
        other => other,
    })
}

fn named(plan: LogicalPlan) -> Result<LogicalPlan> {
    Ok(match plan {
        LogicalPlan::Projection(projection) => {
            let exprs = projection.expr.into_iter().map(|expr| expr.unalias().alias(VALUE)).collect();
            LogicalPlan::Projection(Projection::try_new(exprs, projection.input)?)
        }
        LogicalPlan::Distinct(Distinct::All(input)) => {
            LogicalPlan::Distinct(Distinct::All(Arc::new(named(Arc::unwrap_or_clone(input))?)))
        }
        other => other,
    })
}

fn has_subquery(expr: &Expr) -> bool {
    let is_subquery = |part: &Expr| {
        matches!(part, Expr::InSubquery(_) | Expr::Exists(_) | Expr::ScalarSubquery(_) | Expr::SetComparison(_))
    };
    expr.exists(|part| Ok(is_subquery(part))).unwrap_or(false)
}

fn unsupported(feature: &str) -> DataFusionError {
    external(Error::unsupported(feature))
}

/// A subquery without references to the query around it.
struct Pulled {
    plan: LogicalPlan,
    /// Conditions between the query around it and the columns of the plan.
    filters: Vec<Expr>,
    /// The columns of the plan in them.
    correlated: Vec<Column>,
    /// The column that it selects.
    selected: Column,
}

struct Unnester<'l> {
    made: usize,
    lifter: &'l mut Lifter,
}

impl Unnester<'_> {
    fn alias(&mut self) -> String {
        self.made += 1;
        format!("$sq{}", self.made)
    }

    fn filter(&mut self, filter: Filter) -> Result<LogicalPlan> {
        let columns: Vec<Expr> = filter.input.schema().columns().into_iter().map(Expr::Column).collect();
        let mut input = Arc::unwrap_or_clone(filter.input);
        let mut conditions = Vec::new();
        for condition in split_conjunction_owned(filter.predicate) {
            let condition = constant_not_in(as_in(condition))?;
            let stays = match &condition {
                Expr::Not(inner) => is_semi(inner, true),
                other => is_semi(other, false) || !has_subquery(other),
            };
            conditions.push(match condition {
                condition if stays => condition,
                Expr::SetComparison(comparison) if is_one_value(&comparison) => self.any(&mut input, comparison)?,
                condition => self.embed(&mut input, condition)?,
            });
        }
        let is_wider = input.schema().fields().len() > columns.len();
        let mut plan = input;
        if let Some(condition) = conjunction(conditions) {
            plan = LogicalPlan::Filter(Filter::try_new(condition, Arc::new(plan))?);
        }
        match is_wider {
            true => LogicalPlanBuilder::from(plan).project(columns)?.build(),
            false => Ok(plan),
        }
    }

    fn projection(&mut self, projection: Projection) -> Result<LogicalPlan> {
        let preserver = NamePreserver::new_for_projection();
        let mut input = Arc::unwrap_or_clone(projection.input);
        let mut exprs = Vec::with_capacity(projection.expr.len());
        for expr in projection.expr {
            let name = preserver.save(&expr);
            exprs.push(name.restore(self.embed(&mut input, expr)?));
        }
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input))?))
    }

    /// A subquery in ON of an inner join may as well stand in WHERE.
    fn join(&mut self, mut join: Join) -> Result<LogicalPlan> {
        match (join.join_type, join.filter.take()) {
            (JoinType::Inner, Some(condition)) => {
                let input = Arc::new(LogicalPlan::Join(join));
                self.filter(Filter::try_new(condition, input)?)
            }
            _ => Err(unsupported("a subquery in ON of an outer join")),
        }
    }

    /// Puts columns of joins in the place of the subqueries of an expression.
    fn embed(&mut self, input: &mut LogicalPlan, expr: Expr) -> Result<Expr> {
        let embedded = expr.transform_down(|part| {
            let value = match as_in(part) {
                Expr::ScalarSubquery(subquery) => self.scalar(input, &subquery)?,
                Expr::Exists(exists) => {
                    let found = self.exists(input, &exists.subquery)?;
                    if exists.negated { Expr::Not(Box::new(found)) } else { found }
                }
                Expr::InSubquery(is_in) => {
                    let operand = self.embed(input, *is_in.expr)?;
                    let found = self.is_in(input, operand, &is_in.subquery)?;
                    if is_in.negated { Expr::Not(Box::new(found)) } else { found }
                }
                Expr::SetComparison(comparison) => self.set_comparison(input, comparison)?,
                other => return Ok(Transformed::no(other)),
            };
            Ok(Transformed::new(value, true, TreeNodeRecursion::Jump))
        })?;
        Ok(embedded.data)
    }

    fn pull_up(&mut self, subquery: &LogicalPlan, wanted: Wanted) -> Result<Pulled> {
        let selected = Column::from(subquery.schema().qualified_field(0));
        let lifted = self.lifter.lift(subquery.clone(), wanted)?;
        let lifted = self.lifter.narrow(lifted, Some(&selected))?;
        let correlated: BTreeSet<Column> = lifted.conditions.iter().flat_map(Expr::column_refs).cloned().collect();
        let (plan, filters) = (lifted.plan, lifted.conditions);
        Ok(Pulled { plan, filters, correlated: correlated.into_iter().collect(), selected })
    }

    /// `input` LEFT JOIN `right` on the conditions of the subquery; gives the qualifier of its columns.
    fn left_join(
        &mut self,
        input: &mut LogicalPlan,
        right: LogicalPlan,
        pulled: &Pulled,
        more: Option<(Expr, &Column)>,
    ) -> Result<String> {
        let alias = self.alias();
        let moved: Vec<Column> =
            pulled.correlated.iter().map(|column| Column::new(Some(alias.clone()), column.name.clone())).collect();
        let map = pulled.correlated.iter().zip(&moved).collect();
        let around = input.schema().clone();
        let condition = |filter: &Expr| joined(replace_col(filter.clone(), &map)?, &around);
        let mut conditions = pulled.filters.iter().map(condition).collect::<Result<Vec<_>>>()?;
        if let Some((operand, column)) = more {
            let column = Expr::Column(Column::new(Some(alias.clone()), column.name.clone()));
            conditions.push(operand.eq(column));
        }
        if conditions.is_empty() {
            conditions.push(lit(true));
        }
        let right = LogicalPlanBuilder::from(right).alias(alias.clone())?.build()?;
        let left = std::mem::take(input);
        *input = LogicalPlanBuilder::from(left).join_on(right, JoinType::Left, conditions)?.build()?;
        Ok(alias)
    }

    /// The value of a subquery; NULL if it has no row.
    fn scalar(&mut self, input: &mut LogicalPlan, subquery: &Subquery) -> Result<Expr> {
        let mut plan = subquery.subquery.as_ref().clone();
        let empty = value_of_nothing(&plan, 0)?;
        if !is_single_row(&plan) {
            let selected = Expr::Column(Column::from(plan.schema().qualified_field(0)));
            // A correlated column that is grouped by may have its name.
            let single = aggregate("SINGLE_VALUE", vec![selected])?.alias(VALUE);
            plan = LogicalPlanBuilder::from(plan).aggregate(Vec::<Expr>::new(), vec![single])?.build()?;
        }
        let pulled = self.pull_up(&plan, Wanted::Rows)?;
        // An aggregate over all rows has no row before the first one, as everywhere; one per row of the query around it
        // counts none.
        let empty = empty.filter(|_| !pulled.filters.is_empty());
        let mut columns: Vec<Expr> = pulled.plan.schema().columns().into_iter().map(Expr::Column).collect();
        if empty.is_some() {
            columns.push(truth(true).alias(PRESENT));
        }
        let right = match empty.is_some() {
            true => LogicalPlanBuilder::from(pulled.plan.clone()).project(columns)?.build()?,
            false => pulled.plan.clone(),
        };
        let alias = self.left_join(input, right, &pulled, None)?;
        let value = Expr::Column(Column::new(Some(alias.clone()), pulled.selected.name.clone()));
        Ok(match empty {
            None => value,
            Some(empty) => case(vec![(column(&alias, PRESENT).is_null(), empty)], value),
        })
    }

    /// Whether a subquery has a row: never NULL.
    fn exists(&mut self, input: &mut LogicalPlan, subquery: &Subquery) -> Result<Expr> {
        let pulled = self.grouping(&subquery.subquery)?;
        if pulled.filters.is_empty() {
            let counted = aggregates(&pulled, vec![count_rows()?.alias(ROWS)])?;
            let alias = self.left_join(input, counted, &pulled, None)?;
            return Ok(column(&alias, ROWS).gt(count_literal(0)).is_true());
        }
        let found = distinct(&pulled, None)?;
        let alias = self.left_join(input, found, &pulled, None)?;
        Ok(column(&alias, PRESENT).is_not_null())
    }

    /// Whether a value is among those of a subquery; NULL if it may be.
    fn is_in(&mut self, input: &mut LogicalPlan, operand: Expr, subquery: &Subquery) -> Result<Expr> {
        let pulled = self.grouping(&subquery.subquery)?;
        let is_nullable = sql_type_of(&operand, input.schema())?.nullable
            || pulled.plan.schema().field_from_column(&pulled.selected)?.is_nullable();
        let selected = Expr::Column(pulled.selected.clone());
        let mut unknown = Vec::new();
        if is_nullable {
            let calls = vec![count_rows()?.alias(ROWS), aggregate("COUNT", vec![selected])?.alias(VALUES)];
            let alias = self.left_join(input, aggregates(&pulled, calls)?, &pulled, None)?;
            let (rows, values) = (column(&alias, ROWS), column(&alias, VALUES));
            unknown.push((rows.clone().gt(count_literal(0)).is_not_true(), truth(false)));
            unknown.push((operand.clone().is_null().or(values.lt(rows)), typed_null(&LogicalType::Boolean)?));
        }
        let found = distinct(&pulled, Some(&pulled.selected))?;
        let alias = self.left_join(input, found, &pulled, Some((operand, &pulled.selected)))?;
        let present = column(&alias, PRESENT).is_not_null();
        if unknown.is_empty() {
            return Ok(present);
        }
        unknown.insert(0, (present, truth(true)));
        Ok(case(unknown, truth(false)))
    }

    /// `x > ALL (...)` and the like, by the smallest or largest value, or both.
    fn set_comparison(&mut self, input: &mut LogicalPlan, comparison: SetComparison) -> Result<Expr> {
        let is_all = matches!(comparison.quantifier, SetQuantifier::All);
        let operand = self.embed(input, *comparison.expr)?;
        let pulled = self.grouping(&comparison.subquery.subquery)?;
        let selected = || vec![Expr::Column(pulled.selected.clone())];
        let extremes = extremes(comparison.op, is_all);
        let mut calls = vec![count_rows()?.alias(ROWS), aggregate("COUNT", selected())?.alias(VALUES)];
        for &extreme in extremes {
            calls.push(aggregate(extreme, selected())?.alias(extreme));
        }
        let alias = self.left_join(input, aggregates(&pulled, calls)?, &pulled, None)?;
        let (rows, values) = (column(&alias, ROWS), column(&alias, VALUES));
        let compare = |extreme: &&'static str| {
            let other = Box::new(column(&alias, extreme));
            Expr::BinaryExpr(BinaryExpr::new(Box::new(operand.clone()), comparison.op, other))
        };
        let all = extremes.iter().map(compare);
        let compared = if is_all { conjunction(all) } else { disjunction(all) };
        let compared = compared.ok_or_else(|| external(Error::internal("no comparison")))?;
        let decided = if is_all { compared.is_false() } else { compared.is_true() };
        let branches = vec![
            (rows.clone().gt(count_literal(0)).is_not_true(), truth(is_all)),
            (decided, truth(!is_all)),
            (operand.is_null().or(values.lt(rows)), typed_null(&LogicalType::Boolean)?),
        ];
        Ok(case(branches, truth(is_all)))
    }

    /// `x > ANY (...)` that must be true: nothing but a comparison with one value.
    fn any(&mut self, input: &mut LogicalPlan, comparison: SetComparison) -> Result<Expr> {
        let pulled = self.grouping(&comparison.subquery.subquery)?;
        let operand = self.embed(input, *comparison.expr)?;
        let [extreme] = extremes(comparison.op, false) else {
            return Err(external(Error::internal("not one value")));
        };
        let call = aggregate(extreme, vec![Expr::Column(pulled.selected.clone())])?.alias(*extreme);
        let alias = self.left_join(input, aggregates(&pulled, vec![call])?, &pulled, None)?;
        let other = Box::new(column(&alias, extreme));
        Ok(Expr::BinaryExpr(BinaryExpr::new(Box::new(operand), comparison.op, other)))
    }

    /// A subquery whose conditions are equalities, so that its rows can be grouped by their columns.
    fn grouping(&mut self, subquery: &LogicalPlan) -> Result<Pulled> {
        let pulled = self.pull_up(subquery, Wanted::Values)?;
        let own = |expr: &Expr| expr.column_refs().iter().any(|column| pulled.correlated.contains(column));
        let is_equality = |filter: &Expr| match filter {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
                // Different values stay different: a row has one partner in a group at most.
                let is_own = |expr: &Expr| match expr {
                    Expr::Column(column) => pulled.correlated.contains(column),
                    Expr::Cast(cast) if cast.data_type.is_integer() || cast.data_type.is_decimal() => {
                        matches!(cast.expr.as_ref(), Expr::Column(column) if pulled.correlated.contains(column))
                    }
                    _ => false,
                };
                (is_own(left) && !own(right)) || (is_own(right) && !own(left))
            }
            _ => false,
        };
        if !pulled.filters.iter().flat_map(split_conjunction).all(is_equality) {
            return Err(unsupported(
                "IN or EXISTS inside a larger condition with a correlation that is more than equalities",
            ));
        }
        Ok(pulled)
    }
}

/// A column that is never NULL in a row.
const PRESENT: &str = "$present";
const ROWS: &str = "$rows";
const VALUES: &str = "$values";

/// The values that decide a comparison with all or any of many.
fn extremes(operator: Operator, is_all: bool) -> &'static [&'static str] {
    match (operator, is_all) {
        (Operator::Gt | Operator::GtEq, true) | (Operator::Lt | Operator::LtEq, false) => &["MAX"],
        (Operator::Lt | Operator::LtEq, true) | (Operator::Gt | Operator::GtEq, false) => &["MIN"],
        _ => &["MIN", "MAX"],
    }
}

fn column(alias: &str, name: &str) -> Expr {
    Expr::Column(Column::new(Some(alias), name))
}

pub(super) fn truth(value: bool) -> Expr {
    typed_literal(ScalarValue::Boolean(Some(value)), &LogicalType::Boolean)
}

pub(super) fn count_literal(value: i64) -> Expr {
    typed_literal(ScalarValue::Int64(Some(value)), &LogicalType::BigInt)
}

pub(super) fn case(branches: Vec<(Expr, Expr)>, otherwise: Expr) -> Expr {
    let when_then_expr = branches.into_iter().map(|(when, then)| (Box::new(when), Box::new(then))).collect();
    Expr::Case(Case { expr: None, when_then_expr, else_expr: Some(Box::new(otherwise)) })
}

fn aggregate(name: &str, arguments: Vec<Expr>) -> Result<Expr> {
    let function =
        functions::aggregate(name).ok_or_else(|| external(Error::internal(format!("no aggregate {name}"))))?;
    Ok(aggregate_udf(function).call(arguments))
}

fn count_rows() -> Result<Expr> {
    aggregate("COUNT", vec![count_literal(1)])
}

/// Aggregates per value of the correlated columns.
fn aggregates(pulled: &Pulled, calls: Vec<Expr>) -> Result<LogicalPlan> {
    let keys: Vec<Expr> = pulled.correlated.iter().cloned().map(Expr::Column).collect();
    LogicalPlanBuilder::from(pulled.plan.clone()).aggregate(keys, calls)?.build()
}

/// The different values of the correlated columns, and of one more.
fn distinct(pulled: &Pulled, more: Option<&Column>) -> Result<LogicalPlan> {
    let mut keys: Vec<Column> = pulled.correlated.clone();
    keys.extend(more.filter(|column| !keys.contains(column)).cloned());
    let mut columns: Vec<Expr> = keys.into_iter().map(Expr::Column).collect();
    let rows = LogicalPlanBuilder::from(pulled.plan.clone()).aggregate(columns.clone(), Vec::<Expr>::new())?;
    columns.push(truth(true).alias(PRESENT));
    rows.project(columns)?.build()
}

/// `= ANY` is IN, `<> ALL` is NOT IN.
fn as_in(expr: Expr) -> Expr {
    match expr {
        Expr::SetComparison(SetComparison { expr, subquery, op, quantifier })
            if matches!(
                (&quantifier, op),
                (SetQuantifier::Any, Operator::Eq) | (SetQuantifier::All, Operator::NotEq)
            ) =>
        {
            Expr::InSubquery(InSubquery { expr, subquery, negated: matches!(quantifier, SetQuantifier::All) })
        }
        other => other,
    }
}

/// A constant NOT IN a subquery is NOT EXISTS a row that it is equal to, or may be: one anti join, as Flink plans it.
fn constant_not_in(expr: Expr) -> Result<Expr> {
    let is_in = match &expr {
        Expr::InSubquery(is_in) if is_in.negated => is_in,
        Expr::Not(inner) => match inner.as_ref() {
            Expr::InSubquery(is_in) if !is_in.negated => is_in,
            _ => return Ok(expr),
        },
        _ => return Ok(expr),
    };
    if is_in.expr.any_column_refs() || has_subquery(&is_in.expr) || is_correlated(&is_in.subquery.subquery)? {
        return Ok(expr);
    }
    let mut subquery = is_in.subquery.clone();
    let value = Expr::Column(Column::from(subquery.subquery.schema().qualified_field(0)));
    let may_be_equal = Expr::IsNotFalse(Box::new((*is_in.expr).clone().eq(value)));
    subquery.subquery = Arc::new(LogicalPlan::Filter(Filter::try_new(may_be_equal, subquery.subquery)?));
    Ok(Expr::Exists(Exists { subquery, negated: true }))
}

/// ANY that one value decides.
fn is_one_value(comparison: &SetComparison) -> bool {
    matches!(comparison.quantifier, SetQuantifier::Any) && extremes(comparison.op, false).len() == 1
}

/// What becomes a semi or anti join. NOT IN needs an operand of the left side: the comparison with a constant would be taken
/// for a filter of the subquery, and lose its NULLs.
fn is_semi(expr: &Expr, is_negated: bool) -> bool {
    match expr {
        Expr::Exists(_) => true,
        Expr::InSubquery(is_in) => {
            !has_subquery(&is_in.expr) && (is_in.negated == is_negated || is_in.expr.any_column_refs())
        }
        _ => false,
    }
}

/// Whether a plan has one row at most.
fn is_single_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(projection) => is_single_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_single_row(&alias.input),
        LogicalPlan::Filter(filter) => is_single_row(&filter.input),
        LogicalPlan::EmptyRelation(empty) => empty.produce_one_row,
        _ => false,
    }
}

/// The value of a column of a global aggregate over no rows, if it has a COUNT in it; NULL otherwise.
pub(super) fn value_of_nothing(plan: &LogicalPlan, index: usize) -> Result<Option<Expr>> {
    Ok(match plan {
        LogicalPlan::SubqueryAlias(alias) => value_of_nothing(&alias.input, index)?,
        LogicalPlan::Projection(projection) => {
            let Some(expr) = projection.expr.get(index) else { return Ok(None) };
            let schema = projection.input.schema();
            let mut counts = false;
            let replaced = expr.clone().unalias().transform_up(|part| {
                let Expr::Column(column) = &part else { return Ok(Transformed::no(part)) };
                let Ok(place) = schema.index_of_column(column) else { return Ok(Transformed::no(part)) };
                match value_of_nothing(&projection.input, place)? {
                    Some(value) => {
                        counts = true;
                        Ok(Transformed::yes(value))
                    }
                    None => Ok(Transformed::yes(typed_null(&sql_type_of(&part, schema)?.logical)?)),
                }
            })?;
            counts.then_some(replaced.data)
        }
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => match aggregate.aggr_expr.get(index) {
            Some(call) => match call.clone().unalias() {
                Expr::AggregateFunction(call) if call.func.name() == "COUNT" => Some(count_literal(0)),
                _ => None,
            },
            None => None,
        },
        _ => None,
    })
}
