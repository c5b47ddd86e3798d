//! Rows in order, per key slot: what rankings and sorts keep.
//!
//! A row is kept once, encoded so that its bytes compare as its values do. Rows that are equal in the order stay in the order
//! of their arrival. A row is found by its position, by its place in the order, or by what tells it apart, in the logarithm
//! of the number of rows of its slot.

use crate::numbers::RowNumbers;
use crate::row_form::{from_row_form, row_type, to_row_form};
use crate::sequence::{Place, Sequence};
use crate::slot_bytes::SlotBytes;
use crate::snapshot::Scope;
use arrow::array::ArrayRef;
use arrow::compute::SortOptions;
use arrow::datatypes::FieldRef;
use arrow::row::{RowConverter, Rows, SortField};
use base::{Error, Result};
use std::cmp::Ordering;

/// What a row is found by when it is taken back or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortedIdentity {
    /// Nothing: rows are only added.
    None,
    /// So many leading columns of [`SortedRowsSpec::rest`].
    Leading(usize),
    /// The whole content; of equal rows the one that came first.
    Content,
}

/// What a [`SortedRows`] is made of.
#[derive(Debug, Clone)]
pub struct SortedRowsSpec {
    /// The columns to order by.
    pub order: Vec<(FieldRef, SortOptions)>,
    /// The other columns.
    pub rest: Vec<FieldRef>,
    /// What a row is found by.
    pub identity: SortedIdentity,
}

/// The rows of a batch, encoded for one [`SortedRows`].
#[derive(Debug)]
pub struct SortedBatch {
    order: Option<Rows>,
    identity: Option<Rows>,
    rest: Option<Rows>,
}

fn bytes(rows: &Option<Rows>, row: usize) -> &[u8] {
    rows.as_ref().map_or(&[], |rows| rows.row(row).data())
}

/// Turns columns into bytes and back; without columns there is nothing to turn.
#[derive(Debug)]
struct Codec(Option<RowConverter>);

impl Codec {
    fn new(fields: impl Iterator<Item = (FieldRef, SortOptions)>) -> Result<Codec> {
        let fields: Vec<SortField> =
            fields.map(|(field, options)| SortField::new_with_options(row_type(field.data_type()), options)).collect();
        Ok(Codec(if fields.is_empty() { None } else { Some(RowConverter::new(fields)?) }))
    }

    fn encode(&self, columns: &[ArrayRef]) -> Result<Option<Rows>> {
        match &self.0 {
            None => Ok(None),
            Some(converter) => Ok(Some(converter.convert_columns(columns)?)),
        }
    }
}

/// Where the parts of a row's bytes end.
#[derive(Debug, Clone, Copy, Default)]
struct Ends {
    order: u32,
    identity: u32,
}

/// Ordered rows by slot.
#[derive(Debug)]
pub struct SortedRows {
    spec: SortedRowsSpec,
    order: Codec,
    identity: Codec,
    rest: Codec,
    all: Codec,
    /// By row: the encoded columns of the order, of the identity, and the others.
    bytes: SlotBytes,
    ends: Vec<Ends>,
    arrivals: Vec<u64>,
    /// The slot of each.
    owners: Vec<u32>,
    next_arrival: u64,
    free: Vec<u32>,
    /// Rows that are out of their slot, but can still be read.
    retired: Vec<u32>,
    /// By slot: the rows in order.
    ordered: Vec<Sequence>,
    /// By slot: the rows by what they are found by; empty if they are not.
    found: Vec<Sequence>,
    scratch: Vec<u8>,
    live: usize,
    numbers: RowNumbers,
}

/// The rows that a snapshot of a [`SortedRows`] holds.
#[derive(Debug)]
pub struct TakenRows {
    /// The slot of every row.
    pub owners: Vec<u32>,
    /// The rows, in the order of their arrival.
    pub rows: Vec<u32>,
    /// Their numbers.
    pub numbers: Vec<u32>,
    /// The numbers of rows that are gone since the last snapshot; `None` if the snapshot holds all rows.
    pub gone: Option<Vec<u32>>,
}

impl SortedRows {
    /// An empty store.
    pub fn new(spec: SortedRowsSpec) -> Result<SortedRows> {
        let plain = |fields: &[FieldRef]| {
            fields.iter().map(|field| (field.clone(), SortOptions::default())).collect::<Vec<_>>().into_iter()
        };
        let leading = match spec.identity {
            SortedIdentity::Leading(count) => count,
            SortedIdentity::None | SortedIdentity::Content => 0,
        };
        Ok(SortedRows {
            order: Codec::new(spec.order.iter().cloned())?,
            identity: Codec::new(plain(&spec.rest[..leading]))?,
            rest: Codec::new(plain(&spec.rest[leading..]))?,
            all: Codec::new(spec.order.iter().cloned().chain(plain(&spec.rest)))?,
            spec,
            bytes: SlotBytes::default(),
            ends: Vec::new(),
            arrivals: Vec::new(),
            owners: Vec::new(),
            next_arrival: 0,
            free: Vec::new(),
            retired: Vec::new(),
            ordered: Vec::new(),
            found: Vec::new(),
            scratch: Vec::new(),
            live: 0,
            numbers: RowNumbers::default(),
        })
    }

    /// The columns: those of the order, then the others.
    pub fn fields(&self) -> Vec<FieldRef> {
        self.spec.order.iter().map(|(field, _)| field).chain(&self.spec.rest).cloned().collect()
    }

    /// Makes room for slots below `slots_len`.
    pub fn resize(&mut self, slots_len: usize) {
        if self.ordered.len() < slots_len {
            self.ordered.resize_with(slots_len, Sequence::default);
            if self.spec.identity != SortedIdentity::None {
                self.found.resize_with(slots_len, Sequence::default);
            }
        }
    }

    /// Encodes the rows of a batch: its columns in the order of [`SortedRows::fields`].
    pub fn encode(&self, columns: &[ArrayRef]) -> Result<SortedBatch> {
        let columns = columns.iter().map(to_row_form).collect::<Result<Vec<_>>>()?;
        let (order, rest) = columns.split_at(self.spec.order.len());
        let leading = match self.spec.identity {
            SortedIdentity::Leading(count) => count,
            SortedIdentity::None | SortedIdentity::Content => 0,
        };
        let (identity, rest) = rest.split_at(leading);
        Ok(SortedBatch {
            order: self.order.encode(order)?,
            identity: self.identity.encode(identity)?,
            rest: self.rest.encode(rest)?,
        })
    }

    /// The number of rows of a slot.
    pub fn len(&self, slot: u32) -> usize {
        self.ordered[slot as usize].len()
    }

    /// The number of rows of all slots.
    pub fn rows(&self) -> usize {
        self.live
    }

    fn whole(&self, row: u32) -> &[u8] {
        self.bytes.get(row).unwrap_or_default()
    }

    fn order_of(&self, row: u32) -> &[u8] {
        &self.whole(row)[..self.ends[row as usize].order as usize]
    }

    fn identity_of(&self, row: u32) -> &[u8] {
        let ends = self.ends[row as usize];
        match self.spec.identity {
            SortedIdentity::Content | SortedIdentity::None => self.whole(row),
            SortedIdentity::Leading(_) => &self.whole(row)[ends.order as usize..ends.identity as usize],
        }
    }

    /// How row `row` of a batch compares with a kept row in the order.
    pub fn compare(&self, batch: &SortedBatch, row: usize, kept: u32) -> Ordering {
        bytes(&batch.order, row).cmp(self.order_of(kept))
    }

    /// Whether two kept rows have the same content.
    pub fn same_content(&self, left: u32, right: u32) -> bool {
        self.whole(left) == self.whole(right)
    }

    /// Adds a row behind those that are equal in the order. Gives the row.
    pub fn insert(&mut self, slot: u32, batch: &SortedBatch, row: usize) -> u32 {
        let arrival = self.next_arrival;
        self.next_arrival += 1;
        let added = self.store(slot, batch, row, arrival);
        let order = self.order_of(added);
        let place = self.ordered[slot as usize].partition_point(|kept| self.order_of(kept) <= order);
        self.ordered[slot as usize].insert(place, added);
        if self.spec.identity != SortedIdentity::None {
            let identity = self.identity_of(added);
            let place = self.found[slot as usize].partition_point(|kept| self.identity_of(kept) <= identity);
            self.found[slot as usize].insert(place, added);
        }
        self.live += 1;
        self.numbers.added(added);
        added
    }

    /// What a caller keeps of a row has changed.
    pub fn changed(&mut self, row: u32) {
        self.numbers.changed(row);
    }

    /// Replaces a row by one that is equal to it in the order and in what it is found by: it keeps its place. Gives the new
    /// row.
    pub fn replace(&mut self, slot: u32, kept: u32, batch: &SortedBatch, row: usize) -> u32 {
        let (place, found) = (self.place(slot, kept), self.found_place(slot, kept));
        let added = self.store(slot, batch, row, self.arrivals[kept as usize]);
        self.ordered[slot as usize].replace(place, added);
        if let Some(found) = found {
            self.found[slot as usize].replace(found, added);
        }
        self.numbers.moved(kept, added);
        self.retired.push(kept);
        added
    }

    fn store(&mut self, slot: u32, batch: &SortedBatch, row: usize, arrival: u64) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.ends.push(Ends::default());
            self.arrivals.push(0);
            self.owners.push(0);
            self.ends.len() as u32 - 1
        });
        self.scratch.clear();
        self.scratch.extend_from_slice(bytes(&batch.order, row));
        let order = self.scratch.len() as u32;
        self.scratch.extend_from_slice(bytes(&batch.identity, row));
        let identity = self.scratch.len() as u32;
        self.scratch.extend_from_slice(bytes(&batch.rest, row));
        self.bytes.set(number, &self.scratch);
        self.ends[number as usize] = Ends { order, identity };
        self.arrivals[number as usize] = arrival;
        self.owners[number as usize] = slot;
        number
    }

    fn place(&self, slot: u32, row: u32) -> Place {
        let key = (self.order_of(row), self.arrivals[row as usize]);
        self.ordered[slot as usize].partition_point(|kept| (self.order_of(kept), self.arrivals[kept as usize]) < key)
    }

    fn found_place(&self, slot: u32, row: u32) -> Option<Place> {
        let key = (self.identity_of(row), self.arrivals[row as usize]);
        let found = self.found.get(slot as usize)?;
        Some(found.partition_point(|kept| (self.identity_of(kept), self.arrivals[kept as usize]) < key))
    }

    /// The row of a slot that has the identity of row `row` of a batch; of several the one that came first.
    pub fn find(&mut self, slot: u32, batch: &SortedBatch, row: usize) -> Option<u32> {
        self.scratch.clear();
        if self.spec.identity == SortedIdentity::Content {
            self.scratch.extend_from_slice(bytes(&batch.order, row));
            self.scratch.extend_from_slice(bytes(&batch.rest, row));
        } else {
            self.scratch.extend_from_slice(bytes(&batch.identity, row));
        }
        let found = self.found.get(slot as usize)?;
        let kept = found.get(found.partition_point(|kept| self.identity_of(kept) < &self.scratch[..]))?;
        (self.identity_of(kept) == &self.scratch[..]).then_some(kept)
    }

    /// How many rows of its slot come before a row, if they are fewer than `limit`.
    pub fn index(&self, slot: u32, row: u32, limit: usize) -> Option<usize> {
        self.ordered[slot as usize].index(self.place(slot, row), limit)
    }

    /// The row with so many rows before it.
    pub fn at(&self, slot: u32, index: usize) -> Option<u32> {
        let ordered = &self.ordered[slot as usize];
        ordered.get(ordered.at(index))
    }

    /// The rows of a slot from a position on.
    pub fn from(&self, slot: u32, index: usize) -> impl Iterator<Item = u32> + '_ {
        let ordered = &self.ordered[slot as usize];
        let mut place = ordered.at(index);
        std::iter::from_fn(move || {
            let row = ordered.get(place)?;
            place = ordered.next(place);
            Some(row)
        })
    }

    /// How many rows of a slot come first that `before` holds for. It must hold for no row behind one that it does not hold for.
    pub fn count_before(&self, slot: u32, before: impl Fn(u32) -> bool) -> usize {
        let ordered = &self.ordered[slot as usize];
        ordered.index(ordered.partition_point(before), usize::MAX).unwrap_or_default()
    }

    /// The last row of a slot.
    pub fn last(&self, slot: u32) -> Option<u32> {
        self.ordered[slot as usize].last()
    }

    /// Takes a row out of its slot. It can be read until [`SortedRows::release`].
    pub fn remove(&mut self, slot: u32, row: u32) {
        let (place, found) = (self.place(slot, row), self.found_place(slot, row));
        self.ordered[slot as usize].remove(place);
        if let Some(found) = found {
            self.found[slot as usize].remove(found);
        }
        self.numbers.removed(row);
        self.retired.push(row);
        self.live -= 1;
    }

    /// Takes the last row out of a slot. It can be read until [`SortedRows::release`].
    pub fn remove_last(&mut self, slot: u32) -> Option<u32> {
        let row = self.last(slot)?;
        match self.ordered[slot as usize].last_place() {
            Some(place) if self.found.is_empty() => {
                self.ordered[slot as usize].remove(place);
                self.numbers.removed(row);
                self.retired.push(row);
                self.live -= 1;
            }
            _ => self.remove(slot, row),
        }
        Some(row)
    }

    /// Takes the first rows out of a slot, as long as `wanted` holds, at most `max`. They can be read until
    /// [`SortedRows::release`]. For stores whose rows are not found by anything.
    pub fn take_front(&mut self, slot: u32, max: usize, wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        debug_assert!(self.found.is_empty(), "rows that are found are removed one by one");
        let rows = self.ordered[slot as usize].take_front(max, wanted);
        self.live -= rows.len();
        rows.iter().for_each(|&row| self.numbers.removed(row));
        self.retired.extend(&rows);
        rows
    }

    /// Takes all rows out of a slot.
    pub fn clear(&mut self, slot: u32) {
        if let Some(ordered) = self.ordered.get_mut(slot as usize) {
            let rows = std::mem::take(ordered);
            self.live -= rows.len();
            rows.iter().for_each(|row| self.numbers.removed(row));
            self.retired.extend(rows.iter());
        }
        if let Some(found) = self.found.get_mut(slot as usize) {
            *found = Sequence::default();
        }
    }

    /// Forgets rows that were taken out: their numbers go to the next new rows.
    pub fn release(&mut self) {
        for row in self.retired.drain(..) {
            self.bytes.clear(row);
            self.free.push(row);
        }
    }

    /// The rows as columns, in the order of [`SortedRows::fields`].
    ///
    /// # Errors
    /// A row that does not exist is a bug of the caller.
    pub fn columns(&self, rows: &[u32]) -> Result<Vec<ArrayRef>> {
        let Some(converter) = &self.all.0 else { return Ok(Vec::new()) };
        let parser = converter.parser();
        let mut parsed = Vec::with_capacity(rows.len());
        for &row in rows {
            let bytes = self.bytes.get(row).ok_or_else(|| Error::internal(format!("row {row} does not exist")))?;
            parsed.push(parser.parse(bytes));
        }
        let columns = converter.convert_rows(parsed)?;
        let fields = self.fields();
        columns.iter().zip(&fields).map(|(column, field)| from_row_form(column, field.data_type())).collect()
    }

    /// All rows of these slots and the slot of each, in the order of their arrival: who inserts them again in this order has
    /// the same store.
    fn by_arrival(&self, slots: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let of_slot = |&slot: &u32| self.ordered[slot as usize].iter().map(move |row| (slot, row));
        let mut all: Vec<(u32, u32)> = slots.iter().flat_map(of_slot).collect();
        all.sort_unstable_by_key(|(_, row)| self.arrivals[*row as usize]);
        all.into_iter().unzip()
    }

    /// The rows of a snapshot: all of these slots in the order of their arrival, or those that changed since the last one.
    pub fn take(&mut self, scope: Scope, slots: impl FnOnce() -> Vec<u32>) -> TakenRows {
        let mut known = std::mem::take(&mut self.numbers);
        let (rows, gone) = known.take(scope, self.live, || self.by_arrival(&slots()).1);
        self.numbers = known;
        let numbers = self.numbers.numbers(&rows);
        TakenRows { owners: rows.iter().map(|&row| self.owners[row as usize]).collect(), rows, numbers, gone }
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        let sequences = |all: &[Sequence]| -> usize {
            std::mem::size_of_val(all) + all.iter().map(Sequence::heap_bytes).sum::<usize>()
        };
        self.bytes.heap_bytes()
            + self.ends.capacity() * size_of::<Ends>()
            + (self.arrivals.capacity() * 8)
            + (self.owners.capacity() * 4)
            + self.numbers.heap_bytes()
            + (self.free.capacity() + self.retired.capacity()) * 4
            + sequences(&self.ordered)
            + sequences(&self.found)
    }
}

#[cfg(test)]
#[path = "sorted_rows_tests.rs"]
mod tests;
