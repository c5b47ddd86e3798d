//! FOR SYSTEM_TIME AS OF a rowtime, or of now where the table cannot be asked: which rows of the right side are versions of
//! what, and the key that tells.

use super::builder::{Builder, Relation};
use super::join::{self, JoinForm, Parts};
use super::join_codes as codes;
use super::time_join::Versions;
use crate::expression::Tree;
use crate::nodes::temporal::TemporalJoinNode;
use crate::table_source::catalog_table;
use base::plan::{JoinKind, Keep, NodeKind};
use base::types::TimeAttribute;
use base::{Error, Field, Result, SqlType};
use datafusion_expr::LogicalPlan;

/// The column that says whether a version passes the filters of the right side.
const VALID: &str = "$valid";

/// The rows of the right side, before anything made them the last ones.
struct VersionRows {
    relation: Relation,
    /// Keys over the columns of its node.
    keys: Vec<Vec<usize>>,
    /// The column of its node that says since when a row is valid.
    rowtime: Option<usize>,
}

impl Builder<'_> {
    /// Every left row with the right rows of its time.
    ///
    /// # Errors
    /// Sides without times or keys, and what cannot be asked for.
    pub fn temporal_join(&mut self, node: &TemporalJoinNode) -> Result<Relation> {
        let mut left = self.lower(&node.left)?;
        self.settle_window(&mut left)?;
        let time = self.compile_one(&left, node.left.schema(), &node.time)?;
        let is_now = match time.as_column() {
            // A column of a query may be computed as PROCTIME().
            Some(column) => {
                left.fields[column].time == Some(TimeAttribute::Proctime)
                    || !left.projection[column].hidden().is_empty()
            }
            None => !time.hidden().is_empty(),
        };
        if is_now && self.can_be_asked(&node.right) || self.is_only_asked(&node.right) {
            return self.join_now(node, left);
        }
        let left_time = time.as_column().filter(|&column| left.fields[column].time == Some(TimeAttribute::Rowtime));
        if is_now && !self.output(left.node).changelog.is_append_only() {
            let operator = crate::changelog::updating_operator(&self.drafts, left.node);
            return Err(Error::new(&codes::NOW_CHANGES, &[("operator", &operator)]));
        }
        if !is_now && left_time.is_none() {
            return Err(Error::new(&codes::VERSIONS_TIME, &[("side", &"left")]));
        }
        let right = self.lower(&node.right)?;
        let VersionRows { mut relation, keys, rowtime } = self.version_rows(right, is_now)?;
        if keys.is_empty() {
            // A key that the condition does not read is no column of the plan any more.
            let declared = declared_key(&node.right);
            return Err(if declared.is_empty() { Error::new(&codes::VERSIONS_KEY, &[]) } else { lacks_key(&declared) });
        }
        let columns_of = |relation: &Relation, column: usize| {
            relation.projection.iter().position(|tree| tree.as_column() == Some(column))
        };
        let by_attribute = relation.fields.iter().position(|field| field.time == Some(TimeAttribute::Rowtime));
        let right_time = rowtime.and_then(|column| columns_of(&relation, column)).or(by_attribute);
        let times = match (is_now, left_time, right_time) {
            (true, ..) => None,
            (false, Some(left), Some(right)) => Some([left, right]),
            (false, ..) => return Err(Error::new(&codes::VERSIONS_TIME, &[("side", &"right")])),
        };
        let visible = relation.fields.len();
        let width = left.fields.len();
        let condition = self.temporal_condition(node, &left, &relation)?;
        let mut parts = join::take_apart(condition, width);
        let names: Vec<String> = keys.first().map_or_else(Vec::new, |key| {
            key.iter().map(|&column| self.fields(relation.node)[column].name.clone()).collect()
        });
        let keys: Vec<Vec<usize>> =
            keys.iter().filter_map(|key| key.iter().map(|&column| columns_of(&relation, column)).collect()).collect();
        self.keep_version_keys(&mut parts, &keys, &names, width)?;
        // What is asked of versions must not decide which ones there are.
        parts
            .rest
            .extend(std::mem::take(&mut parts.right).iter().map(|tree| join::shift(tree, |column| column + width)));
        let conditions = std::mem::take(&mut relation.conditions);
        if !conditions.is_empty() {
            let valid = Tree::and(conditions);
            let sql_type = valid.sql_type();
            parts.rest.push(Tree::Column { index: width + visible, sql_type: sql_type.clone() });
            relation.projection.push(valid);
            relation.fields.push(Field::new(VALID.to_string(), sql_type));
        }
        let kind = if node.is_outer { JoinKind::Left } else { JoinKind::Inner };
        join::push_down(kind, &mut parts, width);
        for tree in std::mem::take(&mut parts.left) {
            left = self.filter(left, &tree);
        }
        let form = JoinForm::Temporal(Versions { times, state_ttl: self.context.config.state_ttl });
        let mut joined = self.join_relations(kind, left, relation, parts, form)?;
        joined.projection.truncate(width + visible);
        joined.fields.truncate(width + visible);
        Ok(joined)
    }

    /// The condition over the columns of both sides, its parts.
    pub fn temporal_condition(&self, node: &TemporalJoinNode, left: &Relation, right: &Relation) -> Result<Vec<Tree>> {
        let schema = node.left.schema().join(node.right.schema()).map_err(crate::expression::from_datafusion)?;
        let types: Vec<SqlType> = left.fields.iter().chain(&right.fields).map(|field| field.sql_type.clone()).collect();
        let parts = match self.compile_over(&schema, &types, &node.condition)? {
            Tree::And(all) => all,
            one => vec![one],
        };
        Ok(parts.into_iter().filter(|tree| !super::query::is_true(tree)).collect())
    }

    /// Versions are all rows of a key, not the last ones: what would forget earlier ones is left out.
    /// The last row by time is not the last one to come: where it is now that counts, that stays an operator.
    fn version_rows(&mut self, mut relation: Relation, is_now: bool) -> Result<VersionRows> {
        self.settle_window(&mut relation)?;
        self.settle_rank(&mut relation)?;
        let draft = &self.drafts[relation.node].node;
        let below = draft.inputs.first().map(|edge| edge.node);
        let (keys, rowtime) = match (&draft.kind, below) {
            (NodeKind::Deduplicate(rows), Some(below))
                if rows.keep == Keep::Last && rows.rowtime.is_some() && !is_now =>
            {
                let found = (vec![rows.keys.clone()], rows.rowtime);
                relation.node = below;
                found
            }
            (NodeKind::ChangelogNormalize(rows), Some(below)) if rows.condition.is_none() => {
                let found = (vec![rows.keys.clone()], None);
                relation.node = below;
                found
            }
            _ => (draft.output.upsert_keys.clone(), None),
        };
        Ok(VersionRows { relation, keys, rowtime })
    }

    /// Leaves the equalities of one key among the keys of the join; the others are conditions like any other.
    fn keep_version_keys(&self, parts: &mut Parts, keys: &[Vec<usize>], names: &[String], width: usize) -> Result<()> {
        let column = |tree: &Tree| super::builder::key_column(tree);
        let is_compared =
            |wanted: &usize| parts.keys.iter().any(|key| !key.null_safe && column(&key.right) == Some(*wanted));
        let Some(key) = keys.iter().find(|key| key.iter().all(is_compared)) else {
            return Err(lacks_key(names));
        };
        let mut kept: Vec<usize> = Vec::new();
        for equality in std::mem::take(&mut parts.keys) {
            match column(&equality.right) {
                Some(place) if key.contains(&place) && !kept.contains(&place) && !equality.null_safe => {
                    kept.push(place);
                    parts.keys.push(equality);
                }
                _ => {
                    let right = join::shift(&equality.right, |column| column + width);
                    parts.rest.push(join::equality(equality.left, right, equality.null_safe)?);
                }
            }
        }
        Ok(())
    }
}

fn lacks_key(names: &[String]) -> Error {
    let example: Vec<String> = names.iter().map(|name| format!("table.{name} = ...")).collect();
    Error::new(&codes::VERSIONS_CONDITION, &[("keys", &names.join(", ")), ("example", &example.join(" AND "))])
}

/// The primary key of the table that a plan reads, if it reads no more.
fn declared_key(plan: &LogicalPlan) -> Vec<String> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            catalog_table(scan.source.as_ref()).map_or_else(Vec::new, |table| table.definition.primary_key.clone())
        }
        LogicalPlan::SubqueryAlias(alias) => declared_key(&alias.input),
        LogicalPlan::Projection(projection) => declared_key(&projection.input),
        LogicalPlan::Filter(filter) => declared_key(&filter.input),
        _ => Vec::new(),
    }
}
