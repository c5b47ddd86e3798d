//! Tests of the operators. A test is a text table of changes in and a text table of changes out; `harness` runs it
//! with batches of several sizes, with a restore after each batch, and restored at another parallelism.

mod calc;
mod changelog_normalize;
mod changes;
mod deduplicate;
mod expand;
mod expiry;
mod functions;
mod group_aggregate;
mod harness;
mod join;
mod local_aggregate;
mod match_recognize;
mod over_aggregate;
mod panes;
mod parted;
mod random;
mod rank;
mod replicate;
mod session_aggregate;
mod stand_ins;
mod temporal_sort;
mod time_joins;
mod unnest;
mod upsert_materialize;
mod window_aggregate;
mod window_rank;
mod window_table;
