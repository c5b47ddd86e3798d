//! TIMESTAMPADD and TIMESTAMPDIFF.

use super::rounding::Unit;
use crate::call::{Call, Signature};
use crate::scalar::intervals::{Shifts, add_months_to_units, local_ms, shift_by};
use arrow::array::*;
use arrow::datatypes::*;
use base::LogicalType::{self, Date, Int, Time, Timestamp, TimestampLtz};
use base::{Result, SqlType};

const DAY_MS: i64 = 86_400_000;

fn unit(signature: &Signature) -> Result<Unit> {
    let unit = signature.constant_text(0).and_then(|name| Unit::parse(&name));
    unit.ok_or_else(|| signature.error_because("the unit is unknown"))
}

fn is_point(logical: &LogicalType) -> bool {
    matches!(logical, Date | Timestamp(_) | TimestampLtz(_))
}

pub(crate) fn add_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(3..=3)?;
    let unit = unit(signature)?;
    signature.integer(1)?;
    signature.check(2, |logical| is_point(logical) || matches!(logical, Time(_)))?;
    let below_day = unit.ms().is_none_or(|ms| ms < DAY_MS) && unit.months().is_none();
    let logical = match signature.logical(2) {
        // A date with an hour added has a time of day.
        Date if below_day => Timestamp(6),
        Timestamp(p) if unit == Unit::Millisecond => Timestamp(*p.max(&3)),
        TimestampLtz(p) if unit == Unit::Millisecond => TimestampLtz(*p.max(&3)),
        other => other.clone(),
    };
    signature.strict(logical)
}

/// `TIMESTAMPADD('UNIT', count, x)`.
pub(crate) fn add(call: &Call) -> Result<ArrayRef> {
    let name = call.constant_text(0).unwrap_or_default();
    let unit = Unit::parse(name).ok_or_else(|| call.bad_value(&name, &"the unit is unknown"))?;
    let counts = call.longs(1)?;
    let points = crate::call::expand(&call.cast(2, &call.result.logical)?, call.rows)?;
    let shift = |count: i64| -> Result<(i64, i64)> {
        match (unit.months(), unit.ms()) {
            (Some(months), _) => Ok((count.wrapping_mul(months), 0)),
            (None, Some(ms)) => Ok((0, count.wrapping_mul(ms))),
            (None, None) => Err(base::Error::unsupported("TIMESTAMPADD of units below a millisecond")),
        }
    };
    let shifts = (0..call.rows).map(|row| counts.get(row).map(shift).transpose()).collect::<Result<_>>()?;
    shift_by(&points, &Shifts::Each(shifts))
}

pub(crate) fn difference_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(3..=3)?;
    unit(signature)?;
    let times = [1, 2].iter().filter(|index| matches!(signature.logical(**index), Time(_))).count();
    let instants = [1, 2].iter().filter(|index| matches!(signature.logical(**index), TimestampLtz(_))).count();
    if times == 1 || instants == 1 && !signature.types().iter().any(|t| t.logical == LogicalType::Null) {
        return Err(signature.error_because("both are times of day, both are TIMESTAMP_LTZ, or none of them"));
    }
    signature.check(1, |logical| is_point(logical) || matches!(logical, Time(_)))?;
    signature.check(2, |logical| is_point(logical) || matches!(logical, Time(_)))?;
    signature.strict(Int)
}

/// Whole months from one reading to another, towards zero.
fn months_between(from: i64, to: i64) -> i64 {
    let months = |ms: i64| {
        let (year, month, _) = base::text::civil_from_days(ms.div_euclid(DAY_MS));
        year * 12 + i64::from(month)
    };
    let mut difference = months(to) - months(from);
    let moved = add_months_to_units(from, difference, DAY_MS);
    if difference > 0 && moved > to {
        difference -= 1;
    } else if difference < 0 && moved < to {
        difference += 1;
    }
    difference
}

/// `TIMESTAMPDIFF('UNIT', from, to)`: whole units, towards zero.
pub(crate) fn difference(call: &Call) -> Result<ArrayRef> {
    let name = call.constant_text(0).unwrap_or_default();
    let unit = Unit::parse(name).ok_or_else(|| call.bad_value(&name, &"the unit is unknown"))?;
    // Instants are apart what a clock that is never changed shows.
    let instants = unit.months().is_none() && matches!(call.types[1].logical, TimestampLtz(_));
    let read = |index: usize| match instants && matches!(call.types[index].logical, TimestampLtz(_)) {
        true => base::time::epoch_ms(&call.full(index)?),
        false => local_ms(call, index),
    };
    let (from, to) = (read(1)?, read(2)?);
    call.map_values::<Int32Type>(|row| {
        if from.is_null(row) || to.is_null(row) {
            return Ok(None);
        }
        let (from, to) = (from.value(row), to.value(row));
        Ok(Some(match (unit.months(), unit.ms()) {
            (Some(months), _) => (months_between(from, to) / months) as i32,
            (None, Some(ms)) => (to.wrapping_sub(from) / ms) as i32,
            (None, None) => {
                let factor = if unit == Unit::Microsecond { 1_000 } else { 1_000_000 };
                to.wrapping_sub(from).wrapping_mul(factor) as i32
            }
        }))
    })
}
