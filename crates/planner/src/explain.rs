//! EXPLAIN: the stream plan as text, from the sinks down, and as JSON.
//!
//! Operators are written as Flink writes them; below each one stands what it keeps, when it drops it, and what happens
//! to late rows, in full sentences. The text depends on the plan only, so that it can be compared.

mod advice;
mod cost;
mod json;

use crate::lower::builder::window_sql;
use base::Field;
use base::connector::Guarantee;
use base::plan::{
    AggregateCall, Calc, Distribution, Node, NodeId, NodeKind, Scan, Sink, StreamPlan, WindowKind, WindowProperty,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
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

    /// The columns of a node's first input.
    fn input_names(&self, node: &Node) -> Vec<String> {
        match node.inputs.first() {
            Some(edge) => column_names(self.plan.nodes[edge.node].output.row.fields()),
            None => Vec::new(),
        }
    }

    fn line(&self, node: &Node) -> String {
        let below = self.input_names(node);
        let own = column_names(node.output.row.fields());
        let mut parts: Vec<String> = Vec::new();
        let name = match &node.kind {
            NodeKind::Scan(scan) => {
                parts.push(format!("table=[{}]", scan.table));
                parts.push(format!("fields=[{}]", own.join(", ")));
                if let Some(watermark) = &scan.watermark {
                    parts.push(format!("watermark=[{}]", watermark.sql));
                }
                parts.push(format!("bounded=[{}]", scan.bounded));
                "Scan"
            }
            NodeKind::Values(values) => {
                parts.push(format!("fields=[{}]", own.join(", ")));
                parts.push(format!("rows=[{}]", values.rows.num_rows()));
                "Values"
            }
            NodeKind::Calc(calc) => {
                parts.push(format!("select=[{}]", select(calc, &own)));
                if let Some(condition) = &calc.condition {
                    parts.push(format!("where=[{}]", condition.sql()));
                }
                "Calc"
            }
            NodeKind::Union => {
                parts.push(format!("fields=[{}]", own.join(", ")));
                "Union"
            }
            NodeKind::GroupAggregate(group) => {
                if !group.keys.is_empty() {
                    parts.push(format!("groupBy=[{}]", pick(&group.keys, &below)));
                }
                parts.push(format!("select=[{}]", calls(&own[..group.keys.len()], &group.calls, &own)));
                "GroupAggregate"
            }
            NodeKind::WindowTable(table) => {
                parts
                    .push(format!("window=[{}]", window_sql(&table.window, name_at(&below, table.window.time_column))));
                "WindowTable"
            }
            NodeKind::WindowAggregate(group) => {
                if !group.keys.is_empty() {
                    parts.push(format!("groupBy=[{}]", pick(&group.keys, &below)));
                }
                parts
                    .push(format!("window=[{}]", window_sql(&group.window, name_at(&below, group.window.time_column))));
                let mut columns = vec![calls(&own[..group.keys.len()], &group.calls, &own)];
                columns.extend(group.properties.iter().map(|property| match property {
                    WindowProperty::Start => "window_start".to_string(),
                    WindowProperty::End => "window_end".to_string(),
                    WindowProperty::Time => "window_time".to_string(),
                }));
                columns.retain(|column| !column.is_empty());
                parts.push(format!("select=[{}]", columns.join(", ")));
                "WindowAggregate"
            }
            NodeKind::ChangelogNormalize(normalize) => {
                parts.push(format!("key=[{}]", pick(&normalize.keys, &below)));
                "ChangelogNormalize"
            }
            NodeKind::DropUpdateBefore => "DropUpdateBefore",
            NodeKind::Sink(sink) => {
                parts.push(format!("table=[{}]", sink.table));
                parts.push(format!("fields=[{}]", own.join(", ")));
                if !sink.primary_key.is_empty() {
                    parts.push(format!("primaryKey=[{}]", pick(&sink.primary_key, &own)));
                }
                "Sink"
            }
        };
        parts.push(format!("changelogMode={}", node.output.changelog));
        if !matches!(node.kind, NodeKind::Sink(_)) && !node.output.upsert_keys.is_empty() {
            let keys: Vec<String> =
                node.output.upsert_keys.iter().map(|key| format!("({})", pick(key, &own))).collect();
            parts.push(format!("upsertKeys=[{}]", keys.join(", ")));
        }
        format!("{name}({})", parts.join(", "))
    }

    fn notes(&self, node: &Node) -> Vec<String> {
        let below = self.input_names(node);
        match &node.kind {
            NodeKind::Scan(scan) => self.scan_notes(scan, node),
            NodeKind::GroupAggregate(group) => {
                let what = match group.keys.is_empty() {
                    true => "one row of results".to_string(),
                    false => format!("one row of results per ({})", pick(&group.keys, &below)),
                };
                vec![format!("state: {what}; {}", ttl(group.state_ttl))]
            }
            NodeKind::ChangelogNormalize(normalize) => {
                let key = pick(&normalize.keys, &below);
                vec![format!("state: the last row per ({key}); {}", ttl(normalize.state_ttl))]
            }
            NodeKind::WindowTable(_) => vec!["late rows pass; no state".into()],
            NodeKind::WindowAggregate(group) => {
                let per = match group.keys.is_empty() {
                    true => "per window".to_string(),
                    false => format!("per window and ({})", pick(&group.keys, &below)),
                };
                let end = match group.window.kind {
                    WindowKind::Session { .. } => "the end of the session",
                    _ => "the end of the window",
                };
                vec![
                    format!("state: one row of results {per}; dropped when the watermark reaches {end}"),
                    "allowed lateness 0; late rows are dropped and counted (settings: table.exec.emit.allow-lateness, \
                     table.exec.emit.late-fire.enabled)"
                        .into(),
                ]
            }
            NodeKind::Sink(sink) => sink_notes(sink, node),
            NodeKind::Values(_) | NodeKind::Calc(_) | NodeKind::Union | NodeKind::DropUpdateBefore => Vec::new(),
        }
    }

    fn scan_notes(&self, scan: &Scan, node: &Node) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(calc) = &scan.projection {
            let read = column_names(scan.read.fields());
            notes.push(format!("reads: {}", read.join(", ")));
            let own = column_names(node.output.row.fields());
            let computed: Vec<String> = calc
                .projection
                .iter()
                .zip(&own)
                .filter(|(expression, _)| expression.as_column().is_none())
                .map(|(expression, name)| format!("{} AS {name}", expression.sql()))
                .collect();
            if !computed.is_empty() {
                notes.push(format!("computes: {}", computed.join(", ")));
            }
        }
        if scan.watermark.is_some() {
            let timeout = scan.idle_timeout.or(self.plan.config.idle_timeout).filter(|timeout| !timeout.is_zero());
            notes.push(match timeout {
                Some(timeout) => {
                    format!("a split that is silent for {} does not hold the watermark back", time(timeout))
                }
                None => "a silent split holds the watermark back (setting: table.exec.source.idle-timeout)".into(),
            });
        }
        if let Some(alignment) = &scan.alignment {
            let (drift, group) = (time(alignment.max_drift), &alignment.group);
            notes.push(format!("waits while it is more than {drift} ahead of the slowest source of group {group}"));
        }
        notes
    }
}

fn sink_notes(sink: &Sink, node: &Node) -> Vec<String> {
    let guarantee = match sink.guarantee {
        Guarantee::None => "none",
        Guarantee::AtLeastOnce => "at-least-once",
        Guarantee::ExactlyOnce => "exactly-once",
    };
    let mut notes = vec![format!("delivery: {guarantee}; {}", sink.guarantee_reason)];
    if !sink.primary_key.is_empty() {
        let own = column_names(node.output.row.fields());
        let key = pick(&sink.primary_key, &own);
        let same = |known: &Vec<usize>| {
            known.len() == sink.primary_key.len() && known.iter().all(|column| sink.primary_key.contains(column))
        };
        // What holds a key is a key, as long as rows stay where they are.
        let inside =
            |known: &Vec<usize>| !known.is_empty() && known.iter().all(|column| sink.primary_key.contains(column));
        let appends = node.output.changelog.is_append_only();
        notes.push(match &node.output.upsert_keys {
            keys if keys.iter().any(same) || (appends && keys.iter().any(inside)) => {
                format!("key: ({key}) is a key of the query; nothing is kept to tell rows apart")
            }
            _ if appends => {
                format!("key: rows are only added; the last row of a ({key}) wins")
            }
            keys => match keys.first() {
                Some(known) => format!(
                    "key: the query has one row per ({}), not per ({key}); the row with the earlier key is deleted",
                    pick(known, &own)
                ),
                None => format!(
                    "key: the key of the query is unknown (a PRIMARY KEY in the source table would tell); old rows of \
                     updates must reach the sink, the last change of a ({key}) wins, and of two rows with the same \
                     ({key}) deleting one deletes both"
                ),
            },
        });
    }
    notes
}

fn column_names(fields: &[Field]) -> Vec<String> {
    fields.iter().map(|field| field.name.clone()).collect()
}

fn name_at(names: &[String], index: usize) -> &str {
    names.get(index).map_or("?", String::as_str)
}

fn pick(columns: &[usize], names: &[String]) -> String {
    columns.iter().map(|&column| name_at(names, column)).collect::<Vec<_>>().join(", ")
}

fn select(calc: &Calc, names: &[String]) -> String {
    let column = |(expression, name): (&std::sync::Arc<dyn base::Expression>, &String)| {
        let sql = expression.sql();
        if sql == *name { sql } else { format!("{sql} AS {name}") }
    };
    calc.projection.iter().zip(names).map(column).collect::<Vec<_>>().join(", ")
}

/// Keys and calls of an aggregate; `names` are the names of all its columns.
fn calls(keys: &[String], calls: &[AggregateCall], names: &[String]) -> String {
    let calls = calls.iter().zip(&names[keys.len()..]).map(|(call, name)| match call.sql == *name {
        true => name.clone(),
        false => format!("{} AS {name}", call.sql),
    });
    keys.iter().cloned().chain(calls).collect::<Vec<_>>().join(", ")
}

fn time(duration: Duration) -> String {
    crate::lower::builder::duration(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

fn ttl(state_ttl: Option<Duration>) -> String {
    match state_ttl {
        None => "kept for ever (setting: table.exec.state.ttl)".into(),
        Some(ttl) => format!("dropped when not written for {} (table.exec.state.ttl)", time(ttl)),
    }
}

#[cfg(test)]
#[path = "explain/tests.rs"]
mod tests;
