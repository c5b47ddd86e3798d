//! The session: options and catalogs, and the execution of one statement after the other.

use crate::batch::{BatchEngine, PreparedBatch};
use crate::binder::positions::Positions;
use crate::catalog::Catalogs;
use crate::explain;
use crate::statements;
use crate::syntax_codes;
use base::clock::Clock;
use base::config::JobConfig;
use base::connector::{ConnectorContext, ConnectorRegistry, SinkProvider};
use base::format::FormatRegistry;
use base::function::FunctionContext;
use base::plan::{NodeKind, StreamPlan};
use base::{ChangelogMode, Error, Options, Result, RowType};
use std::fmt::Debug;
use std::sync::Arc;
use syntax::statement::ExplainDetail;
use syntax::{RawStatement, Script};

/// Makes the sink of a SELECT that is a statement.
pub trait ResultSinkFactory: Send + Sync + Debug {
    /// The sink for a result of these columns and row kinds; instants are shown in `time_zone`.
    fn result_sink(&self, row: &RowType, changelog: ChangelogMode, time_zone: chrono_tz::Tz) -> Arc<dyn SinkProvider>;

    /// The sink for the result of a batch query: a table that is complete when it is shown.
    fn table_sink(&self, row: &RowType, time_zone: chrono_tz::Tz) -> Arc<dyn SinkProvider> {
        self.result_sink(row, ChangelogMode::APPEND, time_zone)
    }
}

/// What a session is given by the program around it.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The connectors of this build.
    pub connectors: Arc<ConnectorRegistry>,
    /// The formats of this build.
    pub formats: Arc<FormatRegistry>,
    /// The clock of jobs.
    pub clock: Arc<dyn Clock>,
    /// Takes what sources and sinks have to say while a job runs.
    pub warnings: base::Warnings,
    /// Where the changelog of a SELECT goes.
    pub results: Arc<dyn ResultSinkFactory>,
}

/// What a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// It writes tables: INSERT or a statement set.
    Insert,
    /// It shows its result: SELECT.
    Query,
}

/// A job that is ready to run.
#[derive(Debug, Clone)]
pub struct PlannedJob {
    /// The plan.
    pub plan: StreamPlan,
    /// What it is for.
    pub kind: JobKind,
    /// The names of the tables that it writes.
    pub sinks: Vec<String>,
    /// The columns of the result of a SELECT.
    pub row: Option<RowType>,
    /// The queries of a batch job, one per sink; their results are the sources of the plan.
    pub batch: Vec<PreparedBatch>,
}

impl PlannedJob {
    /// The text of EXPLAIN.
    pub fn explain(&self, details: &[ExplainDetail]) -> String {
        match self.batch.as_slice() {
            [] => explain::explain(&self.plan, details),
            queries => explain::batch(queries),
        }
    }

    /// Why it cannot run in this version although it is planned, if so.
    pub fn refusal(&self) -> Option<Error> {
        self.plan.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Scan(scan) => scan.provider.refusal(),
            NodeKind::Sink(sink) => sink.provider.refusal(),
            NodeKind::LookupJoin(join) => join.provider.refusal(),
            _ => None,
        })
    }

    /// Whether it runs in batch mode.
    pub fn is_batch(&self) -> bool {
        !self.batch.is_empty()
    }
}

/// What a statement gave.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Nothing to show.
    Done,
    /// A text: EXPLAIN.
    Text(String),
    /// A table of texts: DESCRIBE, SHOW, SET. `None` is NULL.
    Table {
        /// Column names.
        columns: Vec<String>,
        /// Rows, one cell per column.
        rows: Vec<Vec<Option<String>>>,
    },
    /// A job to run.
    Job(Box<PlannedJob>),
}

/// A statement that has been executed.
#[derive(Debug, Clone)]
pub struct Executed {
    /// What it gave.
    pub outcome: Outcome,
    /// Things worth saying.
    pub warnings: Vec<Error>,
}

/// Options and catalogs, changed by statements.
#[derive(Debug, Clone)]
pub struct Session {
    pub(crate) environment: Environment,
    pub(crate) catalogs: Catalogs,
    pub(crate) options: Options,
    /// Runs the queries of batch mode; without one they are refused.
    pub(crate) batch: Option<Arc<dyn BatchEngine>>,
}

impl Session {
    /// A session with the default catalog and no options.
    pub fn new(environment: Environment) -> Session {
        Session { environment, catalogs: Catalogs::default(), options: Options::default(), batch: None }
    }

    /// The same with batch mode.
    pub fn with_batch(self, engine: Arc<dyn BatchEngine>) -> Session {
        Session { batch: Some(engine), ..self }
    }

    /// The options that SET has set.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The configuration of a job that would be planned now.
    ///
    /// # Errors
    /// A value that its option does not take; SET has refused it before.
    pub fn config(&self) -> Result<JobConfig> {
        JobConfig::from_options(&self.options)
    }

    /// Executes a statement of a script.
    ///
    /// # Errors
    /// Everything that is wrong with the statement, with its place in the script.
    pub fn execute(&mut self, script: &Script, statement: &RawStatement) -> Result<Executed> {
        let positions = Positions::new(script);
        let start = positions.at(statement.line, statement.column);
        let parsed = syntax::parse(statement).map_err(|error| {
            let better = statements::placeholder::explain(self, statement, &error, &positions);
            better.unwrap_or_else(|| syntax_codes::translate(&error, &positions))
        })?;
        let mut warnings = Vec::new();
        let outcome =
            statements::execute(self, &parsed, &positions, &mut warnings).map_err(|error| error.at(start.clone()))?;
        let warnings = warnings.into_iter().map(|warning| warning.at(start.clone())).collect();
        Ok(Executed { outcome, warnings })
    }

    pub(crate) fn function_context(&self) -> Result<FunctionContext> {
        let config = self.config()?;
        Ok(FunctionContext { time_zone: config.time_zone, legacy_cast: config.legacy_cast })
    }

    pub(crate) fn connector_context(&self) -> Result<ConnectorContext> {
        Ok(ConnectorContext {
            formats: self.environment.formats.clone(),
            time_zone: self.config()?.time_zone,
            clock: self.environment.clock.clone(),
            warnings: self.environment.warnings.clone(),
        })
    }
}
