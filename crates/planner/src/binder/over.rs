//! OVER in the syntax tree: named windows are put in the place of their names, frames are checked and kept readable for
//! `SqlToRel`, and calls that Flink refuses are refused.

use super::names::window_call;
use super::over_codes as codes;
use super::positions::locate;
use super::rewrite::{Rewriter, function_name};
use crate::literal::as_literal;
use crate::window_functions::WindowFunction;
use base::{Error, Result};
use datafusion_common::ScalarValue;
use datafusion_expr::ScalarUDF;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::ast::{
    DateTimeField, Expr, Function, Ident, Interval, NamedWindowDefinition, NamedWindowExpr, Query, Select, Value,
    VisitMut, VisitorMut, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

/// Puts the windows of WINDOW in the place of their names.
///
/// # Errors
/// A name that WINDOW does not define.
pub fn inline_windows(rewriter: &Rewriter<'_>, select: &mut Select) -> Result<()> {
    let windows = std::mem::take(&mut select.named_window);
    let mut inline = Inline { rewriter, windows: &windows, depth: 0, error: None };
    for item in &mut select.projection {
        let _ = item.visit(&mut inline);
    }
    if let Some(condition) = &mut select.qualify {
        let _ = condition.visit(&mut inline);
    }
    inline.error.take().map_or(Ok(()), Err)
}

struct Inline<'a> {
    rewriter: &'a Rewriter<'a>,
    windows: &'a [NamedWindowDefinition],
    /// Subqueries have windows of their own.
    depth: usize,
    error: Option<Error>,
}

impl VisitorMut for Inline<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _query: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        let Some(over) = function.over.take() else { return ControlFlow::Continue(()) };
        let (name, spec) = match over {
            WindowType::NamedWindow(name) => (name.clone(), named(self.windows, &name)),
            WindowType::WindowSpec(spec) => match spec.window_name.clone() {
                None => {
                    function.over = Some(WindowType::WindowSpec(spec));
                    return ControlFlow::Continue(());
                }
                Some(name) => (name, refined(self.windows, spec)),
            },
        };
        match spec {
            Ok(spec) => {
                function.over = Some(WindowType::WindowSpec(spec));
                ControlFlow::Continue(())
            }
            Err(error) => {
                self.error = Some(locate(error, self.rewriter.positions, name.span));
                ControlFlow::Break(())
            }
        }
    }
}

/// The window of a name.
fn named(windows: &[NamedWindowDefinition], name: &Ident) -> Result<WindowSpec> {
    let Some(place) = windows.iter().position(|window| window.0.value == name.value) else {
        let known: Vec<&str> = windows.iter().map(|window| window.0.value.as_str()).collect();
        let known = if known.is_empty() { "-".to_string() } else { known.join(", ") };
        return Err(Error::new(&codes::UNKNOWN_WINDOW, &[("name", &name.value), ("known", &known)]));
    };
    let (before, NamedWindowDefinition(_, definition)) = (&windows[..place], &windows[place]);
    match definition {
        NamedWindowExpr::NamedWindow(other) => named(before, other),
        NamedWindowExpr::WindowSpec(spec) => refined(before, spec.clone()),
    }
}

/// A window with what the window that it builds on says.
fn refined(windows: &[NamedWindowDefinition], mut spec: WindowSpec) -> Result<WindowSpec> {
    let Some(name) = spec.window_name.take() else { return Ok(spec) };
    let base = named(windows, &name)?;
    let clause = if !spec.partition_by.is_empty() {
        Some("PARTITION BY")
    } else if !base.order_by.is_empty() && !spec.order_by.is_empty() {
        Some("ORDER BY")
    } else if base.window_frame.is_some() {
        Some("ROWS or RANGE")
    } else {
        None
    };
    if let Some(clause) = clause {
        return Err(Error::new(&codes::WINDOW_REFINEMENT, &[("name", &name.value), ("clause", &clause)]));
    }
    spec.partition_by = base.partition_by;
    if spec.order_by.is_empty() {
        spec.order_by = base.order_by;
    }
    Ok(spec)
}

/// Refuses calls with OVER, or without it, that Flink refuses.
///
/// # Errors
/// Such a call.
pub fn check(name: &str, function: &Function) -> Result<()> {
    let alone = WindowFunction::from_name(name);
    let spec = match (&function.over, alone) {
        (None, None) => return Ok(()),
        (None, Some(alone)) => {
            return Err(Error::new(&codes::WITHOUT_OVER, &[("name", &name), ("form", &alone.form())]));
        }
        (Some(WindowType::NamedWindow(window)), _) => return named(&[], window).map(|_| ()),
        (Some(WindowType::WindowSpec(spec)), _) => spec,
    };
    if alone.is_none() && functions::aggregate(name).is_none() {
        return Err(Error::new(&codes::OVER_OF_OTHER, &[("name", &name)]));
    }
    if function.filter.is_some() {
        return Err(Error::new(&codes::OVER_WITH_FILTER, &[("name", &name)]));
    }
    if alone.is_some() && spec.window_frame.is_some() {
        return Err(Error::new(&codes::FRAME_OF_RANK, &[("name", &name)]));
    }
    if alone.is_some() && spec.order_by.is_empty() {
        return Err(Error::new(&codes::RANK_WITHOUT_ORDER, &[("name", &name)]));
    }
    match &spec.window_frame {
        Some(frame) if frame.units == WindowFrameUnits::Groups => Err(Error::unsupported("GROUPS in OVER")),
        _ => Ok(()),
    }
}

/// Refuses window functions in a clause that comes before windows.
///
/// # Errors
/// Such a function, with its place.
pub fn refuse_windows(rewriter: &Rewriter<'_>, expr: &Expr, clause: &'static str) -> Result<()> {
    match window_call(expr) {
        None => Ok(()),
        Some(function) => {
            let name = function_name(&function).unwrap_or_default();
            let error = Error::new(&codes::MISPLACED_WINDOW, &[("function", &name), ("clause", &clause)]);
            Err(locate(error, rewriter.positions, function.name.0.first().map_or_else(syntax::Span::empty, part_span)))
        }
    }
}

fn part_span(part: &syntax::ast::ObjectNamePart) -> syntax::Span {
    part.as_ident().map_or_else(syntax::Span::empty, |ident| ident.span)
}

/// Gives the bounds of a frame, whose literals have become markers, the form that `SqlToRel` reads: a number, or an
/// interval in milliseconds.
///
/// # Errors
/// A bound that is no constant of the right kind.
pub fn restore_frame(literals: &HashMap<String, Arc<ScalarUDF>>, function: &mut Function) -> Result<()> {
    let Some(WindowType::WindowSpec(spec)) = &mut function.over else { return Ok(()) };
    let Some(WindowFrame { units, start_bound, end_bound }) = &mut spec.window_frame else { return Ok(()) };
    for bound in std::iter::once(start_bound).chain(end_bound) {
        let (WindowFrameBound::Preceding(Some(size)) | WindowFrameBound::Following(Some(size))) = bound else {
            continue;
        };
        **size = restored(literals, *units, size)?;
    }
    Ok(())
}

fn restored(literals: &HashMap<String, Arc<ScalarUDF>>, units: WindowFrameUnits, size: &Expr) -> Result<Expr> {
    let name = match size {
        Expr::Function(call) => call.name.0.first().and_then(|part| part.as_ident()).map(|ident| ident.value.as_str()),
        _ => None,
    };
    let value = name.and_then(|name| literals.get(name)).and_then(|marker| as_literal(marker)).map(|one| &one.value);
    let digits = |digits: String| Expr::Value(Value::Number(digits, false).into());
    match (units, value) {
        (_, Some(ScalarValue::Int32(Some(rows)))) if *rows >= 0 => Ok(digits(rows.to_string())),
        (_, Some(ScalarValue::Int64(Some(rows)))) if *rows >= 0 => Ok(digits(rows.to_string())),
        (WindowFrameUnits::Range, Some(ScalarValue::DurationMillisecond(Some(size)))) if *size >= 0 => {
            Ok(Expr::Interval(Interval {
                value: Box::new(Expr::Value(Value::SingleQuotedString(size.to_string()).into())),
                leading_field: Some(DateTimeField::Millisecond),
                leading_precision: None,
                last_field: None,
                fractional_seconds_precision: None,
            }))
        }
        _ => {
            let bound = name.map_or_else(|| size.to_string(), str::to_string);
            Err(Error::new(&codes::FRAME_BOUND, &[("bound", &bound), ("units", &units)]))
        }
    }
}
