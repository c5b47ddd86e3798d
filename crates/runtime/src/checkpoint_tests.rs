//! Putting checkpoints together.

use super::*;

fn node(key: &str, instance: usize, watermark_ms: Option<i64>, state: NodeState) -> TaskSnapshot {
    TaskSnapshot {
        nodes: vec![NodeSnapshot {
            key: key.into(),
            instance,
            watermark_ms,
            counts: NodeCounts { rows_in: 2, ..NodeCounts::default() },
            state,
        }],
        ..TaskSnapshot::default()
    }
}

#[test]
fn instances_are_in_order_whatever_the_order_of_answers() {
    let writer =
        |byte: u8| NodeState::Sink(SinkCheckpoint { writers: vec![vec![byte]], committables: vec![vec![byte].into()] });
    let tasks = [node("s", 1, Some(7), writer(1)), node("s", 0, Some(9), writer(0))];
    let checkpoint = JobCheckpoint::assemble(Epoch(3), NodeLabels::default(), &tasks);
    assert_eq!(checkpoint.sinks["s"].writers, [vec![0], vec![1]]);
    assert_eq!(checkpoint.watermark_ms("s", 0, 2), Some(9));
    assert_eq!(checkpoint.watermark_ms("s", 1, 2), Some(7));
    assert_eq!(checkpoint.watermark_ms("s", 2, 4), Some(7), "another parallelism: the lowest");
    assert_eq!(checkpoint.watermark_ms("other", 0, 1), None);
    assert_eq!(checkpoint.counts["s"].rows_in, 4);
}

#[test]
fn an_instance_without_a_watermark_keeps_a_rescaled_job_without_one() {
    let tasks = [node("u", 0, None, NodeState::None), node("u", 1, Some(3), NodeState::None)];
    assert_eq!(JobCheckpoint::assemble(Epoch(1), NodeLabels::default(), &tasks).watermark_ms("u", 0, 1), None);
}

#[test]
fn committables_are_committed_once() {
    let state = SinkCheckpoint { writers: vec![vec![1]], committables: vec![vec![2].into()] };
    let mut task = node("s", 0, None, NodeState::Sink(state));
    task.included(false);
    let checkpoint = JobCheckpoint::assemble(Epoch(1), NodeLabels::default(), [&task]);
    assert!(checkpoint.sinks["s"].committables.is_empty());
    assert_eq!(checkpoint.sinks["s"].writers, [vec![1]]);
}

#[test]
fn what_an_earlier_checkpoint_left_is_committed_first() {
    let committable = |byte: u8| Committable::from(vec![byte]);
    let state = |byte| SinkCheckpoint { writers: vec![vec![byte]], committables: vec![committable(byte)] };
    let mut left = Committables::new();
    node("s", 0, None, NodeState::Sink(state(1))).committables(&mut left);
    let mut checkpoint =
        JobCheckpoint::assemble(Epoch(2), NodeLabels::default(), [&node("s", 0, None, NodeState::Sink(state(2)))]);
    checkpoint.add_committables(left);
    assert_eq!(checkpoint.sinks["s"].committables, [committable(1), committable(2)]);
    assert_eq!(checkpoint.sinks["s"].writers, [vec![2]]);
}
