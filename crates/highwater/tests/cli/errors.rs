//! What goes wrong is said clearly, with an exit code, and nothing is lost silently.

use crate::program::{Program, rows};
use std::process::Stdio;

const SOURCE: &str =
    "CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');";

fn program(records: &str) -> Program {
    let program = Program::new();
    program.write("in.jsonl", records);
    program
}

#[test]
fn a_malformed_record_fails_the_job_with_file_and_line() {
    let program = program("{\"k\":\"a\",\"v\":1}\n{\"k\":\"b\",\"v\":\n");
    program.run_script(&format!("{SOURCE} SELECT k, v FROM t;")).exits(1).says(&["in.jsonl", "line 2", "HW-F"]);
}

#[test]
fn ignored_parse_errors_are_counted_and_shown() {
    let program = program("{\"k\":\"a\",\"v\":1}\nnonsense\n{\"k\":\"b\",\"v\":2}\n");
    let source = SOURCE.replace("'json')", "'json', 'json.ignore-parse-errors' = 'true')");
    let ran =
        program.run_script(&format!("{source} SELECT k, v FROM t;")).exits(0).says(&["rows_rejected=1", "HW-L008"]);
    assert!(ran.out.contains("Received a total of 2 rows"), "{}", ran.out);
}

#[test]
fn an_unknown_column_names_its_place_and_the_nearest() {
    let ran = program("").run_script(&format!("{SOURCE}\nSELECT k,\n  vv FROM t;"));
    ran.exits(2).says(&["vv", "did you mean v?", "script.sql:3:3"]);
}

#[test]
fn an_unknown_table_names_the_nearest() {
    program("").run_script(&format!("{SOURCE}\nSELECT k FROM tt;")).exits(2).says(&[
        "tt",
        "did you mean t?",
        "script.sql:2:",
    ]);
}

#[test]
fn a_missing_and_an_unknown_option_are_reported_together() {
    let sql = "CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'paht' = 'x', 'format' = 'json');";
    Program::new().run_script(sql).exits(2).says(&["'paht'", "'path'", "missing"]);
}

#[test]
fn an_unknown_connector_lists_the_known_ones() {
    let sql = "CREATE TABLE t (k STRING) WITH ('connector' = 'filesytem');";
    Program::new().run_script(sql).exits(2).says(&["filesytem", "filesystem", "datagen"]);
}

#[test]
fn a_missing_path_is_named() {
    Program::new().run_script(&format!("{SOURCE} SELECT k FROM t;")).exits(1).says(&["in.jsonl", "does not exist"]);
}

#[test]
fn an_error_anywhere_writes_nothing() {
    let program = program("{\"k\":\"a\",\"v\":1}\n");
    let sink = "CREATE TABLE s (k STRING) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');";
    program.run_script(&format!("{SOURCE} {sink} INSERT INTO s SELECT k FROM t; SELECT nothing FROM t;")).exits(2);
    assert!(!program.path("out").exists());
}

#[test]
fn a_full_device_fails_the_job() {
    let program = program("{\"k\":\"a\",\"v\":1}\n");
    program.write("script.sql", &format!("{SOURCE} SELECT k FROM t;"));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = program.command(&["run", "script.sql"]).stdout(Stdio::from(full)).output().expect("run");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("no space left"), "{err}");
}

#[test]
fn a_division_by_zero_fails_the_job() {
    let program = program("{\"k\":\"a\",\"v\":0}\n");
    program.run_script(&format!("{SOURCE} SELECT 1 / v FROM t;")).exits(1).says(&["zero"]);
}

#[test]
fn a_missing_variable_is_named_with_its_place() {
    let ran = Program::new().run_script("SELECT 1;\nSELECT '${NAME}';");
    ran.exits(2).says(&["NAME", "-D NAME=", "script.sql:2:"]);
}

#[test]
fn a_table_of_a_connector_that_cannot_run_yet_is_refused() {
    let sql = "CREATE TABLE t (k STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = '127.0.0.1:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'); SELECT * FROM t;";
    Program::new().run_script(sql).exits(1).says(&["kafka"]);
}

#[test]
fn messages_are_chinese_when_the_script_or_the_locale_says_so() {
    let ran =
        program("").run_script(&format!("SET 'highwater.language' = 'zh'; {SOURCE} SELECT nope FROM t;")).exits(2);
    assert!(ran.err.contains("错误[HW-P") && ran.err.contains("修复"), "{}", ran.err);
}

#[test]
fn a_script_that_starts_nothing_says_so() {
    program("").run_script(SOURCE).exits(0).says(&["note[HW-L002]"]);
}

#[test]
fn a_password_in_the_line_of_an_error_is_masked() {
    let sql = "CREATE TABLE j (id BIGINT) WITH ('connector' = 'jdbc', 'password' = '${PW}', 'url' = 'u', 'table-name' = 't') oops;";
    let program = Program::new();
    program.write("script.sql", sql);
    let ran =
        program.run(&["run", "script.sql", "-D", "PW=s3cr3t-value"]).exits(2).says(&["'password' = '***'", "oops"]);
    assert!(!ran.err.contains("s3cr3t"), "{}", ran.err);
    let lines: Vec<&str> = ran.err.lines().collect();
    let at = lines.iter().position(|line| line.contains("***")).expect("the line");
    assert_eq!(lines[at].find("oops"), lines[at + 1].find('^'), "{}", ran.err);
}

#[test]
fn a_replaced_growing_file_fails_the_job() {
    let program = program("{\"k\":\"a\",\"v\":1}\n");
    let source = SOURCE.replace("'json')", "'json', 'source.monitor-interval' = '10 ms')");
    program.write("script.sql", &format!("{source} SELECT k, v FROM t;"));
    let mut running = program.start(&["run", "script.sql"]);
    running.wait_until("read", |job| rows(job, "source", "rows_in") == 1);
    program.write("new", "{\"k\":\"other\",\"v\":2}\n");
    std::fs::rename(program.path("new"), program.path("in.jsonl")).expect("rename");
    running.end().exits(1).says(&["HW-C060", "in.jsonl"]);
}

#[test]
fn chinese_messages_hold_no_english_verb() {
    let program = Program::new();
    let output = program.command(&["run", "nofile.sql"]).env("HIGHWATER_LANGUAGE", "zh").output().expect("run");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("无法读取 nofile.sql"), "{err}");
}

#[test]
fn a_connector_that_only_declares_tables_is_refused_where_it_is_used() {
    let program = Program::new();
    let sql = "CREATE TABLE j (id BIGINT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://h:1/d', 'table-name' = 't');\n\
               CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');\n  INSERT INTO j SELECT id FROM g;";
    program.run_script(sql).exits(2).says(&["HW-C030", ":3:3", "INSERT INTO j", "connector 'jdbc'"]);
}
