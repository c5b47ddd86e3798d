//! Rules of joins.

use super::{OperatorRules, Shape, Use, name_at, retracts, ttl};
use base::config::JobConfig;
use base::plan::{Join, JoinKind, JoinRows, JoinSide};
use base::{ChangelogMode, RowKind};

/// The part of all pairs without a key that a condition keeps.
const PAIRS: f64 = 0.1;

/// The names of the columns of both inputs: one that the left side has already gets a number, as in Flink.
pub fn joined_names(left: &[String], right: &[String]) -> Vec<String> {
    let mut names = left.to_vec();
    for name in right {
        let mut unique = name.clone();
        let mut number = 0;
        while names.contains(&unique) {
            unique = format!("{name}{number}");
            number += 1;
        }
        names.push(unique);
    }
    names
}

/// The condition of a join over columns of these names: keys first.
pub fn condition_text(join: &Join, names: &[String], left: usize) -> String {
    let mut parts: Vec<String> = join
        .keys
        .iter()
        .map(|key| {
            let operator = if key.null_safe { "IS NOT DISTINCT FROM" } else { "=" };
            format!("({} {operator} {})", name_at(names, key.left), name_at(names, left + key.right))
        })
        .collect();
    parts.extend(join.condition.as_ref().map(|condition| condition.sql()));
    if parts.is_empty() { "true".into() } else { parts.join(" AND ") }
}

/// The name of a kind, as Flink's EXPLAIN has it.
pub fn kind_text(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "InnerJoin",
        JoinKind::Left => "LeftOuterJoin",
        JoinKind::Right => "RightOuterJoin",
        JoinKind::Full => "FullOuterJoin",
        JoinKind::Semi => "LeftSemiJoin",
        JoinKind::Anti => "LeftAntiJoin",
    }
}

fn spec_text(side: &JoinSide) -> &'static str {
    match side.rows {
        JoinRows::One => "JoinKeyContainsUniqueKey",
        JoinRows::ByKey(_) => "HasUniqueKey",
        JoinRows::Any => "NoUniqueKey",
    }
}

fn side(join: &Join, input: usize) -> &JoinSide {
    if input == 0 { &join.left } else { &join.right }
}

/// The key columns of an input.
pub fn key_columns(join: &Join, input: usize) -> Vec<usize> {
    join.keys.iter().map(|key| if input == 0 { key.left } else { key.right }).collect()
}

impl OperatorRules for Join {
    fn name(&self) -> &'static str {
        "Join"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let left = shape.input_names(0);
        let names = joined_names(&left, &shape.input_names(1));
        vec![
            format!("joinType=[{}]", kind_text(self.kind)),
            format!("where=[{}]", condition_text(self, &names, left.len())),
            format!("select=[{}]", shape.names().join(", ")),
            format!("leftInputSpec=[{}]", spec_text(&self.left)),
            format!("rightInputSpec=[{}]", spec_text(&self.right)),
        ]
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let note = |(input, name): (usize, &str)| {
            let below = shape.input_names(input);
            let keys = key_columns(self, input);
            let per = match keys.is_empty() {
                true => String::new(),
                false => format!(" per ({})", super::pick(&keys, &below)),
            };
            let rows = match &side(self, input).rows {
                JoinRows::One => format!("one row{per}"),
                JoinRows::ByKey(key) => format!("all rows{per}, told apart by ({})", super::pick(key, &below)),
                JoinRows::Any => format!("all rows{per}, equal ones once with their number"),
            };
            format!("state of the {name} side: {rows}; {}", ttl(side(self, input).state_ttl))
        };
        [(0, "left"), (1, "right")].map(note).to_vec()
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        let [left, right] = inputs else { return ChangelogMode::ALL };
        let both = left.union(*right);
        // A change of partners of a row that is padded, or given for its partners, takes it back.
        let padded = |others: ChangelogMode| match others.contains(RowKind::UpdateBefore) {
            true => ChangelogMode::ALL,
            false => ChangelogMode::of(&[RowKind::Insert, RowKind::Delete]),
        };
        match self.kind {
            JoinKind::Inner | JoinKind::Semi => both.with(RowKind::Insert),
            JoinKind::Anti => left.with(RowKind::Insert).with(RowKind::Delete),
            JoinKind::Left => padded(*right),
            JoinKind::Right => padded(*left),
            JoinKind::Full => ChangelogMode::of(&[RowKind::Insert, RowKind::Delete]),
        }
    }

    /// An update that keeps the key replaces the old row, and readers that know the row by its key see that. A condition
    /// can be true of the old row only.
    fn needs_update_before(&self, shape: &Shape<'_>, input: usize, readers_do: bool) -> bool {
        let keys = key_columns(self, input);
        let holds_join_key = |key: &Vec<usize>| keys.iter().all(|column| key.contains(column));
        let keeps_key = shape.inputs.get(input).is_some_and(|output| output.upsert_keys.iter().any(holds_join_key));
        readers_do || self.condition.is_some() || !keeps_key
    }

    /// The new row can have another partner or none.
    fn gives_lone_update_before(&self, inherited: bool, mode: ChangelogMode) -> bool {
        inherited || mode.contains(RowKind::UpdateBefore)
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        match (self.kind, inputs, self.keys.is_empty()) {
            (JoinKind::Semi | JoinKind::Anti, [left, ..], _) => left / 2.0,
            (_, [left, right], true) => left * right * if self.condition.is_some() { PAIRS } else { 1.0 },
            (_, inputs, _) => inputs.iter().copied().fold(0.0, f64::max),
        }
    }

    fn use_of(&self, shape: &Shape<'_>, input: usize, column: usize) -> Use {
        let left = shape.inputs.first().map_or(0, |output| output.row.len());
        let place = if input == 0 { column } else { left + column };
        let in_condition = self.condition.as_ref().is_some_and(|condition| condition.columns().contains(&place));
        let changes = shape.inputs.get(input).is_some_and(|output| retracts(output.changelog));
        let tells_apart = match &side(self, input).rows {
            JoinRows::One => false,
            JoinRows::ByKey(key) => key.contains(&column),
            JoinRows::Any => changes,
        };
        if in_condition || tells_apart || key_columns(self, input).contains(&column) {
            return Use::Content("a join".into());
        }
        match (self.kind, input) {
            (JoinKind::Semi | JoinKind::Anti, 1) => Use::Passed(Vec::new()),
            _ => Use::Passed(vec![place]),
        }
    }
}
