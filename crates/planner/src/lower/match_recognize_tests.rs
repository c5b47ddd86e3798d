//! From MATCH_RECOGNIZE to EXPLAIN, and what is refused.

use crate::session::{Executed, Outcome};
use crate::test_support::{execute, session};
use base::Result;

const TABLES: &str = "
CREATE TABLE t (k STRING, v INT, n INT NOT NULL, ts TIMESTAMP(3), p AS PROCTIME(),
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='test');
CREATE TABLE c (k STRING, v INT, p AS PROCTIME()) WITH ('connector'='test', 'changelog'='all');
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

/// The clauses in a query; what is missing gets a default.
fn query(pattern: &str, define: &str, measures: &str, more: &str) -> String {
    format!(
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES {measures} ONE ROW PER MATCH {more} \
         PATTERN ({pattern}) WITHIN INTERVAL '1' HOUR DEFINE {define})"
    )
}

#[test]
fn explain_shows_the_clauses() {
    let text = explain(
        "SELECT k, s FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, n DESC \
         MEASURES FIRST(A.v) AS f, SUM(A.v) + B.n AS s, MATCH_ROWTIME() AS r \
         ONE ROW PER MATCH AFTER MATCH SKIP TO LAST B PATTERN (A+ B{1,2}?) WITHIN INTERVAL '30' MINUTE \
         DEFINE A AS LAST(A.v, 1) IS NULL OR A.v > LAST(A.v, 1), B AS B.v < A.v)",
    );
    for part in [
        "Match(partitionBy=[k], orderBy=[ts ASC, n DESC], measures=[FINAL(FIRST(A.v, 0)) AS f, FINAL(SUM(A.v) + B.n) AS s, \
         FINAL(MATCH_ROWTIME()) AS r], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP TO LAST B], \
         pattern=[A+ B{1,2}?], within=[30 min], define=[{A=LAST(A.v, 1) IS NULL OR A.v > LAST(A.v, 1), B=B.v < A.v}]",
        "a partial match is dropped when the watermark reaches ts of its first row + 30 min (WITHIN)",
        "late rows are dropped and counted",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_pattern_may_read_a_subquery_and_be_named() {
    let text = explain(
        "SELECT m.k, m.a FROM (SELECT * FROM t WHERE v > 3) MATCH_RECOGNIZE (PARTITION BY k ORDER BY p MEASURES A.v AS a \
         AFTER MATCH SKIP TO B PATTERN (A B) WITHIN INTERVAL '1' HOUR DEFINE A AS v < 9) AS m",
    );
    assert!(text.contains("orderBy=[PROCTIME ASC]") && text.contains("after=[SKIP TO LAST B]"), "{text}");
}

#[test]
fn without_within_there_is_a_warning() {
    let codes = |sql: &str| {
        let executed = run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        executed.warnings.iter().map(|warning| warning.code()).collect::<Vec<_>>()
    };
    let bounded = query("A B", "A AS A.v > 1", "A.v AS a", "");
    assert!(!codes(&bounded).contains(&"HW-P642"));
    assert!(codes(&bounded.replace("WITHIN INTERVAL '1' HOUR", "")).contains(&"HW-P642"));
}

#[test]
fn what_flink_refuses_is_refused_by_name() {
    let of_pattern = |pattern: &str| query(pattern, "A AS A.v > 1", "FIRST(A.v) AS a", "");
    let of_measure = |measure: &str| query("A B", "A AS A.v > 1", &format!("{measure} AS a"), "");
    let of_condition = |define: &str| query("A B", define, "A.v AS a", "");
    let good = of_measure("A.v");
    let cases = [
        (of_pattern("A | B"), "HW-P630"),
        (of_pattern("PERMUTE(A, B)"), "HW-P630"),
        (of_pattern("A {- B -} C"), "HW-S013"),
        (of_pattern("^ A B"), "HW-P630"),
        (of_pattern("A (B C)+ D"), "HW-P630"),
        (of_pattern("A B?? C"), "HW-P630"),
        (of_pattern("A B*"), "HW-P631"),
        (of_pattern("A B{1,2}"), "HW-P631"),
        (of_pattern("A? B?"), "HW-P632"),
        (of_pattern("A*?"), "HW-P632"),
        (of_pattern("A B A"), "HW-P633"),
        (of_pattern("A B+ C? D"), "HW-P634"),
        (of_pattern("A B{0}"), "HW-P641"),
        (of_pattern("A B{3,2} C"), "HW-P641"),
        (good.replace("ORDER BY ts", "ORDER BY v"), "HW-P635"),
        (good.replace("ORDER BY ts", "ORDER BY ts DESC"), "HW-P635"),
        (good.replace("ORDER BY ts", ""), "HW-P635"),
        (good.replace("FROM t", "FROM (SELECT k, v, ts + INTERVAL '1' SECOND AS ts FROM t)"), "HW-P635"),
        (good.replace("ONE ROW", "ALL ROWS"), "HW-P630"),
        (good.replace("PER MATCH", "PER MATCH AFTER MATCH SKIP TO FIRST Z"), "HW-P636"),
        (good.replace("INTERVAL '1' HOUR", "INTERVAL '1' MONTH"), "HW-P639"),
        (good.replace("MEASURES A.v AS a", ""), "HW-P630"),
        (of_measure("Z.v"), "HW-P636"),
        (of_measure("SUM(A.v + B.v)"), "HW-P637"),
        (of_measure("COUNT(DISTINCT A.v)"), "HW-P630"),
        (of_measure("CLASSIFIER()"), "HW-P630"),
        (of_measure("FIRST(LAST(A.v, 2))"), "HW-P630"),
        (of_measure("LAST(A.v, A.n)"), "HW-P630"),
        (of_condition("A AS A.v > PREV(A.v)"), "HW-P640"),
        (of_condition("A AS A.v > NEXT(A.v, 2)"), "HW-P640"),
        (good.replace("FROM t", "FROM c").replace("ORDER BY ts", "ORDER BY p"), "HW-P638"),
    ];
    for (sql, code) in cases {
        let error = run(&sql).err().unwrap_or_else(|| panic!("{sql}: accepted"));
        assert_eq!(error.code(), code, "{sql}: {error}");
    }
    run(&good).expect("the query is right but for what is changed");
}
