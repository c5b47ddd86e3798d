//! OVER windows: what EXPLAIN shows, and what is refused.

use crate::session::{Executed, Outcome};
use crate::test_support::{execute, session};
use base::Result;

const TABLES: &str = "
CREATE TABLE t (k STRING, v INT, n INT NOT NULL, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
    WITH ('connector'='test');
CREATE TABLE c (id INT, k STRING, v INT) WITH ('connector'='test', 'changelog'='all');
";

fn run(sql: &str) -> Result<Executed> {
    execute(&mut session(), &format!("{TABLES} EXPLAIN {sql}"))
}

fn explain(sql: &str) -> String {
    match run(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).outcome {
        Outcome::Text(text) => text,
        other => panic!("{sql}: {other:?}"),
    }
}

fn assert_contains(sql: &str, parts: &[&str]) {
    let text = explain(sql);
    for part in parts {
        assert!(text.contains(part), "{sql}\n{text}\nlacks {part}");
    }
}

#[test]
fn one_operator_computes_all_calls_of_a_window() {
    assert_contains(
        "SELECT k, SUM(v) OVER w AS s, COUNT(*) OVER w AS c, LAG(v, 1, 0) OVER w AS l FROM t \
         WINDOW w AS (PARTITION BY k ORDER BY ts)",
        &[
            "OverAggregate(partitionBy=[k], orderBy=[ts ASC], window=[ RANGE BETWEEN UNBOUNDED PRECEDING AND \
             CURRENT ROW]",
            "SUM(v) AS w0$o0, COUNT(*) AS w0$o1, LAG(v, 1, 0) AS w0$o2], changelogMode=[I]",
            "Exchange(distribution=[hash[k]])",
            ". state: one row of results per (k); kept for ever (setting: table.exec.state.ttl)",
            ". a row is given when the watermark reaches its ts; late rows are dropped and counted",
        ],
    );
}

#[test]
fn frames_are_shown_as_flink_does() {
    for (frame, shown, state) in [
        (
            "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            "the last 3 rows per (k)",
        ),
        ("ROWS 1 PRECEDING", "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", "the last 2 rows per (k)"),
        (
            "RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW",
            "RANGE BETWEEN 2000 PRECEDING AND CURRENT ROW",
            "the rows of the last 2 s per (k)",
        ),
    ] {
        let sql = format!("SELECT k, MAX(v) OVER (PARTITION BY k ORDER BY ts {frame}) AS m FROM t");
        assert_contains(&sql, &[&format!("window=[ {shown}]"), state]);
    }
}

#[test]
fn other_orders_update_their_results() {
    assert_contains(
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM c",
        &[
            "window=[ ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW]",
            "changelogMode=[I,UB,UA,D]",
            "all rows and their results",
        ],
    );
    assert_contains("SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY p) AS n FROM t", &["changelogMode=[I]"]);
    assert_contains("SELECT COUNT(*) OVER (ORDER BY ts) AS n FROM t", &["OverAggregate(orderBy=[ts ASC]", "[single]"]);
}

#[test]
fn an_inner_query_can_have_another_window() {
    let text = explain(
        "SELECT k, s, COUNT(*) OVER (PARTITION BY s ORDER BY ts) AS c \
         FROM (SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM t)",
    );
    assert_eq!(text.matches("OverAggregate(").count(), 2, "{text}");
}

#[test]
fn what_flink_refuses_is_refused() {
    for (call, expected) in [
        ("COUNT(*) OVER (PARTITION BY k)", "HW-P611"),
        ("COUNT(*) OVER ()", "HW-P611"),
        ("COUNT(*) OVER (ORDER BY ts, v)", "HW-P611"),
        ("COUNT(*) OVER (ORDER BY 1)", "HW-P611"),
        ("COUNT(*) OVER (ORDER BY v DESC)", "HW-P612"),
        ("COUNT(*) OVER (ORDER BY ts DESC)", "HW-P612"),
        ("COUNT(*) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)", "HW-P613"),
        ("COUNT(*) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)", "HW-P613"),
        ("COUNT(*) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)", "HW-P613"),
        ("COUNT(*) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND CURRENT ROW)", "HW-P613"),
        ("COUNT(*) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", "HW-P614"),
        ("COUNT(*) OVER (ORDER BY v RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "HW-P614"),
        ("COUNT(*) OVER (ORDER BY ts RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "HW-P618"),
        ("NTILE(2) OVER (ORDER BY ts)", "HW-P615"),
        ("LEAD(v) OVER (ORDER BY ts)", "HW-P619"),
        ("CUME_DIST() OVER (ORDER BY v)", "HW-P615"),
        ("LAG(v) OVER (ORDER BY v)", "HW-P620"),
        ("LAG(v, n) OVER (ORDER BY ts)", "HW-P616"),
        ("LAG(v, -1) OVER (ORDER BY ts)", "HW-P616"),
        ("COUNT(*) OVER (ORDER BY ts) AS a, COUNT(*) OVER (PARTITION BY k ORDER BY ts)", "HW-P610"),
        ("COUNT(*) OVER (PARTITION BY k ORDER BY v) AS a, COUNT(*) OVER (PARTITION BY k ORDER BY n)", "HW-P610"),
        ("COUNT(*) OVER (ORDER BY ts) AS a, ROW_NUMBER() OVER (ORDER BY ts)", "HW-P610"),
        (
            "COUNT(*) OVER (ORDER BY ts) AS a, COUNT(*) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
            "HW-P610",
        ),
    ] {
        let sql = format!("SELECT {call} AS x FROM t");
        match run(&sql) {
            Err(error) => assert_eq!(error.code(), expected, "{sql}: {error}"),
            Ok(executed) => panic!("{sql}: {:?}", executed.outcome),
        }
    }
}

#[test]
fn a_row_that_changes_is_known_by_its_partition_too() {
    const KEYED: &str = "CREATE TABLE keyed (id INT NOT NULL, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) \
         WITH ('connector'='test', 'changelog'='all');";
    let sql =
        format!("{TABLES} {KEYED} EXPLAIN SELECT id, k, v, SUM(v) OVER (PARTITION BY k ORDER BY v) AS s FROM keyed");
    let Outcome::Text(text) = execute(&mut session(), &sql).unwrap().outcome else { panic!("no text") };
    assert!(text.contains("changelogMode=[I,UB,UA,D], upsertKeys=[(id, k)])\n"), "{text}");
}
