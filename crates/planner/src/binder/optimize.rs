//! The optimizer rules of DataFusion that are right under retraction.
//!
//! Left out: everything that pushes LIMIT, splits DISTINCT aggregates, moves filters below null-aware joins, changes what an
//! empty input gives, or hides patterns behind common expressions.

use super::single_row;
use super::subqueries;
use super::unnest;
use datafusion_common::Result;
use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_expr::{Expr, LogicalPlan};
use datafusion_optimizer::decorrelate_lateral_join::DecorrelateLateralJoin;
use datafusion_optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion_optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion_optimizer::eliminate_duplicated_expr::EliminateDuplicatedExpr;
use datafusion_optimizer::eliminate_filter::EliminateFilter;
use datafusion_optimizer::eliminate_outer_join::EliminateOuterJoin;
use datafusion_optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion_optimizer::optimize_projections::OptimizeProjections;
use datafusion_optimizer::push_down_filter::PushDownFilter;
use datafusion_optimizer::replace_distinct_aggregate::ReplaceDistinctWithAggregate;
use datafusion_optimizer::simplify_expressions::SimplifyExpressions;
use datafusion_optimizer::{Optimizer, OptimizerContext, OptimizerRule};
use std::sync::Arc;

/// Optimises a bound plan.
pub fn optimize(plan: LogicalPlan) -> Result<LogicalPlan> {
    let (plan, rules) = match combines(&plan)? {
        true => {
            let plan = unnest::laterals(subqueries::plain_comparisons(plan)?)?;
            (subqueries::unnest(plan)?, rules_with_joins())
        }
        false => (plan, rules_without_joins()),
    };
    let plan = single_row::keep(plan)?;
    // The rules stand in the order in which each finds what the one before has left: a second pass changes nothing.
    let context = OptimizerContext::new().filter_null_keys(false).with_skip_failing_rules(false).with_max_passes(1);
    single_row::release(Optimizer::with_rules(rules).optimize(plan, &context, |_, _| {})?)
}

type Rules = Vec<Arc<dyn OptimizerRule + Send + Sync>>;

fn rules_with_joins() -> Rules {
    vec![
        Arc::new(SimplifyExpressions::new()),
        Arc::new(ReplaceDistinctWithAggregate::new()),
        Arc::new(DecorrelatePredicateSubquery::new()),
        Arc::new(DecorrelateLateralJoin::new()),
        Arc::new(ExtractEquijoinPredicate::new()),
        Arc::new(EliminateDuplicatedExpr::new()),
        Arc::new(EliminateFilter::new()),
        Arc::new(EliminateCrossJoin::new()),
        Arc::new(EliminateOuterJoin::new()),
        Arc::new(PushDownFilter::new()),
        Arc::new(OptimizeProjections::new()),
        // The first one makes projections meet that this one merges.
        Arc::new(OptimizeProjections::new()),
    ]
}

/// The rules that find anything to do where there are neither joins nor subqueries: most statements are planned in half the
/// time with them.
fn rules_without_joins() -> Rules {
    vec![
        Arc::new(SimplifyExpressions::new()),
        Arc::new(ReplaceDistinctWithAggregate::new()),
        Arc::new(EliminateDuplicatedExpr::new()),
        Arc::new(EliminateFilter::new()),
        Arc::new(PushDownFilter::new()),
        Arc::new(OptimizeProjections::new()),
        // The first one makes projections meet that this one merges.
        Arc::new(OptimizeProjections::new()),
    ]
}

/// Whether a plan has a join or a subquery.
fn combines(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply(|node| {
        found |= matches!(node, LogicalPlan::Join(_) | LogicalPlan::Subquery(_));
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                found |= matches!(
                    part,
                    Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_) | Expr::SetComparison(_)
                );
                Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
            })
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}
