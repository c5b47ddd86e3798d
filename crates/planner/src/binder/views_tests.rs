//! Tests of views that are bound once.

use super::*;
use crate::session::{Outcome, Session};
use crate::test_support::{execute, session};

/// `v` reads the view `below`, which reads `t`, and calls the function `f`.
const SCRIPT: &str = "
CREATE DATABASE other;
CREATE TABLE t (a INT, b STRING, ms BIGINT) WITH ('connector' = 'test');
CREATE FUNCTION f(x INT) RETURN x + 1;
CREATE VIEW below AS SELECT * FROM t WHERE a > 0;
CREATE VIEW v AS SELECT f(a) AS a, b, DATE_FORMAT(TO_TIMESTAMP_LTZ(0, 3), 'HH') AS h, CAST('x' AS INT) AS n,
    CURRENT_DATABASE() AS d FROM below";

fn prepared() -> Session {
    let mut session = session();
    execute(&mut session, SCRIPT).unwrap();
    session
}

/// All that can be seen of a view: the plan of a query that reads it, its columns, warnings; or errors with their places.
fn seen(session: &mut Session, view: &str) -> String {
    let queries = [
        format!("EXPLAIN SELECT * FROM {view} WHERE a > 1"),
        format!("DESCRIBE {view}"),
        format!("EXPLAIN SELECT COUNT(*) FROM (SELECT * FROM {view} UNION ALL SELECT * FROM {view}) AS u"),
        format!("SELECT zzz FROM {view}"),
    ];
    let outcome = |query: &String| match execute(session, query) {
        Ok(executed) => match executed.outcome {
            Outcome::Text(text) => format!("{text} {:?}", executed.warnings),
            other => format!("{other:?} {:?}", executed.warnings),
        },
        Err(error) => format!("{error} {:?}", error.location()),
    };
    queries.iter().map(outcome).collect::<Vec<_>>().join("\n")
}

fn bound(session: &Session, view: &str) -> Result<Arc<LogicalPlan>> {
    let path = session.catalogs.path(&[view.to_string()])?;
    let Some(CatalogObject::View(view)) = session.catalogs.get(&path) else { panic!("no view {view}") };
    Binder::new(&session.catalogs, session.function_context()?, None)
        .with_connector(session.connector_context()?)
        .bind_view(view)
}

#[test]
fn a_view_is_bound_once() {
    let mut session = prepared();
    let first = bound(&session, "v").unwrap();
    assert!(Arc::ptr_eq(&first, &bound(&session, "v").unwrap()));
    execute(
        &mut session,
        "CREATE TABLE u (a INT) WITH ('connector' = 'test'); CREATE VIEW w AS SELECT a FROM u; DROP VIEW w; \
         USE other; USE default_catalog.default_database; SET 'table.exec.state.ttl' = '1 h'",
    )
    .unwrap();
    assert!(Arc::ptr_eq(&first, &bound(&session, "v").unwrap()), "nothing that it reads has changed");
    execute(&mut session, "ALTER TABLE t SET ('x' = 'y')").unwrap();
    assert!(!Arc::ptr_eq(&first, &bound(&session, "v").unwrap()), "its table has changed");
}

#[test]
fn a_change_of_what_a_view_reads_is_seen() {
    let table = "WITH ('connector' = 'test')";
    for change in [
        "DROP TABLE t".to_string(),
        format!("DROP TABLE t; CREATE TABLE t (a INT, b BIGINT, ms BIGINT) {table}"),
        format!("DROP TABLE t; CREATE TABLE t (b STRING, ms BIGINT) {table}"),
        "ALTER TABLE t MODIFY b BIGINT".into(),
        "ALTER TABLE t DROP b".into(),
        "ALTER TABLE t RENAME b TO bb".into(),
        "ALTER TABLE t RENAME TO u".into(),
        "ALTER TABLE t SET ('role' = 'sink')".into(),
        "ALTER TABLE t SET ('changelog' = 'all')".into(),
        format!("CREATE OR REPLACE TABLE t (a INT, b CHAR(3), ms BIGINT) {table}"),
        format!("CREATE TEMPORARY TABLE t (a SMALLINT, b DATE, ms BIGINT) {table}"),
        "DROP VIEW below".into(),
        "ALTER VIEW below AS SELECT a, 'x' AS b FROM t".into(),
        "ALTER VIEW below RENAME TO under".into(),
        "CREATE OR REPLACE VIEW below AS SELECT a, b FROM t WHERE a > 7".into(),
        "CREATE TEMPORARY VIEW below AS SELECT 5 AS a, b FROM t".into(),
        "ALTER VIEW v AS SELECT a, ms FROM t".into(),
        "CREATE OR REPLACE VIEW v (a, c) AS SELECT a, b FROM t".into(),
        "DROP FUNCTION f".into(),
        "CREATE OR REPLACE FUNCTION f(x INT) RETURN x + 2".into(),
        "CREATE TEMPORARY FUNCTION f(x INT) RETURN x * 3".into(),
        "SET 'table.local-time-zone' = 'Asia/Shanghai'".into(),
        "SET 'table.exec.legacy-cast-behaviour' = 'enabled'".into(),
    ] {
        let mut used = prepared();
        let before = seen(&mut used, "v");
        assert_eq!(before, seen(&mut used, "v"));
        execute(&mut used, &change).unwrap();
        let mut fresh = prepared();
        execute(&mut fresh, &change).unwrap();
        let after = seen(&mut used, "v");
        assert_eq!(after, seen(&mut fresh, "v"), "{change}");
        assert_ne!(after, before, "{change}");
    }
}

#[test]
fn a_view_means_the_same_from_everywhere() {
    let mut session = prepared();
    let name = "default_catalog.default_database.v";
    let before = seen(&mut session, name);
    execute(&mut session, "USE other; CREATE TABLE t (a STRING) WITH ('connector' = 'test')").unwrap();
    assert_eq!(seen(&mut session, name), before);
}

#[test]
fn a_view_that_came_to_read_itself_is_refused_at_every_use() {
    let mut session = prepared();
    seen(&mut session, "v");
    execute(&mut session, "DROP VIEW below; CREATE VIEW w AS SELECT a, b FROM t; ALTER VIEW w RENAME TO below")
        .unwrap();
    seen(&mut session, "v");
    let error = execute(&mut session, "ALTER VIEW below AS SELECT a, b FROM v").unwrap_err();
    assert_eq!(error.code(), "HW-P055", "{error}");
    assert!(execute(&mut session, "SELECT * FROM v").is_ok(), "the change was taken back");
}

#[test]
fn each_use_has_its_own_random_numbers() {
    let mut session = session();
    execute(
        &mut session,
        "CREATE TABLE t (a INT) WITH ('connector' = 'test'); CREATE VIEW v AS SELECT RAND() AS r, NOW() AS n, a FROM t",
    )
    .unwrap();
    let union = |source: &str| format!("EXPLAIN SELECT r, n FROM {source} UNION ALL SELECT r, n FROM {source}");
    let mut text = |sql: &str| match execute(&mut session, sql).unwrap().outcome {
        Outcome::Text(text) => text,
        other => panic!("{other:?}"),
    };
    let first = text(&union("v"));
    assert_eq!(first, text(&union("v")));
    assert_eq!(first, text(&union("(SELECT RAND() AS r, NOW() AS n, a FROM t)")));
    assert_eq!(first.matches("RAND(").count(), 2, "{first}");
}

#[test]
fn hints_and_warnings_come_with_every_use() {
    let mut session = session();
    execute(
        &mut session,
        "CREATE TABLE t (a INT) WITH ('connector' = 'test'); \
         CREATE VIEW below AS SELECT /*+ STATE_TTL('t' = '1 d') */ a FROM t; CREATE VIEW v AS SELECT a FROM below",
    )
    .unwrap();
    for _ in 0..3 {
        let executed = execute(&mut session, "SELECT a FROM v UNION ALL SELECT a FROM v").unwrap();
        let codes: Vec<&str> = executed.warnings.iter().map(Error::code).collect();
        assert_eq!(codes, ["HW-P053"]);
    }
}

#[test]
fn the_order_of_a_view_is_no_order_of_its_readers() {
    let mut session = session();
    execute(
        &mut session,
        "CREATE TABLE t (a INT) WITH ('connector' = 'test'); CREATE VIEW v AS SELECT a FROM t ORDER BY a",
    )
    .unwrap();
    let plan = bound(&session, "v").unwrap();
    assert!(!plan.display_indent().to_string().contains("Sort"), "{}", plan.display_indent());
    execute(&mut session, "SELECT a FROM v").unwrap();
}
