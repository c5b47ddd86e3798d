//! Several input channels as one stream: which watermark holds, when all are idle, when a barrier is complete.
//!
//! Pure bookkeeping: events go in, what follows from them comes out.

use base::event::WATERMARK_MAX;
use base::{Epoch, Error, Event, Result};

/// A [`Event::Watermark`] of this value says "active again, no watermark yet"; operators never see it.
pub(crate) const WATERMARK_NONE: i64 = i64::MIN;

#[derive(Debug, Clone, Default)]
struct Channel {
    watermark_ms: Option<i64>,
    idle: bool,
    ended: bool,
    /// What its tables held at the start has come.
    caught_up: bool,
    /// Its event time does not count.
    timeless: bool,
    /// Its barrier is there; it is not read until the others' are.
    blocked: bool,
}

impl Channel {
    /// No row follows. The last watermark of one channel is not the last of all: others may only be idle.
    fn is_over(&self) -> bool {
        self.ended || self.watermark_ms == Some(WATERMARK_MAX)
    }
}

/// What follows from an event, to be done in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Consequences {
    /// The task was idle and is not any more.
    pub active: bool,
    /// Event time has advanced.
    pub watermark_ms: Option<i64>,
    /// Every channel is idle.
    pub idle: bool,
    /// The barrier is there on every channel that has not ended.
    pub barrier: Option<Epoch>,
    /// The sender of this channel has caught up.
    pub caught_up: bool,
    /// Every channel has ended.
    pub end: bool,
}

/// The state of the input channels of one task.
#[derive(Debug)]
pub(crate) struct Alignment {
    channels: Vec<Channel>,
    watermark_ms: Option<i64>,
    idle: bool,
    barrier: Option<Epoch>,
}

impl Alignment {
    /// No event yet; event time is `watermark_ms` after a restore.
    pub(crate) fn new(channels: usize, watermark_ms: Option<i64>) -> Alignment {
        Alignment { channels: vec![Channel::default(); channels], watermark_ms, idle: false, barrier: None }
    }

    /// Whether the channel may be read now.
    pub(crate) fn is_readable(&self, channel: usize) -> bool {
        !self.channels[channel].blocked && !self.channels[channel].ended
    }

    /// The event time of a channel does not count, nor whether it is idle.
    pub(crate) fn ignore_time(&mut self, channel: usize) {
        self.channels[channel].timeless = true;
    }

    /// Whether all of these channels have caught up.
    pub(crate) fn have_caught_up(&self, mut channels: impl Iterator<Item = usize>) -> bool {
        channels.all(|channel| self.channels[channel].caught_up)
    }

    /// The channels whose event time counts.
    fn timed(&self) -> impl Iterator<Item = &Channel> {
        self.channels.iter().filter(|channel| !channel.timeless)
    }

    /// The combined watermark.
    pub(crate) fn watermark_ms(&self) -> Option<i64> {
        self.watermark_ms
    }

    /// Takes note of an event.
    ///
    /// # Errors
    /// A barrier of another checkpoint than the one being aligned is a bug.
    pub(crate) fn on_event(&mut self, channel: usize, event: &Event) -> Result<Consequences> {
        let state = &mut self.channels[channel];
        match event {
            Event::Data(_) if state.timeless => Ok(Consequences::default()),
            Event::Data(_) => {
                state.idle = false;
                Ok(Consequences { active: std::mem::take(&mut self.idle), ..Consequences::default() })
            }
            Event::Watermark(watermark_ms) => {
                state.idle = false;
                let active = std::mem::take(&mut self.idle);
                if *watermark_ms != WATERMARK_NONE {
                    state.watermark_ms = state.watermark_ms.max(Some(*watermark_ms));
                }
                Ok(Consequences { active, watermark_ms: self.advance(), ..Consequences::default() })
            }
            Event::Idle => {
                state.idle = true;
                Ok(self.after_silence())
            }
            Event::CaughtUp => {
                state.caught_up = true;
                Ok(Consequences { caught_up: true, ..Consequences::default() })
            }
            Event::Barrier(epoch) => {
                if self.barrier.is_some_and(|current| current != *epoch) {
                    return Err(Error::internal(format!("barrier {epoch} arrived while another one is aligned")));
                }
                state.blocked = true;
                self.barrier = Some(*epoch);
                Ok(Consequences { barrier: self.complete_barrier(), ..Consequences::default() })
            }
            Event::End => {
                state.ended = true;
                let end = self.channels.iter().all(|channel| channel.ended);
                let silence = if end {
                    Consequences { watermark_ms: self.advance(), ..Consequences::default() }
                } else {
                    self.after_silence()
                };
                Ok(Consequences { barrier: self.complete_barrier(), end, ..silence })
            }
        }
    }

    /// A channel counts less than before: time may advance, and all may be idle now.
    fn after_silence(&mut self) -> Consequences {
        let watermark_ms = self.advance();
        let all_idle = self.timed().all(|channel| channel.idle || channel.ended);
        let idle = all_idle && !self.idle;
        self.idle = all_idle;
        Consequences { watermark_ms, idle, ..Consequences::default() }
    }

    /// The new combined watermark if it is higher than before.
    fn advance(&mut self) -> Option<i64> {
        let combined = if self.timed().all(Channel::is_over) {
            // Channels that ended in a drained job said so with the last watermark; a lower one must not become the
            // last.
            self.timed().map(|channel| channel.watermark_ms).min().flatten()
        } else if self.timed().all(|channel| channel.idle || channel.is_over()) {
            // Nobody holds time back: the furthest counts, so that the order of falling silent does not matter.
            let silent = self.timed().filter(|channel| !channel.is_over());
            silent.map(|channel| channel.watermark_ms).max().flatten()
        } else {
            let active = self.timed().filter(|channel| !channel.idle && !channel.is_over());
            active.map(|channel| channel.watermark_ms).min().flatten()
        };
        if combined <= self.watermark_ms {
            return None;
        }
        self.watermark_ms = combined;
        combined
    }

    fn complete_barrier(&mut self) -> Option<Epoch> {
        let epoch = self.barrier?;
        if !self.channels.iter().all(|channel| channel.blocked || channel.ended) {
            return None;
        }
        self.barrier = None;
        for channel in &mut self.channels {
            channel.blocked = false;
        }
        Some(epoch)
    }
}

#[cfg(test)]
#[path = "alignment_tests.rs"]
mod tests;
