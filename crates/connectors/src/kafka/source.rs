//! The Kafka source: one client per reader, all its partitions read in batches.
//!
//! Partitions are dealt by their name and number, so that every reader knows its own without asking the others. Positions
//! are offsets that the reader keeps: they move when rows are given, and by nothing else. The client is told where to begin
//! and never asked where it is, because it is ahead by what it has fetched.

use super::client::{Listener, Reports, Role, known_end};
use super::input::{Input, Start};
use super::layout::{Decoders, Layout, Place, Rows};
use super::look::{self, Found, Look, owner};
use super::outage::Outage;
use super::position::{Position, split_id};
use super::probe;
use super::table::{KafkaTable, Stop};
use base::connector::*;
use base::{BoxFuture, Epoch, Error, Location, Result};
use futures_util::{FutureExt, StreamExt};
use rdkafka::consumer::{CommitMode, Consumer, StreamConsumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Reasons of rejected records that are kept for the job summary.
const SAMPLES_MAX: usize = 5;
/// Bytes gathered before they are decoded.
const GATHERED_BYTES_MAX: usize = 8 << 20;
/// Messages looked at before other tasks get their turn, whether they are wanted or not.
const POLLS_MIN: usize = 1024;

type Client = StreamConsumer<Listener>;

/// The source of one table.
#[derive(Debug)]
pub(crate) struct KafkaSource(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    table: Arc<KafkaTable>,
    layout: Layout,
    /// Where every partition is read from, known once the source has started.
    starts: Mutex<Vec<Start>>,
}

impl KafkaSource {
    /// The source of a table for one scan. Opens nothing.
    ///
    /// # Errors
    /// Column types that a format cannot read.
    pub fn new(table: KafkaTable, scan: &ScanSpec) -> Result<KafkaSource> {
        let layout = Layout::new(&table, scan)?;
        // Types that a format cannot read are reported before anything is opened.
        layout.decoders(&table)?;
        Ok(KafkaSource(Arc::new(Shared { table: Arc::new(table), layout, starts: Mutex::default() })))
    }
}

impl Shared {
    fn starts(&self) -> Vec<Start> {
        self.starts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl SourceProvider for KafkaSource {
    fn start<'a>(&'a self, restored: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async move {
            let table = &self.0.table;
            let topics = probe::topics(table, Role::Consumer).await?;
            let restored = restored.iter().map(Position::decode).collect::<Result<Vec<_>>>()?;
            let warnings = if table.is_upsert { probe::compaction(table, &topics).await } else { Vec::new() };
            let starts = {
                let table = table.clone();
                probe::blocking(move || look::starts(&table, &topics, restored)).await?
            };
            *self.0.starts.lock().unwrap_or_else(PoisonError::into_inner) = starts;
            Ok(warnings)
        })
    }

    fn splits_max(&self) -> Option<usize> {
        let partitions = Some(self.0.starts().len()).filter(|count| *count > 0);
        match (partitions, self.0.table.scan_parallelism) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn reader(&self, instance: Instance, _: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        let is_own = |start: &Start| {
            owner(&start.position.topic, start.position.partition, instance.parallelism) == instance.index
        };
        let own = self.0.starts().into_iter().filter(is_own);
        Ok(Box::new(KafkaReader::new(self.0.clone(), instance, own)?))
    }
}

/// An event to give, and the split whose position moves with it.
type Waiting = (SourceEvent, Option<(usize, i64)>);

struct KafkaReader {
    shared: Arc<Shared>,
    instance: Instance,
    decoders: Decoders,
    input: Input,
    /// Events to give before anything is read.
    events: VecDeque<Waiting>,
    /// The error that follows the rows before a bad record.
    failed: Option<Error>,
    consumer: Option<Arc<Client>>,
    /// The topic whose partitions the client reads: a bounded source reads one after the other, because the client says of
    /// an end only the number of the partition.
    topic: Option<Arc<str>>,
    reports: Arc<Reports>,
    outage: Outage,
    idle: bool,
    /// When to look for new partitions.
    next_look: Option<Instant>,
    look: Option<JoinHandle<Result<Found>>>,
    /// The look that is to follow the one under way.
    look_after: Option<Look>,
    /// The positions of the last snapshot.
    snapshot: Vec<Position>,
    commits: Commits,
    statistics: SourceStatistics,
}

impl KafkaReader {
    fn new(shared: Arc<Shared>, instance: Instance, starts: impl Iterator<Item = Start>) -> Result<KafkaReader> {
        let decoders = shared.layout.decoders(&shared.table)?;
        let mut reader = KafkaReader {
            instance,
            decoders,
            input: Input::default(),
            events: VecDeque::new(),
            failed: None,
            consumer: None,
            topic: None,
            reports: Arc::default(),
            outage: Outage::new(shared.table.clone()),
            idle: false,
            next_look: None,
            look: None,
            look_after: None,
            snapshot: Vec::new(),
            commits: Commits::default(),
            statistics: SourceStatistics::default(),
            shared,
        };
        starts.for_each(|start| reader.begin(start));
        Ok(reader)
    }

    fn table(&self) -> &Arc<KafkaTable> {
        &self.shared.table
    }

    fn is_bounded(&self) -> bool {
        self.table().stop != Stop::Never
    }

    /// Tells the job of a partition. One that has nothing to read ends at once.
    fn begin(&mut self, start: Start) {
        self.idle = false;
        let id = split_id(&start.position.topic, start.position.partition);
        let index = self.input.add(start);
        self.events.push_back((SourceEvent::SplitStarted(id), None));
        self.finish_if_done(index);
    }

    /// Ends a bounded partition whose last record has been taken.
    fn finish_if_done(&mut self, index: usize) {
        let split = &mut self.input.splits[index];
        if split.finished || !split.is_done() {
            return;
        }
        split.finished = true;
        // What nobody may see before the stop has been passed as well.
        let next = split.position.stop.unwrap_or(split.expected);
        self.events.push_back((SourceEvent::SplitFinished(split.id.clone()), Some((index, next))));
        if let (Some(consumer), Ok(list)) = (&self.consumer, partition_list([&split.position])) {
            // What it would go on fetching is not wanted; a partition that is not assigned needs no leave.
            let _ = consumer.incremental_unassign(&list);
        }
    }

    /// Makes the client and tells it what to read.
    fn open(&mut self) -> Result<()> {
        if self.consumer.is_none() {
            let settings = &self.shared.table.settings;
            let created = settings.config(Role::Consumer).create_with_context(Listener(self.reports.clone()));
            self.consumer = Some(Arc::new(created.map_err(|error| settings.creation_error(&error))?));
            self.schedule_look();
            if !self.is_bounded() {
                return self.assign(|_| true);
            }
        }
        let is_open =
            |topic: &Arc<str>| self.input.splits.iter().any(|split| !split.finished && split.position.topic == *topic);
        if !self.is_bounded() || self.topic.as_ref().is_some_and(is_open) {
            return Ok(());
        }
        self.topic = self.input.splits.iter().find(|split| !split.finished).map(|split| split.position.topic.clone());
        match self.topic.clone() {
            Some(topic) => self.assign(|position| position.topic == topic),
            None => Ok(()),
        }
    }

    /// Tells the client to read these unfinished partitions and no others.
    fn assign(&self, is_wanted: impl Fn(&Position) -> bool) -> Result<()> {
        let Some(consumer) = &self.consumer else { return Err(Error::internal("the reader is not open")) };
        let unfinished = self.input.splits.iter().filter(|split| !split.finished && is_wanted(&split.position));
        let resumed: Vec<Position> = unfinished.map(|split| split.resume()).collect();
        consumer.assign(&partition_list(&resumed)?).map_err(|error| self.consumer_error(&error))
    }

    fn schedule_look(&mut self) {
        let interval = self.table().discovery.filter(|_| !self.is_bounded());
        self.next_look = interval.map(|interval| Instant::now() + interval);
    }

    fn consumer_error(&self, error: &KafkaError) -> Error {
        let table = self.table();
        let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail);
        probe::request_problem(table, &table.topics_text(), Role::Consumer, code, self.reports.take_error())
    }

    /// Takes what has arrived, without waiting.
    fn gather(&mut self, rows_max: usize) -> Result<()> {
        let Some(consumer) = &self.consumer else { return Err(Error::internal("the reader is not open")) };
        let mut stream = consumer.stream();
        let mut problem = None;
        for _ in 0..rows_max.max(POLLS_MIN) {
            if self.input.messages >= rows_max || self.input.bytes >= GATHERED_BYTES_MAX {
                break;
            }
            match stream.next().now_or_never() {
                Some(Some(Ok(message))) => self.input.take(&message, &self.shared.layout),
                Some(Some(Err(error))) => {
                    problem = Some(error);
                    break;
                }
                Some(None) | None => break,
            }
        }
        drop(stream);
        match problem {
            Some(error) => self.on_problem(&error),
            None => Ok(()),
        }
    }

    /// What the client says besides records.
    fn on_problem(&mut self, error: &KafkaError) -> Result<()> {
        if let KafkaError::PartitionEOF(partition) = error {
            self.outage.end();
            self.on_end(*partition);
            return Ok(());
        }
        let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail);
        match code {
            RDKafkaErrorCode::UnknownTopicOrPartition
            | RDKafkaErrorCode::UnknownTopic
            | RDKafkaErrorCode::UnknownPartition => self.start_look(Look::AtGoneTopics),
            RDKafkaErrorCode::AutoOffsetReset | RDKafkaErrorCode::OffsetOutOfRange => {
                self.start_look(Look::AtLostOffsets);
            }
            code if probe::heals(code) && !matches!(error, KafkaError::MessageConsumptionFatal(_)) => {
                // The client connects again by itself.
                tracing::debug!(table = %self.table().name, "the Kafka client says: {code}");
                if code == RDKafkaErrorCode::AllBrokersDown {
                    let reports = &self.reports;
                    self.outage.begin(|| reports.take_error().map_or_else(|| code.to_string(), |(_, reason)| reason));
                }
            }
            _ => return Err(self.consumer_error(error)),
        }
        Ok(())
    }

    /// The client has given the last record of a partition for now.
    fn on_end(&mut self, partition: i32) {
        let index = match &self.topic {
            Some(topic) => self.input.find(topic, partition),
            None => self.input.find_only(partition),
        };
        let Some(index) = index else { return };
        let split = &mut self.input.splits[index];
        split.at_end = true;
        let asks = !split.finished && split.position.stop.is_some() && !split.stop_is_written;
        self.finish_if_done(index);
        if asks {
            self.start_look(Look::AtStops);
        }
    }

    /// Makes events of what has been gathered.
    fn decode(&mut self) -> Result<()> {
        self.outage.end();
        let touched = std::mem::take(&mut self.input.touched);
        self.input.messages = 0;
        self.statistics.bytes += self.input.bytes as u64;
        self.input.bytes = 0;
        for &index in &touched {
            self.decode_split(index)?;
            if self.failed.is_some() {
                break;
            }
        }
        // The memory is kept; a job that has failed reads no more.
        self.input.touched = touched;
        self.input.touched.clear();
        Ok(())
    }

    fn decode_split(&mut self, index: usize) -> Result<()> {
        let shared = self.shared.clone();
        let split = &mut self.input.splits[index];
        let (topic, partition) = (split.position.topic.clone(), split.position.partition);
        let offsets = split.pending.offsets.clone();
        let from = Place { table: &shared.table.name, topic: &topic, partition };
        let Rows { batch, rejected, failed } = shared.layout.decode(&mut self.decoders, &mut split.pending, from)?;
        let place = |message: usize| Location::Record {
            resource: topic.to_string(),
            position: format!("partition {partition} offset {}", offsets[message]),
        };
        let read = failed.as_ref().map_or(offsets.len(), |(message, _)| *message);
        // A restart begins with the bad record again; the rows before it count.
        let next = failed.as_ref().map_or(split.expected, |(message, _)| offsets[*message]);
        self.failed = failed.map(|(message, error)| error.at(place(message)));
        self.statistics.records += read as u64;
        self.statistics.rejected += rejected.len() as u64;
        for (message, error) in rejected {
            if self.statistics.rejected_samples.len() < SAMPLES_MAX {
                self.statistics.rejected_samples.push(error.at(place(message as usize)));
            }
        }
        if batch.is_empty() {
            // No event of this split is waiting: the queue was empty before this round.
            self.input.splits[index].position.next = next;
        } else {
            let split = self.input.splits[index].id.clone();
            self.events.push_back((SourceEvent::Batch { split, batch }, Some((index, next))));
        }
        if self.failed.is_none() {
            self.finish_if_done(index);
        }
        Ok(())
    }

    /// Asks the cluster in the background.
    fn start_look(&mut self, look: Look) {
        if self.look.is_some() {
            // The client reports a problem once: it must not be forgotten.
            if look != Look::ForPartitions {
                self.look_after = Some(look);
            }
            return;
        }
        let table = self.shared.table.clone();
        let unfinished = self.input.splits.iter().filter(|split| !split.finished);
        let positions: Vec<Position> = unfinished.map(|split| split.resume()).collect();
        let instance = self.instance;
        self.look = Some(tokio::task::spawn_blocking(move || look.run(&table, &positions, instance)));
    }

    /// Takes over what a look has found.
    fn on_look(&mut self, found: Result<Found>) -> Result<()> {
        self.look = None;
        if let Some(look) = self.look_after.take() {
            self.start_look(look);
        }
        self.schedule_look();
        let found = found?;
        let mut begun = Vec::new();
        for start in found.starts {
            match self.input.find(&start.position.topic, start.position.partition) {
                // The client has given the partition up, or has to show its end once more: it is told to begin again.
                Some(index) => {
                    let split = &mut self.input.splits[index];
                    split.stop_is_written |= start.stop_is_written;
                    split.at_end = false;
                    if !split.finished && self.topic.as_ref().is_none_or(|topic| *topic == split.position.topic) {
                        begun.push(split.resume());
                    }
                }
                None => {
                    begun.push(start.position.clone());
                    self.begin(start);
                }
            }
        }
        tracing::debug!(table = %self.table().name, look = ?found.look, partitions = begun.len(), "looked");
        let Some(consumer) = self.consumer.as_ref().filter(|_| !begun.is_empty()) else { return Ok(()) };
        let list = partition_list(&begun)?;
        // New partitions cannot be taken away, which is no problem.
        let _ = consumer.incremental_unassign(&list);
        consumer.incremental_assign(&list).map_err(|error| self.consumer_error(&error))
    }

    fn ended(&self) -> bool {
        self.is_bounded() && self.input.splits.iter().all(|split| split.finished)
    }

    /// The next event, if one can be given without reading.
    fn ready(&mut self) -> Result<Option<SourceEvent>> {
        if let Some((event, moved)) = self.events.pop_front() {
            if let Some((index, next)) = moved {
                self.input.splits[index].position.next = next;
            }
            return Ok(Some(event));
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.ended() {
            return Ok(Some(SourceEvent::End));
        }
        if self.input.splits.is_empty() && !self.idle {
            self.idle = true;
            return Ok(Some(SourceEvent::Idle));
        }
        Ok(None)
    }

    /// Waits for a message, for the end of a look, or until one is due. Loses nothing when dropped.
    async fn wait(&mut self) -> Result<()> {
        let Some(consumer) = &self.consumer else { return Err(Error::internal("the reader is not open")) };
        let mut stream = consumer.stream();
        let due = self.next_look.filter(|_| self.look.is_none());
        let woken = tokio::select! {
            message = stream.next() => match message {
                Some(Ok(message)) => {
                    self.input.take(&message, &self.shared.layout);
                    Woken::Input
                }
                Some(Err(error)) => Woken::Problem(error),
                None => Woken::Input,
            },
            found = joined(&mut self.look) => Woken::Look(found),
            () = sleep_until(due) => Woken::LookDue,
        };
        drop(stream);
        match woken {
            Woken::Input => Ok(()),
            Woken::Problem(error) => self.on_problem(&error),
            Woken::Look(found) => self.on_look(found),
            Woken::LookDue => {
                self.start_look(Look::ForPartitions);
                Ok(())
            }
        }
    }
}

/// What ended a wait.
enum Woken {
    Input,
    Problem(KafkaError),
    Look(Result<Found>),
    LookDue,
}

/// The end of a look; never without one.
async fn joined(look: &mut Option<JoinHandle<Result<Found>>>) -> Result<Found> {
    match look {
        None => std::future::pending().await,
        Some(handle) => match handle.await {
            Ok(found) => found,
            Err(error) => Err(Error::internal(format!("a look at the cluster did not end: {error}"))),
        },
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Partitions with their positions for the client.
fn partition_list<'a>(positions: impl IntoIterator<Item = &'a Position>) -> Result<TopicPartitionList> {
    let mut list = TopicPartitionList::new();
    for position in positions {
        list.add_partition_offset(&position.topic, position.partition, Offset::Offset(position.next))
            .map_err(|error| Error::internal(format!("offset {}: {error}", position.next)))?;
    }
    Ok(list)
}

/// Offsets committed for those who monitor the consumer group: one commit at a time, the newest positions last.
#[derive(Debug, Default)]
struct Commits {
    running: Option<JoinHandle<()>>,
    /// What is to be committed after the one that runs.
    next: Option<TopicPartitionList>,
}

impl Commits {
    fn add(&mut self, consumer: &Arc<Client>, list: TopicPartitionList) {
        self.next = Some(list);
        if self.running.as_ref().is_none_or(JoinHandle::is_finished) {
            self.run(consumer);
        }
    }

    fn run(&mut self, consumer: &Arc<Client>) {
        self.running = self.next.take().map(|list| {
            let consumer = consumer.clone();
            tokio::task::spawn_blocking(move || {
                if let Err(error) = consumer.commit(&list, CommitMode::Sync) {
                    // Only monitors read these offsets: the job goes on from its checkpoint.
                    tracing::warn!("offsets were not committed: {error}");
                }
            })
        });
    }

    async fn finish(&mut self, consumer: &Arc<Client>) {
        while let Some(commit) = &mut self.running {
            let _ = commit.await;
            self.run(consumer);
        }
    }
}

impl SourceReader for KafkaReader {
    fn next<'a>(&'a mut self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<SourceEvent>> {
        Box::pin(async move {
            loop {
                if let Some(event) = self.ready()? {
                    return Ok(event);
                }
                self.open()?;
                self.gather(request.rows_max)?;
                if !self.input.touched.is_empty() {
                    self.decode()?;
                } else if self.events.is_empty() && !self.ended() {
                    self.wait().await?;
                }
            }
        })
    }

    fn snapshot(&mut self) -> Result<Vec<SplitState>> {
        self.snapshot = self.input.splits.iter().map(|split| split.position.clone()).collect();
        Ok(self.snapshot.iter().map(Position::encode).collect())
    }

    fn statistics(&self) -> SourceStatistics {
        let behind = |split: &super::input::Split| {
            if split.finished || (split.at_end && split.expected == split.position.next) {
                return Some(0);
            }
            let consumer = self.consumer.as_ref()?;
            let end = known_end(consumer.client(), &split.position.topic, split.position.partition)?;
            Some((end.min(split.position.stop.unwrap_or(i64::MAX)) - split.position.next).max(0) as u64)
        };
        let lag = self.input.splits.iter().map(behind).sum();
        SourceStatistics { lag, ..self.statistics.clone() }
    }

    /// The first answers of brokers may be on their way.
    fn holds_nothing_back(&self) -> bool {
        false
    }

    fn checkpoint_complete(&mut self, _: Epoch) {
        if !self.table().commits_offsets || self.snapshot.is_empty() {
            return;
        }
        if let (Some(consumer), Ok(list)) = (&self.consumer, partition_list(&self.snapshot)) {
            self.commits.add(consumer, list);
        }
    }

    fn close<'a>(&'a mut self) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some(consumer) = &self.consumer {
                self.commits.finish(consumer).await;
            }
        })
    }
}

impl Drop for KafkaReader {
    /// The client's end can wait for a broker that does not answer: nobody else has to wait with it.
    fn drop(&mut self) {
        if let (Some(consumer), Ok(runtime)) = (self.consumer.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn_blocking(move || drop(consumer));
        }
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
