//! Whether anything is in flight: counts events in channels and calls that are running.
//!
//! Whoever hands something on takes a token for it first, and the token lives until the work that it caused is done.
//! So the count never touches zero while an event is on its way, whatever thread it is on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// The count of a job.
#[derive(Debug, Default)]
pub(crate) struct Quiescence {
    in_flight: AtomicUsize,
    quiet: Notify,
}

/// Something in flight, until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Quiescence>);

impl Quiescence {
    /// Counts one more.
    pub(crate) fn enter(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        InFlight(self.clone())
    }

    /// Waits until nothing is in flight.
    pub(crate) async fn wait(&self) {
        loop {
            let mut quiet = std::pin::pin!(self.quiet.notified());
            // Registered before the look, so that the last token cannot slip by in between.
            quiet.as_mut().enable();
            if self.in_flight.load(Ordering::SeqCst) == 0 {
                return;
            }
            quiet.await;
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.0.in_flight.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.quiet.notify_waiters();
        }
    }
}
