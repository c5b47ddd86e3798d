//! Top-N: ROW_NUMBER with a filter on its number, ORDER BY .. LIMIT.

mod changes;
mod limit;

use super::EXPIRE_SCAN_MAX;
use super::kept_rows::snapshot_sorted;
use super::output::{OutputQueue, record_batch};
use super::touched::Touched;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Output, Rank, RankEnd, RankStrategy};
use base::types::RowType;
use base::{ChangelogBatch, Result, RowKind};
use changes::{Change, fold_by_rank, fold_by_row};
use state::{
    KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots, SortedBatch, SortedIdentity, SortedRows,
    SortedRowsSpec,
};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// The name of the table of rankings in snapshots.
const TABLE: &str = "partitions";
/// The name of the table of their rows.
const ROWS: &str = "rows";
/// Changes are folded before there are more than this many of them.
const CHANGES_MAX: usize = 1 << 18;

/// The operator of a node.
///
/// # Errors
/// A partition by a type that cannot be a key.
pub fn create(node: &Rank, input: &Output, output: &Output, instance: Instance) -> Result<Box<dyn Operator>> {
    match limit::LimitOperator::new(node) {
        Some(limit) => Ok(Box::new(limit)),
        None => Ok(Box::new(RankOperator::new(node, input, output, instance)?)),
    }
}

/// What a change of a ranking looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The one row of a ranking is replaced.
    Single,
    /// Every rank that gets another row changes: the number is given, or the first ranks are left out.
    Ranks,
    /// A row comes and another one goes.
    Rows,
}

/// Keeps rows in order, and gives those between two ranks.
///
/// * input: inserts; updates by a key that only rise; or any kinds, by [`RankStrategy`]
/// * output: with the number, or without the first ranks: a change for every rank that gets another row (`-U`/`+U`, `+I` for
///   a rank that is new, `-D` for one that is gone). Otherwise `-D` for the row that falls out, then `+I` for the one that
///   comes in. A batch that touches a ranking several times gives what is different after it
/// * state: the best rows, or, if the input can retract, all of them, in order, with their arrival
/// * dropped: rows behind the last rank, rankings without rows (unless their last rank is a column), and those not written
///   for the TTL
/// * late rows: count like all others. Retractions of rows that are not there are dropped
#[derive(Debug)]
pub struct RankOperator {
    strategy: RankStrategy,
    form: Form,
    start: u64,
    end: RankEnd,
    with_rank: bool,
    with_before: bool,
    with_unchanged: bool,
    partition: Vec<usize>,
    /// Input columns in the order of the store.
    stored: Vec<usize>,
    output_row: RowType,
    own_groups: Range<u16>,

    table: KeyTable,
    rows: SortedRows,
    /// By slot: the last rank, if it is a column; it is that of the first row.
    ends: Vec<Option<u64>>,

    slots: Slots,
    touched: Touched,
    /// By position: whether the ranking was written.
    written: Vec<bool>,
    changes: Vec<Change>,
    output: OutputQueue,
}

/// A row of a batch.
#[derive(Clone, Copy)]
struct Incoming<'b> {
    slot: u32,
    batch: &'b SortedBatch,
    row: usize,
    /// The last rank.
    end: u64,
}

impl RankOperator {
    /// The operator of one instance.
    pub fn new(node: &Rank, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let field = |column: usize| input.row.arrow().fields()[column].clone();
        let order: Vec<usize> = node.order.iter().map(|key| key.column).collect();
        let leading = match &node.strategy {
            RankStrategy::Update(key) => {
                key.iter().copied().filter(|column| !node.partition.contains(column)).collect()
            }
            RankStrategy::Append | RankStrategy::Retract => Vec::new(),
        };
        let is_rest =
            |column: &usize| !order.contains(column) && !leading.contains(column) && !node.partition.contains(column);
        let rest: Vec<usize> = leading.iter().copied().chain((0..input.row.len()).filter(is_rest)).collect();
        let options = |descending, nulls_first| SortOptions { descending, nulls_first };
        let rows = SortedRows::new(SortedRowsSpec {
            order: node.order.iter().map(|key| (field(key.column), options(key.descending, key.nulls_first))).collect(),
            rest: rest.iter().map(|&column| field(column)).collect(),
            identity: match &node.strategy {
                RankStrategy::Append => SortedIdentity::None,
                RankStrategy::Update(_) => SortedIdentity::Leading(leading.len()),
                RankStrategy::Retract => SortedIdentity::Content,
            },
        })?;
        let ttl_ms = node.state_ttl.map(|ttl| ttl.as_millis() as i64);
        let fields = node.partition.iter().map(|&column| field(column)).collect();
        let with_before = output.changelog.contains(RowKind::UpdateBefore);
        Ok(RankOperator {
            form: match (node.start, &node.end, &node.strategy) {
                (1, RankEnd::Constant(1), RankStrategy::Append | RankStrategy::Update(_)) => Form::Single,
                (1, _, _) if !node.with_rank => Form::Rows,
                _ => Form::Ranks,
            },
            strategy: node.strategy.clone(),
            start: node.start,
            end: node.end,
            with_rank: node.with_rank,
            with_before,
            with_unchanged: ttl_ms.is_some(),
            partition: node.partition.clone(),
            stored: order.into_iter().chain(rest).collect(),
            output_row: output.row.clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: TABLE, namespace: None, fields, ttl_ms })?,
            rows,
            ends: Vec::new(),
            slots: Slots::default(),
            touched: Touched::default(),
            written: Vec::new(),
            changes: Vec::new(),
            output: OutputQueue::default(),
        })
    }

    fn resize(&mut self) {
        self.rows.resize(self.table.slots_len());
        self.ends.resize(self.table.slots_len(), None);
    }

    fn push(&mut self, kind: RowKind, slot: u32, rank: u64, row: u32) {
        if rank >= self.start {
            self.changes.push(Change { kind, slot, rank, row });
        }
    }

    /// The last rank for each row of a batch, if it is a column.
    fn batch_ends(&self, batch: &ChangelogBatch) -> Result<Option<Int64Array>> {
        let RankEnd::Column(column) = self.end else { return Ok(None) };
        let ends = cast(batch.records().column(column), &DataType::Int64)?;
        Ok(Some(ends.as_primitive::<Int64Type>().clone()))
    }

    /// The last rank of a ranking that row `row` is for.
    fn end_of(&mut self, slot: u32, ends: Option<&Int64Array>, row: usize) -> u64 {
        match (self.end, ends) {
            (RankEnd::Constant(end), _) => end,
            (RankEnd::Column(_), Some(ends)) => *self.ends[slot as usize].get_or_insert_with(|| {
                let end = if ends.is_null(row) { 0 } else { ends.value(row) };
                u64::try_from(end).unwrap_or(0)
            }),
            _ => u64::MAX,
        }
    }

    /// Applies a row. Whether it changed the ranking.
    fn apply(&mut self, incoming: Incoming<'_>, kind: RowKind) -> bool {
        match (&self.strategy, kind) {
            (RankStrategy::Append, _) => kind.is_addition() && self.add(incoming),
            // The new content follows, and says which row it replaces.
            (RankStrategy::Update(_), RowKind::UpdateBefore) => false,
            (RankStrategy::Update(_), _) if kind.is_addition() => self.update(incoming),
            (RankStrategy::Retract, _) if kind.is_addition() => self.insert(incoming),
            (RankStrategy::Update(_) | RankStrategy::Retract, _) => self.retract(incoming),
        }
    }

    /// A new row of an input whose best rows are enough.
    fn add(&mut self, incoming: Incoming<'_>) -> bool {
        let Incoming { slot, batch, row, end } = incoming;
        let is_full = self.rows.len(slot) as u64 >= end;
        if is_full {
            match self.rows.last(slot) {
                Some(last) if self.rows.compare(batch, row, last) == Ordering::Less => {}
                _ => return false,
            }
        }
        if self.form == Form::Single
            && let Some(old) = self.rows.remove_last(slot)
        {
            let new = self.rows.insert(slot, batch, row);
            self.push(RowKind::UpdateBefore, slot, 1, old);
            self.push(RowKind::UpdateAfter, slot, 1, new);
            return true;
        }
        let new = self.rows.insert(slot, batch, row);
        if self.form == Form::Ranks {
            self.shift_down(slot, new, end);
        }
        if is_full
            && let Some(gone) = self.rows.remove_last(slot)
            && self.form == Form::Rows
        {
            self.push(RowKind::Delete, slot, end, gone);
        }
        if self.form != Form::Ranks {
            self.push(RowKind::Insert, slot, 1, new);
        }
        true
    }

    /// Every rank from that of a new row on gets the row before it.
    fn shift_down(&mut self, slot: u32, new: u32, end: u64) {
        let Some(index) = self.rows.index(slot, new, limit(end)) else { return };
        let (mut current, mut rank) = (new, index as u64 + 1);
        let shifted = limit(end - rank);
        let behind: Vec<u32> = self.rows.from(slot, index + 1).take(shifted.saturating_add(1)).collect();
        for next in behind {
            self.push(RowKind::UpdateBefore, slot, rank, next);
            self.push(RowKind::UpdateAfter, slot, rank, current);
            current = next;
            rank += 1;
        }
        if rank <= end {
            self.push(RowKind::Insert, slot, rank, current);
        }
    }

    /// A new row of an input that can retract: all are kept.
    fn insert(&mut self, incoming: Incoming<'_>) -> bool {
        let Incoming { slot, batch, row, end } = incoming;
        let new = self.rows.insert(slot, batch, row);
        if self.form == Form::Ranks {
            self.shift_down(slot, new, end);
        } else if self.rows.index(slot, new, limit(end)).is_some() {
            if self.rows.len(slot) as u64 > end
                && let Some(gone) = self.rows.at(slot, limit(end))
            {
                self.push(RowKind::Delete, slot, end, gone);
            }
            self.push(RowKind::Insert, slot, 1, new);
        }
        true
    }

    fn retract(&mut self, incoming: Incoming<'_>) -> bool {
        let Incoming { slot, batch, row, end } = incoming;
        let Some(gone) = self.rows.find(slot, batch, row) else { return false };
        let index = self.rows.index(slot, gone, limit(end));
        self.rows.remove(slot, gone);
        let Some(index) = index else { return true };
        if self.form != Form::Ranks {
            self.push(RowKind::Delete, slot, 1, gone);
            if end <= self.rows.len(slot) as u64
                && let Some(risen) = self.rows.at(slot, limit(end) - 1)
            {
                self.push(RowKind::Insert, slot, end, risen);
            }
            return true;
        }
        let (mut previous, mut rank) = (gone, index as u64 + 1);
        let behind: Vec<u32> = self.rows.from(slot, index).take(limit(end - rank).saturating_add(1)).collect();
        for next in behind {
            self.push(RowKind::UpdateBefore, slot, rank, previous);
            self.push(RowKind::UpdateAfter, slot, rank, next);
            previous = next;
            rank += 1;
        }
        if rank <= end {
            self.push(RowKind::Delete, slot, rank, previous);
        }
        true
    }

    /// A row that may be new or the new content of a kept one.
    fn update(&mut self, incoming: Incoming<'_>) -> bool {
        let Incoming { slot, batch, row, end } = incoming;
        let Some(old) = self.rows.find(slot, batch, row) else { return self.add(incoming) };
        let order = self.rows.compare(batch, row, old);
        let Some(old_index) = self.rows.index(slot, old, limit(end)) else { return false };
        let old_rank = old_index as u64 + 1;
        let new = if order == Ordering::Equal {
            self.rows.replace(slot, old, batch, row)
        } else {
            self.rows.remove(slot, old);
            self.rows.insert(slot, batch, row)
        };
        let new_rank = self.rows.index(slot, new, usize::MAX).map_or(old_rank, |index| index as u64 + 1);
        if self.form != Form::Ranks || new_rank == old_rank {
            self.push(RowKind::UpdateBefore, slot, old_rank, old);
            self.push(RowKind::UpdateAfter, slot, old_rank, new);
        } else if new_rank < old_rank {
            self.rise(slot, (old, old_rank), (new, new_rank));
        } else {
            self.fall(slot, (old, old_rank), (new, new_rank));
        }
        true
    }

    /// A row is better than it was: the ranks from its new to its old one change. Flink gives both old contents first.
    fn rise(&mut self, slot: u32, (old, old_rank): (u32, u64), (new, new_rank): (u32, u64)) {
        let count = limit(old_rank - new_rank);
        let passed: Vec<u32> = self.rows.from(slot, new_rank as usize).take(count).collect();
        let mut current = new;
        for (rank, next) in (new_rank..).zip(passed) {
            self.push(RowKind::UpdateBefore, slot, rank, next);
            if rank == new_rank {
                self.push(RowKind::UpdateBefore, slot, old_rank, old);
            }
            self.push(RowKind::UpdateAfter, slot, rank, current);
            current = next;
        }
        self.push(RowKind::UpdateAfter, slot, old_rank, current);
    }

    /// A row is worse than it was, which its key should not allow.
    fn fall(&mut self, slot: u32, (old, old_rank): (u32, u64), (new, new_rank): (u32, u64)) {
        let count = limit(new_rank - old_rank);
        let risen: Vec<u32> = self.rows.from(slot, old_rank as usize - 1).take(count).collect();
        let mut previous = old;
        for (rank, next) in (old_rank..).zip(risen) {
            self.push(RowKind::UpdateBefore, slot, rank, previous);
            self.push(RowKind::UpdateAfter, slot, rank, next);
            previous = next;
        }
        self.push(RowKind::UpdateBefore, slot, new_rank, previous);
        self.push(RowKind::UpdateAfter, slot, new_rank, new);
    }

    fn fold(&mut self) {
        let rows = &self.rows;
        match self.form {
            Form::Rows => fold_by_row(&mut self.changes),
            Form::Single | Form::Ranks => {
                fold_by_rank(&mut self.changes, self.with_unchanged, |left, right| rows.same_content(left, right));
            }
        }
    }

    fn emit(&mut self) -> Result<()> {
        if !self.with_before {
            self.changes.retain(|change| change.kind != RowKind::UpdateBefore);
        }
        if self.changes.is_empty() {
            return Ok(());
        }
        let slots: Vec<u32> = self.changes.iter().map(|change| change.slot).collect();
        let rows: Vec<u32> = self.changes.iter().map(|change| change.row).collect();
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.output_row.len()];
        for (&column, values) in self.partition.iter().zip(self.table.keys(&slots)?) {
            columns[column] = Some(values);
        }
        for (&column, values) in self.stored.iter().zip(self.rows.columns(&rows)?) {
            columns[column] = Some(values);
        }
        if self.with_rank
            && let Some(last) = columns.last_mut()
        {
            *last = Some(Arc::new(Int64Array::from_iter_values(self.changes.iter().map(|change| change.rank as i64))));
        }
        let records = record_batch(self.output_row.arrow(), columns.into_iter().flatten().collect(), rows.len())?;
        let kinds: Vec<RowKind> = self.changes.iter().map(|change| change.kind).collect();
        self.output.push(ChangelogBatch::new(records, kinds));
        self.changes.clear();
        Ok(())
    }

    /// Forgets the rankings that have no row left. A last rank that is a column stays: it is that of the first row.
    fn remove_empty(&mut self) -> Result<()> {
        let empty = |slot: &u32| self.rows.len(*slot) == 0 && self.ends[*slot as usize].is_none();
        let gone: Vec<u32> = self.touched.slots.iter().copied().filter(empty).collect();
        self.table.remove(&gone)
    }

    fn clear(&mut self, slot: u32) {
        self.rows.clear(slot);
        self.ends[slot as usize] = None;
    }
}

/// A number of rows that may be larger than there can be.
fn limit(rank: u64) -> usize {
    usize::try_from(rank).unwrap_or(usize::MAX)
}

impl Operator for RankOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        for snapshot in restored {
            if let Some(table) = snapshot.table(TABLE) {
                let restored = self.table.restore(table, self.own_groups.clone(), &[end_field()])?;
                self.resize();
                let ends = restored.values[0].as_primitive::<Int64Type>();
                for (&slot, end) in restored.slots.iter().zip(ends) {
                    self.ends[slot as usize] = end.map(|end| end as u64);
                }
            }
            if let Some(table) = snapshot.table(ROWS) {
                let fields = self.rows.fields();
                let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
                self.resize();
                let batch = self.rows.encode(&restored.values)?;
                for (row, &slot) in restored.slots.iter().enumerate() {
                    self.rows.insert(slot, &batch, row);
                }
            }
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let now_ms = context.processing_time_ms;
        let columns = |indexes: &[usize]| -> Vec<ArrayRef> {
            indexes.iter().map(|&index| batch.records().column(index).clone()).collect()
        };
        let keys = columns(&self.partition);
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        let mut slots = std::mem::take(&mut self.slots);
        self.table.lookup_or_insert(key_batch, &mut slots)?;
        self.resize();
        let ends = self.batch_ends(&batch)?;
        let encoded = self.rows.encode(&columns(&self.stored))?;
        self.touched.start(self.table.slots_len());
        self.written.clear();
        let mut folded = 0;
        for (row, &slot) in slots.rows.iter().enumerate() {
            let (position, first) = self.touched.touch(slot, row);
            if first {
                if self.table.is_expired(slot, now_ms) {
                    self.clear(slot);
                }
                self.written.push(false);
            }
            let end = self.end_of(slot, ends.as_ref(), row);
            if end == 0 && self.strategy != RankStrategy::Retract {
                continue;
            }
            let incoming = Incoming { slot, batch: &encoded, row, end };
            self.written[position] |= self.apply(incoming, batch.kind(row));
            if self.form == Form::Ranks && self.changes.len() > CHANGES_MAX.max(2 * folded) {
                self.fold();
                folded = self.changes.len();
            }
        }
        if self.touched.slots.len() < batch.num_rows() {
            self.fold();
        }
        self.emit()?;
        let written = self.touched.slots.iter().zip(&self.written).filter(|(_, written)| **written);
        let written: Vec<u32> = written.map(|(slot, _)| *slot).collect();
        self.table.written(&written, now_ms);
        self.remove_empty()?;
        self.rows.release();
        self.slots = slots;
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let expired = self.table.expire(context.processing_time_ms, EXPIRE_SCAN_MAX);
        expired.iter().for_each(|&slot| self.clear(slot));
        self.rows.release();
        self.table.remove(&expired)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let taken = self.table.take_beside_rows(scope, KeyTable::live_slots);
        let rows = snapshot_sorted(&mut self.rows, &self.table, ROWS, scope, false, |_| Vec::new())?;
        let ends: Int64Array = taken.slots.iter().map(|&slot| self.ends[slot as usize].map(|end| end as i64)).collect();
        let partitions = self.table.snapshot(&taken, vec![(end_field(), Arc::new(ends) as ArrayRef)])?;
        Ok(OperatorSnapshot { tables: vec![partitions, rows], ..Default::default() })
    }

    fn minds_time(&self) -> bool {
        false
    }

    fn wakes(&self) -> Wakes {
        Wakes::NEVER
    }

    fn statistics(&self) -> OperatorStatistics {
        let own = self.ends.capacity() * size_of::<Option<u64>>() + self.touched.heap_bytes();
        OperatorStatistics {
            state_entries: self.rows.rows() as u64,
            state_bytes: (self.table.heap_bytes() + self.rows.heap_bytes() + own) as u64,
            ..Default::default()
        }
    }
}

fn end_field() -> FieldRef {
    Arc::new(Field::new("last_rank", DataType::Int64, true))
}
