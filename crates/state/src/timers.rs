//! Event-time timers: which slots to wake when the watermark reaches a time.
//!
//! Timers are not saved on their own: a slot's time is part of its key or of its values (the end of a window), so
//! whoever restores a table registers its timers again.

use std::collections::BTreeMap;

/// Slots by the time at which they are due. The slots of one time keep the order in which they were added.
#[derive(Debug, Default)]
pub struct Timers {
    by_time: BTreeMap<i64, Vec<u32>>,
    count: usize,
}

impl Timers {
    /// Wakes `slot` at `time`. A slot must not be added twice for one time.
    pub fn add(&mut self, time: i64, slot: u32) {
        self.by_time.entry(time).or_default().push(slot);
        self.count += 1;
    }

    /// The earliest time with a timer.
    pub fn first_time(&self) -> Option<i64> {
        self.by_time.first_key_value().map(|(time, _)| *time)
    }

    /// Takes the slots of the earliest time out.
    pub fn pop_first(&mut self) -> Option<(i64, Vec<u32>)> {
        let (time, slots) = self.by_time.pop_first()?;
        self.count -= slots.len();
        Some((time, slots))
    }

    /// All slots, by time, then in the order in which they were added: the order in which they will fire.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_time.values().flatten().copied()
    }

    /// The number of timers.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no timer.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        self.by_time.values().map(|slots| slots.capacity() * size_of::<u32>() + 48).sum()
    }
}
