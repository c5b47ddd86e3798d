//! CREATE and DROP of tables, views and databases.

use super::{name_parts, object_path};
use crate::binder::Binder;
use crate::binder::positions::{Positions, locate};
use crate::catalog::{CatalogObject, View};
use crate::codes;
use crate::session::{Outcome, Session};
use crate::table::{self, TableContext};
use base::{Error, ObjectPath, Result};
use std::sync::Arc;
use syntax::ast::{ObjectName, Spanned};
use syntax::statement::{CreateObject, CreateTable, CreateView, Drop, ObjectKind};

/// CREATE TABLE.
pub fn create_table(
    session: &mut Session,
    create: &CreateTable,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let path = object_path(session, &create.name)?;
    if !free(session, &path, &create.name, (create.if_not_exists, create.or_replace), positions)? {
        return Ok(Outcome::Done);
    }
    let context = TableContext {
        connectors: &session.environment.connectors,
        connector: &session.connector_context()?,
        functions: &session.function_context()?,
        positions,
    };
    let table = table::resolve(create, path.clone(), &context)?;
    warnings.extend(table.description.warnings.iter().cloned());
    session.catalogs.put(&path, CatalogObject::Table(Arc::new(table)))?;
    Ok(Outcome::Done)
}

/// Whether an object may be put at a path: `false` if one is there and IF NOT EXISTS was written.
fn free(
    session: &Session,
    path: &ObjectPath,
    name: &ObjectName,
    (if_not_exists, or_replace): (bool, bool),
    positions: &Positions<'_>,
) -> Result<bool> {
    let kind = match session.catalogs.get(path) {
        None => return Ok(true),
        Some(_) if or_replace => return Ok(true),
        Some(_) if if_not_exists => return Ok(false),
        Some(CatalogObject::Table(_)) => "table",
        Some(CatalogObject::View(_)) => "view",
    };
    let error = Error::new(&codes::ALREADY_EXISTS, &[("kind", &kind), ("name", &path.name)]);
    Err(locate(error, Some(positions), name.span()))
}

/// CREATE VIEW.
pub fn create_view(
    session: &mut Session,
    create: &CreateView,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let path = object_path(session, &create.name)?;
    if !free(session, &path, &create.name, (create.if_not_exists, create.or_replace), positions)? {
        return Ok(Outcome::Done);
    }
    let binder = Binder::new(&session.catalogs, session.function_context()?, Some(positions));
    let plan = binder.query(&create.query.query)?;
    let given = plan.schema().fields().len();
    let columns: Vec<String> = create.columns.iter().map(|(name, _)| name.value.clone()).collect();
    if !columns.is_empty() && columns.len() != given {
        let error =
            Error::new(&codes::VIEW_COLUMNS, &[("name", &path.name), ("listed", &columns.len()), ("given", &given)]);
        return Err(locate(error, Some(positions), create.name.span()));
    }
    warnings.append(&mut binder.warnings.borrow_mut());
    let home = (session.catalogs.current_catalog().to_string(), session.catalogs.current_database().to_string());
    let view = View {
        path: path.clone(),
        columns,
        query: create.query.query.clone(),
        sql: create.query.text.clone(),
        comment: create.comment.clone(),
        temporary: create.temporary,
        home,
    };
    session.catalogs.put(&path, CatalogObject::View(Arc::new(view)))?;
    Ok(Outcome::Done)
}

/// CREATE DATABASE: databases live in memory and have no options.
pub fn create_database(session: &mut Session, create: &CreateObject) -> Result<Outcome> {
    let (catalog, database) = database_name(session, &create.name)?;
    session.catalogs.create_database(&catalog, &database, create.if_not_exists)?;
    Ok(Outcome::Done)
}

fn database_name(session: &Session, name: &ObjectName) -> Result<(String, String)> {
    match name_parts(name).as_slice() {
        [database] => Ok((session.catalogs.current_catalog().to_string(), database.clone())),
        [catalog, database] => Ok((catalog.clone(), database.clone())),
        parts => Err(Error::new(&codes::BAD_NAME, &[("name", &parts.join("."))])),
    }
}

/// DROP.
pub fn drop(session: &mut Session, drop: &Drop) -> Result<Outcome> {
    match drop.kind {
        ObjectKind::Table | ObjectKind::View => drop_object(session, drop),
        ObjectKind::Database => {
            let (catalog, database) = database_name(session, &drop.name)?;
            session.catalogs.drop_database(&catalog, &database, drop.if_exists, drop.cascade)?;
            Ok(Outcome::Done)
        }
        ObjectKind::Catalog => Err(Error::unsupported("DROP CATALOG")),
        ObjectKind::Function => Err(Error::unsupported("DROP FUNCTION")),
        ObjectKind::Model => Err(Error::unsupported("DROP MODEL")),
        ObjectKind::Connection => Err(Error::unsupported("DROP CONNECTION")),
        ObjectKind::MaterializedTable => Err(Error::unsupported("DROP MATERIALIZED TABLE")),
    }
}

fn drop_object(session: &mut Session, drop: &Drop) -> Result<Outcome> {
    let path = object_path(session, &drop.name)?;
    let wanted = if drop.kind == ObjectKind::Table { "table" } else { "view" };
    match session.catalogs.get(&path) {
        None if drop.if_exists => return Ok(Outcome::Done),
        None => {
            session.catalogs.object(&path)?;
        }
        Some(CatalogObject::Table(_)) if wanted == "table" => {}
        Some(CatalogObject::View(_)) if wanted == "view" => {}
        Some(other) => {
            let kind = if matches!(other, CatalogObject::Table(_)) { "a table" } else { "a view" };
            return Err(Error::new(&codes::NOT_A_TABLE, &[("name", &path.name), ("kind", &kind), ("wanted", &wanted)]));
        }
    }
    session.catalogs.remove(&path);
    Ok(Outcome::Done)
}
