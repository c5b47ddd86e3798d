//! Rules of GROUP BY, with and without a window, and of its first phase.

use super::{OperatorRules, Shape, Use, name_at, pick, retracts, time, ttl, union};
use crate::lower::builder::window_sql;
use base::config::JobConfig;
use base::function::Merging;
use base::plan::{AggregateCall, GroupAggregate, LocalAggregate, WindowAggregate, WindowKind, WindowProperty};
use base::{ChangelogMode, RowKind};
use std::time::Duration;

/// The groups of an aggregate, as a part of its rows.
const GROUPS: f64 = 0.1;

/// Keys and calls of an aggregate; `names` are the names of all its columns.
fn calls(keys: usize, calls: &[AggregateCall], names: &[String]) -> String {
    let calls = calls.iter().zip(&names[keys..]).map(|(call, name)| match call.sql == *name {
        true => name.clone(),
        false => format!("{} AS {name}", call.sql),
    });
    names[..keys].iter().cloned().chain(calls).collect::<Vec<_>>().join(", ")
}

fn group_by(keys: &[usize], below: &[String]) -> Option<String> {
    (!keys.is_empty()).then(|| format!("groupBy=[{}]", pick(keys, below)))
}

fn set_retract(calls: &mut [AggregateCall], inputs: &[ChangelogMode]) {
    let retract = inputs.iter().any(|mode| retracts(*mode));
    calls.iter_mut().for_each(|call| call.options.retract = retract);
}

/// When the result of a row follows, for people.
fn after(delay: Duration) -> String {
    if delay.is_zero() { "one per row".into() } else { format!("at most one every {}", time(delay)) }
}

/// Whether an aggregate reads a column.
fn reads(keys: &[usize], calls: &[AggregateCall], column: usize) -> bool {
    keys.contains(&column) || calls.iter().any(|call| call.arguments.contains(&column) || call.filter == Some(column))
}

impl OperatorRules for GroupAggregate {
    fn name(&self) -> &'static str {
        "GroupAggregate"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let select = format!("select=[{}]", calls(self.keys.len(), &self.calls, &shape.names()));
        group_by(&self.keys, &shape.input_names(0)).into_iter().chain([select]).collect()
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let what = match self.keys.is_empty() {
            true => "one row of results".to_string(),
            false => format!("one row of results per ({})", pick(&self.keys, &shape.input_names(0))),
        };
        vec![format!("state: {what}; {}", ttl(self.state_ttl))]
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        match union(inputs).is_append_only() {
            true => ChangelogMode::ALL.without(RowKind::Delete),
            false => ChangelogMode::ALL,
        }
    }

    fn makes_updates(&self) -> bool {
        true
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn set_inputs(&mut self, inputs: &[ChangelogMode]) {
        set_retract(&mut self.calls, inputs);
    }

    fn as_cause(&self, shape: &Shape<'_>) -> String {
        match self.keys.is_empty() {
            true => "the aggregate over all rows".into(),
            false => format!("GROUP BY {}", pick(&self.keys, &shape.input_names(0))),
        }
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        if self.keys.is_empty() { 1.0 } else { (inputs.iter().sum::<f64>() * GROUPS).max(1.0) }
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        match self.merges.is_none() && reads(&self.keys, &self.calls, column) {
            true => Use::Content("an aggregate".into()),
            false => Use::Passed(Vec::new()),
        }
    }
}

impl OperatorRules for LocalAggregate {
    fn name(&self) -> &'static str {
        "LocalGroupAggregate"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let select: Vec<&str> = self.calls.iter().map(|call| call.sql.as_str()).collect();
        let select = format!("select=[{}]", select.join(", "));
        group_by(&self.keys, &shape.input_names(0)).into_iter().chain([select]).collect()
    }

    /// Its rows are inserts, but their states can take away.
    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        union(inputs)
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn set_inputs(&mut self, inputs: &[ChangelogMode]) {
        set_retract(&mut self.calls, inputs);
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        match reads(&self.keys, &self.calls, column) {
            true => Use::Content("an aggregate".into()),
            false => Use::Passed(Vec::new()),
        }
    }
}

/// The milliseconds of which windows that share rows are put together; `None` if each of them is kept by itself.
fn pane(aggregate: &WindowAggregate, shape: &Shape<'_>) -> Option<u64> {
    let (every_ms, size_ms) = match aggregate.window.kind {
        WindowKind::Hop { slide_ms, size_ms } => (slide_ms, size_ms),
        WindowKind::Cumulate { step_ms, size_ms } => (step_ms, size_ms),
        WindowKind::Tumble { .. } | WindowKind::Session { .. } => return None,
    };
    if every_ms >= size_ms || aggregate.is_attached || aggregate.emit.makes_updates() {
        return None;
    }
    let fields = shape.inputs.first()?.row.fields();
    let merges = |call: &AggregateCall| {
        let types: Vec<_> = call.arguments.iter().map(|&column| fields[column].sql_type.clone()).collect();
        let accumulator = call.function.accumulator(&types, &call.options);
        accumulator.is_ok_and(|accumulator| accumulator.merging() != Merging::InOrder)
    };
    let (mut pane_ms, mut rest_ms) = (every_ms, size_ms);
    while rest_ms != 0 {
        (pane_ms, rest_ms) = (rest_ms, pane_ms % rest_ms);
    }
    aggregate.calls.iter().all(merges).then(|| u64::try_from(pane_ms).unwrap_or(0))
}

impl OperatorRules for WindowAggregate {
    fn name(&self) -> &'static str {
        "WindowAggregate"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let below = shape.input_names(0);
        let window = window_sql(&self.window, name_at(&below, self.window.time_column));
        let mut columns = vec![calls(self.keys.len(), &self.calls, &shape.names())];
        columns.extend(self.properties.iter().map(|property| match property {
            WindowProperty::Start => "window_start".to_string(),
            WindowProperty::End => "window_end".to_string(),
            WindowProperty::Time => "window_time".to_string(),
        }));
        columns.retain(|column| !column.is_empty());
        let rest = [format!("window=[{window}]"), format!("select=[{}]", columns.join(", "))];
        group_by(&self.keys, &below).into_iter().chain(rest).collect()
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let per = match self.keys.is_empty() {
            true => "per window".to_string(),
            false => format!("per window and ({})", pick(&self.keys, &shape.input_names(0))),
        };
        let end = match self.window.kind {
            WindowKind::Session { .. } => "the end of the session",
            _ => "the end of the window",
        };
        let moves = if self.window.is_processing_time { "the clock" } else { "the watermark" };
        let mut notes = vec![match (pane(self, shape), self.emit.lateness.is_zero()) {
            (Some(pane_ms), _) => format!(
                "state: one row of results {}; dropped when {moves} reaches the end of the last window with them",
                per.replacen("window", &format!("{} of rows", time(Duration::from_millis(pane_ms))), 1)
            ),
            (None, true) => format!("state: one row of results {per}; dropped when {moves} reaches {end}"),
            (None, false) => format!(
                "state: one row of results {per}; dropped when {moves} is {} behind {end}",
                time(self.emit.lateness)
            ),
        }];
        if let Some(early) = self.emit.early {
            notes.push(format!("early results: {} before {end} (table.exec.emit.early-fire.*)", after(early)));
        }
        notes.push(match self.emit.late {
            _ if self.window.is_processing_time => {
                "windows of the moment at which rows come; those that are open at the end of the input give nothing"
                    .into()
            }
            Some(late) => format!(
                "allowed lateness {}; late rows correct the result, {}; later ones are dropped and counted",
                time(self.emit.lateness),
                after(late)
            ),
            None => "allowed lateness 0; late rows are dropped and counted (settings: table.exec.emit.allow-lateness, \
                     table.exec.emit.late-fire.enabled)"
                .into(),
        });
        notes
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        match (self.emit.makes_updates(), inputs.iter().any(|mode| retracts(*mode))) {
            (false, _) => ChangelogMode::APPEND,
            (true, false) => ChangelogMode::ALL.without(RowKind::Delete),
            (true, true) => ChangelogMode::ALL,
        }
    }

    fn makes_updates(&self) -> bool {
        self.emit.makes_updates()
    }

    fn as_cause(&self, _shape: &Shape<'_>) -> String {
        match self.emit.late {
            Some(_) => "the window that late rows correct (table.exec.emit.late-fire)".into(),
            None => "the window that gives early results (table.exec.emit.early-fire)".into(),
        }
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn set_inputs(&mut self, inputs: &[ChangelogMode]) {
        set_retract(&mut self.calls, inputs);
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        (inputs.iter().sum::<f64>() * GROUPS).max(1.0)
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        match reads(&self.keys, &self.calls, column) {
            true => Use::Content("a window aggregate".into()),
            false => Use::Passed(Vec::new()),
        }
    }
}
