//! What a job counted, for people: progress lines while it runs, the summary at its end, warnings about left-out rows.

use crate::codes::{LATE_ROWS, REJECTED_ROWS};
use crate::table_text::aligned;
use base::text::{Fraction, push_timestamp};
use base::{Error, Language};
use runtime::metrics::{JobMetrics, NodeMetrics, NodeRole};

/// The summary of a job: one line for the job, one per node. Ends without a line break.
pub fn summary(job: &str, metrics: &JobMetrics) -> String {
    let mut lines = vec![format!(
        "job {job} {} after {:.1} s, {}",
        metrics.state.name(),
        metrics.uptime_ms as f64 / 1000.0,
        checkpoints(metrics),
    )];
    let rows: Vec<Vec<String>> = metrics.nodes.iter().map(node_cells).collect();
    lines.extend(aligned(&rows).into_iter().map(|line| format!("  {line}")));
    for node in &metrics.nodes {
        lines.extend(node.waiting.iter().map(|waiting| {
            let splits = waiting.splits_text();
            let (reason, since, watermark) = (waiting.reason.name(), waiting.since(), waiting.watermark());
            format!("  {}", waiting_line(&node.name, &waiting.table, &splits, reason, &since, &watermark))
        }));
    }
    lines.join("\n")
}

/// What the results of an operator wait for, in one line.
pub fn waiting_line(operator: &str, table: &str, splits: &str, reason: &str, since: &str, watermark: &str) -> String {
    format!("{operator} waits for {splits} of table {table} since {since}: {reason}, watermark {watermark}")
}

/// `3 checkpoints (the last in 12 ms, 3 kB of changes; 20 kB on disk)`, with failures and restarts if there were any.
fn checkpoints(metrics: &JobMetrics) -> String {
    let mut text = format!("{} checkpoint{}", metrics.checkpoints, if metrics.checkpoints == 1 { "" } else { "s" });
    if let Some(last) = metrics.last_checkpoint
        && let (Some(bytes), Some(state_bytes)) = (last.bytes, last.state_bytes)
    {
        let (ms, kind) = (last.duration.as_millis(), if last.is_full { "full" } else { "of changes" });
        let (bytes, state_bytes) = (bytes.div_ceil(1000), state_bytes.div_ceil(1000));
        text.push_str(&format!(" (the last in {ms} ms, {bytes} kB {kind}; {state_bytes} kB on disk)"));
    }
    for (count, what) in [(metrics.failed_checkpoints, "failed checkpoint"), (metrics.restarts, "restart")] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}{}", if count == 1 { "" } else { "s" }));
        }
    }
    text
}

fn node_cells(node: &NodeMetrics) -> Vec<String> {
    let mut cells = vec![node.name.clone()];
    match node.role {
        NodeRole::Source => {
            cells.push(format!("rows_read={}", node.rows_in));
            cells.push(format!("rows_rejected={}", node.rejected_rows));
        }
        NodeRole::Operator => {
            cells.push(format!("rows_in={}", node.rows_in));
            cells.push(format!("rows_out={}", node.rows_out));
            cells.push(format!("late_rows_dropped={}", node.late_rows));
            if node.evictions > 0 {
                let (on_disk, loads) = (node.evicted_bytes.div_ceil(1000), node.loads);
                cells.push(format!("state_on_disk={on_disk} kB, {} evictions, {loads} loads", node.evictions));
            }
        }
        NodeRole::Sink => {
            cells.push(format!("rows_written={}", node.rows_out));
            cells.push(format!("rows_rejected={}", node.rejected_rows));
        }
    }
    cells
}

/// Warnings about rows that are missing from the result because an option or lateness says so.
pub fn warnings(metrics: &JobMetrics) -> Vec<Error> {
    let mut warnings = Vec::new();
    for node in &metrics.nodes {
        if node.late_rows > 0 {
            let sample = node.late_sample.as_deref().unwrap_or("-");
            warnings.push(Error::new(
                &LATE_ROWS,
                &[("count", &node.late_rows), ("operator", &node.name), ("sample", &sample)],
            ));
        }
        if node.rejected_rows > 0 {
            let sample = match node.rejected_samples.first() {
                Some(error) => {
                    let [what, why, _] = error.parts(Language::English);
                    if why.is_empty() { what } else { format!("{what}: {why}") }
                }
                None => "-".into(),
            };
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("count", &node.rejected_rows), ("operator", &node.name), ("sample", &sample)];
            let warning = Error::new(&REJECTED_ROWS, &arguments);
            let location = node.rejected_samples.first().and_then(Error::location).cloned();
            warnings.push(location.into_iter().fold(warning, Error::at));
        }
    }
    warnings
}

/// One line of progress for a pipe: rows read and written, watermark, late rows.
pub fn progress(job: &str, metrics: &JobMetrics) -> String {
    let sum = |role: NodeRole, count: fn(&NodeMetrics) -> u64| -> u64 {
        metrics.nodes.iter().filter(|node| node.role == role).map(count).sum()
    };
    let late: u64 = metrics.nodes.iter().map(|node| node.late_rows).sum();
    format!(
        "job {job}: {} rows in, {} rows out, watermark {}, {late} late",
        sum(NodeRole::Source, |node| node.rows_in),
        sum(NodeRole::Sink, |node| node.rows_out),
        watermark(lowest_watermark(metrics)),
    )
}

/// The lowest watermark over all sources that have one.
pub fn lowest_watermark(metrics: &JobMetrics) -> Option<i64> {
    metrics.nodes.iter().filter(|node| node.role == NodeRole::Source).filter_map(|node| node.watermark_ms).min()
}

/// A watermark as text: `2024-11-20 15:02:04.900`, `end` when everything has been read, `-` before the first.
pub fn watermark(watermark_ms: Option<i64>) -> String {
    match watermark_ms {
        None => "-".into(),
        Some(base::event::WATERMARK_MAX) => "end".into(),
        Some(ms) => {
            let mut text = String::new();
            push_timestamp(&mut text, ms, arrow::datatypes::TimeUnit::Millisecond, ' ', Fraction::Fixed(3));
            text
        }
    }
}
