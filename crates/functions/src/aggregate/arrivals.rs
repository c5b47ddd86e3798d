//! Values in the order in which they came, of which the earliest of equal ones can be taken out wherever it stands.
//!
//! Short lists, and those that lose their first values only, are searched. As soon as a search would be long, equal values
//! are chained from the earliest to the latest, and a hash table knows the ends of every chain.

use super::kind::Kind;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::collections::VecDeque;

/// How many values are looked at before an index is made.
const SEARCH_MAX: usize = 32;
/// The hash of NULL.
const NULL_HASH: u64 = 0x4e55_4c4c;

/// The values of one slot; `None` is NULL.
#[derive(Debug)]
pub(super) struct Arrivals<K: Kind> {
    /// `None` is a value that was taken out; never the first or the last one.
    cells: VecDeque<Option<Option<K::Value>>>,
    len: usize,
    /// Heap bytes of the values.
    value_bytes: usize,
    index: Option<Box<Index>>,
}

/// Where equal values are. Values are numbered by arrival.
#[derive(Debug, Default)]
struct Index {
    /// The number of the first cell.
    first: u64,
    /// For each cell, the distance to the next equal value; 0 if there is none.
    next: VecDeque<u32>,
    chains: HashTable<Chain>,
}

/// The numbers of the earliest and the latest of equal values.
#[derive(Debug)]
struct Chain {
    head: u64,
    tail: u64,
}

type Cells<K> = VecDeque<Option<Option<<K as Kind>::Value>>>;

fn hash<K: Kind>(value: Option<&K::Value>) -> u64 {
    value.map_or(NULL_HASH, K::hash)
}

/// The value with a number, `None` if it is not there any more.
fn at<K: Kind>(cells: &Cells<K>, first: u64, number: u64) -> Option<Option<&K::Value>> {
    cells.get((number - first) as usize)?.as_ref().map(Option::as_ref)
}

impl Index {
    fn of<K: Kind>(cells: &Cells<K>) -> Index {
        let mut index = Index::default();
        for place in 0..cells.len() {
            index.append::<K>(cells, place);
        }
        index
    }

    /// Takes note of the cell at `place`, the one behind those that are known.
    fn append<K: Kind>(&mut self, cells: &Cells<K>, place: usize) {
        let (first, number) = (self.first, self.first + place as u64);
        self.next.push_back(0);
        let Some(value) = cells[place].as_ref().map(Option::as_ref) else { return };
        let is_equal = |chain: &Chain| at::<K>(cells, first, chain.head) == Some(value);
        let rehash = |chain: &Chain| at::<K>(cells, first, chain.head).map_or(0, hash::<K>);
        match self.chains.entry(hash::<K>(value), is_equal, rehash) {
            Entry::Vacant(vacant) => {
                vacant.insert(Chain { head: number, tail: number });
            }
            Entry::Occupied(mut occupied) => {
                let chain = occupied.get_mut();
                self.next[(chain.tail - first) as usize] = (number - chain.tail) as u32;
                chain.tail = number;
            }
        }
    }

    /// Where the earliest equal value is, which leaves its chain.
    fn unchain<K: Kind>(
        &mut self,
        cells: &Cells<K>,
        hash: u64,
        is_equal: impl Fn(Option<&K::Value>) -> bool,
    ) -> Option<usize> {
        let first = self.first;
        let is_equal = |chain: &Chain| at::<K>(cells, first, chain.head).is_some_and(&is_equal);
        let mut entry = self.chains.find_entry(hash, is_equal).ok()?;
        let chain = entry.get_mut();
        let place = (chain.head - first) as usize;
        match self.next[place] {
            0 => drop(entry.remove()),
            distance => chain.head += u64::from(distance),
        }
        Some(place)
    }

    fn bytes(&self) -> usize {
        size_of::<Index>() + self.chains.allocation_size() + self.next.capacity() * size_of::<u32>()
    }
}

impl<K: Kind> Default for Arrivals<K> {
    fn default() -> Self {
        Arrivals { cells: VecDeque::new(), len: 0, value_bytes: 0, index: None }
    }
}

impl<K: Kind> Arrivals<K> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The values, earliest first.
    pub fn iter(&self) -> impl Iterator<Item = Option<&K::Value>> {
        self.cells.iter().flatten().map(Option::as_ref)
    }

    /// The earliest value, if it is not NULL.
    pub fn first(&self) -> Option<&K::Value> {
        self.cells.front()?.as_ref()?.as_ref()
    }

    /// The latest value, if it is not NULL.
    pub fn last(&self) -> Option<&K::Value> {
        self.cells.back()?.as_ref()?.as_ref()
    }

    /// Adds a value behind all others.
    pub fn push(&mut self, value: Option<K::Value>) {
        self.value_bytes += value.as_ref().map_or(0, K::heap_bytes);
        self.len += 1;
        self.cells.push_back(Some(value));
        if let Some(index) = &mut self.index {
            index.append::<K>(&self.cells, self.cells.len() - 1);
        }
    }

    /// Takes the earliest value out that `is_equal`, if there is one. `hash_of` gives the hash of such a value, `None` for
    /// NULL.
    pub fn take_out(&mut self, hash_of: impl FnOnce() -> Option<u64>, is_equal: impl Fn(Option<&K::Value>) -> bool) {
        if self.index.is_none() {
            let searched = self.cells.iter().take(SEARCH_MAX);
            let found = searched.flatten().position(|value| is_equal(value.as_ref()));
            if let Some(place) = found {
                // Without an index no cell is empty: the place is that of the cell.
                let taken = self.cells.remove(place);
                return self.forget(taken.flatten());
            }
            if self.cells.len() <= SEARCH_MAX {
                return;
            }
            self.index = Some(Box::new(Index::of::<K>(&self.cells)));
        }
        let Some(index) = &mut self.index else { return };
        let hash = hash_of().unwrap_or(NULL_HASH);
        let Some(place) = index.unchain::<K>(&self.cells, hash, is_equal) else { return };
        let taken = self.cells[place].take();
        self.forget(taken);
        self.tidy();
    }

    fn forget(&mut self, taken: Option<Option<K::Value>>) {
        self.len -= 1;
        self.value_bytes -= taken.flatten().as_ref().map_or(0, K::heap_bytes);
    }

    /// Leaves no empty cell at the ends, and not too many in between.
    fn tidy(&mut self) {
        let Some(index) = &mut self.index else { return };
        while let Some(None) = self.cells.front() {
            self.cells.pop_front();
            index.next.pop_front();
            index.first += 1;
        }
        while let Some(None) = self.cells.back() {
            self.cells.pop_back();
            index.next.pop_back();
        }
        let is_short = self.len <= SEARCH_MAX / 2;
        if is_short || self.len < self.cells.len() / 2 {
            self.cells = std::mem::take(&mut self.cells).into_iter().filter(Option::is_some).collect();
            self.index = (!is_short).then(|| Box::new(Index::of::<K>(&self.cells)));
        }
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        let index = self.index.as_ref().map_or(0, |index| index.bytes());
        self.value_bytes + self.cells.capacity() * size_of::<Option<Option<K::Value>>>() + index
    }
}

/// The lists of all slots, and how many bytes they take.
#[derive(Debug)]
pub(super) struct Lists<K: Kind> {
    lists: Vec<Arrivals<K>>,
    bytes: usize,
}

impl<K: Kind> Default for Lists<K> {
    fn default() -> Self {
        Lists { lists: Vec::new(), bytes: 0 }
    }
}

impl<K: Kind> Lists<K> {
    /// Makes room for `slots` slots.
    pub fn resize(&mut self, slots: usize) {
        if slots > self.lists.len() {
            self.lists.resize_with(slots, Arrivals::default);
        }
    }

    /// The list of a slot.
    pub fn get(&self, slot: u32) -> &Arrivals<K> {
        &self.lists[slot as usize]
    }

    /// Changes the list of a slot.
    #[inline]
    pub fn change<R>(&mut self, slot: usize, change: impl FnOnce(&mut Arrivals<K>) -> R) -> R {
        let list = &mut self.lists[slot];
        let before = list.bytes();
        let result = change(list);
        self.bytes = self.bytes - before + list.bytes();
        result
    }

    /// Empties slots.
    pub fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.change(*slot as usize, |list| *list = Arrivals::default());
        }
    }

    /// Bytes of all lists.
    pub fn heap_bytes(&self) -> usize {
        self.bytes + self.lists.capacity() * size_of::<Arrivals<K>>()
    }
}

#[cfg(test)]
#[path = "arrivals_tests.rs"]
mod tests;
