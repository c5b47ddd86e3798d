//! Rules of window table functions.

use super::{OperatorRules, Shape, Use, name_at, union};
use crate::lower::builder::window_sql;
use base::ChangelogMode;
use base::config::JobConfig;
use base::plan::{WindowKind, WindowTable};

impl OperatorRules for WindowTable {
    fn name(&self) -> &'static str {
        "WindowTable"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let below = shape.input_names(0);
        vec![format!("window=[{}]", window_sql(&self.window, name_at(&below, self.window.time_column)))]
    }

    fn notes(&self, _shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        match self.window.kind {
            WindowKind::Session { .. } => vec![
                "state: the rows of open sessions; given and dropped when the watermark reaches the end of the session"
                    .into(),
                "late rows are dropped and counted".into(),
            ],
            _ => vec!["late rows pass; no state".into()],
        }
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        union(inputs)
    }

    /// A row that an update moves into another window is known by its `-U` only.
    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, inherited: bool, _mode: ChangelogMode) -> bool {
        inherited
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        let windows = match &self.window.kind {
            WindowKind::Hop { slide_ms, size_ms } => (*size_ms as f64 / *slide_ms as f64).max(1.0),
            WindowKind::Cumulate { step_ms, size_ms } => (*size_ms as f64 / *step_ms as f64 / 2.0).max(1.0),
            WindowKind::Tumble { .. } | WindowKind::Session { .. } => 1.0,
        };
        inputs.iter().sum::<f64>() * windows
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        match self.window.time_column == column || self.partition.contains(&column) {
            true => Use::Content("a window".into()),
            false => Use::Passed(vec![column]),
        }
    }
}
