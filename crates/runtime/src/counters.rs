//! The counts of one node instance, written by its task and read by whoever asks the job.

use crate::checkpoint::NodeCounts;
use crate::metrics::{NodeMetrics, NodeRole, Waiting};
use crate::operator::OperatorStatistics;
use base::Error;
use base::connector::SourceStatistics;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The most reasons kept for rejected rows.
pub(crate) const REJECTED_SAMPLES_MAX: usize = 3;
const WATERMARK_NONE: i64 = i64::MIN;
const LAG_UNKNOWN: u64 = u64::MAX;

/// Counts of one instance. Rows are counted per batch; the samples change a few times in the life of a job.
#[derive(Debug)]
pub(crate) struct Counters {
    rows_in: AtomicU64,
    rows_out: AtomicU64,
    bytes_in: AtomicU64,
    late_rows: AtomicU64,
    rejected_rows: AtomicU64,
    watermark_ms: AtomicI64,
    lag: AtomicU64,
    state_entries: AtomicU64,
    state_bytes: AtomicU64,
    evicted_bytes: AtomicU64,
    evictions: AtomicU64,
    loads: AtomicU64,
    samples: Mutex<Samples>,
}

#[derive(Debug, Default)]
struct Samples {
    late: Option<String>,
    rejected: Vec<Error>,
    waiting: Vec<Waiting>,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            rows_in: AtomicU64::new(0),
            rows_out: AtomicU64::new(0),
            bytes_in: AtomicU64::new(0),
            late_rows: AtomicU64::new(0),
            rejected_rows: AtomicU64::new(0),
            watermark_ms: AtomicI64::new(WATERMARK_NONE),
            lag: AtomicU64::new(LAG_UNKNOWN),
            state_entries: AtomicU64::new(0),
            state_bytes: AtomicU64::new(0),
            evicted_bytes: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
            loads: AtomicU64::new(0),
            samples: Mutex::default(),
        }
    }
}

impl Counters {
    pub(crate) fn add_rows_in(&self, rows: usize) {
        self.rows_in.fetch_add(rows as u64, Relaxed);
    }

    pub(crate) fn add_rows_out(&self, rows: usize) {
        self.rows_out.fetch_add(rows as u64, Relaxed);
    }

    pub(crate) fn set_watermark(&self, watermark_ms: i64) {
        self.watermark_ms.store(watermark_ms, Relaxed);
    }

    /// The counts at this moment.
    pub(crate) fn counts(&self) -> NodeCounts {
        NodeCounts {
            rows_in: self.rows_in.load(Relaxed),
            rows_out: self.rows_out.load(Relaxed),
            bytes_in: self.bytes_in.load(Relaxed),
            late_rows: self.late_rows.load(Relaxed),
            rejected_rows: self.rejected_rows.load(Relaxed),
        }
    }

    /// The watermark; `None` before the first.
    pub(crate) fn watermark_ms(&self) -> Option<i64> {
        Some(self.watermark_ms.load(Relaxed)).filter(|mark| *mark != WATERMARK_NONE)
    }

    /// Entries of state, as published last.
    pub(crate) fn state_entries(&self) -> u64 {
        self.state_entries.load(Relaxed)
    }

    /// What the operator waits for; kept with its first instance.
    pub(crate) fn set_waiting(&self, waiting: Vec<Waiting>) {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner).waiting = waiting;
    }

    /// Rows left out, with an example.
    pub(crate) fn add_rejected(&self, rows: usize, sample: impl FnOnce() -> Error) {
        let before = self.rejected_rows.fetch_add(rows as u64, Relaxed);
        if before < REJECTED_SAMPLES_MAX as u64 {
            let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
            samples.rejected.push(sample());
        }
    }

    pub(crate) fn set_operator(&self, statistics: OperatorStatistics) {
        let late_before = self.late_rows.swap(statistics.late_rows, Relaxed);
        self.rejected_rows.store(statistics.dropped_rows, Relaxed);
        self.state_entries.store(statistics.state_entries, Relaxed);
        self.state_bytes.store(statistics.state_bytes, Relaxed);
        self.evicted_bytes.store(statistics.evicted_bytes, Relaxed);
        self.evictions.store(statistics.evictions, Relaxed);
        self.loads.store(statistics.loads, Relaxed);
        if late_before == 0 && statistics.late_rows > 0 {
            self.samples.lock().unwrap_or_else(PoisonError::into_inner).late = statistics.late_sample;
        }
    }

    pub(crate) fn set_source(&self, statistics: SourceStatistics) {
        self.rows_in.store(statistics.records, Relaxed);
        self.bytes_in.store(statistics.bytes, Relaxed);
        self.lag.store(statistics.lag.unwrap_or(LAG_UNKNOWN), Relaxed);
        let rejected_before = self.rejected_rows.swap(statistics.rejected, Relaxed);
        if rejected_before != statistics.rejected {
            let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
            if samples.rejected.len() < statistics.rejected_samples.len() {
                samples.rejected = statistics.rejected_samples;
            }
        }
    }
}

/// A node of the job with the counts of its instances.
#[derive(Debug, Clone)]
pub(crate) struct CountedNode {
    pub operator_id: String,
    pub name: String,
    pub role: NodeRole,
    /// What was counted before the instances began.
    pub before: NodeCounts,
    pub instances: Vec<Arc<Counters>>,
}

impl CountedNode {
    /// The sum over the instances.
    pub(crate) fn metrics(&self) -> NodeMetrics {
        let sum = |count: fn(&Counters) -> &AtomicU64| self.instances.iter().map(|c| count(c).load(Relaxed)).sum();
        let marks = self.instances.iter().map(|counters| counters.watermark_ms.load(Relaxed));
        let lags = self.instances.iter().map(|counters| counters.lag.load(Relaxed));
        let mut counts = self.before;
        self.instances.iter().for_each(|counters| counts.add(counters.counts()));
        let mut late_sample = None;
        let mut rejected_samples = Vec::new();
        let mut waiting = Vec::new();
        for counters in &self.instances {
            let samples = counters.samples.lock().unwrap_or_else(PoisonError::into_inner);
            late_sample = late_sample.or_else(|| samples.late.clone());
            rejected_samples.extend(samples.rejected.iter().cloned());
            waiting.extend(samples.waiting.iter().cloned());
        }
        rejected_samples.truncate(REJECTED_SAMPLES_MAX);
        NodeMetrics {
            operator_id: self.operator_id.clone(),
            name: self.name.clone(),
            role: self.role,
            rows_in: counts.rows_in,
            rows_out: counts.rows_out,
            bytes_in: counts.bytes_in,
            late_rows: counts.late_rows,
            late_sample,
            rejected_rows: counts.rejected_rows,
            rejected_samples,
            watermark_ms: marks.filter(|mark| *mark != WATERMARK_NONE).min(),
            // What one instance does not know, nobody does: a partition that was not asked yet may have anything.
            lag: lags.map(|lag| Some(lag).filter(|lag| *lag != LAG_UNKNOWN)).sum(),
            waiting,
            state_entries: sum(|c| &c.state_entries),
            state_bytes: sum(|c| &c.state_bytes),
            evicted_bytes: sum(|c| &c.evicted_bytes),
            evictions: sum(|c| &c.evictions),
            loads: sum(|c| &c.loads),
        }
    }
}

#[cfg(test)]
#[path = "counters_tests.rs"]
mod tests;
