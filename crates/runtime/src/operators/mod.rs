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
pub mod drop_update_before;
pub mod group_aggregate;
mod output;
mod touched;
mod window;
pub mod window_aggregate;
pub mod window_table;

use crate::operator::Operator;
use base::config::JobConfig;
use base::connector::Instance;
use base::plan::{Node, NodeKind, Output};
use base::{Error, Result};

/// The operator of a plan node. Scans, values, sinks and unions are driven by the runtime itself.
///
/// # Errors
/// What this version cannot run, for example session windows.
pub fn create(node: &Node, inputs: &[&Output], instance: Instance, _config: &JobConfig) -> Result<Box<dyn Operator>> {
    let [input] = inputs else {
        return Err(Error::internal(format!("operator {} has {} inputs", node.operator_id, inputs.len())));
    };
    Ok(match &node.kind {
        NodeKind::Calc(calc) => Box::new(calc::CalcOperator::new(node, calc, input, instance)),
        NodeKind::DropUpdateBefore => Box::new(drop_update_before::DropUpdateBefore::default()),
        NodeKind::GroupAggregate(aggregate) => {
            Box::new(group_aggregate::GroupAggregateOperator::new(aggregate, input, &node.output, instance)?)
        }
        NodeKind::WindowTable(table) => Box::new(window_table::WindowTableOperator::new(table, input, &node.output)?),
        NodeKind::WindowAggregate(aggregate) => {
            Box::new(window_aggregate::WindowAggregateOperator::new(aggregate, input, &node.output, instance)?)
        }
        NodeKind::ChangelogNormalize(normalize) => {
            Box::new(changelog_normalize::ChangelogNormalizeOperator::new(normalize, input, &node.output, instance)?)
        }
        NodeKind::Scan(_) | NodeKind::Values(_) | NodeKind::Sink(_) | NodeKind::Union => {
            return Err(Error::internal(format!("node {} is not an operator", node.operator_id)));
        }
    })
}

/// Slots looked at for expired state per call: the whole table comes round, without a pause that grows with it.
const EXPIRE_SCAN_MAX: usize = 262_144;

#[cfg(test)]
mod tests;
