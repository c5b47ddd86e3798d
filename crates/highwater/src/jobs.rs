//! The jobs of one run, as the control socket, the view and the summary see them.

use crate::control::{SavepointPlace, brief};
use crate::results::lock;
use crate::savepoints::{self, SavedRun};
use crate::summary;
use base::Result;
use runtime::metrics::{JobMetrics, JobState, NodeRole, Waiting};
use runtime::{Hold, JobHandle, StopMode};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// A job with its name.
#[derive(Debug, Clone)]
pub struct NamedJob {
    /// For people: `pipeline.name` or the names of its sinks.
    pub name: String,
    /// By what its saved state is known; `None` if it keeps none.
    pub key: Option<String>,
    /// The running job.
    pub handle: JobHandle,
}

/// A savepoint that a stop asks for.
#[derive(Debug, Default)]
struct WantedSavepoint {
    place: Option<SavepointPlace>,
    /// Nothing is removed until it is written.
    held: Vec<Hold>,
    result: Option<Result<PathBuf>>,
}

/// The jobs started so far.
#[derive(Debug, Default)]
pub struct Jobs {
    jobs: Mutex<Vec<NamedJob>>,
    /// Set by the first stop: jobs that have not started yet will not.
    stopping: tokio::sync::watch::Sender<Option<StopMode>>,
    finished: Notify,
    all_ended: Mutex<bool>,
    /// Requests that wait for the end of the run: the program must not exit before they are answered.
    waiting: tokio::sync::watch::Sender<usize>,
    /// The jobs that keep state; set before the first one starts, until the run is over.
    saved: Mutex<Option<Arc<SavedRun>>>,
    savepoint: Mutex<WantedSavepoint>,
}

/// How long the program stays for clients that wait for its end.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Counts one waiting request while it lives.
#[derive(Debug)]
pub struct WaitingRequest<'a>(&'a Jobs);

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.0.waiting.send_modify(|count| *count -= 1);
    }
}

impl Jobs {
    /// Adds a job that has just started.
    pub fn add(&self, job: NamedJob) {
        lock(&self.jobs).push(job.clone());
        // Looked at when the job is in the list: a stop at the same time reaches it here or there.
        let stopping = *self.stopping.borrow();
        if let Some(mode) = stopping {
            job.handle.stop(mode);
        }
    }

    /// All jobs, in order of start.
    pub fn list(&self) -> Vec<NamedJob> {
        lock(&self.jobs).clone()
    }

    /// Whether a stop was asked for.
    pub fn is_stopping(&self) -> bool {
        self.stopping.borrow().is_some()
    }

    /// Waits until a stop is asked for.
    pub async fn stopping(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender lives as long as this.
        let _ = stopping.wait_for(Option::is_some).await;
    }

    /// Asks every job to stop.
    pub fn stop(&self, mode: StopMode) {
        self.stopping.send_replace(Some(mode));
        for job in self.list() {
            job.handle.stop(mode);
        }
    }

    /// Ends every job at once.
    pub fn cancel(&self) {
        for job in self.list() {
            job.handle.cancel();
        }
    }

    /// Announces a request that will be answered at the end of the run.
    pub fn wait_for_answer(&self) -> WaitingRequest<'_> {
        self.waiting.send_modify(|count| *count += 1);
        WaitingRequest(self)
    }

    /// Returns when every waiting request has been answered, or after a short while.
    pub async fn answered(&self) {
        let mut waiting = self.waiting.subscribe();
        let _ = tokio::time::timeout(ANSWER_TIME, waiting.wait_for(|count| *count == 0)).await;
    }

    /// Says that the run is over: whoever waits in [`Jobs::ended`] goes on.
    pub fn set_ended(&self) {
        *lock(&self.all_ended) = true;
        self.finished.notify_waiters();
    }

    /// Waits until the run is over.
    pub async fn ended(&self) {
        loop {
            let waiting = self.finished.notified();
            tokio::pin!(waiting);
            waiting.as_mut().enable();
            if *lock(&self.all_ended) {
                return;
            }
            waiting.await;
        }
    }

    /// Makes savepoints possible.
    pub fn keep(&self, saved: SavedRun) {
        *lock(&self.saved) = Some(Arc::new(saved));
    }

    /// The run is over: its state is let go.
    pub fn release(&self) {
        *lock(&self.saved) = None;
    }

    /// The jobs that keep state, once they are known.
    pub fn saved_run(&self) -> Option<Arc<SavedRun>> {
        lock(&self.saved).clone()
    }

    /// Asks for a savepoint of the last checkpoints. The first request decides where it goes.
    pub fn want_savepoint(&self, place: SavepointPlace) {
        let held = self.saved_run().iter().flat_map(|run| &run.jobs).map(|job| job.store.hold()).collect();
        let mut wanted = lock(&self.savepoint);
        if wanted.place.is_none() {
            *wanted = WantedSavepoint { place: Some(place), held, result: None };
        }
    }

    /// Writes the savepoint that was asked for, now that the jobs have stopped.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn write_wanted_savepoint(&self) -> Result<()> {
        let Some(place) = lock(&self.savepoint).place.clone() else { return Ok(()) };
        let result = savepoints::take_at_end(self, place.path);
        let mut wanted = lock(&self.savepoint);
        wanted.held.clear();
        wanted.result = Some(result.clone());
        result.map(|_| ())
    }

    /// Counts of all jobs as JSON, and what became of a savepoint.
    pub fn status(&self) -> Value {
        let jobs: Vec<Value> = self.list().iter().map(|job| job_json(&job.name, &job.handle.metrics())).collect();
        let mut status = json!({ "pid": std::process::id(), "jobs": jobs });
        match &lock(&self.savepoint).result {
            None => {}
            Some(Ok(path)) => status["savepoint"] = json!(path),
            Some(Err(error)) => status["error"] = json!(brief(error)),
        }
        status
    }
}

/// One job as JSON. The names are part of the program's interface.
pub fn job_json(name: &str, metrics: &JobMetrics) -> Value {
    let nodes: Vec<Value> = metrics
        .nodes
        .iter()
        .map(|node| {
            json!({
                "id": node.operator_id,
                "name": node.name,
                "role": match node.role { NodeRole::Source => "source", NodeRole::Operator => "operator", NodeRole::Sink => "sink" },
                "rows_in": node.rows_in,
                "rows_out": node.rows_out,
                "bytes_in": node.bytes_in,
                "late_rows_dropped": node.late_rows,
                "late_sample": node.late_sample,
                "rows_rejected": node.rejected_rows,
                "watermark_ms": node.watermark_ms.filter(|ms| *ms != base::event::WATERMARK_MAX),
                "watermark": summary::watermark(node.watermark_ms),
                "lag": node.lag,
                "waiting": node.waiting.iter().map(waiting_json).collect::<Vec<_>>(),
                "state_entries": node.state_entries,
                "state_bytes": node.state_bytes,
                "state_evicted_bytes": node.evicted_bytes,
                "state_evictions": node.evictions,
                "state_loads": node.loads,
            })
        })
        .collect();
    let last = metrics.last_checkpoint;
    json!({
        "name": name,
        "state": metrics.state.name(),
        "uptime_ms": metrics.uptime_ms,
        "checkpoints": metrics.checkpoints,
        "last_checkpoint_ms": last.map(|last| last.duration.as_millis() as u64),
        "last_checkpoint_alignment_ms": last.map(|last| last.alignment.as_millis() as u64),
        "last_checkpoint_bytes": last.and_then(|last| last.bytes),
        "last_checkpoint_kind": last.map(|last| if last.is_full { "full" } else { "changes" }),
        "checkpoint_state_bytes": last.and_then(|last| last.state_bytes),
        "failed_checkpoints": metrics.failed_checkpoints,
        "resumed_from": metrics.resumed_from,
        "restarts": metrics.restarts,
        "late_rows_dropped": metrics.nodes.iter().map(|node| node.late_rows).sum::<u64>(),
        "nodes": nodes,
    })
}

/// What results wait for, as JSON.
fn waiting_json(waiting: &Waiting) -> Value {
    json!({
        "table": waiting.table,
        "splits": waiting.splits,
        "reason": waiting.reason.name(),
        "watermark_ms": waiting.watermark_ms,
        "watermark": waiting.watermark(),
        "ahead_ms": waiting.ahead_ms,
        "waits_for": waiting.waits_for,
        "since_ms": waiting.since_ms,
        "since": waiting.since(),
    })
}

/// Whether a job has ended.
pub fn has_ended(state: JobState) -> bool {
    matches!(state, JobState::Finished | JobState::Stopped | JobState::Failed)
}
