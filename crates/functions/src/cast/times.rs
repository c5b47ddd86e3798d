//! Casts to dates, times, timestamps and intervals. Precision is cut, never rounded; instants use the session's zone.

use super::{Cast, parse};
use arrow::array::*;
use arrow::datatypes::*;
use base::LogicalType::{self, BigInt, Date, IntervalDayTime, IntervalYearMonth, Time, Timestamp, TimestampLtz};
use base::text::{local_to_instant_ms, units_per_second, zone_offset_ms};
use base::{Error, Result};
use std::sync::Arc;

const DAY_MS: i64 = 86_400_000;

pub(super) fn to_time(cast: &Cast, array: &ArrayRef) -> Result<ArrayRef> {
    if cast.from.logical.is_string() {
        return from_text(cast, array);
    }
    match (&cast.from.logical, &cast.to.logical) {
        (Timestamp(_) | TimestampLtz(_) | Date | Time(_), Timestamp(precision) | TimestampLtz(precision)) => {
            to_timestamp(cast, array, *precision)
        }
        (Timestamp(_) | TimestampLtz(_), Date) => {
            let local = local_ms(cast, array)?;
            Ok(Arc::new(local.unary::<_, Date32Type>(|ms| ms.div_euclid(DAY_MS) as i32)))
        }
        (Timestamp(_) | TimestampLtz(_), Time(precision)) => {
            let step = time_step(*precision);
            let local = local_ms(cast, array)?;
            Ok(Arc::new(local.unary::<_, Time32MillisecondType>(|ms| {
                let ms = ms.rem_euclid(DAY_MS) as i32;
                ms - ms % step
            })))
        }
        (Time(_), Time(precision)) => {
            let step = time_step(*precision);
            let times = array.as_primitive::<Time32MillisecondType>();
            Ok(Arc::new(times.unary::<_, Time32MillisecondType>(|ms| ms - ms % step)))
        }
        (from, IntervalYearMonth) if from.is_integer() => {
            let months = integers(cast, array)?;
            Ok(Arc::new(months.unary::<_, IntervalYearMonthType>(|months| months as i32)))
        }
        (from, IntervalDayTime) if from.is_integer() => {
            let ms = integers(cast, array)?;
            Ok(Arc::new(ms.unary::<_, DurationMillisecondType>(|ms| ms)))
        }
        _ => Err(Error::internal(format!("no cast from {} to {}", cast.from, cast.to))),
    }
}

fn time_step(precision: u8) -> i32 {
    10i32.pow(3u32.saturating_sub(u32::from(precision)))
}

fn integers(cast: &Cast, array: &ArrayRef) -> Result<Int64Array> {
    let longs = super::cast(array, cast.from, &BigInt.nullable(), false, cast.context)?;
    Ok(longs.as_primitive::<Int64Type>().clone())
}

/// Wall-clock milliseconds of timestamps and instants, rounded down.
fn local_ms(cast: &Cast, array: &ArrayRef) -> Result<Int64Array> {
    let ms = base::time::epoch_ms(array)?;
    Ok(match cast.from.logical {
        TimestampLtz(_) => {
            let zone = cast.context.time_zone;
            ms.unary(|ms| ms + zone_offset_ms(zone, ms))
        }
        _ => ms,
    })
}

/// Values and unit of a timestamp column; dates are their midnight, times are on 1970-01-01.
fn timestamp_values(array: &ArrayRef) -> Result<(Int64Array, TimeUnit)> {
    macro_rules! longs {
        ($type:ty) => {{
            let array = array.as_primitive::<$type>();
            Int64Array::new(array.values().clone(), array.nulls().cloned())
        }};
    }
    Ok(match array.data_type() {
        DataType::Timestamp(TimeUnit::Millisecond, _) => (longs!(TimestampMillisecondType), TimeUnit::Millisecond),
        DataType::Timestamp(TimeUnit::Microsecond, _) => (longs!(TimestampMicrosecondType), TimeUnit::Microsecond),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => (longs!(TimestampNanosecondType), TimeUnit::Nanosecond),
        DataType::Date32 => {
            (array.as_primitive::<Date32Type>().unary(|days| i64::from(days) * DAY_MS), TimeUnit::Millisecond)
        }
        DataType::Time32(_) => (array.as_primitive::<Time32MillisecondType>().unary(i64::from), TimeUnit::Millisecond),
        other => return Err(Error::internal(format!("{other} is not a timestamp"))),
    })
}

fn to_timestamp(cast: &Cast, array: &ArrayRef, precision: u8) -> Result<ArrayRef> {
    let (values, unit) = timestamp_values(array)?;
    let (from_instant, to_instant) =
        (matches!(cast.from.logical, TimestampLtz(_)), matches!(cast.to.logical, TimestampLtz(_)));
    let zone = cast.context.time_zone;
    let per_ms = units_per_second(unit) / 1_000;
    // Only whole milliseconds depend on the zone.
    let shift = |value: i64, ms: fn(chrono_tz::Tz, i64) -> i64| {
        let whole = value.div_euclid(per_ms);
        ms(zone, whole).saturating_sub(whole).saturating_mul(per_ms).saturating_add(value)
    };
    let values: Int64Array = match (from_instant, to_instant) {
        (true, false) => values.unary(|value| shift(value, |zone, ms| ms.saturating_add(zone_offset_ms(zone, ms)))),
        (false, true) => values.unary(|value| shift(value, local_to_instant_ms)),
        _ => values,
    };
    let target = LogicalType::timestamp_unit(precision);
    let (from_rate, to_rate) = (units_per_second(unit), units_per_second(target));
    let step = 10i64.pow(9 - u32::from(precision.min(9))) / (1_000_000_000 / to_rate).max(1);
    let step = step.max(1);
    let values: Int64Array = values.unary_opt(|value| {
        let scaled = if to_rate >= from_rate {
            value.checked_mul(to_rate / from_rate)?
        } else {
            value.div_euclid(from_rate / to_rate)
        };
        scaled.checked_sub(scaled.rem_euclid(step))
    });
    Ok(with_timestamp_type(values, &cast.to.arrow()))
}

/// A timestamp column from its values.
pub(crate) fn with_timestamp_type(values: Int64Array, data_type: &DataType) -> ArrayRef {
    macro_rules! make {
        ($type:ty) => {
            Arc::new(
                PrimitiveArray::<$type>::new(values.values().clone(), values.nulls().cloned())
                    .with_data_type(data_type.clone()),
            )
        };
    }
    match data_type {
        DataType::Timestamp(TimeUnit::Microsecond, _) => make!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => make!(TimestampNanosecondType),
        _ => make!(TimestampMillisecondType),
    }
}

fn from_text(cast: &Cast, array: &ArrayRef) -> Result<ArrayRef> {
    match &cast.to.logical {
        Date => {
            let mut out = Date32Builder::with_capacity(array.len());
            cast.parse_texts(array, parse::date, |value| out.append_option(value))?;
            Ok(Arc::new(out.finish()))
        }
        Time(precision) => {
            let step = time_step(*precision);
            let mut out = Time32MillisecondBuilder::with_capacity(array.len());
            cast.parse_texts(
                array,
                |text| parse::time(text).map(|ms| ms - ms % step),
                |value| out.append_option(value),
            )?;
            Ok(Arc::new(out.finish()))
        }
        Timestamp(precision) | TimestampLtz(precision) => {
            let zone = matches!(cast.to.logical, TimestampLtz(_)).then_some(cast.context.time_zone);
            let per_second = units_per_second(LogicalType::timestamp_unit(*precision));
            let mut out = Int64Builder::with_capacity(array.len());
            let parse = |text: &str| {
                let reading = parse::timestamp(text, false)?;
                let value = parse::reading_to_units(reading, *precision, per_second).ok_or("it is out of range")?;
                let Some(zone) = zone else { return Ok(value) };
                let per_ms = per_second / 1_000;
                let ms = value.div_euclid(per_ms);
                Ok((local_to_instant_ms(zone, ms) - ms) * per_ms + value)
            };
            cast.parse_texts(array, parse, |value| out.append_option(value))?;
            Ok(with_timestamp_type(out.finish(), &cast.to.arrow()))
        }
        other => Err(Error::internal(format!("no cast from text to {other}"))),
    }
}
