//! Rows that are too late for a window, in a table of their own.

use crate::program::{Program, Ran, rows};
use testkit::services::{Kafka, Record};

/// Rows c and e come behind the first minute; g is late for nothing, h has the wrong value.
const ROWS: &str = r#"{"id":"a","k":1,"v":5,"ts":"2024-01-01 00:00:10"}
{"id":"b","k":1,"v":6,"ts":"2024-01-01 00:01:10"}
{"id":"c","k":1,"v":7,"ts":"2024-01-01 00:00:20"}
{"id":"d","k":2,"v":8,"ts":"2024-01-01 00:01:20"}
{"id":"e","k":2,"v":9,"ts":"2024-01-01 00:00:30"}
{"id":"g","k":2,"v":9,"ts":"2024-01-01 00:01:05"}
{"id":"h","k":2,"v":0,"ts":"2024-01-01 00:00:40"}
"#;
const TABLES: &str = "
    CREATE TABLE t (id STRING, k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
    CREATE TABLE counts (s TIMESTAMP(3), n BIGINT) WITH ('connector' = 'blackhole');
    CREATE TABLE late (id STRING, ts TIMESTAMP(3), v BIGINT) WITH ('connector' = 'filesystem', 'path' = 'late', 'format' = 'json');
    ";
const LATE: [&str; 2] =
    [r#"{"id":"c","ts":"2024-01-01 00:00:20","v":7}"#, r#"{"id":"e","ts":"2024-01-01 00:00:30","v":9}"#];
const TUMBLE: &str = "window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) \
                      WHERE v > 0 GROUP BY window_start, window_end";

fn run(sql: &str, arguments: &[&str]) -> (Program, Ran) {
    let program = Program::new();
    program.write("in.jsonl", ROWS);
    program.write("script.sql", &format!("{TABLES}{sql};"));
    let ran = program.run(&[&["run", "script.sql"], arguments].concat());
    (program, ran)
}

#[test]
fn late_rows_of_windows_go_to_a_table_and_are_counted() {
    let by_group = "SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE), COUNT(*) FROM t WHERE v > 0 \
                    GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)";
    let queries = [
        format!("INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ {TUMBLE}"),
        format!("INSERT INTO counts SELECT /*+ LATE_TABLE('table' = 'late') */ {TUMBLE}, k"),
        format!("SET 'highwater.late-table' = 'late'; INSERT INTO counts {by_group}"),
        format!("SET 'highwater.late-table' = 'late'; INSERT INTO counts {by_group}, k"),
        format!(
            "CREATE VIEW minutes AS SELECT /*+ LATE_TABLE('late') */ {TUMBLE}; INSERT INTO counts SELECT * FROM minutes"
        ),
        format!(
            "EXECUTE STATEMENT SET BEGIN INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ {TUMBLE};
                 INSERT INTO counts SELECT ts, 1 FROM t; END"
        ),
    ];
    for sql in &queries {
        for arguments in [["--parallelism", "1", "--batch-rows", "1"], ["--parallelism", "4", "--batch-rows", "4096"]] {
            let (program, ran) = run(sql, &arguments);
            let ran = ran.exits(0);
            assert_eq!(program.lines_below("late"), LATE, "{sql} {arguments:?}");
            let ran = ran.says(&["window aggregate dropped 2 late row(s)", "sink late"]);
            assert!(ran.err.contains("rows_written=2"), "{}", ran.err);
        }
    }
}

#[test]
fn all_windows_hand_out_what_they_drop() {
    // A row is late for HOP when all its windows have fired: at half a minute it still goes into the second one.
    let windows = [
        ("HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '60' SECOND)", "window_start, window_end", 1),
        (
            "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '60' SECOND)",
            "window_start, window_end",
            3,
        ),
        ("SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '15' SECOND)", "k, window_start, window_end", 3),
    ];
    for (window, keys, late) in windows {
        let sql = format!(
            "INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ window_start, COUNT(*) FROM TABLE({window}) GROUP BY {keys}"
        );
        let (program, ran) = run(&sql, &[]);
        ran.exits(0).says(&[&format!("window aggregate dropped {late} late row(s)")]);
        assert_eq!(program.lines_below("late").len(), late, "{window}");
    }
    // The rows of sessions, without an aggregate.
    let sql = "INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ window_start, v
               FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '15' SECOND)) WHERE v > 100";
    let (program, ran) = run(sql, &[]);
    ran.exits(0).says(&["window table function dropped 3 late row(s)"]);
    assert_eq!(program.lines_below("late").len(), 3);
}

#[test]
fn a_late_row_that_corrects_a_window_is_in_no_late_table() {
    let fire = "SET 'table.exec.emit.late-fire.enabled' = 'true'; SET 'table.exec.emit.late-fire.delay' = '0 s';
                SET 'table.exec.emit.allow-lateness' = '1 min';";
    let (program, ran) =
        run(&format!("{fire} INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ {TUMBLE}"), &["--batch-rows", "1"]);
    ran.exits(0);
    assert!(!program.path("late").exists() || program.lines_below("late").is_empty());
}

#[test]
fn late_changes_keep_their_kinds() {
    let program = Program::new();
    let change = |op: &str, before: &str, after: &str| format!(r#"{{"op":"{op}","before":{before},"after":{after}}}"#);
    let row = |id: i32, v: i32, time: &str| format!(r#"{{"id":{id},"v":{v},"ts":"2024-01-01 {time}"}}"#);
    let lines = [
        change("c", "null", &row(1, 1, "00:00:10")),
        change("c", "null", &row(2, 1, "00:01:10")),
        change("u", &row(1, 1, "00:00:10"), &row(1, 2, "00:01:30")),
        change("d", &row(1, 2, "00:01:30"), "null"),
        change("c", "null", &row(3, 3, "00:00:20")),
    ];
    program.write("in.jsonl", &lines.join("\n"));
    let ran = program.run_script(
        "CREATE TABLE t (id INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
             WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'debezium-json');
         CREATE TABLE counts (s TIMESTAMP(3), n BIGINT) WITH ('connector' = 'blackhole');
         CREATE TABLE late (v INT, id INT) WITH ('connector' = 'print');
         INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ window_start, COUNT(*)
             FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;",
    );
    assert_eq!(ran.exits(0).out, "-U[1, 1]\n+I[3, 3]\n");
}

#[test]
fn a_plan_shows_where_late_rows_go() {
    let program = Program::new();
    program.write("job.sql", &format!("{TABLES}INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ {TUMBLE};"));
    let plan = program.run(&["explain", "job.sql"]).exits(0).out;
    assert!(plan.contains("Sink(table=[late]"), "{plan}");
    assert!(plan.contains("LateRows(window=[TUMBLE(ts, 1 min)]"), "{plan}");
    assert!(plan.contains("CAST(v AS BIGINT) AS v"), "{plan}");
}

#[test]
fn what_gives_no_late_rows_is_refused() {
    let cases = [
        ("INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ ts, 1 FROM t".to_string(), vec!["HW-P579", "late"]),
        (format!("INSERT INTO counts SELECT /*+ LATE_TABLE('nowhere') */ {TUMBLE}"), vec!["nowhere"]),
        (
            format!("INSERT INTO counts SELECT /*+ LATE_TABLE() */ {TUMBLE}"),
            vec!["HW-P105", "LATE_TABLE('late_orders')"],
        ),
        (
            format!(
                "CREATE TABLE other (ts STRING, id INT, gone INT) WITH ('connector' = 'blackhole');
                 INSERT INTO counts SELECT /*+ LATE_TABLE('other') */ {TUMBLE}"
            ),
            vec![
                "HW-P577",
                "ts is TIMESTAMP(3), the table has STRING",
                "id is STRING, the table has INT",
                "no column gone",
                "id, k, v, ts",
            ],
        ),
        (
            "SET 'highwater.late-table' = 'late'; INSERT INTO counts SELECT window_start, v
             FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
                .to_string(),
            vec!["HW-P578", "TUMBLE of 1 min that no aggregate groups by"],
        ),
        (
            "INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ window_start, COUNT(*)
             FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
             GROUP BY window_start, window_end, GROUPING SETS ((k), ())"
                .to_string(),
            vec!["HW-P578", "GROUPING SETS"],
        ),
        (
            format!(
                "CREATE VIEW a AS SELECT /*+ LATE_TABLE('late') */ {TUMBLE};
                 INSERT INTO counts SELECT /*+ LATE_TABLE('counts') */ * FROM a"
            ),
            vec!["HW-P580"],
        ),
    ];
    for (sql, words) in &cases {
        run(sql, &[]).1.exits(2).says(words);
    }
}

#[test]
fn each_late_row_is_written_once_across_a_kill() {
    let kafka = Kafka::shared().expect("a broker");
    let client = kafka.client().expect("a client");
    client.create_topic("late_orders", 1, &[]).expect("topic");
    let send = |id: &str, time: &str| {
        let record = Record::new(format!(r#"{{"id":"{id}","ts":"2024-01-01 {time}"}}"#)).partition(0);
        client.produce("late_orders", &[record]).expect("produced");
    };
    let program = Program::new();
    program.write(
        "job.sql",
        &format!(
            "SET 'execution.checkpointing.interval' = '100 ms';
             CREATE TABLE t (id STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 'late_orders',
                 'properties.bootstrap.servers' = '{}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
             CREATE TABLE counts (s TIMESTAMP(3), n BIGINT) WITH ('connector' = 'blackhole');
             CREATE TABLE late (id STRING) WITH ('connector' = 'filesystem', 'path' = 'late', 'format' = 'json');
             INSERT INTO counts SELECT /*+ LATE_TABLE('late') */ window_start, COUNT(*)
                 FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;",
            kafka.address()
        ),
    );
    [("a", "00:00:10"), ("b", "00:02:00"), ("c", "00:00:20")].into_iter().for_each(|(id, time)| send(id, time));
    let mut running = program.start(&["run", "job.sql"]);
    running.wait_until("the first late row is out", |job| late(job) == 1 && !program.lines_below("late").is_empty());
    send("d", "00:01:20");
    running.wait_until("the second row is late", |job| late(job) == 2);
    running.kill();
    send("e", "00:01:30");
    let mut running = program.start(&["run", "job.sql"]);
    running.wait_until("all late rows are counted", |job| late(job) == 3);
    program.run(&["stop"]).exits(0);
    running.end().exits(0);
    assert_eq!(program.lines_below("late"), ["c", "d", "e"].map(|id| format!(r#"{{"id":"{id}"}}"#)));
}

fn late(job: &serde_json::Value) -> u64 {
    rows(job, "operator", "late_rows_dropped")
}
