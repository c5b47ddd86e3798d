//! UNNEST: from FROM to a plan node, and from a join with it to an operator over the left side.

use super::coerce::sql_type_of;
use super::windows::rename;
use crate::bridge::{external, typed_field};
use crate::codes;
use crate::nodes::unnest::{UnnestNode, as_unnest};
use arrow::datatypes::FieldRef;
use base::{Error, LogicalType, SqlType};
use datafusion_common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion_common::{Column, DFSchema, JoinType, Result, TableReference};
use datafusion_expr::logical_plan::{EmptyRelation, Extension, Filter, Join, LogicalPlan, Projection, Subquery};
use datafusion_expr::planner::RelationPlannerContext;
use datafusion_expr::utils::conjunction;
use datafusion_expr::{Expr, LogicalPlanBuilder};
use datafusion_optimizer::decorrelate::PullUpCorrelatedExpr;
use std::sync::Arc;
use syntax::ast::{self, TableAlias};

/// The column of an element's position.
const ORDINALITY: &str = "ORDINALITY";

/// An UNNEST as it is written.
pub struct Written {
    /// The collections; one.
    pub collections: Vec<ast::Expr>,
    /// WITH ORDINALITY.
    pub with_ordinality: bool,
    /// AS.
    pub alias: Option<TableAlias>,
}

/// The columns of the elements of a collection, as Flink names them.
///
/// # Errors
/// It is no collection.
pub fn element_columns(collection: &SqlType) -> base::Result<Vec<(String, SqlType)>> {
    let element = match &collection.logical {
        LogicalType::Array(element) | LogicalType::Multiset(element) => element,
        LogicalType::Map(key, value) => {
            return Ok(vec![("KEY".into(), key.as_ref().clone()), ("VALUE".into(), value.as_ref().clone())]);
        }
        other => return Err(Error::new(&codes::UNNEST_TYPE, &[("type", other)])),
    };
    // A ROW that is NULL is left out, so its fields are as they say.
    Ok(match element.logical.fields() {
        Some(fields) => fields.to_vec(),
        None => vec![("EXPR$0".into(), element.as_ref().clone())],
    })
}

/// The plan of an UNNEST in FROM, over one row without columns.
pub fn plan(written: Written, context: &mut dyn RelationPlannerContext) -> Result<(LogicalPlan, Option<TableAlias>)> {
    let [collection] = <[ast::Expr; 1]>::try_from(written.collections)
        .map_err(|_| external(Error::unsupported("UNNEST of several collections")))?;
    let empty = DFSchema::empty();
    // Its columns may have the names of columns beside it.
    let qualifier = TableReference::bare(format!("UNNEST({collection})"));
    let collection = context.sql_to_expr(collection, &empty)?;
    let mut columns = element_columns(&sql_type_of(&collection, &empty)?).map_err(external)?;
    if written.with_ordinality {
        columns.push((ORDINALITY.into(), LogicalType::Int.not_null()));
    }
    let elements =
        columns.iter().map(|(name, sql_type)| (Some(qualifier.clone()), typed_field(name, sql_type))).collect();
    let input = LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: true, schema: Arc::new(empty) });
    let plan = UnnestNode::try_new(Arc::new(input), collection, elements, written.with_ordinality)?.into_plan();
    // The name of a table with one column of plain values is the name of the column.
    match (&written.alias, columns.as_slice()) {
        (Some(alias), [(name, _)]) if alias.columns.is_empty() && name == "EXPR$0" => {
            let plan = rename(plan, std::slice::from_ref(&alias.name.value))?;
            Ok((plan, written.alias))
        }
        _ => Ok((plan, written.alias)),
    }
}

/// A join whose right side is an UNNEST as the operator over its left side; any other join as it is.
///
/// # Errors
/// RIGHT and FULL joins with a collection of the left side.
pub fn correlate(join: Join) -> Result<LogicalPlan> {
    let Some(unnest) = behind_names(&join.right) else { return Ok(LogicalPlan::Join(lateral(join)?)) };
    let outer = match join.join_type {
        JoinType::Inner => false,
        JoinType::Left => true,
        // Without a column of the left side it is a table like any other.
        _ if !is_correlated(&unnest.collection)? => return Ok(LogicalPlan::Join(join)),
        other => return Err(external(Error::unsupported(format!("{other} JOIN with UNNEST")))),
    };
    if !join.on.is_empty() {
        return Err(external(Error::unsupported("USING and NATURAL with UNNEST")));
    }
    let condition = conjunction(join.filter.iter().filter(|filter| !is_true(filter)).cloned());
    let width = join.left.schema().fields().len();
    let elements: Vec<(Option<TableReference>, FieldRef)> =
        join.schema.iter().skip(width).map(|(qualifier, field)| (qualifier.cloned(), field.clone())).collect();
    let collection = unnest.collection.clone().transform_up(|expr| match expr {
        Expr::OuterReferenceColumn(_, column) => Ok(Transformed::yes(Expr::Column(column))),
        other => Ok(Transformed::no(other)),
    })?;
    let node = UnnestNode::try_new(join.left.clone(), collection.data, elements, unnest.with_ordinality)?;
    if outer {
        return Ok(node.outer(condition).into_plan());
    }
    let plan = node.into_plan();
    Ok(match condition {
        Some(condition) => LogicalPlan::Filter(Filter::try_new(condition, Arc::new(plan))?),
        None => plan,
    })
}

/// A join with LATERAL (SELECT ...) AS t, named by a projection inside the subquery: the rule that takes subqueries apart wants
/// nothing before them, and cannot see columns of the subquery behind another name.
fn lateral(join: Join) -> Result<Join> {
    let LogicalPlan::SubqueryAlias(alias) = join.right.as_ref() else { return Ok(join) };
    let LogicalPlan::Subquery(subquery) = alias.input.as_ref() else { return Ok(join) };
    if counts_nothing(&subquery.subquery)? {
        // It has a row with 0 where nothing is found, which the join that would be made of it has not.
        return Err(external(Error::unsupported("COUNT without GROUP BY in a LATERAL subquery")));
    }
    let named = subquery.subquery.schema().iter().zip(alias.schema.iter()).map(|(inner, (qualifier, field))| {
        Expr::Column(Column::from(inner)).alias_qualified(qualifier.cloned(), field.name())
    });
    let named = Projection::try_new(named.collect(), subquery.subquery.clone())?;
    let inside = Subquery { subquery: Arc::new(LogicalPlan::Projection(named)), ..subquery.clone() };
    Ok(Join { right: Arc::new(LogicalPlan::Subquery(inside)), ..join })
}

/// LATERAL (SELECT ...) as a join. DataFusion's own rule knows no LEFT JOIN, and groups by more than it must.
///
/// # Errors
/// A condition on the outer row that cannot be moved out of the subquery.
pub fn laterals(plan: LogicalPlan) -> Result<LogicalPlan> {
    let joined = plan.transform_up_with_subqueries(|plan| {
        let LogicalPlan::Join(join) = &plan else { return Ok(Transformed::no(plan)) };
        let LogicalPlan::Subquery(subquery) = join.right.as_ref() else { return Ok(Transformed::no(plan)) };
        let mut pull_up = PullUpCorrelatedExpr::new();
        let right = subquery.subquery.as_ref().clone().rewrite(&mut pull_up).data()?;
        // An aggregate without GROUP BY has a row where nothing is found.
        let kind = match join.join_type {
            JoinType::Left => JoinType::Left,
            JoinType::Inner if !pull_up.pulled_up_scalar_agg => JoinType::Inner,
            JoinType::Inner if join.filter.is_none() => JoinType::Left,
            _ => return Ok(Transformed::no(plan)),
        };
        if !pull_up.can_pull_up {
            return Ok(Transformed::no(plan));
        }
        let condition = conjunction(pull_up.join_filters.into_iter().chain(join.filter.clone()));
        let left = LogicalPlanBuilder::from(join.left.as_ref().clone());
        let wide = left.join_on(right, kind, condition)?.build()?;
        // What the condition reads of the subquery is no column of the join as it is written.
        let columns = join.schema.iter().map(|named| Expr::Column(Column::from(named))).collect();
        let narrow = Projection::try_new(columns, Arc::new(wide))?;
        Ok(Transformed::yes(LogicalPlan::Projection(narrow)))
    })?;
    Ok(joined.data)
}

/// Whether there is an aggregate without GROUP BY that is not NULL over no row.
fn counts_nothing(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply(|node| {
        if let LogicalPlan::Aggregate(aggregate) = node
            && aggregate.group_expr.is_empty()
        {
            found |= aggregate.schema.fields().iter().any(|field| !field.is_nullable());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// The UNNEST that nothing but names stands before.
fn behind_names(plan: &LogicalPlan) -> Option<&UnnestNode> {
    match plan {
        LogicalPlan::Extension(Extension { node }) => {
            as_unnest(node.as_ref()).filter(|node| matches!(node.input.as_ref(), LogicalPlan::EmptyRelation(_)))
        }
        LogicalPlan::SubqueryAlias(alias) => behind_names(&alias.input),
        LogicalPlan::Subquery(subquery) => behind_names(&subquery.subquery),
        LogicalPlan::Projection(projection) => {
            let below = projection.input.schema();
            let only_names = projection.expr.len() == below.fields().len()
                && projection.expr.iter().zip(below.iter()).all(|(expr, (qualifier, field))| {
                    expr.clone().unalias() == Expr::Column(Column::from((qualifier, field)))
                });
            if only_names { behind_names(&projection.input) } else { None }
        }
        _ => None,
    }
}

fn is_true(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(datafusion_common::ScalarValue::Boolean(Some(true)), _))
}

fn is_correlated(expr: &Expr) -> Result<bool> {
    let mut found = false;
    expr.apply(|part| {
        found |= matches!(part, Expr::OuterReferenceColumn(..));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}
