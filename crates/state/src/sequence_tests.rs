//! A chunked list behaves as a plain one.

use super::*;

#[test]
fn behaves_as_a_vector() {
    let mut sequence = Sequence::default();
    let mut plain: Vec<u32> = Vec::new();
    let mut seed = 7u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below.max(1)
    };
    for round in 0..20_000u32 {
        // Grows, then shrinks.
        let grows = if round < 12_000 { 4 } else { 1 };
        if random(5) < grows || plain.is_empty() {
            let value = random(50_000) as u32 * 2;
            let place = sequence.partition_point(|element| element <= value);
            let index = plain.partition_point(|element| *element <= value);
            assert_eq!(sequence.index(place, usize::MAX), Some(index));
            assert_eq!(sequence.index(place, index), None);
            sequence.insert(place, value);
            plain.insert(index, value);
        } else {
            let index = random(plain.len());
            let place = sequence.at(index);
            assert_eq!(sequence.get(place), Some(plain[index]));
            assert_eq!(sequence.get(sequence.next(place)), plain.get(index + 1).copied());
            assert_eq!(sequence.remove(place), plain.remove(index));
        }
        assert_eq!(sequence.len(), plain.len());
        assert_eq!(sequence.last(), plain.last().copied());
    }
    assert!(sequence.iter().eq(plain.iter().copied()));
    assert!(sequence.more.len() < 40, "{} chunks for {} elements", sequence.more.len(), plain.len());
    let taken = sequence.take_front(1500, |element| element < 90_000);
    assert_eq!(taken, plain[..1500]);
    let rest = sequence.take_front(usize::MAX, |element| element < 90_000);
    assert_eq!(taken.len() + rest.len(), plain.partition_point(|element| *element < 90_000));
    assert!(sequence.iter().all(|element| element >= 90_000));
    sequence.take_front(usize::MAX, |_| true);
    assert_eq!((sequence.len(), sequence.last(), sequence.get(sequence.at(0))), (0, None, None));
}
