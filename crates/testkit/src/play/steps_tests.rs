//! Steps as scenarios write them.

use super::*;

#[test]
fn steps_are_read() {
    let steps = parse(
        "- create_topic: {name: t, partitions: 2, cleanup.policy: compact}
- start: job.sql                      # a comment
- produce: {topic: [a, b], step: 1}
- settle: 3s
- wait_key: {topic: t, key: {\"do_date\": \"2021-01-08\", \"n\": 5}}
- wait_rows: {topic_compacted: t, equals: 19}
- check: {topic: t, compacted: expected/t.jsonl, ignore: [currenttime]}
- check: {topic: t, exact_log: expected/t.log.jsonl}
- check_tombstone: {topic: t, keys: expected/tombstones.jsonl}
- check_metric: {name: late_rows_dropped, operator: window, equals: 3}
",
    )
    .expect("steps");
    assert_eq!(steps.len(), 10);
    let configs = vec![("cleanup.policy".to_string(), "compact".to_string())];
    assert_eq!(steps[0], Step::CreateTopic { name: "t".into(), partitions: 2, configs });
    assert_eq!(steps[2], Step::Produce { topics: vec!["a".into(), "b".into()], step: 1 });
    assert_eq!(steps[3], Step::Settle(Duration::from_secs(3)));
    assert_eq!(steps[4].title(), r#"wait_key t {"do_date":"2021-01-08","n":5}"#);
    let ignore = vec!["currenttime".to_string()];
    let (topic, file) = ("t".to_string(), "expected/t.jsonl".to_string());
    assert_eq!(steps[6], Step::Check { topic, what: What::Compacted, file, ignore });
}

#[test]
fn what_cannot_be_played_is_named() {
    for (text, problem) in [
        ("- mysql: input/mysql/01.sql", "step 1: \"mysql\" cannot be played"),
        ("- settle: 1s\n- run: {sql: setup.sql}", "step 2: \"run\""),
        ("- plant_orphan: {table: t}", "\"plant_orphan\""),
        ("- read_with: {tool: duckdb}", "\"read_with\""),
        ("- check: {iceberg: t, csv: x.csv}", "\"check\""),
        ("- wait_rows: {mysql: x, equals: 1}", "\"wait_rows\""),
        ("- check: {topic: t}", "check needs compacted"),
        ("- check: {topic: t, compacted: f, typo: 1}", "no attribute typo"),
        ("- produce: {topic: t}", "produce needs step"),
        ("- settle: soon", "no time"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.contains(problem), "{text}: {error}");
    }
}
