//! A plan as fragments: which nodes run in one task, and how many instances each has.

use base::key::KEY_GROUPS;
use base::plan::{Distribution, NodeId, NodeKind, StreamPlan};
use base::{Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Nodes that run in one task each time: a tree of nodes connected by [`Distribution::Forward`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// The head first, then in plan order.
    pub nodes: Vec<NodeId>,
    /// Instances.
    pub parallelism: usize,
}

/// Where a node runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The operator id, made unique: of nodes that mean the same, the second one is `id#2`.
    pub key: Arc<str>,
    /// Position in [`Topology::fragments`].
    pub fragment: usize,
    /// Position in [`Fragment::nodes`].
    pub position: usize,
    /// Instances.
    pub parallelism: usize,
    /// The nodes that read this one, in plan order, with the number of the input.
    pub readers: Vec<(NodeId, usize)>,
}

/// The fragments of a job.
#[derive(Debug)]
pub(crate) struct Topology {
    /// One per node of the plan.
    pub nodes: Vec<Placement>,
    /// In plan order.
    pub fragments: Vec<Fragment>,
}

/// Cuts a plan into fragments.
///
/// # Errors
/// A plan whose nodes are not connected as promised is a bug of the planner.
pub(crate) fn lower(plan: &StreamPlan, parallelism: usize) -> Result<Topology> {
    let mut topology = Topology { nodes: Vec::new(), fragments: Vec::new() };
    for ((id, node), key) in plan.nodes.iter().enumerate().zip(keys(plan)) {
        if node.inputs.iter().any(|edge| edge.node >= id) {
            return Err(Error::internal(format!("node {id} reads a node that does not come before it")));
        }
        let is_source = matches!(node.kind, NodeKind::Scan(_) | NodeKind::Values(_));
        if is_source != node.inputs.is_empty() {
            return Err(Error::internal(format!("node {id} has {} inputs", node.inputs.len())));
        }
        let instances = instances(plan, id, &topology.nodes, parallelism.clamp(1, KEY_GROUPS));
        let chained = match node.inputs.as_slice() {
            [edge] if edge.distribution == Distribution::Forward => {
                (topology.nodes[edge.node].parallelism == instances).then_some(topology.nodes[edge.node].fragment)
            }
            _ => None,
        };
        let fragment = chained.unwrap_or_else(|| {
            topology.fragments.push(Fragment { nodes: Vec::new(), parallelism: instances });
            topology.fragments.len() - 1
        });
        let position = topology.fragments[fragment].nodes.len();
        topology.fragments[fragment].nodes.push(id);
        for (input, edge) in node.inputs.iter().enumerate() {
            topology.nodes[edge.node].readers.push((id, input));
        }
        topology.nodes.push(Placement { key, fragment, position, parallelism: instances, readers: Vec::new() });
    }
    Ok(topology)
}

/// What the state of each node is found by: its id, with a number behind it where a plan has two nodes that mean the same.
pub(crate) fn keys(plan: &StreamPlan) -> Vec<Arc<str>> {
    let mut seen = BTreeMap::new();
    let number = |node: &base::plan::Node| {
        let count = seen.entry(node.operator_id.clone()).or_insert(0usize);
        *count += 1;
        if *count == 1 { node.operator_id.as_str().into() } else { format!("{}#{count}", node.operator_id).into() }
    };
    plan.nodes.iter().map(number).collect()
}

/// How many instances a node has.
fn instances(plan: &StreamPlan, id: NodeId, before: &[Placement], parallelism: usize) -> usize {
    let node = &plan.nodes[id];
    let mut instances = 0;
    for edge in &node.inputs {
        instances = instances.max(match &edge.distribution {
            Distribution::Forward => before[edge.node].parallelism,
            Distribution::Hash(keys) if !keys.is_empty() => parallelism,
            Distribution::Hash(_) | Distribution::Single => 1,
        });
    }
    let is_single = node.inputs.iter().any(|edge| match &edge.distribution {
        Distribution::Single => true,
        Distribution::Hash(keys) => keys.is_empty(),
        Distribution::Forward => false,
    });
    match &node.kind {
        NodeKind::Values(_) => 1,
        NodeKind::Scan(scan) => {
            let splits_max = scan.provider.splits_max().unwrap_or(usize::MAX);
            parallelism.min(scan.parallelism_max.unwrap_or(usize::MAX)).min(splits_max).max(1)
        }
        _ if is_single => 1,
        NodeKind::Sink(sink) => instances.min(sink.parallelism_max.unwrap_or(usize::MAX)).max(1),
        _ => instances.max(1),
    }
}

#[cfg(test)]
#[path = "fragment_tests.rs"]
mod tests;
