//! The program as a user runs it: scripts, exit codes, standard output and standard error.

mod batch;
mod catalogue;
mod changelog_page;
mod control;
mod crash;
mod durable;
mod edits;
mod errors;
mod expiry;
mod kafka;
mod kafka_exactly_once;
mod kafka_resume;
mod kafka_start;
mod late_table;
mod memory;
mod minute_gmv;
mod now_join;
mod object_store;
mod output;
mod play;
mod program;
mod savepoints;
mod sql_page;
mod time;
mod traps;
