//! Functions over columns: NULLs, zero rows, mixed constants; and properties of the table of functions.

use crate::{cast, comparison_type, scalar, scalar_names, to_text};
use arrow::array::*;
use base::function::{Argument, FunctionContext};
use base::{LogicalType, Result, SqlType};
use std::sync::Arc;

fn context() -> FunctionContext {
    FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false }
}

fn sql(text: &str) -> SqlType {
    text.parse().unwrap()
}

type Column = (ArrayRef, SqlType);

fn column(type_text: &str, values: &[Option<&str>]) -> Column {
    let texts: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    let to = sql(type_text);
    match to.logical {
        LogicalType::Variant => return (Arc::new(LargeStringArray::from(values.to_vec())), to),
        LogicalType::Bitmap => {
            let bitmaps = values.iter().map(|text| text.map(bitmap));
            return (Arc::new(bitmaps.collect::<LargeBinaryArray>()), to);
        }
        _ => {}
    }
    (cast(&texts, &SqlType::string(), &to, false, &context()).unwrap(), to)
}

/// The bytes of `{1,2}`.
fn bitmap(text: &str) -> Vec<u8> {
    let numbers = text.trim_matches(['{', '}']).split(',').filter(|number| !number.is_empty());
    let mut bytes = Vec::new();
    super::bitmaps::write(&mut numbers.map(|number| number.parse::<u32>().unwrap()).collect(), &mut bytes).unwrap();
    bytes
}

fn call(name: &str, columns: &[Column], rows: usize) -> Result<Vec<String>> {
    let function = scalar(name).unwrap();
    let arguments: Vec<Argument> = columns
        .iter()
        .map(|(array, t)| Argument { sql_type: t.clone(), constant: (array.len() == 1).then(|| array.clone()) })
        .collect();
    let result = function.return_type(&arguments)?;
    let (arrays, types): (Vec<ArrayRef>, Vec<SqlType>) = columns.iter().cloned().unzip();
    let out = function.evaluate(&arrays, &types, &result, rows, &context())?;
    assert_eq!(out.len(), rows);
    let texts = to_text(&out, &result, chrono_tz::UTC)?;
    Ok(texts.iter().map(|text| text.unwrap_or("NULL").to_string()).collect())
}

#[test]
fn division_fails_only_for_rows_with_values() {
    let dividend = column("INT", &[Some("6"), None, Some("7")]);
    let divisor = column("INT", &[Some("2"), Some("0"), None]);
    assert_eq!(call("/", &[dividend.clone(), divisor], 3).unwrap(), ["3", "NULL", "NULL"]);
    let zero = column("INT", &[Some("0")]);
    let error = call("/", &[dividend.clone(), zero.clone()], 3).unwrap_err();
    assert_eq!(error.code(), "HW-T013");
    assert_eq!(
        call("/", &[column("DOUBLE", &[Some("1"), Some("0"), None]), zero], 3).unwrap(),
        ["Infinity", "NaN", "NULL"]
    );
    let long = column("BIGINT", &[Some("-9223372036854775808")]);
    assert_eq!(call("/", &[long.clone(), column("INT", &[Some("-1")])], 1).unwrap(), ["-9223372036854775808"]);
    assert_eq!(call("%", &[long, column("INT", &[Some("10")])], 1).unwrap(), ["-8"]);
}

#[test]
fn decimals_that_overflow_are_null() {
    let max = "99999999999999999999999999999999999999";
    let big = column("DECIMAL(38, 0)", &[Some(max), Some("1"), None]);
    let one = column("INT", &[Some("1")]);
    assert_eq!(call("+", &[big.clone(), one.clone()], 3).unwrap(), ["NULL", "2", "NULL"]);
    assert_eq!(call("*", &[big.clone(), column("INT", &[Some("10")])], 3).unwrap(), ["NULL", "10", "NULL"]);
    assert_eq!(call("-", &[big, one], 3).unwrap()[0], "99999999999999999999999999999999999998");
}

#[test]
fn comparisons_are_javas() {
    let doubles = column("DOUBLE", &[Some("0.0"), Some("NaN"), None]);
    let zero = column("DOUBLE", &[Some("-0.0")]);
    assert_eq!(call("=", &[doubles.clone(), zero.clone()], 3).unwrap(), ["TRUE", "FALSE", "NULL"]);
    assert_eq!(call("IS DISTINCT FROM", &[doubles, zero], 3).unwrap(), ["FALSE", "TRUE", "TRUE"]);
    let wide = column("DECIMAL(38, 20)", &[Some("0.00000000000000000001"), Some("1")]);
    let long = column("BIGINT", &[Some("9223372036854775807"), Some("1")]);
    assert_eq!(call("<", &[wide.clone(), long.clone()], 2).unwrap(), ["TRUE", "FALSE"]);
    assert_eq!(call("=", &[wide, long], 2).unwrap(), ["FALSE", "TRUE"]);
    let error = call("=", &[column("INT", &[Some("1")]), column("STRING", &[Some("1")])], 1).unwrap_err();
    assert_eq!(error.code(), "HW-T011");
    assert!(comparison_type(&sql("DATE"), &sql("CHAR(10)")).is_some());
}

#[test]
fn three_valued_logic() {
    let left = column("BOOLEAN", &[Some("true"), Some("false"), None]);
    let null = (new_null_array(&arrow::datatypes::DataType::Boolean, 1), sql("BOOLEAN"));
    assert_eq!(call("AND", &[left.clone(), null.clone()], 3).unwrap(), ["NULL", "FALSE", "NULL"]);
    assert_eq!(call("OR", &[left.clone(), null], 3).unwrap(), ["TRUE", "NULL", "NULL"]);
    assert_eq!(call("IS NOT TRUE", &[left], 3).unwrap(), ["FALSE", "TRUE", "TRUE"]);
}

#[test]
fn patterns_can_be_columns() {
    let texts = column("STRING", &[Some("abc"), Some("a%c"), Some("héllo"), None]);
    let patterns = column("STRING", &[Some("a_c"), Some("a!%c"), Some("_é%o"), Some("%")]);
    let escape = column("STRING", &[Some("!")]);
    assert_eq!(call("LIKE", &[texts.clone(), patterns, escape], 4).unwrap(), ["TRUE", "TRUE", "TRUE", "NULL"]);
    let regex = column("STRING", &[Some("^\\w+$")]);
    assert_eq!(call("REGEXP", &[texts.clone(), regex], 4).unwrap(), ["TRUE", "FALSE", "FALSE", "NULL"]);
    // What is no pattern to Java either fits nothing; what cannot be run here is refused.
    let bad = column("STRING", &[Some("(")]);
    assert_eq!(call("REGEXP", &[texts.clone(), bad], 4).unwrap(), ["FALSE", "FALSE", "FALSE", "NULL"]);
    for pattern in ["(?<=a)b", "(a)\\1", "a++", "(?>a)", "\\G"] {
        let pattern = column("STRING", &[Some(pattern)]);
        assert_eq!(call("REGEXP", &[texts.clone(), pattern], 4).unwrap_err().code(), "HW-T016");
    }
}

#[test]
fn java_patterns_mean_what_they_mean_in_java() {
    // Pattern, text, whether a part of the text fits.
    let cases = [
        ("^\\w+$", "é", "FALSE"),
        ("[\\w-]+x", "a-x", "TRUE"),
        ("a.b", "a\r\u{2028}b", "FALSE"),
        ("(?s)a.b", "a\nb", "TRUE"),
        ("(?s:a.)b", "a\nb", "TRUE"),
        ("(?:(?s).).b", "\n\nb", "FALSE"),
        ("\\Qa.b\\E", "axb", "FALSE"),
        ("\\p{Alpha}", "é", "FALSE"),
        ("\\p{IsAlphabetic}", "é", "TRUE"),
        ("[a--]", "-", "TRUE"),
        ("\\h", "\u{3000}", "TRUE"),
        ("\\x41\\0102\\cC", "AB\u{3}", "TRUE"),
        ("[a-z&&[^b]]", "b", "FALSE"),
    ];
    for (pattern, text, expected) in cases {
        let arguments = [column("STRING", &[Some(text)]), column("STRING", &[Some(pattern)])];
        assert_eq!(call("REGEXP", &arguments, 1).unwrap(), [expected], "{pattern} on {text:?}");
    }
}

#[test]
fn maps_are_equal_in_any_order() {
    let pairs = |pairs: &[(&str, &str)]| {
        let cells: Vec<Column> =
            pairs.iter().flat_map(|(k, v)| [column("STRING", &[Some(k)]), column("INT", &[Some(v)])]).collect();
        let (arrays, types): (Vec<ArrayRef>, Vec<SqlType>) = cells.into_iter().unzip();
        let to = sql("MAP<STRING, INT> NOT NULL");
        (scalar("MAP").unwrap().evaluate(&arrays, &types, &to, 1, &context()).unwrap(), to)
    };
    let map = pairs(&[("a", "1"), ("b", "2")]);
    assert_eq!(call("=", &[map.clone(), pairs(&[("b", "2"), ("a", "1")])], 1).unwrap(), ["TRUE"]);
    assert_eq!(call("=", &[map.clone(), pairs(&[("b", "1"), ("a", "2")])], 1).unwrap(), ["FALSE"]);
    assert_eq!(call("<>", &[map.clone(), pairs(&[("a", "1")])], 1).unwrap(), ["TRUE"]);
    assert_eq!(call("<", &[map.clone(), map], 1).unwrap_err().code(), "HW-T010");
}

#[test]
fn bitmaps_are_columns() {
    let left = column("BITMAP", &[Some("{1,2,3}"), Some("{}"), None, Some("{4294967295}")]);
    let right = column("BITMAP", &[Some("{2,9}")]);
    let names = ["BITMAP_AND", "BITMAP_OR", "BITMAP_XOR", "BITMAP_ANDNOT"];
    let expected = [
        ["{2}", "{}", "NULL", "{}"],
        ["{1,2,3,9}", "{2,9}", "NULL", "{2,9,4294967295}"],
        ["{1,3,9}", "{2,9}", "NULL", "{2,9,4294967295}"],
        ["{1,3}", "{}", "NULL", "{4294967295}"],
    ];
    for (name, expected) in names.into_iter().zip(expected) {
        assert_eq!(call(name, &[left.clone(), right.clone()], 4).unwrap(), expected, "{name}");
    }
    assert_eq!(call("BITMAP_CARDINALITY", std::slice::from_ref(&left), 4).unwrap(), ["3", "0", "NULL", "1"]);
    assert_eq!(call("BITMAP_TO_ARRAY", &[left], 4).unwrap(), ["[1, 2, 3]", "[]", "NULL", "[-1]"]);
    let bad = column("BYTES", &[Some("xyz")]);
    assert_eq!(call("BITMAP_FROM_BYTES", &[bad], 1).unwrap_err().code(), "HW-T015");
}

#[test]
fn parts_of_variants_are_found_in_their_text() {
    let texts = [Some(r#"{"a":{"b":[1,"x,]}\\\""]},"c":2}"#), Some(r#"{"c":null}"#), None];
    let variants = column("VARIANT", &texts);
    let item = |variants: &Column, name: &str| {
        let array = call("ITEM", &[variants.clone(), column("STRING", &[Some(name)])], 3).unwrap();
        column(
            "VARIANT",
            &array.iter().map(|text| Some(text.as_str()).filter(|text| *text != "NULL")).collect::<Vec<_>>(),
        )
    };
    let inner = item(&variants, "a");
    let list = item(&inner, "b");
    let second = call("ITEM", &[list.clone(), column("INT", &[Some("2")])], 3).unwrap();
    assert_eq!(second, [r#""x,]}\\\"""#, "NULL", "NULL"]);
    assert_eq!(call("ITEM", &[list.clone(), column("INT", &[Some("3")])], 3).unwrap(), ["NULL", "NULL", "NULL"]);
    assert_eq!(call("ITEM", &[variants, column("STRING", &[Some("c")])], 3).unwrap(), ["2", "null", "NULL"]);
    assert_eq!(call("ITEM", &[list, column("STRING", &[Some("c")])], 3).unwrap_err().code(), "HW-T015");
}

#[test]
fn strings_count_characters() {
    let texts = column("STRING", &[Some("héllo"), Some(""), None]);
    let two = column("INT", &[Some("2")]);
    assert_eq!(call("SUBSTRING", &[texts.clone(), two.clone(), two.clone()], 3).unwrap(), ["él", "", "NULL"]);
    assert_eq!(call("LEFT", &[texts.clone(), two.clone()], 3).unwrap(), ["hé", "", "NULL"]);
    assert_eq!(
        call("LPAD", &[texts, column("INT", &[Some("7")]), column("STRING", &[Some("ab")])], 3).unwrap(),
        ["abhéllo", "abababa", "NULL"]
    );
    let part = column("STRING", &[Some("l")]);
    assert_eq!(
        call("INSTR", &[column("STRING", &[Some("héllo")]), part, column("INT", &[Some("1")]), two], 1).unwrap(),
        ["4"]
    );
}

#[test]
fn digests_are_standard() {
    let empty = column("STRING", &[Some("")]);
    let long = "a".repeat(119);
    let cases = [
        ("MD5", "", "d41d8cd98f00b204e9800998ecf8427e"),
        ("MD5", "abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("SHA224", "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (
            "SHA384",
            "abc",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            "SHA512",
            "abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        ("SHA256", long.as_str(), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
    ];
    for (name, text, expected) in cases {
        assert_eq!(call(name, &[column("STRING", &[Some(text)])], 1).unwrap(), [expected], "{name} of {text}");
    }
    assert_eq!(call("SHA2", &[empty, column("INT", &[Some("1")])], 1).unwrap_err().code(), "HW-T015");
}

#[test]
fn rounding_is_half_up_on_the_text() {
    let values = column("DOUBLE", &[Some("1.005"), Some("-2.5"), Some("1e300"), Some("0.1234567891234"), None]);
    assert_eq!(
        call("ROUND", &[values.clone(), column("INT", &[Some("2")])], 5).unwrap(),
        ["1.01", "-2.5", "1.0E300", "0.12", "NULL"]
    );
    assert_eq!(call("ROUND", &[values], 5).unwrap(), ["1.0", "-3.0", "1.0E300", "0.0", "NULL"]);
    let cut = column("DOUBLE", &[Some("42.324"), Some("-1.999")]);
    assert_eq!(call("TRUNCATE", &[cut, column("INT", &[Some("2")])], 2).unwrap(), ["42.32", "-1.99"]);
}

#[test]
fn no_rows_give_no_rows() {
    let empty = (new_empty_array(&arrow::datatypes::DataType::Utf8), sql("STRING"));
    let one = column("STRING", &[Some("x")]);
    assert!(call("CONCAT", &[empty.clone(), one.clone()], 0).unwrap().is_empty());
    assert!(call("ARRAY", &[empty.clone(), one.clone()], 0).unwrap().is_empty());
    assert!(call("COALESCE", &[empty.clone(), one.clone()], 0).unwrap().is_empty());
    assert!(call("=", &[empty, one], 0).unwrap().is_empty());
}

#[test]
fn names_are_unique_and_in_any_case() {
    let names = scalar_names();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), names.len());
    assert_eq!(scalar("json_Value").unwrap().name(), "JSON_VALUE");
    assert!(scalar("nope").is_none());
    // Without arguments a function gives an error or a type, never a panic.
    for name in names {
        let _ = scalar(name).unwrap().return_type(&[]);
    }
}

#[test]
fn every_code_has_both_languages() {
    for code in crate::CODES {
        let holes = |text: &base::Text| {
            let joined = format!("{}{}{}", text.what, text.why, text.fix);
            let mut names: Vec<String> =
                joined.split('{').skip(1).map(|part| part.split('}').next().unwrap_or_default().to_string()).collect();
            names.sort();
            names
        };
        assert_eq!(holes(&code.en), holes(&code.zh), "{}", code.code);
    }
}

#[test]
fn a_character_set_is_asked_for_only_where_there_is_a_text() {
    let texts = column("STRING", &[Some("中"), None, Some("a")]);
    let sets = column("STRING", &[Some("GBK"), Some("no such"), Some("UTF-16LE")]);
    assert_eq!(call("ENCODE", &[texts.clone(), sets], 3).unwrap(), ["x'd6d0'", "NULL", "x'6100'"]);
    let sets = column("STRING", &[Some("GBK"), Some("GBK"), Some("no such")]);
    assert_eq!(call("ENCODE", &[texts, sets], 3).unwrap_err().code(), "HW-T015");
}

#[test]
fn a_null_where_the_type_has_not_null_is_an_error_of_the_data() {
    let (array, _) = column("INT", &[Some("1"), None]);
    let broken = (array, sql("INT NOT NULL"));
    let name = column("STRING NOT NULL", &[Some("a"), Some("b")]);
    assert_eq!(call("ROW", &[broken.clone(), name.clone()], 2).unwrap_err().code(), "HW-T018");
    assert_eq!(call("ARRAY", std::slice::from_ref(&broken), 2).unwrap_err().code(), "HW-T018");
    assert_eq!(call("MAP", &[name.clone(), broken], 2).unwrap_err().code(), "HW-T018");
    let fine = column("INT", &[Some("1"), None]);
    assert_eq!(call("ROW", &[fine, name], 2).unwrap(), ["(1, a)", "(NULL, b)"]);
}

#[test]
fn rows_are_equal_field_by_field() {
    let row = |values: &[Option<&str>]| {
        let (array, t) = column("INT", values);
        let result = LogicalType::Row(vec![("a".into(), t.clone())]).not_null();
        let function = scalar("ROW").unwrap();
        (function.evaluate(&[array], &[t], &result, 3, &context()).unwrap(), result)
    };
    let (left, right) = (row(&[Some("1"), Some("1"), None]), row(&[Some("1"), Some("2"), None]));
    assert_eq!(call("=", &[left.clone(), right.clone()], 3).unwrap(), ["TRUE", "FALSE", "NULL"]);
    assert_eq!(call("<>", &[left, right], 3).unwrap(), ["FALSE", "TRUE", "FALSE"]);
}

#[test]
fn a_time_of_day_is_rounded_up_to_midnight() {
    let time = column("TIME(0)", &[Some("23:44:31"), Some("12:00:00")]);
    let to = |unit| call("CEIL", &[time.clone(), column("STRING NOT NULL", &[Some(unit)])], 2).unwrap();
    assert_eq!(to("HOUR"), ["00:00:00", "12:00:00"]);
    assert_eq!(to("YEAR"), ["00:00:00", "00:00:00"]);
}
