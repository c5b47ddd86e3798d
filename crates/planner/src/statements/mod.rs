//! The execution of statements, one file per family.

mod definitions;
mod insert;
mod jobs;
mod options;
pub mod placeholder;
mod show;
mod show_create;

use crate::binder::positions::Positions;
use crate::session::{Outcome, Session};
use base::{Error, ObjectPath, Result};
use syntax::Statement;
use syntax::ast::ObjectName;
use syntax::statement::{ModifyKind, Use};

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
        Statement::CreateDatabase(create) => definitions::create_database(session, create),
        Statement::Drop(drop) => definitions::drop(session, drop),
        Statement::Use(target) => match target {
            Use::Catalog(name) => session.catalogs.use_catalog(&name.value).map(|()| Outcome::Done),
            Use::Database(name) => session.catalogs.use_database(&name_parts(name)).map(|()| Outcome::Done),
            Use::Modules(_) => Err(Error::unsupported("USE MODULES")),
        },
        Statement::Set { key, value, key_span, value_span } => {
            options::set(session, key, value, (*key_span, *value_span), positions, warnings)
        }
        Statement::SetAll => Ok(options::list(session)),
        Statement::Reset(key) => Ok(options::reset(session, key.as_deref())),
        Statement::Show(show) => show::show(session, show),
        Statement::Describe(describe) => show::describe(session, describe, positions),
        other => Err(Error::unsupported(feature(other))),
    }
}

/// The name of a statement that this version does not have.
fn feature(statement: &Statement) -> String {
    match statement {
        Statement::CreateCatalog(_) => "CREATE CATALOG".into(),
        Statement::CreateFunction(_) => "CREATE FUNCTION".into(),
        Statement::AlterTable(_) => "ALTER TABLE".into(),
        Statement::Modify(modify) => match modify.kind {
            ModifyKind::Update => "UPDATE".into(),
            ModifyKind::Delete => "DELETE".into(),
            ModifyKind::Merge => "MERGE".into(),
        },
        Statement::Call(call) => format!("CALL {}", call.name),
        Statement::LoadModule { .. } => "LOAD MODULE".into(),
        Statement::UnloadModule(_) => "UNLOAD MODULE".into(),
        Statement::Analyze { .. } => "ANALYZE TABLE".into(),
        Statement::Truncate(_) => "TRUNCATE TABLE".into(),
        Statement::Other { keyword, .. } => keyword.clone(),
        _ => "this statement".into(),
    }
}

/// The parts of a name.
pub(crate) fn name_parts(name: &ObjectName) -> Vec<String> {
    name.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.clone()).collect()
}

/// The full path of a name.
pub(crate) fn object_path(session: &Session, name: &ObjectName) -> Result<ObjectPath> {
    session.catalogs.path(&name_parts(name))
}

#[cfg(test)]
#[path = "../session_tests.rs"]
mod tests;
