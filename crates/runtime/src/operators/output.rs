//! How operators hand out rows: a queue that gives bounded batches, and a builder of changelogs from old and new
//! columns.

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use base::{ChangelogBatch, Result, RowKind};
use std::collections::VecDeque;

/// Finished batches that wait to be taken, cut to the wanted size. Filled by one input batch at a time, so bounded by
/// it.
#[derive(Debug, Default)]
pub(super) struct OutputQueue {
    batches: VecDeque<ChangelogBatch>,
}

impl OutputQueue {
    /// Adds a batch; an empty one is left out.
    pub fn push(&mut self, batch: ChangelogBatch) {
        if !batch.is_empty() {
            self.batches.push_back(batch);
        }
    }

    /// The next rows, at most `rows_max`.
    pub fn next(&mut self, rows_max: usize) -> Option<ChangelogBatch> {
        let rows_max = rows_max.max(1);
        let batch = self.batches.pop_front()?;
        if batch.num_rows() <= rows_max {
            return Some(batch);
        }
        self.batches.push_front(batch.slice(rows_max, batch.num_rows() - rows_max));
        Some(batch.slice(0, rows_max))
    }
}

/// A batch of these columns, which may be none.
pub(crate) fn record_batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

/// Which changes keys have gone through: rows of output picked from columns with the old and columns with the new
/// content.
#[derive(Debug, Default)]
pub(super) struct Changes {
    kinds: Vec<RowKind>,
    positions: Vec<u32>,
    picks: Vec<(usize, usize)>,
}

/// In [`Changes::picks`]: the old content.
const BEFORE: usize = 0;
/// In [`Changes::picks`]: the new content.
const AFTER: usize = 1;

impl Changes {
    /// The key at `position` is new, with row `after` of the new content.
    pub fn insert(&mut self, position: usize, after: usize) {
        self.push(RowKind::Insert, position, (AFTER, after));
    }

    /// The key at `position` had row `before` of the old content; only a reader of `-U` needs this.
    pub fn update_before(&mut self, position: usize, before: usize) {
        self.push(RowKind::UpdateBefore, position, (BEFORE, before));
    }

    /// The key at `position` now has row `after` of the new content.
    pub fn update_after(&mut self, position: usize, after: usize) {
        self.push(RowKind::UpdateAfter, position, (AFTER, after));
    }

    /// The key at `position` is gone, with row `before` of the old content.
    pub fn delete(&mut self, position: usize, before: usize) {
        self.push(RowKind::Delete, position, (BEFORE, before));
    }

    fn push(&mut self, kind: RowKind, position: usize, pick: (usize, usize)) {
        self.kinds.push(kind);
        self.positions.push(position as u32);
        self.picks.push(pick);
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The position of the key behind every row.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// One column of the output.
    pub fn column(&self, before: &ArrayRef, after: &ArrayRef) -> Result<ArrayRef> {
        let identity =
            self.picks.len() == after.len() && self.picks.iter().enumerate().all(|(row, pick)| *pick == (AFTER, row));
        if identity {
            return Ok(after.clone());
        }
        Ok(interleave(&[before.as_ref(), after.as_ref()], &self.picks)?)
    }

    /// The kinds, one per row.
    pub fn into_kinds(self) -> Vec<RowKind> {
        self.kinds
    }
}
