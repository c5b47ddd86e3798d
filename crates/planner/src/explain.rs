//! EXPLAIN: the stream plan as text, from the sinks down, and as JSON.
//!
//! Operators are written as Flink writes them; below each one stands what it keeps, when it drops it, and what happens
//! to late rows, in full sentences. The text depends on the plan only, so that it can be compared.

mod advice;
mod cost;
mod json;

use crate::batch::PreparedBatch;
use crate::operators::{Shape, column_names, pick, rules};
use base::plan::{Distribution, Node, NodeId, NodeKind, StreamPlan};
use std::collections::BTreeMap;
use std::fmt::Write;
use syntax::statement::ExplainDetail;

/// The text of a plan, with the details that EXPLAIN asked for.
///
/// Row kinds, keys and what is kept are part of every text; CHANGELOG_MODE adds nothing to it.
pub fn explain(plan: &StreamPlan, details: &[ExplainDetail]) -> String {
    let mut explainer = Explainer::new(plan, details);
    for (index, node) in plan.nodes.iter().enumerate() {
        if matches!(node.kind, NodeKind::Sink(_)) {
            if !explainer.out.is_empty() {
                explainer.out.push('\n');
            }
            explainer.node(index, "", "");
        }
    }
    let mut out = explainer.out;
    if !plan.config.hints.is_empty() {
        let hints: Vec<String> = plan.config.hints.iter().map(ToString::to_string).collect();
        let _ = write!(out, "\nhints: {}\n", hints.join(", "));
    }
    if details.contains(&ExplainDetail::PlanAdvice) {
        out.push_str("\n== advice ==\n");
        let advice = advice::advice(plan);
        if advice.is_empty() {
            out.push_str("none\n");
        }
        for (index, text) in advice.iter().enumerate() {
            let _ = writeln!(out, "advice[{}]: {text}", index + 1);
        }
    }
    if details.contains(&ExplainDetail::JsonExecutionPlan) {
        let _ = write!(out, "\n== execution plan ==\n{:#}\n", json::plan(plan));
    }
    out
}

/// The text of a batch job: the plan of each query below the name of its sink.
pub fn batch(queries: &[PreparedBatch]) -> String {
    let mut out = String::new();
    for (index, query) in queries.iter().enumerate() {
        let separator = if index > 0 { "\n" } else { "" };
        let _ = writeln!(out, "{separator}Sink(table=[{}], mode=[batch])", query.query.sink);
        for line in query.plan.lines() {
            let _ = writeln!(out, "   {line}");
        }
    }
    out
}

/// The plan as JSON: `{"nodes": [...]}`.
pub fn explain_json(plan: &StreamPlan) -> serde_json::Value {
    json::plan(plan)
}

struct Explainer<'a> {
    plan: &'a StreamPlan,
    readers: BTreeMap<NodeId, usize>,
    /// Nodes with several readers that were written already, with their numbers.
    reused: BTreeMap<NodeId, usize>,
    /// The estimated rows of every node, if asked for.
    rows: Option<Vec<f64>>,
    out: String,
}

impl<'a> Explainer<'a> {
    fn new(plan: &'a StreamPlan, details: &[ExplainDetail]) -> Explainer<'a> {
        let mut readers: BTreeMap<NodeId, usize> = BTreeMap::new();
        for edge in plan.nodes.iter().flat_map(|node| &node.inputs) {
            *readers.entry(edge.node).or_default() += 1;
        }
        let rows = details.contains(&ExplainDetail::EstimatedCost).then(|| cost::rows(plan));
        Explainer { plan, readers, reused: BTreeMap::new(), rows, out: String::new() }
    }

    /// `first` stands before the operator's line, `rest` before all that belongs to it.
    fn node(&mut self, index: NodeId, first: &str, rest: &str) {
        let node = &self.plan.nodes[index];
        if let Some(number) = self.reused.get(&index) {
            let _ = writeln!(self.out, "{first}Reused(reference=[{number}])");
            return;
        }
        let mut line = self.line(node);
        if self.readers.get(&index).is_some_and(|readers| *readers > 1) {
            let number = self.reused.len() + 1;
            self.reused.insert(index, number);
            line.push_str(&format!(" reference=[{number}]"));
        }
        let _ = writeln!(self.out, "{first}{line}");
        let inside = if node.inputs.len() > 1 { format!("{rest}:  ") } else { format!("{rest}   ") };
        let mut notes = self.notes(node);
        if let Some(rows) = &self.rows {
            notes.push(match node.inputs.is_empty() {
                true => format!("cost: rows=[{}]", cost::text(rows[index])),
                false => {
                    let read: f64 = node.inputs.iter().map(|edge| rows[edge.node]).sum();
                    format!("cost: rows=[{}], rows read=[{}]", cost::text(rows[index]), cost::text(read))
                }
            });
        }
        for note in notes {
            let _ = writeln!(self.out, "{inside}. {note}");
        }
        for (position, edge) in node.inputs.iter().enumerate() {
            let last = position + 1 == node.inputs.len();
            let branch = if last { "+- " } else { ":- " };
            let below = if last { "   " } else { ":  " };
            let (first, rest) = (format!("{rest}{branch}"), format!("{rest}{below}"));
            let names = || column_names(self.plan.nodes[edge.node].output.row.fields());
            let exchange = match &edge.distribution {
                Distribution::Forward => None,
                Distribution::Hash(columns) if columns.is_empty() => Some("single".to_string()),
                Distribution::Hash(columns) => Some(format!("hash[{}]", pick(columns, &names()))),
                Distribution::Single => Some("single".to_string()),
            };
            match exchange {
                None => self.node(edge.node, &first, &rest),
                Some(distribution) => {
                    let _ = writeln!(self.out, "{first}Exchange(distribution=[{distribution}])");
                    self.node(edge.node, &format!("{rest}+- "), &format!("{rest}   "));
                }
            }
        }
    }

    fn shape(&self, node: &'a Node) -> Shape<'a> {
        let inputs = node.inputs.iter().map(|edge| &self.plan.nodes[edge.node].output).collect();
        Shape { node, inputs }
    }

    fn notes(&self, node: &'a Node) -> Vec<String> {
        rules(&node.kind).notes(&self.shape(node), &self.plan.config)
    }

    fn line(&self, node: &'a Node) -> String {
        let shape = self.shape(node);
        let rules = rules(&node.kind);
        let mut parts = rules.describe(&shape);
        parts.push(format!("changelogMode={}", node.output.changelog));
        if !matches!(node.kind, NodeKind::Sink(_)) && !node.output.upsert_keys.is_empty() {
            let own = shape.names();
            let keys: Vec<String> =
                node.output.upsert_keys.iter().map(|key| format!("({})", pick(key, &own))).collect();
            parts.push(format!("upsertKeys=[{}]", keys.join(", ")));
        }
        format!("{}({})", rules.name(), parts.join(", "))
    }
}

#[cfg(test)]
#[path = "explain/tests.rs"]
mod tests;
