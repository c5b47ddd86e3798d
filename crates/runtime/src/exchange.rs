//! Events from the instances of one fragment to the instances of the next: bounded channels, hash partitioning.

use crate::alignment::Alignment;
use crate::quiescence::{InFlight, Quiescence};
use arrow::array::UInt32Array;
use arrow::buffer::ScalarBuffer;
use base::changelog::slice_bytes;
use base::key::{hash_columns, instance_of_group, key_group};
use base::{ChangelogBatch, Event, Result};
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The most events that wait in one channel: more memory would not make a job faster, only barriers slower.
pub(crate) const CHANNEL_EVENTS_MAX: usize = 16;
/// About so many bytes of rows wait in one channel; one batch always may.
const CHANNEL_BYTES_MAX: usize = 4 << 20;
/// Bytes are counted in pieces of this size.
const BYTES_UNIT: usize = 1 << 10;
const CHANNEL_UNITS_MAX: usize = CHANNEL_BYTES_MAX / BYTES_UNIT;

/// An event on its way.
#[derive(Debug)]
pub(crate) struct Message {
    pub event: Event,
    /// Lives until the receiver has done everything that follows from the event.
    pub in_flight: InFlight,
    /// What the event takes of the channel's bytes, until the receiver has it.
    pub room: Option<OwnedSemaphorePermit>,
}

/// The sending end of a channel.
#[derive(Debug)]
pub(crate) struct Outgoing {
    sender: mpsc::Sender<Message>,
    room: Arc<Semaphore>,
}

/// A channel between two instances.
pub(crate) fn channel() -> (Outgoing, mpsc::Receiver<Message>) {
    let (sender, receiver) = mpsc::channel(CHANNEL_EVENTS_MAX);
    (Outgoing { sender, room: Arc::new(Semaphore::new(CHANNEL_UNITS_MAX)) }, receiver)
}

/// What an event takes of a channel's bytes.
fn units(event: &Event) -> u32 {
    let Event::Data(batch) = event else { return 0 };
    (slice_bytes(batch.records()) / BYTES_UNIT).min(CHANNEL_UNITS_MAX) as u32
}

/// The sending side: one instance, all instances of one reader that it may send to.
#[derive(Debug)]
pub(crate) struct Router {
    senders: Vec<Outgoing>,
    /// Key columns; only asked for if there are several receivers.
    keys: Vec<usize>,
    quiescence: Arc<Quiescence>,
}

impl Router {
    /// Rows go to the receiver that owns their key's group; with one receiver, all go there.
    pub(crate) fn new(senders: Vec<Outgoing>, keys: Vec<usize>, quiescence: Arc<Quiescence>) -> Router {
        Router { senders, keys, quiescence }
    }

    /// Sends an event to whom it concerns; waits while channels are full.
    pub(crate) async fn send(&self, event: Event) -> Result<()> {
        match event {
            Event::Data(batch) => self.send_rows(batch).await,
            event => {
                for receiver in 0..self.senders.len() {
                    self.send_to(receiver, event.clone()).await;
                }
                Ok(())
            }
        }
    }

    async fn send_to(&self, receiver: usize, event: Event) {
        let in_flight = self.quiescence.enter();
        let Outgoing { sender, room } = &self.senders[receiver];
        let room = match units(&event) {
            0 => None,
            // Nobody closes it.
            units => room.clone().acquire_many_owned(units).await.ok(),
        };
        if sender.send(Message { event, in_flight, room }).await.is_err() {
            // The receiving task is gone, so the job has failed or was cancelled; the cancellation of this task
            // follows.
            pending::<()>().await;
        }
    }

    async fn send_rows(&self, batch: ChangelogBatch) -> Result<()> {
        let receivers = self.senders.len();
        if receivers == 1 {
            self.send_to(0, Event::Data(batch)).await;
            return Ok(());
        }
        let columns: Vec<_> = self.keys.iter().map(|&key| batch.records().column(key).clone()).collect();
        let hashes = hash_columns(&columns, batch.num_rows())?;
        let (rows, ends) = partition(&hashes, receivers);
        let mut start = 0;
        for (receiver, end) in ends.into_iter().enumerate() {
            let length = end - start;
            if length == batch.num_rows() {
                self.send_to(receiver, Event::Data(batch)).await;
                return Ok(());
            }
            if length > 0 {
                let part = batch.take(&UInt32Array::new(rows.slice(start, length), None))?;
                self.send_to(receiver, Event::Data(part)).await;
            }
            start = end;
        }
        Ok(())
    }
}

fn partition(hashes: &[u64], receivers: usize) -> (ScalarBuffer<u32>, Vec<usize>) {
    partition_by(hashes, receivers, |hash| instance_of_group(key_group(hash), receivers))
}

/// Row numbers ordered by receiver, and where each receiver's rows end: a counting sort, so that rows keep their order
/// within a receiver.
pub(crate) fn partition_by(
    hashes: &[u64],
    receivers: usize,
    receiver_of: impl Fn(u64) -> usize,
) -> (ScalarBuffer<u32>, Vec<usize>) {
    let mut ends = vec![0usize; receivers];
    for &hash in hashes {
        ends[receiver_of(hash)] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        // For now where the receiver's rows start.
        total += std::mem::replace(end, total);
    }
    let mut rows = vec![0u32; hashes.len()];
    for (row, &hash) in hashes.iter().enumerate() {
        let position = &mut ends[receiver_of(hash)];
        rows[*position] = row as u32;
        *position += 1;
    }
    (rows.into(), ends)
}

/// The receiving side: all channels of one task.
#[derive(Debug)]
pub(crate) struct Inbox {
    channels: Vec<Incoming>,
    /// Where the next look begins, so that no channel starves.
    first: usize,
}

/// A channel and the input of the head operator that it feeds.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub input: usize,
    pub receiver: mpsc::Receiver<Message>,
}

impl Inbox {
    pub(crate) fn new(channels: Vec<Incoming>) -> Inbox {
        Inbox { channels, first: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.channels.len()
    }

    pub(crate) fn input(&self, channel: usize) -> usize {
        self.channels[channel].input
    }

    /// The next event of any channel that may be read. Losing the future loses no event.
    pub(crate) async fn next(&mut self, alignment: &Alignment) -> (usize, Message) {
        poll_fn(|context| self.poll_next(alignment, context)).await
    }

    fn poll_next(&mut self, alignment: &Alignment, context: &mut Context<'_>) -> Poll<(usize, Message)> {
        let count = self.channels.len();
        for step in 0..count {
            let channel = (self.first + step) % count;
            if !alignment.is_readable(channel) {
                continue;
            }
            // A channel that closes without an end belongs to a task that failed: this one is about to be cancelled.
            if let Poll::Ready(Some(message)) = self.channels[channel].receiver.poll_recv(context) {
                self.first = channel + 1;
                return Poll::Ready((channel, message));
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
