//! CREATE and DROP of tables and views.

use super::{create_as, database_name, functions, jobs, like, object_path, spaces};
use crate::binder::Binder;
use crate::binder::positions::{Positions, locate};
use crate::catalog::{CatalogObject, View};
use crate::codes;
use crate::session::{Outcome, Session};
use crate::statement_codes;
use crate::table::{self, TableContext};
use base::{Error, Location, ObjectPath, Result};
use std::sync::Arc;
use syntax::Statement;
use syntax::ast::{ObjectName, Spanned};
use syntax::statement::{CreateTable, CreateView, Drop, ObjectKind, TableDefinition, TableOption, TextQuery};

/// CREATE TABLE; with AS it is also the job that fills the table.
pub fn create_table(
    session: &mut Session,
    create: &CreateTable,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let path = object_path(session, &create.name)?;
    let place = Place {
        name: &create.name,
        path: &path,
        wanted: "table",
        temporary: create.temporary,
        if_not_exists: create.if_not_exists,
        or_replace: create.or_replace,
    };
    if create.must_exist && session.catalogs.existing(&path, create.temporary).is_none() {
        let error = Error::new(&statement_codes::NOTHING_TO_REPLACE, &[("name", &path.name)]);
        return Err(locate(error, Some(positions), create.name.span()));
    }
    if !place.is_free(session, positions)? {
        return Ok(Outcome::Done);
    }
    let definition = match &create.like {
        None => create.definition.clone(),
        Some(like) => {
            let other = object_path(session, &like.table)?;
            let other = session.catalogs.table(&other);
            let other = other.map_err(|error| locate(error, Some(positions), like.table.span()))?;
            like::merge(create, like, &other.declared, positions)?
        }
    };
    let written = &create.definition.options;
    let change = TableChange { name: &create.name, path, definition, written, temporary: create.temporary };
    match &create.query {
        None => change.store(session, positions, warnings),
        Some(query) => create_filled(session, change, create, query, positions, warnings),
    }
}

/// CREATE TABLE ... AS: nothing is left of it if its query cannot be planned.
fn create_filled(
    session: &mut Session,
    mut change: TableChange<'_>,
    create: &CreateTable,
    query: &TextQuery,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let row = {
        let binder = Binder::new(&session.catalogs, session.function_context()?, Some(positions))
            .with_connector(session.connector_context()?);
        Binder::row_type(&binder.query(&query.query)?)?
    };
    change.definition = create_as::define(create, &row, positions)?;
    let before = session.catalogs.clone();
    let insert = Statement::Insert(Box::new(create_as::insert(create, query, &row)));
    let job = change
        .store(session, positions, warnings)
        .and_then(|_| jobs::plan(session, &insert, positions, warnings).map(|job| Outcome::Job(Box::new(job))));
    if job.is_err() {
        session.catalogs = before;
    }
    job
}

/// A definition that becomes a table of the catalog.
pub struct TableChange<'a> {
    /// The name as written.
    pub name: &'a ObjectName,
    /// The full name.
    pub path: ObjectPath,
    /// The whole definition.
    pub definition: TableDefinition,
    /// Those of its options that stand in the statement.
    pub written: &'a [TableOption],
    /// Whether the table is temporary.
    pub temporary: bool,
}

impl TableChange<'_> {
    /// Checks the definition and puts the table into the catalog.
    ///
    /// # Errors
    /// Every problem of the definition.
    pub fn store(self, session: &mut Session, positions: &Positions<'_>, warnings: &mut Vec<Error>) -> Result<Outcome> {
        let create = CreateTable {
            name: self.name.clone(),
            or_replace: false,
            must_exist: false,
            temporary: self.temporary,
            if_not_exists: false,
            definition: self.definition,
            like: None,
            query: None,
        };
        let context = TableContext {
            connectors: &session.environment.connectors,
            catalogs: &session.catalogs,
            connector: &session.connector_context()?,
            functions: &session.function_context()?,
            positions,
        };
        let table = table::resolve(&create, self.path.clone(), &context)
            .map_err(|error| error.each(&|error| at_option(error, self.written, positions)))?;
        warnings.extend(table.description.warnings.iter().cloned());
        session.catalogs.put(&self.path, CatalogObject::Table(Arc::new(table)))?;
        Ok(Outcome::Done)
    }
}

/// Gives an error about an option of the statement the place of the option, or of its value where that is what is wrong.
fn at_option(error: Error, written: &[TableOption], positions: &Positions<'_>) -> Error {
    let key = match error.location() {
        Some(Location::Option { key, .. }) => Some(key.as_str()),
        _ => error.argument("key"),
    };
    let Some(option) = written.iter().find(|option| Some(option.key.as_str()) == key) else { return error };
    let names_value =
        ["value", "format"].iter().any(|argument| error.argument(argument) == Some(option.value.as_str()));
    let span = if names_value { option.value_span } else { option.key_span };
    locate(error, Some(positions), span)
}

/// Where CREATE puts an object.
struct Place<'a> {
    name: &'a ObjectName,
    path: &'a ObjectPath,
    wanted: &'static str,
    temporary: bool,
    if_not_exists: bool,
    or_replace: bool,
}

impl Place<'_> {
    /// Whether an object may be put here: `false` if one is there and IF NOT EXISTS was written.
    fn is_free(&self, session: &Session, positions: &Positions<'_>) -> Result<bool> {
        let Some(existing) = session.catalogs.existing(self.path, self.temporary) else { return Ok(true) };
        let kind = existing.kind();
        let error = match (self.or_replace, self.if_not_exists) {
            (true, _) if kind == self.wanted => return Ok(true),
            (true, _) => {
                let kind = format!("a {kind}");
                Error::new(&codes::NOT_A_TABLE, &[("name", &self.path.name), ("kind", &kind), ("wanted", &self.wanted)])
            }
            (false, true) => return Ok(false),
            (false, false) => Error::new(&codes::ALREADY_EXISTS, &[("kind", &kind), ("name", &self.path.name)]),
        };
        Err(locate(error, Some(positions), self.name.span()))
    }
}

/// CREATE VIEW.
pub fn create_view(
    session: &mut Session,
    create: &CreateView,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let path = object_path(session, &create.name)?;
    let place = Place {
        name: &create.name,
        path: &path,
        wanted: "view",
        temporary: create.temporary,
        if_not_exists: create.if_not_exists,
        or_replace: create.or_replace,
    };
    if !place.is_free(session, positions)? {
        return Ok(Outcome::Done);
    }
    for (index, (column, _)) in create.columns.iter().enumerate() {
        if create.columns[..index].iter().any(|(earlier, _)| earlier.value == column.value) {
            let error = Error::new(&crate::table_codes::DUPLICATE_COLUMN, &[("name", &column.value)]);
            return Err(locate(error, Some(positions), column.span));
        }
    }
    let home = (session.catalogs.current_catalog().to_string(), session.catalogs.current_database().to_string());
    let view = View {
        path,
        columns: create.columns.iter().map(|(name, _)| name.value.clone()).collect(),
        column_comments: create.columns.iter().map(|(_, comment)| comment.clone()).collect(),
        query: create.query.query.clone(),
        sql: create.query.text.clone(),
        comment: create.comment.clone(),
        temporary: create.temporary,
        home,
        bound: Default::default(),
    };
    store_view(session, view, &create.name, positions, warnings)
}

/// Checks a view and puts it into the catalog.
///
/// # Errors
/// What is wrong with its query, or that it would use itself.
pub fn store_view(
    session: &mut Session,
    view: View,
    name: &ObjectName,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let binder = Binder::new(&session.catalogs, session.function_context()?, Some(positions))
        .with_connector(session.connector_context()?);
    let plan = binder.query(&view.query)?;
    let given = plan.schema().fields().len();
    if !view.columns.is_empty() && view.columns.len() != given {
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("name", &view.path.name), ("listed", &view.columns.len()), ("given", &given)];
        return Err(locate(Error::new(&codes::VIEW_COLUMNS, &arguments), Some(positions), name.span()));
    }
    warnings.append(&mut binder.warnings.borrow_mut());
    let (query, plan) = binder.without_stars(&view.query, plan)?;
    let view = View { query, ..view };
    if session.catalogs.get(&view.path).is_none() {
        binder.seed_view(&view, plan)?;
        let path = view.path.clone();
        return session.catalogs.put(&path, CatalogObject::View(Arc::new(view))).map(|()| Outcome::Done);
    }
    // A view that takes the place of another one may now be part of its own query.
    let (view, before) = (Arc::new(view), session.catalogs.clone());
    session.catalogs.put(&view.path, CatalogObject::View(view.clone()))?;
    let again = Binder::new(&session.catalogs, session.function_context()?, None)
        .with_connector(session.connector_context()?)
        .bind_view(&view);
    if let Err(error) = again {
        session.catalogs = before;
        return Err(locate(error, Some(positions), name.span()));
    }
    Ok(Outcome::Done)
}

/// DROP.
pub fn drop(session: &mut Session, drop: &Drop, positions: &Positions<'_>) -> Result<Outcome> {
    let at_name = |error: Error| locate(error, Some(positions), drop.name.span());
    match drop.kind {
        ObjectKind::Table | ObjectKind::View => drop_object(session, drop),
        ObjectKind::Database => {
            let (catalog, database) = database_name(session, &drop.name)?;
            session.catalogs.drop_database(&catalog, &database, drop.if_exists, drop.cascade).map(|()| Outcome::Done)
        }
        ObjectKind::Catalog => spaces::drop_catalog(session, drop),
        ObjectKind::Function => functions::drop(session, drop),
        ObjectKind::Model => Err(Error::new(&statement_codes::MODEL, &[("statement", &"DROP MODEL")])),
        ObjectKind::Connection => Err(Error::new(&statement_codes::CONNECTION, &[("statement", &"DROP CONNECTION")])),
        ObjectKind::MaterializedTable => {
            Err(Error::new(&statement_codes::MATERIALIZED_TABLE, &[("statement", &"DROP MATERIALIZED TABLE")]))
        }
    }
    .map_err(at_name)
}

fn drop_object(session: &mut Session, drop: &Drop) -> Result<Outcome> {
    let path = object_path(session, &drop.name)?;
    let wanted = if drop.kind == ObjectKind::Table { "table" } else { "view" };
    let (hidden, temporary) = (session.catalogs.existing(&path, false), session.catalogs.existing(&path, true));
    let found = if drop.temporary { temporary } else { session.catalogs.get(&path) };
    let Some(found) = found else {
        return match drop.if_exists {
            true => Ok(Outcome::Done),
            false => Err(session.catalogs.not_found(&path)),
        };
    };
    if found.kind() != wanted {
        let kind = format!("a {}", found.kind());
        return Err(Error::new(&codes::NOT_A_TABLE, &[("name", &path.name), ("kind", &kind), ("wanted", &wanted)]));
    }
    if !drop.temporary && hidden.is_some() && temporary.is_some() {
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("kind", &wanted), ("upper", &wanted.to_uppercase()), ("name", &path.name)];
        return Err(Error::new(&statement_codes::HIDDEN_OBJECT, &arguments));
    }
    session.catalogs.remove(&path);
    Ok(Outcome::Done)
}
