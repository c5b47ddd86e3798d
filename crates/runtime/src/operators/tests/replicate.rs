//! Rows as often as a column says.

use super::harness::{Case, case, run_bounded, stream};
use base::ChangelogMode;
use base::plan::{NodeKind, Replicate};

fn replicate() -> Case {
    let input = stream("a:text n:int b:int", ChangelogMode::ALL);
    let output = stream("a:text b:int", ChangelogMode::ALL);
    Case { exact: true, ..case(NodeKind::Replicate(Replicate { count: 1 }), input, output, &[]) }
}

#[test]
fn the_count_says_how_often() {
    replicate().check(
        "+I x 2 7
         +I y 0 8
         +I z null 8
         +I w -3 8
         -U x 2 7
         +U x 1 7",
        "+I x 7
         +I x 7
         -U x 7
         -U x 7
         +U x 7",
    );
}

#[test]
fn many_copies_come_in_bounded_batches() {
    let case = replicate();
    let run = run_bounded(&case, "+I x 100 1\n+I y 3 2\n+I z 0 3", 16);
    assert_eq!((run.output.len(), run.largest_batch), (103, 16));
    assert_eq!(run.output.iter().filter(|row| *row == "+I y 2").count(), 3);
}
