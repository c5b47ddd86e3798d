//! Random streams and queries over event time: always the same ones.

use testkit::time::{TimeOptions, run};

#[test]
fn results_depend_on_event_time_alone() {
    const RUNS: u64 = 80;
    const KINDS: usize = 18;
    let options = TimeOptions { seed: 1, runs: RUNS, time: None, wrong_max: 3, trace: false };
    let report = run(&options).expect("a run");
    assert!(report.wrong.is_empty(), "{}", report.wrong.join("\n"));
    assert_eq!(report.compared() + report.unsupported.values().sum::<u64>(), RUNS);
    assert!(report.unsupported.is_empty(), "{report}");
    assert_eq!(report.same.len(), KINDS, "{report}");
    assert!(report.empty < RUNS / 10 && report.with_late > RUNS / 5 && report.late_rows > 100, "{report}");
}
