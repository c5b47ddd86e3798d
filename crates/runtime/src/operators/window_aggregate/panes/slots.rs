//! Slots of aggregates: each pane of a key that has rows has one, and each key for its window.

use hashbrown::HashTable;
use std::collections::BTreeMap;

/// No slot, no key.
pub(super) const NONE: u32 = u32::MAX;

/// A pane of all keys.
#[derive(Debug, Default)]
struct Pane {
    /// In the order of first rows.
    slots: Vec<u32>,
    /// By key.
    index: HashTable<u32>,
}

/// Slots by key and pane.
#[derive(Debug, Default)]
pub(super) struct PaneSlots {
    /// By slot: its key; [`NONE`] if it is no pane.
    keys: Vec<u32>,
    /// By slot: the end of its pane.
    ends: Vec<i64>,
    free: Vec<u32>,
    panes: BTreeMap<i64, Pane>,
    /// The pane that was asked for last, taken out of the others: rows mostly come in the order of time.
    current: Option<(i64, Pane)>,
    /// By key: the slot that was asked for last.
    last: Vec<u32>,
    len: usize,
}

/// Keys are small numbers: those next to each other lie next to each other. The tag of the hash table is in the top bits.
fn hash(key: u32) -> u64 {
    let key = u64::from(key);
    key ^ (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) & 0xffff_0000_0000_0000)
}

impl PaneSlots {
    /// One more than the largest slot ever given.
    pub fn slots_len(&self) -> usize {
        self.keys.len()
    }

    /// The number of panes of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Makes keys `0..keys` usable.
    pub fn resize_keys(&mut self, keys: usize) {
        self.last.resize(keys, NONE);
    }

    /// The key of a slot.
    pub fn key(&self, slot: u32) -> u32 {
        self.keys[slot as usize]
    }

    /// The end of the pane of a slot.
    pub fn end(&self, slot: u32) -> i64 {
        self.ends[slot as usize]
    }

    /// A slot that is no pane.
    pub fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.keys.push(NONE);
            self.ends.push(0);
            self.keys.len() as u32 - 1
        })
    }

    /// Gives a slot of [`PaneSlots::reserve`] free.
    pub fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// The slot of a key's pane, and whether it is new. [`PaneSlots::settle`] must follow.
    pub fn find_or_insert(&mut self, key: u32, end: i64) -> (u32, bool) {
        let last = self.last[key as usize];
        if last != NONE && self.keys[last as usize] == key && self.ends[last as usize] == end {
            return (last, false);
        }
        let hash_code = hash(key);
        let mut pane = self.take(end);
        if let Some(&slot) = pane.index.find(hash_code, |slot| self.keys[*slot as usize] == key) {
            self.last[key as usize] = slot;
            self.current = Some((end, pane));
            return (slot, false);
        }
        let slot = self.reserve();
        (self.keys[slot as usize], self.ends[slot as usize]) = (key, end);
        pane.slots.push(slot);
        pane.index.insert_unique(hash_code, slot, |slot| hash(self.keys[*slot as usize]));
        self.current = Some((end, pane));
        self.last[key as usize] = slot;
        self.len += 1;
        (slot, true)
    }

    /// The slot of a key's pane. All panes must be where they belong.
    pub fn find(&self, key: u32, end: i64) -> Option<u32> {
        self.panes.get(&end)?.index.find(hash(key), |slot| self.keys[*slot as usize] == key).copied()
    }

    /// Takes out a pane, which may be new.
    fn take(&mut self, end: i64) -> Pane {
        match self.current.take() {
            Some((current, pane)) if current == end => pane,
            other => {
                let keys = other.as_ref().map_or(0, |(_, pane)| pane.slots.len());
                self.current = other;
                self.settle();
                // A new pane mostly has as many keys as the one before.
                let new = || Pane { slots: Vec::with_capacity(keys), index: HashTable::with_capacity(keys) };
                self.panes.remove(&end).unwrap_or_else(new)
            }
        }
    }

    /// All panes are where they belong.
    pub fn settle(&mut self) {
        if let Some((end, pane)) = self.current.take() {
            self.panes.insert(end, pane);
        }
    }

    /// The end of the earliest pane.
    pub fn first_end(&self) -> Option<i64> {
        self.panes.first_key_value().map(|(end, _)| *end)
    }

    /// Panes that end behind `from`, up to `until`, with their slots.
    pub fn range(&self, from: Option<i64>, until: i64) -> impl DoubleEndedIterator<Item = (i64, &[u32])> {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let is_empty = from.is_some_and(|from| from >= until);
        let bounds = (from.map_or(Unbounded, Excluded), Included(until));
        let found = (!is_empty).then(|| self.panes.range(bounds));
        found.into_iter().flatten().map(|(end, pane)| (*end, pane.slots.as_slice()))
    }

    /// The slots of a pane.
    pub fn at(&self, end: i64) -> &[u32] {
        self.panes.get(&end).map_or(&[], |pane| &pane.slots)
    }

    /// All slots of panes by their ends, then in the order of their first rows.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.panes.values().flat_map(|pane| pane.slots.iter().copied())
    }

    /// Gives the slots of a pane free.
    pub fn release(&mut self, end: i64) {
        let slots = self.panes.remove(&end).unwrap_or_default().slots;
        self.len -= slots.len();
        slots.iter().for_each(|&slot| self.keys[slot as usize] = NONE);
        self.free.extend(slots);
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        let pane = |pane: &Pane| pane.slots.capacity() * size_of::<u32>() + pane.index.allocation_size() + 96;
        let slots = self.keys.capacity() + self.free.capacity() + self.last.capacity();
        let panes: usize = self.panes.values().map(pane).sum();
        slots * size_of::<u32>() + self.ends.capacity() * size_of::<i64>() + panes
    }
}
