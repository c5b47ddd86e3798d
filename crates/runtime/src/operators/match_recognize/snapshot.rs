//! What is kept over a restart: waiting rows, partial matches, the ways they have come, the rows on these.

use super::MatchRecognizeOperator;
use super::automaton::Variable;
use super::partial::{NOT_STARTED, Partial};
use super::paths::NO_PATH;
use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use base::{Error, Result};
use state::{OperatorSnapshot, Restored, TableSnapshot};
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
    ["row", "number"].map(numbers).to_vec()
}

/// A column of numbers, in which `none` is NULL.
fn column(values: impl Iterator<Item = u32>, none: u32) -> ArrayRef {
    Arc::new(values.map(|value| (value != none).then_some(i64::from(value))).collect::<Int64Array>())
}

fn read(restored: &Restored, column: usize, row: usize) -> Option<i64> {
    use arrow::array::Array;
    let values = restored.values[column].as_primitive::<Int64Type>();
    values.is_valid(row).then(|| values.value(row))
}

/// The rows and ways of one snapshot: its numbers, and ours.
#[derive(Default)]
struct Known {
    rows: HashMap<i64, u32>,
    paths: HashMap<i64, u32>,
}

impl MatchRecognizeOperator {
    /// The state at a barrier.
    pub(super) fn state(&mut self) -> Result<OperatorSnapshot> {
        let live = self.table.live_slots();
        let (slots, rows) = self.waiting.by_arrival(&live);
        let waiting = self.waiting.fields().into_iter().zip(self.waiting.columns(&rows)?).collect();
        let waiting = self.table.snapshot_rows(WAITING, &slots, waiting)?;
        let (partials, ways, rows) = self.matches(&live)?;
        let mut values = std::collections::BTreeMap::new();
        values.extend(self.watermark_ms.map(|watermark_ms| (WATERMARK.to_string(), watermark_ms)));
        values.insert(NUMBER.to_string(), self.next_number as i64);
        // What others refer to comes first.
        Ok(OperatorSnapshot { tables: vec![waiting, rows, ways, partials], values })
    }

    /// The tables of partial matches, of ways and of rows.
    fn matches(&self, live: &[u32]) -> Result<(TableSnapshot, TableSnapshot, TableSnapshot)> {
        let mut partials: Vec<(u32, Partial, bool)> = Vec::new();
        // A way comes behind the one that it goes on from.
        let mut ways: Vec<(u32, u32, Variable, u32)> = Vec::new();
        let mut rows: Vec<(u32, u32)> = Vec::new();
        let (mut seen_ways, mut seen_rows) = (HashMap::new(), HashMap::new());
        for &slot in live {
            let partition = &self.partitions[slot as usize];
            let all = [(&partition.partial, false), (&partition.complete, true)];
            for (queue, is_complete) in all {
                for partial in queue.as_slice() {
                    partials.push((slot, *partial, is_complete));
                    let new: Vec<(u32, Variable, u32)> = self
                        .matcher
                        .paths
                        .backwards(partial.path)
                        .take_while(|(path, ..)| seen_ways.insert(*path, ()).is_none())
                        .collect();
                    for (path, variable, row) in new.into_iter().rev() {
                        ways.push((slot, path, variable, row));
                        if seen_rows.insert(row, ()).is_none() {
                            rows.push((slot, row));
                        }
                    }
                }
            }
        }
        let start = |partial: &Partial| (partial.start != NOT_STARTED).then_some(partial.start as i64);
        let columns: Vec<ArrayRef> = vec![
            column(partials.iter().map(|(_, partial, _)| partial.state), u32::MAX),
            column(partials.iter().map(|(_, partial, _)| partial.path), NO_PATH),
            Arc::new(partials.iter().map(|(_, partial, _)| start(partial)).collect::<Int64Array>()),
            Arc::new(partials.iter().map(|(_, partial, _)| Some(partial.start_ms)).collect::<Int64Array>()),
            Arc::new(partials.iter().map(|(.., complete)| Some(*complete)).collect::<BooleanArray>()),
        ];
        let slots: Vec<u32> = partials.iter().map(|(slot, ..)| *slot).collect();
        let values = partial_fields().into_iter().zip(columns).collect();
        let partials = self.table.snapshot_rows(PARTIALS, &slots, values)?;

        let paths = &self.matcher.paths;
        let columns: Vec<ArrayRef> = vec![
            column(ways.iter().map(|(_, path, ..)| *path), u32::MAX),
            column(ways.iter().map(|(.., variable, _)| u32::from(*variable)), u32::MAX),
            column(ways.iter().map(|(.., row)| *row), u32::MAX),
            column(ways.iter().map(|(_, path, ..)| paths.previous(*path)), NO_PATH),
        ];
        let slots: Vec<u32> = ways.iter().map(|(slot, ..)| *slot).collect();
        let ways = self.table.snapshot_rows(PATHS, &slots, path_fields().into_iter().zip(columns).collect())?;

        let (slots, kept): (Vec<u32>, Vec<u32>) = rows.into_iter().unzip();
        let row_numbers: Int64Array = kept.iter().map(|&row| Some(paths.number(row) as i64)).collect();
        let mut columns: Vec<ArrayRef> = vec![column(kept.iter().copied(), u32::MAX), Arc::new(row_numbers)];
        columns.extend(paths.columns(&kept)?);
        let fields = row_fields().into_iter().chain(paths.fields().iter().cloned());
        let rows = self.table.snapshot_rows(ROWS, &slots, fields.zip(columns).collect())?;
        Ok((partials, ways, rows))
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
        for row in 0..rows.slots.len() {
            let number = read(rows, 1, row).unwrap_or(0) as u64;
            let kept = self.matcher.paths.add_row(&encoded, row, number);
            known.rows.insert(read(rows, 0, row).unwrap_or(-1), kept);
        }
        Ok(())
    }

    fn restore_paths(&mut self, rows: &Restored, known: &mut Known) -> Result<()> {
        let missing = || Error::internal("a snapshot of MATCH_RECOGNIZE is incomplete");
        for row in 0..rows.slots.len() {
            let kept = read(rows, 2, row).and_then(|row| known.rows.get(&row)).ok_or_else(missing)?;
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
