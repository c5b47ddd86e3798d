//! Top-N, deduplication, ORDER BY and LIMIT: from SQL to EXPLAIN.

use crate::session::Outcome;
use crate::test_support::{execute, session};

const TABLES: &str = "
CREATE TABLE t (k STRING, v INT, n BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH ('connector'='test');
CREATE TABLE c (id INT, k STRING, v INT) WITH ('connector'='test', 'changelog'='all');
CREATE TABLE pk (id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='test', 'changelog'='all');
CREATE VIEW top AS SELECT k, v FROM t ORDER BY v DESC LIMIT 2;
CREATE TABLE s (k STRING, v INT) WITH ('connector'='test');
";

/// The line of the operator in EXPLAIN, the uppermost one if there are several, or the code of the error.
fn plan(sql: &str, operator: &str) -> String {
    match execute(&mut session(), &format!("{TABLES} EXPLAIN {sql}")) {
        Err(error) => error.code().to_string(),
        Ok(executed) => {
            let Outcome::Text(text) = executed.outcome else { panic!("{sql}: no text") };
            let line = text.lines().map(|line| line.trim_start_matches([' ', '+', '-', ':']));
            let found: Vec<&str> = line.filter(|line| line.starts_with(&format!("{operator}("))).collect();
            assert!(!found.is_empty(), "{sql}\n{text}\nhas no {operator}");
            found[0].to_string()
        }
    }
}

fn ranked(condition: &str) -> String {
    let numbers = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM t";
    plan(&format!("SELECT k, v, rn FROM ({numbers}) WHERE {condition}"), "Rank")
}

fn range(condition: &str) -> String {
    let plan = ranked(condition);
    plan.split_once("rankRange=[")
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or(plan.clone(), |(range, _)| range.into())
}

#[test]
fn every_way_to_bound_the_number_is_a_range() {
    for (condition, expected) in [
        ("rn <= 3", "rankStart=1, rankEnd=3"),
        ("rn < 3", "rankStart=1, rankEnd=2"),
        ("rn <= 2.5", "rankStart=1, rankEnd=2"),
        ("rn < 2.5", "rankStart=1, rankEnd=2"),
        ("rn < 2.0", "rankStart=1, rankEnd=1"),
        ("2.5E0 >= rn AND rn > 1.5", "rankStart=2, rankEnd=2"),
        ("rn >= 1.5 AND rn <= 3", "rankStart=2, rankEnd=3"),
        ("3 >= rn", "rankStart=1, rankEnd=3"),
        ("4 > rn AND v > 3", "rankStart=1, rankEnd=3"),
        ("rn BETWEEN 2 AND 4", "rankStart=2, rankEnd=4"),
        ("rn > 1 AND rn <= 4 AND rn <= 3", "rankStart=2, rankEnd=3"),
        ("rn = 2", "rankStart=2, rankEnd=2"),
        ("rn <= n", "rankStart=1, rankEnd=n"),
        ("rn < n", "rankStart=1, rankEnd=n"),
        ("rn <= v AND rn <= 5", "rankStart=1, rankEnd=5"),
        ("rn >= 2", "HW-P541"),
        ("rn <= 0", "HW-P542"),
    ] {
        assert_eq!(range(condition), expected, "{condition}");
    }
}

#[test]
fn the_number_is_a_column_only_where_it_is_read() {
    let shown = ranked("rn <= 3");
    assert_eq!(
        shown,
        "Rank(strategy=[AppendFastStrategy], rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=3], partitionBy=[k], \
         orderBy=[v DESC], select=[k, v, rn], changelogMode=[I,UB,UA], upsertKeys=[(k, rn)])"
    );
    let numbers = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM t";
    let hidden = plan(&format!("SELECT v FROM (SELECT k, v, rn AS r FROM ({numbers})) AS x WHERE r <= 3"), "Rank");
    assert!(hidden.contains("select=[k, v], changelogMode=[I,D]"), "{hidden}");
    // A single number is known.
    let constant = plan(&format!("SELECT k, rn FROM ({numbers}) WHERE rn = 1"), "Calc");
    assert!(constant.starts_with("Calc(select=[k, 1 AS rn]"), "{constant}");
    // What else the filter says stays above.
    let filtered = plan(&format!("SELECT k, v, rn FROM ({numbers}) WHERE rn <= 3 AND v > 1"), "Calc");
    assert!(filtered.contains("where=[v > 1]"), "{filtered}");
}

#[test]
fn a_filter_on_the_number_needs_no_subquery() {
    let window = "ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC)";
    let direct = plan(&format!("SELECT k, v FROM t QUALIFY {window} <= 2"), "Rank");
    assert!(direct.contains("rankEnd=2], partitionBy=[k], orderBy=[v DESC], select=[k, v], "), "{direct}");
    let named = plan(&format!("SELECT k, {window} AS rn FROM t QUALIFY rn <= 2"), "Rank");
    assert!(named.contains("select=[k, v, rn], "), "{named}");
}

#[test]
fn the_strategy_follows_from_the_input() {
    let strategy = |input: &str, order: &str| {
        let sql = format!(
            "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) AS rn FROM ({input})) WHERE rn <= 2"
        );
        let plan = plan(&sql, "Rank");
        plan.split_once("strategy=[")
            .and_then(|(_, rest)| rest.split_once("], "))
            .map_or(plan.clone(), |(one, _)| one.into())
    };
    let counts = "SELECT k, v, COUNT(*) AS c, MAX(n) AS m, MIN(n) AS l, SUM(n) AS s FROM t GROUP BY k, v";
    assert_eq!(strategy("SELECT k, v FROM t", "v"), "AppendFastStrategy");
    assert_eq!(strategy("SELECT k, v FROM c", "v"), "RetractStrategy");
    for (order, expected) in [
        ("c DESC", "UpdateFastStrategy[0,1]"),
        ("m DESC, v", "UpdateFastStrategy[0,1]"),
        ("c", "RetractStrategy"),
        ("s DESC", "RetractStrategy"),
        // NULL is the lowest value: the first number makes a group worse.
        ("l", "RetractStrategy"),
        ("c + 1 DESC", "RetractStrategy"),
    ] {
        assert_eq!(strategy(counts, order), expected, "{order}");
    }
    assert_eq!(strategy("SELECT k, id, COUNT(*) AS c FROM c GROUP BY k, id", "c DESC"), "RetractStrategy");
    // The partition is no part of the key: a row can leave it.
    assert_eq!(strategy("SELECT MAX(k) AS k, v, COUNT(*) AS c FROM t GROUP BY v", "c DESC"), "RetractStrategy");
    let filtered = format!("SELECT * FROM ({counts}) WHERE c > 1");
    assert_eq!(strategy(&filtered, "c DESC"), "RetractStrategy");
}

#[test]
fn one_row_by_time_is_a_deduplication() {
    let one = |order: &str, operator: &str| {
        plan(
            &format!(
                "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) AS rn FROM t) WHERE rn = 1"
            ),
            operator,
        )
    };
    let modes = "upsertKeys=[(k)])";
    for (order, expected) in [
        ("ts", "Deduplicate(keep=[FirstRow], key=[k], order=[ROWTIME], changelogMode=[I], "),
        ("ts DESC", "Deduplicate(keep=[LastRow], key=[k], order=[ROWTIME], changelogMode=[I,UB,UA], "),
        ("p", "Deduplicate(keep=[FirstRow], key=[k], order=[PROCTIME], changelogMode=[I], "),
        ("p DESC", "Deduplicate(keep=[LastRow], key=[k], order=[PROCTIME], changelogMode=[I,UB,UA], "),
    ] {
        assert_eq!(one(order, "Deduplicate"), format!("{expected}{modes}"), "{order}");
    }
    assert!(one("ts DESC, v", "Rank").contains("orderBy=[ts DESC, v ASC]"));
}

#[test]
fn limits_are_rankings_of_all_rows() {
    assert_eq!(
        plan("SELECT k, v FROM t ORDER BY v DESC LIMIT 2", "SortLimit"),
        "SortLimit(orderBy=[v DESC], offset=[0], fetch=[2], strategy=[AppendFastStrategy], changelogMode=[I,D])"
    );
    let fetch = "SELECT id FROM pk ORDER BY v OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY";
    assert!(
        plan(fetch, "SortLimit")
            .starts_with("SortLimit(orderBy=[v ASC], offset=[1], fetch=[2], strategy=[RetractStrategy]")
    );
    assert_eq!(
        plan("SELECT k FROM t LIMIT 3 OFFSET 1", "Limit"),
        "Limit(offset=[1], fetch=[3], strategy=[AppendFastStrategy], changelogMode=[I])"
    );
    assert!(plan("SELECT v, k FROM t ORDER BY 2 LIMIT 1", "SortLimit").contains("orderBy=[k ASC]"));
    assert!(plan("SELECT COUNT(*) AS n FROM top WHERE v > 1", "SortLimit").contains("fetch=[2]"));
    assert!(
        plan("INSERT INTO s SELECT k, v FROM t ORDER BY v + n NULLS LAST LIMIT 1", "SortLimit").contains("NULLS LAST")
    );
    assert!(plan("SELECT k, v FROM t LIMIT 0", "Values").contains("rows=[0]"));
    for (sql, code) in [
        ("SELECT k FROM t OFFSET 2 ROWS", "HW-P543"),
        ("SELECT k FROM t ORDER BY v OFFSET 2 ROWS", "HW-P543"),
        ("SELECT k FROM t ORDER BY 2 LIMIT 1", "HW-P547"),
    ] {
        assert_eq!(plan(sql, "Limit"), code, "{sql}");
    }
}

#[test]
fn an_order_without_an_end_is_one_of_time() {
    assert_eq!(
        plan("SELECT k, ts FROM t ORDER BY ts, k DESC", "TemporalSort"),
        "TemporalSort(orderBy=[ts ASC, k DESC], changelogMode=[I])"
    );
    assert!(plan("SELECT k FROM t ORDER BY p", "TemporalSort").contains("orderBy=[PROCTIME ASC]"));
    for (sql, code) in [
        ("SELECT * FROM t ORDER BY v", "HW-P545"),
        ("SELECT * FROM t ORDER BY ts DESC", "HW-P545"),
        ("INSERT INTO s SELECT k, v FROM t ORDER BY v", "HW-P545"),
        ("SELECT k, COUNT(*) AS c FROM t GROUP BY k ORDER BY k", "HW-P545"),
    ] {
        assert_eq!(plan(sql, "TemporalSort"), code, "{sql}");
    }
    // A subquery that gives all its rows has no order.
    assert!(plan("SELECT k FROM (SELECT k, v FROM t ORDER BY v) WHERE v > 1", "Calc").contains("where=[v > 1]"));
}

#[test]
fn ranks_with_ties_have_no_end() {
    for function in ["RANK", "DENSE_RANK"] {
        let sql =
            format!("SELECT k FROM (SELECT k, {function}() OVER (PARTITION BY k ORDER BY v) AS r FROM t) WHERE r <= 2");
        assert_eq!(plan(&sql, "Rank"), "HW-P540");
    }
}

#[test]
fn keys_hold_the_partition_of_the_row() {
    let numbers = "SELECT id, k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM pk";
    assert!(
        plan(&format!("SELECT id, k, v FROM ({numbers}) WHERE rn <= 2"), "Rank").ends_with("upsertKeys=[(id, k)])")
    );
    assert!(plan(&format!("SELECT id, k, v FROM ({numbers}) WHERE rn <= 1"), "Rank").ends_with("upsertKeys=[(k)])"));
    // Rows move through ranks that nobody sees: their key tells nothing.
    let moving = plan(&format!("SELECT id, k, v FROM ({numbers}) WHERE rn BETWEEN 2 AND 3"), "Rank");
    assert!(moving.ends_with("changelogMode=[I,UB,UA,D])"), "{moving}");
}
