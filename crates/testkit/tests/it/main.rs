//! The one integration binary of the testkit: repository rules and the recorded Flink cases.

mod oracle;
mod tidy;
