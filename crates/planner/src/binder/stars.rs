//! `r.*` where `r` is a column of a row type: its fields, as Flink gives them; and the columns behind `*` and `t.*`, which
//! a view keeps.

use super::Binder;
use super::names::{self, Findings, place_of};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use syntax::ast::{
    Expr, Ident, ObjectName, Query, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, Spanned, TableFactor, Visit,
    VisitMut, Visitor, VisitorMut,
};

/// Puts the fields of rows in the place of `r.*`, and columns in the place of stars over joins.
pub fn expand(binder: &Binder<'_>, query: &mut Query) {
    let mut search = Search::default();
    let _ = Visit::visit(&*query, &mut search);
    // The columns of several relations can have the same name: as columns of their own they get Flink's names.
    if !search.joined && search.stars.is_subset(&search.relations) {
        return;
    }
    let mut found = names::walk(binder, query);
    if !search.joined {
        found.columns.clear();
    }
    if !found.stars.is_empty() || !found.columns.is_empty() {
        let _ = VisitMut::visit(query, &mut Expansion { found });
    }
}

/// The query with columns in the place of every star that can be told.
pub fn columns(binder: &Binder<'_>, query: &Query) -> Query {
    let mut query = query.clone();
    let found = names::walk(binder, &query);
    let _ = VisitMut::visit(&mut query, &mut Expansion { found });
    query
}

/// The qualifiers of stars, and the names of relations.
#[derive(Default)]
struct Search {
    stars: BTreeSet<String>,
    relations: BTreeSet<String>,
    /// Whether there is a star over several relations.
    joined: bool,
}

impl Visitor for Search {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.body(&query.body);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, .. } = factor {
            self.relations.extend(last_part(name));
        }
        if let TableFactor::Table { alias: Some(alias), .. }
        | TableFactor::Derived { alias: Some(alias), .. }
        | TableFactor::TableFunction { alias: Some(alias), .. }
        | TableFactor::Function { alias: Some(alias), .. }
        | TableFactor::UNNEST { alias: Some(alias), .. }
        | TableFactor::NestedJoin { alias: Some(alias), .. }
        | TableFactor::MatchRecognize { alias: Some(alias), .. } = factor
        {
            self.relations.insert(alias.name.value.clone());
        }
        ControlFlow::Continue(())
    }
}

impl Search {
    fn body(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => {
                self.stars.extend(select.projection.iter().filter_map(star).filter_map(last_part));
                let joins = select.from.len() > 1 || select.from.iter().any(|from| !from.joins.is_empty());
                let is_star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_)) || star(item).is_some();
                self.joined |= joins && select.projection.iter().any(is_star);
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            _ => {}
        }
    }
}

struct Expansion {
    found: Findings,
}

impl VisitorMut for Expansion {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.body(&mut query.body);
        ControlFlow::Continue(())
    }
}

impl Expansion {
    fn body(&self, body: &mut SetExpr) {
        match body {
            SetExpr::Select(select) => {
                let items = std::mem::take(&mut select.projection);
                select.projection = items.into_iter().flat_map(|item| self.item(item)).collect();
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            _ => {}
        }
    }

    fn item(&self, item: SelectItem) -> Vec<SelectItem> {
        let span = match &item {
            SelectItem::Wildcard(star) => Some(star.wildcard_token.0.span),
            other => star(other).map(Spanned::span),
        };
        if let Some(columns) = span.and_then(|span| self.found.columns.get(&place_of(span))) {
            let ident = |name: &String| Ident::with_quote('`', name.clone());
            let column = |path: &Vec<String>| match path.as_slice() {
                [name] => Expr::Identifier(ident(name)),
                parts => Expr::CompoundIdentifier(parts.iter().map(ident).collect()),
            };
            return columns.iter().map(|path| SelectItem::UnnamedExpr(column(path))).collect();
        }
        let Some((row, fields)) = star(&item).and_then(|row| Some((row, self.found.stars.get(&place_of(row.span()))?)))
        else {
            return vec![item];
        };
        let row: Vec<Ident> = row.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
        let field = |name: &String| {
            let mut parts = row.clone();
            parts.push(Ident::with_quote('`', name.clone()));
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts))
        };
        fields.iter().map(field).collect()
    }
}

fn star(item: &SelectItem) -> Option<&ObjectName> {
    match item {
        SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => Some(name),
        _ => None,
    }
}

fn last_part(name: &ObjectName) -> Option<String> {
    name.0.last().and_then(|part| part.as_ident()).map(|part| part.value.clone())
}
