//! Joins in time. A script line is a side and a change of it (`l +I a 1 00:00:05`), a watermark (`wm 00:01`), or a processing
//! time (`now 1000`), or a side that has caught up (`up r`).

use super::changes::{self, Histories, assert_shape};
use super::harness::{batch_of_lines, parse_time, print, stream};
use super::parted;
use super::stand_ins::Closure;
use crate::operator::{Operator, OperatorContext};
use arrow::array::*;
use arrow::compute::kernels::cmp::lt;
use arrow::datatypes::Int64Type;
use base::config::JobConfig;
use base::connector::Instance;
use base::key::{hash_columns, instance_of_group, key_group};
use base::plan::*;
use base::types::LogicalType;
use base::{ChangelogMode, Expression, RowKind};
use state::OperatorSnapshot;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Two inputs `k:text v:int t:time`, joined on `k`.
pub struct Joined {
    pub node: Node,
    pub inputs: [Output; 2],
}

const KEY: JoinKey = JoinKey { left: 0, right: 0, null_safe: false };

fn joined(kind: NodeKind, left: &str, right: &str, output: &str) -> Joined {
    let inputs = [left, right].map(|columns| stream(columns, ChangelogMode::ALL));
    let edge = |node| Edge { node, distribution: Distribution::Hash(vec![0]) };
    let node = Node {
        operator_id: "join".into(),
        digest: "join".into(),
        kind,
        inputs: vec![edge(0), edge(1)],
        output: stream(output, ChangelogMode::ALL),
    };
    Joined { node, inputs }
}

/// `v < w`
fn smaller(left: usize, right: usize) -> Option<Arc<dyn Expression>> {
    Some(Arc::new(Closure {
        columns: vec![left, right],
        sql_type: LogicalType::Boolean.nullable(),
        function: |batch: &RecordBatch| {
            let numbers: Vec<&ArrayRef> =
                batch.columns().iter().filter(|column| column.as_primitive_opt::<Int64Type>().is_some()).collect();
            let (one, other) = (numbers[0].as_primitive::<Int64Type>(), numbers[1].as_primitive::<Int64Type>());
            Arc::new(lt(one, other).expect("lt")) as ArrayRef
        },
    }))
}

/// left time - right time in seconds
fn interval(kind: JoinKind, lower: i64, upper: i64, condition: Option<Arc<dyn Expression>>) -> Joined {
    let join = IntervalJoin {
        kind,
        keys: vec![KEY],
        condition,
        rowtimes: Some([2, 2]),
        lower_ms: lower * 1000,
        upper_ms: upper * 1000,
    };
    let side = "k:text v:int t:rowtime";
    joined(NodeKind::IntervalJoin(join), side, side, "k:text v:int t:rowtime k2:text w:int u:rowtime")
}

pub fn temporal(is_outer: bool, condition: Option<Arc<dyn Expression>>) -> Joined {
    let join = TemporalJoin { is_outer, keys: vec![KEY], condition, rowtimes: Some([2, 2]), state_ttl: None };
    let side = "k:text v:int t:rowtime";
    joined(NodeKind::TemporalJoin(join), side, side, "k:text v:int t:rowtime k2:text w:int u:rowtime")
}

/// The right row of now.
fn now(is_outer: bool, condition: Option<Arc<dyn Expression>>) -> Joined {
    let join = TemporalJoin { is_outer, keys: vec![KEY], condition, rowtimes: None, state_ttl: None };
    let side = "k:text v:int t:rowtime";
    joined(NodeKind::TemporalJoin(join), side, side, "k:text v:int t:rowtime k2:text w:int u:rowtime")
}

/// The windows are of a minute; `s` and `e` are their ends.
fn window(kind: JoinKind, condition: Option<Arc<dyn Expression>>) -> Joined {
    let join = WindowJoin {
        kind,
        keys: vec![KEY],
        condition,
        starts: [2, 2],
        ends: [3, 3],
        time_zone: None,
        windows: [String::new(), String::new()],
    };
    let side = "k:text v:int s:time e:time";
    let output = match kind {
        JoinKind::Semi | JoinKind::Anti => side,
        _ => "k:text v:int s:time e:time k2:text w:int s2:time e2:time",
    };
    joined(NodeKind::WindowJoin(join), side, side, output)
}

impl Joined {
    fn start(&self, parallelism: usize, snapshots: &[OperatorSnapshot]) -> Vec<Box<dyn Operator>> {
        let start = |index| {
            let inputs = [&self.inputs[0], &self.inputs[1]];
            let instance = Instance { index, parallelism };
            let mut operator = parted::create(&self.node, &inputs, instance, &JobConfig::default()).expect("operator");
            operator.open(snapshots).expect("open");
            operator
        };
        (0..parallelism).map(start).collect()
    }

    /// The output with batches of at most `rows`; restarted after every step with the next of `parallelisms`, if any.
    fn run(&self, script: &str, rows: usize, rows_max: usize, parallelisms: &[usize]) -> (Vec<String>, u64, u64) {
        let mut context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max };
        let mut output = Vec::new();
        let mut operators = self.start(parallelisms.first().copied().unwrap_or(1), &[]);
        let mut restarts = parallelisms.iter().cycle();
        let mut histories = Histories::default();
        let mut late = 0;
        for (side, lines) in batches(script, rows) {
            let parallelism = operators.len();
            for (index, operator) in operators.iter_mut().enumerate() {
                match side {
                    "wm" if lines == "max" => operator.on_watermark(i64::MAX, &context).expect("watermark"),
                    "wm" => operator.on_watermark(parse_time(&lines), &context).expect("watermark"),
                    "now" => {
                        context.processing_time_ms = lines.parse().expect("milliseconds");
                        operator.on_processing_time(&context).expect("time");
                    }
                    "up" => operator.on_caught_up(usize::from(lines == "r"), &context).expect("caught up"),
                    side => {
                        let input = usize::from(side == "r");
                        let batch = batch_of_lines(&self.inputs[input].row, &lines);
                        let hashes =
                            hash_columns(&[batch.records().column(0).clone()], batch.num_rows()).expect("hash");
                        let is_mine =
                            |row: &u32| instance_of_group(key_group(hashes[*row as usize]), parallelism) == index;
                        let mine: Vec<u32> = (0..batch.num_rows() as u32).filter(is_mine).collect();
                        operator.on_batch(input, batch.take(&mine.into()).expect("take"), &context).expect("batch");
                    }
                }
                while let Some(batch) = operator.next_output(&context).expect("output") {
                    assert!(!batch.is_empty() && batch.num_rows() <= rows_max);
                    assert_eq!(batch.records().schema(), *self.node.output.row.arrow());
                    output.extend(print(&batch));
                }
            }
            if side == "wm" {
                context.watermark_ms = Some(if lines == "max" { i64::MAX } else { parse_time(&lines) });
            }
            if let Some(&parallelism) = restarts.next() {
                let Some(snapshots) = histories.chance(&mut operators) else { continue };
                assert_shape(&snapshots, self.start(1, &[])[0].as_mut());
                late += operators.iter().map(|operator| operator.statistics().late_rows).sum::<u64>();
                operators = self.start(parallelism, &snapshots);
                // Whoever is not told where time was must know it; parts that were put away are told.
                if !parted::is_on() {
                    context.watermark_ms = None;
                }
            }
        }
        let sum = |count: fn(&dyn Operator) -> u64| operators.iter().map(|o| count(o.as_ref())).sum::<u64>();
        late += sum(|operator| operator.statistics().late_rows);
        (output, late, sum(|operator| operator.statistics().state_entries))
    }

    /// Every batching gives the very same rows, also with restores; `late` rows are counted, `kept` ones stay.
    fn check(&self, script: &str, expected: &str, late: u64, kept: u64) {
        let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        for (rows, rows_max, parallelisms) in
            [(1, 4096, &[][..]), (1, 1, &[]), (1, 4096, &[1]), (3, 2, &[]), (1000, 4096, &[]), (1000, 3, &[1])]
        {
            let (actual, counted, entries) = self.run(script, rows, rows_max, parallelisms);
            assert_eq!(actual, expected, "batches of {rows} rows, outputs of {rows_max}, {parallelisms:?}");
            assert_eq!((counted, entries), (late, kept), "late and kept rows, batches of {rows}, {parallelisms:?}");
        }
        for parallelisms in [&[1, 2][..], &[3, 4, 1]] {
            let (actual, counted, entries) = self.run(script, 1, 4096, parallelisms);
            assert_eq!(table(&actual), table(&expected), "parallelism {parallelisms:?}: {actual:#?}");
            assert_eq!((counted, entries), (late, kept), "late and kept rows, parallelism {parallelisms:?}");
        }
        for every in [2, 3, 5] {
            changes::restarting_every(every, || {
                let (actual, counted, entries) = self.run(script, 1, 4096, &[1]);
                assert_eq!(actual, expected, "restarts from changes, every {every} steps");
                assert_eq!((counted, entries), (late, kept), "late and kept rows, restarts from changes");
                let (actual, ..) = self.run(script, 1, 4096, &[3, 4, 1]);
                assert_eq!(table(&actual), table(&expected), "restarts from changes, every {every} steps");
            });
        }
        parted::once_more(|| {
            for (rows, parallelisms) in [(1, &[][..]), (1000, &[]), (1, &[1]), (1, &[3, 4, 1])] {
                let (actual, counted, entries) = self.run(script, rows, 4096, parallelisms);
                assert_eq!(table(&actual), table(&expected), "budget, parallelism {parallelisms:?}: {actual:#?}");
                assert_eq!((counted, entries), (late, kept), "late and kept rows, budget, {parallelisms:?}");
            }
        });
    }
}

/// Neighbouring lines of one side together.
fn batches(script: &str, rows: usize) -> Vec<(&str, String)> {
    let mut batches: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (side, change) = line.split_once(' ').expect("side and change");
        match batches.last_mut() {
            Some((last, lines)) if *last == side && matches!(side, "l" | "r") && lines.len() < rows => {
                lines.push(change)
            }
            _ => batches.push((side, vec![change])),
        }
    }
    batches.into_iter().map(|(side, lines)| (side, lines.join("\n"))).collect()
}

fn table<T: AsRef<str>>(changelog: &[T]) -> Vec<String> {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for line in changelog {
        let (kind, row) = line.as_ref().split_once(' ').expect("kind and row");
        *counts.entry(row).or_default() += RowKind::parse(kind).expect("kind").sign();
    }
    counts.into_iter().filter(|(_, count)| *count != 0).map(|(row, count)| format!("{count} x {row}")).collect()
}

#[test]
fn an_interval_join_pairs_within_its_bounds_until_the_watermark_has_passed_them() {
    interval(JoinKind::Inner, -10, 5, None).check(
        "l +I a 1 00:01:00
         l +I null 2 00:01:00
         r +I null 2 00:01:00
         r +I a 10 00:00:54.999
         r +I a 11 00:00:55
         r +I a 12 00:01:10
         r +I a 13 00:01:10.001
         l +I a 3 00:01:10
         wm 00:01:10
         r +I a 14 00:01:05
         wm 00:01:10.001
         r +I a 15 00:01:05
         r +I b 16 00:01:05",
        "+I a 1 00:01:00 a 11 00:00:55
         +I a 1 00:01:00 a 12 00:01:10
         +I a 3 00:01:10 a 12 00:01:10
         +I a 3 00:01:10 a 13 00:01:10.001
         +I a 1 00:01:00 a 14 00:01:05
         +I a 3 00:01:10 a 14 00:01:05
         +I a 3 00:01:10 a 15 00:01:05",
        // 14, 15 and 16 are late, but 16 only finds nothing: no left row to come can match it.
        1,
        3,
    );
}

#[test]
fn an_outer_interval_join_pads_when_a_row_leaves() {
    interval(JoinKind::Full, -10, 5, smaller(1, 4)).check(
        "l +I a 1 00:01:00
         l +I a 9 00:01:00
         l +I null 2 00:01:01
         r +I a 5 00:01:00
         r +I a 0 00:01:02
         wm 00:01:07
         wm 00:01:07.001
         wm 00:01:11
         l +I a 7 00:01:01
         l +I a 8 00:01:02
         r +I a 3 00:01:06
         wm max
         r +I b 4 00:01:30",
        "+I a 1 00:01:00 a 5 00:01:00
         +I null null null a 0 00:01:02
         +I a 9 00:01:00 null null null
         +I a 7 00:01:01 null null null
         +I null null null a 3 00:01:06
         +I null 2 00:01:01 null null null
         +I a 8 00:01:02 null null null
         +I null null null b 4 00:01:30",
        0,
        0,
    );
}

#[test]
fn a_later_row_of_an_earlier_time_leaves_first() {
    interval(JoinKind::Left, 0, 10, None).check(
        "l +I a 1 00:00:20
         l +I a 2 00:00:10
         l +I a 3 00:00:15
         wm 00:00:10.001
         wm 00:00:19
         wm 00:00:21",
        "+I a 2 00:00:10 null null null
         +I a 3 00:00:15 null null null
         +I a 1 00:00:20 null null null",
        0,
        0,
    );
}

#[test]
fn bounds_that_exclude_each_other_match_nothing() {
    interval(JoinKind::Left, 10, -10, None).check(
        "r +I a 1 00:00:20
         l +I a 1 00:00:20
         wm max",
        "+I a 1 00:00:20 null null null",
        0,
        0,
    );
}

#[test]
fn an_interval_join_holds_the_watermark_back_by_the_longer_wait() {
    let held = |join: Joined, watermark: i64| join.start(1, &[])[0].output_watermark(watermark);
    assert_eq!(held(interval(JoinKind::Inner, -10, 5, None), 60_000), 49_999);
    assert_eq!(held(interval(JoinKind::Inner, -10, 25, None), 60_000), 34_999);
    assert_eq!(held(interval(JoinKind::Inner, -10, 25, None), i64::MAX), i64::MAX);
    assert_eq!(held(temporal(false, None), 60_000), 60_000);
}

#[test]
fn by_processing_time_rows_stay_as_long_as_the_bounds_say() {
    let mut join = interval(JoinKind::Left, -10, 0, None);
    if let NodeKind::IntervalJoin(join) = &mut join.node.kind {
        join.rowtimes = None;
    }
    join.check(
        "now 1000
         l +I a 1 00:00:00
         now 5000
         r +I a 2 00:00:00
         now 11000
         r +I a 3 00:00:00
         l +I b 4 00:00:00
         now 11001
         r +I a 5 00:00:00
         now 21001
         wm max",
        "+I a 1 00:00:00 a 2 00:00:00
         +I a 1 00:00:00 a 3 00:00:00
         +I b 4 00:00:00 null null null",
        0,
        0,
    );
}

#[test]
fn a_temporal_join_gives_the_version_of_the_time() {
    temporal(true, None).check(
        "r +I a 1 00:00:10
         l +I a 1 00:00:10
         l +I a 2 00:00:09.999
         l +I null 3 00:00:10
         r -U a 1 00:00:10
         r +U a 2 00:00:20
         r +U a 3 00:00:20
         l +I a 4 00:00:20
         l +I a 5 00:00:19
         r -D a 3 00:00:30
         l +I a 6 00:00:30
         l +I a 7 00:00:29
         wm 00:00:20
         l +I a 8 00:00:11
         wm 00:00:29
         wm 00:00:40
         l +I a 9 00:00:35
         wm max",
        "+I a 1 00:00:10 a 1 00:00:10
         +I a 2 00:00:09.999 null null null
         +I a 4 00:00:20 a 3 00:00:20
         +I a 5 00:00:19 a 1 00:00:10
         +I null 3 00:00:10 null null null
         +I a 7 00:00:29 a 3 00:00:20
         +I a 8 00:00:11 null null null
         +I a 6 00:00:30 null null null
         +I a 9 00:00:35 null null null",
        0,
        1,
    );
}

#[test]
fn left_rows_keep_their_kinds_and_conditions_pad() {
    temporal(true, smaller(1, 4)).check(
        "r +I a 5 00:00:10
         r +I a 2 00:00:20
         l +I a 3 00:00:12
         l -U a 3 00:00:12
         l +U a 3 00:00:22
         l -D a 3 00:00:22
         wm 00:00:30",
        "+I a 3 00:00:12 a 5 00:00:10
         -U a 3 00:00:12 a 5 00:00:10
         +U a 3 00:00:22 null null null
         -D a 3 00:00:22 null null null",
        0,
        1,
    );
    temporal(false, smaller(1, 4)).check(
        "r +I a 5 00:00:10
         l +I a 7 00:00:12
         l +I b 1 00:00:12
         l +I a 4 00:00:12
         l +I null 4 00:00:12
         wm 00:00:30",
        "+I a 4 00:00:12 a 5 00:00:10",
        0,
        1,
    );
}

#[test]
fn a_delete_without_a_time_takes_the_last_version_back() {
    temporal(true, None).check(
        "r +I a 1 00:00:10
         r +U a 2 00:00:20
         r -D a null null
         r -D b null null
         l +I a 1 00:00:15
         l +I a 2 00:00:25
         wm 00:00:30",
        "+I a 1 00:00:15 a 1 00:00:10
         +I a 2 00:00:25 null null null",
        0,
        1,
    );
}

#[test]
fn versions_do_not_depend_on_the_order_in_which_they_come() {
    temporal(false, None).check(
        "l +I a 1 00:00:15
         r +I a 3 00:00:20
         r +I a 1 00:00:10
         r +I a 2 00:00:12
         wm 00:00:15
         wm 00:00:20",
        "+I a 1 00:00:15 a 2 00:00:12",
        0,
        1,
    );
}

const WINDOWS: &str = "
    l +I a 1 00:00 00:01:00
    l +I a 2 00:00 00:01:00
    l +I null 3 00:00 00:01:00
    l +I b 4 00:00 00:01:00
    r +I a 2 00:00 00:01:00
    r +I a 1 00:00 00:01:00
    r +I null 3 00:00 00:01:00
    r +I c 5 00:00 00:01:00
    l +I a 6 00:01:00 00:02:00
    wm 00:00:59.998
    wm 00:00:59.999
    r +I a 7 00:00 00:01:00
    l +I a 7 00:00 00:01:00
    r +I a 8 00:01:00 00:02:00
    wm max";

#[test]
fn a_window_join_pairs_the_rows_of_a_window() {
    window(JoinKind::Inner, None).check(
        WINDOWS,
        "+I a 1 00:00:00 00:01:00 a 2 00:00:00 00:01:00
         +I a 1 00:00:00 00:01:00 a 1 00:00:00 00:01:00
         +I a 2 00:00:00 00:01:00 a 2 00:00:00 00:01:00
         +I a 2 00:00:00 00:01:00 a 1 00:00:00 00:01:00
         +I a 6 00:01:00 00:02:00 a 8 00:01:00 00:02:00",
        2,
        0,
    );
}

#[test]
fn outer_window_joins_pad() {
    window(JoinKind::Left, smaller(1, 5)).check(
        WINDOWS,
        "+I a 1 00:00:00 00:01:00 a 2 00:00:00 00:01:00
         +I a 2 00:00:00 00:01:00 null null null null
         +I null 3 00:00:00 00:01:00 null null null null
         +I b 4 00:00:00 00:01:00 null null null null
         +I a 6 00:01:00 00:02:00 a 8 00:01:00 00:02:00",
        2,
        0,
    );
    window(JoinKind::Right, smaller(1, 5)).check(
        WINDOWS,
        "+I a 1 00:00:00 00:01:00 a 2 00:00:00 00:01:00
         +I null null null null a 1 00:00:00 00:01:00
         +I null null null null null 3 00:00:00 00:01:00
         +I null null null null c 5 00:00:00 00:01:00
         +I a 6 00:01:00 00:02:00 a 8 00:01:00 00:02:00",
        2,
        0,
    );
    window(JoinKind::Full, smaller(1, 5)).check(
        WINDOWS,
        "+I a 1 00:00:00 00:01:00 a 2 00:00:00 00:01:00
         +I a 2 00:00:00 00:01:00 null null null null
         +I null null null null a 1 00:00:00 00:01:00
         +I null 3 00:00:00 00:01:00 null null null null
         +I null null null null null 3 00:00:00 00:01:00
         +I b 4 00:00:00 00:01:00 null null null null
         +I null null null null c 5 00:00:00 00:01:00
         +I a 6 00:01:00 00:02:00 a 8 00:01:00 00:02:00",
        2,
        0,
    );
}

#[test]
fn semi_and_anti_window_joins_give_left_rows() {
    window(JoinKind::Semi, None).check(
        WINDOWS,
        "+I a 1 00:00:00 00:01:00
         +I a 2 00:00:00 00:01:00
         +I a 6 00:01:00 00:02:00",
        2,
        0,
    );
    window(JoinKind::Anti, smaller(1, 5)).check(
        WINDOWS,
        "+I a 2 00:00:00 00:01:00
         +I null 3 00:00:00 00:01:00
         +I b 4 00:00:00 00:01:00",
        2,
        0,
    );
}

const CHANGES_OF_NOW: &str = "
    l +I a 1 00:00:01
    r +I a 10 00:00:05
    l +I b 2 00:00:02
    r +I a 11 00:00:03
    r +I c 30 00:00:00
    wm 00:01:00
    up l
    up r
    l +I a 3 00:00:04
    r -U a 11 00:00:03
    r +U a 12 00:00:01
    l +I a 4 00:00:04
    wm 00:02:00
    r -D a 12 00:00:01
    l +I a 5 00:00:06
    r -D x 1 00:00:00
    l +I c 6 00:00:06
    r +I null 1 00:00:00
    l +I null 8 00:00:06
    r +I b 1 00:09:00
    l +I b 7 00:00:06";

#[test]
fn rows_of_now_are_joined_once_the_first_snapshot_is_read() {
    now(true, None).check(
        CHANGES_OF_NOW,
        "+I a 1 00:00:01 a 11 00:00:03
         +I b 2 00:00:02 null null null
         +I a 3 00:00:04 a 11 00:00:03
         +I a 4 00:00:04 a 12 00:00:01
         +I a 5 00:00:06 null null null
         +I c 6 00:00:06 c 30 00:00:00
         +I null 8 00:00:06 null null null
         +I b 7 00:00:06 b 1 00:09:00",
        0,
        2,
    );
    now(false, smaller(1, 4)).check(
        CHANGES_OF_NOW,
        "+I a 1 00:00:01 a 11 00:00:03
         +I a 3 00:00:04 a 11 00:00:03
         +I a 4 00:00:04 a 12 00:00:01
         +I c 6 00:00:06 c 30 00:00:00",
        0,
        2,
    );
}

#[test]
fn event_time_waits_with_the_rows_that_wait_for_the_first_snapshot() {
    let joined = now(false, None);
    let mut operator = joined.start(1, &[]).pop().expect("operator");
    let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 10 };
    assert_eq!(operator.output_watermark(5), i64::MIN, "no watermark");
    operator.on_caught_up(0, &context).expect("left");
    assert_eq!(operator.output_watermark(5), i64::MIN);
    operator.on_caught_up(1, &context).expect("right");
    assert_eq!(operator.output_watermark(5), 5);
}

#[test]
fn versions_count_by_their_time_and_not_by_when_they_come() {
    temporal(true, None).check(
        "r +I a 10 00:00:10
         r +I a 5 00:00:05
         r +I b 5 00:00:05
         l +I a 1 00:00:06
         l +I a 2 00:00:12
         r +I a 20 00:00:20
         r +I a 15 00:00:15
         r +I a 21 00:00:20
         l +I a 3 00:00:16
         l +I a 4 00:00:20
         wm 00:01:00",
        "+I a 1 00:00:06 a 5 00:00:05
         +I a 2 00:00:12 a 10 00:00:10
         +I a 3 00:00:16 a 15 00:00:15
         +I a 4 00:00:20 a 21 00:00:20",
        0,
        2,
    );
}
