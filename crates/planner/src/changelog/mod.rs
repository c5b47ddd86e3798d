//! Row kinds and operator ids: what only the whole plan can tell.
//!
//! Row kinds are found in two passes, as Flink does it. Upwards, every operator says which kinds it would give;
//! downwards, every reader says whether it needs the old content of updates (`-U`). An aggregate leaves `-U` out if
//! nobody needs it.

pub mod codes;
pub mod determinism;
mod monotonic;

use crate::lower::builder::{Draft, Identity, short_hash};
use crate::operators::{Shape, rules, rules_mut};
use base::plan::{Distribution, Edge, Node, NodeId, NodeKind, Output, UpsertMaterialize};
use base::{ChangelogMode, RowKind};
use std::collections::{BTreeMap, BTreeSet};

/// What a sink asks of the node that it reads.
#[derive(Debug, Clone)]
pub struct Demand {
    /// The node.
    pub node: NodeId,
    /// Whether it needs `-U` rows.
    pub update_before: bool,
    /// What stands before the sink to keep all rows of its key.
    pub materialize: Option<UpsertMaterialize>,
}

/// A draft with the outputs of its inputs.
fn shape(drafts: &[Draft], index: NodeId) -> Shape<'_> {
    let node = &drafts[index].node;
    Shape { node, inputs: node.inputs.iter().map(|edge| &drafts[edge.node].node.output).collect() }
}

/// The kinds that a node gives if all its readers need `-U`; those of its inputs are set already.
pub fn natural_mode(drafts: &[Draft], node: &Node) -> ChangelogMode {
    let inputs: Vec<&Output> = node.inputs.iter().map(|edge| &drafts[edge.node].node.output).collect();
    let modes: Vec<ChangelogMode> = inputs.iter().map(|output| output.changelog).collect();
    rules(&node.kind).changelog(&Shape { node, inputs }, &modes)
}

fn modes(drafts: &[Draft], update_before: &[bool]) -> Vec<ChangelogMode> {
    let mut modes: Vec<ChangelogMode> = Vec::with_capacity(drafts.len());
    for (index, draft) in drafts.iter().enumerate() {
        let inputs: Vec<ChangelogMode> = draft.node.inputs.iter().map(|edge| modes[edge.node]).collect();
        let rules = rules(&draft.node.kind);
        let mode = rules.changelog(&shape(drafts, index), &inputs);
        let leaves_out = rules.makes_updates() && !update_before[index];
        modes.push(if leaves_out { mode.without(RowKind::UpdateBefore) } else { mode });
    }
    modes
}

/// The operator that makes a plan update its rows: the one nearest to `node`.
pub fn updating_node(drafts: &[Draft], node: NodeId) -> Option<NodeId> {
    let mut node = node;
    loop {
        let draft = &drafts[node].node;
        if rules(&draft.kind).makes_updates() || matches!(draft.kind, NodeKind::Scan(_)) {
            return Some(node);
        }
        node = draft.inputs.iter().find(|edge| !drafts[edge.node].node.output.changelog.is_append_only())?.node;
    }
}

/// [`updating_node`] for messages.
pub fn updating_operator(drafts: &[Draft], node: NodeId) -> String {
    match updating_node(drafts, node) {
        Some(node) => rules(&drafts[node].node.kind).as_cause(&shape(drafts, node)),
        None => "the query".into(),
    }
}

/// Sets the row kinds of all nodes, and gives the node that each sink reads.
pub fn infer(drafts: &mut Vec<Draft>, demands: &[Demand]) -> Vec<NodeId> {
    let mut needed = vec![false; drafts.len()];
    for demand in demands {
        needed[demand.node] |= demand.update_before;
    }
    for index in (0..drafts.len()).rev() {
        let shape = shape(drafts, index);
        let rules = rules(&shape.node.kind);
        for (input, edge) in shape.node.inputs.iter().enumerate() {
            needed[edge.node] |= rules.needs_update_before(&shape, input, needed[index]);
        }
    }
    let mut ends = without_needless_normalize(drafts, &mut needed, demands);
    drop_at_scans(drafts, &mut needed, &mut ends);
    let modes = modes(drafts, &needed);
    for (draft, mode) in drafts.iter_mut().zip(&modes) {
        draft.node.output.changelog = *mode;
        let inputs: Vec<ChangelogMode> = draft.node.inputs.iter().map(|edge| modes[edge.node]).collect();
        if let Some(rules) = rules_mut(&mut draft.node.kind) {
            rules.set_inputs(&inputs);
        }
    }
    monotonic::keep_extremes(drafts);
    let lone = lone_update_before(drafts, &modes);
    ends.into_iter()
        .zip(demands)
        .map(|(node, demand)| {
            let needless = modes[node].contains(RowKind::UpdateBefore) && !demand.update_before && !lone[node];
            if needless { drop_update_before(drafts, node) } else { node }
        })
        .collect()
}

/// Nodes that can give a `-U` without its `+U`.
fn lone_update_before(drafts: &[Draft], modes: &[ChangelogMode]) -> Vec<bool> {
    let mut lone = vec![false; drafts.len()];
    for (index, draft) in drafts.iter().enumerate() {
        let inherited = draft.node.inputs.iter().any(|edge| lone[edge.node]);
        lone[index] = rules(&draft.node.kind).gives_lone_update_before(inherited, modes[index]);
    }
    lone
}

/// Keyed changes that reach nothing but sinks with the same key need no state: takes their normalisation out.
fn without_needless_normalize(drafts: &mut Vec<Draft>, needed: &mut Vec<bool>, demands: &[Demand]) -> Vec<NodeId> {
    let mut places: Vec<NodeId> = Vec::with_capacity(drafts.len());
    let mut kept = Vec::with_capacity(drafts.len());
    let mut kept_needed = Vec::with_capacity(drafts.len());
    for (index, mut draft) in std::mem::take(drafts).into_iter().enumerate() {
        let needless = !needed[index]
            && matches!(&draft.node.kind, NodeKind::ChangelogNormalize(one) if one.condition.is_none() && !one.drops_repeats);
        for edge in &mut draft.node.inputs {
            edge.node = places[edge.node];
        }
        match draft.node.inputs.first() {
            Some(edge) if needless => places.push(edge.node),
            _ => {
                if let Some(edge) = draft.node.inputs.first()
                    && edge.distribution == Distribution::Forward
                    && !matches!(draft.node.kind, NodeKind::Union)
                    && kept.get(edge.node).is_some_and(|below: &Draft| below.spread.is_none())
                {
                    draft.spread = None;
                }
                places.push(kept.len());
                kept.push(draft);
                kept_needed.push(needed[index]);
            }
        }
    }
    *drafts = kept;
    *needed = kept_needed;
    demands.iter().map(|demand| places[demand.node]).collect()
}

/// A table whose `-U` rows feed a join that does not need them gives them to nobody.
fn drop_at_scans(drafts: &mut Vec<Draft>, needed: &mut Vec<bool>, ends: &mut [NodeId]) {
    let mut joined = vec![false; drafts.len()];
    for draft in drafts.iter().rev().filter(|draft| matches!(draft.node.kind, NodeKind::Join(_))) {
        draft.node.inputs.iter().for_each(|edge| joined[edge.node] = true);
    }
    for index in (0..drafts.len()).rev() {
        if joined[index] && matches!(drafts[index].node.kind, NodeKind::Calc(_) | NodeKind::Union) {
            drafts[index].node.inputs.iter().for_each(|edge| joined[edge.node] = true);
        }
    }
    let mut places: Vec<NodeId> = Vec::with_capacity(drafts.len());
    let mut kept = Vec::with_capacity(drafts.len());
    let mut kept_needed = Vec::with_capacity(drafts.len());
    for (index, mut draft) in std::mem::take(drafts).into_iter().enumerate() {
        draft.node.inputs.iter_mut().for_each(|edge| edge.node = places[edge.node]);
        let drops = joined[index]
            && !needed[index]
            && matches!(draft.node.kind, NodeKind::Scan(_))
            && draft.node.output.changelog.contains(RowKind::UpdateBefore);
        kept.push(draft);
        kept_needed.push(needed[index]);
        let mut place = kept.len() - 1;
        if drops {
            place = drop_update_before(&mut kept, place);
            kept_needed.push(false);
        }
        places.push(place);
    }
    *drafts = kept;
    *needed = kept_needed;
    ends.iter_mut().for_each(|end| *end = places[*end]);
}

/// Leaves the `-U` rows of a node out.
pub fn drop_update_before(drafts: &mut Vec<Draft>, input: NodeId) -> NodeId {
    let known = drafts.iter().position(|draft| {
        matches!(draft.node.kind, NodeKind::DropUpdateBefore)
            && draft.node.inputs.first().is_some_and(|e| e.node == input)
    });
    if let Some(known) = known {
        return known;
    }
    let below = &drafts[input];
    let output = &below.node.output;
    let digest = format!("DropUpdateBefore(input={})", below.identity.rows);
    drafts.push(Draft {
        spread: below.spread.clone(),
        identity: below.identity.clone(),
        node: Node {
            operator_id: format!("drop-update-before-{}", short_hash(&digest)),
            digest,
            kind: NodeKind::DropUpdateBefore,
            inputs: vec![Edge { node: input, distribution: Distribution::Forward }],
            output: Output {
                row: output.row.clone(),
                changelog: output.changelog.without(RowKind::UpdateBefore),
                upsert_keys: output.upsert_keys.clone(),
            },
        },
    });
    drafts.len() - 1
}

/// Puts the operator that keeps all rows of a sink key behind a node.
pub fn materialize(drafts: &mut Vec<Draft>, input: NodeId, materialize: UpsertMaterialize) -> NodeId {
    let below = &drafts[input];
    let name = |key: &usize| below.identity.columns[*key].clone();
    let keys: Vec<String> = materialize.keys.iter().map(name).collect();
    let row_keys: Vec<String> = materialize.row_keys.iter().map(name).collect();
    let text = format!("keys=[{}], row keys=[{}]", keys.join(", "), row_keys.join(", "));
    let anchor = format!("materialize-{}", short_hash(&format!("{text} {}", below.identity.anchor)));
    let columns = &below.identity.columns;
    // Rows without a key of their own are told apart by all they hold: with fewer columns the last one could be another.
    let has_key = materialize.row_keys.iter().any(|column| !materialize.keys.contains(column));
    let held = if has_key { String::new() } else { format!(", [{}]", columns.join(", ")) };
    let digest = format!("UpsertMaterialize({text}{held}, input={})", below.identity.rows);
    let distribution = Distribution::Hash(materialize.keys.clone());
    let keys = materialize.keys.clone();
    let mut node = Node {
        operator_id: anchor.clone(),
        digest: digest.clone(),
        inputs: vec![Edge { node: input, distribution }],
        output: Output { upsert_keys: vec![keys.clone()], ..below.node.output.clone() },
        kind: NodeKind::UpsertMaterialize(materialize),
    };
    node.output.changelog = natural_mode(drafts, &node);
    let identity = Identity { rows: short_hash(&digest), columns: columns.clone(), anchor };
    drafts.push(Draft { spread: Some(keys), identity, node });
    drafts.len() - 1
}

/// The nodes with unique operator ids and their keys in order.
///
/// Operators that mean the same are told apart by the sinks that they feed, then by what they compute, and only true
/// duplicates by their order.
pub fn identify(mut drafts: Vec<Draft>) -> Vec<Node> {
    let mut sinks: Vec<BTreeSet<String>> = vec![BTreeSet::new(); drafts.len()];
    for index in (0..drafts.len()).rev() {
        if let NodeKind::Sink(sink) = &drafts[index].node.kind {
            sinks[index].insert(sink.table.clone());
        }
        let reached = sinks[index].clone();
        for edge in &drafts[index].node.inputs {
            sinks[edge.node].extend(reached.iter().cloned());
        }
    }
    let by_sinks: Vec<String> = sinks.iter().map(|names| short_hash(&format!("{names:?}"))).collect();
    let computes = |draft: &Draft| short_hash(&format!("{} {:?}", draft.node.digest, draft.identity.columns));
    let by_digest: Vec<String> = drafts.iter().map(computes).collect();
    append_to_duplicates(&mut drafts, &by_sinks);
    append_to_duplicates(&mut drafts, &by_digest);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut nodes = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let mut node = draft.node;
        let count = seen.entry(node.operator_id.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            node.operator_id = format!("{}-{count}", node.operator_id);
        }
        node.output.upsert_keys.sort_by_key(Vec::len);
        nodes.push(node);
    }
    nodes
}

fn append_to_duplicates(drafts: &mut [Draft], suffixes: &[String]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for draft in drafts.iter() {
        *counts.entry(draft.node.operator_id.clone()).or_default() += 1;
    }
    for (draft, suffix) in drafts.iter_mut().zip(suffixes) {
        if counts.get(&draft.node.operator_id).is_some_and(|count| *count > 1) {
            draft.node.operator_id = format!("{}-{}", draft.node.operator_id, &suffix[..8.min(suffix.len())]);
        }
    }
}
