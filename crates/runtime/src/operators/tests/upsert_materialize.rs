//! The last row per sink key.

use super::harness::{Case, case, stream};
use base::ChangelogMode;
use base::plan::{NodeKind, UpsertMaterialize};
use std::time::Duration;

/// Rows `k id v` with the sink key `k`.
pub fn materialize(row_keys: Vec<usize>, state_ttl: Option<Duration>) -> Case {
    let node = UpsertMaterialize { keys: vec![0], row_keys, state_ttl };
    let input = stream("k:text id:int v:int", ChangelogMode::ALL);
    let output = stream("k:text id:int v:int", ChangelogMode::UPSERT);
    case(NodeKind::UpsertMaterialize(node), input, output, &[0])
}

#[test]
fn the_row_before_comes_back_when_the_last_one_goes() {
    for row_keys in [vec![], vec![1]] {
        materialize(row_keys, None).check(
            "+I ann 1 5
             +I ann 2 7
             -U ann 2 7
             +U ann 2 8
             +I bob 3 1
             -D ann 2 8
             -U ann 1 5
             +U anne 1 5
             -D zoe 9 9
             -D bob 3 1",
            "+I ann 1 5
             +U ann 2 7
             +U ann 1 5
             +U ann 2 8
             +I bob 3 1
             +U ann 1 5
             -D ann 1 5
             +I anne 1 5
             -D bob 3 1",
        );
    }
}

#[test]
fn a_row_that_is_not_shown_goes_in_silence() {
    materialize(vec![], None).check(
        "+I a 1 1 \n +I a 2 2 \n +I a 2 2 \n -D a 1 1 \n -D a 2 2 \n -D a 2 2",
        "+I a 1 1 \n +U a 2 2 \n +U a 2 2 \n -D a 2 2",
    );
}

#[test]
fn rows_told_apart_by_a_key_are_found_whatever_else_they_say() {
    materialize(vec![1], None).check(
        "+I a 1 1 \n +I a 2 2 \n +U a 1 3 \n -D a 1 9 \n -D a 2 9",
        "+I a 1 1 \n +U a 2 2 \n +U a 1 3 \n +U a 2 2 \n -D a 2 2",
    );
}

#[test]
fn a_batch_shows_one_change_per_key() {
    let rows = "+I a 1 1 \n -U a 1 1 \n +U a 1 2 \n +I b 2 2 \n -D b 2 2";
    assert_eq!(materialize(vec![], None).run(rows, 1000, false), ["+I a 1 2"]);
}

#[test]
fn expired_rows_do_not_come_back() {
    let expiring = materialize(vec![], Some(Duration::from_millis(100)));
    let script = "now 1000 \n +I a 1 1 \n now 1090 \n +I a 2 2 \n now 1150 \n -D a 2 2 \n now 1300 \n +I a 3 3";
    for restore in [false, true] {
        assert_eq!(expiring.run(script, 1, restore), ["+I a 1 1", "+U a 2 2", "-D a 2 2", "+I a 3 3"]);
    }
}
