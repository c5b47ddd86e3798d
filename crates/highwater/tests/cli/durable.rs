//! Kill it anywhere, start it again: what is committed is what one run in one piece gives.

use crate::program::{Program, Ran, rows};

/// Numbered rows, as fast as `rate` says, up to `last`.
fn numbers(rate: u32, last: u32) -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '100 ms';
         CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '{rate}',
             'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{last}');
         CREATE TABLE s (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
         INSERT INTO s SELECT id FROM g;"
    )
}

/// Runs a script until some rows have been written, and stops it after a checkpoint.
fn run_and_stop(program: &Program, arguments: &[&str]) -> Ran {
    let mut running = program.start(arguments);
    running.wait_until("rows are written", |job| rows(job, "sink", "rows_out") > 10);
    program.run(&["stop"]).exits(0);
    running.end().exits(0)
}

#[test]
fn rows_are_there_once_however_often_the_program_is_killed() {
    let program = Program::new();
    program.write("numbers.sql", &numbers(2000, 8000));
    for parallelism in ["1", "3", "2", "1"] {
        let mut running = program.start(&["run", "numbers.sql", "--parallelism", parallelism]);
        running.wait_until("checkpoints are taken", |job| job["checkpoints"].as_u64() >= Some(2));
        running.kill();
    }
    program.run(&["run", "numbers.sql"]).exits(0).says(&["HW-L010", "goes on from checkpoint"]);
    assert_eq!(program.ids_below("out"), (1..=8000).collect::<Vec<_>>());
    assert!(program.state_files("checkpoint-").is_empty(), "a job that has ended keeps nothing");
}

/// One file with rows that are late, a windowed aggregate, and the rows themselves.
fn windows(program: &Program) {
    let mut lines = String::new();
    let mut seed = 42_u64;
    for row in 0..60_000_u64 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let late = if seed >> 60 == 0 { 90 } else { (seed >> 40) % 5 };
        let second = (1000 + row / 20).saturating_sub(late);
        let time = format!("2024-01-01 {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
        let (user, amount) = ((seed >> 33) % 50, (seed >> 20) % 1000);
        lines.push_str(&format!("{{\"n\":{row},\"u\":{user},\"amount\":{amount},\"ts\":\"{time}\"}}\n"));
    }
    program.write("in/orders.jsonl", &lines);
    program.write(
        "windows.sql",
        "SET 'execution.checkpointing.interval' = '50 ms';
         CREATE TABLE orders (n BIGINT, u INT, amount BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
             WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
         CREATE TABLE minutes (u INT, ws TIMESTAMP(3), c BIGINT, total BIGINT)
             WITH ('connector' = 'filesystem', 'path' = '${OUT}/minutes', 'format' = 'json');
         CREATE TABLE sessions (u INT, ws TIMESTAMP(3), we TIMESTAMP(3), c BIGINT, total BIGINT)
             WITH ('connector' = 'filesystem', 'path' = '${OUT}/sessions', 'format' = 'json');
         CREATE TABLE pairs (u INT, a BIGINT, c BIGINT)
             WITH ('connector' = 'filesystem', 'path' = '${OUT}/pairs', 'format' = 'json');
         CREATE TABLE big (n BIGINT, r BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/big', 'format' = 'json');
         EXECUTE STATEMENT SET BEGIN
         INSERT INTO minutes SELECT u, window_start, COUNT(*), SUM(amount)
             FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY u, window_start, window_end;
         INSERT INTO sessions SELECT u, window_start, window_end, COUNT(*), SUM(amount)
             FROM TABLE(SESSION(TABLE orders PARTITION BY u, DESCRIPTOR(ts), INTERVAL '3' SECOND))
             GROUP BY u, window_start, window_end;
         INSERT INTO pairs SELECT u, a, c FROM orders MATCH_RECOGNIZE (
             PARTITION BY u ORDER BY ts MEASURES A.n AS a, C.n AS c AFTER MATCH SKIP PAST LAST ROW
             PATTERN (A B* C) WITHIN INTERVAL '30' SECOND
             DEFINE A AS A.amount < 300, B AS B.amount < 700, C AS C.amount > 800);
         INSERT INTO big SELECT n, amount FROM orders WHERE amount > 500;
         END;",
    );
}

#[test]
fn windows_joined_from_pieces_are_those_of_one_run() {
    let program = Program::new();
    windows(&program);
    let whole = program.run(&["run", "windows.sql", "-D", "OUT=whole", "--parallelism", "2"]).exits(0);
    let late = |ran: &Ran| -> Vec<String> {
        let words = ran.err.split_whitespace().filter(|word| word.starts_with("late_rows_dropped="));
        words.map(str::to_string).collect()
    };
    assert!(late(&whole).iter().any(|word| word != "late_rows_dropped=0"), "{}", whole.err);
    let mut seed = 7_u64;
    let mut kills = 0;
    for round in 0..12 {
        let parallelism = ["1", "2", "3"][round % 3];
        let arguments = ["run", "windows.sql", "-D", "OUT=pieces", "--parallelism", parallelism, "--batch-rows", "20"];
        let mut running = program.start(&arguments);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let wanted = round as u64 * 4_000 + (seed >> 33) % 6_000;
        if !running.reached_or_ended(|job| rows(job, "source", "rows_in") >= wanted) {
            running.end().exits(0);
            break;
        }
        if running.kill().code == 0 {
            break;
        }
        kills += 1;
    }
    assert!(kills >= 3, "{kills} kills");
    // If the last round was a kill, or not: the rest, or nothing but a second helping of what has ended.
    if !program.state_files("owner").is_empty() {
        let last = program.run(&["run", "windows.sql", "-D", "OUT=pieces", "--parallelism", "2"]).exits(0);
        assert_eq!(late(&last), late(&whole), "counts go on");
    }
    for table in ["minutes", "sessions", "pairs", "big"] {
        let of = |out: &str| program.lines_below(&format!("{out}/{table}"));
        assert!(of("whole").len() > 1000, "{table}");
        assert!(of("pieces") == of("whole"), "{table} differs");
    }
}

#[test]
fn a_second_run_of_the_same_script_is_refused() {
    let program = Program::new();
    program.write("numbers.sql", &numbers(1000, 1_000_000));
    let mut running = program.start(&["run", "numbers.sql"]);
    running.wait_until("it runs", |job| rows(job, "sink", "rows_out") > 0);
    program.run(&["run", "numbers.sql"]).exits(2).says(&["HW-L011", "numbers is already running"]);
    // Another script of the same name is another job.
    program
        .write("other/numbers.sql", "CREATE TABLE s (a INT) WITH ('connector' = 'print'); INSERT INTO s VALUES (1);");
    let other = program.run(&["run", "other/numbers.sql"]).exits(0);
    assert!(other.out.contains("+I[1]"), "{}", other.out);
    program.run(&["stop", "numbers"]).exits(0);
    running.end().exits(0);
    // And it has never touched the state of the first.
    run_and_stop(&program, &["run", "numbers.sql"]).says(&["HW-L010"]);
}

#[test]
fn a_stopped_job_goes_on_and_a_fresh_one_begins_anew() {
    let program = Program::new();
    program.write("numbers.sql", &numbers(1000, 1_000_000));
    run_and_stop(&program, &["run", "numbers.sql", "--parallelism", "1"]);
    let first = program.ids_below("out").len() as u64;
    let status = run_and_stop(&program, &["run", "numbers.sql", "--parallelism", "1"]);
    assert!(status.err.contains("HW-L010"), "{}", status.err);
    let both = program.ids_below("out");
    assert!(both.len() as u64 > first);
    assert_eq!(both, (1..=both.len() as u64).collect::<Vec<_>>());
    let fresh = run_and_stop(&program, &["run", "numbers.sql", "--parallelism", "1", "--fresh"]);
    assert!(!fresh.err.contains("HW-L010"), "{}", fresh.err);
    assert_eq!(program.ids_below("out").iter().filter(|id| **id == 1).count(), 2);
}

#[test]
fn a_finished_job_runs_anew() {
    let program = Program::new();
    program.write("numbers.sql", &numbers(100_000, 500));
    for count in [500, 1000] {
        let ran = program.run(&["run", "numbers.sql"]).exits(0);
        assert!(!ran.err.contains("HW-L010"), "{}", ran.err);
        assert_eq!(program.ids_below("out").len(), count);
        assert!(program.state_files("").iter().all(|path| path.is_dir()), "{:?}", program.state_files(""));
    }
}

#[test]
fn drained_is_finished() {
    let program = Program::new();
    program.write("numbers.sql", &numbers(1000, 1_000_000));
    let mut running = program.start(&["run", "numbers.sql"]);
    running.wait_until("rows are written", |job| rows(job, "sink", "rows_out") > 10);
    program.run(&["stop", "--drain"]).exits(0);
    running.end().exits(0);
    assert!(program.state_files("checkpoint-").is_empty());
}

#[test]
fn a_job_of_a_killed_run_that_had_ended_is_not_run_twice() {
    let program = Program::new();
    let script = format!(
        "{} CREATE TABLE once (a INT) WITH ('connector' = 'filesystem', 'path' = 'once', 'format' = 'csv');
         INSERT INTO once VALUES (1), (2);",
        numbers(1000, 1_000_000)
    );
    program.write("two.sql", &script);
    let mut running = program.start(&["run", "two.sql"]);
    running.wait_until_job(1, "the second has ended", |job| job["state"] == "finished");
    running.wait_until("the first has a checkpoint", |job| job["checkpoints"].as_u64() > Some(0));
    running.kill();
    let again = run_and_stop(&program, &["run", "two.sql"]);
    again.says(&["HW-L012", "job once had come to its end", "HW-L010"]);
    assert_eq!(program.lines_below("once"), ["1", "2"]);
}

/// Counts per group, into a folder.
fn counts(select: &str) -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '100 ms';
         CREATE TABLE g (id BIGINT, k AS id / 10) WITH ('connector' = 'datagen', 'rows-per-second' = '1000',
             'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '1000000');
         CREATE TABLE s (k BIGINT, c BIGINT) WITH ('connector' = 'print');
         INSERT INTO s {select};"
    )
}

#[test]
fn a_changed_script_is_refused_with_a_list() {
    let program = Program::new();
    program.write("counts.sql", &counts("SELECT k, COUNT(*) FROM g GROUP BY k"));
    run_and_stop(&program, &["run", "counts.sql"]);
    program.write("counts.sql", &counts("SELECT k, MAX(id) FROM g GROUP BY k"));
    let refused = program.run(&["run", "counts.sql"]).exits(2);
    refused.says(&["HW-R006", "changed: group aggregate", "kept: source g", "--allow-non-restored-state"]);
    let allowed = run_and_stop(&program, &["run", "counts.sql", "--allow-non-restored-state"]);
    allowed.says(&["HW-R006", "changed: group aggregate", "HW-L010"]);
    // What was lost is lost: the changed script is the one that is known now.
    run_and_stop(&program, &["run", "counts.sql"]).says(&["HW-L010"]);
    program.write("counts.sql", &counts("SELECT id, id FROM g"));
    program.run(&["run", "counts.sql"]).exits(2).says(&["HW-R006", "dropped: group aggregate"]);
    let renamed =
        counts("SELECT k, MAX(id) FROM g GROUP BY k").replace("TABLE s", "TABLE t").replace("INTO s", "INTO t");
    program.write("counts.sql", &renamed);
    program.run(&["run", "counts.sql"]).exits(2).says(&["HW-L013", "dropped", "--fresh"]);
    let fresh = run_and_stop(&program, &["run", "counts.sql", "--fresh"]);
    assert!(!fresh.err.contains("HW-L010"), "{}", fresh.err);
}

#[test]
fn damaged_checkpoints_are_never_taken() {
    let program = Program::new();
    program.write("numbers.sql", &format!("SET 'state.checkpoints.num-retained' = '3'; {}", numbers(1000, 1_000_000)));
    let mut running = program.start(&["run", "numbers.sql", "--parallelism", "1"]);
    running.wait_until("checkpoints are taken", |job| job["checkpoints"].as_u64() >= Some(3));
    running.kill();
    for prefix in ["segment-", "checkpoint-"] {
        let newest = program.state_files(prefix).pop().expect("a file");
        let whole = std::fs::read(&newest).expect("bytes");
        for bytes in [whole[..whole.len() / 2].to_vec(), whole.iter().map(|byte| byte ^ 1).collect()] {
            std::fs::write(&newest, bytes).expect("damaged");
            let refused = program.run(&["run", "numbers.sql"]).exits(2);
            refused.says(&["HW-X101", &newest.display().to_string(), "HW-R009", "--checkpoint"]);
        }
        std::fs::write(&newest, whole).expect("restored");
    }
    let manifests = program.state_files("checkpoint-");
    assert_eq!(manifests.len(), 3);
    let name = manifests[0].file_stem().expect("a name").to_string_lossy().into_owned();
    let epoch: u64 = name.trim_start_matches("checkpoint-").parse().expect("a number");
    let oldest = run_and_stop(&program, &["run", "numbers.sql", "--checkpoint", &epoch.to_string()]);
    oldest.says(&["HW-L010", &format!("goes on from checkpoint {epoch}")]);
    program.run(&["run", "numbers.sql", "--checkpoint", "999999"]).exits(2).says(&["HW-I010"]);
}

#[test]
fn checkpoints_are_where_the_script_says_and_status_tells_of_them() {
    let program = Program::new();
    let folder = program.path("elsewhere");
    let script = format!("SET 'state.checkpoints.dir' = 'file://{}'; {}", folder.display(), numbers(1000, 1_000_000));
    program.write("numbers.sql", &script);
    let mut running = program.start(&["run", "numbers.sql"]);
    let job = running.wait_until("a checkpoint", |job| job["checkpoints"].as_u64() > Some(0));
    assert!(job["last_checkpoint_bytes"].as_u64() > Some(100) && job["last_checkpoint_ms"].is_u64(), "{job}");
    assert!(job["resumed_from"].is_null() && job["failed_checkpoints"] == 0 && job["restarts"] == 0, "{job}");
    assert!(folder.join("numbers/s").is_dir());
    running.kill();
    let again = run_and_stop(&program, &["run", "numbers.sql"]);
    again.says(&["HW-L010", "the last in"]);
    assert!(program.run(&["run", "numbers.sql", "--fresh", "--checkpoint", "1"]).code == 2, "one or the other");
}

#[test]
fn options_of_unaligned_checkpoints_are_accepted_and_change_nothing() {
    let program = Program::new();
    let options = [
        ("execution.checkpointing.unaligned", "true"),
        ("execution.checkpointing.unaligned.enabled", "true"),
        ("execution.checkpointing.unaligned.forced", "true"),
        ("execution.checkpointing.unaligned.max-subtasks-per-channel-state-file", "5"),
        ("execution.checkpointing.aligned-checkpoint-timeout", "30 s"),
        ("execution.checkpointing.alignment-timeout", "30 s"),
        ("execution.checkpointing.mode", "EXACTLY_ONCE"),
    ];
    for (key, value) in options {
        // With quotes, and as the SQL client of old wrote it.
        for set in [format!("SET '{key}' = '{value}';"), format!("SET {key} = {value};")] {
            program.write("numbers.sql", &format!("{set} {}", numbers(100_000, 50)));
            let ran = program.run(&["run", "numbers.sql"]).exits(0);
            ran.says(&[&format!("option '{key}' has no effect here"), "checkpoints are aligned"]);
            assert_eq!(program.ids_below("out"), (1..=50).collect::<Vec<_>>());
            std::fs::remove_dir_all(program.path("out")).expect("removed");
        }
    }
}
