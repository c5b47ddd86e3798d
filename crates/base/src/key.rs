//! Where a key lives: a hash of key columns, and key groups.
//!
//! Keys are spread over [`KEY_GROUPS`] groups, and groups over the instances of an operator, so that a job can be restored
//! at another parallelism. The hash is part of the state format: it never changes within [`HASH_VERSION`].

use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::*;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The number of key groups: the most instances that an operator can have.
pub const KEY_GROUPS: usize = 128;
/// The version of [`hash_columns`], written into every checkpoint.
pub const HASH_VERSION: u32 = 1;

const NULL_HASH: u64 = 0x9ae1_6a3b_2f90_404f;

/// The key group of a hash.
pub fn key_group(hash: u64) -> u16 {
    // The upper bits: tables use the lower ones.
    (hash >> 57) as u16
}

/// The instance out of `parallelism` that owns a key group.
///
/// Same rule as Flink's: contiguous ranges, so that a rescale moves as few groups as possible.
pub fn instance_of_group(group: u16, parallelism: usize) -> usize {
    group as usize * parallelism / KEY_GROUPS
}

/// The key groups of one instance.
pub fn groups_of_instance(instance: usize, parallelism: usize) -> Range<u16> {
    let start = (instance * KEY_GROUPS).div_ceil(parallelism);
    let end = ((instance + 1) * KEY_GROUPS).div_ceil(parallelism);
    start as u16..end as u16
}

/// One hash per row over the given columns; no column gives the same hash for every row.
///
/// Equal values of one type hash alike whatever the array's layout. NULL is a value of its own.
pub fn hash_columns(columns: &[ArrayRef], rows: usize) -> Result<Vec<u64>> {
    let mut hashes = vec![0u64; rows];
    for column in columns {
        hash_column(column, &mut hashes)?;
    }
    // The first multiplication leaves the upper bits of small integers weak.
    for hash in &mut hashes {
        *hash = mix(*hash ^ (*hash >> 32));
    }
    Ok(hashes)
}

fn mix(value: u64) -> u64 {
    // The finaliser of splitmix64.
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn combine(hash: u64, value: u64) -> u64 {
    mix(hash.rotate_left(5) ^ value.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

fn hash_column(column: &ArrayRef, hashes: &mut [u64]) -> Result<()> {
    macro_rules! primitive {
        ($type:ty, $to:expr) => {{
            let array = column.as_primitive::<$type>();
            let to = $to;
            each(array, hashes, |row| to(array.value(row)))
        }};
    }
    match column.data_type() {
        DataType::Null => hashes.iter_mut().for_each(|hash| *hash = combine(*hash, NULL_HASH)),
        DataType::Boolean => {
            let array = column.as_boolean();
            each(array, hashes, |row| u64::from(array.value(row)))
        }
        DataType::Int8 => primitive!(Int8Type, |v: i8| v as i64 as u64),
        DataType::Int16 => primitive!(Int16Type, |v: i16| v as i64 as u64),
        DataType::Int32 => primitive!(Int32Type, |v: i32| v as i64 as u64),
        DataType::Int64 => primitive!(Int64Type, |v: i64| v as u64),
        DataType::Float32 => primitive!(Float32Type, |v: f32| if v == 0.0 { 0 } else { u64::from(v.to_bits()) }),
        DataType::Float64 => primitive!(Float64Type, |v: f64| if v == 0.0 { 0 } else { v.to_bits() }),
        DataType::Date32 => primitive!(Date32Type, |v: i32| v as i64 as u64),
        DataType::Time32(TimeUnit::Millisecond) => primitive!(Time32MillisecondType, |v: i32| v as i64 as u64),
        DataType::Timestamp(TimeUnit::Millisecond, _) => primitive!(TimestampMillisecondType, |v: i64| v as u64),
        DataType::Timestamp(TimeUnit::Microsecond, _) => primitive!(TimestampMicrosecondType, |v: i64| v as u64),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => primitive!(TimestampNanosecondType, |v: i64| v as u64),
        DataType::Duration(TimeUnit::Millisecond) => primitive!(DurationMillisecondType, |v: i64| v as u64),
        DataType::Interval(IntervalUnit::YearMonth) => primitive!(IntervalYearMonthType, |v: i32| v as i64 as u64),
        DataType::Decimal128(..) => {
            primitive!(Decimal128Type, |v: i128| combine(v as u64, (v >> 64) as u64))
        }
        DataType::Utf8 => {
            let array = column.as_string::<i32>();
            each(array, hashes, |row| xxh3_64(array.value(row).as_bytes()))
        }
        DataType::Binary => {
            let array = column.as_binary::<i32>();
            each(array, hashes, |row| xxh3_64(array.value(row)))
        }
        DataType::LargeUtf8 => {
            let array = column.as_string::<i64>();
            each(array, hashes, |row| xxh3_64(array.value(row).as_bytes()))
        }
        DataType::LargeBinary => {
            let array = column.as_binary::<i64>();
            each(array, hashes, |row| xxh3_64(array.value(row)))
        }
        DataType::Struct(_) => {
            let array = column.as_struct();
            let mut inner = vec![0u64; array.len()];
            for child in array.columns() {
                hash_column(child, &mut inner)?;
            }
            each(array, hashes, |row| inner[row])
        }
        DataType::List(_) => {
            let array = column.as_list::<i32>();
            let ranges = array.value_offsets();
            hash_ranges(array, array.values(), ranges, hashes)?;
        }
        DataType::Map(..) => {
            // Entries of equal maps can be ordered differently: their hashes are added up.
            let array = column.as_map();
            let mut inner = vec![0u64; array.entries().len()];
            for child in array.entries().columns() {
                hash_column(child, &mut inner)?;
            }
            let ranges = array.value_offsets();
            each(array, hashes, |row| {
                inner[ranges[row] as usize..ranges[row + 1] as usize].iter().fold(0u64, |a, b| a.wrapping_add(*b))
            })
        }
        other => return Err(Error::internal(format!("no hash for Arrow type {other}"))),
    }
    Ok(())
}

fn each(array: &dyn Array, hashes: &mut [u64], value: impl Fn(usize) -> u64) {
    if array.null_count() == 0 {
        for (row, hash) in hashes.iter_mut().enumerate() {
            *hash = combine(*hash, value(row));
        }
    } else {
        for (row, hash) in hashes.iter_mut().enumerate() {
            *hash = combine(*hash, if array.is_null(row) { NULL_HASH } else { value(row) });
        }
    }
}

fn hash_ranges(array: &dyn Array, values: &ArrayRef, ranges: &[i32], hashes: &mut [u64]) -> Result<()> {
    let mut inner = vec![0u64; values.len()];
    hash_column(values, &mut inner)?;
    each(array, hashes, |row| {
        inner[ranges[row] as usize..ranges[row + 1] as usize].iter().fold(1u64, |a, b| combine(a, *b))
    });
    Ok(())
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
