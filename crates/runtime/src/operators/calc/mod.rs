//! Filter and projection.

use super::output::{OutputQueue, record_batch};
use crate::operator::{Operator, OperatorContext};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, NullArray, RecordBatch, TimestampMillisecondArray,
};
use arrow::compute::filter;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use base::connector::Instance;
use base::expression::HiddenColumn;
use base::plan::{Calc, Node, Output};
use base::types::{INSTANT_ZONE, RowType};
use base::{ChangelogBatch, Expression, Result};
use std::sync::Arc;

/// Filters and projects.
///
/// * input: any kinds
/// * output: the kinds that came in. A filter looks at single rows and repairs nothing: a row that an update brings
///   into the result arrives as a lone `+U`, one that leaves goes with a lone `-U`, as in Flink
/// * state: none
/// * late rows: pass
#[derive(Debug)]
pub struct CalcOperator {
    evaluator: CalcEvaluator,
    output: OutputQueue,
}

impl CalcOperator {
    /// The operator of one instance.
    pub fn new(node: &Node, calc: &Calc, input: &Output, instance: Instance) -> CalcOperator {
        let salt =
            base::key::hash_columns(&[Arc::new(arrow::array::StringArray::from(vec![node.operator_id.as_str()]))], 1)
                .map_or(0, |hashes| hashes[0]);
        let evaluator =
            CalcEvaluator::new(calc, &input.row, &node.output.row, salt.wrapping_add(instance.index as u64));
        CalcOperator { evaluator, output: OutputQueue::default() }
    }
}

impl Operator for CalcOperator {
    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        self.output.push(self.evaluator.apply(&batch, context.watermark_ms, context.processing_time_ms)?);
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }
}

/// Evaluates a [`Calc`]; scans use it for computed columns.
#[derive(Debug)]
pub struct CalcEvaluator {
    condition: Option<Arc<dyn Expression>>,
    projection: Vec<Arc<dyn Expression>>,
    hidden: Vec<HiddenColumn>,
    /// The input with the hidden columns.
    extended: SchemaRef,
    /// The same after the filter: columns that the projection does not read have become Null columns, which cost
    /// nothing.
    filtered: SchemaRef,
    output: SchemaRef,
    salt: u64,
    random: Option<SplitMix>,
}

impl CalcEvaluator {
    /// An evaluator from rows of `input` to rows of `output`. `salt` makes the random numbers of instances differ.
    pub fn new(calc: &Calc, input: &RowType, output: &RowType, salt: u64) -> CalcEvaluator {
        let mut fields: Vec<FieldRef> = input.arrow().fields().iter().cloned().collect();
        let hidden = calc.hidden.iter().enumerate();
        fields.extend(hidden.map(|(index, column)| column.sql_type().arrow_field(&format!("$hidden{index}"))));
        let read = |index: usize| calc.projection.iter().any(|expression| expression.columns().contains(&index));
        let filtered = fields.iter().enumerate().map(|(index, field)| match read(index) {
            true => field.clone(),
            false => Arc::new(Field::new(field.name(), DataType::Null, true)),
        });
        CalcEvaluator {
            condition: calc.condition.clone(),
            projection: calc.projection.clone(),
            hidden: calc.hidden.clone(),
            filtered: Arc::new(Schema::new(filtered.collect::<Vec<_>>())),
            extended: Arc::new(Schema::new(fields)),
            output: output.arrow().clone(),
            salt,
            random: None,
        }
    }

    /// The kept rows of a batch, projected.
    ///
    /// # Errors
    /// What the expressions fail for.
    pub fn apply(
        &mut self,
        batch: &ChangelogBatch,
        watermark_ms: Option<i64>,
        processing_time_ms: i64,
    ) -> Result<ChangelogBatch> {
        let extended = self.extend(batch.records(), watermark_ms, processing_time_ms)?;
        let Some(condition) = &self.condition else {
            let records = self.project(&extended)?;
            return Ok(batch.with_records(records));
        };
        let kept = condition.evaluate(&extended)?;
        let kept = kept.as_boolean();
        // NULL is not true.
        let true_count = kept.true_count();
        if true_count == batch.num_rows() {
            let records = self.project(&extended)?;
            return Ok(batch.with_records(records));
        }
        if true_count == 0 {
            return Ok(ChangelogBatch::empty(&self.output));
        }
        let records = self.project(&self.filter(&extended, kept, true_count)?)?;
        Ok(match batch.kinds() {
            None => ChangelogBatch::inserts(records),
            Some(kinds) => {
                let kinds = kinds.iter().enumerate().filter(|(row, _)| kept.is_valid(*row) && kept.value(*row));
                ChangelogBatch::new(records, kinds.map(|(_, kind)| *kind).collect::<Vec<_>>())
            }
        })
    }

    fn filter(&self, batch: &RecordBatch, kept: &BooleanArray, rows: usize) -> Result<RecordBatch> {
        let columns = batch.columns().iter().zip(self.filtered.fields()).map(|(column, field)| {
            Ok(match field.data_type() {
                DataType::Null => Arc::new(NullArray::new(rows)) as ArrayRef,
                _ => filter(column, kept)?,
            })
        });
        record_batch(&self.filtered, columns.collect::<Result<_>>()?, rows)
    }

    fn project(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.projection.iter().map(|expression| match expression.as_column() {
            Some(index) => Ok(batch.column(index).clone()),
            None => expression.evaluate(batch),
        });
        record_batch(&self.output, columns.collect::<Result<_>>()?, batch.num_rows())
    }

    fn extend(&mut self, batch: &RecordBatch, watermark_ms: Option<i64>, now_ms: i64) -> Result<RecordBatch> {
        if self.hidden.is_empty() {
            return Ok(batch.clone());
        }
        let rows = batch.num_rows();
        let mut columns = batch.columns().to_vec();
        for column in &self.hidden {
            columns.push(match column {
                HiddenColumn::ProcessingTime => instants(Some(now_ms), rows),
                HiddenColumn::Watermark => instants(watermark_ms, rows),
                HiddenColumn::Random => {
                    // Seeded by the clock, so that a test with a clock of its own can be repeated, and a restart does
                    // not give the same UUIDs again.
                    let random =
                        self.random.get_or_insert_with(|| SplitMix(self.salt ^ (now_ms as u64).rotate_left(32)));
                    Arc::new((0..rows).map(|_| random.next()).collect::<Int64Array>())
                }
            });
        }
        record_batch(&self.extended, columns, rows)
    }
}

fn instants(value: Option<i64>, rows: usize) -> ArrayRef {
    let array = match value {
        Some(value) => TimestampMillisecondArray::from_value(value, rows),
        None => TimestampMillisecondArray::new_null(rows),
    };
    Arc::new(array.with_timezone(INSTANT_ZONE))
}

/// The splitmix64 generator.
#[derive(Debug)]
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) as i64
    }
}
