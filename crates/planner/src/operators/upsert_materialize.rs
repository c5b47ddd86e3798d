//! Rules of sink materialization.

use super::{OperatorRules, Shape, Use};
use base::ChangelogMode;
use base::plan::UpsertMaterialize;

impl OperatorRules for UpsertMaterialize {
    fn name(&self) -> &'static str {
        "SinkUpsertMaterializer"
    }

    fn describe(&self, _shape: &Shape<'_>) -> Vec<String> {
        Vec::new()
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        ChangelogMode::ALL
    }

    fn makes_updates(&self) -> bool {
        true
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
