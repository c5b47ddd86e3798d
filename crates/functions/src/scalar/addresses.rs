//! INET_ATON and INET_NTOA: IPv4 addresses as numbers and back, by MySQL's rules.

use crate::call::{Call, Signature};
use arrow::array::ArrayRef;
use arrow::datatypes::Int64Type;
use base::{LogicalType, Result, SqlType};
use std::net::Ipv4Addr;

pub(crate) fn to_number_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.string(0)?;
    Ok(LogicalType::BigInt.nullable())
}

/// `a.b.c.d`, and the short forms `d`, `a.d` and `a.b.d`; zeros in front are decimal.
fn address(text: &str) -> Option<i64> {
    let mut parts = [0i64; 4];
    let mut count = 0;
    for part in text.split('.') {
        let is_number = (1..=10).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        let number = part.parse::<i64>().ok().filter(|number| is_number && *number <= 255)?;
        *parts.get_mut(count)? = number;
        count += 1;
    }
    let last = std::mem::take(&mut parts[count - 1]);
    parts[3] += last;
    Some(parts.iter().fold(0, |address, part| address << 8 | part))
}

pub(crate) fn to_number(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.map_values::<Int64Type>(|row| Ok(texts.get(row).and_then(address)))
}

pub(crate) fn to_text_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.integer(0)?;
    Ok(SqlType::string())
}

pub(crate) fn to_text(call: &Call) -> Result<ArrayRef> {
    use std::fmt::Write;
    let numbers = call.longs(0)?;
    call.write_texts(|row, out| {
        let Some(number) = numbers.get(row).and_then(|number| u32::try_from(number).ok()) else { return Ok(false) };
        // Writing to a String cannot fail.
        let _ = write!(out, "{}", Ipv4Addr::from(number));
        Ok(true)
    })
}
