//! Checkpoints through the disk.

use super::*;
use crate::checkpoint::{NodeCounts, SinkCheckpoint, SourceCheckpoint};
use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, UInt16Array};
use base::Epoch;
use base::connector::{Committable, SplitState};
use state::{OperatorSnapshot, PartSnapshot, PartState, SnapshotKind, TableSnapshot};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn label() -> JobLabel {
    JobLabel { job: "orders".into(), script: "/scripts/orders.sql".into(), script_digest: "abc".into() }
}

fn open(path: &Path) -> CheckpointStore {
    CheckpointStore::open(&path.into(), label(), 2).expect("open")
}

fn snapshot(rows: i64, value: i64) -> OperatorSnapshot {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("key_group", Arc::new(UInt16Array::from_iter_values((0..rows).map(|row| row as u16 % 128)))),
        ("value.n", Arc::new(Int64Array::from_iter_values((0..rows).map(|row| row * value)))),
    ];
    let rows = RecordBatch::try_from_iter(columns).expect("columns fit");
    let table = TableSnapshot { name: "groups".into(), kind: SnapshotKind::Full, rows, ids: None };
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
    let instances = [snapshot(5000, 7), OperatorSnapshot::default(), snapshot(10, changing)];
    let instances = instances.into_iter().map(|snapshot| vec![PartSnapshot::whole(snapshot)]).collect();
    checkpoint.operators.insert("sum".into(), instances);
    let split = |name: &str| SplitState { split: name.into(), position: vec![0, 255, epoch as u8] };
    let watermarks = BTreeMap::from([("a \"b\"".into(), -5)]);
    checkpoint
        .sources
        .insert("scan".into(), SourceCheckpoint { splits: vec![split("a \"b\""), split("分")], watermarks });
    let committables = vec![Committable::from(vec![]), Committable::from(vec![1, 2])];
    checkpoint.sinks.insert("sink".into(), SinkCheckpoint { writers: vec![vec![9], vec![]], committables });
    checkpoint
}

/// All that two checkpoints have, as text.
fn text(checkpoint: &JobCheckpoint) -> String {
    let mut checkpoint = checkpoint.clone();
    checkpoint.load_all().expect("whole");
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
    let first = store.save(&checkpoint(1, 1)).expect("saved").bytes;
    let second = store.save(&checkpoint(2, 2)).expect("saved").bytes;
    assert!(second < first / 5, "{second} bytes after {first}");
    for epoch in 3..20 {
        store.save(&checkpoint(epoch, epoch as i64)).expect("saved");
        assert!(segments(place.path()) <= 3, "the last two and the one that holds what never changes");
    }
    for epoch in [19, 18] {
        let stored = store.stored(epoch).expect("whole");
        assert_eq!(text(&stored.checkpoint), text(&checkpoint(epoch, epoch as i64)));
    }
    assert!(store.stored(17).is_err(), "two are kept");
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
    let store = CheckpointStore::open(&place.path().into(), other, 1).expect("open");
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

/// Rows with these numbers and texts.
fn numbered(kind: SnapshotKind, rows: &[(u64, String)]) -> OperatorSnapshot {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("key_group", Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.0 as u16 % 128)))),
        ("value.text", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.1)))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("columns fit");
    let ids = Some(rows.iter().map(|row| row.0).collect());
    let table = TableSnapshot { name: "groups".into(), kind, rows: batch, ids };
    OperatorSnapshot { tables: vec![table], values: BTreeMap::new() }
}

fn with_state(epoch: u64, snapshot: OperatorSnapshot) -> JobCheckpoint {
    let mut checkpoint = JobCheckpoint::new(Epoch(epoch));
    checkpoint.digests.insert("sum".into(), "digest".into());
    checkpoint.operators.insert("sum".into(), vec![vec![PartSnapshot::whole(snapshot)]]);
    checkpoint
}

/// Everything at epoch 1: 2000 rows; then at every epoch one row is written and one is gone.
fn history(epoch: u64) -> JobCheckpoint {
    if epoch == 1 {
        let rows: Vec<_> = (0..2000).map(|row| (row, format!("first text of row {row}."))).collect();
        return with_state(1, numbered(SnapshotKind::Full, &rows));
    }
    let row = (epoch * 7, format!("text of epoch {epoch}."));
    with_state(epoch, numbered(SnapshotKind::Rows { gone: vec![epoch as u32 * 7 + 1] }, &[row]))
}

/// The rows after an epoch.
fn rows_after(epoch: u64) -> Vec<String> {
    let text = |row: u64| match (row % 7, row / 7) {
        (0, written) if (2..=epoch).contains(&written) => Some(format!("text of epoch {written}.")),
        (1, gone) if (2..=epoch).contains(&gone) => None,
        _ => Some(format!("first text of row {row}.")),
    };
    (0..2000).filter_map(text).collect()
}

fn rows_of(stored: &StoredCheckpoint) -> Vec<String> {
    let snapshot = stored.checkpoint.operators["sum"][0][0].load().expect("whole");
    let column = snapshot.tables[0].rows.column(1).clone();
    column.as_string::<i32>().iter().map(|text| text.expect("no NULL").to_string()).collect()
}

fn sections(store: &CheckpointStore) -> usize {
    store.last().as_ref().expect("one").parts().map(|(_, part)| part.sections.len()).sum()
}

fn is_on_disk(path: &Path, text: &str) -> bool {
    let files = std::fs::read_dir(path).expect("a folder").flatten();
    let mut bytes = files.map(|file| std::fs::read(file.path()).expect("a file"));
    bytes.any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

#[test]
fn changes_are_written_and_read_with_what_they_change() {
    let place = tempfile::tempdir().expect("a folder");
    let store = open(place.path());
    let first = store.save(&history(1)).expect("saved").bytes;
    for epoch in 2..12 {
        let bytes = store.save(&history(epoch)).expect("saved").bytes;
        // The manifest names a section more each time.
        assert!(bytes < first / 5, "{bytes} bytes after {first}");
    }
    assert_eq!(sections(&store), 11);
    for epoch in [11, 10] {
        assert_eq!(rows_of(&store.stored(epoch).expect("whole")), rows_after(epoch));
    }
    drop(store);
    assert_eq!(rows_of(&open(place.path()).newest().expect("whole").expect("one")), rows_after(11));
}

#[test]
fn sections_are_merged_and_what_is_gone_leaves_the_disk() {
    let place = tempfile::tempdir().expect("a folder");
    let store = open(place.path()).merging_after(3);
    for epoch in 1..40 {
        store.save(&history(epoch)).expect("saved");
        store.wait_for_merging();
        assert!(sections(&store) <= 7, "{} sections", sections(&store));
        assert!(segments(place.path()) <= 9, "{} segments", segments(place.path()));
        for kept in [epoch, epoch - 1].into_iter().filter(|epoch| *epoch > 0) {
            let stored = store.stored(kept).expect("whole");
            assert_eq!(rows_of(&stored), rows_after(kept), "checkpoint {kept} of {epoch}");
        }
    }
    assert!(is_on_disk(place.path(), "first text of row 1999."));
    assert!(!is_on_disk(place.path(), "first text of row 15."), "row 15 went at epoch 2");
    assert!(!is_on_disk(place.path(), "first text of row 14."), "row 14 was replaced at epoch 2");
}

#[test]
fn rows_that_are_gone_do_not_outnumber_those_that_are_left() {
    let place = tempfile::tempdir().expect("a folder");
    let store = open(place.path());
    store.save(&history(1)).expect("saved");
    let text = "first text of row 15.";
    for epoch in 2..10_u64 {
        let first = (epoch as u32 - 2) * 200;
        let gone = if epoch < 8 { (first..first + 200).collect() } else { Vec::new() };
        store.save(&with_state(epoch, numbered(SnapshotKind::Rows { gone }, &[]))).expect("saved");
        store.wait_for_merging();
        if epoch == 6 {
            assert!(is_on_disk(place.path(), text), "a thousand of two thousand rows are gone");
        }
    }
    assert!(!is_on_disk(place.path(), text));
    let rows = rows_of(&store.newest().expect("whole").expect("one"));
    assert_eq!((rows.len(), rows[0].as_str()), (800, "first text of row 1200."));
}

#[test]
fn a_merge_that_cannot_read_leaves_everything_as_it_is() {
    let place = tempfile::tempdir().expect("a folder");
    let store = open(place.path()).merging_after(2);
    for epoch in 1..4 {
        store.save(&history(epoch)).expect("saved");
    }
    let segment = place.path().join("segment-0000000002");
    let mut bytes = std::fs::read(&segment).expect("a segment");
    let whole = bytes.clone();
    *bytes.last_mut().expect("bytes") ^= 1;
    std::fs::write(&segment, bytes).expect("damaged");
    for epoch in 4..8 {
        store.save(&history(epoch)).expect("saved");
        store.wait_for_merging();
    }
    let error = store.newest().expect_err("damaged");
    assert_eq!(error.code(), "HW-X101");
    std::fs::write(&segment, whole).expect("whole again");
    assert_eq!(rows_of(&store.newest().expect("whole").expect("one")), rows_after(7));
}

#[test]
fn state_that_did_not_change_is_not_written() {
    let place = tempfile::tempdir().expect("a folder");
    let store = open(place.path());
    store.save(&history(1)).expect("saved");
    store.save(&with_state(2, numbered(SnapshotKind::Rows { gone: vec![] }, &[]))).expect("saved");
    let mut unchanged = with_state(3, OperatorSnapshot::default());
    unchanged.operators.insert("sum".into(), vec![vec![PartSnapshot { part: 0, state: PartState::Unchanged }]]);
    store.save(&unchanged).expect("saved");
    assert_eq!((sections(&store), segments(place.path())), (1, 1));
    assert_eq!(rows_of(&store.stored(3).expect("whole")), rows_after(1));
    unchanged.operators.insert("sum".into(), vec![vec![PartSnapshot { part: 1, state: PartState::Unchanged }]]);
    store.save(&unchanged).expect_err("nobody knows part 1");
}
