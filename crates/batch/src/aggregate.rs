//! Flink's aggregate functions inside DataFusion's aggregation and OVER windows.
//!
//! Grouping, FILTER and frames are DataFusion's. DISTINCT is done here, before the function: a value is given to it
//! once per group, so that the function's own way of telling values apart is not used.

use crate::expression::{external, plain_field};
use crate::table::encode;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, FieldRef};
use arrow::row::OwnedRow;
use base::RowKind;
use base::SqlType;
use base::function::{Accumulator as FlinkAccumulator, AggregateFunction, AggregateOptions, is_selected};
use datafusion_common::{Result, ScalarValue, exec_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility};
use std::any::Any;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// One call of an aggregate function.
#[derive(Debug, Clone)]
pub struct FlinkAggregate {
    function: Arc<dyn AggregateFunction>,
    arguments: Vec<SqlType>,
    result: SqlType,
    distinct: bool,
    signature: Signature,
}

impl FlinkAggregate {
    /// A call with arguments of these types.
    ///
    /// # Errors
    /// Arguments that the function does not take; the binder has looked before.
    pub fn new(
        function: Arc<dyn AggregateFunction>,
        arguments: Vec<SqlType>,
        distinct: bool,
    ) -> base::Result<FlinkAggregate> {
        let result = function.return_type(&arguments)?;
        let signature = Signature::user_defined(Volatility::Immutable);
        Ok(FlinkAggregate { function, arguments, result, distinct, signature })
    }

    /// The type of its values.
    pub fn result(&self) -> &SqlType {
        &self.result
    }

    /// The call for DataFusion.
    pub fn udaf(self) -> Arc<AggregateUDF> {
        Arc::new(AggregateUDF::new_from_impl(self))
    }

    fn values(&self, retract: bool) -> Result<Values> {
        let options = AggregateOptions { distinct: false, retract };
        Ok(Values {
            call: self.clone(),
            options: options.clone(),
            inner: self.function.accumulator(&self.arguments, &options).map_err(external)?,
            slots: 0,
            seen: self.distinct.then(HashMap::new),
        })
    }
}

impl PartialEq for FlinkAggregate {
    fn eq(&self, other: &Self) -> bool {
        self.function.name() == other.function.name()
            && self.arguments == other.arguments
            && self.distinct == other.distinct
    }
}

impl Eq for FlinkAggregate {}

impl Hash for FlinkAggregate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name().hash(state);
    }
}

impl AggregateUDFImpl for FlinkAggregate {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        self.function.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(self.result.arrow())
    }

    fn return_field(&self, _fields: &[FieldRef]) -> Result<FieldRef> {
        Ok(plain_field(self.function.name(), self.result.arrow()))
    }

    fn accumulator(&self, _arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One::new(self.values(false)?)))
    }

    fn create_sliding_accumulator(&self, _arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One::new(self.values(true)?)))
    }

    fn groups_accumulator_supported(&self, _arguments: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(&self, _arguments: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.values(false)?))
    }

    /// Asked for the plan only: in one phase no state leaves the accumulator.
    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let fields = self.values(false)?.inner.state_fields();
        let name = |index: usize| format!("{}[{index}]", arguments.name);
        let plain = |(index, field): (usize, &FieldRef)| plain_field(&name(index), field.data_type().clone());
        Ok(fields.iter().enumerate().map(plain).collect())
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        match self.result.nullable {
            true => ScalarValue::try_from(data_type),
            false => One::new(self.values(false)?).evaluate(),
        }
    }
}

/// The values of a call, by group.
struct Values {
    call: FlinkAggregate,
    options: AggregateOptions,
    inner: Box<dyn FlinkAccumulator>,
    slots: usize,
    /// The values of each group, and how often they came.
    seen: Option<HashMap<(u32, OwnedRow), u64>>,
}

impl Values {
    fn grow(&mut self, slots: usize) {
        if slots > self.slots {
            self.inner.resize(slots);
            self.slots = slots;
        }
    }

    fn apply(
        &mut self,
        slots: &[u32],
        kind: RowKind,
        values: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        // A call without arguments has one for DataFusion's sake.
        let arguments = &values[..self.call.arguments.len()];
        let kinds = (kind != RowKind::Insert).then(|| vec![kind; slots.len()]);
        let Some(seen) = &mut self.seen else {
            return self.inner.update(slots, kinds.as_deref(), arguments, selected).map_err(external);
        };
        let rows = encode(arguments).map_err(external)?;
        let mut first = Vec::new();
        for (row, &slot) in slots.iter().enumerate() {
            if !is_selected(selected, row) {
                continue;
            }
            let key = (slot, rows.row(row).owned());
            if kind.is_addition() {
                let count = seen.entry(key).or_insert(0);
                *count += 1;
                if *count == 1 {
                    first.push(row as u32);
                }
            } else if let Some(count) = seen.get_mut(&key) {
                *count -= 1;
                if *count == 0 {
                    seen.remove(&key);
                    first.push(row as u32);
                }
            }
        }
        let slots: Vec<u32> = first.iter().map(|&row| slots[row as usize]).collect();
        let places = UInt32Array::from(first);
        let arguments =
            arguments.iter().map(|values| Ok(take(values, &places, None)?)).collect::<Result<Vec<ArrayRef>>>()?;
        let kinds = kinds.map(|_| vec![kind; slots.len()]);
        self.inner.update(&slots, kinds.as_deref(), &arguments, None).map_err(external)
    }

    /// The first groups leave; the others move up.
    fn drop_first(&mut self, count: usize) -> Result<()> {
        let rest: Vec<u32> = (count as u32..self.slots as u32).collect();
        let state = self.inner.state(&rest).map_err(external)?;
        let mut inner = self.call.function.accumulator(&self.call.arguments, &self.options).map_err(external)?;
        inner.resize(rest.len());
        let slots: Vec<u32> = (0..rest.len() as u32).collect();
        inner.restore(&slots, &state).map_err(external)?;
        (self.inner, self.slots) = (inner, rest.len());
        if let Some(seen) = self.seen.take() {
            let moved =
                |((slot, row), times): ((u32, OwnedRow), u64)| Some(((slot.checked_sub(count as u32)?, row), times));
            self.seen = Some(seen.into_iter().filter_map(moved).collect());
        }
        Ok(())
    }

    fn emitted(&self, emit_to: EmitTo) -> Vec<u32> {
        let count = match emit_to {
            EmitTo::All => self.slots,
            EmitTo::First(count) => count,
        };
        (0..count as u32).collect()
    }
}

impl GroupsAccumulator for Values {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow(total_num_groups);
        let slots: Vec<u32> = group_indices.iter().map(|&group| group as u32).collect();
        self.apply(&slots, RowKind::Insert, values, opt_filter)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let slots = self.emitted(emit_to);
        let values = self.inner.values(&slots).map_err(external)?;
        self.drop_first(slots.len())?;
        Ok(values)
    }

    fn state(&mut self, _emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        exec_err!("{} is computed in one phase", self.call.function.name())
    }

    fn merge_batch(
        &mut self,
        _values: &[ArrayRef],
        _group_indices: &[usize],
        _opt_filter: Option<&BooleanArray>,
        _total_num_groups: usize,
    ) -> Result<()> {
        exec_err!("{} is computed in one phase", self.call.function.name())
    }

    fn size(&self) -> usize {
        self.inner.heap_bytes()
    }
}

/// The value of a call over all rows, or over a frame.
struct One {
    name: String,
    retract: bool,
    /// DataFusion wants to share it between threads, which it never does.
    values: Mutex<Values>,
}

impl std::fmt::Debug for One {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl One {
    fn new(values: Values) -> One {
        let (name, retract) = (values.call.function.name().to_string(), values.options.retract);
        One { name, retract, values: Mutex::new(values) }
    }

    fn values(&mut self) -> &mut Values {
        let values = self.values.get_mut().unwrap_or_else(PoisonError::into_inner);
        values.grow(1);
        values
    }

    fn apply(&mut self, kind: RowKind, values: &[ArrayRef]) -> Result<()> {
        let rows = values.first().map_or(0, |values| values.len());
        self.values().apply(&vec![0; rows], kind, values, None)
    }
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.apply(RowKind::Insert, values)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.apply(RowKind::Delete, values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.retract
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = self.values().inner.values(&[0]).map_err(external)?;
        match value.as_list_opt::<i32>() {
            // The other way the SQL type of its elements is lost.
            Some(list) => Ok(ScalarValue::List(Arc::new(list.clone()))),
            None => ScalarValue::try_from_array(&value, 0),
        }
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        exec_err!("{} is computed in one phase", self.name)
    }

    fn merge_batch(&mut self, _states: &[ArrayRef]) -> Result<()> {
        exec_err!("{} is computed in one phase", self.name)
    }

    fn size(&self) -> usize {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).inner.heap_bytes()
    }
}
