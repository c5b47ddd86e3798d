//! A Kafka client that shares no code with the one under test: Apache's own, in a JVM of its own.
//!
//! One JSON command a line, one JSON answer a line, matched by number: several threads may use one client at a time.

use super::java::KAFKA;
use crate::child::{ChildProcess, lock};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::os::unix::process::CommandExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const HEAP_MB: u32 = 256;
/// Longer than any timeout inside the client, which explains itself better.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// Records of one command.
const PRODUCE_RECORDS_MAX: usize = 10_000;

/// One record. `partition`, `offset` and `timestamp` are always there after reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Partition; when producing, `None` leaves it to Kafka's partitioner.
    pub partition: Option<i32>,
    /// Offset; not looked at when producing.
    pub offset: Option<i64>,
    /// Milliseconds since the epoch; when producing, `None` means now.
    pub timestamp: Option<i64>,
    /// Key.
    pub key: Option<Vec<u8>>,
    /// Value; `None` is a tombstone.
    pub value: Option<Vec<u8>>,
    /// Headers in order.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
}

impl Record {
    /// A record without a key.
    pub fn new(value: impl Into<Vec<u8>>) -> Record {
        Record { value: Some(value.into()), ..Record::default() }
    }

    /// A deletion of a key.
    pub fn tombstone(key: impl Into<Vec<u8>>) -> Record {
        Record { key: Some(key.into()), ..Record::default() }
    }

    /// Sets the key.
    pub fn key(self, key: impl Into<Vec<u8>>) -> Record {
        Record { key: Some(key.into()), ..self }
    }

    /// Sets the partition.
    pub fn partition(self, partition: i32) -> Record {
        Record { partition: Some(partition), ..self }
    }

    /// Sets the timestamp in milliseconds.
    pub fn timestamp(self, timestamp: i64) -> Record {
        Record { timestamp: Some(timestamp), ..self }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Record {
        self.headers.push((name.into(), Some(value.into())));
        self
    }

    /// The key as text.
    pub fn key_text(&self) -> Option<String> {
        self.key.as_ref().map(|key| String::from_utf8_lossy(key).into_owned())
    }

    /// The value as text.
    pub fn value_text(&self) -> Option<String> {
        self.value.as_ref().map(|value| String::from_utf8_lossy(value).into_owned())
    }

    fn to_json(&self) -> Value {
        let headers: Vec<Value> = self.headers.iter().map(|(name, value)| json!([name, encode(value)])).collect();
        json!({
            "partition": self.partition, "timestamp": self.timestamp, "headers": headers,
            "key": encode(&self.key), "value": encode(&self.value),
        })
    }

    fn from_json(json: &Value) -> Result<Record, String> {
        let mut headers = Vec::new();
        for header in json["headers"].as_array().into_iter().flatten() {
            headers.push((header[0].as_str().unwrap_or_default().to_string(), decode(&header[1])?));
        }
        Ok(Record {
            partition: json["partition"].as_i64().and_then(|partition| i32::try_from(partition).ok()),
            offset: json["offset"].as_i64(),
            timestamp: json["timestamp"].as_i64(),
            key: decode(&json["key"])?,
            value: decode(&json["value"])?,
            headers,
        })
    }
}

fn encode(bytes: &Option<Vec<u8>>) -> Option<String> {
    bytes.as_ref().map(|bytes| BASE64.encode(bytes))
}

fn decode(text: &Value) -> Result<Option<Vec<u8>>, String> {
    text.as_str().map(|text| BASE64.decode(text).map_err(|cause| cause.to_string())).transpose()
}

/// What of a transaction is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Records of open and aborted transactions too.
    ReadUncommitted,
    /// Committed records only.
    ReadCommitted,
}

impl Isolation {
    fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "read_uncommitted",
            Isolation::ReadCommitted => "read_committed",
        }
    }
}

/// Offsets by partition.
pub type Offsets = BTreeMap<i32, i64>;

/// Commands that wait for an answer, by number; `None` when the client has ended.
type Pending = Arc<Mutex<Option<HashMap<u64, Sender<Value>>>>>;

/// A running client.
#[derive(Debug)]
pub struct KafkaClient {
    process: Mutex<ChildProcess>,
    pending: Pending,
    next_id: AtomicU64,
}

impl KafkaClient {
    /// Starts a client for a broker; it connects with its first command.
    ///
    /// # Errors
    /// A JVM that cannot be started.
    pub fn connect(bootstrap: &str) -> Result<KafkaClient, String> {
        let mut command = KAFKA.prepare()?.command("KafkaClient", HEAP_MB);
        command.arg(bootstrap).process_group(0);
        let pending: Pending = Arc::new(Mutex::new(Some(HashMap::new())));
        let waiting = pending.clone();
        let handler = move |line: Option<String>| {
            let Some(line) = line else {
                // Whoever waits hears of the end by losing the other side of the channel.
                *lock(&waiting) = None;
                return;
            };
            let answer: Value = serde_json::from_str(&line).unwrap_or_default();
            let id = answer["id"].as_u64().unwrap_or_default();
            if let Some(sender) = lock(&waiting).as_mut().and_then(|pending| pending.remove(&id)) {
                let _ = sender.send(answer);
            }
        };
        let process = ChildProcess::spawn("kafka client", &mut command, None, Some(Box::new(handler)))?;
        Ok(KafkaClient { process: Mutex::new(process), pending, next_id: AtomicU64::new(1) })
    }

    /// Names of all topics.
    ///
    /// # Errors
    /// What the broker answered, for this and all other commands.
    pub fn topics(&self) -> Result<Vec<String>, String> {
        let names = self.call(json!({ "do": "topics" }))?;
        Ok(names.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_string)).collect())
    }

    /// Creates a topic and waits until it can be written.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn create_topic(&self, topic: &str, partitions: u32, configs: &[(&str, &str)]) -> Result<(), String> {
        let configs: BTreeMap<&str, &str> = configs.iter().copied().collect();
        let command = json!({ "do": "create_topic", "topic": topic, "partitions": partitions, "configs": configs });
        self.call(command).map(|_| ())
    }

    /// Deletes a topic.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn delete_topic(&self, topic: &str) -> Result<(), String> {
        self.call(json!({ "do": "delete_topic", "topic": topic })).map(|_| ())
    }

    /// Gives a topic more partitions; `partitions` is the new count.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn add_partitions(&self, topic: &str, partitions: u32) -> Result<(), String> {
        self.call(json!({ "do": "add_partitions", "topic": topic, "partitions": partitions })).map(|_| ())
    }

    /// Settings of a topic, defaults included.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn topic_configs(&self, topic: &str) -> Result<BTreeMap<String, String>, String> {
        let configs = self.call(json!({ "do": "topic_configs", "topic": topic }))?;
        let entries = configs.as_object().into_iter().flatten();
        Ok(entries.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_string())).collect())
    }

    /// Sends records in order and waits until all are written; gives their partitions and offsets.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn produce(&self, topic: &str, records: &[Record]) -> Result<Vec<(i32, i64)>, String> {
        let mut places = Vec::with_capacity(records.len());
        for records in records.chunks(PRODUCE_RECORDS_MAX) {
            let records: Vec<Value> = records.iter().map(Record::to_json).collect();
            let answer = self.call(json!({ "do": "produce", "topic": topic, "records": records }))?;
            for place in answer.as_array().into_iter().flatten() {
                places.push((integer(&place[0])?, place[1].as_i64().unwrap_or_default()));
            }
        }
        Ok(places)
    }

    /// Sends records in one transaction, and commits or aborts it.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn produce_in_transaction(&self, topic: &str, records: &[Record], commit: bool) -> Result<(), String> {
        let records: Vec<Value> = records.iter().map(Record::to_json).collect();
        let command = json!({ "do": "transaction", "topic": topic, "records": records, "commit": commit });
        self.call(command).map(|_| ())
    }

    /// All committed records of a topic up to its current end, by partition and offset.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn read(&self, topic: &str) -> Result<Vec<Record>, String> {
        self.read_with(topic, Isolation::ReadCommitted)
    }

    /// As [`KafkaClient::read`], with a choice of what is seen.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn read_with(&self, topic: &str, isolation: Isolation) -> Result<Vec<Record>, String> {
        let command = json!({ "do": "read", "topic": topic, "isolation": isolation.name() });
        let mut records = records(&self.call(command)?)?;
        records.sort_by_key(|record| (record.partition, record.offset));
        Ok(records)
    }

    /// Committed records from `positions` on, which move behind them. Waits up to `wait` for the first one; a position
    /// that is missing means the beginning.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn read_on(&self, topic: &str, positions: &mut Offsets, wait: Duration) -> Result<Vec<Record>, String> {
        let from: BTreeMap<String, i64> = positions.iter().map(|(key, value)| (key.to_string(), *value)).collect();
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let answer = self.call(json!({ "do": "read", "topic": topic, "from": from, "wait_ms": wait_ms }))?;
        *positions = offsets(&answer["positions"])?;
        records(&answer)
    }

    /// The end of every partition, behind the last committed record.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn end_offsets(&self, topic: &str) -> Result<Offsets, String> {
        offsets(&self.call(json!({ "do": "end_offsets", "topic": topic }))?)
    }

    /// Committed offsets of a consumer group: topic, partition, offset.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn group_offsets(&self, group: &str) -> Result<Vec<(String, i32, i64)>, String> {
        let answer = self.call(json!({ "do": "group_offsets", "group": group }))?;
        let entries = answer.as_array().into_iter().flatten();
        entries
            .map(|entry| {
                let topic = entry[0].as_str().unwrap_or_default().to_string();
                Ok((topic, integer(&entry[1])?, entry[2].as_i64().unwrap_or_default()))
            })
            .collect()
    }

    /// Allows a user one operation: `allow("alice", "topic", "orders", "read")`. Resources are `topic`, `group`,
    /// `cluster` (named `kafka-cluster`) and `transactional_id`.
    ///
    /// # Errors
    /// The broker's answer.
    pub fn allow(&self, user: &str, resource: &str, name: &str, operation: &str) -> Result<(), String> {
        let principal = format!("User:{user}");
        let command = json!({ "do": "create_acl", "principal": principal, "resource": resource, "name": name,
            "operation": operation });
        self.call(command).map(|_| ())
    }

    fn call(&self, mut command: Value) -> Result<Value, String> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let what = command["do"].as_str().unwrap_or_default().to_string();
        command["id"] = json!(id);
        let (sender, answers) = channel();
        match lock(&self.pending).as_mut() {
            Some(pending) => pending.insert(id, sender),
            None => return Err(format!("the kafka client has ended\n{}", lock(&self.process).log())),
        };
        lock(&self.process).write_line(&command.to_string())?;
        let mut answer = answers
            .recv_timeout(ANSWER_TIMEOUT)
            .map_err(|cause| format!("no answer to {what}: {cause}\n{}", lock(&self.process).log()))?;
        match answer["error"].as_str() {
            Some(error) => Err(format!("{what} {}: {error}", command["topic"].as_str().unwrap_or_default())),
            None => Ok(answer["ok"].take()),
        }
    }
}

fn records(answer: &Value) -> Result<Vec<Record>, String> {
    answer["records"].as_array().into_iter().flatten().map(Record::from_json).collect()
}

fn integer(value: &Value) -> Result<i32, String> {
    value.as_i64().and_then(|value| i32::try_from(value).ok()).ok_or_else(|| format!("{value} is no partition"))
}

fn offsets(value: &Value) -> Result<Offsets, String> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(partition, offset)| {
            let partition = partition.parse().map_err(|_| format!("{partition} is no partition"))?;
            Ok((partition, offset.as_i64().unwrap_or_default()))
        })
        .collect()
}
