//! Queries: planned, run, and their results.

use crate::expression::{Moment, record_batch};
use crate::lower::{Lowering, Rows, to_error};
use crate::source::QuerySource;
use crate::table::{Surroundings, Table, TableRows, encode};
use arrow::array::{BooleanArray, RecordBatch, new_null_array};
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::datatypes::DataType;
use base::connector::SourceStatistics;
use base::{Error, Result};
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_execution::TaskContext;
use datafusion_execution::config::SessionConfig;
use datafusion_expr::LogicalPlan;
use datafusion_physical_plan::SendableRecordBatchStream;
use datafusion_physical_plan::display::DisplayableExecutionPlan;
use futures_util::{StreamExt, TryStreamExt};
use planner::batch::{BatchEngine, BatchQuery, PreparedBatch, from_datafusion, scan_identity};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Batch mode on DataFusion.
#[derive(Debug, Clone, Copy, Default)]
pub struct DataFusionEngine;

impl BatchEngine for DataFusionEngine {
    fn prepare(&self, query: BatchQuery) -> Result<PreparedBatch> {
        let prepared = Prepared::new(&query, |_| TableRows::Connector)?;
        let plan = DisplayableExecutionPlan::new(prepared.rows.plan.as_ref()).indent(false).to_string();
        Ok(PreparedBatch { source: Arc::new(QuerySource::new(prepared)), plan, query })
    }
}

/// The result of a query over given tables.
///
/// `tables` holds the final rows of each table that the query reads, by the table's name, with the columns that its
/// connector would give: physical columns by name, metadata columns by key; computed columns are computed. Nothing is
/// read from outside. Columns of the result have the types of [`BatchQuery::row`].
///
/// # Errors
/// A table or column that is missing, what batch mode does not have, and what Flink fails a job for.
pub async fn execute(query: &BatchQuery, tables: &BTreeMap<String, RecordBatch>) -> Result<RecordBatch> {
    for table in &query.tables {
        if !tables.contains_key(&table.name) {
            return Err(Error::internal(format!("table {} is not given", table.name)));
        }
    }
    let prepared =
        Prepared::new(query, |name| tables.get(name).cloned().map_or(TableRows::Connector, TableRows::Given))?;
    let batches: Vec<RecordBatch> = prepared.run()?.try_collect().await.map_err(to_error)?;
    let batches = batches.iter().map(|batch| prepared.finish(batch)).collect::<Result<Vec<_>>>()?;
    Ok(concat_batches(query.row.arrow(), &batches)?)
}

/// [`execute`] for callers outside an async runtime.
///
/// # Errors
/// As [`execute`].
pub fn run(query: &BatchQuery, tables: &BTreeMap<String, RecordBatch>) -> Result<RecordBatch> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|cause| Error::io("start", "the async runtime", &cause))?;
    runtime.block_on(execute(query, tables))
}

/// A query that can be run.
#[derive(Debug)]
pub struct Prepared {
    rows: Rows,
    row: base::RowType,
    key: Vec<usize>,
    tables: Vec<Arc<Table>>,
    batch_rows: usize,
}

impl Prepared {
    /// Plans a query; `rows` says where the rows of a table come from.
    ///
    /// # Errors
    /// What batch mode does not have.
    pub fn new(query: &BatchQuery, rows: impl Fn(&str) -> TableRows) -> Result<Prepared> {
        let moment = Arc::new(Moment::new(query.clock.clone()));
        let surroundings =
            Surroundings { moment: moment.clone(), batch_rows: query.batch_rows, warnings: query.warnings.clone() };
        let places = scans(&query.logical)?;
        let tables: BTreeMap<String, Arc<Table>> = query
            .tables
            .iter()
            .map(|table| {
                let shared = places.get(&table.identity).is_some_and(|places| *places > 1);
                let opened = Table::new(table.clone(), rows(&table.name), shared, &surroundings);
                (table.identity.clone(), Arc::new(opened))
            })
            .collect();
        let lowering = Lowering { tables: &tables, functions: &query.functions, moment };
        let types: Vec<_> = query.row.fields().iter().map(|field| field.sql_type.clone()).collect();
        let rows = lowering.lower(&query.logical)?;
        let rows = match rows.types.iter().zip(&types).all(|(given, wanted)| given.logical == wanted.logical) {
            true => rows,
            false => lowering.align(&rows, &types, query.logical.schema())?,
        };
        Ok(Prepared {
            rows,
            row: query.row.clone(),
            key: query.key.clone(),
            tables: tables.into_values().collect(),
            batch_rows: query.batch_rows,
        })
    }

    /// Starts the query.
    ///
    /// # Errors
    /// What fails before the first row.
    pub fn run(&self) -> Result<SendableRecordBatchStream> {
        // DataFusion's operators are slow row by row, and results do not depend on the size.
        let config = SessionConfig::new().with_batch_size(self.batch_rows.max(1024)).with_target_partitions(1);
        let context = Arc::new(TaskContext::default().with_session_config(config));
        let stream = self.rows.plan.execute(0, context.clone()).map_err(to_error)?;
        if self.key.is_empty() {
            return Ok(stream);
        }
        let (schema, key) = (self.rows.plan.schema(), self.key.clone());
        let last = futures_util::stream::once({
            let schema = schema.clone();
            async move {
                let batches: Vec<RecordBatch> = stream.try_collect().await?;
                last_per_key(&concat_batches(&schema, &batches)?, &key).map_err(crate::expression::external)
            }
        });
        let adapter = datafusion_physical_plan::stream::RecordBatchStreamAdapter::new(schema, last.boxed());
        Ok(Box::pin(adapter))
    }

    /// A batch of the plan with the schema of the query's result.
    ///
    /// # Errors
    /// A bug.
    pub fn finish(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let wanted = self.row.arrow();
        let columns = batch
            .columns()
            .iter()
            .zip(wanted.fields())
            .map(|(column, field)| match column.data_type() {
                DataType::Null => new_null_array(field.data_type(), column.len()),
                _ => column.clone(),
            })
            .collect();
        record_batch(wanted, columns, batch.num_rows())
    }

    /// What has been read from all tables so far.
    pub fn statistics(&self) -> SourceStatistics {
        let mut sum = SourceStatistics::default();
        for table in &self.tables {
            let one = table.statistics();
            sum.records += one.records;
            sum.bytes += one.bytes;
            sum.rejected += one.rejected;
            sum.rejected_samples.extend(one.rejected_samples);
        }
        sum
    }
}

/// How often a query reads each table.
fn scans(logical: &LogicalPlan) -> Result<HashMap<String, usize>> {
    let mut places = HashMap::new();
    logical
        .apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Some(identity) = scan_identity(scan)
            {
                *places.entry(identity).or_default() += 1;
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .map_err(from_datafusion)?;
    Ok(places)
}

/// The last row of each key, in the order of these rows.
fn last_per_key(rows: &RecordBatch, key: &[usize]) -> Result<RecordBatch> {
    let columns: Vec<_> = key.iter().map(|&column| rows.column(column).clone()).collect();
    let keys = encode(&columns)?;
    let mut last = HashMap::new();
    for (place, key) in keys.iter().enumerate() {
        last.insert(key, place);
    }
    let kept: BooleanArray = keys.iter().enumerate().map(|(place, key)| Some(last.get(&key) == Some(&place))).collect();
    Ok(filter_record_batch(rows, &kept)?)
}
