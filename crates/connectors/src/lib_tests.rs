//! What holds for all connectors: complete texts, sound registrations, honest errors.

use crate::testing::{connector, context, message, next, read_all, scan, table, texts};
use base::connector::{ConnectorRegistry, Instance};
use base::format::FormatRegistry;
use base::{Epoch, Location};
use std::sync::Arc;

#[test]
fn every_option_is_described_in_both_languages() {
    let mut registry = ConnectorRegistry::default();
    crate::register(&mut registry);
    assert_eq!(
        registry.names(),
        ["blackhole", "datagen", "faker", "filesystem", "jdbc", "kafka", "print", "upsert-kafka"]
    );
    for connector in registry.iter() {
        for option in connector.options() {
            assert!(!option.en.is_empty() && !option.zh.is_empty(), "{} of {}", option.key, connector.name());
            assert!(option.zh.chars().any(|c| c > '\u{2fff}'), "{} of {}", option.key, connector.name());
            assert_eq!(connector.options().iter().filter(|other| other.key == option.key).count(), 1, "{}", option.key);
        }
    }
}

#[test]
fn codes_are_unique_and_have_the_same_placeholders() {
    let placeholders = |text: &base::Text| {
        let mut names: Vec<String> = [text.what, text.why, text.fix]
            .join(" ")
            .split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}').map(|(name, _)| name.to_string()))
            .collect();
        names.sort();
        names.dedup();
        names
    };
    let codes = [crate::codes::CODES, crate::kafka::codes::CODES].concat();
    for (index, code) in codes.iter().enumerate() {
        assert!(code.code.starts_with("HW-C"), "{}", code.code);
        assert!(codes[..index].iter().all(|other| other.code != code.code), "{}", code.code);
        assert_eq!(placeholders(&code.en), placeholders(&code.zh), "{}", code.code);
    }
}

#[test]
fn a_table_is_used_in_the_direction_it_has() {
    let printed = table("a STRING", &[("connector", "print")]);
    let error = message(connector("print").source(&printed, &scan(&printed, &[]), &context()));
    assert!(error.contains("cannot be used as a source"), "{error}");
    let generated = table("a STRING", &[("connector", "datagen")]);
    let error = message(connector("datagen").sink(&generated, &generated.physical_row(), &context()));
    assert!(error.contains("cannot be used as a sink"), "{error}");
}

#[test]
fn all_option_problems_are_reported_at_once() {
    let wrong = table(
        "a STRING",
        &[("connector", "filesystem"), ("format", "line"), ("line.uper", "true"), ("source.monitor-interval", "soon")],
    );
    let error = message(connector("filesystem").describe(&wrong, &context()));
    for part in ["'path'", "line.uper", "'line.upper'", "source.monitor-interval", "soon"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    let unknown = table("a STRING", &[("connector", "filesystem"), ("path", "x"), ("format", "lin")]);
    let error = message(connector("filesystem").describe(&unknown, &context()));
    assert!(error.contains("unknown format 'lin'") && error.contains("'line'"), "{error}");
}

/// Writes generated rows as JSON lines, and reads them back.
#[tokio::test]
async fn json_lines_go_out_and_come_back() {
    let mut context = context();
    let mut formats = FormatRegistry::default();
    crate::formats::register(&mut formats);
    context.formats = Arc::new(formats);
    let one = Instance { index: 0, parallelism: 1 };
    let folder = tempfile::tempdir().unwrap();
    let columns = "k STRING | v INT | d DECIMAL(10, 2) | ts TIMESTAMP(3)";
    let generated = table(
        columns,
        &[
            ("connector", "datagen"),
            ("number-of-rows", "100"),
            ("rows-per-second", "1e9"),
            ("seed", "1"),
            ("fields.k.length", "5"),
        ],
    );
    let source = connector("datagen").source(&generated, &scan(&generated, &[]), &context).unwrap();
    source.start(&[]).await.unwrap();
    let rows = read_all(source.reader(one, &[]).unwrap().as_mut(), 1000).await.unwrap();
    let path = folder.path().to_str().unwrap();
    let files = table(columns, &[("connector", "filesystem"), ("path", path), ("format", "json")]);
    let sink = connector("filesystem").sink(&files, &files.physical_row(), &context).unwrap();
    sink.start().await.unwrap();
    let mut writer = sink.writer(one, &[]).unwrap();
    for batch in &rows {
        writer.write(batch).await.unwrap();
    }
    sink.commit(Epoch(1), &writer.prepare_commit(Epoch(1)).await.unwrap()).await.unwrap();
    let source = connector("filesystem").source(&files, &scan(&files, &[]), &context).unwrap();
    source.start(&[]).await.unwrap();
    let back = read_all(source.reader(one, &[]).unwrap().as_mut(), 1000).await.unwrap();
    let schema = rows[0].records().schema();
    let all = |batches: &[base::ChangelogBatch]| {
        let records: Vec<_> = batches.iter().map(|batch| batch.records().clone()).collect();
        arrow::compute::concat_batches(&schema, &records).unwrap().columns().to_vec()
    };
    assert_eq!(all(&rows), all(&back));
    // A malformed line stops the job with its place, after the rows before it.
    let broken = folder.path().join("z.jsonl");
    std::fs::write(&broken, "{\"k\":\"fine\"}\n{\"k\":\n").unwrap();
    let path = broken.to_str().unwrap();
    let files = table(columns, &[("connector", "filesystem"), ("path", path), ("format", "json")]);
    let source = connector("filesystem").source(&files, &scan(&files, &[]), &context).unwrap();
    source.start(&[]).await.unwrap();
    let mut reader = source.reader(one, &[]).unwrap();
    next(reader.as_mut(), 10).await.unwrap();
    let base::connector::SourceEvent::Batch { batch, .. } = next(reader.as_mut(), 10).await.unwrap() else {
        panic!("the row before")
    };
    assert_eq!(texts(&batch), ["fine"]);
    let error = next(reader.as_mut(), 10).await.unwrap_err();
    let place = Location::Record { resource: path.to_string(), position: "line 2 (byte 13)".into() };
    assert_eq!(error.location(), Some(&place), "{error}");
}
