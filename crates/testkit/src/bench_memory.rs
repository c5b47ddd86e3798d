//! `hw-testkit bench --memory`: throughput of a job whose state is larger than its memory budget.
//!
//! Each measurement is a process of its own, so that peak memory is its own. Rows come from datagen; keys are uniform, or
//! as frequent as 1/k (Zipf's law).

use crate::bench::{self, Usage};
use runtime::MemoryOptions;
use std::time::Instant;

/// Distinct keys, and rows for each on average.
const KEYS: u64 = 1_000_000;
const ROWS: u64 = 4 * KEYS;
/// How many times the budget the state is.
const FACTORS: [f64; 4] = [0.5, 1.0, 2.0, 5.0];

const JOB: &str = "
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
CREATE TABLE source (u DOUBLE, v BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '${ROWS}',
    'rows-per-second' = '1000000000',
    'fields.u.min' = '0', 'fields.u.max' = '1', 'fields.v.min' = '0', 'fields.v.max' = '1000');
CREATE TABLE out_table (k BIGINT, n BIGINT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'blackhole');
INSERT INTO out_table SELECT k, COUNT(*), SUM(v) FROM (SELECT ${KEY} AS k, v FROM source) GROUP BY k;";

/// One run of the job.
#[derive(Debug, Clone, Copy)]
struct Run {
    usage: Usage,
    seconds: f64,
    state_bytes: f64,
    loads: f64,
}

/// Runs the job within a budget of so many bytes, 0 for none; gives rows, seconds, bytes of state and loads.
///
/// # Errors
/// Whatever the job failed with.
pub fn run(keys: &str, budget: u64, parallelism: usize) -> Result<[f64; 4], String> {
    let key = match keys {
        "uniform" => format!("CAST(u * {KEYS} AS BIGINT)"),
        _ => format!("CAST(POWER({KEYS}.0, u) AS BIGINT)"),
    };
    let text = JOB.replace("${ROWS}", &ROWS.to_string()).replace("${KEY}", &key);
    let begun = Instant::now();
    let metrics = bench::run_job("memory.sql", &text, parallelism, |options| {
        options.checkpoint_interval = None;
        options.seed = 1;
        options.memory = (budget > 0).then_some(MemoryOptions { budget_bytes: budget, cache: None });
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let sum = |count: fn(&runtime::metrics::NodeMetrics) -> u64| -> f64 {
        metrics.nodes.iter().map(count).sum::<u64>() as f64
    };
    let rows = metrics.nodes.first().map_or(0, |node| node.rows_in) as f64;
    Ok([rows, seconds, sum(|node| node.state_bytes), sum(|node| node.loads)])
}

fn measure(keys: &str, budget: u64, parallelism: usize) -> Result<Run, String> {
    let [cpu_seconds, peak_mb, rows, seconds, state_bytes, loads] =
        bench::run_part("memory", &format!("{keys}:{budget}"), parallelism)?;
    Ok(Run { usage: Usage { cpu_seconds, peak_mb, rows: rows as u64 }, seconds, state_bytes, loads })
}

/// The hidden part: runs the job and prints what it used.
///
/// # Errors
/// Whatever the job failed with.
pub fn run_part(input: &str, parallelism: usize) -> Result<(), String> {
    let (keys, budget) = input.split_once(':').ok_or("keys:budget")?;
    let [rows, seconds, state_bytes, loads] = run(keys, budget.parse().map_err(|_| "budget")?, parallelism)?;
    let usage = bench::own_usage(rows as u64);
    println!("{} {} {rows} {seconds} {state_bytes} {loads}", usage.cpu_seconds, usage.peak_mb);
    Ok(())
}

/// Measures all, and prints a line for each.
///
/// # Errors
/// Whatever a job failed with.
pub fn measure_all(parallelism: usize) -> Result<(), String> {
    for keys in ["uniform", "zipf"] {
        let free = measure(keys, 0, parallelism)?;
        let rate = |run: &Run| run.usage.rows as f64 / run.seconds;
        println!(
            "{keys}, no budget: {:.2} M rows/s, state {:.0} MB, peak memory {:.0} MB",
            rate(&free) / 1e6,
            free.state_bytes / 1e6,
            free.usage.peak_mb
        );
        for factor in FACTORS {
            let budget = free.state_bytes / factor;
            let run = measure(keys, budget as u64, parallelism)?;
            if run.usage.rows != free.usage.rows {
                return Err(format!("{} rows of {}", run.usage.rows, free.usage.rows));
            }
            println!(
                "{keys}, state {factor} x a budget of {:.0} MB: {:.2} of that, peak memory {:.0} MB, {} loads",
                budget / 1e6,
                rate(&run) / rate(&free),
                run.usage.peak_mb,
                run.loads
            );
        }
    }
    Ok(())
}
