//! The optimizer rules of DataFusion that are right under retraction.
//!
//! Left out: everything that pushes LIMIT, splits DISTINCT aggregates, moves filters below null-aware joins, changes what an
//! empty input gives, or hides patterns behind common expressions.

use super::correlation::Lifter;
use super::lists;
use super::single_row;
use super::subqueries;
use super::unnest;
use datafusion_common::Result;
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::{Transformed, TreeNode, TreeNodeRecursion, TreeNodeRewriter};
use datafusion_expr::{Expr, InvariantLevel, LogicalPlan, assert_expected_schema};
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
use datafusion_optimizer::{ApplyOrder, OptimizerContext, OptimizerRule};
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

/// Optimises a bound plan.
pub fn optimize(plan: LogicalPlan) -> Result<LogicalPlan> {
    let (plan, rules) = match combines(&plan)? {
        true => {
            let mut lifter = Lifter::default();
            let plan = unnest::laterals(subqueries::plain_comparisons(plan)?, &mut lifter)?;
            (subqueries::unnest(plan, &mut lifter)?, rules_with_joins())
        }
        false => (plan, rules_without_joins()),
    };
    let plan = single_row::keep(lists::keep_apart(plan)?)?;
    check(&plan)?;
    let wanted = plan.schema().clone();
    let context = OptimizerContext::new_with_config_options(OPTIONS.clone());
    // The rules stand in the order in which each finds what the one before has left: a second pass changes nothing.
    let mut plan = rules.into_iter().try_fold(plan, |plan, rule| apply(rule, plan, &context))?;
    if projections_meet(&plan)? {
        plan = apply(Box::new(OptimizeProjections::new()), plan, &context)?;
    }
    assert_expected_schema(&wanted, &plan)?;
    check(&plan)?;
    single_row::release(plan)
}

/// What rules are told.
static OPTIONS: LazyLock<Arc<ConfigOptions>> = LazyLock::new(|| {
    let mut options = ConfigOptions::new();
    options.optimizer.filter_null_join_keys = false;
    options.optimizer.skip_failed_rules = false;
    Arc::new(options)
});

/// Looks at what must be true of a plan. Without subqueries, tests do that.
fn check(plan: &LogicalPlan) -> Result<()> {
    match cfg!(debug_assertions) || has_subqueries(plan)? {
        true => plan.check_invariants(InvariantLevel::Executable),
        false => Ok(()),
    }
}

type Rule = Box<dyn OptimizerRule>;

fn rules_with_joins() -> Vec<Rule> {
    vec![
        Box::new(SimplifyExpressions::new()),
        Box::new(ReplaceDistinctWithAggregate::new()),
        Box::new(DecorrelatePredicateSubquery::new()),
        Box::new(ExtractEquijoinPredicate::new()),
        Box::new(EliminateDuplicatedExpr::new()),
        Box::new(EliminateFilter::new()),
        Box::new(EliminateCrossJoin::new()),
        Box::new(EliminateOuterJoin::new()),
        Box::new(PushDownFilter::new()),
        Box::new(OptimizeProjections::new()),
    ]
}

/// The rules that find anything to do where there are neither joins nor subqueries: most statements are planned in half the
/// time with them.
fn rules_without_joins() -> Vec<Rule> {
    vec![
        Box::new(SimplifyExpressions::new()),
        Box::new(ReplaceDistinctWithAggregate::new()),
        Box::new(EliminateDuplicatedExpr::new()),
        Box::new(EliminateFilter::new()),
        Box::new(PushDownFilter::new()),
        Box::new(OptimizeProjections::new()),
    ]
}

/// Applies a rule to all nodes of a plan, as DataFusion's optimizer does. That one looks at the whole plan before and after
/// every rule, which takes as long as the rules.
fn apply(rule: Rule, plan: LogicalPlan, context: &OptimizerContext) -> Result<LogicalPlan> {
    if !finds_work(rule.as_ref(), &plan)? {
        return Ok(plan);
    }
    let changed = match rule.apply_order() {
        None => rule.rewrite(plan, context),
        Some(order) => {
            let mut walk = Walk { order, rule: rule.as_ref(), context };
            match has_subqueries(&plan)? {
                true => plan.rewrite_with_subqueries(&mut walk),
                false => plan.rewrite(&mut walk),
            }
        }
    };
    changed
        .map(|changed| changed.data)
        .map_err(|error| error.context(format!("Optimizer rule '{}' failed", rule.name())))
}

/// Whether a rule that is cheap to ask finds anything to change.
fn finds_work(rule: &dyn OptimizerRule, plan: &LogicalPlan) -> Result<bool> {
    let wanted = |node: &LogicalPlan| match (rule.name(), node) {
        ("replace_distinct_aggregate", node) => matches!(node, LogicalPlan::Distinct(_)),
        ("eliminate_filter", node) => matches!(node, LogicalPlan::Filter(one) if is_literal(&one.predicate)),
        ("eliminate_duplicated_expr", LogicalPlan::Sort(sort)) => repeats(sort.expr.iter().map(|key| &key.expr)),
        ("eliminate_duplicated_expr", LogicalPlan::Aggregate(aggregate)) => repeats(aggregate.group_expr.iter()),
        ("eliminate_duplicated_expr", _) => false,
        _ => true,
    };
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= wanted(node);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

fn has_subqueries(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(single_row::holds_subquery)
}

/// Whether a projection stands on another one, as the removal of what was between them leaves them.
fn projections_meet(plan: &LogicalPlan) -> Result<bool> {
    let is_projection = |node: &LogicalPlan| matches!(node, LogicalPlan::Projection(_));
    plan.exists(|node| Ok(is_projection(node) && node.inputs().into_iter().any(is_projection)))
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(..))
}

fn repeats<'e>(exprs: impl Iterator<Item = &'e Expr>) -> bool {
    let mut seen = HashSet::new();
    exprs.into_iter().any(|expr| !seen.insert(expr))
}

struct Walk<'a> {
    order: ApplyOrder,
    rule: &'a dyn OptimizerRule,
    context: &'a OptimizerContext,
}

impl TreeNodeRewriter for Walk<'_> {
    type Node = LogicalPlan;

    fn f_down(&mut self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        match self.order {
            ApplyOrder::TopDown => self.rule.rewrite(node, self.context),
            ApplyOrder::BottomUp => Ok(Transformed::no(node)),
        }
    }

    fn f_up(&mut self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        match self.order {
            ApplyOrder::BottomUp => self.rule.rewrite(node, self.context),
            ApplyOrder::TopDown => Ok(Transformed::no(node)),
        }
    }
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
