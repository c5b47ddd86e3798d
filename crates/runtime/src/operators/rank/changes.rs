//! The changes of rankings, before they become rows: a batch that touches a ranking several times gives only what is
//! different after it.

use base::RowKind;
use std::collections::HashMap;

/// One change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    /// What happens.
    pub kind: RowKind,
    /// The ranking.
    pub slot: u32,
    /// The rank, from 1.
    pub rank: u64,
    /// The row in the store.
    pub row: u32,
}

/// What a rank was before the changes, and what it is after them.
struct Held {
    slot: u32,
    rank: u64,
    before: Option<u32>,
    after: Option<u32>,
}

/// Folds changes that belong to ranks: at most one per rank remains, in the order in which ranks are touched first. A rank that
/// has the same content as before gives nothing, unless `with_unchanged`.
pub(super) fn fold_by_rank(changes: &mut Vec<Change>, with_unchanged: bool, same: impl Fn(u32, u32) -> bool) {
    let mut places: HashMap<(u32, u64), usize> = HashMap::with_capacity(changes.len());
    let mut all: Vec<Held> = Vec::new();
    for change in changes.iter() {
        let adds = change.kind.is_addition();
        let place = *places.entry((change.slot, change.rank)).or_insert_with(|| {
            let before = (!adds).then_some(change.row);
            all.push(Held { slot: change.slot, rank: change.rank, before, after: before });
            all.len() - 1
        });
        all[place].after = adds.then_some(change.row);
    }
    changes.clear();
    for Held { slot, rank, before, after } in all {
        let mut push = |kind, row| changes.push(Change { kind, slot, rank, row });
        match (before, after) {
            (None, None) => {}
            (None, Some(after)) => push(RowKind::Insert, after),
            (Some(before), None) => push(RowKind::Delete, before),
            (Some(before), Some(after)) if !with_unchanged && same(before, after) => {}
            (Some(before), Some(after)) => {
                push(RowKind::UpdateBefore, before);
                push(RowKind::UpdateAfter, after);
            }
        }
    }
}

/// Folds changes that belong to rows: what comes and goes within the batch is left out. An update is two changes in a row.
pub(super) fn fold_by_row(changes: &mut Vec<Change>) {
    let mut kinds: Vec<Option<RowKind>> = changes.iter().map(|change| Some(change.kind)).collect();
    // By position of an addition: the removal that it is the new content of.
    let mut partners: HashMap<usize, usize> = HashMap::new();
    let mut last: HashMap<u32, usize> = HashMap::with_capacity(changes.len());
    for index in 0..changes.len() {
        if kinds[index] == Some(RowKind::UpdateAfter) && !partners.contains_key(&index) && index > 0 {
            partners.insert(index, index - 1);
        }
        let Some(earlier) = last.insert(changes[index].row, index) else { continue };
        let (first, second) = (kinds[earlier].take(), kinds[index].take());
        last.remove(&changes[index].row);
        match (first, second) {
            (Some(RowKind::Insert), Some(RowKind::UpdateBefore)) => kinds[index + 1] = Some(RowKind::Insert),
            (Some(RowKind::UpdateAfter), Some(RowKind::UpdateBefore)) => {
                if let Some(partner) = partners.remove(&earlier) {
                    partners.insert(index + 1, partner);
                }
            }
            (Some(RowKind::UpdateAfter), Some(RowKind::Delete)) => {
                if let Some(partner) = partners.remove(&earlier) {
                    kinds[partner] = Some(RowKind::Delete);
                }
            }
            _ => {}
        }
    }
    let mut position = 0;
    changes.retain_mut(|change| {
        position += 1;
        match kinds[position - 1] {
            Some(kind) => {
                change.kind = kind;
                true
            }
            None => false,
        }
    });
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
