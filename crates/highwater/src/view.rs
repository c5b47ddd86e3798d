//! The live view on a terminal: result table, rows in and out, rates, watermarks, lag, late rows.

use crate::jobs::{NamedJob, has_ended};
use crate::results::LiveTable;
use crate::summary::{lowest_watermark, watermark};
use crate::table_text::{self, aligned};
use crossterm::{QueueableCommand, cursor, terminal};
use runtime::metrics::{JobMetrics, NodeRole};
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Time between two drawings.
pub const REFRESH: Duration = Duration::from_millis(250);

/// Standard error, shared by the view and everything else that is said while jobs run.
#[derive(Debug, Default)]
pub struct Screen(Mutex<View>);

impl Screen {
    fn view(&self) -> MutexGuard<'_, View> {
        // A panic while drawing costs at most a wrong picture.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws the state of all jobs, below the result table if there is one.
    pub fn draw(&self, jobs: &[NamedJob], result: Option<&LiveTable>) {
        self.view().draw(jobs, result);
    }

    /// Removes what was drawn, so that something else takes its place.
    pub fn clear(&self) {
        self.view().clear();
    }

    /// Writes lines that stay; the next drawing begins below them.
    pub fn say(&self, text: &str) {
        let mut view = self.view();
        view.clear();
        eprintln!("{text}");
    }
}

/// Draws over itself on standard error.
#[derive(Debug, Default)]
struct View {
    /// The width of every line that is drawn.
    drawn: Vec<usize>,
    last_rows: HashMap<String, (u64, Option<Instant>, f64)>,
}

impl View {
    fn draw(&mut self, jobs: &[NamedJob], result: Option<&LiveTable>) {
        let (width, height) = terminal::size().unwrap_or((120, 40));
        let mut status = Vec::new();
        for job in jobs {
            let metrics = job.handle.metrics();
            status.extend(self.job_lines(&job.name, &metrics));
        }
        let mut lines = Vec::new();
        if let Some(result) = result {
            let room = (height as usize).saturating_sub(status.len() + 7).max(3);
            lines.extend(result_lines(result, room));
        }
        lines.extend(status);
        lines.truncate((height as usize).saturating_sub(1));
        // A terminal that goes away must not end the job.
        let _ = self.paint(&lines, width as usize);
    }

    fn clear(&mut self) {
        if !self.drawn.is_empty() {
            let (width, _) = terminal::size().unwrap_or((120, 40));
            let _ = self.paint(&[], width as usize);
        }
    }

    fn paint(&mut self, lines: &[String], width: usize) -> std::io::Result<()> {
        let mut out = std::io::stderr().lock();
        // A window that has become narrower shows a drawn line as several.
        let drawn: usize = self.drawn.iter().map(|line| line.div_ceil(width.max(1)).max(1)).sum();
        if drawn > 0 {
            out.queue(cursor::MoveUp(drawn.min(u16::MAX as usize) as u16))?;
        }
        out.queue(cursor::MoveToColumn(0))?;
        out.queue(terminal::Clear(terminal::ClearType::FromCursorDown))?;
        self.drawn.clear();
        for line in lines {
            let line = cut(line, width.saturating_sub(1));
            writeln!(out, "{line}")?;
            self.drawn.push(line.width());
        }
        out.flush()
    }

    fn job_lines(&mut self, name: &str, metrics: &JobMetrics) -> Vec<String> {
        let rows_in: u64 =
            metrics.nodes.iter().filter(|node| node.role == NodeRole::Source).map(|node| node.rows_in).sum();
        let rate = self.rate(name, rows_in, has_ended(metrics.state));
        let mut lines = vec![format!(
            "job {name}: {} {:.0} s, {rate:.0} rows/s, watermark {}, {} checkpoints",
            metrics.state.name(),
            metrics.uptime_ms as f64 / 1000.0,
            watermark(lowest_watermark(metrics)),
            metrics.checkpoints,
        )];
        let header = ["", "rows in", "rows out", "late", "rejected", "lag", "watermark"].map(str::to_string).to_vec();
        let mut rows = vec![header];
        for node in &metrics.nodes {
            rows.push(vec![
                node.name.clone(),
                node.rows_in.to_string(),
                node.rows_out.to_string(),
                node.late_rows.to_string(),
                node.rejected_rows.to_string(),
                node.lag.map_or_else(|| "-".into(), |lag| lag.to_string()),
                watermark(node.watermark_ms),
            ]);
        }
        lines.extend(aligned(&rows).into_iter().map(|line| format!("  {line}")));
        lines
    }

    /// Rows per second since the last drawing.
    fn rate(&mut self, name: &str, rows: u64, ended: bool) -> f64 {
        let now = Instant::now();
        let (last_rows, last_time, rate) = self.last_rows.get(name).copied().unwrap_or((0, None, 0.0));
        let seconds = last_time.map_or(0.0, |time| now.duration_since(time).as_secs_f64());
        let rate = match (ended, seconds > 0.0) {
            (true, _) => 0.0,
            (false, true) => rows.saturating_sub(last_rows) as f64 / seconds,
            (false, false) => rate,
        };
        self.last_rows.insert(name.to_string(), (rows, Some(now), rate));
        rate
    }
}

fn result_lines(result: &LiveTable, room: usize) -> Vec<String> {
    let rows = result.last(room);
    let mut lines: Vec<String> = table_text::table(&result.columns, &rows).lines().map(str::to_string).collect();
    // The frame's own count is about the rows shown.
    lines.pop();
    let hidden = result.len() - rows.len();
    let more = if hidden > 0 { format!(", the last {} shown", rows.len()) } else { String::new() };
    lines.push(format!("{} rows{more}, {} changes", result.len(), result.changes));
    lines
}

/// The part of a line that fits `width` columns of a terminal.
fn cut(line: &str, width: usize) -> &str {
    let mut used = 0;
    for (index, c) in line.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width {
            return &line[..index];
        }
    }
    line
}
