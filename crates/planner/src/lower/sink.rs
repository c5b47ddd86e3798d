//! Sinks: columns lined up with the table, keys compared, rows spread by key.

use super::builder::{Builder, Draft, Identity, Relation, columns, short_hash};
use super::query::{align, names};
use super::scan::table_name;
use super::{LowerContext, ResultSink, SinkQuery, SinkTarget, UpsertMaterialization, codes};
use crate::batch::PreparedBatch;
use crate::catalog::CatalogTable;
use crate::changelog::codes as own;
use crate::changelog::{self, Demand};
use crate::expression::{self, Tree};
use arrow::array::Array;
use base::connector::{Guarantee, SinkDescription, SinkInput};
use base::plan::{Distribution, Edge, Node, NodeId, NodeKind, NotNullEnforcer, Output, Sink, UpsertMaterialize};
use base::{Error, Field, Result, RowType};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The name of the sink of a SELECT.
pub const RESULT_NAME: &str = "result";

/// A sink before the changes that it gets are known.
pub struct SinkDraft {
    node: NodeId,
    target: Target,
}

enum Target {
    Table(Box<TableTarget>),
    Result(ResultSink),
}

struct TableTarget {
    table: Arc<CatalogTable>,
    description: SinkDescription,
    columns: RowType,
    primary_key: Vec<usize>,
    /// What the query computes, for advice.
    relation: Relation,
}

impl Builder<'_> {
    /// Drops nodes that lead to no sink: versions are read below the operator that keeps the last one.
    pub fn drop_unread(&mut self, sinks: &mut [SinkDraft]) {
        let mut is_read = vec![false; self.drafts.len()];
        sinks.iter().for_each(|sink| is_read[sink.node] = true);
        for node in (0..self.drafts.len()).rev().collect::<Vec<_>>() {
            if is_read[node] {
                self.drafts[node].node.inputs.iter().for_each(|edge| is_read[edge.node] = true);
            }
        }
        if is_read.iter().all(|read| *read) {
            return;
        }
        let mut places = vec![0; is_read.len()];
        for node in 1..places.len() {
            places[node] = places[node - 1] + usize::from(is_read[node - 1]);
        }
        let mut reads = is_read.iter();
        self.drafts.retain(|_| *reads.next().unwrap_or(&true));
        for draft in &mut self.drafts {
            draft.node.inputs.iter_mut().for_each(|edge| edge.node = places[edge.node]);
        }
        for sink in sinks {
            sink.node = places[sink.node];
            if let Target::Table(target) = &mut sink.target {
                target.relation.node = places[target.relation.node];
            }
        }
    }

    /// Lowers a query up to its sink.
    pub fn sink(&mut self, query: &SinkQuery) -> Result<SinkDraft> {
        let relation = self.lower(&query.logical)?;
        self.sink_of(relation, query)
    }

    /// The rows of a query that the batch engine runs, up to their sink.
    pub fn batch_sink(&mut self, query: &SinkQuery, prepared: &PreparedBatch) -> Result<SinkDraft> {
        let relation = self.batch_rows(prepared);
        self.sink_of(relation, query)
    }

    fn sink_of(&mut self, relation: Relation, query: &SinkQuery) -> Result<SinkDraft> {
        match &query.sink {
            SinkTarget::Result(sink) => {
                let trees = columns(&relation.fields);
                let relation = self.project(relation, trees, names(query.logical.schema()))?;
                Ok(SinkDraft { node: self.node(relation)?, target: Target::Result(sink.clone()) })
            }
            SinkTarget::Table(table) => self.table_sink(relation, table),
        }
    }

    /// The rows of a relation, up to the sink of a table.
    pub(super) fn table_sink(&mut self, relation: Relation, table: &Arc<CatalogTable>) -> Result<SinkDraft> {
        let name = table_name(&table.definition.path);
        let description = table.description.sink.clone().ok_or_else(|| {
            Error::new(&crate::codes::NOT_A_SINK, &[("table", &name), ("connector", &table.factory.name())])
        })?;
        let persisted = table.persisted();
        let given = relation.fields.len();
        if given != persisted.len() {
            return Err(Error::new(
                &codes::SINK_WIDTH,
                &[("table", &name), ("given", &given), ("wanted", &persisted.len())],
            ));
        }
        let wanted = table.row.project(&persisted);
        let mut trees = columns(&relation.fields);
        for (tree, field) in trees.iter_mut().zip(wanted.fields()) {
            align(tree, &field.sql_type);
        }
        let names: Vec<String> = wanted.fields().iter().map(|field| field.name.clone()).collect();
        let relation = self.project(relation, trees, names)?;
        self.check_nulls(&relation, table, &wanted)?;
        let primary_key = table
            .primary_key()
            .iter()
            .map(|key| persisted.iter().position(|column| column == key))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| Error::internal("a primary key column is not written"))?;
        let wanted: Vec<Field> = wanted.fields().iter().map(|field| Field { time: None, ..field.clone() }).collect();
        let node = self.node(relation.clone())?;
        let target = Target::Table(Box::new(TableTarget {
            table: table.clone(),
            description,
            columns: RowType::new(wanted),
            primary_key,
            relation,
        }));
        Ok(SinkDraft { node, target })
    }

    /// A column that must not be NULL and always is.
    fn check_nulls(&self, relation: &Relation, table: &CatalogTable, wanted: &RowType) -> Result<()> {
        if self.context.enforcer == NotNullEnforcer::Drop {
            return Ok(());
        }
        let mut errors = Vec::new();
        for (tree, field) in relation.projection.iter().zip(wanted.fields()) {
            if field.sql_type.nullable || !is_null(tree) {
                continue;
            }
            let constraint = match table.definition.primary_key.contains(&field.name) {
                true => "part of the PRIMARY KEY",
                false => "NOT NULL",
            };
            let example = if field.sql_type.logical.is_numeric() { "0" } else { "'unknown'" };
            errors.push(Error::new(
                &codes::NULL_COLUMN,
                &[
                    ("table", &table_name(&table.definition.path)),
                    ("column", &field.name),
                    ("constraint", &constraint),
                    ("example", &example),
                ],
            ));
        }
        Error::all(errors).map_or(Ok(()), Err)
    }

    /// What the sink asks of the changes that reach it.
    ///
    /// # Errors
    /// Changes that it cannot take.
    pub fn demand(&self, sink: &SinkDraft, warnings: &mut Vec<Error>) -> Result<Demand> {
        let node = sink.node;
        let Target::Table(target) = &sink.target else {
            return Ok(Demand { node, update_before: true, materialize: None });
        };
        let TableTarget { table, description, columns, primary_key, relation } = target.as_ref();
        let name = table_name(&table.definition.path);
        let mode = self.output(node).changelog;
        let appends = mode.is_append_only();
        match description.input {
            SinkInput::Any => return Ok(Demand { node, update_before: true, materialize: None }),
            SinkInput::Append if appends => return Ok(Demand { node, update_before: true, materialize: None }),
            SinkInput::Append => {
                let operator = changelog::updating_operator(&self.drafts, node);
                return Err(Error::new(
                    &own::APPEND_ONLY_SINK,
                    &[
                        ("table", &name),
                        ("operator", &operator),
                        ("changelog", &mode),
                        ("connector", &table.factory.name()),
                    ],
                ));
            }
            SinkInput::Upsert => {}
        }
        let keys = &self.output(node).upsert_keys;
        let column_list = |key: &[usize]| -> String {
            key.iter().map(|&column| columns.fields()[column].name.as_str()).collect::<Vec<_>>().join(", ")
        };
        if primary_key.is_empty() {
            let all: Vec<usize> = (0..columns.len()).take(1).collect();
            let columns = column_list(keys.first().filter(|key| !key.is_empty()).unwrap_or(&all));
            return Err(Error::new(
                &own::UPSERT_SINK_KEY,
                &[("table", &name), ("connector", &table.factory.name()), ("columns", &columns)],
            ));
        }
        if self.context.upsert_materialize == UpsertMaterialization::Force {
            return Ok(self.materialized(node, primary_key));
        }
        if appends || keys.iter().any(|key| same_set(key, primary_key)) {
            return Ok(Demand { node, update_before: false, materialize: None });
        }
        let sink_key = column_list(primary_key);
        let inner = inner_key(keys, primary_key);
        let updating = changelog::updating_node(&self.drafts, node).map(|node| &self.drafts[node].node.kind);
        match (inner, keys.first()) {
            // A row of the source that moves to another key is a row that moves: nobody expects it to stay.
            (Some(_), _) if !matches!(updating, Some(NodeKind::GroupAggregate(_))) => {}
            (Some(key), _) => {
                let query_key = if key.is_empty() { "()".to_string() } else { column_list(key) };
                let suggestion = format!("GROUP BY {}", self.grouping(relation, primary_key, key).join(", "));
                warnings.push(Error::new(
                    &own::WIDER_SINK_KEY,
                    &[
                        ("table", &name),
                        ("sink_key", &sink_key),
                        ("query_key", &query_key),
                        ("suggestion", &suggestion),
                    ],
                ));
            }
            (None, key) => {
                // A source without a key is nobody's mistake: EXPLAIN says what it costs.
                let is_told =
                    key.is_some() || !matches!(updating, Some(NodeKind::Scan(scan)) if !self.has_key(&scan.table));
                // Without a key a row is known by all of its columns.
                let all: Vec<usize> = (0..self.fields(node).len()).collect();
                let query_key = column_list(key.unwrap_or(&all));
                let values: &[(&str, &dyn std::fmt::Display)] =
                    &[("table", &name), ("sink_key", &sink_key), ("query_key", &query_key)];
                if self.context.upsert_materialize == UpsertMaterialization::Auto {
                    warnings.extend(is_told.then(|| Error::new(&own::MATERIALIZED_SINK, values)));
                    return Ok(self.materialized(node, primary_key));
                }
                warnings.extend(is_told.then(|| Error::new(&own::OTHER_QUERY_KEY, values)));
            }
        }
        Ok(Demand { node, update_before: true, materialize: None })
    }

    /// The demand of a sink that keeps all rows of a key.
    fn materialized(&self, node: NodeId, primary_key: &[usize]) -> Demand {
        let row_keys = self.output(node).upsert_keys.iter().min_by_key(|key| key.len()).cloned().unwrap_or_default();
        let materialize =
            UpsertMaterialize { keys: primary_key.to_vec(), row_keys, state_ttl: self.context.config.state_ttl };
        Demand { node, update_before: true, materialize: Some(materialize) }
    }

    /// Whether a table that is read has a primary key.
    fn has_key(&self, table: &str) -> bool {
        let mut definitions = self.reads.values().map(|reads| &reads.table.definition);
        definitions.any(|definition| table_name(&definition.path) == table && !definition.primary_key.is_empty())
    }

    /// The GROUP BY that would give one row per sink key.
    fn grouping(&self, relation: &Relation, primary_key: &[usize], query_key: &[usize]) -> Vec<String> {
        let node = &self.drafts[relation.node].node;
        let below: Vec<String> = match (&node.kind, node.inputs.first()) {
            (NodeKind::GroupAggregate(group), Some(edge)) => {
                let input = self.fields(edge.node);
                let name = |column: usize| input[column].name.clone();
                let calls = group.calls.iter().map(|call| match call.arguments.as_slice() {
                    [one] => name(*one),
                    _ => call.sql.clone(),
                });
                group.keys.iter().map(|&key| name(key)).chain(calls).collect()
            }
            _ => node.output.row.fields().iter().map(|field| field.name.clone()).collect(),
        };
        let text = |column: &usize| expression::sql(&relation.projection[*column], &below);
        let rest = primary_key.iter().filter(|column| !query_key.contains(column));
        query_key.iter().chain(rest).map(text).collect()
    }
}

/// The smallest key of the query that is part of the sink's.
fn inner_key<'k>(keys: &'k [Vec<usize>], primary_key: &[usize]) -> Option<&'k Vec<usize>> {
    keys.iter().filter(|key| key.iter().all(|column| primary_key.contains(column))).min_by_key(|key| key.len())
}

/// Whether a tree is NULL, whatever its type.
fn is_null(tree: &Tree) -> bool {
    match tree {
        Tree::Literal { value, .. } => value.len() == 1 && value.is_null(0),
        Tree::Cast { input, .. } => is_null(input),
        Tree::Call { function, arguments, .. } if function.name().starts_with("CAST") => {
            matches!(arguments.as_slice(), [input] if is_null(input))
        }
        _ => false,
    }
}

fn same_set(left: &[usize], right: &[usize]) -> bool {
    left.len() == right.len() && left.iter().all(|column| right.contains(column))
}

/// The tables that the rows of a node come from: those that can be read again, and those that cannot.
fn sources(node: NodeId, drafts: &[Draft]) -> (Vec<String>, Vec<String>) {
    let (mut replayable, mut unreplayable) = (BTreeSet::new(), BTreeSet::new());
    let (mut open, mut seen) = (vec![node], BTreeSet::new());
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        let node = &drafts[node].node;
        if let NodeKind::Scan(scan) = &node.kind {
            let tables = if scan.replayable { &mut replayable } else { &mut unreplayable };
            tables.insert(scan.table.clone());
        }
        open.extend(node.inputs.iter().map(|edge| edge.node));
    }
    (replayable.into_iter().collect(), unreplayable.into_iter().collect())
}

/// A warning for a sink that cannot keep its promise, because a source cannot be read again.
pub fn broken_promise(sink: &Sink) -> Option<Error> {
    let is_broken = sink.guarantee == Guarantee::ExactlyOnce && !sink.unreplayable.is_empty();
    let sources = sink.unreplayable.join(", ");
    let arguments: [(&'static str, &dyn std::fmt::Display); 2] = [("table", &sink.table), ("sources", &sources)];
    is_broken.then(|| Error::new(&codes::NOT_REPLAYABLE, &arguments))
}

/// The sink as a node behind `input`.
pub fn finish(sink: SinkDraft, input: NodeId, drafts: &[Draft], context: &LowerContext) -> Result<Draft> {
    let below = &drafts[input];
    let row = below.node.output.row.clone();
    let changelog = below.node.output.changelog;
    let (replayable, unreplayable) = sources(input, drafts);
    let (sink, distribution) = match sink.target {
        Target::Result(make) => {
            let sink = Sink {
                table: RESULT_NAME.into(),
                provider: make(&row, changelog),
                primary_key: Vec::new(),
                not_null: Vec::new(),
                enforcer: context.enforcer,
                guarantee: Guarantee::AtLeastOnce,
                guarantee_reason: "rows are shown as they come",
                idempotent: false,
                replayable,
                unreplayable,
                parallelism_max: Some(1),
            };
            (sink, Distribution::Single)
        }
        Target::Table(target) => {
            let TableTarget { table, description, columns, primary_key, .. } = *target;
            let not_null = columns
                .fields()
                .iter()
                .zip(row.fields())
                .enumerate()
                .filter(|(_, (wanted, given))| !wanted.sql_type.nullable && given.sql_type.nullable)
                .map(|(index, _)| index)
                .collect();
            let spread = below.spread.as_ref().is_some_and(|spread| spread.iter().all(|one| primary_key.contains(one)));
            // All changes of a row of the query stay together, in order, even if they move it to another sink key.
            let key = inner_key(&below.node.output.upsert_keys, &primary_key).filter(|key| !key.is_empty());
            let distribution = match primary_key.is_empty() || spread {
                true => Distribution::Forward,
                false => Distribution::Hash(key.unwrap_or(&primary_key).clone()),
            };
            let sink = Sink {
                table: table_name(&table.definition.path),
                provider: table.factory.sink(&table.definition, &columns, &context.connector)?,
                primary_key,
                not_null,
                enforcer: context.enforcer,
                guarantee: description.guarantee,
                guarantee_reason: description.guarantee_reason,
                idempotent: description.input == SinkInput::Upsert,
                replayable,
                unreplayable,
                parallelism_max: description.parallelism_max,
            };
            (sink, distribution)
        }
    };
    let identity = &below.identity;
    let digest = format!("Sink({}, [{}], input={})", sink.table, identity.columns.join(", "), identity.rows);
    let anchor = format!("sink-{}", sink.table);
    Ok(Draft {
        spread: None,
        identity: Identity { rows: short_hash(&digest), columns: identity.columns.clone(), anchor: anchor.clone() },
        node: Node {
            operator_id: anchor,
            digest,
            kind: NodeKind::Sink(sink),
            inputs: vec![Edge { node: input, distribution }],
            output: Output { row, changelog, upsert_keys: below.node.output.upsert_keys.clone() },
        },
    })
}
