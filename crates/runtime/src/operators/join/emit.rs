//! Results as references to rows, and the columns made from them.

use super::side::{Side, Source};
use super::step::Pairs;
use super::{Condition, JoinOperator};
use crate::operators::output::record_batch;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array};
use arrow::compute::take;
use base::plan::JoinKind;
use base::{ChangelogBatch, Error, Result, RowKind};

/// In [`Results`]: no row, all columns are NULL.
const NO_ROW: u32 = u32::MAX;

/// Rows of output: a row of the input, a kept row of the other side (the one of a pair), or both.
#[derive(Debug, Default)]
pub(super) struct Results {
    kinds: Vec<RowKind>,
    inputs: Vec<u32>,
    pairs: Vec<u32>,
}

impl Results {
    pub fn joined(&mut self, kind: RowKind, input: usize, pair: usize) {
        self.push(kind, input as u32, pair as u32);
    }

    pub fn input_alone(&mut self, kind: RowKind, input: usize) {
        self.push(kind, input as u32, NO_ROW);
    }

    pub fn other_alone(&mut self, kind: RowKind, pair: usize) {
        self.push(kind, NO_ROW, pair as u32);
    }

    fn push(&mut self, kind: RowKind, input: u32, pair: u32) {
        self.kinds.push(kind);
        self.inputs.push(input);
        self.pairs.push(pair);
    }
}

/// The rows at these indexes; NULLs for [`NO_ROW`].
fn pick(column: &ArrayRef, indexes: &[u32]) -> Result<ArrayRef> {
    if indexes.len() == column.len() && indexes.iter().enumerate().all(|(row, index)| *index as usize == row) {
        return Ok(column.clone());
    }
    let indexes: UInt32Array = match indexes.contains(&NO_ROW) {
        true => indexes.iter().map(|&index| (index != NO_ROW).then_some(index)).collect(),
        false => indexes.to_vec().into(),
    };
    Ok(take(column.as_ref(), &indexes, None)?)
}

/// The columns of kept rows: `rows` of the input have the same keys.
fn kept_columns(
    own: &Side,
    other: &Side,
    batch: &ChangelogBatch,
    rows: &[u32],
    entries: &[u32],
) -> Result<Vec<ArrayRef>> {
    let stored = other.chains.columns(entries)?;
    let column = |source: &Source| match *source {
        Source::Stored(index) => Ok(stored[index].clone()),
        Source::Key(key) => pick(batch.records().column(own.keys[key]), rows),
    };
    other.sources.iter().map(column).collect()
}

fn input_first(input: usize, own: Vec<ArrayRef>, other: Vec<ArrayRef>) -> Vec<ArrayRef> {
    let (first, second) = if input == 0 { (own, other) } else { (other, own) };
    first.into_iter().chain(second).collect()
}

/// The kept rows of pairs, and which pairs satisfy the condition.
#[derive(Debug, Default)]
pub(super) struct Evaluated {
    kept: Option<Vec<ArrayRef>>,
    hits: Option<BooleanArray>,
}

impl Evaluated {
    #[inline]
    pub fn is_hit(&self, pair: usize) -> bool {
        self.hits.as_ref().is_none_or(|hits| hits.value(pair) && hits.is_valid(pair))
    }
}

impl JoinOperator {
    /// Evaluates the condition over pairs.
    pub(super) fn evaluate(&self, input: usize, batch: &ChangelogBatch, pairs: &Pairs) -> Result<Evaluated> {
        let (Some(Condition { expression, schema }), false) = (&self.condition, pairs.entries.is_empty()) else {
            return Ok(Evaluated::default());
        };
        let (own, other) = (&self.sides[input], &self.sides[1 - input]);
        let kept = kept_columns(own, other, batch, &pairs.rows, &pairs.entries)?;
        let inputs = batch.records().columns().iter().map(|column| pick(column, &pairs.rows)).collect::<Result<_>>()?;
        let columns = input_first(input, inputs, kept.clone());
        let values = expression.evaluate(&record_batch(schema, columns, pairs.entries.len())?)?;
        let hits = values.as_boolean_opt().ok_or_else(|| Error::internal("a join condition that is no BOOLEAN"))?;
        Ok(Evaluated { kept: Some(kept), hits: Some(hits.clone()) })
    }

    /// Makes a batch of results.
    pub(super) fn emit(
        &mut self,
        input: usize,
        batch: &ChangelogBatch,
        pairs: &Pairs,
        evaluated: Evaluated,
        mut results: Results,
    ) -> Result<()> {
        if results.kinds.is_empty() {
            return Ok(());
        }
        let only_left = matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
        let (own, other) = (&self.sides[input], &self.sides[1 - input]);
        let is_wanted = |side: usize| !only_left || side == 0;
        let mut kept = Vec::new();
        if is_wanted(1 - input) {
            let columns = match evaluated.kept {
                Some(columns) => columns,
                None => {
                    let (rows, entries) = used(&mut results.pairs, pairs);
                    kept_columns(own, other, batch, &rows, &entries)?
                }
            };
            kept = columns.iter().map(|column| pick(column, &results.pairs)).collect::<Result<_>>()?;
        }
        let mut inputs = Vec::new();
        if is_wanted(input) {
            let columns = batch.records().columns().iter();
            inputs = columns.map(|column| pick(column, &results.inputs)).collect::<Result<_>>()?;
        }
        let columns = input_first(input, inputs, kept);
        let records = record_batch(&self.output_schema, columns, results.kinds.len())?;
        self.output.push(ChangelogBatch::new(records, results.kinds));
        Ok(())
    }
}

/// The pairs that results show, as rows and entries; the references become places in them.
fn used(shown: &mut [u32], pairs: &Pairs) -> (Vec<u32>, Vec<u32>) {
    let (mut rows, mut entries) = (Vec::new(), Vec::new());
    let mut last = NO_ROW;
    for pair in shown.iter_mut().filter(|pair| **pair != NO_ROW) {
        if *pair != last {
            last = *pair;
            rows.push(pairs.rows[last as usize]);
            entries.push(pairs.entries[last as usize]);
        }
        *pair = rows.len() as u32 - 1;
    }
    (rows, entries)
}
