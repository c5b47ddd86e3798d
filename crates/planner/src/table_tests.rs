//! Tests of CREATE TABLE.

use crate::test_support::{execute, session};
use base::TimeAttribute;

fn error(sql: &str) -> base::Error {
    execute(&mut session(), sql).expect_err(sql)
}

#[test]
fn computed_metadata_and_rowtime_columns() {
    let mut session = session();
    execute(
        &mut session,
        "CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, price DECIMAL(10, 2), qty INT, total AS price * qty, \
         meta TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, ts TIMESTAMP(6), pt AS PROCTIME(), \
         WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'test')",
    )
    .unwrap();
    let path = session.catalogs.path(&["t".into()]).unwrap();
    let table = session.catalogs.table(&path).unwrap();
    assert_eq!(
        table.row.to_string(),
        "id INT NOT NULL, price DECIMAL(10, 2), qty INT, total DECIMAL(21, 2), meta TIMESTAMP_LTZ(3), \
         ts TIMESTAMP(6) *ROWTIME*, pt TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*"
    );
    assert_eq!(table.primary_key(), [0]);
    assert_eq!(table.persisted(), [0, 1, 2, 5]);
    assert_eq!(table.watermark.as_ref().unwrap().column, 5);
    assert_eq!(table.row.fields()[5].time, Some(TimeAttribute::Rowtime));
}

#[test]
fn problems_of_a_definition() {
    for (sql, code) in [
        ("CREATE TABLE t (a INT); SELECT a FROM t", "HW-P013"),
        ("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)", "HW-P013"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (b) WITH ('connector' = 'test')", "HW-P025"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (days(a)) WITH ('connector' = 'test')", "HW-P125"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (bucket(a)) WITH ('connector' = 'test')", "HW-P125"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (weeks(a)) WITH ('connector' = 'test')", "HW-P125"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (a) WITH ('connector' = 'plain')", "HW-P124"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (bucket(4, a)) WITH ('connector' = 'folders')", "HW-I002"),
        ("CREATE TABLE t (a INT) USING iceberg", "HW-P144"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'tset')", "HW-P014"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'mysql-cdc')", "HW-P062"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'elasticsearch-7')", "HW-P063"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'test', 'path' = '...')", "HW-P015"),
        ("CREATE TABLE t (a INT METADATA FROM 'timestmp') WITH ('connector' = 'test')", "HW-P016"),
        ("CREATE TABLE t (a ARRAY<INT> METADATA FROM 'timestamp') WITH ('connector' = 'test')", "HW-P017"),
        (
            "CREATE TABLE t (a BIGINT METADATA FROM 'offset', b INT METADATA FROM 'offset') WITH ('connector' = 'test')",
            "HW-P056",
        ),
        ("CREATE TABLE t (a INT, a INT) WITH ('connector' = 'test')", "HW-P019"),
        ("CREATE TABLE t (a INT, PRIMARY KEY (a, a) NOT ENFORCED) WITH ('connector' = 'test')", "HW-P021"),
        ("CREATE TABLE t (a INT, PRIMARY KEY (a)) WITH ('connector' = 'test')", "HW-P020"),
        ("CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector' = 'test')", "HW-P021"),
        ("CREATE TABLE t (a INT, WATERMARK FOR ts AS ts) WITH ('connector' = 'test')", "HW-P022"),
        ("CREATE TABLE t (ts STRING, WATERMARK FOR ts AS ts) WITH ('connector' = 'test')", "HW-P023"),
        ("CREATE TABLE t (a INT, b AS a + 1, c AS b + 1) WITH ('connector' = 'test')", "HW-P050"),
        ("CREATE TABLE t (a INT, b AS missing + 1) WITH ('connector' = 'test')", "HW-P006"),
    ] {
        let error = error(sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
        assert!(error.location().is_some(), "{error}");
    }
}

#[test]
fn a_wrong_metadata_key_lists_the_right_ones() {
    let text = error("CREATE TABLE t (a INT METADATA FROM 'timestmp') WITH ('connector' = 'test')").to_string();
    assert!(text.contains("timestmp") && text.contains("timestamp, offset"), "{text}");
    assert!(text.contains("METADATA FROM 'timestamp'"), "{text}");
}
