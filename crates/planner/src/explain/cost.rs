//! ESTIMATED_COST: how many rows every operator gives, by fixed rules.
//!
//! Nothing is measured: a table without statistics counts as a hundred million rows, a filter keeps half of its input, an
//! aggregate has a tenth as many groups as rows. The numbers tell plans apart; they predict nothing.

use base::plan::{NodeKind, StreamPlan, WindowKind};

/// The rows of a table that nobody has counted.
const TABLE_ROWS: f64 = 1e8;
/// The part of the rows that a filter keeps.
const FILTER_KEEPS: f64 = 0.5;
/// The groups of an aggregate, as a part of its rows.
const GROUPS: f64 = 0.1;

/// The rows that every node gives.
pub fn rows(plan: &StreamPlan) -> Vec<f64> {
    let mut rows: Vec<f64> = Vec::with_capacity(plan.nodes.len());
    for node in &plan.nodes {
        let input: f64 = node.inputs.iter().map(|edge| rows[edge.node]).sum();
        rows.push(match &node.kind {
            NodeKind::Scan(_) => TABLE_ROWS,
            NodeKind::Values(values) => values.rows.num_rows() as f64,
            NodeKind::Calc(calc) if calc.condition.is_some() => input * FILTER_KEEPS,
            NodeKind::GroupAggregate(group) if group.keys.is_empty() => 1.0,
            NodeKind::GroupAggregate(_) | NodeKind::WindowAggregate(_) => (input * GROUPS).max(1.0),
            NodeKind::WindowTable(table) => input * windows_of_a_row(&table.window.kind),
            NodeKind::Calc(_)
            | NodeKind::Union
            | NodeKind::ChangelogNormalize(_)
            | NodeKind::DropUpdateBefore
            | NodeKind::Sink(_) => input,
        });
    }
    rows
}

fn windows_of_a_row(kind: &WindowKind) -> f64 {
    match kind {
        WindowKind::Hop { slide_ms, size_ms } => (*size_ms as f64 / *slide_ms as f64).max(1.0),
        WindowKind::Cumulate { step_ms, size_ms } => (*size_ms as f64 / *step_ms as f64 / 2.0).max(1.0),
        WindowKind::Tumble { .. } | WindowKind::Session { .. } => 1.0,
    }
}

/// A number of rows in the form of Flink: `1.0E8`.
pub fn text(rows: f64) -> String {
    let shown = format!("{rows:E}");
    match shown.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => shown,
    }
}
