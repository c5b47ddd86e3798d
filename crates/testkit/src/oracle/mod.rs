//! Runs recorded Flink cases and compares what comes out.
//!
//! A case is a folder: `case.sql`, `input.log` (one event a line: `TABLE OP JSON`, in global order), and what Flink answered:
//! `expected.changelog`, `expected.table`, `expected.error`; or `exprs.sql` with `expected.exprs`. Tables of the cases use
//! `'connector' = 'oracle'`, which exists only here: it replays the log, one event at a time, each when the job has come to
//! rest, so that the order over several tables is the recorded one.

mod case;
mod compare;
mod connector;
pub mod differences;
mod expected;
mod exprs;
mod feed;
mod files;
mod log;
mod lookup;

pub use case::CaseSession;
pub(crate) use compare::{Captured, Change, Comparison};
pub use connector::CaptureResults;
pub(crate) use connector::QUERY;
pub(crate) use log::{LogEvent, parse as parse_log};

use regex::Regex;
use std::path::{Path, PathBuf};

/// How cases are run.
#[derive(Debug, Clone)]
pub struct OracleOptions {
    /// Only cases whose name matches.
    pub only: Option<Regex>,
    /// Events of one table fed at once, and the most rows per batch.
    pub batch: usize,
    /// Parallel instances.
    pub parallelism: usize,
    /// Restart from a checkpoint after this many feeds.
    pub restore_every: Option<usize>,
    /// Bytes of memory for the state of a job.
    pub memory_budget: Option<u64>,
    /// Count listed differences and missing features as failures.
    pub strict: bool,
    /// Run the queries in batch mode.
    pub batch_mode: bool,
    /// Compare with a run of the same program, one event after the other on one instance, instead of what was recorded.
    pub against_itself: bool,
}

impl Default for OracleOptions {
    /// All cases as they were recorded, one event after the other on one instance.
    fn default() -> OracleOptions {
        OracleOptions {
            only: None,
            batch: 1,
            parallelism: 1,
            restore_every: None,
            memory_budget: None,
            strict: false,
            batch_mode: false,
            against_itself: false,
        }
    }
}

impl OracleOptions {
    /// One event after the other on one instance; nothing is excused.
    fn plain() -> OracleOptions {
        OracleOptions { strict: true, ..OracleOptions::default() }
    }

    /// How results are compared.
    fn comparison(&self) -> Comparison {
        match (self.against_itself, self.compares_sequences()) {
            (true, _) => Comparison::Upserts,
            (false, true) => Comparison::Sequence,
            (false, false) => Comparison::Table,
        }
    }

    /// Whether the exact sequence of changes is compared.
    fn compares_sequences(&self) -> bool {
        self.batch == 1 && self.parallelism == 1 && !self.batch_mode && self.memory_budget.is_none()
    }
}

/// What a run gave.
#[derive(Debug, Default)]
pub struct Report {
    /// Results that are as recorded.
    pub passed: usize,
    /// Results that differ as the list of differences says.
    pub differing: usize,
    /// Results that need what is not built yet.
    pub needing: usize,
    /// Results that are wrong.
    pub failed: usize,
    /// Listed differences of which no result was met.
    pub unmet: Vec<String>,
    /// Folders that could not be read, and listed differences that are none.
    pub problems: Vec<String>,
}

/// One compared result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// `2`, `4.s1`, `file json_default/part-X`, or the line of an expression.
    pub result: String,
    /// What was compared: `sequence`, `table`, `error`, `value`, `rows`, `runs`.
    pub what: &'static str,
    /// How the comparison ended.
    pub standing: Standing,
    /// What the statement gave, in the form of the list of differences; empty if it is as recorded.
    pub found: String,
    /// Whether it is a line of an expression case.
    expression: bool,
}

/// How a comparison ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// As recorded.
    Passed,
    /// Not as recorded, as the list of differences says; why.
    Differs(String),
    /// Not built yet; what.
    NeedsFeature(String),
    /// Wrong; why.
    Failed(String),
}

impl Verdict {
    fn pass(result: impl Into<String>, what: &'static str) -> Verdict {
        Verdict { result: result.into(), what, standing: Standing::Passed, found: String::new(), expression: false }
    }

    fn fail(result: impl Into<String>, what: &'static str, why: impl Into<String>) -> Verdict {
        Verdict {
            result: result.into(),
            what,
            standing: Standing::Failed(why.into()),
            found: String::new(),
            expression: false,
        }
    }

    /// The same with what was found.
    fn found(self, found: impl Into<String>) -> Verdict {
        Verdict { found: found.into(), ..self }
    }

    /// A statement that failed although Flink runs it.
    fn error(result: impl Into<String>, what: &'static str, failure: &Failure) -> Verdict {
        let standing = match &failure.feature {
            Some(feature) => Standing::NeedsFeature(feature.clone()),
            None => Standing::Failed(failure.text.clone()),
        };
        Verdict { result: result.into(), what, standing, found: failure.found(), expression: false }
    }
}

/// Why a statement or its job failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    phase: expected::ErrorPhase,
    code: &'static str,
    text: String,
    /// What is not built yet, if that is why.
    feature: Option<String>,
}

impl Failure {
    fn new(phase: expected::ErrorPhase, error: &base::Error) -> Failure {
        let unsupported = error.code() == base::Error::unsupported("").code();
        Failure {
            phase,
            code: error.code(),
            text: error.to_string(),
            feature: unsupported.then(|| error.argument("feature").unwrap_or_default().to_string()),
        }
    }

    fn stuck(text: String) -> Failure {
        Failure { phase: expected::ErrorPhase::Running, code: "stuck", text, feature: None }
    }

    /// `planning error HW-P001`.
    fn found(&self) -> String {
        let phase = match self.phase {
            expected::ErrorPhase::Planning => "planning",
            expected::ErrorPhase::Running => "running",
        };
        format!("{phase} error {}", self.code)
    }
}

/// Runs all cases in the given folders and prints a line per result.
pub fn run(folders: &[PathBuf], options: &OracleOptions) -> Report {
    let mut report = Report::default();
    let mut differences = match differences::Differences::load() {
        Ok(differences) => differences,
        Err(problem) => {
            report.problems.push(problem);
            return report;
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            report.problems.push(format!("async runtime: {error}"));
            return report;
        }
    };
    for folder in folders {
        let cases = match case_folders(folder) {
            Ok(cases) => cases,
            Err(error) => {
                report.problems.push(format!("{}: {error}", folder.display()));
                continue;
            }
        };
        for path in cases {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if options.only.as_ref().is_some_and(|only| !only.is_match(&name)) {
                continue;
            }
            for mut verdict in runtime.block_on(run_case(&path, options)) {
                if !options.strict {
                    differences.judge(&name, &mut verdict, options.compares_sequences());
                }
                report.add(&name, &verdict, options.strict);
            }
        }
    }
    report.unmet = differences.unmet();
    let stale = differences.stale().into_iter();
    report.problems.extend(stale.map(|entry| format!("differences.tsv: {entry} is as recorded: remove it")));
    report
}

impl Report {
    fn add(&mut self, case: &str, verdict: &Verdict, strict: bool) {
        let (label, count, why) = match &verdict.standing {
            Standing::Passed => ("PASS", &mut self.passed, ""),
            Standing::Differs(why) => ("DIFFERS", &mut self.differing, why.as_str()),
            Standing::NeedsFeature(feature) if !strict => ("NEEDS", &mut self.needing, feature.as_str()),
            Standing::NeedsFeature(why) | Standing::Failed(why) => ("FAIL", &mut self.failed, why.as_str()),
        };
        *count += 1;
        let line = format!("{label} {case}#{} {} {}", verdict.result, verdict.what, why.replace('\n', " / "));
        println!("{}", line.trim_end());
        if label == "FAIL" && !verdict.found.is_empty() {
            println!("     found: {}", verdict.found);
        }
    }

    /// `510 passed, 30 differ on purpose, 90 need features, 4 failed`.
    pub fn summary(&self) -> String {
        let Report { passed, differing, needing, failed, .. } = self;
        format!("{passed} passed, {differing} differ on purpose, {needing} need features, {failed} failed")
    }
}

/// Runs one case folder.
pub async fn run_case(path: &Path, options: &OracleOptions) -> Vec<Verdict> {
    let result =
        if path.join("exprs.sql").exists() { exprs::run(path, options).await } else { case::run(path, options).await };
    result.unwrap_or_else(|why| vec![Verdict::fail("0", "runs", why)])
}

/// The folder itself if it is a case, else its sub-folders that are, by name.
fn case_folders(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let is_case = |path: &Path| path.join("case.sql").exists() || path.join("exprs.sql").exists();
    if is_case(folder) {
        return Ok(vec![folder.to_path_buf()]);
    }
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)?
        .collect::<std::io::Result<Vec<_>>>()?
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| is_case(path))
        .collect();
    cases.sort();
    if cases.is_empty() {
        return Err(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "no case.sql or exprs.sql in it or one level below",
        ));
    }
    Ok(cases)
}
