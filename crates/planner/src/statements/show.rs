//! SHOW and DESCRIBE.

use super::insert::expression_text;
use super::{name_parts, object_path, show_create};
use crate::binder::Binder;
use crate::binder::positions::{Positions, locate};
use crate::catalog::{CatalogObject, CatalogTable};
use crate::codes;
use crate::session::{Outcome, Session};
use base::{ColumnKind, Error, Result, RowType, TimeAttribute};
use std::ops::ControlFlow;
use syntax::ast::{self, ObjectName, Spanned, VisitMut, VisitorMut};
use syntax::statement::{Describe, ObjectKind, Show, ShowFilter};

/// SHOW.
pub fn show(session: &Session, show: &Show) -> Result<Outcome> {
    let names = |title: &str, names: Vec<String>| {
        let rows = names.into_iter().filter(|name| passes(show.filter.as_ref(), name)).map(|name| vec![Some(name)]);
        Ok(Outcome::Table { columns: vec![title.to_string()], rows: rows.collect() })
    };
    let catalogs = &session.catalogs;
    match show.subject.as_str() {
        "TABLES" => names("table name", objects(session, show.name.as_ref(), |_| true)?),
        "VIEWS" => {
            names("view name", objects(session, show.name.as_ref(), |object| matches!(object, CatalogObject::View(_)))?)
        }
        "CATALOGS" => names("catalog name", catalogs.catalogs()),
        "DATABASES" => {
            let catalog = show.name.as_ref().map(|name| name_parts(name).join("."));
            names("database name", catalogs.databases(catalog.as_deref().unwrap_or(catalogs.current_catalog())))
        }
        "CURRENT CATALOG" => names("current catalog name", vec![catalogs.current_catalog().to_string()]),
        "CURRENT DATABASE" => names("current database name", vec![catalogs.current_database().to_string()]),
        "FUNCTIONS" => {
            let mut all: Vec<String> = functions::scalar_names()
                .into_iter()
                .chain(functions::aggregate_names())
                .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(' '))
                .map(str::to_lowercase)
                .collect();
            all.sort();
            all.dedup();
            names("function name", all)
        }
        "CREATE TABLE" | "CREATE VIEW" => {
            let name = show.name.as_ref().ok_or_else(|| Error::unsupported("SHOW CREATE without a name"))?;
            let path = object_path(session, name)?;
            let text = match session.catalogs.object(&path)? {
                CatalogObject::Table(table) => show_create::table(table),
                CatalogObject::View(view) => show_create::view(view),
            };
            Ok(Outcome::Table { columns: vec!["result".into()], rows: vec![vec![Some(text)]] })
        }
        other => Err(Error::unsupported(format!("SHOW {other}"))),
    }
}

fn objects(
    session: &Session,
    from: Option<&ObjectName>,
    wanted: impl Fn(&CatalogObject) -> bool,
) -> Result<Vec<String>> {
    let catalogs = &session.catalogs;
    let (catalog, database) = match from.map(name_parts).as_deref() {
        None => (catalogs.current_catalog().to_string(), catalogs.current_database().to_string()),
        Some([database]) => (catalogs.current_catalog().to_string(), database.clone()),
        Some([catalog, database]) => (catalog.clone(), database.clone()),
        Some(parts) => return Err(Error::new(&codes::BAD_NAME, &[("name", &parts.join("."))])),
    };
    if !catalogs.databases(&catalog).contains(&database) {
        return Err(Error::new(&codes::UNKNOWN_SPACE, &[("kind", &"database"), ("name", &database)]));
    }
    let objects = catalogs.objects(&catalog, &database);
    Ok(objects.into_iter().filter(|(_, object)| wanted(object)).map(|(name, _)| name.to_string()).collect())
}

/// LIKE with `%` and `_`.
fn passes(filter: Option<&ShowFilter>, name: &str) -> bool {
    let Some(filter) = filter else { return true };
    let (pattern, name) = match filter.ignore_case {
        true => (filter.pattern.to_lowercase(), name.to_lowercase()),
        false => (filter.pattern.clone(), name.to_string()),
    };
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    like(&pattern, &name) != filter.negated
}

fn like(pattern: &[char], text: &[char]) -> bool {
    // The places in the text that the pattern so far can reach.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for symbol in pattern {
        if *symbol == '%' {
            let first = reached.iter().position(|place| *place).unwrap_or(text.len() + 1);
            reached.iter_mut().skip(first).for_each(|place| *place = true);
        } else {
            for index in (0..text.len()).rev() {
                reached[index + 1] = reached[index] && (*symbol == '_' || text[index] == *symbol);
            }
            reached[0] = false;
        }
    }
    reached[text.len()]
}

/// DESCRIBE, with Flink's columns.
pub fn describe(session: &Session, describe: &Describe, positions: &Positions<'_>) -> Result<Outcome> {
    if !matches!(describe.kind, ObjectKind::Table | ObjectKind::View) {
        return Err(Error::unsupported("DESCRIBE of anything but a table or view"));
    }
    let path = object_path(session, &describe.name)?;
    let object =
        session.catalogs.object(&path).map_err(|error| locate(error, Some(positions), describe.name.span()))?;
    let rows = match object {
        CatalogObject::Table(table) => describe_table(table),
        CatalogObject::View(view) => {
            let binder = Binder::new(&session.catalogs, session.function_context()?, None);
            describe_row(&Binder::row_type(&binder.bind_view(view)?)?)
        }
    };
    let columns = ["name", "type", "null", "key", "extras", "watermark"].map(String::from).to_vec();
    Ok(Outcome::Table { columns, rows })
}

fn describe_row(row: &RowType) -> Vec<Vec<Option<String>>> {
    row.fields()
        .iter()
        .map(|field| {
            let time = match field.time {
                None => "",
                Some(TimeAttribute::Rowtime) => " *ROWTIME*",
                Some(TimeAttribute::Proctime) => " *PROCTIME*",
            };
            let null = if field.sql_type.nullable { "TRUE" } else { "FALSE" };
            vec![
                Some(field.name.clone()),
                Some(format!("{}{time}", field.sql_type.logical)),
                Some(null.to_string()),
                None,
                None,
                None,
            ]
        })
        .collect()
}

fn describe_table(table: &CatalogTable) -> Vec<Vec<Option<String>>> {
    let mut rows = describe_row(&table.row);
    let definition = &table.definition;
    for (row, column) in rows.iter_mut().zip(&definition.columns) {
        if definition.primary_key.contains(&column.name) {
            row[3] = Some(format!("PRI({})", definition.primary_key.join(", ")));
        }
        row[4] = match &column.kind {
            ColumnKind::Physical => None,
            ColumnKind::Computed { sql } => Some(format!("AS {}", quoted(sql))),
            ColumnKind::Metadata { key, is_virtual } => Some(metadata_text(&column.name, key, *is_virtual)),
        };
        if let Some(watermark) = &definition.watermark
            && watermark.column == column.name
        {
            row[5] = Some(quoted(&watermark.sql));
        }
    }
    rows
}

/// `METADATA FROM 'key' VIRTUAL`.
pub fn metadata_text(name: &str, key: &str, is_virtual: bool) -> String {
    let mut text = "METADATA".to_string();
    if key != name {
        text.push_str(&format!(" FROM '{}'", key.replace('\'', "''")));
    }
    if is_virtual {
        text.push_str(" VIRTUAL");
    }
    text
}

/// An expression in Flink's canonical text: identifiers in backticks.
pub fn quoted(sql: &str) -> String {
    let Ok(syntax::Statement::Query(query)) = syntax::parse_statement(&format!("SELECT {sql}")) else {
        return sql.to_string();
    };
    let ast::SetExpr::Select(select) = *query.body else { return sql.to_string() };
    match select.projection.into_iter().next() {
        Some(ast::SelectItem::UnnamedExpr(mut expr)) => {
            let _ = expr.visit(&mut Quote);
            expression_text(&expr)
        }
        _ => sql.to_string(),
    }
}

struct Quote;

impl VisitorMut for Quote {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        match expr {
            ast::Expr::Identifier(ident) => ident.quote_style = Some('`'),
            ast::Expr::CompoundIdentifier(parts) => parts.iter_mut().for_each(|part| part.quote_style = Some('`')),
            ast::Expr::Function(function) => {
                for part in &mut function.name.0 {
                    if let ast::ObjectNamePart::Identifier(ident) = part {
                        ident.value = ident.value.to_uppercase();
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
