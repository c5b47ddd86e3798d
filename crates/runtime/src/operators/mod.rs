//! The operators: one folder each, made from plan nodes by [`create`].
//!
//! Every operator is a plain synchronous struct (see [`crate::operator::Operator`]). Its own documentation says which
//! kinds come in and go out, what state it keeps, when it drops state, and what happens to late rows.
//!
//! Invariants: an operator knows no clock, no channel and no other operator; state goes through the `state` crate, so
//! that it can be restored at another parallelism; the order of a hash map never reaches output.

mod aggregates;
pub mod calc;
pub mod changelog_normalize;
pub mod codes;
pub mod deduplicate;
pub mod drop_update_before;
pub mod expand;
pub mod group_aggregate;
pub mod interval_join;
pub mod join;
pub(crate) mod kept_rows;
mod late;
pub mod local_aggregate;
pub mod match_recognize;
pub(crate) mod output;
pub mod over_aggregate;
pub mod rank;
pub mod replicate;
pub mod session_aggregate;
pub mod session_table;
mod sessions;
pub mod temporal_join;
pub mod temporal_sort;
mod touched;
pub mod unnest;
pub mod upsert_materialize;
mod window;
pub mod window_aggregate;
pub mod window_join;
pub mod window_rank;
pub mod window_table;
mod window_time;

use crate::operator::Operator;
use base::config::JobConfig;
use base::connector::Instance;
use base::plan::{Node, NodeKind, Output};
use base::{Error, Result};

/// The operator of a plan node. Scans, values, sinks, unions and late rows are driven by the runtime itself.
///
/// # Errors
/// What an operator cannot be made of, for example keys of a type that cannot be a key.
pub fn create(node: &Node, inputs: &[&Output], instance: Instance, config: &JobConfig) -> Result<Box<dyn Operator>> {
    if let &[left, right] = inputs {
        let output = &node.output;
        match &node.kind {
            NodeKind::Join(join) => {
                return Ok(Box::new(join::JoinOperator::new(join, left, right, output, instance)?));
            }
            NodeKind::IntervalJoin(join) => {
                return Ok(Box::new(interval_join::IntervalJoinOperator::new(join, [left, right], output, instance)?));
            }
            NodeKind::TemporalJoin(join) => {
                return Ok(Box::new(temporal_join::TemporalJoinOperator::new(join, [left, right], output, instance)?));
            }
            NodeKind::WindowJoin(join) => {
                return Ok(Box::new(window_join::WindowJoinOperator::new(join, [left, right], output, instance)?));
            }
            _ => {}
        }
    }
    let [input] = inputs else {
        return Err(Error::internal(format!("operator {} has {} inputs", node.operator_id, inputs.len())));
    };
    Ok(match &node.kind {
        NodeKind::Calc(calc) => Box::new(calc::CalcOperator::new(node, calc, input, instance)),
        NodeKind::DropUpdateBefore => Box::new(drop_update_before::DropUpdateBefore::default()),
        NodeKind::GroupAggregate(aggregate) => {
            Box::new(group_aggregate::GroupAggregateOperator::new(aggregate, input, &node.output, instance)?)
        }
        NodeKind::WindowTable(table) => {
            window_table::create(table, input, &node.output, instance, config.drops_null_rowtime)?
        }
        NodeKind::WindowRank(rank) => {
            Box::new(window_rank::WindowRankOperator::new(rank, input, &node.output, instance)?)
        }
        NodeKind::WindowAggregate(aggregate) => {
            window_aggregate::create(aggregate, input, &node.output, instance, config.drops_null_rowtime)?
        }
        NodeKind::ChangelogNormalize(normalize) => {
            Box::new(changelog_normalize::ChangelogNormalizeOperator::new(normalize, input, &node.output, instance)?)
        }
        NodeKind::Rank(rank) => rank::create(rank, input, &node.output, instance)?,
        NodeKind::Deduplicate(deduplicate) => deduplicate::create(deduplicate, input, &node.output, instance)?,
        NodeKind::TemporalSort(sort) => {
            Box::new(temporal_sort::TemporalSortOperator::new(sort, input, &node.output, instance)?)
        }
        NodeKind::OverAggregate(over) => over_aggregate::create(over, input, &node.output, instance, config)?,
        NodeKind::Expand(expand) => Box::new(expand::ExpandOperator::new(expand, input, &node.output)),
        NodeKind::Unnest(unnest) => Box::new(unnest::UnnestOperator::new(unnest, &node.output)),
        NodeKind::Replicate(replicate) => Box::new(replicate::ReplicateOperator::new(replicate, &node.output)),
        NodeKind::UpsertMaterialize(materialize) => {
            Box::new(upsert_materialize::UpsertMaterializeOperator::new(materialize, input, &node.output, instance)?)
        }
        NodeKind::LocalAggregate(local) => {
            Box::new(local_aggregate::LocalAggregateOperator::new(local, input, &node.output)?)
        }
        NodeKind::MatchRecognize(pattern) => {
            Box::new(match_recognize::MatchRecognizeOperator::new(pattern, input, &node.output, instance)?)
        }
        NodeKind::Scan(_)
        | NodeKind::Values(_)
        | NodeKind::Sink(_)
        | NodeKind::Union
        | NodeKind::Join(_)
        | NodeKind::IntervalJoin(_)
        | NodeKind::TemporalJoin(_)
        | NodeKind::WindowJoin(_)
        | NodeKind::LookupJoin(_)
        | NodeKind::LateRows(_) => {
            return Err(Error::internal(format!("node {} is not an operator", node.operator_id)));
        }
    })
}

/// Slots looked at for expired state per call: the whole table comes round, without a pause that grows with it. The tables of
/// tests come round, too.
pub(crate) const EXPIRE_SCAN_MAX: usize = if cfg!(test) { 256 } else { 262_144 };

#[cfg(test)]
mod tests;
