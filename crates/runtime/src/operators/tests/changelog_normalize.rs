//! Keyed changes to a full changelog.

use super::harness::{Case, case, stream};
use base::ChangelogMode;
use base::plan::{ChangelogNormalize, NodeKind};
use std::time::Duration;

pub fn normalize(output: ChangelogMode, state_ttl: Option<Duration>) -> Case {
    let node = ChangelogNormalize { keys: vec![1], drops_repeats: false, condition: None, state_ttl };
    let input = stream("k:text id:int v:int", ChangelogMode::UPSERT);
    Case {
        upsert_key: 0,
        ..case(NodeKind::ChangelogNormalize(node), input, stream("k:text id:int v:int", output), &[1])
    }
}

#[test]
fn updates_get_their_old_content_and_repeats_vanish() {
    normalize(ChangelogMode::ALL, None).check(
        "+I a 1 10
         +U a 1 11
         +U b 2 5
         +U b 1 11
         +U b 1 11
         -D b 2 5
         -D z 9 0
         +I a 1 1
         -D null 1 null",
        "+I a 1 10
         -U a 1 10
         +U a 1 11
         +I b 2 5
         -U a 1 11
         +U b 1 11
         -D b 2 5
         -U b 1 11
         +U a 1 1
         -D a 1 1",
    );
}

#[test]
fn a_batch_keeps_the_last_row_per_key() {
    let rows = "+I a 1 1 \n +I b 2 2 \n +U a 1 3 \n +I c 3 3 \n -D c 3 3";
    let all = normalize(ChangelogMode::ALL, None);
    assert_eq!(all.run(rows, 1000, false), ["+I a 1 3", "+I b 2 2"]);
    let more = format!("{rows} \n wm 0:00 \n -D b 2 2 \n +U a 1 4 \n +U a 1 3 \n +I b 2 9");
    assert_eq!(all.run(&more, 1000, true)[2..], ["-U b 2 2", "+U b 2 9"]);
    let upserts = normalize(ChangelogMode::UPSERT, None);
    assert_eq!(upserts.run(&more, 1000, true)[2..], ["+U b 2 9"]);
}

#[test]
fn expired_keys_are_new_keys() {
    let expiring = normalize(ChangelogMode::ALL, Some(Duration::from_millis(100)));
    let script = "now 1000 \n +I a 1 1 \n now 1050 \n +U a 1 1 \n now 1150 \n +U a 1 2 \n now 1300 \n -D a 1 2";
    for restore in [false, true] {
        assert_eq!(expiring.run(script, 1, restore), ["+I a 1 1", "-U a 1 1", "+U a 1 1", "+I a 1 2"]);
    }
}

#[test]
fn a_table_of_keys_only_is_kept_as_well() {
    let node = ChangelogNormalize { keys: vec![0, 1], drops_repeats: false, condition: None, state_ttl: None };
    let input = stream("k:text id:int", ChangelogMode::UPSERT);
    let keys = case(NodeKind::ChangelogNormalize(node), input, stream("k:text id:int", ChangelogMode::ALL), &[0, 1]);
    keys.check("+I a 1 \n +U a 1 \n -D b 2 \n -D a 1", "+I a 1 \n -D a 1");
}
