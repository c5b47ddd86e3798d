//! Joins in time, from SQL to EXPLAIN.

use crate::session::Outcome;
use crate::test_support::{execute, session};
use base::Error;
use base::plan::{NodeKind, StreamPlan};

const TABLES: &str = "
CREATE TABLE a (id INT, x INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector'='test');
CREATE TABLE b (id INT, y INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector'='test');
CREATE TABLE c (id INT, z INT, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts)
  WITH ('connector'='test', 'changelog'='all');
CREATE TABLE u (id BIGINT, z INT, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts)
  WITH ('connector'='test', 'changelog'='upsert');
CREATE TABLE dim (id BIGINT, name STRING, city STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector'='test', 'lookup'='true');
CREATE VIEW v AS SELECT id, y, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS n FROM b) WHERE n = 1;
CREATE VIEW aw AS SELECT * FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE));
CREATE VIEW bw AS SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '1' MINUTE));
CREATE VIEW bh AS SELECT * FROM TABLE(HOP(TABLE b, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE));
";

fn outcome(sql: &str) -> Result<(Outcome, Vec<Error>), Error> {
    execute(&mut session(), &format!("{TABLES} {sql}")).map(|executed| (executed.outcome, executed.warnings))
}

fn plan(sql: &str) -> StreamPlan {
    match outcome(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).0 {
        Outcome::Job(job) => job.plan,
        other => panic!("{sql}: {other:?}"),
    }
}

fn assert_contains(sql: &str, parts: &[&str]) {
    let text = match outcome(&format!("EXPLAIN {sql}")).unwrap_or_else(|error| panic!("{sql}: {error}")).0 {
        Outcome::Text(text) => text,
        other => panic!("{sql}: {other:?}"),
    };
    for part in parts {
        assert!(text.contains(part), "{sql}\n{text}\nlacks {part}");
    }
}

fn code(sql: &str) -> &'static str {
    outcome(sql).expect_err(sql).code()
}

/// The bounds of an interval join in milliseconds, and whether there is more to its condition; `None` for another join.
fn bounds(condition: &str) -> Option<(i64, i64, bool)> {
    let sql = format!("SELECT x, y FROM a JOIN b ON a.id = b.id AND {condition}");
    plan(&sql).nodes.into_iter().find_map(|node| match node.kind {
        NodeKind::IntervalJoin(join) => Some((join.lower_ms, join.upper_ms, join.condition.is_some())),
        _ => None,
    })
}

#[test]
fn comparisons_of_times_are_bounds() {
    let minute = 60_000;
    for (condition, expected) in [
        ("a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts + INTERVAL '2' MINUTE", Some((-minute, 2 * minute, false))),
        ("a.ts > b.ts - INTERVAL '1' MINUTE AND a.ts < b.ts", Some((1 - minute, -1, false))),
        ("b.ts <= a.ts AND b.ts + INTERVAL '1' MINUTE >= a.ts", Some((0, minute, false))),
        (
            "a.ts - INTERVAL '1' MINUTE < b.ts AND b.ts <= a.ts + INTERVAL '1' MINUTE AND x < y",
            Some((-minute, minute - 1, true)),
        ),
        ("a.ts = b.ts", Some((0, 0, false))),
        ("a.ts = b.ts + INTERVAL '1' MINUTE", Some((minute, minute, false))),
        ("TIMESTAMPADD(MINUTE, 1, a.ts) >= b.ts AND a.ts <= b.ts", Some((-minute, 0, false))),
        ("a.pt BETWEEN b.pt - INTERVAL '1' MINUTE AND b.pt", Some((-minute, 0, false))),
        // One direction only, a bound too many, a length that differs from month to month, different times.
        ("a.ts >= b.ts - INTERVAL '1' MINUTE", None),
        ("a.ts >= b.ts AND a.ts >= b.ts - INTERVAL '1' MINUTE AND a.ts <= b.ts", None),
        ("a.ts BETWEEN b.ts - INTERVAL '1' MONTH AND b.ts", None),
        ("a.ts >= b.ts AND a.pt <= b.pt", None),
        ("a.ts >= b.ts AND a.ts <= a.ts + INTERVAL '1' MINUTE", None),
    ] {
        assert_eq!(bounds(condition), expected, "{condition}");
    }
}

#[test]
fn an_interval_join_says_what_it_keeps() {
    assert_contains(
        "SELECT x, y FROM a LEFT JOIN b ON a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR AND x < y",
        &[
            "IntervalJoin(joinType=[LeftOuterJoin], windowBounds=[isRowTime=true, leftLowerBound=-3600000, leftUpperBound=0, \
             leftTimeIndex=2, rightTimeIndex=2], where=[(id = id0) AND (ts >= ts0 - 1 h) AND (ts <= ts0 + 0 ms) AND x < y]",
            "state of the left side: the rows per (id), each until the watermark passes ts + 1 h",
            "state of the right side: the rows per (id), each until the watermark passes ts + 0 ms",
            "left rows without a partner are given when they leave the state",
            "the watermark behind the join is 1 h earlier",
        ],
    );
    let changing = "SELECT x FROM a JOIN c ON a.id = c.id AND a.ts BETWEEN c.ts - INTERVAL '1' MINUTE AND c.ts";
    assert_eq!(code(changing), "HW-P550");
}

#[test]
fn versions_are_all_rows_of_a_key() {
    assert_contains(
        "SELECT x, z FROM a LEFT JOIN c FOR SYSTEM_TIME AS OF a.ts AS c ON a.id = c.id AND x < z",
        &[
            "TemporalJoin(joinType=[LeftOuterJoin], where=[(id = id0) AND (ts0 AS OF ts) AND x < z]",
            "state of the left side: the rows per (id) until the watermark reaches ts",
            "state of the right side: the versions per (id), each until the watermark reaches the ts of the next one",
            "rows wait for the slower side",
        ],
    );
    let kinds = |sql: &str| -> Vec<&'static str> { reached(&plan(sql)) };
    // What keeps the last row only, and what knows old rows, is left out.
    assert_eq!(
        kinds("SELECT x, y FROM a JOIN v FOR SYSTEM_TIME AS OF a.ts ON a.id = v.id"),
        ["source", "source", "temporal join"]
    );
    assert!(
        !kinds("SELECT x, z FROM a JOIN u FOR SYSTEM_TIME AS OF a.ts ON a.id = u.id").contains(&"changelog normalize")
    );
    // A filter of the right side is asked of the version, and does not bring back the one before it.
    let filtered =
        "SELECT x, z FROM a JOIN (SELECT * FROM c WHERE z > 0) FOR SYSTEM_TIME AS OF a.ts AS f ON a.id = f.id";
    assert!(outcome(filtered).is_err(), "only tables and views have versions");
    let view = "CREATE VIEW f AS SELECT * FROM c WHERE z > 0; SELECT x, z FROM a JOIN f FOR SYSTEM_TIME AS OF a.ts ON a.id = f.id";
    let plan = plan(view);
    let joined = plan.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::TemporalJoin(join) => Some(join),
        _ => None,
    });
    assert!(joined.unwrap().condition.is_some());
    assert_eq!(plan.nodes.last().unwrap().output.row.len(), 2);
}

/// The operators above the sources that lead to the result.
fn reached(plan: &StreamPlan) -> Vec<&'static str> {
    let mut wanted = vec![plan.nodes.len() - 1];
    let mut names = Vec::new();
    while let Some(node) = wanted.pop() {
        let node = &plan.nodes[node];
        wanted.extend(node.inputs.iter().map(|edge| edge.node));
        if !matches!(node.kind, NodeKind::Calc(_) | NodeKind::Sink(_) | NodeKind::DropUpdateBefore) {
            names.push(node.kind.name());
        }
    }
    names.sort_unstable();
    names
}

#[test]
fn nothing_runs_that_nobody_reads() {
    let plan = plan("SELECT x, y FROM a JOIN v FOR SYSTEM_TIME AS OF a.ts ON a.id = v.id");
    let read: Vec<usize> = plan.nodes.iter().flat_map(|node| node.inputs.iter().map(|edge| edge.node)).collect();
    for (id, node) in plan.nodes.iter().enumerate() {
        assert!(matches!(node.kind, NodeKind::Sink(_)) || read.contains(&id), "nobody reads {}", node.operator_id);
    }
}

#[test]
fn a_table_of_changes_is_joined_as_of_now() {
    let planned = plan("SELECT a.x, c.z FROM a LEFT JOIN c FOR SYSTEM_TIME AS OF a.pt ON a.id = c.id");
    let joins = planned.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::TemporalJoin(join) => Some((join.is_outer, join.rowtimes)),
        _ => None,
    });
    assert_eq!(joins.collect::<Vec<_>>(), [(true, None)]);
    let changes = "SELECT g.n, c.z FROM (SELECT id, COUNT(*) AS n, PROCTIME() AS pt FROM a GROUP BY id) AS g \
                   JOIN c FOR SYSTEM_TIME AS OF g.pt ON g.id = c.id";
    assert_eq!(code(changes), "HW-P557");
}

#[test]
fn temporal_joins_that_cannot_be_are_refused() {
    for (join, expected) in [
        ("RIGHT JOIN c FOR SYSTEM_TIME AS OF a.ts ON a.id = c.id", "HW-P551"),
        ("FULL JOIN c FOR SYSTEM_TIME AS OF a.ts ON a.id = c.id", "HW-P551"),
        ("JOIN c FOR SYSTEM_TIME AS OF a.ts ON a.x = c.z", "HW-P553"),
        ("JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.id = b.id", "HW-P310"),
        ("JOIN c FOR SYSTEM_TIME AS OF a.pt ON a.x = c.z", "HW-P553"),
        ("JOIN b FOR SYSTEM_TIME AS OF a.pt ON a.id = b.id", "HW-P552"),
    ] {
        assert_eq!(code(&format!("SELECT a.x FROM a {join}")), expected, "{join}");
    }
}

#[test]
fn a_table_is_asked_by_columns_and_constants() {
    assert_contains(
        "SELECT x, d.name FROM a LEFT JOIN dim FOR SYSTEM_TIME AS OF a.pt AS d ON a.id + 1 = d.id AND d.city = 'x' AND x > 2",
        &["LookupJoin(table=[dim], joinType=[LeftOuterJoin], lookup=[id=", "city=", "where=[", "nothing is kept"],
    );
    assert_contains(
        "SELECT x, d.name FROM a JOIN dim FOR SYSTEM_TIME AS OF PROCTIME() AS d ON a.id = d.id",
        &["LookupJoin(table=[dim], joinType=[InnerJoin], lookup=[id=CAST(id AS BIGINT)]"],
    );
    let hinted = "SELECT /*+ LOOKUP('table'='d', 'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', \
                  'fixed-delay'='2 s', 'max-attempts'='5') */ x FROM a JOIN dim FOR SYSTEM_TIME AS OF a.pt AS d ON a.id = d.id";
    assert_contains(hinted, &["retry=[lookup_miss, FIXED_DELAY, 2 s, 5 attempts]"]);
    assert_eq!(code("SELECT x FROM a JOIN dim FOR SYSTEM_TIME AS OF a.pt AS d ON a.id > d.id"), "HW-P555");
    let sources = plan("SELECT x, d.name FROM a JOIN dim FOR SYSTEM_TIME AS OF a.pt AS d ON a.id = d.id").nodes;
    assert_eq!(sources.iter().filter(|node| matches!(node.kind, NodeKind::Scan(_))).count(), 1);
}

#[test]
fn a_column_that_is_meant_to_be_the_processing_time_is_assumed() {
    let sql = "SELECT x, d.name FROM a JOIN dim FOR SYSTEM_TIME AS OF a.proc_time AS d ON a.id = d.id";
    let (outcome, warnings) = outcome(sql).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(outcome, Outcome::Job(_)));
    assert_eq!(warnings.iter().map(Error::code).collect::<Vec<_>>(), ["HW-P311"]);
    assert!(code("SELECT x FROM a JOIN dim FOR SYSTEM_TIME AS OF a.when AS d ON a.id = d.id").starts_with("HW-"));
}

#[test]
fn equal_windows_of_both_sides_are_a_window_join() {
    let on = "aw.id = {r}.id AND aw.window_start = {r}.window_start AND aw.window_end = {r}.window_end";
    let sql = format!("SELECT x, y FROM aw FULL JOIN bw ON {} AND x < y", on.replace("{r}", "bw"));
    assert_contains(
        &sql,
        &[
            "WindowJoin(leftWindow=[TUMBLE(win_start=[window_start], win_end=[window_end], size=[1 min])], \
             rightWindow=[TUMBLE(win_start=[window_start], win_end=[window_end], size=[1 min])], joinType=[FullOuterJoin], \
             where=[(id = id0) AND x < y]",
            "state: the rows of both sides per window per (id), until the watermark reaches the end of the window",
        ],
    );
    let is_window_join = |sql: &str| plan(sql).nodes.iter().any(|node| matches!(node.kind, NodeKind::WindowJoin(_)));
    assert!(!is_window_join(&format!("SELECT x, y FROM aw JOIN bh ON {}", on.replace("{r}", "bh"))), "other windows");
    assert!(
        !is_window_join("SELECT x, y FROM aw JOIN bw ON aw.id = bw.id AND aw.window_end = bw.window_end"),
        "one end"
    );
    let semi = "SELECT x FROM aw WHERE id IN (SELECT bw.id FROM bw WHERE aw.window_start = bw.window_start AND \
                aw.window_end = bw.window_end)";
    assert!(is_window_join(semi));
    let summed = "SELECT x, s FROM aw JOIN (SELECT id, window_start, window_end, SUM(y) AS s FROM bw GROUP BY id, window_start, \
                  window_end) AS g ON aw.id = g.id AND aw.window_start = g.window_start AND aw.window_end = g.window_end";
    assert!(is_window_join(summed));
}
