//! The Kafka client of a table: its `properties.*` as librdkafka understands them, and what the client reports.
//!
//! Users write the names of the Java client. Most are librdkafka's as well; the others are translated, and those that mean
//! nothing outside a JVM are left out with a warning.

use super::codes;
use super::options::{PROPERTIES_PREFIX, SERVERS};
use base::{Error, Options, Result, TableDefinition};
use rdkafka::ClientContext;
use rdkafka::client::Client;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{DeliveryResult, ProducerContext};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reports that can wait for an inquirer to look at them, with room to spare.
const REPORTS_WAITING_MAX: usize = 64;

/// Properties of the Java client under their name in librdkafka.
const TRANSLATED: &[(&str, &str)] = &[
    ("fetch.max.wait.ms", "fetch.wait.max.ms"),
    ("receive.buffer.bytes", "socket.receive.buffer.bytes"),
    ("send.buffer.bytes", "socket.send.buffer.bytes"),
    ("max.request.size", "message.max.bytes"),
    ("socket.connection.setup.timeout.max.ms", "socket.connection.setup.timeout.ms"),
];

/// Properties that mean something to the Java client or to Flink only, and why they do not matter.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("key.deserializer", "the formats of the table decode keys"),
    ("value.deserializer", "the formats of the table decode values"),
    ("key.serializer", "the formats of the table encode keys"),
    ("value.serializer", "the formats of the table encode values"),
    ("enable.auto.commit", "offsets are committed with checkpoints"),
    ("auto.commit.interval.ms", "offsets are committed with checkpoints"),
    ("max.poll.records", "batches form from what has arrived"),
    ("max.block.ms", "a full buffer holds the job back until there is room"),
    ("default.api.timeout.ms", "every request has its own timeout"),
    ("partition.assignment.strategy", "partitions are dealt by the job, not by the consumer group"),
    ("group.protocol", "partitions are dealt by the job, not by the consumer group"),
    ("exclude.internal.topics", "topics are named by the table"),
    ("partitioner.class", "'sink.partitioner' chooses the partitioner"),
    ("interceptor.classes", "there is no JVM to load classes into"),
    ("metric.reporters", "there is no JVM to load classes into"),
    ("metrics.num.samples", "the job has metrics of its own"),
    ("metrics.sample.window.ms", "the job has metrics of its own"),
    ("register.consumer.metrics", "the job has metrics of its own"),
    ("register.producer.metrics", "the job has metrics of its own"),
    ("partition.discovery.interval.ms", "'scan.topic-partition-discovery.interval' says how often"),
    ("client.dns.lookup", "all addresses of a host are tried"),
    ("transactional.id", "'sink.transactional-id-prefix' names the transactions of a sink"),
    ("ssl.endpoint.identification.algorithm", "this build of the client has no TLS"),
];

/// Properties that are read here and not by the client.
const READ_HERE: &[&str] = &["auto.offset.reset", "commit.offsets.on.checkpoint", "sasl.jaas.config", "buffer.memory"];

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Reads.
    Consumer,
    /// Writes.
    Producer,
}

/// How the client of a table is made.
#[derive(Debug, Clone)]
pub(crate) struct ClientSettings {
    /// Table name for people.
    pub table: String,
    /// `properties.bootstrap.servers`.
    pub servers: String,
    /// The user that logs in, for messages.
    pub user: String,
    /// `properties.*` without the prefix, in librdkafka's words.
    properties: BTreeMap<String, String>,
    /// Properties that are left out, with the reason.
    ignored: Vec<(String, &'static str)>,
}

impl ClientSettings {
    /// Translates the properties of a table.
    ///
    /// # Errors
    /// A missing server list, a value that cannot be translated.
    pub fn new(table: &TableDefinition) -> Result<ClientSettings> {
        let servers = table.options.require(&SERVERS, "a Kafka table")?.to_string();
        let mut settings = ClientSettings {
            table: table.path.name.clone(),
            servers,
            user: "ANONYMOUS".to_string(),
            properties: BTreeMap::new(),
            ignored: Vec::new(),
        };
        for (key, value) in table.options.iter() {
            if let Some(key) = key.strip_prefix(PROPERTIES_PREFIX) {
                settings.add(key, value)?;
            }
        }
        if let Some(user) = settings.properties.get("sasl.username") {
            settings.user = user.clone();
        }
        Ok(settings)
    }

    fn add(&mut self, key: &str, value: &str) -> Result<()> {
        if let Some((_, reason)) = WITHOUT_EFFECT.iter().find(|(name, _)| *name == key) {
            self.ignored.push((key.to_string(), reason));
            return Ok(());
        }
        match key {
            "sasl.jaas.config" => {
                let (user, password) = jaas_login(value).ok_or_else(|| {
                    let cause = "expected a login module with username=\"...\" password=\"...\"";
                    bad_property(key, "***", cause)
                })?;
                self.properties.insert("sasl.username".to_string(), user);
                self.properties.insert("sasl.password".to_string(), password);
            }
            "buffer.memory" => {
                let bytes: u64 =
                    value.trim().parse().map_err(|_| bad_property(key, value, "expected a number of bytes"))?;
                self.properties.insert("queue.buffering.max.kbytes".to_string(), (bytes / 1024).max(1).to_string());
            }
            _ if READ_HERE.contains(&key) => {}
            _ => {
                let name = TRANSLATED.iter().find(|(java, _)| *java == key).map_or(key, |(_, native)| native);
                self.properties.insert(name.to_string(), value.to_string());
            }
        }
        Ok(())
    }

    /// Warnings about properties that are left out.
    pub fn warnings(&self) -> Vec<Error> {
        let warning = |(key, reason): &(String, &'static str)| {
            Error::new(&codes::PROPERTY_WITHOUT_EFFECT, &[("key", key), ("table", &self.table), ("reason", reason)])
        };
        self.ignored.iter().map(warning).collect()
    }

    /// The value of a property, if the table sets it.
    pub fn property(&self, key: &str) -> Option<&str> {
        self.properties.get(key).map(String::as_str)
    }

    /// The configuration of a client. What the table sets wins over the defaults, except where reading or writing would
    /// be wrong without them.
    pub fn config(&self, role: Role) -> ClientConfig {
        let mut config = ClientConfig::new();
        // librdkafka connects again for ever; errors come to the context, not to standard error.
        config.set("log_level", "4");
        match role {
            Role::Consumer => {
                // Rows of aborted transactions never happened.
                config.set("isolation.level", "read_committed");
                config.set("fetch.wait.max.ms", "100");
                config.set("group.id", format!("highwater-{}", self.table));
            }
            Role::Producer => {
                // As the Java client: no reordering and no doubled records when a request is repeated.
                let weak_acks = self.property("acks").is_some_and(|acks| !matches!(acks, "all" | "-1"));
                config.set("enable.idempotence", if weak_acks { "false" } else { "true" });
                config.set("partitioner", "murmur2_random");
                config.set("linger.ms", "5");
                // As long as the Java client tries.
                config.set("delivery.timeout.ms", "120000");
            }
        }
        for (key, value) in &self.properties {
            if !is_of_other_role(key, role) {
                config.set(key, value);
            }
        }
        if role == Role::Consumer {
            // Positions are the job's own: the client must neither guess one nor store one.
            config.set("enable.auto.commit", "false");
            config.set("enable.auto.offset.store", "false");
            config.set("auto.offset.reset", "error");
            config.set("enable.partition.eof", "true");
        }
        config
    }

    /// Checks the properties without a connection.
    ///
    /// # Errors
    /// A property or value that the client does not take.
    pub fn check(&self) -> Result<()> {
        if let Some(mechanism) = self.property("sasl.mechanism").or_else(|| self.property("sasl.mechanisms"))
            && !mechanism.eq_ignore_ascii_case("PLAIN")
        {
            return Err(bad_property("sasl.mechanism", mechanism, "this build of the client logs in with PLAIN"));
        }
        for role in [Role::Consumer, Role::Producer] {
            self.config(role).create_native_config().map_err(|error| config_error(&error))?;
        }
        Ok(())
    }

    /// A client that only asks questions. Blocks as little as making a client does.
    ///
    /// # Errors
    /// Properties that contradict each other.
    pub fn inquirer(&self, role: Role) -> Result<Inquirer> {
        let mut config = self.config(Role::Consumer);
        if role == Role::Producer {
            // Only writing makes a topic, as with the Java client.
            config.set("allow.auto.create.topics", "true");
        }
        let context = Arc::new(Reports::default());
        let consumer =
            config.create_with_context(Listener(context.clone())).map_err(|error| self.creation_error(&error))?;
        Ok(Inquirer { consumer, reports: context })
    }

    /// The error for a client that could not be made.
    pub fn creation_error(&self, error: &KafkaError) -> Error {
        match error {
            KafkaError::ClientConfig(..) => config_error(error),
            _ => bad_property("*", "...", &error.to_string()),
        }
    }
}

/// Properties that only the other kind of client has: librdkafka complains about them.
fn is_of_other_role(key: &str, role: Role) -> bool {
    const CONSUMER: &[&str] = &[
        "group.id",
        "group.instance.id",
        "isolation.level",
        "session.timeout.ms",
        "heartbeat.interval.ms",
        "max.poll.interval.ms",
        "check.crcs",
        "max.partition.fetch.bytes",
    ];
    const PRODUCER: &[&str] = &[
        "acks",
        "request.required.acks",
        "retries",
        "message.send.max.retries",
        "batch.size",
        "batch.num.messages",
        "linger.ms",
        "queue.buffering.max.ms",
        "queue.buffering.max.kbytes",
        "queue.buffering.max.messages",
        "enable.idempotence",
        "max.in.flight.requests.per.connection",
        "compression.type",
        "compression.codec",
        "compression.level",
        "delivery.timeout.ms",
        "message.timeout.ms",
        "request.timeout.ms",
        "transaction.timeout.ms",
        "transactional.id",
        "partitioner",
    ];
    match role {
        Role::Consumer => PRODUCER.contains(&key),
        Role::Producer => CONSUMER.contains(&key) || key.starts_with("fetch."),
    }
}

fn bad_property(key: &str, value: &str, cause: &str) -> Error {
    Error::new(&codes::BAD_PROPERTY, &[("key", &key), ("value", &value), ("cause", &cause)])
}

fn config_error(error: &KafkaError) -> Error {
    match error {
        KafkaError::ClientConfig(_, cause, key, value) => {
            let shown = if key.contains("password") || key.contains("secret") { "***" } else { value.as_str() };
            bad_property(key, shown, cause)
        }
        other => bad_property("*", "...", &other.to_string()),
    }
}

/// User and password of a JAAS login module: `... required username="u" password="p";`.
fn jaas_login(text: &str) -> Option<(String, String)> {
    let value = |name: &str| {
        let (_, rest) = text.split_once(&format!("{name}="))?;
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        rest[1..].split_once(quote).map(|(value, _)| value.to_string())
    };
    Some((value("username")?, value("password")?))
}

/// Whether offsets are committed to the broker with every checkpoint: only for a group that the table names.
pub(crate) fn commits_offsets(options: &Options) -> bool {
    let key = format!("{PROPERTIES_PREFIX}commit.offsets.on.checkpoint");
    options.get("properties.group.id").is_some()
        && options.get(&key).is_none_or(|value| !value.eq_ignore_ascii_case("false"))
}

/// What a client has reported in the background: the last error and its explanation.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<Option<(RDKafkaErrorCode, String)>>);

impl Reports {
    fn lock(&self) -> MutexGuard<'_, Option<(RDKafkaErrorCode, String)>> {
        // The lock only guards plain assignments, which a panic cannot tear.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last error, which is forgotten then.
    pub fn take_error(&self) -> Option<(RDKafkaErrorCode, String)> {
        self.lock().take()
    }

    /// Keeps an error for whoever asks next.
    pub fn keep_error(&self, code: RDKafkaErrorCode, reason: &str) {
        let mut kept = self.lock();
        // A refused login explains more than the closed connection that follows it, and that more than the sum of all.
        let is_login = matches!(*kept, Some((RDKafkaErrorCode::Authentication, _)));
        let is_sum = code == RDKafkaErrorCode::AllBrokersDown && kept.is_some();
        if !is_login && !is_sum {
            *kept = Some((code, reason.to_string()));
        }
    }
}

/// The end of a partition as its leader has said it last; nobody is asked. `None` before the first answer.
#[allow(unsafe_code)] // the client library has no safe call for it
pub(crate) fn known_end(client: &Client<Listener>, topic: &str, partition: i32) -> Option<i64> {
    let topic = CString::new(topic).ok()?;
    let (mut low, mut high) = (-1, -1);
    // SAFETY: the client lives while it is borrowed, the name ends with a zero byte, both numbers are written at most.
    let code = unsafe {
        rdkafka::bindings::rd_kafka_get_watermark_offsets(
            client.native_ptr(),
            topic.as_ptr(),
            partition,
            &mut low,
            &mut high,
        )
    };
    (code == rdkafka::types::RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0).then_some(high)
}

/// The context of a client: keeps what it reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listener(pub Arc<Reports>);

impl ClientContext for Listener {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        tracing::debug!(target: "kafka", ?level, facility, "{message}");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(target: "kafka", "{error}: {reason}");
        if let Some(code) = error.rdkafka_error_code() {
            self.0.keep_error(code, reason);
        }
    }
}

impl ConsumerContext for Listener {}

impl ProducerContext for Listener {
    type DeliveryOpaque = ();

    fn delivery(&self, _: &DeliveryResult<'_>, (): ()) {}
}

/// A client that asks the cluster about topics and offsets. Its calls block.
pub(crate) struct Inquirer {
    consumer: BaseConsumer<Listener>,
    reports: Arc<Reports>,
}

impl Inquirer {
    /// The client.
    pub fn consumer(&self) -> &BaseConsumer<Listener> {
        &self.consumer
    }

    /// The last error that was reported in the background.
    pub fn last_error(&self) -> Option<(RDKafkaErrorCode, String)> {
        // Reports wait in the client's queue until somebody polls.
        for _ in 0..REPORTS_WAITING_MAX {
            let _ = self.consumer.poll(std::time::Duration::ZERO);
        }
        self.reports.take_error()
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
