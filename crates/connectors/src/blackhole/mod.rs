//! Connector `blackhole`: takes every change and keeps nothing; for measuring what comes before it.

use crate::declared;
use base::connector::*;
use base::{BoxFuture, ChangelogBatch, Epoch, Error, OptionSpec, Result, RowType, TableDefinition};
use std::sync::Arc;

const OWNER: &str = "connector 'blackhole'";
const OPTIONS: &[OptionSpec] = &[];

/// The factory.
#[derive(Debug)]
pub(crate) struct Blackhole;

impl ConnectorFactory for Blackhole {
    fn name(&self) -> &'static str {
        "blackhole"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn describe(&self, table: &TableDefinition, context: &ConnectorContext) -> Result<TableDescription> {
        declared::check(table, OPTIONS, &[], OWNER, context)?;
        Ok(TableDescription {
            source: None,
            sink: Some(SinkDescription {
                input: SinkInput::Any,
                guarantee: Guarantee::ExactlyOnce,
                guarantee_reason: "nothing is kept, so nothing is there twice",
                parallelism_max: None,
            }),
            warnings: Vec::new(),
        })
    }

    fn source(&self, table: &TableDefinition, _: &ScanSpec, _: &ConnectorContext) -> Result<Arc<dyn SourceProvider>> {
        Err(declared::wrong_direction(table, OWNER, "source"))
    }

    fn sink(&self, table: &TableDefinition, _: &RowType, context: &ConnectorContext) -> Result<Arc<dyn SinkProvider>> {
        declared::check(table, OPTIONS, &[], OWNER, context)?;
        Ok(Arc::new(Nowhere))
    }
}

#[derive(Debug)]
struct Nowhere;

impl SinkProvider for Nowhere {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn writer(&self, _: Instance, _: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(Nowhere))
    }
}

impl SinkWriter for Nowhere {
    fn write<'a>(&'a mut self, _: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn prepare_commit<'a>(&'a mut self, _: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}
