//! Sources that wait for each other, silent splits, and changes that keep their order.

use super::*;
use base::RowKind;
use base::plan::{Window, WindowAggregate, WindowEmit, WindowKind};
use base::watermark_options::Alignment;
use tokio::sync::mpsc;

/// Rows of one key at these times.
fn steps(key: i64, times: &[i64]) -> Vec<Row> {
    times.iter().enumerate().map(|(value, time)| (key, value as i64, Some(*time))).collect()
}

/// An unbounded scan in the group `g` whose members may be 100 ms apart.
fn aligned(name: &str, source: &Arc<Replay>, idle_timeout: Option<Duration>) -> Node {
    let mut node = scan(name, source, Some(0), false);
    if let NodeKind::Scan(scan) = &mut node.kind {
        let max_drift = Duration::from_millis(100);
        scan.alignment = Some(Alignment { group: "g".into(), max_drift });
        scan.idle_timeout = idle_timeout;
    }
    node
}

/// Two aligned sources into one sink: the fast one has the key 1, the slow one 2.
fn race(fast: &Arc<Replay>, slow: &Arc<Replay>, slow_idle: Option<Duration>, memory: &Arc<Memory>) -> StreamPlan {
    let nodes = vec![
        aligned("fast", fast, None),
        aligned("slow", slow, slow_idle),
        node("union", NodeKind::Union, vec![edge(0, Distribution::Forward), edge(1, Distribution::Forward)]),
        sink(memory, 2, NotNullEnforcer::Error),
    ];
    StreamPlan { nodes, config: JobConfig::default() }
}

fn fast_times(memory: &Memory) -> Vec<i64> {
    memory.written().iter().filter(|row| row.0 == 1).filter_map(|row| row.2).collect()
}

const FAST: [i64; 8] = [0, 50, 100, 150, 200, 250, 300, 350];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_waits_for_the_slowest_of_its_group() {
    for (batch_rows, stop) in [(1, StopMode::Plain), (4096, StopMode::Drain)] {
        let fast = Arc::new(Replay::new(vec![steps(1, &FAST)], 1).gated(0).endless());
        let slow = Arc::new(Replay::new(vec![steps(2, &[0, 100, 100, 500])], 1).gated(1).endless());
        let memory = Arc::new(Memory::default());
        let job = launch(race(&fast, &slow, None, &memory), options(1, batch_rows)).await;
        memory.wait_for_rows(1).await;
        job.quiesce().await;
        fast.permits().add_permits(100);
        memory.wait_for_rows(5).await;
        job.quiesce().await;
        assert_eq!(fast_times(&memory), [0, 50, 100, 150], "the first row beyond the drift is read, the next is not");
        job.checkpoint().await.expect("barriers pass while a source waits");
        assert_eq!(memory.committed().len(), 5);
        slow.permits().add_permits(1);
        memory.wait_for_rows(8).await;
        job.quiesce().await;
        assert_eq!(fast_times(&memory), [0, 50, 100, 150, 200, 250]);
        slow.permits().add_permits(1);
        memory.wait_for_rows(9).await;
        job.quiesce().await;
        assert_eq!(fast_times(&memory).last(), Some(&250), "a row that moves no watermark lets nobody go on");
        job.stop(stop);
        end(&job).await.expect("a waiting source stops");
        assert_eq!(memory.committed().len(), 9);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_ended_is_not_waited_for() {
    let fast = Arc::new(Replay::new(vec![steps(1, &FAST)], 1).gated(0));
    let slow = Arc::new(Replay::new(vec![steps(2, &[0, 10])], 1).gated(1));
    let memory = Arc::new(Memory::default());
    let job = launch(race(&fast, &slow, None, &memory), options(2, 4096)).await;
    memory.wait_for_rows(1).await;
    job.quiesce().await;
    fast.permits().add_permits(100);
    memory.wait_for_rows(5).await;
    job.quiesce().await;
    assert_eq!(fast_times(&memory).len(), 4);
    slow.permits().add_permits(1);
    end(&job).await.expect("ends well");
    assert_eq!(fast_times(&memory), FAST);
}

#[tokio::test(start_paused = true)]
async fn idle_sources_are_not_waited_for_and_waiting_is_not_silence() {
    let rows = vec![steps(1, &[1000, 1010]), vec![(1, 7, Some(500)), (1, 8, Some(510))]];
    let fast = Arc::new(Replay::new(rows, 1).gated(0).endless());
    let slow = Arc::new(Replay::new(vec![steps(2, &[0])], 1).gated(1).endless());
    let memory = Arc::new(Memory::default());
    let mut plan = race(&fast, &slow, Some(Duration::from_secs(60)), &memory);
    if let NodeKind::Scan(scan) = &mut plan.nodes[0].kind {
        scan.idle_timeout = Some(Duration::from_secs(5));
    }
    let job = launch(plan, options(1, 4096)).await;
    memory.wait_for_rows(1).await;
    job.quiesce().await;
    fast.permits().add_permits(100);
    memory.wait_for_rows(3).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(fast_times(&memory), [1000, 500], "it waits");
    let watermark_ms = |job: &JobHandle| job.metrics().nodes[2].watermark_ms;
    assert_eq!(watermark_ms(&job), Some(0));
    assert_eq!(job.metrics().nodes[0].watermark_ms, Some(500), "neither of its splits fell silent");
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(fast_times(&memory), [1000, 500, 1010, 510], "the slow source counts as idle");
    job.stop(StopMode::Plain);
    end(&job).await.expect("ends well");
}

#[tokio::test(start_paused = true)]
async fn a_split_that_holds_windows_back_is_named_while_the_job_runs() {
    let window = Window {
        kind: WindowKind::Tumble { size_ms: 10 },
        offset_ms: 0,
        time_column: 2,
        time_zone: None,
        is_processing_time: false,
    };
    let kind = WindowAggregate {
        window,
        is_attached: false,
        keys: vec![0],
        calls: Vec::new(),
        properties: Vec::new(),
        emit: WindowEmit::default(),
    };
    let windowed = |source: &Arc<Replay>, memory: &Arc<Memory>, idle_timeout| {
        let mut nodes = vec![
            scan("orders", source, Some(0), false),
            node("sum", NodeKind::WindowAggregate(kind.clone()), vec![edge(0, Distribution::Hash(vec![0]))]),
            sink(memory, 1, NotNullEnforcer::Error),
        ];
        if let NodeKind::Scan(scan) = &mut nodes[0].kind {
            scan.idle_timeout = idle_timeout;
        }
        StreamPlan { nodes, config: JobConfig::default() }
    };
    for (parallelism, idle_timeout, expected) in
        [(1, None, 1), (2, None, 1), (2, Some(Duration::from_secs(100)), 1), (1, Some(Duration::ZERO), 1)]
    {
        let source = Arc::new(Replay::new(vec![steps(1, &FAST), Vec::new()], 1).endless());
        let memory = Arc::new(Memory::default());
        let (warnings, mut told) = mpsc::unbounded_channel();
        let clock = Arc::new(ManualClock::new(0));
        let mut settings = options(parallelism, 4096);
        settings.warnings = base::Warnings::new(move |warning| drop(warnings.send(warning)));
        settings.clock = clock.clone();
        let job = launch(windowed(&source, &memory, idle_timeout), settings).await;
        memory.wait_for_rows(8).await;
        for minutes in 1..=2 {
            tokio::time::sleep(Duration::from_secs(5)).await;
            clock.set(minutes * 60_000);
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
        let told: Vec<Error> = std::iter::from_fn(|| told.try_recv().ok()).collect();
        assert_eq!(told.len(), expected, "{parallelism} {idle_timeout:?}: {told:?}");
        for warning in told {
            assert_eq!((warning.argument("table"), warning.argument("split")), (Some("orders"), Some("split-1")));
        }
        job.stop(StopMode::Plain);
        end(&job).await.expect("ends well");
    }
}

/// The item of a change: the value is `1000 * item + number of the change`.
fn item(row: &Row) -> i64 {
    row.1 / 1000
}

/// A change log of one user whose item moves to and fro; every second row takes the last one back.
fn moves(user: i64) -> Vec<Row> {
    let mut rows = vec![(user, 1000, Some(0))];
    for (number, next) in [2, 2, 1, 3, 1, 1, 2].into_iter().enumerate() {
        let last = rows.last().map_or(0, item);
        rows.push((user, last * 1000 + 2 * number as i64 + 1, Some(0)));
        rows.push((user, next * 1000 + 2 * number as i64 + 2, Some(0)));
    }
    rows
}

/// A sink keyed by user and item gets the changes of a user in order at any parallelism: it ends with one item each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_of_a_moving_sink_key_keep_their_order() {
    let kind = |row: &Row| match row.1 % 1000 {
        0 => RowKind::Insert,
        number if number % 2 == 1 => RowKind::UpdateBefore,
        _ => RowKind::UpdateAfter,
    };
    let splits: Vec<Vec<Row>> =
        (0..4).map(|split| (0..50).flat_map(|user| moves(split * 50 + user)).collect()).collect();
    for (parallelism, batch_rows) in [(1, 4096), (4, 1), (4, 7), (4, 4096)] {
        let source = Arc::new(Replay::new(splits.clone(), batch_rows.min(16)).of_kinds(kind));
        let memory = Arc::new(Memory::default());
        let mut target = sink(&memory, 0, NotNullEnforcer::Error);
        target.inputs = vec![edge(0, Distribution::Hash(vec![0]))];
        if let NodeKind::Sink(sink) = &mut target.kind {
            sink.parallelism_max = None;
        }
        let mut read = scan("users", &source, None, true);
        read.output.changelog = ChangelogMode::ALL;
        let plan = StreamPlan { nodes: vec![read, target], config: JobConfig::default() };
        let job = launch(plan, options(parallelism, batch_rows)).await;
        end(&job).await.expect("ends well");
        let mut table = BTreeMap::new();
        for row in memory.written() {
            match kind(&row) {
                RowKind::UpdateBefore => {
                    let removed = table.remove(&(row.0, item(&row)));
                    assert!(removed.is_some(), "{row:?} takes back what is there");
                }
                _ => {
                    table.insert((row.0, item(&row)), row.1);
                }
            }
        }
        let expected: Vec<(i64, i64)> = (0..200).map(|user| (user, 2)).collect();
        assert_eq!(table.into_keys().collect::<Vec<_>>(), expected, "parallelism {parallelism}, batch {batch_rows}");
    }
}
