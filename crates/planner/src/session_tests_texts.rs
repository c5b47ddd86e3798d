//! Tests of scripts in the shapes in which people write them.

use super::{refused, run, shown};
use crate::test_support::session;
use base::Location;

#[test]
fn comments_line_ends_and_full_width_characters() {
    let mut session = session();
    run(
        &mut session,
        "\u{feff}-- first; 'line'\r\n/* a ; b\r\n */ CREATE TABLE t （a　INT， b STRING） WITH ('connector' = 'test')；\r\n\r\n;;\
         SELECT 'x;y；z，' AS s, /* , */ a FROM t -- last",
    );
    assert_eq!(shown(&mut session, "desc t;;").len(), 2);
}

#[test]
fn errors_show_line_column_and_the_line() {
    let mut session = session();
    run(&mut session, "CREATE TABLE t (a INT) WITH ('connector' = 'test')");
    let error = refused(&mut session, "-- one\r\nSELECT a\r\n  FROM t\r\n  WHERE　nope > 1");
    match error.location() {
        Some(Location::Sql { line, column, source_line, .. }) => {
            assert_eq!((*line, *column), (4, 9));
            assert_eq!(source_line.as_deref(), Some("  WHERE　nope > 1"));
        }
        other => panic!("{other:?}"),
    }
    let error = refused(&mut session, "SELECT a FROM t WHERE");
    assert!(matches!(error.location(), Some(Location::Sql { line: 1, .. })), "{error}");
}

#[test]
fn set_has_quoted_and_unquoted_forms() {
    let mut session = session();
    for sql in [
        "SET 'table.exec.state.ttl' = '1 h'",
        "SET table.exec.state.ttl = 1 h",
        "set table.exec.state.ttl=1 h;",
        "SET 'table.exec.state.ttl'='1 h'",
    ] {
        run(&mut session, &format!("RESET; {sql}"));
        assert_eq!(shown(&mut session, "SET"), [["table.exec.state.ttl", "1 h"]], "{sql}");
    }
    run(&mut session, "RESET table.exec.state.ttl");
    assert!(shown(&mut session, "SET").is_empty());
}

#[test]
fn statement_sets_have_two_forms() {
    let mut session = session();
    run(&mut session, "CREATE TABLE t (a INT) WITH ('connector' = 'test')");
    for sql in [
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO t VALUES (2), (3); END;",
        "BEGIN STATEMENT SET; INSERT INTO t SELECT CASE WHEN TRUE THEN 1 END; INSERT INTO t SELECT 1; END;",
        "EXECUTE INSERT INTO t SELECT 1",
        "EXPLAIN PLAN FOR INSERT INTO t SELECT 1",
        "EXPLAIN ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN, PLAN_ADVICE SELECT a FROM t",
        "EXPLAIN STATEMENT SET BEGIN INSERT INTO t SELECT 1; END",
    ] {
        run(&mut session, sql);
    }
}
