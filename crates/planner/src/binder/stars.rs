//! `r.*` where `r` is a column of a row type: its fields, as Flink gives them.

use super::Binder;
use super::names::{self, place_of};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use syntax::ast::{
    Expr, Ident, ObjectName, Query, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, Spanned, TableFactor, Visit,
    VisitMut, Visitor, VisitorMut,
};

/// Puts the fields of rows in the place of `r.*`.
pub fn expand(binder: &Binder<'_>, query: &mut Query) {
    let mut search = Search::default();
    let _ = Visit::visit(&*query, &mut search);
    if search.stars.is_subset(&search.relations) {
        return;
    }
    let fields = names::walk(binder, query).stars;
    if !fields.is_empty() {
        let _ = VisitMut::visit(query, &mut Expansion { fields });
    }
}

/// The qualifiers of stars, and the names of relations.
#[derive(Default)]
struct Search {
    stars: BTreeSet<String>,
    relations: BTreeSet<String>,
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
    fields: BTreeMap<(u64, u64), Vec<String>>,
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
        let Some((row, fields)) = star(&item).and_then(|row| Some((row, self.fields.get(&place_of(row.span()))?)))
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
