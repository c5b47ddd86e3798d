//! State that was put away.

use super::*;

#[test]
fn gives_back_what_was_put_until_it_is_dropped() {
    let root = tempfile::tempdir().expect("folder");
    let path = root.path().join("job");
    let cache = CacheFolder::open(&path).expect("cache");
    assert!(!path.exists(), "nothing is made before it is needed");
    let (first, second) = (cache.put(b"first").expect("put"), cache.put(b"second").expect("put"));
    assert_eq!(first.read().expect("read"), b"first");
    drop(first);
    assert_eq!(std::fs::read_dir(&path).expect("folder").count(), 1);
    drop(cache);
    assert_eq!((second.read().expect("read").as_slice(), second.bytes()), (b"second".as_slice(), 6));
    drop(second);
    assert!(!path.exists(), "the folder goes with its last file");
}

#[test]
fn left_overs_go_and_damage_is_noticed() {
    let root = tempfile::tempdir().expect("folder");
    std::fs::write(root.path().join("part-00000000"), "of a crash").expect("write");
    let cache = CacheFolder::open(root.path()).expect("cache");
    assert!(!root.path().exists());
    let file = cache.put(b"abc").expect("put");
    std::fs::write(root.path().join("part-00000000"), "abd").expect("write");
    let error = file.read().expect_err("other bytes");
    assert_eq!(error.code(), CACHE_DAMAGED.code);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let root = tempfile::tempdir().expect("folder");
    let blocked = root.path().join("file");
    std::fs::write(&blocked, "").expect("write");
    let cache = CacheFolder::open(&blocked.join("cache"));
    let error = match cache {
        Err(error) => error,
        Ok(cache) => cache.put(b"abc").expect_err("no folder"),
    };
    assert!(error.to_string().contains("file"), "{error}");
}
