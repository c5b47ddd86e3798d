//! Positions survive a checkpoint; foreign bytes are refused.

use super::*;

#[test]
fn positions_come_back() {
    for stop in [None, Some(7), Some(0)] {
        let position = Position { topic: "a partition".into(), partition: 12, next: 5_000_000_000, stop };
        let state = position.encode();
        assert_eq!(&*state.split, "a partition partition 12");
        assert_eq!(Position::decode(&state).unwrap(), position);
    }
}

#[test]
fn what_this_version_did_not_write_is_refused() {
    let good = Position { topic: "t".into(), partition: 0, next: 1, stop: None }.encode();
    let other_version = SplitState { position: [vec![9], good.position[1..].to_vec()].concat(), ..good.clone() };
    let too_short = SplitState { position: good.position[..5].to_vec(), ..good.clone() };
    let no_partition = SplitState { split: "t".into(), ..good };
    for state in [other_version, too_short, no_partition] {
        let error = Position::decode(&state).unwrap_err().to_string();
        assert!(error.contains("unreadable position"), "{error}");
    }
}
