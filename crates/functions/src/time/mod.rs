//! Functions over dates and times: Java's date patterns, conversions from and to text and numbers, fields, and shifts.

pub(crate) mod convert;
pub(crate) mod fields;
pub(crate) mod overlaps;
pub(crate) mod pattern;
pub(crate) mod pattern_parse;
pub(crate) mod rounding;
pub(crate) mod shift;
pub(crate) mod zone;

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
