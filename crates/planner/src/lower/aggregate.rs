//! GROUP BY, SELECT DISTINCT and window aggregates.
//!
//! An aggregate over a window table function takes the window in if it groups by both window_start and window_end: then
//! it emits a window once, when it is complete. With one of them it is a plain aggregate that updates its result.

use super::builder::{
    Builder, Draft, Identity, PendingWindow, Relation, column_identity, columns, identifying, short_hash, window_digest,
};
use super::codes;
use super::late::LateTarget;
use crate::bridge::flink_aggregate;
use crate::expression::{self, Tree};
use crate::nodes::WindowTableNode;
use base::function::{AggregateFunction, AggregateOptions};
use base::plan::{
    AggregateCall, Distribution, Edge, GroupAggregate, Node, NodeId, NodeKind, Output, WindowAggregate, WindowKind,
    WindowProperty,
};
use base::{ChangelogMode, Error, Field, Result, RowType, SqlType, TimeAttribute};
use datafusion_common::DFSchema;
use datafusion_expr::Expr;
use datafusion_expr::logical_plan::Aggregate;
use std::sync::Arc;
use std::time::Duration;

/// An aggregate call over the columns of the aggregate's input.
pub(super) struct Call {
    /// The function.
    pub function: Arc<dyn AggregateFunction>,
    /// Arguments.
    pub arguments: Vec<Tree>,
    /// FILTER.
    pub filter: Option<Tree>,
    /// DISTINCT.
    pub distinct: bool,
}

/// Where a key of a window aggregate comes from.
enum KeySource {
    /// The window itself.
    Window(WindowProperty),
    /// This key column of the aggregate.
    Column(usize),
    /// An expression over window columns, with its name: `DATE_FORMAT(window_start, 'HH:mm')`.
    Derived(Tree, String),
}

/// The columns that an aggregate reads, each once.
#[derive(Default)]
struct Columns {
    trees: Vec<Tree>,
    names: Vec<String>,
    texts: Vec<String>,
}

impl Columns {
    fn add(&mut self, tree: &Tree, name: String) -> usize {
        // Without names, columns are compared by position.
        let text = expression::digest(tree, &[]);
        if let Some(known) = self.texts.iter().position(|known| *known == text) {
            return known;
        }
        self.trees.push(tree.clone());
        self.names.push(name);
        self.texts.push(text);
        self.trees.len() - 1
    }
}

impl Builder<'_> {
    /// The relation of an aggregate: the keys in their order, then the calls.
    pub fn aggregate(&mut self, aggregate: &Aggregate) -> Result<Relation> {
        let input = self.lower(&aggregate.input)?;
        let schema = aggregate.input.schema();
        let keys = self.compile_all(&input, schema, &aggregate.group_expr)?;
        let calls =
            aggregate.aggr_expr.iter().map(|expr| self.call(&input, schema, expr)).collect::<Result<Vec<_>>>()?;
        let ttl = self.side_ttl(&aggregate.input);
        self.group(input, keys, calls, ttl)
    }

    /// The different rows of a relation, kept for `ttl`.
    pub fn distinct(&mut self, input: Relation, ttl: Option<Duration>) -> Result<Relation> {
        let keys = columns(&input.fields);
        self.group(input, keys, Vec::new(), ttl)
    }

    fn call(&self, input: &Relation, schema: &DFSchema, expr: &Expr) -> Result<Call> {
        let mut expr = expr;
        while let Expr::Alias(alias) = expr {
            expr = &alias.expr;
        }
        let Expr::AggregateFunction(call) = expr else {
            return Err(Error::unsupported(format!("{expr} as an aggregate")));
        };
        let function = flink_aggregate(&call.func)
            .ok_or_else(|| Error::internal(format!("{} is not one of our aggregates", call.func.name())))?
            .clone();
        if !call.params.order_by.is_empty() {
            return Err(Error::unsupported(format!("ORDER BY inside {}", function.name())));
        }
        if call.params.null_treatment.is_some() {
            return Err(Error::unsupported(format!("IGNORE NULLS and RESPECT NULLS in {}", function.name())));
        }
        let mut arguments = self.compile_all(input, schema, &call.params.args)?;
        if function.name() == "COUNT"
            && !call.params.distinct
            && matches!(arguments.as_slice(), [tree] if is_present_constant(tree))
        {
            // COUNT(*): DataFusion writes it as COUNT(1).
            arguments.clear();
        }
        let filter = match &call.params.filter {
            None => None,
            Some(filter) => Some(self.compile_one(input, schema, filter)?),
        };
        Ok(Call { function, arguments, filter, distinct: call.params.distinct })
    }

    fn group(
        &mut self,
        mut input: Relation,
        keys: Vec<Tree>,
        calls: Vec<Call>,
        ttl: Option<Duration>,
    ) -> Result<Relation> {
        if let Some(pending) = input.window.take() {
            let width = self.fields(input.node).len();
            let properties: Vec<Option<WindowProperty>> =
                keys.iter().map(|key| property(&key.over(&input.projection), width)).collect();
            let has = |property| properties.contains(&Some(property));
            let is_whole = has(WindowProperty::Start) && has(WindowProperty::End);
            let is_group_window = pending.legacy || is_whole && is_by_session(&input, &pending, &keys, width);
            if is_group_window && !self.must_see_window(&input, &pending, &keys, &calls) {
                return self.window_aggregate(input, pending, keys, &properties, calls);
            }
            input.window = Some(pending);
            if is_group_window {
                self.settle_window(&mut input)?;
            }
        } else if self.attached_window(&input, &keys).is_some() {
            self.settle_rank(&mut input)?;
        }
        if let Some((pending, properties)) = self.attached_window(&input, &keys) {
            let first = input.fields.len();
            let node = self.fields(input.node).len();
            for (place, field) in pending.fields.iter().enumerate() {
                input.projection.push(Tree::Column { index: node + place, sql_type: field.sql_type.clone() });
                input.fields.push(field.clone());
            }
            let key = |(key, property): (Tree, &Option<WindowProperty>)| match property {
                Some(property) => Tree::Column { index: first + property_index(*property), sql_type: key.sql_type() },
                None => key,
            };
            let keys = keys.into_iter().zip(&properties).map(key).collect();
            return self.window_aggregate(input, pending, keys, &properties, calls);
        }
        match self.split_distinct(&input, &keys, &calls) {
            Some(parts) => self.in_parts(input, keys, parts, ttl),
            None => self.one_group_aggregate(input, keys, calls, ttl),
        }
    }

    /// Whether rows must carry their windows into the aggregate, since something below it reads both: it cannot wait until a window
    /// is complete. Only windows that an operator can put beside a row are meant (see [`Builder::attached_window`]).
    fn must_see_window(&self, input: &Relation, pending: &PendingWindow, keys: &[Tree], calls: &[Call]) -> bool {
        let is_kept = matches!(pending.window.kind, WindowKind::Session { .. }) || pending.window.is_processing_time;
        if pending.legacy || is_kept {
            return false;
        }
        let width = self.fields(input.node).len();
        let reads = |tree: &Tree| reads_window(&tree.over(&input.projection), width);
        let mixes = |tree: &Tree| reads_window(tree, width) && tree.columns().iter().any(|&column| column < width);
        let key_mixes = |key: &Tree| {
            let tree = key.over(&input.projection);
            reads_window(&tree, width) && property(&tree, width).is_none() && !tells_window(&tree, width)
        };
        calls.iter().any(|call| call.arguments.iter().chain(&call.filter).any(reads))
            || input.conditions.iter().any(mixes)
            || keys.iter().any(key_mixes)
    }

    /// GROUP BY as one operator, which forgets groups after `ttl`.
    pub(super) fn one_group_aggregate(
        &mut self,
        input: Relation,
        keys: Vec<Tree>,
        calls: Vec<Call>,
        ttl: Option<Duration>,
    ) -> Result<Relation> {
        let names: Vec<String> = input.fields.iter().map(|field| field.name.clone()).collect();
        let mut read = Columns::default();
        let key_columns: Vec<usize> = keys.iter().map(|key| read.add(key, expression::sql(key, &names))).collect();
        let planned = plan_calls(&calls, &mut read, &names, &|tree| tree.clone());
        let before = self.project(input, read.trees, read.names)?;
        let node = self.node(before)?;
        // A key that is given twice is one column of the aggregate.
        let mut unique: Vec<usize> = Vec::new();
        for &key in &key_columns {
            if !unique.contains(&key) {
                unique.push(key);
            }
        }
        let group = self.group_node(node, &unique, planned, ttl)?;
        let all = columns(self.fields(group));
        let place = |key: &usize| unique.iter().position(|known| known == key).unwrap_or(0);
        let mut order: Vec<usize> = key_columns.iter().map(place).collect();
        order.extend(unique.len()..all.len());
        let fields = order.iter().map(|&index| self.fields(group)[index].clone()).collect();
        let projection = order.iter().map(|&index| all[index].clone()).collect();
        Ok(Relation { node: group, window: None, rank: None, conditions: Vec::new(), projection, fields })
    }

    fn group_node(
        &mut self,
        input: NodeId,
        keys: &[usize],
        calls: Vec<AggregateCall>,
        state_ttl: Option<Duration>,
    ) -> Result<NodeId> {
        let below = self.identity(input).clone();
        let before = self.fields(input).to_vec();
        let mut fields: Vec<Field> =
            keys.iter().map(|&key| Field::new(before[key].name.clone(), before[key].sql_type.clone())).collect();
        fields.extend(call_fields(&calls, &before)?);
        let key_names: Vec<String> = keys.iter().map(|&key| below.columns[key].clone()).collect();
        let texts: Vec<String> = calls.iter().map(|call| call_text(call, &below.columns)).collect();
        let key_text = key_names.join(", ");
        let digest = format!("GroupAggregate(keys=[{key_text}], input={})", below.rows);
        let rows = short_hash(&format!("group [{key_text}] {}", below.rows));
        let anchor = format!("group-{}", short_hash(&format!("[{key_text}] {}", below.anchor)));
        let mut identities = key_names;
        identities.extend(texts.into_iter().map(column_identity));
        let kind = NodeKind::GroupAggregate(GroupAggregate { keys: keys.to_vec(), calls, merges: None, state_ttl });
        let own_keys: Vec<usize> = (0..keys.len()).collect();
        let draft = Draft {
            spread: Some(own_keys.clone()),
            node: Node {
                operator_id: anchor.clone(),
                digest,
                kind,
                inputs: vec![Edge { node: input, distribution: Distribution::Hash(keys.to_vec()) }],
                output: Output {
                    row: RowType::new(fields),
                    changelog: ChangelogMode::APPEND,
                    upsert_keys: vec![own_keys],
                },
            },
            identity: Identity { rows, columns: identities, anchor },
        };
        Ok(self.push(draft, true))
    }

    fn window_aggregate(
        &mut self,
        input: Relation,
        mut pending: PendingWindow,
        keys: Vec<Tree>,
        properties: &[Option<WindowProperty>],
        calls: Vec<Call>,
    ) -> Result<Relation> {
        let below = self.fields(input.node).to_vec();
        let width = below.len();
        check_multiple(&pending)?;
        // Conditions on the window hold for whole windows: they can wait until the aggregate has its result.
        let (window_conditions, conditions): (Vec<Tree>, Vec<Tree>) =
            input.conditions.into_iter().partition(|tree| reads_window(tree, width));
        if window_conditions.iter().any(|tree| tree.columns().iter().any(|&column| column < width)) {
            return Err(Error::unsupported(
                "a condition on both window columns and other columns below a window aggregate",
            ));
        }
        let projection = input.projection;
        let own: Vec<String> = input.fields.iter().map(|field| field.name.clone()).collect();
        let mut read = Columns::default();
        let mut key_columns = Vec::new();
        let mut sources = Vec::new();
        for (key, property) in keys.iter().zip(properties) {
            let tree = key.over(&projection);
            let name = expression::sql(key, &own);
            if let Some(property) = property {
                sources.push(KeySource::Window(*property));
            } else if tells_window(&tree, width) {
                sources.push(KeySource::Derived(tree, name));
            } else {
                let column = read.add(&tree, name);
                let place = key_columns.iter().position(|known| *known == column).unwrap_or_else(|| {
                    key_columns.push(column);
                    key_columns.len() - 1
                });
                sources.push(KeySource::Column(place));
            }
        }
        let planned = plan_calls(&calls, &mut read, &own, &|tree| tree.over(&projection));
        let all = columns(&below);
        let time = pending.window.time_column;
        let time_column = read.add(&all[time], below[time].name.clone());
        if read.trees.iter().any(|tree| reads_window(tree, width)) {
            return Err(Error::unsupported("an expression over window columns below a window aggregate"));
        }
        let late = pending.late.take().map(|late| LateTarget {
            columns: late.columns.iter().map(|&column| read.add(&all[column], below[column].name.clone())).collect(),
            ..late
        });
        let used = used_properties(&sources, &window_conditions, width);
        let fields = read
            .trees
            .iter()
            .zip(&read.names)
            .map(|(tree, name)| match tree.as_column() {
                Some(index) => Field { name: name.clone(), ..below[index].clone() },
                None => Field::new(name.clone(), tree.sql_type()),
            })
            .collect();
        let before =
            Relation { node: input.node, window: None, rank: None, conditions, projection: read.trees, fields };
        let node = self.node(before)?;
        pending.window.time_column = time_column;
        let results = key_columns.len() + planned.len();
        let group = self.window_node(node, pending, &key_columns, planned, &used)?;
        if let Some(late) = &late {
            self.late_rows(group, late)?;
        }
        Ok(self.window_relation(group, sources, &window_conditions, key_columns.len()..results, &used, width))
    }

    /// The result of a window aggregate in the order of its keys, then its calls, behind the conditions on the window.
    fn window_relation(
        &self,
        group: NodeId,
        sources: Vec<KeySource>,
        conditions: &[Tree],
        calls: std::ops::Range<usize>,
        used: &[WindowProperty],
        width: usize,
    ) -> Relation {
        let all = columns(self.fields(group));
        let column_of =
            |property: WindowProperty| calls.end + used.iter().position(|known| *known == property).unwrap_or(0);
        let mut moved = |leaf: &Tree| match leaf {
            Tree::Column { index, .. } => {
                let property = property_at(index.checked_sub(width)?)?;
                Some(all[column_of(property)].clone())
            }
            _ => None,
        };
        let mut projection = Vec::with_capacity(sources.len() + calls.len());
        let mut fields = Vec::with_capacity(projection.capacity());
        for source in sources {
            let column = match source {
                KeySource::Window(property) => column_of(property),
                KeySource::Column(place) => place,
                KeySource::Derived(tree, name) => {
                    fields.push(Field::new(name, tree.sql_type()));
                    projection.push(tree.replace(&mut moved));
                    continue;
                }
            };
            fields.push(self.fields(group)[column].clone());
            projection.push(all[column].clone());
        }
        fields.extend(self.fields(group)[calls.clone()].iter().cloned());
        projection.extend(all[calls.clone()].iter().cloned());
        let conditions = conditions.iter().map(|tree| tree.replace(&mut moved)).collect();
        Relation { node: group, window: None, rank: None, conditions, projection, fields }
    }

    fn window_node(
        &mut self,
        input: NodeId,
        pending: PendingWindow,
        keys: &[usize],
        calls: Vec<AggregateCall>,
        properties: &[WindowProperty],
    ) -> Result<NodeId> {
        let below = self.identity(input).clone();
        let before = self.fields(input).to_vec();
        let mut fields: Vec<Field> =
            keys.iter().map(|&key| Field::new(before[key].name.clone(), before[key].sql_type.clone())).collect();
        fields.extend(call_fields(&calls, &before)?);
        fields.extend(properties.iter().map(|&property| pending.fields[property_index(property)].clone()));
        let key_names: Vec<String> = keys.iter().map(|&key| below.columns[key].clone()).collect();
        let key_text = key_names.join(", ");
        let texts: Vec<String> = calls.iter().map(|call| call_text(call, &below.columns)).collect();
        let window = window_digest(&pending.window, &below.columns, &[]);
        let digest = format!("WindowAggregate(window={window}, keys=[{key_text}], input={})", below.rows);
        let rows = short_hash(&format!("window {window} [{key_text}] {}", below.rows));
        let anchor = format!("window-{}", short_hash(&format!("{window} [{key_text}] {}", below.anchor)));
        let mut identities = key_names;
        identities.extend(texts.into_iter().map(column_identity));
        for property in properties {
            let name = crate::nodes::WINDOW_COLUMNS[property_index(*property)];
            identities.push(column_identity(format!("{name}({window})")));
        }
        let own_keys: Vec<usize> = (0..keys.len()).collect();
        let results = keys.len() + calls.len();
        let upsert_keys = identifying(&pending.window.kind)
            .into_iter()
            .filter_map(|property| properties.iter().position(|known| *known == property))
            .map(|place| own_keys.iter().copied().chain([results + place]).collect())
            .collect();
        let emit = self.window_emit(&pending.window)?;
        let digest = match emit.makes_updates() {
            true => format!("{digest} {emit:?}"),
            false => digest,
        };
        let is_legacy = pending.legacy;
        let kind = NodeKind::WindowAggregate(WindowAggregate {
            window: pending.window,
            is_attached: pending.attached,
            keys: keys.to_vec(),
            calls,
            properties: properties.to_vec(),
            emit,
        });
        let draft = Draft {
            spread: Some(own_keys),
            node: Node {
                operator_id: anchor.clone(),
                digest,
                kind,
                inputs: vec![Edge { node: input, distribution: Distribution::Hash(keys.to_vec()) }],
                output: Output { row: RowType::new(fields), changelog: ChangelogMode::APPEND, upsert_keys },
            },
            identity: Identity { rows, columns: identities, anchor },
        };
        let node = self.push(draft, true);
        if is_legacy {
            self.legacy_windows.insert(node);
        }
        Ok(node)
    }

    /// Only a time attribute can cut windows. As in Flink, a group window takes the key of a GROUP BY or DISTINCT below it, too,
    /// which is a time attribute by what the query says only.
    pub fn check_time_column(&self, node: &WindowTableNode, input: &Relation, time: usize) -> Result<()> {
        let field = &input.fields[time];
        let named = Field::from_arrow(node.input.schema().field(time))?;
        if field.time.is_some() || (node.legacy && named.time == Some(TimeAttribute::Rowtime)) {
            return Ok(());
        }
        let function = match node.kind {
            WindowKind::Tumble { .. } => "TUMBLE",
            WindowKind::Hop { .. } => "HOP",
            WindowKind::Cumulate { .. } => "CUMULATE",
            WindowKind::Session { .. } => "SESSION",
        };
        let source = input.projection[time].as_column();
        let scanned = source.and_then(|column| self.scanned_column(input.node, column));
        let arguments: (&dyn std::fmt::Display, &dyn std::fmt::Display) = (&function, &field.sql_type.logical);
        Err(match scanned {
            Some((table, column)) if field.sql_type.logical.is_timestamp() => Error::new(
                &codes::WINDOW_TIME,
                &[("function", arguments.0), ("type", arguments.1), ("table", &table), ("column", &column)],
            ),
            Some((table, column)) => Error::new(
                &codes::WINDOW_TIME_TYPE,
                &[("function", arguments.0), ("type", arguments.1), ("table", &table), ("column", &column)],
            ),
            None => Error::new(
                &codes::WINDOW_TIME_LOST,
                &[("function", arguments.0), ("type", arguments.1), ("column", &field.name)],
            ),
        })
    }

    /// The table and column that a column of a node is, if nothing but filters and projections lies between.
    fn scanned_column(&self, node: NodeId, column: usize) -> Option<(String, String)> {
        let node = &self.drafts[node].node;
        match &node.kind {
            NodeKind::Scan(scan) => Some((scan.table.clone(), node.output.row.fields().get(column)?.name.clone())),
            NodeKind::Calc(calc) => {
                let below = calc.projection.get(column)?.as_column()?;
                self.scanned_column(node.inputs.first()?.node, below)
            }
            NodeKind::ChangelogNormalize(_) => self.scanned_column(node.inputs.first()?.node, column),
            _ => None,
        }
    }
}

fn plan_calls(
    calls: &[Call],
    read: &mut Columns,
    names: &[String],
    base: &dyn Fn(&Tree) -> Tree,
) -> Vec<AggregateCall> {
    let text = |tree: &Tree| expression::sql(tree, names);
    let mut planned = Vec::with_capacity(calls.len());
    for call in calls {
        let arguments: Vec<String> = call.arguments.iter().map(text).collect();
        let inside = if arguments.is_empty() { "*".to_string() } else { arguments.join(", ") };
        let distinct = if call.distinct { "DISTINCT " } else { "" };
        let mut sql = format!("{}({distinct}{inside})", call.function.name());
        if let Some(filter) = &call.filter {
            sql.push_str(&format!(" FILTER (WHERE {})", text(filter)));
        }
        let mut add = |tree: &Tree| read.add(&base(tree), text(tree));
        planned.push(AggregateCall {
            function: call.function.clone(),
            arguments: call.arguments.iter().map(&mut add).collect(),
            filter: call.filter.as_ref().map(&mut add),
            options: AggregateOptions { distinct: call.distinct, retract: false },
            sql,
        });
    }
    planned
}

fn call_fields(calls: &[AggregateCall], before: &[Field]) -> Result<Vec<Field>> {
    calls
        .iter()
        .map(|call| {
            let types: Vec<SqlType> = call.arguments.iter().map(|&column| before[column].sql_type.clone()).collect();
            Ok(Field::new(call.sql.clone(), call.function.return_type(&types)?))
        })
        .collect()
}

/// A call as text over named columns.
fn call_text(call: &AggregateCall, names: &[String]) -> String {
    let arguments: Vec<&str> = call.arguments.iter().map(|&column| names[column].as_str()).collect();
    let distinct = if call.options.distinct { "DISTINCT " } else { "" };
    let filter = call.filter.map_or(String::new(), |column| format!(" FILTER {}", names[column]));
    format!("{}({distinct}{}){filter}", call.function.name(), arguments.join(", "))
}

fn is_present_constant(tree: &Tree) -> bool {
    use arrow::array::Array;
    matches!(tree, Tree::Literal { value, .. } if !value.is_null(0))
}

/// Whether an aggregate groups by just what sessions are kept by: else it reads their rows. Other windows are those of all rows.
fn is_by_session(input: &Relation, pending: &PendingWindow, keys: &[Tree], width: usize) -> bool {
    if !matches!(pending.window.kind, WindowKind::Session { .. }) {
        return true;
    }
    let mut columns = Vec::new();
    for key in keys {
        let tree = key.over(&input.projection);
        if tells_window(&tree, width) {
            continue;
        }
        match tree.as_column() {
            Some(column) => columns.push(column),
            None => return false,
        }
    }
    let mut partition = pending.partition.clone();
    for list in [&mut columns, &mut partition] {
        list.sort_unstable();
        list.dedup();
    }
    columns == partition
}

fn property(tree: &Tree, width: usize) -> Option<WindowProperty> {
    property_at(tree.as_column()?.checked_sub(width)?)
}

fn property_at(index: usize) -> Option<WindowProperty> {
    [WindowProperty::Start, WindowProperty::End, WindowProperty::Time].get(index).copied()
}

fn property_index(property: WindowProperty) -> usize {
    match property {
        WindowProperty::Start => 0,
        WindowProperty::End => 1,
        WindowProperty::Time => 2,
    }
}

/// The window columns that keys or conditions read, in their order.
fn used_properties(keys: &[KeySource], conditions: &[Tree], width: usize) -> Vec<WindowProperty> {
    let mut all = vec![WindowProperty::Start, WindowProperty::End, WindowProperty::Time];
    all.retain(|&property| {
        let place = width + property_index(property);
        let is_key = keys.iter().any(|key| match key {
            KeySource::Window(known) => *known == property,
            KeySource::Derived(tree, _) => tree.columns().contains(&place),
            KeySource::Column(_) => false,
        });
        is_key || conditions.iter().any(|tree| tree.columns().contains(&place))
    });
    all
}

/// Whether a key follows from the window alone: the window has one value of it, so it can wait for the result.
fn tells_window(tree: &Tree, width: usize) -> bool {
    let columns = tree.columns();
    !columns.is_empty()
        && columns.iter().all(|&column| column >= width)
        && tree.hidden().is_empty()
        && tree.is_deterministic()
}

fn reads_window(tree: &Tree, width: usize) -> bool {
    tree.columns().iter().any(|&column| column >= width)
}

/// Window aggregates cut a window into slices: its size must be a whole number of them.
fn check_multiple(pending: &PendingWindow) -> Result<()> {
    let (function, step_name, step_ms, size_ms) = match pending.window.kind {
        WindowKind::Hop { slide_ms, size_ms } if !pending.legacy => ("HOP", "slide", slide_ms, size_ms),
        WindowKind::Cumulate { step_ms, size_ms } => ("CUMULATE", "step", step_ms, size_ms),
        _ => return Ok(()),
    };
    if step_ms > 0 && size_ms % step_ms == 0 {
        return Ok(());
    }
    Err(Error::new(
        &crate::codes::WINDOW_MULTIPLE,
        &[("function", &function), ("step", &step_name), ("size_ms", &size_ms), ("step_ms", &step_ms)],
    ))
}
