//! The scenarios of the testkit on a real broker: inputs in steps, results read by a client that is not librdkafka.
//!
//! A test is a broker and a parallelism. Scenarios whose topics have different names share the broker and run side by
//! side: most of their time is waiting for rest.

use std::path::{Path, PathBuf};
use testkit::play::{PlayOptions, play};
use testkit::services::{Kafka, KafkaOptions};

fn scenario(name: &str, parallelism: usize) -> PlayOptions {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/scenarios").join(name);
    PlayOptions { parallelism, ..PlayOptions::new(folder, env!("CARGO_BIN_EXE_highwater")) }
}

/// Plays all at once; every failure is told.
fn play_together(scenarios: &[PlayOptions]) {
    let kafka = Kafka::launch(KafkaOptions { auto_create_topics: false, ..KafkaOptions::default() }).expect("a broker");
    let (address, client) = (kafka.address(), kafka.client().expect("a client"));
    let failures: Vec<String> = std::thread::scope(|scope| {
        let plays: Vec<_> = scenarios.iter().map(|options| scope.spawn(|| play(options, &address, client))).collect();
        plays.into_iter().filter_map(|play| play.join().expect("a play").err()).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The jobs as they are, stopped plainly.
fn play_jobs(parallelism: usize) {
    let names = [
        "s3a_order_minute_gmv",
        "s0_upsert_kafka_bytes",
        "s4_pvuv_upsert_kafka",
        "s0_ods_binlog",
        "s0_dws_item_gmv",
        "s0_dim_temporal",
        "s1_unpaid_alert",
    ];
    play_together(&names.map(|name| scenario(name, parallelism)));
}

/// The same inputs with another end or another job.
fn play_variants(parallelism: usize) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let drained = PlayOptions { drain: true, ..scenario("s3a_order_minute_gmv", parallelism) };
    let per_minute = scenario("s4_pvuv_upsert_kafka", parallelism);
    let per_minute = PlayOptions {
        job: Some(per_minute.scenario.join("job_per_minute.sql")),
        expected: "expected/per_minute".into(),
        ..per_minute
    };
    let with_r = scenario("s0_ods_binlog", parallelism);
    let with_r = PlayOptions {
        job: Some(with_snapshot_rows(&with_r.scenario.join("job.sql"), folder.path())),
        expected: "expected/with_r".into(),
        ..with_r
    };
    play_together(&[drained, per_minute, with_r]);
}

/// Late rows correct windows that have been given. Its topics have the names of the plain job's.
fn play_late_fire(parallelism: usize) {
    let late_fire = scenario("s3a_order_minute_gmv", parallelism);
    let late_fire = PlayOptions {
        job: Some(late_fire.scenario.join("job_late_fire.sql")),
        expected: "expected/late_fire".into(),
        ..late_fire
    };
    play_together(&[late_fire]);
}

/// The job with rows of the initial snapshot let through.
fn with_snapshot_rows(job: &Path, folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(job).expect("job");
    let changed = text.replace("op IN ('c', 'u', 'd')", "op IN ('c', 'u', 'd', 'r')");
    assert_ne!(text, changed, "the job has another filter");
    let path = folder.join("job_with_r.sql");
    std::fs::write(&path, changed).expect("file");
    path
}

#[test]
fn jobs_give_the_expected_topics() {
    play_jobs(1);
}

#[test]
fn jobs_give_the_expected_topics_with_four_instances() {
    play_jobs(4);
}

#[test]
fn variants_give_the_expected_topics() {
    play_variants(1);
}

#[test]
fn variants_give_the_expected_topics_with_four_instances() {
    play_variants(4);
}

#[test]
fn late_rows_correct_windows() {
    play_late_fire(1);
}

#[test]
fn late_rows_correct_windows_with_four_instances() {
    play_late_fire(4);
}
