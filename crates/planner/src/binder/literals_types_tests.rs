//! The types of expressions as a table: what literals, operators, CASE, set operations and groups give in Flink.

use crate::binder::Binder;
use crate::session::Session;
use crate::test_support::{execute, session};
use base::{Error, Result};

fn orders() -> Session {
    let mut session = session();
    let table = "CREATE TABLE orders (k STRING, v INT, price DECIMAL(10, 2)) WITH ('connector' = 'test');";
    execute(&mut session, table).unwrap();
    session
}

fn type_of(session: &Session, sql: &str) -> Result<String> {
    let syntax::Statement::Query(query) = syntax::parse_statement(sql).map_err(Error::internal)? else {
        return Err(Error::internal("no query"));
    };
    let plan = Binder::new(&session.catalogs, session.function_context()?, None).query(&query)?;
    let row = Binder::row_type(&plan)?;
    Ok(row.fields().iter().map(|field| field.sql_type.to_string()).collect::<Vec<_>>().join(", "))
}

#[test]
fn expressions_have_the_types_of_flink() {
    let session = orders();
    for (expression, expected) in [
        // Literals.
        (".5", "DECIMAL(1, 1) NOT NULL"),
        ("5.", "INT NOT NULL"),
        ("-9223372036854775808", "BIGINT NOT NULL"),
        ("12345678901234567890.5", "DECIMAL(21, 1) NOT NULL"),
        ("''", "CHAR(0) NOT NULL"),
        ("U&'caf\\00e9'", "CHAR(4) NOT NULL"),
        ("x'0AFF'", "BINARY(2) NOT NULL"),
        ("TIME '01:02:03.456'", "TIME(3) NOT NULL"),
        ("INTERVAL '1' WEEK", "INTERVAL SECOND(3) NOT NULL"),
        // Decimals.
        ("1 / 3.0", "DECIMAL(17, 6) NOT NULL"),
        ("5 / 2 * 2.0", "DECIMAL(13, 1) NOT NULL"),
        ("CAST(1 AS DECIMAL(38, 10)) + CAST(1 AS DECIMAL(38, 20))", "DECIMAL(38, 9) NOT NULL"),
        ("CAST(1 AS DECIMAL(38, 18)) * CAST(1 AS DECIMAL(38, 18))", "DECIMAL(38, 6) NOT NULL"),
        ("CAST(1 AS DECIMAL(10, 2)) % CAST(3 AS DECIMAL(20, 5))", "DECIMAL(13, 5) NOT NULL"),
        ("CAST(1 AS FLOAT) + 1.5", "DOUBLE NOT NULL"),
        ("price * v", "DECIMAL(21, 2)"),
        // Common types.
        (
            "CASE WHEN v > 1 THEN CAST(1 AS DECIMAL(38, 0)) ELSE CAST(1 AS DECIMAL(38, 10)) END",
            "DECIMAL(38, 0) NOT NULL",
        ),
        ("CASE WHEN v > 1 THEN 'a' WHEN v > 2 THEN 'bcd' END", "VARCHAR(3)"),
        ("CASE WHEN v > 1 THEN x'01' ELSE x'0203' END", "VARBINARY(2) NOT NULL"),
        ("COALESCE(price, 0)", "DECIMAL(12, 2) NOT NULL"),
        ("ARRAY[1, 2.5]", "ARRAY<DECIMAL(11, 1) NOT NULL> NOT NULL"),
        ("NULLIF(1, 1.0)", "INT"),
        // Casts.
        ("CAST(k AS VARCHAR)", "STRING"),
        ("CAST(k AS VARBINARY)", "BYTES"),
        ("CAST(k AS CHAR)", "CHAR(1)"),
        ("CAST(1 AS DEC(5, 1))", "DECIMAL(5, 1) NOT NULL"),
        ("TRY_CAST('1' AS INT)", "INT"),
        ("CAST(5 AS INTERVAL DAY)", "INTERVAL SECOND(3) NOT NULL"),
        ("ROUND(price, 1)", "DECIMAL(10, 1)"),
        ("ROUND(price, CAST(1 AS INT))", "DECIMAL(10, 1)"),
        ("ROUND(price, 2 - 1)", "DECIMAL(10, 2)"),
        ("TO_TIMESTAMP_LTZ(v, 6)", "TIMESTAMP_LTZ(6)"),
        ("TO_TIMESTAMP_LTZ(v, 3 + 3)", "TIMESTAMP_LTZ(3)"),
        ("TO_TIMESTAMP_LTZ(k, 'yyyy', UPPER('nowhere'))", "TIMESTAMP_LTZ(3)"),
        ("MAP[1, NULL]", "MAP<INT NOT NULL, INT> NOT NULL"),
        ("UNKNOWN", "BOOLEAN"),
    ] {
        let sql = format!("SELECT {expression} FROM orders");
        assert_eq!(type_of(&session, &sql).unwrap_or_else(|error| panic!("{sql}: {error}")), expected, "{sql}");
    }
}

#[test]
fn groups_have_rows() {
    let session = orders();
    for (sql, expected) in [
        ("SELECT SUM(1), MAX('a'), COUNT(*) FROM orders", "INT, CHAR(1), BIGINT NOT NULL"),
        ("SELECT SUM(1), MAX('a'), COUNT(*) FROM orders GROUP BY k", "INT NOT NULL, CHAR(1) NOT NULL, BIGINT NOT NULL"),
        ("SELECT SUM(1) + 1, SUM(v) FROM orders GROUP BY k", "INT NOT NULL, INT"),
        ("SELECT SUM(1) FILTER (WHERE v > 1) FROM orders GROUP BY k", "INT"),
        ("SELECT VAR_SAMP(1), VAR_POP(1) FROM orders GROUP BY k", "INT, INT NOT NULL"),
        ("SELECT LISTAGG('a', '-') FROM orders", "CHAR(1) NOT NULL"),
        ("SELECT PERCENTILE(v, 0.5), PERCENTILE(v, ARRAY[0.5]) FROM orders", "DOUBLE, ARRAY<DOUBLE>"),
        ("SELECT JSON_OBJECTAGG(KEY k VALUE v ABSENT ON NULL) FROM orders", "VARCHAR(2000) NOT NULL"),
        ("SELECT ARRAY_AGG(v) IGNORE NULLS FROM orders", "ARRAY<INT>"),
    ] {
        assert_eq!(type_of(&session, sql).unwrap_or_else(|error| panic!("{sql}: {error}")), expected, "{sql}");
    }
}

#[test]
fn what_must_be_constant_is_checked() {
    let session = orders();
    for sql in ["SELECT LISTAGG(k, k) FROM orders", "SELECT PERCENTILE(v, price) FROM orders"] {
        assert_eq!(type_of(&session, sql).unwrap_err().code(), "HW-T010", "{sql}");
    }
    assert!(type_of(&session, "SELECT LISTAGG(k, 'a' || 'b') FROM orders").is_ok());
}

#[test]
fn what_a_literal_cannot_mean_is_refused() {
    for expression in [
        "TO_TIMESTAMP_LTZ(k, 'yyyy', 'nowhere')",
        "TO_TIMESTAMP_LTZ(k, 'no pattern', 'UTC')",
        "CAST(INTERVAL '1' DAY AS BIGINT)",
        "INTERVAL '1.5' DAY",
        "COALESCE(NULL, NULL)",
        "ARRAY[NULL]",
        "MAP['a', 1, 'b', NULL]",
        "ROW()",
    ] {
        let sql = format!("SELECT {expression} FROM orders");
        assert!(type_of(&orders(), &sql).is_err(), "{sql}");
    }
}
