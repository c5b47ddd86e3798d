//! Tests of folding.

use super::*;

fn parse(text: &str) -> Vec<Change> {
    let change = |word: &str| {
        let (kind, rest) = word.split_at(2);
        let (row, rank) = rest.split_once('@').unwrap_or((rest, "1"));
        Change {
            kind: RowKind::parse(kind).expect("kind"),
            slot: 0,
            rank: rank.parse().expect("rank"),
            row: row.parse().expect("row"),
        }
    };
    text.split_whitespace().map(change).collect()
}

#[test]
fn a_rank_changes_once() {
    let fold = |text: &str| {
        let mut changes = parse(text);
        fold_by_rank(&mut changes, false, |a, b| a % 10 == b % 10);
        changes
    };
    assert_eq!(fold("+I1@1 -U1@1 +U2@1 +I1@2"), parse("+I2@1 +I1@2"));
    assert_eq!(fold("-U1@1 +U2@1 -U2@1 +U3@1 -D2@2"), parse("-U1@1 +U3@1 -D2@2"));
    // The same content in another row.
    assert_eq!(fold("-U1@1 +U2@1 -U2@1 +U11@1"), []);
    assert_eq!(fold("+I1@3 -D1@3"), []);
    assert_eq!(fold("-D1@3 +I2@3"), parse("-U1@3 +U2@3"));
}

#[test]
fn a_row_that_comes_and_goes_is_left_out() {
    let fold = |text: &str| {
        let mut changes = parse(text);
        fold_by_row(&mut changes);
        changes
    };
    assert_eq!(fold("+I1 -D2 +I3 -D3 +I4"), parse("+I1 -D2 +I4"));
    assert_eq!(fold("-D1 +I2 -D2 +I1"), []);
    // Inserted, then updated twice.
    assert_eq!(fold("+I1 -U1 +U2 -U2 +U3"), parse("+I3"));
    // Updated twice, then gone.
    assert_eq!(fold("-U1 +U2 -U2 +U3 -D3 +I4"), parse("-D1 +I4"));
    assert_eq!(fold("-U1 +U2 -U2 +U3"), parse("-U1 +U3"));
}
