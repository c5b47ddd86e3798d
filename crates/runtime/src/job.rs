//! Starting a job, and the handle to a running one.

use crate::assembly::Blueprint;
use crate::assembly::{Assembly, node_name};
use crate::checkpoint::{JobCheckpoint, NodeLabels};
use crate::codes;
use crate::coordinator::{Coordinator, NamedSink, Outcome, REQUESTS_MAX, Rules, Waiter, commit, ended, panicked};
use crate::counters::CountedNode;
use crate::fragment::{keys, lower};
use crate::metrics::{CheckpointTook, JobMetrics, JobState};
use crate::operator::Operator;
use crate::operators;
use crate::parted::{MemoryBudget, MemoryOptions};
use crate::restart::Restarts;
use crate::restore::{StateShapes, restorable};
use crate::shared::{Shared, cancelled};
use crate::store::CheckpointStore;
use base::clock::{Clock, SystemClock};
use base::config::JobConfig;
use base::connector::{Instance, SinkProvider, SinkRun};
use base::plan::{Node, NodeKind, Output, StreamPlan};
use base::recovery::{CheckpointConfig, RestartStrategy};
use base::{Error, Result, Warnings, fault};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// How a job runs.
#[derive(Debug, Clone)]
pub struct RuntimeOptions {
    /// Which job of its run this is: another name for every job, the same after a restart.
    pub job: String,
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
    /// Timeout, pause and tolerated failures of checkpoints.
    pub checkpoints: CheckpointConfig,
    /// Where checkpoints are kept; `None`: only in memory.
    pub store: Option<Arc<CheckpointStore>>,
    /// Whether and when the job goes on after a failure that can pass.
    pub restart: RestartStrategy,
    /// How much memory state may take, and where the rest goes; `None`: all there is.
    pub memory: Option<MemoryOptions>,
    /// The checkpoint to go on from.
    pub restore: Option<JobCheckpoint>,
    /// Whether saved state that the plan has no use for may be lost.
    pub may_lose_state: bool,
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
            job: String::new(),
            parallelism: config.parallelism.unwrap_or_else(cores),
            batch_rows: config.batch_rows,
            seed: clock.now_ms() as u64,
            clock: Arc::new(clock),
            checkpoint_interval: config.checkpoint_interval,
            idle_timeout: config.idle_timeout,
            checkpoints: config.checkpoints.clone(),
            store: None,
            restart: config.restart,
            memory: config.memory_budget.map(|budget_bytes| MemoryOptions { budget_bytes, cache: None }),
            restore: None,
            may_lose_state: false,
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
    start_with(plan, options, Arc::new(operators::create)).await
}

/// Starts a job whose operators come from `create`.
///
/// # Errors
/// As [`start`].
pub async fn start_with(
    plan: StreamPlan,
    mut options: RuntimeOptions,
    create: Arc<OperatorFactory>,
) -> Result<JobHandle> {
    let begun = Instant::now();
    let restore = options.restore.take();
    let restore = restore.map(|restore| restorable(&plan, &restore, options.may_lose_state, &*create)).transpose()?;
    let epoch = restore.as_ref().map(|restore| restore.epoch);
    let (clock, warnings) = (options.clock.clone(), options.warnings.clone());
    let memory = options.memory.as_ref().map(|memory| MemoryBudget::new(memory, warnings.clone())).transpose()?;
    let shared = Arc::new(Shared::new(clock, options.batch_rows.max(1), epoch, warnings));
    let launch = Launch { plan, options, create, memory, shared: shared.clone() };
    let ready = launch.prepare(restore.as_ref()).await?;
    let (requests, receiver) = mpsc::channel(REQUESTS_MAX);
    let board = Arc::new(Board::new(begun, ready.assembly.nodes.clone(), epoch.map(|epoch| epoch.0)));
    tracing::info!("job started with {} tasks", ready.assembly.tasks.len());
    tokio::spawn(supervise(launch, ready, board.clone(), receiver, restore));
    Ok(JobHandle { board, shared, requests })
}

/// Commits once more what the last checkpoint of a finished job names: the program may have died before.
///
/// # Errors
/// What sinks refuse.
pub async fn commit_again(plan: &StreamPlan, options: &RuntimeOptions, checkpoint: &JobCheckpoint) -> Result<()> {
    let sinks = sinks(plan);
    for sink in &sinks {
        start_sink(&*sink.provider, &sink.key, options, Some(checkpoint)).await?;
    }
    commit(&sinks, checkpoint).await?;
    for sink in &sinks {
        sink.provider.finish().await?;
    }
    Ok(())
}

fn sinks(plan: &StreamPlan) -> Vec<NamedSink> {
    let nodes = plan.nodes.iter().zip(keys(plan));
    let sinks = nodes.filter_map(|(node, key)| match &node.kind {
        NodeKind::Sink(sink) => Some(NamedSink { key, provider: sink.provider.clone() }),
        _ => None,
    });
    sinks.collect()
}

/// What a job is started from, and started again from.
struct Launch {
    plan: StreamPlan,
    options: RuntimeOptions,
    create: Arc<OperatorFactory>,
    /// Its cache goes with it.
    memory: Option<Arc<MemoryBudget>>,
    shared: Arc<Shared>,
}

/// Everything is open; nothing runs yet.
struct Ready {
    assembly: Assembly,
    sinks: Vec<NamedSink>,
    labels: NodeLabels,
}

impl Launch {
    async fn prepare(&self, restore: Option<&JobCheckpoint>) -> Result<Ready> {
        let Launch { plan, options, create, memory, shared } = self;
        open(plan, options, restore).await?;
        // After the sources have started: only now the number of splits is known.
        let topology = lower(plan, options.parallelism)?;
        let sinks = sinks(plan);
        if let Some(restore) = restore {
            fault::RESTORE_COMMIT.check()?;
            commit(&sinks, restore).await?;
        }
        let placed = || plan.nodes.iter().zip(&topology.nodes);
        let labels = NodeLabels {
            digests: placed().map(|(node, placement)| (placement.key.to_string(), node.digest.clone())).collect(),
            shapes: StateShapes::new(plan, &**create)?.by_key(plan),
            names: placed().map(|(node, placement)| (placement.key.to_string(), node_name(node))).collect(),
            counts: restore.map(|restore| restore.counts.clone()).unwrap_or_default(),
        };
        let blueprint = Blueprint {
            plan,
            topology: &topology,
            restore,
            idle_timeout: options.idle_timeout,
            seed: options.seed,
            create,
            memory: memory.as_ref(),
            shared: shared.clone(),
        };
        Ok(Ready { assembly: blueprint.assemble()?, sinks, labels })
    }

    fn rules(&self) -> Rules {
        let RuntimeOptions { checkpoint_interval, checkpoints, store, .. } = &self.options;
        Rules { interval: *checkpoint_interval, config: checkpoints.clone(), store: store.clone() }
    }

    /// The checkpoint to go on from after a failure: the last one, or that which the job was started from.
    async fn last(&self, board: &Board, first: Option<&JobCheckpoint>) -> Result<Option<JobCheckpoint>> {
        let Some(store) = self.options.store.clone() else {
            return Ok(board.last_checkpoint().or_else(|| first.cloned()));
        };
        let newest = tokio::task::spawn_blocking(move || store.newest()).await;
        let newest = newest.unwrap_or_else(|error| Err(panicked(error)))?;
        // It may still be one of the script as it was before.
        let newest =
            newest.map(|stored| restorable(&self.plan, &stored.checkpoint, self.options.may_lose_state, &*self.create));
        Ok(newest.transpose()?.or_else(|| first.cloned()))
    }
}

/// Opens sources and sinks.
async fn open(plan: &StreamPlan, options: &RuntimeOptions, restore: Option<&JobCheckpoint>) -> Result<()> {
    for (node, key) in plan.nodes.iter().zip(keys(plan)) {
        let warnings = match &node.kind {
            NodeKind::Scan(scan) => {
                let restored = restore.and_then(|restore| restore.sources.get(&*key));
                scan.provider.start(restored.map_or(&[], |source| source.splits.as_slice())).await?
            }
            NodeKind::Sink(sink) => start_sink(&*sink.provider, &key, options, restore).await?,
            NodeKind::LookupJoin(lookup) => lookup.provider.start().await?,
            _ => continue,
        };
        warnings.into_iter().for_each(|warning| options.warnings.send(warning));
    }
    Ok(())
}

async fn start_sink(
    provider: &dyn SinkProvider,
    key: &str,
    options: &RuntimeOptions,
    restore: Option<&JobCheckpoint>,
) -> Result<Vec<Error>> {
    let restored = restore.and_then(|restore| Some((restore.epoch, restore.sinks.get(key)?.writers.as_slice())));
    provider.prepare(&SinkRun {
        job: &options.job,
        sink: key,
        restored,
        checkpoint_interval: options.checkpoint_interval,
    })?;
    provider.start().await
}

/// Runs the tasks, and runs them again after a failure that can pass. A connector that panics in a commit must not
/// leave anybody waiting for the end.
async fn supervise(
    launch: Launch,
    ready: Ready,
    board: Arc<Board>,
    requests: mpsc::Receiver<Waiter>,
    first: Option<JobCheckpoint>,
) {
    let mut restarts = Restarts::new(launch.options.restart);
    // With a store the state need not be kept in memory as well.
    let first = first.filter(|_| launch.options.restart != RestartStrategy::None);
    let mut prepared = Ok(ready);
    let mut requests = Some(requests);
    let result = loop {
        let begun = Instant::now();
        let result = match (prepared, requests.take()) {
            (Ok(Ready { assembly, sinks, labels }), Some(receiver)) => {
                let (shared, rules) = (launch.shared.clone(), launch.rules());
                let coordinator = Coordinator::start(assembly, shared, board.clone(), sinks, labels, receiver, rules);
                match tokio::spawn(coordinator.run()).await {
                    Ok(Outcome { result, requests: receiver }) => {
                        requests = Some(receiver);
                        result
                    }
                    Err(error) => break Err(panicked(error)),
                }
            }
            (Err(error), receiver) => {
                requests = receiver;
                Err(error)
            }
            (Ok(_), None) => Err(Error::internal("the requests of a job are gone")),
        };
        let error = match result {
            Ok(state) => break Ok(state),
            // A stop that fails is not tried again.
            Err(error) if !error.is_retryable() || board.stop.borrow().is_some() => break Err(error),
            Err(error) => error,
        };
        let Some(delay) = restarts.next(begun.elapsed()) else { break Err(error) };
        let count = board.restarting();
        launch.shared.warn(restarting(&error, delay, count));
        if board.is_over_within(delay).await {
            break Ok(JobState::Stopped);
        }
        prepared = match launch.last(&board, first.as_ref()).await {
            Ok(last) => launch.prepare(last.as_ref()).await,
            Err(error) => Err(error),
        };
        if let Ok(ready) = &prepared {
            board.restarted(ready.assembly.nodes.clone());
        }
    };
    match &result {
        Ok(state) => tracing::info!("job {}", state.name()),
        Err(error) => tracing::info!("job failed with {}", error.code()),
    }
    // Before anybody learns of the end: the next run takes the checkpoints.
    drop(launch);
    board.finish(result);
}

fn restarting(error: &Error, delay: Duration, count: u64) -> Error {
    let [what, why, _] = error.parts(base::Language::English);
    let cause = if why.is_empty() { what } else { format!("{what}: {why}") };
    let delay = delay.as_millis() as f64 / 1000.0;
    Error::new(&codes::RESTARTING, &[("delay", &delay), ("count", &count), ("cause", &cause)])
}

/// What the coordinator shows to handles, and what handles tell it.
#[derive(Debug)]
pub(crate) struct Board {
    begun: Instant,
    nodes: Mutex<Vec<CountedNode>>,
    progress: Mutex<Progress>,
    outcome: watch::Sender<Option<Result<()>>>,
    pub stop: watch::Sender<Option<StopMode>>,
    pub cancel: watch::Sender<bool>,
}

#[derive(Debug)]
struct Progress {
    state: JobState,
    checkpoints: u64,
    /// Of the last checkpoint.
    took: Option<CheckpointTook>,
    failed_checkpoints: u64,
    resumed_from: Option<u64>,
    restarts: u64,
    /// Only while checkpoints are not kept on disk.
    last_checkpoint: Option<JobCheckpoint>,
    ended: Option<Instant>,
}

impl Board {
    fn new(begun: Instant, nodes: Vec<CountedNode>, resumed_from: Option<u64>) -> Board {
        let progress = Progress {
            state: JobState::Running,
            checkpoints: 0,
            took: None,
            failed_checkpoints: 0,
            resumed_from,
            restarts: 0,
            last_checkpoint: None,
            ended: None,
        };
        Board {
            begun,
            nodes: Mutex::new(nodes),
            progress: Mutex::new(progress),
            outcome: watch::Sender::new(None),
            stop: watch::Sender::new(None),
            cancel: watch::Sender::new(false),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<CountedNode>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A checkpoint is complete; if it took bytes it is on the disk.
    pub(crate) fn checkpoint_done(&self, took: CheckpointTook) {
        let mut progress = self.progress();
        progress.checkpoints += 1;
        progress.took = Some(took);
    }

    /// A checkpoint that is only kept in memory is complete; its commit comes now.
    pub(crate) fn keep_checkpoint(&self, checkpoint: JobCheckpoint) {
        self.progress().last_checkpoint = Some(checkpoint);
    }

    pub(crate) fn checkpoint_failed(&self) {
        self.progress().failed_checkpoints += 1;
    }

    /// The job waits for its next start; gives the number of it.
    fn restarting(&self) -> u64 {
        let mut progress = self.progress();
        if progress.state == JobState::Running {
            progress.state = JobState::Restarting;
        }
        progress.restarts += 1;
        progress.restarts
    }

    /// The tasks run again.
    fn restarted(&self, nodes: Vec<CountedNode>) {
        *self.nodes() = nodes;
        let mut progress = self.progress();
        if progress.state == JobState::Restarting {
            progress.state = JobState::Running;
        }
    }

    /// Waits; says whether the job was stopped or cancelled meanwhile. What it has is in its last checkpoint.
    async fn is_over_within(&self, delay: Duration) -> bool {
        let mut stop = self.stop.subscribe();
        tokio::select! {
            _ = stop.wait_for(Option::is_some) => true,
            () = cancelled(self.cancel.subscribe()) => true,
            () = tokio::time::sleep(delay) => false,
        }
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
        if matches!(progress.state, JobState::Running | JobState::Restarting) {
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
            last_checkpoint: progress.took,
            failed_checkpoints: progress.failed_checkpoints,
            resumed_from: progress.resumed_from,
            restarts: progress.restarts,
            nodes: self.board.nodes().iter().map(CountedNode::metrics).collect(),
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
    /// this is the final checkpoint. Of a job with a store, operators give what changed only: the whole state is read back
    /// from there.
    ///
    /// # Errors
    /// The error that failed the job meanwhile, or that the job had ended before.
    pub async fn checkpoint(&self) -> Result<JobCheckpoint> {
        let (waiter, answer) = oneshot::channel();
        let too_late = || ended("take a checkpoint", self.board.progress().state);
        self.requests.send(waiter).await.map_err(|_| too_late())?;
        answer.await.map_err(|_| too_late())?
    }

    /// The last complete checkpoint, of a job whose checkpoints are only in memory.
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
