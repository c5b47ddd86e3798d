//! INSERT INTO: the columns of the query onto the columns of the table.

use super::object_path;
use crate::binder::Binder;
use crate::binder::coerce::{cast_to, sql_type_of, typed_null};
use crate::binder::names;
use crate::binder::positions::locate;
use crate::bridge::external;
use crate::catalog::CatalogTable;
use crate::codes;
use crate::session::Session;
use crate::statement_codes;
use crate::table::check_complete;
use crate::table_codes;
use base::nearest::nearest;
use base::table::Column;
use base::{ColumnKind, Error, LogicalType, Result, RowType, SqlType};
use datafusion_common::{Column as PlanColumn, DFSchema};
use datafusion_expr::Expr;
use datafusion_expr::logical_plan::{LogicalPlan, Projection};
use functions::CastSupport;
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::ast::{self, DataType, Ident, SelectItem, SetExpr, Spanned, VisitMut, VisitorMut};
use syntax::statement::Insert;

/// Binds an INSERT: the table, and a plan with exactly its persisted columns.
pub fn bind(session: &Session, binder: &Binder<'_>, insert: &Insert) -> Result<(Arc<CatalogTable>, LogicalPlan)> {
    let path = object_path(session, &insert.table)?;
    let at_table = |error: Error| locate(error, binder.positions, insert.table.span());
    if session.catalogs.get(&path).is_none() {
        return Err(names::undefined_target(binder, &insert.table, &insert.columns, &insert.query));
    }
    let table = session.catalogs.table(&path).map_err(at_table)?;
    let table = binder.hinted_target(table, &insert.table, &insert.hints).map_err(at_table)?;
    if insert.overwrite {
        return Err(at_table(Error::new(&statement_codes::OVERWRITE, &[("table", &path.name)])));
    }
    check_writable(&table).map_err(at_table)?;
    let fixed = static_partition(&table, insert, binder)?;
    let targets = target_columns(&table, insert, &fixed, binder)?;
    let plan = binder.query(&insert.query).map_err(|error| locate(error, binder.positions, insert.span))?;
    let plan = fit(&table, (&targets, &fixed), plan, insert, binder)
        .map_err(|error| locate(error, binder.positions, insert.span))?;
    Ok((table, plan))
}

/// A column that a PARTITION clause fills, and its value.
struct Fixed<'t> {
    column: &'t Column,
    value: Expr,
    sql_type: SqlType,
}

/// The values of a PARTITION clause.
fn static_partition<'t>(table: &'t CatalogTable, insert: &Insert, binder: &Binder<'_>) -> Result<Vec<Fixed<'t>>> {
    let mut fixed: Vec<Fixed<'t>> = Vec::new();
    let partitions: Vec<&str> = table.definition.partitioned_by.iter().map(|field| field.column.as_str()).collect();
    for (name, value) in &insert.partition {
        let error = |problem: String, fix: String| {
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("table", &table.definition.path.name), ("problem", &problem), ("fix", &fix)];
            locate(Error::new(&statement_codes::STATIC_PARTITION, &arguments), binder.positions, name.span)
        };
        let column = match table.definition.column(&name.value) {
            Some(column) if partitions.contains(&name.value.as_str()) => column,
            _ if partitions.is_empty() => {
                let fix = "leave the clause out, and select the value in the query".to_string();
                return Err(error("the table has no PARTITIONED BY".into(), fix));
            }
            _ => {
                let fix = format!("columns of PARTITIONED BY: {}", partitions.join(", "));
                return Err(error(format!("{} is not in PARTITIONED BY", name.value), fix));
            }
        };
        if fixed.iter().any(|known| known.column.name == column.name) {
            return Err(error(format!("{} is given twice", name.value), String::new()));
        }
        let Some(value) = value else { continue };
        let empty = RowType::new(Vec::new());
        let value = binder.expression(value, &empty).map_err(|error| locate(error, binder.positions, name.span))?;
        let sql_type = sql_type_of(&value, &DFSchema::empty()).map_err(Error::internal)?;
        if !fits(&sql_type, &column.sql_type) {
            let problem = format!("{} is {}, the value is {}", column.name, column.sql_type.logical, sql_type.logical);
            let fix = format!("PARTITION ({} = CAST(... AS {}))", column.name, column.sql_type.logical);
            return Err(error(problem, fix));
        }
        fixed.push(Fixed { column, value, sql_type });
    }
    Ok(fixed)
}

/// Whether a table can be written.
pub(super) fn check_writable(table: &CatalogTable) -> Result<()> {
    check_complete(table)?;
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
fn target_columns<'t>(
    table: &'t CatalogTable,
    insert: &Insert,
    fixed: &[Fixed<'_>],
    binder: &Binder<'_>,
) -> Result<Vec<&'t Column>> {
    let is_fixed = |column: &Column| fixed.iter().any(|one| one.column.name == column.name);
    let persisted: Vec<&Column> = table.definition.persisted().filter(|column| !is_fixed(column)).collect();
    let listed = &insert.columns;
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
            None if fixed.iter().any(|one| one.column.name == ident.value) => {
                "the PARTITION clause fills it already".to_string()
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
    (targets, fixed): (&[&Column], &[Fixed<'_>]),
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
        let selected = place.map(|place| (&given[place].0, &given[place].1));
        let constant = fixed.iter().find(|one| one.column.name == column.name);
        let expr = match selected.or(constant.map(|one| (&one.value, &one.sql_type))) {
            Some((expr, from)) => cast_to(expr.clone(), from, &column.sql_type, &binder.functions).map_err(internal)?,
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

/// Whether a value is taken as it is, or with an implicit cast.
pub(super) fn fits(from: &SqlType, to: &SqlType) -> bool {
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
