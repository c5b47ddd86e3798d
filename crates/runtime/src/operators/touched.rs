//! The distinct slots of a batch, in the order in which its rows touch them first.

/// In [`Touched::positions`]: not touched by this batch.
const UNTOUCHED: u32 = u32::MAX;

/// Distinct slots of one batch at a time. Its vectors are kept from batch to batch.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// By slot: where it is in the other vectors.
    positions: Vec<u32>,
    /// The slots in first-touch order.
    pub slots: Vec<u32>,
    /// The first row of each of them.
    pub first_rows: Vec<u32>,
}

impl Touched {
    /// Forgets the last batch and makes room for slots below `slots_len`.
    pub fn start(&mut self, slots_len: usize) {
        for &slot in &self.slots {
            self.positions[slot as usize] = UNTOUCHED;
        }
        self.slots.clear();
        self.first_rows.clear();
        if self.positions.len() < slots_len {
            self.positions.resize(slots_len, UNTOUCHED);
        }
    }

    /// Row `row` touches `slot`: gives the slot's position, and whether this is its first row.
    #[inline]
    pub fn touch(&mut self, slot: u32, row: usize) -> (usize, bool) {
        let position = &mut self.positions[slot as usize];
        if *position != UNTOUCHED {
            return (*position as usize, false);
        }
        *position = self.slots.len() as u32;
        self.slots.push(slot);
        self.first_rows.push(row as u32);
        (self.slots.len() - 1, true)
    }

    /// The position of a touched slot.
    #[inline]
    pub fn position(&self, slot: u32) -> usize {
        self.positions[slot as usize] as usize
    }

    /// The positions of all slots in the order of their last row; `rows` has the slot of every row of the batch. What reads the
    /// changes of a batch then sees them as if they came one by one: a ranking keeps equal rows in the order in which they
    /// became equal.
    pub fn by_last_row(&self, rows: &[u32]) -> Vec<u32> {
        if self.slots.len() == rows.len() {
            return (0..rows.len() as u32).collect();
        }
        let mut last_rows = vec![0; self.slots.len()];
        for (row, &slot) in rows.iter().enumerate() {
            last_rows[self.position(slot)] = row;
        }
        let is_last = |(row, slot): (usize, &u32)| {
            let position = self.position(*slot);
            (last_rows[position] == row).then_some(position as u32)
        };
        rows.iter().enumerate().filter_map(is_last).collect()
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        (self.positions.capacity() + self.slots.capacity() + self.first_rows.capacity()) * size_of::<u32>()
    }
}
