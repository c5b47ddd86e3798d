//! DataFusion's binding errors as ours, with the place of the name that they are about.

use super::codes as own;
use super::positions::{Places, Positions, locate};
use super::provider::plain_error;
use super::rewrite::GROUP_WINDOWS;
use crate::catalog::CatalogTable;
use crate::codes;
use arrow::datatypes::DataType;
use base::nearest::nearest;
use base::{Error, LogicalType};
use datafusion_common::{Column, DataFusionError, SchemaError};
use std::sync::Arc;
use syntax::Span;
use syntax::ast::Ident;

/// What is known about the statement that failed.
pub struct Scene<'a> {
    /// Where names stand.
    pub places: &'a Places,
    /// The script.
    pub positions: Option<&'a Positions<'a>>,
    /// Aliases that GROUP BY or HAVING tried to use.
    pub hidden_aliases: &'a [(String, &'static str, String, Span)],
    /// The tables that the statement reads, as far as they are known.
    pub tables: &'a [Arc<CatalogTable>],
}

/// Our error for one of DataFusion's.
pub fn translate(error: DataFusionError, scene: &Scene<'_>) -> Error {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => place(*error, scene),
            Err(other) => Error::new(&codes::BIND, &[("reason", &other)]),
        },
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => translate(*inner, scene),
        DataFusionError::Collection(errors) => match errors.into_iter().next() {
            Some(first) => translate(first, scene),
            None => Error::internal("an empty list of errors"),
        },
        DataFusionError::Shared(inner) => match std::sync::Arc::try_unwrap(inner) {
            Ok(inner) => translate(inner, scene),
            Err(inner) => inspect(&inner, scene),
        },
        DataFusionError::SchemaError(error, _) => schema_error(&error, scene),
        other => inspect(&other, scene),
    }
}

/// An error that cannot be taken apart.
fn inspect(error: &DataFusionError, scene: &Scene<'_>) -> Error {
    let root = error.find_root();
    if let DataFusionError::External(inner) = root
        && let Some(error) = inner.downcast_ref::<Error>()
    {
        return place(error.clone(), scene);
    }
    if let DataFusionError::SchemaError(error, _) = root {
        return schema_error(error, scene);
    }
    if let Some(name) = misplaced_window(&plain_error(root)) {
        let problem = "it belongs into GROUP BY, or into FROM as a table function";
        let example = format!("GROUP BY {name}(...), or FROM TABLE({name}(TABLE t, DESCRIPTOR(ts), ...))");
        return Error::new(
            &codes::WINDOW_ARGUMENT,
            &[("function", &name), ("problem", &problem), ("example", &example)],
        );
    }
    if let DataFusionError::NotImplemented(feature) = root {
        return Error::unsupported(feature);
    }
    let text = plain_error(root);
    if let Some(column) = not_grouped(&text) {
        let name = column.rsplit('.').next().unwrap_or(&column).trim_end_matches('\u{1}').to_string();
        let error = Error::new(&codes::NOT_GROUPED, &[("name", &name)]);
        return at_column(error, None, &name, scene);
    }
    if let Some((_, arrow)) =
        text.split_once("non-boolean predicate").and_then(|(_, rest)| rest.split_once("returning "))
        && let Ok(arrow) = arrow.trim().parse::<DataType>()
        && let Ok(logical) = LogicalType::from_arrow_type(&arrow)
    {
        return Error::new(&codes::NOT_BOOLEAN, &[("clause", &"WHERE"), ("type", &logical)]);
    }
    if let Some((_, name)) = text.split_once("Invalid qualifier ") {
        return Error::unsupported(format!("{name}.* where {name} is no table of FROM: the fields of a row"));
    }
    let reason = text.trim_start_matches("Error during planning: ").trim_start_matches("Execution error: ").to_string();
    Error::new(&codes::BIND, &[("reason", &reason)])
}

/// The window function of "Invalid function 'TUMBLE'".
fn misplaced_window(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("Invalid function '")?;
    let name = rest.split_once('\'')?.0;
    (GROUP_WINDOWS.contains(&name) || name == "CUMULATE").then(|| name.to_string())
}

/// The column of "Column in SELECT must be in GROUP BY ..." and its likes.
fn not_grouped(text: &str) -> Option<String> {
    if !text.contains("must appear in the GROUP BY clause") && !text.contains("must be in GROUP BY") {
        return None;
    }
    let (_, rest) = text.split_once("column \"")?;
    Some(rest.split_once('"')?.0.to_string())
}

fn schema_error(error: &SchemaError, scene: &Scene<'_>) -> Error {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => unknown_field(field, valid_fields, scene),
        SchemaError::AmbiguousReference { field } => {
            let candidates = format!("t.{}", field.name);
            let error = Error::new(&codes::AMBIGUOUS_COLUMN, &[("name", &field.name), ("candidates", &candidates)]);
            at_column(error, None, &field.name, scene)
        }
        other => Error::new(&codes::BIND, &[("reason", other)]),
    }
}

fn unknown_field(column: &Column, valid: &[Column], scene: &Scene<'_>) -> Error {
    let hidden = scene.hidden_aliases.iter().find(|(alias, ..)| *alias == column.name && column.relation.is_none());
    if let Some((alias, clause, expression, span)) = hidden {
        return locate(hidden_alias(clause, alias, expression), scene.positions, *span);
    }
    let qualifier = column.relation.as_ref().map(|relation| relation.table().to_string());
    let mut names: Vec<&str> = Vec::new();
    for valid in valid {
        if !names.contains(&valid.name.as_str()) && !valid.name.contains('\u{1}') {
            names.push(&valid.name);
        }
    }
    let error = unknown_column(qualifier.as_deref(), &column.name, &names, scene.tables);
    at_column(error, qualifier.as_deref(), &column.name, scene)
}

/// A name of parts as it is written.
pub fn shown_name(parts: &[Ident]) -> String {
    parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".")
}

/// GROUP BY or HAVING with an alias of SELECT.
pub fn hidden_alias(clause: &str, alias: &str, expression: &str) -> Error {
    Error::new(&codes::GROUP_BY_ALIAS, &[("clause", &clause), ("name", &alias), ("expression", &expression)])
}

/// A column that none of `tables` has; `names` are the columns that could be meant.
pub fn unknown_column(qualifier: Option<&str>, name: &str, names: &[&str], tables: &[Arc<CatalogTable>]) -> Error {
    if let Some(error) = message_value(name, tables) {
        return error;
    }
    let shown = match qualifier {
        Some(table) => format!("{table}.{name}"),
        None => name.to_string(),
    };
    let columns = names.join(", ");
    let near = nearest(name, names.iter().copied());
    if near.is_empty() {
        if let Some((table, source, expression)) = derived(qualifier, name, tables) {
            return Error::new(
                &own::UNKNOWN_COLUMN_EXPRESSION,
                &[
                    ("name", &shown),
                    ("bare", &name),
                    ("table", &table),
                    ("nearest", &source),
                    ("expression", &expression),
                    ("columns", &columns),
                ],
            );
        }
        return Error::new(&codes::UNKNOWN_COLUMN_LIST, &[("name", &shown), ("columns", &columns)]);
    }
    Error::new(&codes::UNKNOWN_COLUMN, &[("name", &shown), ("nearest", &near.join(", ")), ("columns", &columns)])
}

/// Names of parts of a timestamp, and how they are computed.
const DERIVED_COLUMNS: [(&[&str], &str, &str); 4] = [
    (&["dt", "date", "day", "ds", "stat_date", "biz_date", "do_date", "p_date"], "CAST(", " AS DATE)"),
    (&["hour", "hr", "hh", "do_hour"], "DATE_FORMAT(", ", 'HH')"),
    (&["minute", "do_min"], "DATE_FORMAT(", ", 'HH:mm')"),
    (&["month", "stat_month"], "DATE_FORMAT(", ", 'yyyy-MM')"),
];

/// A part of a timestamp that people expect as a column: the table, its timestamp, and the expression.
fn derived(qualifier: Option<&str>, name: &str, tables: &[Arc<CatalogTable>]) -> Option<(String, String, String)> {
    let lower = name.to_lowercase();
    let (_, before, after) = DERIVED_COLUMNS.iter().find(|(names, ..)| names.contains(&lower.as_str()))?;
    tables.iter().find_map(|table| {
        let times =
            table.row.fields().iter().filter(|field| {
                matches!(field.sql_type.logical, LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_))
            });
        let time = times.min_by_key(|field| field.time.is_none())?;
        let shown = qualifier.map_or_else(|| time.name.clone(), |qualifier| format!("{qualifier}.{}", time.name));
        Some((table.definition.path.name.clone(), time.name.clone(), format!("{before}{shown}{after}")))
    })
}

/// The error for `value` of a table whose rows are messages with a key and a value.
fn message_value(name: &str, tables: &[Arc<CatalogTable>]) -> Option<Error> {
    if !name.eq_ignore_ascii_case("value") {
        return None;
    }
    let table = tables.iter().find(|table| table.factory.name() == "upsert-kafka")?;
    let definition = &table.definition;
    let columns: Vec<&str> = definition.columns.iter().map(|column| column.name.as_str()).collect();
    let option = |key| definition.options.get(key).unwrap_or("...");
    let arguments: [(&'static str, &dyn std::fmt::Display); 5] = [
        ("table", &definition.path.name),
        ("name", &name),
        ("columns", &columns.join(", ")),
        ("topic", &option("topic")),
        ("servers", &option("properties.bootstrap.servers")),
    ];
    Some(Error::new(&codes::MESSAGE_VALUE, &arguments))
}

fn at_column(error: Error, qualifier: Option<&str>, name: &str, scene: &Scene<'_>) -> Error {
    match scene.places.find_column(qualifier, name) {
        Some(span) => locate(error, scene.positions, span),
        None => error,
    }
}

/// Gives an error that knows a table or column by name its place.
fn place(error: Error, scene: &Scene<'_>) -> Error {
    let table = error.argument("name").or_else(|| error.argument("table"));
    let span = table
        .and_then(|name| scene.places.find_table(name))
        .or_else(|| error.argument("column").and_then(|name| scene.places.find_column(None, name)));
    let error = match span {
        Some(span) => locate(error, scene.positions, span),
        None => error,
    };
    if error.code() != codes::NOT_TIME_ATTRIBUTE.code {
        return error;
    }
    // Functions know columns only: the table is the one of FROM that has the column.
    let column = error.argument("column").unwrap_or_default();
    let table = scene.tables.iter().find(|table| table.row.index_of(column).is_some());
    let name = table.map_or("...", |table| table.definition.path.name.as_str());
    error.with("table", name)
}
