//! Rules of the operator that makes a full changelog of keyed changes.

use super::{OperatorRules, Shape, Use, pick, ttl};
use base::ChangelogMode;
use base::config::JobConfig;
use base::plan::ChangelogNormalize;

impl OperatorRules for ChangelogNormalize {
    fn name(&self) -> &'static str {
        "ChangelogNormalize"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let condition = self.condition.as_ref().map(|condition| format!("condition=[{}]", condition.sql()));
        [format!("key=[{}]", pick(&self.keys, &shape.input_names(0)))].into_iter().chain(condition).collect()
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let key = pick(&self.keys, &shape.input_names(0));
        vec![format!("state: the last row per ({key}); {}", ttl(self.state_ttl))]
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        ChangelogMode::ALL
    }

    fn makes_updates(&self) -> bool {
        true
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        false
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        if self.keys.contains(&column) {
            return Use::Content("the key of a changelog".into());
        }
        match self.condition.as_ref().is_some_and(|condition| condition.columns().contains(&column)) {
            true => Use::Content("a filter".into()),
            false => Use::Passed(vec![column]),
        }
    }
}
