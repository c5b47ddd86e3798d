//! What a checkpoint holds, and how it is put together from the answers of the tasks.

use base::Epoch;
use base::connector::{Committable, SplitId, SplitState};
use serde::{Deserialize, Serialize};
use state::{PartSnapshot, PartState, StateShape};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The state of a job at one barrier.
///
/// Operators are found by their id. Where a plan has two nodes that mean the same, the second one's id ends in `#2`.
#[derive(Debug, Clone)]
pub struct JobCheckpoint {
    /// The number of the checkpoint.
    pub epoch: Epoch,
    /// The snapshots of all instances of every operator, in parts.
    pub operators: BTreeMap<String, Vec<Vec<PartSnapshot>>>,
    /// Sources.
    pub sources: BTreeMap<String, SourceCheckpoint>,
    /// Sinks.
    pub sinks: BTreeMap<String, SinkCheckpoint>,
    /// The watermark of every instance of every node; `None` before the first.
    pub watermarks: BTreeMap<String, Vec<Option<i64>>>,
    /// The digest of every node: state is taken over only by a node that does the same with the same rows.
    pub digests: BTreeMap<String, String>,
    /// Which columns the operators keep.
    pub shapes: BTreeMap<String, StateShape>,
    /// The name of every node, for people.
    pub names: BTreeMap<String, String>,
    /// What every node had counted.
    pub counts: BTreeMap<String, NodeCounts>,
    /// Whether the input had ended: there is nothing to go on with but a commit that may be missing.
    pub is_finished: bool,
}

/// What a node has counted since the job began, restarts included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCounts {
    /// Rows received; for a source, records read.
    pub rows_in: u64,
    /// Rows given on; for a sink, rows written.
    pub rows_out: u64,
    /// Bytes read by a source.
    pub bytes_in: u64,
    /// Late rows dropped.
    pub late_rows: u64,
    /// Records and rows left out for another reason.
    pub rejected_rows: u64,
}

impl NodeCounts {
    pub(crate) fn add(&mut self, other: NodeCounts) {
        self.rows_in += other.rows_in;
        self.rows_out += other.rows_out;
        self.bytes_in += other.bytes_in;
        self.late_rows += other.late_rows;
        self.rejected_rows += other.rejected_rows;
    }
}

/// What is known of the nodes of a job besides their state.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeLabels {
    pub digests: BTreeMap<String, String>,
    pub shapes: BTreeMap<String, StateShape>,
    pub names: BTreeMap<String, String>,
    /// What they had counted before the tasks that run now.
    pub counts: BTreeMap<String, NodeCounts>,
}

/// The state of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceCheckpoint {
    /// Positions in all splits.
    pub splits: Vec<SplitState>,
    /// Watermarks of the splits that have one.
    pub watermarks: BTreeMap<SplitId, i64>,
}

/// The state of a sink.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SinkCheckpoint {
    /// The states of all writers.
    pub writers: Vec<Vec<u8>>,
    /// What is committed once the checkpoint is durable.
    pub committables: Vec<Committable>,
}

impl JobCheckpoint {
    /// An empty checkpoint.
    pub fn new(epoch: Epoch) -> JobCheckpoint {
        JobCheckpoint {
            epoch,
            operators: BTreeMap::new(),
            sources: BTreeMap::new(),
            sinks: BTreeMap::new(),
            watermarks: BTreeMap::new(),
            digests: BTreeMap::new(),
            shapes: BTreeMap::new(),
            names: BTreeMap::new(),
            counts: BTreeMap::new(),
            is_finished: false,
        }
    }

    /// Reads what is in files still.
    ///
    /// # Errors
    /// Files that are gone or damaged.
    pub(crate) fn load_all(&mut self) -> base::Result<()> {
        for part in self.operators.values_mut().flatten().flatten() {
            part.state = PartState::Rows(Arc::new(part.load()?));
        }
        Ok(())
    }

    /// Whether there is something to lose at this node.
    pub(crate) fn has_state(&self, key: &str) -> bool {
        let operator =
            self.operators.get(key).is_some_and(|instances| instances.iter().flatten().any(|part| !part.is_empty()));
        let source = self.sources.get(key).is_some_and(|source| !source.splits.is_empty());
        let sink = self
            .sinks
            .get(key)
            .is_some_and(|sink| !sink.committables.is_empty() || sink.writers.iter().any(|writer| !writer.is_empty()));
        operator || source || sink
    }

    /// The nodes of `keys` alone: each one's key here, and the key that it gets.
    pub(crate) fn only(&self, keys: &[(&str, &str)]) -> JobCheckpoint {
        fn some<T: Clone>(all: &BTreeMap<String, T>, keys: &[(&str, &str)]) -> BTreeMap<String, T> {
            keys.iter().filter_map(|(key, new)| Some((new.to_string(), all.get(*key)?.clone()))).collect()
        }
        JobCheckpoint {
            epoch: self.epoch,
            operators: some(&self.operators, keys),
            sources: some(&self.sources, keys),
            sinks: some(&self.sinks, keys),
            watermarks: some(&self.watermarks, keys),
            digests: some(&self.digests, keys),
            shapes: some(&self.shapes, keys),
            names: some(&self.names, keys),
            counts: some(&self.counts, keys),
            is_finished: self.is_finished,
        }
    }

    /// Adds what checkpoints that came to nothing left to be committed, before what this one has.
    pub(crate) fn add_committables(&mut self, left: Committables) {
        for (key, mut committables) in left {
            let sink = self.sinks.entry(key.to_string()).or_default();
            committables.append(&mut sink.committables);
            sink.committables = committables;
        }
    }

    /// The checkpoint that the snapshots of all tasks make.
    pub(crate) fn assemble<'a>(
        epoch: Epoch,
        labels: NodeLabels,
        tasks: impl IntoIterator<Item = &'a TaskSnapshot>,
    ) -> JobCheckpoint {
        let mut nodes: Vec<&NodeSnapshot> = tasks.into_iter().flat_map(|task| &task.nodes).collect();
        nodes.sort_by(|a, b| (&a.key, a.instance).cmp(&(&b.key, b.instance)));
        let NodeLabels { digests, shapes, names, counts } = labels;
        let mut checkpoint = JobCheckpoint { digests, shapes, names, counts, ..JobCheckpoint::new(epoch) };
        for node in nodes {
            let key = node.key.to_string();
            checkpoint.counts.entry(key.clone()).or_default().add(node.counts);
            checkpoint.watermarks.entry(key.clone()).or_default().push(node.watermark_ms);
            match &node.state {
                NodeState::None => {}
                NodeState::Operator(parts) => {
                    checkpoint.operators.entry(key).or_default().push(parts.clone());
                }
                NodeState::Source(source) => {
                    let whole = checkpoint.sources.entry(key).or_default();
                    whole.splits.extend(source.splits.iter().cloned());
                    for (split, &watermark_ms) in &source.watermarks {
                        // A split that moved between instances is known to both: the further one is right.
                        let known = whole.watermarks.entry(split.clone()).or_insert(watermark_ms);
                        *known = (*known).max(watermark_ms);
                    }
                }
                NodeState::Sink(sink) => {
                    let whole = checkpoint.sinks.entry(key).or_default();
                    whole.writers.extend(sink.writers.iter().cloned());
                    whole.committables.extend(sink.committables.iter().cloned());
                }
            }
        }
        checkpoint
    }

    /// The watermark with which an instance goes on.
    pub(crate) fn watermark_ms(&self, key: &str, instance: usize, parallelism: usize) -> Option<i64> {
        let instances = self.watermarks.get(key)?;
        if instances.len() == parallelism {
            return instances[instance];
        }
        // At another parallelism the lowest holds for everybody: no row is late that was not late before.
        instances.iter().copied().min().flatten()
    }
}

/// The snapshots of the nodes of one task.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaskSnapshot {
    pub nodes: Vec<NodeSnapshot>,
    /// For how long it held back one of its inputs until the barrier was there on the others.
    pub alignment: Duration,
}

/// What sinks hand over, by the key of the sink.
pub(crate) type Committables = BTreeMap<Arc<str>, Vec<Committable>>;

impl TaskSnapshot {
    /// What its sinks want to have committed.
    pub(crate) fn committables(&self, into: &mut Committables) {
        for node in &self.nodes {
            if let NodeState::Sink(sink) = &node.state
                && !sink.committables.is_empty()
            {
                into.entry(node.key.clone()).or_default().extend(sink.committables.iter().cloned());
            }
        }
    }

    /// It is in a checkpoint: what that committed is forgotten, and with `keeps_state` the state need not be given again.
    pub(crate) fn included(&mut self, keeps_state: bool) {
        for node in &mut self.nodes {
            match &mut node.state {
                NodeState::Sink(sink) => sink.committables.clear(),
                NodeState::Operator(parts) if keeps_state => {
                    parts.iter_mut().for_each(|part| part.state = PartState::Unchanged);
                }
                NodeState::Operator(_) | NodeState::Source(_) | NodeState::None => {}
            }
        }
    }
}

/// The snapshot of one node instance.
#[derive(Debug, Clone)]
pub(crate) struct NodeSnapshot {
    pub key: Arc<str>,
    pub instance: usize,
    pub watermark_ms: Option<i64>,
    pub counts: NodeCounts,
    pub state: NodeState,
}

/// What a node keeps.
#[derive(Debug, Clone)]
pub(crate) enum NodeState {
    /// Nothing: a union.
    None,
    /// The parts of an operator instance.
    Operator(Vec<PartSnapshot>),
    Source(SourceCheckpoint),
    /// One writer's state and committables.
    Sink(SinkCheckpoint),
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
