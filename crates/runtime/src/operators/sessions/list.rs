//! Open sessions: for every key a short list of them, ordered by time, all lists in one slab.

use state::{RowNumbers, Scope};

/// No session, no key.
pub(super) const NONE: u32 = u32::MAX;

/// Sessions by slot, and the lists of their keys.
///
/// A session that another one has taken in keeps its slot until its timer has come: a slot has one timer, always.
#[derive(Debug, Default)]
pub(super) struct SessionList {
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// Numbers sessions in the order in which they began; what is merged has the smallest number of its parts.
    births: Vec<u64>,
    /// The key of a session; [`NONE`] if the slot is no session any more.
    keys: Vec<u32>,
    /// The next later session of the key.
    next: Vec<u32>,
    free: Vec<u32>,
    live: usize,
    born: u64,
    /// By session. What is merged goes on under the number of the oldest of its parts, so that numbers rise as births do.
    numbers: RowNumbers,

    /// By key: the earliest session.
    heads: Vec<u32>,
    /// By key: the latest session. Rows mostly go there.
    tails: Vec<u32>,
}

/// Where a row belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Into this session, which it touches.
    In(u32),
    /// It begins a session behind this one, or before all of them if [`NONE`].
    Behind(u32),
}

impl SessionList {
    /// One more than the largest slot ever given.
    pub fn slots_len(&self) -> usize {
        self.keys.len()
    }

    /// The number of sessions.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Makes keys `0..keys` usable.
    pub fn resize_keys(&mut self, keys: usize) {
        self.heads.resize(keys, NONE);
        self.tails.resize(keys, NONE);
    }

    /// When a session starts.
    pub fn start(&self, slot: u32) -> i64 {
        self.starts[slot as usize]
    }

    /// When it ends, as far as is known.
    pub fn end(&self, slot: u32) -> i64 {
        self.ends[slot as usize]
    }

    /// Its key; `None` if another session has taken it in.
    pub fn key(&self, slot: u32) -> Option<u32> {
        Some(self.keys[slot as usize]).filter(|key| *key != NONE)
    }

    /// Its place in the order in which sessions began.
    pub fn birth(&self, slot: u32) -> u64 {
        self.births[slot as usize]
    }

    /// Whether a key has no session.
    pub fn is_empty(&self, key: u32) -> bool {
        self.heads[key as usize] == NONE
    }

    /// Where the row of a key that spans these times belongs.
    pub fn place(&self, key: u32, start: i64, end: i64) -> Place {
        let tail = self.tails[key as usize];
        if tail == NONE || start > self.ends[tail as usize] {
            return Place::Behind(tail);
        }
        if start >= self.starts[tail as usize] {
            return Place::In(tail);
        }
        let (mut before, mut at) = (NONE, self.heads[key as usize]);
        while at != NONE && self.ends[at as usize] < start {
            (before, at) = (at, self.next[at as usize]);
        }
        if at != NONE && self.starts[at as usize] <= end { Place::In(at) } else { Place::Behind(before) }
    }

    /// A new session of a key, behind another one. A reader must set its timer.
    pub fn begin(&mut self, key: u32, behind: u32, start: i64, end: i64) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.starts.push(0);
            self.ends.push(0);
            self.births.push(0);
            self.keys.push(NONE);
            self.next.push(NONE);
            self.keys.len() as u32 - 1
        });
        let index = slot as usize;
        (self.starts[index], self.ends[index], self.births[index], self.keys[index]) = (start, end, self.born, key);
        self.born += 1;
        self.live += 1;
        self.numbers.added(slot);
        let link = match behind {
            NONE => &mut self.heads[key as usize],
            behind => &mut self.next[behind as usize],
        };
        self.next[index] = std::mem::replace(link, slot);
        if self.tails[key as usize] == behind {
            self.tails[key as usize] = slot;
        }
        slot
    }

    /// A row comes into a session, which spans these times as well then. The later sessions that it touches are taken in: they go
    /// to `merged`.
    pub fn extend(&mut self, slot: u32, start: i64, end: i64, merged: &mut Vec<u32>) {
        let index = slot as usize;
        self.starts[index] = self.starts[index].min(start);
        self.ends[index] = self.ends[index].max(end);
        self.numbers.changed(slot);
        loop {
            let other = self.next[index];
            if other == NONE || self.starts[other as usize] > self.ends[index] {
                return;
            }
            self.ends[index] = self.ends[index].max(self.ends[other as usize]);
            if self.births[other as usize] < self.births[index] {
                self.births[index] = self.births[other as usize];
                self.numbers.removed(slot);
                self.numbers.moved(other, slot);
            } else {
                self.numbers.removed(other);
            }
            self.next[index] = self.next[other as usize];
            let tail = &mut self.tails[self.keys[index] as usize];
            if *tail == other {
                *tail = slot;
            }
            self.keys[other as usize] = NONE;
            self.live -= 1;
            merged.push(other);
        }
    }

    /// Takes a session out of the list of its key, and gives its slot free if it was one; a session that had been taken in
    /// only gives its slot free. Its timer must be gone.
    pub fn remove(&mut self, slot: u32) {
        let index = slot as usize;
        if let Some(key) = self.key(slot) {
            let (mut before, mut at) = (NONE, self.heads[key as usize]);
            // Sessions end in the order of the list: mostly it is the first one.
            while at != slot && at != NONE {
                (before, at) = (at, self.next[at as usize]);
            }
            match before {
                NONE => self.heads[key as usize] = self.next[index],
                before => self.next[before as usize] = self.next[index],
            }
            if self.tails[key as usize] == slot {
                self.tails[key as usize] = before;
            }
            self.live -= 1;
            self.numbers.removed(slot);
        }
        self.keys[index] = NONE;
        self.free.push(slot);
    }

    /// The sessions of a snapshot in the order in which they began, all or those that changed since the last one: their slots,
    /// their numbers, and the numbers of those that are gone ([`RowNumbers::take`]).
    pub fn take(&mut self, scope: Scope) -> (Vec<u32>, Vec<u32>, Option<Vec<u32>>) {
        let SessionList { numbers, keys, births, live, .. } = self;
        let all = || {
            let mut slots: Vec<u32> = (0..keys.len() as u32).filter(|&slot| keys[slot as usize] != NONE).collect();
            slots.sort_unstable_by_key(|&slot| births[slot as usize]);
            slots
        };
        let (slots, gone) = numbers.take(scope, *live, all);
        let numbers = numbers.numbers(&slots);
        (slots, numbers, gone)
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let lists = self.keys.capacity() + self.next.capacity() + self.free.capacity();
        let keys = self.heads.capacity() + self.tails.capacity();
        (self.starts.capacity() + self.ends.capacity() + self.births.capacity()) * size_of::<i64>()
            + (lists + keys) * size_of::<u32>()
            + self.numbers.heap_bytes()
    }
}
