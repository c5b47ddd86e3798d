//! Casts of columns with NULLs, of nested values, and what is refused.

use super::*;
use crate::to_text;

fn context(zone: &str) -> FunctionContext {
    FunctionContext { time_zone: zone.parse().unwrap() }
}

fn sql(text: &str) -> SqlType {
    text.parse().unwrap()
}

fn convert(values: &[Option<&str>], path: &[&str], try_cast: bool, zone: &str) -> Result<Vec<Option<String>>> {
    let context = context(zone);
    let mut array: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    let mut from = SqlType::string();
    for to in path {
        let to = sql(to);
        array = cast(&array, &from, &to, try_cast, &context)?;
        assert_eq!(*array.data_type(), to.arrow());
        from = to;
    }
    let texts = to_text(&array, &from, context.time_zone)?;
    Ok(texts.iter().map(|text| text.map(str::to_string)).collect())
}

#[test]
fn columns_keep_nulls() {
    let cases: &[(&[&str], &str, &str)] = &[
        (&["INT", "TINYINT"], "300", "44"),
        (&["DOUBLE", "INT"], "-1e20", "-2147483648"),
        (&["DOUBLE", "DECIMAL(10, 2)"], "1.005", "1.01"),
        (&["DECIMAL(10, 2)", "DOUBLE"], "12.34", "12.34"),
        (&["DECIMAL(10, 2)", "DECIMAL(3, 1)"], "12.35", "12.4"),
        (&["BIGINT", "DECIMAL(38, 10)"], "9223372036854775807", "9223372036854775807.0000000000"),
        (&["BOOLEAN", "DECIMAL(5, 2)"], "true", "1.00"),
        (&["DECIMAL(5, 2)", "BOOLEAN"], "0.01", "TRUE"),
        (&["CHAR(5)"], "ab", "ab   "),
        (&["CHAR(2)"], "äöü", "äö"),
        (&["TIMESTAMP(9)", "TIMESTAMP(3)"], "1969-12-31 23:59:59.999999999", "1969-12-31 23:59:59.999"),
        (&["TIMESTAMP(6)", "TIMESTAMP(0)"], "1969-12-31 23:59:59.5", "1969-12-31 23:59:59"),
        (&["TIMESTAMP(9)"], "2024-01-02 03:04:05.123456789", "2024-01-02 03:04:05.123456789"),
        (&["TIMESTAMP(3)", "TIME(3)"], "1969-12-31 23:59:59.25", "23:59:59.250"),
        (&["DATE", "TIMESTAMP_LTZ(3)", "DATE"], "2024-03-31", "2024-03-31"),
        (&["INT", "INTERVAL DAY TO SECOND", "BIGINT"], "90061001", "90061001"),
    ];
    for (path, input, expected) in cases {
        let got = convert(&[Some(input), None], path, false, "Asia/Shanghai").unwrap();
        assert_eq!(got, [Some(expected.to_string()), None], "{input} to {path:?}");
    }
}

#[test]
fn instants_use_the_zone() {
    let path = ["TIMESTAMP_LTZ(3)", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", "STRING"];
    let got = convert(&[Some("2024-07-01 12:00:00.5")], &path, false, "Europe/Berlin").unwrap();
    assert_eq!(got, [Some("2024-07-01 12:00:00.500".to_string())]);
    let array: ArrayRef = Arc::new(Int64Array::from(vec![1_719_828_000_000]));
    let instants = times::with_timestamp_type(array.as_primitive().clone(), &sql("TIMESTAMP_LTZ(3)").arrow());
    let texts = to_text(&instants, &sql("TIMESTAMP_LTZ(3)"), chrono_tz::Europe::Berlin).unwrap();
    assert_eq!(texts.value(0), "2024-07-01 12:00:00.000");
}

#[test]
fn try_cast_gives_null() {
    for (text, to) in [("x", "INT"), ("99999999999", "INT"), ("2024-13-01", "DATE"), ("", "DOUBLE"), ("1e3", "BIGINT")]
    {
        assert_eq!(convert(&[Some(text)], &[to], true, "UTC").unwrap(), [None], "{text} to {to}");
        let error = convert(&[Some(text)], &[to], false, "UTC").unwrap_err();
        assert_eq!(error.code(), "HW-T014", "{text} to {to}");
        assert_eq!(error.domain(), base::Domain::Data);
    }
    // An overflowing number is NULL for both.
    assert_eq!(convert(&[Some("1000")], &["INT", "DECIMAL(2, 0)"], false, "UTC").unwrap(), [None]);
}

#[test]
fn only_some_casts_exist() {
    let cases = [
        ("INT", "BIGINT", CastSupport::Implicit),
        ("BIGINT", "INT", CastSupport::Explicit),
        ("INT", "DOUBLE", CastSupport::Implicit),
        ("STRING", "INT", CastSupport::Explicit),
        ("CHAR(3)", "STRING", CastSupport::Implicit),
        ("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", CastSupport::Implicit),
        ("TIMESTAMP(3)", "BIGINT", CastSupport::No),
        ("DATE", "INT", CastSupport::No),
        ("INT", "TIMESTAMP(3)", CastSupport::No),
        ("ARRAY<INT>", "ARRAY<STRING>", CastSupport::Explicit),
        ("ROW<a INT>", "ROW<b BIGINT>", CastSupport::Implicit),
        ("ROW<a INT>", "ROW<a INT, b INT>", CastSupport::No),
        ("MAP<STRING, INT>", "ARRAY<INT>", CastSupport::No),
    ];
    for (from, to, expected) in cases {
        assert_eq!(can_cast(&sql(from), &sql(to)), expected, "{from} to {to}");
    }
    let array: ArrayRef = new_empty_array(&sql("TIMESTAMP(3)").arrow());
    let error = cast(&array, &sql("TIMESTAMP(3)"), &sql("BIGINT"), false, &context("UTC")).unwrap_err();
    assert_eq!(error.code(), "HW-T012");
}

#[test]
fn a_slice_of_a_list_converts_only_itself() {
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(SqlType::string().arrow_field("item"));
    for values in [vec![Some("not a number")], vec![Some("1"), None], vec![Some("x")]] {
        for value in values {
            builder.values().append_option(value);
        }
        builder.append(true);
    }
    let array: ArrayRef = Arc::new(builder.finish().slice(1, 1));
    let out = cast(&array, &sql("ARRAY<STRING>"), &sql("ARRAY<INT>"), false, &context("UTC")).unwrap();
    assert_eq!(to_text(&out, &sql("ARRAY<INT>"), chrono_tz::UTC).unwrap().value(0), "[1, NULL]");
}
