//! Rows that a join in time keeps of one of its inputs: by key, in the order of their times, with the time of each.

use super::output::record_batch;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array, new_null_array};
use arrow::compute::{SortOptions, take};
use arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use base::plan::{JoinKey, Output};
use base::{ChangelogBatch, Error, Expression, Result};
use state::{
    KeyTable, Restored, Scope, SortedBatch, SortedIdentity, SortedRows, SortedRowsSpec, TableSnapshot, TakenRows,
};
use std::ops::Range;
use std::sync::Arc;

/// No row: all columns are NULL.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// Where a column of a kept row comes from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// It is this key of the slot.
    Key(usize),
    /// It is kept with the row, in this place.
    Stored(usize),
}

/// The columns that must be equal, as fields of the table of both sides' keys.
pub(super) fn key_fields(keys: &[JoinKey], left: &Output) -> Vec<FieldRef> {
    // NULL can be a key of one side only.
    let field = |key: &JoinKey| Arc::new(left.row.arrow().field(key.left).clone().with_nullable(true));
    keys.iter().map(field).collect()
}

/// Rows of one input.
#[derive(Debug)]
pub(super) struct KeptRows {
    name: &'static str,
    /// The key columns of the input.
    keys: Vec<usize>,
    /// By key: whether NULL equals nothing.
    strict: Vec<bool>,
    /// The columns of the input that are kept; the rest are keys.
    stored: Vec<usize>,
    /// By column of the input.
    sources: Vec<Source>,
    fields: Vec<FieldRef>,
    pub rows: SortedRows,
    /// By row.
    pub times: Vec<i64>,
}

impl KeptRows {
    /// Rows in the order of the rowtime column `rowtime`, or in that of their arrival.
    pub fn new(
        name: &'static str,
        input: &Output,
        keys: Vec<usize>,
        strict: Vec<bool>,
        rowtime: Option<usize>,
    ) -> Result<KeptRows> {
        let field = |column: usize| -> FieldRef { input.row.arrow().fields()[column].clone() };
        let is_rest = |column: &usize| !keys.contains(column) && Some(*column) != rowtime;
        let rest: Vec<usize> = (0..input.row.len()).filter(is_rest).collect();
        let rows = SortedRows::new(SortedRowsSpec {
            order: rowtime.iter().map(|&column| (field(column), SortOptions::default())).collect(),
            rest: rest.iter().map(|&column| field(column)).collect(),
            identity: SortedIdentity::None,
        })?;
        let stored: Vec<usize> = rowtime.into_iter().chain(rest).collect();
        let source = |column: usize| match stored.iter().position(|other| *other == column) {
            Some(place) => Source::Stored(place),
            None => Source::Key(keys.iter().position(|key| *key == column).unwrap_or_default()),
        };
        Ok(KeptRows {
            name,
            sources: (0..input.row.len()).map(source).collect(),
            fields: (0..input.row.len()).map(field).collect(),
            strict,
            keys,
            stored,
            rows,
            times: Vec::new(),
        })
    }

    /// The key columns of a batch.
    pub fn key_columns(&self, batch: &ChangelogBatch) -> Vec<ArrayRef> {
        self.keys.iter().map(|&key| batch.records().column(key).clone()).collect()
    }

    /// The rows of a batch that have a NULL in a key that equals nothing.
    pub fn unmatchable(&self, keys: &[ArrayRef]) -> Option<Vec<bool>> {
        let strict = keys.iter().zip(&self.strict).filter(|(key, strict)| **strict && key.null_count() > 0);
        let mut unmatchable: Option<Vec<bool>> = None;
        for (key, _) in strict {
            let rows = unmatchable.get_or_insert_with(|| vec![false; key.len()]);
            rows.iter_mut().enumerate().for_each(|(row, is)| *is |= key.is_null(row));
        }
        unmatchable
    }

    /// Encodes the rows of a batch.
    pub fn encode(&self, batch: &ChangelogBatch) -> Result<SortedBatch> {
        self.rows.encode(&self.stored.iter().map(|&column| batch.records().column(column).clone()).collect::<Vec<_>>())
    }

    /// Adds a row behind those of the same time. Gives the row.
    pub fn insert(&mut self, slot: u32, encoded: &SortedBatch, row: usize, time: i64) -> u32 {
        let added = self.rows.insert(slot, encoded, row);
        set(&mut self.times, added, time);
        added
    }

    /// Kept rows as columns of the input; `keys` are the keys of each of them.
    pub fn columns(&self, rows: &[u32], keys: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let stored = self.rows.columns(rows)?;
        let column = |source: &Source| match *source {
            Source::Stored(place) => stored[place].clone(),
            Source::Key(key) => keys[key].clone(),
        };
        Ok(self.sources.iter().map(column).collect())
    }

    /// So many rows of NULL.
    pub fn nulls(&self, rows: usize) -> Vec<ArrayRef> {
        self.fields.iter().map(|field| new_null_array(field.data_type(), rows)).collect()
    }

    /// Rows in the order of their arrival, with the keys of their slots: all or those that changed since the last snapshot.
    /// `more` gives what else is kept of rows; the times by row come with them.
    pub fn snapshot(
        &mut self,
        table: &KeyTable,
        scope: Scope,
        more: impl FnOnce(&[u32], &[i64]) -> Vec<(FieldRef, ArrayRef)>,
    ) -> Result<TableSnapshot> {
        let times = &self.times;
        snapshot_sorted(&mut self.rows, table, self.name, scope, false, |rows| more(rows, times))
    }

    /// Takes over the rows of a snapshot whose key group is in `groups`; what else was kept of them comes first. `add` is
    /// called with every new row and its position in the snapshot.
    pub fn restore(
        &mut self,
        table: &mut KeyTable,
        snapshot: &TableSnapshot,
        groups: Range<u16>,
        more: &[FieldRef],
        times: impl FnOnce(&Restored) -> Result<Vec<i64>>,
    ) -> Result<(Restored, Vec<u32>)> {
        let fields: Vec<FieldRef> = more.iter().cloned().chain(self.rows.fields()).collect();
        let restored = table.restore(snapshot, groups, &fields)?;
        self.rows.resize(table.slots_len());
        let encoded = self.rows.encode(&restored.values[more.len()..])?;
        let times = times(&restored)?;
        let slots = restored.slots.iter().enumerate();
        let rows = slots.map(|(row, &slot)| self.insert(slot, &encoded, row, times[row])).collect();
        Ok((restored, rows))
    }

    /// The name in snapshots.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        self.rows.heap_bytes() + self.times.capacity() * size_of::<i64>()
    }
}

/// The rows of a store as a table, with the keys of their slots: all or those that changed since the last snapshot. `more`
/// gives what else is kept of rows.
pub(super) fn snapshot_sorted(
    store: &mut SortedRows,
    table: &KeyTable,
    name: &str,
    scope: Scope,
    keys_first: bool,
    more: impl FnOnce(&[u32]) -> Vec<(FieldRef, ArrayRef)>,
) -> Result<TableSnapshot> {
    let TakenRows { owners, rows, numbers, gone } = store.take(scope, || table.live_slots());
    let mut values = more(&rows);
    values.extend(store.fields().into_iter().zip(store.columns(&rows)?));
    table.snapshot_numbered(name, gone, &owners, &numbers, keys_first, values)
}

/// Sets the element of a row, with room made for it.
pub(super) fn set<T: Clone + Default>(by_row: &mut Vec<T>, row: u32, value: T) {
    if by_row.len() <= row as usize {
        by_row.resize(row as usize + 1, T::default());
    }
    by_row[row as usize] = value;
}

/// What must be true of pairs besides their keys.
#[derive(Debug)]
pub(crate) struct PairCondition {
    expression: Arc<dyn Expression>,
    /// The columns of both inputs.
    schema: SchemaRef,
}

impl PairCondition {
    pub fn new(expression: &Option<Arc<dyn Expression>>, left: &Output, right: &Output) -> Option<PairCondition> {
        let expression = expression.clone()?;
        let fields = left.row.arrow().fields().iter().chain(right.row.arrow().fields());
        let fields: Vec<Field> = fields.map(|field| field.as_ref().clone()).collect();
        Some(PairCondition { expression, schema: Arc::new(Schema::new(fields)) })
    }

    /// The same over columns of this schema.
    pub fn over(expression: &Option<Arc<dyn Expression>>, schema: SchemaRef) -> Option<PairCondition> {
        Some(PairCondition { expression: expression.clone()?, schema })
    }

    /// Which pairs satisfy it: columns of both inputs, a row per pair.
    pub fn evaluate(&self, left: Vec<ArrayRef>, right: Vec<ArrayRef>, pairs: usize) -> Result<Hits> {
        let columns = left.into_iter().chain(right).collect();
        let values = self.expression.evaluate(&record_batch(&self.schema, columns, pairs)?)?;
        let hits = values.as_boolean_opt().ok_or_else(|| Error::internal("a join condition that is no BOOLEAN"))?;
        Ok(Hits(Some(hits.clone())))
    }
}

/// Which pairs satisfy a condition; without one they all do.
#[derive(Debug, Default)]
pub(crate) struct Hits(Option<BooleanArray>);

impl Hits {
    #[inline]
    pub fn contains(&self, pair: usize) -> bool {
        self.0.as_ref().is_none_or(|hits| hits.value(pair) && hits.is_valid(pair))
    }
}

/// The rows at these indexes; NULLs for [`NO_ROW`].
pub(crate) fn pick(column: &ArrayRef, indexes: &[u32]) -> Result<ArrayRef> {
    if indexes.len() == column.len() && indexes.iter().enumerate().all(|(row, index)| *index as usize == row) {
        return Ok(column.clone());
    }
    let indexes: UInt32Array = match indexes.contains(&NO_ROW) {
        true => indexes.iter().map(|&index| (index != NO_ROW).then_some(index)).collect(),
        false => indexes.to_vec().into(),
    };
    Ok(take(column.as_ref(), &indexes, None)?)
}

/// [`pick`] of several columns.
pub(crate) fn pick_all(columns: &[ArrayRef], indexes: &[u32]) -> Result<Vec<ArrayRef>> {
    columns.iter().map(|column| pick(column, indexes)).collect()
}
