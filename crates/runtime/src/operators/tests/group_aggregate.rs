//! GROUP BY: the recorded changelogs of Flink, and what batches fold.

use super::harness::{Case, case, run_bounded, stream};
use super::stand_ins::call;
use base::ChangelogMode;
use base::plan::{GroupAggregate, NodeKind};
use std::time::Duration;

fn aggregate(input: ChangelogMode, output: ChangelogMode) -> Case {
    let calls = vec![call("COUNT", None), call("SUM", Some(1))];
    let node = GroupAggregate { keys: vec![0], calls, merges: None, state_ttl: None };
    case(NodeKind::GroupAggregate(node), stream("k:text v:int", input), stream("k:text c:int s:int", output), &[0])
}

#[test]
fn appends_update_their_group() {
    aggregate(ChangelogMode::APPEND, ChangelogMode::ALL).check(
        "+I a 1
         +I a 2
         +I a null
         +I b null
         +I null 7
         +I b 5
         +I a 2
         +I null 8",
        "+I a 1 1
         -U a 1 1
         +U a 2 3
         -U a 2 3
         +U a 3 3
         +I b 1 null
         +I null 1 7
         -U b 1 null
         +U b 2 5
         -U a 3 3
         +U a 4 5
         -U null 1 7
         +U null 2 15",
    );
}

const RETRACTIONS: &str = "
    +I a 10
    +I a 20
    -U a 20
    +U a 5
    -U a 10
    +U b 10
    -D a 5
    +I a 7
    -D b 10
    -D a 7";

#[test]
fn a_group_goes_with_its_last_row_and_comes_back() {
    aggregate(ChangelogMode::ALL, ChangelogMode::ALL).check(
        RETRACTIONS,
        "+I a 1 10
         -U a 1 10
         +U a 2 30
         -U a 2 30
         +U a 1 10
         -U a 1 10
         +U a 2 15
         -U a 2 15
         +U a 1 5
         +I b 1 10
         -D a 1 5
         +I a 1 7
         -D b 1 10
         -D a 1 7",
    );
}

#[test]
fn an_upsert_reader_gets_no_update_before() {
    aggregate(ChangelogMode::ALL, ChangelogMode::UPSERT).check(
        RETRACTIONS,
        "+I a 1 10
         +U a 2 30
         +U a 1 10
         +U a 2 15
         +U a 1 5
         +I b 1 10
         -D a 1 5
         +I a 1 7
         -D b 1 10
         -D a 1 7",
    );
}

#[test]
fn unchanged_results_and_unknown_retractions_give_nothing() {
    aggregate(ChangelogMode::ALL, ChangelogMode::ALL).check(
        "-D x 1
         -U y 2
         +I a 1
         -D x 1
         +I x 3",
        "+I a 1 1
         +I x 1 3",
    );
    let node = GroupAggregate { keys: vec![0], calls: vec![call("SUM", Some(1))], merges: None, state_ttl: None };
    let input = stream("k:text v:int", ChangelogMode::APPEND);
    let sums = case(NodeKind::GroupAggregate(node), input, stream("k:text s:int", ChangelogMode::ALL), &[0]);
    sums.check("+I a 1 \n +I a 0 \n +I a null \n +I a 2", "+I a 1 \n -U a 1 \n +U a 3");
}

#[test]
fn a_global_aggregate_has_no_row_without_input() {
    let calls = vec![call("COUNT", None), call("SUM", Some(0))];
    let node = GroupAggregate { keys: vec![], calls, merges: None, state_ttl: None };
    let input = stream("v:int", ChangelogMode::ALL);
    let global = case(NodeKind::GroupAggregate(node), input, stream("c:int s:int", ChangelogMode::ALL), &[]);
    global.check("", "");
    global.check(
        "+I 10
         +I 20
         -D 10
         -D 20
         +I null",
        "+I 1 10
         -U 1 10
         +U 2 30
         -U 2 30
         +U 1 20
         -D 1 20
         +I 1 null",
    );
}

#[test]
fn distinct_rows_are_a_group_without_calls() {
    let node = GroupAggregate { keys: vec![0, 1], calls: vec![], merges: None, state_ttl: None };
    let input = stream("k:text v:int", ChangelogMode::ALL);
    let distinct = case(NodeKind::GroupAggregate(node), input, stream("k:text v:int", ChangelogMode::ALL), &[0, 1]);
    distinct.check(
        "+I a 1 \n +I a 1 \n +I a null \n -D a 1 \n -D a 1 \n -D a null",
        "+I a 1 \n +I a null \n -D a 1 \n -D a null",
    );
}

#[test]
fn a_batch_gives_one_change_per_group_in_the_order_of_their_last_rows() {
    let grouped = aggregate(ChangelogMode::ALL, ChangelogMode::ALL);
    let first = "+I b 1 \n +I a 1 \n +I b 2 \n +I c 9 \n -D c 9";
    assert_eq!(grouped.run(first, 1000, false), ["+I a 1 1", "+I b 2 3"], "c came and went within the batch");
    let second = format!("{first} \n wm 0:00 \n +I a 5 \n -D b 1 \n -D a 5 \n -D b 2 \n +I b 4");
    assert_eq!(grouped.run(&second, 1000, false)[2..], ["-U b 2 3", "+U b 1 4"], "a is as before");
}

#[test]
fn filters_select_rows() {
    let mut filtered = call("SUM", Some(1));
    filtered.filter = Some(2);
    let node = GroupAggregate { keys: vec![0], calls: vec![filtered], merges: None, state_ttl: None };
    let input = stream("k:text v:int f:bool", ChangelogMode::ALL);
    let sums = case(NodeKind::GroupAggregate(node), input, stream("k:text s:int", ChangelogMode::ALL), &[0]);
    sums.check("+I a 1 true \n +I a 2 false \n +I a 4 null \n -D a 1 true", "+I a 1 \n -U a 1 \n +U a null");
}

#[test]
fn expired_groups_start_anew() {
    let calls = vec![call("COUNT", None)];
    let node = GroupAggregate { keys: vec![0], calls, merges: None, state_ttl: Some(Duration::from_millis(100)) };
    let input = stream("k:text v:int", ChangelogMode::ALL);
    let grouped = case(NodeKind::GroupAggregate(node), input, stream("k:text c:int", ChangelogMode::ALL), &[0]);
    let script =
        "now 1000 \n +I a 1 \n +I b 1 \n now 1050 \n +I b 1 \n now 1100 \n +I a 1 \n +I b 1 \n now 1300 \n -D b 1";
    for restore in [false, true] {
        let expected = ["+I a 1", "+I b 1", "-U b 1", "+U b 2", "+I a 1", "-U b 2", "+U b 3"];
        assert_eq!(grouped.run(script, 1, restore), expected, "restore {restore}");
    }
    let run = run_bounded(&grouped, script, 10);
    assert_eq!(run.operators[0].statistics().state_entries, 0, "expired state is removed");
    let unchanged = "+I a 1 \n now 1 \n +I a 1 \n -D a 1";
    assert_eq!(grouped.run(unchanged, 1000, false), ["+I a 1", "-U a 1", "+U a 1"], "refreshes the reader's TTL");
}

#[test]
fn output_is_cut_to_the_wanted_size() {
    let grouped = aggregate(ChangelogMode::APPEND, ChangelogMode::ALL);
    let script: String = (0..100).map(|k| format!("+I k{k} 1\n")).collect();
    let mut run = run_bounded(&grouped, &script, 7);
    assert_eq!((run.output.len(), run.largest_batch), (100, 7));
    let snapshot = run.operators[0].snapshot(state::Scope::Full).expect("snapshot");
    assert_eq!(snapshot.tables[0].rows.num_rows(), 100);
}
