//! SHOW, with the columns of Flink's SQL client.

use super::{CORE_MODULE, database_name, describe, name_parts, object_path, show_create};
use crate::binder::positions::{Positions, locate};
use crate::catalog::CatalogObject;
use crate::codes;
use crate::session::{Outcome, Session};
use crate::statement_codes;
use base::{Error, Result};
use syntax::ast::{ObjectName, Spanned};
use syntax::statement::{Show, ShowFilter};

/// SHOW.
pub fn show(session: &Session, show: &Show, positions: &Positions<'_>) -> Result<Outcome> {
    list(session, show).map_err(|error| match &show.name {
        Some(name) => locate(error, Some(positions), name.span()),
        None => error,
    })
}

fn list(session: &Session, show: &Show) -> Result<Outcome> {
    let filter = show.filter.as_ref();
    let names = |title: &str, names: Vec<String>| {
        let rows = names.into_iter().filter(|name| passes(filter, name)).map(|name| vec![Some(name)]);
        Ok(Outcome::Table { columns: vec![title.to_string()], rows: rows.collect() })
    };
    let catalogs = &session.catalogs;
    let from = show.name.as_ref();
    let refused = |code, subject: &str| Err(Error::new(code, &[("statement", &format!("SHOW {subject}"))]));
    match show.subject.as_str() {
        "TABLES" => names("table name", objects(session, from, |_| true)?),
        "VIEWS" => names("view name", objects(session, from, |object| matches!(object, CatalogObject::View(_)))?),
        "CATALOGS" => names("catalog name", catalogs.catalogs()),
        "DATABASES" => {
            let catalog = from.map_or(catalogs.current_catalog().to_string(), |name| name_parts(name).join("."));
            catalogs.catalog(&catalog)?;
            names("database name", catalogs.databases(&catalog))
        }
        "CURRENT CATALOG" => names("current catalog name", vec![catalogs.current_catalog().to_string()]),
        "CURRENT DATABASE" => names("current database name", vec![catalogs.current_database().to_string()]),
        "FUNCTIONS" => {
            let mut all = built_in();
            all.extend(user_functions(session, from)?);
            all.sort();
            all.dedup();
            names("function name", all)
        }
        "USER FUNCTIONS" => names("function name", user_functions(session, from)?),
        "MODULES" => names("module name", vec![CORE_MODULE.to_string()]),
        "FULL MODULES" => {
            let columns = ["module name", "used"].map(String::from).to_vec();
            Ok(Outcome::Table { columns, rows: vec![vec![Some(CORE_MODULE.to_string()), Some("TRUE".to_string())]] })
        }
        "PROCEDURES" => {
            space(session, from)?;
            names("procedure name", Vec::new())
        }
        "JARS" => names("jars", Vec::new()),
        "COLUMNS" => columns(session, show),
        "CREATE TABLE" | "CREATE VIEW" | "CREATE CATALOG" => create(session, show),
        "PARTITIONS" => partitions(session, show),
        "JOBS" => refused(&statement_codes::JOB_COMMAND, "JOBS"),
        "MODELS" | "CREATE MODEL" => refused(&statement_codes::MODEL, &show.subject),
        "CONNECTIONS" | "CREATE CONNECTION" => refused(&statement_codes::CONNECTION, &show.subject),
        "MATERIALIZED TABLES" | "CREATE MATERIALIZED TABLE" => {
            refused(&statement_codes::MATERIALIZED_TABLE, &show.subject)
        }
        other => Err(Error::unsupported(format!("SHOW {other}"))),
    }
}

/// The built-in functions that are called by a name.
fn built_in() -> Vec<String> {
    functions::scalar_names()
        .into_iter()
        .chain(functions::aggregate_names())
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(' '))
        .map(str::to_lowercase)
        .collect()
}

fn user_functions(session: &Session, from: Option<&ObjectName>) -> Result<Vec<String>> {
    let (catalog, database) = space(session, from)?;
    let functions = session.catalogs.functions.of(&catalog, &database);
    let mut names: Vec<String> = functions.into_iter().map(|function| function.path.name.to_lowercase()).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// The database that FROM names, else the current one.
fn space(session: &Session, from: Option<&ObjectName>) -> Result<(String, String)> {
    let catalogs = &session.catalogs;
    let (catalog, database) = match from {
        None => (catalogs.current_catalog().to_string(), catalogs.current_database().to_string()),
        Some(name) => database_name(session, name)?,
    };
    catalogs.database(&catalog, &database)?;
    Ok((catalog, database))
}

fn objects(
    session: &Session,
    from: Option<&ObjectName>,
    wanted: impl Fn(&CatalogObject) -> bool,
) -> Result<Vec<String>> {
    let (catalog, database) = space(session, from)?;
    let objects = session.catalogs.objects(&catalog, &database);
    Ok(objects.into_iter().filter(|(_, object)| wanted(object)).map(|(name, _)| name.to_string()).collect())
}

/// SHOW COLUMNS: what DESCRIBE gives, filtered by name.
fn columns(session: &Session, show: &Show) -> Result<Outcome> {
    let Some(name) = &show.name else { return Err(Error::unsupported("SHOW COLUMNS without FROM and a table")) };
    let Outcome::Table { columns, mut rows } = describe::object(session, name)? else {
        return Err(Error::internal("DESCRIBE gives a table"));
    };
    rows.retain(|row| row.first().and_then(Option::as_deref).is_some_and(|name| passes(show.filter.as_ref(), name)));
    Ok(Outcome::Table { columns, rows })
}

/// SHOW CREATE.
fn create(session: &Session, show: &Show) -> Result<Outcome> {
    let name = show.name.as_ref().ok_or_else(|| Error::unsupported("SHOW CREATE without a name"))?;
    let text = if show.subject == "CREATE CATALOG" {
        let name = name_parts(name).join(".");
        show_create::catalog(&name, session.catalogs.catalog(&name)?)
    } else {
        let path = object_path(session, name)?;
        let object = session.catalogs.object(&path)?;
        let wanted = if show.subject == "CREATE TABLE" { "table" } else { "view" };
        if object.kind() != wanted {
            let kind = format!("a {}", object.kind());
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("name", &path.name), ("kind", &kind), ("wanted", &wanted)];
            return Err(Error::new(&codes::NOT_A_TABLE, &arguments));
        }
        match object {
            CatalogObject::Table(table) => show_create::table(table),
            CatalogObject::View(view) => show_create::view(view),
        }
    };
    Ok(Outcome::Table { columns: vec!["result".into()], rows: vec![vec![Some(text)]] })
}

/// SHOW PARTITIONS: which there are, only the storage knows, and planning looks at no storage.
fn partitions(session: &Session, show: &Show) -> Result<Outcome> {
    let name = show.name.as_ref().ok_or_else(|| Error::unsupported("SHOW PARTITIONS without a table"))?;
    let path = object_path(session, name)?;
    let table = session.catalogs.table(&path)?;
    let fields = &table.definition.partitioned_by;
    if fields.is_empty() {
        let arguments: [(&'static str, &dyn std::fmt::Display); 2] =
            [("table", &path.name), ("connector", &table.factory.name())];
        return Err(Error::new(&statement_codes::NO_PARTITIONS, &arguments));
    }
    let names: Vec<&str> = fields.iter().map(|field| field.column.as_str()).collect();
    Err(Error::unsupported(format!("SHOW PARTITIONS; run SELECT DISTINCT {} FROM {}", names.join(", "), path.name)))
}

/// [NOT] LIKE and ILIKE.
fn passes(filter: Option<&ShowFilter>, name: &str) -> bool {
    let Some(filter) = filter else { return true };
    let (pattern, name) = match filter.ignore_case {
        true => (filter.pattern.to_lowercase(), name.to_lowercase()),
        false => (filter.pattern.clone(), name.to_string()),
    };
    like(&symbols(&pattern), &name.chars().collect::<Vec<char>>()) != filter.negated
}

/// A part of a pattern.
#[derive(Debug, Clone, Copy)]
enum Symbol {
    /// `%`
    Any,
    /// `_`
    One,
    /// The character itself; a backslash before `%` or `_` makes one of it.
    Char(char),
}

fn symbols(pattern: &str) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        symbols.push(match character {
            '%' => Symbol::Any,
            '_' => Symbol::One,
            '\\' => Symbol::Char(characters.next().unwrap_or(character)),
            character => Symbol::Char(character),
        });
    }
    symbols
}

fn like(pattern: &[Symbol], text: &[char]) -> bool {
    // The places in the text that the pattern so far can reach.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for symbol in pattern {
        if matches!(symbol, Symbol::Any) {
            let first = reached.iter().position(|place| *place).unwrap_or(text.len() + 1);
            reached.iter_mut().skip(first).for_each(|place| *place = true);
            continue;
        }
        for index in (0..text.len()).rev() {
            let fits = match symbol {
                Symbol::Char(character) => text[index] == *character,
                _ => true,
            };
            reached[index + 1] = reached[index] && fits;
        }
        reached[0] = false;
    }
    reached[text.len()]
}
