//! Flink's scalar functions, operators, casts and aggregate functions as Arrow kernels, with Flink's types and values.
//!
//! A scalar function is two plain functions (type and evaluation) and one line in [`registry`]; operators are
//! functions whose name is their symbol (`+`, `IS NULL`). An aggregate function is an accumulator whose values are columns indexed
//! by slot, in [`aggregate`].
//!
//! Invariants: a function never asks for the time or a random number, never panics on data, and works on whole columns.
//! What Flink fails a job for is an error of domain data; what Flink rejects at planning is an error of domain user.

mod aggregate;
mod call;
mod cast;
pub mod codes;
mod decimal;
mod doc;
mod docs;
mod json;
mod registry;
mod scalar;
mod time;
mod types;

pub use aggregate::{aggregate, aggregate_doc, aggregate_names, grouped, merges_exactly};
pub use cast::print::to_text;
pub use cast::{CastSupport, can_cast, cast};
pub use codes::CODES;
pub use doc::{Category, FunctionDoc};
pub use docs::{scalar_doc, scalar_docs};
pub use registry::{scalar, scalar_forms, scalar_names};
pub use time::convert::check_literal as check_instant_literal;
pub use types::{common_type, comparison_type};

#[cfg(test)]
#[path = "oracle_tests.rs"]
mod tests;
