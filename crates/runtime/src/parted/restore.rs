//! Taking over state that may be larger than memory: what was saved is read piece by piece, and cut by key group into
//! files of the cache.

use super::PartedOperator;
use super::part::{Place, groups_of};
use crate::operator::Wakes;
use arrow::array::UInt32Array;
use arrow::compute::take_record_batch;
use base::connector::Instance;
use base::key::{KEY_GROUPS, groups_of_instance};
use base::{Error, Result};
use state::{OperatorSnapshot, PartSnapshot, PartState, SnapshotKind, TableSnapshot, encode_snapshot};
use std::ops::Range;
use std::sync::Arc;

/// Saved state in memory takes about so many times its bytes in a file.
const MEMORY_FACTOR: u64 = 2;

impl PartedOperator {
    /// Takes over the parts of all instances of the last run.
    pub(super) fn restore(&mut self, restored: &[PartSnapshot]) -> Result<()> {
        let own = self.own_groups();
        let restored: Vec<&PartSnapshot> = restored.iter().filter(|part| may_have(part, &own)).collect();
        if restored.is_empty() {
            return Ok(());
        }
        let share = own.len();
        let expected = MEMORY_FACTOR * restored.iter().map(|part| saved_bytes(part, &own)).sum::<u64>();
        let part_bytes_max = self.share.budget().part_bytes_max();
        if expected <= part_bytes_max {
            let snapshots = restored.iter().map(|part| part.load()).collect::<Result<Vec<_>>>()?;
            self.parts[0].place = Place::Hot(self.opened(self.instance, &snapshots)?);
            self.count(0);
            self.split_large(0)?;
            self.publish();
            return self.make_room();
        }
        let mut cuts = 1usize;
        while expected / cuts as u64 > part_bytes_max && share / (2 * cuts) >= 1 {
            cuts *= 2;
        }
        let Instance { index, parallelism } = self.instance;
        self.parts.clear();
        let wakes = if self.minds_time { Wakes::ALWAYS } else { Wakes::NEVER };
        for cut in 0..cuts {
            let instance = Instance { index: index * cuts + cut, parallelism: parallelism * cuts };
            self.add_part(instance, Place::Cold(wakes));
        }
        for piece in restored {
            self.take_over(&piece.load()?)?;
        }
        Ok(())
    }

    /// Puts the rows of a snapshot into the files of the parts that own them.
    fn take_over(&mut self, snapshot: &OperatorSnapshot) -> Result<()> {
        let mut cuts = Vec::with_capacity(snapshot.tables.len());
        for table in &snapshot.tables {
            if !matches!(table.kind, SnapshotKind::Full) {
                return Err(Error::internal("changes without what they change"));
            }
            cuts.push(self.cut(table)?);
        }
        for index in 0..self.parts.len() {
            let rows: usize = cuts.iter().map(|cut| cut[index].len()).sum();
            if rows == 0 {
                continue;
            }
            let mut piece = OperatorSnapshot { tables: Vec::new(), values: snapshot.values.clone() };
            for (table, cut) in snapshot.tables.iter().zip(&mut cuts) {
                let rows = take_record_batch(&table.rows, &UInt32Array::from(std::mem::take(&mut cut[index])))?;
                let (name, kind) = (table.name.clone(), SnapshotKind::Full);
                piece.tables.push(TableSnapshot { name, kind, rows, ids: None });
            }
            let file = self.share.budget().cache.put(&encode_snapshot(&piece)?)?;
            let part = &mut self.parts[index];
            part.bytes += file.bytes() * MEMORY_FACTOR;
            part.entries += rows as u64;
            part.files.push(Arc::new(file));
        }
        Ok(())
    }

    /// Which rows belong to which part; those of other instances are left out.
    fn cut(&self, table: &TableSnapshot) -> Result<Vec<Vec<u32>>> {
        let own = self.own_groups();
        let mut by_part: Vec<Vec<u32>> = vec![Vec::new(); self.parts.len()];
        for (row, group) in groups_of(table)?.values().iter().enumerate() {
            if own.contains(group) {
                by_part[self.owners[usize::from(*group)] as usize].push(row as u32);
            }
        }
        Ok(by_part)
    }

    fn own_groups(&self) -> Range<u16> {
        groups_of_instance(self.instance.index, self.instance.parallelism)
    }
}

fn may_have(part: &PartSnapshot, own: &Range<u16>) -> bool {
    match &part.state {
        PartState::Stored(stored) => stored.may_have(own) && !part.is_empty(),
        _ => true,
    }
}

/// About how many bytes rows of these key groups have in a part's file.
fn saved_bytes(part: &PartSnapshot, own: &Range<u16>) -> u64 {
    let (bytes, groups) = match &part.state {
        PartState::Rows(snapshot) => {
            (snapshot.tables.iter().map(|table| table.rows.get_array_memory_size() as u64).sum(), None)
        }
        PartState::Encoded(bytes) => (bytes.len() as u64, None),
        PartState::Cached(file) => (file.bytes(), None),
        PartState::Stored(stored) => (stored.sections.iter().map(|section| section.bytes).sum(), stored.key_groups),
        PartState::Unchanged => (0u64, None),
    };
    let (first, last) = groups.unwrap_or((0, KEY_GROUPS as u16 - 1));
    let common = (last + 1).min(own.end).saturating_sub(first.max(own.start));
    bytes.saturating_mul(u64::from(common)) / u64::from(last + 1 - first)
}
