//! Functions without a fixed value on the way of updates: an old row that is computed again must be the row that was sent.
//!
//! `NOW()`, `UUID()` and the like give `-U` and `-D` rows another value than the `+I` had. That does no harm where rows are
//! known by a key; it does where they are known by their content, or where the value is part of the key.

use super::codes as own;
use crate::operators::{Shape, Use, retracts, rules};
use base::Error;
use base::plan::{Calc, Node, NodeId, NodeKind, Output};

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
                let updated = node.inputs.iter().any(|edge| retracts(nodes[edge.node].output.changelog));
                if updated {
                    check.calc(index, calc, &mut found);
                }
            }
            NodeKind::Scan(scan) if retracts(node.output.changelog) => {
                if let Some(calc) = &scan.projection {
                    check.calc(index, calc, &mut found);
                }
            }
            _ => {}
        }
    }
    found
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
    fn reader_by_content(&self, read: NodeId, column: usize) -> Option<String> {
        self.readers[read].iter().find_map(|&reader| {
            let node = &self.nodes[reader];
            let inputs: Vec<&Output> = node.inputs.iter().map(|edge| &self.nodes[edge.node].output).collect();
            let shape = Shape { node, inputs };
            let edges = node.inputs.iter().enumerate().filter(|(_, edge)| edge.node == read);
            edges.into_iter().find_map(|(input, _)| match rules(&node.kind).use_of(&shape, input, column) {
                Use::Content(reader) => Some(reader),
                Use::Passed(columns) => columns.into_iter().find_map(|place| self.reader_by_content(reader, place)),
            })
        })
    }
}
