//! Joins and subqueries, from SQL to EXPLAIN.

use crate::session::Outcome;
use crate::test_support::{execute, session};
use base::plan::{JoinKind, JoinRows, NodeKind, StreamPlan};
use base::{Error, Result};
use std::time::Duration;

const TABLES: &str = "
CREATE TABLE l (id INT, k BIGINT, v INT) WITH ('connector'='test', 'changelog'='all');
CREATE TABLE r (id BIGINT, k INT, w INT) WITH ('connector'='test', 'changelog'='all');
CREATE TABLE pl (id INT, k INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='test', 'changelog'='all');
CREATE TABLE pr (id INT, w INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='test', 'changelog'='all');
CREATE TABLE a (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='test');
CREATE TABLE b (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='test');
";

fn outcome(sql: &str) -> Result<(Outcome, Vec<Error>)> {
    execute(&mut session(), &format!("{TABLES} {sql}")).map(|executed| (executed.outcome, executed.warnings))
}

fn plan(sql: &str) -> StreamPlan {
    match outcome(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).0 {
        Outcome::Job(job) => job.plan,
        other => panic!("{sql}: {other:?}"),
    }
}

fn explain(sql: &str) -> String {
    match outcome(&format!("EXPLAIN {sql}")).unwrap_or_else(|error| panic!("{sql}: {error}")).0 {
        Outcome::Text(text) => text,
        other => panic!("{sql}: {other:?}"),
    }
}

/// The joins of a plan, as kind, number of keys and whether there is more to the condition.
fn joins(sql: &str) -> Vec<(JoinKind, usize, bool)> {
    let joins = plan(sql).nodes.into_iter().filter_map(|node| match node.kind {
        NodeKind::Join(join) => Some((join.kind, join.keys.len(), join.condition.is_some())),
        _ => None,
    });
    joins.collect()
}

fn assert_contains(sql: &str, parts: &[&str]) {
    let text = explain(sql);
    for part in parts {
        assert!(text.contains(part), "{sql}\n{text}\nlacks {part}");
    }
}

#[test]
fn keys_get_their_common_type_and_sides_are_told_apart() {
    assert_contains(
        "SELECT l.id, w FROM l JOIN r ON l.id = r.id AND v < w",
        &[
            "Join(joinType=[InnerJoin], where=[(CAST(id AS BIGINT) = id0) AND v < w], select=[",
            "leftInputSpec=[NoUniqueKey], rightInputSpec=[NoUniqueKey], changelogMode=[I,UB,UA,D]",
            "state of the left side: all rows per (CAST(id AS BIGINT)), equal ones once with their number; kept for ever",
            "Exchange(distribution=[hash[CAST(id AS BIGINT)]])",
        ],
    );
    assert_contains(
        "SELECT pl.id, w FROM pl LEFT JOIN pr ON pl.k = pr.id",
        &[
            "Join(joinType=[LeftOuterJoin], where=[(k = id0)]",
            "leftInputSpec=[HasUniqueKey], rightInputSpec=[JoinKeyContainsUniqueKey]",
            "state of the left side: all rows per (k), told apart by (id); kept for ever",
            "state of the right side: one row per (id); kept for ever",
        ],
    );
}

#[test]
fn keys_of_the_output_are_those_that_survive_the_exchange() {
    let keys = |sql: &str| {
        let join = plan(sql).nodes.into_iter().find(|node| matches!(node.kind, NodeKind::Join(_))).unwrap();
        join.output.upsert_keys
    };
    assert_eq!(keys("SELECT * FROM pl JOIN pr ON pl.id = pr.id"), [vec![0], vec![3], vec![0, 3]]);
    assert_eq!(keys("SELECT * FROM pl LEFT JOIN pr ON pl.id = pr.id"), [vec![0], vec![0, 3]]);
    assert_eq!(keys("SELECT * FROM pl FULL JOIN pr ON pl.id = pr.id"), [vec![0, 3]]);
    let counts = "(SELECT k, COUNT(*) FROM pl GROUP BY k)";
    let nullable = format!("SELECT * FROM {counts} AS a FULL JOIN {counts} AS b ON a.k = b.k");
    assert_eq!(keys(&nullable), Vec::<Vec<usize>>::new(), "two rows with NULL on both sides");
    assert_eq!(keys(&nullable.replace("FULL", "LEFT")), [vec![0], vec![0, 2]]);
    assert_eq!(keys("SELECT * FROM pl JOIN pr ON pl.k = pr.id"), Vec::<Vec<usize>>::new());
    assert_eq!(keys("SELECT * FROM pl WHERE EXISTS (SELECT 1 FROM pr WHERE pr.id = pl.id)"), [vec![0]]);
    assert_eq!(keys("SELECT * FROM pl CROSS JOIN pr"), [vec![0, 3]]);
}

#[test]
fn conditions_on_one_side_go_below_the_join_where_they_may() {
    for (kind, left, right) in
        [("JOIN", true, true), ("LEFT JOIN", false, true), ("RIGHT JOIN", true, false), ("FULL JOIN", false, false)]
    {
        let sql = format!("SELECT l.id, r.id FROM l {kind} r ON l.k = r.k AND v > 1 AND w > 2");
        let text = explain(&sql);
        assert_eq!(text.contains("where=[v > 1]"), left, "{text}");
        assert_eq!(text.contains("where=[w > 2]"), right, "{text}");
    }
    assert_eq!(joins("SELECT l.id FROM l, r WHERE l.k = r.k AND v < w"), [(JoinKind::Inner, 1, true)]);
    assert_eq!(joins("SELECT l.id FROM l LEFT JOIN r ON l.k = r.k WHERE r.w > 5"), [(JoinKind::Inner, 1, false)]);
    assert_eq!(joins("SELECT l.id FROM l JOIN r ON l.id IS NOT DISTINCT FROM r.w"), [(JoinKind::Inner, 1, false)]);
}

#[test]
fn old_content_is_asked_for_only_where_it_is_needed() {
    let kinds = "CREATE TABLE s (id INT, v INT, w INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='test', 'sink'='upsert');";
    let text = |on: &str| {
        let sql = format!("EXPLAIN INSERT INTO s SELECT pl.id, v, w FROM pl JOIN pr ON {on}");
        match outcome(&format!("{kinds} {sql}")).unwrap().0 {
            Outcome::Text(text) => text,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(text("pl.id = pr.id").matches("DropUpdateBefore").count(), 2);
    assert_eq!(text("pl.id = pr.id AND v < w").matches("DropUpdateBefore").count(), 0);
}

#[test]
fn subqueries_are_joins() {
    use JoinKind::{Anti, Inner, Left, Semi};
    for (condition, expected) in [
        ("k IN (SELECT k FROM r)", vec![(Semi, 1, false)]),
        ("k NOT IN (SELECT k FROM r)", vec![(Anti, 0, true)]),
        ("id NOT IN (SELECT id FROM pr)", vec![(Anti, 0, true)]),
        ("EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.w > l.v)", vec![(Semi, 1, true)]),
        ("NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k)", vec![(Anti, 1, false)]),
        ("(k, v) IN (SELECT k, w FROM r)", vec![(Semi, 2, false)]),
        ("k = ANY (SELECT k FROM r)", vec![(Semi, 1, false)]),
        ("v > (SELECT AVG(w) FROM r)", vec![(Inner, 0, true)]),
        ("v > (SELECT AVG(w) FROM r WHERE r.k = l.k)", vec![(Inner, 1, true)]),
        ("v > SOME (SELECT w FROM r)", vec![(Inner, 0, true)]),
        ("v > ALL (SELECT w FROM r)", vec![(Left, 0, false)]),
        ("v > 5 OR EXISTS (SELECT 1 FROM r WHERE r.k = l.k)", vec![(Left, 1, false)]),
        ("v > 5 OR k IN (SELECT k FROM r)", vec![(Left, 0, false), (Left, 1, false)]),
    ] {
        assert_eq!(joins(&format!("SELECT id FROM l WHERE {condition}")), expected, "{condition}");
    }
    assert_contains("SELECT id, (SELECT w FROM r) AS w FROM l", &["SINGLE_VALUE(", "joinType=[LeftOuterJoin]"]);
    assert_contains(
        "SELECT id, (SELECT COUNT(*) FROM r WHERE r.k = l.k) AS n FROM l",
        &["GroupAggregate(groupBy=[k], select=[k, COUNT(*)", "joinType=[LeftOuterJoin]", "THEN 0"],
    );
}

#[test]
fn a_top_n_over_a_join_stays_one() {
    let sql = "SELECT k, v FROM (SELECT l.k, v, ROW_NUMBER() OVER (PARTITION BY l.k ORDER BY v DESC) AS rn FROM l JOIN r \
               ON l.k = r.k) WHERE rn <= 2";
    assert!(plan(sql).nodes.iter().any(|node| matches!(node.kind, NodeKind::Rank(_))), "{}", explain(sql));
}

#[test]
fn a_hint_says_how_long_a_side_is_kept() {
    let sql = "SELECT /*+ STATE_TTL('x' = '1 d', 'pr' = '0 s') */ x.id FROM pl AS x JOIN pr ON x.k = pr.id";
    let (outcome, warnings) = outcome(&format!("SET 'table.exec.state.ttl' = '1 h'; {sql}")).unwrap();
    let Outcome::Job(job) = outcome else { panic!("no job") };
    assert!(warnings.is_empty(), "{warnings:?}");
    let join = job.plan.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Join(join) => Some(join),
        _ => None,
    });
    let join = join.unwrap();
    assert_eq!(join.left.state_ttl, Some(Duration::from_secs(86_400)));
    assert_eq!((join.right.state_ttl, &join.right.rows), (None, &JoinRows::One));
}

#[test]
fn a_hint_says_how_long_groups_are_kept() {
    let day = Some(Duration::from_secs(86_400));
    let hour = Some(Duration::from_secs(3_600));
    for (query, expected) in [
        ("SELECT /*+ STATE_TTL('pl' = '1 d') */ k, COUNT(*) FROM pl GROUP BY k", vec![day]),
        ("SELECT /*+ STATE_TTL('x' = '1 d') */ k, COUNT(*) FROM pl AS x GROUP BY k", vec![day]),
        ("SELECT /*+ STATE_TTL('x' = '1 d') */ DISTINCT x.k FROM (SELECT k FROM pl WHERE id > 0) AS x", vec![day]),
        ("SELECT /*+ STATE_TTL('pl' = '0 s') */ COUNT(DISTINCT k) FROM pl", vec![None]),
        (
            "SELECT k, COUNT(*) FROM (SELECT /*+ STATE_TTL('pl' = '1 d') */ k, id, COUNT(*) AS c FROM pl GROUP BY k, id)
             WHERE c > 1 GROUP BY k",
            vec![day, hour],
        ),
        // The hints of a join are those of its sides.
        (
            "SELECT /*+ STATE_TTL('pl' = '1 d', 'pr' = '1 d') */ pl.k, COUNT(*) FROM pl JOIN pr ON pl.k = pr.id GROUP BY pl.k",
            vec![hour],
        ),
    ] {
        let (outcome, warnings) = outcome(&format!("SET 'table.exec.state.ttl' = '1 h'; {query}")).unwrap();
        let Outcome::Job(job) = outcome else { panic!("no job") };
        assert!(warnings.is_empty(), "{query}: {warnings:?}");
        let ttls = job.plan.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::GroupAggregate(group) => Some(group.state_ttl),
            _ => None,
        });
        assert_eq!(ttls.collect::<Vec<_>>(), expected, "{query}");
    }
}

#[test]
fn times_that_are_bounded_in_one_direction_are_a_regular_join() {
    assert_eq!(joins("SELECT a.id FROM a JOIN b ON a.id = b.id AND a.ts > b.ts"), [(JoinKind::Inner, 1, true)]);
}
