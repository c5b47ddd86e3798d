//! Which split is named, and when.

use super::*;

fn progress(split: &str, watermark_ms: Option<i64>, batches: u64) -> SplitProgress {
    SplitProgress { split: SplitId::from(split), watermark_ms, batches }
}

fn named(warnings: Vec<Error>) -> Vec<String> {
    warnings.iter().map(|warning| warning.argument("split").unwrap_or_default().to_string()).collect()
}

#[test]
fn a_split_without_rows_is_named_once_after_thirty_seconds() {
    let watch = SilenceWatch::new("orders", 1);
    let splits = |batches| vec![progress("p0", Some(5), batches), progress("p1", None, 0)];
    assert!(watch.report(0, splits(1), 0).is_empty());
    assert!(watch.report(0, splits(2), 29_999).is_empty());
    let warnings = watch.report(0, splits(2), 30_000);
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    for part in ["orders", "p1", "SET 'table.exec.source.idle-timeout' = '10 s'"] {
        assert!(warning.render(base::Language::English, base::error::Label::Warning).contains(part), "{part}");
    }
    assert!(watch.report(0, splits(9), 90_000).is_empty(), "once");
}

#[test]
fn the_splits_of_all_readers_count_together() {
    let watch = SilenceWatch::new("orders", 2);
    assert!(watch.report(0, vec![progress("p0", Some(5), 1)], 0).is_empty());
    assert!(watch.report(0, vec![progress("p0", Some(9), 2)], 60_000).is_empty(), "the other has not spoken");
    assert!(watch.report(1, vec![progress("p1", None, 0)], 60_000).is_empty());
    assert!(watch.report(0, vec![progress("p0", Some(10), 3)], 80_000).is_empty());
    assert_eq!(named(watch.report(1, vec![progress("p1", None, 0)], 91_000)), ["p1"]);
}

#[test]
fn a_split_that_falls_silent_later_is_named_too() {
    let watch = SilenceWatch::new("orders", 1);
    let at = |first, second, batches| vec![progress("p0", first, batches), progress("p1", second, 3)];
    assert!(watch.report(0, at(Some(1), Some(1), 1), 0).is_empty());
    assert!(watch.report(0, at(Some(50), Some(40), 2), 50_000).is_empty(), "it has advanced");
    assert!(watch.report(0, at(Some(60), Some(40), 3), 79_999).is_empty());
    assert_eq!(named(watch.report(0, at(Some(70), Some(40), 4), 80_000)), ["p1"]);
}

#[test]
fn nobody_is_named_while_everything_is_silent_or_all_splits_have_rows() {
    let watch = SilenceWatch::new("orders", 1);
    let silent = vec![progress("p0", None, 0), progress("p1", None, 0)];
    assert!(watch.report(0, silent.clone(), 0).is_empty());
    assert!(watch.report(0, silent, 60_000).is_empty());
    let watch = SilenceWatch::new("orders", 1);
    let stuck = |batches| vec![progress("p0", Some(5), batches), progress("p1", Some(7), batches)];
    assert!(watch.report(0, stuck(1), 0).is_empty());
    assert!(watch.report(0, stuck(2), 60_000).is_empty(), "rows come, their times do not advance: no split is silent");
}
