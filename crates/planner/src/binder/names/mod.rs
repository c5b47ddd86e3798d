//! The names of a query that could not be bound, looked up one by one: what is wrong is told all at once.
//!
//! Binding stops at the first unknown name. This walk goes on: it knows the columns of every relation in scope, as far as
//! they can be known, and is silent where they cannot. It also knows which columns of a missing table a query uses, and
//! which time attributes a temporal join lacks.

mod checks;
mod expressions;
mod missing;
mod scope;
mod temporal;

use super::Binder;
use super::errors::{hidden_alias, shown_name, unknown_column};
use super::foreign::unknown_function;
use super::positions::locate;
use super::rewrite::{call_arguments, function_name, is_callable};
use super::{codes as own, rewrite};
use crate::catalog::CatalogObject;
use crate::codes;
use crate::nodes::WINDOW_COLUMNS;
use crate::user_functions;
use base::nearest::nearest;
use base::{Error, Location, LogicalType};
pub use checks::{misplaced_aggregate, nested_aggregate, window_call};
use missing::Missing;
use scope::{Ctes, Outcome, Relation, Scope, ScopeColumn, Shape};
use std::collections::{BTreeMap, BTreeSet};
use syntax::Span;
use syntax::ast::{
    Expr, Function, GroupByExpr, Ident, JoinConstraint, JoinOperator, ObjectName, OrderByKind, Query, Select,
    SelectItem, SelectItemQualifiedWildcardKind, SetExpr, SetOperator, Spanned, TableAlias, TableFactor, TableVersion,
    TableWithJoins, Value,
};
pub use temporal::{is_lookup, is_named_proctime};

/// What a walk over a query found.
#[derive(Debug, Default)]
pub struct Findings {
    /// What is wrong, in the order of the script.
    pub errors: Vec<Error>,
    /// Things worth saying.
    pub warnings: Vec<Error>,
    /// The fields behind each `r.*` of a row column, by the place of `r`.
    pub stars: BTreeMap<(u64, u64), Vec<String>>,
    /// The columns behind each `*` and `t.*`, with the names of their relations, by the place of the star.
    pub columns: BTreeMap<(u64, u64), Vec<Vec<String>>>,
}

/// Walks over a query.
pub fn walk(binder: &Binder<'_>, query: &Query) -> Findings {
    let mut walk = Walk {
        binder,
        findings: Findings::default(),
        missing: Vec::new(),
        reported: BTreeSet::new(),
        joined: Vec::new(),
    };
    walk.query(query, &[], None);
    walk.finish()
}

/// The error for an INSERT into a table that does not exist: its definition by the query, and what is wrong with the query.
pub fn undefined_target(binder: &Binder<'_>, name: &ObjectName, columns: &[Ident], query: &Query) -> Error {
    let parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(|part| part.value.clone()).collect();
    let path = match binder.catalogs.path(&parts) {
        Ok(path) => path,
        Err(error) => return error,
    };
    let mut missing = Missing::new(path, parts, name.span());
    let row = binder.query(query).and_then(|plan| Binder::row_type(&plan));
    for (index, field) in row.iter().flat_map(|row| row.fields()).enumerate() {
        let column = columns.get(index).map_or(&field.name, |column| &column.value);
        missing.set_type(column, field.sql_type.to_string());
    }
    locate(missing.error(binder.catalogs), binder.positions, missing.span).and(row.err())
}

/// The place of a name, as a key.
pub fn place_of(span: Span) -> (u64, u64) {
    (span.start.line, span.start.column)
}

/// Where an expression stands, as far as its names are concerned.
enum Clause<'c> {
    /// Only the columns of FROM are seen.
    Plain,
    /// As before; a name that is an alias of SELECT is a common mistake here.
    Grouping(&'static str, &'c BTreeMap<String, String>),
    /// The columns of the result are seen first.
    Order(&'c Shape),
}

struct Walk<'b> {
    binder: &'b Binder<'b>,
    findings: Findings,
    missing: Vec<Missing>,
    /// Names that were reported already.
    reported: BTreeSet<String>,
    /// Pairs of a column of a missing table and the type of what it is compared with.
    joined: Vec<(usize, String, LogicalType)>,
}

impl Walk<'_> {
    fn finish(mut self) -> Findings {
        for (table, column, logical) in std::mem::take(&mut self.joined) {
            self.missing[table].set_type(&column, logical.to_string());
        }
        for missing in &self.missing {
            let error = missing.error(self.binder.catalogs);
            self.findings.errors.push(locate(error, self.binder.positions, missing.span));
        }
        let place = |error: &Error| match error.location() {
            Some(Location::Sql { line, column, .. }) => (*line, *column),
            _ => (u64::MAX, 0),
        };
        self.findings.errors.sort_by_key(place);
        self.findings
    }

    fn error(&mut self, error: Error, span: Span) {
        self.findings.errors.push(locate(error, self.binder.positions, span));
    }

    /// Reports an error once per `name`.
    fn error_once(&mut self, name: String, error: Error, span: Span) {
        if self.reported.insert(name) {
            self.error(error, span);
        }
    }

    fn query(&mut self, query: &Query, ctes: Ctes<'_>, outer: Option<&Scope<'_>>) -> Shape {
        let mut ctes = ctes.to_vec();
        let with = query.with.as_ref().map_or(&[][..], |with| &with.cte_tables);
        for (index, cte) in with.iter().enumerate() {
            self.distinct_name(cte, &with[..index]);
            let mut shape = self.query(&cte.query, &ctes, outer);
            self.alias_width(&shape, &cte.alias);
            rename(&mut shape, &cte.alias);
            ctes.push((cte.alias.name.value.clone(), shape));
        }
        let mut order = Vec::new();
        if let Some(OrderByKind::Expressions(keys)) = query.order_by.as_ref().map(|order| &order.kind) {
            order.extend(keys.iter().map(|key| &key.expr));
        }
        self.body(&query.body, &order, &ctes, outer)
    }

    fn body(&mut self, body: &SetExpr, order: &[&Expr], ctes: Ctes<'_>, outer: Option<&Scope<'_>>) -> Shape {
        match body {
            SetExpr::Select(select) => self.select(select, order, ctes, outer),
            SetExpr::Query(query) => self.query(query, ctes, outer),
            SetExpr::SetOperation { op, left, right, .. } => {
                let left_shape = self.body(left, &[], ctes, outer);
                let right_shape = self.body(right, &[], ctes, outer);
                self.widths(*op, &left_shape, &right_shape, right.span());
                let mut scope = Scope::new(outer);
                scope.relations.push(Relation { shape: left_shape.clone(), ..Relation::open("") });
                for key in order {
                    self.expression(key, &scope, ctes, &Clause::Plain);
                }
                left_shape
            }
            SetExpr::Values(values) => {
                let scope = Scope::new(outer);
                for cell in values.rows.iter().flatten() {
                    self.expression(cell, &scope, ctes, &Clause::Plain);
                }
                let width = values.rows.first().map_or(0, Vec::len);
                Shape { columns: (0..width).map(|i| ScopeColumn::named(format!("EXPR${i}"))).collect(), open: false }
            }
            _ => Shape::open(),
        }
    }

    fn widths(&mut self, op: SetOperator, left: &Shape, right: &Shape, span: Span) {
        let (given, wanted) = (right.columns.len(), left.columns.len());
        if !left.open && !right.open && given != wanted {
            let op = op.to_string();
            self.error(Error::new(&own::SET_WIDTH, &[("op", &op), ("left", &wanted), ("right", &given)]), span);
        }
    }

    fn select(&mut self, select: &Select, order: &[&Expr], ctes: Ctes<'_>, outer: Option<&Scope<'_>>) -> Shape {
        let mut scope = Scope::new(outer);
        for from in &select.from {
            self.from(from, &mut scope, ctes);
        }
        let mut shape = Shape::default();
        for (index, item) in select.projection.iter().enumerate() {
            self.item(index, item, &scope, ctes, &mut shape);
        }
        let aliases: BTreeMap<String, String> = select
            .projection
            .iter()
            .filter_map(|item| match item {
                SelectItem::ExprWithAlias { expr, alias } => Some((alias.value.clone(), expr.to_string())),
                _ => None,
            })
            .collect();
        if let Some(condition) = &select.selection {
            self.expression(condition, &scope, ctes, &Clause::Plain);
        }
        if let GroupByExpr::Expressions(keys, _) = &select.group_by {
            for key in keys {
                self.ordinal(key, select);
                self.expression(key, &scope, ctes, &Clause::Grouping("GROUP BY", &aliases));
            }
        }
        if let Some(having) = &select.having {
            self.expression(having, &scope, ctes, &Clause::Grouping("HAVING", &aliases));
        }
        for key in order {
            self.expression(key, &scope, ctes, &Clause::Order(&shape));
        }
        shape
    }

    /// `GROUP BY 1` groups by a constant, as in Flink; people mean the first column.
    fn ordinal(&mut self, key: &Expr, select: &Select) {
        let Expr::Value(value) = key else { return };
        let Value::Number(number, _) = &value.value else { return };
        let Some(place) = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else { return };
        let (Some(SelectItem::UnnamedExpr(expr)) | Some(SelectItem::ExprWithAlias { expr, .. })) =
            select.projection.get(place)
        else {
            return;
        };
        let error = Error::new(&own::GROUP_BY_ORDINAL, &[("number", number), ("expression", expr)]);
        self.error(error, value.span);
    }

    fn item(&mut self, index: usize, item: &SelectItem, scope: &Scope<'_>, ctes: Ctes<'_>, shape: &mut Shape) {
        let expression = match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr,
            SelectItem::Wildcard(star) => {
                self.star_columns(star.wildcard_token.0.span, &scope.relations, scope);
                for relation in &scope.relations {
                    shape.append(&relation.shape);
                }
                return;
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                return self.star(name, scope, shape);
            }
            SelectItem::QualifiedWildcard(..) => {
                shape.open = true;
                return;
            }
        };
        self.expression(expression, scope, ctes, &Clause::Plain);
        let column = expressions::parts(expression).and_then(|parts| scope.find(parts));
        let mut column = column.unwrap_or_else(|| ScopeColumn::named(format!("EXPR${index}")));
        match (item, expressions::parts(expression)) {
            (SelectItem::ExprWithAlias { alias, .. }, _) => column.name = alias.value.clone(),
            (_, Some([.., last])) => column.name = last.value.clone(),
            _ => {}
        }
        shape.columns.push(column);
    }

    /// Remembers what a star stands for, if it can be known.
    fn star_columns(&mut self, span: Span, relations: &[Relation], scope: &Scope<'_>) {
        if relations.iter().any(|relation| relation.shape.open) {
            return;
        }
        // The columns of USING come first, once: those of the first side that has them.
        let mut merged: Vec<Vec<String>> = Vec::new();
        let mut columns: Vec<Vec<String>> = Vec::new();
        for relation in relations {
            let name = Some(relation.name.clone()).filter(|name| !name.is_empty());
            for column in relation.shape.names() {
                let path: Vec<String> = name.iter().cloned().chain([column.to_string()]).collect();
                let is_merged = scope.merged.contains(column) && relations.len() > 1;
                match is_merged {
                    false => columns.push(path),
                    true if merged.iter().all(|known| known.last() != path.last()) => merged.push(path),
                    true => {}
                }
            }
        }
        merged.append(&mut columns);
        let columns = merged;
        self.findings.columns.insert(place_of(span), columns);
    }

    /// `t.*` of a table, or `r.*` of a row.
    fn star(&mut self, name: &ObjectName, scope: &Scope<'_>, shape: &mut Shape) {
        let parts: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
        if let Some(relation) = parts.last().and_then(|last| scope.relation(&last.value)) {
            self.star_columns(name.span(), std::slice::from_ref(relation), scope);
            shape.append(&relation.shape);
            return;
        }
        let logical = scope.find(&parts).and_then(|column| column.sql_type).map(|sql_type| sql_type.logical);
        if let Some(LogicalType::Row(fields)) = logical {
            let names = fields.iter().map(|(name, _)| name.clone()).collect();
            self.findings.stars.insert(place_of(name.span()), names);
            shape.columns.extend(
                fields
                    .into_iter()
                    .map(|(name, sql_type)| ScopeColumn { sql_type: Some(sql_type), ..ScopeColumn::named(name) }),
            );
            return;
        }
        shape.open = true;
        if let Some(logical) = logical {
            return self.star_of_column(&parts, &logical, scope);
        }
        match scope.resolve(&parts) {
            Outcome::NoColumn | Outcome::NoRelation => self.unknown_relation(&parts, scope),
            _ => {}
        }
    }

    fn from(&mut self, from: &TableWithJoins, scope: &mut Scope<'_>, ctes: Ctes<'_>) {
        self.factor(&from.relation, scope, ctes);
        for join in &from.joins {
            let before = scope.relations.len();
            self.factor(&join.relation, scope, ctes);
            let constraint = match &join.join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint) => constraint,
                _ => continue,
            };
            match constraint {
                JoinConstraint::On(condition) => {
                    self.expression(condition, scope, ctes, &Clause::Plain);
                    if matches!(&join.relation, TableFactor::Table { version: Some(_), .. }) {
                        self.keys(before, condition, scope);
                    }
                }
                JoinConstraint::Using(names) => {
                    for name in names {
                        self.using(name, before, scope);
                    }
                }
                JoinConstraint::Natural => {
                    let (left, right) = scope.relations.split_at(before);
                    let names = |side: &[Relation]| -> BTreeSet<String> {
                        side.iter().flat_map(|relation| relation.shape.names().map(str::to_string)).collect()
                    };
                    let common: Vec<String> = names(left).intersection(&names(right)).cloned().collect();
                    scope.merged.extend(common);
                }
                _ => {}
            }
        }
    }

    fn using(&mut self, name: &ObjectName, before: usize, scope: &mut Scope<'_>) {
        let Some(ident) = name.0.last().and_then(|part| part.as_ident()) else { return };
        let (left, right) = scope.relations.split_at(before);
        for side in [left, right] {
            let open = side.iter().any(|relation| relation.shape.open);
            let columns: Vec<&str> = side.iter().flat_map(|relation| relation.shape.names()).collect();
            if !open && !columns.contains(&ident.value.as_str()) {
                let error = unknown_column(None, &ident.value, &columns, &[]);
                self.findings.errors.push(locate(error, self.binder.positions, ident.span));
            }
        }
        scope.merged.insert(ident.value.clone());
    }

    fn factor(&mut self, factor: &TableFactor, scope: &mut Scope<'_>, ctes: Ctes<'_>) {
        let mut relation = match factor {
            TableFactor::Table { name, args: None, alias, version, .. } => {
                let mut relation = self.table(name, ctes);
                if let (Some(alias), Some(_)) = (alias, &relation.table) {
                    relation.name = alias.name.value.clone();
                }
                if let Some(TableVersion::ForSystemTimeAsOf(time)) = version {
                    self.as_of(time, &relation, scope);
                }
                relation
            }
            TableFactor::Table { name, args: Some(arguments), .. } => {
                let function = rewrite::table_function(name.clone(), arguments.args.clone());
                self.window(&function, ctes)
            }
            TableFactor::TableFunction { expr: Expr::Function(function), .. } => self.window(function, ctes),
            TableFactor::Derived { lateral, subquery, .. } => {
                let shape = self.query(subquery, ctes, lateral.then_some(&*scope));
                Relation { shape, ..Relation::open("") }
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                return self.from(table_with_joins, scope, ctes);
            }
            _ => Relation::open(""),
        };
        if let Some(alias) = factor_alias(factor) {
            relation.name = alias.name.value.clone();
            self.alias_width(&relation.shape, alias);
            if relation.shape.open && !alias.columns.is_empty() && relation.missing.is_none() {
                let columns = alias.columns.iter().map(|column| ScopeColumn::named(column.name.value.clone()));
                relation.shape = Shape { columns: columns.collect(), open: false };
            } else {
                rename(&mut relation.shape, alias);
            }
        }
        scope.relations.push(relation);
    }

    fn table(&mut self, name: &ObjectName, ctes: Ctes<'_>) -> Relation {
        let parts: Vec<String> =
            name.0.iter().filter_map(|part| part.as_ident()).map(|part| part.value.clone()).collect();
        let last = parts.last().cloned().unwrap_or_default();
        if let ([single], Some((_, shape))) = (parts.as_slice(), ctes.iter().rev().find(|(cte, _)| *cte == last)) {
            return Relation { shape: shape.clone(), ..Relation::open(single) };
        }
        let Ok(path) = self.binder.catalogs.path(&parts) else { return Relation::open(&last) };
        match self.binder.catalogs.get(&path) {
            Some(CatalogObject::Table(table)) => Relation {
                shape: Shape {
                    columns: table.row.fields().iter().map(|field| ScopeColumn::of(field, table)).collect(),
                    open: false,
                },
                table: Some(table.clone()),
                ..Relation::open(&last)
            },
            Some(CatalogObject::View(view)) => {
                let row = self.binder.bind_view(view).and_then(|plan| Binder::row_type(&plan));
                let Ok(row) = row else { return Relation::open(&last) };
                let columns = row
                    .fields()
                    .iter()
                    .map(|field| ScopeColumn {
                        sql_type: Some(field.sql_type.clone()),
                        time: field.time,
                        ..ScopeColumn::named(field.name.clone())
                    })
                    .collect();
                Relation { shape: Shape { columns, open: false }, ..Relation::open(&last) }
            }
            _ => {
                let known = self.missing.iter().position(|missing| missing.path == path);
                let index = known.unwrap_or_else(|| {
                    self.missing.push(Missing::new(path, parts, name.span()));
                    self.missing.len() - 1
                });
                Relation { missing: Some(index), ..Relation::open(&last) }
            }
        }
    }

    /// A window table function: the columns of its table and three more.
    fn window(&mut self, function: &Function, ctes: Ctes<'_>) -> Relation {
        let arguments = call_arguments(function);
        let mut relation = Relation::open("");
        let mut scope = Scope::new(None);
        for (_, argument) in &arguments {
            match argument {
                Expr::Subquery(query) => relation.shape = self.query(query, ctes, None),
                argument => match expressions::table_argument(argument) {
                    Some(expressions::Input::Table(name)) => relation = self.table(&name, ctes),
                    Some(expressions::Input::Query(query)) => relation.shape = self.query(&query, ctes, None),
                    None => {}
                },
            }
        }
        scope.relations.push(relation.clone());
        for (_, argument) in &arguments {
            let Expr::Function(call) = argument else { continue };
            if function_name(call).as_deref() != Some("DESCRIPTOR") {
                continue;
            }
            for (_, column) in call_arguments(call) {
                self.expression(&column, &scope, ctes, &Clause::Plain);
                if let (Some(missing), Some([.., last])) = (relation.missing, expressions::parts(&column)) {
                    self.missing[missing].set_rowtime(&last.value);
                }
            }
        }
        let time = relation.shape.columns.iter().find_map(|column| column.time);
        relation.shape.columns.extend(WINDOW_COLUMNS.map(|name| ScopeColumn {
            sql_type: Some(LogicalType::Timestamp(3).not_null()),
            time: time.filter(|_| name == WINDOW_COLUMNS[2]),
            ..ScopeColumn::named(name.to_string())
        }));
        relation.name.clear();
        relation
    }

    fn expression(&mut self, expr: &Expr, scope: &Scope<'_>, ctes: Ctes<'_>, clause: &Clause<'_>) {
        let found = expressions::collect(expr);
        for parts in &found.columns {
            self.column(parts, scope, clause);
        }
        for function in &found.functions {
            self.function(function, scope, clause);
        }
        for (parts, logical) in &found.uses {
            if let Outcome::Missing(table, column) = scope.resolve(parts) {
                self.missing[table].guess(&column, *logical);
            }
        }
        for (left, right) in &found.equal {
            for (one, other) in [(left, right), (right, left)] {
                if let (Outcome::Missing(table, column), Outcome::Found(known, _)) =
                    (scope.resolve(one), scope.resolve(other))
                    && let Some(sql_type) = known.sql_type
                {
                    self.joined.push((table, column, sql_type.logical));
                }
            }
        }
        for query in &found.queries {
            self.query(query, ctes, Some(scope));
        }
    }

    fn function(&mut self, function: &Function, scope: &Scope<'_>, clause: &Clause<'_>) {
        let parts: Vec<String> =
            function.name.0.iter().filter_map(|part| part.as_ident()).map(|part| part.value.clone()).collect();
        if user_functions::resolve(self.binder.catalogs, &parts).is_some() {
            return;
        }
        let Some(name) = function_name(function).filter(|name| !is_callable(name)) else { return };
        if matches!(function.args, syntax::ast::FunctionArguments::None) {
            // USER and its likes are columns unless there is such a function.
            if let Some(word) = function.name.0.first().and_then(|part| part.as_ident()) {
                self.column(std::slice::from_ref(word), scope, clause);
            }
            return;
        }
        let error = unknown_function(&name);
        if error.code() != base::error::UNSUPPORTED.code {
            self.error_once(format!("{name}()"), error, function.name.span());
        }
    }

    fn column(&mut self, parts: &[Ident], scope: &Scope<'_>, clause: &Clause<'_>) {
        let Some((last, qualifiers)) = parts.split_last() else { return };
        let span = parts.first().map_or_else(Span::empty, |first| first.span);
        if let (Clause::Order(shape), []) = (clause, qualifiers)
            && (shape.open || shape.names().any(|name| name == last.value))
        {
            return;
        }
        match scope.resolve(parts) {
            Outcome::Found(column, fields) => self.fields(column, parts, fields, scope),
            Outcome::Open => {}
            Outcome::Missing(table, column) => self.missing[table].used(&column),
            Outcome::Ambiguous(candidates) => {
                let candidates = candidates.join(", ");
                let error = Error::new(&codes::AMBIGUOUS_COLUMN, &[("name", &last.value), ("candidates", &candidates)]);
                self.error_once(last.value.clone(), error, span);
            }
            Outcome::NoRelation => self.unknown_relation(parts, scope),
            Outcome::NoColumn => {
                if let (Clause::Grouping(name, aliases), []) = (clause, qualifiers)
                    && let Some(expression) = aliases.get(&last.value)
                {
                    let error = hidden_alias(name, &last.value, expression);
                    return self.error_once(format!("{name} {}", last.value), error, span);
                }
                let qualifier = qualifiers.last().map(|part| part.value.as_str());
                let relations: Vec<&Relation> = match qualifier {
                    Some(name) => scope.relation(name).into_iter().collect(),
                    None => scope.relations.iter().collect(),
                };
                let mut names: Vec<&str> = Vec::new();
                for name in relations.iter().flat_map(|relation| relation.shape.names()) {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                let tables: Vec<_> = relations.iter().filter_map(|relation| relation.table.clone()).collect();
                let error = unknown_column(qualifier, &last.value, &names, &tables);
                self.error_once(shown_name(parts), error, span);
            }
        }
    }

    /// A qualifier that is no table of FROM.
    fn unknown_relation(&mut self, parts: &[Ident], scope: &Scope<'_>) {
        let Some(first) = parts.first() else { return };
        let names: Vec<&str> =
            scope.relations.iter().map(|relation| relation.name.as_str()).filter(|name| !name.is_empty()).collect();
        // Everything resembles an alias of one letter.
        let near =
            if first.value.chars().count() > 2 { nearest(&first.value, names.iter().copied()) } else { Vec::new() };
        let shown = shown_name(parts);
        let (known, near) = (names.join(", "), near.join(", "));
        let error = match near.is_empty() {
            true => Error::new(&own::UNKNOWN_QUALIFIER, &[("qualifier", first), ("name", &shown), ("known", &known)]),
            false => {
                Error::new(&own::UNKNOWN_QUALIFIER_NEAR, &[("qualifier", first), ("name", &shown), ("nearest", &near)])
            }
        };
        self.error_once(format!("{}.*", first.value), error, first.span);
    }
}

fn factor_alias(factor: &TableFactor) -> Option<&TableAlias> {
    match factor {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::TableFunction { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::MatchRecognize { alias, .. } => alias.as_ref(),
        _ => None,
    }
}

/// Applies the column names of an alias.
fn rename(shape: &mut Shape, alias: &TableAlias) {
    for (column, name) in shape.columns.iter_mut().zip(&alias.columns) {
        column.name = name.name.value.clone();
    }
}
