//! The traps of the source documents that need no broker: what must be accepted, and with which words something is refused.

use crate::program::Program;

const VARIABLES: [&str; 6] = ["-D", "KAFKA=127.0.0.1:9092", "-D", "MYSQL_HOST=127.0.0.1", "-D", "MYSQL_PORT=3306"];

fn with_variables<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &VARIABLES].concat()
}

#[test]
fn t1_a_rowtime_may_have_any_precision() {
    let program = Program::new();
    program.write("t1.sql", &format!("{}\nDESCRIBE t1;", include_str!("../data/traps/T1.sql")));
    let ran = program.run(&with_variables(&["run", "t1.sql"])).exits(0);
    assert!(ran.out.contains("TIMESTAMP(6) *ROWTIME*"), "{}", ran.out);

    // The watermark of 10:00:00.123456 is 09:59:55.123.
    program.write("in/a.jsonl", "{\"access_time\":\"2024-11-20 10:00:00.123456\"}\n");
    program.write(
        "wm.sql",
        "CREATE TABLE t (access_time TIMESTAMP, WATERMARK FOR access_time AS access_time - INTERVAL '5' SECOND)
         WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '20 ms');
         CREATE TABLE s (access_time TIMESTAMP) WITH ('connector' = 'blackhole');
         INSERT INTO s SELECT access_time FROM t;",
    );
    let mut running = program.start(&["run", "wm.sql"]);
    let job = running.wait_until("the row is read", |job| job["nodes"][0]["watermark_ms"].is_i64());
    assert_eq!(job["nodes"][0]["watermark"], "2024-11-20 09:59:55.123");
    program.run(&["stop"]).exits(0);
    running.end().exits(0);
}

const ORDERS: &str = "CREATE TABLE order_topic (order_id STRING, order_time TIMESTAMP(3))
    WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json' EXTRA);";
const BOTH_FORMS: &str = "{\"order_id\":\"a\",\"order_time\":\"2024-11-20T15:01:00.123\"}
{\"order_id\":\"b\",\"order_time\":\"2024-11-20 15:01:00.123\"}
";

#[test]
fn t4a_both_timestamp_forms_are_read_and_the_sql_form_is_written() {
    let program = Program::new();
    program.write("orders.jsonl", BOTH_FORMS);
    let sink = "CREATE TABLE s (order_id STRING, order_time TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
        INSERT INTO s SELECT * FROM order_topic;";
    program.run_script(&format!("{}{sink}", ORDERS.replace("EXTRA", ""))).exits(0);
    assert_eq!(
        program.lines_below("out"),
        ["a", "b"].map(|id| format!("{{\"order_id\":\"{id}\",\"order_time\":\"2024-11-20 15:01:00.123\"}}"))
    );
}

#[test]
fn t4b_a_pinned_form_refuses_the_other_at_the_record() {
    let program = Program::new();
    program.write("orders.jsonl", BOTH_FORMS);
    let pinned = ORDERS.replace("EXTRA", ", 'json.timestamp-format.standard' = 'SQL'");
    program.run_script(&format!("{pinned}SELECT order_time FROM order_topic;")).exits(1).says(&[
        "orders.jsonl",
        "line 1",
        "order_time",
        "2024-11-20T15:01:00",
        "json.timestamp-format.standard",
        "ISO-8601",
    ]);
}

#[test]
fn t8_an_inline_primary_key_is_accepted() {
    let program = Program::new();
    program.write("t8.sql", &format!("{}\nDESCRIBE d;", include_str!("../data/traps/T8.sql")));
    let ran = program.run(&with_variables(&["run", "t8.sql"])).exits(0);
    assert!(ran.out.contains("PRI(user_id)"), "{}", ran.out);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn t10a_an_interval_without_quotes_gives_the_same_plan() {
    let program = Program::new();
    let sql = include_str!("../data/traps/T10a.sql");
    program.write("bare.sql", sql);
    program.write("quoted.sql", &sql.replace("INTERVAL 1 MINUTE", "INTERVAL '1' MINUTE"));
    let bare = program.run(&with_variables(&["explain", "bare.sql"])).exits(0);
    let quoted = program.run(&with_variables(&["explain", "quoted.sql"])).exits(0);
    assert!(bare.out.contains("item_id"), "{}", bare.out);
    assert_eq!(bare.out, quoted.out);
}

#[test]
fn t10b_unquoted_options_are_refused_with_the_corrected_line() {
    let program = Program::new();
    program.write("t10b.sql", include_str!("../data/traps/T10b.sql"));
    program.run(&["run", "t10b.sql"]).exits(2).says(&["quotes", "'connector' = 'upsert-kafka'", "t10b.sql:2:"]);
}
