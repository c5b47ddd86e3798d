//! JSON_ARRAYAGG and JSON_OBJECTAGG. Values are kept as JSON text, because that is what they are put together from.

use super::arrivals::Lists;
use super::kind::{Strings, hash_of, list_field, list_of, list_range};
use super::rows::{Rows, argument, column, nulls};
use crate::codes;
use crate::json::push_json;
use arrow::array::*;
use arrow::datatypes::FieldRef;
use base::changelog::RowKind;
use base::function::Accumulator;
use base::{Error, LogicalType, Result, SqlType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the clauses of a call say, which reach it as one constant text: `ABSENT ON NULL FORMAT JSON 0`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Clause {
    /// NULL ON NULL (false) or ABSENT ON NULL (true), if written.
    absent_on_null: Option<bool>,
    /// Whether the value is the result of another JSON function, JSON text already.
    is_json: bool,
}

impl Clause {
    fn read(arguments: &[ArrayRef], index: usize) -> Clause {
        let text = match arguments.get(index).and_then(|array| array.as_string_opt::<i32>()) {
            Some(array) if !array.is_empty() && array.is_valid(0) => array.value(0),
            _ => "",
        };
        let absent_on_null = match () {
            () if text.contains("ABSENT ON NULL") => Some(true),
            () if text.contains("NULL ON NULL") => Some(false),
            () => None,
        };
        // The value is the last argument before the clauses.
        let is_json = text
            .split_once("FORMAT JSON")
            .is_some_and(|(_, places)| places.split_whitespace().any(|place| place.parse() == Ok(index - 1)));
        Clause { absent_on_null, is_json }
    }
}

fn json_text(array: &ArrayRef, sql_type: &SqlType, row: usize, is_json: bool) -> Result<String> {
    if is_json
        && let Some(texts) = array.as_string_opt::<i32>()
        && texts.is_valid(row)
    {
        return Ok(texts.value(row).to_string());
    }
    let mut text = String::new();
    // The zone only matters for types that JSON writes in UTC.
    push_json(&mut text, array.as_ref(), sql_type, row, chrono_tz::UTC)?;
    Ok(text)
}

/// JSON_ARRAYAGG: the values of a slot in arrival order; a retraction takes away the earliest equal one.
#[derive(Debug)]
pub(super) struct ArrayAgg {
    argument: SqlType,
    lists: Lists<Strings>,
}

impl ArrayAgg {
    pub fn new(argument: &SqlType) -> Self {
        ArrayAgg { argument: argument.clone(), lists: Lists::default() }
    }
}

fn texts_field() -> FieldRef {
    list_field("values", &LogicalType::STRING.not_null())
}

fn save_texts<'a>(lists: impl Iterator<Item = impl Iterator<Item = &'a str>>) -> Result<ArrayRef> {
    let (mut flat, mut lengths) = (Vec::new(), Vec::new());
    for list in lists {
        let before = flat.len();
        flat.extend(list);
        lengths.push(flat.len() - before);
    }
    list_of(Arc::new(StringArray::from_iter_values(flat)), &LogicalType::STRING.not_null(), &lengths)
}

impl Accumulator for ArrayAgg {
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
        let clause = Clause::read(arguments, 1);
        let array = argument(arguments, 0, slots.len())?;
        let skipped = if clause.absent_on_null.unwrap_or(true) { nulls(&array) } else { None };
        let mut failed = Ok(());
        Rows { slots, kinds, selected }.each(skipped, |row, slot, sign| {
            let text = match json_text(&array, &self.argument, row, clause.is_json) {
                Ok(text) => text,
                Err(error) => {
                    failed = Err(error);
                    return;
                }
            };
            self.lists.change(slot, |list| {
                if sign > 0 {
                    list.push(Some(text.into()));
                } else {
                    let hash = || Some(hash_of(text.as_str()));
                    list.take_out(hash, |known| known.is_some_and(|known| known.as_ref() == text));
                }
            });
        });
        failed
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let mut out = StringBuilder::new();
        let mut text = String::new();
        for slot in slots {
            text.clear();
            text.push('[');
            for (index, value) in self.lists.get(*slot).iter().flatten().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(value);
            }
            text.push(']');
            out.append_value(&text);
        }
        Ok(Arc::new(out.finish()))
    }

    fn reset(&mut self, slots: &[u32]) {
        self.lists.reset(slots);
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![texts_field()]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let lists = slots.iter().map(|slot| self.lists.get(*slot).iter().flatten().map(AsRef::as_ref));
        Ok(vec![save_texts(lists)?])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.reset(slots);
        self.merge(slots, state)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let lists = column(state, 0)?.as_list::<i32>();
        let flat = lists.values().as_string::<i32>();
        for (row, slot) in slots.iter().enumerate() {
            let texts = list_range(lists, row).map(|at| flat.value(at).into());
            self.lists.change(*slot as usize, |list| texts.for_each(|text| list.push(Some(text))));
        }
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        self.lists.heap_bytes()
    }
}

/// JSON_OBJECTAGG: the members of a slot, ordered by key so that equal input gives equal text.
#[derive(Debug)]
pub(super) struct ObjectAgg {
    value: SqlType,
    members: Vec<BTreeMap<Box<str>, Box<str>>>,
}

impl ObjectAgg {
    pub fn new(value: &SqlType) -> Self {
        ObjectAgg { value: value.clone(), members: Vec::new() }
    }

    fn insert(&mut self, slot: usize, key: &str, value: Box<str>) -> Result<()> {
        match self.members[slot].insert(key.into(), value) {
            None => Ok(()),
            Some(_) => Err(bad_key(key, "the key is there already, and the keys of an object are unique")),
        }
    }

    fn change(&mut self, slot: usize, sign: i64, key: &str, value: String) -> Result<()> {
        if sign > 0 {
            return self.insert(slot, key, value.into());
        }
        self.members[slot].remove(key);
        Ok(())
    }
}

fn bad_key(key: &str, why: &str) -> Error {
    Error::new(&codes::BAD_VALUE, &[("function", &"JSON_OBJECTAGG"), ("value", &key), ("why", &why)])
}

impl Accumulator for ObjectAgg {
    fn resize(&mut self, slots: usize) {
        if slots > self.members.len() {
            self.members.resize_with(slots, BTreeMap::new);
        }
    }

    fn update(
        &mut self,
        slots: &[u32],
        kinds: Option<&[RowKind]>,
        arguments: &[ArrayRef],
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        let clause = Clause::read(arguments, 2);
        let (keys, values) = (argument(arguments, 0, slots.len())?, argument(arguments, 1, slots.len())?);
        let keys = keys.as_string::<i32>();
        let skipped = if clause.absent_on_null.unwrap_or(false) { nulls(&values) } else { None };
        let mut failed = Ok(());
        Rows { slots, kinds, selected }.each(skipped, |row, slot, sign| {
            if failed.is_err() {
                return;
            }
            if keys.is_null(row) {
                failed = Err(bad_key("NULL", "a key of an object is not NULL"));
                return;
            }
            failed = json_text(&values, &self.value, row, clause.is_json)
                .and_then(|text| self.change(slot, sign, keys.value(row), text));
        });
        failed
    }

    fn values(&self, slots: &[u32]) -> Result<ArrayRef> {
        let mut out = StringBuilder::new();
        let mut text = String::new();
        for slot in slots {
            text.clear();
            text.push('{');
            for (index, (key, value)) in self.members[*slot as usize].iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                crate::json::push_quoted(&mut text, key);
                text.push(':');
                text.push_str(value);
            }
            text.push('}');
            out.append_value(&text);
        }
        Ok(Arc::new(out.finish()))
    }

    fn reset(&mut self, slots: &[u32]) {
        for slot in slots {
            self.members[*slot as usize] = BTreeMap::new();
        }
    }

    fn state_fields(&self) -> Vec<FieldRef> {
        vec![list_field("keys", &LogicalType::STRING.not_null()), texts_field()]
    }

    fn state(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let members = || slots.iter().map(|slot| &self.members[*slot as usize]);
        Ok(vec![
            save_texts(members().map(|map| map.keys().map(AsRef::as_ref)))?,
            save_texts(members().map(|map| map.values().map(AsRef::as_ref)))?,
        ])
    }

    fn restore(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.reset(slots);
        self.merge(slots, state)
    }

    fn merge(&mut self, slots: &[u32], state: &[ArrayRef]) -> Result<()> {
        let (keys, values) = (column(state, 0)?.as_list::<i32>(), column(state, 1)?.as_list::<i32>());
        let (flat_keys, flat_values) = (keys.values().as_string::<i32>(), values.values().as_string::<i32>());
        for (row, slot) in slots.iter().enumerate() {
            for (key, value) in list_range(keys, row).zip(list_range(values, row)) {
                self.insert(*slot as usize, flat_keys.value(key), flat_values.value(value).into())?;
            }
        }
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        let members = self.members.iter().flatten();
        let inner: usize = members.map(|(key, value)| key.len() + value.len() + 2 * size_of::<Box<str>>()).sum();
        inner + self.members.capacity() * size_of::<BTreeMap<Box<str>, Box<str>>>()
    }
}
