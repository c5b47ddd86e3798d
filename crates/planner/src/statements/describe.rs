//! DESCRIBE, with the columns of Flink's SQL client.

use super::insert::expression_text;
use super::show_create::partition_text;
use super::{database_name, name_parts};
use crate::binder::Binder;
use crate::binder::foreign::unknown_function;
use crate::binder::positions::{Positions, locate};
use crate::binder::rewrite::is_known_function;
use crate::catalog::{CatalogObject, CatalogTable, Properties, View};
use crate::session::{Outcome, Session};
use crate::statement_codes;
use crate::user_functions;
use crate::window_functions::WindowFunction;
use base::{ColumnKind, Error, PartitionTransform, Result, RowType, TimeAttribute};
use std::ops::ControlFlow;
use syntax::ast::{self, ObjectName, Spanned, VisitMut, VisitorMut};
use syntax::statement::{Describe, ObjectKind};

/// DESCRIBE.
pub fn describe(session: &Session, describe: &Describe, positions: &Positions<'_>) -> Result<Outcome> {
    let result = match describe.kind {
        ObjectKind::Table | ObjectKind::View => object(session, &describe.name),
        ObjectKind::Catalog => catalog(session, describe),
        ObjectKind::Database => database(session, describe),
        ObjectKind::Function => function(session, describe),
        ObjectKind::Model => Err(Error::new(&statement_codes::MODEL, &[("statement", &"DESCRIBE MODEL")])),
        ObjectKind::Connection => {
            Err(Error::new(&statement_codes::CONNECTION, &[("statement", &"DESCRIBE CONNECTION")]))
        }
        ObjectKind::MaterializedTable => {
            Err(Error::new(&statement_codes::MATERIALIZED_TABLE, &[("statement", &"DESCRIBE MATERIALIZED TABLE")]))
        }
    };
    result.map_err(|error| locate(error, Some(positions), describe.name.span()))
}

/// The columns of a table or view; a column of comments only if there are any.
pub fn object(session: &Session, name: &ObjectName) -> Result<Outcome> {
    let path = super::object_path(session, name)?;
    let (rows, comments) = match session.catalogs.object(&path)? {
        CatalogObject::Table(table) => {
            let comments = table.definition.columns.iter().map(|column| column.comment.clone()).collect();
            (describe_table(table), comments)
        }
        CatalogObject::View(view) => (describe_row(&view_row(session, view)?), view.column_comments.clone()),
    };
    let mut columns = ["name", "type", "null", "key", "extras", "watermark"].map(String::from).to_vec();
    let mut rows = rows;
    if comments.iter().any(Option::is_some) {
        columns.push("comment".into());
        rows.iter_mut().zip(comments).for_each(|(row, comment)| row.push(comment));
    }
    Ok(Outcome::Table { columns, rows })
}

fn view_row(session: &Session, view: &View) -> Result<RowType> {
    let binder =
        Binder::new(&session.catalogs, session.function_context()?, None).with_connector(session.connector_context()?);
    Binder::row_type(binder.bind_view(view)?.as_ref())
}

/// A list of properties, as Flink shows catalogs, databases and functions.
fn information(rows: Vec<(String, Option<String>)>) -> Outcome {
    let columns = ["info name", "info value"].map(String::from).to_vec();
    Outcome::Table { columns, rows: rows.into_iter().map(|(name, value)| vec![Some(name), value]).collect() }
}

fn with_options(mut rows: Vec<(String, Option<String>)>, properties: &Properties, extended: bool) -> Outcome {
    if extended {
        let options = properties.options.iter().map(|(key, value)| (format!("option:{key}"), Some(value.to_string())));
        rows.extend(options);
    }
    information(rows)
}

fn catalog(session: &Session, describe: &Describe) -> Result<Outcome> {
    let name = name_parts(&describe.name).join(".");
    let properties = session.catalogs.catalog(&name)?;
    let rows = vec![
        ("name".to_string(), Some(name)),
        ("type".to_string(), properties.options.get("type").map(str::to_string)),
        ("comment".to_string(), properties.comment.clone()),
    ];
    Ok(with_options(rows, properties, describe.extended))
}

fn database(session: &Session, describe: &Describe) -> Result<Outcome> {
    let (catalog, name) = database_name(session, &describe.name)?;
    let properties = session.catalogs.database(&catalog, &name)?;
    let rows = vec![
        ("name".to_string(), Some(name)),
        ("catalog".to_string(), Some(catalog)),
        ("comment".to_string(), properties.comment.clone()),
    ];
    Ok(with_options(rows, properties, describe.extended))
}

fn function(session: &Session, describe: &Describe) -> Result<Outcome> {
    let parts = name_parts(&describe.name);
    let name = parts.join(".");
    let yes_no = |yes: bool| Some(yes.to_string());
    let Some(function) = user_functions::resolve(&session.catalogs, &parts) else {
        let upper = name.to_uppercase();
        if !is_known_function(&upper) {
            return Err(unknown_function(&upper));
        }
        let is_aggregate = functions::aggregate(&upper).is_some() || WindowFunction::from_name(&upper).is_some();
        let kind = if is_aggregate { "AGGREGATE" } else { "SCALAR" };
        let mut rows = vec![("system function".to_string(), yes_no(true)), ("temporary".to_string(), yes_no(false))];
        if describe.extended {
            rows.push(("kind".to_string(), Some(kind.to_string())));
        }
        return Ok(information(rows));
    };
    let mut rows = vec![
        ("system function".to_string(), yes_no(function.system)),
        ("temporary".to_string(), yes_no(function.temporary)),
        ("function language".to_string(), Some("SQL".to_string())),
    ];
    if describe.extended {
        rows.push(("kind".to_string(), Some("SCALAR".to_string())));
        rows.push(("signature".to_string(), Some(function.signature())));
        rows.push(("expression".to_string(), Some(function.sql.clone())));
    }
    Ok(information(rows))
}

fn describe_row(row: &RowType) -> Vec<Vec<Option<String>>> {
    row.fields()
        .iter()
        .map(|field| {
            let time = match field.time {
                None => "",
                Some(TimeAttribute::Rowtime) => " *ROWTIME*",
                Some(TimeAttribute::Proctime) => " *PROCTIME*",
            };
            let null = if field.sql_type.nullable { "TRUE" } else { "FALSE" };
            vec![
                Some(field.name.clone()),
                Some(format!("{}{time}", field.sql_type.logical)),
                Some(null.to_string()),
                None,
                None,
                None,
            ]
        })
        .collect()
}

fn describe_table(table: &CatalogTable) -> Vec<Vec<Option<String>>> {
    let mut rows = describe_row(&table.row);
    let definition = &table.definition;
    for (row, column) in rows.iter_mut().zip(&definition.columns) {
        if definition.primary_key.contains(&column.name) {
            row[3] = Some(format!("PRI({})", definition.primary_key.join(", ")));
        }
        row[4] = match &column.kind {
            ColumnKind::Physical => partitions(table, &column.name),
            ColumnKind::Computed { sql } => Some(format!("AS {}", quoted(sql))),
            ColumnKind::Metadata { key, is_virtual } => Some(metadata_text(&column.name, key, *is_virtual)),
        };
        if let Some(watermark) = &definition.watermark
            && watermark.column == column.name
        {
            row[5] = Some(quoted(&watermark.sql));
        }
    }
    rows
}

/// What PARTITIONED BY makes of a column.
fn partitions(table: &CatalogTable, column: &str) -> Option<String> {
    let fields = table.definition.partitioned_by.iter().filter(|field| field.column == column);
    let texts: Vec<String> = fields
        .map(|field| match field.transform {
            PartitionTransform::Identity => "PARTITION KEY".to_string(),
            _ => format!("PARTITION KEY {}", partition_text(field)),
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// `METADATA FROM 'key' VIRTUAL`.
pub fn metadata_text(name: &str, key: &str, is_virtual: bool) -> String {
    let mut text = "METADATA".to_string();
    if key != name {
        text.push_str(&format!(" FROM '{}'", key.replace('\'', "''")));
    }
    if is_virtual {
        text.push_str(" VIRTUAL");
    }
    text
}

/// An expression in Flink's canonical text: identifiers in backticks.
pub fn quoted(sql: &str) -> String {
    let Ok(syntax::Statement::Query(query)) = syntax::parse_statement(&format!("SELECT {sql}")) else {
        return sql.to_string();
    };
    let ast::SetExpr::Select(select) = *query.body else { return sql.to_string() };
    match select.projection.into_iter().next() {
        Some(ast::SelectItem::UnnamedExpr(mut expr)) => {
            let _ = expr.visit(&mut Quote);
            expression_text(&expr)
        }
        _ => sql.to_string(),
    }
}

struct Quote;

impl VisitorMut for Quote {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        match expr {
            ast::Expr::Identifier(ident) => ident.quote_style = Some('`'),
            ast::Expr::CompoundIdentifier(parts) => parts.iter_mut().for_each(|part| part.quote_style = Some('`')),
            ast::Expr::Function(function) => {
                for part in &mut function.name.0 {
                    if let ast::ObjectNamePart::Identifier(ident) = part {
                        ident.value = ident.value.to_uppercase();
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
