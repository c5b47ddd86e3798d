//! Correlated subqueries without their correlation: the conditions on the query around them, lifted out of everything that
//! stands above them, so that a subquery can be joined by them.
//!
//! What a condition means changes where rows are grouped, ranked or limited above it. An equality can be lifted there all the
//! same: its column becomes one more to group, or to partition, by. Everything else is refused by name.

use super::subqueries::count_literal;
use crate::bridge::external;
use crate::window_functions::WindowFunction;
use arrow::datatypes::DataType;
use base::Error;
use datafusion_common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion_common::{Column, DFSchema, JoinType, Result, ScalarValue};
use datafusion_expr::expr::{BinaryExpr, WindowFunction as WindowCall};
use datafusion_expr::expr_rewriter::replace_col;
use datafusion_expr::logical_plan::{
    Aggregate, Distinct, Filter, Join, Limit, Projection, Sort, SubqueryAlias, Union, Window,
};
use datafusion_expr::utils::{conjunction, split_conjunction_owned};
use datafusion_expr::{Expr, LogicalPlan, Operator, WindowFunctionDefinition};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What matters of the rows of a subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Every copy.
    Rows,
    /// Which there are: of IN.
    Values,
    /// Whether there is one: of EXISTS.
    Any,
}

/// A subquery without references to the query around it.
#[derive(Debug)]
pub struct Lifted {
    /// The rows for all rows around it. It has the columns of the subquery, and those that the conditions name.
    pub plan: LogicalPlan,
    /// What its rows and the row around it must meet.
    pub conditions: Vec<Expr>,
    /// Whether a row around it without any partner has one all the same: that of an aggregate over nothing.
    pub is_single: bool,
}

impl Lifted {
    fn of(plan: LogicalPlan) -> Lifted {
        Lifted { plan, conditions: Vec::new(), is_single: false }
    }

    /// The same with the columns in the conditions renamed.
    fn renamed(self, plan: LogicalPlan, names: &BTreeMap<Column, Column>) -> Result<Lifted> {
        let map = names.iter().collect();
        let conditions = self.conditions.into_iter().map(|one| replace_col(one, &map)).collect::<Result<_>>()?;
        Ok(Lifted { plan, conditions, is_single: self.is_single })
    }
}

/// Lifts correlations; gives the columns that it adds names of their own.
#[derive(Debug, Default)]
pub struct Lifter {
    made: usize,
}

fn unsupported(feature: &str) -> datafusion_common::DataFusionError {
    external(Error::unsupported(feature))
}

/// Whether a plan names columns of the query around it.
pub fn is_correlated(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| Ok(node.contains_outer_reference()))
}

/// An expression whose references to the row around it are columns of that row, where it has them.
pub fn joined(expr: Expr, around: &DFSchema) -> Result<Expr> {
    expr.transform(|part| match part {
        Expr::OuterReferenceColumn(_, column) if around.has_column(&column) => {
            Ok(Transformed::yes(Expr::Column(column)))
        }
        other => Ok(Transformed::no(other)),
    })
    .data()
}

/// The columns of a plan in conditions.
fn columns_in(conditions: &[Expr]) -> BTreeSet<Column> {
    conditions.iter().flat_map(Expr::column_refs).cloned().collect()
}

impl Lifter {
    fn name(&mut self) -> String {
        self.made += 1;
        format!("$outer{}", self.made)
    }

    /// A subquery of an expression, with its correlation in one filter at its top: over its first column and what the filter
    /// names.
    ///
    /// # Errors
    /// A correlation that cannot be lifted.
    pub fn close(&mut self, plan: LogicalPlan, wanted: Wanted) -> Result<LogicalPlan> {
        let selected = (wanted != Wanted::Any).then(|| Column::from(plan.schema().qualified_field(0)));
        let lifted = self.lift(plan, wanted)?;
        if lifted.conditions.is_empty() {
            return Ok(lifted.plan);
        }
        let lifted = self.narrow(lifted, selected.as_ref())?;
        let filter = conjunction(lifted.conditions).map(|one| Filter::try_new(one, Arc::new(lifted.plan)));
        let filter = LogicalPlan::Filter(filter.ok_or_else(|| external(Error::internal("no condition")))??);
        Ok(match selected {
            None => filter,
            Some(selected) => {
                LogicalPlan::Projection(Projection::try_new(vec![Expr::Column(selected)], Arc::new(filter))?)
            }
        })
    }

    /// Only the column that is selected, and those that conditions name, which get names without a qualifier.
    pub fn narrow(&mut self, lifted: Lifted, selected: Option<&Column>) -> Result<Lifted> {
        let mut exprs: Vec<Expr> = selected.cloned().map(Expr::Column).into_iter().collect();
        let mut taken: BTreeSet<String> = selected.iter().map(|column| column.name.clone()).collect();
        let mut names = BTreeMap::new();
        for column in columns_in(&lifted.conditions) {
            let name = if taken.contains(&column.name) { self.name() } else { column.name.clone() };
            taken.insert(name.clone());
            exprs.push(Expr::Column(column.clone()).alias(&name));
            names.insert(column, Column::new_unqualified(name));
        }
        if exprs.is_empty() {
            return Ok(lifted);
        }
        let plan = LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(lifted.plan.clone()))?);
        lifted.renamed(plan, &names)
    }

    /// A plan and the conditions in it that name columns of the query around it.
    ///
    /// # Errors
    /// A correlation that cannot be lifted.
    pub fn lift(&mut self, plan: LogicalPlan, wanted: Wanted) -> Result<Lifted> {
        if !is_correlated(&plan)? {
            return Ok(Lifted::of(plan));
        }
        match plan {
            LogicalPlan::Filter(filter) => self.filter(filter, wanted),
            LogicalPlan::Projection(projection) => {
                let below = self.lift(Arc::unwrap_or_clone(projection.input), wanted)?;
                self.project(projection.expr, below)
            }
            LogicalPlan::SubqueryAlias(alias) => self.alias(alias, wanted),
            LogicalPlan::Join(join) => self.join(join, wanted),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate, wanted),
            LogicalPlan::Distinct(Distinct::All(input)) => self.distinct(Arc::unwrap_or_clone(input), wanted),
            LogicalPlan::Window(window) => self.window(window),
            LogicalPlan::Limit(limit) => self.limit(limit, wanted),
            // Without LIMIT the order of a subquery means nothing.
            LogicalPlan::Sort(Sort { input, fetch: None, .. }) => self.lift(Arc::unwrap_or_clone(input), wanted),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Extension(node) => Err(unsupported(&format!(
                "a column of the query around it in {} of a correlated subquery",
                node.node.name()
            ))),
            _ => Err(unsupported("a correlated subquery of this form")),
        }
    }

    fn filter(&mut self, filter: Filter, wanted: Wanted) -> Result<Lifted> {
        let mut below = self.lift(Arc::unwrap_or_clone(filter.input), wanted)?;
        refuse_single(&below, "HAVING or WHERE")?;
        let (outer, own): (Vec<Expr>, Vec<Expr>) =
            split_conjunction_owned(filter.predicate).into_iter().partition(Expr::contains_outer);
        if let Some(own) = conjunction(own) {
            below.plan = LogicalPlan::Filter(Filter::try_new(own, Arc::new(below.plan))?);
        }
        below.conditions.extend(outer);
        Ok(below)
    }

    /// A projection that keeps what the conditions name.
    fn project(&mut self, mut exprs: Vec<Expr>, below: Lifted) -> Result<Lifted> {
        if exprs.iter().any(Expr::contains_outer) {
            return Err(unsupported(
                "a column of the query around it in the SELECT list of a correlated subquery (select it outside)",
            ));
        }
        let mut names = BTreeMap::new();
        let mut taken: BTreeSet<String> = exprs.iter().map(|expr| expr.qualified_name().1).collect();
        for column in columns_in(&below.conditions) {
            if !exprs.contains(&Expr::Column(column.clone())) {
                // Different from columns of the same name by its qualifier, also from those that it will be joined with.
                let qualifier = self.name();
                let name = if taken.contains(&column.name) { qualifier.clone() } else { column.name.clone() };
                taken.insert(name.clone());
                exprs.push(Expr::Column(column.clone()).alias_qualified(Some(qualifier.clone()), &name));
                names.insert(column, Column::new(Some(qualifier), name));
            }
        }
        let plan = LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(below.plan.clone()))?);
        below.renamed(plan, &names)
    }

    fn alias(&mut self, alias: SubqueryAlias, wanted: Wanted) -> Result<Lifted> {
        let below = self.lift(Arc::unwrap_or_clone(alias.input), wanted)?;
        let own: Vec<Expr> = alias
            .schema
            .fields()
            .iter()
            .zip(below.plan.schema().columns())
            .map(|(field, column)| match *field.name() == column.name {
                true => Expr::Column(column),
                false => Expr::Column(column).alias(field.name()),
            })
            .collect();
        // The columns behind its own have names of their own below one name.
        let below = self.project(own, below)?;
        let named = |column: &Column| Column::new(Some(alias.alias.clone()), &column.name);
        let names = columns_in(&below.conditions).into_iter().map(|column| (column.clone(), named(&column))).collect();
        let plan = SubqueryAlias::try_new(Arc::new(below.plan.clone()), alias.alias.clone())?;
        below.renamed(LogicalPlan::SubqueryAlias(plan), &names)
    }

    fn join(&mut self, mut join: Join, wanted: Wanted) -> Result<Lifted> {
        let left = self.lift(Arc::unwrap_or_clone(join.left), wanted)?;
        let right = self.lift(Arc::unwrap_or_clone(join.right), wanted)?;
        refuse_single(&left, "a join")?;
        refuse_single(&right, "a join")?;
        let condition = join.filter.take().map(split_conjunction_owned).unwrap_or_default();
        let (outer, own): (Vec<Expr>, Vec<Expr>) = condition.into_iter().partition(Expr::contains_outer);
        // A side whose rows are padded, or only looked for, must be whole before the join.
        let fits = match join.join_type {
            JoinType::Inner => true,
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => {
                right.conditions.is_empty() && outer.is_empty()
            }
            JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => {
                left.conditions.is_empty() && outer.is_empty()
            }
            JoinType::Full => false,
        };
        if !fits || join.on.iter().any(|(left, right)| left.contains_outer() || right.contains_outer()) {
            return Err(unsupported(
                "a column of the query around it below an outer join of a correlated subquery, or in its ON",
            ));
        }
        let conditions = left.conditions.into_iter().chain(right.conditions).chain(outer).collect();
        let joined = Join::try_new(
            Arc::new(left.plan),
            Arc::new(right.plan),
            join.on,
            conjunction(own),
            join.join_type,
            join.join_constraint,
            join.null_equality,
            join.null_aware,
        )?;
        Ok(Lifted { plan: LogicalPlan::Join(joined), conditions, is_single: false })
    }

    fn aggregate(&mut self, aggregate: Aggregate, wanted: Wanted) -> Result<Lifted> {
        let is_distinct = aggregate.aggr_expr.is_empty();
        let wanted = if is_distinct { wanted } else { Wanted::Rows };
        let below = self.lift(Arc::unwrap_or_clone(aggregate.input), wanted)?;
        refuse_single(&below, "another aggregate")?;
        let mut keys = aggregate.group_expr;
        if keys.iter().chain(&aggregate.aggr_expr).any(Expr::contains_outer) {
            return Err(unsupported("a column of the query around it in an aggregate or GROUP BY of a subquery"));
        }
        if keys.iter().any(|key| matches!(key, Expr::GroupingSet(_))) {
            return Err(unsupported("GROUPING SETS in a correlated subquery"));
        }
        let is_single = keys.is_empty();
        let below = if is_distinct && wanted != Wanted::Rows { below } else { self.keyed(below)? };
        for column in columns_in(&below.conditions) {
            if !keys.contains(&Expr::Column(column.clone())) {
                keys.push(Expr::Column(column));
            }
        }
        let grouped = Aggregate::try_new(Arc::new(below.plan), keys, aggregate.aggr_expr)?;
        Ok(Lifted { plan: LogicalPlan::Aggregate(grouped), conditions: below.conditions, is_single })
    }

    fn distinct(&mut self, input: LogicalPlan, wanted: Wanted) -> Result<Lifted> {
        let columns: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
        let below = self.lift(input, wanted)?;
        refuse_single(&below, "DISTINCT")?;
        let below = if wanted == Wanted::Rows { self.keyed(below)? } else { below };
        let below = self.project(columns, below)?;
        Ok(Lifted { plan: LogicalPlan::Distinct(Distinct::All(Arc::new(below.plan))), ..below })
    }

    fn window(&mut self, window: Window) -> Result<Lifted> {
        if window.window_expr.iter().any(Expr::contains_outer) {
            return Err(unsupported("a column of the query around it in OVER of a correlated subquery"));
        }
        let names = window.schema.columns();
        let own = window.input.schema().fields().len();
        let below = self.lift(Arc::unwrap_or_clone(window.input), Wanted::Rows)?;
        refuse_single(&below, "OVER")?;
        let below = self.keyed(below)?;
        let keys: Vec<Expr> = columns_in(&below.conditions).into_iter().map(Expr::Column).collect();
        let calls = window.window_expr.into_iter().map(|call| {
            call.transform(|part| match part {
                Expr::WindowFunction(mut call) => {
                    let more = keys.iter().filter(|key| !call.params.partition_by.contains(key)).cloned();
                    call.params.partition_by = call.params.partition_by.iter().cloned().chain(more).collect();
                    Ok(Transformed::yes(Expr::WindowFunction(call)))
                }
                other => Ok(Transformed::no(other)),
            })
            .data()
        });
        let width = below.plan.schema().fields().len();
        let partitioned = Window::try_new(calls.collect::<Result<_>>()?, Arc::new(below.plan.clone()))?;
        // A call is named by what it says.
        let called = partitioned.schema.columns().into_iter().skip(width);
        let called = called.zip(&names[own..]).map(|(now, before)| match now == *before {
            true => Expr::Column(now),
            false => Expr::Column(now).alias(&before.name),
        });
        let exprs = names[..own].iter().cloned().map(Expr::Column).chain(called).collect();
        self.project(exprs, Lifted { plan: LogicalPlan::Window(partitioned), ..below })
    }

    /// The first rows for every row around the subquery: a ranking per value of the columns that it is correlated by.
    fn limit(&mut self, limit: Limit, wanted: Wanted) -> Result<Lifted> {
        let refused = || unsupported("OFFSET without LIMIT, or a number that is computed, in a correlated subquery");
        let skip = limit.skip.as_deref().map_or(Some(0), number).ok_or_else(refused)?;
        let fetch = limit.fetch.as_deref().and_then(number).ok_or_else(refused)?;
        if wanted == Wanted::Any && skip == 0 && fetch > 0 {
            return self.lift(Arc::unwrap_or_clone(limit.input), wanted);
        }
        let mut projections = Vec::new();
        let mut below = Arc::unwrap_or_clone(limit.input);
        while let LogicalPlan::Projection(projection) = below {
            projections.push(projection.expr);
            below = Arc::unwrap_or_clone(projection.input);
        }
        let LogicalPlan::Sort(sort) = below else {
            return Err(unsupported(
                "LIMIT without ORDER BY in a correlated subquery (say with ORDER BY which rows are meant)",
            ));
        };
        if sort.expr.iter().any(|sort| sort.expr.contains_outer()) {
            return Err(unsupported("a column of the query around it in ORDER BY of a correlated subquery"));
        }
        let below = self.lift(Arc::unwrap_or_clone(sort.input), Wanted::Rows)?;
        refuse_single(&below, "LIMIT")?;
        let below = self.keyed(below)?;
        let mut call =
            WindowCall::new(WindowFunctionDefinition::WindowUDF(WindowFunction::RowNumber.udf()), Vec::new());
        call.params.partition_by = columns_in(&below.conditions).into_iter().map(Expr::Column).collect();
        call.params.order_by = sort.expr;
        let width = below.plan.schema().fields().len();
        let window = Window::try_new(vec![call.into()], Arc::new(below.plan.clone()))?;
        let number = Expr::Column(Column::from(window.schema.qualified_field(width)));
        let mut range = number.clone().lt_eq(count_literal(skip.saturating_add(fetch)));
        if skip > 0 {
            range = range.and(number.gt(count_literal(skip)));
        }
        let ranked = Filter::try_new(range, Arc::new(LogicalPlan::Window(window)))?;
        let mut lifted = Lifted { plan: LogicalPlan::Filter(ranked), ..below };
        for exprs in projections.into_iter().rev() {
            lifted = self.project(exprs, lifted)?;
        }
        Ok(lifted)
    }

    /// Inputs that are all correlated by the same columns of the query around them.
    fn union(&mut self, union: Union) -> Result<Lifted> {
        let refused =
            || unsupported("UNION in a correlated subquery whose sides are not correlated by the same columns");
        let mut inputs = Vec::new();
        let mut conditions: Vec<Expr> = Vec::new();
        let mut places: Vec<String> = Vec::new();
        for (index, input) in union.inputs.into_iter().enumerate() {
            let mut exprs: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
            let below = self.lift(Arc::unwrap_or_clone(input), Wanted::Rows)?;
            refuse_single(&below, "UNION")?;
            let mut pairs: Vec<(Expr, Operator, Expr)> =
                below.conditions.into_iter().map(|one| equality(one).ok_or_else(refused)).collect::<Result<_>>()?;
            pairs.sort_by_cached_key(|(_, operator, outer)| format!("{outer} {operator}"));
            if index == 0 {
                for (_, operator, outer) in &pairs {
                    let name = self.name();
                    let column = Expr::Column(Column::new_unqualified(&name));
                    places.push(name);
                    conditions.push(BinaryExpr::new(Box::new(column), *operator, Box::new(outer.clone())).into_expr());
                }
            }
            let same = pairs.len() == conditions.len()
                && pairs.iter().zip(&conditions).all(|((_, operator, outer), condition)| {
                    matches!(condition, Expr::BinaryExpr(one) if one.op == *operator && *one.right == *outer)
                });
            if !same {
                return Err(refused());
            }
            exprs.extend(pairs.into_iter().zip(&places).map(|((own, ..), name)| own.alias(name)));
            inputs.push(Arc::new(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(below.plan))?)));
        }
        let plan = LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?);
        Ok(Lifted { plan, conditions, is_single: false })
    }

    /// The same with equalities of columns only, which rows can be grouped by.
    fn keyed(&mut self, below: Lifted) -> Result<Lifted> {
        let mut exprs: Vec<Expr> = below.plan.schema().columns().into_iter().map(Expr::Column).collect();
        let width = exprs.len();
        let mut conditions = Vec::new();
        for condition in below.conditions {
            if condition.column_refs().is_empty() {
                // It holds for all rows of a subquery or for none.
                conditions.push(condition);
                continue;
            }
            let Some((own, operator, outer)) = equality(condition) else {
                return Err(unsupported(
                    "a correlated subquery of this form: only equalities can stand below an aggregate, OVER or LIMIT",
                ));
            };
            let own = match own {
                own if is_column(&own) => own,
                own => {
                    let name = self.name();
                    exprs.push(own.alias(&name));
                    Expr::Column(Column::new_unqualified(name))
                }
            };
            conditions.push(BinaryExpr::new(Box::new(own), operator, Box::new(outer)).into_expr());
        }
        let plan = match exprs.len() > width {
            true => LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(below.plan))?),
            false => below.plan,
        };
        Ok(Lifted { plan, conditions, is_single: below.is_single })
    }
}

/// The number that a constant is.
fn number(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(value, _) => match value.cast_to(&DataType::Int64) {
            Ok(ScalarValue::Int64(number)) => number,
            _ => None,
        },
        Expr::Alias(alias) => number(&alias.expr),
        Expr::Cast(cast) => number(&cast.expr),
        _ => None,
    }
}

trait IntoExpr {
    fn into_expr(self) -> Expr;
}

impl IntoExpr for BinaryExpr {
    fn into_expr(self) -> Expr {
        Expr::BinaryExpr(self)
    }
}

/// `own = outer`, sides in this order, if a condition is that.
fn equality(condition: Expr) -> Option<(Expr, Operator, Expr)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    if !matches!(op, Operator::Eq | Operator::IsNotDistinctFrom) {
        return None;
    }
    match (left.contains_outer(), right.contains_outer()) {
        (false, true) if !right.any_column_refs() => Some((*left, op, *right)),
        (true, false) if !left.any_column_refs() => Some((*right, op, *left)),
        _ => None,
    }
}

/// Whether an expression is a column, or one in a wider type: different values stay different.
pub fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Cast(cast) if cast.data_type.is_integer() || cast.data_type.is_decimal() => {
            matches!(cast.expr.as_ref(), Expr::Column(_))
        }
        _ => false,
    }
}

/// An aggregate over nothing has a row, which what stands above it would have to see.
fn refuse_single(below: &Lifted, above: &str) -> Result<()> {
    if below.is_single {
        return Err(unsupported(&format!(
            "{above} above an aggregate without GROUP BY in a correlated subquery (write the condition outside of it)"
        )));
    }
    Ok(())
}
