//! What batch mode is given: bound queries, the tables that they read, and expressions ready to run.
//!
//! In batch mode a query is not lowered to operators of the stream plan. A [`BatchEngine`] runs its logical plan and
//! gives the result as a bounded source, so that sinks, metrics and the life of a job are those of every other job.
//! Only expressions and functions are shared with the streaming engine, which makes the one a check of the other.

use crate::catalog::CatalogTable;
use crate::codes;
use crate::expression::{Compiled, Compiler, Tree};
use crate::lower::LowerContext;
use crate::lower::builder::Builder;
use crate::lower::scan::{Reads, collect, table_name};
use crate::table_source::catalog_table;
use base::clock::Clock;
use base::connector::SourceProvider;
use base::expression::HiddenColumn;
use base::function::FunctionContext;
use base::plan::{NodeKind, Scan};
use base::{ChangelogMode, Error, Expression, Field, LogicalType, Result, RowType, SqlType, Warnings};
use datafusion_common::DFSchema;
use datafusion_expr::logical_plan::TableScan;
use datafusion_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

pub use crate::expression::from_datafusion;

/// Runs bound queries over bounded tables.
pub trait BatchEngine: Send + Sync + Debug {
    /// Plans a query. Opens nothing.
    ///
    /// # Errors
    /// What batch mode cannot run.
    fn prepare(&self, query: BatchQuery) -> Result<PreparedBatch>;
}

/// A query that a [`BatchEngine`] has planned.
#[derive(Debug, Clone)]
pub struct PreparedBatch {
    /// Its result: rows of [`BatchQuery::row`], all inserts, in order.
    pub source: Arc<dyn SourceProvider>,
    /// Its plan, for EXPLAIN.
    pub plan: String,
    /// The query.
    pub query: BatchQuery,
}

/// A bound query and what it reads.
#[derive(Debug, Clone)]
pub struct BatchQuery {
    /// The optimised query.
    pub logical: LogicalPlan,
    /// The name of the table that gets its result.
    pub sink: String,
    /// The columns of its result.
    pub row: RowType,
    /// The columns whose last row counts: the primary key of the sink, if it takes keyed changes.
    pub key: Vec<usize>,
    /// The tables that it reads, each once.
    pub tables: Vec<Arc<BatchTable>>,
    /// What functions may know.
    pub functions: FunctionContext,
    /// For the current time, which is one for the whole query.
    pub clock: Arc<dyn Clock>,
    /// Takes what sources have to say.
    pub warnings: Warnings,
    /// Rows per batch.
    pub batch_rows: usize,
}

/// A table that a query reads.
#[derive(Debug, Clone)]
pub struct BatchTable {
    /// Name for people.
    pub name: String,
    /// Equal only for one and the same table.
    pub identity: String,
    /// The source, the row that it gives, and the projection from there to [`BatchTable::row`].
    pub scan: Scan,
    /// Which columns of the table are read.
    pub columns: Vec<usize>,
    /// These columns.
    pub row: RowType,
    /// The kinds of changes that the source gives.
    pub changelog: ChangelogMode,
    /// The primary key among the columns that are read, if rows of the source replace each other by it.
    pub key: Vec<usize>,
}

impl BatchTable {
    fn new(reads: &Reads, context: &LowerContext) -> Result<BatchTable> {
        let table = &reads.table;
        let name = table_name(&table.definition.path);
        let mut builder = Builder::new(context, BTreeMap::new());
        let (_, columns) = builder.scan_node(reads)?;
        // Below a normalisation of keyed changes there may be another node: the scan is the first.
        let Some(draft) = builder.drafts.into_iter().next() else {
            return Err(Error::internal("a table without a scan"));
        };
        let NodeKind::Scan(scan) = draft.node.kind else {
            return Err(Error::internal("the first node of a table is no scan"));
        };
        let changelog = draft.node.output.changelog;
        let key = match changelog.is_upsert() {
            true => {
                table.primary_key().iter().filter_map(|key| columns.iter().position(|column| column == key)).collect()
            }
            false => Vec::new(),
        };
        let row = draft.node.output.row;
        Ok(BatchTable { name, identity: table.identity(), scan, columns, row, changelog, key })
    }
}

/// The tables that a query reads.
fn reads(logical: &LogicalPlan) -> Result<BTreeMap<String, Reads>> {
    let mut reads = BTreeMap::new();
    collect(logical, &mut reads)?;
    Ok(reads)
}

fn is_bounded(table: &CatalogTable) -> bool {
    table.description.source.as_ref().is_some_and(|source| source.bounded)
}

/// Whether every table that these queries read ends by itself.
///
/// # Errors
/// A bug.
pub(crate) fn all_bounded<'q>(queries: impl Iterator<Item = &'q LogicalPlan>) -> Result<bool> {
    for logical in queries {
        if reads(logical)?.values().any(|reads| !is_bounded(&reads.table)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A query with all that batch mode needs.
///
/// # Errors
/// A table that never ends, or that cannot be read.
pub(crate) fn query(
    logical: &LogicalPlan,
    (sink, key): (String, Vec<usize>),
    context: &LowerContext,
) -> Result<BatchQuery> {
    let mut tables = Vec::new();
    for reads in reads(logical)?.values() {
        let table = &reads.table;
        if table.description.source.is_some() && !is_bounded(table) {
            let name = table_name(&table.definition.path);
            return Err(Error::new(
                &codes::UNBOUNDED_IN_BATCH,
                &[("table", &name), ("connector", &table.factory.name())],
            ));
        }
        tables.push(Arc::new(BatchTable::new(reads, context)?));
    }
    let fields = logical
        .schema()
        .fields()
        .iter()
        .map(|field| {
            // A time attribute needs watermarks, of which there are none.
            let field = Field::from_arrow(field)?;
            Ok(Field::new(field.name, field.sql_type))
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(BatchQuery {
        logical: logical.clone(),
        sink,
        row: RowType::new(fields),
        key,
        tables,
        functions: context.functions.clone(),
        clock: context.connector.clock.clone(),
        warnings: context.connector.warnings.clone(),
        batch_rows: context.config.batch_rows,
    })
}

/// The table of a scan in a logical plan, as [`BatchTable::identity`] names it.
pub fn scan_identity(scan: &TableScan) -> Option<String> {
    catalog_table(scan.source.as_ref()).map(|table| table.identity())
}

/// An expression ready to run.
#[derive(Debug, Clone)]
pub struct BatchExpression {
    /// The expression over the input's columns and, behind them, the hidden ones.
    pub expression: Arc<dyn Expression>,
    /// The hidden columns that it reads.
    pub hidden: Vec<HiddenColumn>,
}

/// Compiles expressions over the columns of one input.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The columns as the logical plan names them.
    pub schema: &'a DFSchema,
    /// Their types.
    pub types: &'a [SqlType],
    /// What functions may know.
    pub functions: &'a FunctionContext,
}

impl Scope<'_> {
    /// An expression of a logical plan.
    ///
    /// # Errors
    /// An expression that cannot be run.
    pub fn compile(&self, expr: &Expr) -> Result<BatchExpression> {
        Ok(self.finish(self.tree(expr)?))
    }

    /// The same, cast to a type.
    ///
    /// # Errors
    /// An expression that cannot be run.
    pub fn compile_as(&self, expr: &Expr, sql_type: &SqlType) -> Result<BatchExpression> {
        Ok(self.finish(cast(self.tree(expr)?, sql_type)))
    }

    /// Whether an expression reads only columns of this input.
    pub fn covers(&self, expr: &Expr) -> bool {
        expr.column_refs().iter().all(|column| self.schema.index_of_column(column).is_ok())
    }

    fn tree(&self, expr: &Expr) -> Result<Tree> {
        Compiler { schema: self.schema, types: self.types, random_calls: &Cell::new(0) }.compile(expr)
    }

    fn finish(&self, tree: Tree) -> BatchExpression {
        let width = self.types.len();
        let calls = tree.hidden();
        let tree = tree.replace(&mut |leaf| match leaf {
            Tree::Hidden { column, call, .. } => {
                let slot = calls.iter().position(|known| known == &(*column, *call))?;
                Some(Tree::Hidden { column: *column, call: *call, position: Some(width + slot) })
            }
            _ => None,
        });
        let names: Vec<String> = self.schema.fields().iter().map(|field| field.name().clone()).collect();
        let identities: Vec<String> = (0..width).map(|index| format!("#{index}")).collect();
        BatchExpression {
            expression: Arc::new(Compiled::new(tree, &names, &identities, self.functions)),
            hidden: calls.into_iter().map(|(column, _)| column).collect(),
        }
    }
}

/// Column `index` of an input, cast to a type.
pub fn cast_column(
    (index, from): (usize, &SqlType),
    to: &SqlType,
    names: &[String],
    functions: &FunctionContext,
) -> BatchExpression {
    let tree = cast(Tree::Column { index, sql_type: from.clone() }, to);
    let identities: Vec<String> = (0..names.len()).map(|index| format!("#{index}")).collect();
    BatchExpression { expression: Arc::new(Compiled::new(tree, names, &identities, functions)), hidden: Vec::new() }
}

fn cast(tree: Tree, sql_type: &SqlType) -> Tree {
    let from = tree.sql_type();
    if from.logical == sql_type.logical {
        return tree;
    }
    Tree::Cast { input: Box::new(tree), sql_type: sql_type.with_nullable(from.nullable), try_cast: false }
}

/// The common type of columns that become one.
///
/// # Errors
/// Types that have none; the binder has looked before.
pub fn common_type(types: &[SqlType]) -> Result<SqlType> {
    let nullable = types.iter().any(|sql_type| sql_type.nullable);
    let mut typed = types.iter().filter(|sql_type| sql_type.logical != LogicalType::Null);
    let common = match typed.next() {
        None => LogicalType::Null.nullable(),
        Some(first) if typed.all(|other| other.logical == first.logical) => first.clone(),
        Some(_) => {
            functions::common_type(types).ok_or_else(|| Error::internal("a union of types without a common one"))?
        }
    };
    Ok(common.with_nullable(nullable))
}

/// The sides of `left = right`.
pub fn as_equality(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => Some((left, right)),
        Expr::ScalarFunction(call) if crate::bridge::flink_scalar(&call.func).is_some_and(|one| one.name() == "=") => {
            match call.args.as_slice() {
                [left, right] => Some((left, right)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The sides of `left IS NOT DISTINCT FROM right`.
pub fn as_null_safe_equality(expr: &Expr) -> Option<(&Expr, &Expr)> {
    let (call, name) = match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::IsNotDistinctFrom, right }) => return Some((left, right)),
        Expr::Not(inner) => (inner.as_ref(), "IS DISTINCT FROM"),
        other => (other, "IS NOT DISTINCT FROM"),
    };
    match call {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::IsDistinctFrom, right }) if name == "IS DISTINCT FROM" => {
            Some((left, right))
        }
        Expr::ScalarFunction(call) if crate::bridge::flink_scalar(&call.func).is_some_and(|one| one.name() == name) => {
            match call.args.as_slice() {
                [left, right] => Some((left, right)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether rows can be told apart by values of a type.
pub fn can_be_key(sql_type: &SqlType) -> bool {
    match &sql_type.logical {
        LogicalType::Map(..) | LogicalType::Multiset(_) => false,
        LogicalType::Array(element) => can_be_key(element),
        LogicalType::Row(fields) => fields.iter().all(|(_, field)| can_be_key(field)),
        _ => true,
    }
}

/// The type in which values of these two types are compared byte by byte where they are the keys of a join; `None` if
/// there is none. The outcome is that of `=`, except for floating point numbers: as keys, NaN equals NaN, and -0.0 is
/// not 0.0.
pub fn key_type(left: &SqlType, right: &SqlType) -> Option<SqlType> {
    use LogicalType::*;
    let is_text = |logical: &LogicalType| matches!(logical, Char(_) | VarChar(_));
    let is_int = |logical: &LogicalType| matches!(logical, TinyInt | SmallInt | Int | BigInt);
    let (one, two) = (&left.logical, &right.logical);
    match (one, two) {
        // A MAP has no order, and no hash.
        _ if !can_be_key(left) || !can_be_key(right) => None,
        _ if one == two => Some(left.clone()),
        _ if is_text(one) && is_text(two) => Some(LogicalType::STRING.nullable()),
        _ if is_int(one) && is_int(two) => Some(BigInt.nullable()),
        (Float | Double, _) | (_, Float | Double) => functions::common_type(&[left.clone(), right.clone()]),
        (Timestamp(_), Timestamp(_)) | (TimestampLtz(_), TimestampLtz(_)) | (Decimal { .. }, Decimal { .. }) => {
            functions::common_type(&[left.clone(), right.clone()])
        }
        _ => None,
    }
}
