//! Rules of tables that are read.

use super::{OperatorRules, Shape, Use, column_names, time};
use base::ChangelogMode;
use base::config::JobConfig;
use base::plan::Scan;

/// The rows of a table of which nothing is known.
const TABLE_ROWS: f64 = 1e8;

impl OperatorRules for Scan {
    fn name(&self) -> &'static str {
        "Scan"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let mut parts = vec![format!("table=[{}]", self.table), format!("fields=[{}]", shape.names().join(", "))];
        if let Some(watermark) = &self.watermark {
            parts.push(format!("watermark=[{}]", watermark.sql));
        }
        parts.push(format!("bounded=[{}]", self.bounded));
        parts
    }

    fn notes(&self, shape: &Shape<'_>, config: &JobConfig) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(calc) = &self.projection {
            notes.push(format!("reads: {}", column_names(self.read.fields()).join(", ")));
            let names = shape.names();
            let computed: Vec<String> = calc
                .projection
                .iter()
                .zip(&names)
                .filter(|(expression, _)| expression.as_column().is_none())
                .map(|(expression, name)| format!("{} AS {name}", expression.sql()))
                .collect();
            if !computed.is_empty() {
                notes.push(format!("computes: {}", computed.join(", ")));
            }
        }
        if self.watermark.is_some() {
            let timeout = self.idle_timeout.or(config.idle_timeout).filter(|timeout| !timeout.is_zero());
            notes.push(match timeout {
                Some(timeout) => {
                    format!("a split that is silent for {} does not hold the watermark back", time(timeout))
                }
                None => "a silent split holds the watermark back (setting: table.exec.source.idle-timeout)".into(),
            });
        }
        if let Some(alignment) = &self.alignment {
            let (drift, group) = (time(alignment.max_drift), &alignment.group);
            notes.push(format!("waits while it is more than {drift} ahead of the slowest source of group {group}"));
        }
        notes
    }

    /// What the connector said when the node was made.
    fn changelog(&self, shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        shape.node.output.changelog
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        false
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn as_cause(&self, _shape: &Shape<'_>) -> String {
        format!("the scan of table {}", self.table)
    }

    fn rows(&self, _inputs: &[f64]) -> f64 {
        TABLE_ROWS
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, _column: usize) -> Use {
        Use::Passed(Vec::new())
    }
}
