//! Batch jobs: the result of every query, run by the batch engine, is a bounded source before its sink.

use super::builder::{Builder, Draft, Identity, Relation, short_hash};
use super::scan::table_name;
use super::sink::RESULT_NAME;
use super::{LowerContext, SinkQuery, SinkTarget, finish};
use crate::batch::{self, BatchEngine, PreparedBatch};
use base::connector::SinkInput;
use base::plan::{Node, NodeKind, Output, Scan, StreamPlan};
use base::{ChangelogMode, Error, Result};
use std::collections::BTreeMap;

/// The plan of a batch job, its queries in the order of their sinks, and warnings.
///
/// # Errors
/// Tables that never end, and what batch mode cannot run.
pub fn plan_batch(
    queries: &[SinkQuery],
    context: &LowerContext,
    engine: &dyn BatchEngine,
) -> Result<(StreamPlan, Vec<PreparedBatch>, Vec<Error>)> {
    // There is one writer, and what it writes counts when all of it is there.
    let mut context = context.clone();
    context.config.parallelism = Some(1);
    context.config.checkpoint_interval = None;
    let context = &context;
    let mut builder = Builder::new(context, BTreeMap::new());
    let mut sinks = Vec::with_capacity(queries.len());
    let mut prepared = Vec::with_capacity(queries.len());
    for query in queries {
        let one = engine.prepare(batch::query(&query.logical, sink(&query.sink), context)?)?;
        sinks.push(builder.batch_sink(query, &one)?);
        prepared.push(one);
    }
    let (plan, warnings) = finish(builder, sinks, context)?;
    Ok((plan, prepared, warnings))
}

/// The name of a sink, and the columns of its query by which it keeps the last row.
fn sink(sink: &SinkTarget) -> (String, Vec<usize>) {
    let SinkTarget::Table(table) = sink else { return (RESULT_NAME.into(), Vec::new()) };
    let name = table_name(&table.definition.path);
    let upserts = table.description.sink.as_ref().is_some_and(|sink| sink.input == SinkInput::Upsert);
    if !upserts {
        return (name, Vec::new());
    }
    let persisted = table.persisted();
    let place = |key: &usize| persisted.iter().position(|column| column == key);
    (name, table.primary_key().iter().filter_map(place).collect())
}

impl Builder<'_> {
    /// The result of a query as the rows of a source.
    pub fn batch_rows(&mut self, prepared: &PreparedBatch) -> Relation {
        let row = prepared.query.row.clone();
        let rows = short_hash(&format!("{} {}", self.drafts.len(), prepared.plan));
        let columns = row.fields().iter().map(|field| field.name.clone()).collect();
        let anchor = format!("batch-{rows}");
        let tables: Vec<&str> = prepared.query.tables.iter().map(|table| table.name.as_str()).collect();
        let draft = Draft {
            // One instance has all rows, in the order of the query: they go to one writer.
            spread: Some(Vec::new()),
            identity: Identity { rows: rows.clone(), columns, anchor: anchor.clone() },
            node: Node {
                operator_id: anchor,
                digest: format!("Batch({rows})"),
                kind: NodeKind::Scan(Scan {
                    table: format!("batch({})", tables.join(", ")),
                    provider: prepared.source.clone(),
                    read: row.clone(),
                    projection: None,
                    watermark: None,
                    bounded: true,
                    // A failure is the end of a batch job: nothing is read twice.
                    replayable: true,
                    parallelism_max: Some(1),
                    idle_timeout: None,
                    alignment: None,
                }),
                inputs: Vec::new(),
                output: Output { row, changelog: ChangelogMode::APPEND, upsert_keys: Vec::new() },
            },
        };
        let node = self.push(draft, false);
        self.relation(node)
    }
}
