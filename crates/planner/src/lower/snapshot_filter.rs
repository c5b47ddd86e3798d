//! A filter that loses the initial snapshot: `WHERE op IN ('c', 'u', 'd')` over the operation of a change data record.
//!
//! A connector that begins with a snapshot gives its rows the operation `r`. A condition that names other operations and
//! not that one leaves out every row that was there before, which is rarely meant.

use super::builder::Builder;
use super::codes::SNAPSHOT_FILTER;
use super::scan::table_name;
use crate::catalog::CatalogTable;
use crate::expression::{self, Tree};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use base::plan::NodeId;
use base::{ColumnKind, Error};
use std::sync::Arc;

/// The metadata key of the operation.
const OPERATION: &str = "value.op";
/// The operation of a row of the snapshot.
const SNAPSHOT: &str = "r";

/// A scan's column with the operation.
#[derive(Debug)]
pub struct Operation {
    node: NodeId,
    column: usize,
    table: String,
}

impl Builder<'_> {
    /// Remembers where a scan gives the operation; `output` are the columns of the table that it gives.
    pub fn note_operation(&mut self, node: NodeId, table: &CatalogTable, output: &[usize]) {
        let is_operation = |column: &&usize| matches!(&table.definition.columns[**column].kind, ColumnKind::Metadata { key, .. } if key == OPERATION);
        let Some(column) = output.iter().position(|column| is_operation(&column)) else { return };
        if !self.operations.iter().any(|known| known.node == node) {
            self.operations.push(Operation { node, column, table: table_name(&table.definition.path) });
        }
    }

    /// Warns of a condition over the columns of `node` that loses the snapshot.
    pub fn check_snapshot(&mut self, node: NodeId, condition: &Tree) {
        let Some(operation) = self.operations.iter().find(|known| known.node == node) else { return };
        if condition.columns().iter().ne([&operation.column]) || !condition.hidden().is_empty() || names_it(condition) {
            return;
        }
        let takes = |code: &str| self.takes(condition, code);
        if !["c", "u", "d"].into_iter().any(takes) || takes(SNAPSHOT) {
            return;
        }
        let names: Vec<String> = self.fields(node).iter().map(|field| field.name.clone()).collect();
        let column = &names[operation.column];
        let sql = expression::sql(condition, &names);
        let warning =
            Error::new(&SNAPSHOT_FILTER, &[("table", &operation.table), ("column", column), ("condition", &sql)]);
        // A view that several queries read is lowered for each of them.
        if !self.warnings.iter().any(|known| known.to_string() == warning.to_string()) {
            self.warnings.push(warning);
        }
    }

    /// Whether a condition over the operation alone is true for `code`.
    fn takes(&self, condition: &Tree, code: &str) -> bool {
        let value: ArrayRef = Arc::new(StringArray::from(vec![code]));
        let constant = condition.replace(&mut |leaf| match leaf {
            Tree::Column { sql_type, .. } => Some(Tree::Literal { value: value.clone(), sql_type: sql_type.clone() }),
            _ => None,
        });
        let result = expression::constant(&constant, &self.context.functions);
        result.is_ok_and(|array| array.as_boolean_opt().is_some_and(|array| array.is_valid(0) && array.value(0)))
    }
}

/// Whether the snapshot's operation stands in a condition: then leaving it out is meant.
fn names_it(condition: &Tree) -> bool {
    let mut found = false;
    condition.visit(&mut |part| {
        if let Tree::Literal { value, .. } = part {
            found |= value.as_string_opt::<i32>().is_some_and(|text| text.is_valid(0) && text.value(0) == SNAPSHOT);
        }
    });
    found
}
