//! Rules of rankings of windows.

use super::{OperatorRules, Shape, Use, pick};
use crate::lower::order_text;
use base::ChangelogMode;
use base::config::JobConfig;
use base::plan::WindowRank;

/// The rows of a ranking, as a part of its input.
const RANKED: f64 = 0.1;

impl OperatorRules for WindowRank {
    fn name(&self) -> &'static str {
        "WindowRank"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let below = shape.input_names(0);
        vec![
            format!("window=[{}]", self.window),
            "rankType=[ROW_NUMBER]".into(),
            format!("rankRange=[rankStart={}, rankEnd={}]", self.start, self.end),
            format!("partitionBy=[{}]", pick(&self.partition, &below)),
            format!("orderBy=[{}]", order_text(&self.order, &below)),
            format!("select=[{}]", shape.names().join(", ")),
        ]
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let per = match self.partition.is_empty() {
            true => "per window".to_string(),
            false => format!("per window and ({})", pick(&self.partition, &shape.input_names(0))),
        };
        let what = match self.end {
            1 => "the best row".to_string(),
            end => format!("the best {end} rows"),
        };
        vec![
            format!("state: {what} {per}; dropped when the watermark reaches the end of the window"),
            "late rows are dropped and counted".into(),
        ]
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        ChangelogMode::APPEND
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        (inputs.iter().sum::<f64>() * RANKED).max(1.0)
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        let is_read = self.partition.contains(&column)
            || self.order.iter().any(|key| key.column == column)
            || [self.window_start, self.window_end].contains(&column);
        match is_read {
            true => Use::Content("a Top-N".into()),
            false => Use::Passed(vec![column]),
        }
    }
}
