//! The program as a user runs it: scripts, exit codes, standard output and standard error.

mod batch;
mod catalogue;
mod changelog_page;
mod control;
mod durable;
mod errors;
mod kafka;
mod kafka_start;
mod minute_gmv;
mod output;
mod play;
mod program;
mod sql_page;
mod time;
mod traps;
