//! Runs recorded Flink cases and compares what comes out.
//!
//! A case is a folder: `case.sql`, `input.log` (one event a line: `TABLE OP JSON`, in global order), and what Flink answered:
//! `expected.changelog`, `expected.table`, `expected.error`; or `exprs.sql` with `expected.exprs`. Tables of the cases use
//! `'connector' = 'oracle'`, which exists only here: it replays the log, one event at a time, each when the job has come to
//! rest, so that the order over several tables is the recorded one.

mod case;
mod compare;
mod connector;
mod expected;
mod exprs;
mod feed;
mod files;
mod log;

pub use connector::CaptureResults;

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
}

impl OracleOptions {
    /// Whether the exact sequence of changes is compared.
    fn compares_sequences(&self) -> bool {
        self.batch == 1 && self.parallelism == 1
    }
}

/// What a run gave.
#[derive(Debug, Default)]
pub struct Report {
    /// Results that are as recorded.
    pub passed: usize,
    /// Results that are not.
    pub failed: usize,
    /// Folders that could not be read.
    pub problems: Vec<String>,
}

/// One compared result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// `2`, `4.s1`, `file json_default/part-X`, or the line of an expression.
    pub result: String,
    /// What was compared: `sequence`, `table`, `error`, `value`, `rows`, `runs`.
    pub what: &'static str,
    /// Why it failed; `None` if it passed.
    pub failure: Option<String>,
}

impl Verdict {
    fn pass(result: impl Into<String>, what: &'static str) -> Verdict {
        Verdict { result: result.into(), what, failure: None }
    }

    fn fail(result: impl Into<String>, what: &'static str, why: impl Into<String>) -> Verdict {
        Verdict { result: result.into(), what, failure: Some(why.into()) }
    }
}

/// Runs all cases in the given folders and prints a line per result.
pub fn run(folders: &[PathBuf], options: &OracleOptions) -> Report {
    let mut report = Report::default();
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
            for verdict in runtime.block_on(run_case(&path, options)) {
                match &verdict.failure {
                    None => {
                        report.passed += 1;
                        println!("PASS {name}#{} {}", verdict.result, verdict.what);
                    }
                    Some(why) => {
                        report.failed += 1;
                        println!("FAIL {name}#{} {} {}", verdict.result, verdict.what, why.replace('\n', " / "));
                    }
                }
            }
        }
    }
    report
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
