//! Where rows that are too late for a window go: `/*+ LATE_TABLE('t') */`, or the option `highwater.late-table`.
//!
//! It counts for every window of the query. The table is looked up and its columns are compared by name here, before the
//! optimizer leaves out columns that only late rows need.

use super::insert::{check_writable, fits};
use crate::binder::Binder;
use crate::binder::coerce::sql_type_of;
use crate::binder::hints::LATE_TABLE;
use crate::bridge::external;
use crate::catalog::CatalogTable;
use crate::lower::window_codes as codes;
use crate::nodes::{LateTable, WindowTableNode, as_window_table};
use crate::session::Session;
use base::config::LATE_TABLE as OPTION;
use base::{Error, Field, Result, TimeAttribute};
use datafusion_common::tree_node::Transformed;
use datafusion_common::{Column, ExprSchema};
use datafusion_expr::logical_plan::{Extension, LogicalPlan};
use datafusion_expr::{Expr, UserDefinedLogicalNode};

/// The plan with the late table in its windows, if there is one for this query. Takes the hint out of those that are kept.
///
/// # Errors
/// A table that does not exist or cannot be written, columns that do not fit, and a hint in a query without such a window.
pub fn apply(session: &Session, binder: &Binder<'_>, plan: LogicalPlan) -> Result<LogicalPlan> {
    let hinted = hinted(binder)?;
    let name = match (&hinted, session.options.text(&OPTION.spec)) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) if !name.is_empty() => name.to_string(),
        (None, _) => return Ok(plan),
    };
    let parts: Vec<String> = name.split('.').map(str::to_string).collect();
    let path = session.catalogs.path(&parts)?;
    let table = session.catalogs.table(&path)?;
    check_writable(table)?;
    let mut windows = 0;
    let plan = plan
        .transform_up_with_subqueries(|plan| {
            let LogicalPlan::Extension(Extension { node }) = &plan else { return Ok(Transformed::no(plan)) };
            let Some(window) = as_window_table(node.as_ref()).filter(|window| has_event_time(window)) else {
                return Ok(Transformed::no(plan));
            };
            windows += 1;
            check_columns(window, table).map_err(external)?;
            Ok(Transformed::yes(window.clone().with_late(LateTable(table.clone())).into_plan()))
        })
        .map_err(crate::expression::from_datafusion)?
        .data;
    if hinted.is_some() && windows == 0 {
        return Err(Error::new(&codes::LATE_TABLE_UNUSED, &[("table", &name)]));
    }
    Ok(plan)
}

/// The table that a hint names.
fn hinted(binder: &Binder<'_>) -> Result<Option<String>> {
    let mut tables: Vec<String> = Vec::new();
    binder.hints.borrow_mut().retain(|hint| {
        if hint.name != LATE_TABLE {
            return true;
        }
        let options = hint.options.iter().filter(|(key, _)| key == "table").map(|(_, table)| table);
        for table in hint.arguments.iter().chain(options) {
            if !tables.contains(table) {
                tables.push(table.clone());
            }
        }
        false
    });
    match tables.as_slice() {
        [] => Ok(None),
        [table] => Ok(Some(table.clone())),
        many => Err(Error::new(&codes::LATE_TABLES, &[("tables", &many.join(", "))])),
    }
}

/// No row is late by the clock.
fn has_event_time(window: &WindowTableNode) -> bool {
    let field =
        window.input.schema().field_from_column(&window.time).ok().and_then(|field| Field::from_arrow(field).ok());
    field.is_some_and(|field| field.time != Some(TimeAttribute::Proctime))
}

/// Compares the columns of the table with those that come into a window, by name.
fn check_columns(window: &WindowTableNode, table: &CatalogTable) -> Result<()> {
    let schema = window.input.schema();
    let mut problems = Vec::new();
    for wanted in table.definition.persisted() {
        let mut found = schema.iter().filter(|(_, field)| *field.name() == wanted.name);
        let problem = match (found.next(), found.next()) {
            (None, _) => format!("there is no column {}", wanted.name),
            (Some(_), Some(_)) => format!("there are several columns {}", wanted.name),
            (Some((qualifier, field)), None) => {
                let column = Expr::Column(Column::from((qualifier, field)));
                let from = sql_type_of(&column, schema).map_err(crate::expression::from_datafusion)?;
                if fits(&from, &wanted.sql_type) {
                    continue;
                }
                format!("{} is {}, the table has {}", wanted.name, from.logical, wanted.sql_type.logical)
            }
        };
        problems.push(problem);
    }
    if problems.is_empty() {
        return Ok(());
    }
    let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    Err(Error::new(
        &codes::LATE_TABLE_COLUMNS,
        &[
            ("table", &table.definition.path.name),
            ("window", &window.name()),
            ("problems", &problems.join("; ")),
            ("columns", &columns.join(", ")),
        ],
    ))
}
