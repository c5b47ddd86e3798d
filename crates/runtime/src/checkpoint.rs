//! What a checkpoint holds, and how it is put together from the answers of the tasks.

use base::Epoch;
use base::connector::{Committable, SplitId, SplitState};
use state::OperatorSnapshot;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of a job at one barrier.
///
/// Operators are found by their id. Where a plan has two nodes that mean the same, the second one's id ends in `#2`.
#[derive(Debug, Clone)]
pub struct JobCheckpoint {
    /// The number of the checkpoint.
    pub epoch: Epoch,
    /// The snapshots of all instances of every operator.
    pub operators: BTreeMap<String, Vec<OperatorSnapshot>>,
    /// Sources.
    pub sources: BTreeMap<String, SourceCheckpoint>,
    /// Sinks.
    pub sinks: BTreeMap<String, SinkCheckpoint>,
    /// The watermark of every instance of every node; `None` before the first.
    pub watermarks: BTreeMap<String, Vec<Option<i64>>>,
    /// The digest of every node: state is taken over only by a node that computes the same.
    pub digests: BTreeMap<String, String>,
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
    fn new(epoch: Epoch) -> JobCheckpoint {
        JobCheckpoint {
            epoch,
            operators: BTreeMap::new(),
            sources: BTreeMap::new(),
            sinks: BTreeMap::new(),
            watermarks: BTreeMap::new(),
            digests: BTreeMap::new(),
        }
    }

    /// The checkpoint that the snapshots of all tasks make.
    pub(crate) fn assemble<'a>(
        epoch: Epoch,
        digests: BTreeMap<String, String>,
        tasks: impl IntoIterator<Item = &'a TaskSnapshot>,
    ) -> JobCheckpoint {
        let mut nodes: Vec<&NodeSnapshot> = tasks.into_iter().flat_map(|task| &task.nodes).collect();
        nodes.sort_by(|a, b| (&a.key, a.instance).cmp(&(&b.key, b.instance)));
        let mut checkpoint = JobCheckpoint { digests, ..JobCheckpoint::new(epoch) };
        for node in nodes {
            let key = node.key.to_string();
            checkpoint.watermarks.entry(key.clone()).or_default().push(node.watermark_ms);
            match &node.state {
                NodeState::None => {}
                NodeState::Operator(snapshot) => {
                    checkpoint.operators.entry(key).or_default().push(snapshot.clone());
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
}

impl TaskSnapshot {
    /// Forgets what has been committed.
    pub(crate) fn committed(&mut self) {
        for node in &mut self.nodes {
            if let NodeState::Sink(sink) = &mut node.state {
                sink.committables.clear();
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
    pub state: NodeState,
}

/// What a node keeps.
#[derive(Debug, Clone)]
pub(crate) enum NodeState {
    /// Nothing: a union.
    None,
    Operator(OperatorSnapshot),
    Source(SourceCheckpoint),
    /// One writer's state and committables.
    Sink(SinkCheckpoint),
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
