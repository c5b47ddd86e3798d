//! Counts rows that came too late.

use crate::operator::OperatorStatistics;
use arrow::datatypes::TimeUnit;
use base::text::{Fraction, push_timestamp};

/// Late rows so far, with the first one as text.
#[derive(Debug, Default)]
pub(super) struct LateRows {
    count: u64,
    sample: Option<String>,
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
