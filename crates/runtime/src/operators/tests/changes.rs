//! Every operator once more with restarts from snapshots of changes: all of its state, then what changed, merged.

use super::harness::Case;
use crate::operator::Operator;
use arrow::util::display::array_value_to_string;
use state::{
    OperatorSnapshot, PartState, Scope, SnapshotKind, StateShape, decode_snapshot, encode_snapshot, merge_snapshots,
};
use std::cell::Cell;
use std::collections::BTreeMap;

thread_local! {
    static EVERY: Cell<usize> = const { Cell::new(1) };
}

/// Runs a check with restarts at every so many chances only, and snapshots of changes at the others.
pub fn restarting_every(every: usize, check: impl FnOnce()) {
    EVERY.set(every);
    check();
    EVERY.set(1);
}

/// The snapshots of the instances of an operator since it was started.
#[derive(Default)]
pub struct Histories {
    /// By instance and part.
    parts: BTreeMap<(usize, u32), Vec<OperatorSnapshot>>,
    taken: usize,
}

impl Histories {
    /// Takes a snapshot. Gives what to restart from, if it is time for that.
    pub fn chance(&mut self, operators: &mut [Box<dyn Operator>]) -> Option<Vec<OperatorSnapshot>> {
        let scope = if self.taken == 0 { Scope::Full } else { Scope::Changes };
        let mut parts = BTreeMap::new();
        for (instance, operator) in operators.iter_mut().enumerate() {
            for part in operator.snapshot_parts(scope).expect("snapshot") {
                let key = (instance, part.part);
                let before = self.parts.remove(&key);
                let history = match &part.state {
                    PartState::Unchanged => before.expect("known"),
                    _ => {
                        let snapshot = part.load().expect("rows");
                        let snapshot = decode_snapshot(&encode_snapshot(&snapshot).expect("bytes")).expect("a section");
                        let is_whole = |kind: &SnapshotKind| matches!(kind, SnapshotKind::Full);
                        let mut history = before.unwrap_or_default();
                        if snapshot.tables.iter().all(|table| is_whole(&table.kind)) {
                            history.clear();
                        }
                        assert!(!history.is_empty() || snapshot.tables.iter().all(|table| is_whole(&table.kind)));
                        history.push(snapshot);
                        history
                    }
                };
                parts.insert(key, history);
            }
        }
        self.parts = parts;
        self.taken += 1;
        (self.taken.is_multiple_of(EVERY.get())).then(|| {
            let parts = std::mem::take(self).parts.into_values();
            parts.map(|history| merge_snapshots(history, true).expect("merged")).collect()
        })
    }
}

/// Whatever an operator has saved, it keeps what it says before it has a row: by that a changed script is judged.
pub fn assert_shape(snapshots: &[OperatorSnapshot], empty: &mut dyn Operator) {
    let parts = empty.snapshot_parts(Scope::Full).expect("snapshot");
    let expected = StateShape::of(&parts[0].load().expect("rows"));
    for snapshot in snapshots.iter().filter(|snapshot| !snapshot.tables.is_empty()) {
        assert_eq!(StateShape::of(snapshot), expected);
    }
}

/// The rows of all tables as lines, sorted, and the values.
fn text(snapshot: &OperatorSnapshot) -> Vec<String> {
    let mut lines = Vec::new();
    for table in &snapshot.tables {
        let cell = |column, row| array_value_to_string(column, row).expect("a text");
        lines.extend((0..table.rows.num_rows()).map(|row| {
            let cells: Vec<String> = table.rows.columns().iter().map(|column| cell(column, row)).collect();
            format!("{} {}", table.name, cells.join(" "))
        }));
    }
    lines.sort();
    lines.extend(snapshot.values.iter().map(|(name, value)| format!("{name} = {value}")));
    lines
}

fn is_of_changes(snapshot: &OperatorSnapshot) -> bool {
    snapshot.tables.iter().any(|table| !matches!(table.kind, SnapshotKind::Full))
}

/// Snapshots of changes, merged with all those before, are what a snapshot of everything is at that moment.
pub fn check(case: &Case, script: &str) {
    for (rows, every) in [(1, 1), (1, 4), (3, 2)] {
        let mut all = Vec::new();
        let mut batches = 0;
        case.drive(script, rows, |operator| {
            batches += 1;
            if batches % every == 0 {
                all.push(operator.snapshot(Scope::Full).expect("a snapshot"));
            }
        });
        let (mut history, mut merged, mut of_changes) = (Vec::new(), Vec::new(), 0);
        batches = 0;
        case.drive(script, rows, |operator| {
            batches += 1;
            if batches % every == 0 {
                let scope = if history.is_empty() { Scope::Full } else { Scope::Changes };
                let snapshot = operator.snapshot(scope).expect("a snapshot");
                of_changes += usize::from(is_of_changes(&snapshot));
                history.push(snapshot);
                merged.push(merge_snapshots(history.clone(), true).expect("they belong together"));
            }
        });
        assert!(of_changes * 2 > all.len(), "{of_changes} of {} snapshots are of changes", all.len());
        for (at, (merged, all)) in merged.iter().zip(&all).enumerate() {
            assert_eq!(text(merged), text(all), "snapshot {at}, every {every} batches of {rows} rows");
        }
    }
}

/// The rows, and the numbers of rows and keys that are gone, of a snapshot of the changes that `change` makes after `before`.
pub fn changed_rows(case: &Case, before: &str, change: &str) -> usize {
    let mut count = 0;
    let steps = before.lines().filter(|line| !line.trim().is_empty()).count();
    let mut done = 0;
    case.drive(&format!("{before}\n{change}"), 1, |operator| {
        done += 1;
        if done == steps {
            operator.snapshot(Scope::Full).expect("a snapshot");
        }
        if done > steps {
            let snapshot = operator.snapshot(Scope::Changes).expect("a snapshot");
            assert!(is_of_changes(&snapshot));
            count += snapshot.tables.iter().map(|table| table.rows.num_rows() + gone(&table.kind)).sum::<usize>();
        }
    });
    assert!(done > steps);
    count
}

fn gone(kind: &SnapshotKind) -> usize {
    match kind {
        SnapshotKind::Full => 0,
        SnapshotKind::Rows { gone } | SnapshotKind::Keys { gone } => gone.len(),
    }
}
