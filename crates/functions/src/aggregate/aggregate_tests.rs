//! Aggregates against Flink's changelogs, and laws that every accumulator keeps.

use super::*;
use crate::{cast, to_text};
use arrow::array::*;
use base::LogicalType;
use base::changelog::RowKind;
use base::function::FunctionContext;

fn context() -> FunctionContext {
    FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false }
}

fn column(sql_type: &SqlType, values: &[Option<&str>]) -> ArrayRef {
    let texts: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    cast(&texts, &SqlType::string(), sql_type, false, &context()).unwrap()
}

fn sql(text: &str) -> SqlType {
    text.parse().unwrap()
}

fn make(name: &str, types: &[SqlType], distinct: bool, retract: bool) -> Box<dyn Accumulator> {
    aggregate(name).unwrap().accumulator(types, &AggregateOptions { distinct, retract }).unwrap()
}

fn results(name: &str, types: &[SqlType], accumulator: &dyn Accumulator, slots: &[u32]) -> Vec<Option<String>> {
    let result = aggregate(name).unwrap().return_type(types).unwrap();
    let values = accumulator.values(slots).unwrap();
    assert_eq!(*values.data_type(), result.arrow(), "{name} gives its type");
    let texts = to_text(&values, &result, chrono_tz::UTC).unwrap();
    texts.iter().map(|text| text.map(str::to_string)).collect()
}

/// Feeds rows one by one (`+5`, `-5`, `+` for NULL) into one slot and returns the result after each.
fn run(name: &str, type_text: &str, distinct: bool, retract: bool, rows: &[&str]) -> Vec<String> {
    let types = [sql(type_text)];
    let mut accumulator = make(name, &types, distinct, retract);
    accumulator.resize(1);
    let mut out = Vec::new();
    for row in rows {
        let (sign, text) = row.split_at(1);
        let kind = if sign == "+" { RowKind::Insert } else { RowKind::Delete };
        let values = column(&types[0], &[(!text.is_empty()).then_some(text)]);
        accumulator.update(&[0], Some(&[kind]), &[values], None).unwrap();
        out.push(results(name, &types, accumulator.as_ref(), &[0])[0].clone().unwrap_or("NULL".into()));
    }
    out
}

/// Function, argument type, DISTINCT, rows, the result after each row.
type Case<'a> = (&'a str, &'a str, bool, &'a [&'a str], &'a [&'a str]);

#[test]
fn results_are_flinks() {
    let big = ["+2000000000", "+2000000000", "+-1"];
    let doubles = ["+0.1", "+0.2", "+0.7"];
    let max38 = "+99999999999999999999999999999999999999";
    let cases: &[Case] = &[
        ("SUM", "TINYINT", false, &["+100", "+100", "+-1"], &["100", "-56", "-57"]),
        ("SUM", "INT", false, &big, &["2000000000", "-294967296", "-294967297"]),
        (
            "SUM",
            "BIGINT",
            false,
            &["+9000000000000000000", "+9000000000000000000"],
            &["9000000000000000000", "-446744073709551616"],
        ),
        ("SUM", "FLOAT", false, &doubles, &["0.1", "0.3", "1.0"]),
        ("SUM", "DOUBLE", false, &["+0.1", "+0.2", "-0.1"], &["0.1", "0.30000000000000004", "0.20000000000000004"]),
        (
            "SUM",
            "DECIMAL(10, 2)",
            false,
            &["+", "+1.10", "+2.25", "-1.10", "-2.25"],
            &["NULL", "1.10", "3.35", "2.25", "NULL"],
        ),
        (
            "SUM",
            "DECIMAL(38, 0)",
            false,
            &[max38, max38, "-99999999999999999999999999999999999999"],
            &[&max38[1..], "NULL", &max38[1..]],
        ),
        ("SUM0", "INT", false, &["+", "+3", "-3"], &["0", "3", "0"]),
        ("AVG", "TINYINT", false, &["+100", "+100", "+-1"], &["100", "100", "66"]),
        (
            "AVG",
            "BIGINT",
            false,
            &["+9000000000000000000", "+9000000000000000000"],
            &["9000000000000000000", "-223372036854775808"],
        ),
        ("AVG", "FLOAT", false, &doubles, &["0.1", "0.15", "0.33333334"]),
        ("AVG", "DOUBLE", false, &doubles, &["0.1", "0.15000000000000002", "0.3333333333333333"]),
        (
            "AVG",
            "DECIMAL(10, 2)",
            false,
            &["+99999999.99", "+0.01", "+-0.02"],
            &["99999999.990000", "50000000.000000", "33333333.326667"],
        ),
        ("COUNT", "INT", false, &["+1", "+", "-1"], &["1", "1", "0"]),
        ("COUNT", "INT", true, &["+1", "+1", "+20", "-1", "-20", "+", "-1"], &["1", "1", "2", "2", "1", "1", "0"]),
        ("SUM", "INT", true, &["+1", "+1", "+20", "-1", "-20"], &["1", "1", "21", "21", "1"]),
        ("COUNT", "DOUBLE", true, &["+0.0", "+-0.0", "+NaN", "+NaN", "+0.0"], &["1", "2", "3", "3", "3"]),
        ("LAST_VALUE", "DOUBLE", false, &["+0.0", "+-0.0", "+1.5"], &["0.0", "-0.0", "1.5"]),
        ("AVG", "INT", true, &["+1", "+1", "+20", "+-3"], &["1", "1", "10", "6"]),
        ("MIN", "INT", false, &["+10", "+20", "-20", "+5", "-10", "-5"], &["10", "10", "10", "5", "5", "NULL"]),
        ("MAX", "STRING", false, &["+b", "+B", "-b"], &["b", "b", "B"]),
        ("MAX", "DOUBLE", false, &["+-1.5", "+-0.5", "-- 0.5"], &["-1.5", "-0.5", "-0.5"]),
        ("STDDEV_POP", "INT", false, &big, &["0", "0", "942809042"]),
        ("STDDEV_SAMP", "INT", false, &big, &["NULL", "0", "1154700538"]),
        ("VAR_POP", "INT", false, &big, &["0", "0", "2147483647"]),
        ("VARIANCE", "DOUBLE", false, &doubles, &["NULL", "0.004999999999999999", "0.1033333333333333"]),
        ("STDDEV_POP", "DOUBLE", false, &doubles, &["0.0", "0.049999999999999996", "0.262466929133727"]),
        ("LISTAGG", "STRING", false, &["+x", "+y", "+x", "-x", "+"], &["x", "x,y", "x,y,x", "y,x", "y,x"]),
        ("FIRST_VALUE", "STRING", false, &["+", "+x", "+y", "-x"], &["NULL", "x", "x", "y"]),
        ("LAST_VALUE", "STRING", false, &["+x", "+y", "+x", "-x", "-x"], &["x", "y", "x", "x", "y"]),
        (
            "ARRAY_AGG",
            "STRING",
            false,
            &["+x", "+", "+y", "+x"],
            &["[x]", "[x, NULL]", "[x, NULL, y]", "[x, NULL, y, x]"],
        ),
        (
            "COLLECT",
            "STRING",
            false,
            &["+x", "+", "+y", "+x", "-y"],
            &["{x=1}", "{x=1}", "{x=1, y=1}", "{x=2, y=1}", "{x=2}"],
        ),
    ];
    for (name, type_text, distinct, rows, expected) in cases {
        let rows: Vec<&str> = rows.iter().copied().filter(|row| !row.contains("- ")).collect();
        let got = run(name, type_text, *distinct, true, &rows);
        assert_eq!(got, expected[..rows.len()], "{name}({type_text}) over {rows:?}");
        if rows.iter().all(|row| row.starts_with('+')) {
            let got = run(name, type_text, *distinct, false, &rows);
            assert_eq!(got, expected[..rows.len()], "{name}({type_text}) over {rows:?}, append-only");
        }
    }
}

/// A small generator of numbers: the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

struct Feed {
    slots: Vec<u32>,
    kinds: Vec<RowKind>,
    values: ArrayRef,
    selected: BooleanArray,
}

/// Rows of which some are NULL, some are not selected and some retract an earlier row of the same slot.
fn feed(seed: u64, sql_type: &SqlType, rows: usize, retract: bool) -> Feed {
    let mut numbers = Numbers(seed);
    let mut live: Vec<(u32, String)> = Vec::new();
    let (mut slots, mut kinds, mut values, mut selected) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rows {
        if retract && !live.is_empty() && numbers.below(3) == 0 {
            let (slot, value) = live.remove(numbers.below(live.len() as u64) as usize);
            slots.push(slot);
            kinds.push(RowKind::Delete);
            values.push(Some(value));
            selected.push(true);
            continue;
        }
        let slot = numbers.below(4) as u32;
        let number = numbers.below(12);
        let value = match &sql_type.logical {
            LogicalType::Boolean => number.is_multiple_of(2).to_string(),
            LogicalType::Date => format!("2024-01-{:02}", number + 1),
            LogicalType::Timestamp(_) => format!("2024-01-02 03:04:{:02}", number + 1),
            _ => number.to_string(),
        };
        let is_selected = numbers.below(6) != 0;
        let is_null = numbers.below(6) == 0;
        if is_selected && !is_null {
            live.push((slot, value.clone()));
        }
        slots.push(slot);
        kinds.push(RowKind::Insert);
        values.push((!is_null).then_some(value));
        selected.push(is_selected);
    }
    let texts: Vec<Option<&str>> = values.iter().map(|value| value.as_deref()).collect();
    Feed { slots, kinds, values: column(sql_type, &texts), selected: BooleanArray::from(selected) }
}

impl Feed {
    fn apply(&self, accumulator: &mut dyn Accumulator, range: std::ops::Range<usize>, retract: bool) {
        let (start, length) = (range.start, range.len());
        let arguments = [self.values.slice(start, length)];
        let selected = self.selected.slice(start, length);
        let kinds = retract.then(|| &self.kinds[range.clone()]);
        accumulator.update(&self.slots[range], kinds, &arguments, Some(&selected)).unwrap();
    }
}

const ALL: [u32; 4] = [0, 1, 2, 3];

fn laws(name: &str, type_text: &str, distinct: bool, retract: bool) {
    let types = [sql(type_text)];
    let label = format!("{name}({type_text}) distinct {distinct} retract {retract}");
    let fresh = || {
        let mut accumulator = make(name, &types, distinct, retract);
        accumulator.resize(4);
        accumulator
    };
    for seed in 1..6 {
        let feed = feed(seed, &types[0], 60, retract);
        let mut whole = fresh();
        feed.apply(whole.as_mut(), 0..60, retract);
        let expected = results(name, &types, whole.as_ref(), &ALL);

        // A state that went through a checkpoint goes on as if nothing had happened; slots can be others.
        let mut before = fresh();
        feed.apply(before.as_mut(), 0..30, retract);
        let state = before.state(&[3, 1, 0, 2]).unwrap();
        for (field, array) in before.state_fields().iter().zip(&state) {
            assert_eq!(field.data_type(), array.data_type(), "{label}: state field {}", field.name());
        }
        let mut after = fresh();
        feed.apply(after.as_mut(), 10..20, retract);
        after.restore(&[3, 1, 0, 2], &state).unwrap();
        feed.apply(after.as_mut(), 30..60, retract);
        assert_eq!(results(name, &types, after.as_ref(), &ALL), expected, "{label}: restored");

        // Two halves merge to the whole. Only sums and counts can keep a retraction whose row is in the other half.
        let needs_own_rows = matches!(name, "FIRST_VALUE" | "LAST_VALUE" | "LISTAGG" | "ARRAY_AGG" | "JSON_ARRAYAGG")
            || name.starts_with("STDDEV")
            || name.starts_with("VAR");
        if !(retract && (needs_own_rows || distinct && name == "LISTAGG")) {
            let (mut first, mut second) = (fresh(), fresh());
            feed.apply(first.as_mut(), 0..30, retract);
            feed.apply(second.as_mut(), 30..60, retract);
            first.merge(&ALL, &second.state(&ALL).unwrap()).unwrap();
            assert_eq!(results(name, &types, first.as_ref(), &ALL), expected, "{label}: merged");
        }

        // A slot that was reset is like new, the others stay.
        whole.reset(&[1]);
        let reset = results(name, &types, whole.as_ref(), &ALL);
        let empty = results(name, &types, fresh().as_ref(), &[1]);
        assert_eq!(reset[1], empty[0], "{label}: reset");
        assert_eq!((&reset[0], &reset[2]), (&expected[0], &expected[2]), "{label}: others");
        assert!(whole.heap_bytes() > 0);
    }
}

#[test]
fn state_restores_and_merges() {
    let types = ["TINYINT", "INT", "BIGINT", "DECIMAL(10, 2)", "STRING", "BOOLEAN", "DATE", "TIMESTAMP(3)"];
    for name in ["MIN", "MAX", "COUNT", "FIRST_VALUE", "LAST_VALUE", "ARRAY_AGG", "COLLECT"] {
        for type_text in types {
            laws(name, type_text, false, false);
            laws(name, type_text, false, true);
        }
    }
    for name in ["SUM", "SUM0", "AVG"] {
        for type_text in ["TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(38, 4)"]
        {
            for distinct in [false, true] {
                laws(name, type_text, distinct, false);
                laws(name, type_text, distinct, true);
            }
        }
    }
    for distinct in [false, true] {
        laws("COUNT", "STRING", distinct, true);
        laws("LISTAGG", "STRING", distinct, false);
        laws("LISTAGG", "STRING", distinct, true);
    }
    for retract in [false, true] {
        laws("JSON_ARRAYAGG", "STRING", false, retract);
        laws("BITMAP_BUILD_AGG", "INT", false, retract);
        laws("BITMAP_BUILD_CARDINALITY_AGG", "INT", true, retract);
        laws("ARRAY_AGG", "INT", true, false);
    }
    for name in ["STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP"] {
        laws(name, "INT", false, false);
        laws(name, "INT", false, true);
    }
}

#[test]
fn count_star_counts_rows() {
    let mut accumulator = make("COUNT", &[], false, true);
    accumulator.resize(2);
    accumulator.update(&[0, 1, 0], None, &[], None).unwrap();
    accumulator.update(&[0], Some(&[RowKind::UpdateBefore]), &[], None).unwrap();
    let values = accumulator.values(&[0, 1]).unwrap();
    assert_eq!(values.as_primitive::<arrow::datatypes::Int64Type>().values(), &[1, 1]);
}

#[test]
fn separators_and_distinct_work_together() {
    let types = [sql("STRING"), sql("STRING NOT NULL")];
    let mut accumulator = make("LISTAGG", &types, true, false);
    accumulator.resize(1);
    let values = column(&types[0], &[Some("x"), None, Some("y"), Some("x")]);
    let separator: ArrayRef = Arc::new(StringArray::from(vec![";"]));
    accumulator.update(&[0, 0, 0, 0], None, &[values, separator], None).unwrap();
    assert_eq!(results("LISTAGG", &types, accumulator.as_ref(), &[0]), [Some("x;y".to_string())]);
    let state = accumulator.state(&[0]).unwrap();
    let mut other = make("LISTAGG", &types, true, false);
    other.resize(1);
    other.merge(&[0], &state).unwrap();
    assert_eq!(results("LISTAGG", &types, other.as_ref(), &[0]), [Some("x;y".to_string())]);
}

#[test]
fn a_second_row_of_a_scalar_subquery_fails() {
    let types = [sql("INT")];
    let mut accumulator = make("SINGLE_VALUE", &types, false, true);
    accumulator.resize(1);
    let value = column(&types[0], &[Some("1")]);
    accumulator.update(&[0], None, std::slice::from_ref(&value), None).unwrap();
    let error = accumulator.update(&[0], None, &[value], None).unwrap_err();
    assert_eq!(error.code(), "HW-T017");
}

#[test]
fn wrong_arguments_are_refused() {
    for (name, type_text) in [("SUM", "STRING"), ("AVG", "DATE"), ("MAX", "ARRAY<INT>"), ("LISTAGG", "INT")] {
        let error = aggregate(name).unwrap().return_type(&[sql(type_text)]).unwrap_err();
        assert_eq!(error.code(), "HW-T010", "{name}({type_text})");
    }
    assert!(aggregate("count").is_some() && aggregate("nope").is_none());
}
