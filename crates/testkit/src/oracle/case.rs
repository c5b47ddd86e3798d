//! Runs one `case.sql`, statement by statement, and compares every result.

use super::compare::{Captured, CapturedResult, compare, materialise};
use super::connector::{CaptureResults, OracleConnector, QUERY};
use super::expected::{self, ErrorPhase, Expected, ExpectedResult};
use super::feed::Feed;
use super::files::compare_files;
use super::{OracleOptions, Verdict, log};
use base::clock::SystemClock;
use planner::{Environment, Outcome, PlannedJob, Session};
use runtime::{JobHandle, RuntimeOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A job that has not ended by then is stuck.
const JOB_TIMEOUT: Duration = Duration::from_secs(60);

/// A session whose tables replay and capture.
pub struct CaseSession {
    /// The session.
    pub session: Session,
    /// The events.
    pub feed: Arc<Feed>,
    /// What sinks got.
    pub captured: Captured,
    /// Whether sources never end.
    pub unbounded: bool,
}

impl CaseSession {
    /// A session over the events of a case.
    pub fn new(events: Vec<log::LogEvent>, unbounded: bool) -> CaseSession {
        let feed = Arc::new(Feed::new(events));
        let captured = Captured::default();
        let (mut connectors, formats) = crate::registries();
        connectors.register(Arc::new(OracleConnector { feed: feed.clone(), captured: captured.clone(), unbounded }));
        let session = Session::new(Environment {
            connectors: Arc::new(connectors),
            formats: Arc::new(formats),
            clock: Arc::new(SystemClock),
            results: Arc::new(CaptureResults(captured.clone())),
        });
        CaseSession { session, feed, captured, unbounded }
    }

    /// Runs a job to its end, feeding one event after the other.
    ///
    /// # Errors
    /// The error that the job failed with, as text.
    pub async fn run_job(&self, job: PlannedJob, options: &OracleOptions) -> Result<(), String> {
        match tokio::time::timeout(JOB_TIMEOUT, self.drive(job, options)).await {
            Ok(result) => result,
            Err(_) => Err(format!("the job did not end within {} s", JOB_TIMEOUT.as_secs())),
        }
    }

    async fn drive(&self, job: PlannedJob, options: &OracleOptions) -> Result<(), String> {
        let mut handle = self.start(&job, options, None).await?;
        for (index, (table, events)) in self.feed.feeds(options.batch).into_iter().enumerate() {
            handle.quiesce().await;
            self.captured.next_step();
            if !self.feed.give(&table, &events) {
                continue;
            }
            if options.restore_every.is_some_and(|every| (index + 1) % every == 0) {
                handle.quiesce().await;
                let checkpoint = handle.checkpoint().await.map_err(|error| error.to_string())?;
                handle.cancel();
                // The end of a cancelled job is an error by nature.
                let _ = handle.wait().await;
                handle = self.start(&job, options, Some(checkpoint)).await?;
            }
        }
        handle.quiesce().await;
        self.captured.next_step();
        if self.unbounded {
            let failed = handle.metrics().state == runtime::metrics::JobState::Failed;
            handle.cancel();
            let ended = handle.wait().await;
            return if failed { ended.map(|_| ()).map_err(|error| error.to_string()) } else { Ok(()) };
        }
        self.feed.end();
        handle.wait().await.map(|_| ()).map_err(|error| error.to_string())
    }

    async fn start(
        &self,
        job: &PlannedJob,
        options: &OracleOptions,
        restore: Option<runtime::JobCheckpoint>,
    ) -> Result<JobHandle, String> {
        self.feed.reset();
        let mut runtime_options = RuntimeOptions::from_config(&job.plan.config);
        runtime_options.parallelism = options.parallelism;
        runtime_options.batch_rows = options.batch;
        runtime_options.checkpoint_interval = None;
        runtime_options.restore = restore;
        runtime::start(job.plan.clone(), runtime_options).await.map_err(|error| error.to_string())
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// What a statement gave.
enum Given {
    Nothing,
    Rows(Vec<Vec<Option<String>>>),
    Results(BTreeMap<String, CapturedResult>),
    Failed(ErrorPhase, String),
}

/// Runs the case in `folder`.
///
/// # Errors
/// A folder that does not have the layout of a case.
pub async fn run(folder: &Path, options: &OracleOptions) -> Result<Vec<Verdict>, String> {
    let out = tempfile::tempdir().map_err(|error| error.to_string())?;
    let sql = std::fs::read_to_string(folder.join("case.sql")).map_err(|error| format!("case.sql: {error}"))?;
    let absolute = std::path::absolute(folder).map_err(|error| error.to_string())?;
    let sql = sql
        .replace("${CASE_DIR}", &absolute.display().to_string())
        .replace("${OUT_DIR}", &out.path().display().to_string());
    let unbounded =
        sql.lines().any(|line| line.strip_prefix("--").is_some_and(|c| c.trim_start().starts_with("@unbounded")));
    let expected = expected::parse(
        &read(&folder.join("expected.changelog")),
        &read(&folder.join("expected.table")),
        &read(&folder.join("expected.error")),
    )?;
    let mut case = CaseSession::new(log::parse(&read(&folder.join("input.log")))?, unbounded);
    let script = syntax::Script::new("case.sql", &sql);
    let mut verdicts = Vec::new();
    for (index, statement) in script.statements().enumerate() {
        let given = match case.session.execute(&script, &statement) {
            Err(error) => Given::Failed(ErrorPhase::Planning, error.to_string()),
            Ok(executed) => match executed.outcome {
                Outcome::Done | Outcome::Text(_) => Given::Nothing,
                Outcome::Table { rows, .. } => Given::Rows(rows),
                Outcome::Job(job) => match case.run_job(*job, options).await {
                    Ok(()) => Given::Results(case.captured.take()),
                    Err(why) => Given::Failed(ErrorPhase::Running, why),
                },
            },
        };
        case.captured.take();
        verdicts.extend(judge(index + 1, given, &expected, options));
    }
    verdicts.extend(compare_files(out.path(), &expected.files, options.compares_sequences()));
    Ok(verdicts)
}

fn judge(statement: usize, given: Given, expected: &Expected, options: &OracleOptions) -> Vec<Verdict> {
    let number = statement.to_string();
    let results: Vec<&ExpectedResult> =
        expected.results.iter().filter(|result| result.statement == statement).collect();
    match (expected.errors.get(&statement), given) {
        (Some(phase), Given::Failed(failed, _)) if *phase == failed => vec![Verdict::pass(number, "error")],
        (Some(phase), Given::Failed(failed, why)) => {
            vec![Verdict::fail(number, "error", format!("expected in phase {phase:?}, failed in {failed:?}: {why}"))]
        }
        (Some(phase), _) => vec![Verdict::fail(number, "error", format!("expected an error in phase {phase:?}"))],
        (None, Given::Failed(_, why)) => vec![Verdict::fail(number, what(options), why)],
        (None, Given::Nothing) if results.is_empty() => Vec::new(),
        // Sinks without a recorded result (print, blackhole, filesystem): the job has run.
        (None, Given::Results(_)) if results.is_empty() => vec![Verdict::pass(number, "runs")],
        (None, Given::Rows(_)) if results.is_empty() => Vec::new(),
        (None, Given::Nothing) => vec![Verdict::fail(number, what(options), "no result")],
        (None, Given::Rows(rows)) => {
            let wanted = materialise(&results[0].changes, &[]);
            let mut rows = rows;
            rows.sort();
            if wanted == rows {
                vec![Verdict::pass(number, "rows")]
            } else {
                vec![Verdict::fail(number, "rows", format!("expected {wanted:?}; found {rows:?}"))]
            }
        }
        (None, Given::Results(found)) => results
            .iter()
            .map(|result| match found.get(result.sink.as_deref().unwrap_or(QUERY)) {
                Some(actual) => compare(result, actual, options.compares_sequences()),
                None => Verdict::fail(number.clone(), what(options), "no such result"),
            })
            .collect(),
    }
}

fn what(options: &OracleOptions) -> &'static str {
    if options.compares_sequences() { "sequence" } else { "table" }
}
