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
    folder.files().expect("files").into_keys().collect()
}

#[test]
fn what_was_written_reads_back() {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("a/b");
    let folder = CheckpointFolder::open(&path.as_path().into()).expect("open");
    let sections = write(&folder, 3, &[b"first", b"", b"second"]);
    write(&folder, 12, &[]);
    drop(folder);
    let folder = CheckpointFolder::open(&path.as_path().into()).expect("open again");
    let found = folder.checkpoints().expect("checkpoints");
    assert_eq!(found.iter().map(|id| id.epoch).collect::<Vec<_>>(), [12, 3]);
    assert_eq!(folder.manifest(found[1]).expect("a body"), "body 3");
    assert_eq!(folder.find(3).expect("there"), found[1]);
    let read: Vec<_> = sections.iter().map(|section| folder.reader().read(section).expect("bytes")).collect();
    assert_eq!(read, [&b"first"[..], b"", b"second"]);
}

#[test]
fn a_folder_belongs_to_one_process() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CheckpointFolder::open(&place.path().into()).expect("open");
    assert_eq!(CheckpointFolder::open(&place.path().into()).expect_err("taken").code(), "HW-X103");
    write(&folder, 1, &[]);
    drop(folder);
    CheckpointFolder::open(&place.path().into()).expect("free again");
}

#[test]
fn every_damaged_byte_is_noticed() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CheckpointFolder::open(&place.path().into()).expect("open");
    let sections = write(&folder, 1, &[b"some state"]);
    let id = folder.find(1).expect("there");
    let manifest = folder.manifest_address(id);
    let whole = std::fs::read(&manifest).expect("manifest");
    for length in 0..whole.len() {
        std::fs::write(&manifest, &whole[..length]).expect("torn");
        assert!(folder.manifest(id).is_err(), "{length} bytes of the manifest");
    }
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 4;
        std::fs::write(&manifest, bytes).expect("changed");
        assert!(folder.manifest(id).is_err(), "byte {place} of the manifest");
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
    let folder = CheckpointFolder::open(&path.as_path().into()).expect("open");
    write(&folder, 1, &[b"one"]);
    write(&folder, 2, &[b"two"]);
    std::fs::write(path.join("checkpoint-0000000003.tmp"), "torn").expect("a left-over");
    std::fs::write(path.join("notes.txt"), "not ours").expect("a foreign file");
    let mut files = folder.files().expect("files");
    folder.remove(&[folder.find(1).expect("there")], &mut files).expect("removed");
    folder.sweep(&mut files, &BTreeSet::from(["segment-0000000002".to_string()])).expect("swept");
    assert_eq!(files, folder.files().expect("files"), "what is said to be there is there");
    assert_eq!(names_of(&folder), ["checkpoint-0000000002.json", "lock", "notes.txt", "segment-0000000002"]);
    std::fs::remove_file(path.join("notes.txt")).expect("removed");
    folder.clear().expect("cleared");
    drop(folder);
    assert!(!path.exists(), "an empty folder goes");
}

#[test]
fn the_newest_checkpoint_is_of_the_last_claim() {
    let names = ["checkpoint-0000000007.json", "checkpoint-0000000009-2-ff.json", "checkpoint-0000000003-10-ff.json"];
    let files: Files = names.iter().chain(&["claim-1-x", "segment-1"]).map(|name| (name.to_string(), 1)).collect();
    let found: Vec<u64> = checkpoints_in(&files).into_iter().map(|id| id.epoch).collect();
    assert_eq!(found, [3, 9, 7]);
    let id = CheckpointId { claim: 12, run: 0xabc, epoch: 5 };
    assert_eq!(CheckpointId::of(&id.manifest()), Some(id));
    let names = ["claim-0000000002-00000000000000ff", "claim-0000000003-00000000000000ff-aa9db4a0-6a85-410d-8047"];
    let files: Files = names.iter().map(|name| (name.to_string(), 1)).collect();
    assert_eq!(claims(&files).map(|(number, _)| number).collect::<Vec<_>>(), [2], "what is on its way is no claim");
}
