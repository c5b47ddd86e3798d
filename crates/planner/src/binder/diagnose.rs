//! Everything that is wrong with a query that could not be bound, not only what was met first.

use super::positions::locate;
use super::rewrite::FIELD_FUNCTION;
use super::{Binder, codes as own, names};
use crate::codes;
use base::{Error, Language};
use std::collections::BTreeSet;
use syntax::Span;
use syntax::ast::{GroupByExpr, Query, SelectItem, SetExpr, Spanned};

/// The most items of a SELECT list that are looked at one by one.
const ITEMS_MAX: usize = 64;

/// Errors about names, which [`names`] tells better and all together.
const ABOUT_NAMES: [&base::ErrorCode; 11] = [
    &codes::BAD_NAME,
    &codes::UNKNOWN_TABLE,
    &codes::UNKNOWN_TABLE_NEAR,
    &codes::NO_TABLES,
    &codes::UNKNOWN_COLUMN,
    &codes::UNKNOWN_COLUMN_LIST,
    &codes::AMBIGUOUS_COLUMN,
    &codes::UNKNOWN_SPACE,
    &codes::GROUP_BY_ALIAS,
    &codes::UNKNOWN_FUNCTION,
    &codes::UNKNOWN_FUNCTION_PLAIN,
];

/// Errors that follow from others, or say less than others.
const WEAK: [&base::ErrorCode; 4] =
    [&codes::BIND, &codes::NOT_GROUPED, &base::error::UNSUPPORTED, &own::UNKNOWN_COLUMN_EXPRESSION];

/// `first`, with everything else that is wrong with the query.
pub fn explain(binder: &Binder<'_>, query: &Query, first: Error) -> Error {
    let found = names::walk(binder, query);
    binder.warnings.borrow_mut().extend(found.warnings);
    let mut errors = found.errors;
    let is = |list: &[&base::ErrorCode]| list.iter().any(|code| code.code == first.code());
    let told = !errors.is_empty() && (is(&ABOUT_NAMES) || is(&WEAK));
    let types = !is(&ABOUT_NAMES) && !is(&WEAK);
    if types {
        errors.extend(parts(binder, query));
    }
    if !told {
        errors.push(first);
    }
    // Fields are told with those that exist; the function behind the dot says less.
    let fields = [&own::NOT_A_ROW, &own::UNKNOWN_FIELD, &own::UNKNOWN_FIELD_NEAR];
    if errors.iter().any(|error| fields.iter().any(|code| code.code == error.code())) {
        errors.retain(|error| error.argument("function") != Some(FIELD_FUNCTION));
    }
    // The same mistake may be met twice: those that have a place come first.
    let mut seen = BTreeSet::new();
    errors.retain(|error| seen.insert((error.location().map(|at| format!("{at:?}")), text(error))));
    let placed: BTreeSet<_> = errors.iter().filter(|error| error.location().is_some()).map(text).collect();
    errors.retain(|error| error.location().is_some() || !placed.contains(&text(error)));
    Error::all(errors).unwrap_or_else(|| Error::internal("an error without a reason"))
}

/// What is wrong with the times of temporal joins of a query that is bound: what all sides lack in one message. Says what is
/// worth saying of them.
pub fn times(binder: &Binder<'_>, query: &Query) -> Option<Error> {
    let found = names::walk(binder, query);
    binder.warnings.borrow_mut().extend(found.warnings);
    Error::all(found.errors.into_iter().filter(|error| error.code() == own::TEMPORAL_JOIN.code).collect())
}

fn text(error: &Error) -> [String; 3] {
    error.parts(Language::English)
}

/// The errors of the items of a SELECT list and of WHERE, each bound alone.
fn parts(binder: &Binder<'_>, query: &Query) -> Vec<Error> {
    let SetExpr::Select(select) = query.body.as_ref() else { return Vec::new() };
    let mut errors = Vec::new();
    let mut template = query.clone();
    (template.order_by, template.limit_clause, template.fetch) = (None, None, None);
    let mut alone = |item: Option<&SelectItem>| {
        let mut query = template.clone();
        let SetExpr::Select(inner) = query.body.as_mut() else { return };
        match item {
            Some(item) => {
                inner.projection = vec![item.clone()];
                inner.selection = None;
            }
            None => {
                inner.projection.truncate(0);
                inner.projection.extend(star());
                inner.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
            }
        }
        inner.having = None;
        inner.distinct = None;
        if let Err(error) = binder.bind(&query)
            && !WEAK.iter().chain(&ABOUT_NAMES).any(|code| code.code == error.code())
        {
            let span =
                item.map_or_else(|| select.selection.as_ref().map_or_else(Span::empty, Spanned::span), Spanned::span);
            errors.push(locate(error, binder.positions, span));
        }
    };
    select.projection.iter().take(ITEMS_MAX).for_each(|item| alone(Some(item)));
    if select.selection.is_some() {
        alone(None);
    }
    errors
}

/// `*` as an item.
fn star() -> Option<SelectItem> {
    let syntax::Statement::Query(query) = syntax::parse_statement("SELECT * FROM t").ok()? else { return None };
    match *query.body {
        SetExpr::Select(select) => select.projection.into_iter().next(),
        _ => None,
    }
}
