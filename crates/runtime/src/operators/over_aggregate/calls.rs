//! The calls of an OVER window, told apart by how they are computed.

use super::super::aggregates::Aggregates;
use arrow::array::{Array, ArrayRef, Int64Array, UInt32Array, new_null_array};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{is_not_null, take};
use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use base::plan::{AggregateCall, OverCall, OverFunction};
use base::types::RowType;
use base::{Error, Result};
use std::sync::Arc;

/// A number that follows from the order alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ranking {
    RowNumber,
    Rank,
    DenseRank,
}

/// LAG.
#[derive(Debug, Clone)]
pub(super) struct Shift {
    /// Which of [`Calls::arguments`].
    pub argument: usize,
    /// Rows back.
    pub offset: usize,
    /// The input column that stands in for a row that is not there, and for NULL.
    pub default: Option<usize>,
}

/// How a column of the output is made.
#[derive(Debug, Clone)]
enum Source {
    Aggregate(usize),
    Ranking(Ranking),
    Shift(usize),
}

/// The calls of one operator.
#[derive(Debug)]
pub(super) struct Calls {
    /// The input columns that aggregates and LAG read, each once.
    pub arguments: Vec<usize>,
    /// Those columns.
    pub fields: Vec<FieldRef>,
    /// Their schema.
    pub schema: SchemaRef,
    /// The accumulators.
    pub aggregates: Aggregates,
    /// Calls of LAG.
    pub shifts: Vec<Shift>,
    sources: Vec<Source>,
}

/// The numbers of a batch of rows.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    pub row_numbers: Vec<i64>,
    pub ranks: Vec<i64>,
    pub dense_ranks: Vec<i64>,
}

impl Ranks {
    fn column(&self, ranking: Ranking) -> ArrayRef {
        let values = match ranking {
            Ranking::RowNumber => &self.row_numbers,
            Ranking::Rank => &self.ranks,
            Ranking::DenseRank => &self.dense_ranks,
        };
        Arc::new(Int64Array::from(values.clone()))
    }
}

impl Calls {
    /// The calls over rows of `input`.
    ///
    /// # Errors
    /// Functions that need rows which have not come yet.
    pub fn new(calls: &[OverCall], input: &RowType) -> Result<Calls> {
        let mut arguments: Vec<usize> = Vec::new();
        let mut place = |column: usize| match arguments.iter().position(|known| *known == column) {
            Some(place) => place,
            None => {
                arguments.push(column);
                arguments.len() - 1
            }
        };
        let (mut aggregates, mut shifts, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        for call in calls {
            sources.push(match &call.function {
                OverFunction::Aggregate(call) => {
                    let arguments = call.arguments.iter().map(|&column| place(column)).collect();
                    let filter = call.filter.map(&mut place);
                    aggregates.push(AggregateCall { arguments, filter, ..call.clone() });
                    Source::Aggregate(aggregates.len() - 1)
                }
                OverFunction::RowNumber => Source::Ranking(Ranking::RowNumber),
                OverFunction::Rank => Source::Ranking(Ranking::Rank),
                OverFunction::DenseRank => Source::Ranking(Ranking::DenseRank),
                OverFunction::Shift { argument, offset, default } if *offset >= 0 => {
                    let (argument, offset) = (place(*argument), usize::try_from(*offset).unwrap_or(usize::MAX));
                    shifts.push(Shift { argument, offset, default: *default });
                    Source::Shift(shifts.len() - 1)
                }
                _ => return Err(Error::unsupported(format!("{} in streaming mode", call.sql))),
            });
        }
        let fields: Vec<FieldRef> = arguments.iter().map(|&column| input.arrow().fields()[column].clone()).collect();
        let row = input.project(&arguments);
        Ok(Calls {
            schema: Arc::new(Schema::new(fields.clone())),
            fields,
            aggregates: Aggregates::new(&aggregates, &row)?,
            shifts,
            sources,
            arguments,
        })
    }

    /// Whether any call is an aggregate.
    pub fn any_aggregate(&self) -> bool {
        self.sources.iter().any(|source| matches!(source, Source::Aggregate(_)))
    }

    /// Whether any call numbers rows.
    pub fn any_ranking(&self) -> bool {
        self.sources.iter().any(|source| matches!(source, Source::Ranking(_)))
    }

    /// How many rows LAG looks back.
    pub fn lag_max(&self) -> usize {
        self.shifts.iter().map(|shift| shift.offset).max().unwrap_or(0)
    }

    /// The columns of a batch that the calls read.
    pub fn argument_columns(&self, columns: &[ArrayRef]) -> Vec<ArrayRef> {
        self.arguments.iter().map(|&column| columns[column].clone()).collect()
    }

    /// The columns of the calls, in their order.
    pub fn columns(&self, aggregates: &[ArrayRef], ranks: &Ranks, shifts: &[ArrayRef]) -> Vec<ArrayRef> {
        let column = |source: &Source| match source {
            Source::Aggregate(call) => aggregates[*call].clone(),
            Source::Ranking(ranking) => ranks.column(*ranking),
            Source::Shift(call) => shifts[*call].clone(),
        };
        self.sources.iter().map(column).collect()
    }
}

impl Shift {
    /// The values: `rows` says for each row of the batch which row of the arguments is meant.
    pub fn values(&self, rows: &UInt32Array, arguments: &[ArrayRef], batch: &[ArrayRef]) -> Result<ArrayRef> {
        let column = &arguments[self.argument];
        let values = match column.is_empty() {
            true => new_null_array(column.data_type(), rows.len()),
            false => take(column.as_ref(), rows, None)?,
        };
        match self.default {
            Some(default) if values.null_count() > 0 => {
                // NULL is replaced too: the type of the call says so (Flink does the same).
                Ok(zip(&is_not_null(&values)?, &values, &batch[default])?)
            }
            _ => Ok(values),
        }
    }
}
