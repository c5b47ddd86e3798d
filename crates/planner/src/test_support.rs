//! A session over a connector that never opens anything, for tests.

use crate::session::{Environment, Executed, ResultSinkFactory, Session};
use base::BoxFuture;
use base::clock::ManualClock;
use base::connector::*;
use base::format::FormatRegistry;
use base::lookup::{LookupProvider, LookupReader, LookupSpec};
use base::{ChangelogMode, Error, LogicalType, OptionSpec, Result, RowType, TableDefinition};
use std::sync::Arc;

/// `test`; `folders` has no transforms in PARTITIONED BY, `plain` no partitions at all.
#[derive(Debug)]
struct TestConnector {
    name: &'static str,
    partitioning: Partitioning,
}

#[derive(Debug)]
struct Nothing;

impl SourceProvider for Nothing {
    fn start<'a>(&'a self, _: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn reader(&self, _instance: Instance, _restored: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        Err(Error::internal("a test reads nothing"))
    }
}

impl LookupProvider for Nothing {
    fn reader(&self, _instance: Instance) -> Result<Box<dyn LookupReader>> {
        Err(Error::internal("a test asks nobody"))
    }
}

impl SinkProvider for Nothing {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn writer(&self, _instance: Instance, _restored: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Err(Error::internal("a test writes nothing"))
    }
}

impl ConnectorFactory for TestConnector {
    fn name(&self) -> &'static str {
        self.name
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn partitioning(&self) -> Partitioning {
        self.partitioning
    }

    /// `fail-key` and `fail-value` are refused. `role` is `source`, `sink` or both; `changelog` is `all`, `upsert` or
    /// append-only; a table with `lookup` can be asked.
    fn describe(&self, table: &TableDefinition, _context: &ConnectorContext) -> Result<TableDescription> {
        if let Some((key, value)) = table.options.iter().find(|(key, _)| key.starts_with("fail-")) {
            let wrong = format!("'{value}'");
            let arguments: [(&'static str, &dyn std::fmt::Display); 5] =
                [("key", &key), ("owner", &"a test"), ("known", &""), ("nearest", &""), ("expected", &wrong)];
            let (unknown, invalid) = (&base::options::UNKNOWN_OPTION, &base::options::BAD_OPTION);
            return Err(match key {
                "fail-value" => Error::new(invalid, &arguments).with("value", value),
                _ => Error::new(unknown, &arguments),
            });
        }
        let role = table.options.get("role").unwrap_or("both");
        let changelog = match table.options.get("changelog") {
            Some("all") => ChangelogMode::ALL,
            Some("upsert") => ChangelogMode::UPSERT,
            _ => ChangelogMode::APPEND,
        };
        let metadata = ["timestamp", "offset", "value.op"]
            .into_iter()
            .map(|key| MetadataColumn {
                key: key.into(),
                sql_type: match key {
                    "timestamp" => LogicalType::TimestampLtz(3).not_null(),
                    "value.op" => LogicalType::STRING.not_null(),
                    _ => LogicalType::BigInt.not_null(),
                },
                writable: key == "timestamp",
            })
            .collect();
        let source = SourceDescription { changelog, bounded: true, replayable: true, metadata };
        let input = if table.primary_key.is_empty() { SinkInput::Any } else { SinkInput::Upsert };
        let sink = SinkDescription {
            input,
            guarantee: Guarantee::AtLeastOnce,
            guarantee_reason: "it is a test",
            parallelism_max: None,
        };
        Ok(TableDescription {
            source: (role != "sink").then_some(source),
            sink: (role != "source").then_some(sink),
            warnings: Vec::new(),
        })
    }

    fn lookup(
        &self,
        table: &TableDefinition,
        _: &LookupSpec,
        _: &ConnectorContext,
    ) -> Result<Option<Arc<dyn LookupProvider>>> {
        Ok(table.options.get("lookup").map(|_| Arc::new(Nothing) as Arc<dyn LookupProvider>))
    }

    fn source(&self, _: &TableDefinition, _: &ScanSpec, _: &ConnectorContext) -> Result<Arc<dyn SourceProvider>> {
        Ok(Arc::new(Nothing))
    }

    fn sink(&self, _: &TableDefinition, _: &RowType, _: &ConnectorContext) -> Result<Arc<dyn SinkProvider>> {
        Ok(Arc::new(Nothing))
    }
}

#[derive(Debug)]
struct NoResults;

impl ResultSinkFactory for NoResults {
    fn result_sink(
        &self,
        _row: &RowType,
        _changelog: ChangelogMode,
        _time_zone: chrono_tz::Tz,
    ) -> Arc<dyn SinkProvider> {
        Arc::new(Nothing)
    }
}

/// A session that knows the connectors `test`, `folders` and `plain`.
pub fn session() -> Session {
    let mut connectors = ConnectorRegistry::default();
    connectors.register(Arc::new(TestConnector { name: "test", partitioning: Partitioning::Transforms }));
    connectors.register(Arc::new(TestConnector { name: "plain", partitioning: Partitioning::None }));
    connectors.register(Arc::new(TestConnector { name: "folders", partitioning: Partitioning::Columns }));
    Session::new(Environment {
        warnings: Default::default(),
        connectors: Arc::new(connectors),
        formats: Arc::new(FormatRegistry::default()),
        clock: Arc::new(ManualClock::new(0)),
        results: Arc::new(NoResults),
    })
}

/// Executes all statements of a script and gives what the last one gave.
pub fn execute(session: &mut Session, sql: &str) -> Result<Executed> {
    let script = syntax::Script::new("test.sql", sql);
    let mut last = Err(Error::internal("no statement"));
    for statement in script.statements() {
        last = session.execute(&script, &statement);
        last.as_ref().map_err(Clone::clone)?;
    }
    last
}
