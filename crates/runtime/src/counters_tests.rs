//! Tests of counts that several instances have together.

use super::*;

#[test]
fn a_source_knows_its_lag_when_all_its_instances_do() {
    let counters = [Arc::new(Counters::default()), Arc::new(Counters::default())];
    let node = CountedNode {
        operator_id: "scan".into(),
        name: "source".into(),
        role: NodeRole::Source,
        before: NodeCounts::default(),
        instances: counters.to_vec(),
    };
    let knows = |index: usize, lag| counters[index].set_source(SourceStatistics { lag, ..SourceStatistics::default() });
    assert_eq!(node.metrics().lag, None);
    knows(0, Some(0));
    assert_eq!(node.metrics().lag, None, "the other one may have anything to read");
    knows(1, Some(3));
    assert_eq!(node.metrics().lag, Some(3));
    knows(0, Some(2));
    assert_eq!(node.metrics().lag, Some(5));
    knows(1, None);
    assert_eq!(node.metrics().lag, None);
}
