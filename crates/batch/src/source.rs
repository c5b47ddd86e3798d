//! The result of a query as a bounded source, which the runtime reads like any other.

use crate::codes;
use crate::lower::to_error;
use crate::query::Prepared;
use base::connector::{Instance, ReadRequest, SourceEvent, SourceProvider, SourceReader, SourceStatistics, SplitState};
use base::{BoxFuture, ChangelogBatch, Error, Result};
use datafusion_physical_plan::SendableRecordBatchStream;
use futures_util::StreamExt;
use std::collections::VecDeque;
use std::sync::Arc;

/// A planned query.
#[derive(Debug)]
pub struct QuerySource {
    prepared: Arc<Prepared>,
}

impl QuerySource {
    /// The source of a query's result.
    pub fn new(prepared: Prepared) -> QuerySource {
        QuerySource { prepared: Arc::new(prepared) }
    }
}

impl SourceProvider for QuerySource {
    fn start<'a>(&'a self, _restored: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn reader(&self, instance: Instance, _restored: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        Ok(Box::new(QueryReader {
            prepared: self.prepared.clone(),
            state: match instance.index {
                0 => State::New,
                // One reader has all rows, in their order.
                _ => State::Ended,
            },
            ready: VecDeque::new(),
        }))
    }

    fn splits_max(&self) -> Option<usize> {
        Some(1)
    }
}

enum State {
    New,
    Running(SendableRecordBatchStream),
    Ended,
}

struct QueryReader {
    prepared: Arc<Prepared>,
    state: State,
    /// Rows that are ready, in batches of the wanted size.
    ready: VecDeque<ChangelogBatch>,
}

impl QueryReader {
    async fn advance(&mut self, rows_max: usize) -> Result<SourceEvent> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(SourceEvent::Batch { split: "result".into(), batch });
            }
            match &mut self.state {
                State::Ended => return Ok(SourceEvent::End),
                State::New => self.state = State::Running(self.prepared.run()?),
                State::Running(stream) => match stream.next().await {
                    None => self.state = State::Ended,
                    Some(batch) => {
                        let batch = self.prepared.finish(&batch.map_err(to_error)?)?;
                        let starts = (0..batch.num_rows()).step_by(rows_max.max(1));
                        let slices = starts.map(|start| batch.slice(start, rows_max.min(batch.num_rows() - start)));
                        self.ready.extend(slices.map(ChangelogBatch::inserts));
                    }
                },
            }
        }
    }
}

impl SourceReader for QueryReader {
    fn next<'a>(&'a mut self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<SourceEvent>> {
        Box::pin(self.advance(request.rows_max))
    }

    fn snapshot(&mut self) -> Result<Vec<SplitState>> {
        match self.state {
            // A batch query begins anew.
            State::New | State::Ended => Ok(Vec::new()),
            // A part of a result must not be written as if it were all.
            State::Running(_) => Err(Error::new(&codes::BATCH_STOPPED, &[])),
        }
    }

    fn statistics(&self) -> SourceStatistics {
        self.prepared.statistics()
    }
}
