//! What must hold at any speed: the state, and that both windows are measured over the same results.

use super::*;

#[test]
fn state_follows_the_rows_not_the_windows() {
    // One row of each key in an hour: as much state whatever the slide.
    let states = hop_states(2000, 1).unwrap();
    let [one, six, sixty] = states.as_slice() else { panic!("{states:?}") };
    assert_eq!([one.entries, six.entries, sixty.entries], [2000; 3]);
    assert!(sixty.bytes < 2 * six.bytes && sixty.bytes < 3 * one.bytes, "{states:?}");
    // Rows of each key in every slide: one entry per key and slide.
    let states = hop_states(100, 240).unwrap();
    let entries: Vec<u64> = states.iter().map(|state| state.entries).collect();
    assert_eq!(entries, [100, 600, 6000]);
}

#[test]
fn every_slide_gives_a_result_of_each_key() {
    for cost in costs(50, 2, 65).unwrap() {
        // 60 slides are kept for one.
        assert!(cost.hop_bytes > 20 * cost.tumble_bytes, "{cost:?}");
    }
}

#[test]
fn sessions_stay_below_their_limit() {
    // An eighth of a million: vectors and tables that double are as full.
    let sessions = sessions(125_000).unwrap();
    assert_eq!(sessions.count, 125_000);
    assert!(sessions.counted_mb < SESSIONS_MB_MAX / 8.0, "{sessions:?}");
}
