//! Runs a query on the streaming engine, in this process, with the replay connector.

use super::case::Way;
use crate::oracle::{CaseSession, Change, LogEvent};
use base::plan::NodeKind;
use planner::{Outcome, PlannedJob};
use runtime::{JobHandle, RuntimeOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// A job that has not ended by then is stuck.
const JOB_TIMEOUT: Duration = Duration::from_secs(180);

/// What is run: statements, and a query or INSERT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Statements that define tables and views.
    pub definitions: Vec<String>,
    /// The statement whose results count.
    pub statement: String,
}

impl Script {
    /// These.
    pub fn new(definitions: Vec<String>, statement: String) -> Script {
        Script { definitions, statement }
    }
}

/// What a run gave.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Changelogs by the name of their sink.
    pub changes: BTreeMap<String, Vec<Change>>,
    /// After how many steps the results were looked at; the last is the end.
    pub looks: Vec<usize>,
    /// The keys that the planner derived for the result.
    pub upsert_keys: Vec<Vec<usize>>,
    /// Names of the operators of the plan.
    pub operators: BTreeSet<&'static str>,
}

impl Ran {
    /// The changes of a sink until each look, with the number of steps.
    pub fn looks_at(&self, name: &str) -> Vec<(usize, &[Change])> {
        let changes = self.changes.get(name).map(Vec::as_slice).unwrap_or_default();
        let until = |look: usize| match look + 1 == self.looks.len() {
            true => changes,
            false => &changes[..changes.partition_point(|change| change.step <= look)],
        };
        self.looks.iter().enumerate().map(|(look, steps)| (*steps, until(look))).collect()
    }
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// Not built yet.
    Unsupported(String),
    /// Refused while planning.
    Refused(&'static str, String),
    /// Failed while running.
    Failed(&'static str, String),
}

impl Stopped {
    pub(super) fn of(error: &base::Error, running: bool) -> Stopped {
        if error.code() == base::Error::unsupported("").code() {
            return Stopped::Unsupported(error.argument("feature").unwrap_or_default().to_string());
        }
        match running {
            true => Stopped::Failed(error.code(), error.to_string()),
            false => Stopped::Refused(error.code(), error.to_string()),
        }
    }
}

/// A planned job in the session that it belongs to.
pub(super) struct Planned {
    session: CaseSession,
    /// The job.
    pub(super) job: PlannedJob,
}

/// Plans without running anything.
pub(super) fn plan(script: &Script, events: Vec<LogEvent>, batch: bool) -> Result<Planned, Stopped> {
    let planned = catch_unwind(AssertUnwindSafe(|| {
        let mut session = CaseSession::new(events, false);
        if batch {
            session.session = session.session.with_batch(Arc::new(batch::DataFusionEngine));
        }
        let text = script.definitions.iter().chain([&script.statement]).map(|one| format!("{one};\n"));
        let source = syntax::Script::new("diff.sql", text.collect::<String>());
        let mut planned = None;
        for statement in source.statements() {
            let executed = session.session.execute(&source, &statement).map_err(|error| Stopped::of(&error, false))?;
            if let Outcome::Job(job) = executed.outcome {
                planned = Some(*job);
            }
        }
        let job = planned.ok_or(Stopped::Refused("none", "no job".into()))?;
        Ok(Planned { session, job })
    }));
    planned.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
        Err(Stopped::Failed("panic", text))
    })
}

/// Runs a script once. Every event comes with the number of steps that are complete after it.
pub async fn run(script: &Script, events: &[(LogEvent, Option<usize>)], way: &Way) -> Result<Ran, Stopped> {
    let planned = plan(script, events.iter().map(|(event, _)| event.clone()).collect(), false)?;
    let mut looks = Vec::new();
    let driven = tokio::time::timeout(JOB_TIMEOUT, drive(&planned, events, way, &mut looks)).await;
    let results = planned.session.captured.take();
    match driven {
        Err(_) => Err(Stopped::Failed("stuck", format!("the job did not end within {} s", JOB_TIMEOUT.as_secs()))),
        Ok(Err(error)) => Err(Stopped::of(&error, true)),
        Ok(Ok(())) => {
            looks.push(events.iter().filter_map(|(_, steps)| *steps).max().unwrap_or(0));
            let changes = results.into_iter().map(|(name, result)| (name, result.changes)).collect();
            let nodes = &planned.job.plan.nodes;
            let sink = nodes.iter().find(|node| matches!(node.kind, NodeKind::Sink(_)));
            let input = sink.and_then(|sink| sink.inputs.first()).map(|edge| &nodes[edge.node]);
            let upsert_keys = input.map(|node| node.output.upsert_keys.clone()).unwrap_or_default();
            let operators = nodes.iter().map(|node| node.kind.name()).collect();
            Ok(Ran { changes, looks, upsert_keys, operators })
        }
    }
}

/// The part of a run between two waits.
async fn drive(
    planned: &Planned,
    events: &[(LogEvent, Option<usize>)],
    way: &Way,
    looks: &mut Vec<usize>,
) -> base::Result<()> {
    let mut handle = start(planned, way, None).await?;
    for (index, feed) in feeds(events, way).into_iter().enumerate() {
        let table = &feed[0].0.table;
        let given: Vec<LogEvent> = feed.iter().map(|(event, _)| event.clone()).collect();
        planned.session.feed.give(table, &Arc::new(given));
        let steps = feed.last().and_then(|(_, steps)| *steps);
        let looked = steps.filter(|steps| way.looks.contains(steps));
        let restarts = steps.is_some_and(|steps| way.restarts.contains(&steps));
        if looked.is_some() || restarts || (way.rest_every > 0 && (index + 1) % way.rest_every == 0) {
            handle.quiesce().await;
        }
        if let Some(steps) = looked {
            looks.push(steps);
            planned.session.captured.next_step();
        }
        if restarts {
            handle = restart(planned, way, handle).await?;
        }
    }
    handle.quiesce().await;
    planned.session.feed.end();
    handle.wait().await.map(|_| ())
}

/// Neighbours of one table, cut where something happens.
fn feeds<'e>(events: &'e [(LogEvent, Option<usize>)], way: &Way) -> Vec<&'e [(LogEvent, Option<usize>)]> {
    let mut feeds = Vec::new();
    let mut start = 0;
    for end in 1..=events.len() {
        let (last, next) = (&events[end - 1], events.get(end));
        let stops = last.1.is_some_and(|steps| way.looks.contains(&steps) || way.restarts.contains(&steps));
        let full = end - start >= way.batch;
        if stops || full || next.is_none_or(|next| next.0.table != last.0.table) {
            feeds.push(&events[start..end]);
            start = end;
        }
    }
    feeds
}

async fn restart(planned: &Planned, way: &Way, handle: JobHandle) -> base::Result<JobHandle> {
    let checkpoint = match handle.checkpoint().await {
        Ok(checkpoint) => checkpoint,
        // A job that has failed says why; one that reads nothing has ended well, and there is nothing to go on with.
        Err(_) => return handle.wait().await.map(|_| handle),
    };
    handle.cancel();
    // The end of a cancelled job is an error by nature.
    let _ = handle.wait().await;
    start(planned, way, Some(checkpoint)).await
}

async fn start(planned: &Planned, way: &Way, restore: Option<runtime::JobCheckpoint>) -> base::Result<JobHandle> {
    planned.session.feed.reset();
    let mut options = RuntimeOptions::from_config(&planned.job.plan.config);
    // After a restart the job may be wider or narrower.
    options.parallelism = if restore.is_some() { way.parallelism % 4 + 1 } else { way.parallelism };
    options.batch_rows = way.batch;
    options.checkpoint_interval = None;
    options.restore = restore;
    options.seed = 1;
    runtime::start(planned.job.plan.clone(), options).await
}
