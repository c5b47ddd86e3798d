//! UNNEST.

use super::builder::{Builder, Draft, Identity, Relation, column_identity, columns, short_hash};
use crate::expression::{self, Tree};
use crate::nodes::unnest::UnnestNode;
use base::plan::{Distribution, Edge, Node, NodeId, NodeKind, Output, Unnest, UnnestKind};
use base::{ChangelogMode, Error, Field, LogicalType, Result, RowType};
use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_expr::Expr;

/// The column of a collection that is computed for UNNEST.
const COLLECTION: &str = "$collection";

impl Builder<'_> {
    /// Every row once per element of a collection.
    ///
    /// # Errors
    /// A collection of an outer query.
    pub fn unnest(&mut self, node: &UnnestNode) -> Result<Relation> {
        use datafusion_expr::UserDefinedLogicalNodeCore;
        if is_of_outer_query(&node.collection) {
            return Err(Error::unsupported("UNNEST of a column of an outer query in a subquery"));
        }
        let mut input = self.lower(&node.input)?;
        self.settle_window(&mut input)?;
        let collection = self.compile_one(&input, node.input.schema(), &node.collection)?;
        let width = input.fields.len();
        let place = match collection.as_column() {
            Some(place) => place,
            None => {
                let mut trees = columns(&input.fields);
                let mut names: Vec<String> = input.fields.iter().map(|field| field.name.clone()).collect();
                trees.push(collection);
                names.push(COLLECTION.into());
                input = self.project(input, trees, names)?;
                width
            }
        };
        let below = self.node(input)?;
        let elements = node.elements.iter().map(|(_, field)| Field::from_arrow(field)).collect::<Result<Vec<_>>>()?;
        let unnested = self.unnest_node(below, place, node, elements.clone())?;
        // The collection that was computed is no column of the result.
        let all = columns(self.fields(unnested));
        let first = all.len() - elements.len();
        let order: Vec<usize> = (0..width).chain(first..all.len()).collect();
        let mut relation = self.relation(unnested);
        relation.projection = order.iter().map(|&index| all[index].clone()).collect();
        relation.fields = order.iter().map(|&index| relation.fields[index].clone()).collect();
        debug_assert_eq!(relation.fields.len(), node.schema().fields().len());
        Ok(relation)
    }

    fn unnest_node(&mut self, below: NodeId, place: usize, node: &UnnestNode, elements: Vec<Field>) -> Result<NodeId> {
        use datafusion_expr::UserDefinedLogicalNodeCore;
        let output = self.output(below).clone();
        let kind = match &output.row.fields()[place].sql_type.logical {
            LogicalType::Array(_) => UnnestKind::Array,
            LogicalType::Map(..) => UnnestKind::Map,
            LogicalType::Multiset(_) => UnnestKind::Multiset,
            other => return Err(Error::new(&crate::codes::UNNEST_TYPE, &[("type", other)])),
        };
        let mut fields = output.row.fields().to_vec();
        let width = fields.len();
        fields.extend(elements);
        let identity = self.identity(below).clone();
        let ordinality = if node.with_ordinality { " with ordinality" } else { "" };
        let mut text = format!("{}{ordinality}", identity.columns[place]);
        let mut identities = identity.columns.clone();
        for field in &fields[width..] {
            identities.push(column_identity(format!("{} of {text}", field.name)));
        }
        if node.outer {
            text.push_str(" outer");
        }
        let condition = match &node.condition {
            None => None,
            Some(condition) => Some(self.pair_condition(node, condition, &fields, &identities, width)?),
        };
        if let Some(condition) = &condition {
            text.push_str(&format!(" on {}", condition.digest()));
        }
        // What tells the elements of a row apart; a padded row has NULL there.
        let telling = match kind {
            _ if node.outer => None,
            _ if node.with_ordinality => Some(fields.len() - 1),
            UnnestKind::Map => Some(width),
            UnnestKind::Array | UnnestKind::Multiset => None,
        };
        let upsert_keys = telling.into_iter().flat_map(|telling| {
            output.upsert_keys.iter().map(move |key| key.iter().copied().chain([telling]).collect())
        });
        let anchor = format!("unnest-{}", short_hash(&format!("{text} {}", identity.anchor)));
        let digest = format!("Unnest({text}, input={})", identity.rows);
        let draft = Draft {
            spread: self.drafts[below].spread.clone(),
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
                kind: NodeKind::Unnest(Unnest {
                    column: place,
                    kind,
                    with_ordinality: node.with_ordinality,
                    outer: node.outer,
                    condition,
                }),
            },
        };
        debug_assert!(node.schema().fields().len() <= draft.node.output.row.len());
        Ok(self.push(draft, true))
    }

    /// The condition of a LEFT JOIN over the columns of the operator's output, which may have the computed collection between.
    fn pair_condition(
        &self,
        node: &UnnestNode,
        condition: &Expr,
        fields: &[Field],
        identities: &[String],
        width: usize,
    ) -> Result<std::sync::Arc<dyn base::Expression>> {
        use datafusion_expr::UserDefinedLogicalNodeCore;
        let schema = node.schema();
        let inputs = schema.fields().len() - node.elements.len();
        let visible: Vec<Field> = fields[..inputs].iter().chain(&fields[width..]).cloned().collect();
        let tree = expression::Compiler {
            schema,
            types: &visible.iter().map(|field| field.sql_type.clone()).collect::<Vec<_>>(),
            random_calls: &self.random_calls,
        }
        .compile(condition)?;
        let tree = tree.replace(&mut |leaf| match leaf {
            Tree::Column { index, sql_type } if *index >= inputs => {
                Some(Tree::Column { index: index - inputs + width, sql_type: sql_type.clone() })
            }
            _ => None,
        });
        let calc = self.compile_calc(&[tree], &[], fields, identities);
        match calc.condition {
            Some(condition) if calc.hidden.is_empty() => Ok(condition),
            _ => Err(Error::unsupported("functions of time or chance in the condition of LEFT JOIN UNNEST")),
        }
    }
}

fn is_of_outer_query(expr: &Expr) -> bool {
    let mut found = false;
    let visited = expr.apply(|part| {
        found |= matches!(part, Expr::OuterReferenceColumn(..));
        Ok(TreeNodeRecursion::Continue)
    });
    found || visited.is_err()
}
