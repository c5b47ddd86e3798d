//! The one integration binary of the testkit: repository rules, the recorded Flink cases, and real services.

mod diff;
mod fuzz;
mod kafka;
mod oracle;
mod tidy;
mod time;
