//! `hw-testkit diff`: random tables, changes and queries; what the engine says must be what the query means.
//!
//! A case is made from a number, so that the number is enough to see a problem again. It runs on the streaming engine with
//! random batch sizes, parallelism, restarts and pauses, and its changelog must be valid and describe, at several points
//! and at the end, the table that the query means: computed in the plain way, and by batch mode. A failing case is made
//! smaller before it is reported. What was found once stays in the folder `diff_corpus`, which a test runs again.

mod case;
pub(crate) mod compare;
mod corpus;
mod cut;
mod data;
mod evaluate;
mod expressions;
mod generate;
mod generate_expr;
mod judge;
mod query;
mod reference;
mod report;
mod run;
mod shrink;
mod sql;
mod value;
mod visit;

pub use corpus::replay;
pub use report::{DiffReport, reproduction};

use case::Case;
use judge::{Verdict, judge};
use shrink::{Failing, shrink};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How many cases, and from where.
#[derive(Debug, Clone)]
pub struct DiffOptions {
    /// The number of the first case; the following cases have the following numbers.
    pub seed: u64,
    /// How many.
    pub runs: u64,
    /// No new case after this time.
    pub time: Option<Duration>,
    /// Stop after this many wrong ones.
    pub wrong_max: usize,
    /// Where failing cases are saved.
    pub save: Option<PathBuf>,
    /// Whether every case is printed before it runs.
    pub trace: bool,
}

/// Runs cases.
///
/// # Errors
/// No async runtime, or a folder that cannot be written.
pub fn run(options: &DiffOptions) -> Result<DiffReport, String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let mut report = DiffReport::default();
    for seed in options.seed..options.seed + options.runs {
        if options.time.is_some_and(|time| begun.elapsed() > time) || report.failing.len() >= options.wrong_max {
            break;
        }
        let (case, ways) = Case::random(seed);
        if options.trace {
            println!("--seed {seed}\n{}", report::case_sql(&case));
        }
        match runtime.block_on(judge(&case, &ways)) {
            Verdict::Same(compared) => {
                report.same += 1;
                report.sunk += u64::from(compared.sunk);
                report.asked += u64::from(compared.asked);
                report.empty += u64::from(compared.rows == 0);
                compared.operators.into_iter().for_each(|name| *report.operators.entry(name).or_default() += 1);
            }
            Verdict::Unsupported(feature) => report.unsupported.entry(feature).or_insert((0, seed)).0 += 1,
            Verdict::Refused(code, text) => {
                let first = || (0, format!("--seed {seed}: {text}\n{}", case.sql()));
                report.refused.entry(code).or_insert_with(first).0 += 1;
            }
            Verdict::Beyond => report.beyond += 1,
            Verdict::Wrong(wrong) if report.is_known(&wrong.kind) => report.repeat(&wrong.kind),
            Verdict::Wrong(wrong) => {
                let failing = runtime.block_on(shrink(Failing { case, wrong: *wrong }));
                println!("{}\n", reproduction(seed, &failing));
                if let Some(folder) = &options.save {
                    let saved = report::save(folder, seed, &failing);
                    println!("saved: {}\n", saved.map_err(|error| error.to_string())?.display());
                }
                report.failing.push((seed, failing));
            }
        }
    }
    Ok(report)
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
