//! `hw-testkit bench --checkpoints`: what checkpoints cost a running job, how long one of many changed keys takes, and how
//! long a job with many keys takes to go on.

use crate::bench;
use runtime::{CheckpointStore, JobCheckpoint, JobHandle, JobLabel};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Checkpoints every second may cost this share of the throughput.
pub const LOSS_MAX: f64 = 0.10;
/// A job with [`KEYS`] keys goes on within this.
pub const RECOVERY_MAX: Duration = Duration::from_secs(10);
/// A checkpoint of [`CHANGED`] changed keys takes no longer than this.
pub const CHANGES_MAX: Duration = Duration::from_secs(2);
/// The keys of the job that is measured.
pub const KEYS: u64 = 5_000_000;
/// The keys that change before the checkpoint that is measured.
pub const CHANGED: u64 = 200_000;

/// The throughput of one job without and with checkpoints.
#[derive(Debug, Clone, Copy)]
pub struct Throughput {
    /// Rows a second without.
    pub without: f64,
    /// Rows a second with one every second.
    pub with: f64,
    /// How many there were.
    pub checkpoints: u64,
}

/// What a job with many keys takes.
#[derive(Debug, Clone, Copy)]
pub struct ManyKeys {
    /// The first checkpoint: everything.
    pub full: Took,
    /// The one after [`CHANGED`] keys have changed.
    pub changes: Took,
    /// From opening the files until the operators have their state.
    pub recovery: Duration,
}

/// What a checkpoint took.
#[derive(Debug, Clone, Copy)]
pub struct Took {
    /// From its beginning to its end.
    pub duration: Duration,
    /// Bytes written.
    pub bytes: u64,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn store(path: &Path) -> Result<Arc<CheckpointStore>, String> {
    CheckpointStore::open(&path.into(), JobLabel::default(), 1).map(Arc::new).map_err(text)
}

/// Reads the bids of a file once without and once with checkpoints.
///
/// # Errors
/// Whatever a job failed with.
pub fn throughput(bids: &Path, parallelism: usize) -> Result<Throughput, String> {
    let place = tempfile::tempdir().map_err(text)?;
    let source = format!("'connector' = 'filesystem', 'path' = '{}'", bids.display());
    let run = |store: Option<Arc<CheckpointStore>>| -> Result<(f64, u64), String> {
        let begun = Instant::now();
        let metrics = bench::run_tumble_with(&source, parallelism, |options| {
            options.checkpoint_interval = store.is_some().then_some(Duration::from_secs(1));
            options.store = store;
        })?;
        let rows = metrics.nodes.first().map_or(0, |node| node.rows_in);
        Ok((rows as f64 / begun.elapsed().as_secs_f64(), metrics.checkpoints))
    };
    let (without, _) = run(None)?;
    let (with, checkpoints) = run(Some(store(&place.path().join("job"))?))?;
    Ok(Throughput { without, with, checkpoints })
}

const GROUPS: &str = "
CREATE TABLE events (k BIGINT, v BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${PATH}', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE out_table (k BIGINT, n BIGINT, total BIGINT, highest BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO out_table SELECT k, COUNT(*), SUM(v), MAX(v) FROM events GROUP BY k;";

/// Takes checkpoints of a job with [`KEYS`] keys, and starts it again.
///
/// # Errors
/// Whatever the job failed with.
pub fn many_keys(parallelism: usize) -> Result<ManyKeys, String> {
    let place = tempfile::tempdir().map_err(text)?;
    let (input, files) = (place.path().join("input"), place.path().join("job"));
    std::fs::create_dir(&input).map_err(text)?;
    write_keys(place.path(), &input.join("1.json"), 0..KEYS, 1)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(text)?;
    runtime.block_on(async {
        let first = store(&files)?;
        let job = start(&input, parallelism, first.clone(), None).await?;
        let full = checkpoint_after(&job, KEYS).await?;
        // Every 25th key.
        write_keys(place.path(), &input.join("2.json"), 0..CHANGED, KEYS / CHANGED)?;
        let changes = checkpoint_after(&job, KEYS + CHANGED).await?;
        job.cancel();
        job.wait().await.map_err(text)?;
        drop((job, first));
        let begun = Instant::now();
        let second = store(&files)?;
        let stored = second.newest().map_err(text)?.ok_or("no checkpoint")?;
        let job = start(&input, parallelism, second, Some(stored.checkpoint)).await?;
        let recovery = begun.elapsed();
        job.cancel();
        job.wait().await.map_err(text)?;
        Ok(ManyKeys { full, changes, recovery })
    })
}

/// A file of one row per number; it appears in its folder when it is complete.
fn write_keys(scratch: &Path, path: &Path, numbers: std::ops::Range<u64>, step: u64) -> Result<(), String> {
    let unfinished = scratch.join("unfinished");
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(&unfinished).map_err(text)?);
    for number in numbers {
        writeln!(out, r#"{{"k":{},"v":{}}}"#, number * step, number % 1000).map_err(text)?;
    }
    out.flush().map_err(text)?;
    std::fs::rename(&unfinished, path).map_err(text)
}

async fn start(
    input: &Path,
    parallelism: usize,
    store: Arc<CheckpointStore>,
    restore: Option<JobCheckpoint>,
) -> Result<JobHandle, String> {
    let text = GROUPS.replace("${PATH}", &input.display().to_string());
    let (job, mut options) = bench::plan_job("groups.sql", &text, parallelism)?;
    options.checkpoint_interval = None;
    options.store = Some(store);
    options.restore = restore;
    runtime::start(job.plan, options).await.map_err(self::text)
}

/// A checkpoint as soon as so many rows have been read and everything rests.
async fn checkpoint_after(job: &JobHandle, rows: u64) -> Result<Took, String> {
    while job.metrics().nodes.first().is_some_and(|node| node.rows_in < rows) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    job.quiesce().await;
    job.checkpoint().await.map_err(text)?;
    let last = job.metrics().last_checkpoint.ok_or("no checkpoint")?;
    Ok(Took { duration: last.duration, bytes: last.bytes.unwrap_or_default() })
}
