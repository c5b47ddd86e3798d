//! Rules of the joins that watermarks bound: by an interval, by versions, by windows.

use super::join::{joined_names, kind_text};
use super::{OperatorRules, Shape, Use, name_at, pick, time, ttl};
use base::config::JobConfig;
use base::plan::{IntervalJoin, JoinKey, JoinKind, LookupJoin, TemporalJoin, WindowJoin};
use base::{ChangelogMode, Expression};
use std::sync::Arc;
use std::time::Duration;

/// The names of the columns of both inputs, and how many are the left one's.
fn both(shape: &Shape<'_>) -> (Vec<String>, usize) {
    let left = shape.input_names(0);
    (joined_names(&left, &shape.input_names(1)), left.len())
}

fn keys_text(keys: &[JoinKey], names: &[String], left: usize) -> Vec<String> {
    let text = |key: &JoinKey| {
        let operator = if key.null_safe { "IS NOT DISTINCT FROM" } else { "=" };
        format!("({} {operator} {})", name_at(names, key.left), name_at(names, left + key.right))
    };
    keys.iter().map(text).collect()
}

fn where_text(parts: &[String]) -> String {
    format!("where=[{}]", if parts.is_empty() { "true".into() } else { parts.join(" AND ") })
}

fn per(keys: &[JoinKey], input: usize, names: &[String]) -> String {
    let columns: Vec<usize> = keys.iter().map(|key| if input == 0 { key.left } else { key.right }).collect();
    if columns.is_empty() { String::new() } else { format!(" per ({})", pick(&columns, names)) }
}

/// The larger input, as most rows have a partner.
fn most(inputs: &[f64]) -> f64 {
    inputs.iter().copied().fold(0.0, f64::max)
}

/// What a join reads by content, and where it passes the rest on.
fn join_use(
    shape: &Shape<'_>,
    (input, column): (usize, usize),
    keys: &[JoinKey],
    condition: Option<&Arc<dyn Expression>>,
    others: &[usize],
    only_left: bool,
) -> Use {
    let left = shape.inputs.first().map_or(0, |output| output.row.len());
    let place = if input == 0 { column } else { left + column };
    let is_key = keys.iter().any(|key| column == if input == 0 { key.left } else { key.right });
    if is_key || others.contains(&column) || condition.is_some_and(|condition| condition.columns().contains(&place)) {
        return Use::Content("a join".into());
    }
    if only_left && input == 1 { Use::Passed(Vec::new()) } else { Use::Passed(vec![place]) }
}

fn milliseconds(value: i64) -> String {
    time(Duration::from_millis(value.max(0) as u64))
}

impl OperatorRules for IntervalJoin {
    fn name(&self) -> &'static str {
        "IntervalJoin"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let (names, left) = both(shape);
        let mut bounds = vec![
            format!("isRowTime={}", self.rowtimes.is_some()),
            format!("leftLowerBound={}", self.lower_ms),
            format!("leftUpperBound={}", self.upper_ms),
        ];
        if let Some([left, right]) = self.rowtimes {
            bounds.extend([format!("leftTimeIndex={left}"), format!("rightTimeIndex={right}")]);
        }
        let mut parts = keys_text(&self.keys, &names, left);
        if let Some([one, other]) = self.rowtimes {
            let (one, other) = (name_at(&names, one), name_at(&names, left + other));
            parts.push(format!("({one} >= {other} {})", offset(self.lower_ms)));
            parts.push(format!("({one} <= {other} {})", offset(self.upper_ms)));
        }
        parts.extend(self.condition.as_ref().map(|condition| condition.sql()));
        vec![
            format!("joinType=[{}]", kind_text(self.kind)),
            format!("windowBounds=[{}]", bounds.join(", ")),
            where_text(&parts),
            format!("select=[{}]", shape.names().join(", ")),
        ]
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let sizes = [-self.lower_ms, self.upper_ms];
        let note = |(input, name): (usize, &str)| {
            let below = shape.input_names(input);
            let until = match &self.rowtimes {
                Some(times) => {
                    let column = name_at(&below, times[input]);
                    format!("the watermark passes {column} {}", offset(sizes[input]))
                }
                None => format!("{} after it came", milliseconds(sizes[input])),
            };
            format!("state of the {name} side: the rows{}, each until {until}", per(&self.keys, input, &below))
        };
        let mut notes = [(0, "left"), (1, "right")].map(note).to_vec();
        let pads = match self.kind {
            JoinKind::Left => Some("left rows"),
            JoinKind::Right => Some("right rows"),
            JoinKind::Full => Some("rows of both sides"),
            _ => None,
        };
        notes.extend(pads.map(|rows| format!("{rows} without a partner are given when they leave the state")));
        if self.rowtimes.is_some() {
            let delay = milliseconds(sizes[0].max(sizes[1]));
            notes.push(format!("the watermark behind the join is {delay} earlier, because rows wait that long"));
        }
        notes
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        ChangelogMode::APPEND
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        most(inputs)
    }

    fn use_of(&self, shape: &Shape<'_>, input: usize, column: usize) -> Use {
        let times = self.rowtimes.map(|times| times[input]);
        join_use(shape, (input, column), &self.keys, self.condition.as_ref(), times.as_slice(), false)
    }
}

/// `+ 10 min`, `- 5 s`.
fn offset(milliseconds: i64) -> String {
    let sign = if milliseconds < 0 { '-' } else { '+' };
    format!("{sign} {}", time(Duration::from_millis(milliseconds.unsigned_abs())))
}

impl OperatorRules for TemporalJoin {
    fn name(&self) -> &'static str {
        "TemporalJoin"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let (names, left) = both(shape);
        let mut parts = keys_text(&self.keys, &names, left);
        parts.push(match self.rowtimes {
            Some([row, version]) => format!("({} AS OF {})", name_at(&names, left + version), name_at(&names, row)),
            None => "(AS OF PROCTIME())".to_string(),
        });
        parts.extend(self.condition.as_ref().map(|condition| condition.sql()));
        vec![
            format!("joinType=[{}]", kind_text(if self.is_outer { JoinKind::Left } else { JoinKind::Inner })),
            where_text(&parts),
            format!("select=[{}]", shape.names().join(", ")),
        ]
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let (left, right) = (shape.input_names(0), shape.input_names(1));
        let ttl = match self.state_ttl {
            None => String::new(),
            ttl_set => format!("; {}", ttl(ttl_set)),
        };
        let Some([rowtime, version]) = self.rowtimes else {
            return vec![
                format!("state of the right side: the last row{}{ttl}", per(&self.keys, 1, &right)),
                "left rows wait until the right side has read what its tables hold when the job starts; then they are given \
                 as they come"
                    .into(),
                "the watermark is that of the left side".into(),
            ];
        };
        let (rowtime, version) = (name_at(&left, rowtime), name_at(&right, version));
        vec![
            format!(
                "state of the left side: the rows{} until the watermark reaches {rowtime}",
                per(&self.keys, 0, &left)
            ),
            format!(
                "state of the right side: the versions{}, each until the watermark reaches the {version} of the next one; \
                 the last one is kept{ttl}",
                per(&self.keys, 1, &right)
            ),
            "the watermark is the smaller one of both sides: rows wait for the slower side".into(),
        ]
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        inputs.first().copied().unwrap_or(ChangelogMode::ALL)
    }

    /// A version ends where the next one begins.
    fn needs_update_before(&self, _shape: &Shape<'_>, input: usize, _readers_do: bool) -> bool {
        input == 0
    }

    fn gives_lone_update_before(&self, inherited: bool, mode: ChangelogMode) -> bool {
        inherited || mode.contains(base::RowKind::UpdateBefore)
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        inputs.first().copied().unwrap_or_default()
    }

    fn use_of(&self, shape: &Shape<'_>, input: usize, column: usize) -> Use {
        let times = self.rowtimes.map(|times| times[input]);
        join_use(shape, (input, column), &self.keys, self.condition.as_ref(), times.as_slice(), false)
    }
}

impl OperatorRules for WindowJoin {
    fn name(&self) -> &'static str {
        "WindowJoin"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let (names, left) = both(shape);
        let mut parts = keys_text(&self.keys, &names, left);
        parts.extend(self.condition.as_ref().map(|condition| condition.sql()));
        vec![
            format!("leftWindow=[{}]", self.windows[0]),
            format!("rightWindow=[{}]", self.windows[1]),
            format!("joinType=[{}]", kind_text(self.kind)),
            where_text(&parts),
            format!("select=[{}]", shape.names().join(", ")),
        ]
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let per = per(&self.keys, 0, &shape.input_names(0));
        vec![
            format!("state: the rows of both sides per window{per}, until the watermark reaches the end of the window"),
            "late rows are dropped and counted".into(),
        ]
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        ChangelogMode::APPEND
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        most(inputs)
    }

    fn use_of(&self, shape: &Shape<'_>, input: usize, column: usize) -> Use {
        let windows = [self.starts[input], self.ends[input]];
        let only_left = matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
        join_use(shape, (input, column), &self.keys, self.condition.as_ref(), &windows, only_left)
    }
}

impl OperatorRules for LookupJoin {
    fn name(&self) -> &'static str {
        "LookupJoin"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let below = shape.input_names(0);
        let keys =
            self.key_names.iter().zip(&self.keys).map(|(key, &column)| format!("{key}={}", name_at(&below, column)));
        let mut parts = vec![
            format!("table=[{}]", self.table),
            format!("joinType=[{}]", kind_text(if self.is_outer { JoinKind::Left } else { JoinKind::Inner })),
            format!("lookup=[{}]", keys.collect::<Vec<_>>().join(", ")),
        ];
        parts.extend(self.condition.as_ref().map(|condition| format!("where=[{}]", condition.sql())));
        if let Some(retry) = &self.retry {
            let delay = time(retry.delay);
            parts.push(format!("retry=[lookup_miss, FIXED_DELAY, {delay}, {} attempts]", retry.attempts));
        }
        parts.push(format!("select=[{}]", shape.names().join(", ")));
        parts
    }

    fn notes(&self, _shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let Some(cache) = self.provider.cache() else {
            return vec![format!("nothing is kept: {} is asked once per batch for every different key", self.table)];
        };
        let mut limits = Vec::new();
        limits.extend(cache.rows_max.map(|rows| format!("at most {rows} rows")));
        limits.extend(cache.after_write.map(|limit| format!("for {} after they were found", time(limit))));
        limits.extend(cache.after_access.map(|limit| format!("for {} after they were used", time(limit))));
        let limits = if limits.is_empty() { "for ever".to_string() } else { limits.join(", ") };
        vec![format!("rows of {} are kept in memory, {limits} (lookup.partial-cache.*)", self.table)]
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        inputs.first().copied().unwrap_or(ChangelogMode::ALL)
    }

    /// A row that is taken back takes back what was found for it.
    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, inherited: bool, mode: ChangelogMode) -> bool {
        inherited || mode.contains(base::RowKind::UpdateBefore)
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        let in_condition = self.condition.as_ref().is_some_and(|condition| condition.columns().contains(&column));
        match in_condition || self.keys.contains(&column) {
            true => Use::Content("a lookup".into()),
            false => Use::Passed(vec![column]),
        }
    }
}
