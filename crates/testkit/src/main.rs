//! `hw-testkit`: the long-running tests as commands.

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use testkit::bench;
use testkit::oracle::{self, OracleOptions};

#[derive(Debug, Parser)]
#[command(name = "hw-testkit", version, about = "Tests of Highwater that work on folders of cases")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run recorded Flink cases and compare changelogs, tables, types and errors
    Oracle(OracleArgs),
    /// Write the generated parts of the documentation; run from the repository's root
    Docs,
    /// Measure JSON file -> one-minute tumble -> blackhole against decoding alone with arrow-json
    Bench(BenchArgs),
    /// One measured part of a benchmark
    #[command(hide = true)]
    BenchPart { part: String, parallelism: usize, file: PathBuf },
}

#[derive(Debug, clap::Args)]
struct BenchArgs {
    /// Bids as JSON lines; generated when it is not given
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Bids to generate
    #[arg(long, default_value_t = 2_000_000)]
    rows: u64,
    /// Parallel instances of the job
    #[arg(long, default_value_t = 1)]
    parallelism: usize,
    /// Repetitions of each side, in turn
    #[arg(long, default_value_t = 3)]
    repetitions: usize,
}

#[derive(Debug, clap::Args)]
struct OracleArgs {
    /// Case folders, or folders of case folders
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Only cases whose name matches
    #[arg(long, value_name = "REGEX")]
    only: Option<String>,
    /// Events of one table fed at once, and the most rows per batch; 1 compares exact sequences, more compares tables
    #[arg(long, value_name = "N", default_value_t = 1)]
    batch: usize,
    /// Parallel instances; more than 1 compares tables
    #[arg(long, value_name = "N", default_value_t = 1)]
    parallelism: usize,
    /// Take a checkpoint after every N feeds, throw the job away and go on from it
    #[arg(long, value_name = "N")]
    restore_every: Option<usize>,
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Docs => match testkit::docs::write(&PathBuf::from(".")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("{problem}");
                ExitCode::FAILURE
            }
        },
        Command::Bench(args) => finish(run_bench(&args)),
        Command::BenchPart { part, parallelism, file } => finish(run_part(&part, parallelism, &file)),
        Command::Oracle(args) => {
            let only = match args.only.as_deref().map(regex::Regex::new).transpose() {
                Ok(only) => only,
                Err(error) => {
                    eprintln!("--only: {error}");
                    return ExitCode::from(2);
                }
            };
            let options = OracleOptions {
                only,
                batch: args.batch.max(1),
                parallelism: args.parallelism.max(1),
                restore_every: args.restore_every,
            };
            let report = oracle::run(&args.folders, &options);
            for line in &report.problems {
                eprintln!("{line}");
            }
            println!("{} passed, {} failed", report.passed, report.failed);
            if report.failed == 0 && report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}

fn finish(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run_part(part: &str, parallelism: usize, file: &Path) -> Result<(), String> {
    let rows = match part {
        "arrow-json" => bench::decode_with_arrow_json(file)?,
        "tumble" => bench::run_tumble(file, parallelism)?,
        other => return Err(format!("no part {other}")),
    };
    let usage = bench::own_usage(rows);
    println!("{} {} {}", usage.cpu_seconds, usage.peak_mb, usage.rows);
    Ok(())
}

fn run_bench(args: &BenchArgs) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = match &args.file {
        Some(file) => file.clone(),
        None => {
            let file = folder.path().join("bids.jsonl");
            bench::generate_bids(&file, args.rows).map_err(|error| error.to_string())?;
            file
        }
    };
    let mut ratios = Vec::new();
    for repetition in 1..=args.repetitions {
        let decode = bench::measure("arrow-json", &file, 1)?;
        let tumble = bench::measure("tumble", &file, args.parallelism)?;
        if decode.rows != tumble.rows {
            return Err(format!("arrow-json read {} rows, the job {}", decode.rows, tumble.rows));
        }
        let per_row = |usage: bench::Usage| usage.cpu_seconds * 1e6 / usage.rows as f64;
        let ratio = tumble.cpu_seconds / decode.cpu_seconds;
        println!(
            "run {repetition}: arrow-json {:.3} us/row, {:.0} MB; tumble {:.3} us/row, {:.0} MB; ratio {ratio:.2}",
            per_row(decode),
            decode.peak_mb,
            per_row(tumble),
            tumble.peak_mb
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.2}", ratios[ratios.len() / 2]);
    Ok(())
}
