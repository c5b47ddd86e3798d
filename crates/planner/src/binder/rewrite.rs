//! The first step of binding: the syntax tree is rewritten into what `SqlToRel` understands as Flink means it.
//!
//! Literals become markers with Flink's types, forms with a syntax of their own become plain function calls, unnamed columns
//! get Flink's names (`EXPR$0`, `a0`), group windows become their markers, VALUES becomes a relation. What cannot be bound is refused
//! here by name, with its place.

use super::foreign::unknown_function;
use super::hints;
use super::literals;
use super::match_recognize;
use super::names::nested_aggregate;
use super::nulls;
use super::order;
use super::over;
use super::positions::{Places, Positions, locate};
use super::select;
use super::temporal;
use crate::cast::{CAST_PREFIX, TRY_CAST_PREFIX};
use crate::codes;
use crate::literal::Literal;
use crate::time_functions::{
    CURRENT_WATERMARK, PROCESSING_TIME, RAND, RAND_INTEGER, RANDOM, UNIX_TIME, UUID, WATERMARK, clock_function,
};
use crate::window_functions::WindowFunction;
use base::{Error, Result, SqlType};
use datafusion_expr::ScalarUDF;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::Span;
use syntax::ast::{
    AccessExpr, BinaryOperator, CastKind, CeilFloorKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, Query, SetExpr, Spanned, Subscript,
    TableAliasColumnDef, TableFactor, TableVersion, TableWithJoins, UnaryOperator, Value, VisitMut, VisitorMut,
};

/// The relation that VALUES becomes; its arguments are [`ROW_MARKER`] calls.
pub const VALUES_MARKER: &str = "$VALUES";
/// A row of [`VALUES_MARKER`].
pub const ROW_MARKER: &str = "$ROW";
/// Functions that only a group window gives a meaning.
pub const GROUP_WINDOWS: [&str; 3] = ["TUMBLE", "HOP", "SESSION"];
/// Access to an element of an array or a value of a map.
pub const ITEM_FUNCTION: &str = "ITEM";
/// Access to a field of a row by its name.
pub const FIELD_FUNCTION: &str = "FIELD";

/// A call of a function whose name is matched as it is.
pub fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let name = ObjectName::from(vec![Ident::with_quote('`', name)]);
    let arguments = arguments.into_iter().map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)));
    Expr::Function(table_function(name, arguments.collect()))
}

/// `FROM f(...)` as a call.
pub fn table_function(name: ObjectName, arguments: Vec<FunctionArg>) -> Function {
    Function {
        name,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

/// A string literal that is not rewritten yet.
pub fn text(text: impl Into<String>) -> Expr {
    Expr::Value(Value::SingleQuotedString(text.into()).into())
}

/// The name of a function in upper case, if it has one part.
pub fn function_name(function: &Function) -> Option<String> {
    match function.name.0.as_slice() {
        [part] => part.as_ident().map(|ident| ident.value.to_uppercase()),
        _ => None,
    }
}

/// Whether Flink refuses a bare NULL as an argument of a function. Some give it the type of another argument.
fn refuses_null(name: &str) -> bool {
    let takes = matches!(name, "COALESCE" | "IFNULL" | "NULLIF" | "GREATEST" | "LEAST" | "TYPEOF" | "ARRAY" | "MAP")
        || ["JSON_", "ARRAY_", "OBJECT_", "MAP_", "BITMAP_"].iter().any(|prefix| name.starts_with(prefix));
    // Operators stand among the functions too, by their symbols and words.
    let is_operator = name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    matches!(name, "ROW" | "ARRAY_AGG" | "JSON_ARRAYAGG")
        || !takes && !is_operator && (functions::scalar(name).is_some() || functions::aggregate(name).is_some())
}

/// The unnamed and named expression arguments of a call.
pub fn call_arguments(function: &Function) -> Vec<(Option<String>, Expr)> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    list.args
        .iter()
        .filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some((None, expr.clone())),
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(expr), .. } => {
                Some((Some(name.value.to_uppercase()), expr.clone()))
            }
            _ => None,
        })
        .collect()
}

/// Rewrites one statement.
pub struct Rewriter<'a> {
    /// Where the statement stands.
    pub positions: Option<&'a Positions<'a>>,
    /// Where its names stand.
    pub places: &'a Places,
    /// Its literals by the name of their marker.
    pub literals: HashMap<String, Arc<ScalarUDF>>,
    /// Aliases of SELECT that GROUP BY or HAVING seem to refer to: alias, clause, expression, place.
    pub hidden_aliases: Vec<(String, &'static str, String, Span)>,
    /// What CURRENT_DATABASE() gives.
    pub current_database: String,
    /// Things worth saying.
    pub warnings: Vec<Error>,
    /// Hints but OPTIONS.
    pub hints: Vec<syntax::Hint>,
    /// Whether the outermost query has been entered.
    inside_query: bool,
    error: Option<Error>,
}

type Flow = ControlFlow<()>;

impl<'a> Rewriter<'a> {
    /// A rewriter for one statement.
    pub fn new(positions: Option<&'a Positions<'a>>, places: &'a Places) -> Rewriter<'a> {
        Rewriter {
            positions,
            places,
            literals: HashMap::new(),
            hidden_aliases: Vec::new(),
            current_database: String::new(),
            warnings: Vec::new(),
            hints: Vec::new(),
            inside_query: false,
            error: None,
        }
    }

    /// Rewrites a query or an expression.
    ///
    /// # Errors
    /// What cannot be bound.
    pub fn rewrite(&mut self, tree: &mut impl VisitMut) -> Result<()> {
        let _ = tree.visit(self);
        self.error.take().map_or(Ok(()), Err)
    }

    fn check<T>(&mut self, result: Result<T>, span: Span) -> ControlFlow<(), T> {
        match result {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => {
                self.error = Some(locate(error, self.positions, span));
                ControlFlow::Break(())
            }
        }
    }

    fn marker(&mut self, literal: Literal) -> Expr {
        let name = literal.sql.clone();
        self.literals.entry(name.clone()).or_insert_with(|| literal.marker());
        call(&name, Vec::new())
    }

    /// Bare NULLs that Flink refuses: it takes the type of these operands as it is.
    fn refuse_bare_nulls(&self, expr: &Expr) -> Result<()> {
        use BinaryOperator::{And, Divide, Minus, Modulo, Multiply, Or, Plus, StringConcat};
        let refuse = |operand: &Expr| select::refuse_null(self, operand);
        match expr {
            Expr::BinaryOp { left, op: And | Or | StringConcat | Plus | Minus | Multiply | Divide | Modulo, right } => {
                refuse(left)?;
                refuse(right)
            }
            Expr::Like { expr: operand, pattern, .. } | Expr::SimilarTo { expr: operand, pattern, .. } => {
                refuse(operand)?;
                refuse(pattern)
            }
            Expr::UnaryOp { op: UnaryOperator::Not | UnaryOperator::Minus, expr: operand }
            | Expr::IsTrue(operand)
            | Expr::IsNotTrue(operand)
            | Expr::IsFalse(operand)
            | Expr::IsNotFalse(operand)
            | Expr::IsUnknown(operand)
            | Expr::IsNotUnknown(operand)
            | Expr::Substring { expr: operand, .. }
            | Expr::Trim { expr: operand, .. } => refuse(operand),
            Expr::Tuple(elements) => elements.iter().try_for_each(refuse),
            Expr::Function(function) if function_name(function).is_some_and(|name| refuses_null(&name)) => {
                call_arguments(function).iter().try_for_each(|(_, argument)| refuse(argument))
            }
            _ => Ok(()),
        }
    }

    fn expression(&mut self, expr: &mut Expr) -> Result<()> {
        if let Some(comparisons) = rows_in(expr) {
            *expr = comparisons;
        }
        self.refuse_bare_nulls(expr)?;
        let taken = std::mem::replace(expr, Expr::Value(Value::Null.into()));
        *expr = match taken {
            Expr::Nested(inner) | Expr::UnaryOp { op: UnaryOperator::Plus, expr: inner } => {
                let mut inner = *inner;
                self.expression(&mut inner)?;
                inner
            }
            Expr::Value(value) => match literals::value(&value.value)? {
                Some(literal) => self.marker(literal),
                None => Expr::Value(value),
            },
            Expr::Interval(interval) => self.marker(literals::interval(&interval)?),
            Expr::TypedString(typed) => self.marker(literals::typed(&typed)?),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match *expr {
                Expr::Value(value) if matches!(value.value, Value::Number(..)) => {
                    let Value::Number(digits, _) = &value.value else { return Ok(()) };
                    self.marker(literals::number(digits, true)?)
                }
                operand => call("NEG", vec![operand]),
            },
            Expr::Cast { kind, expr, data_type, .. } => match literals::interval_cast(&expr, &data_type)? {
                Some(literal) => self.marker(literal),
                None => cast(kind, *expr, &data_type)?,
            },
            Expr::Function(function) => self.function(function)?,
            Expr::Identifier(ident) => {
                self.places.column(std::slice::from_ref(&ident));
                Expr::Identifier(ident)
            }
            Expr::CompoundIdentifier(mut parts) if parts.len() > COLUMN_PARTS_MAX => {
                let fields = parts.split_off(COLUMN_PARTS_MAX);
                let field = |root, name: Ident| call(FIELD_FUNCTION, vec![root, text(name.value)]);
                fields.into_iter().fold(Expr::CompoundIdentifier(parts), field)
            }
            Expr::CompoundIdentifier(parts) => {
                self.places.column(&parts);
                Expr::CompoundIdentifier(parts)
            }
            Expr::CompoundFieldAccess { root, access_chain } => access(*root, access_chain)?,
            other => form(other)?,
        };
        Ok(())
    }

    fn function(&mut self, mut function: Function) -> Result<Expr> {
        let Some(name) = function_name(&function) else {
            return Err(Error::new(&codes::UNKNOWN_FUNCTION_PLAIN, &[("name", &function.name)]));
        };
        if name.starts_with('$') || self.literals.contains_key(&name) {
            if name == syntax::dialect::MINUS
                && let [(_, left), (_, right), unit] = call_arguments(&function).as_slice()
            {
                let in_months = ["YEAR", "MONTH"].iter().any(|month| unit.1.to_string().contains(month));
                return Ok(if in_months {
                    let months = vec![text("MONTH"), right.clone(), left.clone()];
                    let target = base::LogicalType::IntervalYearMonth;
                    call(&format!("{CAST_PREFIX}{target}"), vec![call("TIMESTAMPDIFF", months)])
                } else {
                    binary(left.clone(), BinaryOperator::Minus, right.clone())
                });
            }
            if name == syntax::dialect::TABLE
                && let Some((None, Expr::CompoundIdentifier(parts))) = call_arguments(&function).first()
                && let Some((first, last)) = parts.first().zip(parts.last())
            {
                self.places.table(&last.value, first.span);
                hints::mark_argument(self, &mut function)?;
            }
            return Ok(Expr::Function(function));
        }
        if let Some(kind) = name.strip_prefix("IS_JSON_") {
            let operand = call_arguments(&function).into_iter().map(|(_, operand)| operand).collect();
            return Ok(call(&format!("IS JSON {kind}"), operand));
        }
        over::check(&name, &function)?;
        if !function.within_group.is_empty() {
            return Err(Error::unsupported("WITHIN GROUP"));
        }
        if let Some((error, span)) = nested_aggregate(&function) {
            return Err(locate(error, self.positions, span));
        }
        nulls::treat(&name, &mut function)?;
        if let FunctionArguments::List(list) = &mut function.args {
            if let Some(clause) = list.clauses.first() {
                return Err(Error::unsupported(format!("{clause} in the arguments of {name}")));
            }
            fold_json_clauses(&name, &mut list.args);
            if matches!(name.as_str(), "TIMESTAMPADD" | "TIMESTAMPDIFF") {
                unit_argument(&mut list.args);
            }
        }
        if let Some(call) = generated(&name, &function)? {
            return Ok(call);
        }
        if name == "CURRENT_DATABASE" && call_arguments(&function).is_empty() {
            return Ok(call(&format!("{CAST_PREFIX}STRING"), vec![text(self.current_database.clone())]));
        }
        if let Some(target) = clock_function(&name) {
            let now = call(PROCESSING_TIME, Vec::new());
            return Ok(match target {
                None => now,
                Some(target) => call(&format!("{CAST_PREFIX}{target}"), vec![now]),
            });
        }
        if name == CURRENT_WATERMARK
            && let FunctionArguments::List(list) = &mut function.args
        {
            list.args.truncate(1);
            list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(call(WATERMARK, Vec::new()))));
        }
        let is_cast = name.starts_with(CAST_PREFIX) || name.starts_with(TRY_CAST_PREFIX);
        if !is_cast && !is_known_function(&name) {
            // USER and its likes are functions without parentheses in the standard; scripts mean a column.
            return match (&function.args, function.name.0.first().and_then(|part| part.as_ident())) {
                (FunctionArguments::None, Some(word)) => {
                    self.places.column(std::slice::from_ref(word));
                    Ok(Expr::Identifier(word.clone()))
                }
                _ => Err(unknown_function(&name)),
            };
        }
        let span = function.name.span();
        let mut ident = Ident::with_quote('`', name);
        ident.span = span;
        function.name = ObjectName::from(vec![ident]);
        Ok(Expr::Function(function))
    }

    fn table(&mut self, factor: &TableFactor) -> Result<()> {
        match factor {
            TableFactor::Table { name, version, sample, with_ordinality, .. } => {
                if let Some(part) = name.0.last().and_then(|part| part.as_ident()) {
                    self.places.table(&part.value, name.span());
                }
                match version {
                    Some(TableVersion::ForSystemTimeAsOf(_)) => {
                        return Err(Error::unsupported("time travel: FOR SYSTEM_TIME AS OF outside JOIN ... ON"));
                    }
                    Some(_) => return Err(Error::unsupported("time travel")),
                    None => {}
                }
                match (sample, with_ordinality) {
                    (Some(_), _) => Err(Error::unsupported("TABLESAMPLE")),
                    (None, true) => Err(Error::unsupported("WITH ORDINALITY of anything but UNNEST")),
                    (None, false) => Ok(()),
                }
            }
            TableFactor::Derived { sample: None, .. }
            | TableFactor::UNNEST { with_offset: false, with_offset_alias: None, .. }
            | TableFactor::TableFunction { .. }
            | TableFactor::MatchRecognize { .. }
            | TableFactor::NestedJoin { .. } => Ok(()),
            TableFactor::Derived { sample: Some(_), .. } => Err(Error::unsupported("TABLESAMPLE")),
            TableFactor::UNNEST { .. } => Err(Error::unsupported("UNNEST ... WITH OFFSET")),
            TableFactor::Function { name, args, .. } => {
                // `TABLE(f(x))` behind LATERAL is a call of TABLE.
                let inner = args.iter().find_map(|argument| match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Function(inner))) => function_name(inner),
                    _ => None,
                });
                let name = inner.filter(|_| name.to_string() == "TABLE").unwrap_or_else(|| name.to_string());
                let error = Error::new(&codes::TABLE_FUNCTION, &[("name", &name)]);
                Err(locate(error, self.positions, factor.span()))
            }
            TableFactor::Pivot { .. } | TableFactor::Unpivot { .. } => Err(Error::unsupported("PIVOT and UNPIVOT")),
            _ => Err(Error::unsupported("this kind of table in FROM")),
        }
    }
}

impl VisitorMut for Rewriter<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        let span = query.span();
        if std::mem::replace(&mut self.inside_query, true) {
            order::drop_needless(query);
        }
        let result = select::query(self, query).and_then(|()| temporal::mark(self, query));
        self.check(result, span)
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        let span = factor.span();
        plain_unnest(factor);
        let prepared = match_recognize::prepare(factor);
        let result = prepared.and_then(|()| self.table(factor)).and_then(|()| hints::mark_table(self, factor));
        self.check(result, span)
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        let span = expr.span();
        let result = self.expression(expr);
        self.check(result, span)
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        let Expr::Function(function) = expr else { return Flow::Continue(()) };
        let span = function.name.span();
        let result = over::restore_frame(&self.literals, function);
        self.check(result, span)
    }
}

/// `LATERAL UNNEST(x)` is `UNNEST(x)`: every UNNEST sees what stands before it in FROM.
fn plain_unnest(factor: &mut TableFactor) {
    if let TableFactor::Function { name, args, alias, .. } = factor
        && name.to_string().eq_ignore_ascii_case("UNNEST")
    {
        let collections = args.iter().filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
            _ => None,
        });
        *factor = TableFactor::UNNEST {
            array_exprs: collections.collect(),
            alias: alias.take(),
            with_offset: false,
            with_offset_alias: None,
            with_ordinality: false,
        };
    }
}

/// Whether a call of this name is not refused for its name.
pub fn is_callable(name: &str) -> bool {
    name.starts_with('$')
        || name.starts_with("IS_JSON_")
        || name.starts_with(CAST_PREFIX)
        || name.starts_with(TRY_CAST_PREFIX)
        || GENERATED.contains(&name)
        || clock_function(name).is_some()
        || is_known_function(name)
}

/// Functions that take what only the runtime has.
const GENERATED: [&str; 4] = ["RAND", "RAND_INTEGER", "UUID", "UNIX_TIMESTAMP"];

/// Whether a function of this name, in upper case, is built in.
pub fn is_known_function(name: &str) -> bool {
    functions::scalar(name).is_some()
        || functions::aggregate(name).is_some()
        || WindowFunction::from_name(name).is_some()
        || super::markers::is_group_window_function(name)
        || super::grouping::is_grouping_function(name)
        || GROUP_WINDOWS.contains(&name)
        || matches!(name, "CUMULATE" | "DESCRIPTOR" | CURRENT_WATERMARK)
}

/// Functions that take what only the runtime has: random numbers, or the clock.
fn generated(name: &str, function: &Function) -> Result<Option<Expr>> {
    let random = || call(RANDOM, Vec::new());
    let arguments = call_arguments(function);
    Ok(Some(match (name, arguments.as_slice()) {
        ("RAND", []) => call(RAND, vec![random()]),
        ("RAND_INTEGER", [(_, bound)]) => call(RAND_INTEGER, vec![bound.clone(), random()]),
        ("RAND" | "RAND_INTEGER", _) => return Err(Error::unsupported(format!("{name} with a seed"))),
        ("UUID", []) => call(UUID, vec![random(), random()]),
        ("UNIX_TIMESTAMP", []) => call(UNIX_TIME, vec![call(PROCESSING_TIME, Vec::new())]),
        _ => return Ok(None),
    }))
}

/// A type as the dialect writes it.
pub fn type_text(data_type: &DataType) -> String {
    match data_type {
        DataType::Custom(_, arguments) if arguments.len() == 1 => arguments[0].clone(),
        other => other.to_string(),
    }
}

fn cast(kind: CastKind, operand: Expr, data_type: &DataType) -> Result<Expr> {
    let target: SqlType = type_text(data_type).parse()?;
    let prefix = match kind {
        CastKind::TryCast | CastKind::SafeCast => TRY_CAST_PREFIX,
        CastKind::Cast | CastKind::DoubleColon => CAST_PREFIX,
    };
    Ok(call(&format!("{prefix}{}", target.logical), vec![operand]))
}

/// `a[1]`, `m['k']`, `f(x).field`.
/// Catalog, database, table and column: DataFusion looks for no longer names, and panics for them. What follows is fields.
const COLUMN_PARTS_MAX: usize = 4;

fn access(root: Expr, chain: Vec<AccessExpr>) -> Result<Expr> {
    chain.into_iter().try_fold(root, |root, step| match step {
        AccessExpr::Subscript(Subscript::Index { index }) => Ok(call(ITEM_FUNCTION, vec![root, index])),
        AccessExpr::Dot(Expr::Identifier(name)) => Ok(call(FIELD_FUNCTION, vec![root, text(name.value)])),
        other => Err(Error::unsupported(format!("the access path {other}"))),
    })
}

/// Forms with a syntax of their own as calls; their operands are rewritten afterwards.
fn form(expr: Expr) -> Result<Expr> {
    let not = |expr: Expr, negated: bool| match negated {
        true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(expr) },
        false => expr,
    };
    Ok(match expr {
        Expr::Extract { field, expr, .. } => call("EXTRACT", vec![text(unit_name(&field)), *expr]),
        Expr::Floor { expr, field } => floor("FLOOR", *expr, field),
        Expr::Ceil { expr, field } => floor("CEIL", *expr, field),
        Expr::Trim { expr, trim_where, trim_what, trim_characters: None } => {
            let place = trim_where.map_or_else(|| "BOTH".to_string(), |place| place.to_string());
            let characters = trim_what.map_or_else(|| text(" "), |characters| *characters);
            call("TRIM", vec![text(place), characters, *expr])
        }
        Expr::Position { expr, r#in } => call("POSITION", vec![*expr, *r#in]),
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            let mut arguments = vec![*expr, substring_from.map_or_else(|| number(1), |from| *from)];
            arguments.extend(substring_for.map(|length| *length));
            call("SUBSTRING", arguments)
        }
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
            let mut arguments = vec![*expr, *overlay_what, *overlay_from];
            arguments.extend(overlay_for.map(|length| *length));
            call("OVERLAY", arguments)
        }
        Expr::Between { expr, negated, low, high } => {
            let lower = binary(*expr.clone(), BinaryOperator::GtEq, *low);
            let upper = binary(*expr, BinaryOperator::LtEq, *high);
            not(binary(lower, BinaryOperator::And, upper), negated)
        }
        Expr::Like { negated, any: false, expr, pattern, escape_char } => {
            not(like("LIKE", *expr, *pattern, escape_char), negated)
        }
        Expr::SimilarTo { negated, expr, pattern, escape_char } => {
            not(like("SIMILAR TO", *expr, *pattern, escape_char), negated)
        }
        Expr::IsDistinctFrom(left, right) => call("IS DISTINCT FROM", vec![*left, *right]),
        Expr::IsNotDistinctFrom(left, right) => not(call("IS DISTINCT FROM", vec![*left, *right]), true),
        Expr::Case { case_token, end_token, operand: Some(operand), mut conditions, else_result } => {
            for when in &mut conditions {
                let value = std::mem::replace(&mut when.condition, Expr::Value(Value::Null.into()));
                when.condition = binary(*operand.clone(), BinaryOperator::Eq, value);
            }
            Expr::Case { case_token, end_token, operand: None, conditions, else_result }
        }
        Expr::BinaryOp { left, op: BinaryOperator::Overlaps, right } => {
            let (Expr::Tuple(mut periods), Expr::Tuple(second)) = (*left, *right) else {
                return Err(Error::unsupported("OVERLAPS of anything but two pairs"));
            };
            periods.extend(second);
            call("OVERLAPS", periods)
        }
        Expr::Array(array) => call("ARRAY", array.elem),
        Expr::InSubquery { expr, subquery, negated } if matches!(expr.as_ref(), Expr::Tuple(_)) => {
            row_in(*expr, subquery, negated)?
        }
        Expr::Tuple(elements) => call("ROW", elements),
        other @ (Expr::Subquery(_)
        | Expr::InSubquery { .. }
        | Expr::Exists { .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. }
        | Expr::GroupingSets(_)
        | Expr::BinaryOp { .. }
        | Expr::UnaryOp { .. }
        | Expr::Case { .. }
        | Expr::InList { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)) => other,
        other => return Err(Error::unsupported(format!("the expression {other}"))),
    })
}

/// `(a, b) IN ((1, 2), (3, 4))` compares column by column: NULL in one of them leaves the answer open. Values of a row type
/// are compared as a whole, and are no such rows.
fn rows_in(expr: &Expr) -> Option<Expr> {
    let Expr::InList { expr, list, negated } = expr else { return None };
    let operand = row_elements(expr)?;
    let mut rows = Vec::with_capacity(list.len());
    for item in list {
        let item = row_elements(item).filter(|item| item.len() == operand.len())?;
        let equals = operand.iter().zip(item).map(|(one, other)| binary(one.clone(), BinaryOperator::Eq, other));
        rows.push(equals.reduce(|all, one| binary(all, BinaryOperator::And, one))?);
    }
    // In pairs, so that a long list makes no deep tree.
    while rows.len() > 1 {
        let mut rest = rows.into_iter();
        rows = Vec::new();
        while let Some(one) = rest.next() {
            rows.push(match rest.next() {
                Some(other) => Expr::Nested(Box::new(binary(one, BinaryOperator::Or, other))),
                None => one,
            });
        }
    }
    let any = Expr::Nested(Box::new(rows.pop()?));
    Some(if *negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(any) } } else { any })
}

/// The elements of `ROW(a, b)` or `(a, b)`.
fn row_elements(expr: &Expr) -> Option<Vec<Expr>> {
    match expr {
        Expr::Nested(inner) => row_elements(inner),
        Expr::Tuple(elements) => Some(elements.clone()),
        Expr::Function(function) if function_name(function).is_some_and(|name| name == "ROW") => {
            Some(call_arguments(function).into_iter().map(|(_, element)| element).collect())
        }
        _ => None,
    }
}

/// `(a, b) IN (SELECT x, y ...)`: there is a row with equal columns.
fn row_in(row: Expr, subquery: Box<Query>, negated: bool) -> Result<Expr> {
    let Expr::Tuple(elements) = row else { return Err(Error::internal("not a row")) };
    if negated {
        return Err(Error::unsupported("NOT IN (SELECT ...) of several columns: NOT EXISTS"));
    }
    let name = |index: usize| Ident::with_quote('`', format!("$in{index}"));
    let alias = Ident::with_quote('`', "$in");
    let template = syntax::parse_statement("SELECT 1 FROM (SELECT 1) AS `$in` (`$in0`)").map_err(Error::internal)?;
    let syntax::Statement::Query(mut query) = template else { return Err(Error::internal("the template is no query")) };
    if let SetExpr::Select(select) = query.body.as_mut()
        && let Some(TableWithJoins {
            relation: TableFactor::Derived { subquery: derived, alias: Some(names), .. }, ..
        }) = select.from.first_mut()
    {
        *derived = subquery;
        let column = |index| TableAliasColumnDef::from_name(name(index).value);
        names.columns = (0..elements.len()).map(column).collect();
        let equals = elements.into_iter().enumerate().map(|(index, element)| {
            binary(element, BinaryOperator::Eq, Expr::CompoundIdentifier(vec![alias.clone(), name(index)]))
        });
        select.selection = equals.reduce(|all, one| binary(all, BinaryOperator::And, one));
    }
    Ok(Expr::Exists { subquery: query, negated: false })
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

fn number(value: i32) -> Expr {
    Expr::Value(Value::Number(value.to_string(), false).into())
}

fn like(name: &str, operand: Expr, pattern: Expr, escape: Option<Value>) -> Expr {
    let mut arguments = vec![operand, pattern];
    arguments.extend(escape.map(|escape| Expr::Value(escape.into())));
    call(name, arguments)
}

fn floor(name: &str, operand: Expr, kind: CeilFloorKind) -> Expr {
    match kind {
        CeilFloorKind::DateTimeField(syntax::ast::DateTimeField::NoDateTime) => call(name, vec![operand]),
        CeilFloorKind::DateTimeField(field) => call(name, vec![operand, text(unit_name(&field))]),
        CeilFloorKind::Scale(scale) => call(name, vec![operand, Expr::Value(scale.into())]),
    }
}

/// `TIMESTAMPADD(DAY, ..)`: the unit is no column.
fn unit_argument(arguments: &mut [FunctionArg]) {
    if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) = arguments.first_mut()
        && let Expr::Identifier(unit) = first
    {
        *first = text(unit.value.to_uppercase());
    }
}

/// The name of a time unit in the singular, upper case.
fn unit_name(field: &syntax::ast::DateTimeField) -> String {
    let name = field.to_string().to_uppercase();
    match name.strip_suffix('S') {
        Some(singular) if singular != "CENTURIE" && !singular.is_empty() => singular.to_string(),
        _ => name,
    }
}

/// The clauses of a JSON function as one last string: `RETURNING INT DEFAULT 0 ON EMPTY NULL ON ERROR`.
///
/// JSON_OBJECT, JSON_ARRAY and their aggregates also learn which of their arguments are such calls, JSON text already: `FORMAT JSON 1`.
fn fold_json_clauses(name: &str, arguments: &mut Vec<FunctionArg>) {
    let mut clauses = Vec::new();
    arguments.retain(|argument| {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument else { return true };
        match json_clause(expr) {
            Some(clause) => {
                clauses.push(clause);
                false
            }
            None => true,
        }
    });
    if JSON_CONSTRUCTORS.contains(&name.trim_end_matches("AGG")) {
        arguments.iter_mut().for_each(accept_json);
        let nested = arguments.iter().enumerate().filter(|(_, argument)| is_json_constructor(argument));
        let places: String = nested.map(|(index, _)| format!(" {index}")).collect();
        if !places.is_empty() {
            clauses.push(format!("FORMAT JSON{places}"));
        }
    }
    if !clauses.is_empty() {
        arguments.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(text(clauses.join(" ")))));
    }
}

/// The function of JSON(x) inside a constructor.
const JSON_TEXT: &str = "JSON TEXT";
const JSON_CONSTRUCTORS: [&str; 2] = ["JSON_OBJECT", "JSON_ARRAY"];

/// JSON(x) as a value of a constructor, the only place where it may stand.
fn accept_json(argument: &mut FunctionArg) {
    if let FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Function(function))) = argument
        && function_name(function).as_deref() == Some("JSON")
    {
        function.name = ObjectName::from(vec![Ident::with_quote('`', JSON_TEXT)]);
    }
}

fn is_json_constructor(argument: &FunctionArg) -> bool {
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument else { return false };
    let mut expr = expr;
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    match expr {
        Expr::Function(function) => {
            function_name(function).is_some_and(|name| name == JSON_TEXT || JSON_CONSTRUCTORS.contains(&name.as_str()))
        }
        _ => false,
    }
}

fn json_clause(expr: &Expr) -> Option<String> {
    use syntax::dialect::{ON_EMPTY, ON_ERROR, ON_NULL, RETURNING, WRAPPER, marker_arguments};
    let plain = |expr: &Expr| match expr {
        Expr::Value(value) => value.value.clone().into_string().unwrap_or_else(|| value.to_string()),
        other => other.to_string(),
    };
    if let Some(arguments) = marker_arguments(expr, RETURNING) {
        return Some(format!("RETURNING {}", plain(arguments.first()?)));
    }
    if let Some(arguments) = marker_arguments(expr, WRAPPER) {
        return Some(match plain(arguments.first()?).as_str() {
            "WITHOUT" => "WITHOUT WRAPPER".to_string(),
            kind => format!("WITH {kind} WRAPPER"),
        });
    }
    if let Some(arguments) = marker_arguments(expr, ON_NULL) {
        return Some(format!("{} ON NULL", plain(arguments.first()?)));
    }
    for (marker, suffix) in [(ON_EMPTY, "ON EMPTY"), (ON_ERROR, "ON ERROR")] {
        if let Some(arguments) = marker_arguments(expr, marker) {
            let behavior = plain(arguments.first()?);
            return Some(match arguments.get(1) {
                Some(value) => format!("{behavior} {value} {suffix}"),
                None => format!("{behavior} {suffix}"),
            });
        }
    }
    None
}
