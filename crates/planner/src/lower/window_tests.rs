//! Windows: sessions, early and late firing, Top-N, windows on windows, processing time. From SQL to EXPLAIN.

use crate::session::Outcome;
use crate::test_support::{execute, session};

const TABLES: &str = "
CREATE TABLE t (k STRING, u STRING, v INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector'='test');
CREATE TABLE c (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='test', 'changelog'='all');
CREATE VIEW tumbled AS SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE));
CREATE VIEW sessions AS SELECT * FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE));
CREATE VIEW sums AS SELECT k, window_start, window_end, SUM(v) AS s FROM tumbled GROUP BY k, window_start, window_end;
";

const LATE: &str = "SET 'table.exec.emit.late-fire.enabled' = 'true'; SET 'table.exec.emit.late-fire.delay' = '0 s';";
const EARLY: &str =
    "SET 'table.exec.emit.early-fire.enabled' = 'true'; SET 'table.exec.emit.early-fire.delay' = '5 s';";

/// EXPLAIN, or the code of the error.
fn plan(settings: &str, sql: &str) -> String {
    match execute(&mut session(), &format!("{TABLES} {settings} EXPLAIN {sql}")) {
        Err(error) => error.code().to_string(),
        Ok(executed) => match executed.outcome {
            Outcome::Text(text) => text,
            other => panic!("{sql}: {other:?}"),
        },
    }
}

fn assert_contains(settings: &str, sql: &str, parts: &[&str]) {
    let text = plan(settings, sql);
    for part in parts {
        assert!(text.contains(part), "{settings} {sql}\n{text}\nlacks {part}");
    }
}

#[test]
fn an_aggregate_takes_sessions_in_if_it_groups_by_their_keys() {
    let sum = |keys: &str| format!("SELECT SUM(v) AS s FROM sessions GROUP BY {keys}");
    for keys in ["k, window_start, window_end", "window_end, k, window_start, window_time"] {
        assert_contains(
            "",
            &sum(keys),
            &["WindowAggregate(groupBy=[k], window=[SESSION(ts, gap 1 min)]", "hash[k]", "changelogMode=[I]"],
        );
    }
    for keys in [
        "k, u, window_start, window_end",
        "window_start, window_end",
        "k, window_start",
        "UPPER(k), window_start, window_end",
    ] {
        let text = plan("", &sum(keys));
        assert!(text.contains("WindowTable(window=[SESSION") && text.contains("hash[k]"), "{keys}\n{text}");
        assert!(text.contains("\n") && text.contains("GroupAggregate(groupBy="), "{keys}\n{text}");
    }
}

#[test]
fn early_and_late_results_are_updates() {
    let legacy = "SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE) AS ws, SUM(v) AS s FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)";
    let function = "SELECT k, window_start, SUM(v) AS s FROM tumbled GROUP BY k, window_start, window_end";
    let late = format!("{LATE} SET 'table.exec.emit.allow-lateness' = '90 s';");
    for sql in [legacy, function] {
        assert_contains(
            &late,
            sql,
            &[
                "changelogMode=[I,UB,UA]",
                "dropped when the watermark is 90 s behind the end of the window",
                "allowed lateness 90 s; late rows correct the result, one per row; later ones are dropped and counted",
            ],
        );
        assert_contains(
            EARLY,
            sql,
            &["early results: at most one every 5 s before the end of the window", "allowed lateness 0", "[I,UB,UA]"],
        );
        assert_contains(
            "SET 'table.exec.emit.allow-lateness' = '90 s';",
            sql,
            &["allowed lateness 0", "changelogMode=[I]"],
        );
    }
    let changes = "SELECT SUM(v) AS s FROM c GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)";
    assert_contains(EARLY, changes, &["changelogMode=[I,UB,UA,D]"]);
    assert_contains(&format!("{LATE} SET 'table.exec.state.ttl' = '1 h';"), legacy, &["allowed lateness 1 h"]);
}

#[test]
fn emit_options_that_do_not_go_together_are_refused() {
    let tumble = "SELECT SUM(v) AS s FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)";
    let session = "SELECT SUM(v) AS s FROM t GROUP BY SESSION(ts, INTERVAL '1' MINUTE)";
    let delay = "SET 'table.exec.emit.late-fire.enabled' = 'true'; SET 'table.exec.emit.allow-lateness' = '1 min';";
    let short = "SET 'table.exec.emit.late-fire.enabled' = 'true'; SET 'table.exec.emit.late-fire.delay' = '2 min';
        SET 'table.exec.emit.allow-lateness' = '1 min';";
    for (settings, sql, code) in [
        (EARLY, session, "HW-P570"),
        (LATE, session, "HW-P570"),
        (delay, tumble, "HW-P571"),
        ("SET 'table.exec.emit.early-fire.enabled' = 'true';", tumble, "HW-P571"),
        (LATE, tumble, "HW-P572"),
        (short, tumble, "HW-P573"),
    ] {
        assert_eq!(plan(settings, sql), code, "{settings} {sql}");
    }
}

#[test]
fn windows_that_share_rows_keep_them_once() {
    let windows = |function: &str| {
        format!(
            "SELECT window_start, window_end, k, SUM(v) FROM TABLE({function}(TABLE t, DESCRIPTOR(ts), \
             INTERVAL '10' SECOND, INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k"
        )
    };
    let per_window = "state: one row of results per window and (k)";
    let per_pane = "state: one row of results per 10 s of rows and (k); dropped when the watermark reaches the end of the last \
                    window with them";
    for function in ["HOP", "CUMULATE"] {
        assert_contains("", &windows(function), &[per_pane]);
        assert_contains(EARLY, &windows(function), &[per_window]);
    }
}

fn top(from: &str, partition: &str, order: &str, condition: &str) -> String {
    let numbers = format!("SELECT *, ROW_NUMBER() OVER (PARTITION BY {partition} ORDER BY {order}) AS rn FROM {from}");
    format!("SELECT * FROM ({numbers}) WHERE {condition}")
}

#[test]
fn a_ranking_per_window_gives_final_rows() {
    let window = "window_start, window_end";
    assert_contains(
        "",
        &top("tumbled", &format!("{window}, k"), "v DESC", "rn BETWEEN 2 AND 3"),
        &[
            "WindowRank(window=[TUMBLE(win_start=[window_start], win_end=[window_end], size=[1 min])], \
             rankType=[ROW_NUMBER], rankRange=[rankStart=2, rankEnd=3], partitionBy=[k], orderBy=[v DESC]",
            "state: the best 3 rows per window and (k); dropped when the watermark reaches the end of the window",
            "changelogMode=[I]",
        ],
    );
    for (from, order, condition) in
        [("sums", "s DESC", "rn <= 1"), ("tumbled", "ts DESC", "rn = 1"), ("sessions", "v", "rn < 3")]
    {
        assert_contains("", &top(from, window, order, condition), &["WindowRank(window=["]);
    }
    let legacy = "(SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) AS window_start, TUMBLE_END(ts, INTERVAL '1' MINUTE) AS window_end, \
                  SUM(v) AS v FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE))";
    for (from, partition) in [("tumbled", "window_start"), ("tumbled", "window_end, k"), (legacy, window)] {
        let text = plan("", &top(from, partition, "v DESC", "rn <= 2"));
        assert!(text.contains(" Rank(strategy="), "{partition}\n{text}");
    }
    let changing = "TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '1' MINUTE))";
    assert_eq!(plan("", &top(changing, window, "v", "rn <= 2")), "HW-P574");
    assert_eq!(plan("", &top("tumbled", window, "v", "rn <= v")), "HW-P575");
}

#[test]
fn an_aggregate_over_windows_of_results_gives_final_rows() {
    let sum = |from: &str, keys: &str| format!("SELECT SUM(s) AS s FROM {from} GROUP BY {keys}");
    assert_contains(
        "",
        &sum("sums", "window_start, window_end"),
        &["WindowAggregate(window=[TUMBLE(window_end, 1 min)]"],
    );
    let ranked = format!("({})", top("sums", "window_start, window_end", "s DESC", "rn <= 2"));
    assert_contains(
        "",
        &sum(&ranked, "window_start, window_end"),
        &["WindowAggregate(window=[TUMBLE(window_end, 1 min)]"],
    );
    let text = plan("", &sum("sums", "window_start"));
    assert!(text.contains(" GroupAggregate(groupBy=[window_start]"), "{text}");
}

#[test]
fn windows_by_processing_time() {
    let zone = "SET 'table.local-time-zone' = 'Asia/Shanghai';";
    for sql in [
        "SELECT SUM(v) AS s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(p), INTERVAL '1' DAY)) GROUP BY window_start, window_end",
        "SELECT TUMBLE_PROCTIME(p, INTERVAL '1' DAY) AS p, SUM(v) AS s FROM t GROUP BY TUMBLE(p, INTERVAL '1' DAY)",
        "SELECT SUM(v) AS s FROM t GROUP BY SESSION(p, INTERVAL '1' DAY)",
    ] {
        assert_contains(zone, sql, &["dropped when the clock reaches", "give nothing", "changelogMode=[I]"]);
    }
    let rowtime = "SELECT TUMBLE_ROWTIME(p, INTERVAL '1' DAY) AS p FROM t GROUP BY TUMBLE(p, INTERVAL '1' DAY)";
    assert_eq!(plan("", rowtime), "HW-P576");
}
