//! Crash tests: the program is killed at every step of a checkpoint and a commit, and at random, and is started again;
//! no row may be lost or doubled.
//!
//! What must come out is computed here, what came out is read by readers that share nothing with the program: Apache's
//! client, committed records only, and the files as they lie there.

mod case;
mod job;
mod kills;
mod outcome;

use crate::services::{Kafka, KafkaOptions};
use base::fault::{POINTS, Point};
use case::{Bench, CrashCase, Moment, applies, moments};
use job::{QUERIES, SINKS, Sink};
use regex::Regex;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// What is run.
#[derive(Debug, Clone)]
pub struct CrashOptions {
    /// The program.
    pub program: PathBuf,
    /// Only tests whose name matches.
    pub only: Option<Regex>,
    /// Of the fault points, every how manieth test; 0: none.
    pub every: usize,
    /// Random kills of one job.
    pub kills: u32,
    /// Decides when they come.
    pub seed: u64,
    /// Print every test before it runs.
    pub trace: bool,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct CrashReport {
    /// Tests that were run, by their point and sink: how many, and how many of them were right.
    counts: BTreeMap<(usize, &'static str), (usize, usize)>,
    /// Random kills.
    pub kills: u32,
    /// Wrong results.
    pub problems: Vec<String>,
}

impl CrashReport {
    /// Tests that were run.
    pub fn tests(&self) -> usize {
        self.counts.values().map(|(run, _)| run).sum()
    }

    /// The table of the documentation.
    pub fn table(&self) -> String {
        let mut text =
            String::from("| killed before the step | kafka | upsert-kafka | filesystem |\n|---|---|---|---|\n");
        for (index, point) in POINTS.iter().enumerate() {
            let cell = |sink: &str| match self.counts.get(&(index, sink)) {
                Some((run, right)) => format!("{right} of {run}"),
                None => "-".into(),
            };
            let [kafka, upsert, files] = SINKS.map(|sink| cell(sink.name()));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| `{}` | {kafka} | {upsert} | {files} |", point.name());
        }
        text
    }
}

/// All tests with fault points.
pub fn cases() -> Vec<(usize, CrashCase)> {
    let mut cases = Vec::new();
    for (index, &point) in POINTS.iter().enumerate() {
        for sink in SINKS.into_iter().filter(|sink| applies(point, *sink)) {
            for query in QUERIES {
                for &moment in moments(point) {
                    cases.push((index, CrashCase { query, sink, point, moment, action: "kill" }));
                }
                // Failures that pass: the job helps itself.
                for action in failures(point) {
                    cases.push((index, CrashCase { query, sink, point, moment: Moment::Middle, action }));
                }
            }
        }
    }
    cases
}

/// Failures, besides the end of the process, that a step can meet.
fn failures(point: Point) -> &'static [&'static str] {
    match point.name().split_once('.') {
        Some(("segment" | "manifest" | "filesystem", _)) => &["full", "denied"],
        Some(("kafka", _)) => &["fail"],
        _ => &[],
    }
}

/// Runs the tests.
///
/// # Errors
/// A broker that cannot be started.
pub fn run(options: &CrashOptions) -> Result<CrashReport, String> {
    let wanted = |name: &str| options.only.as_ref().is_none_or(|only| only.is_match(name));
    let every = options.every;
    let chosen: Vec<(usize, CrashCase)> = cases()
        .into_iter()
        .enumerate()
        .filter(|(number, (_, case))| every > 0 && number % every == 0 && wanted(&case.to_string()))
        .map(|(_, case)| case)
        .collect();
    let needs_kafka = options.kills > 0 || chosen.iter().any(|(_, case)| case.sink != Sink::Filesystem);
    let kafka = needs_kafka.then(|| Kafka::launch(KafkaOptions::default())).transpose()?;
    let bench = Bench { program: &options.program, kafka: kafka.as_ref() };
    let mut report = CrashReport::default();
    for (number, (index, case)) in chosen.into_iter().enumerate() {
        if options.trace {
            println!("{case}");
        }
        let count = report.counts.entry((index, case.sink.name())).or_default();
        count.0 += 1;
        match case.run(bench, number) {
            Ok(()) => count.1 += 1,
            Err(problem) => report.problems.push(problem),
        }
    }
    if options.kills > 0 {
        match kills::run(bench, options.kills, options.seed, options.trace) {
            Ok(()) => report.kills = options.kills,
            Err(problem) => report.problems.push(problem),
        }
    }
    Ok(report)
}

#[cfg(test)]
#[path = "crash_tests.rs"]
mod tests;
