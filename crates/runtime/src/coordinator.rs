//! The coordinator of a job: starts checkpoints, collects the answers of the tasks, commits, and ends the job.
//!
//! One task owns all of it, so there is no lock. At most one checkpoint is under way.

use crate::assembly::Assembly;
use crate::chain::abort;
use crate::checkpoint::{JobCheckpoint, TaskSnapshot};
use crate::codes;
use crate::job::{Board, StopMode};
use crate::metrics::JobState;
use crate::shared::{Command, Control, Remains, Report, Shared, TaskId, cancelled, until};
use crate::task::drive;
use base::connector::{SinkProvider, SourceReader};
use base::{Epoch, Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
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

/// A checkpoint under way.
struct Pending {
    epoch: Epoch,
    begun: Instant,
    answers: BTreeMap<TaskId, TaskSnapshot>,
    waiters: Vec<Waiter>,
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
    digests: BTreeMap<String, String>,
    tasks: JoinSet<()>,
    task_count: usize,
    running: BTreeSet<TaskId>,
    sources: BTreeMap<TaskId, mpsc::Sender<Control>>,
    ended: BTreeMap<TaskId, Ended>,
    reports: mpsc::Receiver<Report>,
    requests: mpsc::Receiver<Waiter>,
    stop: watch::Receiver<Option<StopMode>>,
    cancel: watch::Sender<bool>,
    waiters: Vec<Waiter>,
    pending: Option<Pending>,
    final_begun: bool,
    /// A commit was tried and failed: what tasks have prepared belongs to a checkpoint and is not undone.
    commit_failed: bool,
    interval: Option<Duration>,
    next: Option<Instant>,
}

impl Coordinator {
    /// Starts the tasks.
    pub(crate) fn start(
        assembly: Assembly,
        shared: Arc<Shared>,
        board: Arc<Board>,
        sinks: Vec<NamedSink>,
        digests: BTreeMap<String, String>,
        requests: mpsc::Receiver<Waiter>,
        interval: Option<Duration>,
    ) -> Coordinator {
        let task_count = assembly.tasks.len();
        // One snapshot and the end of every task fit: no task ever waits for the coordinator.
        let (report, reports) = mpsc::channel(2 * task_count + 1);
        let cancel = board.cancel.clone();
        let mut tasks = JoinSet::new();
        for (id, task) in assembly.tasks.into_iter().enumerate() {
            tasks.spawn(drive(id, task, cancel.subscribe(), report.clone()));
        }
        Coordinator {
            shared,
            stop: board.stop.subscribe(),
            board,
            sinks,
            digests,
            tasks,
            task_count,
            running: (0..task_count).collect(),
            sources: assembly.sources,
            ended: BTreeMap::new(),
            reports,
            requests,
            cancel,
            waiters: Vec::new(),
            pending: None,
            final_begun: false,
            commit_failed: false,
            interval,
            next: interval.map(|interval| Instant::now() + interval),
        }
    }

    /// Runs until the job has ended.
    pub(crate) async fn run(mut self) {
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
        match &result {
            Ok(state) => tracing::info!("job {}", state.name()),
            Err(error) => tracing::info!("job failed with {}", error.code()),
        }
        let pending = self.pending.take().into_iter().flat_map(|pending| pending.waiters);
        for waiter in self.waiters.drain(..).chain(pending) {
            let answer = match &result {
                Err(error) => Err(error.clone()),
                Ok(state) => self.board.last_checkpoint().ok_or_else(|| ended("take a checkpoint", *state)),
            };
            // Whoever asked may have stopped waiting.
            let _ = waiter.send(answer);
        }
        self.board.finish(result);
    }

    async fn work(&mut self) -> Result<JobState, Halt> {
        while !self.running.is_empty() {
            let due = self.next.filter(|_| self.may_begin() && self.stop.borrow().is_none());
            let cancel = cancelled(self.cancel.subscribe());
            tokio::select! {
                biased;
                () = cancel => return Err(Halt::Cancelled),
                Some(report) = self.reports.recv() => self.on_report(report).await?,
                Some(joined) = self.tasks.join_next() => check(joined)?,
                Some(waiter) = self.requests.recv() => self.waiters.push(waiter),
                Ok(()) = self.stop.changed() => self.on_stop()?,
                () = until(due) => self.begin(false)?,
            }
            self.begin_if_wanted()?;
        }
        if self.ended.values().any(|task| !task.is_included) {
            self.begin(false)?;
            self.complete().await?;
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
        self.pending.is_none() && self.sources.keys().any(|task| self.running.contains(task))
    }

    fn begin_if_wanted(&mut self) -> Result<(), Halt> {
        if !self.may_begin() || self.final_begun {
            return Ok(());
        }
        if *self.stop.borrow() == Some(StopMode::Plain) {
            self.final_begun = true;
            self.begin(true)
        } else if !self.waiters.is_empty() {
            self.begin(false)
        } else {
            Ok(())
        }
    }

    fn begin(&mut self, is_final: bool) -> Result<(), Halt> {
        let epoch = self.shared.next_epoch();
        self.shared.begin_epoch(epoch, is_final);
        let waiters = std::mem::take(&mut self.waiters);
        self.pending = Some(Pending { epoch, begun: Instant::now(), answers: BTreeMap::new(), waiters });
        self.next = self.interval.map(|interval| Instant::now() + interval);
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
                _ => return Err(Error::internal(format!("task {task} answered to unknown checkpoint {epoch}")).into()),
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

    /// Every task has answered, or ended before the barrier reached it: the checkpoint is complete and sinks commit.
    async fn complete(&mut self) -> Result<(), Halt> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        let missing = self.ended.iter().filter(|(task, _)| !pending.answers.contains_key(task));
        let snapshots = pending.answers.values().chain(missing.map(|(_, task)| &task.snapshot));
        let checkpoint = JobCheckpoint::assemble(pending.epoch, self.digests.clone(), snapshots);
        let committed = tokio::select! {
            biased;
            () = cancelled(self.cancel.subscribe()) => Err(Halt::Cancelled),
            committed = commit(&self.sinks, &checkpoint) => committed.map_err(Halt::Failed),
        };
        if let Err(halt) = committed {
            self.commit_failed = true;
            self.waiters.extend(pending.waiters);
            return Err(halt);
        }
        for (_, task) in self.ended.iter_mut().filter(|(task, _)| !pending.answers.contains_key(task)) {
            task.is_included = true;
            task.snapshot.committed();
        }
        self.tell_sources(Command::Complete(pending.epoch))?;
        for task in self.ended.values_mut() {
            if let Some(reader) = &mut task.remains.reader {
                SourceReader::checkpoint_complete(reader.as_mut(), pending.epoch);
            }
        }
        self.board.checkpoint_done(checkpoint.clone(), pending.begun.elapsed());
        for waiter in pending.waiters {
            // Whoever asked may have stopped waiting.
            let _ = waiter.send(Ok(checkpoint.clone()));
        }
        Ok(())
    }

    /// The job has failed or was cancelled: every task ends, and writers give up.
    async fn shut_down(&mut self) {
        self.cancel.send_replace(true);
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
    for sink in sinks {
        if let Some(state) = checkpoint.sinks.get(&*sink.key) {
            sink.provider.commit(checkpoint.epoch, &state.committables).await?;
        }
    }
    Ok(())
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
