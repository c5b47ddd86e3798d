//! Rows as often as a column says: the end of INTERSECT ALL and EXCEPT ALL.

use super::builder::{Builder, Draft, Identity, Relation, short_hash};
use crate::expression::from_datafusion;
use crate::nodes::replicate::ReplicateNode;
use base::plan::{Distribution, Edge, Node, NodeKind, Output, Replicate};
use base::{ChangelogMode, Result, RowType};

impl Builder<'_> {
    /// Every row as often as its count says.
    pub fn replicate(&mut self, node: &ReplicateNode) -> Result<Relation> {
        let input = self.lower(&node.input)?;
        let count = node.input.schema().index_of_column(&node.count).map_err(from_datafusion)?;
        let below = self.node(input)?;
        let mut fields = self.fields(below).to_vec();
        let identity = self.identity(below).clone();
        let text = format!("count=[{}]", identity.columns[count]);
        let mut identities = identity.columns;
        fields.remove(count);
        identities.remove(count);
        let anchor = format!("replicate-{}", short_hash(&format!("{text} {}", identity.anchor)));
        let digest = format!("Replicate({text}, input={})", identity.rows);
        // The columns behind the count move up.
        let moved = |column: usize| (column != count).then_some(if column < count { column } else { column - 1 });
        let spread = self.drafts[below].spread.as_ref();
        let draft = Draft {
            spread: spread.and_then(|spread| spread.iter().map(|&column| moved(column)).collect()),
            identity: Identity { rows: short_hash(&digest), columns: identities, anchor: anchor.clone() },
            node: Node {
                operator_id: anchor,
                digest,
                kind: NodeKind::Replicate(Replicate { count }),
                inputs: vec![Edge { node: below, distribution: Distribution::Forward }],
                output: Output { row: RowType::new(fields), changelog: ChangelogMode::APPEND, upsert_keys: Vec::new() },
            },
        };
        let node = self.push(draft, true);
        Ok(self.relation(node))
    }
}
