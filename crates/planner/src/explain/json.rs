//! JSON_EXECUTION_PLAN: the operators of a job as JSON, in the form of Flink's execution plan.

use super::{Explainer, column_names, pick};
use base::plan::{Distribution, Edge, Node, NodeKind, StreamPlan};
use serde_json::{Value, json};

/// The plan: `{"nodes": [...]}`; inputs stand before their readers, ids count from 1.
pub fn plan(plan: &StreamPlan) -> Value {
    let explainer = Explainer::new(plan, &[]);
    let nodes: Vec<Value> =
        plan.nodes.iter().enumerate().map(|(index, node)| self::node(&explainer, index, node)).collect();
    json!({ "nodes": nodes })
}

fn node(explainer: &Explainer<'_>, index: usize, node: &Node) -> Value {
    let line = explainer.line(node);
    let name = line.split_once('(').map_or(line.as_str(), |(name, _)| name);
    let (kind, pact) = match &node.kind {
        NodeKind::Scan(scan) => (format!("Source: {}", scan.table), "Data Source"),
        NodeKind::Values(_) => ("Source: Values".to_string(), "Data Source"),
        NodeKind::Sink(sink) => (format!("Sink: {}", sink.table), "Data Sink"),
        _ => (name.to_string(), "Operator"),
    };
    let own = column_names(node.output.row.fields());
    let columns: Vec<Value> = node
        .output
        .row
        .fields()
        .iter()
        .map(|field| json!({ "name": field.name, "type": field.sql_type.to_string() }))
        .collect();
    let keys: Vec<Vec<&str>> = node
        .output
        .upsert_keys
        .iter()
        .map(|key| key.iter().filter_map(|&column| own.get(column).map(String::as_str)).collect())
        .collect();
    let mut value = json!({
        "id": index + 1,
        "operator_id": node.operator_id,
        "type": kind,
        "pact": pact,
        "contents": line,
        "parallelism": parallelism(explainer.plan, node),
        "changelog_mode": node.output.changelog.to_string(),
        "upsert_keys": keys,
        "columns": columns,
        "notes": explainer.notes(node),
    });
    if !node.inputs.is_empty() {
        let sides = node.inputs.len();
        let predecessors: Vec<Value> =
            node.inputs.iter().enumerate().map(|(side, edge)| predecessor(explainer.plan, edge, side, sides)).collect();
        value["predecessors"] = Value::Array(predecessors);
    }
    value
}

fn predecessor(plan: &StreamPlan, edge: &Edge, side: usize, sides: usize) -> Value {
    let names = column_names(plan.nodes[edge.node].output.row.fields());
    let (strategy, columns) = match &edge.distribution {
        Distribution::Forward => ("FORWARD", None),
        Distribution::Hash(columns) if columns.is_empty() => ("GLOBAL", None),
        Distribution::Hash(columns) => ("HASH", Some(pick(columns, &names))),
        Distribution::Single => ("GLOBAL", None),
    };
    let mut value = json!({ "id": edge.node + 1, "ship_strategy": strategy });
    if let Some(columns) = columns {
        value["columns"] = columns.into();
    }
    if sides > 1 {
        value["side"] = if side == 0 { "first".into() } else { "second".into() };
    }
    value
}

/// The instances of a node; null is one per core.
fn parallelism(plan: &StreamPlan, node: &Node) -> Value {
    let single = node.inputs.iter().any(|edge| match &edge.distribution {
        Distribution::Single => true,
        Distribution::Hash(columns) => columns.is_empty(),
        Distribution::Forward => false,
    });
    let bound = match &node.kind {
        NodeKind::Scan(scan) => scan.parallelism_max,
        NodeKind::Sink(sink) => sink.parallelism_max,
        NodeKind::Values(_) => Some(1),
        _ => None,
    };
    let bound = if single { Some(1) } else { bound };
    match (plan.config.parallelism, bound) {
        (Some(wanted), Some(bound)) => wanted.min(bound).into(),
        (None, Some(1)) => 1.into(),
        (Some(wanted), None) => wanted.into(),
        (None, _) => Value::Null,
    }
}
