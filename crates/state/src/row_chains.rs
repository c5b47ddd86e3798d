//! Several rows per key slot, row-encoded: what a join keeps of one side.
//!
//! The rows of a slot form a chain in the order of their arrival. Equal rows are kept once, with a number of copies. A
//! chain that grows long gets an index, so that a row of a hot key is found without walking. All of it lives in a few
//! growing vectors: no allocation per row.

use crate::key_table::{KeyTable, TakenKeys};
use crate::numbers::RowNumbers;
use crate::row_form::{from_row_form, row_type, to_row_form};
use crate::snapshot::{Scope, TableSnapshot};
use arrow::array::{ArrayRef, AsArray, Int64Array, UInt32Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, UInt32Type};
use arrow::row::{RowConverter, Rows, SortField};
use base::{Error, Result};
use hashbrown::HashTable;
use std::ops::Range;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// No row.
const NONE: u32 = u32::MAX;
/// In [`RowChains::lengths`]: the entry is free.
const FREE: u32 = u32::MAX;
/// In [`Chain::state`]: the rows of the chain are in the index; the other bits count its copies.
const INDEXED: u32 = 1 << 31;
/// Chains of more copies than this are indexed.
const WALKED_MAX: u32 = 16;
/// Below this many bytes of garbage the buffer is left alone.
const GARBAGE_MIN: usize = 64 * 1024;
/// In [`RowChains::stamps`]: the row counts from the first look.
const STAMP_UNKNOWN: i64 = i64::MIN;

/// What tells the rows of one slot apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowIdentity {
    /// A slot has one row at most.
    Slot,
    /// So many leading columns.
    Leading(usize),
    /// The whole content; copies are counted.
    Content,
    /// Nothing needs to: rows are only added.
    Arrival,
}

/// What a [`RowChains`] is made of.
#[derive(Debug, Clone)]
pub struct RowChainsSpec {
    /// The name in snapshots.
    pub name: &'static str,
    /// The columns; those of [`RowIdentity::Leading`] first.
    pub fields: Vec<FieldRef>,
    /// What tells rows apart.
    pub identity: RowIdentity,
    /// Whether a number of matches is kept per row.
    pub counts_matches: bool,
    /// Rows not written for this long are expired.
    pub ttl_ms: Option<i64>,
}

/// The rows of a batch, encoded for one [`RowChains`].
#[derive(Debug)]
pub struct ChainRows {
    rows: Option<Rows>,
    leading: Option<Rows>,
}

impl ChainRows {
    fn row(&self, row: usize) -> &[u8] {
        self.rows.as_ref().map_or(&[], |rows| rows.row(row).data())
    }

    /// The bytes that tell the row apart.
    fn identity(&self, row: usize) -> &[u8] {
        match &self.leading {
            Some(leading) => leading.row(row).data(),
            None => self.row(row),
        }
    }
}

/// What adding a row did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    /// Where the row is.
    pub entry: u32,
    /// Whether it took the place of another content with the same identity.
    pub replaced: bool,
}

#[derive(Debug, Clone, Copy)]
struct Chain {
    /// The oldest row.
    head: u32,
    /// Copies and [`INDEXED`].
    state: u32,
}

const EMPTY: Chain = Chain { head: NONE, state: 0 };

/// A ring: the row before the head is the youngest one.
#[derive(Debug, Clone, Copy)]
struct Link {
    next: u32,
    previous: u32,
}

#[derive(Debug, Clone, Copy)]
struct Indexed {
    hash: u32,
    slot: u32,
    entry: u32,
}

/// Rows by slot.
#[derive(Debug)]
pub struct RowChains {
    spec: RowChainsSpec,
    converter: RowConverter,
    leading: Option<RowConverter>,
    bytes: Vec<u8>,
    garbage: usize,
    /// By slot.
    chains: Vec<Chain>,
    /// By entry: where its bytes begin, and how many they are.
    starts: Vec<u64>,
    lengths: Vec<u32>,
    /// By entry; empty if a slot has one row at most.
    links: Vec<Link>,
    /// By entry; shorter while every row from there on is there once.
    copies: Vec<u32>,
    /// By entry; empty if they are not counted.
    matches: Vec<u32>,
    /// By entry; empty without a TTL.
    stamps: Vec<i64>,
    free: Vec<u32>,
    index: HashTable<Indexed>,
    live: usize,
    /// By entry.
    numbers: RowNumbers,
    /// The slot where [`RowChains::expire`] goes on.
    expire_cursor: usize,
}

/// Makes room in steps of an eighth: state is large, and half of it empty would be too much.
fn grow<T>(vector: &mut Vec<T>, additional: usize) {
    if vector.capacity() - vector.len() < additional {
        vector.reserve_exact(additional.max(vector.len() / 8).max(16));
    }
}

fn converter(fields: &[FieldRef]) -> Result<RowConverter> {
    Ok(RowConverter::new(fields.iter().map(|field| SortField::new(row_type(field.data_type()))).collect())?)
}

fn index_hash(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn hash_bytes(slot: u32, identity: &[u8]) -> u32 {
    xxh3_64_with_seed(identity, u64::from(slot)) as u32
}

impl RowChains {
    /// An empty store.
    pub fn new(mut spec: RowChainsSpec) -> Result<RowChains> {
        if spec.identity == RowIdentity::Leading(0) {
            spec.identity = RowIdentity::Slot;
        }
        let leading = match spec.identity {
            RowIdentity::Leading(n) => Some(converter(&spec.fields[..n])?),
            _ => None,
        };
        Ok(RowChains {
            converter: converter(&spec.fields)?,
            leading,
            spec,
            bytes: Vec::new(),
            garbage: 0,
            chains: Vec::new(),
            starts: Vec::new(),
            lengths: Vec::new(),
            links: Vec::new(),
            copies: Vec::new(),
            matches: Vec::new(),
            stamps: Vec::new(),
            free: Vec::new(),
            index: HashTable::new(),
            live: 0,
            numbers: RowNumbers::default(),
            expire_cursor: 0,
        })
    }

    /// The number of different rows.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Makes room for slots below `slots_len`.
    pub fn resize(&mut self, slots_len: usize) {
        if self.chains.len() < slots_len {
            let additional = slots_len - self.chains.len();
            grow(&mut self.chains, additional);
            self.chains.resize(slots_len, EMPTY);
        }
    }

    /// Encodes the rows of a batch.
    pub fn encode(&self, columns: &[ArrayRef]) -> Result<ChainRows> {
        if self.spec.fields.is_empty() {
            return Ok(ChainRows { rows: None, leading: None });
        }
        let columns = columns.iter().map(to_row_form).collect::<Result<Vec<_>>>()?;
        let leading = match (&self.leading, self.spec.identity) {
            (Some(converter), RowIdentity::Leading(n)) => Some(converter.convert_columns(&columns[..n])?),
            _ => None,
        };
        Ok(ChainRows { rows: Some(self.converter.convert_columns(&columns)?), leading })
    }

    /// The oldest row of a slot.
    #[inline]
    pub fn first(&self, slot: u32) -> Option<u32> {
        let head = self.chains[slot as usize].head;
        (head != NONE).then_some(head)
    }

    /// The youngest row of a slot.
    #[inline]
    pub fn last(&self, slot: u32) -> Option<u32> {
        let head = self.first(slot)?;
        Some(self.links.get(head as usize).map_or(head, |link| link.previous))
    }

    /// The row of a slot that came after `entry`.
    #[inline]
    pub fn after(&self, slot: u32, entry: u32) -> Option<u32> {
        let next = self.links.get(entry as usize)?.next;
        (next != self.chains[slot as usize].head).then_some(next)
    }

    /// How many rows a slot has, copies counted.
    pub fn total(&self, slot: u32) -> u32 {
        self.chains[slot as usize].state & !INDEXED
    }

    /// How often a row is there.
    #[inline]
    pub fn copies(&self, entry: u32) -> u32 {
        self.copies.get(entry as usize).copied().unwrap_or(1)
    }

    /// The number of matches of a row.
    #[inline]
    pub fn matches(&self, entry: u32) -> u32 {
        self.matches[entry as usize]
    }

    /// Sets the number of matches of a row, which counts as writing it.
    #[inline]
    pub fn set_matches(&mut self, entry: u32, matches: u32, now_ms: i64) {
        self.matches[entry as usize] = matches;
        self.stamp(entry, now_ms);
        self.numbers.changed(entry);
    }

    fn stamp(&mut self, entry: u32, now_ms: i64) {
        if let Some(stamp) = self.stamps.get_mut(entry as usize) {
            *stamp = now_ms;
        }
    }

    /// Whether the TTL of a row has passed: it must be treated as if it were not there.
    #[inline]
    pub fn is_expired(&self, entry: u32, now_ms: i64) -> bool {
        match (self.spec.ttl_ms, self.stamps.get(entry as usize)) {
            (Some(ttl), Some(&stamp)) => stamp != STAMP_UNKNOWN && stamp.saturating_add(ttl) <= now_ms,
            _ => false,
        }
    }

    fn entry_bytes(&self, entry: u32) -> &[u8] {
        let start = self.starts[entry as usize] as usize;
        &self.bytes[start..start + self.lengths[entry as usize] as usize]
    }

    fn is_same(&self, entry: u32, identity: &[u8]) -> bool {
        match self.spec.identity {
            RowIdentity::Slot => true,
            // The encoding of a column never is the beginning of another one's.
            RowIdentity::Leading(_) => self.entry_bytes(entry).starts_with(identity),
            RowIdentity::Content | RowIdentity::Arrival => self.entry_bytes(entry) == identity,
        }
    }

    /// Finds the row of a slot that has the identity of this one, expired or not.
    fn find(&self, slot: u32, identity: &[u8]) -> Option<u32> {
        let chain = self.chains[slot as usize];
        if chain.state & INDEXED != 0 {
            let hash = hash_bytes(slot, identity);
            let same = |found: &Indexed| found.slot == slot && self.is_same(found.entry, identity);
            return self.index.find(index_hash(hash), same).map(|found| found.entry);
        }
        let mut entry = self.first(slot);
        while let Some(found) = entry {
            if self.is_same(found, identity) {
                return Some(found);
            }
            entry = self.after(slot, found);
        }
        None
    }

    /// Adds a row to a slot: a new row, one more copy, or the new content of a row with this identity.
    pub fn add(&mut self, slot: u32, rows: &ChainRows, row: usize, now_ms: i64) -> Result<Added> {
        let identity = rows.identity(row);
        let found = match self.spec.identity {
            RowIdentity::Arrival => None,
            _ => self.find(slot, identity),
        };
        let Some(entry) = found else {
            return Ok(Added { entry: self.push(slot, rows, row, 1, now_ms)?, replaced: false });
        };
        let was_expired = self.is_expired(entry, now_ms);
        match self.spec.identity {
            RowIdentity::Content => {
                let copies = if was_expired { 1 } else { self.copies(entry).saturating_add(1) };
                self.set_copies(slot, entry, copies);
            }
            _ => self.set_bytes(entry, rows.row(row)),
        }
        if let (true, Some(matches)) = (was_expired, self.matches.get_mut(entry as usize)) {
            *matches = 0;
        }
        self.stamp(entry, now_ms);
        self.numbers.changed(entry);
        let replaced = !was_expired && self.spec.identity != RowIdentity::Content;
        Ok(Added { entry, replaced })
    }

    /// Takes one copy of a row out of a slot. Gives whether it was there.
    pub fn retract(&mut self, slot: u32, rows: &ChainRows, row: usize, now_ms: i64) -> Result<bool> {
        let identity = rows.identity(row);
        let Some(entry) = self.find(slot, identity) else { return Ok(false) };
        let was_there = !self.is_expired(entry, now_ms);
        let copies = self.copies(entry);
        if was_there && copies > 1 {
            self.set_copies(slot, entry, copies - 1);
            self.stamp(entry, now_ms);
            self.numbers.changed(entry);
        } else {
            self.remove(slot, entry, hash_bytes(slot, identity));
        }
        Ok(was_there)
    }

    fn set_copies(&mut self, slot: u32, entry: u32, copies: u32) {
        if self.copies.len() <= entry as usize {
            let length = entry as usize + 1;
            let additional = length - self.copies.len();
            grow(&mut self.copies, additional);
            self.copies.resize(length, 1);
        }
        let before = std::mem::replace(&mut self.copies[entry as usize], copies);
        let state = &mut self.chains[slot as usize].state;
        let total = (*state & !INDEXED).saturating_sub(before).saturating_add(copies).min(!INDEXED);
        *state = (*state & INDEXED) | total;
    }

    fn set_bytes(&mut self, entry: u32, bytes: &[u8]) {
        let index = entry as usize;
        let (start, length) = (self.starts[index] as usize, self.lengths[index] as usize);
        if bytes.len() <= length {
            self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
            self.garbage += length - bytes.len();
        } else {
            self.garbage += length;
            self.starts[index] = self.bytes.len() as u64;
            grow(&mut self.bytes, bytes.len());
            self.bytes.extend_from_slice(bytes);
        }
        self.lengths[index] = bytes.len() as u32;
        self.compact();
    }

    fn push(&mut self, slot: u32, rows: &ChainRows, row: usize, copies: u32, stamp: i64) -> Result<u32> {
        let bytes = rows.row(row);
        let length = u32::try_from(bytes.len()).map_err(Error::internal)?;
        let entry = self.allocate(stamp)?;
        self.starts[entry as usize] = self.bytes.len() as u64;
        self.lengths[entry as usize] = length;
        grow(&mut self.bytes, bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.live += 1;
        self.numbers.added(entry);
        self.link(slot, entry);
        if copies > 1 || self.copies.len() > entry as usize {
            self.set_copies(slot, entry, copies);
        }
        let state = self.chains[slot as usize].state;
        if state & INDEXED != 0 {
            self.index_entry(slot, entry, hash_bytes(slot, rows.identity(row)));
        } else if state > WALKED_MAX && matches!(self.spec.identity, RowIdentity::Content | RowIdentity::Leading(_)) {
            self.index_chain(slot)?;
        }
        Ok(entry)
    }

    fn allocate(&mut self, stamp: i64) -> Result<u32> {
        if let Some(entry) = self.free.pop() {
            if let Some(matches) = self.matches.get_mut(entry as usize) {
                *matches = 0;
            }
            self.stamp(entry, stamp);
            return Ok(entry);
        }
        let entry = u32::try_from(self.starts.len()).map_err(|_| Error::internal("a store of rows is full"))?;
        if entry == NONE {
            return Err(Error::internal("a store of rows is full"));
        }
        grow(&mut self.starts, 1);
        self.starts.push(0);
        grow(&mut self.lengths, 1);
        self.lengths.push(0);
        if self.spec.identity != RowIdentity::Slot {
            grow(&mut self.links, 1);
            self.links.push(Link { next: NONE, previous: NONE });
        }
        if self.spec.counts_matches {
            grow(&mut self.matches, 1);
            self.matches.push(0);
        }
        if self.spec.ttl_ms.is_some() {
            grow(&mut self.stamps, 1);
            self.stamps.push(stamp);
        }
        Ok(entry)
    }

    /// Makes an entry with one copy the youngest of a slot.
    fn link(&mut self, slot: u32, entry: u32) {
        if let Some(copies) = self.copies.get_mut(entry as usize) {
            *copies = 1;
        }
        let chain = &mut self.chains[slot as usize];
        chain.state = (chain.state & INDEXED) | ((chain.state & !INDEXED) + 1).min(!INDEXED);
        let head = chain.head;
        if head == NONE {
            chain.head = entry;
        }
        if self.links.is_empty() {
            return;
        }
        if head == NONE {
            self.links[entry as usize] = Link { next: entry, previous: entry };
            return;
        }
        let last = self.links[head as usize].previous;
        self.links[entry as usize] = Link { next: head, previous: last };
        self.links[last as usize].next = entry;
        self.links[head as usize].previous = entry;
    }

    /// Makes a row the youngest of its slot.
    pub fn make_last(&mut self, slot: u32, entry: u32) {
        let head = self.chains[slot as usize].head;
        let Some(Link { next, previous }) = self.links.get(entry as usize).copied() else { return };
        if self.last(slot) == Some(entry) {
            return;
        }
        self.numbers.removed(entry);
        self.numbers.added(entry);
        if entry == head {
            // The ring stays; it begins one row later.
            self.chains[slot as usize].head = next;
            return;
        }
        let last = self.links[head as usize].previous;
        self.links[previous as usize].next = next;
        self.links[next as usize].previous = previous;
        self.links[entry as usize] = Link { next: head, previous: last };
        self.links[last as usize].next = entry;
        self.links[head as usize].previous = entry;
    }

    fn index_entry(&mut self, slot: u32, entry: u32, hash: u32) {
        self.index.insert_unique(index_hash(hash), Indexed { hash, slot, entry }, |found| index_hash(found.hash));
    }

    fn index_chain(&mut self, slot: u32) -> Result<()> {
        let entries = self.entries(slot);
        // A slot with few rows of many copies is walked quickly.
        if entries.len() <= WALKED_MAX as usize {
            return Ok(());
        }
        for (&entry, hash) in entries.iter().zip(self.hashes(slot, &entries)?) {
            self.index_entry(slot, entry, hash);
        }
        self.chains[slot as usize].state |= INDEXED;
        Ok(())
    }

    fn entries(&self, slot: u32) -> Vec<u32> {
        std::iter::successors(self.first(slot), |&entry| self.after(slot, entry)).collect()
    }

    /// The hashes of the identities of these rows.
    fn hashes(&self, slot: u32, entries: &[u32]) -> Result<Vec<u32>> {
        match (&self.leading, self.spec.identity) {
            (Some(converter), RowIdentity::Leading(n)) => {
                let columns = self.raw_columns(entries)?;
                let rows = converter.convert_columns(&columns[..n])?;
                Ok(rows.iter().map(|row| hash_bytes(slot, row.data())).collect())
            }
            _ => Ok(entries.iter().map(|&entry| hash_bytes(slot, self.entry_bytes(entry))).collect()),
        }
    }

    fn remove(&mut self, slot: u32, entry: u32, hash: u32) {
        let copies = self.copies(entry);
        let chain = &mut self.chains[slot as usize];
        if chain.state & INDEXED != 0
            && let Ok(found) = self.index.find_entry(index_hash(hash), |found| found.entry == entry)
        {
            found.remove();
        }
        chain.state = (chain.state & INDEXED) | (chain.state & !INDEXED).saturating_sub(copies);
        match self.links.get(entry as usize).copied() {
            Some(Link { next, previous }) if next != entry => {
                self.links[previous as usize].next = next;
                self.links[next as usize].previous = previous;
                if chain.head == entry {
                    chain.head = next;
                }
            }
            _ => *chain = EMPTY,
        }
        self.garbage += self.lengths[entry as usize] as usize;
        self.lengths[entry as usize] = FREE;
        self.numbers.removed(entry);
        self.free.push(entry);
        self.live -= 1;
        self.compact();
    }

    fn compact(&mut self) {
        if self.garbage < GARBAGE_MIN || self.garbage * 4 < self.bytes.len() {
            return;
        }
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.garbage);
        for (start, &length) in self.starts.iter_mut().zip(&self.lengths).filter(|(_, length)| **length != FREE) {
            let old = *start as usize;
            *start = bytes.len() as u64;
            bytes.extend_from_slice(&self.bytes[old..old + length as usize]);
        }
        self.bytes = bytes;
        self.garbage = 0;
    }

    /// Rows as columns. A store without columns gives none.
    pub fn columns(&self, entries: &[u32]) -> Result<Vec<ArrayRef>> {
        let columns = self.raw_columns(entries)?;
        columns.iter().zip(&self.spec.fields).map(|(column, field)| from_row_form(column, field.data_type())).collect()
    }

    fn raw_columns(&self, entries: &[u32]) -> Result<Vec<ArrayRef>> {
        if self.spec.fields.is_empty() {
            return Ok(Vec::new());
        }
        let parser = self.converter.parser();
        Ok(self.converter.convert_rows(entries.iter().map(|&entry| parser.parse(self.entry_bytes(entry))))?)
    }

    /// Takes expired rows out of the next slots, in turn, until about `scan_max` rows and slots have been looked at.
    /// Gives the slots that lost rows.
    pub fn expire(&mut self, now_ms: i64, scan_max: usize) -> Result<Vec<u32>> {
        let mut changed = Vec::new();
        if self.spec.ttl_ms.is_none() || self.chains.is_empty() {
            return Ok(changed);
        }
        let (mut looked_at, mut slots) = (0, 0);
        while looked_at < scan_max && slots < self.chains.len() {
            let slot = (self.expire_cursor % self.chains.len()) as u32;
            self.expire_cursor = slot as usize + 1;
            let entries = self.entries(slot);
            (looked_at, slots) = (looked_at + 1 + entries.len(), slots + 1);
            for &entry in &entries {
                if self.stamps[entry as usize] == STAMP_UNKNOWN {
                    self.stamps[entry as usize] = now_ms;
                }
            }
            let expired: Vec<u32> = entries.into_iter().filter(|&entry| self.is_expired(entry, now_ms)).collect();
            if expired.is_empty() {
                continue;
            }
            for (&entry, hash) in expired.iter().zip(self.hashes(slot, &expired)?) {
                self.remove(slot, entry, hash);
            }
            changed.push(slot);
        }
        Ok(changed)
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.chains.capacity() * size_of::<Chain>()
            + self.starts.capacity() * size_of::<u64>()
            + self.links.capacity() * size_of::<Link>()
            + (self.lengths.capacity() + self.copies.capacity() + self.matches.capacity() + self.free.capacity())
                * size_of::<u32>()
            + self.stamps.capacity() * size_of::<i64>()
            + self.index.allocation_size()
            + self.numbers.heap_bytes()
    }

    /// Rows with the keys of their slots: all of them, or those that changed since the last snapshot. `taken` are the keys of
    /// the snapshot; every slot whose rows changed must be among them.
    pub fn snapshot(&mut self, table: &KeyTable, scope: Scope, taken: &TakenKeys) -> Result<TableSnapshot> {
        let mut known = std::mem::take(&mut self.numbers);
        let this = &*self;
        let head = |slot: u32| this.chains.get(slot as usize).and_then(|_| this.first(slot));
        let rows_of = |slot: u32| std::iter::successors(head(slot), move |&entry| this.after(slot, entry));
        let (slots, entries, gone) = known.take_by_key(scope, self.live, taken, || table.live_slots(), rows_of);
        self.numbers = known;
        let counts = |count: &dyn Fn(u32) -> u32| -> ArrayRef {
            Arc::new(entries.iter().map(|&entry| count(entry)).collect::<UInt32Array>())
        };
        let stamp = |entry: u32| self.stamps.get(entry as usize).copied().unwrap_or(STAMP_UNKNOWN);
        let own = self.own_fields();
        let mut values: Vec<(FieldRef, ArrayRef)> = vec![
            (own[0].clone(), counts(&|entry| self.copies(entry))),
            (own[1].clone(), Arc::new(entries.iter().map(|&entry| stamp(entry)).collect::<Int64Array>())),
        ];
        if let Some(field) = own.get(2) {
            values.push((field.clone(), counts(&|entry| self.matches(entry))));
        }
        values.extend(self.spec.fields.iter().cloned().zip(self.columns(&entries)?));
        let numbers = self.numbers.numbers(&entries);
        table.snapshot_numbered(self.spec.name, gone, &slots, &numbers, true, values)
    }

    /// What is saved of a row besides its columns.
    fn own_fields(&self) -> Vec<FieldRef> {
        let field = |name: &str, data_type| Arc::new(Field::new(name, data_type, false));
        let mut fields = vec![field("copies", DataType::UInt32), field("last_write_ms", DataType::Int64)];
        if self.spec.counts_matches {
            fields.push(field("matches", DataType::UInt32));
        }
        fields
    }

    /// Takes over the rows of a snapshot whose key group is in `groups`; their keys go into `table`.
    ///
    /// # Errors
    /// A snapshot of other columns.
    pub fn restore(&mut self, table: &mut KeyTable, snapshot: &TableSnapshot, groups: Range<u16>) -> Result<()> {
        let mut fields = self.own_fields();
        let own = fields.len();
        fields.extend(self.spec.fields.iter().cloned());
        let restored = table.restore(snapshot, groups, &fields)?;
        self.resize(table.slots_len());
        let rows = self.encode(&restored.values[own..])?;
        let copies = restored.values[0].as_primitive::<UInt32Type>().values();
        let stamps = restored.values[1].as_primitive::<Int64Type>().values();
        for (row, &slot) in restored.slots.iter().enumerate() {
            // Rows that were different in a column that is not kept any more are copies now.
            if self.spec.identity == RowIdentity::Content
                && let Some(entry) = self.find(slot, rows.identity(row))
            {
                self.set_copies(slot, entry, self.copies(entry).saturating_add(copies[row]));
                if let Some(stamp) = self.stamps.get_mut(entry as usize) {
                    *stamp = (*stamp).max(stamps[row]);
                }
                continue;
            }
            let entry = self.push(slot, &rows, row, copies[row], stamps[row])?;
            if self.spec.counts_matches {
                self.matches[entry as usize] = restored.values[2].as_primitive::<UInt32Type>().value(row);
            }
        }
        Ok(())
    }

    /// The name in snapshots.
    pub fn name(&self) -> &'static str {
        self.spec.name
    }
}

#[cfg(test)]
#[path = "row_chains_tests.rs"]
mod tests;
