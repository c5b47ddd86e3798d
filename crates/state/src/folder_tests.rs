//! Checkpoints on the disk.

use super::*;

fn write(folder: &CheckpointFolder, epoch: u64, parts: &[&[u8]]) -> Vec<Section> {
    let mut segment = folder.segment(epoch, 0);
    let mut sections = Vec::new();
    for part in parts {
        sections.push(segment.write(part).expect("written"));
    }
    assert_eq!(segment.finish().expect("durable"), parts.iter().map(|part| part.len() as u64).sum::<u64>());
    folder.publish(epoch, &format!("body {epoch}")).expect("published");
    sections
}

fn names_of(folder: &CheckpointFolder) -> Vec<String> {
    let mut names = names(folder.path()).expect("names");
    names.sort();
    names
}

#[test]
fn what_was_written_reads_back() {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("a/b");
    let folder = CheckpointFolder::open(&path).expect("open");
    let sections = write(&folder, 3, &[b"first", b"", b"second"]);
    write(&folder, 12, &[]);
    drop(folder);
    let folder = CheckpointFolder::open(&path).expect("open again");
    assert_eq!(folder.epochs().expect("epochs"), [12, 3]);
    assert_eq!(folder.manifest(3).expect("a body"), "body 3");
    let read: Vec<_> = sections.iter().map(|section| folder.reader().read(section).expect("bytes")).collect();
    assert_eq!(read, [&b"first"[..], b"", b"second"]);
}

#[test]
fn a_folder_belongs_to_one_process() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CheckpointFolder::open(place.path()).expect("open");
    assert_eq!(CheckpointFolder::open(place.path()).expect_err("taken").code(), "HW-X103");
    write(&folder, 1, &[]);
    drop(folder);
    CheckpointFolder::open(place.path()).expect("free again");
}

#[test]
fn every_damaged_byte_is_noticed() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CheckpointFolder::open(place.path()).expect("open");
    let sections = write(&folder, 1, &[b"some state"]);
    let manifest = folder.manifest_path(1);
    let whole = std::fs::read(&manifest).expect("manifest");
    for length in 0..whole.len() {
        std::fs::write(&manifest, &whole[..length]).expect("torn");
        assert!(folder.manifest(1).is_err(), "{length} bytes of the manifest");
    }
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 4;
        std::fs::write(&manifest, bytes).expect("changed");
        assert!(folder.manifest(1).is_err(), "byte {place} of the manifest");
    }
    let segment = place.path().join(&sections[0].file);
    for length in 0..b"some state".len() {
        std::fs::write(&segment, &b"some state"[..length]).expect("torn");
        assert_eq!(folder.reader().read(&sections[0]).expect_err("torn").code(), "HW-X101");
    }
    std::fs::write(&segment, b"some stale").expect("changed");
    assert_eq!(folder.reader().read(&sections[0]).expect_err("changed").code(), "HW-X101");
    std::fs::remove_file(&segment).expect("gone");
    assert_eq!(folder.reader().read(&sections[0]).expect_err("gone").code(), "HW-I010");
}

#[test]
fn what_no_checkpoint_names_is_removed() {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("job");
    let folder = CheckpointFolder::open(&path).expect("open");
    write(&folder, 1, &[b"one"]);
    write(&folder, 2, &[b"two"]);
    std::fs::write(path.join("checkpoint-0000000003.tmp"), "torn").expect("a left-over");
    std::fs::write(path.join("notes.txt"), "not ours").expect("a foreign file");
    folder.remove(1).expect("removed");
    folder.sweep(&BTreeSet::from(["segment-0000000002".to_string()])).expect("swept");
    assert_eq!(names_of(&folder), ["checkpoint-0000000002.json", "lock", "notes.txt", "segment-0000000002"]);
    std::fs::remove_file(path.join("notes.txt")).expect("removed");
    folder.clear().expect("cleared");
    drop(folder);
    assert!(!path.exists(), "an empty folder goes");
}
