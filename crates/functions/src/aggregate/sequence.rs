//! Aggregates that keep their values in arrival order: ARRAY_AGG, LISTAGG, SINGLE_VALUE, and FIRST_VALUE and LAST_VALUE
//! over input that can retract. A retraction takes away the earliest equal value.

use super::arrivals::Lists;
use super::kind::{Kind, Strings, build_lists, list_field, list_of, list_range, with_kind};
use super::rows::{Rows, argument, column, nulls};
use crate::codes;
use arrow::array::*;
use arrow::datatypes::FieldRef;
use base::changelog::RowKind;
use base::function::Accumulator;
use base::{Error, LogicalType, Result, SqlType};
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
    lists: Lists<K>,
}

pub(super) fn accumulator(argument: &SqlType, output: Output) -> Result<Box<dyn Accumulator>> {
    let element = argument.clone();
    let argument = argument.with_nullable(true);
    Ok(with_kind!(&argument, kind => Box::new(Sequence {
        kind, output, argument: argument.clone(), element: element.clone(), lists: Lists::default()
    })))
}

impl<K: Kind> Accumulator for Sequence<K> {
    fn resize(&mut self, slots: usize) {
        self.lists.resize(slots);
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
        let (lists, output) = (&mut self.lists, self.output);
        let mut too_many = false;
        Rows { slots, kinds, selected }.each(skipped, |row, slot, sign| {
            let is_null = null_rows.is_some_and(|nulls| nulls.is_null(row));
            if sign > 0 {
                let value = (!is_null).then(|| K::get(&column, row));
                let len = lists.change(slot, |list| {
                    list.push(value);
                    list.len()
                });
                too_many |= output == Output::Single && len > 1;
            } else {
                let hash = || (!is_null).then(|| K::hash_row(&column, row));
                let is_equal = |value: Option<&K::Value>| match value {
                    None => is_null,
                    Some(value) => !is_null && K::compare(value, &column, row).is_eq(),
                };
                lists.change(slot, |list| list.take_out(hash, is_equal));
            }
        });
        if too_many { Err(Error::new(&codes::MORE_THAN_ONE_ROW, &[])) } else { Ok(()) }
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let lists = || slots.iter().map(|slot| self.lists.get(*slot));
        match self.output {
            Output::First | Output::Single => self.kind.build(lists().map(|list| list.first())),
            Output::Last => self.kind.build(lists().map(|list| list.last())),
            Output::Array => {
                let array = build_lists(&self.kind, &self.element, lists().map(|list| list.iter()))?;
                let empty = BooleanArray::from_iter(lists().map(|list| Some(list.is_empty())));
                Ok(arrow::compute::nullif(&array, &empty)?)
            }
        }
    }

    fn reset(&mut self, slots: &[u32]) {
        self.lists.reset(slots);
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![list_field("values", &self.argument)]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let lists = slots.iter().map(|slot| self.lists.get(*slot).iter());
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
            let values = list_range(lists, row).map(|at| lists.values().is_valid(at).then(|| K::get(&flat, at)));
            let len = self.lists.change(*slot as usize, |list| {
                values.for_each(|value| list.push(value));
                list.len()
            });
            if self.output == Output::Single && len > 1 {
                return Err(Error::new(&codes::MORE_THAN_ONE_ROW, &[]));
            }
        }
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        self.lists.heap_bytes()
    }
}

/// LISTAGG: the values of a slot, joined.
#[derive(Debug)]
pub(super) struct ListAgg {
    separator: Box<str>,
    texts: Texts,
}

/// What is kept of the values.
#[derive(Debug)]
enum Texts {
    /// The joined text alone, without retractions; `None` before the first value. And how many bytes they take.
    Joined(Vec<Option<String>>, usize),
    /// Every value.
    Listed(Lists<Strings>),
}

impl ListAgg {
    pub fn new(retract: bool) -> Self {
        let texts = if retract { Texts::Listed(Lists::default()) } else { Texts::Joined(Vec::new(), 0) };
        ListAgg { separator: ",".into(), texts }
    }

    fn push(&mut self, slot: usize, value: &str) {
        match &mut self.texts {
            Texts::Listed(lists) => lists.change(slot, |list| list.push(Some(value.into()))),
            Texts::Joined(texts, bytes) => match &mut texts[slot] {
                Some(joined) => {
                    let before = joined.capacity();
                    joined.push_str(&self.separator);
                    joined.push_str(value);
                    *bytes += joined.capacity() - before;
                }
                none => {
                    let joined = none.insert(value.into());
                    *bytes += joined.capacity();
                }
            },
        }
    }

    /// The values of a slot, which are one if they are joined.
    fn values_of(&self, slot: u32) -> impl Iterator<Item = &str> {
        let (joined, list) = match &self.texts {
            Texts::Joined(texts, _) => (texts[slot as usize].as_deref(), None),
            Texts::Listed(lists) => (None, Some(lists.get(slot).iter().flatten())),
        };
        joined.into_iter().chain(list.into_iter().flatten().map(AsRef::as_ref))
    }
}

impl Accumulator for ListAgg {
    fn resize(&mut self, slots: usize) {
        match &mut self.texts {
            Texts::Joined(texts, _) => texts.resize(slots.max(texts.len()), None),
            Texts::Listed(lists) => lists.resize(slots),
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
            if sign > 0 {
                self.push(slot, values.value(row));
            } else if let Texts::Listed(lists) = &mut self.texts {
                let hash = || Some(Strings::hash_row(values, row));
                let is_equal =
                    |value: Option<&Box<str>>| value.is_some_and(|value| Strings::compare(value, values, row).is_eq());
                lists.change(slot, |list| list.take_out(hash, is_equal));
            }
        });
        Ok(())
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let mut out = StringBuilder::new();
        let mut text = String::new();
        for slot in slots {
            text.clear();
            let mut is_empty = true;
            for value in self.values_of(*slot) {
                if !is_empty {
                    text.push_str(&self.separator);
                }
                is_empty = false;
                text.push_str(value);
            }
            out.append_option((!is_empty).then_some(&text));
        }
        Ok(Arc::new(out.finish()))
    }

    fn reset(&mut self, slots: &[u32]) {
        match &mut self.texts {
            Texts::Listed(lists) => lists.reset(slots),
            Texts::Joined(texts, bytes) => {
                for slot in slots {
                    *bytes -= texts[*slot as usize].take().map_or(0, |text| text.capacity());
                }
            }
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![
            list_field("values", &LogicalType::STRING.not_null()),
            LogicalType::STRING.not_null().arrow_field("separator"),
        ]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let (mut flat, mut lengths) = (Vec::new(), Vec::new());
        for slot in slots {
            let before = flat.len();
            flat.extend(self.values_of(*slot));
            lengths.push(flat.len() - before);
        }
        let flat = StringArray::from_iter_values(flat);
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
        match &self.texts {
            Texts::Joined(texts, bytes) => bytes + texts.capacity() * size_of::<Option<String>>(),
            Texts::Listed(lists) => lists.heap_bytes(),
        }
    }
}
