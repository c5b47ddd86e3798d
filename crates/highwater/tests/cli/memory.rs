//! State of several times its memory budget: the result is that of a run without one, killed in the middle or not.

use crate::program::{Program, Ran, rows};
use serde_json::Value;
use std::collections::BTreeMap;

const KEYS: u64 = 4_500;
const ROWS: u64 = 22_500;

const SOURCES: &str = "
    SET 'execution.checkpointing.interval' = '300 ms';
    SET 'state.memory.budget' = '${BUDGET}';
    CREATE TABLE events (n BIGINT, k BIGINT, v BIGINT, name STRING)
        WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'json');
    CREATE TABLE others (k BIGINT, w BIGINT) WITH ('connector' = 'filesystem', 'path' = 'others', 'format' = 'json');";

/// The jobs: name, columns, query, and a budget in kB. In files alone the state is more than five times as large, and it takes
/// more in memory.
const JOBS: [(&str, &str, &str, u64); 3] = [
    (
        "counted",
        "k BIGINT, c BIGINT, total BIGINT, longest STRING",
        "SELECT k, COUNT(*), SUM(v), MAX(name) FROM events GROUP BY k",
        40,
    ),
    (
        "joined",
        "n BIGINT, k BIGINT, name STRING, w BIGINT",
        "SELECT e.n, e.k, e.name, o.w FROM events e LEFT JOIN others o ON e.k = o.k",
        200,
    ),
    (
        "top",
        "k BIGINT, v BIGINT, name STRING, place BIGINT",
        "SELECT k, v, name, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, n) AS place FROM events)
         WHERE place <= 3",
        120,
    ),
];

fn prepare(program: &Program) {
    let (mut events, mut others) = (String::new(), String::new());
    let mut seed = 42_u64;
    for n in 0..ROWS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (k, v) = ((seed >> 33) % KEYS, (seed >> 20) % 1000);
        events.push_str(&format!("{{\"n\":{n},\"k\":{k},\"v\":{v},\"name\":\"the name of row {n:06}\"}}\n"));
        if n < KEYS {
            others.push_str(&format!("{{\"k\":{},\"w\":{n}}}\n", n * 7 % KEYS));
        }
    }
    program.write("events/a.jsonl", &events);
    program.write("others/a.jsonl", &others);
    for (name, columns, query, _) in JOBS {
        let script = format!(
            "{SOURCES}
             CREATE TABLE {name} ({columns})
                 WITH ('connector' = 'filesystem', 'path' = '${{OUT}}', 'format' = 'debezium-json');
             INSERT INTO {name} {query};"
        );
        program.write(&format!("{name}.sql"), &script);
    }
}

/// The table that the changes in a folder make.
fn table(program: &Program, folder: &str) -> BTreeMap<String, i64> {
    let mut table = BTreeMap::new();
    for line in program.lines_below(folder) {
        let change: Value = serde_json::from_str(&line).expect("a change");
        for (side, sign) in [("before", -1), ("after", 1)] {
            if !change[side].is_null() {
                *table.entry(change[side].to_string()).or_default() += sign;
            }
        }
    }
    table.retain(|_, count| *count != 0);
    table
}

/// `state_on_disk=812 kB` of the summary.
fn on_disk(ran: &Ran) -> u64 {
    let word = ran.err.split_whitespace().find_map(|word| word.strip_prefix("state_on_disk="));
    word.unwrap_or_else(|| panic!("nothing is on the disk: {}", ran.err)).parse().expect("a number")
}

/// Folders of state that was put away.
fn caches(program: &Program) -> Vec<String> {
    let runs = std::fs::read_dir(program.path("state/highwater")).into_iter().flatten().flatten();
    let below = runs.flat_map(|run| std::fs::read_dir(run.path()).into_iter().flatten().flatten());
    let names = below.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("cache-")).collect()
}

fn check(name: &str) {
    let kilobytes = JOBS.iter().find(|job| job.0 == name).expect("a job").3;
    let within = format!("{kilobytes} kb");
    let program = Program::new();
    prepare(&program);
    let script = format!("{name}.sql");
    let run = |budget: &str, out: &str| -> Ran {
        let (budget, out) = (format!("BUDGET={budget}"), format!("OUT={out}"));
        program.run(&["run", &script, "-D", &budget, "-D", &out, "--parallelism", "2"]).exits(0)
    };
    let free = run("0", "free");
    assert!(!free.err.contains("state_on_disk"), "{}", free.err);
    let expected = table(&program, "free");
    assert!(expected.len() as u64 >= KEYS * 9 / 10, "{} rows", expected.len());
    let bounded = run(&within, "bounded");
    assert!(on_disk(&bounded) >= 5 * kilobytes, "{}", bounded.err);
    assert!(table(&program, "bounded") == expected, "the result within a budget differs");

    // The same, killed in the middle and gone on with, also at another parallelism and without a budget.
    let rounds = [("2", within.as_str()), ("1", &within), ("3", &within), ("2", "0")];
    let (mut kills, mut is_over) = (0, false);
    for (round, (parallelism, budget)) in rounds.into_iter().enumerate() {
        let budget = format!("BUDGET={budget}");
        let arguments =
            ["run", &script, "-D", &budget, "-D", "OUT=pieces", "--parallelism", parallelism, "--batch-rows", "200"];
        let mut running = program.start(&arguments);
        let wanted = ROWS / 8 * (round as u64 + 1);
        let is_far = |job: &Value| rows(job, "source", "rows_in") >= wanted && job["checkpoints"].as_u64() >= Some(1);
        if !running.reached_or_ended(is_far) {
            running.end().exits(0);
            is_over = true;
            break;
        }
        running.signal("KILL");
        kills += 1;
        // It may have come to its end just before: then nothing is kept any more.
        is_over = running.end().code == 0 || program.state_files("checkpoint-").is_empty();
        if is_over {
            break;
        }
    }
    assert!(kills >= 2, "{kills} kills");
    if !is_over {
        run(&within, "pieces");
    }
    assert!(table(&program, "pieces") == expected, "the result of the pieces differs");
    assert!(caches(&program).is_empty(), "{:?} are left", caches(&program));
}

#[test]
fn groups_beyond_the_budget() {
    check("counted");
}

#[test]
fn a_join_beyond_the_budget() {
    check("joined");
}

#[test]
fn a_top_n_beyond_the_budget() {
    check("top");
}

#[test]
fn status_tells_what_is_on_the_disk() {
    let program = Program::new();
    prepare(&program);
    let script = "SET 'state.memory.budget' = '100 kb';
        CREATE TABLE g (k BIGINT, v BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '20000',
            'fields.k.min' = '0', 'fields.k.max' = '20000');
        CREATE TABLE s (k BIGINT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
        INSERT INTO s SELECT k, COUNT(*) FROM g GROUP BY k;";
    program.write("endless.sql", script);
    let mut running = program.start(&["run", "endless.sql"]);
    let sum = |job: &Value, what: &str| -> u64 {
        job["nodes"].as_array().into_iter().flatten().filter_map(|node| node[what].as_u64()).sum()
    };
    let job = running.wait_until("state is put away and read back", |job| {
        sum(job, "state_evicted_bytes") > 200_000 && sum(job, "state_loads") > 10 && sum(job, "state_evictions") > 10
    });
    assert!(sum(&job, "state_bytes") < 200_000, "{job}");
    assert!(!caches(&program).is_empty());
    program.run(&["stop"]).exits(0);
    running.end().exits(0).says(&["state_on_disk="]);
    assert!(caches(&program).is_empty());
}
