//! How long a job waits before it goes on after a failure, and how often.

use base::recovery::RestartStrategy;
use std::time::Duration;

/// The failures of a job so far.
#[derive(Debug)]
pub(crate) struct Restarts {
    strategy: RestartStrategy,
    /// Since the last reset.
    count: u64,
    backoff: Duration,
}

impl Restarts {
    pub(crate) fn new(strategy: RestartStrategy) -> Restarts {
        Restarts { strategy, count: 0, backoff: Duration::ZERO }
    }

    /// The job has failed after it `ran` that long: how long it waits before it starts again; `None`: it does not.
    pub(crate) fn next(&mut self, ran: Duration) -> Option<Duration> {
        match self.strategy {
            RestartStrategy::None => None,
            RestartStrategy::FixedDelay { attempts, delay } => {
                self.count += 1;
                (self.count <= attempts).then_some(delay)
            }
            RestartStrategy::ExponentialDelay { initial, longest, multiplier, reset_after, attempts } => {
                if ran >= reset_after {
                    self.count = 0;
                }
                self.backoff = match self.count {
                    0 => initial,
                    _ => Duration::try_from_secs_f64(self.backoff.as_secs_f64() * multiplier).unwrap_or(longest),
                };
                self.backoff = self.backoff.min(longest);
                self.count += 1;
                (self.count <= attempts).then_some(self.backoff)
            }
        }
    }
}

#[cfg(test)]
#[path = "restart_tests.rs"]
mod tests;
