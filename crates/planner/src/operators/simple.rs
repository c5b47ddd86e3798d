//! Rules of operators that pass rows on.

use super::{OperatorRules, Shape, Use, union};
use base::plan::Values;
use base::{ChangelogMode, RowKind};

/// [`base::plan::NodeKind::Union`].
pub struct Union;

impl OperatorRules for Union {
    fn name(&self) -> &'static str {
        "Union"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        vec![format!("fields=[{}]", shape.names().join(", "))]
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        union(inputs)
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, readers_do: bool) -> bool {
        readers_do
    }

    fn gives_lone_update_before(&self, inherited: bool, _mode: ChangelogMode) -> bool {
        inherited
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        Use::Passed(vec![column])
    }
}

/// [`base::plan::NodeKind::DropUpdateBefore`].
pub struct DropUpdateBefore;

impl OperatorRules for DropUpdateBefore {
    fn name(&self) -> &'static str {
        "DropUpdateBefore"
    }

    fn describe(&self, _shape: &Shape<'_>) -> Vec<String> {
        Vec::new()
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        union(inputs).without(RowKind::UpdateBefore)
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        false
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        Use::Passed(vec![column])
    }
}

impl OperatorRules for Values {
    fn name(&self) -> &'static str {
        "Values"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        vec![format!("fields=[{}]", shape.names().join(", ")), format!("rows=[{}]", self.rows.num_rows())]
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        ChangelogMode::APPEND
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        false
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn rows(&self, _inputs: &[f64]) -> f64 {
        self.rows.num_rows() as f64
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, _column: usize) -> Use {
        Use::Passed(Vec::new())
    }
}
