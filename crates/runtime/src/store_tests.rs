//! Checkpoints through the disk.

use super::*;
use crate::checkpoint::{NodeCounts, SinkCheckpoint, SourceCheckpoint};
use arrow::array::{ArrayRef, Int64Array, RecordBatch, UInt16Array};
use base::Epoch;
use base::connector::{Committable, SplitState};
use state::{OperatorSnapshot, SnapshotKind, TableSnapshot};
use std::sync::Arc;

fn label() -> JobLabel {
    JobLabel { job: "orders".into(), script: "/scripts/orders.sql".into(), script_digest: "abc".into() }
}

fn open(path: &Path) -> CheckpointStore {
    CheckpointStore::open(path, label(), 2).expect("open")
}

fn snapshot(rows: i64, value: i64) -> OperatorSnapshot {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("key_group", Arc::new(UInt16Array::from_iter_values((0..rows).map(|row| row as u16 % 128)))),
        ("value.n", Arc::new(Int64Array::from_iter_values((0..rows).map(|row| row * value)))),
    ];
    let rows = RecordBatch::try_from_iter(columns).expect("columns fit");
    let table = TableSnapshot { name: "groups".into(), kind: SnapshotKind::Full, rows };
    OperatorSnapshot { tables: vec![table], values: BTreeMap::from([("n".to_string(), value)]) }
}

fn checkpoint(epoch: u64, changing: i64) -> JobCheckpoint {
    let mut checkpoint = JobCheckpoint::new(Epoch(epoch));
    for key in ["scan", "sum", "sink", "calc"] {
        checkpoint.digests.insert(key.into(), format!("digest of {key}"));
        checkpoint.names.insert(key.into(), format!("name of {key}"));
        checkpoint.watermarks.insert(key.into(), vec![Some(i64::MAX), None]);
        checkpoint.counts.insert(key.into(), NodeCounts { rows_in: epoch, late_rows: 3, ..NodeCounts::default() });
    }
    let instances = vec![snapshot(5000, 7), OperatorSnapshot::default(), snapshot(10, changing)];
    checkpoint.operators.insert("sum".into(), instances);
    let split = |name: &str| SplitState { split: name.into(), position: vec![0, 255, epoch as u8] };
    let watermarks = BTreeMap::from([("a \"b\"".into(), -5)]);
    checkpoint
        .sources
        .insert("scan".into(), SourceCheckpoint { splits: vec![split("a \"b\""), split("分")], watermarks });
    let committables = vec![Committable(vec![]), Committable(vec![1, 2])];
    checkpoint.sinks.insert("sink".into(), SinkCheckpoint { writers: vec![vec![9], vec![]], committables });
    checkpoint
}

/// All that two checkpoints have, as text.
fn text(checkpoint: &JobCheckpoint) -> String {
    format!("{checkpoint:?}")
}

fn segments(path: &Path) -> usize {
    let entries = std::fs::read_dir(path).expect("a folder").flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("segment")).count()
}

#[test]
fn a_checkpoint_comes_back_from_the_disk() {
    let place = tempfile::tempdir().expect("a folder");
    let store = open(place.path());
    assert!(store.newest().expect("a look").is_none());
    store.save(&checkpoint(4, 1)).expect("saved");
    drop(store);
    let stored = open(place.path()).newest().expect("whole").expect("one");
    assert_eq!(text(&stored.checkpoint), text(&checkpoint(4, 1)));
}

#[test]
fn old_checkpoints_go_and_unchanged_state_is_not_written_again() {
    let place = tempfile::tempdir().expect("a folder");
    let store = open(place.path());
    let first = store.save(&checkpoint(1, 1)).expect("saved");
    let second = store.save(&checkpoint(2, 2)).expect("saved");
    assert!(second < first / 5, "{second} bytes after {first}");
    for epoch in 3..20 {
        store.save(&checkpoint(epoch, epoch as i64)).expect("saved");
        assert!(segments(place.path()) <= 3, "the last two and the one that holds what never changes");
    }
    for epoch in [19, 18] {
        let stored = store.read(epoch).expect("whole");
        assert_eq!(text(&stored.checkpoint), text(&checkpoint(epoch, epoch as i64)));
    }
    assert!(store.read(17).is_err(), "two are kept");
    store.clear().expect("cleared");
    assert!(store.newest().expect("a look").is_none());
    drop(store);
    assert!(!place.path().exists());
}

#[test]
fn a_damaged_checkpoint_is_an_error_that_names_an_older_one() {
    let place = tempfile::tempdir().expect("a folder");
    let store = open(place.path());
    store.save(&checkpoint(1, 1)).expect("saved");
    store.save(&checkpoint(2, 2)).expect("saved");
    let segment = place.path().join("segment-0000000002");
    let mut bytes = std::fs::read(&segment).expect("a segment");
    bytes[20] ^= 1;
    std::fs::write(&segment, bytes).expect("damaged");
    let error = store.newest().expect_err("damaged");
    assert_eq!(error.code(), "HW-X101");
    assert_eq!(error.others()[0].code(), "HW-R009");
    let stored = store.go_back_to(1).expect("whole");
    assert_eq!(text(&stored.checkpoint), text(&checkpoint(1, 1)));
    assert_eq!(store.newest().expect("whole").expect("one").checkpoint.epoch, Epoch(1));
}

#[test]
fn checkpoints_of_another_script_are_refused() {
    let place = tempfile::tempdir().expect("a folder");
    open(place.path()).save(&checkpoint(1, 1)).expect("saved");
    let other = JobLabel { script: "/elsewhere/orders.sql".into(), ..label() };
    let store = CheckpointStore::open(place.path(), other, 1).expect("open");
    assert_eq!(store.newest().expect_err("another's").code(), "HW-R010");
}

#[test]
fn a_finished_job_keeps_what_is_to_be_committed_and_no_state() {
    let place = tempfile::tempdir().expect("a folder");
    let store = open(place.path());
    let mut finished = checkpoint(1, 1);
    finished.is_finished = true;
    store.save(&finished).expect("saved");
    let stored = store.newest().expect("whole").expect("one").checkpoint;
    assert!(stored.is_finished && stored.operators.is_empty());
    assert_eq!(stored.sinks, finished.sinks);
}
