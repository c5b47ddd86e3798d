//! From optimised logical plans to the stream plan: one node per operator, expressions compiled, scans shared.
//!
//! A query becomes a [`builder::Relation`]: a node behind a filter and a projection that become an operator only where
//! one is needed. What only the whole plan can tell (row kinds, operator ids) is added by [`crate::changelog`].

mod aggregate;
mod batch;
pub mod builder;
pub mod codes;
mod expand;
pub mod join;
pub mod join_codes;
mod late;
pub mod lookup_join;
mod match_recognize;
mod over;
pub mod over_codes;
mod query;
mod rank;
pub mod rank_codes;
mod rank_range;
mod replicate;
pub mod scan;
pub mod sink;
mod snapshot_filter;
mod split_distinct;
mod temporal_join;
mod time_join;
mod two_phase;
mod unnest;
mod unsupported;
pub mod window_codes;
mod window_emit;
pub mod window_rank;

use crate::catalog::CatalogTable;
use crate::changelog;
use base::changelog::ChangelogMode;
use base::config::JobConfig;
use base::connector::{ConnectorContext, SinkProvider};
use base::function::FunctionContext;
use base::plan::{NodeKind, NotNullEnforcer, StreamPlan};
use base::types::RowType;
use base::{Error, Result};
use datafusion_expr::LogicalPlan;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Makes the sink of a SELECT once its columns and row kinds are known.
pub type ResultSink = Arc<dyn Fn(&RowType, ChangelogMode) -> Arc<dyn SinkProvider> + Send + Sync>;

/// Where the rows of a query go.
#[derive(Clone)]
pub enum SinkTarget {
    /// Into a table.
    Table(Arc<CatalogTable>),
    /// To whoever asked.
    Result(ResultSink),
}

/// One query of a job and its sink.
#[derive(Clone)]
pub struct SinkQuery {
    /// The optimised query. For a table its columns are the persisted columns of the table, in order and cast.
    pub logical: LogicalPlan,
    /// Where the rows go.
    pub sink: SinkTarget,
}

/// `table.exec.sink.upsert-materialize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpsertMaterialization {
    /// All rows of a sink key are kept where the key of the query is no part of it.
    Auto,
    /// Never.
    Never,
    /// Always.
    Force,
}

/// `table.optimizer.agg-phase-strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregatePhases {
    /// Two where the first one is cheap and there is more than one instance.
    Auto,
    /// Always one.
    One,
    /// Two where the result is the same.
    Two,
}

/// What lowering needs to know besides the queries.
#[derive(Debug, Clone)]
pub struct LowerContext {
    /// The job's configuration.
    pub config: JobConfig,
    /// For calls of connectors.
    pub connector: ConnectorContext,
    /// For casts.
    pub functions: FunctionContext,
    /// `table.exec.sink.not-null-enforcer`.
    pub enforcer: NotNullEnforcer,
    /// Whether `table.optimizer.non-deterministic-update.strategy` is TRY_RESOLVE: what would be a warning is an error.
    pub strict_updates: bool,
    /// Whether change data may come twice.
    pub cdc_duplicates: bool,
    /// When all rows of a sink key are kept.
    pub upsert_materialize: UpsertMaterialization,
    /// Whether batches are aggregated before rows are spread by key.
    pub phases: AggregatePhases,
    /// The parts in which distinct values of a group are counted first; `None`: they are not.
    pub distinct_parts: Option<u32>,
}

/// The stream plan of a job, and warnings.
///
/// # Errors
/// Features that are not built yet, and queries that their sinks cannot take.
pub fn plan(queries: Vec<SinkQuery>, context: &LowerContext) -> Result<(StreamPlan, Vec<Error>)> {
    let mut reads = BTreeMap::new();
    for query in &queries {
        scan::collect(&query.logical, &mut reads)?;
    }
    let mut builder = builder::Builder::new(context, reads);
    let mut sinks = Vec::with_capacity(queries.len());
    for query in &queries {
        sinks.push(builder.sink(query)?);
    }
    sinks.append(&mut builder.late_sinks()?);
    builder.warn_of_hints();
    builder.drop_unread(&mut sinks);
    finish(builder, sinks, context)
}

/// The plan behind the sinks' inputs.
fn finish(
    mut builder: builder::Builder<'_>,
    sinks: Vec<sink::SinkDraft>,
    context: &LowerContext,
) -> Result<(StreamPlan, Vec<Error>)> {
    let mut warnings = std::mem::take(&mut builder.warnings);
    let mut demands = Vec::with_capacity(sinks.len());
    for sink in &sinks {
        demands.push(builder.demand(sink, &mut warnings)?);
    }
    let mut drafts = std::mem::take(&mut builder.drafts);
    let ends = changelog::infer(&mut drafts, &demands);
    let ends = two_phase::split(&mut drafts, ends, context)?;
    for ((sink, mut end), demand) in sinks.into_iter().zip(ends).zip(demands) {
        if let Some(materialize) = demand.materialize {
            end = changelog::materialize(&mut drafts, end, materialize);
        }
        drafts.push(sink::finish(sink, end, &drafts, context)?);
    }
    let nodes = changelog::identify(drafts);
    let sinks = nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Sink(sink) => Some(sink),
        _ => None,
    });
    warnings.extend(sinks.filter_map(sink::broken_promise));
    let unstable = changelog::determinism::check(&nodes);
    if !context.strict_updates {
        warnings.extend(unstable);
    } else if let Some(error) = Error::all(unstable) {
        return Err(error);
    }
    Ok((StreamPlan { nodes, config: context.config.clone() }, warnings))
}

pub use batch::plan_batch;
pub use rank::order_text;

#[cfg(test)]
pub mod fixtures;
#[cfg(test)]
mod join_tests;
#[cfg(test)]
mod rank_tests;
#[cfg(test)]
mod sets_tests;
#[cfg(test)]
mod sql_tests;
#[cfg(test)]
mod state_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod time_join_tests;
#[cfg(test)]
mod window_tests;
