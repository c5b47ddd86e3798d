//! DISTINCT over input that only adds rows, without sets of values by pane or window.
//!
//! The panes of a value make runs: stretches in which each pane shares a window with the next one. In the windows of a run the
//! value counts once. So it comes in with the first pane of the run and leaves with the last one, and nothing need be known of
//! it in between: a row costs one look for its value, and a window no more than a sum.

use super::super::super::aggregates::{Aggregates, SlotRows};
use super::grid::{Grid, Near};
use super::layer::PaneRows;
use super::slots::{NONE, PaneSlots};
use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{filter, take};
use arrow::datatypes::{FieldRef, Int64Type, SchemaRef};
use base::function::{self, AggregateOptions, Merging, Occurrence, PaneValues};
use base::plan::AggregateCall;
use base::types::{COLUMN_CALL_KEY, COLUMN_ID_KEY, RowType};
use base::{Error, Result, RowKind};
use state::{KeyTable, Scope, TableSnapshot};
use std::sync::Arc;

/// Calls with the same argument and FILTER.
#[derive(Debug)]
pub(super) struct DistinctCalls {
    /// The numbers of the calls.
    calls: Vec<usize>,
    argument: usize,
    filter: Option<usize>,
    /// The argument alone.
    schema: SchemaRef,
    /// The name of their table in snapshots, what it holds, and the calls that it is for.
    table: String,
    meaning: String,
    sql: String,
    values: Box<dyn PaneValues>,
    /// The calls without DISTINCT. A pane has two slots: for values that come in with it, and for those that leave with it. A
    /// window has the first of them.
    inner: Aggregates,
    /// Where [`DistinctCalls::tidy`] goes on.
    next_key: usize,
    new: Vec<Occurrence>,
}

/// Where rows belong.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    pub grid: Grid,
    /// The end of the last window that was given.
    pub position: Option<i64>,
    pub panes: &'a PaneSlots,
    /// By key: the slot of its window.
    pub windows: &'a [u32],
    pub keys: &'a [u32],
    /// The numbers of the panes of these keys.
    pub numbers: &'a [i64],
    /// The slots of these panes; [`NONE`] if they are not kept.
    pub slots: &'a [u32],
}

/// The slots of values that come in with panes, or that are in windows.
pub(super) fn coming(slots: &[u32]) -> Vec<u32> {
    slots.iter().map(|slot| 2 * slot).collect()
}

/// The slots of values that leave with panes.
pub(super) fn leaving(slots: &[u32]) -> Vec<u32> {
    slots.iter().map(|slot| 2 * slot + 1).collect()
}

/// The number of the last pane that counts no more.
fn over(grid: Grid, position: Option<i64>) -> i64 {
    position.map_or(i64::MIN, |position| grid.number(grid.over(position)))
}

/// Rows, and slots that their values come to.
#[derive(Default)]
struct Moves {
    rows: Vec<u32>,
    slots: Vec<u32>,
}

/// Changes of what comes and leaves with panes.
#[derive(Default)]
struct Steps {
    added: Moves,
    taken: Moves,
}

impl Moves {
    fn push(&mut self, row: u32, slot: u32) {
        self.rows.push(row);
        self.slots.push(slot);
    }
}

impl Places<'_> {
    fn slot(&self, key: u32, number: i64) -> Result<u32> {
        let found = self.panes.find(key, self.grid.numbered(number));
        found.ok_or_else(|| Error::internal("a value in a pane without rows"))
    }

    /// Where a value counts that comes in with the pane of this number.
    fn coming(&self, row: usize, number: i64) -> Result<u32> {
        let key = self.keys[row];
        let is_in = self.position.is_some_and(|position| self.grid.numbered(number) <= position);
        Ok(2 * match is_in {
            true => self.windows[key as usize],
            false if number == self.numbers[row] => self.slots[row],
            false => self.slot(key, number)?,
        })
    }

    /// Takes apart when the value of a row comes and leaves now. `near` are the panes near that of the row, by number.
    fn steps(&self, new: &Occurrence, near: Near, steps: &mut Steps) -> Result<()> {
        let row = new.row as usize;
        let (begins, ends) = (new.before < near.first, new.after > near.last);
        // The pane of the row lies within a run.
        let is_between = !begins && !ends && new.after <= self.near(new.before).last;
        if !ends && !is_between {
            steps.taken.push(new.row, self.coming(row, new.after)?);
        }
        if begins {
            steps.added.push(new.row, self.coming(row, self.numbers[row])?);
        }
        // A window of CUMULATE begins anew: nothing leaves it.
        if self.grid.is_cumulate {
            return Ok(());
        }
        if !begins && !is_between {
            let slot = match new.before_slot {
                Occurrence::NO_SLOT => self.slot(self.keys[row], new.before)?,
                slot => slot,
            };
            steps.taken.push(new.row, 2 * slot + 1);
        }
        if ends {
            steps.added.push(new.row, 2 * self.slots[row] + 1);
        }
        Ok(())
    }

    /// The panes near a pane, by number.
    fn near(&self, number: i64) -> Near {
        let near = self.grid.near(self.grid.numbered(number));
        Near { first: self.grid.number(near.first), last: self.grid.number(near.last) }
    }
}

impl DistinctCalls {
    /// Takes those of the calls that can be computed like this, and leaves the numbers of the others.
    pub fn of(calls: &[AggregateCall], input: &RowType, others: &mut Vec<usize>) -> Result<Vec<DistinctCalls>> {
        let mut groups: Vec<(Box<dyn PaneValues>, Vec<usize>)> = Vec::new();
        let mut left = Vec::new();
        for &number in others.iter() {
            let call = &calls[number];
            let is_alike = |other: &AggregateCall| (&other.arguments, other.filter) == (&call.arguments, call.filter);
            let accumulator = accumulator(call, input, &call.options)?;
            let values = (accumulator.merging() == Merging::Exact).then(|| accumulator.pane_values()).transpose()?;
            match (values.flatten(), groups.iter_mut().find(|(_, numbers)| is_alike(&calls[numbers[0]]))) {
                (None, _) => left.push(number),
                (Some(_), Some((_, numbers))) => numbers.push(number),
                (Some(values), None) => groups.push((values, vec![number])),
            }
        }
        *others = left;
        let made = groups.into_iter().enumerate();
        made.map(|(at, (values, numbers))| DistinctCalls::new(at, values, numbers, calls, input)).collect()
    }

    fn new(
        at: usize,
        values: Box<dyn PaneValues>,
        numbers: Vec<usize>,
        calls: &[AggregateCall],
        input: &RowType,
    ) -> Result<DistinctCalls> {
        let first = &calls[numbers[0]];
        let argument = first.arguments[0];
        let alone = RowType::new(vec![input.fields()[argument].clone()]);
        let plain = |&number: &usize| {
            let options = AggregateOptions { distinct: false, retract: true };
            AggregateCall { arguments: vec![0], filter: None, options, ..calls[number].clone() }
        };
        let column = |column: usize| {
            let metadata = input.arrow().fields()[column].metadata();
            metadata.get(COLUMN_ID_KEY).map_or(input.fields()[column].name.as_str(), String::as_str)
        };
        let filter = first.filter.map(|filter| format!(" where {}", column(filter)));
        let plain: Vec<AggregateCall> = numbers.iter().map(plain).collect();
        Ok(DistinctCalls {
            inner: Aggregates::new(&plain, &alone)?,
            schema: alone.arrow().clone(),
            table: format!("distinct.{at}"),
            meaning: format!("distinct {}{}", column(argument), filter.unwrap_or_default()),
            sql: numbers.iter().map(|&number| calls[number].sql.as_str()).collect::<Vec<_>>().join(", "),
            calls: numbers,
            argument,
            filter: first.filter,
            values,
            next_key: 0,
            new: Vec::new(),
        })
    }

    /// The numbers of the calls.
    pub fn calls(&self) -> &[usize] {
        &self.calls
    }

    /// Makes slots and keys usable.
    pub fn resize(&mut self, slots: usize, keys: usize) {
        self.inner.resize(2 * slots);
        self.values.resize(keys);
    }

    /// Adds rows to panes.
    pub fn add(&mut self, rows: &PaneRows<'_>, places: &Places<'_>) -> Result<()> {
        let column = |index: usize| -> Result<ArrayRef> {
            let column = rows.batch.column(index);
            Ok(match rows.rows {
                None => column.clone(),
                Some(rows) => take(column.as_ref(), rows, None)?,
            })
        };
        let selected = self.filter.map(column).transpose()?;
        self.apply(&column(self.argument)?, selected.as_ref().map(|selected| selected.as_boolean()), places)
    }

    fn apply(&mut self, values: &ArrayRef, selected: Option<&BooleanArray>, places: &Places<'_>) -> Result<()> {
        let Places { grid, position, keys, numbers, slots, .. } = *places;
        self.new.clear();
        let rows = function::PaneRows { values, selected, keys, panes: numbers, slots };
        self.values.insert(&rows, over(grid, position), &mut self.new)?;
        let mut steps = Steps::default();
        let mut look: Option<(i64, Near)> = None;
        for new in &self.new {
            let number = numbers[new.row as usize];
            let near = match look {
                Some((looked, near)) if looked == number => near,
                _ => places.near(number),
            };
            look = Some((number, near));
            places.steps(new, near, &mut steps)?;
        }
        let batch = RecordBatch::try_new(self.schema.clone(), vec![values.clone()])?;
        let kinds = vec![RowKind::Delete; steps.taken.rows.len()];
        for (Moves { rows, slots }, kinds) in [(steps.added, None), (steps.taken, Some(kinds.as_slice()))] {
            self.inner.update(&batch, SlotRows { slots: &slots, kinds, rows: Some(&rows.into()) })?;
        }
        Ok(())
    }

    /// Panes come into windows. Both are given by [`coming`].
    pub fn enter(&mut self, windows: &[u32], panes: &[u32]) -> Result<()> {
        self.inner.merge_slots(windows, panes)
    }

    /// Panes leave windows. These are given by [`coming`], those by [`leaving`].
    pub fn leave(&mut self, windows: &[u32], panes: &[u32]) -> Result<()> {
        self.inner.unmerge_slots(windows, panes)
    }

    /// The results of windows, given by [`coming`].
    pub fn values(&self, windows: &[u32]) -> Result<Vec<ArrayRef>> {
        self.inner.values(windows)
    }

    /// Puts slots back to the initial state: all that [`coming`] and [`leaving`] give.
    pub fn reset(&mut self, slots: &[u32]) {
        self.inner.reset(slots);
    }

    /// Nothing is left of these keys.
    pub fn forget(&mut self, keys: &[u32]) {
        keys.iter().for_each(|&key| self.values.forget(key as usize..key as usize + 1, i64::MAX));
    }

    /// A window has been given: forgets values of some keys. Each key has its turn once in twice the size of a window: new
    /// values take the room of those that are over, so this is for keys that get fewer than they did.
    pub fn tidy(&mut self, grid: Grid, position: i64, keys: usize) {
        let count = keys.div_ceil(2 * grid.windows_max());
        let end = keys.min(self.next_key + count);
        self.values.forget(self.next_key.min(end)..end, over(grid, Some(position)));
        self.next_key = if end == keys { 0 } else { end };
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        self.values.heap_bytes() + self.inner.heap_bytes() + self.new.capacity() * size_of::<Occurrence>()
    }
}

/// State in checkpoints: the values and their panes. What comes and leaves with a pane follows from them.
impl DistinctCalls {
    /// The name of the table.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The columns of the table.
    pub fn fields(&self) -> Vec<FieldRef> {
        let mut fields = self.values.state_fields();
        for field in &mut fields {
            let mut metadata = field.metadata().clone();
            metadata.insert(COLUMN_ID_KEY.into(), format!("{} {}", self.meaning, field.name()));
            metadata.insert(COLUMN_CALL_KEY.into(), self.sql.clone());
            *field = Arc::new(field.as_ref().clone().with_metadata(metadata));
        }
        fields
    }

    /// The values of keys of a table.
    pub fn snapshot(
        &mut self,
        keys: &KeyTable,
        scope: Scope,
        grid: Grid,
        position: Option<i64>,
    ) -> Result<TableSnapshot> {
        let fields = self.fields();
        let saved = self.values.save(scope == Scope::Changes, over(grid, position))?;
        let columns = fields.into_iter().zip(saved.columns).collect();
        keys.snapshot_numbered(&self.table, saved.gone, &saved.keys, &saved.numbers, false, columns)
    }

    /// Takes over values of these keys. All panes and windows are there.
    pub fn restore(&mut self, keys: &[u32], columns: &[ArrayRef], places: Places<'_>) -> Result<()> {
        let over = over(places.grid, places.position);
        let numbers = columns[1].as_primitive::<Int64Type>();
        let is_live: BooleanArray = numbers.values().iter().map(|number| Some(*number > over)).collect();
        let values = filter(columns[0].as_ref(), &is_live)?;
        let live = || is_live.values().set_indices();
        let numbers: Vec<i64> = live().map(|at| numbers.value(at)).collect();
        let keys: Vec<u32> = live().map(|at| keys[at]).collect();
        let pane = |(&key, &number): (&u32, &i64)| places.panes.find(key, places.grid.numbered(number)).unwrap_or(NONE);
        let slots: Vec<u32> = keys.iter().zip(&numbers).map(pane).collect();
        self.apply(&values, None, &Places { keys: &keys, numbers: &numbers, slots: &slots, ..places })
    }
}

fn accumulator(
    call: &AggregateCall,
    input: &RowType,
    options: &AggregateOptions,
) -> Result<Box<dyn function::Accumulator>> {
    let types: Vec<_> = call.arguments.iter().map(|&column| input.fields()[column].sql_type.clone()).collect();
    call.function.accumulator(&types, options)
}
