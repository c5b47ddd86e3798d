//! Aggregates that keep their values in arrival order: ARRAY_AGG, LISTAGG, SINGLE_VALUE, and FIRST_VALUE and LAST_VALUE
//! over input that can retract. A retraction takes away the earliest equal value.

use super::kind::{Kind, build_lists, list_field, list_of, list_range, with_kind};
use super::rows::{Rows, argument, column, nulls};
use crate::codes;
use arrow::array::*;
use arrow::datatypes::FieldRef;
use base::changelog::RowKind;
use base::function::Accumulator;
use base::{Error, LogicalType, Result, SqlType};
use std::collections::VecDeque;
use std::sync::Arc;

/// What is made of the values of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// The first value that is not NULL.
    First,
    /// The last value that is not NULL.
    Last,
    /// The only value, which can be NULL; a second one is an error.
    Single,
    /// All values, NULLs too; NULL without rows.
    Array,
}

#[derive(Debug)]
struct Sequence<K: Kind> {
    kind: K,
    output: Output,
    argument: SqlType,
    /// The element type of the result.
    element: SqlType,
    values: Vec<VecDeque<Option<K::Value>>>,
}

pub(super) fn accumulator(argument: &SqlType, output: Output) -> Result<Box<dyn Accumulator>> {
    let element = argument.clone();
    let argument = argument.with_nullable(true);
    Ok(with_kind!(&argument, kind => Box::new(Sequence {
        kind, output, argument: argument.clone(), element: element.clone(), values: Vec::new()
    })))
}

impl<K: Kind> Sequence<K> {
    fn bytes(list: &VecDeque<Option<K::Value>>) -> usize {
        let inner: usize = list.iter().flatten().map(K::heap_bytes).sum();
        inner + list.capacity() * size_of::<Option<K::Value>>()
    }
}

impl<K: Kind> Accumulator for Sequence<K> {
    fn resize(&mut self, slots: usize) {
        if slots > self.values.len() {
            self.values.resize_with(slots, VecDeque::new);
        }
    }

    fn update(
        &mut self,
        slots: &[u32],
        kinds: Option<&[RowKind]>,
        arguments: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        let array = argument(arguments, 0, slots.len())?;
        let column = self.kind.column(&array)?;
        let null_rows = nulls(&array);
        let skipped = if matches!(self.output, Output::First | Output::Last) { null_rows } else { None };
        let (values, output) = (&mut self.values, self.output);
        let mut too_many = false;
        Rows { slots, kinds, selected }.each(skipped, |row, slot, sign| {
            let is_null = null_rows.is_some_and(|nulls| nulls.is_null(row));
            let list = &mut values[slot];
            if sign > 0 {
                list.push_back(if is_null { None } else { Some(K::get(&column, row)) });
                too_many |= output == Output::Single && list.len() > 1;
            } else {
                let equal = |value: &Option<K::Value>| match value {
                    None => is_null,
                    Some(value) => !is_null && K::compare(value, &column, row).is_eq(),
                };
                if let Some(at) = list.iter().position(equal) {
                    list.remove(at);
                }
            }
        });
        if too_many { Err(Error::new(&codes::MORE_THAN_ONE_ROW, &[])) } else { Ok(()) }
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let lists = || slots.iter().map(|slot| &self.values[*slot as usize]);
        match self.output {
            Output::First | Output::Single => self.kind.build(lists().map(|list| list.front()?.as_ref())),
            Output::Last => self.kind.build(lists().map(|list| list.back()?.as_ref())),
            Output::Array => {
                let array =
                    build_lists(&self.kind, &self.element, lists().map(|list| list.iter().map(Option::as_ref)))?;
                let empty = BooleanArray::from_iter(lists().map(|list| Some(list.is_empty())));
                Ok(arrow::compute::nullif(&array, &empty)?)
            }
        }
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.values[*slot as usize] = VecDeque::new();
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![list_field("values", &self.argument)]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let lists = slots.iter().map(|slot| self.values[*slot as usize].iter().map(Option::as_ref));
        Ok(vec![build_lists(&self.kind, &self.argument, lists)?])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.reset(slots);
        self.merge(slots, state)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let lists = column(state, 0)?.as_list::<i32>();
        let flat = self.kind.column(lists.values())?;
        for (row, slot) in slots.iter().enumerate() {
            let list = &mut self.values[*slot as usize];
            list.extend(list_range(lists, row).map(|at| lists.values().is_valid(at).then(|| K::get(&flat, at))));
            if self.output == Output::Single && list.len() > 1 {
                return Err(Error::new(&codes::MORE_THAN_ONE_ROW, &[]));
            }
        }
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        let inner: usize = self.values.iter().map(Self::bytes).sum();
        inner + self.values.capacity() * size_of::<VecDeque<Option<K::Value>>>()
    }
}

/// LISTAGG: the values of a slot, joined.
///
/// Without retractions only the joined text is kept.
#[derive(Debug)]
pub(super) struct ListAgg {
    retract: bool,
    separator: Box<str>,
    lists: Vec<VecDeque<String>>,
}

impl ListAgg {
    pub fn new(retract: bool) -> Self {
        ListAgg { retract, separator: ",".into(), lists: Vec::new() }
    }

    fn push(&mut self, slot: usize, value: &str) {
        let list = &mut self.lists[slot];
        match list.front_mut() {
            Some(joined) if !self.retract => {
                joined.push_str(&self.separator);
                joined.push_str(value);
            }
            _ => list.push_back(value.into()),
        }
    }
}

impl Accumulator for ListAgg {
    fn resize(&mut self, slots: usize) {
        if slots > self.lists.len() {
            self.lists.resize_with(slots, VecDeque::new);
        }
    }

    fn update(
        &mut self,
        slots: &[u32],
        kinds: Option<&[RowKind]>,
        arguments: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        // The separator is a constant in Flink's grammar.
        if let Some(separator) = arguments.get(1).and_then(|array| array.as_string_opt::<i32>())
            && !separator.is_empty()
            && separator.is_valid(0)
            && separator.value(0) != self.separator.as_ref()
        {
            self.separator = separator.value(0).into();
        }
        let array = argument(arguments, 0, slots.len())?;
        let values = array.as_string::<i32>();
        Rows { slots, kinds, selected }.each(nulls(values), |row, slot, sign| {
            let value = values.value(row);
            if sign > 0 {
                self.push(slot, value);
            } else if let Some(at) = self.lists[slot].iter().position(|known| known == value) {
                self.lists[slot].remove(at);
            }
        });
        Ok(())
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let mut out = StringBuilder::new();
        let mut text = String::new();
        for slot in slots {
            let list = &self.lists[*slot as usize];
            text.clear();
            for (index, value) in list.iter().enumerate() {
                if index > 0 {
                    text.push_str(&self.separator);
                }
                text.push_str(value);
            }
            out.append_option((!list.is_empty()).then_some(&text));
        }
        Ok(Arc::new(out.finish()))
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.lists[*slot as usize] = VecDeque::new();
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![
            list_field("values", &LogicalType::STRING.not_null()),
            LogicalType::STRING.not_null().arrow_field("separator"),
        ]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let lists = || slots.iter().map(|slot| &self.lists[*slot as usize]);
        let flat: Vec<&String> = lists().flatten().collect();
        let flat = StringArray::from_iter_values(flat);
        let lengths: Vec<usize> = lists().map(VecDeque::len).collect();
        let values = list_of(Arc::new(flat), &LogicalType::STRING.not_null(), &lengths)?;
        let separators = StringArray::from_iter_values(slots.iter().map(|_| self.separator.as_ref()));
        Ok(vec![values, Arc::new(separators)])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.reset(slots);
        self.merge(slots, state)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let (lists, separators) = (column(state, 0)?.as_list::<i32>(), column(state, 1)?.as_string::<i32>());
        if !separators.is_empty() {
            self.separator = separators.value(0).into();
        }
        let flat = lists.values().as_string::<i32>();
        for (row, slot) in slots.iter().enumerate() {
            for at in list_range(lists, row) {
                self.push(*slot as usize, flat.value(at));
            }
        }
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        let inner: usize = self.lists.iter().flatten().map(|value| value.capacity() + size_of::<String>()).sum();
        inner + self.lists.capacity() * size_of::<VecDeque<String>>()
    }
}
