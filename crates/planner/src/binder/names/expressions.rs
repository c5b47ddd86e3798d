//! The names that an expression uses.

use super::super::rewrite::{call_arguments, function_name};
use std::ops::ControlFlow;
use syntax::ast::{
    AccessExpr, BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
    Query, Value, Visit, VisitMut, Visitor, VisitorMut,
};
use syntax::dialect::{MINUS, TABLE, marker_arguments};

/// What a column must be for an expression to make sense, as far as can be guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is compared with whole numbers.
    Whole,
    /// It is summed up, or compared with decimals.
    Amount,
    /// It is compared with a text.
    Text,
    /// It is a point in time.
    Time,
    /// It cuts windows.
    Rowtime,
}

/// The names of an expression, without those inside its subqueries.
#[derive(Debug, Default)]
pub struct Found {
    /// Columns, by their parts.
    pub columns: Vec<Vec<Ident>>,
    /// Calls.
    pub functions: Vec<Function>,
    /// Subqueries.
    pub queries: Vec<Query>,
    /// What columns are used for.
    pub uses: Vec<(Vec<Ident>, Use)>,
    /// Columns that are compared with each other.
    pub equal: Vec<(Vec<Ident>, Vec<Ident>)>,
    depth: usize,
}

/// The names of an expression.
pub fn collect(expr: &Expr) -> Found {
    let mut expr = expr.clone();
    let _ = VisitMut::visit(&mut expr, &mut Mask);
    let mut found = Found::default();
    let _ = Visit::visit(&expr, &mut found);
    found
}

/// The parts of a column reference.
pub fn parts(expr: &Expr) -> Option<&[Ident]> {
    match expr {
        Expr::Identifier(name) => Some(std::slice::from_ref(name)),
        Expr::CompoundIdentifier(parts) => Some(parts),
        Expr::Nested(inner) => parts(inner),
        _ => None,
    }
}

/// A table argument.
pub enum Input {
    /// `TABLE t`.
    Table(ObjectName),
    /// `TABLE (SELECT ...)`.
    Query(Box<Query>),
}

/// The table of a `TABLE t` argument.
pub fn table_argument(expr: &Expr) -> Option<Input> {
    marker_arguments(expr, TABLE)?.into_iter().find_map(|part| match part {
        Expr::Subquery(query) => Some(Input::Query(query.clone())),
        other => parts(other).map(|parts| Input::Table(parts.to_vec().into())),
    })
}

/// Takes out words that look like columns: fields, units, clauses of functions.
struct Mask;

impl VisitorMut for Mask {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::CompoundFieldAccess { access_chain, .. } => {
                for step in access_chain {
                    if let AccessExpr::Dot(field @ Expr::Identifier(_)) = step {
                        *field = Expr::Value(Value::Null.into());
                    }
                }
            }
            Expr::Function(function) => {
                let name = function_name(function).unwrap_or_default();
                if name.starts_with('$') && name != MINUS {
                    *expr = Expr::Value(Value::Null.into());
                } else if matches!(name.as_str(), "TIMESTAMPADD" | "TIMESTAMPDIFF")
                    && let FunctionArguments::List(list) = &mut function.args
                    && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(unit))) = list.args.first_mut()
                {
                    *unit = Expr::Value(Value::Null.into());
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Visitor for Found {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.queries.push(query.clone());
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                self.columns.extend(parts(expr).map(<[Ident]>::to_vec));
            }
            Expr::Function(function) => {
                self.call(function);
                if function_name(function).is_none_or(|name| name != MINUS) {
                    self.functions.push(function.clone());
                }
            }
            Expr::BinaryOp { left, op, right } => self.operator(left, op, right),
            Expr::Between { expr, low, .. } => self.compared(expr, low),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Found {
    fn call(&mut self, function: &Function) {
        let Some(name) = function_name(function) else { return };
        let arguments = call_arguments(function);
        let Some((_, first)) = arguments.first() else { return };
        let Some(column) = parts(first) else { return };
        let purpose = match name.as_str() {
            "SUM" | "AVG" => Use::Amount,
            "DATE_FORMAT" => Use::Time,
            "TUMBLE" | "HOP" | "SESSION" | "TUMBLE_START" | "HOP_START" | "SESSION_START" => Use::Rowtime,
            "UPPER" | "LOWER" | "JSON_VALUE" | "SUBSTRING" | "CONCAT" => Use::Text,
            _ => return,
        };
        self.uses.push((column.to_vec(), purpose));
    }

    fn operator(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr) {
        use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, Minus, NotEq, Plus};
        match op {
            Eq | NotEq | Gt | GtEq | Lt | LtEq => {
                self.compared(left, right);
                self.compared(right, left);
                if let (Some(left), Some(right)) = (parts(left), parts(right)) {
                    self.equal.push((left.to_vec(), right.to_vec()));
                }
            }
            Plus | Minus if matches!(right, Expr::Interval(_)) => {
                self.uses.extend(parts(left).map(|column| (column.to_vec(), Use::Time)));
            }
            _ => {}
        }
    }

    fn compared(&mut self, column: &Expr, value: &Expr) {
        let (Some(column), Expr::Value(value)) = (parts(column), value) else { return };
        let purpose = match &value.value {
            Value::Number(number, _) if number.contains('.') => Use::Amount,
            Value::Number(..) => Use::Whole,
            Value::SingleQuotedString(_) => Use::Text,
            _ => return,
        };
        self.uses.push((column.to_vec(), purpose));
    }
}
