//! A chain: the operators that one task drives, called directly, and the way of their output.
//!
//! What is to be done stands on a stack, the next thing on top: an event that an operator gives is carried to the end
//! of the chain before the operator is asked for more. So the output of a watermark that fires a million windows
//! passes in bounded pieces, and waits where a channel is full.

use crate::alignment::WATERMARK_NONE;
use crate::checkpoint::{NodeSnapshot, NodeState, SourceCheckpoint, TaskSnapshot};
use crate::counters::Counters;
use crate::exchange::Router;
use crate::lookup::LookupBody;
use crate::operator::{Operator, OperatorContext};
use crate::parted::Share;
use crate::shared::{Remains, Shared};
use crate::sink::SinkBody;
use base::connector::SinkWriter;
use base::{ChangelogBatch, Epoch, Error, Event, Result};
use state::{PartSnapshot, Scope};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long a writer may take to give up.
const ABORT_TIME_MAX: Duration = Duration::from_secs(10);

/// What a node of a chain does.
pub(crate) enum Body {
    /// Gives on what comes: the source itself belongs to the task.
    Source,
    /// Gives on what comes.
    Union,
    /// Calls an operator.
    Operator(Box<dyn Operator>),
    /// Asks a table for rows.
    Lookup(Box<LookupBody>),
    /// Writes a table.
    Sink(SinkBody),
}

/// A node of a chain.
pub(crate) struct ChainNode {
    pub key: Arc<str>,
    pub instance: usize,
    pub body: Body,
    pub targets: Vec<Target>,
    pub counters: Arc<Counters>,
    pub watermark_ms: Option<i64>,
    /// The watermark given on last, of an operator that may hold it back.
    pub given_ms: Option<i64>,
    /// What an operator takes of the job's memory, if it does not say so itself.
    pub share: Option<Share>,
}

/// Where a node's output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a node of the same chain.
    Node(usize),
    /// Late rows to a node of the same chain: no other rows, but all events.
    Late(usize),
    /// Through a channel.
    Router(usize),
}

/// One thing to do.
enum Work {
    /// Give an event to a node.
    Deliver { node: usize, input: usize, event: Event },
    /// Ask an operator for its next output.
    Drain { node: usize },
    /// Give on rows of a node from `offset`, a piece at a time.
    Rows { node: usize, batch: ChangelogBatch, offset: usize },
    /// The same with rows that the node has dropped as late.
    Late { node: usize, batch: ChangelogBatch, offset: usize },
    /// Give on an event of a node that is not rows.
    Forward { node: usize, event: Event },
    /// Send an event through a channel.
    Send { router: usize, event: Event },
    /// Take the snapshot of a node and give on the barrier.
    Barrier { node: usize, epoch: Epoch },
    /// Tell an operator that processing time has advanced.
    ProcessingTime { node: usize },
    /// Give on a watermark that rows have held back.
    Release { node: usize },
}

/// The nodes of one task.
pub(crate) struct Chain {
    /// The head first; inputs before readers.
    nodes: Vec<ChainNode>,
    routers: Vec<Router>,
    shared: Arc<Shared>,
    work: Vec<Work>,
    /// What the nodes gave at the barrier that is passing.
    snapshot: TaskSnapshot,
}

impl Chain {
    pub(crate) fn new(nodes: Vec<ChainNode>, routers: Vec<Router>, shared: Arc<Shared>) -> Chain {
        Chain { nodes, routers, shared, work: Vec::new(), snapshot: TaskSnapshot::default() }
    }

    /// The head.
    pub(crate) fn head(&self) -> &ChainNode {
        &self.nodes[0]
    }

    /// Opens the operators; `restored` gives what each takes over, by the node's key and the instance.
    pub(crate) fn open(&mut self, restored: impl Fn(&str, usize) -> Vec<PartSnapshot>) -> Result<()> {
        for node in &mut self.nodes {
            if let Body::Operator(operator) = &mut node.body {
                operator.open_parts(&restored(&node.key, node.instance))?;
            }
        }
        Ok(())
    }

    /// Whether an operator may wait for processing time.
    pub(crate) fn has_operators(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node.body, Body::Operator(_)))
    }

    /// Gives an event to the head and does everything that follows.
    pub(crate) async fn process(&mut self, input: usize, event: Event) -> Result<()> {
        self.work.push(Work::Deliver { node: 0, input, event });
        self.run().await
    }

    /// A barrier passes; `source` is the state of the source if the head is one. Returns the snapshots of the nodes.
    pub(crate) async fn barrier(&mut self, epoch: Epoch, source: Option<SourceCheckpoint>) -> Result<TaskSnapshot> {
        self.snapshot = TaskSnapshot::default();
        if let Some(source) = source {
            self.push_snapshot(0, NodeState::Source(source));
        }
        self.process(0, Event::Barrier(epoch)).await?;
        Ok(std::mem::take(&mut self.snapshot))
    }

    /// The last snapshots, after the end of the input; they belong to `epoch`.
    pub(crate) async fn last_snapshot(
        &mut self,
        epoch: Epoch,
        source: Option<SourceCheckpoint>,
    ) -> Result<TaskSnapshot> {
        self.snapshot = TaskSnapshot::default();
        if let Some(source) = source {
            self.push_snapshot(0, NodeState::Source(source));
        }
        for node in 0..self.nodes.len() {
            self.take_snapshot(node, epoch, Scope::Full).await?;
        }
        Ok(std::mem::take(&mut self.snapshot))
    }

    /// An input of the head has caught up; all of them have, if `is_all`.
    pub(crate) async fn caught_up(&mut self, input: usize, is_all: bool) -> Result<()> {
        if is_all {
            self.work.push(Work::Forward { node: 0, event: Event::CaughtUp });
        }
        self.tell_caught_up(0, input)?;
        self.run().await
    }

    /// What a node has held back follows, and then the event time that it has held back with it.
    fn tell_caught_up(&mut self, node: usize, input: usize) -> Result<()> {
        self.work.push(Work::Release { node });
        self.settle(node)?;
        let context = self.context(node);
        if let Body::Operator(operator) = &mut self.nodes[node].body {
            operator.on_caught_up(input, &context)?;
            self.work.push(Work::Drain { node });
        }
        Ok(())
    }

    /// Processing time has advanced.
    pub(crate) async fn processing_time(&mut self) -> Result<()> {
        // The head on top: what it gives passes before the next one is told.
        self.work.extend((0..self.nodes.len()).rev().map(|node| Work::ProcessingTime { node }));
        self.run().await
    }

    /// Sends what sinks have buffered, where it is due.
    pub(crate) async fn flush(&mut self, now: Instant, is_quiet: bool) -> Result<()> {
        for node in &mut self.nodes {
            if let Body::Sink(sink) = &mut node.body {
                sink.flush(now, is_quiet).await?;
            }
        }
        Ok(())
    }

    /// When the next sink that gathers rows wants to send them.
    pub(crate) fn flush_due(&self) -> Option<Instant> {
        let sinks = self.nodes.iter().filter_map(|node| match &node.body {
            Body::Sink(sink) => sink.flush_due(),
            _ => None,
        });
        sinks.min()
    }

    /// Publishes the counts that operators keep.
    pub(crate) fn refresh_counters(&mut self) {
        for node in &mut self.nodes {
            if let Body::Operator(operator) = &node.body {
                let statistics = operator.statistics();
                if let Some(share) = &mut node.share {
                    share.set(statistics.state_bytes);
                }
                node.counters.set_operator(statistics);
            }
        }
    }

    /// The writers, when the task has ended.
    pub(crate) fn into_remains(self) -> Remains {
        let writers = self.nodes.into_iter().filter_map(|node| match node.body {
            Body::Sink(sink) => Some(sink.into_writer()),
            _ => None,
        });
        Remains { reader: None, writers: writers.collect() }
    }

    async fn run(&mut self) -> Result<()> {
        while let Some(work) = self.work.pop() {
            match work {
                Work::Deliver { node, input, event: Event::Data(batch) } => self.rows(node, input, batch).await?,
                Work::Deliver { node, event, .. } => self.deliver(node, event).await?,
                Work::Drain { node } => self.drain(node)?,
                Work::Rows { node, batch, offset } => self.give_rows(node, batch, offset),
                Work::Late { node, batch, offset } => self.give_late(node, batch, offset),
                Work::Forward { node, event } => self.give(node, &event),
                Work::Send { router, event } => self.routers[router].send(event).await?,
                Work::Barrier { node, epoch } => {
                    self.take_snapshot(node, epoch, self.shared.scope(epoch)).await?;
                    self.work.push(Work::Forward { node, event: Event::Barrier(epoch) });
                }
                Work::ProcessingTime { node } => {
                    let context = self.context(node);
                    if let Body::Operator(operator) = &mut self.nodes[node].body {
                        operator.on_processing_time(&context)?;
                        self.work.push(Work::Release { node });
                        self.work.push(Work::Drain { node });
                    }
                }
                Work::Release { node } => self.release(node),
            }
            // A long chain of work lets the other tasks of its thread run.
            tokio::task::consume_budget().await;
        }
        Ok(())
    }

    fn context(&self, node: usize) -> OperatorContext {
        OperatorContext {
            watermark_ms: self.nodes[node].watermark_ms,
            processing_time_ms: self.shared.clock.now_ms(),
            rows_max: self.shared.rows_max,
        }
    }

    async fn rows(&mut self, node: usize, input: usize, batch: ChangelogBatch) -> Result<()> {
        let context = self.context(node);
        let state = &mut self.nodes[node];
        if !matches!(state.body, Body::Source) {
            state.counters.add_rows_in(batch.num_rows());
        }
        match &mut state.body {
            Body::Source | Body::Union => self.work.push(Work::Rows { node, batch, offset: 0 }),
            Body::Operator(operator) => {
                operator.on_batch(input, batch, &context)?;
                self.work.push(Work::Drain { node });
            }
            Body::Lookup(lookup) => {
                if let Some(batch) = lookup.join(&batch, context.processing_time_ms).await? {
                    self.work.push(Work::Rows { node, batch, offset: 0 });
                }
            }
            Body::Sink(sink) => {
                sink.write(batch, &state.counters).await?;
                if sink.wants_checkpoint() {
                    self.shared.checkpoint_wanted.notify_one();
                }
            }
        }
        Ok(())
    }

    async fn deliver(&mut self, node: usize, event: Event) -> Result<()> {
        match event {
            Event::Data(_) => return Err(Error::internal("rows are delivered by themselves")),
            Event::Watermark(watermark_ms) => {
                let advances = watermark_ms != WATERMARK_NONE && self.nodes[node].watermark_ms < Some(watermark_ms);
                let state = &mut self.nodes[node];
                let forwarded = match &state.body {
                    Body::Operator(operator) if watermark_ms != WATERMARK_NONE => {
                        let forwarded = operator.output_watermark(watermark_ms);
                        state.given_ms = Some(forwarded);
                        forwarded
                    }
                    _ => watermark_ms,
                };
                self.work.push(Work::Forward { node, event: Event::Watermark(forwarded) });
                if advances {
                    self.advance(node, watermark_ms)?;
                }
            }
            Event::Barrier(epoch) => {
                self.work.push(Work::Barrier { node, epoch });
                self.settle(node)?;
            }
            Event::CaughtUp => {
                self.work.push(Work::Forward { node, event });
                self.tell_caught_up(node, 0)?;
            }
            Event::Idle => {
                self.work.push(Work::Forward { node, event });
                self.work.push(Work::Release { node });
                self.settle(node)?;
            }
            Event::End => {
                let context = self.context(node);
                self.work.push(Work::Forward { node, event });
                if let Body::Operator(operator) = &mut self.nodes[node].body {
                    operator.on_end(&context)?;
                    self.work.push(Work::Drain { node });
                }
            }
        }
        Ok(())
    }

    fn advance(&mut self, node: usize, watermark_ms: i64) -> Result<()> {
        let context = self.context(node);
        let state = &mut self.nodes[node];
        match &mut state.body {
            Body::Source | Body::Union | Body::Lookup(_) => {}
            Body::Operator(operator) => {
                operator.on_watermark(watermark_ms, &context)?;
                self.work.push(Work::Drain { node });
            }
            Body::Sink(sink) => sink.watermark(watermark_ms),
        }
        state.watermark_ms = Some(watermark_ms);
        state.counters.set_watermark(watermark_ms);
        Ok(())
    }

    /// Nothing may wait inside an operator now.
    fn settle(&mut self, node: usize) -> Result<()> {
        let context = self.context(node);
        if let Body::Operator(operator) = &mut self.nodes[node].body
            && operator.settle(&context)?
        {
            self.work.push(Work::Drain { node });
        }
        Ok(())
    }

    /// Gives on the watermark as far as rows that were worked off have held it back.
    fn release(&mut self, node: usize) {
        let state = &mut self.nodes[node];
        let (Body::Operator(operator), Some(watermark_ms), Some(given_ms)) =
            (&state.body, state.watermark_ms, state.given_ms)
        else {
            return;
        };
        let forwarded = operator.output_watermark(watermark_ms);
        if forwarded > given_ms {
            state.given_ms = Some(forwarded);
            self.work.push(Work::Forward { node, event: Event::Watermark(forwarded) });
        }
    }

    fn drain(&mut self, node: usize) -> Result<()> {
        let context = self.context(node);
        let Body::Operator(operator) = &mut self.nodes[node].body else {
            return Err(Error::internal("only operators are drained"));
        };
        if let Some(batch) = operator.next_output(&context)? {
            self.work.push(Work::Drain { node });
            self.work.push(Work::Rows { node, batch, offset: 0 });
        } else {
            let late = operator.take_late().into_iter().rev();
            self.work.extend(late.map(|batch| Work::Late { node, batch, offset: 0 }));
        }
        Ok(())
    }

    /// Gives on the next piece of some rows; the rest stays on the stack beneath it.
    fn give_rows(&mut self, node: usize, batch: ChangelogBatch, offset: usize) {
        let rows = batch.num_rows();
        if rows == 0 {
            return;
        }
        if offset == 0 {
            self.nodes[node].counters.add_rows_out(rows);
        }
        let length = self.shared.rows_max.min(rows - offset);
        if length == rows {
            self.give(node, &Event::Data(batch));
            return;
        }
        let piece = batch.slice(offset, length);
        if offset + length < rows {
            self.work.push(Work::Rows { node, batch, offset: offset + length });
        }
        self.give(node, &Event::Data(piece));
    }

    /// Gives the next piece of late rows to their readers.
    fn give_late(&mut self, node: usize, batch: ChangelogBatch, offset: usize) {
        let length = self.shared.rows_max.min(batch.num_rows() - offset);
        let piece = batch.slice(offset, length);
        if offset + length < batch.num_rows() {
            self.work.push(Work::Late { node, batch, offset: offset + length });
        }
        for target in self.nodes[node].targets.iter().rev() {
            if let Target::Late(node) = *target {
                self.work.push(Work::Deliver { node, input: 0, event: Event::Data(piece.clone()) });
            }
        }
    }

    /// Gives an event to all readers of a node, the first reader first.
    fn give(&mut self, node: usize, event: &Event) {
        let is_data = matches!(event, Event::Data(_));
        for target in self.nodes[node].targets.iter().rev() {
            let event = event.clone();
            self.work.push(match *target {
                Target::Late(_) if is_data => continue,
                Target::Node(node) | Target::Late(node) => Work::Deliver { node, input: 0, event },
                Target::Router(router) => Work::Send { router, event },
            });
        }
    }

    async fn take_snapshot(&mut self, node: usize, epoch: Epoch, scope: Scope) -> Result<()> {
        let ChainNode { body, counters, .. } = &mut self.nodes[node];
        let state = match body {
            // Its task has given the state already.
            Body::Source => return Ok(()),
            Body::Union | Body::Lookup(_) => NodeState::None,
            Body::Operator(operator) => {
                counters.set_operator(operator.statistics());
                NodeState::Operator(operator.snapshot_parts(scope)?)
            }
            Body::Sink(sink) => NodeState::Sink(sink.checkpoint(epoch).await?),
        };
        self.push_snapshot(node, state);
        Ok(())
    }

    fn push_snapshot(&mut self, node: usize, state: NodeState) {
        let ChainNode { key, instance, watermark_ms, counters, .. } = &self.nodes[node];
        self.snapshot.nodes.push(NodeSnapshot {
            key: key.clone(),
            instance: *instance,
            watermark_ms: *watermark_ms,
            counts: counters.counts(),
            state,
        });
    }
}

/// Lets writers give up, each within a bound.
pub(crate) async fn abort(writers: Vec<Box<dyn SinkWriter>>) {
    for mut writer in writers {
        if timeout(ABORT_TIME_MAX, writer.abort()).await.is_err() {
            tracing::warn!("a sink writer did not give up within {ABORT_TIME_MAX:?}");
        }
    }
}
