//! Asking the cluster while the job runs: new partitions, topics and records that seem to be gone.

use super::client::{Inquirer, Role};
use super::codes;
use super::input::Start;
use super::position::{Position, split_id};
use super::probe::{self, TopicInfo};
use super::table::{KafkaTable, Stop};
use base::connector::{Instance, SplitId};
use base::{Error, Result};
use std::time::{Duration, Instant};

/// How long the broker may say that a topic is not there before it is believed: it says so while it starts as well.
const GONE_AFTER: Duration = Duration::from_secs(6);
/// The time between two looks at such a topic.
const GONE_RETRY: Duration = Duration::from_millis(500);
/// How long to wait for an answer about such a topic before the client is told to begin again anyway.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// The instance that reads a partition: the partitions of one topic go round, beginning where the topic's name says.
pub(super) fn owner(topic: &str, partition: i32, parallelism: usize) -> usize {
    let first = topic.bytes().fold(0usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte as usize));
    first.wrapping_add(partition as usize) % parallelism
}

/// Where each partition is read from: where the last run ended, or as the options say. A partition that the last run did
/// not know is new and read from its beginning.
///
/// # Errors
/// Positions that the broker does not have, a broker that does not answer.
pub(super) fn starts(table: &KafkaTable, topics: &[TopicInfo], restored: Vec<Position>) -> Result<Vec<Start>> {
    let inquirer = table.settings.inquirer(Role::Consumer)?;
    if restored.is_empty() {
        return probe::ranges(table, &inquirer, topics);
    }
    let known: Vec<SplitId> = restored.iter().map(|p| split_id(&p.topic, p.partition)).collect();
    let mut starts = Vec::new();
    for position in restored {
        let (_, high) = check_offset(table, &inquirer, &position)?;
        starts.push(Start { stop_is_written: position.stop.is_some_and(|stop| stop <= high), position });
    }
    starts.extend(new_partitions(table, &inquirer, topics, &|topic, partition| {
        !known.contains(&split_id(topic, partition))
    })?);
    Ok(starts)
}

/// The offsets that the broker holds of a partition, which must include the position.
fn check_offset(table: &KafkaTable, inquirer: &Inquirer, position: &Position) -> Result<(i64, i64)> {
    let range = probe::watermarks(table, inquirer, &position.topic, position.partition)?;
    if (range.0..=range.1).contains(&position.next) {
        return Ok(range);
    }
    Err(probe::offset_gone(table, &position.topic, position.partition, position.next, range))
}

/// The wanted partitions, from their beginning. A bounded source reads no new ones.
fn new_partitions(
    table: &KafkaTable,
    inquirer: &Inquirer,
    topics: &[TopicInfo],
    is_wanted: &dyn Fn(&str, i32) -> bool,
) -> Result<Vec<Start>> {
    let mut starts = Vec::new();
    if table.stop != Stop::Never {
        return Ok(starts);
    }
    for topic in topics {
        for &partition in topic.partitions.iter().filter(|partition| is_wanted(&topic.name, **partition)) {
            let (low, _) = probe::watermarks(table, inquirer, &topic.name, partition)?;
            let position = Position { topic: topic.name.clone(), partition, next: low, stop: None };
            starts.push(Start { position, stop_is_written: false });
        }
    }
    Ok(starts)
}

/// Why the cluster is asked while the job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// New partitions may be there.
    ForPartitions,
    /// The broker has said that a topic is not there.
    AtGoneTopics,
    /// The broker does not have the next record.
    AtLostOffsets,
    /// The client has reached the end of a partition whose stop had not been written when reading began.
    AtStops,
}

/// What a look has found.
#[derive(Debug)]
pub(super) struct Found {
    pub look: Look,
    /// Partitions to begin with, or to begin again with.
    pub starts: Vec<Start>,
}

impl Look {
    /// Asks; blocks. `positions` are where the reader would go on.
    ///
    /// # Errors
    /// Topics or records that are gone for good.
    pub fn run(self, table: &KafkaTable, positions: &[Position], instance: Instance) -> Result<Found> {
        let inquirer = table.settings.inquirer(Role::Consumer)?;
        let again = |position: &Position| Start { position: position.clone(), stop_is_written: false };
        let starts = match self {
            Look::ForPartitions => for_partitions(table, &inquirer, positions, instance),
            Look::AtGoneTopics => {
                at_gone_topics(table, &inquirer, positions)?;
                positions.iter().map(again).collect()
            }
            Look::AtLostOffsets => {
                for position in positions {
                    check_offset(table, &inquirer, position)?;
                }
                positions.iter().map(again).collect()
            }
            Look::AtStops => {
                let written = |position: &&Position| {
                    let end = probe::watermarks(table, &inquirer, &position.topic, position.partition);
                    end.is_ok_and(|(_, end)| position.stop.is_some_and(|stop| stop <= end))
                };
                let written = positions.iter().filter(written);
                written.map(|position| Start { position: position.clone(), stop_is_written: true }).collect()
            }
        };
        Ok(Found { look: self, starts })
    }
}

/// New partitions of this instance. A cluster that does not answer is asked again later.
fn for_partitions(table: &KafkaTable, inquirer: &Inquirer, known: &[Position], instance: Instance) -> Vec<Start> {
    let is_wanted = |topic: &str, partition: i32| {
        owner(topic, partition, instance.parallelism) == instance.index
            && !known.iter().any(|position| *position.topic == *topic && position.partition == partition)
    };
    let found =
        probe::look_again(table, inquirer).and_then(|topics| new_partitions(table, inquirer, &topics, &is_wanted));
    found.unwrap_or_else(|error| {
        tracing::warn!(table = %table.name, "no answer to the look for new partitions: {error}");
        Vec::new()
    })
}

/// Waits until the topics are there again, or are gone for good.
fn at_gone_topics(table: &KafkaTable, inquirer: &Inquirer, positions: &[Position]) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < ANSWER_TIME_MAX {
        std::thread::sleep(GONE_RETRY);
        // A broker that does not answer says nothing about topics.
        let Ok(topics) = probe::look_again(table, inquirer) else { continue };
        let is_there = |position: &Position| {
            topics.iter().any(|topic| topic.name == position.topic && topic.partitions.contains(&position.partition))
        };
        match positions.iter().find(|position| !is_there(position)) {
            None => return Ok(()),
            Some(gone) if begun.elapsed() >= GONE_AFTER => return Err(topic_gone(table, gone)),
            Some(_) => {}
        }
    }
    Ok(())
}

fn topic_gone(table: &KafkaTable, position: &Position) -> Error {
    let cause = format!("it has no partition {}", position.partition);
    Error::new(
        &codes::TOPIC_GONE,
        &[("topic", &position.topic), ("table", &table.name), ("servers", &table.settings.servers), ("cause", &cause)],
    )
}
