//! The time of windows: when rows belong where, and by which clock windows fire.

use super::codes;
use crate::operator::{OperatorContext, Wakes};
use arrow::array::{Array, UInt32Array};
use arrow::buffer::ScalarBuffer;
use base::plan::Window;
use base::time::epoch_ms;
use base::{ChangelogBatch, Error, Result};

/// Reads the times of rows, and knows how far time has come: the watermark, or the clock for windows over PROCTIME().
#[derive(Debug)]
pub(super) struct WindowTime {
    column: usize,
    name: String,
    is_processing_time: bool,
    drops_null: bool,
    /// How far time has come, also in the run before: nothing at or before this is to come. By the clock, another row can still
    /// come in the millisecond that it shows.
    now_ms: Option<i64>,
    dropped: u64,
}

impl WindowTime {
    /// The time of `window` over columns of `schema`; `drops_null` says what happens to rows without a time.
    pub fn new(window: &Window, schema: &arrow::datatypes::Schema, drops_null: bool) -> WindowTime {
        let name = schema.field(window.time_column).name().clone();
        let (column, is_processing_time) = (window.time_column, window.is_processing_time);
        WindowTime { column, name, is_processing_time, drops_null, now_ms: None, dropped: 0 }
    }

    /// The name of the time column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How far time has come.
    pub fn now_ms(&self) -> Option<i64> {
        self.now_ms
    }

    /// Rows dropped because they had no time.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Goes on from the time of the run before.
    pub fn restore(&mut self, now_ms: Option<i64>) {
        self.now_ms = now_ms;
    }

    /// Rows with their times. Time goes on to where the operator is.
    ///
    /// # Errors
    /// NULL, with the column's name, unless such rows are dropped.
    pub fn rows(
        &mut self,
        batch: ChangelogBatch,
        context: &OperatorContext,
    ) -> Result<(ChangelogBatch, ScalarBuffer<i64>)> {
        if self.is_processing_time {
            let past_ms = context.processing_time_ms.saturating_sub(1).max(self.now_ms.unwrap_or(i64::MIN));
            self.now_ms = Some(past_ms);
            let times = vec![past_ms.saturating_add(1); batch.num_rows()].into();
            return Ok((batch, times));
        }
        self.now_ms = self.now_ms.max(context.watermark_ms);
        let times = epoch_ms(batch.records().column(self.column))?;
        if times.null_count() == 0 {
            return Ok((batch, times.values().clone()));
        }
        if !self.drops_null {
            return Err(Error::new(&codes::ROWTIME_NULL, &[("column", &self.name)]));
        }
        self.dropped += times.null_count() as u64;
        let rows: UInt32Array = (0..times.len()).filter(|&row| times.is_valid(row)).map(|row| row as u32).collect();
        let times = rows.values().iter().map(|&row| times.value(row as usize)).collect();
        Ok((batch.take(&rows)?, times))
    }

    /// The watermark has advanced; gives the time until which windows fire, if it is the watermark that they wait for.
    pub fn on_watermark(&mut self, watermark_ms: i64) -> Option<i64> {
        self.advance(watermark_ms, false)
    }

    /// The clock has advanced; gives the time until which windows fire, if it is the clock that they wait for.
    pub fn on_processing_time(&mut self, context: &OperatorContext) -> Option<i64> {
        self.advance(context.processing_time_ms.saturating_sub(1), true)
    }

    /// When windows have something to do that waits for `time_ms`, by the time that they go by.
    pub fn wakes(&self, time_ms: Option<i64>) -> Wakes {
        if self.is_processing_time {
            Wakes::at_processing_time(time_ms.map(|time_ms| time_ms.saturating_add(1)))
        } else {
            Wakes::at_watermark(time_ms)
        }
    }

    fn advance(&mut self, time_ms: i64, is_processing_time: bool) -> Option<i64> {
        if self.is_processing_time != is_processing_time {
            return None;
        }
        self.now_ms = self.now_ms.max(Some(time_ms));
        self.now_ms
    }
}
