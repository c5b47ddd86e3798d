//! From syntax trees to bound logical plans, in steps: rewrite the tree ([`stars`], [`rewrite`], [`select`]), let `SqlToRel`
//! resolve names and structure ([`provider`], [`windows`]), finish types and windows ([`analyze`]), put views in ([`views`]),
//! optimise ([`optimize`]).
//! A query that cannot be bound is looked at once more to tell all that is wrong with it ([`diagnose`], [`names`]).

mod analyze;
pub mod codes;
pub mod coerce;
mod correlation;
mod diagnose;
mod errors;
pub mod foreign;
mod grouping;
pub mod hints;
mod lists;
mod literals;
mod markers;
pub mod match_codes;
pub mod match_recognize;
pub mod names;
mod nulls;
mod optimize;
mod order;
mod over;
pub mod over_codes;
pub mod positions;
mod provider;
pub mod rewrite;
mod select;
mod set_operations;
mod single_row;
mod stars;
mod subqueries;
mod temporal;
mod unnest;
pub mod views;
pub mod windows;

use crate::catalog::Catalogs;
use crate::user_functions;
use base::connector::ConnectorContext;
use base::function::FunctionContext;
use base::{Error, ObjectPath, Result, RowType};
use datafusion_common::{DFSchema, DataFusionError};
use datafusion_expr::{Expr, LogicalPlan};
use datafusion_sql::planner::{NullOrdering, ParserOptions, PlannerContext, SqlToRel};
use errors::Scene;
use positions::{Places, Positions};
use provider::Provider;
use rewrite::Rewriter;
use std::cell::RefCell;
use syntax::ast;

/// Binds statements against the catalogs of a session.
pub struct Binder<'a> {
    /// Tables and views.
    pub catalogs: &'a Catalogs,
    /// What functions may know.
    pub functions: FunctionContext,
    /// The script of the statement, for places of errors.
    pub positions: Option<&'a Positions<'a>>,
    /// Things worth saying that came up.
    pub warnings: RefCell<Vec<Error>>,
    /// Hints for the planner, those of views included. OPTIONS is not among them: it has changed its table.
    pub hints: RefCell<Vec<syntax::Hint>>,
    /// For tables whose options a hint changes; without it there are none.
    connector: Option<ConnectorContext>,
    /// Views that are being bound, outermost first.
    open_views: Vec<ObjectPath>,
    /// What the statement reads, what its views read included.
    reads: RefCell<views::Reads>,
}

impl<'a> Binder<'a> {
    /// A binder for one statement.
    pub fn new(catalogs: &'a Catalogs, functions: FunctionContext, positions: Option<&'a Positions<'a>>) -> Binder<'a> {
        Binder {
            catalogs,
            functions,
            positions,
            warnings: RefCell::default(),
            hints: RefCell::default(),
            connector: None,
            open_views: Vec::new(),
            reads: RefCell::default(),
        }
    }

    /// The same with what OPTIONS hints need.
    pub fn with_connector(self, connector: ConnectorContext) -> Binder<'a> {
        Binder { connector: Some(connector), ..self }
    }

    /// Binds a query.
    ///
    /// # Errors
    /// Everything that is wrong with it, and what this version cannot bind.
    pub fn query(&self, query: &ast::Query) -> Result<LogicalPlan> {
        let mut query = query.clone();
        stars::expand(self, &mut query);
        let said = self.warnings.borrow().len();
        let error = match self.bind(&query) {
            Ok(plan) if self.open_views.is_empty() && temporal::has_times(&query) => {
                return diagnose::times(self, &query).map_or(Ok(plan), Err);
            }
            Ok(plan) => return Ok(plan),
            Err(error) => error,
        };
        // A view was right when it was made; looking again at every level would take for ever.
        let explained = if self.open_views.is_empty() { diagnose::explain(self, &query, error) } else { error };
        if let Some(query) = temporal::assume_now(&query) {
            let notes = self.warnings.borrow_mut().split_off(said);
            let bound = self.bind(&query);
            self.warnings.borrow_mut().extend(notes);
            return bound.map_err(|_| explained);
        }
        Err(explained)
    }

    /// Binds a query up to the first thing that is wrong with it.
    fn bind(&self, query: &ast::Query) -> Result<LogicalPlan> {
        let mut query = Box::new(query.clone());
        user_functions::inline(query.as_mut(), self.catalogs, self.positions)?;
        let places = Places::default();
        let mut rewriter = Rewriter::new(self.positions, &places);
        rewriter.current_database = self.catalogs.current_database().to_string();
        rewriter.rewrite(query.as_mut())?;
        let Rewriter { literals, hidden_aliases, warnings, hints, .. } = rewriter;
        self.warnings.borrow_mut().extend(warnings);
        self.keep_hints(hints);
        let provider = Provider::new(self, literals);
        SqlToRel::new_with_options(&provider, parser_options())
            .sql_statement_to_plan(ast::Statement::Query(query))
            .and_then(|plan| analyze::analyze(plan, &self.functions))
            .and_then(|plan| if provider.has_views.get() { views::expand(plan) } else { Ok(plan) })
            .map_err(|error| {
                let (tables, positions) = (provider.tables.borrow(), self.positions);
                let scene = Scene { places: &places, positions, hidden_aliases: &hidden_aliases, tables: &tables };
                errors::translate(error, &scene)
            })
    }

    /// Binds an expression over the columns of a row.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn expression(&self, expr: &ast::Expr, row: &RowType) -> Result<Expr> {
        let mut expr = expr.clone();
        user_functions::inline(&mut expr, self.catalogs, self.positions)?;
        let places = Places::default();
        let mut rewriter = Rewriter::new(self.positions, &places);
        rewriter.current_database = self.catalogs.current_database().to_string();
        rewriter.rewrite(&mut expr)?;
        let scene = Scene { places: &places, positions: self.positions, hidden_aliases: &[], tables: &[] };
        let provider = Provider::new(self, rewriter.literals);
        let bind = || -> Result<Expr, DataFusionError> {
            let schema = DFSchema::try_from(crate::bridge::typed_schema(row).as_ref().clone())?;
            let expr = SqlToRel::new_with_options(&provider, parser_options()).sql_to_expr(
                expr,
                &schema,
                &mut PlannerContext::new(),
            )?;
            let expr = analyze::replace_literals(expr)?.data;
            let expr = coerce::coerce_expression(expr, &schema, &self.functions)?.data;
            // The type of the whole expression, so that its errors come here.
            coerce::sql_type_of(&expr, &schema)?;
            Ok(expr)
        };
        bind().map_err(|error| errors::translate(error, &scene))
    }

    /// The query of a view with columns in the place of its stars, and its plan: a column that a table gets later is none of
    /// the view. Where the columns cannot be told (JOIN ... USING), the stars stay.
    ///
    /// # Errors
    /// A bug: the query has been bound before.
    pub(crate) fn without_stars(
        &self,
        query: &ast::Query,
        plan: LogicalPlan,
    ) -> Result<(Box<ast::Query>, LogicalPlan)> {
        let plain = Box::new(stars::columns(self, query));
        if *plain == *query {
            return Ok((plain, plan));
        }
        match self.bind(&plain) {
            Ok(other) if Binder::row_type(&other)? == Binder::row_type(&plan)? => Ok((plain, other)),
            _ => Ok((Box::new(query.clone()), plan)),
        }
    }

    /// Keeps hints, each once: a view may be read twice.
    fn keep_hints(&self, more: Vec<syntax::Hint>) {
        let mut hints = self.hints.borrow_mut();
        for hint in more {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
    }

    /// The row type of a plan.
    pub fn row_type(plan: &LogicalPlan) -> Result<RowType> {
        let fields =
            plan.schema().fields().iter().map(|field| base::Field::from_arrow(field)).collect::<Result<Vec<_>>>()?;
        Ok(RowType::new(fields))
    }
}

/// Optimises a bound plan.
///
/// # Errors
/// A bug, or an expression that cannot be evaluated.
pub fn optimize(plan: LogicalPlan) -> Result<LogicalPlan> {
    optimize::optimize(plan).map_err(|error| {
        let places = Places::default();
        errors::translate(error, &Scene { places: &places, positions: None, hidden_aliases: &[], tables: &[] })
    })
}

fn parser_options() -> ParserOptions {
    ParserOptions::new()
        .with_enable_ident_normalization(false)
        .with_map_string_types_to_utf8view(false)
        .with_parse_float_as_decimal(true)
        .with_default_null_ordering(NullOrdering::NullsMin)
        .with_support_varchar_with_length(true)
}

#[cfg(test)]
#[path = "binder_tests.rs"]
mod tests;
