//! Runs one `case.sql`, statement by statement, and compares every result.

use super::compare::{Captured, CapturedResult, compare, materialise, table_text};
use super::connector::{CaptureResults, OracleConnector, QUERY};
use super::expected::{self, ErrorPhase, Expected, ExpectedResult};
use super::feed::Feed;
use super::files::compare_files;
use super::{Failure, OracleOptions, Standing, Verdict, log};
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
    pub(crate) feed: Arc<Feed>,
    /// What sinks got.
    pub(crate) captured: Captured,
    /// Whether sources never end.
    unbounded: bool,
}

impl CaseSession {
    /// A session without events, to plan statements that are not run.
    pub fn planning() -> CaseSession {
        CaseSession::new(Vec::new(), false)
    }

    /// Executes statements that define something.
    ///
    /// # Errors
    /// A statement that is refused.
    pub fn define(&mut self, sql: &str) -> Result<(), String> {
        let script = syntax::Script::new("define.sql", sql);
        for statement in script.statements() {
            self.session.execute(&script, &statement).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Runs a query over constants and gives its one value; `None` is NULL.
    ///
    /// # Errors
    /// A query that is refused or fails, or has another number of rows.
    pub fn value(&mut self, sql: &str) -> Result<Option<String>, String> {
        let script = syntax::Script::new("value.sql", sql);
        let statement = script.statements().next().ok_or("no statement")?;
        let executed = self.session.execute(&script, &statement).map_err(|error| error.to_string())?;
        let Outcome::Job(job) = executed.outcome else { return Err("no query".into()) };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let options = OracleOptions::plain();
        let ended = runtime.block_on(self.run_job(*job, &options));
        let changes = self.captured.take().remove(QUERY).unwrap_or_default().changes;
        ended.map_err(|failure| failure.text)?;
        match materialise(&changes, &[]).as_slice() {
            [row] => Ok(row.first().cloned().flatten()),
            rows => Err(format!("{} rows", rows.len())),
        }
    }

    /// A session over the events of a case.
    pub(crate) fn new(events: Vec<log::LogEvent>, unbounded: bool) -> CaseSession {
        let feed = Arc::new(Feed::new(events));
        let captured = Captured::default();
        let (mut connectors, formats) = crate::registries();
        connectors.register(Arc::new(OracleConnector { feed: feed.clone(), captured: captured.clone(), unbounded }));
        let session = Session::new(Environment {
            warnings: Default::default(),
            connectors: Arc::new(connectors),
            formats: Arc::new(formats),
            clock: Arc::new(SystemClock),
            results: Arc::new(CaptureResults(captured.clone())),
        })
        .with_batch(Arc::new(batch::DataFusionEngine));
        CaseSession { session, feed, captured, unbounded }
    }

    /// Runs a job to its end, feeding one event after the other.
    ///
    /// # Errors
    /// What the job failed with.
    pub(super) async fn run_job(&self, job: PlannedJob, options: &OracleOptions) -> Result<(), Failure> {
        match tokio::time::timeout(JOB_TIMEOUT, self.drive(job, options)).await {
            Ok(result) => result.map_err(|error| Failure::new(ErrorPhase::Running, &error)),
            Err(_) => Err(Failure::stuck(format!("the job did not end within {} s", JOB_TIMEOUT.as_secs()))),
        }
    }

    async fn drive(&self, job: PlannedJob, options: &OracleOptions) -> base::Result<()> {
        if job.is_batch() {
            self.feed.give_at_once();
            return self.start(&job, options, None, None).await?.wait().await.map(|_| ());
        }
        let files = options.restore_every.map(|_| CheckpointFiles::new()).transpose()?;
        let mut store = files.as_ref().map(CheckpointFiles::open).transpose()?;
        let mut handle = self.start(&job, options, store.clone(), None).await?;
        for (index, (table, events)) in self.feed.feeds(options.batch).into_iter().enumerate() {
            handle.quiesce().await;
            self.captured.next_step();
            if !self.feed.give(&table, &events) {
                continue;
            }
            let (Some(every), Some(files)) = (options.restore_every, &files) else { continue };
            handle.quiesce().await;
            if let Err(error) = handle.checkpoint().await {
                // A job that has failed says better why.
                return Err(handle.wait().await.err().unwrap_or(error));
            }
            if (index + 1) % every == 0 {
                handle.cancel();
                // The end of a cancelled job is an error by nature.
                let _ = handle.wait().await;
                drop(store.take());
                let opened = files.open()?;
                let stored = opened.newest()?.ok_or_else(|| base::Error::internal("no checkpoint was written"))?;
                store = Some(opened);
                handle = self.start(&job, options, store.clone(), Some(stored.checkpoint)).await?;
            }
        }
        handle.quiesce().await;
        self.captured.next_step();
        if self.unbounded {
            if options.memory_budget.is_some() {
                // Rows of cold keys wait for the clock, or for a barrier.
                let _ = handle.checkpoint().await;
            }
            let failed = handle.metrics().state == runtime::metrics::JobState::Failed;
            handle.cancel();
            let ended = handle.wait().await;
            return if failed { ended.map(|_| ()) } else { Ok(()) };
        }
        self.feed.end();
        handle.wait().await.map(|_| ())
    }

    async fn start(
        &self,
        job: &PlannedJob,
        options: &OracleOptions,
        store: Option<Arc<runtime::CheckpointStore>>,
        restore: Option<runtime::JobCheckpoint>,
    ) -> base::Result<JobHandle> {
        self.feed.reset();
        let mut runtime_options = RuntimeOptions::from_config(&job.plan.config);
        runtime_options.parallelism = options.parallelism;
        runtime_options.batch_rows = options.batch;
        runtime_options.checkpoint_interval = None;
        if let Some(budget_bytes) = options.memory_budget {
            runtime_options.memory = Some(runtime::MemoryOptions { budget_bytes, cache: None });
        }
        runtime_options.store = store;
        runtime_options.restore = restore;
        runtime::start(job.plan.clone(), runtime_options).await
    }
}

/// Where the checkpoints of a job are.
struct CheckpointFiles(tempfile::TempDir);

impl CheckpointFiles {
    fn new() -> base::Result<CheckpointFiles> {
        let folder = tempfile::tempdir();
        folder.map(CheckpointFiles).map_err(|cause| base::Error::io("create", "a temporary folder", &cause))
    }

    /// Sections are merged as early as possible, so that merged ones are read, too.
    fn open(&self) -> base::Result<Arc<runtime::CheckpointStore>> {
        let path = self.0.path().join("job");
        let store = runtime::CheckpointStore::open(&path.as_path().into(), runtime::JobLabel::default(), 1)?;
        Ok(Arc::new(store.merging_after(1)))
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
    Failed(Failure),
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
    let mut expected = expected::parse(
        &read(&folder.join("expected.changelog")),
        &read(&folder.join("expected.table")),
        &read(&folder.join("expected.error")),
    )?;
    let mut case = CaseSession::new(log::parse(&read(&folder.join("input.log")))?, unbounded);
    if options.batch_mode {
        case.define("SET 'execution.runtime-mode' = 'batch';")?;
        // Without watermarks a column is no time attribute.
        for schema in expected.results.iter_mut().filter_map(|result| result.schema.as_mut()) {
            *schema = schema.replace(" *ROWTIME*", "").replace(" *PROCTIME*", "");
        }
    }
    let script = syntax::Script::new("case.sql", &sql);
    let mut verdicts = Vec::new();
    let mut unset = Unset::default();
    for (index, statement) in script.statements().enumerate() {
        let given = match case.session.execute(&script, &statement) {
            Err(error) => Given::Failed(Failure::new(ErrorPhase::Planning, &error)),
            Ok(executed) => match executed.outcome {
                Outcome::Done | Outcome::Text(_) => Given::Nothing,
                Outcome::Table { rows, .. } => Given::Rows(rows),
                Outcome::Job(mut job) => {
                    if options.against_itself {
                        let ended = case.run_job(*job, &OracleOptions::plain()).await;
                        expected.put(index + 1, ended.map(|()| case.captured.take()));
                        // Planned again, so that its sinks are known again.
                        let again = case.session.execute(&script, &statement).map(|executed| executed.outcome);
                        let Ok(Outcome::Job(again)) = again else { return Err("a second plan that is no job".into()) };
                        job = again;
                    }
                    match case.run_job(*job, options).await {
                        Ok(()) => Given::Results(case.captured.take()),
                        Err(failure) => Given::Failed(failure),
                    }
                }
            },
        };
        case.captured.take();
        let judged = judge(index + 1, given, &expected, options);
        verdicts.extend(judged.into_iter().map(|verdict| unset.blame(verdict, &statement.text)));
    }
    if !options.against_itself {
        verdicts.extend(compare_files(out.path(), &expected.files, options.compares_sequences()));
    }
    Ok(verdicts)
}

fn judge(statement: usize, given: Given, expected: &Expected, options: &OracleOptions) -> Vec<Verdict> {
    let number = statement.to_string();
    let results: Vec<&ExpectedResult> =
        expected.results.iter().filter(|result| result.statement == statement).collect();
    match (expected.errors.get(&statement), given) {
        (Some(phase), Given::Failed(failure)) if *phase == failure.phase => vec![Verdict::pass(number, "error")],
        (Some(phase), Given::Failed(failure)) => {
            let why = format!("expected in phase {phase:?}, failed in {:?}: {}", failure.phase, failure.text);
            vec![Verdict::fail(number, "error", why).found(failure.found())]
        }
        (Some(phase), given) => {
            let why = format!("expected an error in phase {phase:?}");
            vec![Verdict::fail(number, "error", why).found(accepted(&given))]
        }
        (None, Given::Failed(failure)) => vec![Verdict::error(number, what(options), &failure)],
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
                let why = format!("expected {wanted:?}; found {rows:?}");
                vec![Verdict::fail(number, "rows", why).found(format!("table {}", table_text(&rows)))]
            }
        }
        (None, Given::Results(found)) => results
            .iter()
            .map(|result| match found.get(result.sink.as_deref().unwrap_or(QUERY)) {
                Some(actual) => compare(result, actual, options.comparison()),
                None => Verdict::fail(number.clone(), what(options), "no such result"),
            })
            .collect(),
    }
}

/// A statement that Flink rejects and that was executed here.
fn accepted(given: &Given) -> String {
    let mut text = "accepted".to_string();
    if let Given::Results(results) = given {
        for result in results.values() {
            match materialise(&result.changes, &result.key).as_slice() {
                [] => text.push_str(": no rows"),
                rows => text.push_str(&format!(": table {}", table_text(rows))),
            }
        }
    }
    text
}

/// A setting that is not built yet: what is wrong behind it is wrong because of it.
#[derive(Debug, Default)]
pub(super) struct Unset(Option<String>);

impl Unset {
    /// The verdict about a statement of this text, with the setting as the cause.
    pub(super) fn blame(&mut self, mut verdict: Verdict, text: &str) -> Verdict {
        let is_setting = text.trim_start().get(..4).is_some_and(|word| word.eq_ignore_ascii_case("SET "));
        match (&verdict.standing, &self.0) {
            (Standing::NeedsFeature(feature), _) if is_setting => self.0 = Some(feature.clone()),
            (Standing::Failed(_), Some(feature)) => verdict.standing = Standing::NeedsFeature(feature.clone()),
            _ => {}
        }
        verdict
    }
}

fn what(options: &OracleOptions) -> &'static str {
    options.comparison().name()
}

impl Expected {
    /// Puts what a run of this program gave into the place of what was recorded of a statement.
    fn put(&mut self, statement: usize, given: Result<BTreeMap<String, CapturedResult>, Failure>) {
        self.results.retain(|result| result.statement != statement);
        self.errors.remove(&statement);
        match given {
            Err(failure) => drop(self.errors.insert(statement, failure.phase)),
            Ok(results) => self.results.extend(results.into_iter().map(|(name, result)| ExpectedResult {
                statement,
                sink: (name != QUERY).then_some(name),
                schema: Some(result.schema),
                changes: result.changes,
                table: None,
            })),
        }
    }
}
