//! A transactional producer that has fenced all earlier ones of its id. Its calls block.

use super::Trouble;
use super::chunk::Messages;
use super::progress::{Progress, ProgressRecord};
use crate::kafka::client::{ClientSettings, Role};
use crate::kafka::codes;
use crate::kafka::delivery::{Context, Deliveries, Outgoing, record};
use crate::kafka::outage::Outage;
use crate::kafka::probe;
use crate::kafka::table::KafkaTable;
use base::connector::Committable;
use base::{Error, Result, fault};
use rdkafka::config::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseProducer, Producer, PurgeConfig};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long fencing may take, and beginning or ending a transaction.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);
/// How long giving up a transaction may take: the next producer of the id does it otherwise.
const ABORT_TIME_MAX: Duration = Duration::from_secs(2);
/// How long nothing may happen before the user is told.
const SILENCE_MAX: Duration = Duration::from_secs(5);
/// The time between two tries.
const RETRY: Duration = Duration::from_millis(100);
/// What the client is told if the table says nothing: see [`ClientSettings::config`].
const DELIVERY_TIMEOUT_MS: u64 = 120_000;

/// `batch.size` of the client.
const BATCH_BYTES: usize = 1_000_000;

/// How transactions of a table are made.
#[derive(Debug, Clone)]
pub(super) struct TransactionConfig {
    pub table: Arc<KafkaTable>,
    /// The transactional id.
    pub id: String,
    /// After which time the broker gives up a transaction.
    pub timeout_ms: u64,
    /// The progress topic.
    pub progress_topic: String,
    /// The broker takes batches of this size.
    pub batch_bytes_max: usize,
}

/// How long a record is tried: `properties.delivery.timeout.ms`.
pub(super) fn delivery_timeout_ms(settings: &ClientSettings) -> u64 {
    let set = settings.property("delivery.timeout.ms").or_else(|| settings.property("message.timeout.ms"));
    set.and_then(|value| value.trim().parse().ok()).unwrap_or(DELIVERY_TIMEOUT_MS)
}

impl TransactionConfig {
    fn client(&self) -> ClientConfig {
        let settings = &self.table.settings;
        let mut config = settings.config(Role::Producer);
        // The client wants it no longer than the transaction.
        let delivery_ms = delivery_timeout_ms(settings).min(self.timeout_ms);
        config.remove("message.timeout.ms");
        config.set("delivery.timeout.ms", delivery_ms.to_string());
        // The client does not cut a batch that the broker refuses as too large.
        let batch = settings.property("batch.size").and_then(|value| value.trim().parse().ok());
        let batch = batch.unwrap_or(BATCH_BYTES).min(self.batch_bytes_max.max(1));
        config.set("batch.size", batch.to_string());
        config.set("transactional.id", &self.id);
        config.set("transaction.timeout.ms", self.timeout_ms.to_string());
        config
    }
}

/// How long a transaction is waited for, and who is told when nothing happens.
#[derive(Debug)]
pub(super) struct Patience<'a> {
    begun: Instant,
    until: Instant,
    outage: Option<&'a mut Outage>,
}

impl<'a> Patience<'a> {
    pub fn new(until: Instant, outage: Option<&'a mut Outage>) -> Patience<'a> {
        Patience { begun: Instant::now(), until, outage }
    }
}

/// The producer of an id.
pub(super) struct Session {
    config: TransactionConfig,
    producer: BaseProducer<Context>,
    deliveries: Arc<Deliveries>,
    is_open: bool,
    /// What is known to be committed.
    pub progress: Progress,
}

impl Session {
    /// Makes a producer. Every other one of its id can write no more, and what it had begun is ended.
    pub fn open(config: TransactionConfig) -> Result<Session, Trouble> {
        let deliveries = Arc::<Deliveries>::default();
        let created = config.client().create_with_context(Context(deliveries.clone()));
        let producer: BaseProducer<Context> = created.map_err(|error| config.table.settings.creation_error(&error))?;
        let session = Session { config, producer, deliveries, is_open: false, progress: Progress::default() };
        let deadline = Instant::now() + REQUEST_TIME_MAX;
        while let Err(error) = session.producer.init_transactions(remaining(deadline)) {
            if !is_retriable(&error) || Instant::now() >= deadline {
                return Err(session.trouble(&error));
            }
            std::thread::sleep(RETRY);
        }
        Ok(session)
    }

    /// Writes chunks and the progress record in one transaction.
    pub fn write(
        &mut self,
        chunks: &[Committable],
        record: &ProgressRecord,
        wait: &mut Patience<'_>,
    ) -> Result<(), Trouble> {
        fault::KAFKA_BEGIN.check()?;
        self.begin()?;
        let table = self.config.table.clone();
        for chunk in chunks {
            for message in Messages::new(chunk, &table.name)? {
                fault::KAFKA_PRODUCE.check()?;
                self.send(message?.outgoing(), wait)?;
            }
        }
        fault::KAFKA_PROGRESS.check()?;
        self.send_progress(record, wait)?;
        self.flush(wait)?;
        fault::KAFKA_COMMIT.check()?;
        self.commit(wait)?;
        self.progress = record.progress;
        fault::KAFKA_COMMITTED.check()?;
        Ok(())
    }

    /// Writes the progress record alone.
    pub fn announce(&mut self, record: &ProgressRecord, wait: &mut Patience<'_>) -> Result<(), Trouble> {
        self.begin()?;
        self.send_progress(record, wait)?;
        self.flush(wait)?;
        self.commit(wait)?;
        self.progress = record.progress;
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Trouble> {
        self.producer.begin_transaction().map_err(|error| self.trouble(&error))?;
        self.is_open = true;
        Ok(())
    }

    fn send_progress(&mut self, record: &ProgressRecord, wait: &mut Patience<'_>) -> Result<(), Trouble> {
        let (key, value) = record.encode();
        let topic = self.config.progress_topic.clone();
        let message = Outgoing {
            topic: &topic,
            partition: Some(0),
            key: Some(key.as_bytes()),
            value: Some(value.as_bytes()),
            timestamp_ms: None,
            headers: &[],
        };
        self.send(message, wait)
    }

    fn send(&self, message: Outgoing<'_>, wait: &mut Patience<'_>) -> Result<(), Trouble> {
        loop {
            let Err((error, _)) = self.producer.send(record(&message)) else { return Ok(()) };
            let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail);
            if code != RDKafkaErrorCode::QueueFull {
                let bytes = message.key.map_or(0, <[u8]>::len) + message.value.map_or(0, <[u8]>::len);
                return Err(self.not_delivered(message.topic, bytes, code));
            }
            self.producer.poll(RETRY);
            self.check()?;
            self.goes_on(wait)?;
        }
    }

    /// Waits until the broker has every record.
    fn flush(&self, wait: &mut Patience<'_>) -> Result<(), Trouble> {
        while self.producer.flush(RETRY).is_err() {
            self.check()?;
            self.goes_on(wait)?;
        }
        self.check()
    }

    fn commit(&mut self, wait: &mut Patience<'_>) -> Result<(), Trouble> {
        while let Err(error) = self.producer.commit_transaction(REQUEST_TIME_MAX) {
            self.check()?;
            if !is_retriable(&error) {
                return Err(self.trouble(&error));
            }
            self.goes_on(wait)?;
        }
        self.is_open = false;
        Ok(())
    }

    /// Nothing has happened for a moment.
    fn goes_on(&self, wait: &mut Patience<'_>) -> Result<(), Trouble> {
        let reason =
            || self.deliveries.reports.take_error().map_or_else(|| "no answer".to_string(), |(_, reason)| reason);
        let now = Instant::now();
        if now >= wait.until {
            return Err(Trouble::Passing(reason()));
        }
        if let Some(outage) = wait.outage.as_deref_mut().filter(|_| now >= wait.begun + SILENCE_MAX) {
            outage.begin(reason);
        }
        Ok(())
    }

    /// Whether a record was refused.
    fn check(&self) -> Result<(), Trouble> {
        match self.deliveries.failure() {
            None => Ok(()),
            Some(failure) => Err(self.not_delivered(&failure.topic, failure.bytes, failure.code)),
        }
    }

    fn not_delivered(&self, topic: &str, bytes: usize, code: RDKafkaErrorCode) -> Trouble {
        let code = match self.producer.client().fatal_error() {
            Some((fatal, _)) => fatal,
            None => code,
        };
        if is_fenced(code) {
            return Trouble::Fenced(code.to_string());
        }
        let error = crate::kafka::delivery::not_delivered(&self.config.table, &self.deliveries, topic, bytes, code);
        match error.is_retryable() {
            true => Trouble::Passing(error.argument("cause").unwrap_or_default().to_string()),
            false => Trouble::Final(error),
        }
    }

    /// What an error of a transaction means.
    fn trouble(&self, error: &KafkaError) -> Trouble {
        let TransactionConfig { table, id, timeout_ms, .. } = &self.config;
        let settings = &table.settings;
        let (code, text) = match error {
            KafkaError::Transaction(error) => (error.code(), error.string()),
            error => (error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail), error.to_string()),
        };
        let (code, text) = match self.producer.client().fatal_error() {
            Some((fatal, reason)) if fatal != RDKafkaErrorCode::NoError => (fatal, reason),
            _ => (code, text),
        };
        match code {
            code if is_fenced(code) => Trouble::Fenced(text),
            RDKafkaErrorCode::TransactionalIdAuthorizationFailed => Trouble::Final(Error::new(
                &codes::TRANSACTIONS_FORBIDDEN,
                &[("user", &settings.user), ("id", id), ("table", &table.name), ("servers", &settings.servers)],
            )),
            RDKafkaErrorCode::InvalidTransactionTimeout => Trouble::Final(Error::new(
                &codes::TRANSACTION_TOO_LONG,
                &[("asked", timeout_ms), ("table", &table.name), ("servers", &settings.servers)],
            )),
            code if probe::is_forbidden(code) => {
                Trouble::Final(probe::request_problem(table, &table.topics_text(), Role::Producer, code, None))
            }
            _ => Trouble::Passing(text),
        }
    }

    /// Ends what is open without a commit, so that readers need not wait for the transaction's timeout.
    pub fn give_up(self) {
        if self.is_open {
            self.producer.purge(PurgeConfig::default().queue().inflight());
            let _ = self.producer.flush(ABORT_TIME_MAX);
            // Whoever takes the id next ends the transaction.
            let _ = self.producer.abort_transaction(ABORT_TIME_MAX);
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({}, {:?})", self.config.id, self.progress)
    }
}

fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(RETRY)
}

fn is_retriable(error: &KafkaError) -> bool {
    match error {
        KafkaError::Transaction(error) => error.is_retriable(),
        KafkaError::Flush(_) => true,
        _ => false,
    }
}

/// Whether the broker says that a newer producer has the id, or that it has given up the transaction itself.
fn is_fenced(code: RDKafkaErrorCode) -> bool {
    matches!(code, RDKafkaErrorCode::Fenced | RDKafkaErrorCode::ProducerFenced | RDKafkaErrorCode::InvalidProducerEpoch)
}
