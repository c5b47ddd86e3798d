//! The limits hold with fewer entries too.

use super::*;

/// An eighth of the benchmark's million: vectors and tables that double are as full.
const ENTRIES: usize = 125_000;

#[test]
fn state_stays_below_its_limits() {
    for size in measure(ENTRIES).unwrap() {
        assert!(size.counted <= size.limit, "{size:?}");
    }
}
