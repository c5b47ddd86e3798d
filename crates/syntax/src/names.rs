//! Refuses reserved words as names that a query gives, aliases of columns and tables and names of WITH, and strings as
//! names anywhere: `sqlparser` takes `SELECT 'a' 'b'` for an alias, and `FROM 'orders'` for a table.

use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::keywords::is_reserved;
use crate::statement::Statement;
use sqlparser::ast::{
    Cte, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, TableAlias, TableFactor, Visit, Visitor,
    WindowType,
};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::ControlFlow;

/// Checks all queries of a statement.
pub(crate) fn check(statement: &Statement) -> Result<(), SyntaxError> {
    match statement {
        Statement::Query(query) => check_tree(query.as_ref()),
        Statement::Insert(insert) => check_tree(insert.query.as_ref()),
        Statement::StatementSet(inserts) => inserts.iter().try_for_each(|insert| check_tree(insert.query.as_ref())),
        Statement::CreateView(view) => check_tree(view.query.query.as_ref()),
        Statement::CreateTable(table) => match &table.query {
            Some(query) => check_tree(query.query.as_ref()),
            None => Ok(()),
        },
        Statement::Modify(modify) => check_tree(&modify.statement),
        Statement::Explain(explain) => check(&explain.statement),
        _ => Ok(()),
    }
}

fn check_tree(tree: &impl Visit) -> Result<(), SyntaxError> {
    match tree.visit(&mut Names) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Names;

type Flow = ControlFlow<SyntaxError>;

impl Visitor for Names {
    type Break = SyntaxError;

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        if let Some(with) = &query.with {
            for Cte { alias, .. } in &with.cte_tables {
                table_alias(Some(alias))?;
            }
        }
        set_expression(&query.body)
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> Flow {
        relation.0.iter().filter_map(|part| part.as_ident()).try_for_each(not_a_string)
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        match factor {
            TableFactor::Table { alias, .. }
            | TableFactor::Derived { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. }
            | TableFactor::NestedJoin { alias, .. }
            | TableFactor::MatchRecognize { alias, .. } => table_alias(alias.as_ref()),
            _ => Flow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> Flow {
        match expression {
            Expr::Function(function) => match &function.over {
                Some(WindowType::NamedWindow(window)) => name(window),
                _ => Flow::Continue(()),
            },
            _ => Flow::Continue(()),
        }
    }
}

/// The selects of a query, but not those of its subqueries.
fn set_expression(body: &SetExpr) -> Flow {
    match body {
        SetExpr::Select(select) => select_items(select),
        SetExpr::SetOperation { left, right, .. } => {
            set_expression(left)?;
            set_expression(right)
        }
        _ => Flow::Continue(()),
    }
}

fn select_items(select: &Select) -> Flow {
    for item in &select.projection {
        if let SelectItem::ExprWithAlias { alias, .. } = item {
            name(alias)?;
        }
    }
    Flow::Continue(())
}

fn table_alias(alias: Option<&TableAlias>) -> Flow {
    let Some(alias) = alias else { return Flow::Continue(()) };
    name(&alias.name)?;
    alias.columns.iter().try_for_each(|column| name(&column.name))
}

fn name(ident: &Ident) -> Flow {
    if ident.quote_style.is_none() && is_reserved(&ident.value) {
        let kind = SyntaxErrorKind::ReservedWord { word: ident.value.clone() };
        return Flow::Break(SyntaxError::new(kind, ident.span.start));
    }
    not_a_string(ident)
}

fn not_a_string(ident: &Ident) -> Flow {
    if ident.quote_style == Some('\'') {
        let kind = SyntaxErrorKind::StringAsName { text: ident.value.clone() };
        return Flow::Break(SyntaxError::new(kind, ident.span.start));
    }
    Flow::Continue(())
}

/// Finds the string of [`SyntaxErrorKind::StringAsName`], whose place `sqlparser` does not keep: it follows a value or a
/// word that expects a name.
pub(crate) fn locate(mut error: SyntaxError, tokens: &[TokenWithSpan]) -> SyntaxError {
    let SyntaxErrorKind::StringAsName { text } = &error.kind else { return error };
    let before_a_name = |token: &Token| match token {
        Token::SingleQuotedString(_) | Token::Number(..) | Token::RParen | Token::Period => true,
        Token::Word(word) => {
            matches!(word.keyword, Keyword::NoKeyword | Keyword::AS | Keyword::FROM | Keyword::JOIN | Keyword::WITH)
        }
        _ => false,
    };
    let found = tokens.windows(2).find(|pair| match &pair[1].token {
        Token::SingleQuotedString(found) => found == text && before_a_name(&pair[0].token),
        _ => false,
    });
    let found = found.map(|pair| &pair[1]).or_else(|| {
        tokens.iter().find(|token| matches!(&token.token, Token::SingleQuotedString(found) if found == text))
    });
    if let Some(found) = found {
        (error.line, error.column) = (found.span.start.line, found.span.start.column);
    }
    error
}
