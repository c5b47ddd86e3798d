//! State whose TTL is over leaves the program and its folder while the job goes on.

use crate::program::Program;
use serde_json::Value;

/// Keys 1 to 3000 once, then keys 0 to 4 for ever.
const SOURCE: &str = "
    SET 'execution.checkpointing.interval' = '100 ms';
    CREATE TABLE g (id BIGINT, k AS CASE WHEN id <= 3000 THEN id ELSE id % 5 END, name AS 'the name of row ' || CAST(id AS STRING))
        WITH ('connector' = 'datagen', 'rows-per-second' = '3000',
              'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '100000000');
    CREATE VIEW early AS SELECT * FROM g WHERE id <= 3000;
    CREATE TABLE counts (k BIGINT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
    CREATE TABLE pairs (k BIGINT, name STRING) WITH ('connector' = 'blackhole');";

fn sum(job: &Value, what: &str) -> u64 {
    job["nodes"].as_array().into_iter().flatten().filter_map(|node| node[what].as_u64()).sum()
}

/// Waits until state has grown, and then until the keys that nobody writes are gone: from memory, from what the last checkpoint
/// holds, and from the files.
fn check(set: &str, query: &str, operator: &str, tables: &[&str], left: u64) {
    let program = Program::new();
    program.write("job.sql", &format!("{SOURCE} {set} INSERT INTO {query};"));
    let mut running = program.start(&["run", "job.sql"]);
    let bytes = |job: &Value| job["checkpoint_state_bytes"].as_u64().unwrap_or(0);
    let full = running.wait_until("state has grown", |job| sum(job, "state_entries") >= 2000 && bytes(job) > 20_000);
    let empty = running.wait_until("what has expired is gone", |job| sum(job, "state_entries") == left);
    let checkpoints = empty["checkpoints"].as_u64().unwrap_or(0);
    running.wait_until("it is gone from the disk", |job| {
        job["checkpoints"].as_u64() >= Some(checkpoints + 2) && bytes(job) < bytes(&full) / 2
    });
    for table in tables {
        let read = program.run(&["state", "read", "job", "--operator", operator, "--table", table]).exits(0).out;
        let rows = read.lines().filter(|line| line.starts_with("| ") && !line.contains("key_group")).count();
        assert_eq!(rows as u64, left, "{read}");
    }
    running.end_of_job(&["stop"]);
}

#[test]
fn expired_groups_leave_the_folder() {
    let set = "SET 'table.exec.state.ttl' = '3 s';";
    check(set, "counts SELECT k, COUNT(*) FROM g GROUP BY k", "group-", &["groups"], 5);
}

#[test]
fn expired_rows_of_a_join_leave_the_folder() {
    let hint = "/*+ STATE_TTL('a' = '3 s', 'b' = '4 s') */";
    let query = format!("pairs SELECT {hint} a.k, b.name FROM early AS a JOIN early AS b ON a.id = b.id");
    check("", &query, "join-", &["left", "right"], 0);
}
