//! How windows cut time: which windows a row belongs to, and when a window fires.
//!
//! A window is known by its end: the start follows from it. Starts and ends are readings of a wall clock in
//! milliseconds; for TIMESTAMP_LTZ the clock of the session's time zone.

use base::plan::{Window, WindowKind};
use base::text::{Fraction, local_to_instant_ms, push_timestamp, zone_offset_ms};
use base::{Error, Result};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Rows and the windows that they belong to: row `rows[i]` is in the window that ends at `ends[i]`.
#[derive(Debug, Default)]
pub(super) struct Assigned {
    /// Row numbers, ascending; a row in several windows is there several times.
    pub rows: Vec<u32>,
    /// Window ends.
    pub ends: Vec<i64>,
}

impl Assigned {
    /// Every row is in the one window that ends at its time.
    pub fn set_ends(&mut self, ends: &[i64]) {
        self.rows.clear();
        self.rows.extend(0..ends.len() as u32);
        self.ends.clear();
        self.ends.extend_from_slice(ends);
    }
}

/// A stretch of time in which the zone's offset does not change.
#[derive(Debug, Clone, Copy)]
struct OffsetSpan {
    start: i64,
    end: i64,
    offset: i64,
}

/// Assigns rows to windows.
#[derive(Debug)]
pub(super) struct WindowAssigner {
    window: Window,
    span: OffsetSpan,
}

impl WindowAssigner {
    /// An assigner for `window`. It assigns no row to a session: what is a session depends on the rows before.
    ///
    /// # Errors
    /// Sizes that are no sizes: a bug of the planner.
    pub fn new(window: &Window) -> Result<WindowAssigner> {
        let positive = match window.kind {
            WindowKind::Tumble { size_ms } => size_ms > 0,
            WindowKind::Hop { slide_ms, size_ms } => slide_ms > 0 && size_ms > 0,
            WindowKind::Cumulate { step_ms, size_ms } => step_ms > 0 && size_ms > 0 && size_ms % step_ms == 0,
            WindowKind::Session { gap_ms } => gap_ms > 0,
        };
        if !positive {
            return Err(Error::internal(format!("window {:?}", window.kind)));
        }
        Ok(WindowAssigner { window: window.clone(), span: OffsetSpan { start: 0, end: 0, offset: 0 } })
    }

    /// Whether every row is in exactly one window.
    pub fn is_tumble(&self) -> bool {
        matches!(self.window.kind, WindowKind::Tumble { .. })
    }

    /// The most windows that one row can be in.
    pub fn windows_per_row(&self) -> usize {
        match self.window.kind {
            WindowKind::Hop { slide_ms, size_ms } => (size_ms / slide_ms + i64::from(size_ms % slide_ms != 0)) as usize,
            WindowKind::Cumulate { step_ms, size_ms } => (size_ms / step_ms) as usize,
            WindowKind::Tumble { .. } | WindowKind::Session { .. } => 1,
        }
    }

    /// The windows of rows with these times (instants for TIMESTAMP_LTZ). HOP gives the latest window of a row first,
    /// CUMULATE the shortest.
    pub fn assign(&mut self, times: &[i64], out: &mut Assigned) {
        out.rows.clear();
        out.ends.clear();
        for (row, &time) in times.iter().enumerate() {
            let time = self.local(time);
            let row = row as u32;
            let mut add = |end: i64| {
                out.rows.push(row);
                out.ends.push(end);
            };
            match self.window.kind {
                WindowKind::Tumble { size_ms } => add(self.floor(time, size_ms).saturating_add(size_ms)),
                WindowKind::Hop { slide_ms, size_ms } => {
                    let mut start = self.floor(time, slide_ms);
                    while start > time.saturating_sub(size_ms) {
                        add(start.saturating_add(size_ms));
                        start = start.saturating_sub(slide_ms);
                    }
                }
                WindowKind::Cumulate { step_ms, size_ms } => {
                    let start = self.floor(time, size_ms);
                    let first = time.saturating_sub(start) / step_ms + 1;
                    (first..=size_ms / step_ms).for_each(|steps| add(start.saturating_add(steps * step_ms)));
                }
                WindowKind::Session { .. } => {}
            }
        }
    }

    fn floor(&self, time: i64, size_ms: i64) -> i64 {
        time.saturating_sub(time.saturating_sub(self.window.offset_ms).rem_euclid(size_ms))
    }

    /// The reading of the window's clock at `time`.
    pub fn local(&mut self, time: i64) -> i64 {
        let Some(zone) = self.window.time_zone else { return time };
        if time < self.span.start || time >= self.span.end {
            let start = time.saturating_sub(time.rem_euclid(HOUR_MS));
            let (first, last) = (zone_offset_ms(zone, start), zone_offset_ms(zone, start.saturating_add(HOUR_MS - 1)));
            if first != last {
                return time.saturating_add(zone_offset_ms(zone, time));
            }
            self.span = OffsetSpan { start, end: start.saturating_add(HOUR_MS), offset: first };
        }
        time.saturating_add(self.span.offset)
    }

    /// The start of the window that ends at `end`.
    pub fn start(&self, end: i64) -> i64 {
        match self.window.kind {
            WindowKind::Tumble { size_ms } | WindowKind::Hop { size_ms, .. } => end.saturating_sub(size_ms),
            WindowKind::Cumulate { size_ms, .. } => self.floor(end.saturating_sub(1), size_ms),
            WindowKind::Session { .. } => end,
        }
    }

    /// window_time: the last millisecond of the window, as a value of the time column's type.
    pub fn time(&self, end: i64) -> i64 {
        let last = end.saturating_sub(1);
        self.window.time_zone.map_or(last, |zone| local_to_instant_ms(zone, last))
    }

    /// The watermark at which the window that ends at `end` fires: see [`fires_at`].
    pub fn fires_at(&self, end: i64) -> i64 {
        fires_at(self.window.time_zone, end)
    }

    /// Why a row is late, for people.
    pub fn late_text(&self, column: &str, time: i64, watermark_ms: i64) -> String {
        format!("{column} {} is behind watermark {}", self.readable(time), self.readable(watermark_ms))
    }

    /// A time or watermark for people.
    fn readable(&self, time: i64) -> String {
        readable_time(time, self.window.time_zone.map_or(0, |zone| zone_offset_ms(zone, time)))
    }
}

/// The watermark at which a window fires: no later row can belong to it. Where clocks are put back, that is the second time
/// they show the last millisecond; where that reading is skipped, the last moment before.
pub(super) fn fires_at(time_zone: Option<base::time::Tz>, end: i64) -> i64 {
    let last = end.saturating_sub(1);
    let Some(zone) = time_zone else { return last };
    let offset = |time: i64| zone_offset_ms(zone, time);
    let before = offset(last.saturating_sub(DAY_MS));
    let after = offset(last.saturating_add(DAY_MS));
    let candidates = [last.saturating_sub(before), last.saturating_sub(after)];
    let shown = candidates.into_iter().filter(|&time| time.saturating_add(offset(time)) == last).max();
    shown.unwrap_or_else(|| {
        // The reading is skipped: look for the moment at which the clock jumps over it.
        let (mut low, mut high) = (candidates[0].min(candidates[1]), candidates[0].max(candidates[1]));
        while low < high {
            let middle = low + (high - low) / 2;
            if middle.saturating_add(offset(middle)) > last { high = middle } else { low = middle + 1 }
        }
        low.saturating_sub(1)
    })
}

/// Tells which windows are over at a moment.
#[derive(Debug)]
pub(super) struct WindowFrontier {
    until_ms: Option<i64>,
    /// Later windows fire later: two bounds save asking for every row when its window fires.
    over_max: i64,
    open_min: i64,
}

impl WindowFrontier {
    /// The frontier when time has come to `until_ms`; before there is a watermark, no window is over.
    pub fn new(until_ms: Option<i64>) -> WindowFrontier {
        WindowFrontier { until_ms, over_max: i64::MIN, open_min: i64::MAX }
    }

    /// Whether the window that ends at `end` is over.
    pub fn is_over(&mut self, assigner: &WindowAssigner, end: i64) -> bool {
        let Some(until_ms) = self.until_ms else { return false };
        if end > self.over_max && end < self.open_min {
            match assigner.fires_at(end) <= until_ms {
                true => self.over_max = end,
                false => self.open_min = end,
            }
        }
        end <= self.over_max
    }
}

/// A time or watermark for people, shifted by the offset of their zone.
pub(super) fn readable_time(time: i64, offset_ms: i64) -> String {
    if time == base::event::WATERMARK_MAX {
        return "the end of the input".to_string();
    }
    let mut out = String::new();
    let unit = arrow::datatypes::TimeUnit::Millisecond;
    push_timestamp(&mut out, time.saturating_add(offset_ms), unit, ' ', Fraction::Trimmed);
    out
}

/// The times of a batch in milliseconds.
///
/// # Errors
/// NULL, with the column's name.
pub(super) fn row_times(batch: &arrow::array::RecordBatch, column: usize) -> Result<arrow::array::Int64Array> {
    use arrow::array::Array;
    let times = base::time::epoch_ms(batch.column(column))?;
    if times.null_count() > 0 {
        let schema = batch.schema();
        return Err(Error::new(&super::codes::ROWTIME_NULL, &[("column", schema.field(column).name())]));
    }
    Ok(times)
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
