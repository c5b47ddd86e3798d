//! Batch mode over the final rows of the tables: a second opinion of what a query means.

use super::case::{Case, TextRows};
use super::data::{Table, rows_after};
use super::run::{Script, Stopped, plan};
use super::value::{Row, Type, Value};
use arrow::array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow::datatypes::{Field, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Milliseconds of 2024-01-01.
const DAY_ONE: i64 = 1_704_067_200_000;

/// The rows of a case after these numbers of steps, in batch mode.
///
/// # Errors
/// A query that batch mode does not take, or that fails.
pub async fn run(case: &Case, looks: &[usize]) -> Result<Vec<TextRows>, Stopped> {
    let mut definitions = case.definitions();
    definitions.push("SET 'execution.runtime-mode' = 'batch'".into());
    let script = Script::new(definitions, case.sql());
    let planned = plan(&script, Vec::new(), true)?;
    let [prepared] = planned.job.batch.as_slice() else {
        return Err(Stopped::Failed("no batch", "the job of a batch query has none".into()));
    };
    let failed = |error: base::Error| Stopped::of(&error, true);
    let mut results = Vec::new();
    for &steps in looks {
        let rows = rows_after(&case.tables, &case.steps[..steps]);
        let tables: BTreeMap<String, RecordBatch> = case
            .tables
            .iter()
            .zip(&rows)
            .enumerate()
            .map(|(index, (table, rows))| Ok((format!("t{index}"), record_batch(table, rows)?)))
            .collect::<base::Result<_>>()
            .map_err(failed)?;
        let batch = batch::execute(&prepared.query, &tables).await.map_err(failed)?;
        results.push(texts(&batch, &prepared.query.row).map_err(failed)?);
    }
    Ok(results)
}

fn texts(batch: &RecordBatch, row: &base::RowType) -> base::Result<TextRows> {
    let columns: Vec<StringArray> = batch
        .columns()
        .iter()
        .zip(row.fields())
        .map(|(column, field)| functions::to_text(column, &field.sql_type, chrono_tz::UTC))
        .collect::<base::Result<_>>()?;
    let cell = |column: &StringArray, row: usize| column.is_valid(row).then(|| column.value(row).to_string());
    let mut rows: TextRows =
        (0..batch.num_rows()).map(|row| columns.iter().map(|column| cell(column, row)).collect()).collect();
    rows.sort();
    Ok(rows)
}

fn record_batch(table: &Table, rows: &[Row]) -> base::Result<RecordBatch> {
    let mut fields = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (index, column) in table.columns.iter().enumerate() {
        let array = array(column.of, rows.iter().map(|row| &row[index]))?;
        fields.push(Field::new(format!("c{index}"), array.data_type().clone(), column.nullable));
        columns.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

fn array<'v>(of: Type, values: impl Iterator<Item = &'v Value>) -> base::Result<ArrayRef> {
    let number = |value: &Value| match value {
        Value::Number(number) => Some(*number),
        _ => None,
    };
    let whole = |value: &Value| number(value).and_then(|number| i64::try_from(number).ok());
    Ok(match of {
        Type::BigInt => Arc::new(values.map(whole).collect::<Int64Array>()),
        Type::Int => Arc::new(values.map(|value| whole(value).map(|number| number as i32)).collect::<Int32Array>()),
        Type::Timestamp => {
            Arc::new(values.map(|value| whole(value).map(|ms| ms + DAY_ONE)).collect::<TimestampMillisecondArray>())
        }
        Type::Boolean => Arc::new(
            values
                .map(|value| match value {
                    Value::Boolean(truth) => Some(*truth),
                    _ => None,
                })
                .collect::<BooleanArray>(),
        ),
        Type::Text => Arc::new(
            values
                .map(|value| match value {
                    Value::Text(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect::<StringArray>(),
        ),
        Type::Decimal(precision, scale) => {
            let array = values.map(number).collect::<Decimal128Array>();
            Arc::new(array.with_precision_and_scale(precision, scale as i8)?)
        }
    })
}
