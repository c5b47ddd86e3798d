//! GROUP BY a window: Flink's recorded results, late rows, retractions, time zones.

use super::harness::{Case, batch_of_lines, case, run_bounded, stream};
use super::stand_ins::call;
use crate::operator::OperatorContext;
use base::ChangelogMode;
use base::plan::{NodeKind, Window, WindowAggregate, WindowEmit, WindowKind, WindowProperty};
use std::time::Duration;

fn aggregate(kind: WindowKind, input: ChangelogMode) -> Case {
    let window = Window { kind, offset_ms: 0, time_column: 2, time_zone: None, is_processing_time: false };
    let node = WindowAggregate {
        window,
        is_attached: false,
        keys: vec![0],
        calls: vec![call("SUM", Some(1)), call("COUNT", None)],
        properties: vec![WindowProperty::Start, WindowProperty::End],
        emit: WindowEmit::default(),
    };
    let output = stream("item:int gmv:int c:int ws:time we:time", ChangelogMode::APPEND);
    let input = stream("item:int price:int order_time:rowtime", input);
    Case { exact: true, ..case(NodeKind::WindowAggregate(node), input, output, &[0]) }
}

const TUMBLE: WindowKind = WindowKind::Tumble { size_ms: 60_000 };

#[test]
fn a_window_fires_when_the_watermark_reaches_its_last_millisecond() {
    aggregate(TUMBLE, ChangelogMode::APPEND).check(
        "+I 1 10 00:00:01
         +I 2 20 00:00:59.999
         +I 1 5 00:01
         wm 00:00:59.998
         +I 1 7 00:00:30
         wm 00:00:59.999
         +I 1 1 00:01:05
         +I 3 99 00:00:40
         +I 1 2 00:02:30
         wm max",
        "+I 1 17 2 00:00:00 00:01:00
         +I 2 20 1 00:00:00 00:01:00
         +I 1 6 2 00:01:00 00:02:00
         +I 1 2 1 00:02:00 00:03:00",
    );
}

#[test]
fn without_a_watermark_nothing_fires() {
    aggregate(TUMBLE, ChangelogMode::APPEND).check("+I 1 10 00:00:01 \n wm 00:00:30 \n +I 1 10 10:00", "");
}

#[test]
fn late_rows_are_dropped_counted_and_shown() {
    let windows = aggregate(TUMBLE, ChangelogMode::APPEND);
    let script = "
        +I 1 10 10:00:01
        wm 10:01:07
        +I 1 5 10:00:12
        +I 1 6 10:00:13
        +I 1 7 10:01:00
        wm max
        +I 2 2 11:00";
    windows.check(script, "+I 1 10 1 10:00:00 10:01:00 \n +I 1 7 1 10:01:00 10:02:00");
    let statistics = windows.statistics(script);
    assert_eq!(statistics.late_rows, 3);
    let sample = "order_time 1970-01-01 10:00:12 is behind watermark 1970-01-01 10:01:07";
    assert_eq!(statistics.late_sample.as_deref(), Some(sample));
    assert_eq!(statistics.state_entries, 0);
}

#[test]
fn a_row_can_be_late_for_some_windows_only() {
    let hop = aggregate(WindowKind::Hop { slide_ms: 30_000, size_ms: 60_000 }, ChangelogMode::APPEND);
    let script = "+I 1 1 00:00:40 \n wm 00:01 \n +I 1 2 00:00:45 \n wm max";
    hop.check(script, "+I 1 1 1 00:00:00 00:01:00 \n +I 1 3 2 00:00:30 00:01:30");
    assert_eq!(hop.statistics(script).late_rows, 0, "it is in one of its windows");
    let script = "+I 1 1 00:00:40 \n wm 00:01 \n +I 1 2 00:00:29 \n +I 1 4 00:00:30 \n wm max";
    assert_eq!(hop.statistics(script).late_rows, 1, "it is in none");
}

#[test]
fn hop_and_cumulate() {
    let rows = "+I 1 1 00:00:10 \n +I 1 2 00:00:40 \n +I 1 4 00:00:20 \n +I 1 8 00:01:59 \n +I 1 16 00:03 \n wm max";
    aggregate(WindowKind::Hop { slide_ms: 30_000, size_ms: 60_000 }, ChangelogMode::APPEND).check(
        rows,
        "+I 1 5 2 -00:00:30 00:00:30
         +I 1 7 3 00:00:00 00:01:00
         +I 1 2 1 00:00:30 00:01:30
         +I 1 8 1 00:01:00 00:02:00
         +I 1 8 1 00:01:30 00:02:30
         +I 1 16 1 00:02:30 00:03:30
         +I 1 16 1 00:03:00 00:04:00",
    );
    aggregate(WindowKind::Cumulate { step_ms: 30_000, size_ms: 120_000 }, ChangelogMode::APPEND).check(
        rows,
        "+I 1 5 2 00:00:00 00:00:30
         +I 1 7 3 00:00:00 00:01:00
         +I 1 7 3 00:00:00 00:01:30
         +I 1 15 4 00:00:00 00:02:00
         +I 1 16 1 00:02:00 00:03:30
         +I 1 16 1 00:02:00 00:04:00",
    );
}

#[test]
fn retractions_are_taken_and_empty_groups_give_nothing() {
    aggregate(TUMBLE, ChangelogMode::ALL).check(
        "+I 1 10 00:00:01
         +I 2 5 00:00:02
         -U 1 10 00:00:01
         +U 1 11 00:00:03
         -D 2 5 00:00:02
         -D 1 11 00:00:03
         +I 3 1 00:01:30
         wm max",
        "+I 3 1 1 00:01:00 00:02:00",
    );
}

#[test]
fn groups_fire_in_bounded_batches() {
    let windows = aggregate(TUMBLE, ChangelogMode::ALL);
    let rows = |kind: &str, all: bool| -> String {
        let times = (0..20).filter(|item| all || item % 2 == 0).map(|item| (item, item % 3));
        times.map(|(item, minute)| format!("{kind} {item} 1 00:{minute:02}:00\n")).collect()
    };
    let script = format!("{}{} wm max", rows("+I", true), rows("-D", false));
    let run = run_bounded(&windows, &script, 3);
    assert_eq!((run.output.len(), run.largest_batch <= 3), (10, true));
    assert_eq!(run.operators[0].statistics().state_entries, 0);
}

#[test]
fn a_global_window_has_one_row() {
    let window = Window { kind: TUMBLE, offset_ms: 0, time_column: 1, time_zone: None, is_processing_time: false };
    let calls = vec![call("COUNT", None)];
    let node = WindowAggregate {
        window,
        is_attached: false,
        keys: vec![],
        calls,
        properties: vec![],
        emit: WindowEmit::default(),
    };
    let output = stream("c:int", ChangelogMode::APPEND);
    let global = case(NodeKind::WindowAggregate(node), stream("v:int ts:rowtime", ChangelogMode::APPEND), output, &[]);
    let global = Case { exact: true, ..global };
    global.check("+I 1 00:00:01 \n +I 2 00:00:02 \n +I 3 00:01 \n wm max", "+I 2 \n +I 1");
}

#[test]
fn days_of_a_time_zone() {
    let zone = base::config::parse_time_zone("Asia/Shanghai").expect("zone");
    let kind = WindowKind::Tumble { size_ms: 86_400_000 };
    let window = Window { kind, offset_ms: 0, time_column: 1, time_zone: Some(zone), is_processing_time: false };
    let properties = vec![WindowProperty::Start, WindowProperty::Time];
    let node = WindowAggregate {
        window,
        is_attached: false,
        keys: vec![],
        calls: vec![call("SUM", Some(0))],
        properties,
        emit: WindowEmit::default(),
    };
    let output = stream("s:int ws:time rt:instant", ChangelogMode::APPEND);
    let days = case(NodeKind::WindowAggregate(node), stream("v:int ts:instant", ChangelogMode::APPEND), output, &[]);
    let days = Case { exact: true, ..days };
    // The first day of 1970 in Shanghai is from 8 hours before 1970-01-01T00:00Z to 16:00Z.
    days.check(
        "+I 1 -08:00
         +I 2 00:00
         +I 4 16:00
         wm 15:59:59.999
         +I 8 15:59
         wm max",
        "+I 3 00:00:00 15:59:59.999
         +I 4 24:00:00 39:59:59.999",
    );
}

#[test]
fn a_row_without_a_time_fails_the_job() {
    let windows = aggregate(TUMBLE, ChangelogMode::APPEND);
    let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 10 };
    let batch = batch_of_lines(&windows.input.row, "+I 1 1 null");
    let error = windows.operator(0, 1).on_batch(0, batch, &context).expect_err("no time");
    assert_eq!((error.code(), error.argument("column")), ("HW-R100", Some("order_time")));
}

const SECOND: Duration = Duration::from_secs(1);

/// Windows of 10 s that give results besides at their end.
fn emitting(emit: WindowEmit, input: ChangelogMode) -> Case {
    let mut windows = aggregate(WindowKind::Tumble { size_ms: 10_000 }, input);
    if let NodeKind::WindowAggregate(node) = &mut windows.node.kind {
        node.emit = emit;
    }
    windows.node.output.changelog = ChangelogMode::ALL;
    Case { exact: false, ..windows }
}

#[test]
fn late_rows_correct_the_result_at_once() {
    let emit = WindowEmit { early: None, late: Some(Duration::ZERO), lateness: 20 * SECOND };
    let windows = emitting(emit, ChangelogMode::APPEND);
    let script = "
        +I 1 1 00:00:01
        +I 1 2 00:00:11
        wm 00:00:11
        +I 1 4 00:00:02
        +I 2 8 00:00:03
        +I 2 16 00:00:04
        +I 1 0 00:00:05
        wm 00:00:29.998
        +I 1 64 00:00:08
        wm 00:00:29.999
        +I 1 256 00:00:08
        +I 1 512 00:00:12
        wm max
        +I 1 7 01:00";
    windows.check(
        script,
        "+I 1 1 1 00:00:00 00:00:10
         -U 1 1 1 00:00:00 00:00:10
         +U 1 5 2 00:00:00 00:00:10
         +I 2 8 1 00:00:00 00:00:10
         -U 2 8 1 00:00:00 00:00:10
         +U 2 24 2 00:00:00 00:00:10
         -U 1 5 2 00:00:00 00:00:10
         +U 1 5 3 00:00:00 00:00:10
         +I 1 2 1 00:00:10 00:00:20
         -U 1 5 3 00:00:00 00:00:10
         +U 1 69 4 00:00:00 00:00:10
         -U 1 2 1 00:00:10 00:00:20
         +U 1 514 2 00:00:10 00:00:20",
    );
    let statistics = windows.statistics(script);
    assert_eq!((statistics.late_rows, statistics.state_entries), (2, 0));
}

#[test]
fn early_results_follow_every_row_and_are_taken_back() {
    let emit = WindowEmit { early: Some(Duration::ZERO), late: None, lateness: Duration::ZERO };
    emitting(emit, ChangelogMode::ALL).check(
        "+I 1 10 00:00:01
         +I 1 5 00:00:05
         -U 1 10 00:00:01
         -D 1 5 00:00:05
         +I 1 6 00:00:05
         +U 1 0 00:00:15
         wm 00:00:10
         +I 1 6 00:00:05
         wm max",
        "+I 1 10 1 00:00:00 00:00:10
         -U 1 10 1 00:00:00 00:00:10
         +U 1 15 2 00:00:00 00:00:10
         -U 1 15 2 00:00:00 00:00:10
         +U 1 5 1 00:00:00 00:00:10
         -D 1 5 1 00:00:00 00:00:10
         +I 1 6 1 00:00:00 00:00:10
         +I 1 0 1 00:00:10 00:00:20",
    );
}

#[test]
fn delayed_results_wait_for_the_clock_but_not_beyond_the_window() {
    let emit = WindowEmit { early: Some(5 * SECOND), late: Some(5 * SECOND), lateness: 20 * SECOND };
    let windows = emitting(emit, ChangelogMode::APPEND);
    let expected = "
        +I 1 3 2 00:00:00 00:00:10
        -U 1 3 2 00:00:00 00:00:10
        +U 1 7 3 00:00:00 00:00:10
        -U 1 7 3 00:00:00 00:00:10
        +U 1 31 5 00:00:00 00:00:10
        -U 1 31 5 00:00:00 00:00:10
        +U 1 63 6 00:00:00 00:00:10";
    let script = "
        now 1000
        +I 1 1 00:00:01
        +I 1 2 00:00:02
        now 5999
        now 6000
        +I 1 4 00:00:03
        wm 00:00:10
        now 20000
        +I 1 8 00:00:03
        now 22000
        +I 1 16 00:00:03
        now 25000
        +I 1 32 00:00:03
        wm 00:00:30
        now 40000
        wm max";
    let lines: Vec<String> =
        expected.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(windows.run(script, 1, false), lines);
    // After a restart, what was due is looked at once more: earlier, but never wrong.
    assert_eq!(windows.table(&windows.run(script, 1, true)), windows.table(&lines));
}

#[test]
fn updates_leave_in_bounded_batches_and_close_once() {
    let emit = WindowEmit { early: None, late: Some(Duration::ZERO), lateness: 20 * SECOND };
    let windows = emitting(emit, ChangelogMode::APPEND);
    let rows: String = (0..20).map(|item| format!("+I {item} 1 00:00:{:02}\n", item % 3)).collect();
    let run = run_bounded(&windows, &format!("{rows}wm 00:00:15\n{rows}wm max"), 3);
    assert_eq!((run.output.len(), run.largest_batch <= 4), (60, true));
    assert_eq!(run.operators[0].statistics().state_entries, 0);
}

#[test]
fn processing_time_windows_fire_by_the_clock() {
    let mut windows = aggregate(TUMBLE, ChangelogMode::APPEND);
    if let NodeKind::WindowAggregate(node) = &mut windows.node.kind {
        node.window.is_processing_time = true;
    }
    windows.check(
        "now 1000
         +I 1 1 null
         wm 01:00
         now 59998
         +I 1 2 10:00
         +I 2 4 null
         now 59999
         +I 1 16 null
         now 60000
         +I 1 8 null
         wm max",
        "+I 1 19 3 00:00:00 00:01:00 \n +I 2 4 1 00:00:00 00:01:00",
    );
}

#[test]
fn rows_without_a_time_can_be_dropped_and_counted() {
    let windows = aggregate(TUMBLE, ChangelogMode::APPEND);
    let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 10 };
    let config = base::config::JobConfig { drops_null_rowtime: true, ..Default::default() };
    let instance = base::connector::Instance { index: 0, parallelism: 1 };
    let mut operator = super::super::create(&windows.node, &[&windows.input], instance, &config).expect("operator");
    let batch = batch_of_lines(&windows.input.row, "+I 1 1 null \n +I 1 2 00:00:01 \n +I 1 4 null");
    operator.on_batch(0, batch, &context).expect("rows");
    operator.on_watermark(base::event::WATERMARK_MAX, &context).expect("watermark");
    let output = operator.next_output(&context).expect("output").expect("a result");
    assert_eq!(output.num_rows(), 1);
    assert_eq!(operator.statistics().dropped_rows, 2);
}
