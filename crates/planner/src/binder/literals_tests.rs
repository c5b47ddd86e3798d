//! Tests of literals in the AST.

use super::*;
use syntax::ast::SetExpr;

fn expression(sql: &str) -> Expr {
    let syntax::Statement::Query(query) = syntax::parse_statement(&format!("SELECT {sql}")).unwrap() else { panic!() };
    let SetExpr::Select(select) = *query.body else { panic!() };
    match select.projection.into_iter().next() {
        Some(syntax::ast::SelectItem::UnnamedExpr(expr)) => expr,
        other => panic!("{other:?}"),
    }
}

fn literal(sql: &str) -> Literal {
    match expression(sql) {
        Expr::Value(found) => value(&found.value).unwrap().unwrap(),
        Expr::Interval(found) => interval(&found).unwrap(),
        Expr::TypedString(found) => typed(&found).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn literals_have_the_types_of_flink() {
    for (sql, sql_type) in [
        ("1", "INT"),
        ("3000000000", "BIGINT"),
        ("0.1", "DECIMAL(2, 1)"),
        ("12.50", "DECIMAL(4, 2)"),
        ("1e3", "DOUBLE"),
        ("'abc'", "CHAR(3)"),
        ("TRUE", "BOOLEAN"),
        ("DATE '2024-01-02'", "DATE"),
        ("TIMESTAMP '2024-01-02 03:04:05'", "TIMESTAMP(0)"),
        ("TIMESTAMP '2024-01-02 03:04:05.123'", "TIMESTAMP(3)"),
        ("TIMESTAMP '2024-01-02'", "TIMESTAMP(0)"),
        ("INTERVAL '1' DAY", "INTERVAL SECOND(3)"),
        ("INTERVAL '1-6' YEAR TO MONTH", "INTERVAL MONTH"),
    ] {
        assert_eq!(literal(sql).sql_type.logical.to_string(), sql_type, "{sql}");
    }
}

#[test]
fn intervals_are_read_in_every_form() {
    for (sql, milliseconds) in [
        ("INTERVAL '1' MINUTE", 60_000),
        ("INTERVAL 1 MINUTE", 60_000),
        ("INTERVAL '5' MINUTES", 300_000),
        ("INTERVAL '0.5' SECOND", 500),
        ("INTERVAL '-2' SECOND", -2_000),
        ("INTERVAL '1 02:03:04.5' DAY TO SECOND", 93_784_500),
        ("INTERVAL '10:30' HOUR TO MINUTE", 37_800_000),
    ] {
        assert_eq!(literal(sql).value, ScalarValue::DurationMillisecond(Some(milliseconds)), "{sql}");
    }
    assert_eq!(literal("INTERVAL '1-6' YEAR TO MONTH").value, ScalarValue::IntervalYearMonth(Some(18)));
}

#[test]
fn wrong_literals_are_errors() {
    let Expr::TypedString(bad) = expression("TIMESTAMP '2024-13-02 03:04:05'") else { panic!() };
    assert_eq!(typed(&bad).unwrap_err().code(), "HW-P047");
    assert_eq!(number("9223372036854775808", false).unwrap_err().code(), "HW-P047");
    assert_eq!(number("1e400", false).unwrap_err().code(), "HW-P047");
    assert_eq!(number("9223372036854775808", true).unwrap().sql_type.logical, LogicalType::BigInt);
}

#[test]
fn numbers_that_become_intervals_count_the_unit() {
    for (sql, expected) in [
        ("CAST(5 AS INTERVAL DAY)", Some(ScalarValue::DurationMillisecond(Some(432_000_000)))),
        ("CAST((2) AS INTERVAL YEAR)", Some(ScalarValue::IntervalYearMonth(Some(24)))),
        ("CAST(INTERVAL '1' DAY AS BIGINT)", None),
        ("CAST(INTERVAL '1-2' YEAR TO MONTH AS INT)", None),
        ("CAST(INTERVAL '1' DAY AS STRING)", None),
        ("CAST(5 AS BIGINT)", None),
    ] {
        let Expr::Cast { expr, data_type, .. } = expression(sql) else { panic!("{sql}") };
        assert_eq!(interval_cast(&expr, &data_type).unwrap().map(|literal| literal.value), expected, "{sql}");
    }
}
