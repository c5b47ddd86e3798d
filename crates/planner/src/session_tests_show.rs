//! Tests of SHOW and DESCRIBE, and of what is refused.

use super::{refused, run, shown};
use crate::session::{Outcome, Session};
use crate::test_support::session;

fn tables() -> Session {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE orders (id INT COMMENT 'key', note STRING) WITH ('connector' = 'test', 'x' = 'it''s'); \
         CREATE TABLE order_items (id INT) WITH ('connector' = 'test'); CREATE TABLE `a%b` (id INT); \
         CREATE TEMPORARY VIEW recent AS SELECT id FROM orders",
    );
    session
}

#[test]
fn lists_are_filtered() {
    let mut session = tables();
    for (sql, expected) in [
        ("SHOW TABLES", &["a%b", "order_items", "orders", "recent"][..]),
        ("SHOW TABLES LIKE 'order%'", &["order_items", "orders"]),
        ("SHOW TABLES LIKE 'order_'", &["orders"]),
        ("SHOW TABLES LIKE 'ORDER%'", &[]),
        ("SHOW TABLES ILIKE 'ORDER%'", &["order_items", "orders"]),
        ("SHOW TABLES NOT LIKE 'order%'", &["a%b", "recent"]),
        ("SHOW TABLES LIKE 'a\\%b'", &["a%b"]),
        ("SHOW TABLES LIKE 'o\\%'", &[]),
        ("SHOW TABLES IN default_catalog.default_database NOT ILIKE '%R%'", &["a%b"]),
        ("SHOW VIEWS", &["recent"]),
        ("SHOW CATALOGS LIKE 'def%'", &["default_catalog"]),
        ("SHOW DATABASES FROM default_catalog", &["default_database"]),
        ("SHOW CURRENT CATALOG", &["default_catalog"]),
        ("SHOW MODULES", &["core"]),
        ("SHOW JARS", &[]),
        ("SHOW PROCEDURES", &[]),
        ("SHOW USER FUNCTIONS", &[]),
        ("SHOW FUNCTIONS LIKE 'upp%'", &["upper"]),
        ("SHOW COLUMNS FROM orders LIKE 'n%'", &["note"]),
        ("SHOW FULL MODULES", &["core"]),
    ] {
        let names: Vec<String> = shown(&mut session, sql).into_iter().map(|mut row| row.remove(0)).collect();
        assert_eq!(names, expected, "{sql}");
    }
}

#[test]
fn columns_are_named_as_in_flink() {
    let mut session = tables();
    for (sql, expected) in [
        ("SHOW TABLES", &["table name"][..]),
        ("SHOW FULL MODULES", &["module name", "used"]),
        ("SHOW CREATE TABLE orders", &["result"]),
        ("DESCRIBE order_items", &["name", "type", "null", "key", "extras", "watermark"]),
        ("DESC EXTENDED orders", &["name", "type", "null", "key", "extras", "watermark", "comment"]),
        ("DESCRIBE CATALOG default_catalog", &["info name", "info value"]),
        ("DESCRIBE FUNCTION upper", &["info name", "info value"]),
    ] {
        match run(&mut session, sql).outcome {
            Outcome::Table { columns, .. } => assert_eq!(columns, expected, "{sql}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn passwords_are_masked_and_the_rest_can_be_pasted() {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE t (id INT) WITH ('connector' = 'test', 'password' = 'geheim', \
         'properties.ssl.key.password' = 'geheim', 'properties.sasl.jaas.config' = 'password=\"geheim\"', 'user' = 'it''s')",
    );
    let text = shown(&mut session, "SHOW CREATE TABLE t").remove(0).remove(0);
    assert!(!text.contains("geheim"), "{text}");
    assert!(text.contains("'password' = '***'") && text.contains("'user' = 'it''s'"), "{text}");
    run(&mut session, &format!("DROP TABLE t; {text}"));
    assert_eq!(shown(&mut session, "SHOW CREATE TABLE t")[0][0], text);
    run(&mut session, "CREATE CATALOG c COMMENT 'x' WITH ('type' = 'generic_in_memory')");
    let made = shown(&mut session, "SHOW CREATE CATALOG c").remove(0).remove(0);
    assert_eq!(made, "CREATE CATALOG `c`\nCOMMENT 'x'\nWITH (\n  'type' = 'generic_in_memory'\n)\n");
    run(&mut session, &format!("DROP CATALOG c; {made}"));
}

#[test]
fn statements_are_refused_with_a_reason() {
    for (sql, code) in [
        ("UPDATE orders SET note = 'x' WHERE id = 1", "HW-P126"),
        ("DELETE FROM orders WHERE id = 1", "HW-P126"),
        ("MERGE INTO orders t USING order_items s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.id = s.id", "HW-P126"),
        ("EXPLAIN DELETE FROM orders", "HW-P126"),
        ("CALL system.f(1)", "HW-P127"),
        ("LOAD MODULE hive WITH ('hive-version' = '3')", "HW-P128"),
        ("UNLOAD MODULE core", "HW-P128"),
        ("ADD JAR 'x.jar'", "HW-P129"),
        ("REMOVE JAR 'x.jar'", "HW-P129"),
        ("COMPILE PLAN 'p' FOR INSERT INTO orders SELECT 1, 'a'", "HW-P130"),
        ("EXECUTE PLAN 'p'", "HW-P130"),
        ("ANALYZE TABLE orders COMPUTE STATISTICS", "HW-P131"),
        ("TRUNCATE TABLE orders", "HW-P132"),
        ("CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' MINUTE AS SELECT id FROM orders", "HW-P133"),
        ("CREATE MODEL m WITH ('provider' = 'x')", "HW-P134"),
        ("SHOW MODELS", "HW-P134"),
        ("DROP CONNECTION c", "HW-P135"),
        ("HELP", "HW-P136"),
        ("QUIT", "HW-P136"),
        ("CLEAR", "HW-P136"),
        ("SOURCE 'x.sql'", "HW-P136"),
        ("SHOW JOBS", "HW-P137"),
        ("STOP JOB 'x'", "HW-P137"),
        ("GRANT SELECT ON orders TO someone", "HW-P138"),
        ("SHOW PARTITIONS orders", "HW-P124"),
        ("SHOW TABLES FROM nowhere", "HW-P009"),
        ("SHOW CREATE VIEW orders", "HW-P008"),
        ("DESCRIBE FUNCTION nope", "HW-P030"),
        ("DESCRIBE FUNCTION uper", "HW-P029"),
        ("DESCRIBE nope", "HW-P002"),
        ("SELCT 1", "HW-S012"),
    ] {
        let error = refused(&mut tables(), sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
        assert!(error.location().is_some(), "{sql}");
    }
}
