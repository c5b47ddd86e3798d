//! SHOW CREATE: statements that make a table or view again.

use super::show::{metadata_text, quoted};
use crate::catalog::{CatalogTable, View};
use base::{ColumnKind, LogicalType, ObjectPath, SqlType};

fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn path(path: &ObjectPath) -> String {
    [&path.catalog, &path.database, &path.name].map(|part| identifier(part)).join(".")
}

/// The type with its length spelled out, as Flink does here.
fn type_text(sql_type: &SqlType) -> String {
    let logical = match &sql_type.logical {
        LogicalType::VarChar(length) => format!("VARCHAR({length})"),
        LogicalType::VarBinary(length) => format!("VARBINARY({length})"),
        LogicalType::TimestampLtz(precision) => format!("TIMESTAMP({precision}) WITH LOCAL TIME ZONE"),
        other => other.to_string(),
    };
    if sql_type.nullable { logical } else { format!("{logical} NOT NULL") }
}

/// CREATE TABLE.
pub fn table(table: &CatalogTable) -> String {
    let definition = &table.definition;
    let mut elements: Vec<String> = definition
        .columns
        .iter()
        .map(|column| {
            let name = identifier(&column.name);
            let mut element = match &column.kind {
                ColumnKind::Physical => format!("{name} {}", type_text(&column.sql_type)),
                ColumnKind::Computed { sql } => format!("{name} AS {}", quoted(sql)),
                ColumnKind::Metadata { key, is_virtual } => {
                    format!("{name} {} {}", type_text(&column.sql_type), metadata_text(&column.name, key, *is_virtual))
                }
            };
            if let Some(comment) = &column.comment {
                element.push_str(&format!(" COMMENT {}", text(comment)));
            }
            element
        })
        .collect();
    if let Some(watermark) = &definition.watermark {
        elements.push(format!("WATERMARK FOR {} AS {}", identifier(&watermark.column), quoted(&watermark.sql)));
    }
    if !definition.primary_key.is_empty() {
        let columns: Vec<String> = definition.primary_key.iter().map(|name| identifier(name)).collect();
        let name = identifier(&format!("PK_{}", definition.primary_key.join("_")));
        elements.push(format!("CONSTRAINT {name} PRIMARY KEY ({}) NOT ENFORCED", columns.join(", ")));
    }
    let kind = if table.temporary { "CREATE TEMPORARY TABLE" } else { "CREATE TABLE" };
    let mut out = format!("{kind} {} (\n  {}\n)\n", path(&definition.path), elements.join(",\n  "));
    if let Some(comment) = &definition.comment {
        out.push_str(&format!("COMMENT {}\n", text(comment)));
    }
    if !definition.partitioned_by.is_empty() {
        let columns: Vec<String> = definition.partitioned_by.iter().map(|name| identifier(name)).collect();
        out.push_str(&format!("PARTITIONED BY ({})\n", columns.join(", ")));
    }
    let options: Vec<String> =
        definition.options.iter().map(|(key, value)| format!("  {} = {}", text(key), text(value))).collect();
    out.push_str(&format!("WITH (\n{}\n)\n", options.join(",\n")));
    out
}

/// CREATE VIEW.
pub fn view(view: &View) -> String {
    let kind = if view.temporary { "CREATE TEMPORARY VIEW" } else { "CREATE VIEW" };
    let mut out = format!("{kind} {}", path(&view.path));
    if !view.columns.is_empty() {
        let columns: Vec<String> = view.columns.iter().map(|name| identifier(name)).collect();
        out.push_str(&format!(" (\n  {}\n)", columns.join(",\n  ")));
    }
    if let Some(comment) = &view.comment {
        out.push_str(&format!("\nCOMMENT {}", text(comment)));
    }
    out.push_str(&format!("\nAS {}\n", view.sql));
    out
}
