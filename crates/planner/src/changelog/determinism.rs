//! Functions without a fixed value on the way of updates: an old row that is computed again must be the row that was sent.
//!
//! `NOW()`, `UUID()` and the like give `-U` and `-D` rows another value than the `+I` had. That does no harm where rows are
//! known by a key; it does where they are known by their content, or where the value is part of the key.

use super::codes as own;
use crate::lower::sink::RESULT_NAME;
use base::plan::{Calc, Node, NodeId, NodeKind};
use base::{ChangelogMode, Error, RowKind};

/// One problem per expression.
pub fn check(nodes: &[Node]) -> Vec<Error> {
    let mut readers: Vec<Vec<NodeId>> = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        node.inputs.iter().for_each(|edge| readers[edge.node].push(index));
    }
    let check = Check { nodes, readers };
    let mut found = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        match &node.kind {
            NodeKind::Calc(calc) => {
                let updated = node.inputs.iter().any(|edge| takes_back(nodes[edge.node].output.changelog));
                if updated {
                    check.calc(index, calc, &mut found);
                }
            }
            NodeKind::Scan(scan) if takes_back(node.output.changelog) => {
                if let Some(calc) = &scan.projection {
                    check.calc(index, calc, &mut found);
                }
            }
            _ => {}
        }
    }
    found
}

fn takes_back(mode: ChangelogMode) -> bool {
    mode.contains(RowKind::UpdateBefore) || mode.contains(RowKind::Delete)
}

struct Check<'n> {
    nodes: &'n [Node],
    readers: Vec<Vec<NodeId>>,
}

impl Check<'_> {
    fn calc(&self, node: NodeId, calc: &Calc, found: &mut Vec<Error>) {
        let mut report = |expression: String, reader: String| {
            found.push(Error::new(&own::NON_DETERMINISTIC, &[("expression", &expression), ("reader", &reader)]));
        };
        if let Some(condition) = calc.condition.as_ref().filter(|condition| !condition.is_deterministic()) {
            report(condition.sql(), "the filter".into());
        }
        for (column, expression) in calc.projection.iter().enumerate() {
            if expression.is_deterministic() {
                continue;
            }
            if let Some(reader) = self.reader_by_content(node, column) {
                report(expression.sql(), reader);
            }
        }
    }

    /// The operator behind `node` that would miss a row whose `column` has changed.
    fn reader_by_content(&self, node: NodeId, column: usize) -> Option<String> {
        self.readers[node].iter().find_map(|&reader| {
            let behind = || self.reader_by_content(reader, column);
            match &self.nodes[reader].kind {
                NodeKind::Calc(calc) => {
                    if calc.condition.as_ref().is_some_and(|condition| condition.columns().contains(&column)) {
                        return Some("a filter".into());
                    }
                    let dependent =
                        calc.projection.iter().enumerate().filter(|(_, one)| one.columns().contains(&column));
                    dependent.into_iter().find_map(|(place, _)| self.reader_by_content(reader, place))
                }
                NodeKind::Union | NodeKind::DropUpdateBefore => behind(),
                NodeKind::WindowTable(table) if table.window.time_column == column => Some("a window".into()),
                NodeKind::WindowTable(_) => behind(),
                NodeKind::GroupAggregate(group) => {
                    let calls = group.calls.iter().any(|call| call.arguments.contains(&column));
                    (calls || group.keys.contains(&column)).then(|| "an aggregate".into())
                }
                NodeKind::WindowAggregate(group) => {
                    let calls = group.calls.iter().any(|call| call.arguments.contains(&column));
                    (calls || group.keys.contains(&column)).then(|| "a window aggregate".into())
                }
                NodeKind::ChangelogNormalize(normalize) if normalize.keys.contains(&column) => {
                    Some("the key of a changelog".into())
                }
                NodeKind::ChangelogNormalize(_) => behind(),
                NodeKind::Sink(sink) if sink.table == RESULT_NAME => None,
                NodeKind::Sink(sink) if sink.primary_key.contains(&column) => {
                    Some(format!("the primary key of table {}", sink.table))
                }
                NodeKind::Sink(sink) if sink.primary_key.is_empty() => {
                    Some(format!("table {}, which has no primary key,", sink.table))
                }
                NodeKind::Sink(_) | NodeKind::Scan(_) | NodeKind::Values(_) => None,
            }
        })
    }
}
