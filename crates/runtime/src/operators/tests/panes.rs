//! HOP and CUMULATE put together from panes: always what a computation of each window from its rows gives.

use super::super::create;
use super::super::window_aggregate::WindowAggregateOperator;
use super::changes::{Histories, assert_shape, restarting_every};
use super::harness::print;
use crate::operator::{Operator, OperatorContext};
use arrow::array::*;
use base::config::{JobConfig, parse_time_zone};
use base::connector::Instance;
use base::event::WATERMARK_MAX;
use base::function::AggregateOptions;
use base::key::{hash_columns, instance_of_group, key_group};
use base::plan::{
    AggregateCall, Distribution, Edge, Node, NodeKind, Output, Window, WindowAggregate, WindowEmit, WindowKind,
    WindowProperty,
};
use base::types::{Field, LogicalType, RowType, TimeAttribute};
use base::{ChangelogBatch, ChangelogMode, RowKind};
use state::{OperatorSnapshot, Scope, SnapshotKind};
use std::sync::Arc;

/// Numbers that depend on the seed only.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

#[derive(Debug, Clone)]
struct Row {
    kind: RowKind,
    key: Option<i64>,
    value: Option<i64>,
    double: f64,
    is_wanted: bool,
    time_ms: i64,
}

#[derive(Debug, Clone)]
enum Step {
    Rows(Vec<Row>),
    Watermark(i64),
    Restart(usize),
}

/// A query over `k BIGINT, v BIGINT, d DOUBLE, f BOOLEAN, ts`.
struct Query {
    node: Node,
    input: Output,
}

impl Query {
    /// `calls` are the name of a function, its argument, whether it is DISTINCT and whether it has the FILTER.
    fn new(window: Window, calls: &[(&str, Option<usize>, bool, bool)], retracts: bool) -> Query {
        let is_instant = window.time_zone.is_some();
        let time = if is_instant { LogicalType::TimestampLtz(3) } else { LogicalType::Timestamp(3) };
        let columns = vec![
            Field::new("k", LogicalType::BigInt.nullable()),
            Field::new("v", LogicalType::BigInt.nullable()),
            Field::new("d", LogicalType::Double.nullable()),
            Field::new("f", LogicalType::Boolean.nullable()),
            Field { name: "ts".into(), sql_type: time.nullable(), time: Some(TimeAttribute::Rowtime) },
        ];
        let changelog = if retracts { ChangelogMode::ALL } else { ChangelogMode::APPEND };
        let input = Output { row: RowType::new(columns), changelog, upsert_keys: vec![] };
        let mut fields = vec![input.row.fields()[0].clone()];
        let mut made = Vec::new();
        for &(name, argument, distinct, filtered) in calls {
            let function = functions::aggregate(name).expect("a function");
            let arguments: Vec<usize> = argument.into_iter().collect();
            let types: Vec<_> = arguments.iter().map(|&column| input.row.fields()[column].sql_type.clone()).collect();
            fields.push(Field::new(name, function.return_type(&types).expect("type")));
            let options = AggregateOptions { distinct, retract: retracts };
            let filter = filtered.then_some(3);
            made.push(AggregateCall { function, arguments, filter, options, sql: name.into() });
        }
        fields.push(Field::new("window_start", LogicalType::Timestamp(3).not_null()));
        fields.push(Field::new("window_end", LogicalType::Timestamp(3).not_null()));
        let kind = NodeKind::WindowAggregate(WindowAggregate {
            window,
            is_attached: false,
            keys: vec![0],
            calls: made,
            properties: vec![WindowProperty::Start, WindowProperty::End],
            emit: WindowEmit::default(),
        });
        let output = Output { row: RowType::new(fields), changelog: ChangelogMode::APPEND, upsert_keys: vec![] };
        let inputs = vec![Edge { node: 0, distribution: Distribution::Hash(vec![0]) }];
        Query { node: Node { operator_id: "w".into(), digest: "w".into(), kind, inputs, output }, input }
    }

    /// The operator with panes, or one that keeps every window by itself.
    fn operator(&self, instance: Instance, with_panes: bool) -> Box<dyn Operator> {
        if with_panes {
            let operator = create(&self.node, &[&self.input], instance, &JobConfig::default()).expect("operator");
            return operator;
        }
        let NodeKind::WindowAggregate(node) = &self.node.kind else { panic!("a window") };
        let operator = WindowAggregateOperator::new(node, &self.input, &self.node.output, instance, false);
        Box::new(operator.expect("operator"))
    }

    fn batch(&self, rows: &[Row]) -> ChangelogBatch {
        let times: TimestampMillisecondArray = rows.iter().map(|row| Some(row.time_ms)).collect();
        let time_type = self.input.row.arrow().field(4).data_type().clone();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(rows.iter().map(|row| row.key).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|row| row.value).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|row| Some(row.double)).collect::<Float64Array>()),
            Arc::new(rows.iter().map(|row| Some(row.is_wanted)).collect::<BooleanArray>()),
            arrow::compute::cast(&times, &time_type).expect("times"),
        ];
        let records = RecordBatch::try_new(self.input.row.arrow().clone(), columns).expect("batch");
        ChangelogBatch::new(records, rows.iter().map(|row| row.kind).collect::<Vec<_>>())
    }

    /// The results of every step, sorted within it, and how many rows were late.
    fn run(&self, steps: &[Step], rows_max: usize, with_panes: bool) -> (Vec<Vec<String>>, u64) {
        let mut context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 3 };
        let start = |parallelism: usize, snapshots: &[OperatorSnapshot]| -> Vec<Box<dyn Operator>> {
            let instance = |index| Instance { index, parallelism };
            let mut operators: Vec<_> =
                (0..parallelism).map(|index| self.operator(instance(index), with_panes)).collect();
            operators.iter_mut().for_each(|operator| operator.open(snapshots).expect("open"));
            operators
        };
        let mut operators = start(1, &[]);
        let mut histories = Histories::default();
        let (mut output, mut late) = (Vec::new(), 0);
        for step in steps {
            let mut lines = Vec::new();
            let mut drain = |operator: &mut Box<dyn Operator>, context: &OperatorContext| {
                while let Some(batch) = operator.next_output(context).expect("output") {
                    assert!((1..=3).contains(&batch.num_rows()), "{} rows", batch.num_rows());
                    lines.extend(text(&batch));
                }
            };
            match step {
                Step::Rows(rows) => {
                    for rows in rows.chunks(rows_max) {
                        let batch = self.batch(rows);
                        let hashes = hash_columns(&batch.records().columns()[..1], rows.len()).expect("hashes");
                        let instances = operators.len();
                        for (index, operator) in operators.iter_mut().enumerate() {
                            let owner = |row: &usize| instance_of_group(key_group(hashes[*row]), instances) == index;
                            let mine: Vec<u32> = (0..rows.len()).filter(owner).map(|row| row as u32).collect();
                            operator.on_batch(0, batch.take(&mine.into()).expect("rows"), &context).expect("batch");
                            drain(operator, &context);
                        }
                    }
                }
                Step::Watermark(watermark_ms) => {
                    for operator in &mut operators {
                        operator.on_watermark(*watermark_ms, &context).expect("watermark");
                        drain(operator, &context);
                    }
                    context.watermark_ms = Some(*watermark_ms);
                }
                Step::Restart(parallelism) => {
                    if let Some(snapshots) = histories.chance(&mut operators) {
                        assert_shape(&snapshots, start(1, &[])[0].as_mut());
                        late += operators.iter().map(|operator| operator.statistics().late_rows).sum::<u64>();
                        operators = start(*parallelism, &snapshots);
                        context.watermark_ms = None;
                    }
                }
            }
            lines.sort();
            output.push(lines);
        }
        for operator in &operators {
            let statistics = operator.statistics();
            late += statistics.late_rows;
            assert_eq!(statistics.state_entries, 0, "all state is dropped at the end");
        }
        (output, late)
    }
}

/// The rows of a batch as text; floating-point numbers to the last bit.
fn text(batch: &ChangelogBatch) -> Vec<String> {
    let columns: Vec<ArrayRef> = batch
        .records()
        .columns()
        .iter()
        .map(|column| match column.as_primitive_opt::<arrow::datatypes::Float64Type>() {
            Some(doubles) => {
                Arc::new(doubles.iter().map(|d| d.map(|d| d.to_bits() as i64)).collect::<Int64Array>()) as ArrayRef
            }
            None => column.clone(),
        })
        .collect();
    let fields = columns
        .iter()
        .enumerate()
        .map(|(index, column)| arrow::datatypes::Field::new(format!("c{index}"), column.data_type().clone(), true));
    let schema = Arc::new(arrow::datatypes::Schema::new(fields.collect::<Vec<_>>()));
    let records = RecordBatch::try_new(schema, columns).expect("records");
    print(&ChangelogBatch::new(
        records,
        batch.kinds().map(<[RowKind]>::to_vec).unwrap_or_else(|| vec![RowKind::Insert; batch.num_rows()]),
    ))
}

fn window(kind: WindowKind, offset_ms: i64) -> Window {
    Window { kind, offset_ms, time_column: 4, time_zone: None, is_processing_time: false }
}

const KINDS: [WindowKind; 9] = [
    WindowKind::Hop { slide_ms: 10, size_ms: 20 },
    WindowKind::Hop { slide_ms: 10, size_ms: 60 },
    WindowKind::Hop { slide_ms: 2, size_ms: 120 },
    WindowKind::Hop { slide_ms: 20, size_ms: 30 },
    WindowKind::Hop { slide_ms: 12, size_ms: 40 },
    WindowKind::Cumulate { step_ms: 10, size_ms: 40 },
    WindowKind::Cumulate { step_ms: 2, size_ms: 120 },
    WindowKind::Hop { slide_ms: 1, size_ms: 100 },
    WindowKind::Cumulate { step_ms: 1, size_ms: 100 },
];

/// Random rows around a time that goes on, of which some come late; sometimes time jumps.
fn steps(numbers: &mut Numbers, retracts: bool, restarts: bool, doubles: fn(&mut Numbers) -> f64) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut now_ms = numbers.below(1000) as i64 - 500;
    let mut there: Vec<Row> = Vec::new();
    for _ in 0..4 + numbers.below(25) {
        let mut rows = Vec::new();
        for _ in 0..numbers.below(12) {
            if retracts && !there.is_empty() && numbers.once_in(3) {
                let mut row = there.swap_remove(numbers.below(there.len() as u64) as usize);
                row.kind = if numbers.once_in(2) { RowKind::Delete } else { RowKind::UpdateBefore };
                rows.push(row);
                continue;
            }
            let behind = *[5, 40, 150].get(numbers.below(3) as usize).expect("one of three");
            let row = Row {
                kind: if retracts && numbers.once_in(3) { RowKind::UpdateAfter } else { RowKind::Insert },
                key: (!numbers.once_in(10)).then(|| numbers.below(4) as i64),
                value: (!numbers.once_in(8)).then(|| numbers.below(7) as i64 - 3),
                double: doubles(numbers),
                is_wanted: numbers.once_in(2),
                time_ms: now_ms + 30 - numbers.below(behind) as i64,
            };
            there.push(row.clone());
            rows.push(row);
        }
        steps.push(Step::Rows(rows));
        if numbers.once_in(2) {
            steps.push(Step::Watermark(now_ms));
        }
        if restarts && numbers.once_in(2) {
            steps.push(Step::Restart(1 + numbers.below(3) as usize));
        }
        now_ms += *[0, 1, 7, 25, 500].get(numbers.below(5) as usize).expect("one of five");
    }
    steps.push(Step::Watermark(WATERMARK_MAX));
    steps
}

const EXACT: [(&str, Option<usize>, bool, bool); 7] = [
    ("COUNT", None, false, false),
    ("SUM", Some(1), false, true),
    ("AVG", Some(1), false, false),
    ("MAX", Some(1), false, true),
    ("COUNT", Some(1), true, false),
    ("SUM", Some(1), true, true),
    ("MIN", Some(1), true, false),
];

/// Several with DISTINCT, of which some read the same values and some others.
const DISTINCT: [(&str, Option<usize>, bool, bool); 7] = [
    ("COUNT", Some(1), true, false),
    ("AVG", Some(1), true, true),
    ("SUM", Some(1), true, false),
    ("COUNT", Some(1), true, true),
    ("COUNT", Some(2), true, false),
    ("COUNT", None, false, false),
    ("COUNT", Some(3), true, false),
];

/// Both operators agree on everything.
fn check(query: &Query, steps: &[Step], seed: u64) {
    let (expected, late) = query.run(steps, 1, false);
    for rows_max in [1, 7, 4096] {
        let (found, found_late) = query.run(steps, rows_max, true);
        assert_eq!(found, expected, "seed {seed}, batches of {rows_max}: {:?} {steps:#?}", query.node.kind);
        assert_eq!(found_late, late, "late rows of seed {seed}");
    }
    // Snapshots of changes, merged with those before.
    restarting_every(3, || {
        let (found, found_late) = query.run(steps, 7, true);
        assert_eq!(found, expected, "seed {seed}, snapshots of changes: {:?} {steps:#?}", query.node.kind);
        assert_eq!(found_late, late, "late rows of seed {seed}");
    });
}

#[test]
fn panes_give_what_windows_give() {
    let mut late_rows = 0;
    for seed in 0..40 {
        let numbers = &mut Numbers(seed);
        let kind = KINDS[numbers.below(KINDS.len() as u64) as usize].clone();
        let offset_ms = *[0, 3, -7].get(numbers.below(3) as usize).expect("one of three");
        let retracts = numbers.once_in(2);
        let query = Query::new(window(kind, offset_ms), &EXACT, retracts);
        let restarts = numbers.once_in(2);
        let steps = steps(numbers, retracts, restarts, |_| 0.0);
        check(&query, &steps, seed);
        late_rows += query.run(&steps, 7, true).1;
    }
    assert!(late_rows > 15, "{late_rows} late rows only");
}

/// Values that come again before and behind the ends of windows, in order and late.
#[test]
fn distinct_values_are_those_of_each_window() {
    for seed in 0..40 {
        let numbers = &mut Numbers(seed);
        let kind = KINDS[numbers.below(KINDS.len() as u64) as usize].clone();
        let offset_ms = *[0, 3, -7].get(numbers.below(3) as usize).expect("one of three");
        let query = Query::new(window(kind, offset_ms), &DISTINCT, numbers.once_in(5));
        let restarts = numbers.once_in(2);
        let retracts = !query.input.changelog.is_append_only();
        let steps = steps(numbers, retracts, restarts, |numbers| numbers.below(4) as f64);
        check(&query, &steps, seed);
    }
}

#[test]
fn sums_of_whole_doubles_are_exact_in_any_order() {
    let calls = [
        ("SUM", Some(2), false, false),
        ("MAX", Some(2), false, true),
        ("COUNT", None, false, false),
        ("AVG", Some(2), false, false),
    ];
    for seed in 0..50 {
        let numbers = &mut Numbers(seed);
        let kind = KINDS[numbers.below(KINDS.len() as u64) as usize].clone();
        let query = Query::new(window(kind, 0), &calls, numbers.once_in(3));
        let retracts = !query.input.changelog.is_append_only();
        let steps = steps(numbers, retracts, true, |numbers| numbers.below(100) as f64);
        check(&query, &steps, seed);
    }
}

/// Rows by rows, a batch at once, with restarts or without: the very same bits.
#[test]
fn sums_of_doubles_follow_from_the_rows_of_panes() {
    let calls = [("SUM", Some(2), false, false), ("VAR_POP", Some(2), false, false)];
    for seed in 0..50 {
        let numbers = &mut Numbers(seed);
        let kind = KINDS[numbers.below(KINDS.len() as u64) as usize].clone();
        let query = Query::new(window(kind, 0), &calls, false);
        let steps = steps(numbers, false, true, |numbers| numbers.below(1_000_000) as f64 * 1e-3 + 1e9);
        let (expected, late) = query.run(&steps, 1, true);
        let without: Vec<Step> = steps.iter().filter(|step| !matches!(step, Step::Restart(_))).cloned().collect();
        for (steps, rows_max) in [(&steps, 7), (&steps, 4096), (&without, 1), (&without, 4096)] {
            let (found, found_late) = query.run(steps, rows_max, true);
            let all = |output: &[Vec<String>]| output.concat();
            assert_eq!(all(&found), all(&expected), "seed {seed}, batches of {rows_max}");
            assert_eq!(found_late, late);
        }
    }
}

#[test]
fn windows_of_a_zone_follow_its_clock() {
    const HOUR_MS: i64 = 3_600_000;
    // New York: clocks go on at 07:00Z and back at 06:00Z.
    for (seed, change_ms) in (0..20).flat_map(|seed| [1_710_054_000_000, 1_730_613_600_000].map(|ms| (seed, ms))) {
        let numbers = &mut Numbers(seed);
        let kinds = [
            WindowKind::Hop { slide_ms: HOUR_MS / 4, size_ms: 3 * HOUR_MS },
            WindowKind::Hop { slide_ms: HOUR_MS, size_ms: 2 * HOUR_MS },
            WindowKind::Cumulate { step_ms: HOUR_MS / 2, size_ms: 24 * HOUR_MS },
        ];
        let zone = parse_time_zone("America/New_York").expect("zone");
        let kind = kinds[numbers.below(3) as usize].clone();
        let window = Window { time_zone: Some(zone), ..window(kind, 0) };
        let query = Query::new(window, &EXACT, false);
        let mut steps = steps(numbers, false, true, |_| 0.0);
        for step in &mut steps {
            let around = |ms: i64| if ms == WATERMARK_MAX { ms } else { change_ms + (ms - 200) * (HOUR_MS / 60) };
            match step {
                Step::Rows(rows) => rows.iter_mut().for_each(|row| row.time_ms = around(row.time_ms)),
                Step::Watermark(ms) => *ms = around(*ms),
                Step::Restart(_) => {}
            }
        }
        check(&query, &steps, seed);
    }
}

#[test]
fn the_order_of_rows_is_kept_where_it_matters() {
    let calls = [("FIRST_VALUE", Some(1), false, false), ("LAST_VALUE", Some(1), false, false)];
    let query = Query::new(window(KINDS[1].clone(), 0), &calls, false);
    for seed in 0..20 {
        let steps = steps(&mut Numbers(seed), false, true, |_| 0.0);
        check(&query, &steps, seed);
    }
}

/// A row is kept once, whatever the windows that it is in.
#[test]
fn state_follows_from_panes_not_from_windows() {
    let entries = |kind: WindowKind, rows: i64| {
        let query = Query::new(window(kind, 0), &EXACT, false);
        let mut operator = query.operator(Instance { index: 0, parallelism: 1 }, true);
        let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 3 };
        let row = |n: i64| Row {
            kind: RowKind::Insert,
            key: Some(n),
            value: Some(n),
            double: 0.0,
            is_wanted: true,
            time_ms: n % 60,
        };
        let rows: Vec<Row> = (0..rows).map(row).collect();
        operator.on_batch(0, query.batch(&rows), &context).expect("batch");
        operator.statistics().state_entries
    };
    for ratio in [2, 6, 60] {
        assert_eq!(entries(WindowKind::Hop { slide_ms: 60 / ratio, size_ms: 60 }, 1000), 1000, "ratio {ratio}");
        assert_eq!(entries(WindowKind::Cumulate { step_ms: 60 / ratio, size_ms: 60 }, 1000), 1000, "ratio {ratio}");
    }
}

/// The rows of each table of a snapshot, and how many are gone; `None` for a table as a whole.
fn changes(operator: &mut dyn Operator) -> Vec<Option<[usize; 2]>> {
    let snapshot = operator.snapshot(Scope::Changes).expect("snapshot");
    let changes = |table: &state::TableSnapshot| match &table.kind {
        SnapshotKind::Rows { gone } => Some([table.rows.num_rows(), gone.len()]),
        _ => None,
    };
    snapshot.tables.iter().map(changes).collect()
}

#[test]
fn a_snapshot_of_changes_has_the_panes_that_changed() {
    for kind in [WindowKind::Hop { slide_ms: 1, size_ms: 60 }, WindowKind::Cumulate { step_ms: 1, size_ms: 60 }] {
        let is_hop = matches!(kind, WindowKind::Hop { .. });
        let query = Query::new(window(kind, 0), &DISTINCT[..2], false);
        let mut operator = query.operator(Instance { index: 0, parallelism: 1 }, true);
        let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 1000 };
        let row = |key: i64, value: i64, time_ms: i64| Row {
            kind: RowKind::Insert,
            key: Some(key),
            value: Some(value),
            double: 0.0,
            is_wanted: false,
            time_ms,
        };
        let add = |operator: &mut dyn Operator, rows: &[Row]| {
            operator.on_batch(0, query.batch(rows), &context).expect("batch");
        };
        let fire = |operator: &mut dyn Operator, watermark_ms: i64| {
            operator.on_watermark(watermark_ms, &context).expect("watermark");
            let next = |operator: &mut dyn Operator| operator.next_output(&context).expect("output");
            while next(operator).is_some() {}
        };
        let operator = operator.as_mut();
        // 100 keys, each with one value of its own in 60 panes; half of them come in before the snapshot.
        let rows: Vec<Row> = (0..6000).map(|n| row(n % 100, n % 100, n / 100)).collect();
        add(operator, &rows);
        fire(operator, 30);
        operator.snapshot(Scope::Full).expect("snapshot");
        assert_eq!(changes(operator), [Some([0, 0]); 4], "nothing has changed");
        // Windows, panes, the values of COUNT, those of AVG with its FILTER.
        add(operator, &[row(1, 1, 59)]);
        assert_eq!(
            changes(operator),
            [Some([0, 0]), Some([1, 0]), Some([0, 0]), Some([0, 0])],
            "a pane has a row more"
        );
        add(operator, &[row(1, 2, 59), row(2, 1, 59)]);
        assert_eq!(changes(operator), [Some([0, 0]), Some([2, 0]), Some([2, 0]), Some([0, 0])], "and values, too");
        fire(operator, 31);
        let left = if is_hop { [0, 0] } else { [0, 100] };
        assert_eq!(changes(operator), [None, Some(left), Some([0, 0]), Some([0, 0])], "all windows have moved");
        if is_hop {
            fire(operator, 62);
            assert_eq!(changes(operator)[1], Some([0, 400]), "the panes that no window has any more");
        }
    }
}
