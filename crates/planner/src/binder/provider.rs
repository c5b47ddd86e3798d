//! What `SqlToRel` asks while it binds a statement: tables, functions, operators.

use super::Binder;
use super::grouping::grouping_marker;
use super::hints;
use super::markers::window_marker;
use super::rewrite::FIELD_FUNCTION;
use super::views::ViewSource;
use super::windows::FlinkRelations;
use crate::bridge::{aggregate_udf, external, scalar_udf};
use crate::cast::CastFunction;
use crate::catalog::{CatalogObject, CatalogTable};
use crate::literal::Literal;
use crate::pattern_functions::pattern_function;
use crate::table_source::CatalogTableSource;
use crate::time_functions::hidden_function;
use crate::window_functions::WindowFunction;
use arrow::datatypes::DataType;
use base::function::FunctionContext;
use datafusion_common::config::ConfigOptions;
use datafusion_common::{Column, DFSchema, DataFusionError, Result, TableReference, not_impl_err};
use datafusion_expr::planner::{
    ContextProvider, ExprPlanner, PlannerResult, RawAggregateExpr, RawBinaryExpr, RawWindowExpr, RelationPlanner,
};
use datafusion_expr::{AggregateUDF, Expr, ScalarUDF, TableSource, WindowUDF};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use syntax::ast::BinaryOperator;

/// The context of one statement.
pub struct Provider<'a> {
    binder: &'a Binder<'a>,
    /// The tables that the statement reads, for errors.
    pub tables: RefCell<Vec<Arc<CatalogTable>>>,
    /// Whether it reads a view.
    pub has_views: Cell<bool>,
    literals: HashMap<String, Arc<ScalarUDF>>,
    planners: Vec<Arc<dyn ExprPlanner>>,
    relations: Vec<Arc<dyn RelationPlanner>>,
}

impl<'a> Provider<'a> {
    /// A context with the literals of a rewritten statement.
    pub fn new(binder: &'a Binder<'a>, literals: HashMap<String, Arc<ScalarUDF>>) -> Provider<'a> {
        Provider {
            binder,
            tables: RefCell::default(),
            has_views: Cell::new(false),
            literals,
            planners: vec![Arc::new(Operators { context: binder.functions.clone() })],
            relations: vec![Arc::new(FlinkRelations::new(binder.functions.clone()))],
        }
    }
}

/// What `SqlToRel` asks for besides its own options.
static OPTIONS: LazyLock<ConfigOptions> = LazyLock::new(|| {
    let mut options = ConfigOptions::new();
    options.sql_parser.enable_ident_normalization = false;
    options
});

/// A scalar function for DataFusion, from the registry or the planner.
pub fn scalar(name: &str, context: &FunctionContext) -> Option<Arc<ScalarUDF>> {
    let function = functions::scalar(name).or_else(|| hidden_function(name)).or_else(|| pattern_function(name));
    function.map(|function| scalar_udf(function, context))
}

impl ContextProvider for Provider<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let parts: Vec<String> = match &name {
            TableReference::Bare { table } => vec![table.to_string()],
            TableReference::Partial { schema, table } => vec![schema.to_string(), table.to_string()],
            TableReference::Full { catalog, schema, table } => {
                vec![catalog.to_string(), schema.to_string(), table.to_string()]
            }
        };
        let (parts, options) = hints::unmark(parts);
        let path = self.binder.catalogs.path(&parts).map_err(external)?;
        let object = self.binder.catalogs.object(&path).map_err(external)?;
        self.binder.keep_reads(&[(path.clone(), object.clone())]);
        match object {
            CatalogObject::Table(table) => {
                let table = &self.binder.with_options(table, options).map_err(external)?;
                crate::table::check_readable(table).map_err(external)?;
                self.tables.borrow_mut().push(table.clone());
                Ok(Arc::new(CatalogTableSource::new(table.clone())))
            }
            CatalogObject::View(view) => {
                if !options.is_empty() {
                    return Err(external(hints::options_of_view(&path.name)));
                }
                let plan = self.binder.bind_view(view).map_err(external)?;
                self.has_views.set(true);
                Ok(Arc::new(ViewSource::new(plan)))
            }
        }
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.planners
    }

    fn get_relation_planners(&self) -> &[Arc<dyn RelationPlanner>] {
        &self.relations
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        if let Some(literal) = self.literals.get(name) {
            return Some(literal.clone());
        }
        if let Some(cast) = CastFunction::from_name(name) {
            return cast.ok().map(|function| scalar_udf(function, &self.binder.functions));
        }
        window_marker(name).or_else(|| super::temporal::marker(name)).or_else(|| scalar(name, &self.binder.functions))
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        grouping_marker(name).or_else(|| functions::aggregate(name).map(aggregate_udf))
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        WindowFunction::from_name(name).map(WindowFunction::udf)
    }

    fn get_variable_type(&self, _names: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &OPTIONS
    }

    fn udf_names(&self) -> Vec<String> {
        functions::scalar_names().into_iter().map(String::from).collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        functions::aggregate_names().into_iter().map(String::from).collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Operators as calls of our functions; AND and OR stay, because the optimizer splits conditions at them.
#[derive(Debug)]
struct Operators {
    context: FunctionContext,
}

impl Operators {
    fn call(&self, name: &str, arguments: Vec<Expr>) -> Result<Expr> {
        match scalar(name, &self.context) {
            Some(function) => Ok(function.call(arguments)),
            None => not_impl_err!("operator {name}"),
        }
    }
}

impl ExprPlanner for Operators {
    fn plan_binary_op(&self, raw: RawBinaryExpr, _schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let name = match raw.op {
            BinaryOperator::And | BinaryOperator::Or => return Ok(PlannerResult::Original(raw)),
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "%",
            BinaryOperator::Eq => "=",
            BinaryOperator::NotEq => "<>",
            BinaryOperator::Lt => "<",
            BinaryOperator::LtEq => "<=",
            BinaryOperator::Gt => ">",
            BinaryOperator::GtEq => ">=",
            BinaryOperator::StringConcat => "||",
            ref other => {
                let feature = format!("the operator {other}");
                return Err(external(base::Error::unsupported(feature)));
            }
        };
        self.call(name, vec![raw.left, raw.right]).map(PlannerResult::Planned)
    }

    /// `r.a.b`: fields of a row.
    fn plan_compound_identifier(
        &self,
        field: &arrow::datatypes::Field,
        qualifier: Option<&TableReference>,
        nested_names: &[String],
    ) -> Result<PlannerResult<Vec<Expr>>> {
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
        nested_names
            .iter()
            .try_fold(column, |row, name| self.call(FIELD_FUNCTION, vec![row, Literal::string(name).to_expr()]))
            .map(PlannerResult::Planned)
    }

    /// `COUNT(*) OVER` too.
    fn plan_window(&self, mut raw: RawWindowExpr) -> Result<PlannerResult<RawWindowExpr>> {
        if is_star(&raw.args) {
            raw.args.clear();
        }
        Ok(PlannerResult::Original(raw))
    }

    /// `COUNT(*)` is COUNT without arguments.
    fn plan_aggregate(&self, mut raw: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        if is_star(&raw.args) {
            raw.args.clear();
        }
        if !raw.order_by.is_empty() {
            return Err(external(base::Error::unsupported("ORDER BY in an aggregate function")));
        }
        Ok(PlannerResult::Original(raw))
    }
}

#[expect(deprecated, reason = "the only name that this version has for it")]
fn is_star(arguments: &[Expr]) -> bool {
    matches!(arguments, [Expr::Wildcard { .. }])
}

/// The names of columns as people write them.
pub fn plain_error(error: &DataFusionError) -> String {
    error.strip_backtrace().lines().next().unwrap_or_default().to_string()
}
