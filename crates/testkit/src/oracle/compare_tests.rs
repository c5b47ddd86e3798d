//! The comparison must be able to fail.

use super::*;
use crate::oracle::Standing;

fn change(kind: &str, cells: &[&str], step: usize) -> Change {
    let cells = cells.iter().map(|cell| Some(cell.to_string())).collect();
    Change { kind: RowKind::parse(kind).expect("kind"), cells, step }
}

#[test]
fn inserts_of_one_step_have_no_order_but_updates_have() {
    let expected = [change("+I", &["a"], 0), change("+I", &["b"], 0)];
    assert!(same_sequence(&expected, &[change("+I", &["b"], 1), change("+I", &["a"], 1)]));
    assert!(!same_sequence(&expected, &[change("+I", &["b"], 1), change("+I", &["a"], 2)]));
    let update = [change("-U", &["a"], 0), change("+U", &["b"], 0)];
    assert!(!same_sequence(&update, &[change("+U", &["b"], 1), change("-U", &["a"], 1)]));
}

#[test]
fn a_lone_update_before_deletes_from_an_upsert_sink() {
    let expected = ExpectedResult {
        statement: 1,
        sink: Some("s".into()),
        schema: None,
        changes: vec![change("+I", &["1", "a"], 0), change("+U", &["2", "b"], 0), change("-U", &["1", "a"], 0)],
        table: None,
    };
    let given = |changes: &[Change]| CapturedResult { changes: changes.to_vec(), key: vec![0], ..Default::default() };
    let standing = |changes: &[Change]| compare(&expected, &given(changes), Comparison::Table).standing;
    assert_eq!(standing(&expected.changes), Standing::Passed);
    let updated = [change("-U", &["2", "b"], 0), change("+U", &["2", "b"], 0)];
    assert_eq!(standing(&[expected.changes.clone(), updated.to_vec()].concat()), Standing::Passed);
    // The table that ignores every -U is the same.
    assert!(matches!(standing(&expected.changes[..2]), Standing::Failed(_)));
    let misplaced = [&expected.changes[2..], &expected.changes[..2]].concat();
    assert!(matches!(standing(&misplaced), Standing::Failed(_)));
}

#[test]
fn a_table_is_a_multiset_or_keyed() {
    let changes = [
        change("+I", &["1", "a"], 0),
        change("+I", &["1", "a"], 0),
        change("+U", &["1", "b"], 0),
        change("-D", &["1", "a"], 0),
    ];
    assert_eq!(materialise(&changes, &[]).len(), 2);
    assert_eq!(materialise(&changes[..3], &[0]), vec![vec![Some("1".to_string()), Some("b".to_string())]]);
    assert!(materialise(&changes, &[0]).is_empty());
}

#[test]
fn types_and_rows_must_agree() {
    let expected = ExpectedResult {
        statement: 2,
        sink: None,
        schema: Some("k STRING".into()),
        changes: vec![change("+I", &["a"], 0)],
        table: None,
    };
    let mut actual = CapturedResult { schema: "k STRING".into(), key: vec![], changes: expected.changes.clone() };
    assert_eq!(compare(&expected, &actual, Comparison::Sequence), Verdict::pass("2", "sequence"));
    actual.schema = "k INT".into();
    assert!(matches!(compare(&expected, &actual, Comparison::Table).standing, Standing::Failed(_)));
    actual.schema = "k STRING".into();
    actual.changes[0].cells[0] = None;
    assert!(matches!(compare(&expected, &actual, Comparison::Table).standing, Standing::Failed(_)));
}
