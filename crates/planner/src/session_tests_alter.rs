//! Tests of ALTER.

use super::{refused, run, shown};
use crate::session::Session;
use crate::test_support::session;

fn tables() -> Session {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE t (a INT, b STRING, c AS a + 1, ts TIMESTAMP(3), \
         CONSTRAINT k PRIMARY KEY (b) NOT ENFORCED, WATERMARK FOR ts AS ts) WITH ('connector' = 'test', 'x' = '1')",
    );
    session
}

fn columns(session: &mut Session) -> Vec<String> {
    shown(session, "DESCRIBE t").into_iter().map(|row| format!("{} {}", row[0], row[1])).collect()
}

fn text(session: &mut Session) -> String {
    shown(session, "SHOW CREATE TABLE t").remove(0).remove(0)
}

#[test]
fn columns_are_added_modified_renamed_and_dropped() {
    let mut session = tables();
    run(
        &mut session,
        "ALTER TABLE t ADD d BIGINT COMMENT 'new' FIRST; ALTER TABLE t ADD (e AS a * 2 AFTER a, f INT); \
         ALTER TABLE t MODIFY f STRING AFTER d; ALTER TABLE t RENAME b TO bb; ALTER TABLE t DROP (e, c)",
    );
    assert_eq!(columns(&mut session), ["d BIGINT", "f STRING", "a INT", "bb STRING", "ts TIMESTAMP(3) *ROWTIME*"]);
    assert!(text(&mut session).contains("CONSTRAINT `k` PRIMARY KEY (`bb`)"));
}

#[test]
fn keys_watermarks_and_options_change() {
    let mut session = tables();
    run(
        &mut session,
        "ALTER TABLE t DROP CONSTRAINT k; ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED; \
         ALTER TABLE t MODIFY WATERMARK FOR ts AS ts - INTERVAL '1' SECOND; \
         ALTER TABLE t SET ('x' = '2', 'y' = '3'); ALTER TABLE t RESET ('x')",
    );
    let made = text(&mut session);
    for part in ["PRIMARY KEY (`a`)", "`ts` - INTERVAL '1' SECOND", "'y' = '3'"] {
        assert!(made.contains(part), "{part}: {made}");
    }
    assert!(!made.contains("'x'"), "{made}");
    run(&mut session, "ALTER TABLE t DROP WATERMARK; ALTER TABLE t DROP PRIMARY KEY; ALTER TABLE t RENAME TO u");
    assert_eq!(shown(&mut session, "SHOW TABLES"), [["u"]]);
    run(&mut session, "ALTER TABLE IF EXISTS t RENAME TO v");
}

#[test]
fn changes_that_cannot_be() {
    for (sql, code) in [
        ("ALTER TABLE t ADD a INT", "HW-P121"),
        ("ALTER TABLE t MODIFY z INT", "HW-P121"),
        ("ALTER TABLE t DROP z", "HW-P121"),
        ("ALTER TABLE t DROP a", "HW-P121"),
        ("ALTER TABLE t DROP b", "HW-P121"),
        ("ALTER TABLE t DROP ts", "HW-P121"),
        ("ALTER TABLE t RENAME a TO b", "HW-P121"),
        ("ALTER TABLE t RENAME a TO z", "HW-P121"),
        ("ALTER TABLE t DROP CONSTRAINT other", "HW-P121"),
        ("ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED", "HW-P121"),
        ("ALTER TABLE t ADD WATERMARK FOR ts AS ts", "HW-P121"),
        ("ALTER TABLE t RESET ('connector')", "HW-P121"),
        ("ALTER TABLE t SET ('connector' = 'tset')", "HW-P014"),
        ("ALTER TABLE t MODIFY ts STRING", "HW-P023"),
        ("ALTER TABLE nope ADD a INT", "HW-P002"),
        ("ALTER TABLE t ADD PARTITION (a = 1)", "HW-I002"),
        ("ALTER VIEW t AS SELECT 1", "HW-P008"),
        ("ALTER FUNCTION f AS 'x'", "HW-P139"),
    ] {
        let mut session = tables();
        let before = text(&mut session);
        let error = refused(&mut session, sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
        assert!(error.location().is_some(), "{sql}");
        assert_eq!(text(&mut session), before, "{sql}");
    }
}

#[test]
fn views_change() {
    let mut session = tables();
    run(
        &mut session,
        "CREATE VIEW v AS SELECT a FROM t; ALTER VIEW v AS SELECT b FROM t; ALTER VIEW v RENAME TO w; \
         ALTER VIEW IF EXISTS v RENAME TO x",
    );
    assert_eq!(shown(&mut session, "DESCRIBE w")[0][0], "b");
    assert_eq!(refused(&mut session, "ALTER VIEW w AS SELECT * FROM w").code(), "HW-P055");
    assert_eq!(refused(&mut session, "ALTER VIEW w RENAME TO t").code(), "HW-P010");
    run(&mut session, "SELECT * FROM w");
}

#[test]
fn catalogs_and_databases_change() {
    let mut session = session();
    run(
        &mut session,
        "ALTER DATABASE default_database SET ('a' = '1', 'b' = '2'); ALTER DATABASE default_database RESET ('a'); \
         ALTER CATALOG default_catalog COMMENT 'home'",
    );
    let rows = shown(&mut session, "DESCRIBE DATABASE EXTENDED default_database");
    assert_eq!(rows.last().unwrap(), &["option:b", "2"]);
    assert_eq!(shown(&mut session, "DESCRIBE CATALOG default_catalog")[2], ["comment", "home"]);
    assert_eq!(refused(&mut session, "ALTER CATALOG default_catalog SET ('type' = 'jdbc')").code(), "HW-P102");
    assert_eq!(refused(&mut session, "ALTER DATABASE nope SET ('a' = '1')").code(), "HW-P009");
}
