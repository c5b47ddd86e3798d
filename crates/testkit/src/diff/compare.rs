//! Whether a changelog is valid, and what table it describes.

pub use super::case::TextRows;
use super::run::Ran;
use crate::oracle::Change;
use base::RowKind;
use std::collections::BTreeMap;

type Cells = Vec<Option<String>>;

/// The table that a changelog describes.
///
/// # Errors
/// A removal of a row that is not there.
pub fn materialise(changes: &[Change]) -> Result<TextRows, String> {
    let mut counts: BTreeMap<&Cells, usize> = BTreeMap::new();
    for (index, change) in changes.iter().enumerate() {
        if change.kind.is_addition() {
            *counts.entry(&change.cells).or_default() += 1;
            continue;
        }
        match counts.get_mut(&change.cells) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return Err(format!("change {} removes a row that is not there: {}", index + 1, change_text(change))),
        }
    }
    Ok(counts.into_iter().flat_map(|(cells, count)| std::iter::repeat_n(cells.clone(), count)).collect())
}

/// The table that keyed changes describe.
pub fn materialise_by_key(changes: &[Change], key: &[usize]) -> TextRows {
    let mut rows: BTreeMap<Vec<&Option<String>>, &Cells> = BTreeMap::new();
    for change in changes {
        let place = key.iter().map(|&column| &change.cells[column]).collect();
        match change.kind {
            RowKind::Insert | RowKind::UpdateAfter => rows.insert(place, &change.cells),
            RowKind::Delete | RowKind::UpdateBefore => rows.remove(&place),
        };
    }
    let mut rows: TextRows = rows.into_values().cloned().collect();
    rows.sort();
    rows
}

/// Two live rows with the same key, if there are.
pub fn doubled(rows: &TextRows, key: &[usize]) -> Option<String> {
    let mut seen: BTreeMap<Vec<&Option<String>>, &Cells> = BTreeMap::new();
    for row in rows {
        let place = key.iter().map(|&column| &row[column]).collect();
        if let Some(other) = seen.insert(place, row) {
            return Some(format!("key {key:?}: {} and {}", cells_text(other), cells_text(row)));
        }
    }
    None
}

/// Compares the looks at a result with what they should have shown, and checks its keys.
///
/// # Errors
/// What is wrong.
pub fn check(
    ran: &Ran,
    name: &str,
    keys: &[Vec<usize>],
    expected: &dyn Fn(usize) -> Option<TextRows>,
) -> Result<(), String> {
    for (steps, changes) in ran.looks_at(name) {
        let found = materialise(changes).map_err(|problem| format!("after {steps} steps: {problem}"))?;
        if let Some(wanted) = expected(steps)
            && wanted != found
        {
            return Err(format!("after {steps} steps: {}", difference(&wanted, &found)));
        }
        for key in keys {
            if let Some(rows) = doubled(&found, key) {
                return Err(format!("after {steps} steps: the upsert key is none: {rows}"));
            }
        }
    }
    Ok(())
}

/// Which rows are missing, and which are too many.
pub fn difference(wanted: &TextRows, found: &TextRows) -> String {
    const SHOWN: usize = 8;
    let without = |rows: &TextRows, others: &TextRows| {
        let mut rest = others.clone();
        let mut texts: Vec<String> = Vec::new();
        for row in rows {
            match rest.iter().position(|other| other == row) {
                Some(place) => {
                    rest.remove(place);
                }
                None => texts.push(cells_text(row)),
            }
        }
        let more = texts.len().saturating_sub(SHOWN);
        texts.truncate(SHOWN);
        if more > 0 {
            texts.push(format!("{more} more"));
        }
        texts.join("; ")
    };
    format!("missing [{}]; too many [{}]", without(wanted, found), without(found, wanted))
}

/// Cells in one line.
pub fn cells_text(cells: &Cells) -> String {
    let cells: Vec<&str> = cells.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
    format!("({})", cells.join(", "))
}

/// A change in one line.
pub fn change_text(change: &Change) -> String {
    format!("{} {}", change.kind, cells_text(&change.cells))
}
