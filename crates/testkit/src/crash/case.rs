//! One crash test: a job that meets a fault, is started again, and must have the right result.

use super::job::{CrashJob, Query, Sink, Source};
use super::outcome;
use crate::play::job::Job;
use crate::services::{Kafka, KafkaClient};
use base::fault::{self, Point};
use std::fmt::{Display, Formatter};
use std::path::PathBuf;

/// Orders of a job that is hit in the middle, and how many a second: several checkpoints long. On a busy machine a job can
/// be through before its third checkpoint; then it is run again with fewer a second.
const MIDDLE: (i64, [u64; 3]) = (8_000, [8_000, 2_000, 500]);
/// Orders of a job that is hit in its last checkpoint.
const END: (i64, [u64; 1]) = (4_000, [1_000_000]);
/// The pass of a point in the middle: state and earlier commits are there.
const MIDDLE_PASS: u64 = 3;
/// Starts after the fault, until the job has to be through.
const STARTS_MAX: usize = 3;

/// When the fault happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// While rows come.
    Middle,
    /// In the checkpoint that follows the end of the input; there was none before.
    End,
    /// While a job comes back that was killed before its sinks had committed.
    Restart,
}

/// One test.
#[derive(Debug, Clone, Copy)]
pub struct CrashCase {
    /// What is computed.
    pub query: Query,
    /// Where it goes.
    pub sink: Sink,
    /// Where it is hit.
    pub point: Point,
    /// When.
    pub moment: Moment,
    /// What happens: `kill`, `fail`, `full`, `denied`.
    pub action: &'static str,
}

impl Display for CrashCase {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let moment = match self.moment {
            Moment::Middle => "middle",
            Moment::End => "end",
            Moment::Restart => "restart",
        };
        write!(f, "{}/{}/{}/{}={}", self.query, self.sink, moment, self.point.name(), self.action)
    }
}

/// Whether jobs with this sink pass the point.
pub fn applies(point: Point, sink: Sink) -> bool {
    match point.name().split_once('.') {
        Some(("kafka", _)) => sink == Sink::Kafka,
        Some(("filesystem", _)) => sink == Sink::Filesystem,
        _ => true,
    }
}

/// When the point is passed.
pub fn moments(point: Point) -> &'static [Moment] {
    if point == fault::RESTORE_READ || point == fault::RESTORE_COMMIT {
        &[Moment::Restart]
    } else if point == fault::CHECKPOINT_REMOVE || point.name().starts_with("merge.") {
        // The last checkpoint is removed with the job, and nothing is merged after it.
        &[Moment::Middle]
    } else {
        &[Moment::Middle, Moment::End]
    }
}

/// What a test needs besides the case.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'a> {
    /// The program.
    pub program: &'a PathBuf,
    /// Started when a sink needs it.
    pub kafka: Option<&'a Kafka>,
}

impl Bench<'_> {
    /// Broker and client, for a sink that needs them.
    pub(super) fn broker(&self, sink: Sink) -> Result<Option<(String, &KafkaClient)>, String> {
        if sink == Sink::Filesystem {
            return Ok(None);
        }
        let kafka = self.kafka.ok_or("no broker")?;
        Ok(Some((kafka.address(), kafka.client()?)))
    }
}

impl CrashCase {
    /// Runs it. `number` is its own: it names topics.
    ///
    /// # Errors
    /// A wrong result, with the case.
    pub fn run(&self, bench: Bench<'_>, number: usize) -> Result<(), String> {
        let (rows, rates) = if self.moment == Moment::End { (END.0, &END.1[..]) } else { (MIDDLE.0, &MIDDLE.1[..]) };
        let mut missed = String::new();
        for &rows_per_second in rates {
            match self.attempt(bench, number, rows, rows_per_second).map_err(|problem| format!("{self}: {problem}"))? {
                None => return Ok(()),
                Some(log) => missed = log,
            }
        }
        Err(format!("{self}: the fault did not happen\n{missed}"))
    }

    /// `None` if everything was right; else what the job said that came to its end without meeting the fault.
    fn attempt(
        &self,
        bench: Bench<'_>,
        number: usize,
        rows: i64,
        rows_per_second: u64,
    ) -> Result<Option<String>, String> {
        let interval = if self.moment == Moment::End { "0" } else { "100 ms" };
        let job = CrashJob { query: self.query, sink: self.sink, rows };
        let folder = tempfile::tempdir().map_err(|cause| format!("no temporary folder: {cause}"))?;
        let broker = bench.broker(self.sink)?;
        let place = match &broker {
            Some((_, client)) => {
                let topic = format!("crash-{number}-{rows_per_second}");
                client.create_topic(&topic, 2, &[])?;
                topic
            }
            None => folder.path().join("results").display().to_string(),
        };
        let address = broker.as_ref().map_or("", |(address, _)| address);
        let script = folder.path().join("job.sql");
        let text = job.script(Source::Generated { rows_per_second }, address, "", &place, interval);
        std::fs::write(&script, text).map_err(|cause| format!("{}: {cause}", script.display()))?;
        let mut lives = Job::new(bench.program, &script, Vec::new())?;
        // Every second test goes on at another parallelism.
        let parallelism = [2, if number.is_multiple_of(2) { 2 } else { 3 }];
        let mut is_over = match self.hit(&mut lives, parallelism)? {
            Hit::Missed => return Ok(Some(lives.log())),
            Hit::Killed => false,
            Hit::Recovered { is_over } => is_over,
        };
        let mut starts = 0;
        while !is_over {
            lives.run(parallelism[1], None)?;
            let status = lives.ended()?;
            starts += 1;
            is_over = status.success();
            if !is_over && starts == STARTS_MAX {
                return Err(format!("does not come back ({status})\n{}", lives.log()));
            }
        }
        outcome::check(&job, &place, broker.map(|(_, client)| client)).map(|()| None)
    }

    /// Runs the job until the fault has happened.
    fn hit(&self, job: &mut Job, parallelism: [usize; 2]) -> Result<Hit, String> {
        let pass = if self.moment == Moment::Middle { MIDDLE_PASS } else { 1 };
        let fault = format!("{}@{pass}={}", self.point.name(), self.action);
        if self.moment == Moment::Restart {
            let first = format!("{}@{MIDDLE_PASS}=kill", fault::CHECKPOINT_COMMIT.name());
            job.run(parallelism[0], Some(&first))?;
            if !is_killed(job)? {
                return Ok(Hit::Missed);
            }
        }
        job.run(if self.moment == Moment::Restart { parallelism[1] } else { parallelism[0] }, Some(&fault))?;
        if self.action == "kill" {
            return Ok(if is_killed(job)? { Hit::Killed } else { Hit::Missed });
        }
        // The job helps itself, or ends with an error.
        let status = job.ended()?;
        let log = job.log();
        let was_noticed = ["HW-R008", "HW-R007", "error["].iter().any(|text| log.contains(text));
        Ok(if was_noticed { Hit::Recovered { is_over: status.success() } } else { Hit::Missed })
    }
}

/// What a fault did to a job.
enum Hit {
    /// Nothing: the job came to its end before.
    Missed,
    /// The process is gone.
    Killed,
    /// The job has met a failure and has come to its end nevertheless, or has ended with an error.
    Recovered { is_over: bool },
}

/// Whether the process ends by a signal; one that ends well has missed its fault.
fn is_killed(job: &mut Job) -> Result<bool, String> {
    use std::os::unix::process::ExitStatusExt;
    let status = job.ended()?;
    match status.signal() {
        Some(_) => Ok(true),
        None if status.success() => Ok(false),
        None => Err(format!("the job has ended ({status})\n{}", job.log())),
    }
}
