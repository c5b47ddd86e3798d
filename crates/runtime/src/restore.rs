//! What of a checkpoint fits the plan that goes on from it: operators are compared by id and digest.

use crate::assembly::node_name;
use crate::checkpoint::JobCheckpoint;
use crate::codes::STATE_DIFFERS;
use crate::fragment::keys;
use base::plan::{NodeKind, StreamPlan};
use base::{Error, Result};

/// The saved states of a job against its plan. Operators without state are in no list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Taken over.
    pub kept: Vec<String>,
    /// Begin without state.
    pub new: Vec<String>,
    /// Are in the plan, but compute something else: their saved state is of no use.
    pub changed: Vec<String>,
    /// Are not in the plan any more.
    pub dropped: Vec<String>,
}

impl RestoreReport {
    /// Compares a plan with a checkpoint.
    pub fn new(plan: &StreamPlan, checkpoint: &JobCheckpoint) -> RestoreReport {
        let mut report = RestoreReport::default();
        let keys = keys(plan);
        for (node, key) in plan.nodes.iter().zip(&keys) {
            let text = label(&node_name(node), key);
            let has_state = checkpoint.has_state(key);
            if has_state && fits(plan, checkpoint, key) {
                report.kept.push(text);
            } else if has_state {
                report.changed.push(text);
            } else if keeps_state(&node.kind) && !fits(plan, checkpoint, key) {
                report.new.push(text);
            }
        }
        let gone = |key: &&String| checkpoint.has_state(key) && !keys.iter().any(|known| **known == ***key);
        let dropped = checkpoint.digests.keys().filter(gone);
        report.dropped = dropped.map(|key| label(checkpoint.names.get(key).map_or("", String::as_str), key)).collect();
        report
    }

    /// Whether saved state is lost.
    pub fn is_lossy(&self) -> bool {
        !self.changed.is_empty() || !self.dropped.is_empty()
    }

    /// What is lost, as the error or warning that names it.
    pub fn loss(&self) -> Error {
        let mut lines = Vec::new();
        for (word, list) in
            [("changed", &self.changed), ("dropped", &self.dropped), ("new", &self.new), ("kept", &self.kept)]
        {
            lines.extend(list.iter().map(|one| format!("{word}: {one}")));
        }
        let count = self.changed.len() + self.dropped.len();
        Error::new(&STATE_DIFFERS, &[("count", &count), ("list", &lines.join("\n"))])
    }
}

fn label(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_string() } else { format!("{name} ({key})") }
}

/// Whether a node takes over the state that is found by its key. A sink's state belongs to its table, whatever is
/// written there.
fn fits(plan: &StreamPlan, checkpoint: &JobCheckpoint, key: &str) -> bool {
    let keys = keys(plan);
    let Some(node) = keys.iter().position(|known| &**known == key).map(|id| &plan.nodes[id]) else { return false };
    let saved = checkpoint.digests.get(key);
    saved.is_some_and(|digest| matches!(node.kind, NodeKind::Sink(_)) || *digest == node.digest)
}

fn keeps_state(kind: &NodeKind) -> bool {
    !matches!(
        kind,
        NodeKind::Values(_)
            | NodeKind::Calc(_)
            | NodeKind::Union
            | NodeKind::WindowTable(_)
            | NodeKind::DropUpdateBefore
            | NodeKind::Expand(_)
            | NodeKind::Unnest(_)
            | NodeKind::Replicate(_)
            | NodeKind::LocalAggregate(_)
            | NodeKind::Sink(_)
    )
}

/// The part of a checkpoint that a plan takes over.
///
/// # Errors
/// State that would be lost, unless that is allowed.
pub(crate) fn restorable(plan: &StreamPlan, mut checkpoint: JobCheckpoint, may_lose: bool) -> Result<JobCheckpoint> {
    let report = RestoreReport::new(plan, &checkpoint);
    if report.is_lossy() && !may_lose {
        return Err(report.loss());
    }
    checkpoint.retain(|checkpoint, key| fits(plan, checkpoint, key));
    Ok(checkpoint)
}
