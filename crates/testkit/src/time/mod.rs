//! `hw-testkit time`: random streams with bounded disorder, and queries whose results depend on event time alone.
//!
//! A case is a set of rows and a query. It is run in several ways: other orders of arrival within the bound of the
//! watermark, other divisions into splits, other batch sizes and parallelism, with restarts. The final table is always
//! the same, and what the query means, computed in the plain way. With rows beyond the bound, every row that is late is
//! counted or applied, as a computation row by row says; nothing else may be missing. A failing case is made smaller.

mod case;
mod connector;
mod evaluate;
mod late;
mod query;
mod run;

use case::{Case, Way};
use run::{Stopped, run as run_case};
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

/// How many cases, and from where.
#[derive(Debug, Clone)]
pub struct TimeOptions {
    /// The number of the first case; the next case has the next number.
    pub seed: u64,
    /// How many.
    pub runs: u64,
    /// No new case after this time.
    pub time: Option<Duration>,
    /// Stop after this many wrong ones.
    pub wrong_max: usize,
    /// Whether every case is printed before it runs.
    pub trace: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub struct TimeReport {
    /// Right cases by the kind of their query.
    pub same: BTreeMap<String, u64>,
    /// Right cases whose result has no rows.
    pub empty: u64,
    /// Right cases with rows beyond the bound.
    pub with_late: u64,
    /// Late rows that were counted in all cases.
    pub late_rows: u64,
    /// Cases that need what is not built, by feature and kind of query.
    pub unsupported: BTreeMap<String, u64>,
    /// Wrong cases, with all that is needed to see them again.
    pub wrong: Vec<String>,
}

impl TimeReport {
    /// Cases whose results were compared.
    pub fn compared(&self) -> u64 {
        self.same.values().sum::<u64>() + self.wrong.len() as u64
    }
}

impl fmt::Display for TimeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (feature, times) in &self.unsupported {
            writeln!(f, "{times} need {feature}")?;
        }
        let kinds: Vec<String> = self.same.iter().map(|(kind, times)| format!("{kind} {times}")).collect();
        writeln!(f, "right: {}", kinds.join(", "))?;
        write!(
            f,
            "{} compared ({} without rows, {} with rows beyond the bound, {} late rows counted), {} wrong",
            self.compared(),
            self.empty,
            self.with_late,
            self.late_rows,
            self.wrong.len()
        )
    }
}

/// Runs cases.
///
/// # Errors
/// No async runtime.
pub fn run(options: &TimeOptions) -> Result<TimeReport, String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let mut report = TimeReport::default();
    for seed in options.seed..options.seed + options.runs {
        if options.time.is_some_and(|time| begun.elapsed() > time) || report.wrong.len() >= options.wrong_max {
            break;
        }
        let (case, ways) = Case::random(seed);
        if options.trace {
            println!("--seed {seed} {}: {}", case.query.name(), case.sql());
        }
        match runtime.block_on(judge(&case, &ways)) {
            Ok(judged) => {
                *report.same.entry(case.query.name().to_string()).or_default() += 1;
                report.empty += u64::from(judged.rows == 0);
                report.with_late += u64::from(case.is_late);
                report.late_rows += judged.late;
            }
            Err(Verdict::Unsupported(feature)) => {
                *report.unsupported.entry(format!("{feature} ({})", case.query.name())).or_default() += 1;
            }
            Err(Verdict::Wrong(way, text)) => {
                let (case, text) = runtime.block_on(shrink(case, &way, text));
                let text = format!("--seed {seed} {}: {text}\nrun as {way:?}\n{}", case.query.name(), case.text(&way));
                println!("{text}\n");
                report.wrong.push(text);
            }
        }
    }
    Ok(report)
}

/// What was compared.
#[derive(Debug, Default)]
struct Judged {
    rows: usize,
    late: u64,
}

enum Verdict {
    Unsupported(String),
    Wrong(Way, String),
}

async fn judge(case: &Case, ways: &[Way]) -> Result<Judged, Verdict> {
    let mut judged = Judged::default();
    for way in ways {
        let one = judge_way(case, way).await.map_err(|stopped| match stopped {
            Stopped::Unsupported(feature) => Verdict::Unsupported(feature),
            Stopped::Failed(text) => Verdict::Wrong(way.clone(), text),
        })?;
        judged.rows = one.rows;
        judged.late += one.late;
    }
    Ok(judged)
}

/// Runs a case in one way and compares it with what it means.
async fn judge_way(case: &Case, way: &Way) -> Result<Judged, Stopped> {
    let expected = case.expected(way);
    let found = run_case(case, way).await?;
    let table = crate::diff::compare::materialise(&found.changes).map_err(Stopped::Failed)?;
    if table != expected.rows {
        return Err(Stopped::Failed(crate::diff::compare::difference(&expected.rows, &table)));
    }
    if found.late != expected.late {
        return Err(Stopped::Failed(format!("{} late rows counted, {} are late", found.late, expected.late)));
    }
    if case.query.is_ordered() {
        let order: Vec<_> = found.changes.iter().map(|change| change.cells.clone()).collect();
        let wanted = case.ordered();
        if order != wanted {
            return Err(Stopped::Failed(format!("order {order:?}, wanted {wanted:?}")));
        }
    }
    Ok(Judged { rows: table.len(), late: found.late })
}

/// Leaves out rows as long as the case stays wrong.
async fn shrink(mut case: Case, way: &Way, mut text: String) -> (Case, String) {
    const TRIES: usize = 150;
    let mut tries = 0;
    let mut size = case.rows_len() / 2;
    while size > 0 && tries < TRIES {
        let mut start = 0;
        let mut is_smaller = false;
        while start < case.rows_len() && tries < TRIES {
            let smaller = case.without(start, size);
            tries += 1;
            match judge_way(&smaller, way).await {
                Err(Stopped::Failed(problem)) => {
                    (case, text, is_smaller) = (smaller, problem, true);
                }
                _ => start += size,
            }
        }
        if !is_smaller || size > 1 {
            size /= 2;
        }
    }
    (case, text)
}
