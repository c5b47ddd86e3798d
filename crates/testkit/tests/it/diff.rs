//! Random queries over changing tables: always the same ones, and everything that was wrong before.

use std::path::Path;
use testkit::diff::{DiffOptions, replay, reproduction, run};

#[test]
fn random_queries_give_what_they_mean() {
    let options = DiffOptions { seed: 1, runs: 200, time: None, wrong_max: 3, save: None, trace: false };
    let report = run(&options).expect("a run");
    let wrong: Vec<String> = report.failing.iter().map(|(seed, failing)| reproduction(*seed, failing)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(report.cases(), 200);
    assert!(report.compared() >= 185 && report.asked >= 150 && report.sunk >= 100, "too few were compared: {report}");
    assert!(report.empty < 80, "too many have no rows: {report}");
}

#[test]
fn what_was_wrong_stays_right() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("diff_corpus");
    let count = replay(&corpus).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(count > 0, "an empty corpus");
}
