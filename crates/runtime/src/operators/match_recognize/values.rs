//! Values taken from the rows of matches, for many matches at once.

use super::super::output::record_batch;
use super::automaton::Variable;
use super::paths::{NO_PATH, Paths};
use arrow::array::{Array, ArrayRef, TimestampMillisecondArray, new_null_array};
use arrow::compute::interleave;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use base::function::{Accumulator, AggregateOptions};
use base::plan::{PatternReference, PatternValue};
use base::{Error, Expression, Result};
use std::sync::Arc;

/// A match whose values are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Its rows.
    pub path: u32,
    /// The row that it would take, for which variable.
    pub next: Option<(u32, Variable)>,
    /// The time at which it is given.
    pub time_ms: i64,
}

/// Where rows are.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// Rows that were taken before.
    pub paths: &'a Paths,
    /// The columns of the rows that are being looked at.
    pub current: &'a [ArrayRef],
    /// Their schema.
    pub schema: &'a SchemaRef,
}

/// A row of a match.
#[derive(Debug, Clone, Copy)]
enum Place {
    Current(u32),
    Kept(u32),
}

/// Sources of [`interleave`], in this order.
const CURRENT: usize = 0;
const KEPT: usize = 1;
const MISSING: usize = 2;

/// What is read of an aggregate.
#[derive(Debug)]
struct Aggregate {
    accumulator: Box<dyn Accumulator>,
    arguments: Vec<Arc<dyn Expression>>,
}

/// Reads some references.
#[derive(Debug)]
pub(super) struct Values {
    references: Vec<PatternReference>,
    /// By reference.
    aggregates: Vec<Option<Aggregate>>,
    schema: SchemaRef,
    /// Whether it is enough to go back to where the LAST values are.
    only_last: bool,
}

impl Values {
    /// A reader of these references.
    pub fn new(references: &[PatternReference]) -> Result<Values> {
        let aggregate = |reference: &PatternReference| match &reference.value {
            PatternValue::Aggregate { function, arguments } => {
                let types: Vec<_> = arguments.iter().map(|argument| argument.sql_type().clone()).collect();
                let accumulator = function.accumulator(&types, &AggregateOptions::default())?;
                Ok(Some(Aggregate { accumulator, arguments: arguments.clone() }))
            }
            _ => Ok(None),
        };
        let field = |(index, reference): (usize, &PatternReference)| {
            Field::new(format!("r{index}"), reference.result.arrow(), reference.result.nullable)
        };
        let fields: Vec<Field> = references.iter().enumerate().map(field).collect();
        Ok(Values {
            aggregates: references.iter().map(aggregate).collect::<Result<_>>()?,
            schema: Arc::new(Schema::new(fields)),
            only_last: references.iter().all(|reference| matches!(reference.value, PatternValue::Last { .. })),
            references: references.to_vec(),
        })
    }

    /// The columns of the row itself that are read, if nothing else is: `variable` is what the row would be.
    pub fn own_columns(&self, variable: Variable) -> Option<Vec<usize>> {
        let own = |reference: &PatternReference| match reference.value {
            PatternValue::Last { column, offset: 0 }
                if reference.variable.is_none_or(|read| read == variable as usize) =>
            {
                Some(column)
            }
            _ => None,
        };
        self.references.iter().map(own).collect()
    }

    /// A batch of values.
    pub fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<arrow::array::RecordBatch> {
        record_batch(&self.schema, columns, rows)
    }

    /// One column per reference, one row per candidate.
    pub fn columns(&mut self, candidates: &[Candidate], rows: Rows<'_>) -> Result<Vec<ArrayRef>> {
        let mut found: Vec<Vec<(usize, usize)>> = vec![Vec::with_capacity(candidates.len()); self.references.len()];
        let mut slots: Vec<Vec<u32>> = vec![Vec::new(); self.references.len()];
        let mut kept = KeptIndex::default();
        // From the last row to the first.
        let mut way: Vec<(Variable, Place)> = Vec::new();
        for (number, candidate) in candidates.iter().enumerate() {
            self.way(candidate, rows.paths, &mut way);
            for (index, reference) in self.references.iter().enumerate() {
                let is_read = |(variable, _): &&(Variable, Place)| {
                    reference.variable.is_none_or(|read| read == *variable as usize)
                };
                let mut place = |place: Option<&(Variable, Place)>| match place {
                    None => (MISSING, 0),
                    Some((_, Place::Current(row))) => (CURRENT, *row as usize),
                    Some((_, Place::Kept(row))) => (KEPT, kept.index(*row)),
                };
                match reference.value {
                    PatternValue::Last { offset, .. } => {
                        let row = way.iter().filter(is_read).nth(offset as usize);
                        found[index].push(place(row));
                    }
                    PatternValue::First { offset, .. } => {
                        let row = way.iter().rev().filter(is_read).nth(offset as usize);
                        found[index].push(place(row));
                    }
                    PatternValue::Rowtime => {}
                    PatternValue::Aggregate { .. } => {
                        for row in way.iter().rev().filter(is_read) {
                            found[index].push(place(Some(row)));
                            slots[index].push(number as u32);
                        }
                    }
                }
            }
        }
        let kept_columns = match kept.rows.is_empty() {
            true => None,
            false => Some(rows.paths.columns(&kept.rows)?),
        };
        let sources = Sources { rows, kept: kept_columns.as_deref() };
        let mut columns = Vec::with_capacity(self.references.len());
        for (index, reference) in self.references.iter().enumerate() {
            columns.push(match (&reference.value, &mut self.aggregates[index]) {
                (PatternValue::First { column, .. } | PatternValue::Last { column, .. }, _) => {
                    in_type(sources.column(*column, &found[index])?, &reference.result.arrow())?
                }
                (PatternValue::Rowtime, _) => {
                    let times = candidates.iter().map(|candidate| candidate.time_ms);
                    in_type(Arc::new(TimestampMillisecondArray::from_iter_values(times)), &reference.result.arrow())?
                }
                (PatternValue::Aggregate { .. }, Some(aggregate)) => {
                    aggregate.values(candidates.len(), &slots[index], &found[index], &sources)?
                }
                (PatternValue::Aggregate { .. }, None) => return Err(Error::internal("no accumulator")),
            });
        }
        Ok(columns)
    }

    /// The rows of a candidate, as far back as they are read.
    fn way(&self, candidate: &Candidate, paths: &Paths, way: &mut Vec<(Variable, Place)>) {
        way.clear();
        way.extend(candidate.next.map(|(row, variable)| (variable, Place::Current(row))));
        if !self.only_last {
            way.extend(paths.backwards(candidate.path).map(|(_, variable, row)| (variable, Place::Kept(row))));
            return;
        }
        // How many rows each reference still has to go back.
        let mut open: Vec<(Option<usize>, i64)> = Vec::with_capacity(self.references.len());
        for reference in &self.references {
            let PatternValue::Last { offset, .. } = reference.value else { continue };
            let own = candidate.next.is_some_and(|(_, variable)| reads(reference.variable, variable));
            open.push((reference.variable, i64::from(offset) + 1 - i64::from(own)));
        }
        if candidate.path == NO_PATH {
            return;
        }
        let mut rows = paths.backwards(candidate.path);
        while open.iter().any(|(_, rows)| *rows > 0) {
            let Some((_, variable, row)) = rows.next() else { return };
            way.push((variable, Place::Kept(row)));
            open.iter_mut().filter(|(read, _)| reads(*read, variable)).for_each(|(_, rows)| *rows -= 1);
        }
    }
}

/// A time in the type that MATCH_ROWTIME gives; everything else is in its type.
fn in_type(values: ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    match values.data_type() {
        DataType::Timestamp(..) if values.data_type() != data_type => Ok(arrow::compute::cast(&values, data_type)?),
        _ => Ok(values),
    }
}

fn reads(reference: Option<usize>, variable: Variable) -> bool {
    reference.is_none_or(|read| read == variable as usize)
}

/// The kept rows that are wanted, each once.
#[derive(Default)]
struct KeptIndex {
    rows: Vec<u32>,
    index: std::collections::HashMap<u32, usize>,
}

impl KeptIndex {
    fn index(&mut self, row: u32) -> usize {
        *self.index.entry(row).or_insert_with(|| {
            self.rows.push(row);
            self.rows.len() - 1
        })
    }
}

struct Sources<'a> {
    rows: Rows<'a>,
    kept: Option<&'a [ArrayRef]>,
}

impl Sources<'_> {
    fn column(&self, column: usize, found: &[(usize, usize)]) -> Result<ArrayRef> {
        let data_type = self.rows.schema.field(column).data_type();
        let missing = new_null_array(data_type, 1);
        let current = self.rows.current.get(column).unwrap_or(&missing);
        let kept = self.kept.and_then(|kept| kept.get(column)).unwrap_or(&missing);
        if found.is_empty() {
            return Ok(missing.slice(0, 0));
        }
        Ok(interleave(&[current.as_ref(), kept.as_ref(), missing.as_ref()], found)?)
    }
}

impl Aggregate {
    fn values(
        &mut self,
        candidates: usize,
        slots: &[u32],
        found: &[(usize, usize)],
        sources: &Sources<'_>,
    ) -> Result<ArrayRef> {
        let width = sources.rows.schema.fields().len();
        let plain: Option<Vec<usize>> = self.arguments.iter().map(|argument| argument.as_column()).collect();
        let arguments: Vec<ArrayRef> = match plain {
            Some(columns) => columns.iter().map(|&column| sources.column(column, found)).collect::<Result<_>>()?,
            None => {
                let columns = (0..width).map(|column| sources.column(column, found)).collect::<Result<_>>()?;
                let batch = record_batch(sources.rows.schema, columns, found.len())?;
                self.arguments.iter().map(|argument| argument.evaluate(&batch)).collect::<Result<_>>()?
            }
        };
        let all: Vec<u32> = (0..candidates as u32).collect();
        self.accumulator.resize(candidates);
        self.accumulator.reset(&all);
        if !slots.is_empty() {
            self.accumulator.update(slots, None, &arguments, None)?;
        }
        self.accumulator.values(&all)
    }
}
