//! Grouping sets against Flink's recorded rows.

use super::harness::{Case, case, run_bounded, stream};
use base::ChangelogMode;
use base::plan::{Expand, NodeKind};

/// CUBE (a, b); `v` is in no set.
fn cube() -> Case {
    let sets = vec![(vec![0, 1], 0), (vec![0], 1), (vec![1], 2), (vec![], 3)];
    let input = stream("a:text b:text v:int", ChangelogMode::ALL);
    let output = stream("a:text b:text v:int e:int", ChangelogMode::ALL);
    Case { exact: true, ..case(NodeKind::Expand(Expand { columns: vec![0, 1], sets }), input, output, &[]) }
}

#[test]
fn a_row_comes_once_per_set_with_null_in_the_columns_left_out() {
    cube().check(
        "+I x p 1
         -U x p 1
         +U null p 2",
        "+I x    p    1 0
         +I x    null 1 1
         +I null p    1 2
         +I null null 1 3
         -U x    p    1 0
         -U x    null 1 1
         -U null p    1 2
         -U null null 1 3
         +U null p    2 0
         +U null null 2 1
         +U null p    2 2
         +U null null 2 3",
    );
}

#[test]
fn output_comes_in_bounded_batches() {
    let script: String = (0..50).map(|v| format!("+I x p {v}\n")).collect();
    let case = cube();
    let run = run_bounded(&case, &script, 16);
    assert_eq!((run.output.len(), run.largest_batch), (200, 16));
}
