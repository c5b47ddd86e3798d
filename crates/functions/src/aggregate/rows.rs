//! The rows of one update, and the loops over them.

use crate::call::expand;
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::NullBuffer;
use base::changelog::RowKind;
use base::function::is_selected;
use base::{Error, Result};

/// Which rows go to which slots, and whether they are added or taken away.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub slots: &'a [u32],
    pub kinds: Option<&'a [RowKind]>,
    pub selected: Option<&'a BooleanArray>,
}

impl Rows<'_> {
    /// The only way to see the rows one by one: `apply` gets row, slot and sign (1 or -1), rows that are NULL or not
    /// selected are left out.
    #[inline]
    pub fn each(&self, nulls: Option<&NullBuffer>, mut apply: impl FnMut(usize, usize, i64)) {
        if self.kinds.is_none() && self.selected.is_none() && nulls.is_none() {
            for (row, slot) in self.slots.iter().enumerate() {
                apply(row, *slot as usize, 1);
            }
            return;
        }
        for (row, slot) in self.slots.iter().enumerate() {
            if nulls.is_none_or(|nulls| nulls.is_valid(row)) && is_selected(self.selected, row) {
                apply(row, *slot as usize, self.kinds.map_or(1, |kinds| kinds[row].sign()));
            }
        }
    }
}

/// An argument with one value per row.
pub(super) fn argument(arguments: &[ArrayRef], index: usize, rows: usize) -> Result<ArrayRef> {
    let array = arguments.get(index).ok_or_else(|| Error::internal("an aggregate lacks an argument"))?;
    expand(array, rows)
}

/// The NULLs of a column, `None` if it has none.
pub(super) fn nulls(array: &dyn Array) -> Option<&NullBuffer> {
    array.nulls().filter(|nulls| nulls.null_count() > 0)
}

/// A state column that must be there.
pub(super) fn column(state: &[ArrayRef], index: usize) -> Result<&ArrayRef> {
    state.get(index).ok_or_else(|| Error::internal("an aggregate's state lacks a column"))
}
