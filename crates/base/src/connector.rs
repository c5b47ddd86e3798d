//! Connectors: what the planner asks before a job, and the sources and sinks that the runtime drives.
//!
//! A [`ConnectorFactory`] answers everything about a table without a connection. A [`SourceProvider`] or [`SinkProvider`] is
//! one table of one job, shared by its parallel instances; readers and writers belong to one instance.

use crate::BoxFuture;
use crate::changelog::{ChangelogBatch, ChangelogMode};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::event::Epoch;
use crate::format::FormatRegistry;
use crate::lookup::{LookupProvider, LookupSpec};
use crate::options::{OptionSpec, Options};
use crate::table::TableDefinition;
use crate::types::{RowType, SqlType};
use crate::warnings::Warnings;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// What every connector call may use.
#[derive(Debug, Clone)]
pub struct ConnectorContext {
    /// The formats of this build.
    pub formats: Arc<FormatRegistry>,
    /// `table.local-time-zone`.
    pub time_zone: chrono_tz::Tz,
    /// The job's clock.
    pub clock: Arc<dyn Clock>,
    /// Takes what does not stop the job.
    pub warnings: Warnings,
}

/// A metadata column that a connector (or its format) offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataColumn {
    /// The key in `METADATA FROM 'key'`.
    pub key: String,
    /// The type of its values; a column may declare any type that this one can be cast to.
    pub sql_type: SqlType,
    /// Whether it can be written as well.
    pub writable: bool,
}

/// What a table is as a source.
#[derive(Debug, Clone)]
pub struct SourceDescription {
    /// The kinds it gives. [`ChangelogMode::UPSERT`] needs a primary key; the planner normalises it.
    pub changelog: ChangelogMode,
    /// Whether it ends by itself.
    pub bounded: bool,
    /// Whether it can be read again from a remembered position: one of the three conditions of exactly-once.
    pub replayable: bool,
    /// Metadata columns.
    pub metadata: Vec<MetadataColumn>,
}

/// What a sink does with a changelog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinkInput {
    /// Only inserts: an updating query is refused.
    Append,
    /// Keyed changes; the old content of an update is not needed. Without a primary key the sink is refused.
    Upsert,
    /// Whatever comes, all four kinds.
    Any,
}

/// How often a row can arrive at a sink's readers when a job fails and recovers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarantee {
    /// Rows can be lost and can be there twice.
    None,
    /// Nothing lost; rows since the last checkpoint can be there twice.
    AtLeastOnce,
    /// Nothing lost, nothing twice.
    ExactlyOnce,
}

/// What a table is as a sink.
#[derive(Debug, Clone)]
pub struct SinkDescription {
    /// What it takes.
    pub input: SinkInput,
    /// What it promises.
    pub guarantee: Guarantee,
    /// Why, and which option changes it: one English sentence for EXPLAIN.
    pub guarantee_reason: &'static str,
    /// The most parallel writers; `None` if any number will do.
    pub parallelism_max: Option<usize>,
}

/// What a table can be.
#[derive(Debug, Clone)]
pub struct TableDescription {
    /// As a source; `None` if the connector only writes.
    pub source: Option<SourceDescription>,
    /// As a sink; `None` if the connector only reads.
    pub sink: Option<SinkDescription>,
    /// Things worth saying that do not stop the job.
    pub warnings: Vec<Error>,
}

/// What PARTITIONED BY of a table may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Partitioning {
    /// Nothing.
    None,
    /// Columns.
    Columns,
    /// Columns, and transforms of them.
    Transforms,
}

/// What a query reads of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanSpec {
    /// Names of the wanted physical columns, in table order.
    pub physical: Vec<String>,
    /// Keys of the wanted metadata columns.
    pub metadata: Vec<String>,
    /// The row type of every batch: physical columns, then metadata columns with the connector's types.
    pub output: RowType,
}

/// A connector, found by `'connector' = '...'`.
pub trait ConnectorFactory: Send + Sync + Debug {
    /// The name.
    fn name(&self) -> &'static str;

    /// All options besides `connector` and those of the format.
    fn options(&self) -> &'static [OptionSpec];

    /// Whether an option decides which records a table gives, and how they are read. Positions and what was computed of
    /// them are kept while such options stay the same; logins, timeouts and numbers of readers may change.
    fn decides(&self, key: &str, _options: &Options) -> bool {
        !key.starts_with("sink.") && !key.starts_with("scan.watermark.") && key != "scan.parallelism"
    }

    /// What PARTITIONED BY of its tables may hold.
    fn partitioning(&self) -> Partitioning {
        Partitioning::None
    }

    /// Checks the definition and says what the table can be. Opens nothing.
    ///
    /// # Errors
    /// Unknown, missing or wrong options, all at once.
    fn describe(&self, table: &TableDefinition, context: &ConnectorContext) -> Result<TableDescription>;

    /// The table as a source of one job. Opens nothing yet.
    fn source(
        &self,
        table: &TableDefinition,
        scan: &ScanSpec,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SourceProvider>>;

    /// The table as one that a job asks for rows; `None` if it cannot be asked. Opens nothing yet.
    ///
    /// # Errors
    /// Keys or columns that it cannot be asked for.
    fn lookup(
        &self,
        _table: &TableDefinition,
        _lookup: &LookupSpec,
        _context: &ConnectorContext,
    ) -> Result<Option<Arc<dyn LookupProvider>>> {
        Ok(None)
    }

    /// The table as a sink of one job. Opens nothing yet. `columns` are the persisted columns, in declared order.
    fn sink(
        &self,
        table: &TableDefinition,
        columns: &RowType,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SinkProvider>>;
}

/// The connectors of this build, by name.
#[derive(Debug, Clone, Default)]
pub struct ConnectorRegistry(BTreeMap<&'static str, Arc<dyn ConnectorFactory>>);

impl ConnectorRegistry {
    /// Adds a connector.
    pub fn register(&mut self, connector: Arc<dyn ConnectorFactory>) {
        self.0.insert(connector.name(), connector);
    }

    /// A connector by name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn ConnectorFactory>> {
        self.0.get(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.keys().copied().collect()
    }

    /// The connectors, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn ConnectorFactory>> {
        self.0.values()
    }
}

/// Which of the parallel instances this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instance {
    /// From 0.
    pub index: usize,
    /// How many there are.
    pub parallelism: usize,
}

/// The name of a split: a file path, a topic partition. Unique within a source, the same after a restart.
pub type SplitId = Arc<str>;

/// Where a source is in one split: goes into a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitState {
    /// Which split.
    pub split: SplitId,
    /// Where in it, in the connector's own encoding (versioned by the connector).
    pub position: Vec<u8>,
}

/// A source table of one job.
pub trait SourceProvider: Send + Sync + Debug {
    /// Opens whatever is shared: lists files, checks that the topic exists. Called once, before any reader is made.
    /// `restored` are the split states of ALL instances of the last run (empty on a first start). Returns warnings.
    ///
    /// # Errors
    /// What makes reading impossible, with a fix; within 15 seconds.
    fn start<'a>(&'a self, restored: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>>;

    /// The reader of one instance. `restored` are the split states of ALL instances of the last run (empty on a first
    /// start): the provider gives each split to exactly one reader.
    fn reader(&self, instance: Instance, restored: &[SplitState]) -> Result<Box<dyn SourceReader>>;

    /// The most readers that make sense, for example the number of partitions; `None` if unknown.
    fn splits_max(&self) -> Option<usize> {
        None
    }

    /// Why no job can read it in this version, although it can be declared and planned; `None`: jobs can.
    fn refusal(&self) -> Option<Error> {
        None
    }
}

/// What the runtime tells a reader with each read.
#[derive(Debug, Clone, Copy)]
pub struct ReadRequest<'a> {
    /// The most rows wanted in one batch.
    pub rows_max: usize,
    /// The watermark of every split of this reader that has one, in milliseconds: a reader of several bounded splits reads
    /// the one that is furthest behind, so that no row is late only because of the order of reading.
    pub watermarks: &'a BTreeMap<SplitId, i64>,
}

/// What a reader gives.
#[derive(Debug)]
pub enum SourceEvent {
    /// Rows of one split, in its order. A barrier never falls inside a batch.
    Batch {
        /// Where the rows are from.
        split: SplitId,
        /// The rows, of the scan's row type.
        batch: ChangelogBatch,
    },
    /// A new split is being read: its watermark counts from now on.
    SplitStarted(SplitId),
    /// A split has ended: its watermark does not count any more.
    SplitFinished(SplitId),
    /// The reader has no split for now (it may get one later): it holds no watermark back.
    Idle,
    /// Everything has been read. No event follows.
    End,
}

/// Counts that a reader keeps for the job summary.
#[derive(Debug, Clone, Default)]
pub struct SourceStatistics {
    /// Records read.
    pub records: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Records left out because the format's options say so.
    pub rejected: u64,
    /// The first few reasons.
    pub rejected_samples: Vec<Error>,
    /// Records (or bytes, if records are unknown) that wait to be read; `None` if unknown.
    pub lag: Option<u64>,
}

/// The reader of one instance of a source.
pub trait SourceReader: Send {
    /// Waits for the next event.
    ///
    /// The future may be dropped at any await point without losing data: barriers, stops and idle timers interrupt it.
    fn next<'a>(&'a mut self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<SourceEvent>>;

    /// The positions after the last event given, of every split of this reader, finished ones included where a restart
    /// must know them.
    fn snapshot(&mut self) -> Result<Vec<SplitState>>;

    /// The counts so far.
    fn statistics(&self) -> SourceStatistics;

    /// Whether a reader that does not know how much waits, and has nothing at hand, has given what its table held at the start.
    fn holds_nothing_back(&self) -> bool {
        true
    }

    /// Checkpoint `epoch` is durable.
    fn checkpoint_complete(&mut self, _epoch: Epoch) {}

    /// The job has ended well: waits for what still runs in the background.
    fn close<'a>(&'a mut self) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}

/// What a writer hands over at a barrier, to be committed once the checkpoint is durable. The connector's own encoding;
/// clones share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committable(pub Arc<[u8]>);

impl From<Vec<u8>> for Committable {
    fn from(bytes: Vec<u8>) -> Committable {
        Committable(bytes.into())
    }
}

/// Which sink of which job a provider is, and what it goes on from.
#[derive(Debug, Clone, Copy)]
pub struct SinkRun<'a> {
    /// The job: another name for every job of a run, the same after a restart.
    pub job: &'a str,
    /// The sink: another name for every sink of the job, the same after a restart.
    pub sink: &'a str,
    /// The checkpoint that the job goes on from, with the writer states of ALL instances; `None` if it begins anew.
    pub restored: Option<(Epoch, &'a [Vec<u8>])>,
    /// Time between checkpoints; `None`: only on request and at the end.
    pub checkpoint_interval: Option<Duration>,
}

/// A sink table of one job.
pub trait SinkProvider: Send + Sync + Debug {
    /// Why no job can write it in this version, although it can be declared and planned; `None`: jobs can.
    fn refusal(&self) -> Option<Error> {
        None
    }

    /// Called before every [`SinkProvider::start`].
    ///
    /// # Errors
    /// Writer states that it cannot go on from.
    fn prepare(&self, _run: &SinkRun<'_>) -> Result<()> {
        Ok(())
    }

    /// Opens whatever is shared and checks that writing is possible. Called once, before any writer is made. Returns
    /// warnings.
    ///
    /// # Errors
    /// What makes writing impossible, with a fix; within 15 seconds.
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>>;

    /// The writer of one instance. `restored` are the writer states of ALL instances at the last checkpoint.
    fn writer(&self, instance: Instance, restored: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>>;

    /// Makes committables visible to readers. Called after the checkpoint that names them is durable, and again after a
    /// restart: committing twice must be harmless.
    fn commit<'a>(&'a self, _epoch: Epoch, _committables: &'a [Committable]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// Called once after the last commit of a job that ended well.
    fn finish<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// Whether rows go to the program's own standard output or error, so that nothing else may be drawn there.
    fn prints(&self) -> bool {
        false
    }
}

/// The writer of one instance of a sink.
pub trait SinkWriter: Send {
    /// Takes rows; may buffer them within its declared bounds.
    fn write<'a>(&'a mut self, batch: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>>;

    /// Event time has reached this point (milliseconds).
    fn watermark(&mut self, _watermark_ms: i64) {}

    /// How long rows may be gathered before [`SinkWriter::flush`]; `None`: until nothing has arrived for a moment.
    fn flush_interval(&self) -> Option<Duration> {
        None
    }

    /// Called when [`SinkWriter::flush_interval`] is over: sends what is buffered.
    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>>;

    /// Barrier `epoch`: everything written before belongs to it. Rows are flushed or become committables.
    fn prepare_commit<'a>(&'a mut self, epoch: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>>;

    /// Whether so much waits for the next checkpoint that it had better come at once.
    fn wants_checkpoint(&self) -> bool {
        false
    }

    /// The writer's own state at the barrier, after [`SinkWriter::prepare_commit`].
    fn snapshot(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// The job has ended well: waits for what still runs in the background.
    fn close<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// Gives up without committing: the job has failed or was cancelled. Removes what can be removed.
    fn abort<'a>(&'a mut self) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}
