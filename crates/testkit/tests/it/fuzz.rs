//! A little of the fuzzers, always the same inputs, and everything that they have found before.

use std::path::Path;
use testkit::fuzz::{FuzzOptions, Target, replay, run};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn check(target: Target, inputs: u64, accepted_min: u64) {
    let options = FuzzOptions { target, seed: 1, inputs: Some(inputs), time: None, slow: None, trace: None };
    let report = run(&options, root()).expect("a run");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    assert_eq!(report.inputs, inputs);
    assert!(report.accepted >= accepted_min, "only {} of {inputs} inputs were accepted", report.accepted);
}

#[test]
fn random_scripts_are_planned_or_refused() {
    check(Target::Scripts, 200, 5);
}

#[test]
fn random_expressions_have_one_value() {
    check(Target::Expressions, 400, 100);
}

#[test]
fn what_was_found_stays_fixed() {
    let count = replay(&root().join("crates/testkit/corpus"), root()).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(count > 0, "an empty corpus");
}
