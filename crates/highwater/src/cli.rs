//! The command line: what can be typed, and nothing of what it does.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A real-time data warehouse in one program: runs Flink SQL.
#[derive(Debug, Parser)]
#[command(name = "highwater", version, about = ABOUT, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const ABOUT: &str = "A real-time data warehouse in one program: runs Flink SQL";

const EXIT_CODES: &str = "Exit codes:
  0    everything ended well, or was stopped cleanly (stop, Ctrl-C, SIGTERM)
  1    a job failed while it ran, or an outside system did not answer
  2    the command line or the script was refused before any row was written
  3    a bug in Highwater
  130  a second Ctrl-C: stopped at once, nothing committed since the last checkpoint";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a Flink SQL script
    Run(RunArgs),
    /// Show the plans of a script without running or connecting to anything
    Explain(ExplainArgs),
    /// Show running jobs, their counts and watermarks
    Status(StatusArgs),
    /// Stop a running job after a final checkpoint
    Stop(StopArgs),
    /// Write the state of a running script to a folder, in Parquet files and a JSON manifest
    Savepoint(SavepointArgs),
    /// Look into saved state
    State(StateArgs),
    /// Generate orders and watch their minute GMV; nothing else is needed
    Demo(DemoArgs),
}

/// A script and its variables.
#[derive(Debug, Args)]
pub struct ScriptArgs {
    /// The script; `-` reads standard input
    #[arg(value_name = "FILE", required_unless_present = "file_option")]
    pub file: Option<PathBuf>,
    /// The script, as Flink's SQL client spells it
    #[arg(short = 'f', long = "file", value_name = "FILE", conflicts_with = "file")]
    pub file_option: Option<PathBuf>,
    /// Value of a ${NAME} in the script; may be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub variables: Vec<(String, String)>,
}

impl ScriptArgs {
    /// The script's path.
    pub fn path(&self) -> PathBuf {
        self.file.clone().or_else(|| self.file_option.clone()).unwrap_or_else(|| PathBuf::from("-"))
    }
}

/// Where running jobs are known.
#[derive(Debug, Args, Clone)]
pub struct StateDirArg {
    /// Folder of job state [default: $XDG_STATE_HOME/highwater or ~/.local/state/highwater]
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

/// `highwater run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Script.
    #[command(flatten)]
    pub script: ScriptArgs,
    /// Parallel instances of every operator, 1 to 128 [default: the script's SET, else the number of cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    pub parallelism: Option<u16>,
    /// The most rows that an operator gets at once [default: the script's SET, else 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub batch_rows: Option<u32>,
    /// Begin anew: give up the state that was saved for this job
    #[arg(long)]
    pub fresh: bool,
    /// Go on although saved state does not fit the script any more, and lose it
    #[arg(long, conflicts_with = "fresh")]
    pub allow_non_restored_state: bool,
    /// Go on from this retained checkpoint instead of the newest; what was committed after it is written again
    #[arg(long, value_name = "NUMBER", conflicts_with = "fresh")]
    pub checkpoint: Option<u64>,
    /// Begin with the state of a savepoint instead of the job's own
    #[arg(short = 's', long, visible_alias = "fromSavepoint", value_name = "DIR", conflicts_with = "checkpoint")]
    pub from: Option<PathBuf>,
    /// State folder.
    #[command(flatten)]
    pub state_dir: StateDirArg,
}

/// `highwater explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Script.
    #[command(flatten)]
    pub script: ScriptArgs,
    /// One JSON document: the operators of every job, as EXPLAIN JSON_EXECUTION_PLAN gives them
    #[arg(long, conflicts_with_all = ["cost", "advice"])]
    pub json: bool,
    /// Estimated rows of every operator, as EXPLAIN ESTIMATED_COST
    #[arg(long)]
    pub cost: bool,
    /// What could be better, as EXPLAIN PLAN_ADVICE
    #[arg(long)]
    pub advice: bool,
}

/// `highwater status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Only this job
    pub job: Option<String>,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
    /// State folder.
    #[command(flatten)]
    pub state_dir: StateDirArg,
}

/// `highwater stop`.
#[derive(Debug, Args)]
pub struct StopArgs {
    /// The job; not needed if only one runs
    pub job: Option<String>,
    /// End the input first: every open window fires
    #[arg(long)]
    pub drain: bool,
    /// Write a savepoint of the last checkpoint
    #[arg(long)]
    pub savepoint: bool,
    /// Write it to this folder, which does not exist yet [default: below the state folder]
    #[arg(long, visible_alias = "savepointPath", value_name = "DIR")]
    pub savepoint_path: Option<PathBuf>,
    /// State folder.
    #[command(flatten)]
    pub state_dir: StateDirArg,
}

/// `highwater savepoint`.
#[derive(Debug, Args)]
pub struct SavepointArgs {
    /// The job; not needed if only one runs
    pub job: Option<String>,
    /// The folder to write, which does not exist yet [default: below the state folder]
    pub path: Option<PathBuf>,
    /// State folder.
    #[command(flatten)]
    pub state_dir: StateDirArg,
}

/// `highwater state`.
#[derive(Debug, Args)]
pub struct StateArgs {
    /// What to see.
    #[command(subcommand)]
    pub command: StateCommand,
}

/// What can be seen of saved state.
#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// List jobs, operators and their tables with rows and bytes
    Ls(StateLsArgs),
    /// Print the rows of an operator's state
    Read(StateReadArgs),
}

/// Whose state.
#[derive(Debug, Args)]
pub struct StateOfArgs {
    /// A job, the folder of a savepoint or of checkpoints, or s3://BUCKET/PREFIX of the latter; not needed if only one job
    /// has state
    #[arg(value_name = "JOB|DIR")]
    pub job: Option<String>,
    /// One JSON document, or one line for each row
    #[arg(long)]
    pub json: bool,
    /// State folder.
    #[command(flatten)]
    pub state_dir: StateDirArg,
}

/// `highwater state ls`.
#[derive(Debug, Args)]
pub struct StateLsArgs {
    /// Whose state.
    #[command(flatten)]
    pub of: StateOfArgs,
}

/// `highwater state read`.
#[derive(Debug, Args)]
pub struct StateReadArgs {
    /// Whose state.
    #[command(flatten)]
    pub of: StateOfArgs,
    /// The operator, by its id or the beginning of it; not needed if only one has state
    #[arg(long, value_name = "ID")]
    pub operator: Option<String>,
    /// The table; not needed if the operator has only one
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
    /// The most rows that are printed
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}

/// `highwater demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Orders to generate; ten of them are one second of event time
    #[arg(long, default_value_t = 36_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub orders: u64,
    /// Orders per second
    #[arg(long, default_value_t = 3_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub rate: u64,
    /// Leave the script and the generated orders in this folder, to play with
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Send everything through Kafka: the broker at ADDRESS, else one inside this program for as long as it runs
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, conflicts_with = "save")]
    pub kafka: Option<Option<String>>,
    /// State folder.
    #[command(flatten)]
    pub state_dir: StateDirArg,
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("expected NAME=VALUE".into()),
    }
}
