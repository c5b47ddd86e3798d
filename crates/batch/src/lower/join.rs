//! Joins: by hash where sides are compared for equality, else row by row.

use super::{Lowering, Rows};
use crate::expression::{Typed, plain_field};
use arrow::datatypes::{Schema, SchemaRef};
use base::{Error, Result, SqlType};
use datafusion_common::{DFSchema, JoinSide, JoinType, NullEquality};
use datafusion_expr::logical_plan::Join;
use datafusion_expr::utils::{conjunction, split_conjunction};
use datafusion_expr::{BinaryExpr, Expr, Operator};
use datafusion_physical_expr::PhysicalExprRef;
use datafusion_physical_plan::joins::utils::{ColumnIndex, JoinFilter};
use datafusion_physical_plan::joins::{HashJoinExec, JoinOn, NestedLoopJoinExec, PartitionMode};
use planner::batch::{Scope, as_equality, as_null_safe_equality, from_datafusion, key_type};
use std::sync::Arc;

/// The two inputs of a join, with the names of their columns.
struct Sides<'a> {
    left: Rows,
    right: Rows,
    left_schema: &'a DFSchema,
    right_schema: &'a DFSchema,
}

/// An equality by which rows are found.
struct Key {
    pair: (PhysicalExprRef, PhysicalExprRef),
    /// The value of the left.
    value: Expr,
    /// Whether NULL equals NULL.
    nulls: NullEquality,
}

impl Lowering<'_> {
    /// A join.
    pub(super) fn join(&self, join: &Join) -> Result<Rows> {
        let sides = Sides {
            left: self.lower(&join.left)?,
            right: self.lower(&join.right)?,
            left_schema: join.left.schema(),
            right_schema: join.right.schema(),
        };
        let equalities = join.on.iter().map(|(left, right)| equal(left, right));
        let filters = join.filter.iter().flat_map(split_conjunction).cloned();
        if join.null_aware {
            return self.not_in(&sides, equalities.chain(filters).collect());
        }
        let mut keys = Vec::new();
        let mut rest = Vec::new();
        for condition in equalities {
            match self.key(&sides, &condition, join.null_equality)? {
                Some(key) => keys.push(key),
                None if join.null_equality == NullEquality::NullEqualsNothing => rest.push(condition),
                None => return Err(Error::unsupported("comparing rows of different types in batch mode")),
            }
        }
        for condition in filters {
            match self.key(&sides, &condition, NullEquality::NullEqualsNothing)? {
                Some(key) => keys.push(key),
                None => rest.push(condition),
            }
        }
        let nulls = match keys.iter().any(|key| key.nulls == NullEquality::NullEqualsNull) {
            true => NullEquality::NullEqualsNull,
            false => NullEquality::NullEqualsNothing,
        };
        // One rule holds for all keys: where NULL equals NULL, the others say that theirs is none.
        let others = keys.iter().filter(|key| key.nulls != nulls);
        rest.extend(others.map(|key| Expr::IsNotNull(Box::new(key.value.clone()))));
        let on: JoinOn = keys.into_iter().map(|key| key.pair).collect();
        let filter = self.filter(&sides, conjunction(rest))?;
        let types = output_types(&sides, join.join_type);
        let (left, right) = (sides.left.plan, sides.right.plan);
        if on.is_empty() {
            let plan = NestedLoopJoinExec::try_new(left, right, filter, &join.join_type, None);
            return Ok(Rows { plan: Arc::new(plan.map_err(from_datafusion)?), types });
        }
        let mode = PartitionMode::CollectLeft;
        let plan = HashJoinExec::try_new(left, right, on, filter, &join.join_type, None, mode, nulls, false)
            .map_err(from_datafusion)?;
        Ok(Rows { plan: Arc::new(plan), types })
    }

    /// NOT IN: a row stays if its value differs from each of the subquery; one comparison with NULL is enough to let
    /// it go. The first condition is the comparison, the others tell which rows the subquery has for the row.
    fn not_in(&self, sides: &Sides<'_>, mut conditions: Vec<Expr>) -> Result<Rows> {
        if conditions.is_empty() {
            return Err(Error::internal("NOT IN without a comparison"));
        }
        let comparison = conditions.remove(0);
        let types = output_types(sides, JoinType::LeftAnti);
        let (left, right) = (sides.left.plan.clone(), sides.right.plan.clone());
        if conditions.is_empty()
            && let Some(key) = self.key(sides, &comparison, NullEquality::NullEqualsNothing)?
            // Here floating point numbers are compared, they are no keys.
            && !key.pair.0.data_type(&sides.left.schema()).map_err(from_datafusion)?.is_floating()
        {
            let plan = HashJoinExec::try_new(
                left,
                right,
                vec![key.pair],
                None,
                &JoinType::LeftAnti,
                None,
                PartitionMode::CollectLeft,
                NullEquality::NullEqualsNothing,
                true,
            )
            .map_err(from_datafusion)?;
            return Ok(Rows { plan: Arc::new(plan), types });
        }
        conditions.push(Expr::IsNotFalse(Box::new(comparison)));
        let filter = self.filter(sides, conjunction(conditions))?;
        let plan = NestedLoopJoinExec::try_new(left, right, filter, &JoinType::LeftAnti, None);
        Ok(Rows { plan: Arc::new(plan.map_err(from_datafusion)?), types })
    }

    /// The sides of a condition that compares a value of the left with one of the right. `nulls` says what `=` means.
    fn key(&self, sides: &Sides<'_>, condition: &Expr, nulls: NullEquality) -> Result<Option<Key>> {
        let ((one, two), nulls) = match (as_equality(condition), as_null_safe_equality(condition)) {
            (Some(operands), _) => (operands, nulls),
            (None, Some(operands)) => (operands, NullEquality::NullEqualsNull),
            (None, None) => return Ok(None),
        };
        let left_scope = self.scope(sides.left_schema, &sides.left.types);
        let right_scope = self.scope(sides.right_schema, &sides.right.types);
        let fits = |left: &Expr, right: &Expr| {
            belongs(&left_scope, &right_scope, left) && belongs(&right_scope, &left_scope, right)
        };
        let (left, right) = match () {
            () if fits(one, two) => (one, two),
            () if fits(two, one) => (two, one),
            () => return Ok(None),
        };
        let types = (self.type_of(&left_scope, left)?, self.type_of(&right_scope, right)?);
        let common = match key_type(&types.0, &types.1) {
            Some(common) => common,
            // Where NULL equals NULL the rows of a set operation are compared, and those are compared as they are.
            None if nulls == NullEquality::NullEqualsNull && types.0.logical == types.1.logical => {
                super::check_key(left, &types.0)?;
                types.0
            }
            None => return Ok(None),
        };
        let value = left.clone();
        let left = self.typed(left_scope.compile_as(left, &common)?, &sides.left);
        let right = self.typed(right_scope.compile_as(right, &common)?, &sides.right);
        Ok(Some(Key { pair: (left.expr, right.expr), value, nulls }))
    }

    fn type_of(&self, scope: &Scope<'_>, expr: &Expr) -> Result<SqlType> {
        Ok(scope.compile(expr)?.expression.sql_type().clone())
    }

    /// What else must hold for a pair of rows.
    fn filter(&self, sides: &Sides<'_>, condition: Option<Expr>) -> Result<Option<JoinFilter>> {
        let Some(condition) = condition else { return Ok(None) };
        let both = sides.left_schema.join(sides.right_schema).map_err(from_datafusion)?;
        let types: Vec<SqlType> = sides.left.types.iter().chain(&sides.right.types).cloned().collect();
        let compiled = self.scope(&both, &types).compile(&condition)?;
        let schema = pair_schema(sides);
        let left_width = sides.left.types.len();
        let places = (0..types.len()).map(|index| match index < left_width {
            true => ColumnIndex { index, side: JoinSide::Left },
            false => ColumnIndex { index: index - left_width, side: JoinSide::Right },
        });
        let expr = Typed::new(compiled, &schema, &self.moment).expr;
        Ok(Some(JoinFilter::new(expr, places.collect(), schema)))
    }
}

/// The columns of a pair of rows.
fn pair_schema(sides: &Sides<'_>) -> SchemaRef {
    let (left, right) = (sides.left.schema(), sides.right.schema());
    let fields: Vec<_> = left
        .fields()
        .iter()
        .chain(right.fields())
        .map(|field| plain_field(field.name(), field.data_type().clone()))
        .collect();
    Arc::new(Schema::new(fields))
}

/// Whether an expression reads columns of one side and none of the other.
fn belongs(own: &Scope<'_>, other: &Scope<'_>, expr: &Expr) -> bool {
    let columns = expr.column_refs();
    !columns.is_empty()
        && own.covers(expr)
        && columns.iter().all(|column| other.schema.index_of_column(column).is_err())
}

fn equal(left: &Expr, right: &Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr { left: Box::new(left.clone()), op: Operator::Eq, right: Box::new(right.clone()) })
}

/// The columns that a join gives.
fn output_types(sides: &Sides<'_>, join_type: JoinType) -> Vec<SqlType> {
    let as_is = |types: &[SqlType]| types.to_vec();
    let nullable = |types: &[SqlType]| types.iter().map(|one| one.with_nullable(true)).collect::<Vec<_>>();
    let (left, right) = (&sides.left.types, &sides.right.types);
    let mark = base::LogicalType::Boolean.not_null();
    match join_type {
        JoinType::Inner => [as_is(left), as_is(right)].concat(),
        JoinType::Left => [as_is(left), nullable(right)].concat(),
        JoinType::Right => [nullable(left), as_is(right)].concat(),
        JoinType::Full => [nullable(left), nullable(right)].concat(),
        JoinType::LeftSemi | JoinType::LeftAnti => as_is(left),
        JoinType::RightSemi | JoinType::RightAnti => as_is(right),
        JoinType::LeftMark => [as_is(left), vec![mark]].concat(),
        JoinType::RightMark => [as_is(right), vec![mark]].concat(),
    }
}
