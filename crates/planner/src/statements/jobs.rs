//! Queries, INSERT, statement sets and EXPLAIN: from statements to planned jobs.

use super::{definitions, insert, refused};
use crate::binder::positions::{Positions, locate};
use crate::binder::{self, Binder};
use crate::codes;
use crate::explain as explaining;
use crate::lower::{self, LowerContext, ResultSink, SinkQuery, SinkTarget};
use crate::session::{JobKind, Outcome, PlannedJob, Session};
use base::config::{NON_DETERMINISTIC_UPDATES, NOT_NULL_ENFORCER, PlanHint};
use base::plan::{NodeKind, NotNullEnforcer, StreamPlan};
use base::{Error, Result, RowType};
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
    let (plan, more) = lower::plan(queries, &context)?;
    warnings.extend(more);
    match statement {
        Statement::Insert(insert) => {
            check_conflicts(&plan, std::slice::from_ref(insert.as_ref()), positions, warnings)?
        }
        Statement::StatementSet(list) => check_conflicts(&plan, list, positions, warnings)?,
        _ => {}
    }
    Ok(PlannedJob { plan, kind, sinks, row })
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
        NodeKind::Sink(sink) => Some((sink, &node.output.upsert_keys)),
        _ => None,
    });
    for (insert, (sink, keys)) in inserts.iter().zip(sinks) {
        let Some(action) = insert.on_conflict else { continue };
        let same = |key: &Vec<usize>| {
            key.len() == sink.primary_key.len() && key.iter().all(|column| sink.primary_key.contains(column))
        };
        if !sink.primary_key.is_empty() && keys.iter().any(same) {
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

/// Hints as the plan keeps them. Nothing reads them yet, and that is said.
fn kept_hints(hints: Vec<syntax::Hint>, warnings: &mut Vec<Error>) -> Vec<PlanHint> {
    hints
        .into_iter()
        .map(|hint| {
            let hint = PlanHint { name: hint.name, options: hint.options, arguments: hint.arguments };
            warnings.push(Error::new(&codes::OPTION_HINT, &[("hint", &hint)]));
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
        strict_updates: session.options.word(&NON_DETERMINISTIC_UPDATES.spec)? == Some("TRY_RESOLVE"),
    })
}

fn select(session: &Session, binder: &Binder<'_>, query: &Query) -> Result<(SinkQuery, RowType)> {
    let bound = binder.query(query)?;
    let row = Binder::row_type(&bound)?;
    let logical = binder::optimize(bound)?;
    let results = session.environment.results.clone();
    let time_zone = session.config()?.time_zone;
    let sink: ResultSink = std::sync::Arc::new(move |row, changelog| results.result_sink(row, changelog, time_zone));
    Ok((SinkQuery { logical, sink: SinkTarget::Result(sink) }, row))
}

fn inserts(session: &Session, binder: &Binder<'_>, list: &[Insert]) -> Result<(Vec<SinkQuery>, Vec<String>)> {
    let mut queries = Vec::with_capacity(list.len());
    let mut sinks: Vec<String> = Vec::new();
    let mut errors = Vec::new();
    for insert in list {
        let (table, bound) = match insert::bind(session, binder, insert) {
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
    Ok(Outcome::Text(explaining::explain(&job.plan, &explain.details)))
}
