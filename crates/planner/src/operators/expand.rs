//! Rules of grouping sets.

use super::{OperatorRules, Shape, Use};
use base::ChangelogMode;
use base::plan::Expand;

impl OperatorRules for Expand {
    fn name(&self) -> &'static str {
        "Expand"
    }

    fn describe(&self, _shape: &Shape<'_>) -> Vec<String> {
        Vec::new()
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        super::union(inputs)
    }

    fn makes_updates(&self) -> bool {
        false
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
