//! `hw-testkit`: the long-running tests as commands.

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use testkit::crash::{self, CrashOptions};
use testkit::diff::{self, DiffOptions};
use testkit::fuzz::{self, FuzzOptions, Target};
use testkit::oracle::{self, OracleOptions};
use testkit::play::{self, PlayOptions};
use testkit::services::{self, Kafka, KafkaClient, KafkaOptions};
use testkit::time::{self, TimeOptions};
use testkit::{bench, bench_checkpoints, bench_kafka, bench_memory, bench_planning, bench_state, bench_windows};

#[derive(Debug, Parser)]
#[command(name = "hw-testkit", version, about = "Tests of Highwater: recorded cases, scenarios, services, benchmarks")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run recorded Flink cases and compare changelogs, tables, types and errors
    Oracle(OracleArgs),
    /// Start real outside systems on free loopback ports and keep them until Ctrl-C
    ///
    /// Prints one NAME=ADDRESS per service, ready for `highwater run -D`. Data is thrown away at the end. Kafka is fetched
    /// through Maven at the first use and kept in the user's cache folder; a JDK and Maven must be installed.
    Services {
        /// Services to start: kafka [default: all]
        names: Vec<String>,
    },
    /// Play a scenario against a real broker and compare every result
    ///
    /// A scenario is a folder with job.sql, input/steps.yaml, input/kafka/<topic>.jsonl and expected/. The job runs as a
    /// child process with a state folder of its own; records are sent and results are read by Apache's Java client.
    Play(PlayArgs),
    /// Feed random scripts or expressions; they may be refused, but never panic, and mean the same in every way
    Fuzz(FuzzArgs),
    /// Run random queries over random changing tables, and compare with what they mean
    ///
    /// A case is made from its number: tables, changes, views, a query, batch sizes, parallelism, restarts. Its changelog must be
    /// valid and describe the right table at several points. A wrong case is made smaller before it is printed.
    Diff(DiffArgs),
    /// Run random streams with bounded disorder through queries over event time, and compare with what they mean
    ///
    /// A case is made from its number. Its final table must not depend on arrival, splits, batches, parallelism and restarts,
    /// and late rows must be applied or counted. A wrong case is made smaller before it is printed.
    Time(TimeArgs),
    /// Kill the program at every step of a checkpoint and a commit, start it again, and look for lost and doubled rows
    ///
    /// Windowed aggregate, join and Top-N, each into a Kafka topic (exactly once), an upsert-kafka table and files; then one
    /// job that is killed at random moments while its topic is being filled.
    Crash(CrashArgs),
    /// Write the generated parts of the documentation; run from the repository's root
    Docs,
    /// Measure JSON file -> one-minute tumble -> blackhole against decoding alone with arrow-json
    Bench(BenchArgs),
    /// One measured part of a benchmark
    #[command(hide = true)]
    BenchPart { part: String, parallelism: usize, input: String },
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
    /// The job on a Kafka topic, against the client's own loop plus the job on the file
    #[arg(long)]
    kafka: bool,
    /// Parsing and planning a script of 200 statements, without running it
    #[arg(long, conflicts_with = "kafka")]
    planning: bool,
    /// Heap bytes of state per group and per joined row, against their limits
    #[arg(long, conflicts_with_all = ["kafka", "planning"])]
    state: bool,
    /// Throughput with checkpoints every second against none, and checkpoints and recovery of a job with five million keys
    #[arg(long, conflicts_with_all = ["kafka", "planning", "state", "windows"])]
    checkpoints: bool,
    /// Throughput of a job whose state is larger than its memory budget, against that of one without
    #[arg(long)]
    memory: bool,
    /// Results of windows of 60 slides against those of one slide, their state, and the memory of a million open sessions
    #[arg(long, conflicts_with_all = ["kafka", "planning", "state"])]
    windows: bool,
}

#[derive(Debug, clap::Args)]
struct FuzzArgs {
    /// What is fed: scripts to the parser and the planner, or expressions to the planner and the evaluator
    #[arg(value_parser = ["parser", "expressions"])]
    target: String,
    /// How long
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    minutes: f64,
    /// How many inputs at most
    #[arg(long, value_name = "N")]
    inputs: Option<u64>,
    /// The number of the first input; the next input has the next number
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Report inputs that take longer than this many seconds
    #[arg(long, value_name = "N", default_value_t = 3.0)]
    slow: f64,
    /// Write every input here before it is fed
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct DiffArgs {
    /// How many cases
    #[arg(long, value_name = "N", default_value_t = 1000)]
    runs: u64,
    /// The number of the first case; the next case has the next number
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// No new case after so many minutes
    #[arg(long, value_name = "N")]
    minutes: Option<f64>,
    /// Stop after so many wrong cases
    #[arg(long, value_name = "N", default_value_t = 10)]
    wrong: usize,
    /// Save wrong cases here, a folder each
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Print every case before it runs
    #[arg(long)]
    trace: bool,
}

#[derive(Debug, clap::Args)]
struct TimeArgs {
    /// How many cases
    #[arg(long, value_name = "N", default_value_t = 1000)]
    runs: u64,
    /// The number of the first case; the next case has the next number
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// No new case after so many minutes
    #[arg(long, value_name = "N")]
    minutes: Option<f64>,
    /// Stop after so many wrong cases
    #[arg(long, value_name = "N", default_value_t = 10)]
    wrong: usize,
    /// Print every case before it runs
    #[arg(long)]
    trace: bool,
}

#[derive(Debug, clap::Args)]
struct CrashArgs {
    /// Only tests whose name matches: window/kafka/middle/segment.sync=kill
    #[arg(long, value_name = "REGEX")]
    only: Option<regex::Regex>,
    /// Of the fault points, only every how manieth test; 0: none
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// Random kills of one job
    #[arg(long, value_name = "N", default_value_t = 0)]
    kills: u32,
    /// Decides when they come
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Put the table of results into this page
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print every test before it runs
    #[arg(long)]
    trace: bool,
    /// The program [default: highwater beside this program]
    #[arg(long, value_name = "PATH")]
    highwater: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct PlayArgs {
    /// The scenario's folder
    #[arg(value_name = "SCENARIO_DIR")]
    scenario: PathBuf,
    /// Parallel instances of every operator
    #[arg(long, value_name = "N", default_value_t = 1)]
    parallelism: usize,
    /// Run this script instead of the one that the steps name
    #[arg(long, value_name = "FILE")]
    job: Option<PathBuf>,
    /// Compare with this folder of the scenario, for the results of another job: expected/late_fire
    #[arg(long, value_name = "SUBDIR", default_value = "expected")]
    expected: PathBuf,
    /// End the input before stopping, so that all windows fire, and compare with expected/if_drained
    #[arg(long)]
    drain: bool,
    /// Kill the job with SIGKILL between any two steps, and start it again
    #[arg(long)]
    kill_between_steps: bool,
    /// The program [default: highwater beside this program]
    #[arg(long, value_name = "PATH")]
    highwater: Option<PathBuf>,
    /// Use this broker instead of starting one
    #[arg(long, value_name = "ADDRESS")]
    kafka: Option<String>,
    /// Delete topics of the scenario that the broker given with --kafka has already
    #[arg(long, requires = "kafka")]
    replace_topics: bool,
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
    /// Take a checkpoint after every feed; after every N of them throw the job away and go on from the files of the last one
    #[arg(long, value_name = "N")]
    restore_every: Option<usize>,
    /// Bytes of memory for the state of each job, the rest goes to the disk; compares tables
    #[arg(long, value_name = "BYTES")]
    memory_budget: Option<u64>,
    /// Count deliberate differences and missing features as failures
    #[arg(long)]
    strict: bool,
    /// Run the cases in batch mode and compare final tables
    #[arg(long)]
    batch_mode: bool,
    /// Compare final tables with those of a run with batches of 1 on one instance, not with what was recorded; an upsert
    /// sink takes a -U without a +U behind it for a delete
    #[arg(long, conflicts_with = "batch_mode")]
    against_itself: bool,
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
        Command::Services { names } => finish(run_services(&names)),
        Command::Play(args) => finish(run_play(args)),
        Command::Fuzz(args) => finish(run_fuzz(args)),
        Command::Diff(args) => finish(run_diff(args)),
        Command::Time(args) => finish(run_time(args)),
        Command::Crash(args) => finish(run_crash(args)),
        Command::Bench(args) => finish(run_bench(&args)),
        Command::BenchPart { part, parallelism, input } => finish(run_part(&part, parallelism, &input)),
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
                memory_budget: args.memory_budget,
                against_itself: args.against_itself,
                strict: args.strict,
                batch_mode: args.batch_mode,
            };
            let report = oracle::run(&args.folders, &options);
            for line in &report.problems {
                eprintln!("{line}");
            }
            println!("{}", report.summary());
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

fn run_services(names: &[String]) -> Result<(), String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        use tokio::signal::unix::{SignalKind, signal};
        // Before anything starts: a signal in between must not leave a service behind.
        let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
        let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        let mut services = services::start(names)?;
        for (name, value) in services.iter().flat_map(|service| service.variables()) {
            println!("{name}={value}");
        }
        eprintln!("Ctrl-C stops");
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        services.iter_mut().try_for_each(|service| service.stop())
    })
}

/// The program under test: the one that was named, or that beside this program.
fn program(named: Option<PathBuf>) -> Result<PathBuf, String> {
    let beside = || std::env::current_exe().map(|path| path.with_file_name("highwater"));
    let highwater = named.map_or_else(beside, Ok).map_err(|error| error.to_string())?;
    let highwater = std::path::absolute(&highwater).map_err(|error| error.to_string())?;
    if !highwater.is_file() {
        return Err(format!("no program {}: build it, or say where it is with --highwater", highwater.display()));
    }
    Ok(highwater)
}

fn run_crash(args: CrashArgs) -> Result<(), String> {
    let options = CrashOptions {
        program: program(args.highwater)?,
        only: args.only,
        every: args.every,
        kills: args.kills,
        seed: args.seed,
        trace: args.trace,
    };
    let report = crash::run(&options)?;
    report.problems.iter().for_each(|problem| eprintln!("{problem}\n"));
    if let Some(page) = args.report {
        testkit::docs::write_part(&page, &report.table())?;
    }
    println!("{} tests, {} random kills, {} wrong", report.tests(), report.kills, report.problems.len());
    if report.problems.is_empty() { Ok(()) } else { Err("there are wrong results".into()) }
}

fn run_play(args: PlayArgs) -> Result<(), String> {
    let highwater = program(args.highwater)?;
    let options = PlayOptions {
        job: args.job,
        expected: args.expected,
        parallelism: args.parallelism,
        drain: args.drain,
        kill_between_steps: args.kill_between_steps,
        replace_topics: args.replace_topics,
        ..PlayOptions::new(args.scenario, highwater)
    };
    match args.kafka {
        Some(address) => play::play(&options, &address, &KafkaClient::connect(&address)?)?,
        None => {
            let kafka = Kafka::launch(KafkaOptions::default())?;
            play::play(&options, &kafka.address(), kafka.client()?)?;
        }
    }
    println!("as expected");
    Ok(())
}

fn run_fuzz(args: FuzzArgs) -> Result<(), String> {
    let seconds = |value: f64| Duration::try_from_secs_f64(value).map_err(|error| error.to_string());
    let options = FuzzOptions {
        target: if args.target == "parser" { Target::Scripts } else { Target::Expressions },
        seed: args.seed,
        inputs: args.inputs,
        time: Some(seconds(args.minutes * 60.0)?),
        slow: Some(seconds(args.slow)?),
        trace: args.trace,
    };
    let report = fuzz::run(&options, Path::new("."))?;
    for (what, finding) in &report.findings {
        println!("{what}: {} times, first by --seed {}", finding.times, finding.seed);
        println!("  {}", finding.input.replace('\n', "\n  "));
        println!("  {}\n", finding.problem.replace('\n', "\n  "));
    }
    println!("{} inputs, {} accepted, {} problems", report.inputs, report.accepted, report.findings.len());
    if report.findings.is_empty() { Ok(()) } else { Err("there are problems".into()) }
}

fn run_diff(args: DiffArgs) -> Result<(), String> {
    let minutes = |value: f64| Duration::try_from_secs_f64(value * 60.0).map_err(|error| error.to_string());
    let options = DiffOptions {
        seed: args.seed,
        runs: args.runs,
        time: args.minutes.map(minutes).transpose()?,
        wrong_max: args.wrong,
        save: args.save,
        trace: args.trace,
    };
    let report = diff::run(&options)?;
    println!("{report}");
    if report.failing.is_empty() { Ok(()) } else { Err("there are wrong results".into()) }
}

fn run_time(args: TimeArgs) -> Result<(), String> {
    let minutes = |value: f64| Duration::try_from_secs_f64(value * 60.0).map_err(|error| error.to_string());
    let options = TimeOptions {
        seed: args.seed,
        runs: args.runs,
        time: args.minutes.map(minutes).transpose()?,
        wrong_max: args.wrong,
        trace: args.trace,
    };
    let report = time::run(&options)?;
    println!("{report}");
    if report.wrong.is_empty() { Ok(()) } else { Err("there are wrong results".into()) }
}

fn run_part(part: &str, parallelism: usize, input: &str) -> Result<(), String> {
    if part == "memory" {
        return bench_memory::run_part(input, parallelism);
    }
    let rows = match part {
        "arrow-json" => bench::decode_with_arrow_json(Path::new(input))?,
        "tumble" => bench::run_file_tumble(Path::new(input), parallelism)?,
        "topic-alone" => bench_kafka::consume_alone(input)?,
        "topic-tumble" => bench_kafka::run_topic_tumble(input, parallelism)?,
        other => return Err(format!("no part {other}")),
    };
    let usage = bench::own_usage(rows);
    println!("{} {} {}", usage.cpu_seconds, usage.peak_mb, usage.rows);
    Ok(())
}

fn run_planning_bench(repetitions: usize) -> Result<(), String> {
    const STATEMENTS: usize = 200;
    let script = bench_planning::script(STATEMENTS);
    for repetition in 1..=repetitions {
        let time = bench_planning::measure(&script)?;
        println!(
            "run {repetition}: {} statements, {} jobs: parse {:.1} ms, parse and plan {:.1} ms",
            time.statements,
            time.jobs,
            time.parse.as_secs_f64() * 1e3,
            time.total.as_secs_f64() * 1e3
        );
    }
    Ok(())
}

fn run_state_bench() -> Result<(), String> {
    const ENTRIES: usize = 1_000_000;
    let mut above = 0;
    for size in bench_state::measure(ENTRIES).map_err(|error| error.to_string())? {
        let verdict = if size.counted <= size.limit { "ok" } else { "ABOVE" };
        above += usize::from(size.counted > size.limit);
        println!(
            "{verdict}: {}: {:.0} bytes each of {}, limit {:.0}; resident memory grew by {:.0} bytes each",
            size.what, size.counted, size.entries, size.limit, size.resident
        );
    }
    if above > 0 { Err(format!("{above} above their limit")) } else { Ok(()) }
}

fn run_windows_bench(repetitions: usize) -> Result<(), String> {
    const MEGABYTE: f64 = 1024.0 * 1024.0;
    let mut above = Vec::new();
    let sessions = bench_windows::sessions(1_000_000).map_err(|error| error.to_string())?;
    println!(
        "{} open sessions: state {:.0} MB, resident memory grew by {:.0} MB, limit {:.0} MB",
        sessions.count,
        sessions.counted_mb,
        sessions.resident_mb,
        bench_windows::SESSIONS_MB_MAX
    );
    if sessions.counted_mb.max(sessions.resident_mb) > bench_windows::SESSIONS_MB_MAX {
        above.push("the memory of sessions".to_string());
    }
    for (keys, per_slide, slides) in [(2000, 1, 600), (2000, 10, 180), (100_000, 1, 90)] {
        println!("{keys} keys, {per_slide} rows each per slide, {slides} slides:");
        let mut ratios = std::collections::BTreeMap::<String, Vec<f64>>::new();
        for _ in 0..repetitions {
            for cost in bench_windows::costs(keys, per_slide, slides).map_err(|error| error.to_string())? {
                let ratio = cost.hop_us / cost.tumble_us;
                println!(
                    "  {}: tumble {:.3} us per result, {:.1} MB of state; hop of 60 slides {:.3} us, {:.1} MB; ratio {ratio:.2}",
                    cost.what,
                    cost.tumble_us,
                    cost.tumble_bytes as f64 / MEGABYTE,
                    cost.hop_us,
                    cost.hop_bytes as f64 / MEGABYTE
                );
                ratios.entry(cost.what).or_default().push(ratio);
            }
        }
        for (what, mut ratios) in ratios {
            ratios.sort_by(f64::total_cmp);
            let median = ratios[ratios.len() / 2];
            println!("  median ratio of {what}: {median:.2}, limit {:.2}", bench_windows::RATIO_MAX);
            if median > bench_windows::RATIO_MAX {
                above.push(format!("the cost of {what} with {keys} keys"));
            }
        }
    }
    for per_hour in [1, 600] {
        for state in bench_windows::hop_states(10_000, per_hour).map_err(|error| error.to_string())? {
            println!(
                "an hour of {} rows of 10000 keys, size/slide {}: {} entries, {:.1} MB, {:.0} bytes per entry",
                state.rows,
                state.ratio,
                state.entries,
                state.bytes as f64 / MEGABYTE,
                state.bytes as f64 / state.entries as f64
            );
        }
    }
    if above.is_empty() { Ok(()) } else { Err(format!("above their limits: {}", above.join(", "))) }
}

fn run_bench(args: &BenchArgs) -> Result<(), String> {
    if args.windows {
        return run_windows_bench(args.repetitions);
    }
    if args.state {
        return run_state_bench();
    }
    if args.memory {
        return bench_memory::measure_all(args.parallelism);
    }
    if args.planning {
        return run_planning_bench(args.repetitions);
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = match &args.file {
        Some(file) => file.clone(),
        None => {
            let file = folder.path().join("bids.jsonl");
            bench::generate_bids(&file, args.rows).map_err(|error| error.to_string())?;
            file
        }
    };
    if args.kafka {
        return run_kafka_bench(args, &file);
    }
    if args.checkpoints {
        return run_checkpoints_bench(args, &file);
    }
    let file = file.display().to_string();
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
    print_median(ratios);
    Ok(())
}

fn run_checkpoints_bench(args: &BenchArgs, bids: &Path) -> Result<(), String> {
    use bench_checkpoints::{CHANGED, CHANGES_MAX, KEYS, LOSS_MAX, RECOVERY_MAX};
    const MEGABYTE: f64 = 1024.0 * 1024.0;
    let mut losses = Vec::new();
    for repetition in 1..=args.repetitions {
        let rates = bench_checkpoints::throughput(bids, args.parallelism)?;
        let loss = 1.0 - rates.with / rates.without;
        println!(
            "run {repetition}: {:.0} rows/s without, {:.0} rows/s with {} checkpoints, one every second: loss {:.1} %",
            rates.without,
            rates.with,
            rates.checkpoints,
            loss * 100.0
        );
        losses.push(loss);
    }
    losses.sort_by(f64::total_cmp);
    let loss = losses.get(losses.len() / 2).copied().unwrap_or_default();
    println!("median loss {:.1} %, limit {:.0} %", loss * 100.0, LOSS_MAX * 100.0);
    let keys = bench_checkpoints::many_keys(args.parallelism)?;
    println!("{KEYS} keys, everything: {:?}, {:.1} MB", keys.full.duration, keys.full.bytes as f64 / MEGABYTE);
    println!(
        "{CHANGED} changed keys of these: {:?}, limit {CHANGES_MAX:?}, {:.1} MB",
        keys.changes.duration,
        keys.changes.bytes as f64 / MEGABYTE
    );
    println!("the job goes on after {:?}, limit {RECOVERY_MAX:?}", keys.recovery);
    let above = [
        (loss > LOSS_MAX, "the loss of throughput"),
        (keys.changes.duration > CHANGES_MAX, "the checkpoint of changes"),
        (keys.recovery > RECOVERY_MAX, "the recovery"),
    ];
    let above: Vec<&str> = above.into_iter().filter(|(above, _)| *above).map(|(_, what)| what).collect();
    if above.is_empty() { Ok(()) } else { Err(format!("above their limits: {}", above.join(", "))) }
}

fn run_kafka_bench(args: &BenchArgs, file: &Path) -> Result<(), String> {
    let kafka = Kafka::launch(KafkaOptions::default())?;
    kafka.client()?.create_topic(bench_kafka::TOPIC, 1, &[])?;
    let address = kafka.address();
    let records = bench_kafka::produce_lines(file, &address)?;
    let file = file.display().to_string();
    let mut ratios = Vec::new();
    for repetition in 1..=args.repetitions {
        let alone = bench::measure("topic-alone", &address, 1)?;
        let tumble = bench::measure("tumble", &file, args.parallelism)?;
        let topic = bench::measure("topic-tumble", &address, args.parallelism)?;
        if [alone.rows, tumble.rows, topic.rows] != [records; 3] {
            return Err(format!("of {records}: {} {} {} rows read", alone.rows, tumble.rows, topic.rows));
        }
        let per_row = |usage: bench::Usage| usage.cpu_seconds * 1e6 / usage.rows as f64;
        let ratio = topic.cpu_seconds / (alone.cpu_seconds + tumble.cpu_seconds);
        println!(
            "run {repetition}: client alone {:.3} us/row, file tumble {:.3}, topic tumble {:.3}, {:.0} MB; ratio {ratio:.2}",
            per_row(alone),
            per_row(tumble),
            per_row(topic),
            topic.peak_mb
        );
        ratios.push(ratio);
    }
    print_median(ratios);
    Ok(())
}

fn print_median(mut ratios: Vec<f64>) {
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.2}", ratios[ratios.len() / 2]);
}
