//! Savepoints: taken from a running script, written at its stop, begun with, and looked into.

use crate::program::{Program, rows};
use serde_json::Value;
use std::collections::BTreeMap;

/// Orders that a run reads in all.
const LAST: u64 = 6_000;

/// Windows, which are written once, and a count per user, whose state grows.
fn script(query: &str) -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '100 ms';
         CREATE TABLE o (id BIGINT, u AS id % 7, ts AS TO_TIMESTAMP_LTZ(id * 10, 3), WATERMARK FOR ts AS ts)
             WITH ('connector' = 'datagen', 'rows-per-second' = '3000', 'seed' = '1',
                   'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{LAST}');
         CREATE TABLE windows (w STRING, u BIGINT, c BIGINT)
             WITH ('connector' = 'filesystem', 'path' = '${{OUT}}', 'format' = 'json');
         CREATE TABLE totals (u BIGINT, c BIGINT, PRIMARY KEY (u) NOT ENFORCED) WITH ('connector' = 'print');
         INSERT INTO windows SELECT CAST(window_start AS STRING), u, COUNT(*)
             FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end, u;
         INSERT INTO totals {query};"
    )
}

const COUNT: &str = "SELECT u, COUNT(*) FROM o GROUP BY u";

/// What is in the files: rows by window and user.
fn windows(program: &Program, folders: &[&str]) -> BTreeMap<(String, u64), Vec<u64>> {
    let mut windows: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for line in folders.iter().flat_map(|folder| program.lines_below(folder)) {
        let row: Value = serde_json::from_str(&line).expect("a row");
        let key = (row["w"].as_str().expect("a window").to_string(), row["u"].as_u64().expect("a user"));
        windows.entry(key).or_default().push(row["c"].as_u64().expect("a count"));
    }
    windows
}

/// Every order once: each window of each user is there, once, and the counts add up.
fn assert_complete(program: &Program, folders: &[&str]) {
    let windows = windows(program, folders);
    assert!(windows.values().all(|counts| counts.len() == 1), "{windows:?}");
    assert_eq!(windows.values().flatten().sum::<u64>(), LAST);
}

/// The last count of every user that was printed.
fn totals(out: &str) -> BTreeMap<String, u64> {
    let row = |line: &str| {
        let (user, count) = line.split_once('[')?.1.trim_end_matches(']').split_once(", ")?;
        Some((user.to_string(), count.parse().ok()?))
    };
    out.lines().filter_map(row).collect()
}

#[test]
fn a_stopped_script_goes_on_from_its_savepoint_elsewhere() {
    let program = Program::new();
    program.write("job.sql", &script(COUNT));
    let mut running = program.start(&["run", "job.sql", "-D", "OUT=first", "--parallelism", "2"]);
    running.wait_until("checkpoints are taken", |job| job["checkpoints"].as_u64() >= Some(3));
    let stopped = program.run(&["stop", "--savepoint-path", "saved"]).exits(0).says(&["HW-L015", "--from"]);
    assert!(stopped.out.lines().any(|line| line.ends_with("/saved")), "{}", stopped.out);
    running.end().exits(0);
    let ran = program
        .run(&["run", "job.sql", "--from", "saved", "-D", "OUT=second", "--state-dir", "other", "--parallelism", "3"])
        .exits(0)
        .says(&["HW-L010", "goes on from checkpoint"]);
    assert_complete(&program, &["first", "second"]);
    let totals = totals(&ran.out);
    assert_eq!(totals.values().sum::<u64>(), LAST, "{totals:?}");
}

#[test]
fn a_savepoint_of_a_running_script_holds_one_moment() {
    let program = Program::new();
    program.write("job.sql", &script(COUNT));
    let mut running = program.start(&["run", "job.sql", "-D", "OUT=first"]);
    running.wait_until("rows are read", |job| rows(job, "source", "rows_in") > 500);
    let path = program.run(&["savepoint"]).exits(0).says(&["HW-L015"]).out.trim().to_string();
    // A second one has a name of its own; a name that is taken is refused.
    let other = program.run(&["savepoint", "job"]).exits(0).out.trim().to_string();
    assert_ne!(path, other);
    program.run(&["savepoint", "job", &path]).exits(1).says(&["HW-L016", "HW-X203", "never overwritten"]);
    running.end_of_job(&["stop"]);

    let list = program.run(&["state", "ls", &path, "--json"]).exits(0);
    let list: Value = serde_json::from_str(&list.out).expect("json");
    let jobs = list["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.iter().map(|job| job["job"].as_str()).collect::<Vec<_>>(), [Some("windows"), Some("totals")]);
    let operator = &jobs[1]["operators"][0];
    assert_eq!((operator["name"].as_str(), &operator["tables"][0]["rows"]), (Some("group aggregate"), &7.into()));
    let id = operator["id"].as_str().expect("an id");
    let rows = program.run(&["state", "read", &path, "--operator", id, "--json"]).exits(0).out;
    let counted = |line: &str| -> u64 {
        let row: Value = serde_json::from_str(line).expect("a row");
        row["value.0.COUNT.count"].as_str().expect("a count").parse().expect("a number")
    };
    let saved: u64 = rows.lines().map(counted).sum();
    assert!(saved > 0 && saved < LAST, "{saved}");
    // The rest of the orders comes on top, whatever the first run has read since.
    let ran = program.run(&["run", "job.sql", "-s", &path, "-D", "OUT=second", "--state-dir", "other"]).exits(0);
    assert_eq!(totals(&ran.out).values().sum::<u64>(), LAST);
}

#[test]
fn a_drained_script_leaves_a_savepoint_with_its_state() {
    let program = Program::new();
    program.write("job.sql", &script(COUNT));
    let mut running = program.start(&["run", "job.sql", "-D", "OUT=first"]);
    running.wait_until("rows are read", |job| rows(job, "source", "rows_in") > 500);
    running.end_of_job(&["stop", "--drain", "--savepoint-path", "saved"]);
    let table = program.run(&["state", "read", "saved", "--operator", "group-"]).exits(0).out;
    assert!(table.contains("7 rows in set"), "{table}");
    let ran = program.run(&["run", "job.sql", "--from", "saved", "-D", "OUT=second"]).exits(0);
    assert_eq!(totals(&ran.out).values().sum::<u64>(), LAST);
}

#[test]
fn a_savepoint_is_taken_whole_or_not_at_all() {
    let program = Program::new();
    program.write("job.sql", &script(COUNT));
    let mut running = program.start(&["run", "job.sql", "-D", "OUT=first"]);
    running.wait_until("rows are read", |job| rows(job, "source", "rows_in") > 500);
    running.end_of_job(&["stop", "--savepoint-path", "saved"]);
    // The script has state of its own now.
    program.run(&["run", "job.sql", "--from", "saved", "-D", "OUT=x"]).exits(2).says(&["HW-L018", "--fresh"]);
    // Another query has no use for the counts.
    program.write("other.sql", &script("SELECT u, MAX(id) FROM o GROUP BY u"));
    let from = ["run", "other.sql", "--from", "saved", "-D", "OUT=x", "--state-dir", "other"];
    program.run(&from).exits(2).says(&["HW-R006", "changed: group aggregate"]);
    // Nor has one that does not write that table.
    let windows_only = script(COUNT).split("INSERT INTO totals").next().expect("a part").to_string();
    program.write("other.sql", &windows_only);
    program.run(&from).exits(2).says(&["HW-L013", "totals"]);
    // A file that has changed is noticed, and one that is gone.
    let folder = program.path("saved/totals");
    let file = std::fs::read_dir(&folder).expect("files").next().expect("a file").expect("a file").path();
    let mut bytes = std::fs::read(&file).expect("bytes");
    bytes[20] ^= 1;
    std::fs::write(&file, bytes).expect("changed");
    let again = ["run", "job.sql", "--from", "saved", "--fresh", "-D", "OUT=x"];
    program.run(&again).exits(2).says(&["HW-X201", "checksum"]);
    std::fs::remove_file(&file).expect("removed");
    program.run(&again).exits(2).says(&["HW-X201"]);
    program.run(&["run", "job.sql", "--from", "nowhere", "-D", "OUT=x", "--fresh"]).exits(2).says(&["HW-X201"]);
    assert!(!program.path("x").exists(), "nothing was written");
}

#[test]
fn the_state_of_a_running_script_can_be_seen() {
    let program = Program::new();
    program.write("job.sql", &script(COUNT));
    program.run(&["state", "ls"]).exits(2).says(&["HW-L020"]);
    let mut running = program.start(&["run", "job.sql", "-D", "OUT=first"]);
    running.wait_until_job(1, "checkpoints are taken", |job| job["checkpoints"].as_u64() >= Some(2));
    let list = program.run(&["state", "ls", "job"]).exits(0).out;
    for part in ["job windows at checkpoint", "job totals at checkpoint", "reads 0/", "group aggregate"] {
        assert!(list.contains(part), "no {part} in {list}");
    }
    let rows = program.run(&["state", "read", "job", "--operator", "group-", "--limit", "2"]).exits(0).out;
    assert!(rows.contains("key.u") && rows.contains("2 of 7 rows; more with --limit"), "{rows}");
    program.run(&["state", "read", "job"]).exits(2).says(&["HW-L019", "--operator"]);
    program.run(&["state", "read", "job", "--operator", "none"]).exits(2).says(&["HW-L020", "group-"]);
    running.end_of_job(&["stop"]);
}
