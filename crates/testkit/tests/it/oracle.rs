//! The recorded Flink cases that must agree.

use regex::Regex;
use std::path::{Path, PathBuf};
use testkit::oracle::{OracleOptions, run};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

/// Every case; what a single expression gives depends on none of the arguments, so the first run alone has the long lists
/// of them (`x...`).
fn check(batch: usize, parallelism: usize, restore_every: Option<usize>) {
    let all = (batch, parallelism, restore_every) == (1, 1, None);
    let only = (!all).then(|| Regex::new("^[a-w]").expect("a pattern"));
    let options = OracleOptions { only, batch, parallelism, restore_every, ..OracleOptions::default() };
    let report = run(&[cases()], &options);
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!((report.failed, report.needing), (0, 0), "see the FAIL and NEEDS lines above");
    assert!(report.passed > 500, "only {} results were compared", report.passed);
    // Entries about cases that are not here are met by longer runs.
    let is_here = |entry: &&String| {
        entry.split('#').next().is_some_and(|case| case == "expr" && all || cases().join(case).exists())
    };
    let unmet: Vec<&String> = report.unmet.iter().filter(is_here).collect();
    assert!(unmet.is_empty(), "listed in differences.tsv, but never met: {unmet:?}");
}

#[test]
fn changelogs_are_flinks_record_by_record() {
    check(1, 1, None);
}

#[test]
fn final_tables_do_not_depend_on_batches() {
    check(7, 1, None);
    check(4096, 1, None);
}

#[test]
fn final_tables_do_not_depend_on_parallelism() {
    check(1, 4, None);
    check(7, 4, None);
    check(4096, 4, None);
}

#[test]
fn a_restart_from_a_checkpoint_changes_nothing() {
    check(1, 1, Some(1));
    check(7, 4, Some(1));
}

/// The first checkpoint after a start holds everything, the others what changed.
#[test]
fn a_restart_from_checkpoints_of_changes_changes_nothing() {
    check(1, 1, Some(3));
    check(1, 4, Some(5));
}

/// The cases whose final tables depend neither on late rows nor on processing time, nor on what only streaming refuses. A
/// global aggregate of no row at all is one row in batch mode and none in streaming mode.
const FINAL: &str = "^(a0[1-46-9]|a1[0-47-9]|d0[1-9]|d19|e0[14-79]|f0[1-578]|f10|g01|g0[5-9]|g1[025])_";

#[test]
fn batch_mode_gives_the_same_final_tables() {
    let only = Some(Regex::new(FINAL).expect("a pattern"));
    let options = OracleOptions { only, batch: 7, batch_mode: true, ..OracleOptions::default() };
    let report = run(&[cases()], &options);
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!((report.failed, report.needing), (0, 0), "see the FAIL and NEEDS lines above");
    assert!(report.passed > 100, "only {} results were compared", report.passed);
}

/// Recorded tables leave every `-U` out, so that a lost or misplaced lone one is seen here only.
#[test]
fn upsert_sinks_get_the_same_deletes_at_every_parallelism() {
    let options = OracleOptions {
        only: Some(Regex::new("^(a|d0|f0|g0[1-6])").expect("a pattern")),
        batch: 7,
        parallelism: 4,
        against_itself: true,
        ..OracleOptions::default()
    };
    let report = run(&[cases()], &options);
    assert_eq!((report.failed, report.needing), (0, 0), "see the FAIL and NEEDS lines above");
    assert!(report.passed > 100, "only {} results were compared", report.passed);
}

/// The cases but those in which a row is late at an operator with two inputs: the watermark of one of them may come later
/// there, as it may when that is busy.
const WITHIN_A_BUDGET: &str = "^([a-ce-w]|d[0-46-9]|d5[02357-9])";

#[test]
fn state_that_is_put_away_gives_the_same_final_tables() {
    let only = Regex::new(WITHIN_A_BUDGET).expect("a pattern");
    for (batch, parallelism, restore_every) in [(1, 1, None), (7, 3, Some(2))] {
        let options = OracleOptions {
            only: Some(only.clone()),
            batch,
            parallelism,
            restore_every,
            memory_budget: Some(1),
            ..OracleOptions::default()
        };
        let report = run(&[cases()], &options);
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        assert_eq!((report.failed, report.needing), (0, 0), "see the FAIL and NEEDS lines above");
        assert!(report.passed > 500, "only {} results were compared", report.passed);
    }
}
