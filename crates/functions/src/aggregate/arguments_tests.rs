//! Aggregates with several arguments, result types as a table, and what a group changes about NULL.

use super::*;
use crate::{cast, to_text};
use arrow::array::*;
use base::changelog::RowKind;
use base::function::FunctionContext;

fn sql(text: &str) -> SqlType {
    text.parse().unwrap()
}

fn column(sql_type: &SqlType, values: &[Option<&str>]) -> ArrayRef {
    let texts: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    let context = FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false };
    match &sql_type.logical {
        base::LogicalType::Array(element) => {
            // One list of all values.
            let flat = cast(&texts, &SqlType::string(), element, false, &context).unwrap();
            kind::list_of(flat, element, &[values.len()]).unwrap()
        }
        _ => cast(&texts, &SqlType::string(), sql_type, false, &context).unwrap(),
    }
}

fn text(function: &Arc<dyn AggregateFunction>, types: &[SqlType], accumulator: &dyn Accumulator) -> String {
    let result = function.return_type(types).unwrap();
    let values = accumulator.values(&[0]).unwrap();
    assert_eq!(*values.data_type(), result.arrow(), "{} gives its type", function.name());
    let texts = to_text(&values, &result, chrono_tz::UTC).unwrap();
    if texts.is_null(0) { "NULL".to_string() } else { texts.value(0).to_string() }
}

/// Function, argument types, the constant last argument, DISTINCT, rows (`+a|b` or `-a|b`, an empty part is NULL), results.
type Case<'a> = (&'a str, &'a [&'a str], Option<&'a [&'a str]>, bool, &'a [&'a str], &'a [&'a str]);

#[test]
fn rows_with_several_arguments() {
    let (half, many): (&[&str], &[&str]) = (&["0.5"], &["0", "0.25", "1"]);
    let null_on_null: &[&str] = &["NULL ON NULL"];
    let cases: &[Case] = &[
        (
            "PERCENTILE",
            &["INT", "DECIMAL(2, 1)"],
            Some(half),
            false,
            &["+1", "+2", "+", "+4", "-2"],
            &["1.0", "1.5", "1.5", "2.0", "2.5"],
        ),
        (
            "PERCENTILE",
            &["DOUBLE", "ARRAY<DOUBLE>"],
            Some(many),
            false,
            &["+", "+3", "+1"],
            &["NULL", "[3.0, 3.0, 3.0]", "[1.0, 1.5, 3.0]"],
        ),
        ("PERCENTILE", &["BIGINT", "DOUBLE"], Some(half), true, &["+5", "+5", "+7"], &["5.0", "5.0", "6.0"]),
        (
            "JSON_ARRAYAGG",
            &["INT"],
            None,
            false,
            &["+1", "+", "+2", "+1", "-1"],
            &["[1]", "[1]", "[1,2]", "[1,2,1]", "[2,1]"],
        ),
        (
            "JSON_ARRAYAGG",
            &["STRING", "STRING"],
            Some(null_on_null),
            false,
            &["+a\"", "+", "-"],
            &[r#"["a\""]"#, r#"["a\"",null]"#, r#"["a\""]"#],
        ),
        ("JSON_ARRAYAGG", &["STRING", "STRING"], Some(&["FORMAT JSON 0"]), false, &["+{}"], &["[{}]"]),
        (
            "JSON_ARRAYAGG",
            &["STRING", "STRING"],
            Some(null_on_null),
            true,
            &["+", "+", "+x", "-"],
            &["[null]", "[null]", r#"[null,"x"]"#, r#"[null,"x"]"#],
        ),
        (
            "JSON_OBJECTAGG",
            &["STRING", "INT"],
            None,
            false,
            &["+b|1", "+a|", "-b|1", "+b|2"],
            &[r#"{"b":1}"#, r#"{"a":null,"b":1}"#, r#"{"a":null}"#, r#"{"a":null,"b":2}"#],
        ),
        (
            "JSON_OBJECTAGG",
            &["STRING", "INT", "STRING"],
            Some(&["ABSENT ON NULL"]),
            false,
            &["+b|1", "+a|"],
            &[r#"{"b":1}"#, r#"{"b":1}"#],
        ),
        (
            "ARRAY_AGG",
            &["STRING"],
            None,
            true,
            &["+", "+x", "+", "+x", "-"],
            &["[NULL]", "[NULL, x]", "[NULL, x]", "[NULL, x]", "[NULL, x]"],
        ),
        ("COLLECT", &["STRING"], None, true, &["+", "+x", "+x", "-x"], &["{}", "{x=1}", "{x=1}", "{x=1}"]),
        (
            "BITMAP_BUILD_AGG",
            &["INT"],
            None,
            false,
            &["+", "+3", "+1", "+3", "-3", "-3", "+-1"],
            &["NULL", "{3}", "{1,3}", "{1,3}", "{1,3}", "{1}", "{1,4294967295}"],
        ),
        ("BITMAP_BUILD_CARDINALITY_AGG", &["INT"], None, false, &["+", "+3", "+3", "-3"], &["NULL", "1", "1", "1"]),
        ("LISTAGG", &["STRING", "STRING"], Some(&["-"]), false, &["+b", "+a", "+", "-b"], &["b", "b-a", "b-a", "a"]),
    ];
    for (name, types, constant, distinct, rows, expected) in cases {
        let types: Vec<SqlType> = types.iter().map(|text| sql(text)).collect();
        let function = aggregate(name).unwrap();
        let options = AggregateOptions { distinct: *distinct, retract: true };
        let fresh = || {
            let mut accumulator = function.accumulator(&types, &options).unwrap();
            accumulator.resize(1);
            accumulator
        };
        let mut accumulator = fresh();
        for (row, expected) in rows.iter().zip(*expected) {
            let (sign, row) = row.split_at(1);
            let kind = if sign == "+" { RowKind::Insert } else { RowKind::Delete };
            let mut arguments: Vec<ArrayRef> = row
                .split('|')
                .zip(&types)
                .map(|(text, sql_type)| column(sql_type, &[(!text.is_empty()).then_some(text)]))
                .collect();
            if let (Some(constant), Some(sql_type)) = (constant, types.last()) {
                arguments.push(column(sql_type, &constant.iter().copied().map(Some).collect::<Vec<_>>()));
            }
            accumulator.update(&[0], Some(&[kind]), &arguments, None).unwrap();
            assert_eq!(text(&function, &types, accumulator.as_ref()), *expected, "{name} after {row}");
            // What went through a checkpoint is the same.
            let mut restored = fresh();
            restored.restore(&[0], &accumulator.state(&[0]).unwrap()).unwrap();
            assert_eq!(text(&function, &types, restored.as_ref()), *expected, "{name} restored after {row}");
            accumulator = restored;
        }
    }
}

#[test]
fn bad_values_fail() {
    let mut percentile = aggregate("PERCENTILE").unwrap();
    let types = [sql("INT"), sql("DOUBLE"), sql("INT")];
    for (share, frequency) in [("1.5", "1"), ("0.5", "-1")] {
        let mut accumulator =
            Arc::get_mut(&mut percentile).unwrap().accumulator(&types, &AggregateOptions::default()).unwrap();
        accumulator.resize(1);
        let arguments =
            [column(&types[0], &[Some("1")]), column(&types[1], &[Some(share)]), column(&types[2], &[Some(frequency)])];
        assert_eq!(accumulator.update(&[0], None, &arguments, None).unwrap_err().code(), "HW-T015");
    }
    let types = [sql("STRING"), sql("INT")];
    for key in [None, Some("a")] {
        let mut accumulator =
            aggregate("JSON_OBJECTAGG").unwrap().accumulator(&types, &AggregateOptions::default()).unwrap();
        accumulator.resize(1);
        let arguments = [column(&types[0], &[key, key]), column(&types[1], &[Some("1"), Some("2")])];
        let error = accumulator.update(&[0, 0], None, &arguments, None).unwrap_err();
        assert_eq!(error.code(), "HW-T015", "{error}");
    }
}

#[test]
fn result_types_are_flinks() {
    // Function, argument types, the type over all rows, the type in a group.
    let cases = [
        ("COUNT", "INT", "BIGINT NOT NULL", "BIGINT NOT NULL"),
        ("SUM", "INT NOT NULL", "INT", "INT NOT NULL"),
        ("SUM", "INT", "INT", "INT"),
        ("SUM", "DECIMAL(10, 2) NOT NULL", "DECIMAL(38, 2)", "DECIMAL(38, 2) NOT NULL"),
        ("SUM0", "DECIMAL(10, 2)", "DECIMAL(38, 2) NOT NULL", "DECIMAL(38, 2) NOT NULL"),
        ("AVG", "INT NOT NULL", "INT", "INT NOT NULL"),
        ("AVG", "DECIMAL(10, 2)", "DECIMAL(38, 6)", "DECIMAL(38, 6)"),
        ("AVG", "DECIMAL(38, 10)", "DECIMAL(38, 10)", "DECIMAL(38, 10)"),
        ("AVG", "FLOAT", "FLOAT", "FLOAT"),
        ("MIN", "TIMESTAMP_LTZ(3) NOT NULL", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(3) NOT NULL"),
        ("MAX", "VARCHAR(5)", "VARCHAR(5)", "VARCHAR(5)"),
        ("MAX", "BOOLEAN", "BOOLEAN", "BOOLEAN"),
        ("MAX", "BYTES", "BYTES", "BYTES"),
        ("FIRST_VALUE", "ROW<`a` INT> NOT NULL", "ROW<`a` INT>", "ROW<`a` INT> NOT NULL"),
        ("LISTAGG", "CHAR(1) NOT NULL", "CHAR(1) NOT NULL", "CHAR(1) NOT NULL"),
        ("LISTAGG", "STRING", "STRING", "STRING"),
        ("ARRAY_AGG", "INT NOT NULL", "ARRAY<INT NOT NULL> NOT NULL", "ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_AGG", "INT", "ARRAY<INT>", "ARRAY<INT>"),
        ("COLLECT", "INT", "MULTISET<INT> NOT NULL", "MULTISET<INT> NOT NULL"),
        ("STDDEV_POP", "INT NOT NULL", "INT", "INT NOT NULL"),
        ("STDDEV_SAMP", "INT NOT NULL", "INT", "INT"),
        ("VAR_POP", "DOUBLE NOT NULL", "DOUBLE", "DOUBLE NOT NULL"),
        ("VARIANCE", "DECIMAL(10, 2) NOT NULL", "DECIMAL(38, 6)", "DECIMAL(38, 6)"),
        ("JSON_ARRAYAGG", "INT", "VARCHAR(2000) NOT NULL", "VARCHAR(2000) NOT NULL"),
    ];
    for (name, argument, over_all, in_group) in cases {
        let function = aggregate(name).unwrap();
        let types = [sql(argument)];
        assert_eq!(function.return_type(&types).unwrap().to_string(), over_all, "{name}({argument})");
        let in_groups = grouped(function).return_type(&types).unwrap();
        assert_eq!(in_groups.to_string(), in_group, "{name}({argument}) in a group");
    }
}

#[test]
fn every_aggregate_is_described() {
    for name in aggregate_names() {
        let doc = aggregate_doc(name).unwrap_or_else(|| panic!("{name} has no description"));
        assert!(!doc.en.is_empty() && !doc.zh.is_empty());
    }
}

#[test]
fn bitmaps_are_combined() {
    let int = sql("INT");
    let build = |members: &[&str]| {
        let mut accumulator = aggregate("BITMAP_BUILD_AGG")
            .unwrap()
            .accumulator(std::slice::from_ref(&int), &AggregateOptions::default());
        let accumulator = accumulator.as_mut().unwrap();
        accumulator.resize(1);
        let members: Vec<Option<&str>> = members.iter().copied().map(Some).collect();
        accumulator.update(&vec![0; members.len()], None, &[column(&int, &members)], None).unwrap();
        accumulator.values(&[0]).unwrap()
    };
    let sets = [build(&["1", "2", "9"]), build(&["2", "3", "9"]), build(&["9"])];
    let cases = [
        ("BITMAP_AND_AGG", ["{1,2,9}", "{2,9}", "{9}"], "{9}"),
        ("BITMAP_OR_AGG", ["{1,2,9}", "{1,2,3,9}", "{1,2,3,9}"], "{2,3,9}"),
        ("BITMAP_XOR_AGG", ["{1,2,9}", "{1,3}", "{1,3,9}"], "{2,3}"),
        ("BITMAP_OR_CARDINALITY_AGG", ["3", "4", "4"], "3"),
    ];
    let types = [sql("BITMAP")];
    for (name, expected, without_first) in cases {
        let function = aggregate(name).unwrap();
        for retract in [false, true] {
            let mut accumulator = function.accumulator(&types, &AggregateOptions { distinct: false, retract }).unwrap();
            accumulator.resize(2);
            for (set, expected) in sets.iter().zip(expected) {
                accumulator.update(&[0], None, std::slice::from_ref(set), None).unwrap();
                assert_eq!(text(&function, &types, accumulator.as_ref()), expected, "{name} retract {retract}");
            }
            let state = accumulator.state(&[0]).unwrap();
            accumulator.reset(&[0]);
            assert_eq!(text(&function, &types, accumulator.as_ref()), "NULL");
            accumulator.restore(&[0], &state).unwrap();
            assert_eq!(text(&function, &types, accumulator.as_ref()), expected[2], "{name} restored");
            if retract {
                accumulator.update(&[0], Some(&[RowKind::Delete]), &sets[..1], None).unwrap();
                assert_eq!(text(&function, &types, accumulator.as_ref()), without_first, "{name} retracts");
            }
        }
    }
}
