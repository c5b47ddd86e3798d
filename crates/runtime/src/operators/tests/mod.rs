//! Tests of the operators. A test is a text table of changes in and a text table of changes out; `harness` runs it
//! with batches of several sizes, with a restore after each batch, and restored at another parallelism.

mod calc;
mod changelog_normalize;
mod functions;
mod group_aggregate;
mod harness;
mod random;
mod stand_ins;
mod window_aggregate;
mod window_table;
