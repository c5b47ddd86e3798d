//! The memory that the state of a job may take, shared by all its operator instances.

use crate::codes::STATE_ABOVE_BUDGET;
use base::{Error, Result, Warnings};
use state::CacheFolder;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// An instance cuts its state into parts of at most this fraction of the budget: loading one, or cutting it, never takes
/// much memory besides.
const PARTS_MIN: u64 = 8;
/// A part is not cut below this size.
const PART_BYTES_MIN: u64 = 1024;
/// Rows that wait for parts take at most this fraction of the budget.
const WAITING_FRACTION: u64 = 4;
/// An instance below its share gives nothing away for others until the budget is exceeded by this fraction.
const SLACK_FRACTION: u64 = 8;

/// How much memory state may take, and where the rest goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryOptions {
    /// The bytes of state in memory that all operators of the job aim at together.
    pub budget_bytes: u64,
    /// The folder for what does not fit, the job's own; by default one among the system's temporary files.
    pub cache: Option<PathBuf>,
}

/// The memory of one job.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    limit: u64,
    pub cache: Arc<CacheFolder>,
    /// Instances whose state can be put away.
    shares: AtomicU64,
    /// Bytes of all state in memory, and of rows that wait.
    resident: AtomicU64,
    /// Those of state that cannot be put away.
    fixed: AtomicU64,
    warnings: Warnings,
    has_warned: AtomicBool,
}

impl MemoryBudget {
    /// The budget of a job that is about to start.
    ///
    /// # Errors
    /// A cache folder with left-overs that cannot be removed.
    pub fn new(options: &MemoryOptions, warnings: Warnings) -> Result<Arc<MemoryBudget>> {
        static TEMPORARY: AtomicU64 = AtomicU64::new(0);
        let temporary = || {
            let number = TEMPORARY.fetch_add(1, Relaxed);
            std::env::temp_dir().join(format!("highwater-{}-{number}", std::process::id()))
        };
        let path = options.cache.clone().unwrap_or_else(temporary);
        MemoryBudget::with_cache(options.budget_bytes, &path, warnings)
    }

    fn with_cache(limit: u64, path: &Path, warnings: Warnings) -> Result<Arc<MemoryBudget>> {
        Ok(Arc::new(MemoryBudget {
            limit,
            cache: CacheFolder::open(path)?,
            shares: AtomicU64::new(0),
            resident: AtomicU64::new(0),
            fixed: AtomicU64::new(0),
            warnings,
            has_warned: AtomicBool::new(false),
        }))
    }

    fn shares(&self) -> u64 {
        self.shares.load(Relaxed).max(1)
    }

    /// The most bytes that a part should have.
    pub fn part_bytes_max(&self) -> u64 {
        (self.limit / PARTS_MIN.max(2 * self.shares())).max(PART_BYTES_MIN)
    }

    /// The most bytes of rows that should wait in one instance.
    pub fn waiting_bytes_max(&self) -> u64 {
        self.limit / (WAITING_FRACTION * self.shares())
    }

    /// Whether so many bytes more would fit.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.resident.load(Relaxed).saturating_add(bytes) <= self.limit
    }

    /// Says once that the state of `operator` cannot be kept within the budget.
    pub fn warn(&self, operator: &str, bytes: u64) {
        if !self.has_warned.swap(true, Relaxed) {
            let (bytes, limit) = (mebibytes(bytes), mebibytes(self.limit));
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("operator", &operator), ("bytes", &bytes), ("budget", &limit)];
            self.warnings.send(Error::new(&STATE_ABOVE_BUDGET, &arguments));
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1_048_576.0)
}

/// What one instance takes of the budget; it is given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<MemoryBudget>,
    resident: u64,
    /// The operator's name, if its state cannot be put away.
    fixed: Option<String>,
}

impl Share {
    /// The share of an instance that can put state away.
    pub fn new(budget: &Arc<MemoryBudget>) -> Share {
        budget.shares.fetch_add(1, Relaxed);
        Share { budget: budget.clone(), resident: 0, fixed: None }
    }

    /// The share of an instance of `operator` that cannot.
    pub fn fixed(budget: &Arc<MemoryBudget>, operator: String) -> Share {
        Share { budget: budget.clone(), resident: 0, fixed: Some(operator) }
    }

    pub fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// The instance has so many bytes now. When those that cannot be put away are too many, that is said.
    pub fn set(&mut self, bytes: u64) {
        let change = bytes.wrapping_sub(self.resident);
        self.resident = bytes;
        self.budget.resident.fetch_add(change, Relaxed);
        if let Some(operator) = &self.fixed {
            let fixed = self.budget.fixed.fetch_add(change, Relaxed).wrapping_add(change);
            if bytes > 0 && fixed > self.budget.limit {
                self.budget.warn(operator, fixed);
            }
        }
    }

    /// Whether the instance should put something away. One that has little waits for those that have much, within bounds.
    pub fn is_over(&self) -> bool {
        let MemoryBudget { limit, resident, .. } = self.budget.as_ref();
        let total = resident.load(Relaxed);
        let own = limit / self.budget.shares();
        total > *limit && (self.resident > own || total > limit + limit / SLACK_FRACTION)
    }

    /// Whether a single part is larger than everything may be.
    pub fn is_hopeless(&self, part_bytes: u64) -> bool {
        part_bytes > self.budget.limit
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
        if self.fixed.is_none() {
            self.budget.shares.fetch_sub(1, Relaxed);
        }
    }
}
