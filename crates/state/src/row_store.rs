//! Whole rows by slot, row-encoded: what an operator keeps that must give rows back.

use crate::row_form::{from_row_form, row_type, to_row_form};
use crate::slot_bytes::SlotBytes;
use arrow::array::ArrayRef;
use arrow::datatypes::FieldRef;
use arrow::row::{RowConverter, Rows, SortField};
use base::{Error, Result};
use std::cmp::Ordering;

/// Rows indexed by slot.
#[derive(Debug)]
pub struct RowStore {
    fields: Vec<FieldRef>,
    converter: RowConverter,
    rows: SlotBytes,
}

/// The rows of a batch, encoded for one [`RowStore`].
#[derive(Debug)]
pub struct EncodedRows(Option<Rows>);

impl EncodedRows {
    fn row(&self, row: usize) -> &[u8] {
        self.0.as_ref().map_or(&[], |rows| rows.row(row).data())
    }
}

impl RowStore {
    /// A store for rows of these columns.
    pub fn new(fields: Vec<FieldRef>) -> Result<RowStore> {
        let sort = fields.iter().map(|field| SortField::new(row_type(field.data_type()))).collect();
        Ok(RowStore { fields, converter: RowConverter::new(sort)?, rows: SlotBytes::default() })
    }

    /// The columns.
    pub fn fields(&self) -> &[FieldRef] {
        &self.fields
    }

    /// Encodes the rows of a batch.
    pub fn encode(&self, columns: &[ArrayRef]) -> Result<EncodedRows> {
        if self.fields.is_empty() {
            return Ok(EncodedRows(None));
        }
        let columns = columns.iter().map(to_row_form).collect::<Result<Vec<_>>>()?;
        Ok(EncodedRows(Some(self.converter.convert_columns(&columns)?)))
    }

    /// Whether a slot has a row.
    pub fn contains(&self, slot: u32) -> bool {
        self.rows.get(slot).is_some()
    }

    /// Whether a slot has exactly this row.
    pub fn equals(&self, slot: u32, encoded: &EncodedRows, row: usize) -> bool {
        self.rows.get(slot) == Some(encoded.row(row))
    }

    /// The order of the row of a slot and a row of a batch: column by column, ascending, NULL first.
    pub fn compare(&self, slot: u32, encoded: &EncodedRows, row: usize) -> Ordering {
        self.rows.get(slot).unwrap_or_default().cmp(encoded.row(row))
    }

    /// The order of the rows of two slots.
    pub fn compare_slots(&self, left: u32, right: u32) -> Ordering {
        self.rows.get(left).cmp(&self.rows.get(right))
    }

    /// Whether two slots have equal rows.
    pub fn is_same(&self, left: u32, right: u32) -> bool {
        self.rows.get(left) == self.rows.get(right)
    }

    /// Replaces the row of a slot.
    pub fn set(&mut self, slot: u32, encoded: &EncodedRows, row: usize) {
        self.rows.set(slot, encoded.row(row));
    }

    /// Takes the row of a slot away.
    pub fn clear(&mut self, slot: u32) {
        self.rows.clear(slot);
    }

    /// The rows of these slots as columns. A store without columns gives none.
    ///
    /// # Errors
    /// A slot without a row is a bug of the caller.
    pub fn columns(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        if self.fields.is_empty() {
            return Ok(Vec::new());
        }
        let parser = self.converter.parser();
        let mut rows = Vec::with_capacity(slots.len());
        for &slot in slots {
            let bytes = self.rows.get(slot).ok_or_else(|| Error::internal(format!("slot {slot} has no row")))?;
            rows.push(parser.parse(bytes));
        }
        let columns = self.converter.convert_rows(rows)?;
        columns.iter().zip(&self.fields).map(|(column, field)| from_row_form(column, field.data_type())).collect()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.rows.heap_bytes()
    }
}

#[cfg(test)]
#[path = "row_store_tests.rs"]
mod tests;
