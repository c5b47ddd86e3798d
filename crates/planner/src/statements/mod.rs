//! The execution of statements, one file per family.

mod alter;
mod create_as;
mod definitions;
mod describe;
mod functions;
mod insert;
mod jobs;
mod late_table;
mod like;
mod options;
pub mod placeholder;
mod refused;
mod show;
mod show_create;
mod spaces;

use crate::binder::positions::{Positions, locate};
use crate::codes;
use crate::session::{Outcome, Session};
use crate::statement_codes;
use base::{Error, ObjectPath, Result};
use syntax::Statement;
use syntax::ast::{Ident, ObjectName, Spanned};
use syntax::statement::Use;

/// Executes a statement.
///
/// # Errors
/// What is wrong with it, or that this version does not have it.
pub fn execute(
    session: &mut Session,
    statement: &Statement,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    match statement {
        Statement::Query(_) | Statement::Insert(_) | Statement::StatementSet(_) => {
            let job = jobs::plan(session, statement, positions, warnings)?;
            Ok(Outcome::Job(Box::new(job)))
        }
        Statement::Explain(explain) => jobs::explain(session, explain, positions, warnings),
        Statement::CreateTable(create) => definitions::create_table(session, create, positions, warnings),
        Statement::CreateView(create) => definitions::create_view(session, create, positions, warnings),
        Statement::CreateCatalog(create) => spaces::create_catalog(session, create, positions),
        Statement::CreateDatabase(create) => spaces::create_database(session, create, positions),
        Statement::CreateFunction(create) => functions::create(session, create, positions),
        Statement::AlterTable(alter) => alter::table(session, alter, positions, warnings),
        Statement::AlterView(alter) => alter::view(session, alter, positions, warnings),
        Statement::AlterSpace(alter) => alter::space(session, alter, positions),
        Statement::Drop(drop) => definitions::drop(session, drop, positions),
        Statement::Use(Use::Catalog(name)) => {
            let used = session.catalogs.use_catalog(&name.value);
            used.map(|()| Outcome::Done).map_err(|error| locate(error, Some(positions), name.span))
        }
        Statement::Use(Use::Database(name)) => {
            let used = session.catalogs.use_database(&name_parts(name));
            used.map(|()| Outcome::Done).map_err(|error| locate(error, Some(positions), name.span()))
        }
        Statement::Use(Use::Modules(names)) => use_modules(names, positions),
        Statement::Set { key, value, key_span, value_span } => {
            options::set(session, key, value, (*key_span, *value_span), positions, warnings)
        }
        Statement::SetAll => Ok(options::list(session)),
        Statement::Reset(key) => Ok(options::reset(session, key.as_deref())),
        Statement::Show(show) => show::show(session, show, positions),
        Statement::Describe(describe) => describe::describe(session, describe, positions),
        other => Err(refused::refuse(session, other)),
    }
}

/// USE MODULES: there is one module.
fn use_modules(names: &[Ident], positions: &Positions<'_>) -> Result<Outcome> {
    match names.iter().find(|name| name.value != CORE_MODULE) {
        None => Ok(Outcome::Done),
        Some(name) => {
            let error = Error::new(&statement_codes::MODULE, &[("name", &name.value)]);
            Err(locate(error, Some(positions), name.span))
        }
    }
}

/// The only module.
const CORE_MODULE: &str = "core";

/// The parts of a name.
pub(crate) fn name_parts(name: &ObjectName) -> Vec<String> {
    name.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.clone()).collect()
}

/// The full path of a name.
pub(crate) fn object_path(session: &Session, name: &ObjectName) -> Result<ObjectPath> {
    session.catalogs.path(&name_parts(name))
}

/// The catalog and name of a database.
pub(crate) fn database_name(session: &Session, name: &ObjectName) -> Result<(String, String)> {
    match name_parts(name).as_slice() {
        [database] => Ok((session.catalogs.current_catalog().to_string(), database.clone())),
        [catalog, database] => Ok((catalog.clone(), database.clone())),
        parts => Err(Error::new(&codes::BAD_NAME, &[("name", &parts.join("."))])),
    }
}

#[cfg(test)]
#[path = "../session_tests.rs"]
mod tests;
