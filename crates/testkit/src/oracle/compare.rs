//! Captured rows, the tables they describe, and the comparison with what Flink answered.

use super::Verdict;
use super::expected::ExpectedResult;
use arrow::array::{Array, StringArray};
use base::{ChangelogBatch, Result, RowKind, RowType};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One row of a changelog as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Kind.
    pub kind: RowKind,
    /// Cells; `None` is NULL.
    pub cells: Vec<Option<String>>,
    /// After which feed it came: rows of one step that all are inserts have no order among them.
    pub step: usize,
}

/// What is compared of a result, besides its types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The changes in their order.
    Sequence,
    /// The final table.
    Table,
    /// The final table as a sink sees it that takes a lone `-U` for a delete.
    Upserts,
}

impl Comparison {
    /// Its name in a line of the report.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Sequence => "sequence",
            Comparison::Table => "table",
            Comparison::Upserts => "upserts",
        }
    }
}

/// What one sink got.
#[derive(Debug, Default, Clone)]
pub struct CapturedResult {
    /// Columns with types, and the sink's mode.
    pub schema: String,
    /// Key columns of an upsert sink.
    pub key: Vec<usize>,
    /// Rows in order.
    pub changes: Vec<Change>,
}

#[derive(Debug, Default)]
struct State {
    results: BTreeMap<String, CapturedResult>,
    step: usize,
}

/// What the sinks of a job got. Cheap to clone; clones share.
#[derive(Debug, Default, Clone)]
pub struct Captured(Arc<Mutex<State>>);

impl Captured {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a sink known, so that an empty result counts as a result.
    pub fn declare(&self, name: &str, schema: &str, key: Vec<usize>) {
        let result = CapturedResult { schema: schema.to_string(), key, changes: Vec::new() };
        self.state().results.insert(name.to_string(), result);
    }

    /// Appends rows.
    ///
    /// # Errors
    /// A value without a text form.
    pub fn add(&self, name: &str, batch: &ChangelogBatch, columns: &RowType, zone: chrono_tz::Tz) -> Result<()> {
        let texts: Vec<StringArray> = batch
            .records()
            .columns()
            .iter()
            .zip(columns.fields())
            .map(|(column, field)| functions::to_text(column, &field.sql_type, zone))
            .collect::<Result<_>>()?;
        let mut state = self.state();
        let step = state.step;
        let result = state.results.entry(name.to_string()).or_default();
        for row in 0..batch.num_rows() {
            let cells = texts.iter().map(|text| text.is_valid(row).then(|| text.value(row).to_string())).collect();
            result.changes.push(Change { kind: batch.kind(row), cells, step });
        }
        Ok(())
    }

    /// The next feed begins.
    pub fn next_step(&self) {
        self.state().step += 1;
    }

    /// Takes everything and starts anew.
    pub fn take(&self) -> BTreeMap<String, CapturedResult> {
        std::mem::take(&mut *self.state()).results
    }
}

/// The table that a changelog describes, sorted as in `expected.table`.
///
/// With key columns the last row of a key counts and only `-D` removes: the recorded tables were made that way.
pub fn materialise(changes: &[Change], key: &[usize]) -> Vec<Vec<Option<String>>> {
    table_of(changes.iter().filter(|change| key.is_empty() || change.kind != RowKind::UpdateBefore), key)
}

/// The table that an upsert sink ends with, for which a `-U` without a `+U` of its key behind it is a delete (a15 [5]).
pub fn upserted(changes: &[Change], key: &[usize]) -> Vec<Vec<Option<String>>> {
    table_of(changes.iter(), key)
}

fn table_of<'a>(changes: impl Iterator<Item = &'a Change>, key: &[usize]) -> Vec<Vec<Option<String>>> {
    let mut rows: Vec<Vec<Option<String>>> = Vec::new();
    let same_key = |a: &[Option<String>], b: &[Option<String>]| {
        if key.is_empty() { a == b } else { key.iter().all(|&column| a[column] == b[column]) }
    };
    for change in changes {
        let place = rows.iter().position(|row| same_key(row, &change.cells));
        match (change.kind.is_addition(), place) {
            (true, Some(place)) if !key.is_empty() => rows[place] = change.cells.clone(),
            (true, _) => rows.push(change.cells.clone()),
            (false, Some(place)) => {
                rows.remove(place);
            }
            (false, None) => {}
        }
    }
    rows.sort();
    rows
}

/// Rows as short text for a failure message.
fn show<T: std::fmt::Debug>(rows: &[T], render: impl Fn(&T) -> String) -> String {
    const SHOWN: usize = 12;
    let mut text: Vec<String> = rows.iter().take(SHOWN).map(render).collect();
    if rows.len() > SHOWN {
        text.push(format!("... {} more", rows.len() - SHOWN));
    }
    format!("[{}]", text.join("; "))
}

/// All rows of a table in one line.
pub fn table_text(rows: &[Vec<Option<String>>]) -> String {
    rows.iter().map(|row| cells_text(row)).collect::<Vec<_>>().join("; ")
}

fn cells_text(cells: &[Option<String>]) -> String {
    cells.iter().map(|cell| cell.as_deref().unwrap_or("null")).collect::<Vec<_>>().join(", ")
}

fn change_text(change: &Change) -> String {
    format!("{} {}", change.kind, cells_text(&change.cells))
}

/// Compares one result: types always; the sequence, or the final table.
pub fn compare(expected: &ExpectedResult, actual: &CapturedResult, comparison: Comparison) -> Verdict {
    let name = match &expected.sink {
        Some(sink) => format!("{}.{sink}", expected.statement),
        None => expected.statement.to_string(),
    };
    let what = comparison.name();
    if let Some(schema) = expected.schema.as_ref().filter(|schema| **schema != actual.schema) {
        let why = format!("types: expected {schema}; found {}", actual.schema);
        return Verdict::fail(name, what, why).found(format!("types {}", actual.schema));
    }
    // Without a recorded table the changelog describes it.
    let wanted = match &expected.table {
        Some(table) => {
            let mut table = table.clone();
            table.sort();
            table
        }
        None => materialise(&expected.changes, &actual.key),
    };
    let found = materialise(&actual.changes, &actual.key);
    if wanted != found && comparison != Comparison::Upserts {
        let (wanted, shown) = (show(&wanted, |row| cells_text(row)), show(&found, |row| cells_text(row)));
        let why = format!("final table: expected {wanted}; found {shown}");
        return Verdict::fail(name, what, why).found(format!("table {}", table_text(&found)));
    }
    // What Flink's changes leave of a keyed table must not depend on how rows were batched and dealt here.
    let (wanted, found) = (upserted(&expected.changes, &actual.key), upserted(&actual.changes, &actual.key));
    if wanted != found {
        let (wanted, shown) = (show(&wanted, |row| cells_text(row)), show(&found, |row| cells_text(row)));
        let why = format!("final table where a lone -U deletes: expected {wanted}; found {shown}");
        return Verdict::fail(name, what, why).found(format!("upserts {}", table_text(&found)));
    }
    if comparison == Comparison::Sequence && !same_sequence(&expected.changes, &actual.changes) {
        let (wanted, found) = (show(&expected.changes, change_text), show(&actual.changes, change_text));
        let changes: Vec<String> = actual.changes.iter().map(change_text).collect();
        let why = format!("changes: expected {wanted}; found {found}");
        return Verdict::fail(name, what, why).found(format!("changes {}", changes.join("; ")));
    }
    Verdict::pass(name, what)
}

/// Whether two changelogs are the same, where inserts of one step may come in any order: what one watermark fires has no
/// order between its keys.
fn same_sequence(expected: &[Change], actual: &[Change]) -> bool {
    if expected.len() != actual.len() {
        return false;
    }
    let mut start = 0;
    while start < actual.len() {
        let mut end = start + 1;
        while end < actual.len() && actual[end].step == actual[start].step {
            end += 1;
        }
        let plain = |changes: &[Change]| -> Vec<(RowKind, Vec<Option<String>>)> {
            changes.iter().map(|change| (change.kind, change.cells.clone())).collect()
        };
        let (mut wanted, mut found) = (plain(&expected[start..end]), plain(&actual[start..end]));
        if found.iter().chain(&wanted).all(|(kind, _)| *kind == RowKind::Insert) {
            wanted.sort();
            found.sort();
        }
        if wanted != found {
            return false;
        }
        start = end;
    }
    true
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
