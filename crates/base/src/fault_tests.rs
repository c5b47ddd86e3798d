//! Fault points: what arms them, and when they act.

use super::*;

#[test]
fn a_fault_happens_at_its_pass_only() {
    let armed = parse("segment.sync@2=full, manifest.rename=denied");
    assert_eq!(armed.len(), 2);
    let [sync, rename] = armed.as_slice() else { panic!("two are armed") };
    assert!(sync.meet().is_ok());
    assert_eq!(sync.meet().map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
    assert!(sync.meet().is_ok());
    assert_eq!(rename.meet().map_err(|error| error.kind()), Err(io::ErrorKind::PermissionDenied));
    assert_eq!(rename.meet().map_err(|error| error.kind()), Err(io::ErrorKind::PermissionDenied));
}

#[test]
fn what_is_not_understood_arms_nothing() {
    assert!(parse("segment.sink=kill, segment.sync=explode, segment.sync@x=kill, nothing").is_empty());
}

#[test]
fn points_have_names_of_their_own() {
    let mut names: Vec<&str> = POINTS.iter().map(|point| point.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), POINTS.len());
}
