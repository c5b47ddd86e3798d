//! Reading files: order, splits, line ends, restarts, growing folders, bad records, bad paths.

use crate::testing::*;
use arrow::array::AsArray;
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use base::connector::*;
use base::{Location, LogicalType, Result, SqlType, TableDefinition};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

const ONE: Instance = Instance { index: 0, parallelism: 1 };

fn files(path: &Path, more: &[(&str, &str)]) -> TableDefinition {
    let path = path.to_str().unwrap();
    table("line STRING", &[&[("connector", "filesystem"), ("path", path), ("format", "line")], more].concat())
}

async fn source(table: &TableDefinition, metadata: &[(&str, SqlType)]) -> Result<Arc<dyn SourceProvider>> {
    let source = connector("filesystem").source(table, &scan(table, metadata), &context())?;
    source.start(&[]).await?;
    Ok(source)
}

async fn lines(table: &TableDefinition, rows_max: usize) -> Vec<String> {
    let source = source(table, &[]).await.unwrap();
    let mut reader = source.reader(ONE, &[]).unwrap();
    read_all(reader.as_mut(), rows_max).await.unwrap().iter().flat_map(texts).collect()
}

#[tokio::test]
async fn reads_every_line_in_name_order_at_any_batch_size() {
    let folder = tempdir().unwrap();
    fs::create_dir_all(folder.path().join("b/inner")).unwrap();
    fs::create_dir_all(folder.path().join("_hidden")).unwrap();
    fs::write(folder.path().join("a.txt"), "\u{feff}one\r\n\r\ntwo\n\n  \n").unwrap();
    fs::write(folder.path().join("b/inner/x.txt"), "three\nfour").unwrap();
    fs::write(folder.path().join("c.txt"), "five\n").unwrap();
    fs::write(folder.path().join(".part-1-0-0.inprogress"), "no\n").unwrap();
    fs::write(folder.path().join("_hidden/y.txt"), "no\n").unwrap();
    fs::write(folder.path().join("empty.txt"), "").unwrap();
    for rows_max in [1, 2, 4096] {
        assert_eq!(lines(&files(folder.path(), &[]), rows_max).await, ["one", "two", "  ", "three", "four", "five"]);
    }
    let url = format!("file://{}", folder.path().join("c.txt").display());
    assert_eq!(lines(&files(Path::new(&url), &[]), 10).await, ["five"]);
    let pattern = files(folder.path(), &[("source.path.regex-pattern", ".*/(x|c)\\.txt")]);
    assert_eq!(lines(&pattern, 10).await, ["three", "four", "five"]);
}

#[tokio::test]
async fn long_lines_cross_blocks() {
    let folder = tempdir().unwrap();
    let long = "x".repeat(3 << 20);
    fs::write(folder.path().join("a"), format!("short\n{long}\nend\n")).unwrap();
    let read = lines(&files(folder.path(), &[]), 100).await;
    assert_eq!(read.iter().map(String::len).collect::<Vec<_>>(), [5, 3 << 20, 3]);
}

#[tokio::test]
async fn an_empty_folder_gives_an_empty_result() {
    let folder = tempdir().unwrap();
    assert_eq!(lines(&files(folder.path(), &[]), 10).await, Vec::<String>::new());
}

#[tokio::test]
async fn splits_start_finish_and_are_dealt_in_turn() {
    let folder = tempdir().unwrap();
    for name in ["a", "b", "c"] {
        fs::write(folder.path().join(name), format!("{name}1\n{name}2\n")).unwrap();
    }
    let source = source(&files(folder.path(), &[]), &[]).await.unwrap();
    let mut log = Vec::new();
    for index in 0..4 {
        let mut reader = source.reader(Instance { index, parallelism: 4 }, &[]).unwrap();
        loop {
            let name = |split: &SplitId| split.rsplit('/').next().unwrap().to_string();
            match next(reader.as_mut(), 1).await.unwrap() {
                SourceEvent::SplitStarted(split) => log.push(format!("{index} start {}", name(&split))),
                SourceEvent::SplitFinished(split) => log.push(format!("{index} finish {}", name(&split))),
                SourceEvent::Batch { batch, .. } => log.push(format!("{index} {}", texts(&batch).join(","))),
                SourceEvent::Idle => log.push(format!("{index} idle")),
                SourceEvent::End => break,
            }
        }
        log.push(format!("{index} end"));
    }
    assert_eq!(
        log.join("; "),
        "0 start a; 0 a1; 0 a2; 0 finish a; 0 end; 1 start b; 1 b1; 1 b2; 1 finish b; 1 end; \
         2 start c; 2 c1; 2 c2; 2 finish c; 2 end; 3 end"
    );
}

#[tokio::test]
async fn reads_the_split_that_is_furthest_behind() {
    let folder = tempdir().unwrap();
    for name in ["a", "b"] {
        fs::write(folder.path().join(name), format!("{name}1\n{name}2\n{name}3\n")).unwrap();
    }
    let mut watermarked = files(folder.path(), &[]);
    watermarked.watermark = Some(base::table::WatermarkDefinition { column: "line".into(), sql: "line".into() });
    let source = source(&watermarked, &[]).await.unwrap();
    let mut reader = source.reader(ONE, &[]).unwrap();
    let mut watermarks: BTreeMap<SplitId, i64> = BTreeMap::new();
    let mut started = 0;
    let mut order = Vec::new();
    loop {
        match reader.next(ReadRequest { rows_max: 1, watermarks: &watermarks }).await.unwrap() {
            SourceEvent::SplitStarted(_) => started += 1,
            SourceEvent::Batch { split, batch } => {
                assert_eq!(started, 2, "every file holds the watermark back before the first row");
                // Rows of b are twice as far apart.
                let step = if split.ends_with('b') { 20 } else { 10 };
                *watermarks.entry(split).or_insert(0) += step;
                order.extend(texts(&batch));
            }
            SourceEvent::End => break,
            _ => {}
        }
    }
    assert_eq!(order, ["a1", "b1", "a2", "a3", "b2", "b3"]);
}

#[tokio::test]
async fn a_restart_goes_on_after_the_last_batch_at_another_parallelism() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("a"), "1\n2\n3\n").unwrap();
    fs::write(folder.path().join("b"), "4\n5\r\n\n6\n7").unwrap();
    let whole = ["1", "2", "3", "4", "5", "6", "7"];
    let provider = source(&files(folder.path(), &[]), &[]).await.unwrap();
    for stop_after in 0..=whole.len() {
        let mut reader = provider.reader(ONE, &[]).unwrap();
        let mut read: Vec<String> = Vec::new();
        while read.len() < stop_after {
            if let SourceEvent::Batch { batch, .. } = next(reader.as_mut(), 1).await.unwrap() {
                read.extend(texts(&batch));
            }
        }
        let states = reader.snapshot().unwrap();
        let restarted = source(&files(folder.path(), &[]), &[]).await.unwrap();
        for index in 0..2 {
            let mut reader = restarted.reader(Instance { index, parallelism: 2 }, &states).unwrap();
            let batches = read_all(reader.as_mut(), 2).await.unwrap();
            read.extend(batches.iter().flat_map(texts));
        }
        assert_eq!(read, whole, "stopped after {stop_after}");
    }
}

#[tokio::test]
async fn a_bad_record_is_named_and_nothing_before_it_is_lost() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "one\n\nskip\ntwo\nbad\nthree\n").unwrap();
    let source = source(&files(folder.path(), &[]), &[]).await.unwrap();
    let mut reader = source.reader(ONE, &[]).unwrap();
    assert!(matches!(next(reader.as_mut(), 100).await.unwrap(), SourceEvent::SplitStarted(_)));
    let SourceEvent::Batch { batch, .. } = next(reader.as_mut(), 100).await.unwrap() else { panic!("rows first") };
    assert_eq!(texts(&batch), ["one", "two"]);
    let states = reader.snapshot().unwrap();
    let error = next(reader.as_mut(), 100).await.unwrap_err();
    let resource = path.display().to_string();
    assert_eq!(error.location(), Some(&Location::Record { resource, position: "line 5 (byte 14)".into() }));
    let statistics = reader.statistics();
    assert_eq!((statistics.records, statistics.rejected), (3, 1));
    let sample = statistics.rejected_samples[0].to_string();
    assert!(sample.contains("line 3 (byte 5)"), "{sample}");
    // A restart meets the same record first.
    let mut reader = source.reader(ONE, &states).unwrap();
    assert!(matches!(next(reader.as_mut(), 100).await.unwrap(), SourceEvent::SplitStarted(_)));
    assert!(next(reader.as_mut(), 100).await.unwrap_err().to_string().contains("line 5 (byte 14)"));
}

#[tokio::test]
async fn metadata_and_partition_columns_come_from_the_path() {
    let folder = tempdir().unwrap();
    fs::create_dir_all(folder.path().join("dt=2024-01-02/n=7")).unwrap();
    fs::create_dir_all(folder.path().join("dt=__DEFAULT_PARTITION__/n=8")).unwrap();
    fs::write(folder.path().join("dt=2024-01-02/n=7/a"), "x\ny\n").unwrap();
    fs::write(folder.path().join("dt=__DEFAULT_PARTITION__/n=8/a"), "z\n").unwrap();
    let mut partitioned = files(folder.path(), &[]);
    let more = table("dt DATE | n BIGINT", &[]);
    partitioned.columns.extend(more.columns);
    partitioned.partitioned_by = vec!["dt".into(), "n".into()];
    let text = LogicalType::STRING.not_null();
    let metadata = [
        ("file.name", text.clone()),
        ("file.size", LogicalType::BigInt.not_null()),
        ("file.modification-time", LogicalType::TimestampLtz(3).not_null()),
        ("file.path", text),
    ];
    let provider = source(&partitioned, &metadata).await.unwrap();
    let mut reader = provider.reader(ONE, &[]).unwrap();
    let batches = read_all(reader.as_mut(), 100).await.unwrap();
    let first = batches[0].records();
    assert_eq!(texts(&batches[0]), ["x", "y"]);
    assert_eq!(first.column(1).as_primitive::<arrow::datatypes::Date32Type>().value(1), 19_724);
    assert_eq!(first.column(2).as_primitive::<Int64Type>().value(1), 7);
    assert_eq!(first.column(3).as_string::<i32>().value(0), "a");
    assert_eq!(first.column(4).as_primitive::<Int64Type>().value(0), 4);
    assert!(first.column(5).as_primitive::<TimestampMillisecondType>().value(0) > 1_600_000_000_000);
    assert!(first.column(6).as_string::<i32>().value(0).ends_with("dt=2024-01-02/n=7/a"));
    assert!(batches[1].records().column(1).is_null(0));
    fs::write(folder.path().join("loose"), "x\n").unwrap();
    let provider = source(&partitioned, &metadata).await.unwrap();
    let error = message(provider.reader(ONE, &[]).map(|_| ()));
    assert!(error.contains("loose") && error.contains("'dt=<value>'"), "{error}");
}

#[tokio::test]
async fn a_growing_folder_gives_new_files_and_new_lines() {
    let folder = tempdir().unwrap();
    let growing = files(folder.path(), &[("source.monitor-interval", "2 ms")]);
    let description = connector("filesystem").describe(&growing, &context()).unwrap();
    assert!(!description.source.unwrap().bounded);
    let provider = source(&growing, &[]).await.unwrap();
    let mut reader = provider.reader(ONE, &[]).unwrap();
    assert!(matches!(next(reader.as_mut(), 10).await.unwrap(), SourceEvent::Idle));
    let path = folder.path().join("a");
    fs::write(&path, "1\n2\npart").unwrap();
    assert!(matches!(next(reader.as_mut(), 10).await.unwrap(), SourceEvent::SplitStarted(_)));
    let SourceEvent::Batch { batch, .. } = next(reader.as_mut(), 10).await.unwrap() else { panic!("two lines") };
    assert_eq!(texts(&batch), ["1", "2"]);
    assert_eq!(reader.statistics().lag, Some(4), "the begin of a line waits");
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"ial\n").unwrap();
    let SourceEvent::Batch { batch, .. } = next(reader.as_mut(), 10).await.unwrap() else { panic!("its end") };
    assert_eq!(texts(&batch), ["partial"]);
    assert!(matches!(next(reader.as_mut(), 10).await.unwrap(), SourceEvent::SplitFinished(_)));
    assert!(matches!(next(reader.as_mut(), 10).await.unwrap(), SourceEvent::Idle));
    // A restart remembers what was read, and reads on.
    let states = reader.snapshot().unwrap();
    fs::write(folder.path().join("b"), "3\n").unwrap();
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more\n").unwrap();
    let provider = source(&growing, &[]).await.unwrap();
    let mut reader = provider.reader(ONE, &states).unwrap();
    let mut read = Vec::new();
    while read.len() < 2 {
        if let SourceEvent::Batch { batch, .. } = next(reader.as_mut(), 10).await.unwrap() {
            read.extend(texts(&batch));
        }
    }
    assert_eq!(read, ["more", "3"]);
    fs::write(&path, "1\n").unwrap();
    let error = loop {
        match next(reader.as_mut(), 10).await {
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("has become shorter"), "{error}");
}

#[tokio::test]
async fn a_growing_file_is_followed_and_keeps_its_split() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("log.txt");
    fs::write(&path, "1\n").unwrap();
    let provider = source(&files(&path, &[("source.monitor-interval", "2 ms")]), &[]).await.unwrap();
    let mut reader = provider.reader(ONE, &[]).unwrap();
    assert!(matches!(next(reader.as_mut(), 10).await.unwrap(), SourceEvent::SplitStarted(_)));
    assert!(matches!(next(reader.as_mut(), 10).await.unwrap(), SourceEvent::Batch { .. }));
    // A read that is given up loses nothing.
    let waiting = tokio::time::timeout(std::time::Duration::from_millis(5), next(reader.as_mut(), 10)).await;
    assert!(waiting.is_err(), "nothing to read: {waiting:?}");
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"2\n").unwrap();
    let SourceEvent::Batch { batch, .. } = next(reader.as_mut(), 10).await.unwrap() else { panic!("the new line") };
    assert_eq!(texts(&batch), ["2"]);
}

#[tokio::test]
async fn a_growing_file_holds_the_watermark_back_after_a_restart() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("log.txt");
    fs::write(&path, "1\n").unwrap();
    let mut watermarked = files(&path, &[("source.monitor-interval", "2 ms")]);
    watermarked.watermark = Some(base::table::WatermarkDefinition { column: "line".into(), sql: "line".into() });
    let first = source(&watermarked, &[]).await.unwrap();
    let mut reader = first.reader(ONE, &[]).unwrap();
    assert!(matches!(next(reader.as_mut(), 10).await.unwrap(), SourceEvent::SplitStarted(_)));
    assert!(matches!(next(reader.as_mut(), 10).await.unwrap(), SourceEvent::Batch { .. }));
    let state = reader.snapshot().unwrap();
    let second = source(&watermarked, &[]).await.unwrap();
    let mut reader = second.reader(ONE, &state).unwrap();
    let event = next(reader.as_mut(), 10).await.unwrap();
    assert!(matches!(event, SourceEvent::SplitStarted(_)), "not idle, although all of it is read: {event:?}");
}

#[tokio::test]
async fn paths_that_cannot_be_read_fail_at_the_start() {
    let folder = tempdir().unwrap();
    let missing = message(source(&files(&folder.path().join("nowhere"), &[]), &[]).await.map(|_| ()));
    assert!(missing.contains("nowhere") && missing.contains("does not exist") && missing.contains("fix:"), "{missing}");
    let link = folder.path().join("loop");
    std::os::unix::fs::symlink(&link, &link).unwrap();
    let unreadable = message(source(&files(folder.path(), &[]), &[]).await.map(|_| ()));
    assert!(unreadable.contains("could not read") && unreadable.contains("loop"), "{unreadable}");
    fs::remove_file(&link).unwrap();
    fs::write(folder.path().join("a.gz"), "x").unwrap();
    let compressed = message(source(&files(folder.path(), &[]), &[]).await.map(|_| ()));
    assert!(compressed.contains("a.gz"), "{compressed}");
    let remote = message(source(&files(Path::new("s3://bucket/x"), &[]), &[]).await.map(|_| ()));
    assert!(remote.contains("s3://"), "{remote}");
}

#[tokio::test]
async fn a_file_that_a_checkpoint_needs_must_be_there() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "1\n2\n").unwrap();
    let provider = source(&files(folder.path(), &[]), &[]).await.unwrap();
    let mut reader = provider.reader(ONE, &[]).unwrap();
    next(reader.as_mut(), 1).await.unwrap();
    next(reader.as_mut(), 1).await.unwrap();
    let states = reader.snapshot().unwrap();
    fs::remove_file(&path).unwrap();
    let provider = source(&files(folder.path(), &[]), &[]).await.unwrap();
    let error = message(provider.reader(ONE, &states).map(|_| ()));
    assert!(error.contains("is gone") && error.contains("byte 2"), "{error}");
    let damaged = [SplitState { split: "x".into(), position: vec![9, 9] }];
    assert!(message(provider.reader(ONE, &damaged).map(|_| ())).contains("unreadable position"));
}
