//! Sending messages and knowing which have arrived.

use super::client::{Reports, Role};
use super::codes;
use super::outage::Outage;
use super::probe;
use super::table::KafkaTable;
use base::{Error, Result};
use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, Message, OwnedHeaders};
use rdkafka::producer::{BaseRecord, DeliveryResult, ProducerContext, ThreadedProducer};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long to wait for a delivery before looking for errors that no delivery reports.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// The headers of a message.
pub(super) type MessageHeaders = Vec<(String, Option<Vec<u8>>)>;

/// A message to send.
pub(super) struct Outgoing<'a> {
    pub topic: &'a str,
    /// `None`: the client chooses by the key.
    pub partition: Option<i32>,
    pub key: Option<&'a [u8]>,
    /// `None` for a tombstone.
    pub value: Option<&'a [u8]>,
    /// `None`: now.
    pub timestamp_ms: Option<i64>,
    pub headers: &'a [(String, Option<Vec<u8>>)],
}

impl Outgoing<'_> {
    /// The bytes of key, value and headers.
    pub fn bytes(&self) -> usize {
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.as_ref().map_or(0, Vec::len));
        self.key.map_or(0, <[u8]>::len) + self.value.map_or(0, <[u8]>::len) + headers.sum::<usize>()
    }
}

/// A delivery that failed.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub topic: String,
    pub bytes: usize,
    pub code: RDKafkaErrorCode,
}

/// What the client's thread tells about deliveries.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    /// Messages that have arrived or failed.
    settled: AtomicU64,
    /// Whether `failure` is there: looked at for every message.
    has_failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
    progress: Notify,
    pub reports: Arc<Reports>,
}

impl Deliveries {
    /// The first delivery that failed.
    pub fn failure(&self) -> Option<Failure> {
        if !self.has_failed.load(Ordering::Acquire) {
            return None;
        }
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The context of a producer.
#[derive(Debug, Clone, Default)]
pub(super) struct Context(pub Arc<Deliveries>);

impl ClientContext for Context {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        tracing::debug!(target: "kafka", ?level, facility, "{message}");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(target: "kafka", "{error}: {reason}");
        if let Some(code) = error.rdkafka_error_code() {
            self.0.reports.keep_error(code, reason);
        }
    }
}

impl ProducerContext for Context {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if let Err((error, message)) = result {
            let mut failure = self.0.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert_with(|| Failure {
                topic: message.topic().to_string(),
                bytes: message.payload_len() + message.key_len(),
                code: error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail),
            });
            self.0.has_failed.store(true, Ordering::Release);
        }
        self.0.settled.fetch_add(1, Ordering::Release);
        self.0.progress.notify_one();
    }
}

/// The sending side of one writer.
pub(super) struct Delivery {
    table: Arc<KafkaTable>,
    /// Made with the first message.
    producer: Option<ThreadedProducer<Context>>,
    deliveries: Arc<Deliveries>,
    sent: u64,
    outage: Outage,
}

impl Delivery {
    /// Nothing sent yet; nothing is opened before the first message.
    pub fn new(table: Arc<KafkaTable>) -> Delivery {
        Delivery { outage: Outage::new(table.clone()), table, producer: None, deliveries: Arc::default(), sent: 0 }
    }

    fn open(&mut self) -> Result<&ThreadedProducer<Context>> {
        if self.producer.is_none() {
            let config = self.table.settings.config(Role::Producer);
            let created = config.create_with_context(Context(self.deliveries.clone()));
            self.producer = Some(created.map_err(|error| self.table.settings.creation_error(&error))?);
        }
        self.producer.as_ref().ok_or_else(|| Error::internal("the producer was just made"))
    }

    /// Hands a message to the client; waits while its buffer is full.
    ///
    /// # Errors
    /// A message that the client refuses, or an earlier one that did not arrive.
    pub async fn send(&mut self, message: Outgoing<'_>) -> Result<()> {
        self.check()?;
        loop {
            let code = match self.open()?.send(record(&message)) {
                Ok(()) => {
                    self.sent += 1;
                    return Ok(());
                }
                Err((error, _)) => error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail),
            };
            if code != RDKafkaErrorCode::QueueFull {
                let bytes = message.key.map_or(0, <[u8]>::len) + message.value.map_or(0, <[u8]>::len);
                return Err(not_delivered(&self.table, &self.deliveries, message.topic, bytes, code));
            }
            self.progress().await?;
        }
    }

    /// Waits until every message has arrived.
    ///
    /// # Errors
    /// A message that did not.
    pub async fn delivered(&mut self) -> Result<()> {
        while self.deliveries.settled.load(Ordering::Acquire) < self.sent {
            self.progress().await?;
        }
        self.check()
    }

    /// Waits for the next delivery.
    async fn progress(&mut self) -> Result<()> {
        // Without a delivery the next look is taken anyway.
        match timeout(WAIT_MAX, self.deliveries.progress.notified()).await {
            Ok(()) => self.outage.end(),
            Err(_) => {
                let waiting = self.sent - self.deliveries.settled.load(Ordering::Acquire);
                let reports = &self.deliveries.reports;
                self.outage.begin(|| {
                    let reason = reports.take_error().map_or_else(|| "no answer".to_string(), |(_, reason)| reason);
                    format!("{waiting} records are not delivered yet: {reason}")
                });
            }
        }
        self.check()
    }

    /// Whether every delivery so far has been successful.
    ///
    /// # Errors
    /// The first one that was not.
    pub fn check(&self) -> Result<()> {
        match self.deliveries.failure() {
            None => Ok(()),
            Some(Failure { topic, bytes, code }) => {
                Err(not_delivered(&self.table, &self.deliveries, &topic, bytes, code))
            }
        }
    }
}

/// The error for a record that did not arrive.
pub(super) fn not_delivered(
    table: &KafkaTable,
    deliveries: &Deliveries,
    topic: &str,
    bytes: usize,
    code: RDKafkaErrorCode,
) -> Error {
    let name = &table.name;
    match code {
        RDKafkaErrorCode::MessageSizeTooLarge | RDKafkaErrorCode::InvalidMessageSize => {
            Error::new(&codes::TOO_LARGE, &[("size", &bytes), ("topic", &topic), ("table", name), ("cause", &code)])
        }
        RDKafkaErrorCode::UnknownTopicOrPartition
        | RDKafkaErrorCode::UnknownTopic
        | RDKafkaErrorCode::UnknownPartition => Error::new(
            &codes::TOPIC_GONE,
            &[("topic", &topic), ("table", name), ("servers", &table.settings.servers), ("cause", &code)],
        ),
        code if probe::is_forbidden(code) => probe::request_problem(table, topic, Role::Producer, code, None),
        code => {
            let reported = deliveries.reports.take_error();
            if let Some((reported, _)) = &reported
                && probe::is_forbidden(*reported)
            {
                // A producer that may not begin gives up all messages without a reason of their own.
                return probe::request_problem(table, topic, Role::Producer, *reported, None);
            }
            let cause = reported.map_or_else(|| code.to_string(), |(_, reason)| format!("{code}: {reason}"));
            Error::new(&codes::NOT_DELIVERED, &[("topic", &topic), ("table", name), ("cause", &cause)])
        }
    }
}

/// A message as the client takes it.
pub(super) fn record<'a>(message: &Outgoing<'a>) -> BaseRecord<'a, [u8], [u8]> {
    let mut record = BaseRecord::<[u8], [u8]>::to(message.topic);
    record.key = message.key;
    record.payload = message.value;
    record.partition = message.partition;
    record.timestamp = message.timestamp_ms;
    record.headers = headers(message.headers);
    record
}

fn headers(headers: &[(String, Option<Vec<u8>>)]) -> Option<OwnedHeaders> {
    let insert = |owned: OwnedHeaders, (key, value): &(String, Option<Vec<u8>>)| {
        owned.insert(Header { key, value: value.as_ref() })
    };
    (!headers.is_empty()).then(|| headers.iter().fold(OwnedHeaders::new_with_capacity(headers.len()), insert))
}
