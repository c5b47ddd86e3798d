//! BITMAP: sets of 32-bit integers as roaring bitmaps, in the portable serialisation that other systems read too.
//!
//! INT is signed and a bitmap is not: -1 is 4294967295 to it. A serialised bitmap is always run-optimised, so that equal
//! sets are equal bytes.

use crate::call::{Call, Signature, expand};
use crate::types::is_binary;
use arrow::array::*;
use arrow::datatypes::*;
use base::{Error, LogicalType, Result, SqlType};
use roaring::RoaringBitmap;
use std::fmt::Write;
use std::sync::Arc;

/// Where the text of a bitmap is cut off.
const TEXT_BYTES_MAX: usize = 0x80000;

fn is_bitmap(logical: &LogicalType) -> bool {
    *logical == LogicalType::Bitmap
}

/// The bitmap of serialised bytes; the error is the reason.
pub(crate) fn read(bytes: &[u8]) -> std::result::Result<RoaringBitmap, String> {
    RoaringBitmap::deserialize_from(bytes).map_err(|error| error.to_string())
}

/// Serialises a bitmap into `out`, which is cleared before.
pub(crate) fn write(bitmap: &mut RoaringBitmap, out: &mut Vec<u8>) -> Result<()> {
    bitmap.optimize();
    out.clear();
    bitmap.serialize_into(out).map_err(|error| Error::internal(format!("a bitmap was not written: {error}")))
}

/// Appends `{1,2,3}`.
pub(crate) fn push_text(out: &mut String, bytes: &[u8]) {
    // Only what was read or written here is a BITMAP value.
    let bitmap = read(bytes).unwrap_or_default();
    let start = out.len();
    out.push('{');
    for (index, value) in bitmap.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if out.len() - start > TEXT_BYTES_MAX {
            out.push_str("...");
            break;
        }
        // Writing to a String cannot fail.
        let _ = write!(out, "{value}");
    }
    out.push('}');
}

/// A BITMAP argument.
struct Bitmaps {
    array: LargeBinaryArray,
    constant: bool,
}

impl Bitmaps {
    fn new(call: &Call, index: usize) -> Result<Bitmaps> {
        let array = call.cast(index, &LogicalType::Bitmap)?;
        Ok(Bitmaps { constant: array.len() == 1 && call.rows != 1, array: array.as_binary::<i64>().clone() })
    }

    fn get(&self, row: usize) -> Option<&[u8]> {
        let row = if self.constant { 0 } else { row };
        self.array.is_valid(row).then(|| self.array.value(row))
    }

    fn bitmap(&self, call: &Call, row: usize) -> Result<Option<RoaringBitmap>> {
        self.get(row).map(|bytes| read(bytes).map_err(|why| call.bad_value(&"BITMAP", &why))).transpose()
    }
}

/// A column of bitmaps, one per row.
fn build(call: &Call, mut bitmap: impl FnMut(usize) -> Result<Option<RoaringBitmap>>) -> Result<ArrayRef> {
    let mut out = LargeBinaryBuilder::new();
    let mut bytes = Vec::new();
    for row in 0..call.rows {
        match bitmap(row)? {
            None => out.append_null(),
            Some(mut bitmap) => {
                write(&mut bitmap, &mut bytes)?;
                out.append_value(&bytes);
            }
        }
    }
    Ok(Arc::new(out.finish()))
}

pub(crate) fn build_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    match signature.logical(0) {
        LogicalType::Null => {}
        LogicalType::Array(element)
            if matches!(element.logical, LogicalType::TinyInt | LogicalType::SmallInt | LogicalType::Int) => {}
        _ => return Err(signature.error()),
    }
    signature.strict(LogicalType::Bitmap)
}

/// The set of the elements of an array; NULLs are left out.
pub(crate) fn from_array(call: &Call) -> Result<ArrayRef> {
    let array = call.cast(0, &LogicalType::Array(Box::new(LogicalType::Int.nullable())))?;
    let array = expand(&array, call.rows)?;
    let list = array.as_list::<i32>();
    let (values, offsets) = (list.values().as_primitive::<Int32Type>(), list.value_offsets());
    build(call, |row| {
        let range = offsets[row] as usize..offsets[row + 1] as usize;
        let present = range.filter(|at| values.is_valid(*at)).map(|at| values.value(at) as u32);
        Ok(list.is_valid(row).then(|| present.collect()))
    })
}

pub(crate) fn of_two_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    signature.check(0, is_bitmap)?;
    signature.check(1, is_bitmap)?;
    signature.strict(LogicalType::Bitmap)
}

/// BITMAP_AND, BITMAP_OR, BITMAP_XOR and BITMAP_ANDNOT.
pub(crate) fn of_two(call: &Call) -> Result<ArrayRef> {
    let (left, right) = (Bitmaps::new(call, 0)?, Bitmaps::new(call, 1)?);
    build(call, |row| {
        let (Some(left), Some(right)) = (left.bitmap(call, row)?, right.bitmap(call, row)?) else { return Ok(None) };
        Ok(Some(match call.name {
            "BITMAP_AND" => left & right,
            "BITMAP_OR" => left | right,
            "BITMAP_XOR" => left ^ right,
            _ => left - right,
        }))
    })
}

fn of_one(signature: &Signature, logical: LogicalType) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.check(0, is_bitmap)?;
    signature.strict(logical)
}

pub(crate) fn cardinality_result(signature: &Signature) -> Result<SqlType> {
    of_one(signature, LogicalType::BigInt)
}

pub(crate) fn cardinality(call: &Call) -> Result<ArrayRef> {
    let bitmaps = Bitmaps::new(call, 0)?;
    call.map_values::<Int64Type>(|row| Ok(bitmaps.bitmap(call, row)?.map(|bitmap| bitmap.len() as i64)))
}

pub(crate) fn from_bytes_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.check(0, is_binary)?;
    signature.strict(LogicalType::Bitmap)
}

/// Reads the portable serialisation; other bytes are an error of the row.
pub(crate) fn from_bytes(call: &Call) -> Result<ArrayRef> {
    let array = expand(&call.cast(0, &LogicalType::BYTES)?, call.rows)?;
    let bytes = array.as_binary::<i32>();
    build(call, |row| {
        let read = |bytes| read(bytes).map_err(|why| call.bad_value(&"BYTES", &why));
        bytes.is_valid(row).then(|| read(bytes.value(row))).transpose()
    })
}

pub(crate) fn to_bytes_result(signature: &Signature) -> Result<SqlType> {
    of_one(signature, LogicalType::BYTES)
}

pub(crate) fn to_bytes(call: &Call) -> Result<ArrayRef> {
    let bitmaps = Bitmaps::new(call, 0)?;
    Ok(Arc::new((0..call.rows).map(|row| bitmaps.get(row)).collect::<BinaryArray>()))
}

pub(crate) fn to_array_result(signature: &Signature) -> Result<SqlType> {
    of_one(signature, LogicalType::Array(Box::new(LogicalType::Int.nullable())))
}

/// The elements in the order of a bitmap: negative numbers come last.
pub(crate) fn to_array(call: &Call) -> Result<ArrayRef> {
    let bitmaps = Bitmaps::new(call, 0)?;
    let mut out = ListBuilder::new(Int32Builder::new()).with_field(LogicalType::Int.nullable().arrow_field("item"));
    for row in 0..call.rows {
        match bitmaps.bitmap(call, row)? {
            None => out.append_null(),
            Some(bitmap) => {
                bitmap.iter().for_each(|value| out.values().append_value(value as i32));
                out.append(true);
            }
        }
    }
    Ok(Arc::new(out.finish()))
}

pub(crate) fn to_string_result(signature: &Signature) -> Result<SqlType> {
    of_one(signature, LogicalType::STRING)
}

pub(crate) fn to_string(call: &Call) -> Result<ArrayRef> {
    let bitmaps = Bitmaps::new(call, 0)?;
    call.write_texts(|row, out| {
        let Some(bytes) = bitmaps.get(row) else { return Ok(false) };
        push_text(out, bytes);
        Ok(true)
    })
}
