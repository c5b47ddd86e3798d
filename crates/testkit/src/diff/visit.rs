//! Walks through queries.

use super::query::{Aggregate, Body, Expr, From, OverCall, Query, Select, Top};
use std::collections::BTreeSet;

impl Aggregate {
    fn exprs(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.argument.iter_mut().chain(&mut self.filter)
    }
}

impl From {
    /// The conditions of its joins and the elements of its arrays.
    fn exprs<'f>(&'f mut self, found: &mut Vec<&'f mut Expr>) {
        match self {
            From::Relation(_) => {}
            From::Join(join) => {
                join.left.exprs(found);
                join.right.exprs(found);
                found.extend(&mut join.on);
            }
            From::Unnest(input, elements, _) => {
                input.exprs(found);
                found.extend(elements);
            }
            From::Lateral(input, ..) => input.exprs(found),
        }
    }

    fn queries<'f>(&'f mut self, found: &mut Vec<&'f mut Query>) {
        match self {
            From::Relation(query) => found.push(query),
            From::Join(join) => {
                join.left.queries(found);
                join.right.queries(found);
            }
            From::Unnest(input, ..) => input.queries(found),
            From::Lateral(input, query, _) => {
                input.queries(found);
                found.push(query);
            }
        }
    }
}

impl Body {
    /// Its expressions over the columns of FROM.
    pub fn inner_exprs(&mut self) -> Vec<&mut Expr> {
        match self {
            Body::Plain | Body::Top(_) => Vec::new(),
            Body::Group(group) => {
                group.keys.iter_mut().chain(group.aggregates.iter_mut().flat_map(Aggregate::exprs)).collect()
            }
            Body::Over(over) => over
                .calls
                .iter_mut()
                .flat_map(|call| match call {
                    OverCall::Number(_) => Vec::new(),
                    OverCall::Aggregate(aggregate) => aggregate.exprs().collect(),
                })
                .collect(),
        }
    }
}

impl Select {
    /// All of its expressions.
    pub fn exprs(&mut self) -> Vec<&mut Expr> {
        let mut found = Vec::new();
        self.from.exprs(&mut found);
        found.extend(&mut self.filter);
        found.extend(match &mut self.body {
            Body::Group(group) => {
                let inner = group.keys.iter_mut().chain(group.aggregates.iter_mut().flat_map(Aggregate::exprs));
                inner.chain(&mut group.having).collect()
            }
            other => other.inner_exprs(),
        });
        found.extend(&mut self.items);
        found
    }
}

/// The queries directly inside an expression.
fn subqueries<'e>(expr: &'e mut Expr, found: &mut Vec<&'e mut Query>) {
    let (exprs, query) = expr.parts();
    exprs.into_iter().for_each(|expr| subqueries(expr, found));
    found.extend(query);
}

/// Visits a query and all queries inside it, the outer one first.
pub fn visit_queries(query: &mut Query, visit: &mut dyn FnMut(&mut Query)) {
    visit(query);
    match query {
        Query::Table(_) | Query::View(_) | Query::Values(..) => {}
        Query::Set(set) => {
            visit_queries(&mut set.left, visit);
            visit_queries(&mut set.right, visit);
        }
        Query::Select(select) => {
            let mut inside = Vec::new();
            select.from.queries(&mut inside);
            inside.into_iter().for_each(|query| visit_queries(query, visit));
            let mut inside = Vec::new();
            select.exprs().into_iter().for_each(|expr| subqueries(expr, &mut inside));
            inside.into_iter().for_each(|query| visit_queries(query, visit));
        }
    }
}

/// The views that a query reads itself.
pub fn views_read(query: &Query) -> BTreeSet<usize> {
    let mut read = BTreeSet::new();
    visit_queries(&mut query.clone(), &mut |query| {
        if let Query::View(view) = query {
            read.insert(*view);
        }
    });
    read
}

/// The tables that a query reads itself.
pub fn tables_read(query: &Query) -> BTreeSet<usize> {
    let mut read = BTreeSet::new();
    visit_queries(&mut query.clone(), &mut |query| {
        if let Query::Table(table) = query {
            read.insert(*table);
        }
    });
    read
}

/// Whether a query keeps the first or last row that has come.
pub fn minds_arrival(query: &Query) -> bool {
    let mut found = false;
    visit_queries(&mut query.clone(), &mut |query| {
        if let Query::Select(select) = query {
            found |= matches!(&select.body, Body::Top(Top { arrival: Some(_), .. }));
        }
    });
    found
}
