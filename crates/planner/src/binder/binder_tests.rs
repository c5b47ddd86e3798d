//! Tests of binding: names, types, group keys, windows.

use crate::binder::{self, Binder};
use crate::session::Session;
use crate::test_support::{execute, session};
use base::{Error, Result};
use datafusion_expr::LogicalPlan;

const TABLES: &str = "CREATE TABLE orders (id INT, k STRING, v INT, price DECIMAL(10, 2), ts TIMESTAMP(3), \
    plain TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'test'); \
    CREATE VIEW sums AS SELECT k, SUM(v) AS s FROM orders GROUP BY k;";

fn orders() -> Session {
    let mut session = session();
    execute(&mut session, TABLES).unwrap();
    session
}

fn bind(session: &Session, sql: &str) -> Result<LogicalPlan> {
    let syntax::Statement::Query(query) = syntax::parse_statement(sql).map_err(Error::internal)? else {
        return Err(Error::internal("no query"));
    };
    Binder::new(&session.catalogs, session.function_context()?, None).query(&query)
}

fn row(sql: &str) -> String {
    let plan = bind(&orders(), sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let before = Binder::row_type(&plan).unwrap();
    let optimized = binder::optimize(plan).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert_eq!(before.to_string(), Binder::row_type(&optimized).unwrap().to_string(), "{sql}");
    // The optimizer runs once.
    let text = optimized.display_indent().to_string();
    let again = binder::optimize(optimized).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert_eq!(text, again.display_indent().to_string(), "{sql}");
    before.to_string()
}

#[test]
fn one_pass_of_the_optimizer_finds_everything() {
    for sql in [
        "SELECT a FROM (SELECT v + 1 AS a, k, price FROM orders WHERE k LIKE 'x%') WHERE a > 2 AND 1 = 1 AND k <> 'y'",
        "SELECT k FROM (SELECT k, s FROM sums WHERE s > 1 + 2) WHERE s < 10 AND k IS NOT NULL",
        "SELECT k, COUNT(DISTINCT v) AS c FROM (SELECT * FROM orders UNION ALL SELECT * FROM orders WHERE v = -1) \
         WHERE v > 0 GROUP BY k HAVING COUNT(*) > 1 + 1",
        "SELECT DISTINCT k FROM (SELECT k, v, v AS w FROM orders WHERE TRUE AND v IN (1, 2, 3)) WHERE w = 2",
        "SELECT window_start AS w, c FROM (SELECT window_start, window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE \
         orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE v > 1 GROUP BY window_start, window_end) WHERE c > 3",
        "SELECT CASE WHEN FALSE THEN 1 ELSE v END AS x FROM (SELECT v FROM (SELECT v, k FROM orders) WHERE k = 'a')",
    ] {
        row(sql);
    }
}

fn code(sql: &str) -> &'static str {
    bind(&orders(), sql).expect_err(sql).code()
}

#[test]
fn columns_are_named_and_typed_as_in_flink() {
    for (sql, expected) in [
        ("SELECT v, v FROM orders", "v INT, v0 INT"),
        ("SELECT v + 1, k FROM orders", "EXPR$0 INT, k STRING"),
        (
            "SELECT 1, 'abc', 0.1, 1e3",
            "EXPR$0 INT NOT NULL, EXPR$1 CHAR(3) NOT NULL, EXPR$2 DECIMAL(2, 1) NOT NULL, EXPR$3 DOUBLE NOT NULL",
        ),
        ("SELECT price * v AS t FROM orders", "t DECIMAL(21, 2)"),
        ("SELECT CAST(v AS STRING) AS s, TRY_CAST(k AS INT) AS i FROM orders", "s STRING, i INT"),
        ("SELECT ts FROM orders", "ts TIMESTAMP(3) *ROWTIME*"),
        ("SELECT ts - INTERVAL '5' SECOND AS a FROM orders", "a TIMESTAMP(3) *ROWTIME*"),
        ("SELECT CASE WHEN v > 1 THEN 1 ELSE price END AS c FROM orders", "c DECIMAL(12, 2)"),
        ("SELECT CASE v WHEN 1 THEN 'a' ELSE 'bcd' END AS c FROM orders", "c VARCHAR(3) NOT NULL"),
        ("SELECT k, COUNT(*) AS c, SUM(v) AS s FROM orders GROUP BY k", "k STRING, c BIGINT NOT NULL, s INT"),
        ("SELECT * FROM (VALUES (1, 'a'), (2, 'bc')) AS t (a, b)", "a INT NOT NULL, b VARCHAR(2) NOT NULL"),
        ("SELECT v FROM orders UNION ALL SELECT price FROM orders", "v DECIMAL(12, 2)"),
        ("SELECT k FROM orders WHERE v IN (1, 2) AND v BETWEEN 1 AND 3", "k STRING"),
        ("SELECT s FROM sums WHERE k = 'x'", "s INT"),
        ("WITH x AS (SELECT k, v FROM orders) SELECT o.k FROM x AS o", "k STRING"),
        ("SELECT PROCTIME() AS p, CURRENT_DATE AS d", "p TIMESTAMP_LTZ(3) NOT NULL, d DATE NOT NULL"),
    ] {
        assert_eq!(row(sql), expected, "{sql}");
    }
}

#[test]
fn window_functions() {
    let expected = "k STRING, s TIMESTAMP(3) NOT NULL, c BIGINT NOT NULL";
    for sql in [
        "SELECT k, window_start AS s, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end",
        "SELECT k, window_start AS s, COUNT(*) AS c FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL 1 MINUTE) GROUP BY k, window_start, window_end",
        "SELECT k, window_start AS s, COUNT(*) AS c FROM TABLE(TUMBLE(DATA => TABLE orders, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end",
        "SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE) AS s, COUNT(*) AS c FROM orders GROUP BY k, TUMBLE(ts, INTERVAL 1 MINUTE)",
        "SELECT k, HOP_START(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) AS s, COUNT(*) AS c FROM orders GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE), k",
    ] {
        assert_eq!(row(sql), expected, "{sql}");
    }
    assert_eq!(
        row("SELECT TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS r FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"),
        "r TIMESTAMP(3) *ROWTIME*"
    );
}

#[test]
fn the_same_interval_gives_the_same_plan() {
    let plan = |size: &str| {
        let sql = format!(
            "SELECT k, window_start, SUM(v) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL {size} MINUTE)) \
             GROUP BY k, window_start, window_end"
        );
        binder::optimize(bind(&orders(), &sql).unwrap()).unwrap().display_indent_schema().to_string()
    };
    assert_eq!(plan("'1'"), plan("1"));
}

#[test]
fn group_keys_are_not_widened() {
    let plan =
        bind(&orders(), "SELECT k, COUNT(*) FROM (SELECT k, SUM(v) AS s FROM orders GROUP BY k) GROUP BY k").unwrap();
    let text = plan.display_indent().to_string();
    assert!(text.contains("groupBy=[[k]]") || text.contains("groupBy=[[orders.k]]"), "{text}");
    assert_eq!(code("SELECT k, s, COUNT(*) FROM (SELECT k, SUM(v) AS s FROM orders GROUP BY k) GROUP BY k"), "HW-P031");
    assert_eq!(code("SELECT k, s, COUNT(*) FROM sums GROUP BY k"), "HW-P031");
    assert_eq!(code("WITH x AS (SELECT k, SUM(v) AS s FROM orders GROUP BY k) SELECT s FROM x GROUP BY k"), "HW-P031");
}

#[test]
fn what_flink_refuses_is_refused() {
    for (sql, expected) in [
        ("SELECT kk FROM orders", "HW-P005"),
        ("SELECT nothing FROM orders", "HW-P006"),
        ("SELECT k FROM order_lines", "HW-P301"),
        ("SELECT k FROM ordrs", "HW-P300"),
        ("SELECT v FROM orders GROUP BY k", "HW-P031"),
        ("SELECT k, COUNT(*) FROM orders GROUP BY 1", "HW-P308"),
        ("SELECT UPPER(k) AS u, COUNT(*) FROM orders GROUP BY u", "HW-P032"),
        ("SELECT k, COUNT(*) AS c FROM orders GROUP BY k HAVING c > 1", "HW-P032"),
        ("SELECT NULL AS x", "HW-P033"),
        ("SELECT * FROM (VALUES (1), (NULL)) AS t (a)", "HW-P033"),
        ("SELECT COUNT(NULL) FROM orders", "HW-P033"),
        ("SELECT v + (NULL) FROM orders", "HW-P033"),
        ("SELECT UPPER(NULL) FROM orders", "HW-P033"),
        ("SELECT k LIKE NULL FROM orders", "HW-P033"),
        ("SELECT COUNTT(v) FROM orders", "HW-P029"),
        ("SELECT CASE WHEN v THEN 1 END FROM orders", "HW-P046"),
        ("SELECT k FROM orders WHERE v", "HW-P046"),
        ("SELECT k, COUNT(*) FILTER (WHERE v) FROM orders GROUP BY k", "HW-P046"),
        ("SELECT COUNT(DISTINCT k, v) FROM orders", "HW-I002"),
        ("SELECT COUNT(DISTINCT *) FROM orders", "HW-I002"),
        ("SELECT v FROM orders UNION ALL SELECT ts FROM orders", "HW-P045"),
        ("SELECT COUNT(*) FROM orders GROUP BY TUMBLE(plain, INTERVAL '1' MINUTE)", "HW-P041"),
        ("SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(plain), INTERVAL '1' MINUTE))", "HW-P041"),
        ("SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts)))", "HW-P042"),
        ("SELECT * FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '3' MINUTE))", "HW-P043"),
        ("SELECT ROW_NUMBER() FROM orders", "HW-P606"),
        ("SELECT ROW_NUMBER() OVER (PARTITION BY k) FROM orders", "HW-P605"),
        ("SELECT UPPER(k) OVER (ORDER BY ts) FROM orders", "HW-P602"),
        ("SELECT COUNT(*) FILTER (WHERE v > 1) OVER (ORDER BY ts) FROM orders", "HW-P603"),
        ("SELECT RANK() OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders", "HW-P604"),
        ("SELECT k FROM orders WHERE SUM(v) OVER (ORDER BY ts) > 1", "HW-P607"),
        ("SELECT SUM(v) OVER (ORDER BY ts ROWS BETWEEN -1 PRECEDING AND CURRENT ROW) FROM orders", "HW-P608"),
        ("SELECT SUM(v) OVER (ORDER BY ts ROWS BETWEEN v PRECEDING AND CURRENT ROW) FROM orders", "HW-P608"),
        (
            "SELECT SUM(v) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' MONTH PRECEDING AND CURRENT ROW) FROM orders",
            "HW-P608",
        ),
        ("SELECT SUM(v) OVER w FROM orders WINDOW x AS (ORDER BY ts)", "HW-P600"),
        ("SELECT SUM(v) OVER (w ORDER BY v) FROM orders WINDOW w AS (ORDER BY ts)", "HW-P601"),
        ("SELECT LAG(v, 1, 2.5) OVER (ORDER BY ts) FROM orders", "HW-T010"),
        ("SELECT LAG(v, k) OVER (ORDER BY ts) FROM orders", "HW-T010"),
    ] {
        assert_eq!(code(sql), expected, "{sql}: {}", bind(&orders(), sql).expect_err(sql));
    }
    assert!(bind(&orders(), "SELECT k FROM orders WHERE v = '1'").is_err());
    let wrong = "SELECT TUMBLE_START(ts, INTERVAL '2' MINUTE) FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)";
    assert!(bind(&orders(), wrong).is_err());
}

#[test]
fn window_functions_have_the_types_of_flink() {
    assert_eq!(
        row("SELECT ROW_NUMBER() OVER w AS a, COUNT(*) OVER w AS b, SUM(v) OVER w AS c, LAG(v) OVER w AS d, \
             LAG(v, 2, -1) OVER w AS e, LAG(k, 1, 'x') OVER w AS f, PERCENT_RANK() OVER w AS g, NTILE(3) OVER w AS h \
             FROM orders WINDOW w AS (PARTITION BY k ORDER BY ts)"),
        "a BIGINT NOT NULL, b BIGINT NOT NULL, c INT, d INT, e INT NOT NULL, f STRING NOT NULL, g DOUBLE NOT NULL, \
         h BIGINT NOT NULL"
    );
    // Of a frame with a lower bound Flink does not know that it has the current row.
    assert_eq!(
        row("SELECT SUM(n) OVER (ORDER BY ts) AS a, \
             SUM(n) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS b \
             FROM (SELECT ts, CHAR_LENGTH('a') AS n FROM orders)"),
        "a INT NOT NULL, b INT"
    );
}

#[test]
fn a_shadowed_alias_is_the_column() {
    assert_eq!(row("SELECT UPPER(k) AS v, COUNT(*) AS c FROM orders GROUP BY k, v"), "v STRING, c BIGINT NOT NULL");
}

#[test]
fn bare_nulls_are_refused_where_flink_does() {
    for sql in ["SELECT NULL OR TRUE", "SELECT k || NULL FROM orders", "SELECT ROW(1, NULL)"] {
        assert_eq!(code(sql), "HW-P033", "{sql}");
    }
    assert_eq!(row("SELECT ARRAY[1, NULL] AS a"), "a ARRAY<INT> NOT NULL");
}

#[test]
fn functions_of_flink_that_are_not_built_are_told_from_unknown_ones() {
    for sql in ["SELECT GET(k, 1) FROM orders", "SELECT RAND(1)"] {
        assert_eq!(code(sql), "HW-I002", "{sql}");
    }
    assert_eq!(code("SELECT PARSE_JSO(k) FROM orders"), "HW-P029");
    assert_eq!(
        row("SELECT RAND() AS r, RAND_INTEGER(v) AS i, UUID() AS u, UNIX_TIMESTAMP() AS s FROM orders"),
        "r DOUBLE NOT NULL, i INT, u CHAR(36) NOT NULL, s BIGINT NOT NULL"
    );
}

#[test]
fn the_rowtime_of_a_group_window_is_nullable() {
    let legacy =
        "SELECT TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS r FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)";
    assert_eq!(row(legacy), "r TIMESTAMP(3) *ROWTIME*");
    let table = "SELECT window_time FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))";
    assert_eq!(row(table), "window_time TIMESTAMP(3) NOT NULL *ROWTIME*");
}

#[test]
fn not_and_is_true_take_conditions_only() {
    for sql in ["SELECT NOT k FROM orders", "SELECT k IS TRUE FROM orders", "SELECT v IS NOT UNKNOWN FROM orders"] {
        assert_eq!(code(sql), crate::codes::NOT_BOOLEAN.code, "{sql}");
    }
    assert_eq!(row("SELECT NOT (v > 1) AS n, (v > 1) IS NOT FALSE AS f FROM orders"), "n BOOLEAN, f BOOLEAN NOT NULL");
}

#[test]
fn a_bare_null_is_a_condition() {
    for sql in ["SELECT k FROM orders WHERE NULL", "SELECT k FROM orders GROUP BY k HAVING NULL"] {
        let plan = bind(&orders(), sql).unwrap().display_indent().to_string();
        assert!(plan.contains("Filter: Boolean(NULL)"), "{sql}: {plan}");
    }
    assert_eq!(row("SELECT CASE WHEN NULL THEN 1 ELSE 2 END AS c FROM orders"), "c INT NOT NULL");
    assert_eq!(row("SELECT COUNT(*) FILTER (WHERE NULL) AS c FROM orders"), "c BIGINT NOT NULL");
}

#[test]
fn case_is_null_where_a_branch_can_be() {
    assert_eq!(
        row("SELECT CASE WHEN v IS NOT NULL THEN v ELSE 0 END AS a, CASE WHEN v > 1 THEN 1 END AS c, \
             CASE WHEN v > 1 THEN 1 ELSE 2 END AS d FROM orders"),
        "a INT, c INT, d INT NOT NULL"
    );
    let plan =
        bind(&orders(), "SELECT CASE WHEN TRUE THEN 1 ELSE NULL END AS b, CASE WHEN TRUE THEN 1 END AS c").unwrap();
    assert_eq!(Binder::row_type(&plan).unwrap().to_string(), "b INT, c INT");
}

fn all_codes(sql: &str) -> Vec<&'static str> {
    let error = bind(&orders(), sql).expect_err(sql);
    std::iter::once(error.code()).chain(error.others().iter().map(Error::code)).collect()
}

#[test]
fn every_wrong_name_is_told() {
    for (sql, expected) in [
        ("SELECT kk, vv, UPER(k) FROM orders", vec!["HW-P005", "HW-P005", "HW-P029"]),
        ("SELECT kk + vv FROM orders WHERE kk = 1", vec!["HW-P005", "HW-P005"]),
        ("SELECT k FROM nowhere JOIN nothing ON nowhere.id = nothing.id", vec!["HW-P301", "HW-P301"]),
        ("SELECT x.k FROM orders AS o", vec!["HW-P305"]),
        ("SELECT ordres.k FROM orders", vec!["HW-P306"]),
        ("SELECT k FROM orders AS a JOIN orders AS b ON a.id = b.id", vec!["HW-P007"]),
        ("SELECT dt, k FROM orders", vec!["HW-P307"]),
        ("SELECT k FROM (SELECT kk FROM orders) AS x", vec!["HW-P005", "HW-P005"]),
        ("WITH x AS (SELECT vv FROM orders) SELECT vw FROM x", vec!["HW-P005", "HW-P005"]),
        ("SELECT k FROM orders WHERE EXISTS (SELECT 1 FROM sums WHERE sums.k = orders.kk)", vec!["HW-P005"]),
        ("SELECT nmae FROM orders CROSS JOIN UNNEST(ARRAY[1]) AS u (n)", vec!["HW-P006"]),
        ("SELECT k FROM orders ORDER BY kk", vec!["HW-P005"]),
        ("SELECT k FROM a.b.c", vec!["HW-P303"]),
        ("SELECT k FROM nodb.c", vec!["HW-P304"]),
        ("SELECT k, v FROM orders UNION ALL SELECT k FROM orders", vec!["HW-P309"]),
        ("SELECT id FROM orders AS a JOIN orders AS b USING (idd)", vec!["HW-P005", "HW-P007"]),
        ("SELECT k, COUNT(*) FROM orders GROUP BY 1", vec!["HW-P308"]),
        ("SELECT UPPER(k) AS u, COUNT(*) AS c FROM orders GROUP BY u HAVING c > 1", vec!["HW-P032", "HW-P032"]),
    ] {
        assert_eq!(all_codes(sql), expected, "{sql}: {}", bind(&orders(), sql).expect_err(sql));
    }
}

#[test]
fn forms_that_are_not_built_stay_the_message_of_a_query_without_mistakes() {
    for sql in [
        "SELECT k FROM orders WHERE (v, k) NOT IN (SELECT v, k FROM orders)",
        "SELECT o.k FROM orders AS o TABLESAMPLE SYSTEM (10)",
    ] {
        assert_eq!(all_codes(sql), ["HW-I002"], "{sql}: {}", bind(&orders(), sql).expect_err(sql));
    }
}

#[test]
fn the_fields_of_a_row_are_columns() {
    let mut session = session();
    let tables = "CREATE TABLE t (id INT, r ROW<a INT, b ROW<c STRING>>) WITH ('connector' = 'test');";
    execute(&mut session, tables).unwrap();
    let row = |sql: &str| Binder::row_type(&bind(&session, sql).unwrap_or_else(|error| panic!("{error}"))).unwrap();
    assert_eq!(row("SELECT r.* FROM t").to_string(), "a INT, b ROW<`c` STRING>");
    assert_eq!(row("SELECT id, x.r.*, x.r.b.* FROM t AS x").to_string(), "id INT, a INT, b ROW<`c` STRING>, c STRING");
    assert_eq!(row("SELECT s.* FROM (SELECT r AS s FROM t)").to_string(), "a INT, b ROW<`c` STRING>");
}

#[test]
fn a_processing_time_that_is_missing_and_a_lookup_of_the_past_are_notes() {
    let session = orders();
    let binder = Binder::new(&session.catalogs, session.function_context().unwrap(), None);
    let sql = "SELECT o.k FROM orders AS o JOIN orders FOR SYSTEM_TIME AS OF o.proctime AS u ON o.k = u.k";
    let syntax::Statement::Query(query) = syntax::parse_statement(sql).unwrap() else { panic!("no query") };
    assert!(binder.query(&query).is_ok());
    let codes: Vec<&str> = binder.warnings.borrow().iter().map(Error::code).collect();
    assert_eq!(codes, ["HW-P311"]);
    assert_eq!(
        all_codes("SELECT o.k FROM orders AS o JOIN orders FOR SYSTEM_TIME AS OF o.plain AS u ON o.k = u.k"),
        ["HW-P310"]
    );
}

/// Code and column of every problem of a query of a script.
fn placed(session: &Session, sql: &str) -> Vec<(&'static str, u64)> {
    let error = execute(&mut session.clone(), sql).expect_err(sql);
    let place = |error: &Error| match error.location() {
        Some(base::Location::Sql { column, .. }) => (error.code(), *column),
        other => panic!("{sql}: {other:?}: {error}"),
    };
    std::iter::once(&error).chain(error.others()).map(place).collect()
}

#[test]
fn structure_is_told_with_its_place() {
    let session = orders();
    for (sql, expected) in [
        ("SELECT SUM(SUM(v)) FROM orders", vec![("HW-P315", 12)]),
        ("SELECT k, MAX(1 + COUNT(*)) FROM orders GROUP BY k", vec![("HW-P315", 19)]),
        ("SELECT SUM(SUM(1)) FROM orders", vec![("HW-P315", 12)]),
        ("SELECT k FROM orders WHERE SUM(v) > 1", vec![("HW-P314", 28)]),
        ("SELECT k FROM orders GROUP BY MAX(k)", vec![("HW-P314", 31)]),
        ("SELECT a.k FROM orders AS a JOIN orders AS b ON MAX(a.id) = b.id", vec![("HW-P314", 49)]),
        ("SELECT SUM(v) FROM orders HAVING id > 1", vec![("HW-P031", 34)]),
        ("SELECT k, SUM(v) FROM orders GROUP BY k HAVING id > 1", vec![("HW-P031", 48)]),
        ("WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a", vec![("HW-P316", 23)]),
        ("WITH a (x, y) AS (SELECT 1) SELECT * FROM a", vec![("HW-P317", 6)]),
        ("SELECT * FROM (SELECT k, v FROM orders) AS a (x)", vec![("HW-P317", 44)]),
        ("SELECT * FROM (SELECT k FROM orders) TABLESAMPLE SYSTEM (10)", vec![("HW-I002", 16)]),
    ] {
        assert_eq!(placed(&session, sql), expected, "{sql}: {}", bind(&session, sql).expect_err(sql));
    }
    let text = |sql: &str| bind(&session, sql).expect_err(sql).to_string();
    assert!(text("SELECT * FROM (SELECT k FROM orders) TABLESAMPLE SYSTEM (10)").contains("TABLESAMPLE"));
    assert!(text("SELECT SUM(SUM(1)) FROM orders").contains("SELECT SUM(x) FROM (SELECT SUM(1) AS x"));
}

#[test]
fn fields_and_stars_of_columns_are_told() {
    let mut session = session();
    execute(&mut session, "CREATE TABLE t (a INT, r ROW<x INT, city ROW<zip STRING>>) WITH ('connector' = 'test');")
        .unwrap();
    for (sql, code, column, part) in [
        ("SELECT a.b FROM t", "HW-P318", 8, "a has no field b: it is INT"),
        ("SELECT 1 FROM t WHERE t.a.b > 1", "HW-P318", 23, "t.a has no field b: it is INT"),
        ("SELECT r.cty FROM t", "HW-P321", 8, "did you mean city? fields here: x, city"),
        ("SELECT t.r.city.q FROM t", "HW-P319", 8, "row t.r.city has no field q"),
        ("SELECT r.x.y FROM t", "HW-P318", 8, "r.x has no field y"),
        ("SELECT a.* FROM t", "HW-P320", 8, "a.* needs a table or a ROW: a is INT"),
        ("SELECT b.* FROM t", "HW-P305", 8, "FROM has: t"),
    ] {
        let text = bind(&session, sql).expect_err(sql).to_string();
        assert_eq!(placed(&session, sql), [(code, column)], "{sql}: {text}");
        assert!(text.contains(part), "{sql}: {text}");
    }
}
