//! Tests of functions from SQL expressions.

use super::{refused, run, shown};
use crate::session::{Outcome, Session};
use crate::test_support::session;
use base::Location;

fn tables() -> Session {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE t (a INT, s STRING, r ROW<x INT>) WITH ('connector' = 'test'); \
         CREATE FUNCTION plus(x INT, y INT) RETURNS BIGINT LANGUAGE SQL RETURN x + y; \
         CREATE FUNCTION twice(x INT) RETURN x * 2",
    );
    session
}

fn explained(session: &mut Session, sql: &str) -> String {
    match run(session, &format!("EXPLAIN {sql}")).outcome {
        Outcome::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn mistakes_around_a_call_stand_where_the_call_does() {
    let mut session = tables();
    run(&mut session, "CREATE FUNCTION size(x INT) RETURN CASE WHEN ABS(x) > 9 THEN 2 ELSE 1 END");
    for call in ["twice(a)", "size(a)"] {
        let error = refused(&mut session, &format!("SELECT 1,\n  UPPER({call}) FROM t"));
        assert_eq!(error.code(), "HW-T010", "{call}");
        assert!(matches!(error.location(), Some(Location::Sql { line: 2, column: 3, .. })), "{call}: {error}");
    }
}

#[test]
fn types_come_from_returns() {
    let mut session = tables();
    run(&mut session, "CREATE FUNCTION pair(x INT) RETURNS BIGINT LANGUAGE SQL RETURN PLUS(x, twice(x))");
    run(
        &mut session,
        "CREATE VIEW v AS SELECT pair(a) AS b, twice(x => a + 1) AS c, default_database.twice(a) AS d FROM t",
    );
    let types: Vec<String> = shown(&mut session, "DESCRIBE v").into_iter().map(|row| row[1].clone()).collect();
    assert_eq!(types, ["BIGINT", "INT", "INT"]);
    let text = explained(&mut session, "SELECT twice(a) FROM t WHERE plus(a, 1) > 2");
    assert!(!text.to_lowercase().contains("twice") && text.contains('*'), "{text}");
    // What was put in place stays.
    run(&mut session, "DROP FUNCTION plus; SELECT pair(a) FROM t");
}

#[test]
fn computed_columns_and_rows_use_functions() {
    let mut session = tables();
    run(
        &mut session,
        "CREATE FUNCTION inner_x(r ROW<x INT>) RETURNS INT LANGUAGE SQL RETURN r.x; \
         CREATE TABLE c (a INT, b AS twice(a)) WITH ('connector' = 'test'); SELECT b FROM c; SELECT inner_x(r) FROM t",
    );
}

#[test]
fn a_parameter_is_not_a_column_of_the_caller() {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE t (x INT, y INT) WITH ('connector' = 'test'); CREATE FUNCTION f(x INT, y INT) RETURN x - y * 10",
    );
    let text = explained(&mut session, "SELECT f(y, x) FROM t");
    let plain = explained(&mut session, "SELECT y - x * 10 FROM t");
    let select = |text: &str| text.lines().find(|line| line.contains("select=")).map(str::to_string);
    assert!(select(&text).is_some(), "{text}");
    assert_eq!(text.matches("y").count(), plain.matches("y").count(), "{text}\n{plain}");
}

#[test]
fn functions_that_cannot_be() {
    for (sql, code) in [
        ("CREATE FUNCTION twice(x INT) RETURN x", "HW-P010"),
        ("CREATE FUNCTION f AS 'com.example.F'", "HW-P118"),
        ("CREATE FUNCTION f AS 'm.f' LANGUAGE PYTHON", "HW-P118"),
        ("CREATE FUNCTION f(x INT) RETURN f(x) + 1", "HW-P115"),
        ("CREATE FUNCTION f(x INT) RETURN SUM(x)", "HW-P116"),
        ("CREATE FUNCTION f(x INT) RETURN (SELECT MAX(a) FROM t)", "HW-P116"),
        ("CREATE FUNCTION f(x INT) RETURNS ARRAY<INT> LANGUAGE SQL RETURN x", "HW-P117"),
        ("CREATE FUNCTION f(x INT) RETURN y", "HW-P005"),
        ("CREATE FUNCTION f(x INT, x INT) RETURN x", "HW-P019"),
        ("SELECT twice(s) FROM t", "HW-P114"),
        ("SELECT twice(a, a) FROM t", "HW-P113"),
        ("SELECT twice(z => a) FROM t", "HW-P113"),
        ("SELECT twice(DISTINCT a) FROM t", "HW-P112"),
        ("DROP FUNCTION nope", "HW-P119"),
        ("DROP FUNCTION upper", "HW-P119"),
    ] {
        let error = refused(&mut tables(), sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
    }
}

#[test]
fn functions_that_grow_too_large_are_refused() {
    let mut session = session();
    run(&mut session, "CREATE FUNCTION f0(x INT) RETURNS INT LANGUAGE SQL RETURN x + x + x + x");
    let mut last = None;
    for level in 1..12 {
        let below = level - 1;
        let sql = format!("CREATE FUNCTION f{level}(x INT) RETURNS INT LANGUAGE SQL RETURN f{below}(x) + f{below}(x)");
        if let Err(error) = crate::test_support::execute(&mut session, &sql) {
            last = Some(error);
            break;
        }
    }
    assert_eq!(last.expect("a refusal").code(), "HW-P111");
}

#[test]
fn temporary_and_system_functions() {
    let mut session = tables();
    run(
        &mut session,
        "CREATE TEMPORARY FUNCTION twice(x INT) RETURNS STRING LANGUAGE SQL RETURN 'temporary'; \
         CREATE TEMPORARY SYSTEM FUNCTION `upper`(x STRING) RETURN x; CREATE OR REPLACE FUNCTION plus(x INT) RETURN x; \
         CREATE FUNCTION IF NOT EXISTS plus(x INT, y INT) RETURN x; CREATE VIEW v AS SELECT twice(a) AS c FROM t",
    );
    assert_eq!(shown(&mut session, "DESCRIBE v")[0][1], "STRING");
    assert_eq!(shown(&mut session, "SHOW USER FUNCTIONS"), [["plus"], ["twice"], ["upper"]]);
    assert_eq!(shown(&mut session, "SHOW FUNCTIONS LIKE 'twi%'"), [["twice"]]);
    assert_eq!(shown(&mut session, "DESCRIBE FUNCTION EXTENDED plus")[4], ["signature", "plus(x INT) RETURNS INT"]);
    run(&mut session, "DROP TEMPORARY FUNCTION twice; DROP TEMPORARY SYSTEM FUNCTION `upper`; DROP FUNCTION twice");
    assert_eq!(refused(&mut session, "SELECT twice(a) FROM t").code(), "HW-P030");
}
