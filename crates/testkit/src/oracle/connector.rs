//! `'connector' = 'oracle'`: replays the log of a case, and captures what a sink gets.

use super::compare::Captured;
use super::feed::{Fed, Feed};
use super::log::{declared_mode, inferred_mode};
use super::lookup::OracleLookup;
use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use base::connector::*;
use base::format::{DecodeSpec, Decoder, Records};
use base::lookup::{LookupProvider, LookupSpec};
use base::{
    BoxFuture, ChangelogBatch, ChangelogMode, Epoch, Error, Location, LogicalType, OptionKind, OptionSpec, Result,
    RowKind, RowType, TableDefinition,
};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

const fn option(key: &'static str, en: &'static str, zh: &'static str) -> OptionSpec {
    OptionSpec { key, kind: OptionKind::Text, default: None, required: false, en, zh }
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        key: "format",
        kind: OptionKind::Text,
        default: Some("json"),
        required: false,
        en: "format of the log's records",
        zh: "日志记录的格式",
    },
    option("table", "name of the table in the log", "日志中的表名"),
    option("changelog-mode", "kinds that the table gives", "表产生的行类型"),
    option("sink-mode", "append, retract, upsert or any", "append、retract、upsert 或 any"),
];

/// The connector of one case.
#[derive(Debug)]
pub struct OracleConnector {
    /// The case's events.
    pub feed: Arc<Feed>,
    /// Where sinks put their rows.
    pub captured: Captured,
    /// Whether sources never end.
    pub unbounded: bool,
}

impl OracleConnector {
    fn log_name(&self, table: &TableDefinition) -> String {
        table.options.get("table").unwrap_or(&table.path.name).to_string()
    }
}

/// The sink mode of a table: as declared, else upsert with a primary key and retract without.
fn sink_mode(table: &TableDefinition) -> &str {
    let default = if table.primary_key.is_empty() { "retract" } else { "upsert" };
    table.options.get("sink-mode").unwrap_or(default)
}

/// Refuses options that are neither the connector's nor the format's.
fn check_options(table: &TableDefinition) -> Result<()> {
    let format = format!("{}.", table.options.get("format").unwrap_or("json"));
    let shared = base::watermark_options::OPTIONS.iter().chain(&base::lookup::OPTIONS);
    let known: Vec<&OptionSpec> = OPTIONS.iter().chain(shared).collect();
    let is_known =
        |key: &str| key == "connector" || key.starts_with(&format) || known.iter().any(|spec| spec.matches(key));
    match table.options.iter().find(|(key, _)| !is_known(key)) {
        Some((key, _)) => Err(base::options::unknown(key, &known, "connector 'oracle'")),
        None => Ok(()),
    }
}

pub fn format_of<'a>(
    table: &TableDefinition,
    context: &'a ConnectorContext,
) -> Result<&'a Arc<dyn base::format::FormatFactory>> {
    let name = table.options.get("format").unwrap_or("json");
    context.formats.get(name).ok_or_else(|| Error::unsupported(format!("format {name}")))
}

impl ConnectorFactory for OracleConnector {
    fn name(&self) -> &'static str {
        "oracle"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn describe(&self, table: &TableDefinition, context: &ConnectorContext) -> Result<TableDescription> {
        check_options(table)?;
        let decodes = format_of(table, context)?.describe(&table.options)?.decodes;
        let declared = table.options.get("changelog-mode").and_then(declared_mode);
        let changelog = declared.or_else(|| inferred_mode(&self.feed.events, &self.log_name(table))).unwrap_or(decodes);
        let metadata = [
            ("topic", LogicalType::STRING.not_null()),
            ("partition", LogicalType::Int.not_null()),
            ("offset", LogicalType::BigInt.not_null()),
            ("timestamp", LogicalType::TimestampLtz(3).not_null()),
        ];
        let input = match sink_mode(table) {
            "append" => SinkInput::Append,
            "upsert" | "upsert-full-delete" => SinkInput::Upsert,
            _ => SinkInput::Any,
        };
        Ok(TableDescription {
            source: Some(SourceDescription {
                changelog,
                bounded: !self.unbounded,
                replayable: true,
                metadata: metadata
                    .map(|(key, sql_type)| MetadataColumn { key: key.into(), sql_type, writable: false })
                    .to_vec(),
            }),
            sink: Some(SinkDescription {
                input,
                guarantee: Guarantee::AtLeastOnce,
                guarantee_reason: "captures rows in memory",
                parallelism_max: Some(1),
            }),
            warnings: Vec::new(),
        })
    }

    fn source(
        &self,
        table: &TableDefinition,
        scan: &ScanSpec,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SourceProvider>> {
        Ok(Arc::new(OracleSource {
            table: table.clone(),
            log_name: self.log_name(table),
            scan: scan.clone(),
            context: context.clone(),
            feed: self.feed.clone(),
        }))
    }

    fn lookup(
        &self,
        table: &TableDefinition,
        lookup: &LookupSpec,
        context: &ConnectorContext,
    ) -> Result<Option<Arc<dyn LookupProvider>>> {
        Ok(Some(Arc::new(OracleLookup {
            table: table.clone(),
            log_name: self.log_name(table),
            lookup: lookup.clone(),
            context: context.clone(),
            feed: self.feed.clone(),
        })))
    }

    fn sink(
        &self,
        table: &TableDefinition,
        columns: &RowType,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SinkProvider>> {
        let mode = sink_mode(table);
        let key: Vec<usize> = if mode.starts_with("upsert") {
            table.primary_key.iter().filter_map(|name| columns.index_of(name)).collect()
        } else {
            Vec::new()
        };
        self.captured.declare(&table.path.name, &format!("{columns} [{mode}]"), key);
        Ok(Arc::new(CaptureSink {
            name: table.path.name.clone(),
            columns: columns.clone(),
            time_zone: context.time_zone,
            captured: self.captured.clone(),
        }))
    }
}

#[derive(Debug)]
struct OracleSource {
    table: TableDefinition,
    log_name: String,
    scan: ScanSpec,
    context: ConnectorContext,
    feed: Arc<Feed>,
}

impl SourceProvider for OracleSource {
    fn start<'a>(&'a self, _: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn reader(&self, instance: Instance, _restored: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        let physical: Vec<usize> = (0..self.scan.physical.len()).collect();
        let format = format_of(&self.table, &self.context)?;
        let spec = DecodeSpec {
            columns: self.scan.output.project(&physical),
            metadata: Vec::new(),
            table: self.table.physical_row(),
            time_zone: self.context.time_zone,
        };
        // Only one instance reads: the others have no split.
        let fed = (instance.index == 0).then(|| self.feed.register(&self.log_name));
        Ok(Box::new(OracleReader {
            log_name: self.log_name.clone(),
            scan: self.scan.clone(),
            decoder: format.decoder(&self.table.options, &spec)?,
            fed,
            waiting: Vec::new(),
            started: false,
            records: 0,
        }))
    }

    fn splits_max(&self) -> Option<usize> {
        Some(1)
    }
}

struct OracleReader {
    log_name: String,
    scan: ScanSpec,
    decoder: Box<dyn Decoder>,
    fed: Option<UnboundedReceiver<Fed>>,
    waiting: Vec<ChangelogBatch>,
    started: bool,
    records: u64,
}

impl OracleReader {
    fn decode(&mut self, events: &[super::log::LogEvent]) -> Result<()> {
        let mut records = Records::default();
        for event in events {
            records.push(event.payload.as_bytes());
        }
        let decoded = self.decoder.decode(&records).map_err(|failed| {
            let event = &events[failed.record];
            failed
                .error
                .at(Location::Record { resource: event.table.clone(), position: format!("offset {}", event.offset) })
        })?;
        let rows = decoded.batch.num_rows();
        let event_of = |row: usize| &events[decoded.records.as_ref().map_or(row, |map| map[row] as usize)];
        let mut columns: Vec<ArrayRef> = decoded.batch.records().columns().to_vec();
        for key in &self.scan.metadata {
            columns.push(match key.as_str() {
                "topic" => Arc::new(StringArray::from_iter_values((0..rows).map(|row| event_of(row).table.as_str()))),
                "partition" => Arc::new(Int32Array::from(vec![0; rows])),
                "offset" => Arc::new(Int64Array::from_iter_values((0..rows).map(|row| event_of(row).offset))),
                "timestamp" => Arc::new(
                    TimestampMillisecondArray::from_iter_values((0..rows).map(|row| event_of(row).offset * 1000))
                        .with_timezone(base::types::INSTANT_ZONE),
                ),
                other => return Err(Error::internal(format!("metadata key {other}"))),
            });
        }
        let kinds: Vec<RowKind> = (0..rows).map(|row| event_of(row).kind.unwrap_or(decoded.batch.kind(row))).collect();
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.scan.output.arrow().clone(), columns, &options)?;
        self.records += rows as u64;
        self.waiting.push(ChangelogBatch::new(batch, kinds));
        Ok(())
    }
}

impl SourceReader for OracleReader {
    fn next<'a>(&'a mut self, _request: ReadRequest<'a>) -> BoxFuture<'a, Result<SourceEvent>> {
        Box::pin(async {
            let split: SplitId = self.log_name.as_str().into();
            if !self.started {
                self.started = true;
                return Ok(SourceEvent::SplitStarted(split));
            }
            loop {
                if let Some(batch) = self.waiting.pop() {
                    return Ok(SourceEvent::Batch { split, batch });
                }
                let Some(fed) = &mut self.fed else { return Ok(SourceEvent::End) };
                match fed.recv().await {
                    Some(Fed::Events(events)) => self.decode(&events)?,
                    Some(Fed::End) | None => return Ok(SourceEvent::End),
                }
            }
        })
    }

    fn snapshot(&mut self) -> Result<Vec<SplitState>> {
        // The driver remembers the position: it goes on feeding the next job. The split is named because its watermark goes on.
        let split =
            self.fed.is_some().then(|| SplitState { split: self.log_name.as_str().into(), position: Vec::new() });
        Ok(split.into_iter().collect())
    }

    fn statistics(&self) -> SourceStatistics {
        SourceStatistics { records: self.records, ..SourceStatistics::default() }
    }
}

/// A sink that captures rows as text.
#[derive(Debug)]
pub struct CaptureSink {
    /// Under this name.
    pub name: String,
    /// Columns.
    pub columns: RowType,
    /// The session's zone.
    pub time_zone: chrono_tz::Tz,
    /// Where rows go.
    pub captured: Captured,
}

impl SinkProvider for CaptureSink {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn writer(&self, _instance: Instance, _restored: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(CaptureWriter {
            name: self.name.clone(),
            columns: self.columns.clone(),
            time_zone: self.time_zone,
            captured: self.captured.clone(),
        }))
    }
}

struct CaptureWriter {
    name: String,
    columns: RowType,
    time_zone: chrono_tz::Tz,
    captured: Captured,
}

impl SinkWriter for CaptureWriter {
    fn write<'a>(&'a mut self, batch: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { self.captured.add(&self.name, batch, &self.columns, self.time_zone) })
    }

    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn prepare_commit<'a>(&'a mut self, _epoch: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// Captures the results of SELECT statements under the name [`QUERY`].
#[derive(Debug)]
pub struct CaptureResults(pub Captured);

/// The name under which results of SELECT are captured.
pub const QUERY: &str = "";

impl planner::ResultSinkFactory for CaptureResults {
    fn result_sink(&self, row: &RowType, _changelog: ChangelogMode, time_zone: chrono_tz::Tz) -> Arc<dyn SinkProvider> {
        self.0.declare(QUERY, &row.to_string(), Vec::new());
        Arc::new(CaptureSink { name: QUERY.into(), columns: row.clone(), time_zone, captured: self.0.clone() })
    }
}
