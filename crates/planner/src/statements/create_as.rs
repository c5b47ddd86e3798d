//! CREATE TABLE ... AS: the columns of a query as those of a new table, and the INSERT that fills it.

use super::show_create::type_text;
use crate::binder::positions::{Positions, locate};
use crate::statement_codes;
use base::{Error, Result, RowType};
use syntax::Span;
use syntax::ast::{Ident, Spanned};
use syntax::statement::{Column, ColumnKind, CreateTable, Insert, TableDefinition, TextQuery};

/// The whole definition of the table that a query of `row` fills.
///
/// # Errors
/// Columns of the statement that do not fit the query.
pub fn define(create: &CreateTable, row: &RowType, positions: &Positions<'_>) -> Result<TableDefinition> {
    let given = columns_of(row)?;
    let own = &create.definition;
    let problem = |problem: String, span: Span| {
        let names: Vec<&str> = given.iter().map(|column| column.name.value.as_str()).collect();
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("table", &create.name), ("problem", &problem), ("columns", &names.join(", "))];
        Err(locate(Error::new(&statement_codes::QUERY_TABLE, &arguments), Some(positions), span))
    };
    if own.columns.iter().any(|column| column.kind == ColumnKind::Named) {
        let mut columns = Vec::with_capacity(given.len());
        for column in &own.columns {
            if column.kind != ColumnKind::Named {
                return problem(format!("column {} has a type, others have none", column.name.value), column.span);
            }
            match given.iter().find(|known| known.name.value == column.name.value) {
                Some(known) => columns.push(known.clone()),
                None => return problem(format!("the query has no column {}", column.name.value), column.span),
            }
        }
        if let Some(left) = given.iter().find(|known| columns.iter().all(|column| column.name != known.name)) {
            return problem(format!("column {} of the query is not listed", left.name.value), create.name.span());
        }
        return Ok(TableDefinition { columns, ..own.clone() });
    }
    // Columns of its own come first; one that the query has as well only gives the type.
    let mut columns: Vec<Column> = Vec::new();
    for column in &own.columns {
        match given.iter().any(|known| known.name.value == column.name.value) {
            false => columns.push(column.clone()),
            true if matches!(column.kind, ColumnKind::Computed(_)) => {
                return problem(format!("column {} is computed and in the query", column.name.value), column.span);
            }
            true => {}
        }
    }
    columns.extend(
        given.iter().map(|known| {
            own.columns.iter().find(|column| column.name.value == known.name.value).unwrap_or(known).clone()
        }),
    );
    Ok(TableDefinition { columns, ..own.clone() })
}

/// The columns of a row as a statement would declare them; they stand nowhere in the script.
fn columns_of(row: &RowType) -> Result<Vec<Column>> {
    let elements: Vec<String> = row
        .fields()
        .iter()
        .map(|field| format!("`{}` {}", field.name.replace('`', "``"), type_text(&field.sql_type)))
        .collect();
    let text = format!("CREATE TABLE t ({})", elements.join(", "));
    let statement = syntax::parse_statement(&text).map_err(Error::internal)?;
    let syntax::Statement::CreateTable(table) = statement else {
        return Err(Error::internal("the definition of a row is no CREATE TABLE"));
    };
    let mut columns = table.definition.columns;
    for column in &mut columns {
        column.span = Span::empty();
        column.name.span = Span::empty();
        if let ColumnKind::Physical(type_name) = &mut column.kind {
            type_name.span = Span::empty();
        }
    }
    Ok(columns)
}

/// The INSERT that fills the table.
pub fn insert(create: &CreateTable, query: &TextQuery, row: &RowType) -> Insert {
    Insert {
        table: create.name.clone(),
        hints: Vec::new(),
        columns: row.fields().iter().map(|field| Ident::with_quote('`', &field.name)).collect(),
        overwrite: false,
        partition: Vec::new(),
        query: query.query.clone(),
        on_conflict: None,
        text: query.text.clone(),
        span: query.span,
    }
}
