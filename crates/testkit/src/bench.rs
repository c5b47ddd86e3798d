//! `hw-testkit bench`: what a job costs against the plainest way to read the same data.
//!
//! Each measurement is a process of its own, started in turn with the other one, so that CPU time and peak memory are its
//! own and a busy machine disturbs both alike. CPU time has the kernel's resolution of 10 ms: use a million rows or more.

use base::clock::SystemClock;
use planner::{Environment, Outcome, PlannedJob, Session};
use runtime::RuntimeOptions;
use runtime::metrics::JobMetrics;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// What one measured process used.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// User and system CPU seconds.
    pub cpu_seconds: f64,
    /// Peak resident memory.
    pub peak_mb: f64,
    /// Rows read.
    pub rows: u64,
}

/// Writes `rows` bids as JSON lines, 10 000 a second of event time: the shape of Nexmark's bid stream.
///
/// # Errors
/// A file that cannot be written.
pub fn generate_bids(path: &Path, rows: u64) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    let mut state = 42u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let start_ms = 1_704_067_200_000i64;
    for row in 0..rows {
        let ms = start_ms + (row / 10) as i64;
        let mut time = String::new();
        base::text::push_timestamp(
            &mut time,
            ms,
            arrow::datatypes::TimeUnit::Millisecond,
            ' ',
            base::text::Fraction::Fixed(3),
        );
        let channel = ["Google", "Facebook", "Baidu", "Apple"][(next() % 4) as usize];
        writeln!(
            out,
            r#"{{"auction":{},"bidder":{},"price":{},"channel":"{channel}","url":"https://www.nexmark.com/item.htm?query=1&channel_id={}","dateTime":"{time}","extra":"{:032x}{:032x}"}}"#,
            1000 + next() % 60_000,
            1000 + next() % 10_000,
            100 + next() % 1_000_000,
            next() % 10_000,
            next(),
            next(),
        )?;
    }
    out.flush()
}

/// Decodes every column of every row with arrow-json and throws the batches away.
///
/// # Errors
/// A file that cannot be read.
pub fn decode_with_arrow_json(path: &Path) -> Result<u64, String> {
    use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    let columns = [
        ("auction", DataType::Int64),
        ("bidder", DataType::Int64),
        ("price", DataType::Int64),
        ("channel", DataType::Utf8),
        ("url", DataType::Utf8),
        ("dateTime", time),
        ("extra", DataType::Utf8),
    ];
    let schema = Schema::new(columns.map(|(name, data_type)| Field::new(name, data_type, true)).to_vec());
    let mut decoder = arrow::json::ReaderBuilder::new(Arc::new(schema))
        .with_batch_size(4096)
        .build_decoder()
        .map_err(|error| error.to_string())?;
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut rows = 0;
    loop {
        let buffer = reader.fill_buf().map_err(|error| error.to_string())?;
        let used = decoder.decode(buffer).map_err(|error| error.to_string())?;
        let ended = buffer.is_empty();
        reader.consume(used);
        if used == 0 || ended {
            match decoder.flush().map_err(|error| error.to_string())? {
                Some(batch) => rows += batch.num_rows() as u64,
                None if ended => return Ok(rows),
                None => {}
            }
        }
    }
}

const TUMBLE: &str = "
CREATE TABLE bid (auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), extra STRING,
    WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND)
WITH (${SOURCE}, 'format' = 'json');
CREATE TABLE out_table (window_start TIMESTAMP(3), auction BIGINT, bids BIGINT, total BIGINT, highest BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO out_table
SELECT TUMBLE_START(`dateTime`, INTERVAL '1' MINUTE), auction, COUNT(*), SUM(price), MAX(price)
FROM bid GROUP BY auction, TUMBLE(`dateTime`, INTERVAL '1' MINUTE);";

/// Runs JSON file -> one-minute tumble -> blackhole.
///
/// # Errors
/// Whatever the job failed with.
pub fn run_file_tumble(path: &Path, parallelism: usize) -> Result<u64, String> {
    run_tumble(&format!("'connector' = 'filesystem', 'path' = '{}'", path.display()), parallelism)
}

/// Runs JSON records from `source`, the options of a connector -> one-minute tumble -> blackhole.
pub(crate) fn run_tumble(source: &str, parallelism: usize) -> Result<u64, String> {
    let metrics = run_tumble_with(source, parallelism, |_| {})?;
    Ok(metrics.nodes.iter().map(|node| node.rows_in).next().unwrap_or(0))
}

/// The same with other options of the runtime.
pub(crate) fn run_tumble_with(
    source: &str,
    parallelism: usize,
    change: impl FnOnce(&mut RuntimeOptions),
) -> Result<JobMetrics, String> {
    run_job("tumble.sql", &TUMBLE.replace("${SOURCE}", source), parallelism, change)
}

/// A session with everything that the program has.
pub(crate) fn session() -> Session {
    let (connectors, formats) = crate::registries();
    Session::new(Environment {
        warnings: Default::default(),
        connectors: Arc::new(connectors),
        formats: Arc::new(formats),
        clock: Arc::new(SystemClock),
        results: Arc::new(crate::oracle::CaptureResults(Default::default())),
    })
}

/// The first job of a script, with the options that it runs with.
pub(crate) fn plan_job(name: &str, text: &str, parallelism: usize) -> Result<(PlannedJob, RuntimeOptions), String> {
    let mut session = session();
    let script = syntax::Script::new(name, text);
    for statement in script.statements() {
        let executed = session.execute(&script, &statement).map_err(|error| error.to_string())?;
        if let Outcome::Job(job) = executed.outcome {
            let mut options = RuntimeOptions::from_config(&job.plan.config);
            options.parallelism = parallelism;
            return Ok((*job, options));
        }
    }
    Err("no job".into())
}

/// Runs the first job of a script to its end, on a runtime of its own.
pub(crate) fn run_job(
    name: &str,
    text: &str,
    parallelism: usize,
    change: impl FnOnce(&mut RuntimeOptions),
) -> Result<JobMetrics, String> {
    let (job, mut options) = plan_job(name, text, parallelism)?;
    change(&mut options);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(async { runtime::start(job.plan, options).await?.wait().await }).map_err(|error| error.to_string())
}

/// What this process has used so far.
pub fn own_usage(rows: u64) -> Usage {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The command's name may hold spaces; the counts follow its closing parenthesis.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: f64 = [11, 12].iter().filter_map(|&index| fields.get(index)?.parse::<f64>().ok()).sum();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak_kb: f64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0.0);
    Usage { cpu_seconds: ticks / 100.0, peak_mb: peak_kb / 1024.0, rows }
}

/// Runs this program's hidden `bench-part` command and reads the usage it prints.
///
/// # Errors
/// A part that fails.
pub fn measure(part: &str, input: &str, parallelism: usize) -> Result<Usage, String> {
    let [cpu_seconds, peak_mb, rows] = run_part(part, input, parallelism)?;
    Ok(Usage { cpu_seconds, peak_mb, rows: rows as u64 })
}

/// Runs the hidden command and reads the numbers that it prints.
pub(crate) fn run_part<const N: usize>(part: &str, input: &str, parallelism: usize) -> Result<[f64; N], String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(["bench-part", part, &parallelism.to_string(), input])
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().map_err(|_| format!("unexpected output {text}"))
}
