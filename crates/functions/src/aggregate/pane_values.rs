//! DISTINCT in windows that share panes: the values of every key, and the panes in which each of them occurs.
//!
//! One look at a hash table per row finds the value, with bits for the panes where it has been. The table is made for that: an
//! entry is one piece of a cache line, and the lines of many rows are fetched at once. Values that are in no pane any more
//! make room for new ones on whose way they are, or go when the table of their key is made anew.

use super::kind::{Kind, with_kind};
use super::rows::{Rows, nulls};
use arrow::array::*;
use arrow::datatypes::FieldRef;
use base::function::{Occurrence, PaneRows, PaneValues, SavedValues};
use base::{Error, LogicalType, Result, SqlType};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// Values lie all over memory. As many are touched before any of them is used: the processor waits for them at once.
const TOUCHED_AT_ONCE: usize = 128;
/// No older stretches.
const NONE: u32 = u32::MAX;

/// Up to 64 panes: numbers that differ in the last 6 bits only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    /// Of its panes, without the last 6 bits.
    number: i64,
    /// By the last 6 bits.
    bits: NonZeroU64,
}

/// A value of a key.
#[derive(Debug)]
#[repr(align(32))]
struct Entry<V> {
    value: V,
    /// Where it occurs, up to the last pane.
    last: Stretch,
    /// Stretches before that, among [`Older`].
    older: u32,
    /// The slot of the last pane.
    slot: u32,
}

/// The stretches of values before their last ones, ascending. Most values have none.
#[derive(Debug, Default)]
struct Older {
    lists: Vec<Vec<Stretch>>,
    free: Vec<u32>,
    stretches: usize,
}

/// The pane before a new one and the one behind it.
type Neighbours = (Option<i64>, Option<i64>);

impl Stretch {
    fn of(pane: i64) -> Stretch {
        Stretch { number: pane >> 6, bits: NonZeroU64::new(1 << (pane & 63)).unwrap_or(NonZeroU64::MIN) }
    }

    fn pane(self, bit: u32) -> i64 {
        (self.number << 6) | i64::from(bit)
    }

    fn first(self) -> i64 {
        self.pane(self.bits.trailing_zeros())
    }

    fn last(self) -> i64 {
        self.pane(63 - self.bits.leading_zeros())
    }

    fn panes(self) -> impl Iterator<Item = i64> {
        (0..64).filter(move |bit| self.bits.get() >> bit & 1 != 0).map(move |bit| self.pane(bit))
    }

    /// Adds a pane of this stretch; gives its neighbours in it. `None` if it is there already.
    fn insert(&mut self, one: Stretch) -> Option<Neighbours> {
        let (bits, bit) = (self.bits.get(), one.bits.get());
        if bits & bit != 0 {
            return None;
        }
        let part = |bits: u64| NonZeroU64::new(bits).map(|bits| Stretch { bits, ..*self });
        let (below, above) = (part(bits & (bit - 1)), part(bits & !(bit - 1)));
        self.bits |= one.bits;
        Some((below.map(Stretch::last), above.map(Stretch::first)))
    }
}

impl Older {
    fn of(&self, list: u32) -> &[Stretch] {
        self.lists.get(list as usize).map_or(&[], Vec::as_slice)
    }

    /// A list to be changed; there is one then.
    fn of_mut(&mut self, list: &mut u32) -> &mut Vec<Stretch> {
        if *list == NONE {
            *list = self.free.pop().unwrap_or_else(|| {
                self.lists.push(Vec::new());
                self.lists.len() as u32 - 1
            });
        }
        &mut self.lists[*list as usize]
    }

    fn release(&mut self, list: u32) {
        if list != NONE {
            self.stretches -= std::mem::take(&mut self.lists[list as usize]).len();
            self.free.push(list);
        }
    }

    fn heap_bytes(&self) -> usize {
        self.lists.capacity() * size_of::<Vec<Stretch>>()
            + self.free.capacity() * size_of::<u32>()
            + self.stretches * size_of::<Stretch>()
    }
}

impl<V> Entry<V> {
    /// Adds a pane; gives its neighbours. `None` if it is there already.
    #[inline]
    fn insert(&mut self, pane: i64, over: i64, older: &mut Older) -> Option<Neighbours> {
        let one = Stretch::of(pane);
        if one.number == self.last.number {
            let (before, after) = self.last.insert(one)?;
            return Some((before.or_else(|| Some(older.of(self.older).last()?.last())), after));
        }
        if one.number > self.last.number {
            let before = std::mem::replace(&mut self.last, one);
            self.put_away(before, over, older);
            return Some((Some(before.last()), None));
        }
        let list = older.of_mut(&mut self.older);
        let (at, found) = match list.binary_search_by_key(&one.number, |stretch| stretch.number) {
            Ok(at) => (at, list[at].insert(one)?),
            Err(at) => {
                list.insert(at, one);
                older.stretches += 1;
                (at, (None, None))
            }
        };
        let list = older.of(self.older);
        let before = found.0.or_else(|| Some(list[at.checked_sub(1)?].last()));
        let after = found.1.or_else(|| Some(list.get(at + 1).unwrap_or(&self.last).first()));
        Some((before, after))
    }

    /// A stretch is not the last one any more. Those that are over go.
    fn put_away(&mut self, stretch: Stretch, over: i64, older: &mut Older) {
        if stretch.last() <= over {
            older.release(std::mem::replace(&mut self.older, NONE));
            return;
        }
        let list = older.of_mut(&mut self.older);
        let before = list.len();
        list.retain(|stretch| stretch.last() > over);
        let gone = before - list.len();
        list.push(stretch);
        older.stretches = older.stretches + 1 - gone;
    }
}

/// The values of a key: an entry is at the place that its hash says, or behind it up to the first free one.
#[derive(Debug)]
struct Table<V> {
    entries: Vec<Option<Entry<V>>>,
    len: usize,
}

impl<V> Table<V> {
    fn new() -> Table<V> {
        Table { entries: Vec::new(), len: 0 }
    }

    /// Whether there is no room for one more: then it is made anew, with more room than this many values need.
    fn is_full(&self) -> bool {
        self.len * 10 >= self.entries.len() * 7
    }

    fn with_room(values: usize) -> Table<V> {
        let capacity = if values == 0 { 0 } else { values * 8 / 3 + 1 };
        let mut entries = Vec::with_capacity(capacity);
        entries.resize_with(capacity, || None);
        Table { entries, len: 0 }
    }

    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.entries.len() as u128) >> 64) as usize
    }

    /// The place of a value, or that where it is to be put: the first of its way whose value is over, or a free one.
    #[inline]
    fn place(&self, hash: u64, over: i64, is_it: impl Fn(&V) -> bool) -> (usize, bool) {
        let (mut place, mut reused) = (self.home(hash), None);
        while let Some(entry) = &self.entries[place] {
            if is_it(&entry.value) {
                return (place, true);
            }
            if reused.is_none() && entry.last.last() <= over {
                reused = Some(place);
            }
            place += 1;
            if place == self.entries.len() {
                place = 0;
            }
        }
        (reused.unwrap_or(place), false)
    }

    /// Puts a value where none is, or one that is over; gives that one.
    fn put(&mut self, place: usize, entry: Entry<V>) -> Option<Entry<V>> {
        let before = self.entries[place].replace(entry);
        self.len += usize::from(before.is_none());
        before
    }

    fn heap_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Option<Entry<V>>>()
    }
}

/// What is known of a pane of all keys.
#[derive(Debug, Default)]
struct Pane {
    /// How many values are in it.
    values: usize,
    /// Their numbers in snapshots.
    numbers: Vec<Range<u32>>,
}

/// What has changed since the last snapshot.
#[derive(Debug)]
struct Changes<V> {
    /// The next number.
    next: u32,
    /// Keys with a new value in a pane.
    new: Vec<(u32, i64, V)>,
    /// Numbers of those whose panes are over.
    gone: Vec<u32>,
}

/// A row whose value is looked for.
#[derive(Debug, Clone, Copy)]
struct Probe {
    row: u32,
    key: u32,
    hash: u64,
}

#[derive(Debug)]
struct Store<K: Kind> {
    kind: K,
    argument: SqlType,
    keys: Vec<Table<K::Value>>,
    older: Older,
    panes: BTreeMap<i64, Pane>,
    /// How many values all panes have.
    live: usize,
    /// Heap bytes of tables and values.
    bytes: usize,
    /// `None`: the next snapshot holds everything.
    changes: Option<Changes<K::Value>>,
    probes: Vec<Probe>,
}

/// An empty store of values of a type.
pub(super) fn store(argument: &SqlType) -> Result<Box<dyn PaneValues>> {
    let argument = argument.with_nullable(false);
    Ok(with_kind!(&argument, kind => Box::new(Store {
        kind,
        argument: argument.clone(),
        keys: Vec::new(),
        older: Older::default(),
        panes: BTreeMap::new(),
        live: 0,
        bytes: 0,
        changes: None,
        probes: Vec::new(),
    })))
}

impl<K: Kind> Store<K> {
    /// Adds a row. `None` if its value has been in its pane before.
    #[inline]
    fn occurrence(&mut self, rows: &PaneRows<'_>, column: &K::Column, probe: Probe, over: i64) -> Option<Occurrence> {
        let row = probe.row as usize;
        if self.keys[probe.key as usize].is_full() {
            self.rebuild(probe.key as usize, over, 1);
        }
        let table = &mut self.keys[probe.key as usize];
        let (pane, slot) = (rows.panes[row], rows.slots[row]);
        let (place, is_known) = table.place(probe.hash, over, |value| K::compare(value, column, row).is_eq());
        let none = Occurrence::NO_SLOT;
        let mut found = Occurrence { row: probe.row, before_slot: none, before: i64::MIN, after: i64::MAX };
        if let Some(entry) = table.entries[place].as_mut().filter(|_| is_known) {
            let (before, after) = entry.insert(pane, over, &mut self.older)?;
            found.before = before.filter(|before| *before > over).unwrap_or(i64::MIN);
            match after {
                Some(after) => found.after = after,
                None => found.before_slot = std::mem::replace(&mut entry.slot, slot),
            }
            return Some(found);
        }
        let value = K::get(column, row);
        self.bytes += K::heap_bytes(&value);
        if let Some(gone) = table.put(place, Entry { value, last: Stretch::of(pane), older: NONE, slot }) {
            self.bytes -= K::heap_bytes(&gone.value);
            self.older.release(gone.older);
        }
        Some(found)
    }

    /// Makes the table of a key anew, without values that are in no pane behind `over`, and with room for so many more.
    fn rebuild(&mut self, key: usize, over: i64, more: usize) {
        let before = std::mem::replace(&mut self.keys[key], Table::new());
        self.bytes -= before.heap_bytes();
        let live = before.entries.iter().flatten().filter(|entry| entry.last.last() > over).count();
        let mut table = Table::with_room(live + more);
        for entry in before.entries.into_iter().flatten() {
            if entry.last.last() > over {
                let (place, _) = table.place(K::hash(&entry.value), i64::MIN, |_| false);
                table.put(place, entry);
            } else {
                self.bytes -= K::heap_bytes(&entry.value);
                self.older.release(entry.older);
            }
        }
        self.bytes += table.heap_bytes();
        self.keys[key] = table;
    }

    /// Counts new values, and keeps them for the next snapshot.
    fn count(&mut self, rows: &PaneRows<'_>, column: &K::Column, new: &[Occurrence]) {
        self.live += new.len();
        for run in new.chunk_by(|one, next| rows.panes[one.row as usize] == rows.panes[next.row as usize]) {
            self.panes.entry(rows.panes[run[0].row as usize]).or_default().values += run.len();
        }
        let Some(changes) = &mut self.changes else { return };
        if changes.new.len() + new.len() > self.live {
            // So much has changed that the next snapshot holds everything.
            self.changes = None;
            return;
        }
        let row = |one: &Occurrence| {
            let row = one.row as usize;
            (rows.keys[row], rows.panes[row], K::get(column, row))
        };
        changes.new.extend(new.iter().map(row));
    }

    /// Panes are over.
    fn close(&mut self, over: i64) {
        while let Some(pane) = self.panes.first_entry().filter(|pane| *pane.key() <= over) {
            let pane = pane.remove();
            self.live -= pane.values;
            if let Some(changes) = &mut self.changes {
                changes.gone.extend(pane.numbers.into_iter().flatten());
            }
        }
    }

    /// Gives numbers to new values.
    fn number(&mut self, panes: &[i64], next: u32) -> Result<Vec<u32>> {
        let count = u32::try_from(panes.len()).ok().filter(|count| next.checked_add(*count).is_some());
        count.ok_or_else(|| Error::internal("too many values for a snapshot"))?;
        let mut counts: BTreeMap<i64, u32> = BTreeMap::new();
        panes.iter().for_each(|pane| *counts.entry(*pane).or_default() += 1);
        let mut first = next;
        for (pane, count) in &mut counts {
            let range = first..first + *count;
            *count = first;
            first = range.end;
            self.panes.entry(*pane).or_default().numbers.push(range);
        }
        let number = |pane: &i64| {
            counts.get_mut(pane).map_or(0, |number| {
                *number += 1;
                *number - 1
            })
        };
        Ok(panes.iter().map(number).collect())
    }

    /// All values in their panes.
    fn all(&self, over: i64) -> Vec<(u32, i64, K::Value)> {
        let mut all = Vec::with_capacity(self.live);
        for (table, key) in self.keys.iter().zip(0..) {
            for entry in table.entries.iter().flatten() {
                let stretches = self.older.of(entry.older).iter().chain([&entry.last]);
                let panes = stretches.flat_map(|stretch| stretch.panes()).filter(|pane| *pane > over);
                all.extend(panes.map(|pane| (key, pane, entry.value.clone())));
            }
        }
        all
    }
}

impl<K: Kind> PaneValues for Store<K> {
    fn resize(&mut self, keys: usize) {
        if keys > self.keys.len() {
            self.keys.resize_with(keys, Table::new);
        }
    }

    fn insert(&mut self, rows: &PaneRows<'_>, over: i64, new: &mut Vec<Occurrence>) -> Result<()> {
        self.close(over);
        let column = self.kind.column(rows.values)?;
        let mut probes = std::mem::take(&mut self.probes);
        probes.clear();
        Rows { slots: rows.keys, kinds: None, selected: rows.selected }.each(nulls(rows.values), |row, key, _| {
            probes.push(Probe { row: row as u32, key: key as u32, hash: K::hash_row(&column, row) });
        });
        let before = new.len();
        for probes in probes.chunks(TOUCHED_AT_ONCE) {
            let touch = |probe: &Probe| {
                let table = &self.keys[probe.key as usize];
                let (home, is_taken) =
                    (table.home(probe.hash), |place| table.entries.get(place).is_some_and(Option::is_some));
                // A cache line has two entries, and the value may be in the next one.
                usize::from(is_taken(home)) + usize::from(is_taken(home + 2))
            };
            std::hint::black_box(probes.iter().map(touch).sum::<usize>());
            for &probe in probes {
                new.extend(self.occurrence(rows, &column, probe, over));
            }
        }
        self.probes = probes;
        self.count(rows, &column, &new[before..]);
        Ok(())
    }

    fn forget(&mut self, keys: Range<usize>, over: i64) {
        for key in keys {
            let entries = self.keys[key].entries.iter().flatten();
            let over_count = entries.filter(|entry| entry.last.last() <= over).count();
            if over_count * 2 > self.keys[key].len {
                self.rebuild(key, over, 0);
            }
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        let argument = self.argument.logical.clone().not_null();
        vec![argument.arrow_field("distinct"), LogicalType::BigInt.not_null().arrow_field("pane")]
    }

    fn save(&mut self, only_changes: bool, over: i64) -> Result<SavedValues> {
        self.close(over);
        let is_few = |changes: &Changes<_>| changes.new.len() + changes.gone.len() <= self.live / 2 + 16;
        let (rows, gone, next) = match self.changes.take().filter(|changes| only_changes && is_few(changes)) {
            Some(mut changes) => {
                changes.new.retain(|(_, pane, _)| *pane > over);
                (changes.new, Some(changes.gone), changes.next)
            }
            None => {
                self.panes.values_mut().for_each(|pane| pane.numbers.clear());
                (self.all(over), None, 0)
            }
        };
        let panes: Vec<i64> = rows.iter().map(|(_, pane, _)| *pane).collect();
        let numbers = self.number(&panes, next)?;
        let next = next + numbers.len() as u32;
        self.changes = Some(Changes { next, new: Vec::new(), gone: Vec::new() });
        let values = self.kind.build(rows.iter().map(|(.., value)| Some(value)))?;
        Ok(SavedValues {
            keys: rows.iter().map(|(key, ..)| *key).collect(),
            numbers,
            gone,
            columns: vec![values, Arc::new(Int64Array::from(panes))],
        })
    }

    fn heap_bytes(&self) -> usize {
        let changes = self.changes.as_ref().map_or(0, |changes| {
            changes.new.capacity() * size_of::<(u32, i64, K::Value)>() + changes.gone.capacity() * size_of::<u32>()
        });
        self.bytes
            + changes
            + self.older.heap_bytes()
            + self.keys.capacity() * size_of::<Table<K::Value>>()
            + self.probes.capacity() * size_of::<Probe>()
    }
}

#[cfg(test)]
#[path = "pane_values_tests.rs"]
mod tests;
