//! The rules of exactly-once sinks that need no broker.

use super::*;

#[test]
fn a_writer_state_comes_back_as_it_was() {
    let progress = Progress { checkpoint: 41, chunks: 2 };
    let state = Restored { epoch: Epoch(42), run: "r".into(), id: "job1-orders".into(), progress };
    assert_eq!(Restored::decode(Epoch(42), &state.encode()), Some(state));
    assert_eq!(Restored::decode(Epoch(1), b"part-7"), None);
}

#[test]
fn a_transaction_takes_whole_chunks_up_to_its_size() {
    let chunk = |bytes: usize| Committable::from(vec![0; bytes]);
    let quarter = TRANSACTION_BYTES / 4;
    assert_eq!(together(&[chunk(quarter), chunk(quarter), chunk(quarter), chunk(quarter), chunk(1)]), 4);
    assert_eq!(together(&[chunk(TRANSACTION_BYTES + 1), chunk(1)]), 1);
    assert_eq!(together(&[chunk(1)]), 1);
}

#[test]
fn names_are_unique() {
    assert_ne!(unique(), unique());
}
