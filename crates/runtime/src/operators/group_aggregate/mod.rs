//! GROUP BY without a window: a result per group that changes with every batch.

use super::EXPIRE_SCAN_MAX;
use super::aggregates::{Aggregates, SlotRows};
use super::output::{Changes, OutputQueue, record_batch};
use super::touched::Touched;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, UInt32Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::kernels::cmp::not_distinct;
use arrow::compute::{SortOptions, and, take};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{GroupAggregate, Output};
use base::types::RowType;
use base::{ChangelogBatch, Error, Result, RowKind};
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots};
use std::ops::Range;
use std::sync::Arc;

/// The table's name in snapshots.
const TABLE: &str = "groups";

/// Aggregates by key.
///
/// * input: any kinds
/// * output: `+I` for a new group, `-U`/`+U` for a changed one (`-U` only if a reader wants it), `-D` when its last
///   row is retracted. One change per touched group and batch, in the order of their last rows (without calls, of their
///   first ones); a batch of one row gives Flink's record-by-record changelog. An unchanged result gives nothing, unless
///   state has a TTL
/// * state: per group the accumulators and, if the input can retract, the number of rows
/// * dropped: when a group has no row left, or has not been written for the TTL
/// * late rows: count like all others. Retractions of unknown groups are dropped
///
/// As a second phase it reads a row per group and batch of the first one, which says how many rows it stands for.
#[derive(Debug)]
pub struct GroupAggregateOperator {
    keys: Vec<usize>,
    /// Whether the output carries `-U`.
    with_before: bool,
    /// Whether an update is given on although the result is the same.
    with_unchanged: bool,
    /// Whether rows can be retracted: only then their number is part of the state.
    retractable: bool,
    /// Whether the input is that of a second phase: keys, numbers of rows, states.
    merges: bool,
    output_row: RowType,
    own_groups: Range<u16>,

    table: KeyTable,
    /// Rows per slot; 0 for a slot that is not a group yet. Without retraction only 0 or not matters.
    counts: Vec<i64>,
    aggregates: Aggregates,

    slots: Slots,
    touched: Touched,
    output: OutputQueue,
}

/// What a batch does to the row counts of the groups it touches, by position.
#[derive(Debug, Default)]
struct Effect {
    /// Rows before the batch.
    before: Vec<i64>,
    /// The row after the last one that emptied the group; 0 if none did. What came before it does not matter any
    /// more.
    emptied: Vec<u32>,
    /// Slots that start anew: emptied or expired.
    reset: Vec<u32>,
    /// Rows that retract from a group without rows, ascending.
    dropped: Vec<u32>,
    any_emptied: bool,
}

/// How many rows each row of a batch stands for, negative for retractions.
#[derive(Clone, Copy)]
enum Numbers<'a> {
    /// For one that is there.
    Added,
    /// For one, by its kind.
    Kinds(&'a [RowKind]),
    /// For so many.
    Counted(&'a [i64]),
}

impl Numbers<'_> {
    #[inline]
    fn of(self, row: usize) -> i64 {
        match self {
            Numbers::Added => 1,
            Numbers::Kinds(kinds) => kinds[row].sign(),
            Numbers::Counted(numbers) => numbers[row],
        }
    }
}

impl GroupAggregateOperator {
    /// The operator of one instance.
    pub fn new(node: &GroupAggregate, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let fields: Vec<FieldRef> = node.keys.iter().map(|&key| input.row.arrow().fields()[key].clone()).collect();
        let ttl_ms = node.state_ttl.map(|ttl| ttl.as_millis() as i64);
        Ok(GroupAggregateOperator {
            keys: node.keys.clone(),
            with_before: output.changelog.contains(RowKind::UpdateBefore),
            with_unchanged: ttl_ms.is_some(),
            retractable: !input.changelog.is_append_only(),
            merges: node.merges.is_some(),
            output_row: output.row.clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: TABLE, namespace: None, fields, ttl_ms })?,
            counts: Vec::new(),
            aggregates: Aggregates::new(&node.calls, node.merges.as_ref().unwrap_or(&input.row))?,
            slots: Slots::default(),
            touched: Touched::default(),
            output: OutputQueue::default(),
        })
    }

    fn resize(&mut self) {
        let slots = self.table.slots_len();
        self.counts.resize(slots, 0);
        self.aggregates.resize(slots);
    }

    /// Counts the rows of a batch, group by group.
    fn count(&mut self, numbers: Numbers<'_>, now_ms: i64) -> Effect {
        let mut effect = Effect::default();
        self.touched.start(self.counts.len());
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            let (position, first) = self.touched.touch(slot, row);
            let count = &mut self.counts[slot as usize];
            if first {
                if *count > 0 && self.table.is_expired(slot, now_ms) {
                    *count = 0;
                    effect.reset.push(slot);
                }
                effect.before.push(*count);
                effect.emptied.push(0);
            }
            let number = numbers.of(row);
            if *count == 0 && number <= 0 {
                effect.dropped.push(row as u32);
                continue;
            }
            *count = (*count + number).max(0);
            if *count == 0 {
                effect.emptied[position] = row as u32 + 1;
                effect.any_emptied = true;
            }
        }
        if effect.any_emptied {
            let emptied = self.touched.slots.iter().zip(&effect.emptied).filter(|(_, row)| **row > 0);
            effect.reset.extend(emptied.map(|(slot, _)| *slot));
        }
        effect
    }

    /// Applies the rows that still matter to the accumulators.
    fn apply(&mut self, batch: &ChangelogBatch, effect: &Effect) -> Result<()> {
        self.aggregates.reset(&effect.reset);
        let kinds = batch.kinds();
        if effect.dropped.is_empty() && !effect.any_emptied {
            if self.merges {
                return self.aggregates.merge(&self.slots.rows, &batch.records().columns()[self.keys.len() + 1..]);
            }
            let rows = SlotRows { slots: &self.slots.rows, kinds, rows: None };
            return self.aggregates.update(batch.records(), rows);
        }
        let mut dropped = effect.dropped.iter().copied().peekable();
        let mut rows = Vec::with_capacity(batch.num_rows());
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            let row = row as u32;
            if dropped.next_if_eq(&row).is_none() && row >= effect.emptied[self.touched.position(slot)] {
                rows.push(row);
            }
        }
        let slots: Vec<u32> = rows.iter().map(|&row| self.slots.rows[row as usize]).collect();
        let kinds = kinds.map(|kinds| rows.iter().map(|&row| kinds[row as usize]).collect::<Vec<_>>());
        let rows = UInt32Array::from(rows);
        if self.merges {
            let states = batch.records().columns()[self.keys.len() + 1..].iter();
            let states = states.map(|column| Ok(take(column.as_ref(), &rows, None)?)).collect::<Result<Vec<_>>>()?;
            return self.aggregates.merge(&slots, &states);
        }
        let rows = SlotRows { slots: &slots, kinds: kinds.as_deref(), rows: Some(&rows) };
        self.aggregates.update(batch.records(), rows)
    }

    /// The changes of the touched groups.
    fn changes(&self, effect: &Effect, before: &[ArrayRef], after: &[ArrayRef]) -> Result<Changes> {
        let same = match self.with_unchanged || effect.before.iter().all(|count| *count == 0) {
            true => None,
            false => Some(all_equal(before, after, self.touched.slots.len())?),
        };
        let mut changes = Changes::default();
        // Without calls nothing happens to a group behind its first row.
        let order = match after.is_empty() {
            true => (0..self.touched.slots.len() as u32).collect(),
            false => self.touched.by_last_row(&self.slots.rows),
        };
        for position in order {
            let position = position as usize;
            let (slot, count_before) = (self.touched.slots[position], effect.before[position]);
            match (count_before > 0, self.counts[slot as usize] > 0) {
                (false, false) => {}
                (false, true) => changes.insert(position, position),
                (true, false) => changes.delete(position, position),
                (true, true) if same.as_ref().is_some_and(|same| same.value(position)) => {}
                (true, true) => {
                    if self.with_before {
                        changes.update_before(position, position);
                    }
                    changes.update_after(position, position);
                }
            }
        }
        Ok(changes)
    }

    fn emit(&mut self, keys: &[ArrayRef], changes: Changes, before: &[ArrayRef], after: &[ArrayRef]) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let first_rows = |position: &u32| self.touched.first_rows[*position as usize];
        let rows: UInt32Array = changes.positions().iter().map(first_rows).collect::<Vec<_>>().into();
        let mut columns = Vec::with_capacity(keys.len() + after.len());
        for key in keys {
            columns.push(take(key.as_ref(), &rows, None)?);
        }
        for (before, after) in before.iter().zip(after) {
            columns.push(changes.column(before, after)?);
        }
        let records = record_batch(self.output_row.arrow(), columns, changes.len())?;
        self.output.push(ChangelogBatch::new(records, changes.into_kinds()));
        Ok(())
    }
}

impl Operator for GroupAggregateOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let mut fields = self.aggregates.state_fields();
        if self.retractable {
            fields.insert(0, count_field());
        }
        for table in restored.iter().filter_map(|snapshot| snapshot.table(TABLE)) {
            let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
            self.resize();
            let mut values = &restored.values[..];
            if self.retractable {
                let counts = values[0].as_primitive::<Int64Type>();
                restored.slots.iter().zip(counts.values()).for_each(|(&slot, n)| self.counts[slot as usize] = *n);
                values = &values[1..];
            } else {
                restored.slots.iter().for_each(|&slot| self.counts[slot as usize] = 1);
            }
            self.aggregates.restore(&restored.slots, values)?;
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let now_ms = context.processing_time_ms;
        let keys: Vec<ArrayRef> = self.keys.iter().map(|&key| batch.records().column(key).clone()).collect();
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        self.resize();
        let numbers = match batch.kinds() {
            _ if self.merges => {
                Numbers::Counted(batch.records().column(self.keys.len()).as_primitive::<Int64Type>().values())
            }
            Some(kinds) => Numbers::Kinds(kinds),
            None => Numbers::Added,
        };
        let effect = self.count(numbers, now_ms);
        let any_before = effect.before.iter().any(|count| *count > 0);
        let before = match any_before {
            true => Some(self.aggregates.values(&self.touched.slots)?),
            false => None,
        };
        self.apply(&batch, &effect)?;
        let after = self.aggregates.values(&self.touched.slots)?;
        let before = before.unwrap_or_else(|| after.clone());
        let changes = self.changes(&effect, &before, &after)?;
        self.emit(&keys, changes, &before, &after)?;
        self.table.written(&self.touched.slots, now_ms);
        if self.retractable {
            let gone = |slot: &u32| self.counts[*slot as usize] == 0;
            let gone: Vec<u32> = self.touched.slots.iter().copied().filter(gone).collect();
            self.table.remove(&gone)?;
        }
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let expired = self.table.expire(context.processing_time_ms, EXPIRE_SCAN_MAX);
        self.aggregates.reset(&expired);
        expired.iter().for_each(|&slot| self.counts[slot as usize] = 0);
        self.table.remove(&expired)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let taken = self.table.take(scope, KeyTable::live_slots);
        let mut columns = Vec::new();
        if self.retractable {
            let counts: Int64Array = taken.slots.iter().map(|&slot| Some(self.counts[slot as usize])).collect();
            columns.push((count_field(), Arc::new(counts) as ArrayRef));
        }
        columns.extend(self.aggregates.state(&taken.slots)?);
        let table = self.table.snapshot(&taken, columns)?;
        Ok(OperatorSnapshot { tables: vec![table], ..Default::default() })
    }

    fn minds_time(&self) -> bool {
        false
    }

    fn wakes(&self) -> Wakes {
        Wakes::NEVER
    }

    fn statistics(&self) -> OperatorStatistics {
        let own = self.counts.capacity() * size_of::<i64>() + self.touched.heap_bytes();
        OperatorStatistics {
            state_entries: self.table.len() as u64,
            state_bytes: (self.table.heap_bytes() + self.aggregates.heap_bytes() + own) as u64,
            ..Default::default()
        }
    }
}

fn count_field() -> FieldRef {
    Arc::new(Field::new("rows", DataType::Int64, false))
}

/// For every row, whether all columns of both sides are equal; NULL equals NULL.
fn all_equal(left: &[ArrayRef], right: &[ArrayRef], rows: usize) -> Result<BooleanArray> {
    let mut all = BooleanArray::new(BooleanBuffer::new_set(rows), None);
    for (left, right) in left.iter().zip(right) {
        all = and(&all, &column_equal(left, right)?)?;
    }
    Ok(all)
}

fn column_equal(left: &ArrayRef, right: &ArrayRef) -> Result<BooleanArray> {
    if !left.data_type().is_nested() {
        return Ok(not_distinct(left, right)?);
    }
    // Collected values: there is no vectorised comparison for them.
    let compare =
        arrow::array::make_comparator(left.as_ref(), right.as_ref(), SortOptions::default()).map_err(|error| {
            Error::internal(format!("results of type {} cannot be compared: {error}", left.data_type()))
        })?;
    Ok((0..left.len()).map(|row| Some(compare(row, row).is_eq())).collect())
}
