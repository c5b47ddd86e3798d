//! A table without a connector: Flink takes its definition, for LIKE to build on and for ALTER TABLE to complete. It can
//! be neither read nor written.

use base::connector::{
    ConnectorContext, ConnectorFactory, Partitioning, ScanSpec, SinkProvider, SourceProvider, TableDescription,
};
use base::{Error, OptionSpec, Result, RowType, TableDefinition};
use std::sync::Arc;

/// What stands in the place of a connector.
#[derive(Debug)]
pub struct Incomplete;

fn unused<T>() -> Result<T> {
    Err(Error::internal("a table without a connector is used"))
}

impl ConnectorFactory for Incomplete {
    fn name(&self) -> &'static str {
        ""
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn partitioning(&self) -> Partitioning {
        Partitioning::Transforms
    }

    fn describe(&self, _: &TableDefinition, _: &ConnectorContext) -> Result<TableDescription> {
        Ok(TableDescription { source: None, sink: None, warnings: Vec::new() })
    }

    fn source(&self, _: &TableDefinition, _: &ScanSpec, _: &ConnectorContext) -> Result<Arc<dyn SourceProvider>> {
        unused()
    }

    fn sink(&self, _: &TableDefinition, _: &RowType, _: &ConnectorContext) -> Result<Arc<dyn SinkProvider>> {
        unused()
    }
}
