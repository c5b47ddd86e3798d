//! Table definitions: what a `CREATE TABLE` says.

use crate::options::Options;
use crate::types::{RowType, SqlType};
use std::fmt;

/// The full name of an object: catalog, database, name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectPath {
    /// Catalog.
    pub catalog: String,
    /// Database.
    pub database: String,
    /// Table, view or function.
    pub name: String,
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`.`{}`.`{}`", self.catalog, self.database, self.name)
    }
}

/// Where the values of a column come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnKind {
    /// From the records.
    Physical,
    /// From an expression; the text is the user's own.
    Computed {
        /// The expression as written.
        sql: String,
    },
    /// From the connector or the format.
    Metadata {
        /// The metadata key: the FROM text, else the column's name.
        key: String,
        /// Whether the column is left out when the table is written.
        is_virtual: bool,
    },
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Declared or derived type.
    pub sql_type: SqlType,
    /// Where its values come from.
    pub kind: ColumnKind,
    /// COMMENT.
    pub comment: Option<String>,
}

/// The WATERMARK clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatermarkDefinition {
    /// The rowtime column.
    pub column: String,
    /// The expression as written.
    pub sql: String,
}

/// How an entry of PARTITIONED BY divides rows by a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionTransform {
    /// One partition per value.
    Identity,
    /// One per year of a time.
    Years,
    /// One per month.
    Months,
    /// One per day.
    Days,
    /// One per hour.
    Hours,
    /// By a hash of the value, into so many partitions.
    Bucket(u32),
    /// By the first characters of a text, or a number rounded down to a multiple of the width.
    Truncate(u32),
}

/// An entry of PARTITIONED BY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionField {
    /// Name of the column.
    pub column: String,
    /// What is made of its values.
    pub transform: PartitionTransform,
}

impl From<&str> for PartitionField {
    fn from(column: &str) -> PartitionField {
        PartitionField { column: column.into(), transform: PartitionTransform::Identity }
    }
}

/// A table as connectors and the planner know it.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDefinition {
    /// Full name.
    pub path: ObjectPath,
    /// All columns, in declared order.
    pub columns: Vec<Column>,
    /// Names of the primary key columns, empty without a key.
    pub primary_key: Vec<String>,
    /// The WATERMARK clause.
    pub watermark: Option<WatermarkDefinition>,
    /// PARTITIONED BY.
    pub partitioned_by: Vec<PartitionField>,
    /// The WITH clause.
    pub options: Options,
    /// COMMENT.
    pub comment: Option<String>,
}

impl TableDefinition {
    /// The physical columns: what records hold.
    pub fn physical(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.kind == ColumnKind::Physical)
    }

    /// The physical columns as a row.
    pub fn physical_row(&self) -> RowType {
        RowType::new(self.physical().map(|c| crate::types::Field::new(c.name.clone(), c.sql_type.clone())).collect())
    }

    /// The columns that a sink writes: physical columns and metadata columns that are not virtual, in declared order.
    pub fn persisted(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| match &column.kind {
            ColumnKind::Physical => true,
            ColumnKind::Metadata { is_virtual, .. } => !is_virtual,
            ColumnKind::Computed { .. } => false,
        })
    }

    /// A column by its exact name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}
