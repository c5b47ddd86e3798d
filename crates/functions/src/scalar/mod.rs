//! Scalar functions by topic; [`crate::registry`] lists them.

pub(crate) mod addresses;
pub(crate) mod arithmetic;
pub(crate) mod bitmaps;
pub(crate) mod charsets;
pub(crate) mod collections;
pub(crate) mod compare;
pub(crate) mod cosh;
pub(crate) mod digest;
pub(crate) mod encodings;
pub(crate) mod intervals;
pub(crate) mod java_regex;
pub(crate) mod logic;
pub(crate) mod map_order;
pub(crate) mod math;
pub(crate) mod objects;
pub(crate) mod patterns;
pub(crate) mod printf;
pub(crate) mod regexes;
pub(crate) mod strings;
pub(crate) mod substrings;
pub(crate) mod urls;

#[cfg(test)]
#[path = "scalar_tests.rs"]
mod tests;
