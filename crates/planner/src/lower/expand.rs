//! Grouping sets.

use super::builder::{Builder, Draft, Identity, PendingWindow, Relation, columns, short_hash};
use crate::expression::{Tree, from_datafusion};
use crate::nodes::expand::{ExpandNode, SET_COLUMN};
use base::plan::{Distribution, Edge, Expand, Node, NodeId, NodeKind, Output, WindowKind};
use base::{ChangelogMode, Error, Field, LogicalType, Result, RowType};

impl Builder<'_> {
    /// Every row once per grouping set.
    ///
    /// # Errors
    /// Grouping sets over a session.
    pub fn expand(&mut self, node: &ExpandNode) -> Result<Relation> {
        let mut input = self.lower(&node.input)?;
        let schema = node.input.schema();
        let place = |column| schema.index_of_column(column).map_err(from_datafusion);
        let columns = node.columns.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let kept = |kept: &[usize]| kept.iter().map(|&position| columns[position]).collect();
        let sets = node.sets.iter().map(|set| (kept(&set.kept), set.id)).collect();
        let expand = Expand { columns: columns.clone(), sets };
        let width = self.fields(input.node).len();
        let left_out = changed(&expand);
        // An aggregate that does not name the window in every set updates its results, as one without the window does.
        let of_window = |column: &usize| input.projection[*column].columns().iter().any(|&one| one >= width);
        if !left_out.iter().any(of_window)
            && let Some(window) = input.window.take()
        {
            return self.expand_below(input, window, &expand);
        }
        let below = self.node(input)?;
        let expanded = self.expand_node(below, expand);
        Ok(self.relation(expanded))
    }

    /// Grouping sets over a window table function: rows are expanded below the window, which an aggregate can then take in.
    fn expand_below(&mut self, input: Relation, mut window: PendingWindow, expand: &Expand) -> Result<Relation> {
        if let Some(late) = &window.late {
            return Err(late.refused_of("GROUPING SETS, CUBE and ROLLUP"));
        }
        let width = self.fields(input.node).len();
        let of_window = |tree: &Tree| tree.columns().iter().any(|&column| column >= width);
        let only_window = |tree: &Tree| tree.columns().iter().all(|&column| column >= width);
        let (above, below): (Vec<Tree>, Vec<Tree>) = input.conditions.into_iter().partition(|tree| of_window(tree));
        let mixes = |tree: &&Tree| of_window(tree) && !only_window(tree);
        let is_session = matches!(window.window.kind, WindowKind::Session { .. });
        if is_session || above.iter().chain(&input.projection).find(mixes).is_some() {
            return Err(Error::unsupported(
                "GROUPING SETS, CUBE and ROLLUP over a session, or over an expression of window columns and others",
            ));
        }
        // The columns that are no window's, then the time that cuts the windows.
        let rows: Vec<usize> =
            (0..input.projection.len()).filter(|&index| !of_window(&input.projection[index])).collect();
        let mut projection: Vec<Tree> = rows.iter().map(|&index| input.projection[index].clone()).collect();
        let mut fields: Vec<Field> = rows.iter().map(|&index| input.fields[index].clone()).collect();
        let time = &self.fields(input.node)[window.window.time_column];
        projection.push(Tree::Column { index: window.window.time_column, sql_type: time.sql_type.clone() });
        fields.push(time.clone());
        let relation = Relation { node: input.node, window: None, rank: None, conditions: below, projection, fields };
        let below = self.node(relation)?;
        let moved = |column: &usize| rows.iter().position(|row| row == column);
        let sets = expand.sets.iter().map(|(kept, id)| (kept.iter().filter_map(moved).collect(), *id)).collect();
        let expanded =
            self.expand_node(below, Expand { columns: expand.columns.iter().filter_map(moved).collect(), sets });
        window.window.time_column = rows.len();
        let all = columns(self.fields(expanded));
        let mut to_window = |leaf: &Tree| match leaf {
            Tree::Column { index, sql_type } if *index >= width => {
                Some(Tree::Column { index: index - width + all.len(), sql_type: sql_type.clone() })
            }
            _ => None,
        };
        let mut projection = Vec::with_capacity(input.projection.len() + 1);
        let mut fields = Vec::with_capacity(projection.capacity());
        for (index, tree) in input.projection.iter().enumerate() {
            match moved(&index) {
                Some(column) => {
                    projection.push(all[column].clone());
                    fields.push(self.fields(expanded)[column].clone());
                }
                None => {
                    projection.push(tree.replace(&mut to_window));
                    fields.push(input.fields[index].clone());
                }
            }
        }
        projection.push(all[all.len() - 1].clone());
        fields.push(self.fields(expanded)[all.len() - 1].clone());
        let conditions = above.iter().map(|tree| tree.replace(&mut to_window)).collect();
        Ok(Relation { node: expanded, window: Some(window), rank: None, conditions, projection, fields })
    }

    fn expand_node(&mut self, below: NodeId, expand: Expand) -> NodeId {
        let output = self.output(below).clone();
        let changed = changed(&expand);
        let mut fields: Vec<Field> = output.row.fields().to_vec();
        for &column in &changed {
            fields[column].sql_type.nullable = true;
            fields[column].time = None;
        }
        let set_column = fields.len();
        fields.push(Field::new(SET_COLUMN, LogicalType::BigInt.not_null()));
        let identity = self.identity(below).clone();
        let names = |columns: &[usize]| {
            columns.iter().map(|&column| identity.columns[column].as_str()).collect::<Vec<_>>().join(", ")
        };
        let sets: Vec<String> = expand.sets.iter().map(|(kept, id)| format!("({}) {id}", names(kept))).collect();
        let text = format!("columns=[{}], sets=[{}]", names(&expand.columns), sets.join(", "));
        let hash = short_hash(&text);
        let mut identities = identity.columns.clone();
        for &column in &changed {
            identities[column] = format!("{} in {hash}", identities[column]);
        }
        identities.push(format!("set in {hash}"));
        let keeps = |columns: &[usize]| !columns.iter().any(|column| changed.contains(column));
        let keys = output.upsert_keys.iter().filter(|key| keeps(key));
        let upsert_keys = keys.map(|key| key.iter().copied().chain([set_column]).collect()).collect();
        let anchor = format!("expand-{}", short_hash(&format!("{text} {}", identity.anchor)));
        let digest = format!("Expand({text}, input={})", identity.rows);
        let draft = Draft {
            spread: self.drafts[below].spread.clone().filter(|spread| keeps(spread)),
            identity: Identity { rows: short_hash(&digest), columns: identities, anchor: anchor.clone() },
            node: Node {
                operator_id: anchor,
                digest,
                inputs: vec![Edge { node: below, distribution: Distribution::Forward }],
                output: Output { row: RowType::new(fields), changelog: ChangelogMode::APPEND, upsert_keys },
                kind: NodeKind::Expand(expand),
            },
        };
        self.push(draft, true)
    }
}

/// The columns that some set leaves out.
fn changed(expand: &Expand) -> Vec<usize> {
    let is_changed = |column: &usize| !expand.sets.iter().all(|(kept, _)| kept.contains(column));
    expand.columns.iter().copied().filter(is_changed).collect()
}
