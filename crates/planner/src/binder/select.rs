//! Rewriting of queries: column names, VALUES, group windows, and the aliases that Flink does not let GROUP BY see.

use super::grouping;
use super::hints;
use super::markers::group_window_markers;
use super::names::misplaced_aggregate;
use super::order;
use super::over;
use super::positions::locate;
use super::rewrite::{GROUP_WINDOWS, ROW_MARKER, Rewriter, VALUES_MARKER, call, function_name};
use crate::codes;
use base::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use syntax::Span;
use syntax::ast::{
    Distinct, Expr, GroupByExpr, Ident, JoinConstraint, JoinOperator, Query, Select, SelectItem, SetExpr, SetOperator,
    SetQuantifier, Spanned, TableAlias, TableFactor, TableWithJoins, Value, Values, visit_expressions,
};

/// Ends the hidden name of an alias that GROUP BY or HAVING must not see.
const HIDDEN: char = '\u{1}';

/// Rewrites a query, not its expressions and subqueries, which the visitor reaches by itself.
pub fn query(rewriter: &mut Rewriter<'_>, query: &mut Query) -> Result<()> {
    if query.with.as_ref().is_some_and(|with| with.recursive) {
        return Err(Error::unsupported("WITH RECURSIVE"));
    }
    if !query.pipe_operators.is_empty() || !query.locks.is_empty() || query.for_clause.is_some() {
        return Err(Error::unsupported("clauses after a query other than ORDER BY, LIMIT, OFFSET and FETCH"));
    }
    for table in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
        name_inside(&mut table.alias, &mut table.query)?;
    }
    body(rewriter, &mut query.body)?;
    order::normalize(rewriter, query)
}

/// `WITH t(a, b) AS (query)` as `WITH t AS (SELECT * FROM (query) AS t(a, b))`: DataFusion would read the names as expressions.
fn name_inside(alias: &mut TableAlias, query: &mut Box<Query>) -> Result<()> {
    if alias.columns.is_empty() {
        return Ok(());
    }
    let template = syntax::parse_statement("SELECT 1").map_err(Error::internal)?;
    let syntax::Statement::Query(mut outer) = template else { return Err(Error::internal("the template is no query")) };
    std::mem::swap(query, &mut outer);
    let named = Some(alias.clone());
    alias.columns.clear();
    *query.body = select_all(TableFactor::Derived { lateral: false, subquery: outer, alias: named, sample: None })?;
    Ok(())
}

fn body(rewriter: &mut Rewriter<'_>, set_expr: &mut SetExpr) -> Result<()> {
    match set_expr {
        SetExpr::Select(select) => {
            if let Some(wrapped) = self::select(rewriter, select)? {
                *set_expr = wrapped;
            }
            Ok(())
        }
        SetExpr::SetOperation { op, set_quantifier, left, right } => {
            if *op == SetOperator::Minus {
                return Err(Error::unsupported("MINUS, which is EXCEPT in Flink"));
            }
            if matches!(
                set_quantifier,
                SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName
            ) {
                return Err(Error::unsupported("UNION BY NAME"));
            }
            body(rewriter, left)?;
            body(rewriter, right)
        }
        SetExpr::Values(values) => {
            let relation = values_relation(rewriter, values)?;
            *set_expr = select_all(relation)?;
            Ok(())
        }
        SetExpr::Table(table) => {
            let parts = [table.schema_name.clone(), table.table_name.clone()];
            let name = parts.into_iter().flatten().map(Ident::new).collect::<Vec<_>>();
            let mut template =
                select_all(TableFactor::TableFunction { expr: call(VALUES_MARKER, Vec::new()), alias: None })?;
            if let SetExpr::Select(select) = &mut template
                && let Some(from) = select.from.first_mut()
            {
                from.relation = plain_table(name.into());
            }
            *set_expr = template;
            Ok(())
        }
        SetExpr::Query(_) => Ok(()),
        _ => Err(Error::unsupported("a statement inside a query")),
    }
}

/// A table by its name, without any clause.
pub(super) fn plain_table(name: syntax::ast::ObjectName) -> TableFactor {
    TableFactor::Table {
        name,
        alias: None,
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    }
}

/// `SELECT * FROM relation`.
fn select_all(relation: TableFactor) -> Result<SetExpr> {
    let template = syntax::parse_statement("SELECT * FROM t").map_err(Error::internal)?;
    let syntax::Statement::Query(query) = template else { return Err(Error::internal("the template is no query")) };
    let mut body = *query.body;
    if let SetExpr::Select(select) = &mut body {
        select.from = vec![TableWithJoins { relation, joins: Vec::new() }];
    }
    Ok(body)
}

fn values_relation(rewriter: &Rewriter<'_>, values: &mut Values) -> Result<TableFactor> {
    let width = values.rows.first().map_or(0, Vec::len);
    for row in &values.rows {
        for cell in row {
            refuse_null(rewriter, cell)?;
        }
        if row.len() != width {
            let reason = format!("the rows of VALUES have {width} and {} columns", row.len());
            return Err(Error::new(&codes::BIND, &[("reason", &reason)]));
        }
    }
    let rows = std::mem::take(&mut values.rows).into_iter().map(|row| call(ROW_MARKER, row)).collect();
    Ok(TableFactor::TableFunction { expr: call(VALUES_MARKER, rows), alias: None })
}

/// A bare NULL has no type; Flink refuses it too.
pub fn refuse_null(rewriter: &Rewriter<'_>, expr: &Expr) -> Result<()> {
    match expr {
        Expr::Nested(inner) => refuse_null(rewriter, inner),
        Expr::Value(value) if value.value == Value::Null => {
            let error = Error::new(&codes::BARE_NULL, &[("type", &"STRING")]);
            Err(locate(error, rewriter.positions, value.span))
        }
        _ => Ok(()),
    }
}

/// Rewrites one SELECT; gives what stands in its place if its aliases had to be hidden.
fn select(rewriter: &mut Rewriter<'_>, select: &mut Select) -> Result<Option<SetExpr>> {
    refuse(select)?;
    over::inline_windows(rewriter, select)?;
    refuse_aggregates(rewriter, select)?;
    hints::of_select(rewriter, select)?;
    name_columns(rewriter, select)?;
    let hidden = hide_aliases(rewriter, select);
    expand_group_windows(select);
    if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
        grouping::normalize(keys)?;
    }
    if !hidden {
        return Ok(None);
    }
    let names: Vec<Ident> = select.projection.iter().filter_map(item_alias).collect();
    let inner = SetExpr::Select(Box::new(select.clone()));
    let template = syntax::parse_statement("SELECT 1").map_err(Error::internal)?;
    let syntax::Statement::Query(mut query) = template else { return Err(Error::internal("the template is no query")) };
    query.body = Box::new(inner);
    let derived = TableFactor::Derived { lateral: false, subquery: query, alias: None, sample: None };
    let mut outer = select_all(derived)?;
    if let SetExpr::Select(outer) = &mut outer {
        outer.projection = names
            .into_iter()
            .map(|name| {
                let shown = name.value.trim_end_matches(HIDDEN).to_string();
                SelectItem::ExprWithAlias { expr: Expr::Identifier(name), alias: Ident::with_quote('`', shown) }
            })
            .collect();
    }
    Ok(Some(outer))
}

/// Refuses aggregates where rows are looked at one by one.
fn refuse_aggregates(rewriter: &Rewriter<'_>, select: &Select) -> Result<()> {
    let joins = select.from.iter().flat_map(|from| &from.joins).filter_map(|join| match &join.join_operator {
        JoinOperator::Join(JoinConstraint::On(condition))
        | JoinOperator::Inner(JoinConstraint::On(condition))
        | JoinOperator::Left(JoinConstraint::On(condition))
        | JoinOperator::LeftOuter(JoinConstraint::On(condition))
        | JoinOperator::Right(JoinConstraint::On(condition))
        | JoinOperator::RightOuter(JoinConstraint::On(condition))
        | JoinOperator::FullOuter(JoinConstraint::On(condition)) => Some((condition, "ON")),
        _ => None,
    });
    let keys = match &select.group_by {
        GroupByExpr::Expressions(keys, _) => keys.as_slice(),
        GroupByExpr::All(_) => &[],
    };
    let clauses = joins.chain(select.selection.iter().map(|condition| (condition, "WHERE")));
    let mut clauses = clauses.chain(keys.iter().map(|key| (key, "GROUP BY")));
    for (expr, clause) in clauses.clone().chain(select.having.iter().map(|condition| (condition, "HAVING"))) {
        over::refuse_windows(rewriter, expr, clause)?;
    }
    match clauses.find_map(|(expr, clause)| misplaced_aggregate(expr, clause)) {
        Some((error, span)) => Err(locate(error, rewriter.positions, span)),
        None => Ok(()),
    }
}

/// Whether a join keeps rows of a right side that only exists for rows of the left one.
fn keeps_lateral(from: &TableWithJoins) -> bool {
    from.joins.iter().any(|join| {
        let is_lateral =
            matches!(&join.relation, TableFactor::UNNEST { .. } | TableFactor::Derived { lateral: true, .. });
        let keeps_right = matches!(
            join.join_operator,
            JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_)
        );
        is_lateral && keeps_right
    })
}

fn refuse(select: &Select) -> Result<()> {
    let feature = match select {
        Select { distinct: Some(Distinct::On(_)), .. } => "DISTINCT ON",
        Select { from, .. } if from.iter().any(keeps_lateral) => "RIGHT and FULL JOIN with UNNEST or LATERAL",
        Select { top: Some(_), .. } => "TOP",
        Select { into: Some(_), .. } => "SELECT INTO",
        Select { prewhere: Some(_), .. } => "PREWHERE",
        Select { exclude: Some(_), .. } => "EXCLUDE",
        Select { group_by: GroupByExpr::All(_), .. } => "GROUP BY ALL",
        Select { group_by: GroupByExpr::Expressions(_, modifiers), .. } if !modifiers.is_empty() => {
            "WITH ROLLUP, WITH CUBE and WITH TOTALS: write GROUP BY ROLLUP (...)"
        }
        _ if !select.lateral_views.is_empty() => "LATERAL VIEW",
        _ if !select.connect_by.is_empty() => "CONNECT BY",
        _ if !select.cluster_by.is_empty() || !select.distribute_by.is_empty() || !select.sort_by.is_empty() => {
            "CLUSTER BY, DISTRIBUTE BY and SORT BY"
        }
        _ => return Ok(()),
    };
    Err(Error::unsupported(feature))
}

fn item_alias(item: &SelectItem) -> Option<Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.clone()),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name.clone()),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().cloned(),
        _ => None,
    }
}

/// Names as Flink gives them: the alias, the column's own name, `EXPR$i`; a repeated name gets a number.
fn name_columns(rewriter: &Rewriter<'_>, select: &mut Select) -> Result<()> {
    let mut taken: BTreeSet<String> = select
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
            _ => None,
        })
        .collect();
    let mut aliases = BTreeSet::new();
    for (index, item) in select.projection.iter_mut().enumerate() {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                refuse_null(rewriter, expr)?;
                let (name, plain) = match expr {
                    Expr::Identifier(name) => (name.value.clone(), true),
                    Expr::CompoundIdentifier(parts) => {
                        (parts.last().map_or_else(String::new, |part| part.value.clone()), false)
                    }
                    _ => (format!("EXPR${index}"), false),
                };
                let unique = unique_name(&name, &mut taken);
                if unique != name || !plain {
                    let expr = std::mem::replace(expr, Expr::Value(Value::Null.into()));
                    *item = SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('`', unique) };
                }
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                refuse_null(rewriter, expr)?;
                if !aliases.insert(alias.value.clone()) {
                    alias.value = unique_name(&alias.value, &mut taken);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn unique_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut unique = name.to_string();
    let mut number = 0;
    while !taken.insert(unique.clone()) {
        unique = format!("{name}{number}");
        number += 1;
    }
    unique
}

/// If GROUP BY or HAVING use a name that is also an alias, the alias gets another name for them, so that only a column of the
/// input can be meant, as in Flink. Whether that happened.
fn hide_aliases(rewriter: &mut Rewriter<'_>, select: &mut Select) -> bool {
    let aliases: BTreeMap<String, String> = select
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } => match expr {
                Expr::Identifier(name) if name.value == alias.value => None,
                _ => Some((alias.value.clone(), expr.to_string())),
            },
            _ => None,
        })
        .collect();
    let mut used: Vec<(String, &'static str, Span)> = Vec::new();
    let mut collect = |expr: &Expr, clause: &'static str| {
        let _ = visit_expressions(expr, |part| {
            if let Expr::Identifier(name) = part
                && aliases.contains_key(&name.value)
            {
                used.push((name.value.clone(), clause, name.span));
            }
            std::ops::ControlFlow::<()>::Continue(())
        });
    };
    if let GroupByExpr::Expressions(keys, _) = &select.group_by {
        keys.iter().for_each(|key| collect(key, "GROUP BY"));
    }
    if let Some(having) = &select.having {
        collect(having, "HAVING");
    }
    let wildcard = select
        .projection
        .iter()
        .any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
    if used.is_empty() || wildcard {
        return false;
    }
    for (name, clause, span) in used {
        let expression = aliases.get(&name).cloned().unwrap_or_default();
        rewriter.hidden_aliases.push((name, clause, expression, span));
    }
    for item in &mut select.projection {
        if let Some(name) = item_alias(item) {
            let expr = match std::mem::replace(item, SelectItem::UnnamedExpr(Expr::Value(Value::Null.into()))) {
                SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) => expr,
                other => {
                    *item = other;
                    continue;
                }
            };
            let alias = Ident::with_quote('`', format!("{}{HIDDEN}", name.value));
            *item = SelectItem::ExprWithAlias { expr, alias };
        }
    }
    true
}

/// `GROUP BY TUMBLE(ts, i)` becomes `GROUP BY TUMBLE_START(ts, i), TUMBLE_END(ts, i), ...`: the SELECT list can then use them.
fn expand_group_windows(select: &mut Select) {
    let read: Vec<String> = select.projection.iter().map(ToString::to_string).collect();
    let read = format!("{} {}", read.join(" "), select.having.as_ref().map(ToString::to_string).unwrap_or_default());
    let read = read.to_uppercase();
    let GroupByExpr::Expressions(keys, _) = &mut select.group_by else { return };
    let mut expanded = Vec::with_capacity(keys.len());
    for key in keys.drain(..) {
        let window = match &key {
            Expr::Function(function) => function_name(function).filter(|name| GROUP_WINDOWS.contains(&name.as_str())),
            _ => None,
        };
        match (window, &key) {
            (Some(window), Expr::Function(function)) => {
                for marker in group_window_markers(&window, |marker| read.contains(marker)) {
                    let mut function = function.clone();
                    let mut ident = Ident::with_quote('`', marker);
                    ident.span = function.name.span();
                    function.name = vec![ident].into();
                    expanded.push(Expr::Function(function));
                }
            }
            _ => expanded.push(key),
        }
    }
    *keys = expanded;
}

/// An alias without column names: they are applied where the relation is planned.
pub fn without_columns(alias: Option<TableAlias>) -> Option<TableAlias> {
    alias.map(|mut alias| {
        alias.columns.clear();
        alias
    })
}
