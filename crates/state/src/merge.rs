//! Several snapshots of one part become one: of every row the newest version stays, what is gone is left out.

use crate::snapshot::{OperatorSnapshot, SnapshotKind, TableSnapshot};
use arrow::compute::interleave_record_batch;
use base::{Error, Result};
use std::collections::BTreeSet;

/// A set of small numbers.
#[derive(Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    fn insert(&mut self, number: u32) {
        let word = number as usize / 64;
        if word >= self.0.len() {
            self.0.resize((word + 1).max(self.0.len() * 2), 0);
        }
        self.0[word] |= 1 << (number % 64);
    }
}

/// Makes one snapshot of several that follow one another, the oldest first. If they begin with all there was
/// (`from_beginning`), the result is all there is; else it holds the changes of all of them.
///
/// # Errors
/// Snapshots that do not belong together.
pub fn merge_snapshots(snapshots: Vec<OperatorSnapshot>, from_beginning: bool) -> Result<OperatorSnapshot> {
    let mut names: Vec<String> = Vec::new();
    for table in snapshots.iter().flat_map(|snapshot| &snapshot.tables) {
        if !names.contains(&table.name) {
            names.push(table.name.clone());
        }
    }
    let values = snapshots.last().map(|snapshot| snapshot.values.clone()).unwrap_or_default();
    let mut tables: Vec<Vec<TableSnapshot>> = names.iter().map(|_| Vec::new()).collect();
    for snapshot in snapshots {
        for table in snapshot.tables {
            let Some(versions) = names.iter().position(|name| *name == table.name).map(|at| &mut tables[at]) else {
                continue;
            };
            // A whole table says nothing about earlier ones.
            if matches!(table.kind, SnapshotKind::Full) {
                versions.clear();
            }
            versions.push(table);
        }
    }
    let merged = tables.into_iter().map(|versions| merge_table(versions, from_beginning));
    Ok(OperatorSnapshot { tables: merged.collect::<Result<_>>()?, values })
}

fn merge_table(mut versions: Vec<TableSnapshot>, from_beginning: bool) -> Result<TableSnapshot> {
    let begins_whole = matches!(versions.first().map(|first| &first.kind), Some(SnapshotKind::Full) | None);
    if versions.len() == 1 && (begins_whole || !from_beginning) {
        return in_order(versions.remove(0));
    }
    let is_whole = begins_whole || from_beginning;
    let missing = |table: &TableSnapshot| Error::internal(format!("rows of {} without numbers", table.name));
    let mut replaced = Numbers::default();
    let mut by_key = false;
    // The id, the version and the row of whatever stays.
    let mut kept: Vec<(u64, u32, u32)> = Vec::new();
    for (version, table) in versions.iter().enumerate().rev() {
        let ids = table.ids.as_ref().ok_or_else(|| missing(table))?;
        by_key |= matches!(table.kind, SnapshotKind::Keys { .. });
        let number = |id: u64| if by_key { (id >> 32) as u32 } else { id as u32 };
        let rows = ids.iter().zip(0..).filter(|(id, _)| !replaced.contains(number(**id)));
        kept.extend(rows.map(|(&id, row)| (id, version as u32, row)));
        match &table.kind {
            SnapshotKind::Full => {}
            SnapshotKind::Keys { gone } => gone.iter().for_each(|&number| replaced.insert(number)),
            SnapshotKind::Rows { gone } => {
                let own = ids.iter().map(|&id| id as u32);
                gone.iter().copied().chain(own).for_each(|number| replaced.insert(number));
            }
        }
    }
    kept.sort_unstable();
    let batches: Vec<_> = versions.iter().map(|table| &table.rows).collect();
    let indices: Vec<(usize, usize)> = kept.iter().map(|&(_, version, row)| (version as usize, row as usize)).collect();
    let rows = match batches[0].num_columns() {
        0 => batches[0].clone(),
        _ => interleave_record_batch(&batches, &indices)?,
    };
    let ids = kept.iter().map(|(id, ..)| *id).collect();
    let kind = if is_whole { SnapshotKind::Full } else { all_gone(&versions, by_key) };
    Ok(TableSnapshot { name: versions.remove(0).name, kind, rows, ids: Some(ids) })
}

/// What is gone after several snapshots of changes.
fn all_gone(versions: &[TableSnapshot], by_key: bool) -> SnapshotKind {
    let mut all = BTreeSet::new();
    for table in versions {
        match &table.kind {
            SnapshotKind::Full => {}
            SnapshotKind::Rows { gone } | SnapshotKind::Keys { gone } => all.extend(gone.iter().copied()),
        }
    }
    let gone = all.into_iter().collect();
    if by_key { SnapshotKind::Keys { gone } } else { SnapshotKind::Rows { gone } }
}

/// The rows of a table in the order of their ids.
fn in_order(mut table: TableSnapshot) -> Result<TableSnapshot> {
    let Some(ids) = table.ids.as_ref().filter(|ids| !ids.is_sorted()) else { return Ok(table) };
    let mut order: Vec<(u64, usize)> = ids.iter().copied().zip(0..).collect();
    order.sort_unstable();
    let indices: Vec<(usize, usize)> = order.iter().map(|&(_, row)| (0, row)).collect();
    table.rows = interleave_record_batch(&[&table.rows], &indices)?;
    table.ids = Some(order.into_iter().map(|(id, _)| id).collect());
    Ok(table)
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
