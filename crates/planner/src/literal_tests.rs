//! Tests of typed literals.

use super::*;
use datafusion_expr::Expr;

#[test]
fn a_marker_has_the_name_of_its_literal() {
    let literal = Literal::string("it's");
    let name = literal.to_expr().schema_name().to_string();
    let marker = literal.clone().marker();
    assert_eq!(marker.call(Vec::new()).schema_name().to_string(), name);
    assert_eq!(as_literal(&marker), Some(&literal));
}

#[test]
fn a_call_keeps_its_name_when_the_literal_takes_the_place_of_its_marker() {
    let function = functions::scalar("+").unwrap();
    let function = crate::bridge::scalar_udf(
        function,
        &base::function::FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false },
    );
    for literal in [Literal::string("it's \"中\" \\"), Literal::day_time(500), Literal::year_month(18)] {
        let name = |argument: Expr| function.call(vec![argument]).schema_name().to_string();
        assert_eq!(name(literal.clone().marker().call(Vec::new())), name(literal.to_expr()));
    }
}

#[test]
fn intervals_of_equal_length_are_equal() {
    assert_eq!(Literal::day_time(60_000), Literal::day_time(60_000));
    assert_eq!(Literal::day_time(500).sql, "INTERVAL '0.500' SECOND");
    assert_eq!(Literal::year_month(18).sql_type.to_string(), "INTERVAL MONTH NOT NULL");
}
