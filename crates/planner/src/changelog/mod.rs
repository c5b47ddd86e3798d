//! Row kinds and operator ids: what only the whole plan can tell.
//!
//! Row kinds are found in two passes, as Flink does it. Upwards, every operator says which kinds it would give;
//! downwards, every reader says whether it needs the old content of updates (`-U`). An aggregate leaves `-U` out if
//! nobody needs it.

pub mod codes;
pub mod determinism;

use crate::lower::builder::{Draft, short_hash};
use base::plan::{Distribution, Edge, Node, NodeId, NodeKind, Output};
use base::{ChangelogMode, RowKind};
use std::collections::{BTreeMap, BTreeSet};

/// What a sink asks of the node that it reads.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// The node.
    pub node: NodeId,
    /// Whether it needs `-U` rows.
    pub update_before: bool,
}

/// The kinds that every node gives if all its readers need `-U`.
pub fn natural_modes(drafts: &[Draft]) -> Vec<ChangelogMode> {
    modes(drafts, &vec![true; drafts.len()])
}

fn modes(drafts: &[Draft], update_before: &[bool]) -> Vec<ChangelogMode> {
    let mut modes: Vec<ChangelogMode> = Vec::with_capacity(drafts.len());
    for (index, draft) in drafts.iter().enumerate() {
        let input = draft.node.inputs.iter().map(|edge| modes[edge.node]).reduce(ChangelogMode::union);
        let input = input.unwrap_or(ChangelogMode::APPEND);
        let wanted = |mode: ChangelogMode| match update_before[index] {
            true => mode,
            false => mode.without(RowKind::UpdateBefore),
        };
        modes.push(match &draft.node.kind {
            NodeKind::Scan(_) => draft.node.output.changelog,
            NodeKind::Values(_) | NodeKind::WindowAggregate(_) => ChangelogMode::APPEND,
            NodeKind::GroupAggregate(_) if input.is_append_only() => {
                wanted(ChangelogMode::ALL.without(RowKind::Delete))
            }
            NodeKind::GroupAggregate(_) | NodeKind::ChangelogNormalize(_) => wanted(ChangelogMode::ALL),
            NodeKind::DropUpdateBefore => input.without(RowKind::UpdateBefore),
            NodeKind::Calc(_) | NodeKind::Union | NodeKind::WindowTable(_) | NodeKind::Sink(_) => input,
        });
    }
    modes
}

/// Whether an operator needs the `-U` rows of its input, given whether its own readers do.
fn needs_update_before(kind: &NodeKind, readers_do: bool) -> bool {
    match kind {
        NodeKind::Scan(_) | NodeKind::Values(_) => false,
        // A row that an update moves out of the filter is known by its `-U` only.
        NodeKind::Calc(calc) => readers_do || calc.condition.is_some(),
        // A row that an update moves into another window is, too.
        NodeKind::WindowTable(_) => true,
        NodeKind::GroupAggregate(_) | NodeKind::WindowAggregate(_) => true,
        NodeKind::ChangelogNormalize(_) | NodeKind::DropUpdateBefore => false,
        NodeKind::Union | NodeKind::Sink(_) => readers_do,
    }
}

/// The operator that makes a plan update its rows: the one nearest to `node`.
pub fn updating_node(drafts: &[Draft], modes: &[ChangelogMode], node: NodeId) -> Option<NodeId> {
    let mut node = node;
    loop {
        let draft = &drafts[node].node;
        if matches!(draft.kind, NodeKind::Scan(_) | NodeKind::GroupAggregate(_) | NodeKind::ChangelogNormalize(_)) {
            return Some(node);
        }
        node = draft.inputs.iter().find(|edge| !modes[edge.node].is_append_only())?.node;
    }
}

/// [`updating_node`] for messages.
pub fn updating_operator(drafts: &[Draft], modes: &[ChangelogMode], node: NodeId) -> String {
    let Some(node) = updating_node(drafts, modes, node) else { return "the query".into() };
    let draft = &drafts[node].node;
    match &draft.kind {
        NodeKind::Scan(scan) => format!("the scan of table {}", scan.table),
        NodeKind::GroupAggregate(group) => {
            let input = draft.inputs.first().map(|edge| drafts[edge.node].node.output.row.fields());
            let name = |key: &usize| input.and_then(|fields| fields.get(*key)).map_or("?", |field| &field.name);
            let keys: Vec<&str> = group.keys.iter().map(name).collect();
            match keys.as_slice() {
                [] => "the aggregate over all rows".into(),
                keys => format!("GROUP BY {}", keys.join(", ")),
            }
        }
        _ => "the changelog of the source".into(),
    }
}

/// Sets the row kinds of all nodes, and gives the node that each sink reads.
pub fn infer(drafts: &mut Vec<Draft>, demands: &[Demand]) -> Vec<NodeId> {
    let mut needed = vec![false; drafts.len()];
    for demand in demands {
        needed[demand.node] |= demand.update_before;
    }
    for index in (0..drafts.len()).rev() {
        let needs = needs_update_before(&drafts[index].node.kind, needed[index]);
        let inputs: Vec<NodeId> = drafts[index].node.inputs.iter().map(|edge| edge.node).collect();
        for input in inputs {
            needed[input] |= needs;
        }
    }
    let ends = without_needless_normalize(drafts, &mut needed, demands);
    let modes = modes(drafts, &needed);
    for (draft, mode) in drafts.iter_mut().zip(&modes) {
        draft.node.output.changelog = *mode;
        let input = draft.node.inputs.iter().map(|edge| modes[edge.node]).reduce(ChangelogMode::union);
        let retract =
            input.is_some_and(|input| input.contains(RowKind::UpdateBefore) || input.contains(RowKind::Delete));
        match &mut draft.node.kind {
            NodeKind::GroupAggregate(group) => group.calls.iter_mut().for_each(|call| call.options.retract = retract),
            NodeKind::WindowAggregate(group) => group.calls.iter_mut().for_each(|call| call.options.retract = retract),
            _ => {}
        }
    }
    let lone = lone_update_before(drafts, &modes);
    ends.into_iter()
        .zip(demands)
        .map(|(node, demand)| {
            let needless = modes[node].contains(RowKind::UpdateBefore) && !demand.update_before && !lone[node];
            if needless { drop_update_before(drafts, node) } else { node }
        })
        .collect()
}

/// Nodes that can give a `-U` without its `+U`: a filter lets a row leave that way, and only its `-U` says so.
fn lone_update_before(drafts: &[Draft], modes: &[ChangelogMode]) -> Vec<bool> {
    let mut lone = vec![false; drafts.len()];
    for (index, draft) in drafts.iter().enumerate() {
        let inherited = draft.node.inputs.iter().any(|edge| lone[edge.node]);
        lone[index] = match &draft.node.kind {
            NodeKind::Calc(calc) => {
                inherited || (calc.condition.is_some() && modes[index].contains(RowKind::UpdateBefore))
            }
            NodeKind::Union | NodeKind::WindowTable(_) | NodeKind::Sink(_) => inherited,
            NodeKind::Scan(_)
            | NodeKind::Values(_)
            | NodeKind::GroupAggregate(_)
            | NodeKind::WindowAggregate(_)
            | NodeKind::ChangelogNormalize(_)
            | NodeKind::DropUpdateBefore => false,
        };
    }
    lone
}

/// Keyed changes that reach nothing but sinks with the same key need no state: takes their normalisation out.
fn without_needless_normalize(drafts: &mut Vec<Draft>, needed: &mut Vec<bool>, demands: &[Demand]) -> Vec<NodeId> {
    let mut places: Vec<NodeId> = Vec::with_capacity(drafts.len());
    let mut kept = Vec::with_capacity(drafts.len());
    let mut kept_needed = Vec::with_capacity(drafts.len());
    for (index, mut draft) in std::mem::take(drafts).into_iter().enumerate() {
        let needless = matches!(draft.node.kind, NodeKind::ChangelogNormalize(_)) && !needed[index];
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

fn drop_update_before(drafts: &mut Vec<Draft>, input: NodeId) -> NodeId {
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
    let by_digest: Vec<String> = drafts.iter().map(|draft| short_hash(&draft.node.digest)).collect();
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
