//! Who is named, for what reason, and when.

use super::*;
use crate::operator::OperatorStatistics;

/// A watch over tables with one reader each, and one operator behind all of them.
struct Fixture {
    watch: WaitingWatch,
    counters: Arc<Counters>,
}

impl Fixture {
    fn new(tables: &[(&str, usize)]) -> Fixture {
        let counters = Arc::new(Counters::default());
        counters.set_operator(OperatorStatistics { state_entries: 1, ..OperatorStatistics::default() });
        let follower = Follower {
            name: "window aggregate".into(),
            counters: vec![counters.clone()],
            sources: (0..tables.len()).collect(),
        };
        let sources = tables.iter().map(|&(table, readers)| WatchedSource { table: table.into(), readers }).collect();
        Fixture { watch: WaitingWatch::new(Duration::from_secs(30), sources, vec![follower]), counters }
    }

    /// Reports, and gives the reasons and splits that are named.
    fn report(
        &self,
        source: usize,
        reader: usize,
        splits: &[SplitProgress],
        now_ms: i64,
    ) -> Vec<(&'static str, String)> {
        let progress = ReaderProgress { splits: splits.to_vec(), ..ReaderProgress::default() };
        let warnings = self.watch.report(source, reader, progress, now_ms);
        warnings.iter().map(|one| (one.code(), one.argument("split").unwrap_or_default().to_string())).collect()
    }

    /// Reports once a second after `from_ms` until `to_ms`; gives everything named.
    fn steady(&self, splits: &[SplitProgress], from_ms: i64, to_ms: i64) -> Vec<(&'static str, String)> {
        (from_ms / 1000 + 1..=to_ms / 1000).flat_map(|second| self.report(0, 0, splits, second * 1000)).collect()
    }

    fn waiting(&self) -> Vec<(WaitReason, Vec<String>)> {
        let node = crate::counters::CountedNode {
            operator_id: String::new(),
            name: String::new(),
            role: crate::metrics::NodeRole::Operator,
            before: Default::default(),
            instances: vec![self.counters.clone()],
        };
        node.metrics().waiting.into_iter().map(|one| (one.reason, one.splits)).collect()
    }
}

fn split(split: &str, watermark_ms: Option<i64>, batches: u64) -> SplitProgress {
    SplitProgress { split: SplitId::from(split), watermark_ms, batches, is_idle: false }
}

fn named(code: &'static str, splits: &str) -> Vec<(&'static str, String)> {
    vec![(code, splits.to_string())]
}

#[test]
fn silent_splits_are_named_once_after_the_period() {
    let watch = Fixture::new(&[("orders", 1)]);
    let splits = |batches| [split("p0", Some(5), batches), split("p1", None, 0), split("p2", None, 0)];
    assert!(watch.report(0, 0, &splits(1), 0).is_empty());
    assert!(watch.steady(&splits(2), 0, 29_000).is_empty());
    assert!(watch.waiting().is_empty());
    assert_eq!(watch.report(0, 0, &splits(2), 30_000), named("HW-R005", "p1, p2"));
    assert_eq!(watch.waiting(), [(WaitReason::SilentSplit, vec!["p1".to_string(), "p2".to_string()])]);
    assert!(watch.steady(&splits(9), 30_000, 90_000).is_empty(), "once");
    watch.counters.set_watermark(5);
    watch.report(0, 0, &splits(9), 91_000);
    assert!(watch.waiting().is_empty(), "it goes on");
}

#[test]
fn an_operator_that_keeps_no_rows_does_not_wait() {
    let watch = Fixture::new(&[("orders", 1)]);
    watch.counters.set_operator(OperatorStatistics::default());
    let splits = |batches| [split("p0", Some(5), batches), split("p1", None, 0)];
    watch.report(0, 0, &splits(1), 0);
    assert!(watch.steady(&splits(2), 0, 60_000).is_empty());
}

#[test]
fn the_splits_of_all_readers_count_together() {
    let watch = Fixture::new(&[("orders", 2)]);
    for second in 0..=60 {
        assert!(watch.report(0, 0, &[split("p0", Some(5), 1 + second)], second as i64 * 1000).is_empty());
    }
    assert!(watch.report(0, 1, &[split("p1", None, 0)], 60_000).is_empty(), "its first report only says where it is");
    assert_eq!(watch.report(0, 1, &[split("p1", None, 0)], 61_000), named("HW-R005", "p1"));
}

#[test]
fn a_reader_that_does_not_report_is_at_work() {
    let watch = Fixture::new(&[("orders", 2)]);
    watch.report(0, 1, &[split("p1", None, 0)], 0);
    for second in 0..=60 {
        assert!(watch.report(0, 0, &[split("p0", Some(5), 1 + second)], second as i64 * 1000).is_empty());
    }
}

#[test]
fn without_any_rows_the_table_is_named() {
    let watch = Fixture::new(&[("orders", 1)]);
    let splits = [split("p0", Some(4), 1), split("p1", Some(4), 1)];
    watch.counters.set_watermark(4);
    watch.report(0, 0, &splits, 0);
    assert_eq!(watch.steady(&splits, 0, 60_000), named("HW-R011", "p0, p1"));
    let idle = splits.map(|split| SplitProgress { is_idle: true, ..split });
    let progress = ReaderProgress { splits: idle.to_vec(), holds_nothing: true, ..ReaderProgress::default() };
    assert!(watch.watch.report(0, 0, progress, 61_000).is_empty(), "it was said");
    assert_eq!(watch.waiting(), [(WaitReason::NoRows, vec!["p0".to_string(), "p1".to_string()])]);
}

#[test]
fn rows_that_move_nothing_are_named() {
    let watch = Fixture::new(&[("orders", 1)]);
    let splits = |batches| [split("p0", Some(7), batches), split("p1", Some(4), batches)];
    watch.report(0, 0, &splits(1), 0);
    assert_eq!(watch.steady(&splits(2), 0, 60_000), named("HW-R012", "p1"));
}

#[test]
fn the_table_furthest_behind_is_named() {
    let watch = Fixture::new(&[("orders", 1), ("payments", 1)]);
    let mut all = Vec::new();
    for second in 0..=40 {
        all.extend(watch.report(0, 0, &[split("o", Some(5 + second as i64), 1 + second)], second as i64 * 1000));
        all.extend(watch.report(1, 0, &[split("p", Some(3), 1)], second as i64 * 1000));
    }
    assert_eq!(all, named("HW-R005", "p"), "the other one goes on meanwhile");
}

#[test]
fn an_operator_that_has_not_heard_yet_is_not_explained() {
    let watch = Fixture::new(&[("orders", 1)]);
    watch.report(0, 0, &[split("p0", Some(5), 1)], 0);
    assert!(watch.steady(&[split("p0", Some(50), 2)], 0, 60_000).is_empty());
}

#[test]
fn a_reader_that_waits_for_its_group_is_not_silent() {
    let watch = Fixture::new(&[("orders", 1)]);
    let progress = || ReaderProgress {
        splits: vec![split("p0", Some(5), 3)],
        waits_for: Some("payments".into()),
        ..ReaderProgress::default()
    };
    assert!(watch.watch.report(0, 0, progress(), 0).is_empty());
    let told: Vec<_> = (1..=31).flat_map(|second| watch.watch.report(0, 0, progress(), second * 1000)).collect();
    let [warning] = told.as_slice() else { panic!("told once: {told:?}") };
    assert_eq!((warning.code(), warning.argument("other")), ("HW-R014", Some("payments")));
    assert_eq!(watch.waiting(), [(WaitReason::Alignment, vec!["p0".to_string()])]);
}
