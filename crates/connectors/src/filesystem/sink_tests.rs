//! Writing part files: hidden until committed, committed once, cleaned up, never in the way of others.

use crate::testing::*;
use arrow::array::{RecordBatch, StringArray};
use base::connector::*;
use base::{ChangelogBatch, Epoch, TableDefinition};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

const ONE: Instance = Instance { index: 0, parallelism: 1 };

fn folder_table(path: &Path, more: &[(&str, &str)]) -> TableDefinition {
    let path = path.to_str().unwrap();
    table("line STRING", &[&[("connector", "filesystem"), ("path", path), ("format", "line")], more].concat())
}

async fn sink(table: &TableDefinition) -> Arc<dyn SinkProvider> {
    let sink = connector("filesystem").sink(table, &table.physical_row(), &context()).unwrap();
    sink.start().await.unwrap();
    sink
}

fn rows(values: &[&str]) -> ChangelogBatch {
    let row = table("line STRING", &[]).physical_row();
    let column = Arc::new(StringArray::from(values.to_vec()));
    ChangelogBatch::inserts(RecordBatch::try_new(row.arrow().clone(), vec![column]).unwrap())
}

/// All files with their content, hidden ones included.
fn content(folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|child| child.unwrap())
        .map(|child| {
            let text = fs::read_to_string(child.path()).unwrap().replace('\n', ";");
            format!("{}={text}", child.file_name().to_string_lossy())
        })
        .filter(|file| !file.ends_with(".run="))
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn rows_are_hidden_until_their_commit_and_a_commit_can_be_repeated() {
    let folder = tempdir().unwrap();
    // A path that looks like a file is a folder as well.
    let path = folder.path().join("out.jsonl");
    let sink = sink(&folder_table(&path, &[])).await;
    let mut writer = sink.writer(ONE, &[]).unwrap();
    writer.write(&rows(&["a", "b"])).await.unwrap();
    writer.flush().await.unwrap();
    assert_eq!(content(&path), [".part-1-0-0.inprogress=a;b;"]);
    let first = writer.prepare_commit(Epoch(1)).await.unwrap();
    writer.write(&rows(&["c"])).await.unwrap();
    sink.commit(Epoch(1), &first).await.unwrap();
    sink.commit(Epoch(1), &first).await.unwrap();
    let second = writer.prepare_commit(Epoch(2)).await.unwrap();
    sink.commit(Epoch(2), &second).await.unwrap();
    assert!(writer.prepare_commit(Epoch(3)).await.unwrap().is_empty(), "no rows, no file");
    sink.finish().await.unwrap();
    assert_eq!(content(&path), ["part-1-0-0=a;b;", "part-1-0-1=c;"]);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 2, "nothing else is left");
}

#[tokio::test]
async fn another_run_takes_other_names() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("part-7-0-0"), "old\n").unwrap();
    let (one, two) = (sink(&folder_table(folder.path(), &[])).await, sink(&folder_table(folder.path(), &[])).await);
    for sink in [&one, &two] {
        let mut writer = sink.writer(Instance { index: 1, parallelism: 2 }, &[]).unwrap();
        writer.write(&rows(&["x"])).await.unwrap();
        let committables = writer.prepare_commit(Epoch(1)).await.unwrap();
        sink.commit(Epoch(1), &committables).await.unwrap();
    }
    assert_eq!(content(folder.path()), ["part-7-0-0=old;", "part-8-1-0=x;", "part-9-1-0=x;"]);
}

#[tokio::test]
async fn files_roll_by_size() {
    let folder = tempdir().unwrap();
    let sink = sink(&folder_table(folder.path(), &[("sink.rolling-policy.file-size", "4 b")])).await;
    let mut writer = sink.writer(ONE, &[]).unwrap();
    writer.write(&rows(&["a", "b", "c"])).await.unwrap();
    let committables = writer.prepare_commit(Epoch(1)).await.unwrap();
    assert_eq!(committables.len(), 2);
    sink.commit(Epoch(1), &committables).await.unwrap();
    assert_eq!(content(folder.path()), ["part-1-0-0=a;b;", "part-1-0-1=c;"]);
}

#[tokio::test]
async fn abort_removes_only_what_no_checkpoint_knows() {
    let folder = tempdir().unwrap();
    let sink = sink(&folder_table(folder.path(), &[])).await;
    let mut writer = sink.writer(ONE, &[]).unwrap();
    writer.write(&rows(&["a"])).await.unwrap();
    writer.prepare_commit(Epoch(1)).await.unwrap();
    writer.write(&rows(&["b"])).await.unwrap();
    writer.flush().await.unwrap();
    writer.abort().await;
    assert_eq!(content(folder.path()), [".part-1-0-0.inprogress=a;"]);
}

#[tokio::test]
async fn a_restart_keeps_what_the_checkpoint_holds_and_drops_the_rest() {
    let folder = tempdir().unwrap();
    let definition = folder_table(folder.path(), &[]);
    let crashed = sink(&definition).await;
    let mut writer = crashed.writer(ONE, &[]).unwrap();
    writer.write(&rows(&["a"])).await.unwrap();
    let committables = writer.prepare_commit(Epoch(1)).await.unwrap();
    let state = writer.snapshot().unwrap();
    // After the checkpoint, before its commit, more is written; then the job dies.
    writer.write(&rows(&["lost"])).await.unwrap();
    writer.flush().await.unwrap();
    std::mem::forget((crashed, writer));
    fs::write(folder.path().join(".part-5-0-0.inprogress"), "of another sink\n").unwrap();
    let restarted = sink(&definition).await;
    let mut writers: Vec<_> = (0..2)
        .map(|index| restarted.writer(Instance { index, parallelism: 2 }, std::slice::from_ref(&state)).unwrap())
        .collect();
    restarted.commit(Epoch(1), &committables).await.unwrap();
    for writer in &mut writers {
        writer.write(&rows(&["b"])).await.unwrap();
        let committables = writer.prepare_commit(Epoch(2)).await.unwrap();
        restarted.commit(Epoch(2), &committables).await.unwrap();
    }
    restarted.finish().await.unwrap();
    assert_eq!(
        content(folder.path()),
        [".part-5-0-0.inprogress=of another sink;", "part-1-0-0=a;", "part-1-0-1=b;", "part-1-1-1=b;"]
    );
}

#[tokio::test]
async fn a_lost_or_changed_file_fails_the_commit() {
    let folder = tempdir().unwrap();
    let sink = sink(&folder_table(folder.path(), &[])).await;
    let mut writer = sink.writer(ONE, &[]).unwrap();
    writer.write(&rows(&["a"])).await.unwrap();
    let committables = writer.prepare_commit(Epoch(1)).await.unwrap();
    fs::write(folder.path().join(".part-1-0-0.inprogress"), "").unwrap();
    assert!(message(sink.commit(Epoch(1), &committables).await).contains("it has 0"));
    fs::remove_file(folder.path().join(".part-1-0-0.inprogress")).unwrap();
    let error = message(sink.commit(Epoch(1), &committables).await);
    assert!(error.contains("part-1-0-0") && error.contains("neither it nor the committed file"), "{error}");
}

#[tokio::test]
async fn impossible_places_fail_at_the_start() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    for (path, part) in [(file.clone(), "is a file"), (file.join("below"), "could not create")] {
        let definition = folder_table(&path, &[]);
        let sink = connector("filesystem").sink(&definition, &definition.physical_row(), &context()).unwrap();
        let error = message(sink.start().await);
        assert!(error.contains(part) && error.contains("file"), "{error}");
    }
    let mut partitioned = folder_table(folder.path(), &[]);
    partitioned.partitioned_by = vec!["line".into()];
    let error = connector("filesystem").sink(&partitioned, &partitioned.physical_row(), &context()).map(|_| ());
    assert!(message(error).contains("PARTITIONED BY"));
}

/// `/dev/full` answers every write with "no space left".
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_reported() {
    let folder = tempdir().unwrap();
    let definition = folder_table(folder.path(), &[]);
    let options = super::FilesystemOptions::read(&definition, &context()).unwrap();
    let sink = super::FilesystemSink::new(options, definition.physical_row(), &context()).unwrap();
    sink.start().await.unwrap();
    let mut writer = sink.part_writer(ONE, &[]).unwrap();
    writer.write(&rows(&["a"])).await.unwrap();
    writer.open.as_mut().unwrap().file = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error = message(writer.prepare_commit(Epoch(1)).await);
    assert!(error.contains("HW-I012") && error.contains("part-1-0-0"), "{error}");
    writer.abort().await;
    assert!(content(folder.path()).is_empty(), "nothing is left behind");
}
