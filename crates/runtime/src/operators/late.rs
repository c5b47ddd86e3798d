//! Counts rows that came too late, and hands them out to whom reads them.

use crate::operator::OperatorStatistics;
use arrow::array::UInt32Array;
use arrow::datatypes::TimeUnit;
use base::text::{Fraction, push_timestamp};
use base::{ChangelogBatch, Result};

/// Late rows so far, with the first one as text.
#[derive(Debug, Default)]
pub(super) struct LateRows {
    count: u64,
    sample: Option<String>,
    /// Only if somebody reads them.
    kept: Option<Kept>,
}

/// Late rows to be handed out.
#[derive(Debug, Default)]
struct Kept {
    /// Rows of the batch that is being looked at.
    rows: Vec<u32>,
    /// Rows of the batches before.
    batches: Vec<ChangelogBatch>,
}

impl LateRows {
    /// A row whose column `name` has a time that is behind `watermark_ms`.
    pub fn add(&mut self, name: &str, time_ms: i64, watermark_ms: i64) {
        self.add_with(|| format!("{name} {} is behind watermark {}", readable(time_ms), readable(watermark_ms)));
    }

    /// A row that is late for the reason that `text` tells.
    pub fn add_with(&mut self, text: impl FnOnce() -> String) {
        self.count += 1;
        self.sample.get_or_insert_with(text);
    }

    /// A row of the batch that is being looked at; [`LateRows::batch`] follows.
    pub fn add_row(&mut self, row: u32, text: impl FnOnce() -> String) {
        self.add_with(text);
        if let Some(kept) = &mut self.kept {
            kept.rows.push(row);
        }
    }

    /// The late rows of this batch have been added.
    pub fn batch(&mut self, batch: &ChangelogBatch) -> Result<()> {
        if let Some(kept) = self.kept.as_mut().filter(|kept| !kept.rows.is_empty()) {
            kept.batches.push(batch.take(&UInt32Array::from(std::mem::take(&mut kept.rows)))?);
        }
        Ok(())
    }

    /// Late rows are kept from now on.
    pub fn keep(&mut self) {
        self.kept.get_or_insert_default();
    }

    /// The late rows since the last call.
    pub fn take(&mut self) -> Vec<ChangelogBatch> {
        self.kept.as_mut().map(|kept| std::mem::take(&mut kept.batches)).unwrap_or_default()
    }

    /// Puts the counts where they are reported.
    pub fn report(&self, statistics: OperatorStatistics) -> OperatorStatistics {
        OperatorStatistics { late_rows: self.count, late_sample: self.sample.clone(), ..statistics }
    }
}

fn readable(time_ms: i64) -> String {
    if time_ms == base::event::WATERMARK_MAX {
        return "the end of the input".to_string();
    }
    let mut out = String::new();
    push_timestamp(&mut out, time_ms, TimeUnit::Millisecond, ' ', Fraction::Trimmed);
    out
}
