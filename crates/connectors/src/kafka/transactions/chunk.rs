//! The messages of an epoch as bytes: what a checkpoint keeps of them until a transaction has written them.
//!
//! A chunk says its topics, then holds message after message. Numbers are little-endian.

use crate::kafka::codes;
use crate::kafka::delivery::{MessageHeaders, Outgoing};
use base::connector::Committable;
use base::{Error, Result};

/// What every chunk and writer state begins with; the last character is the version.
pub(super) const MAGIC: &[u8; 4] = b"HWK1";
/// A chunk of this size takes no further message.
const CHUNK_BYTES: usize = 8 << 20;

const HAS_PARTITION: u8 = 1;
const HAS_KEY: u8 = 2;
const HAS_VALUE: u8 = 4;
const HAS_TIMESTAMP: u8 = 8;

/// The messages since the last barrier.
#[derive(Debug)]
pub(in crate::kafka) struct Kept {
    topics: Vec<String>,
    chunks: Vec<Vec<u8>>,
    bytes: usize,
}

impl Kept {
    /// Nothing yet, for these topics.
    pub fn new(topics: Vec<String>) -> Kept {
        Kept { topics, chunks: Vec::new(), bytes: 0 }
    }

    /// Bytes since the last barrier.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a message; gives the bytes that it takes.
    ///
    /// # Errors
    /// A topic that is not the table's, which is a bug.
    pub fn push(&mut self, message: &Outgoing<'_>) -> Result<usize> {
        let topic = self.topics.iter().position(|topic| topic == message.topic);
        let topic = topic.ok_or_else(|| Error::internal("a message for a topic that the table does not have"))?;
        if self.chunks.last().is_none_or(|chunk| chunk.len() >= CHUNK_BYTES) {
            let mut chunk = MAGIC.to_vec();
            push_number(&mut chunk, self.topics.len());
            self.topics.iter().for_each(|topic| push_bytes(&mut chunk, topic.as_bytes()));
            self.bytes += chunk.len();
            self.chunks.push(chunk);
        }
        let Some(chunk) = self.chunks.last_mut() else { return Err(Error::internal("the chunk was just made")) };
        let before = chunk.len();
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        chunk.push(
            flag(message.partition.is_some(), HAS_PARTITION)
                | flag(message.key.is_some(), HAS_KEY)
                | flag(message.value.is_some(), HAS_VALUE)
                | flag(message.timestamp_ms.is_some(), HAS_TIMESTAMP),
        );
        push_number(chunk, topic);
        chunk.extend(message.partition.iter().flat_map(|partition| partition.to_le_bytes()));
        message.key.iter().for_each(|key| push_bytes(chunk, key));
        message.value.iter().for_each(|value| push_bytes(chunk, value));
        chunk.extend(message.timestamp_ms.iter().flat_map(|time| time.to_le_bytes()));
        push_number(chunk, message.headers.len());
        for (name, value) in message.headers {
            push_bytes(chunk, name.as_bytes());
            chunk.push(u8::from(value.is_some()));
            value.iter().for_each(|value| push_bytes(chunk, value));
        }
        let added = chunk.len() - before;
        self.bytes += added;
        Ok(added)
    }

    /// Everything since the last barrier.
    pub fn take(&mut self) -> Vec<Committable> {
        self.bytes = 0;
        std::mem::take(&mut self.chunks).into_iter().map(Committable::from).collect()
    }
}

fn push_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&(number as u32).to_le_bytes());
}

fn push_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    push_number(bytes, value.len());
    bytes.extend_from_slice(value);
}

/// A message of a chunk.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::kafka) struct Stored<'a> {
    pub topic: &'a str,
    pub partition: Option<i32>,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    pub timestamp_ms: Option<i64>,
    pub headers: MessageHeaders,
}

impl Stored<'_> {
    /// The message to send.
    pub fn outgoing(&self) -> Outgoing<'_> {
        let Stored { topic, partition, key, value, timestamp_ms, headers } = self;
        Outgoing { topic, partition: *partition, key: *key, value: *value, timestamp_ms: *timestamp_ms, headers }
    }
}

/// The messages of a chunk.
#[derive(Debug)]
pub(in crate::kafka) struct Messages<'a> {
    topics: Vec<&'a str>,
    rest: Bytes<'a>,
}

impl<'a> Messages<'a> {
    /// Reads the head of a chunk.
    ///
    /// # Errors
    /// What no Kafka sink of this version has written.
    pub fn new(committable: &'a Committable, table: &str) -> Result<Messages<'a>> {
        let parsed = || {
            let mut rest = Bytes(committable.0.strip_prefix(MAGIC)?);
            let count = rest.number()?;
            let topics = (0..count).map(|_| rest.text()).collect::<Option<Vec<_>>>()?;
            Some(Messages { topics, rest })
        };
        parsed().ok_or_else(|| foreign(table))
    }

    fn message(&mut self) -> Option<Stored<'a>> {
        let rest = &mut self.rest;
        let flags = rest.byte()?;
        let has = |flag: u8| flags & flag != 0;
        let topic = self.topics.get(rest.number()?)?;
        let partition = if has(HAS_PARTITION) { Some(i32::from_le_bytes(rest.array()?)) } else { None };
        let key = if has(HAS_KEY) { Some(rest.bytes()?) } else { None };
        let value = if has(HAS_VALUE) { Some(rest.bytes()?) } else { None };
        let timestamp_ms = if has(HAS_TIMESTAMP) { Some(i64::from_le_bytes(rest.array()?)) } else { None };
        let count = rest.number()?;
        let mut headers = Vec::new();
        for _ in 0..count {
            let name = rest.text()?.to_string();
            let value = if rest.byte()? == 1 { Some(rest.bytes()?.to_vec()) } else { None };
            headers.push((name, value));
        }
        Some(Stored { topic, partition, key, value, timestamp_ms, headers })
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Stored<'a>>;

    fn next(&mut self) -> Option<Result<Stored<'a>>> {
        if self.rest.0.is_empty() {
            return None;
        }
        let message = self.message();
        if message.is_none() {
            self.rest = Bytes(&[]);
        }
        Some(message.ok_or_else(|| Error::internal("a message of a checkpoint ends in the middle")))
    }
}

/// The error for what another connector has left in a checkpoint.
pub(super) fn foreign(table: &str) -> Error {
    Error::new(&codes::FOREIGN_STATE, &[("table", &table)])
}

/// Bytes that are read from the front.
#[derive(Debug)]
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn number(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.array()?) as usize)
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

#[cfg(test)]
#[path = "chunk_tests.rs"]
mod tests;
