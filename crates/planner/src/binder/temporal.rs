//! FOR SYSTEM_TIME AS OF: the time goes into ON as a marker, so that its columns are resolved where those of the condition are;
//! afterwards the join becomes a node of its own.

use super::positions::locate;
use super::rewrite::{Rewriter, call};
use crate::bridge::{external, typed_field};
use crate::lower::join_codes as codes;
use crate::nodes::temporal::TemporalJoinNode;
use arrow::datatypes::{DataType, FieldRef};
use base::{Error, LogicalType};
use datafusion_common::{JoinType, Result, exec_err};
use datafusion_expr::logical_plan::{Join, LogicalPlan};
use datafusion_expr::utils::{conjunction, split_conjunction_owned};
use datafusion_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};
use std::any::Any;
use std::sync::Arc;
use syntax::ast::{
    self, BinaryOperator, JoinConstraint, JoinOperator, SetExpr, Spanned, TableFactor, TableVersion, TableWithJoins,
};

/// The marker's name.
pub const AS_OF: &str = "$as_of";

/// Puts the times of the joins of a query into their conditions.
///
/// # Errors
/// Joins that cannot be temporal.
pub fn mark(rewriter: &Rewriter<'_>, query: &mut ast::Query) -> base::Result<()> {
    set(rewriter, &mut query.body)
}

fn set(rewriter: &Rewriter<'_>, body: &mut SetExpr) -> base::Result<()> {
    match body {
        SetExpr::Select(select) => select.from.iter_mut().try_for_each(|from| mark_from(rewriter, from)),
        SetExpr::SetOperation { left, right, .. } => {
            set(rewriter, left)?;
            set(rewriter, right)
        }
        // A query within has a visit of its own.
        _ => Ok(()),
    }
}

fn mark_from(rewriter: &Rewriter<'_>, from: &mut TableWithJoins) -> base::Result<()> {
    nested(rewriter, &mut from.relation)?;
    for join in &mut from.joins {
        nested(rewriter, &mut join.relation)?;
        let span = join.relation.span();
        let TableFactor::Table { version, .. } = &mut join.relation else { continue };
        if !matches!(version, Some(TableVersion::ForSystemTimeAsOf(_))) {
            continue;
        }
        let Some(TableVersion::ForSystemTimeAsOf(time)) = version.take() else { continue };
        let marker = call(AS_OF, vec![time]);
        add(&mut join.join_operator, marker).map_err(|error| locate(error, rewriter.positions, span))?;
    }
    Ok(())
}

fn nested(rewriter: &Rewriter<'_>, factor: &mut TableFactor) -> base::Result<()> {
    match factor {
        TableFactor::NestedJoin { table_with_joins, .. } => mark_from(rewriter, table_with_joins),
        _ => Ok(()),
    }
}

fn add(operator: &mut JoinOperator, marker: ast::Expr) -> base::Result<()> {
    let refused = |kind: &str| Err(Error::new(&codes::AS_OF_KIND, &[("kind", &kind)]));
    let constraint = match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint) => constraint,
        JoinOperator::Right(_) | JoinOperator::RightOuter(_) => return refused("RIGHT"),
        JoinOperator::FullOuter(_) => return refused("FULL"),
        JoinOperator::CrossJoin(_) => return refused("CROSS"),
        _ => return refused("SEMI, ANTI or other"),
    };
    match constraint {
        JoinConstraint::On(condition) => {
            let written = std::mem::replace(condition, ast::Expr::Identifier(ast::Ident::new("")));
            let nested = ast::Expr::Nested(Box::new(written));
            *condition =
                ast::Expr::BinaryOp { left: Box::new(nested), op: BinaryOperator::And, right: Box::new(marker) };
            Ok(())
        }
        JoinConstraint::None => refused("unconditional"),
        JoinConstraint::Using(_) | JoinConstraint::Natural => {
            Err(Error::unsupported("USING and NATURAL with FOR SYSTEM_TIME AS OF"))
        }
    }
}

/// Whether a query has FOR SYSTEM_TIME AS OF.
pub fn has_times(query: &ast::Query) -> bool {
    let mut search = HasTimes;
    ast::Visit::visit(query, &mut search).is_break()
}

struct HasTimes;

impl ast::Visitor for HasTimes {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> std::ops::ControlFlow<()> {
        match factor {
            TableFactor::Table { version: Some(TableVersion::ForSystemTimeAsOf(_)), .. } => {
                std::ops::ControlFlow::Break(())
            }
            _ => std::ops::ControlFlow::Continue(()),
        }
    }
}

/// The query with PROCTIME() in the place of columns after FOR SYSTEM_TIME AS OF whose names say that they are meant to be it;
/// `None` if there are none.
pub fn assume_now(query: &ast::Query) -> Option<ast::Query> {
    let mut query = query.clone();
    let mut assume = AssumeNow(false);
    let _ = ast::VisitMut::visit(&mut query, &mut assume);
    assume.0.then_some(query)
}

struct AssumeNow(bool);

impl ast::VisitorMut for AssumeNow {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> std::ops::ControlFlow<()> {
        if let TableFactor::Table { version: Some(TableVersion::ForSystemTimeAsOf(time)), .. } = factor
            && super::names::is_named_proctime(time)
        {
            *time = call("PROCTIME", Vec::new());
            self.0 = true;
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// A join whose condition has the marker as its node; any other join as it is.
///
/// # Errors
/// Columns of the same name.
pub fn bind(join: Join) -> Result<Result<LogicalPlan, Join>> {
    let Some(filter) = &join.filter else { return Ok(Err(join)) };
    let (mut time, mut rest) = (None, Vec::new());
    for part in split_conjunction_owned(filter.clone()) {
        match part {
            Expr::ScalarFunction(call) if call.func.name() == AS_OF => time = call.args.into_iter().next(),
            other => rest.push(other),
        }
    }
    let Some(time) = time else { return Ok(Err(join)) };
    if !join.on.is_empty() {
        return Err(external(Error::internal("a condition with its keys taken out")));
    }
    let condition = conjunction(rest).unwrap_or_else(|| lit(true));
    let node = TemporalJoinNode::try_new(
        join.left.clone(),
        join.right.clone(),
        join.join_type == JoinType::Left,
        time,
        condition,
    )?;
    Ok(Ok(node.into_plan()))
}

/// The marker as a function.
pub fn marker(name: &str) -> Option<Arc<ScalarUDF>> {
    let signature = Signature::user_defined(Volatility::Volatile);
    (name == AS_OF).then(|| Arc::new(ScalarUDF::new_from_impl(AsOf { signature })))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct AsOf {
    signature: Signature,
}

impl ScalarUDFImpl for AsOf {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        AS_OF
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        exec_err!("the type of {AS_OF} follows from its fields")
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        if arguments.arg_fields.len() != 1 {
            return Err(external(Error::internal("FOR SYSTEM_TIME AS OF has one time")));
        }
        Ok(typed_field(AS_OF, &LogicalType::Boolean.not_null()))
    }

    fn invoke_with_args(&self, _arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        exec_err!("{AS_OF} was not replaced")
    }
}
