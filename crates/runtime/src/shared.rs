//! What all tasks of a job share, and what they tell the coordinator.

use crate::checkpoint::TaskSnapshot;
use crate::quiescence::{InFlight, Quiescence};
use base::clock::Clock;
use base::connector::{SinkWriter, SourceReader};
use base::{Epoch, Error, Warnings};
use state::Scope;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// The position of a task in its job.
pub(crate) type TaskId = usize;

/// Shared by all tasks.
#[derive(Debug)]
pub(crate) struct Shared {
    pub quiescence: Arc<Quiescence>,
    pub clock: Arc<dyn Clock>,
    pub rows_max: usize,
    warnings: Warnings,
    /// The last checkpoint that was begun.
    epoch: AtomicU64,
    /// The barrier after which every task stops; 0 for none.
    final_epoch: AtomicU64,
    /// The last barrier at which everything is asked for, not only changes.
    full_epoch: AtomicU64,
    /// Told by sinks that hold many rows back until the next checkpoint.
    pub checkpoint_wanted: Notify,
}

impl Shared {
    pub(crate) fn new(clock: Arc<dyn Clock>, rows_max: usize, epoch: Option<Epoch>, warnings: Warnings) -> Shared {
        Shared {
            quiescence: Arc::default(),
            clock,
            rows_max,
            warnings,
            epoch: AtomicU64::new(epoch.map_or(0, |epoch| epoch.0)),
            final_epoch: AtomicU64::new(0),
            full_epoch: AtomicU64::new(0),
            checkpoint_wanted: Notify::new(),
        }
    }

    /// Tells whoever started the job about something that does not stop it.
    pub(crate) fn warn(&self, warning: Error) {
        self.warnings.send(warning);
    }

    /// The checkpoint that comes next.
    pub(crate) fn next_epoch(&self) -> Epoch {
        Epoch(self.epoch.load(Ordering::SeqCst) + 1)
    }

    /// A checkpoint begins. After its barrier every task stops if it is the final one.
    pub(crate) fn begin_epoch(&self, epoch: Epoch, is_final: bool, scope: Scope) {
        self.epoch.store(epoch.0, Ordering::SeqCst);
        if scope == Scope::Full {
            self.full_epoch.store(epoch.0, Ordering::SeqCst);
        }
        if is_final {
            self.final_epoch.store(epoch.0, Ordering::SeqCst);
        }
    }

    /// What operators are to give at this barrier. An answer to a barrier that is no longer waited for is of no use.
    pub(crate) fn scope(&self, epoch: Epoch) -> Scope {
        if self.full_epoch.load(Ordering::SeqCst) == epoch.0 { Scope::Full } else { Scope::Changes }
    }

    /// Whether tasks stop after this barrier.
    pub(crate) fn is_final(&self, epoch: Epoch) -> bool {
        self.final_epoch.load(Ordering::SeqCst) == epoch.0
    }
}

/// What the coordinator tells a source task.
#[derive(Debug)]
pub(crate) struct Control {
    pub command: Command,
    pub in_flight: InFlight,
}

/// The commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// Send this barrier.
    Barrier(Epoch),
    /// The checkpoint is complete.
    Complete(Epoch),
    /// Read no more and end as if the input had ended.
    Drain,
}

/// What a task tells the coordinator.
pub(crate) enum Report {
    /// The task has passed a barrier.
    Snapshot { task: TaskId, epoch: Epoch, snapshot: TaskSnapshot },
    /// The task has ended well: at the end of its input, or after the final barrier.
    Ended { task: TaskId, snapshot: TaskSnapshot, remains: Remains },
    /// The task has failed.
    Failed { error: Error },
}

/// What a task leaves behind: it is told about checkpoints, or undone if the job fails.
#[derive(Default)]
pub(crate) struct Remains {
    pub reader: Option<Box<dyn SourceReader>>,
    pub writers: Vec<Box<dyn SinkWriter>>,
}

/// Resolves when the job is cancelled.
pub(crate) async fn cancelled(mut cancel: watch::Receiver<bool>) {
    if cancel.wait_for(|cancel| *cancel).await.is_err() {
        // The job's handle and coordinator are gone; whoever polls this is about to be dropped as well.
        pending::<()>().await;
    }
}

/// Resolves at `deadline`, never without one.
pub(crate) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => pending().await,
    }
}
