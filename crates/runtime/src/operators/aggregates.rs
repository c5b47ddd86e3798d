//! The aggregate calls of an operator: one accumulator each, all indexed by the slots of the operator's key table.

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::FieldRef;
use base::function::{Accumulator, Merging};
use base::plan::AggregateCall;
use base::types::{COLUMN_CALL_KEY, COLUMN_ID_KEY, RowType};
use base::{LogicalType, Result, RowKind, SqlType};
use std::sync::Arc;

#[derive(Debug)]
struct Call {
    accumulator: Box<dyn Accumulator>,
    arguments: Vec<usize>,
    filter: Option<usize>,
    /// The fields of its state, named for snapshots.
    fields: Vec<FieldRef>,
}

/// The accumulators of all calls.
#[derive(Debug)]
pub(super) struct Aggregates {
    calls: Vec<Call>,
}

/// Rows of a batch and the slots that they belong to.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotRows<'a> {
    /// The slot of every row.
    pub slots: &'a [u32],
    /// The kind of every row; `None` if all are additions.
    pub kinds: Option<&'a [RowKind]>,
    /// The rows of the batch that are meant; `None` if all are, in their order.
    pub rows: Option<&'a UInt32Array>,
}

impl Aggregates {
    /// Accumulators for these calls over rows of `input`.
    pub fn new(calls: &[AggregateCall], input: &RowType) -> Result<Aggregates> {
        let calls =
            calls.iter().enumerate().map(|(index, call)| Call::new(index, call, input)).collect::<Result<_>>()?;
        Ok(Aggregates { calls })
    }

    /// Accumulators for those of the calls that have these numbers.
    pub fn some(calls: &[AggregateCall], numbers: &[usize], input: &RowType) -> Result<Aggregates> {
        let calls = numbers.iter().map(|&index| Call::new(index, &calls[index], input)).collect::<Result<_>>()?;
        Ok(Aggregates { calls })
    }

    /// How the states of each call can be merged.
    pub fn mergings(&self) -> impl Iterator<Item = Merging> {
        self.calls.iter().map(|call| call.accumulator.merging())
    }

    /// Makes slots `0..slots` usable.
    pub fn resize(&mut self, slots: usize) {
        self.calls.iter_mut().for_each(|call| call.accumulator.resize(slots));
    }

    /// Applies rows of `batch`.
    pub fn update(&mut self, batch: &RecordBatch, to: SlotRows<'_>) -> Result<()> {
        if to.slots.is_empty() {
            return Ok(());
        }
        let column = |index: usize| -> Result<ArrayRef> {
            let column = batch.column(index);
            Ok(match to.rows {
                None => column.clone(),
                Some(rows) => take(column.as_ref(), rows, None)?,
            })
        };
        for call in &mut self.calls {
            let arguments = call.arguments.iter().map(|&index| column(index)).collect::<Result<Vec<_>>>()?;
            let selected: Option<BooleanArray> =
                call.filter.map(|index| Ok::<_, base::Error>(column(index)?.as_boolean().clone())).transpose()?;
            call.accumulator.update(to.slots, to.kinds, &arguments, selected.as_ref())?;
        }
        Ok(())
    }

    /// The results of these slots, one column per call.
    pub fn values(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        self.calls.iter().map(|call| call.accumulator.values(slots)).collect()
    }

    /// Puts slots back to the initial state.
    pub fn reset(&mut self, slots: &[u32]) {
        if !slots.is_empty() {
            self.calls.iter_mut().for_each(|call| call.accumulator.reset(slots));
        }
    }

    /// The columns of [`Aggregates::state`].
    pub fn state_fields(&self) -> Vec<FieldRef> {
        self.calls.iter().flat_map(|call| call.fields.iter().cloned()).collect()
    }

    /// The state of these slots.
    pub fn state(&self, slots: &[u32]) -> Result<Vec<(FieldRef, ArrayRef)>> {
        Ok(self.state_fields().into_iter().zip(self.states(slots)?).collect())
    }

    /// The same without names.
    pub fn states(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let mut columns = Vec::new();
        for call in &self.calls {
            columns.extend(call.accumulator.state(slots)?);
        }
        Ok(columns)
    }

    /// Replaces the state of these slots by columns of [`Aggregates::state`].
    pub fn restore(&mut self, slots: &[u32], columns: &[ArrayRef]) -> Result<()> {
        let mut rest = columns;
        for call in &mut self.calls {
            let (mine, others) = rest.split_at(call.fields.len());
            call.accumulator.restore(slots, mine)?;
            rest = others;
        }
        Ok(())
    }

    /// Adds rows of [`Aggregates::state`] to these slots.
    pub fn merge(&mut self, slots: &[u32], columns: &[ArrayRef]) -> Result<()> {
        let mut rest = columns;
        for call in &mut self.calls {
            let (mine, others) = rest.split_at(call.fields.len());
            call.accumulator.merge(slots, mine)?;
            rest = others;
        }
        Ok(())
    }

    /// Merges the state of slot `from[i]` into slot `into[i]`.
    pub fn merge_slots(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        if into.is_empty() {
            return Ok(());
        }
        self.calls.iter_mut().try_for_each(|call| call.accumulator.merge_slots(into, from))
    }

    /// Takes the state of slot `from[i]` away from slot `into[i]` again.
    pub fn unmerge_slots(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        if into.is_empty() {
            return Ok(());
        }
        self.calls.iter_mut().try_for_each(|call| call.accumulator.unmerge_slots(into, from))
    }

    /// Whether there is no call.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        self.calls.iter().map(|call| call.accumulator.heap_bytes()).sum()
    }
}

impl Call {
    fn new(index: usize, call: &AggregateCall, input: &RowType) -> Result<Call> {
        let types: Vec<_> = call.arguments.iter().map(|&column| input.fields()[column].sql_type.clone()).collect();
        let accumulator = call.function.accumulator(&types, &call.options)?;
        let meaning = meaning(call, input);
        let field = |field: &FieldRef| {
            let name = format!("{index}.{}.{}", call.function.name(), field.name());
            let mut metadata = field.metadata().clone();
            let function = state_of(call.function.name(), types.first(), field.name());
            metadata.insert(COLUMN_ID_KEY.into(), format!("{function}{meaning} {}", field.name()));
            metadata.insert(COLUMN_CALL_KEY.into(), call.sql.clone());
            Arc::new(field.as_ref().clone().with_name(name).with_metadata(metadata))
        };
        let fields = accumulator.state_fields().iter().map(field).collect();
        Ok(Call { accumulator, arguments: call.arguments.clone(), filter: call.filter, fields })
    }
}

/// The function whose state a column is. SUM and AVG keep the same, but of FLOAT: the sum and how many values it is of.
fn state_of<'a>(function: &'a str, argument: Option<&SqlType>, column: &str) -> &'a str {
    let is_float = argument.is_some_and(|argument| argument.logical == LogicalType::Float);
    match (function, column) {
        ("SUM" | "AVG", "count") if !is_float => "COUNT",
        ("SUM" | "AVG", "sum") if !is_float => "SUM",
        _ => function,
    }
}

/// What a call is given, as a text that stays equal as long as the meaning does: by it its state is found again.
fn meaning(call: &AggregateCall, input: &RowType) -> String {
    let column = |column: usize| {
        let (field, arrow) = (&input.fields()[column], &input.arrow().fields()[column]);
        let id = arrow.metadata().get(COLUMN_ID_KEY).map_or(field.name.as_str(), String::as_str);
        format!("{id}:{}", field.sql_type.logical)
    };
    let arguments: Vec<String> = call.arguments.iter().map(|&argument| column(argument)).collect();
    let mut text = format!("({})", arguments.join(", "));
    if let Some(filter) = call.filter {
        text.push_str(&format!(" where {}", column(filter)));
    }
    for (is_set, word) in [(call.options.distinct, " distinct"), (call.options.retract, " retract")] {
        if is_set {
            text.push_str(word);
        }
    }
    text
}
