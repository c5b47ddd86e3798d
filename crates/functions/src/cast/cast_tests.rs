//! Casts of columns with NULLs, of nested values, and what is refused.

use super::*;
use crate::to_text;

fn context(zone: &str) -> FunctionContext {
    FunctionContext { time_zone: zone.parse().unwrap(), legacy_cast: false }
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
        (&["TIMESTAMP(3)", "TIME(3)"], "1969-12-31 23:59:59.25", "23:59:59.25"),
        (&["DATE", "TIMESTAMP_LTZ(3)", "DATE"], "2024-03-31", "2024-03-31"),
        (&["INT", "INTERVAL DAY TO SECOND", "STRING"], "90061001", "+1 01:01:01.001"),
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
    for (text, to) in [
        ("x", "INT"),
        ("99999999999", "INT"),
        ("2024-13-01", "DATE"),
        ("", "DOUBLE"),
        ("1e3", "BIGINT"),
        (" true", "BOOLEAN"),
    ] {
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

#[test]
fn one_bad_element_makes_a_tried_value_null() {
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(SqlType::string().arrow_field("item"));
    for values in [["1", "2"], ["x", "3"]] {
        values.iter().for_each(|value| builder.values().append_value(value));
        builder.append(true);
    }
    let array: ArrayRef = Arc::new(builder.finish());
    let convert = |try_cast, legacy_cast| {
        let context = FunctionContext { legacy_cast, ..context("UTC") };
        let out = cast(&array, &sql("ARRAY<STRING>"), &sql("ARRAY<INT>"), try_cast, &context)?;
        let texts = to_text(&out, &sql("ARRAY<INT>"), chrono_tz::UTC)?;
        Ok::<_, Error>(texts.iter().map(|text| text.map(str::to_string)).collect::<Vec<_>>())
    };
    assert_eq!(convert(true, false).unwrap(), [Some("[1, 2]".to_string()), None]);
    assert_eq!(convert(false, true).unwrap(), [Some("[1, 2]".to_string()), None]);
    assert_eq!(convert(false, false).unwrap_err().code(), "HW-T014");
}

#[test]
fn legacy_casts_give_null_and_keep_the_length() {
    let legacy = FunctionContext { legacy_cast: true, ..context("UTC") };
    for (text, to, expected) in [
        ("abc", "INT", None),
        ("12345.6", "DECIMAL(5, 2)", None),
        ("2024-02-30", "DATE", None),
        ("abcdef", "CHAR(3)", Some("abcdef")),
        ("ab", "CHAR(4)", Some("ab")),
        ("abcdef", "VARCHAR(3)", Some("abcdef")),
        ("12", "INT", Some("12")),
    ] {
        let array: ArrayRef = Arc::new(StringArray::from(vec![text]));
        let out = cast(&array, &SqlType::string(), &sql(to), false, &legacy).unwrap();
        let texts = to_text(&out, &sql(to), chrono_tz::UTC).unwrap();
        assert_eq!(texts.is_valid(0).then(|| texts.value(0)), expected, "{text} to {to}");
    }
    let truth: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    for (context, expected) in [(legacy, "true"), (context("UTC"), "TRUE")] {
        let out = cast(&truth, &sql("BOOLEAN"), &SqlType::string(), false, &context).unwrap();
        assert_eq!(out.as_string::<i32>().value(0), expected);
    }
}

/// Every pair of these types, a column per target: `i` implicit, `e` explicit, `.` none.
#[test]
fn the_matrix_of_casts() {
    let types = [
        "BOOLEAN",
        "TINYINT",
        "INT",
        "BIGINT",
        "DECIMAL(10, 2)",
        "FLOAT",
        "DOUBLE",
        "CHAR(3)",
        "STRING",
        "BINARY(2)",
        "BYTES",
        "DATE",
        "TIME(0)",
        "TIMESTAMP(3)",
        "TIMESTAMP_LTZ(3)",
        "INTERVAL MONTH",
        "INTERVAL SECOND(3)",
        "ARRAY<INT>",
        "MAP<STRING, INT>",
        "MULTISET<INT>",
        "ROW<`a` INT>",
    ];
    let expected = [
        "ieeeeeeee............", // BOOLEAN
        "eiiiiiiee......ee....", // TINYINT
        "eeiiiiiee......ee....", // INT
        "eeeiiiiee......ee....", // BIGINT
        "eeeeiiiee............", // DECIMAL
        "eeeeiiiee............", // FLOAT
        "eeeeieiee............", // DOUBLE
        "eeeeeeeiieeeeee......", // CHAR
        "eeeeeeeeieeeeee......", // STRING
        ".......eeii..........", // BINARY
        ".......eeei..........", // BYTES
        ".......ee..i.ee......", // DATE
        ".......ee...iee......", // TIME
        ".......ee..iiii......", // TIMESTAMP
        ".......ee..iiii......", // TIMESTAMP_LTZ
        ".......ee......i.....", // INTERVAL MONTH
        ".......ee.......i....", // INTERVAL SECOND
        ".......ee........i...", // ARRAY
        ".......ee.........i..", // MAP
        ".......ee..........i.", // MULTISET
        ".......ee...........i", // ROW
    ];
    for (from, row) in types.iter().zip(expected) {
        let found: String = types
            .iter()
            .map(|to| match can_cast(&sql(from), &sql(to)) {
                CastSupport::Implicit => 'i',
                CastSupport::Explicit => 'e',
                CastSupport::No => '.',
            })
            .collect();
        assert_eq!(found, row, "from {from}");
    }
}
