//! Failures that pass: restarts, checkpoints that come to nothing, checkpoints on the disk.

use super::*;
use crate::store::JobLabel;
use tokio::sync::{Semaphore, watch};

fn fixed_delay(attempts: u64) -> RestartStrategy {
    RestartStrategy::FixedDelay { attempts, delay: Duration::from_secs(1) }
}

fn store(folder: &std::path::Path) -> Arc<CheckpointStore> {
    Arc::new(CheckpointStore::open(&folder.into(), JobLabel::default(), 1).expect("a folder"))
}

#[tokio::test(start_paused = true)]
async fn a_job_goes_on_after_failures_that_pass() {
    let rows = random_rows(5, 200).into_iter().zip(0..).map(|((k, _, ts), n)| (k, n, ts)).collect::<Vec<Row>>();
    let (sums, late_rows) = expected(&rows, 15);
    assert!(late_rows > 10, "the case is worth it");
    let place = tempfile::tempdir().expect("a folder");
    for is_durable in [false, true] {
        let source = Arc::new(Replay::new(vec![rows.clone()], 7).gated(12).away_at(150, 3));
        let memory = Arc::new(Memory::default());
        let mut settings = options(2, 7);
        settings.restart = fixed_delay(3);
        settings.store = is_durable.then(|| store(&place.path().join("job")));
        let job = launch(summing(&source, &memory, Some(15)), settings).await;
        let (_, late_before) = expected(&rows[..84], 15);
        memory.wait_for_rows(84 - late_before as usize).await;
        job.checkpoint().await.expect("a checkpoint");
        source.permits().add_permits(1000);
        let metrics = end(&job).await.expect("it ends well");
        assert_eq!((metrics.restarts, metrics.state), (3, JobState::Finished), "durable: {is_durable}");
        assert_eq!(memory.committed(), sums, "what was written after the checkpoint is written once");
        assert_eq!(metrics.nodes[1].late_rows, late_rows, "counts go on from the checkpoint");
        assert_eq!(metrics.nodes[0].rows_in, 200);
        assert_eq!(metrics.last_checkpoint.is_some_and(|last| last.bytes.is_some()), is_durable);
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_fails_too_often_ends_with_the_error() {
    let rows = random_rows(5, 20);
    for (strategy, restarts) in [(RestartStrategy::None, 0), (fixed_delay(2), 2)] {
        let source = Arc::new(Replay::new(vec![rows.clone()], 7).away_at(rows[10].1, 100));
        let memory = Arc::new(Memory::default());
        let mut settings = options(1, 7);
        settings.restart = strategy;
        let job = launch(summing(&source, &memory, None), settings).await;
        assert_eq!(end(&job).await.expect_err("it fails").code(), "HW-I013");
        assert_eq!((job.metrics().state, job.metrics().restarts), (JobState::Failed, restarts));
        assert!(memory.committed().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_waits_for_its_restart_can_be_stopped() {
    let rows = random_rows(5, 20);
    let source = Arc::new(Replay::new(vec![rows.clone()], 7).away_at(rows[10].1, 100));
    let memory = Arc::new(Memory::default());
    let (sender, mut warned) = mpsc::unbounded_channel();
    let mut settings = options(1, 7);
    settings.restart = RestartStrategy::FixedDelay { attempts: 9, delay: Duration::from_secs(1_000_000) };
    settings.warnings = base::Warnings::new(move |warning| sender.send(warning.code()).expect("a listener"));
    let job = launch(summing(&source, &memory, None), settings).await;
    assert_eq!(warned.recv().await, Some("HW-R008"));
    assert_eq!(job.metrics().state, JobState::Restarting);
    job.stop(StopMode::Plain);
    assert_eq!(end(&job).await.expect("it stops").state, JobState::Stopped);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_failed_checkpoint_left_is_committed_with_the_next_one() {
    let rows = random_rows(1, 60);
    let source = Arc::new(Replay::new(vec![rows.clone()], 5).gated(6).endless());
    let memory = Arc::new(Memory::default());
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("job");
    let mut settings = options(2, 5);
    settings.checkpoints.tolerable_failures = 1;
    settings.store = Some(store(&folder));
    let job = launch(summing(&source, &memory, None), settings).await;
    memory.wait_for_rows(30).await;
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    job.checkpoint().await.expect_err("nowhere to write to");
    assert!(memory.committed().is_empty(), "nothing is committed that is not durable");
    assert_eq!((job.metrics().failed_checkpoints, job.metrics().state), (1, JobState::Running));
    std::fs::create_dir_all(&folder).expect("the folder is back");
    source.permits().add_permits(6);
    memory.wait_for_rows(60).await;
    job.checkpoint().await.expect("a checkpoint");
    assert_eq!(memory.committed().len(), 60, "of both");
    job.cancel();
    end(&job).await.expect("cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_that_fails_ends_the_job_unless_that_is_tolerated() {
    let source = Arc::new(Replay::new(vec![random_rows(1, 60)], 5).endless());
    let memory = Arc::new(Memory::default());
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("job");
    let mut settings = options(1, 5);
    settings.store = Some(store(&folder));
    let job = launch(summing(&source, &memory, None), settings).await;
    memory.wait_for_rows(60).await;
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    job.checkpoint().await.expect_err("nowhere to write to");
    assert_eq!(end(&job).await.expect_err("the job fails").code(), "HW-I010");
    assert!(memory.committed().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_takes_too_long_is_given_up_and_nothing_is_lost() {
    let (open, blocked) = watch::channel(true);
    let rows = random_rows(1, 60);
    let source = Arc::new(Replay::new(vec![rows], 5).endless());
    let memory = Arc::new(Memory { blocked: Some(blocked), ..Memory::default() });
    let mut settings = options(1, 5);
    settings.checkpoint_interval = Some(Duration::from_secs(10));
    settings.checkpoints.timeout = Duration::from_secs(3);
    settings.checkpoints.tolerable_failures = 2;
    let job = launch(summing(&source, &memory, None), settings).await;
    tokio::time::sleep(Duration::from_secs(25)).await;
    assert_eq!((job.metrics().checkpoints, job.metrics().failed_checkpoints), (0, 2));
    open.send_replace(false);
    memory.wait_for_rows(60).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(memory.committed().len(), 60, "what was handed over for the lost ones as well");
    assert_eq!(job.metrics().checkpoints, 1);
    job.cancel();
    end(&job).await.expect("cancelled");
}

#[tokio::test(start_paused = true)]
async fn checkpoints_keep_their_distance() {
    let source = Arc::new(Replay::new(vec![random_rows(1, 10)], 5).endless());
    let memory = Arc::new(Memory::default());
    let mut settings = options(2, 4096);
    settings.checkpoint_interval = Some(Duration::from_secs(1));
    settings.checkpoints.min_pause = Duration::from_secs(5);
    let job = launch(summing(&source, &memory, None), settings).await;
    memory.wait_for_rows(10).await;
    tokio::time::sleep(Duration::from_millis(16_500)).await;
    assert_eq!(job.metrics().checkpoints, 4, "after 1, 6, 11 and 16 s");
    job.cancel();
    end(&job).await.expect("cancelled");
}

#[tokio::test]
async fn a_checkpoint_under_full_backpressure_waits_for_what_is_in_the_channels_only() {
    let rows = random_rows(9, 5000);
    let source = Arc::new(Replay::new(vec![rows], 1));
    let permits = Arc::new(Semaphore::new(0));
    let memory = Arc::new(Memory { permits: Some(permits.clone()), ..Memory::default() });
    let job = launch(summing(&source, &memory, None), options(1, 1)).await;
    permits.add_permits(1);
    memory.wait_for_rows(1).await;
    let asked = tokio::spawn({
        let job = job.clone();
        async move { job.checkpoint().await }
    });
    let mut written = 1;
    while !asked.is_finished() {
        permits.add_permits(1);
        written += 1;
        memory.wait_for_rows(written).await;
        // One row at a time: everybody else has done what can be done.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }
    asked.await.expect("no panic").expect("a checkpoint");
    assert!(written < 100, "the barrier came after {written} rows");
    assert!(memory.committed().len() > 1);
    job.cancel();
    end(&job).await.expect("cancelled");
}

#[tokio::test(start_paused = true)]
async fn only_the_first_checkpoint_after_a_start_or_a_failure_asks_for_everything() {
    let rows = random_rows(5, 200);
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("job");
    let source = Arc::new(Replay::new(vec![rows], 7).gated(4).endless());
    let memory = Arc::new(Memory::default());
    let mut settings = options(2, 7);
    settings.store = Some(store(&folder));
    settings.checkpoints.tolerable_failures = 3;
    let job = launch(summing(&source, &memory, None), settings).await;
    memory.wait_for_rows(28).await;
    let is_full = || job.metrics().last_checkpoint.expect("one").is_full;
    for expected in [true, false, false] {
        job.checkpoint().await.expect("a checkpoint");
        assert_eq!(is_full(), expected);
    }
    // Nothing can be written where a file is in the way.
    let moved = place.path().join("moved");
    std::fs::rename(&folder, &moved).expect("moved");
    std::fs::write(&folder, "").expect("a file");
    job.checkpoint().await.expect_err("nowhere to write to");
    std::fs::remove_file(&folder).expect("removed");
    std::fs::rename(&moved, &folder).expect("moved back");
    for expected in [true, false] {
        job.checkpoint().await.expect("a checkpoint");
        assert_eq!(is_full(), expected);
    }
    job.cancel();
    end(&job).await.expect("cancelled");
}
