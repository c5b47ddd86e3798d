//! The Kafka sink: rows to messages, delivered before their checkpoint is complete; or, exactly once, kept in it and
//! written by transactions when it is durable.
//!
//! `upsert-kafka` is the same sink with a key: additions become messages with a value, everything else a tombstone.

use super::client::Role;
use super::codes;
use super::delivery::{Delivery, MessageHeaders, Outgoing};
use super::options::*;
use super::probe;
use super::table::{KafkaTable, Topics};
use super::transactions::Transactions;
use super::transactions::chunk::{Kept, Messages};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use base::connector::*;
use base::format::{Encoder, Records};
use base::time::epoch_ms;
use base::{BoxFuture, ChangelogBatch, ColumnKind, Epoch, Error, Result, RowKind, RowType, TableDefinition};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How rows are spread over partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partitioner {
    /// By the hash of the key, as Kafka's own clients do; without a key as the client likes.
    Default,
    /// Every writer has one partition.
    Fixed,
    /// One after the other.
    RoundRobin,
}

/// What the sink waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// Nothing: what the client has not delivered when the job fails is lost.
    Nothing,
    AtLeastOnce,
    ExactlyOnce,
}

/// Changes of a key that are gathered until the last one counts.
#[derive(Debug, Clone, Copy)]
struct Gathering {
    rows: usize,
    interval: Duration,
}

/// The sink of one table.
#[derive(Debug)]
pub(crate) struct KafkaSink(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    table: Arc<KafkaTable>,
    columns: SinkColumns,
    topics: Vec<String>,
    partitioner: Partitioner,
    promise: Promise,
    /// With [`Promise::ExactlyOnce`].
    transactions: Option<Arc<Transactions>>,
    gathering: Option<Gathering>,
    /// The number of partitions of each topic, known once the sink has started.
    partitions: OnceLock<HashMap<String, i32>>,
}

/// Where the parts of a message are in a row of the sink.
#[derive(Debug, Clone)]
struct SinkColumns {
    value: Vec<usize>,
    value_row: RowType,
    key: Vec<usize>,
    key_row: Option<RowType>,
    topic: Option<usize>,
    headers: Option<usize>,
    timestamp: Option<usize>,
}

impl SinkColumns {
    fn new(table: &KafkaTable, definition: &TableDefinition, columns: &RowType) -> Result<SinkColumns> {
        let mut physical = Vec::new();
        let mut metadata = HashMap::new();
        for (position, column) in definition.persisted().enumerate() {
            match &column.kind {
                ColumnKind::Metadata { key, .. } => {
                    metadata.insert(key.as_str(), position);
                }
                _ => physical.push(position),
            }
        }
        if physical.len() + metadata.len() != columns.len() {
            return Err(Error::internal("a sink writes other columns than its table has"));
        }
        let place = |columns: &[usize]| columns.iter().map(|&column| physical[column]).collect();
        Ok(SinkColumns {
            value: place(&table.value_columns),
            value_row: table.value_row(),
            key: table.key.as_ref().map_or_else(Vec::new, |key| place(&key.columns)),
            key_row: table.key.as_ref().map(|key| key.row(&table.physical)),
            topic: metadata.get("topic").copied(),
            headers: metadata.get("headers").copied(),
            timestamp: metadata.get("timestamp").copied(),
        })
    }
}

/// The two options that make a sink gather changes only together; 0 where one is not set.
fn gathering_options(definition: &TableDefinition) -> Result<Gathering> {
    let rows = definition.options.integer(&FLUSH_ROWS)?.unwrap_or_default().max(0) as usize;
    Ok(Gathering { rows, interval: definition.options.duration(&FLUSH_INTERVAL)?.unwrap_or_default() })
}

/// A warning if only one of the two options is set.
pub(crate) fn gathering_warning(definition: &TableDefinition) -> Result<Option<Error>> {
    let Gathering { rows, interval } = gathering_options(definition)?;
    let (key, other) = match (rows > 0, !interval.is_zero()) {
        (true, false) => (FLUSH_ROWS.key, FLUSH_INTERVAL.key),
        (false, true) => (FLUSH_INTERVAL.key, FLUSH_ROWS.key),
        _ => return Ok(None),
    };
    let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
        [("key", &key), ("other", &other), ("table", &definition.path.name)];
    Ok(Some(Error::new(&codes::BUFFER_NEEDS_BOTH, &arguments)))
}

impl KafkaSink {
    /// The sink of a table. Opens nothing.
    ///
    /// # Errors
    /// Column types that a format cannot write; several topics without a column that chooses.
    pub fn new(table: KafkaTable, definition: &TableDefinition, columns: &RowType) -> Result<KafkaSink> {
        let options = &definition.options;
        let Topics::Named(topics) = table.topics.clone() else {
            return Err(Error::internal("a sink without named topics passed the check"));
        };
        let columns = SinkColumns::new(&table, definition, columns)?;
        if topics.len() > 1 && columns.topic.is_none() {
            let expected = "one topic, or several and a column METADATA FROM 'topic' that chooses";
            return Err(crate::declared::bad_value(TOPIC.key, &topics.join(";"), expected));
        }
        let promise = match options.word(&DELIVERY_GUARANTEE)? {
            Some("none") => Promise::Nothing,
            Some("exactly-once") => Promise::ExactlyOnce,
            _ => Promise::AtLeastOnce,
        };
        let table = Arc::new(table);
        let transactions = match promise {
            Promise::ExactlyOnce => {
                let prefix = options.require(&TRANSACTION_PREFIX, "a sink with 'exactly-once'")?.to_string();
                let bytes_max = options.memory(&EXACTLY_ONCE_BYTES)?.unwrap_or(u64::MAX);
                let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
                Some(Arc::new(Transactions::new(table.clone(), prefix, bytes_max)?))
            }
            Promise::Nothing | Promise::AtLeastOnce => None,
        };
        let shared = Shared {
            partitioner: match options.word(&PARTITIONER)? {
                Some("fixed") => Partitioner::Fixed,
                Some("round-robin") => Partitioner::RoundRobin,
                _ => Partitioner::Default,
            },
            promise,
            transactions,
            gathering: Some(gathering_options(definition)?)
                .filter(|options| table.is_upsert && options.rows > 0 && !options.interval.is_zero()),
            table,
            columns,
            topics,
            partitions: OnceLock::new(),
        };
        // Types that a format cannot write are reported before anything is opened.
        shared.encoders()?;
        Ok(KafkaSink(Arc::new(shared)))
    }
}

struct Encoders {
    value: Box<dyn Encoder>,
    key: Option<Box<dyn Encoder>>,
}

impl Shared {
    fn encoders(&self) -> Result<Encoders> {
        let KafkaTable { value, key, time_zone, .. } = &*self.table;
        let columns = &self.columns;
        Ok(Encoders {
            value: value.factory.encoder(&value.options, &columns.value_row, *time_zone)?,
            key: match (key, &columns.key_row) {
                (Some(key), Some(row)) => Some(key.format.factory.encoder(&key.format.options, row, *time_zone)?),
                _ => None,
            },
        })
    }
}

impl SinkProvider for KafkaSink {
    fn prepare(&self, run: &SinkRun<'_>) -> Result<()> {
        self.0.transactions.as_ref().map_or(Ok(()), |transactions| transactions.prepare(run))
    }

    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async move {
            let shared = &self.0;
            let topics = probe::topics(&shared.table, Role::Producer).await?;
            let mut warnings = match shared.table.is_upsert {
                true => probe::compaction(&shared.table, &topics).await,
                false => Vec::new(),
            };
            if let Some(transactions) = &shared.transactions {
                warnings.extend(transactions.start(&topics).await?);
            }
            let counts = topics.iter().map(|topic| (topic.name.to_string(), topic.partitions.len() as i32));
            // A second start of the same sink finds the same topics.
            let _ = shared.partitions.set(counts.collect());
            Ok(warnings)
        })
    }

    fn writer(&self, instance: Instance, _: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(KafkaWriter {
            encoders: self.0.encoders()?,
            values: Records::default(),
            keys: Records::default(),
            output: match &self.0.transactions {
                Some(transactions) => Output::Kept(Kept::new(self.0.topics.clone()), transactions.clone()),
                None => Output::Sent(Box::new(Delivery::new(self.0.table.clone()))),
            },
            next_partition: instance.index as i32,
            held: None,
            gathered: Gathered::default(),
            shared: self.0.clone(),
        }))
    }

    fn commit<'a>(&'a self, epoch: Epoch, committables: &'a [Committable]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(transactions) = &self.0.transactions {
                return transactions.commit(epoch, committables).await;
            }
            // The table had 'exactly-once' at the checkpoint, and has not any more.
            let mut delivery = Delivery::new(self.0.table.clone());
            for chunk in committables {
                for message in Messages::new(chunk, &self.0.table.name)? {
                    delivery.send(message?.outgoing()).await?;
                }
            }
            delivery.delivered().await
        })
    }

    fn finish<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(transactions) = &self.0.transactions {
                transactions.finish().await;
            }
            Ok(())
        })
    }
}

/// Where the messages of a writer go.
enum Output {
    /// To the broker, at once.
    Sent(Box<Delivery>),
    /// Into the next checkpoint.
    Kept(Kept, Arc<Transactions>),
}

impl Output {
    async fn send(&mut self, table: &KafkaTable, message: Outgoing<'_>) -> Result<()> {
        if message.timestamp_ms == Some(0) {
            return Err(Error::new(&codes::TIME_ZERO, &[("table", &table.name)]));
        }
        match self {
            Output::Sent(delivery) => delivery.send(message).await,
            Output::Kept(kept, transactions) => {
                transactions.check_size(message.topic, message.bytes())?;
                transactions.add(kept.push(&message)?).await
            }
        }
    }
}

/// A change of a key that is not sent yet.
#[derive(Debug)]
struct Change {
    /// Position in [`Shared::topics`].
    topic: usize,
    key: Vec<u8>,
    /// `None` for a tombstone.
    value: Option<Vec<u8>>,
    timestamp_ms: Option<i64>,
    headers: MessageHeaders,
}

/// The last change of every key since the last flush, in the order in which the keys came.
#[derive(Debug, Default)]
struct Gathered {
    changes: Vec<Change>,
    by_key: HashMap<(usize, Vec<u8>), usize>,
}

impl Gathered {
    fn put(&mut self, change: Change) {
        let next = self.changes.len();
        match *self.by_key.entry((change.topic, change.key.clone())).or_insert(next) {
            index if index < next => self.changes[index] = change,
            _ => self.changes.push(change),
        }
    }

    fn take(&mut self) -> Vec<Change> {
        self.by_key.clear();
        std::mem::take(&mut self.changes)
    }
}

struct KafkaWriter {
    shared: Arc<Shared>,
    encoders: Encoders,
    /// Kept between batches for their memory.
    values: Records,
    keys: Records,
    output: Output,
    next_partition: i32,
    /// The old content of an update: its key is deleted, unless the new content that follows has the same key.
    held: Option<Change>,
    gathered: Gathered,
}

/// The columns of a batch that speak about the message itself.
struct About {
    topic: Option<ArrayRef>,
    headers: Option<ArrayRef>,
    timestamps: Option<Int64Array>,
}

impl About {
    fn new(batch: &ChangelogBatch, columns: &SinkColumns) -> Result<About> {
        let column = |position: Option<usize>| position.map(|position| batch.records().column(position).clone());
        Ok(About {
            topic: column(columns.topic),
            headers: column(columns.headers),
            timestamps: column(columns.timestamp).map(|column| epoch_ms(&column)).transpose()?,
        })
    }

    fn timestamp_ms(&self, row: usize) -> Option<i64> {
        self.timestamps.as_ref().filter(|times| times.is_valid(row)).map(|times| times.value(row))
    }

    fn headers(&self, row: usize) -> MessageHeaders {
        let Some(maps) = self.headers.as_ref().and_then(|column| column.as_map_opt()).filter(|maps| maps.is_valid(row))
        else {
            return Vec::new();
        };
        let entries = maps.value(row);
        let (Some(keys), Some(values)) =
            (entries.column(0).as_string_opt::<i32>(), entries.column(1).as_binary_opt::<i32>())
        else {
            return Vec::new();
        };
        keys.iter()
            .zip(values.iter())
            .map(|(key, value)| (key.unwrap_or_default().to_string(), value.map(<[u8]>::to_vec)))
            .collect()
    }
}

impl KafkaWriter {
    fn encode(&mut self, batch: &ChangelogBatch) -> Result<()> {
        let columns = &self.shared.columns;
        self.values.clear();
        self.keys.clear();
        let value = batch.with_records(batch.records().project(&columns.value)?);
        self.encoders.value.encode(&value, &mut self.values)?;
        if let Some(encoder) = &mut self.encoders.key {
            let key = batch.with_records(batch.records().project(&columns.key)?);
            encoder.encode(&key, &mut self.keys)?;
        }
        Ok(())
    }

    /// Sends every row as a message.
    async fn append(&mut self, batch: &ChangelogBatch, about: &About) -> Result<()> {
        for row in 0..batch.num_rows() {
            let topic = &self.shared.topics[target(&self.shared, about, row)?];
            let partition = match self.shared.partitioner {
                Partitioner::Default => None,
                partitioner => {
                    let counts = self.shared.partitions.get().and_then(|counts| counts.get(topic));
                    let partition = self.next_partition % counts.copied().unwrap_or(1).max(1);
                    if partitioner == Partitioner::RoundRobin {
                        self.next_partition = (self.next_partition + 1) & i32::MAX;
                    }
                    Some(partition)
                }
            };
            let bytes = |records: &'_ Records, row| (!records.is_null(row)).then_some(row);
            let message = Outgoing {
                topic,
                partition,
                key: (!self.keys.is_empty()).then_some(()).and(bytes(&self.keys, row)).map(|row| self.keys.get(row)),
                value: bytes(&self.values, row).map(|row| self.values.get(row)),
                timestamp_ms: about.timestamp_ms(row),
                headers: &about.headers(row),
            };
            self.output.send(&self.shared.table, message).await?;
        }
        Ok(())
    }

    /// Sends or gathers the changes of keys.
    async fn upsert(&mut self, batch: &ChangelogBatch, about: &About) -> Result<()> {
        for row in 0..batch.num_rows() {
            let kind = batch.kind(row);
            let topic = target(&self.shared, about, row)?;
            let key = self.keys.get(row);
            let is_replaced = |old: &Change| kind.is_addition() && old.topic == topic && old.key == key;
            let old = self.held.take().filter(|old| !is_replaced(old));
            let waits = kind == RowKind::UpdateBefore || self.shared.gathering.is_some();
            if waits {
                let new = Change {
                    topic,
                    key: key.to_vec(),
                    value: value_of(&self.values, kind, row).map(<[u8]>::to_vec),
                    timestamp_ms: about.timestamp_ms(row),
                    headers: about.headers(row),
                };
                if let Some(old) = old {
                    self.change(old).await?;
                }
                if kind == RowKind::UpdateBefore {
                    self.held = Some(new)
                } else {
                    self.change(new).await?
                }
                continue;
            }
            if let Some(old) = old {
                self.change(old).await?;
            }
            let message = Outgoing {
                topic: &self.shared.topics[topic],
                partition: None,
                key: Some(self.keys.get(row)),
                value: value_of(&self.values, kind, row),
                timestamp_ms: about.timestamp_ms(row),
                headers: &about.headers(row),
            };
            self.output.send(&self.shared.table, message).await?;
        }
        Ok(())
    }

    /// Gathers a change, or sends it.
    async fn change(&mut self, change: Change) -> Result<()> {
        let Some(gathering) = self.shared.gathering else {
            return send_change(&mut self.output, &self.shared, &change).await;
        };
        self.gathered.put(change);
        if self.gathered.changes.len() >= gathering.rows { self.send_gathered().await } else { Ok(()) }
    }

    async fn send_gathered(&mut self) -> Result<()> {
        for change in self.gathered.take() {
            send_change(&mut self.output, &self.shared, &change).await?;
        }
        Ok(())
    }
}

/// The value of a change: none for a row that goes, nor for one that the format writes as null.
fn value_of(values: &Records, kind: RowKind, row: usize) -> Option<&[u8]> {
    (kind.is_addition() && !values.is_null(row)).then(|| values.get(row))
}

async fn send_change(output: &mut Output, shared: &Shared, change: &Change) -> Result<()> {
    let message = Outgoing {
        topic: &shared.topics[change.topic],
        partition: None,
        key: Some(&change.key),
        value: change.value.as_deref(),
        timestamp_ms: change.timestamp_ms,
        headers: &change.headers,
    };
    output.send(&shared.table, message).await
}

/// The topic of a row, by its position.
fn target(shared: &Shared, about: &About, row: usize) -> Result<usize> {
    let Some(column) = &about.topic else { return Ok(0) };
    let names = column.as_string_opt::<i32>().ok_or_else(|| Error::internal("topic names are no text"))?;
    let name = names.is_valid(row).then(|| names.value(row));
    shared.topics.iter().position(|topic| Some(topic.as_str()) == name).ok_or_else(|| {
        let shown = name.map_or_else(|| "NULL".to_string(), |name| format!("'{name}'"));
        let known = crate::declared::quoted(&shared.topics);
        Error::new(&codes::BAD_TARGET_TOPIC, &[("table", &shared.table.name), ("topic", &shown), ("known", &known)])
    })
}

impl SinkWriter for KafkaWriter {
    fn write<'a>(&'a mut self, batch: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if batch.is_empty() {
                return Ok(());
            }
            self.encode(batch)?;
            let about = About::new(batch, &self.shared.columns)?;
            match self.shared.table.is_upsert {
                true => self.upsert(batch, &about).await,
                false => self.append(batch, &about).await,
            }
        })
    }

    fn flush_interval(&self) -> Option<Duration> {
        self.shared.gathering.map(|gathering| gathering.interval)
    }

    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(old) = self.held.take() {
                self.change(old).await?;
            }
            self.send_gathered().await?;
            match &self.output {
                Output::Sent(delivery) => delivery.check(),
                Output::Kept(..) => Ok(()),
            }
        })
    }

    fn prepare_commit<'a>(&'a mut self, _: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>> {
        Box::pin(async move {
            self.flush().await?;
            match &mut self.output {
                Output::Kept(kept, transactions) => {
                    transactions.prepared(kept.bytes());
                    return Ok(kept.take());
                }
                Output::Sent(_) if self.shared.promise == Promise::Nothing => {}
                Output::Sent(delivery) => delivery.delivered().await?,
            }
            Ok(Vec::new())
        })
    }

    fn wants_checkpoint(&self) -> bool {
        match &self.output {
            Output::Kept(kept, transactions) => transactions.is_much(kept.bytes()),
            Output::Sent(_) => false,
        }
    }

    fn snapshot(&mut self) -> Result<Vec<u8>> {
        Ok(self.shared.transactions.as_ref().map_or_else(Vec::new, |transactions| transactions.snapshot()))
    }

    fn close<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        // Without a promise nothing has been waited for until now.
        Box::pin(async move {
            match &mut self.output {
                Output::Sent(delivery) => delivery.delivered().await,
                Output::Kept(..) => Ok(()),
            }
        })
    }
}
