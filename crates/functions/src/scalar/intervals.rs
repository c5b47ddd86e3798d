//! Dates, times, timestamps and intervals in `+ - *`.
//!
//! An interval reaches a function as months, as milliseconds, or (a literal) as months, days and nanoseconds.

use super::arithmetic::Operator;
use crate::call::{Call, union_nulls};
use crate::cast::print::local;
use arrow::array::*;
use arrow::datatypes::*;
use base::LogicalType::{self, Date, IntervalDayTime, IntervalYearMonth, Time, Timestamp, TimestampLtz};
use base::text::{civil_from_days, days_from_civil, days_of_month, units_per_second};
use base::{Error, Result};
use std::sync::Arc;

const DAY_MS: i64 = 86_400_000;
/// The most months that can be added: more than any timestamp spans, little enough to count days with.
const MONTHS_MAX: i64 = 12_000_000;

fn is_interval(logical: &LogicalType) -> bool {
    matches!(logical, IntervalYearMonth | IntervalDayTime)
}

fn is_point(logical: &LogicalType) -> bool {
    matches!(logical, Date | Time(_) | Timestamp(_) | TimestampLtz(_))
}

/// The result type of an operation in which not both sides are numbers.
pub(super) fn result_type(operator: Operator, left: &LogicalType, right: &LogicalType) -> Option<LogicalType> {
    use Operator::{Add, Divide, Multiply, Subtract};
    match (operator, left, right) {
        (Add | Subtract, point, interval) if is_point(point) && is_interval(interval) => Some(point.clone()),
        (Add, interval, point) if is_point(point) && is_interval(interval) => Some(point.clone()),
        (Add | Subtract, a, b) if is_interval(a) && a == b => Some(a.clone()),
        (Subtract, Date | Timestamp(_) | TimestampLtz(_), Date | Timestamp(_) | TimestampLtz(_)) => {
            Some(IntervalDayTime)
        }
        (Subtract, Time(_), Time(_)) => Some(IntervalDayTime),
        (Multiply, interval, number) | (Multiply, number, interval) if is_interval(interval) && number.is_integer() => {
            Some(interval.clone())
        }
        (Divide, interval, number) if is_interval(interval) && number.is_integer() => Some(interval.clone()),
        _ => None,
    }
}

/// Months, milliseconds and the nanoseconds below them.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    months: i64,
    ms: i64,
}

/// An interval argument, constant or one per row.
struct Spans {
    array: ArrayRef,
    constant: bool,
}

impl Spans {
    fn new(call: &Call, index: usize) -> Spans {
        let array = call.arguments[index].clone();
        Spans { constant: array.len() == 1 && call.rows != 1, array }
    }

    fn get(&self, row: usize) -> Result<Option<Span>> {
        let row = if self.constant { 0 } else { row };
        if self.array.is_null(row) {
            return Ok(None);
        }
        Ok(Some(match self.array.data_type() {
            DataType::Duration(TimeUnit::Millisecond) => {
                Span { months: 0, ms: self.array.as_primitive::<DurationMillisecondType>().value(row) }
            }
            DataType::Interval(IntervalUnit::YearMonth) => {
                let months = self.array.as_primitive::<IntervalYearMonthType>().value(row);
                Span { months: i64::from(months), ms: 0 }
            }
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                let value = self.array.as_primitive::<IntervalMonthDayNanoType>().value(row);
                let ms = i64::from(value.days) * DAY_MS + value.nanoseconds.div_euclid(1_000_000);
                Span { months: i64::from(value.months), ms }
            }
            other => return Err(Error::internal(format!("{other} is not an interval"))),
        }))
    }
}

/// Intervals as the months or milliseconds that they are.
pub(crate) fn stored(array: &ArrayRef) -> Result<Int64Array> {
    match array.data_type() {
        DataType::Interval(IntervalUnit::YearMonth) => {
            Ok(array.as_primitive::<IntervalYearMonthType>().unary(i64::from))
        }
        DataType::Duration(TimeUnit::Millisecond) => Ok(array.as_primitive::<DurationMillisecondType>().unary(|ms| ms)),
        other => Err(Error::internal(format!("{other} is not an interval"))),
    }
}

/// A day that many months later; days after the end of the month become its last day.
pub(crate) fn add_months(days: i64, months: i64) -> i64 {
    let (year, month, day) = civil_from_days(days);
    let total = year * 12 + i64::from(month) - 1 + months.clamp(-MONTHS_MAX, MONTHS_MAX);
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
    days_from_civil(year, month, day.min(days_of_month(year, month)))
}

/// Adds months to a timestamp in units of which `per_day` make a day.
pub(crate) fn add_months_to_units(value: i64, months: i64, per_day: i64) -> i64 {
    if months == 0 {
        return value;
    }
    let (days, rest) = (value.div_euclid(per_day), value.rem_euclid(per_day));
    add_months(days, months).wrapping_mul(per_day).wrapping_add(rest)
}

pub(super) fn evaluate(operator: Operator, call: &Call) -> Result<ArrayRef> {
    let (left, right) = (&call.types[0].logical, &call.types[1].logical);
    match operator {
        Operator::Multiply | Operator::Divide => scale(operator, call),
        Operator::Add | Operator::Subtract => {
            let sign = if operator == Operator::Add { 1 } else { -1 };
            match (is_point(left), is_point(right)) {
                (true, true) => difference(call),
                (true, false) => shift(call, 0, 1, sign),
                (false, true) => shift(call, 1, 0, sign),
                (false, false) => add_intervals(call, sign),
            }
        }
        Operator::Modulo => Err(Error::internal("the remainder of an interval")),
    }
}

fn shift(call: &Call, point: usize, interval: usize, sign: i64) -> Result<ArrayRef> {
    let spans = Spans::new(call, interval);
    let array = call.full(point)?;
    let span = |row| Ok(spans.get(row)?.map(|span| Span { months: sign * span.months, ms: sign * span.ms }));
    shift_by(&array, &spans_of(call.rows, spans.constant, span)?)
}

/// Shifts of all rows: one for all of them, or one each.
pub(crate) enum Shifts {
    All(i64, i64),
    Each(Vec<Option<(i64, i64)>>),
    Null,
}

fn spans_of(rows: usize, constant: bool, span: impl Fn(usize) -> Result<Option<Span>>) -> Result<Shifts> {
    if constant {
        return Ok(span(0)?.map_or(Shifts::Null, |span| Shifts::All(span.months, span.ms)));
    }
    let each = (0..rows).map(|row| Ok(span(row)?.map(|span| (span.months, span.ms)))).collect::<Result<_>>()?;
    Ok(Shifts::Each(each))
}

/// Moves dates, times or timestamps by months and milliseconds.
pub(crate) fn shift_by(array: &ArrayRef, shifts: &Shifts) -> Result<ArrayRef> {
    macro_rules! shifted {
        ($type:ty, $op:expr) => {{
            let op = $op;
            let array = array.as_primitive::<$type>();
            let out: PrimitiveArray<$type> = match shifts {
                Shifts::All(months, ms) => array.unary(|value| op(value, *months, *ms)),
                Shifts::Each(each) => array
                    .iter()
                    .zip(each)
                    .map(|(value, shift)| Some(op(value?, shift.as_ref()?.0, shift.as_ref()?.1)))
                    .collect(),
                Shifts::Null => PrimitiveArray::new_null(array.len()),
            };
            Ok(Arc::new(out.with_data_type(array.data_type().clone())) as ArrayRef)
        }};
    }
    let units = |per_second: i64| {
        move |value: i64, months: i64, ms: i64| {
            let value = add_months_to_units(value, months, per_second * 86_400);
            value.wrapping_add(ms.wrapping_mul(per_second / 1_000))
        }
    };
    match array.data_type() {
        DataType::Date32 => shifted!(Date32Type, |days: i32, months: i64, ms: i64| {
            let days = if months == 0 { i64::from(days) } else { add_months(i64::from(days), months) };
            // What is less than a day does not count.
            (days + ms / DAY_MS) as i32
        }),
        DataType::Time32(_) => shifted!(Time32MillisecondType, |time: i32, _: i64, ms: i64| {
            (i64::from(time) + ms).rem_euclid(DAY_MS) as i32
        }),
        DataType::Timestamp(TimeUnit::Millisecond, _) => shifted!(TimestampMillisecondType, units(1_000)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => shifted!(TimestampMicrosecondType, units(1_000_000)),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => shifted!(TimestampNanosecondType, units(1_000_000_000)),
        other => Err(Error::internal(format!("cannot add an interval to {other}"))),
    }
}

/// Wall-clock milliseconds of a DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ argument.
pub(crate) fn local_ms(call: &Call, index: usize) -> Result<Int64Array> {
    let array = call.full(index)?;
    Ok(match array.data_type() {
        DataType::Date32 => array.as_primitive::<Date32Type>().unary(|days| i64::from(days) * DAY_MS),
        DataType::Time32(_) => array.as_primitive::<Time32MillisecondType>().unary(i64::from),
        DataType::Null => Int64Array::new_null(array.len()),
        _ => {
            let ms = base::time::epoch_ms(&array)?;
            match call.types[index].logical {
                TimestampLtz(_) => {
                    let zone = call.context.time_zone;
                    ms.unary(|ms| local(ms, TimeUnit::Millisecond, Some(zone)))
                }
                _ => ms,
            }
        }
    })
}

fn difference(call: &Call) -> Result<ArrayRef> {
    let both_instants = call.types.iter().all(|t| matches!(t.logical, TimestampLtz(_)));
    let (left, right) = if both_instants {
        (base::time::epoch_ms(&call.full(0)?)?, base::time::epoch_ms(&call.full(1)?)?)
    } else {
        (local_ms(call, 0)?, local_ms(call, 1)?)
    };
    let nulls = union_nulls(&[&left, &right], call.rows);
    let values: Vec<i64> = left.values().iter().zip(right.values()).map(|(l, r)| l.wrapping_sub(*r)).collect();
    Ok(Arc::new(DurationMillisecondArray::new(values.into(), nulls)))
}

/// One interval per row, in the Arrow type of the result.
fn interval_column(call: &Call, span: impl Fn(usize) -> Result<Option<Span>>) -> Result<ArrayRef> {
    if call.result.logical == IntervalYearMonth {
        call.map_values::<IntervalYearMonthType>(|row| Ok(span(row)?.map(|span| span.months as i32)))
    } else {
        call.map_values::<DurationMillisecondType>(|row| Ok(span(row)?.map(|span| span.ms)))
    }
}

fn add_intervals(call: &Call, sign: i64) -> Result<ArrayRef> {
    let (left, right) = (Spans::new(call, 0), Spans::new(call, 1));
    interval_column(call, |row| {
        let (Some(l), Some(r)) = (left.get(row)?, right.get(row)?) else { return Ok(None) };
        Ok(Some(Span { months: l.months + sign * r.months, ms: l.ms + sign * r.ms }))
    })
}

fn scale(operator: Operator, call: &Call) -> Result<ArrayRef> {
    let (interval, number) = if is_interval(&call.types[0].logical) { (0, 1) } else { (1, 0) };
    let (spans, numbers) = (Spans::new(call, interval), call.longs(number)?);
    interval_column(call, |row| {
        let (Some(span), Some(number)) = (spans.get(row)?, numbers.get(row)) else { return Ok(None) };
        if operator == Operator::Multiply {
            return Ok(Some(Span { months: span.months.wrapping_mul(number), ms: span.ms.wrapping_mul(number) }));
        }
        if number == 0 {
            return Err(super::arithmetic::division_by_zero());
        }
        Ok(Some(Span { months: span.months.wrapping_div(number), ms: span.ms.wrapping_div(number) }))
    })
}

/// Units of a timestamp column in a day.
pub(crate) fn units_per_day(data_type: &DataType) -> i64 {
    match data_type {
        DataType::Timestamp(unit, _) => units_per_second(*unit) * 86_400,
        DataType::Date32 => 1,
        _ => DAY_MS,
    }
}

/// Unary minus of an interval.
pub(super) fn negate(call: &Call) -> Result<ArrayRef> {
    let spans = Spans::new(call, 0);
    interval_column(call, |row| {
        let negated = |span: Span| Span { months: span.months.wrapping_neg(), ms: span.ms.wrapping_neg() };
        Ok(spans.get(row)?.map(negated))
    })
}
