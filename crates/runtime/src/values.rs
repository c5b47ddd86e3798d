//! Constant rows as a source.

use arrow::array::RecordBatch;
use base::connector::{ReadRequest, SourceEvent, SourceReader, SourceStatistics, SplitId, SplitState};
use base::{BoxFuture, ChangelogBatch, Error, Result};

const SPLIT: &str = "values";

/// Reads the rows of a VALUES node; its position is the number of rows given.
#[derive(Debug)]
pub(crate) struct ValuesReader {
    rows: RecordBatch,
    offset: usize,
}

impl ValuesReader {
    /// A reader that goes on from the restored position.
    pub(crate) fn new(rows: RecordBatch, restored: &[SplitState]) -> Result<ValuesReader> {
        let offset = match restored.first() {
            None => 0,
            Some(state) => {
                let bytes = state.position.as_slice().try_into();
                u64::from_le_bytes(bytes.map_err(|_| Error::internal("the position in VALUES is not 8 bytes"))?)
                    as usize
            }
        };
        Ok(ValuesReader { offset: offset.min(rows.num_rows()), rows })
    }

    fn read(&mut self, rows_max: usize) -> SourceEvent {
        let length = rows_max.min(self.rows.num_rows() - self.offset);
        if length == 0 {
            return SourceEvent::End;
        }
        let batch = ChangelogBatch::inserts(self.rows.slice(self.offset, length));
        self.offset += length;
        SourceEvent::Batch { split: SplitId::from(SPLIT), batch }
    }
}

impl SourceReader for ValuesReader {
    fn next<'a>(&'a mut self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<SourceEvent>> {
        // Read when polled: a future that is dropped before has taken nothing.
        Box::pin(async move { Ok(self.read(request.rows_max)) })
    }

    fn snapshot(&mut self) -> Result<Vec<SplitState>> {
        let position = (self.offset as u64).to_le_bytes().to_vec();
        Ok(vec![SplitState { split: SplitId::from(SPLIT), position }])
    }

    fn statistics(&self) -> SourceStatistics {
        SourceStatistics { records: self.offset as u64, lag: Some(0), ..SourceStatistics::default() }
    }
}
