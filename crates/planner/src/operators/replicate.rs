//! Rules of INTERSECT ALL and EXCEPT ALL.

use super::{OperatorRules, Shape, Use, name_at};
use base::plan::Replicate;
use base::{ChangelogMode, RowKind};
use std::cmp::Ordering;

impl OperatorRules for Replicate {
    fn name(&self) -> &'static str {
        "Replicate"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        vec![format!("count=[{}]", name_at(&shape.input_names(0), self.count))]
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

    /// The new content of a row may have fewer copies than the old one.
    fn gives_lone_update_before(&self, inherited: bool, mode: ChangelogMode) -> bool {
        inherited || mode.contains(RowKind::UpdateBefore)
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        match column.cmp(&self.count) {
            Ordering::Less => Use::Passed(vec![column]),
            Ordering::Equal => Use::Content("a number of copies".into()),
            Ordering::Greater => Use::Passed(vec![column - 1]),
        }
    }
}
