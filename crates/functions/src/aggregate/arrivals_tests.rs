//! The list against one that is searched, through chains, tombstones and their clearing.

use super::super::kind::Strings;
use super::*;

fn step(seed: &mut u64, limit: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % limit
}

fn take_out(list: &mut Arrivals<Strings>, value: Option<&str>) {
    let boxed: Option<Box<str>> = value.map(Into::into);
    list.take_out(|| boxed.as_ref().map(Strings::hash), |known| known.map(AsRef::as_ref) == value);
}

fn assert_is(list: &Arrivals<Strings>, model: &[Option<String>], what: &str) {
    let values: Vec<Option<&str>> = list.iter().map(|value| value.map(AsRef::as_ref)).collect();
    let expected: Vec<Option<&str>> = model.iter().map(Option::as_deref).collect();
    assert_eq!(values, expected, "{what}");
    assert_eq!((list.len(), list.is_empty()), (model.len(), model.is_empty()), "{what}");
    assert_eq!(list.first().map(AsRef::as_ref), expected.first().copied().flatten(), "{what}");
    assert_eq!(list.last().map(AsRef::as_ref), expected.last().copied().flatten(), "{what}");
    let texts: usize = model.iter().flatten().map(String::len).sum();
    assert_eq!(list.value_bytes, texts, "{what}");
}

#[test]
fn the_earliest_of_equal_values_goes_wherever_it_stands() {
    for (seed, distinct) in [(1, 3), (2, 40), (3, 400), (4, 100_000)] {
        let mut state = seed;
        let (mut list, mut model) = (Arrivals::<Strings>::default(), Vec::<Option<String>>::new());
        for round in 0..4_000 {
            let what = format!("seed {seed}, round {round}");
            // Grows, shrinks to nothing, and grows again.
            let grows = (round / 700) % 2 == 0;
            let adds = step(&mut state, 10) < if grows { 8 } else { 2 };
            let value = match step(&mut state, distinct) {
                0 => None,
                number => Some(format!("v{number}")),
            };
            if adds {
                list.push(value.as_deref().map(Into::into));
                model.push(value);
            } else {
                // One that is there (at the start, the end, anywhere), or one that perhaps is not.
                let place = [0, model.len().saturating_sub(1), step(&mut state, model.len().max(1))];
                let known = model.get(place[step(&mut state, 3)]).cloned().unwrap_or_else(|| value.clone());
                let value = if step(&mut state, 8) == 0 { value } else { known };
                take_out(&mut list, value.as_deref());
                if let Some(at) = model.iter().position(|known| *known == value) {
                    model.remove(at);
                }
            }
            assert_is(&list, &model, &what);
        }
    }
}

#[test]
fn bytes_come_and_go() {
    let mut lists = Lists::<Strings>::default();
    lists.resize(2);
    let empty = lists.heap_bytes();
    for number in 0..1_000 {
        lists.change(0, |list| list.push(Some(format!("{number:04}").into())));
    }
    assert!(lists.heap_bytes() - empty >= 1_000 * (4 + size_of::<Option<Option<Box<str>>>>()));
    for number in (0..1_000).rev() {
        lists.change(0, |list| take_out(list, Some(&format!("{number:04}"))));
    }
    assert!(lists.get(0).is_empty());
    assert!(lists.heap_bytes() - empty < 10_000, "what was taken out is not kept: {}", lists.heap_bytes());
    lists.reset(&[0]);
    assert_eq!(lists.heap_bytes(), empty);
}
