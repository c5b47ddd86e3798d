//! The jobs of one run, as the control socket, the view and the summary see them.

use crate::results::lock;
use crate::summary;
use runtime::metrics::{JobMetrics, JobState, NodeRole, Waiting};
use runtime::{JobHandle, StopMode};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::Notify;

/// A job with its name.
#[derive(Debug, Clone)]
pub struct NamedJob {
    /// For people: `pipeline.name` or the names of its sinks.
    pub name: String,
    /// The running job.
    pub handle: JobHandle,
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
        let stopping = *self.stopping.borrow();
        if let Some(mode) = stopping {
            job.handle.stop(mode);
        }
        lock(&self.jobs).push(job);
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

    /// Counts of all jobs as JSON.
    pub fn status(&self) -> Value {
        let jobs: Vec<Value> = self.list().iter().map(|job| job_json(&job.name, &job.handle.metrics())).collect();
        json!({ "pid": std::process::id(), "jobs": jobs })
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
            })
        })
        .collect();
    json!({
        "name": name,
        "state": metrics.state.name(),
        "uptime_ms": metrics.uptime_ms,
        "checkpoints": metrics.checkpoints,
        "last_checkpoint_ms": metrics.last_checkpoint_ms,
        "last_checkpoint_bytes": metrics.last_checkpoint_bytes,
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
        "since_ms": waiting.since_ms,
        "since": waiting.since(),
    })
}

/// Whether a job has ended.
pub fn has_ended(state: JobState) -> bool {
    matches!(state, JobState::Finished | JobState::Stopped | JobState::Failed)
}
