//! The first and the last row per key. Expected sequences are Flink's.

use super::harness::{Case, case, run_bounded, stream};
use base::ChangelogMode;
use base::plan::{Deduplicate, Keep, NodeKind};
use std::time::Duration;

pub fn deduplicate(keep: Keep, rowtime: Option<usize>, output: ChangelogMode, state_ttl: Option<Duration>) -> Case {
    let node = Deduplicate { keys: vec![0], keep, rowtime, state_ttl };
    let columns = "k:text v:int ts:rowtime";
    case(NodeKind::Deduplicate(node), stream(columns, ChangelogMode::APPEND), stream(columns, output), &[0])
}

#[test]
fn the_last_row_by_time_is_replaced_by_one_that_is_not_older() {
    let rows = "
        +I a 1 0:00:10
        +I a 2 0:00:05
        +I a 3 0:00:10
        +I b 4 0:00:00
        +I a 5 0:00:20
        +I a 6 0:00:01";
    deduplicate(Keep::Last, Some(2), ChangelogMode::ALL, None).check(
        rows,
        "+I a 1 00:00:10
         -U a 1 00:00:10
         +U a 3 00:00:10
         +I b 4 00:00:00
         -U a 3 00:00:10
         +U a 5 00:00:20",
    );
    deduplicate(Keep::Last, Some(2), ChangelogMode::UPSERT, None)
        .check(rows, "+I a 1 00:00:10 \n +U a 3 00:00:10 \n +I b 4 00:00:00 \n +U a 5 00:00:20");
}

#[test]
fn the_last_row_by_arrival_is_replaced_by_every_row() {
    let rows = "+I a 1 0:00 \n +I a 2 0:00 \n +I null 3 0:00 \n +I a 2 0:00";
    let last = deduplicate(Keep::Last, None, ChangelogMode::ALL, None);
    last.check(
        rows,
        "+I a 1 00:00:00
         -U a 1 00:00:00
         +U a 2 00:00:00
         +I null 3 00:00:00
         -U a 2 00:00:00
         +U a 2 00:00:00",
    );
    assert_eq!(last.run(rows, 1000, false), ["+I a 2 00:00:00", "+I null 3 00:00:00"]);
}

#[test]
fn the_first_row_by_arrival_is_given_at_once() {
    let first = deduplicate(Keep::First, None, ChangelogMode::APPEND, None);
    let rows = "+I a 1 0:00 \n +I a 2 0:00 \n +I b 3 0:00 \n +I a 2 0:00";
    Case { exact: true, ..first }.check(rows, "+I a 1 00:00:00 \n +I b 3 00:00:00");
    let expiring = deduplicate(Keep::First, None, ChangelogMode::APPEND, Some(Duration::from_millis(100)));
    // Rows that are left out do not renew a key.
    let rows = "now 1000 \n +I a 1 0:00 \n now 1060 \n +I a 2 0:00 \n now 1100 \n +I a 3 0:00 \n +I a 4 0:00";
    assert_eq!(expiring.run(rows, 1, true), ["+I a 1 00:00:00", "+I a 3 00:00:00"]);
}

#[test]
fn the_first_row_by_time_waits_for_the_watermark() {
    let first = deduplicate(Keep::First, Some(2), ChangelogMode::APPEND, None);
    let rows = "
        +I a 1 0:00:10
        +I a 2 0:00:08
        +I a 3 0:00:08
        +I b 4 0:00:30
        wm 0:00:25
        +I a 5 0:00:01
        +I c 5 0:00:24.999
        +I e 5 0:00:25
        +I d 6 0:00:26
        +I b 6 0:00:29
        wm 0:00:29
        +I c 6 0:01:30
        wm max";
    let first = Case { exact: true, ..first };
    first.check(rows, "+I a 2 00:00:08 \n +I e 5 00:00:25 \n +I d 6 00:00:26 \n +I b 6 00:00:29 \n +I c 6 00:01:30");
    let statistics = first.statistics(rows);
    assert_eq!((statistics.late_rows, statistics.state_entries), (1, 5));
    assert_eq!(
        statistics.late_sample.as_deref(),
        Some("ts 1970-01-01 00:00:24.999 is behind watermark 1970-01-01 00:00:25")
    );
}

#[test]
fn many_first_rows_leave_in_bounded_batches() {
    let first = deduplicate(Keep::First, Some(2), ChangelogMode::APPEND, None);
    let rows: String = (0..100).map(|row| format!("+I k{row} 1 0:00:01\n")).collect();
    let run = run_bounded(&first, &format!("{rows} wm max"), 7);
    assert_eq!((run.output.len(), run.largest_batch), (100, 7));
}
