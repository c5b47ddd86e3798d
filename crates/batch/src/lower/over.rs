//! OVER: functions over frames of sorted rows.

use super::aggregate::argument_expressions;
use super::{Lowering, Rows, all_columns, check_key, project, sorted};
use crate::aggregate::FlinkAggregate;
use crate::expression::Typed;
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use base::{Error, Result, SqlType};
use datafusion_common::{DFSchema, ScalarValue};
use datafusion_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion_expr::logical_plan::Window;
use datafusion_expr::{Expr, SortExpr, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition};
use datafusion_functions_window::{cume_dist, lead_lag, ntile, rank, row_number};
use datafusion_physical_expr::expressions::{CastExpr, Literal};
use datafusion_physical_expr::{PhysicalExpr, PhysicalSortExpr};
use datafusion_physical_plan::WindowExpr;
use datafusion_physical_plan::windows::{WindowAggExec, create_window_expr};
use planner::batch::from_datafusion;
use planner::bridge::flink_aggregate;
use std::sync::Arc;

/// A function of an OVER clause.
struct Function<'e> {
    call: &'e WindowFunction,
    /// Its name in the plan.
    name: String,
    /// The type that the query gives it.
    sql_type: SqlType,
    /// The place of its result behind the columns of the input.
    place: usize,
}

/// The function that DataFusion runs, its arguments and the type of its result.
struct Chosen {
    definition: WindowFunctionDefinition,
    arguments: Vec<Arc<dyn PhysicalExpr>>,
    result: SqlType,
}

/// PARTITION BY and ORDER BY over the columns of `schema`.
struct Sorting {
    partition: Vec<Arc<dyn PhysicalExpr>>,
    order: Vec<PhysicalSortExpr>,
    schema: SchemaRef,
}

impl Sorting {
    /// The order in which rows are read: a partition after the other.
    fn keys(&self) -> Vec<PhysicalSortExpr> {
        let options = SortOptions { descending: false, nulls_first: true };
        let partition = self.partition.iter().map(|expr| PhysicalSortExpr { expr: expr.clone(), options });
        partition.chain(self.order.iter().cloned()).collect()
    }
}

/// The columns that the functions of one sorting read, behind those of the input.
struct Extended {
    rows: Rows,
    columns: Vec<(Typed, String)>,
}

impl Extended {
    /// The place of a column that is the same as `column`.
    fn add(&mut self, column: Typed) -> usize {
        if let Some(place) = self.columns.iter().position(|(known, _)| known.expr.eq(&column.expr)) {
            return place;
        }
        let place = self.columns.len();
        self.columns.push((column, format!("$over{place}")));
        place
    }
}

impl Lowering<'_> {
    /// All functions of a window node. Those with the same PARTITION BY and ORDER BY are computed together.
    pub(super) fn over(&self, window: &Window) -> Result<Rows> {
        let input = self.lower(&window.input)?;
        let width = input.types.len();
        let fields = window.schema.fields();
        let mut pending = Vec::new();
        for (index, expr) in window.window_expr.iter().enumerate() {
            let field = fields.get(width + index).ok_or_else(|| Error::internal("a function without a column"))?;
            let call = function_of(expr)?;
            let sql_type = SqlType::from_arrow(field)?;
            pending.push(Function { call, name: format!("$result{index}"), sql_type, place: width + index });
        }
        // Where each column of the node is in the rows so far.
        let mut places: Vec<usize> = (0..width).collect();
        places.resize(width + pending.len(), 0);
        let mut rows = input;
        while let Some(first) = pending.first() {
            let (partition, order) = (first.call.params.partition_by.clone(), first.call.params.order_by.clone());
            let same = |params: &WindowFunctionParams| params.partition_by == partition && params.order_by == order;
            let (together, later): (Vec<_>, Vec<_>) =
                pending.into_iter().partition(|function| same(&function.call.params));
            pending = later;
            rows = self.over_sorted(rows, window.input.schema(), (&partition, &order), &together, &mut places)?;
        }
        let schema = rows.schema();
        let columns = places
            .iter()
            .zip(fields)
            .map(|(&place, field)| (Typed::column(place, &schema, &rows.types[place]), field.name().clone()))
            .collect();
        project(&rows, columns)
    }

    /// Functions of one sorting: sorts the rows and appends one column for each.
    fn over_sorted(
        &self,
        input: Rows,
        names: &DFSchema,
        (partition, order): (&[Expr], &[SortExpr]),
        functions: &[Function<'_>],
        places: &mut [usize],
    ) -> Result<Rows> {
        let columns = all_columns(&input);
        let mut extended = Extended { rows: input, columns };
        let mut add = |expr: &Expr| -> Result<usize> {
            let column = self.compile_over(&extended.rows, names, expr)?;
            Ok(extended.add(column))
        };
        let keys = partition.iter().chain(order.iter().map(|key| &key.expr)).collect::<Vec<_>>();
        let partition = partition.iter().map(&mut add).collect::<Result<Vec<_>>>()?;
        // DataFusion puts a constant in the place of a missing ORDER BY.
        let order = order
            .iter()
            .filter(|key| !matches!(key.expr, Expr::Literal(..)))
            .map(|key| Ok((add(&key.expr)?, SortOptions { descending: !key.asc, nulls_first: key.nulls_first })))
            .collect::<Result<Vec<_>>>()?;
        let mut read = Vec::with_capacity(functions.len());
        for function in functions {
            let params = &function.call.params;
            // Offsets and defaults are constants, which the functions ask for as such.
            let count = if is_shift(function) || function.call.fun.name() == "NTILE" {
                usize::from(is_shift(function))
            } else {
                params.args.len()
            };
            let arguments = params.args.iter().take(count).map(&mut add).collect::<Result<Vec<_>>>()?;
            let filter = params.filter.as_deref().map(&mut add).transpose()?;
            read.push((arguments, filter));
        }
        for key in keys {
            check_key(key, &self.compile_over(&extended.rows, names, key)?.sql_type)?;
        }
        let Extended { rows, columns } = extended;
        let rows = project(&rows, columns)?;
        let schema = rows.schema();
        let column = |place: usize| Typed::column(place, &schema, &rows.types[place]);
        let partition: Vec<Arc<dyn PhysicalExpr>> = partition.into_iter().map(|place| column(place).expr).collect();
        let order: Vec<PhysicalSortExpr> =
            order.into_iter().map(|(place, options)| PhysicalSortExpr { expr: column(place).expr, options }).collect();
        let sorting = Sorting { partition, order, schema: schema.clone() };
        let mut windows = Vec::with_capacity(functions.len());
        let mut raw = Vec::with_capacity(functions.len());
        for (function, (arguments, filter)) in functions.iter().zip(read) {
            let arguments = arguments.into_iter().map(column).collect();
            let (window, sql_type) =
                self.window_expr(function, arguments, filter.map(|place| column(place).expr), &sorting)?;
            windows.push(window);
            raw.push(sql_type);
        }
        let keys = sorting.keys();
        let width = rows.types.len();
        let rows = sorted(rows, keys, None);
        let plan = WindowAggExec::try_new(windows, rows.plan, false).map_err(from_datafusion)?;
        let types = rows.types.into_iter().chain(raw).collect();
        for (index, function) in functions.iter().enumerate() {
            places[function.place] = width + index;
        }
        as_flink(Rows { plan: Arc::new(plan), types }, width, functions)
    }

    /// A function over its frames, and the type that DataFusion gives it.
    fn window_expr(
        &self,
        function: &Function<'_>,
        arguments: Vec<Typed>,
        filter: Option<Arc<dyn PhysicalExpr>>,
        sorting: &Sorting,
    ) -> Result<(Arc<dyn WindowExpr>, SqlType)> {
        let chosen = self.choose(function, arguments)?;
        let Sorting { partition, order, schema } = sorting;
        let key = order.first().map(|key| key.expr.data_type(schema)).transpose().map_err(from_datafusion)?;
        let frame = Arc::new(frame(&function.call.params.window_frame, key.as_ref())?);
        let (name, schema) = (function.name.clone(), schema.clone());
        // DISTINCT is in the function itself.
        let (ignore_nulls, distinct) = (false, false);
        let window = create_window_expr(
            &chosen.definition,
            name,
            &chosen.arguments,
            partition,
            order,
            frame,
            schema,
            ignore_nulls,
            distinct,
            filter,
        );
        Ok((window.map_err(from_datafusion)?, chosen.result))
    }

    /// An expression over the first columns of rows: those that the window node's input has.
    fn compile_over(&self, rows: &Rows, names: &DFSchema, expr: &Expr) -> Result<Typed> {
        let width = names.fields().len();
        let scope = self.scope(names, &rows.types[..width]);
        Ok(self.typed(scope.compile(expr)?, rows))
    }

    /// The function that DataFusion runs.
    fn choose(&self, function: &Function<'_>, mut arguments: Vec<Typed>) -> Result<Chosen> {
        let params = &function.call.params;
        if let WindowFunctionDefinition::AggregateUDF(udaf) = &function.call.fun {
            let aggregate = flink_aggregate(udaf)
                .ok_or_else(|| Error::internal(format!("{} is not one of our aggregates", udaf.name())))?;
            let types = arguments.iter().map(|argument| argument.sql_type.clone()).collect();
            let call = FlinkAggregate::new(aggregate.clone(), types, params.distinct)?;
            let result = call.result().clone();
            let definition = WindowFunctionDefinition::AggregateUDF(call.udaf());
            return Ok(Chosen { definition, arguments: argument_expressions(arguments), result });
        }
        let name = function.call.fun.name().to_uppercase();
        let udwf = match name.as_str() {
            "ROW_NUMBER" => row_number::row_number_udwf(),
            "RANK" => rank::rank_udwf(),
            "DENSE_RANK" => rank::dense_rank_udwf(),
            "PERCENT_RANK" => rank::percent_rank_udwf(),
            "CUME_DIST" => cume_dist::cume_dist_udwf(),
            "NTILE" => ntile::ntile_udwf(),
            "LAG" => lead_lag::lag_udwf(),
            "LEAD" => lead_lag::lead_udwf(),
            _ => return Err(Error::unsupported(format!("{name} OVER in batch mode"))),
        };
        let empty = super::single_row()?;
        let skipped = arguments.len();
        for (index, constant) in params.args.iter().enumerate().skip(skipped) {
            let typed = self.compile_over(&empty, &DFSchema::empty(), constant)?;
            let mut value = constant_value(&typed.expr)?;
            if index == 1 || name == "NTILE" {
                value = value.cast_to(&DataType::Int64).map_err(from_datafusion)?;
            } else if let Some(first) = arguments.first() {
                value = value.cast_to(&first.sql_type.arrow()).map_err(from_datafusion)?;
            }
            arguments.push(Typed { expr: Arc::new(Literal::new(value)), sql_type: typed.sql_type });
        }
        let result = match (name.as_str(), arguments.first()) {
            ("LAG" | "LEAD", Some(first)) => first.sql_type.with_nullable(true),
            _ => function.sql_type.clone(),
        };
        let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
        Ok(Chosen { definition: WindowFunctionDefinition::WindowUDF(udwf), arguments, result })
    }
}

/// Results in the types of the query: DataFusion counts in unsigned numbers.
fn as_flink(rows: Rows, width: usize, functions: &[Function<'_>]) -> Result<Rows> {
    let schema = rows.schema();
    let columns = rows
        .types
        .iter()
        .enumerate()
        .map(|(index, sql_type)| {
            let mut column = Typed::column(index, &schema, sql_type);
            if let Some(function) = index.checked_sub(width).and_then(|index| functions.get(index)) {
                let wanted = function.sql_type.arrow();
                if *schema.field(index).data_type() != wanted {
                    column.expr = Arc::new(CastExpr::new(column.expr, wanted, None));
                }
                column.sql_type = function.sql_type.clone();
            }
            // Names stay different, for several sortings one after the other.
            let name = if index < width { schema.field(index).name().clone() } else { format!("$column{index}") };
            (column, name)
        })
        .collect();
    project(&rows, columns)
}

fn function_of(expr: &Expr) -> Result<&WindowFunction> {
    match expr {
        Expr::Alias(alias) => function_of(&alias.expr),
        Expr::WindowFunction(call) => Ok(call),
        other => Err(Error::unsupported(format!("{other} OVER in batch mode"))),
    }
}

/// LAG and LEAD.
fn is_shift(function: &Function<'_>) -> bool {
    matches!(function.call.fun.name(), "LAG" | "LEAD")
}

fn constant_value(expr: &Arc<dyn PhysicalExpr>) -> Result<ScalarValue> {
    use datafusion_expr::ColumnarValue;
    let one = crate::expression::record_batch(&Arc::new(Schema::empty()), Vec::new(), 1)?;
    match expr.evaluate(&one).map_err(from_datafusion)? {
        ColumnarValue::Scalar(value) => Ok(value),
        ColumnarValue::Array(array) => ScalarValue::try_from_array(&array, 0).map_err(from_datafusion),
    }
}

/// A frame whose bounds are of the type that DataFusion adds to the sort key.
fn frame(frame: &WindowFrame, key: Option<&DataType>) -> Result<WindowFrame> {
    let bound = |bound: &WindowFrameBound| -> Result<WindowFrameBound> {
        Ok(match bound {
            WindowFrameBound::CurrentRow => WindowFrameBound::CurrentRow,
            WindowFrameBound::Preceding(value) => WindowFrameBound::Preceding(distance(value, frame.units, key)?),
            WindowFrameBound::Following(value) => WindowFrameBound::Following(distance(value, frame.units, key)?),
        })
    };
    Ok(WindowFrame::new_bounds(frame.units, bound(&frame.start_bound)?, bound(&frame.end_bound)?))
}

fn distance(value: &ScalarValue, units: WindowFrameUnits, key: Option<&DataType>) -> Result<ScalarValue> {
    let failed = || Error::unsupported(format!("the frame bound {value} in batch mode"));
    match (units, key) {
        (WindowFrameUnits::Rows | WindowFrameUnits::Groups, _) => {
            value.cast_to(&DataType::UInt64).map_err(|_| failed())
        }
        (WindowFrameUnits::Range, _) if value.is_null() => Ok(value.clone()),
        (WindowFrameUnits::Range, Some(DataType::Timestamp(unit, _))) => {
            // The binder writes every interval in milliseconds.
            let text = value.to_string();
            let size = text.strip_suffix(" MILLISECOND").and_then(|size| size.parse().ok()).ok_or_else(failed)?;
            ScalarValue::DurationMillisecond(Some(size)).cast_to(&DataType::Duration(*unit)).map_err(|_| failed())
        }
        (WindowFrameUnits::Range, Some(key)) => value.cast_to(key).map_err(|_| failed()),
        (WindowFrameUnits::Range, None) => Err(failed()),
    }
}
