//! What a task does besides events: flushes sinks when its input is quiet, publishes counts, tells operators the time.

use crate::chain::Chain;
use base::Result;
use std::time::Duration;
use tokio::time::Instant;

/// Without an event for this long, what sinks have buffered is sent: results are visible quickly when little happens.
const QUIET_TIME: Duration = Duration::from_millis(10);
/// Under steady input sinks are flushed at least this often.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// Under steady input counts are published at least this often.
const COUNTERS_INTERVAL: Duration = Duration::from_millis(100);
/// How often operators learn that processing time has advanced.
const PROCESSING_TIME_INTERVAL: Duration = Duration::from_secs(1);

/// The timers of a task.
#[derive(Debug)]
pub(crate) struct Upkeep {
    /// Events came since the last flush.
    is_dirty: bool,
    /// Events came since the counts were published.
    is_stale: bool,
    event: Instant,
    flushed: Instant,
    published: Instant,
    /// When a sink that gathers rows wants to send them.
    gathered: Option<Instant>,
    /// When operators are told the time; never in a chain without operators.
    processing_time: Option<Instant>,
}

impl Upkeep {
    pub(crate) fn new(chain: &Chain) -> Upkeep {
        let now = Instant::now();
        Upkeep {
            is_dirty: false,
            is_stale: true,
            event: now,
            flushed: now,
            published: now,
            gathered: None,
            processing_time: chain.has_operators().then_some(now + PROCESSING_TIME_INTERVAL),
        }
    }

    /// When [`Upkeep::run`] is due if no event comes.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let quiet = (self.is_dirty || self.is_stale).then_some(self.event + QUIET_TIME);
        [quiet, self.gathered, self.processing_time].into_iter().flatten().min()
    }

    /// An event has been processed.
    pub(crate) fn on_event(&mut self, now: Instant) {
        self.is_dirty = true;
        self.is_stale = true;
        self.event = now;
    }

    /// Does what is due. Returns whether counts were published: a source publishes its own then.
    pub(crate) async fn run(&mut self, chain: &mut Chain, now: Instant) -> Result<bool> {
        if self.processing_time.is_some_and(|due| due <= now) {
            self.processing_time = Some(now + PROCESSING_TIME_INTERVAL);
            chain.processing_time().await?;
        }
        let is_quiet = self.event + QUIET_TIME <= now;
        let is_flush_due = self.is_dirty && (is_quiet || self.flushed + FLUSH_INTERVAL <= now);
        if is_flush_due {
            self.is_dirty = false;
            self.flushed = now;
        }
        self.gathered = chain.flush_due();
        if is_flush_due || self.gathered.is_some_and(|due| due <= now) {
            chain.flush(now, is_flush_due).await?;
            self.gathered = chain.flush_due();
        }
        let publishes = self.is_stale && (is_quiet || self.published + COUNTERS_INTERVAL <= now);
        if publishes {
            self.is_stale = false;
            self.published = now;
            chain.refresh_counters();
        }
        Ok(publishes)
    }
}
