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

/// One writer with the checks before it.
pub(crate) struct SinkBody {
    writer: Box<dyn SinkWriter>,
    table: String,
    /// Position and name of the columns that must not be NULL.
    not_null: Vec<(usize, String)>,
    enforcer: NotNullEnforcer,
    /// Whether rows were written after the last flush.
    is_dirty: bool,
}

impl SinkBody {
    pub(crate) fn new(sink: &Sink, input: &RowType, writer: Box<dyn SinkWriter>) -> SinkBody {
        let name = |&column: &usize| (column, input.fields()[column].name.clone());
        SinkBody {
            writer,
            table: sink.table.clone(),
            not_null: sink.not_null.iter().map(name).collect(),
            enforcer: sink.enforcer,
            is_dirty: false,
        }
    }

    /// Writes rows.
    pub(crate) async fn write(&mut self, batch: ChangelogBatch, counters: &Counters) -> Result<()> {
        let batch = self.enforce(batch, counters)?;
        if batch.is_empty() {
            return Ok(());
        }
        self.is_dirty = true;
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

    pub(crate) fn watermark(&mut self, watermark_ms: i64) {
        self.writer.watermark(watermark_ms);
    }

    /// Sends what the writer has buffered.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_dirty) {
            self.writer.flush().await?;
        }
        Ok(())
    }

    /// Everything written before belongs to `epoch`.
    pub(crate) async fn checkpoint(&mut self, epoch: Epoch) -> Result<SinkCheckpoint> {
        self.flush().await?;
        let committables = self.writer.prepare_commit(epoch).await?;
        Ok(SinkCheckpoint { writers: vec![self.writer.snapshot()?], committables })
    }

    pub(crate) fn into_writer(self) -> Box<dyn SinkWriter> {
        self.writer
    }
}
