//! Two-phase aggregation: a first phase before the exchange folds every batch, so that a hot key crosses it once per batch.
//!
//! It comes last, when the kinds of rows are known: they decide which states the accumulators have. It changes no result.

use super::builder::{Draft, Identity, column_identity, short_hash};
use super::{AggregatePhases, LowerContext};
use crate::operators::retracts;
use base::plan::{AggregateCall, Distribution, Edge, GroupAggregate, LocalAggregate, Node, NodeId, NodeKind, Output};
use base::{Field, LogicalType, Result, RowType, SqlType};

/// The number of rows behind a row of states.
const ROWS: &str = "$rows";

/// Puts a first phase before the aggregates that it helps; gives the new places of `ends`.
pub fn split(drafts: &mut Vec<Draft>, ends: Vec<NodeId>, context: &LowerContext) -> Result<Vec<NodeId>> {
    let one_instance = context.config.parallelism == Some(1);
    // Batches of one row have nothing to fold.
    if context.phases == AggregatePhases::One || one_instance || context.config.batch_rows == 1 {
        return Ok(ends);
    }
    let mut places: Vec<NodeId> = Vec::with_capacity(drafts.len());
    let mut done: Vec<Draft> = Vec::with_capacity(drafts.len());
    for mut draft in std::mem::take(drafts) {
        for edge in &mut draft.node.inputs {
            edge.node = places[edge.node];
        }
        if let NodeKind::GroupAggregate(group) = &draft.node.kind
            && let [edge] = draft.node.inputs.as_slice()
            && let Some(first) = first_phase(group, &done[edge.node], edge.node, context.phases)?
        {
            let row = done[edge.node].node.output.row.clone();
            merge(&mut draft, row, done.len());
            done.push(first);
        }
        places.push(done.len());
        done.push(draft);
    }
    *drafts = done;
    Ok(ends.into_iter().map(|end| places[end]).collect())
}

/// Makes an aggregate the second phase over the node that comes next.
fn merge(draft: &mut Draft, row: RowType, first: NodeId) {
    let NodeKind::GroupAggregate(group) = &mut draft.node.kind else { return };
    group.keys = (0..group.keys.len()).collect();
    group.merges = Some(row);
    draft.node.inputs = vec![Edge { node: first, distribution: Distribution::Hash(group.keys.clone()) }];
}

/// The first phase of an aggregate over `below`, if it can have one and that helps.
fn first_phase(group: &GroupAggregate, below: &Draft, input: NodeId, phases: AggregatePhases) -> Result<Option<Draft>> {
    // Where all rows of a key are in one instance already, there is nothing to share.
    let is_gathered = below.spread.as_ref().is_some_and(|spread| spread.iter().all(|one| group.keys.contains(one)));
    let output = &below.node.output;
    let retract = retracts(output.changelog);
    let is_large =
        |call: &AggregateCall| call.options.distinct || retract && matches!(call.function.name(), "MIN" | "MAX");
    let wanted = phases == AggregatePhases::Two || !group.calls.iter().any(is_large);
    if is_gathered || group.calls.is_empty() || !wanted {
        return Ok(None);
    }
    let columns = output.row.fields();
    let mut fields: Vec<Field> =
        group.keys.iter().map(|&key| Field::new(columns[key].name.clone(), columns[key].sql_type.clone())).collect();
    let names: Vec<String> = group.keys.iter().map(|&key| below.identity.columns[key].clone()).collect();
    let mut identities = names.clone();
    fields.push(Field::new(ROWS, LogicalType::BigInt.not_null()));
    identities.push(ROWS.into());
    for (index, call) in group.calls.iter().enumerate() {
        let types: Vec<SqlType> = call.arguments.iter().map(|&column| columns[column].sql_type.clone()).collect();
        if !functions::merges_exactly(call.function.as_ref(), &types, &call.options) {
            return Ok(None);
        }
        for state in call.function.accumulator(&types, &call.options)?.state_fields() {
            let sql_type = SqlType::from_arrow(&state)?;
            if sql_type.arrow() != *state.data_type() {
                return Ok(None);
            }
            let name = format!("{index}.{}", state.name());
            identities.push(column_identity(format!("{name} of {}", call.sql)));
            fields.push(Field::new(name, sql_type));
        }
    }
    let calls: Vec<&str> = group.calls.iter().map(|call| call.sql.as_str()).collect();
    let text = format!("keys=[{}], calls=[{}]", names.join(", "), calls.join(", "));
    let digest =
        format!("LocalAggregate({text}, [{}], input={})", below.identity.columns.join(", "), below.identity.rows);
    let anchor = format!("local-{}", short_hash(&format!("{text} {}", below.identity.anchor)));
    let row = RowType::new(fields).identified(&identities);
    Ok(Some(Draft {
        spread: None,
        identity: Identity { rows: short_hash(&digest), columns: identities, anchor: anchor.clone() },
        node: Node {
            operator_id: anchor,
            digest,
            kind: NodeKind::LocalAggregate(LocalAggregate { keys: group.keys.clone(), calls: group.calls.clone() }),
            inputs: vec![Edge { node: input, distribution: Distribution::Forward }],
            output: Output { row, changelog: output.changelog, upsert_keys: Vec::new() },
        },
    }))
}
