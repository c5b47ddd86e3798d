//! Queries, INSERT, statement sets and EXPLAIN: from statements to planned jobs.

use super::insert;
use crate::binder::positions::Positions;
use crate::binder::{self, Binder};
use crate::codes;
use crate::explain as explaining;
use crate::lower::{self, LowerContext, ResultSink, SinkQuery, SinkTarget};
use crate::session::{JobKind, Outcome, PlannedJob, Session};
use base::config::NOT_NULL_ENFORCER;
use base::plan::NotNullEnforcer;
use base::{Error, Result, RowType};
use syntax::Statement;
use syntax::ast::Query;
use syntax::statement::{Explain, ExplainDetail, Insert};

/// Plans the job of a query, an INSERT or a statement set.
pub fn plan(
    session: &Session,
    statement: &Statement,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<PlannedJob> {
    let binder = Binder::new(&session.catalogs, session.function_context()?, Some(positions));
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
    let (plan, more) = lower::plan(queries, &lower_context(session)?)?;
    warnings.extend(more);
    Ok(PlannedJob { plan, kind, sinks, row })
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
    for insert in list {
        let (table, bound) = insert::bind(session, binder, insert)?;
        let name = table.definition.path.name.clone();
        if !sinks.contains(&name) {
            sinks.push(name);
        }
        queries.push(SinkQuery { logical: binder::optimize(bound)?, sink: SinkTarget::Table(table) });
    }
    Ok((queries, sinks))
}

/// EXPLAIN.
pub fn explain(
    session: &Session,
    explain: &Explain,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    for detail in &explain.details {
        match detail {
            // Row kinds are part of every plan that is shown.
            ExplainDetail::ChangelogMode => {}
            ExplainDetail::EstimatedCost => return Err(Error::unsupported("EXPLAIN ESTIMATED_COST")),
            ExplainDetail::JsonExecutionPlan => return Err(Error::unsupported("EXPLAIN JSON_EXECUTION_PLAN")),
            ExplainDetail::PlanAdvice => return Err(Error::unsupported("EXPLAIN PLAN_ADVICE")),
        }
    }
    let job = plan(session, &explain.statement, positions, warnings)?;
    Ok(Outcome::Text(explaining::explain(&job.plan)))
}
