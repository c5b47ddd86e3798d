//! Relational structure: projections, filters, unions, constant rows.

use super::builder::{Builder, Draft, Identity, PendingWindow, Relation, column_identity, columns, short_hash};
use super::late::LateTarget;
use super::unsupported;
use crate::expression::{self, Compiler, Tree, from_datafusion};
use crate::nodes::expand::as_expand;
use crate::nodes::match_recognize::as_match;
use crate::nodes::replicate::as_replicate;
use crate::nodes::temporal::as_temporal_join;
use crate::nodes::unnest::as_unnest;
use crate::nodes::{WindowTableNode, as_window_table};
use arrow::array::{ArrayRef, RecordBatch, new_empty_array};
use arrow::compute::concat_batches;
use base::plan::{Distribution, Edge, Node, NodeId, NodeKind, Output, Window};
use base::{ChangelogMode, Error, Field, LogicalType, Result, RowType, SqlType, TimeAttribute};
use datafusion_common::DFSchema;
use datafusion_expr::logical_plan::{Distinct, Union, Values};
use datafusion_expr::{Expr, LogicalPlan};

impl Builder<'_> {
    /// The relation of a logical plan; its columns are those of the plan's schema.
    ///
    /// # Errors
    /// Plans with operators that are not built yet.
    pub fn lower(&mut self, plan: &LogicalPlan) -> Result<Relation> {
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::SubqueryAlias(alias) => self.lower(&alias.input),
            LogicalPlan::Projection(projection) => {
                let input = self.lower(&projection.input)?;
                let trees = self.compile_all(&input, projection.input.schema(), &projection.expr)?;
                self.project(input, trees, names(&projection.schema))
            }
            LogicalPlan::Filter(filter) => {
                if let Some(ranking) = self.top_n(filter)? {
                    return Ok(ranking);
                }
                let input = self.lower(&filter.input)?;
                let condition = self.compile_one(&input, filter.input.schema(), &filter.predicate)?;
                if is_true(&condition) {
                    return Ok(input);
                }
                Ok(self.filter(input, &condition))
            }
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Window(window) => self.over(window),
            LogicalPlan::Sort(sort) => self.sort(sort),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let ttl = self.side_ttl(input);
                let relation = self.lower(input)?;
                self.distinct(relation, ttl)
            }
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Values(values) => self.constant_rows(values),
            LogicalPlan::EmptyRelation(empty) if empty.produce_one_row => {
                let node = self.single_row()?;
                Ok(Relation {
                    node,
                    window: None,
                    rank: None,
                    conditions: Vec::new(),
                    projection: Vec::new(),
                    fields: Vec::new(),
                })
            }
            LogicalPlan::EmptyRelation(empty) if empty.schema.fields().is_empty() => {
                let arrays = vec![new_empty_array(&row_marker().sql_type.arrow())];
                let rows = self.rows_relation(RowType::new(vec![row_marker()]), arrays, 0, &[])?;
                Ok(without_columns(rows))
            }
            LogicalPlan::EmptyRelation(empty) => {
                let row = row_of(&empty.schema)?;
                let arrays = row.fields().iter().map(|field| new_empty_array(&field.sql_type.arrow())).collect();
                self.rows_relation(row, arrays, 0, &[])
            }
            LogicalPlan::Extension(extension) => self.extension(extension.node.as_ref()),
            other => Err(Error::unsupported(unsupported::feature(other))),
        }
    }

    fn extension(&mut self, node: &dyn datafusion_expr::UserDefinedLogicalNode) -> Result<Relation> {
        if let Some(window) = as_window_table(node) {
            return self.window_table(window);
        }
        if let Some(expand) = as_expand(node) {
            return self.expand(expand);
        }
        if let Some(unnest) = as_unnest(node) {
            return self.unnest(unnest);
        }
        if let Some(join) = as_temporal_join(node) {
            return self.temporal_join(join);
        }
        if let Some(pattern) = as_match(node) {
            return self.match_recognize(pattern);
        }
        match as_replicate(node) {
            Some(replicate) => self.replicate(replicate),
            None => Err(Error::unsupported(node.name())),
        }
    }

    /// Compiles an expression over a relation whose columns `schema` names.
    pub fn compile_one(&self, input: &Relation, schema: &DFSchema, expr: &Expr) -> Result<Tree> {
        let types: Vec<SqlType> = input.fields.iter().map(|field| field.sql_type.clone()).collect();
        self.compile_over(schema, &types, expr)
    }

    /// Compiles an expression over columns of these types.
    pub fn compile_over(&self, schema: &DFSchema, types: &[SqlType], expr: &Expr) -> Result<Tree> {
        Compiler { schema, types, random_calls: &self.random_calls }.compile(expr)
    }

    /// Compiles expressions over a relation.
    pub fn compile_all(&self, input: &Relation, schema: &DFSchema, exprs: &[Expr]) -> Result<Vec<Tree>> {
        exprs.iter().map(|expr| self.compile_one(input, schema, expr)).collect()
    }

    fn window_table(&mut self, node: &WindowTableNode) -> Result<Relation> {
        use datafusion_expr::UserDefinedLogicalNodeCore;
        let mut input = self.lower(&node.input)?;
        // A window over a window: the inner one becomes an operator.
        self.settle_window(&mut input)?;
        let schema = node.input.schema();
        let place = |column| schema.index_of_column(column).map_err(from_datafusion);
        let time = place(&node.time)?;
        self.check_time_column(node, &input, time)?;
        let partition = node.partition.iter().map(place).collect::<Result<Vec<_>>>()?;
        // The window looks at the columns of a node, so what is pending below it becomes one.
        let below = self.node(input)?;
        let relation = self.relation(below);
        let time_type = &relation.fields[time].sql_type.logical;
        let instant = matches!(time_type, LogicalType::TimestampLtz(_));
        let end_type = if instant { LogicalType::TimestampLtz(3) } else { LogicalType::Timestamp(3) };
        let is_processing_time = relation.fields[time].time == Some(TimeAttribute::Proctime);
        let bound = || LogicalType::Timestamp(3).not_null();
        let named = names(node.schema());
        let [start, end, window_time] = &named[named.len().saturating_sub(3)..] else {
            return Err(Error::internal("a window table appends three columns"));
        };
        let fields = [
            Field::new(start.clone(), bound()),
            Field::new(end.clone(), bound()),
            // TUMBLE_ROWTIME of a group window is nullable in Flink, window_time of a window table is not.
            Field {
                time: relation.fields[time].time,
                ..Field::new(window_time.clone(), end_type.nullable().with_nullable(node.legacy && !is_processing_time))
            },
        ];
        let window = Window {
            kind: node.kind.clone(),
            offset_ms: node.offset_ms,
            time_column: time,
            time_zone: instant.then_some(self.context.config.time_zone),
            is_processing_time,
        };
        let mut all = relation.fields.clone();
        all.extend(fields.iter().cloned());
        let late = node.late.as_ref().map(|late| LateTarget { table: late.0.clone(), columns: late.columns(schema) });
        let pending = PendingWindow { window, legacy: node.legacy, partition, attached: false, fields, late };
        Ok(Relation { window: Some(pending), projection: columns(&all), fields: all, ..relation })
    }

    fn union(&mut self, union: &Union) -> Result<Relation> {
        let mut inputs = union.inputs.iter().map(|input| self.lower(input)).collect::<Result<Vec<_>>>()?;
        let width = union.schema.fields().len();
        if let Some(odd) = inputs.iter().find(|input| input.fields.len() != width) {
            return Err(Error::internal(format!("a union of {width} and {} columns", odd.fields.len())));
        }
        if width == 0 {
            // COUNT(*) over a union reads no column, but rows must have one to be counted by.
            for input in &mut inputs {
                input.projection = vec![present()];
                input.fields = vec![row_marker()];
            }
            let mut edges = Vec::with_capacity(inputs.len());
            for input in inputs {
                edges.push(Edge { node: self.node(input)?, distribution: Distribution::Forward });
            }
            let node = self.union_node(RowType::new(vec![row_marker()]), edges);
            return Ok(without_columns(self.relation(node)));
        }
        let mut fields = Vec::with_capacity(width);
        for (index, name) in names(&union.schema).into_iter().enumerate() {
            let types: Vec<SqlType> = inputs.iter().map(|input| input.fields[index].sql_type.clone()).collect();
            let nullable = types.iter().any(|sql_type| sql_type.nullable);
            let common = match types.iter().all(|sql_type| sql_type.logical == types[0].logical) {
                true => types[0].clone(),
                false => functions::common_type(&types).ok_or_else(|| {
                    let list: Vec<String> = types.iter().map(|sql_type| sql_type.logical.to_string()).collect();
                    Error::new(
                        &crate::codes::NO_COMMON_TYPE,
                        &[("where", &"UNION"), ("types", &list.join(", ")), ("example", &types[0].logical)],
                    )
                })?,
            };
            let time = inputs[0].fields[index].time;
            let same = inputs.iter().all(|input| {
                input.fields[index].time == time && input.fields[index].sql_type.logical == common.logical
            });
            fields.push(Field { name, sql_type: common.with_nullable(nullable), time: time.filter(|_| same) });
        }
        let row = RowType::new(fields);
        let mut edges = Vec::with_capacity(inputs.len());
        for mut input in inputs {
            for (tree, field) in input.projection.iter_mut().zip(row.fields()) {
                align(tree, &field.sql_type);
            }
            input.fields = row.fields().to_vec();
            let node = self.node(input)?;
            edges.push(Edge { node, distribution: Distribution::Forward });
        }
        let node = match self.constant_union(&row, &edges)? {
            Some(node) => node,
            None => self.union_node(row, edges),
        };
        Ok(self.relation(node))
    }

    /// Constant rows after constant rows are constant rows, in this order: several sources would race.
    fn constant_union(&mut self, row: &RowType, inputs: &[Edge]) -> Result<Option<NodeId>> {
        let mut batches = Vec::with_capacity(inputs.len());
        for edge in inputs {
            let NodeKind::Values(values) = &self.drafts[edge.node].node.kind else { return Ok(None) };
            batches.push(RecordBatch::try_new(row.arrow().clone(), values.rows.columns().to_vec())?);
        }
        let rows = concat_batches(row.arrow(), &batches)?;
        let literal = |place: usize, index: usize| Tree::Literal {
            value: rows.column(index).slice(place, 1),
            sql_type: row.fields()[index].sql_type.clone(),
        };
        let cells = (0..rows.num_rows()).flat_map(|place| (0..row.len()).map(move |index| (place, index)));
        let trees: Vec<Tree> = cells.map(|(place, index)| literal(place, index)).collect();
        Ok(Some(self.values(row.clone(), rows, &trees)))
    }

    fn union_node(&mut self, row: RowType, inputs: Vec<Edge>) -> NodeId {
        let below: Vec<Identity> = inputs.iter().map(|edge| self.identity(edge.node).clone()).collect();
        let sides: Vec<&str> = below.iter().map(|identity| identity.rows.as_str()).collect();
        let anchors: Vec<&str> = below.iter().map(|identity| identity.anchor.as_str()).collect();
        let digest = format!("Union({})", sides.join("; "));
        let rows = short_hash(&digest);
        let anchor = format!("union-{}", short_hash(&anchors.join(" ")));
        // A column holds what it holds in every input.
        let holds =
            |index: usize| below.iter().map(|side| side.columns[index].as_str()).collect::<Vec<_>>().join(" | ");
        let columns = (0..row.len()).map(|index| column_identity(holds(index))).collect();
        let draft = Draft {
            spread: None,
            node: Node {
                operator_id: anchor.clone(),
                digest,
                kind: NodeKind::Union,
                inputs,
                output: Output { row, changelog: ChangelogMode::APPEND, upsert_keys: Vec::new() },
            },
            identity: Identity { rows, columns, anchor },
        };
        self.push(draft, true)
    }

    fn constant_columns(&self, rows: &[Vec<Tree>], width: usize) -> Result<Vec<ArrayRef>> {
        (0..width)
            .map(|index| {
                let cells = rows
                    .iter()
                    .map(|row| expression::constant(&row[index], &self.context.functions))
                    .collect::<Result<Vec<_>>>()?;
                let cells: Vec<&dyn arrow::array::Array> = cells.iter().map(|cell| cell.as_ref()).collect();
                Ok(arrow::compute::concat(&cells)?)
            })
            .collect()
    }

    /// VALUES. Rows that read the clock or cannot be computed become a union of projections over a single row.
    fn constant_rows(&mut self, values: &Values) -> Result<Relation> {
        let empty = DFSchema::empty();
        let compiler = Compiler { schema: &empty, types: &[], random_calls: &self.random_calls };
        let mut rows: Vec<Vec<Tree>> = values
            .values
            .iter()
            .map(|row| row.iter().map(|expr| compiler.compile(expr)).collect())
            .collect::<Result<_>>()?;
        let mut fields = Vec::new();
        for (index, name) in names(&values.schema).into_iter().enumerate() {
            let types: Vec<SqlType> = rows.iter().map(|row| row[index].sql_type()).collect();
            let typed: Vec<&SqlType> = types.iter().filter(|one| one.logical != LogicalType::Null).collect();
            let common = match typed.split_first() {
                None => LogicalType::Null.nullable(),
                Some((first, rest)) if rest.iter().all(|other| other.logical == first.logical) => (*first).clone(),
                Some(_) => functions::common_type(&types).ok_or_else(|| {
                    let list: Vec<String> = types.iter().map(|sql_type| sql_type.logical.to_string()).collect();
                    Error::new(
                        &crate::codes::NO_COMMON_TYPE,
                        &[("where", &"VALUES"), ("types", &list.join(", ")), ("example", &types[0].logical)],
                    )
                })?,
            };
            let sql_type = common.with_nullable(types.iter().any(|one| one.nullable));
            for row in &mut rows {
                align(&mut row[index], &sql_type);
            }
            fields.push(Field::new(name, sql_type));
        }
        let row = RowType::new(fields);
        // What fails is left to the running job, as it would be with a column in the place of the constant.
        if rows.iter().flatten().all(Tree::is_constant)
            && let Ok(arrays) = self.constant_columns(&rows, row.len())
        {
            let trees: Vec<Tree> = rows.iter().flatten().cloned().collect();
            return self.rows_relation(row, arrays, rows.len(), &trees);
        }
        let mut edges = Vec::with_capacity(rows.len());
        for projection in rows {
            let node = self.single_row()?;
            let fields = row.fields().to_vec();
            let one = Relation { node, window: None, rank: None, conditions: Vec::new(), projection, fields };
            edges.push(Edge { node: self.node(one)?, distribution: Distribution::Forward });
        }
        let node = match edges.as_slice() {
            [one] => one.node,
            _ => self.union_node(row, edges),
        };
        Ok(self.relation(node))
    }

    fn rows_relation(&mut self, row: RowType, arrays: Vec<ArrayRef>, rows: usize, trees: &[Tree]) -> Result<Relation> {
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(row.arrow().clone(), arrays, &options)?;
        let node = self.values(row, batch, trees);
        Ok(self.relation(node))
    }
}

/// The column of rows without columns.
pub fn row_marker() -> Field {
    Field::new("$row", LogicalType::Boolean.not_null())
}

/// The value of [`row_marker`].
fn present() -> Tree {
    let value: ArrayRef = std::sync::Arc::new(arrow::array::BooleanArray::from(vec![true]));
    Tree::Literal { value, sql_type: row_marker().sql_type }
}

/// The rows of a relation alone.
fn without_columns(relation: Relation) -> Relation {
    Relation { projection: Vec::new(), fields: Vec::new(), ..relation }
}

/// The names of the columns of a schema.
pub fn names(schema: &DFSchema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// The columns of a schema.
fn row_of(schema: &DFSchema) -> Result<RowType> {
    Ok(RowType::new(schema.fields().iter().map(|field| Field::from_arrow(field)).collect::<Result<_>>()?))
}

/// Casts a tree to a type if it has another one.
pub fn align(tree: &mut Tree, sql_type: &SqlType) {
    let from = tree.sql_type();
    if from.logical != sql_type.logical {
        let nullable = from.nullable;
        let input = Box::new(std::mem::replace(tree, Tree::And(Vec::new())));
        *tree = Tree::Cast { input, sql_type: sql_type.with_nullable(nullable), try_cast: false };
    }
}

/// Whether a tree is the constant TRUE.
pub fn is_true(tree: &Tree) -> bool {
    use arrow::array::{Array, AsArray};
    match tree {
        Tree::Literal { value, .. } => value.as_boolean_opt().is_some_and(|value| value.is_valid(0) && value.value(0)),
        _ => false,
    }
}
