//! The tables of the catalog as DataFusion sees them: a schema, and the way back to the catalog.

use crate::bridge::typed_schema;
use crate::catalog::CatalogTable;
use arrow::datatypes::SchemaRef;
use datafusion_expr::TableSource;
use std::any::Any;
use std::sync::Arc;

/// A table in a logical plan. Its schema has all columns of the table, time attributes included.
///
/// The primary key is not given to DataFusion: it would widen GROUP BY by dependent columns.
#[derive(Debug)]
pub struct CatalogTableSource {
    table: Arc<CatalogTable>,
    schema: SchemaRef,
}

impl CatalogTableSource {
    /// The source of `table`.
    pub fn new(table: Arc<CatalogTable>) -> CatalogTableSource {
        let schema = typed_schema(&table.row);
        CatalogTableSource { table, schema }
    }

    /// The table.
    pub fn table(&self) -> &Arc<CatalogTable> {
        &self.table
    }
}

impl TableSource for CatalogTableSource {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// The catalog table behind the source of a table scan.
pub fn catalog_table(source: &dyn TableSource) -> Option<&Arc<CatalogTable>> {
    source.as_any().downcast_ref::<CatalogTableSource>().map(CatalogTableSource::table)
}
