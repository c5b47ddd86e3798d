//! Joins: equality keys out of the condition, what must be true of one side pushed below it, what tells rows apart.

use super::builder::{Builder, Draft, Identity, Relation, column_identity, columns, short_hash};
use super::query::align;
use super::time_join::{Interval, Versions, Windows};
use crate::expression::{Compiled, Test, Tree};
use crate::operators::join as joined;
use base::plan::{Distribution, Edge, Join, JoinKey, JoinKind, JoinRows, JoinSide, Node, NodeId, NodeKind, Output};
use base::{ChangelogMode, Error, Expression, Field, LogicalType, Result, RowType, SqlType};
use datafusion_common::{JoinType, NullEquality};
use datafusion_expr::LogicalPlan;
use datafusion_expr::logical_plan;
use std::sync::Arc;
use std::time::Duration;

/// The hint whose options are tables with the TTL of their rows in joins.
pub const STATE_TTL: &str = "STATE_TTL";

/// An equality of the condition: over the columns of each side alone.
pub struct Equality {
    pub left: Tree,
    pub right: Tree,
    pub null_safe: bool,
}

/// A condition taken apart; trees over the columns of both sides, except for keys and what is pushed.
#[derive(Default)]
pub struct Parts {
    pub keys: Vec<Equality>,
    /// Only about the left side.
    pub left: Vec<Tree>,
    /// Only about the right side, over its own columns.
    pub right: Vec<Tree>,
    pub rest: Vec<Tree>,
}

/// What bounds a join.
#[derive(Debug, Clone)]
pub enum JoinForm {
    /// Nothing but the TTL of both sides.
    Regular([Option<Duration>; 2]),
    /// The times of a pair are near each other.
    Interval(Interval),
    /// Windows are equal.
    Window(Windows),
    /// The right row is the version that was valid at the time of the left one.
    Temporal(Versions),
}

impl JoinForm {
    /// Its columns in the inputs of the join, given where the inputs have the columns of the sides.
    fn over(self, places: [&[usize]; 2]) -> JoinForm {
        let both = |columns: [usize; 2]| [places[0][columns[0]], places[1][columns[1]]];
        match self {
            JoinForm::Regular(ttl) => JoinForm::Regular(ttl),
            JoinForm::Interval(interval) => {
                JoinForm::Interval(Interval { times: interval.times.map(both), ..interval })
            }
            JoinForm::Window(windows) => {
                JoinForm::Window(Windows { starts: both(windows.starts), ends: both(windows.ends), ..windows })
            }
            JoinForm::Temporal(versions) => {
                JoinForm::Temporal(Versions { times: versions.times.map(both), ..versions })
            }
        }
    }
}

/// What of a side's input the join reads.
pub struct Input {
    pub node: NodeId,
    /// By column of the relation: the column of the node.
    pub columns: Vec<usize>,
    pub keys: Vec<usize>,
}

/// The columns of both sides, and what must be true of a pair besides its keys.
pub struct Pair {
    /// A column that the left side has already gets a number.
    pub names: Vec<String>,
    /// What each column holds, and of which side.
    pub identities: Vec<String>,
    /// The condition over all columns.
    pub condition: Option<Arc<dyn Expression>>,
}

impl Builder<'_> {
    /// The columns of the pairs of two nodes, with a condition over them compiled.
    pub fn pair(&self, left: NodeId, right: NodeId, condition: &[Tree]) -> Pair {
        let name = |field: &Field| field.name.clone();
        let left_names: Vec<String> = self.fields(left).iter().map(name).collect();
        let right_names: Vec<String> = self.fields(right).iter().map(name).collect();
        let names = joined::joined_names(&left_names, &right_names);
        let identities: Vec<String> = self
            .identity(left)
            .columns
            .iter()
            .map(|column| format!("left {column}"))
            .chain(self.identity(right).columns.iter().map(|column| format!("right {column}")))
            .collect();
        let condition: Option<Arc<dyn Expression>> = match condition {
            [] => None,
            parts => {
                let tree = if let [one] = parts { one.clone() } else { Tree::and(parts.to_vec()) };
                Some(Arc::new(Compiled::new(tree, &names, &identities, &self.context.functions)))
            }
        };
        Pair { names, identities, condition }
    }

    /// The relation of a join: the columns of the left side, then those of the right one; of a semi or anti join the left
    /// ones.
    pub fn join(&mut self, join: &logical_plan::Join) -> Result<Relation> {
        let (kind, swapped) = kind(join.join_type)?;
        let mut left = self.lower(&join.left)?;
        let mut right = self.lower(&join.right)?;
        let mut condition = self.join_condition(join, &left, &right)?;
        if join.null_aware {
            null_aware(&mut condition);
        }
        let widths = (left.fields.len(), right.fields.len());
        // A right semi join is a left one the other way round.
        let (condition, ttl) = match swapped {
            false => (condition, [self.side_ttl(&join.left), self.side_ttl(&join.right)]),
            true => {
                std::mem::swap(&mut left, &mut right);
                let moved = condition.iter().map(|tree| {
                    shift(tree, |column| match column < widths.0 {
                        true => column + widths.1,
                        false => column - widths.0,
                    })
                });
                (moved.collect(), [self.side_ttl(&join.right), self.side_ttl(&join.left)])
            }
        };
        let (form, condition) = self.join_form(kind, [&left, &right], condition, ttl)?;
        let mut parts = take_apart(condition, left.fields.len());
        push_down(kind, &mut parts, left.fields.len());
        for tree in std::mem::take(&mut parts.left) {
            left = self.filter(left, &tree);
        }
        for tree in std::mem::take(&mut parts.right) {
            right = self.filter(right, &tree);
        }
        self.join_relations(kind, left, right, parts, form)
    }

    /// What bounds a join, and the rest of its condition.
    fn join_form(
        &self,
        kind: JoinKind,
        sides: [&Relation; 2],
        condition: Vec<Tree>,
        ttl: [Option<Duration>; 2],
    ) -> Result<(JoinForm, Vec<Tree>)> {
        if let Some((windows, rest)) = self.equal_windows(sides, &condition)? {
            return Ok((JoinForm::Window(windows), rest));
        }
        match self.interval(kind, sides, &condition)? {
            Some((interval, rest)) => Ok((JoinForm::Interval(interval), rest)),
            None => Ok((JoinForm::Regular(ttl), condition)),
        }
    }

    /// The condition of a join over the columns of both sides, its parts.
    fn join_condition(&self, join: &logical_plan::Join, left: &Relation, right: &Relation) -> Result<Vec<Tree>> {
        let mut parts = Vec::new();
        let width = left.fields.len();
        for (one, other) in &join.on {
            let one = self.compile_one(left, join.left.schema(), one)?;
            let other = self.compile_one(right, join.right.schema(), other)?;
            let other = shift(&other, |column| column + width);
            let null_safe = join.null_equality == NullEquality::NullEqualsNull;
            parts.push(equality(one, other, null_safe)?);
        }
        if let Some(filter) = &join.filter {
            let schema = join.left.schema().join(join.right.schema()).map_err(crate::expression::from_datafusion)?;
            let types: Vec<SqlType> =
                left.fields.iter().chain(&right.fields).map(|field| field.sql_type.clone()).collect();
            match self.compile_over(&schema, &types, filter)? {
                Tree::And(all) => parts.extend(all),
                one => parts.push(one),
            }
        }
        Ok(parts.into_iter().filter(|tree| !super::query::is_true(tree)).collect())
    }

    pub fn join_relations(
        &mut self,
        kind: JoinKind,
        left: Relation,
        right: Relation,
        parts: Parts,
        form: JoinForm,
    ) -> Result<Relation> {
        let wants_left = matches!(kind, JoinKind::Semi | JoinKind::Anti);
        let shown = (left.fields.len(), right.fields.len());
        let (left_keys, right_keys): (Vec<Tree>, Vec<Tree>) =
            parts.keys.iter().map(|key| (key.left.clone(), key.right.clone())).unzip();
        let left = self.join_input(left, left_keys)?;
        let right = self.join_input(right, right_keys)?;
        let width = self.fields(left.node).len();
        let place = |column: usize| match column < shown.0 {
            true => left.columns[column],
            false => width + right.columns[column - shown.0],
        };
        let rest: Vec<Tree> = parts.rest.iter().map(|tree| shift(tree, place)).collect();
        let hides = rest.iter().any(|tree| !tree.hidden().is_empty());
        if hides && kind != JoinKind::Inner {
            return Err(Error::unsupported("NOW(), RAND() and the like in the condition of an outer or semi join"));
        }
        let (after, inside) = if hides { (rest, Vec::new()) } else { (Vec::new(), rest) };
        let keys = left.keys.iter().zip(&right.keys).zip(&parts.keys);
        let keys: Vec<JoinKey> =
            keys.map(|((&left, &right), key)| JoinKey { left, right, null_safe: key.null_safe }).collect();
        let places: Vec<usize> = match wants_left {
            true => (0..shown.0).map(place).collect(),
            false => (0..shown.0 + shown.1).map(place).collect(),
        };
        let inputs = [left.node, right.node];
        let node = match form.over([&left.columns, &right.columns]) {
            JoinForm::Regular(ttl) => self.join_node(kind, inputs, keys, &inside, ttl),
            form => self.time_join_node(kind, inputs, keys, &inside, form),
        };
        let all = columns(self.fields(node));
        let fields = places.iter().map(|&column| self.fields(node)[column].clone()).collect();
        let projection = places.iter().map(|&column| all[column].clone()).collect();
        let mut relation = Relation { node, window: None, rank: None, conditions: Vec::new(), projection, fields };
        relation.conditions = after;
        Ok(relation)
    }

    /// A side as a node with its keys as columns.
    pub fn join_input(&mut self, mut relation: Relation, keys: Vec<Tree>) -> Result<Input> {
        let shown = relation.fields.len();
        let names: Vec<String> = relation.fields.iter().map(|field| field.name.clone()).collect();
        let mut trees = columns(&relation.fields);
        let mut all_names = names.clone();
        let mut places = Vec::with_capacity(keys.len());
        let mut texts: Vec<String> = Vec::new();
        for key in keys {
            if let Some(column) = key.as_column() {
                places.push(column);
                continue;
            }
            let text = crate::expression::digest(&key, &[]);
            let known = texts.iter().position(|known| *known == text);
            places.push(shown + known.unwrap_or(texts.len()));
            if known.is_none() {
                all_names.push(crate::expression::sql(&key, &names));
                texts.push(text);
                trees.push(key);
            }
        }
        if !texts.is_empty() {
            relation = self.project(relation, trees, all_names)?;
        }
        let is_empty = relation.fields.is_empty();
        let node = self.node(relation)?;
        // Rows without columns have got one to be counted by.
        let columns = if is_empty { Vec::new() } else { (0..shown).collect() };
        Ok(Input { node, columns, keys: places })
    }

    fn join_node(
        &mut self,
        kind: JoinKind,
        [left, right]: [NodeId; 2],
        keys: Vec<JoinKey>,
        condition: &[Tree],
        [left_ttl, right_ttl]: [Option<Duration>; 2],
    ) -> NodeId {
        let below = [self.identity(left).clone(), self.identity(right).clone()];
        let Pair { names, identities, condition } = self.pair(left, right, condition);
        let left_keys: Vec<usize> = keys.iter().map(|key| key.left).collect();
        let right_keys: Vec<usize> = keys.iter().map(|key| key.right).collect();
        let rows = |node: NodeId, keys: &[usize]| rows_of(&self.output(node).upsert_keys, keys);
        let join = Join {
            kind,
            left: JoinSide { rows: rows(left, &left_keys), state_ttl: left_ttl },
            right: JoinSide { rows: rows(right, &right_keys), state_ttl: right_ttl },
            keys,
            condition,
        };
        let width = self.fields(left).len();
        let row = self.joined_row(kind, left, right, &names);
        let upsert_keys = upsert_keys(&join, self.output(left), self.output(right));
        let text = key_text(&join, &below);
        let anchor = format!("join-{}", short_hash(&format!("{text} {} {}", below[0].anchor, below[1].anchor)));
        let condition_text = join.condition.as_ref().map_or_else(String::new, |condition| condition.digest());
        let [left_rows, right_rows] = [(&join.left, &below[0]), (&join.right, &below[1])]
            .map(|(side, below)| format!("{} {}", rows_text(&side.rows, below), below.rows));
        let digest = format!("Join({text}, condition=[{condition_text}], left={left_rows}, right={right_rows})");
        let rows = short_hash(&format!("join {text} [{condition_text}] {} {}", below[0].rows, below[1].rows));
        let identity = Identity {
            rows,
            columns: identities.into_iter().take(row.len()).map(column_identity).collect(),
            anchor: anchor.clone(),
        };
        let spread = match kind {
            JoinKind::Full => None,
            JoinKind::Right => Some(right_keys.iter().map(|key| width + key).collect()),
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
                kind: NodeKind::Join(join),
            },
        };
        self.push(draft, true)
    }

    /// The columns of a join: padded ones can be NULL.
    pub fn joined_row(&self, kind: JoinKind, left: NodeId, right: NodeId, names: &[String]) -> RowType {
        let (pads_left, pads_right) = match kind {
            JoinKind::Left => (false, true),
            JoinKind::Right => (true, false),
            JoinKind::Full => (true, true),
            _ => (false, false),
        };
        let field = |(field, pads): (&Field, bool)| match pads {
            true => Field { sql_type: field.sql_type.with_nullable(true), ..field.clone() },
            false => field.clone(),
        };
        let left = self.fields(left).iter().map(|column| (column, pads_left));
        let right = self.fields(right).iter().map(|column| (column, pads_right));
        let fields: Vec<Field> = match kind {
            JoinKind::Semi | JoinKind::Anti => left.map(field).collect(),
            _ => left.chain(right).map(field).collect(),
        };
        RowType::new(fields.into_iter().zip(names).map(|(field, name)| Field { name: name.clone(), ..field }).collect())
    }

    /// Hints that no operator has read.
    pub fn warn_of_hints(&mut self) {
        for hint in self.context.config.hints.iter().filter(|hint| hint.name == STATE_TTL) {
            let hinted = self.hinted.borrow();
            if !hint.options.iter().all(|(table, _)| hinted.contains(table)) {
                self.warnings.push(Error::new(&crate::codes::OPTION_HINT, &[("hint", &hint)]));
            }
        }
    }

    /// How long state over an input is kept: a hint for one of its names, or the job's TTL. A join has no name: the hints
    /// of its tables are its own.
    pub(super) fn side_ttl(&self, plan: &LogicalPlan) -> Option<Duration> {
        let mut names = Vec::new();
        side_names(plan, &mut names);
        let hints = self.context.config.hints.iter().filter(|hint| hint.name == STATE_TTL);
        let mut options = hints.flat_map(|hint| &hint.options);
        let hinted =
            options.find(|(table, _)| names.iter().any(|name| name == table.rsplit('.').next().unwrap_or(table)));
        let Some((table, ttl)) = hinted else { return self.context.config.state_ttl };
        self.hinted.borrow_mut().insert(table.clone());
        base::options::parse_duration(ttl).filter(|ttl| !ttl.is_zero())
    }
}

/// The kind of a join, and whether its sides change places.
fn kind(join_type: JoinType) -> Result<(JoinKind, bool)> {
    Ok(match join_type {
        JoinType::Inner => (JoinKind::Inner, false),
        JoinType::Left => (JoinKind::Left, false),
        JoinType::Right => (JoinKind::Right, false),
        JoinType::Full => (JoinKind::Full, false),
        JoinType::LeftSemi => (JoinKind::Semi, false),
        JoinType::LeftAnti => (JoinKind::Anti, false),
        JoinType::RightSemi => (JoinKind::Semi, true),
        JoinType::RightAnti => (JoinKind::Anti, true),
        JoinType::LeftMark | JoinType::RightMark => {
            return Err(Error::unsupported("IN or EXISTS in this place"));
        }
    })
}

pub fn shift(tree: &Tree, place: impl Fn(usize) -> usize) -> Tree {
    tree.replace(&mut |leaf| match leaf {
        Tree::Column { index, sql_type } => Some(Tree::Column { index: place(*index), sql_type: sql_type.clone() }),
        _ => None,
    })
}

fn operator(name: &str, arguments: Vec<Tree>) -> Result<Tree> {
    let function = functions::scalar(name).ok_or_else(|| Error::internal(format!("no operator {name}")))?;
    let nullable = name == "=" && arguments.iter().any(|tree| tree.sql_type().nullable);
    Ok(Tree::Call { function, arguments, sql_type: LogicalType::Boolean.nullable().with_nullable(nullable) })
}

pub fn equality(left: Tree, right: Tree, null_safe: bool) -> Result<Tree> {
    match null_safe {
        true => Ok(Tree::Not(Box::new(operator("IS DISTINCT FROM", vec![left, right])?))),
        false => operator("=", vec![left, right]),
    }
}

/// The operands of an equality, and whether NULL equals NULL.
pub fn operands(tree: &Tree) -> Option<(&Tree, &Tree, bool)> {
    let (call, name, null_safe) = match tree {
        Tree::Not(inner) => (inner.as_ref(), "IS DISTINCT FROM", true),
        other => (other, "=", false),
    };
    match call {
        Tree::Call { function, arguments, .. } if function.name() == name => match arguments.as_slice() {
            [left, right] => Some((left, right, null_safe)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether values of a type can be a key: equal ones have equal bytes.
fn is_key_type(logical: &LogicalType) -> bool {
    match logical {
        LogicalType::Map(..) | LogicalType::Multiset(_) => false,
        LogicalType::Array(element) => is_key_type(&element.logical),
        LogicalType::Row(fields) => fields.iter().all(|(_, field)| is_key_type(&field.logical)),
        _ => true,
    }
}

/// An equality between the sides, with both operands of their common type.
fn as_key(tree: &Tree, width: usize) -> Option<Equality> {
    let (one, other, null_safe) = operands(tree)?;
    let side = |tree: &Tree| {
        let columns = tree.columns();
        let is_plain = tree.hidden().is_empty() && tree.is_deterministic() && !columns.is_empty();
        let is_left = columns.iter().all(|column| *column < width);
        let is_right = columns.iter().all(|column| *column >= width);
        (is_plain && (is_left || is_right)).then_some(is_left)
    };
    let (mut left, mut right) = match (side(one)?, side(other)?) {
        (true, false) => (one.clone(), other.clone()),
        (false, true) => (other.clone(), one.clone()),
        _ => return None,
    };
    let common = functions::comparison_type(&left.sql_type(), &right.sql_type())?;
    if !is_key_type(&common.logical) {
        return None;
    }
    align(&mut left, &common);
    align(&mut right, &common);
    Some(Equality { left, right: shift(&right, |column| column - width), null_safe })
}

pub fn take_apart(condition: Vec<Tree>, width: usize) -> Parts {
    let mut parts = Parts::default();
    for tree in condition {
        if let Some(key) = as_key(&tree, width) {
            parts.keys.push(key);
            continue;
        }
        let columns = tree.columns();
        let is_plain = tree.is_deterministic() && tree.hidden().is_empty();
        if is_plain && !columns.is_empty() && columns.iter().all(|column| *column < width) {
            parts.left.push(tree);
        } else if is_plain && columns.iter().all(|column| *column >= width) && !columns.is_empty() {
            parts.right.push(shift(&tree, |column| column - width));
        } else {
            parts.rest.push(tree);
        }
    }
    parts
}

/// Leaves to the sides what may be asked below the join; the rest stays in its condition.
pub fn push_down(kind: JoinKind, parts: &mut Parts, width: usize) {
    let (left_goes, right_goes) = match kind {
        JoinKind::Inner | JoinKind::Semi => (true, true),
        JoinKind::Left | JoinKind::Anti => (false, true),
        JoinKind::Right => (true, false),
        JoinKind::Full => (false, false),
    };
    if !left_goes {
        let left = std::mem::take(&mut parts.left);
        parts.rest.extend(left);
    }
    if !right_goes {
        parts.rest.extend(std::mem::take(&mut parts.right).iter().map(|tree| shift(tree, |column| column + width)));
    }
}

/// How rows of a side with the same join key are told apart.
pub fn rows_of(upsert_keys: &[Vec<usize>], keys: &[usize]) -> JoinRows {
    if upsert_keys.iter().any(|key| key.iter().all(|column| keys.contains(column))) {
        return JoinRows::One;
    }
    match upsert_keys.iter().min_by_key(|key| key.len()) {
        Some(key) => JoinRows::ByKey(key.clone()),
        None => JoinRows::Any,
    }
}

/// What tells rows apart as text over what the input holds.
fn rows_text(rows: &JoinRows, below: &Identity) -> String {
    match rows {
        JoinRows::ByKey(columns) => {
            let mut names: Vec<&str> = columns.iter().map(|&column| below.columns[column].as_str()).collect();
            names.sort_unstable();
            format!("by [{}]", names.join(", "))
        }
        JoinRows::One | JoinRows::Any => format!("{rows:?}"),
    }
}

/// The keys of the output. A key of an input survives the exchange by the join key if it holds it; pairs are known by a
/// key of both sides, or by one side's if there is one partner at most.
pub fn upsert_keys(join: &Join, left: &Output, right: &Output) -> Vec<Vec<usize>> {
    let surviving = |output: &Output, input: usize| -> Vec<Vec<usize>> {
        let keys = joined::key_columns(join, input);
        let holds = |key: &&Vec<usize>| keys.iter().all(|column| key.contains(column));
        output.upsert_keys.iter().filter(holds).cloned().collect()
    };
    let left_keys = surviving(left, 0);
    if matches!(join.kind, JoinKind::Semi | JoinKind::Anti) {
        return left_keys;
    }
    let width = left.row.len();
    let right_keys: Vec<Vec<usize>> =
        surviving(right, 1).iter().map(|key| key.iter().map(|column| width + column).collect()).collect();
    let mut keys = Vec::new();
    if join.right.rows == JoinRows::One && !matches!(join.kind, JoinKind::Right | JoinKind::Full) {
        keys.extend(left_keys.iter().cloned());
    }
    if join.left.rows == JoinRows::One && !matches!(join.kind, JoinKind::Left | JoinKind::Full) {
        keys.extend(right_keys.iter().cloned());
    }
    // Of a full join a padded left row and a padded right one look alike in these columns if all of them can be NULL.
    let is_certain = |column: &usize| {
        let (output, column) = if *column < width { (left, *column) } else { (right, *column - width) };
        !output.row.fields()[column].sql_type.nullable
    };
    for left in &left_keys {
        let pairs = right_keys.iter().map(|right| left.iter().chain(right).copied().collect());
        keys.extend(pairs.filter(|key: &Vec<usize>| join.kind != JoinKind::Full || key.iter().any(is_certain)));
    }
    keys.sort_by_key(Vec::len);
    keys.dedup();
    keys
}

/// The kind and keys of a join as text over what its inputs hold.
pub fn key_text(join: &Join, below: &[Identity; 2]) -> String {
    let name = |side: usize, column: usize| below[side].columns.get(column).map_or("?", String::as_str);
    let key = |key: &JoinKey| {
        let operator = if key.null_safe { "==" } else { "=" };
        format!("{} {operator} {}", name(0, key.left), name(1, key.right))
    };
    let keys: Vec<String> = join.keys.iter().map(key).collect();
    format!("{:?} [{}]", join.kind, keys.join(", "))
}

/// The names by which a hint can call a side.
fn side_names(plan: &LogicalPlan, names: &mut Vec<String>) {
    match plan {
        LogicalPlan::TableScan(scan) => names.push(scan.table_name.table().to_string()),
        LogicalPlan::SubqueryAlias(alias) => {
            names.push(alias.alias.table().to_string());
            side_names(&alias.input, names);
        }
        LogicalPlan::Projection(projection) => side_names(&projection.input, names),
        LogicalPlan::Filter(filter) => side_names(&filter.input, names),
        _ => {}
    }
}

/// `a NOT IN (SELECT b)`, the first condition: a NULL on either side could be equal to anything, so it keeps the row out.
fn null_aware(condition: &mut [Tree]) {
    let Some(first) = condition.first_mut() else { return };
    let Some((left, right, false)) = operands(first) else { return };
    let is_null = |tree: &Tree| Tree::Is { input: Box::new(tree.clone()), test: Test::Null };
    let mut tests: Vec<Tree> = [left, right].into_iter().filter(|tree| tree.sql_type().nullable).map(is_null).collect();
    if !tests.is_empty() {
        tests.push(first.clone());
        *first = Tree::or(tests);
    }
}
