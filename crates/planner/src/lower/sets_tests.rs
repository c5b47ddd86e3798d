//! Grouping sets, UNNEST, set operations and the phases of aggregates: from SQL to EXPLAIN.

use crate::session::Outcome;
use crate::test_support::{execute, session};

const TABLES: &str = "
CREATE TABLE t (id INT NOT NULL, k STRING, v INT NOT NULL, a ARRAY<INT>, m MAP<STRING, INT>, r ARRAY<ROW<x INT, y STRING>>,
    PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='test', 'changelog'='all');
CREATE TABLE f (k STRING, v DOUBLE, d DECIMAL(10, 2)) WITH ('connector'='test');
";

/// EXPLAIN, or the code of the error.
fn explain(settings: &str, sql: &str) -> String {
    match execute(&mut session(), &format!("{settings} {TABLES} EXPLAIN {sql}")) {
        Err(error) => error.code().to_string(),
        Ok(executed) => match executed.outcome {
            Outcome::Text(text) => text,
            other => panic!("{sql}: {other:?}"),
        },
    }
}

fn assert_contains(settings: &str, sql: &str, parts: &[&str]) {
    let text = explain(settings, sql);
    for part in parts {
        assert!(text.contains(part), "{sql}\n{text}\nlacks {part}");
    }
}

#[test]
fn sets_stand_in_the_order_of_their_numbers() {
    assert_contains(
        "",
        "SELECT k, v, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY GROUPING SETS ((), (v), k, (k, v))",
        &[
            "GroupAggregate(groupBy=[v, k, $e]",
            "{v, v, k, 0 AS $e}, {v, v, null AS k, 1 AS $e}, {v, null AS v, k, 2 AS $e}, {v, null AS v, null AS k, 3 AS $e}",
        ],
    );
}

#[test]
fn one_set_is_a_plain_group() {
    let plain = explain("", "SELECT k, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((k))");
    assert!(plain.contains("GroupAggregate(groupBy=[k]") && !plain.contains("Expand"), "{plain}");
    let all = explain("", "SELECT COUNT(*) AS n FROM t GROUP BY ()");
    assert!(!all.contains("groupBy") && !all.contains("Expand"), "{all}");
}

#[test]
fn what_cannot_be_grouped_is_refused() {
    for (sql, code) in [
        ("SELECT k, COUNT(*) FROM t GROUP BY GROUPING SETS ((k), (k))", "HW-I002"),
        ("SELECT k, COUNT(*) FROM t GROUP BY GROUPING SETS (ROLLUP (k), CUBE (v))", "HW-I002"),
        ("SELECT GROUPING(v), COUNT(*) FROM t GROUP BY k", "HW-P075"),
        ("SELECT GROUPING(v), COUNT(*) FROM t GROUP BY CUBE (k)", "HW-P075"),
        ("SELECT GROUPING_ID(k) FROM t", "HW-P075"),
        ("SELECT x FROM t CROSS JOIN UNNEST(k) AS u(x)", "HW-P076"),
        ("SELECT k, COUNT(*) FROM t WHERE GROUPING(k) = 1 GROUP BY CUBE (k)", "HW-P314"),
        ("SELECT x FROM t RIGHT JOIN UNNEST(a) AS u(x) ON TRUE", "HW-I002"),
        ("SELECT x FROM t CROSS JOIN UNNEST(a) AS u(x, y)", "HW-P048"),
        ("SELECT x FROM t, LATERAL TABLE(split(k)) AS u(x)", "HW-P061"),
        ("SELECT k FROM t MINUS SELECT k FROM f", "HW-I002"),
        ("SELECT k FROM t INTERSECT SELECT d FROM f", "HW-P045"),
    ] {
        assert_eq!(explain("", sql), code, "{sql}");
    }
}

#[test]
fn positions_and_map_keys_tell_elements_apart() {
    assert_contains(
        "",
        "SELECT id, x, o FROM t CROSS JOIN UNNEST(a) WITH ORDINALITY AS u(x, o)",
        &["Correlate(correlate=[UNNEST(a) WITH ORDINALITY], joinType=[INNER]", "upsertKeys=[(id, o)]"],
    );
    assert_contains("", "SELECT id, k2, v2 FROM t CROSS JOIN UNNEST(m) AS u(k2, v2)", &["upsertKeys=[(id, k2)]"]);
    let array = explain("", "SELECT id, x FROM t CROSS JOIN UNNEST(a) AS u(x)");
    assert!(!array.contains("x)]"), "{array}");
    assert_contains(
        "",
        "SELECT id, x FROM t LEFT JOIN UNNEST(r) AS u(x, y) ON x > v",
        &["joinType=[LEFT], where=[x > v]", "fields=[id, v, r]"],
    );
}

#[test]
fn a_filter_on_the_row_passes_below_unnest() {
    let text = explain("", "SELECT id, x FROM t CROSS JOIN UNNEST(a) AS u(x) WHERE id > 3 AND x > 1");
    let above = text.find("where=[x > 1]").expect("a filter on the element");
    let unnest = text.find("Correlate").expect("UNNEST");
    let below = text.find("where=[id > 3]").expect("a filter on the row");
    assert!(above < unnest && unnest < below, "{text}");
}

#[test]
fn a_lateral_subquery_is_a_join() {
    assert_contains(
        "",
        "SELECT t.id, q.d FROM t, LATERAL (SELECT d FROM f WHERE f.k = t.k) AS q",
        &["Join(joinType=[InnerJoin]", "k = k"],
    );
    assert_contains(
        "",
        "SELECT t.id, q.m FROM t LEFT JOIN LATERAL (SELECT MAX(d) AS m FROM f WHERE f.k = t.k) AS q ON TRUE",
        &["Join(joinType=[LeftOuterJoin]", "GroupAggregate(groupBy=[k]"],
    );
    assert_contains(
        "",
        "SELECT t.id, q.n FROM t, LATERAL (SELECT COUNT(*) AS n FROM f WHERE f.k = t.k) AS q",
        &["Join(joinType=[LeftOuterJoin]", "GroupAggregate(groupBy=[k]", "THEN 0"],
    );
    assert_contains("", "SELECT t.id, l.n FROM t, LATERAL (SELECT t.id * 10 AS n) AS l", &["id * 10 AS n"]);
}

#[test]
fn an_order_in_a_correlated_subquery_is_one_per_outer_value() {
    let top = "FROM t, LATERAL (SELECT d FROM f WHERE f.k = t.k ORDER BY d DESC LIMIT 3) AS q";
    let number = "ROW_NUMBER() OVER (ORDER BY d DESC) AS n FROM f WHERE f.k = t.k";
    for sql in [
        format!("SELECT t.id, q.d {top}"),
        format!("SELECT t.id, q.d FROM t, LATERAL (SELECT d FROM (SELECT d, {number}) WHERE n <= 3) AS q"),
        format!("SELECT t.id FROM t WHERE id IN (SELECT d FROM (SELECT d, {number}) WHERE n <= 3)"),
        "SELECT id, (SELECT d FROM f WHERE f.k = t.k ORDER BY d DESC LIMIT 1) FROM t".to_string(),
    ] {
        assert_contains("", &sql, &["Rank(", "partitionBy=[k]", "orderBy=[d DESC]"]);
    }
    for condition in ["f.k < t.k", "f.k = t.k AND f.d > t.id"] {
        let sql = format!("SELECT t.id, q.d {}", top.replace("f.k = t.k", condition));
        assert_eq!(explain("", &sql), "HW-I002", "{sql}");
    }
    let any = "SELECT t.id, q.d FROM t, LATERAL (SELECT d FROM f WHERE f.k = t.k LIMIT 3) AS q";
    assert_eq!(explain("", any), "HW-I002");
}

#[test]
fn rows_of_both_sides_are_counted_for_all() {
    assert_contains("", "SELECT k FROM t EXCEPT ALL SELECT k FROM f", &["Replicate(count=[", "SUM($left)", "Union("]);
    assert_contains("", "SELECT k FROM t INTERSECT ALL SELECT k FROM f", &["Replicate(count=[", "COUNT($right)"]);
    let plain = explain("", "SELECT k FROM t INTERSECT SELECT k FROM f");
    assert!(!plain.contains("Replicate") && plain.contains("LeftSemiJoin"), "{plain}");
}

const TWO: &str = "SET 'table.optimizer.agg-phase-strategy' = 'TWO_PHASE';";

#[test]
fn a_first_phase_stands_where_it_changes_nothing() {
    let sum = "SELECT k, SUM(d) AS s, MAX(d) AS m FROM f GROUP BY k";
    assert_contains("", sum, &["LocalGroupAggregate(groupBy=[k], select=[SUM(d), MAX(d)]"]);
    for (settings, sql) in [
        ("SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';", sum),
        ("SET 'parallelism.default' = '1';", sum),
        ("SET 'highwater.batch-rows' = '1';", sum),
        // Sums of DOUBLE depend on the order.
        (TWO, "SELECT k, SUM(v) AS s FROM f GROUP BY k"),
        (TWO, "SELECT k, LISTAGG(k) AS s FROM f GROUP BY k"),
        ("", "SELECT k, COUNT(DISTINCT d) AS n FROM f GROUP BY k"),
        ("", "SELECT k, MAX(v) AS m FROM t GROUP BY k"),
        // The rows of a group are together already.
        (TWO, "SELECT k, COUNT(*) AS n FROM (SELECT k, d, COUNT(*) AS c FROM f GROUP BY k, d) GROUP BY k, d"),
    ] {
        let text = explain(settings, sql);
        let firsts = text.matches("LocalGroupAggregate").count();
        assert!(firsts <= usize::from(sql.contains("AS c")), "{settings} {sql}\n{text}");
    }
    assert_contains(TWO, "SELECT k, COUNT(DISTINCT v) AS n, MIN(v) AS m FROM t GROUP BY k", &["LocalGroupAggregate"]);
}

#[test]
fn distinct_values_are_counted_in_parts_if_that_is_wanted() {
    const SPLIT: &str = "SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
        SET 'table.optimizer.distinct-agg.split.bucket-num' = '16';";
    let count = "SELECT k, COUNT(DISTINCT d) AS n, COUNT(*) AS c, MAX(d) AS m FROM f GROUP BY k";
    assert_contains(SPLIT, count, &["groupBy=[k, $PART(d)]", "SUM0(COUNT(DISTINCT d))", "MAX(MAX(d))"]);
    for sql in [
        "SELECT k, COUNT(DISTINCT d) AS n, AVG(d) AS c FROM f GROUP BY k",
        "SELECT k, COUNT(DISTINCT d) AS n, COUNT(DISTINCT v) AS c FROM f GROUP BY k",
        "SELECT k, COUNT(DISTINCT k) AS n FROM f GROUP BY k",
        "SELECT k, COUNT(DISTINCT d) AS n, SUM(v) AS s FROM f GROUP BY k",
    ] {
        let text = explain(SPLIT, sql);
        assert!(!text.contains("$PART"), "{sql}\n{text}");
    }
    assert!(!explain("", count).contains("$PART"));
    let none = "SET 'table.optimizer.distinct-agg.split.enabled' = 'true'; \
                SET 'table.optimizer.distinct-agg.split.bucket-num' = '0';";
    assert!(explain(none, count).starts_with("HW-"), "{}", explain(none, count));
}
