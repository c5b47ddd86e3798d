//! Rows of panes, and aggregates from which nothing can be taken away.

use super::super::super::aggregates::{Aggregates, SlotRows};
use super::slots::{NONE, PaneSlots};
use arrow::array::{RecordBatch, UInt32Array};
use base::{Result, RowKind};

/// Rows of a batch that go into panes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PaneRows<'a> {
    pub batch: &'a RecordBatch,
    /// The rows that are meant; `None` if all are, in their order.
    pub rows: Option<&'a UInt32Array>,
    /// The kinds of these rows; `None` if all are additions.
    pub kinds: Option<&'a [RowKind]>,
    /// The keys of these rows.
    pub keys: &'a [u32],
    /// The panes of these rows.
    pub panes: &'a [i64],
}

impl PaneRows<'_> {
    /// Applies all rows: each to its slot.
    pub fn apply(&self, aggregates: &mut Aggregates, slots: &[u32]) -> Result<()> {
        aggregates.update(self.batch, SlotRows { slots, kinds: self.kinds, rows: self.rows })
    }

    /// Applies some of the rows, by their places.
    pub fn apply_some(&self, aggregates: &mut Aggregates, places: &[u32], slots: &[u32]) -> Result<()> {
        let row = |place: &u32| self.rows.map_or(*place, |rows| rows.value(*place as usize));
        let rows: UInt32Array = places.iter().map(row).collect::<Vec<_>>().into();
        let kinds: Option<Vec<RowKind>> =
            self.kinds.map(|kinds| places.iter().map(|place| kinds[*place as usize]).collect());
        aggregates.update(self.batch, SlotRows { slots, kinds: kinds.as_deref(), rows: Some(&rows) })
    }

    /// How much a row counts.
    pub fn sign(&self, place: usize) -> i64 {
        self.kinds.map_or(1, |kinds| kinds[place].sign())
    }
}

/// Which panes are rests: see [`Rests`].
///
/// Of extremes and of sums of floating-point numbers nothing can be taken away. So time is cut into blocks as long as a
/// window, and a window is the rest of one block and the beginning of the next one. The beginning is kept by key. When a
/// block is over, the panes in it are replaced by the rests that start with them. A result is thus put together from the
/// same panes in the same order, whatever happened before.
#[derive(Debug, Default)]
pub(super) struct Rests {
    /// By key: the slot of the rest that is in the window.
    first: Vec<u32>,
    /// By slot: the next later rest of the key.
    next: Vec<u32>,
}

impl Rests {
    pub fn resize(&mut self, slots: usize, keys: usize) {
        self.first.resize(keys, NONE);
        self.next.resize(slots, NONE);
    }

    /// The slot of the rest that is in the window of a key.
    pub fn first(&self, key: u32) -> Option<u32> {
        Some(self.first[key as usize]).filter(|slot| *slot != NONE)
    }

    /// The rests of a key that have this pane.
    pub fn with_pane(&self, key: u32, pane: i64, panes: &PaneSlots) -> impl Iterator<Item = u32> {
        let after = |slot: &u32| Some(self.next[*slot as usize]).filter(|next| *next != NONE);
        std::iter::successors(self.first(key), after).take_while(move |slot| panes.end(*slot) <= pane)
    }

    /// A new slot becomes one of the rests of its key; gives the next later one.
    pub fn insert(&mut self, slot: u32, panes: &PaneSlots) -> Option<u32> {
        let key = panes.key(slot) as usize;
        let (mut before, mut after) = (NONE, self.first[key]);
        while after != NONE && panes.end(after) < panes.end(slot) {
            (before, after) = (after, self.next[after as usize]);
        }
        self.next[slot as usize] = after;
        match before {
            NONE => self.first[key] = slot,
            before => self.next[before as usize] = slot,
        }
        Some(after).filter(|after| *after != NONE)
    }

    /// A slot becomes the first rest of its key; gives the one that was the first.
    pub fn put_first(&mut self, slot: u32, panes: &PaneSlots) -> Option<u32> {
        let first = &mut self.first[panes.key(slot) as usize];
        let before = std::mem::replace(first, slot);
        self.next[slot as usize] = before;
        Some(before).filter(|before| *before != NONE)
    }

    /// A pane leaves the window of its key.
    pub fn leave(&mut self, slot: u32, key: u32) {
        let first = &mut self.first[key as usize];
        if *first == slot {
            *first = self.next[slot as usize];
        }
    }

    pub fn heap_bytes(&self) -> usize {
        (self.first.capacity() + self.next.capacity()) * size_of::<u32>()
    }
}
