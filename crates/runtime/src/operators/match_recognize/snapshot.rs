//! What is kept over a restart: waiting rows, partial matches, the ways they have come, the rows on these.

use super::super::kept_rows::snapshot_sorted;
use super::MatchRecognizeOperator;
use super::automaton::Variable;
use super::partial::{NOT_STARTED, Partial};
use super::paths::{NO_PATH, Taken};
use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use base::{Error, Result};
use state::{KeyTable, OperatorSnapshot, Restored, Scope, TableSnapshot, TakenKeys};
use std::collections::HashMap;
use std::sync::Arc;

/// The names of the tables in snapshots.
const WAITING: &str = "waiting";
const PARTIALS: &str = "matches";
const PATHS: &str = "paths";
const ROWS: &str = "rows";
/// The name of the watermark in snapshots.
const WATERMARK: &str = "watermark_ms";
/// The name of the number of the last row in snapshots.
const NUMBER: &str = "rows_seen";

fn numbers(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Int64, true))
}

fn partial_fields() -> Vec<FieldRef> {
    let complete = Arc::new(Field::new("complete", DataType::Boolean, false));
    [numbers("state"), numbers("path"), numbers("start"), numbers("start_ms")].into_iter().chain([complete]).collect()
}

fn path_fields() -> Vec<FieldRef> {
    ["path", "variable", "row", "previous"].map(numbers).to_vec()
}

fn row_fields() -> Vec<FieldRef> {
    vec![numbers("number")]
}

fn column(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(values.map(|value| value.map(|value| value as i64)).collect::<Int64Array>())
}

fn read(restored: &Restored, column: usize, row: usize) -> Option<i64> {
    use arrow::array::Array;
    let values = restored.values[column].as_primitive::<Int64Type>();
    values.is_valid(row).then(|| values.value(row))
}

/// The rows and ways of one snapshot: its numbers, and ours. Rows of different partitions may have come from different instances,
/// which have numbered them alike.
#[derive(Default)]
struct Known {
    rows: HashMap<(u32, i64), u32>,
    paths: HashMap<i64, u32>,
}

impl MatchRecognizeOperator {
    /// The state at a barrier: all of it or what changed. Of waiting rows, ways and the rows on them that is what is new or gone;
    /// a partition that had something to do gives all of its partial matches.
    pub(super) fn state(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let waiting = snapshot_sorted(&mut self.waiting, &self.table, WAITING, scope, false, |_| Vec::new())?;
        let (rows, ways) = (self.rows(scope)?, self.ways(scope)?);
        let taken = self.table.take(scope, KeyTable::live_slots);
        let partials = self.partial_matches(&taken)?;
        let mut values = std::collections::BTreeMap::new();
        values.extend(self.watermark_ms.map(|watermark_ms| (WATERMARK.to_string(), watermark_ms)));
        values.insert(NUMBER.to_string(), self.next_number as i64);
        // What others refer to comes first.
        Ok(OperatorSnapshot { tables: vec![waiting, rows, ways, partials], values })
    }

    fn rows(&mut self, scope: Scope) -> Result<TableSnapshot> {
        let Taken { places, numbers, gone } = self.matcher.paths.take_rows(scope);
        let paths = &self.matcher.paths;
        let slots: Vec<u32> = places.iter().map(|&row| paths.owner(row)).collect();
        let mut columns = vec![column(places.iter().map(|&row| Some(paths.number(row))))];
        columns.extend(paths.columns(&places)?);
        let values = row_fields().into_iter().chain(paths.fields().iter().cloned()).zip(columns).collect();
        self.table.snapshot_numbered(ROWS, gone, &slots, &numbers, false, values)
    }

    fn ways(&mut self, scope: Scope) -> Result<TableSnapshot> {
        let Taken { places, numbers, gone } = self.matcher.paths.take_ways(scope);
        let paths = &self.matcher.paths;
        let steps: Vec<_> = places.iter().map(|&path| paths.step(path)).collect();
        let slots: Vec<u32> = steps.iter().map(|(.., row)| paths.owner(*row)).collect();
        let columns = vec![
            column(steps.iter().map(|(serial, ..)| Some(*serial))),
            column(steps.iter().map(|(_, _, variable, _)| Some(u64::from(*variable)))),
            column(steps.iter().map(|(.., row)| Some(paths.number(*row)))),
            column(steps.iter().map(|(_, previous, ..)| *previous)),
        ];
        let values = path_fields().into_iter().zip(columns).collect();
        self.table.snapshot_numbered(PATHS, gone, &slots, &numbers, false, values)
    }

    fn partial_matches(&self, taken: &TakenKeys) -> Result<TableSnapshot> {
        let mut slots: Vec<u32> = Vec::new();
        let mut partials: Vec<(Partial, bool)> = Vec::new();
        for &slot in &taken.slots {
            let partition = &self.partitions[slot as usize];
            for (queue, is_complete) in [(&partition.partial, false), (&partition.complete, true)] {
                partials.extend(queue.as_slice().iter().map(|partial| (*partial, is_complete)));
            }
            slots.resize(partials.len(), slot);
        }
        let path = |path: u32| (path != NO_PATH).then(|| self.matcher.paths.serial(path));
        let columns: Vec<ArrayRef> = vec![
            column(partials.iter().map(|(partial, _)| Some(u64::from(partial.state)))),
            column(partials.iter().map(|(partial, _)| path(partial.path))),
            column(partials.iter().map(|(partial, _)| partial.is_started().then_some(partial.start))),
            Arc::new(partials.iter().map(|(partial, _)| Some(partial.start_ms)).collect::<Int64Array>()),
            Arc::new(partials.iter().map(|(_, complete)| Some(*complete)).collect::<BooleanArray>()),
        ];
        let values = partial_fields().into_iter().zip(columns).collect();
        self.table.snapshot_by_key(PARTIALS, taken, &slots, values)
    }

    /// Takes over state.
    pub(super) fn restore(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        for snapshot in restored {
            let mut known = Known::default();
            for table in &snapshot.tables {
                let fields: Vec<FieldRef> = match table.name.as_str() {
                    WAITING => self.waiting.fields(),
                    PARTIALS => partial_fields(),
                    PATHS => path_fields(),
                    _ => row_fields().into_iter().chain(self.matcher.paths.fields().iter().cloned()).collect(),
                };
                let rows = self.table.restore(table, self.own_groups.clone(), &fields)?;
                self.resize();
                rows.slots.iter().for_each(|&slot| self.partitions[slot as usize].is_live = true);
                if rows.slots.is_empty() {
                    continue;
                }
                match table.name.as_str() {
                    WAITING => self.restore_waiting(&rows)?,
                    PARTIALS => self.restore_partials(&rows, &known)?,
                    PATHS => self.restore_paths(&rows, &mut known)?,
                    _ => self.restore_rows(&rows, &mut known)?,
                }
            }
            // The partial matches hold them now.
            known.paths.values().for_each(|&path| self.matcher.paths.release(path));
        }
        // The smallest loses no row.
        let watermarks = restored.iter().map(|snapshot| snapshot.values.get(WATERMARK).copied());
        self.watermark_ms = watermarks.min().flatten();
        let seen = restored.iter().filter_map(|snapshot| snapshot.values.get(NUMBER)).max();
        self.next_number = seen.copied().unwrap_or(0) as u64;
        Ok(())
    }

    fn restore_waiting(&mut self, rows: &Restored) -> Result<()> {
        let Some(rowtime) = self.rowtime else { return Ok(()) };
        let place = self.stored.iter().position(|&column| column == rowtime).unwrap_or(0);
        let times = base::time::epoch_ms(&rows.values[place])?;
        let encoded = self.waiting.encode(&rows.values)?;
        for (row, &slot) in rows.slots.iter().enumerate() {
            self.wait(slot, &encoded, row, times.value(row));
        }
        Ok(())
    }

    fn restore_rows(&mut self, rows: &Restored, known: &mut Known) -> Result<()> {
        let encoded = self.matcher.paths.encode(&rows.values[row_fields().len()..])?;
        for (row, &slot) in rows.slots.iter().enumerate() {
            let number = read(rows, 0, row).unwrap_or(0);
            let kept = self.matcher.paths.add_row(&encoded, row, number as u64, slot);
            known.rows.insert((slot, number), kept);
        }
        Ok(())
    }

    fn restore_paths(&mut self, rows: &Restored, known: &mut Known) -> Result<()> {
        let missing = || Error::internal("a snapshot of MATCH_RECOGNIZE is incomplete");
        for (row, &slot) in rows.slots.iter().enumerate() {
            let kept = read(rows, 2, row).and_then(|number| known.rows.get(&(slot, number))).ok_or_else(missing)?;
            let previous = match read(rows, 3, row) {
                None => NO_PATH,
                Some(previous) => *known.paths.get(&previous).ok_or_else(missing)?,
            };
            let variable = read(rows, 1, row).unwrap_or(0) as Variable;
            let path = self.matcher.paths.extend(previous, variable, *kept);
            known.paths.insert(read(rows, 0, row).ok_or_else(missing)?, path);
        }
        Ok(())
    }

    fn restore_partials(&mut self, rows: &Restored, known: &Known) -> Result<()> {
        let missing = || Error::internal("a snapshot of MATCH_RECOGNIZE is incomplete");
        let complete = rows.values[4].as_boolean();
        for (row, &slot) in rows.slots.iter().enumerate() {
            let path = match read(rows, 1, row) {
                None => NO_PATH,
                Some(path) => *known.paths.get(&path).ok_or_else(missing)?,
            };
            self.matcher.paths.retain(path);
            let partial = Partial {
                state: read(rows, 0, row).unwrap_or(0) as u32,
                path,
                start: read(rows, 2, row).map_or(NOT_STARTED, |start| start as u64),
                start_ms: read(rows, 3, row).unwrap_or(0),
            };
            if partial.is_started()
                && let Some(within_ms) = self.matcher.within_ms()
            {
                self.timers.insert((partial.start_ms.saturating_add(within_ms), slot));
            }
            let partition = &mut self.partitions[slot as usize];
            match complete.value(row) {
                true => partition.complete.push(partial),
                false => partition.partial.push(partial),
            }
        }
        Ok(())
    }
}
