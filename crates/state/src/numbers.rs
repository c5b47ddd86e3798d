//! Numbers of rows, and which of them changed since the last snapshot: what makes a snapshot of changes possible.
//!
//! A row is a place in some store (a slot, an entry), which is used again once it is free. Its number is not: numbers
//! rise in the order of arrival, so rows of several snapshots are told apart and put in order by them.

use crate::key_table::TakenKeys;
use crate::snapshot::Scope;

/// The numbers of the rows of a store. Nothing is counted before the first snapshot.
#[derive(Debug, Default)]
pub struct RowNumbers(Option<Numbered>);

#[derive(Debug)]
struct Numbered {
    /// By row.
    numbers: Vec<u32>,
    next: u32,
    /// The last snapshot had rows with smaller numbers only.
    known: u32,
    /// One bit per row: new or written since the last snapshot.
    dirty: Vec<u64>,
    dirty_count: usize,
    /// The numbers of rows that the last snapshot had and that are gone.
    gone: Vec<u32>,
}

/// The rows that a snapshot is to hold.
#[derive(Debug)]
pub enum Wanted {
    /// All of them.
    All,
    /// These, in the order of their numbers; those with the numbers `gone` are no more.
    Changed {
        /// Rows.
        rows: Vec<u32>,
        /// Numbers.
        gone: Vec<u32>,
    },
}

impl Numbered {
    fn mark(&mut self, row: u32) {
        let word = row as usize / 64;
        if word >= self.dirty.len() {
            self.dirty.resize(word + 1, 0);
        }
        let bit = 1 << (row % 64);
        self.dirty_count += usize::from(self.dirty[word] & bit == 0);
        self.dirty[word] |= bit;
    }

    fn unmark(&mut self, row: u32) {
        let bit = 1 << (row % 64);
        if let Some(word) = self.dirty.get_mut(row as usize / 64).filter(|word| **word & bit != 0) {
            *word &= !bit;
            self.dirty_count -= 1;
        }
    }

    fn set(&mut self, row: u32, number: u32) {
        if self.numbers.len() <= row as usize {
            self.numbers.resize(row as usize + 1, u32::MAX);
        }
        self.numbers[row as usize] = number;
    }
}

impl RowNumbers {
    /// A row has come: it gets the next number.
    #[inline]
    pub fn added(&mut self, row: u32) {
        let Some(numbered) = &mut self.0 else { return };
        if numbered.next == u32::MAX {
            // The next snapshot holds everything and counts anew.
            self.0 = None;
            return;
        }
        numbered.set(row, numbered.next);
        numbered.next += 1;
        numbered.mark(row);
    }

    /// A row has another content.
    #[inline]
    pub fn changed(&mut self, row: u32) {
        if let Some(numbered) = &mut self.0 {
            numbered.mark(row);
        }
    }

    /// A row is gone.
    #[inline]
    pub fn removed(&mut self, row: u32) {
        let Some(numbered) = &mut self.0 else { return };
        numbered.unmark(row);
        let number = numbered.numbers[row as usize];
        if number < numbered.known {
            numbered.gone.push(number);
        }
    }

    /// What was kept as `old` is now kept as `new`, with another content.
    pub fn moved(&mut self, old: u32, new: u32) {
        let Some(numbered) = &mut self.0 else { return };
        let number = numbered.numbers[old as usize];
        numbered.unmark(old);
        numbered.set(new, number);
        numbered.mark(new);
    }

    /// The number of a row; 0 before the first snapshot.
    pub fn number(&self, row: u32) -> u32 {
        self.0.as_ref().map_or(0, |numbered| numbered.numbers[row as usize])
    }

    /// Whether a row changed since the last snapshot.
    pub fn is_changed(&self, row: u32) -> bool {
        let is_dirty = |numbered: &Numbered| {
            numbered.dirty.get(row as usize / 64).is_some_and(|word| word & (1 << (row % 64)) != 0)
        };
        self.0.as_ref().is_none_or(is_dirty)
    }

    /// What a snapshot of `live` rows is to hold: all of them if that is asked for, if it is the first one, or if most of
    /// them changed.
    pub fn wanted(&self, scope: Scope, live: usize) -> Scope {
        let few = self.0.as_ref().is_some_and(|numbered| numbered.dirty_count + numbered.gone.len() <= live / 2 + 16);
        if scope == Scope::Changes && few { Scope::Changes } else { Scope::Full }
    }

    /// As [`RowNumbers::wanted`], for rows of which most may have changed: all of them only if more are gone than are left.
    pub fn wanted_of_changed(&self, scope: Scope, live: usize) -> Scope {
        let few = self.0.as_ref().is_some_and(|numbered| numbered.gone.len() <= live / 2 + 16);
        if scope == Scope::Changes && few { Scope::Changes } else { Scope::Full }
    }

    /// A snapshot is taken that holds all rows; they are numbered in this order.
    pub fn take_all(&mut self, order: &[u32]) {
        let rows = order.iter().max().map_or(0, |row| *row as usize + 1);
        let mut numbers = vec![u32::MAX; rows];
        order.iter().zip(0..).for_each(|(&row, number)| numbers[row as usize] = number);
        let next = order.len() as u32;
        self.0 = Some(Numbered { numbers, next, known: next, dirty: Vec::new(), dirty_count: 0, gone: Vec::new() });
    }

    /// A snapshot is taken that holds what changed. Before the first one nothing can have.
    pub fn take_changes(&mut self) -> Wanted {
        let Some(numbered) = &mut self.0 else { return Wanted::All };
        let mut rows = Vec::with_capacity(numbered.dirty_count);
        for (word, bits) in numbered.dirty.iter_mut().enumerate() {
            let mut bits = std::mem::take(bits);
            while bits != 0 {
                rows.push(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        numbered.dirty_count = 0;
        numbered.known = numbered.next;
        rows.sort_unstable_by_key(|row| numbered.numbers[*row as usize]);
        Wanted::Changed { rows, gone: std::mem::take(&mut numbered.gone) }
    }

    /// The rows of a snapshot out of `live` ones, and the numbers of those that are gone since the last one; `None` if it
    /// holds all rows, which `all` gives in the order in which they are to be restored.
    pub fn take(&mut self, scope: Scope, live: usize, all: impl FnOnce() -> Vec<u32>) -> (Vec<u32>, Option<Vec<u32>>) {
        if self.wanted(scope, live) == Scope::Changes
            && let Wanted::Changed { rows, gone } = self.take_changes()
        {
            return (rows, Some(gone));
        }
        let rows = all();
        self.take_all(&rows);
        (rows, None)
    }

    /// As [`RowNumbers::take`], for rows whose keys are not known by the row: gives the slot of each, too. Every key whose
    /// rows changed must be among the keys of the snapshot.
    pub fn take_by_key<I: Iterator<Item = u32>>(
        &mut self,
        scope: Scope,
        live: usize,
        taken: &TakenKeys,
        all_slots: impl FnOnce() -> Vec<u32>,
        rows_of: impl Fn(u32) -> I,
    ) -> (Vec<u32>, Vec<u32>, Option<Vec<u32>>) {
        let is_all = self.wanted(scope, live) == Scope::Full;
        let all;
        let slots = if is_all {
            all = all_slots();
            &all
        } else {
            &taken.slots
        };
        let (mut owners, mut rows) = (Vec::new(), Vec::new());
        for &slot in slots {
            for row in rows_of(slot).filter(|row| is_all || self.is_changed(*row)) {
                owners.push(slot);
                rows.push(row);
            }
        }
        if is_all {
            self.take_all(&rows);
            return (owners, rows, None);
        }
        match self.take_changes() {
            Wanted::Changed { rows: changed, gone } => {
                debug_assert_eq!(changed.len(), rows.len(), "rows have changed under keys that have not");
                (owners, rows, Some(gone))
            }
            Wanted::All => (owners, rows, None),
        }
    }

    /// The numbers of these rows.
    pub fn numbers(&self, rows: &[u32]) -> Vec<u32> {
        rows.iter().map(|&row| self.number(row)).collect()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let bytes = |numbered: &Numbered| {
            (numbered.numbers.capacity() + numbered.gone.capacity()) * 4 + numbered.dirty.capacity() * 8
        };
        self.0.as_ref().map_or(0, bytes)
    }
}
