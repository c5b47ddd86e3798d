//! What of a checkpoint fits the plan that goes on from it.
//!
//! An operator is found by its id, else by what it computes: its digest says which rows it reads and what it does with them,
//! but not which columns and calls. Those are columns of its state, and are compared one by one ([`StateShape`]).

use crate::assembly::node_name;
use crate::checkpoint::JobCheckpoint;
use crate::codes::STATE_DIFFERS;
use crate::fragment::keys;
use crate::job::OperatorFactory;
use crate::operators;
use base::connector::Instance;
use base::plan::{Node, NodeKind, Output, StreamPlan};
use base::{Error, Result};
use state::{Fit, Migration, OperatorSnapshot, Scope, StateShape};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why state is of no use to an operator that is found by its id.
const COMPUTES_ELSE: &str = "its input, keys or conditions are others";

/// The saved states of a job against its plan. Operators without state are in no list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Taken over.
    pub kept: Vec<String>,
    /// Taken over by columns: the operator needs others than it did.
    pub migrated: Vec<String>,
    /// Begin without state.
    pub new: Vec<String>,
    /// Are in the plan, but compute something else: their saved state is of no use.
    pub changed: Vec<String>,
    /// Are not in the plan any more.
    pub dropped: Vec<String>,
}

impl RestoreReport {
    /// Compares a plan with a checkpoint.
    ///
    /// # Errors
    /// Operators that cannot be made.
    pub fn new(plan: &StreamPlan, checkpoint: &JobCheckpoint) -> Result<RestoreReport> {
        Ok(Comparison::new(plan, checkpoint, &operators::create)?.report)
    }

    /// Whether saved state is lost.
    pub fn is_lossy(&self) -> bool {
        !self.changed.is_empty() || !self.dropped.is_empty()
    }

    /// What becomes of each state, a line each.
    pub fn lines(&self) -> Vec<String> {
        let lists = [
            ("changed", &self.changed),
            ("dropped", &self.dropped),
            ("new", &self.new),
            ("migrated", &self.migrated),
            ("kept", &self.kept),
        ];
        lists.into_iter().flat_map(|(word, list)| list.iter().map(move |one| format!("{word}: {one}"))).collect()
    }

    /// What is lost, as the error or warning that names it.
    pub fn loss(&self) -> Error {
        let count = self.changed.len() + self.dropped.len();
        Error::new(&STATE_DIFFERS, &[("count", &count), ("list", &self.lines().join("\n"))])
    }
}

fn label(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_string() } else { format!("{name} ({key})") }
}

/// What the operators of a plan keep, as snapshots without rows; `None` for nodes that keep nothing.
pub(crate) struct StateShapes(Vec<Option<OperatorSnapshot>>);

impl StateShapes {
    /// # Errors
    /// Operators that cannot be made.
    pub(crate) fn new(plan: &StreamPlan, create: &OperatorFactory) -> Result<StateShapes> {
        Ok(StateShapes(plan.nodes.iter().map(|node| empty_state(plan, node, create)).collect::<Result<_>>()?))
    }

    /// By the keys of the nodes.
    pub(crate) fn by_key(&self, plan: &StreamPlan) -> BTreeMap<String, StateShape> {
        let shapes = keys(plan).into_iter().zip(&self.0);
        shapes.filter_map(|(key, state)| Some((key.to_string(), StateShape::of(state.as_ref()?)))).collect()
    }
}

fn empty_state(plan: &StreamPlan, node: &Node, create: &OperatorFactory) -> Result<Option<OperatorSnapshot>> {
    let is_operator = !matches!(
        node.kind,
        NodeKind::Scan(_)
            | NodeKind::Values(_)
            | NodeKind::Sink(_)
            | NodeKind::Union
            | NodeKind::LateRows(_)
            | NodeKind::LookupJoin(_)
    );
    if !is_operator {
        return Ok(None);
    }
    let inputs: Vec<&Output> = node.inputs.iter().map(|edge| &plan.nodes[edge.node].output).collect();
    let mut operator = create(node, &inputs, Instance { index: 0, parallelism: 1 }, &plan.config)?;
    operator.open(&[])?;
    let state = operator.snapshot(Scope::Full)?;
    Ok((!state.tables.is_empty()).then_some(state))
}

/// What a node takes over.
struct Taken {
    /// The key of the node in the checkpoint.
    key: String,
    /// What is made of its rows, and what differs.
    migration: Option<(Arc<Migration>, StateShape, String)>,
}

/// A plan against a checkpoint.
struct Comparison {
    /// By node of the plan.
    taken: Vec<Option<Taken>>,
    report: RestoreReport,
}

impl Comparison {
    fn new(plan: &StreamPlan, checkpoint: &JobCheckpoint, create: &OperatorFactory) -> Result<Comparison> {
        let states = StateShapes::new(plan, create)?.0;
        let keys = keys(plan);
        let fit = |id: usize, key: &str| fit(&plan.nodes[id], states[id].as_ref(), checkpoint, key);
        let mut taken: Vec<Option<Taken>> =
            keys.iter().enumerate().map(|(id, key)| fit(id, key).and_then(|fit| fit.ok())).collect();
        let mut used: BTreeSet<String> = taken.iter().flatten().map(|taken| taken.key.clone()).collect();
        // An operator's id tells it from others like it: it is another one where these have come or gone.
        for id in (0..keys.len()).filter(|&id| states[id].is_some()) {
            if taken[id].is_none() {
                let free = checkpoint.digests.keys().filter(|key| !used.contains(*key) && checkpoint.has_state(key));
                let mut fitting: Vec<Taken> = free.filter_map(|key| fit(id, key)?.ok()).collect();
                fitting.sort_by_key(|taken| taken.migration.is_some());
                taken[id] = fitting.into_iter().next();
                used.extend(taken[id].iter().map(|taken| taken.key.clone()));
            }
        }
        let mut report = RestoreReport::default();
        for (id, (node, key)) in plan.nodes.iter().zip(&keys).enumerate() {
            let text = label(&node_name(node), key);
            match &taken[id] {
                Some(Taken { key, .. }) if !checkpoint.has_state(key) => {}
                Some(Taken { migration: None, .. }) => report.kept.push(text),
                Some(Taken { migration: Some((.., differences)), .. }) if differences.is_empty() => {
                    report.migrated.push(text);
                }
                Some(Taken { migration: Some((.., differences)), .. }) => {
                    report.migrated.push(format!("{text}: {differences}"));
                }
                None if checkpoint.has_state(key) && !used.contains(&**key) => {
                    let why = fit(id, key).and_then(|fit| fit.err()).unwrap_or_else(|| COMPUTES_ELSE.into());
                    report.changed.push(format!("{text}: {why}"));
                }
                None if states[id].is_some() || matches!(node.kind, NodeKind::Scan(_)) => report.new.push(text),
                None => {}
            }
        }
        let is_gone = |key: &&String| {
            checkpoint.has_state(key) && !used.contains(*key) && !keys.iter().any(|known| **known == ***key)
        };
        let gone = checkpoint.digests.keys().filter(is_gone);
        report.dropped = gone.map(|key| label(checkpoint.names.get(key).map_or("", String::as_str), key)).collect();
        Ok(Comparison { taken, report })
    }
}

/// Whether a node can take over what was saved under a key, and why not if it computes the same with other columns. A sink's
/// state belongs to its table, whatever is written there.
fn fit(
    node: &Node,
    state: Option<&OperatorSnapshot>,
    checkpoint: &JobCheckpoint,
    key: &str,
) -> Option<std::result::Result<Taken, String>> {
    let digest = checkpoint.digests.get(key)?;
    let taken = |migration| Some(Ok(Taken { key: key.into(), migration }));
    if !matches!(node.kind, NodeKind::Sink(_)) && *digest != node.digest {
        return None;
    }
    let (Some(state), Some(saved)) = (state, checkpoint.shapes.get(key)) else { return taken(None) };
    let wanted = StateShape::of(state);
    match saved.fit(&wanted) {
        Fit::Same => taken(None),
        Fit::Migrated(differences) => taken(Some((Arc::new(Migration::new(state)), wanted, differences.join(", ")))),
        Fit::Lacking(lacks) => Some(Err(lacks.join(", "))),
    }
}

/// The part of a checkpoint that a plan takes over, under the keys that its nodes have now.
///
/// # Errors
/// State that would be lost, unless that is allowed.
pub(crate) fn restorable(
    plan: &StreamPlan,
    checkpoint: &JobCheckpoint,
    may_lose: bool,
    create: &OperatorFactory,
) -> Result<JobCheckpoint> {
    let Comparison { taken, report } = Comparison::new(plan, checkpoint, create)?;
    if report.is_lossy() && !may_lose {
        return Err(report.loss());
    }
    let keys = keys(plan);
    let nodes = || taken.iter().zip(&keys).filter_map(|(taken, key)| Some((taken.as_ref()?, &**key)));
    let moves: Vec<(&str, &str)> = nodes().map(|(taken, key)| (taken.key.as_str(), key)).collect();
    let mut restored = checkpoint.only(&moves);
    for (taken, key) in nodes() {
        let Some((migration, shape, _)) = &taken.migration else { continue };
        for part in restored.operators.get_mut(key).into_iter().flatten().flatten() {
            *part = part.migrated(migration)?;
        }
        restored.shapes.insert(key.into(), shape.clone());
    }
    Ok(restored)
}
