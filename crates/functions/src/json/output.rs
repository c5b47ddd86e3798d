//! Values of any SQL type as JSON text.

use super::value::push_quoted;
use arrow::array::*;
use arrow::datatypes::*;
use base::text::{self, Fraction};
use base::{Error, LogicalType, Result, SqlType};
use base64::Engine;
use chrono_tz::Tz;

/// Appends the value of one row.
pub(super) fn push_json(out: &mut String, array: &dyn Array, sql_type: &SqlType, row: usize, zone: Tz) -> Result<()> {
    use LogicalType as L;
    if array.is_null(row) || sql_type.logical == L::Null {
        out.push_str("null");
        return Ok(());
    }
    match &sql_type.logical {
        L::Boolean => out.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
        L::TinyInt => text::push_integer(out, array.as_primitive::<Int8Type>().value(row).into()),
        L::SmallInt => text::push_integer(out, array.as_primitive::<Int16Type>().value(row).into()),
        L::Int => text::push_integer(out, array.as_primitive::<Int32Type>().value(row).into()),
        L::BigInt => text::push_integer(out, array.as_primitive::<Int64Type>().value(row)),
        L::Float => text::push_float(out, array.as_primitive::<Float32Type>().value(row)),
        L::Double => text::push_double(out, array.as_primitive::<Float64Type>().value(row)),
        L::Decimal { scale, .. } => text::push_decimal(out, array.as_primitive::<Decimal128Type>().value(row), *scale),
        L::Char(_) | L::VarChar(_) => push_quoted(out, array.as_string::<i32>().value(row)),
        L::Binary(_) | L::VarBinary(_) => {
            let bytes = array.as_binary::<i32>().value(row);
            push_quoted(out, &base64::engine::general_purpose::STANDARD.encode(bytes));
        }
        L::Date | L::Time(_) | L::Timestamp(_) | L::TimestampLtz(_) => {
            let mut value = String::new();
            push_time(&mut value, array, &sql_type.logical, row)?;
            push_quoted(out, &value);
        }
        L::IntervalDayTime | L::IntervalYearMonth => {
            let one = crate::cast::print::Printer::new(array, sql_type, zone)?;
            let mut value = String::new();
            one.write(&mut value, row);
            push_quoted(out, &value);
        }
        L::Array(element) => {
            let values = array.as_list::<i32>().value(row);
            out.push('[');
            for at in 0..values.len() {
                separate(out, at);
                push_json(out, values.as_ref(), element, at, zone)?;
            }
            out.push(']');
        }
        L::Map(key, value) => push_map(out, array, [key, value], row, zone)?,
        L::Multiset(element) => push_map(out, array, [element, &L::Int.not_null()], row, zone)?,
        L::Row(fields) => {
            let columns = array.as_struct().columns();
            out.push('{');
            for (index, ((name, field), column)) in fields.iter().zip(columns).enumerate() {
                separate(out, index);
                push_quoted(out, name);
                out.push(':');
                push_json(out, column.as_ref(), field, row, zone)?;
            }
            out.push('}');
        }
        L::Null => {}
    }
    Ok(())
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push(',');
    }
}

fn push_time(out: &mut String, array: &dyn Array, logical: &LogicalType, row: usize) -> Result<()> {
    match logical {
        LogicalType::Date => text::push_date(out, array.as_primitive::<Date32Type>().value(row)),
        LogicalType::Time(precision) => {
            text::push_time(out, array.as_primitive::<Time32MillisecondType>().value(row), *precision)
        }
        _ => {
            let (value, unit) = match array.data_type() {
                DataType::Timestamp(unit @ TimeUnit::Millisecond, _) => {
                    (array.as_primitive::<TimestampMillisecondType>().value(row), *unit)
                }
                DataType::Timestamp(unit @ TimeUnit::Microsecond, _) => {
                    (array.as_primitive::<TimestampMicrosecondType>().value(row), *unit)
                }
                DataType::Timestamp(unit @ TimeUnit::Nanosecond, _) => {
                    (array.as_primitive::<TimestampNanosecondType>().value(row), *unit)
                }
                other => return Err(Error::internal(format!("{other} is not a timestamp"))),
            };
            text::push_timestamp(out, value, unit, 'T', Fraction::Trimmed);
            if matches!(logical, LogicalType::TimestampLtz(_)) {
                out.push('Z');
            }
        }
    }
    Ok(())
}

fn push_map(out: &mut String, array: &dyn Array, [key, value]: [&SqlType; 2], row: usize, zone: Tz) -> Result<()> {
    if !key.logical.is_string() {
        return Err(Error::unsupported("JSON of a MAP whose keys are not strings"));
    }
    let map = array.as_map();
    let offsets = map.value_offsets();
    out.push('{');
    for (index, at) in (offsets[row] as usize..offsets[row + 1] as usize).enumerate() {
        separate(out, index);
        push_quoted(out, map.keys().as_string::<i32>().value(at));
        out.push(':');
        push_json(out, map.values().as_ref(), value, at, zone)?;
    }
    out.push('}');
    Ok(())
}
