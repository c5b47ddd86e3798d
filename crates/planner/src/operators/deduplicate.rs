//! Rules of deduplication.

use super::{OperatorRules, Shape, Use, name_at, pick, ttl};
use base::config::JobConfig;
use base::plan::{Deduplicate, Keep};
use base::{ChangelogMode, RowKind};

/// The different keys, as a part of the rows.
const KEYS: f64 = 0.1;

impl OperatorRules for Deduplicate {
    fn name(&self) -> &'static str {
        "Deduplicate"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let below = shape.input_names(0);
        let keep = match self.keep {
            Keep::First => "FirstRow",
            Keep::Last => "LastRow",
        };
        let order = if self.rowtime.is_some() { "ROWTIME" } else { "PROCTIME" };
        vec![format!("keep=[{keep}]"), format!("key=[{}]", pick(&self.keys, &below)), format!("order=[{order}]")]
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let below = shape.input_names(0);
        let per = match self.keys.is_empty() {
            true => String::new(),
            false => format!(" per ({})", pick(&self.keys, &below)),
        };
        let ttl = ttl(self.state_ttl);
        match (self.keep, self.rowtime) {
            (Keep::First, None) => vec![format!("state: whether there was a row{per}; {ttl}")],
            (Keep::First, Some(time)) => vec![
                format!(
                    "state: the first row{per} until the watermark reaches its {}, then that there was one; {ttl}",
                    name_at(&below, time)
                ),
                "late rows are dropped and counted".into(),
            ],
            (Keep::Last, _) => vec![format!("state: the last row{per}; {ttl}")],
        }
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        match self.keep {
            Keep::First => ChangelogMode::APPEND,
            Keep::Last => ChangelogMode::ALL.without(RowKind::Delete),
        }
    }

    fn makes_updates(&self) -> bool {
        self.keep == Keep::Last
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        false
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn as_cause(&self, shape: &Shape<'_>) -> String {
        format!("the last row per ({})", pick(&self.keys, &shape.input_names(0)))
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        (inputs.iter().sum::<f64>() * KEYS).max(1.0)
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        match self.keys.contains(&column) || self.rowtime == Some(column) {
            true => Use::Content("a deduplication".into()),
            false => Use::Passed(vec![column]),
        }
    }
}
