//! Where a reader is in a topic partition, as it stands in a checkpoint.

use crate::codes;
use base::connector::{SplitId, SplitState};
use base::{Error, Result};
use std::sync::Arc;

/// The version of the encoding.
const VERSION: u8 = 1;
/// What stands between topic and partition in the name of a split. No topic can have a blank in its name.
const INFIX: &str = " partition ";

/// A topic partition with the next offset to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    pub topic: Arc<str>,
    pub partition: i32,
    /// The next offset.
    pub next: i64,
    /// The offset before which reading ends.
    pub stop: Option<i64>,
}

/// The name of a split: `order_topic partition 2`.
pub(super) fn split_id(topic: &str, partition: i32) -> SplitId {
    format!("{topic}{INFIX}{partition}").into()
}

impl Position {
    /// The position for a checkpoint: version, next offset, whether there is a stop, the stop; numbers little-endian.
    pub fn encode(&self) -> SplitState {
        let mut position = vec![VERSION];
        position.extend_from_slice(&self.next.to_le_bytes());
        position.push(u8::from(self.stop.is_some()));
        position.extend_from_slice(&self.stop.unwrap_or_default().to_le_bytes());
        SplitState { split: split_id(&self.topic, self.partition), position }
    }

    /// A position from a checkpoint.
    ///
    /// # Errors
    /// One that this version did not write.
    pub fn decode(state: &SplitState) -> Result<Position> {
        let parsed = || {
            let (topic, partition) = state.split.rsplit_once(INFIX)?;
            let bytes: &[u8; 18] = state.position.as_slice().try_into().ok()?;
            let number = |at: usize| Some(i64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
            let has_stop = bytes[0] == VERSION && bytes[9] == 1;
            Some(Position {
                topic: topic.into(),
                partition: partition.parse().ok()?,
                next: number(1).filter(|_| bytes[0] == VERSION)?,
                stop: if has_stop { Some(number(10)?) } else { None },
            })
        };
        parsed().ok_or_else(|| Error::new(&codes::BAD_POSITION, &[("split", &state.split)]))
    }
}

#[cfg(test)]
#[path = "position_tests.rs"]
mod tests;
