//! SESSION as a table function: appends the session of a row, which is known when the session is over.

use super::output::record_batch;
use super::sessions::{Contents, Placed, SessionWindows};
use super::window_table::{WindowColumns, timestamps};
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, AsArray, UInt8Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, SchemaRef, UInt8Type};
use base::connector::Instance;
use base::plan::{Output, WindowTable};
use base::{ChangelogBatch, Error, Result, RowKind};
use state::{OperatorSnapshot, RowNumbers, RowStore, Scope};
use std::collections::VecDeque;
use std::sync::Arc;

/// No row.
const NONE: u32 = u32::MAX;
/// The kinds in the order of their numbers in snapshots.
const KINDS: [RowKind; 4] = [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete];

/// Appends window_start, window_end and window_time.
///
/// * input: any kinds
/// * output: the same kinds, when the watermark (or the clock) reaches the last millisecond of a session; in the order of ends,
///   then of the sessions' first rows, then of the rows
/// * state: the rows of open sessions, each with the start of its own span; the watermark
/// * dropped: when the session is over
/// * late rows: a row that touches no open session and whose own span is over is dropped and counted
/// * NULL in the time column fails the job, or the row is dropped and counted
#[derive(Debug)]
pub struct SessionTableOperator {
    windows: SessionWindows,
    rows: SessionRows,
    is_instant: bool,
    schema: SchemaRef,
    /// Rows of sessions that are over, with their session's span: the next to be given out.
    over: VecDeque<(u32, i64, i64)>,
}

/// Rows of sessions, as linked lists.
#[derive(Debug)]
struct SessionRows {
    store: RowStore,
    kinds: Vec<RowKind>,
    /// Numbers rows in the order of arrival.
    arrivals: Vec<u64>,
    arrived: u64,
    /// By row: its key, and where its own span starts.
    keys: Vec<u32>,
    starts: Vec<i64>,
    next: Vec<u32>,
    free: Vec<u32>,
    live: usize,
    numbers: RowNumbers,
    /// By session: the first and the last row.
    heads: Vec<u32>,
    tails: Vec<u32>,
}

impl SessionRows {
    fn append(&mut self, session: u32, key: u32, start: i64, kind: RowKind) -> u32 {
        let row = self.free.pop().unwrap_or_else(|| {
            self.kinds.push(kind);
            self.arrivals.push(0);
            self.keys.push(NONE);
            self.starts.push(0);
            self.next.push(NONE);
            self.kinds.len() as u32 - 1
        });
        let index = row as usize;
        (self.kinds[index], self.keys[index], self.starts[index]) = (kind, key, start);
        (self.arrivals[index], self.next[index]) = (self.arrived, NONE);
        self.arrived += 1;
        self.live += 1;
        self.numbers.added(row);
        let tail = std::mem::replace(&mut self.tails[session as usize], row);
        match tail {
            NONE => self.heads[session as usize] = row,
            tail => self.next[tail as usize] = row,
        }
        row
    }

    /// The rows of a session.
    fn of(&self, session: u32) -> impl Iterator<Item = u32> + '_ {
        let first = Some(self.heads[session as usize]).filter(|row| *row != NONE);
        std::iter::successors(first, |row| Some(self.next[*row as usize]).filter(|next| *next != NONE))
    }

    fn forget(&mut self, session: u32) {
        self.heads[session as usize] = NONE;
        self.tails[session as usize] = NONE;
    }

    /// Takes the rows of a session out, in the order of their arrival. They can be read until they are released.
    fn close(&mut self, session: u32) -> Vec<u32> {
        let mut rows: Vec<u32> = self.of(session).collect();
        // Sessions that were joined have their rows one behind the other.
        rows.sort_unstable_by_key(|&row| self.arrivals[row as usize]);
        rows.iter().for_each(|&row| self.numbers.removed(row));
        self.live -= rows.len();
        self.forget(session);
        rows
    }

    /// The rows of a snapshot in the order of their arrival, and the numbers of those that are gone ([`RowNumbers::take`]).
    fn take(&mut self, scope: Scope) -> (Vec<u32>, Option<Vec<u32>>) {
        let mut numbers = std::mem::take(&mut self.numbers);
        let all = || {
            let mut rows: Vec<u32> = (0..self.heads.len() as u32).flat_map(|session| self.of(session)).collect();
            rows.sort_unstable_by_key(|row| self.arrivals[*row as usize]);
            rows
        };
        let taken = numbers.take(scope, self.live, all);
        self.numbers = numbers;
        taken
    }

    fn release(&mut self, rows: &[u32]) {
        rows.iter().for_each(|&row| self.store.clear(row));
        self.free.extend_from_slice(rows);
    }

    fn heap_bytes(&self) -> usize {
        let links = self.next.capacity() + self.free.capacity() + self.heads.capacity() + self.tails.capacity();
        self.store.heap_bytes()
            + self.kinds.capacity()
            + (self.arrivals.capacity() + self.starts.capacity()) * size_of::<u64>()
            + (links + self.keys.capacity()) * size_of::<u32>()
            + self.numbers.heap_bytes()
    }
}

impl Contents for SessionRows {
    fn resize(&mut self, slots: usize) {
        self.heads.resize(slots, NONE);
        self.tails.resize(slots, NONE);
    }

    fn add(&mut self, batch: &ChangelogBatch, placed: Placed<'_>) -> Result<()> {
        let encoded = self.store.encode(batch.records().columns())?;
        for (at, &row) in placed.rows.iter().enumerate() {
            let kind = batch.kind(row as usize);
            let added = self.append(placed.sessions[at], placed.keys[at], placed.starts[at], kind);
            self.store.set(added, &encoded, row as usize);
        }
        Ok(())
    }

    fn merge(&mut self, into: u32, from: u32) -> Result<()> {
        let (head, tail) = (self.heads[from as usize], self.tails[from as usize]);
        if head == NONE {
            return Ok(());
        }
        match std::mem::replace(&mut self.tails[into as usize], tail) {
            NONE => self.heads[into as usize] = head,
            last => self.next[last as usize] = head,
        }
        self.forget(from);
        Ok(())
    }
}

impl SessionTableOperator {
    /// The operator of one instance.
    ///
    /// # Errors
    /// Keys of a type that cannot be a key.
    pub fn new(
        node: &WindowTable,
        input: &Output,
        output: &Output,
        instance: Instance,
        drops_null: bool,
    ) -> Result<Self> {
        Ok(SessionTableOperator {
            windows: SessionWindows::new(&node.window, &node.partition, input, instance, drops_null)?,
            rows: SessionRows {
                store: RowStore::new(input.row.arrow().fields().to_vec())?,
                kinds: Vec::new(),
                arrivals: Vec::new(),
                arrived: 0,
                keys: Vec::new(),
                starts: Vec::new(),
                next: Vec::new(),
                free: Vec::new(),
                live: 0,
                numbers: RowNumbers::default(),
                heads: Vec::new(),
                tails: Vec::new(),
            },
            is_instant: node.window.time_zone.is_some(),
            schema: output.row.arrow().clone(),
            over: VecDeque::new(),
        })
    }

    /// Takes sessions that are over out of the state; their rows wait to be given out.
    fn close(&mut self, sessions: &[u32]) -> Result<()> {
        let (starts, ends) = self.windows.spans(sessions);
        for ((&session, start), end) in sessions.iter().zip(starts).zip(ends) {
            self.over.extend(self.rows.close(session).into_iter().map(|row| (row, start, end)));
        }
        self.windows.remove(sessions)
    }
}

impl Operator for SessionTableOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let fields: Vec<FieldRef> =
            std::iter::once(kind_field()).chain(self.rows.store.fields().iter().cloned()).collect();
        for table in self.windows.restored(restored) {
            let (keys, columns) = self.windows.restore_rows(table, &fields)?;
            let starts = columns[0].as_primitive::<Int64Type>().values();
            let kinds = columns[1].as_primitive::<UInt8Type>();
            let encoded = self.rows.store.encode(&columns[2..])?;
            for (row, (&key, &start)) in keys.iter().zip(starts).enumerate() {
                let kind = KINDS.get(usize::from(kinds.value(row)));
                let kind = *kind.ok_or_else(|| Error::internal(format!("row kind {}", kinds.value(row))))?;
                let session = self.windows.join(key, start, &mut self.rows)?;
                let added = self.rows.append(session, key, start, kind);
                self.rows.store.set(added, &encoded, row);
            }
        }
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        self.windows.add(batch, context, &mut self.rows)
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        self.windows.on_watermark(watermark_ms);
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        self.windows.on_processing_time(context);
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let rows_max = context.rows_max.max(1);
        while self.over.is_empty() {
            let sessions = self.windows.next_over(rows_max);
            if sessions.is_empty() {
                return Ok(None);
            }
            self.close(&sessions)?;
        }
        let given: Vec<(u32, i64, i64)> = self.over.drain(..rows_max.min(self.over.len())).collect();
        let rows: Vec<u32> = given.iter().map(|(row, ..)| *row).collect();
        let starts: Vec<i64> = given.iter().map(|(_, start, _)| *start).collect();
        let ends: Vec<i64> = given.iter().map(|(.., end)| *end).collect();
        let mut columns = self.rows.store.columns(&rows)?;
        let windows = WindowColumns { assigner: self.windows.assigner(), is_instant: self.is_instant };
        columns.extend([timestamps(&starts), timestamps(&ends), windows.time(&ends)]);
        let kinds: Vec<RowKind> = rows.iter().map(|&row| self.rows.kinds[row as usize]).collect();
        self.rows.release(&rows);
        Ok(Some(ChangelogBatch::new(record_batch(&self.schema, columns, given.len())?, kinds)))
    }

    fn keep_late(&mut self) -> bool {
        self.windows.keep_late();
        true
    }

    fn take_late(&mut self) -> Vec<ChangelogBatch> {
        self.windows.take_late()
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let (taken, gone) = self.rows.take(scope);
        let held = &self.rows;
        let number = |row: &u32| {
            let kind = held.kinds[*row as usize];
            KINDS.iter().position(|known| *known == kind).map(|number| number as u8)
        };
        let kinds: UInt8Array = taken.iter().map(number).collect();
        let mut kept = vec![(kind_field(), Arc::new(kinds) as ArrayRef)];
        kept.extend(held.store.fields().iter().cloned().zip(held.store.columns(&taken)?));
        let keys: Vec<u32> = taken.iter().map(|&row| held.keys[row as usize]).collect();
        let starts = taken.iter().map(|&row| held.starts[row as usize]).collect();
        self.windows.snapshot_rows(gone, &keys, &held.numbers.numbers(&taken), starts, kept)
    }

    fn wakes(&self) -> Wakes {
        self.windows.wakes()
    }

    fn statistics(&self) -> OperatorStatistics {
        self.windows.statistics(self.rows.heap_bytes())
    }
}

fn kind_field() -> FieldRef {
    Arc::new(Field::new("kind", DataType::UInt8, true))
}
