//! Rules of the rows that a window has dropped as too late.

use super::{OperatorRules, Shape, Use};
use base::ChangelogMode;
use base::config::JobConfig;
use base::plan::LateRows;

impl OperatorRules for LateRows {
    fn name(&self) -> &'static str {
        "LateRows"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        vec![format!("window=[{}]", self.window), format!("select=[{}]", shape.names().join(", "))]
    }

    fn notes(&self, _shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        vec!["the rows that the window below drops as too late, as they came to it, each once; no state".into()]
    }

    /// The kinds of the window's input, not those of its results.
    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        self.changelog
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        false
    }

    /// One half of an update may be late, and the other not.
    fn gives_lone_update_before(&self, _inherited: bool, mode: ChangelogMode) -> bool {
        mode.contains(base::RowKind::UpdateBefore)
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        inputs.iter().sum::<f64>() * LATE
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, _column: usize) -> Use {
        Use::Passed(Vec::new())
    }
}

/// Late rows, as a part of the results.
const LATE: f64 = 0.01;
