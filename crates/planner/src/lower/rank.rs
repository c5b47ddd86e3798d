//! Top-N, deduplication, ORDER BY and LIMIT.
//!
//! A filter over ROW_NUMBER that says how far the numbers go is a Top-N: it keeps the best rows instead of numbering all of
//! them. What else the filter says stays a filter above. ORDER BY with LIMIT is a Top-N of all rows.

use super::builder::{Builder, Draft, Identity, PendingRank, Relation, column_identity, columns, computed, short_hash};
use super::query::names;
use super::rank_codes as codes;
use super::rank_range::{self, Range};
use crate::expression::{self, Tree};
use crate::window_functions::{WindowFunction, flink_window};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Int64Type};
use base::plan::{
    Deduplicate, Distribution, Edge, Keep, Node, NodeId, NodeKind, Output, Rank, RankEnd, RankStrategy, SortKey,
    TemporalSort,
};
use base::{ChangelogMode, Error, Field, LogicalType, Result, RowType, TimeAttribute};
use datafusion_common::DFSchema;
use datafusion_expr::expr::{Sort as SortExpr, WindowFunctionParams};
use datafusion_expr::logical_plan::{Filter, Limit, Projection, Sort, Window};
use datafusion_expr::{Expr, LogicalPlan, WindowFunctionDefinition};

/// A node with the columns that it is ordered and partitioned by.
pub(super) struct Ordered {
    /// The node.
    pub node: NodeId,
    /// PARTITION BY.
    pub partition: Vec<usize>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
}

impl Builder<'_> {
    /// The relation of a filter over ROW_NUMBER that is a Top-N; `None` if it is not.
    ///
    /// # Errors
    /// Numbers without an end, and RANK and DENSE_RANK.
    pub fn top_n(&mut self, filter: &Filter) -> Result<Option<Relation>> {
        let Some((window, projections)) = window_below(&filter.input) else { return Ok(None) };
        let Some((function, parameters)) = ranking(window) else { return Ok(None) };
        let input = self.lower(&window.input)?;
        let width = input.fields.len();
        let number = Field::new(format!("{}()", function.name()), LogicalType::BigInt.not_null());
        // What stands between the window and the filter, over the columns of the window.
        let fields: Vec<Field> = input.fields.iter().cloned().chain([number.clone()]).collect();
        let mut shown = Relation { projection: columns(&fields), fields, ..input.clone() };
        for projection in projections {
            shown = self.projected(shown, projection)?;
        }
        let condition = self.compile_one(&shown, filter.input.schema(), &filter.predicate)?;
        let parts = match condition.over(&shown.projection) {
            Tree::And(parts) => parts,
            one => vec![one],
        };
        let range = rank_range::take(parts, width, &self.context.functions);
        if range.end.is_none() && range.start.is_none() {
            return Ok(None);
        }
        if function != WindowFunction::RowNumber {
            return Err(Error::new(&codes::RANK_FUNCTION, &[("function", &function.name())]));
        }
        let Some(end) = range.end else {
            return Err(Error::new(&codes::RANK_END, &[("column", &number.name)]));
        };
        if end == RankEnd::Constant(0) {
            return Err(Error::new(&codes::RANK_END_ZERO, &[("column", &number.name)]));
        }
        let input = self.with_key(input);
        let ordered = self.ordered(input, window.input.schema(), &parameters.partition_by, &parameters.order_by)?;
        Ok(Some(self.ranked(ordered, number, Range { end: Some(end), ..range }, shown, width)?))
    }

    /// A Top-N or a deduplication behind what stands above its window: trees over `width` columns and the number.
    fn ranked(
        &mut self,
        ordered: Ordered,
        number: Field,
        range: Range,
        shown: Relation,
        width: usize,
    ) -> Result<Relation> {
        let (start, end) = (range.start.unwrap_or(1).max(1), range.end.unwrap_or(RankEnd::All));
        let only = (end == RankEnd::Constant(start)).then_some(start);
        let window = self.ranked_window(&ordered, end, &number.name)?;
        let deduplicated = match &window {
            Some(_) => None,
            None => self.deduplicated(&ordered, start, end),
        };
        let node = match deduplicated {
            Some(node) => (node?, None),
            None => {
                let rank = self.rank_of(&ordered, start, end);
                (ordered.node, Some(PendingRank { rank, field: number, window }))
            }
        };
        let place = self.fields(ordered.node).len();
        // The only number there is needs no column.
        let constant = only.map(|only| Tree::Literal {
            value: std::sync::Arc::new(arrow::array::Int64Array::from(vec![only as i64])),
            sql_type: LogicalType::BigInt.not_null(),
        });
        let moved = |tree: &Tree| {
            tree.replace(&mut |leaf| match leaf {
                Tree::Column { index, sql_type } if *index == width => Some(match &constant {
                    Some(constant) => constant.clone(),
                    None => Tree::Column { index: place, sql_type: sql_type.clone() },
                }),
                _ => None,
            })
        };
        Ok(Relation {
            node: node.0,
            window: None,
            rank: node.1,
            conditions: range.rest.iter().map(moved).collect(),
            projection: shown.projection.iter().map(moved).collect(),
            fields: shown.fields,
        })
    }

    /// A projection that stays pending, whatever it repeats.
    fn projected(&mut self, below: Relation, projection: &Projection) -> Result<Relation> {
        let trees = self.compile_all(&below, projection.input.schema(), &projection.expr)?;
        let field = |(tree, name): (&Tree, String)| match tree.as_column() {
            Some(index) => Field { name, ..below.fields[index].clone() },
            None => computed(name, tree),
        };
        let fields = trees.iter().zip(names(&projection.schema)).map(field).collect();
        let projection = trees.iter().map(|tree| tree.over(&below.projection)).collect();
        Ok(Relation { projection, fields, ..below })
    }

    /// The rows of an aggregate with its keys, even if nobody above reads them: they tell which row an update replaces.
    fn with_key(&self, mut input: Relation) -> Relation {
        let plain = input.window.is_none() && input.rank.is_none() && input.conditions.is_empty();
        if !plain || self.output(input.node).changelog.is_append_only() || !self.is_aggregate(input.node) {
            return input;
        }
        let key = self.output(input.node).upsert_keys.first().cloned().unwrap_or_default();
        for column in key {
            if !input.projection.iter().any(|tree| tree.as_column() == Some(column)) {
                let field = self.fields(input.node)[column].clone();
                input.projection.push(Tree::Column { index: column, sql_type: field.sql_type.clone() });
                input.fields.push(field);
            }
        }
        input
    }

    /// The relation as a node that has the columns to order and partition by, those that are computed behind its own.
    fn ordered(
        &mut self,
        input: Relation,
        schema: &DFSchema,
        partition: &[Expr],
        order: &[SortExpr],
    ) -> Result<Ordered> {
        let mut trees = columns(&input.fields);
        let mut names: Vec<String> = input.fields.iter().map(|field| field.name.clone()).collect();
        let own = names.clone();
        let mut place = |tree: Tree| {
            tree.as_column().unwrap_or_else(|| {
                let text = expression::digest(&tree, &[]);
                let known = trees.iter().position(|other| expression::digest(other, &[]) == text);
                known.unwrap_or_else(|| {
                    names.push(expression::sql(&tree, &own));
                    trees.push(tree);
                    trees.len() - 1
                })
            })
        };
        let mut partition_columns = Vec::with_capacity(partition.len());
        for expr in partition {
            let column = place(self.compile_one(&input, schema, expr)?);
            if !partition_columns.contains(&column) {
                partition_columns.push(column);
            }
        }
        let mut keys: Vec<SortKey> = Vec::with_capacity(order.len());
        for SortExpr { expr, asc, nulls_first } in order {
            let tree = self.compile_one(&input, schema, expr)?;
            // A constant orders nothing.
            if tree.is_constant() {
                continue;
            }
            let column = place(tree);
            if !keys.iter().any(|key| key.column == column) {
                keys.push(SortKey { column, descending: !asc, nulls_first: *nulls_first });
            }
        }
        let relation = self.project(input, trees, names)?;
        let node = self.node(relation)?;
        Ok(Ordered { node, partition: partition_columns, order: keys })
    }

    /// The deduplication that a ranking is: one row by a time attribute, of rows that are only added.
    fn deduplicated(&mut self, ordered: &Ordered, start: u64, end: RankEnd) -> Option<Result<NodeId>> {
        let [key] = ordered.order.as_slice() else { return None };
        let time = self.fields(ordered.node)[key.column].time?;
        let appends = self.output(ordered.node).changelog.is_append_only();
        if (start, end) != (1, RankEnd::Constant(1)) || !appends {
            return None;
        }
        let deduplicate = Deduplicate {
            keys: ordered.partition.clone(),
            keep: if key.descending { Keep::Last } else { Keep::First },
            rowtime: (time == TimeAttribute::Rowtime).then_some(key.column),
            state_ttl: self.context.config.state_ttl,
        };
        let keys = vec![sorted(&ordered.partition)];
        let fields = self.fields(ordered.node).to_vec();
        let below = self.identity(ordered.node);
        let text = format!(
            "{:?} by {} per [{}]",
            deduplicate.keep,
            deduplicate.rowtime.map_or("arrival", |column| below.columns[column].as_str()),
            pick(&deduplicate.keys, &below.columns)
        );
        let edge = Distribution::Hash(ordered.partition.clone());
        let parts = Parts { name: "deduplicate", text, kind: NodeKind::Deduplicate(deduplicate), fields, keys };
        Some(Ok(self.ranking_node(ordered.node, parts, edge)))
    }

    fn rank_of(&self, ordered: &Ordered, start: u64, end: RankEnd) -> Rank {
        Rank {
            partition: ordered.partition.clone(),
            order: ordered.order.clone(),
            start,
            end,
            with_rank: false,
            strategy: self.strategy(ordered),
            state_ttl: self.context.config.state_ttl,
        }
    }

    /// What a ranking must keep of its input.
    fn strategy(&self, ordered: &Ordered) -> RankStrategy {
        let output = self.output(ordered.node);
        if output.changelog.is_append_only() {
            return RankStrategy::Append;
        }
        let holds_partition = |key: &&Vec<usize>| ordered.partition.iter().all(|column| key.contains(column));
        let rises = |key: &&Vec<usize>| {
            !ordered.order.is_empty()
                && ordered.order.iter().all(|sort| key.contains(&sort.column) || self.only_rises(ordered.node, sort))
        };
        match output.upsert_keys.iter().filter(holds_partition).find(rises) {
            Some(key) if self.is_aggregate(ordered.node) => RankStrategy::Update(sorted(key)),
            _ => RankStrategy::Retract,
        }
    }

    /// The aggregate over inserts that gives the rows of a node, if nothing is filtered between them, with the column of it
    /// that a column of the node is.
    fn aggregate_below(&self, mut node: NodeId, mut column: Option<usize>) -> Option<(NodeId, Option<usize>)> {
        loop {
            let draft = &self.drafts[node].node;
            let below = draft.inputs.first()?.node;
            match &draft.kind {
                NodeKind::Calc(calc) if calc.condition.is_none() => {
                    column = column.and_then(|column| calc.projection[column].as_column());
                    node = below;
                }
                NodeKind::GroupAggregate(_) if self.output(below).changelog.is_append_only() => {
                    return Some((node, column));
                }
                _ => return None,
            }
        }
    }

    fn is_aggregate(&self, node: NodeId) -> bool {
        self.aggregate_below(node, None).is_some()
    }

    /// Whether an update of a row can only make it better by this column.
    fn only_rises(&self, node: NodeId, sort: &SortKey) -> bool {
        let Some((aggregate, Some(column))) = self.aggregate_below(node, Some(sort.column)) else { return false };
        let NodeKind::GroupAggregate(group) = &self.drafts[aggregate].node.kind else { return false };
        let Some(call) = column.checked_sub(group.keys.len()).and_then(|place| group.calls.get(place)) else {
            return false;
        };
        // NULL becomes a value with the first row that has one.
        let falls = self.fields(aggregate)[column].sql_type.nullable && sort.nulls_first;
        match call.function.name() {
            "COUNT" => sort.descending,
            "MAX" => sort.descending && !falls,
            "MIN" => !sort.descending && !falls,
            _ => false,
        }
    }

    /// Makes a pending ranking an operator.
    pub fn settle_rank(&mut self, relation: &mut Relation) -> Result<()> {
        let Some(PendingRank { mut rank, mut field, window }) = relation.rank.take() else { return Ok(()) };
        let place = self.fields(relation.node).len();
        // EXPLAIN calls the number as the query does.
        if let Some(shown) = relation.projection.iter().position(|tree| tree.as_column() == Some(place)) {
            field.name.clone_from(&relation.fields[shown].name);
        }
        rank.with_rank =
            relation.conditions.iter().chain(&relation.projection).any(|tree| tree.columns().contains(&place));
        relation.node = match window {
            Some(window) => self.window_rank_node(relation.node, rank, window, Some(field)),
            None => self.rank_node(relation.node, rank, Some(field)),
        };
        Ok(())
    }

    fn rank_node(&mut self, input: NodeId, rank: Rank, number: Option<Field>) -> NodeId {
        let keys = self.rank_keys(input, &rank);
        let mut fields = self.fields(input).to_vec();
        fields.extend(number.filter(|_| rank.with_rank));
        let below = &self.identity(input).columns;
        let end = match rank.end {
            RankEnd::Constant(end) => end.to_string(),
            RankEnd::Column(column) => below[column].clone(),
            RankEnd::All => "all".into(),
        };
        let strategy = match &rank.strategy {
            RankStrategy::Append => "append".to_string(),
            RankStrategy::Update(key) => format!("update [{}]", pick(key, below)),
            RankStrategy::Retract => "retract".to_string(),
        };
        let text = format!(
            "{}..{end} by [{}] per [{}] {strategy}",
            rank.start,
            order_text(&rank.order, below),
            pick(&rank.partition, below)
        );
        let edge = Distribution::Hash(rank.partition.clone());
        self.ranking_node(input, Parts { name: "rank", text, kind: NodeKind::Rank(rank), fields, keys }, edge)
    }

    /// The keys of a ranking's rows.
    pub(super) fn rank_keys(&self, input: NodeId, rank: &Rank) -> Vec<Vec<usize>> {
        if rank.end == RankEnd::Constant(rank.start) {
            return vec![sorted(&rank.partition)];
        }
        if rank.with_rank {
            let place = self.fields(input).len();
            return vec![rank.partition.iter().copied().chain([place]).collect()];
        }
        if rank.start > 1 && !is_counting(rank) {
            // Rows move through the ranks: one of them is given twice for a moment.
            return Vec::new();
        }
        // A row may come in another partition before it goes in the one where it was.
        let with_partition = |key: &Vec<usize>| {
            let all: Vec<usize> = key.iter().chain(&rank.partition).copied().collect();
            sorted(&all)
        };
        self.output(input).upsert_keys.iter().map(with_partition).collect()
    }

    pub(super) fn ranking_node(&mut self, input: NodeId, parts: Parts, distribution: Distribution) -> NodeId {
        let below = self.identity(input).clone();
        let Parts { name, text, kind, fields, keys } = parts;
        let rows = short_hash(&format!("{name} {text} {}", below.rows));
        let anchor = format!("{name}-{}", short_hash(&format!("{text} {}", below.anchor)));
        let mut identities = below.columns.clone();
        if fields.len() > identities.len() {
            identities.push(column_identity(format!("ROW_NUMBER({text})")));
        }
        let spread = match &distribution {
            Distribution::Hash(columns) => Some(columns.clone()),
            Distribution::Forward | Distribution::Single => None,
        };
        let draft = Draft {
            spread,
            node: Node {
                operator_id: anchor.clone(),
                digest: format!("{name}({text}, input={})", below.rows),
                kind,
                inputs: vec![Edge { node: input, distribution }],
                output: Output { row: RowType::new(fields), changelog: ChangelogMode::APPEND, upsert_keys: keys },
            },
            identity: Identity { rows, columns: identities, anchor },
        };
        self.push(draft, true)
    }

    /// LIMIT, with or without ORDER BY.
    ///
    /// # Errors
    /// OFFSET without an end.
    pub fn limit(&mut self, limit: &Limit) -> Result<Relation> {
        let skip = limit.skip.as_deref().map_or(Ok(0), |skip| self.count(skip))?;
        let Some(fetch) = &limit.fetch else { return Err(Error::new(&codes::FETCH_MISSING, &[])) };
        let fetch = self.count(fetch)?;
        let (sort, projections) = sort_below(&limit.input);
        let (input, schema, order) = match sort {
            Some(sort) => (self.lower(&sort.input)?, sort.input.schema(), sort.expr.as_slice()),
            None => (self.lower(&limit.input)?, limit.input.schema(), &[][..]),
        };
        if fetch == 0 {
            let mut shown = input;
            for projection in projections {
                shown = self.projected(shown, projection)?;
            }
            let row = RowType::new(shown.fields);
            let rows = RecordBatch::new_empty(row.arrow().clone());
            let node = self.values(row, rows, &[]);
            return Ok(self.relation(node));
        }
        let width = input.fields.len();
        let fields = input.fields.clone();
        let input = self.with_key(input);
        let ordered = self.ordered(input, schema, &[], order)?;
        let rank = self.rank_of(&ordered, skip.saturating_add(1), RankEnd::Constant(skip.saturating_add(fetch)));
        let node = self.rank_node(ordered.node, rank, None);
        let mut relation = self.relation(node);
        relation.projection.truncate(width);
        relation.fields = fields;
        for projection in projections {
            let trees = self.compile_all(&relation, projection.input.schema(), &projection.expr)?;
            relation = self.project(relation, trees, names(&projection.schema))?;
        }
        Ok(relation)
    }

    fn count(&self, expr: &Expr) -> Result<u64> {
        let tree = self.compile_over(&DFSchema::empty(), &[], expr)?;
        let value = arrow::compute::cast(&expression::constant(&tree, &self.context.functions)?, &DataType::Int64)?;
        let value = value.as_primitive::<Int64Type>();
        let count = (!value.is_null(0)).then(|| u64::try_from(value.value(0)).ok()).flatten();
        count.ok_or_else(|| Error::new(&codes::LIMIT_COUNT, &[("value", &expression::sql(&tree, &[]))]))
    }

    /// ORDER BY without LIMIT.
    ///
    /// # Errors
    /// An order that does not begin with a time attribute, and changes.
    pub fn sort(&mut self, sort: &Sort) -> Result<Relation> {
        let input = self.lower(&sort.input)?;
        let fields = input.fields.clone();
        let Ordered { node, order, .. } = self.ordered(input, sort.input.schema(), &[], &sort.expr)?;
        let text = order_text(&order, &self.fields(node).iter().map(|field| field.name.clone()).collect::<Vec<_>>());
        let time = order.first().filter(|key| !key.descending).and_then(|key| self.fields(node)[key.column].time);
        let Some(time) = time else {
            return Err(Error::new(&codes::SORT_TIME, &[("order", &text)]));
        };
        if !self.output(node).changelog.is_append_only() {
            return Err(Error::new(&codes::SORT_UPDATES, &[("order", &text)]));
        }
        let identities = &self.identity(node).columns;
        let digest = format!("by [{}]", order_text(&order, identities));
        let rowtime = (time == TimeAttribute::Rowtime).then(|| order[0].column);
        // By processing time, rows come in their order already.
        let order = if rowtime.is_some() { order } else { order[1..].to_vec() };
        let keys = self.output(node).upsert_keys.clone();
        let parts = Parts {
            name: "sort",
            text: digest,
            kind: NodeKind::TemporalSort(TemporalSort { order, rowtime }),
            fields: self.fields(node).to_vec(),
            keys,
        };
        let node = self.ranking_node(node, parts, Distribution::Hash(Vec::new()));
        let mut relation = self.relation(node);
        relation.projection.truncate(fields.len());
        relation.fields = fields;
        Ok(relation)
    }
}

/// What a node of this file is made of.
pub(super) struct Parts {
    /// The kind, as a part of the operator's id.
    pub name: &'static str,
    /// What else the id and the digest are made of.
    pub text: String,
    /// The operator.
    pub kind: NodeKind,
    /// Its columns.
    pub fields: Vec<Field>,
    /// Its keys.
    pub keys: Vec<Vec<usize>>,
}

/// Whether a Top-N is a LIMIT of rows that are only added.
fn is_counting(rank: &Rank) -> bool {
    rank.order.is_empty() && rank.strategy == RankStrategy::Append
}

fn sorted(columns: &[usize]) -> Vec<usize> {
    let mut columns = columns.to_vec();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Some of the names, as a list.
pub(super) fn pick(columns: &[usize], names: &[String]) -> String {
    columns.iter().map(|&column| names[column].as_str()).collect::<Vec<_>>().join(", ")
}

/// An order as text: `v DESC, id ASC`. Only an order of NULL that is not Flink's default is told.
pub fn order_text(order: &[SortKey], names: &[String]) -> String {
    let one = |key: &SortKey| {
        let name = names.get(key.column).map_or("?", String::as_str);
        let direction = if key.descending { "DESC" } else { "ASC" };
        let nulls = match (key.nulls_first, key.descending) {
            (true, true) => " NULLS FIRST",
            (false, false) => " NULLS LAST",
            _ => "",
        };
        format!("{name} {direction}{nulls}")
    };
    order.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The window below projections, and those, the lowest first.
fn window_below(plan: &LogicalPlan) -> Option<(&Window, Vec<&Projection>)> {
    let mut projections = Vec::new();
    let mut plan = plan;
    loop {
        match plan {
            LogicalPlan::Window(window) => {
                projections.reverse();
                return Some((window, projections));
            }
            LogicalPlan::Projection(projection) => {
                projections.push(projection);
                plan = &projection.input;
            }
            LogicalPlan::SubqueryAlias(alias) => plan = &alias.input,
            _ => return None,
        }
    }
}

/// The one ranking function of a window.
fn ranking(window: &Window) -> Option<(WindowFunction, &WindowFunctionParams)> {
    let [expr] = window.window_expr.as_slice() else { return None };
    let mut expr = expr;
    while let Expr::Alias(alias) = expr {
        expr = &alias.expr;
    }
    let Expr::WindowFunction(call) = expr else { return None };
    let WindowFunctionDefinition::WindowUDF(function) = &call.fun else { return None };
    let function = flink_window(function)?;
    let ranks = matches!(function, WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank);
    ranks.then_some((function, &call.params))
}

/// The sort below projections, and those, the lowest first: LIMIT does not mind whether it stands above or below them.
fn sort_below(plan: &LogicalPlan) -> (Option<&Sort>, Vec<&Projection>) {
    let mut projections = Vec::new();
    let mut plan = plan;
    loop {
        match plan {
            LogicalPlan::Sort(sort) => {
                projections.reverse();
                return (Some(sort), projections);
            }
            LogicalPlan::Projection(projection) => {
                projections.push(projection);
                plan = &projection.input;
            }
            _ => return (None, Vec::new()),
        }
    }
}
