//! The key table: gives every key a dense slot number, and knows which keys changed, when, and to which group they
//! belong.
//!
//! A key is a namespace (the end of a window; optional) and key columns. The key columns alone decide the key group,
//! by the same hash that spreads rows over instances. Values are the operator's own columns indexed by slot.

use crate::key_store::{EncodedKeys, KeyForm, Keys, UnitKeys};
use crate::numbers::{RowNumbers, Wanted};
use crate::snapshot::{Restored, Scope, SnapshotKind, TableSnapshot};
use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, UInt16Array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use base::key::{hash_columns, key_group};
use base::{Error, Result};
use hashbrown::HashTable;
use std::ops::Range;
use std::sync::Arc;

/// In [`KeyTable::groups`]: the slot is free. Key groups are below 128.
const FREE: u8 = u8::MAX;
/// When an entry of a snapshot without stamps was written: it counts from the first look.
const STAMP_UNKNOWN: i64 = i64::MIN;
/// The column of a snapshot that holds key groups.
const KEY_GROUP: &str = "key_group";
/// The column of a snapshot that holds the time of the last write.
pub(crate) const LAST_WRITE: &str = "last_write_ms";

/// What a table is made of.
#[derive(Debug, Clone)]
pub struct KeyTableSpec {
    /// The table's name in snapshots.
    pub name: &'static str,
    /// The name of the namespace, if keys have one.
    pub namespace: Option<&'static str>,
    /// The key columns.
    pub fields: Vec<FieldRef>,
    /// Entries not written for this long are expired.
    pub ttl_ms: Option<i64>,
}

/// Keys of a batch of rows.
#[derive(Debug, Clone, Copy)]
pub struct KeyBatch<'a> {
    /// The key columns.
    pub columns: &'a [ArrayRef],
    /// The namespaces, if the table has them.
    pub namespaces: Option<&'a [i64]>,
    /// The number of rows.
    pub rows: usize,
}

/// The slots of a batch. Kept by the operator, so that its vectors are allocated once.
#[derive(Debug, Default)]
pub struct Slots {
    /// The slot of every row.
    pub rows: Vec<u32>,
    /// The slots that are new, in order of their first row.
    pub new: Vec<u32>,
}

/// The keys that a snapshot holds: what [`KeyTable::take`] gives for all tables of an operator.
#[derive(Debug)]
pub struct TakenKeys {
    /// Slots in the order of the snapshot: all that are in use, or those that changed.
    pub slots: Vec<u32>,
    /// The numbers of keys that the last snapshot had and that are gone; `None` if the snapshot holds everything.
    gone: Option<Vec<u32>>,
}

impl TakenKeys {
    /// Whether the snapshot holds everything.
    pub fn is_all(&self) -> bool {
        self.gone.is_none()
    }
}

/// Everything but the keys themselves, so that loops can borrow both.
#[derive(Debug, Default)]
struct Entries {
    index: HashTable<u32>,
    hashes: Vec<u64>,
    groups: Vec<u8>,
    /// Empty in a table without namespaces.
    namespaces: Vec<i64>,
    free: Vec<u32>,
}

/// Hashes of a batch.
struct Probe<'a> {
    key_hashes: Vec<u64>,
    namespaces: Option<&'a [i64]>,
}

impl Probe<'_> {
    fn namespace(&self, row: usize) -> i64 {
        self.namespaces.map_or(0, |namespaces| namespaces[row])
    }

    /// The hash for the index: other bits on top than those that make the key group, which are alike within an
    /// instance.
    fn hash(&self, row: usize) -> u64 {
        let hash = self.key_hashes[row];
        match self.namespaces {
            None => hash.rotate_left(32),
            Some(namespaces) => {
                let mixed = hash ^ (namespaces[row] as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let wide = u128::from(mixed) * u128::from(0xd6e8_feb8_6659_fd93u64);
                (wide as u64) ^ ((wide >> 64) as u64)
            }
        }
    }
}

impl Entries {
    fn find<K: KeyForm>(&self, keys: &K, batch: &K::Batch, probe: &Probe<'_>, row: usize) -> Option<u32> {
        let namespace = probe.namespace(row);
        let same = |slot: &u32| {
            (self.namespaces.is_empty() || self.namespaces[*slot as usize] == namespace)
                && keys.equals(*slot, batch, row)
        };
        self.index.find(probe.hash(row), same).copied()
    }

    fn insert<K: KeyForm>(&mut self, keys: &mut K, batch: &K::Batch, probe: &Probe<'_>, row: usize) -> Result<u32> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = u32::try_from(self.groups.len()).map_err(|_| Error::internal("a key table is full"))?;
                self.groups.push(FREE);
                self.hashes.push(0);
                if probe.namespaces.is_some() {
                    self.namespaces.push(0);
                }
                slot
            }
        };
        let hash = probe.hash(row);
        self.groups[slot as usize] = key_group(probe.key_hashes[row]) as u8;
        self.hashes[slot as usize] = hash;
        if probe.namespaces.is_some() {
            self.namespaces[slot as usize] = probe.namespace(row);
        }
        keys.put(slot, batch, row);
        let hashes = &self.hashes;
        self.index.insert_unique(hash, slot, |slot| hashes[*slot as usize]);
        Ok(slot)
    }

    fn lookup_or_insert<K: KeyForm>(
        &mut self,
        keys: &mut K,
        batch: &K::Batch,
        probe: &Probe<'_>,
        out: &mut Slots,
    ) -> Result<()> {
        for row in 0..probe.key_hashes.len() {
            let slot = match self.find(keys, batch, probe, row) {
                Some(slot) => slot,
                None => {
                    let slot = self.insert(keys, batch, probe, row)?;
                    out.new.push(slot);
                    slot
                }
            };
            out.rows.push(slot);
        }
        Ok(())
    }

    fn lookup<K: KeyForm>(&self, keys: &K, batch: &K::Batch, probe: &Probe<'_>) -> Vec<Option<u32>> {
        (0..probe.key_hashes.len()).map(|row| self.find(keys, batch, probe, row)).collect()
    }
}

/// Keys and their slots.
#[derive(Debug)]
pub struct KeyTable {
    spec: KeyTableSpec,
    keys: Keys,
    entries: Entries,
    /// The last write by slot; empty without a TTL.
    stamps: Vec<i64>,
    /// Where [`KeyTable::expire`] goes on.
    expire_cursor: usize,
    /// The keys by number: a slot that is free is given to another key.
    numbers: RowNumbers,
}

impl KeyTable {
    /// An empty table.
    ///
    /// # Errors
    /// A key type that cannot be a key.
    pub fn new(spec: KeyTableSpec) -> Result<KeyTable> {
        let keys = Keys::new(&spec.fields)?;
        let entries = Entries::default();
        Ok(KeyTable { spec, keys, entries, stamps: Vec::new(), expire_cursor: 0, numbers: RowNumbers::default() })
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.entries.index.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more than the largest slot ever given: the size of columns indexed by slot.
    pub fn slots_len(&self) -> usize {
        self.entries.groups.len()
    }

    /// The key columns.
    pub fn fields(&self) -> &[FieldRef] {
        &self.spec.fields
    }

    /// Finds the slots of a batch of keys; unknown keys get one.
    pub fn lookup_or_insert(&mut self, batch: KeyBatch<'_>, out: &mut Slots) -> Result<()> {
        out.rows.clear();
        out.new.clear();
        let probe = self.probe(batch)?;
        let entries = &mut self.entries;
        let encoded = self.keys.encode(batch.columns)?;
        match (&mut self.keys, encoded) {
            (Keys::Unit(keys), EncodedKeys::Unit) => entries.lookup_or_insert(keys, &(), &probe, out)?,
            (Keys::Integer(keys), EncodedKeys::Integer(batch)) => {
                entries.lookup_or_insert(keys, &batch, &probe, out)?
            }
            (Keys::Text(keys) | Keys::Rows(keys, _), EncodedKeys::Bytes(batch)) => {
                entries.lookup_or_insert(keys, &batch, &probe, out)?
            }
            _ => return Err(Error::internal("keys of another form")),
        }
        if self.spec.ttl_ms.is_some() {
            self.stamps.resize(self.entries.groups.len(), STAMP_UNKNOWN);
            for &slot in &out.new {
                self.stamps[slot as usize] = STAMP_UNKNOWN;
            }
        }
        out.new.iter().for_each(|&slot| self.numbers.added(slot));
        Ok(())
    }

    /// Finds the slots of a batch of keys; `None` for unknown keys.
    pub fn lookup(&self, batch: KeyBatch<'_>) -> Result<Vec<Option<u32>>> {
        let probe = self.probe(batch)?;
        match (&self.keys, self.keys.encode(batch.columns)?) {
            (Keys::Unit(keys), EncodedKeys::Unit) => Ok(self.entries.lookup::<UnitKeys>(keys, &(), &probe)),
            (Keys::Integer(keys), EncodedKeys::Integer(batch)) => Ok(self.entries.lookup(keys, &batch, &probe)),
            (Keys::Text(keys) | Keys::Rows(keys, _), EncodedKeys::Bytes(batch)) => {
                Ok(self.entries.lookup(keys, &batch, &probe))
            }
            _ => Err(Error::internal("keys of another form")),
        }
    }

    fn probe<'a>(&self, batch: KeyBatch<'a>) -> Result<Probe<'a>> {
        if batch.namespaces.is_some() != self.spec.namespace.is_some() {
            return Err(Error::internal(format!("namespaces of table {}", self.spec.name)));
        }
        Ok(Probe { key_hashes: hash_columns(batch.columns, batch.rows)?, namespaces: batch.namespaces })
    }

    /// The keys of these slots as columns.
    pub fn keys(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        self.keys.columns(slots, &self.spec.fields)
    }

    /// The namespace of a slot; 0 in a table without.
    pub fn namespace(&self, slot: u32) -> i64 {
        self.entries.namespaces.get(slot as usize).copied().unwrap_or(0)
    }

    /// All slots in use, ascending.
    pub fn live_slots(&self) -> Vec<u32> {
        (0..self.entries.groups.len() as u32).filter(|&slot| self.is_live(slot)).collect()
    }

    fn is_live(&self, slot: u32) -> bool {
        self.entries.groups[slot as usize] != FREE
    }

    /// The values of these slots have been written: they are dirty, and their TTL starts again.
    pub fn written(&mut self, slots: &[u32], now_ms: i64) {
        if self.spec.ttl_ms.is_some() {
            slots.iter().for_each(|&slot| self.stamps[slot as usize] = now_ms);
        }
        self.changed(slots);
    }

    /// Something that is kept for these slots has changed: they are dirty.
    pub fn changed(&mut self, slots: &[u32]) {
        for &slot in slots {
            if self.is_live(slot) {
                self.numbers.changed(slot);
            }
        }
    }

    /// Whether the TTL of a slot has passed. An operator must treat such a slot as a new one.
    pub fn is_expired(&self, slot: u32, now_ms: i64) -> bool {
        match (self.spec.ttl_ms, self.stamps.get(slot as usize)) {
            (Some(ttl), Some(&stamp)) => stamp != STAMP_UNKNOWN && stamp.saturating_add(ttl) <= now_ms,
            _ => false,
        }
    }

    /// Looks at the next `scan_max` slots, in turn, and gives those whose TTL has passed. They are still in the
    /// table: the caller resets their values, then calls [`KeyTable::remove`].
    pub fn expire(&mut self, now_ms: i64, scan_max: usize) -> Vec<u32> {
        let mut expired = Vec::new();
        let all = self.entries.groups.len();
        if self.spec.ttl_ms.is_none() || all == 0 {
            return expired;
        }
        for _ in 0..scan_max.min(all) {
            let slot = (self.expire_cursor % all) as u32;
            self.expire_cursor = (slot as usize + 1) % all;
            if !self.is_live(slot) {
                continue;
            }
            if self.stamps[slot as usize] == STAMP_UNKNOWN {
                self.stamps[slot as usize] = now_ms;
            } else if self.is_expired(slot, now_ms) {
                expired.push(slot);
            }
        }
        expired
    }

    /// Takes slots out of the table. Their values must have been reset: the slots are given to the next new keys.
    pub fn remove(&mut self, slots: &[u32]) -> Result<()> {
        if slots.is_empty() {
            return Ok(());
        }
        for &slot in slots {
            let hash = self.entries.hashes[slot as usize];
            match self.entries.index.find_entry(hash, |other| *other == slot) {
                Ok(entry) => drop(entry.remove()),
                Err(_) => return Err(Error::internal(format!("slot {slot} is not in table {}", self.spec.name))),
            }
            self.numbers.removed(slot);
            self.entries.groups[slot as usize] = FREE;
            self.keys.clear(slot);
            self.entries.free.push(slot);
        }
        Ok(())
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        let entries = &self.entries;
        self.keys.heap_bytes()
            + entries.index.allocation_size()
            + entries.hashes.capacity() * 8
            + entries.groups.capacity()
            + entries.namespaces.capacity() * 8
            + entries.free.capacity() * 4
            + self.stamps.capacity() * 8
            + self.numbers.heap_bytes()
    }

    /// Begins a snapshot: says which keys it holds, and forgets that they changed. With [`Scope::Changes`] these are the keys
    /// that changed since the last snapshot, if that is known. `order` gives all slots in use in the order in which they are
    /// to be restored.
    pub fn take(&mut self, scope: Scope, order: impl FnOnce(&KeyTable) -> Vec<u32>) -> TakenKeys {
        let scope = self.numbers.wanted(scope, self.len());
        self.take_in(scope, order)
    }

    /// As [`KeyTable::take`], for a table beside stores that know by themselves which of their rows changed: most keys may
    /// have changed and few rows.
    pub fn take_beside_rows(&mut self, scope: Scope, order: impl FnOnce(&KeyTable) -> Vec<u32>) -> TakenKeys {
        let scope = self.numbers.wanted_of_changed(scope, self.len());
        self.take_in(scope, order)
    }

    fn take_in(&mut self, scope: Scope, order: impl FnOnce(&KeyTable) -> Vec<u32>) -> TakenKeys {
        if scope == Scope::Changes
            && let Wanted::Changed { rows, gone } = self.numbers.take_changes()
        {
            return TakenKeys { slots: rows, gone: Some(gone) };
        }
        let slots = order(self);
        debug_assert_eq!(slots.len(), self.len(), "a snapshot is given all live slots");
        self.numbers.take_all(&slots);
        TakenKeys { slots, gone: None }
    }

    /// The keys of a snapshot as a table, with their own values.
    pub fn snapshot(&self, taken: &TakenKeys, values: Vec<(FieldRef, ArrayRef)>) -> Result<TableSnapshot> {
        let slots = &taken.slots;
        let mut columns = self.key_columns(slots)?;
        if self.spec.ttl_ms.is_some() {
            let stamps = slots.iter().map(|&slot| self.stamps[slot as usize]).collect::<Vec<_>>();
            columns
                .push((Arc::new(Field::new(LAST_WRITE, DataType::Int64, false)), Arc::new(Int64Array::from(stamps))));
        }
        columns.extend(values.into_iter().map(|(field, column)| (prefixed("value.", &field), column)));
        Ok(TableSnapshot {
            name: self.spec.name.to_string(),
            kind: taken.gone.as_ref().map_or(SnapshotKind::Full, |gone| SnapshotKind::Rows { gone: gone.clone() }),
            rows: batch_of(columns)?,
            ids: Some(slots.iter().map(|&slot| u64::from(self.numbers.number(slot))).collect()),
        })
    }

    /// Rows of a store that keeps several of them per key, as a table of their own: all rows of the keys of a snapshot, those
    /// of a key together. `owners` has the slot of each. [`KeyTable::restore`] reads it.
    pub fn snapshot_by_key(
        &self,
        name: &str,
        taken: &TakenKeys,
        owners: &[u32],
        values: Vec<(FieldRef, ArrayRef)>,
    ) -> Result<TableSnapshot> {
        let number = |slot: u32| self.numbers.number(slot);
        let kind = match &taken.gone {
            None => SnapshotKind::Full,
            Some(gone) => {
                let replaced = taken.slots.iter().map(|&slot| number(slot));
                SnapshotKind::Keys { gone: gone.iter().copied().chain(replaced).collect() }
            }
        };
        let ids = owners.iter().zip(0..).map(|(&slot, row): (_, u64)| u64::from(number(slot)) << 32 | row).collect();
        Ok(TableSnapshot { kind, ids: Some(ids), ..self.snapshot_rows(name, owners, values)? })
    }

    /// Rows of a store that numbers them by itself, as a table of their own: all of them, or with `gone` those that changed.
    /// `numbers` has the number of each, `owners` its slot. With `keys_first` the rows of a key are restored together, in the
    /// order of the keys.
    pub fn snapshot_numbered(
        &self,
        name: &str,
        gone: Option<Vec<u32>>,
        owners: &[u32],
        numbers: &[u32],
        keys_first: bool,
        values: Vec<(FieldRef, ArrayRef)>,
    ) -> Result<TableSnapshot> {
        let key = |slot: u32| if keys_first { u64::from(self.numbers.number(slot)) << 32 } else { 0 };
        let ids = owners.iter().zip(numbers).map(|(&slot, &number)| key(slot) | u64::from(number)).collect();
        let kind = gone.map_or(SnapshotKind::Full, |gone| SnapshotKind::Rows { gone });
        Ok(TableSnapshot { kind, ids: Some(ids), ..self.snapshot_rows(name, owners, values)? })
    }

    /// Rows of a store that keeps several of them per key, as a table that is always written as a whole: one row per element
    /// of `owners`, which may repeat. [`KeyTable::restore`] reads it.
    pub fn snapshot_rows(
        &self,
        name: &str,
        owners: &[u32],
        values: Vec<(FieldRef, ArrayRef)>,
    ) -> Result<TableSnapshot> {
        let mut columns = self.key_columns(owners)?;
        columns.extend(values.into_iter().map(|(field, column)| (prefixed("value.", &field), column)));
        Ok(TableSnapshot { name: name.to_string(), kind: SnapshotKind::Full, rows: batch_of(columns)?, ids: None })
    }

    fn key_columns(&self, slots: &[u32]) -> Result<Vec<(FieldRef, ArrayRef)>> {
        let groups: Vec<u16> = slots.iter().map(|&slot| u16::from(self.entries.groups[slot as usize])).collect();
        let mut columns: Vec<(FieldRef, ArrayRef)> =
            vec![(Arc::new(Field::new(KEY_GROUP, DataType::UInt16, false)), Arc::new(UInt16Array::from(groups)))];
        if let Some(name) = self.spec.namespace {
            let field = Arc::new(Field::new(format!("namespace.{name}"), DataType::Int64, false));
            let namespaces: Vec<i64> = slots.iter().map(|&slot| self.namespace(slot)).collect();
            columns.push((field, Arc::new(Int64Array::from(namespaces))));
        }
        columns.extend(self.spec.fields.iter().map(|field| prefixed("key.", field)).zip(self.keys(slots)?));
        Ok(columns)
    }

    /// Takes over the rows of a snapshot whose key group is in `groups`. The rows' values are the caller's to
    /// restore: one column for each of `values`, one row for each of [`Restored::slots`].
    ///
    /// # Errors
    /// A snapshot of other columns, or of changes only.
    pub fn restore(&mut self, snapshot: &TableSnapshot, groups: Range<u16>, values: &[FieldRef]) -> Result<Restored> {
        if !matches!(snapshot.kind, SnapshotKind::Full) {
            return Err(Error::internal(format!("a restore of {} from changes", snapshot.name)));
        }
        let mut reader = Reader::new(self.spec.name, own_groups(&snapshot.rows, &groups)?);
        let (namespaces, keys) = self.read_keys(&mut reader)?;
        let batch = KeyBatch { columns: &keys, namespaces: namespaces.as_deref(), rows: reader.batch.num_rows() };
        let mut slots = Slots::default();
        self.lookup_or_insert(batch, &mut slots)?;
        let stamps = reader.optional(LAST_WRITE);
        if let (Some(stamps), true) = (stamps, self.spec.ttl_ms.is_some()) {
            let stamps = stamps.as_any().downcast_ref::<Int64Array>().map(|array| array.values().to_vec());
            for (&slot, stamp) in slots.rows.iter().zip(stamps.unwrap_or_default()) {
                self.stamps[slot as usize] = stamp;
            }
        }
        let values = values.iter().map(|field| reader.next("value.", field)).collect::<Result<_>>()?;
        reader.end()?;
        Ok(Restored { slots: slots.rows, values })
    }

    fn read_keys(&self, reader: &mut Reader) -> Result<(Option<Vec<i64>>, Vec<ArrayRef>)> {
        let namespaces = match self.spec.namespace {
            None => None,
            Some(name) => {
                let column = reader.next("namespace.", &Field::new(name, DataType::Int64, false))?;
                column.as_any().downcast_ref::<Int64Array>().map(|array| array.values().to_vec())
            }
        };
        let keys = self.spec.fields.iter().map(|field| reader.next("key.", field)).collect::<Result<_>>()?;
        Ok((namespaces, keys))
    }
}

fn prefixed(prefix: &str, field: &FieldRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_name(format!("{prefix}{}", field.name())))
}

fn batch_of(columns: Vec<(FieldRef, ArrayRef)>) -> Result<RecordBatch> {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

/// The rows of a snapshot that belong to these key groups.
fn own_groups(rows: &RecordBatch, groups: &Range<u16>) -> Result<RecordBatch> {
    let column = rows.columns().first().and_then(|column| column.as_any().downcast_ref::<UInt16Array>());
    let column = column.ok_or_else(|| Error::internal("a snapshot starts with its key groups"))?;
    let mine: BooleanArray = column.values().iter().map(|group| Some(groups.contains(group))).collect();
    Ok(filter_record_batch(rows, &mine)?)
}

/// Reads the columns of a snapshot in order and checks their types.
struct Reader {
    table: &'static str,
    batch: RecordBatch,
    next: usize,
}

impl Reader {
    fn new(table: &'static str, batch: RecordBatch) -> Reader {
        Reader { table, batch, next: 1 }
    }

    fn optional(&mut self, name: &str) -> Option<ArrayRef> {
        let schema = self.batch.schema();
        let found = schema.fields().get(self.next).is_some_and(|field| field.name() == name);
        found.then(|| {
            self.next += 1;
            self.batch.column(self.next - 1).clone()
        })
    }

    /// The next column: names may differ (an alias is no other state), roles and types may not.
    fn next(&mut self, prefix: &str, expected: &Field) -> Result<ArrayRef> {
        let schema = self.batch.schema();
        match schema.fields().get(self.next) {
            Some(field) if field.name().starts_with(prefix) && field.data_type() == expected.data_type() => {
                self.next += 1;
                Ok(self.batch.column(self.next - 1).clone())
            }
            found => {
                let expected_text = expected.data_type().to_string();
                Err(self.differs(expected.name(), found.map(|field| field.as_ref()), &expected_text))
            }
        }
    }

    fn end(&self) -> Result<()> {
        match self.batch.schema().fields().get(self.next) {
            None => Ok(()),
            Some(field) => Err(self.differs(field.name(), Some(field), "no such column")),
        }
    }

    fn differs(&self, column: &str, found: Option<&Field>, expected: &str) -> Error {
        let found = found.map_or("missing".to_string(), |field| format!("{} {}", field.name(), field.data_type()));
        Error::new(
            &crate::codes::STATE_COLUMNS_DIFFER,
            &[("table", &self.table), ("column", &column), ("found", &found), ("expected", &expected)],
        )
    }
}

#[cfg(test)]
#[path = "key_table_tests.rs"]
mod tests;
