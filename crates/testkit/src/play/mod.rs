//! Plays a scenario: a folder with a job, records in steps, and what must come out.
//!
//! `input/steps.yaml` is the timetable, `input/kafka/<topic>.jsonl` holds the records with the step that sends them,
//! `expected/` the results. Results are read with a client that shares no code with the program. At the end the job is
//! stopped and every topic is compared once more: a plain stop must change nothing, a drained one must give
//! `expected/if_drained/`.

pub(crate) mod job;
mod json;
mod steps;
mod topic;

use crate::services::kafka_client::Offsets;
use crate::services::{KafkaClient, Record};
use job::{Job, Progress, WAIT_MAX};
use json::Json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use steps::{Step, What};
pub(crate) use topic::live;

/// Time between two looks at a job that is coming to rest.
const SETTLE_POLL: Duration = Duration::from_millis(100);
/// A wait for records ends at the first one; this often the job is looked at too.
const RECORD_WAIT: Duration = Duration::from_millis(500);

/// What is played, and how.
#[derive(Debug, Clone)]
pub struct PlayOptions {
    /// The scenario's folder.
    pub scenario: PathBuf,
    /// The job, if it is not the one that the steps name.
    pub job: Option<PathBuf>,
    /// The folder below the scenario's in which `expected/...` is looked up.
    pub expected: PathBuf,
    /// Parallel instances.
    pub parallelism: usize,
    /// End the input at the end: all windows fire.
    pub drain: bool,
    /// Kill the job between any two steps, and start it again.
    pub kill_between_steps: bool,
    /// Delete topics that are in the way.
    pub replace_topics: bool,
    /// The program.
    pub highwater: PathBuf,
}

impl PlayOptions {
    /// The scenario as its steps say, one instance, a plain stop.
    pub fn new(scenario: impl Into<PathBuf>, highwater: impl Into<PathBuf>) -> PlayOptions {
        PlayOptions {
            scenario: scenario.into(),
            job: None,
            expected: "expected".into(),
            parallelism: 1,
            drain: false,
            kill_between_steps: false,
            replace_topics: false,
            highwater: highwater.into(),
        }
    }
}

/// Plays a scenario against the broker at `address`, which `client` reads and writes. Standard output shows each step.
///
/// # Errors
/// The step that failed, every difference, and what the job said.
pub fn play(options: &PlayOptions, address: &str, client: &KafkaClient) -> Result<(), String> {
    let text = read(&options.scenario.join("input/steps.yaml"))?;
    let steps = steps::parse(&text)?;
    expect_results(options, &steps)?;
    let mut player = Player { options, address, client, job: None, topics: Vec::new(), produced: 0 };
    let count = steps.len();
    for (index, step) in steps.iter().enumerate() {
        let title = format!("step {}/{count}, {}", index + 1, step.title());
        println!("{title}");
        player.step(step).map_err(|problem| player.explain(&title, &problem))?;
        if options.kill_between_steps
            && index + 1 < count
            && let Some(job) = &mut player.job
        {
            println!("kill -9, start again");
            job.restart_after_kill().map_err(|problem| player.explain("kill -9", &problem))?;
        }
    }
    let title = if options.drain { "stop --drain" } else { "stop" };
    println!("{title}");
    player.finish(&steps).map_err(|problem| player.explain(title, &problem))
}

/// A folder without a single expected file would make every play a success.
fn expect_results(options: &PlayOptions, steps: &[Step]) -> Result<(), String> {
    let folder = options.scenario.join(&options.expected);
    let mut files = steps.iter().filter_map(|step| match step {
        Step::Check { file, .. } => Some(folder.join(below_expected(file))),
        _ => None,
    });
    if files.any(|file| file.exists()) {
        return Ok(());
    }
    Err(format!("{} has no result that a step checks", folder.display()))
}

/// `expected/x` is looked up in the chosen folder of results.
fn below_expected(file: &str) -> &Path {
    Path::new(file).strip_prefix("expected").unwrap_or(Path::new(file))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|cause| format!("cannot read {}: {cause}", path.display()))
}

struct Player<'a> {
    options: &'a PlayOptions,
    address: &'a str,
    client: &'a KafkaClient,
    job: Option<Job>,
    topics: Vec<String>,
    /// Records with a value sent so far.
    produced: u64,
}

impl Player<'_> {
    fn explain(&self, title: &str, problem: &str) -> String {
        let log = self.job.as_ref().map(Job::log).unwrap_or_default();
        // A problem of the job itself has it already.
        let log = if log.is_empty() || problem.contains(&log) { String::new() } else { format!("\n{log}") };
        format!("{}: {title}\n{problem}{log}", self.options.scenario.display())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::CreateTopic { name, partitions, configs } => self.create_topic(name, *partitions, configs),
            Step::Start { script } => self.start(script),
            Step::Produce { topics, step } => topics.iter().try_for_each(|topic| self.produce(topic, *step)),
            Step::Settle(time) => self.settle(*time),
            Step::WaitKey { topic, key } => {
                let wanted = key.canonical();
                self.wait_for(topic, |records| {
                    let live = topic::live(records)?;
                    let mut keys = live.keys().filter_map(|key| Json::parse(&String::from_utf8_lossy(key)).ok());
                    Ok(keys.any(|key| key.canonical() == wanted))
                })
            }
            Step::WaitRows { topic, compacted, equals } => self.wait_for(topic, |records| {
                Ok(if *compacted { topic::live(records)?.len() } else { records.len() } == *equals)
            }),
            Step::Check { topic, what, file, ignore } => self.check(topic, *what, file, ignore),
            Step::CheckMetric { name, operator, equals } => self.check_metric(name, operator, *equals),
        }
    }

    fn job(&mut self) -> Result<&mut Job, String> {
        self.job.as_mut().ok_or_else(|| "no job has been started".into())
    }

    fn create_topic(&mut self, name: &str, partitions: u32, configs: &[(String, String)]) -> Result<(), String> {
        if self.client.topics()?.iter().any(|topic| topic == name) {
            if !self.options.replace_topics {
                return Err(format!(
                    "there is a topic {name} at {} already; --replace-topics deletes it",
                    self.address
                ));
            }
            self.client.delete_topic(name)?;
        }
        let configs: Vec<(&str, &str)> = configs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        self.client.create_topic(name, partitions, &configs)?;
        self.topics.push(name.into());
        Ok(())
    }

    fn start(&mut self, script: &str) -> Result<(), String> {
        if self.job.is_some() {
            return Err("a second job cannot be played yet".into());
        }
        let script = self.options.job.clone().unwrap_or_else(|| self.options.scenario.join(script));
        let script = std::path::absolute(&script).map_err(|cause| format!("{}: {cause}", script.display()))?;
        let variables = self.variables(&read(&script)?)?;
        let kills = self.options.kill_between_steps;
        self.job = Some(Job::start(&self.options.highwater, &script, variables, self.options.parallelism, kills)?);
        Ok(())
    }

    /// The defaults beside the scenarios, as far as the script uses them, and where the broker is.
    fn variables(&self, script: &str) -> Result<Vec<(String, String)>, String> {
        let scenario = std::path::absolute(&self.options.scenario).map_err(|cause| cause.to_string())?;
        let defaults = scenario.parent().map(|folder| folder.join("defaults.env")).filter(|path| path.exists());
        let defaults = defaults.map(|path| read(&path)).transpose()?.unwrap_or_default();
        let lines = defaults.lines().filter(|line| !line.starts_with('#'));
        let mut variables: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once('='))
            .filter(|(name, _)| *name != "KAFKA" && script.contains(&format!("${{{name}}}")))
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        variables.push(("KAFKA".into(), self.address.into()));
        Ok(variables)
    }

    fn produce(&mut self, topic: &str, step: i64) -> Result<(), String> {
        let path = self.options.scenario.join("input/kafka").join(format!("{topic}.jsonl"));
        let mut records = Vec::new();
        for (index, line) in read(&path)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = |problem| format!("{} line {}: {problem}", path.display(), index + 1);
            let envelope = Json::parse(line).map_err(place)?;
            if envelope.get("step").and_then(Json::integer).unwrap_or(1) == step {
                records.push(record(&envelope).map_err(place)?);
            }
        }
        if records.is_empty() {
            return Err(format!("{} has no record of step {step}", path.display()));
        }
        self.produced += records.iter().filter(|record| record.value.is_some()).count() as u64;
        self.client.produce(topic, &records).map(|_| ())
    }

    /// Waits until every source has read everything and nothing has changed for `time`.
    fn settle(&mut self, time: Duration) -> Result<(), String> {
        let end = Instant::now() + WAIT_MAX;
        let mut seen: Option<(Progress, Vec<Offsets>)> = None;
        let mut since = Instant::now();
        loop {
            let progress = self.job()?.progress()?;
            let ends = self.topics.iter().map(|topic| self.client.end_offsets(topic)).collect::<Result<_, _>>()?;
            let now = progress.map(|progress| (progress, ends));
            let is_behind = now.as_ref().is_none_or(|(progress, _)| self.is_behind(progress));
            if is_behind || now != seen {
                seen = now;
                since = Instant::now();
            } else if since.elapsed() >= time {
                return Ok(());
            }
            if Instant::now() > end {
                let state =
                    seen.map_or("it has not started".into(), |(progress, ends)| format!("{progress:?}, ends {ends:?}"));
                let sent = self.produced;
                return Err(format!("the job did not come to rest within {WAIT_MAX:?}: {sent} records sent, {state}"));
            }
            std::thread::sleep(SETTLE_POLL);
        }
    }

    /// A source may not have heard yet of what was sent: it must have read it. A job that was killed goes on from its
    /// checkpoint and need not read everything again.
    fn is_behind(&self, progress: &Progress) -> bool {
        let read: u64 = progress.sources.iter().sum();
        !progress.behind.is_empty() || (read < self.produced && !self.options.kill_between_steps)
    }

    /// Reads a topic on and on until `reached` says so of all its records.
    fn wait_for(&mut self, topic: &str, reached: impl Fn(&[Record]) -> Result<bool, String>) -> Result<(), String> {
        let end = Instant::now() + WAIT_MAX;
        let mut positions = Offsets::new();
        let mut records = Vec::new();
        loop {
            records.extend(self.client.read_on(topic, &mut positions, RECORD_WAIT)?);
            if reached(&records)? {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(format!("not within {WAIT_MAX:?}; topic {topic} has {} records", records.len()));
            }
            self.job()?.expect_running()?;
        }
    }

    fn check(&self, topic: &str, what: What, file: &str, ignore: &[String]) -> Result<(), String> {
        let path = self.options.scenario.join(&self.options.expected).join(below_expected(file));
        if self.is_variant() && !path.exists() {
            println!("  not checked: {} says nothing of {file}", self.options.expected.display());
            return Ok(());
        }
        self.compare(topic, what, &path, ignore)
    }

    fn compare(&self, topic: &str, what: What, path: &Path, ignore: &[String]) -> Result<(), String> {
        let problems = topic::check(&self.client.read(topic)?, what, &read(path)?, ignore);
        if problems.is_empty() {
            return Ok(());
        }
        Err(format!("topic {topic} is not as in {}:\n  {}", path.display(), problems.join("\n  ")))
    }

    /// Whether results of another job than the steps' own are expected.
    fn is_variant(&self) -> bool {
        self.options.expected != Path::new("expected")
    }

    fn check_metric(&mut self, name: &str, operator: &str, equals: u64) -> Result<(), String> {
        if self.is_variant() {
            println!("  not checked: {name} is that of the scenario's own job");
            return Ok(());
        }
        let end = Instant::now() + WAIT_MAX;
        let nodes = loop {
            // It may have been started again a moment ago.
            match self.job()?.nodes()? {
                Some(nodes) => break nodes,
                None if Instant::now() > end => return Err(format!("the job did not start within {WAIT_MAX:?}")),
                None => std::thread::sleep(SETTLE_POLL),
            }
        };
        let text = |node: &serde_json::Value| node["name"].as_str().unwrap_or_default().to_string();
        let wanted: Vec<_> = nodes.iter().filter(|node| text(node).contains(operator)).collect();
        if wanted.is_empty() {
            let names: Vec<String> = nodes.iter().map(text).collect();
            return Err(format!("no operator {operator} among {}", names.join(", ")));
        }
        let mut found = 0;
        for node in wanted {
            found += node[name].as_u64().ok_or_else(|| format!("{} has no metric {name}", text(node)))?;
        }
        if found == equals { Ok(()) } else { Err(format!("{name} is {found}, expected {equals}")) }
    }

    /// Stops the job and compares what it has left.
    fn finish(&mut self, steps: &[Step]) -> Result<(), String> {
        let drain = self.options.drain;
        let Some(job) = &mut self.job else { return Ok(()) };
        job.stop(drain)?;
        let drained = self.options.scenario.join(&self.options.expected).join("if_drained");
        if drain && drained.is_dir() {
            return self.compare_drained(&drained);
        }
        last_checks(steps).into_iter().try_for_each(|step| match step {
            Step::Check { topic, what, file, ignore } => self.check(topic, *what, file, ignore),
            _ => Ok(()),
        })
    }

    /// Every file of the folder is `<topic>.compacted.jsonl`.
    fn compare_drained(&self, folder: &Path) -> Result<(), String> {
        let entries = std::fs::read_dir(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            match name.strip_suffix(".compacted.jsonl") {
                Some(topic) => self.compare(topic, What::Compacted, &path, &[])?,
                None => return Err(format!("{} cannot be compared", path.display())),
            }
        }
        Ok(())
    }
}

/// The last check of each kind of each topic: an earlier one is of an earlier moment, and more has been written since.
fn last_checks(steps: &[Step]) -> Vec<&Step> {
    let key = |step: &Step| match step {
        Step::Check { topic, what, .. } => Some((topic.clone(), *what)),
        _ => None,
    };
    let is_last = |index: usize| {
        key(&steps[index]).is_some() && steps[index + 1..].iter().all(|later| key(later) != key(&steps[index]))
    };
    (0..steps.len()).filter(|&index| is_last(index)).map(|index| &steps[index]).collect()
}

/// A record of a scenario as Kafka gets it.
fn record(envelope: &Json) -> Result<Record, String> {
    let partition = envelope.get("partition").map_or(Some(0), Json::integer);
    let partition = partition.and_then(|partition| i32::try_from(partition).ok());
    Ok(Record {
        partition: Some(partition.ok_or("partition is no number")?),
        timestamp: envelope.get("ts").and_then(Json::integer),
        key: bytes(envelope, "key"),
        value: bytes(envelope, "value"),
        ..Record::default()
    })
}

/// `<name>_text` as it is, or `<name>` as compact JSON; null or missing is nothing.
fn bytes(envelope: &Json, name: &str) -> Option<Vec<u8>> {
    match (envelope.get(&format!("{name}_text")), envelope.get(name)) {
        (Some(Json::Text(text)), _) => Some(text.clone().into_bytes()),
        (_, None | Some(Json::Null)) => None,
        (_, Some(value)) => Some(value.compact().into_bytes()),
    }
}

#[cfg(test)]
#[path = "play_tests.rs"]
mod tests;
