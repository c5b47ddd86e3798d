//! Rules of the operator that keeps all rows of a sink key.

use super::{OperatorRules, Shape, Use, pick, ttl};
use base::config::JobConfig;
use base::plan::UpsertMaterialize;
use base::{ChangelogMode, RowKind};

impl OperatorRules for UpsertMaterialize {
    fn name(&self) -> &'static str {
        "SinkUpsertMaterializer"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let names = shape.input_names(0);
        let mut parts = vec![format!("key=[{}]", pick(&self.keys, &names))];
        if !self.row_keys.is_empty() {
            parts.push(format!("rowKey=[{}]", pick(&self.row_keys, &names)));
        }
        parts
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let key = pick(&self.keys, &shape.input_names(0));
        let unknown = self.row_keys.is_empty().then(|| {
            "the key of the query is unknown (a PRIMARY KEY in the source table would tell): rows are told apart by all \
             their columns"
                .to_string()
        });
        let state = format!(
            "state: all rows of a ({key}), so that the one before returns when the last one goes; {}",
            ttl(self.state_ttl)
        );
        unknown.into_iter().chain([state]).collect()
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        ChangelogMode::ALL.without(RowKind::UpdateBefore)
    }

    fn makes_updates(&self) -> bool {
        true
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        let by_content = self.row_keys.is_empty() || self.row_keys.contains(&column) || self.keys.contains(&column);
        if by_content { Use::Content("a sink materializer".into()) } else { Use::Passed(vec![column]) }
    }
}
