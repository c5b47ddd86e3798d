//! Expressions and aggregates that are just enough for the tests of operators.

use arrow::array::*;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use base::function::{Accumulator, AggregateFunction, AggregateOptions, Merging, is_selected};
use base::plan::AggregateCall;
use base::types::{LogicalType, SqlType};
use base::{Expression, Result, RowKind};
use std::sync::Arc;

/// COUNT(*), COUNT(x) or SUM(x) over BIGINT.
pub fn call(function: &'static str, argument: Option<usize>) -> AggregateCall {
    AggregateCall {
        function: Arc::new(TestAggregate(function)),
        arguments: argument.into_iter().collect(),
        filter: None,
        options: AggregateOptions::default(),
        sql: format!("{function}(...)"),
    }
}

#[derive(Debug)]
struct TestAggregate(&'static str);

impl AggregateFunction for TestAggregate {
    fn name(&self) -> &str {
        self.0
    }

    fn return_type(&self, _arguments: &[SqlType]) -> Result<SqlType> {
        Ok(LogicalType::BigInt.nullable())
    }

    fn accumulator(&self, _arguments: &[SqlType], _options: &AggregateOptions) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(SumAndCount { is_sum: self.0 == "SUM", sums: vec![], counts: vec![] }))
    }
}

#[derive(Debug)]
struct SumAndCount {
    is_sum: bool,
    sums: Vec<i64>,
    counts: Vec<i64>,
}

impl Accumulator for SumAndCount {
    fn resize(&mut self, slots: usize) {
        self.sums.resize(slots, 0);
        self.counts.resize(slots, 0);
    }

    fn update(
        &mut self,
        slots: &[u32],
        kinds: Option<&[RowKind]>,
        arguments: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        for (row, &slot) in slots.iter().enumerate() {
            if !is_selected(selected, row) || arguments.iter().any(|argument| argument.is_null(row)) {
                continue;
            }
            let sign = kinds.map_or(1, |kinds| kinds[row].sign());
            self.counts[slot as usize] += sign;
            if self.is_sum {
                self.sums[slot as usize] += sign * arguments[0].as_primitive::<Int64Type>().value(row);
            }
        }
        Ok(())
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let value = |slot: &u32| match self.is_sum {
            true => (self.counts[*slot as usize] != 0).then(|| self.sums[*slot as usize]),
            false => Some(self.counts[*slot as usize]),
        };
        Ok(Arc::new(slots.iter().map(value).collect::<Int64Array>()))
    }

    fn reset(&mut self, slots: &[u32]) {
        for &slot in slots {
            self.sums[slot as usize] = 0;
            self.counts[slot as usize] = 0;
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        ["sum", "count"].map(|name| Arc::new(Field::new(name, DataType::Int64, false))).to_vec()
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let column = |values: &[i64]| -> ArrayRef {
            Arc::new(Int64Array::from(slots.iter().map(|&slot| values[slot as usize]).collect::<Vec<_>>()))
        };
        Ok(vec![column(&self.sums), column(&self.counts)])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.reset(slots);
        self.merge(slots, state)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        for (row, &slot) in slots.iter().enumerate() {
            self.sums[slot as usize] += state[0].as_primitive::<Int64Type>().value(row);
            self.counts[slot as usize] += state[1].as_primitive::<Int64Type>().value(row);
        }
        Ok(())
    }

    fn merging(&self) -> Merging {
        Merging::Exact
    }

    fn unmerge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        for (row, &slot) in slots.iter().enumerate() {
            self.sums[slot as usize] -= state[0].as_primitive::<Int64Type>().value(row);
            self.counts[slot as usize] -= state[1].as_primitive::<Int64Type>().value(row);
        }
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        (self.sums.capacity() + self.counts.capacity()) * 8
    }
}

/// An expression made from a closure over a batch.
pub struct Closure<F> {
    pub columns: Vec<usize>,
    pub sql_type: SqlType,
    pub function: F,
}

impl<F> std::fmt::Debug for Closure<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "closure over {:?}", self.columns)
    }
}

impl<F: Fn(&RecordBatch) -> ArrayRef + Send + Sync> Expression for Closure<F> {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        Ok((self.function)(batch))
    }

    fn sql_type(&self) -> &SqlType {
        &self.sql_type
    }

    fn sql(&self) -> String {
        format!("{self:?}")
    }

    fn columns(&self) -> Vec<usize> {
        self.columns.clone()
    }
}

/// A column as it is.
pub fn column(index: usize, sql_type: SqlType) -> Arc<dyn Expression> {
    Arc::new(Closure {
        columns: vec![index],
        sql_type,
        function: move |batch: &RecordBatch| batch.column(index).clone(),
    })
}

/// Whether a BIGINT column is above 0.
pub fn is_positive(index: usize) -> Arc<dyn Expression> {
    Arc::new(Closure {
        columns: vec![index],
        sql_type: LogicalType::Boolean.nullable(),
        function: move |batch: &RecordBatch| -> ArrayRef {
            let values = batch.column(index).as_primitive::<Int64Type>();
            Arc::new(values.iter().map(|value| value.map(|value| value > 0)).collect::<BooleanArray>())
        },
    })
}
