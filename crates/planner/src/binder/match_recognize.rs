//! MATCH_RECOGNIZE: from FROM to a plan node.
//!
//! Before anything else is rewritten, functions that only exist inside get names of their own ([`prepare`]). Then expressions are
//! bound over the rows of a match: the columns of the input once per variable, and once for columns without one.

use super::analyze::replace_literals;
use super::coerce::{as_condition, coerce_expression, sql_type_of};
use super::errors::unknown_column;
use super::match_codes as codes;
use super::rewrite::{call, call_arguments, function_name};
use super::windows::interval_ms;
use crate::bridge::external;
use crate::literal::as_literal;
use crate::nodes::match_recognize::{ANY_VARIABLE, Clauses, MatchNode, Measure, MeasureType, Order, Skip, Variable};
use crate::pattern_functions::{FIRST, LAST, ROWTIME, ROWTIME_OF};
use crate::time_functions::PROCESSING_TIME;
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use base::function::FunctionContext;
use base::{Error, ErrorCode, Field, TimeAttribute};
use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_common::{Column, DFSchema, DFSchemaRef, Result, ScalarValue, TableReference};
use datafusion_expr::planner::RelationPlannerContext;
use datafusion_expr::{Expr, LogicalPlan};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::ast::{
    self, AfterMatchSkip, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, MatchRecognizePattern,
    MatchRecognizeSymbol, OrderByExpr, RepetitionQuantifier, RowsPerMatch, SymbolDefinition, TableFactor,
    visit_expressions_mut,
};
use syntax::dialect::{SUBQUERY, WITHIN};

/// PREV and NEXT where they are refused, with their call as it is written.
const PHYSICAL: [&str; 2] = ["PREV", "NEXT"];
/// Functions of the standard that Flink has not.
const REFUSED: [&str; 2] = ["CLASSIFIER", "MATCH_NUMBER"];

fn refused(code: &'static ErrorCode, arguments: &[(&'static str, &dyn Display)]) -> Error {
    Error::new(code, arguments)
}

/// Gives the functions of MATCH_RECOGNIZE names that no other rule knows.
///
/// # Errors
/// Clauses and functions that are refused by name.
pub fn prepare(factor: &mut TableFactor) -> base::Result<()> {
    let TableFactor::MatchRecognize { table, measures, rows_per_match, pattern, symbols, .. } = factor else {
        return Ok(());
    };
    if let TableFactor::Table { name, args: Some(arguments), .. } = table.as_ref()
        && name.to_string() == SUBQUERY
        && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Subquery(subquery)))] = arguments.args.as_slice()
    {
        let subquery = subquery.clone();
        **table = TableFactor::Derived { lateral: false, subquery, alias: None, sample: None };
    }
    if let Some(RowsPerMatch::AllRows(_)) = rows_per_match {
        return Err(refused(&codes::MATCH_FEATURE, &[("feature", &"ALL ROWS PER MATCH")]));
    }
    if measures.is_empty() {
        return Err(refused(&codes::MATCH_FEATURE, &[("feature", &"0 MEASURES")]));
    }
    variables(pattern)?;
    let measures = measures.iter_mut().map(|measure| &mut measure.expr);
    for expr in measures.chain(symbols.iter_mut().map(|symbol| &mut symbol.definition)) {
        let mut error = None;
        let _ = visit_expressions_mut(expr, |expr| match rename(expr) {
            Ok(()) => ControlFlow::Continue(()),
            Err(found) => {
                error = Some(found);
                ControlFlow::Break(())
            }
        });
        error.map_or(Ok(()), Err)?;
    }
    Ok(())
}

fn rename(expr: &mut ast::Expr) -> base::Result<()> {
    let shown = expr.to_string();
    let ast::Expr::Function(function) = expr else { return Ok(()) };
    let Some(name) = function_name(function) else { return Ok(()) };
    let arguments = call_arguments(function);
    let to = match name.as_str() {
        "FIRST" => FIRST,
        "LAST" => LAST,
        "MATCH_ROWTIME" if arguments.is_empty() => ROWTIME,
        "MATCH_ROWTIME" => ROWTIME_OF,
        "MATCH_PROCTIME" => "PROCTIME",
        // The row itself.
        "PREV" if matches!(arguments.as_slice(), [_, (None, offset)] if offset.to_string() == "0") => LAST,
        other if PHYSICAL.contains(&other) => return Err(refused(&codes::MATCH_PHYSICAL, &[("call", &shown)])),
        other if REFUSED.contains(&other) => return Err(refused(&codes::MATCH_FEATURE, &[("feature", &shown)])),
        _ => return Ok(()),
    };
    if let FunctionArguments::List(list) = &function.args
        && list.duplicate_treatment.is_some()
    {
        return Err(refused(&codes::MATCH_FEATURE, &[("feature", &shown)]));
    }
    let arguments = arguments.into_iter().map(|(_, argument)| argument).collect();
    *expr = call(to, arguments);
    Ok(())
}

/// MATCH_RECOGNIZE as it is written, without its table and alias.
pub struct Written {
    /// PARTITION BY.
    pub partition_by: Vec<ast::Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderByExpr>,
    /// MEASURES.
    pub measures: Vec<ast::Measure>,
    /// AFTER MATCH.
    pub after_match_skip: Option<AfterMatchSkip>,
    /// PATTERN.
    pub pattern: MatchRecognizePattern,
    /// DEFINE, with WITHIN among it.
    pub symbols: Vec<SymbolDefinition>,
}

/// The plan of MATCH_RECOGNIZE over `input`.
///
/// # Errors
/// What Flink refuses, by name.
pub fn plan(
    input: LogicalPlan,
    written: Written,
    functions: &FunctionContext,
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    let schema = input.schema().clone();
    let (within, definitions): (Vec<_>, Vec<_>) =
        written.symbols.into_iter().partition(|symbol| symbol.symbol.value == WITHIN);
    let within_ms = within.into_iter().next().map(|within| within_ms(within.definition, context)).transpose()?;
    let pattern = written.pattern.to_string();
    let mut variables = variables(&written.pattern).map_err(external)?;
    let skip = skip(written.after_match_skip, &variables).map_err(external)?;
    let partition = written
        .partition_by
        .into_iter()
        .map(|expr| column_of(expr, "PARTITION BY", &schema, context))
        .collect::<Result<Vec<_>>>()?;
    let order = order(written.order_by, &schema, context)?;
    let time = time_of(&order, &schema)?;

    let defined = definitions.iter().map(|definition| definition.symbol.value.clone());
    let mut names: Vec<String> = variables.iter().map(|variable| variable.name.clone()).collect();
    // A variable that is defined but not in the pattern does nothing; its condition must still be right.
    let unused: Vec<String> = defined.filter(|name| !names.contains(name)).collect();
    names.extend(unused.iter().cloned());
    let columns: Vec<Column> = schema.iter().map(Column::from).collect();
    let binding = Binding { functions, names: &names, columns: &columns, time: &time };
    for definition in definitions {
        let rows = binding.rows(&schema, |_| true)?;
        let condition = binding.bind(definition.definition, &rows, context)?;
        let condition = as_condition(condition, "DEFINE", &rows)?;
        if let Some(variable) = variables.iter_mut().find(|variable| variable.name == definition.symbol.value) {
            variable.condition = Some(condition);
        }
    }
    // In a match, a variable that is not optional has a row.
    let is_optional = |name: &str| {
        name != ANY_VARIABLE && variables.iter().find(|known| known.name == name).is_none_or(|known| known.min == 0)
    };
    let rows = binding.rows(&schema, is_optional)?;
    let mut measures = Vec::with_capacity(written.measures.len());
    for measure in written.measures {
        let expr = binding.bind(measure.expr, &rows, context)?;
        let sql_type = MeasureType { sql_type: sql_type_of(&expr, &rows)?, time: time_attribute(&expr, &rows)? };
        measures.push(Measure { name: measure.alias.value, expr, sql_type });
    }
    let clauses = Clauses { partition, order, measures, skip, variables, pattern, within_ms };
    Ok(MatchNode::try_new(Arc::new(input), clauses, rows, columns)?.into_plan())
}

fn within_ms(expr: ast::Expr, context: &mut dyn RelationPlannerContext) -> Result<i64> {
    let expr = context.sql_to_expr(expr, &DFSchema::empty())?;
    let found = super::windows::plain_sql(&expr);
    interval_ms(&expr)
        .filter(|within_ms| *within_ms > 0)
        .ok_or_else(|| external(refused(&codes::MATCH_WITHIN, &[("found", &found)])))
}

fn column_of(
    expr: ast::Expr,
    clause: &str,
    schema: &DFSchema,
    context: &mut dyn RelationPlannerContext,
) -> Result<Column> {
    let shown = expr.to_string();
    match context.sql_to_expr(expr, schema)? {
        Expr::Column(column) => Ok(column),
        _ => Err(external(refused(&codes::MATCH_FEATURE, &[("feature", &format!("{clause} {shown}"))]))),
    }
}

fn order(
    order_by: Vec<OrderByExpr>,
    schema: &DFSchema,
    context: &mut dyn RelationPlannerContext,
) -> Result<Vec<Order>> {
    let mut order = Vec::with_capacity(order_by.len());
    for key in order_by {
        let descending = key.options.asc == Some(false);
        // NULL is the lowest value.
        let nulls_first = key.options.nulls_first.unwrap_or(!descending);
        let column = column_of(key.expr, "ORDER BY", schema, context)?;
        order.push(Order { column, descending, nulls_first });
    }
    Ok(order)
}

/// The time that orders rows: its field.
fn time_of(order: &[Order], schema: &DFSchema) -> Result<Field> {
    let wrong = |found: &str| external(refused(&codes::MATCH_ORDER, &[("found", &found)]));
    let Some(first) = order.first() else { return Err(wrong("-")) };
    let field = Field::from_arrow(schema.field(schema.index_of_column(&first.column)?)).map_err(external)?;
    if field.time.is_none() {
        return Err(wrong(&format!("{} {}", field.name, field.sql_type.logical)));
    }
    if first.descending {
        return Err(wrong(&format!("{} DESC", field.name)));
    }
    Ok(field)
}

fn skip(written: Option<AfterMatchSkip>, variables: &[Variable]) -> base::Result<Skip> {
    let place = |name: Ident| {
        let found = variables.iter().position(|variable| variable.name == name.value);
        found.ok_or_else(|| no_variable(&name.value, variables.iter().map(|variable| variable.name.as_str())))
    };
    Ok(match written {
        None | Some(AfterMatchSkip::ToNextRow) => Skip::ToNextRow,
        Some(AfterMatchSkip::PastLastRow) => Skip::PastLastRow,
        Some(AfterMatchSkip::ToFirst(name)) => Skip::ToFirst(place(name)?),
        Some(AfterMatchSkip::ToLast(name)) => Skip::ToLast(place(name)?),
    })
}

fn no_variable<'n>(name: &str, variables: impl Iterator<Item = &'n str>) -> Error {
    let variables = variables.collect::<Vec<_>>().join(", ");
    refused(&codes::MATCH_VARIABLE, &[("name", &name), ("variables", &variables)])
}

/// The variables of a pattern, one after the other.
fn variables(pattern: &MatchRecognizePattern) -> base::Result<Vec<Variable>> {
    let mut elements: Vec<(String, Variable)> = Vec::new();
    flatten(pattern, &mut elements)?;
    let mut seen = BTreeSet::new();
    for (element, variable) in &elements {
        if !seen.insert(&variable.name) {
            return Err(refused(&codes::MATCH_REPEATED, &[("name", &variable.name)]));
        }
        if variable.max.is_some_and(|most| most == 0 || most < variable.min) {
            return Err(refused(&codes::MATCH_QUANTIFIER, &[("element", element)]));
        }
    }
    for pair in elements.windows(2) {
        let [(previous, before), (element, variable)] = pair else { continue };
        let is_optional = variable.min == 0 && matches!(variable.max, None | Some(1));
        if before.is_greedy && is_optional {
            return Err(refused(&codes::MATCH_OPTIONAL, &[("element", element), ("previous", previous)]));
        }
    }
    if let Some((element, variable)) = elements.last()
        && variable.is_greedy
    {
        return Err(refused(&codes::MATCH_GREEDY_END, &[("element", element)]));
    }
    if elements.iter().all(|(_, variable)| variable.min == 0) {
        return Err(refused(&codes::MATCH_EMPTY, &[("pattern", pattern)]));
    }
    Ok(elements.into_iter().map(|(_, variable)| variable).collect())
}

fn flatten(pattern: &MatchRecognizePattern, elements: &mut Vec<(String, Variable)>) -> base::Result<()> {
    let (inner, quantifier) = match pattern {
        MatchRecognizePattern::Concat(parts) => return parts.iter().try_for_each(|part| flatten(part, elements)),
        MatchRecognizePattern::Group(inner) => return flatten(inner, elements),
        MatchRecognizePattern::Repetition(inner, quantifier) => (inner.as_ref(), Some(quantifier)),
        other => (other, None),
    };
    let wrong = || refused(&codes::MATCH_FEATURE, &[("feature", pattern)]);
    // `A+?` is read as `(A+)?`.
    let (inner, quantifier, is_reluctant) = match (inner, quantifier) {
        (MatchRecognizePattern::Repetition(inner, own), Some(RepetitionQuantifier::AtMostOne)) => {
            (inner.as_ref(), Some(own), true)
        }
        (inner, quantifier) => (inner, quantifier, false),
    };
    let name = symbol(inner).ok_or_else(wrong)?;
    let (min, max) = match quantifier {
        None => (1, Some(1)),
        Some(RepetitionQuantifier::ZeroOrMore) => (0, None),
        Some(RepetitionQuantifier::OneOrMore) => (1, None),
        Some(RepetitionQuantifier::AtMostOne) => (0, Some(1)),
        Some(RepetitionQuantifier::Exactly(rows)) => (*rows, Some(*rows)),
        Some(RepetitionQuantifier::AtLeast(rows)) => (*rows, None),
        Some(RepetitionQuantifier::AtMost(rows)) => (0, Some(*rows)),
        Some(RepetitionQuantifier::Range(least, most)) => (*least, Some(*most)),
    };
    if is_reluctant && (min, max) == (0, Some(1)) {
        return Err(wrong());
    }
    let is_greedy = !is_reluctant && max != Some(min) && (min, max) != (0, Some(1));
    elements.push((pattern.to_string(), Variable { name, min, max, is_greedy, condition: None }));
    Ok(())
}

/// The variable that a part of a pattern is, perhaps in parentheses.
fn symbol(pattern: &MatchRecognizePattern) -> Option<String> {
    match pattern {
        MatchRecognizePattern::Symbol(MatchRecognizeSymbol::Named(name)) => Some(name.value.clone()),
        MatchRecognizePattern::Group(inner) => symbol(inner),
        _ => None,
    }
}

/// What expressions over rows of a match can name.
struct Binding<'a> {
    functions: &'a FunctionContext,
    names: &'a [String],
    columns: &'a [Column],
    time: &'a Field,
}

impl Binding<'_> {
    /// The columns of the input once per variable.
    fn rows(&self, schema: &DFSchema, is_nullable: impl Fn(&str) -> bool) -> Result<DFSchemaRef> {
        let mut fields = Vec::new();
        for name in std::iter::once(ANY_VARIABLE).chain(self.names.iter().map(String::as_str)) {
            for field in schema.fields() {
                let nullable = field.is_nullable() || is_nullable(name);
                let field = Arc::new(field.as_ref().clone().with_nullable(nullable));
                fields.push((Some(TableReference::bare(name)), field));
            }
        }
        Ok(Arc::new(DFSchema::new_with_metadata(fields, schema.as_arrow().metadata().clone())?))
    }

    /// An expression over these rows.
    fn bind(&self, mut expr: ast::Expr, rows: &DFSchema, context: &mut dyn RelationPlannerContext) -> Result<Expr> {
        let mut error = None;
        let _ = visit_expressions_mut(&mut expr, |part| match self.qualify(part) {
            Ok(()) => ControlFlow::Continue(()),
            Err(found) => {
                error = Some(found);
                ControlFlow::Break(())
            }
        });
        error.map_or(Ok(()), |error| Err(external(error)))?;
        let expr = context.sql_to_expr(expr, rows)?;
        let expr = replace_literals(expr)?.data;
        let expr = coerce_expression(expr, rows, self.functions)?.data;
        check(&expr)?;
        sql_type_of(&expr, rows)?;
        Ok(expr)
    }

    /// Names the rows that a column is of, and checks that there is such a column.
    fn qualify(&self, expr: &mut ast::Expr) -> base::Result<()> {
        match expr {
            ast::Expr::Identifier(name) => {
                self.check_column(None, &name.value)?;
                *expr = ast::Expr::CompoundIdentifier(vec![Ident::with_quote('`', ANY_VARIABLE), name.clone()]);
            }
            ast::Expr::CompoundIdentifier(parts) => {
                let [variable, name, ..] = parts.as_mut_slice() else { return Ok(()) };
                if variable.value == ANY_VARIABLE {
                    return Ok(());
                }
                if self.names.contains(&variable.value) {
                    self.check_column(Some(&variable.value), &name.value)?;
                } else if self.columns.iter().any(|column| column.name == variable.value) {
                    // A field of a row.
                    parts.insert(0, Ident::with_quote('`', ANY_VARIABLE));
                } else {
                    return Err(no_variable(&variable.value, self.names.iter().map(String::as_str)));
                }
            }
            ast::Expr::Function(function) if function_name(function).as_deref() == Some(ROWTIME) => {
                if self.time.time != Some(TimeAttribute::Rowtime) {
                    let found = format!("{} PROCTIME", self.time.name);
                    return Err(refused(&codes::MATCH_ORDER, &[("found", &found)]));
                }
                if call_arguments(function).is_empty() {
                    let time = [ANY_VARIABLE, &self.time.name].map(|part| Ident::with_quote('`', part));
                    *expr = call(ROWTIME, vec![ast::Expr::CompoundIdentifier(time.to_vec())]);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check_column(&self, variable: Option<&str>, name: &str) -> base::Result<()> {
        if self.columns.iter().any(|column| column.name == name) {
            return Ok(());
        }
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        Err(unknown_column(variable, name, &names, &[]))
    }
}

/// The function that FIRST and LAST have become.
pub fn is_offset(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if [FIRST, LAST, ROWTIME, ROWTIME_OF].contains(&call.func.name()))
}

/// How many rows FIRST or LAST goes on, if that is a constant.
pub fn offset_of(arguments: &[Expr]) -> Option<u32> {
    let value = match arguments.get(1) {
        None => return Some(0),
        Some(Expr::Literal(value, _)) => value.clone(),
        Some(Expr::ScalarFunction(call)) => as_literal(&call.func)?.value.clone(),
        Some(_) => return None,
    };
    let value = value.cast_to(&arrow::datatypes::DataType::Int64).ok()?;
    let array = value.to_array_of_size(1).ok()?;
    match value {
        ScalarValue::Int64(Some(_)) => u32::try_from(array.as_primitive::<Int64Type>().value(0)).ok(),
        _ => None,
    }
}

/// Refuses calls that go over rows in ways that are not possible.
fn check(expr: &Expr) -> Result<()> {
    expr.apply(|part| {
        let arguments: &[Expr] = match part {
            Expr::AggregateFunction(call) if call.params.distinct || call.params.filter.is_some() => {
                return Err(external(refused(&codes::MATCH_FEATURE, &[("feature", &shown(part))])));
            }
            Expr::AggregateFunction(call) => &call.params.args,
            Expr::ScalarFunction(call) if is_offset(part) => {
                if offset_of(&call.args).is_none() || call.args.len() > 2 {
                    return Err(external(refused(&codes::MATCH_FEATURE, &[("feature", &shown(part))])));
                }
                &call.args
            }
            Expr::WindowFunction(_) => {
                return Err(external(refused(&codes::MATCH_FEATURE, &[("feature", &shown(part))])));
            }
            _ => return Ok(TreeNodeRecursion::Continue),
        };
        let mut variables = BTreeSet::new();
        for argument in arguments {
            variables.extend(argument.column_refs().into_iter().filter_map(|column| column.relation.clone()));
            argument.apply(|inner| match inner {
                Expr::AggregateFunction(_) => {
                    Err(external(refused(&codes::MATCH_FEATURE, &[("feature", &shown(part))])))
                }
                inner if is_offset(inner) => {
                    Err(external(refused(&codes::MATCH_FEATURE, &[("feature", &shown(part))])))
                }
                _ => Ok(TreeNodeRecursion::Continue),
            })?;
        }
        if variables.len() > 1 {
            let names = variables.iter().map(|variable| variable.table()).collect::<Vec<_>>().join(", ");
            let call = shown(part);
            return Err(external(refused(&codes::MATCH_SEVERAL, &[("call", &call), ("variables", &names)])));
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// An expression for people.
pub fn shown(expr: &Expr) -> String {
    let text = expr.human_display().to_string();
    let names =
        [(ROWTIME_OF, "MATCH_ROWTIME"), (ROWTIME, "MATCH_ROWTIME"), (FIRST, "FIRST"), (LAST, "LAST"), ("*.", "")];
    names.iter().fold(text, |text, (from, to)| text.replace(from, to))
}

/// Whether a measure is a time attribute: a rowtime column of a row, or the processing time.
fn time_attribute(expr: &Expr, rows: &DFSchema) -> Result<Option<TimeAttribute>> {
    let column = match expr {
        Expr::Column(column) => column,
        Expr::ScalarFunction(call) if call.func.name() == PROCESSING_TIME => return Ok(Some(TimeAttribute::Proctime)),
        Expr::ScalarFunction(call) if is_offset(expr) => match call.args.first() {
            Some(Expr::Column(column)) => column,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let field = Field::from_arrow(rows.field(rows.index_of_column(column)?)).map_err(external)?;
    Ok(field.time.filter(|time| *time == TimeAttribute::Rowtime))
}
