//! UNNEST: from FROM to a plan node, and from a join with it to an operator over the left side.

use super::coerce::sql_type_of;
use super::correlation::{Lifter, Wanted, joined};
use super::subqueries::{case, truth, value_of_nothing};
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
    // While FROM was bound, an outer join before it had not made its columns nullable yet.
    let known = element_columns(&sql_type_of(&collection.data, join.left.schema())?).map_err(external)?;
    let elements = elements
        .into_iter()
        .enumerate()
        .map(|(index, (qualifier, field))| match known.get(index) {
            Some((_, sql_type)) => (qualifier, typed_field(field.name(), sql_type)),
            None => (qualifier, field),
        })
        .collect();
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

/// A join with LATERAL (SELECT ...) AS t, named by a projection inside the subquery.
fn lateral(join: Join) -> Result<Join> {
    let LogicalPlan::SubqueryAlias(alias) = join.right.as_ref() else { return Ok(join) };
    let LogicalPlan::Subquery(subquery) = alias.input.as_ref() else { return Ok(join) };
    let named = subquery.subquery.schema().iter().zip(alias.schema.iter()).map(|(inner, (qualifier, field))| {
        Expr::Column(Column::from(inner)).alias_qualified(qualifier.cloned(), field.name())
    });
    let named = Projection::try_new(named.collect(), subquery.subquery.clone())?;
    let inside = Subquery { subquery: Arc::new(LogicalPlan::Projection(named)), ..subquery.clone() };
    Ok(Join { right: Arc::new(LogicalPlan::Subquery(inside)), ..join })
}

/// LATERAL (SELECT ...) as a join by the conditions in it on the row before it.
///
/// # Errors
/// A condition that cannot be moved out of the subquery.
pub fn laterals(plan: LogicalPlan, lifter: &mut Lifter) -> Result<LogicalPlan> {
    let joined = plan.transform_up_with_subqueries(|plan| match &plan {
        LogicalPlan::Join(join) => match join.right.as_ref() {
            LogicalPlan::Subquery(subquery) => {
                Ok(Transformed::yes(lateral_join(join, subquery.subquery.as_ref().clone(), lifter)?))
            }
            _ => Ok(Transformed::no(plan)),
        },
        _ => Ok(Transformed::no(plan)),
    })?;
    Ok(joined.data)
}

/// A column that is NULL where a row of the left side has found none.
const PRESENT: &str = "$present";

fn lateral_join(join: &Join, subquery: LogicalPlan, lifter: &mut Lifter) -> Result<LogicalPlan> {
    let refused = |feature: &str| external(Error::unsupported(feature));
    let pads = match join.join_type {
        _ if !join.on.is_empty() => return Err(refused("USING and NATURAL with LATERAL")),
        JoinType::Inner => false,
        JoinType::Left => true,
        other => return Err(refused(&format!("{other} JOIN with LATERAL"))),
    };
    let width = join.left.schema().fields().len();
    let own: Vec<(Option<TableReference>, String)> =
        join.schema.iter().skip(width).map(|(qualifier, field)| (qualifier.cloned(), field.name().clone())).collect();
    let nothing =
        (0..own.len()).map(|index| value_of_nothing(&subquery, index)).collect::<Result<Vec<Option<Expr>>>>()?;
    let (outputs, below) = computed_outside(subquery)?;
    let mut lifted = lifter.lift(below, Wanted::Rows)?;
    let around = join.left.schema();
    let reads_around = outputs.iter().any(Expr::contains_outer);
    if reads_around && (pads || lifted.is_single) {
        return Err(refused(
            "a column of the left side in SELECT of LEFT JOIN LATERAL, or beside an aggregate in LATERAL",
        ));
    }
    let on = join.filter.iter().filter(|filter| !is_true(filter)).cloned();
    if lifted.is_single && pads && on.clone().next().is_some() {
        return Err(refused("ON of LEFT JOIN LATERAL with an aggregate without GROUP BY"));
    }
    let mut values = outputs.into_iter().map(|output| joined(output, around)).collect::<Result<Vec<_>>>()?;
    if lifted.is_single {
        // A row without partners has the row of the aggregate over nothing.
        let mut columns: Vec<Expr> = lifted.plan.schema().columns().into_iter().map(Expr::Column).collect();
        columns.push(truth(true).alias(PRESENT));
        lifted.plan = LogicalPlanBuilder::from(lifted.plan).project(columns)?.build()?;
        let absent = Expr::Column(Column::new_unqualified(PRESENT)).is_null();
        for (value, nothing) in values.iter_mut().zip(nothing) {
            if let Some(nothing) = nothing {
                *value = case(vec![(absent.clone(), nothing)], value.clone());
            }
        }
    }
    let conditions = lifted.conditions.into_iter().map(|one| joined(one, around)).collect::<Result<Vec<_>>>()?;
    let left = LogicalPlanBuilder::from(join.left.as_ref().clone());
    let kind = if pads || lifted.is_single { JoinType::Left } else { JoinType::Inner };
    let (inside, behind) = if pads { (conjunction(on), None) } else { (None, conjunction(on)) };
    let is_nothing = matches!(&lifted.plan, LogicalPlan::EmptyRelation(empty) if empty.produce_one_row);
    let wide = match is_nothing {
        true => left,
        false => left.join_on(lifted.plan, kind, conditions.into_iter().chain(inside))?,
    };
    // What the condition reads of the subquery is no column of the join as it is written.
    let named = values.into_iter().zip(own).map(|(value, (qualifier, name))| match value {
        Expr::Column(column) if column.relation == qualifier && column.name == name => Expr::Column(column),
        value => value.alias_qualified(qualifier, name),
    });
    let columns: Vec<Expr> = around.columns().into_iter().map(Expr::Column).chain(named).collect();
    let narrow = wide.project(columns)?;
    match behind {
        Some(condition) => narrow.filter(condition)?.build(),
        None => narrow.build(),
    }
}

/// What a subquery selects over the plan below, as far as it reads columns of the query around it.
fn computed_outside(subquery: LogicalPlan) -> Result<(Vec<Expr>, LogicalPlan)> {
    let columns = |plan: &LogicalPlan| plan.schema().columns().into_iter().map(Expr::Column).collect();
    let (mut outputs, mut plan): (Vec<Expr>, LogicalPlan) = (columns(&subquery), subquery);
    while let LogicalPlan::Projection(projection) = &plan {
        let reads_around = |plan: &LogicalPlan| matches!(plan, LogicalPlan::Projection(one) if one.expr.iter().any(Expr::contains_outer));
        if !reads_around(&plan) && !reads_around(&projection.input) {
            break;
        }
        let replaced = |output: Expr| {
            output.transform(|part| match &part {
                Expr::Column(column) => {
                    let place = projection.schema.index_of_column(column)?;
                    let value = projection.expr[place].clone().unalias_nested().data;
                    Ok(Transformed::new(value, true, TreeNodeRecursion::Jump))
                }
                _ => Ok(Transformed::no(part)),
            })
        };
        outputs = outputs.into_iter().map(|output| replaced(output).data()).collect::<Result<_>>()?;
        plan = projection.input.as_ref().clone();
    }
    Ok((outputs, plan))
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
