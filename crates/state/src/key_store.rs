//! The keys of a table by slot, in the form that suits their types: integers, texts, or Arrow's row encoding.
//!
//! The form is chosen once per table; loops over rows are compiled for each form, without a choice per row.

use crate::row_form::has_map;
use crate::slot_bytes::SlotBytes;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StringArray, StringBuilder};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, FieldRef, Int32Type, Int64Type};
use arrow::row::{RowConverter, Rows, SortField};
use base::{Error, Result};
use std::sync::Arc;

/// What a loop over the rows of a batch needs of a form of keys.
pub(crate) trait KeyForm {
    /// The keys of a batch.
    type Batch;

    /// Whether `slot` has the key of row `row`.
    fn equals(&self, slot: u32, batch: &Self::Batch, row: usize) -> bool;

    /// Gives `slot` the key of row `row`.
    fn put(&mut self, slot: u32, batch: &Self::Batch, row: usize);
}

/// No key columns: everything is one key.
#[derive(Debug, Default)]
pub(crate) struct UnitKeys;

impl KeyForm for UnitKeys {
    type Batch = ();

    fn equals(&self, _slot: u32, _batch: &(), _row: usize) -> bool {
        true
    }

    fn put(&mut self, _slot: u32, _batch: &(), _row: usize) {}
}

/// One INT or BIGINT column.
#[derive(Debug, Default)]
pub(crate) struct IntegerKeys {
    values: Vec<i64>,
    nulls: Vec<bool>,
}

/// The integers of a batch.
pub(crate) struct IntegerBatch {
    values: ScalarBuffer<i64>,
    nulls: Option<NullBuffer>,
}

impl IntegerBatch {
    #[inline]
    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

impl KeyForm for IntegerKeys {
    type Batch = IntegerBatch;

    #[inline]
    fn equals(&self, slot: u32, batch: &IntegerBatch, row: usize) -> bool {
        let is_null = batch.is_null(row);
        self.nulls[slot as usize] == is_null && (is_null || self.values[slot as usize] == batch.values[row])
    }

    #[inline]
    fn put(&mut self, slot: u32, batch: &IntegerBatch, row: usize) {
        self.put_value(slot, (!batch.is_null(row)).then(|| batch.values[row]));
    }
}

impl IntegerKeys {
    fn put_value(&mut self, slot: u32, value: Option<i64>) {
        let slot = slot as usize;
        if slot >= self.values.len() {
            self.values.resize(slot + 1, 0);
            self.nulls.resize(slot + 1, true);
        }
        self.values[slot] = value.unwrap_or(0);
        self.nulls[slot] = value.is_none();
    }

    fn value(&self, slot: u32) -> Option<i64> {
        (!self.nulls[slot as usize]).then(|| self.values[slot as usize])
    }
}

/// Keys as bytes: one text column as it is, anything else row-encoded.
#[derive(Debug, Default)]
pub(crate) struct ByteKeys {
    bytes: SlotBytes,
}

/// The bytes of a batch.
pub(crate) enum ByteBatch {
    /// One text column; NULL has no bytes.
    Text(StringArray),
    /// Row-encoded.
    Rows(Rows),
}

impl ByteBatch {
    #[inline]
    fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            ByteBatch::Text(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            ByteBatch::Rows(rows) => Some(rows.row(row).data()),
        }
    }
}

impl KeyForm for ByteKeys {
    type Batch = ByteBatch;

    #[inline]
    fn equals(&self, slot: u32, batch: &ByteBatch, row: usize) -> bool {
        self.bytes.get(slot) == batch.get(row)
    }

    #[inline]
    fn put(&mut self, slot: u32, batch: &ByteBatch, row: usize) {
        match batch.get(row) {
            Some(bytes) => self.bytes.set(slot, bytes),
            None => self.bytes.clear(slot),
        }
    }
}

/// The keys of a table in one of the forms.
#[derive(Debug)]
pub(crate) enum Keys {
    /// No columns.
    Unit(UnitKeys),
    /// One integer column.
    Integer(IntegerKeys),
    /// One text column.
    Text(ByteKeys),
    /// Row-encoded columns.
    Rows(ByteKeys, RowConverter),
}

/// A batch of keys, encoded for one [`Keys`].
pub(crate) enum EncodedKeys {
    /// No columns.
    Unit,
    /// Integers.
    Integer(IntegerBatch),
    /// Bytes.
    Bytes(ByteBatch),
}

impl Keys {
    /// The form for keys of these columns.
    ///
    /// # Errors
    /// A key that contains a MAP: two equal maps can list their entries differently.
    pub fn new(fields: &[FieldRef]) -> Result<Keys> {
        match fields.iter().map(|field| field.data_type()).collect::<Vec<_>>()[..] {
            [] => Ok(Keys::Unit(UnitKeys)),
            [DataType::Int32 | DataType::Int64] => Ok(Keys::Integer(IntegerKeys::default())),
            [DataType::Utf8] => Ok(Keys::Text(ByteKeys::default())),
            _ => {
                if let Some(field) = fields.iter().find(|field| has_map(field.data_type())) {
                    return Err(Error::unsupported(format!(
                        "column {} of type MAP or MULTISET as a key",
                        field.name()
                    )));
                }
                let sort = fields.iter().map(|field| SortField::new(field.data_type().clone())).collect();
                Ok(Keys::Rows(ByteKeys::default(), RowConverter::new(sort)?))
            }
        }
    }

    /// Encodes a batch of keys.
    pub fn encode(&self, columns: &[ArrayRef]) -> Result<EncodedKeys> {
        Ok(match self {
            Keys::Unit(_) => EncodedKeys::Unit,
            Keys::Integer(_) => {
                let column = &columns[0];
                let values = match column.data_type() {
                    DataType::Int32 => column.as_primitive::<Int32Type>().values().iter().map(|&v| v as i64).collect(),
                    _ => column.as_primitive::<Int64Type>().values().clone(),
                };
                EncodedKeys::Integer(IntegerBatch { values, nulls: column.nulls().cloned() })
            }
            Keys::Text(_) => EncodedKeys::Bytes(ByteBatch::Text(columns[0].as_string::<i32>().clone())),
            Keys::Rows(_, converter) => EncodedKeys::Bytes(ByteBatch::Rows(converter.convert_columns(columns)?)),
        })
    }

    /// The keys of these slots as columns of `fields`.
    pub fn columns(&self, slots: &[u32], fields: &[FieldRef]) -> Result<Vec<ArrayRef>> {
        Ok(match self {
            Keys::Unit(_) => Vec::new(),
            Keys::Integer(keys) => {
                let values = slots.iter().map(|&slot| keys.value(slot));
                let column: ArrayRef = match fields[0].data_type() {
                    // The value was an INT when it came in.
                    DataType::Int32 => Arc::new(values.map(|value| value.map(|v| v as i32)).collect::<Int32Array>()),
                    _ => Arc::new(values.collect::<Int64Array>()),
                };
                vec![column]
            }
            Keys::Text(keys) => {
                let mut builder = StringBuilder::with_capacity(slots.len(), slots.len() * 16);
                for &slot in slots {
                    match keys.bytes.get(slot) {
                        None => builder.append_null(),
                        Some(bytes) => builder.append_value(std::str::from_utf8(bytes).map_err(Error::internal)?),
                    }
                }
                vec![Arc::new(builder.finish())]
            }
            Keys::Rows(keys, converter) => {
                let parser = converter.parser();
                let mut rows = Vec::with_capacity(slots.len());
                for &slot in slots {
                    let bytes = keys.bytes.get(slot);
                    rows.push(parser.parse(bytes.ok_or_else(|| Error::internal(format!("slot {slot} has no key")))?));
                }
                converter.convert_rows(rows)?
            }
        })
    }

    /// Forgets the key of a slot.
    pub fn clear(&mut self, slot: u32) {
        match self {
            Keys::Unit(_) | Keys::Integer(_) => {}
            Keys::Text(keys) | Keys::Rows(keys, _) => keys.bytes.clear(slot),
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Keys::Unit(_) => 0,
            Keys::Integer(keys) => keys.values.capacity() * 8 + keys.nulls.capacity(),
            Keys::Text(keys) | Keys::Rows(keys, _) => keys.bytes.heap_bytes(),
        }
    }
}
