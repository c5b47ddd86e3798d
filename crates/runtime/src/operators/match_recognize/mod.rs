//! MATCH_RECOGNIZE: rows that follow each other in time, matched against a pattern.

mod automaton;
mod matcher;
mod partial;
mod paths;
mod snapshot;
mod values;

use super::late::LateRows;
use super::output::{OutputQueue, record_batch};
use super::window::row_times;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::{SortColumn, SortOptions, lexsort_to_indices};
use arrow::datatypes::{FieldRef, SchemaRef};
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{MatchRecognize, Output};
use base::types::RowType;
use base::{ChangelogBatch, Result};
use matcher::{Arrival, Batch, Match, Matcher};
use partial::{Partial, Partition};
use state::{
    KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots, SortedIdentity, SortedRows, SortedRowsSpec,
};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use values::{Candidate, Rows, Values};

/// The name of the table of partitions, for errors.
const TABLE: &str = "partitions";
/// The most rows that are looked at before their matches are handed out.
const ROWS_MAX: usize = 4096;

/// Rows by processing time, which are looked at as they have come.
#[derive(Debug)]
struct Arrived {
    columns: Vec<ArrayRef>,
    slots: Vec<u32>,
    time_ms: i64,
    next: usize,
}

/// Finds patterns.
///
/// * input, output: inserts. A row is looked at when the watermark reaches its time, in the order of time; by processing time
///   when it comes. A match is given with its last row, or once no match that began earlier can still become one. The times of
///   its rows may be far behind the watermark, as in Flink; MATCH_ROWTIME() is not
/// * state: per partition the rows that wait for the watermark, and the partial matches with their rows
/// * dropped: rows that no partial match holds any more; partial matches when they end, or are too long for WITHIN by the
///   watermark; partitions without either
/// * late rows: a row at or before the watermark is dropped and counted
#[derive(Debug)]
pub struct MatchRecognizeOperator {
    partition: Vec<usize>,
    rowtime: Option<usize>,
    time_name: String,
    order: Vec<(usize, SortOptions)>,
    /// Input columns in the order of the store.
    stored: Vec<usize>,
    input_schema: SchemaRef,
    output_row: RowType,
    own_groups: Range<u16>,

    table: KeyTable,
    /// Rows that wait for the watermark.
    waiting: SortedRows,
    /// By waiting row.
    times: Vec<i64>,
    /// By slot.
    partitions: Vec<Partition>,
    matcher: Matcher,
    output_values: Values,
    /// When slots are to be looked at: a row's time comes, or a partial match gets too old.
    timers: BTreeSet<(i64, u32)>,
    watermark_ms: Option<i64>,
    next_number: u64,

    /// Everything up to this time is to be looked at.
    until_ms: Option<i64>,
    due: VecDeque<u32>,
    arrived: Option<Arrived>,
    slots: Slots,
    late: LateRows,
    output: OutputQueue,
}

impl MatchRecognizeOperator {
    /// The operator of one instance.
    pub fn new(node: &MatchRecognize, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let field = |column: usize| -> FieldRef { input.row.arrow().fields()[column].clone() };
        let order: Vec<(usize, SortOptions)> = node
            .order
            .iter()
            .map(|key| (key.column, SortOptions { descending: key.descending, nulls_first: key.nulls_first }))
            .collect();
        let keys: Vec<(usize, SortOptions)> =
            node.rowtime.iter().map(|&column| (column, SortOptions::default())).chain(order.iter().copied()).collect();
        let is_rest = |column: &usize| !keys.iter().any(|(ordered, _)| ordered == column);
        let rest: Vec<usize> = (0..input.row.len()).filter(is_rest).collect();
        let waiting = SortedRows::new(SortedRowsSpec {
            order: keys.iter().map(|(column, options)| (field(*column), *options)).collect(),
            rest: rest.iter().map(|&column| field(column)).collect(),
            identity: SortedIdentity::None,
        })?;
        let fields = node.partition.iter().map(|&column| field(column)).collect();
        let input_schema = input.row.arrow().clone();
        Ok(MatchRecognizeOperator {
            partition: node.partition.clone(),
            rowtime: node.rowtime,
            time_name: node.rowtime.map_or_else(String::new, |column| input.row.fields()[column].name.clone()),
            stored: keys.iter().map(|(column, _)| *column).chain(rest).collect(),
            order,
            output_row: output.row.clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: TABLE, namespace: None, fields, ttl_ms: None })?,
            waiting,
            times: Vec::new(),
            partitions: Vec::new(),
            matcher: Matcher::new(node, &input_schema)?,
            output_values: Values::new(&node.output)?,
            input_schema,
            timers: BTreeSet::new(),
            watermark_ms: None,
            next_number: 0,
            until_ms: None,
            due: VecDeque::new(),
            arrived: None,
            slots: Slots::default(),
            late: LateRows::default(),
            output: OutputQueue::default(),
        })
    }

    /// Makes room for new slots.
    fn resize(&mut self) {
        let slots = self.table.slots_len();
        self.waiting.resize(slots);
        if self.partitions.len() < slots {
            self.partitions.resize_with(slots, Partition::default);
        }
    }

    /// The slots of rows.
    fn find_slots(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Vec<u32>> {
        let keys: Vec<ArrayRef> = self.partition.iter().map(|&column| columns[column].clone()).collect();
        let batch = KeyBatch { columns: &keys, namespaces: None, rows };
        self.table.lookup_or_insert(batch, &mut self.slots)?;
        self.resize();
        self.slots.rows.iter().for_each(|&slot| self.partitions[slot as usize].is_live = true);
        Ok(std::mem::take(&mut self.slots.rows))
    }

    /// Lets a row wait for the watermark.
    fn wait(&mut self, slot: u32, encoded: &state::SortedBatch, row: usize, time_ms: i64) {
        let added = self.waiting.insert(slot, encoded, row) as usize;
        if added >= self.times.len() {
            self.times.resize(added + 1, 0);
        }
        self.times[added] = time_ms;
        self.timers.insert((time_ms, slot));
    }

    /// Rows of one moment of processing time in their order.
    fn sort(&self, batch: ChangelogBatch) -> Result<ChangelogBatch> {
        let column = |(column, options): &(usize, SortOptions)| SortColumn {
            values: batch.records().column(*column).clone(),
            options: Some(*options),
        };
        let columns: Vec<SortColumn> = self.order.iter().map(column).collect();
        if columns.is_empty() {
            return Ok(batch);
        }
        let rows: UInt32Array = lexsort_to_indices(&columns, None)?;
        batch.take(&rows)
    }

    /// Looks at the next rows whose time has come. Whether there were any.
    fn step(&mut self, rows_max: usize) -> Result<bool> {
        if let Some(arrived) = self.arrived.take() {
            self.look_at_arrived(arrived)?;
            return Ok(true);
        }
        let Some(until_ms) = self.until_ms else { return Ok(false) };
        while self.due.len() < rows_max {
            let Some((time_ms, slot)) = self.timers.first().copied() else { break };
            if time_ms > until_ms {
                break;
            }
            self.timers.pop_first();
            // A key may be gone, and its slot free or that of another key: then there is nothing to see.
            let partition = &mut self.partitions[slot as usize];
            if partition.is_live && !std::mem::replace(&mut partition.is_due, true) {
                self.due.push_back(slot);
            }
        }
        if self.due.is_empty() {
            self.until_ms = None;
            return Ok(false);
        }
        self.look_at_due(until_ms)?;
        Ok(true)
    }

    /// Looks at waiting rows, partition after partition.
    fn look_at_due(&mut self, until_ms: i64) -> Result<()> {
        let (mut rows, mut slots, mut finished) = (Vec::new(), Vec::new(), Vec::new());
        let mut parts: Vec<u32> = Vec::new();
        while let Some(&slot) = self.due.front()
            && rows.len() < ROWS_MAX
        {
            let times = &self.times;
            let room = ROWS_MAX - rows.len();
            let taken = self.waiting.take_front(slot, room, |row| times[row as usize] <= until_ms);
            slots.extend(std::iter::repeat_n(slot, taken.len()));
            parts.push(slot);
            if taken.len() < room {
                self.due.pop_front();
                self.partitions[slot as usize].is_due = false;
                finished.push(slot);
            }
            rows.extend(taken);
        }
        let times: Vec<i64> = rows.iter().map(|&row| self.times[row as usize]).collect();
        let columns = self.in_order_of_input(self.waiting.columns(&rows)?);
        self.waiting.release();
        self.table.changed(&parts);
        let mut matches = self.look_at(&columns, &slots, |row| times[row])?;
        for &slot in &finished {
            let mut out = Vec::new();
            self.matcher.advance(slot, until_ms, &mut self.partitions[slot as usize], &mut out)?;
            matches.extend(out.into_iter().map(|found| (0, found)));
        }
        // Partition after partition, as their first rows come.
        let places: HashMap<u32, usize> = parts.iter().enumerate().map(|(place, &slot)| (slot, place)).collect();
        matches.sort_by_key(|(_, found)| places.get(&found.slot).copied());
        self.hand_out(&matches)?;
        self.forget_idle(&finished)
    }

    /// Looks at rows as they have come.
    fn look_at_arrived(&mut self, mut arrived: Arrived) -> Result<()> {
        let rows = (arrived.slots.len() - arrived.next).min(ROWS_MAX);
        let columns: Vec<ArrayRef> = arrived.columns.iter().map(|column| column.slice(arrived.next, rows)).collect();
        let slots = arrived.slots[arrived.next..arrived.next + rows].to_vec();
        self.table.changed(&slots);
        let time_ms = arrived.time_ms;
        let mut matches = self.look_at(&columns, &slots, |_| time_ms)?;
        matches.sort_by_key(|(row, _)| *row);
        self.hand_out(&matches)?;
        arrived.next += rows;
        if arrived.next < arrived.slots.len() {
            self.arrived = Some(arrived);
            return Ok(());
        }
        let mut touched = arrived.slots;
        touched.sort_unstable();
        touched.dedup();
        self.forget_idle(&touched)
    }

    /// Looks at rows, those of a partition in their order. The matches with the row that completed them.
    fn look_at(
        &mut self,
        columns: &[ArrayRef],
        slots: &[u32],
        time_ms: impl Fn(usize) -> i64,
    ) -> Result<Vec<(u32, Match)>> {
        let mut matches = Vec::new();
        if slots.is_empty() {
            return Ok(matches);
        }
        let encoded = self.matcher.paths.encode(columns)?;
        let satisfied = self.matcher.satisfied(columns, slots.len());
        let batch = Batch { columns, encoded: &encoded, satisfied };
        let mut found = Vec::new();
        // The first rows of all partitions, then the second ones, so that conditions see many rows at once.
        for wave in waves(slots) {
            let arrivals: Vec<Arrival> = wave
                .iter()
                .map(|&row| {
                    self.next_number += 1;
                    let (slot, time_ms) = (slots[row as usize], time_ms(row as usize));
                    Arrival { slot, row, time_ms, number: self.next_number }
                })
                .collect();
            self.matcher.take(&arrivals, &batch, &mut self.partitions, &mut found)?;
            if let Some(within_ms) = self.matcher.within_ms() {
                // A partial match may have begun with each of them.
                let partitions = &self.partitions;
                let open = arrivals.iter().filter(|arrival| !partitions[arrival.slot as usize].is_idle());
                self.timers.extend(open.map(|arrival| (arrival.time_ms.saturating_add(within_ms), arrival.slot)));
            }
            let mut row_of = arrivals.iter().map(|arrival| (arrival.slot, arrival.row)).collect::<Vec<_>>();
            row_of.sort_unstable();
            let row = |slot: u32| row_of.binary_search_by_key(&slot, |(slot, _)| *slot).map_or(0, |at| row_of[at].1);
            matches.extend(found.drain(..).map(|found| (row(found.slot), found)));
        }
        Ok(matches)
    }

    /// Columns of the store as columns of the input.
    fn in_order_of_input(&self, stored: Vec<ArrayRef>) -> Vec<ArrayRef> {
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.stored.len()];
        for (&column, values) in self.stored.iter().zip(stored) {
            columns[column] = Some(values);
        }
        columns.into_iter().flatten().collect()
    }

    /// Gives matches.
    fn hand_out(&mut self, matches: &[(u32, Match)]) -> Result<()> {
        for matches in matches.chunks(ROWS_MAX) {
            let slots: Vec<u32> = matches.iter().map(|(_, found)| found.slot).collect();
            let candidate =
                |(_, found): &(u32, Match)| Candidate { path: found.path, next: None, time_ms: found.time_ms };
            let candidates: Vec<Candidate> = matches.iter().map(candidate).collect();
            let rows = Rows { paths: &self.matcher.paths, current: &[], schema: &self.input_schema };
            let mut columns = self.table.keys(&slots)?;
            columns.extend(self.output_values.columns(&candidates, rows)?);
            let records = record_batch(self.output_row.arrow(), columns, matches.len())?;
            self.output.push(ChangelogBatch::inserts(records));
            matches.iter().for_each(|(_, found)| self.matcher.paths.release(found.path));
        }
        Ok(())
    }

    /// Drops partitions of which nothing is kept.
    fn forget_idle(&mut self, slots: &[u32]) -> Result<()> {
        let mut idle = Vec::new();
        for &slot in slots {
            let partition = &mut self.partitions[slot as usize];
            if partition.is_live && !partition.is_due && partition.is_idle() && self.waiting.len(slot) == 0 {
                self.matcher.forget(partition);
                idle.push(slot);
            }
        }
        self.table.remove(&idle)
    }

    /// All partial and complete matches.
    fn partials(&self) -> impl Iterator<Item = &Partial> + '_ {
        let all = |partition: &'_ Partition| -> usize { partition.partial.len() + partition.complete.len() };
        self.partitions
            .iter()
            .filter(move |partition| all(partition) > 0)
            .flat_map(|partition| partition.partial.as_slice().iter().chain(partition.complete.as_slice()))
    }
}

/// The rows in groups that have at most one row of every slot: the first ones, then the second ones.
fn waves(slots: &[u32]) -> Vec<Vec<u32>> {
    let mut seen: HashMap<u32, usize> = HashMap::new();
    let mut waves: Vec<Vec<u32>> = Vec::new();
    for (row, &slot) in slots.iter().enumerate() {
        let wave = seen.entry(slot).or_insert(0);
        if *wave == waves.len() {
            waves.push(Vec::new());
        }
        waves[*wave].push(row as u32);
        *wave += 1;
    }
    waves
}

impl Operator for MatchRecognizeOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        self.restore(restored)
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let Some(rowtime) = self.rowtime else {
            let batch = self.sort(batch)?;
            let columns = batch.records().columns().to_vec();
            let slots = self.find_slots(&columns, batch.num_rows())?;
            self.arrived = Some(Arrived { columns, slots, time_ms: context.processing_time_ms, next: 0 });
            return Ok(());
        };
        self.watermark_ms = self.watermark_ms.max(context.watermark_ms);
        let times = row_times(batch.records(), rowtime)?;
        let in_time: Vec<u32> = match self.watermark_ms {
            None => (0..batch.num_rows() as u32).collect(),
            Some(watermark_ms) => {
                let is_late = |row: &u32| times.value(*row as usize) <= watermark_ms;
                let (late, in_time): (Vec<u32>, Vec<u32>) = (0..batch.num_rows() as u32).partition(is_late);
                late.iter().for_each(|&row| self.late.add(&self.time_name, times.value(row as usize), watermark_ms));
                in_time
            }
        };
        if in_time.is_empty() {
            return Ok(());
        }
        let batch = if in_time.len() == batch.num_rows() { batch } else { batch.take(&in_time.clone().into())? };
        let slots = self.find_slots(batch.records().columns(), batch.num_rows())?;
        let stored: Vec<ArrayRef> = self.stored.iter().map(|&index| batch.records().column(index).clone()).collect();
        let encoded = self.waiting.encode(&stored)?;
        for (row, (&slot, &from)) in slots.iter().zip(&in_time).enumerate() {
            self.wait(slot, &encoded, row, times.value(from as usize));
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        if self.rowtime.is_some() {
            self.watermark_ms = self.watermark_ms.max(Some(watermark_ms));
            self.until_ms = self.watermark_ms;
        }
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        if self.rowtime.is_none() {
            self.until_ms = Some(context.processing_time_ms);
        }
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let rows_max = context.rows_max.max(1);
        loop {
            if let Some(batch) = self.output.next(rows_max) {
                return Ok(Some(batch));
            }
            if !self.step(ROWS_MAX)? {
                return Ok(None);
            }
        }
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        self.state(scope)
    }

    fn wakes(&self) -> Wakes {
        let first = self.timers.first().map(|(time_ms, _)| *time_ms);
        if self.rowtime.is_some() { Wakes::at_watermark(first) } else { Wakes::at_processing_time(first) }
    }

    fn statistics(&self) -> OperatorStatistics {
        let own = self.partitions.capacity() * size_of::<Partition>()
            + self.partials().count() * size_of::<Partial>()
            + self.timers.len() * size_of::<(i64, u32)>()
            + self.times.capacity() * size_of::<i64>();
        let kept = self.waiting.heap_bytes() + self.matcher.paths.heap_bytes() + self.table.heap_bytes();
        self.late.report(OperatorStatistics {
            state_entries: (self.waiting.rows() + self.matcher.paths.rows()) as u64,
            state_bytes: (kept + own) as u64,
            ..Default::default()
        })
    }
}
