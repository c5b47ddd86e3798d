//! Time units, and FLOOR and CEIL of dates and timestamps to a unit.

use crate::call::{Call, Signature};
use crate::cast::print::local;
use crate::scalar::intervals::{add_months, units_per_day};
use arrow::array::*;
use arrow::datatypes::*;
use base::LogicalType::{self, Date, Time, Timestamp, TimestampLtz};
use base::text::{civil_from_days, days_from_civil, local_to_instant_ms};
use base::{Error, Result, SqlType};
use std::sync::Arc;

const DAY_MS: i64 = 86_400_000;

/// A unit of time, longest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Millennium,
    Century,
    Decade,
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

impl Unit {
    /// A unit by its SQL name, also `SQL_TSI_DAY`.
    pub fn parse(name: &str) -> Option<Unit> {
        let name = name.to_ascii_uppercase();
        Some(match name.strip_prefix("SQL_TSI_").unwrap_or(&name) {
            "MILLENNIUM" => Unit::Millennium,
            "CENTURY" => Unit::Century,
            "DECADE" => Unit::Decade,
            "YEAR" | "YEARS" => Unit::Year,
            "QUARTER" | "QUARTERS" => Unit::Quarter,
            "MONTH" | "MONTHS" => Unit::Month,
            "WEEK" | "WEEKS" => Unit::Week,
            "DAY" | "DAYS" => Unit::Day,
            "HOUR" | "HOURS" => Unit::Hour,
            "MINUTE" | "MINUTES" => Unit::Minute,
            "SECOND" | "SECONDS" => Unit::Second,
            "MILLISECOND" | "MILLISECONDS" => Unit::Millisecond,
            "MICROSECOND" | "MICROSECONDS" | "FRAC_SECOND" => Unit::Microsecond,
            "NANOSECOND" | "NANOSECONDS" => Unit::Nanosecond,
            _ => return None,
        })
    }

    /// Its length in months, for units of the calendar.
    pub fn months(self) -> Option<i64> {
        Some(match self {
            Unit::Millennium => 12_000,
            Unit::Century => 1_200,
            Unit::Decade => 120,
            Unit::Year => 12,
            Unit::Quarter => 3,
            Unit::Month => 1,
            _ => return None,
        })
    }

    /// Its length in milliseconds, for the others that are not shorter.
    pub fn ms(self) -> Option<i64> {
        Some(match self {
            Unit::Week => 604_800_000,
            Unit::Day => DAY_MS,
            Unit::Hour => 3_600_000,
            Unit::Minute => 60_000,
            Unit::Second => 1_000,
            Unit::Millisecond => 1,
            _ => return None,
        })
    }
}

pub(crate) fn result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=2)?;
    signature.check(0, |logical| matches!(logical, Date | Time(_) | Timestamp(_) | TimestampLtz(_)))?;
    if signature.constant_text(1).and_then(|name| Unit::parse(&name)).is_none() {
        return Err(signature.error_because("the unit is unknown"));
    }
    Ok(signature.sql_type(0).clone())
}

/// The start of the unit that holds a day.
fn floor_days(days: i64, unit: Unit) -> i64 {
    let (year, month, _) = civil_from_days(days);
    let first = |years: i64| {
        // The first century and millennium start in the year 1.
        let offset = if years >= 100 { 1 } else { 0 };
        days_from_civil((year - offset).div_euclid(years) * years + offset, 1, 1)
    };
    match unit {
        Unit::Millennium => first(1_000),
        Unit::Century => first(100),
        Unit::Decade => first(10),
        Unit::Year => first(1),
        Unit::Quarter => days_from_civil(year, (month - 1) / 3 * 3 + 1, 1),
        Unit::Month => days_from_civil(year, month, 1),
        // Weeks start on Sunday.
        Unit::Week => days - (days + 4).rem_euclid(7),
        _ => days,
    }
}

/// Rounds a wall-clock value of which `per_day` make a day.
fn round(value: i64, per_day: i64, unit: Unit, up: bool) -> i64 {
    let is_date_unit = unit.months().is_some() || matches!(unit, Unit::Week | Unit::Day);
    if !is_date_unit {
        let Some(ms) = unit.ms() else { return value };
        // A unit shorter than the stored one changes nothing.
        let step = (i128::from(ms) * i128::from(per_day) / i128::from(DAY_MS)) as i64;
        if step <= 1 {
            return value;
        }
        let floor = value.div_euclid(step).wrapping_mul(step);
        return if up && floor != value { floor.wrapping_add(step) } else { floor };
    }
    let start = floor_days(value.div_euclid(per_day), unit);
    if !up || start.wrapping_mul(per_day) == value {
        return start.wrapping_mul(per_day);
    }
    let next = match (unit.months(), unit) {
        (Some(months), _) => add_months(start, months),
        (None, Unit::Week) => start + 7,
        (None, _) => start + 1,
    };
    next.wrapping_mul(per_day)
}

/// `FLOOR(x, 'UNIT')` and `CEIL(x, 'UNIT')`.
pub(crate) fn evaluate(call: &Call) -> Result<ArrayRef> {
    let name = call.constant_text(1).unwrap_or_default();
    let unit = Unit::parse(name).ok_or_else(|| call.bad_value(&name, &"the unit is unknown"))?;
    let up = call.name != "FLOOR";
    let array = call.full(0)?;
    let per_day = units_per_day(array.data_type());
    let zone = matches!(call.types[0].logical, LogicalType::TimestampLtz(_)).then_some(call.context.time_zone);
    macro_rules! rounded {
        ($type:ty, $unit:expr) => {{
            let array = array.as_primitive::<$type>();
            let per_ms = (per_day / DAY_MS).max(1);
            let out: PrimitiveArray<$type> = array.unary(|value| {
                let value = round(local(value, $unit, zone), per_day, unit, up);
                let Some(zone) = zone else { return value };
                let ms = value.div_euclid(per_ms);
                value + (local_to_instant_ms(zone, ms) - ms) * per_ms
            });
            Ok(Arc::new(out.with_data_type(array.data_type().clone())))
        }};
    }
    match array.data_type() {
        DataType::Null => Ok(call.nulls()),
        DataType::Date32 => Ok(Arc::new(
            array
                .as_primitive::<Date32Type>()
                .unary::<_, Date32Type>(|days| round(i64::from(days), 1, unit, up) as i32),
        )),
        // After the last moment of a day comes its midnight.
        DataType::Time32(_) => {
            Ok(Arc::new(array.as_primitive::<Time32MillisecondType>().unary::<_, Time32MillisecondType>(|ms| {
                (round(i64::from(ms), DAY_MS, unit, up).rem_euclid(DAY_MS)) as i32
            })))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => rounded!(TimestampMicrosecondType, TimeUnit::Microsecond),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => rounded!(TimestampNanosecondType, TimeUnit::Nanosecond),
        DataType::Timestamp(TimeUnit::Millisecond, _) => rounded!(TimestampMillisecondType, TimeUnit::Millisecond),
        other => Err(Error::internal(format!("{other} cannot be rounded to a time unit"))),
    }
}
