//! Batch mode: the logical plan of a query run by DataFusion's operators over bounded tables.
//!
//! `SET 'execution.runtime-mode' = 'batch'` gives the final result of a query once. Joins, grouping, frames, sorting
//! and set operations are DataFusion's; expressions, casts and functions are ours, with Flink's types and values.
//! Since nothing else is shared with the streaming engine, the two check each other: [`run`] gives the result over
//! tables that a test makes.
//!
//! Invariants: no operator of the runtime is used here. A plan has one partition everywhere, so that the same input
//! gives the same rows in the same order.

mod aggregate;
pub mod codes;
mod expression;
mod lower;
mod query;
mod source;
mod table;

pub use query::{DataFusionEngine, execute, run};

#[cfg(test)]
mod tests;
