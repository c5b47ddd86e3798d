//! DISTINCT: counts each value per slot and tells the inner accumulator when one appears or is gone.

use super::kind::{Kind, build_lists, list_field, list_of, list_range, with_kind};
use super::pane_values;
use super::rows::{Rows, argument, column, nulls};
use arrow::array::*;
use arrow::compute::take;
use arrow::datatypes::{FieldRef, Int64Type};
use base::changelog::RowKind;
use base::function::{Accumulator, Merging, PaneValues};
use base::{Error, LogicalType, Result, SqlType};
use hashbrown::HashTable;
use hashbrown::hash_table;
use std::sync::Arc;

/// A value, how often it is there (below zero: a retraction came before its row), and when it appeared: merged states
/// must give their values in that order.
#[derive(Debug)]
struct Entry<V> {
    value: V,
    count: i64,
    since: u64,
}

type Counts<V> = HashTable<Entry<V>>;

#[derive(Debug)]
struct Distinct<K: Kind> {
    kind: K,
    /// One argument, or a ROW of all of them.
    key: SqlType,
    arguments: usize,
    /// Whether NULL is a value; the key is a ROW then, which is never NULL itself.
    nulls_count: bool,
    counts: Vec<Counts<K::Value>>,
    tally: Tally,
    inner: Box<dyn Accumulator>,
}

/// What is counted over all slots.
#[derive(Debug, Default)]
struct Tally {
    /// The number of values that have appeared so far.
    appeared: u64,
    /// Heap bytes of the tables and their values.
    bytes: usize,
}

/// DISTINCT of `inner`. With `nulls_count`, a NULL is a value like any other; else rows whose first argument is NULL are
/// left out.
pub(super) fn accumulator(
    arguments: &[SqlType],
    nulls_count: bool,
    inner: Box<dyn Accumulator>,
) -> Result<Box<dyn Accumulator>> {
    let key = match arguments {
        [only] if !nulls_count => only.clone(),
        [] => return Err(Error::internal("DISTINCT without an argument")),
        several => {
            let named = |(index, t): (usize, &SqlType)| (format!("f{index}"), t.clone());
            LogicalType::Row(several.iter().enumerate().map(named).collect()).not_null()
        }
    };
    let count = arguments.len();
    Ok(with_kind!(&key, kind => Box::new(Distinct {
        kind, key: key.clone(), arguments: count, nulls_count, counts: Vec::new(), tally: Tally::default(), inner
    })))
}

/// The rows at which a value appeared or vanished.
#[derive(Default)]
struct Transitions {
    rows: Vec<u32>,
    slots: Vec<u32>,
    kinds: Vec<RowKind>,
}

/// Adds `by` to the count of a value; `Some(true)` if the value appeared, `Some(false)` if it is gone now.
fn change<K: Kind>(
    counts: &mut Counts<K::Value>,
    tally: &mut Tally,
    column: &K::Column,
    row: usize,
    by: i64,
) -> Option<bool> {
    let hash = K::hash_row(column, row);
    let allocated = counts.allocation_size();
    let equal = |entry: &Entry<K::Value>| K::compare(&entry.value, column, row).is_eq();
    let (before, after) = match counts.entry(hash, equal, |entry| K::hash(&entry.value)) {
        hash_table::Entry::Vacant(vacant) => {
            tally.appeared += 1;
            let value = K::get(column, row);
            tally.bytes += K::heap_bytes(&value);
            vacant.insert(Entry { value, count: by, since: tally.appeared });
            (0, by)
        }
        hash_table::Entry::Occupied(mut occupied) => {
            let entry = occupied.get_mut();
            let before = entry.count;
            entry.count += by;
            if before <= 0 && entry.count > 0 {
                tally.appeared += 1;
                entry.since = tally.appeared;
            }
            let after = entry.count;
            if after == 0 {
                tally.bytes -= K::heap_bytes(&entry.value);
                occupied.remove();
            }
            (before, after)
        }
    };
    tally.bytes = tally.bytes + counts.allocation_size() - allocated;
    match (before > 0, after > 0) {
        (false, true) => Some(true),
        (true, false) => Some(false),
        _ => None,
    }
}

/// The entries of a slot, earliest first.
fn in_order<V>(counts: &Counts<V>) -> Vec<&Entry<V>> {
    let mut entries: Vec<&Entry<V>> = counts.iter().collect();
    entries.sort_unstable_by_key(|entry| entry.since);
    entries
}

impl Transitions {
    fn push(&mut self, row: usize, slot: usize, appeared: bool) {
        self.rows.push(row as u32);
        self.slots.push(slot as u32);
        self.kinds.push(if appeared { RowKind::Insert } else { RowKind::Delete });
    }

    fn apply(self, inner: &mut dyn Accumulator, arguments: &[ArrayRef]) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = UInt32Array::from(self.rows);
        let arguments: Vec<ArrayRef> =
            arguments.iter().map(|array| Ok(take(array, &rows, None)?)).collect::<Result<_>>()?;
        let additions = self.kinds.iter().all(|kind| kind.is_addition());
        inner.update(&self.slots, if additions { None } else { Some(&self.kinds) }, &arguments, None)
    }
}

impl<K: Kind> Distinct<K> {
    /// Whether the key is the only argument, not a ROW.
    fn is_plain(&self) -> bool {
        self.arguments == 1 && !self.nulls_count
    }

    /// The column whose distinct values count.
    fn key_column(&self, arguments: &[ArrayRef]) -> Result<ArrayRef> {
        if self.is_plain() {
            return Ok(arguments[0].clone());
        }
        let arrow::datatypes::DataType::Struct(fields) = self.key.arrow() else {
            return Err(Error::internal("a distinct key of several columns is not a row"));
        };
        Ok(Arc::new(StructArray::try_new(fields, arguments.to_vec(), None)?))
    }

    /// Tells the inner accumulator of values that appeared or are gone.
    fn apply(&mut self, values: &ArrayRef, transitions: Transitions) -> Result<()> {
        let arguments = if self.is_plain() { vec![values.clone()] } else { values.as_struct().columns().to_vec() };
        transitions.apply(self.inner.as_mut(), &arguments)
    }

    fn forget(&mut self, slots: &[u32]) {
        for slot in slots {
            let gone = std::mem::take(&mut self.counts[*slot as usize]);
            let values: usize = gone.iter().map(|entry| K::heap_bytes(&entry.value)).sum();
            self.tally.bytes -= values + gone.allocation_size();
        }
    }

    /// Adds the counts of states, or takes them away with a sign of -1.
    fn load(&mut self, slots: &[u32], state: &[ArrayRef], sign: i64) -> Result<(ArrayRef, Transitions)> {
        let (values, counts) = (column(state, 0)?.as_list::<i32>(), column(state, 1)?.as_list::<i32>());
        let flat = self.kind.column(values.values())?;
        let flat_counts = counts.values().as_primitive::<Int64Type>();
        let mut transitions = Transitions::default();
        for (row, slot) in slots.iter().enumerate() {
            let slot = *slot as usize;
            for (at, count_at) in list_range(values, row).zip(list_range(counts, row)) {
                if let Some(appeared) =
                    change::<K>(&mut self.counts[slot], &mut self.tally, &flat, at, sign * flat_counts.value(count_at))
                {
                    transitions.push(at, slot, appeared);
                }
            }
        }
        Ok((values.values().clone(), transitions))
    }
}

impl<K: Kind> Accumulator for Distinct<K> {
    fn resize(&mut self, slots: usize) {
        if slots > self.counts.len() {
            self.counts.resize_with(slots, HashTable::new);
        }
        self.inner.resize(slots);
    }

    fn update(
        &mut self,
        slots: &[u32],
        kinds: Option<&[RowKind]>,
        arguments: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        let arguments: Vec<ArrayRef> =
            (0..self.arguments).map(|index| argument(arguments, index, slots.len())).collect::<Result<_>>()?;
        let key = self.key_column(&arguments)?;
        let column = self.kind.column(&key)?;
        let mut transitions = Transitions::default();
        let (counts, tally) = (&mut self.counts, &mut self.tally);
        let skipped = if self.nulls_count { None } else { nulls(&arguments[0]) };
        Rows { slots, kinds, selected }.each(skipped, |row, slot, sign| {
            if let Some(appeared) = change::<K>(&mut counts[slot], tally, &column, row, sign) {
                transitions.push(row, slot, appeared);
            }
        });
        transitions.apply(self.inner.as_mut(), &arguments)
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        self.inner.values(slots)
    }

    fn reset(&mut self, slots: &[u32]) {
        self.forget(slots);
        self.inner.reset(slots);
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        let mut fields = vec![
            list_field("distinct_values", &self.key),
            list_field("distinct_counts", &LogicalType::BigInt.not_null()),
        ];
        fields.extend(self.inner.state_fields());
        fields
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let slots_entries: Vec<Vec<&Entry<K::Value>>> =
            slots.iter().map(|slot| in_order(&self.counts[*slot as usize])).collect();
        let lists = slots_entries.iter().map(|entries| entries.iter().map(|entry| Some(&entry.value)));
        let values = build_lists(&self.kind, &self.key, lists)?;
        let lengths: Vec<usize> = slots_entries.iter().map(Vec::len).collect();
        let counts = Int64Array::from_iter_values(slots_entries.iter().flatten().map(|entry| entry.count));
        let mut state = vec![values, list_of(Arc::new(counts), &LogicalType::BigInt.not_null(), &lengths)?];
        state.extend(self.inner.state(slots)?);
        Ok(state)
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.forget(slots);
        self.load(slots, state, 1)?;
        // The inner state is not computed again: the order of values and the residue of floats belong to it.
        self.inner.restore(slots, state.get(2..).unwrap_or_default())
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let (values, transitions) = self.load(slots, state, 1)?;
        self.apply(&values, transitions)
    }

    fn merging(&self) -> Merging {
        match self.inner.merging() {
            Merging::Exact => Merging::Exact,
            // A value that appeared twice keeps its first place.
            _ => Merging::InOrder,
        }
    }

    fn unmerge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let (values, transitions) = self.load(slots, state, -1)?;
        self.apply(&values, transitions)
    }

    fn pane_values(&self) -> Result<Option<Box<dyn PaneValues>>> {
        self.is_plain().then(|| pane_values::store(&self.key)).transpose()
    }

    fn heap_bytes(&self) -> usize {
        self.tally.bytes + self.counts.capacity() * size_of::<Counts<K::Value>>() + self.inner.heap_bytes()
    }
}
