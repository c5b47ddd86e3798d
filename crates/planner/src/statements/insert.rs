//! INSERT INTO: the columns of the query onto the columns of the table.

use super::object_path;
use crate::binder::Binder;
use crate::binder::coerce::{cast_to, sql_type_of, typed_null};
use crate::binder::positions::locate;
use crate::bridge::external;
use crate::catalog::CatalogTable;
use crate::codes;
use crate::session::Session;
use crate::table_codes;
use base::nearest::nearest;
use base::table::Column;
use base::{ColumnKind, Error, LogicalType, Result, SqlType};
use datafusion_common::Column as PlanColumn;
use datafusion_expr::Expr;
use datafusion_expr::logical_plan::{LogicalPlan, Projection};
use functions::CastSupport;
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::ast::{self, DataType, Ident, SelectItem, SetExpr, Spanned, VisitMut, VisitorMut};
use syntax::statement::{Insert, OnConflict};

/// Binds an INSERT: the table, and a plan with exactly its persisted columns.
pub fn bind(session: &Session, binder: &Binder<'_>, insert: &Insert) -> Result<(Arc<CatalogTable>, LogicalPlan)> {
    refuse(insert)?;
    let path = object_path(session, &insert.table)?;
    let at_table = |error: Error| locate(error, binder.positions, insert.table.span());
    let table = session.catalogs.table(&path).map_err(at_table)?.clone();
    check_writable(&table).map_err(at_table)?;
    if let Some(action) = insert.on_conflict {
        let action = match action {
            OnConflict::Deduplicate => "DEDUPLICATE",
            OnConflict::Error => "ERROR",
            OnConflict::Nothing => "NOTHING",
        };
        if action != "DEDUPLICATE" {
            return Err(at_table(Error::unsupported(format!("ON CONFLICT DO {action}"))));
        }
        binder.warnings.borrow_mut().push(Error::new(&codes::ON_CONFLICT, &[("action", &action)]));
    }
    let targets = target_columns(&table, &insert.columns, binder)?;
    let plan = binder.query(&insert.query).map_err(|error| locate(error, binder.positions, insert.span))?;
    let plan =
        fit(&table, &targets, plan, insert, binder).map_err(|error| locate(error, binder.positions, insert.span))?;
    Ok((table, plan))
}

fn refuse(insert: &Insert) -> Result<()> {
    if insert.overwrite {
        return Err(Error::unsupported("INSERT OVERWRITE"));
    }
    if !insert.partition.is_empty() {
        return Err(Error::unsupported("INSERT ... PARTITION"));
    }
    match insert.hints.first() {
        Some(hint) => Err(Error::unsupported(format!("the hint {} on an INSERT", hint.name))),
        None => Ok(()),
    }
}

fn check_writable(table: &CatalogTable) -> Result<()> {
    let (name, connector) = (&table.definition.path.name, table.factory.name());
    if table.description.sink.is_none() {
        return Err(Error::new(&codes::NOT_A_SINK, &[("table", name), ("connector", &connector)]));
    }
    let offered = table.description.source.as_ref().map(|source| source.metadata.as_slice()).unwrap_or_default();
    for column in table.definition.persisted() {
        let ColumnKind::Metadata { key, .. } = &column.kind else { continue };
        if offered.iter().any(|metadata| metadata.key == *key && !metadata.writable) {
            return Err(Error::new(
                &table_codes::METADATA_READ_ONLY,
                &[
                    ("column", &column.name),
                    ("key", key),
                    ("connector", &connector),
                    ("declared", &column.sql_type.logical),
                ],
            ));
        }
    }
    Ok(())
}

/// The columns that the query fills, in its order.
fn target_columns<'t>(table: &'t CatalogTable, listed: &[Ident], binder: &Binder<'_>) -> Result<Vec<&'t Column>> {
    let persisted: Vec<&Column> = table.definition.persisted().collect();
    if listed.is_empty() {
        return Ok(persisted);
    }
    let names = join(persisted.iter().map(|column| column.name.as_str()));
    let mut targets: Vec<&Column> = Vec::with_capacity(listed.len());
    for ident in listed {
        let why = match persisted.iter().find(|column| column.name == ident.value) {
            Some(column) if targets.iter().any(|known| known.name == column.name) => "it is listed twice".to_string(),
            Some(column) => {
                targets.push(column);
                continue;
            }
            None if table.definition.column(&ident.value).is_some() => "the column is computed or virtual".to_string(),
            None => match nearest(&ident.value, persisted.iter().map(|column| column.name.as_str())).first() {
                Some(near) => format!("did you mean {near}?"),
                None => "column names are case-sensitive".to_string(),
            },
        };
        let error = Error::new(
            &codes::INSERT_COLUMN,
            &[("table", &table.definition.path.name), ("name", &ident.value), ("why", &why), ("columns", &names)],
        );
        return Err(locate(error, binder.positions, ident.span));
    }
    Ok(targets)
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Projects the plan onto the persisted columns of the table, with Flink's implicit casts.
fn fit(
    table: &CatalogTable,
    targets: &[&Column],
    plan: LogicalPlan,
    insert: &Insert,
    binder: &Binder<'_>,
) -> Result<LogicalPlan> {
    let schema = plan.schema().clone();
    if schema.fields().len() != targets.len() {
        return Err(column_count(table, targets, &plan));
    }
    let internal = |error: datafusion_common::DataFusionError| Error::internal(error);
    let mut given = Vec::with_capacity(targets.len());
    for (qualifier, field) in schema.iter() {
        let column = Expr::Column(PlanColumn::from((qualifier, field)));
        let sql_type = sql_type_of(&column, &schema).map_err(internal)?;
        given.push((column, sql_type, field.name().clone()));
    }
    let misfit = given.iter().zip(targets).any(|((_, from, _), target)| !fits(from, &target.sql_type));
    if misfit {
        return Err(column_types(table, targets, &given, insert));
    }
    let mut projection = Vec::new();
    for column in table.definition.persisted() {
        let place = targets.iter().position(|target| target.name == column.name);
        let expr = match place {
            Some(place) => {
                let (expr, from, _) = &given[place];
                cast_to(expr.clone(), from, &column.sql_type, &binder.functions).map_err(internal)?
            }
            None if !column.sql_type.nullable => {
                return Err(Error::new(
                    &codes::MISSING_NOT_NULL,
                    &[("name", &column.name), ("table", &table.definition.path.name)],
                ));
            }
            None => typed_null(&column.sql_type.logical).map_err(internal)?,
        };
        projection.push(expr.alias(&column.name));
    }
    Projection::try_new(projection, Arc::new(plan))
        .map(LogicalPlan::Projection)
        .map_err(|error| Error::internal(external(Error::internal(error))))
}

fn fits(from: &SqlType, to: &SqlType) -> bool {
    from.logical == LogicalType::Null
        || from.logical == to.logical
        || matches!(functions::can_cast(from, to), CastSupport::Implicit)
}

fn column_count(table: &CatalogTable, targets: &[&Column], plan: &LogicalPlan) -> Error {
    let query: Vec<String> = plan.schema().fields().iter().map(|field| field.name().clone()).collect();
    let known = |name: &String| targets.iter().any(|target| target.name == *name);
    let suggestion = if query.len() < targets.len() && query.iter().all(known) {
        query.join(", ")
    } else {
        join(targets.iter().take(query.len()).map(|target| target.name.as_str()))
    };
    let columns = join(targets.iter().map(|target| target.name.as_str()));
    Error::new(
        &codes::COLUMN_COUNT,
        &[
            ("given", &query.len()),
            ("wanted", &targets.len()),
            ("table", &table.definition.path.name),
            ("query", &query.join(", ")),
            ("columns", &columns),
            ("suggestion", &suggestion),
        ],
    )
}

/// The error for types that do not fit: every difference, and the whole corrected SELECT list.
fn column_types(
    table: &CatalogTable,
    targets: &[&Column],
    given: &[(Expr, SqlType, String)],
    insert: &Insert,
) -> Error {
    let texts = select_texts(&insert.query, given);
    let mut differences = Vec::new();
    let mut corrected = Vec::new();
    let mut castable = true;
    for (index, (((_, from, name), target), text)) in given.iter().zip(targets).zip(texts).enumerate() {
        let number = index + 1;
        let mut item = text.clone();
        if !fits(from, &target.sql_type) {
            differences.push(format!(
                "column {number}: the query gives {name} {}, the table has {} {}",
                from.logical, target.name, target.sql_type.logical
            ));
            castable &= !matches!(functions::can_cast(from, &target.sql_type), CastSupport::No);
            item = format!("CAST({text} AS {})", target.sql_type.logical);
            if text.to_uppercase().starts_with("JSON_VALUE(") {
                let returning = format!("{} RETURNING {})", text.trim_end_matches(')'), target.sql_type.logical);
                differences.push(format!("column {number} can also be written as {returning}"));
            }
        } else if *name != target.name && !nearest(name, [target.name.as_str()]).is_empty() {
            differences.push(format!("column {number}: the query calls it {name}, the table {}", target.name));
            item = format!("{text} AS {}", target.name);
        }
        corrected.push(item);
    }
    let fix = if castable {
        format!("SELECT {}", corrected.join(", "))
    } else {
        "there is no cast between some of these types: select other columns".to_string()
    };
    Error::new(
        &codes::COLUMN_TYPES,
        &[("table", &table.definition.path.name), ("differences", &differences.join("\n")), ("fix", &fix)],
    )
}

/// The SELECT list as written, or the column names where it is not a plain list.
fn select_texts(query: &ast::Query, given: &[(Expr, SqlType, String)]) -> Vec<String> {
    if let SetExpr::Select(select) = query.body.as_ref() {
        let items: Option<Vec<String>> = select
            .projection
            .iter()
            .map(|item| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expression_text(expr)),
                _ => None,
            })
            .collect();
        if let Some(items) = items.filter(|items| items.len() == given.len()) {
            return items;
        }
    }
    given.iter().map(|(_, _, name)| name.clone()).collect()
}

/// An expression as SQL, types in Flink's form.
pub fn expression_text(expr: &ast::Expr) -> String {
    let mut expr = expr.clone();
    let _ = expr.visit(&mut PlainTypes);
    expr.to_string()
}

struct PlainTypes;

impl VisitorMut for PlainTypes {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if let ast::Expr::Cast { data_type, .. } = expr
            && let DataType::Custom(_, arguments) = data_type
            && let [text] = arguments.as_slice()
        {
            *data_type = DataType::Custom(vec![Ident::new(text.clone())].into(), Vec::new());
        }
        ControlFlow::Continue(())
    }
}
