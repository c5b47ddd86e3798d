//! SHOW CREATE: statements that make a table or view again.

use super::describe::{metadata_text, quoted};
use crate::catalog::{CatalogTable, Properties, View};
use base::options::shown;
use base::{ColumnKind, LogicalType, ObjectPath, Options, PartitionField, PartitionTransform, SqlType};
use syntax::statement;
use syntax::{TypeKind, TypeName};

fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn path(path: &ObjectPath) -> String {
    [&path.catalog, &path.database, &path.name].map(|part| identifier(part)).join(".")
}

/// The type with its length spelled out, as Flink does here, inside other types too.
pub fn type_text(sql_type: &SqlType) -> String {
    declared_text(sql_type, None)
}

/// The same with the comments of fields, which only the declaration knows.
fn declared_text(sql_type: &SqlType, declared: Option<&TypeName>) -> String {
    let kind = declared.map(|declared| &declared.kind);
    let logical = match &sql_type.logical {
        LogicalType::VarChar(length) => format!("VARCHAR({length})"),
        LogicalType::VarBinary(length) => format!("VARBINARY({length})"),
        LogicalType::TimestampLtz(precision) => format!("TIMESTAMP({precision}) WITH LOCAL TIME ZONE"),
        LogicalType::Array(element) => {
            let declared = if let Some(TypeKind::Array(element)) = kind { Some(element.as_ref()) } else { None };
            format!("ARRAY<{}>", declared_text(element, declared))
        }
        LogicalType::Multiset(element) => {
            let declared = if let Some(TypeKind::Multiset(element)) = kind { Some(element.as_ref()) } else { None };
            format!("MULTISET<{}>", declared_text(element, declared))
        }
        LogicalType::Map(key, value) => {
            let declared = if let Some(TypeKind::Map(key, value)) = kind { Some((key, value)) } else { None };
            let of_key = declared_text(key, declared.map(|(key, _)| key.as_ref()));
            format!("MAP<{of_key}, {}>", declared_text(value, declared.map(|(_, value)| value.as_ref())))
        }
        LogicalType::Row(fields) => {
            let written = if let Some(TypeKind::Row(fields)) = kind { fields.as_slice() } else { &[] };
            let field = |(index, (name, sql_type)): (usize, &(String, SqlType))| {
                let written = written.get(index);
                let plain = declared_text(sql_type, written.map(|field| &field.type_name));
                let comment = written.and_then(|field| field.comment.as_ref());
                let comment = comment.map_or_else(String::new, |comment| format!(" {}", text(comment)));
                format!("{} {plain}{comment}", identifier(name))
            };
            format!("ROW<{}>", fields.iter().enumerate().map(field).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    };
    if sql_type.nullable { logical } else { format!("{logical} NOT NULL") }
}

/// The type of a column as the statement gave it.
fn declaration<'a>(table: &'a CatalogTable, column: &str) -> Option<&'a TypeName> {
    let declared = table.declared.columns.iter().find(|declared| declared.name.value == column)?;
    match &declared.kind {
        statement::ColumnKind::Physical(type_name) | statement::ColumnKind::Metadata { type_name, .. } => {
            Some(type_name)
        }
        _ => None,
    }
}

/// An entry of PARTITIONED BY.
pub fn partition_text(field: &PartitionField) -> String {
    let column = identifier(&field.column);
    match field.transform {
        PartitionTransform::Identity => column,
        PartitionTransform::Years => format!("years({column})"),
        PartitionTransform::Months => format!("months({column})"),
        PartitionTransform::Days => format!("days({column})"),
        PartitionTransform::Hours => format!("hours({column})"),
        PartitionTransform::Bucket(count) => format!("bucket({count}, {column})"),
        PartitionTransform::Truncate(width) => format!("truncate({width}, {column})"),
    }
}

/// CREATE TABLE.
pub fn table(table: &CatalogTable) -> String {
    let definition = &table.definition;
    let mut elements: Vec<String> = definition
        .columns
        .iter()
        .map(|column| {
            let name = identifier(&column.name);
            let type_text = || declared_text(&column.sql_type, declaration(table, &column.name));
            let mut element = match &column.kind {
                ColumnKind::Physical => format!("{name} {}", type_text()),
                ColumnKind::Computed { sql } => format!("{name} AS {}", quoted(sql)),
                ColumnKind::Metadata { key, is_virtual } => {
                    format!("{name} {} {}", type_text(), metadata_text(&column.name, key, *is_virtual))
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
        let declared = table.declared.primary_key.as_ref().and_then(|key| key.name.as_ref());
        let names = || key_name(definition.primary_key.iter().map(String::as_str));
        let name = identifier(&declared.map_or_else(names, |name| name.value.clone()));
        elements.push(format!("CONSTRAINT {name} PRIMARY KEY ({}) NOT ENFORCED", columns.join(", ")));
    }
    let kind = if table.temporary { "CREATE TEMPORARY TABLE" } else { "CREATE TABLE" };
    let mut out = format!("{kind} {} (\n  {}\n)\n", path(&definition.path), elements.join(",\n  "));
    if let Some(comment) = &definition.comment {
        out.push_str(&format!("COMMENT {}\n", text(comment)));
    }
    if !definition.partitioned_by.is_empty() {
        let fields: Vec<String> = definition.partitioned_by.iter().map(partition_text).collect();
        out.push_str(&format!("PARTITIONED BY ({})\n", fields.join(", ")));
    }
    out.push_str(&with_clause(&definition.options));
    out
}

/// The name of a primary key that was given none.
pub fn key_name<'a>(columns: impl Iterator<Item = &'a str>) -> String {
    format!("PK_{}", columns.collect::<Vec<_>>().join("_"))
}

/// The WITH clause, secrets masked; nothing without options.
fn with_clause(options: &Options) -> String {
    let lines: Vec<String> =
        options.iter().map(|(key, value)| format!("  {} = {}", text(key), text(shown(key, value)))).collect();
    if lines.is_empty() { String::new() } else { format!("WITH (\n{}\n)\n", lines.join(",\n")) }
}

/// CREATE CATALOG.
pub fn catalog(name: &str, properties: &Properties) -> String {
    let mut out = format!("CREATE CATALOG {}\n", identifier(name));
    if let Some(comment) = &properties.comment {
        out.push_str(&format!("COMMENT {}\n", text(comment)));
    }
    out.push_str(&with_clause(&properties.options));
    out
}

/// CREATE VIEW.
pub fn view(view: &View) -> String {
    let kind = if view.temporary { "CREATE TEMPORARY VIEW" } else { "CREATE VIEW" };
    let mut out = format!("{kind} {}", path(&view.path));
    if !view.columns.is_empty() {
        let comments = view.column_comments.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let columns: Vec<String> = view
            .columns
            .iter()
            .zip(comments)
            .map(|(name, comment)| match comment {
                Some(comment) => format!("{} COMMENT {}", identifier(name), text(comment)),
                None => identifier(name),
            })
            .collect();
        out.push_str(&format!(" (\n  {}\n)", columns.join(",\n  ")));
    }
    if let Some(comment) = &view.comment {
        out.push_str(&format!("\nCOMMENT {}", text(comment)));
    }
    out.push_str(&format!("\nAS {}\n", view.sql));
    out
}
