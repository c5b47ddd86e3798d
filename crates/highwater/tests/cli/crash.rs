//! A part of the crash tests, evenly chosen; `hw-testkit crash` runs all of them.

use testkit::crash::{self, CrashOptions};

/// Of all tests with fault points, one in so many.
const EVERY: usize = 11;
/// Random kills of one job.
const KILLS: u32 = 10;

#[test]
fn no_row_is_lost_or_doubled_by_a_crash() {
    let options = CrashOptions {
        program: env!("CARGO_BIN_EXE_highwater").into(),
        only: None,
        every: EVERY,
        kills: KILLS,
        seed: 1,
        trace: false,
    };
    let report = crash::run(&options).expect("the tests run");
    assert!(report.tests() >= 20, "{} tests", report.tests());
    assert!(report.problems.is_empty(), "{}", report.problems.join("\n\n"));
}
