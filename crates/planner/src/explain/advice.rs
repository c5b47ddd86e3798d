//! PLAN_ADVICE: what a plan could do better, and what would have to be written for it.

use crate::operators::{column_names, pick};
use base::RowKind;
use base::plan::{NodeKind, StreamPlan};
use std::collections::BTreeSet;

/// The advice for a plan, one sentence each.
pub fn advice(plan: &StreamPlan) -> Vec<String> {
    let mut advice = Vec::new();
    let mut add = |text: String| {
        if !advice.contains(&text) {
            advice.push(text);
        }
    };
    let mut without_timeout = BTreeSet::new();
    for node in &plan.nodes {
        let below = node.inputs.first().map(|edge| column_names(plan.nodes[edge.node].output.row.fields()));
        let below = below.unwrap_or_default();
        match &node.kind {
            NodeKind::GroupAggregate(group) if group.state_ttl.is_none() && !group.keys.is_empty() => add(format!(
                "GroupAggregate keeps every ({}) for ever: if old groups do not change any more, \
                 SET 'table.exec.state.ttl' = '1 d', or group by a window, which ends",
                pick(&group.keys, &below)
            )),
            NodeKind::GroupAggregate(group) if group.keys.is_empty() => {
                add("GroupAggregate without keys runs on one instance: all rows go through it".to_string())
            }
            NodeKind::ChangelogNormalize(normalize) if normalize.state_ttl.is_none() => add(format!(
                "ChangelogNormalize keeps the last row of every ({}) to make up old rows: a sink whose PRIMARY KEY is the \
                 key of the source needs none",
                pick(&normalize.keys, &below)
            )),
            NodeKind::Scan(scan) if scan.watermark.is_some() && !scan.bounded => {
                let timeout = scan.idle_timeout.or(plan.config.idle_timeout).filter(|timeout| !timeout.is_zero());
                if timeout.is_none() {
                    without_timeout.insert(scan.table.clone());
                }
            }
            NodeKind::Sink(sink) if sink.primary_key.is_empty() => {
                let mode = node.output.changelog;
                if mode.contains(RowKind::UpdateBefore) && sink.table != crate::lower::sink::RESULT_NAME {
                    add(format!(
                        "table {} has no primary key and gets old and new rows: with a PRIMARY KEY it gets new ones only",
                        sink.table
                    ));
                }
            }
            _ => {}
        }
    }
    if !without_timeout.is_empty() {
        let tables = without_timeout.into_iter().collect::<Vec<_>>().join(", ");
        add(format!(
            "a silent split of {tables} holds every window back: SET 'table.exec.source.idle-timeout' = '30 s' if splits \
             can be silent"
        ));
    }
    advice
}
