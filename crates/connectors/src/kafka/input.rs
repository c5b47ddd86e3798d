//! The partitions of a reader: where each is, and what has been gathered of it.

use super::layout::{Layout, Pending};
use super::position::{Position, split_id};
use base::connector::SplitId;
use rdkafka::message::{BorrowedMessage, Message};
use std::sync::Arc;

/// A partition to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    pub position: Position,
    /// Whether everything before the stop has been written already: then the first end that the client sees is behind it.
    pub stop_is_written: bool,
}

/// A partition that is read.
#[derive(Debug)]
pub(super) struct Split {
    pub id: SplitId,
    /// Behind the last rows that were given: what a checkpoint holds.
    pub position: Position,
    /// The next offset to take from the client: ahead of the position while rows wait to be given.
    pub expected: i64,
    pub stop_is_written: bool,
    /// The client has said that there is nothing more for now.
    pub at_end: bool,
    /// Nothing more will be taken.
    pub finished: bool,
    pub pending: Pending,
}

impl Split {
    /// Whether the last record of a bounded partition has been taken. Its very last records can be ones that nobody may
    /// see: markers of transactions, what compaction has removed.
    pub fn is_done(&self) -> bool {
        let Some(stop) = self.position.stop else { return false };
        self.pending.is_empty() && (self.expected >= stop || (self.at_end && self.stop_is_written))
    }

    /// The position from which the client would have to begin again.
    pub fn resume(&self) -> Position {
        Position { next: self.expected, ..self.position.clone() }
    }
}

/// The partitions of a reader and what has been gathered of them.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub splits: Vec<Split>,
    /// By topic, the split of each partition number.
    by_topic: Vec<(Arc<str>, Vec<Option<usize>>)>,
    /// Splits with pending messages, in the order of their first one.
    pub touched: Vec<usize>,
    pub messages: usize,
    pub bytes: usize,
}

impl Input {
    /// Adds a partition; returns its place.
    pub fn add(&mut self, start: Start) -> usize {
        let Start { position, stop_is_written } = start;
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
        self.splits.push(Split {
            id: split_id(&position.topic, position.partition),
            expected: position.next,
            position,
            stop_is_written,
            at_end: false,
            finished: false,
            pending: Pending::default(),
        });
        index
    }

    /// The split of a partition.
    pub fn find(&self, topic: &str, partition: i32) -> Option<usize> {
        let (_, partitions) = self.by_topic.iter().find(|(name, _)| **name == *topic)?;
        *partitions.get(partition as usize)?
    }

    /// The split with this partition number; `None` if several topics have one.
    pub fn find_only(&self, partition: i32) -> Option<usize> {
        let mut found = self.by_topic.iter().filter_map(|(_, partitions)| *partitions.get(partition as usize)?);
        found.next().filter(|_| found.next().is_none())
    }

    /// Takes a message, unless it lies outside of what is read.
    pub fn take(&mut self, message: &BorrowedMessage<'_>, layout: &Layout) {
        let Some(index) = self.find(message.topic(), message.partition()) else { return };
        let split = &mut self.splits[index];
        let offset = message.offset();
        // A partition that was assigned again can give a record twice.
        if split.finished || offset < split.expected {
            return;
        }
        split.at_end = false;
        split.expected = offset + 1;
        if split.position.stop.is_some_and(|stop| offset >= stop) {
            return;
        }
        if split.pending.is_empty() {
            self.touched.push(index);
        }
        self.bytes += split.pending.push(message, layout);
        self.messages += 1;
    }
}
