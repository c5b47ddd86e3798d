//! What names can mean at a place of a query.

use crate::catalog::CatalogTable;
use base::{Field, LogicalType, SqlType, TimeAttribute};
use std::collections::BTreeSet;
use std::sync::Arc;
use syntax::ast::Ident;

/// The relations of WITH in reach, innermost last.
pub type Ctes<'c> = &'c [(String, Shape)];

/// A column of a relation.
#[derive(Debug, Clone)]
pub struct ScopeColumn {
    /// Its name.
    pub name: String,
    /// Its type, where known.
    pub sql_type: Option<SqlType>,
    /// Its time attribute.
    pub time: Option<TimeAttribute>,
    /// The table whose column it is, as it is, and its name there.
    pub origin: Option<(Arc<CatalogTable>, String)>,
}

impl ScopeColumn {
    /// A column of which only the name is known.
    pub fn named(name: String) -> ScopeColumn {
        ScopeColumn { name, sql_type: None, time: None, origin: None }
    }

    /// A column of a table.
    pub fn of(field: &Field, table: &Arc<CatalogTable>) -> ScopeColumn {
        ScopeColumn {
            name: field.name.clone(),
            sql_type: Some(field.sql_type.clone()),
            time: field.time,
            origin: Some((table.clone(), field.name.clone())),
        }
    }
}

/// The columns of a relation.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Those that are known.
    pub columns: Vec<ScopeColumn>,
    /// Whether there may be others.
    pub open: bool,
}

impl Shape {
    /// Columns that nobody knows.
    pub fn open() -> Shape {
        Shape { columns: Vec::new(), open: true }
    }

    /// The names of the known columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Adds the columns of another one.
    pub fn append(&mut self, other: &Shape) {
        self.columns.extend(other.columns.iter().cloned());
        self.open |= other.open;
    }
}

/// A relation of FROM.
#[derive(Debug, Clone)]
pub struct Relation {
    /// Its alias or name; empty if it has none.
    pub name: String,
    /// Its columns.
    pub shape: Shape,
    /// The table, if it is one.
    pub table: Option<Arc<CatalogTable>>,
    /// The number of the table that does not exist.
    pub missing: Option<usize>,
}

impl Relation {
    /// A relation of which only the name is known.
    pub fn open(name: &str) -> Relation {
        Relation { name: name.to_string(), shape: Shape::open(), table: None, missing: None }
    }
}

/// What a name means.
#[derive(Debug)]
pub enum Outcome {
    /// A column, and how many parts name fields inside it.
    Found(ScopeColumn, usize),
    /// Something that cannot be known.
    Open,
    /// A column of a table that does not exist.
    Missing(usize, String),
    /// One of several columns.
    Ambiguous(Vec<String>),
    /// No column.
    NoColumn,
    /// No table of that name.
    NoRelation,
}

impl Outcome {
    fn is_nothing(&self) -> bool {
        matches!(self, Outcome::NoColumn | Outcome::NoRelation)
    }
}

/// The relations that names can refer to.
#[derive(Debug)]
pub struct Scope<'s> {
    /// Those of FROM.
    pub relations: Vec<Relation>,
    /// The columns of JOIN ... USING: one, though both sides have it.
    pub merged: BTreeSet<String>,
    outer: Option<&'s Scope<'s>>,
}

impl<'s> Scope<'s> {
    /// An empty scope inside another one.
    pub fn new(outer: Option<&'s Scope<'s>>) -> Scope<'s> {
        Scope { relations: Vec::new(), merged: BTreeSet::new(), outer }
    }

    /// The relation of this name.
    pub fn relation(&self, name: &str) -> Option<&Relation> {
        let own = self.relations.iter().find(|relation| relation.name == name);
        own.or_else(|| self.outer.and_then(|outer| outer.relation(name)))
    }

    /// What a name means here, or outside.
    pub fn resolve(&self, parts: &[Ident]) -> Outcome {
        let own = self.resolve_here(parts);
        match self.outer {
            Some(outer) if own.is_nothing() => match (&own, outer.resolve(parts)) {
                (Outcome::NoColumn, Outcome::NoColumn | Outcome::NoRelation) => own,
                (_, outside) => outside,
            },
            _ => own,
        }
    }

    /// The column or field of this name, where it can be known.
    pub fn find(&self, parts: &[Ident]) -> Option<ScopeColumn> {
        let Outcome::Found(column, fields) = self.resolve(parts) else { return None };
        let mut column = column;
        for part in &parts[parts.len() - fields..] {
            let Some(LogicalType::Row(inner)) = column.sql_type.map(|sql_type| sql_type.logical) else { return None };
            let field = inner.into_iter().find(|(name, _)| *name == part.value);
            column = ScopeColumn { sql_type: Some(field?.1), ..ScopeColumn::named(part.value.clone()) };
        }
        Some(column)
    }

    fn resolve_here(&self, parts: &[Ident]) -> Outcome {
        let Some((first, rest)) = parts.split_first() else { return Outcome::Open };
        if rest.is_empty() {
            return self.unqualified(&first.value, 0);
        }
        // `t.c`, `db.t.c`, `catalog.db.t.c`; what follows the column are fields of it.
        for (index, part) in parts.iter().enumerate().take(3) {
            let Some(column) = parts.get(index + 1) else { break };
            let Some(relation) = self.relations.iter().find(|relation| relation.name == part.value) else { continue };
            let fields = parts.len() - index - 2;
            let known = relation.shape.columns.iter().find(|known| known.name == column.value);
            return match (known, relation.missing) {
                (Some(known), _) => Outcome::Found(known.clone(), fields),
                (None, Some(missing)) => Outcome::Missing(missing, column.value.clone()),
                (None, None) if relation.shape.open => Outcome::Open,
                (None, None) => Outcome::NoColumn,
            };
        }
        match self.unqualified(&first.value, rest.len()) {
            Outcome::NoColumn | Outcome::Missing(..) => Outcome::NoRelation,
            other => other,
        }
    }

    fn unqualified(&self, name: &str, fields: usize) -> Outcome {
        let mut found: Vec<(&Relation, &ScopeColumn)> = Vec::new();
        for relation in &self.relations {
            found.extend(relation.shape.columns.iter().find(|column| column.name == name).map(|c| (relation, c)));
        }
        match found.as_slice() {
            [] => {
                let missing: Vec<usize> = self.relations.iter().filter_map(|relation| relation.missing).collect();
                let unknown = self.relations.iter().filter(|relation| relation.shape.open).count();
                match missing.as_slice() {
                    [one] if unknown == 1 => Outcome::Missing(*one, name.to_string()),
                    _ if unknown > 0 => Outcome::Open,
                    _ => Outcome::NoColumn,
                }
            }
            [(_, column)] => Outcome::Found((*column).clone(), fields),
            [(_, column), ..] if self.merged.contains(name) => Outcome::Found((*column).clone(), fields),
            many => Outcome::Ambiguous(
                many.iter()
                    .map(|(relation, _)| match relation.name.as_str() {
                        "" => name.to_string(),
                        table => format!("{table}.{name}"),
                    })
                    .collect(),
            ),
        }
    }
}
