//! What a sink has committed, as its progress topic says: one record with each transaction, written in it.
//!
//! The topic belongs to one transactional id and has one partition. A record says for one run of the job how far it is
//! and who wrote it, so the last record of a run is its progress, and the last one at all says whose the id is now.

use super::Trouble;
use crate::kafka::client::{Listener, Role};
use crate::kafka::probe;
use crate::kafka::table::KafkaTable;
use base::Result;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The version of the records.
const VERSION: u64 = 1;
/// How long reading the topic may take.
const READ_TIME_MAX: Duration = Duration::from_secs(10);
/// How long one request may take.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(5);
/// The time between two looks at a topic that is not ready.
const RETRY: Duration = Duration::from_millis(100);
/// Offsets behind the end that are read first; then eight times as many, up to all.
const WINDOW: i64 = 1_000;
/// Kafka's limit of the name of a topic.
const NAME_MAX: usize = 249;
const SUFFIX: &str = "-progress";

/// How far a run has come: so many chunks of the checkpoint, and everything of those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Progress {
    pub checkpoint: u64,
    pub chunks: u64,
}

/// Who uses a transactional id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Owner {
    /// The run of the job: kept in its checkpoints.
    pub run: String,
    /// The program that runs it; another one after every start.
    pub instance: String,
    pub job: String,
    pub host: String,
    pub process: u64,
}

/// A record of the topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProgressRecord {
    pub owner: Owner,
    pub progress: Progress,
    /// The job has ended: nobody uses the id.
    pub has_ended: bool,
    /// The run goes on under this id.
    pub moved_to: Option<String>,
}

impl ProgressRecord {
    /// The key and the value of the record.
    pub fn encode(&self) -> (String, String) {
        let ProgressRecord { owner, progress, has_ended, moved_to } = self;
        let value = json!({
            "version": VERSION, "run": owner.run, "checkpoint": progress.checkpoint, "chunks": progress.chunks,
            "job": owner.job, "host": owner.host, "process": owner.process, "instance": owner.instance,
            "ended": has_ended, "moved_to": moved_to,
        });
        (owner.run.clone(), value.to_string())
    }

    fn decode(value: &[u8]) -> Option<ProgressRecord> {
        let value: Value = serde_json::from_slice(value).ok()?;
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_string();
        Some(ProgressRecord {
            owner: Owner {
                run: value["run"].as_str()?.to_string(),
                instance: text("instance"),
                job: text("job"),
                host: text("host"),
                process: value["process"].as_u64().unwrap_or_default(),
            },
            progress: Progress { checkpoint: value["checkpoint"].as_u64()?, chunks: value["chunks"].as_u64()? },
            has_ended: value["ended"].as_bool().unwrap_or_default(),
            moved_to: value["moved_to"].as_str().map(str::to_string),
        })
    }
}

/// The progress topic of a transactional id: its name with what a topic cannot be called replaced, and made one of its
/// own again by a hash.
pub(super) fn topic_of(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = id.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    if name == id && name.len() + SUFFIX.len() <= NAME_MAX {
        return format!("{name}{SUFFIX}");
    }
    let hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let kept: String = name.chars().take(NAME_MAX - SUFFIX.len() - 17).collect();
    format!("{kept}-{hash:016x}{SUFFIX}")
}

/// What a progress topic says.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Of the run.
    pub own: Option<ProgressRecord>,
    /// Of anybody.
    pub last: Option<ProgressRecord>,
}

/// Reads the topic from its end back to the run's last record. Blocks.
pub(super) fn read(table: &KafkaTable, topic: &str, run: &str) -> Result<Found, Trouble> {
    let deadline = Instant::now() + READ_TIME_MAX;
    let mut config = table.settings.config(Role::Consumer);
    config.set("isolation.level", "read_committed");
    let created = config.create_with_context(Listener::default());
    let consumer: BaseConsumer<Listener> = created.map_err(|error| table.settings.creation_error(&error))?;
    let (low, high) = loop {
        match consumer.fetch_watermarks(topic, 0, REQUEST_TIME_MAX) {
            Ok(range) => break range,
            // A topic that was just made has no leader for a moment.
            Err(error) if Instant::now() < deadline && is_coming(&error) => std::thread::sleep(RETRY),
            Err(error) => return Err(trouble(table, topic, &error)),
        }
    };
    let mut window = WINDOW;
    loop {
        let from = low.max(high.saturating_sub(window));
        let found = read_from(table, &consumer, topic, from, run, deadline)?;
        if found.own.is_some() || from == low {
            return Ok(found);
        }
        window = window.saturating_mul(8);
    }
}

fn read_from(
    table: &KafkaTable,
    consumer: &BaseConsumer<Listener>,
    topic: &str,
    from: i64,
    run: &str,
    deadline: Instant,
) -> Result<Found, Trouble> {
    let mut list = TopicPartitionList::new();
    let assigned = list.add_partition_offset(topic, 0, Offset::Offset(from)).and_then(|()| consumer.assign(&list));
    assigned.map_err(|error| trouble(table, topic, &error))?;
    let mut found = Found::default();
    loop {
        match consumer.poll(RETRY) {
            None => {}
            Some(Ok(message)) => {
                let Some(record) = message.payload().and_then(ProgressRecord::decode) else { continue };
                if record.owner.run == run {
                    found.own = Some(record.clone());
                }
                found.last = Some(record);
            }
            Some(Err(KafkaError::PartitionEOF(_))) => return Ok(found),
            // No group is used, whatever the client asks of it.
            Some(Err(error)) if error.rdkafka_error_code() == Some(RDKafkaErrorCode::GroupAuthorizationFailed) => {}
            Some(Err(error)) if is_coming(&error) => {}
            Some(Err(error)) => return Err(trouble(table, topic, &error)),
        }
        if Instant::now() >= deadline {
            return Err(Trouble::Passing(format!("no end of topic '{topic}' within {} s", READ_TIME_MAX.as_secs())));
        }
    }
}

fn is_coming(error: &KafkaError) -> bool {
    error.rdkafka_error_code().is_some_and(|code| {
        probe::heals(code)
            || matches!(code, RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownPartition)
    })
}

fn trouble(table: &KafkaTable, topic: &str, error: &KafkaError) -> Trouble {
    let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail);
    if probe::heals(code) {
        return Trouble::Passing(format!("topic '{topic}': {code}"));
    }
    Trouble::Final(probe::request_problem(table, topic, Role::Consumer, code, None))
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
