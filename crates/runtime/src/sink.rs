//! The sink at the end of a chain: NOT NULL enforcement, writing, flushing, committables.

use crate::checkpoint::SinkCheckpoint;
use crate::codes;
use crate::counters::Counters;
use arrow::array::{Array, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter_record_batch;
use base::connector::SinkWriter;
use base::plan::{NotNullEnforcer, Sink};
use base::types::RowType;
use base::{ChangelogBatch, Epoch, Error, Result};
use std::time::Duration;
use tokio::time::Instant;

/// One writer with the checks before it.
pub(crate) struct SinkBody {
    writer: Box<dyn SinkWriter>,
    table: String,
    /// Position and name of the columns that must not be NULL.
    not_null: Vec<(usize, String)>,
    enforcer: NotNullEnforcer,
    /// How long the writer wants to gather rows.
    interval: Option<Duration>,
    /// Whether a checkpoint was asked for since the last one.
    has_asked: bool,
    /// When the first row after the last flush was written.
    dirty_since: Option<Instant>,
}

impl SinkBody {
    pub(crate) fn new(sink: &Sink, input: &RowType, writer: Box<dyn SinkWriter>) -> SinkBody {
        let name = |&column: &usize| (column, input.fields()[column].name.clone());
        SinkBody {
            interval: writer.flush_interval(),
            writer,
            table: sink.table.clone(),
            not_null: sink.not_null.iter().map(name).collect(),
            enforcer: sink.enforcer,
            has_asked: false,
            dirty_since: None,
        }
    }

    /// Writes rows.
    pub(crate) async fn write(&mut self, batch: ChangelogBatch, counters: &Counters) -> Result<()> {
        let batch = self.enforce(batch, counters)?;
        if batch.is_empty() {
            return Ok(());
        }
        self.dirty_since.get_or_insert_with(Instant::now);
        self.writer.write(&batch).await?;
        counters.add_rows_out(batch.num_rows());
        Ok(())
    }

    fn enforce(&self, batch: ChangelogBatch, counters: &Counters) -> Result<ChangelogBatch> {
        let mut kept: Option<BooleanBuffer> = None;
        let mut example = None;
        for (column, name) in &self.not_null {
            let array = batch.records().column(*column);
            let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { continue };
            if self.enforcer == NotNullEnforcer::Error {
                return Err(self.violation(name));
            }
            example.get_or_insert(name);
            kept = Some(match kept {
                None => nulls.inner().clone(),
                Some(kept) => &kept & nulls.inner(),
            });
        }
        let (Some(kept), Some(example)) = (kept, example) else { return Ok(batch) };
        let kept = BooleanArray::new(kept, None);
        let records = filter_record_batch(batch.records(), &kept)?;
        counters.add_rejected(batch.num_rows() - records.num_rows(), || self.violation(example));
        Ok(match batch.kinds() {
            None => ChangelogBatch::inserts(records),
            Some(kinds) => {
                let kinds = kinds.iter().zip(kept.values()).filter(|(_, kept)| *kept).map(|(kind, _)| *kind);
                ChangelogBatch::new(records, kinds.collect::<Vec<_>>())
            }
        })
    }

    fn violation(&self, column: &str) -> Error {
        let enforcer = match self.enforcer {
            NotNullEnforcer::Error => "ERROR",
            NotNullEnforcer::Drop => "DROP",
        };
        Error::new(&codes::NOT_NULL_VIOLATION, &[("table", &self.table), ("column", &column), ("enforcer", &enforcer)])
    }

    /// Whether the writer holds so much back that a checkpoint had better come at once.
    /// Said once before each.
    pub(crate) fn wants_checkpoint(&mut self) -> bool {
        !self.has_asked && {
            self.has_asked = self.writer.wants_checkpoint();
            self.has_asked
        }
    }

    pub(crate) fn watermark(&mut self, watermark_ms: i64) {
        self.writer.watermark(watermark_ms);
    }

    /// When a writer that gathers rows wants to send them.
    pub(crate) fn flush_due(&self) -> Option<Instant> {
        self.dirty_since.zip(self.interval).map(|(since, interval)| since + interval)
    }

    /// Sends what the writer has buffered if its interval is over; without an interval, if the task is quiet.
    pub(crate) async fn flush(&mut self, now: Instant, is_quiet: bool) -> Result<()> {
        let is_due = match self.interval {
            None => is_quiet,
            Some(_) => self.flush_due().is_some_and(|due| due <= now),
        };
        if is_due { self.flush_now().await } else { Ok(()) }
    }

    async fn flush_now(&mut self) -> Result<()> {
        match self.dirty_since.take() {
            Some(_) => self.writer.flush().await,
            None => Ok(()),
        }
    }

    /// Everything written before belongs to `epoch`.
    pub(crate) async fn checkpoint(&mut self, epoch: Epoch) -> Result<SinkCheckpoint> {
        self.flush_now().await?;
        let committables = self.writer.prepare_commit(epoch).await?;
        self.has_asked = false;
        Ok(SinkCheckpoint { writers: vec![self.writer.snapshot()?], committables })
    }

    pub(crate) fn into_writer(self) -> Box<dyn SinkWriter> {
        self.writer
    }
}
