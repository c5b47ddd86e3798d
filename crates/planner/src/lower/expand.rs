//! Grouping sets.

use super::builder::{Builder, Draft, Identity, Relation, short_hash};
use crate::expression::from_datafusion;
use crate::nodes::expand::ExpandNode;
use base::plan::{Distribution, Edge, Expand, Node, NodeKind, Output};
use base::{ChangelogMode, Error, Field, Result, RowType};

impl Builder<'_> {
    /// Every row once per grouping set.
    ///
    /// # Errors
    /// Grouping sets over a window, which would have to be complete before it is given.
    pub fn expand(&mut self, node: &ExpandNode) -> Result<Relation> {
        use datafusion_expr::UserDefinedLogicalNodeCore;
        let input = self.lower(&node.input)?;
        if input.window.is_some() {
            return Err(Error::unsupported("GROUPING SETS, CUBE and ROLLUP over a window table function"));
        }
        let schema = node.input.schema();
        let place = |column| schema.index_of_column(column).map_err(from_datafusion);
        let columns = node.columns.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let sets: Vec<(Vec<usize>, i64)> = node
            .sets
            .iter()
            .map(|set| (set.kept.iter().map(|&position| columns[position]).collect(), set.id))
            .collect();
        let below = self.node(input)?;
        let output = self.output(below).clone();
        let changed: Vec<usize> =
            columns.iter().copied().filter(|column| !sets.iter().all(|(kept, _)| kept.contains(column))).collect();
        let mut fields: Vec<Field> = output.row.fields().to_vec();
        for &column in &changed {
            fields[column].sql_type.nullable = true;
            fields[column].time = None;
        }
        let set_field = node.schema().field(node.schema().fields().len() - 1);
        fields.push(Field::from_arrow(set_field)?);
        let identity = self.identity(below).clone();
        let sets_text: Vec<String> = sets
            .iter()
            .map(|(kept, id)| {
                let names: Vec<&str> = kept.iter().map(|&column| identity.columns[column].as_str()).collect();
                format!("({}) {id}", names.join(", "))
            })
            .collect();
        let names: Vec<&str> = columns.iter().map(|&column| identity.columns[column].as_str()).collect();
        let text = format!("columns=[{}], sets=[{}]", names.join(", "), sets_text.join(", "));
        let hash = short_hash(&text);
        let mut identities = identity.columns.clone();
        for &column in &changed {
            identities[column] = format!("{} in {hash}", identities[column]);
        }
        identities.push(format!("set in {hash}"));
        let keeps = |key: &&Vec<usize>| !key.iter().any(|column| changed.contains(column));
        let set_column = fields.len() - 1;
        let upsert_keys =
            output.upsert_keys.iter().filter(keeps).map(|key| key.iter().copied().chain([set_column]).collect());
        let spread = self.drafts[below].spread.clone();
        let anchor = format!("expand-{}", short_hash(&format!("{text} {}", identity.anchor)));
        let digest = format!("Expand({text}, input={})", identity.rows);
        let draft = Draft {
            spread: spread.filter(|spread| !spread.iter().any(|column| changed.contains(column))),
            identity: Identity { rows: short_hash(&digest), columns: identities, anchor: anchor.clone() },
            node: Node {
                operator_id: anchor,
                digest,
                inputs: vec![Edge { node: below, distribution: Distribution::Forward }],
                output: Output {
                    upsert_keys: upsert_keys.collect(),
                    row: RowType::new(fields),
                    changelog: ChangelogMode::APPEND,
                },
                kind: NodeKind::Expand(Expand { columns, sets }),
            },
        };
        let node = self.push(draft, true);
        Ok(self.relation(node))
    }
}
