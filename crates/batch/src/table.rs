//! Tables: what a source gives, read to its end, with changes applied and computed columns added.
//!
//! A source of plain rows is read while the query runs. One of changes is read to its end first: the query sees the
//! table that the changes leave. A table that is read in several places of a query is read once.

use crate::expression::{Moment, external, plain_field, record_batch};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, RecordBatch};
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use base::connector::{Instance, ReadRequest, SourceEvent, SourceStatistics};
use base::plan::Calc;
use base::{ChangelogBatch, Error, Result};
use datafusion_common::DataFusionError;
use datafusion_execution::TaskContext;
use datafusion_physical_expr::EquivalenceProperties;
use datafusion_physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion_physical_plan::memory::MemoryStream;
use datafusion_physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion_physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, SendableRecordBatchStream,
};
use planner::batch::BatchTable;
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;
use tokio::sync::mpsc::Sender;

/// Batches that wait between a source and the query.
const WAITING_BATCHES_MAX: usize = 2;

/// Where the rows of a table come from.
#[derive(Debug, Clone)]
pub enum TableRows {
    /// The connector of the table.
    Connector,
    /// Rows with the columns that the connector would give, found by name.
    Given(RecordBatch),
}

/// A table of a query.
#[derive(Debug)]
pub struct Table {
    /// What is read.
    pub definition: Arc<BatchTable>,
    rows: TableRows,
    moment: Arc<Moment>,
    batch_rows: usize,
    warnings: base::Warnings,
    /// The whole table, if it must be kept.
    whole: OnceCell<Vec<RecordBatch>>,
    /// Whether several places read it.
    pub shared: bool,
    statistics: Mutex<SourceStatistics>,
    schema: SchemaRef,
}

/// What tables need to know of their query.
#[derive(Debug)]
pub struct Surroundings {
    /// The current time.
    pub moment: Arc<Moment>,
    /// Rows per batch.
    pub batch_rows: usize,
    /// Takes what sources have to say.
    pub warnings: base::Warnings,
}

impl Table {
    /// A table that nothing has been read of yet.
    pub fn new(definition: Arc<BatchTable>, rows: TableRows, shared: bool, surroundings: &Surroundings) -> Table {
        let fields = definition.row.fields().iter();
        let schema =
            Schema::new(fields.map(|field| plain_field(&field.name, field.sql_type.arrow())).collect::<Vec<_>>());
        Table {
            definition,
            rows,
            moment: surroundings.moment.clone(),
            batch_rows: surroundings.batch_rows,
            warnings: surroundings.warnings.clone(),
            whole: OnceCell::new(),
            shared,
            statistics: Mutex::default(),
            schema: Arc::new(schema),
        }
    }

    /// What has been read so far.
    pub fn statistics(&self) -> SourceStatistics {
        self.statistics.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the table must be complete before its first row is known.
    fn is_changing(&self) -> bool {
        !self.definition.changelog.is_append_only()
    }

    /// All rows of the table.
    async fn whole(&self) -> Result<&Vec<RecordBatch>> {
        self.whole
            .get_or_try_init(|| async {
                let (sender, mut receiver) = tokio::sync::mpsc::channel(WAITING_BATCHES_MAX);
                let mut changes = Vec::new();
                let collect = async {
                    while let Some(batch) = receiver.recv().await {
                        changes.push(batch);
                    }
                };
                let (read, ()) = tokio::join!(self.read(sender), collect);
                read?;
                match self.is_changing() {
                    true => Ok(vec![materialise(&self.schema, &changes, &self.definition.key)?]),
                    false => Ok(changes.into_iter().map(|batch| batch.records().clone()).collect()),
                }
            })
            .await
    }

    /// Reads the source to its end.
    async fn read(&self, out: Sender<ChangelogBatch>) -> Result<()> {
        match &self.rows {
            TableRows::Given(rows) => {
                let given = self.pick(rows)?;
                // Who has gone wants no more rows.
                let _ = out.send(self.finish(&ChangelogBatch::inserts(given))?).await;
                Ok(())
            }
            TableRows::Connector => self.read_connector(out).await,
        }
    }

    /// The columns that the connector would give.
    fn pick(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let wanted = &self.definition.scan.read;
        let columns = wanted
            .fields()
            .iter()
            .map(|field| {
                rows.column_by_name(&field.name).cloned().ok_or_else(|| {
                    Error::internal(format!("table {} is given without column {}", self.definition.name, field.name))
                })
            })
            .collect::<Result<Vec<_>>>()?;
        record_batch(wanted.arrow(), columns, rows.num_rows())
    }

    async fn read_connector(&self, out: Sender<ChangelogBatch>) -> Result<()> {
        let provider = &self.definition.scan.provider;
        for warning in provider.start(&[]).await? {
            self.warnings.send(warning);
        }
        let mut reader = provider.reader(Instance { index: 0, parallelism: 1 }, &[])?;
        let watermarks = BTreeMap::new();
        loop {
            let event = reader.next(ReadRequest { rows_max: self.batch_rows, watermarks: &watermarks }).await?;
            *self.statistics.lock().unwrap_or_else(PoisonError::into_inner) = reader.statistics();
            match event {
                SourceEvent::Batch { batch, .. } => {
                    if out.send(self.finish(&batch)?).await.is_err() {
                        break;
                    }
                }
                SourceEvent::SplitStarted(_) | SourceEvent::SplitFinished(_) | SourceEvent::Idle => {}
                SourceEvent::End => break,
            }
        }
        reader.close().await;
        Ok(())
    }

    /// Computed columns and casts, and the schema of the plan.
    fn finish(&self, batch: &ChangelogBatch) -> Result<ChangelogBatch> {
        let records = batch.records();
        let columns = match &self.definition.scan.projection {
            None => records.columns().to_vec(),
            Some(calc) => self.project(calc, records)?,
        };
        Ok(batch.with_records(record_batch(&self.schema, columns, records.num_rows())?))
    }

    fn project(&self, calc: &Calc, records: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let extended = self.moment.extend(records, &calc.hidden)?;
        calc.projection.iter().map(|expression| expression.evaluate(&extended)).collect()
    }
}

/// The table that changes leave, in the order in which its rows came. Keyed changes replace the row of their key;
/// others take away a row that is the same.
pub fn materialise(schema: &SchemaRef, changes: &[ChangelogBatch], key: &[usize]) -> Result<RecordBatch> {
    let all = concat_batches(schema, changes.iter().map(ChangelogBatch::records))?;
    let compared: Vec<usize> = if key.is_empty() { (0..all.num_columns()).collect() } else { key.to_vec() };
    let rows = encode(&compared.iter().map(|&column| all.column(column).clone()).collect::<Vec<_>>())?;
    let mut alive = vec![false; all.num_rows()];
    let mut places: HashMap<OwnedRow, Vec<usize>> = HashMap::new();
    let kinds = changes.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| batch.kind(row)));
    for ((place, kind), row) in kinds.enumerate().zip(&rows) {
        let same = places.entry(row.owned()).or_default();
        if !key.is_empty() || !kind.is_addition() {
            // What was never there is not taken away.
            if let Some(old) = same.pop() {
                alive[old] = false;
            }
        }
        if kind.is_addition() {
            same.push(place);
            alive[place] = true;
        }
    }
    Ok(filter_record_batch(&all, &BooleanArray::from(alive))?)
}

/// Rows that can be compared.
///
/// # Errors
/// Types that cannot.
pub fn encode(columns: &[ArrayRef]) -> Result<arrow::row::Rows> {
    let columns = columns.iter().map(comparable).collect::<Result<Vec<_>>>()?;
    let fields: Vec<SortField> = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
    if !RowConverter::supports_fields(&fields) {
        return Err(Error::unsupported("comparing rows with a MAP inside a ROW or an ARRAY in batch mode"));
    }
    Ok(RowConverter::new(fields)?.convert_columns(&columns)?)
}

/// A MAP as the list of its entries.
fn comparable(column: &ArrayRef) -> Result<ArrayRef> {
    let Some(map) = column.as_map_opt() else { return Ok(column.clone()) };
    let entries = map.entries().clone();
    let item = plain_field("item", entries.data_type().clone());
    Ok(Arc::new(ListArray::try_new(item, map.offsets().clone(), Arc::new(entries), map.nulls().cloned())?))
}

/// Reads columns of a table.
#[derive(Debug)]
pub struct TableExec {
    table: Arc<Table>,
    columns: Vec<usize>,
    properties: Arc<PlanProperties>,
}

impl TableExec {
    /// Reads columns of `table`, given by their places in its row.
    pub fn new(table: Arc<Table>, columns: Vec<usize>) -> TableExec {
        let fields: Vec<_> = columns.iter().map(|&column| table.schema.field(column).clone()).collect();
        TableExec { table, columns, properties: properties(Arc::new(Schema::new(fields)), 1) }
    }
}

/// Properties of an operator of ours.
pub fn properties(schema: SchemaRef, partitions: usize) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

impl DisplayAs for TableExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.properties.eq_properties.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "TableExec: table={}, columns=[{}]", self.table.definition.name, names.join(", "))?;
        if self.table.is_changing() {
            write!(f, ", changes={}", self.table.definition.changelog)?;
        }
        Ok(())
    }
}

impl ExecutionPlan for TableExec {
    fn name(&self) -> &str {
        "TableExec"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> datafusion_common::Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        _partition: usize,
        _context: Arc<TaskContext>,
    ) -> datafusion_common::Result<SendableRecordBatchStream> {
        let schema = self.schema();
        let mut builder = RecordBatchReceiverStreamBuilder::new(schema.clone(), WAITING_BATCHES_MAX);
        let (out, table, columns) = (builder.tx(), self.table.clone(), self.columns.clone());
        let pick = move |batch: &RecordBatch| -> Result<RecordBatch> {
            let picked = columns.iter().map(|&column| batch.column(column).clone()).collect();
            record_batch(&schema, picked, batch.num_rows())
        };
        builder.spawn(async move {
            if table.shared || table.is_changing() {
                for batch in table.whole().await.map_err(external)? {
                    if out.send(pick(batch).map_err(external)).await.is_err() {
                        return Ok(());
                    }
                }
                return Ok(());
            }
            let (sender, mut receiver) = tokio::sync::mpsc::channel::<ChangelogBatch>(1);
            let forward = async {
                while let Some(batch) = receiver.recv().await {
                    let batch = pick(batch.records()).map_err(external);
                    if out.send(batch).await.is_err() {
                        return;
                    }
                }
            };
            let (read, ()) = tokio::join!(table.read(sender), async {
                forward.await;
            });
            read.map_err(external)
        });
        Ok(builder.build())
    }
}

/// Constant rows.
#[derive(Debug)]
pub struct RowsExec {
    rows: RecordBatch,
    properties: Arc<PlanProperties>,
}

impl RowsExec {
    /// These rows.
    pub fn new(rows: RecordBatch) -> RowsExec {
        let properties = properties(rows.schema(), 1);
        RowsExec { rows, properties }
    }
}

impl DisplayAs for RowsExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowsExec: rows={}", self.rows.num_rows())
    }
}

impl ExecutionPlan for RowsExec {
    fn name(&self) -> &str {
        "RowsExec"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> datafusion_common::Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        _partition: usize,
        _context: Arc<TaskContext>,
    ) -> datafusion_common::Result<SendableRecordBatchStream> {
        Ok(Box::pin(MemoryStream::try_new(vec![self.rows.clone()], self.rows.schema(), None)?))
    }
}

/// The partitions of its input one after the other, so that the same input always gives the same order.
#[derive(Debug)]
pub struct InOrderExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl InOrderExec {
    /// All rows of `input` in one partition.
    pub fn new(input: Arc<dyn ExecutionPlan>) -> InOrderExec {
        let properties = properties(input.schema(), 1);
        InOrderExec { input, properties }
    }
}

impl DisplayAs for InOrderExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InOrderExec")
    }
}

impl ExecutionPlan for InOrderExec {
    fn name(&self) -> &str {
        "InOrderExec"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> datafusion_common::Result<Arc<dyn ExecutionPlan>> {
        match children.into_iter().next() {
            Some(input) => Ok(Arc::new(InOrderExec::new(input))),
            None => Err(DataFusionError::Internal("InOrderExec has one input".into())),
        }
    }

    fn execute(
        &self,
        _partition: usize,
        context: Arc<TaskContext>,
    ) -> datafusion_common::Result<SendableRecordBatchStream> {
        use datafusion_physical_plan::ExecutionPlanProperties;
        use futures_util::StreamExt;
        let input = self.input.clone();
        let partitions = input.output_partitioning().partition_count();
        let all = futures_util::stream::iter(0..partitions).flat_map(move |partition| {
            match input.execute(partition, context.clone()) {
                Ok(stream) => stream.boxed(),
                Err(error) => futures_util::stream::once(async move { Err(error) }).boxed(),
            }
        });
        let adapter = datafusion_physical_plan::stream::RecordBatchStreamAdapter::new(self.schema(), all);
        Ok(Box::pin(adapter))
    }
}
