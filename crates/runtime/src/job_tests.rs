//! Whole jobs: exchange, watermarks, checkpoints, stops and failures, with small sources, sinks and operators.

use super::*;
use base::clock::ManualClock;
use base::plan::{Distribution, Edge, NotNullEnforcer, Scan, Sink, Values, WatermarkStrategy};
use base::{ChangelogBatch, ChangelogMode};
use stand_ins::{Delayed, Memory, Replay, Row, TestOperator, records, row_type};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

#[path = "job_tests/recovery.rs"]
mod recovery;
#[path = "job_tests/sources.rs"]
mod sources;
#[path = "job_tests/stand_ins.rs"]
mod stand_ins;

const LIMIT: Duration = Duration::from_secs(20);

fn node(operator_id: &str, kind: NodeKind, inputs: Vec<Edge>) -> Node {
    let output = Output { row: row_type(), changelog: ChangelogMode::APPEND, upsert_keys: Vec::new() };
    Node { operator_id: operator_id.into(), digest: operator_id.into(), kind, inputs, output }
}

fn edge(node: usize, distribution: Distribution) -> Edge {
    Edge { node, distribution }
}

fn scan(name: &str, source: &Arc<Replay>, delay_ms: Option<i64>, bounded: bool) -> Node {
    let watermark = delay_ms.map(|delay_ms| {
        let expression = Delayed::by(delay_ms);
        WatermarkStrategy { column: 2, expression, sql: "ts AS ts - delay".into() }
    });
    let scan = Scan {
        table: name.into(),
        provider: source.clone(),
        read: row_type(),
        projection: None,
        watermark,
        bounded,
        replayable: true,
        parallelism_max: None,
        idle_timeout: None,
        alignment: None,
    };
    node(name, NodeKind::Scan(scan), vec![])
}

fn sink(sink: &Arc<Memory>, input: usize, enforcer: NotNullEnforcer) -> Node {
    let sink = Sink {
        table: "target".into(),
        provider: sink.clone(),
        primary_key: vec![],
        not_null: vec![2],
        enforcer,
        guarantee: base::connector::Guarantee::ExactlyOnce,
        guarantee_reason: "",
        idempotent: false,
        replayable: vec![],
        unreplayable: vec![],
        parallelism_max: Some(1),
    };
    node("sink", NodeKind::Sink(sink), vec![edge(input, Distribution::Forward)])
}

/// Source, keyed sum, sink.
fn summing(source: &Arc<Replay>, memory: &Arc<Memory>, delay_ms: Option<i64>) -> StreamPlan {
    let nodes = vec![
        scan("orders", source, delay_ms, true),
        node("sum", NodeKind::DropUpdateBefore, vec![edge(0, Distribution::Hash(vec![0]))]),
        sink(memory, 1, NotNullEnforcer::Error),
    ];
    StreamPlan { nodes, config: JobConfig::default() }
}

/// Source, an operator, sink, all in one chain.
fn passing(source: &Arc<Replay>, operator_id: &str, memory: &Arc<Memory>) -> StreamPlan {
    let nodes = vec![
        scan("orders", source, Some(0), true),
        node(operator_id, NodeKind::DropUpdateBefore, vec![edge(0, Distribution::Forward)]),
        sink(memory, 1, NotNullEnforcer::Error),
    ];
    StreamPlan { nodes, config: JobConfig::default() }
}

fn options(parallelism: usize, batch_rows: usize) -> RuntimeOptions {
    RuntimeOptions {
        job: String::new(),
        parallelism,
        batch_rows,
        clock: Arc::new(ManualClock::new(0)),
        checkpoint_interval: None,
        idle_timeout: None,
        checkpoints: CheckpointConfig::default(),
        store: None,
        restart: RestartStrategy::None,
        memory: None,
        restore: None,
        may_lose_state: false,
        seed: 1,
        warnings: base::Warnings::default(),
    }
}

async fn launch(plan: StreamPlan, options: RuntimeOptions) -> JobHandle {
    let create =
        |node: &Node, _: &[&Output], instance, _: &JobConfig| Ok(TestOperator::create(&node.operator_id, instance));
    start_with(plan, options, Arc::new(create)).await.expect("the job starts")
}

async fn end(job: &JobHandle) -> Result<JobMetrics> {
    tokio::time::timeout(LIMIT, job.wait()).await.expect("no job hangs")
}

/// A fixed-seed generator.
fn random_rows(seed: u64, count: usize) -> Vec<Row> {
    let mut state = seed;
    let mut next = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut time = 1000;
    (0..count)
        .map(|_| {
            time += next(10) as i64;
            (next(9) as i64, next(100) as i64, Some(time - next(40) as i64))
        })
        .collect()
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

/// The sums, and the number of late rows, of a source that sends one row after the other.
fn expected(rows: &[Row], delay_ms: i64) -> (Vec<Row>, u64) {
    let (mut sums, mut late, mut out, mut watermark) = (BTreeMap::new(), 0, Vec::new(), i64::MIN);
    for &(key, value, ts) in rows {
        let time = ts.expect("a time");
        if time <= watermark {
            late += 1;
        } else {
            let total = sums.entry(key).or_insert(0);
            *total += value;
            out.push((key, *total, ts));
        }
        watermark = watermark.max(time - delay_ms);
    }
    (sorted(out), late)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batching_and_parallelism_change_nothing() {
    let rows = random_rows(7, 200);
    let (sums, late_rows) = expected(&rows, 15);
    assert!(late_rows > 10, "the case is worth it");
    for parallelism in [1, 4] {
        for batch_rows in [1, 7, 4096] {
            let source = Arc::new(Replay::new(vec![rows.clone()], batch_rows));
            let memory = Arc::new(Memory::default());
            let job = launch(summing(&source, &memory, Some(15)), options(parallelism, batch_rows)).await;
            let metrics = end(&job).await.expect("ends well");
            assert_eq!(sorted(memory.written()), sums, "parallelism {parallelism}, batch {batch_rows}");
            assert_eq!(memory.committed(), sums, "everything is committed at the end");
            assert_eq!(metrics.nodes[1].late_rows, late_rows);
            assert_eq!(metrics.nodes[1].late_sample.as_deref(), Some("late"));
            assert_eq!((metrics.nodes[0].rows_in, metrics.nodes[1].rows_in), (200, 200));
            assert_eq!(metrics.nodes[2].rows_out, sums.len() as u64);
            assert_eq!((metrics.state, metrics.checkpoints), (JobState::Finished, 1));
            assert!(memory.finished.load(Ordering::SeqCst));
            assert_eq!(memory.aborts.load(Ordering::SeqCst), 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_splits_at_any_parallelism_give_the_same_rows() {
    let splits: Vec<Vec<Row>> = (0..5).map(|seed| random_rows(seed, 60)).collect();
    let all = sorted(splits.concat());
    for parallelism in [1, 2, 4] {
        let source = Arc::new(Replay::new(splits.clone(), 7));
        let memory = Arc::new(Memory::default());
        let mut plan = summing(&source, &memory, None);
        plan.nodes[1].operator_id = "pass".into();
        let job = launch(plan, options(parallelism, 7)).await;
        end(&job).await.expect("ends well");
        assert_eq!(memory.committed(), all, "parallelism {parallelism}");
        assert_eq!(source.completed.load(Ordering::SeqCst), parallelism.min(5), "readers hear of the final checkpoint");
    }
}

#[tokio::test]
async fn watermarks_follow_the_rows_that_moved_them() {
    let times = [10, 30, 25, 24, 40];
    let rows: Vec<Row> = times.iter().enumerate().map(|(value, time)| (1, value as i64, Some(*time))).collect();
    for (batch_rows, expected) in [
        (1, vec!["0", "wm 10", "1", "wm 30", "2", "3", "4", "wm 40", "wm max"]),
        (4096, vec!["0 1", "wm 30", "2 3 4", "wm 40", "wm max"]),
    ] {
        let source = Arc::new(Replay::new(vec![rows.clone()], 4096));
        let memory = Arc::new(Memory::default());
        let job = launch(passing(&source, "pass", &memory), options(1, batch_rows)).await;
        end(&job).await.expect("ends well");
        assert_eq!(memory.seen(), expected);
    }
}

#[tokio::test]
async fn a_union_waits_for_its_slowest_source() {
    let left = Arc::new(Replay::new(vec![vec![(1, 1, Some(100)), (1, 2, Some(200))]], 1).gated(0));
    let right = Arc::new(Replay::new(vec![vec![(2, 3, Some(50)), (2, 4, Some(150))]], 1).gated(0));
    let memory = Arc::new(Memory::default());
    let nodes = vec![
        scan("left", &left, Some(0), true),
        scan("right", &right, Some(0), true),
        node("union", NodeKind::Union, vec![edge(0, Distribution::Forward), edge(1, Distribution::Forward)]),
        sink(&memory, 2, NotNullEnforcer::Error),
    ];
    let job = launch(StreamPlan { nodes, config: JobConfig::default() }, options(1, 1)).await;
    for (count, source) in [&left, &right, &left, &right].into_iter().enumerate() {
        source.permits().add_permits(1);
        memory.wait_for_rows(count + 1).await;
        job.quiesce().await;
    }
    end(&job).await.expect("ends well");
    let seen = memory.seen();
    assert_eq!(seen[..4], ["1", "3", "wm 50", "2"]);
    // The end of the left source can come before the last row of the right one.
    let watermarks: Vec<&String> = seen.iter().filter(|line| line.starts_with("wm")).collect();
    assert_eq!(watermarks[..2], ["wm 50", "wm 150"]);
    assert_eq!(seen.last().map(String::as_str), Some("wm max"));
}

#[tokio::test(start_paused = true)]
async fn an_idle_split_stops_holding_back_the_watermark() {
    let quiet = vec![(1, 1, Some(10))];
    let busy = vec![(2, 2, Some(100)), (2, 3, Some(200)), (2, 4, Some(300))];
    let source = Arc::new(Replay::new(vec![busy, quiet], 1).gated(3).endless());
    let memory = Arc::new(Memory::default());
    let nodes = vec![scan("orders", &source, Some(0), false), sink(&memory, 0, NotNullEnforcer::Error)];
    let mut settings = options(1, 4096);
    settings.idle_timeout = Some(Duration::from_secs(5));
    let job = launch(StreamPlan { nodes, config: JobConfig::default() }, settings).await;
    memory.wait_for_rows(3).await;
    job.quiesce().await;
    assert_eq!(memory.seen(), ["2", "1", "wm 10", "3"]);
    // Paused time runs on by itself while every task waits.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(memory.seen().last().map(String::as_str), Some("wm 200"));
    assert_eq!(job.metrics().nodes[1].watermark_ms, Some(200), "published when the input is quiet");
    assert!(memory.flushes.load(Ordering::SeqCst) > 0, "a quiet input flushes the sink");
    job.stop(StopMode::Plain);
    end(&job).await.expect("ends well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_restores_exactly_even_at_another_parallelism() {
    let rows = random_rows(3, 200);
    let (sums, late_rows) = expected(&rows, 15);
    for (before, after) in [(1, 1), (2, 4), (4, 2)] {
        let first = Arc::new(Replay::new(vec![rows.clone()], 7).gated(12));
        let memory = Arc::new(Memory::default());
        let job = launch(summing(&first, &memory, Some(15)), options(before, 7)).await;
        let (_, late_before) = expected(&rows[..84], 15);
        memory.wait_for_rows(84 - late_before as usize).await;
        job.quiesce().await;
        let checkpoint = job.checkpoint().await.expect("a checkpoint");
        assert_eq!(checkpoint.sources["orders"].splits[0].position, [84]);
        assert_eq!(checkpoint.operators["sum"].len(), before);
        assert_eq!(memory.committed().len(), 84 - late_before as usize, "sinks commit at the checkpoint");
        // These are lost with the crash and read again.
        first.permits().add_permits(3);
        memory.wait_for_rows(84 - late_before as usize + 5).await;
        job.cancel();
        assert_eq!(end(&job).await.expect("a cancelled job is no failure").state, JobState::Stopped);
        assert_eq!(memory.aborts.load(Ordering::SeqCst), 1);

        let second = Arc::new(Replay::new(vec![rows.clone()], 7));
        let mut settings = options(after, 7);
        settings.restore = Some(checkpoint.clone());
        let job = launch(summing(&second, &memory, Some(15)), settings).await;
        let metrics = end(&job).await.expect("ends well");
        assert_eq!(memory.committed(), sums, "from {before} to {after}");
        assert_eq!(metrics.nodes[1].late_rows, late_rows, "counts go on");
        assert!(job.last_checkpoint().expect("the final one").epoch > checkpoint.epoch);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_late_after_a_restart_although_the_source_ahead_is_silent() {
    let ahead = |permits| Arc::new(Replay::new(vec![vec![(1, 1, Some(100))]], 1).gated(permits).endless());
    let behind = vec![(2, 2, Some(50)), (2, 3, Some(70)), (2, 4, Some(60))];
    let behind = |permits| Arc::new(Replay::new(vec![behind.clone()], 1).gated(permits).endless());
    let plan = |left: &Arc<Replay>, right: &Arc<Replay>, memory: &Arc<Memory>| {
        let nodes = vec![
            scan("left", left, Some(0), false),
            scan("right", right, Some(0), false),
            node("union", NodeKind::Union, vec![edge(0, Distribution::Forward), edge(1, Distribution::Forward)]),
            node("sum", NodeKind::DropUpdateBefore, vec![edge(2, Distribution::Hash(vec![0]))]),
            sink(memory, 3, NotNullEnforcer::Error),
        ];
        StreamPlan { nodes, config: JobConfig::default() }
    };
    let memory = Arc::new(Memory::default());
    let job = launch(plan(&ahead(1), &behind(1), &memory), options(1, 4)).await;
    memory.wait_for_rows(2).await;
    job.quiesce().await;
    let checkpoint = job.checkpoint().await.expect("a checkpoint");
    job.cancel();
    end(&job).await.expect("cancelled");
    let settings = RuntimeOptions { restore: Some(checkpoint), ..options(1, 4) };
    let job = launch(plan(&ahead(1), &behind(2), &memory), settings).await;
    memory.wait_for_rows(3).await;
    job.quiesce().await;
    job.stop(StopMode::Plain);
    let metrics = end(&job).await.expect("stops well");
    assert_eq!(metrics.nodes[3].late_rows, 1, "the watermark is 70 when 60 comes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn barriers_align_at_a_union_whose_inputs_have_different_pace() {
    let splits: Vec<Vec<Row>> = (0..2).map(|seed| random_rows(seed, 90)).collect();
    let left = Arc::new(Replay::new(vec![splits[0].clone()], 1).gated(5));
    let right = Arc::new(Replay::new(vec![splits[1].clone()], 30).gated(2));
    let plan = |left: &Arc<Replay>, right: &Arc<Replay>, memory: &Arc<Memory>| {
        let nodes = vec![
            scan("left", left, None, true),
            scan("right", right, None, true),
            node("union", NodeKind::Union, vec![edge(0, Distribution::Forward), edge(1, Distribution::Forward)]),
            sink(memory, 2, NotNullEnforcer::Error),
        ];
        StreamPlan { nodes, config: JobConfig::default() }
    };
    let memory = Arc::new(Memory::default());
    let job = launch(plan(&left, &right, &memory), options(1, 4)).await;
    memory.wait_for_rows(1).await;
    // Rows are still on their way: the barrier decides which of them belong to the checkpoint.
    let checkpoint = job.checkpoint().await.expect("a checkpoint");
    let read = |source: &str| checkpoint.sources[source].splits[0].position[0] as usize;
    let mut inside = splits[0][..read("left")].to_vec();
    inside.extend(&splits[1][..read("right")]);
    assert_eq!(memory.committed(), sorted(inside));
    job.cancel();
    end(&job).await.expect("cancelled");
    let replay = |index: usize| Arc::new(Replay::new(vec![splits[index].clone()], 9));
    let settings = RuntimeOptions { restore: Some(checkpoint), ..options(1, 4) };
    let job = launch(plan(&replay(0), &replay(1), &memory), settings).await;
    end(&job).await.expect("ends well");
    assert_eq!(memory.committed(), sorted(splits.concat()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_has_ended_stays_in_later_checkpoints() {
    let splits: Vec<Vec<Row>> = (0..2).map(|seed| random_rows(seed, 30)).collect();
    let plan = |left: &Arc<Replay>, right: &Arc<Replay>, memory: &Arc<Memory>| {
        let nodes = vec![
            scan("left", left, Some(5), true),
            scan("right", right, Some(5), true),
            node("union", NodeKind::Union, vec![edge(0, Distribution::Forward), edge(1, Distribution::Forward)]),
            node("sum", NodeKind::DropUpdateBefore, vec![edge(2, Distribution::Hash(vec![0]))]),
            sink(memory, 3, NotNullEnforcer::Drop),
        ];
        StreamPlan { nodes, config: JobConfig::default() }
    };
    let left = Arc::new(Replay::new(vec![splits[0].clone()], 4));
    let right = Arc::new(Replay::new(vec![splits[1].clone()], 4).gated(0));
    let memory = Arc::new(Memory::default());
    let job = launch(plan(&left, &right, &memory), options(2, 4)).await;
    memory.wait_for_rows(30).await;
    job.quiesce().await;
    right.permits().add_permits(3);
    job.quiesce().await;
    job.checkpoint().await.expect("a checkpoint");
    right.permits().add_permits(2);
    job.quiesce().await;
    job.stop(StopMode::Plain);
    end(&job).await.expect("stops well");
    let last = job.last_checkpoint().expect("the final one");
    let positions = ["left", "right"].map(|source| last.sources[source].splits[0].position[0]);
    assert_eq!(positions, [30, 20]);
    assert_eq!(last.epoch, base::Epoch(2));
    assert_eq!(memory.committed(), sorted(memory.written()));

    let settings = RuntimeOptions { restore: Some(last), ..options(3, 7) };
    let whole = Arc::new(Memory::default());
    for (settings, memory) in [(settings, &memory), (options(1, 7), &whole)] {
        let left = Arc::new(Replay::new(vec![splits[0].clone()], 7));
        let right = Arc::new(Replay::new(vec![splits[1].clone()], 7).gated(0));
        let job = launch(plan(&left, &right, memory), settings).await;
        // The left source ends (again) before the right one goes on: two sources have no order otherwise.
        job.quiesce().await;
        right.permits().add_permits(100);
        end(&job).await.expect("ends well");
    }
    assert_eq!(memory.committed(), whole.committed(), "as if nothing had happened");
}

#[tokio::test(start_paused = true)]
async fn checkpoints_come_by_themselves() {
    let source = Arc::new(Replay::new(vec![random_rows(1, 10)], 5).endless());
    let memory = Arc::new(Memory::default());
    let mut settings = options(2, 4096);
    settings.checkpoint_interval = Some(Duration::from_secs(10));
    let job = launch(summing(&source, &memory, None), settings).await;
    memory.wait_for_rows(10).await;
    assert!(memory.committed().is_empty());
    tokio::time::sleep(Duration::from_secs(35)).await;
    assert_eq!(job.metrics().checkpoints, 3);
    assert_eq!(memory.committed().len(), 10);
    assert!(job.metrics().last_checkpoint.is_some());
    job.cancel();
    end(&job).await.expect("cancelled");
    let late = job.checkpoint().await.expect_err("too late");
    assert_eq!(late.code(), "HW-R003");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_stop_commits_and_fires_nothing() {
    let source = Arc::new(Replay::new(vec![random_rows(1, 50)], 5).endless());
    let memory = Arc::new(Memory::default());
    let job = launch(summing(&source, &memory, Some(1000)), options(2, 4096)).await;
    memory.wait_for_rows(50).await;
    job.stop(StopMode::Plain);
    let metrics = end(&job).await.expect("stops well");
    assert_eq!((metrics.state, metrics.checkpoints), (JobState::Stopped, 1));
    assert_eq!(memory.committed().len(), 50);
    assert!(!memory.seen().contains(&"wm max".to_string()));
    assert!(memory.finished.load(Ordering::SeqCst));
    assert_eq!(job.last_checkpoint().expect("one").sources["orders"].splits[0].position, [50]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_fires_everything() {
    let source = Arc::new(Replay::new(vec![random_rows(1, 50)], 5).endless());
    let memory = Arc::new(Memory::default());
    let job = launch(summing(&source, &memory, Some(1000)), options(2, 4096)).await;
    memory.wait_for_rows(50).await;
    job.stop(StopMode::Drain);
    job.stop(StopMode::Plain);
    assert_eq!(end(&job).await.expect("stops well").state, JobState::Stopped);
    assert_eq!(memory.committed().len(), 50);
    assert_eq!(memory.seen().last().map(String::as_str), Some("wm max"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_error_ends_the_job() {
    let rows: Vec<Row> = (0..500).map(|value| (value % 7, value, Some(value))).collect();
    for (source_fails, operator, sink_fails, code) in [
        (Some(300), "pass", None, "HW-I002"),
        (None, "fail 300", None, "HW-I002"),
        (None, "pass", Some(300), "HW-I002"),
        (None, "panic", None, "HW-R004"),
    ] {
        let mut replay = Replay::new(vec![rows.clone(), rows.clone(), rows.clone()], 10).endless();
        if let Some(value) = source_fails {
            replay = replay.failing_at(value);
        }
        let memory = Arc::new(Memory { fails_at: sink_fails, ..Memory::default() });
        let mut plan = summing(&Arc::new(replay), &memory, None);
        plan.nodes[1].operator_id = operator.into();
        let job = launch(plan, options(3, 64)).await;
        let error = end(&job).await.expect_err("the job fails");
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(job.metrics().state, JobState::Failed);
        assert_eq!(memory.aborts.load(Ordering::SeqCst), 1, "the writer gives up");
        assert!(memory.committed().is_empty() && !memory.finished.load(Ordering::SeqCst));
        job.quiesce().await;
    }
}

#[tokio::test]
async fn a_panic_in_a_commit_ends_the_job() {
    let source = Arc::new(Replay::new(vec![random_rows(1, 10)], 5));
    let memory = Arc::new(Memory { commit_panics: true, ..Memory::default() });
    let job = launch(summing(&source, &memory, None), options(1, 10)).await;
    assert_eq!(end(&job).await.expect_err("the job fails").code(), "HW-R004");
    job.quiesce().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sink_that_hangs_holds_back_the_source_and_can_be_cancelled() {
    let (_open, blocked) = watch::channel(true);
    let rows: Vec<Row> = (0..1000).map(|value| (value, value, Some(value))).collect();
    let source = Arc::new(Replay::new(vec![rows], 1));
    let memory = Arc::new(Memory { blocked: Some(blocked), ..Memory::default() });
    let job = launch(summing(&source, &memory, None), options(1, 1)).await;
    job.cancel();
    assert_eq!(end(&job).await.expect("cancelled").state, JobState::Stopped);
    assert!(memory.written().is_empty());
    assert_eq!(memory.aborts.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_null_rowtime_fails_with_table_and_column() {
    let source = Arc::new(Replay::new(vec![vec![(1, 1, Some(1)), (1, 2, None)]], 10));
    let memory = Arc::new(Memory::default());
    let job = launch(passing(&source, "pass", &memory), options(1, 10)).await;
    let error = end(&job).await.expect_err("the job fails");
    assert_eq!(
        (error.code(), error.argument("table"), error.argument("column")),
        ("HW-R001", Some("orders"), Some("ts"))
    );
}

#[tokio::test]
async fn null_in_a_not_null_column_fails_or_is_dropped() {
    let rows = vec![(1, 1, Some(1)), (1, 2, None), (1, 3, Some(3))];
    for enforcer in [NotNullEnforcer::Error, NotNullEnforcer::Drop] {
        let source = Arc::new(Replay::new(vec![rows.clone()], 10));
        let memory = Arc::new(Memory::default());
        let nodes = vec![scan("orders", &source, None, true), sink(&memory, 0, enforcer)];
        let job = launch(StreamPlan { nodes, config: JobConfig::default() }, options(1, 10)).await;
        let result = end(&job).await;
        if enforcer == NotNullEnforcer::Error {
            let error = result.expect_err("the job fails");
            assert_eq!((error.code(), error.argument("column")), ("HW-R002", Some("ts")));
        } else {
            let metrics = result.expect("ends well");
            assert_eq!(memory.written(), [(1, 1, Some(1)), (1, 3, Some(3))]);
            assert_eq!((metrics.nodes[1].rejected_rows, metrics.nodes[1].rejected_samples.len()), (1, 1));
        }
    }
}

#[tokio::test]
async fn one_read_serves_several_readers_and_values_end_by_themselves() {
    let (left, right) = (Arc::new(Memory::default()), Arc::new(Memory::default()));
    let values = Values { rows: records(&[(1, 1, Some(1)), (2, 2, Some(2)), (3, 3, Some(3))]) };
    let mut other = sink(&right, 0, NotNullEnforcer::Error);
    other.operator_id = "other sink".into();
    let nodes = vec![node("values", NodeKind::Values(values), vec![]), sink(&left, 0, NotNullEnforcer::Error), other];
    let job = launch(StreamPlan { nodes, config: JobConfig::default() }, options(4, 2)).await;
    let metrics = end(&job).await.expect("ends well");
    for memory in [&left, &right] {
        assert_eq!(memory.seen(), ["1 2", "3", "wm max"]);
        assert_eq!(memory.committed().len(), 3);
    }
    assert_eq!((metrics.nodes[0].rows_in, metrics.nodes[0].rows_out), (3, 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quiescence_waits_for_everything_that_follows_from_an_input() {
    let rows: Vec<Row> = (0..20).map(|value| (value % 3, 1, Some(value))).collect();
    let source = Arc::new(Replay::new(vec![rows], 1).gated(0));
    let memory = Arc::new(Memory::default());
    let job = launch(summing(&source, &memory, Some(0)), options(4, 1)).await;
    job.quiesce().await;
    let permits = source.permits();
    for count in 1..=20 {
        permits.add_permits(1);
        job.quiesce().await;
        assert_eq!(memory.written().len(), count);
    }
    end(&job).await.expect("ends well");
}

#[test]
fn a_batch_of_the_tests_reads_back() {
    let batch = ChangelogBatch::inserts(records(&[(1, 2, None)]));
    assert_eq!(stand_ins::rows(&batch), [(1, 2, None)]);
}
