//! FOR SYSTEM_TIME AS OF now.

use super::builder::{Builder, Relation};
use super::join_codes as codes;
use super::scan::table_name;
use crate::nodes::temporal::TemporalJoinNode;
use crate::table_source::catalog_table;
use base::{Error, Result};
use datafusion_expr::LogicalPlan;

impl Builder<'_> {
    /// Every left row with the right rows as of now.
    ///
    /// # Errors
    /// A table that cannot be asked.
    pub fn join_now(&mut self, node: &TemporalJoinNode, _left: Relation) -> Result<Relation> {
        let (name, connector) = asked_table(&node.right)
            .unwrap_or_else(|| ("of the query".to_string(), "a query".to_string()));
        Err(Error::new(&codes::LOOKUP_TABLE, &[("table", &name), ("connector", &connector)]))
    }
}

/// The first table of a plan, and its connector.
fn asked_table(plan: &LogicalPlan) -> Option<(String, String)> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let table = catalog_table(scan.source.as_ref())?;
            Some((table_name(&table.definition.path), table.factory.name().to_string()))
        }
        other => other.inputs().into_iter().find_map(asked_table),
    }
}
