//! Runs a case in one way.

use super::case::{Arrival, Case, Way};
use super::connector::{CommittedResults, Parts, PartsConnector};
use crate::oracle::{Captured, Change, QUERY};
use base::Error;
use base::clock::SystemClock;
use planner::{Environment, Outcome, PlannedJob, Session};
use runtime::{JobCheckpoint, JobHandle, RuntimeOptions};
use std::sync::Arc;
use std::time::Duration;

/// A job that has not ended by then is stuck.
const JOB_TIMEOUT: Duration = Duration::from_secs(60);

/// What a run gave.
pub struct Ran {
    /// The changelog of the result.
    pub changes: Vec<Change>,
    /// Late rows that the job counted.
    pub late: u64,
}

/// Why there is no result.
pub enum Stopped {
    /// Not built yet.
    Unsupported(String),
    /// A problem.
    Failed(String),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        match error.code() == Error::unsupported("").code() {
            true => Stopped::Unsupported(error.argument("feature").unwrap_or_default().to_string()),
            false => Stopped::Failed(format!("{}: {error}", error.code())),
        }
    }
}

/// Runs it.
pub async fn run(case: &Case, way: &Way) -> Result<Ran, Stopped> {
    let captured = Captured::default();
    let parts = Arc::new(Parts::new(way.parts));
    let job = plan(case, &parts, &captured)?;
    let arrivals = case.arrivals(way);
    let late = match tokio::time::timeout(JOB_TIMEOUT, drive(&job, &parts, &arrivals, way)).await {
        Ok(late) => late?,
        Err(_) => return Err(Stopped::Failed(format!("the job did not end within {} s", JOB_TIMEOUT.as_secs()))),
    };
    let changes = captured.take().remove(QUERY).unwrap_or_default().changes;
    Ok(Ran { changes, late })
}

fn plan(case: &Case, parts: &Arc<Parts>, captured: &Captured) -> Result<PlannedJob, Stopped> {
    let (mut connectors, formats) = crate::registries();
    connectors.register(Arc::new(PartsConnector(parts.clone())));
    let mut session = Session::new(Environment {
        warnings: Default::default(),
        connectors: Arc::new(connectors),
        formats: Arc::new(formats),
        clock: Arc::new(SystemClock),
        results: Arc::new(CommittedResults(captured.clone())),
    });
    let text: String = case.definitions().into_iter().chain([case.sql()]).map(|one| format!("{one};\n")).collect();
    let script = syntax::Script::new("time.sql", &text);
    for statement in script.statements() {
        if let Outcome::Job(job) = session.execute(&script, &statement)?.outcome {
            return Ok(*job);
        }
    }
    Err(Stopped::Failed("no job".into()))
}

/// Gives the rows as they arrive; returns the late rows counted.
async fn drive(job: &PlannedJob, parts: &Parts, arrivals: &[Arrival], way: &Way) -> Result<u64, Stopped> {
    const NAMES: [&str; 2] = ["a", "b"];
    if way.ends_early {
        for (table, name) in NAMES.into_iter().enumerate() {
            for part in 0..way.parts {
                let count = arrivals.iter().filter(|one| (one.table, one.part) == (table, part)).count();
                parts.ends_after(name, part, count);
            }
        }
    }
    let mut parallelism = way.parallelism;
    let mut handle = start(job, way, parallelism, None).await?;
    for (index, chunk) in chunks(arrivals, way).into_iter().enumerate() {
        parts.give(chunk.iter().map(|one| (NAMES[one.table], one.part, &one.row)));
        let is_due = |every: usize| every > 0 && (index + 1) % every == 0;
        if is_due(way.rest_every) {
            handle.quiesce().await;
        }
        if is_due(way.restart_every) {
            let checkpoint = match handle.checkpoint().await {
                Ok(checkpoint) => checkpoint,
                // A job that has failed says better why.
                Err(error) => return Err(handle.wait().await.err().unwrap_or(error).into()),
            };
            handle.cancel();
            // The end of a cancelled job is an error by nature.
            let _ = handle.wait().await;
            // After a restart the job may be wider or narrower.
            parallelism = parallelism % 4 + 1;
            handle = start(job, way, parallelism, Some(checkpoint)).await?;
            if way.rest_every == 1 {
                // The readers tell the watermark that they go on with; a row must not overtake that of another reader.
                handle.quiesce().await;
            }
        }
    }
    handle.quiesce().await;
    parts.end();
    let metrics = handle.wait().await?;
    Ok(metrics.nodes.iter().map(|node| node.late_rows).sum())
}

/// What is given at once. If late rows are to be known, only rows of one split.
fn chunks<'a>(arrivals: &'a [Arrival], way: &Way) -> Vec<&'a [Arrival]> {
    let mut chunks = Vec::new();
    let mut start = 0;
    for end in 1..=arrivals.len() {
        let place = |index: usize| (arrivals[index].table, arrivals[index].part);
        let is_next = end == arrivals.len() || (way.rest_every == 1 && place(end) != place(end - 1));
        if is_next || end - start >= way.chunk {
            chunks.push(&arrivals[start..end]);
            start = end;
        }
    }
    chunks
}

async fn start(
    job: &PlannedJob,
    way: &Way,
    parallelism: usize,
    restore: Option<JobCheckpoint>,
) -> Result<JobHandle, Error> {
    let mut options = RuntimeOptions::from_config(&job.plan.config);
    options.parallelism = parallelism;
    options.batch_rows = way.batch;
    options.checkpoint_interval = None;
    options.restore = restore;
    options.seed = 1;
    runtime::start(job.plan.clone(), options).await
}
