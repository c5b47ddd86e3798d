//! The task of a chain whose head reads channels.

use crate::alignment::{Alignment, WATERMARK_NONE};
use crate::chain::Chain;
use crate::checkpoint::TaskSnapshot;
use crate::exchange::{Inbox, Message};
use crate::shared::{Report, Shared, TaskId, until};
use crate::upkeep::Upkeep;
use base::{Error, Event, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The parts of such a task.
pub(crate) struct ChannelTask {
    pub id: TaskId,
    pub inbox: Inbox,
    pub alignment: Alignment,
    /// When the first barrier of a checkpoint came, while others are missing.
    pub aligning_since: Option<Instant>,
    pub chain: Chain,
    pub shared: Arc<Shared>,
}

impl ChannelTask {
    /// Runs until every channel has ended or the final barrier has passed; returns the last snapshots.
    pub(crate) async fn run(&mut self, reports: &mpsc::Sender<Report>) -> Result<TaskSnapshot> {
        let mut upkeep = Upkeep::new(&self.chain);
        if let Some(watermark_ms) = self.alignment.watermark_ms() {
            // The channels of a restored job know nothing.
            self.chain.process(0, Event::Watermark(watermark_ms)).await?;
        }
        loop {
            let received = tokio::select! {
                biased;
                received = self.inbox.next(&self.alignment) => Some(received),
                () = until(upkeep.deadline()) => None,
            };
            let _in_flight = match received {
                Some((channel, message)) => {
                    let Message { event, in_flight, room } = message;
                    drop(room);
                    if let Some(last) = self.receive(channel, event, reports).await? {
                        self.chain.refresh_counters();
                        return Ok(last);
                    }
                    upkeep.on_event(Instant::now());
                    in_flight
                }
                None => self.shared.quiescence.enter(),
            };
            upkeep.run(&mut self.chain, Instant::now()).await?;
        }
    }

    async fn receive(
        &mut self,
        channel: usize,
        event: Event,
        reports: &mpsc::Sender<Report>,
    ) -> Result<Option<TaskSnapshot>> {
        let consequences = self.alignment.on_event(channel, &event)?;
        if let Event::Barrier(_) = event {
            self.aligning_since.get_or_insert_with(Instant::now);
        }
        if consequences.active && consequences.watermark_ms.is_none() {
            // Whoever reads this task must wait for it again.
            let watermark_ms = self.alignment.watermark_ms().unwrap_or(WATERMARK_NONE);
            self.chain.process(0, Event::Watermark(watermark_ms)).await?;
        }
        if let Event::Data(_) = event {
            self.chain.process(self.inbox.input(channel), event).await?;
        }
        if let Some(watermark_ms) = consequences.watermark_ms {
            self.chain.process(0, Event::Watermark(watermark_ms)).await?;
        }
        if consequences.caught_up {
            self.caught_up(self.inbox.input(channel)).await?;
        }
        if consequences.idle {
            self.chain.process(0, Event::Idle).await?;
        }
        if let Some(epoch) = consequences.barrier {
            let alignment = self.aligning_since.take().map_or(Duration::ZERO, |since| since.elapsed());
            let snapshot = self.chain.barrier(epoch, None).await?;
            let snapshot = TaskSnapshot { alignment, ..snapshot };
            if self.shared.is_final(epoch) {
                return Ok(Some(snapshot));
            }
            send(reports, Report::Snapshot { task: self.id, epoch, snapshot }).await?;
        }
        if consequences.end {
            self.chain.process(0, Event::End).await?;
            let snapshot = self.chain.last_snapshot(self.shared.next_epoch(), None).await?;
            return Ok(Some(snapshot));
        }
        Ok(None)
    }
}

impl ChannelTask {
    /// A channel of an input has caught up: the head is told when all channels of the input have, and what reads the task when
    /// all inputs have.
    async fn caught_up(&mut self, input: usize) -> Result<()> {
        let channels = || 0..self.inbox.len();
        let alignment = &self.alignment;
        if !alignment.have_caught_up(channels().filter(|&channel| self.inbox.input(channel) == input)) {
            return Ok(());
        }
        let is_all = alignment.have_caught_up(channels());
        self.chain.caught_up(input, is_all).await
    }
}

/// Tells the coordinator.
pub(crate) async fn send(reports: &mpsc::Sender<Report>, report: Report) -> Result<()> {
    reports.send(report).await.map_err(|_| Error::internal("the coordinator of the job is gone"))
}
