//! Partial matches of a partition, and those that are complete but wait for one that began earlier.

use super::automaton::StateId;
use super::paths::NO_PATH;

/// The start of a partial match that has no row yet: behind every other.
pub(super) const NOT_STARTED: u64 = u64::MAX;

/// A way through the automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Partial {
    /// Where it is.
    pub state: StateId,
    /// The rows that it has taken.
    pub path: u32,
    /// The number of its first row.
    pub start: u64,
    /// The time of its first row.
    pub start_ms: i64,
}

impl Partial {
    /// The partial match that every row may continue, without a row.
    pub fn not_started(state: StateId) -> Partial {
        Partial { state, path: NO_PATH, start: NOT_STARTED, start_ms: 0 }
    }

    /// Whether it has a row.
    pub fn is_started(&self) -> bool {
        self.start != NOT_STARTED
    }
}

/// A binary heap by the start of the matches.
///
/// Matches with the same first row are equal in it, and which of them is given depends on where they lie: Flink keeps them
/// in such a heap, so elements are put in, taken out and looked at in exactly its order.
#[derive(Debug, Default)]
pub(super) struct Queue(Vec<Partial>);

impl Queue {
    /// All elements as they lie.
    pub fn as_slice(&self) -> &[Partial] {
        &self.0
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The earliest one.
    pub fn first(&self) -> Option<&Partial> {
        self.0.first()
    }

    /// Adds an element.
    pub fn push(&mut self, partial: Partial) {
        self.0.push(partial);
        let mut place = self.0.len() - 1;
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.0[place].start >= self.0[parent].start {
                break;
            }
            self.0.swap(place, parent);
            place = parent;
        }
    }

    /// Takes the earliest one out.
    pub fn pop(&mut self) -> Option<Partial> {
        let last = self.0.pop()?;
        let Some(first) = self.0.first_mut() else { return Some(last) };
        let taken = std::mem::replace(first, last);
        self.sift_down(0);
        Some(taken)
    }

    /// Takes out what is not wanted; it is added to `removed`.
    pub fn retain(&mut self, wanted: impl Fn(&Partial) -> bool, removed: &mut Vec<Partial>) {
        let before = self.0.len();
        self.0.retain(|partial| {
            let keeps = wanted(partial);
            if !keeps {
                removed.push(*partial);
            }
            keeps
        });
        if self.0.len() < before {
            (0..self.0.len() / 2).rev().for_each(|place| self.sift_down(place));
        }
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            let Some(child) = self.0.get(left) else { return };
            let smaller = match self.0.get(left + 1) {
                Some(right) if right.start < child.start => left + 1,
                _ => left,
            };
            if self.0[place].start <= self.0[smaller].start {
                return;
            }
            self.0.swap(place, smaller);
            place = smaller;
        }
    }
}

impl FromIterator<Partial> for Queue {
    fn from_iter<I: IntoIterator<Item = Partial>>(partials: I) -> Queue {
        let mut queue = Queue::default();
        partials.into_iter().for_each(|partial| queue.push(partial));
        queue
    }
}

/// What is known of a partition.
#[derive(Debug, Default)]
pub(super) struct Partition {
    /// Matches that may go on; the one without a row is always among them once there was a row.
    pub partial: Queue,
    /// Complete matches that began later than one that may go on.
    pub complete: Queue,
    /// Whether the slot belongs to a key.
    pub is_live: bool,
    /// Whether it waits for its rows to be looked at.
    pub is_due: bool,
}

impl Partition {
    /// Whether nothing is kept but what every partition begins with.
    pub fn is_idle(&self) -> bool {
        self.partial.len() <= 1 && self.complete.is_empty()
    }
}
