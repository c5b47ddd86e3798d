//! Our expressions inside DataFusion's operators.
//!
//! Every expression of a query runs as the streaming engine runs it, with Flink's types and values. DataFusion sees
//! what it needs: the Arrow type, the text, and whether two expressions are the same.

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field as ArrowField, FieldRef, Schema, SchemaRef};
use base::clock::Clock;
use base::expression::HiddenColumn;
use base::types::INSTANT_ZONE;
use base::{Result, SqlType};
use datafusion_common::DataFusionError;
use datafusion_expr::ColumnarValue;
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::Column;
use planner::batch::BatchExpression;
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// What hidden columns hold while a query runs.
#[derive(Debug)]
pub struct Moment {
    clock: Arc<dyn Clock>,
    /// The one current time of the query: that of the first row that asks for it.
    now_ms: OnceLock<i64>,
    random: AtomicU64,
}

impl Moment {
    /// A query that has not started.
    pub fn new(clock: Arc<dyn Clock>) -> Moment {
        Moment { clock, now_ms: OnceLock::new(), random: AtomicU64::new(0) }
    }

    fn now_ms(&self) -> i64 {
        *self.now_ms.get_or_init(|| self.clock.now_ms())
    }

    /// The next number of the splitmix64 generator.
    fn random(&self) -> i64 {
        let count = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let state = count ^ (self.now_ms() as u64).rotate_left(32);
        let value = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) as i64
    }

    /// A batch with hidden columns behind its own.
    ///
    /// # Errors
    /// A bug.
    pub fn extend(&self, batch: &RecordBatch, hidden: &[HiddenColumn]) -> Result<RecordBatch> {
        if hidden.is_empty() {
            return Ok(batch.clone());
        }
        let rows = batch.num_rows();
        let mut fields: Vec<FieldRef> = batch.schema().fields().iter().cloned().collect();
        let mut columns = batch.columns().to_vec();
        for (index, column) in hidden.iter().enumerate() {
            let values: ArrayRef = match column {
                HiddenColumn::ProcessingTime => {
                    Arc::new(TimestampMillisecondArray::from_value(self.now_ms(), rows).with_timezone(INSTANT_ZONE))
                }
                // There is no watermark where all rows are there at once.
                HiddenColumn::Watermark => {
                    Arc::new(TimestampMillisecondArray::new_null(rows).with_timezone(INSTANT_ZONE))
                }
                HiddenColumn::Random => Arc::new((0..rows).map(|_| self.random()).collect::<Int64Array>()),
            };
            fields.push(Arc::new(ArrowField::new(format!("$hidden{index}"), values.data_type().clone(), true)));
            columns.push(values);
        }
        record_batch(&Arc::new(Schema::new(fields)), columns, rows)
    }
}

/// A batch of this many rows, even without columns.
///
/// # Errors
/// Columns that do not fit the schema: a bug.
pub fn record_batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

/// A field of a physical plan. All of them are nullable and carry no metadata: types are looked at before, and NOT
/// NULL is promised by nobody below.
pub fn plain_field(name: &str, data_type: DataType) -> FieldRef {
    Arc::new(ArrowField::new(name, data_type, true))
}

/// A physical expression, and its type.
#[derive(Debug, Clone)]
pub struct Typed {
    /// The expression.
    pub expr: Arc<dyn PhysicalExpr>,
    /// Its type.
    pub sql_type: SqlType,
}

impl Typed {
    /// A compiled expression for DataFusion; a mere column becomes DataFusion's own.
    pub fn new(compiled: BatchExpression, input: &Schema, moment: &Arc<Moment>) -> Typed {
        let sql_type = compiled.expression.sql_type().clone();
        let expr: Arc<dyn PhysicalExpr> = match compiled.expression.as_column() {
            Some(index) if index < input.fields().len() => Arc::new(Column::new(input.field(index).name(), index)),
            _ => Arc::new(FlinkExpr { compiled, moment: moment.clone() }),
        };
        Typed { expr, sql_type }
    }

    /// Column `index` of an input.
    pub fn column(index: usize, input: &Schema, sql_type: &SqlType) -> Typed {
        Typed { expr: Arc::new(Column::new(input.field(index).name(), index)), sql_type: sql_type.clone() }
    }
}

/// One of our expressions.
#[derive(Debug)]
struct FlinkExpr {
    compiled: BatchExpression,
    moment: Arc<Moment>,
}

impl FlinkExpr {
    fn is_volatile(&self) -> bool {
        self.compiled.hidden.contains(&HiddenColumn::Random)
    }
}

impl PartialEq for FlinkExpr {
    fn eq(&self, other: &Self) -> bool {
        let same = || self.compiled.expression.digest() == other.compiled.expression.digest();
        std::ptr::eq(self, other) || !self.is_volatile() && same()
    }
}

impl Eq for FlinkExpr {}

impl Hash for FlinkExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.compiled.expression.digest().hash(state);
    }
}

impl fmt::Display for FlinkExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.compiled.expression.sql())
    }
}

impl PhysicalExpr for FlinkExpr {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn return_field(&self, _input: &Schema) -> datafusion_common::Result<FieldRef> {
        Ok(plain_field(&self.compiled.expression.sql(), self.compiled.expression.sql_type().arrow()))
    }

    fn evaluate(&self, batch: &RecordBatch) -> datafusion_common::Result<ColumnarValue> {
        let batch = self.moment.extend(batch, &self.compiled.hidden).map_err(external)?;
        Ok(ColumnarValue::Array(self.compiled.expression.evaluate(&batch).map_err(external)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        Vec::new()
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> datafusion_common::Result<Arc<dyn PhysicalExpr>> {
        Ok(self)
    }

    fn is_volatile_node(&self) -> bool {
        self.is_volatile()
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A column that a plan itself needs.
type Compute = dyn Fn(&RecordBatch) -> Result<ArrayRef> + Send + Sync;

/// A column that a plan itself needs, no expression of the query.
pub struct Computed {
    text: String,
    data_type: DataType,
    compute: Box<Compute>,
}

impl Computed {
    /// The column that `compute` gives, of type `data_type`; equal texts say that two columns are the same.
    pub fn new(
        text: String,
        data_type: DataType,
        compute: impl Fn(&RecordBatch) -> Result<ArrayRef> + Send + Sync + 'static,
    ) -> Arc<Computed> {
        Arc::new(Computed { text, data_type, compute: Box::new(compute) })
    }
}

impl fmt::Debug for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Computed {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.data_type == other.data_type
    }
}

impl Eq for Computed {}

impl Hash for Computed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PhysicalExpr for Computed {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn return_field(&self, _input: &Schema) -> datafusion_common::Result<FieldRef> {
        Ok(plain_field(&self.text, self.data_type.clone()))
    }

    fn evaluate(&self, batch: &RecordBatch) -> datafusion_common::Result<ColumnarValue> {
        Ok(ColumnarValue::Array((self.compute)(batch).map_err(external)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        Vec::new()
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> datafusion_common::Result<Arc<dyn PhysicalExpr>> {
        Ok(self)
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Our error inside DataFusion's.
pub fn external(error: base::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
