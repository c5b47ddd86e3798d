//! Columns that only rise or only fall while rows are updated: MAX of the first and MIN of the others take nothing back, as in Flink
//! (MAX over COUNT(*) is not MAX_RETRACT there). So a result does not fall for the moment between `-U` and `+U`, and one value is kept
//! instead of all.

use crate::lower::builder::Draft;
use base::plan::{AggregateCall, GroupAggregate, NodeId, NodeKind};

/// How a column goes on when its row is updated, in a node that takes no row back for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    Stays,
    Rises,
    Falls,
}

/// Lets the calls that need not take back keep less; the row kinds of all nodes are set.
pub(super) fn keep_extremes(drafts: &mut [Draft]) {
    for index in 0..drafts.len() {
        let NodeKind::GroupAggregate(group) = &drafts[index].node.kind else { continue };
        let Some(edge) = drafts[index].node.inputs.first() else { continue };
        if !keys_stay(drafts, edge.node, group) {
            continue;
        }
        let retract: Vec<bool> =
            group.calls.iter().map(|call| call.options.retract && extreme(drafts, edge.node, call).is_none()).collect();
        if let NodeKind::GroupAggregate(group) = &mut drafts[index].node.kind {
            group.calls.iter_mut().zip(retract).for_each(|(call, retract)| call.options.retract = retract);
        }
    }
}

/// Whether no row of a node changes its group.
fn keys_stay(drafts: &[Draft], input: NodeId, group: &GroupAggregate) -> bool {
    group.keys.iter().all(|&key| course(drafts, input, key) == Some(Course::Stays))
}

/// The course of the result of a MAX or MIN over rows of a node that never moves back; `None` if it can.
fn extreme(drafts: &[Draft], input: NodeId, call: &AggregateCall) -> Option<Course> {
    let wanted = match call.function.name() {
        "MAX" => Course::Rises,
        "MIN" => Course::Falls,
        _ => return None,
    };
    let [argument] = call.arguments.as_slice() else { return None };
    // A row could leave a filter.
    if call.filter.is_some() {
        return None;
    }
    let found = course(drafts, input, *argument)?;
    (found == wanted || found == Course::Stays).then_some(wanted)
}

fn course(drafts: &[Draft], node: NodeId, column: usize) -> Option<Course> {
    let draft = &drafts[node].node;
    if draft.output.changelog.is_append_only() {
        return Some(Course::Stays);
    }
    match &draft.kind {
        NodeKind::Calc(calc) if calc.condition.is_none() => {
            course(drafts, draft.inputs.first()?.node, calc.projection.get(column)?.as_column()?)
        }
        NodeKind::Union => {
            let mut courses = draft.inputs.iter().map(|edge| course(drafts, edge.node, column));
            let first = courses.next()??;
            courses.all(|other| other == Some(first)).then_some(first)
        }
        NodeKind::GroupAggregate(group) => {
            let input = draft.inputs.first()?.node;
            if !keys_stay(drafts, input, group) {
                return None;
            }
            let Some(call) = column.checked_sub(group.keys.len()) else { return Some(Course::Stays) };
            let call = group.calls.get(call)?;
            match drafts[input].node.output.changelog.is_append_only() {
                true if call.function.name() == "COUNT" => Some(Course::Rises),
                _ => extreme(drafts, input, call),
            }
        }
        _ => None,
    }
}
