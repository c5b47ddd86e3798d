//! Status, stop and signals.

use crate::program::{Program, rows};

const ENDLESS: &str = "CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1');
    CREATE TABLE s (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
    INSERT INTO s SELECT id FROM g;";

#[test]
fn a_stopped_job_has_written_every_row_that_it_read() {
    let program = Program::new();
    program.write("endless.sql", ENDLESS);
    let mut running = program.start(&["run", "endless.sql", "--parallelism", "2"]);
    running.wait_until("rows are written", |job| rows(job, "sink", "rows_out") > 10);
    let status = program.run(&["status"]).exits(0);
    assert!(status.out.contains("endless") && status.out.contains("rows_in"), "{}", status.out);
    let stopped = program.run(&["stop", "endless"]).exits(0);
    assert!(stopped.out.contains("stopped"), "{}", stopped.out);
    running.end().exits(0).says(&["stopped", "rows_written="]);
    let ids: Vec<u64> = program
        .lines_below("out")
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("row")["id"].as_u64().expect("id"))
        .collect();
    // The two readers generate every other id, and stop where each of them is.
    for reader in 0..2 {
        let mut own: Vec<u64> = ids.iter().copied().filter(|id| id % 2 == reader).collect();
        own.sort_unstable();
        let first = if reader == 0 { 2 } else { 1 };
        assert_eq!(own, (0..own.len() as u64).map(|row| first + 2 * row).collect::<Vec<_>>());
    }
    assert!(program.run(&["status"]).out.contains("no job is running"));
}

#[test]
fn ctrl_c_and_sigterm_stop_cleanly() {
    for signal in ["INT", "TERM"] {
        let program = Program::new();
        program.write("endless.sql", ENDLESS);
        let mut running = program.start(&["run", "endless.sql"]);
        running.wait_until("rows are written", |job| rows(job, "sink", "rows_out") > 0);
        running.signal(signal);
        running.end().exits(0).says(&["stopped"]);
        assert!(!program.lines_below("out").is_empty());
    }
}

/// Every row of one side meets every row of the other: the rows at hand alone take minutes.
const HEAVY: &str = "CREATE TABLE a (id BIGINT, k BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '40000', 'rows-per-second' = '10000000',
        'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '40000', 'fields.k.min' = '1', 'fields.k.max' = '1');
    CREATE TABLE b (id BIGINT, k BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '40000', 'rows-per-second' = '10000000',
        'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '40000', 'fields.k.min' = '1', 'fields.k.max' = '1');
    CREATE TABLE s (n BIGINT) WITH ('connector' = 'print');
    INSERT INTO s SELECT SUM(a.id) FROM a JOIN b ON a.k = b.k AND a.id + b.id > 0;";

#[test]
fn a_second_signal_ends_a_busy_job_at_once() {
    for signal in ["INT", "TERM"] {
        let program = Program::new();
        program.write("heavy.sql", HEAVY);
        let mut running = program.start(&["run", "heavy.sql"]);
        running.wait_until("the join is at work", |job| rows(job, "operator", "rows_out") > 0);
        running.signal(signal);
        running.wait_until("it is stopping", |job| job["state"] == "stopping");
        running.signal(signal);
        running.end().exits(130).says(&["at once, without a final checkpoint"]);
        assert!(program.run(&["status"]).out.contains("no job is running"));
    }
}

#[test]
fn a_run_is_stopped_by_the_name_of_its_only_job() {
    let program = Program::new();
    program.write("endless.sql", ENDLESS);
    let mut running = program.start(&["run", "endless.sql"]);
    let job = running.wait_until("rows are written", |job| rows(job, "sink", "rows_out") > 0);
    let name = job["name"].as_str().expect("a name");
    assert_ne!(name, "endless");
    program.run(&["stop", name]).exits(0);
    running.end().exits(0);
}

#[test]
fn stop_without_a_job_says_so() {
    Program::new().run(&["stop"]).exits(2).says(&["HW-L009"]);
    Program::new().run(&["stop", "nope"]).exits(2).says(&["nope"]);
}
