//! `'connector' = 'parts'`: a table of several splits whose rows the driver gives, and that can be read again; and results
//! that count once a checkpoint holds them.

use super::case::Row;
use super::evaluate::time_text;
use crate::fuzz::Random;
use crate::oracle::{Captured, QUERY};
use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use base::connector::*;
use base::{
    BoxFuture, ChangelogBatch, ChangelogMode, Epoch, Error, OptionKind, OptionSpec, Result, RowKind, RowType,
    TableDefinition,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

const UPSERT: OptionSpec = OptionSpec {
    key: "upsert",
    kind: OptionKind::Boolean,
    default: Some("false"),
    required: false,
    en: "whether rows are new contents of their key",
    zh: "行是否为其主键的新内容",
};

/// What has been given so far.
#[derive(Debug, Default)]
struct Given {
    /// By table and split.
    rows: BTreeMap<(String, usize), Vec<Row>>,
    /// Rows that a split will have; it ends behind them. Splits that end with the job are not here.
    lengths: BTreeMap<(String, usize), usize>,
    is_over: bool,
}

/// The rows of all tables, and those who wait for more.
#[derive(Debug)]
pub struct Parts {
    /// Splits per table.
    count: usize,
    given: Mutex<Given>,
    changed: watch::Sender<u64>,
}

impl Parts {
    /// Tables of so many splits, without rows.
    pub fn new(count: usize) -> Parts {
        Parts { count, given: Mutex::default(), changed: watch::Sender::new(0) }
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A split ends when it has given so many rows.
    pub fn ends_after(&self, table: &str, part: usize, rows: usize) {
        self.given().lengths.insert((table.to_string(), part), rows);
    }

    /// More rows.
    pub fn give<'r>(&self, rows: impl Iterator<Item = (&'static str, usize, &'r Row)>) {
        let mut given = self.given();
        for (table, part, row) in rows {
            given.rows.entry((table.to_string(), part)).or_default().push(row.clone());
        }
        drop(given);
        self.changed.send_modify(|version| *version += 1);
    }

    /// No more rows.
    pub fn end(&self) {
        self.given().is_over = true;
        self.changed.send_modify(|version| *version += 1);
    }
}

/// The connector of one run.
#[derive(Debug)]
pub struct PartsConnector(pub Arc<Parts>);

impl ConnectorFactory for PartsConnector {
    fn name(&self) -> &'static str {
        "parts"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[UPSERT]
    }

    fn describe(&self, table: &TableDefinition, _: &ConnectorContext) -> Result<TableDescription> {
        let changelog = match table.options.boolean(&UPSERT)? {
            true => ChangelogMode::of(&[RowKind::Insert, RowKind::UpdateAfter]),
            false => ChangelogMode::APPEND,
        };
        Ok(TableDescription {
            source: Some(SourceDescription { changelog, bounded: false, replayable: true, metadata: Vec::new() }),
            sink: None,
            warnings: Vec::new(),
        })
    }

    fn source(
        &self,
        table: &TableDefinition,
        scan: &ScanSpec,
        _: &ConnectorContext,
    ) -> Result<Arc<dyn SourceProvider>> {
        Ok(Arc::new(PartsSource {
            table: table.path.name.clone(),
            columns: scan.output.clone(),
            is_upsert: table.options.boolean(&UPSERT)?,
            parts: self.0.clone(),
        }))
    }

    fn sink(&self, _: &TableDefinition, _: &RowType, _: &ConnectorContext) -> Result<Arc<dyn SinkProvider>> {
        Err(Error::unsupported("writing parts"))
    }
}

#[derive(Debug)]
struct PartsSource {
    table: String,
    columns: RowType,
    is_upsert: bool,
    parts: Arc<Parts>,
}

impl SourceProvider for PartsSource {
    fn start<'a>(&'a self, _: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn reader(&self, instance: Instance, restored: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        let own = (0..self.parts.count).filter(|part| part % instance.parallelism == instance.index);
        let splits = own.map(|part| {
            let split: SplitId = format!("{}-{part}", self.table).as_str().into();
            let state = restored.iter().find(|state| state.split == split);
            let position =
                state.map_or(0, |state| state.position.iter().fold(0, |sum, byte| sum * 256 + *byte as usize));
            Split { part, split, position, is_started: false, is_finished: false }
        });
        Ok(Box::new(PartsReader {
            table: self.table.clone(),
            columns: self.columns.clone(),
            kind: if self.is_upsert { RowKind::UpdateAfter } else { RowKind::Insert },
            splits: splits.collect(),
            parts: self.parts.clone(),
            changed: self.parts.changed.subscribe(),
            random: Random::new(instance.index as u64),
            is_idle: false,
            records: 0,
        }))
    }
}

struct Split {
    part: usize,
    split: SplitId,
    position: usize,
    is_started: bool,
    is_finished: bool,
}

struct PartsReader {
    table: String,
    columns: RowType,
    kind: RowKind,
    splits: Vec<Split>,
    parts: Arc<Parts>,
    changed: watch::Receiver<u64>,
    /// Which split is read next.
    random: Random,
    is_idle: bool,
    records: u64,
}

impl PartsReader {
    /// What there is now.
    fn poll(&mut self, rows_max: usize) -> Result<Option<SourceEvent>> {
        if let Some(split) = self.splits.iter_mut().find(|split| !split.is_started) {
            split.is_started = true;
            return Ok(Some(SourceEvent::SplitStarted(split.split.clone())));
        }
        let given = self.parts.given();
        let first = self.random.below(self.splits.len());
        for number in 0..self.splits.len() {
            let index = (first + number) % self.splits.len();
            let split = &mut self.splits[index];
            let place = (self.table.clone(), split.part);
            let rows = given.rows.get(&place).map_or(&[][..], |rows| &rows[split.position..]);
            if !rows.is_empty() {
                let rows = &rows[..rows.len().min(rows_max)];
                split.position += rows.len();
                self.records += rows.len() as u64;
                let batch = batch(rows, &self.columns, self.kind)?;
                return Ok(Some(SourceEvent::Batch { split: split.split.clone(), batch }));
            }
            if !split.is_finished && given.lengths.get(&place) == Some(&split.position) {
                split.is_finished = true;
                return Ok(Some(SourceEvent::SplitFinished(split.split.clone())));
            }
        }
        if given.is_over {
            return Ok(Some(SourceEvent::End));
        }
        let is_idle = self.splits.iter().all(|split| split.is_finished);
        Ok((is_idle && !std::mem::replace(&mut self.is_idle, true)).then_some(SourceEvent::Idle))
    }
}

fn batch(rows: &[Row], columns: &RowType, kind: RowKind) -> Result<ChangelogBatch> {
    let numbers = |value: fn(&Row) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| value(row).map(|value| value as i32)).collect::<Int32Array>())
    };
    let arrays = columns.fields().iter().map(|field| match field.name.as_str() {
        "id" => Ok(numbers(|row| Some(row.id))),
        "k" => Ok(numbers(|row| row.key)),
        "v" => Ok(numbers(|row| row.value)),
        "ts" => {
            Ok(Arc::new(rows.iter().map(|row| Some(row.time_ms)).collect::<TimestampMillisecondArray>()) as ArrayRef)
        }
        "e" => Ok(Arc::new(rows.iter().map(|row| Some(row.time_ms)).collect::<Int64Array>()) as ArrayRef),
        "t" => Ok(Arc::new(rows.iter().map(|row| Some(time_text(row.time_ms))).collect::<StringArray>()) as ArrayRef),
        other => Err(Error::internal(format!("column {other}"))),
    });
    let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let records = RecordBatch::try_new_with_options(columns.arrow().clone(), arrays, &options)?;
    Ok(match kind {
        RowKind::Insert => ChangelogBatch::inserts(records),
        kind => ChangelogBatch::new(records, vec![kind; rows.len()]),
    })
}

impl SourceReader for PartsReader {
    fn next<'a>(&'a mut self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<SourceEvent>> {
        Box::pin(async move {
            loop {
                // What comes from now on is seen by the wait below.
                self.changed.borrow_and_update();
                if let Some(event) = self.poll(request.rows_max)? {
                    return Ok(event);
                }
                if self.changed.changed().await.is_err() {
                    return Ok(SourceEvent::End);
                }
            }
        })
    }

    fn snapshot(&mut self) -> Result<Vec<SplitState>> {
        let state = |split: &Split| SplitState {
            split: split.split.clone(),
            position: (split.position as u64).to_be_bytes().to_vec(),
        };
        Ok(self.splits.iter().map(state).collect())
    }

    fn statistics(&self) -> SourceStatistics {
        SourceStatistics { records: self.records, ..SourceStatistics::default() }
    }
}

/// Takes the results of a query.
#[derive(Debug)]
pub struct CommittedResults(pub Captured);

impl planner::ResultSinkFactory for CommittedResults {
    fn result_sink(&self, row: &RowType, _: ChangelogMode, time_zone: chrono_tz::Tz) -> Arc<dyn SinkProvider> {
        Arc::new(CommittedSink { columns: row.clone(), time_zone, captured: self.0.clone() })
    }
}

#[derive(Debug, Clone)]
struct CommittedSink {
    columns: RowType,
    time_zone: chrono_tz::Tz,
    captured: Captured,
}

impl SinkProvider for CommittedSink {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn writer(&self, _: Instance, _: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(CommittedWriter { sink: self.clone(), waiting: Vec::new() }))
    }
}

/// Its rows are lost if the job is thrown away before the next barrier.
struct CommittedWriter {
    sink: CommittedSink,
    waiting: Vec<ChangelogBatch>,
}

impl SinkWriter for CommittedWriter {
    fn write<'a>(&'a mut self, batch: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>> {
        self.waiting.push(batch.clone());
        Box::pin(async { Ok(()) })
    }

    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn prepare_commit<'a>(&'a mut self, _: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>> {
        // The driver throws a job away only after its checkpoint is complete.
        let CommittedSink { columns, time_zone, captured } = &self.sink;
        let mut waiting = self.waiting.drain(..);
        let taken = waiting.try_for_each(|batch| captured.add(QUERY, &batch, columns, *time_zone));
        Box::pin(async move { taken.map(|()| Vec::new()) })
    }
}
