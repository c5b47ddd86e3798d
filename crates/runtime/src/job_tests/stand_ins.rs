//! A source that gives rows when it is allowed to, a sink that remembers, and operators just big enough for the tests.

use crate::operator::{Operator, OperatorContext, OperatorStatistics};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use base::connector::*;
use base::key::{groups_of_instance, hash_columns, key_group};
use base::types::{LogicalType, RowType, SqlType};
use base::{BoxFuture, ChangelogBatch, Epoch, Error, Expression, Field, Result, RowKind};
use state::{OperatorSnapshot, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, Semaphore, watch};

/// Key, value, event time.
pub type Row = (i64, i64, Option<i64>);

/// `k BIGINT, v BIGINT, ts TIMESTAMP(3)`.
pub fn row_type() -> RowType {
    RowType::new(vec![
        Field::new("k", LogicalType::BigInt.nullable()),
        Field::new("v", LogicalType::BigInt.nullable()),
        Field::new("ts", LogicalType::Timestamp(3).nullable()),
    ])
}

pub fn records(rows: &[Row]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|row| row.2).collect::<TimestampMillisecondArray>()),
    ];
    RecordBatch::try_new(row_type().arrow().clone(), columns).expect("columns fit")
}

pub fn rows(batch: &ChangelogBatch) -> Vec<Row> {
    let records = batch.records();
    let (keys, values) = (records.column(0).as_primitive::<Int64Type>(), records.column(1).as_primitive::<Int64Type>());
    let times = records.column(2).as_primitive::<TimestampMillisecondType>();
    let time = |row| times.is_valid(row).then(|| times.value(row));
    (0..records.num_rows()).map(|row| (keys.value(row), values.value(row), time(row))).collect()
}

/// The time column less a delay: `ts - INTERVAL ...`.
#[derive(Debug)]
pub struct Delayed(pub i64, SqlType);

impl Delayed {
    pub fn by(delay_ms: i64) -> Arc<Delayed> {
        Arc::new(Delayed(delay_ms, LogicalType::Timestamp(3).nullable()))
    }
}

impl Expression for Delayed {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let times = batch.column(2).as_primitive::<TimestampMillisecondType>();
        Ok(Arc::new(times.unary::<_, TimestampMillisecondType>(|time| time - self.0)))
    }

    fn sql_type(&self) -> &SqlType {
        &self.1
    }

    fn sql(&self) -> String {
        format!("ts - {}", self.0)
    }

    fn columns(&self) -> Vec<usize> {
        vec![2]
    }
}

/// A source of fixed splits. One permit lets one batch out; without permits it waits.
#[derive(Debug)]
pub struct Replay {
    splits: Vec<Vec<Row>>,
    batch_rows: usize,
    permits: Arc<Semaphore>,
    ends: bool,
    fails_at: Option<i64>,
    /// Failures at that value which still come, all of a kind that can pass.
    outages: Option<Arc<AtomicUsize>>,
    kind: fn(&Row) -> RowKind,
    pub completed: Arc<AtomicUsize>,
}

impl Replay {
    pub fn new(splits: Vec<Vec<Row>>, batch_rows: usize) -> Replay {
        let permits = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        let kind = |_: &Row| RowKind::Insert;
        let completed = Arc::default();
        Replay { splits, batch_rows, permits, ends: true, fails_at: None, outages: None, kind, completed }
    }

    /// Only as many batches as there are permits.
    pub fn gated(mut self, permits: usize) -> Replay {
        self.permits = Arc::new(Semaphore::new(permits));
        self
    }

    /// Waits for more rows at the end.
    pub fn endless(mut self) -> Replay {
        self.ends = false;
        self
    }

    /// Fails instead of giving the row with this value.
    pub fn failing_at(mut self, value: i64) -> Replay {
        self.fails_at = Some(value);
        self
    }

    /// The same, but only so often, and as if something outside were away.
    pub fn away_at(mut self, value: i64, times: usize) -> Replay {
        self.outages = Some(Arc::new(AtomicUsize::new(times)));
        self.failing_at(value)
    }

    /// Gives each row the kind that `kind` says.
    pub fn of_kinds(mut self, kind: fn(&Row) -> RowKind) -> Replay {
        self.kind = kind;
        self
    }

    pub fn permits(&self) -> Arc<Semaphore> {
        self.permits.clone()
    }
}

impl SourceProvider for Replay {
    fn start<'a>(&'a self, _: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn reader(&self, instance: Instance, restored: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        let own = self.splits.iter().enumerate().filter(|(index, _)| index % instance.parallelism == instance.index);
        let splits = own.map(|(index, rows)| {
            let id = SplitId::from(format!("split-{index}"));
            let state = restored.iter().find(|state| state.split == id);
            let offset = state.map_or(0, |state| state.position[0] as usize);
            ReplaySplit { id, rows: rows.clone(), offset, started: false, finished: false }
        });
        Ok(Box::new(ReplayReader {
            splits: splits.collect(),
            batch_rows: self.batch_rows,
            permits: self.permits.clone(),
            ends: self.ends,
            fails_at: self.fails_at,
            outages: self.outages.clone(),
            kind: self.kind,
            turn: 0,
            records: 0,
            completed: self.completed.clone(),
        }))
    }

    fn splits_max(&self) -> Option<usize> {
        Some(self.splits.len())
    }
}

struct ReplaySplit {
    id: SplitId,
    rows: Vec<Row>,
    offset: usize,
    started: bool,
    finished: bool,
}

struct ReplayReader {
    splits: Vec<ReplaySplit>,
    batch_rows: usize,
    permits: Arc<Semaphore>,
    ends: bool,
    fails_at: Option<i64>,
    outages: Option<Arc<AtomicUsize>>,
    kind: fn(&Row) -> RowKind,
    turn: usize,
    records: u64,
    completed: Arc<AtomicUsize>,
}

impl ReplayReader {
    async fn next_event(&mut self) -> Result<SourceEvent> {
        if let Some(split) = self.splits.iter_mut().find(|split| !split.started) {
            split.started = true;
            return Ok(SourceEvent::SplitStarted(split.id.clone()));
        }
        let ended = |split: &&mut ReplaySplit| split.offset == split.rows.len() && !split.finished;
        if let Some(split) = self.splits.iter_mut().find(ended).filter(|_| self.ends) {
            split.finished = true;
            return Ok(SourceEvent::SplitFinished(split.id.clone()));
        }
        let count = self.splits.len();
        let open = (0..count).map(|step| (self.turn + step) % count);
        let Some(index) = open.into_iter().find(|&index| self.splits[index].offset < self.splits[index].rows.len())
        else {
            return if self.ends { Ok(SourceEvent::End) } else { pending().await };
        };
        self.permits.acquire().await.expect("never closed").forget();
        self.turn = index + 1;
        let split = &mut self.splits[index];
        let end = (split.offset + self.batch_rows).min(split.rows.len());
        let batch = &split.rows[split.offset..end];
        if batch.iter().any(|row| Some(row.1) == self.fails_at) {
            let Some(outages) = &self.outages else { return Err(Error::unsupported("reading on")) };
            if outages.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
                return Err(Error::io("read", "a source", &std::io::Error::other("it is away")));
            }
        }
        self.records += batch.len() as u64;
        split.offset = end;
        let batch = ChangelogBatch::new(records(batch), batch.iter().map(self.kind).collect::<Vec<_>>());
        Ok(SourceEvent::Batch { split: split.id.clone(), batch })
    }
}

impl SourceReader for ReplayReader {
    fn next<'a>(&'a mut self, _request: ReadRequest<'a>) -> BoxFuture<'a, Result<SourceEvent>> {
        Box::pin(self.next_event())
    }

    fn snapshot(&mut self) -> Result<Vec<SplitState>> {
        let state = |split: &ReplaySplit| SplitState { split: split.id.clone(), position: vec![split.offset as u8] };
        Ok(self.splits.iter().map(state).collect())
    }

    fn statistics(&self) -> SourceStatistics {
        SourceStatistics { records: self.records, ..SourceStatistics::default() }
    }

    fn checkpoint_complete(&mut self, _epoch: Epoch) {
        self.completed.fetch_add(1, Ordering::SeqCst);
    }
}

/// A sink that remembers what was written and what was committed.
#[derive(Debug, Default)]
pub struct Memory {
    pub written: Arc<Mutex<Vec<Row>>>,
    /// Watermarks and rows as they came, as text.
    pub seen: Arc<Mutex<Vec<String>>>,
    pub changed: Arc<Notify>,
    pub committed_bytes: Mutex<BTreeSet<Vec<u8>>>,
    pub aborts: Arc<AtomicUsize>,
    pub flushes: Arc<AtomicUsize>,
    pub finished: AtomicBool,
    pub commit_panics: bool,
    pub fails_at: Option<i64>,
    /// Writing waits while this is true.
    pub blocked: Option<watch::Receiver<bool>>,
    /// Every batch that is written takes one of these.
    pub permits: Option<Arc<Semaphore>>,
}

impl Memory {
    /// Committed rows, sorted.
    pub fn committed(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for committable in self.committed_bytes.lock().expect("not poisoned").iter() {
            let text = String::from_utf8(committable.clone()).expect("text");
            for line in text.lines().skip(1) {
                let mut parts = line.split(' ');
                let mut number = || parts.next().and_then(|part| part.parse().ok());
                rows.push((number().expect("k"), number().expect("v"), number()));
            }
        }
        rows.sort();
        rows
    }

    pub fn written(&self) -> Vec<Row> {
        self.written.lock().expect("not poisoned").clone()
    }

    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("not poisoned").clone()
    }

    /// Waits until `count` rows have been written.
    pub async fn wait_for_rows(&self, count: usize) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.written.lock().expect("not poisoned").len() >= count {
                return;
            }
            changed.await;
        }
    }
}

impl SinkProvider for Memory {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn writer(&self, instance: Instance, _restored: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(MemoryWriter {
            instance: instance.index,
            batch: Vec::new(),
            written: self.written.clone(),
            seen: self.seen.clone(),
            changed: self.changed.clone(),
            aborts: self.aborts.clone(),
            flushes: self.flushes.clone(),
            fails_at: self.fails_at,
            blocked: self.blocked.clone(),
            permits: self.permits.clone(),
        }))
    }

    fn commit<'a>(&'a self, _epoch: Epoch, committables: &'a [Committable]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            assert!(!self.commit_panics, "no commit today");
            let committed = committables.iter().map(|committable| committable.0.to_vec());
            self.committed_bytes.lock().expect("not poisoned").extend(committed);
            Ok(())
        })
    }

    fn finish<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            self.finished.store(true, Ordering::SeqCst);
            Ok(())
        })
    }
}

struct MemoryWriter {
    instance: usize,
    batch: Vec<Row>,
    written: Arc<Mutex<Vec<Row>>>,
    seen: Arc<Mutex<Vec<String>>>,
    changed: Arc<Notify>,
    aborts: Arc<AtomicUsize>,
    flushes: Arc<AtomicUsize>,
    fails_at: Option<i64>,
    blocked: Option<watch::Receiver<bool>>,
    permits: Option<Arc<Semaphore>>,
}

impl SinkWriter for MemoryWriter {
    fn write<'a>(&'a mut self, batch: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            if let Some(blocked) = &mut self.blocked {
                let _ = blocked.wait_for(|blocked| !blocked).await;
            }
            if let Some(permits) = &self.permits {
                permits.acquire().await.expect("open").forget();
            }
            let rows = rows(batch);
            if rows.iter().any(|row| Some(row.1) == self.fails_at) {
                return Err(Error::unsupported("writing on"));
            }
            self.batch.extend(&rows);
            let line = rows.iter().map(|row| row.1.to_string()).collect::<Vec<_>>().join(" ");
            self.seen.lock().expect("not poisoned").push(line);
            self.written.lock().expect("not poisoned").extend(&rows);
            self.changed.notify_waiters();
            Ok(())
        })
    }

    fn watermark(&mut self, watermark_ms: i64) {
        let text = if watermark_ms == i64::MAX { "wm max".into() } else { format!("wm {watermark_ms}") };
        self.seen.lock().expect("not poisoned").push(text);
    }

    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            self.flushes.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
    }

    fn prepare_commit<'a>(&'a mut self, epoch: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>> {
        Box::pin(async move {
            let mut text = format!("{} {epoch}\n", self.instance);
            for (k, v, ts) in self.batch.drain(..) {
                text.push_str(&format!("{k} {v} {}\n", ts.map_or("-".into(), |ts| ts.to_string())));
            }
            Ok(vec![text.into_bytes().into()])
        })
    }

    fn snapshot(&mut self) -> Result<Vec<u8>> {
        Ok(vec![self.instance as u8])
    }

    fn abort<'a>(&'a mut self) -> BoxFuture<'a, ()> {
        Box::pin(async {
            self.aborts.fetch_add(1, Ordering::SeqCst);
        })
    }
}

/// What an operator of the tests does, chosen by its operator id.
#[derive(Debug)]
pub enum TestOperator {
    /// Replaces the value by the running sum of its key; rows at or before the watermark are dropped as late.
    Sum(Sum),
    /// Passes rows on, and fails at a value.
    Fail(i64, Option<ChangelogBatch>),
    /// Panics on rows.
    Panic,
}

#[derive(Debug)]
pub struct Sum {
    instance: Instance,
    sums: BTreeMap<i64, i64>,
    late_rows: u64,
    output: Vec<Row>,
}

impl TestOperator {
    pub fn create(operator_id: &str, instance: Instance) -> Box<dyn Operator> {
        let sum = Sum { instance, sums: BTreeMap::new(), late_rows: 0, output: Vec::new() };
        Box::new(match operator_id {
            "panic" => TestOperator::Panic,
            "sum" => TestOperator::Sum(sum),
            other => {
                TestOperator::Fail(other.strip_prefix("fail ").map_or(i64::MAX, |v| v.parse().expect("a value")), None)
            }
        })
    }
}

impl Operator for TestOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let TestOperator::Sum(sum) = self else { return Ok(()) };
        let groups = groups_of_instance(sum.instance.index, sum.instance.parallelism);
        for (key, value) in restored.iter().flat_map(|snapshot| &snapshot.values) {
            let key: i64 = key.parse().expect("a key");
            let column: ArrayRef = Arc::new(Int64Array::from(vec![key]));
            if groups.contains(&key_group(hash_columns(&[column], 1)?[0])) {
                assert!(sum.sums.insert(key, *value).is_none(), "one owner per key");
            }
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        match self {
            TestOperator::Panic => panic!("no such luck"),
            TestOperator::Fail(value, output) => {
                if rows(&batch).iter().any(|row| row.1 == *value) {
                    return Err(Error::unsupported("operating on"));
                }
                *output = Some(batch);
            }
            TestOperator::Sum(sum) => {
                assert!(batch.num_rows() <= context.rows_max, "batches are bounded on every edge");
                for (key, value, ts) in rows(&batch) {
                    if ts.is_some() && ts <= context.watermark_ms {
                        sum.late_rows += 1;
                        continue;
                    }
                    let total = sum.sums.entry(key).or_default();
                    *total += value;
                    sum.output.push((key, *total, ts));
                }
            }
        }
        Ok(())
    }

    fn next_output(&mut self, _context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(match self {
            TestOperator::Panic => None,
            TestOperator::Fail(_, output) => output.take(),
            TestOperator::Sum(sum) => {
                let output = std::mem::take(&mut sum.output);
                (!output.is_empty()).then(|| ChangelogBatch::inserts(records(&output)))
            }
        })
    }

    fn snapshot(&mut self, _scope: Scope) -> Result<OperatorSnapshot> {
        let TestOperator::Sum(sum) = self else { return Ok(OperatorSnapshot::default()) };
        let values = sum.sums.iter().map(|(key, value)| (key.to_string(), *value)).collect();
        Ok(OperatorSnapshot { values, ..OperatorSnapshot::default() })
    }

    fn statistics(&self) -> OperatorStatistics {
        let TestOperator::Sum(sum) = self else { return OperatorStatistics::default() };
        let late_sample = (sum.late_rows > 0).then(|| "late".to_string());
        OperatorStatistics {
            late_rows: sum.late_rows,
            late_sample,
            state_entries: sum.sums.len() as u64,
            ..OperatorStatistics::default()
        }
    }
}
