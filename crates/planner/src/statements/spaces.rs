//! CREATE and DROP of catalogs and databases. All of them live in memory, as long as the script.

use super::{database_name, name_parts};
use crate::binder::positions::{Positions, locate};
use crate::catalog::{DEFAULT_DATABASE, DEFAULT_DATABASE_OPTION, IN_MEMORY, Properties};
use crate::session::{Outcome, Session};
use crate::statement_codes;
use base::{Error, Result};
use syntax::ast::Spanned;
use syntax::statement::{CreateObject, Drop, TableOption};

fn properties(create: &CreateObject) -> Properties {
    let options = create.options.iter().map(|option| (option.key.clone(), option.value.clone())).collect();
    Properties { comment: create.comment.clone(), options }
}

/// CREATE CATALOG.
pub fn create_catalog(session: &mut Session, create: &CreateObject, positions: &Positions<'_>) -> Result<Outcome> {
    let name = name_parts(&create.name).join(".");
    let at = |error: Error, span| locate(error, Some(positions), span);
    let known = format!("'{IN_MEMORY}'");
    match create.options.iter().find(|option| option.key == "type") {
        Some(option) if option.value == IN_MEMORY => {}
        Some(option) => {
            let error = refuse_type(&option.value, &known);
            return Err(at(error, option.value_span));
        }
        None => {
            let fix = format!("CREATE CATALOG {name} WITH ('type' = {known})");
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("type", &""), ("known", &known), ("fix", &fix)];
            return Err(at(Error::new(&statement_codes::CATALOG_TYPE, &arguments), create.name.span()));
        }
    }
    check_options(&create.options, positions)?;
    let properties = properties(create);
    let database = properties.options.get(DEFAULT_DATABASE_OPTION).unwrap_or(DEFAULT_DATABASE).to_string();
    session
        .catalogs
        .create_catalog(&name, properties, &database, create.if_not_exists)
        .map(|()| Outcome::Done)
        .map_err(|error| at(error, create.name.span()))
}

fn refuse_type(wanted: &str, known: &str) -> Error {
    let fix = match wanted {
        "jdbc" => {
            "declare each table: CREATE TABLE ... WITH ('connector' = 'jdbc', 'url' = '...', 'table-name' = '...')"
                .to_string()
        }
        "hive" | "iceberg" | "paimon" | "hudi" | "delta" => {
            format!("reading and writing {wanted} tables is not built yet; use 'type' = {known} and declare the tables")
        }
        _ => format!("use 'type' = {known}, and declare the tables with CREATE TABLE"),
    };
    Error::new(&statement_codes::CATALOG_TYPE, &[("type", &wanted), ("known", &known), ("fix", &fix)])
}

/// The options of a catalog in memory.
pub fn check_options(options: &[TableOption], positions: &Positions<'_>) -> Result<()> {
    for option in options {
        let error = match option.key.as_str() {
            "type" if option.value == IN_MEMORY => continue,
            "type" => refuse_type(&option.value, &format!("'{IN_MEMORY}'")),
            DEFAULT_DATABASE_OPTION => continue,
            key => Error::new(&statement_codes::UNKNOWN_CATALOG_OPTION, &[("type", &IN_MEMORY), ("key", &key)]),
        };
        return Err(locate(error, Some(positions), option.key_span));
    }
    Ok(())
}

/// DROP CATALOG.
pub fn drop_catalog(session: &mut Session, drop: &Drop) -> Result<Outcome> {
    let name = name_parts(&drop.name).join(".");
    session.catalogs.drop_catalog(&name, drop.if_exists).map(|()| Outcome::Done)
}

/// CREATE DATABASE.
pub fn create_database(session: &mut Session, create: &CreateObject, positions: &Positions<'_>) -> Result<Outcome> {
    let (catalog, database) = database_name(session, &create.name)?;
    session
        .catalogs
        .add_database(&catalog, &database, properties(create), create.if_not_exists)
        .map(|()| Outcome::Done)
        .map_err(|error| locate(error, Some(positions), create.name.span()))
}
