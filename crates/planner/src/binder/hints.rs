//! Hints. OPTIONS changes its table for one query: the name of the table carries the options until it is resolved.
//! The others are kept for the planner; one that no table answers to is an error.

use super::Binder;
use super::positions::locate;
use super::rewrite::Rewriter;
use crate::catalog::CatalogTable;
use crate::statement_codes;
use crate::table;
use base::nearest::nearest;
use base::{Error, Result};
use std::collections::BTreeSet;
use std::sync::Arc;
use syntax::Hint;
use syntax::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, ObjectNamePart, Select,
    Spanned, TableAlias, TableFactor, TableWithJoins, Value,
};
use syntax::dialect::{HINT, marker_arguments};

/// The hint that changes a table.
pub const OPTIONS: &str = "OPTIONS";
/// Before a key in the name of a table.
const KEY: char = '\u{2}';
/// Before a value in the name of a table.
const VALUE: char = '\u{3}';
/// Hints that name tables by their arguments.
const JOINS: [&str; 5] = ["BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "MULTI_JOIN"];
/// The hint whose keys are tables.
const STATE_TTL: &str = "STATE_TTL";
/// The hint that names a table for late rows.
pub const LATE_TABLE: &str = "LATE_TABLE";
/// The hint whose option `table` is a table.
const LOOKUP: &str = "LOOKUP";

/// The hints after SELECT.
pub fn of_select(rewriter: &mut Rewriter<'_>, select: &Select) -> Result<()> {
    let hints = syntax::select_hints(select);
    if hints.is_empty() {
        return Ok(());
    }
    let mut tables = BTreeSet::new();
    for from in &select.from {
        from_names(from, &mut tables);
    }
    for hint in hints {
        if hint.name == OPTIONS {
            let table = tables.first().map_or("t", String::as_str);
            return Err(Error::new(&statement_codes::OPTIONS_AFTER_SELECT, &[("table", &table)]));
        }
        check(&hint, &tables)?;
        rewriter.hints.push(hint);
    }
    Ok(())
}

/// The names by which the tables of FROM are known.
fn from_names(from: &TableWithJoins, names: &mut BTreeSet<String>) {
    let mut add = |factor: &TableFactor| match factor {
        TableFactor::Table { name, alias, .. } => {
            let last = name.0.last().and_then(|part| part.as_ident());
            names.extend(last.map(|ident| ident.value.split(KEY).next().unwrap_or_default().to_string()));
            names.extend(alias.as_ref().map(|alias| alias.name.value.clone()));
        }
        TableFactor::Derived { alias, .. } | TableFactor::TableFunction { alias, .. } => {
            names.extend(alias.as_ref().map(|alias| alias.name.value.clone()));
        }
        TableFactor::NestedJoin { table_with_joins, .. } => from_names(table_with_joins, names),
        _ => {}
    };
    add(&from.relation);
    for join in &from.joins {
        add(&join.relation);
    }
}

/// A hint that exists, and tables that the query has.
fn check(hint: &Hint, tables: &BTreeSet<String>) -> Result<()> {
    let known: Vec<&str> = JOINS.into_iter().chain([STATE_TTL, LOOKUP, LATE_TABLE, OPTIONS]).collect();
    if !known.contains(&hint.name.as_str()) {
        let near = nearest(&hint.name, known.iter().copied());
        let names = if near.is_empty() { known.join(", ") } else { near.join(", ") };
        return Err(Error::new(&statement_codes::UNKNOWN_HINT, &[("hint", &hint.name), ("names", &names)]));
    }
    let wanted: Vec<&str> = match hint.name.as_str() {
        STATE_TTL => hint.options.iter().map(|(key, _)| key.as_str()).collect(),
        LOOKUP | LATE_TABLE if !hint.options.is_empty() => {
            hint.options.iter().filter(|(key, _)| key == "table").map(|(_, table)| table.as_str()).collect()
        }
        _ => hint.arguments.iter().map(String::as_str).collect(),
    };
    if wanted.is_empty() {
        let example = match hint.name.as_str() {
            STATE_TTL => "STATE_TTL('orders' = '1 d')".to_string(),
            LOOKUP => "LOOKUP('table' = 'dim', 'async' = 'true')".to_string(),
            LATE_TABLE => "LATE_TABLE('late_orders')".to_string(),
            name => format!("{name}(dim)"),
        };
        return Err(Error::new(&statement_codes::HINT_WITHOUT_TABLE, &[("hint", &hint.name), ("example", &example)]));
    }
    // The table of late rows is written, not read.
    for name in wanted.into_iter().filter(|_| hint.name != LATE_TABLE) {
        let last = name.rsplit('.').next().unwrap_or(name);
        if !tables.contains(last) {
            let known = tables.iter().cloned().collect::<Vec<_>>().join(", ");
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("hint", &hint.name), ("name", &name), ("tables", &known)];
            return Err(Error::new(&statement_codes::HINT_TABLE, &arguments));
        }
    }
    if hint.name == STATE_TTL
        && let Some((table, ttl)) = hint.options.iter().find(|(_, ttl)| base::options::parse_duration(ttl).is_none())
    {
        return Err(Error::new(&statement_codes::HINT_DURATION, &[("table", table), ("value", ttl)]));
    }
    Ok(())
}

/// The options of the OPTIONS hints of a table; its other hints are kept.
fn split(rewriter: &mut Rewriter<'_>, hints: Vec<Hint>, table: &str) -> Result<Vec<(String, String)>> {
    let mut options = Vec::new();
    for hint in hints {
        if hint.name == OPTIONS {
            options.extend(hint.options);
            continue;
        }
        check(&hint, &[table.to_string()].into())?;
        rewriter.hints.push(hint);
    }
    Ok(options)
}

fn mark(ident: &mut Ident, options: &[(String, String)]) {
    for (key, value) in options {
        ident.value.push_str(&format!("{KEY}{key}{VALUE}{value}"));
    }
}

/// Puts the options of a hint into the name of a table in FROM; the table keeps its name as an alias.
pub fn mark_table(rewriter: &mut Rewriter<'_>, factor: &mut TableFactor) -> Result<()> {
    let hints = syntax::table_hints(factor);
    let TableFactor::Table { name, alias, with_hints, .. } = factor else { return Ok(()) };
    let Some(ObjectNamePart::Identifier(ident)) = name.0.last_mut() else { return Ok(()) };
    let plain = ident.clone();
    let options = split(rewriter, hints, &plain.value)?;
    with_hints.clear();
    if options.is_empty() {
        return Ok(());
    }
    mark(ident, &options);
    if alias.is_none() {
        let name = Ident::with_quote('`', plain.value);
        *alias = Some(TableAlias { explicit: true, name, columns: Vec::new() });
    }
    Ok(())
}

/// The same for `TABLE t /*+ OPTIONS(..) */` as an argument.
pub fn mark_argument(rewriter: &mut Rewriter<'_>, function: &mut Function) -> Result<()> {
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    let mut hints = Vec::new();
    list.args.retain(|argument| {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument else { return true };
        let Some(arguments) = marker_arguments(expr, HINT) else { return true };
        for argument in arguments {
            if let Expr::Value(value) = argument
                && let Value::SingleQuotedString(text) = &value.value
            {
                hints.extend(Hint::parse_list(text).unwrap_or_default());
            }
        }
        false
    });
    if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::CompoundIdentifier(parts)))) = list.args.first_mut()
        && let Some(last) = parts.last_mut()
    {
        let options = split(rewriter, hints, &last.value)?;
        mark(last, &options);
    }
    Ok(())
}

/// The name as written, and the options that it carries.
pub fn unmark(mut parts: Vec<String>) -> (Vec<String>, Vec<(String, String)>) {
    let Some(last) = parts.last_mut() else { return (parts, Vec::new()) };
    let whole = std::mem::take(last);
    let mut pieces = whole.split(KEY);
    *last = pieces.next().unwrap_or_default().to_string();
    let option = |piece: &str| piece.split_once(VALUE).map(|(key, value)| (key.to_string(), value.to_string()));
    let options = pieces.filter_map(option).collect();
    (parts, options)
}

/// OPTIONS after the name of a view.
pub fn options_of_view(name: &str) -> Error {
    Error::new(&statement_codes::OPTIONS_OF_VIEW, &[("name", &name)])
}

impl Binder<'_> {
    /// A table with the options of a hint.
    ///
    /// # Errors
    /// Options that its connector does not take.
    pub(crate) fn with_options(
        &self,
        table: &Arc<CatalogTable>,
        options: Vec<(String, String)>,
    ) -> Result<Arc<CatalogTable>> {
        if options.is_empty() {
            return Ok(table.clone());
        }
        let connector = self.connector.as_ref().ok_or_else(|| Error::unsupported("the hint OPTIONS here"))?;
        table::with_options(table, options, connector).map(Arc::new)
    }

    /// The table of an INSERT with the hints after its name.
    ///
    /// # Errors
    /// Options that its connector does not take, and hints that do not belong here.
    pub(crate) fn hinted_target(
        &self,
        table: &Arc<CatalogTable>,
        name: &ObjectName,
        hints: &[Hint],
    ) -> Result<Arc<CatalogTable>> {
        let mut options = Vec::new();
        for hint in hints {
            if hint.name != OPTIONS {
                let error = Error::new(&statement_codes::INSERT_HINT, &[("hint", &hint.name)]);
                return Err(locate(error, self.positions, name.span()));
            }
            options.extend(hint.options.iter().cloned());
        }
        self.with_options(table, options)
    }
}
