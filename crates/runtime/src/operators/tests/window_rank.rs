//! Top-N of windows, and SESSION as a table function.

use super::changes;
use super::harness::{Case, case, run_bounded, stream};
use super::session_aggregate::random_sessions;
use base::ChangelogMode;
use base::plan::{NodeKind, SortKey, Window, WindowKind, WindowRank, WindowTable};

fn ranking(start: u64, end: u64, last_of_equals: bool) -> Case {
    let node = WindowRank {
        window_start: 3,
        window_end: 4,
        time_zone: None,
        window: "TUMBLE".into(),
        partition: vec![1],
        order: vec![SortKey { column: 2, descending: true, nulls_first: false }],
        start,
        end,
        last_of_equals,
        by_content: false,
        with_rank: true,
    };
    let columns = "id:int k:text v:int ws:time we:time";
    let input = stream(columns, ChangelogMode::APPEND);
    let output = stream(&format!("{columns} rn:int"), ChangelogMode::APPEND);
    Case { exact: true, ..case(NodeKind::WindowRank(node), input, output, &[1, 3]) }
}

const ROWS: &str = "
    +I 1 a 1 00:00 00:01
    +I 2 a 5 00:00 00:01
    +I 3 b 5 00:00 00:01
    +I 4 a 5 00:00 00:01
    +I 5 a null 00:01 00:02
    +I 6 b 9 00:01 00:02
    wm 00:00:59.998
    +I 7 b 2 00:00 00:01
    +I 8 a 7 00:00 00:01
    wm 00:00:59.999
    +I 9 a 99 00:00 00:01
    +I 10 a 4 00:01 00:02
    wm max";

#[test]
fn the_best_rows_are_given_when_the_window_is_over() {
    let best = ranking(1, 2, false);
    best.check(
        ROWS,
        "+I 8 a 7 00:00:00 00:01:00 1
         +I 2 a 5 00:00:00 00:01:00 2
         +I 3 b 5 00:00:00 00:01:00 1
         +I 7 b 2 00:00:00 00:01:00 2
         +I 10 a 4 00:01:00 00:02:00 1
         +I 5 a null 00:01:00 00:02:00 2
         +I 6 b 9 00:01:00 00:02:00 1",
    );
    let statistics = best.statistics(ROWS);
    assert_eq!((statistics.late_rows, statistics.state_entries), (1, 0));
    assert!(statistics.late_sample.is_some_and(|sample| sample.starts_with("we 1970-01-01 00:01")));
}

#[test]
fn first_ranks_can_be_left_out() {
    ranking(2, 3, false).check(
        ROWS,
        "+I 2 a 5 00:00:00 00:01:00 2
         +I 4 a 5 00:00:00 00:01:00 3
         +I 7 b 2 00:00:00 00:01:00 2
         +I 5 a null 00:01:00 00:02:00 2",
    );
}

#[test]
fn of_equal_rows_the_first_or_the_last_one_is_kept() {
    let rows = "+I 1 a 5 00:00 00:01 \n +I 2 a 5 00:00 00:01 \n +I 3 a 4 00:00 00:01 \n wm max";
    ranking(1, 1, false).check(rows, "+I 1 a 5 00:00:00 00:01:00 1");
    ranking(1, 1, true).check(rows, "+I 2 a 5 00:00:00 00:01:00 1");
}

#[test]
fn results_of_windows_are_told_apart_by_their_content() {
    let mut best = ranking(1, 2, false);
    if let NodeKind::WindowRank(node) = &mut best.node.kind {
        node.by_content = true;
    }
    best.check(
        "+I 3 a 5 00:00 00:01 \n +I 1 a 5 00:00 00:01 \n +I 2 a 5 00:00 00:01 \n wm max",
        "+I 1 a 5 00:00:00 00:01:00 1 \n +I 2 a 5 00:00:00 00:01:00 2",
    );
}

#[test]
fn rankings_leave_in_bounded_batches() {
    let rows: String = (0..40).map(|id| format!("+I {id} k{} {id} 00:00 00:01\n", id % 10)).collect();
    let best = ranking(1, 2, false);
    let run = run_bounded(&best, &format!("{rows}wm max"), 5);
    assert_eq!((run.output.len(), run.largest_batch <= 6), (20, true));
}

fn sessions() -> Case {
    let kind = WindowKind::Session { gap_ms: 10_000 };
    let window = Window { kind, offset_ms: 0, time_column: 2, time_zone: None, is_processing_time: false };
    let columns = "k:text v:int ts:rowtime";
    let input = stream(columns, ChangelogMode::ALL);
    let output = stream(&format!("{columns} ws:time we:time wt:rowtime"), ChangelogMode::ALL);
    let node = NodeKind::WindowTable(WindowTable { window, partition: vec![0] });
    Case { exact: true, ..case(node, input, output, &[0]) }
}

#[test]
fn rows_of_a_session_are_given_when_it_is_over() {
    let sessions = sessions();
    let script = "
        +I a 1 00:00:00
        +I a 2 00:00:20
        +I b 3 00:00:01
        -U a 1 00:00:00
        +U a 4 00:00:11
        wm 00:00:25
        +I c 5 00:00:05
        wm max";
    sessions.check(
        script,
        "+I a 1 00:00:00 00:00:00 00:00:10 00:00:09.999
         -U a 1 00:00:00 00:00:00 00:00:10 00:00:09.999
         +I b 3 00:00:01 00:00:01 00:00:11 00:00:10.999
         +I a 2 00:00:20 00:00:11 00:00:30 00:00:29.999
         +U a 4 00:00:11 00:00:11 00:00:30 00:00:29.999",
    );
    assert_eq!(sessions.statistics(script).late_rows, 1);
    let rows: String = (0..30).map(|v| format!("+I k{} {v} 00:00:{v:02}\n", v % 3)).collect();
    let run = run_bounded(&sessions, &format!("{rows}wm max"), 4);
    assert_eq!((run.output.len(), run.largest_batch), (30, 4));
    assert_eq!(run.operators[0].statistics().state_entries, 0);
}

#[test]
fn changes_of_sessions_are_their_new_rows() {
    (0..12).for_each(|seed| changes::check(&sessions(), &random_sessions(seed)));
    let row = |n: u32| format!("+I u{} {n} 00:00:{:02}\n", n % 20, n / 20);
    let before: String = (0..1000).map(row).chain((0..30).map(|n| format!("+I v{n} {n} 00:00:00\n"))).collect();
    let changed = |change: &str| changes::changed_rows(&sessions(), &before, change);
    assert_eq!(changed("+I u7 1 00:00:55"), 1, "a row that makes a session of fifty longer");
    assert_eq!(changed("wm 00:00:10"), 30, "the rows of sessions that are over");
}

/// Sessions are put together anew from their rows: the same ones, in the same order, joined later than they began.
#[test]
fn random_sessions_are_the_same_after_restarts() {
    for seed in 0..12 {
        let script = random_sessions(seed) + "wm max";
        let expected = sessions().run(&script, 1, false);
        for every in [1, 2, 5] {
            changes::restarting_every(every, || {
                assert_eq!(sessions().run(&script, 1, true), expected, "seed {seed}, every {every}");
                let table = sessions().table(&sessions().run(&script, 7, true));
                assert_eq!(table, sessions().table(&expected), "seed {seed}, every {every} batches of 7");
            });
        }
    }
}
