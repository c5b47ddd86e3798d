//! Tests of hints.

use super::{refused, run};
use crate::session::{Outcome, PlannedJob, Session};
use crate::test_support::session;

fn tables() -> Session {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'test'); \
         CREATE TABLE sink (a INT) WITH ('connector' = 'test'); \
         CREATE TABLE closed (a INT) WITH ('connector' = 'test', 'role' = 'source')",
    );
    session
}

fn job(session: &mut Session, sql: &str) -> PlannedJob {
    match run(session, sql).outcome {
        Outcome::Job(job) => *job,
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_count_for_one_query_and_table() {
    let mut session = tables();
    let error = refused(&mut session, "SELECT a FROM t /*+ OPTIONS('role' = 'sink') */");
    assert_eq!(error.code(), "HW-P027", "{error}");
    run(&mut session, "SELECT t.a FROM t /*+ OPTIONS('x' = '1') */ WHERE t.a > 1; SELECT a FROM t");
    let union = "SELECT a FROM t UNION ALL SELECT a FROM t /*+ OPTIONS('changelog' = 'all') */ AS u";
    let plan = job(&mut session, union).plan;
    let scans = plan.nodes.iter().filter(|node| matches!(node.kind, base::plan::NodeKind::Scan(_)));
    let mut kinds: Vec<bool> = scans.map(|node| node.output.changelog.is_append_only()).collect();
    kinds.sort();
    assert_eq!(kinds, [false, true]);
}

#[test]
fn options_reach_windows_views_and_inserts() {
    let mut session = tables();
    let window = "SELECT window_start, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE t /*+ OPTIONS('role' = 'sink') */, \
         DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end";
    assert_eq!(refused(&mut session, window).code(), "HW-P027");
    run(&mut session, &window.replace("sink", "source"));
    run(&mut session, "CREATE VIEW v AS SELECT a FROM t /*+ OPTIONS('changelog' = 'all') */; SELECT a FROM v");
    assert_eq!(refused(&mut session, "SELECT a FROM v /*+ OPTIONS('x' = '1') */").code(), "HW-P108");
    assert_eq!(refused(&mut session, "INSERT INTO closed SELECT a FROM t").code(), "HW-P026");
    run(&mut session, "INSERT INTO closed /*+ OPTIONS('role' = 'both') */ SELECT a FROM t");
    assert_eq!(
        refused(&mut session, "INSERT INTO sink /*+ OPTIONS('role' = 'source') */ SELECT a FROM t").code(),
        "HW-P026"
    );
}

#[test]
fn other_hints_are_kept_and_named() {
    let mut session = tables();
    let sql = "SELECT /*+ STATE_TTL('t' = '1 d'), BROADCAST(t) */ COUNT(*) FROM t";
    let executed = run(&mut session, sql);
    assert_eq!(executed.warnings.iter().filter(|warning| warning.code() == "HW-P053").count(), 1);
    let hints: Vec<String> = job(&mut session, sql).plan.config.hints.iter().map(ToString::to_string).collect();
    assert_eq!(hints, ["STATE_TTL('t' = '1 d')", "BROADCAST(t)"]);
    match run(&mut session, &format!("EXPLAIN {sql}")).outcome {
        Outcome::Text(text) => assert!(text.contains("STATE_TTL('t' = '1 d')"), "{text}"),
        other => panic!("{other:?}"),
    }
    run(&mut session, &format!("CREATE VIEW v AS {sql}"));
    assert_eq!(job(&mut session, "SELECT * FROM v").plan.config.hints.len(), 2);
}

#[test]
fn wrong_hints_are_errors() {
    for (sql, code) in [
        ("SELECT /*+ BRODCAST(t) */ a FROM t", "HW-P103"),
        ("SELECT /*+ OPTIONS('a' = 'b') */ a FROM t", "HW-P104"),
        ("SELECT /*+ BROADCAST */ a FROM t", "HW-P105"),
        ("SELECT /*+ BROADCAST(u) */ a FROM t", "HW-P106"),
        ("SELECT /*+ STATE_TTL('u' = '1 d') */ a FROM t AS x", "HW-P106"),
        ("SELECT /*+ STATE_TTL('t' = 'soon') */ a FROM t", "HW-P107"),
        ("SELECT /*+ LOOKUP('table' = 'dim') */ a FROM t", "HW-P106"),
        ("INSERT INTO sink /*+ BROADCAST(t) */ SELECT a FROM t", "HW-P109"),
        ("SELECT a FROM t /*+ OPTIONS('connector' = 'print') */", "HW-P110"),
        ("SELECT a FROM t WHERE /*+ OPTIONS('a' = 'b') */ a > 1", "HW-S015"),
        ("SELECT a FROM t /*+ OPTIONS('a' = ) */", "HW-S016"),
    ] {
        let error = refused(&mut tables(), sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
        assert!(error.location().is_some(), "{sql}");
    }
}
