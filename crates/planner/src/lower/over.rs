//! OVER windows: one operator for all calls of a window.

use super::builder::{Builder, Draft, Identity, Relation, column_identity, columns, short_hash};
use super::over_codes as codes;
use super::query::{align, names};
use crate::bridge::flink_aggregate;
use crate::changelog::updating_operator;
use crate::expression::{self, Tree};
use crate::window_functions::{WindowFunction as Ranked, flink_window};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use base::function::{AggregateFunction, AggregateOptions};
use base::plan::{
    AggregateCall, Distribution, Edge, Node, NodeId, NodeKind, Output, OverAggregate, OverCall, OverFrame,
    OverFunction, OverTime, SortKey,
};
use base::{ChangelogMode, Error, ErrorCode, Field, Result, RowType, SqlType, TimeAttribute};
use datafusion_common::{DFSchema, ScalarValue};
use datafusion_expr::expr::{Sort, WindowFunction};
use datafusion_expr::logical_plan::{LogicalPlan, Window};
use datafusion_expr::{Expr, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition};
use std::fmt::Display;
use std::sync::Arc;

/// What a call computes, over trees.
enum Computed {
    Aggregate(Arc<dyn AggregateFunction>, Vec<Tree>, Option<Tree>, bool),
    RowNumber,
    Rank,
    DenseRank,
    Lag(Tree, i64, Option<Tree>),
}

/// The columns that the operator reads: those of its input, then what is computed for it.
struct Reads {
    trees: Vec<Tree>,
    names: Vec<String>,
}

impl Reads {
    fn place(&mut self, tree: &Tree, own: &[String]) -> usize {
        let text = expression::digest(tree, &[]);
        if let Some(known) = self.trees.iter().position(|known| expression::digest(known, &[]) == text) {
            return known;
        }
        self.trees.push(tree.clone());
        self.names.push(expression::sql(tree, own));
        self.trees.len() - 1
    }
}

/// What all calls of a window have in common.
struct Specification {
    partition: Vec<Tree>,
    order: Tree,
    nulls_first: bool,
    time: Option<TimeAttribute>,
    frame: OverFrame,
}

impl Builder<'_> {
    /// The relation of window functions: the columns of the input, then one per call.
    ///
    /// # Errors
    /// Windows that Flink's streaming mode does not compute.
    pub fn over(&mut self, window: &Window) -> Result<Relation> {
        let calls = window.window_expr.iter().map(window_call).collect::<Result<Vec<_>>>()?;
        if let Some(inner) = window_below(&window.input) {
            let inner = inner.window_expr.first().map(window_call).transpose()?;
            return Err(several(inner.or(calls.first().copied()), calls.first().copied()));
        }
        let Some(&first) = calls.first() else { return Err(Error::internal("a window without a function")) };
        let input = self.lower(&window.input)?;
        let schema = window.input.schema();
        let specification = self.specification(&input, schema, first)?;
        for &call in &calls {
            if !same_window(first, call) {
                return Err(several(Some(first), Some(call)));
            }
        }
        let computed =
            calls.iter().map(|call| self.computed(&input, schema, call, &specification)).collect::<Result<Vec<_>>>()?;
        let own: Vec<String> = input.fields.iter().map(|field| field.name.clone()).collect();
        let width = own.len();
        let mut reads = Reads { trees: columns(&input.fields), names: own.clone() };
        let partition: Vec<usize> = specification.partition.iter().map(|tree| reads.place(tree, &own)).collect();
        let order = reads.place(&specification.order, &own);
        let is_updating = specification.time.is_none();
        let retract = !matches!(specification.frame, OverFrame::Rows(None) | OverFrame::Range(None));
        let types: Vec<SqlType> =
            window.schema.fields().iter().skip(width).map(|field| SqlType::from_arrow(field)).collect::<Result<_>>()?;
        let mut planned = Vec::with_capacity(calls.len());
        for (call, result) in computed.iter().zip(types) {
            planned.push(plan_call(call, result, retract, &mut reads, &own)?);
        }
        let results = planned.len();
        if is_updating {
            count_values(&computed, &mut planned, &mut reads, &own)?;
        }
        let before = self.project(input, reads.trees, reads.names)?;
        let node = self.node(before)?;
        let time = match specification.time {
            Some(TimeAttribute::Rowtime) => OverTime::Rowtime(order),
            Some(TimeAttribute::Proctime) => OverTime::Proctime,
            None => OverTime::None,
        };
        self.check_updates(node, time, order, first)?;
        let over = OverAggregate {
            partition,
            order: vec![SortKey { column: order, descending: false, nulls_first: specification.nulls_first }],
            time,
            frame: specification.frame,
            calls: planned,
            state_ttl: self.context.config.state_ttl,
        };
        let read = self.fields(node).len();
        let node = self.over_node(node, over);
        let all = columns(self.fields(node));
        let places = (0..width).chain(read..read + results);
        let fields = places.clone().zip(names(&window.schema));
        let fields = fields.map(|(place, name)| Field { name, ..self.fields(node)[place].clone() }).collect();
        let projection = places.map(|place| all[place].clone()).collect();
        Ok(Relation { projection, fields, ..self.relation(node) })
    }

    fn specification(&self, input: &Relation, schema: &DFSchema, call: &WindowFunction) -> Result<Specification> {
        let shown = shown(call);
        let order_by = &call.params.order_by;
        let [order] = order_by.as_slice() else {
            let found = match order_by.as_slice() {
                [] => String::new(),
                several => {
                    format!("ORDER BY {}", several.iter().map(|key| plain(&key.expr)).collect::<Vec<_>>().join(", "))
                }
            };
            return Err(refusal(&codes::OVER_ORDER, &[("call", &shown), ("found", &found)]));
        };
        let tree = self.compile_one(input, schema, &order.expr)?;
        let column = plain(&order.expr);
        if tree.is_constant() {
            let found = format!("ORDER BY {column}");
            return Err(refusal(&codes::OVER_ORDER, &[("call", &shown), ("found", &found)]));
        }
        if !order.asc {
            return Err(refusal(&codes::OVER_DESCENDING, &[("call", &shown), ("column", &column)]));
        }
        let time = tree.as_column().and_then(|index| input.fields.get(index)).and_then(|field| field.time);
        let frame = frame_of(call, time, &column)?;
        let partition = self.compile_all(input, schema, &call.params.partition_by)?;
        Ok(Specification { partition, order: tree, nulls_first: order.nulls_first, time, frame })
    }

    fn computed(
        &self,
        input: &Relation,
        schema: &DFSchema,
        call: &WindowFunction,
        specification: &Specification,
    ) -> Result<Computed> {
        let mut arguments = self.compile_all(input, schema, &call.params.args)?;
        let function = match &call.fun {
            WindowFunctionDefinition::AggregateUDF(udf) => {
                let function = flink_aggregate(udf)
                    .ok_or_else(|| Error::internal(format!("{} is not one of our aggregates", udf.name())))?;
                if function.name() == "COUNT" && !call.params.distinct && arguments.iter().all(is_present) {
                    arguments.clear();
                }
                let filter = call.params.filter.as_ref();
                let filter = filter.map(|filter| self.compile_one(input, schema, filter)).transpose()?;
                return Ok(Computed::Aggregate(function.clone(), arguments, filter, call.params.distinct));
            }
            WindowFunctionDefinition::WindowUDF(udf) => flink_window(udf)
                .ok_or_else(|| Error::internal(format!("{} is not one of our window functions", udf.name())))?,
        };
        let refused = |code: &'static base::ErrorCode| refusal(code, &[("name", &function.name())]);
        match function {
            Ranked::RowNumber => Ok(Computed::RowNumber),
            Ranked::Rank => Ok(Computed::Rank),
            Ranked::DenseRank => Ok(Computed::DenseRank),
            Ranked::PercentRank | Ranked::CumeDist | Ranked::Ntile => Err(refused(&codes::OVER_PARTITION)),
            Ranked::Lead => Err(refused(&codes::OVER_FUTURE)),
            Ranked::Lag if specification.time.is_none() => Err(refused(&codes::OVER_LAG_ORDER)),
            Ranked::Lag => {
                let mut arguments = arguments.into_iter();
                let value = arguments.next().ok_or_else(|| Error::internal("LAG without arguments"))?;
                let offset = arguments.next().map_or(Ok(1), |offset| lag_offset(&offset, &call.params.args))?;
                let default = arguments.next().filter(|default| !is_null(default)).map(|mut default| {
                    align(&mut default, &value.sql_type());
                    default
                });
                Ok(Computed::Lag(value, offset, default))
            }
        }
    }

    /// A window over time gives rows once: its input must not update them.
    fn check_updates(&self, node: NodeId, time: OverTime, order: usize, call: &WindowFunction) -> Result<()> {
        if time == OverTime::None || self.output(node).changelog.is_append_only() {
            return Ok(());
        }
        let cause = updating_operator(&self.drafts, node);
        let column = &self.fields(node)[order].name;
        Err(refusal(&codes::OVER_UPDATES, &[("call", &shown(call)), ("column", column), ("cause", &cause)]))
    }

    fn over_node(&mut self, input: NodeId, over: OverAggregate) -> NodeId {
        let below = self.identity(input).clone();
        let mut fields = self.fields(input).to_vec();
        let calls = over.calls.iter().enumerate();
        fields.extend(calls.map(|(index, call)| Field::new(format!("w0$o{index}"), call.result.clone())));
        let names = |columns: &[usize]| -> String {
            columns.iter().map(|&column| below.columns[column].as_str()).collect::<Vec<_>>().join(", ")
        };
        let order: Vec<usize> = over.order.iter().map(|key| key.column).collect();
        let partition = names(&over.partition);
        let window = format!(
            "partition=[{partition}], order=[{}{} {}], frame={:?}",
            names(&order),
            if over.order.iter().all(|key| key.nulls_first) { "" } else { " NULLS LAST" },
            match over.time {
                OverTime::Rowtime(_) => "rowtime",
                OverTime::Proctime => "proctime",
                OverTime::None => "value",
            },
            over.frame
        );
        let texts: Vec<String> = over.calls.iter().map(|call| call_text(call, &below.columns)).collect();
        // As many rows are kept as LAG looks back.
        let back = over.calls.iter().filter_map(|call| match &call.function {
            OverFunction::Shift { offset, .. } => Some(*offset),
            _ => None,
        });
        let digest = format!("OverAggregate({window}, back={:?}, input={})", back.max(), below.rows);
        let anchor = format!("over-{}", short_hash(&format!("{window} {}", below.anchor)));
        let mut identities = below.columns.clone();
        identities.extend(texts.into_iter().map(|text| column_identity(format!("{text} over {window}"))));
        let upsert_keys = over_keys(self.output(input), &over.partition);
        let draft = Draft {
            spread: Some(over.partition.clone()),
            node: Node {
                operator_id: anchor.clone(),
                inputs: vec![Edge { node: input, distribution: Distribution::Hash(over.partition.clone()) }],
                output: Output { row: RowType::new(fields), changelog: ChangelogMode::APPEND, upsert_keys },
                kind: NodeKind::OverAggregate(over),
                digest,
            },
            // Rows come and go as those of the input do; those that are late are left out.
            identity: Identity {
                rows: short_hash(&format!("over {window} {}", below.rows)),
                columns: identities,
                anchor,
            },
        };
        self.push(draft, true)
    }
}

/// The keys of an OVER's rows. A row that changes may come in another partition before it goes in the one where it was.
fn over_keys(input: &Output, partition: &[usize]) -> Vec<Vec<usize>> {
    let with_partition = |key: &Vec<usize>| {
        let added = partition.iter().copied().filter(|column| !key.contains(column));
        key.iter().copied().chain(added).collect()
    };
    match input.changelog.is_append_only() {
        true => input.upsert_keys.clone(),
        false => input.upsert_keys.iter().map(with_partition).collect(),
    }
}

fn refusal(code: &'static ErrorCode, arguments: &[(&'static str, &dyn Display)]) -> Error {
    Error::new(code, arguments)
}

fn window_call(expr: &Expr) -> Result<&WindowFunction> {
    match expr {
        Expr::Alias(alias) => window_call(&alias.expr),
        Expr::WindowFunction(call) => Ok(call),
        other => Err(Error::internal(format!("{other} is no window function"))),
    }
}

/// Another window of the same SELECT: those of an inner query have names, so that they stand behind a projection with
/// aliases.
fn window_below(plan: &LogicalPlan) -> Option<&Window> {
    match plan {
        LogicalPlan::Window(window) => Some(window),
        LogicalPlan::Projection(projection) if projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_))) => {
            window_below(&projection.input)
        }
        _ => None,
    }
}

fn several(first: Option<&WindowFunction>, second: Option<&WindowFunction>) -> Error {
    let text = |call: Option<&WindowFunction>| call.map_or_else(String::new, window_text);
    refusal(&codes::SEVERAL_WINDOWS, &[("first", &text(first)), ("second", &text(second))])
}

/// An expression for people.
fn plain(expr: &Expr) -> String {
    match expr {
        Expr::Column(column) => column.name.clone(),
        other => other.human_display().to_string(),
    }
}

/// A call for people, without its window.
fn shown(call: &WindowFunction) -> String {
    let arguments: Vec<String> = call.params.args.iter().map(plain).collect();
    let inside = match (call.fun.name(), arguments.is_empty()) {
        ("COUNT", true) => "*".to_string(),
        _ => arguments.join(", "),
    };
    format!("{}({}{inside})", call.fun.name(), if call.params.distinct { "DISTINCT " } else { "" })
}

/// A window for people.
fn window_text(call: &WindowFunction) -> String {
    let list = |exprs: &[Expr]| exprs.iter().map(plain).collect::<Vec<_>>().join(", ");
    let order = |keys: &[Sort]| {
        keys.iter().map(|key| format!("{}{}", plain(&key.expr), if key.asc { "" } else { " DESC" })).collect::<Vec<_>>()
    };
    let mut parts = Vec::new();
    if !call.params.partition_by.is_empty() {
        parts.push(format!("PARTITION BY {}", list(&call.params.partition_by)));
    }
    if !call.params.order_by.is_empty() {
        parts.push(format!("ORDER BY {}", order(&call.params.order_by).join(", ")));
    }
    parts.push(frame_text(&effective_frame(call)));
    format!("{} OVER ({})", shown(call), parts.join(" "))
}

fn frame_text(frame: &WindowFrame) -> String {
    let bound = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(ScalarValue::Utf8(Some(size))) => match interval_ms(size) {
            Some(ms) => format!("INTERVAL {} PRECEDING", super::builder::duration(ms)),
            None => format!("{size} PRECEDING"),
        },
        other => other.to_string(),
    };
    format!("{} BETWEEN {} AND {}", frame.units, bound(&frame.start_bound), bound(&frame.end_bound))
}

/// The frame that a call has: functions of the order alone have one of their own.
fn effective_frame(call: &WindowFunction) -> WindowFrame {
    let unbounded = |units| {
        let start = WindowFrameBound::Preceding(ScalarValue::UInt64(None));
        WindowFrame::new_bounds(units, start, WindowFrameBound::CurrentRow)
    };
    match &call.fun {
        WindowFunctionDefinition::WindowUDF(udf) => match flink_window(udf) {
            Some(Ranked::RowNumber) => unbounded(WindowFrameUnits::Rows),
            _ => unbounded(WindowFrameUnits::Range),
        },
        WindowFunctionDefinition::AggregateUDF(_) => call.params.window_frame.clone(),
    }
}

fn same_window(left: &WindowFunction, right: &WindowFunction) -> bool {
    left.params.partition_by == right.params.partition_by
        && left.params.order_by == right.params.order_by
        && effective_frame(left) == effective_frame(right)
}

fn frame_of(call: &WindowFunction, time: Option<TimeAttribute>, column: &str) -> Result<OverFrame> {
    let frame = effective_frame(call);
    let (text, shown) = (frame_text(&frame), shown(call));
    let refused = || refusal(&codes::OVER_FRAME, &[("call", &shown), ("frame", &text)]);
    if frame.end_bound != WindowFrameBound::CurrentRow {
        return Err(refused());
    }
    let WindowFrameBound::Preceding(size) = &frame.start_bound else { return Err(refused()) };
    let bounded = |frame: OverFrame| match time {
        Some(_) => Ok(frame),
        None => {
            let arguments: [(&'static str, &dyn Display); 3] =
                [("call", &shown), ("column", &column), ("frame", &text)];
            Err(refusal(&codes::OVER_BOUNDED, &arguments))
        }
    };
    match (frame.units, size) {
        (WindowFrameUnits::Rows, size) if size.is_null() => Ok(OverFrame::Rows(None)),
        (WindowFrameUnits::Range, size) if size.is_null() => Ok(OverFrame::Range(None)),
        (WindowFrameUnits::Rows, ScalarValue::UInt64(Some(rows))) => bounded(OverFrame::Rows(Some(*rows))),
        (WindowFrameUnits::Range, ScalarValue::Utf8(Some(size))) => match interval_ms(size) {
            Some(ms) => bounded(OverFrame::Range(Some(ms))),
            None => bounded(OverFrame::Range(Some(0))).and_then(|_| {
                let arguments: [(&'static str, &dyn Display); 3] =
                    [("call", &shown), ("column", &column), ("frame", &text)];
                Err(refusal(&codes::OVER_RANGE, &arguments))
            }),
        },
        _ => Err(refused()),
    }
}

/// The size of a frame that was written as an interval.
fn interval_ms(size: &str) -> Option<i64> {
    size.strip_suffix(" MILLISECOND")?.parse().ok()
}

fn is_present(tree: &Tree) -> bool {
    matches!(tree, Tree::Literal { value, .. } if !value.is_null(0))
}

fn is_null(tree: &Tree) -> bool {
    matches!(tree, Tree::Literal { value, .. } if value.is_null(0))
}

fn lag_offset(tree: &Tree, written: &[Expr]) -> Result<i64> {
    let constant = match tree {
        Tree::Literal { value, .. } if !value.is_null(0) => arrow::compute::cast(value, &DataType::Int64).ok(),
        _ => None,
    };
    match constant.map(|value| value.as_primitive::<Int64Type>().value(0)) {
        Some(offset) if offset >= 0 => Ok(offset),
        _ => {
            let offset = written.get(1).map_or_else(String::new, plain);
            Err(refusal(&codes::LAG_OFFSET, &[("name", &"LAG"), ("offset", &offset)]))
        }
    }
}

fn plan_call(call: &Computed, result: SqlType, retract: bool, reads: &mut Reads, own: &[String]) -> Result<OverCall> {
    let text = |tree: &Tree| expression::sql(tree, own);
    let (function, sql) = match call {
        Computed::Aggregate(function, arguments, filter, distinct) => {
            let texts: Vec<String> = arguments.iter().map(text).collect();
            let inside = if texts.is_empty() { "*".to_string() } else { texts.join(", ") };
            let sql = format!("{}({}{inside})", function.name(), if *distinct { "DISTINCT " } else { "" });
            let call = AggregateCall {
                function: function.clone(),
                arguments: arguments.iter().map(|tree| reads.place(tree, own)).collect(),
                filter: filter.as_ref().map(|tree| reads.place(tree, own)),
                options: AggregateOptions { distinct: *distinct, retract },
                sql: sql.clone(),
            };
            (OverFunction::Aggregate(call), sql)
        }
        Computed::RowNumber => (OverFunction::RowNumber, "ROW_NUMBER(*)".to_string()),
        Computed::Rank => (OverFunction::Rank, "RANK(*)".to_string()),
        Computed::DenseRank => (OverFunction::DenseRank, "DENSE_RANK(*)".to_string()),
        Computed::Lag(value, offset, default) => {
            let mut texts = vec![text(value), offset.to_string()];
            texts.extend(default.iter().map(text));
            let default = default.as_ref().map(|tree| reads.place(tree, own));
            let shift = OverFunction::Shift { argument: reads.place(value, own), offset: *offset, default };
            (shift, format!("LAG({})", texts.join(", ")))
        }
    };
    Ok(OverCall { function, result, sql })
}

/// What Flink computes besides, where results are updated: a sum whose number of values changes is a change, although
/// it stays the same.
fn count_values(computed: &[Computed], planned: &mut Vec<OverCall>, reads: &mut Reads, own: &[String]) -> Result<()> {
    for call in computed {
        let Computed::Aggregate(function, arguments, filter, distinct) = call else { continue };
        let nullable = arguments.iter().any(|argument| argument.sql_type().nullable);
        let names: &[&str] = match function.name() {
            "SUM" if nullable => &["COUNT"],
            "AVG" => &["COUNT", "SUM"],
            _ => &[],
        };
        for name in names {
            let function = functions::aggregate(name).ok_or_else(|| Error::internal(format!("{name} is missing")))?;
            let types: Vec<SqlType> = arguments.iter().map(Tree::sql_type).collect();
            let result = function.return_type(&types)?;
            let call = Computed::Aggregate(function, arguments.clone(), filter.clone(), *distinct);
            let call = plan_call(&call, result, false, reads, own)?;
            if planned.iter().all(|known| known.sql != call.sql) {
                planned.push(call);
            }
        }
    }
    Ok(())
}

/// A call as text over named columns.
fn call_text(call: &OverCall, names: &[String]) -> String {
    let name = |column: usize| names[column].as_str();
    match &call.function {
        OverFunction::Aggregate(call) => {
            let arguments: Vec<&str> = call.arguments.iter().map(|&column| name(column)).collect();
            let distinct = if call.options.distinct { "DISTINCT " } else { "" };
            let filter = call.filter.map_or(String::new(), |column| format!(" FILTER {}", name(column)));
            format!("{}({distinct}{}){filter}", call.function.name(), arguments.join(", "))
        }
        OverFunction::Shift { argument, offset, default } => {
            format!("LAG({}, {offset}, {})", name(*argument), default.map_or("NULL", name))
        }
        _ => call.sql.clone(),
    }
}

#[cfg(test)]
#[path = "over_tests.rs"]
mod tests;
