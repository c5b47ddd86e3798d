//! Tests of CREATE and DROP.

use super::{refused, run, shown};
use crate::session::{JobKind, Outcome, Session};
use crate::test_support::session;

const BASE: &str = "CREATE TABLE base (id INT, ts TIMESTAMP(3), total AS id * 2, off BIGINT METADATA FROM 'offset' VIRTUAL, \
     PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) \
     COMMENT 'base' WITH ('connector' = 'test', 'role' = 'source', 'changelog' = 'all');";

fn with_base() -> Session {
    let mut session = session();
    run(&mut session, BASE);
    session
}

fn columns(session: &mut Session, table: &str) -> Vec<String> {
    shown(session, &format!("DESCRIBE {table}")).into_iter().map(|row| format!("{} {}", row[0], row[1])).collect()
}

fn shows(session: &mut Session, table: &str) -> String {
    shown(session, &format!("SHOW CREATE TABLE {table}")).remove(0).remove(0)
}

#[test]
fn like_takes_everything_and_own_options_win() {
    let mut session = with_base();
    run(&mut session, "CREATE TABLE t (extra STRING) WITH ('role' = 'both') LIKE base");
    assert_eq!(
        columns(&mut session, "t"),
        ["id INT", "ts TIMESTAMP(3) *ROWTIME*", "total INT", "off BIGINT", "extra STRING"]
    );
    let text = shows(&mut session, "t");
    for part in ["PRIMARY KEY (`id`)", "WATERMARK FOR `ts`", "'role' = 'both'", "'changelog' = 'all'"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("COMMENT"), "{text}");
}

#[test]
fn like_leaves_out_what_is_excluded() {
    let mut session = with_base();
    run(
        &mut session,
        "CREATE TABLE t (WATERMARK FOR ts AS ts) WITH ('connector' = 'test') \
         LIKE base (EXCLUDING ALL INCLUDING GENERATED, OVERWRITING WATERMARKS)",
    );
    assert_eq!(columns(&mut session, "t"), ["id INT", "ts TIMESTAMP(3) *ROWTIME*", "total INT"]);
    let text = shows(&mut session, "t");
    assert!(!text.contains("PRIMARY KEY") && !text.contains("changelog"), "{text}");
    assert!(text.contains("WATERMARK FOR `ts` AS `ts`\n"), "{text}");
}

#[test]
fn like_refuses_what_both_define() {
    for sql in [
        "CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) LIKE base",
        "CREATE TABLE t (WATERMARK FOR ts AS ts) LIKE base",
        "CREATE TABLE t (total AS id * 3) LIKE base",
        "CREATE TABLE t WITH ('role' = 'both') LIKE base (INCLUDING ALL)",
    ] {
        let error = refused(&mut with_base(), sql);
        assert_eq!(error.code(), "HW-P122", "{sql}: {error}");
        assert!(error.location().is_some(), "{sql}");
    }
    // No clause of LIKE leaves a physical column out.
    assert_eq!(refused(&mut with_base(), "CREATE TABLE t (id INT) LIKE base (EXCLUDING ALL)").code(), "HW-P019");
    assert_eq!(refused(&mut with_base(), "CREATE TABLE t LIKE base (OVERWRITING CONSTRAINTS)").code(), "HW-I002");
    assert_eq!(refused(&mut with_base(), "CREATE TABLE t LIKE bose").code(), "HW-P003");
    run(&mut with_base(), "CREATE TABLE t (total AS id * 3) LIKE base (OVERWRITING GENERATED)");
}

#[test]
fn like_completes_a_table_without_a_connector() {
    let mut session = session();
    run(&mut session, "CREATE TABLE shape (a INT, b STRING)");
    assert_eq!(refused(&mut session, "SELECT a FROM shape").code(), "HW-P013");
    run(&mut session, "CREATE TABLE t WITH ('connector' = 'test') LIKE shape; SELECT a FROM t");
}

#[test]
fn create_as_makes_the_table_and_its_job() {
    let mut session = with_base();
    let executed =
        run(&mut session, "CREATE TABLE t WITH ('connector' = 'test') AS SELECT id, total + 1 AS more, ts FROM base");
    match executed.outcome {
        Outcome::Job(job) => assert_eq!((job.kind, job.sinks.as_slice()), (JobKind::Insert, &["t".to_string()][..])),
        other => panic!("{other:?}"),
    }
    assert_eq!(columns(&mut session, "t"), ["id INT", "more INT", "ts TIMESTAMP(3)"]);
    run(
        &mut session,
        "CREATE TABLE u (note STRING, more BIGINT, twice AS more * 2, PRIMARY KEY (id) NOT ENFORCED) \
         WITH ('connector' = 'test') AS SELECT id, total AS more FROM base",
    );
    assert_eq!(columns(&mut session, "u"), ["note STRING", "twice BIGINT", "id INT", "more BIGINT"]);
    run(&mut session, "CREATE TABLE w (more, id) WITH ('connector' = 'test') AS SELECT id, total AS more FROM base");
    assert_eq!(columns(&mut session, "w"), ["more INT", "id INT"]);
}

#[test]
fn a_create_as_that_fails_leaves_nothing() {
    let mut session = with_base();
    for (sql, code) in [
        ("CREATE TABLE t (id STRING) WITH ('connector' = 'test') AS SELECT id FROM base", "HW-P035"),
        ("CREATE TABLE t (nope) WITH ('connector' = 'test') AS SELECT id FROM base", "HW-P141"),
        ("CREATE TABLE t (id) WITH ('connector' = 'test') AS SELECT id, ts FROM base", "HW-P141"),
        ("CREATE TABLE t (id AS 1) WITH ('connector' = 'test') AS SELECT id FROM base", "HW-P141"),
        ("CREATE TABLE t AS SELECT id FROM base", "HW-P013"),
        ("CREATE TABLE t WITH ('connector' = 'test') AS SELECT nope FROM base", "HW-P006"),
        ("REPLACE TABLE t WITH ('connector' = 'test') AS SELECT id FROM base", "HW-P142"),
    ] {
        let error = refused(&mut session, sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
        assert!(shown(&mut session, "SHOW TABLES LIKE 't'").is_empty(), "{sql}");
    }
    assert!(matches!(
        run(&mut session, "EXPLAIN CREATE TABLE t WITH ('connector' = 'test') AS SELECT id FROM base").outcome,
        Outcome::Text(_)
    ));
    assert!(shown(&mut session, "SHOW TABLES LIKE 't'").is_empty());
}

#[test]
fn tables_are_replaced() {
    let mut session = with_base();
    run(&mut session, "CREATE OR REPLACE TABLE base (a INT) WITH ('connector' = 'test')");
    assert_eq!(columns(&mut session, "base"), ["a INT"]);
    run(&mut session, "REPLACE TABLE base WITH ('connector' = 'test') AS SELECT a, a AS b FROM base");
    assert_eq!(columns(&mut session, "base"), ["a INT", "b INT"]);
    run(&mut session, "CREATE VIEW v AS SELECT a FROM base; CREATE OR REPLACE VIEW v AS SELECT b FROM base");
    assert_eq!(columns(&mut session, "v"), ["b INT"]);
    assert_eq!(refused(&mut session, "CREATE OR REPLACE TABLE v (a INT)").code(), "HW-P008");
    assert_eq!(refused(&mut session, "CREATE VIEW w (x, x) AS SELECT 1, 2").code(), "HW-P019");
    assert_eq!(refused(&mut session, "CREATE OR REPLACE VIEW v AS SELECT * FROM v").code(), "HW-P055");
    assert_eq!(columns(&mut session, "v"), ["b INT"]);
}

#[test]
fn temporary_objects_hide_others() {
    let mut session = with_base();
    run(&mut session, "CREATE TEMPORARY TABLE base (x INT) WITH ('connector' = 'test')");
    assert_eq!(columns(&mut session, "base"), ["x INT"]);
    assert_eq!(refused(&mut session, "DROP TABLE base").code(), "HW-P143");
    assert_eq!(
        refused(&mut session, "CREATE TEMPORARY TABLE base (x INT) WITH ('connector' = 'test')").code(),
        "HW-P010"
    );
    run(&mut session, "DROP TEMPORARY TABLE base");
    assert_eq!(columns(&mut session, "base").len(), 4);
    assert_eq!(refused(&mut session, "DROP TEMPORARY TABLE base").code(), "HW-P003");
    run(&mut session, "DROP TEMPORARY TABLE IF EXISTS base; DROP TABLE base");
}

#[test]
fn views_have_columns_comments_and_views_below() {
    let mut session = with_base();
    run(
        &mut session,
        "CREATE VIEW v (k COMMENT 'key', w) COMMENT 'a view' AS SELECT id, total FROM base; \
         CREATE TEMPORARY VIEW v2 AS SELECT k + 1 AS k FROM v",
    );
    assert_eq!(shown(&mut session, "DESCRIBE v")[0], ["k", "INT", "FALSE", "", "", "", "key"]);
    let text = shown(&mut session, "SHOW CREATE VIEW v").remove(0).remove(0);
    assert_eq!(
        text,
        "CREATE VIEW `default_catalog`.`default_database`.`v` (\n  `k` COMMENT 'key',\n  `w`\n)\nCOMMENT 'a view'\n\
         AS SELECT id, total FROM base\n"
    );
    run(&mut session, "DROP TABLE base");
    let error = refused(&mut session, "SELECT * FROM v2");
    assert_eq!(error.code(), "HW-P120", "{error}");
    assert!(error.to_string().contains("view v ") && error.to_string().contains("base"), "{error}");
    assert_eq!(refused(&mut session, "DROP TABLE v").code(), "HW-P008");
}

#[test]
fn catalogs_and_databases() {
    let mut session = session();
    run(
        &mut session,
        "CREATE CATALOG c COMMENT 'mine' WITH ('type' = 'generic_in_memory', 'default-database' = 'first'); \
         CREATE CATALOG IF NOT EXISTS c WITH ('type' = 'generic_in_memory'); USE CATALOG c; \
         CREATE DATABASE d COMMENT 'second' WITH ('owner' = 'me'); CREATE DATABASE IF NOT EXISTS d; \
         CREATE TABLE d.t (a INT) WITH ('connector' = 'test')",
    );
    assert_eq!(shown(&mut session, "SHOW DATABASES"), [["d"], ["first"]]);
    assert_eq!(shown(&mut session, "SHOW CURRENT DATABASE"), [["first"]]);
    assert_eq!(shown(&mut session, "SHOW TABLES FROM c.d"), [["t"]]);
    run(&mut session, "SELECT a FROM c.d.t; USE default_catalog.default_database");
    for (sql, code) in [
        ("CREATE CATALOG c WITH ('type' = 'generic_in_memory')", "HW-P010"),
        ("CREATE CATALOG x WITH ('type' = 'iceberg')", "HW-P102"),
        ("CREATE CATALOG x", "HW-P102"),
        ("CREATE CATALOG x WITH ('type' = 'generic_in_memory', 'url' = 'x')", "HW-P145"),
        ("USE CATALOG cc", "HW-P100"),
        ("USE nowhere", "HW-P009"),
        ("CREATE TABLE cc.d.t (a INT) WITH ('connector' = 'test')", "HW-P100"),
        ("DROP DATABASE c.d", "HW-P012"),
        ("DROP CATALOG default_catalog", "HW-P101"),
        ("USE MODULES hive", "HW-P128"),
    ] {
        assert_eq!(refused(&mut session, sql).code(), code, "{sql}");
    }
    run(&mut session, "DROP DATABASE c.d CASCADE; DROP CATALOG c; DROP CATALOG IF EXISTS c; USE MODULES core");
    assert_eq!(shown(&mut session, "SHOW CATALOGS"), [["default_catalog"]]);
}

#[test]
fn partitions_are_kept() {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE t (id INT, ts TIMESTAMP(3), name STRING, dt STRING) \
         PARTITIONED BY (dt, days(ts), bucket(16, id), truncate(4, name)) WITH ('connector' = 'test')",
    );
    let text = shows(&mut session, "t");
    assert!(text.contains("PARTITIONED BY (`dt`, days(`ts`), bucket(16, `id`), truncate(4, `name`))"), "{text}");
    assert_eq!(shown(&mut session, "DESCRIBE t")[1][4], "PARTITION KEY days(`ts`)");
    run(&mut session, &format!("DROP TABLE t; {text}"));
    assert_eq!(shows(&mut session, "t"), text);
}

#[test]
fn static_partitions_fill_their_column() {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE src (a INT, b STRING) WITH ('connector' = 'test'); \
         CREATE TABLE t (a INT, dt STRING, b STRING) PARTITIONED BY (dt) WITH ('connector' = 'test'); \
         INSERT INTO t PARTITION (dt = '2024-01-01') SELECT a, b FROM src; \
         INSERT INTO t PARTITION (dt = '2024-01-01') (b, a) SELECT b, a FROM src; \
         INSERT INTO t PARTITION (dt) SELECT a, b, b FROM src",
    );
    for (sql, code) in [
        ("INSERT INTO t PARTITION (a = 1) SELECT b, b FROM src", "HW-P123"),
        ("INSERT INTO src PARTITION (a = 1) SELECT b FROM src", "HW-P123"),
        ("INSERT INTO t PARTITION (dt = 1) SELECT a, b FROM src", "HW-P123"),
        ("INSERT INTO t PARTITION (dt = 'x') SELECT a, b, b FROM src", "HW-P034"),
        ("INSERT INTO t PARTITION (dt = 'x') (dt) SELECT b FROM src", "HW-P036"),
    ] {
        let error = refused(&mut session, sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
    }
}

#[test]
fn a_view_keeps_its_columns() {
    let mut session = with_base();
    run(
        &mut session,
        "CREATE TABLE t (a INT, b STRING, r ROW<x INT, y INT>) WITH ('connector' = 'test'); \
         CREATE VIEW stars AS SELECT * FROM t; \
         CREATE VIEW qualified AS SELECT u.*, u.r.* FROM t AS u; \
         CREATE VIEW nested AS SELECT DISTINCT * FROM (SELECT *, 1 AS extra FROM t) AS n; \
         CREATE VIEW both_sides AS WITH w AS (SELECT * FROM t) SELECT * FROM w UNION ALL SELECT *  FROM t; \
         CREATE VIEW joined AS SELECT * FROM t JOIN base AS o ON t.a = o.id; \
         CREATE VIEW over_views (x, y, z) AS SELECT * FROM stars",
    );
    let views = ["stars", "qualified", "nested", "both_sides", "joined", "over_views"];
    let before: Vec<Vec<String>> = views.iter().map(|view| columns(&mut session, view)).collect();
    assert_eq!(before[0], ["a INT", "b STRING", "r ROW<`x` INT, `y` INT>"]);
    run(&mut session, "ALTER TABLE t ADD COLUMN later INT FIRST");
    for (view, before) in views.iter().zip(before) {
        assert_eq!(columns(&mut session, view), before, "{view}");
    }
    run(&mut session, "ALTER TABLE t DROP COLUMN b");
    let error = refused(&mut session, "SELECT a FROM stars");
    assert_eq!(error.code(), "HW-P120", "{error}");
    assert!(error.to_string().contains("column t.b does not exist"), "{error}");
}

#[test]
fn show_create_table_gives_the_whole_type() {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE t (r ROW<x INT COMMENT 'it''s', n ROW<y STRING 'deep'> NOT NULL>, l ARRAY<ROW<z BYTES 'in a list'>>, \
         m MAP<STRING, TIMESTAMP_LTZ(3)>) WITH ('connector' = 'test')",
    );
    let text = shows(&mut session, "t");
    for part in [
        "`r` ROW<`x` INT 'it''s', `n` ROW<`y` VARCHAR(2147483647) 'deep'> NOT NULL>",
        "`l` ARRAY<ROW<`z` VARBINARY(2147483647) 'in a list'>>",
        "`m` MAP<VARCHAR(2147483647), TIMESTAMP(3) WITH LOCAL TIME ZONE>",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    run(&mut session, &format!("DROP TABLE t; {text}"));
    assert_eq!(shows(&mut session, "t"), text);
}

#[test]
fn errors_about_options_stand_at_the_option() {
    let mut session = with_base();
    run(&mut session, "CREATE TABLE t (id INT, ts TIMESTAMP(3)) WITH ('connector' = 'test')");
    for (sql, code, column) in [
        ("CREATE TABLE x (a INT) WITH ('role' = 'both', 'connector' = 'tset')", "HW-P014", 61),
        ("CREATE TABLE x (a INT) WITH ('connector' = 'test', 'fail-key' = 'x')", "HW-C001", 52),
        ("CREATE TABLE x (a INT) WITH ('connector' = 'test', 'fail-value' = 'x')", "HW-C003", 67),
        ("ALTER TABLE t SET ('fail-key' = 'x')", "HW-C001", 20),
    ] {
        let error = refused(&mut session, sql);
        let Some(base::Location::Sql { column: found, .. }) = error.location() else { panic!("{sql}: {error}") };
        assert_eq!((error.code(), *found), (code, column), "{sql}: {error}");
    }
}
