//! Rules of tables that are written.

use super::{OperatorRules, Shape, Use, pick, union};
use crate::lower::sink::RESULT_NAME;
use base::ChangelogMode;
use base::config::JobConfig;
use base::connector::Guarantee;
use base::plan::Sink;

impl OperatorRules for Sink {
    fn name(&self) -> &'static str {
        "Sink"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let names = shape.names();
        let mut parts = vec![format!("table=[{}]", self.table), format!("fields=[{}]", names.join(", "))];
        if !self.primary_key.is_empty() {
            parts.push(format!("primaryKey=[{}]", pick(&self.primary_key, &names)));
        }
        parts
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let guarantee = match self.guarantee {
            Guarantee::None => "none",
            Guarantee::AtLeastOnce => "at-least-once",
            Guarantee::ExactlyOnce => "exactly-once",
        };
        let mut notes = vec![format!("delivery: {guarantee}; {}", self.guarantee_reason)];
        if self.table != RESULT_NAME {
            notes.push(conditions(self));
        }
        if !self.primary_key.is_empty() {
            notes.push(key_note(self, shape));
        }
        notes
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        union(inputs)
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, readers_do: bool) -> bool {
        readers_do
    }

    fn gives_lone_update_before(&self, inherited: bool, _mode: ChangelogMode) -> bool {
        inherited
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        if self.table == RESULT_NAME {
            return Use::Passed(Vec::new());
        }
        if self.primary_key.contains(&column) {
            return Use::Content(format!("the primary key of table {}", self.table));
        }
        match self.primary_key.is_empty() {
            true => Use::Content(format!("table {}, which has no primary key,", self.table)),
            false => Use::Passed(Vec::new()),
        }
    }
}

/// Which of the three conditions of exactly-once hold.
fn conditions(sink: &Sink) -> String {
    let source = match (sink.replayable.as_slice(), sink.unreplayable.as_slice()) {
        ([], []) => "replayable source: yes (values of the statement)".to_string(),
        (tables, []) => format!("replayable source: yes ({})", tables.join(", ")),
        (_, tables) => format!("replayable source: no ({})", tables.join(", ")),
    };
    let written = match (sink.guarantee, sink.idempotent) {
        (Guarantee::ExactlyOnce, _) => "transactional or idempotent sink: yes",
        (Guarantee::AtLeastOnce, true) => "transactional or idempotent sink: idempotent, by its key",
        (Guarantee::AtLeastOnce | Guarantee::None, _) => "transactional or idempotent sink: no",
    };
    format!("exactly-once needs: {source}; consistent state: yes (checkpoints); {written}")
}

/// How the rows of the query are told apart under the sink's key.
fn key_note(sink: &Sink, shape: &Shape<'_>) -> String {
    let names = shape.names();
    let output = &shape.node.output;
    let key = pick(&sink.primary_key, &names);
    let same = |known: &Vec<usize>| {
        known.len() == sink.primary_key.len() && known.iter().all(|column| sink.primary_key.contains(column))
    };
    // What holds a key is a key, as long as rows stay where they are.
    let inside = |known: &Vec<usize>| !known.is_empty() && known.iter().all(|column| sink.primary_key.contains(column));
    let appends = output.changelog.is_append_only();
    match &output.upsert_keys {
        keys if keys.iter().any(same) || (appends && keys.iter().any(inside)) => {
            format!("key: ({key}) is a key of the query; nothing is kept to tell rows apart")
        }
        _ if appends => format!("key: rows are only added; the last row of a ({key}) wins"),
        keys => match keys.first() {
            Some(known) => format!(
                "key: the query has one row per ({}), not per ({key}); the row with the earlier key is deleted",
                pick(known, &names)
            ),
            None => format!(
                "key: the key of the query is unknown (a PRIMARY KEY in the source table would tell); old rows of \
                 updates must reach the sink, the last change of a ({key}) wins, and of two rows with the same \
                 ({key}) deleting one deletes both"
            ),
        },
    }
}
