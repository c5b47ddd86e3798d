//! `JOIN t FOR SYSTEM_TIME AS OF time`: which time attributes and keys it needs, and what it really reads.

use super::super::codes as own;
use super::super::positions::locate;
use super::expressions;
use super::scope::{Outcome, Relation, Scope, ScopeColumn};
use super::{Clause, Walk};
use crate::catalog::CatalogTable;
use base::{Error, LogicalType, TimeAttribute};
use syntax::ast::{Expr, Ident, Spanned};

/// Connectors whose rows are looked up one by one: they know the present only.
const LOOKUP_CONNECTORS: [&str; 1] = ["jdbc"];
/// Names that people give to a processing time that their table does not have.
const PROCTIME_NAMES: [&str; 4] = ["proctime", "proc_time", "process_time", "processing_time"];

impl Walk<'_> {
    /// Checks the time of a temporal join.
    pub(super) fn as_of(&mut self, time: &Expr, right: &Relation, scope: &Scope<'_>) {
        let Some(parts) = expressions::parts(time) else {
            return self.expression(time, scope, &[], &Clause::Plain);
        };
        match scope.resolve(parts) {
            Outcome::Found(column, _) if column.time == Some(TimeAttribute::Proctime) => {}
            Outcome::Found(column, 0) => {
                let shown = shown(parts);
                match &right.table {
                    Some(table) if is_lookup(table) => self.lookup_as_of_now(&shown, table, time),
                    Some(table) => self.versioned(&shown, &column, table, time),
                    None => {}
                }
            }
            Outcome::NoColumn if is_proctime_name(parts) => self.assumed_proctime(parts, scope),
            _ => self.column(parts, scope, &Clause::Plain),
        }
    }

    /// A note: the table has no such column, but its name says what is meant.
    fn assumed_proctime(&mut self, parts: &[Ident], scope: &Scope<'_>) {
        let Some(name) = parts.last() else { return };
        let qualifier = parts.len().checked_sub(2).map(|index| parts[index].value.as_str());
        let relation = match qualifier {
            Some(qualifier) => scope.relation(qualifier),
            None => scope.relations.first(),
        };
        let table = relation.and_then(|relation| relation.table.as_ref()).map(|table| &table.definition.path.name);
        let table = table.map_or_else(|| qualifier.unwrap_or("the left side").to_string(), String::clone);
        let note = Error::new(&own::PROCTIME_ASSUMED, &[("name", &name.value), ("table", &table)]);
        self.findings.warnings.push(locate(note, self.binder.positions, name.span));
    }

    fn lookup_as_of_now(&mut self, shown: &str, table: &CatalogTable, time: &Expr) {
        if table.watermark.is_some() {
            return;
        }
        let (name, connector) = (&table.definition.path.name, table.factory.name());
        let note = Error::new(&own::LOOKUP_AS_OF_NOW, &[("table", name), ("connector", &connector), ("time", &shown)]);
        self.findings.warnings.push(locate(note, self.binder.positions, time.span()));
    }

    /// A join with a versioned table needs event time on both sides and a key on the right: all that lacks in one message.
    fn versioned(&mut self, shown: &str, left: &ScopeColumn, right: &CatalogTable, time: &Expr) {
        if left.time.is_none() && left.origin.is_none() {
            // A column of a query: whether it is a time, PROCTIME() even, is known where the query is planned.
            return;
        }
        let mut lacks = Vec::new();
        let mut lines = Vec::new();
        if left.time.is_none() {
            let rowtime = |table: &CatalogTable| table.watermark.as_ref().map(|watermark| watermark.column);
            match &left.origin {
                Some((table, _)) if rowtime(table).is_some() => {
                    let rowtime = rowtime(table).and_then(|column| table.row.fields().get(column));
                    let (name, rowtime) = (&table.definition.path.name, rowtime.map_or("?", |field| &field.name));
                    lacks.push(format!("the WATERMARK of table {name} is on {rowtime}, not on {shown}"));
                    lines.push(format!("write FOR SYSTEM_TIME AS OF with {rowtime} of table {name}"));
                }
                Some((table, column)) => {
                    let table = &table.definition.path.name;
                    lacks.push(format!("table {table} has no WATERMARK for {column}"));
                    lines.push(format!(
                        "add to CREATE TABLE {table}: WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND"
                    ));
                }
                None => {}
            }
        }
        let name = &right.definition.path.name;
        if right.definition.primary_key.is_empty() {
            lacks.push(format!("table {name} has no PRIMARY KEY"));
            lines.push(format!("add to CREATE TABLE {name}: PRIMARY KEY (...) NOT ENFORCED, the columns of the join"));
        }
        if right.watermark.is_none() {
            match version_time(right) {
                Some(column) => {
                    lacks.push(format!("table {name} has no WATERMARK for {column}"));
                    lines.push(format!(
                        "add to CREATE TABLE {name}: WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND"
                    ));
                }
                None => {
                    lacks.push(format!("table {name} has no time column"));
                    lines.push(format!(
                        "add to CREATE TABLE {name}: update_time TIMESTAMP(3), WATERMARK FOR update_time AS update_time - \
                         INTERVAL '5' SECOND"
                    ));
                }
            }
        }
        if lacks.is_empty() {
            return;
        }
        let (lacks, lines) = (lacks.join("; "), lines.join("\n"));
        let error =
            Error::new(&own::TEMPORAL_JOIN, &[("table", name), ("time", &shown), ("lacks", &lacks), ("lines", &lines)]);
        self.error(error, time.span());
    }

    /// Rows of a table that does not exist are looked up by the columns of the join condition.
    pub(super) fn keys(&mut self, before: usize, condition: &Expr, scope: &Scope<'_>) {
        let missing: Vec<usize> = scope.relations[before..].iter().filter_map(|relation| relation.missing).collect();
        let [table] = missing.as_slice() else { return };
        for (left, right) in expressions::collect(condition).equal {
            for parts in [left, right] {
                if let Outcome::Missing(index, column) = scope.resolve(&parts)
                    && index == *table
                {
                    self.missing[index].set_key(&column);
                }
            }
        }
    }
}

fn shown(parts: &[Ident]) -> String {
    parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".")
}

/// Whether a table is asked for the rows of now whatever time is written.
pub fn is_lookup(table: &CatalogTable) -> bool {
    LOOKUP_CONNECTORS.contains(&table.factory.name())
}

/// Whether an expression is a column whose name says that it is the processing time.
pub fn is_named_proctime(time: &Expr) -> bool {
    expressions::parts(time).is_some_and(is_proctime_name)
}

fn is_proctime_name(parts: &[Ident]) -> bool {
    parts.last().is_some_and(|name| PROCTIME_NAMES.contains(&name.value.to_lowercase().as_str()))
}

/// The column that tells since when a row holds: by its name, else the first timestamp.
fn version_time(table: &CatalogTable) -> Option<&str> {
    let times: Vec<&str> = table
        .row
        .fields()
        .iter()
        .filter(|field| matches!(field.sql_type.logical, LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_)))
        .map(|field| field.name.as_str())
        .collect();
    let telling = |name: &&str| ["update", "modif", "change", "valid"].iter().any(|word| name.contains(word));
    times.iter().copied().find(telling).or(times.first().copied())
}
