//! Starting a job, and the handle to a running one.

use crate::assembly::Blueprint;
use crate::checkpoint::JobCheckpoint;
use crate::coordinator::{Coordinator, NamedSink, REQUESTS_MAX, Waiter, commit, ended, panicked};
use crate::counters::CountedNode;
use crate::fragment::{keys, lower};
use crate::metrics::{JobMetrics, JobState};
use crate::operator::Operator;
use crate::operators;
use crate::shared::Shared;
use base::clock::{Clock, SystemClock};
use base::config::JobConfig;
use base::connector::Instance;
use base::plan::{Node, NodeKind, Output, StreamPlan};
use base::{Error, Result, Warnings};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// How a job runs.
#[derive(Debug, Clone)]
pub struct RuntimeOptions {
    /// Instances of every operator that can have several.
    pub parallelism: usize,
    /// The most rows that an operator gets at once; 1 gives Flink's record-by-record changelog.
    pub batch_rows: usize,
    /// Where processing time comes from.
    pub clock: Arc<dyn Clock>,
    /// Time between checkpoints; `None`: only on request and at the end.
    pub checkpoint_interval: Option<Duration>,
    /// How long a source split may be silent before it stops holding back the watermark.
    pub idle_timeout: Option<Duration>,
    /// The checkpoint to go on from.
    pub restore: Option<JobCheckpoint>,
    /// Seed of random numbers.
    pub seed: u64,
    /// Takes warnings while the job starts and runs.
    pub warnings: Warnings,
}

impl RuntimeOptions {
    /// The options that the session's configuration asks for, on the machine's clock.
    pub fn from_config(config: &JobConfig) -> RuntimeOptions {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let clock = SystemClock;
        RuntimeOptions {
            parallelism: config.parallelism.unwrap_or_else(cores),
            batch_rows: config.batch_rows,
            seed: clock.now_ms() as u64,
            clock: Arc::new(clock),
            checkpoint_interval: config.checkpoint_interval,
            idle_timeout: config.idle_timeout,
            restore: None,
            warnings: Warnings::default(),
        }
    }
}

/// How a job is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopMode {
    /// A final checkpoint and commit; windows do not fire, so that the job can go on later.
    Plain,
    /// As if the input had ended: everything fires, then a final checkpoint and commit.
    Drain,
}

/// Makes the operator of a plan node.
pub type OperatorFactory = dyn Fn(&Node, &[&Output], Instance, &JobConfig) -> Result<Box<dyn Operator>> + Send + Sync;

/// Starts a job. Sources and sinks are opened first, so start-up errors come from here.
///
/// # Errors
/// Whatever keeps the job from starting; nothing runs then.
pub async fn start(plan: StreamPlan, options: RuntimeOptions) -> Result<JobHandle> {
    start_with(plan, options, &operators::create).await
}

/// Starts a job whose operators come from `create`.
///
/// # Errors
/// As [`start`].
pub async fn start_with(plan: StreamPlan, options: RuntimeOptions, create: &OperatorFactory) -> Result<JobHandle> {
    let begun = Instant::now();
    open(&plan, &options).await?;
    // After the sources have started: only now the number of splits is known.
    let topology = lower(&plan, options.parallelism)?;
    let placed = || plan.nodes.iter().zip(&topology.nodes);
    let sinks = placed().filter_map(|(node, placement)| match &node.kind {
        NodeKind::Sink(sink) => Some(NamedSink { key: placement.key.clone(), provider: sink.provider.clone() }),
        _ => None,
    });
    let sinks: Vec<NamedSink> = sinks.collect();
    if let Some(restore) = &options.restore {
        commit(&sinks, restore).await?;
    }
    let digests: BTreeMap<String, String> =
        placed().map(|(node, placement)| (placement.key.to_string(), node.digest.clone())).collect();
    let restored_epoch = options.restore.as_ref().map(|restore| restore.epoch);
    let shared = Arc::new(Shared::new(options.clock, options.batch_rows.max(1), restored_epoch, options.warnings));
    let blueprint = Blueprint {
        plan: &plan,
        topology: &topology,
        restore: options.restore.as_ref(),
        idle_timeout: options.idle_timeout,
        seed: options.seed,
        create,
        shared: shared.clone(),
    };
    let assembly = blueprint.assemble()?;
    let (requests, receiver) = mpsc::channel(REQUESTS_MAX);
    let board = Arc::new(Board::new(begun, assembly.nodes.clone()));
    tracing::info!("job started with {} tasks", assembly.tasks.len());
    let interval = options.checkpoint_interval;
    let coordinator = Coordinator::start(assembly, shared.clone(), board.clone(), sinks, digests, receiver, interval);
    tokio::spawn(supervise(coordinator, board.clone()));
    Ok(JobHandle { board, shared, requests })
}

/// Opens sources and sinks.
async fn open(plan: &StreamPlan, options: &RuntimeOptions) -> Result<()> {
    for (node, key) in plan.nodes.iter().zip(keys(plan)) {
        let warnings = match &node.kind {
            NodeKind::Scan(scan) => {
                let restored = options.restore.as_ref().and_then(|restore| restore.sources.get(&*key));
                scan.provider.start(restored.map_or(&[], |source| source.splits.as_slice())).await?
            }
            NodeKind::Sink(sink) => sink.provider.start().await?,
            _ => continue,
        };
        warnings.into_iter().for_each(|warning| options.warnings.send(warning));
    }
    Ok(())
}

/// Runs the coordinator. A connector that panics in a commit must not leave anybody waiting for the end.
async fn supervise(coordinator: Coordinator, board: Arc<Board>) {
    if let Err(error) = tokio::spawn(coordinator.run()).await {
        board.finish(Err(panicked(error)));
    }
}

/// What the coordinator shows to handles, and what handles tell it.
#[derive(Debug)]
pub(crate) struct Board {
    begun: Instant,
    nodes: Vec<CountedNode>,
    progress: Mutex<Progress>,
    outcome: watch::Sender<Option<Result<()>>>,
    pub stop: watch::Sender<Option<StopMode>>,
    pub cancel: watch::Sender<bool>,
}

#[derive(Debug)]
struct Progress {
    state: JobState,
    checkpoints: u64,
    last_checkpoint_ms: Option<u64>,
    last_checkpoint: Option<JobCheckpoint>,
    ended: Option<Instant>,
}

impl Board {
    fn new(begun: Instant, nodes: Vec<CountedNode>) -> Board {
        let progress = Progress {
            state: JobState::Running,
            checkpoints: 0,
            last_checkpoint_ms: None,
            last_checkpoint: None,
            ended: None,
        };
        Board {
            begun,
            nodes,
            progress: Mutex::new(progress),
            outcome: watch::Sender::new(None),
            stop: watch::Sender::new(None),
            cancel: watch::Sender::new(false),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn checkpoint_done(&self, checkpoint: JobCheckpoint, duration: Duration) {
        let mut progress = self.progress();
        progress.checkpoints += 1;
        progress.last_checkpoint_ms = Some(duration.as_millis() as u64);
        progress.last_checkpoint = Some(checkpoint);
    }

    pub(crate) fn last_checkpoint(&self) -> Option<JobCheckpoint> {
        self.progress().last_checkpoint.clone()
    }

    pub(crate) fn finish(&self, result: Result<JobState>) {
        let mut progress = self.progress();
        progress.ended = Some(Instant::now());
        progress.state = *result.as_ref().unwrap_or(&JobState::Failed);
        drop(progress);
        self.outcome.send_replace(Some(result.map(|_| ())));
    }

    fn ask_to_stop(&self) {
        let mut progress = self.progress();
        if progress.state == JobState::Running {
            progress.state = JobState::Stopping;
        }
    }
}

/// A handle to a job; clones are handles to the same job. The job goes on when all are dropped.
#[derive(Debug, Clone)]
pub struct JobHandle {
    board: Arc<Board>,
    shared: Arc<Shared>,
    requests: mpsc::Sender<Waiter>,
}

impl JobHandle {
    /// The counts at this moment.
    pub fn metrics(&self) -> JobMetrics {
        let progress = self.board.progress();
        let end = progress.ended.unwrap_or_else(Instant::now);
        JobMetrics {
            state: progress.state,
            uptime_ms: end.duration_since(self.board.begun).as_millis() as u64,
            checkpoints: progress.checkpoints,
            last_checkpoint_ms: progress.last_checkpoint_ms,
            nodes: self.board.nodes.iter().map(CountedNode::metrics).collect(),
        }
    }

    /// Asks the job to stop; [`JobHandle::wait`] says when it has. The first request decides the mode.
    pub fn stop(&self, mode: StopMode) {
        self.board.ask_to_stop();
        self.board.stop.send_if_modified(|asked| {
            let is_first = asked.is_none();
            asked.get_or_insert(mode);
            is_first
        });
    }

    /// Ends the job at once: no checkpoint, writers give up what is not committed.
    pub fn cancel(&self) {
        self.board.ask_to_stop();
        self.board.cancel.send_replace(true);
    }

    /// Takes a checkpoint: a barrier passes through the whole job and sinks commit. When the input has already ended,
    /// this is the final checkpoint.
    ///
    /// # Errors
    /// The error that failed the job meanwhile, or that the job had ended before.
    pub async fn checkpoint(&self) -> Result<JobCheckpoint> {
        let (waiter, answer) = oneshot::channel();
        let too_late = || ended("take a checkpoint", self.board.progress().state);
        self.requests.send(waiter).await.map_err(|_| too_late())?;
        answer.await.map_err(|_| too_late())?
    }

    /// The last complete checkpoint.
    pub fn last_checkpoint(&self) -> Option<JobCheckpoint> {
        self.board.last_checkpoint()
    }

    /// Resolves when nothing is in flight: every channel is empty, no task works, no sink call runs, and all sources
    /// wait for input or have ended.
    ///
    /// An input counts from the moment it wakes its reader: whoever feeds a waiting reader may ask right afterwards.
    pub async fn quiesce(&self) {
        self.shared.quiescence.wait().await;
    }

    /// Waits for the end of the job.
    ///
    /// # Errors
    /// The error that failed it.
    pub async fn wait(&self) -> Result<JobMetrics> {
        let mut outcome = self.board.outcome.subscribe();
        let result = match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        result.unwrap_or_else(|| Err(Error::internal("the coordinator of the job is gone")))?;
        Ok(self.metrics())
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
