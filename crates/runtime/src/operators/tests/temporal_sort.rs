//! ORDER BY a time attribute.

use super::harness::{Case, case, run_bounded, stream};
use base::ChangelogMode;
use base::plan::{NodeKind, SortKey, TemporalSort};

fn sort(rowtime: Option<usize>, order: Vec<SortKey>) -> Case {
    let columns = "id:int v:int ts:rowtime";
    let node = TemporalSort { order, rowtime };
    let streams = (stream(columns, ChangelogMode::APPEND), stream(columns, ChangelogMode::APPEND));
    Case { exact: true, ..case(NodeKind::TemporalSort(node), streams.0, streams.1, &[]) }
}

fn key(column: usize, descending: bool) -> SortKey {
    SortKey { column, descending, nulls_first: !descending }
}

const ROWS: &str = "
    +I 1 5 0:00:02
    wm 0:00:01
    +I 2 7 0:00:01.5
    +I 3 6 0:00:02
    +I 4 9 0:00:10
    wm 0:00:09
    +I 5 1 0:00:03
    +I 6 1 0:00:02
    wm max";

#[test]
fn rows_wait_for_the_watermark() {
    let by_time = sort(Some(2), vec![key(2, false)]);
    by_time
        .check(ROWS, "+I 2 7 00:00:01.500 \n +I 1 5 00:00:02 \n +I 3 6 00:00:02 \n +I 5 1 00:00:03 \n +I 4 9 00:00:10");
    assert_eq!(by_time.statistics(ROWS).late_rows, 1);
    sort(Some(2), vec![key(2, false), key(1, true)])
        .check(ROWS, "+I 2 7 00:00:01.500 \n +I 3 6 00:00:02 \n +I 1 5 00:00:02 \n +I 5 1 00:00:03 \n +I 4 9 00:00:10");
}

#[test]
fn many_rows_leave_in_bounded_batches() {
    let rows: String = (0..1000).map(|row| format!("+I {row} 1 0:00:{}\n", 59 - row % 60)).collect();
    let case = sort(Some(2), vec![key(2, false)]);
    let run = run_bounded(&case, &format!("{rows} wm max"), 7);
    assert_eq!((run.output.len(), run.largest_batch), (1000, 7));
    assert!(run.output.is_sorted_by_key(|line| line[line.len() - 8..].to_string()));
}

#[test]
fn processing_time_gives_rows_as_they_come() {
    let in_order = "+I 3 1 0:00:02 \n +I 1 2 0:00:01";
    assert_eq!(sort(None, vec![]).run(in_order, 1000, false), ["+I 3 1 00:00:02", "+I 1 2 00:00:01"]);
    assert_eq!(sort(None, vec![key(0, false)]).run(in_order, 1000, false), ["+I 1 2 00:00:01", "+I 3 1 00:00:02"]);
}
