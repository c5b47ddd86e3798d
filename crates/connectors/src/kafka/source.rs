//! The Kafka source: one client per reader, all its partitions read in batches.
//!
//! Partitions are dealt by their name and number, so that every reader knows its own without asking the others. Positions
//! are offsets that the reader keeps; the client is told where to begin and never asked where it is.

use super::client::{Inquirer, Listener, Reports, Role};
use super::codes;
use super::layout::{Decoders, Layout, Pending, Place, Rows};
use super::position::{Position, split_id};
use super::probe::{self, TopicInfo};
use super::table::KafkaTable;
use base::connector::*;
use base::{BoxFuture, Epoch, Error, Location, Result};
use futures_util::{FutureExt, StreamExt};
use rdkafka::consumer::{CommitMode, Consumer, StreamConsumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Message};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Reasons of rejected records that are kept for the job summary.
const SAMPLES_MAX: usize = 5;
/// Bytes gathered before they are decoded.
const GATHERED_BYTES_MAX: usize = 8 << 20;
/// How long the broker may say that a topic is not there before it is believed: it says so while it starts as well.
const GONE_AFTER: Duration = Duration::from_secs(6);
/// The time between two looks at such a topic.
const GONE_RETRY: Duration = Duration::from_millis(500);
/// How long to wait for an answer about such a topic before the client is told to begin again anyway.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
/// How often the reports of a bounded source are looked at.
const END_CHECK: Duration = Duration::from_millis(50);

/// The source of one table.
#[derive(Debug)]
pub(crate) struct KafkaSource(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    table: Arc<KafkaTable>,
    layout: Layout,
    /// Where every partition is read from, known once the source has started.
    positions: Mutex<Vec<Position>>,
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
        Ok(KafkaSource(Arc::new(Shared { table: Arc::new(table), layout, positions: Mutex::default() })))
    }
}

impl Shared {
    fn positions(&self) -> Vec<Position> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The instance that reads a partition: the partitions of one topic go round, beginning where the topic's name says.
    fn owner(topic: &str, partition: i32, parallelism: usize) -> usize {
        let first = topic.bytes().fold(0usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte as usize));
        first.wrapping_add(partition as usize) % parallelism
    }
}

impl SourceProvider for KafkaSource {
    fn start<'a>(&'a self, restored: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async move {
            let table = &self.0.table;
            let topics = probe::topics(table, Role::Consumer).await?;
            let restored = restored.iter().map(Position::decode).collect::<Result<Vec<_>>>()?;
            let warnings = if table.is_upsert { probe::compaction(table, &topics).await } else { Vec::new() };
            let positions = {
                let table = table.clone();
                probe::blocking(move || first_positions(&table, &topics, restored)).await?
            };
            *self.0.positions.lock().unwrap_or_else(PoisonError::into_inner) = positions;
            Ok(warnings)
        })
    }

    fn splits_max(&self) -> Option<usize> {
        let partitions = Some(self.0.positions().len()).filter(|count| *count > 0);
        match (partitions, self.0.table.scan_parallelism) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn reader(&self, instance: Instance, _: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        let shared = self.0.clone();
        let own = shared.positions().into_iter();
        let own = own.filter(|p| Shared::owner(&p.topic, p.partition, instance.parallelism) == instance.index);
        Ok(Box::new(KafkaReader::new(shared.clone(), instance, own.collect())?))
    }
}

/// Where each partition is read from: where the last run ended, or as the options say. A partition that the last run did
/// not know is new and read from its beginning.
fn first_positions(table: &KafkaTable, topics: &[TopicInfo], restored: Vec<Position>) -> Result<Vec<Position>> {
    let inquirer = table.settings.inquirer(Role::Consumer)?;
    if restored.is_empty() {
        let ranges = probe::ranges(table, &inquirer, topics)?;
        let position = |range: probe::Range| Position {
            topic: range.topic,
            partition: range.partition,
            next: range.start,
            stop: range.stop,
        };
        return Ok(ranges.into_iter().map(position).collect());
    }
    let mut positions = restored;
    for position in &positions {
        let (low, high) = probe::watermarks(table, &inquirer, &position.topic, position.partition)?;
        if !(low..=high).contains(&position.next) {
            let range = (low, high);
            return Err(probe::offset_gone(table, &position.topic, position.partition, position.next, range));
        }
    }
    let known: Vec<SplitId> = positions.iter().map(|p| split_id(&p.topic, p.partition)).collect();
    positions.extend(new_positions(table, &inquirer, topics, &known)?);
    Ok(positions)
}

/// Partitions that are not known yet, from their beginning. A bounded source reads none of them.
fn new_positions(
    table: &KafkaTable,
    inquirer: &Inquirer,
    topics: &[TopicInfo],
    known: &[SplitId],
) -> Result<Vec<Position>> {
    let mut positions = Vec::new();
    if table.stop != super::table::Stop::Never {
        return Ok(positions);
    }
    for topic in topics {
        for &partition in &topic.partitions {
            if known.contains(&split_id(&topic.name, partition)) {
                continue;
            }
            let (low, _) = probe::watermarks(table, inquirer, &topic.name, partition)?;
            positions.push(Position { topic: topic.name.clone(), partition, next: low, stop: None });
        }
    }
    Ok(positions)
}

/// A partition that is read.
#[derive(Debug)]
struct Split {
    id: SplitId,
    position: Position,
    finished: bool,
    pending: Pending,
    /// The next offset that the last report named, if nothing has been read since.
    reported: Option<i64>,
}

/// The partitions of a reader and what has been gathered of them.
#[derive(Debug, Default)]
struct Input {
    splits: Vec<Split>,
    /// By topic, the split of each partition number.
    by_topic: Vec<(Arc<str>, Vec<Option<usize>>)>,
    /// Splits with pending messages, in the order of their first one.
    touched: Vec<usize>,
    messages: usize,
    bytes: usize,
}

impl Input {
    fn add(&mut self, position: Position) {
        let index = self.splits.len();
        let number = position.partition as usize;
        let known = self.by_topic.iter().position(|(topic, _)| *topic == position.topic);
        let topic = known.unwrap_or_else(|| {
            self.by_topic.push((position.topic.clone(), Vec::new()));
            self.by_topic.len() - 1
        });
        let partitions = &mut self.by_topic[topic].1;
        partitions.resize(partitions.len().max(number + 1), None);
        partitions[number] = Some(index);
        let id = split_id(&position.topic, position.partition);
        self.splits.push(Split { id, position, finished: false, pending: Pending::default(), reported: None });
    }

    fn find(&self, topic: &str, partition: i32) -> Option<usize> {
        let (_, partitions) = self.by_topic.iter().find(|(name, _)| **name == *topic)?;
        *partitions.get(partition as usize)?
    }

    /// Takes a message, unless it lies outside of what is read.
    fn take(&mut self, message: &BorrowedMessage<'_>, layout: &Layout) {
        let Some(index) = self.find(message.topic(), message.partition()) else { return };
        let split = &mut self.splits[index];
        let beyond = split.position.stop.is_some_and(|stop| message.offset() >= stop);
        // A partition that was assigned again can give a record twice.
        let before = message.offset() < split.pending.offsets.last().map_or(split.position.next, |last| last + 1);
        if split.finished || beyond || before {
            return;
        }
        if split.pending.is_empty() {
            self.touched.push(index);
        }
        self.bytes += split.pending.push(message, layout);
        self.messages += 1;
    }

    fn is_full(&self, rows_max: usize) -> bool {
        self.messages >= rows_max || self.bytes >= GATHERED_BYTES_MAX
    }
}

struct KafkaReader {
    shared: Arc<Shared>,
    instance: Instance,
    decoders: Decoders,
    input: Input,
    /// Events to give before anything is read.
    events: VecDeque<SourceEvent>,
    /// The error that follows the rows before a bad record.
    failed: Option<Error>,
    consumer: Option<Arc<StreamConsumer<Listener>>>,
    reports: Arc<Reports>,
    /// The reports that have been looked at.
    reports_seen: u64,
    idle: bool,
    /// When to look for new partitions.
    next_look: Option<Instant>,
    /// The look for new partitions, or at topics that seem to be gone.
    look: Option<JoinHandle<Result<Vec<Position>>>>,
    /// The offsets of the last snapshot, to be committed when it is durable.
    snapshot: Vec<Position>,
    /// The commit that is under way.
    commit: Option<JoinHandle<()>>,
    statistics: SourceStatistics,
}

impl KafkaReader {
    fn new(shared: Arc<Shared>, instance: Instance, positions: Vec<Position>) -> Result<KafkaReader> {
        let decoders = shared.layout.decoders(&shared.table)?;
        let mut reader = KafkaReader {
            instance,
            decoders,
            input: Input::default(),
            events: VecDeque::new(),
            failed: None,
            consumer: None,
            reports: Arc::default(),
            reports_seen: 0,
            idle: false,
            next_look: None,
            look: None,
            snapshot: Vec::new(),
            commit: None,
            statistics: SourceStatistics::default(),
            shared,
        };
        for position in positions {
            reader.begin(position);
        }
        Ok(reader)
    }

    fn table(&self) -> &Arc<KafkaTable> {
        &self.shared.table
    }

    /// Tells the job of a partition. One that has nothing to read ends at once.
    fn begin(&mut self, position: Position) {
        let id = split_id(&position.topic, position.partition);
        self.idle = false;
        self.input.add(position);
        self.events.push_back(SourceEvent::SplitStarted(id));
        self.finish_if_done(self.input.splits.len() - 1);
    }

    /// Ends a bounded partition whose last record has been given.
    fn finish_if_done(&mut self, index: usize) {
        let split = &mut self.input.splits[index];
        let done = split.position.stop.is_some_and(|stop| split.position.next >= stop);
        if done && !split.finished && split.pending.is_empty() {
            split.finished = true;
            self.events.push_back(SourceEvent::SplitFinished(split.id.clone()));
        }
    }

    /// Makes the client and tells it where to begin.
    fn open(&mut self) -> Result<()> {
        if self.consumer.is_some() {
            return Ok(());
        }
        let table = self.shared.table.clone();
        let mut config = table.settings.config(Role::Consumer);
        if table.stop != super::table::Stop::Never {
            // The end of a bounded partition can only be seen in the statistics if its last records are invisible.
            config.set("statistics.interval.ms", "100");
        }
        let created = config.create_with_context(Listener(self.reports.clone()));
        let consumer: StreamConsumer<Listener> = created.map_err(|error| table.settings.creation_error(&error))?;
        let splits = self.input.splits.iter().filter(|split| !split.finished);
        let list = partition_list(splits.map(|split| &split.position))?;
        consumer.assign(&list).map_err(|error| self.consumer_error(&error))?;
        self.consumer = Some(Arc::new(consumer));
        self.next_look = table.discovery.filter(|_| self.discovers()).map(|interval| Instant::now() + interval);
        Ok(())
    }

    fn discovers(&self) -> bool {
        self.table().stop == super::table::Stop::Never
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
        while !self.input.is_full(rows_max) {
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

    /// A problem that the client reports while it goes on.
    fn on_problem(&mut self, error: &KafkaError) -> Result<()> {
        let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail);
        match code {
            RDKafkaErrorCode::UnknownTopicOrPartition
            | RDKafkaErrorCode::UnknownTopic
            | RDKafkaErrorCode::UnknownPartition => self.start_look(Look::AtGoneTopics),
            RDKafkaErrorCode::AutoOffsetReset | RDKafkaErrorCode::OffsetOutOfRange => {
                self.start_look(Look::AtLostOffsets);
            }
            code if probe::is_forbidden(code)
                || matches!(code, RDKafkaErrorCode::Authentication | RDKafkaErrorCode::SaslAuthenticationFailed) =>
            {
                return Err(self.consumer_error(error));
            }
            _ if matches!(error, KafkaError::MessageConsumptionFatal(_)) => return Err(self.consumer_error(error)),
            // The client connects again by itself.
            code => tracing::warn!(table = %self.table().name, "the Kafka client says: {code}"),
        }
        Ok(())
    }

    /// Makes events of what has been gathered.
    fn decode(&mut self) -> Result<()> {
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
        split.reported = None;
        let (topic, partition) = (split.position.topic.clone(), split.position.partition);
        let first = split.pending.offsets.clone();
        let from = Place { table: &shared.table.name, topic: &topic, partition };
        let Rows { batch, rejected, failed } = shared.layout.decode(&mut self.decoders, &mut split.pending, from)?;
        let place = |message: usize| Location::Record {
            resource: topic.to_string(),
            position: format!("partition {partition} offset {}", first[message]),
        };
        let read = failed.as_ref().map_or(first.len(), |(message, _)| *message);
        // A restart begins with the bad record again; the rows before it count.
        split.position.next = match failed {
            Some((message, _)) => first[message],
            None => first.last().map_or(split.position.next, |last| last + 1),
        };
        self.failed = failed.map(|(message, error)| error.at(place(message)));
        self.statistics.records += read as u64;
        self.statistics.rejected += rejected.len() as u64;
        for (message, error) in rejected {
            if self.statistics.rejected_samples.len() < SAMPLES_MAX {
                self.statistics.rejected_samples.push(error.at(place(message as usize)));
            }
        }
        if !batch.is_empty() {
            let split = self.input.splits[index].id.clone();
            self.events.push_back(SourceEvent::Batch { split, batch });
        }
        if self.failed.is_none() {
            self.finish_if_done(index);
        }
        Ok(())
    }

    /// Uses what the client has reported when nothing is waiting to be read: records that nobody may see (markers of
    /// transactions, what compaction has removed) move the position as well. Only a report that says the same as the one
    /// before counts: the client may be about to hand over the records before an offset that it has just reported.
    fn look_at_reports(&mut self) {
        let count = self.reports.count();
        if count == self.reports_seen {
            return;
        }
        self.reports_seen = count;
        for index in 0..self.input.splits.len() {
            let split = &mut self.input.splits[index];
            let report = self.reports.partition(&split.position.topic, split.position.partition);
            let ahead = report.map(|report| report.next).filter(|next| *next > split.position.next);
            match (ahead, split.reported) {
                (Some(next), Some(reported)) if next == reported => {
                    split.position.next = split.position.stop.map_or(next, |stop| next.min(stop));
                    split.reported = None;
                    self.finish_if_done(index);
                }
                _ => split.reported = ahead,
            }
        }
    }

    /// Asks the cluster in the background.
    fn start_look(&mut self, look: Look) {
        if self.look.is_some() {
            return;
        }
        let table = self.shared.table.clone();
        let positions: Vec<Position> =
            self.input.splits.iter().filter(|split| !split.finished).map(|split| split.position.clone()).collect();
        let instance = self.instance;
        self.look = Some(tokio::task::spawn_blocking(move || look.run(&table, positions, instance)));
    }

    /// Takes over what a look has found.
    fn on_look(&mut self, found: Result<Vec<Position>>) -> Result<()> {
        self.look = None;
        self.next_look = self.table().discovery.filter(|_| self.discovers()).map(|interval| Instant::now() + interval);
        let mut list = Vec::new();
        for position in found? {
            match self.input.find(&position.topic, position.partition) {
                // It is there after all: the client has given it up, so it is told to begin again.
                Some(index) => list.push(self.input.splits[index].position.clone()),
                None => {
                    list.push(position.clone());
                    self.begin(position);
                }
            }
        }
        if list.is_empty() {
            return Ok(());
        }
        let Some(consumer) = &self.consumer else { return Ok(()) };
        let partitions = partition_list(list.iter())?;
        // Unknown partitions cannot be taken away, which is no problem.
        let _ = consumer.incremental_unassign(&partitions);
        consumer.incremental_assign(&partitions).map_err(|error| self.consumer_error(&error))
    }

    fn ended(&self) -> bool {
        !self.discovers() && self.input.splits.iter().all(|split| split.finished)
    }

    fn ready(&mut self) -> Result<Option<SourceEvent>> {
        if let Some(event) = self.events.pop_front() {
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
        let bounded = !matches!(self.shared.table.stop, super::table::Stop::Never);
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
            () = tokio::time::sleep(END_CHECK), if bounded => Woken::Input,
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
    Look(Result<Vec<Position>>),
    LookDue,
}

/// The end of a look; never without one.
async fn joined(look: &mut Option<JoinHandle<Result<Vec<Position>>>>) -> Result<Vec<Position>> {
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

/// Why the cluster is asked while the job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// New partitions may be there.
    ForPartitions,
    /// The broker has said that a topic is not there.
    AtGoneTopics,
    /// The broker does not have the next record.
    AtLostOffsets,
}

impl Look {
    /// Asks; returns partitions to begin with, or to begin again with.
    fn run(self, table: &KafkaTable, positions: Vec<Position>, instance: Instance) -> Result<Vec<Position>> {
        let inquirer = table.settings.inquirer(Role::Consumer)?;
        match self {
            Look::ForPartitions => {
                let known: Vec<SplitId> = positions.iter().map(|p| split_id(&p.topic, p.partition)).collect();
                let looked = probe::look_again(table, &inquirer);
                let Ok(topics) = looked else {
                    tracing::warn!(table = %table.name, "no answer to the look for new partitions");
                    return Ok(Vec::new());
                };
                let Ok(mut found) = new_positions(table, &inquirer, &topics, &known) else {
                    tracing::warn!(table = %table.name, "a new partition does not answer yet");
                    return Ok(Vec::new());
                };
                found.retain(|p| Shared::owner(&p.topic, p.partition, instance.parallelism) == instance.index);
                Ok(found)
            }
            Look::AtGoneTopics => {
                let begun = std::time::Instant::now();
                while begun.elapsed() < ANSWER_TIME_MAX {
                    // A broker that does not answer says nothing about topics.
                    let answer = probe::look_again(table, &inquirer);
                    if let Ok(topics) = &answer {
                        let is_there = |p: &Position| {
                            topics.iter().any(|t| t.name == p.topic && t.partitions.contains(&p.partition))
                        };
                        match positions.iter().find(|position| !is_there(position)) {
                            None => return Ok(positions),
                            Some(gone) if begun.elapsed() >= GONE_AFTER => return Err(topic_gone(table, gone)),
                            Some(_) => {}
                        }
                    }
                    std::thread::sleep(GONE_RETRY);
                }
                Ok(positions)
            }
            Look::AtLostOffsets => {
                for position in &positions {
                    let (low, high) = probe::watermarks(table, &inquirer, &position.topic, position.partition)?;
                    if !(low..=high).contains(&position.next) {
                        let range = (low, high);
                        return Err(probe::offset_gone(
                            table,
                            &position.topic,
                            position.partition,
                            position.next,
                            range,
                        ));
                    }
                }
                Ok(positions)
            }
        }
    }
}

fn topic_gone(table: &KafkaTable, position: &Position) -> Error {
    let cause = format!("it has no partition {}", position.partition);
    Error::new(
        &codes::TOPIC_GONE,
        &[("topic", &position.topic), ("table", &table.name), ("servers", &table.settings.servers), ("cause", &cause)],
    )
}

/// Partitions with their positions for the client.
fn partition_list<'a>(positions: impl Iterator<Item = &'a Position>) -> Result<TopicPartitionList> {
    let mut list = TopicPartitionList::new();
    for position in positions {
        list.add_partition_offset(&position.topic, position.partition, Offset::Offset(position.next))
            .map_err(|error| Error::internal(format!("offset {}: {error}", position.next)))?;
    }
    Ok(list)
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
                    continue;
                }
                self.look_at_reports();
                if self.events.is_empty() && !self.ended() {
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
        let lag = self.input.splits.iter().filter(|split| !split.finished).map(|split| {
            let position = &split.position;
            let end = self.reports.partition(&position.topic, position.partition).map_or(0, |report| report.end);
            (end.min(position.stop.unwrap_or(i64::MAX)) - position.next).max(0) as u64
        });
        SourceStatistics { lag: Some(lag.sum()), ..self.statistics.clone() }
    }

    fn checkpoint_complete(&mut self, _: Epoch) {
        let is_busy = self.commit.as_ref().is_some_and(|commit| !commit.is_finished());
        let list = partition_list(self.snapshot.iter()).ok();
        let Some((consumer, list)) = self.consumer.clone().zip(list) else { return };
        if !self.table().commits_offsets || self.snapshot.is_empty() || is_busy {
            return;
        }
        let table = self.table().name.clone();
        self.commit = Some(tokio::task::spawn_blocking(move || {
            if let Err(error) = consumer.commit(&list, CommitMode::Sync) {
                // Only monitors read these offsets: the job goes on from its checkpoint.
                tracing::warn!(%table, "offsets were not committed: {error}");
            }
        }));
    }

    fn close<'a>(&'a mut self) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some(commit) = self.commit.take() {
                let _ = commit.await;
            }
        })
    }
}
