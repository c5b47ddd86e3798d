//! ORDER BY, LIMIT and FETCH in the syntax tree.

use super::rewrite::Rewriter;
use crate::lower::rank_codes;
use base::{Error, Result};
use syntax::ast::{Expr, LimitClause, OrderByKind, Query, Select, SelectItem, SetExpr, Value};

/// Takes the order out of a subquery that gives all its rows: a table has no order.
pub fn drop_needless(query: &mut Query) {
    if query.limit_clause.is_none() && query.fetch.is_none() {
        query.order_by = None;
    }
}

/// Writes FETCH as LIMIT, and puts columns in the place of their numbers in ORDER BY.
///
/// # Errors
/// FETCH of other things than a number of rows, and a number that no column has.
pub fn normalize(rewriter: &Rewriter<'_>, query: &mut Query) -> Result<()> {
    fetch_as_limit(query)?;
    let Some(order) = &mut query.order_by else { return Ok(()) };
    let OrderByKind::Expressions(keys) = &mut order.kind else { return Err(Error::unsupported("ORDER BY ALL")) };
    let Some(select) = first_select(&query.body) else { return Ok(()) };
    for key in keys {
        if let Expr::Value(value) = &key.expr
            && let Value::Number(digits, _) = &value.value
        {
            let column = digits.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let item = column.and_then(|column| select.projection.get(column)).ok_or_else(|| {
                let columns = select.projection.len();
                let error = Error::new(&rank_codes::ORDER_POSITION, &[("number", digits), ("columns", &columns)]);
                super::positions::locate(error, rewriter.positions, value.span)
            })?;
            match item {
                SelectItem::UnnamedExpr(expr) => key.expr = expr.clone(),
                SelectItem::ExprWithAlias { alias, .. } => key.expr = Expr::Identifier(alias.clone()),
                // Stars have been replaced by columns where those are known.
                _ => return Err(Error::unsupported("a number in ORDER BY beside a star")),
            }
        }
    }
    Ok(())
}

/// The SELECT that names the columns of a query.
fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::SetOperation { left, .. } => first_select(left),
        SetExpr::Query(query) => first_select(&query.body),
        _ => None,
    }
}

fn fetch_as_limit(query: &mut Query) -> Result<()> {
    let Some(fetch) = query.fetch.take() else { return Ok(()) };
    if fetch.percent || fetch.with_ties {
        return Err(Error::unsupported("FETCH ... PERCENT and WITH TIES"));
    }
    let one = Expr::Value(Value::Number("1".into(), false).into());
    let rows = fetch.quantity.unwrap_or(one);
    match &mut query.limit_clause {
        None => {
            query.limit_clause =
                Some(LimitClause::LimitOffset { limit: Some(rows), offset: None, limit_by: Vec::new() });
            Ok(())
        }
        Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => {
            *limit = Some(rows);
            Ok(())
        }
        Some(_) => Err(Error::unsupported("LIMIT together with FETCH")),
    }
}
