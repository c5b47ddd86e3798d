//! EXTRACT and its short forms: YEAR, MONTH, DAYOFWEEK, HOUR and so on.

use super::rounding::Unit;
use crate::call::{Call, Signature, Values};
use crate::scalar::intervals::{local_ms, stored};
use arrow::array::*;
use arrow::datatypes::*;
use base::LogicalType::{self, BigInt, Date, IntervalDayTime, IntervalYearMonth, Time, Timestamp, TimestampLtz};
use base::text::{civil_from_days, days_from_civil, units_per_second};
use base::{Result, SqlType};

const DAY_MS: i64 = 86_400_000;

/// Something that can be extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Unit(Unit),
    DayOfYear,
    DayOfWeek,
    IsoDayOfWeek,
    IsoYear,
    Epoch,
}

fn field(name: &str) -> Option<Field> {
    Some(match name.to_ascii_uppercase().as_str() {
        "DOY" | "DAYOFYEAR" => Field::DayOfYear,
        "DOW" | "DAYOFWEEK" => Field::DayOfWeek,
        "ISODOW" => Field::IsoDayOfWeek,
        "ISOYEAR" => Field::IsoYear,
        "EPOCH" => Field::Epoch,
        "DAYOFMONTH" => Field::Unit(Unit::Day),
        other => Field::Unit(Unit::parse(other)?),
    })
}

fn is_source(logical: &LogicalType) -> bool {
    matches!(logical, Date | Time(_) | Timestamp(_) | TimestampLtz(_) | IntervalDayTime | IntervalYearMonth)
}

pub(crate) fn extract_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    let known = signature.constant_text(0).is_some_and(|name| field(&name).is_some());
    if !known {
        return Err(signature.error_because("the unit is unknown"));
    }
    signature.check(1, is_source)?;
    Ok(BigInt.nullable().with_nullable(signature.sql_type(1).nullable))
}

pub(crate) fn short_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.check(0, is_source)?;
    signature.strict(BigInt)
}

/// ISO year and week of a day.
fn iso_week(days: i64) -> (i64, i64) {
    // The Thursday of a week decides about its year.
    let thursday = days + 3 - (days + 3).rem_euclid(7);
    let (year, _, _) = civil_from_days(thursday);
    (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
}

/// `EXTRACT('UNIT', x)` or `UNIT(x)`.
pub(crate) fn extract(call: &Call) -> Result<ArrayRef> {
    let (name, source) =
        if call.name == "EXTRACT" { (call.constant_text(0).unwrap_or_default(), 1) } else { (call.name, 0) };
    let field = field(name).ok_or_else(|| call.bad_value(&name, &"the unit is unknown"))?;
    match &call.types[source].logical {
        IntervalYearMonth | IntervalDayTime => return of_interval(call, source, field),
        _ => {}
    }
    let of_day = matches!(
        field,
        Field::Unit(
            Unit::Hour | Unit::Minute | Unit::Second | Unit::Millisecond | Unit::Microsecond | Unit::Nanosecond
        )
    );
    if matches!(call.types[source].logical, Time(_)) && !of_day {
        return Err(call.bad_value(&call.types[source], &"a time of day has no date"));
    }
    if let Field::Unit(unit @ (Unit::Microsecond | Unit::Nanosecond)) = field {
        return below_millisecond(call, source, unit);
    }
    let values = local_ms(call, source)?;
    let of = |ms: i64| -> i64 {
        let (days, of_day) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
        let year_month = || civil_from_days(days);
        match field {
            Field::Unit(unit) => match unit {
                Unit::Millennium => (year_month().0 + 999).div_euclid(1_000),
                Unit::Century => (year_month().0 + 99).div_euclid(100),
                Unit::Decade => year_month().0.div_euclid(10),
                Unit::Year => year_month().0,
                Unit::Quarter => i64::from((year_month().1 - 1) / 3 + 1),
                Unit::Month => i64::from(year_month().1),
                Unit::Week => iso_week(days).1,
                Unit::Day => i64::from(year_month().2),
                Unit::Hour => of_day / 3_600_000,
                Unit::Minute => of_day / 60_000 % 60,
                Unit::Second => of_day / 1_000 % 60,
                Unit::Millisecond | Unit::Microsecond | Unit::Nanosecond => of_day % 1_000,
            },
            Field::DayOfYear => days - days_from_civil(year_month().0, 1, 1) + 1,
            Field::DayOfWeek => (days + 4).rem_euclid(7) + 1,
            Field::IsoDayOfWeek => (days + 3).rem_euclid(7) + 1,
            Field::IsoYear => iso_week(days).0,
            Field::Epoch => ms.div_euclid(1_000),
        }
    };
    Ok(std::sync::Arc::new(values.unary::<_, Int64Type>(of)))
}

/// Microseconds or nanoseconds of the second.
fn below_millisecond(call: &Call, source: usize, unit: Unit) -> Result<ArrayRef> {
    let array = call.full(source)?;
    let digits = if unit == Unit::Microsecond { 1_000_000 } else { 1_000_000_000 };
    macro_rules! of {
        ($type:ty, $per_second:expr) => {{
            let per_second: i64 = $per_second;
            array.as_primitive::<$type>().unary::<_, Int64Type>(|value| {
                (i128::from(i64::from(value).rem_euclid(per_second)) * digits / i128::from(per_second)) as i64
            })
        }};
    }
    Ok(std::sync::Arc::new(match array.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            of!(TimestampMicrosecondType, units_per_second(TimeUnit::Microsecond))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            of!(TimestampNanosecondType, units_per_second(TimeUnit::Nanosecond))
        }
        DataType::Timestamp(..) => of!(TimestampMillisecondType, 1_000),
        DataType::Time32(_) => of!(Time32MillisecondType, 1_000),
        DataType::Date32 => array.as_primitive::<Date32Type>().unary::<_, Int64Type>(|_| 0),
        _ => Int64Array::new_null(array.len()),
    }))
}

fn of_interval(call: &Call, source: usize, field: Field) -> Result<ArrayRef> {
    let refused = || call.bad_value(&call.types[source], &"an interval does not have this field");
    if call.types[source].logical == IntervalYearMonth {
        let months = Values::of(stored(&call.arguments[source])?, call.rows);
        return call.map_values::<Int64Type>(|row| {
            let Some(months) = months.get(row) else { return Ok(None) };
            Ok(Some(match field {
                Field::Unit(Unit::Year) => months / 12,
                Field::Unit(Unit::Month) => months % 12,
                _ => return Err(refused()),
            }))
        });
    }
    let ms = Values::of(stored(&call.arguments[source])?, call.rows);
    call.map_values::<Int64Type>(|row| {
        let Some(ms) = ms.get(row) else { return Ok(None) };
        Ok(Some(match field {
            Field::Unit(Unit::Day) => ms / DAY_MS,
            Field::Unit(Unit::Hour) => ms / 3_600_000 % 24,
            Field::Unit(Unit::Minute) => ms / 60_000 % 60,
            Field::Unit(Unit::Second) => ms / 1_000 % 60,
            Field::Unit(Unit::Millisecond) => ms % 1_000,
            Field::Epoch => ms / 1_000,
            _ => return Err(refused()),
        }))
    })
}
