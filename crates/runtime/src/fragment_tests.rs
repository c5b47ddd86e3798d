//! Cutting plans into fragments.

use super::*;
use arrow::array::RecordBatch;
use base::config::JobConfig;
use base::plan::{Edge, Node, Output, Values};
use base::types::RowType;
use base::{ChangelogMode, Field};

fn node(operator_id: &str, kind: NodeKind, inputs: &[(NodeId, Distribution)]) -> Node {
    let row = RowType::new(vec![Field::new("a", base::SqlType::string())]);
    Node {
        operator_id: operator_id.into(),
        digest: operator_id.into(),
        kind,
        inputs: inputs.iter().map(|(node, d)| Edge { node: *node, distribution: d.clone() }).collect(),
        output: Output { row, changelog: ChangelogMode::APPEND, upsert_keys: Vec::new() },
    }
}

fn values() -> NodeKind {
    let row = RowType::new(vec![Field::new("a", base::SqlType::string())]);
    NodeKind::Values(Values { rows: RecordBatch::new_empty(row.arrow().clone()) })
}

fn topology(nodes: Vec<Node>, parallelism: usize) -> Result<Topology> {
    lower(&StreamPlan { nodes, config: JobConfig::default() }, parallelism)
}

#[test]
fn forward_edges_chain_and_others_cut() {
    let nodes = vec![
        node("v", values(), &[]),
        node("u", NodeKind::Union, &[(0, Distribution::Forward)]),
        node("h", NodeKind::DropUpdateBefore, &[(1, Distribution::Hash(vec![0]))]),
        node("g", NodeKind::DropUpdateBefore, &[(2, Distribution::Hash(vec![]))]),
        node("u", NodeKind::Union, &[(1, Distribution::Forward)]),
        node("m", NodeKind::Union, &[(4, Distribution::Forward), (2, Distribution::Forward)]),
    ];
    let topology = topology(nodes, 4).expect("a valid plan");
    let fragments: Vec<(Vec<usize>, usize)> =
        topology.fragments.into_iter().map(|fragment| (fragment.nodes, fragment.parallelism)).collect();
    assert_eq!(fragments, [(vec![0, 1, 4], 1), (vec![2], 4), (vec![3], 1), (vec![5], 4)]);
    let keys: Vec<&str> = topology.nodes.iter().map(|node| &*node.key).collect();
    assert_eq!(keys, ["v", "u", "h", "g", "u#2", "m"]);
    assert_eq!(topology.nodes[2].readers, [(3, 0), (5, 1)]);
}

#[test]
fn a_node_must_come_after_its_inputs() {
    assert!(topology(vec![node("u", NodeKind::Union, &[(0, Distribution::Forward)])], 1).is_err());
    assert!(topology(vec![node("u", NodeKind::Union, &[])], 1).is_err());
}
