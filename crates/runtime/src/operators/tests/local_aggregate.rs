//! Two-phase aggregation: whatever the batches of the first phase, the second one has the result of one phase.

use super::harness::{Case, case, print, stream};
use super::stand_ins::call;
use crate::operator::OperatorContext;
use base::plan::{GroupAggregate, LocalAggregate, NodeKind};
use base::{ChangelogBatch, ChangelogMode};

const INPUT: &str = "k:text v:int";

fn calls() -> Vec<base::plan::AggregateCall> {
    vec![call("COUNT", None), call("SUM", Some(1))]
}

/// The states of the stand-ins are a sum and a count each.
fn local() -> Case {
    let output = stream("k:text rows:int s0:int c0:int s1:int c1:int", ChangelogMode::ALL);
    let node = LocalAggregate { keys: vec![0], calls: calls() };
    case(NodeKind::LocalAggregate(node), stream(INPUT, ChangelogMode::ALL), output, &[])
}

fn global() -> Case {
    let merges = Some(stream(INPUT, ChangelogMode::ALL).row);
    let node = GroupAggregate { keys: vec![0], calls: calls(), merges, state_ttl: None };
    let output = stream("k:text c:int s:int", ChangelogMode::ALL);
    case(NodeKind::GroupAggregate(node), local().node.output, output, &[0])
}

fn one_phase() -> Case {
    let node = GroupAggregate { keys: vec![0], calls: calls(), merges: None, state_ttl: None };
    let output = stream("k:text c:int s:int", ChangelogMode::ALL);
    case(NodeKind::GroupAggregate(node), stream(INPUT, ChangelogMode::ALL), output, &[0])
}

fn two_phases(batches: &[ChangelogBatch]) -> Vec<String> {
    let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 4096 };
    let (local, global) = (local(), global());
    let (mut first, mut second) = (local.operator(0, 1), global.operator(0, 1));
    let mut lines = Vec::new();
    for batch in batches {
        first.on_batch(0, batch.clone(), &context).expect("first phase");
        while let Some(folded) = first.next_output(&context).expect("output") {
            second.on_batch(0, folded, &context).expect("second phase");
            while let Some(result) = second.next_output(&context).expect("output") {
                lines.extend(print(&result));
            }
        }
    }
    lines
}

fn batch(lines: &str) -> ChangelogBatch {
    super::harness::batch_of_lines(&stream(INPUT, ChangelogMode::ALL).row, lines)
}

#[test]
fn a_batch_leaves_one_change_per_group() {
    let batches = [
        batch("+I a 1\n+I b 5\n+I a 2\n+I a null"),
        batch("-U a 1\n+U a 7\n-D b 5\n+I c 1\n-D c 1"),
        batch("-D a 2\n-D a 7\n-D a null\n+I null 3"),
    ];
    let expected =
        ["+I b 1 5", "+I a 3 3", "-U a 3 3", "+U a 3 9", "-D b 1 5", "-D a 3 9", "+I null 1 3"].map(str::to_string);
    assert_eq!(two_phases(&batches), expected);
}

#[test]
fn retractions_without_a_row_are_dropped() {
    let batches = [batch("-D a 1"), batch("-D a 1\n+I a 4"), batch("+I a 4")];
    assert_eq!(two_phases(&batches), ["+I a 1 4"]);
}

/// Most batches have as many keys as rows here, so that folding stops, and starts again for the last ones.
#[test]
fn different_keys_pass_unfolded() {
    let mut scripts: Vec<String> = Vec::new();
    for round in 0..20 {
        scripts.push((0..80).map(|key| format!("+I k{key} {round}\n")).collect());
    }
    scripts.push((0..240).map(|row| format!("-D k{} {}\n", row % 80, row / 80)).collect());
    let batches: Vec<ChangelogBatch> = scripts.iter().map(|script| batch(script)).collect();
    let one = one_phase();
    assert_eq!(one.table(&two_phases(&batches)), one.table(&one.run(&scripts.concat(), 80, false)));
}

#[test]
fn the_second_phase_is_restored_at_another_parallelism() {
    let script = "+I a 2 0 2 3 2\n+I b 1 0 1 5 1\n+I a -1 0 -1 -1 -1\n+I b -1 0 -1 -5 -1";
    let second = global();
    let lines = second.run(script, 1, true);
    assert_eq!(second.table(&lines), ["1 x a 1 2"]);
}
