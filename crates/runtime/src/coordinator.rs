//! The coordinator of a job: starts checkpoints, collects the answers of the tasks, commits, and ends the job.
//!
//! One task owns all of it, so there is no lock. At most one checkpoint is under way: first the answers of the tasks are
//! collected, then it is written in the background, then sinks commit. Tasks go on as soon as they have answered.
//!
//! What sinks handed over for a checkpoint that came to nothing is committed with the next one.

use crate::assembly::Assembly;
use crate::chain::abort;
use crate::checkpoint::{Committables, JobCheckpoint, NodeLabels, TaskSnapshot};
use crate::codes;
use crate::job::{Board, StopMode};
use crate::metrics::{CheckpointTook, JobState};
use crate::shared::{Command, Control, Remains, Report, Shared, TaskId, cancelled, until};
use crate::store::{CheckpointStore, Saved};
use crate::task::drive;
use base::connector::{SinkProvider, SourceReader};
use base::recovery::CheckpointConfig;
use base::{Epoch, Error, Result, fault};
use state::Scope;
use state::codes::ANOTHER_RUN;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::{Instant, timeout};

/// Somebody who waits for a checkpoint.
pub(crate) type Waiter = oneshot::Sender<Result<JobCheckpoint>>;

/// Requests for checkpoints that wait to be looked at.
pub(crate) const REQUESTS_MAX: usize = 64;

/// How long readers and writers may take to close.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(10);

/// A sink of the job.
pub(crate) struct NamedSink {
    pub key: Arc<str>,
    pub provider: Arc<dyn SinkProvider>,
}

/// When checkpoints are taken, and where they go.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub interval: Option<Duration>,
    pub config: CheckpointConfig,
    pub store: Option<Arc<CheckpointStore>>,
}

/// A checkpoint whose answers are collected.
struct Pending {
    epoch: Epoch,
    begun: Instant,
    scope: Scope,
    is_final: bool,
    answers: BTreeMap<TaskId, TaskSnapshot>,
    waiters: Vec<Waiter>,
}

/// A checkpoint that every task has answered.
struct Collected {
    checkpoint: JobCheckpoint,
    begun: Instant,
    scope: Scope,
    /// The longest time for which a task held back one of its inputs.
    alignment: Duration,
    waiters: Vec<Waiter>,
    /// Tasks that had ended before: their last snapshots are in it.
    included: Vec<TaskId>,
    /// What is committed with the next checkpoint if this one comes to nothing.
    left: Committables,
}

/// A checkpoint on its way to the disk.
struct Writing {
    collected: Collected,
    saved: JoinHandle<Result<Saved>>,
}

/// A task that has ended well.
struct Ended {
    snapshot: TaskSnapshot,
    remains: Remains,
    /// Whether a complete checkpoint holds its last snapshot.
    is_included: bool,
}

/// Why a job stops in the middle.
enum Halt {
    Failed(Error),
    Cancelled,
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        Halt::Failed(error)
    }
}

/// The coordinator.
pub(crate) struct Coordinator {
    shared: Arc<Shared>,
    board: Arc<Board>,
    sinks: Vec<NamedSink>,
    labels: NodeLabels,
    rules: Rules,
    tasks: JoinSet<()>,
    task_count: usize,
    running: BTreeSet<TaskId>,
    sources: BTreeMap<TaskId, mpsc::Sender<Control>>,
    ended: BTreeMap<TaskId, Ended>,
    reports: mpsc::Receiver<Report>,
    requests: mpsc::Receiver<Waiter>,
    stop: watch::Receiver<Option<StopMode>>,
    /// The job is to end at once.
    cancel: watch::Receiver<bool>,
    /// Tells the tasks to end at once.
    halt: watch::Sender<bool>,
    waiters: Vec<Waiter>,
    pending: Option<Pending>,
    writing: Option<Writing>,
    /// Of checkpoints that came to nothing.
    left: Committables,
    /// Checkpoints in a row that came to nothing.
    failures: usize,
    final_begun: bool,
    /// There is no complete checkpoint of these tasks, or the one begun last came to nothing: changes are not enough.
    needs_all: bool,
    /// A sink holds so many rows that a checkpoint should come at once.
    is_wanted: bool,
    /// A commit was tried and failed: what tasks have prepared belongs to a checkpoint and is not undone.
    commit_failed: bool,
    next: Option<Instant>,
}

/// How a run of the tasks ended.
pub(crate) struct Outcome {
    pub result: Result<JobState>,
    /// To be given to the next run of the tasks.
    pub requests: mpsc::Receiver<Waiter>,
}

impl Coordinator {
    /// Starts the tasks.
    pub(crate) fn start(
        assembly: Assembly,
        shared: Arc<Shared>,
        board: Arc<Board>,
        sinks: Vec<NamedSink>,
        labels: NodeLabels,
        requests: mpsc::Receiver<Waiter>,
        rules: Rules,
    ) -> Coordinator {
        let task_count = assembly.tasks.len();
        // One snapshot and the end of every task fit: no task ever waits for the coordinator.
        let (report, reports) = mpsc::channel(2 * task_count + 1);
        let halt = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        for (id, task) in assembly.tasks.into_iter().enumerate() {
            tasks.spawn(drive(id, task, halt.subscribe(), report.clone()));
        }
        Coordinator {
            shared,
            stop: watched(&board.stop),
            cancel: board.cancel.subscribe(),
            board,
            sinks,
            labels,
            next: rules.interval.map(|interval| Instant::now() + interval),
            rules,
            tasks,
            task_count,
            running: (0..task_count).collect(),
            sources: assembly.sources,
            ended: BTreeMap::new(),
            reports,
            requests,
            halt,
            waiters: Vec::new(),
            pending: None,
            writing: None,
            left: Committables::new(),
            failures: 0,
            final_begun: false,
            needs_all: true,
            is_wanted: false,
            commit_failed: false,
        }
    }

    /// Runs until the tasks have ended.
    pub(crate) async fn run(mut self) -> Outcome {
        let result = match self.work().await {
            Ok(state) => Ok(state),
            Err(halt) => {
                self.shut_down().await;
                match halt {
                    Halt::Cancelled => Ok(JobState::Stopped),
                    Halt::Failed(error) => Err(error),
                }
            }
        };
        let pending = self.pending.take().into_iter().flat_map(|pending| pending.waiters);
        for waiter in self.waiters.drain(..).chain(pending) {
            let answer = match &result {
                Err(error) => Err(error.clone()),
                Ok(state) => self.board.last_checkpoint().ok_or_else(|| ended("take a checkpoint", *state)),
            };
            // Whoever asked may have stopped waiting.
            let _ = waiter.send(answer);
        }
        Outcome { result, requests: self.requests }
    }

    async fn work(&mut self) -> Result<JobState, Halt> {
        while !self.running.is_empty() || self.writing.is_some() {
            let due = self.next.filter(|_| self.may_begin() && self.stop.borrow().is_none());
            let expiry = self.pending.as_ref().map(|pending| pending.begun + self.rules.config.timeout);
            let cancel = cancelled(self.cancel.clone());
            tokio::select! {
                biased;
                () = cancel => return Err(Halt::Cancelled),
                Some(report) = self.reports.recv() => self.on_report(report).await?,
                Some(joined) = self.tasks.join_next() => check(joined)?,
                Some(waiter) = self.requests.recv() => self.waiters.push(waiter),
                () = self.shared.checkpoint_wanted.notified(), if self.may_begin() => self.is_wanted = true,
                Ok(()) = self.stop.changed() => self.on_stop()?,
                saved = saved(&mut self.writing) => self.on_saved(saved).await?,
                () = until(expiry) => self.expire()?,
                () = until(due) => self.begin(false)?,
            }
            self.begin_if_wanted()?;
        }
        if self.ended.values().any(|task| !task.is_included) {
            self.begin(false)?;
            self.complete().await?;
            while self.writing.is_some() {
                let saved = saved(&mut self.writing).await;
                self.on_saved(saved).await?;
            }
        }
        for sink in &self.sinks {
            sink.provider.finish().await?;
        }
        self.close().await?;
        let stopped = self.stop.borrow().is_some();
        Ok(if stopped { JobState::Stopped } else { JobState::Finished })
    }

    /// Lets readers and writers end what runs in the background, all at once.
    async fn close(&mut self) -> Result<(), Halt> {
        let mut closing = JoinSet::new();
        for Remains { reader, writers } in self.ended.values_mut().map(|task| std::mem::take(&mut task.remains)) {
            for mut writer in writers {
                closing.spawn(async move { writer.close().await });
            }
            if let Some(mut reader) = reader {
                closing.spawn(async move {
                    reader.close().await;
                    Ok(())
                });
            }
        }
        let closed = timeout(CLOSE_TIME_MAX, closing.join_all()).await;
        match closed {
            Ok(results) => Ok(results.into_iter().collect::<Result<()>>()?),
            Err(_) => {
                tracing::warn!("sources and sinks did not close within {CLOSE_TIME_MAX:?}");
                Ok(())
            }
        }
    }

    /// Whether a barrier can be sent now.
    fn may_begin(&self) -> bool {
        self.pending.is_none() && self.writing.is_none() && self.sources.keys().any(|task| self.running.contains(task))
    }

    fn begin_if_wanted(&mut self) -> Result<(), Halt> {
        if !self.may_begin() || self.final_begun {
            return Ok(());
        }
        if *self.stop.borrow() == Some(StopMode::Plain) {
            self.final_begun = true;
            self.begin(true)
        } else if !self.waiters.is_empty() || std::mem::take(&mut self.is_wanted) {
            self.begin(false)
        } else {
            Ok(())
        }
    }

    fn begin(&mut self, is_final: bool) -> Result<(), Halt> {
        fault::CHECKPOINT_BEGIN.check()?;
        let epoch = self.shared.next_epoch();
        let scope = if self.needs_all || self.rules.store.is_none() { Scope::Full } else { Scope::Changes };
        self.shared.begin_epoch(epoch, is_final, scope);
        let waiters = std::mem::take(&mut self.waiters);
        let begun = Instant::now();
        self.pending = Some(Pending { epoch, begun, scope, is_final, answers: BTreeMap::new(), waiters });
        self.next = self.rules.interval.map(|interval| Instant::now() + interval);
        self.tell_sources(Command::Barrier(epoch))
    }

    fn on_stop(&mut self) -> Result<(), Halt> {
        let mode = *self.stop.borrow_and_update();
        tracing::info!("job is stopping");
        match mode {
            Some(StopMode::Drain) => self.tell_sources(Command::Drain),
            // The final barrier waits for a checkpoint that is under way.
            Some(StopMode::Plain) | None => Ok(()),
        }
    }

    fn tell_sources(&self, command: Command) -> Result<(), Halt> {
        for (task, sender) in self.sources.iter().filter(|(task, _)| self.running.contains(task)) {
            match sender.try_send(Control { command, in_flight: self.shared.quiescence.enter() }) {
                // A closed one has just ended; its report is on the way.
                Ok(()) | Err(TrySendError::Closed(_)) => {}
                Err(TrySendError::Full(_)) => {
                    return Err(Error::internal(format!("source task {task} has too many commands")).into());
                }
            }
        }
        Ok(())
    }

    async fn on_report(&mut self, report: Report) -> Result<(), Halt> {
        match report {
            Report::Failed { error } => return Err(error.into()),
            Report::Snapshot { task, epoch, snapshot } => match &mut self.pending {
                Some(pending) if pending.epoch == epoch => {
                    pending.answers.insert(task, snapshot);
                }
                // The answer to a checkpoint that was given up.
                _ => snapshot.committables(&mut self.left),
            },
            Report::Ended { task, snapshot, remains } => {
                self.running.remove(&task);
                self.ended.insert(task, Ended { snapshot, remains, is_included: false });
            }
        }
        let is_complete = self.pending.as_ref().is_some_and(|pending| {
            (0..self.task_count).all(|task| pending.answers.contains_key(&task) || self.ended.contains_key(&task))
        });
        if is_complete { self.complete().await } else { Ok(()) }
    }

    /// Every task has answered, or ended before the barrier reached it: the checkpoint is complete and is written.
    async fn complete(&mut self) -> Result<(), Halt> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        let collected = self.collect(pending);
        match self.rules.store.clone() {
            None => self.durable(collected, None).await,
            Some(store) => {
                // Batches are shared, not copied.
                let checkpoint = collected.checkpoint.clone();
                let saved = tokio::task::spawn_blocking(move || store.save(&checkpoint));
                self.writing = Some(Writing { collected, saved });
                Ok(())
            }
        }
    }

    fn collect(&mut self, pending: Pending) -> Collected {
        let missing = || self.ended.iter().filter(|(task, _)| !pending.answers.contains_key(task));
        let snapshots = pending.answers.values().chain(missing().map(|(_, task)| &task.snapshot));
        let mut checkpoint = JobCheckpoint::assemble(pending.epoch, self.labels.clone(), snapshots);
        checkpoint.is_finished = self.running.is_empty() && *self.stop.borrow() != Some(StopMode::Plain);
        let included = missing().map(|(task, _)| *task).collect();
        let mut left = std::mem::take(&mut self.left);
        checkpoint.add_committables(left.clone());
        pending.answers.values().for_each(|answer| answer.committables(&mut left));
        let alignment = pending.answers.values().map(|answer| answer.alignment).max().unwrap_or_default();
        let Pending { begun, scope, waiters, .. } = pending;
        Collected { checkpoint, begun, scope, alignment, waiters, included, left }
    }

    async fn on_saved(&mut self, saved: Result<Saved>) -> Result<(), Halt> {
        let Some(Writing { collected, .. }) = self.writing.take() else { return Ok(()) };
        match saved {
            Ok(saved) => self.durable(collected, Some(saved)).await,
            Err(error) => {
                self.left = collected.left;
                self.give_up(collected.checkpoint.epoch, collected.waiters, error, self.running.is_empty())
            }
        }
    }

    /// A checkpoint takes too long.
    fn expire(&mut self) -> Result<(), Halt> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        pending.answers.values().for_each(|answer| answer.committables(&mut self.left));
        let timeout = self.rules.config.timeout;
        let unanswered = self.running.iter().filter(|task| !pending.answers.contains_key(task)).count();
        let cause = format!("{unanswered} of {} tasks had not answered after {timeout:?}", self.task_count);
        let error = Error::new(&codes::CHECKPOINT_FAILED, &[("epoch", &pending.epoch), ("cause", &cause)]);
        self.give_up(pending.epoch, pending.waiters, error, pending.is_final)
    }

    /// A checkpoint has come to nothing: the job goes on if that is tolerated and there can be another one.
    fn give_up(&mut self, epoch: Epoch, waiters: Vec<Waiter>, error: Error, is_last: bool) -> Result<(), Halt> {
        self.failures += 1;
        self.needs_all = true;
        self.board.checkpoint_failed();
        let error = match error.code() == codes::CHECKPOINT_FAILED.code || !error.is_retryable() {
            true => error,
            false => {
                let [what, why, _] = error.parts(base::Language::English);
                let cause = if why.is_empty() { what } else { format!("{what}: {why}") };
                Error::new(&codes::CHECKPOINT_FAILED, &[("epoch", &epoch), ("cause", &cause)])
            }
        };
        for waiter in waiters {
            // Whoever asked may have stopped waiting.
            let _ = waiter.send(Err(error.clone()));
        }
        // Of two runs that write the same checkpoints one has to end: that does not pass.
        let is_outrun = error.code() == ANOTHER_RUN.code;
        if is_last || is_outrun || self.failures > self.rules.config.tolerable_failures {
            return Err(error.into());
        }
        self.shared.warn(error);
        self.pause();
        Ok(())
    }

    /// A checkpoint is over: the next one begins not too soon.
    fn pause(&mut self) {
        let earliest = Instant::now() + self.rules.config.min_pause;
        self.next = self.next.map(|next| next.max(earliest));
    }

    /// A checkpoint is durable: sinks commit.
    async fn durable(&mut self, collected: Collected, saved: Option<Saved>) -> Result<(), Halt> {
        let Collected { checkpoint, begun, scope, alignment, waiters, included, .. } = collected;
        if saved.is_none() {
            // A commit that fails is tried again from this very checkpoint, as from one on the disk.
            self.board.keep_checkpoint(checkpoint.clone());
        }
        let committed = tokio::select! {
            biased;
            () = cancelled(self.cancel.clone()) => Err(Halt::Cancelled),
            committed = commit(&self.sinks, &checkpoint) => committed.map_err(Halt::Failed),
        };
        if let Err(halt) = committed {
            self.commit_failed = true;
            self.waiters.extend(waiters);
            return Err(halt);
        }
        self.failures = 0;
        self.needs_all = false;
        let keeps_state = self.rules.store.is_some();
        for task in included {
            if let Some(task) = self.ended.get_mut(&task) {
                task.is_included = true;
                task.snapshot.included(keeps_state);
            }
        }
        self.tell_sources(Command::Complete(checkpoint.epoch))?;
        for task in self.ended.values_mut() {
            if let Some(reader) = &mut task.remains.reader {
                SourceReader::checkpoint_complete(reader.as_mut(), checkpoint.epoch);
            }
        }
        self.pause();
        let took = CheckpointTook {
            duration: begun.elapsed(),
            alignment,
            is_full: scope == Scope::Full,
            bytes: saved.map(|saved| saved.bytes),
            state_bytes: saved.map(|saved| saved.state_bytes),
        };
        self.board.checkpoint_done(took);
        for waiter in waiters {
            // Whoever asked may have stopped waiting.
            let _ = waiter.send(Ok(checkpoint.clone()));
        }
        Ok(())
    }

    /// The job has failed or was cancelled: every task ends, and writers give up.
    async fn shut_down(&mut self) {
        self.halt.send_replace(true);
        if let Some(Writing { collected, saved }) = self.writing.take() {
            // If it becomes durable, whoever goes on from it commits.
            self.commit_failed |= matches!(saved.await, Ok(Ok(_)));
            self.waiters.extend(collected.waiters);
        }
        while self.tasks.join_next().await.is_some() {}
        while let Ok(report) = self.reports.try_recv() {
            if let Report::Ended { task, snapshot, remains } = report {
                self.ended.insert(task, Ended { snapshot, remains, is_included: false });
            }
        }
        if !self.commit_failed {
            for task in std::mem::take(&mut self.ended).into_values().filter(|task| !task.is_included) {
                abort(task.remains.writers).await;
            }
        }
    }
}

/// Makes what a checkpoint names visible to readers.
pub(crate) async fn commit(sinks: &[NamedSink], checkpoint: &JobCheckpoint) -> Result<()> {
    fault::CHECKPOINT_COMMIT.check()?;
    for sink in sinks {
        if let Some(state) = checkpoint.sinks.get(&*sink.key) {
            sink.provider.commit(checkpoint.epoch, &state.committables).await?;
        }
    }
    fault::CHECKPOINT_DONE.check()
}

/// Waits for the checkpoint that is being written; for ever without one.
async fn saved(writing: &mut Option<Writing>) -> Result<Saved> {
    match writing {
        Some(writing) => (&mut writing.saved).await.unwrap_or_else(|error| Err(panicked(error))),
        None => std::future::pending().await,
    }
}

/// A receiver for which a value that is there already counts as a change.
fn watched(stop: &watch::Sender<Option<StopMode>>) -> watch::Receiver<Option<StopMode>> {
    let mut receiver = stop.subscribe();
    if receiver.borrow().is_some() {
        receiver.mark_changed();
    }
    receiver
}

fn check(joined: Result<(), JoinError>) -> Result<(), Halt> {
    joined.map_err(|error| Halt::Failed(panicked(error)))
}

/// A task that did not return.
pub(crate) fn panicked(error: JoinError) -> Error {
    let cause = match error.try_into_panic() {
        Ok(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()))
                .unwrap_or_else(|| "it panicked".into())
        }
        Err(error) => error.to_string(),
    };
    Error::new(&codes::TASK_PANICKED, &[("cause", &cause)])
}

/// A request came too late.
pub(crate) fn ended(action: &str, state: JobState) -> Error {
    Error::new(&codes::JOB_ENDED, &[("action", &action), ("state", &state.name())])
}
