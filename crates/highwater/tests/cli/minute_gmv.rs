//! The first job: orders to GMV per minute, exact at every parallelism and batch size, late rows counted.

use crate::program::{Program, rows};
use serde_json::Value;

const JOB: &str = include_str!("../data/s3a/job.sql");
const ORDERS: &str = include_str!("../data/s3a/order_topic.jsonl");
const DRAINED: &str = include_str!("../data/s3a/drained.jsonl");
const STOPPED: &str = include_str!("../data/s3a/stopped.jsonl");

/// The order records of the given steps, one per line.
fn orders(steps: std::ops::RangeInclusive<i64>) -> String {
    let mut text = String::new();
    for line in ORDERS.lines() {
        let record: Value = serde_json::from_str(line).expect("record");
        if steps.contains(&record["step"].as_i64().unwrap_or(0)) {
            text.push_str(&serde_json::to_string(&record["value"]).expect("value"));
            text.push('\n');
        }
    }
    text
}

/// Rows as comparable text: numbers and times as the second computation wrote them.
fn expected(text: &str) -> Vec<Vec<String>> {
    comparable(text.lines().map(|line| serde_json::from_str::<Value>(line).expect("row")["value"].clone()))
}

fn comparable(rows: impl Iterator<Item = Value>) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = rows
        .map(|row| {
            let cents = (row["total_amount"].as_f64().expect("amount") * 100.0).round() as i64;
            let time = |name: &str| row[name].as_str().expect("time").trim_end_matches(".000").to_string();
            vec![time("window_start"), time("window_end"), row["order_count"].to_string(), cents.to_string()]
        })
        .collect();
    found.sort();
    found
}

fn written(program: &Program) -> Vec<Vec<String>> {
    comparable(program.lines_below("out").iter().map(|line| serde_json::from_str(line).expect("line")))
}

#[test]
fn the_drained_result_is_exact_at_every_parallelism_and_batch_size() {
    for parallelism in ["1", "4"] {
        for batch_rows in ["1", "7", "4096"] {
            let program = Program::new();
            program.write("orders.jsonl", &orders(1..=9));
            program.write("job.sql", JOB);
            let arguments =
                ["run", "job.sql", "-D", "INPUT=orders.jsonl", "-D", "OUTPUT=out", "--parallelism", parallelism];
            program.run(&[&arguments[..], &["--batch-rows", batch_rows]].concat()).exits(0).says(&[
                "late_rows_dropped=3",
                "HW-L007",
                "window aggregate",
                "2024-11-20 15:01:30.5 is behind watermark",
            ]);
            assert_eq!(written(&program), expected(DRAINED), "parallelism {parallelism}, batch {batch_rows}");
        }
    }
}

/// The scenario's steps as files that appear in a watched folder, each after its predecessor has been read.
fn follow_steps(program: &Program, parallelism: &str, stop: &[&str]) {
    let job = JOB.replace("'format' = 'json',", "'format' = 'json', 'source.monitor-interval' = '20 ms',");
    program.write("job.sql", &job);
    std::fs::create_dir_all(program.path("in")).expect("folder");
    let mut running =
        program.start(&["run", "job.sql", "-D", "INPUT=in", "-D", "OUTPUT=out", "--parallelism", parallelism]);
    let mut read = 0;
    for step in 1..=7 {
        let text = orders(step..=step);
        read += text.lines().count() as u64;
        program.write(&format!("in/.step{step}"), &text);
        std::fs::rename(program.path(&format!("in/.step{step}")), program.path(&format!("in/step{step}.jsonl")))
            .expect("rename");
        running.wait_until(&format!("step {step} is read"), |job| {
            rows(job, "source", "rows_in") == read && rows(job, "operator", "rows_in") >= read
        });
    }
    program.run(&[&["stop"], stop].concat()).exits(0);
    running.end().exits(0).says(&["late_rows_dropped=3"]);
}

#[test]
fn a_watched_folder_gives_the_same_and_a_plain_stop_leaves_open_windows_open() {
    for parallelism in ["1", "4"] {
        let program = Program::new();
        follow_steps(&program, parallelism, &[]);
        assert_eq!(written(&program), expected(STOPPED), "parallelism {parallelism}");
    }
}

#[test]
fn a_drained_stop_fires_every_window() {
    for parallelism in ["1", "4"] {
        let program = Program::new();
        follow_steps(&program, parallelism, &["--drain"]);
        assert_eq!(written(&program), expected(DRAINED), "parallelism {parallelism}");
    }
}
