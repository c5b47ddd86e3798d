//! Every aggregate over random additions and retractions, with DISTINCT and FILTER, has the result that is computed anew over
//! the rows that are left. Where order counts: a retraction takes the earliest equal row away, and with DISTINCT a value has
//! the place at which it last appeared.

use super::*;
use crate::{cast, to_text};
use arrow::array::*;
use arrow::compute::{concat, take};
use base::changelog::RowKind;
use base::function::FunctionContext;

const SLOTS: u32 = 3;
const STEPS: usize = 60;

/// Numbers that depend on the seed only.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// A call: the values that each argument is taken from. Equal positions go together where the arguments depend on each other.
struct Call {
    name: &'static str,
    types: Vec<SqlType>,
    /// One column per argument, all of one length: a row of the input is a position.
    choices: Vec<ArrayRef>,
    /// The most rows that a slot may have.
    rows_max: usize,
}

/// A row of the input: a position in the choices, and whether FILTER is true.
type Row = (usize, bool);

fn column(type_text: &str, values: &[Option<&str>]) -> (SqlType, ArrayRef) {
    let context = FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false };
    let sql_type: SqlType = type_text.parse().unwrap();
    let texts: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    let values = cast(&texts, &SqlType::string(), &sql_type, false, &context).unwrap();
    (sql_type, values)
}

/// Values of each type, NULL among them.
fn arguments() -> Vec<(SqlType, ArrayRef)> {
    let numbers = ["1", "2", "-3", "100", "7"];
    let mut columns: Vec<(SqlType, ArrayRef)> = ["TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL(10, 2)", "STRING"]
        .iter()
        .map(|type_text| column(type_text, &numbers.map(Some).into_iter().chain([None]).collect::<Vec<_>>()))
        .collect();
    let floats = [Some("0.1"), Some("0.25"), Some("-3.5"), Some("1000.7"), Some("0.3"), None];
    columns.extend(["FLOAT", "DOUBLE"].map(|type_text| column(type_text, &floats)));
    columns.push(column("BOOLEAN", &[Some("true"), Some("false"), None]));
    columns.push(column("DATE", &[Some("2024-01-01"), Some("1969-05-04"), Some("2024-02-01"), None]));
    columns.push(column("TIMESTAMP(3)", &[Some("2024-01-01 00:00:01"), Some("1969-05-04 10:00:00"), None]));
    columns.push((LogicalType::Bitmap.nullable(), bitmaps()));
    columns
}

/// {1, 2}, {2, 3}, {1}, {}, NULL.
fn bitmaps() -> ArrayRef {
    let (sql_type, members) = column("INT", &[Some("1"), Some("2"), Some("2"), Some("3"), Some("1")]);
    let mut build = make("BITMAP_BUILD_AGG", &[sql_type], &AggregateOptions::default());
    build.resize(4);
    build.update(&[0, 0, 1, 1, 2], None, &[members], None).unwrap();
    let null = new_null_array(&LogicalType::Bitmap.arrow(), 1);
    concat(&[build.values(&[0, 1, 2]).unwrap().as_ref(), null.as_ref()]).unwrap()
}

fn calls() -> Vec<Call> {
    let mut calls = Vec::new();
    for name in aggregate_names() {
        let rows_max = if name == "SINGLE_VALUE" { 1 } else { usize::MAX };
        for (sql_type, choices) in arguments() {
            // Values that JSON has no form for are refused.
            let has_no_json =
                matches!(sql_type.logical, LogicalType::Date | LogicalType::Timestamp(_) | LogicalType::Bitmap);
            if name.starts_with("JSON") && has_no_json {
                continue;
            }
            if aggregate(name).unwrap().return_type(std::slice::from_ref(&sql_type)).is_ok() {
                calls.push(Call { name, types: vec![sql_type], choices: vec![choices], rows_max });
            }
        }
    }
    calls.push(Call { name: "COUNT", types: vec![], choices: vec![], rows_max: usize::MAX });
    let texts = column("STRING", &["a", "b", "c", "a"].map(Some));
    let separator = column("STRING", &[";", ";", ";", ";"].map(Some));
    let integers = column("INT", &["1", "5", "9", "5"].map(Some));
    let doubles = column("DOUBLE", &["0.3", "0.3", "0.3", "0.3"].map(Some));
    // Equal keys have equal values: which of several values stays is not asked here.
    let values = column("INT", &["1", "2", "3", "1"].map(Some));
    for (name, arguments) in [
        ("LISTAGG", vec![&texts, &separator]),
        ("PERCENTILE", vec![&integers, &doubles]),
        ("PERCENTILE", vec![&integers, &doubles, &integers]),
        ("JSON_OBJECTAGG", vec![&texts, &values]),
        ("COUNT", vec![&texts, &values]),
    ] {
        let (types, choices) = arguments.into_iter().cloned().unzip();
        calls.push(Call { name, types, choices, rows_max: usize::MAX });
    }
    calls
}

fn make(name: &str, types: &[SqlType], options: &AggregateOptions) -> Box<dyn Accumulator> {
    let mut accumulator = aggregate(name).unwrap().accumulator(types, options).unwrap();
    accumulator.resize(SLOTS as usize);
    accumulator
}

impl Call {
    fn has(&self, distinct: bool) -> bool {
        let options = AggregateOptions { distinct, retract: true };
        let plain = self.types.is_empty() || self.name == "COUNT" && self.types.len() > 1;
        !(distinct && plain) && aggregate(self.name).unwrap().accumulator(&self.types, &options).is_ok()
    }

    fn apply(&self, accumulator: &mut dyn Accumulator, slots: &[u32], kinds: Option<&[RowKind]>, rows: &[Row]) {
        let places: UInt32Array = rows.iter().map(|(place, _)| *place as u32).collect();
        let arguments: Vec<ArrayRef> =
            self.choices.iter().map(|choices| take(choices, &places, None).unwrap()).collect();
        let selected: BooleanArray = rows.iter().map(|(_, selected)| Some(*selected)).collect();
        accumulator.update(slots, kinds, &arguments, Some(&selected)).unwrap();
    }

    fn results(&self, accumulator: &dyn Accumulator) -> Vec<Option<String>> {
        let slots: Vec<u32> = (0..SLOTS).collect();
        let result = aggregate(self.name).unwrap().return_type(&self.types).unwrap();
        let values = accumulator.values(&slots).unwrap();
        let texts = to_text(&values, &result, chrono_tz::UTC).unwrap();
        texts.iter().map(|text| text.map(str::to_string)).collect()
    }

    /// The result over the rows that are left, by an accumulator that never retracts.
    fn anew(&self, distinct: bool, left: &[Vec<Row>]) -> Vec<Option<String>> {
        let mut accumulator = make(self.name, &self.types, &AggregateOptions::default());
        for (slot, rows) in left.iter().enumerate() {
            let rows: Vec<Row> = if distinct { self.distinct(rows) } else { rows.clone() };
            if !rows.is_empty() {
                self.apply(accumulator.as_mut(), &vec![slot as u32; rows.len()], None, &rows);
            }
        }
        self.results(accumulator.as_ref())
    }

    /// `rows` without repeats; they stand in the order in which their values appeared.
    fn distinct(&self, rows: &[Row]) -> Vec<Row> {
        let mut kept: Vec<Row> = Vec::new();
        for row in rows.iter().filter(|(_, selected)| *selected) {
            if !kept.iter().any(|known| self.is_equal(known.0, row.0)) {
                kept.push(*row);
            }
        }
        kept
    }

    fn is_equal(&self, left: usize, right: usize) -> bool {
        self.choices.iter().all(|choices| choices.slice(left, 1) == choices.slice(right, 1))
    }

    /// One step: a row that comes or one that goes, and what it does to the rows that are left.
    fn step(&self, numbers: &mut Numbers, left: &mut [Vec<Row>], distinct: bool, filter: bool) -> (u32, RowKind, Row) {
        let slot = numbers.below(SLOTS as usize);
        let rows = &mut left[slot];
        let full = rows.len() >= self.rows_max;
        let choices = self.choices.first().map_or(1, |choices| choices.len());
        let new = (numbers.below(choices), !filter || numbers.below(3) > 0);
        // The keys of JSON_OBJECTAGG are unique.
        let again = rows.iter().find(|row| self.name == "JSON_OBJECTAGG" && self.is_equal(row.0, new.0)).copied();
        if !rows.is_empty() && (full || again.is_some() || numbers.below(5) < 2) {
            let (place, selected) = again.unwrap_or(rows[numbers.below(rows.len())]);
            let equal: Vec<usize> =
                (0..rows.len()).filter(|&at| rows[at].1 == selected && self.is_equal(rows[at].0, place)).collect();
            // With DISTINCT the place of the value is that of its first row, which therefore goes last.
            let at = if distinct { equal[equal.len() - 1] } else { equal[0] };
            rows.remove(at);
            return (
                slot as u32,
                if numbers.below(2) == 0 { RowKind::Delete } else { RowKind::UpdateBefore },
                (place, selected),
            );
        }
        rows.push(new);
        (slot as u32, if numbers.below(2) == 0 { RowKind::Insert } else { RowKind::UpdateAfter }, new)
    }
}

fn assert_close(actual: &[Option<String>], expected: &[Option<String>], allowed: f64, what: &str) {
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
    for (actual, expected) in actual.iter().zip(expected) {
        let close = match (number(actual), number(expected)) {
            (Some(actual), Some(expected)) => (actual - expected).abs() <= allowed.max(1e-3 * expected.abs()),
            _ => actual == expected,
        };
        assert!(close, "{what}: {actual:?} instead of {expected:?}");
    }
}

/// How the results of a call are compared.
fn compare(call: &Call, actual: &[Option<String>], expected: &[Option<String>], what: &str) {
    let is_floating = call.types.first().is_some_and(|t| matches!(t.logical, LogicalType::Float | LogicalType::Double));
    let is_variance = call.name.starts_with("STDDEV") || call.name.starts_with("VAR");
    if is_variance && call.types[0].logical.is_integer() {
        // A deviation that is an integer, less the residue of what was taken away, is cut to the integer below.
        assert_close(actual, expected, 1.0, what);
    } else if is_floating || is_variance || call.name == "PERCENTILE" {
        assert_close(actual, expected, 1e-3, what);
    } else {
        assert_eq!(actual, expected, "{what}");
    }
}

fn check(call: &Call, distinct: bool, filter: bool, seed: u64) {
    let numbers = &mut Numbers(seed);
    let options = AggregateOptions { distinct, retract: true };
    let mut accumulator = make(call.name, &call.types, &options);
    let mut left: Vec<Vec<Row>> = vec![Vec::new(); SLOTS as usize];
    for round in 0..STEPS / 4 {
        let batch = if call.rows_max == 1 { 1 } else { 1 + numbers.below(8) };
        let (mut slots, mut kinds, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..batch {
            let (slot, kind, row) = call.step(numbers, &mut left, distinct, filter);
            slots.push(slot);
            kinds.push(kind);
            rows.push(row);
        }
        call.apply(accumulator.as_mut(), &slots, Some(&kinds), &rows);
        let what = format!(
            "{}({:?}), distinct {distinct}, filter {filter}, seed {seed}, round {round}, rows {left:?}",
            call.name, call.types
        );
        compare(call, &call.results(accumulator.as_ref()), &call.anew(distinct, &left), &what);
        if round % 3 == 2 {
            let all: Vec<u32> = (0..SLOTS).collect();
            let state = accumulator.state(&all).unwrap();
            accumulator = make(call.name, &call.types, &options);
            accumulator.restore(&all, &state).unwrap();
        }
    }
}

#[test]
fn retractions_leave_the_result_of_the_rows_that_are_left() {
    for call in calls() {
        for distinct in [false, true].into_iter().filter(|distinct| call.has(*distinct)) {
            for (filter, seed) in [(false, 1), (true, 2), (false, 3), (true, 4)] {
                check(&call, distinct, filter, seed);
            }
        }
    }
}

/// The aggregates that [`merges_exactly`] names: states of batches, merged, are the state of all rows.
#[test]
fn states_of_batches_merge_to_the_state_of_all_rows() {
    let mut merged = 0;
    for call in calls() {
        for distinct in [false, true].into_iter().filter(|distinct| call.has(*distinct)) {
            let options = AggregateOptions { distinct, retract: true };
            if !merges_exactly(aggregate(call.name).unwrap().as_ref(), &call.types, &options) {
                continue;
            }
            merged += 1;
            for seed in 0..4 {
                let numbers = &mut Numbers(seed);
                let mut left: Vec<Vec<Row>> = vec![Vec::new(); SLOTS as usize];
                let mut accumulator = make(call.name, &call.types, &options);
                for round in 0..STEPS / 4 {
                    let mut batch = make(call.name, &call.types, &options);
                    for _ in 0..1 + numbers.below(8) {
                        let (slot, kind, row) = call.step(numbers, &mut left, distinct, true);
                        call.apply(batch.as_mut(), &[slot], Some(&[kind]), &[row]);
                    }
                    let all: Vec<u32> = (0..SLOTS).collect();
                    accumulator.merge(&all, &batch.state(&all).unwrap()).unwrap();
                    let what =
                        format!("{}({:?}), distinct {distinct}, seed {seed}, round {round}", call.name, call.types);
                    assert_eq!(call.results(accumulator.as_ref()), call.anew(distinct, &left), "{what}");
                }
            }
        }
    }
    assert!(merged > 20, "{merged} calls");
}
