//! The plan while it grows: nodes with equal meaning are made once, filters and projections wait until they must become
//! an operator.

use super::LowerContext;
use super::late::LateTarget;
use super::scan::Reads;
use super::snapshot_filter::Operation;
use super::window_rank::RankedWindow;
use crate::changelog;
use crate::expression::{self, Compiled, Tree};
use base::changelog::ChangelogMode;
use base::expression::HiddenColumn;
use base::plan::{
    Calc, Distribution, Edge, Node, NodeId, NodeKind, Output, Rank, Values, Window, WindowKind, WindowProperty,
    WindowTable,
};
use base::{Error, Expression, Field, LogicalType, Result, RowType, TimeAttribute};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What a node is beyond its place in the plan: texts that stay equal as long as the meaning does.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Which rows the node gives, whatever their columns.
    pub rows: String,
    /// What each column holds.
    pub columns: Vec<String>,
    /// The nearest operators below that have an identity of their own: filters and projections do not.
    pub anchor: String,
}

/// A node without its operator id.
#[derive(Debug)]
pub struct Draft {
    /// The node.
    pub node: Node,
    /// Its identity.
    pub identity: Identity,
    /// The columns by whose hash the rows are spread over the instances; `None` if they are not.
    pub spread: Option<Vec<usize>>,
}

/// A window table function that is not an operator yet: an aggregate may take it in.
#[derive(Debug, Clone)]
pub struct PendingWindow {
    /// The window over the columns of the node below.
    pub window: Window,
    /// Written as GROUP BY TUMBLE(...).
    pub legacy: bool,
    /// PARTITION BY of SESSION.
    pub partition: Vec<usize>,
    /// Rows come with their windows: the time column holds the ends.
    pub attached: bool,
    /// window_start, window_end, window_time.
    pub fields: [Field; 3],
    /// Where rows go that are too late for it.
    pub late: Option<LateTarget>,
}

/// A ranking that is not an operator yet: only what stands above it tells whether the number is read.
#[derive(Debug, Clone)]
pub struct PendingRank {
    /// The ranking of the rows of the node below.
    pub rank: Rank,
    /// The column of the number.
    pub field: Field,
    /// The window that it ranks the rows of.
    pub window: Option<RankedWindow>,
}

/// Rows of a node behind a filter and a projection that are not an operator yet.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The node.
    pub node: NodeId,
    /// A window over it: its three columns come behind those of the node.
    pub window: Option<PendingWindow>,
    /// A ranking of its rows: the number comes behind the columns of the node.
    pub rank: Option<PendingRank>,
    /// What must be true.
    pub conditions: Vec<Tree>,
    /// One tree per column.
    pub projection: Vec<Tree>,
    /// The columns.
    pub fields: Vec<Field>,
}

/// The plan while it grows.
#[derive(Debug)]
pub struct Builder<'a> {
    /// What lowering may know.
    pub context: &'a LowerContext,
    /// The nodes so far.
    pub drafts: Vec<Draft>,
    /// What all queries together read of each table.
    pub reads: BTreeMap<String, Reads>,
    /// The nodes that read tables, with the columns of the table that they give.
    pub scans: BTreeMap<String, (NodeId, Vec<usize>)>,
    /// Scans that give the operation of a change.
    pub operations: Vec<Operation>,
    /// Things worth saying that came up.
    pub warnings: Vec<Error>,
    /// Numbers the calls of random functions.
    pub random_calls: Cell<usize>,
    /// Tables whose STATE_TTL hints have been applied.
    pub hinted: RefCell<BTreeSet<String>>,
    /// Window aggregates that were written as GROUP BY TUMBLE(...): their columns are times, not windows, for what is above.
    pub legacy_windows: BTreeSet<NodeId>,
    /// Nodes that give late rows, and where these go.
    pub late: Vec<(NodeId, LateTarget)>,
    made: HashMap<String, NodeId>,
}

/// A short stable hash of a text (FNV-1a).
pub fn short_hash(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

/// The longest text that stands for a column; longer ones are hashed.
const COLUMN_IDENTITY_MAX: usize = 160;

/// The identity of a computed column.
pub fn column_identity(text: String) -> String {
    if text.len() > COLUMN_IDENTITY_MAX { format!("#{}", short_hash(&text)) } else { text }
}

impl<'a> Builder<'a> {
    /// An empty plan.
    pub fn new(context: &'a LowerContext, reads: BTreeMap<String, Reads>) -> Builder<'a> {
        Builder {
            context,
            drafts: Vec::new(),
            reads,
            scans: BTreeMap::new(),
            operations: Vec::new(),
            warnings: Vec::new(),
            random_calls: Cell::new(0),
            hinted: RefCell::default(),
            legacy_windows: BTreeSet::new(),
            late: Vec::new(),
            made: HashMap::new(),
        }
    }

    /// The output of a node.
    pub fn output(&self, node: NodeId) -> &Output {
        &self.drafts[node].node.output
    }

    /// The columns of a node.
    pub fn fields(&self, node: NodeId) -> &[Field] {
        self.output(node).row.fields()
    }

    /// The identity of a node.
    pub fn identity(&self, node: NodeId) -> &Identity {
        &self.drafts[node].identity
    }

    /// Adds a node, or finds the one that is the same already. `shared` says whether it may be found.
    ///
    /// Its output gets the row kinds that it has if all its readers need `-U`.
    pub fn push(&mut self, mut draft: Draft, shared: bool) -> NodeId {
        draft.node.output.changelog = changelog::natural_mode(&self.drafts, &draft.node);
        let row = std::mem::replace(&mut draft.node.output.row, RowType::new(Vec::new()));
        draft.node.output.row = row.identified(&draft.identity.columns);
        let names: Vec<&str> = draft.node.output.row.fields().iter().map(|field| field.name.as_str()).collect();
        let inputs: Vec<String> =
            draft.node.inputs.iter().map(|edge| format!("{} {:?}", edge.node, edge.distribution)).collect();
        let (columns, row) = (&draft.identity.columns, &draft.node.output.row);
        let key = format!("{} {columns:?} <- {inputs:?} {names:?} {row}", draft.node.digest);
        if shared && let Some(node) = self.made.get(&key) {
            return *node;
        }
        let node = self.drafts.len();
        self.drafts.push(draft);
        self.made.insert(key, node);
        node
    }

    /// All rows of a node as they are.
    pub fn relation(&self, node: NodeId) -> Relation {
        let fields = self.fields(node).to_vec();
        let projection = columns(&fields);
        Relation { node, window: None, rank: None, conditions: Vec::new(), projection, fields }
    }

    /// `relation` behind a projection: trees over its columns, with the names of the new columns.
    pub fn project(&mut self, relation: Relation, trees: Vec<Tree>, names: Vec<String>) -> Result<Relation> {
        let relation = self.settle_repeated(relation, &trees)?;
        let fields = trees
            .iter()
            .zip(names)
            .map(|(tree, name)| match tree.as_column() {
                // Only a column that is passed on as it is keeps its time attribute.
                Some(index) => Field { name, ..relation.fields[index].clone() },
                None => computed(name, tree),
            })
            .collect();
        let projection = trees.iter().map(|tree| tree.over(&relation.projection)).collect();
        Ok(Relation { projection, fields, ..relation })
    }

    /// `relation` behind a filter: a tree over its columns.
    pub fn filter(&mut self, mut relation: Relation, condition: &Tree) -> Relation {
        let parts = match condition.over(&relation.projection) {
            Tree::And(parts) => parts,
            tree => vec![tree],
        };
        for part in &parts {
            self.check_snapshot(relation.node, part);
        }
        relation.conditions.extend(parts);
        relation
    }

    /// Makes the pending projection an operator if trees would compute one of its columns more than once.
    fn settle_repeated(&mut self, relation: Relation, trees: &[Tree]) -> Result<Relation> {
        let mut uses = vec![0usize; relation.projection.len()];
        for tree in trees {
            tree.visit(&mut |part| {
                if let Some(index) = part.as_column()
                    && let Some(count) = uses.get_mut(index)
                {
                    *count += 1;
                }
            });
        }
        let repeated = relation.projection.iter().zip(uses).any(|(tree, uses)| uses > 1 && !tree.children().is_empty());
        if !repeated {
            return Ok(relation);
        }
        let node = self.node(relation)?;
        Ok(self.relation(node))
    }

    /// A node that gives exactly the relation's rows and columns.
    pub fn node(&mut self, mut relation: Relation) -> Result<NodeId> {
        self.settle_window(&mut relation)?;
        self.settle_rank(&mut relation)?;
        self.filter_normalized(&mut relation);
        if relation.projection.is_empty() {
            // Rows must have a column to be counted by.
            let (tree, field) = match self.fields(relation.node).first() {
                Some(first) => (Tree::Column { index: 0, sql_type: first.sql_type.clone() }, first.clone()),
                None => return Err(Error::internal("a node without columns")),
            };
            relation.projection = vec![tree];
            relation.fields = vec![field];
        }
        let below = self.fields(relation.node);
        let unchanged = relation.conditions.is_empty()
            && relation.fields == below
            && relation.projection.iter().enumerate().all(|(index, tree)| tree.as_column() == Some(index));
        if unchanged {
            return Ok(relation.node);
        }
        if let Some(node) = self.constant_row(&relation)? {
            return Ok(node);
        }
        Ok(self.calc(&relation))
    }

    /// Makes a pending window an operator.
    pub fn settle_window(&mut self, relation: &mut Relation) -> Result<()> {
        let Some(pending) = relation.window.take() else { return Ok(()) };
        let input = relation.node;
        let mut fields = self.fields(input).to_vec();
        fields.extend(pending.fields.iter().cloned());
        let below = self.identity(input).clone();
        let text = window_digest(&pending.window, &below.columns, &self.partition_names(&pending, &below));
        let mut columns = below.columns.clone();
        for field in &pending.fields {
            columns.push(column_identity(format!("{}({text})", field.name)));
        }
        let identity = Identity {
            rows: short_hash(&format!("{} {text}", below.rows)),
            columns,
            anchor: short_hash(&format!("{} {text}", below.anchor)),
        };
        // The rows of a session are kept where they meet; others pass.
        let is_session = matches!(pending.window.kind, WindowKind::Session { .. });
        let (spread, distribution) = match is_session {
            true => (Some(pending.partition.clone()), Distribution::Hash(pending.partition.clone())),
            false => (self.drafts[input].spread.clone(), Distribution::Forward),
        };
        let draft = Draft {
            spread,
            node: Node {
                operator_id: format!("window-table-{}", identity.anchor),
                digest: format!("WindowTable({text}, input={})", below.rows),
                kind: NodeKind::WindowTable(WindowTable {
                    window: pending.window.clone(),
                    partition: pending.partition.clone(),
                }),
                inputs: vec![Edge { node: input, distribution }],
                output: Output {
                    row: RowType::new(fields),
                    changelog: ChangelogMode::APPEND,
                    upsert_keys: window_table_keys(
                        &pending.window.kind,
                        &self.output(input).upsert_keys,
                        below.columns.len(),
                    ),
                },
            },
            identity,
        };
        relation.node = self.push(draft, true);
        match (&pending.late, is_session) {
            (None, _) => Ok(()),
            (Some(late), true) => self.late_rows(relation.node, late),
            (Some(late), false) => Err(late.refused(&pending.window.kind)),
        }
    }

    fn partition_names(&self, pending: &PendingWindow, below: &Identity) -> Vec<String> {
        pending.partition.iter().filter_map(|&index| below.columns.get(index).cloned()).collect()
    }

    /// A filter and projection over a node, with the hidden columns that they read.
    pub fn compile_calc(
        &self,
        conditions: &[Tree],
        projection: &[Tree],
        below: &[Field],
        identities: &[String],
    ) -> Calc {
        let mut calls: Vec<(HiddenColumn, usize)> = Vec::new();
        for tree in conditions.iter().chain(projection) {
            for hidden in tree.hidden() {
                if !calls.contains(&hidden) {
                    calls.push(hidden);
                }
            }
        }
        let place = |tree: &Tree| {
            tree.replace(&mut |leaf| match leaf {
                Tree::Hidden { column, call, .. } => {
                    let slot = calls.iter().position(|known| known == &(*column, *call))?;
                    // Numbered anew, so that digests do not depend on other queries of the job.
                    Some(Tree::Hidden { column: *column, call: slot, position: Some(below.len() + slot) })
                }
                _ => None,
            })
        };
        let names: Vec<String> = below.iter().map(|field| field.name.clone()).collect();
        let compile = |tree: &Tree| -> Arc<dyn Expression> {
            Arc::new(Compiled::new(place(tree), &names, identities, &self.context.functions))
        };
        let condition = match conditions {
            [] => None,
            [one] => Some(compile(one)),
            many => Some(compile(&Tree::and(many.to_vec()))),
        };
        Calc {
            condition,
            projection: projection.iter().map(compile).collect(),
            hidden: calls.iter().map(|(column, _)| *column).collect(),
        }
    }

    fn calc(&mut self, relation: &Relation) -> NodeId {
        let input = relation.node;
        let below = self.identity(input).clone();
        let calc = self.compile_calc(&relation.conditions, &relation.projection, self.fields(input), &below.columns);
        let columns: Vec<String> = calc.projection.iter().map(|one| column_identity(one.digest())).collect();
        let rows = match &calc.condition {
            None => below.rows.clone(),
            Some(condition) => short_hash(&format!("{} where {}", below.rows, condition.digest())),
        };
        let random = calc.hidden.contains(&HiddenColumn::Random);
        let positions: Vec<Option<usize>> = relation.projection.iter().map(key_column).collect();
        let map = |key: &[usize]| -> Option<Vec<usize>> {
            key.iter().map(|&column| positions.iter().position(|place| *place == Some(column))).collect()
        };
        let output = self.output(input);
        let upsert_keys = output.upsert_keys.iter().filter_map(|key| map(key)).collect();
        let digest = format!("Calc(input={rows}, select=[{}])", columns.join(", "));
        let draft = Draft {
            spread: self.drafts[input].spread.as_deref().and_then(|columns| {
                // Rows stay where they are; a column that was cast hashes otherwise, but equal values stay together.
                map(columns)
            }),
            node: Node {
                operator_id: format!("calc-{}", short_hash(&digest)),
                digest,
                kind: NodeKind::Calc(calc),
                inputs: vec![Edge { node: input, distribution: Distribution::Forward }],
                output: Output {
                    row: RowType::new(relation.fields.clone()),
                    changelog: ChangelogMode::APPEND,
                    upsert_keys,
                },
            },
            identity: Identity { rows, columns, anchor: below.anchor },
        };
        self.push(draft, !random)
    }

    /// A projection of constants over a single row is a row of values.
    fn constant_row(&mut self, relation: &Relation) -> Result<Option<NodeId>> {
        let NodeKind::Values(values) = &self.drafts[relation.node].node.kind else { return Ok(None) };
        let constant = relation.projection.iter().all(Tree::is_constant);
        if values.rows.num_rows() != 1 || !relation.conditions.is_empty() || !constant || relation.fields.is_empty() {
            return Ok(None);
        }
        let row = RowType::new(relation.fields.clone());
        let columns: Result<Vec<_>> =
            relation.projection.iter().map(|tree| expression::constant(tree, &self.context.functions)).collect();
        // What fails is left to the running job, as it would be with a column in the place of the constant.
        let Ok(columns) = columns else { return Ok(None) };
        let rows = arrow::array::RecordBatch::try_new(row.arrow().clone(), columns)?;
        Ok(Some(self.values(row, rows, &relation.projection)))
    }

    /// A node of constant rows; `trees` are their values, for the identity.
    pub fn values(&mut self, row: RowType, rows: arrow::array::RecordBatch, trees: &[Tree]) -> NodeId {
        let texts: Vec<String> = trees.iter().map(|tree| expression::digest(tree, &[])).collect();
        let digest = format!("Values({} rows, [{}])", rows.num_rows(), texts.join(", "));
        let hash = short_hash(&digest);
        let columns = row.fields().iter().map(|field| field.name.clone()).collect();
        let draft = Draft {
            spread: Some(Vec::new()),
            node: Node {
                operator_id: format!("values-{hash}"),
                digest,
                kind: NodeKind::Values(Values { rows }),
                inputs: Vec::new(),
                output: Output { row, changelog: ChangelogMode::APPEND, upsert_keys: Vec::new() },
            },
            identity: Identity { rows: hash.clone(), columns, anchor: format!("values-{hash}") },
        };
        self.push(draft, true)
    }

    /// The one row that SELECT without FROM reads.
    pub fn single_row(&mut self) -> Result<NodeId> {
        let row = RowType::new(vec![super::query::row_marker()]);
        let column: arrow::array::ArrayRef = Arc::new(arrow::array::BooleanArray::from(vec![true]));
        let rows = arrow::array::RecordBatch::try_new(row.arrow().clone(), vec![column])?;
        Ok(self.values(row, rows, &[]))
    }
}

/// One tree per column.
pub fn columns(fields: &[Field]) -> Vec<Tree> {
    let column = |(index, field): (usize, &Field)| Tree::Column { index, sql_type: field.sql_type.clone() };
    fields.iter().enumerate().map(column).collect()
}

/// The column whose values can be told from those of the tree: the column itself, or a cast that loses nothing.
pub fn key_column(tree: &Tree) -> Option<usize> {
    use LogicalType::*;
    let lossless = |from: &LogicalType, to: &LogicalType| match (from, to) {
        (from, to) if from == to => true,
        (TinyInt, SmallInt | Int | BigInt) | (SmallInt, Int | BigInt) | (Int, BigInt) => true,
        (Char(from) | VarChar(from), VarChar(to)) => to >= from,
        (Timestamp(from), Timestamp(to)) | (TimestampLtz(from), TimestampLtz(to)) => to >= from,
        _ => false,
    };
    match tree {
        Tree::Column { index, .. } => Some(*index),
        Tree::Cast { input, sql_type, .. } if lossless(&input.sql_type().logical, &sql_type.logical) => {
            key_column(input)
        }
        Tree::Call { function, arguments, sql_type } if function.name().starts_with("CAST") => {
            match arguments.as_slice() {
                [input] if lossless(&input.sql_type().logical, &sql_type.logical) => key_column(input),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A window as text over named columns.
pub fn window_digest(window: &Window, names: &[String], partition: &[String]) -> String {
    let time = names.get(window.time_column).map_or("?", String::as_str);
    let mut text = window_sql(window, time);
    if let Some(zone) = window.time_zone {
        text.push_str(&format!(" in {zone}"));
    }
    if !partition.is_empty() {
        text.push_str(&format!(" partition by {}", partition.join(", ")));
    }
    text
}

/// A window for people: `TUMBLE(order_time, 1 min)`.
pub fn window_sql(window: &Window, time: &str) -> String {
    let offset = match window.offset_ms {
        0 => String::new(),
        offset => format!(", offset {}", duration(offset)),
    };
    match &window.kind {
        WindowKind::Tumble { size_ms } => format!("TUMBLE({time}, {}{offset})", duration(*size_ms)),
        WindowKind::Hop { slide_ms, size_ms } => {
            format!("HOP({time}, slide {}, size {}{offset})", duration(*slide_ms), duration(*size_ms))
        }
        WindowKind::Cumulate { step_ms, size_ms } => {
            format!("CUMULATE({time}, step {}, size {}{offset})", duration(*step_ms), duration(*size_ms))
        }
        WindowKind::Session { gap_ms } => format!("SESSION({time}, gap {})", duration(*gap_ms)),
    }
}

/// Milliseconds in the largest unit that divides them: `1 min`, `90 s`.
pub fn duration(milliseconds: i64) -> String {
    for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000)] {
        if milliseconds != 0 && milliseconds % size == 0 {
            return format!("{} {unit}", milliseconds / size);
        }
    }
    format!("{milliseconds} ms")
}

/// A row stays unique in a TUMBLE window; in HOP and CUMULATE it does together with its window.
fn window_table_keys(kind: &WindowKind, keys: &[Vec<usize>], width: usize) -> Vec<Vec<usize>> {
    match kind {
        WindowKind::Tumble { .. } | WindowKind::Session { .. } => keys.to_vec(),
        WindowKind::Hop { .. } | WindowKind::Cumulate { .. } => keys
            .iter()
            .flat_map(|key| {
                identifying(kind).into_iter().map(|property| {
                    let place = match property {
                        WindowProperty::Start => width,
                        WindowProperty::End => width + 1,
                        WindowProperty::Time => width + 2,
                    };
                    key.iter().copied().chain([place]).collect()
                })
            })
            .collect(),
    }
}

/// The window columns of which each one tells the whole window. The start of a CUMULATE window has several ends.
pub fn identifying(kind: &WindowKind) -> Vec<WindowProperty> {
    match kind {
        WindowKind::Cumulate { .. } => vec![WindowProperty::End, WindowProperty::Time],
        _ => vec![WindowProperty::Start, WindowProperty::End, WindowProperty::Time],
    }
}

/// The column that an expression gives: PROCTIME() is a time attribute in a query too.
pub(super) fn computed(name: String, tree: &Tree) -> Field {
    let is_now = matches!(tree, Tree::Hidden { column: HiddenColumn::ProcessingTime, .. });
    Field { time: is_now.then_some(TimeAttribute::Proctime), ..Field::new(name, tree.sql_type()) }
}
