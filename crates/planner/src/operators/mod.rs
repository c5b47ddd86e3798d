//! What the planner knows of each operator: its row kinds, what it needs of its inputs, what EXPLAIN says of it.
//!
//! One file per kind, each an implementation of [`OperatorRules`] for the operator's struct in [`base::plan`]; [`rules`] is
//! the only list. How an operator gets into a plan is the business of [`crate::lower`].

mod aggregate;
mod calc;
mod deduplicate;
mod expand;
pub mod join;
mod late_rows;
mod match_recognize;
mod normalize;
mod over_aggregate;
mod rank;
mod replicate;
mod scan;
mod simple;
mod sink;
mod temporal_sort;
pub mod time_joins;
mod unnest;
mod upsert_materialize;
mod window_rank;
mod window_table;

use base::config::JobConfig;
use base::plan::{Node, NodeKind, Output};
use base::{ChangelogMode, Field, RowKind};
use std::time::Duration;

/// A node and what its inputs give.
pub struct Shape<'p> {
    /// The node.
    pub node: &'p Node,
    /// The outputs of its inputs, in their order.
    pub inputs: Vec<&'p Output>,
}

impl Shape<'_> {
    /// The names of the columns that it gives.
    pub fn names(&self) -> Vec<String> {
        column_names(self.node.output.row.fields())
    }

    /// The names of the columns of an input.
    pub fn input_names(&self, input: usize) -> Vec<String> {
        self.inputs.get(input).map(|output| column_names(output.row.fields())).unwrap_or_default()
    }
}

/// What becomes of the values of an input column.
pub enum Use {
    /// The operator tells rows by them. How messages call it: `a filter`.
    Content(String),
    /// They are passed on in these columns of the output; none if they end here.
    Passed(Vec<usize>),
}

/// What the planner knows of an operator.
pub trait OperatorRules {
    /// The name in EXPLAIN, Flink's where Flink has one.
    fn name(&self) -> &'static str;

    /// What stands in the parentheses behind the name: `groupBy=[k]`.
    fn describe(&self, shape: &Shape<'_>) -> Vec<String>;

    /// Full sentences for EXPLAIN: what is kept and when it is dropped, what happens to late rows.
    fn notes(&self, _shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        Vec::new()
    }

    /// The kinds that it gives, if it is given these kinds and all its readers need `-U`.
    fn changelog(&self, shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode;

    /// Whether it makes updates itself, and leaves `-U` out if no reader needs it. Others only pass on what they get.
    fn makes_updates(&self) -> bool {
        false
    }

    /// Whether it needs the `-U` rows of an input, given whether any of its readers does.
    fn needs_update_before(&self, shape: &Shape<'_>, input: usize, readers_do: bool) -> bool;

    /// Whether it can give a `-U` without its `+U`, given whether one of its inputs can. `mode` is what it gives.
    fn gives_lone_update_before(&self, inherited: bool, mode: ChangelogMode) -> bool;

    /// Takes what depends on the kinds that it will really be given.
    fn set_inputs(&mut self, _inputs: &[ChangelogMode]) {}

    /// How messages call it as the cause of updates: `GROUP BY city`.
    fn as_cause(&self, _shape: &Shape<'_>) -> String {
        "the changelog of the source".into()
    }

    /// The estimated rows of its output.
    fn rows(&self, inputs: &[f64]) -> f64 {
        inputs.iter().sum()
    }

    /// What becomes of the values of a column.
    fn use_of(&self, shape: &Shape<'_>, input: usize, column: usize) -> Use;
}

/// The rules of an operator.
pub fn rules(kind: &NodeKind) -> &dyn OperatorRules {
    match kind {
        NodeKind::Scan(scan) => scan,
        NodeKind::Values(values) => values,
        NodeKind::Calc(calc) => calc,
        NodeKind::Union => &simple::Union,
        NodeKind::GroupAggregate(group) => group,
        NodeKind::WindowTable(table) => table,
        NodeKind::WindowAggregate(group) => group,
        NodeKind::ChangelogNormalize(normalize) => normalize,
        NodeKind::DropUpdateBefore => &simple::DropUpdateBefore,
        NodeKind::Join(join) => join,
        NodeKind::Rank(rank) => rank,
        NodeKind::Deduplicate(deduplicate) => deduplicate,
        NodeKind::TemporalSort(sort) => sort,
        NodeKind::OverAggregate(over) => over,
        NodeKind::Expand(expand) => expand,
        NodeKind::Unnest(unnest) => unnest,
        NodeKind::Replicate(replicate) => replicate,
        NodeKind::UpsertMaterialize(materialize) => materialize,
        NodeKind::LocalAggregate(group) => group,
        NodeKind::IntervalJoin(join) => join,
        NodeKind::TemporalJoin(join) => join,
        NodeKind::WindowJoin(join) => join,
        NodeKind::LookupJoin(join) => join,
        NodeKind::WindowRank(rank) => rank,
        NodeKind::MatchRecognize(pattern) => pattern,
        NodeKind::LateRows(late) => late,
        NodeKind::Sink(sink) => sink,
    }
}

/// The rules of an operator that may be told of its inputs.
pub fn rules_mut(kind: &mut NodeKind) -> Option<&mut dyn OperatorRules> {
    Some(match kind {
        NodeKind::GroupAggregate(group) => group,
        NodeKind::WindowAggregate(group) => group,
        NodeKind::LocalAggregate(group) => group,
        NodeKind::OverAggregate(over) => over,
        NodeKind::Rank(rank) => rank,
        NodeKind::Join(join) => join,
        _ => return None,
    })
}

/// All kinds of all inputs.
fn union(inputs: &[ChangelogMode]) -> ChangelogMode {
    inputs.iter().copied().reduce(ChangelogMode::union).unwrap_or(ChangelogMode::APPEND)
}

/// Whether rows can be taken back.
pub fn retracts(mode: ChangelogMode) -> bool {
    mode.contains(RowKind::UpdateBefore) || mode.contains(RowKind::Delete)
}

/// The names of columns.
pub fn column_names(fields: &[Field]) -> Vec<String> {
    fields.iter().map(|field| field.name.clone()).collect()
}

/// A name, or `?` where there is none.
pub fn name_at(names: &[String], index: usize) -> &str {
    names.get(index).map_or("?", String::as_str)
}

/// Some of the names, as a list.
pub fn pick(columns: &[usize], names: &[String]) -> String {
    columns.iter().map(|&column| name_at(names, column)).collect::<Vec<_>>().join(", ")
}

/// A duration for people.
pub fn time(duration: Duration) -> String {
    crate::lower::builder::duration(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

/// When state goes.
pub fn ttl(state_ttl: Option<Duration>) -> String {
    match state_ttl {
        None => "kept for ever (setting: table.exec.state.ttl)".into(),
        Some(ttl) => format!("dropped when not written for {} (table.exec.state.ttl)", time(ttl)),
    }
}
