//! From syntax trees to bound logical plans, in steps: rewrite the tree ([`rewrite`], [`select`]), let `SqlToRel` resolve
//! names and structure ([`provider`], [`windows`]), finish types and windows ([`analyze`]), optimise ([`optimize`]).

mod analyze;
pub mod coerce;
mod errors;
mod literals;
mod markers;
mod optimize;
pub mod positions;
mod provider;
mod rewrite;
mod select;
pub mod windows;

use crate::catalog::{Catalogs, View};
use crate::codes;
use base::function::FunctionContext;
use base::{Error, Result, RowType};
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
    /// Views that are being bound, outermost first.
    open_views: Vec<String>,
}

impl<'a> Binder<'a> {
    /// A binder for one statement.
    pub fn new(catalogs: &'a Catalogs, functions: FunctionContext, positions: Option<&'a Positions<'a>>) -> Binder<'a> {
        Binder { catalogs, functions, positions, warnings: RefCell::new(Vec::new()), open_views: Vec::new() }
    }

    /// Binds a query.
    ///
    /// # Errors
    /// Everything that is wrong with it, and what this version cannot bind.
    pub fn query(&self, query: &ast::Query) -> Result<LogicalPlan> {
        let mut query = Box::new(query.clone());
        let places = Places::default();
        let mut rewriter = Rewriter::new(self.positions, &places);
        rewriter.rewrite(query.as_mut())?;
        let Rewriter { literals, hidden_aliases, warnings, .. } = rewriter;
        self.warnings.borrow_mut().extend(warnings);
        let provider = Provider::new(self, literals);
        SqlToRel::new_with_options(&provider, parser_options())
            .sql_statement_to_plan(ast::Statement::Query(query))
            .and_then(|plan| analyze::analyze(plan, &self.functions))
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
        let places = Places::default();
        let mut rewriter = Rewriter::new(self.positions, &places);
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

    /// Binds the query of a view where the view was made.
    pub(crate) fn bind_view(&self, view: &View) -> Result<LogicalPlan> {
        let name = view.path.to_string();
        if self.open_views.contains(&name) {
            return Err(Error::new(&codes::VIEW_CYCLE, &[("name", &view.path.name)]));
        }
        let catalogs = self.catalogs.at_home(&view.home);
        let mut open_views = self.open_views.clone();
        open_views.push(name);
        let inner = Binder {
            catalogs: &catalogs,
            functions: self.functions.clone(),
            positions: None,
            warnings: RefCell::new(Vec::new()),
            open_views,
        };
        let plan = inner.query(&view.query)?;
        if view.columns.is_empty() {
            return Ok(plan);
        }
        windows::rename(plan, &view.columns).map_err(|error| Error::new(&codes::BIND, &[("reason", &error)]))
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
