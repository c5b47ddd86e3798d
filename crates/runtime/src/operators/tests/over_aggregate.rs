//! OVER windows: the recorded changelogs of Flink, late rows, state that goes, and random changelogs against a
//! computation over the final rows.

use super::harness::{Case, case, run_bounded, stream};
use base::ChangelogMode;
use base::function::AggregateOptions;
use base::plan::{AggregateCall, NodeKind, OverAggregate, OverCall, OverFrame, OverFunction, OverTime, SortKey};
use base::types::LogicalType;
use std::time::Duration;

pub fn aggregate(name: &str, argument: Option<usize>, frame: OverFrame) -> OverFunction {
    OverFunction::Aggregate(AggregateCall {
        function: ::functions::aggregate(name).expect("a known function"),
        arguments: argument.into_iter().collect(),
        filter: None,
        options: AggregateOptions {
            distinct: false,
            retract: !matches!(frame, OverFrame::Rows(None) | OverFrame::Range(None)),
        },
        sql: name.to_string(),
    })
}

pub fn node(time: OverTime, frame: OverFrame, functions: Vec<OverFunction>) -> OverAggregate {
    let call = |function| OverCall { function, result: LogicalType::BigInt.nullable(), sql: "call".into() };
    let column = if time == OverTime::None { 1 } else { 2 };
    OverAggregate {
        partition: vec![0],
        order: vec![SortKey { column, descending: false, nulls_first: true }],
        time,
        frame,
        calls: functions.into_iter().map(call).collect(),
        state_ttl: None,
    }
}

pub fn over(node: OverAggregate, input: ChangelogMode, output: ChangelogMode) -> Case {
    let columns = "k:text v:int ts:rowtime";
    let calls: Vec<String> = (0..node.calls.len()).map(|index| format!("o{index}:int")).collect();
    let outputs = format!("{columns} {}", calls.join(" "));
    case(NodeKind::OverAggregate(node), stream(columns, input), stream(&outputs, output), &[0])
}

fn by_rowtime(frame: OverFrame, functions: Vec<OverFunction>) -> Case {
    let mut case = over(node(OverTime::Rowtime(2), frame, functions), ChangelogMode::APPEND, ChangelogMode::APPEND);
    case.exact = true;
    case
}

fn by_value(frame: OverFrame, functions: Vec<OverFunction>, output: ChangelogMode) -> Case {
    let mut case = over(node(OverTime::None, frame, functions), ChangelogMode::ALL, output);
    case.upsert_key = 3;
    case
}

const UNBOUNDED_ROWS: OverFrame = OverFrame::Rows(None);
const UNBOUNDED_RANGE: OverFrame = OverFrame::Range(None);

#[test]
fn rows_wait_for_the_watermark_and_peers_share_a_result() {
    let functions = vec![aggregate("SUM", Some(1), UNBOUNDED_RANGE), aggregate("COUNT", None, UNBOUNDED_RANGE)];
    by_rowtime(UNBOUNDED_RANGE, functions).check(
        "+I a 1 0:0:5
         +I a 2 0:0:3
         +I b 7 0:0:4
         +I a 4 0:0:5
         +I null 9 0:0:5
         wm 0:0:4
         +I a 8 0:0:4
         +I a null 0:0:6
         wm 0:0:5
         wm max",
        "+I a 2 00:00:03 2 1
         +I b 7 00:00:04 7 1
         +I a 1 00:00:05 7 3
         +I a 4 00:00:05 7 3
         +I null 9 00:00:05 9 1
         +I a null 00:00:06 7 4",
    );
}

#[test]
fn rows_frames_hold_so_many_rows() {
    let frame = OverFrame::Rows(Some(1));
    let functions =
        vec![aggregate("SUM", Some(1), frame), aggregate("MAX", Some(1), frame), aggregate("COUNT", Some(1), frame)];
    by_rowtime(frame, functions).check(
        "+I a 1 0:0:1
         +I a null 0:0:2
         wm 0:0:2
         +I a 5 0:0:3
         +I b 6 0:0:3
         +I a 3 0:0:3
         wm 0:0:3
         +I a 2 0:0:9
         wm max",
        "+I a 1 00:00:01 1 1 1
         +I a null 00:00:02 1 1 1
         +I a 5 00:00:03 5 5 1
         +I b 6 00:00:03 6 6 1
         +I a 3 00:00:03 8 5 2
         +I a 2 00:00:09 5 3 2",
    );
    let one = by_rowtime(OverFrame::Rows(Some(0)), vec![aggregate("SUM", Some(1), frame)]);
    one.check("+I a 1 0:0:1 \n +I a 2 0:0:1 \n wm max", "+I a 1 00:00:01 1 \n +I a 2 00:00:01 2");
}

#[test]
fn range_frames_hold_so_much_time() {
    let frame = OverFrame::Range(Some(2000));
    let functions = vec![
        aggregate("SUM", Some(1), frame),
        aggregate("FIRST_VALUE", Some(1), frame),
        aggregate("LAST_VALUE", Some(1), frame),
    ];
    by_rowtime(frame, functions).check(
        "+I a 1 0:0:5
         +I a 2 0:0:3
         +I a 4 0:0:5
         +I a 8 0:0:7
         +I a 16 0:0:30
         wm 0:0:20
         +I a 32 0:0:10
         +I a 64 0:0:21
         wm max",
        "+I a 2 00:00:03 2 2 2
         +I a 1 00:00:05 7 2 4
         +I a 4 00:00:05 7 2 4
         +I a 8 00:00:07 13 1 8
         +I a 64 00:00:21 64 64 64
         +I a 16 00:00:30 16 16 16",
    );
}

#[test]
fn late_rows_of_bounded_frames_are_those_before_their_partition() {
    let script = "+I a 1 0:0:5 \n wm 0:0:20 \n +I a 2 0:0:10 \n +I a 4 0:0:4 \n +I b 8 0:0:1 \n wm max";
    let rows = by_rowtime(OverFrame::Rows(Some(1)), vec![aggregate("SUM", Some(1), OverFrame::Rows(Some(1)))]);
    rows.check(script, "+I a 1 00:00:05 1 \n +I b 8 00:00:01 8 \n +I a 2 00:00:10 3");
    let statistics = rows.statistics(script);
    assert_eq!(statistics.late_rows, 1);
    let sample = statistics.late_sample.unwrap_or_default();
    assert_eq!(sample, "ts 1970-01-01 00:00:04 is behind watermark 1970-01-01 00:00:20");
    let unbounded = by_rowtime(UNBOUNDED_ROWS, vec![aggregate("SUM", Some(1), UNBOUNDED_ROWS)]);
    unbounded.check(script, "+I a 1 00:00:05 1");
    assert_eq!(unbounded.statistics(script).late_rows, 3);
}

#[test]
fn rankings_and_lag() {
    let lag = |offset, default| OverFunction::Shift { argument: 1, offset, default };
    by_rowtime(UNBOUNDED_ROWS, vec![OverFunction::RowNumber]).check(
        "+I a 1 0:0:1 \n +I a 2 0:0:1 \n wm 0:0:1 \n +I b 3 0:0:2 \n +I a 4 0:0:2 \n wm max",
        "+I a 1 00:00:01 1 \n +I a 2 00:00:01 2 \n +I b 3 00:00:02 1 \n +I a 4 00:00:02 3",
    );
    let functions = vec![OverFunction::Rank, OverFunction::DenseRank, lag(1, None), lag(2, Some(1)), lag(0, None)];
    by_rowtime(UNBOUNDED_RANGE, functions).check(
        "+I a 1 0:0:1
         +I a 2 0:0:2
         +I a null 0:0:2
         wm 0:0:2
         +I b 7 0:0:3
         +I a 4 0:0:3
         +I a 5 0:0:3
         wm max",
        "+I a 1 00:00:01 1 1 null 1 1
         +I a 2 00:00:02 2 2 1 2 2
         +I a null 00:00:02 2 2 2 1 null
         +I b 7 00:00:03 1 1 null 7 7
         +I a 4 00:00:03 4 3 null 2 4
         +I a 5 00:00:03 4 3 4 5 5",
    );
}

#[test]
fn processing_time_is_the_order_of_arrival() {
    let frame = OverFrame::Rows(Some(1));
    let rows = over(
        node(OverTime::Proctime, frame, vec![aggregate("SUM", Some(1), frame)]),
        ChangelogMode::APPEND,
        ChangelogMode::APPEND,
    );
    rows.check(
        "+I a 1 0:0:1 \n +I a 4 0:0:1 \n +I b 9 0:0:1 \n +I a 2 0:0:1",
        "+I a 1 00:00:01 1 \n +I a 4 00:00:01 5 \n +I b 9 00:00:01 9 \n +I a 2 00:00:01 6",
    );
    let frame = OverFrame::Range(Some(1000));
    let range = over(
        node(OverTime::Proctime, frame, vec![aggregate("SUM", Some(1), frame)]),
        ChangelogMode::APPEND,
        ChangelogMode::APPEND,
    );
    range.check(
        "+I a 1 0:0:1 \n +I a 4 0:0:2 \n +I a 2 0:0:1 \n +I a 8 0:0:3.001",
        "+I a 1 00:00:01 1 \n +I a 4 00:00:02 5 \n +I a 2 00:00:01 7 \n +I a 8 00:00:03.001 8",
    );
}

const CHANGES: &str = "
    +I a 10 0:0:1
    +I a 20 0:0:2
    +I a 20 0:0:4
    +I a null 0:0:8
    +I b 5 0:0:16
    -U a 10 0:0:1
    +U a 10 0:0:3
    +I a 15 0:0:32
    -U a 20 0:0:2
    +U a 5 0:0:2
    -U a 20 0:0:4
    +U b 7 0:0:4
    -D a null 0:0:8
    -D z 1 0:0:9
    -D a 15 0:0:9
    -D b 5 0:0:16
    -D b 7 0:0:4";

#[test]
fn a_change_updates_the_rows_behind_it() {
    by_value(UNBOUNDED_RANGE, vec![aggregate("SUM", Some(1), UNBOUNDED_RANGE)], ChangelogMode::ALL).check(
        CHANGES,
        "+I a 10 00:00:01 10
         +I a 20 00:00:02 30
         -U a 20 00:00:02 30
         +U a 20 00:00:02 50
         +I a 20 00:00:04 50
         +I a null 00:00:08 null
         +I b 5 00:00:16 5
         -D a 10 00:00:01 10
         -U a 20 00:00:02 50
         +U a 20 00:00:02 40
         -U a 20 00:00:04 50
         +U a 20 00:00:04 40
         +U a 10 00:00:03 10
         -U a 20 00:00:02 40
         +U a 20 00:00:02 50
         -U a 20 00:00:04 40
         +U a 20 00:00:04 50
         +I a 15 00:00:32 25
         -U a 20 00:00:02 50
         +U a 20 00:00:02 65
         -U a 20 00:00:04 50
         +U a 20 00:00:04 65
         -D a 20 00:00:02 65
         -U a 20 00:00:04 65
         +U a 20 00:00:04 45
         +U a 5 00:00:02 5
         -U a 10 00:00:03 10
         +U a 10 00:00:03 15
         -U a 15 00:00:32 25
         +U a 15 00:00:32 30
         -U a 20 00:00:04 45
         +U a 20 00:00:04 50
         -D a 20 00:00:04 50
         +U b 7 00:00:04 12
         -D a null 00:00:08 null
         -D b 5 00:00:16 5
         -U b 7 00:00:04 12
         +U b 7 00:00:04 7
         -D b 7 00:00:04 7",
    );
}

#[test]
fn rows_are_numbered_anew() {
    by_value(UNBOUNDED_ROWS, vec![OverFunction::RowNumber], ChangelogMode::ALL).check(
        "+I a 1 0:0:1 \n +I a 4 0:0:2 \n +I b 9 0:0:3 \n +I a 2 0:0:4 \n +I a 2 0:0:5 \n -D a 1 0:0:1",
        "+I a 1 00:00:01 1
         +I a 4 00:00:02 2
         +I b 9 00:00:03 1
         +I a 2 00:00:04 2
         -U a 4 00:00:02 2
         +U a 4 00:00:02 3
         +I a 2 00:00:05 3
         -U a 4 00:00:02 3
         +U a 4 00:00:02 4
         -D a 1 00:00:01 1
         -U a 2 00:00:04 2
         +U a 2 00:00:04 1
         -U a 2 00:00:05 3
         +U a 2 00:00:05 2
         -U a 4 00:00:02 4
         +U a 4 00:00:02 3",
    );
    by_value(UNBOUNDED_RANGE, vec![OverFunction::Rank, OverFunction::DenseRank], ChangelogMode::ALL).check(
        "+I a 4 0:0:1 \n +I a 2 0:0:2 \n +I a 2 0:0:3 \n -D a 2 0:0:2",
        "+I a 4 00:00:01 1 1
         +I a 2 00:00:02 1 1
         -U a 4 00:00:01 1 1
         +U a 4 00:00:01 2 2
         +I a 2 00:00:03 1 1
         -U a 4 00:00:01 2 2
         +U a 4 00:00:01 3 2
         -D a 2 00:00:02 1 1
         -U a 4 00:00:01 3 2
         +U a 4 00:00:01 2 2",
    );
}

#[test]
fn null_is_the_lowest_value_unless_it_is_last() {
    let numbered = |nulls_first| {
        let mut node = node(OverTime::None, UNBOUNDED_ROWS, vec![OverFunction::RowNumber]);
        node.order[0].nulls_first = nulls_first;
        over(node, ChangelogMode::ALL, ChangelogMode::ALL)
    };
    let script = "+I a null 0:0:1 \n +I a 4 0:0:2";
    numbered(true).check(script, "+I a null 00:00:01 1 \n +I a 4 00:00:02 2");
    numbered(false)
        .check(script, "+I a null 00:00:01 1 \n +I a 4 00:00:02 1 \n -U a null 00:00:01 1 \n +U a null 00:00:01 2");
}

#[test]
fn a_batch_gives_what_goes_before_what_comes() {
    let upserts = by_value(UNBOUNDED_ROWS, vec![OverFunction::RowNumber], ChangelogMode::UPSERT);
    let script =
        "+I a 1 0:0:1 \n +I a 2 0:0:2 \n wm 0:0:1 \n +I b 7 0:0:9 \n -U a 1 0:0:1 \n +U b 1 0:0:1 \n -D a 2 0:0:2";
    assert_eq!(
        upserts.run(script, 1000, true),
        [
            "+I a 1 00:00:01 1",
            "+I a 2 00:00:02 2",
            "-D a 1 00:00:01 1",
            "-D a 2 00:00:02 2",
            "+U b 1 00:00:01 1",
            "+I b 7 00:00:09 2"
        ]
    );
    assert_eq!(upserts.run("+I a 1 0:0:1 \n -D a 1 0:0:1", 1000, false), Vec::<String>::new());
}

#[test]
fn partitions_that_are_not_written_begin_anew() {
    let ttl = Some(Duration::from_millis(100));
    let sum = |frame| vec![aggregate("SUM", Some(1), frame)];
    for (time, frame) in [
        (OverTime::Rowtime(2), UNBOUNDED_RANGE),
        (OverTime::Rowtime(2), OverFrame::Rows(Some(5))),
        (OverTime::Proctime, UNBOUNDED_ROWS),
    ] {
        let expiring = OverAggregate { state_ttl: ttl, ..node(time, frame, sum(frame)) };
        let expiring = over(expiring, ChangelogMode::APPEND, ChangelogMode::APPEND);
        let script = "now 1000 \n +I a 1 0:0:1 \n wm 0:0:1 \n now 1050 \n +I a 2 0:0:2 \n wm 0:0:2
             now 1200 \n +I a 4 0:0:3 \n wm 0:0:3";
        for restore in [false, true] {
            let expected = ["+I a 1 00:00:01 1", "+I a 2 00:00:02 3", "+I a 4 00:00:03 4"];
            assert_eq!(expiring.run(script, 1, restore), expected, "{time:?} {frame:?} restore {restore}");
        }
    }
    let expiring = OverAggregate { state_ttl: ttl, ..node(OverTime::None, UNBOUNDED_ROWS, sum(UNBOUNDED_ROWS)) };
    let expiring = over(expiring, ChangelogMode::ALL, ChangelogMode::ALL);
    let script = "now 1000 \n +I a 1 0:0:1 \n now 1200 \n +I a 4 0:0:3 \n -D a 1 0:0:1";
    assert_eq!(expiring.run(script, 1, true), ["+I a 1 00:00:01 1", "+I a 4 00:00:03 4"]);
}

#[test]
fn state_holds_what_frames_need() {
    let script: String = (0..100).map(|at| format!("+I a {at} 0:1:{at} \n wm 0:1:{at} \n")).collect();
    let entries = |frame| by_rowtime(frame, vec![aggregate("SUM", Some(1), frame)]).statistics(&script).state_entries;
    assert_eq!(entries(UNBOUNDED_ROWS), 1);
    assert_eq!(entries(OverFrame::Rows(Some(4))), 1 + 5);
    assert_eq!(entries(OverFrame::Range(Some(9000))), 1 + 10);
    let frame = OverFrame::Range(Some(9000));
    let cleared = by_rowtime(frame, vec![aggregate("SUM", Some(1), frame)]).statistics(&format!("{script} wm 0:10"));
    assert_eq!(cleared.state_entries, 1);
}

#[test]
fn output_is_given_in_pieces() {
    let rows: String = (0..100).map(|at| format!("+I a 1 0:0:{} \n", at / 2)).collect();
    let script = format!("{rows} wm max");
    let case = by_rowtime(UNBOUNDED_RANGE, vec![aggregate("COUNT", None, UNBOUNDED_RANGE)]);
    let run = run_bounded(&case, &script, 7);
    assert!(run.largest_batch <= 7);
    assert_eq!(run.output.len(), 100);
    assert_eq!(run.output[0], "+I a 1 00:00:00 2");
    assert_eq!(run.output[99], "+I a 1 00:00:49 100");
}

/// Numbers that depend on the seed only.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// The table after the changes: count and row number of the rows up to each one, computed from the final rows.
fn expected(rows: &[(u64, u64, u64)], frame: OverFrame) -> Vec<String> {
    let mut lines = std::collections::BTreeMap::new();
    for (key, value, id) in rows {
        let before = |other: &&(u64, u64, u64)| match frame {
            OverFrame::Range(_) => other.0 == *key && other.1 <= *value,
            OverFrame::Rows(_) => other.0 == *key && (other.1, other.2) <= (*value, *id),
        };
        let sum: u64 = rows.iter().filter(before).map(|other| other.1).sum();
        let line = format!("{key} {value} 00:{:02}:{:02} {sum}", id / 60, id % 60);
        *lines.entry(line).or_insert(0) += 1;
    }
    lines.into_iter().map(|(line, count)| format!("{count} x {line}")).collect()
}

#[test]
fn random_changelogs_give_the_table_of_the_final_rows() {
    for seed in 0..12 {
        let mut numbers = Numbers(seed);
        let (mut rows, mut script) = (Vec::<(u64, u64, u64)>::new(), String::new());
        for id in 0..50 {
            let line = |kind: &str, row: &(u64, u64, u64)| format!("{kind} {} {} 0:0:{} \n", row.0, row.1, row.2);
            if !rows.is_empty() && numbers.below(2) == 0 {
                let old = rows.swap_remove(numbers.below(rows.len() as u64) as usize);
                script.push_str(&line("-D", &old));
            }
            let new = (numbers.below(3), numbers.below(6), id);
            script.push_str(&line("+I", &new));
            rows.push(new);
        }
        for frame in [UNBOUNDED_RANGE, UNBOUNDED_ROWS] {
            for output in [ChangelogMode::ALL, ChangelogMode::UPSERT] {
                let case = by_value(frame, vec![aggregate("SUM", Some(1), frame)], output);
                let wanted = expected(&rows, frame);
                let wanted: Vec<String> = match output == ChangelogMode::ALL {
                    true => wanted,
                    false => wanted.iter().map(|line| line[4..].to_string()).collect(),
                };
                for (batch, restore) in [(1, false), (3, true), (7, false), (4096, true)] {
                    let actual = case.table(&case.run(&script, batch, restore));
                    assert_eq!(actual, wanted, "seed {seed}, {frame:?}, batches of {batch} rows, restore {restore}");
                }
            }
        }
    }
}
