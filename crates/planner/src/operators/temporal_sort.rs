//! Rules of ORDER BY a time.

use super::{OperatorRules, Shape, Use};
use crate::lower::order_text;
use base::ChangelogMode;
use base::config::JobConfig;
use base::plan::TemporalSort;

impl OperatorRules for TemporalSort {
    fn name(&self) -> &'static str {
        "TemporalSort"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let order = order_text(&self.order, &shape.input_names(0));
        let order = match (self.rowtime, order.as_str()) {
            (Some(_), _) => order,
            (None, "") => "PROCTIME ASC".into(),
            (None, _) => format!("PROCTIME ASC, {order}"),
        };
        vec![format!("orderBy=[{order}]")]
    }

    fn notes(&self, _shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        match self.rowtime {
            Some(_) => vec![
                "state: the rows that wait for the watermark".into(),
                "rows that are not later than one that has been given are dropped and counted".into(),
            ],
            None => vec!["rows are given as they come; no state".into()],
        }
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        super::union(inputs)
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, inherited: bool, _mode: ChangelogMode) -> bool {
        inherited
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        Use::Passed(vec![column])
    }
}
