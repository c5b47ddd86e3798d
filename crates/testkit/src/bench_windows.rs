//! `hw-testkit bench --windows`: what sliding windows cost against tumbling ones, and the memory of open sessions.
//!
//! The operator alone is measured, fed from memory by one thread, in CPU time of that thread: sources and sinks would only hide
//! the difference. Input and clock are the same for both windows: every key has rows in every slide.

use crate::bench_state::{node, operator, output, resident_bytes, scattered};
use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, TimestampMillisecondArray};
use base::ChangelogBatch;
use base::function::AggregateOptions;
use base::plan::{AggregateCall, NodeKind, Output, Window, WindowAggregate, WindowEmit, WindowKind, WindowProperty};
use base::types::TimeAttribute;
use base::{ChangelogMode, Field, LogicalType, RowType};
use runtime::operator::{Operator, OperatorContext};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;

/// A result of a window of 60 slides may cost this many times one of a window of one slide.
pub const RATIO_MAX: f64 = 2.0;
/// What a million open sessions may take.
pub const SESSIONS_MB_MAX: f64 = 400.0;
const SLIDE_MS: i64 = 60_000;
const BATCH_ROWS: usize = 4096;

type Call = (&'static str, Option<usize>, bool);

/// The aggregates that are measured: a name for people, and function, argument, DISTINCT.
const QUERIES: [(&str, &[Call]); 4] = [
    ("COUNT, SUM", &[("COUNT", None, false), ("SUM", Some(1), false)]),
    (
        "COUNT, SUM, MIN, MAX",
        &[("COUNT", None, false), ("SUM", Some(1), false), ("MIN", Some(1), false), ("MAX", Some(1), false)],
    ),
    ("AVG of DOUBLE", &[("AVG", Some(2), false)]),
    ("COUNT DISTINCT", &[("COUNT", Some(1), true)]),
];

/// The cost of results of both windows.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The aggregates.
    pub what: String,
    /// CPU microseconds per result of a window of one slide.
    pub tumble_us: f64,
    /// The same of a window of 60 slides.
    pub hop_us: f64,
    /// State of windows of one slide at the end of the input.
    pub tumble_bytes: u64,
    /// The same of a window of 60 slides.
    pub hop_bytes: u64,
}

/// The state of windows of one size.
#[derive(Debug, Clone, Copy)]
pub struct HopState {
    /// Size over slide.
    pub ratio: i64,
    /// Rows that were kept.
    pub rows: u64,
    /// Entries, as the operator counts.
    pub entries: u64,
    /// Bytes, as the operator counts.
    pub bytes: u64,
}

/// Memory of open sessions.
#[derive(Debug, Clone, Copy)]
pub struct Sessions {
    /// How many.
    pub count: u64,
    /// Bytes, as the operator counts.
    pub counted_mb: f64,
    /// By how much the resident memory of the process has grown.
    pub resident_mb: f64,
}

fn input() -> Output {
    let row = RowType::new(vec![
        Field::new("k", LogicalType::BigInt.not_null()),
        Field::new("v", LogicalType::BigInt.not_null()),
        Field::new("d", LogicalType::Double.not_null()),
        Field { name: "ts".into(), sql_type: LogicalType::Timestamp(3).nullable(), time: Some(TimeAttribute::Rowtime) },
    ]);
    Output { changelog: ChangelogMode::APPEND, ..output(row) }
}

fn windows(kind: WindowKind, calls: &[Call]) -> base::Result<Box<dyn Operator>> {
    let input = input();
    let mut fields = vec![input.row.fields()[0].clone()];
    let mut made = Vec::new();
    for &(name, argument, distinct) in calls {
        let function = functions::aggregate(name).ok_or_else(|| base::Error::internal(name))?;
        let arguments: Vec<usize> = argument.into_iter().collect();
        let types: Vec<_> = arguments.iter().map(|&column| input.row.fields()[column].sql_type.clone()).collect();
        fields.push(Field::new(name, function.return_type(&types)?));
        let options = AggregateOptions { distinct, retract: false };
        made.push(AggregateCall { function, arguments, filter: None, options, sql: name.into() });
    }
    fields.extend(["window_start", "window_end"].map(|name| Field::new(name, LogicalType::Timestamp(3).not_null())));
    let aggregate = WindowAggregate {
        window: Window { kind, offset_ms: 0, time_column: 3, time_zone: None, is_processing_time: false },
        is_attached: false,
        keys: vec![0],
        calls: made,
        properties: vec![WindowProperty::Start, WindowProperty::End],
        emit: WindowEmit::default(),
    };
    let mut node = node(NodeKind::WindowAggregate(aggregate), 1, RowType::new(fields));
    node.output.changelog = ChangelogMode::APPEND;
    operator(&node, &[&input])
}

fn batch(rows: impl Iterator<Item = (i64, i64, i64)>) -> base::Result<ChangelogBatch> {
    let rows: Vec<(i64, i64, i64)> = rows.collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0))),
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1))),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.1 as f64 / 7.0))),
        Arc::new(TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.2))),
    ];
    Ok(ChangelogBatch::inserts(RecordBatch::try_new(input().row.arrow().clone(), columns)?))
}

/// Feeds batches and watermarks; gives the rows that came out.
fn feed(operator: &mut dyn Operator, batches: &[ChangelogBatch], watermark_ms: i64) -> base::Result<u64> {
    let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: BATCH_ROWS };
    let mut rows = 0;
    for batch in batches {
        operator.on_batch(0, batch.clone(), &context)?;
    }
    operator.on_watermark(watermark_ms, &context)?;
    while let Some(batch) = operator.next_output(&context)? {
        rows += batch.num_rows() as u64;
    }
    Ok(rows)
}

/// Measures the cost of results with `keys` keys that have `per_slide` rows in each of `slides` slides.
///
/// # Errors
/// A bug in an operator.
pub fn costs(keys: usize, per_slide: usize, slides: usize) -> base::Result<Vec<Cost>> {
    QUERIES.iter().map(|(what, calls)| cost(what, calls, [keys, per_slide, slides])).collect()
}

fn cost(what: &str, calls: &[Call], [keys, per_slide, slides]: [usize; 3]) -> base::Result<Cost> {
    const RATIO: i64 = 60;
    let mut tumble = windows(WindowKind::Tumble { size_ms: SLIDE_MS }, calls)?;
    let mut hop = windows(WindowKind::Hop { slide_ms: SLIDE_MS, size_ms: RATIO * SLIDE_MS }, calls)?;
    let (mut nanos, mut rows) = ([0, 0], [0, 0]);
    for slide in 0..slides {
        let start_ms = slide as i64 * SLIDE_MS;
        let all = keys * per_slide;
        let row = |number: usize| {
            // Keys in no order, and each of them as often as all others.
            let key = scattered(number % keys + keys * (number / keys)) as usize % keys;
            let key = if number < keys { number } else { key };
            let value = (scattered(number + all * slide) % 1000) as i64;
            (key as i64 * 7919, value, start_ms + (number as i64 * (SLIDE_MS - 1)) / all as i64)
        };
        let batches = (0..all)
            .step_by(BATCH_ROWS)
            .map(|first| batch((first..all.min(first + BATCH_ROWS)).map(row)))
            .collect::<base::Result<Vec<_>>>()?;
        // By turns, so that a busy machine disturbs both alike.
        for (index, operator) in [&mut tumble, &mut hop].into_iter().enumerate() {
            let before = thread_nanos();
            let given = feed(operator.as_mut(), &batches, start_ms + SLIDE_MS - 1)?;
            // The first windows of 60 slides are not full yet.
            if slide >= RATIO as usize {
                nanos[index] += thread_nanos() - before;
                rows[index] += given;
            }
        }
    }
    let us = |index: usize| nanos[index] as f64 / 1000.0 / rows[index].max(1) as f64;
    Ok(Cost {
        what: what.to_string(),
        tumble_us: us(0),
        hop_us: us(1),
        tumble_bytes: tumble.statistics().state_bytes,
        hop_bytes: hop.statistics().state_bytes,
    })
}

/// The state of COUNT and SUM in windows of one hour that slide by an hour, ten minutes and a minute, over an hour of rows:
/// `per_hour` of each key.
///
/// # Errors
/// A bug in an operator.
pub fn hop_states(keys: usize, per_hour: usize) -> base::Result<Vec<HopState>> {
    let mut states = Vec::new();
    for ratio in [1, 6, 60] {
        let kind = WindowKind::Hop { slide_ms: 60 * SLIDE_MS / ratio, size_ms: 60 * SLIDE_MS };
        let mut operator = windows(kind, QUERIES[0].1)?;
        let all = keys * per_hour;
        let row = |number: usize| {
            let ms = (number as i64 * (60 * SLIDE_MS - 1)) / all as i64;
            ((number % keys) as i64 * 7919, number as i64, ms)
        };
        for first in (0..all).step_by(BATCH_ROWS) {
            feed(operator.as_mut(), &[batch((first..all.min(first + BATCH_ROWS)).map(row))?], i64::MIN)?;
        }
        let statistics = operator.statistics();
        let (entries, bytes) = (statistics.state_entries, statistics.state_bytes);
        states.push(HopState { ratio, rows: all as u64, entries, bytes });
    }
    Ok(states)
}

/// Opens this many sessions, each of a key of its own, with COUNT and SUM.
///
/// # Errors
/// A bug in an operator.
pub fn sessions(count: usize) -> base::Result<Sessions> {
    let before = resident_bytes();
    let mut operator = windows(WindowKind::Session { gap_ms: 3_600_000 }, QUERIES[0].1)?;
    for first in (0..count).step_by(BATCH_ROWS) {
        let rows = (first..count.min(first + BATCH_ROWS)).map(|n| (scattered(n) as i64, 1, (n % 3_000_000) as i64));
        feed(operator.as_mut(), &[batch(rows)?], 0)?;
    }
    let grown = resident_bytes().saturating_sub(before);
    let statistics = operator.statistics();
    let megabytes = |bytes: u64| bytes as f64 / (1024.0 * 1024.0);
    Ok(Sessions {
        count: statistics.state_entries,
        counted_mb: megabytes(statistics.state_bytes),
        resident_mb: megabytes(grown),
    })
}

/// CPU time of this thread.
fn thread_nanos() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(test)]
#[path = "bench_windows_tests.rs"]
mod tests;
