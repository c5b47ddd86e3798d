//! Queries, INSERT, statement sets and EXPLAIN: from statements to planned jobs.

use super::{definitions, insert, late_table, refused};
use crate::batch::{BatchEngine, all_bounded};
use crate::binder::positions::{Positions, locate};
use crate::binder::{self, Binder};
use crate::codes;
use crate::lower::join::STATE_TTL as STATE_TTL_HINT;
use crate::lower::lookup_join::LOOKUP;
use crate::lower::{self, AggregatePhases, LowerContext, ResultSink, SinkQuery, SinkTarget, UpsertMaterialization};
use crate::session::{JobKind, Outcome, PlannedJob, Session};
use base::config::{
    AGGREGATE_PHASES, CDC_EVENTS_DUPLICATE, NON_DETERMINISTIC_UPDATES, NOT_NULL_ENFORCER, PlanHint, RUNTIME_MODE,
    SPLIT_DISTINCT, SPLIT_DISTINCT_BUCKETS, UPSERT_MATERIALIZE,
};
use base::plan::{NodeKind, NotNullEnforcer, StreamPlan};
use base::{Error, Field, Result, RowType};
use datafusion_expr::LogicalPlan;
use std::sync::Arc;
use syntax::Statement;
use syntax::ast::{Query, Spanned};
use syntax::statement::{Explain, Insert, OnConflict};

/// Plans the job of a query, an INSERT or a statement set.
pub fn plan(
    session: &Session,
    statement: &Statement,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<PlannedJob> {
    let binder = Binder::new(&session.catalogs, session.function_context()?, Some(positions))
        .with_connector(session.connector_context()?);
    let (queries, kind, sinks, row) = match statement {
        Statement::Query(query) => {
            let (query, row) = select(session, &binder, query)?;
            (vec![query], JobKind::Query, Vec::new(), Some(row))
        }
        Statement::Insert(insert) => {
            let (queries, sinks) = inserts(session, &binder, std::slice::from_ref(insert.as_ref()))?;
            (queries, JobKind::Insert, sinks, None)
        }
        Statement::StatementSet(list) => {
            if list.is_empty() {
                return Err(Error::new(&codes::EMPTY_SET, &[]));
            }
            let (queries, sinks) = inserts(session, &binder, list)?;
            (queries, JobKind::Insert, sinks, None)
        }
        _ => return Err(Error::unsupported("this statement as a job")),
    };
    warnings.append(&mut binder.warnings.borrow_mut());
    let mut context = lower_context(session)?;
    context.config.hints = kept_hints(binder.hints.take(), warnings);
    let (plan, batch, more) = match batch_engine(session, queries.iter().map(|query| &query.logical))? {
        Some(engine) => lower::plan_batch(&queries, &context, engine.as_ref())?,
        None => {
            let (plan, more) = lower::plan(queries, &context)?;
            (plan, Vec::new(), more)
        }
    };
    warnings.extend(more);
    match statement {
        Statement::Insert(insert) => {
            check_conflicts(&plan, std::slice::from_ref(insert.as_ref()), positions, warnings)?
        }
        Statement::StatementSet(list) => check_conflicts(&plan, list, positions, warnings)?,
        _ => {}
    }
    Ok(PlannedJob { plan, kind, sinks, row, batch })
}

/// The engine of a job that runs in batch mode.
fn batch_engine<'q>(
    session: &Session,
    queries: impl Iterator<Item = &'q LogicalPlan>,
) -> Result<Option<Arc<dyn BatchEngine>>> {
    let is_batch = match session.options.text(&RUNTIME_MODE.spec).map(str::to_ascii_lowercase).as_deref() {
        Some("batch") => true,
        Some("automatic") => all_bounded(queries)?,
        _ => false,
    };
    match (is_batch, &session.batch) {
        (false, _) => Ok(None),
        (true, Some(engine)) => Ok(Some(engine.clone())),
        (true, None) => Err(Error::unsupported("batch mode in this program")),
    }
}

/// ON CONFLICT says what happens to two rows of one key. There are none where the query has one row per key of the table;
/// elsewhere the last change of a key wins.
fn check_conflicts(
    plan: &StreamPlan,
    inserts: &[Insert],
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<()> {
    let sinks = plan.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Sink(sink) => Some((sink, node)),
        _ => None,
    });
    for (insert, (sink, node)) in inserts.iter().zip(sinks) {
        let Some(action) = insert.on_conflict else { continue };
        let below = node.inputs.first().map(|edge| &plan.nodes[edge.node].kind);
        let keeps_all = matches!(below, Some(NodeKind::UpsertMaterialize(_)));
        let same = |key: &Vec<usize>| {
            key.len() == sink.primary_key.len() && key.iter().all(|column| sink.primary_key.contains(column))
        };
        let same_key = !keeps_all && node.output.upsert_keys.iter().any(same);
        if !sink.primary_key.is_empty() && (same_key || (keeps_all && action == OnConflict::Deduplicate)) {
            continue;
        }
        let action = match action {
            OnConflict::Deduplicate => "DEDUPLICATE",
            OnConflict::Error => "ERROR",
            OnConflict::Nothing => "NOTHING",
        };
        if action != "DEDUPLICATE" && !sink.primary_key.is_empty() {
            let feature = format!("ON CONFLICT DO {action} for a query whose key is not that of its table");
            return Err(locate(Error::unsupported(feature), Some(positions), insert.table.span()));
        }
        let warning = Error::new(&codes::ON_CONFLICT, &[("action", &action)]);
        warnings.push(locate(warning, Some(positions), insert.table.span()));
    }
    Ok(())
}

/// Hints as the plan keeps them. What nothing reads yet is said.
fn kept_hints(hints: Vec<syntax::Hint>, warnings: &mut Vec<Error>) -> Vec<PlanHint> {
    hints
        .into_iter()
        .map(|hint| {
            let hint = PlanHint { name: hint.name, options: hint.options, arguments: hint.arguments };
            let repeats = hint.options.iter().any(|(key, _)| key == "retry-predicate");
            if hint.name != STATE_TTL_HINT && !(hint.name == LOOKUP && repeats) {
                warnings.push(Error::new(&codes::OPTION_HINT, &[("hint", &hint)]));
            }
            hint
        })
        .collect()
}

fn lower_context(session: &Session) -> Result<LowerContext> {
    let enforcer = match session.options.word(&NOT_NULL_ENFORCER.spec)? {
        Some("DROP") => NotNullEnforcer::Drop,
        _ => NotNullEnforcer::Error,
    };
    Ok(LowerContext {
        config: session.config()?,
        connector: session.connector_context()?,
        functions: session.function_context()?,
        enforcer,
        cdc_duplicates: session.options.boolean(&CDC_EVENTS_DUPLICATE.spec)?,
        upsert_materialize: match session.options.word(&UPSERT_MATERIALIZE.spec)? {
            Some("NONE") => UpsertMaterialization::Never,
            Some("FORCE") => UpsertMaterialization::Force,
            _ => UpsertMaterialization::Auto,
        },
        phases: match session.options.word(&AGGREGATE_PHASES.spec)? {
            Some("ONE_PHASE") => AggregatePhases::One,
            Some("TWO_PHASE") => AggregatePhases::Two,
            _ => AggregatePhases::Auto,
        },
        distinct_parts: distinct_parts(session)?,
        strict_updates: session.options.word(&NON_DETERMINISTIC_UPDATES.spec)? == Some("TRY_RESOLVE"),
    })
}

fn distinct_parts(session: &Session) -> Result<Option<u32>> {
    if !session.options.boolean(&SPLIT_DISTINCT.spec)? {
        return Ok(None);
    }
    let parts = session.options.integer(&SPLIT_DISTINCT_BUCKETS.spec)?.unwrap_or(1024);
    match u32::try_from(parts) {
        Ok(parts) if parts > 0 => Ok(Some(parts)),
        _ => Err(Error::new(
            &base::options::BAD_OPTION,
            &[("key", &SPLIT_DISTINCT_BUCKETS.spec.key), ("value", &parts), ("expected", &"a whole number above 0")],
        )),
    }
}

fn select(session: &Session, binder: &Binder<'_>, query: &Query) -> Result<(SinkQuery, RowType)> {
    let bound = late_table::apply(session, binder, binder.query(query)?)?;
    let row = Binder::row_type(&bound)?;
    let logical = binder::optimize(bound)?;
    let results = session.environment.results.clone();
    let time_zone = session.config()?.time_zone;
    let is_batch = batch_engine(session, std::iter::once(&logical))?.is_some();
    let named = row.clone();
    let sink: ResultSink = Arc::new(move |row: &RowType, changelog| {
        if is_batch {
            return results.table_sink(row, time_zone);
        }
        // Flink calls a column a time attribute by what the query says, though GROUP BY makes an ordinary one of it.
        let times = named.fields().iter().map(|field| field.time);
        let fields = row.fields().iter().zip(times).map(|(field, time)| Field { time, ..field.clone() }).collect();
        results.result_sink(&RowType::new(fields), changelog, time_zone)
    });
    Ok((SinkQuery { logical, sink: SinkTarget::Result(sink) }, row))
}

fn inserts(session: &Session, binder: &Binder<'_>, list: &[Insert]) -> Result<(Vec<SinkQuery>, Vec<String>)> {
    let mut queries = Vec::with_capacity(list.len());
    let mut sinks: Vec<String> = Vec::new();
    let mut errors = Vec::new();
    for insert in list {
        let bound = insert::bind(session, binder, insert);
        let bound = bound.and_then(|(table, bound)| Ok((table, late_table::apply(session, binder, bound)?)));
        let (table, bound) = match bound {
            Ok(bound) => bound,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let name = table.definition.path.name.clone();
        if !sinks.contains(&name) {
            sinks.push(name);
        }
        queries.push(SinkQuery { logical: binder::optimize(bound)?, sink: SinkTarget::Table(table) });
    }
    match Error::all(errors) {
        Some(error) => Err(error),
        None => Ok((queries, sinks)),
    }
}

/// EXPLAIN. What it explains leaves nothing behind, a CREATE TABLE ... AS no table.
pub fn explain(
    session: &Session,
    explain: &Explain,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let job = match explain.statement.as_ref() {
        Statement::CreateTable(create) if create.query.is_some() => {
            let mut trial = session.clone();
            match definitions::create_table(&mut trial, create, positions, warnings)? {
                Outcome::Job(job) => *job,
                _ => return Err(Error::unsupported("EXPLAIN of a table that exists already")),
            }
        }
        Statement::Query(_) | Statement::Insert(_) | Statement::StatementSet(_) => {
            plan(session, &explain.statement, positions, warnings)?
        }
        Statement::Modify(_) => return Err(refused::refuse(session, &explain.statement)),
        _ => return Err(Error::unsupported("EXPLAIN of a statement without a query")),
    };
    Ok(Outcome::Text(job.explain(&explain.details)))
}
