//! The program under test as a child: `highwater run`, asked with `highwater status`, ended with `highwater stop`.

use crate::child::ChildProcess;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// The longest time for anything that a scenario waits for.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// A job with a state folder of its own, so that several plays never meet.
#[derive(Debug)]
pub struct Job {
    program: PathBuf,
    script: PathBuf,
    variables: Vec<(String, String)>,
    parallelism: usize,
    folder: tempfile::TempDir,
    process: Option<ChildProcess>,
}

/// Counts that stop changing when a job has nothing left to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows read by every source.
    pub sources: Vec<u64>,
    /// Rows written by every sink.
    pub sinks: Vec<u64>,
    /// Sources with something left to read, or that do not know, and how much.
    pub behind: Vec<String>,
}

impl Job {
    /// Starts the job; one that will be killed takes checkpoints more often than its script says.
    ///
    /// # Errors
    /// A program that cannot be started.
    pub fn start(
        program: &Path,
        script: &Path,
        variables: Vec<(String, String)>,
        parallelism: usize,
        will_be_killed: bool,
    ) -> Result<Job, String> {
        let mut job = Job::new(program, script, variables)?;
        if will_be_killed {
            let text = std::fs::read_to_string(script).map_err(|cause| format!("{}: {cause}", script.display()))?;
            job.script = job.folder.path().join("often.sql");
            std::fs::write(&job.script, with_frequent_checkpoints(&text))
                .map_err(|cause| format!("{}: {cause}", job.script.display()))?;
        }
        job.run(parallelism, None)?;
        Ok(job)
    }

    /// A job that does not run yet.
    ///
    /// # Errors
    /// A temporary folder that cannot be made.
    pub fn new(program: &Path, script: &Path, variables: Vec<(String, String)>) -> Result<Job, String> {
        let folder = tempfile::tempdir().map_err(|cause| format!("no temporary folder: {cause}"))?;
        let (program, script) = (program.to_path_buf(), script.to_path_buf());
        Ok(Job { program, script, variables, parallelism: 1, folder, process: None })
    }

    /// Kills the job with SIGKILL and starts it again with the same state folder. Before that, it has a checkpoint with
    /// everything that was seen of it: what lies behind its last checkpoint is read again in whatever order partitions
    /// then have, and another order makes other rows late.
    ///
    /// # Errors
    /// A job that ended before, or that cannot be started.
    pub fn restart_after_kill(&mut self) -> Result<(), String> {
        let end = Instant::now() + WAIT_MAX;
        let mut first = None;
        // The next one may have begun before; the one after it has not.
        while first.zip(self.checkpoints()?).is_none_or(|(first, now)| now < first + 2) {
            first = first.or(self.checkpoints()?);
            if Instant::now() > end {
                return Err(format!("no checkpoint within {WAIT_MAX:?}\n{}", self.log()));
            }
        }
        self.kill();
        self.run(self.parallelism, None)
    }

    /// Ends the process at once with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
    }

    /// Waits for the end of the process.
    ///
    /// # Errors
    /// One that does not end in time; it is killed.
    pub fn ended(&mut self) -> Result<ExitStatus, String> {
        match self.process.as_mut() {
            Some(process) => process.wait(WAIT_MAX),
            None => Err("no job runs".into()),
        }
    }

    /// Checkpoints of the job that has the fewest; `None` while it is starting.
    fn checkpoints(&mut self) -> Result<Option<u64>, String> {
        self.expect_running()?;
        let jobs = self.status()?;
        Ok(jobs.iter().map(|job| job["checkpoints"].as_u64().unwrap_or_default()).min())
    }

    /// Starts the process; `fault` says what is to happen to it where ([`base::fault`]).
    ///
    /// # Errors
    /// A program that cannot be started.
    pub fn run(&mut self, parallelism: usize, fault: Option<&str>) -> Result<(), String> {
        self.parallelism = parallelism;
        let mut command = self.command("run");
        command.arg(&self.script).args(["--parallelism", &parallelism.to_string()]);
        if let Some(fault) = fault {
            command.env(base::fault::VARIABLE, fault);
        }
        for (name, value) in &self.variables {
            command.args(["-D", &format!("{name}={value}")]);
        }
        self.process = Some(ChildProcess::spawn("highwater", &mut command, None, None)?);
        Ok(())
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(name).arg("--state-dir").arg(self.folder.path());
        command.current_dir(self.folder.path()).env("HIGHWATER_LANGUAGE", "en").env_remove("HIGHWATER_LOG");
        command
    }

    /// # Errors
    /// The job has ended; with what it said.
    pub fn expect_running(&mut self) -> Result<(), String> {
        match self.process.as_mut().and_then(ChildProcess::ended) {
            None => Ok(()),
            Some(status) => Err(format!("the job has ended ({status})\n{}", self.log())),
        }
    }

    /// The last lines that the job has said.
    pub fn log(&self) -> String {
        self.process.as_ref().map(ChildProcess::log).unwrap_or_default()
    }

    /// All nodes of all jobs of the script; `None` while it is starting.
    ///
    /// # Errors
    /// The job has ended.
    pub fn nodes(&mut self) -> Result<Option<Vec<Value>>, String> {
        self.expect_running()?;
        let jobs = self.status()?;
        let nodes = jobs.iter().flat_map(|job| job["nodes"].as_array().into_iter().flatten().cloned());
        Ok((!jobs.is_empty()).then(|| nodes.collect()))
    }

    fn status(&self) -> Result<Vec<Value>, String> {
        let output = self.command("status").arg("--json").output().map_err(|cause| format!("status: {cause}"))?;
        let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let runs = status["runs"].as_array().into_iter().flatten();
        Ok(runs.flat_map(|run| run["jobs"].as_array().into_iter().flatten().cloned()).collect())
    }

    /// How far the job is; `None` while it is starting.
    ///
    /// # Errors
    /// The job has ended.
    pub fn progress(&mut self) -> Result<Option<Progress>, String> {
        let Some(nodes) = self.nodes()? else { return Ok(None) };
        let mut progress = Progress::default();
        for node in &nodes {
            let count = |name: &str| node[name].as_u64().unwrap_or_default();
            match node["role"].as_str() {
                Some("source") => {
                    progress.sources.push(count("rows_in") + count("rows_rejected"));
                    if node["lag"].as_u64() != Some(0) {
                        progress.behind.push(format!("{} has lag {}", node["name"], node["lag"]));
                    }
                }
                Some("sink") => progress.sinks.push(count("rows_out")),
                _ => {}
            }
        }
        Ok(Some(progress))
    }

    /// Ends the job as a user does.
    ///
    /// # Errors
    /// A job that does not end, or not well; with what it said.
    pub fn stop(&mut self, drain: bool) -> Result<(), String> {
        // It may have been started again a moment ago, and not answer yet.
        let end = Instant::now() + WAIT_MAX;
        while self.nodes()?.is_none() {
            if Instant::now() > end {
                return Err(format!("the job did not start within {WAIT_MAX:?}\n{}", self.log()));
            }
        }
        let mut command = self.command("stop");
        if drain {
            command.arg("--drain");
        }
        let mut stop = ChildProcess::spawn("highwater stop", &mut command, None, None)?;
        let stopped = stop.wait(WAIT_MAX)?;
        let Some(process) = self.process.as_mut() else { return Ok(()) };
        let ended = process.wait(WAIT_MAX)?;
        if stopped.success() && ended.success() {
            return Ok(());
        }
        Err(format!("stop ended with {stopped}, the job with {ended}\n{}\n{}", stop.log(), self.log()))
    }
}

/// The script with a checkpoint every 200 ms, whatever it says itself.
fn with_frequent_checkpoints(script: &str) -> String {
    const KEY: &str = "execution.checkpointing.interval";
    let mut text = format!("SET '{KEY}' = '200 ms';\n");
    for line in script.lines().filter(|line| !line.contains(KEY)) {
        text.push_str(line);
        text.push('\n');
    }
    text
}
