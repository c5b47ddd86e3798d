//! Tests of byte strings by slot.

use super::*;

#[test]
fn replaced_bytes_are_compacted_and_stay_readable() {
    let mut store = SlotBytes::default();
    for round in 0..50usize {
        for slot in 0..100u32 {
            store.set(slot, &vec![slot as u8; 100 + round]);
        }
    }
    for slot in 0..100u32 {
        assert_eq!(store.get(slot), Some(&vec![slot as u8; 149][..]));
    }
    assert!(store.bytes.len() < 4 * 100 * 149 + 2 * GARBAGE_MIN, "{}", store.bytes.len());
    for slot in 1..100u32 {
        store.clear(slot);
    }
    assert_eq!(store.get(0), Some(&vec![0u8; 149][..]));
    assert_eq!(store.get(5), None);
    store.set(5, b"");
    assert_eq!(store.get(5), Some(&b""[..]));
}
