//! Every operator once more with restarts from snapshots of changes: all of its state, then what changed, merged.

use crate::operator::Operator;
use state::{OperatorSnapshot, PartState, Scope, SnapshotKind, decode_snapshot, encode_snapshot, merge_snapshots};
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
