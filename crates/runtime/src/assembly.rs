//! The tasks of a job: channels between fragments, chains of opened operators, readers and writers.

use crate::alignment::Alignment;
use crate::chain::{Body, Chain, ChainNode, Target};
use crate::channel_task::ChannelTask;
use crate::checkpoint::JobCheckpoint;
use crate::counters::{CountedNode, Counters};
use crate::exchange::{Inbox, Incoming, Router, channel};
use crate::fragment::Topology;
use crate::input_wait::InputWaker;
use crate::job::OperatorFactory;
use crate::lookup::LookupBody;
use crate::metrics::NodeRole;
use crate::operator::Operator;
use crate::operators::calc::CalcEvaluator;
use crate::parted::{Maker, MemoryBudget, PartedOperator, Share, is_spread_by_key};
use crate::shared::{Control, Shared, TaskId};
use crate::sink::SinkBody;
use crate::source_group::SourceGroup;
use crate::source_task::{COMMANDS_MAX, CatchingUp, Dropped, RowTime, SourceTask, Watched};
use crate::values::ValuesReader;
use crate::waiting::{Follower, WaitingWatch, WatchedSource};
use crate::watermark::{CutRule, SplitWatermarks, resume_ms};
use arrow::array::StringArray;
use base::connector::Instance;
use base::expression::HiddenColumn;
use base::key::{groups_of_instance, hash_columns};
use base::plan::{Distribution, Node, NodeId, NodeKind, Output, Scan, StreamPlan, WindowKind};
use base::{ChangelogMode, Error, Result};
use state::PartSnapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// One task, not yet running.
pub(crate) enum Task {
    Source(Box<SourceTask>),
    Channels(Box<ChannelTask>),
}

impl Task {
    fn chain_mut(&mut self) -> &mut Chain {
        match self {
            Task::Source(task) => &mut task.chain,
            Task::Channels(task) => &mut task.chain,
        }
    }
}

/// What a job is made of.
pub(crate) struct Assembly {
    /// The position is the task's id.
    pub tasks: Vec<Task>,
    /// Where the source tasks take commands.
    pub sources: BTreeMap<TaskId, mpsc::Sender<Control>>,
    /// One per node, in plan order.
    pub nodes: Vec<CountedNode>,
}

/// What the tasks are made from.
pub(crate) struct Blueprint<'a> {
    pub plan: &'a StreamPlan,
    pub topology: &'a Topology,
    pub restore: Option<&'a JobCheckpoint>,
    pub idle_timeout: Option<Duration>,
    pub seed: u64,
    pub create: &'a Arc<OperatorFactory>,
    pub memory: Option<&'a Arc<MemoryBudget>>,
    pub shared: Arc<Shared>,
}

/// The ends of the channels, by who holds them.
#[derive(Default)]
struct Wiring {
    /// By node, instance, and number of the reader in the node's list.
    routers: BTreeMap<(NodeId, usize, usize), Router>,
    /// By head node and instance.
    incoming: BTreeMap<(NodeId, usize), Vec<Incoming>>,
}

/// What the readers of a job's sources share.
#[derive(Default)]
struct Readers {
    /// By the name of the group.
    groups: BTreeMap<String, Arc<SourceGroup>>,
    /// By node: the sources that results wait for, and their place in the watch.
    watched: BTreeMap<NodeId, (Arc<WaitingWatch>, usize)>,
}

impl Blueprint<'_> {
    /// Opens everything and puts it together. Nothing runs yet.
    ///
    /// # Errors
    /// What operators, readers and writers refuse.
    pub(crate) fn assemble(&self) -> Result<Assembly> {
        let mut wiring = self.wire();
        let mut assembly = Assembly { tasks: Vec::new(), sources: BTreeMap::new(), nodes: self.counted_nodes() };
        let mut readers = self.readers(&assembly.nodes);
        for fragment in &self.topology.fragments {
            let head = fragment.nodes[0];
            for index in 0..fragment.parallelism {
                let instance = Instance { index, parallelism: fragment.parallelism };
                let id = assembly.tasks.len();
                let chain = self.chain(&fragment.nodes, instance, &mut wiring, &assembly.nodes)?;
                let node = &self.plan.nodes[head];
                assembly.tasks.push(match &node.kind {
                    NodeKind::Scan(_) | NodeKind::Values(_) => {
                        let (sender, control) = mpsc::channel(COMMANDS_MAX);
                        assembly.sources.insert(id, sender);
                        Task::Source(Box::new(self.source_task(id, head, instance, chain, control, &mut readers)?))
                    }
                    _ => {
                        let inbox = Inbox::new(wiring.incoming.remove(&(head, index)).unwrap_or_default());
                        let mut alignment = Alignment::new(inbox.len(), chain.head().watermark_ms);
                        if node.kind.waits_for_snapshot() {
                            let right = (0..inbox.len()).filter(|&channel| inbox.input(channel) == 1);
                            right.for_each(|channel| alignment.ignore_time(channel));
                        }
                        Task::Channels(Box::new(ChannelTask {
                            id,
                            inbox,
                            alignment,
                            aligning_since: None,
                            chain,
                            shared: self.shared.clone(),
                        }))
                    }
                });
            }
        }
        self.open_all(&mut assembly)?;
        Ok(assembly)
    }

    /// Opens all operators; several at once if they take over state.
    fn open_all(&self, assembly: &mut Assembly) -> Result<()> {
        let mut chains: Vec<&mut Chain> = assembly.tasks.iter_mut().map(Task::chain_mut).collect();
        let Some(restore) = self.restore else {
            return chains.into_iter().try_for_each(|chain| chain.open(|_, _| Vec::new()));
        };
        let parallelism = |key: &str| {
            let placement = self.topology.nodes.iter().find(|placement| &*placement.key == key);
            placement.map_or(1, |placement| placement.parallelism)
        };
        let parallelism: BTreeMap<&str, usize> =
            restore.operators.keys().map(|key| (key.as_str(), parallelism(key))).collect();
        let restored = |key: &str, index: usize| -> Vec<PartSnapshot> {
            let own = groups_of_instance(index, parallelism.get(key).copied().unwrap_or(1));
            let parts = restore.operators.get(key).into_iter().flatten().flatten();
            parts.map(|part| part.for_groups(&own)).collect()
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(chains.len()).max(1);
        let share = chains.len().div_ceil(threads).max(1);
        let shares = chains.chunks_mut(share);
        std::thread::scope(|scope| {
            let open = |share: &mut [&mut Chain]| share.iter_mut().try_for_each(|chain| chain.open(restored));
            let threads: Vec<_> = shares.map(|share| scope.spawn(move || open(share))).collect();
            let panicked = |_| Err(Error::internal("an operator panicked while it took over its state"));
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(panicked))
        })
    }

    fn counted_nodes(&self) -> Vec<CountedNode> {
        let placed = self.plan.nodes.iter().zip(&self.topology.nodes);
        placed
            .map(|(node, placement)| CountedNode {
                operator_id: placement.key.to_string(),
                name: node_name(node),
                role: role(node),
                before: self
                    .restore
                    .and_then(|restore| restore.counts.get(&*placement.key).copied())
                    .unwrap_or_default(),
                instances: (0..placement.parallelism).map(|_| Arc::default()).collect(),
            })
            .collect()
    }

    /// Makes the channels of every edge between fragments.
    fn wire(&self) -> Wiring {
        let mut wiring = Wiring::default();
        for (id, placement) in self.topology.nodes.iter().enumerate() {
            for (number, &(reader, input)) in placement.readers.iter().enumerate() {
                if self.topology.nodes[reader].fragment == placement.fragment {
                    continue;
                }
                let receivers = self.topology.nodes[reader].parallelism;
                let distribution = &self.plan.nodes[reader].inputs[input].distribution;
                for instance in 0..placement.parallelism {
                    let (targets, keys) = match distribution {
                        Distribution::Hash(keys) => ((0..receivers).collect(), keys.clone()),
                        Distribution::Forward => (vec![instance % receivers], Vec::new()),
                        Distribution::Single => (vec![0], Vec::new()),
                    };
                    let mut senders = Vec::new();
                    for target in targets {
                        let (sender, receiver) = channel();
                        senders.push(sender);
                        let incoming = wiring.incoming.entry((reader, target)).or_default();
                        incoming.push(Incoming { input, receiver });
                    }
                    let router = Router::new(senders, keys, self.shared.quiescence.clone());
                    wiring.routers.insert((id, instance, number), router);
                }
            }
        }
        wiring
    }

    fn chain(
        &self,
        nodes: &[NodeId],
        instance: Instance,
        wiring: &mut Wiring,
        counted: &[CountedNode],
    ) -> Result<Chain> {
        let mut chained = Vec::new();
        let mut routers = Vec::new();
        for &id in nodes {
            let placement = &self.topology.nodes[id];
            let targets = placement.readers.iter().enumerate().map(|(number, &(reader, _))| {
                match wiring.routers.remove(&(id, instance.index, number)) {
                    Some(router) => {
                        routers.push(router);
                        Target::Router(routers.len() - 1)
                    }
                    None if self.reads_late(reader) => Target::Late(self.topology.nodes[reader].position),
                    None => Target::Node(self.topology.nodes[reader].position),
                }
            });
            let targets = targets.collect();
            let restored = self.restore;
            let watermark_ms = restored
                .and_then(|checkpoint| checkpoint.watermark_ms(&placement.key, instance.index, instance.parallelism));
            let counters: Arc<Counters> = counted[id].instances[instance.index].clone();
            if let Some(watermark_ms) = watermark_ms {
                counters.set_watermark(watermark_ms);
            }
            chained.push(ChainNode {
                key: placement.key.clone(),
                instance: instance.index,
                body: self.body(id, instance)?,
                targets,
                counters,
                watermark_ms,
                given_ms: None,
                share: self.fixed_share(id),
            });
        }
        Ok(Chain::new(chained, routers, self.shared.clone()))
    }

    fn body(&self, id: NodeId, instance: Instance) -> Result<Body> {
        let node = &self.plan.nodes[id];
        let key = &*self.topology.nodes[id].key;
        let inputs: Vec<&Output> = node.inputs.iter().map(|edge| &self.plan.nodes[edge.node].output).collect();
        Ok(match &node.kind {
            NodeKind::Scan(_) | NodeKind::Values(_) => Body::Source,
            NodeKind::Union | NodeKind::LateRows(_) => Body::Union,
            NodeKind::LookupJoin(lookup) => {
                let [input] = inputs.as_slice() else {
                    return Err(Error::internal(format!("a lookup with {} inputs", inputs.len())));
                };
                let reader = lookup.provider.reader(instance)?;
                Body::Lookup(Box::new(LookupBody::new(lookup, input, &node.output, reader)?))
            }
            NodeKind::Sink(sink) => {
                let [input] = inputs.as_slice() else {
                    return Err(Error::internal(format!("sink {} has {} inputs", sink.table, inputs.len())));
                };
                let restored = self.restore.and_then(|checkpoint| checkpoint.sinks.get(key));
                let writers = restored.map_or(&[][..], |sink| &sink.writers);
                Body::Sink(SinkBody::new(sink, &input.row, sink.provider.writer(instance, writers)?))
            }
            _ => {
                let mut operator = self.operator(node, &inputs, instance)?;
                let has_late_reader =
                    self.topology.nodes[id].readers.iter().any(|&(reader, _)| self.reads_late(reader));
                if has_late_reader && !operator.keep_late() {
                    return Err(Error::internal(format!("{} hands out no late rows", node.operator_id)));
                }
                Body::Operator(operator)
            }
        })
    }

    /// An operator; one with a memory budget puts state away if that is spread by key.
    fn operator(&self, node: &Node, inputs: &[&Output], instance: Instance) -> Result<Box<dyn Operator>> {
        if let Some(budget) = self.memory
            && let Some(maker) = Maker::new(node, inputs, &self.plan.config, self.create)
        {
            return Ok(Box::new(PartedOperator::new(maker, instance, budget)?));
        }
        (self.create)(node, inputs, instance, &self.plan.config)
    }

    /// The share of an operator that cannot put state away.
    fn fixed_share(&self, id: NodeId) -> Option<Share> {
        let node = &self.plan.nodes[id];
        self.memory.filter(|_| !is_spread_by_key(node)).map(|budget| Share::fixed(budget, node_name(node)))
    }

    fn reads_late(&self, reader: NodeId) -> bool {
        matches!(self.plan.nodes[reader].kind, NodeKind::LateRows(_))
    }

    /// What the readers share. Watched are the sources that may be silent and whose watermark results wait for.
    fn readers(&self, counted: &[CountedNode]) -> Readers {
        let mut readers = Readers::default();
        let Some(period) = self.plan.config.explain_waiting_after else { return readers };
        let is_watched = |node: &Node| match &node.kind {
            NodeKind::Scan(scan) => !scan.bounded && scan.watermark.is_some(),
            _ => false,
        };
        let mut sources = Vec::new();
        let mut places = BTreeMap::new();
        // The watched sources before every node; inputs come before their readers.
        let mut before: Vec<BTreeSet<usize>> = Vec::new();
        let mut followers = Vec::new();
        for (id, node) in self.plan.nodes.iter().enumerate() {
            let mut own: BTreeSet<usize> = node.inputs.iter().flat_map(|edge| before[edge.node].clone()).collect();
            if let NodeKind::Scan(scan) = &node.kind
                && is_watched(node)
            {
                places.insert(id, sources.len());
                own.insert(sources.len());
                sources.push(WatchedSource { table: scan.table.clone(), readers: self.topology.nodes[id].parallelism });
            }
            if node.kind.waits_for_watermark() && !own.is_empty() {
                followers.push(Follower {
                    name: counted[id].name.clone(),
                    counters: counted[id].instances.clone(),
                    sources: own.iter().copied().collect(),
                });
            }
            before.push(own);
        }
        let waited: BTreeSet<usize> = followers.iter().flat_map(|follower| follower.sources.clone()).collect();
        let watch = Arc::new(WaitingWatch::new(period, sources, followers));
        places.retain(|_, place| waited.contains(place));
        readers.watched = places.into_iter().map(|(id, place)| (id, (watch.clone(), place))).collect();
        readers
    }

    /// How long a split of the source may be silent. A bounded split never is: its reader only reads another one first.
    fn idle_timeout(&self, scan: &Scan) -> Option<Duration> {
        let timeout = scan.idle_timeout.or(self.idle_timeout).filter(|timeout| !timeout.is_zero());
        timeout.filter(|_| !scan.bounded && scan.watermark.is_some())
    }

    fn source_task(
        &self,
        id: TaskId,
        head: NodeId,
        instance: Instance,
        chain: Chain,
        control: mpsc::Receiver<Control>,
        readers: &mut Readers,
    ) -> Result<SourceTask> {
        let node = &self.plan.nodes[head];
        let restored = self.restore.and_then(|checkpoint| checkpoint.sources.get(&*self.topology.nodes[head].key));
        let splits = restored.map_or(&[][..], |source| &source.splits);
        let watermarks = restored.map(|source| source.watermarks.clone()).unwrap_or_default();
        let shared = self.shared.clone();
        let busy = Some(shared.quiescence.enter());
        let parts = match &node.kind {
            NodeKind::Scan(scan) => self.scan_parts(node, scan, instance)?,
            _ => ScanParts {
                table: node_name(node),
                projection: None,
                row_time: None,
                idle_timeout: None,
                alignment: None,
            },
        };
        let mut reader = match &node.kind {
            NodeKind::Scan(scan) => scan.provider.reader(instance, splits)?,
            NodeKind::Values(values) => Box::new(ValuesReader::new(values.rows.clone(), splits)?),
            _ => return Err(Error::internal(format!("node {} is not a source", node.operator_id))),
        };
        let own_splits = reader.snapshot()?.into_iter().map(|state| state.split);
        let sent_ms = resume_ms(chain.head().watermark_ms, &watermarks, own_splits);
        Ok(SourceTask {
            id,
            table: parts.table.clone(),
            reader,
            projection: parts.projection,
            row_time: parts.row_time,
            dropped: Dropped::default(),
            watermarks: SplitWatermarks::new(
                self.cut_rule(node.output.changelog),
                parts.idle_timeout,
                watermarks,
                sent_ms,
            ),
            member: parts
                .alignment
                .map(|one| readers.groups.entry(one.group).or_default().join(&parts.table, one.max_drift)),
            watched: readers.watched.get(&head).map(|(watch, source)| Watched {
                watch: watch.clone(),
                source: *source,
                reader: instance.index,
                due: Instant::now(),
            }),
            catching_up: self.plan.nodes.iter().any(|node| node.kind.waits_for_snapshot()).then(CatchingUp::default),
            chain,
            control,
            input: InputWaker::new(shared.quiescence.clone()),
            shared,
            busy,
        })
    }

    fn scan_parts(&self, node: &Node, scan: &Scan, instance: Instance) -> Result<ScanParts> {
        let id = Arc::new(StringArray::from(vec![node.operator_id.as_str()]));
        let salt = hash_columns(&[id], 1)?[0].wrapping_add(instance.index as u64) ^ self.seed;
        let projection =
            scan.projection.as_ref().map(|calc| CalcEvaluator::new(calc, &scan.read, &node.output.row, salt));
        let row_time = scan.watermark.clone().map(|strategy| RowTime {
            column: node.output.row.fields()[strategy.column].name.clone(),
            strategy,
            has_bare_deletes: node.output.changelog.is_upsert(),
            drops_nulls: self.plan.config.drops_null_rowtime,
        });
        Ok(ScanParts {
            table: scan.table.clone(),
            projection,
            row_time,
            idle_timeout: self.idle_timeout(scan),
            alignment: scan.alignment.clone(),
        })
    }

    /// How finely this job can see where a watermark stands between rows.
    fn cut_rule(&self, changelog: ChangelogMode) -> CutRule {
        let nodes = || self.plan.nodes.iter().map(|node| &node.kind);
        let reads_watermark =
            nodes().any(|kind| matches!(kind, NodeKind::Calc(calc) if calc.hidden.contains(&HiddenColumn::Watermark)));
        // A change of a key takes back an old row, which may be far behind the time of the new one.
        if self.shared.rows_max == 1 || reads_watermark || changelog.is_upsert() {
            return CutRule::EveryAdvance;
        }
        let has_sessions = nodes().any(|kind| {
            let window = match kind {
                NodeKind::WindowTable(table) => &table.window,
                NodeKind::WindowAggregate(aggregate) => &aggregate.window,
                _ => return false,
            };
            matches!(window.kind, WindowKind::Session { .. })
        });
        if has_sessions { CutRule::LateOrAdjacent } else { CutRule::Late }
    }
}

struct ScanParts {
    table: String,
    projection: Option<CalcEvaluator>,
    row_time: Option<RowTime>,
    idle_timeout: Option<Duration>,
    alignment: Option<base::watermark_options::Alignment>,
}

/// What people call a node.
pub(crate) fn node_name(node: &Node) -> String {
    match &node.kind {
        NodeKind::Scan(scan) => format!("source {}", scan.table),
        NodeKind::Sink(sink) => format!("sink {}", sink.table),
        kind => kind.name().into(),
    }
}

fn role(node: &Node) -> NodeRole {
    match &node.kind {
        NodeKind::Scan(_) | NodeKind::Values(_) => NodeRole::Source,
        NodeKind::Sink(_) => NodeRole::Sink,
        _ => NodeRole::Operator,
    }
}
