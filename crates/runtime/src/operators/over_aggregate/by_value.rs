//! OVER windows in the order of any columns: a row that comes or goes changes the results of those behind it.

use super::calls::{Calls, Ranks};
use super::steps::Steps;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use crate::operators::EXPIRE_SCAN_MAX;
use crate::operators::output::{OutputQueue, record_batch};
use crate::operators::touched::Touched;
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::{interleave, is_null, take};
use arrow::datatypes::{DataType, Field, FieldRef, SchemaRef};
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Output, OverAggregate, OverFrame, SortKey};
use base::types::COLUMN_CALL_KEY;
use base::{ChangelogBatch, Error, Result, RowKind};
use state::{EncodedRows, KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, RowNumbers, RowStore, Scope, Slots};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// The table of partitions in snapshots.
const TABLE: &str = "partitions";
/// The rows and their results, in snapshots.
const ROWS: &str = "rows";

/// OVER windows over an order that is no time.
///
/// * input: any kinds, with `-U`
/// * output: the input's columns and one per call. A row that comes gives `+I` (`+U` if it comes as one), a row that
///   goes `-D`; those behind it whose results change give `-U`/`+U` (`-U` only if a reader wants it), in their order.
///   What goes is given first if a batch has several changes
/// * state: the rows of each partition in their order, with their results; accumulators of all of them
/// * dropped: rows that are taken back, and, with a state TTL, partitions not written for so long
/// * late rows: count like all others. Retractions of unknown rows are dropped
#[derive(Debug)]
pub struct OverByValue {
    partition: Vec<usize>,
    order: Vec<SortKey>,
    /// Whether rows of equal order share their results.
    with_peers: bool,
    with_before: bool,
    calls: Calls,
    schema: SchemaRef,
    own_groups: Range<u16>,

    table: KeyTable,
    partitions: Vec<Partition>,
    rows: RowStore,
    orders: RowStore,
    results: RowStore,
    rows_len: u32,
    free: Vec<u32>,
    /// By row.
    numbers: RowNumbers,

    slots: Slots,
    touched: Touched,
    steps: Steps,
    output: OutputQueue,
}

#[derive(Debug, Clone, Default)]
struct Partition {
    /// The rows in their order, equal ones as they have come.
    rows: Vec<u32>,
}

/// What a batch does to a partition.
#[derive(Debug, Default)]
struct Edit {
    /// The first row whose result may be another.
    from: usize,
    /// How many rows are in the accumulators; `None` if some have to leave.
    accumulated: Option<usize>,
}

/// A row that has gone.
#[derive(Debug, Clone, Copy)]
struct Gone {
    row: u32,
    /// Its partition, by position among the touched ones, and where it was.
    position: usize,
    place: usize,
}

/// A change to be given out.
#[derive(Debug, Clone, Copy)]
struct Change {
    kind: RowKind,
    row: u32,
    /// 0 and a place among the old results, or 1 and a place among the new ones.
    result: (usize, usize),
}

/// The batch that is being worked on.
#[derive(Debug, Default)]
struct Work {
    edits: Vec<Edit>,
    gone: Vec<Gone>,
    /// Rows that have come, ascending, and their kinds.
    come: Vec<(u32, RowKind)>,
}

impl OverByValue {
    /// The operator of one instance.
    ///
    /// # Errors
    /// Functions that cannot be computed over such an order.
    pub fn new(node: &OverAggregate, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let field = |column: usize| input.row.arrow().fields()[column].clone();
        let calls = Calls::new(&node.calls, &input.row)?;
        let with_peers = match node.frame {
            OverFrame::Rows(None) => false,
            OverFrame::Range(None) => true,
            _ => return Err(Error::unsupported("bounded OVER windows in an order that is no time")),
        };
        if !calls.shifts.is_empty() || node.order.iter().any(|key| key.descending) {
            return Err(Error::unsupported("LAG, or a descending order, in an OVER window whose order is no time"));
        }
        let mut order_fields: Vec<FieldRef> = Vec::new();
        for key in &node.order {
            order_fields.extend((!key.nulls_first).then(|| Arc::new(Field::new("is_null", DataType::Boolean, false))));
            order_fields.push(field(key.column));
        }
        let results = output.row.arrow().fields().iter().skip(input.row.len()).zip(&node.calls);
        let results = results.map(|(field, call)| {
            let mut metadata = field.metadata().clone();
            metadata.insert(COLUMN_CALL_KEY.into(), call.sql.clone());
            Arc::new(field.as_ref().clone().with_metadata(metadata))
        });
        let results = results.collect();
        let ttl_ms = node.state_ttl.map(|ttl| ttl.as_millis() as i64);
        let fields = node.partition.iter().map(|&column| field(column)).collect();
        Ok(OverByValue {
            partition: node.partition.clone(),
            with_peers,
            with_before: output.changelog.contains(RowKind::UpdateBefore),
            calls,
            schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: TABLE, namespace: None, fields, ttl_ms })?,
            partitions: Vec::new(),
            rows: RowStore::new(input.row.arrow().fields().iter().cloned().collect())?,
            orders: RowStore::new(order_fields)?,
            results: RowStore::new(results)?,
            order: node.order.clone(),
            rows_len: 0,
            free: Vec::new(),
            numbers: RowNumbers::default(),
            slots: Slots::default(),
            touched: Touched::default(),
            steps: Steps::default(),
            output: OutputQueue::default(),
        })
    }

    fn resize(&mut self) {
        let slots = self.table.slots_len();
        self.partitions.resize(slots, Partition::default());
        self.calls.aggregates.resize(slots);
    }

    /// Drops all rows of these partitions.
    fn forget(&mut self, slots: &[u32]) {
        self.calls.aggregates.reset(slots);
        for &slot in slots {
            for row in std::mem::take(&mut self.partitions[slot as usize].rows) {
                self.free_row(row);
            }
        }
    }

    fn free_row(&mut self, row: u32) {
        self.rows.clear(row);
        self.orders.clear(row);
        self.results.clear(row);
        self.numbers.removed(row);
        self.free.push(row);
    }

    fn new_row(&mut self) -> u32 {
        let row = self.free.pop().unwrap_or_else(|| {
            self.rows_len += 1;
            self.rows_len - 1
        });
        self.numbers.added(row);
        row
    }

    /// The order of rows as bytes, in which NULL comes first: where it is to come last, whether it is NULL comes
    /// before.
    fn encode_order(&self, columns: &[ArrayRef]) -> Result<EncodedRows> {
        let mut order: Vec<ArrayRef> = Vec::new();
        for key in &self.order {
            let column = &columns[key.column];
            if !key.nulls_first {
                order.push(Arc::new(is_null(column)?));
            }
            order.push(column.clone());
        }
        self.orders.encode(&order)
    }

    /// Puts the rows of a batch in their places and takes the retracted ones out.
    fn edit(&mut self, batch: &ChangelogBatch) -> Result<Work> {
        let columns = batch.records().columns();
        let rows = self.rows.encode(columns)?;
        let orders = self.encode_order(columns)?;
        let mut work = Work::default();
        self.touched.start(self.partitions.len());
        for row in 0..batch.num_rows() {
            let slot = self.slots.rows[row];
            let (position, first) = self.touched.touch(slot, row);
            if first {
                let len = self.partitions[slot as usize].rows.len();
                work.edits.push(Edit { from: len, accumulated: Some(len) });
            }
            let kind = batch.kind(row);
            match kind.is_addition() {
                true => self.come(slot, position, (&rows, &orders, row), kind, &mut work),
                false => self.go(slot, position, (&rows, &orders, row), &mut work),
            }
        }
        work.come.sort_unstable_by_key(|(row, _)| *row);
        Ok(work)
    }

    /// Where the rows of this order begin.
    fn begin_of(&self, slot: u32, orders: &EncodedRows, row: usize) -> usize {
        let before = |&known: &u32| self.orders.compare(known, orders, row) == Ordering::Less;
        self.partitions[slot as usize].rows.partition_point(before)
    }

    fn come(
        &mut self,
        slot: u32,
        position: usize,
        (rows, orders, row): (&EncodedRows, &EncodedRows, usize),
        kind: RowKind,
        work: &mut Work,
    ) {
        let list = &self.partitions[slot as usize].rows;
        let place = list.partition_point(|&known| self.orders.compare(known, orders, row) != Ordering::Greater);
        let from = if self.with_peers { self.begin_of(slot, orders, row) } else { place };
        let id = self.new_row();
        self.rows.set(id, rows, row);
        self.orders.set(id, orders, row);
        self.partitions[slot as usize].rows.insert(place, id);
        let edit = &mut work.edits[position];
        edit.from = edit.from.min(from);
        edit.accumulated = edit.accumulated.filter(|accumulated| place >= *accumulated);
        work.come.push((id, kind));
    }

    fn go(
        &mut self,
        slot: u32,
        position: usize,
        (rows, orders, row): (&EncodedRows, &EncodedRows, usize),
        work: &mut Work,
    ) {
        let begin = self.begin_of(slot, orders, row);
        let list = &self.partitions[slot as usize].rows;
        let peers = list[begin..].iter().take_while(|&&known| self.orders.compare(known, orders, row).is_eq());
        let Some(place) = peers.clone().position(|&known| self.rows.equals(known, rows, row)) else { return };
        let place = begin + place;
        let id = self.partitions[slot as usize].rows.remove(place);
        let edit = &mut work.edits[position];
        edit.from = edit.from.min(if self.with_peers { begin } else { place });
        // Rows behind the accumulated ones have not entered yet.
        edit.accumulated = edit.accumulated.filter(|accumulated| place >= *accumulated);
        if self.results.contains(id) {
            work.gone.push(Gone { row: id, position, place });
        } else {
            // It has come with this batch and was not given out.
            work.come.retain(|(known, _)| *known != id);
            self.free_row(id);
        }
    }

    /// The new results of the rows from [`Edit::from`] on, partition by partition.
    fn compute(&mut self, work: &Work) -> Result<Vec<ArrayRef>> {
        self.steps.start(self.partitions.len());
        let mut entering = Vec::new();
        let mut places = Vec::new();
        let mut ranks = Ranks::default();
        for (&slot, edit) in self.touched.slots.iter().zip(&work.edits) {
            let list = &self.partitions[slot as usize].rows;
            let accumulated = edit.accumulated.unwrap_or_else(|| {
                self.calls.aggregates.reset(&[slot]);
                0
            });
            let is_peer = |at: usize| at > 0 && self.orders.is_same(list[at - 1], list[at]);
            let (mut group, mut dense) = (0, 0);
            let first = if self.calls.any_ranking() { 0 } else { accumulated.min(edit.from) };
            let mut at = first;
            while at < list.len() {
                let mut end = at + 1;
                while self.with_peers && end < list.len() && is_peer(end) {
                    end += 1;
                }
                for &row in &list[at.max(accumulated).min(end)..end] {
                    self.steps.add(slot, entering.len());
                    entering.push(row);
                }
                if !is_peer(at) {
                    group = at;
                    dense += 1;
                }
                if at >= edit.from {
                    let place = self.steps.result(slot);
                    for row in at..end {
                        places.push(place);
                        ranks.row_numbers.push(row as i64 + 1);
                        ranks.ranks.push(group as i64 + 1);
                        ranks.dense_ranks.push(dense);
                    }
                }
                at = end;
            }
        }
        let aggregates = match self.calls.any_aggregate() {
            false => Vec::new(),
            true => {
                let arguments = self.calls.argument_columns(&self.rows.columns(&entering)?);
                let results = self.steps.run(&mut self.calls.aggregates, &self.calls.schema, &arguments)?;
                let places = UInt32Array::from(places);
                results.iter().map(|column| Ok(take(column.as_ref(), &places, None)?)).collect::<Result<Vec<_>>>()?
            }
        };
        Ok(self.calls.columns(&aggregates, &ranks, &[]))
    }

    /// The changes in the order in which they are given; `old` are the rows whose old results they read.
    fn changes(&self, work: &Work, encoded: &EncodedRows, old: &mut Vec<u32>) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut take_back = |row: u32, changes: &mut Vec<Change>, kind: RowKind| {
            changes.push(Change { kind, row, result: (0, old.len()) });
            old.push(row);
        };
        // Where a row moves, its old place may belong to another partition: what goes is given first.
        let alone = match (work.gone.as_slice(), work.come.len()) {
            ([gone], 0) => Some(*gone),
            _ => {
                work.gone.iter().for_each(|gone| take_back(gone.row, &mut changes, RowKind::Delete));
                None
            }
        };
        let mut place = 0;
        for (position, (&slot, edit)) in self.touched.slots.iter().zip(&work.edits).enumerate() {
            let list = &self.partitions[slot as usize].rows;
            let gone = alone.filter(|gone| gone.position == position);
            for (at, &row) in list.iter().enumerate().skip(edit.from) {
                if let Some(gone) = gone.filter(|gone| gone.place == at) {
                    take_back(gone.row, &mut changes, RowKind::Delete);
                }
                match work.come.binary_search_by_key(&row, |(row, _)| *row) {
                    Ok(new) => changes.push(Change { kind: work.come[new].1, row, result: (1, place) }),
                    Err(_) if self.results.equals(row, encoded, place) => {}
                    Err(_) => {
                        if self.with_before {
                            take_back(row, &mut changes, RowKind::UpdateBefore);
                        }
                        changes.push(Change { kind: RowKind::UpdateAfter, row, result: (1, place) });
                    }
                }
                place += 1;
            }
            if let Some(gone) = gone.filter(|gone| gone.place >= list.len()) {
                take_back(gone.row, &mut changes, RowKind::Delete);
            }
        }
        changes
    }

    fn emit(&mut self, changes: &[Change], old: &[u32], after: &[ArrayRef]) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let rows: Vec<u32> = changes.iter().map(|change| change.row).collect();
        let picks: Vec<(usize, usize)> = changes.iter().map(|change| change.result).collect();
        let mut columns = self.rows.columns(&rows)?;
        let before = self.results.columns(old)?;
        for (before, after) in before.iter().zip(after) {
            columns.push(interleave(&[before.as_ref(), after.as_ref()], &picks)?);
        }
        let kinds: Vec<RowKind> = changes.iter().map(|change| change.kind).collect();
        self.output.push(ChangelogBatch::new(record_batch(&self.schema, columns, rows.len())?, kinds));
        Ok(())
    }

    /// The new results become the old ones of the next batch.
    fn keep(&mut self, work: &Work, encoded: &EncodedRows) {
        let mut place = 0;
        for (&slot, edit) in self.touched.slots.iter().zip(&work.edits) {
            for &row in &self.partitions[slot as usize].rows[edit.from..] {
                if !self.results.equals(row, encoded, place) {
                    self.results.set(row, encoded, place);
                    self.numbers.changed(row);
                }
                place += 1;
            }
        }
        work.gone.iter().for_each(|gone| self.free_row(gone.row));
    }
}

impl Operator for OverByValue {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let state_fields = self.calls.aggregates.state_fields();
        let row_fields: Vec<FieldRef> = self.rows.fields().iter().chain(self.results.fields()).cloned().collect();
        let width = self.rows.fields().len();
        for snapshot in restored {
            let Some(table) = snapshot.table(TABLE) else { continue };
            let partitions = self.table.restore(table, self.own_groups.clone(), &state_fields)?;
            self.resize();
            self.calls.aggregates.restore(&partitions.slots, &partitions.values)?;
            let Some(rows) = snapshot.table(ROWS) else { continue };
            let rows = self.table.restore(rows, self.own_groups.clone(), &row_fields)?;
            let (columns, results) = rows.values.split_at(width);
            let encoded = self.rows.encode(columns)?;
            let (orders, results) = (self.encode_order(columns)?, self.results.encode(results)?);
            for (row, &slot) in rows.slots.iter().enumerate() {
                let id = self.new_row();
                self.rows.set(id, &encoded, row);
                self.orders.set(id, &orders, row);
                self.results.set(id, &results, row);
                self.partitions[slot as usize].rows.push(id);
            }
            // They come in the order of their arrival.
            for &slot in &partitions.slots {
                let orders = &self.orders;
                self.partitions[slot as usize].rows.sort_by(|left, right| orders.compare_slots(*left, *right));
            }
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let now_ms = context.processing_time_ms;
        let keys: Vec<ArrayRef> = self.partition.iter().map(|&key| batch.records().column(key).clone()).collect();
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        self.resize();
        let is_expired = |slot: &u32| self.table.is_expired(*slot, now_ms);
        let mut expired: Vec<u32> = self.slots.rows.iter().copied().filter(is_expired).collect();
        expired.sort_unstable();
        expired.dedup();
        self.forget(&expired);
        let work = self.edit(&batch)?;
        let after = self.compute(&work)?;
        let encoded = self.results.encode(&after)?;
        let mut old = Vec::new();
        let changes = self.changes(&work, &encoded, &mut old);
        self.emit(&changes, &old, &after)?;
        self.keep(&work, &encoded);
        self.table.written(&self.touched.slots, now_ms);
        let is_empty = |slot: &u32| self.partitions[*slot as usize].rows.is_empty();
        let empty: Vec<u32> = self.touched.slots.iter().copied().filter(is_empty).collect();
        self.calls.aggregates.reset(&empty);
        self.table.remove(&empty)
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let expired = self.table.expire(context.processing_time_ms, EXPIRE_SCAN_MAX);
        self.forget(&expired);
        self.table.remove(&expired)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let taken = self.table.take_beside_rows(scope, KeyTable::live_slots);
        let partitions = self.table.snapshot(&taken, self.calls.aggregates.state(&taken.slots)?)?;
        let all = || self.table.live_slots();
        let (owners, ids, gone) =
            self.numbers.take_by_key(scope, self.rows_len as usize - self.free.len(), &taken, all, {
                |slot| self.partitions[slot as usize].rows.iter().copied()
            });
        let rows = self.rows.fields().iter().cloned().zip(self.rows.columns(&ids)?);
        let results = self.results.fields().iter().cloned().zip(self.results.columns(&ids)?);
        let numbers = self.numbers.numbers(&ids);
        let rows = self.table.snapshot_numbered(ROWS, gone, &owners, &numbers, true, rows.chain(results).collect())?;
        Ok(OperatorSnapshot { tables: vec![partitions, rows], ..Default::default() })
    }

    fn minds_time(&self) -> bool {
        false
    }

    fn wakes(&self) -> Wakes {
        Wakes::NEVER
    }

    fn statistics(&self) -> OperatorStatistics {
        let lists: usize = self.partitions.iter().map(|partition| partition.rows.capacity() * size_of::<u32>()).sum();
        let stores = self.rows.heap_bytes() + self.orders.heap_bytes() + self.results.heap_bytes();
        let own = lists
            + self.partitions.capacity() * size_of::<Partition>()
            + self.free.capacity() * size_of::<u32>()
            + self.touched.heap_bytes();
        let bytes = self.table.heap_bytes() + self.calls.aggregates.heap_bytes() + stores + own;
        OperatorStatistics {
            state_entries: u64::from(self.rows_len) - self.free.len() as u64,
            state_bytes: bytes as u64,
            ..Default::default()
        }
    }
}
