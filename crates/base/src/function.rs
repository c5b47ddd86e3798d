//! Functions as Arrow kernels: scalar functions, aggregate functions and their accumulators.

use crate::changelog::RowKind;
use crate::error::{Error, Result};
use crate::types::SqlType;
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::datatypes::FieldRef;
use std::fmt::Debug;
use std::ops::Range;

/// An argument as a function sees it while the statement is planned.
#[derive(Debug, Clone)]
pub struct Argument {
    /// Its type.
    pub sql_type: SqlType,
    /// Its value if it is a constant: an array of one row.
    pub constant: Option<ArrayRef>,
}

/// What a scalar function may know besides its arguments.
#[derive(Debug, Clone)]
pub struct FunctionContext {
    /// `table.local-time-zone`.
    pub time_zone: chrono_tz::Tz,
    /// `table.exec.legacy-cast-behaviour`: a cast that fails gives NULL.
    pub legacy_cast: bool,
}

/// A scalar function of Flink SQL, or an operator with the name of its symbol (`+`, `CAST`).
pub trait ScalarFunction: Debug + Send + Sync {
    /// The name, upper case.
    fn name(&self) -> &str;

    /// The result type for these arguments.
    ///
    /// # Errors
    /// Arguments that Flink rejects: the error names the function and the types.
    fn return_type(&self, arguments: &[Argument]) -> Result<SqlType>;

    /// One value per row, of the Arrow type of `result`. Every array has `rows` rows, or one row if it is a constant.
    ///
    /// # Errors
    /// Values that Flink fails the job for.
    fn evaluate(
        &self,
        arguments: &[ArrayRef],
        types: &[SqlType],
        result: &SqlType,
        rows: usize,
        context: &FunctionContext,
    ) -> Result<ArrayRef>;

    /// Whether equal arguments give equal results.
    fn is_deterministic(&self) -> bool {
        true
    }
}

/// How a call of an aggregate function is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AggregateOptions {
    /// `DISTINCT`.
    pub distinct: bool,
    /// Whether the input can retract rows. Without it, accumulators may keep less (MAX keeps one value).
    pub retract: bool,
}

/// An aggregate function of Flink SQL.
pub trait AggregateFunction: Debug + Send + Sync {
    /// The name, upper case.
    fn name(&self) -> &str;

    /// The result type for these arguments.
    ///
    /// # Errors
    /// Arguments that Flink rejects.
    fn return_type(&self, arguments: &[SqlType]) -> Result<SqlType>;

    /// A fresh accumulator for these argument types.
    fn accumulator(&self, arguments: &[SqlType], options: &AggregateOptions) -> Result<Box<dyn Accumulator>>;
}

/// How the states of parts of a group make the state of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Merging {
    /// Only in the order in which the rows came: the result depends on it.
    InOrder,
    /// In any order, but for the last digits of floating-point numbers.
    AnyOrder,
    /// In any order to the last digit, and what was merged can be taken away again: [`Accumulator::unmerge`].
    Exact,
}

/// The values of one aggregate call for many groups, as columns indexed by slot.
///
/// A slot is a dense number that the state table gives to a group; a freed slot is reset and used again.
pub trait Accumulator: Send + Debug {
    /// Makes slots `0..slots` usable; new ones hold the initial state. Never shrinks.
    fn resize(&mut self, slots: usize);

    /// Applies rows: row `i` goes to `slots[i]`, added or taken away by `kinds[i]`. `selected` is the FILTER clause: rows
    /// that are not true are skipped. Rows are applied in order.
    fn update(
        &mut self,
        slots: &[u32],
        kinds: Option<&[RowKind]>,
        arguments: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()>;

    /// The results of the given slots, in that order.
    fn values(&self, slots: &[u32]) -> Result<ArrayRef>;

    /// Puts slots back to the initial state.
    fn reset(&mut self, slots: &[u32]);

    /// The columns of [`Accumulator::state`].
    fn state_fields(&self) -> Vec<FieldRef>;

    /// The state of the given slots as columns, for a checkpoint.
    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>>;

    /// Replaces the state of the given slots by rows of [`Accumulator::state`].
    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()>;

    /// Adds rows of [`Accumulator::state`] to the given slots: two-phase aggregation and merging windows. A slot may occur
    /// more than once.
    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()>;

    /// Merges the state of slot `from[i]` into slot `into[i]`, for every `i` in order. No slot is in both.
    fn merge_slots(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        let state = self.state(from)?;
        self.merge(into, &state)
    }

    /// Takes the state of slot `from[i]` away from slot `into[i]` again.
    ///
    /// # Errors
    /// Always, unless merging is [`Merging::Exact`].
    fn unmerge_slots(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        let state = self.state(from)?;
        self.unmerge(into, &state)
    }

    /// How states can be merged.
    fn merging(&self) -> Merging {
        Merging::InOrder
    }

    /// Takes rows of [`Accumulator::state`] away from the given slots, as if they had never been merged.
    ///
    /// # Errors
    /// Always, unless merging is [`Merging::Exact`].
    fn unmerge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let _ = (slots, state);
        Err(Error::internal("a state that cannot be taken away again"))
    }

    /// For DISTINCT: a store of the values of its argument by key and pane, empty, from which the accumulator without DISTINCT
    /// can be fed. `None` if there is none.
    ///
    /// # Errors
    /// A type whose values cannot be kept.
    fn pane_values(&self) -> Result<Option<Box<dyn PaneValues>>> {
        Ok(None)
    }

    /// Bytes on the heap, roughly.
    fn heap_bytes(&self) -> usize;
}

/// Values of one argument, each in a pane of a key.
#[derive(Debug, Clone, Copy)]
pub struct PaneRows<'a> {
    /// The values. Those that are NULL are left out.
    pub values: &'a ArrayRef,
    /// The FILTER clause: rows that are not true are left out.
    pub selected: Option<&'a BooleanArray>,
    /// The key of every row.
    pub keys: &'a [u32],
    /// The pane of every row.
    pub panes: &'a [i64],
    /// What the caller knows this pane of this key by.
    pub slots: &'a [u32],
}

/// A value occurs in a pane for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// The row.
    pub row: u32,
    /// What the caller knows the pane before by, if the value has come in the order of panes; else [`Occurrence::NO_SLOT`].
    pub before_slot: u32,
    /// The last pane before this one in which the key has the value; `i64::MIN` if there is none.
    pub before: i64,
    /// The first pane behind this one in which the key has the value; `i64::MAX` if there is none.
    pub after: i64,
}

impl Occurrence {
    /// The caller has to look for the slot.
    pub const NO_SLOT: u32 = u32::MAX;
}

/// Values and panes for a snapshot: a row is a value in a pane of a key.
#[derive(Debug)]
pub struct SavedValues {
    /// The key of every row.
    pub keys: Vec<u32>,
    /// The number of every row: it keeps it until a snapshot holds all rows again.
    pub numbers: Vec<u32>,
    /// The numbers of rows that are no more since the last snapshot; `None` if the snapshot holds all rows.
    pub gone: Option<Vec<u32>>,
    /// The columns of [`PaneValues::state_fields`]: the value, and the pane as a BIGINT.
    pub columns: Vec<ArrayRef>,
}

/// The distinct values of an argument by key, and in which panes of time each of them occurs. Panes are counted: one more is the
/// next pane.
pub trait PaneValues: Send + Debug {
    /// Makes keys `0..keys` usable. Never shrinks.
    fn resize(&mut self, keys: usize);

    /// Adds rows. Panes up to `over` do not count any more: no row is in them, and no value is known to have been. Adds to
    /// `new` the rows whose value has not been in its pane before.
    fn insert(&mut self, rows: &PaneRows<'_>, over: i64, new: &mut Vec<Occurrence>) -> Result<()>;

    /// Forgets values of these keys that are in no pane behind `over`, where it is worth it. In any case values that are over
    /// are forgotten when there are more of them than others.
    fn forget(&mut self, keys: Range<usize>, over: i64);

    /// The columns of a snapshot.
    fn state_fields(&self) -> Vec<FieldRef>;

    /// All rows in panes behind `over`, or with `only_changes` those that are new since the last snapshot, if that is known and
    /// worth it.
    fn save(&mut self, only_changes: bool, over: i64) -> Result<SavedValues>;

    /// Bytes on the heap, roughly.
    fn heap_bytes(&self) -> usize;
}

/// Whether row `row` passes a FILTER clause.
pub fn is_selected(selected: Option<&BooleanArray>, row: usize) -> bool {
    selected.is_none_or(|mask| mask.is_valid(row) && mask.value(row))
}
