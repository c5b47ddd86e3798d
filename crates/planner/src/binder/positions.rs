//! Where things stand in the script: from line and column to the location of an error.

use base::Location;
use std::cell::RefCell;
use syntax::Span;
use syntax::ast::Ident;

/// The script of the statement that is being planned.
#[derive(Debug, Clone)]
pub struct Positions<'a> {
    script: &'a syntax::Script,
}

impl<'a> Positions<'a> {
    /// Positions in `script`.
    pub fn new(script: &'a syntax::Script) -> Positions<'a> {
        Positions { script }
    }

    /// A line and column, from 1.
    pub fn at(&self, line: u64, column: u64) -> Location {
        Location::Sql {
            script: self.script.name().to_string(),
            line,
            column,
            source_line: self.script.line(line).map(str::to_string),
        }
    }

    /// The start of a span; `None` for a tree that was not read from the script.
    pub fn span(&self, span: Span) -> Option<Location> {
        (span.start.line > 0).then(|| self.at(span.start.line, span.start.column))
    }
}

/// Adds the start of `span` to an error that has no place yet.
pub fn locate(error: base::Error, positions: Option<&Positions<'_>>, span: Span) -> base::Error {
    match positions.and_then(|positions| positions.span(span)) {
        Some(location) => error.at(location),
        None => error,
    }
}

/// The names of a statement and where they stand, to place errors that know a name only.
#[derive(Debug, Default)]
pub struct Places {
    columns: RefCell<Vec<(Vec<String>, Span)>>,
    tables: RefCell<Vec<(String, Span)>>,
}

impl Places {
    /// Remembers a column reference.
    pub fn column(&self, parts: &[Ident]) {
        if let Some(first) = parts.first() {
            let names = parts.iter().map(|part| part.value.clone()).collect();
            self.columns.borrow_mut().push((names, first.span));
        }
    }

    /// Remembers a table reference.
    pub fn table(&self, name: &str, span: Span) {
        self.tables.borrow_mut().push((name.to_string(), span));
    }

    /// Where a column of this name stands first; with a qualifier, where it stands with it.
    pub fn find_column(&self, qualifier: Option<&str>, name: &str) -> Option<Span> {
        let columns = self.columns.borrow();
        let matches = |parts: &[String]| match (parts, qualifier) {
            ([.., table, column], Some(wanted)) => column == name && table == wanted,
            ([column], None) => column == name,
            _ => false,
        };
        let exact = columns.iter().find(|(parts, _)| matches(parts));
        exact.or_else(|| columns.iter().find(|(parts, _)| parts.iter().any(|part| part == name))).map(|(_, span)| *span)
    }

    /// Where a table of this name stands first.
    pub fn find_table(&self, name: &str) -> Option<Span> {
        self.tables.borrow().iter().find(|(table, _)| table == name).map(|(_, span)| *span)
    }
}
