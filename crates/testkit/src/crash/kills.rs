//! One job that is killed many times, at random moments, while its topic is being filled.

use super::case::Bench;
use super::job::{CrashJob, Query, Sink, Source, order};
use super::outcome;
use crate::fuzz::Random;
use crate::play::job::{Job, WAIT_MAX};
use crate::services::{KafkaClient, Record};
use std::time::{Duration, Instant};

/// Orders between two kills, about.
const ROWS_PER_LIFE: i64 = 1_000;
const PARTITIONS: i64 = 4;
/// The shortest and the longest life in milliseconds: from before the first checkpoint to several checkpoints.
const LIFE_MS: (u64, u64) = (60, 900);
/// Instances, one life after the other.
const PARALLELISM: [usize; 3] = [1, 2, 3];

/// Kills a job `kills` times and compares what it has written in the end.
///
/// # Errors
/// A wrong result, or a job that does not come back.
pub fn run(bench: Bench<'_>, kills: u32, seed: u64, trace: bool) -> Result<(), String> {
    let job = CrashJob { query: Query::Window, sink: Sink::Kafka, rows: ROWS_PER_LIFE * i64::from(kills.max(1)) };
    let folder = tempfile::tempdir().map_err(|cause| format!("no temporary folder: {cause}"))?;
    let Some((address, client)) = bench.broker(job.sink)? else { return Err("no broker".into()) };
    let (input, place) = (format!("kills-{seed}-in"), format!("kills-{seed}-out"));
    client.create_topic(&input, PARTITIONS as u32, &[])?;
    client.create_topic(&place, 2, &[])?;
    let script = folder.path().join("job.sql");
    let text = job.script(Source::Topic, &address, &input, &place, "100 ms");
    std::fs::write(&script, text).map_err(|cause| format!("{}: {cause}", script.display()))?;
    let mut lives = Job::new(bench.program, &script, Vec::new())?;
    let mut random = Random::new(seed);
    let mut next = 1;
    for kill in 0..kills {
        let parallelism = PARALLELISM[kill as usize % PARALLELISM.len()];
        lives.run(parallelism, None)?;
        let born = Instant::now();
        let life = Duration::from_millis(LIFE_MS.0 + random.below((LIFE_MS.1 - LIFE_MS.0) as usize) as u64);
        next = produce(client, &input, next, ROWS_PER_LIFE)?;
        // The moment of the kill is what is tested: there is no event to wait for.
        std::thread::sleep(life.saturating_sub(born.elapsed()));
        lives.expect_running().map_err(|problem| format!("life {kill}, seed {seed}: {problem}"))?;
        lives.kill();
        if trace {
            println!("killed {} after {life:?}", kill + 1);
        }
    }
    produce(client, &input, next, job.rows + 1 - next)?;
    lives.run(2, None)?;
    let end = Instant::now() + WAIT_MAX;
    loop {
        match lives.progress()? {
            Some(progress) if progress.behind.is_empty() && !progress.sources.is_empty() => break,
            _ if Instant::now() > end => return Err(format!("not at the end within {WAIT_MAX:?}\n{}", lives.log())),
            _ => {}
        }
    }
    lives.stop(true)?;
    outcome::check(&job, &place, Some(client))
        .map_err(|problem| format!("after {kills} kills, seed {seed}: {problem}\n{}", lives.log()))
}

/// Sends `count` orders from `first` on, and gives the number of the next one.
fn produce(client: &KafkaClient, topic: &str, first: i64, count: i64) -> Result<i64, String> {
    let orders = first..first + count;
    let records: Vec<Record> = orders.map(|id| Record::new(order(id)).partition((id % PARTITIONS) as i32)).collect();
    client.produce(topic, &records)?;
    Ok(first + count)
}
