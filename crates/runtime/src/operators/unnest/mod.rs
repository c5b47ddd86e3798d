//! UNNEST: collections taken apart.

use super::output::{OutputQueue, record_batch};
use crate::operator::{Operator, OperatorContext};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, ListArray, MapArray, RecordBatch, StructArray, UInt32Array,
};
use arrow::compute::take;
use arrow::datatypes::{Int32Type, SchemaRef};
use base::plan::{Output, Unnest, UnnestKind};
use base::{ChangelogBatch, Error, Expression, Result, RowKind};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Gives every row once per element of one of its columns.
///
/// * input: any kinds
/// * output: the same kinds; all elements of a row in their order, then the next row. NULL and empty collections give
///   nothing, or with LEFT JOIN the row once with NULLs. A ROW element that is NULL is left out, as in Flink
/// * state: none
/// * late rows: pass
#[derive(Debug)]
pub struct UnnestOperator {
    column: usize,
    kind: UnnestKind,
    with_ordinality: bool,
    outer: bool,
    condition: Option<Arc<dyn Expression>>,
    schema: SchemaRef,
    pending: VecDeque<ChangelogBatch>,
    output: OutputQueue,
}

/// Rows of the input and what stands beside each; a row without an element has NULLs there.
#[derive(Debug, Default)]
struct Pairs {
    rows: Vec<u32>,
    elements: Vec<Option<u32>>,
    ordinals: Vec<Option<i32>>,
}

impl Pairs {
    fn push(&mut self, row: usize, element: Option<usize>, ordinal: Option<i32>) {
        self.rows.push(row as u32);
        self.elements.push(element.map(|element| element as u32));
        self.ordinals.push(ordinal);
    }
}

/// A column of collections.
enum Collections<'a> {
    List(&'a ListArray),
    Map(&'a MapArray),
}

impl Collections<'_> {
    fn range(&self, row: usize) -> Range<usize> {
        let (is_null, offsets) = match self {
            Collections::List(list) => (list.is_null(row), list.value_offsets()),
            Collections::Map(map) => (map.is_null(row), map.value_offsets()),
        };
        if is_null { 0..0 } else { offsets[row] as usize..offsets[row + 1] as usize }
    }
}

impl UnnestOperator {
    /// The operator.
    pub fn new(node: &Unnest, output: &Output) -> UnnestOperator {
        UnnestOperator {
            column: node.column,
            kind: node.kind,
            with_ordinality: node.with_ordinality,
            outer: node.outer,
            condition: node.condition.clone(),
            schema: output.row.arrow().clone(),
            pending: VecDeque::new(),
            output: OutputQueue::default(),
        }
    }

    fn collections<'a>(&self, records: &'a RecordBatch) -> Result<Collections<'a>> {
        let column = records.column(self.column);
        let found = match self.kind {
            UnnestKind::Array => column.as_list_opt::<i32>().map(Collections::List),
            UnnestKind::Map | UnnestKind::Multiset => column.as_map_opt().map(Collections::Map),
        };
        found.ok_or_else(|| Error::internal(format!("UNNEST of a column of type {}", column.data_type())))
    }

    /// Takes the first rows of a batch apart, so many that about `rows_max` come out; the others wait.
    fn take_apart(&mut self, batch: ChangelogBatch, rows_max: usize) -> Result<()> {
        let collections = self.collections(batch.records())?;
        let mut rows = 0;
        let mut elements = 0;
        while rows < batch.num_rows() && elements < rows_max {
            elements += collections.range(rows).len().max(1);
            rows += 1;
        }
        let first = batch.slice(0, rows);
        if rows < batch.num_rows() {
            self.pending.push_front(batch.slice(rows, batch.num_rows() - rows));
        }
        let output = self.pairs_of(&first)?;
        self.output.push(output);
        Ok(())
    }

    fn pairs_of(&self, batch: &ChangelogBatch) -> Result<ChangelogBatch> {
        let records = batch.records();
        let collections = self.collections(records)?;
        let (columns, rows, copies) = match &collections {
            Collections::List(list) => match list.values().as_struct_opt() {
                Some(rows) => (rows.columns().to_vec(), Some(rows), None),
                None => (vec![list.values().clone()], None, None),
            },
            Collections::Map(map) if self.kind == UnnestKind::Multiset => {
                let copies = map.values().as_primitive::<Int32Type>();
                match map.keys().as_struct_opt() {
                    Some(rows) => (rows.columns().to_vec(), Some(rows), Some(copies)),
                    None => (vec![map.keys().clone()], None, Some(copies)),
                }
            }
            Collections::Map(map) => (vec![map.keys().clone(), map.values().clone()], None, None),
        };
        let mut pairs = Pairs::default();
        for row in 0..batch.num_rows() {
            push_elements(&mut pairs, row, collections.range(row), rows, copies);
        }
        let kept = match &self.condition {
            None => None,
            Some(condition) => {
                let candidates = self.build(records, &columns, &pairs)?;
                Some(condition.evaluate(&candidates)?.as_boolean().clone())
            }
        };
        if self.outer || kept.is_some() {
            pairs = self.finish(pairs, kept.as_ref(), batch.num_rows());
        }
        let result = self.build(records, &columns, &pairs)?;
        Ok(match batch.kinds() {
            None => ChangelogBatch::inserts(result),
            Some(kinds) => {
                let kinds: Vec<RowKind> = pairs.rows.iter().map(|&row| kinds[row as usize]).collect();
                ChangelogBatch::new(result, kinds)
            }
        })
    }

    /// The pairs that are true, and the rows that have none.
    fn finish(&self, pairs: Pairs, kept: Option<&BooleanArray>, rows: usize) -> Pairs {
        let mut finished = Pairs::default();
        let mut next = 0;
        for row in 0..rows {
            let before = finished.rows.len();
            while next < pairs.rows.len() && pairs.rows[next] as usize == row {
                if kept.is_none_or(|kept| kept.is_valid(next) && kept.value(next)) {
                    finished.push(row, pairs.elements[next].map(|element| element as usize), pairs.ordinals[next]);
                }
                next += 1;
            }
            if self.outer && finished.rows.len() == before {
                finished.push(row, None, None);
            }
        }
        finished
    }

    fn build(&self, records: &RecordBatch, elements: &[ArrayRef], pairs: &Pairs) -> Result<RecordBatch> {
        let rows = UInt32Array::from(pairs.rows.clone());
        let places = UInt32Array::from(pairs.elements.clone());
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for column in records.columns() {
            columns.push(take(column.as_ref(), &rows, None)?);
        }
        for column in elements {
            columns.push(take(column.as_ref(), &places, None)?);
        }
        if self.with_ordinality {
            columns.push(Arc::new(Int32Array::from(pairs.ordinals.clone())));
        }
        record_batch(&self.schema, columns, pairs.rows.len())
    }
}

/// The elements of one row; `rows` are the elements as ROWs, `copies` says how often each is there.
fn push_elements(
    pairs: &mut Pairs,
    row: usize,
    range: Range<usize>,
    rows: Option<&StructArray>,
    copies: Option<&Int32Array>,
) {
    let mut ordinal = 0;
    for element in range {
        for _ in 0..copies.map_or(1, |copies| copies.value(element)) {
            ordinal += 1;
            if rows.is_none_or(|rows| rows.is_valid(element)) {
                pairs.push(row, Some(element), Some(ordinal));
            }
        }
    }
}

impl Operator for UnnestOperator {
    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, _context: &OperatorContext) -> Result<()> {
        if !batch.is_empty() {
            self.pending.push_back(batch);
        }
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        loop {
            if let Some(batch) = self.output.next(context.rows_max) {
                return Ok(Some(batch));
            }
            match self.pending.pop_front() {
                Some(batch) => self.take_apart(batch, context.rows_max.max(1))?,
                None => return Ok(None),
            }
        }
    }
}
