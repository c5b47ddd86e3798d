//! Joins in time: which joins an interval or equal windows bound, and the nodes of such joins.

use super::builder::{Builder, Draft, Identity, Relation, column_identity, short_hash};
use super::join::{self, JoinForm, Pair};
use super::join_codes as codes;
use crate::expression::{self, Tree};
use crate::operators::column_names;
use arrow::array::{ArrayRef, Int64Array};
use base::plan::{
    Distribution, Edge, IntervalJoin, Join, JoinKey, JoinKind, JoinSide, Node, NodeId, NodeKind, Output, TemporalJoin,
    Window, WindowJoin, WindowKind, WindowProperty,
};
use base::types::TimeAttribute;
use base::{ChangelogMode, Error, Field, Result};
use std::sync::Arc;
use std::time::Duration;

/// How far the times of a pair may differ.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    /// The rowtime columns of both sides, each over its own columns; `None`: processing time.
    pub times: Option<[usize; 2]>,
    /// The smallest left time minus right time.
    pub lower_ms: i64,
    /// The largest left time minus right time.
    pub upper_ms: i64,
}

/// Windows of both sides that must be equal.
#[derive(Debug, Clone)]
pub struct Windows {
    /// The columns window_start, each over the columns of its own side.
    pub starts: [usize; 2],
    /// The columns window_end.
    pub ends: [usize; 2],
    /// The window.
    pub window: Window,
}

/// Versions of the right side.
#[derive(Debug, Clone)]
pub struct Versions {
    /// The rowtime columns of both sides, each over its own columns; `None`: the rows of now.
    pub times: Option<[usize; 2]>,
    /// How long a key is kept.
    pub state_ttl: Option<Duration>,
}

/// A time attribute of one side, shifted by a constant.
struct TimeTerm {
    is_left: bool,
    column: usize,
    time: TimeAttribute,
    offset_ms: i64,
}

/// A bound of left time minus right time.
struct Bound {
    columns: [usize; 2],
    time: TimeAttribute,
    value_ms: i64,
    is_lower: bool,
}

/// Times at which a shift is tried out: only one that is the same everywhere is a bound.
const TRIED_MS: [i64; 3] = [0, 1_583_020_800_000, 1_718_454_615_000];

impl Builder<'_> {
    /// The bounds of a join, and what else its condition says; `None` if time does not bound it in both directions.
    ///
    /// # Errors
    /// Sides that take rows back.
    pub fn interval(
        &self,
        kind: JoinKind,
        sides: [&Relation; 2],
        condition: &[Tree],
    ) -> Result<Option<(Interval, Vec<Tree>)>> {
        if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
            return Ok(None);
        }
        let (mut bounds, mut rest, mut compared) = (Vec::new(), Vec::new(), Vec::new());
        for tree in condition {
            match self.bounds(sides, tree) {
                Some(found) => {
                    bounds.extend(found);
                    compared.push(tree.clone());
                }
                None => rest.push(tree.clone()),
            }
        }
        let (Some(lower), Some(upper), 2) =
            (bounds.iter().find(|bound| bound.is_lower), bounds.iter().find(|bound| !bound.is_lower), bounds.len())
        else {
            return Ok(None);
        };
        if lower.columns != upper.columns || lower.time != upper.time {
            return Ok(None);
        }
        self.only_inserts("an interval join", sides)?;
        let width = sides[0].fields.len();
        let mut interval = Interval {
            times: (lower.time == TimeAttribute::Rowtime).then(|| [lower.columns[0], lower.columns[1] - width]),
            lower_ms: lower.value_ms,
            upper_ms: upper.value_ms,
        };
        let precision = |column: usize| match self.side_field(sides, column).sql_type.logical {
            base::LogicalType::Timestamp(precision) | base::LogicalType::TimestampLtz(precision) => precision,
            _ => 3,
        };
        if lower.columns.iter().any(|&column| precision(column) > 3) {
            // Watermarks are milliseconds: what they round away is left to the condition.
            interval.lower_ms = interval.lower_ms.saturating_sub(1);
            interval.upper_ms = interval.upper_ms.saturating_add(1);
            rest.extend(compared);
        }
        Ok(Some((interval, rest)))
    }

    fn side_field<'s>(&self, [left, right]: [&'s Relation; 2], column: usize) -> &'s Field {
        let width = left.fields.len();
        if column < width { &left.fields[column] } else { &right.fields[column - width] }
    }

    /// What a comparison says about left time minus right time.
    fn bounds(&self, sides: [&Relation; 2], tree: &Tree) -> Option<Vec<Bound>> {
        let Tree::Call { function, arguments, .. } = tree else { return None };
        let [one, other] = arguments.as_slice() else { return None };
        let name = function.name();
        if !["=", "<", "<=", ">", ">="].contains(&name) {
            return None;
        }
        let (one, other) = (self.time_term(sides, one)?, self.time_term(sides, other)?);
        if one.is_left == other.is_left || one.time != other.time {
            return None;
        }
        // left + a (name) right + b: left - right (name) b - a.
        let is_swapped = !one.is_left;
        let (left, right) = if is_swapped { (other, one) } else { (one, other) };
        let value_ms = right.offset_ms.checked_sub(left.offset_ms)?;
        let bound = |value_ms: Option<i64>, is_lower: bool| {
            Some(Bound { columns: [left.column, right.column], time: left.time, value_ms: value_ms?, is_lower })
        };
        let is_lower = |greater: bool| greater != is_swapped;
        let strict = |greater: bool| if is_lower(greater) { value_ms.checked_add(1) } else { value_ms.checked_sub(1) };
        Some(match name {
            "=" => vec![bound(Some(value_ms), true)?, bound(Some(value_ms), false)?],
            ">=" => vec![bound(Some(value_ms), is_lower(true))?],
            "<=" => vec![bound(Some(value_ms), is_lower(false))?],
            ">" => vec![bound(strict(true), is_lower(true))?],
            _ => vec![bound(strict(false), is_lower(false))?],
        })
    }

    /// A tree that is a time attribute, or one plus or minus a constant.
    fn time_term(&self, sides: [&Relation; 2], tree: &Tree) -> Option<TimeTerm> {
        let columns = tree.columns();
        let column = *columns.first().filter(|_| columns.len() == 1)?;
        let field = self.side_field(sides, column);
        let time = field.time?;
        let is_left = column < sides[0].fields.len();
        let term = |offset_ms: i64| Some(TimeTerm { is_left, column, time, offset_ms });
        if tree.as_column().is_some() {
            return term(0);
        }
        if !is_shift(tree) {
            return None;
        }
        let mut shifts = Vec::new();
        for base_ms in TRIED_MS {
            let value: ArrayRef = Arc::new(Int64Array::from(vec![base_ms]));
            let stamp = arrow::compute::cast(
                &value,
                &arrow::datatypes::DataType::Timestamp(arrow::datatypes::TimeUnit::Millisecond, None),
            )
            .ok()?;
            let value = arrow::compute::cast(&stamp, &field.sql_type.arrow()).ok()?;
            let known = tree.replace(&mut |leaf| match leaf {
                Tree::Column { sql_type, .. } => {
                    Some(Tree::Literal { value: value.clone(), sql_type: sql_type.clone() })
                }
                _ => None,
            });
            let shifted = expression::constant(&known, &self.context.functions).ok()?;
            let shifted = base::time::epoch_ms(&shifted).ok()?;
            shifts.push(shifted.iter().next().flatten()?.checked_sub(base_ms)?);
        }
        let same = shifts.iter().all(|shift| *shift == shifts[0]);
        if same { term(shifts[0]) } else { None }
    }

    /// A join in time is made for rows that are only added.
    fn only_inserts(&self, what: &'static str, sides: [&Relation; 2]) -> Result<()> {
        for (relation, name) in sides.into_iter().zip(["left", "right"]) {
            if relation.rank.is_some() || !self.output(relation.node).changelog.is_append_only() {
                return Err(Error::new(&codes::TIME_JOIN_CHANGES, &[("join", &what), ("side", &name)]));
            }
        }
        Ok(())
    }

    /// The equal windows of a join, and what else its condition says; `None` if the same windows do not join its sides.
    ///
    /// # Errors
    /// Sides that take rows back.
    pub fn equal_windows(&self, sides: [&Relation; 2], condition: &[Tree]) -> Result<Option<(Windows, Vec<Tree>)>> {
        let width = sides[0].fields.len();
        let (mut starts, mut ends, mut rest) = (None, None, Vec::new());
        for tree in condition {
            match self.window_equality(sides, tree, width) {
                Some((WindowProperty::Start, pair, window)) if starts.is_none() => starts = Some((pair, window)),
                Some((WindowProperty::End, pair, window)) if ends.is_none() => ends = Some((pair, window)),
                _ => rest.push(tree.clone()),
            }
        }
        let (Some((starts, one)), Some((ends, other))) = (starts, ends) else { return Ok(None) };
        if !is_same_window(&one, &other) {
            return Ok(None);
        }
        self.only_inserts("a window join", sides)?;
        if one.is_processing_time {
            return Err(Error::unsupported("a window join by processing time"));
        }
        Ok(Some((Windows { starts, ends, window: one }, rest)))
    }

    /// An equality of the same bound of the same windows.
    fn window_equality(
        &self,
        [left, right]: [&Relation; 2],
        tree: &Tree,
        width: usize,
    ) -> Option<(WindowProperty, [usize; 2], Window)> {
        let Tree::Call { function, arguments, .. } = tree else { return None };
        let [one, other] = arguments.as_slice() else { return None };
        let (one, other) = (one.as_column()?, other.as_column()?);
        if function.name() != "=" || (one < width) == (other < width) {
            return None;
        }
        let pair = [one.min(other), one.max(other) - width];
        let (left_window, property) = self.window_of(left, pair[0])?;
        let (right_window, right_property) = self.window_of(right, pair[1])?;
        let is_equal = property == right_property && is_same_window(&left_window, &right_window);
        is_equal.then_some((property, pair, left_window))
    }

    /// The window whose bound a column is.
    fn window_of(&self, relation: &Relation, column: usize) -> Option<(Window, WindowProperty)> {
        let place = relation.projection.get(column)?.as_column()?;
        let width = self.fields(relation.node).len();
        match (&relation.window, place.checked_sub(width)) {
            (Some(pending), Some(property)) => Some((pending.window.clone(), window_property(property)?)),
            _ => self.window_of_node(relation.node, place),
        }
    }

    pub(super) fn window_of_node(&self, node: NodeId, column: usize) -> Option<(Window, WindowProperty)> {
        let draft = &self.drafts.get(node)?.node;
        let input = |position: usize| draft.inputs.get(position).map(|edge| edge.node);
        match &draft.kind {
            NodeKind::WindowTable(table) => match column.checked_sub(self.fields(input(0)?).len()) {
                Some(property) => Some((table.window.clone(), window_property(property)?)),
                None => self.window_of_node(input(0)?, column),
            },
            NodeKind::WindowAggregate(_) if self.legacy_windows.contains(&node) => None,
            NodeKind::WindowAggregate(aggregate) => {
                match column.checked_sub(aggregate.keys.len() + aggregate.calls.len()) {
                    Some(property) => Some((aggregate.window.clone(), *aggregate.properties.get(property)?)),
                    None => self.window_of_node(input(0)?, *aggregate.keys.get(column)?),
                }
            }
            NodeKind::Calc(calc) => self.window_of_node(input(0)?, calc.projection.get(column)?.as_column()?),
            NodeKind::Rank(_) | NodeKind::WindowRank(_) | NodeKind::Deduplicate(_) | NodeKind::DropUpdateBefore => {
                self.window_of_node(input(0)?, column)
            }
            // A padded row is in no window.
            NodeKind::WindowJoin(join) => match column.checked_sub(self.fields(input(0)?).len()) {
                None if !matches!(join.kind, JoinKind::Right | JoinKind::Full) => {
                    self.window_of_node(input(0)?, column)
                }
                Some(column) if !matches!(join.kind, JoinKind::Left | JoinKind::Full) => {
                    self.window_of_node(input(1)?, column)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The node of a join in time.
    pub fn time_join_node(
        &mut self,
        kind: JoinKind,
        [left, right]: [NodeId; 2],
        keys: Vec<JoinKey>,
        condition: &[Tree],
        form: JoinForm,
    ) -> NodeId {
        let below = [self.identity(left).clone(), self.identity(right).clone()];
        let Pair { names, identities, condition } = self.pair(left, right, condition);
        let [left_keys, right_keys]: [Vec<usize>; 2] =
            [keys.iter().map(|key| key.left).collect(), keys.iter().map(|key| key.right).collect()];
        let side = |node: NodeId, keys: &[usize]| JoinSide {
            rows: join::rows_of(&self.output(node).upsert_keys, keys),
            state_ttl: None,
        };
        // What a regular join of the same rows would be: keys and columns of the output are the same.
        let regular = Join {
            kind,
            keys: keys.clone(),
            condition: None,
            left: side(left, &left_keys),
            right: side(right, &right_keys),
        };
        let upsert_keys = join::upsert_keys(&regular, self.output(left), self.output(right));
        let row = self.joined_row(kind, left, right, &names);
        let text = join::key_text(&regular, &below);
        let condition_text = condition.as_ref().map_or_else(String::new, |condition| condition.digest());
        let regular = Join { condition, ..regular };
        let (operator, time_text, node_kind) =
            node_kind(form, regular, &below, [&column_names(self.fields(left)), &column_names(self.fields(right))]);
        let anchor = format!(
            "{operator}-{}",
            short_hash(&format!("{text} {time_text} {} {}", below[0].anchor, below[1].anchor))
        );
        let digest = format!(
            "{operator}({text}, {time_text}, condition=[{condition_text}], left={}, right={})",
            below[0].rows, below[1].rows
        );
        let rows = short_hash(&format!(
            "{operator} {text} {time_text} [{condition_text}] {} {}",
            below[0].rows, below[1].rows
        ));
        let identity = Identity {
            rows,
            columns: identities.into_iter().take(row.len()).map(column_identity).collect(),
            anchor: anchor.clone(),
        };
        let spread = match kind {
            JoinKind::Full => None,
            JoinKind::Right => Some(right_keys.iter().map(|key| self.fields(left).len() + key).collect()),
            _ => Some(left_keys.clone()),
        };
        let draft = Draft {
            spread,
            identity,
            node: Node {
                operator_id: anchor,
                digest,
                inputs: vec![
                    Edge { node: left, distribution: Distribution::Hash(left_keys) },
                    Edge { node: right, distribution: Distribution::Hash(right_keys) },
                ],
                output: Output { row, changelog: ChangelogMode::APPEND, upsert_keys },
                kind: node_kind,
            },
        };
        self.push(draft, true)
    }
}

/// The name of a join in time, what bounds it as text, and what it does. It is otherwise like the regular one.
fn node_kind(
    form: JoinForm,
    regular: Join,
    below: &[Identity; 2],
    names: [&[String]; 2],
) -> (&'static str, String, NodeKind) {
    let time = |side: usize, column: usize| below[side].columns.get(column).map_or("?", String::as_str);
    let Join { kind, keys, condition, .. } = regular.clone();
    match form {
        JoinForm::Regular(_) => ("join", String::new(), NodeKind::Join(regular)),
        JoinForm::Interval(Interval { times: rowtimes, lower_ms, upper_ms }) => {
            let times = rowtimes.map_or_else(
                || "proctime".to_string(),
                |[one, other]| format!("{} - {}", time(0, one), time(1, other)),
            );
            let node = IntervalJoin { kind, keys, condition, rowtimes, lower_ms, upper_ms };
            ("interval-join", format!("{times} in [{lower_ms}, {upper_ms}]"), NodeKind::IntervalJoin(node))
        }
        JoinForm::Temporal(Versions { times: rowtimes, state_ttl }) => {
            let times = match rowtimes {
                Some([left, right]) => format!("{} as of {}", time(1, right), time(0, left)),
                None => "as of now".to_string(),
            };
            let is_outer = kind == JoinKind::Left;
            let node = TemporalJoin { is_outer, keys, condition, rowtimes, state_ttl };
            ("temporal-join", times, NodeKind::TemporalJoin(node))
        }
        JoinForm::Window(Windows { starts, ends, window }) => {
            let windows = [0, 1].map(|side| window_text(&window, &names[side][starts[side]], &names[side][ends[side]]));
            let text = format!("{} {} = {}", windows[0], time(0, ends[0]), time(1, ends[1]));
            let time_zone = window.time_zone;
            let node = WindowJoin { kind, keys, condition, starts, ends, time_zone, windows };
            ("window-join", text, NodeKind::WindowJoin(node))
        }
    }
}

fn window_property(position: usize) -> Option<WindowProperty> {
    [WindowProperty::Start, WindowProperty::End, WindowProperty::Time].get(position).copied()
}

/// Whether windows are cut alike.
pub(super) fn is_same_window(one: &Window, other: &Window) -> bool {
    one.kind == other.kind
        && one.offset_ms == other.offset_ms
        && one.time_zone == other.time_zone
        && one.is_processing_time == other.is_processing_time
}

/// Whether a tree adds to a time or subtracts from it.
fn is_shift(tree: &Tree) -> bool {
    match tree {
        Tree::Column { .. } => true,
        Tree::Call { function, arguments, .. } => {
            let name = function.name();
            let operands = arguments.iter().filter(|argument| !argument.is_constant()).collect::<Vec<_>>();
            let starts_with_time = name != "-" || arguments.first().is_some_and(|first| !first.is_constant());
            let [operand] = operands.as_slice() else { return false };
            ["+", "-", "TIMESTAMPADD"].contains(&name) && starts_with_time && is_shift(operand)
        }
        _ => false,
    }
}

/// A window as Flink's EXPLAIN has it.
pub(super) fn window_text(window: &Window, start: &str, end: &str) -> String {
    use super::builder::duration;
    let bounds = format!("win_start=[{start}], win_end=[{end}]");
    let offset = match window.offset_ms {
        0 => String::new(),
        offset => format!(", offset=[{}]", duration(offset)),
    };
    match window.kind {
        WindowKind::Tumble { size_ms } => format!("TUMBLE({bounds}, size=[{}]{offset})", duration(size_ms)),
        WindowKind::Hop { slide_ms, size_ms } => {
            format!("HOP({bounds}, size=[{}], slide=[{}]{offset})", duration(size_ms), duration(slide_ms))
        }
        WindowKind::Cumulate { step_ms, size_ms } => {
            format!("CUMULATE({bounds}, max_size=[{}], step=[{}]{offset})", duration(size_ms), duration(step_ms))
        }
        WindowKind::Session { gap_ms } => format!("SESSION({bounds}, gap=[{}])", duration(gap_ms)),
    }
}
