//! Rules of Top-N.

use super::{OperatorRules, Shape, Use, name_at, pick, ttl};
use crate::lower::order_text;
use base::config::JobConfig;
use base::plan::{Rank, RankEnd, RankStrategy};
use base::{ChangelogMode, RowKind};

/// The rows of a ranking, as a part of its input.
const RANKED: f64 = 0.1;

/// What the changes of a ranking are about.
#[derive(PartialEq, Eq)]
enum Form {
    /// Rows are only given, never changed: LIMIT of inserts.
    Counted,
    /// A rank gets another row.
    Ranks,
    /// A row comes and another one goes.
    Rows,
}

fn form(rank: &Rank) -> Form {
    let appends = rank.strategy == RankStrategy::Append;
    let best = rank.start == 1 && rank.end == RankEnd::Constant(1) && rank.strategy != RankStrategy::Retract;
    if appends && rank.order.is_empty() && !rank.with_rank {
        Form::Counted
    } else if best || rank.with_rank || rank.start > 1 {
        Form::Ranks
    } else {
        Form::Rows
    }
}

/// Whether rows move through ranks that the output does not show: only the old contents tell them apart.
fn moves_unseen(rank: &Rank) -> bool {
    rank.start > 1 && !rank.with_rank && rank.end != RankEnd::Constant(rank.start) && form(rank) != Form::Counted
}

fn strategy(rank: &Rank) -> String {
    match &rank.strategy {
        RankStrategy::Append => "AppendFastStrategy".into(),
        RankStrategy::Update(key) => {
            let key: Vec<String> = key.iter().map(usize::to_string).collect();
            format!("UpdateFastStrategy[{}]", key.join(","))
        }
        RankStrategy::Retract => "RetractStrategy".into(),
    }
}

/// Whether it is what ORDER BY or LIMIT of all rows becomes.
fn is_limit(rank: &Rank) -> bool {
    rank.partition.is_empty() && !rank.with_rank && matches!(rank.end, RankEnd::Constant(_))
}

impl OperatorRules for Rank {
    fn name(&self) -> &'static str {
        match (is_limit(self), self.order.is_empty()) {
            (true, true) => "Limit",
            (true, false) => "SortLimit",
            (false, _) => "Rank",
        }
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let below = shape.input_names(0);
        let order = format!("orderBy=[{}]", order_text(&self.order, &below));
        let strategy = format!("strategy=[{}]", strategy(self));
        if let (true, RankEnd::Constant(end)) = (is_limit(self), self.end) {
            let skip = self.start - 1;
            let mut parts = vec![format!("offset=[{skip}]"), format!("fetch=[{}]", end.saturating_sub(skip))];
            if !self.order.is_empty() {
                parts.insert(0, order);
            }
            parts.push(strategy);
            return parts;
        }
        let mut range = vec![format!("rankStart={}", self.start)];
        match self.end {
            RankEnd::Constant(end) => range.push(format!("rankEnd={end}")),
            RankEnd::Column(column) => range.push(format!("rankEnd={}", name_at(&below, column))),
            RankEnd::All => {}
        }
        vec![
            strategy,
            "rankType=[ROW_NUMBER]".into(),
            format!("rankRange=[{}]", range.join(", ")),
            format!("partitionBy=[{}]", pick(&self.partition, &below)),
            order,
            format!("select=[{}]", shape.names().join(", ")),
        ]
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let below = shape.input_names(0);
        if form(self) == Form::Counted {
            return vec!["state: the number of rows so far".into()];
        }
        let per = match self.partition.is_empty() {
            true => String::new(),
            false => format!(" per ({})", pick(&self.partition, &below)),
        };
        let what = match (&self.strategy, self.end) {
            (RankStrategy::Retract, _) | (_, RankEnd::All) => format!("every row{per}"),
            (_, RankEnd::Constant(1)) => format!("the best row{per}"),
            (_, RankEnd::Constant(end)) => format!("the best {end} rows{per}"),
            (_, RankEnd::Column(column)) => {
                format!("as many of the best rows as {} says{per}", name_at(&below, column))
            }
        };
        vec![format!("state: {what}; {}", ttl(self.state_ttl))]
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        let updates = ChangelogMode::ALL.without(RowKind::Delete);
        let rows = ChangelogMode::APPEND.with(RowKind::Delete);
        match (form(self), &self.strategy) {
            (Form::Counted, _) => ChangelogMode::APPEND,
            (Form::Ranks, RankStrategy::Retract) => ChangelogMode::ALL,
            (Form::Ranks, _) => updates,
            (Form::Rows, RankStrategy::Update(_)) => ChangelogMode::ALL,
            (Form::Rows, _) => rows,
        }
    }

    fn makes_updates(&self) -> bool {
        form(self) != Form::Counted && !moves_unseen(self)
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        self.strategy == RankStrategy::Retract
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        moves_unseen(self)
    }

    fn as_cause(&self, shape: &Shape<'_>) -> String {
        let order = order_text(&self.order, &shape.input_names(0));
        match (is_limit(self), self.order.is_empty()) {
            (true, true) => "LIMIT".into(),
            (true, false) => format!("ORDER BY {order} LIMIT"),
            (false, _) => format!("the Top-N by {order}"),
        }
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        let input: f64 = inputs.iter().sum();
        match self.end {
            RankEnd::Constant(end) if self.partition.is_empty() => {
                input.min((end + 1 - self.start.min(end + 1)) as f64)
            }
            _ => (input * RANKED).max(1.0),
        }
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        let ordered = self.order.iter().any(|key| key.column == column);
        let by_content = match &self.strategy {
            RankStrategy::Append => false,
            RankStrategy::Update(key) => key.contains(&column),
            // A row that is taken back is found by all that it holds.
            RankStrategy::Retract => true,
        };
        match ordered || by_content || self.partition.contains(&column) || self.end == RankEnd::Column(column) {
            true => Use::Content("a Top-N".into()),
            false => Use::Passed(vec![column]),
        }
    }
}
