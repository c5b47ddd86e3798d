//! ESTIMATED_COST: how many rows every operator gives, by fixed rules.
//!
//! Nothing is measured: a table without statistics counts as a hundred million rows, a filter keeps half of its input, an
//! aggregate has a tenth as many groups as rows. The numbers tell plans apart; they predict nothing.

use crate::operators::rules;
use base::plan::StreamPlan;

/// The rows that every node gives.
pub fn rows(plan: &StreamPlan) -> Vec<f64> {
    let mut rows: Vec<f64> = Vec::with_capacity(plan.nodes.len());
    for node in &plan.nodes {
        let inputs: Vec<f64> = node.inputs.iter().map(|edge| rows[edge.node]).collect();
        rows.push(rules(&node.kind).rows(&inputs));
    }
    rows
}

/// A number of rows in the form of Flink: `1.0E8`.
pub fn text(rows: f64) -> String {
    let shown = format!("{rows:E}");
    match shown.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => shown,
    }
}
