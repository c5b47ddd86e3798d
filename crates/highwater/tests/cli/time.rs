//! Event time as a user sees it: rows without a time, watermarks that wait, and why results do not come.

use crate::program::{Program, rows};
use serde_json::Value;
use testkit::services::{Kafka, Record};

const NULLS: &str = "{\"k\":\"a\",\"ts\":\"2024-01-01 00:00:10\"}
{\"k\":\"b\",\"ts\":null}
{\"k\":\"c\"}
{\"k\":\"d\",\"ts\":\"2024-01-01 00:00:20\"}
";
const PER_MINUTE: &str = "SET 'parallelism.default' = '1';
    CREATE TABLE t (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
    CREATE TABLE printed (s TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print');
    INSERT INTO printed SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;";

#[test]
fn a_row_without_a_time_fails_the_job_with_the_way_out() {
    let program = Program::new();
    program.write("in.jsonl", NULLS);
    program.run_script(PER_MINUTE).exits(1).says(&[
        "HW-R001",
        "column ts of table t is NULL",
        "SET 'highwater.null-rowtime' = 'drop'",
        "COALESCE(ts, ...)",
    ]);
}

#[test]
fn rows_without_a_time_are_dropped_and_counted_if_that_is_wanted() {
    for batch_rows in ["1", "4096"] {
        let program = Program::new();
        program.write("in.jsonl", NULLS);
        program.write("job.sql", &format!("SET 'highwater.null-rowtime' = 'drop';\n{PER_MINUTE}"));
        let ran = program.run(&["run", "job.sql", "--batch-rows", batch_rows]).exits(0).says(&[
            "rows_read=4",
            "rows_rejected=2",
            "source t left out 2 record(s)",
            "column ts of table t is NULL",
        ]);
        assert_eq!(ran.out, "+I[2024-01-01T00:00, 2]\n");
    }
    let program = Program::new();
    program.write("in.jsonl", NULLS);
    let refused = format!("SET 'highwater.null-rowtime' = 'ignore';\n{PER_MINUTE}");
    program.run_script(&refused).exits(2).says(&["highwater.null-rowtime", "fail", "drop"]);
}

#[test]
fn watermarks_of_a_source_are_refused_by_name() {
    let program = Program::new();
    program
        .run_script(
            "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS SOURCE_WATERMARK())
             WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');",
        )
        .exits(2)
        .says(&["SOURCE_WATERMARK", "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", "script.sql:1:"]);
}

/// A topic with rows of two minutes in two of its six partitions.
fn topic(name: &str) -> String {
    let kafka = Kafka::shared().expect("a broker");
    let client = kafka.client().expect("a client");
    client.create_topic(name, 6, &[]).expect("topic");
    let times = ["00:00:10", "00:00:50", "00:02:00"];
    let records: Vec<Record> = [1, 4]
        .into_iter()
        .flat_map(|partition| {
            times.map(|time| Record::new(format!(r#"{{"k":"a","ts":"2024-01-01 {time}"}}"#)).partition(partition))
        })
        .collect();
    client.produce(name, &records).expect("produced");
    kafka.address()
}

/// Counts per minute over such a topic, never ending.
fn counts(topic: &str, address: &str, settings: &str, option: &str) -> String {
    format!(
        "SET 'parallelism.default' = '2';{settings}
         CREATE TABLE orders (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka',
             'topic' = '{topic}', 'properties.bootstrap.servers' = '{address}', 'format' = 'json',
             'scan.startup.mode' = 'earliest-offset'{option});
         CREATE TABLE out_table (s TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
         INSERT INTO out_table SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
             GROUP BY window_start, window_end;"
    )
}

const FIRST_MINUTE: &str = "{\"s\":\"2024-01-01 00:00:00\",\"n\":4}";

#[test]
fn windows_over_silent_partitions_fire_with_an_idle_timeout() {
    let address = topic("idle_partitions");
    for (settings, option) in [
        ("SET 'table.exec.source.idle-timeout' = '200 ms';", ""),
        ("", ", 'scan.watermark.idle-timeout' = '200 ms'"),
        ("SET 'table.exec.source.idle-timeout' = '1 h';", ", 'scan.watermark.idle-timeout' = '200 ms'"),
    ] {
        let program = Program::new();
        program.write("job.sql", &counts("idle_partitions", &address, settings, option));
        let mut running = program.start(&["run", "job.sql"]);
        running.wait_until("the first minute is counted", |job| rows(job, "sink", "rows_out") == 1);
        program.run(&["stop"]).exits(0);
        running.end().exits(0);
        assert_eq!(program.lines_below("out"), [FIRST_MINUTE], "{settings}{option}");
    }
}

/// What the results of a job wait for.
fn waiting(job: &Value) -> Vec<Value> {
    let nodes = job["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    nodes.iter().flat_map(|node| node["waiting"].as_array().cloned().unwrap_or_default()).collect()
}

#[test]
fn windows_over_silent_partitions_explain_why_they_wait() {
    let address = topic("silent_partitions");
    let program = Program::new();
    let settings = "SET 'highwater.explain-waiting-after' = '300 ms';";
    program.write("job.sql", &counts("silent_partitions", &address, settings, ""));
    let mut running = program.start(&["run", "job.sql"]);
    let job = running.wait_until("it says what it waits for", |job| !waiting(job).is_empty());
    let [waits] = waiting(&job).try_into().expect("one reason");
    assert_eq!(waits["table"], "orders");
    let splits: Vec<&str> = waits["splits"].as_array().expect("splits").iter().filter_map(Value::as_str).collect();
    assert_eq!(splits.len(), 4, "{splits:?}");
    for partition in [0, 2, 3, 5] {
        assert!(splits.iter().any(|split| split.ends_with(&partition.to_string())), "{partition}: {splits:?}");
    }
    assert!(waits["watermark_ms"].is_null() && waits["since"].as_str().is_some_and(|since| since.ends_with(" UTC")));
    let line = "window aggregate waits for silent_partitions";
    let status = program.run(&["status"]).exits(0);
    assert!(status.out.contains(line) && status.out.contains("of table orders since"), "{}", status.out);
    program.run(&["stop"]).exits(0);
    let ran = running.end().exits(0).says(&["results of window aggregate wait for", "table orders", "no rows", line]);
    assert!(!program.path("out").exists() || program.lines_below("out").is_empty());
    let told = ran.err.matches("results of window aggregate wait for").count();
    assert_eq!(told, 1, "once: {}", ran.err);
}

#[test]
fn a_table_without_rows_is_named_when_another_one_waits_for_it() {
    let kafka = Kafka::shared().expect("a broker");
    let client = kafka.client().expect("a client");
    for topic in ["waiting_orders", "waiting_payments"] {
        client.create_topic(topic, 1, &[]).expect("topic");
    }
    client.produce("waiting_orders", &[Record::new(r#"{"k":"a","ts":"2024-01-01 00:00:10"}"#)]).expect("produced");
    let program = Program::new();
    let table = |name: &str| {
        format!(
            "CREATE TABLE {name} (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 'waiting_{name}',
             'properties.bootstrap.servers' = '{}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');",
            kafka.address()
        )
    };
    program.write(
        "job.sql",
        &format!(
            "SET 'highwater.explain-waiting-after' = '300 ms';{}{}
             CREATE VIEW both_tables AS SELECT * FROM orders UNION ALL SELECT * FROM payments;
             CREATE TABLE out_table (s TIMESTAMP(3), n BIGINT) WITH ('connector' = 'blackhole');
             INSERT INTO out_table SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE both_tables, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
             GROUP BY window_start, window_end;",
            table("orders"),
            table("payments")
        ),
    );
    let mut running = program.start(&["run", "job.sql"]);
    let job = running.wait_until("it waits for a table", |job| !waiting(job).is_empty());
    let reasons = |job: &Value| -> Vec<String> {
        waiting(job).iter().map(|one| format!("{}: {}", one["table"], one["reason"]).replace('"', "")).collect()
    };
    assert_eq!(reasons(&job), ["payments: silent split"]);
    client.produce("waiting_payments", &[Record::new(r#"{"k":"a","ts":"2024-01-01 00:00:10"}"#)]).expect("produced");
    // Now both are equally far, and a window is open.
    running.wait_until("both give no rows", |job| reasons(job) == ["orders: no rows", "payments: no rows"]);
    client.produce("waiting_payments", &[Record::new(r#"{"k":"a","ts":"2024-01-01 00:05:00"}"#)]).expect("produced");
    client.produce("waiting_orders", &[Record::new(r#"{"k":"a","ts":"2024-01-01 00:05:00"}"#)]).expect("produced");
    running.wait_until("the window has fired", |job| rows(job, "sink", "rows_out") == 1);
    program.run(&["stop"]).exits(0);
    running.end().exits(0).says(&["HW-R005", "HW-R011", "'scan.watermark.idle-timeout' = '10 s'"]);
}
