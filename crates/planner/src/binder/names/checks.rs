//! Aggregates where none may stand, fields that a column does not have, and column lists that do not fit.

use super::super::errors::shown_name;
use super::expressions::collect;
use super::scope::{Scope, ScopeColumn, Shape};
use super::{Walk, own};
use crate::binder::grouping::is_grouping_function;
use crate::binder::rewrite::{call_arguments, function_name};
use base::nearest::nearest;
use base::{Error, LogicalType};
use syntax::Span;
use syntax::ast::{Cte, Expr, Function, Ident, Spanned, TableAlias};

impl Walk<'_> {
    /// The fields that a name asks of a column.
    pub(super) fn fields(&mut self, column: ScopeColumn, parts: &[Ident], fields: usize, scope: &Scope<'_>) {
        let (path, wanted) = parts.split_at(parts.len() - fields);
        let (mut shown, mut sql_type) = (shown_name(path), column.sql_type);
        for field in wanted {
            let Some(logical) = sql_type.map(|sql_type| sql_type.logical) else { return };
            let LogicalType::Row(inner) = logical else {
                let known = relation_names(scope);
                let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
                    [("name", &shown), ("field", &field.value), ("type", &logical), ("known", &known)];
                return self.error_once(shown_name(parts), Error::new(&own::NOT_A_ROW, &arguments), parts[0].span);
            };
            let names: Vec<&str> = inner.iter().map(|(name, _)| name.as_str()).collect();
            let Some(place) = names.iter().position(|name| *name == field.value) else {
                let (near, all) = (nearest(&field.value, names.iter().copied()).join(", "), names.join(", "));
                let code = if near.is_empty() { &own::UNKNOWN_FIELD } else { &own::UNKNOWN_FIELD_NEAR };
                let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
                    [("name", &shown), ("field", &field.value), ("nearest", &near), ("fields", &all)];
                return self.error_once(shown_name(parts), Error::new(code, &arguments), parts[0].span);
            };
            sql_type = inner.into_iter().nth(place).map(|(_, sql_type)| sql_type);
            shown = format!("{shown}.{}", field.value);
        }
    }

    /// `c.*` of a column that is no row.
    pub(super) fn star_of_column(&mut self, parts: &[Ident], logical: &LogicalType, scope: &Scope<'_>) {
        let (shown, known) = (shown_name(parts), relation_names(scope));
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("name", &shown), ("type", logical), ("known", &known)];
        let span = parts.first().map_or_else(Span::empty, |first| first.span);
        self.error_once(format!("{shown}.*"), Error::new(&own::STAR_OF_COLUMN, &arguments), span);
    }

    /// A name of WITH that an earlier query of the same WITH has.
    pub(super) fn distinct_name(&mut self, cte: &Cte, earlier: &[Cte]) {
        let name = &cte.alias.name;
        if earlier.iter().any(|earlier| earlier.alias.name.value == name.value) {
            self.error(Error::new(&own::DUPLICATE_WITH, &[("name", &name.value)]), name.span);
        }
    }

    /// An alias must name every column or none.
    pub(super) fn alias_width(&mut self, shape: &Shape, alias: &TableAlias) {
        let (listed, given) = (alias.columns.len(), shape.columns.len());
        if shape.open || listed == 0 || listed == given {
            return;
        }
        let columns = shape.names().collect::<Vec<_>>().join(", ");
        let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
            [("name", &alias.name.value), ("listed", &listed), ("given", &given), ("columns", &columns)];
        self.error(Error::new(&own::ALIAS_WIDTH, &arguments), alias.name.span);
    }
}

/// The name of an aggregate function that is called for a group, not for a window. Functions of the user are put in before.
fn aggregate_name(function: &Function) -> Option<String> {
    let name =
        function_name(function).filter(|name| functions::aggregate(name).is_some() || is_grouping_function(name));
    name.filter(|_| function.over.is_none())
}

/// An aggregate in a clause that looks at single rows, as an error and its place.
pub fn misplaced_aggregate(expr: &Expr, clause: &'static str) -> Option<(Error, Span)> {
    collect(expr).functions.iter().find_map(|function| {
        let name = aggregate_name(function)?;
        let error = Error::new(&own::MISPLACED_AGGREGATE, &[("function", &name), ("clause", &clause)]);
        Some((error, function.name.span()))
    })
}

/// A call with OVER.
pub fn window_call(expr: &Expr) -> Option<Function> {
    collect(expr).functions.into_iter().find(|function| function.over.is_some())
}

/// An aggregate in the arguments of an aggregate, as an error and its place.
pub fn nested_aggregate(function: &Function) -> Option<(Error, Span)> {
    let outer = aggregate_name(function)?;
    let arguments = call_arguments(function);
    let mut inside = arguments.iter().flat_map(|(_, argument)| collect(argument).functions);
    let (inner, inside) = inside.find_map(|inside| Some((aggregate_name(&inside)?, inside)))?;
    let (text, plain) = (inside.to_string(), format!("{outer}(x)"));
    let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
        [("outer", &outer), ("inner", &inner), ("text", &text), ("call", &plain)];
    Some((Error::new(&own::NESTED_AGGREGATE, &arguments), inside.name.span()))
}

/// The tables and aliases of FROM.
fn relation_names(scope: &Scope<'_>) -> String {
    let names = scope.relations.iter().map(|relation| relation.name.as_str()).filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join(", ")
}
