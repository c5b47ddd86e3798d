//! MATCH_RECOGNIZE.

use super::changes;
use super::harness::{Case, Random, batch_of_lines, case, stream};
use super::stand_ins::{Closure, call};
use crate::operator::OperatorContext;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::Int64Type;
use base::plan::{
    AfterMatch, MatchRecognize, NodeKind, PatternCondition, PatternReference, PatternText, PatternValue,
    PatternVariable, SortKey,
};
use base::{ChangelogMode, LogicalType, SqlType};
use std::sync::Arc;

const COLUMNS: &str = "k:text id:int v:int ts:rowtime";

fn number() -> SqlType {
    LogicalType::BigInt.nullable()
}

fn last(variable: Option<usize>, column: usize, offset: u32) -> PatternReference {
    PatternReference { variable, value: PatternValue::Last { column, offset }, result: number() }
}

fn first(variable: usize, column: usize) -> PatternReference {
    PatternReference { variable: Some(variable), value: PatternValue::First { column, offset: 0 }, result: number() }
}

/// A condition on numbers that are read.
fn when(reads: Vec<PatternReference>, is: fn(&[Option<i64>]) -> bool) -> Option<PatternCondition> {
    let width = reads.len();
    let function = move |batch: &RecordBatch| -> ArrayRef {
        let value = |column: usize, row: usize| {
            let values = batch.column(column).as_primitive::<Int64Type>();
            values.is_valid(row).then(|| values.value(row))
        };
        let row = |row: usize| (0..width).map(|column| value(column, row)).collect::<Vec<_>>();
        Arc::new((0..batch.num_rows()).map(|at| Some(is(&row(at)))).collect::<BooleanArray>())
    };
    let expression = Closure { columns: (0..width).collect(), sql_type: LogicalType::Boolean.nullable(), function };
    Some(PatternCondition { reads, expression: Arc::new(expression) })
}

fn variable(name: &str, rows: (u32, Option<u32>, bool), condition: Option<PatternCondition>) -> PatternVariable {
    PatternVariable { name: name.into(), min: rows.0, max: rows.1, is_greedy: rows.2, condition }
}

const ONE: (u32, Option<u32>, bool) = (1, Some(1), false);
const MANY: (u32, Option<u32>, bool) = (1, None, true);

struct Pattern {
    variables: Vec<PatternVariable>,
    skip: AfterMatch,
    within_ms: Option<i64>,
    rowtime: Option<usize>,
    order: Vec<SortKey>,
}

impl Pattern {
    fn new(variables: Vec<PatternVariable>) -> Pattern {
        Pattern { variables, skip: AfterMatch::PastLastRow, within_ms: None, rowtime: Some(3), order: vec![] }
    }

    /// The key, then what is given of a match.
    fn gives(self, columns: &str, output: Vec<PatternReference>) -> Case {
        let Pattern { variables, skip, within_ms, rowtime, order } = self;
        let text = PatternText::default();
        let node = MatchRecognize { partition: vec![0], rowtime, order, variables, within_ms, skip, output, text };
        let output = stream(columns, ChangelogMode::APPEND);
        case(NodeKind::MatchRecognize(node), stream(COLUMNS, ChangelogMode::APPEND), output, &[0])
    }
}

/// Rows that fall, then one that rises.
fn falls() -> Pattern {
    let falling = vec![last(Some(1), 2, 0), last(Some(1), 2, 1), last(Some(0), 2, 0)];
    let rising = vec![last(Some(2), 2, 0), last(Some(1), 2, 0)];
    Pattern::new(vec![
        variable("START_ROW", ONE, None),
        variable("DOWN", MANY, when(falling, |read| read[0] < read[1].or(read[2]))),
        variable("UP", ONE, when(rising, |read| read[0] > read[1])),
    ])
}

const PRICES: &str = "
    +I a 1 12 0:00:01
    +I a 2 17 0:00:02
    +I b 3 9 0:00:02
    +I a 5 11 0:00:04
    +I a 4 13 0:00:03
    wm 0:00:03
    +I a 6 14 0:00:05
    +I b 7 8 0:00:06
    +I a 8 9 0:00:03
    +I a 9 9 0:00:06
    +I b 10 10 0:00:07
    +I a 11 20 0:00:07
    wm max";

#[test]
fn a_pattern_is_found_in_the_order_of_time() {
    let sum = call("SUM", Some(2));
    let total = PatternReference {
        variable: Some(1),
        value: PatternValue::Aggregate {
            function: sum.function,
            arguments: vec![super::stand_ins::column(2, number())],
        },
        result: number(),
    };
    let output = || vec![last(Some(0), 1, 0), first(1, 1), last(Some(1), 1, 0), last(Some(2), 1, 0), total.clone()];
    let columns = "k:text s:int f:int l:int u:int total:int";
    let case = falls().gives(columns, output());
    case.check(PRICES, "+I a 2 4 5 6 24 \n +I b 3 7 7 10 8");
    assert_eq!(case.statistics(PRICES).late_rows, 1);
    let again = Pattern { skip: AfterMatch::ToLast(2), ..falls() };
    again.gives(columns, output()).check(PRICES, "+I a 2 4 5 6 24 \n +I a 6 9 9 11 9 \n +I b 3 7 7 10 8");
}

#[test]
fn rows_of_one_moment_have_an_order() {
    let pair = || Pattern::new(vec![variable("A", ONE, None), variable("B", ONE, None)]);
    let output = || vec![last(Some(0), 1, 0), last(Some(1), 1, 0)];
    let rows = "+I a 1 5 0:00:01 \n +I a 2 7 0:00:01 \n +I a 3 6 0:00:01 \n +I a 4 9 0:00:01 \n wm max";
    pair().gives("k:text a:int b:int", output()).check(rows, "+I a 1 2 \n +I a 3 4");
    let by_value = Pattern { order: vec![SortKey { column: 2, descending: true, nulls_first: false }], ..pair() };
    by_value.gives("k:text a:int b:int", output()).check(rows, "+I a 4 2 \n +I a 3 1");
}

#[test]
fn a_match_waits_for_one_that_began_earlier() {
    // 1 could still be a longer match when 2, 3 is one: it is given when 1 fails, or is too old.
    let long = |within_ms| Pattern {
        skip: AfterMatch::ToNextRow,
        within_ms,
        ..Pattern::new(vec![
            variable("A", ONE, None),
            variable("B", (1, None, false), when(vec![last(Some(1), 2, 0), last(Some(0), 2, 0)], |r| r[0] >= r[1])),
            variable("C", ONE, when(vec![last(Some(2), 2, 0), last(Some(0), 1, 0)], |r| r[0] > r[1].map(|id| id * 10))),
        ])
    };
    let output = || vec![last(Some(0), 1, 0), last(Some(2), 1, 0)];
    let rows = "
        +I a 5 1 0:00:01
        +I a 1 1 0:00:02
        +I a 2 2 0:00:03
        +I a 3 30 0:00:04
        wm 0:00:04
        now 0
        wm 0:00:11
        +I a 4 60 0:00:12
        wm max";
    let open = long(None).gives("k:text a:int c:int", output());
    assert_eq!(open.run(rows, 1000, false), ["+I a 5 4", "+I a 1 3", "+I a 2 4"], "the first one ends late");
    let limited = long(Some(10_000)).gives("k:text a:int c:int", output());
    assert_eq!(limited.run(rows, 1000, false), ["+I a 1 3", "+I a 2 4"], "the first one is given up by the watermark");
    limited.check(rows, "+I a 1 3 \n +I a 2 4");
}

#[test]
fn nothing_is_kept_of_what_is_over() {
    let pattern = Pattern {
        within_ms: Some(60_000),
        ..Pattern::new(vec![variable("A", (3, Some(3), false), when(vec![last(Some(0), 2, 0)], |r| r[0] > Some(0)))])
    };
    let case = pattern.gives("k:text l:int", vec![last(Some(0), 1, 0)]);
    let entries = |script: &str| case.statistics(script).state_entries;
    assert_eq!(entries("+I a 1 1 0:00:01 \n +I a 2 0 0:00:02"), 2, "rows that wait");
    assert_eq!(entries("+I a 1 1 0:00:01 \n +I a 2 1 0:00:02 \n wm 0:00:05"), 2, "rows of partial matches");
    assert_eq!(entries("+I a 1 1 0:00:01 \n +I a 2 0 0:00:02 \n wm 0:00:05"), 0, "a row that ended the match");
    assert_eq!(entries("+I a 1 1 0:00:01 \n +I a 2 1 0:00:02 \n +I a 3 1 0:00:03 \n wm 0:00:05"), 0, "a match");
    assert_eq!(entries("+I a 1 1 0:00:01 \n wm 0:01:00.999"), 1, "just inside WITHIN");
    assert_eq!(entries("+I a 1 1 0:00:01 \n wm 0:01:01"), 0, "no longer inside WITHIN");
    case.check("+I a 1 1 0:00:01 \n +I a 2 1 0:00:02 \n +I a 3 1 0:01:01 \n wm max", "");
    case.check("+I a 1 1 0:00:01 \n +I a 2 1 0:00:02 \n +I a 3 1 0:01:00.999 \n wm max", "+I a 3");
}

#[test]
fn processing_time_takes_rows_as_they_come() {
    let pattern = Pattern { rowtime: None, within_ms: Some(1000), ..falls() };
    let case = pattern.gives("k:text s:int u:int", vec![last(Some(0), 1, 0), last(Some(2), 1, 0)]);
    let rows = "now 0 \n +I a 1 5 0:00:09 \n +I a 2 4 0:00:08 \n +I a 3 6 0:00:01";
    assert_eq!(case.run(rows, 1000, false), ["+I a 1 3"]);
    assert_eq!(case.run(rows, 1, true), ["+I a 1 3"]);
    let slow = "now 0 \n +I a 1 5 0:00:09 \n +I a 2 4 0:00:08 \n now 1000 \n +I a 3 6 0:00:01";
    assert_eq!(case.run(slow, 1000, false), [""; 0]);
    assert_eq!(case.statistics("now 0 \n +I a 1 5 0:00:09 \n now 1000").state_entries, 0, "the clock gives it up");
}

#[test]
fn a_row_to_skip_to_must_be_there() {
    let pattern = |skip, condition| Pattern {
        skip,
        ..Pattern::new(vec![
            variable("A", ONE, None),
            variable("B", (0, Some(1), false), condition),
            variable("C", ONE, None),
        ])
    };
    let fails = |pattern: Pattern| {
        let case = pattern.gives("k:text a:int", vec![last(Some(0), 1, 0)]);
        let rows = batch_of_lines(&case.input.row, "+I a 1 5 0:00:01 \n +I a 2 5 0:00:02");
        let mut operator = case.operator(0, 1);
        let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 10 };
        operator.on_batch(0, rows, &context).expect("rows wait");
        operator.on_watermark(10_000, &context).expect("a watermark");
        operator.next_output(&context).expect_err("no row to go on at").code()
    };
    let never = || when(vec![last(Some(1), 2, 0)], |_| false);
    assert_eq!(fails(pattern(AfterMatch::ToFirst(1), never())), "HW-R110");
    assert_eq!(fails(pattern(AfterMatch::ToFirst(0), never())), "HW-R111");
}

/// `minute:second.millisecond` of an hour.
fn clock(time_ms: u64) -> String {
    format!("0:{:02}:{:02}.{:03}", time_ms / 60_000, time_ms % 60_000 / 1000, time_ms % 1000)
}

/// What `A B* C` with SKIP PAST LAST ROW gives, by looking at all rows of a key: the first A that can be continued, then the
/// first C behind it that only B is between.
fn expected(rows: &[(u64, i64, i64)]) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let (time, id, value) = rows[at];
        let end = (value == 1).then(|| {
            let mut behind = rows[at + 1..].iter().take_while(|row| row.0 - time < 20);
            behind.find(|row| row.2 != 2).filter(|row| row.2 == 3).map(|row| row.1)
        });
        match end.flatten() {
            Some(last) => {
                found.push((id, last));
                at = rows.iter().position(|row| row.1 == last).expect("the row") + 1;
            }
            None => at += 1,
        }
    }
    found
}

#[test]
fn the_result_depends_on_event_time_only() {
    let is = |variable: usize| vec![last(Some(variable), 2, 0)];
    for seed in 0..20 {
        let mut random = Random(seed);
        // Seconds, key, id, value. Times of a key differ, so that the order of rows is set.
        let mut rows: Vec<(u64, &str, i64, i64)> = Vec::new();
        let mut time = 10;
        for id in 0..60 {
            time += random.below(6);
            rows.push((time, ["a", "b", "c"][random.below(3) as usize], id, 1 + random.below(3) as i64));
        }
        let mut all = Vec::new();
        for key in ["a", "b", "c"] {
            let own: Vec<_> = rows.iter().filter(|row| row.1 == key).map(|row| (row.0, row.2, row.3)).collect();
            all.extend(expected(&own).into_iter().map(|(a, c)| format!("+I {key} {a} {c}")));
        }
        all.sort();
        // Rows come up to 5 s late.
        rows.sort_by_cached_key(|row| row.0 + random.below(5));
        let (mut script, mut largest) = (String::new(), 0);
        for (time, key, id, value) in rows {
            let time_ms = time * 1000 + id as u64;
            largest = largest.max(time_ms);
            script.push_str(&format!("+I {key} {id} {value} {}\n", clock(time_ms)));
            if random.below(3) == 0 {
                script.push_str(&format!("wm {}\n", clock(largest.saturating_sub(6000))));
            }
        }
        script.push_str("wm max");
        let pattern = Pattern {
            within_ms: Some(19_500),
            ..Pattern::new(vec![
                variable("A", ONE, when(is(0), |r| r[0] == Some(1))),
                variable("B", (0, None, true), when(is(1), |r| r[0] == Some(2))),
                variable("C", ONE, when(is(2), |r| r[0] == Some(3))),
            ])
        };
        let case = pattern.gives("k:text a:int c:int", vec![last(Some(0), 1, 0), last(Some(2), 1, 0)]);
        assert_eq!(case.statistics(&script).late_rows, 0);
        for (batch, restore) in [(1, false), (7, true), (1000, false)] {
            let mut actual = case.run(&script, batch, restore);
            actual.sort();
            assert_eq!(actual, all, "seed {seed}, batches of {batch}, restore {restore}");
        }
    }
}

/// `A B* C`, which holds on to its rows for a while.
fn runs() -> Case {
    let is = |variable: usize| vec![last(Some(variable), 2, 0)];
    let pattern = Pattern {
        skip: AfterMatch::ToNextRow,
        within_ms: Some(60_000),
        ..Pattern::new(vec![
            variable("A", ONE, when(is(0), |r| r[0] < Some(3))),
            variable("B", (0, None, true), when(is(1), |r| r[0] == Some(2))),
            variable("C", ONE, when(is(2), |r| r[0] == Some(3))),
        ])
    };
    pattern.gives("k:text a:int c:int", vec![last(Some(0), 1, 0), last(Some(2), 1, 0)])
}

#[test]
fn changes_are_what_is_new_and_what_is_gone() {
    for seed in 0..8 {
        let mut random = Random(seed);
        let (mut script, mut time) = (String::new(), 60);
        for id in 0..120 {
            time += random.below(4);
            let (key, value, late) = (random.below(6), 1 + random.below(3), random.below(9));
            script.push_str(&format!("+I k{key} {id} {value} {}\n", clock((time - late) * 1000 + id)));
            if random.below(3) == 0 {
                script.push_str(&format!("wm {}\n", clock((time - 9) * 1000)));
            }
        }
        changes::check(&runs(), &script);
    }
}

#[test]
fn a_row_of_one_partition_is_few_rows_of_a_checkpoint() {
    // A hundred partitions, each with twenty rows in one partial match.
    let mut before = String::new();
    for row in 0..20 {
        (0..100).for_each(|key| before.push_str(&format!("+I k{key} {row} {} 0:00:{row:02}\n", 1 + row.min(1))));
    }
    before.push_str("wm 0:00:20");
    let waits = changes::changed_rows(&runs(), &before, "+I k7 20 2 0:00:30");
    assert!(waits <= 3, "{waits} rows for one that waits");
    let taken = changes::changed_rows(&runs(), &before, "+I k7 20 2 0:00:30 \n wm 0:00:31");
    assert!(taken <= 150, "{taken} rows for one that is taken, of thousands");
    let ended = changes::changed_rows(&runs(), &before, "+I k7 20 3 0:00:30 \n wm 0:00:31");
    assert!(
        ended > 20 && ended <= 500,
        "{ended} rows and numbers for a partition whose matches end, of tens of thousands"
    );
}
