//! Tests of key groups and of the stability of the hash.

use super::*;
use arrow::array::{Int64Array, StringArray};
use std::sync::Arc;

#[test]
fn every_group_has_exactly_one_owner() {
    for parallelism in 1..=KEY_GROUPS {
        let mut seen = 0;
        for instance in 0..parallelism {
            for group in groups_of_instance(instance, parallelism) {
                assert_eq!(instance_of_group(group, parallelism), instance);
                seen += 1;
            }
        }
        assert_eq!(seen, KEY_GROUPS);
    }
}

#[test]
fn the_hash_never_changes_within_a_version() {
    let ints: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), Some(1), Some(-1), None]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some(""), Some("a"), Some("张三"), None]));
    let hashes = hash_columns(&[ints, texts], 4).expect("hash");
    let expected: Vec<u64> = include_str!("key_hashes_v1.txt").lines().map(|l| l.parse().expect("number")).collect();
    assert_eq!(hashes, expected, "a changed hash loses the state of every job: raise HASH_VERSION instead");
}

#[test]
fn groups_are_spread_evenly() {
    let ints: ArrayRef = Arc::new(Int64Array::from((0..128_000).collect::<Vec<i64>>()));
    let mut counts = [0usize; KEY_GROUPS];
    for hash in hash_columns(&[ints], 128_000).expect("hash") {
        counts[key_group(hash) as usize] += 1;
    }
    assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
}

#[test]
fn a_slice_hashes_like_the_whole() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let whole = hash_columns(std::slice::from_ref(&texts), 3).expect("hash");
    let slice = hash_columns(&[texts.slice(1, 2)], 2).expect("hash");
    assert_eq!(&whole[1..], &slice[..]);
}
