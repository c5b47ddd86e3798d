//! Progress records.

use super::*;

#[test]
fn a_record_comes_back_as_it_was() {
    let owner = Owner { run: "r".into(), instance: "i".into(), job: "j".into(), host: "h".into(), process: 7 };
    let record = ProgressRecord {
        owner,
        progress: Progress { checkpoint: 42, chunks: 3 },
        has_ended: true,
        moved_to: Some("n".into()),
    };
    let (key, value) = record.encode();
    assert_eq!((key.as_str(), ProgressRecord::decode(value.as_bytes())), ("r", Some(record)));
    assert_eq!(ProgressRecord::decode(b"{}"), None);
    assert_eq!(ProgressRecord::decode(b"no json"), None);
}

#[test]
fn progress_is_ordered_by_checkpoint_then_chunk() {
    let at = |checkpoint, chunks| Progress { checkpoint, chunks };
    assert!(at(1, 9) < at(2, 0) && at(2, 0) < at(2, 1));
}

#[test]
fn every_id_has_a_topic_of_its_own() {
    assert_eq!(topic_of("job1-orders"), "job1-orders-progress");
    let strange = topic_of("作业/1");
    assert!(strange.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)), "{strange}");
    assert_ne!(strange, topic_of("作业/2"));
    assert_ne!(topic_of("a b"), topic_of("a_b"));
    let (long, longer) = ("x".repeat(300), "x".repeat(301));
    assert!(topic_of(&long).len() <= NAME_MAX);
    assert_ne!(topic_of(&long), topic_of(&longer));
}
