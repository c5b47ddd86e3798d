//! From SQL to EXPLAIN.

use crate::session::{Executed, Outcome};
use crate::test_support::{execute, session};
use base::Result;

const TABLES: &str = "
CREATE TABLE t (k STRING, v INT, item BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH ('connector'='test');
CREATE TABLE c (id INT, k STRING, v INT) WITH ('connector'='test', 'changelog'='all');
CREATE TABLE l (k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), p AS PROCTIME(),
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='test');
CREATE TABLE s1 (k STRING, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector'='test');
CREATE TABLE s2 (k STRING, v INT) WITH ('connector'='test');
CREATE TABLE pvuv (do_date STRING, do_min STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (do_date, do_min) NOT ENFORCED)
    WITH ('connector'='test');
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

fn assert_plan(sql: &str, expected: &str) {
    assert_eq!(explain(sql), expected, "{sql}");
}

fn assert_contains(sql: &str, parts: &[&str]) {
    let text = explain(sql);
    for part in parts {
        assert!(text.contains(part), "{sql}\n{text}\nlacks {part}");
    }
}

#[test]
fn having_filters_single_changes() {
    assert_plan(
        "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM c GROUP BY k HAVING SUM(v) > 10",
        "\
Sink(table=[result], fields=[k, n, s], changelogMode=[I,UB,UA,D])
   . delivery: at-least-once; rows are shown as they come
+- Exchange(distribution=[single])
   +- Calc(select=[k, COUNT(*) AS n, SUM(v) AS s], where=[SUM(v) > 10], changelogMode=[I,UB,UA,D], upsertKeys=[(k)])
      +- GroupAggregate(groupBy=[k], select=[k, COUNT(*), SUM(v)], changelogMode=[I,UB,UA,D], upsertKeys=[(k)])
            . state: one row of results per (k); kept for ever (setting: table.exec.state.ttl)
         +- Exchange(distribution=[hash[k]])
            +- LocalGroupAggregate(groupBy=[k], select=[COUNT(*), SUM(v)], changelogMode=[I,UB,UA,D])
               +- Scan(table=[c], fields=[k, v], bounded=[true], changelogMode=[I,UB,UA,D])
",
    );
}

#[test]
fn a_legacy_window_is_a_window_aggregate_without_naming_its_ends() {
    assert_contains(
        "SELECT COUNT(*) AS n FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
        &[
            "Sink(table=[result], fields=[n], changelogMode=[I])",
            "WindowAggregate(window=[TUMBLE(ts, 1 min)], select=[COUNT(*), window_start, window_end, window_time]",
            "allowed lateness 0; late rows are dropped and counted (settings: table.exec.emit.allow-lateness, \
             table.exec.emit.late-fire.enabled)",
            "Scan(table=[t], fields=[ts], watermark=[ts AS ts - INTERVAL '5' SECOND]",
        ],
    );
    assert_contains(
        "SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE) AS ws, TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS rt, SUM(v) AS s \
         FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), k",
        &[
            "Calc(select=[k, window_start AS ws, window_time AS rt, SUM(v) AS s], changelogMode=[I], upsertKeys=[(k, ws), (k, rt)])",
        ],
    );
}

#[test]
fn conditions_on_the_window_wait_for_its_result() {
    assert_contains(
        "SELECT window_start, SUM(v) AS s FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '1' MINUTE)) \
         WHERE window_start > TIMESTAMP '2024-01-01 00:00:00' AND v > 2 GROUP BY window_start, window_end",
        &[
            "where=[window_start > TIMESTAMP '2024-01-01 00:00:00']",
            "Calc(select=[v, ts], where=[v > 2]",
            // The start of a CUMULATE window does not tell which window it is.
            "upsertKeys=[(window_end)]",
        ],
    );
}

#[test]
fn one_end_of_a_window_is_a_plain_key() {
    assert_contains(
        "SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start",
        &[
            "GroupAggregate(groupBy=[window_start], select=[window_start, SUM(v)], changelogMode=[I,UB,UA]",
            "WindowTable(",
        ],
    );
}

#[test]
fn computed_columns_and_the_clock_belong_to_the_scan() {
    assert_plan(
        "SELECT ts, p, k FROM l",
        "\
Sink(table=[result], fields=[ts, p, k], changelogMode=[I])
   . delivery: at-least-once; rows are shown as they come
+- Exchange(distribution=[single])
   +- Calc(select=[ts, p, k], changelogMode=[I])
      +- Scan(table=[l], fields=[k, ts, p], watermark=[ts AS ts - INTERVAL '5' SECOND], bounded=[true], changelogMode=[I])
            . reads: k, ms
            . computes: TO_TIMESTAMP_LTZ(ms, 3) AS ts, PROCTIME() AS p
            . a silent split holds the watermark back (setting: table.exec.source.idle-timeout)
",
    );
    assert_contains(
        "SELECT k, CURRENT_TIMESTAMP AS now, CURRENT_WATERMARK(ts) AS w FROM t",
        &["select=[k, PROCTIME() AS now, CURRENT_WATERMARK("],
    );
    assert_contains(
        "SELECT * FROM (VALUES (1, CURRENT_TIMESTAMP), (2, CURRENT_TIMESTAMP)) AS x(a, b)",
        &["Union(", "Calc(select=[1 AS EXPR$0, PROCTIME() AS EXPR$1]"],
    );
}

#[test]
fn a_statement_set_reads_its_source_once() {
    let text = explain(
        "BEGIN STATEMENT SET; INSERT INTO s1 SELECT k, COUNT(*) FROM t GROUP BY k; \
         INSERT INTO s2 SELECT k, v FROM t WHERE v > 1; END",
    );
    assert_eq!(text.matches("Scan(").count(), 1, "{text}");
    assert!(text.contains("GroupAggregate(groupBy=[k], select=[k, COUNT(*)], changelogMode=[I,UA]"), "{text}");
    assert!(
        text.ends_with("+- Calc(select=[k, v], where=[v > 1], changelogMode=[I])\n   +- Reused(reference=[1])\n"),
        "{text}"
    );
}

#[test]
fn a_sink_key_wider_than_the_query_key_is_a_warning() {
    let executed = run("INSERT INTO pvuv SELECT do_date, DATE_FORMAT(access_time, 'HH:mm') AS do_min, pv, uv FROM \
         (SELECT k AS do_date, COUNT(item) AS pv, COUNT(DISTINCT item) AS uv, MAX(ts) AS access_time FROM t GROUP BY k)")
    .unwrap();
    let [warning] = executed.warnings.as_slice() else { panic!("{:?}", executed.warnings) };
    assert_eq!(warning.code(), "HW-P522");
    let text = warning.to_string();
    for part in ["pvuv", "(do_date, do_min)", "earlier", "tombstone", "GROUP BY k, DATE_FORMAT(ts, 'HH:mm')"] {
        assert!(text.contains(part), "{text}\nlacks {part}");
    }
    let Outcome::Text(text) = executed.outcome else { panic!() };
    assert!(text.starts_with(
        "Sink(table=[pvuv], fields=[do_date, do_min, pv, uv], primaryKey=[do_date, do_min], changelogMode=[I,UB,UA])"
    ));
}

#[test]
fn unions_cast_and_distinct_groups() {
    assert_contains(
        "SELECT k, v FROM t UNION ALL SELECT k, ms FROM l",
        &["Union(fields=[k, v]", "Calc(select=[k, CAST(v AS BIGINT) AS v]", "Calc(select=[k, ms AS v]"],
    );
    assert_contains(
        "SELECT DISTINCT k FROM t",
        &["GroupAggregate(groupBy=[k], select=[k], changelogMode=[I,UB,UA], upsertKeys=[(k)])"],
    );
    assert_contains(
        "SELECT COUNT(DISTINCT v) FILTER (WHERE v > 3) AS n FROM c",
        &["select=[COUNT(DISTINCT v) FILTER (WHERE v > 3)]", "Calc(select=[v, v > 3]"],
    );
}

#[test]
fn results_that_change_groups_are_retracted() {
    assert_contains(
        "SELECT n, COUNT(*) AS m FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) GROUP BY n",
        &[
            "GroupAggregate(groupBy=[n], select=[n, COUNT(*)], changelogMode=[I,UB,UA,D]",
            "GroupAggregate(groupBy=[k], select=[k, COUNT(*)], changelogMode=[I,UB,UA]",
        ],
    );
}

#[test]
fn constants_that_fail_are_left_to_the_running_job() {
    assert_contains("SELECT 1 / 0 AS x", &["Calc(select=[1 / 0 AS x]"]);
    assert_contains("SELECT * FROM (VALUES (1), (CAST('x' AS INT))) AS q(a)", &["Union"]);
}

#[test]
fn rows_of_a_union_can_be_counted_without_reading_a_column() {
    assert_contains("SELECT COUNT(*) AS n FROM (SELECT k FROM t UNION ALL SELECT k FROM s2)", &["Union", "COUNT(*)"]);
    assert_contains("SELECT COUNT(*) AS n FROM (SELECT 1 UNION ALL SELECT 2)", &["Union", "COUNT(*)"]);
    assert_contains("SELECT COUNT(*) AS n FROM t WHERE FALSE", &["COUNT(*)"]);
}

#[test]
fn a_key_that_follows_from_the_window_is_computed_behind_the_aggregate() {
    assert_contains(
        "SELECT DATE_FORMAT(window_start, 'HH:mm') AS m, COUNT(*) AS n \
         FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) \
         GROUP BY window_start, window_end, DATE_FORMAT(window_start, 'HH:mm')",
        &[
            "Calc(select=[DATE_FORMAT(window_start, 'HH:mm') AS m, COUNT(*) AS n]",
            "WindowAggregate(window=[TUMBLE(ts, 1 min)], select=[COUNT(*), window_start, window_end]",
        ],
    );
}

#[test]
fn a_word_that_is_no_function_here_is_a_column() {
    let sql = "CREATE TABLE orders (`user` STRING, v INT) WITH ('connector'='test'); EXPLAIN SELECT user, SUM(v) FROM orders \
               GROUP BY user";
    let Outcome::Text(text) = execute(&mut session(), sql).unwrap().outcome else { panic!() };
    assert!(text.contains("GroupAggregate(groupBy=[user], select=[user, SUM(v)]"), "{text}");
    let error = execute(&mut session(), "SELECT user, SUM(amount) FROM Orders GROUP BY user").unwrap_err();
    assert_eq!(error.argument("name"), Some("Orders"), "{error}");
}

const CHANGES: &str = "
CREATE TABLE users (id INT, item INT, op STRING METADATA FROM 'value.op' VIRTUAL, PRIMARY KEY (id) NOT ENFORCED)
    WITH ('connector'='test', 'changelog'='all');
CREATE TABLE unkeyed (id INT, item INT) WITH ('connector'='test', 'changelog'='all');
CREATE TABLE same (id INT, item INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='test');
CREATE TABLE wider (id INT, item INT, PRIMARY KEY (id, item) NOT ENFORCED) WITH ('connector'='test');
";

fn changes(sql: &str) -> (String, Vec<base::Error>) {
    let executed = execute(&mut session(), &format!("{CHANGES} EXPLAIN {sql}")).unwrap();
    match executed.outcome {
        Outcome::Text(text) => (text, executed.warnings),
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn a_changelog_with_a_key_reaches_a_sink_of_that_key_without_old_rows() {
    let (text, warnings) = changes("INSERT INTO same SELECT id, item FROM users");
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(
        text.starts_with("Sink(table=[same], fields=[id, item], primaryKey=[id], changelogMode=[I,UA,D])"),
        "{text}"
    );
    assert!(text.contains("key: (id) is a key of the query"), "{text}");
    assert!(text.contains("changelogMode=[I,UB,UA,D], upsertKeys=[(id)])"), "no normalisation: {text}");
    assert!(!text.contains("ChangelogNormalize"), "{text}");
}

#[test]
fn a_sink_key_with_more_columns_gets_old_rows_and_keeps_the_changes_of_a_source_key_together() {
    let (text, warnings) = changes("INSERT INTO wider SELECT id, item FROM users WHERE op IN ('c', 'u', 'd', 'r')");
    assert!(warnings.is_empty(), "a row of the source that moves is no surprise: {warnings:?}");
    assert!(
        text.starts_with("Sink(table=[wider], fields=[id, item], primaryKey=[id, item], changelogMode=[I,UB,UA,D])"),
        "{text}"
    );
    assert!(
        text.contains("the query has one row per (id), not per (id, item); the row with the earlier key is deleted")
    );
    assert!(text.contains("Exchange(distribution=[hash[id]])"), "{text}");
}

#[test]
fn a_source_without_a_key_is_explained() {
    let (text, warnings) = changes("INSERT INTO same SELECT id, item FROM unkeyed");
    assert!(warnings.is_empty(), "{warnings:?}");
    for part in
        ["SinkUpsertMaterializer(key=[id], changelogMode=[I,UA,D]", "state: all rows of a (id)", "kept for ever"]
    {
        assert!(text.contains(part), "{text}\nlacks {part}");
    }
    let (_, warnings) = changes("INSERT INTO same SELECT item, item FROM users");
    assert_eq!(warnings[0].code(), "HW-P526", "the query has lost the key");
}

#[test]
fn a_condition_on_the_operation_that_loses_the_snapshot_is_a_warning() {
    for (condition, warned) in [
        ("op IN ('c', 'u', 'd')", true),
        ("op = 'c'", true),
        ("op = 'c' OR op = 'u'", true),
        ("id > 3 AND op IN ('u')", true),
        ("op LIKE 'd'", true),
        ("op IN ('c', 'u', 'd', 'r')", false),
        ("op <> 'r'", false),
        ("op <> 'd'", false),
        ("op = 'r'", false),
        ("op IS NOT NULL", false),
        ("op = 'x'", false),
        ("id > 3", false),
    ] {
        let (_, warnings) = changes(&format!("INSERT INTO wider SELECT id, item FROM users WHERE {condition}"));
        let codes: Vec<&str> = warnings.iter().map(base::Error::code).collect();
        assert_eq!(codes, if warned { vec!["HW-P505"] } else { vec![] }, "{condition}");
    }
}

#[test]
fn watermark_options_of_a_table_reach_its_scan() {
    let table = |options: &str, watermark: &str| {
        let sql = format!(
            "CREATE TABLE w (ts TIMESTAMP(3){watermark}) WITH ('connector'='test', {options}); EXPLAIN SELECT ts FROM w"
        );
        execute(&mut session(), &sql).map(|executed| match executed.outcome {
            Outcome::Text(text) => text,
            other => panic!("{other:?}"),
        })
    };
    let clause = ", WATERMARK FOR ts AS ts";
    let text = table("'scan.watermark.idle-timeout'='7 s', 'scan.watermark.emit.strategy'='on-event'", clause).unwrap();
    assert!(text.contains("a split that is silent for 7 s does not hold the watermark back"), "{text}");
    let group = "'scan.watermark.alignment.group'='g', 'scan.watermark.alignment.max-drift'='30 s'";
    let text = table(group, clause).unwrap();
    assert!(text.contains("waits while it is more than 30 s ahead of the slowest source of group g"), "{text}");
    for (options, code) in [
        ("'scan.watermark.alignment.group'='g'", "HW-C002"),
        ("'scan.watermark.idle-timeout'='soon'", "HW-C003"),
        ("'scan.watermark.emit.strategy'='never'", "HW-C003"),
    ] {
        let error = table(options, clause).unwrap_err();
        assert_eq!(error.code(), code, "{options}");
        assert!(error.location().is_some());
    }
    let error = table("'scan.watermark.idle-timeout'='7 s'", "").unwrap_err();
    assert_eq!(error.code(), "HW-P058");
    assert!(error.to_string().contains("WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"), "{error}");
}
