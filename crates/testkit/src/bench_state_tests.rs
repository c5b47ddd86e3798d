//! The limits hold with fewer entries too.

use super::*;

#[test]
fn state_stays_below_its_limits() {
    for size in measure(100_000).unwrap() {
        assert!(size.counted <= size.limit, "{size:?}");
    }
}
